/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the sequential evaluation (reference.c), for the part that evaluates loops
 * (evaluate_loop.c). */
#ifndef FS_EXEC_EVALUATE_H
#define FS_EXEC_EVALUATE_H

#include "exec/host/byteset.h"
#include "exec/host/kernel.h"
#include "exec/host/loops.h"
#include "exec/replay/reference.h"

typedef struct fs_value {
  uint8_t *bytes; /* NULL: not in use */
  fs_byteset defined;
  fs_byteset there; /* bytes that have been made or written; the others hold no content */
} fs_value;

typedef struct fs_reference {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena *arena;
  fs_value *value;   /* per version */
  uint32_t *order;   /* order of the ops; NULL: program order */
  uint32_t *last_op; /* per version: its last op; FS_NONE: never accessed */
  fs_value *state;   /* per buffer: state that the invocation before has kept */
  fs_kernel_arg *args;
  fsched_kernel_view *views;
  int64_t *other;  /* per arg of the stream: its value; NULL: the stream's values */
  uint64_t *trips; /* per loop of the stream; NULL: as it says itself */
  const fs_reference_run *run;
  fs_kernels kernels;
  fs_loops loops;
  const uint64_t *digest; /* NULL: this is not the last invocation */
  fs_reference_counts counts;
  bool differs;
} fs_reference;

/* Allocates a version at its first access, with one extra byte, so that the size is never 0.  Its
 * content is not made yet: of a large version, ops may touch only a few bytes. */
fs_status fs_evaluate_take(fs_reference *r, uint32_t version) FS_MUST_USE;
/* Makes those bytes of [begin, end) that are not there yet.  Requires a version that was taken. */
fs_status fs_evaluate_make(fs_reference *r, uint32_t version, uint64_t begin,
                           uint64_t end) FS_MUST_USE;
/* Compares the op's digest of the last invocation, which is there. */
void fs_evaluate_digest(fs_reference *r, uint32_t op, uint64_t expected);
/* Drops the versions of which the op is the last one. */
void fs_evaluate_drop_dead(fs_reference *r, uint32_t op);
/* Whether a kernel writes nothing. */
bool fs_evaluate_idle(const fs_reference *r, uint32_t kernel);

/* The elements of an arg one by one, in the order of its dimensions; a range is one element.
 *
 *     for (fs_element_walk w = fs_evaluate_elements(view, begin, end); fs_evaluate_element(&w);) {
 *       ... [w.begin, w.end) ...
 *     }
 */
typedef struct fs_element_walk {
  const fs_stream_view *view;
  uint64_t begin, end, number, count, base;
} fs_element_walk;
/* Of a view, or NULL, that goes from `begin` to `end`. */
fs_element_walk fs_evaluate_elements(const fs_stream_view *view, uint64_t begin, uint64_t end);
bool fs_evaluate_element(fs_element_walk *w);

/* Evaluates a loop, which is an op of the stream. */
fs_status fs_evaluate_loop(fs_reference *r, const fs_stream_loop *loop) FS_MUST_USE;

#endif
