/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the trace writer. */
#ifndef FS_TRACE_PRIVATE_H
#define FS_TRACE_PRIVATE_H

#include "draw/trace/trace.h"
#include "model/stream/order.h"
#include "model/stream/residencies.h"
#include "model/stream/shown_loops.h"

/* Arrows, listed by the command at which they arrive: from each command that it waits for, except
 * those on its own queue, and without repeats. */
typedef struct fs_trace_arrows {
  uint32_t *arrow0; /* CSR per command */
  uint32_t *from;
} fs_trace_arrows;

typedef struct fs_tracer {
  const fs_stream *s;
  fs_stream_order order;
  fs_stream_residencies residencies;
  fs_trace_arrows arrows;
  fs_shown_loop *loops; /* per loop of the stream */
  uint32_t *loop_of;    /* per op of the stream: the loop that it is, or FS_NONE */
  uint64_t n_flows;
  fs_text text;
  fs_text word;   /* buffer of fs_trace_word */
  bool separated; /* the next event needs a comma before it */

  /* About the run that is being written: */
  const fs_trace_run *run;
  uint32_t pid, tid0;    /* thread of queue q: tid0 + q */
  uint64_t *begin, *end; /* per command, as drawn, in ns */
  /* Per loop in no other: the first begin of its commands, and the last end; the tick at which the
   * first one is planned. */
  uint64_t *loop_begin, *loop_end, *loop_plan;
} fs_tracer;

fs_status fs_trace_find_arrows(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                               fs_trace_arrows *out) FS_MUST_USE;
/* Finds the times as drawn for the times of a run: see trace.h. */
fs_status fs_trace_draw(fs_arena *arena, const fs_tracer *r, const fs_trace_run *run,
                        uint64_t *begin, uint64_t *end) FS_MUST_USE;
/* Writes what else there is to say of an op, or of an op of a loop (draw/parts.h); the other one is
 * FS_NONE. */
void fs_trace_parts(fs_tracer *r, uint32_t op, uint32_t loop_op);
/* Writes the instances that are shown of the loop that a command is, if it is one. */
void fs_trace_instances(fs_tracer *r, uint32_t command);
/* ns * tick / ticks, rounded down.  Requires tick <= ticks, and 0 < ticks <= 2^62. */
uint64_t fs_trace_part(uint64_t ns, uint64_t tick, uint64_t ticks);
/* Writes slices of all queues, then the arrows between them. */
void fs_trace_slices(fs_tracer *r);
/* Writes a counter for each bounded memory.  O(n log n). */
fs_status fs_trace_counters(fs_tracer *r, fs_arena *arena) FS_MUST_USE;

/* Writes the name and the position of the process, and of the thread of a queue. */
void fs_trace_process(fs_tracer *r, const char *program, const char *run);
void fs_trace_thread(fs_tracer *r, uint32_t queue, const char *name);
/* Begins an event: `{"ph":PHASE,"pid":...`; the caller ends it with "}". */
void fs_trace_begin(fs_tracer *r, const char *phase);
/* Writes a key with a number. */
void fs_trace_number(fs_tracer *r, const char *key, uint64_t value);
/* Writes a key with a time, in microseconds. */
void fs_trace_time(fs_tracer *r, const char *key, uint64_t ns);
/* Writes nanoseconds as microseconds, with three decimals unless they are whole. */
void fs_trace_us(fs_text *t, uint64_t ns);
/* Writes the content of r->word as a JSON string, and empties it. */
void fs_trace_word(fs_tracer *r);

#endif
