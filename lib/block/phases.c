/* SPDX-License-Identifier: Apache-2.0 */
/* Phases run one after the other, so the makespan is about the sum over the phases of the longest
 * queue in each.  Items without slack have one possible phase; the others are taken in planned
 * order, each from the earliest phase that its predecessors leave it to its latest one:
 *
 *     queue a   |--- p ---|-- q --|------ r ------|      no slack
 *     queue b   |- x -|-- y --|                   |      y costs nothing in the third phase
 *                                                        but lengthens the first two
 *
 * The cost of a phase is the time that the item would add to its length; the first of the cheapest
 * is taken.  By queue order, at most two groups of items load the queue in that phase so far: those
 * just placed and, if the queue's next item without slack is in the phase, that item and those
 * without slack behind it. */
#include "block/phases.h"

#include "block/refine.h"

enum { LOOK = 64 }; /* phases that are tried for an item */

typedef struct balancer {
  const fs_orders *o;
  uint32_t *phase;
  fs_tick *length; /* per phase */
  /* Per command: the phase of the next item without slack on the queue, and the time of it and of
   * those after it in the same phase. */
  uint32_t *next_phase;
  fs_tick *next_load;
  uint32_t *last_phase; /* per queue: the phase of the latest item, and the load there so far */
  fs_tick *last_load;
} balancer;

static bool fixed(const fs_orders *o, uint32_t item) { return o->early[item] == o->late[item]; }

static fs_tick time_of(const fs_orders *o, uint32_t item) {
  return o->s->end[item] - o->s->start[item];
}

/* The earliest phase that an item's predecessors allow. */
static uint32_t least_phase(const fs_orders *o, const uint32_t *phase, uint32_t item) {
  assert(item < o->s->n_items);
  uint32_t least = 0;
  for (uint32_t e = o->edge0[item]; e < o->edge0[item + 1]; e++) {
    uint32_t after = phase[o->edge[e].from] + o->edge[e].full;
    least = after > least ? after : least;
  }
  return least;
}

static void look_ahead(balancer *b) {
  const fs_sync *y = b->o->y;
  for (uint32_t q = 0; q < b->o->s->n_queues; q++) {
    uint32_t phase = FS_NONE;
    fs_tick load = 0;
    for (uint32_t c = y->queue_command0[q + 1]; c-- > y->queue_command0[q];) {
      uint32_t item = y->command_item[c];
      b->next_phase[c] = phase;
      b->next_load[c] = load;
      if (!fixed(b->o, item)) {
        continue;
      }
      load = (b->o->early[item] == phase ? load : 0) + time_of(b->o, item);
      phase = b->o->early[item];
      b->length[phase] = fs_max(b->length[phase], load);
    }
  }
}

/* The load of a command's queue in a phase, including the command. */
static fs_tick load_with(const balancer *b, uint32_t item, uint32_t member, uint32_t queue,
                         uint32_t phase) {
  uint32_t command = b->o->y->item_command[b->o->y->item_command0[item] + member];
  return time_of(b->o, item) + (b->last_phase[queue] == phase ? b->last_load[queue] : 0) +
         (b->next_phase[command] == phase ? b->next_load[command] : 0);
}

static fs_tick length_with(const balancer *b, uint32_t item, uint32_t phase) {
  uint32_t n;
  const uint32_t *queues = fs_item_queues(b->o->s, item, &n);
  fs_tick length = b->length[phase];
  for (uint32_t i = 0; i < n; i++) {
    length = fs_max(length, load_with(b, item, i, queues[i], phase));
  }
  return length;
}

static uint32_t cheapest(const balancer *b, uint32_t item) {
  uint32_t least = least_phase(b->o, b->phase, item);
  uint32_t most = (uint32_t)fs_min(b->o->late[item], (uint64_t)least + LOOK);
  assert(least <= most);
  uint32_t best = least;
  fs_tick best_cost = FS_TICK_NONE;
  for (uint32_t p = least; p <= most && best_cost > 0; p++) {
    fs_tick cost = length_with(b, item, p) - b->length[p];
    if (cost < best_cost) {
      best = p;
      best_cost = cost;
    }
  }
  return best;
}

static void put_item(balancer *b, uint32_t item, uint32_t phase) {
  assert(phase <= b->o->n && phase >= b->o->early[item]);
  b->phase[item] = phase;
  b->length[phase] = length_with(b, item, phase);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(b->o->s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = queues[i];
    b->last_load[q] = (b->last_phase[q] == phase ? b->last_load[q] : 0) + time_of(b->o, item);
    b->last_phase[q] = phase;
  }
}

static fs_status balance(fsched_context *ctx, const fs_orders *o, uint32_t *phase) {
  const fs_schedule *s = o->s;
  balancer b = {.o = o, .phase = phase};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new_zero(&scratch, &b.length, (size_t)o->n + 1));
  FS_TRY(fs_new(&scratch, &b.next_phase, o->y->n_commands));
  FS_TRY(fs_new(&scratch, &b.next_load, o->y->n_commands));
  FS_TRY(fs_new_none(&scratch, &b.last_phase, s->n_queues));
  FS_TRY(fs_new_zero(&scratch, &b.last_load, s->n_queues));
  look_ahead(&b);
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    put_item(&b, item, fixed(o, item) ? o->early[item] : cheapest(&b, item));
  }
  return FSCHED_OK;
}

/* Cuts the planned order by as few full syncs as it needs, which may be more than o->n, and scales
 * the number of syncs before an item to the o->n + 1 phases. */
static fs_status planned(fsched_context *ctx, const fs_orders *o, uint32_t *phase) {
  const fs_schedule *s = o->s;
  FS_SCRATCH(scratch, ctx);
  uint32_t *syncs; /* per item: number of syncs before it in the planned order */
  uint32_t n = 0;
  uint32_t latest = 0; /* position of the latest sync */
  FS_TRY(fs_new(&scratch, &syncs, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    for (uint32_t e = o->edge0[item]; e < o->edge0[item + 1]; e++) {
      if (o->edge[e].full && o->y->position[o->edge[e].from] >= latest) {
        latest = i;
        n++;
      }
    }
    syncs[item] = n;
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    uint32_t near = n == 0 ? 0 : (uint32_t)((uint64_t)syncs[item] * o->n / n);
    phase[item] = (uint32_t)fs_min(fs_max(near, least_phase(o, phase, item)), o->late[item]);
  }
  return FSCHED_OK;
}

fs_status fs_phases_assign(fsched_context *ctx, const fs_orders *o, fs_phase_rule rule,
                           uint32_t *phase) {
  assert(o->early != NULL && rule < FS_PHASE_RULES);
  if (rule == FS_PHASE_BALANCED) {
    FS_TRY(balance(ctx, o, phase));
    return fs_phases_refine(ctx, o, phase);
  }
  if (rule == FS_PHASE_PLANNED) {
    return planned(ctx, o, phase);
  }
  if (o->s->n_items > 0) {
    memcpy(phase, rule == FS_PHASE_EARLY ? o->early : o->late, o->s->n_items * sizeof *phase);
  }
  return FSCHED_OK;
}
