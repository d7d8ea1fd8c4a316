/* SPDX-License-Identifier: Apache-2.0 */
/* A trace for Perfetto, in the Trace Event Format (JSON, with one event per line): planned and
 * measured times of a stream's commands, side by side.
 *
 * Every run is a process.  In it every queue is a thread, with a slice for each command (a command
 * of a gang has one on each member's queue), arrows for waits for other queues, and a counter for
 * each bounded memory.
 *
 * Readers of the format are easily confused, so the following is ensured:
 *   - Slices of a thread do not overlap, and nest only as the instances in a loop do.  Readers sort
 * slices with the same begin by length, so an empty slice would end up inside its successor: a
 * slice is at least a nanosecond long, and begins no sooner than the slice before it and the
 * sources of its arrows have ended. It is moved for no other reason, and by no more nanoseconds
 * than there are commands without length in an unbroken row before it.  The exact planned times are
 * in its args.
 *   - An arrow leaves in the last nanosecond of one slice and arrives at the begin of a later one.
 *   - No thread has the id of another thread or of a process.
 *   - Timestamps are microseconds, exact to the nanosecond; whole ones have no fraction.
 *   - `displayTimeUnit` is left out: some readers took it for the unit of the timestamps.
 *   - The instances of a loop lie in its slice: those of its first and last steps, and of two
 * periods in the middle (model/shown.h).  Between them a slice says how many others there are.
 *     Those for which there is no room in it, as they take no time, are instants.
 * Counters have a value for each instant at which they change, and are never moved.  Changes that
 * cancel out within an instant do not show.  stream/residencies.h says which residencies count.
 *
 * Ensures: the same bytes for the same stream and times.  O(n log n). */
#ifndef FS_TRACE_H
#define FS_TRACE_H

#include "base/context.h"
#include "base/mem.h"
#include "model/shown.h"
#include "model/stream/stream.h"

/* Larger times are not exact in the numbers that readers use (doubles). */
#define FS_TRACE_MOST_NS ((uint64_t)1 << 53)

typedef struct fs_trace_run {
  const char *name;                /* describes the run, after the program's name */
  const uint64_t *begin, *end;     /* in ns, per command; below 2^63 */
  bool planned;                    /* these are planned times, and so loops are shown as planned */
  const fs_shown_times *instances; /* of a run that is not planned: times of what is in loops; NULL:
                                      they are not known, and loops are shown as one slice */
} fs_trace_run;

/* Writes runs of one stream.  The text is released with fsched_text_free.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_trace_write(fsched_context *ctx, const fs_stream *s, const fs_trace_run *run,
                         uint32_t n_runs, char **text, size_t *length) FS_MUST_USE;

/* Makes a run of the planned times, whose arrays live in `arena`.
 * fs_trace_plan: a tick takes tick_ps picoseconds (0: as the time unit says, and a microsecond with
 * other units), or a tenth of that, a hundredth, ... if the plan would exceed FS_TRACE_MOST_NS.
 * fs_trace_plan_fit: the whole plan takes `ns` nanoseconds. */
fs_status fs_trace_plan(fs_arena *arena, const fs_stream *s, uint64_t tick_ps,
                        fs_trace_run *run) FS_MUST_USE;
fs_status fs_trace_plan_fit(fs_arena *arena, const fs_stream *s, uint64_t ns,
                            fs_trace_run *run) FS_MUST_USE;

#endif
