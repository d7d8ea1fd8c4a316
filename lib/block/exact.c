/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of items are bits.  A set can be one phase if the items that edges inside of it connect, its
 * groups, have an eligible queue in common: nothing but the order of a queue holds inside a phase.
 * Its length is the longest queue when its groups are divided among the queues in the best way
 * (branch and bound: the longest group first, each on the eligible queues by load; queues that are
 * alike and equally loaded are tried once).
 *
 * A phase follows the items before it, a set D that is closed under predecessors:
 *
 *     best(D + T) = min over phases T of best(D) + length(T), and one sync if D is not empty
 *
 * Since a full sync waits for everything, what is before it matters by its end alone, so this loses
 * no answer. */
#include "block/exact.h"

enum { NODES = 512 };

typedef struct exact_state {
  fs_tick measure;
  uint32_t syncs;
  uint32_t phase; /* the last phase */
} exact_state;

typedef struct set_solver {
  const fs_block_problem *p;
  uint32_t n;
  uint32_t before[FS_EXACT_ITEMS];   /* direct predecessors */
  uint32_t touching[FS_EXACT_ITEMS]; /* direct predecessors and successors */
  uint64_t eligible[FS_EXACT_ITEMS]; /* queues */
  uint32_t alike[FS_EXACT_QUEUES];   /* per queue: the first one that the same items may use */
  /* the set that is divided: */
  uint32_t n_groups;
  uint32_t group[FS_EXACT_ITEMS]; /* items, the longest group first */
  fs_tick length[FS_EXACT_ITEMS];
  uint64_t queues[FS_EXACT_ITEMS];
  uint32_t at[FS_EXACT_ITEMS], best_at[FS_EXACT_ITEMS]; /* per group: its queue */
  fs_tick load[FS_EXACT_QUEUES];
  fs_tick best, bound;
  uint32_t nodes;
} set_solver;

bool fs_block_exact_can(const fs_block_problem *p) {
  return p->open && p->plain && p->n > 0 && p->n <= FS_EXACT_ITEMS &&
         p->n_queues <= FS_EXACT_QUEUES;
}

static void find_items(set_solver *x) {
  const fs_block_problem *p = x->p;
  for (uint32_t i = 0; i < x->n; i++) {
    for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
      uint32_t from = p->pred[e].from;
      x->before[i] |= 1u << from;
      x->touching[i] |= 1u << from;
      x->touching[from] |= 1u << i;
    }
    uint32_t d = p->domain[i];
    for (uint32_t k = p->domain0[d]; k < p->domain0[d + 1]; k++) {
      x->eligible[i] |= UINT64_C(1) << p->eligible[k];
    }
  }
}

static bool same_items(const set_solver *x, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < x->n; i++) {
    if ((x->eligible[i] >> a & 1) != (x->eligible[i] >> b & 1)) {
      return false;
    }
  }
  return true;
}

static void find_alike(set_solver *x) {
  for (uint32_t q = 0; q < x->p->n_queues; q++) {
    x->alike[q] = q;
    for (uint32_t r = 0; r < q; r++) {
      if (same_items(x, q, r)) {
        x->alike[q] = r;
        break;
      }
    }
  }
}

/* --- the length of a set --- */

static uint32_t group_of(const set_solver *x, uint32_t set, uint32_t item) {
  uint32_t group = 1u << item;
  for (uint32_t grown = group; grown != 0;) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < x->n; i++) {
      next |= (grown >> i & 1) != 0 ? x->touching[i] & set : 0;
    }
    grown = next & ~group;
    group |= grown;
  }
  return group;
}

/* Puts a group behind those that are as long. */
static void put_group(set_solver *x, uint32_t group) {
  fs_tick length = 0;
  uint64_t queues = UINT64_MAX;
  for (uint32_t i = 0; i < x->n; i++) {
    if ((group >> i & 1) != 0) {
      length += x->p->time[i];
      queues &= x->eligible[i];
    }
  }
  uint32_t at = x->n_groups++;
  for (; at > 0 && x->length[at - 1] < length; at--) {
    x->group[at] = x->group[at - 1];
    x->length[at] = x->length[at - 1];
    x->queues[at] = x->queues[at - 1];
  }
  x->group[at] = group;
  x->length[at] = length;
  x->queues[at] = queues;
}

static void put_on_queue(set_solver *x, uint32_t k, fs_tick longest);

static void divide(set_solver *x, uint32_t k, fs_tick longest) {
  if (longest >= x->best || x->best == x->bound) {
    return;
  }
  if (k == x->n_groups) {
    x->best = longest;
    memcpy(x->best_at, x->at, sizeof x->at);
    return;
  }
  if (x->nodes > 0) {
    x->nodes--;
    put_on_queue(x, k, longest);
  }
}

/* The queue of least load among those of `left`; `left` loses it and its likes of equal load. */
static uint32_t take_queue(const set_solver *x, uint64_t *left) {
  uint32_t best = FS_NONE;
  for (uint32_t q = 0; q < x->p->n_queues; q++) {
    if ((*left >> q & 1) != 0 && (best == FS_NONE || x->load[q] < x->load[best])) {
      best = q;
    }
  }
  for (uint32_t q = 0; q < x->p->n_queues; q++) {
    if (x->alike[q] == x->alike[best] && x->load[q] == x->load[best]) {
      *left &= ~(UINT64_C(1) << q);
    }
  }
  return best;
}

static void put_on_queue(set_solver *x, uint32_t k, fs_tick longest) {
  for (uint64_t left = x->queues[k]; left != 0;) {
    uint32_t q = take_queue(x, &left);
    x->at[k] = q;
    x->load[q] += x->length[k];
    divide(x, k + 1, fs_max(longest, x->load[q]));
    x->load[q] -= x->length[k];
  }
}

/* The length of a set as a phase, or FS_TICK_NONE; best_at then has the queues of its groups. */
static fs_tick length_of(set_solver *x, uint32_t set) {
  fs_tick sum = 0;
  x->n_groups = 0;
  for (uint32_t i = 0, seen = 0; i < x->n; i++) {
    if ((set & ~seen) >> i & 1) {
      uint32_t group = group_of(x, set, i);
      put_group(x, group);
      seen |= group;
    }
  }
  for (uint32_t k = 0; k < x->n_groups; k++) {
    sum += x->length[k];
    if (x->queues[k] == 0) {
      return FS_TICK_NONE;
    }
  }
  memset(x->load, 0, sizeof x->load);
  x->bound = fs_max(x->length[0], fs_ceil_div(sum, x->p->n_queues));
  x->best = FS_TICK_NONE;
  x->nodes = NODES;
  divide(x, 0, 0);
  return x->best;
}

/* --- sets before sets --- */

static bool state_better(const exact_state *a, const exact_state *b) {
  return a->measure != b->measure ? a->measure < b->measure : a->syncs < b->syncs;
}

/* Tries all phases after the items in `done`. */
static void go_on(const set_solver *x, const fs_tick *length, const uint32_t *needs, uint32_t done,
                  exact_state *state) {
  uint32_t rest = ((1u << x->n) - 1) & ~done;
  for (uint32_t set = rest; set != 0; set = (set - 1) & rest) {
    if ((needs[set] & ~(done | set)) != 0 || length[set] == FS_TICK_NONE) {
      continue;
    }
    exact_state next = {state[done].measure + length[set], state[done].syncs, set};
    if (done != 0) {
      next.syncs++;
      next.measure += x->p->cost;
    }
    if (state_better(&next, &state[done | set])) {
      state[done | set] = next;
    }
  }
}

/* Reads the phases from the last one back. */
static void read_answer(set_solver *x, const exact_state *state, fs_block_answer *a) {
  for (uint32_t done = (1u << x->n) - 1; done != 0; done &= ~state[done].phase) {
    (void)length_of(x, state[done].phase);
    for (uint32_t k = 0; k < x->n_groups; k++) {
      for (uint32_t i = 0; i < x->n; i++) {
        if ((x->group[k] >> i & 1) != 0) {
          a->queue[i] = x->best_at[k];
          a->phase[i] = state[done].syncs;
        }
      }
    }
  }
}

static fs_status solve_sets(set_solver *x, fs_arena *scratch, fs_block_answer *a) {
  uint32_t n_sets = 1u << x->n;
  fs_tick *length;
  uint32_t *needs; /* per set: direct predecessors of its items */
  exact_state *state;
  FS_TRY(fs_new(scratch, &length, n_sets));
  FS_TRY(fs_new_zero(scratch, &needs, n_sets));
  FS_TRY(fs_new_none(scratch, &state, n_sets));
  state[0] = (exact_state){0};
  for (uint32_t set = 1; set < n_sets; set++) {
    for (uint32_t i = 0; i < x->n; i++) {
      needs[set] |= (set >> i & 1) != 0 ? x->before[i] : 0;
    }
    length[set] = length_of(x, set);
  }
  for (uint32_t done = 0; done < n_sets - 1; done++) {
    if (state[done].measure != FS_TICK_NONE) {
      go_on(x, length, needs, done, state);
    }
  }
  read_answer(x, state, a);
  return FSCHED_OK;
}

fs_status fs_block_exact(fsched_context *ctx, const fs_block_problem *p, fs_block_answer *a) {
  assert(fs_block_exact_can(p) && a->queue != NULL);
  FS_SCRATCH(scratch, ctx);
  set_solver x = {.p = p, .n = p->n};
  find_items(&x);
  find_alike(&x);
  return solve_sets(&x, &scratch, a);
}
