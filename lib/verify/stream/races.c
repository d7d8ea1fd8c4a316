/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the list of races.  Under hazards: raw these are the pairs of ops that touch overlapping
 * bytes of one version, at least one of them writing, with no path of predecessors between them.
 *
 * An op whose members conflict is a pair with itself.
 *
 * Paths are searched backwards, one search per op that shares a version with earlier ones.  The
 * search has a budget, beyond which the list is not compared: a pair that the stream leaves
 * unordered without being listed is then still found as a conflict. */
#include <stdlib.h>

#include "base/context.h"
#include "base/group.h"
#include "verify/stream/stream.h"

#define STEP_BUDGET ((uint64_t)1 << 26)

typedef struct race {
  uint32_t a, b, version; /* a < b */
} race;

typedef struct race_search {
  fs_vs *v;
  uint32_t *access0, *access_op, *access_arg; /* CSR per version, in program order */
  uint32_t *seen, stamp;                      /* per op: the last search that met it */
  uint32_t *stack;
  FS_VEC(race) found;
  uint64_t steps;
} race_search;

/* Compares races; races that compare equal are equal in every member. */
static int compare_races(const void *x, const void *y) {
  const race *p = x, *q = y;
  if (p->a != q->a) {
    return p->a < q->a ? -1 : 1;
  }
  if (p->b != q->b) {
    return p->b < q->b ? -1 : 1;
  }
  return p->version < q->version ? -1 : p->version > q->version;
}

static size_t sort_unique(race *r, size_t n) {
  size_t kept = 0;
  if (n > 1) {
    qsort(r, n, sizeof *r, compare_races);
  }
  for (size_t i = 0; i < n; i++) {
    if (kept == 0 || compare_races(&r[kept - 1], &r[i]) != 0) {
      r[kept++] = r[i];
    }
  }
  return kept;
}

static bool is_access(const fs_stream_arg *a) {
  return fs_tag_accesses(a->tag) && a->version != FS_NONE;
}

static fs_status list_accesses(race_search *r) {
  const fs_stream *s = r->v->s;
  FS_TRY(fs_new_zero(&r->v->arena, &r->access0, (size_t)s->n_versions + 2));
  FS_TRY(fs_new(&r->v->arena, &r->access_op, s->n_args));
  FS_TRY(fs_new(&r->v->arena, &r->access_arg, s->n_args));
  for (uint32_t i = 0; i < s->n_args; i++) {
    if (is_access(&s->args[i])) {
      r->access0[s->args[i].version + 2]++;
    }
  }
  fs_group_sum(r->access0, s->n_versions);
  for (uint32_t o = 0; o < s->n_ops; o++) {
    for (uint32_t i = s->ops[o].arg0; i < s->ops[o].arg0 + s->ops[o].n_args; i++) {
      if (is_access(&s->args[i])) {
        uint32_t at = r->access0[s->args[i].version + 1]++;
        r->access_op[at] = o;
        r->access_arg[at] = i;
      }
    }
  }
  return FSCHED_OK;
}

static bool budget_left(const race_search *r) { return r->steps < STEP_BUDGET; }

/* Marks all ops before `op`. */
static void search(race_search *r, uint32_t op) {
  uint32_t n = 0;
  r->stamp++;
  r->stack[n++] = op;
  while (n > 0 && budget_left(r)) {
    uint32_t at = r->stack[--n];
    for (uint32_t e = r->v->pred0[at]; e < r->v->pred0[at + 1]; e++) {
      uint32_t before = r->v->pred.at[e];
      r->steps++;
      if (r->seen[before] != r->stamp) {
        r->seen[before] = r->stamp;
        r->stack[n++] = before;
      }
    }
  }
}

/* Whether nothing but an order could keep the two apart: they are of two ops, or of two members. */
static bool apart(const race_search *r, uint32_t x, uint32_t y) {
  uint32_t op = r->access_op[x];
  return op != r->access_op[y] ||
         fs_vs_member(r->v, op, r->access_arg[x]) != fs_vs_member(r->v, op, r->access_arg[y]);
}

/* Whether two args whose bytes lie between each other's share some. */
static bool share_runs(race_search *r, uint32_t x, uint32_t y) {
  const fs_stream *s = r->v->s;
  if (s->n_views == 0) {
    return true;
  }
  fs_vs_runs a = fs_vs_runs_of(r->v, x, 0), b = fs_vs_runs_of(r->v, y, 0);
  bool more = fs_vs_run(&a) && fs_vs_run(&b);
  while (more && (a.high <= b.low || b.high <= a.low)) {
    r->steps++;
    more = fs_vs_run(a.high <= b.low ? &a : &b);
  }
  return more;
}

static bool conflict(race_search *r, uint32_t x, uint32_t y) {
  const fs_stream_arg *a = &r->v->s->args[r->access_arg[x]];
  const fs_stream_arg *b = &r->v->s->args[r->access_arg[y]];
  return apart(r, x, y) && (fs_tag_writes(a->tag) || fs_tag_writes(b->tag)) &&
         a->offset < b->offset + fs_max(b->length, 1) &&
         b->offset < a->offset + fs_max(a->length, 1) &&
         share_runs(r, r->access_arg[x], r->access_arg[y]);
}

/* Finds the earlier accesses that access y conflicts with and that are not ordered before it. */
static fs_status judge(race_search *r, uint32_t version, uint32_t y, uint32_t *candidate) {
  uint32_t n = 0, op = r->access_op[y];
  for (uint32_t x = r->access0[version]; x < y; x++, r->steps++) {
    if (conflict(r, x, y)) {
      candidate[n++] = r->access_op[x];
    }
  }
  if (n > 0) {
    search(r, op);
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (r->seen[candidate[i]] != r->stamp) {
      candidate[left++] = candidate[i];
    }
  }
  for (uint32_t i = 0; i < left && budget_left(r); i++) { /* `after` may put the later op first */
    search(r, candidate[i]);
    if (r->seen[op] != r->stamp) {
      FS_TRY(fs_vec_push(r->v->ctx, &r->found, ((race){candidate[i], op, version})));
    }
  }
  return FSCHED_OK;
}

static void compare_lists(race_search *r, race *listed, size_t n) {
  fs_vs *v = r->v;
  size_t m = sort_unique(r->found.at, r->found.n), i = 0, k = 0;
  n = sort_unique(listed, n);
  while (i < n || k < m) {
    int order = i == n ? 1 : k == m ? -1 : compare_races(&listed[i], &r->found.at[k]);
    if (order != 0) {
      const race *x = order < 0 ? &listed[i] : &r->found.at[k];
      FS_WRONG(v, FS_DIAG_VERIFY_RACE, "ops %s and %s %s", fs_vs_op_name(v, x->a),
               fs_vs_op_name(v, x->b),
               order < 0 ? "are listed as a race and are none" : "race and are not listed");
    }
    i += order <= 0;
    k += order >= 0;
  }
}

static fs_status find_and_compare(race_search *r) {
  fs_vs *v = r->v;
  uint32_t *candidate;
  race *listed;
  FS_TRY(list_accesses(r));
  FS_TRY(fs_new_zero(&v->arena, &r->seen, v->s->n_ops));
  FS_TRY(fs_new(&v->arena, &r->stack, v->s->n_ops));
  FS_TRY(fs_new(&v->arena, &candidate, v->s->n_args));
  FS_TRY(fs_new(&v->arena, &listed, v->s->n_races));
  for (uint32_t x = 0; x < v->s->n_versions && budget_left(r); x++) {
    for (uint32_t y = r->access0[x]; y < r->access0[x + 1] && budget_left(r); y++) {
      FS_TRY(judge(r, x, y, candidate));
    }
  }
  for (uint32_t i = 0; i < v->s->n_races; i++) {
    const fs_stream_race *x = &v->s->races[i];
    listed[i] =
        (race){(uint32_t)fs_min(x->op_a, x->op_b), (uint32_t)fs_max(x->op_a, x->op_b), x->version};
  }
  if (budget_left(r)) {
    compare_lists(r, listed, v->s->n_races);
  }
  return FSCHED_OK;
}

fs_status fs_vs_races(fs_vs *v) {
  if (!fs_hazards_data_only(v->s->meta[0].hazards)) {
    return FSCHED_OK;
  }
  race_search r = {.v = v};
  fs_status status = find_and_compare(&r);
  fs_vec_free(v->ctx, &r.found);
  return status;
}
