/* SPDX-License-Identifier: Apache-2.0 */
/* An item on the longest queue of its phase is moved out, which may shorten the phase, into one
 * that it lengthens by less:
 *
 *     queue a   |----- x -----|-- y --|     |--- z ---|
 *     queue b   |--- w ---|           |     |-------- v --------|       y may move into z's phase
 *
 * It stays between the phases that its predecessors and successors, queue order included, allow.
 * Rounds go forward and backward through the planned order, so that the last item of a phase makes
 * way for the one before it. */
#include "block/refine.h"

#include "base/group.h"

enum { LOOK = 32, ROUNDS = 6, MOST_CELLS = 1 << 22 };

typedef struct refiner {
  const fs_orders *o;
  uint32_t *phase;
  uint32_t n_queues;
  fs_tick *load;       /* phase * n_queues + queue */
  fs_tick *length;     /* per phase: the largest of its loads */
  uint32_t *succ0;     /* CSR per item */
  fs_order_edge *succ; /* `from` is the successor */
  uint64_t moved;
} refiner;

static fs_status file_successors(refiner *r, fs_arena *scratch) {
  const fs_orders *o = r->o;
  uint32_t n = o->s->n_items;
  FS_TRY(fs_new_zero(scratch, &r->succ0, (size_t)n + 2));
  FS_TRY(fs_new(scratch, &r->succ, o->edge0[n]));
  for (uint32_t e = 0; e < o->edge0[n]; e++) {
    r->succ0[o->edge[e].from + 2]++;
  }
  fs_group_sum(r->succ0, n);
  for (uint32_t to = 0; to < n; to++) {
    for (uint32_t e = o->edge0[to]; e < o->edge0[to + 1]; e++) {
      fs_order_edge s = {.from = to & INT32_MAX, .full = o->edge[e].full};
      r->succ[r->succ0[o->edge[e].from + 1]++] = s;
    }
  }
  return FSCHED_OK;
}

static void window(const refiner *r, uint32_t item, uint32_t *least, uint32_t *most) {
  const fs_orders *o = r->o;
  *least = 0;
  *most = o->n;
  for (uint32_t e = o->edge0[item]; e < o->edge0[item + 1]; e++) {
    uint32_t after = r->phase[o->edge[e].from] + o->edge[e].full;
    *least = after > *least ? after : *least;
  }
  for (uint32_t e = r->succ0[item]; e < r->succ0[item + 1]; e++) {
    uint32_t before = r->phase[r->succ[e].from] - r->succ[e].full;
    *most = before < *most ? before : *most;
  }
}

static fs_tick longest(const refiner *r, uint32_t phase) {
  assert(phase <= r->o->n);
  fs_tick length = 0;
  for (uint32_t q = 0; q < r->n_queues; q++) {
    length = fs_max(length, r->load[(size_t)phase * r->n_queues + q]);
  }
  return length;
}

/* Adds the time of an item to its queues in a phase, or takes it away. */
static void shift(refiner *r, uint32_t item, uint32_t phase, bool in) {
  assert(phase <= r->o->n);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(r->o->s, item, &n);
  fs_tick time = r->o->s->end[item] - r->o->s->start[item];
  for (uint32_t i = 0; i < n; i++) {
    r->load[(size_t)phase * r->n_queues + queues[i]] += in ? time : (fs_tick)0 - time;
  }
}

/* The load of the item's busiest queue in a phase. */
static fs_tick busiest(const refiner *r, uint32_t item, uint32_t phase) {
  uint32_t n;
  const uint32_t *queues = fs_item_queues(r->o->s, item, &n);
  fs_tick load = 0;
  for (uint32_t i = 0; i < n; i++) {
    load = fs_max(load, r->load[(size_t)phase * r->n_queues + queues[i]]);
  }
  return load;
}

static void try_move(refiner *r, uint32_t item) {
  assert(r->phase[item] <= r->o->n);
  uint32_t here = r->phase[item];
  uint32_t least;
  uint32_t most;
  if (r->o->early[item] == r->o->late[item] || busiest(r, item, here) < r->length[here]) {
    return;
  }
  window(r, item, &least, &most);
  if (least == most) {
    return;
  }
  shift(r, item, here, false);
  fs_tick time = r->o->s->end[item] - r->o->s->start[item];
  fs_tick shorter = longest(r, here);
  fs_tick best_cost = r->length[here] - shorter;
  uint32_t best = here;
  least = least + LOOK < here ? here - LOOK : least;
  most = most > here + LOOK ? here + LOOK : most;
  for (uint32_t p = least; p <= most && best_cost > 0; p++) {
    fs_tick load = busiest(r, item, p) + time;
    fs_tick cost = load > r->length[p] ? load - r->length[p] : 0;
    if (p != here && cost < best_cost) {
      best = p;
      best_cost = cost;
    }
  }
  shift(r, item, best, true);
  if (best != here) {
    r->phase[item] = best;
    r->length[here] = shorter;
    r->length[best] = fs_max(r->length[best], busiest(r, item, best));
    r->moved++;
  }
}

static fs_status refine(refiner *r, fs_arena *scratch) {
  const fs_schedule *s = r->o->s;
  size_t phases = (size_t)r->o->n + 1;
  FS_TRY(fs_new_zero(scratch, &r->load, phases * r->n_queues));
  FS_TRY(fs_new(scratch, &r->length, phases));
  FS_TRY(file_successors(r, scratch));
  for (uint32_t i = 0; i < s->n_items; i++) {
    shift(r, i, r->phase[i], true);
  }
  for (uint32_t p = 0; p < phases; p++) {
    r->length[p] = longest(r, p);
  }
  for (uint32_t round = 0; round < ROUNDS; round++) {
    r->moved = 0;
    for (uint32_t i = 0; i < s->n_items; i++) {
      try_move(r, s->order[round % 2 == 0 ? s->n_items - 1 - i : i]);
    }
    if (r->moved == 0) {
      break;
    }
  }
  return FSCHED_OK;
}

fs_status fs_phases_refine(fsched_context *ctx, const fs_orders *o, uint32_t *phase) {
  assert(o->early != NULL && (phase != NULL || o->s->n_items == 0));
  refiner r = {.o = o, .phase = phase, .n_queues = o->s->n_queues};
  if (((uint64_t)o->n + 1) * r.n_queues > MOST_CELLS || o->n == 0) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, ctx);
  return refine(&r, &scratch);
}
