/* SPDX-License-Identifier: Apache-2.0 */
/* Makes from a problem what the rules work on: resources, pairs of items that exclude each other,
 * and sets of items of which no two can run at once.
 *
 *   queues   for each set of classes that an item may choose from: the items that cannot leave it,
 *            and the share that gangs have in it
 *   amounts  as they are
 *   memory   an item that takes time holds its scratch and the residencies that begin with it; an
 *            in-place output may lie where the input is, and counts nothing
 *
 * Items without a length hold no memory: the residencies that they read may end where those that
 * they write begin. */
#include <stdlib.h>

#include "base/group.h"
#include "problem/windows/private.h"

static const fs_limits *limits(const fs_windows *w) { return fs_limits_of(w->p->ctx); }

static fs_status add_task(fs_windows *w, uint32_t item, uint64_t amount) {
  fs_wtask t = {item, amount};
  return amount == 0 ? FSCHED_OK : fs_vec_push(w->p->ctx, &w->task, t);
}

static fs_status close_resource(fs_windows *w, uint64_t capacity, uint32_t first, uint32_t memory,
                                bool clique) {
  fs_wresource r = {capacity, first, (uint32_t)w->task.n, memory, clique};
  uint64_t sum = 0;
  for (uint32_t k = r.first; k < r.end; k++) {
    uint64_t amount = w->task.at[k].amount;
    sum = sum > FS_UNBOUNDED - amount ? FS_UNBOUNDED : sum + amount;
  }
  if (sum <= capacity && memory == FS_NONE) { /* never in short supply */
    w->task.n = first;
    return FSCHED_OK;
  }
  return fs_vec_push(w->p->ctx, &w->resource, r);
}

/* ---- queues */

static bool same_choices(const fs_problem *p, uint32_t a, uint32_t b) {
  uint32_t n = p->choice0[a + 1] - p->choice0[a];
  if (n != p->choice0[b + 1] - p->choice0[b]) {
    return false;
  }
  return n == 0 ||
         memcmp(p->choice + p->choice0[a], p->choice + p->choice0[b], n * sizeof *p->choice) == 0;
}

/* The amount of the marked classes that an item holds in any case. */
static uint64_t share(const fs_problem *p, uint32_t item, const uint8_t *mark) {
  uint64_t inside = 0, all = p->choice0[item + 1] - p->choice0[item], sum = 0;
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    inside += mark[p->choice[k]];
    sum += mark[p->choice[k]] ? p->class_size[p->choice[k]] : 0;
  }
  return p->gang[item] ? sum : inside == all;
}

static fs_status add_queues(fs_windows *w) {
  const fs_problem *p = w->p;
  uint32_t set[fs_most_window_queue_sets], n_sets = 0; /* an item of each set */
  uint8_t *mark;
  FS_TRY(fs_new(&w->arena, &mark, p->n_classes));
  for (uint32_t i = 0; i < p->n_items && n_sets < limits(w)->window_queue_sets; i++) {
    uint32_t k = 0;
    while (k < n_sets && !same_choices(p, set[k], i)) {
      k++;
    }
    if (k == n_sets) {
      set[n_sets++] = i;
    }
  }
  for (uint32_t k = 0; k < n_sets; k++) {
    uint32_t first = (uint32_t)w->task.n, item = set[k];
    uint64_t capacity = 0;
    memset(mark, 0, p->n_classes);
    for (uint32_t c = p->choice0[item]; c < p->choice0[item + 1]; c++) {
      mark[p->choice[c]] = 1;
      capacity += p->class_size[p->choice[c]];
    }
    for (uint32_t i = 0; i < p->n_items; i++) {
      FS_TRY(add_task(w, i, share(p, i, mark)));
    }
    FS_TRY(close_resource(w, capacity, first, FS_NONE, false));
  }
  return FSCHED_OK;
}

static fs_status add_amounts(fs_windows *w) {
  const fs_problem *p = w->p;
  for (uint32_t m = 0; m < p->n_amounts; m++) {
    uint32_t first = (uint32_t)w->task.n;
    for (uint32_t i = 0; i < p->n_items; i++) {
      for (uint32_t u = p->use0[i]; u < p->use0[i + 1]; u++) {
        FS_TRY(add_task(w, i, p->use[u] == m ? p->use_amount[u] : 0));
      }
    }
    FS_TRY(close_resource(w, p->amount_capacity[m], first, FS_NONE, false));
  }
  return FSCHED_OK;
}

/* ---- memories */

static fs_status add_memory(fs_windows *w, uint32_t m, uint64_t *born) {
  const fs_problem *p = w->p;
  uint64_t sum = 0;
  memset(born, 0, p->n_items * sizeof *born);
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    sum += p->res_memory[r] == m ? p->res_size[r] : 0;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = w->born0[i]; k < w->born0[i + 1]; k++) {
      born[i] += p->res_memory[w->born[k]] == m ? p->res_size[w->born[k]] : 0;
    }
  }
  uint32_t first = (uint32_t)w->task.n;
  uint64_t capacity = p->graph->target.memory[m].capacity;
  if (sum <= capacity) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    FS_TRY(add_task(w, i, born[i]));
  }
  return close_resource(w, capacity, first, m, false);
}

/* Lists the residencies that begin with a single item, if that has a length. */
static fs_status list_born(fs_windows *w) {
  const fs_problem *p = w->p;
  uint32_t *with;
  FS_TRY(fs_new(&w->arena, &with, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t item = p->res_begin_item[r];
    with[r] = p->res_begin0[r + 1] - p->res_begin0[r] == 1 && p->time[item] > 0 ? item : FS_NONE;
  }
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    with[p->coincide_out[k]] = FS_NONE;
  }
  return fs_group(&w->arena, with, p->n_residencies, p->n_items, &w->born0, &w->born);
}

static fs_status add_memories(fs_windows *w, bool relaxed) {
  const fs_problem *p = w->p;
  const fs_target *t = &p->graph->target;
  uint64_t *born;
  FS_TRY(list_born(w));
  FS_TRY(fs_new(&w->arena, &born, p->n_items));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (fs_memory_bounded(&t->memory[m]) && !(relaxed && p->tight[m])) {
      FS_TRY(add_memory(w, m, born));
    }
  }
  return FSCHED_OK;
}

/* ---- the closure of orders */

static fs_status close_orders(fs_windows *w) {
  const fs_problem *p = w->p;
  if (w->n > limits(w)->window_closed) {
    return FSCHED_OK;
  }
  w->row = (w->n + 63) / 64;
  FS_TRY(fs_new_zero(&w->arena, &w->reach, (size_t)w->n * w->row));
  for (uint32_t k = w->n; k-- > 0;) {
    uint32_t i = p->topo[k];
    uint64_t *row = w->reach + (size_t)i * w->row;
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      uint32_t s = p->succ[e];
      row[s / 64] |= (uint64_t)1 << s % 64;
      for (uint32_t x = 0; x < w->row; x++) {
        row[x] |= w->reach[(size_t)s * w->row + x];
      }
    }
  }
  return FSCHED_OK;
}

/* ---- pairs */

typedef struct sharing {
  fs_windows *w;
  uint64_t *held;           /* per item: its amount of the present resource */
  uint64_t *exclude;        /* a bit per pair, as in `reach`, symmetric */
  uint32_t *touch0, *touch; /* CSR per item: residencies, each once */
  uint8_t *relaxed_out;     /* per residency: in-place output */
} sharing;

static void exclude(sharing *s, uint32_t a, uint32_t b) {
  s->exclude[(size_t)a * s->w->row + b / 64] |= (uint64_t)1 << b % 64;
  s->exclude[(size_t)b * s->w->row + a / 64] |= (uint64_t)1 << a % 64;
}
static bool excluded(const sharing *s, uint32_t a, uint32_t b) {
  return (s->exclude[(size_t)a * s->w->row + b / 64] >> b % 64 & 1) != 0;
}

/* Excludes the pairs that together hold more of a resource than there is. */
static void pairs_of(sharing *s, const fs_wresource *r) {
  const fs_windows *w = s->w;
  for (uint32_t i = r->first; i < r->end; i++) {
    const fs_wtask *a = &w->task.at[i];
    for (uint32_t k = i + 1; k < r->end; k++) {
      const fs_wtask *b = &w->task.at[k];
      bool lasts = w->p->time[a->item] > 0 || w->p->time[b->item] > 0;
      if (lasts && a->amount + b->amount > r->capacity) {
        exclude(s, a->item, b->item);
      }
    }
  }
}

static fs_status list_touches(sharing *s, uint32_t memory) {
  const fs_problem *p = s->w->p;
  const fsched_graph *g = p->graph;
  uint32_t *seen, n = 0;
  size_t most = (size_t)g->n_args + g->op_scratch0[g->n_ops] + 2 * (size_t)p->n_copies;
  FS_TRY(fs_new_none(&s->w->arena, &seen, p->n_residencies));
  FS_TRY(fs_new(&s->w->arena, &s->touch0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&s->w->arena, &s->touch, most));
#define TOUCH(r)                                                                  \
  do {                                                                            \
    uint32_t fs_r_ = (r);                                                         \
    if (fs_r_ != FS_NONE && p->res_memory[fs_r_] == memory && seen[fs_r_] != i) { \
      seen[fs_r_] = i;                                                            \
      s->touch[n++] = fs_r_;                                                      \
    }                                                                             \
  } while (0)
  for (uint32_t i = 0; i < p->n_items; i++) {
    s->touch0[i] = n;
    for (uint32_t a = i < g->n_ops ? g->op_arg0[i] : 0; i < g->n_ops && a < g->op_arg0[i + 1];
         a++) {
      TOUCH(p->arg_residency[a]);
    }
    for (uint32_t a = i < g->n_ops ? g->op_scratch0[i] : 0;
         i < g->n_ops && a < g->op_scratch0[i + 1]; a++) {
      TOUCH(p->scratch_residency[a]);
    }
    if (i >= g->n_ops) {
      TOUCH(p->copy_residency[i - g->n_ops]);
      TOUCH(p->copy_store[i - g->n_ops]);
    }
  }
#undef TOUCH
  s->touch0[p->n_items] = n;
  return FSCHED_OK;
}

/* Excludes the pairs whose residencies do not fit together. */
static fs_status pairs_of_memory(sharing *s, const fs_wresource *r) {
  const fs_problem *p = s->w->p;
  uint32_t *mark;
  FS_TRY(list_touches(s, r->memory));
  FS_TRY(fs_new_none(&s->w->arena, &mark, p->n_residencies));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint64_t mine = 0;
    for (uint32_t t = s->touch0[i]; t < s->touch0[i + 1]; t++) {
      mark[s->touch[t]] = i;
      mine += s->relaxed_out[s->touch[t]] ? 0 : p->res_size[s->touch[t]];
    }
    for (uint32_t k = i + 1; k < p->n_items && p->time[i] > 0; k++) {
      uint64_t sum = mine;
      for (uint32_t t = s->touch0[k]; t < s->touch0[k + 1]; t++) {
        uint32_t x = s->touch[t];
        sum += mark[x] == i || s->relaxed_out[x] ? 0 : p->res_size[x];
      }
      if (p->time[k] > 0 && sum > r->capacity) {
        exclude(s, i, k);
      }
    }
  }
  return FSCHED_OK;
}

static fs_status list_pairs(sharing *s) {
  fs_windows *w = s->w;
  for (uint32_t i = 0; i < w->n; i++) {
    for (uint32_t k = i + 1; k < w->n; k++) {
      if (excluded(s, i, k) && !fs_windows_after(w, i, k) && !fs_windows_after(w, k, i)) {
        FS_TRY(fs_vec_push(w->p->ctx, &w->pair, i));
        FS_TRY(fs_vec_push(w->p->ctx, &w->pair, k));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- sets of items of which no two can run at once, grown from each item in turn */

static bool apart(const sharing *s, uint32_t a, uint32_t b) {
  return excluded(s, a, b) || fs_windows_after(s->w, a, b) || fs_windows_after(s->w, b, a);
}

static fs_status grow_set(sharing *s, uint32_t seed, const uint32_t *order, uint32_t *covered) {
  fs_windows *w = s->w;
  uint32_t first = (uint32_t)w->task.n, fresh = 0;
  FS_TRY(add_task(w, seed, 1));
  for (int pass = 0; pass < 2; pass++) { /* excluded items first, then ordered ones */
    for (uint32_t k = 0; k < w->n; k++) {
      uint32_t x = order[k];
      bool fits = x != seed && (pass == 0) == excluded(s, seed, x) && w->p->time[x] > 0;
      for (uint32_t t = first; t < w->task.n && fits; t++) {
        fits = apart(s, w->task.at[t].item, x);
      }
      if (fits) {
        fresh += excluded(s, seed, x) && covered[x] == 0;
        FS_TRY(add_task(w, x, 1));
      }
    }
  }
  if (w->task.n - first < 3 || (fresh == 0 && covered[seed] > 0)) {
    w->task.n = first;
    return FSCHED_OK;
  }
  for (uint32_t t = first; t < w->task.n; t++) {
    covered[w->task.at[t].item]++;
  }
  return close_resource(w, 1, first, FS_NONE, true);
}

typedef struct weighed_item {
  uint64_t key;
  uint32_t item;
} weighed_item;

static int by_key(const void *a, const void *b) {
  const weighed_item *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

static fs_status find_sets(sharing *s) {
  fs_windows *w = s->w;
  weighed_item *at;
  uint32_t *order, *covered;
  size_t plain = w->resource.n;
  if (w->n > limits(w)->window_cliqued || w->n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&w->arena, &at, w->n));
  FS_TRY(fs_new(&w->arena, &order, w->n));
  FS_TRY(fs_new_zero(&w->arena, &covered, w->n));
  for (uint32_t i = 0; i < w->n; i++) {
    at[i].item = i;
    for (uint32_t k = 0; k < w->n; k++) {
      at[i].key += excluded(s, i, k);
    }
    at[i].key *= w->p->time[i];
  }
  qsort(at, w->n, sizeof *at, by_key);
  for (uint32_t i = 0; i < w->n; i++) {
    order[i] = at[i].item;
  }
  for (uint32_t i = 0;
       i < w->n && w->resource.n < plain + limits(w)->window_cliques && at[i].key > 0; i++) {
    FS_TRY(grow_set(s, order[i], order, covered));
  }
  return FSCHED_OK;
}

static fs_status find_pairs(fs_windows *w) {
  const fs_problem *p = w->p;
  sharing s = {.w = w};
  if (w->n > limits(w)->window_paired || w->reach == NULL || w->n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&w->arena, &s.exclude, (size_t)w->n * w->row));
  FS_TRY(fs_new_zero(&w->arena, &s.relaxed_out, p->n_residencies));
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    s.relaxed_out[p->coincide_out[k]] = 1;
  }
  for (size_t k = 0; k < w->resource.n; k++) {
    pairs_of(&s, &w->resource.at[k]);
    if (w->resource.at[k].memory != FS_NONE) {
      FS_TRY(pairs_of_memory(&s, &w->resource.at[k]));
    }
  }
  FS_TRY(list_pairs(&s));
  return find_sets(&s);
}

/* Allocates the arrays that the rules write. */
static fs_status make_room(fs_windows *w) {
  const fs_problem *p = w->p;
  size_t most = 2 * ((size_t)p->n_residencies + p->n_items) + 2;
  FS_TRY(fs_new(&w->arena, &w->event, most));
  FS_TRY(fs_new(&w->arena, &w->level, most));
  FS_TRY(fs_new(&w->arena, &w->sure_begin, p->n_residencies));
  FS_TRY(fs_new(&w->arena, &w->sure_end, p->n_residencies));
  FS_TRY(fs_new(&w->arena, &w->from, 2 * (size_t)p->n_items));
  FS_TRY(fs_new(&w->arena, &w->to, 2 * (size_t)p->n_items));
  FS_TRY(fs_new(&w->arena, &w->before, p->n_items));
  return fs_new(&w->arena, &w->after, p->n_items);
}

fs_status fs_windows_init(fs_windows *w, fs_problem *p, bool relaxed) {
  assert(p->topo != NULL || p->n_items == 0);
  *w = (fs_windows){.p = p, .n = p->n_items};
  fs_arena_init(&w->arena, p->ctx);
  FS_TRY(fs_new(&w->arena, &w->est, w->n));
  FS_TRY(fs_new(&w->arena, &w->lct, w->n));
  FS_TRY(add_queues(w));
  FS_TRY(add_amounts(w));
  FS_TRY(add_memories(w, relaxed));
  FS_TRY(close_orders(w));
  FS_TRY(find_pairs(w));
  return make_room(w);
}

void fs_windows_release(fs_windows *w) {
  fs_vec_free(w->p->ctx, &w->resource);
  fs_vec_free(w->p->ctx, &w->task);
  fs_vec_free(w->p->ctx, &w->pair);
  fs_arena_release(&w->arena);
}
