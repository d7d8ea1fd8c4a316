/* SPDX-License-Identifier: Apache-2.0 */
/* An order in which the ops fit one at a time.
 *
 * Ops that run one at a time, in the order in which a schedule starts them, never hold more than in
 * that schedule: what is dead when an op starts alone is dead for all that it waits for.  So a
 * graph whose memories have no store has a schedule, as far as amounts go, if and only if it has
 * such an order; and ops that claim in this order (policy.h) get through.
 *
 * The search goes through the sets of ops that are done.  An op that fits and leaves no memory
 * fuller than it was is taken at once: any order from here goes as well with it in front.  Else
 * those that leave least come first.  A set from which nothing led to the end is not entered again.
 *
 * Complexity: at most MOST_SETS sets, STEPS looks at an op; O(ops) for each set that is kept. */
#include "listsched/fitting.h"

enum {
  MOST_OPS = 4096,
  MOST_MEMORIES = 64,
  MOST_SETS = 1 << 16,
  MOST_STEPS = 1 << 24,
  TABLE = 1 << 17
};

typedef struct fit_frame {
  uint32_t first, n, next; /* candidates; the one that is tried next */
  uint32_t op;             /* the one that was taken; FS_NONE: none */
} fit_frame;

typedef struct fit_candidate {
  uint32_t op;
  int64_t grows; /* bytes that it leaves more, in all memories */
} fit_candidate;

typedef struct order_fitter {
  const fs_engine *e;
  fsched_context *ctx;
  fs_arena *scratch;
  uint32_t n_done, n_words, n_memories, steps;
  uint64_t *done, *live, *lives; /* live: per memory; lives: the same per frame */
  uint64_t hash;
  uint32_t *left, *maker; /* per version: accesses to come; the op that made it be there */
  uint32_t *preds_left;
  uint8_t *bounded; /* per memory: it has a capacity that no copies relieve */
  fit_frame *frame;
  FS_VEC(fit_candidate) candidate;
  FS_VEC(uint64_t) set;      /* n_words each */
  FS_VEC(uint64_t) set_hash; /* per set */
  uint32_t *table;           /* sets by hash; FS_NONE: none */
  int64_t *grows;            /* per memory, of the op that is looked at */
} order_fitter;

/* Not in a memory that counts here: FS_NONE. */
static uint32_t memory_of(const order_fitter *f, uint32_t version) {
  uint32_t m = f->e->v_memory[version];
  return m != FS_NONE && f->bounded[m] ? m : FS_NONE;
}

static bool stays(const order_fitter *f, uint32_t version) {
  const fsched_graph *g = f->e->g;
  return fs_version_stays(g, version) ||
         (fs_version_kept(g, version) && f->e->v_writers[version] > 0);
}

/* The input whose place an output of the op takes over; FS_NONE: it needs a place of its own. */
static uint32_t input_of(const order_fitter *f, uint32_t op, uint32_t version) {
  const fsched_graph *g = f->e->g;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t in = g->arg_version[g->inplace_in[i]];
    uint32_t m = memory_of(f, in);
    if (g->arg_version[g->inplace_out[i]] == version && m != FS_NONE && f->left[in] == 1 &&
        fs_placement_has_addresses(g->target.memory[m].placement) && !fs_version_stays(g, in) &&
        !fs_version_kept(g, in)) {
      return in;
    }
  }
  return FS_NONE;
}

/* Does the op fit?  f->grows: what it leaves more, per memory. */
static bool op_fits(order_fitter *f, uint32_t op) {
  const fs_engine *e = f->e;
  const fsched_graph *g = e->g;
  int64_t *grows = f->grows;
  bool does = true;
  f->steps += 1 + f->n_memories / 8;
  memset(grows, 0, f->n_memories * sizeof *grows);
  FS_ENGINE_EACH_VERSION(e, op, i, v) {
    uint32_t m = memory_of(f, v);
    if (m != FS_NONE && f->maker[v] == FS_NONE && input_of(f, op, v) == FS_NONE) {
      grows[m] += (int64_t)e->v_size[v];
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    grows[g->scratch_memory[i]] +=
        (int64_t)fs_align_up(g->scratch_size[i], g->target.memory[g->scratch_memory[i]].align);
  }
  for (uint32_t m = 0; m < f->n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    uint64_t usable = memory->capacity & ~(memory->align - 1);
    does = does && (!f->bounded[m] || f->live[m] + (uint64_t)grows[m] <= usable);
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    grows[g->scratch_memory[i]] -=
        (int64_t)fs_align_up(g->scratch_size[i], g->target.memory[g->scratch_memory[i]].align);
  }
  FS_ENGINE_EACH_VERSION(e, op, i, v) {
    uint32_t m = memory_of(f, v);
    if (m != FS_NONE && f->left[v] == 1 && !stays(f, v)) {
      grows[m] -= (int64_t)e->v_size[v];
    }
  }
  FS_ENGINE_EACH_VERSION(e, op, i, v) { /* handed over: neither new nor dead */
    uint32_t m = memory_of(f, v);
    if (m != FS_NONE && f->maker[v] == FS_NONE && input_of(f, op, v) != FS_NONE) {
      grows[m] += (int64_t)e->v_size[v];
    }
  }
  return does;
}

static void take_op(order_fitter *f, uint32_t op) {
  const fsched_graph *g = f->e->g;
  for (uint32_t m = 0; m < f->n_memories; m++) {
    f->live[m] += f->bounded[m] ? (uint64_t)f->grows[m] : 0;
  }
  FS_ENGINE_EACH_VERSION(f->e, op, i, v) {
    f->left[v]--;
    f->maker[v] = f->maker[v] == FS_NONE ? op : f->maker[v];
  }
  for (uint32_t i = g->succ0[op]; i < g->succ0[op + 1]; i++) {
    f->preds_left[g->succ[i]]--;
  }
  f->done[op / 64] |= (uint64_t)1 << op % 64;
  f->hash ^= fs_plan_random(0, op);
  f->n_done++;
}

static void give_op_back(order_fitter *f, uint32_t op) {
  const fsched_graph *g = f->e->g;
  FS_ENGINE_EACH_VERSION(f->e, op, i, v) {
    f->left[v]++;
    f->maker[v] = f->maker[v] == op ? FS_NONE : f->maker[v];
  }
  for (uint32_t i = g->succ0[op]; i < g->succ0[op + 1]; i++) {
    f->preds_left[g->succ[i]]++;
  }
  f->done[op / 64] &= ~((uint64_t)1 << op % 64);
  f->hash ^= fs_plan_random(0, op);
  f->n_done--;
  memcpy(f->live, f->lives + (size_t)f->n_done * f->n_memories, f->n_memories * sizeof *f->live);
}

/* The entry of the table for what is done now: a set, or FS_NONE. */
static uint32_t *find_set(const order_fitter *f) {
  uint32_t at = (uint32_t)(f->hash % TABLE);
  for (; f->table[at] != FS_NONE; at = (at + 1) % TABLE) {
    uint32_t s = f->table[at];
    if (f->set_hash.at[s] == f->hash &&
        memcmp(f->set.at + (size_t)s * f->n_words, f->done, f->n_words * sizeof *f->done) == 0) {
      break;
    }
  }
  return &f->table[at];
}

static fs_status keep_set(order_fitter *f) {
  uint32_t *entry = find_set(f);
  assert(*entry == FS_NONE && f->set_hash.n < MOST_SETS);
  *entry = (uint32_t)f->set_hash.n;
  FS_TRY(fs_vec_push(f->ctx, &f->set_hash, f->hash));
  for (uint32_t w = 0; w < f->n_words; w++) {
    FS_TRY(fs_vec_push(f->ctx, &f->set, f->done[w]));
  }
  return FSCHED_OK;
}

static bool leaves_no_more(const order_fitter *f) {
  bool none = true;
  for (uint32_t m = 0; m < f->n_memories; m++) {
    none = none && (!f->bounded[m] || f->grows[m] <= 0);
  }
  return none;
}

static int64_t grows_in_all(const order_fitter *f) {
  int64_t sum = 0;
  for (uint32_t m = 0; m < f->n_memories; m++) {
    sum += f->bounded[m] ? f->grows[m] : 0;
  }
  return sum;
}

static fs_status insert_candidate(order_fitter *f, uint32_t first, fit_candidate c) {
  FS_TRY(fs_vec_push(f->ctx, &f->candidate, c));
  size_t i = f->candidate.n - 1;
  for (; i > first && f->candidate.at[i - 1].grows > c.grows; i--) {
    f->candidate.at[i] = f->candidate.at[i - 1];
  }
  f->steps += (uint32_t)(f->candidate.n - i) / 8;
  f->candidate.at[i] = c;
  return FSCHED_OK;
}

static bool exhausted(const order_fitter *f) {
  return f->set_hash.n >= MOST_SETS || f->steps > MOST_STEPS;
}

/* Lists what may come next, best first. */
static fs_status open_frame(order_fitter *f) {
  const fsched_graph *g = f->e->g;
  fit_frame *frame = &f->frame[f->n_done];
  *frame = (fit_frame){.first = (uint32_t)f->candidate.n, .op = FS_NONE};
  memcpy(f->lives + (size_t)f->n_done * f->n_memories, f->live, f->n_memories * sizeof *f->live);
  if (*find_set(f) != FS_NONE) {
    return FSCHED_OK; /* nothing leads on */
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    f->steps++;
    if (exhausted(f)) {
      break;
    }
    if (f->preds_left[op] > 0 || (f->done[op / 64] >> op % 64 & 1) != 0 || !op_fits(f, op)) {
      continue;
    }
    bool at_once = leaves_no_more(f);
    if (at_once) {
      f->candidate.n = frame->first;
    }
    FS_TRY(insert_candidate(f, frame->first, (fit_candidate){op, grows_in_all(f)}));
    if (at_once) {
      break;
    }
  }
  frame->n = (uint32_t)f->candidate.n - frame->first;
  return FSCHED_OK;
}

/* Goes on from the frame of what is done; *ended: there is no way left. */
static fs_status step_on(order_fitter *f, bool *ended) {
  fit_frame *frame = &f->frame[f->n_done];
  if (frame->next < frame->n) {
    frame->op = f->candidate.at[frame->first + frame->next++].op;
    (void)op_fits(f, frame->op);
    take_op(f, frame->op);
    return f->n_done < f->e->g->n_ops ? open_frame(f) : FSCHED_OK;
  }
  FS_TRY(*find_set(f) == FS_NONE ? keep_set(f) : FSCHED_OK);
  f->candidate.n = frame->first;
  *ended = f->n_done == 0;
  if (!*ended) {
    give_op_back(f, f->frame[f->n_done - 1].op);
  }
  return FSCHED_OK;
}

static fs_status prepare_fitter(order_fitter *f) {
  const fs_engine *e = f->e;
  const fsched_graph *g = e->g;
  uint32_t n = g->n_ops;
  f->n_words = n / 64 + 1;
  f->n_memories = g->target.n_memories;
  FS_TRY(fs_new_zero(f->scratch, &f->done, f->n_words));
  FS_TRY(fs_new_zero(f->scratch, &f->live, f->n_memories));
  FS_TRY(fs_new_zero(f->scratch, &f->grows, f->n_memories));
  FS_TRY(fs_new_zero(f->scratch, &f->bounded, f->n_memories));
  FS_TRY(fs_new_zero(f->scratch, &f->lives, ((size_t)n + 1) * f->n_memories));
  FS_TRY(fs_new(f->scratch, &f->frame, (size_t)n + 1));
  FS_TRY(fs_new(f->scratch, &f->preds_left, n));
  FS_TRY(fs_new(f->scratch, &f->left, g->n_versions));
  FS_TRY(fs_new_none(f->scratch, &f->maker, g->n_versions));
  FS_TRY(fs_new_none(f->scratch, &f->table, TABLE));
  for (uint32_t op = 0; op < n; op++) {
    f->preds_left[op] = g->pred0[op + 1] - g->pred0[op];
  }
  for (uint32_t m = 0; m < f->n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    f->bounded[m] = fs_memory_bounded(memory) && !fs_memory_spills(memory);
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    f->left[v] = e->v_use0[v + 1] - e->v_use0[v];
    uint32_t m = memory_of(f, v);
    if (m != FS_NONE && fs_version_given(g, v) && (f->left[v] > 0 || fs_version_stays(g, v))) {
      f->live[m] += e->v_size[v];
      f->maker[v] = n; /* none of the ops */
    }
  }
  return FSCHED_OK;
}

static fs_status search_order(order_fitter *f, uint32_t *position, fs_decision *found) {
  uint32_t n = f->e->g->n_ops;
  bool ended = false;
  FS_TRY(open_frame(f));
  while (!ended && !exhausted(f) && f->n_done < n) {
    FS_TRY(step_on(f, &ended));
  }
  for (uint32_t i = 0; i < n && f->n_done == n; i++) {
    position[f->frame[i].op] = i;
  }
  *found = f->n_done == n || ended ? fs_decided_by(f->n_done == n) : fs_not_decided();
  return FSCHED_OK;
}

fs_status fs_plan_fitting(const fs_engine *e, fs_arena *scratch, uint32_t *position,
                          fs_decision *found) {
  assert(e->v_use0 != NULL && position != NULL);
  order_fitter f = {.e = e, .ctx = e->ctx, .scratch = scratch};
  *found = fs_not_decided();
  if (e->g->n_ops == 0 || e->g->n_ops > MOST_OPS || e->g->target.n_memories > MOST_MEMORIES) {
    return FSCHED_OK;
  }
  FS_TRY(prepare_fitter(&f));
  fs_status status = search_order(&f, position, found);
  fs_vec_free(e->ctx, &f.candidate);
  fs_vec_free(e->ctx, &f.set);
  fs_vec_free(e->ctx, &f.set_hash);
  return status;
}
