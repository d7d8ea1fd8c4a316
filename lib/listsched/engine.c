/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated run.  Events are the times at which epochs of items are reached, given starts, and
 * the ends of a target's waits.  An epoch is reached when the item has ended, and all those before
 * it on its queues: until then what comes after it cannot start, and what it holds is not free.
 * Where slow ops are on a queue, it may go on before: that is an event, too.
 * After each event the best op or copy starts on every free queue; then claims are made in planned
 * order, each followed by such starts; then reads are prefetched.
 *
 * When nothing is in flight and nothing can start, the first unissued op (its predecessors are all
 * done) claims as a last resort; if even that fails, a memory without a backing store, or a backing
 * store that is full, is in the way and the run ends infeasible. */
#include "listsched/engine.h"

#include "base/progress.h"

enum {
  PROGRESS_STEP = 1024, /* ops */
  CLAIM_FAILURES = 2,   /* claims that may fail in one round */
  PARK_LIMIT = 32       /* runnable ops that may be passed over in one round, per slot */
};

fs_status fs_engine_new_residency(fs_engine *e, uint32_t version, uint32_t op, uint32_t memory,
                                  uint32_t place, uint32_t *id) {
  assert((version == FS_NONE) != (op == FS_NONE) && place < e->places[memory].place.n);
  const fs_place *p = &e->places[memory].place.at[place];
  *id = (uint32_t)e->residency.n;
  if (version != FS_NONE) {
    e->v_last_end[version] = e->now;
  }
  /* The end is set when the place is given up; until then the version stays to the makespan. */
  fs_residency_record r = {version, op, memory, p->address, p->size, e->now, FS_TICK_NONE};
  return fs_vec_push(e->ctx, &e->residency, r);
}

static fs_status list_runnable(fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(e->op_phase[op] == FS_OP_CLAIMED && e->op_lacks[op] == 0);
  uint32_t slot = fs_engine_slot(e, op);
  fs_engine_wake(e, slot);
  return fs_heap_push(e->ctx, &e->runnable[slot], e->position[op], op);
}

/* Makes the op runnable if it lacks nothing, and its predecessors are over for some queue. */
static fs_status make_runnable(fs_engine *e, uint32_t op) {
  if (e->op_phase[op] != FS_OP_CLAIMED || e->op_lacks[op] > 0) {
    return FSCHED_OK;
  }
  if (!e->any_slow && !fs_engine_lagged(e, op)) {
    return e->op_running_preds[op] == 0 ? list_runnable(e, op) : FSCHED_OK;
  }
  bool over = e->op_running_preds[op] == 0 || fs_engine_lagged(e, op) ||
              fs_engine_local_queue(e, op) != FS_NONE;
  if (!over) {
    return FSCHED_OK;
  }
  if (e->op_listed[op]) { /* there may be more queues for it now */
    fs_engine_wake(e, fs_engine_slot(e, op));
    return FSCHED_OK;
  }
  e->op_listed[op] = 1;
  return list_runnable(e, op);
}

fs_status fs_engine_lack_less(fs_engine *e, uint32_t op) {
  assert(e->op_lacks[op] > 0);
  return --e->op_lacks[op] == 0 ? make_runnable(e, op) : FSCHED_OK;
}

/* An op that holds memory while it runs and not before needs no room before its given start. */
static bool waits_for_start(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  return e->op_holds[op] && g->op_start != NULL && g->op_start[op] != FS_TICK_NONE &&
         g->op_start[op] > e->now && e->touch0[op] == e->touch0[op + 1];
}

fs_status fs_engine_soon(fs_engine *e, uint32_t op) {
  assert(e->op_phase[op] == FS_OP_WAITING && e->op_unissued_preds[op] == 0);
  if (waits_for_start(e, op)) { /* end_items calls again */
    return FSCHED_OK;
  }
  e->op_phase[op] = FS_OP_SOON;
  if (e->op_holds[op]) {
    return fs_heap_push(e->ctx, &e->soon, e->position[op], op);
  }
  e->op_phase[op] = FS_OP_CLAIMED;
  return make_runnable(e, op);
}

static fs_status claimed(fs_engine *e, uint32_t op) {
  assert(e->op_phase[op] == FS_OP_SOON);
  e->op_phase[op] = FS_OP_CLAIMED;
  fs_engine_wake_held(e, op);
  e->slot_claims[fs_engine_slot(e, op)]++;
  return make_runnable(e, op);
}

/* Are all predecessors of the op claimed or issued?  Then it comes next. */
static bool comes_next(const fs_engine *e, uint32_t op) {
  for (uint32_t i = e->g->pred0[op]; i < e->g->pred0[op + 1]; i++) {
    if (e->op_phase[e->g->pred[i]] < FS_OP_CLAIMED) {
      return false;
    }
  }
  return true;
}

/* A later op must leave the room that earlier ops, which come next, need for what they produce:
 * otherwise what it produces would take that room, and be evicted again. */
static bool leaves_headroom(fs_engine *e, uint32_t op) {
  enum { LOOK = 16 };
  const fsched_graph *g = e->g;
  uint32_t earlier[LOOK], n = 0;
  uint32_t at = e->unissued_next[g->n_ops];
  e->steps += LOOK / 4;
  for (int look = 0; look < LOOK && at < e->position[op]; look++, at = e->unissued_next[at]) {
    uint32_t other = e->op_at[at];
    if (e->op_phase[other] < FS_OP_CLAIMED && (e->policy->strict || e->op_phase[other] == 0) &&
        comes_next(e, other) && !waits_for_start(e, other)) {
      earlier[n++] = other;
    }
  }
  for (uint32_t k = e->hold0[op]; n > 0 && k < e->hold0[op + 1]; k++) {
    uint32_t m = e->hold[k].memory;
    uint64_t need = fs_engine_own_room(e, op, m);
    if (need == 0) {
      continue;
    }
    for (uint32_t i = 0; i < n; i++) {
      need += fs_engine_own_room(e, earlier[i], m);
    }
    if (need > e->places[m].free + e->places[m].leaving_free + e->evictable[m]) {
      return false;
    }
  }
  return true;
}

/* May the op not be claimed yet, as the policy has claims stay near the first op that has not
 * started? */
static bool far_ahead(const fs_engine *e, uint32_t op) {
  uint64_t most = (uint64_t)e->policy->ahead * (e->n_queues + 1);
  return (most != 0 || e->policy->in_order) &&
         e->position[op] > e->unissued_next[e->g->n_ops] + most;
}

static void blocked_at(fs_engine *e, uint32_t position) {
  if (!e->blocked) {
    e->blocked = true;
    e->blocked_position = position;
  }
}

/* The next claim in planned order; an op over its slot's quota waits for a start there.  Ops that
 * fail are set aside for this round. */
static fs_status claim_next(fs_engine *e, bool *any) {
  *any = false;
  while (!*any && e->soon.n > 0 && e->claim_failures < CLAIM_FAILURES) {
    if (far_ahead(e, e->soon.at[0].id)) {
      blocked_at(e, e->position[e->soon.at[0].id]);
      return FSCHED_OK;
    }
    uint32_t op = fs_heap_pop(&e->soon).id;
    uint32_t slot = fs_engine_slot(e, op);
    assert(e->op_phase[op] == FS_OP_SOON && slot < e->n_slots);
    if (e->slot_claims[slot] >= e->slot_quota[slot]) {
      FS_TRY(fs_heap_push(e->ctx, &e->later[slot], e->position[op], op));
      continue;
    }
    if (e->supply >= e->op_retry[op] && leaves_headroom(e, op)) {
      FS_TRY(fs_engine_claim(e, op, false, any));
    }
    if (*any) {
      return claimed(e, op);
    }
    blocked_at(e, e->position[op]);
    bool head = e->unissued_next[e->g->n_ops] == e->position[op];
    e->claim_failures += head && e->policy->strict ? CLAIM_FAILURES : 1;
    FS_TRY(fs_vec_push(e->ctx, &e->set_aside, op));
  }
  return FSCHED_OK;
}

static bool amounts_fit(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  if (g->target.concurrency != 0 && e->concurrency_free == 0) {
    return false;
  }
  for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
    if (g->use_amount[i] > e->resource_free[g->use_resource[i]]) {
      return false;
    }
  }
  return true;
}

/* A write to the store reads the version, so an op that would change the version has to wait. */
static bool copies_allow(const fs_engine *e, uint32_t op) {
  FS_ENGINE_EACH_VERSION(e, op, i, v) {
    uint32_t from = e->v_inplace[v];
    if ((e->v_writing[v] && e->touch_writes[i]) || (from != FS_NONE && e->v_writing[from])) {
      return false;
    }
  }
  return true;
}

static fs_status occupy_outputs(fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    uint32_t m = e->v_memory[v];
    uint32_t from = e->v_inplace[v];
    uint32_t input = from == FS_NONE ? FS_NONE : e->v_residency[from];
    if (from != FS_NONE) {
      e->v_place[v] = e->v_place[from];
      e->v_place[from] = FS_NONE;
      e->v_inplace[v] = FS_NONE;
    } else if (e->v_promised_place[v] != FS_NONE && !e->v_content[v]) {
      e->v_place[v] = e->v_promised_place[v];
      e->v_promised_place[v] = FS_NONE;
      fs_places_occupy(&e->places[m], e->v_place[v]);
    } else {
      continue;
    }
    e->places[m].place.at[e->v_place[v]].owner = v * 2;
    e->v_state[v] = FS_V_IN;
    e->v_content[v] = 1;
    FS_TRY(fs_engine_new_residency(e, v, FS_NONE, m, e->v_place[v], &e->v_residency[v]));
    if (input != FS_NONE && e->policy->by_amount) {
      FS_TRY(fs_vec_push(e->ctx, &e->handed, ((fs_handed){op, input, e->v_residency[v]})));
    }
    FS_TRY(fs_engine_arrived(e, v));
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    uint32_t m = g->scratch_memory[i];
    if (fs_memory_bounded(&g->target.memory[m])) {
      fs_places_occupy(&e->places[m], e->scratch_place[i]);
      FS_TRY(fs_engine_new_residency(e, FS_NONE, op, m, e->scratch_place[i],
                                     &e->scratch_residency[i]));
      FS_TRY(fs_places_leave(&e->places[m], e->scratch_place[i]));
    }
  }
  return FSCHED_OK;
}

/* Updates the state of the version at the start of an op. */
static fs_status use_version(fs_engine *e, uint32_t v, bool writes) {
  FS_ASSERT_SLOW(e->v_pins[v] > 0 && e->v_left[v] > 0);
  FS_ASSERT_SLOW(!writes || e->v_writers_left[v] > 0);
  e->v_pins[v]--;
  e->v_left[v]--;
  e->v_users[v]++;
  e->v_last_use[v] = e->issue_count;
  if (writes) {
    e->v_writers_left[v]--;
    e->v_writers_running[v]++;
    e->v_dirty[v] = 1;
    e->v_stored[v] = 0;
  }
  if (e->v_place[v] == FS_NONE) {
    e->v_state[v] = FS_V_DEAD; /* its place was taken over */
  } else if (e->v_state[v] == FS_V_IN && fs_engine_dies(e, v)) {
    e->v_state[v] = FS_V_LEAVING;
    return fs_places_leave(&e->places[e->v_memory[v]], e->v_place[v]);
  }
  e->supply += e->v_pins[v] == 0 ? fs_version_size(e->g, v) : 0;
  return fs_engine_offer(e, v);
}

static fs_status use_versions(fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a]) && e->v_memory[v] != FS_NONE) {
      e->arg_residency[a] = e->v_residency[v];
    }
  }
  FS_ENGINE_EACH_VERSION(e, op, i, v) { FS_TRY(use_version(e, v, e->touch_writes[i])); }
  return FSCHED_OK;
}

/* When a running op lets the k-th of its queues go on. */
static fs_tick free_at(const fs_engine *e, uint32_t op, const fs_rolled_part *part, uint32_t k) {
  return e->op_start[op] + (part == NULL ? e->g->op_time[op] : part[k].end);
}

/* The op, which starts now, takes its queues and adds the events to come. */
static fs_status issue_queues(fs_engine *e, uint32_t op) {
  uint32_t n;
  const uint32_t *queues = fs_engine_queues_of(e, op, &n);
  const fs_rolled_part *part = fs_engine_parts(e, op);
  e->op_reached[op] = e->op_end[op];
  for (uint32_t i = 0; i < n; i++) {
    fs_tick free = free_at(e, op, part, i), end = part == NULL ? e->op_end[op] : free;
    FS_TRY(fs_engine_occupy(e, queues[i], free, end, &e->op_reached[op]));
  }
  for (uint32_t i = 0; i < n && e->any_slow; i++) {
    e->queue_op.at[queues[i]] = n == 1 ? op : FS_NONE;
  }
  for (uint32_t i = 0; i < n; i++) {
    fs_tick free = free_at(e, op, part, i);
    FS_TRY(free == e->op_reached[op] ? FSCHED_OK : fs_engine_free_at(e, queues[i], free));
  }
  return fs_heap_push(e->ctx, &e->ends, e->op_reached[op], op);
}

/* An op that can run on no other queues wants them no more. */
static void leave_queues(fs_engine *e, uint32_t op) {
  uint32_t n = 0;
  const uint32_t *only = e->queue_left == NULL ? NULL : fs_engine_only_queues(e, op, &n);
  for (uint32_t i = 0; i < n; i++) {
    e->queue_left[only[i]] -= fs_engine_keeps(e, op);
  }
}

static fs_status start_op(fs_engine *e, uint32_t op, uint32_t queue) {
  assert(e->op_phase[op] == FS_OP_CLAIMED && e->op_lacks[op] == 0);
  assert(e->op_unissued_preds[op] == 0);
  assert(e->op_running_preds[op] == 0 || fs_engine_local_queue(e, op) == queue ||
         (fs_engine_lagged(e, op) && fs_engine_lag_ready(e, op) <= e->now));
  const fsched_graph *g = e->g;
  e->op_phase[op] = FS_OP_RUNNING;
  e->op_start[op] = e->now;
  e->op_end[op] = e->now + fs_op_latency(g, op);
  e->op_queue[op] = queue;
  e->issue_count++;
  e->slot_left[fs_engine_slot(e, op)] -= fs_engine_keeps(e, op);
  leave_queues(e, op);
  e->given_up |= e->now + e->op_rank[op] > e->limit;
  uint32_t at = e->position[op];
  e->unissued_next[e->unissued_previous[at]] = e->unissued_next[at];
  e->unissued_previous[e->unissued_next[at]] = e->unissued_previous[at];
  fs_engine_drop_holds(e, op);
  FS_TRY(issue_queues(e, op));
  if (e->any_bounded) {
    if (e->op_holds[op]) {
      uint32_t slot = fs_engine_slot(e, op);
      e->slot_claims[slot]--;
      if (e->later[slot].n > 0) {
        fs_heap_entry next = fs_heap_pop(&e->later[slot]);
        FS_TRY(fs_heap_push(e->ctx, &e->soon, next.key, next.id));
      }
    }
    FS_TRY(occupy_outputs(e, op));
    FS_TRY(use_versions(e, op));
  }
  e->concurrency_free -= g->target.concurrency != 0;
  for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
    e->resource_free[g->use_resource[i]] -= g->use_amount[i];
  }
  FS_TRY(fs_vec_push(e->ctx, &e->order, op));
  e->steps += 2 + g->succ0[op + 1] - g->succ0[op];
  for (uint32_t i = g->succ0[op]; i < g->succ0[op + 1]; i++) {
    if (--e->op_unissued_preds[g->succ[i]] == 0) {
      FS_TRY(fs_engine_soon(e, g->succ[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status end_version(fs_engine *e, uint32_t op, uint32_t v, bool writes) {
  FS_ASSERT_SLOW(e->v_users[v] > 0);
  FS_ASSERT_SLOW(!writes || e->v_writers_running[v] > 0);
  e->v_users[v]--;
  e->v_last_end[v] = fs_max(e->v_last_end[v], e->op_end[op]);
  if (writes) {
    e->v_writers_running[v]--;
    if (fs_version_kept(e->g, v) && e->v_writers_left[v] == 0 && e->v_writers_running[v] == 0 &&
        fs_memory_spills(fs_engine_memory_of(e, v))) {
      FS_TRY(fs_engine_want_write(e, v, e->g->n_ops));
    } else if (e->v_state[v] == FS_V_LEAVING && e->v_dirty[v] && !fs_engine_dies(e, v)) {
      FS_TRY(fs_engine_want_write(e, v, e->position[op]));
    }
  }
  if (e->v_state[v] == FS_V_DEAD) {
    e->residency.at[e->v_residency[v]].end = e->v_last_end[v];
    return fs_engine_drop_store(e, v);
  }
  return fs_engine_settle(e, v);
}

static fs_status end_op(fs_engine *e, uint32_t op) {
  assert(e->op_phase[op] == FS_OP_RUNNING && e->op_reached[op] == e->now);
  const fsched_graph *g = e->g;
  e->op_phase[op] = FS_OP_DONE;
  e->n_done++;
  if (e->n_done % PROGRESS_STEP == 0 && e->hears_progress) {
    fs_progress_at(e->ctx, e->n_done);
  }
  uint32_t n;
  const uint32_t *queues = fs_engine_queues_of(e, op, &n);
  const fs_rolled_part *part = fs_engine_parts(e, op);
  for (uint32_t i = 0; i < n; i++) { /* the others have events of their own */
    bool now = free_at(e, op, part, i) == e->now;
    FS_TRY(now ? fs_engine_release_queue(e, queues[i]) : FSCHED_OK);
  }
  e->concurrency_free += g->target.concurrency != 0;
  for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
    e->resource_free[g->use_resource[i]] += g->use_amount[i];
  }
  if (e->any_bounded) {
    FS_ENGINE_EACH_VERSION(e, op, i, v) { FS_TRY(end_version(e, op, v, e->touch_writes[i])); }
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint32_t m = g->scratch_memory[i];
      if (fs_memory_bounded(&g->target.memory[m])) {
        e->residency.at[e->scratch_residency[i]].end = e->op_end[op];
        FS_TRY(fs_places_depart(&e->places[m], e->scratch_place[i]));
        FS_TRY(fs_engine_unblock(e, m));
      }
    }
  }
  for (uint32_t i = g->succ0[op]; i < g->succ0[op + 1]; i++) {
    uint32_t s = g->succ[i];
    if (--e->op_running_preds[s] == 0 || e->any_slow) {
      FS_TRY(make_runnable(e, s));
    }
  }
  return FSCHED_OK;
}

/* Tries the best runnable op of a slot; what cannot start is parked for this round. */
static fs_status try_op(fs_engine *e, uint32_t slot, bool *started) {
  assert(e->runnable[slot].n > 0);
  uint32_t op = e->runnable[slot].at[0].id;
  *started = false;
  uint32_t queue = FS_NONE;
  if (amounts_fit(e, op) && copies_allow(e, op)) {
    FS_TRY(fs_engine_queue_for(e, op, &queue));
  }
  (void)fs_heap_pop(&e->runnable[slot]);
  if (queue == FS_NONE) {
    return fs_vec_push(e->ctx, &e->parked, op);
  }
  *started = true;
  return start_op(e, op, queue);
}

static fs_status start_best_copy(fs_engine *e, uint32_t slot) {
  uint32_t queue = fs_engine_free_queue(e, slot, FS_NONE);
  assert(queue != FS_NONE); /* the slot is open */
  return fs_engine_start_copy(e, fs_heap_pop(&e->copies[slot]).id, queue);
}

static fs_status issue_ops(fs_engine *e) {
  e->parked.n = 0;
  for (;;) {
    uint32_t s;
    bool copy;
    FS_TRY(fs_engine_best_slot(e, &s, &copy));
    if (s == FS_NONE) {
      break;
    }
    if (copy) {
      FS_TRY(start_best_copy(e, s));
    } else {
      bool started;
      FS_TRY(try_op(e, s, &started));
      e->slot_closed[s] = !started && ++e->slot_passed[s] >= PARK_LIMIT;
    }
    fs_engine_wake(e, s);
  }
  for (size_t i = 0; i < e->parked.n; i++) {
    uint32_t slot = fs_engine_slot(e, e->parked.at[i]);
    e->slot_closed[slot] = 0;
    e->slot_passed[slot] = 0;
    FS_TRY(list_runnable(e, e->parked.at[i]));
  }
  fs_engine_keep_none(e);
  return FSCHED_OK;
}

/* A queue goes on before the epoch of its latest item is reached.  Queue order tells others of that
 * queue that the item is over, unless it is slow. */
static fs_status free_queue(fs_engine *e, uint32_t queue) {
  const fsched_graph *g = e->g;
  uint32_t op = e->queue_op.at[queue];
  FS_TRY(fs_engine_release_queue(e, queue));
  for (uint32_t i = op == FS_NONE ? 0 : g->succ0[op]; op != FS_NONE && i < g->succ0[op + 1]; i++) {
    FS_TRY(make_runnable(e, g->succ[i]));
  }
  return FSCHED_OK;
}

static fs_status end_copy(fs_engine *e, uint32_t copy) {
  assert(copy < e->copy.n);
  if (e->copy_end.at[copy] ==
      e->copy_reached.at[copy]) { /* else the queue has an event of its own */
    FS_TRY(fs_engine_release_queue(e, e->copy_queue.at[copy]));
  }
  return fs_engine_end_copy(e, copy);
}

static fs_status end_items(fs_engine *e) {
  while (e->ends.n > 0 && e->ends.at[0].key == e->now) {
    uint32_t item = fs_heap_pop(&e->ends).id;
    if (item >= FS_ENGINE_WAKE + e->n_slots) {
      FS_TRY(free_queue(e, item - FS_ENGINE_WAKE - e->n_slots));
    } else if (item >= FS_ENGINE_WAKE) {
      fs_engine_wake(e, item - FS_ENGINE_WAKE);
    } else if (item < e->g->n_ops) {
      FS_TRY(end_op(e, item));
    } else {
      FS_TRY(end_copy(e, item - e->g->n_ops));
    }
  }
  while (e->next_release < e->release.n &&
         e->g->op_start[e->release.at[e->next_release]] == e->now) {
    uint32_t op = e->release.at[e->next_release++];
    FS_TRY(fs_engine_lack_less(e, op));
    if (e->op_phase[op] == FS_OP_WAITING && e->op_unissued_preds[op] == 0) {
      FS_TRY(fs_engine_soon(e, op));
    }
  }
  return FSCHED_OK;
}

/* An op whose given start is now, and that has not started; FS_NONE: there is none. */
static uint32_t missed_start(const fs_engine *e) {
  for (size_t i = e->next_release; i > 0; i--) {
    uint32_t op = e->release.at[i - 1];
    if (e->g->op_start[op] != e->now) {
      break;
    }
    if (e->op_phase[op] < FS_OP_RUNNING) {
      return op;
    }
  }
  return FS_NONE;
}

static void remove_entry(fs_heap *h, uint32_t id) {
  assert(id != FS_NONE);
  for (size_t i = 0; i < h->n; i++) {
    if (h->at[i].id == id) {
      h->at[i].key = 0; /* restore the order by letting it rise, then take it out */
      for (fs_heap_entry x = h->at[i]; i > 0; i = (i - 1) / 2) {
        h->at[i] = h->at[(i - 1) / 2];
        h->at[(i - 1) / 2] = x;
      }
      (void)fs_heap_pop(h);
      return;
    }
  }
}

/* Nothing is in flight: the first unissued op claims as a last resort. */
static fs_status last_resort(fs_engine *e, bool *done) {
  *done = false;
  uint32_t at = e->unissued_next[e->g->n_ops];
  if (at == e->g->n_ops || e->op_phase[e->op_at[at]] != FS_OP_SOON) {
    return FSCHED_OK;
  }
  uint32_t op = e->op_at[at];
  FS_TRY(fs_engine_claim(e, op, true, done));
  if (!*done) {
    return FSCHED_OK;
  }
  uint32_t slot = fs_engine_slot(e, op);
  remove_entry(&e->soon, op);
  remove_entry(&e->later[slot], op);
  return claimed(e, op);
}

/* Claims and starts in turn, so that what a start makes ready is claimed before later ops. */
static fs_status claim_and_issue(fs_engine *e) {
  e->claim_failures = 0;
  e->blocked = false;
  e->set_aside.n = 0;
  for (bool more = true; more;) {
    FS_TRY(claim_next(e, &more));
    if (more) {
      FS_TRY(issue_ops(e));
    }
  }
  for (size_t i = 0; i < e->set_aside.n; i++) {
    uint32_t op = e->set_aside.at[i];
    FS_TRY(fs_heap_push(e->ctx, &e->soon, e->position[op], op));
  }
  return FSCHED_OK;
}

/* Makes a round for the instant, and another one while items without duration end in it. */
static fs_status round_at_now(fs_engine *e) {
  do {
    FS_TRY(end_items(e));
    FS_TRY(issue_ops(e));
    if (e->any_bounded) {
      FS_TRY(claim_and_issue(e));
      FS_TRY(fs_engine_prefetch(e));
    }
  } while (e->ends.n > 0 && e->ends.at[0].key == e->now);
  return FSCHED_OK;
}

/* Do the ops that are left of a slot take too long for the limit?  One slot is looked at in each
 * round, as they may be many. */
static bool late(fs_engine *e) {
  if (e->limit == FS_TICK_NONE || e->n_slots == 0) {
    return false;
  }
  uint32_t s = e->next_checked;
  e->next_checked = s + 1 < e->n_slots ? s + 1 : 0;
  uint32_t members = e->slot_members[s];
  return members != 0 && e->now + e->slot_left[s] / members > e->limit;
}

static bool stopped(fs_engine *e) {
  enum { STEPS = 4096 };
  const fs_listsched_options *o = e->options;
  if (o->stop == NULL || e->steps < e->next_asked) {
    return false;
  }
  e->next_asked = e->steps + STEPS;
  return o->stop(o->user, e->runs, e->limit);
}

fs_status fs_engine_run(fs_engine *e, bool explain, bool *infeasible) {
  assert(e->n_done == 0 && e->order.n == 0);
  *infeasible = e->no_room;
  if (e->no_room) {
    if (explain) {
      fs_engine_explain_stored(e);
    }
    return FSCHED_OK;
  }
  for (;;) {
    FS_TRY(round_at_now(e));
    if (e->given_up || late(e) || stopped(e)) {
      e->given_up = true;
      return FSCHED_OK;
    }
    uint32_t missed = missed_start(e);
    if (missed != FS_NONE) {
      *infeasible = true;
      if (explain) {
        fs_engine_explain_missed(e, missed);
      }
      return FSCHED_OK;
    }
    bool more = !e->no_room && (e->ends.n > 0 || e->next_release < e->release.n);
    if (!more) {
      bool done;
      FS_TRY(last_resort(e, &done));
      if (done && !e->no_room) {
        continue;
      }
      break;
    }
    fs_tick next = e->ends.n > 0 ? e->ends.at[0].key : FS_TICK_NONE;
    if (e->next_release < e->release.n) {
      next = fs_min(next, e->g->op_start[e->release.at[e->next_release]]);
    }
    e->now = next;
  }
  *infeasible = e->no_room || e->n_done < e->g->n_ops;
  if (*infeasible && explain) {
    (e->no_room ? fs_engine_explain_stored : fs_engine_explain_memory)(e);
  }
  return FSCHED_OK;
}
