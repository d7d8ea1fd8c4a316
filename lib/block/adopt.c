/* SPDX-License-Identifier: Apache-2.0 */
/* Starts follow from the answer, and so do residencies, as when syncs delay items
 * (lib/model/retime.h).  Addresses stay: whoever shares a place comes in the same order as before,
 * by the control edges. */
#include "block/adopt.h"

#include <stdlib.h>

#include "model/retime.h"

/* Copies n elements from one array to another. */
#define COPY_ARRAY(to, from, n)                         \
  do {                                                  \
    if ((n) > 0) {                                      \
      memcpy((to), (from), (size_t)(n) * sizeof *(to)); \
    }                                                   \
  } while (0)

static fs_status make_room(fs_arena *arena, const fs_schedule *s, fs_saved_schedule *k) {
  uint32_t n = s->n_items;
  uint32_t r = s->n_residencies;
  FS_TRY(fs_new(arena, &k->start, n));
  FS_TRY(fs_new(arena, &k->end, n));
  FS_TRY(fs_new(arena, &k->queue, n));
  FS_TRY(fs_new(arena, &k->order, n));
  FS_TRY(fs_new(arena, &k->res_begin, r));
  FS_TRY(fs_new(arena, &k->res_end, r));
  FS_TRY(fs_new(arena, &k->res_address, r));
  FS_TRY(fs_new(arena, &k->res_size, r));
  FS_TRY(fs_new(arena, &k->res_version, r));
  FS_TRY(fs_new(arena, &k->res_op, r));
  FS_TRY(fs_new(arena, &k->res_memory, r));
  FS_TRY(fs_new(arena, &k->arg_residency, s->graph->n_args));
  FS_TRY(fs_new(arena, &k->scratch_residency, s->graph->op_scratch0[s->graph->n_ops]));
  FS_TRY(fs_new(arena, &k->copy_residency, s->n_copies));
  return fs_new(arena, &k->copy_store, s->n_copies);
}

fs_status fs_schedule_save(fs_arena *arena, const fs_schedule *s, fs_saved_schedule *out) {
  assert(s->order != NULL || s->n_items == 0);
  fs_saved_schedule *k = out;
  uint32_t n = s->n_items;
  uint32_t r = s->n_residencies;
  FS_TRY(make_room(arena, s, k));
  COPY_ARRAY(k->start, s->start, n);
  COPY_ARRAY(k->end, s->end, n);
  COPY_ARRAY(k->queue, s->queue, n);
  COPY_ARRAY(k->order, s->order, n);
  COPY_ARRAY(k->res_begin, s->res_begin, r);
  COPY_ARRAY(k->res_end, s->res_end, r);
  COPY_ARRAY(k->res_address, s->res_address, r);
  COPY_ARRAY(k->res_size, s->res_size, r);
  COPY_ARRAY(k->res_version, s->res_version, r);
  COPY_ARRAY(k->res_op, s->res_op, r);
  COPY_ARRAY(k->res_memory, s->res_memory, r);
  COPY_ARRAY(k->arg_residency, s->arg_residency, s->graph->n_args);
  COPY_ARRAY(k->scratch_residency, s->scratch_residency, s->graph->op_scratch0[s->graph->n_ops]);
  COPY_ARRAY(k->copy_residency, s->copy_residency, s->n_copies);
  COPY_ARRAY(k->copy_store, s->copy_store, s->n_copies);
  k->makespan = s->makespan;
  return FSCHED_OK;
}

void fs_schedule_restore(fs_schedule *s, const fs_saved_schedule *from) {
  assert(from->order != NULL);
  const fs_saved_schedule *k = from;
  uint32_t n = s->n_items;
  uint32_t r = s->n_residencies;
  COPY_ARRAY(s->start, k->start, n);
  COPY_ARRAY(s->end, k->end, n);
  COPY_ARRAY(s->queue, k->queue, n);
  COPY_ARRAY(s->order, k->order, n);
  COPY_ARRAY(s->res_begin, k->res_begin, r);
  COPY_ARRAY(s->res_end, k->res_end, r);
  COPY_ARRAY(s->res_address, k->res_address, r);
  COPY_ARRAY(s->res_size, k->res_size, r);
  COPY_ARRAY(s->res_version, k->res_version, r);
  COPY_ARRAY(s->res_op, k->res_op, r);
  COPY_ARRAY(s->res_memory, k->res_memory, r);
  COPY_ARRAY(s->arg_residency, k->arg_residency, s->graph->n_args);
  COPY_ARRAY(s->scratch_residency, k->scratch_residency, s->graph->op_scratch0[s->graph->n_ops]);
  COPY_ARRAY(s->copy_residency, k->copy_residency, s->n_copies);
  COPY_ARRAY(s->copy_store, k->copy_store, s->n_copies);
  s->makespan = k->makespan;
}

typedef struct started {
  fs_tick start;
  uint32_t at, item;
} started;

static int compare_started(const void *a, const void *b) {
  const started *x = a;
  const started *y = b;
  if (x->start != y->start) {
    return x->start < y->start ? -1 : 1;
  }
  return x->at < y->at ? -1 : x->at > y->at;
}

fs_status fs_block_by_start(fsched_context *ctx, const uint32_t *order, const fs_tick *start,
                            uint32_t n, uint32_t *out) {
  assert(n == 0 || (order != NULL && start != NULL));
  FS_SCRATCH(scratch, ctx);
  started *by_start;
  FS_TRY(fs_new(&scratch, &by_start, n));
  for (uint32_t i = 0; i < n; i++) {
    by_start[i] = (started){start[order[i]], i, order[i]};
  }
  if (n > 0) {
    qsort(by_start, n, sizeof *by_start, compare_started);
  }
  for (uint32_t i = 0; i < n; i++) {
    out[i] = by_start[i].item;
  }
  return FSCHED_OK;
}

fs_status fs_block_adopt(fsched_context *ctx, fs_schedule *s, fs_sync *sync,
                         const fs_block_answer *a) {
  assert(a->start != NULL && sync->position != NULL);
  uint32_t *order;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new(&scratch, &order, s->n_items));
  FS_TRY(fs_block_by_start(ctx, a->order, a->start, s->n_items, order));
  COPY_ARRAY(s->queue, a->queue, s->n_items);
  return fs_retime(ctx, s, sync, a->start, order);
}
