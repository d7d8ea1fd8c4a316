/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/before.h"

#include "base/radix.h"

typedef struct gatherer {
  const fs_sync *sync;
  fs_before *out;
  FS_VEC(uint64_t) found; /* key_of */
  uint32_t control;       /* cursor into the control edges */
} gatherer;

/* Keys ascend where positions descend; of one position, first comes what concerns all members. */
static uint64_t key_of(uint32_t position, bool some) { return (uint64_t)~position << 1 | some; }
static uint32_t position_of(uint64_t key) { return ~(uint32_t)(key >> 1); }

static fs_status gather(gatherer *t, uint32_t item) {
  const fs_sync *y = t->sync;
  const fsched_graph *g = y->schedule->graph;
  fsched_context *ctx = t->out->ctx;
  FS_ASSERT_SLOW(item < y->schedule->n_items);
  t->found.n = 0;
  if (!fs_item_is_copy(y->schedule, item)) {
    for (uint32_t i = g->pred0[item]; i < g->pred0[item + 1]; i++) {
      bool some = fs_lags_some(&t->out->lags, i);
      FS_TRY(fs_vec_push(ctx, &t->found, key_of(y->position[g->pred[i]], some)));
    }
  }
  for (uint32_t i = y->data0[item]; i < y->data0[item + 1]; i++) {
    FS_TRY(fs_vec_push(ctx, &t->found, key_of(y->position[y->data[i]], false)));
  }
  for (; t->control < y->n_control && y->control_to[t->control] == item; t->control++) {
    uint32_t from = y->control_from[t->control];
    FS_TRY(fs_vec_push(ctx, &t->found, key_of(y->position[from], false)));
  }
  size_t n = t->found.n;
  FS_TRY(fs_vec_reserve(ctx, &t->found, 2 * n));
  fs_radix_sort_block(t->found.at, n);
  return FSCHED_OK;
}

/* Files the predecessors of the item at a position. */
static fs_status file_found(gatherer *t, uint32_t position) {
  const fs_schedule *s = t->sync->schedule;
  fs_before *b = t->out;
  for (size_t k = 0; k < t->found.n; k++) {
    uint32_t pred = position_of(t->found.at[k]), edge = FS_NONE;
    if (k > 0 && pred == position_of(t->found.at[k - 1])) {
      continue;
    }
    assert(pred < position);
    if ((t->found.at[k] & 1) != 0) {
      edge = fs_lags_edge(s->graph, s->order[pred], s->order[position]);
    }
    FS_TRY(fs_vec_push(b->ctx, &b->pred, pred));
    FS_TRY(fs_vec_push(b->ctx, &b->edge, edge));
    b->successors[pred]++;
  }
  return FSCHED_OK;
}

static fs_status gather_all(gatherer *t) {
  const fs_schedule *s = t->sync->schedule;
  for (uint32_t i = 0; i < s->n_items; i++) {
    t->out->pred0[i] = (uint32_t)t->out->pred.n;
    FS_TRY(gather(t, s->order[i]));
    FS_TRY(file_found(t, i));
  }
  t->out->pred0[s->n_items] = (uint32_t)t->out->pred.n;
  assert(t->control == t->sync->n_control);
  return FSCHED_OK;
}

fs_status fs_before_collect(fsched_context *ctx, fs_arena *arena, const fs_sync *sync,
                            fs_before *out) {
  const fs_schedule *s = sync->schedule;
  assert(sync->position != NULL || s->n_items == 0);
  *out = (fs_before){.ctx = ctx, .lags = {.g = s->graph}};
  if (fs_sync_has_waits(sync->kind)) {
    FS_TRY(fs_lags_find(arena, s->graph, &out->lags));
  }
  FS_TRY(fs_new(arena, &out->pred0, (size_t)s->n_items + 1));
  FS_TRY(fs_new_zero(arena, &out->successors, s->n_items));
  gatherer t = {.sync = sync, .out = out};
  fs_status status = gather_all(&t);
  fs_vec_free(ctx, &t.found);
  return status;
}

void fs_before_release(fs_before *b) {
  fs_vec_free(b->ctx, &b->pred);
  fs_vec_free(b->ctx, &b->edge);
}
