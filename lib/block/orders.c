/* SPDX-License-Identifier: Apache-2.0 */
/* Why the longest path is the least number of full syncs.
 *
 * Fewer are impossible: let u be before v by an edge that takes a full sync, u on queue A, which is
 * not counting.  Only a full sync, issued after u and before v, tells that u is over: a counting
 * sync tells of its own queue only.  On a path these stretches of the order of issue follow each
 * other, so each holds a sync of its own.  Leaving out implied needs does not shorten paths: an
 * order that was left out is implied by a chain, and a chain that leaves queue A does so by an edge
 * of u or of a later command of A, which takes a full sync as well.  As many are enough: items by
 * `early`, those of one phase in the planned order, and a full sync before each phase but the
 * first.  The planned order respects every edge; an edge inside a phase takes no full sync.
 *
 * The same holds for any phases between `early` and `late` where no edge leads to an earlier phase,
 * and edges that take a full sync lead to a later one. */
#include "block/orders.h"

#include "base/radix.h"

typedef struct order_finder {
  fsched_context *ctx;
  fs_arena *scratch;
  fs_orders *o;
  const fs_accesses *acc;
  uint32_t *gang_item0, *gang_item; /* CSR per gang: its ops by epoch */
  uint32_t *slow; /* per command: the epoch of the last slow one of its queue up to it, or 0 */
  fs_wait *seen;  /* per axis: the last item that needs it, and the epoch needed */
  FS_VEC(fs_epoch_need) need;
  FS_VEC(fs_order_edge) edge;
  FS_VEC(uint64_t) plan; /* to << 32 | from, twice as long for sorting */
} order_finder;

/* --- needs --- */

static fs_status add_edge(order_finder *f, uint32_t from, bool full) {
  assert(from < f->o->s->n_items);
  fs_order_edge e = {.from = from & INT32_MAX, .full = full};
  return fs_vec_push(f->ctx, &f->edge, e);
}

static fs_status add_need(order_finder *f, uint32_t item, uint32_t queue, uint32_t epoch) {
  assert(queue < f->o->s->n_queues && epoch > 0);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(f->o->s, item, &n);
  if (n == 1 && queues[0] == queue) { /* queue order tells of quick ones */
    epoch = f->slow[f->o->y->queue_command0[queue] + epoch - 1];
  }
  if (epoch == 0) {
    return FSCHED_OK;
  }
  fs_epoch_need need = {queue, epoch};
  FS_TRY(fs_vec_push(f->ctx, &f->need, need));
  return add_edge(f, fs_need_item(f->o->y, need), !fs_queue_counting(f->o->s, queue));
}

static fs_status add_wait(order_finder *f, uint32_t item, fs_wait w) {
  assert(w.axis < f->o->y->n_axes && w.epoch > 0);
  const fs_schedule *s = f->o->s;
  const fs_sync *y = f->o->y;
  if (f->seen[w.axis].axis == item && f->seen[w.axis].epoch >= w.epoch) {
    return FSCHED_OK; /* another member of the gang waits for it too */
  }
  f->seen[w.axis] = (fs_wait){item, w.epoch};
  if (w.axis < s->n_queues) {
    return add_need(f, item, w.axis, w.epoch);
  }
  uint32_t gang = f->gang_item[f->gang_item0[w.axis - s->n_queues] + w.epoch - 1];
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, gang, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t command = y->item_command[y->item_command0[gang] + i];
    FS_TRY(add_need(f, item, queues[i], command - y->queue_command0[queues[i]] + 1));
  }
  return FSCHED_OK;
}

static fs_status add_item(order_finder *f, uint32_t item) {
  const fs_schedule *s = f->o->s;
  const fs_sync *y = f->o->y;
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t command = y->item_command[y->item_command0[item] + i];
    if (command > y->queue_command0[queues[i]]) {
      FS_TRY(add_edge(f, y->command_item[command - 1], false));
    }
    for (uint32_t w = y->wait0[command]; w < y->wait0[command + 1]; w++) {
      FS_TRY(add_wait(f, item, y->wait[w]));
    }
  }
  for (uint32_t i = f->o->plan0[item]; i < f->o->plan0[item + 1]; i++) {
    FS_TRY(add_edge(f, f->o->plan[i], false));
  }
  return FSCHED_OK;
}

static fs_status find_slow(order_finder *f) {
  const fs_schedule *s = f->o->s;
  const fs_sync *y = f->o->y;
  FS_TRY(fs_new(f->scratch, &f->slow, y->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t first = y->queue_command0[q], last = 0;
    for (uint32_t c = first; c < y->queue_command0[q + 1]; c++) {
      last = fs_item_slow(s, y->command_item[c]) ? c - first + 1 : last;
      f->slow[c] = last;
    }
  }
  return FSCHED_OK;
}

static fs_status add_all(order_finder *f, fs_arena *arena) {
  fs_orders *o = f->o;
  FS_TRY(find_slow(f));
  FS_TRY(fs_sync_gang_ops(f->o->y, f->scratch, &f->gang_item0, &f->gang_item));
  FS_TRY(fs_new_none(f->scratch, &f->seen, o->y->n_axes));
  FS_TRY(fs_new(arena, &o->need0, (size_t)o->s->n_items + 1));
  FS_TRY(fs_new(arena, &o->edge0, (size_t)o->s->n_items + 1));
  for (uint32_t item = 0; item < o->s->n_items; item++) {
    o->need0[item] = (uint32_t)f->need.n;
    o->edge0[item] = (uint32_t)f->edge.n;
    FS_TRY(add_item(f, item));
  }
  o->need0[o->s->n_items] = (uint32_t)f->need.n;
  o->edge0[o->s->n_items] = (uint32_t)f->edge.n;
  FS_TRY(fs_new(arena, &o->need, f->need.n));
  FS_TRY(fs_new(arena, &o->edge, f->edge.n));
  if (f->need.n > 0) {
    memcpy(o->need, f->need.at, f->need.n * sizeof *o->need);
  }
  if (f->edge.n > 0) {
    memcpy(o->edge, f->edge.at, f->edge.n * sizeof *o->edge);
  }
  return FSCHED_OK;
}

/* --- plan orders --- */

static fs_status plan_order(order_finder *f, uint32_t from, uint32_t to) {
  return from == to ? FSCHED_OK : fs_vec_push(f->ctx, &f->plan, (uint64_t)to << 32 | from);
}

/* Orders a residency without bytes: readers come after the latest write, and before the next.  A
 * copy counts as a write. */
static fs_status order_empty(order_finder *f, uint32_t r) {
  const fs_accesses *acc = f->acc;
  uint32_t write = FS_NONE;
  uint32_t since = acc->res0[r];
  for (uint32_t i = acc->res0[r]; i < acc->res0[r + 1]; i++) {
    if (write != FS_NONE) {
      FS_TRY(plan_order(f, write, acc->item[i]));
    }
    if ((acc->mode[i] & FS_ACCESS_W) != 0 || fs_item_is_copy(f->o->s, acc->item[i])) {
      for (; since < i; since++) {
        FS_TRY(plan_order(f, acc->item[since], acc->item[i]));
      }
      write = acc->item[i];
    }
  }
  return FSCHED_OK;
}

/* All accesses to a version in one residency come before the item that begins its next residency.
 */
static fs_status order_residencies(order_finder *f) {
  const fs_schedule *s = f->o->s;
  const fs_accesses *acc = f->acc;
  uint32_t *latest[2]; /* per version: the latest residency in its own memory, and in the store */
  FS_TRY(fs_new_none(f->scratch, &latest[0], s->graph->n_versions));
  FS_TRY(fs_new_none(f->scratch, &latest[1], s->graph->n_versions));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t version = s->res_version[r];
    if (s->res_size[r] == 0) {
      FS_TRY(order_empty(f, r));
    }
    if (version == FS_NONE || acc->res0[r] == acc->res0[r + 1]) {
      continue;
    }
    uint32_t *of = latest[s->res_memory[r] != fs_version_memory(s->graph, version)];
    if (of[version] != FS_NONE) {
      for (uint32_t i = acc->res0[of[version]]; i < acc->res0[of[version] + 1]; i++) {
        FS_TRY(plan_order(f, acc->item[i], acc->item[acc->res0[r]]));
      }
    }
    of[version] = r;
  }
  return FSCHED_OK;
}

static fs_status file_plan(order_finder *f, fs_arena *arena) {
  fs_orders *o = f->o;
  size_t n = f->plan.n;
  FS_TRY(fs_vec_reserve(f->ctx, &f->plan, 2 * n));
  fs_radix_sort_block(f->plan.at, n);
  FS_TRY(fs_new_zero(arena, &o->plan0, (size_t)o->s->n_items + 1));
  FS_TRY(fs_new(arena, &o->plan, n));
  for (size_t i = 0; i < n; i++) {
    o->plan[i] = (uint32_t)f->plan.at[i];
    o->plan0[(f->plan.at[i] >> 32) + 1] = (uint32_t)i + 1;
  }
  for (uint32_t i = 0; i < o->s->n_items; i++) {
    o->plan0[i + 1] = (uint32_t)fs_max(o->plan0[i + 1], o->plan0[i]);
  }
  return FSCHED_OK;
}

/* --- phases --- */

static fs_status find_phases(fs_arena *arena, fs_orders *o) {
  const fs_schedule *s = o->s;
  FS_TRY(fs_new_zero(arena, &o->early, s->n_items));
  FS_TRY(fs_new(arena, &o->late, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t to = s->order[i];
    for (uint32_t e = o->edge0[to]; e < o->edge0[to + 1]; e++) {
      uint32_t least = o->early[o->edge[e].from] + o->edge[e].full;
      assert(o->y->position[o->edge[e].from] < i);
      o->early[to] = least > o->early[to] ? least : o->early[to];
    }
    o->n = o->early[to] > o->n ? o->early[to] : o->n;
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    o->late[i] = o->n;
  }
  for (uint32_t i = s->n_items; i-- > 0;) {
    uint32_t to = s->order[i];
    for (uint32_t e = o->edge0[to]; e < o->edge0[to + 1]; e++) {
      uint32_t most = o->late[to] - o->edge[e].full;
      uint32_t *late = &o->late[o->edge[e].from];
      *late = most < *late ? most : *late;
    }
  }
  return FSCHED_OK;
}

static fs_status find_orders(order_finder *f, fs_arena *arena) {
  FS_TRY(order_residencies(f));
  FS_TRY(file_plan(f, arena));
  FS_TRY(add_all(f, arena));
  return find_phases(arena, f->o);
}

fs_status fs_orders_find(fsched_context *ctx, fs_arena *arena, const fs_schedule *s,
                         const fs_sync *y, const fs_accesses *acc, fs_orders *out) {
  assert(y->wait0 != NULL && acc->res0 != NULL);
  *out = (fs_orders){.s = s, .y = y};
  FS_SCRATCH(scratch, ctx);
  order_finder f = {.ctx = ctx, .o = out, .acc = acc, .scratch = &scratch};
  fs_status status = find_orders(&f, arena);
  fs_vec_free(ctx, &f.need);
  fs_vec_free(ctx, &f.edge);
  fs_vec_free(ctx, &f.plan);
  return status;
}
