/* SPDX-License-Identifier: Apache-2.0 */
/* One rule for all bounded resources: an item that takes a place, or units of an amount, is ordered
 * after the last accesses of the previous holder.
 *
 *   1. Residencies become segments with first and last accesses (segments.c).
 *   2. In contiguous memories a sweep finds which segments follow each other (sweep.c).
 *   3. Counted memories, resources and the concurrency limit are allotted as unit intervals
 *      (lanes.c), which also tells which holder follows which.
 *   4. Each such contact gives edges from every last to every first access, except those that queue
 *      order, the graph, copies' data or another edge together with queue order imply.
 *
 * Later holders come later in s->order, so the edges can close no cycle.  Queue order gives the end
 * of no slow item, nor an epoch before which one may run (lib/waits/waits.h).  An edge of the graph
 * that concerns some queues of a loop alone (model/lags.h) implies no other.  With barriers each
 * item tells of its own end, so that of a slow one is given by itself alone.
 *
 * Source: control edges as in Kundeti, An ILP for Generating Optimal Schedules with Resource
 * Constraints; there they leave from the writer alone, which is a race when a reader is late. */
#include "ctrledge/ctrledge.h"

#include "base/group.h"
#include "base/radix.h"
#include "ctrledge/lanes.h"
#include "ctrledge/sweep.h"

typedef struct ctrledge_run {
  fsched_context *ctx;
  const fs_schedule *s;
  fs_reuse reuse;
  fs_sync *sync;
  fs_arena *scratch;
  const fs_ctrledge_basis *basis;
  fs_accesses acc;  /* the basis', */
  fs_segments segs; /* the same */
  FS_VEC(uint64_t) edge;
  FS_VEC(fs_lane) lane;
  fs_why why;
  /* while lanes are allotted: */
  fs_lane_kind kind;
  uint32_t index;
  const uint32_t *owner; /* per holder: its segment, or its item */
} ctrledge_run;

static fs_status add_edge(ctrledge_run *r, uint32_t from, uint32_t to) {
  FS_ASSERT_SLOW(from < r->s->n_items && to < r->s->n_items);
  if (from == to) {
    return FSCHED_OK;
  }
  const fs_schedule *s = r->s;
  assert(r->acc.position[from] < r->acc.position[to]);
  if (!r->reuse.queues_open && s->queue[from] == s->queue[to] && fs_item_plain(s, from) &&
      fs_item_plain(s, to) && !fs_item_slow(s, from)) {
    return FSCHED_OK;
  }
  return fs_vec_push(r->ctx, &r->edge,
                     fs_control_key(r->acc.position[from], r->acc.position[to], r->why));
}

static fs_status segments_contact(void *user, uint32_t earlier, uint32_t later) {
  FS_ASSERT_SLOW(earlier < ((const ctrledge_run *)user)->segs.n &&
                 later < ((const ctrledge_run *)user)->segs.n);
  ctrledge_run *r = user;
  const fs_segments *g = &r->segs;
  for (uint32_t i = g->last0.at[earlier]; i < g->last0.at[earlier + 1]; i++) {
    for (uint32_t j = g->first0.at[later]; j < g->first0.at[later + 1]; j++) {
      FS_TRY(add_edge(r, g->last.at[i], g->first.at[j]));
    }
  }
  return FSCHED_OK;
}

static bool counted(const fs_schedule *s, uint32_t residency) {
  return !fs_placement_has_addresses(s->graph->target.memory[s->res_memory[residency]].placement);
}

/* Does the op that begins `later` write it as an in-place output over an input in `earlier`? */
static bool in_place(const ctrledge_run *r, uint32_t earlier, uint32_t later) {
  FS_ASSERT_SLOW(earlier != later);
  const fs_schedule *s = r->s;
  uint32_t item = r->acc.item[r->acc.res0[later]];
  return !fs_item_is_copy(s, item) && fs_inplace_taken(s, item, later) == earlier;
}

static fs_status places_contact(void *user, uint32_t earlier, uint32_t later) {
  ctrledge_run *r = user;
  uint32_t before = r->segs.residency.at[earlier], after = r->segs.residency.at[later];
  bool loose = r->reuse.loose != NULL && r->reuse.loose[r->s->res_memory[after]];
  return loose && !in_place(r, before, after) ? FSCHED_OK : segments_contact(r, earlier, later);
}

static fs_status contiguous_memories(ctrledge_run *r) {
  fs_rect *rects;
  FS_TRY(fs_new(r->scratch, &rects, r->segs.n));
  uint32_t n = 0;
  for (uint32_t k = 0; k < r->segs.n; k++) {
    uint32_t i = r->basis->in_memory[k], residency = r->segs.residency.at[i];
    if (!counted(r->s, residency)) {
      uint64_t address = r->s->res_address[residency];
      rects[n++] = (fs_rect){.begin = r->s->res_begin[residency],
                             .end = r->s->res_end[residency],
                             .low = address + r->segs.low.at[i],
                             .high = address + r->segs.high.at[i],
                             .space = r->s->res_memory[residency],
                             .id = i};
    }
  }
  r->why = FS_WHY_REUSE;
  return fs_sweep_contacts(r->ctx, rects, n, r->segs.n, places_contact, r);
}

/* Lanes of counted memories: a holder is a segment.  A segment without accesses is ordered with no
 * other, but has its units nevertheless. */

static fs_status holder_segments_contact(void *user, uint32_t earlier, uint32_t later) {
  ctrledge_run *r = user;
  return segments_contact(r, r->owner[earlier], r->owner[later]);
}

static fs_status holder_items_contact(void *user, uint32_t earlier, uint32_t later) {
  ctrledge_run *r = user;
  return add_edge(r, r->owner[earlier], r->owner[later]);
}

static fs_status add_piece(void *user, fs_lane_piece piece) {
  assert(piece.low < piece.high);
  ctrledge_run *r = user;
  uint32_t owner = r->owner[piece.holder];
  fs_lane lane = {r->kind, r->index,
                  r->kind == FS_LANE_MEMORY ? r->segs.residency.at[owner] : owner, piece.low,
                  piece.high};
  return fs_vec_push(r->ctx, &r->lane, lane);
}

static uint32_t only(const uint32_t *ids, uint32_t begin, uint32_t end) {
  return end - begin == 1 ? ids[begin] : FS_NONE;
}

static bool untouched(const ctrledge_run *r, uint32_t residency) {
  return r->acc.res0[residency] == r->acc.res0[residency + 1];
}

/* Is the content of a residency there from the start, so that it precedes all items?  In a memory
 * that spills, it is read from the store, or overwritten first. */
static bool given(const ctrledge_run *r, uint32_t residency) {
  const fs_schedule *s = r->s;
  uint32_t first = r->acc.res0[residency];
  if (untouched(r, residency)) {
    return true; /* a later residency is touched by the item that begins it */
  }
  bool filled = fs_item_is_copy(s, r->acc.item[first]) && (r->acc.mode[first] & FS_ACCESS_W) != 0;
  return s->res_begin[residency] == 0 && fs_residency_given(s, residency) && !filled;
}

/* A residency that stays to the end of the invocation keeps its units for ever, so that not even an
 * item at the last instant gets them.  An epoch that a slow item holds back keeps units as long. */
static fs_tick holder_end(const ctrledge_run *r, uint32_t residency) {
  fs_tick end = r->s->res_end[residency];
  for (uint32_t i = r->acc.res0[residency]; i < r->acc.res0[residency + 1]; i++) {
    end = fs_max(end, r->basis->over[r->acc.item[i]]);
  }
  return fs_residency_stays(r->s, residency) ? FS_TICK_NONE : end;
}

static fs_holder segment_holder(const ctrledge_run *r, uint32_t seg) {
  const fs_schedule *s = r->s;
  const fs_segments *g = &r->segs;
  uint32_t residency = g->residency.at[seg];
  uint32_t first = r->acc.res0[residency];
  uint32_t last = r->acc.res0[residency + 1];
  return (fs_holder){.begin = s->res_begin[residency],
                     .end = holder_end(r, residency),
                     .turn = given(r, residency) ? 0 : r->acc.position[r->acc.item[first]],
                     .last_use = last == first ? 0 : r->acc.position[r->acc.item[last - 1]],
                     .amount = s->res_size[residency],
                     .head = only(g->first.at, g->first0.at[seg], g->first0.at[seg + 1]),
                     .tail = only(g->last.at, g->last0.at[seg], g->last0.at[seg + 1])};
}

static int compare_holders(const fs_holder *a, const fs_holder *b) {
  if (a->begin != b->begin) {
    return a->begin < b->begin ? -1 : 1;
  }
  return a->turn < b->turn ? -1 : a->turn > b->turn;
}

/* Residencies come in order of issue, so an insertion sort moves few of them. */
static void sort_holders(fs_holder *holder, uint32_t *owner, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    fs_holder h = holder[i];
    uint32_t o = owner[i];
    uint32_t j = i;
    for (; j > 0 && compare_holders(&h, &holder[j - 1]) < 0; j--) {
      holder[j] = holder[j - 1];
      owner[j] = owner[j - 1];
    }
    holder[j] = h;
    owner[j] = o;
  }
}

/* Orders the segments of each version, since in a counted memory a version has the same bytes in
 * all of its residencies. */
static fs_status same_bytes(ctrledge_run *r, const uint32_t *segs, uint32_t n) {
  uint32_t *latest; /* per version: its latest segment */
  FS_TRY(fs_new_none(r->scratch, &latest, r->s->graph->n_versions));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t version = r->s->res_version[r->segs.residency.at[segs[i]]];
    if (version == FS_NONE) {
      continue;
    }
    if (latest[version] != FS_NONE) {
      FS_TRY(segments_contact(r, latest[version], segs[i]));
    }
    latest[version] = segs[i];
  }
  return FSCHED_OK;
}

static fs_status counted_memory(ctrledge_run *r, uint32_t memory) {
  assert(memory < r->s->graph->target.n_memories);
  fs_holder *holder;
  uint32_t *owner;
  uint32_t first = r->basis->in_memory0[memory], n = r->basis->in_memory0[memory + 1] - first;
  FS_TRY(fs_new(r->scratch, &holder, n));
  FS_TRY(fs_new(r->scratch, &owner, n));
  for (uint32_t i = 0; i < n; i++) {
    owner[i] = r->basis->in_memory[first + i];
    holder[i] = segment_holder(r, owner[i]);
  }
  sort_holders(holder, owner, n);
  r->kind = FS_LANE_MEMORY;
  r->index = memory;
  r->owner = owner;
  r->why = FS_WHY_REUSE;
  FS_TRY(same_bytes(r, owner, n));
  fs_lane_sink sink = {r, holder_segments_contact, add_piece};
  return fs_lanes_allot(r->ctx, r->s, &r->acc, r->s->graph->target.memory[memory].capacity, holder,
                        n, &sink);
}

static fs_status counted_memories(ctrledge_run *r) {
  const fs_target *target = &r->s->graph->target;
  for (uint32_t m = 0; m < target->n_memories; m++) {
    if (fs_memory_bounded(&target->memory[m]) &&
        !fs_placement_has_addresses(target->memory[m].placement)) {
      fs_arena_mark mark = fs_arena_set_mark(r->scratch);
      FS_TRY(counted_memory(r, m));
      fs_arena_reset(r->scratch, mark);
    }
  }
  return FSCHED_OK;
}

/* Lanes of resources and concurrency: a holder is an op. */

static fs_holder item_holder(const ctrledge_run *r, uint32_t item, uint64_t amount) {
  FS_ASSERT_SLOW(amount > 0 && item < r->s->n_items);
  uint32_t position = r->acc.position[item];
  return (fs_holder){.begin = r->s->start[item],
                     .end = r->basis->over[item],
                     .turn = position,
                     .last_use = position,
                     .amount = amount,
                     .head = item,
                     .tail = item};
}

static fs_status allot_items(ctrledge_run *r, uint64_t capacity, const fs_holder *holder,
                             uint32_t n) {
  fs_lane_sink sink = {r, holder_items_contact, add_piece};
  return fs_lanes_allot(r->ctx, r->s, &r->acc, capacity, holder, n, &sink);
}

/* All uses of resources, in the order in which their items are issued. */
typedef struct resource_uses {
  uint32_t n, *item, *resource;
  uint64_t *amount;
} resource_uses;

static fs_status list_uses(ctrledge_run *r, resource_uses *x) {
  const fsched_graph *g = r->s->graph;
  FS_TRY(fs_new(r->scratch, &x->item, g->op_use0[g->n_ops]));
  FS_TRY(fs_new(r->scratch, &x->resource, g->op_use0[g->n_ops]));
  FS_TRY(fs_new(r->scratch, &x->amount, g->op_use0[g->n_ops]));
  x->n = 0;
  for (uint32_t i = 0; i < r->s->n_items; i++) {
    uint32_t item = r->s->order[i];
    for (uint32_t u = fs_item_is_copy(r->s, item) ? FS_NONE : g->op_use0[item];
         u != FS_NONE && u < g->op_use0[item + 1]; u++) {
      x->item[x->n] = item;
      x->resource[x->n] = g->use_resource[u];
      x->amount[x->n++] = g->use_amount[u];
    }
  }
  return FSCHED_OK;
}

static fs_status resources(ctrledge_run *r) {
  const fs_target *target = &r->s->graph->target;
  resource_uses x;
  fs_holder *holder;
  uint32_t *owner, *use0, *use;
  r->kind = FS_LANE_RESOURCE;
  r->why = FS_WHY_RESOURCE;
  FS_TRY(list_uses(r, &x));
  FS_TRY(fs_group(r->scratch, x.resource, x.n, target->n_resources, &use0, &use));
  FS_TRY(fs_new(r->scratch, &holder, x.n));
  FS_TRY(fs_new(r->scratch, &owner, x.n));
  for (uint32_t resource = 0; resource < target->n_resources; resource++) {
    uint32_t n = 0;
    for (uint32_t k = use0[resource]; k < use0[resource + 1]; k++) {
      holder[n] = item_holder(r, x.item[use[k]], x.amount[use[k]]);
      owner[n++] = x.item[use[k]];
    }
    r->index = resource;
    r->owner = owner;
    FS_TRY(allot_items(r, target->resource_capacity[resource], holder, n));
  }
  return FSCHED_OK;
}

static fs_status concurrency(ctrledge_run *r) {
  const fsched_graph *g = r->s->graph;
  if (g->target.concurrency == 0) {
    return FSCHED_OK;
  }
  fs_holder *holder;
  uint32_t *owner;
  FS_TRY(fs_new(r->scratch, &holder, g->n_ops));
  FS_TRY(fs_new(r->scratch, &owner, g->n_ops));
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->s->n_items; i++) {
    uint32_t item = r->s->order[i];
    if (!fs_item_is_copy(r->s, item)) {
      holder[n] = item_holder(r, item, 1);
      owner[n++] = item;
    }
  }
  r->kind = FS_LANE_CONCURRENCY;
  r->why = FS_WHY_CONCURRENCY;
  r->index = 0;
  r->owner = owner;
  return allot_items(r, g->target.concurrency, holder, n);
}

/* Results */

/* Which items of each queue are known to be over before an item starts, because they precede it. */
typedef struct known_positions {
  uint32_t *position; /* per queue: position up to which its items are over */
  uint32_t *stamp;    /* per queue: the item that `position` is for */
  uint32_t *alone;    /* per item: the item before which it is over itself, where each tells of its
                       * own end: then `position` is of quick ones; NULL: epochs are what is told */
} known_positions;

/* Does an item occupy the queue? */
static bool occupies(const ctrledge_run *r, uint32_t item, uint32_t queue) {
  uint32_t n, i = 0;
  const uint32_t *queues = fs_item_queues(r->s, item, &n);
  while (i < n && queues[i] != queue) {
    i++;
  }
  return i < n;
}

/* Is the end of `item` known on that queue by queue order, not by a wait for its epoch?  Then it is
 * not known that slow items before it are over. */
static bool by_queue_order(const ctrledge_run *r, uint32_t to, uint32_t item, uint32_t queue) {
  return r->s->graph->op_latency != NULL && !fs_item_slow(r->s, item) && occupies(r, to, queue);
}

static void know(const ctrledge_run *r, known_positions *k, uint32_t to, uint32_t item) {
  FS_ASSERT_SLOW(item < r->s->n_items && r->acc.position[item] < r->acc.position[to]);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(r->s, item, &n);
  uint32_t position = r->acc.position[item];
  if (k->alone != NULL) {
    k->alone[item] = to;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = queues[i];
    if ((k->stamp[q] != to || k->position[q] < position) && !by_queue_order(r, to, item, q)) {
      k->stamp[q] = to;
      k->position[q] = position;
    }
  }
}

static bool is_known(const ctrledge_run *r, const known_positions *k, uint32_t to, uint32_t item) {
  if (r->reuse.queues_open) {
    return false;
  }
  if (k->alone != NULL && fs_item_slow(r->s, item)) {
    return k->alone[item] == to;
  }
  uint32_t n;
  const uint32_t *queues = fs_item_queues(r->s, item, &n);
  uint32_t position = r->acc.position[item];
  for (uint32_t i = 0; i < n; i++) {
    if (k->stamp[queues[i]] != to || k->position[queues[i]] < position) {
      return false;
    }
  }
  return true;
}

static void know_predecessors(const ctrledge_run *r, known_positions *k, uint32_t to) {
  const fsched_graph *g = r->s->graph;
  for (uint32_t i = r->acc.data0[to]; i < r->acc.data0[to + 1]; i++) {
    know(r, k, to, r->acc.data[i]);
  }
  if (!fs_item_is_copy(r->s, to)) {
    for (uint32_t i = g->pred0[to]; i < g->pred0[to + 1]; i++) {
      if (!fs_lags_some(&r->basis->lags, i)) {
        know(r, k, to, g->pred[i]);
      }
    }
  }
}

/* Drops the edges of edge[begin .. end), all to one item and ascending by `from`, that others
 * imply.  The latest are kept first, since they may imply earlier ones.  Writes the kept edges to
 * the end of the range and returns where they begin. */
static size_t reduce(ctrledge_run *r, known_positions *k, size_t begin, size_t end) {
  assert(begin < end && end <= r->edge.n);
  uint32_t to = r->s->order[fs_control_key_to(r->edge.at[begin])];
  know_predecessors(r, k, to);
  size_t kept = end;
  for (size_t i = end; i-- > begin;) {
    uint64_t key = r->edge.at[i];
    if (i > begin && fs_control_key_from(r->edge.at[i - 1]) == fs_control_key_from(key)) {
      continue; /* the same edge comes with another reason, of lower number */
    }
    uint32_t from = r->s->order[fs_control_key_from(key)];
    if (!is_known(r, k, to, from)) {
      know(r, k, to, from);
      r->edge.at[--kept] = key;
    }
  }
  return kept;
}

static fs_status store_edges(ctrledge_run *r) {
  known_positions k;
  uint64_t *spare;
  FS_TRY(fs_new(r->scratch, &k.position, r->s->n_queues));
  FS_TRY(fs_new_none(r->scratch, &k.stamp, r->s->n_queues));
  k.alone = NULL;
  if (fs_sync_has_barriers(r->sync->kind) && r->s->graph->op_latency != NULL) {
    FS_TRY(fs_new_none(r->scratch, &k.alone, r->s->n_items));
  }
  FS_TRY(fs_new(r->scratch, &spare, r->edge.n));
  fs_radix_sort(r->edge.at, spare, r->edge.n);
  size_t n = 0;
  for (size_t begin = 0, end; begin < r->edge.n; begin = end) {
    for (end = begin + 1; end < r->edge.n && fs_control_key_to(r->edge.at[end]) ==
                                                 fs_control_key_to(r->edge.at[begin]);
         end++) {
    }
    for (size_t i = reduce(r, &k, begin, end); i < end; i++) {
      r->edge.at[n++] = r->edge.at[i];
    }
  }
  fs_sync *y = r->sync;
  FS_TRY(fs_new(&y->arena, &y->control_from, n));
  FS_TRY(fs_new(&y->arena, &y->control_to, n));
  FS_TRY(fs_new(&y->arena, &y->control_why, n));
  for (size_t i = 0; i < n; i++) {
    uint64_t key = r->edge.at[i];
    y->control_from[i] = r->s->order[fs_control_key_from(key)];
    y->control_to[i] = r->s->order[fs_control_key_to(key)];
    y->control_why[i] = (uint8_t)fs_control_key_why(key);
  }
  y->n_control = (uint32_t)n;
  return FSCHED_OK;
}

/* Stores the lanes, which come grouped by kind and index, sorted by owner within each group. */
static fs_status store_lanes(ctrledge_run *r) {
  fs_sync *y = r->sync;
  FS_TRY(fs_new(&y->arena, &y->lane, r->lane.n));
  uint64_t *keys;
  FS_TRY(fs_new(r->scratch, &keys, 2 * r->lane.n));
  for (size_t begin = 0, end; begin < r->lane.n; begin = end) {
    const fs_lane *group = &r->lane.at[begin];
    for (end = begin; end < r->lane.n && r->lane.at[end].kind == group->kind &&
                      r->lane.at[end].index == group->index;
         end++) {
      keys[end - begin] = (uint64_t)r->lane.at[end].owner << 32 | (end - begin);
    }
    fs_radix_sort(keys, keys + r->lane.n, end - begin);
    for (size_t i = begin; i < end; i++) {
      y->lane[i] = group[(uint32_t)keys[i - begin]];
    }
  }
  y->n_lanes = (uint32_t)r->lane.n;
  return FSCHED_OK;
}

/* Keeps the control edges, and so the lanes, of a schedule that has new places and times.  The
 * edges hold for any times, so the lanes stay right; a new allotment could need other orders. */
static fs_status keep_edges(ctrledge_run *r) {
  const fs_sync *y = r->sync;
  for (uint32_t i = 0; i < y->n_control; i++) {
    r->why = (fs_why)y->control_why[i];
    FS_TRY(add_edge(r, y->control_from[i], y->control_to[i]));
  }
  return FSCHED_OK;
}

static fs_status lanes(ctrledge_run *r) {
  FS_TRY(counted_memories(r));
  FS_TRY(resources(r));
  return concurrency(r);
}

static fs_status run_all(ctrledge_run *r) {
  FS_TRY(contiguous_memories(r));
  if (r->reuse.lanes_stay) {
    FS_TRY(keep_edges(r));
    return store_edges(r);
  }
  FS_TRY(lanes(r));
  FS_TRY(store_edges(r));
  return store_lanes(r);
}

/* When what items hold is free: when their epochs are reached, as the plan has it, or at their
 * ends. */
static fs_status find_over(const fs_schedule *s, const fs_reuse *reuse, fs_ctrledge_basis *b) {
  fs_tick *reached;
  b->over = s->end;
  if (s->graph->op_latency == NULL || reuse->plain_ends || fs_graph_ends_alone(s->graph)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_schedule_reached(s, &b->scratch, &reached));
  b->over = reached;
  return FSCHED_OK;
}

/* Groups the segments by memory; they stay nearly in order of begin. */
static fs_status group_segments(const fs_schedule *s, fs_ctrledge_basis *b) {
  uint32_t *memory;
  FS_TRY(fs_new(&b->scratch, &memory, b->segs.n));
  for (uint32_t i = 0; i < b->segs.n; i++) {
    memory[i] = s->res_memory[b->segs.residency.at[i]];
  }
  return fs_group(&b->scratch, memory, b->segs.n, s->graph->target.n_memories, &b->in_memory0,
                  &b->in_memory);
}

static const fs_reuse all_reuse = {.loose = NULL};

fs_status fs_ctrledge_prepare(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                              const fs_reuse *reuse, fs_ctrledge_basis *out) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  reuse = reuse == NULL ? &all_reuse : reuse;
  *out = (fs_ctrledge_basis){.segs = {.ctx = ctx}};
  fs_arena_init(&out->results, ctx);
  fs_arena_init(&out->scratch, ctx);
  FS_TRY(find_over(s, reuse, out));
  if (fs_sync_has_waits(kind)) {
    FS_TRY(fs_lags_find(&out->scratch, s->graph, &out->lags));
  }
  FS_TRY(fs_accesses_collect(ctx, s, kind, &out->results, &out->scratch, &out->acc));
  FS_TRY(fs_segments_make(ctx, s, kind, reuse->queues_open, &out->acc, &out->lags, &out->segs));
  return group_segments(s, out);
}

void fs_ctrledge_hand_over(fs_ctrledge_basis *b, fs_sync *sync) {
  assert(sync->position == b->acc.position);
  fs_arena_join(&sync->arena, &b->results);
}

void fs_ctrledge_release(fs_ctrledge_basis *b) {
  fs_segments_release(&b->segs);
  fs_arena_release(&b->results);
  fs_arena_release(&b->scratch);
}

fs_status fs_ctrledge_run_on(fsched_context *ctx, const fs_schedule *s, const fs_reuse *reuse,
                             const fs_ctrledge_basis *b, fs_sync *sync) {
  assert(b->acc.position != NULL && b->acc.res0 != NULL);
  FS_SCRATCH(scratch, ctx);
  ctrledge_run r = {.ctx = ctx,
                    .s = s,
                    .reuse = reuse == NULL ? all_reuse : *reuse,
                    .sync = sync,
                    .scratch = &scratch,
                    .basis = b,
                    .acc = b->acc,
                    .segs = b->segs};
  sync->position = b->acc.position;
  sync->data0 = b->acc.data0;
  sync->data = b->acc.data;
  fs_status status = run_all(&r);
  fs_vec_free(ctx, &r.edge);
  fs_vec_free(ctx, &r.lane);
  return status;
}

fs_status fs_ctrledge_run(fsched_context *ctx, const fs_schedule *s, const fs_reuse *reuse,
                          fs_sync *sync) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  fs_ctrledge_basis basis;
  fs_status status = fs_ctrledge_prepare(ctx, s, sync->kind, reuse, &basis);
  if (status == FSCHED_OK) {
    status = fs_ctrledge_run_on(ctx, s, reuse, &basis, sync);
    fs_ctrledge_hand_over(&basis, sync);
  }
  fs_ctrledge_release(&basis);
  return status;
}
