/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/past/past.h"

#include "base/group.h"

fs_status fs_past_begin(fs_arena *arena, const fs_rolled_loop *loop, uint32_t members,
                        fs_past_loop *out) {
  uint32_t *of, n = loop->n_commands;
  *out = (fs_past_loop){.loop = loop, .members = members, .n = loop->copies * members};
  FS_TRY(fs_new(arena, &out->queue_of, n));
  FS_TRY(fs_new(arena, &of, n));
  for (uint32_t q = 0; q < loop->n_queues; q++) {
    for (uint32_t c = loop->command0[q]; c < loop->command0[q + 1]; c++) {
      out->queue_of[c] = q;
      of[c] = fs_past_node(out, c);
    }
  }
  return fs_group(arena, of, n, out->n, &out->node0, &out->of_node);
}

fs_status fs_past_orders(fs_arena *arena, const fs_past_want *want, uint32_t n, fs_past_loop *l) {
  uint32_t *to;
  FS_TRY(fs_new(arena, &to, n));
  for (uint32_t i = 0; i < n; i++) {
    assert(want[i].from < l->n && want[i].to < l->n);
    to[i] = want[i].to;
  }
  l->want = want;
  return fs_group(arena, to, n, l->n, &l->into0, &l->into);
}

fs_status fs_past_new(fs_arena *arena, const fs_past_loop *l, fs_past_known *k) {
  FS_TRY(fs_new(arena, &k->started, l->n));
  FS_TRY(fs_new(arena, &k->over, l->n));
  return fs_new(arena, &k->done, l->n);
}

/* How many iterations ago x has its turn, when c has, on their queue. */
static int64_t turns_ago(const fs_past_loop *l, uint32_t x, uint32_t c, bool wraps) {
  const fs_rolled_command *a = &l->loop->command[x], *b = &l->loop->command[c];
  int64_t steps = (int64_t)a->shift - b->shift + wraps;
  return steps * l->loop->copies + (int64_t)b->copy - (int64_t)a->copy;
}

/* The least distance of the same kind that is not below `least`. */
static int64_t raised(const fs_past_loop *l, int64_t distance, int64_t least) {
  int64_t u = l->loop->copies;
  return distance >= least ? distance : distance + (least - distance + u - 1) / u * u;
}

static void learn_node(fs_past_known *k, uint32_t node, int64_t distance, bool over) {
  k->started[node] = distance < k->started[node] ? distance : k->started[node];
  if (over && distance < k->over[node]) {
    k->over[node] = distance;
  }
}

/* What comes before a command on its queue, which starts `ago`. */
static void learn_queue(const fs_past_loop *l, fs_past_known *k, uint32_t command, int64_t ago) {
  uint32_t q = l->queue_of[command];
  for (uint32_t x = l->loop->command0[q]; x < l->loop->command0[q + 1]; x++) {
    int64_t d = raised(l, turns_ago(l, x, command, x >= command), 0);
    learn_node(k, fs_past_node(l, x), ago + d, !l->loop->command[x].slow);
  }
}

/* What an order tells that is over `ago`. */
static void learn_order(const fs_past_loop *l, fs_past_known *k, const fs_past_want *w,
                        int64_t ago) {
  uint32_t target = fs_past_first(l, w->from), q = l->queue_of[target];
  for (uint32_t x = l->loop->command0[q]; x < l->loop->command0[q + 1]; x++) {
    int64_t d = raised(l, w->distance + turns_ago(l, x, target, x > target), w->distance);
    bool over = x == target || !l->apart || !l->loop->command[x].slow;
    learn_node(k, fs_past_node(l, x), ago + d, over);
  }
}

/* The node to look at next: of those that are left, what has started least long ago. */
static uint32_t next_past(const fs_past_loop *l, const fs_past_known *k) {
  uint32_t best = FS_NONE;
  for (uint32_t x = 0; x < l->n; x++) {
    bool open = !k->done[x] && k->started[x] != FS_PAST_FAR;
    if (open && (best == FS_NONE || k->started[x] < k->started[best])) {
      best = x;
    }
  }
  return best;
}

void fs_past_find(const fs_past_loop *l, fs_past_known *k, uint32_t node, uint32_t left_out) {
  assert(node < l->n && l->into0 != NULL);
  for (uint32_t x = 0; x < l->n; x++) {
    k->started[x] = k->over[x] = FS_PAST_FAR;
    k->done[x] = false;
  }
  k->started[node] = 0;
  for (uint32_t x = node; x != FS_NONE; x = next_past(l, k)) {
    int64_t ago = k->started[x];
    k->done[x] = true;
    for (uint32_t i = l->node0[x]; i < l->node0[x + 1]; i++) {
      learn_queue(l, k, l->of_node[i], ago);
    }
    for (uint32_t i = l->into0[x]; i < l->into0[x + 1]; i++) {
      if (!l->want[l->into[i]].dropped && l->into[i] != left_out) {
        learn_order(l, k, &l->want[l->into[i]], ago);
      }
    }
  }
}

bool fs_past_by_queue(const fs_past_loop *l, const fs_past_want *w) {
  assert(w->from < l->n && w->to < l->n);
  bool said = false;
  for (uint32_t i = l->node0[w->from]; i < l->node0[w->from + 1] && !said; i++) {
    uint32_t x = l->of_node[i];
    for (uint32_t k = l->node0[w->to]; k < l->node0[w->to + 1] && !said; k++) {
      uint32_t c = l->of_node[k];
      said = !l->loop->command[x].slow && l->queue_of[x] == l->queue_of[c] &&
             raised(l, turns_ago(l, x, c, x >= c), 0) <= w->distance;
    }
  }
  return said;
}
