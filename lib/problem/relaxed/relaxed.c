/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/relaxed/relaxed.h"

#include "base/group.h"
#include "base/saturate.h"
#include "model/needs.h"
#include "problem/relaxed/private.h"

/* ---- orders and accesses */

/* Lists the versions of each op, and the ops of each version, in topological order. */
static fs_status list_touches(fs_relaxing *s) {
  const fsched_graph *g = s->g;
  fs_arena *a = &s->d.scratch;
  uint32_t n = 0, *seen, *version0, *version, *rank;
  FS_TRY(fs_new_none(a, &seen, g->n_versions));
  FS_TRY(fs_new(a, &version0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(a, &version, g->n_args));
  FS_TRY(fs_new(a, &s->touch0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(a, &s->touch, g->n_args));
  FS_TRY(fs_new(a, &rank, g->n_ops));
  for (uint32_t k = 0; k < g->n_ops; k++) {
    uint32_t op = g->topo[k];
    version0[k] = n;
    rank[op] = k;
    for (uint32_t i = g->op_arg0[op]; i < g->op_arg0[op + 1]; i++) {
      uint32_t v = g->arg_version[i];
      if (fs_arg_accesses(g, i) && seen[v] != op) {
        seen[v] = op;
        version[n++] = v;
      }
    }
  }
  version0[g->n_ops] = n;
  FS_TRY(fs_group_turn(a, version0, version, g->n_ops, g->n_versions, &s->user0, &s->user));
  for (uint32_t i = 0; i < n; i++) {
    s->user[i] = g->topo[s->user[i]];
  }
  n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t k = rank[op];
    s->touch0[op] = n;
    for (uint32_t i = version0[k]; i < version0[k + 1]; i++) {
      s->touch[n++] = version[i];
    }
  }
  s->touch0[g->n_ops] = n;
  return FSCHED_OK;
}

/* Finds the memories that are short, and what each op takes of them. */
static fs_status find_short(fs_relaxing *s, bool *any) {
  const fsched_graph *g = s->g;
  const fs_target *t = &g->target;
  fs_needs needs;
  uint64_t *sum;
  FS_TRY(fs_needs_init(&needs, g, &s->d.scratch));
  FS_TRY(fs_new_zero(&s->d.scratch, &sum, t->n_memories));
  FS_TRY(fs_new_zero(&s->d.scratch, &s->need, t->n_memories));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint64_t *of = &sum[fs_version_memory(g, v)];
    *of = fs_add_most(*of, fs_relaxing_size(s, v));
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    const fs_memory *m = &t->memory[g->scratch_memory[i]];
    uint64_t *of = &sum[g->scratch_memory[i]];
    *of = fs_add_most(*of, fs_align_up(g->scratch_size[i], m->align));
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    const fs_memory *of = &t->memory[m];
    if (fs_memory_bounded(of) && fs_memory_spills(of) && sum[m] > of->capacity) {
      *any = true;
      FS_TRY(fs_new_zero(&s->d.scratch, &s->need[m], g->n_ops));
    }
  }
  for (uint32_t op = 0; op < g->n_ops && *any; op++) {
    fs_needs_find(&needs, op);
    for (uint32_t k = 0; k < needs.n; k++) {
      uint32_t m = needs.memory[k];
      if (s->need[m] != NULL) {
        s->need[m][op] = needs.need[m];
      }
    }
  }
  return FSCHED_OK;
}

/* ---- amounts behind those of the graph */

static fs_status take_amounts(fs_relaxing *s) {
  fs_problem *p = s->d.p;
  uint32_t before = p->n_amounts, n = 0, *own0, *own, *item;
  uint32_t n_own = (uint32_t)(s->use.n / 2), n_old = p->use0[p->n_items];
  uint32_t *use0, *use;
  uint64_t *capacity, *amount;
  const char **name;
  p->n_amounts += (uint32_t)s->amount_capacity.n;
  FS_TRY(fs_new(&p->arena, &capacity, p->n_amounts));
  FS_TRY(fs_new(&p->arena, &name, p->n_amounts));
  for (uint32_t i = 0; i < p->n_amounts; i++) {
    capacity[i] = i < before ? p->amount_capacity[i] : s->amount_capacity.at[i - before];
    name[i] = i < before ? p->amount_name[i] : "memory";
  }
  FS_TRY(fs_new(&s->d.scratch, &item, n_own));
  for (uint32_t i = 0; i < n_own; i++) {
    item[i] = (uint32_t)(s->use.at[2 * i] >> 32);
  }
  FS_TRY(fs_group(&s->d.scratch, item, n_own, p->n_items, &own0, &own));
  FS_TRY(fs_new(&p->arena, &use0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&p->arena, &use, (size_t)n_old + n_own));
  FS_TRY(fs_new(&p->arena, &amount, (size_t)n_old + n_own));
  for (uint32_t i = 0; i < p->n_items; i++) {
    use0[i] = n;
    for (uint32_t u = p->use0[i]; u < p->use0[i + 1]; u++) {
      use[n] = p->use[u];
      amount[n++] = p->use_amount[u];
    }
    for (uint32_t u = own0[i]; u < own0[i + 1]; u++) {
      use[n] = before + (uint32_t)s->use.at[2 * own[u]];
      amount[n++] = s->use.at[2 * own[u] + 1];
    }
  }
  use0[p->n_items] = n;
  p->amount_capacity = capacity;
  p->amount_name = name;
  p->use0 = use0;
  p->use = use;
  p->use_amount = amount;
  return FSCHED_OK;
}

static fs_status relax(fs_relaxing *s, bool *any) {
  FS_TRY(find_short(s, any));
  if (!*any) {
    return FSCHED_OK;
  }
  fs_problem *p = s->d.p;
  FS_TRY(fs_new_none(&p->arena, &p->arg_residency, s->g->n_args));
  FS_TRY(fs_new_none(&p->arena, &p->scratch_residency, s->g->op_scratch0[s->g->n_ops]));
  FS_TRY(fs_op_closure_find(&s->after, s->g, &s->d.scratch));
  FS_TRY(list_touches(s));
  FS_TRY(fs_relaxing_copies(s));
  FS_TRY(fs_problem_finish(&s->d));
  FS_TRY(fs_relaxing_amounts(s));
  return take_amounts(s);
}

fs_status fs_problem_relax(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                           fs_tick lower_bound, fs_problem **out) {
  assert(g->topo != NULL || g->n_ops == 0);
  fs_relaxing s = {.ctx = ctx, .g = g};
  bool any = false;
  *out = NULL;
  if (g->n_ops > fs_limits_of(ctx)->window_paired || g->n_rolled > 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_problem_draft_begin(&s.d, ctx, g));
  fs_status status = relax(&s, &any);
  s.d.p->horizon = horizon;
  s.d.p->lower_bound = lower_bound;
  s.d.p->exact = s.d.p->least = false;
  s.d.p->relaxed = true;
  fs_vec_free(ctx, &s.amount_capacity);
  fs_vec_free(ctx, &s.use);
  return fs_problem_draft_end(&s.d, status, any, out);
}
