/* SPDX-License-Identifier: Apache-2.0 */
/* Compares loops that stay loops with those of the graph: what they were described to be, and the
 * slots, scratch and units that they were given. */
#include "verify/stream/stream.h"

typedef struct loop_compare {
  fs_vs *v;
  const fsched_graph *g;
  const fs_stream_loop *l;
  const fs_rolled *x;
} loop_compare;

/* The first arg of the op that the loop is: of args, or of loop_args. */
static uint32_t own_arg0(const loop_compare *c) {
  const fs_stream *s = c->v->s;
  return c->l->within == FS_NONE ? s->ops[c->l->op].arg0 : s->loop_ops[c->l->op].arg0;
}

static bool same_arg(const loop_compare *c, const fs_stream_loop_arg *a, const fs_body_arg *b) {
  const fs_stream_view *view = fs_stream_loop_view_of(c->v->s, (uint32_t)(a - c->v->s->loop_args));
  if (!fs_vs_same_view(view, b->view == FS_NONE ? NULL : &c->g->view[b->view])) {
    return false;
  }
  bool value = b->buffer == FS_NONE, ring = b->ring != FS_NONE;
  if (a->tag != b->tag || a->buffer != b->buffer || (a->ring != FS_NONE) != ring) {
    return false;
  }
  if (value) {
    return a->value == b->value;
  }
  return a->offset == b->offset && a->length == b->length && a->step == b->step &&
         a->back == b->back && (a->begins != 0) == b->begins &&
         (!ring || a->ring - c->l->ring0 == b->ring) && a->own - own_arg0(c) == b->own;
}

static bool same_args(const loop_compare *c, const fs_stream_loop_op *o, const fs_body_op *b) {
  bool ok = o->n_args == b->n_args;
  for (uint32_t i = 0; ok && i < o->n_args; i++) {
    ok = same_arg(c, &c->v->s->loop_args[o->arg0 + i], &c->x->arg[b->arg0 + i]);
  }
  return ok;
}

static bool same_members(const loop_compare *c, const fs_stream_loop_op *o, const fs_body_op *b) {
  bool ok = o->n_members == b->n_members;
  for (uint32_t m = 0; ok && m < o->n_members; m++) {
    const fs_stream_member *of = &c->v->s->loop_members[o->member0 + m];
    for (uint32_t i = of->arg0 - o->arg0; ok && i < of->arg0 - o->arg0 + of->n_args; i++) {
      ok = c->x->arg[b->arg0 + i].member == m;
    }
  }
  return ok;
}

static bool same_afters(const loop_compare *c, const fs_stream_loop_op *o, const fs_body_op *b) {
  bool ok = o->n_afters == b->n_afters;
  for (uint32_t i = 0; ok && i < o->n_afters; i++) {
    const fs_stream_loop_after *a = &c->v->s->loop_afters[o->after0 + i];
    const fs_body_after *of = &c->x->after[b->after0 + i];
    ok = a->op - c->l->op0 == of->op && a->distance == of->distance;
  }
  return ok;
}

/* The first property in which an op differs, NULL when there is none. */
static const char *op_difference(const loop_compare *c, uint32_t member) {
  const fs_stream_loop_op *o = &c->v->s->loop_ops[c->l->op0 + member];
  const fs_body_op *b = &c->x->body[member];
  if (strcmp(fs_vs_string(c->v, o->name), b->name) != 0) {
    return "name";
  }
  if (o->loop != b->loop) {
    return "loop";
  }
  if (o->time != b->time || o->latency != b->latency) {
    return "time or latency";
  }
  if ((o->by_class != 0) != b->by_class) {
    return "choice of queues";
  }
  if (!same_args(c, o, b)) {
    return "args";
  }
  if (!same_members(c, o, b)) {
    return "members";
  }
  if (!same_afters(c, o, b)) {
    return "'after'";
  }
  return fs_vs_same_kernel(c->v, c->g, o->kernel, b->kernel) ? NULL : "kernel";
}

static bool same_ring(const loop_compare *c, uint32_t ring) {
  const fs_stream_ring *a = &c->v->s->rings[c->l->ring0 + ring];
  const fs_body_slots *b = &c->x->slots[ring];
  const fs_rolled_ring *r = &c->x->loop.ring[ring];
  uint32_t entry = b->leaves    ? FS_RING_LEAVES
                   : !b->entry  ? FS_RING_EMPTY
                   : b->returns ? FS_RING_RETURNS
                                : FS_RING_ENTRY;
  return a->size == b->size && a->slot == b->slot && a->entry == entry &&
         a->arg - own_arg0(c) == b->own && a->writer - c->l->op0 == r->writer &&
         a->depth == r->depth;
}

/* --- scratch and units --- */

/* The bytes of scratch in a memory, or the units of a resource, that places hold. */
static uint64_t sum_of(const loop_compare *c, const fs_stream_loop_command *m, bool bytes,
                       uint32_t index) {
  uint64_t sum = 0;
  for (uint32_t i = m->place0; i < m->place0 + m->n_places; i++) {
    const fs_stream_place *p = &c->v->s->loop_places[i];
    bool of = p->version == FS_NONE && p->index == index &&
              (bytes ? fs_space_has_bytes(p->space) : fs_space_of_resource(p->space));
    sum += of ? p->size : 0;
  }
  return sum;
}

static bool same_scratch(const loop_compare *c, const fs_stream_loop_command *m) {
  const fs_body_op *b = &c->x->body[m->op - c->l->op0];
  for (uint32_t k = 0; k < c->v->s->n_memories; k++) {
    uint64_t sum = 0;
    for (uint32_t i = b->scratch0; i < b->scratch0 + b->n_scratches; i++) {
      const fs_body_scratch *scratch = &c->x->scratch[i];
      sum += scratch->memory == k && scratch->copy == m->copy ? scratch->size : 0;
    }
    if (fs_vs_contiguous(&c->v->s->memories[k]) && sum_of(c, m, true, k) != sum) {
      return false;
    }
  }
  return true;
}

static bool same_units(const loop_compare *c, const fs_stream_loop_command *m) {
  const fs_body_op *b = &c->x->body[m->op - c->l->op0];
  for (uint32_t k = 0; k < c->v->s->n_resources; k++) {
    uint64_t sum = 0;
    for (uint32_t i = b->lane0; i < b->lane0 + b->n_lanes; i++) {
      const fs_body_lane *lane = &c->x->lane[i];
      sum += lane->resource == k && lane->copy == m->copy ? lane->n : 0;
    }
    if (sum_of(c, m, false, k) != sum) {
      return false;
    }
  }
  return true;
}

/* --- the whole --- */

static bool same_trips(const loop_compare *c) {
  const char *param =
      c->l->param == FS_NONE ? NULL : fs_vs_string(c->v, c->v->s->params[c->l->param].name);
  const char *of = c->x->param;
  return c->l->trip == c->x->trip && c->l->least == c->x->least &&
         (param == NULL || of == NULL ? param == of : strcmp(param, of) == 0);
}

static const char *loop_name(const loop_compare *c) {
  return c->l->within == FS_NONE ? fs_vs_op_name(c->v, c->l->op)
                                 : fs_vs_string(c->v, c->v->s->loop_ops[c->l->op].name);
}

static void differs(const loop_compare *c, const char *what, const char *of) {
  FS_WRONG(c->v, FS_DIAG_VERIFY_GRAPH, "not the graph's: %s of '%.80s' in loop '%.80s'", what, of,
           loop_name(c));
}

static void compare_commands(const loop_compare *c) {
  const fs_stream *s = c->v->s;
  for (uint32_t q = c->l->queue0; q < c->l->queue0 + c->l->n_queues; q++) {
    const fs_stream_loop_queue *of = &s->loop_queues[q];
    for (uint32_t i = of->command0; i < of->command0 + of->n_commands; i++) {
      const fs_stream_loop_command *m = &s->loop_commands[i];
      if (!same_scratch(c, m) || !same_units(c, m)) {
        differs(c, "scratch or 'uses'", fs_vs_string(c->v, s->loop_ops[m->op].name));
      }
    }
  }
}

static void compare_loop(const loop_compare *c) {
  const char *name = loop_name(c);
  uint32_t op0 = c->x->within == FS_NONE ? 0 : c->v->s->loops[c->x->within].op0;
  if (c->l->within != c->x->within || c->l->op - op0 != c->x->op || !same_trips(c) ||
      c->l->n_ops != c->x->n_ops || c->l->n_rings != c->x->loop.n_rings ||
      c->l->copies != c->x->loop.copies) {
    differs(c, "trips, ops, rings or copies", name);
    return;
  }
  for (uint32_t m = 0; m < c->l->n_ops; m++) {
    const char *what = op_difference(c, m);
    if (what != NULL) {
      differs(c, what, c->x->body[m].name);
    }
  }
  for (uint32_t k = 0; k < c->l->n_rings; k++) {
    if (!same_ring(c, k)) {
      differs(c, "slots", c->g->buffer_name[c->x->slots[k].buffer]);
    }
  }
  compare_commands(c);
}

static void compare_params(fs_vs *v, const fsched_graph *g) {
  for (uint32_t i = 0; i < g->n_params; i++) {
    const fs_stream_param *p = &v->s->params[i];
    const fs_graph_param *of = &g->param[i];
    if (strcmp(fs_vs_string(v, p->name), of->name) != 0 || p->least != of->least ||
        p->most != of->most) {
      FS_WRONG(v, FS_DIAG_VERIFY_GRAPH, "not the graph's: name or range of parameter '%.80s'",
               fs_vs_string(v, p->name));
    }
  }
}

void fs_vs_loops_graph(fs_vs *v, const fsched_graph *g) {
  assert(v->s->n_loops == g->n_rolled && v->s->n_params == g->n_params);
  compare_params(v, g);
  for (uint32_t i = 0; i < g->n_rolled; i++) {
    compare_loop(&(loop_compare){v, g, &v->s->loops[i], &g->rolled[i]});
  }
}
