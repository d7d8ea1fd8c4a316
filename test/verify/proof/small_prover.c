/* SPDX-License-Identifier: Apache-2.0 */
/* A prover: it decides orders and halves windows until rules refute what is left.
 *
 * At a node, windows follow from the decisions by edges and orders that are decided; each such step
 * is an axiom, and in the end some rule's axiom fails.  So the lemma of a leaf, that not all its
 * decisions hold, has these axioms as its hints.  An inner node's lemma has those of its two sides.
 */
#include <stdio.h>

#include "verify/proof/small_proof.h"

typedef struct decision {
  bool order; /* a is over when b starts; else a starts from lb up to ub */
  unsigned a, b, lb, ub;
} decision;

typedef struct prover {
  const small_proof *c;
  fs_rng *r;
  fs_text *t;
  unsigned horizon;
  decision at[64];
  unsigned n_decisions, n_axioms, n_lemmas;
  int lb[SMALL_OPS], ub[SMALL_OPS];
  bool before[SMALL_OPS][SMALL_OPS]; /* decided */
} prover;

static int time_of(const prover *p, unsigned op) { return (int)p->c->time[op]; }

static unsigned take_of(const small_proof *c, unsigned set, unsigned op) {
  unsigned queue_sets = (1u << c->n_queues) - 1, mine = c->queues[op], mask = set + 1;
  if (set < queue_sets) {
    unsigned both = mine & mask;
    return c->gang[op] ? (both & 1) + (both >> 1 & 1) + (both >> 2 & 1) : (both == mine);
  }
  return set == queue_sets && c->capacity > 0 ? c->use[op] : 1;
}

static unsigned capacity_of(const small_proof *c, unsigned set) {
  unsigned queue_sets = (1u << c->n_queues) - 1, mask = set + 1;
  if (set < queue_sets) {
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
  }
  return set == queue_sets && c->capacity > 0 ? c->capacity : c->concurrency;
}

static bool exclude(const small_proof *c, unsigned a, unsigned b) {
  for (unsigned set = 0; set < fs_small_proof_sets(c); set++) {
    unsigned x = take_of(c, set, a), y = take_of(c, set, b);
    if (a != b && x > 0 && y > 0 && x + y > capacity_of(c, set)) {
      return true;
    }
  }
  return false;
}

/* ---- text */

/* The literals that fail while the op has its window. */
static void put_window(const prover *p, unsigned op) {
  if (p->lb[op] > 0) {
    fs_text_printf(p->t, " %u<=%d", op, p->lb[op] - 1);
  }
  fs_text_printf(p->t, " %u>=%d", op, p->ub[op] + 1);
}

static void put_decisions(const prover *p) {
  for (unsigned k = 0; k < p->n_decisions; k++) {
    const decision *d = &p->at[k];
    if (d->order) {
      fs_text_printf(p->t, " %u<%u", d->b, d->a);
    } else {
      if (d->lb > 0) {
        fs_text_printf(p->t, " %u<=%u", d->a, d->lb - 1);
      }
      fs_text_printf(p->t, " %u>=%u", d->a, d->ub + 1);
    }
  }
}

static void put_leaf(prover *p) {
  fs_text_puts(p->t, "l");
  put_decisions(p);
  fs_text_puts(p->t, " :");
  for (unsigned k = 1; k <= p->n_axioms; k++) {
    fs_text_printf(p->t, " @%u", k);
  }
  fs_text_puts(p->t, "\n");
  p->n_axioms = 0;
  p->n_lemmas++;
}

/* ---- windows; each returns whether a clash was found, whose axiom is the last one */

/* b starts behind a, by an edge or a decided order. */
static bool follow(prover *p, unsigned a, unsigned b, bool order) {
  int t = time_of(p, a);
  for (int side = 0; side < 2; side++) {
    bool clash = p->lb[a] + t > p->ub[b];
    bool moves = side == 0 ? p->lb[b] < p->lb[a] + t : p->ub[a] > p->ub[b] - t;
    if (!moves && !clash) {
      continue;
    }
    fs_text_puts(p->t, order ? "o" : "p");
    if (order) {
      fs_text_printf(p->t, " %u<%u", b, a);
    }
    if (clash) {
      put_window(p, a);
      put_window(p, b);
    } else if (side == 0) {
      put_window(p, a);
      fs_text_printf(p->t, " %u>=%d", b, p->lb[a] + t);
      p->lb[b] = p->lb[a] + t;
    } else {
      put_window(p, b);
      fs_text_printf(p->t, " %u<=%d", a, p->ub[b] - t);
      p->ub[a] = p->ub[b] - t;
    }
    fs_text_puts(p->t, "\n");
    p->n_axioms++;
    if (clash) {
      return true;
    }
  }
  return false;
}

static bool follow_all(prover *p) {
  size_t n;
  do {
    n = p->t->n;
    for (unsigned a = 0; a < p->c->n; a++) {
      for (unsigned b = 0; b < p->c->n; b++) {
        if (((p->c->pred[b] >> a & 1) != 0 && follow(p, a, b, false)) ||
            (p->before[a][b] && follow(p, a, b, true))) {
          return true;
        }
      }
    }
  } while (n != p->t->n);
  return false;
}

static bool clash_by(prover *p, unsigned mask, const char *rule) {
  fs_text_puts(p->t, rule);
  for (unsigned op = 0; op < p->c->n; op++) {
    if ((mask >> op & 1) != 0) {
      put_window(p, op);
    }
  }
  fs_text_puts(p->t, "\n");
  p->n_axioms++;
  return true;
}

static bool exclusion_fails(prover *p) {
  for (unsigned a = 0; a < p->c->n; a++) {
    for (unsigned b = 0; b < a; b++) {
      if (exclude(p->c, a, b) && p->lb[a] + time_of(p, a) > p->ub[b] &&
          p->lb[b] + time_of(p, b) > p->ub[a]) {
        return clash_by(p, 1u << a | 1u << b, "x");
      }
    }
  }
  return false;
}

static bool table_fails(prover *p, unsigned set) {
  for (int at = 0; at < (int)p->horizon; at++) {
    unsigned mask = 0, used = 0;
    for (unsigned op = 0; op < p->c->n; op++) {
      if (p->ub[op] <= at && at < p->lb[op] + time_of(p, op)) {
        mask |= 1u << op;
        used += take_of(p->c, set, op);
      }
    }
    if (used > capacity_of(p->c, set)) {
      char rule[16];
      (void)snprintf(rule, sizeof rule, "t %u", set);
      return clash_by(p, mask, rule);
    }
  }
  return false;
}

/* Has the op, whose time is 0, no moment? */
static bool moment_fails(prover *p, unsigned set, unsigned op) {
  unsigned mask = 1u << op;
  for (int at = p->lb[op]; p->c->time[op] == 0 && at <= p->ub[op]; at++) {
    unsigned used = take_of(p->c, set, op);
    for (unsigned other = 0; other < p->c->n; other++) {
      if (p->ub[other] < at && at < p->lb[other] + time_of(p, other)) {
        mask |= 1u << other;
        used += take_of(p->c, set, other);
      }
    }
    if (used <= capacity_of(p->c, set)) {
      return false;
    }
  }
  char rule[32];
  (void)snprintf(rule, sizeof rule, "z %u %u", set, op);
  return p->c->time[op] == 0 && clash_by(p, mask, rule);
}

typedef struct op_group {
  int begin, end, times, energy;
  bool turns;
} op_group;

static op_group group_of(const prover *p, unsigned mask, unsigned set) {
  op_group g = {.begin = 1000, .turns = true};
  for (unsigned op = 0; op < p->c->n; op++) {
    if ((mask >> op & 1) == 0) {
      continue;
    }
    int end = p->ub[op] + time_of(p, op);
    g.begin = p->lb[op] < g.begin ? p->lb[op] : g.begin;
    g.end = end > g.end ? end : g.end;
    g.times += time_of(p, op);
    g.energy += time_of(p, op) * (int)take_of(p->c, set, op);
    for (unsigned other = 0; other < op; other++) {
      unsigned x = take_of(p->c, set, op), y = take_of(p->c, set, other);
      if ((mask >> other & 1) != 0) {
        g.turns = g.turns && x > 0 && y > 0 && x + y > capacity_of(p->c, set);
      }
    }
  }
  return g;
}

/* Has the op no time behind, or before, the others? */
static bool edge_fails(prover *p, unsigned mask, unsigned set, unsigned op) {
  op_group all = group_of(p, mask, set), others = group_of(p, mask & ~(1u << op), set);
  char rule[32];
  if (all.begin + all.times > others.end && others.begin + others.times > p->ub[op]) {
    (void)snprintf(rule, sizeof rule, "f %u %u", set, op);
    return clash_by(p, mask, rule);
  }
  if (all.end - all.times < others.begin &&
      others.end - others.times < p->lb[op] + time_of(p, op)) {
    (void)snprintf(rule, sizeof rule, "b %u %u", set, op);
    return clash_by(p, mask, rule);
  }
  return false;
}

static bool group_fails(prover *p, unsigned mask, unsigned set) {
  op_group g = group_of(p, mask, set);
  char rule[16];
  if ((mask & (mask - 1)) == 0) {
    return false;
  }
  bool edges = fs_rng_one_in(p->r, 2); /* which of the two is tried first */
  for (unsigned k = 0; k < 2 && g.turns; k++) {
    if (edges != (k == 0) && g.times > g.end - g.begin) {
      (void)snprintf(rule, sizeof rule, "s %u", set);
      return clash_by(p, mask, rule);
    }
    for (unsigned op = 0; edges == (k == 0) && op < p->c->n; op++) {
      if ((mask >> op & 1) != 0 && edge_fails(p, mask, set, op)) {
        return true;
      }
    }
  }
  if (g.energy > (int)capacity_of(p->c, set) * (g.end - g.begin)) {
    (void)snprintf(rule, sizeof rule, "e %u", set);
    return clash_by(p, mask, rule);
  }
  return false;
}

/* Tries rules in an order that varies. */
static bool rules_fail(prover *p) {
  unsigned first = fs_rng_below(p->r, 4), sets = fs_small_proof_sets(p->c);
  for (unsigned k = 0; k < 4; k++) {
    unsigned rule = (first + k) % 4;
    if (rule == 0 && exclusion_fails(p)) {
      return true;
    }
    for (unsigned set = 0; set < sets; set++) {
      if (rule == 1 && table_fails(p, set)) {
        return true;
      }
      for (unsigned op = 0; rule == 3 && op < p->c->n; op++) {
        if (moment_fails(p, set, op)) {
          return true;
        }
      }
      for (unsigned mask = 1; rule == 2 && mask < 1u << p->c->n; mask++) {
        if (group_fails(p, mask, set)) {
          return true;
        }
      }
    }
  }
  return false;
}

/* ---- the search */

/* The windows of the decisions alone. */
static void decided_windows(prover *p) {
  memset(p->before, 0, sizeof p->before);
  for (unsigned op = 0; op < p->c->n; op++) {
    p->lb[op] = 0;
    p->ub[op] = (int)p->horizon - time_of(p, op);
  }
  for (unsigned k = 0; k < p->n_decisions; k++) {
    const decision *d = &p->at[k];
    if (d->order) {
      p->before[d->a][d->b] = true;
    } else {
      p->lb[d->a] = (int)d->lb > p->lb[d->a] ? (int)d->lb : p->lb[d->a];
      p->ub[d->a] = (int)d->ub < p->ub[d->a] ? (int)d->ub : p->ub[d->a];
    }
  }
}

/* A pair that is not decided, or else a window to halve; false: there is none. */
static bool choose(prover *p, decision side[2]) {
  unsigned n = p->c->n, a = fs_rng_below(p->r, n), b = fs_rng_below(p->r, n);
  if (exclude(p->c, a, b) && !p->before[a][b] && !p->before[b][a]) {
    side[0] = (decision){.order = true, .a = a, .b = b};
    side[1] = (decision){.order = true, .a = b, .b = a};
    return true;
  }
  for (unsigned k = 0; k < n; k++) {
    unsigned op = (a + k) % n;
    if (p->lb[op] < p->ub[op]) {
      unsigned lb = (unsigned)p->lb[op], ub = (unsigned)p->ub[op];
      unsigned middle = lb + fs_rng_below(p->r, ub - lb);
      side[0] = (decision){.a = op, .lb = 0, .ub = middle};
      side[1] = (decision){.a = op, .lb = middle + 1, .ub = p->horizon};
      return true;
    }
  }
  return false;
}

/* Refutes the decisions; *lemma is the number of the lemma that says so. */
static bool refute(prover *p, unsigned *lemma) {
  decision side[2];
  unsigned part[2];
  size_t n = p->t->n;
  decided_windows(p);
  if (follow_all(p) || rules_fail(p)) {
    put_leaf(p);
    *lemma = p->n_lemmas;
    return true;
  }
  p->t->n = n; /* axioms that led to no clash */
  p->n_axioms = 0;
  if (p->n_decisions == sizeof p->at / sizeof *p->at || !choose(p, side)) {
    return false;
  }
  for (unsigned k = 0; k < 2; k++) {
    p->at[p->n_decisions++] = side[k];
    bool refuted = refute(p, &part[k]);
    p->n_decisions--;
    if (!refuted) {
      return false;
    }
  }
  fs_text_puts(p->t, "l");
  put_decisions(p);
  fs_text_printf(p->t, " : %u %u\n", part[0], part[1]);
  if (p->n_decisions > 0) {
    fs_text_printf(p->t, "d %u %u\n", part[0], part[1]);
  }
  *lemma = ++p->n_lemmas;
  return true;
}

bool fs_small_proof_refute(const small_proof *c, fs_rng *r, unsigned horizon, fs_text *t) {
  prover p = {.c = c, .r = r, .t = t, .horizon = horizon};
  unsigned lemma;
  for (unsigned op = 0; op < c->n; op++) {
    if (c->time[op] > horizon) {
      fs_text_printf(t, "l %u>=0 :\nl : 1\n", op);
      return true;
    }
  }
  return refute(&p, &lemma);
}
