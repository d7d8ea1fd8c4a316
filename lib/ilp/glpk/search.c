/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Branch and bound, with GLPK for the linear relaxations.  GLPK's own search knows nothing of the
 * structure of scheduling models, and proves few of them optimal.  Here
 *
 *   - every node is first propagated (rows.c), with the cut-off as one of the rows;
 *   - a branch divides a group of variables (branch.c): "starts by t, or later".  GLPK branches on
 *     "starts at t, or not at t", of which the second side says next to nothing.
 *
 * The search is depth first, from the root again and again, in turns that grow longer:
 *
 *   improve   looks for a solution better than the best one
 *   refute    looks for one near the lower bound; if there is none, the bound rises.  Windows are
 *             narrow then, so this is easier than to refute all better solutions.
 *
 * A turn that was not cut short proves that no solution is left up to its cut-off.  Turns are
 * measured in nodes, and without a limit of time a relaxation in iterations: the clock only ends
 * the whole search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branch.h"
#include "relax.h"

enum { FIRST_TURN = 8, DEEPEST = 10000, NODE_ITERATIONS = 1500, ROOT_ITERATIONS = 50000 };

/* A node that is divided.  The path from the root to the current node has one at each depth. */
typedef struct level {
  branch way;
  double bound;
  double waits; /* the bound of the side still to explore, or infinite */
  int tried;    /* number of sides */
  size_t trail; /* length of the trail to go back to */
} level;

typedef struct search_state {
  const task *t;
  glpk_rows *r;
  relaxation relax;
  double *x; /* a point that may become a solution */
  bool found, bounded;
  double best;   /* objective of the best solution */
  double most;   /* every solution's objective is at most this; may be infinite */
  double bound;  /* no solution is better */
  double cutoff; /* of this turn */
  level *path;   /* per depth */
  long nodes, turn_end;
  double said; /* the time when nodes were last reported */
  bool improving;
  bool cut_short; /* the turn was */
  bool over;      /* the limit was reached */
  bool lost;      /* the numbers were not exact enough to prove anything */
} search_state;

/* Rounds a bound up where all objectives are whole. */
static double round_up(const search_state *s, double value) {
  return s->t->integral ? ceil(value - 1e-6 * (1.0 + fabs(value))) : value;
}

static void raise_bound(search_state *s, double value) {
  value = s->found ? fmin(value, s->best) : value;
  if (isfinite(value) && (!s->bounded || value > s->bound)) {
    s->bounded = true;
    s->bound = value;
    say_nodes(s->nodes); /* a reader that ends this process at a proof knows its nodes */
    say_bound(value);
  }
}

/* The largest objective better than the best solution's; without one, the largest of any. */
static double better(const search_state *s) {
  double step = s->t->integral ? 1.0 : 1e-6 * (1.0 + fabs(s->best));
  return s->found ? s->best - step : s->most;
}

/* Is it proven that no solution is better? */
static bool proven(const search_state *s) { return s->bounded && s->bound > better(s); }

static bool is_above(double value, double limit) {
  return value > limit + 1e-7 * (1.0 + fabs(limit));
}

/* Takes the point s->x as a solution; false: it is none. */
static bool take_solution(search_state *s) {
  glpk_rows *r = s->r;
  double objective = r->constant;
  for (int j = 1; j <= r->n_cols; j++) {
    s->x[j] = r->whole[j] ? floor(s->x[j] + 0.5) : s->x[j];
    objective += r->cost[j] * s->x[j];
  }
  if (!is_solution(s->t->lp, s->x)) {
    return false;
  }
  if (!s->found || objective < s->best) {
    s->found = true;
    s->best = objective;
    s->cutoff = fmin(s->cutoff, better(s));
    say_nodes(s->nodes);
    say_incumbent(s->t->lp, objective, s->x);
  }
  return true;
}

/* ---- one node */

static bool all_fixed(const glpk_rows *r) {
  for (int j = 1; j <= r->n_cols; j++) {
    if (r->whole[j] && !is_fixed(r, j)) {
      return false;
    }
  }
  return true;
}

static bool is_whole(const glpk_rows *r, const double *x) {
  for (int j = 1; j <= r->n_cols; j++) {
    if (r->whole[j] && fabs(x[j] - floor(x[j] + 0.5)) > 1e-6) {
      return false;
    }
  }
  return true;
}

static void count_node(search_state *s) {
  double time = now();
  if (time > s->said + 0.25) {
    s->said = time;
    say_nodes(s->nodes);
  }
  s->over = (s->t->node_limit > 0 && s->nodes >= s->t->node_limit) ||
            (s->t->deadline >= 0.0 && time >= s->t->deadline);
  s->cut_short = s->cut_short || s->over || s->nodes >= s->turn_end;
  s->nodes += !s->cut_short;
}

/* Reports a bound: in a turn that improves, only this node and the unexplored sides are open. */
static void tell_bound(search_state *s, int depth, double here) {
  for (int d = 0; d < depth; d++) {
    here = fmin(here, s->path[d].waits);
  }
  if (s->improving) {
    raise_bound(s, here);
  }
}

/* Takes the point if nothing is left to decide, or if the relaxation is whole; false: neither. */
static bool take_point(search_state *s, bool solved) {
  glpk_rows *r = s->r;
  bool fixed = all_fixed(r);
  if (!fixed && !(solved && is_whole(r, s->relax.x))) {
    return false;
  }
  memcpy(s->x, solved ? s->relax.x : r->low, ((size_t)r->n_cols + 1) * sizeof *s->x);
  bool taken = take_solution(s);
  s->lost = s->lost || (fixed && !taken);
  return taken || fixed;
}

/* The iterations of the simplex method at the root; with a limit of time they need none. */
static int root_iterations(const search_state *s) {
  return s->t->deadline >= 0.0 ? INT32_MAX : ROOT_ITERATIONS;
}

/* Relaxes the node and narrows it until it is closed or there is a branch to make. */
static next settle_node(search_state *s, int depth, double *bound, branch *b) {
  glpk_rows *r = s->r;
  next n = AGAIN;
  while (n == AGAIN) {
    set_cutoff(r, s->cutoff);
    if (!propagate(r)) {
      return CLOSED;
    }
    answer a = relax(&s->relax, s->cutoff, depth == 0 ? root_iterations(s) : NODE_ITERATIONS,
                     s->t->deadline);
    bool solved = a == RELAX_SOLVED;
    if (solved) {
      *bound = fmax(*bound, round_up(s, s->relax.value));
      tell_bound(s, depth, *bound);
    }
    if (a == RELAX_NONE || is_above(*bound, s->cutoff) || take_point(s, solved)) {
      return CLOSED;
    }
    if (solved && isfinite(s->cutoff)) {
      fix_by_cost(&s->relax, r, s->cutoff);
    }
    if (!propagate(r)) {
      return CLOSED;
    }
    n = choose_branch(r, solved ? s->relax.x : NULL, b);
  }
  s->lost = s->lost || n == STUCK;
  return n;
}

/* Is the node to be divided?  Then it is added to the path. */
static bool enter_node(search_state *s, int depth, double bound) {
  count_node(s);
  branch b;
  if (s->cut_short || settle_node(s, depth, &bound, &b) != DIVIDE) {
    return false;
  }
  s->cut_short = s->over = s->over || depth == DEEPEST;
  s->path[depth] = (level){.way = b, .bound = bound, .waits = INFINITY, .trail = s->r->n_trail};
  return !s->cut_short;
}

/* Searches depth first, the nearer side first; a path may be as long as there are variables. */
static void explore(search_state *s, double bound) {
  int depth = enter_node(s, 0, bound) ? 0 : -1;
  while (depth >= 0) {
    level *l = &s->path[depth];
    undo(s->r, l->trail);
    if (l->tried == 2 || s->cut_short) {
      depth--;
      continue;
    }
    bool first = l->tried++ == 0;
    l->waits = first ? l->bound : INFINITY;
    take_side(s->r, &l->way, !first);
    if (!s->r->conflict && enter_node(s, depth + 1, l->bound)) {
      depth++;
    }
  }
}

/* ---- turns */

/* Looks for solutions up to the cut-off.  If the turn is complete, the bound rises beyond it. */
static void turn(search_state *s, double cutoff, long length) {
  glpk_rows *r = s->r;
  s->cutoff = cutoff;
  s->cut_short = false;
  s->turn_end = s->nodes + length;
  size_t trail = r->n_trail;
  set_cutoff(r, cutoff);
  if (propagate(r)) {
    make_relaxation(&s->relax, r);
    explore(s, s->bounded ? s->bound : -INFINITY);
    free_relaxation(&s->relax);
  }
  undo(r, trail);
  if (!s->cut_short && !s->lost) {
    raise_bound(s, s->t->integral             ? s->cutoff + 1.0
                   : s->found && s->improving ? s->best
                                              : s->cutoff);
  }
}

static void improve(search_state *s, long length) {
  s->improving = true;
  turn(s, better(s), length);
  s->improving = false;
}

/* Refutes makespans up to a tenth of the way from the bound to the best solution. */
static void refute(search_state *s, long length) {
  do {
    double step = floor((better(s) + 1.0 - s->bound) / 10.0);
    turn(s, s->bound + step, length);
  } while (!s->cut_short && !s->lost && !proven(s));
}

static bool can_refute(const search_state *s) {
  return s->t->integral && s->bounded && isfinite(better(s)) && !proven(s);
}

/* Relaxes the whole model; false: it has no solution. */
static bool relax_root(search_state *s) {
  if (!propagate(s->r)) {
    return false;
  }
  double least;
  row_range(s->r, 0, &least, &s->most);
  s->most += s->r->constant;
  make_relaxation(&s->relax, s->r);
  answer a = relax(&s->relax, INFINITY, root_iterations(s), s->t->deadline);
  if (a == RELAX_SOLVED) {
    say_nodes(s->nodes);
    say_bound(s->relax.value);
    s->bounded = true;
    s->bound = round_up(s, s->relax.value);
  }
  free_relaxation(&s->relax);
  return a != RELAX_NONE;
}

static verdict run_search(search_state *s) {
  if (!relax_root(s)) {
    return s->found ? LIMIT : INFEASIBLE;
  }
  for (long length = FIRST_TURN; !s->over && !proven(s); length *= 2) {
    improve(s, length);
    if (!s->cut_short) {
      return s->lost ? LIMIT : s->found ? OPTIMAL : INFEASIBLE;
    }
    if (!s->over && can_refute(s)) {
      refute(s, length);
    }
    if (s->lost) {
      return LIMIT;
    }
  }
  return !proven(s) ? LIMIT : s->found ? OPTIMAL : INFEASIBLE;
}

verdict search(const task *t) {
  glpk_rows *r = make_rows(t->lp);
  search_state s = {.t = t, .r = r, .said = now()};
  size_t n = (size_t)r->n_cols + 1;
  s.x = allocate(n, sizeof *s.x);
  s.path = allocate(DEEPEST + 1, sizeof *s.path);
  if (t->start != NULL) {
    memcpy(s.x, t->start, n * sizeof *s.x);
    (void)take_solution(&s);
  }
  verdict v = run_search(&s);
  if (v == OPTIMAL) {
    raise_bound(&s, s.best);
  }
  say_nodes(s.nodes);
  return v;
}
