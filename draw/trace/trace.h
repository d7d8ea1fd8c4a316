/* SPDX-License-Identifier: Apache-2.0 */
/* A trace for Perfetto, in the Trace Event Format (JSON, an event a line): planned and measured
 * times of a stream's commands, side by side.
 *
 * Every run is a process; in it every queue is a thread with a slice per command (of a gang one on
 * each member), arrows for waits for other queues, and a counter per bounded memory.
 *
 * What readers of the format make hard, and what is therefore ensured:
 *   - Slices of a thread neither overlap nor nest.  Readers sort slices with one begin by length,
 *     so one of no length would get into its successor: a slice is at least a nanosecond long, and
 *     begins no sooner than the one before it and those it has arrows from have ended.  It is moved
 *     for nothing else, and by no more nanoseconds than there are commands without length in
 *     unbroken row before it.  The exact planned times are in its args.
 *   - An arrow leaves in the last nanosecond of one slice and arrives at the begin of a later one.
 *   - No thread has the id of another one, or of a process.
 *   - Timestamps are microseconds, exact to the nanosecond; whole ones have no fraction.
 *   - `displayTimeUnit` is left out: some readers took it for the unit of the timestamps.
 * Counters have a value per instant at which it changes (what begins and ends there, or lives for
 * no time, does not show), and are never moved; see stream/residencies.h for what counts.
 *
 * Ensures: the same bytes for the same stream and times.  O(n log n). */
#ifndef FS_TRACE_H
#define FS_TRACE_H

#include "base/context.h"
#include "base/mem.h"
#include "model/stream/stream.h"

/* Times above do not fit the numbers that readers have (doubles). */
#define FS_TRACE_MOST_NS ((uint64_t)1 << 53)

typedef struct fs_trace_run {
  const char *name;            /* what it is, behind the program's name */
  const uint64_t *begin, *end; /* ns per command; below 2^63 */
} fs_trace_run;

/* The text is released with fsched_text_free.  Errors: FSCHED_SYSTEM. */
fs_status fs_trace_write(fsched_context *ctx, const fs_stream *s, const fs_trace_run *run,
                         uint32_t n_runs, char **text, size_t *length) FS_MUST_USE;

/* The planned times as a run, whose arrays live in `arena`.
 * fs_trace_plan: a tick takes tick_ns (0: what the time unit says, a microsecond for other labels);
 * a tenth of that, and so on, where the plan would get beyond FS_TRACE_MOST_NS.
 * fs_trace_plan_fit: the whole plan takes `ns`. */
fs_status fs_trace_plan(fs_arena *arena, const fs_stream *s, uint64_t tick_ns,
                        fs_trace_run *run) FS_MUST_USE;
fs_status fs_trace_plan_fit(fs_arena *arena, const fs_stream *s, uint64_t ns,
                            fs_trace_run *run) FS_MUST_USE;

#endif
