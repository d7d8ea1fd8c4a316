/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a run from the planned times, in nanoseconds. */
#include "base/text/ticks.h"
#include "draw/trace/private.h"
#include "fsched/program.h"

static uint64_t last_tick(const fs_stream *s) {
  uint64_t last = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    last = fs_max(last, s->commands[c].end);
  }
  return last;
}

/* Writes "1 us", "250 ns", "2.5 ns". */
static void put_length(fs_text *t, uint64_t ps) {
  uint64_t ns = ps / 1000, rest = ps % 1000;
  size_t u = 0;
  for (; u + 1 < FS_TICK_UNITS && rest == 0 && ns % 1000 == 0; u++) {
    ns /= 1000;
  }
  fs_text_u64(t, ns);
  for (uint64_t digit = 100; rest != 0; rest %= digit, digit /= 10) {
    fs_text_printf(t, "%s%u", digit == 100 ? "." : "", (unsigned)(rest / digit));
  }
  fs_text_puts(t, " ");
  fs_text_puts(t, fs_tick_unit[u]);
}

/* Copies the text to the arena as the name of the run, and frees it. */
static fs_status keep_name(fs_arena *arena, fs_text *t, fs_trace_run *run) {
  run->name = t->failed ? NULL : fs_arena_strndup(arena, t->at, t->n);
  fs_text_drop(t);
  return run->name == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* ns * tick / ticks, rounded down.  The product may have 126 bits, so it
 * is computed and divided bit by bit. */
uint64_t fs_trace_part(uint64_t ns, uint64_t tick, uint64_t ticks) {
  assert(tick <= ticks && ticks > 0 && ticks <= (uint64_t)1 << 62);
  uint64_t quotient = 0, rest = 0; /* of the bits so far; rest < ticks */
  for (uint64_t bit = (uint64_t)1 << 63; bit != 0; bit /= 2) {
    quotient *= 2;
    rest = 2 * rest + ((ns & bit) != 0 ? tick : 0); /* less than 3 * ticks */
    for (; rest >= ticks; rest -= ticks) {
      quotient++;
    }
  }
  return quotient;
}

/* Converts the planned times: with ticks = 0 a tick takes `length` picoseconds, otherwise `ticks`
 * ticks take as many nanoseconds. */
static fs_status make_times(fs_arena *arena, const fs_stream *s, uint64_t length, uint64_t ticks,
                            fs_trace_run *run) {
  uint64_t *begin, *end;
  FS_TRY(fs_new(arena, &begin, s->n_commands));
  FS_TRY(fs_new(arena, &end, s->n_commands));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    begin[c] = ticks == 0 ? fs_ticks_ns(k->start, length) : fs_trace_part(length, k->start, ticks);
    end[c] = ticks == 0 ? fs_ticks_ns(k->end, length) : fs_trace_part(length, k->end, ticks);
  }
  run->begin = begin;
  run->end = end;
  run->planned = true;
  return FSCHED_OK;
}

fs_status fs_trace_plan(fs_arena *arena, const fs_stream *s, uint64_t tick_ps, fs_trace_run *run) {
  uint64_t unit = fs_tick_ps(fs_stream_string(s, s->meta->time_unit));
  uint64_t tick = tick_ps != 0 ? tick_ps : unit != 0 ? unit : FS_TICK_UNKNOWN_PS;
  uint64_t last = last_tick(s);
  bool whole = tick % 1000 == 0; /* a tick of whole nanoseconds stays one */
  while (tick > (whole ? 1000 : 1) && fs_ticks_ns(last, tick) > FS_TRACE_MOST_NS) {
    tick = whole ? fs_max(tick / 10000, 1) * 1000 : tick / 10;
  }
  FS_TRY(make_times(arena, s, tick, 0, run));
  fs_text name;
  fs_text_init(&name, arena->ctx);
  fs_text_puts(&name, "planned");
  if (tick != unit) {
    fs_text_puts(&name, ", 1 tick = ");
    put_length(&name, tick);
  }
  return keep_name(arena, &name, run);
}

fs_status fs_trace_plan_fit(fs_arena *arena, const fs_stream *s, uint64_t ns, fs_trace_run *run) {
  FS_TRY(make_times(arena, s, ns, fs_max(last_tick(s), 1), run));
  fs_text name;
  fs_text_init(&name, arena->ctx);
  fs_text_puts(&name, "planned, drawn over ");
  fs_trace_us(&name, ns);
  fs_text_puts(&name, " us");
  return keep_name(arena, &name, run);
}

static fs_status write_plan(fsched_context *ctx, const fs_stream *s, uint64_t tick_ps, char **text,
                            size_t *length) {
  fs_trace_run run;
  FS_SCRATCH(arena, ctx);
  FS_TRY(fs_trace_plan(&arena, s, tick_ps, &run));
  return fs_trace_write(ctx, s, &run, 1, text, length);
}

fsched_status fsched_program_trace(fsched_context *ctx, const fsched_program *p,
                                   const fsched_trace_options *options, char **text,
                                   size_t *length) {
  fsched_trace_options o = {0};
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_trace_options", options->size,
                            FS_SIZE_UP_TO(fsched_trace_options, tick_ns)));
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  uint64_t tick = o.tick_ns;
  while (tick > UINT64_MAX / 1000) { /* the plan would be divided anyway */
    tick /= 10;
  }
  return write_plan(ctx, &p->view, o.tick_ps != 0 ? o.tick_ps : tick * 1000, text, length);
}
