/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker runs: the kernel of an op or of an instance of a loop.  Members with args of their
 * own run each theirs, at the same time; of other gangs the first member runs the op, and the
 * others keep their queues until it is over. */
#include "base/clock.h"
#include "base/futex.h"
#include "base/process.h"
#include "base/text/ticks.h"
#include "exec/dynamic/program/program.h"
#include "exec/host/timeline.h"
#include "model/stream/members.h"

/* A paced command spins for the last part of its pace, since a sleep may overshoot by that much. */
enum { PACE_SPIN_NS = 100000 };

/* The instance of a key: at[0] is the one that runs, and those around it follow. */
static void find_instance(const fs_stream *s, const fs_program_key *key, fs_loop_instance *at) {
  for (uint32_t d = 0; d < key->depth; d++) {
    const fs_program_level *l = &key->level[d];
    uint32_t i = key->depth - 1 - d;
    uint32_t loop = 0;
    while (l->op - s->loops[loop].op0 >= s->loops[loop].n_ops) {
      loop++;
    }
    at[i] = (fs_loop_instance){&s->loops[loop], key->command, l->loop_command,           l->op,
                               l->iteration,    l->before,    d == 0 ? NULL : &at[i + 1]};
  }
}

/* What a member of a task calls. */
typedef struct member_call {
  const fs_stream_loop_op *body; /* NULL: it is an op of the stream: */
  const fs_stream_op *op;
  fs_stream_member own; /* its args, of the stream or of loops */
  uint32_t n_calls;     /* members with args of their own; else 1 */
  uint32_t n_members, kernel;
} member_call;

static member_call find_call(const fs_stream *s, const fs_program_key *key, uint32_t member) {
  member_call c = {.op = &s->ops[key->op]};
  if (key->depth == 0) {
    c.n_calls = fs_op_calls(c.op);
    c.own = fs_op_call_args(s, c.op, fs_min(member, c.n_calls - 1));
    c.n_members = c.op->n_members;
    c.kernel = c.op->kernel;
  } else {
    c.body = &s->loop_ops[key->level[key->depth - 1].op];
    c.n_calls = fs_loop_op_calls(c.body);
    c.own = fs_loop_op_call_args(s, c.body, fs_min(member, c.n_calls - 1));
    c.n_members = c.body->n_members;
    c.kernel = c.body->kernel;
  }
  return c;
}

/* The args as the kernel sees them. */
static void show_args(const fs_stream *s, const member_call *c, const fsched_kernel_call *from,
                      fs_kernel_arg *out) {
  assert(from->n_args >= c->own.n_args);
  for (uint32_t i = 0; i < c->own.n_args; i++) {
    uint32_t arg = c->own.arg0 + i;
    out[i] = from->args[i];
    out[i].tag = c->body == NULL ? fs_tag_seen(s->args[arg].tag, s->args[arg].begins)
                                 : fs_tag_seen(s->loop_args[arg].tag, s->loop_args[arg].begins);
    out[i].value = fs_tag_names_buffer(out[i].tag) ? 0 : out[i].value;
  }
}

/* Adds the digest of a task, or of a member with args of its own to that of its task, which is the
 * sum. */
static void add_digest(fs_instance *x, const fs_program_key *key, uint32_t n_calls,
                       uint64_t digest) {
  if (n_calls > 1) {
    fs_program_gang *g = &x->gang[key->gang];
    atomic_fetch_add(&g->digest, digest);
    if (atomic_fetch_add(&g->ended, 1) + 1 < n_calls) {
      return;
    }
    digest = atomic_load(&g->digest);
  }
  if (key->depth == 0) {
    atomic_store_explicit(&x->digest[key->op], digest, memory_order_relaxed);
    return;
  }
  fs_loop_instance at[FS_LOOP_NEST];
  find_instance(x->stream, key, at);
  atomic_fetch_add_explicit(&x->digest[key->op], fs_loop_digest(&at[0], digest),
                            memory_order_relaxed);
}

static fsched_cause call_kernel(fs_instance *x, const fs_effect_room *room, const fs_running *what,
                                uint32_t kernel, const fs_kernel_call *call) {
  bool foreign = fs_kernels_foreign(&x->kernels, kernel);
  if (foreign) { /* the watchdog looks at the hand instead */
    atomic_fetch_sub(&x->shared->n_builtin, 1);
  }
  static const fs_work nobody; /* the submitting process hears of a failure by the member's end */
  fsched_cause cause =
      fs_effect_call(&x->effects, room, x->processes ? &nobody : x->work, what, kernel, call);
  if (foreign) {
    atomic_fetch_add(&x->shared->n_builtin, 1);
  }
  return cause;
}

/* The command of a member: of an op that is in no loop, its own. */
static uint32_t command_of(const fs_instance *x, const fs_program_key *key, const member_call *c,
                           uint32_t member) {
  return key->depth == 0 && c->n_members > 0 ? x->op_command[x->op_queue0[key->op] + member]
                                             : key->command;
}

/* Runs an op, or an instance of a loop's, or a member of one that has args of its own. */
static fsched_cause run_kernel(fs_instance *x, const fs_program_key *key, const member_call *c,
                               const fs_started_member *started) {
  const fs_stream *s = x->stream;
  const fsched_kernel_call *from = started->call;
  const fs_effect_room *room = &x->hand_room[started->queue];
  uint32_t member = started->member;
  fs_running what = {.command = command_of(x, key, c, member),
                     .loop_op = FS_NONE,
                     .queue = started->queue,
                     .depth = key->depth};
  for (uint32_t d = 0; d < key->depth; d++) {
    what.iteration[d] = key->level[key->depth - 1 - d].iteration;
    what.loop_op = key->level[d].op;
  }
  show_args(s, c, from, room->args);
  fs_kernel_call call = {.size = sizeof call,
                         .op = from->op,
                         .args = room->args,
                         .n_args = c->own.n_args,
                         .scratch = from->args + c->own.n_args, /* behind the args */
                         .n_scratch = from->n_args - c->own.n_args,
                         .views = c->body == NULL ? fs_kernel_views(s, c->own, room->views)
                                                  : fs_kernel_loop_views(s, c->own, room->views),
                         .member = c->n_members == 0 ? 0 : member,
                         .n_members = c->n_members};
  fs_kernels_shape(&x->kernels, c->kernel, &call);
  fsched_cause cause = call_kernel(x, room, &what, c->kernel, &call);
  if (cause == FSCHED_CAUSE_NONE && x->shared->digests) {
    add_digest(x, key, c->n_calls, fs_kernels_digest(&x->kernels, c->kernel, &call));
  }
  return cause;
}

/* Sleeps, then spins, until the clock shows `until`, or all effects are left out. */
static void await_pace(const fs_instance *x, uint64_t until) {
  for (;;) {
    uint64_t now = fs_now_ns();
    if (now >= until || fs_program_poisoned(x)) {
      return;
    }
    if (until - now > 2 * PACE_SPIN_NS) {
      fs_futex_wait_shared(&x->shared->poisoned, 0, until - now - PACE_SPIN_NS);
    } else {
      fs_pause();
    }
  }
}

static uint64_t ticks_of(const fs_instance *x, const fs_program_key *key) {
  const fs_stream *s = x->stream;
  if (key->moves) {
    return 0;
  }
  if (key->depth > 0) {
    return s->loop_ops[key->level[key->depth - 1].op].latency;
  }
  const fs_stream_command *c = &s->commands[key->command];
  return c->end > c->start ? c->end - c->start : 0;
}

/* Instances of a loop have one command: its times are the first and the last of theirs. */
static void record_times(fs_instance *x, uint32_t command, uint64_t begin, uint64_t end) {
  uint64_t b = begin - x->shared->begin_ns, e = end - x->shared->begin_ns;
  uint64_t old = atomic_load(&x->begin[command]);
  while (b < old && !atomic_compare_exchange_weak(&x->begin[command], &old, b)) {
  }
  old = atomic_load(&x->end[command]);
  while (e > old && !atomic_compare_exchange_weak(&x->end[command], &old, e)) {
  }
}

static void end_gang(fs_instance *x, const fs_program_key *key) {
  if (key->gang != FS_NONE) {
    atomic_store(&x->gang[key->gang].over, 1);
    atomic_fetch_add(&x->shared->gang_news, 1);
    fs_futex_wake_all_shared(&x->shared->gang_news);
  }
}

static void await_gang(fs_instance *x, const fs_program_key *key) {
  for (;;) {
    uint32_t news = atomic_load(&x->shared->gang_news);
    if (atomic_load(&x->gang[key->gang].over) != 0 || atomic_load(&x->shared->broken) != 0) {
      return;
    }
    fs_futex_wait_shared(&x->shared->gang_news, news, UINT64_MAX);
  }
}

static fsched_cause run_member(fs_instance *x, const fs_program_key *key, const member_call *c,
                               const fs_started_member *started) {
  const fsched_kernel_call *call = started->call;
  bool timed = x->config.pace_ps != 0 || x->shared->times;
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t begin = timed ? fs_now_ns() : 0;
  if (!x->config.empty && !fs_program_poisoned(x)) {
    if (key->moves) {
      memmove(call->args[1].data, call->args[0].data, call->args[1].length);
    } else {
      cause = run_kernel(x, key, c, started);
    }
  }
  if (x->config.pace_ps != 0) {
    uint64_t ns = fs_ticks_ns(ticks_of(x, key), x->config.pace_ps);
    await_pace(x, begin + fs_min(ns, UINT64_MAX / 2));
  }
  if (x->shared->times && !key->moves) {
    record_times(x, command_of(x, key, c, started->member), begin, fs_now_ns());
  }
  return cause;
}

/* A kernel has failed.  A worker that is a process only says so; it has no caller to tell. */
static void note_cause(fs_instance *x, fsched_cause cause) {
  fsched_cause none = FSCHED_CAUSE_NONE;
  if (cause == FSCHED_CAUSE_NONE) {
    return;
  }
  (void)atomic_compare_exchange_strong(&x->shared->cause, &none, cause);
  if (!x->processes) {
    fs_program_poison(x, cause);
  }
}

int fs_program_run(const fs_started_member *started, void *user) {
  fs_instance *x = user;
  fs_program_key key;
  assert(started->call->n_params == sizeof key && started->queue < x->n_hands);
  memcpy(&key, started->call->params, sizeof key);
  if (x->processes) { /* forked with this instance, which is now the child's own */
    x->kernels.birth = fs_process_birth();
  }
  member_call c = find_call(x->stream, &key, started->member);
  if (started->member >= c.n_calls) {
    await_gang(x, &key);
    return 0;
  }
  atomic_fetch_add(&x->shared->n_builtin, 1);
  fsched_cause cause = run_member(x, &key, &c, started);
  note_cause(x, cause);
  end_gang(x, &key);
  atomic_fetch_sub(&x->shared->n_builtin, 1);
  atomic_fetch_add(&x->shared->moves, 1);
  return x->processes ? (int)cause : 0;
}
