/* SPDX-License-Identifier: Apache-2.0 */
/* A backward breadth-first search: if a queue has reached an epoch, all epochs that its commands up
 * to there waited for are known, too.  Every command is visited once. */
#include "model/stream/known.h"

fs_status fs_known_init(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                        const fs_wants *wants, fs_known *k) {
  assert(s->n_meta == 1 && order->n_runnable == s->n_commands);
  assert(wants->item != NULL || s->n_commands == 0);
  *k = (fs_known){.s = s,
                  .order = order,
                  .wants = wants,
                  .command = FS_NONE,
                  .any_slow = fs_stream_has_slow(s),
                  .own = FS_NONE};
  return fs_new_none(arena, &k->last, s->n_queues);
}

void fs_known_release(fsched_context *ctx, fs_known *k) { fs_vec_free(ctx, &k->hop); }

static fs_status learn(fsched_context *ctx, fs_known *k, fs_hop hop) {
  assert(hop.queue < k->s->n_queues);
  bool own = k->any_slow && hop.by != FS_NONE && hop.queue == k->order->queue[k->command];
  uint32_t *last = own ? &k->own : &k->last[hop.queue];
  if (*last != FS_NONE && hop.epoch <= k->hop.at[*last].epoch) {
    return FSCHED_OK;
  }
  hop.previous = *last;
  *last = (uint32_t)k->hop.n;
  return fs_vec_push(ctx, &k->hop, hop);
}

/* The commands of the item that a wait of `own` is for: they follow each other in the order. */
static const uint32_t *awaited(const fs_known *k, const fs_stream_wait *w, uint32_t *n) {
  uint32_t source = fs_stream_source(k->s, k->order, w, FS_NONE);
  bool all = fs_axis_has_members(k->s->axes[w->axis].kind);
  source = all ? k->wants->item[source] : source;
  *n = all ? k->wants->n_members[source] : 1;
  return k->order->order + k->wants->position[source];
}

static fs_status learn_waits(fsched_context *ctx, fs_known *k, uint32_t command, uint32_t level) {
  const fs_points *p = &k->order->points;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    uint32_t n;
    const uint32_t *of = awaited(k, &p->point[w], &n);
    for (uint32_t i = 0; i < n; i++) {
      fs_hop hop = {k->order->queue[of[i]], k->s->commands[of[i]].epoch, command, w, level, 0};
      FS_TRY(learn(ctx, k, hop));
    }
  }
  return FSCHED_OK;
}

fs_status fs_known_find(fsched_context *ctx, fs_known *k, uint32_t command) {
  assert(command < k->s->n_commands);
  k->hop.n = 0;
  k->command = command;
  k->own = FS_NONE;
  memset(k->last, 0xFF, k->s->n_queues * sizeof *k->last);
  fs_hop own = {k->order->queue[command], k->s->commands[command].epoch, FS_NONE, FS_NONE, 0, 0};
  FS_TRY(learn(ctx, k, own));
  for (size_t i = 0; i < k->hop.n; i++) {
    fs_hop hop = k->hop.at[i];
    uint32_t from = hop.previous == FS_NONE ? 0 : k->hop.at[hop.previous].epoch;
    uint32_t command0 = k->s->queues[hop.queue].command0;
    for (uint32_t epoch = from + 1; epoch <= hop.epoch; epoch++) {
      FS_TRY(learn_waits(ctx, k, command0 + epoch - 1, hop.level + 1));
    }
  }
  return FSCHED_OK;
}

/* Of the hops of a queue from the last one on, the first that reaches the epoch; FS_NONE: none. */
static uint32_t first_hop(const fs_known *k, uint32_t last, uint32_t epoch) {
  uint32_t hop = last;
  if (hop == FS_NONE || k->hop.at[hop].epoch < epoch) {
    return FS_NONE;
  }
  for (uint32_t before = k->hop.at[hop].previous;
       before != FS_NONE && k->hop.at[before].epoch >= epoch; before = k->hop.at[before].previous) {
    hop = before;
  }
  return hop;
}

uint32_t fs_known_hop(const fs_known *k, uint32_t queue, uint32_t epoch) {
  assert(k->command != FS_NONE && queue < k->s->n_queues && epoch > 0);
  return first_hop(k, k->last[queue], epoch);
}

uint32_t fs_known_item(const fs_known *k, uint32_t item) {
  assert(item < k->s->n_commands && k->wants->item[item] == item);
  uint32_t n = k->wants->n_members[item];
  const uint32_t *members = k->order->order + k->wants->position[item];
  uint32_t latest = FS_NONE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t queue = k->order->queue[members[i]], epoch = k->s->commands[members[i]].epoch;
    bool own = queue == k->order->queue[k->command] && members[i] != k->command;
    uint32_t hop = own && fs_command_slow(k->s, &k->s->commands[members[i]])
                       ? first_hop(k, k->own, epoch)
                       : fs_known_hop(k, queue, epoch);
    if (hop == FS_NONE) {
      return FS_NONE;
    }
    latest = latest == FS_NONE || k->hop.at[hop].level > k->hop.at[latest].level ? hop : latest;
  }
  return latest;
}

uint32_t fs_known_before(const fs_known *k, uint32_t hop) {
  assert(hop < k->hop.n && k->hop.at[hop].by != FS_NONE);
  uint32_t by = k->hop.at[hop].by;
  return fs_known_hop(k, k->order->queue[by], k->s->commands[by].epoch);
}
