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
  const fs_shown_loop *loops;  /* of the run */
  const fs_shown_times *times; /* NULL: those that are planned */
  uint64_t moved;              /* ns by which the loop is drawn later than it was measured */
  uint32_t queue;              /* of the stream */
  uint64_t begin, length;      /* of the outermost loop's slice, in ns */
  uint64_t end;                /* of the slice around, in ns */
  uint64_t span;               /* ticks of that */
  uint64_t plan;               /* the tick at which it is planned to begin */
  uint64_t drawn_until;        /* in ns */
  uint32_t depth;              /* of the loops around an instance */
  uint64_t iteration[MOST_NEST];
} loop_slice;

/* A run of a loop: the tick of the outermost one at which it begins, or where its times are. */
typedef struct shown_run {
  const fs_shown_loop *loop;
  uint64_t base;
  uint32_t slot;
} shown_run;

typedef struct slice_span {
  uint64_t from, to; /* ns */
} slice_span;

/* The ns of a tick of the outermost loop. */
static uint64_t time_of(const loop_slice *x, uint64_t tick) {
  return x->begin + fs_trace_part(x->length, fs_min(tick, x->span), fs_max(x->span, 1));
}

/* The slot of a part; FS_NONE: it is no instance. */
static uint32_t slot_of(const shown_run *run, uint32_t part) {
  uint32_t slot = run->loop->shown.slot[part];
  return slot == FS_NONE ? FS_NONE : run->slot + slot;
}

/* When a part begins; FS_NEVER: it is no instance, or did not run. */
static uint64_t begin_of(const loop_slice *x, const shown_run *run, uint32_t part) {
  if (x->times == NULL) {
    return time_of(x, run->base + run->loop->shown.part[part].begin);
  }
  uint32_t slot = slot_of(run, part);
  uint64_t begin = slot == FS_NONE ? FS_NEVER : x->times->begin[slot];
  return begin == FS_NEVER ? FS_NEVER : begin + x->moved;
}

/* From when to when the queue has the part, which is not the last one before `last`.  False: it did
 * not run.  What is hidden is where nothing else is, and slow instances end when the next one
 * begins. */
static bool find_span(const loop_slice *x, const shown_run *run, uint32_t part, uint32_t last,
                      slice_span *out) {
  const fs_shown_part *p = &run->loop->shown.part[part];
  if (x->times == NULL) {
    *out = (slice_span){time_of(x, run->base + p->begin), time_of(x, run->base + p->free)};
    return true;
  }
  uint64_t next = part + 1 < last ? begin_of(x, run, part + 1) : FS_NEVER;
  if (p->command == FS_NONE) {
    *out = (slice_span){x->drawn_until, next == FS_NEVER ? x->drawn_until : next};
    return true;
  }
  out->from = begin_of(x, run, part);
  if (out->from == FS_NEVER) {
    return false;
  }
  out->to = x->times->end[slot_of(run, part)] + x->moved;
  out->to = next == FS_NEVER ? out->to : fs_min(out->to, fs_max(next, out->from));
  return true;
}

static void add_iterations(loop_slice *x) {
  for (uint32_t i = 0; i < x->depth; i++) {
    fs_text_puts(&x->r->word, "[");
    fs_text_u64(&x->r->word, x->iteration[i]);
    fs_text_puts(&x->r->word, "]");
  }
}

/* Begins a slice, or an instant if there is no room for one, up to its name. */
static void begin_slice(loop_slice *x, slice_span span) {
  fs_tracer *r = x->r;
  uint64_t from = fs_min(fs_max(span.from, x->drawn_until), x->end);
  uint64_t to = fs_min(fs_max(span.to, from + 1), x->end);
  bool room = from < to;
  x->drawn_until = to;
  fs_trace_begin(r, room ? "X" : "i");
  fs_trace_number(r, "tid", r->tid0 + x->queue);
  fs_trace_time(r, "ts", from);
  if (room) {
    fs_trace_time(r, "dur", to - from);
  } else {
    fs_text_puts(&r->text, ",\"s\":\"t\"");
  }
  fs_text_puts(&r->text, ",\"name\":");
}

static void put_gap(loop_slice *x, slice_span span, const fs_shown_part *part) {
  fs_tracer *r = x->r;
  begin_slice(x, span);
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

static void put_instance(loop_slice *x, const shown_run *run, slice_span span,
                         const fs_shown_part *part) {
  fs_tracer *r = x->r;
  const fs_shown_loop *l = run->loop;
  const fs_rolled_command *k = &l->loop.command[part->command];
  begin_slice(x, span);
  fs_text_puts(&r->word, l->name[k->member]);
  add_iterations(x);
  fs_trace_word(r);
  fs_text_puts(&r->text, l->inner[k->member] == FS_NONE ? ",\"cat\":\"instance\",\"args\":{"
                                                        : ",\"cat\":\"loop\",\"args\":{");
  fs_text_puts(&r->text, "\"planned_start\":");
  fs_text_u64(&r->text, x->plan + run->base + part->begin);
  fs_trace_number(r, "planned_end", x->plan + run->base + part->end);
  if (part->free < part->end) {
    fs_trace_number(r, "planned_free", x->plan + run->base + part->free);
  }
  put_waits(x, l, k);
  fs_trace_parts(r, FS_NONE, r->s->loops[l - x->loops].op0 + k->member);
  fs_text_puts(&r->text, "}}");
}

static void put_parts(loop_slice *x, const shown_run *run);

/* Writes the run that an instance is, in its slice, which has just been drawn. */
static void put_inner(loop_slice *x, const shown_run *run, uint32_t part, uint64_t before) {
  const fs_shown_part *p = &run->loop->shown.part[part];
  uint32_t inner = run->loop->inner[run->loop->loop.command[p->command].member];
  if (inner == FS_NONE || !x->loops[inner].open) {
    return;
  }
  shown_run of = {&x->loops[inner], run->base + p->run, slot_of(run, part) + 1};
  uint64_t end = x->end;
  x->end = x->drawn_until;
  x->drawn_until = before;
  put_parts(x, &of);
  x->drawn_until = x->end;
  x->end = end;
}

/* Writes the parts of a run on the queue. */
static void put_parts(loop_slice *x, const shown_run *run) {
  const fs_shown *shown = &run->loop->shown;
  uint32_t q = fs_shown_queue(run->loop, x->queue);
  if (q == run->loop->loop.n_queues || x->depth == MOST_NEST) {
    return;
  }
  x->depth++;
  for (uint32_t i = shown->part0[q]; i < shown->part0[q + 1]; i++) {
    uint64_t before = x->drawn_until;
    slice_span span;
    if (!find_span(x, run, i, shown->part0[q + 1], &span)) {
      continue;
    }
    x->iteration[x->depth - 1] = shown->part[i].iteration;
    if (shown->part[i].command == FS_NONE) {
      put_gap(x, span, &shown->part[i]);
    } else {
      put_instance(x, run, span, &shown->part[i]);
      put_inner(x, run, i, before);
    }
  }
  x->depth--;
}

void fs_trace_instances(fs_tracer *r, uint32_t command) {
  assert(command < r->s->n_commands);
  const fs_stream_command *c = &r->s->commands[command];
  const fs_shown_times *times = r->run->planned ? NULL : r->run->instances;
  uint32_t op = fs_command_op(c), loop = op == FS_NONE ? FS_NONE : r->loop_of[op];
  if (loop == FS_NONE || (times == NULL && !r->run->planned)) {
    return;
  }
  loop_slice x = {.r = r,
                  .loops = times == NULL ? r->loops : times->loop,
                  .times = times,
                  .moved = r->begin[command] - fs_min(r->begin[command], r->run->begin[command]),
                  .queue = r->order.queue[command],
                  .begin = r->loop_begin[loop],
                  .length = r->loop_end[loop] - r->loop_begin[loop],
                  .end = r->end[command],
                  .span = r->loops[loop].span,
                  .plan = r->loop_plan[loop],
                  .drawn_until = r->begin[command]};
  shown_run run = {&x.loops[loop], 0, 0};
  uint32_t q = fs_shown_queue(run.loop, x.queue);
  if (times != NULL && q < run.loop->loop.n_queues) {
    run.slot = times->slot0[r->s->loops[loop].queue0 + q];
  }
  put_parts(&x, &run);
}
