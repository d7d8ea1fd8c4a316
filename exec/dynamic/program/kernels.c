/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker runs: the kernel of an op or of an instance of a loop.  The first member of a gang
 * runs its op, of members with args of their own all in turn, and the others keep their queues
 * until it is over. */
#include "base/clock.h"
#include "base/futex.h"
#include "base/process.h"
#include "base/text/ticks.h"
#include "exec/dynamic/program/program.h"
#include "exec/host/timeline.h"

/* A paced command spins for the last part of its pace, since a sleep may overshoot by that much. */
enum { PACE_SPIN_NS = 100000 };

static fs_program_hand *take_hand(fs_instance *x) {
  for (uint32_t i = 0;; i = (i + 1) % x->n_hands) {
    bool taken = false;
    if (atomic_compare_exchange_strong(&x->hand[i].taken, &taken, true)) {
      return &x->hand[i];
    }
  }
}

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

/* The args as the kernel sees them. */
static void show_args(const fs_stream *s, const fs_program_key *key, const fsched_kernel_call *from,
                      fs_kernel_arg *out) {
  uint32_t loop_op = key->depth == 0 ? FS_NONE : key->level[key->depth - 1].op;
  for (uint32_t i = 0; i < from->n_args; i++) {
    out[i] = from->args[i];
    if (loop_op == FS_NONE) {
      const fs_stream_arg *a = &s->args[s->ops[key->op].arg0 + i];
      out[i].tag = fs_tag_seen(a->tag, a->begins);
    } else {
      const fs_stream_loop_arg *a = &s->loop_args[s->loop_ops[loop_op].arg0 + i];
      out[i].tag = fs_tag_seen(a->tag, a->begins);
    }
    out[i].value = fs_tag_names_buffer(out[i].tag) ? 0 : out[i].value;
  }
}

static void add_digest(fs_instance *x, const fs_program_key *key, uint64_t digest) {
  if (key->depth == 0) {
    atomic_store_explicit(&x->digest[key->op], digest, memory_order_relaxed);
    return;
  }
  fs_loop_instance at[FS_LOOP_NEST];
  find_instance(x->stream, key, at);
  atomic_fetch_add_explicit(&x->digest[key->op], fs_loop_digest(&at[0], digest),
                            memory_order_relaxed);
}

static fsched_cause call_kernel(fs_instance *x, const fs_program_hand *h, const fs_running *what,
                                uint32_t kernel, const fs_kernel_call *call) {
  bool foreign = fs_kernels_foreign(&x->kernels, kernel);
  if (foreign) { /* the watchdog looks at the hand instead */
    atomic_fetch_sub(&x->shared->n_builtin, 1);
  }
  static const fs_work nobody; /* the submitting process hears of a failure by the member's end */
  fsched_cause cause =
      fs_effect_call(&x->effects, &h->room, x->processes ? &nobody : x->work, what, kernel, call);
  if (foreign) {
    atomic_fetch_add(&x->shared->n_builtin, 1);
  }
  return cause;
}

/* Runs an op, or an instance of a loop's: members with args of their own one after the other. */
static fsched_cause run_kernel(fs_instance *x, const fs_program_key *key,
                               const fsched_kernel_call *from, const fs_program_hand *h) {
  const fs_stream *s = x->stream;
  fs_running what = {.command = key->command, .loop_op = FS_NONE, .depth = key->depth};
  uint32_t kernel = s->ops[key->op].kernel;
  for (uint32_t d = 0; d < key->depth; d++) {
    what.iteration[d] = key->level[key->depth - 1 - d].iteration;
    what.loop_op = key->level[d].op;
    kernel = s->loop_ops[key->level[d].op].kernel;
  }
  show_args(s, key, from, h->room.args);
  const fs_stream_op *op = &s->ops[key->op];
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t digest = 0;
  const fs_stream_loop_op *body =
      key->depth == 0 ? NULL : &s->loop_ops[key->level[key->depth - 1].op];
  uint32_t n = body == NULL ? fs_op_calls(op) : fs_loop_op_calls(body);
  for (uint32_t m = 0; m < n && cause == FSCHED_CAUSE_NONE; m++) {
    fs_kernel_call call = {.size = sizeof call,
                           .op = from->op,
                           .args = h->room.args,
                           .n_args = from->n_args,
                           .scratch = from->scratch,
                           .n_scratch = from->n_scratch};
    if (body != NULL) {
      fs_stream_member own = fs_loop_op_call_args(s, body, m);
      call.args = h->room.args + (own.arg0 - body->arg0);
      call.n_args = own.n_args;
      call.views = fs_kernel_loop_views(s, own, h->room.views);
      call.member = m;
      call.n_members = body->n_members;
    } else {
      fs_stream_member own = fs_op_call_args(s, op, m);
      call.args = h->room.args + (own.arg0 - op->arg0);
      call.n_args = own.n_args;
      call.views = fs_kernel_views(s, own, h->room.views);
      call.member = m;
      call.n_members = op->n_members;
    }
    fs_kernels_shape(&x->kernels, kernel, &call);
    cause = call_kernel(x, h, &what, kernel, &call);
    if (cause == FSCHED_CAUSE_NONE && x->shared->digests) {
      digest += fs_kernels_digest(&x->kernels, kernel, &call);
    }
  }
  if (cause == FSCHED_CAUSE_NONE && x->shared->digests) {
    add_digest(x, key, digest);
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
static void record_times(fs_instance *x, const fs_program_key *key, uint64_t begin, uint64_t end) {
  uint64_t b = begin - x->shared->begin_ns, e = end - x->shared->begin_ns;
  uint64_t old = atomic_load(&x->begin[key->command]);
  while (b < old && !atomic_compare_exchange_weak(&x->begin[key->command], &old, b)) {
  }
  old = atomic_load(&x->end[key->command]);
  while (e > old && !atomic_compare_exchange_weak(&x->end[key->command], &old, e)) {
  }
}

static void end_gang(fs_instance *x, const fs_program_key *key) {
  if (key->n_members > 1 && key->depth == 0) {
    atomic_store(&x->gang_over[key->op], x->shared->invocation);
    atomic_fetch_add(&x->shared->gang_news, 1);
    fs_futex_wake_all_shared(&x->shared->gang_news);
  }
}

static void await_gang(fs_instance *x, const fs_program_key *key) {
  while (key->depth == 0) {
    uint32_t news = atomic_load(&x->shared->gang_news);
    if (atomic_load(&x->gang_over[key->op]) == x->shared->invocation ||
        atomic_load(&x->shared->broken) != 0) {
      return;
    }
    fs_futex_wait_shared(&x->shared->gang_news, news, UINT64_MAX);
  }
}

static fsched_cause run_member(fs_instance *x, const fs_program_key *key,
                               const fsched_kernel_call *call) {
  bool timed = x->config.pace_ps != 0 || x->shared->times;
  fsched_cause cause = FSCHED_CAUSE_NONE;
  fs_program_hand *h = take_hand(x);
  uint64_t begin = timed ? fs_now_ns() : 0;
  if (!x->config.empty && !fs_program_poisoned(x)) {
    if (key->moves) {
      memmove(call->args[1].data, call->args[0].data, call->args[1].length);
    } else {
      cause = run_kernel(x, key, call, h);
    }
  }
  if (x->config.pace_ps != 0) {
    uint64_t ns = fs_ticks_ns(ticks_of(x, key), x->config.pace_ps);
    await_pace(x, begin + fs_min(ns, UINT64_MAX / 2));
  }
  if (x->shared->times && !key->moves) {
    record_times(x, key, begin, fs_now_ns());
  }
  atomic_store(&h->taken, false);
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

int fs_program_run(const fsched_kernel_call *call, uint32_t member, void *user) {
  fs_instance *x = user;
  fs_program_key key;
  assert(call->n_params == sizeof key);
  memcpy(&key, call->params, sizeof key);
  if (x->processes) { /* forked with this instance, which is now the child's own */
    x->kernels.birth = fs_process_birth();
  }
  if (member > 0) {
    await_gang(x, &key);
    return 0;
  }
  atomic_fetch_add(&x->shared->n_builtin, 1);
  fsched_cause cause = run_member(x, &key, call);
  note_cause(x, cause);
  end_gang(x, &key);
  atomic_fetch_sub(&x->shared->n_builtin, 1);
  atomic_fetch_add(&x->shared->moves, 1);
  return x->processes ? (int)cause : 0;
}
