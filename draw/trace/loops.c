/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of loops: slices in the slice of the op that the loop is, at times in proportion to
 * it, as that may have been drawn later than it was planned. */
#include "base/text/plural.h"
#include "draw/trace/private.h"
#include "fsched/program.h"

enum { MOST_NEST = 64 };

/* What a loop's slice, or that of an instance which is a loop, shows on one queue. */
typedef struct loop_slice {
  fs_tracer *r;
  uint32_t queue;         /* of the stream */
  uint64_t begin, length; /* of the outermost loop's slice, in ns */
  uint64_t end;           /* of the slice around, in ns */
  uint64_t span;          /* ticks of that */
  uint64_t plan;          /* the tick at which it is planned to begin */
  uint64_t drawn_until;   /* in ns */
  uint32_t depth;         /* of the loops around an instance */
  uint64_t iteration[MOST_NEST];
} loop_slice;

/* The ns of a tick of the outermost loop. */
static uint64_t time_of(const loop_slice *x, uint64_t tick) {
  return x->begin + fs_trace_part(x->length, fs_min(tick, x->span), fs_max(x->span, 1));
}

static void add_iterations(loop_slice *x) {
  for (uint32_t i = 0; i < x->depth; i++) {
    fs_text_puts(&x->r->word, "[");
    fs_text_u64(&x->r->word, x->iteration[i]);
    fs_text_puts(&x->r->word, "]");
  }
}

/* Begins a slice, up to its name, and returns whether it has room. */
static bool begin_slice(loop_slice *x, uint64_t begin, uint64_t end) {
  fs_tracer *r = x->r;
  uint64_t from = fs_max(time_of(x, begin), x->drawn_until);
  uint64_t to = fs_min(fs_max(time_of(x, end), from + 1), x->end);
  if (from >= to) {
    return false;
  }
  x->drawn_until = to;
  fs_trace_begin(r, "X");
  fs_trace_number(r, "tid", r->tid0 + x->queue);
  fs_trace_time(r, "ts", from);
  fs_trace_time(r, "dur", to - from);
  fs_text_puts(&r->text, ",\"name\":");
  return true;
}

static void put_gap(loop_slice *x, uint64_t base, const fs_shown_part *part) {
  fs_tracer *r = x->r;
  if (part->begin == part->end || !begin_slice(x, base + part->begin, base + part->end)) {
    return;
  }
  fs_text_u64(&r->word, part->iteration);
  fs_text_puts(&r->word, fs_plural(part->iteration, " instance", " instances"));
  fs_trace_word(r);
  fs_text_puts(&r->text, ",\"cat\":\"hidden\",\"args\":{\"instances\":");
  fs_text_u64(&r->text, part->iteration);
  fs_text_puts(&r->text, "}}");
}

/* Writes what an instance waits for: the instances that exist of the commands that it names. */
static void put_waits(loop_slice *x, const fs_shown_loop *l, const fs_rolled_command *k) {
  fs_tracer *r = x->r;
  uint64_t own = x->iteration[x->depth - 1];
  const char *before = "";
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    const fs_rolled_wait *wait = &l->loop.wait[w];
    if (wait->distance > own) {
      continue;
    }
    fs_text_puts(&r->word, before);
    before = " ";
    fs_text_puts(&r->word, l->name[l->loop.command[wait->command].member]);
    x->iteration[x->depth - 1] = own - wait->distance;
    add_iterations(x);
  }
  x->iteration[x->depth - 1] = own;
  if (before[0] != '\0') {
    fs_text_puts(&r->text, ",\"waits\":");
    fs_trace_word(r);
  }
}

static void put_instance(loop_slice *x, uint64_t base, const fs_shown_loop *l,
                         const fs_shown_part *part) {
  fs_tracer *r = x->r;
  const fs_rolled_command *k = &l->loop.command[part->command];
  if (!begin_slice(x, base + part->begin, base + part->free)) {
    return;
  }
  fs_text_puts(&r->word, l->name[k->member]);
  add_iterations(x);
  fs_trace_word(r);
  fs_text_puts(&r->text, l->inner[k->member] == FS_NONE ? ",\"cat\":\"instance\",\"args\":{"
                                                        : ",\"cat\":\"loop\",\"args\":{");
  fs_text_puts(&r->text, "\"planned_start\":");
  fs_text_u64(&r->text, x->plan + base + part->begin);
  fs_trace_number(r, "planned_end", x->plan + base + part->end);
  if (part->free < part->end) {
    fs_trace_number(r, "planned_free", x->plan + base + part->free);
  }
  put_waits(x, l, k);
  fs_text_puts(&r->text, "}}");
}

/* Writes the parts of a loop on the queue, which begins at tick `base` of the outermost one. */
static void put_parts(loop_slice *x, const fs_shown_loop *l, uint64_t base) {
  uint32_t q = 0;
  while (q < l->loop.n_queues && l->loop.queue[q] != x->queue) {
    q++;
  }
  if (q == l->loop.n_queues || x->depth == MOST_NEST) {
    return;
  }
  x->depth++;
  for (uint32_t i = l->shown.part0[q]; i < l->shown.part0[q + 1]; i++) {
    const fs_shown_part *part = &l->shown.part[i];
    if (part->command == FS_NONE) {
      put_gap(x, base, part);
      continue;
    }
    uint64_t before = x->drawn_until;
    x->iteration[x->depth - 1] = part->iteration;
    put_instance(x, base, l, part);
    uint32_t inner = l->inner[l->loop.command[part->command].member];
    if (inner != FS_NONE && x->r->loops[inner].open) {
      uint64_t end = x->end;
      x->end = x->drawn_until;
      x->drawn_until = before;
      put_parts(x, &x->r->loops[inner], base + part->begin);
      x->drawn_until = x->end;
      x->end = end;
    }
  }
  x->depth--;
}

void fs_trace_instances(fs_tracer *r, uint32_t command) {
  assert(command < r->s->n_commands);
  const fs_stream_command *c = &r->s->commands[command];
  uint32_t op = fs_command_op(c), loop = op == FS_NONE ? FS_NONE : r->loop_of[op];
  if (loop == FS_NONE || !r->run->planned) {
    return;
  }
  loop_slice x = {.r = r,
                  .queue = r->order.queue[command],
                  .begin = r->begin[command],
                  .length = r->end[command] - r->begin[command],
                  .end = r->end[command],
                  .span = r->loops[loop].span,
                  .plan = c->start,
                  .drawn_until = r->begin[command]};
  put_parts(&x, &r->loops[loop], 0);
}
