/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the items and residencies that a window needs.
 *
 *             from                 to
 *   ----------|---------------------|-----------------------> issue
 *   fixed     | free                | rigid: all start earlier by one shift
 *         ====|==                   |   ==
 *          ===|=======   ====       | ======    ====
 *             first                 last       reach
 *
 * Free items start in [first, last], the known starts of the items at the positions `from` and
 * `to`.  So all of them have ended by some time, the reach.  A window needs
 *   fixed items    that end after `first`
 *   rigid items    that can start before the reach when they are shifted
 *   residencies    that exist at some time between `first` and the reach, but not all the time: one
 *                  that exists all the time is in nobody's way at its addresses, and a counted
 *                  memory gets smaller by it
 *   their ends     the latest fixed and rigid ones, even if not needed otherwise; then they occupy
 *         nothing
 *   the end        of the schedule, as a rigid item without length
 * No constraint is lost with the others: rigid items keep their distances, and fixed items their
 * times.
 *
 * After the reach, fixed items meet only rigid ones.  A rigid item that begins after such a fixed
 * item must not begin before its end, which limits the shift.  So do orders, queues, amounts and
 * addresses of pairs; where the limit is 0, no window is made.
 *
 * Times before `first` do not matter: they become 0, and `first` becomes 1, so that an earlier
 * begin stays different from a begin at `first`.  Items keep their order of issue, which is a
 * topological one. */
#include <stdlib.h>

#include "problem/window_private.h"

/* ---- the frame */

/* The order is total, since no two items have the same rank. */
static int by_moment(const void *a, const void *b) {
  const fs_frame_moment *x = a, *y = b;
  if (x->start != y->start) {
    return x->start < y->start ? -1 : 1;
  }
  if (x->lasts != y->lasts) {
    return x->lasts < y->lasts ? -1 : 1;
  }
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static void order_items(fs_frame *f) {
  const fs_problem *p = f->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    f->scratch[i] = (fs_frame_moment){f->answer->start[i], p->time[i] > 0, f->rank[i], i};
  }
  if (p->n_items > 1) {
    qsort(f->scratch, p->n_items, sizeof *f->scratch, by_moment);
  }
  f->end_before[0] = 0;
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t item = f->order[k] = f->scratch[k].item;
    f->position[item] = k;
    f->end_before[k + 1] = fs_max(f->end_before[k], fs_frame_end(f, item));
  }
}

static void order_residencies(fs_frame *f) {
  const fs_problem *p = f->p;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    fs_tick begin = p->res_begin0[r] == p->res_begin0[r + 1] ? 0 : FS_TICK_NONE, end = 0;
    for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
      begin = fs_min(begin, f->answer->start[p->res_begin[k]]);
    }
    for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
      end = fs_max(end, fs_frame_end(f, p->res_end[k]));
    }
    f->begin[r] = begin;
    f->end[r] = fs_max(begin, p->res_to_end[r] ? f->answer->makespan : end);
    f->scratch[r] = (fs_frame_moment){begin, 0, r, r};
  }
  if (p->n_residencies > 1) {
    qsort(f->scratch, p->n_residencies, sizeof *f->scratch, by_moment);
  }
  f->res_end_before[0] = 0;
  for (uint32_t k = 0; k < p->n_residencies; k++) {
    uint32_t r = f->by_begin[k] = f->scratch[k].item;
    f->res_end_before[k + 1] = fs_max(f->res_end_before[k], f->end[r]);
  }
}

void fs_frame_update(fs_frame *f) {
  assert(f->p != NULL);
  f->answer->makespan = 0;
  order_items(f);
  f->answer->makespan = f->end_before[f->p->n_items];
  order_residencies(f);
}

static fs_status allocate_frame(fs_frame *f) {
  uint32_t n = f->p->n_items, m = f->p->n_residencies;
  FS_TRY(fs_new(&f->arena, &f->rank, n));
  FS_TRY(fs_new(&f->arena, &f->order, n));
  FS_TRY(fs_new(&f->arena, &f->position, n));
  FS_TRY(fs_new(&f->arena, &f->end_before, (size_t)n + 1));
  FS_TRY(fs_new(&f->arena, &f->begin, m));
  FS_TRY(fs_new(&f->arena, &f->end, m));
  FS_TRY(fs_new(&f->arena, &f->by_begin, m));
  FS_TRY(fs_new(&f->arena, &f->res_end_before, (size_t)m + 1));
  FS_TRY(fs_new_none(&f->arena, &f->local_item, n));
  FS_TRY(fs_new_none(&f->arena, &f->local_residency, m));
  return fs_new(&f->arena, &f->scratch, n > m ? n : m);
}

fs_status fs_frame_open(fs_frame *f, fs_problem *p, fs_answer *answer) {
  assert(answer->start != NULL || p->n_items == 0);
  *f = (fs_frame){.p = p, .answer = answer};
  fs_arena_init(&f->arena, p->ctx);
  FS_TRY(allocate_frame(f));
  for (uint32_t k = 0; k < p->n_items; k++) {
    f->rank[p->topo[k]] = k;
  }
  fs_frame_update(f);
  return FSCHED_OK;
}

void fs_frame_close(fs_frame *f) {
  if (f->p != NULL) {
    fs_arena_release(&f->arena);
  }
}

/* ---- what is needed */

enum { PENDING = FS_NONE - 1 };

static void limit(fs_finder *d, fs_tick latest, fs_tick earliest, uint32_t tied) {
  fs_tick room = latest > earliest ? latest - earliest : 0;
  d->tied = room == 0 ? (uint32_t)fs_min(d->tied, d->f->position[tied]) : d->tied;
  d->shift = fs_min(d->shift, room);
}

static fs_status need_item(fs_finder *d, uint32_t item) {
  if (d->f->local_item[item] != FS_NONE ||
      (!fs_finder_fixed(d, item) && !fs_finder_rigid(d, item))) {
    return FSCHED_OK;
  }
  d->f->local_item[item] = PENDING;
  d->large = d->large || d->before.n + d->behind.n + (d->to - d->from) >= d->most;
  return fs_vec_push(d->p->ctx, fs_finder_fixed(d, item) ? &d->before : &d->behind,
                     d->f->position[item]);
}

/* ---- windows of the free items */

static void find_earliest(fs_finder *d) {
  const fs_problem *p = d->p;
  for (uint32_t k = d->from; k < d->to; k++) {
    uint32_t i = d->f->order[k];
    fs_tick at = fs_max(d->first, p->head[i]);
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
      uint32_t before = p->pred[e];
      fs_tick start =
          fs_finder_fixed(d, before) ? d->start[before] : d->est[d->f->position[before] - d->from];
      at = fs_max(at, start + p->time[before]);
    }
    d->est[k - d->from] = at;
  }
}

static void find_latest(fs_finder *d) {
  const fs_problem *p = d->p;
  for (uint32_t k = d->to; k-- > d->from;) {
    uint32_t i = d->f->order[k];
    fs_tick end = d->f->answer->makespan - (fs_finder_last(d) ? p->tail[i] : 0);
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      uint32_t next = p->succ[e];
      bool rigid = fs_finder_rigid(d, next);
      end = fs_min(end, rigid ? d->start[next] : d->lst[d->f->position[next] - d->from]);
      if (rigid) {
        limit(d, d->start[next], d->est[k - d->from] + p->time[i], next);
      }
    }
    d->lst[k - d->from] = fs_min(end - p->time[i], fs_finder_last(d) ? FS_TICK_NONE : d->last);
    d->reach = fs_max(d->reach, d->lst[k - d->from] + p->time[i]);
  }
}

/* ---- limits of the shift */

static bool take_class(const fs_problem *p, uint32_t item, uint32_t class_id,
                       const uint32_t *choice) {
  if (!p->gang[item] && choice[item] != FS_NONE) {
    return choice[item] == class_id;
  }
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    if (p->choice[k] == class_id) {
      return true;
    }
  }
  return false;
}

/* Do the two items exclude each other, or with `any`, do they have anything in common? */
static bool conflict(const fs_finder *d, uint32_t a, uint32_t b, bool any) {
  const fs_problem *p = d->p;
  const uint32_t *choice = d->f->answer->choice;
  for (uint32_t k = p->choice0[a]; k < p->choice0[a + 1]; k++) {
    uint32_t c = p->choice[k];
    bool alone = p->gang[a] || p->gang[b] || p->class_size[c] == 1;
    if ((any || alone) && take_class(p, a, c, choice) && take_class(p, b, c, choice)) {
      return true;
    }
  }
  for (uint32_t k = p->use0[a]; k < p->use0[a + 1]; k++) {
    for (uint32_t i = p->use0[b]; i < p->use0[b + 1]; i++) {
      uint64_t room = p->amount_capacity[p->use[k]];
      bool more = any || p->use_amount[i] > room - fs_min(room, p->use_amount[k]);
      if (p->use[k] == p->use[i] && more) {
        return true;
      }
    }
  }
  return false;
}

/* The first position in [low, n) of an item that starts at or after `at`. */
static uint32_t first_start(const fs_frame *f, uint32_t low, fs_tick at) {
  uint32_t high = f->p->n_items;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->answer->start[f->order[middle]] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Limits the shift by the rigid items that a fixed item may be in the way of. */
static void limit_by_fixed(fs_finder *d, uint32_t item) {
  const fs_problem *p = d->p;
  fs_tick end = fs_frame_end(d->f, item);
  for (uint32_t e = p->succ0[item]; e < p->succ0[item + 1]; e++) {
    if (fs_finder_rigid(d, p->succ[e])) {
      limit(d, d->start[p->succ[e]], end, p->succ[e]);
    }
  }
  for (uint32_t k = first_start(d->f, d->to, end); k < p->n_items && d->shift > 0; k++) {
    uint32_t other = d->f->order[k];
    if (d->start[other] >= end + d->shift) {
      break;
    }
    if (conflict(d, item, other, end > d->reach)) {
      limit(d, d->start[other], end, other);
    }
  }
}

static fs_status find_before(fs_finder *d) {
  const fs_frame *f = d->f;
  for (uint32_t k = d->from; k-- > 0 && f->end_before[k + 1] > d->first && !d->large;) {
    if (fs_frame_end(f, f->order[k]) > d->first) {
      FS_TRY(need_item(d, f->order[k]));
      if (!fs_finder_last(d)) {
        limit_by_fixed(d, f->order[k]);
      }
    }
  }
  return FSCHED_OK;
}

static fs_status find_behind(fs_finder *d) {
  for (uint32_t k = d->to; k < d->p->n_items && !d->large; k++) {
    if (!fs_finder_near(d, d->f->order[k])) {
      break;
    }
    FS_TRY(need_item(d, d->f->order[k]));
  }
  return FSCHED_OK;
}

/* ---- residencies */

fs_extreme fs_finder_ends(const fs_finder *d, uint32_t r) {
  assert(r < d->p->n_residencies);
  const fs_problem *p = d->p;
  fs_extreme x = {FS_TICK_NONE, FS_TICK_NONE, FS_TICK_NONE};
  for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
    uint32_t item = p->res_end[k];
    fs_tick *at = fs_finder_fixed(d, item)   ? &x.fixed
                  : fs_finder_rigid(d, item) ? &x.rigid
                                             : &x.free;
    fs_tick end = fs_frame_end(d->f, item);
    *at = *at == FS_TICK_NONE ? end : fs_max(*at, end);
  }
  return x;
}

fs_extreme fs_finder_begins(const fs_finder *d, uint32_t r) {
  assert(r < d->p->n_residencies);
  const fs_problem *p = d->p;
  fs_extreme x = {FS_TICK_NONE, FS_TICK_NONE, FS_TICK_NONE};
  for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
    uint32_t item = p->res_begin[k];
    fs_tick *at = fs_finder_fixed(d, item)   ? &x.fixed
                  : fs_finder_rigid(d, item) ? &x.rigid
                                             : &x.free;
    *at = fs_min(*at, d->start[item]);
  }
  return x;
}

/* Does residency r certainly still exist at the reach? */
static bool outlasts(const fs_finder *d, uint32_t r, const fs_extreme *end) {
  return (d->p->res_to_end[r] &&
          (fs_finder_last(d) || d->f->answer->makespan - d->shift >= d->reach)) ||
         (end->fixed != FS_TICK_NONE && end->fixed >= d->reach) ||
         (end->rigid != FS_TICK_NONE && end->rigid >= d->reach + d->shift);
}

static bool overlap(const fs_finder *d, uint32_t a, uint32_t b) {
  const fs_problem *p = d->p;
  const uint64_t *address = d->f->answer->address;
  return p->res_memory[a] == p->res_memory[b] && p->res_size[b] > 0 &&
         (fs_finder_counted(d, a) ||
          (address[a] < address[b] + p->res_size[b] && address[b] < address[a] + p->res_size[a]));
}

/* The first index in by_begin of a residency that begins at or after `at`. */
static uint32_t first_begin(const fs_frame *f, fs_tick at) {
  uint32_t low = 0, high = f->p->n_residencies;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->begin[f->by_begin[middle]] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Limits the shift: no rigid residency in the way of r may begin before r's fixed end. */
static void limit_by_residency(fs_finder *d, uint32_t r, fs_tick end) {
  const fs_frame *f = d->f;
  if (fs_finder_counted(d, r) && end <= d->reach) {
    return; /* the model's sum decides */
  }
  for (uint32_t k = first_begin(f, end); k < d->p->n_residencies && d->shift > 0; k++) {
    uint32_t other = f->by_begin[k];
    uint32_t item = d->p->res_begin_item[other];
    if (f->begin[other] >= end + d->shift) {
      break;
    }
    if (item != FS_NONE && fs_finder_rigid(d, item) && overlap(d, r, other)) {
      limit(d, f->begin[other], end, item);
    }
  }
}

/* Adds a residency, and the items that its begin and end depend on. */
static fs_status need_residency(fs_finder *d, uint32_t r, const fs_extreme *begin,
                                const fs_extreme *end) {
  const fs_problem *p = d->p;
  FS_TRY(fs_vec_push(p->ctx, &d->residency, r));
  for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
    uint32_t item = p->res_begin[k];
    if (fs_finder_fixed(d, item) ? d->start[item] == begin->fixed
                                 : begin->fixed == FS_TICK_NONE && d->start[item] == begin->rigid) {
      FS_TRY(need_item(d, item));
    }
  }
  for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
    uint32_t item = p->res_end[k];
    if (fs_frame_end(d->f, item) == (fs_finder_fixed(d, item) ? end->fixed : end->rigid)) {
      FS_TRY(need_item(d, item));
    }
  }
  return FSCHED_OK;
}

static fs_status look_at(fs_finder *d, uint32_t r) {
  fs_extreme begin = fs_finder_begins(d, r), end = fs_finder_ends(d, r);
  bool early = begin.fixed != FS_TICK_NONE || d->p->res_begin0[r] == d->p->res_begin0[r + 1];
  bool only_fixed =
      early && !d->p->res_to_end[r] && end.free == FS_TICK_NONE && end.rigid == FS_TICK_NONE;
  if (d->p->res_size[r] == 0 ||
      (d->f->end[r] <= d->first && end.free == FS_TICK_NONE && d->f->begin[r] < d->first)) {
    return FSCHED_OK;
  }
  if (only_fixed && !fs_finder_last(d)) {
    limit_by_residency(d, r, d->f->end[r]);
  }
  if (early && outlasts(d, r, &end)) {
    d->taken[d->p->res_memory[r]] += fs_finder_counted(d, r) ? d->p->res_size[r] : 0;
    return FSCHED_OK;
  }
  return need_residency(d, r, &begin, &end);
}

static fs_status find_residencies(fs_finder *d) {
  const fs_frame *f = d->f;
  uint32_t k = fs_finder_last(d) ? f->p->n_residencies : first_begin(f, d->reach + d->shift);
  while (k-- > 0 && f->res_end_before[k + 1] >= d->first && !d->large) {
    if (f->end[f->by_begin[k]] >= d->first) {
      FS_TRY(look_at(d, f->by_begin[k]));
    }
  }
  return FSCHED_OK;
}

static fs_status find_window(fs_finder *d) {
  const fs_frame *f = d->f;
  fs_arena *arena = &d->w->p.arena;
  FS_TRY(fs_new(arena, &d->est, d->to - d->from));
  FS_TRY(fs_new(arena, &d->lst, d->to - d->from));
  FS_TRY(fs_new_zero(arena, &d->taken, d->p->graph->target.n_memories));
  d->first = d->reach = d->start[f->order[d->from]];
  d->last = fs_finder_last(d) ? FS_TICK_NONE : d->start[f->order[d->to]];
  d->shift = fs_finder_last(d) ? 0 : d->last - d->first;
  d->tied = FS_NONE;
  if (!fs_finder_last(d)) {
    d->shift = fs_min(d->shift, f->answer->makespan - f->end_before[d->from]);
    d->shift = fs_min(d->shift, f->answer->makespan - fs_min(f->answer->makespan, d->bound));
    if (d->shift == 0) {
      return FSCHED_OK;
    }
  }
  find_earliest(d);
  find_latest(d);
  FS_TRY(find_before(d));
  if (fs_finder_last(d) || d->shift > 0) {
    FS_TRY(find_behind(d));
    FS_TRY(find_residencies(d));
  }
  return FSCHED_OK;
}

static void forget(fs_finder *d) {
  fs_frame *f = d->f;
  for (size_t k = 0; k < d->before.n; k++) {
    f->local_item[f->order[d->before.at[k]]] = FS_NONE;
  }
  for (size_t k = 0; k < d->behind.n; k++) {
    f->local_item[f->order[d->behind.at[k]]] = FS_NONE;
  }
  for (uint32_t k = d->from; k < d->to; k++) {
    f->local_item[f->order[k]] = FS_NONE;
  }
  for (size_t k = 0; k < d->residency.n; k++) {
    f->local_residency[d->residency.at[k]] = FS_NONE;
  }
  fs_vec_free(d->p->ctx, &d->before);
  fs_vec_free(d->p->ctx, &d->behind);
  fs_vec_free(d->p->ctx, &d->residency);
}

fs_status fs_window_make(fs_frame *f, uint32_t from, uint32_t to, fs_tick bound,
                         uint32_t most_items, fs_window *w) {
  assert(from < to && to <= f->p->n_items);
  *w = (fs_window){.p = {.ctx = f->p->ctx}, .tied = FS_NONE};
  fs_arena_init(&w->p.arena, f->p->ctx);
  fs_finder d = {.f = f,
                 .w = w,
                 .p = f->p,
                 .start = f->answer->start,
                 .from = from,
                 .to = to,
                 .most = most_items,
                 .bound = bound,
                 .tied = FS_NONE};
  fs_status status = find_window(&d);
  bool movable = d.shift > 0 || fs_finder_last(&d);
  w->tied = d.shift > 0 ? FS_NONE : d.tied;
  if (status == FSCHED_OK && movable && !d.large) {
    status = fs_finder_fill(&d);
  }
  forget(&d);
  return status;
}

void fs_window_release(fs_window *w) { fs_arena_release(&w->p.arena); }

void fs_window_take(fs_frame *f, const fs_window *w, uint32_t to, const fs_answer *found) {
  assert(w->made && found != NULL && to <= f->p->n_items);
  fs_answer *a = f->answer;
  uint32_t last = w->p.n_items - 1;
  fs_tick shift = w->rigid == NULL ? 0 : w->known.start[last] - found->start[last];
  for (uint32_t i = w->first_free; i < w->first_free + w->n_free; i++) {
    uint32_t item = w->item[i];
    a->start[item] = found->start[i] + w->base;
    if (found->choice != NULL && found->choice[i] != FS_NONE) {
      a->choice[item] = found->choice[i];
    }
  }
  for (uint32_t k = to; k < f->p->n_items; k++) {
    a->start[f->order[k]] -= shift;
  }
}
