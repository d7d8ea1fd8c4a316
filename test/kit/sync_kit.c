/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/sync_kit.h"

/* Lists all items' commands in the order of issue; members of a gang follow each other. */
static fs_status order_commands(const fs_schedule *s, fs_sync *y, uint32_t **at) {
  uint32_t n = 0;
  FS_TRY(fs_new(&y->arena, at, y->n_commands)); /* per command: its place */
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    for (uint32_t c = y->item_command0[item]; c < y->item_command0[item + 1]; c++) {
      (*at)[y->item_command[c]] = n++;
    }
  }
  return FSCHED_OK;
}

/* The item that a wait is for. */
static uint32_t awaited(const fs_schedule *s, const fs_sync *y, fs_wait w) {
  if (w.axis < s->n_queues) {
    return y->command_item[y->queue_command0[w.axis] + w.epoch - 1];
  }
  for (uint32_t op = 0; op < s->graph->n_ops; op++) {
    if (s->op_gang[op] == w.axis - s->n_queues && y->item_gang_epoch[op] == w.epoch) {
      return op;
    }
  }
  return FS_NONE;
}

/* Gives a barrier to each item that a command on another queue has to wait for, as every barrier
 * needs a consumer. */
static fs_status number_barriers(const fs_schedule *s, fs_sync *y, uint32_t **of_item) {
  FS_TRY(fs_new_none(&y->arena, of_item, s->n_items));
  y->n_barriers = 0;
  for (uint32_t i = 0; i < y->wait0[y->n_commands]; i++) {
    (*of_item)[awaited(s, y, y->wait[i])] = 0;
  }
  for (uint32_t i = 0; i < s->n_items; i++) { /* in the order of first updates */
    uint32_t *barrier = &(*of_item)[s->order[i]];
    *barrier = *barrier == FS_NONE ? FS_NONE : y->n_barriers++;
  }
  return FSCHED_OK;
}

static void sort(uint32_t *list, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    for (uint32_t k = i; k > 0 && list[k - 1] > list[k]; k--) {
      uint32_t t = list[k];
      list[k] = list[k - 1];
      list[k - 1] = t;
    }
  }
}

static fs_status fill_waits(const fs_schedule *s, fs_sync *y, const uint32_t *of_item) {
  FS_TRY(fs_new(&y->arena, &y->barrier_wait0, (size_t)y->n_commands + 1));
  FS_TRY(fs_new(&y->arena, &y->barrier_wait, y->wait0[y->n_commands]));
  for (uint32_t c = 0; c < y->n_commands; c++) {
    uint32_t first = y->barrier_wait0[c] = y->wait0[c], n = y->wait0[c + 1] - first;
    for (uint32_t i = first; i < first + n; i++) {
      y->barrier_wait[i] = of_item[awaited(s, y, y->wait[i])];
    }
    sort(y->barrier_wait + first, n);
  }
  y->barrier_wait0[y->n_commands] = y->wait0[y->n_commands];
  return FSCHED_OK;
}

static fs_status fill_updates(const fs_schedule *s, fs_sync *y, const uint32_t *of_item) {
  uint32_t n = 0;
  FS_TRY(fs_new(&y->arena, &y->barrier_update0, (size_t)y->n_commands + 1));
  FS_TRY(fs_new(&y->arena, &y->barrier_update, y->n_commands));
  FS_TRY(fs_new(&y->arena, &y->barrier_update_slots, y->n_commands));
  for (uint32_t c = 0; c < y->n_commands; c++) {
    uint32_t item = y->command_item[c];
    bool op = item < s->graph->n_ops && s->graph->op_slots != NULL;
    y->barrier_update0[c] = n;
    if (of_item[item] != FS_NONE) {
      y->barrier_update_slots[n] = op ? s->graph->op_slots[item] : 1;
      y->barrier_update[n++] = of_item[item];
    }
  }
  y->barrier_update0[y->n_commands] = n;
  return FSCHED_OK;
}

/* Barriers ascend by their first producers here. */
static fs_status map_barriers(fs_sync *y, const uint32_t *at) {
  uint32_t *first, *last, *free_at, *uses;
  FS_TRY(fs_new_none(&y->arena, &first, y->n_barriers));
  FS_TRY(fs_new_zero(&y->arena, &last, y->n_barriers));
  FS_TRY(fs_new_zero(&y->arena, &free_at, y->n_barriers));
  FS_TRY(fs_new_zero(&y->arena, &uses, y->n_barriers));
  FS_TRY(fs_new(&y->arena, &y->barrier_physical, y->n_barriers));
  FS_TRY(fs_new(&y->arena, &y->barrier_use, y->n_barriers));
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t i = y->barrier_update0[c]; i < y->barrier_update0[c + 1]; i++) {
      uint32_t *f = &first[y->barrier_update[i]];
      *f = at[c] < *f ? at[c] : *f;
    }
    for (uint32_t i = y->barrier_wait0[c]; i < y->barrier_wait0[c + 1]; i++) {
      uint32_t *l = &last[y->barrier_wait[i]];
      *l = at[c] > *l ? at[c] : *l;
    }
  }
  y->barriers_used = 0;
  for (uint32_t b = 0; b < y->n_barriers; b++) {
    uint32_t p = 0;
    while (uses[p] > 0 && free_at[p] >= first[b]) {
      p++;
    }
    y->barriers_used += uses[p] == 0;
    y->barrier_physical[b] = p;
    y->barrier_use[b] = uses[p]++;
    free_at[p] = last[b];
  }
  return FSCHED_OK;
}

/* ---- points, by their definition */

static uint32_t queue_of(const fs_sync *y, uint32_t command) {
  uint32_t q = 0;
  while (command >= y->queue_command0[q + 1]) {
    q++;
  }
  return q;
}

/* Does `other` update one of the barriers that `command` waits for? */
static bool waits_for(const fs_sync *y, uint32_t command, uint32_t other) {
  for (uint32_t w = y->barrier_wait0[command]; w < y->barrier_wait0[command + 1]; w++) {
    for (uint32_t u = y->barrier_update0[other]; u < y->barrier_update0[other + 1]; u++) {
      if (y->barrier_wait[w] == y->barrier_update[u]) {
        return true;
      }
    }
  }
  return false;
}

static uint32_t epoch_by_barriers(const fs_sync *y, uint32_t command, uint32_t queue) {
  uint32_t epoch = 0, first = y->queue_command0[queue];
  for (uint32_t other = first; other < y->queue_command0[queue + 1]; other++) {
    epoch = waits_for(y, command, other) ? other - first + 1 : epoch;
  }
  return epoch;
}

/* How many commands of `queue` are over when the sequencer comes to `place`. */
static uint32_t epoch_by_stops(const fs_sync *y, uint32_t place, uint32_t queue) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < y->n_stops && y->stop[i].at <= place; i++) {
    uint32_t issued = 0;
    for (uint32_t c = y->queue_command0[queue]; c < y->queue_command0[queue + 1]; c++) {
      issued += y->issue[c] < y->stop[i].at;
    }
    uint32_t over = y->stop[i].queue == FS_NONE ? issued
                    : y->stop[i].queue == queue ? issued - y->stop[i].keep
                                                : 0;
    most = over > most ? over : most;
  }
  return most;
}

uint32_t fs_kit_point(const fs_sync *y, uint32_t command, uint32_t queue) {
  uint32_t own = queue_of(y, command);
  if (queue == own) {
    return 0; /* the kit makes nothing that contradicts it */
  }
  if (y->kind == FS_SYNC_BARRIER) {
    return epoch_by_barriers(y, command, queue);
  }
  uint32_t epoch = epoch_by_stops(y, y->issue[command], queue);
  bool first = command == y->queue_command0[own];
  uint32_t before = first ? 0 : epoch_by_stops(y, y->issue[command - 1], queue);
  return epoch > before ? epoch : 0;
}

/* ---- barriers */

fs_status fs_kit_barriers(fs_schedule *s, fs_sync *y) {
  uint32_t *at, *of_item;
  FS_TRY(order_commands(s, y, &at));
  FS_TRY(number_barriers(s, y, &of_item));
  FS_TRY(fill_waits(s, y, of_item));
  FS_TRY(fill_updates(s, y, of_item));
  FS_TRY(map_barriers(y, at));
  y->kind = FS_SYNC_BARRIER;
  y->barrier_bound = y->barriers_used == 0 ? 1 : y->barriers_used;
  y->barrier_slots = 256;
  return FSCHED_OK;
}

/* ---- syncs */

typedef struct walk {
  uint32_t *issued, *over; /* per queue: commands so far; of those, what syncs have waited for */
} walk;

static bool counts(const fs_schedule *s, uint32_t queue) {
  return !s->graph->target.implicit_queues && s->graph->target.queue[queue].counting;
}

static void add_stop(fs_sync *y, uint32_t at, uint32_t queue, uint32_t keep) {
  y->n_full += queue == FS_NONE;
  y->stop[y->n_stops++] = (fs_stop){.at = at, .queue = queue, .keep = keep};
}

/* Finds the epochs that the commands of an item wait for, per queue; 0 where they are known to be
 * over. */
static bool find_needs(const fs_schedule *s, const fs_sync *y, uint32_t item, const walk *w,
                       uint32_t *need, bool *full) {
  bool any = false;
  memset(need, 0, s->n_queues * sizeof *need);
  for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
    uint32_t c = y->item_command[k];
    for (uint32_t i = y->wait0[c]; i < y->wait0[c + 1]; i++) {
      uint32_t from = awaited(s, y, y->wait[i]);
      for (uint32_t m = y->item_command0[from]; m < y->item_command0[from + 1]; m++) {
        uint32_t command = y->item_command[m], q = queue_of(y, command);
        uint32_t epoch = command - y->queue_command0[q] + 1;
        if (epoch > w->over[q]) {
          any = true;
          *full = *full || !counts(s, q);
          need[q] = epoch > need[q] ? epoch : need[q];
        }
      }
    }
  }
  return any;
}

static void stop_for(const fs_schedule *s, fs_sync *y, uint32_t item, uint32_t at, walk *w,
                     uint32_t *need) {
  bool full = false;
  if (!find_needs(s, y, item, w, need, &full)) {
    return;
  }
  if (full) {
    add_stop(y, at, FS_NONE, 0);
    memcpy(w->over, w->issued, s->n_queues * sizeof *w->over);
    return;
  }
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (need[q] > 0) {
      add_stop(y, at, q, w->issued[q] - need[q]);
      w->over[q] = need[q];
    }
  }
}

static bool same_item(const fs_sync *y, const uint32_t *by_place, uint32_t i) {
  return i > 0 && y->command_item[by_place[i]] == y->command_item[by_place[i - 1]];
}

fs_status fs_kit_stops(fs_schedule *s, fs_sync *y) {
  uint32_t *at, *by_place, *need;
  walk w;
  FS_TRY(order_commands(s, y, &at));
  FS_TRY(fs_new(&y->arena, &by_place, y->n_commands));
  FS_TRY(fs_new_zero(&y->arena, &need, s->n_queues));
  FS_TRY(fs_new_zero(&y->arena, &w.issued, s->n_queues));
  FS_TRY(fs_new_zero(&y->arena, &w.over, s->n_queues));
  FS_TRY(fs_new(&y->arena, &y->stop, (size_t)y->n_commands * (s->n_queues + 1)));
  y->kind = FS_SYNC_BLOCK;
  y->issue = at;
  y->n_stops = y->n_full = 0;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    by_place[at[c]] = c;
  }
  for (uint32_t i = 0; i < y->n_commands; i++) {
    if (!same_item(y, by_place, i)) { /* nothing comes between members of a gang */
      stop_for(s, y, y->command_item[by_place[i]], i, &w, need);
    }
    w.issued[queue_of(y, by_place[i])]++;
  }
  return FSCHED_OK;
}

fs_status fs_kit_program(fsched_schedule *handle, fs_sync_kind kind, fsched_program **program) {
  fs_schedule *s = handle->schedule;
  fs_sync_destroy(handle->sync);
  handle->sync = NULL;
  FS_TRY(fs_schedule_synchronise(handle));
  fs_sync *sync = handle->sync;
  FS_TRY(kind == FS_SYNC_BARRIER ? fs_kit_barriers(s, sync) : fs_kit_stops(s, sync));
  FS_TRY(fs_frontiers_run(s->ctx, s, sync));
  return fs_codegen_run(s->ctx, s, sync, program);
}

fs_status fs_kit_synchronised(fsched_context *ctx, const fsched_graph *g, fs_sync_kind kind,
                              fsched_schedule **out) {
  fs_listsched_options options = {.seed = 0};
  fs_schedule *s;
  fs_sync *y = NULL;
  *out = NULL;
  FS_TRY(fs_listsched_run(ctx, g, &options, &s));
  fs_status status = fs_sync_create(s, kind, &y);
  if (status == FSCHED_OK) {
    status = fs_handle_create(s, y, out);
  }
  if (status != FSCHED_OK) {
    fs_sync_destroy(y);
    fs_schedule_destroy(s);
    return status;
  }
  FS_TRY(fs_ctrledge_run(ctx, s, NULL, y));
  return fs_waits_run(ctx, s, y);
}
