/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of open copies.  Windows of what may not be there hold if it is.
 *
 *   link        its condition holds, and `to` cannot be as late as `from` asks
 *   clause      all its literals fail
 *   apart       two that together take more of a memory than it has surely are there at one time:
 *               an op with all that it touches, and another one, or a stay of another version, or
 *               two stays.  An output that may be in the place of an input counts nothing while its
 *               op runs.
 *   time table  at some moment, what is surely taken of a memory is more than it has */
#include <stdlib.h>

#include "base/saturate.h"
#include "verify/proof/stays/stays.h"

static bool holds(const fs_vproof *p, uint32_t node) { return node == FS_NONE || p->lb[node] > 0; }

static bool literal_fails(const fs_vproof *p, uint32_t literal) {
  uint32_t node = literal / 2;
  return (literal & 1) != 0 ? p->lb[node] > 0 : p->ub[node] < 1;
}

/* ---- links and clauses */

static bool breaks_link(const fs_vproof *p, const fs_vlink *l) {
  uint64_t lb = (uint64_t)p->lb[l->from], ub = (uint64_t)p->ub[l->to];
  if (!holds(p, l->only_if) || p->ub[l->to] < 0) {
    return false;
  }
  return l->lag >= 0 ? lb + (uint64_t)l->lag > ub : lb > ub + (uint64_t)-l->lag;
}

bool fs_vstays_link_violated(const fs_vproof *p) {
  const fs_vstays *s = p->stays;
  for (size_t k = 0; k < p->n_named; k++) {
    uint32_t node = p->op.at[k];
    for (uint32_t i = s->link0[node]; i < s->link0[node + 1]; i++) {
      if (breaks_link(p, &s->link.at[s->link_of[i]])) {
        return true;
      }
    }
  }
  return false;
}

bool fs_vstays_clause_violated(const fs_vproof *p) {
  const fs_vstays *s = p->stays;
  for (size_t k = 0; k < p->n_named; k++) {
    uint32_t node = p->op.at[k];
    for (uint32_t i = s->of0[node]; i < s->of0[node + 1]; i++) {
      uint32_t c = s->of[i], at = s->clause0.at[c];
      while (at < s->clause0.at[c + 1] && literal_fails(p, s->clause.at[at])) {
        at++;
      }
      if (at == s->clause0.at[c + 1]) {
        return true;
      }
    }
  }
  return false;
}

/* ---- time tables */

typedef struct byte_event {
  int64_t time;
  uint64_t bytes;
  bool begins; /* ends come first */
} byte_event;

static int compare_bytes(const void *a, const void *b) {
  const byte_event *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  return x->begins - y->begins;
}

/* The last time at which it begins, and the first one at which it ends. */
static int64_t latest_begin(const fs_vproof *p, const fs_vuse *u) {
  return u->delay == FS_VBEFORE_ALL
             ? FS_VBEFORE_ALL
             : (int64_t)fs_min((uint64_t)fs_max(p->ub[u->from], 0) + (uint64_t)u->delay, INT64_MAX);
}
static int64_t earliest_end(const fs_vproof *p, const fs_vuse *u) {
  return (int64_t)fs_min((uint64_t)p->lb[u->to] + (uint64_t)u->length, INT64_MAX);
}

fs_status fs_vstays_table_violated(fs_vproof *p, uint32_t memory, bool *violated) {
  const fs_vstays *s = p->stays;
  const fs_memory *m = &p->g->target.memory[memory];
  byte_event *at;
  size_t n = 0;
  uint64_t sum = 0;
  FS_TRY(fs_new(&p->scratch, &at, 2 * s->use.n));
  for (size_t k = 0; k < s->use.n; k++) {
    const fs_vuse *u = &s->use.at[k];
    if (u->memory == memory && holds(p, u->only_if) && latest_begin(p, u) < earliest_end(p, u)) {
      at[n++] = (byte_event){latest_begin(p, u), u->bytes, true};
      at[n++] = (byte_event){earliest_end(p, u), u->bytes, false};
      sum = fs_add_most(sum, u->bytes);
    }
  }
  if (sum == UINT64_MAX || n == 0) { /* the sums below do not saturate */
    return FSCHED_OK;
  }
  qsort(at, n, sizeof *at, compare_bytes);
  uint64_t used = 0, capacity = m->capacity & ~(m->align - 1);
  for (size_t k = 0; k < n && !*violated; k++) {
    used = at[k].begins ? used + at[k].bytes : used - at[k].bytes;
    *violated = used > capacity;
  }
  return FSCHED_OK;
}

/* ---- what cannot be at one time */

static bool is_output_in_place(const fsched_graph *g, uint32_t op, uint32_t version) {
  bool any = false;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    any = any || g->arg_version[g->inplace_out[i]] == version;
  }
  return any;
}

static uint64_t size_of(const fsched_graph *g, uint32_t version) {
  uint32_t buffer = g->version_buffer[version];
  return fs_vmemory_aligned(g, g->buffer_memory[buffer], g->buffer_size[buffer]);
}

static bool accesses(const fsched_graph *g, uint32_t op, uint32_t version, uint32_t before) {
  for (uint32_t a = g->op_arg0[op]; a < before; a++) {
    if (fs_tag_accesses(g->arg_tag[a]) && g->arg_version[a] == version) {
      return true;
    }
  }
  return false;
}

/* Bytes of a memory that the op touches while it runs, without those of another op (or FS_NONE).
 */
static uint64_t touched(const fsched_graph *g, uint32_t op, uint32_t memory, uint32_t but) {
  uint64_t sum = 0;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    bool new = fs_tag_accesses(g->arg_tag[a]) && v != FS_NONE &&
               g->buffer_memory[g->version_buffer[v]] == memory && !accesses(g, op, v, a) &&
               !(but != FS_NONE && accesses(g, but, v, g->op_arg0[but + 1]));
    sum = fs_add_most(sum, new && !is_output_in_place(g, op, v) ? size_of(g, v) : 0);
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    bool here = g->scratch_memory[i] == memory;
    sum = fs_add_most(sum, here ? fs_vmemory_aligned(g, memory, g->scratch_size[i]) : 0);
  }
  return sum;
}

static uint64_t capacity_of(const fsched_graph *g, uint32_t memory) {
  const fs_memory *m = &g->target.memory[memory];
  return m->capacity == FS_UNBOUNDED ? UINT64_MAX : m->capacity & ~(m->align - 1);
}

bool fs_vstays_ops_apart(const fs_vproof *p, uint32_t a, uint32_t b) {
  const fsched_graph *g = p->g;
  bool apart = false;
  assert(a < g->n_ops && b < g->n_ops);
  for (uint32_t m = 0; m < g->target.n_memories && a != b; m++) {
    /* An output in place of one may be no such output of the other, which then waits for it. */
    uint64_t one = fs_add_most(touched(g, a, m, FS_NONE), touched(g, b, m, a));
    uint64_t sum = fs_max(one, fs_add_most(touched(g, b, m, FS_NONE), touched(g, a, m, b)));
    apart = apart || (sum > capacity_of(g, m) && sum < UINT64_MAX);
  }
  return apart && g->op_time[a] > 0 && g->op_time[b] > 0;
}

/* Is one of the versions an output of some op in the place of the other one? */
static bool are_paired(const fsched_graph *g, uint32_t v, uint32_t w) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      uint32_t in = g->arg_version[g->inplace_in[i]], out = g->arg_version[g->inplace_out[i]];
      if ((in == v && out == w) || (in == w && out == v)) {
        return true;
      }
    }
  }
  return false;
}

uint32_t fs_vstays_version(const fs_vproof *p, uint32_t node) {
  const fsched_graph *g = p->g;
  bool end = node >= p->n_items && node < p->n_items + p->stays->n_ends;
  return end ? p->stays->thing.at[node - g->n_ops].version : FS_NONE;
}

static bool too_large(const fs_vproof *p, uint32_t x, uint32_t y) {
  const fsched_graph *g = p->g;
  uint32_t v = fs_vstays_version(p, x), w = fs_vstays_version(p, y);
  if (v == FS_NONE && w == FS_NONE) {
    return fs_vstays_ops_apart(p, x, y);
  }
  if (v == FS_NONE) {
    return too_large(p, y, x);
  }
  uint32_t m = g->buffer_memory[g->version_buffer[v]];
  if (w == FS_NONE) {
    uint64_t sum = fs_add_most(touched(g, y, m, FS_NONE), size_of(g, v));
    return g->op_time[y] > 0 && !accesses(g, y, v, g->op_arg0[y + 1]) && sum > capacity_of(g, m);
  }
  return v != w && g->buffer_memory[g->version_buffer[w]] == m && !are_paired(g, v, w) &&
         fs_add_most(size_of(g, v), size_of(g, w)) > capacity_of(g, m);
}

bool fs_vstays_surely(const fs_vproof *p, uint32_t x, int64_t *begin, int64_t *end, uint32_t *op) {
  const fsched_graph *g = p->g;
  fs_vuse span = {.from = x, .to = x, .length = x < p->n_items ? (int64_t)p->time[x] : 0};
  uint32_t version = fs_vstays_version(p, x);
  *op = FS_NONE;
  if (version != FS_NONE) {
    const fs_vversion *v = &p->stays->version[version];
    span.delay = FS_VBEFORE_ALL;
    for (uint32_t k = 0; k < v->users; k++) {
      const fs_vuser *u = &p->stays->user.at[v->user0 + k];
      bool mine = v->how == FS_VCONTENT_HELD ? u->alone : u->end == x;
      if (!mine) {
        continue;
      }
      span.from = u->alone ? u->op : u->read;
      *op = u->alone && is_output_in_place(g, u->op, version) ? u->op : FS_NONE;
      span.delay = *op == FS_NONE ? 0 : (int64_t)p->time[u->op];
    }
    if (span.from == FS_NONE || (fs_vcontent_goes(v->how) && span.delay == FS_VBEFORE_ALL)) {
      return false;
    }
  }
  *begin = latest_begin(p, &span);
  *end = earliest_end(p, &span);
  return fs_vproof_there(p, x);
}

bool fs_vstays_apart_violated(const fs_vproof *p, uint32_t x, uint32_t y) {
  int64_t begin[2], end[2];
  uint32_t op;
  return too_large(p, x, y) && fs_vstays_surely(p, x, &begin[0], &end[0], &op) &&
         fs_vstays_surely(p, y, &begin[1], &end[1], &op) && begin[0] < end[1] && begin[1] < end[0];
}

/* ---- queues */

bool fs_vstays_runs_on(const fs_vproof *p, const fs_vset *set, uint32_t item) {
  const fs_vstays *s = p->stays;
  for (uint32_t i = s->on0[item]; i < s->on0[item + 1]; i++) {
    const fs_vthing *t = &s->thing.at[s->on[i]];
    bool all = p->lb[p->g->n_ops + s->on[i]] > 0;
    for (size_t k = t->queue0; k < t->queue1 && all; k++) {
      all = set->in[s->queue.at[k]];
    }
    if (all) {
      return true;
    }
  }
  return false;
}
