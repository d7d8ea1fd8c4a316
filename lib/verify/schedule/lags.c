/* SPDX-License-Identifier: Apache-2.0 */
/* Edges at loops whose queues enter and leave on their own.
 *
 * In the stream a queue of such a loop waits for what comes before it alone, and what follows waits
 * for those queues alone that have what it needs.  So an edge orders an op and those queues of the
 * loop whose commands touch a buffer that the edge is for: one of which both ops access the same
 * version, and one of them writes it.  The last value of slots that are moved is moved by whichever
 * queue is over last: these count for all.  What else the ops share has other edges, or control
 * edges, which order all queues.  All queues count where `after` names the op, where no buffer is
 * found, and where some op is slow, since then an epoch tells of more than its own command. */
#include "verify/schedule/schedule.h"

#include "model/loop_report.h"

fs_status fs_vsched_find_loops(fs_vsched *v) {
  const fsched_graph *g = v->g;
  if (g->n_rolled == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(&v->arena, &v->loop, g->n_ops));
  FS_TRY(fs_new_zero(&v->arena, &v->noted_at, g->n_versions));
  FS_TRY(fs_new_zero(&v->arena, &v->noted_writes, g->n_versions));
  for (uint32_t l = g->n_rolled; l-- > 0;) {
    if (g->rolled[l].within == FS_NONE) {
      v->loop[g->rolled[l].op] = l;
    }
  }
  return FSCHED_OK;
}

static const fs_rolled *loop_of(const fs_vsched *v, uint32_t item) {
  bool loop = v->loop != NULL && item < v->g->n_ops && v->loop[item] != FS_NONE;
  return loop ? &v->g->rolled[v->loop[item]] : NULL;
}

const fs_rolled_part *fs_vsched_parts(const fs_vsched *v, uint32_t item) {
  const fs_rolled *x = loop_of(v, item);
  return x == NULL || x->report->span != v->g->op_time[item] ? NULL : x->part;
}

static bool command_touches(const fs_rolled *x, uint32_t command, uint32_t buffer) {
  const fs_body_op *o = &x->body[x->loop.command[command].member];
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (x->arg[o->arg0 + i].buffer == buffer) {
      return true;
    }
  }
  return false;
}

static bool is_moved(const fs_rolled *x, uint32_t buffer) {
  for (uint32_t k = 0; k < x->loop.n_rings; k++) {
    const fs_body_slots *s = &x->slots[k];
    if (s->buffer == buffer && s->entry && (s->returns || x->least < x->trip)) {
      return true;
    }
  }
  return false;
}

static bool queue_touches(const fs_rolled *x, uint32_t q, uint32_t buffer) {
  if (is_moved(x, buffer)) {
    return true;
  }
  for (uint32_t c = x->loop.command0[q]; c < x->loop.command0[q + 1]; c++) {
    if (command_touches(x, c, buffer)) {
      return true;
    }
  }
  return false;
}

/* Widens *edge by what an access of both ops to a version needs. */
static void need_buffer(const fs_vsched *v, uint32_t before, uint32_t after, uint32_t buffer,
                        fs_vedge *edge) {
  const fs_rolled_part *from = fs_vsched_parts(v, before), *to = fs_vsched_parts(v, after);
  const fs_schedule *s = v->s;
  if (from == NULL) {
    edge->end = s->end[before];
  } else {
    const fs_rolled *x = loop_of(v, before);
    for (uint32_t q = 0; q < x->loop.n_queues; q++) {
      bool counts = queue_touches(x, q, buffer);
      edge->end = counts ? fs_max(edge->end, s->start[before] + from[q].end) : edge->end;
    }
  }
  if (to == NULL) {
    edge->start = s->start[after];
  } else {
    const fs_rolled *x = loop_of(v, after);
    for (uint32_t q = 0; q < x->loop.n_queues; q++) {
      bool counts = queue_touches(x, q, buffer);
      edge->start = counts ? fs_min(edge->start, s->start[after] + to[q].begin) : edge->start;
    }
  }
}

/* Notes what an op accesses of each version, until the next one is noted. */
static void note_accesses(fs_vsched *v, uint32_t op) {
  const fsched_graph *g = v->g;
  v->noted++;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t version = g->arg_version[a];
    if (version != FS_NONE && fs_tag_accesses(g->arg_tag[a])) {
      bool before = v->noted_at[version] == v->noted && v->noted_writes[version] != 0;
      v->noted_writes[version] = before || fs_tag_writes(g->arg_tag[a]);
      v->noted_at[version] = v->noted;
    }
  }
}

/* Whether an arg and what is noted are of one version, and one of them writes it. */
static bool meets_noted(const fs_vsched *v, uint32_t arg) {
  uint32_t version = v->g->arg_version[arg];
  return version != FS_NONE && fs_tag_accesses(v->g->arg_tag[arg]) &&
         v->noted_at[version] == v->noted &&
         (fs_tag_writes(v->g->arg_tag[arg]) || v->noted_writes[version] != 0);
}

static bool named_after(const fsched_graph *g, uint32_t before, uint32_t after) {
  for (uint32_t i = g->op_after0[after]; i < g->op_after0[after + 1]; i++) {
    if (g->after_op[i] == before) {
      return true;
    }
  }
  return false;
}

fs_vedge fs_vsched_edge(fs_vsched *v, uint32_t before, uint32_t after) {
  const fsched_graph *g = v->g;
  assert(before < g->n_ops && after < g->n_ops);
  const fs_vedge all = {v->s->end[before], v->s->start[after]};
  fs_vedge edge = {0, FS_TICK_NONE};
  bool parts = fs_vsched_parts(v, before) != NULL || fs_vsched_parts(v, after) != NULL;
  if (!parts || v->any_slow || named_after(g, before, after)) {
    return all;
  }
  note_accesses(v, before);
  for (uint32_t a = g->op_arg0[after]; a < g->op_arg0[after + 1]; a++) {
    if (meets_noted(v, a)) {
      need_buffer(v, before, after, g->arg_buffer[a], &edge);
    }
  }
  return edge.start == FS_TICK_NONE ? all : edge;
}
