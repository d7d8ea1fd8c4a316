/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads of a trace: trace/draw.c computes the times of slices, trace/slices.c
 * writes them, and trace/counters.c writes the counters. */
#include "draw/trace/trace.h"

#include "draw/trace/private.h"

void fs_trace_us(fs_text *t, uint64_t ns) {
  fs_text_u64(t, ns / 1000);
  if (ns % 1000 != 0) {
    char digits[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                      (char)('0' + ns % 10)};
    fs_text_add(t, digits, sizeof digits);
  }
}

void fs_trace_begin(fs_tracer *r, const char *phase) {
  r->word.failed = r->text.failed; /* so that running out of memory is reported once */
  fs_text_puts(&r->text, r->separated ? ",\n{\"ph\":\"" : "{\"ph\":\"");
  r->separated = true;
  fs_text_puts(&r->text, phase);
  fs_text_puts(&r->text, "\"");
  fs_trace_number(r, "pid", r->pid);
}

static void put_key(fs_text *t, const char *key) {
  fs_text_puts(t, ",\"");
  fs_text_puts(t, key);
  fs_text_puts(t, "\":");
}

void fs_trace_number(fs_tracer *r, const char *key, uint64_t value) {
  put_key(&r->text, key);
  fs_text_u64(&r->text, value);
}

void fs_trace_time(fs_tracer *r, const char *key, uint64_t ns) {
  put_key(&r->text, key);
  fs_trace_us(&r->text, ns);
}

void fs_trace_word(fs_tracer *r) {
  fs_text_add(&r->word, "", 1); /* terminates the string */
  if (r->word.failed) {
    r->text.failed = true;
    return;
  }
  fs_text_json_string(&r->text, r->word.at);
  r->word.n = 0;
}

/* ---- metadata */

/* Writes metadata of this kind, whose value is the string in r->word. */
static void put_label(fs_tracer *r, const char *what) {
  fs_text_puts(&r->text, ",\"name\":\"");
  fs_text_puts(&r->text, what);
  fs_text_puts(&r->text, "\",\"args\":{\"name\":");
  fs_trace_word(r);
  fs_text_puts(&r->text, "}}");
}

static void put_position(fs_tracer *r, const char *what, uint64_t position) {
  fs_text_puts(&r->text, ",\"name\":\"");
  fs_text_puts(&r->text, what);
  fs_text_puts(&r->text, "\",\"args\":{\"sort_index\":");
  fs_text_u64(&r->text, position);
  fs_text_puts(&r->text, "}}");
}

void fs_trace_process(fs_tracer *r, const char *program, const char *run) {
  fs_trace_begin(r, "M");
  fs_text_puts(&r->word, program);
  fs_text_puts(&r->word, " (");
  fs_text_puts(&r->word, run);
  fs_text_puts(&r->word, ")");
  put_label(r, "process_name");
  fs_trace_begin(r, "M");
  put_position(r, "process_sort_index", r->pid);
}

void fs_trace_thread(fs_tracer *r, uint32_t queue, const char *name) {
  fs_trace_begin(r, "M");
  fs_trace_number(r, "tid", r->tid0 + queue);
  fs_text_puts(&r->word, name);
  put_label(r, "thread_name");
  fs_trace_begin(r, "M");
  fs_trace_number(r, "tid", r->tid0 + queue);
  put_position(r, "thread_sort_index", queue);
}

static void put_process(fs_tracer *r) {
  fs_trace_process(r, fs_stream_string(r->s, r->s->meta->name), r->run->name);
  for (uint32_t q = 0; q < r->s->n_queues; q++) {
    fs_trace_thread(r, q, fs_stream_string(r->s, r->s->queues[q].name));
  }
}

/* ---- all of it */

/* Each command of a loop has times of its own. */
static fs_status draw_loops(fs_tracer *r, fs_arena *arena) {
  FS_TRY(fs_new_none(arena, &r->loop_begin, r->s->n_loops));
  FS_TRY(fs_new_none(arena, &r->loop_plan, r->s->n_loops));
  FS_TRY(fs_new_zero(arena, &r->loop_end, r->s->n_loops));
  for (uint32_t c = 0; c < r->s->n_commands; c++) {
    uint32_t op = fs_command_op(&r->s->commands[c]), l = op == FS_NONE ? FS_NONE : r->loop_of[op];
    if (l != FS_NONE) {
      r->loop_begin[l] = fs_min(r->loop_begin[l], r->begin[c]);
      r->loop_end[l] = fs_max(r->loop_end[l], r->end[c]);
      r->loop_plan[l] = fs_min(r->loop_plan[l], r->s->commands[c].start);
    }
  }
  return FSCHED_OK;
}

static fs_status put_run(fs_tracer *r, fs_arena *arena) {
  fs_arena_mark mark = fs_arena_set_mark(arena);
  FS_TRY(fs_new(arena, &r->begin, r->s->n_commands));
  FS_TRY(fs_new(arena, &r->end, r->s->n_commands));
  FS_TRY(fs_trace_draw(arena, r, r->run, r->begin, r->end));
  FS_TRY(draw_loops(r, arena));
  put_process(r);
  fs_trace_slices(r);
  FS_TRY(fs_trace_counters(r, arena));
  fs_arena_reset(arena, mark);
  return FSCHED_OK;
}

/* Finds the loops, and what is shown of them. */
static fs_status find_loops(fs_tracer *r, fs_arena *arena) {
  FS_TRY(fs_shown_of_stream(arena, r->s, &r->loops));
  FS_TRY(fs_new_none(arena, &r->loop_of, r->s->n_ops));
  for (uint32_t l = 0; l < r->s->n_loops; l++) {
    if (r->loops[l].op != FS_NONE) {
      r->loop_of[r->loops[l].op] = l;
    }
  }
  return FSCHED_OK;
}

static fs_status write_runs(fs_tracer *r, fs_arena *arena, const fs_trace_run *run,
                            uint32_t n_runs) {
  FS_TRY(fs_stream_order_find(arena, r->s, &r->order));
  FS_TRY(fs_stream_residencies_find(arena, r->s, &r->order, &r->residencies));
  FS_TRY(fs_trace_find_arrows(arena, r->s, &r->order, &r->arrows));
  FS_TRY(find_loops(r, arena));
  fs_text_puts(&r->text, "{\"traceEvents\":[\n");
  for (uint32_t i = 0; i < n_runs; i++) {
    r->run = &run[i];
    r->pid = i + 1;
    r->tid0 = n_runs + 1 + i * r->s->n_queues;
    FS_TRY(put_run(r, arena));
  }
  fs_text_puts(&r->text, "\n]}\n");
  return FSCHED_OK;
}

fs_status fs_trace_write(fsched_context *ctx, const fs_stream *s, const fs_trace_run *run,
                         uint32_t n_runs, char **text, size_t *length) {
  fs_tracer r = {.s = s};
  FS_SCRATCH(arena, ctx);
  fs_text_init(&r.text, ctx);
  fs_text_init(&r.word, ctx);
  fs_status status = write_runs(&r, &arena, run, n_runs);
  if (status == FSCHED_OK) {
    status = fs_text_take(&r.text, text, length);
  } else {
    fs_text_drop(&r.text);
  }
  fs_text_drop(&r.word);
  return status;
}
