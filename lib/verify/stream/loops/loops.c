/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops.  In the stream a loop is one op, of which the other parts prove that it
 * has what its args say, and has it alone.  What is left to prove is that
 *
 *   shape   the records make sense                                            loops/shape.c
 *   hulls   the body touches what the loop's own op does                      loops/hull.c
 *   written reads find what was written                                       loops/written.c,
 *                                                                             loops/shift.c
 *   members those of an op do not touch what one of them writes                loops/orders.c
 *   places  each command lies where that has it                               loops/places.c
 *   orders  the orders that args and `after` ask for                          loops/orders.c
 *   stops   with block syncs, these say what the waits do                     loops/stops.c
 *   guards  with barriers, the machine has these; that they say what the      loops/guards.c
 *           waits do is a rule
 *   joined  loops whose runs are joined are seen as their queues              loops/joined.c
 *   rules   are kept, by rings and lanes too, whatever ops take               verify/loop
 *
 * Then all executions do the accesses to each byte in program order of the unrolled loop, and so
 * find the same values.
 *
 * A loop in a loop is one op of the outer one, of which that needs to know no more than what its
 * own op has.  It is proven in iteration 0 of the loops around.  In others, its op's args lie
 * elsewhere, and what lies in one of them moves with it: so two accesses that move alike meet at
 * the distances at which they do in iteration 0, and those that don't count as meeting always.
 * A range is cut off where its buffer, or the version of a ring, ends: it overlaps no more then.
 *
 * Nothing is proven of the units of counted memories that ops of a body take for scratch, which no
 * record tells; of the planned time of the loop; nor that each wait is needed. */
#include <stdio.h>
#include "model/stream/slow_parts.h"

#include "base/context.h"
#include "verify/stream/loops/parts.h"

/* What verify/loop is given. */
typedef struct loop_proof {
  fs_vloop *x;
  fs_arena *arena;
  fs_rolled_loop rolled;
  fs_loop_rules rules;
  fs_vorders orders;
  fs_vlanes lanes;
  fs_loop_order *order;
  uint32_t *order_of; /* per order: that of `orders` */
  uint32_t *lane0, *lane, *lane_copy;
} loop_proof;

static fs_status list_accesses(fs_vloop *x) {
  uint32_t room = 0;
  for (uint32_t m = 0; m < x->l->n_ops; m++) {
    room += fs_vloop_op(x, m)->n_args;
  }
  FS_TRY(fs_new(&x->v->arena, &x->access, room));
  for (uint32_t m = 0; m < x->l->n_ops; m++) {
    const fs_stream_loop_op *o = fs_vloop_op(x, m);
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      unsigned tag = x->v->s->loop_args[i].tag;
      if (fs_tag_accesses(tag)) {
        x->access[x->n_accesses++] = (fs_vbody_access){m, i, fs_tag_writes(tag)};
      }
    }
  }
  return FSCHED_OK;
}

/* --- the loop and its rules --- */

static fs_status fill_commands(loop_proof *p) {
  const fs_vloop *x = p->x;
  const fs_stream *s = x->v->s;
  fs_rolled_loop *r = &p->rolled;
  uint32_t room = 0;
  for (uint32_t c = 0; c < x->n_commands; c++) {
    room += s->loop_commands[x->command0 + c].n_waits;
  }
  FS_TRY(fs_new(p->arena, &r->command, x->n_commands));
  FS_TRY(fs_new(p->arena, &r->wait, room));
  for (uint32_t c = 0, q = 0; c < x->n_commands; c++) {
    const fs_stream_loop_command *m = &s->loop_commands[x->command0 + c];
    while (c >= r->command0[q + 1]) {
      q++;
    }
    r->command[c] =
        (fs_rolled_command){.member = fs_vloop_part_on(x, m->op - x->l->op0, r->queue[q]),
                            .copy = m->copy,
                            .shift = m->shift,
                            .wait0 = r->n_waits,
                            .n_waits = m->n_waits,
                            .slow = fs_stream_loop_command_slow(s, r->queue[q], x->command0 + c)};
    for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
      r->wait[r->n_waits++] =
          (fs_rolled_wait){s->loop_waits[w].command - x->command0, s->loop_waits[w].distance};
    }
  }
  r->n_commands = x->n_commands;
  return FSCHED_OK;
}

/* With barriers alone there are guards. */
static fs_status fill_guards(loop_proof *p) {
  const fs_vloop *x = p->x;
  const fs_stream *s = x->v->s;
  fs_rolled_loop *r = &p->rolled;
  uint32_t producers = 0, checks = 0;
  r->guarded = fs_sync_has_barriers(x->v->kind);
  for (uint32_t i = 0; i < x->l->n_guards; i++) {
    producers += s->guards[x->l->guard0 + i].n_producers;
  }
  for (uint32_t c = 0; c < x->n_commands; c++) {
    checks += s->loop_commands[x->command0 + c].n_checks;
  }
  FS_TRY(fs_new(p->arena, &r->guard, x->l->n_guards));
  FS_TRY(fs_new(p->arena, &r->producer, producers));
  FS_TRY(fs_new(p->arena, &r->check, checks));
  producers = 0;
  for (; r->n_guards < x->l->n_guards; r->n_guards++) {
    const fs_stream_guard *g = &s->guards[x->l->guard0 + r->n_guards];
    r->guard[r->n_guards] =
        (fs_rolled_guard){.depth = g->depth, .producer0 = producers, .n_producers = g->n_producers};
    for (uint32_t i = 0; i < g->n_producers; i++) {
      uint32_t op = s->producers[g->producer0 + i] - x->l->op0;
      r->producer[producers++] = g->queue == FS_NONE ? op : fs_vloop_part_on(x, op, g->queue);
    }
  }
  for (uint32_t c = 0; c < x->n_commands; c++) {
    const fs_stream_loop_command *m = &s->loop_commands[x->command0 + c];
    r->command[c].check0 = r->n_checks;
    r->command[c].n_checks = m->n_checks;
    for (uint32_t i = m->check0; i < m->check0 + m->n_checks; i++) {
      const fs_stream_guard_check *check = &s->guard_checks[i];
      r->check[r->n_checks++] = (fs_rolled_check){check->guard - x->l->guard0, check->distance};
    }
  }
  return FSCHED_OK;
}

static fs_status fill_queues(loop_proof *p) {
  const fs_vloop *x = p->x;
  fs_rolled_loop *r = &p->rolled;
  r->copies = x->l->copies;
  r->n_queues = x->l->n_queues;
  FS_TRY(fs_new(p->arena, &r->queue, r->n_queues));
  FS_TRY(fs_new(p->arena, &r->command0, r->n_queues + 1));
  r->command0[0] = 0;
  for (uint32_t q = 0; q < r->n_queues; q++) {
    const fs_stream_loop_queue *from = &x->v->s->loop_queues[x->l->queue0 + q];
    r->queue[q] = from->queue;
    r->command0[q + 1] = r->command0[q] + from->n_commands;
  }
  return FSCHED_OK;
}

/* Slots of loops whose runs are joined: of them the inside tells. */
static bool is_inside(const fs_vloop *x, uint32_t ring) {
  return fs_vloop_n_parts(x, x->v->s->rings[x->l->ring0 + ring].writer - x->l->op0) > 1;
}

/* All that use a ring, and do not begin its versions, have to find them. */
static fs_status fill_rings(loop_proof *p) {
  const fs_vloop *x = p->x;
  fs_rolled_loop *r = &p->rolled;
  uint32_t n = 0, room = 0;
  r->n_rings = x->l->n_rings;
  for (uint32_t i = 0; i < x->n_accesses; i++) {
    room += fs_vloop_n_parts(x, x->access[i].member);
  }
  FS_TRY(fs_new(p->arena, &r->ring, r->n_rings));
  FS_TRY(fs_new(p->arena, &r->reader, room));
  for (uint32_t k = 0; k < r->n_rings; k++) {
    const fs_stream_ring *from = &x->v->s->rings[x->l->ring0 + k];
    uint32_t depth =
        is_inside(x, k) ? FS_LOOP_NUMBER : from->depth; /* no slot is taken again here */
    r->ring[k] = (fs_rolled_ring){from->writer - x->l->op0, depth, n, 0};
    for (uint32_t i = 0; i < x->n_accesses; i++) {
      const fs_stream_loop_arg *a = &x->v->s->loop_args[x->access[i].arg];
      bool reads = a->ring == x->l->ring0 + k && !fs_tag_begins(a->tag) && !is_inside(x, k);
      for (uint32_t part = 0; reads && part < fs_vloop_n_parts(x, x->access[i].member); part++) {
        if (fs_vloop_part_touches(x, x->access[i].member, part, x->access[i].arg)) {
          r->reader[n++] = (fs_rolled_reader){fs_vloop_part(x, x->access[i].member, part), a->back};
        }
      }
    }
    r->ring[k].n_readers = n - r->ring[k].reader0;
  }
  return FSCHED_OK;
}

/* An order is one of all parts that touch what it is for.  The runs of one loop that are joined are
 * in order by what it has inside, but for an `after`. */
static fs_status fill_orders(loop_proof *p) {
  const fs_vloop *x = p->x;
  size_t room = 0;
  for (size_t i = 0; i < p->orders.n; i++) {
    const fs_loop_order *o = &p->orders.at[i].order;
    room += (size_t)fs_vloop_n_parts(x, o->from) * fs_vloop_n_parts(x, o->to);
  }
  FS_TRY(fs_new(p->arena, &p->order, room));
  FS_TRY(fs_new(p->arena, &p->order_of, room));
  for (size_t i = 0; i < p->orders.n; i++) {
    const fs_vorder *of = &p->orders.at[i];
    const fs_loop_order *o = &of->order;
    uint32_t from = fs_vloop_n_parts(x, o->from), to = fs_vloop_n_parts(x, o->to);
    bool inside = o->from == o->to && from > 1 && of->from_arg != FS_NONE;
    for (uint32_t k = 0; k < from * to && !inside; k++) {
      if (fs_vloop_part_touches(x, o->from, k / to, of->from_arg) &&
          fs_vloop_part_touches(x, o->to, k % to, of->to_arg)) {
        p->order[p->rules.n_orders] = (fs_loop_order){fs_vloop_part(x, o->from, k / to),
                                                      fs_vloop_part(x, o->to, k % to), o->distance};
        p->order_of[p->rules.n_orders++] = (uint32_t)i;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status fill_rules(loop_proof *p) {
  const fs_vloop *x = p->x;
  uint32_t n_lanes = (uint32_t)p->lanes.n;
  FS_TRY(fill_orders(p));
  FS_TRY(fs_new(p->arena, &p->lane0, p->lanes.n + 1));
  FS_TRY(fs_new(p->arena, &p->lane, 2 * p->lanes.n));
  FS_TRY(fs_new(p->arena, &p->lane_copy, 2 * p->lanes.n));
  for (uint32_t l = 0; l < n_lanes; l++) {
    p->lane0[l] = 2 * l;
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t c = p->lanes.at[l].command[k];
      p->lane[2 * l + k] = p->rolled.command[c - x->command0].member;
      p->lane_copy[2 * l + k] = x->v->s->loop_commands[c].copy;
    }
  }
  p->lane0[n_lanes] = 2 * n_lanes;
  p->rules.trip = fs_vloop_all_trips(x);
  p->rules.joined = x->l->joined != 0;
  p->rules.n_members = x->n_members;
  p->rules.one = x->op_of;
  p->rules.order = p->order;
  p->rules.n_lanes = n_lanes;
  p->rules.lane0 = p->lane0;
  p->rules.lane = p->lane;
  p->rules.lane_copy = p->lane_copy;
  return FSCHED_OK;
}

/* --- what is wrong --- */

typedef struct pair_text {
  char from[FS_VNAME], to[FS_VNAME];
} pair_text;

/* Names two instances: "a[i - 2]" and "b[i]". */
static void name_pair(const fs_vloop *x, const fs_loop_fault *f, pair_text *t) {
  const char *from = fs_vloop_op_name(x, x->op_of[f->from]);
  const char *to = fs_vloop_op_name(x, x->op_of[f->to]);
  long long d = (long long)f->distance;
  (void)snprintf(t->from, FS_VNAME, d > 0 ? "%.60s[i - %lld]" : "%.60s[i]", from, d);
  (void)snprintf(t->to, FS_VNAME, d < 0 ? "%.60s[i - %lld]" : "%.60s[i]", to, -d);
}

static const char *buffer_name(const fs_vloop *x, uint32_t buffer) {
  return fs_vs_string(x->v, x->v->s->buffers[buffer].name);
}

/* What two commands of a lane share. */
static const char *shared_name(const fs_vloop *x, const fs_vlane *lane) {
  const fs_stream *s = x->v->s;
  const fs_stream_place *p = &s->loop_places[lane->place];
  return fs_vs_string(x->v, fs_space_of_resource(p->space) ? s->resources[p->index].name
                                                           : s->memories[p->index].name);
}

static void report_order(fs_vloop *x, const pair_text *t, uint32_t buffer) {
  FS_LOOP_WRONG(x, FS_DIAG_VERIFY_EDGE,
                "loop %.60s: %s depends on %s%s%.40s and is not ordered after it", x->name, t->to,
                t->from, buffer == FS_NONE ? "" : " by ",
                buffer == FS_NONE ? "" : buffer_name(x, buffer));
}

static void report_shared(fs_vloop *x, const pair_text *t, const char *what) {
  FS_LOOP_WRONG(x, FS_DIAG_VERIFY_CONFLICT, "loop %.60s: %s and %s share %.40s and are not ordered",
                x->name, t->from, t->to, what);
}

static void report_ring(fs_vloop *x, const loop_proof *p, const fs_loop_fault *f) {
  const fs_stream *s = x->v->s;
  uint32_t buffer = fs_vloop_own(x, s->rings[x->l->ring0 + f->which].arg).buffer;
  pair_text t;
  name_pair(x, f, &t);
  if (f->from == p->rolled.ring[f->which].writer && f->to != f->from) {
    report_order(x, &t, buffer);
  } else {
    report_shared(x, &t, buffer_name(x, buffer));
  }
}

static void report_guard(fs_vloop *x, const fs_loop_fault *f) {
  pair_text t;
  name_pair(x, f, &t);
  if (f->kind == FS_LOOP_SAID) {
    FS_LOOP_WRONG(x, FS_DIAG_VERIFY_WAIT,
                  "loop %.60s: the barriers that %s waits for do not say that %s is over, or say "
                  "more than its waits",
                  x->name, t.to, t.from);
    return;
  }
  const fs_stream_guard *g = &x->v->s->guards[x->l->guard0 + f->which];
  if (f->kind == FS_LOOP_TURN) {
    FS_LOOP_WRONG(x, FS_DIAG_VERIFY_BARRIER,
                  "loop %.60s: %s may wait for the barriers from %u on before %s has", x->name,
                  t.to, g->physical, t.from);
    return;
  }
  FS_LOOP_WRONG(x, FS_DIAG_VERIFY_BARRIER,
                "loop %.60s: %s may update one of the barriers from %u on, of which there are %u, "
                "before %s is over, as its parity cannot tell",
                x->name, t.to, g->physical, g->depth, t.from);
}

static void report_fault(const loop_proof *p, const fs_loop_fault *f) {
  fs_vloop *x = p->x;
  pair_text t;
  switch (f->kind) {
    case FS_LOOP_RIGHT:
      break;
    case FS_LOOP_MALFORMED:
      FS_LOOP_WRONG(x, FS_DIAG_VERIFY_WAIT, "loop %.60s: %s", x->name, f->what);
      break;
    case FS_LOOP_DEADLOCK:
      FS_LOOP_WRONG(x, FS_DIAG_VERIFY_DEADLOCK, "loop %.60s: op %.60s waits for itself", x->name,
                    fs_vloop_op_name(x, x->op_of[f->from]));
      break;
    case FS_LOOP_ORDER:
      name_pair(x, f, &t);
      report_order(x, &t, p->orders.at[p->order_of[f->which]].buffer);
      break;
    case FS_LOOP_SAID:
    case FS_LOOP_GUARD:
    case FS_LOOP_TURN:
      report_guard(x, f);
      break;
    case FS_LOOP_RING:
      report_ring(x, p, f);
      break;
    case FS_LOOP_LANE:
      name_pair(x, f, &t);
      report_shared(x, &t, shared_name(x, &p->lanes.at[f->which]));
      break;
  }
}

/* --- the whole --- */

/* A command signals if some wait names it. */
static fs_status check_signals(fs_vloop *x, fs_arena *arena) {
  const fs_stream *s = x->v->s;
  uint8_t *named;
  FS_TRY(fs_new_zero(arena, &named, x->n_commands));
  for (uint32_t c = 0; c < x->n_commands; c++) {
    const fs_stream_loop_command *m = &s->loop_commands[x->command0 + c];
    for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
      named[s->loop_waits[w].command - x->command0] = 1;
    }
  }
  for (uint32_t c = 0; c < x->n_commands; c++) {
    if (s->loop_commands[x->command0 + c].signal != named[c]) {
      FS_LOOP_WRONG(
          x, FS_DIAG_VERIFY_SIGNAL, "loop %.60s: op %.60s, copy %u, %s", x->name,
          fs_vloop_op_name(x, fs_vloop_member(x, x->command0 + c)),
          s->loop_commands[x->command0 + c].copy,
          named[c] != 0 ? "does not signal, but is waited for" : "signals, but nobody waits");
    }
  }
  return FSCHED_OK;
}

static fs_status prove(loop_proof *p) {
  fs_loop_fault fault;
  FS_TRY(check_signals(p->x, p->arena));
  FS_TRY(fs_sync_has_stops(p->x->v->kind) ? fs_vloop_stops(p->x) : FSCHED_OK);
  FS_TRY(fs_vloop_hulls(p->x));
  fs_vloop_joined(p->x);
  fs_vloop_members(p->x);
  FS_TRY(fs_vloop_places(p->x, &p->lanes));
  FS_TRY(fs_vloop_orders(p->x, &p->orders));
  FS_TRY(fill_queues(p));
  FS_TRY(fill_commands(p));
  FS_TRY(fill_guards(p));
  FS_TRY(fill_rings(p));
  FS_TRY(fill_rules(p));
  FS_TRY(fs_verify_loop(p->x->v->ctx, &p->rolled, &p->rules, &fault));
  report_fault(p, &fault);
  return FSCHED_OK;
}

/* Finds what the op has that the loop is. */
static void find_own(fs_vloop *x) {
  const fs_vs *v = x->v;
  const fs_stream *s = v->s;
  if (!x->inner) {
    const fs_stream_command *c = &s->commands[v->op_command[v->op_command0[x->l->op]]];
    x->name = fs_vs_op_name(v, x->l->op);
    x->own0 = s->ops[x->l->op].arg0;
    x->n_own = s->ops[x->l->op].n_args;
    x->place = &s->places[c->place0];
    x->n_places = c->n_places;
    return;
  }
  const fs_stream_loop_op *o = &s->loop_ops[x->l->op];
  const fs_stream_loop_command *c =
      &s->loop_commands[s->loop_queues[s->loops[x->l->within].queue0].command0];
  while (c->op != x->l->op) {
    c++;
  }
  x->name = fs_vs_string(v, o->name);
  x->own0 = o->arg0;
  x->n_own = o->n_args;
  x->place = &s->loop_places[c->place0];
  x->n_places = c->n_places;
}

static bool same_place(const fs_stream_place *a, const fs_stream_place *b) {
  bool units = fs_space_of_resource(a->space); /* which count from 0 in the loop */
  return a->space == b->space && a->index == b->index && a->size == b->size &&
         a->version == b->version && a->arg == b->arg && a->mode == b->mode &&
         (units || a->address == b->address);
}

/* All commands of the op that a loop in a loop is have the same places, as its own are of one. */
static void check_own_commands(fs_vloop *x) {
  const fs_stream *s = x->v->s;
  const fs_stream_loop *outer = &s->loops[x->l->within];
  const fs_stream_loop_queue *q = &s->loop_queues[outer->queue0], *end = q + outer->n_queues;
  for (; q < end; q++) {
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      const fs_stream_loop_command *m = &s->loop_commands[c];
      bool same = m->op != x->l->op || m->n_places == x->n_places;
      for (uint32_t i = 0; same && m->op == x->l->op && i < x->n_places; i++) {
        same = same_place(&s->loop_places[m->place0 + i], &x->place[i]);
      }
      if (!same) {
        FS_LOOP_WRONG(x, FS_DIAG_VERIFY_PLACE, "loop %.60s: commands of its op lie apart", x->name);
        return;
      }
    }
  }
}

static fs_status check_loop(fs_vs *v, const fs_stream_loop *l) {
  FS_SCRATCH(scratch, v->ctx);
  const fs_stream_loop_queue *q = &v->s->loop_queues[l->queue0];
  fs_vloop x = {.v = v, .l = l, .inner = l->within != FS_NONE, .command0 = q->command0};
  const fs_stream_loop_queue *last = &q[l->n_queues - 1];
  x.n_commands = last->command0 + last->n_commands - x.command0;
  find_own(&x);
  if (x.inner) {
    check_own_commands(&x);
  }
  loop_proof p = {.x = &x, .arena = &scratch};
  FS_TRY(list_accesses(&x));
  FS_TRY(fs_vloop_find_parts(&x, &scratch));
  fs_status status = prove(&p);
  fs_vec_free(v->ctx, &p.orders);
  fs_vec_free(v->ctx, &p.lanes);
  return status;
}

fs_status fs_vs_loops(fs_vs *v) {
  assert(v->op_command0 != NULL);
  if (v->s->n_loops > 0) {
    FS_TRY(fs_new_zero(&v->arena, &v->in_part, v->s->n_args));
    FS_TRY(fs_new_zero(&v->arena, &v->in_loop_part, v->s->n_loop_args));
  }
  FS_TRY(fs_vs_guards(v));
  for (uint32_t i = v->s->n_loops; i-- > 0;) { /* those inside come first */
    FS_TRY(check_loop(v, &v->s->loops[i]));
  }
  return FSCHED_OK;
}

fs_vown fs_vloop_own(const fs_vloop *x, uint32_t arg) {
  assert(arg - x->own0 < x->n_own);
  if (x->inner) {
    const fs_stream_loop_arg *a = &x->v->s->loop_args[arg];
    return (fs_vown){a->offset, a->length, a->tag, a->buffer};
  }
  const fs_stream_arg *a = &x->v->s->args[arg];
  return (fs_vown){a->offset, a->length, a->tag, a->buffer};
}

bool fs_vloop_alike(const fs_stream *s, const fs_stream_loop *l, uint32_t a, uint32_t b) {
  while (l->within != FS_NONE && a != b) {
    const fs_stream_loop_arg *x = &s->loop_args[a], *y = &s->loop_args[b];
    if (x->step != y->step || x->ring != y->ring || x->back != y->back) {
      return false;
    }
    a = x->own;
    b = y->own;
    l = &s->loops[l->within];
  }
  return true;
}

uint64_t fs_vloop_limit(const fs_stream *s, const fs_stream_loop *l, const fs_stream_loop_arg *a) {
  while (l->within != FS_NONE && a->ring == FS_NONE) {
    a = &s->loop_args[a->own];
    l = &s->loops[l->within];
  }
  return a->ring == FS_NONE ? s->buffers[a->buffer].size : s->rings[a->ring].size;
}

bool fs_vloop_moves(const fs_stream *s, const fs_stream_loop *l, uint32_t own, int64_t *down,
                    int64_t *up) {
  const int64_t most = INT64_C(1) << 60;
  for (; l->within != FS_NONE; own = s->loop_args[own].own) {
    const fs_stream_loop_arg *a = &s->loop_args[own];
    int64_t way;
    l = &s->loops[l->within];
    if (a->ring != FS_NONE) {
      return true; /* offsets are within its version */
    }
    if (__builtin_mul_overflow(a->step, (int64_t)(l->trip - 1), &way) || way > most ||
        way < -most) {
      return false;
    }
    *(way < 0 ? down : up) += way;
    if (*down < -most || *up > most) {
      return false;
    }
  }
  return true;
}
