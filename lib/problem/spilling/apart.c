/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be at once, as it takes more than a memory has: two ops, with all that they touch; an
 * op, with all that it touches, and a stay of another version; two stays.
 *
 * An output that may take the place of an input counts nothing while its op runs. */
#include "base/saturate.h"
#include "problem/spilling/private.h"

typedef struct apart_draft {
  fs_spilling_draft *b;
  uint32_t memory;
  uint64_t capacity;
  uint32_t *seen; /* per version: the last question that counted it */
  uint32_t turn;
  uint8_t *excludes; /* ops * ops */
} apart_draft;

static bool is_in_place(const fsched_graph *g, uint32_t op, uint32_t v) {
  bool in_place = false;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    in_place = in_place || g->arg_version[g->inplace_out[i]] == v;
  }
  return in_place;
}

/* Counts what the op touches that was not counted before. */
static uint64_t count_touched(apart_draft *x, uint32_t op) {
  const fsched_graph *g = x->b->g;
  uint64_t sum = 0;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (!fs_arg_accesses(g, a) || fs_version_memory(g, v) != x->memory || x->seen[v] == x->turn) {
      continue;
    }
    x->seen[v] = x->turn;
    sum = fs_add_most(sum, is_in_place(g, op, v) ? 0 : fs_spilling_size(g, v));
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    const fs_memory *m = &g->target.memory[g->scratch_memory[i]];
    bool here = g->scratch_memory[i] == x->memory;
    sum = fs_add_most(sum, here ? fs_align_up(g->scratch_size[i], m->align) : 0);
  }
  return sum;
}

static bool related(const fs_spilling_draft *b, uint32_t x, uint32_t y) {
  return fs_op_follows(&b->after, x, y) || fs_op_follows(&b->after, y, x);
}

/* ---- ops */

static void exclude_ops(apart_draft *x) {
  const fsched_graph *g = x->b->g;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    for (uint32_t k = 0; k < i; k++) {
      x->turn++;
      bool both = count_touched(x, i) + count_touched(x, k) > x->capacity && g->op_time[i] > 0 &&
                  g->op_time[k] > 0;
      if (both) {
        x->excludes[(size_t)i * g->n_ops + k] = x->excludes[(size_t)k * g->n_ops + i] = 1;
      }
    }
  }
}

/* Covers the pairs that nothing orders by sets, each as large as can be found by adding op after
 * op. */
static fs_status list_turns(apart_draft *x) {
  fs_spilling_draft *b = x->b;
  uint32_t n = b->g->n_ops;
  uint8_t *covered;
  FS_TRY(fs_new_zero(&b->d.scratch, &covered, (size_t)n * n));
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (!x->excludes[(size_t)i * n + k] || covered[(size_t)i * n + k] || related(b, i, k)) {
        continue;
      }
      uint32_t first = (uint32_t)b->turn.n;
      FS_TRY(fs_vec_push(b->ctx, &b->turn0, first));
      FS_TRY(fs_vec_push(b->ctx, &b->turn, i));
      FS_TRY(fs_vec_push(b->ctx, &b->turn, k));
      for (uint32_t op = 0; op < n; op++) {
        bool all = true;
        for (size_t e = first; e < b->turn.n && all; e++) {
          all = x->excludes[(size_t)b->turn.at[e] * n + op] != 0;
        }
        if (all) {
          FS_TRY(fs_vec_push(b->ctx, &b->turn, op));
        }
      }
      for (size_t e = first; e < b->turn.n; e++) {
        for (size_t f = first; f < b->turn.n; f++) {
          covered[(size_t)b->turn.at[e] * n + b->turn.at[f]] = 1;
        }
      }
    }
  }
  return FSCHED_OK;
}

/* ---- stays */

static fs_spill_span span_of(const fs_spilling_draft *b, uint32_t stay) {
  const fs_stay *s = &b->stay.at[stay];
  fs_spill_span span = {.from = s->begin, .to = FS_STAY_END | stay, .only_if = s->only_if};
  if (s->begin == FS_NONE) {
    span.from = 0;
    span.delay = FS_BEFORE_ALL;
  } else if (s->begin < b->g->n_ops && is_in_place(b->g, s->begin, s->version)) {
    span.delay = (int64_t)b->g->op_time[s->begin];
  }
  return span;
}

static fs_status keep_apart(fs_spilling_draft *b, fs_spill_span one, fs_spill_span other) {
  FS_TRY(fs_vec_push(b->ctx, &b->apart, one));
  return fs_vec_push(b->ctx, &b->apart, other);
}

static bool op_touches(const fsched_graph *g, uint32_t op, uint32_t v) {
  bool any = false;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    any = any || (fs_arg_accesses(g, a) && g->arg_version[a] == v);
  }
  return any;
}

static fs_status part_ops(apart_draft *x, uint32_t stay) {
  fs_spilling_draft *b = x->b;
  uint32_t v = b->stay.at[stay].version;
  for (uint32_t op = 0; op < b->g->n_ops; op++) {
    x->turn++;
    if (b->g->op_time[op] == 0 || op_touches(b->g, op, v) ||
        count_touched(x, op) + fs_spilling_size(b->g, v) <= x->capacity) {
      continue;
    }
    fs_spill_span span = {.from = op, .to = op, .only_if = FS_NONE, .length = b->g->op_time[op]};
    FS_TRY(keep_apart(b, span, span_of(b, stay)));
  }
  return FSCHED_OK;
}

/* One takes the place of the other, perhaps. */
static bool in_place_of(const fs_spilling_draft *b, uint32_t v, uint32_t u) {
  bool any = false;
  for (size_t k = 0; k < b->pair_op.n; k++) {
    any = any || (b->pair_in.at[k] == v && b->pair_out.at[k] == u) ||
          (b->pair_in.at[k] == u && b->pair_out.at[k] == v);
  }
  return any;
}

static fs_status part_stays(apart_draft *x, uint32_t stay) {
  fs_spilling_draft *b = x->b;
  uint32_t v = b->stay.at[stay].version;
  for (uint32_t i = 0; i < stay; i++) {
    uint32_t u = b->stay.at[i].version;
    if (u != v && fs_version_memory(b->g, u) == x->memory && !in_place_of(b, u, v) &&
        fs_spilling_size(b->g, u) + fs_spilling_size(b->g, v) > x->capacity) {
      FS_TRY(keep_apart(b, span_of(b, i), span_of(b, stay)));
    }
  }
  return FSCHED_OK;
}

fs_status fs_spilling_apart(fs_spilling_draft *b) {
  assert(b->after.bit != NULL || b->g->n_ops == 0);
  apart_draft x = {.b = b};
  uint32_t n = b->g->n_ops;
  FS_TRY(fs_new_zero(&b->d.scratch, &x.seen, b->g->n_versions));
  FS_TRY(fs_new_zero(&b->d.scratch, &x.excludes, (size_t)n * n));
  for (uint32_t m = 0; m < b->g->target.n_memories; m++) {
    if (!b->is_short[m]) {
      continue;
    }
    const fs_memory *of = &b->g->target.memory[m];
    x.memory = m;
    x.capacity = of->capacity & ~(of->align - 1);
    exclude_ops(&x);
    for (uint32_t stay = 0; stay < b->stay.n; stay++) {
      if (fs_version_memory(b->g, b->stay.at[stay].version) == m) {
        FS_TRY(part_ops(&x, stay));
        FS_TRY(part_stays(&x, stay));
      }
    }
  }
  return list_turns(&x);
}
