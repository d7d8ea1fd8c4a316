/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, as JSON.  Ops of a body are named within their loop, rings and args of the
 * loop's op are numbered from 0, and so are the loops, for those that are in one.  A wait names an
 * op: its copy follows from the distance, and of a gang's commands it is for the first; else, of
 * those of a loop whose runs are joined, its queue is told.
 *
 * The arg of the loop's op that an arg moves with is told where it is not the last one of the same
 * buffer; with a ring it is the ring's. */
#include "codegen/dis/json.h"
#include "model/stream/order.h"
#include "model/stream/views.h"

static void put_flag(fs_dis *d, const char *prefix, uint32_t value) {
  fs_dis_put(d, prefix);
  fs_dis_put(d, value != 0 ? "true" : "false");
}

static void put_member(fs_dis *d, const char *prefix, uint32_t op) {
  fs_dis_name(d, prefix, d->s->loop_ops[op].name);
}

/* The first arg of the op that the loop is: of args, or of loop_args. */
static uint32_t own_arg0(const fs_dis *d, const fs_stream_loop *l) {
  return l->within == FS_NONE ? d->s->ops[l->op].arg0 : d->s->loop_ops[l->op].arg0;
}

/* The last arg of that op of the buffer.  Requires that there is one. */
static uint32_t last_own(const fs_dis *d, const fs_stream_loop *l, uint32_t buffer) {
  const fs_stream *s = d->s;
  bool inner = l->within != FS_NONE;
  uint32_t n = inner ? s->loop_ops[l->op].n_args : s->ops[l->op].n_args;
  uint32_t arg = own_arg0(d, l) + n - 1;
  while ((inner ? s->loop_args[arg].buffer : s->args[arg].buffer) != buffer) {
    assert(arg > own_arg0(d, l));
    arg--;
  }
  return arg;
}

static void put_rings(fs_dis *d, const fs_stream_loop *l) {
  fs_dis_put(d, ", \"rings\": [");
  for (uint32_t i = 0; i < l->n_rings; i++) {
    const fs_stream_ring *r = &d->s->rings[l->ring0 + i];
    fs_dis_put(d, i == 0 ? "\n    {" : ",\n    {");
    fs_dis_u64(d, "\"arg\": ", r->arg - own_arg0(d, l));
    put_member(d, ", \"writer\": ", r->writer);
    fs_dis_u64(d, ", \"size\": ", r->size);
    fs_dis_u64(d, ", \"slot\": ", r->slot);
    fs_dis_u64(d, ", \"depth\": ", r->depth);
    put_flag(d, ", \"entry\": ", fs_ring_entered(r));
    fs_dis_put(
        d, r->entry == FS_RING_RETURNS || r->entry == FS_RING_LEAVES ? ", \"returns\": true" : "");
    fs_dis_put(d, "}");
  }
  fs_dis_put(d, "]");
}

static void put_loop_arg(fs_dis *d, const fs_stream_loop *l, const fs_stream_loop_arg *a) {
  fs_dis_tag(d, a->tag, a->buffer, a->value);
  if (fs_tag_names_buffer(a->tag)) {
    bool ring = a->ring != FS_NONE;
    uint64_t all = ring ? d->s->rings[a->ring].size : d->s->buffers[a->buffer].size;
    if (ring) {
      fs_dis_u64(d, ", \"ring\": ", a->ring - l->ring0);
      fs_dis_u64(d, ", \"back\": ", a->back);
    }
    const fs_stream_view *view = fs_stream_loop_view_of(d->s, (uint32_t)(a - d->s->loop_args));
    if (view != NULL) {
      fs_dis_view(d, a->offset, view);
    } else if (a->offset != 0 || a->length != all) {
      fs_dis_range(d, a->offset, a->length);
    }
    if (a->step != 0) {
      fs_text_printf(&d->t, ", \"step\": %lld", (long long)a->step);
    }
    if (!ring && a->own != last_own(d, l, a->buffer)) {
      fs_dis_u64(d, ", \"own\": ", a->own - own_arg0(d, l));
    }
  }
  fs_dis_put(d, a->begins ? ", \"begins\": true}" : "}");
}

static void put_afters(fs_dis *d, const fs_stream_loop_op *o) {
  for (uint32_t i = 0; i < o->n_afters; i++) {
    const fs_stream_loop_after *a = &d->s->loop_afters[o->after0 + i];
    fs_dis_put(d, i == 0 ? ", \"after\": [" : ", ");
    put_member(d, "{\"op\": ", a->op);
    fs_dis_u64(d, ", \"distance\": ", a->distance);
    fs_dis_put(d, "}");
  }
  fs_dis_put(d, o->n_afters == 0 ? "" : "]");
}

static void put_loop_ops(fs_dis *d, const fs_stream_loop *l) {
  fs_dis_put(d, ",\n   \"ops\": [");
  for (uint32_t i = 0; i < l->n_ops; i++) {
    const fs_stream_loop_op *o = &d->s->loop_ops[l->op0 + i];
    fs_dis_put(d, i == 0 ? "\n    {" : ",\n    {");
    put_member(d, "\"name\": ", l->op0 + i);
    fs_dis_u64(d, ", \"time\": ", o->time);
    if (o->latency != o->time) {
      fs_dis_u64(d, ", \"latency\": ", o->latency);
    }
    if (o->kernel != FS_NONE) {
      fs_dis_u64(d, ", \"kernel\": ", o->kernel);
    }
    if (o->slots != 1) {
      fs_dis_u64(d, ", \"slots\": ", o->slots);
    }
    fs_dis_put(d, ", \"args\": [");
    for (uint32_t a = 0; a < o->n_args; a++) {
      fs_dis_put(d, fs_dis_comma(a));
      put_loop_arg(d, l, &d->s->loop_args[o->arg0 + a]);
    }
    fs_dis_put(d, "]");
    for (uint32_t m = 0; m < o->n_members; m++) {
      fs_dis_u64(d, m == 0 ? ", \"members\": [" : ", ", d->s->loop_members[o->member0 + m].n_args);
    }
    fs_dis_put(d, o->n_members == 0 ? "" : "]");
    put_afters(d, o);
    fs_dis_put(d, o->by_class ? ", \"by_class\": true}" : "}");
  }
  fs_dis_put(d, "]");
}

static void put_loop_places(fs_dis *d, const fs_stream_loop_command *m) {
  fs_dis_put(d, ", \"places\": [");
  for (uint32_t i = 0; i < m->n_places; i++) {
    const fs_stream_place *p = &d->s->loop_places[m->place0 + i];
    fs_dis_put(d, fs_dis_comma(i));
    fs_dis_place(d, p, p->arg == FS_NONE ? FS_NONE : d->s->loop_args[p->arg].buffer,
                 d->s->loop_ops[m->op].name);
  }
  fs_dis_put(d, "]");
}

static void put_checks(fs_dis *d, const fs_stream_loop *l, const fs_stream_loop_command *m) {
  fs_dis_put(d, ", \"checks\": [");
  for (uint32_t i = 0; i < m->n_checks; i++) {
    const fs_stream_guard_check *check = &d->s->guard_checks[m->check0 + i];
    fs_dis_put(d, fs_dis_comma(i));
    fs_dis_u64(d, "{\"guard\": ", check->guard - l->guard0);
    fs_dis_u64(d, ", \"distance\": ", check->distance);
    fs_dis_put(d, "}");
  }
  fs_dis_put(d, "]");
}

static void put_loop_command(fs_dis *d, const fs_stream_loop *l, const fs_stream_loop_command *m) {
  put_member(d, "{\"op\": ", m->op);
  fs_dis_u64(d, ", \"copy\": ", m->copy);
  fs_dis_u64(d, ", \"shift\": ", m->shift);
  if (fs_sync_has_stops(d->s->meta->sync)) {
    fs_dis_u64(d, ", \"issue\": ", m->issue);
  }
  fs_dis_put(d, ", \"waits\": [");
  for (uint32_t i = 0; i < m->n_waits; i++) {
    const fs_stream_loop_wait *w = &d->s->loop_waits[m->wait0 + i];
    fs_dis_put(d, fs_dis_comma(i));
    put_member(d, "{\"op\": ", d->s->loop_commands[w->command].op);
    fs_dis_u64(d, ", \"distance\": ", w->distance);
    uint32_t queue = fs_loop_part_queue(d->s, l, w->command);
    if (queue != FS_NONE) {
      fs_dis_name(d, ", \"queue\": ", d->s->queues[queue].name);
    }
    fs_dis_put(d, "}");
  }
  put_flag(d, "], \"signal\": ", m->signal);
  if (fs_sync_has_barriers(d->s->meta->sync)) {
    put_checks(d, l, m);
  }
  put_loop_places(d, m);
  fs_dis_put(d, "}");
}

static void put_loop_queues(fs_dis *d, const fs_stream_loop *l) {
  fs_dis_put(d, ",\n   \"queues\": [");
  for (uint32_t i = 0; i < l->n_queues; i++) {
    const fs_stream_loop_queue *q = &d->s->loop_queues[l->queue0 + i];
    fs_dis_put(d, i == 0 ? "\n    {" : ",\n    {");
    fs_dis_name(d, "\"queue\": ", d->s->queues[q->queue].name);
    fs_dis_put(d, ", \"commands\": [");
    for (uint32_t k = 0; k < q->n_commands; k++) {
      fs_dis_put(d, k == 0 ? "\n     " : ",\n     ");
      put_loop_command(d, l, &d->s->loop_commands[q->command0 + k]);
    }
    fs_dis_put(d, "]}");
  }
  fs_dis_put(d, "]");
}

static void put_loop_stops(fs_dis *d, const fs_stream_loop *l) {
  if (!fs_sync_has_stops(d->s->meta->sync)) {
    return;
  }
  fs_dis_put(d, ",\n   \"stops\": [");
  for (uint32_t i = 0; i < l->n_stops; i++) {
    fs_dis_put(d, i == 0 ? "\n    " : ",\n    ");
    fs_dis_stop(d, &d->s->loop_stops[l->stop0 + i]);
  }
  fs_dis_put(d, "]");
}

static void put_guards(fs_dis *d, const fs_stream_loop *l) {
  if (!fs_sync_has_barriers(d->s->meta->sync)) {
    return;
  }
  fs_dis_put(d, ",\n   \"guards\": [");
  for (uint32_t i = 0; i < l->n_guards; i++) {
    const fs_stream_guard *g = &d->s->guards[l->guard0 + i];
    fs_dis_put(d, i == 0 ? "\n    {" : ",\n    {");
    fs_dis_u64(d, "\"physical\": ", g->physical);
    fs_dis_u64(d, ", \"depth\": ", g->depth);
    fs_dis_put(d, ", \"producers\": [");
    for (uint32_t k = 0; k < g->n_producers; k++) {
      put_member(d, fs_dis_comma(k), d->s->producers[g->producer0 + k]);
    }
    fs_dis_put(d, "]");
    if (g->queue != FS_NONE) {
      fs_dis_name(d, ", \"queue\": ", d->s->queues[g->queue].name);
    }
    fs_dis_put(d, "}");
  }
  fs_dis_put(d, "]");
}

/* Writes the op that the loop is, and where that is the op of a body, the loop that has it. */
static void put_op(fs_dis *d, const fs_stream_loop *l) {
  if (l->within == FS_NONE) {
    fs_dis_name(d, "\"op\": ", d->s->ops[l->op].name);
  } else {
    put_member(d, "\"op\": ", l->op);
    fs_dis_u64(d, ", \"within\": ", l->within);
  }
}

static void put_trips(fs_dis *d, const fs_stream_loop *l) {
  if (l->param == FS_NONE) {
    fs_dis_u64(d, ", \"trip\": ", l->trip);
    return;
  }
  fs_dis_name(d, ", \"trip\": {\"param\": ", d->s->params[l->param].name);
  fs_dis_put(d, "}");
}

void fs_dis_params(fs_dis *d) {
  if (d->s->n_params == 0) {
    return;
  }
  fs_dis_put(d, ",\n \"params\": [");
  for (uint32_t i = 0; i < d->s->n_params; i++) {
    const fs_stream_param *p = &d->s->params[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", p->name);
    fs_dis_u64(d, ", \"min\": ", p->least);
    fs_dis_u64(d, ", \"max\": ", p->most);
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_params);
}

void fs_dis_loops(fs_dis *d) {
  if (d->s->n_loops == 0) {
    return;
  }
  fs_dis_put(d, ",\n \"loops\": [");
  for (uint32_t i = 0; i < d->s->n_loops; i++) {
    const fs_stream_loop *l = &d->s->loops[i];
    fs_dis_line(d, i);
    put_op(d, l);
    put_trips(d, l);
    fs_dis_u64(d, ", \"copies\": ", l->copies);
    fs_dis_put(d, l->joined != 0 ? ", \"joined\": true" : "");
    put_rings(d, l);
    put_loop_ops(d, l);
    put_loop_queues(d, l);
    put_loop_stops(d, l);
    put_guards(d, l);
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_loops);
}
