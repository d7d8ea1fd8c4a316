/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lags.h"

#include "base/saturate.h"
#include "model/loop_report.h"

enum { MOST_MEMBERS = 64 };

/* An op at hand: what it accesses of each version, and which members of it touch each buffer.  What
 * was noted of another op counts as nothing. */
typedef struct op_notes {
  uint32_t op; /* FS_NONE: none is noted */
  bool parts;
  uint64_t all;                     /* its members */
  uint32_t *of_version, *of_buffer; /* of which op the following is */
  uint8_t *writes;                  /* per version */
  uint64_t *members;                /* per buffer */
} op_notes;

typedef struct lag_finder {
  const fsched_graph *g;
  fs_lag *lag;
  uint8_t *parts;  /* per op: it is a loop with parts */
  uint32_t *after; /* per op: the last one that has it as an `after` */
  op_notes from, to;
} lag_finder;

static bool has_parts(const fsched_graph *g, uint32_t op) {
  uint32_t gang = g->op_gang[op];
  return gang != FS_NONE && g->gang_members[gang] <= MOST_MEMBERS && fs_op_parts(g, op) != NULL;
}

static fs_status new_notes(fs_arena *arena, const fsched_graph *g, op_notes *n) {
  *n = (op_notes){.op = FS_NONE};
  FS_TRY(fs_new_none(arena, &n->of_version, g->n_versions));
  FS_TRY(fs_new_none(arena, &n->of_buffer, g->n_buffers));
  FS_TRY(fs_new(arena, &n->writes, g->n_versions));
  return fs_new(arena, &n->members, g->n_buffers);
}

static void note_member(op_notes *n, const fs_rolled *x, uint32_t body_op, uint32_t member) {
  const fs_body_op *o = &x->body[body_op];
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    uint32_t buffer = x->arg[a].buffer;
    if (buffer != FS_NONE) {
      n->members[buffer] = n->of_buffer[buffer] == n->op ? n->members[buffer] : 0;
      n->members[buffer] |= UINT64_C(1) << member;
      n->of_buffer[buffer] = n->op;
    }
  }
}

/* The last value of these slots is moved when all queues are over: so all touch the buffer. */
static void note_moved(op_notes *n, const fs_rolled *x) {
  for (uint32_t k = 0; k < x->loop.n_rings; k++) {
    const fs_body_slots *s = &x->slots[k];
    if (s->leaves || (s->entry && (s->returns || x->least < x->trip))) {
      n->members[s->buffer] = n->all;
      n->of_buffer[s->buffer] = n->op;
    }
  }
}

/* Notes an op.  O(its args + those of its body). */
static void note_op(const lag_finder *f, op_notes *n, uint32_t op) {
  const fsched_graph *g = f->g;
  if (n->op == op) {
    return;
  }
  n->op = op;
  n->parts = f->parts[op] != 0;
  n->all = n->parts ? UINT64_MAX >> (MOST_MEMBERS - g->gang_members[g->op_gang[op]]) : 0;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a])) {
      bool before = n->of_version[v] == op && n->writes[v] != 0;
      n->writes[v] = before || fs_tag_writes(g->arg_tag[a]);
      n->of_version[v] = op;
    }
  }
  if (!n->parts) {
    return;
  }
  const fs_rolled *x = &g->rolled[fs_op_rolled(g, op)];
  for (uint32_t q = 0; q < x->loop.n_queues; q++) {
    for (uint32_t c = x->loop.command0[q]; c < x->loop.command0[q + 1]; c++) {
      note_member(n, x, x->loop.command[c].member, q);
    }
  }
  note_moved(n, x);
}

/* The members of an op that touch a buffer. */
static uint64_t members_at(const op_notes *n, uint32_t buffer) {
  bool some = n->parts && n->of_buffer[buffer] == n->op && n->members[buffer] != n->all;
  return some ? n->members[buffer] : FS_LAG_ALL;
}

static bool takes_places(const fsched_graph *g, uint32_t op) {
  return g->op_inplace0[op] < g->op_inplace0[op + 1];
}

/* The edge between the ops that are noted. */
static fs_lag find_lag(const lag_finder *f) {
  const fsched_graph *g = f->g;
  uint32_t from = f->from.op, to = f->to.op;
  fs_lag lag = {0, 0};
  bool whole = takes_places(g, from) || takes_places(g, to) || f->after[from] == to;
  for (uint32_t a = g->op_arg0[from]; a < g->op_arg0[from + 1] && !whole; a++) {
    uint32_t v = g->arg_version[a];
    bool shared = v != FS_NONE && fs_tag_accesses(g->arg_tag[a]) && f->to.of_version[v] == to;
    if (shared && (fs_tag_writes(g->arg_tag[a]) || f->to.writes[v] != 0)) {
      lag.from |= members_at(&f->from, g->arg_buffer[a]);
      lag.to |= members_at(&f->to, g->arg_buffer[a]);
    }
  }
  return (fs_lag){lag.from == 0 || lag.from == f->from.all ? FS_LAG_ALL : lag.from,
                  lag.to == 0 || lag.to == f->to.all ? FS_LAG_ALL : lag.to};
}

static void find_lags(lag_finder *f) {
  const fsched_graph *g = f->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
      f->after[g->after_op[i]] = op;
    }
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      bool parts = f->parts[op] != 0 || f->parts[g->pred[e]] != 0;
      f->lag[e] = (fs_lag){FS_LAG_ALL, FS_LAG_ALL};
      if (parts) {
        note_op(f, &f->to, op);
        note_op(f, &f->from, g->pred[e]);
        f->lag[e] = find_lag(f);
      }
    }
  }
}

static fs_status make_lags(fs_arena *arena, fs_arena *scratch, const fsched_graph *g,
                           fs_lags *out) {
  lag_finder f = {.g = g};
  bool any = false;
  if (fs_graph_wait(g) != 0 || fs_graph_first_slow(g) != FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(scratch, &f.parts, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    f.parts[op] = has_parts(g, op);
    any = any || f.parts[op] != 0;
  }
  if (!any) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(scratch, &f.after, g->n_ops));
  FS_TRY(new_notes(scratch, g, &f.from));
  FS_TRY(new_notes(scratch, g, &f.to));
  FS_TRY(fs_new(arena, &out->lag, g->n_edges));
  f.lag = out->lag;
  find_lags(&f);
  return FSCHED_OK;
}

fs_status fs_lags_find(fs_arena *arena, const fsched_graph *g, fs_lags *out) {
  assert(g->topo != NULL || g->n_ops == 0);
  *out = (fs_lags){.g = g};
  if (g->n_rolled == 0) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, arena->ctx);
  return make_lags(arena, &scratch, g, out);
}

fs_tick fs_lags_delay(const fs_lags *l, uint32_t edge, uint32_t op) {
  const fsched_graph *g = l->g;
  FS_ASSERT_SLOW(op < g->n_ops && edge >= g->pred0[op] && edge < g->pred0[op + 1]);
  uint32_t from = g->pred[edge];
  fs_tick end = fs_op_latency(g, from), begin = 0;
  if (!fs_lags_some(l, edge)) {
    return end;
  }
  fs_lag lag = l->lag[edge];
  if (lag.from != FS_LAG_ALL) {
    const fs_rolled_part *part = fs_op_parts(g, from);
    end = 0;
    for (uint32_t k = 0; k < g->gang_members[g->op_gang[from]]; k++) {
      end = (lag.from >> k & 1) != 0 ? fs_max(end, part[k].end) : end;
    }
  }
  if (lag.to != FS_LAG_ALL) {
    const fs_rolled_part *part = fs_op_parts(g, op);
    begin = FS_TICK_NONE;
    for (uint32_t k = 0; k < g->gang_members[g->op_gang[op]]; k++) {
      begin = (lag.to >> k & 1) != 0 ? fs_min(begin, part[k].begin) : begin;
    }
  }
  return end - fs_min(end, begin);
}

uint32_t fs_lags_edge(const fsched_graph *g, uint32_t from, uint32_t to) {
  assert(from < g->n_ops && to < g->n_ops);
  uint32_t low = g->pred0[to], high = g->pred0[to + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (g->pred[middle] < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < g->pred0[to + 1] && g->pred[low] == from ? low : FS_NONE;
}
