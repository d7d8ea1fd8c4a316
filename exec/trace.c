/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a real run.  An arrow needs a slice at both ends: it leaves at the last nanosecond
 * of the command waited for and arrives at the begin of the one that waited. */
#include "trace.h"

#include "fsched/graph.h"
#include "mem.h"

typedef struct tracer {
  const fs_stream *s;
  uint32_t *epoch0;      /* per axis: where the epochs of a collective one begin in member */
  uint32_t (*member)[2]; /* per gang op: commands of its first two members, FS_NONE */
  uint32_t *queue;       /* per command */
  const uint64_t *begin, *end;
  fs_text text;
  uint64_t n_flows;
} tracer;

static void put_us(fs_text *t, uint64_t ns) {
  char digits[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                    (char)('0' + ns % 10)};
  fs_text_u64(t, ns / 1000);
  fs_text_add(t, digits, sizeof digits);
}

static void put_track(tracer *r, uint32_t queue) {
  fs_text *t = &r->text;
  fs_text_puts(t, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":");
  fs_text_u64(t, queue + 1);
  fs_text_puts(t, ",\"name\":\"thread_name\",\"args\":{\"name\":");
  fs_text_json_string(t, fs_stream_string(r->s, r->s->queues[queue].name));
  fs_text_puts(t, "}},\n{\"ph\":\"M\",\"pid\":1,\"tid\":");
  fs_text_u64(t, queue + 1);
  fs_text_puts(t, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
  fs_text_u64(t, queue);
  fs_text_puts(t, "}}");
}

/* "conv1" for an op, "spill_read w" or "spill_write x#2" (version 2) for a copy. */
static void put_name(tracer *r, const fs_stream_command *c) {
  const fs_stream *s = r->s;
  if (c->kind == FS_COMMAND_RUN) {
    fs_text_json_string(&r->text, fs_stream_string(s, s->ops[c->target].name));
    return;
  }
  const fs_stream_version *v = &s->versions[c->target];
  fs_text name;
  fs_text_init(&name, r->text.ctx);
  fs_text_puts(&name, c->direction == 0 ? "spill_write " : "spill_read ");
  fs_text_puts(&name, fs_stream_string(s, s->buffers[v->buffer].name));
  if (v->index > 0) {
    fs_text_printf(&name, "#%u", v->index);
  }
  fs_text_add(&name, "", 1); /* ends the string */
  if (name.failed) {
    r->text.failed = true;
  } else {
    fs_text_json_string(&r->text, name.at);
  }
  fs_text_drop(&name);
}

static void put_slice(tracer *r, uint32_t queue, uint32_t command) {
  const fs_stream_command *c = &r->s->commands[command];
  fs_text *t = &r->text;
  fs_text_puts(t, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":");
  fs_text_u64(t, queue + 1);
  fs_text_puts(t, ",\"ts\":");
  put_us(t, r->begin[command]);
  fs_text_puts(t, ",\"dur\":");
  put_us(t, r->end[command] - r->begin[command]);
  fs_text_puts(t, ",\"name\":");
  put_name(r, c);
  fs_text_puts(t, c->kind == FS_COMMAND_RUN ? ",\"cat\":\"op\"" : ",\"cat\":\"copy\"");
  fs_text_puts(t, ",\"args\":{\"epoch\":");
  fs_text_u64(t, c->epoch);
  fs_text_puts(t, "}}");
}

/* Arrows from a gang leave at a member on another queue, so two are kept. */
static fs_status index_gangs(tracer *r, fs_arena *arena) {
  const fs_stream *s = r->s;
  uint32_t n = 0;
  FS_TRY(fs_new_zero(arena, &r->epoch0, s->n_axes));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE && r->epoch0[k->gang_axis] < k->gang_epoch) {
      r->epoch0[k->gang_axis] = k->gang_epoch;
    }
  }
  for (uint32_t a = 0; a < s->n_axes; a++) {
    uint32_t epochs = r->epoch0[a];
    r->epoch0[a] = n;
    n += epochs;
  }
  FS_TRY(fs_new_none(arena, &r->member, n));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE) {
      uint32_t *two = r->member[r->epoch0[k->gang_axis] + k->gang_epoch - 1];
      two[1] = two[0] == FS_NONE ? FS_NONE : two[1] == FS_NONE ? c : two[1];
      two[0] = two[0] == FS_NONE ? c : two[0];
    }
  }
  return FSCHED_OK;
}

static fs_status index_queues(tracer *r, fs_arena *arena) {
  const fs_stream *s = r->s;
  FS_TRY(fs_new(arena, &r->queue, s->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      r->queue[s->queues[q].command0 + i] = q;
    }
  }
  return FSCHED_OK;
}

/* The command that reaches this epoch of the axis, on a queue other than `own`; FS_NONE when there
 * is none. */
static uint32_t find_source(const tracer *r, const fs_stream_wait *w, uint32_t own) {
  const fs_stream *s = r->s;
  if (s->axes[w->axis].kind == FS_AXIS_QUEUE) {
    return w->axis == own ? FS_NONE : s->queues[w->axis].command0 + w->epoch - 1;
  }
  const uint32_t *two = r->member[r->epoch0[w->axis] + w->epoch - 1];
  return r->queue[two[0]] == own ? two[1] : two[0];
}

static void put_flow_end(tracer *r, const char *phase, uint32_t queue, uint64_t ns) {
  fs_text *t = &r->text;
  fs_text_puts(t, phase);
  fs_text_u64(t, queue + 1);
  fs_text_puts(t, ",\"ts\":");
  put_us(t, ns);
  fs_text_puts(t, ",\"id\":");
  fs_text_u64(t, r->n_flows);
  fs_text_puts(t, ",\"cat\":\"wait\",\"name\":\"wait\"}");
}

static void put_flow(tracer *r, uint32_t queue, uint32_t command, const fs_stream_wait *w) {
  uint32_t from = find_source(r, w, queue);
  if (from == FS_NONE) {
    return;
  }
  uint64_t leaves = r->end[from] > r->begin[from] ? r->end[from] - 1 : r->end[from];
  r->n_flows++;
  put_flow_end(r, ",\n{\"ph\":\"s\",\"pid\":1,\"tid\":", r->queue[from], leaves);
  put_flow_end(r, ",\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":", queue, r->begin[command]);
}

static void put_queue(tracer *r, uint32_t queue) {
  const fs_stream_queue *q = &r->s->queues[queue];
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_command *k = &r->s->commands[c];
    put_slice(r, queue, c);
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      put_flow(r, queue, c, &r->s->waits[w]);
    }
  }
}

static void put_all(tracer *r) {
  fs_text_puts(&r->text,
               "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
               "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
  fs_text_json_string(&r->text, fs_stream_string(r->s, r->s->meta->name));
  fs_text_puts(&r->text, "}}");
  for (uint32_t q = 0; q < r->s->n_queues; q++) {
    put_track(r, q);
  }
  for (uint32_t q = 0; q < r->s->n_queues; q++) {
    put_queue(r, q);
  }
  fs_text_puts(&r->text, "\n]}\n");
}

fs_status fs_trace_write(fsched_context *ctx, const fs_stream *s, const uint64_t *begin,
                         const uint64_t *end, char **text, size_t *length) {
  tracer r = {.s = s, .begin = begin, .end = end};
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_status status = index_gangs(&r, &arena);
  if (status == FSCHED_OK) {
    status = index_queues(&r, &arena);
  }
  if (status == FSCHED_OK) {
    fs_text_init(&r.text, ctx);
    put_all(&r);
    status = fs_text_take(&r.text, text, length);
  }
  fs_arena_release(&arena);
  return status;
}
