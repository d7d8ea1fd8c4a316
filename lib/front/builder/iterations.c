/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: loops that cannot stay loops.
 *
 * A loop means its unrolling, so where this version does not have a loop as one, the graph is made
 * of the iterations of all its loops, with a warning that says why: if their numbers are known, and
 * the ops of all iterations are not too many to be planned one by one.  Else it is an error.
 *
 * Determinism: whether a graph is unrolled depends on what was described and on the effort. */
#include <stdio.h>

#include "base/warnings.h"
#include "front/builder/bodies.h"
#include "fsched/compile.h"

/* Ops of a graph that is unrolled for lack of a loop. */
enum { MOST_OPS = 1 << 16 };

fs_status fs_builder_refuse_loop(fsched_builder *b, uint32_t loop, fs_pos at, const char *format,
                                 ...) {
  assert(loop < b->loop.n && b->refusal != NULL);
  fs_refusal *r = b->refusal;
  va_list args;
  va_start(args, format);
  (void)vsnprintf(r->message, sizeof r->message, format, args);
  va_end(args);
  r->refused = true;
  r->loop = loop;
  return fs_builder_fail(b, FS_DIAG_UNSUPPORTED, at, r->hint,
                         "loop '%.80s' cannot stay a loop in this version: %s",
                         b->loops.text.at[loop], r->message);
}

/* The first parameter without a value; FS_NONE: all trips are known. */
static uint32_t open_param(const fsched_builder *b) {
  for (uint32_t l = 0; l < b->loop.n; l++) {
    uint32_t word = b->loop.at[l].param;
    const char *name = word == FS_NONE ? NULL : b->words.text.at[word];
    if (name != NULL && fs_names_find(&b->params, name, strlen(name)) == FS_NONE) {
      return word;
    }
  }
  return FS_NONE;
}

/* Decides what becomes of loops that cannot stay loops. */
static fs_status look_ahead(const fsched_builder *b, fs_refusal *r) {
  uint64_t n;
  uint32_t word = open_param(b);
  FS_TRY(fs_bodies_count(b, &n));
  r->loop = FS_NONE;
  r->unrolls = word == FS_NONE && n <= MOST_OPS;
  if (word != FS_NONE) {
    (void)snprintf(r->hint, sizeof r->hint,
                   "--set-param (fsched_builder_param) gives '%.40s' a value, with which up to %d "
                   "ops are compiled as iterations",
                   b->words.text.at[word], MOST_OPS);
  } else {
    (void)snprintf(r->hint, sizeof r->hint,
                   "--unroll (fsched_builder_unroll) makes a graph of its iterations, which is not "
                   "done without it for more than %d ops",
                   MOST_OPS);
  }
  return FSCHED_OK;
}

static void warn(const fsched_builder *b, const fs_refusal *r) {
  if (r->loop == FS_NONE) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_UNROLLED, fs_pos_at(&b->loop_at, 0),
              "--unroll (fsched_builder_unroll) asks for it",
              "the loops are compiled as their iterations: as loops in this version, %s",
              r->message);
  } else {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_UNROLLED, fs_pos_at(&b->loop_at, r->loop),
              "--unroll (fsched_builder_unroll) asks for it",
              "the loops are compiled as their iterations, as '%.80s' cannot stay a loop in this "
              "version: %s",
              b->loops.text.at[r->loop], r->message);
  }
}

/* Makes the graph of the iterations; b: as it was described, with its texts in the arena `texts`.
 */
static fs_status finish_unrolled(fsched_builder *b, fs_arena *texts, fsched_graph **out) {
  b->unroll = true;
  fs_status status = fs_builder_finish_once(b, out);
  if (status == FSCHED_OK) {
    fs_arena_join(&(*out)->arena, texts);
  }
  return status;
}

static fs_status finish_or_unroll(fsched_builder *b, fsched_graph **out) {
  fs_refusal refusal = {0};
  fsched_builder *described;
  fs_diag_mark mark = fs_context_mark(b->ctx);
  *out = NULL;
  FS_TRY(look_ahead(b, &refusal));
  FS_TRY(fs_builder_clone(b, &described));
  b->refusal = &refusal;
  fs_status status = fs_builder_spare(b, out);
  b->refusal = NULL;
  if (status == FSCHED_BAD_INPUT && refusal.refused && refusal.unrolls) {
    fs_context_rewind(b->ctx, mark);
    warn(described, &refusal);
    status = finish_unrolled(described, &b->arena, out);
  } else if (status == FSCHED_OK) {
    status = fs_builder_loop_races(described, *out);
    if (status != FSCHED_OK) {
      fsched_graph_destroy(*out);
      *out = NULL;
    }
  }
  fsched_builder_destroy(described);
  return status;
}

/* Whether there are loops that stay loops, as far as they can. */
static bool has_loops(const fsched_builder *b) {
  return b->loop.n > 0 && b->open_loop == FS_NONE && !b->unroll && !b->sample && !b->finished;
}

fsched_status fsched_builder_finish(fsched_builder *b, fsched_graph **out) {
  FS_SCRATCH(scratch, b->ctx);
  fs_ring_draft *given;
  size_t n_given = b->sample ? 0 : b->ring.n;
  FS_TRY(fs_new(&scratch, &given, n_given));
  if (n_given > 0) {
    memcpy(given, b->ring.at, n_given * sizeof *given);
  }
  fs_status status = has_loops(b) ? finish_or_unroll(b, out) : fs_builder_fit(b, out);
  if (status == FSCHED_OK) {
    fs_builder_warn_depths(*out, given, n_given);
  }
  if (status == FSCHED_OK && fs_warn_errors(b->ctx) != b->warning_errors) {
    fsched_graph_destroy(*out);
    *out = NULL;
    status = FSCHED_BAD_INPUT;
  }
  return status;
}
