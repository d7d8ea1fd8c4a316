/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of a run: which are free, which one an op takes, and which are kept for a gang.
 *
 * Of several eligible queues, an op takes the one on which its last predecessor ran, so that no
 * wait is needed, else the first free one.  A gang that is ready keeps its free members from worse
 * ops that would not end before its busy members do (backfilling).  A gang that takes any queues of
 * a class takes free ones, first those that ops which can run on no others want least, and of these
 * those of its predecessors; while they are too few, those are kept for it that are free first. */
#include "listsched/engine.h"

static fs_status add_queue(fs_engine *e) {
  FS_TRY(fs_vec_push(e->ctx, &e->queue_busy, 0));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_idle, 0));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_until, 0));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_reached, 0));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_behind, 0));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_op, FS_NONE));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_held, UINT64_MAX));
  FS_TRY(fs_vec_push(e->ctx, &e->queue_held_until, 0));
  e->n_queues++;
  return FSCHED_OK;
}

static bool in_domain(const fs_target *t, uint32_t domain, uint32_t queue) {
  FS_ASSERT_SLOW(domain < t->n_domains);
  uint32_t low = t->domain_queue0[domain], high = t->domain_queue0[domain + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->domain_queue[middle] < queue) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < t->domain_queue0[domain + 1] && t->domain_queue[low] == queue;
}

/* The first free queue of a class, or of all implicit ones; FS_NONE: there is none.  Queues that
 * have become busy leave the heap when they come to its top. */
static uint32_t first_idle(fs_engine *e, uint32_t class_id) {
  fs_heap *idle = &e->idle[class_id];
  while (idle->n > 0 && e->queue_busy.at[idle->at[0].id]) {
    e->queue_idle.at[fs_heap_pop(idle).id] = 0;
  }
  return idle->n > 0 ? idle->at[0].id : FS_NONE;
}

static fs_status add_idle(fs_engine *e, uint32_t queue) {
  if (e->queue_idle.at[queue]) {
    return FSCHED_OK;
  }
  e->queue_idle.at[queue] = 1;
  const fs_target *t = &e->g->target;
  uint32_t class_id = t->implicit_queues ? 0 : t->queue[queue].class_id;
  return fs_heap_push(e->ctx, &e->idle[class_id], queue, queue);
}

uint32_t fs_engine_free_queue(fs_engine *e, uint32_t domain, uint32_t preferred) {
  FS_ASSERT_SLOW(domain < e->g->target.n_domains);
  const fs_target *t = &e->g->target;
  if (t->implicit_queues) {
    if (preferred != FS_NONE && !e->queue_busy.at[preferred]) {
      return preferred;
    }
    uint32_t q = first_idle(e, 0);
    return q != FS_NONE || e->n_queues >= e->queue_limit ? q : e->n_queues;
  }
  if (preferred != FS_NONE && !e->queue_busy.at[preferred] && in_domain(t, domain, preferred)) {
    return preferred;
  }
  if (e->slot_free[domain] == 0) {
    return FS_NONE;
  }
  return domain < t->n_classes ? first_idle(e, domain) : t->domain_queue[t->domain_queue0[domain]];
}

fs_status fs_engine_acquire(fs_engine *e, uint32_t queue, fs_tick until) {
  assert(queue <= e->n_queues && until >= e->now);
  if (queue == e->n_queues) {
    FS_TRY(add_queue(e));
  }
  assert(!e->queue_busy.at[queue]);
  e->queue_busy.at[queue] = 1;
  e->n_busy++;
  e->queue_until.at[queue] = until;
  if (!e->g->target.implicit_queues) {
    for (uint32_t i = e->queue_slot0[queue]; i < e->queue_slot0[queue + 1]; i++) {
      e->slot_free[e->queue_slot[i]]--;
    }
  }
  return FSCHED_OK;
}

fs_status fs_engine_occupy(fs_engine *e, uint32_t queue, fs_tick until, fs_tick end,
                           fs_tick *reached) {
  assert(until <= end && end <= *reached);
  if (queue < e->n_queues && e->queue_busy.at[queue]) { /* it is still busy, but not for long */
    assert(until >= e->queue_until.at[queue]);
    e->queue_behind.at[queue]++;
    e->queue_until.at[queue] = until;
  } else {
    FS_TRY(fs_engine_acquire(e, queue, until));
  }
  e->queue_reached.at[queue] = fs_max(e->queue_reached.at[queue], end);
  *reached = e->ends_alone ? *reached : fs_max(*reached, e->queue_reached.at[queue]);
  return FSCHED_OK;
}

fs_status fs_engine_free_at(fs_engine *e, uint32_t queue, fs_tick until) {
  assert(queue < e->n_queues && e->queue_busy.at[queue]);
  return fs_heap_push(e->ctx, &e->ends, until, FS_ENGINE_WAKE + e->n_slots + queue);
}

fs_status fs_engine_release_queue(fs_engine *e, uint32_t queue) {
  assert(queue < e->n_queues && e->queue_busy.at[queue] && e->n_busy > 0);
  if (e->queue_behind.at[queue] > 0) {
    e->queue_behind.at[queue]--;
    return FSCHED_OK;
  }
  e->queue_busy.at[queue] = 0;
  e->n_busy--;
  if (!e->g->target.implicit_queues) {
    for (uint32_t i = e->queue_slot0[queue]; i < e->queue_slot0[queue + 1]; i++) {
      e->slot_free[e->queue_slot[i]]++;
      fs_engine_wake(e, e->queue_slot[i]);
      fs_engine_open_domain(e, e->queue_slot[i]);
    }
  }
  return add_idle(e, queue);
}

/* Of the free queues that the op can use, the one on which a predecessor ended last, for which it
 * needs no wait there. */
static uint32_t preferred_queue(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  uint32_t best = FS_NONE;
  fs_tick latest = 0;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    uint32_t p = g->pred[i];
    uint32_t q = e->op_queue[p];
    if ((best == FS_NONE || e->op_end[p] >= latest) && !e->queue_busy.at[q] &&
        (g->target.implicit_queues ||
         (g->op_gang[op] == FS_NONE && in_domain(&g->target, g->op_domain[op], q)))) {
      best = q;
      latest = e->op_end[p];
    }
  }
  return best;
}

const uint32_t *fs_engine_queues_of(const fs_engine *e, uint32_t op, uint32_t *n) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  const fsched_graph *g = e->g;
  uint32_t gang = g->op_gang[op];
  *n = gang == FS_NONE ? 1 : g->gang_members[gang];
  return gang == FS_NONE         ? &e->op_queue[op]
         : e->op_member0 == NULL ? g->gang_queue + g->gang_queue0[gang]
                                 : e->op_member + e->op_member0[op];
}

uint32_t fs_engine_kept_for(const fs_engine *e, uint32_t self, uint32_t queue, fs_tick end) {
  FS_ASSERT_SLOW(queue <= e->n_queues);
  const fsched_graph *g = e->g;
  if (e->release.n == 0) {
    return FS_NONE;
  }
  size_t first = e->next_release;
  while (first > 0 && g->op_start[e->release.at[first - 1]] == e->now &&
         g->op_start[self] != e->now) {
    first--;
  }
  for (size_t i = first; i < e->release.n; i++) {
    uint32_t op = e->release.at[i];
    if (e->op_phase[op] >= FS_OP_RUNNING) {
      continue;
    }
    if (g->op_start[op] >= end) {
      break;
    }
    uint32_t gang = g->op_gang[op];
    const fs_target *t = &g->target;
    if (gang != FS_NONE && fs_gang_open(g, gang)) {
      continue; /* it can use others */
    }
    if (gang == FS_NONE) {
      uint32_t d = g->op_domain[op];
      if (!t->implicit_queues && t->domain_queue0[d + 1] - t->domain_queue0[d] == 1 &&
          in_domain(t, d, queue)) {
        return op;
      }
      continue;
    }
    for (uint32_t k = g->gang_queue0[gang]; k < g->gang_queue0[gang + 1]; k++) {
      if (g->gang_queue[k] == queue) {
        return op;
      }
    }
  }
  return FS_NONE;
}

/* A queue may be kept for a gang of better position; shorter work goes in between. */
static bool queue_allows(const fs_engine *e, uint32_t queue, uint32_t position, fs_tick time) {
  FS_ASSERT_SLOW(position < e->g->n_ops);
  if (fs_engine_kept_for(e, e->op_at[position], queue, e->now + time) != FS_NONE) {
    return false;
  }
  return queue >= e->n_queues || e->queue_held.at[queue] == UINT64_MAX ||
         position <= e->queue_held.at[queue] || e->now + time <= e->queue_held_until.at[queue];
}

/* Keeps queues for the gang until the last of them is free. */
static fs_status keep_queues(fs_engine *e, uint32_t op, const uint32_t *queue, uint32_t n,
                             fs_tick until) {
  assert(e->g->op_gang[op] != FS_NONE);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = queue[i];
    if (e->position[op] < e->queue_held.at[q]) {
      e->queue_held.at[q] = e->position[op];
      e->queue_held_until.at[q] = until;
      FS_TRY(fs_vec_push(e->ctx, &e->held, q));
    }
  }
  return FSCHED_OK;
}

void fs_engine_keep_none(fs_engine *e) {
  for (size_t i = 0; i < e->held.n; i++) {
    e->queue_held.at[e->held.at[i]] = UINT64_MAX;
  }
  e->held.n = 0;
}

/* Whether a predecessor ran on that queue, alone or as a gang. */
static bool ran_on(const fs_engine *e, uint32_t op, uint32_t queue) {
  uint32_t n;
  const uint32_t *of = fs_engine_queues_of(e, op, &n);
  bool found = false;
  for (uint32_t i = 0; i < n; i++) {
    found = found || of[i] == queue;
  }
  return found;
}

/* When the op can start on the queue, by the target's wait for predecessors on other queues. */
static fs_tick ready_on(const fs_engine *e, uint32_t op, uint32_t queue) {
  const fsched_graph *g = e->g;
  fs_tick at = 0;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    uint32_t p = g->pred[i];
    at = fs_max(at, e->op_reached[p] + (ran_on(e, p, queue) ? 0 : g->target.wait));
  }
  return at;
}

static fs_status wake_at(fs_engine *e, uint32_t op, fs_tick at) {
  assert(at > e->now);
  if (e->op_wake[op] == at) {
    return FSCHED_OK;
  }
  e->op_wake[op] = at;
  return fs_heap_push(e->ctx, &e->ends, at, FS_ENGINE_WAKE + fs_engine_slot(e, op));
}

/* The queue of the op that was over last of the predecessors; of a gang, a free member on which the
 * op can run. */
static uint32_t queue_of_last(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  uint32_t last = FS_NONE;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    bool later = last == FS_NONE || e->op_reached[g->pred[i]] > e->op_reached[last];
    last = later ? g->pred[i] : last;
  }
  if (last == FS_NONE) {
    return FS_NONE;
  }
  uint32_t n;
  const uint32_t *queues = fs_engine_queues_of(e, last, &n);
  for (uint32_t i = 0; i < n && g->op_gang[last] != FS_NONE; i++) {
    uint32_t q = queues[i];
    if (!e->queue_busy.at[q] && in_domain(&g->target, g->op_domain[op], q)) {
      return q;
    }
  }
  return e->op_queue[last];
}

/* With a target's wait: a queue on which the op can start now.  Of all queues, that of the
 * predecessor that ended last is ready first; on most others the op can start once a wait has
 * passed since that end.  So that queue is taken if it is free, else any other; if the op is not
 * ready there, it is tried again when it is. */
static fs_status queue_after_wait(fs_engine *e, uint32_t op, uint32_t *queue) {
  const fsched_graph *g = e->g;
  uint32_t free = fs_engine_free_queue(e, g->op_domain[op], queue_of_last(e, op));
  *queue = FS_NONE;
  if (free == FS_NONE) {
    return FSCHED_OK;
  }
  fs_tick at = ready_on(e, op, free);
  if (at > e->now) {
    return wake_at(e, op, at);
  }
  *queue = queue_allows(e, free, e->position[op], g->op_time[op]) ? free : FS_NONE;
  return FSCHED_OK;
}

/* When a gang can start on its queues, by the target's wait for predecessors that share none of
 * them. */
static fs_tick gang_ready(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  uint32_t n;
  const uint32_t *queues = fs_engine_queues_of(e, op, &n);
  fs_tick at = 0;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    uint32_t p = g->pred[i];
    bool shared = false;
    for (uint32_t k = 0; k < n; k++) {
      shared = shared || ran_on(e, p, queues[k]);
    }
    at = fs_max(at, e->op_reached[p] + (shared ? 0 : g->target.wait));
  }
  return at;
}

/* Whether predecessors on other queues hold the op back by the target's wait.  A given start is
 * kept all the same. */
static bool waits_count(const fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  return e->waits_cost && (g->op_start == NULL || g->op_start[op] == FS_TICK_NONE);
}

uint32_t fs_engine_local_queue(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  const fsched_graph *g = e->g;
  uint32_t queue = FS_NONE;
  bool can =
      e->any_slow && e->op_running_preds[op] > 0 && g->op_gang[op] == FS_NONE && !e->waits_cost;
  for (uint32_t i = g->pred0[op]; can && i < g->pred0[op + 1]; i++) {
    uint32_t p = g->pred[i];
    if (e->op_phase[p] == FS_OP_DONE) {
      continue;
    }
    can = e->op_phase[p] == FS_OP_RUNNING && e->op_end[p] <= e->now && !fs_op_slow(g, p) &&
          g->op_gang[p] == FS_NONE && (queue == FS_NONE || queue == e->op_queue[p]);
    queue = e->op_queue[p];
  }
  return can && (g->target.implicit_queues || in_domain(&g->target, g->op_domain[op], queue))
             ? queue
             : FS_NONE;
}

fs_tick fs_engine_lag_ready(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(e->op_unissued_preds[op] == 0);
  const fsched_graph *g = e->g;
  fs_tick at = 0;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    at = fs_max(at, e->op_start[g->pred[i]] + fs_lags_delay(&e->lags, i, op));
  }
  return at;
}

/* Notes per queue when the latest of the op's predecessors there is over, plus 1; `clear` puts 0
 * there again. */
static void mark_queues(fs_engine *e, uint32_t op, bool clear) {
  const fsched_graph *g = e->g;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    uint32_t n;
    const uint32_t *queue = fs_engine_queues_of(e, g->pred[i], &n);
    for (uint32_t k = 0; k < n; k++) {
      fs_tick at = e->op_reached[g->pred[i]] + 1;
      e->choice_key[queue[k]] = clear ? 0 : fs_max(e->choice_key[queue[k]], at);
    }
  }
}

const uint32_t *fs_engine_only_queues(const fs_engine *e, uint32_t op, uint32_t *n) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  const fsched_graph *g = e->g;
  const fs_target *t = &g->target;
  uint32_t gang = g->op_gang[op], domain = g->op_domain[op];
  if (gang != FS_NONE) {
    *n = fs_gang_open(g, gang) ? 0 : g->gang_members[gang];
    return g->gang_queue + g->gang_queue0[gang];
  }
  *n = !t->implicit_queues && t->domain_queue0[domain + 1] - t->domain_queue0[domain] == 1;
  return *n == 0 ? NULL : t->domain_queue + t->domain_queue0[domain];
}

/* Lists the queues of a gang that are free, or those that are not.  The key of a free one is how
 * much it is wanted, and then how long ago a predecessor was over there, as exactly as it fits. */
static fs_status list_queues(fs_engine *e, uint32_t op, bool free) {
  const fsched_graph *g = e->g;
  enum { AGO_BITS = 36 };
  const uint64_t most_ago = (UINT64_C(1) << AGO_BITS) - 1, most_wanted = UINT64_MAX >> AGO_BITS;
  uint32_t gang = g->op_gang[op];
  for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
    uint32_t q = g->gang_queue[i];
    bool is_free = !e->queue_busy.at[q] && queue_allows(e, q, e->position[op], g->op_time[op]);
    fs_tick until = e->queue_busy.at[q] ? fs_max(e->now, e->queue_until.at[q]) : e->now;
    uint64_t ago = fs_min(e->now - fs_min(e->now, e->choice_key[q]), most_ago);
    uint64_t key = fs_min(e->queue_left[q], most_wanted) << AGO_BITS | ago;
    if (is_free == free) {
      FS_TRY(fs_heap_push(e->ctx, &e->choice, free ? key : until, q));
    }
  }
  return FSCHED_OK;
}

/* Takes the first queue of the list as a member, of which there are `n`; returns its key. */
static uint64_t take_queue(fs_engine *e, uint32_t *member, uint32_t n) {
  fs_heap_entry best = fs_heap_pop(&e->choice);
  uint32_t at = n;
  for (; at > 0 && member[at - 1] > best.id; at--) {
    member[at] = member[at - 1];
  }
  member[at] = best.id;
  return best.key;
}

/* Chooses the queues of a gang: free ones, and by id where their keys are equal; if they are too
 * few also others, and *latest is when the last of them is free. */
static fs_status choose_queues(fs_engine *e, uint32_t op, bool *all_free, fs_tick *latest) {
  const fsched_graph *g = e->g;
  uint32_t gang = g->op_gang[op], n = g->gang_members[gang], taken = 0;
  uint32_t *member = e->op_member + e->op_member0[op];
  assert(e->choice.n == 0);
  mark_queues(e, op, false);
  fs_status status = list_queues(e, op, true);
  mark_queues(e, op, true);
  FS_TRY(status);
  e->steps += (g->gang_queue0[gang + 1] - g->gang_queue0[gang]) / 4;
  while (taken < n && e->choice.n > 0) {
    (void)take_queue(e, member, taken++);
  }
  e->choice.n = 0;
  *latest = e->now;
  *all_free = taken == n;
  if (!*all_free) {
    FS_TRY(list_queues(e, op, false));
  }
  while (taken < n) {
    *latest = fs_max(*latest, take_queue(e, member, taken++));
  }
  e->choice.n = 0;
  return FSCHED_OK;
}

/* The first queue of a gang that takes any queues of a class, FS_NONE if it cannot start. */
static fs_status queue_of_choice(fs_engine *e, uint32_t op, uint32_t *queue) {
  fs_tick latest;
  bool all_free;
  FS_TRY(choose_queues(e, op, &all_free, &latest));
  uint32_t n;
  const uint32_t *member = fs_engine_queues_of(e, op, &n);
  *queue = FS_NONE;
  if (!all_free) {
    return keep_queues(e, op, member, n, latest);
  }
  if (waits_count(e, op) && gang_ready(e, op) > e->now) {
    return wake_at(e, op, gang_ready(e, op));
  }
  *queue = member[0];
  return FSCHED_OK;
}

/* The first queue of a loop that enters each of its queues on its own, FS_NONE if it cannot start.
 * Each queue has to be free when its part begins; those that are free before are kept until then.
 */
static fs_status queue_of_parts(fs_engine *e, uint32_t op, const fs_rolled_part *part,
                                uint32_t *queue) {
  uint32_t n;
  const uint32_t *member = fs_engine_queues_of(e, op, &n);
  fs_tick at = e->now;
  bool allowed = true;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = member[i];
    allowed = allowed && queue_allows(e, q, e->position[op], part[i].end);
    if (e->queue_busy.at[q] && e->queue_until.at[q] > part[i].begin) {
      at = fs_max(at, e->queue_until.at[q] - part[i].begin);
    }
  }
  *queue = allowed && at == e->now ? member[0] : FS_NONE;
  if (*queue != FS_NONE) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(keep_queues(e, op, &member[i], 1, at + part[i].begin));
  }
  return at > e->now ? wake_at(e, op, at) : FSCHED_OK;
}

fs_status fs_engine_queue_for(fs_engine *e, uint32_t op, uint32_t *queue) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  const fsched_graph *g = e->g;
  uint32_t gang = g->op_gang[op];
  if (e->op_running_preds[op] > 0 && fs_engine_lagged(e, op)) {
    fs_tick at = fs_engine_lag_ready(e, op);
    if (at > e->now) {
      *queue = FS_NONE;
      return wake_at(e, op, at);
    }
  } else if (e->op_running_preds[op] > 0) {
    uint32_t q = fs_engine_local_queue(e, op);
    bool free = !e->queue_busy.at[q] && queue_allows(e, q, e->position[op], g->op_time[op]);
    *queue = free ? q : FS_NONE;
    return FSCHED_OK;
  }
  if (gang == FS_NONE && waits_count(e, op)) {
    return queue_after_wait(e, op, queue);
  }
  if (gang != FS_NONE && fs_gang_open(g, gang)) {
    return queue_of_choice(e, op, queue);
  }
  if (gang != FS_NONE && waits_count(e, op) && gang_ready(e, op) > e->now) {
    *queue = FS_NONE;
    return wake_at(e, op, gang_ready(e, op));
  }
  if (gang == FS_NONE) {
    uint32_t q = fs_engine_free_queue(e, g->op_domain[op], preferred_queue(e, op));
    bool free = q != FS_NONE && queue_allows(e, q, e->position[op], g->op_time[op]);
    *queue = free ? q : FS_NONE;
    return FSCHED_OK;
  }
  const fs_rolled_part *part = fs_engine_parts(e, op);
  if (part != NULL) {
    return queue_of_parts(e, op, part, queue);
  }
  fs_tick latest = e->now;
  bool all_free = true;
  for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
    uint32_t q = g->gang_queue[i];
    all_free =
        all_free && !e->queue_busy.at[q] && queue_allows(e, q, e->position[op], g->op_time[op]);
    latest = e->queue_busy.at[q] ? fs_max(latest, e->queue_until.at[q]) : latest;
  }
  *queue = all_free ? g->gang_queue[g->gang_queue0[gang]] : FS_NONE;
  uint32_t n = g->gang_members[gang];
  return all_free ? FSCHED_OK : keep_queues(e, op, g->gang_queue + g->gang_queue0[gang], n, latest);
}
