/* SPDX-License-Identifier: Apache-2.0 */
/* Memories as amounts.
 *
 * An op takes, while it runs, its scratch and versions that it accesses.  A version is taken by ops
 * of which no two run at once, as those that share it otherwise hold it together.  Its reads take
 * it, too: no op that accesses it runs beside them.
 *
 * Two items whose versions do not fit side by side exclude each other, though the amounts that they
 * take of their own may fit.  Sets of items of which no two run at once, each grown from such a
 * pair that no set has yet, are an amount of 1 each. */
#include "problem/relaxed/private.h"

enum { MOST_SETS = 128 };

typedef struct memory_amounts {
  fs_relaxing *s;
  const fs_problem *p;
  uint32_t memory, n, row;
  uint64_t *after;    /* per item: a bit per item behind it */
  uint64_t *excluded; /* per item: a bit per item that does not fit beside it, and is not ordered */
  uint64_t *covered;  /* the same, of pairs that sets have */
  uint32_t *queue;    /* per item: the class of its only queue, or FS_NONE */
  uint64_t *taken;    /* per item */
  uint32_t *mark;     /* per version */
} memory_amounts;

static bool bit(const memory_amounts *a, const uint64_t *rows, uint32_t i, uint32_t k) {
  return (rows[(size_t)i * a->row + k / 64] >> k % 64 & 1) != 0;
}

static void set_pair(const memory_amounts *a, uint64_t *rows, uint32_t i, uint32_t k) {
  rows[(size_t)i * a->row + k / 64] |= (uint64_t)1 << k % 64;
  rows[(size_t)k * a->row + i / 64] |= (uint64_t)1 << i % 64;
}

static bool ordered(const memory_amounts *a, uint32_t i, uint32_t k) {
  return bit(a, a->after, i, k) || bit(a, a->after, k, i);
}

static bool apart(const memory_amounts *a, uint32_t i, uint32_t k) {
  return bit(a, a->excluded, i, k) || ordered(a, i, k) ||
         (a->queue[i] != FS_NONE && a->queue[i] == a->queue[k]);
}

/* ---- orders and queues */

static void close_items(memory_amounts *a) {
  const fs_problem *p = a->p;
  for (uint32_t k = a->n; k-- > 0;) {
    uint32_t i = p->topo[k];
    uint64_t *row = a->after + (size_t)i * a->row;
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      uint32_t to = p->succ[e];
      row[to / 64] |= (uint64_t)1 << to % 64;
      for (uint32_t x = 0; x < a->row; x++) {
        row[x] |= a->after[(size_t)to * a->row + x];
      }
    }
  }
}

static void find_queues(memory_amounts *a) {
  const fs_problem *p = a->p;
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t n = p->choice0[i + 1] - p->choice0[i], c = n == 0 ? 0 : p->choice[p->choice0[i]];
    a->queue[i] = n == 1 && !p->gang[i] && p->class_size[c] == 1 ? c : FS_NONE;
  }
}

/* ---- pairs */

/* The version of a copy; FS_NONE: the item is an op. */
static uint32_t copied(const memory_amounts *a, uint32_t item) {
  uint32_t n_ops = a->s->g->n_ops;
  return item < n_ops ? FS_NONE : a->p->copy_version[item - n_ops];
}

static bool reads(const memory_amounts *a, uint32_t item) {
  return item >= a->s->g->n_ops && a->p->copy_kind[item - a->s->g->n_ops] == FS_SPILL_READ;
}

static uint64_t need_of(const memory_amounts *a, uint32_t item) {
  uint32_t v = copied(a, item);
  return v == FS_NONE                                 ? a->s->need[a->memory][item]
         : fs_version_memory(a->s->g, v) == a->memory ? fs_relaxing_size(a->s, v)
                                                      : 0;
}

/* What of the marked versions the item has, too; *reads_one: it reads one that the op accesses, or
 * the other way round. */
static uint64_t shared(const memory_amounts *a, uint32_t mark, uint32_t item) {
  const fs_relaxing *s = a->s;
  uint32_t v = copied(a, item);
  if (v != FS_NONE) {
    return a->mark[v] == mark && fs_version_memory(s->g, v) == a->memory ? fs_relaxing_size(s, v)
                                                                         : 0;
  }
  uint64_t sum = 0;
  for (uint32_t t = s->touch0[item]; t < s->touch0[item + 1]; t++) {
    bool both = a->mark[s->touch[t]] == mark && fs_version_memory(s->g, s->touch[t]) == a->memory;
    sum += both ? fs_relaxing_size(s, s->touch[t]) : 0;
  }
  return sum;
}

static bool touches(const memory_amounts *a, uint32_t item, uint32_t v) {
  const fs_relaxing *s = a->s;
  bool any = copied(a, item) == v;
  for (uint32_t t = copied(a, item) == FS_NONE ? s->touch0[item] : 0;
       copied(a, item) == FS_NONE && t < s->touch0[item + 1]; t++) {
    any = any || s->touch[t] == v;
  }
  return any;
}

/* Nothing else of a version runs beside a read of it. */
static bool disturbs(const memory_amounts *a, uint32_t i, uint32_t k) {
  return (reads(a, i) && touches(a, k, copied(a, i))) ||
         (reads(a, k) && touches(a, i, copied(a, k)));
}

static void mark_versions(memory_amounts *a, uint32_t item) {
  const fs_relaxing *s = a->s;
  if (copied(a, item) != FS_NONE) {
    a->mark[copied(a, item)] = item;
    return;
  }
  for (uint32_t t = s->touch0[item]; t < s->touch0[item + 1]; t++) {
    a->mark[s->touch[t]] = item;
  }
}

static void find_excluded(memory_amounts *a) {
  uint64_t capacity = a->s->g->target.memory[a->memory].capacity;
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t mine = need_of(a, i);
    mark_versions(a, i);
    for (uint32_t k = i + 1; k < a->n && a->p->time[i] > 0; k++) {
      uint64_t other = need_of(a, k);
      if (a->p->time[k] > 0 && !ordered(a, i, k) &&
          (disturbs(a, i, k) ||
           (other > 0 && mine > 0 && mine + other > capacity + shared(a, i, k)))) {
        set_pair(a, a->excluded, i, k);
      }
    }
  }
}

/* ---- sets */

static fs_status begin_amount(memory_amounts *a, uint64_t capacity, uint32_t *amount) {
  *amount = (uint32_t)a->s->amount_capacity.n;
  return fs_vec_push(a->s->ctx, &a->s->amount_capacity, capacity);
}

static fs_status use_amount(memory_amounts *a, uint32_t item, uint32_t amount, uint64_t much) {
  if (much == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(a->s->ctx, &a->s->use, (uint64_t)item << 32 | amount));
  return fs_vec_push(a->s->ctx, &a->s->use, much);
}

/* Grows a set from a pair: first items that exclude others of it, then those that are ordered. */
static fs_status grow_set(memory_amounts *a, uint32_t i, uint32_t k, uint32_t *set) {
  uint32_t n = 2, amount;
  set[0] = i;
  set[1] = k;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t x = 0; x < a->n; x++) {
      bool fits = a->p->time[x] > 0 && (pass == 1 || bit(a, a->excluded, x, i));
      for (uint32_t t = 0; t < n && fits; t++) {
        fits = set[t] != x && apart(a, set[t], x);
      }
      if (fits) {
        set[n++] = x;
      }
    }
  }
  FS_TRY(begin_amount(a, 1, &amount));
  for (uint32_t t = 0; t < n; t++) {
    FS_TRY(use_amount(a, set[t], amount, 1));
    for (uint32_t u = 0; u < t; u++) {
      set_pair(a, a->covered, set[t], set[u]);
    }
  }
  return FSCHED_OK;
}

static fs_status find_sets(memory_amounts *a) {
  uint32_t *set, n = 0;
  FS_TRY(fs_new(&a->s->d.scratch, &set, a->n));
  for (uint32_t i = 0; i < a->n; i++) {
    for (uint32_t k = i + 1; k < a->n && n < MOST_SETS; k++) {
      if (bit(a, a->excluded, i, k) && !bit(a, a->covered, i, k)) {
        FS_TRY(grow_set(a, i, k, set));
        n++;
      }
    }
  }
  return FSCHED_OK;
}

/* ---- what is taken */

/* May the version lie in the place of an input while the op runs that begins it? */
static bool lies_on_input(const fsched_graph *g, uint32_t op, uint32_t v) {
  bool may = false;
  for (uint32_t i = g->op_arg0[op]; i < g->op_arg0[op + 1]; i++) {
    may = may || (g->arg_version[i] == v && g->arg_open[i]);
  }
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    may = may || g->arg_version[g->inplace_out[i]] == v;
  }
  return may;
}

/* Lets ops take the version, as many as are apart: the longest ones first. */
static void take_version(memory_amounts *a, uint32_t v, uint32_t *set) {
  const fs_relaxing *s = a->s;
  uint32_t n = 0;
  for (;;) {
    uint32_t best = FS_NONE;
    for (uint32_t u = s->user0[v]; u < s->user0[v + 1]; u++) {
      uint32_t op = s->user[u];
      bool fits = a->p->time[op] > 0 && (best == FS_NONE || a->p->time[op] > a->p->time[best]);
      for (uint32_t t = 0; t < n && fits; t++) {
        fits = set[t] != op && apart(a, set[t], op);
      }
      best = fits ? op : best;
    }
    if (best == FS_NONE) {
      return;
    }
    set[n++] = best;
    a->taken[best] += lies_on_input(s->g, best, v) ? 0 : fs_relaxing_size(s, v);
  }
}

static fs_status take_all(memory_amounts *a) {
  const fsched_graph *g = a->s->g;
  uint32_t *set, amount;
  FS_TRY(fs_new(&a->s->d.scratch, &set, a->n));
  memset(a->taken, 0, a->n * sizeof *a->taken);
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (fs_version_memory(g, v) == a->memory) {
      take_version(a, v, set);
    }
  }
  FS_TRY(begin_amount(a, g->target.memory[a->memory].capacity, &amount));
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t begin = i < g->n_ops ? g->op_scratch0[i] : 0;
    for (uint32_t k = begin; i < g->n_ops && k < g->op_scratch0[i + 1]; k++) {
      a->taken[i] += g->scratch_memory[k] != a->memory
                         ? 0
                         : fs_align_up(g->scratch_size[k], g->target.memory[a->memory].align);
    }
    a->taken[i] += reads(a, i) ? need_of(a, i) : 0;
    FS_TRY(use_amount(a, i, amount, a->p->time[i] > 0 ? a->taken[i] : 0));
  }
  return FSCHED_OK;
}

static fs_status add_memory(memory_amounts *a) {
  memset(a->excluded, 0, (size_t)a->n * a->row * sizeof *a->excluded);
  memset(a->covered, 0, (size_t)a->n * a->row * sizeof *a->covered);
  for (uint32_t v = 0; v < a->s->g->n_versions; v++) {
    a->mark[v] = FS_NONE;
  }
  find_excluded(a);
  FS_TRY(find_sets(a));
  return take_all(a);
}

fs_status fs_relaxing_amounts(fs_relaxing *s) {
  assert(s->d.p->topo != NULL && s->need != NULL);
  memory_amounts a = {.s = s, .p = s->d.p, .n = s->d.p->n_items};
  fs_arena *scratch = &s->d.scratch;
  a.row = (a.n + 63) / 64;
  FS_TRY(fs_new_zero(scratch, &a.after, (size_t)a.n * a.row));
  FS_TRY(fs_new(scratch, &a.excluded, (size_t)a.n * a.row));
  FS_TRY(fs_new(scratch, &a.covered, (size_t)a.n * a.row));
  FS_TRY(fs_new(scratch, &a.queue, a.n));
  FS_TRY(fs_new(scratch, &a.taken, a.n));
  FS_TRY(fs_new(scratch, &a.mark, s->g->n_versions));
  close_items(&a);
  find_queues(&a);
  for (uint32_t m = 0; m < s->g->target.n_memories; m++) {
    if (fs_relaxing_short(s, m)) {
      a.memory = m;
      FS_TRY(add_memory(&a));
    }
  }
  return FSCHED_OK;
}
