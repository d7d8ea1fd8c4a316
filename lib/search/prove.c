/* SPDX-License-Identifier: Apache-2.0 */
#include "search/prove.h"

#include "base/saturate.h"
#include "search/held.h"
#include "search/learning/log.h"

const char *fs_prove_refused(const fs_problem *p) {
  return p->n_copies > 0 && !p->stated ? "has copies"
         : !fs_learner_knows(p)        ? "has numbers that are too large"
                                       : NULL;
}

/* Is there no schedule that ends before the bound?  Only what rules show counts, so the learner
 * takes no heads and tails from the problem, which may know more.  `text`: NULL, or gets the steps.
 */
static fs_status try_bound(const fs_problem *p, fs_tick bound, fs_text *text, bool *holds) {
  FS_SCRATCH(arena, p->ctx);
  fs_learner l;
  fs_proof_log log = {0};
  fs_status status = fs_learner_init(&l, p, &arena);
  if (status == FSCHED_OK && text != NULL) {
    status = fs_log_begin(&log, &l, text);
  } else if (status == FSCHED_OK) {
    fs_learner_strip(&l);
  }
  if (status == FSCHED_OK) {
    *holds = fs_learner_refutes(&l, bound - 1);
    status = l.status;
  }
  fs_learner_release(&l);
  fs_log_release(&log, p->ctx);
  return status;
}

/* The bound is at least *low, and below *high; is it at least `next`? */
static fs_status narrow(const fs_problem *p, fs_tick next, fs_tick *low, fs_tick *high) {
  bool holds;
  if (next <= *low || next >= *high) {
    return FSCHED_OK;
  }
  FS_TRY(try_bound(p, next, NULL, &holds));
  *(holds ? low : high) = next;
  return FSCHED_OK;
}

fs_status fs_prove_at_root(const fs_problem *p, fs_tick most, fs_text *text, fs_tick *bound) {
  assert(fs_prove_refused(p) == NULL && most > 0);
  fs_tick low = 1, high = most + 1; /* some op takes time */
  bool holds;
  FS_TRY(narrow(p, most, &low, &high));
  FS_TRY(narrow(p, p->lower_bound, &low, &high)); /* which was found by some of the rules */
  while (high - low > 1 && !fs_problem_stopped(p)) {
    FS_TRY(narrow(p, low + (high - low) / 2, &low, &high));
  }
  *bound = low;
  return try_bound(p, low, text, &holds);
}

/* ---- that there is none */

fs_tick fs_prove_horizon(const fs_problem *p) {
  fs_tick sum = 0, last = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    sum = fs_add_most(sum, p->time[i]);
    last = fs_problem_is_fixed(p, i) ? fs_max(last, p->fixed[i]) : last;
  }
  return fs_add_most(sum, last);
}

/* Is more in some memory at one moment than it has?  Then the log has its last steps. */
static fs_status find_overfull(fs_learner *l, fs_arena *arena, bool *over) {
  const fsched_graph *g = l->p->graph;
  int64_t *earliest, *latest;
  FS_TRY(fs_new(arena, &earliest, g->n_ops));
  FS_TRY(fs_new(arena, &latest, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    earliest[op] = fs_earliest(l, op);
    latest[op] = fs_latest(l, op);
  }
  fs_held_windows w = {earliest, latest, l->time};
  *over = false;
  for (uint32_t m = 0; m < g->target.n_memories && !*over; m++) {
    const fs_memory *memory = &g->target.memory[m];
    fs_held held = {0};
    fs_status status =
        fs_memory_bounded(memory) ? fs_held_most(l->ctx, g, m, &w, &held) : FSCHED_OK;
    *over = status == FSCHED_OK && held.bytes > (memory->capacity & ~(memory->align - 1)) &&
            fs_memory_bounded(memory);
    if (*over) {
      fs_log_memory(l, m, held.op.at, held.op.n);
    }
    fs_vec_free(l->ctx, &held.op);
    FS_TRY(status);
  }
  return l->status;
}

static bool is_stopped(void *user) { return fs_problem_stopped(user); }

/* Without given starts what proofs speak of has a schedule, one op behind the other. */
static fs_status refute_all(fs_learner *l, fs_arena *arena, uint64_t *nodes, bool *shown) {
  fs_problem *p = (fs_problem *)l->p;
  *shown = fs_learner_refutes(l, p->horizon);
  if (!*shown && l->status == FSCHED_OK) {
    FS_TRY(find_overfull(l, arena, shown));
  }
  if (!*shown && p->fixed != NULL && p->n_items <= FS_LEARNER_MOST && *nodes > 0) {
    uint64_t before = l->conflicts;
    *shown = fs_learner_search(l, *nodes, is_stopped, p) == FS_LEARNED_NONE;
    *nodes -= fs_min(*nodes, l->conflicts - before);
  }
  return l->status;
}

fs_status fs_prove_none(fs_problem *p, uint64_t *nodes, fs_text *text, bool *shown) {
  assert(p->stated && fs_prove_refused(p) == NULL);
  FS_SCRATCH(arena, p->ctx);
  fs_learner l;
  fs_proof_log log = {0};
  *shown = false;
  p->horizon = fs_prove_horizon(p);
  fs_status status = fs_learner_init(&l, p, &arena);
  if (status == FSCHED_OK) {
    status = fs_log_begin(&log, &l, text);
  }
  if (status == FSCHED_OK) {
    status = refute_all(&l, &arena, nodes, shown);
  }
  if (status == FSCHED_OK && *shown) {
    fs_log_end_none(text);
  } else {
    text->n = 0;
  }
  fs_learner_release(&l);
  fs_log_release(&log, p->ctx);
  return status;
}

/* ---- what memories have to have */

bool fs_prove_has_peaks(const fsched_graph *g) {
  bool given = g->n_ops > 0 && g->op_start != NULL, bounded = false;
  for (uint32_t op = 0; op < g->n_ops && given; op++) {
    given = g->op_start[op] != FS_TICK_NONE;
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    bounded = bounded || fs_memory_bounded(&g->target.memory[m]);
  }
  return given && bounded;
}

static void put_peak(fs_text *t, const fsched_graph *g, uint32_t memory, const fs_held *held) {
  fs_text_printf(t, "fsched-proof 1\nops %u\nunit 1\nbegin\nm %u", g->n_ops, memory);
  for (size_t k = 0; k < held->op.n; k++) { /* which says nothing but the op's name */
    fs_text_printf(t, " %u>=%llu", held->op.at[k],
                   (unsigned long long)g->op_start[held->op.at[k]] + 1);
  }
  fs_text_printf(t, "\nl : @1\nend peak %u %llu\n", memory, (unsigned long long)held->bytes);
}

fs_status fs_prove_peaks(fsched_context *ctx, const fsched_graph *g, fs_text *text) {
  assert(fs_prove_has_peaks(g));
  FS_SCRATCH(arena, ctx);
  int64_t *start, *time;
  FS_TRY(fs_new(&arena, &start, g->n_ops));
  FS_TRY(fs_new(&arena, &time, g->n_ops));
  fs_tick sum = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    start[op] = (int64_t)g->op_start[op];
    time[op] = (int64_t)fs_op_latency(g, op);
    sum = fs_add_most(sum, fs_max(g->op_start[op], fs_op_latency(g, op)));
  }
  if (sum > (fs_tick)INT64_MAX / 4) { /* the horizon would be too far away */
    return FSCHED_OK;
  }
  fs_held_windows w = {start, start, time};
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    fs_held held = {0};
    if (!fs_memory_bounded(&g->target.memory[m])) {
      continue;
    }
    fs_status status = fs_held_most(ctx, g, m, &w, &held);
    if (status == FSCHED_OK && held.bytes > 0) {
      put_peak(text, g, m, &held);
    }
    fs_vec_free(ctx, &held.op);
    FS_TRY(status);
  }
  return FSCHED_OK;
}
