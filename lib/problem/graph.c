/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the problem of a graph without spills.  The residency of a version in a bounded memory:
 *
 *                     begins                     ends with
 *   given, store      its read                   the last access
 *   given, no store   at 0                       the last access
 *   other             the first writer           the last access, and its write-back
 *   kept, no store    as above                   the makespan
 *
 * The residency in a bounded store begins at 0 if the version was given, else with its write, and
 * ends with the version's read, or with the makespan if the version is kept. */
#include "problem/private.h"

static bool accessed(const fsched_graph *g, uint32_t v) {
  return g->version_access0[v] < g->version_access0[v + 1];
}

/* Adds the residency in the store of a version that is read from the store or kept there. */
static fs_status add_store(fs_problem_draft *d, uint32_t v, uint32_t *residency) {
  const fsched_graph *g = d->g;
  uint32_t memory = fs_version_home(g, v)->backing;
  bool kept = fs_version_kept(g, v);
  *residency = FS_NONE;
  if (!fs_memory_bounded(&g->target.memory[memory]) || !(kept || fs_problem_needs_read(g, v))) {
    return FSCHED_OK;
  }
  FS_TRY(fs_problem_add_residency(d, v, FS_NONE, memory, residency));
  d->to_end.at[*residency] = kept;
  d->from_zero.at[*residency] = fs_version_given(g, v);
  return FSCHED_OK;
}

/* Adds the read of a version, which precedes all ops that access the version. */
static fs_status add_read(fs_problem_draft *d, uint32_t v, uint32_t residency, uint32_t store) {
  const fsched_graph *g = d->g;
  uint32_t item;
  FS_TRY(fs_problem_add_copy(d, FS_SPILL_READ, v, residency, store, &item));
  FS_TRY(fs_problem_add_touch(d, residency, item, FS_TOUCH_FILLS));
  FS_TRY(fs_problem_add_touch(d, store, item, 0));
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    FS_TRY(fs_problem_add_edge(d, item, g->access_op[i]));
  }
  return FSCHED_OK;
}

/* Adds the write of a version, which follows all writers of the version and so its read.  That
 * order gets an edge of its own, so that the residency in the store ends with the write alone. */
static fs_status add_write(fs_problem_draft *d, uint32_t v, uint32_t residency, uint32_t store) {
  const fsched_graph *g = d->g;
  uint32_t item, copies = (uint32_t)d->kind.n;
  FS_TRY(fs_problem_add_copy(d, FS_SPILL_WRITE, v, residency, store, &item));
  FS_TRY(fs_problem_add_touch(d, residency, item, 0));
  FS_TRY(fs_problem_add_touch(d, store, item, FS_TOUCH_FILLS));
  if (copies > 0 && d->copied.at[copies - 1] == v) {
    FS_TRY(fs_problem_add_edge(d, item - 1, item));
  }
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    if (fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      FS_TRY(fs_problem_add_edge(d, g->access_op[i], item));
    }
  }
  return FSCHED_OK;
}

fs_status fs_problem_add_version(fs_problem_draft *d, uint32_t v) {
  assert(d->p->arg_residency != NULL || d->g->n_args == 0);
  const fsched_graph *g = d->g;
  const fs_memory *m = fs_version_home(g, v);
  uint32_t residency = FS_NONE, store = FS_NONE;
  bool spills = fs_version_spills(g, v);
  if (!fs_memory_bounded(m)) {
    return FSCHED_OK;
  }
  bool stays = !spills && fs_version_kept(g, v);
  if (accessed(g, v) || stays) {
    FS_TRY(fs_problem_add_residency(d, v, FS_NONE, fs_version_memory(g, v), &residency));
    d->to_end.at[residency] = stays;
    d->from_zero.at[residency] = !spills && fs_version_given(g, v);
  }
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    d->p->arg_residency[g->access_arg[i]] = residency;
  }
  if (!spills) {
    return FSCHED_OK;
  }
  FS_TRY(add_store(d, v, &store));
  if (fs_problem_needs_read(g, v)) {
    FS_TRY(add_read(d, v, residency, store));
  }
  return fs_problem_needs_write(g, v) ? add_write(d, v, residency, store) : FSCHED_OK;
}

static fs_status add_scratch(fs_problem_draft *d, uint32_t op) {
  const fsched_graph *g = d->g;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (fs_memory_bounded(&g->target.memory[g->scratch_memory[i]])) {
      FS_TRY(fs_problem_add_residency(d, FS_NONE, op, g->scratch_memory[i],
                                      &d->p->scratch_residency[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status build_problem(fs_problem_draft *d) {
  const fsched_graph *g = d->g;
  fs_problem *p = d->p;
  FS_TRY(fs_new_none(&p->arena, &p->arg_residency, g->n_args));
  FS_TRY(fs_new_none(&p->arena, &p->scratch_residency, g->op_scratch0[g->n_ops]));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    FS_TRY(fs_problem_add_version(d, v));
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    FS_TRY(add_scratch(d, op));
  }
  FS_TRY(fs_problem_touch_ops(d));
  return fs_problem_finish(d);
}

/* ---- what must be resident at the same time */

/* The bytes that must be resident while an op runs that has a length. */
typedef struct needs {
  fs_problem_draft *d;
  uint64_t *always; /* per memory: bytes that are resident from 0 to the makespan */
  uint64_t *sum;    /* per memory: the same and the bytes of one op */
  uint32_t *seen;   /* per residency: the last op that counted it */
} needs;

static void count(needs *n, uint32_t residency, uint32_t op, bool shared) {
  const fs_problem *p = n->d->p;
  if (residency == FS_NONE || n->seen[residency] == op) {
    return;
  }
  n->seen[residency] = op;
  bool always = p->res_begin_item[residency] == FS_NONE && p->res_to_end[residency];
  n->sum[p->res_memory[residency]] += shared || always ? 0 : p->res_size[residency];
}

static bool op_fits(needs *n, uint32_t op) {
  const fsched_graph *g = n->d->g;
  const fs_problem *p = n->d->p;
  const fs_target *t = &g->target;
  memcpy(n->sum, n->always, t->n_memories * sizeof *n->sum);
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t out = p->arg_residency[g->inplace_out[i]];
    bool contiguous =
        out != FS_NONE && fs_placement_has_addresses(t->memory[p->res_memory[out]].placement);
    count(n, out, op, contiguous);
  }
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    count(n, p->arg_residency[a], op, false);
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    count(n, p->scratch_residency[i], op, false);
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (n->sum[m] > t->memory[m].capacity) {
      return false;
    }
  }
  return true;
}

/* Do the bytes fit that are resident at 0, at the makespan, and while each op runs? */
static fs_status check_fits(fs_problem_draft *d, bool *fits) {
  const fs_problem *p = d->p;
  const fs_target *t = &d->g->target;
  needs n = {.d = d};
  uint64_t *edge; /* per memory: bytes at 0, then at the makespan */
  FS_TRY(fs_new_zero(&d->scratch, &n.always, t->n_memories));
  FS_TRY(fs_new_zero(&d->scratch, &n.sum, t->n_memories));
  FS_TRY(fs_new_none(&d->scratch, &n.seen, p->n_residencies));
  FS_TRY(fs_new_zero(&d->scratch, &edge, 2 * (size_t)t->n_memories));
  bool lasts = false; /* the makespan is above 0 */
  for (uint32_t i = 0; i < p->n_items; i++) {
    lasts = lasts || p->time[i] > 0;
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t m = p->res_memory[r];
    bool first = p->res_begin_item[r] == FS_NONE, last = p->res_to_end[r];
    n.always[m] += first && last ? p->res_size[r] : 0;
    bool some = false; /* an item that may end the residency has a length */
    for (uint32_t i = p->res_end0[r]; i < p->res_end0[r + 1]; i++) {
      some = some || p->time[p->res_end[i]] > 0;
    }
    edge[2 * m] += first && (some || last) ? p->res_size[r] : 0;
    edge[2 * m + 1] += last && (some || first) ? p->res_size[r] : 0;
  }
  for (uint32_t m = 0; m < t->n_memories && lasts; m++) {
    *fits =
        *fits && edge[2 * m] <= t->memory[m].capacity && edge[2 * m + 1] <= t->memory[m].capacity;
  }
  for (uint32_t op = 0; op < d->g->n_ops && *fits; op++) {
    *fits = p->time[op] == 0 || op_fits(&n, op);
  }
  return FSCHED_OK;
}

static fs_status build_fitting(fs_problem_draft *d, bool *fits) {
  FS_TRY(build_problem(d));
  return check_fits(d, fits);
}

fs_status fs_problem_from_graph(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                                fs_tick lower_bound, fs_problem **out) {
  fs_problem_draft d;
  bool fits = true;
  *out = NULL;
  FS_TRY(fs_problem_draft_begin(&d, ctx, g));
  fs_status status = build_fitting(&d, &fits);
  d.p->horizon = horizon;
  d.p->lower_bound = lower_bound;
  return fs_problem_draft_end(&d, status, fits, out);
}
