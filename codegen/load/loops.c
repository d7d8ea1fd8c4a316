/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops: their ops, and the commands of their body.
 *
 * The records of a loop lie in the order of their owners, as all others do, and name only records
 * of the same loop.  Every op has one command for each copy.  A wait names the copy that the
 * iterations lead to, and a command signals if some wait names it.
 *
 * A walk over a loop that passed this check stays within its arrays.  Whether the waits are those
 * that the body needs is for the verifier to find out. */
#include "base/saturate.h"
#include "codegen/load/check.h"
#include "fsched/graph.h"
#include "model/stream/views.h"

#define MOST_SHIFT (1u << 20)
#define MOST_DISTANCE (1u << 31)

/* Where the next ranges must begin. */
typedef struct loop_tiles {
  uint32_t queue, op, after, arg, member, ring, command, wait, place, stop, guard, producer, check;
} loop_tiles;

const char *fs_check_loop_name(const fs_checker *c, const fs_stream_loop *l) {
  FS_ASSERT_SLOW(l->op < (l->within == FS_NONE ? c->v.n_ops : c->v.n_loop_ops));
  return c->v.strings + (l->within == FS_NONE ? c->v.ops[l->op].name : c->v.loop_ops[l->op].name);
}

/* ---- parameters, loops and their queues */

static fs_status check_params(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_params; i++) {
    const fs_stream_param *p = &v->params[i];
    FS_TRY(fs_check_string(c, p->name, "parameter", i));
    FS_NEED(c, v->strings[p->name] != '\0', NAME, "parameter %u has no name", i);
    FS_NEED(c, p->least <= p->most && p->most <= FSCHED_MAX_TIME && p->reserved == 0, VALUE,
            "parameter %u takes %llu to %llu, reserved %u", i, (unsigned long long)p->least,
            (unsigned long long)p->most, p->reserved);
  }
  return FS_CHECK_DISTINCT(c, params, "parameters");
}

/* Checks what gives a loop's trips. */
static fs_status check_trips(fs_checker *c, const fs_stream_loop *l) {
  const char *name = fs_check_loop_name(c, l);
  FS_NEED(c, l->trip >= 1 && l->trip <= FSCHED_MAX_TIME, VALUE, "loop '%s' has %llu iterations",
          name, (unsigned long long)l->trip);
  FS_NEED(c, l->most == l->trip && l->least <= l->most, VALUE,
          "loop '%s' has %llu iterations, of %llu to %llu", name, (unsigned long long)l->trip,
          (unsigned long long)l->least, (unsigned long long)l->most);
  if (l->param == FS_NONE) {
    FS_NEED(c, l->least == l->trip, VALUE,
            "loop '%s' has no parameter, but %llu to %llu iterations", name,
            (unsigned long long)l->least, (unsigned long long)l->most);
    return FSCHED_OK;
  }
  FS_NEED(c, l->param < c->v.n_params, REFERENCE, "loop '%s' has parameter %u of %u", name,
          l->param, c->v.n_params);
  const fs_stream_param *p = &c->v.params[l->param];
  FS_NEED(c, l->least == p->least && l->most == p->most, VALUE,
          "loop '%s' has %llu to %llu iterations, and its parameter takes %llu to %llu", name,
          (unsigned long long)l->least, (unsigned long long)l->most, (unsigned long long)p->least,
          (unsigned long long)p->most);
  return FSCHED_OK;
}

/* Checks what a loop is that is in no other one. */
static fs_status check_outer(fs_checker *c, uint32_t loop) {
  const fs_stream *v = &c->v;
  const fs_stream_loop *l = &v->loops[loop];
  FS_NEED(c, l->op < v->n_ops, REFERENCE, "loop %u is op %u of %u", loop, l->op, v->n_ops);
  FS_NEED(c, loop == 0 || (l[-1].within == FS_NONE && l->op > l[-1].op), VALUE,
          "the loops do not ascend");
  FS_NEED(c, v->ops[l->op].kernel == FS_NONE && v->ops[l->op].slow == 0, VALUE,
          "loop '%s' has a kernel, or its queues go on before it is over",
          fs_check_loop_name(c, l));
  FS_NEED(c, v->ops[l->op].by_class == 0, VALUE, "the op of loop '%s' has by_class 1",
          fs_check_loop_name(c, l));
  return FSCHED_OK;
}

/* Checks what a loop is that is in another one.  Requires that those before it are checked. */
static fs_status check_inner(fs_checker *c, uint32_t loop) {
  const fs_stream *v = &c->v;
  const fs_stream_loop *l = &v->loops[loop];
  uint32_t depth = 1;
  FS_NEED(c, l->within < loop, REFERENCE, "loop %u is in loop %u", loop, l->within);
  const fs_stream_loop *outer = &v->loops[l->within];
  FS_NEED(c, l->op >= outer->op0 && l->op - outer->op0 < outer->n_ops, REFERENCE,
          "loop %u is op %u, which is not in loop %u", loop, l->op, l->within);
  FS_NEED(c, l[-1].within == FS_NONE || l->op > l[-1].op, VALUE, "the loops do not ascend");
  FS_NEED(c, v->loop_ops[l->op].loop == loop && v->loop_ops[l->op].kernel == FS_NONE, REFERENCE,
          "loop %u is an op with a kernel, or which is loop %u", loop, v->loop_ops[l->op].loop);
  FS_NEED(c, v->loop_ops[l->op].latency == v->loop_ops[l->op].time, VALUE,
          "the queues of loop '%s' go on before it is over", fs_check_loop_name(c, l));
  for (; outer->within != FS_NONE; outer = &v->loops[outer->within]) {
    depth++;
  }
  FS_NEED(c, depth < FS_LOOP_NEST, VALUE, "more than %u loops are in each other", FS_LOOP_NEST);
  return FSCHED_OK;
}

/* Checks a loop whose runs may be joined; for its rings see load/loop_places.c.  Requires that
 * those before it are checked. */
static fs_status check_joined(fs_checker *c, const fs_stream_loop *l) {
  const fs_stream *v = &c->v;
  FS_NEED(c, l->joined <= 1 && l->reserved == 0, VALUE, "loop '%s' has joined %u",
          fs_check_loop_name(c, l), l->joined);
  FS_NEED(c, l->within == FS_NONE || v->loops[l->within].joined == 0, VALUE,
          "loop '%s' is in a loop whose runs are joined", fs_check_loop_name(c, l));
  if (l->joined == 0) {
    return FSCHED_OK;
  }
  FS_NEED(c, l->within != FS_NONE && !fs_sync_has_stops(v->meta->sync), VALUE,
          "the runs of loop '%s' are joined, which is in no loop, or has syncs",
          fs_check_loop_name(c, l));
  FS_NEED(c, v->loops[l->within].copies == 1, VALUE,
          "the runs of loop '%s' are joined, and the loop around has %u copies",
          fs_check_loop_name(c, l), v->loops[l->within].copies);
  FS_NEED(c, l->copies == 1 || (l->least == l->most && l->trip % l->copies == 0), VALUE,
          "the runs of loop '%s' are joined, and may begin with any of its %u copies",
          fs_check_loop_name(c, l), l->copies);
  return FSCHED_OK;
}

static fs_status check_loop(fs_checker *c, uint32_t loop, loop_tiles *at) {
  const fs_stream *v = &c->v;
  const fs_stream_loop *l = &v->loops[loop];
  FS_TRY(l->within == FS_NONE ? check_outer(c, loop) : check_inner(c, loop));
  FS_TRY(check_trips(c, l));
  FS_NEED(c, l->copies != 0 && l->copies <= FS_LOOP_COPIES, VALUE, "loop '%s' has %u copies",
          fs_check_loop_name(c, l), l->copies);
  FS_TRY(check_joined(c, l));
  FS_NEED(c, l->n_queues != 0 && l->n_ops != 0, VALUE, "loop '%s' has %u queues and %u ops",
          fs_check_loop_name(c, l), l->n_queues, l->n_ops);
  FS_TRY(fs_check_tile(c, l->queue0, l->n_queues, v->n_loop_queues, "loop queues", &at->queue));
  FS_TRY(fs_check_tile(c, l->op0, l->n_ops, v->n_loop_ops, "loop ops", &at->op));
  FS_TRY(fs_check_tile(c, l->stop0, l->n_stops, v->n_loop_stops, "loop stops", &at->stop));
  return fs_check_tile(c, l->ring0, l->n_rings, v->n_rings, "rings", &at->ring);
}

/* Checks that a loop's queues are those of the commands of its op. */
static fs_status check_queues(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *loop_of, *met; /* per op: its loop; per loop: its queues met so far */
  FS_TRY(fs_new_none(&c->arena, &loop_of, v->n_ops));
  FS_TRY(fs_new_zero(&c->arena, &met, v->n_loops));
  for (uint32_t i = 0; i < v->n_loops && v->loops[i].within == FS_NONE; i++) {
    loop_of[v->loops[i].op] = i;
  }
  for (uint32_t q = 0; q < v->n_queues; q++) {
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      uint32_t op = fs_command_op(&v->commands[v->queues[q].command0 + i]);
      if (op == FS_NONE || loop_of[op] == FS_NONE) {
        continue;
      }
      const fs_stream_loop *l = &v->loops[loop_of[op]];
      uint32_t k = met[loop_of[op]]++;
      FS_NEED(c, k < l->n_queues && v->loop_queues[l->queue0 + k].queue == q, REFERENCE,
              "queue '%s' is not queue %u of loop '%s', whose command it has",
              v->strings + v->queues[q].name, k, fs_check_loop_name(c, l));
    }
  }
  for (uint32_t i = 0; i < v->n_loops && v->loops[i].within == FS_NONE; i++) {
    FS_NEED(c, met[i] == v->loops[i].n_queues, REFERENCE,
            "loop '%s' has %u queues, but commands on %u", fs_check_loop_name(c, &v->loops[i]),
            v->loops[i].n_queues, met[i]);
  }
  return FSCHED_OK;
}

/* Checks that a queue with a command that is a loop is the next one of that loop. */
static fs_status check_run(fs_checker *c, uint32_t queue, const fs_stream_loop_command *m,
                           uint32_t *met) {
  const fs_stream *v = &c->v;
  uint32_t inner = v->loop_ops[m->op].loop;
  if (inner == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_stream_loop *l = &v->loops[inner];
  uint32_t k = met[(size_t)inner * FS_LOOP_COPIES + m->copy]++;
  FS_NEED(c, k < l->n_queues && v->loop_queues[l->queue0 + k].queue == queue, REFERENCE,
          "queue '%s' is not queue %u of loop '%s', whose command it has",
          v->strings + v->queues[queue].name, k, fs_check_loop_name(c, l));
  return FSCHED_OK;
}

/* Checks that the queues of loops in loops are those of the commands of their ops, of each copy. */
static fs_status check_inner_queues(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *met; /* per loop and copy of its op: its queues met so far */
  FS_TRY(fs_new_zero(&c->arena, &met, (size_t)v->n_loops * FS_LOOP_COPIES));
  for (uint32_t i = 0; i < v->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &v->loop_queues[i];
    for (uint32_t k = 0; k < q->n_commands; k++) {
      FS_TRY(check_run(c, q->queue, &v->loop_commands[q->command0 + k], met));
    }
  }
  for (uint32_t i = 0; i < v->n_loops; i++) {
    const fs_stream_loop *l = &v->loops[i];
    for (uint32_t u = 0; l->within != FS_NONE && u < v->loops[l->within].copies; u++) {
      uint32_t n = met[(size_t)i * FS_LOOP_COPIES + u];
      FS_NEED(c, n == l->n_queues, REFERENCE, "loop '%s' has %u queues, but commands on %u",
              fs_check_loop_name(c, l), l->n_queues, n);
    }
  }
  return FSCHED_OK;
}

static fs_status check_commands_tile(fs_checker *c, const fs_stream_loop *l, loop_tiles *at) {
  const fs_stream *v = &c->v;
  for (uint32_t i = l->queue0; i < l->queue0 + l->n_queues; i++) {
    const fs_stream_loop_queue *q = &v->loop_queues[i];
    FS_NEED(c, q->queue < v->n_queues && (i == l->queue0 || q[-1].queue < q->queue), REFERENCE,
            "queue %u of loop '%s' is queue %u of %u", i - l->queue0, fs_check_loop_name(c, l),
            q->queue, v->n_queues);
    FS_NEED(c, q->n_commands != 0 && q->reserved == 0, VALUE,
            "queue %u of loop '%s' has %u commands, reserved %u", i - l->queue0,
            fs_check_loop_name(c, l), q->n_commands, q->reserved);
    FS_TRY(fs_check_tile(c, q->command0, q->n_commands, v->n_loop_commands, "loop commands",
                         &at->command));
  }
  return FSCHED_OK;
}

/* ---- ops */

static fs_status check_afters(fs_checker *c, const fs_stream_loop *l, uint32_t op) {
  const fs_stream_loop_op *o = &c->v.loop_ops[op];
  for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
    const fs_stream_loop_after *a = &c->v.loop_afters[i];
    FS_NEED(c, a->op >= l->op0 && a->op - l->op0 < l->n_ops, REFERENCE,
            "op %u of loop '%s' is after op %u, of another loop", op - l->op0,
            fs_check_loop_name(c, l), a->op);
    FS_NEED(c, a->distance <= MOST_DISTANCE, VALUE,
            "op %u of loop '%s' is after an op %u iterations back", op - l->op0,
            fs_check_loop_name(c, l), a->distance);
    FS_NEED(c, a->distance != 0 || a->op != op, VALUE, "op %u of loop '%s' is after itself",
            op - l->op0, fs_check_loop_name(c, l));
  }
  return FSCHED_OK;
}

/* Checks that the args of an op's members are its own, one member's behind the other's. */
static fs_status check_op_members(fs_checker *c, uint32_t op, loop_tiles *at) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_op *o = &v->loop_ops[op];
  uint32_t arg = o->arg0;
  FS_TRY(
      fs_check_tile(c, o->member0, o->n_members, v->n_loop_members, "loop members", &at->member));
  FS_NEED(c, o->loop == FS_NONE || o->n_members == 0, VALUE, "loop op %u is a loop and has members",
          op);
  for (uint32_t i = o->member0; i < o->member0 + o->n_members; i++) {
    FS_TRY(fs_check_tile(c, v->loop_members[i].arg0, v->loop_members[i].n_args, o->arg0 + o->n_args,
                         "args of loop members", &arg));
  }
  return o->n_members == 0 ? FSCHED_OK
                           : fs_check_tiled(c, arg, o->arg0 + o->n_args, "args of loop members");
}

static fs_status check_op(fs_checker *c, const fs_stream_loop *l, uint32_t op, loop_tiles *at) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_op *o = &v->loop_ops[op];
  FS_TRY(fs_check_string(c, o->name, "loop op", op));
  FS_NEED(c, v->strings[o->name] != '\0', NAME, "loop op %u has no name", op);
  FS_NEED(c, o->time <= o->latency && o->latency <= FSCHED_MAX_TIME, VALUE,
          "loop op %u takes %llu ticks, with latency %llu", op, (unsigned long long)o->time,
          (unsigned long long)o->latency);
  FS_NEED(c,
          o->slots != 0 && o->slots <= INT32_MAX &&
              (o->loop == FS_NONE || (o->loop < v->n_loops && v->loops[o->loop].op == op &&
                                      v->loops[o->loop].within == (uint32_t)(l - v->loops))),
          REFERENCE, "loop op %u is loop %u, or takes %u slots", op, o->loop, o->slots);
  FS_NEED(c, o->by_class <= (o->loop == FS_NONE) && o->reserved == 0, VALUE,
          "loop op %u has by_class %u, reserved %u", op, o->by_class, o->reserved);
  FS_NEED(c, o->kernel == FS_NONE || o->kernel < v->n_kernels, REFERENCE,
          "loop op %u has kernel %u of %u", op, o->kernel, v->n_kernels);
  FS_TRY(fs_check_tile(c, o->arg0, o->n_args, v->n_loop_args, "loop args", &at->arg));
  FS_TRY(fs_check_tile(c, o->after0, o->n_afters, v->n_loop_afters, "loop afters", &at->after));
  FS_TRY(check_op_members(c, op, at));
  return check_afters(c, l, op);
}

static fs_status check_ops(fs_checker *c, const fs_stream_loop *l, loop_tiles *at) {
  const fs_stream_loop_op *first = &c->v.loop_ops[l->op0];
  for (uint32_t i = l->op0; i < l->op0 + l->n_ops; i++) {
    FS_TRY(check_op(c, l, i, at));
  }
  FS_TRY(
      fs_check_distinct(c, &first->name, sizeof *first / sizeof(uint32_t), l->n_ops, "loop ops"));
  return fs_check_loop_args(c, l);
}

/* ---- commands */

static uint32_t first_command(const fs_checker *c, const fs_stream_loop *l) {
  return c->v.loop_queues[l->queue0].command0;
}

/* The commands of a loop, and what is known about them. */
typedef struct checked_loop {
  const fs_stream_loop *l;
  const char *name;
  uint32_t first, n; /* of loop_commands */
  uint8_t *named;    /* per command: some wait names it */
  uint32_t *last;    /* per op and copy: the queue, from 1, of its last command so far */
  uint32_t *lead;    /* per op and copy: its first command */
  uint32_t *count;   /* per op and copy: its commands */
} checked_loop;

static uint32_t *lead_of(const checked_loop *w, uint32_t op, uint32_t copy) {
  return &w->lead[(size_t)(op - w->l->op0) * w->l->copies + copy];
}

static fs_status check_wait(fs_checker *c, const checked_loop *w, uint32_t command, uint32_t wait) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_command *m = &v->loop_commands[command];
  const fs_stream_loop_wait *x = &v->loop_waits[wait];
  FS_NEED(c, x->command >= w->first && x->command - w->first < w->n, REFERENCE,
          "a wait of command %u of loop '%s' is for command %u, of another loop",
          command - w->first, w->name, x->command);
  FS_NEED(c,
          wait == m->wait0 || x[-1].command < x->command ||
              (x[-1].command == x->command && x[-1].distance < x->distance),
          WAIT, "the waits of command %u of loop '%s' do not ascend", command - w->first, w->name);
  FS_NEED(c, x->distance <= MOST_DISTANCE, WAIT,
          "a wait of command %u of loop '%s' is %u iterations back", command - w->first, w->name,
          x->distance);
  uint32_t u = w->l->copies, copy = (m->copy + u - x->distance % u) % u;
  FS_NEED(c, v->loop_commands[x->command].copy == copy, WAIT,
          "a wait of command %u of loop '%s' is %u iterations back, which is not copy %u",
          command - w->first, w->name, x->distance, v->loop_commands[x->command].copy);
  uint32_t op = v->loop_commands[x->command].op, inner = v->loop_ops[op].loop;
  bool part = inner < v->n_loops && v->loops[inner].joined != 0; /* each is waited for itself */
  FS_NEED(c, part || *lead_of(w, op, copy) == x->command, WAIT,
          "a wait of command %u of loop '%s' is not for the first command of its op",
          command - w->first, w->name);
  w->named[x->command - w->first] = 1;
  return FSCHED_OK;
}

/* Checks a command of queue `queue` of the loop.  An op may have one on several queues: a gang's.
 */
static fs_status check_command(fs_checker *c, const checked_loop *w, uint32_t command,
                               uint32_t queue) {
  const fs_stream_loop *l = w->l;
  const fs_stream_loop_command *m = &c->v.loop_commands[command];
  uint32_t number = command - w->first;
  FS_NEED(c, m->op >= l->op0 && m->op - l->op0 < l->n_ops, REFERENCE,
          "command %u of loop '%s' runs op %u, of another loop", number, w->name, m->op);
  FS_NEED(c, m->copy < l->copies && m->shift <= MOST_SHIFT && m->signal <= 1, VALUE,
          "command %u of loop '%s' has copy %u, shift %u, signal %u", number, w->name, m->copy,
          m->shift, m->signal);
  uint32_t *last = &w->last[lead_of(w, m->op, m->copy) - w->lead];
  FS_NEED(c, *last <= queue, VALUE, "command %u of loop '%s' is another of op %u, copy %u", number,
          w->name, m->op - l->op0, m->copy);
  if (*last == 0) {
    *lead_of(w, m->op, m->copy) = command;
  }
  *last = queue + 1;
  w->count[last - w->last]++;
  return FSCHED_OK;
}

/* Checks the commands of all queues: each op has some for each copy, as many. */
static fs_status check_each_command(fs_checker *c, const checked_loop *w) {
  const fs_stream_loop *l = w->l;
  for (uint32_t q = 0; q < l->n_queues; q++) {
    const fs_stream_loop_queue *of = &c->v.loop_queues[l->queue0 + q];
    for (uint32_t i = of->command0; i < of->command0 + of->n_commands; i++) {
      FS_TRY(check_command(c, w, i, q));
    }
  }
  for (uint32_t i = 0; i < l->n_ops * l->copies; i++) {
    FS_NEED(c, w->last[i] != 0, VALUE, "op %u of loop '%s' has no command for copy %u",
            i / l->copies, w->name, i % l->copies);
    uint32_t first = w->count[i - i % l->copies]; /* barriers count those of any iteration */
    FS_NEED(c, w->count[i] == first, VALUE,
            "op %u of loop '%s' has %u commands for copy %u, and %u for copy 0", i / l->copies,
            w->name, w->count[i], i % l->copies, first);
    uint32_t members = c->v.loop_ops[l->op0 + i / l->copies].n_members;
    FS_NEED(c, members == 0 || members == first, VALUE,
            "op %u of loop '%s' has %u members and %u commands", i / l->copies, w->name, members,
            first);
  }
  return FSCHED_OK;
}

/* Checks that the commands of an op that could have other queues are on queues of one class. */
static fs_status check_choices(fs_checker *c, const fs_stream_loop *l) {
  const fs_stream *v = &c->v;
  uint32_t *class_name;
  FS_TRY(fs_new_none(&c->arena, &class_name, l->n_ops));
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    const fs_stream_loop_queue *of = &v->loop_queues[q];
    uint32_t name = v->queues[of->queue].class_name;
    for (uint32_t i = of->command0; i < of->command0 + of->n_commands; i++) {
      uint32_t op = v->loop_commands[i].op;
      if (v->loop_ops[op].by_class != 0) {
        uint32_t *known = &class_name[op - l->op0];
        *known = *known == FS_NONE ? name : *known;
        FS_TRY(fs_check_class(c, *known, name, "loop op", op));
      }
    }
  }
  return FSCHED_OK;
}

/* Sums of what queues count in a loop, over all runs in an invocation, do not overflow. */
static fs_status check_counts(fs_checker *c, const checked_loop *w) {
  const fs_stream *v = &c->v;
  uint64_t runs = 1, steps = w->l->trip;
  for (uint32_t l = w->l->within; l != FS_NONE; l = v->loops[l].within) {
    runs = fs_multiply_most(runs, v->loops[l].trip);
  }
  for (uint32_t i = w->first; i < w->first + w->n; i++) {
    steps = fs_max(steps, fs_add_most(w->l->trip, v->loop_commands[i].shift));
  }
  FS_NEED(c, fs_multiply_most(runs, fs_multiply_most(steps, w->n)) <= FS_STREAM_MOST, VALUE,
          "loop '%s' runs too often: its queues cannot count their commands", w->name);
  return FSCHED_OK;
}

/* Checks all waits of the loop, then the signals, which follow from them. */
static fs_status check_waits(fs_checker *c, const checked_loop *w, loop_tiles *at) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_command *m = &v->loop_commands[w->first];
  for (uint32_t i = 0; i < w->n; i++) {
    FS_TRY(fs_check_tile(c, m[i].wait0, m[i].n_waits, v->n_loop_waits, "loop waits", &at->wait));
    for (uint32_t k = m[i].wait0; k < m[i].wait0 + m[i].n_waits; k++) {
      FS_TRY(check_wait(c, w, w->first + i, k));
    }
  }
  for (uint32_t i = 0; i < w->n; i++) {
    FS_NEED(c, m[i].signal == w->named[i], WAIT, "command %u of loop '%s' has signal %u", i,
            w->name, m[i].signal);
  }
  return FSCHED_OK;
}

/* Checks that a command of a gang touches what the gang's first one does.  Requires the places of
 * these to be in range. */
static fs_status check_member(fs_checker *c, const checked_loop *w, uint32_t command) {
  const fs_stream *v = &c->v;
  const fs_stream_loop_command *m = &v->loop_commands[command];
  const fs_stream_loop_command *lead = &v->loop_commands[*lead_of(w, m->op, m->copy)];
  FS_NEED(c,
          m == lead || (m->n_places == lead->n_places &&
                        memcmp(&v->loop_places[m->place0], &v->loop_places[lead->place0],
                               m->n_places * sizeof *v->loop_places) == 0),
          PLACE, "command %u of loop '%s' has other places than command %u of its gang",
          command - w->first, w->name, (uint32_t)(lead - v->loop_commands) - w->first);
  return FSCHED_OK;
}

/* ---- barriers */

/* A guard of parts of loops whose runs are joined tells which ones by their queue, and no other
 * does.  Requires an op of the loop. */
static fs_status check_guard_queue(fs_checker *c, const fs_stream_loop *l, uint32_t guard,
                                   uint32_t op) {
  const fs_stream *v = &c->v;
  const fs_stream_guard *g = &v->guards[guard];
  uint32_t inner = v->loop_ops[op].loop, number = guard - l->guard0;
  bool joined = inner < v->n_loops && v->loops[inner].joined != 0, on = false;
  FS_NEED(c, (g->queue != FS_NONE) == joined && g->reserved == 0, VALUE,
          "guard %u of loop '%s' has producers of %s, and %s queue", number,
          fs_check_loop_name(c, l), joined ? "joined runs" : "no joined runs",
          g->queue != FS_NONE ? "a" : "no");
  uint32_t q = joined ? v->loops[inner].queue0 : v->n_loop_queues;
  for (; q < v->n_loop_queues && q - v->loops[inner].queue0 < v->loops[inner].n_queues; q++) {
    on = on || (v->loop_queues[q].queue == g->queue && g->queue < v->n_queues);
  }
  FS_NEED(c, !joined || on, REFERENCE, "guard %u of loop '%s' has queue %u, which op %u is not on",
          number, fs_check_loop_name(c, l), g->queue, op);
  return FSCHED_OK;
}

static fs_status check_guard(fs_checker *c, const fs_stream_loop *l, uint32_t guard,
                             loop_tiles *at) {
  const fs_stream *v = &c->v;
  const fs_stream_guard *g = &v->guards[guard];
  uint32_t number = guard - l->guard0;
  FS_NEED(c, g->depth != 0 && g->physical <= INT32_MAX && g->depth <= INT32_MAX, VALUE,
          "guard %u of loop '%s' is %u barriers from %u on", number, fs_check_loop_name(c, l),
          g->depth, g->physical);
  FS_NEED(c, g->n_producers != 0, VALUE, "guard %u of loop '%s' has no producers", number,
          fs_check_loop_name(c, l));
  FS_TRY(
      fs_check_tile(c, g->producer0, g->n_producers, v->n_producers, "producers", &at->producer));
  for (uint32_t i = g->producer0; i < g->producer0 + g->n_producers; i++) {
    uint32_t op = v->producers[i];
    FS_NEED(c, op >= l->op0 && op - l->op0 < l->n_ops, REFERENCE,
            "guard %u of loop '%s' has op %u, of another loop", number, fs_check_loop_name(c, l),
            op);
    FS_NEED(c, i == g->producer0 || v->producers[i - 1] < op, VALUE,
            "the producers of guard %u of loop '%s' do not ascend", number,
            fs_check_loop_name(c, l));
    FS_TRY(check_guard_queue(c, l, guard, op));
  }
  return FSCHED_OK;
}

static fs_status check_guards(fs_checker *c, const fs_stream_loop *l, loop_tiles *at) {
  const fs_stream *v = &c->v;
  FS_NEED(c, fs_sync_has_barriers(v->meta->sync) || l->n_guards == 0, VALUE,
          "loop '%s' has %u guards, in a program without barriers", fs_check_loop_name(c, l),
          l->n_guards);
  FS_TRY(fs_check_tile(c, l->guard0, l->n_guards, v->n_guards, "guards", &at->guard));
  for (uint32_t i = l->guard0; i < l->guard0 + l->n_guards; i++) {
    FS_TRY(check_guard(c, l, i, at));
  }
  return FSCHED_OK;
}

static fs_status check_checks(fs_checker *c, const checked_loop *w, loop_tiles *at) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < w->n; i++) {
    const fs_stream_loop_command *m = &v->loop_commands[w->first + i];
    FS_TRY(fs_check_tile(c, m->check0, m->n_checks, v->n_guard_checks, "guard checks", &at->check));
    for (uint32_t k = m->check0; k < m->check0 + m->n_checks; k++) {
      const fs_stream_guard_check *x = &v->guard_checks[k];
      FS_NEED(c, x->guard >= w->l->guard0 && x->guard - w->l->guard0 < w->l->n_guards, REFERENCE,
              "command %u of loop '%s' checks guard %u, of another loop", i, w->name, x->guard);
      FS_NEED(c, x->distance <= MOST_DISTANCE, WAIT,
              "command %u of loop '%s' checks a guard %u iterations back", i, w->name, x->distance);
      FS_NEED(c,
              k == m->check0 || x[-1].guard < x->guard ||
                  (x[-1].guard == x->guard && x[-1].distance < x->distance),
              WAIT, "the checks of command %u of loop '%s' do not ascend", i, w->name);
    }
  }
  return FSCHED_OK;
}

static fs_status check_commands(fs_checker *c, const fs_stream_loop *l, uint32_t end,
                                loop_tiles *at) {
  const fs_stream *v = &c->v;
  checked_loop w = {.l = l, .name = fs_check_loop_name(c, l), .first = first_command(c, l)};
  w.n = end - w.first;
  FS_NEED(c, w.n >= (uint64_t)l->n_ops * l->copies, VALUE,
          "loop '%s' has %u commands for %u ops in %u copies", w.name, w.n, l->n_ops, l->copies);
  FS_TRY(fs_new_zero(&c->arena, &w.last, w.n));
  FS_TRY(fs_new_zero(&c->arena, &w.lead, w.n));
  FS_TRY(fs_new_zero(&c->arena, &w.count, w.n));
  FS_TRY(fs_new_zero(&c->arena, &w.named, w.n));
  FS_TRY(check_each_command(c, &w));
  FS_TRY(check_choices(c, l));
  FS_TRY(check_counts(c, &w));
  FS_TRY(check_waits(c, &w, at));
  FS_TRY(fs_check_loop_issue(c, l, w.first, w.n));
  FS_TRY(check_guards(c, l, at));
  FS_TRY(check_checks(c, &w, at));
  for (uint32_t i = w.first; i < end; i++) {
    const fs_stream_loop_command *m = &v->loop_commands[i];
    FS_TRY(fs_check_tile(c, m->place0, m->n_places, v->n_loop_places, "loop places", &at->place));
    FS_TRY(fs_check_loop_places(c, l, i));
    FS_TRY(check_member(c, &w, i));
  }
  return FSCHED_OK;
}

/* ---- the whole */

static fs_status check_ends(fs_checker *c, const loop_tiles *at) {
  const fs_stream *v = &c->v;
  FS_TRY(fs_check_tiled(c, at->queue, v->n_loop_queues, "loop queues"));
  FS_TRY(fs_check_tiled(c, at->op, v->n_loop_ops, "loop ops"));
  FS_TRY(fs_check_tiled(c, at->after, v->n_loop_afters, "loop afters"));
  FS_TRY(fs_check_tiled(c, at->arg, v->n_loop_args, "loop args"));
  FS_TRY(fs_check_tiled(c, at->member, v->n_loop_members, "loop members"));
  FS_TRY(fs_check_tiled(c, at->ring, v->n_rings, "rings"));
  FS_TRY(fs_check_tiled(c, at->command, v->n_loop_commands, "loop commands"));
  FS_TRY(fs_check_tiled(c, at->wait, v->n_loop_waits, "loop waits"));
  FS_TRY(fs_check_tiled(c, at->stop, v->n_loop_stops, "loop stops"));
  FS_TRY(fs_check_tiled(c, at->guard, v->n_guards, "guards"));
  FS_TRY(fs_check_tiled(c, at->producer, v->n_producers, "producers"));
  FS_TRY(fs_check_tiled(c, at->check, v->n_guard_checks, "guard checks"));
  return fs_check_tiled(c, at->place, v->n_loop_places, "loop places");
}

/* A loop is no op with members, and what its op touches is of ranges; views are of its body's. */
static fs_status check_loop_ops(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_loops; i++) {
    const fs_stream_loop *l = &v->loops[i];
    const fs_stream_op *o = l->within == FS_NONE ? &v->ops[l->op] : NULL;
    const fs_stream_loop_op *inner = o == NULL ? &v->loop_ops[l->op] : NULL;
    FS_NEED(c, o == NULL || o->n_members == 0, VALUE, "op %u is a loop and has members", l->op);
    uint32_t arg0 = o != NULL ? o->arg0 : inner->arg0, n = o != NULL ? o->n_args : inner->n_args;
    for (uint32_t a = arg0; a < arg0 + n; a++) {
      FS_NEED(c, (o != NULL ? fs_stream_view_of(v, a) : fs_stream_loop_view_of(v, a)) == NULL,
              VALUE, "loop '%s' has a view as arg %u of its own", fs_check_loop_name(c, l),
              a - arg0);
    }
  }
  return FSCHED_OK;
}

static fs_status check_races(fs_checker *c) {
  for (uint32_t i = 0; i < c->v.n_loop_races; i++) {
    const fs_stream_loop_race *r = &c->v.loop_races[i];
    FS_TRY(fs_check_string(c, r->op_a, "loop race", i));
    FS_TRY(fs_check_string(c, r->op_b, "loop race", i));
    FS_TRY(fs_check_string(c, r->buffer, "loop race", i));
    FS_NEED(c, r->reserved == 0, VALUE, "loop race %u has reserved %u", i, r->reserved);
  }
  return FSCHED_OK;
}

fs_status fs_check_loops(fs_checker *c) {
  assert(c->v.n_meta == 1);
  const fs_stream *v = &c->v;
  loop_tiles at = {0};
  FS_TRY(check_params(c));
  FS_TRY(check_races(c));
  for (uint32_t i = 0; i < v->n_loops; i++) {
    FS_TRY(check_loop(c, i, &at));
    FS_TRY(check_ops(c, &v->loops[i], &at));
    FS_TRY(check_commands_tile(c, &v->loops[i], &at));
    FS_TRY(check_commands(c, &v->loops[i], at.command, &at));
  }
  FS_TRY(check_ends(c, &at));
  FS_TRY(fs_check_views(c, true));
  FS_TRY(check_loop_ops(c));
  FS_TRY(check_queues(c));
  return check_inner_queues(c);
}
