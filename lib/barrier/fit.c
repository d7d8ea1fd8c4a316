/* SPDX-License-Identifier: Apache-2.0 */
/* List simulation of the machine, in which an item's planned start is a release time.  An item
 * starts when its members are at the heads of their queues, the items that it waits for are over
 * and it has barriers: free ones, or one that its group has already, or by a choice of
 * fit_choose.c.  A barrier is free again when no command waits for it any more; the next one on the
 * same physical barrier is updated by items that start later in the simulation, so the machine
 * holds them back at no cost in orders.
 *
 * The order of starts in the simulation is one in which queue order, waits, added orders and
 * hand-overs all go forward, so that nothing can deadlock, whatever the durations.  An item takes
 * its barriers before it lets go of those that it waits for, since it cannot start on a barrier
 * that only its own start frees.
 *
 * Progress: when nothing runs and no item can start, some item u with its queues and waits
 * satisfied lacks barriers.  Let y be the producer of a live barrier that started last.  Every live
 * barrier B that y does not update has producers that all started before y, so y can absorb B,
 * which frees B.  In the end y's own barriers alone are live, at most as many as the largest need,
 * so a bound of twice the largest need leaves enough for u.
 *
 * Times in the simulation are estimates once an absorption has moved a start; finish.c computes
 * them. */
#include "barrier/fit_private.h"
#include "base/group.h"
#include "base/radix.h"

enum { RETRY = 8 };

/* What happens to an item. */
enum { EVENT_MAY_START, EVENT_OVER, EVENT_FREE, EVENTS };

static uint32_t event(uint32_t item, uint32_t what) {
  assert(what < EVENTS);
  return item * EVENTS + what;
}

void fs_fit_latest(const fs_order *o, const fs_links *l, fs_tick *latest) {
  assert(l->pred0 != NULL || o->p->n_commands == 0);
  const fs_barrier_problem *p = o->p;
  fs_tick makespan = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    makespan = fs_max(makespan, p->start[u] + p->time[u]);
  }
  for (uint32_t i = p->n_items; i-- > 0;) {
    uint32_t u = p->order[i];
    fs_tick end = makespan, free = FS_TICK_NONE, busy = fs_barrier_busy(p, u);
    for (uint32_t k = l->succ0[u]; k < l->succ0[u + 1]; k++) {
      end = fs_min(end, latest[p->command_item[l->command[l->succ[k]]]]);
    }
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      uint32_t c = p->item_command[k];
      if (c + 1 < p->queue_command0[o->queue[c] + 1]) {
        free = fs_min(free, latest[p->command_item[c + 1]]);
      }
    }
    latest[u] = end > p->time[u] ? end - p->time[u] : 0;
    latest[u] = fs_min(latest[u], free > busy ? free - busy : 0);
  }
}

/* --- starting an item --- */

static fs_status new_bar(fs_fit *f, uint32_t u, uint64_t slots, uint32_t *out) {
  assert(f->n_free > 0);
  assert(u < f->p->n_items && slots <= f->p->n_slots);
  *out = (uint32_t)f->bar.n;
  uint32_t id = f->free_id[f->free_first];
  f->free_first = (f->free_first + 1) % f->p->bound;
  f->n_free--;
  fs_bar b = {.id = id,
              .before = f->id_last[id],
              .merged = *out,
              .heir = *out,
              .left = f->p->n_slots - slots,
              .heap = FS_NONE,
              .sleeper = FS_NONE,
              .last = u,
              .last_seq = f->seq[u],
              .first_seq = FS_NONE,
              .live = (uint32_t)f->live.n,
              .first_start = FS_TICK_NONE,
              .end = f->end[u],
              .pure = true};
  f->id_last[id] = *out;
  FS_TRY(fs_vec_push(f->ctx, &f->live, *out));
  return fs_vec_push(f->ctx, &f->bar, b);
}

static void join_bar(fs_fit *f, uint32_t u, uint32_t b) {
  assert(b < f->bar.n && f->bar.at[b].live != FS_NONE);
  assert(f->bar.at[b].left >= fs_links_rest(f->o, f->l, u));
  fs_bar *bar = &f->bar.at[b];
  bar->left -= fs_links_rest(f->o, f->l, u);
  bar->last = u;
  bar->last_seq = f->seq[u];
  bar->end = fs_max(bar->end, f->end[u]);
}

/* Opens the links of the commands that wait for u in its j-th barrier. */
static void open_links(fs_fit *f, uint32_t u, uint32_t j) {
  const fs_links *l = f->l;
  fs_bar *bar = &f->bar.at[f->bars[f->bar0[u] + j]];
  for (uint32_t i = l->succ0[u]; i < l->succ0[u + 1]; i++) {
    uint32_t node = f->node0[u] + (i - l->succ0[u]) * l->need[u] + j;
    uint32_t item = f->p->command_item[l->command[l->succ[i]]];
    f->node[node] = (fs_link_node){FS_NONE, FS_NONE, 1, item};
    bar->heap = fs_fit_meld(f, bar->heap, node);
    bar->open++;
  }
  bar->till = fs_max(bar->till, f->most_key[u]);
}

static fs_status take_bars(fs_fit *f, uint32_t u, uint32_t join) {
  assert(f->l->need[u] <= f->p->bound);
  uint32_t need = f->l->need[u];
  uint32_t *mine = f->bars + f->bar0[u];
  for (uint32_t j = 0; j < need; j++) {
    if (j + 1 < need) {
      FS_TRY(new_bar(f, u, f->p->n_slots, &mine[j]));
    } else if (join != FS_NONE) {
      mine[j] = join;
      join_bar(f, u, join);
    } else {
      FS_TRY(new_bar(f, u, fs_links_rest(f->o, f->l, u), &mine[j]));
      f->current[f->l->group[u]] = mine[j];
    }
    open_links(f, u, j);
  }
  return FSCHED_OK;
}

static fs_status close_link(fs_fit *f, uint32_t u, uint32_t c, uint32_t b) {
  b = fs_fit_heir(f, b);
  fs_bar *bar = &f->bar.at[b];
  FS_TRY(fs_vec_push(f->ctx, &f->waits, (uint64_t)c << 32 | b));
  if (bar->first_seq == FS_NONE) {
    bar->first_seq = f->seq[u];
    bar->first_start = f->now;
  }
  assert(bar->open > 0);
  if (--bar->open == 0) {
    fs_fit_free(f, b);
  }
  return FSCHED_OK;
}

static fs_status close_links(fs_fit *f, uint32_t u) {
  assert(f->listed[u]);
  const fs_barrier_problem *p = f->p;
  uint32_t at = f->awaited0[u];
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    for (uint32_t e = f->l->pred0[c]; e < f->l->pred0[c + 1]; e++) {
      for (uint32_t j = f->l->need[f->l->pred[e]]; j > 0; j--) {
        FS_TRY(close_link(f, u, c, f->awaited[at++]));
      }
    }
  }
  assert(at == f->awaited0[u + 1]);
  return FSCHED_OK;
}

static fs_status start_item(fs_fit *f, uint32_t u, uint32_t join) {
  assert(f->seq[u] == FS_NONE && f->n_started < f->p->n_items);
  assert(f->wanting[u] == 0 && f->p->start[u] <= f->now);
  f->seq[u] = f->n_started;
  f->sequence[f->n_started++] = u;
  f->start[u] = f->now;
  f->end[u] = f->now + f->p->time[u];
  if (f->now > f->key[u] && f->now - f->key[u] > f->drift) {
    f->drift = f->now - f->key[u];
    f->pair_valid = false;
  }
  if (f->l->need[u] > 0) {
    f->changed = true;
    f->pair_valid = false;
  }
  FS_TRY(take_bars(f, u, join));
  FS_TRY(close_links(f, u));
  if (fs_barrier_slow(f->p, u)) {
    FS_TRY(
        fs_heap_push(f->ctx, &f->events, f->now + fs_barrier_busy(f->p, u), event(u, EVENT_FREE)));
  }
  return fs_heap_push(f->ctx, &f->events, f->end[u], event(u, EVENT_OVER));
}

/* --- ready items --- */

/* Lists the barriers that u waits for: by now all of its predecessors have theirs. */
static void list_awaited(fs_fit *f, uint32_t u) {
  assert(f->wanting[u] == 0 && !f->listed[u]);
  const fs_barrier_problem *p = f->p;
  uint32_t n = f->awaited0[u];
  f->listed[u] = true;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    for (uint32_t e = f->l->pred0[c]; e < f->l->pred0[c + 1]; e++) {
      uint32_t w = f->l->pred[e];
      for (uint32_t j = f->bar0[w]; j < f->bar0[w + 1]; j++) {
        f->awaited[n++] = f->bars[j];
      }
    }
  }
  assert(n == f->awaited0[u + 1]);
}

/* The barrier that u waits for and that is over last, if that is later than now; else FS_NONE. */
static uint32_t last_awaited(fs_fit *f, uint32_t u) {
  fs_tick over = f->now;
  uint32_t last = FS_NONE;
  if (!f->listed[u]) {
    list_awaited(f, u);
  }
  for (uint32_t i = f->awaited0[u]; i < f->awaited0[u + 1]; i++) {
    uint32_t b = f->awaited[i];
    if (f->bar.at[b].heir != b) {
      b = f->awaited[i] = fs_fit_heir(f, b);
    }
    if (f->bar.at[b].end > over) {
      over = f->bar.at[b].end;
      last = b;
    }
  }
  return last;
}

/* Puts a list of items before those that sleep until b is over. */
static fs_status sleep_until(fs_fit *f, uint32_t b, uint32_t first, uint32_t last) {
  assert(first != FS_NONE && last != FS_NONE);
  fs_bar *bar = &f->bar.at[b];
  f->next_sleeper[last] = bar->sleeper;
  bar->last_sleeper = bar->sleeper == FS_NONE ? last : bar->last_sleeper;
  bar->sleeper = first;
  if (bar->waking) {
    return FSCHED_OK;
  }
  bar->waking = true;
  return fs_heap_push(f->ctx, &f->wakes, bar->end, b);
}

/* Takes the first barrier out of `wakes`.  Its sleepers wake, or sleep on if its end, or that of
 * the barrier that has taken it over, has become later. */
static fs_status next_wake(fs_fit *f) {
  fs_heap_entry e = fs_heap_pop(&f->wakes);
  fs_bar *bar = &f->bar.at[e.id];
  uint32_t first = bar->sleeper, heir = fs_fit_heir(f, e.id);
  f->now = fs_max(f->now, e.key);
  bar->waking = false;
  bar->sleeper = FS_NONE;
  if (first != FS_NONE && f->bar.at[heir].end > f->now) {
    return sleep_until(f, heir, first, bar->last_sleeper);
  }
  for (uint32_t u = first; u != FS_NONE; u = f->next_sleeper[u]) {
    FS_TRY(fs_heap_push(f->ctx, &f->ready, f->priority[u], u));
  }
  return FSCHED_OK;
}

/* The barrier that u shares at no cost, or FS_NONE. */
static uint32_t own_group_bar(const fs_fit *f, uint32_t u) {
  assert(f->l->group[u] < f->l->n_groups);
  uint32_t b = f->current[f->l->group[u]];
  return b != FS_NONE && f->bar.at[b].live != FS_NONE && f->bar.at[b].pure &&
                 f->bar.at[b].left >= fs_links_rest(f->o, f->l, u)
             ? b
             : FS_NONE;
}

static bool take_choice(const fs_fit *f, uint32_t u, const fs_fit_choice *c, bool force) {
  if (c->what == FS_FIT_NOTHING) {
    return false;
  }
  switch (f->policy.when) {
    case FS_FIT_STUCK:
      return force;
    case FS_FIT_FREE:
      return force || c->cost == 0;
    case FS_FIT_WORTH:
      return force || c->cost == 0 || c->cost < fs_fit_wait_cost(f, u);
    case FS_FIT_ALWAYS:
    case FS_FIT_WHENS:
      break;
  }
  return true;
}

/* Starts u with the last free barrier only if its barrier absorbs another one, so that one is
 * always free, and each time that a producer is over an item may start.  Without a spare barrier,
 * all live ones may have to be over before the next item can start. */
static fs_status start_sparing(fs_fit *f, uint32_t u, bool force, bool *acted) {
  fs_fit_choice c = fs_fit_choose_absorbed(f, u);
  if (!force && !(f->live.n == 0 || take_choice(f, u, &c, false))) {
    *acted = false;
    return fs_vec_push(f->ctx, &f->blocked, u);
  }
  FS_TRY(start_item(f, u, FS_NONE));
  c.a = f->bars[f->bar0[u + 1] - 1];
  /* A barrier that only u still waited for is free by now. */
  return c.what == FS_FIT_ABSORB && f->bar.at[c.b].live != FS_NONE ? fs_fit_apply(f, c) : FSCHED_OK;
}

/* Starts u, or puts it where it will be tried again. */
static fs_status look_at(fs_fit *f, uint32_t u, bool force, bool *acted) {
  *acted = true;
  for (;;) {
    uint32_t awaited = last_awaited(f, u);
    if (awaited != FS_NONE) {
      return sleep_until(f, awaited, u, u);
    }
    uint32_t need = f->l->need[u];
    uint32_t join = need == 0 ? FS_NONE : own_group_bar(f, u);
    if (f->policy.spare && need > 0 && join == FS_NONE && f->n_free == need) {
      return start_sparing(f, u, force, acted);
    }
    if (f->n_free >= need - (join != FS_NONE)) {
      return start_item(f, u, join);
    }
    fs_fit_choice c = fs_fit_choose(f, u);
    if (!take_choice(f, u, &c, force)) {
      *acted = false;
      return fs_vec_push(f->ctx, &f->blocked, u);
    }
    if (c.what == FS_FIT_JOIN) {
      f->bar.at[c.a].pure = false;
      f->n_extra += f->bar.at[c.a].open;
      return start_item(f, u, c.a);
    }
    FS_TRY(fs_fit_apply(f, c));
  }
}

/* --- the loop --- */

static fs_status may_be_ready(fs_fit *f, uint32_t u) {
  assert(f->seq[u] == FS_NONE);
  uint32_t members = f->p->item_command0[u + 1] - f->p->item_command0[u];
  if (f->heads[u] < members || f->wanting[u] > 0) {
    return FSCHED_OK;
  }
  return f->p->start[u] > f->now
             ? fs_heap_push(f->ctx, &f->events, f->p->start[u], event(u, EVENT_MAY_START))
             : fs_heap_push(f->ctx, &f->ready, f->priority[u], u);
}

/* The item's queues go on. */
static fs_status item_free(fs_fit *f, uint32_t u) {
  assert(f->seq[u] != FS_NONE);
  const fs_barrier_problem *p = f->p;
  fs_tick free = f->start[u] + fs_barrier_busy(p, u);
  if (free > f->now) { /* an absorption moved it */
    return fs_heap_push(f->ctx, &f->events, free, event(u, EVENT_FREE));
  }
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    if (c + 1 < p->queue_command0[f->o->queue[c] + 1]) {
      f->heads[p->command_item[c + 1]]++;
      FS_TRY(may_be_ready(f, p->command_item[c + 1]));
    }
  }
  return FSCHED_OK;
}

static fs_status item_over(fs_fit *f, uint32_t u) {
  assert(f->seq[u] != FS_NONE);
  const fs_barrier_problem *p = f->p;
  if (f->end[u] > f->now) { /* an absorption moved it */
    return fs_heap_push(f->ctx, &f->events, f->end[u], event(u, EVENT_OVER));
  }
  f->changed |= f->policy.spare && f->l->need[u] > 0;
  FS_TRY(fs_barrier_slow(p, u) ? FSCHED_OK : item_free(f, u));
  for (uint32_t i = f->l->succ0[u]; i < f->l->succ0[u + 1]; i++) {
    uint32_t v = p->command_item[f->l->command[f->l->succ[i]]];
    if (--f->wanting[v] == 0) {
      FS_TRY(may_be_ready(f, v));
    }
  }
  return FSCHED_OK;
}

static fs_status next_event(fs_fit *f) {
  assert(f->events.n > 0);
  fs_heap_entry e = fs_heap_pop(&f->events);
  uint32_t u = e.id / EVENTS;
  f->now = fs_max(f->now, e.key);
  switch (e.id % EVENTS) {
    case EVENT_OVER:
      return item_over(f, u);
    case EVENT_FREE:
      return item_free(f, u);
    default:
      return fs_heap_push(f->ctx, &f->ready, f->priority[u], u);
  }
}

/* Retries the blocked items: all where barriers are free, else the first ones. */
static fs_status retry_blocked(fs_fit *f) {
  f->changed = false;
  size_t n = f->n_free > 0 ? f->blocked.n : fs_min(f->blocked.n, RETRY);
  for (size_t i = 0; i < n; i++) {
    FS_TRY(fs_heap_push(f->ctx, &f->ready, f->priority[f->blocked.at[i]], f->blocked.at[i]));
  }
  if (n > 0) {
    memmove(f->blocked.at, f->blocked.at + n, (f->blocked.n - n) * sizeof *f->blocked.at);
  }
  f->blocked.n -= n;
  return FSCHED_OK;
}

/* No item runs: the first blocked item takes any choice that gives it a barrier. */
static fs_status force_one(fs_fit *f, fs_fit_failure *failure) {
  assert(f->blocked.n > 0);
  size_t first = 0;
  for (size_t i = 1; i < f->blocked.n; i++) {
    uint32_t a = f->blocked.at[i];
    uint32_t b = f->blocked.at[first];
    first =
        f->priority[a] < f->priority[b] || (f->priority[a] == f->priority[b] && a < b) ? i : first;
  }
  uint32_t u = f->blocked.at[first];
  f->blocked.at[first] = f->blocked.at[--f->blocked.n];
  bool acted;
  FS_TRY(look_at(f, u, true, &acted));
  *failure = (fs_fit_failure){u, f->l->need[u], (uint32_t)f->live.n};
  return acted ? FSCHED_OK : FSCHED_INFEASIBLE;
}

/* Goes on to the first event, or wake, that is not later than `latest`. */
static fs_status go_on(fs_fit *f, fs_tick latest, bool *gone) {
  fs_tick event = f->events.n > 0 ? f->events.at[0].key : FS_TICK_NONE;
  fs_tick wake = f->wakes.n > 0 ? f->wakes.at[0].key : FS_TICK_NONE;
  *gone = f->events.n + f->wakes.n > 0 && fs_min(event, wake) <= latest;
  if (!*gone) {
    return FSCHED_OK;
  }
  return f->events.n > 0 && event <= wake ? next_event(f) : next_wake(f);
}

static fs_status step_machine(fs_fit *f, fs_fit_failure *failure) {
  bool gone;
  FS_TRY(go_on(f, f->now, &gone));
  if (gone) {
    return FSCHED_OK;
  }
  if (f->ready.n > 0) {
    bool acted;
    return look_at(f, fs_heap_pop(&f->ready).id, false, &acted);
  }
  if (f->blocked.n > 0 && f->changed) {
    return retry_blocked(f);
  }
  FS_TRY(go_on(f, FS_TICK_NONE, &gone));
  return gone ? FSCHED_OK : force_one(f, failure);
}

static fs_status simulate(fs_fit *f, fs_fit_failure *failure) {
  const fs_barrier_problem *p = f->p;
  for (uint32_t e = 0; e < f->l->n; e++) {
    f->wanting[p->command_item[f->l->command[e]]]++;
  }
  for (uint32_t q = 0; q < p->n_queues; q++) {
    if (p->queue_command0[q] < p->queue_command0[q + 1]) {
      f->heads[p->command_item[p->queue_command0[q]]]++;
    }
  }
  for (uint32_t u = 0; u < p->n_items; u++) {
    FS_TRY(may_be_ready(f, u));
  }
  while (f->n_started < p->n_items) {
    FS_TRY(step_machine(f, failure));
  }
  assert(f->n_started == p->n_items);
  return FSCHED_OK;
}

/* --- set-up and result --- */

static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= UINT64_C(0xFF51AFD7ED558CCD);
  x ^= x >> 33;
  x *= UINT64_C(0xC4CEB9FE1A85EC53);
  return x ^ x >> 33;
}

static void init_keys(fs_fit *f, const fs_tick *latest) {
  const fs_barrier_problem *p = f->p;
  uint64_t sum = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    sum = fs_max(sum, sum + p->time[u]);
  }
  uint64_t shake = 4 * (sum / fs_max(p->n_items, 1) + 1);
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = p->order[i];
    fs_tick room = latest[u] > p->start[u] ? latest[u] - p->start[u] : 0;
    f->key[u] = p->start[u] + room / 4 * f->policy.slack;
    f->priority[u] = f->policy.critical ? latest[u] : p->start[u];
    if (f->policy.seed != 0) {
      f->priority[u] += mix(f->policy.seed + u) % shake;
    }
  }
}

static void init_links(fs_fit *f) {
  const fs_links *l = f->l;
  uint32_t n_bars = 0;
  uint32_t n_nodes = 0;
  for (uint32_t u = 0; u < f->p->n_items; u++) {
    f->bar0[u] = n_bars;
    f->node0[u] = n_nodes;
    n_bars += l->need[u];
    n_nodes += l->need[u] * (l->succ0[u + 1] - l->succ0[u]);
    f->least_key[u] = FS_TICK_NONE;
    for (uint32_t i = l->succ0[u]; i < l->succ0[u + 1]; i++) {
      fs_tick key = f->key[f->p->command_item[l->command[l->succ[i]]]];
      f->least_key[u] = fs_min(f->least_key[u], key);
      f->most_key[u] = fs_max(f->most_key[u], key);
    }
  }
  f->bar0[f->p->n_items] = n_bars;
  uint32_t n_awaited = 0;
  for (uint32_t u = 0; u < f->p->n_items; u++) {
    f->awaited0[u] = n_awaited;
    for (uint32_t k = f->p->item_command0[u]; k < f->p->item_command0[u + 1]; k++) {
      uint32_t c = f->p->item_command[k];
      for (uint32_t e = l->pred0[c]; e < l->pred0[c + 1]; e++) {
        n_awaited += l->need[l->pred[e]];
      }
    }
  }
  f->awaited0[f->p->n_items] = n_awaited;
}

static fs_status init(fs_fit *f, fs_arena *result, fs_arena *a) {
  uint32_t n = f->p->n_items;
  size_t n_bars = 0;
  size_t n_nodes = 0;
  for (uint32_t u = 0; u < n; u++) {
    n_bars += f->l->need[u];
    n_nodes += (size_t)f->l->need[u] * (f->l->succ0[u + 1] - f->l->succ0[u]);
  }
  if (n_bars >= FS_NONE || n_nodes >= FS_NONE || n >= FS_NONE / EVENTS) {
    return fs_no_memory(f->ctx, n_nodes);
  }
  FS_TRY(fs_new(a, &f->key, n));
  FS_TRY(fs_new(a, &f->priority, n));
  FS_TRY(fs_new(a, &f->start, n));
  FS_TRY(fs_new(a, &f->end, n));
  FS_TRY(fs_new(a, &f->least_key, n));
  FS_TRY(fs_new_zero(a, &f->most_key, n));
  FS_TRY(fs_new_none(a, &f->seq, n));
  FS_TRY(fs_new(result, &f->sequence, n));
  FS_TRY(fs_new_zero(a, &f->heads, n));
  FS_TRY(fs_new_zero(a, &f->wanting, n));
  FS_TRY(fs_new(a, &f->next_sleeper, n));
  FS_TRY(fs_new(result, &f->bar0, (size_t)n + 1));
  FS_TRY(fs_new(result, &f->bars, n_bars));
  FS_TRY(fs_new(a, &f->awaited0, (size_t)n + 1));
  FS_TRY(fs_new(a, &f->awaited, n_nodes));
  FS_TRY(fs_new_zero(a, &f->listed, n));
  FS_TRY(fs_new_none(a, &f->current, f->l->n_groups));
  FS_TRY(fs_new(a, &f->node, n_nodes));
  FS_TRY(fs_new(a, &f->node0, n));
  FS_TRY(fs_new(a, &f->free_id, f->p->bound));
  FS_TRY(fs_new_none(a, &f->id_last, f->p->bound));
  for (uint32_t i = 0; i < f->p->bound; i++) {
    f->free_id[i] = i;
  }
  f->n_free = f->p->bound;
  return FSCHED_OK;
}

static uint32_t merged_into(fs_fit *f, uint32_t b) {
  fs_bar *bar = f->bar.at;
  while (bar[b].merged != b) {
    bar[b].merged = bar[bar[b].merged].merged;
    b = bar[b].merged;
  }
  return b;
}

/* Fills the waits as CSR; waits that a merge has made equal are counted once. */
static fs_status draft_waits(fs_fit *f, fs_arena *arena, fs_arena *scratch, fs_barrier_draft *d) {
  uint64_t *key = f->waits.at;
  uint64_t *spare;
  FS_TRY(fs_new(scratch, &spare, f->waits.n));
  FS_TRY(fs_new_zero(arena, &d->wait0, (size_t)f->p->n_commands + 1));
  FS_TRY(fs_new(arena, &d->wait, f->waits.n));
  for (size_t i = 0; i < f->waits.n; i++) {
    key[i] = (key[i] & ~(uint64_t)UINT32_MAX) | merged_into(f, (uint32_t)key[i]);
  }
  if (f->waits.n > 1) {
    fs_radix_sort(key, spare, f->waits.n);
  }
  uint32_t n = 0;
  for (size_t i = 0; i < f->waits.n; i++) {
    if (i == 0 || key[i] != key[i - 1]) {
      d->wait[n++] = (uint32_t)key[i];
      d->wait0[(key[i] >> 32) + 1]++;
    }
  }
  fs_group_starts(d->wait0, f->p->n_commands);
  return FSCHED_OK;
}

static fs_status make_draft(fs_fit *f, fs_arena *arena, fs_arena *scratch, fs_barrier_draft *d) {
  assert(f->n_started == f->p->n_items);
  d->n = (uint32_t)f->bar.n;
  d->bar0 = f->bar0;
  d->bar = f->bars;
  d->seq = f->sequence;
  d->n_extra = f->n_extra;
  FS_TRY(fs_new(arena, &d->id, d->n));
  FS_TRY(fs_new(arena, &d->before, d->n));
  for (uint32_t b = 0; b < d->n; b++) {
    d->id[b] = f->bar.at[b].id;
    d->before[b] = f->bar.at[b].before;
  }
  for (uint32_t i = 0; i < f->bar0[f->p->n_items]; i++) {
    f->bars[i] = merged_into(f, f->bars[i]);
  }
  return draft_waits(f, arena, scratch, d);
}

fs_status fs_fit_run(fsched_context *ctx, fs_arena *arena, const fs_order *o, const fs_links *l,
                     const fs_tick *latest, fs_fit_policy policy, fs_barrier_draft *d,
                     fs_fit_failure *failure) {
  assert(o->p->bound > 0 && o->p->bound != FS_NONE && policy.when < FS_FIT_WHENS);
  fs_fit f = {.ctx = ctx, .o = o, .l = l, .p = o->p, .policy = policy};
  FS_SCRATCH(scratch, ctx);
  fs_status status = init(&f, arena, &scratch);
  if (status == FSCHED_OK) {
    init_keys(&f, latest);
    init_links(&f);
    status = simulate(&f, failure);
  }
  if (status == FSCHED_OK) {
    status = make_draft(&f, arena, &scratch, d);
  }
  fs_vec_free(ctx, &f.bar);
  fs_vec_free(ctx, &f.waits);
  fs_vec_free(ctx, &f.live);
  fs_vec_free(ctx, &f.blocked);
  fs_vec_free(ctx, &f.events);
  fs_vec_free(ctx, &f.wakes);
  fs_vec_free(ctx, &f.ready);
  return status;
}
