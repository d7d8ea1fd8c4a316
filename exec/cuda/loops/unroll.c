/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of instances of all loops, in the order of the items and of walks over each, have
 * numbers, and so have their digests.  Each visit meets them in the same order, so nothing else is
 * kept of them, but for what the watch has to name.
 *
 *   part   ... -> begin -> instance of its queue -> ... -> end -> ...
 *
 * An instance comes after the one before it on each of its queues, and after those that it waits
 * for.  Members with args of their own are nodes side by side, between two nodes of all.  Each part
 * of a loop begins and ends with nodes of its own.  A run of a loop in a loop begins and ends with
 * one node for all of its queues; where runs are joined, its queues have one each, before their
 * parts. */
#include "exec/cuda/loops/unroll.h"

#include "base/saturate.h"
#include "exec/cuda/loops/calls.h"
#include "exec/cuda/loops/times.h"
#include "exec/cuda/loops/watch.h"

/* Limits */

/* How often a loop is run. */
static uint64_t runs_of(const fs_stream *s, const fs_stream_loop *loop) {
  uint64_t runs = 1;
  for (uint32_t l = loop->within; l != FS_NONE; l = s->loops[l].within) {
    runs = fs_multiply_most(runs, s->loops[l].trip);
  }
  return runs;
}

/* Calls of instances of all loops; `inner`: runs of loops in loops too. */
static uint64_t count_calls(const fs_stream *s, bool inner) {
  uint64_t n = 0, limit = UINT64_MAX / 2;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *loop = &s->loops[l];
    uint64_t ops = 0;
    for (uint32_t i = loop->op0; i < loop->op0 + loop->n_ops; i++) {
      ops += s->loop_ops[i].loop == FS_NONE ? fs_loop_op_calls(&s->loop_ops[i]) : inner;
    }
    uint64_t own = fs_multiply_most(fs_multiply_most(runs_of(s, loop), loop->trip), ops);
    n = fs_min(n + fs_min(own, limit), limit);
  }
  return n;
}

fs_status fs_cuda_unroll_check(fsched_context *ctx, const fs_stream *s) {
  assert(s->n_meta == 1);
  static const char hint[] = "streams (cuda) run any loop";
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *loop = &s->loops[l];
    uint32_t name = loop->within == FS_NONE ? s->ops[loop->op].name : s->loop_ops[loop->op].name;
    if (loop->param != FS_NONE) {
      return fs_fail(
          ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE, hint,
          "a CUDA graph has nodes for each iteration, and those of loop '%s' are as many "
          "as its parameter '%s' says at each invocation",
          fs_stream_string(s, name), fs_stream_string(s, s->params[loop->param].name));
    }
  }
  uint64_t n = count_calls(s, true);
  return n <= FS_CUDA_UNROLLED
             ? FSCHED_OK
             : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE, hint,
                       "a CUDA graph has nodes for each iteration of each op in a loop, here %llu, "
                       "and at most %d",
                       (unsigned long long)n, FS_CUDA_UNROLLED);
}

/* Visits */

typedef struct cuda_visit cuda_visit;
struct cuda_visit {
  fs_instance *x;
  uint64_t n;                                              /* calls so far */
  uint32_t n_hosts;                                        /* of these, the host's */
  bool (*call)(cuda_visit *v, const fs_loop_instance *at); /* of an instance, or of a member */
  bool (*meet)(cuda_visit *v, const fs_loop_instance *at); /* before members, and behind them */
  bool (*part)(cuda_visit *v, const fs_loop_instance *at);
  bool (*enter)(cuda_visit *v, const fs_loop_instance *at); /* a run of a loop in a loop */
  bool (*leave)(cuda_visit *v, const fs_loop_instance *at);
  void *user;
  char stuck[FS_CUDA_STUCK_TEXT]; /* says which instances wait for each other; else "" */
};

/* The next command of an instance's op and copy, from one of its loop's on; FS_NONE: there is none.
 */
static uint32_t next_member(const fs_stream *s, const fs_loop_instance *at, uint32_t c) {
  const fs_stream_loop_queue *last = &s->loop_queues[at->loop->queue0 + at->loop->n_queues - 1];
  uint32_t copy = s->loop_commands[at->loop_command].copy;
  while (c < last->command0 + last->n_commands &&
         (s->loop_commands[c].op != at->op || s->loop_commands[c].copy != copy)) {
    c++;
  }
  return c < last->command0 + last->n_commands ? c : FS_NONE;
}

static uint32_t first_member(const fs_stream *s, const fs_loop_instance *at) {
  return next_member(s, at, s->loop_queues[at->loop->queue0].command0);
}

static bool visit_call(cuda_visit *v, const fs_loop_instance *at) {
  bool done = v->call(v, at);
  v->n++;
  return done;
}

static bool visit_members(cuda_visit *v, const fs_loop_instance *at) {
  const fs_stream *s = v->x->s;
  bool done = v->meet == NULL || v->meet(v, at);
  for (uint32_t c = first_member(s, at); c != FS_NONE && done; c = next_member(s, at, c + 1)) {
    fs_loop_instance own = *at;
    own.loop_command = c;
    done = visit_call(v, &own);
  }
  return done && (v->part == NULL || v->part(v, at));
}

static bool visit_instance(cuda_visit *v, const fs_loop_instance *at) {
  return fs_cuda_calls_apart(v->x->s, at) ? visit_members(v, at) : visit_call(v, at);
}

/* The recursion is as deep as loops nest. */
static bool visit_loop(cuda_visit *v, const fs_stream_loop *loop, const fs_loop_instance *around,
                       uint32_t command, uint32_t depth) {
  const fs_stream *s = v->x->s;
  fs_loop_walk *walk = &v->x->loops.walk[depth];
  fs_loop_instance at = {.loop = loop,
                         .command = command,
                         .before = fs_loop_before(loop, around, loop->trip),
                         .around = around};
  fs_loop_walk_begin(walk, loop, loop->trip);
  while (fs_loop_walk_next(walk, &at.loop_command, &at.iteration)) {
    at.op = s->loop_commands[at.loop_command].op;
    uint32_t inner = s->loop_ops[at.op].loop;
    bool done = inner == FS_NONE ? visit_instance(v, &at)
                                 : (v->enter == NULL || v->enter(v, &at)) &&
                                       visit_loop(v, &s->loops[inner], &at, command, depth + 1) &&
                                       (v->leave == NULL || v->leave(v, &at));
    if (!done) {
      return false;
    }
  }
  if (walk->left > 0) {
    fs_cuda_loop_stuck_text(v->x, walk, &at, v->stuck);
  }
  return walk->left == 0;
}

static bool visit_command(cuda_visit *v, uint32_t command) {
  const fs_stream *s = v->x->s;
  const fs_stream_loop *loop = &s->loops[v->x->loops.loops.of[s->commands[command].target]];
  return visit_loop(v, loop, NULL, command, 0);
}

/* Visits all loops.  False: a call has returned false, or instances wait for each other. */
static bool visit_all(cuda_visit *v) {
  const fs_cuda_plan *plan = &v->x->program->plan;
  bool done = true;
  for (uint32_t i = 0; i < plan->n_items && done; i += plan->item[i].parts) {
    done = !fs_cuda_is_loop(v->x, plan->item[i].command) || visit_command(v, plan->item[i].command);
  }
  return done;
}

/* The list of what is watched */

static bool list_call(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_loops *r = &v->x->loops;
  if (fs_cuda_loop_on_host(v->x, at)) {
    fs_cuda_host_list(v->x, at);
  }
  if (fs_cuda_loop_foreign(v->x, at)) {
    if (r->foreign != NULL) {
      uint32_t lane = r->stream_of[r->queue_of[at->loop_command]];
      r->foreign[r->n_foreign] =
          (fs_cuda_foreign){.what = fs_cuda_loop_running(v->x, at), .lane = lane, .next = FS_NONE};
      *(r->at[lane].last == FS_NONE ? &r->at[lane].first : &r->foreign[r->at[lane].last].next) =
          r->n_foreign;
      r->at[lane].last = r->n_foreign;
    }
    r->n_foreign++;
  }
  return true;
}

fs_status fs_cuda_unroll_make(fsched_context *ctx, fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  assert(x->graph && r->walk != NULL);
  cuda_visit v = {.x = x, .call = list_call};
  r->n_calls = count_calls(x->s, false);
  FS_TRY(fs_cuda_loops_watch_make(x));
  if (!visit_all(&v)) {
    return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL, "%s", v.stuck);
  }
  FS_TRY(fs_new(&x->arena, &r->foreign, r->n_foreign));
  FS_TRY(fs_cuda_host_list_make(x, x->hosts.n_instances, fs_loops_depth(x->s)));
  r->n_foreign = 0;
  v.n = 0;
  bool again = visit_all(&v);
  assert(again && v.n == r->n_calls);
  return again ? FSCHED_OK : FSCHED_REPLAY;
}

/* Calls and digests */

static fs_cu_address call_at(const fs_instance *x, uint64_t n) {
  assert(n < x->loops.n_calls);
  return x->aux + x->loops.calls + n * x->loops.call_bytes;
}

static bool write_call(cuda_visit *v, const fs_loop_instance *at) {
  fs_instance *x = v->x;
  if (fs_cuda_loop_on_host(x, at)) {
    return true;
  }
  uint8_t *to = x->pinned + x->staged_aux + x->loops.calls + v->n * x->loops.call_bytes;
  fs_cuda_call_write(x, at, x->aux + x->loops.digests + v->n * sizeof(uint64_t),
                     (fs_cuda_call *)(void *)to);
  return true;
}

void fs_cuda_unroll_calls(fs_instance *x) {
  assert(x->graph);
  cuda_visit v = {.x = x, .call = write_call};
  bool done = x->config.empty || visit_all(&v);
  assert(done);
  (void)done;
}

static bool add_digest(cuda_visit *v, const fs_loop_instance *at) {
  fs_instance *x = v->x;
  const uint64_t *digest =
      (const uint64_t *)(const void *)(x->pinned + x->staged_aux + x->loops.digests) + v->n;
  bool host = fs_cuda_loop_on_host(x, at);
  fs_cuda_call_over(x, at, host ? fs_cuda_host_instance(x, v->n_hosts)->digest : *digest);
  v->n_hosts += host;
  return true;
}

void fs_cuda_unroll_digests(fs_instance *x) {
  assert(x->graph);
  cuda_visit v = {.x = x, .call = add_digest};
  bool done = visit_all(&v);
  assert(done);
  (void)done;
}

/* Nodes */

typedef struct fs_cuda_unrolling {
  fs_cu_node *last; /* per depth and queue of the stream: the last node */
  uint64_t *node0;  /* per loop command: its nodes in `node`, one for each of its iterations */
  fs_cu_node *node; /* of the present run of each loop, or of all that are joined to it */
  fs_cu_node met;   /* where the present members have */
  uint64_t n;       /* calls so far */
  uint32_t n_foreign, n_hosts;
  uint32_t pair[FS_LOOP_NEST]; /* per depth: of the times of the present run of a loop there */
} fs_cuda_unrolling;

static bool no_memory(const fs_cuda_graph_maker *m, fs_status status) {
  return status == FSCHED_OK || fs_cuda_ok(m->x, "memory for a graph", FS_CU_OUT_OF_MEMORY);
}

bool fs_cuda_unroll_begin(fs_cuda_graph_maker *m) {
  const fs_stream *s = m->x->s;
  fs_cuda_unrolling *u;
  uint64_t n = 0;
  if (s->n_loops == 0) {
    return true;
  }
  size_t lasts = (size_t)fs_loops_depth(s) * s->n_queues;
  if (!no_memory(m, fs_new_zero(m->scratch, &u, 1)) ||
      !no_memory(m, fs_new_zero(m->scratch, &u->last, lasts)) ||
      !no_memory(m, fs_new_zero(m->scratch, &u->node0, s->n_loop_commands))) {
    return false;
  }
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *loop = &s->loops[l];
    uint64_t runs = loop->joined ? s->loops[loop->within].trip : 1;
    uint64_t most = runs_of(s, loop) == 0 ? 0 : runs * loop->trip / loop->copies + 1;
    const fs_stream_loop_queue *end = &s->loop_queues[loop->queue0 + loop->n_queues];
    for (const fs_stream_loop_queue *q = &s->loop_queues[loop->queue0]; q < end; q++) {
      for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
        u->node0[c] = n;
        n += most;
      }
    }
  }
  m->unrolling = u;
  fs_cuda_times_clear(m->x);
  return no_memory(m, fs_new_zero(m->scratch, &u->node, n));
}

uint32_t fs_cuda_unroll_most_after(const fs_stream *s) {
  uint32_t waits = 0;
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    waits += s->loop_commands[c].n_waits; /* an instance may have several commands */
  }
  return waits + s->n_queues;
}

/* A visit with the maker as its user. */
static fs_cuda_graph_maker *maker_of(const cuda_visit *v) { return v->user; }

static uint32_t depth_of(const fs_loop_instance *at) {
  uint32_t depth = 0;
  for (at = at->around; at != NULL; at = at->around) {
    depth++;
  }
  return depth;
}

static fs_cu_node *last_of(const fs_cuda_graph_maker *m, uint32_t depth, uint32_t queue) {
  return &m->unrolling->last[(size_t)depth * m->x->s->n_queues + queue];
}

static fs_cu_node *node_of(const fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c,
                           uint64_t iteration) {
  return &m->unrolling->node[m->unrolling->node0[c] + iteration / at->loop->copies];
}

/* Calls that for each command of the instance, as long as it returns true; returns whether it has
 * done so. */
static bool each_member(fs_cuda_graph_maker *m, const fs_loop_instance *at,
                        bool (*call)(fs_cuda_graph_maker *m, const fs_loop_instance *at,
                                     uint32_t c)) {
  const fs_stream *s = m->x->s;
  bool done = true;
  for (uint32_t c = first_member(s, at); c != FS_NONE && done; c = next_member(s, at, c + 1)) {
    done = call(m, at, c);
  }
  return done;
}

/* The number of an instance's iteration, over all runs that are joined. */
static uint64_t number_of(const fs_loop_instance *at) { return at->before + at->iteration; }

static bool come_after(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c) {
  const fs_stream_loop_command *k = &m->x->s->loop_commands[c];
  fs_cuda_graph_after(m, *last_of(m, depth_of(at), m->x->loops.queue_of[c]));
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
    const fs_stream_loop_wait *w = &m->x->s->loop_waits[i];
    if (w->distance <= number_of(at)) {
      fs_cuda_graph_after(m, *node_of(m, at, w->command, number_of(at) - w->distance));
    }
  }
  return true;
}

static bool note_node(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c) {
  *node_of(m, at, c, number_of(at)) = m->at;
  *last_of(m, depth_of(at), m->x->loops.queue_of[c]) = m->at;
  return true;
}

/* Behind what its queue has so far. */
static bool come_behind(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c) {
  fs_cuda_graph_after(m, *last_of(m, depth_of(at), m->x->loops.queue_of[c]));
  return true;
}

/* Adds an event of a pair, if there is one. */
static bool add_time(fs_cuda_graph_maker *m, uint32_t pair, bool end) {
  return pair == FS_NONE || fs_cuda_graph_record(m, fs_cuda_times_event(m->x, pair, end));
}

static bool add_kernel(fs_cuda_graph_maker *m, const fs_loop_instance *at) {
  fs_instance *x = m->x;
  bool foreign = fs_cuda_loop_foreign(x, at);
  uint32_t f = m->unrolling->n_foreign;
  fs_cuda_launch l;
  m->unrolling->n_foreign += foreign;
  if (fs_cuda_call_pace(x, at, &l) && !fs_cuda_graph_kernel(m, &l)) {
    return false;
  }
  if (foreign && !fs_cuda_graph_record(m, x->loops.begun[f])) {
    return false;
  }
  bool host = fs_cuda_loop_on_host(x, at), added;
  if (host) {
    added = fs_cuda_graph_host(m, fs_cuda_host_instance(x, m->unrolling->n_hosts++));
  } else {
    fs_cuda_call_launch(x, at, call_at(x, m->unrolling->n), &l);
    added = fs_cuda_graph_kernel(m, &l);
  }
  return added && (!foreign || fs_cuda_graph_record(m, x->loops.event[f]));
}

/* Members with args of their own come behind a node. */
static bool meet_members(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_graph_maker *m = maker_of(v);
  (void)fs_cuda_times_take(m->x, at);
  fs_cuda_graph_begin(m);
  if (!each_member(m, at, come_after) || !fs_cuda_graph_empty(m)) {
    return false;
  }
  m->unrolling->met = m->at;
  return true;
}

/* And before one, which is then the last one of all their queues. */
static bool part_members(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_graph_maker *m = maker_of(v);
  fs_cuda_graph_begin(m);
  return each_member(m, at, come_behind) && fs_cuda_graph_empty(m) && each_member(m, at, note_node);
}

/* Begins a call where it may run; its times go to *pair. */
static bool begin_call(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t *pair) {
  fs_cuda_graph_begin(m);
  if (fs_cuda_calls_apart(m->x->s, at)) {
    fs_cuda_graph_after(m, m->unrolling->met);
    *pair = fs_cuda_times_part(m->x, at->loop_command);
    return true;
  }
  *pair = fs_cuda_times_take(m->x, at);
  return each_member(m, at, come_after);
}

/* Ends it; of a member, its queue goes on where all have. */
static bool end_call(fs_cuda_graph_maker *m, const fs_loop_instance *at) {
  m->unrolling->n++;
  if (fs_cuda_calls_apart(m->x->s, at)) {
    *last_of(m, depth_of(at), m->x->loops.queue_of[at->loop_command]) = m->at;
    return true;
  }
  return each_member(m, at, note_node);
}

static bool add_call(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_graph_maker *m = maker_of(v);
  fs_cuda_launch l;
  uint32_t pair;
  if (!begin_call(m, at, &pair) || !add_time(m, pair, false) || !add_kernel(m, at) ||
      !add_time(m, pair, true)) {
    return false;
  }
  if (!fs_cuda_loop_on_host(m->x, at) &&
      fs_cuda_call_digest(m->x, call_at(m->x, m->unrolling->n), &l) &&
      !fs_cuda_graph_kernel(m, &l)) {
    return false;
  }
  return end_call(m, at);
}

static bool moves_values(const fs_stream *s, const fs_stream_loop *loop) {
  bool moves = false;
  for (uint32_t k = loop->ring0; k < loop->ring0 + loop->n_rings && !moves; k++) {
    moves = fs_ring_moves(loop, &s->rings[k]) && loop->trip % s->rings[k].depth != 0;
  }
  return moves;
}

/* Moves the last values of a run that is over with the node at hand. */
static bool move_values(fs_cuda_graph_maker *m, const fs_stream_loop *loop, uint32_t command,
                        const fs_loop_instance *around) {
  fs_instance *x = m->x;
  bool done = true;
  for (uint32_t k = 0; k < loop->n_rings && done && !x->config.empty; k++) {
    fs_loop_move v = fs_loop_last_value(x->s, loop, k, loop->trip, command, around);
    if (v.bytes > 0) {
      bool host = x->io->store[v.memory];
      fs_cuda_work w = {.from = fs_cuda_at(x, v.memory, v.from),
                        .to = fs_cuda_at(x, v.memory, v.to),
                        .size = v.bytes,
                        .from_host = host,
                        .to_host = host};
      done = fs_cuda_graph_copy(m, &w);
    }
  }
  return done;
}

/* All queues of a loop begin behind the last node. */
static void begin_queues(const fs_cuda_graph_maker *m, const fs_stream_loop *loop, uint32_t depth) {
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    *last_of(m, depth, m->x->s->loop_queues[q].queue) = m->at;
  }
}

/* They end before a node. */
static bool end_queues(fs_cuda_graph_maker *m, const fs_stream_loop *loop, uint32_t depth) {
  fs_cuda_graph_begin(m);
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    fs_cuda_graph_after(m, *last_of(m, depth, m->x->s->loop_queues[q].queue));
  }
  return fs_cuda_graph_empty(m);
}

static const fs_stream_loop *inner_of(const fs_cuda_graph_maker *m, const fs_loop_instance *at) {
  return &m->x->s->loops[m->x->s->loop_ops[at->op].loop];
}

/* A queue's part of a run begins behind the queue's place in the loop around and the waits of its
 * own command there. */
static bool enter_part(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c) {
  fs_cuda_graph_begin(m);
  if (!come_after(m, at, c) || !fs_cuda_graph_empty(m) ||
      !add_time(m, fs_cuda_times_part(m->x, c), false)) {
    return false;
  }
  *last_of(m, depth_of(at) + 1, m->x->loops.queue_of[c]) = m->at;
  return true;
}

/* It is over with the last instance there. */
static bool leave_part(fs_cuda_graph_maker *m, const fs_loop_instance *at, uint32_t c) {
  uint32_t pair = fs_cuda_times_part(m->x, c);
  fs_cuda_graph_begin(m);
  m->at = *last_of(m, depth_of(at) + 1, m->x->loops.queue_of[c]);
  fs_cuda_graph_after(m, m->at);
  return add_time(m, pair, true) && note_node(m, at, c);
}

static bool enter_inner(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_graph_maker *m = maker_of(v);
  if (inner_of(m, at)->joined != 0) {
    (void)fs_cuda_times_take(m->x, at);
    fs_cuda_times_enter(m->x, inner_of(m, at), at);
    return each_member(m, at, enter_part);
  }
  fs_cuda_graph_begin(m);
  uint32_t *pair = &m->unrolling->pair[depth_of(at)];
  *pair = fs_cuda_times_take(m->x, at);
  fs_cuda_times_enter(m->x, inner_of(m, at), at);
  if (!each_member(m, at, come_after) || !fs_cuda_graph_empty(m) || !add_time(m, *pair, false)) {
    return false;
  }
  begin_queues(m, inner_of(m, at), depth_of(at) + 1);
  return true;
}

static bool leave_inner(cuda_visit *v, const fs_loop_instance *at) {
  fs_cuda_graph_maker *m = maker_of(v);
  if (inner_of(m, at)->joined != 0) {
    return each_member(m, at, leave_part);
  }
  if (!end_queues(m, inner_of(m, at), depth_of(at) + 1) ||
      !move_values(m, inner_of(m, at), at->command, at) ||
      !add_time(m, m->unrolling->pair[depth_of(at)], true)) {
    return false;
  }
  return each_member(m, at, note_node);
}

bool fs_cuda_unroll_enter(fs_cuda_graph_maker *m, uint32_t queue) {
  assert(m->unrolling != NULL && queue < m->x->s->n_queues);
  if (!fs_cuda_graph_empty(m)) {
    return false;
  }
  *last_of(m, 0, queue) = m->at;
  return true;
}

bool fs_cuda_unroll_add(fs_cuda_graph_maker *m, uint32_t command) {
  const fs_stream *s = m->x->s;
  assert(m->unrolling != NULL && fs_cuda_is_loop(m->x, command));
  cuda_visit v = {.x = m->x,
                  .call = add_call,
                  .meet = meet_members,
                  .part = part_members,
                  .enter = enter_inner,
                  .leave = leave_inner,
                  .user = m};
  const fs_stream_loop *loop = &s->loops[m->x->loops.loops.of[s->commands[command].target]];
  fs_cuda_times_enter(m->x, loop, NULL);
  if (!visit_command(&v, command)) {
    return false;
  }
  if (moves_values(s, loop)) { /* then its queues leave it together */
    if (!end_queues(m, loop, 0) || !move_values(m, loop, command, NULL)) {
      return false;
    }
    begin_queues(m, loop, 0);
  }
  return true;
}

bool fs_cuda_unroll_leave(fs_cuda_graph_maker *m, uint32_t queue) {
  assert(m->unrolling != NULL && queue < m->x->s->n_queues);
  fs_cuda_graph_begin(m);
  fs_cuda_graph_after(m, *last_of(m, 0, queue));
  return fs_cuda_graph_empty(m);
}
