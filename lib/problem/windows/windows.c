/* SPDX-License-Identifier: Apache-2.0 */
/* Windows for a horizon: rules cut off times that no schedule has, until no rule finds any more.
 *
 *   order      successors start after the ends of their predecessors                 here
 *   pairs      of two that cannot run at once, one that cannot be first is second    here
 *   table      amounts that are certainly held, per resource and memory   windows/table.c
 *   energy     what intervals can offer                                  windows/energy.c
 *   shaving    attempts that the rules refute                             windows/shave.c
 *
 * Every rule is sound by itself, so all may be left out when the work, which is counted in steps
 * and not in seconds, is more than was granted.
 *
 * Destructive bounds (Klein and Scholl 1999): every makespan is above a horizon that is refuted. */
#include "problem/windows/private.h"

/* What must lie between an item and the end of a horizon that may be less than the problem's. */
static fs_tick tail_of(const fs_problem *p, uint32_t i, fs_tick horizon) {
  fs_tick less = p->horizon - fs_min(horizon, p->horizon);
  if (p->fixed == NULL || p->path == NULL) {
    return p->tail[i];
  }
  return fs_max(p->path[i], p->tail[i] - fs_min(less, p->tail[i]));
}

/* Finds the windows of a horizon from longest paths; false: the horizon is refuted. */
static bool start_windows(fs_windows *w, fs_tick horizon) {
  const fs_problem *p = w->p;
  w->horizon = horizon;
  w->failed = false;
  for (uint32_t i = 0; i < w->n; i++) {
    bool fixed = p->fixed != NULL && p->fixed[i] != FS_TICK_NONE;
    fs_tick tail = tail_of(p, i, horizon);
    w->est[i] = p->head[i];
    if (tail > horizon || p->head[i] + p->time[i] > horizon - tail) {
      return false;
    }
    w->lct[i] = horizon - tail;
    if (fixed) {
      fs_windows_raise(w, i, p->fixed[i]);
      fs_windows_lower(w, i, p->fixed[i] + p->time[i]);
    }
  }
  return !w->failed;
}

static void orders(fs_windows *w) {
  const fs_problem *p = w->p;
  for (uint32_t k = 0; k < w->n && !w->failed; k++) {
    uint32_t i = p->topo[k];
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1] && !w->failed; e++) {
      fs_windows_raise(w, p->succ[e], fs_earliest_end(w, i));
    }
  }
  for (uint32_t k = w->n; k-- > 0 && !w->failed;) {
    uint32_t i = p->topo[k];
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1] && !w->failed; e++) {
      fs_windows_lower(w, p->pred[e], fs_latest_start(w, i));
    }
  }
  w->steps += w->n + p->n_edges;
}

/* Where a cannot come before b, b ends before a starts. */
static void pairs(fs_windows *w) {
  for (size_t k = 0; k < w->pair.n && !w->failed; k += 2) {
    uint32_t a = w->pair.at[k], b = w->pair.at[k + 1];
    for (int side = 0; side < 2 && !w->failed; side++) {
      if (fs_earliest_end(w, a) > fs_latest_start(w, b)) {
        fs_windows_raise(w, a, fs_earliest_end(w, b));
        if (!w->failed) {
          fs_windows_lower(w, b, fs_latest_start(w, a));
        }
      }
      uint32_t swap = a;
      a = b;
      b = swap;
    }
  }
  w->steps += w->pair.n;
}

bool fs_windows_propagate(fs_windows *w, bool strong) {
  bool again = true;
  while (again && !w->failed) {
    w->changed = false;
    orders(w);
    if (!w->failed) {
      pairs(w);
    }
    again = w->changed;
    for (size_t k = 0; k < w->resource.n && !w->failed && !again; k++) {
      if (!w->resource.at[k].clique) {
        fs_windows_table(w, &w->resource.at[k]);
        again = w->changed;
      }
    }
    for (size_t k = 0; k < w->resource.n && strong && !w->failed && !again; k++) {
      fs_windows_energy(w, &w->resource.at[k]);
      again = w->changed;
    }
    if (fs_windows_tired(w)) {
      break;
    }
  }
  return !w->failed;
}

static bool refute(fs_windows *w, fs_tick horizon, uint64_t steps) {
  bool few = w->n <= fs_limits_of(w->p->ctx)->shaved;
  w->steps = 0;
  w->limit = steps;
  if (!start_windows(w, horizon) || !fs_windows_propagate(w, few)) {
    return true;
  }
  return few && !fs_windows_shave(w);
}

static uint64_t worth(const fs_problem *p) {
  return p->steps != 0 ? p->steps : fs_limits_of(p->ctx)->horizon_steps;
}

fs_status fs_problem_tighten(fs_problem *p, fs_decision *possible) {
  assert(p->topo != NULL || p->n_items == 0);
  fs_windows w;
  fs_status status = fs_windows_init(&w, p, false);
  *possible = fs_not_decided();
  if (status == FSCHED_OK) {
    *possible = refute(&w, p->horizon, worth(p)) ? fs_decided_by(false) : fs_not_decided();
    for (uint32_t i = 0; i < p->n_items && possible->is != FS_NO; i++) {
      p->head[i] = w.est[i];
      p->tail[i] = p->horizon - w.lct[i];
    }
  }
  fs_windows_release(&w);
  return status;
}

fs_status fs_problem_destructive_bound(fs_problem *p, fs_tick *bound) {
  assert(p->lower_bound <= p->horizon);
  fs_windows w;
  fs_status status = fs_windows_init(&w, p, p->least && !p->exact);
  fs_tick low = p->lower_bound, high = p->horizon;
  while (status == FSCHED_OK && low < high && !fs_problem_stopped(p)) {
    fs_tick middle = low + (high - low) / 2;
    if (refute(&w, middle, worth(p))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *bound = low;
  fs_windows_release(&w);
  return status;
}
