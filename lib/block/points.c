/* SPDX-License-Identifier: Apache-2.0 */
/* What a command is told: of each other queue the latest epoch that a sync since the queue's
 * previous command has waited for, if that is more than syncs before had waited for.  Most commands
 * have no sync since the one before them and are passed over. */
#include "block/plan.h"

typedef struct teller {
  const fs_orders *o;
  const fs_block_plan *p;
  uint32_t *issued;  /* per queue */
  uint32_t *told;    /* per queue: the epoch that syncs have waited for */
  uint32_t *told_at; /* per queue: the stop that was the last to raise it, from 1 */
  uint32_t *heard;   /* per queue: how many stops there were at its latest command */
  FS_VEC(fs_wait) point;
} teller;

static void raise(teller *t, uint32_t queue, uint32_t epoch, uint32_t stop) {
  if (epoch > t->told[queue]) {
    t->told[queue] = epoch;
    t->told_at[queue] = stop;
  }
}

static void pass_stop(teller *t, uint32_t index) {
  fs_stop stop = t->p->stop[index];
  if (stop.queue != FS_NONE) {
    raise(t, stop.queue, t->issued[stop.queue] - stop.keep, index + 1);
    return;
  }
  for (uint32_t q = 0; q < t->o->s->n_queues; q++) {
    raise(t, q, t->issued[q], index + 1);
  }
}

static fs_status tell(fsched_context *ctx, teller *t, uint32_t queue, uint32_t stops) {
  for (uint32_t q = 0; t->heard[queue] < stops && q < t->o->s->n_queues; q++) {
    if (q != queue && t->told_at[q] > t->heard[queue]) {
      fs_wait w = {q, t->told[q]};
      FS_TRY(fs_vec_push(ctx, &t->point, w));
    }
  }
  t->heard[queue] = stops;
  t->issued[queue]++;
  return FSCHED_OK;
}

/* The points in order of issue; at[] and n[] per command. */
static fs_status tell_all(fsched_context *ctx, teller *t, uint32_t *at, uint32_t *n) {
  const fs_sync *y = t->o->y;
  uint32_t stops = 0;
  for (uint32_t i = 0; i < t->o->s->n_items; i++) {
    uint32_t item = t->p->order[i];
    for (; stops < t->p->n_stops && t->p->stop[stops].at == t->p->at[item]; stops++) {
      pass_stop(t, stops);
    }
    uint32_t n_queues;
    const uint32_t *queues = fs_item_queues(t->o->s, item, &n_queues);
    for (uint32_t m = 0; m < n_queues; m++) {
      uint32_t command = y->item_command[y->item_command0[item] + m];
      at[command] = (uint32_t)t->point.n;
      FS_TRY(tell(ctx, t, queues[m], stops));
      n[command] = (uint32_t)t->point.n - at[command];
    }
  }
  return FSCHED_OK;
}

static fs_status store_points(fsched_context *ctx, fs_arena *scratch, teller *t, fs_sync *y) {
  uint32_t *at;
  uint32_t *n;
  FS_TRY(fs_new(scratch, &at, y->n_commands));
  FS_TRY(fs_new(scratch, &n, y->n_commands));
  FS_TRY(fs_new_zero(scratch, &t->issued, t->o->s->n_queues));
  FS_TRY(fs_new_zero(scratch, &t->told, t->o->s->n_queues));
  FS_TRY(fs_new_zero(scratch, &t->told_at, t->o->s->n_queues));
  FS_TRY(fs_new_zero(scratch, &t->heard, t->o->s->n_queues));
  FS_TRY(tell_all(ctx, t, at, n));
  FS_TRY(fs_new(&y->arena, &y->point0, (size_t)y->n_commands + 1));
  FS_TRY(fs_new(&y->arena, &y->point, t->point.n));
  uint32_t fill = 0;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    y->point0[c] = fill;
    if (n[c] > 0) {
      memcpy(y->point + fill, t->point.at + at[c], n[c] * sizeof *y->point);
    }
    fill += n[c];
  }
  y->point0[y->n_commands] = fill;
  return FSCHED_OK;
}

static fs_status store_stops(const fs_block_plan *p, fs_sync *y) {
  FS_TRY(fs_new(&y->arena, &y->issue, y->n_commands));
  for (uint32_t item = 0; item < y->schedule->n_items; item++) {
    uint32_t first = y->item_command0[item];
    for (uint32_t i = first; i < y->item_command0[item + 1]; i++) {
      y->issue[y->item_command[i]] = p->at[item] + (i - first);
    }
  }
  FS_TRY(fs_new(&y->arena, &y->stop, p->n_stops));
  if (p->n_stops > 0) {
    memcpy(y->stop, p->stop, p->n_stops * sizeof *y->stop);
  }
  y->n_stops = p->n_stops;
  y->n_full = p->n_full;
  y->kind = FS_SYNC_BLOCK;
  return FSCHED_OK;
}

fs_status fs_block_plan_store(fsched_context *ctx, const fs_orders *o, const fs_block_plan *p,
                              fs_sync *y) {
  FS_TRY(store_stops(p, y));
  teller t = {.o = o, .p = p};
  fs_arena scratch;
  fs_arena_init(&scratch, ctx);
  fs_status status = store_points(ctx, &scratch, &t, y);
  fs_vec_free(ctx, &t.point);
  fs_arena_release(&scratch);
  return status;
}
