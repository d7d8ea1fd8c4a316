/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's calls about loops.  Ops are added in program order, so the body of a loop is a
 * range of ops, and the loops are listed in the order in which they begin: a loop stands behind the
 * loops around it, and before those inside. */
#include <stdio.h>

#include "front/builder/private.h"
#include "fsched/compile.h"

static fs_status bad_loop(fsched_builder *b, uint32_t loop) {
  b->incomplete = true;
  return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "there is no loop %u", loop);
}

static fs_status check_loop(fsched_builder *b, const fsched_loop_desc *d) {
  FS_TRY(fs_builder_check_name(b, "loop", d->name));
  FS_TRY(fs_builder_limit(b, "the number of trips", d->trip, FSCHED_MAX_TIME));
  FS_TRY(fs_builder_limit(b, "the number of trips", d->max, FSCHED_MAX_TIME));
  if (d->param != NULL) {
    FS_TRY(fs_builder_check_name(b, "parameter", d->param));
    if (d->min > d->max) {
      return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                             "loop '%.80s' has no trips: 'min' is %llu, 'max' %llu", d->name,
                             (unsigned long long)d->min, (unsigned long long)d->max);
    }
  }
  if (b->open_loop != FS_NONE && b->loop.at[b->open_loop].depth == FSCHED_MAX_LOOPS) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "loop '%.80s' has %d loops around it, which is one too many", d->name,
                           FSCHED_MAX_LOOPS);
  }
  return FSCHED_OK;
}

fsched_status fsched_builder_begin_loop(fsched_builder *b, const fsched_loop_desc *desc,
                                        uint32_t *id) {
  FS_TAKE_DESC(fsched_loop_desc, name, d, desc);
  fs_status checked = check_loop(b, &d);
  if (checked != FSCHED_OK) {
    b->incomplete = true;
    return checked;
  }
  fs_loop_draft loop = {.trip = d.trip,
                        .least = d.param == NULL ? d.trip : d.min,
                        .most = d.param == NULL ? d.trip : d.max,
                        .param = FS_NONE,
                        .parent = b->open_loop,
                        .op0 = (uint32_t)b->op.n,
                        .op_end = FS_NONE,
                        .depth = b->open_loop == FS_NONE ? 1 : b->loop.at[b->open_loop].depth + 1};
  if (d.param != NULL) {
    FS_TRY(fs_builder_word(b, d.param, &loop.param));
  }
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->loop, b->loop.n + 1));
  FS_TRY(fs_names_add(&b->loops, d.name, strlen(d.name), &at, &repeated));
  FS_TRY(fs_vec_push(b->ctx, &b->loop, loop));
  FS_TRY(fs_builder_place(b, &b->loop_at, at, b->pos));
  b->open_loop = at;
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "loop", d.name) : FSCHED_OK;
}

fsched_status fsched_builder_end_loop(fsched_builder *b) {
  if (b->open_loop == FS_NONE) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "there is no loop to end");
  }
  fs_loop_draft *loop = &b->loop.at[b->open_loop];
  loop->op_end = (uint32_t)b->op.n;
  b->open_loop = loop->parent;
  return FSCHED_OK;
}

/* The slots and the prefetch as they stand, before what only the whole loop tells. */
static fs_status check_ring(fsched_builder *b, const fsched_ring_desc *d) {
  const char *name = b->buffers.text.at[d->buffer];
  FS_TRY(fs_builder_limit(b, "the depth", d->depth, FSCHED_MAX_TIME));
  if (d->has_prefetch && d->prefetch < 0 && d->depth == 0) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, "give a depth, too",
                           "a negative prefetch of '%.80s' counts from a depth", name);
  }
  int64_t depth = (int64_t)d->depth;
  int64_t prefetch = d->prefetch < 0 ? depth + d->prefetch : d->prefetch;
  if (d->has_prefetch && (d->prefetch < -depth || (depth > 0 && prefetch >= depth))) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                           "the prefetch of '%.80s' is %lld, between %lld and %lld is possible "
                           "with a depth of %lld",
                           name, (long long)d->prefetch, (long long)-depth, (long long)depth - 1,
                           (long long)depth);
  }
  if (d->depth > 0 && d->every > d->depth) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                           "'every' of '%.80s' is %llu, more than the depth, %llu", name,
                           (unsigned long long)d->every, (unsigned long long)d->depth);
  }
  return fs_builder_limit(b, "'every'", d->every, FSCHED_MAX_TIME);
}

fsched_status fsched_builder_ring(fsched_builder *b, uint32_t loop, const fsched_ring_desc *desc) {
  FS_TAKE_DESC(fsched_ring_desc, buffer, d, desc);
  if (loop >= b->loop.n) {
    return bad_loop(b, loop);
  }
  if (d.buffer >= b->buffer_size.n) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "there is no buffer %u",
                           d.buffer);
  }
  FS_TRY(check_ring(b, &d));
  int64_t prefetch = d.prefetch < 0 ? (int64_t)d.depth + d.prefetch : d.prefetch;
  fs_ring_draft ring = {.depth = d.depth,
                        .every = fs_max(d.every, 1),
                        .ahead = d.has_prefetch ? (uint64_t)prefetch + 1 : 0,
                        .behind = d.has_prefetch && d.prefetch < 0,
                        .loop = loop,
                        .buffer = d.buffer,
                        .op = FS_NONE,
                        .at = b->pos};
  return fs_vec_push(b->ctx, &b->ring, ring);
}

fsched_status fsched_builder_unroll(fsched_builder *b) {
  b->unroll = true;
  return FSCHED_OK;
}

fsched_status fsched_builder_effort(fsched_builder *b, uint32_t effort) {
  if (effort > FSCHED_EFFORT(FSCHED_EFFORT_MOST)) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "the effort is above FSCHED_EFFORT(FSCHED_EFFORT_MOST)");
  }
  b->effort = effort;
  return FSCHED_OK;
}

fsched_status fsched_builder_param(fsched_builder *b, const char *name, uint64_t value) {
  uint32_t id;
  bool added;
  FS_TRY(fs_builder_check_name(b, "parameter", name));
  FS_TRY(fs_vec_reserve(b->ctx, &b->param, b->param.n + 1));
  FS_TRY(fs_names_intern(&b->params, name, strlen(name), &id, &added));
  if (added) {
    return fs_vec_push(b->ctx, &b->param, value);
  }
  b->param.at[id] = value;
  return FSCHED_OK;
}
