/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny problems for the tests of the time-indexed model, and a plain definition, without the
 * model's code, of when starts (and addresses) solve one. */
#ifndef FS_TEST_ILP_TIME_KIT_H
#define FS_TEST_ILP_TIME_KIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ilp/time/model.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

enum { TINY_POINTS = 4096 }; /* a model has at most so many variables */
enum { TINY_ITEMS = 6, TINY_EDGES = 16, TINY_RESIDENCIES = 4, TINY_ENDS = 16, TINY_CLASSES = 3 };

typedef struct tiny {
  fs_problem p;
  fsched_graph g;
  fs_memory memory;
  const char *op_name[TINY_ITEMS];
  fs_tick time[TINY_ITEMS], head[TINY_ITEMS], tail[TINY_ITEMS], fixed[TINY_ITEMS];
  bool edge[TINY_ITEMS][TINY_ITEMS]; /* from a lower item to a higher one */
  uint32_t pred0[TINY_ITEMS + 1], pred[TINY_EDGES], succ0[TINY_ITEMS + 1], succ[TINY_EDGES];
  uint32_t topo[TINY_ITEMS];
  uint32_t class_size[TINY_CLASSES];
  bool may[TINY_ITEMS][TINY_CLASSES]; /* whether the item may use the class */
  uint32_t choice0[TINY_ITEMS + 1], choice[TINY_ITEMS * TINY_CLASSES];
  uint8_t gang[TINY_ITEMS];
  uint64_t capacity[2], demand[TINY_ITEMS][2];
  const char *amount_name[2];
  uint32_t use0[TINY_ITEMS + 1], use[2 * TINY_ITEMS];
  uint64_t use_amount[2 * TINY_ITEMS];
  uint32_t res_version[TINY_RESIDENCIES], res_op[TINY_RESIDENCIES], res_memory[TINY_RESIDENCIES];
  uint64_t res_size[TINY_RESIDENCIES];
  uint32_t res_begin[TINY_RESIDENCIES], res_end0[TINY_RESIDENCIES + 1], res_end[TINY_ENDS];
  uint8_t res_to_end[TINY_RESIDENCIES];
  uint32_t coincide_in[2], coincide_out[2], coincide_op[2];
} tiny;

/* Makes n items of one tick each, and nothing else; the test adds what it wants before
 * tiny_finish. */
static inline void tiny_begin(tiny *k, fsched_context *ctx, uint32_t n, fs_tick horizon) {
  static const char *const name[TINY_ITEMS] = {"a", "b", "c", "d", "e", "f"};
  *k = (tiny){0};
  k->p.ctx = ctx;
  k->p.graph = &k->g;
  k->p.n_items = n;
  k->p.horizon = horizon;
  k->g.n_ops = n;
  k->g.op_name = k->op_name;
  k->memory = (fs_memory){.name = "m", .capacity = 4, .align = 1, .placement = FSCHED_COUNTED};
  k->g.target.n_memories = 1;
  k->g.target.memory = &k->memory;
  for (uint32_t i = 0; i < n; i++) {
    k->op_name[i] = name[i];
    k->time[i] = 1;
    k->topo[i] = i;
    k->fixed[i] = FS_TICK_NONE;
  }
  fs_arena_init(&k->p.arena, ctx);
}

static inline void tiny_end(tiny *k) { fs_arena_release(&k->p.arena); }

static inline void tiny_edges(tiny *k) {
  fs_problem *p = &k->p;
  uint32_t n = p->n_items;
  for (uint32_t i = 0; i < n; i++) {
    k->pred0[i + 1] = k->pred0[i];
    for (uint32_t j = 0; j < n; j++) {
      if (k->edge[j][i]) {
        k->pred[k->pred0[i + 1]++] = j;
        k->head[i] = fs_max(k->head[i], k->head[j] + k->time[j]);
      }
    }
    k->succ0[i + 1] = k->succ0[i];
    for (uint32_t j = 0; j < n; j++) {
      if (k->edge[i][j]) {
        k->succ[k->succ0[i + 1]++] = j;
      }
    }
  }
  for (uint32_t i = n; i-- > 0;) {
    for (uint32_t e = k->succ0[i]; e < k->succ0[i + 1]; e++) {
      k->tail[i] = fs_max(k->tail[i], k->tail[k->succ[e]] + k->time[k->succ[e]]);
    }
  }
  p->n_edges = k->pred0[n];
}

static inline void tiny_finish(tiny *k) {
  fs_problem *p = &k->p;
  tiny_edges(k);
  for (uint32_t i = 0; i < p->n_items; i++) {
    k->choice0[i + 1] = k->choice0[i];
    for (uint32_t c = 0; c < p->n_classes; c++) {
      if (k->may[i][c]) {
        k->choice[k->choice0[i + 1]++] = c;
      }
    }
    k->use0[i + 1] = k->use0[i];
    for (uint32_t a = 0; a < p->n_amounts; a++) {
      if (k->demand[i][a] > 0) {
        k->use[k->use0[i + 1]] = a;
        k->use_amount[k->use0[i + 1]++] = k->demand[i][a];
      }
    }
  }
  k->amount_name[0] = "power";
  k->amount_name[1] = "width";
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    k->res_version[r] = FS_NONE;
  }
  p->time = k->time;
  p->head = k->head;
  p->tail = k->tail;
  p->pred0 = k->pred0;
  p->pred = k->pred;
  p->succ0 = k->succ0;
  p->succ = k->succ;
  p->topo = k->topo;
  p->class_size = k->class_size;
  p->choice0 = k->choice0;
  p->choice = k->choice;
  p->gang = k->gang;
  p->amount_capacity = k->capacity;
  p->amount_name = k->amount_name;
  p->use0 = k->use0;
  p->use = k->use;
  p->use_amount = k->use_amount;
  p->res_version = k->res_version;
  p->res_op = k->res_op;
  p->res_memory = k->res_memory;
  p->res_size = k->res_size;
  p->res_begin_item = k->res_begin;
  p->res_end0 = k->res_end0;
  p->res_end = k->res_end;
  p->res_to_end = k->res_to_end;
  p->coincide_in = k->coincide_in;
  p->coincide_out = k->coincide_out;
  p->coincide_op = k->coincide_op;
}

/* Adds a residency; `ends` is a set of items, a bit each. */
static inline void tiny_residency(tiny *k, uint64_t size, uint32_t begin, uint32_t ends) {
  uint32_t r = k->p.n_residencies++, at = k->res_end0[r];
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    if (ends >> i & 1) {
      k->res_end[at++] = i;
    }
  }
  k->res_size[r] = size;
  k->res_begin[r] = begin;
  k->res_end0[r + 1] = at;
}

/* --- what solves it --- */

typedef struct tiny_span {
  fs_tick begin, end;
} tiny_span;

/* An item without length meets what runs over its instant, but not others without length at it. */
static inline bool tiny_over(tiny_span a, fs_tick at) { return a.begin < at && at < a.end; }
static inline bool tiny_meet(tiny_span a, tiny_span b) {
  return a.begin == a.end   ? tiny_over(b, a.begin)
         : b.begin == b.end ? tiny_over(a, b.begin)
                            : a.begin < b.end && b.begin < a.end;
}

static inline tiny_span tiny_run(const tiny *k, const fs_tick *start, uint32_t i) {
  return (tiny_span){start[i], start[i] + k->time[i]};
}

static inline fs_tick tiny_makespan(const tiny *k, const fs_tick *start) {
  fs_tick end = 0;
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    end = fs_max(end, start[i] + k->time[i]);
  }
  return end;
}

static inline tiny_span tiny_life(const tiny *k, const fs_tick *start, uint32_t r) {
  uint32_t begin = k->res_begin[r];
  tiny_span s = {begin == FS_NONE ? 0 : start[begin], 0};
  s.end = begin == FS_NONE ? 0 : start[begin] + k->time[begin];
  for (uint32_t e = k->res_end0[r]; e < k->res_end0[r + 1]; e++) {
    s.end = fs_max(s.end, start[k->res_end[e]] + k->time[k->res_end[e]]);
  }
  s.end = k->res_to_end[r] ? tiny_makespan(k, start) : s.end;
  return s;
}

/* Whether the sizes of what is there at every begin never exceed the room. */
static inline bool tiny_sums(const tiny_span *span, const uint64_t *size, uint32_t n,
                             uint64_t capacity) {
  for (uint32_t x = 0; x < n; x++) {
    uint64_t sum = size[x];
    for (uint32_t y = 0; y < n; y++) {
      bool instant = span[x].begin == span[x].end;
      bool there = instant ? tiny_over(span[y], span[x].begin)
                           : span[y].begin <= span[x].begin && span[x].begin < span[y].end;
      sum += y != x && there ? size[y] : 0;
    }
    if (size[x] > 0 && sum > capacity) {
      return false;
    }
  }
  return true;
}

static inline bool tiny_orders(const tiny *k, const fs_tick *start) {
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    for (uint32_t j = 0; j < k->p.n_items; j++) {
      if (k->edge[i][j] && start[i] + k->time[i] > start[j]) {
        return false;
      }
    }
  }
  return tiny_makespan(k, start) <= k->p.horizon;
}

static inline bool tiny_amounts(const tiny *k, const fs_tick *start) {
  for (uint32_t a = 0; a < k->p.n_amounts; a++) {
    tiny_span span[TINY_ITEMS];
    uint64_t size[TINY_ITEMS];
    for (uint32_t i = 0; i < k->p.n_items; i++) {
      span[i] = tiny_run(k, start, i);
      size[i] = k->demand[i][a];
    }
    if (!tiny_sums(span, size, k->p.n_items, k->capacity[a])) {
      return false;
    }
  }
  return true;
}

/* choice[i] is a class; it does not matter for gangs. */
static inline bool tiny_queues(const tiny *k, const fs_tick *start, const uint32_t *choice) {
  for (uint32_t c = 0; c < k->p.n_classes; c++) {
    tiny_span span[TINY_ITEMS];
    uint64_t size[TINY_ITEMS];
    for (uint32_t i = 0; i < k->p.n_items; i++) {
      span[i] = tiny_run(k, start, i);
      size[i] = k->gang[i] ? (k->may[i][c] ? k->class_size[c] : 0) : choice[i] == c;
    }
    if (!tiny_sums(span, size, k->p.n_items, k->class_size[c])) {
      return false;
    }
  }
  return true;
}

static inline bool tiny_memory_sum(const tiny *k, const fs_tick *start) {
  tiny_span span[TINY_RESIDENCIES];
  for (uint32_t r = 0; r < k->p.n_residencies; r++) {
    span[r] = tiny_life(k, start, r);
  }
  return tiny_sums(span, k->res_size, k->p.n_residencies, k->memory.capacity);
}

/* Whether the two share their place, and may do so. */
static inline bool tiny_share(const tiny *k, const fs_tick *start, const uint64_t *address,
                              uint32_t a, uint32_t b) {
  for (uint32_t c = 0; c < k->p.n_coincide; c++) {
    uint32_t in = k->coincide_in[c], out = k->coincide_out[c], op = k->coincide_op[c];
    bool mine = (in == a && out == b) || (in == b && out == a);
    if (mine && address[in] == address[out] && k->res_size[in] == k->res_size[out] &&
        tiny_life(k, start, in).end <= start[op] + k->time[op] &&
        tiny_life(k, start, out).begin >= start[op]) {
      return true;
    }
  }
  return false;
}

static inline bool tiny_places(const tiny *k, const fs_tick *start, const uint64_t *address) {
  for (uint32_t a = 0; a < k->p.n_residencies; a++) {
    if (address[a] + k->res_size[a] > k->memory.capacity) {
      return false;
    }
    for (uint32_t b = a + 1; b < k->p.n_residencies; b++) {
      bool apart = address[a] + k->res_size[a] <= address[b] ||
                   address[b] + k->res_size[b] <= address[a] || k->res_size[a] == 0 ||
                   k->res_size[b] == 0;
      if (!apart && tiny_meet(tiny_life(k, start, a), tiny_life(k, start, b)) &&
          !tiny_share(k, start, address, a, b)) {
        return false;
      }
    }
  }
  return true;
}

/* Goes to the next vector of starts, start[i] in 0..last; false at the end. */
static inline bool tiny_next(fs_tick *start, uint32_t n, fs_tick last) {
  for (uint32_t i = 0; i < n; i++) {
    if (start[i]++ < last) {
      return true;
    }
    start[i] = 0;
  }
  return false;
}

/* --- what the model says --- */

/* Sets the variable of that name; false if there is none. */
static inline bool tiny_set(const fs_model *m, int64_t *value, int64_t to, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool tiny_set(const fs_model *m, int64_t *value, int64_t to, const char *format,
                            ...) {
  char name[64];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(name, sizeof name, format, args);
  va_end(args);
  for (size_t v = 0; v < m->var.n; v++) {
    if (strcmp(m->var.at[v].name, name) == 0) {
      value[v] = to;
      return true;
    }
  }
  return false;
}

/* Sets all variables that follow from the starts, found only by their names. */
static inline void tiny_point(const tiny *k, const fs_model *m, const fs_tick *start,
                              const uint32_t *choice, fs_tick makespan, int64_t *value) {
  for (size_t v = 0; v < m->var.n; v++) {
    unsigned a, b;
    unsigned long long t;
    const char *name = m->var.at[v].name;
    value[v] = 0;
    if (sscanf(name, "x_sink_%llu", &t) == 1) {
      value[v] = t == makespan;
    } else if (sscanf(name, "x_%u_%u_%llu", &a, &b, &t) == 3) {
      value[v] = start[a] == t && choice[a] == b;
    } else if (sscanf(name, "x_%u_%llu", &a, &t) == 2) {
      value[v] = start[a] == t;
    } else if (sscanf(name, "live_%u_%llu", &a, &t) == 2) {
      tiny_span s = tiny_life(k, start, a);
      value[v] = s.begin <= t && t < s.end;
    } else if (sscanf(name, "over_%u_%llu", &a, &t) == 2) {
      value[v] = tiny_over(tiny_life(k, start, a), t);
    }
  }
}

/* Does the point have these starts? An item without variables has only one start. */
static inline bool tiny_says(tiny *k, const fs_time_model *t, const int64_t *value,
                             const fs_tick *start) {
  const fs_model *m = fs_time_model_of(t);
  fs_answer *a;
  uint32_t ones[TINY_ITEMS + 1] = {0}, all[TINY_ITEMS + 1] = {0}, i;
  for (size_t v = 0; v < m->var.n; v++) {
    bool sink = strncmp(m->var.at[v].name, "x_sink", 6) == 0;
    if (sink || sscanf(m->var.at[v].name, "x_%u", &i) == 1) {
      all[sink ? TINY_ITEMS : i]++;
      ones[sink ? TINY_ITEMS : i] += value[v] == 1;
    }
  }
  for (i = 0; i <= TINY_ITEMS; i++) {
    if (all[i] > 0 && ones[i] != 1) {
      return false;
    }
  }
  fs_arena_mark mark = fs_arena_set_mark(&k->p.arena);
  ck_assert_int_eq(fs_time_model_answer(t, &k->p, value, &a), FSCHED_OK);
  bool equal = true;
  for (i = 0; i < k->p.n_items; i++) {
    equal = equal && a->start[i] == start[i];
  }
  fs_arena_reset(&k->p.arena, mark);
  return equal;
}

/* --- random problems --- */

static inline fs_time_model *tiny_build(tiny *k, const fs_time_options *o) {
  fs_time_model *t;
  ck_fs(k->p.ctx, fs_time_model_build(&k->p, o, &t));
  ck_assert_ptr_nonnull(t);
  ck_assert_uint_lt(fs_time_model_of(t)->var.n, TINY_POINTS);
  return t;
}

static inline void tiny_complain(const tiny *k, uint64_t seed, const fs_tick *start, bool wanted,
                                 bool got) {
  char text[TINY_ITEMS * 24];
  size_t at = 0;
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    at += (size_t)snprintf(text + at, sizeof text - at, " %d", (int)start[i]);
  }
  ck_abort_msg("seed %d, starts%s: solve it: %d, taken: %d", (int)seed, text, wanted, got);
}

static inline void tiny_random_edges(tiny *k, fs_rng *rng, uint32_t one_in) {
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    for (uint32_t j = i + 1; j < k->p.n_items; j++) {
      k->edge[i][j] = fs_rng_one_in(rng, one_in);
    }
  }
}

/* Makes two to four items, and two or three residencies, which begin at an item or are there from
 * the start, and end with some later items or at the makespan. */
static inline void tiny_random_memory(tiny *k, fsched_context *ctx, fs_rng *rng, fs_tick horizon) {
  uint32_t n = 3 + fs_rng_below(rng, 2);
  tiny_begin(k, ctx, n, horizon);
  for (uint32_t i = 0; i < n; i++) {
    k->time[i] = fs_rng_below(rng, 3);
  }
  tiny_random_edges(k, rng, 4);
  uint32_t residencies = 2 + fs_rng_below(rng, 2);
  for (uint32_t r = 0; r < residencies; r++) {
    uint32_t begin = fs_rng_below(rng, n), ends = 1u << begin;
    for (uint32_t i = begin + 1; i < n; i++) {
      bool reads = fs_rng_one_in(rng, 2);
      ends |= reads ? 1u << i : 0;
      k->edge[begin][i] = k->edge[begin][i] || reads;
    }
    k->res_to_end[r] = fs_rng_one_in(rng, 6);
    uint32_t from = fs_rng_one_in(rng, 6) ? FS_NONE : begin;
    tiny_residency(k, fs_rng_below(rng, 4), from, ends);
  }
}

/* Makes a chain of in-place outputs, or an output that may take the place of either of two
 * inputs. */
static inline void tiny_random_places(tiny *k, fsched_context *ctx, fs_rng *rng) {
  tiny_random_memory(k, ctx, rng, 3);
  k->memory.placement = FSCHED_CONTIGUOUS;
  for (uint32_t in = 0; in < k->p.n_residencies; in++) {
    for (uint32_t out = 0; out < k->p.n_residencies && k->p.n_coincide < 2; out++) {
      uint32_t op = k->res_begin[out];
      bool reads = false;
      for (uint32_t e = k->res_end0[in]; e < k->res_end0[in + 1]; e++) {
        reads = reads || (k->res_end[e] == op && op != k->res_begin[in]);
      }
      if (reads && in != out && op != FS_NONE && !fs_rng_one_in(rng, 4)) {
        k->res_size[out] = k->res_size[in];
        k->coincide_in[k->p.n_coincide] = in;
        k->coincide_out[k->p.n_coincide] = out;
        k->coincide_op[k->p.n_coincide++] = op;
      }
    }
  }
  tiny_finish(k);
}

static inline bool tiny_pack(const tiny *k, const fs_tick *start, uint64_t *address) {
  fs_tick step[TINY_RESIDENCIES] = {0};
  do {
    for (uint32_t r = 0; r < k->p.n_residencies; r++) {
      address[r] = step[r];
    }
    if (tiny_places(k, start, address)) {
      return true;
    }
  } while (tiny_next(step, k->p.n_residencies, k->memory.capacity - 1));
  return false;
}

#endif
