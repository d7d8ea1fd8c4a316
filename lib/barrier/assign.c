/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers for commands.  Each item that some command waits for owns as many barriers as its slots
 * need.  Then
 *
 *   1. waits that others imply are dropped, and items share barriers where no order is added
 *      (links.c, share.c);
 *   2. when the least number of physical barriers that needs no new order fits the bound, that
 *      chain cover is the answer and nothing gets slower (cover.c).  It is not asked for when more
 *      barriers than the bound are live at once in the plan, as no two of these are ordered;
 *   3. else the machine is simulated within the bound, by several policies, and orders are added
 *      where it would get stuck or late (fit.c).  The least makespan wins, then the fewest orders.
 *
 * The published construction (published.c) bounds the ops that run at once.  But a barrier lives on
 * when its producer is over, ops that no command waits for need none, and an edge from one owner of
 * a barrier to the next makes a task wait for the barrier that it updates; so its bound limits
 * something else, and its machine may stand still. */
#include "barrier/barrier.h"

#include "barrier/cover.h"
#include "barrier/fit.h"
#include "base/group.h"
#include "base/radix.h"

/* A run costs about the same per command.  WORK is the number of commands in all runs of the
 * machine together, TRY_WORK that in all tries of a smaller bound; there are two of each at
 * least. */
enum { WORK = 120000, RUNS_MOST = 64, TRY_WORK = 500000 };

typedef struct assigner {
  fsched_context *ctx;
  fs_arena *result;
  fs_arena *scratch;
  fs_barrier_problem p; /* the caller's problem, its bound cut to the largest useful one */
  fs_order o;
  fs_links l;
  fs_barrier_draft draft;
  fs_tick *start, *latest;
  fs_barriers *out;
} assigner;

/* --- sharing alone --- */

static fs_status shared_waits(assigner *a) {
  const fs_links *l = &a->l;
  fs_barrier_draft *d = &a->draft;
  size_t n = 0;
  for (uint32_t e = 0; e < l->n; e++) {
    n += l->need[l->pred[e]];
  }
  uint32_t *seen;
  FS_TRY(fs_new_none(a->scratch, &seen, d->n));
  FS_TRY(fs_new(a->scratch, &d->wait0, (size_t)a->p.n_commands + 1));
  FS_TRY(fs_new(a->scratch, &d->wait, n));
  uint32_t k = 0;
  for (uint32_t c = 0; c < a->p.n_commands; c++) {
    d->wait0[c] = k;
    for (uint32_t e = l->pred0[c]; e < l->pred0[c + 1]; e++) {
      for (uint32_t j = d->bar0[l->pred[e]]; j < d->bar0[l->pred[e] + 1]; j++) {
        if (seen[d->bar[j]] != c) {
          seen[d->bar[j]] = c;
          d->wait[k++] = d->bar[j];
        }
      }
    }
  }
  d->wait0[a->p.n_commands] = k;
  return FSCHED_OK;
}

/* The draft in which groups share and every barrier is its own physical one. */
static fs_status shared_draft(assigner *a) {
  fs_barrier_draft *d = &a->draft;
  uint32_t *of_group;
  size_t n_bars = 0;
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    n_bars += a->l.need[u];
  }
  if (n_bars >= FS_NONE) {
    return fs_no_memory(a->ctx, n_bars);
  }
  FS_TRY(fs_new(a->scratch, &d->bar0, (size_t)a->p.n_items + 1));
  FS_TRY(fs_new(a->scratch, &d->bar, n_bars));
  FS_TRY(fs_new_none(a->scratch, &of_group, a->l.n_groups));
  FS_TRY(fs_new(a->scratch, &d->seq, a->p.n_items));
  memcpy(d->seq, a->p.order, a->p.n_items * sizeof *d->seq);
  uint32_t k = 0;
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    d->bar0[u] = k;
    for (uint32_t j = 1; j < a->l.need[u]; j++) {
      d->bar[k++] = d->n++;
    }
    if (a->l.need[u] > 0) {
      uint32_t *last = &of_group[a->l.group[u]];
      *last = *last == FS_NONE ? d->n++ : *last;
      d->bar[k++] = *last;
    }
  }
  d->bar0[a->p.n_items] = k;
  FS_TRY(fs_new(a->scratch, &d->id, d->n));
  FS_TRY(fs_new_none(a->scratch, &d->before, d->n));
  for (uint32_t b = 0; b < d->n; b++) {
    d->id[b] = b;
  }
  return shared_waits(a);
}

/* --- needless updates by members of gangs --- */

/* The queue of a waiting command may tell that one member of a gang is over, so that the others'
 * updates are enough.  An item with a single command has no such updates: its links would have been
 * dropped. */
static bool any_gang(const assigner *a) {
  bool any = false;
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    any = any || (a->l.need[u] > 0 && a->p.item_command0[u + 1] - a->p.item_command0[u] > 1);
  }
  return any;
}

/* Takes the barriers that no command waits for any more out of the draft. */
static fs_status drop_unwaited(assigner *a) {
  fs_barrier_draft *d = &a->draft;
  uint32_t *number, n = 0, k = 0, from = 0;
  FS_TRY(fs_new_none(a->scratch, &number, d->n));
  for (uint32_t w = 0; w < d->wait0[a->p.n_commands]; w++) {
    number[d->wait[w]] = 0;
  }
  for (uint32_t b = 0; b < d->n; b++) {
    number[b] = number[b] == FS_NONE ? FS_NONE : n++;
  }
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    uint32_t end = d->bar0[u + 1];
    d->bar0[u] = k;
    for (; from < end; from++) {
      d->bar[k] = number[d->bar[from]];
      k += d->bar[k] != FS_NONE;
    }
  }
  d->bar0[a->p.n_items] = k;
  for (uint32_t w = 0; w < d->wait0[a->p.n_commands]; w++) {
    d->wait[w] = number[d->wait[w]];
  }
  d->n = n;
  return FSCHED_OK;
}

static fs_status silence_members(assigner *a) {
  if (!any_gang(a)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_barrier_draft_reduce(a->ctx, a->scratch, &a->o, &a->draft));
  return drop_unwaited(a);
}

/* --- the most barriers that are live at once in the plan --- */

static fs_status most_live(assigner *a, uint32_t *most) {
  const fs_barrier_draft *d = &a->draft;
  fs_tick *from;
  fs_tick *till;
  uint64_t *edge;
  uint64_t *spare;
  *most = 0;
  FS_TRY(fs_new_none(a->scratch, &from, d->n));
  FS_TRY(fs_new_zero(a->scratch, &till, d->n));
  FS_TRY(fs_new(a->scratch, &edge, (size_t)d->n * 2));
  FS_TRY(fs_new(a->scratch, &spare, (size_t)d->n * 2));
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
      from[d->bar[k]] = fs_min(from[d->bar[k]], a->p.start[u]);
    }
  }
  for (uint32_t c = 0; c < a->p.n_commands; c++) {
    for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
      till[d->wait[k]] = fs_max(till[d->wait[k]], a->p.start[a->p.command_item[c]]);
    }
  }
  size_t n = 0;
  for (uint32_t b = 0; b < d->n; b++) {
    if (from[b] < till[b] && till[b] < UINT64_MAX / 2) { /* ends come first where times are equal */
      edge[n++] = from[b] * 2 + 1;
      edge[n++] = till[b] * 2;
    }
  }
  fs_radix_sort(edge, spare, n);
  uint32_t live = 0;
  for (size_t i = 0; i < n; i++) {
    live += edge[i] % 2 == 1 ? 1 : UINT32_MAX;
    *most = (uint32_t)fs_max(*most, live);
  }
  return FSCHED_OK;
}

/* --- the chain cover --- */

/* Commands that c waits for; their number alone when `pred` is NULL. */
static uint32_t cover_preds(const assigner *a, uint32_t c, uint32_t *pred) {
  assert(c < a->p.n_commands);
  const fs_barrier_problem *p = &a->p;
  uint32_t n = 0;
  for (uint32_t e = a->l.pred0[c]; e < a->l.pred0[c + 1]; e++) {
    uint32_t w = a->l.pred[e];
    for (uint32_t i = p->item_command0[w]; i < p->item_command0[w + 1]; i++, n++) {
      if (pred != NULL) {
        pred[n] = p->item_command[i];
      }
    }
  }
  return n;
}

static fs_status cover_orders(assigner *a, fs_cover_problem *cp) {
  const fs_barrier_problem *p = &a->p;
  uint32_t *pred0;
  uint32_t *pred;
  uint32_t *order;
  bool *slow;
  FS_TRY(fs_new(a->scratch, &pred0, (size_t)p->n_commands + 1));
  size_t n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    n += cover_preds(a, c, NULL);
  }
  FS_TRY(fs_new(a->scratch, &pred, n));
  FS_TRY(fs_new(a->scratch, &order, p->n_commands));
  n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    pred0[c] = (uint32_t)n;
    n += cover_preds(a, c, pred + n);
  }
  pred0[p->n_commands] = (uint32_t)n;
  n = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = p->order[i];
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      order[n++] = p->item_command[k];
    }
  }
  FS_TRY(fs_new(a->scratch, &slow, p->n_commands));
  for (uint32_t c = 0; c < p->n_commands; c++) {
    slow[c] = fs_barrier_slow(p, p->command_item[c]);
  }
  cp->slow = p->busy == NULL ? NULL : slow;
  cp->order = order;
  cp->pred0 = pred0;
  cp->pred = pred;
  return FSCHED_OK;
}

/* Turns pairs (barrier << 32 | command) into CSR. */
static fs_status cover_side(assigner *a, uint64_t *pair, size_t n, const uint32_t **csr0,
                            const uint32_t **csr) {
  uint32_t *start;
  uint32_t *at;
  uint64_t *spare;
  FS_TRY(fs_new_zero(a->scratch, &start, (size_t)a->draft.n + 1));
  FS_TRY(fs_new(a->scratch, &at, n));
  FS_TRY(fs_new(a->scratch, &spare, n));
  if (n > 1) {
    fs_radix_sort(pair, spare, n);
  }
  for (size_t i = 0; i < n; i++) {
    start[(pair[i] >> 32) + 1]++;
    at[i] = (uint32_t)pair[i];
  }
  fs_group_starts(start, a->draft.n);
  *csr0 = start;
  *csr = at;
  return FSCHED_OK;
}

/* Lists pairs (barrier << 32 | command); a member updates the barriers where it takes slots. */
static size_t cover_producers(const assigner *a, uint32_t u, uint64_t *pair) {
  const fs_barrier_problem *p = &a->p;
  const fs_barrier_draft *d = &a->draft;
  size_t n = 0;
  for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
    for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
      bool silent = d->silent != NULL && d->silent[p->item_command[i]];
      if (!silent && fs_barrier_draft_slots(p, u, i - p->item_command0[u], k - d->bar0[u]) > 0) {
        pair[n++] = (uint64_t)d->bar[k] << 32 | p->item_command[i];
      }
    }
  }
  return n;
}

static fs_status cover_barriers(assigner *a, fs_cover_problem *cp) {
  const fs_barrier_problem *p = &a->p;
  const fs_barrier_draft *d = &a->draft;
  uint64_t *pair;
  size_t n = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    n += (size_t)a->l.need[u] * (p->item_command0[u + 1] - p->item_command0[u]);
  }
  FS_TRY(fs_new(a->scratch, &pair, fs_max(n, d->wait0[p->n_commands])));
  n = 0;
  for (uint32_t u = 0; u < p->n_items; u++) {
    n += cover_producers(a, u, pair + n);
  }
  FS_TRY(cover_side(a, pair, n, &cp->producer0, &cp->producer));
  n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
      pair[n++] = (uint64_t)d->wait[k] << 32 | c;
    }
  }
  return cover_side(a, pair, n, &cp->consumer0, &cp->consumer);
}

/* Assigns physical ids by the least chain cover, if it has at most `enough` chains. */
static fs_status cover(assigner *a, uint32_t enough, uint32_t *least, bool *proven) {
  fs_barrier_draft *d = &a->draft;
  *least = 0;
  *proven = true;
  if (d->n == 0) {
    return FSCHED_OK;
  }
  fs_cover_problem cp = {.n_queues = a->p.n_queues,
                         .n_commands = a->p.n_commands,
                         .n_barriers = d->n,
                         .queue_command0 = a->p.queue_command0};
  FS_TRY(cover_orders(a, &cp));
  FS_TRY(cover_barriers(a, &cp));
  uint32_t *chain;
  uint32_t *index;
  FS_TRY(fs_barrier_cover(a->ctx, a->scratch, &cp, enough, least, proven, &chain, &index));
  if (*least > enough) {
    return FSCHED_OK;
  }
  uint64_t *key;
  uint64_t *spare;
  uint32_t *last;
  FS_TRY(fs_new(a->scratch, &key, d->n));
  FS_TRY(fs_new(a->scratch, &spare, d->n));
  FS_TRY(fs_new_none(a->scratch, &last, *least));
  for (uint32_t b = 0; b < d->n; b++) {
    key[b] = (uint64_t)index[b] << 32 | b;
  }
  fs_radix_sort(key, spare, d->n);
  for (uint32_t i = 0; i < d->n; i++) {
    uint32_t b = (uint32_t)key[i];
    d->id[b] = chain[b];
    d->before[b] = last[chain[b]];
    last[chain[b]] = b;
  }
  return FSCHED_OK;
}

/* --- within a bound --- */

static fs_fit_policy nth_policy(uint32_t i) {
  static const fs_fit_policy table[] = {
      {FS_FIT_ALWAYS, false, 0, false, 0}, {FS_FIT_ALWAYS, true, 0, false, 0},
      {FS_FIT_ALWAYS, false, 1, true, 0},  {FS_FIT_ALWAYS, true, 4, false, 0},
      {FS_FIT_WORTH, false, 0, false, 0},  {FS_FIT_ALWAYS, false, 0, true, 0},
      {FS_FIT_FREE, false, 0, false, 0},   {FS_FIT_WORTH, true, 4, false, 0},
      {FS_FIT_ALWAYS, true, 4, true, 0},   {FS_FIT_ALWAYS, false, 4, false, 0},
      {FS_FIT_WORTH, false, 1, true, 0},   {FS_FIT_STUCK, false, 4, false, 0},
      {FS_FIT_FREE, false, 4, true, 0},    {FS_FIT_ALWAYS, true, 1, true, 0},
      {FS_FIT_FREE, true, 4, false, 0},    {FS_FIT_WORTH, false, 4, false, 0}};
  enum { N = sizeof table / sizeof table[0] };
  fs_fit_policy p = table[i % N];
  p.seed = i / N;
  return p;
}

/* Keeps the draft of the best of several runs, which lives in *best_arena. */
static fs_status try_policies(assigner *a, fs_arena *best_arena, fs_arena *other,
                              fs_tick *makespan) {
  uint32_t runs = (uint32_t)fs_min(RUNS_MOST, fs_max(2, WORK / fs_max(a->p.n_commands, 1)));
  fs_tick planned = 0;
  fs_tick *start;
  FS_TRY(fs_new(a->scratch, &start, a->p.n_items));
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    planned = fs_max(planned, a->p.start[u] + a->p.time[u]);
  }
  bool found = false;
  fs_fit_failure failure = {0};
  for (uint32_t i = 0; i < runs && !(found && *makespan == planned && a->draft.n_extra == 0); i++) {
    fs_barrier_draft d = {0};
    fs_tick m = 0;
    fs_arena_release(other);
    fs_status status =
        fs_fit_run(a->ctx, other, &a->o, &a->l, a->latest, nth_policy(i), &d, &failure);
    if (status == FSCHED_INFEASIBLE) {
      continue;
    }
    FS_TRY(status);
    FS_TRY(fs_barrier_draft_times(a->ctx, &a->p, &d, start, &m));
    if (!found || m < *makespan || (m == *makespan && d.n_extra < a->draft.n_extra)) {
      fs_arena t = *best_arena;
      *best_arena = *other;
      *other = t;
      a->draft = d;
      *makespan = m;
      found = true;
    }
  }
  if (!found) {
    a->out->short_item = failure.item;
    a->out->short_need = failure.need;
    a->out->short_held = failure.held;
  }
  return found ? FSCHED_OK : FSCHED_INFEASIBLE;
}

static fs_status finish_barriers(assigner *a) {
  fs_tick makespan;
  FS_TRY(fs_barrier_draft_times(a->ctx, &a->p, &a->draft, a->start, &makespan));
  return fs_barrier_draft_finish(a->ctx, a->result, &a->o, &a->draft, a->start, makespan, a->out);
}

static fs_status fit(assigner *a) {
  FS_SCRATCH(one, a->ctx);
  FS_SCRATCH(two, a->ctx);
  FS_TRY(fs_new(a->scratch, &a->latest, a->p.n_items));
  fs_fit_latest(&a->o, &a->l, a->latest);
  fs_tick makespan = 0;
  FS_TRY(try_policies(a, &one, &two, &makespan));
  fs_arena_release(&two);
  FS_TRY(fs_barrier_draft_reduce(a->ctx, a->scratch, &a->o, &a->draft));
  return finish_barriers(a);
}

/* --- the whole assignment --- */

/* Refuses an item that needs more barriers than the bound; else cuts the bound to the largest
 * useful one. */
static fs_status check_needs(assigner *a) {
  assert(a->p.bound > 0);
  uint64_t sum = 0;
  for (uint32_t u = 0; u < a->p.n_items; u++) {
    if (a->l.need[u] > a->p.bound || a->l.need[u] == FS_NONE) {
      a->out->short_item = u;
      a->out->short_need = fs_ceil_div(a->l.slots[u], a->p.n_slots);
      return FSCHED_INFEASIBLE;
    }
    sum += a->l.need[u];
  }
  if (a->p.bound != FS_NONE) {
    a->p.bound = (uint32_t)fs_min(a->p.bound, fs_max(sum, 1));
  }
  return FSCHED_OK;
}

static fs_status assign(assigner *a) {
  FS_TRY(fs_order_init(a->scratch, &a->p, &a->o));
  if (fs_order_fits(&a->o)) {
    FS_TRY(fs_order_rows(a->scratch, &a->o, 0, a->o.n_axes));
  }
  FS_TRY(fs_links_make(a->ctx, a->scratch, &a->o, &a->l));
  FS_TRY(check_needs(a));
  FS_TRY(fs_links_share(a->ctx, a->scratch, &a->o, &a->l));
  FS_TRY(shared_draft(a));
  FS_TRY(silence_members(a));
  FS_TRY(fs_new(a->scratch, &a->start, a->p.n_items));
  uint32_t live = 0;
  uint32_t least = FS_NONE;
  bool proven = false;
  if (a->p.bound != FS_NONE) {
    FS_TRY(most_live(a, &live));
  }
  if (live <= a->p.bound) {
    FS_TRY(cover(a, a->p.bound, &least, &proven));
  }
  if (live > a->p.bound || least > a->p.bound) {
    return fit(a);
  }
  FS_TRY(finish_barriers(a));
  a->out->least = least;
  a->out->least_proven = proven;
  return FSCHED_OK;
}

/* Does some item have several barriers?  Waits for these are kept even if the queue implies them
 * (reduce.c). */
static bool any_split(const assigner *a) {
  bool any = false;
  for (uint32_t u = 0; u < a->p.n_items && !any; u++) {
    any = a->l.need[u] > 1;
  }
  return any;
}

static fs_status assign_all(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                            fs_barriers *out, bool *split) {
  *out = (fs_barriers){.least = FS_NONE, .short_item = FS_NONE};
  FS_SCRATCH(scratch, ctx);
  assigner a = {.ctx = ctx, .result = arena, .p = *p, .out = out, .scratch = &scratch};
  fs_status status = assign(&a);
  *split = status == FSCHED_OK && any_split(&a);
  return status;
}

/* Does each command wait only for its predecessors in the problem?  A command that waits for some
 * barriers of an op has no order with the op, and is still held back. */
static fs_status holds_no_more(fs_arena *scratch, const fs_barrier_problem *p, const fs_barriers *b,
                               bool *fine) {
  fs_order o;
  uint32_t *updater0, *updater;
  FS_TRY(fs_order_init(scratch, p, &o));
  *fine = fs_order_fits(&o);
  if (!*fine) {
    return FSCHED_OK;
  }
  FS_TRY(fs_order_rows(scratch, &o, 0, o.n_axes));
  FS_TRY(fs_group_turn(scratch, b->update0, b->update, p->n_commands, b->n, &updater0, &updater));
  for (uint32_t c = 0; c < p->n_commands && *fine; c++) {
    const uint32_t *row = o.row + (size_t)c * o.n;
    for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
      for (uint32_t i = updater0[b->wait[k]]; i < updater0[b->wait[k] + 1]; i++) {
        *fine = *fine && row[o.axis[updater[i]]] > o.index[updater[i]];
      }
    }
  }
  return FSCHED_OK;
}

static fs_status costs_nothing(fsched_context *ctx, const fs_barrier_problem *p,
                               const fs_barriers *b, bool *fine) {
  FS_SCRATCH(scratch, ctx);
  *fine = b->n_added == 0 && b->n_gates == 0;
  return *fine ? holds_no_more(&scratch, p, b, fine) : FSCHED_OK;
}

/* Tries to solve the problem with at most `bound` barriers at no cost; if that succeeds, *out is
 * the result. */
static fs_status try_bound(fsched_context *ctx, fs_arena *arena, fs_barrier_problem p,
                           uint32_t bound, fs_barriers *out, bool *done) {
  assert(bound > 0 && bound != FS_NONE);
  fs_barriers found;
  bool split;
  p.bound = bound;
  fs_status status = assign_all(ctx, arena, &p, &found, &split);
  *done = false;
  if (status != FSCHED_OK) {
    return status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
  }
  FS_TRY(costs_nothing(ctx, &p, &found, done));
  if (*done) {
    found.least = found.used;
    found.least_proven = out->least_proven;
    *out = found;
  }
  return FSCHED_OK;
}

/* The cover is the least for the given waits.  Within a bound other waits may imply some of them,
 * or some may come earlier on their queue, and that may save barriers. */
static fs_status try_fewer(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                           fs_barriers *out) {
  uint32_t tries = (uint32_t)fs_max(2, TRY_WORK / fs_max(p->n_commands, 1));
  bool grow = true;
  for (uint32_t step = 1; step > 0 && tries > 0; tries--) {
    bool done = false;
    if (step < out->used) {
      FS_TRY(try_bound(ctx, arena, *p, out->used - step, out, &done));
    }
    grow = grow && done;
    step = done ? step << grow : step / 2;
  }
  return FSCHED_OK;
}

fs_status fs_barriers_assign(fsched_context *ctx, fs_arena *arena, const fs_barrier_problem *p,
                             fs_barriers *out) {
  assert(p->bound > 0 && p->n_slots > 0);
  bool split;
  FS_TRY(assign_all(ctx, arena, p, out, &split));
  assert(p->bound == FS_NONE || out->used <= p->bound);
  return p->bound == FS_NONE && split ? try_fewer(ctx, arena, p, out) : FSCHED_OK;
}
