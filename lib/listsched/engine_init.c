/* SPDX-License-Identifier: Apache-2.0 */
/* Setting up and taking down a run of the list scheduler. */
#include "base/group.h"
#include "listsched/engine.h"
#include "model/overwritten.h"

static fs_status init_order(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t n = g->n_ops;
  FS_TRY(fs_new(e->scratch, &e->unissued_next, (size_t)n + 1));
  FS_TRY(fs_new(e->scratch, &e->unissued_previous, (size_t)n + 1));
  for (uint32_t i = 0; i <= n; i++) {
    e->unissued_next[i] = i == n ? 0 : i + 1;
    e->unissued_previous[i] = i == 0 ? n : i - 1;
  }
  if (n == 0) {
    e->unissued_next[0] = 0;
  }
  return FSCHED_OK;
}

static fs_status prepare_version_memories(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(fs_new_none(e->scratch, &e->v_memory, g->n_versions));
  FS_TRY(fs_new_zero(e->scratch, &e->v_size, g->n_versions));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint32_t m = fs_version_memory(g, v);
    if (fs_memory_bounded(&g->target.memory[m])) {
      e->v_memory[v] = m;
      e->v_size[v] = fs_align_up(fs_version_size(g, v), g->target.memory[m].align);
    }
  }
  return FSCHED_OK;
}

static fs_status prepare_touches(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t *last, n = 0; /* per version: its newest entry */
  FS_TRY(prepare_version_memories(e));
  FS_TRY(fs_new(e->scratch, &e->touch0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(e->scratch, &e->touch, g->n_args));
  FS_TRY(fs_new(e->scratch, &e->touch_writes, g->n_args));
  FS_TRY(fs_new_none(e->scratch, &last, g->n_versions));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    e->touch0[op] = n;
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v == FS_NONE || !fs_tag_accesses(g->arg_tag[a]) || e->v_memory[v] == FS_NONE) {
        continue;
      }
      if (last[v] == FS_NONE || last[v] < e->touch0[op]) {
        last[v] = n;
        e->touch[n] = v;
        e->touch_writes[n++] = 0;
      }
      e->touch_writes[last[v]] |= fs_tag_writes(g->arg_tag[a]);
    }
  }
  e->touch0[g->n_ops] = n;
  return FSCHED_OK;
}

/* Finds the ops that may start while some predecessor runs. */
static fs_status prepare_lags(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(fs_lags_find(e->scratch, g, &e->lags));
  if (e->lags.lag == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(e->scratch, &e->op_lagged, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
      e->op_lagged[op] |= fs_lags_some(&e->lags, i);
    }
  }
  return FSCHED_OK;
}

static fs_status prepare_ops(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(prepare_touches(e));
  FS_TRY(prepare_lags(e));
  FS_TRY(fs_new_zero(e->scratch, &e->op_holds, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    e->op_holds[op] = e->touch0[op] < e->touch0[op + 1];
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      e->op_holds[op] |= fs_memory_bounded(&g->target.memory[g->scratch_memory[i]]);
    }
    e->any_bounded = e->any_bounded || e->op_holds[op];
    if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
      FS_TRY(fs_vec_push(e->ctx, &e->release, op));
    }
  }
  return fs_plan_ranks(g, e->scratch, &e->op_rank);
}

static fs_status init_ops(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t n = g->n_ops;
  FS_TRY(fs_new_zero(e->scratch, &e->op_phase, n));
  FS_TRY(fs_new(e->scratch, &e->op_unissued_preds, n));
  FS_TRY(fs_new(e->scratch, &e->op_running_preds, n));
  FS_TRY(fs_new_zero(e->scratch, &e->op_lacks, n));
  FS_TRY(fs_new_zero(e->scratch, &e->op_retry, n));
  FS_TRY(fs_new_zero(e->scratch, &e->op_start, n));
  FS_TRY(fs_new_zero(e->scratch, &e->op_end, n));
  FS_TRY(fs_new_zero(e->scratch, &e->op_reached, n));
  FS_TRY(fs_new_none(e->scratch, &e->op_queue, n));
  e->any_slow = fs_graph_first_slow(g) != FS_NONE;
  e->ends_alone = fs_graph_ends_alone(g);
  if (e->any_slow || e->op_lagged != NULL) {
    FS_TRY(fs_new_zero(e->scratch, &e->op_listed, n));
  }
  e->waits_cost = fs_graph_wait(g) != 0;
  if (e->waits_cost || g->n_rolled > 0) {
    FS_TRY(fs_new_zero(e->scratch, &e->op_wake, n));
  }
  for (uint32_t op = 0; op < n; op++) {
    e->op_unissued_preds[op] = e->op_running_preds[op] = g->pred0[op + 1] - g->pred0[op];
  }
  for (size_t i = 0; i < e->release.n; i++) {
    e->op_lacks[e->release.at[i]] = 1;
  }
  return FSCHED_OK;
}

/* Sorts the ops with given starts by start, with a heap. */
static fs_status prepare_releases(fs_engine *e) {
  fs_heap h = {0};
  fs_status status = FSCHED_OK;
  for (size_t i = 0; status == FSCHED_OK && i < e->release.n; i++) {
    status = fs_heap_push(e->ctx, &h, e->g->op_start[e->release.at[i]], e->release.at[i]);
  }
  for (size_t i = 0; status == FSCHED_OK && h.n > 0; i++) {
    e->release.at[i] = fs_heap_pop(&h).id;
  }
  fs_vec_free(e->ctx, &h);
  return status;
}

static uint32_t idle_heaps(const fs_engine *e) {
  return e->g->target.implicit_queues ? 1 : e->g->target.n_classes;
}

/* How many ops of a gang may run at once. */
static uint32_t gangs_at_once(const fsched_graph *g, uint32_t gang) {
  return (g->gang_queue0[gang + 1] - g->gang_queue0[gang]) / g->gang_members[gang];
}

/* The queues of ops in gangs: those that are not chosen are known. */
static fs_status prepare_members(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(fs_graph_members(g, e->scratch, &e->op_member0));
  FS_TRY(fs_new(e->scratch, &e->op_member, e->op_member0[g->n_ops]));
  FS_TRY(fs_new_zero(e->scratch, &e->choice_key, g->target.n_queues));
  FS_TRY(fs_new_zero(e->scratch, &e->queue_work, g->target.n_queues));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t gang = g->op_gang[op];
    if (gang != FS_NONE) {
      memcpy(e->op_member + e->op_member0[op], g->gang_queue + g->gang_queue0[gang],
             g->gang_members[gang] * sizeof *e->op_member);
    }
    uint32_t n;
    const uint32_t *only = fs_engine_only_queues(e, op, &n);
    for (uint32_t i = 0; i < n; i++) {
      e->queue_work[only[i]] += fs_engine_keeps(e, op);
    }
  }
  return FSCHED_OK;
}

static fs_status prepare_slots(fs_engine *e) {
  const fs_target *t = &e->g->target;
  enum { IMPLICIT_QUOTA = 16 };
  e->n_slots = t->n_domains + e->g->n_gangs;
  e->queue_limit =
      t->concurrency == 0 ? FS_NONE - 1 : (uint32_t)fs_min(t->concurrency, FS_NONE - 1);
  FS_TRY(fs_new_zero(e->scratch, &e->slot_quota, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_members, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_work, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->idle, idle_heaps(e)));
  FS_TRY(fs_new_zero(e->scratch, &e->runnable, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->copies, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->later, e->n_slots));
  for (uint32_t s = 0; s < e->n_slots; s++) {
    uint32_t members = s < t->n_domains ? t->domain_queue0[s + 1] - t->domain_queue0[s]
                                        : gangs_at_once(e->g, s - t->n_domains);
    e->slot_members[s] = t->implicit_queues ? 0 : members;
    e->slot_quota[s] = t->implicit_queues ? IMPLICIT_QUOTA : members + 1;
  }
  for (uint32_t op = 0; op < e->g->n_ops; op++) {
    e->slot_work[fs_engine_slot(e, op)] += fs_engine_keeps(e, op);
  }
  if (e->g->gangs_open) {
    FS_TRY(prepare_members(e));
  }
  return t->implicit_queues
             ? FSCHED_OK
             : fs_group_turn(e->scratch, t->domain_queue0, t->domain_queue, t->n_domains,
                             t->n_queues, &e->queue_slot0, &e->queue_slot);
}

/* The target's queues, all of them free. */
static fs_status add_queues(fs_engine *e) {
  const fs_target *t = &e->g->target;
  fs_tick none = 0;
  e->n_queues = t->implicit_queues ? 0 : t->n_queues;
  for (uint32_t c = 0; c < idle_heaps(e); c++) {
    e->idle[c].n = 0;
  }
  for (uint32_t q = 0; q < e->n_queues; q++) {
    FS_TRY(fs_heap_push(e->ctx, &e->idle[t->queue[q].class_id], q, q));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_idle, 1));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_busy, 0));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_until, none));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_reached, none));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_behind, 0));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_op, FS_NONE));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_held, UINT64_MAX));
    FS_TRY(fs_vec_push(e->ctx, &e->queue_held_until, none));
  }
  return FSCHED_OK;
}

static fs_status init_queues(fs_engine *e) {
  const fs_target *t = &e->g->target;
  FS_TRY(fs_engine_init_slots(e));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_free, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_claims, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_closed, e->n_slots));
  FS_TRY(fs_new_zero(e->scratch, &e->slot_passed, e->n_slots));
  FS_TRY(fs_new(e->scratch, &e->slot_left, e->n_slots));
  memcpy(e->slot_left, e->slot_work, e->n_slots * sizeof *e->slot_left);
  if (e->g->gangs_open) {
    FS_TRY(fs_new(e->scratch, &e->queue_left, t->n_queues));
    memcpy(e->queue_left, e->queue_work, t->n_queues * sizeof *e->queue_left);
  }
  for (uint32_t s = 0; s < t->n_domains; s++) {
    e->slot_free[s] = t->domain_queue0[s + 1] - t->domain_queue0[s];
  }
  for (uint32_t s = 0; s < e->n_slots; s++) {
    e->runnable[s].n = e->copies[s].n = e->later[s].n = 0;
  }
  return add_queues(e);
}

static fs_status prepare_memories(fs_engine *e) {
  const fs_target *t = &e->g->target;
  FS_TRY(fs_new_zero(e->scratch, &e->places, t->n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->victims_clean, t->n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->victims_dirty, t->n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->asked, t->n_memories));
  return FSCHED_OK;
}

static fs_status init_memories(fs_engine *e) {
  const fs_target *t = &e->g->target;
  FS_TRY(fs_new_zero(e->scratch, &e->evictable, t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    const fs_memory *memory = &t->memory[m];
    uint64_t usable = fs_memory_bounded(memory) ? memory->capacity & ~(memory->align - 1) : 0;
    e->places[m].ctx = e->ctx;
    bool counted = e->policy->by_amount || !fs_placement_has_addresses(memory->placement);
    FS_TRY(fs_places_empty(&e->places[m], usable, counted));
    e->victims_clean[m].n = e->victims_dirty[m].n = 0;
  }
  FS_TRY(fs_new_zero(e->scratch, &e->resource_free, t->n_resources));
  for (uint32_t r = 0; r < t->n_resources; r++) {
    e->resource_free[r] = t->resource_capacity[r];
  }
  e->concurrency_free = t->concurrency;
  return FSCHED_OK;
}

/* How many ops touch each version, and how many of them write it. */
static fs_status prepare_uses(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(fs_new_zero(e->scratch, &e->v_use0, (size_t)g->n_versions + 1));
  FS_TRY(fs_new_zero(e->scratch, &e->v_writers, g->n_versions));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    FS_ENGINE_EACH_VERSION(e, op, i, v) {
      e->v_use0[v + 1]++;
      e->v_writers[v] += e->touch_writes[i];
    }
  }
  fs_group_starts(e->v_use0, g->n_versions);
  return fs_new(e->scratch, &e->v_use, e->v_use0[g->n_versions]);
}

/* Positions of the ops that touch each version, ascending: ops are visited in planned order. */
static fs_status init_uses(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t n = g->n_versions;
  FS_TRY(fs_new(e->scratch, &e->v_next_use, n));
  FS_TRY(fs_new(e->scratch, &e->v_left, n));
  FS_TRY(fs_new(e->scratch, &e->v_writers_left, n));
  if (n > 0) {
    memcpy(e->v_next_use, e->v_use0, n * sizeof *e->v_next_use);
    memcpy(e->v_writers_left, e->v_writers, n * sizeof *e->v_writers_left);
  }
  for (uint32_t i = 0; i < g->n_ops; i++) {
    FS_ENGINE_EACH_VERSION(e, e->op_at[i], a, v) { e->v_use[e->v_next_use[v]++] = i; }
  }
  for (uint32_t v = 0; v < n; v++) {
    e->v_left[v] = e->v_use0[v + 1] - e->v_use0[v];
    e->v_next_use[v] = e->v_use0[v];
  }
  return FSCHED_OK;
}

static fs_status init_versions(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t n = g->n_versions;
  FS_TRY(fs_new_zero(e->scratch, &e->v_state, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_dirty, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_stored, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_content, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_writing, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_counted_evictable, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_place, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_promised_place, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_store_place, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_residency, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_store_residency, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_users, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_pins, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_writers_running, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_read_for, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_last_end, n));
  FS_TRY(fs_new_zero(e->scratch, &e->v_last_use, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_waiters, n));
  FS_TRY(fs_new_none(e->scratch, &e->v_inplace, n));
  uint32_t n_scratch = g->op_scratch0[g->n_ops];
  FS_TRY(fs_new_none(e->scratch, &e->scratch_place, n_scratch));
  FS_TRY(fs_new_none(e->scratch, &e->scratch_residency, n_scratch));
  FS_TRY(fs_new_none(e->scratch, &e->arg_residency, g->n_args));
  e->free_waiter = FS_NONE;
  return init_uses(e);
}

/* Given content: in the store, or at its place from 0 on; in a bounded store it has its place there
 * even if it is not loaded, since it is overwritten first.  *room: there is a place for it. */
static fs_status init_given(fs_engine *e, uint32_t v, bool *room) {
  const fsched_graph *g = e->g;
  uint32_t m = fs_version_memory(g, v);
  const fs_memory *memory = &g->target.memory[m];
  bool store = fs_memory_spills(memory);
  bool wanted = !store || e->v_left[v] == 0 || fs_version_load_needed(g, v);
  e->v_content[v] = wanted;
  if (store) {
    e->v_stored[v] = wanted;
    if (wanted && e->v_left[v] > 0) {
      fs_engine_absent(e, v);
    }
    m = memory->backing;
    memory = &g->target.memory[m];
    if (!fs_memory_bounded(memory)) {
      return FSCHED_OK;
    }
  } else if (e->v_left[v] == 0 && !fs_version_stays(e->g, v)) {
    return FSCHED_OK;
  }
  uint32_t place;
  uint64_t size = fs_align_up(fs_version_size(g, v), memory->align);
  FS_TRY(fs_places_reserve_now(&e->places[m], size, true, &place));
  *room = place != FS_NONE;
  if (!*room) {
    return FSCHED_OK;
  }
  fs_places_occupy(&e->places[m], place);
  e->places[m].place.at[place].owner = store ? FS_NONE : v * 2;
  *(store ? &e->v_store_place[v] : &e->v_place[v]) = place;
  e->v_state[v] = store ? FS_V_ABSENT : FS_V_IN;
  return fs_engine_new_residency(e, v, FS_NONE, m, place,
                                 store ? &e->v_store_residency[v] : &e->v_residency[v]);
}

static fs_status init_start(fs_engine *e) {
  const fsched_graph *g = e->g;
  for (uint32_t v = 0; v < g->n_versions && !e->no_room; v++) {
    bool room = true;
    if (e->v_memory[v] != FS_NONE && fs_version_given(g, v)) {
      FS_TRY(init_given(e, v, &room));
      e->no_room = !room;
      e->no_room_version = v;
    }
  }
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = e->op_at[i];
    if (e->op_unissued_preds[op] == 0) {
      FS_TRY(fs_engine_soon(e, op));
    }
  }
  return FSCHED_OK;
}

fs_status fs_engine_prepare(fs_engine *e, fsched_context *ctx, fs_arena *scratch,
                            const fsched_graph *g) {
  assert(g->topo != NULL || g->n_ops == 0);
  *e = (fs_engine){.ctx = ctx, .g = g, .scratch = scratch};
  FS_TRY(prepare_ops(e));
  FS_TRY(prepare_releases(e));
  FS_TRY(prepare_slots(e));
  FS_TRY(prepare_memories(e));
  FS_TRY(prepare_uses(e));
  FS_TRY(fs_engine_prepare_holds(e));
  e->prepared = fs_arena_set_mark(scratch);
  return FSCHED_OK;
}

/* Forgets the last run; vectors keep their memory. */
static void forget_run(fs_engine *e) {
  fs_arena_reset(e->scratch, e->prepared);
  e->now = 0;
  e->steps = 0;
  e->n_done = e->n_busy = e->n_woken = 0;
  e->claim_failures = 0;
  e->next_release = 0;
  e->supply = 0;
  e->no_room = e->blocked = e->given_up = false;
  e->issue_count = e->next_checked = 0;
  e->next_asked = 0;
  e->queue_busy.n = e->queue_until.n = e->queue_held.n = e->queue_held_until.n = 0;
  e->queue_idle.n = e->queue_behind.n = e->queue_reached.n = e->copy_reached.n = e->queue_op.n = 0;
  e->n_memory_woken = e->n_domain_opened = 0;
  e->held_back.n = e->first_readers.n = e->stay_awake.n = 0;
  e->held.n = e->listed.n = e->soon.n = e->ends.n = 0;
  e->parked.n = e->set_aside.n = e->waiter.n = e->victims.n = 0;
  e->residency.n = e->handed.n = e->copy.n = e->copy_start.n = e->copy_end.n = e->copy_queue.n =
      e->order.n = 0;
}

fs_status fs_engine_begin(fs_engine *e, const fs_policy *policy, const uint32_t *position,
                          const uint32_t *op_at) {
  assert(e->g->n_ops == 0 || position[op_at[0]] == 0);
  forget_run(e);
  e->policy = policy;
  e->position = position;
  e->op_at = op_at;
  FS_TRY(init_order(e));
  FS_TRY(init_ops(e));
  FS_TRY(init_queues(e));
  FS_TRY(init_memories(e));
  FS_TRY(init_versions(e));
  FS_TRY(fs_engine_init_holds(e));
  e->steps = (uint64_t)e->g->n_ops + e->g->n_args;
  return init_start(e);
}

static void release_heaps(fs_engine *e) {
  fsched_context *ctx = e->ctx;
  for (uint32_t s = 0; e->later != NULL && s < e->n_slots; s++) {
    fs_vec_free(ctx, &e->runnable[s]);
    fs_vec_free(ctx, &e->copies[s]);
    fs_vec_free(ctx, &e->later[s]);
  }
  for (uint32_t d = 0; e->readers != NULL && d < e->g->target.n_domains; d++) {
    fs_vec_free(ctx, &e->readers[d]);
  }
  for (uint32_t c = 0; e->idle != NULL && c < idle_heaps(e); c++) {
    fs_vec_free(ctx, &e->idle[c]);
  }
}

void fs_engine_release(fs_engine *e) {
  fsched_context *ctx = e->ctx;
  release_heaps(e);
  for (uint32_t m = 0; e->victims_dirty != NULL && m < e->g->target.n_memories; m++) {
    fs_vec_free(ctx, &e->victims_clean[m]);
    fs_vec_free(ctx, &e->victims_dirty[m]);
    if (e->places[m].ctx != NULL) {
      fs_places_release(&e->places[m]);
    }
  }
  fs_vec_free(ctx, &e->queue_busy);
  fs_vec_free(ctx, &e->queue_idle);
  fs_vec_free(ctx, &e->queue_until);
  fs_vec_free(ctx, &e->queue_reached);
  fs_vec_free(ctx, &e->queue_behind);
  fs_vec_free(ctx, &e->queue_op);
  fs_vec_free(ctx, &e->copy_reached);
  fs_vec_free(ctx, &e->queue_held);
  fs_vec_free(ctx, &e->queue_held_until);
  fs_vec_free(ctx, &e->held);
  fs_vec_free(ctx, &e->choice);
  fs_vec_free(ctx, &e->listed);
  fs_vec_free(ctx, &e->held_back);
  fs_vec_free(ctx, &e->first_readers);
  fs_vec_free(ctx, &e->stay_awake);
  fs_vec_free(ctx, &e->soon);
  fs_vec_free(ctx, &e->ends);
  fs_vec_free(ctx, &e->parked);
  fs_vec_free(ctx, &e->set_aside);
  fs_vec_free(ctx, &e->release);
  fs_vec_free(ctx, &e->waiter);
  fs_vec_free(ctx, &e->claim.needs);
  fs_vec_free(ctx, &e->claim.reserved);
  fs_vec_free(ctx, &e->claim.own);
  fs_vec_free(ctx, &e->victims);
  fs_vec_free(ctx, &e->residency);
  fs_vec_free(ctx, &e->handed);
  fs_vec_free(ctx, &e->copy);
  fs_vec_free(ctx, &e->copy_start);
  fs_vec_free(ctx, &e->copy_end);
  fs_vec_free(ctx, &e->copy_queue);
  fs_vec_free(ctx, &e->order);
}
