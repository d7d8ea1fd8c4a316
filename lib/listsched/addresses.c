/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for a run that took room by amounts.
 *
 * What lives at which time is known when the run has ended, so addresses are found for all
 * residencies at once (placement.h), where a run that takes addresses as it goes can be left with
 * room in pieces.  A residency holds its place until the epochs of all that use it are reached: a
 * slow item on a queue holds back those behind it, and nothing may come into the place before. */
#include "base/saturate.h"
#include "listsched/engine.h"
#include "placement/placement.h"

enum { STEPS = 32 }; /* of a run, for each rectangle that is placed greedily */

typedef struct addressing {
  fs_engine *e;
  fs_arena *scratch;
  fs_tick *until;  /* per residency: when its place is free */
  uint32_t *index; /* per residency of the memory: its rectangle */
} addressing;

/* Ops and copies without length would need moments finer than ticks. */
static bool any_empty(const fs_engine *e) {
  for (uint32_t op = 0; op < e->g->n_ops; op++) {
    if (e->op_holds[op] && e->op_start[op] == e->op_end[op]) {
      return true;
    }
  }
  for (size_t c = 0; c < e->copy.n; c++) {
    if (e->copy_start.at[c] == e->copy_end.at[c]) {
      return true;
    }
  }
  return false;
}

static void hold_until(addressing *x, uint32_t residency, fs_tick until) {
  if (residency != FS_NONE) {
    x->until[residency] = fs_max(x->until[residency], until);
  }
}

static fs_status find_ends(addressing *x) {
  const fs_engine *e = x->e;
  const fsched_graph *g = e->g;
  FS_TRY(fs_new(x->scratch, &x->until, e->residency.n));
  for (size_t r = 0; r < e->residency.n; r++) {
    x->until[r] = e->residency.at[r].end;
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      hold_until(x, e->arg_residency[a], e->op_reached[op]);
    }
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      hold_until(x, e->scratch_residency[i], e->op_reached[op]);
    }
  }
  for (size_t c = 0; c < e->copy.n; c++) {
    hold_until(x, e->copy.at[c].residency, e->copy_reached.at[c]);
    hold_until(x, e->copy.at[c].store, e->copy_reached.at[c]);
  }
  return FSCHED_OK;
}

static fs_status list_rectangles(addressing *x, uint32_t memory, fs_placement *q) {
  const fs_engine *e = x->e;
  uint64_t *size;
  fs_tick *begin, *end;
  FS_TRY(fs_new(x->scratch, &size, e->residency.n));
  FS_TRY(fs_new(x->scratch, &begin, e->residency.n));
  FS_TRY(fs_new(x->scratch, &end, e->residency.n));
  FS_TRY(fs_new_none(x->scratch, &x->index, e->residency.n));
  for (uint32_t r = 0; r < e->residency.n; r++) {
    const fs_residency_record *from = &e->residency.at[r];
    if (from->memory == memory && from->size > 0) {
      x->index[r] = q->n;
      size[q->n] = from->size;
      begin[q->n] = from->begin;
      end[q->n++] = x->until[r];
    }
  }
  q->size = size;
  q->begin = begin;
  q->end = end;
  return FSCHED_OK;
}

/* Outputs that took the places of inputs may keep them. */
static fs_status list_pairs(addressing *x, fs_placement *q) {
  const fs_engine *e = x->e;
  uint32_t *a, *b;
  fs_tick *from, *to;
  FS_TRY(fs_new(x->scratch, &a, e->handed.n));
  FS_TRY(fs_new(x->scratch, &b, e->handed.n));
  FS_TRY(fs_new(x->scratch, &from, e->handed.n));
  FS_TRY(fs_new(x->scratch, &to, e->handed.n));
  for (size_t k = 0; k < e->handed.n; k++) {
    const fs_handed *h = &e->handed.at[k];
    if (x->index[h->input] != FS_NONE && x->index[h->output] != FS_NONE) {
      a[q->n_pairs] = x->index[h->input];
      b[q->n_pairs] = x->index[h->output];
      from[q->n_pairs] = e->op_start[h->op];
      to[q->n_pairs++] = fs_max(e->op_reached[h->op], x->until[h->input]);
    }
  }
  q->pair_a = a;
  q->pair_b = b;
  q->pair_from = from;
  q->pair_to = to;
  return FSCHED_OK;
}

static bool at_once(void *user) {
  (void)user;
  return true;
}

static fs_status place_memory(addressing *x, uint32_t memory, uint64_t nodes, bool *found) {
  fs_engine *e = x->e;
  fs_placement q = {
      .capacity = e->places[memory].capacity, .nodes = nodes, .stop = nodes == 0 ? at_once : NULL};
  uint64_t *address, peak;
  fs_decision exists;
  bool least;
  FS_TRY(list_rectangles(x, memory, &q));
  FS_TRY(list_pairs(x, &q));
  uint64_t sum = 0;
  for (uint32_t i = 0; i < q.n; i++) {
    sum = fs_add_most(sum, q.size[i]);
  }
  if (sum > INT64_MAX) { /* more than a placement adds up */
    *found = false;
    return FSCHED_OK;
  }
  FS_TRY(fs_new(x->scratch, &address, q.n));
  e->steps += (uint64_t)STEPS * q.n;
  FS_TRY(fs_placement_run(e->ctx, &q, false, address, &peak, &exists, &least));
  *found = exists.is == FS_YES;
  for (uint32_t r = 0; r < e->residency.n && *found; r++) {
    if (x->index[r] != FS_NONE) {
      e->residency.at[r].address = address[x->index[r]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_engine_find_addresses(fs_engine *e, uint64_t nodes, bool *found) {
  assert(e->policy->by_amount && e->n_done == e->g->n_ops);
  const fs_target *t = &e->g->target;
  FS_SCRATCH(scratch, e->ctx);
  addressing x = {.e = e, .scratch = &scratch};
  *found = !any_empty(e);
  FS_TRY(*found ? find_ends(&x) : FSCHED_OK);
  for (uint32_t m = 0; m < t->n_memories && *found; m++) {
    if (fs_memory_bounded(&t->memory[m]) && fs_placement_has_addresses(t->memory[m].placement)) {
      FS_TRY(place_memory(&x, m, nodes, found));
    }
  }
  return FSCHED_OK;
}
