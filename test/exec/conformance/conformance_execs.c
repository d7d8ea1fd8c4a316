/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of a device that is used through contexts of execution, as applications do. */
#include "exec/conformance/conformance_kit.h"
#include "exec/replay/reference.h"

#define LIMIT_NS UINT64_C(60000000000)

static fsched_semaphore *timeline(void) {
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(NULL, &s), FSCHED_OK);
  return s;
}

static fsched_fence *fence(const conf *c, fsched_semaphore *s, uint64_t value) {
  fsched_fence *f;
  conf_ok(c, fsched_fence_create(c->ctx, &(fsched_fence_point){s, value}, 1, &f), "fence");
  return f;
}

static fsched_exec *open_exec(const conf *c, fsched_pool *pool, uint32_t in_flight) {
  fsched_exec *x;
  fsched_exec_options o = {
      .size = sizeof o, .device = c->device, .pool = pool, .in_flight = in_flight};
  conf_ok(c, fsched_exec_create(c->ctx, &o, &x), "exec");
  return x;
}

static fsched_entry *load(const conf *c, fsched_exec *x, const fsched_program *p) {
  fsched_entry *e;
  conf_ok(c, fsched_exec_load(c->ctx, x, p, &e), "load");
  return e;
}

/* ---- replay */

static void replay(const conf *c, const fsched_program *p, uint64_t seed) {
  fsched_replay_options o = {.size = sizeof o,
                             .check = 1,
                             .repeat = 1 + seed % 4,
                             .in_flight = 1 + (uint32_t)(seed % 3),
                             .trace = seed % 5 == 0,
                             .timeout_ms = 60000,
                             .device = c->device};
  fsched_replay_result r = {.size = sizeof r};
  conf_ok(c, fsched_replay(c->ctx, p, &o, &r), "replay");
  ck_assert_uint_eq(r.commands, p->view.n_commands);
  ck_assert_int_eq(r.trace_json != NULL, o.trace != 0);
  fsched_text_free(c->ctx, r.trace_json, r.trace_length);
}

CONFORMS(replayed_and_checked) {
  for (uint64_t seed = 100; seed < 100 + CONF_GRAPHS; seed++) {
    fsched_program *p = conf_compile(c, seed);
    replay(c, p, seed);
    fsched_program_destroy(p);
  }
}

/* ---- bound inputs and outputs, many at once */

enum { PING = 12, MOST_OUT = 64 };

typedef struct shot {
  uint8_t in[61], out[MOST_OUT];
  fsched_semaphore *end;
  _Atomic uint32_t called;
  _Atomic int cause;
} shot;

static void called(void *user, fsched_cause cause) {
  shot *s = user;
  s->cause = cause;
  s->called++;
}

static void fill_input(shot *s, uint64_t seed) { fs_fill_bytes(seed, s->in, sizeof s->in); }

static void fill(shot *s, uint64_t seed) {
  *s = (shot){.end = timeline()};
  fill_input(s, seed);
}

/* What the ping-pong's output is for this input. */
static void check_shot(const conf *c, const shot *s, int64_t value) {
  const fs_stream *v = &c->m->program.view;
  const void *given[MK_MANY] = {s->in}, *kept[MK_MANY] = {0};
  uint64_t digest[MK_MANY] = {0};
  kept[v->n_versions - 1] = s->out;
  c->m->args[v->ops[1].arg0 + 1].value = value;
  fs_reference_run run = {.invocations = 1, .digest = digest, .given = given, .kept = kept};
  fs_reference_counts counts;
  fsched_diag_clear(c->ctx);
  /* The ops' digests are not known here, so they differ. */
  ck_assert_int_eq(fs_reference_compare(c->ctx, v, &run, &counts), FSCHED_REPLAY);
  ck_assert_uint_gt(counts.bytes, 0);
  for (uint32_t i = 0; i < fsched_diag_count(c->ctx); i++) {
    const char *text = fsched_diag_get(c->ctx, i)->message;
    ck_assert_msg(strstr(text, "bytes of buffer") == NULL, "%s", text);
  }
  fsched_diag_clear(c->ctx);
  c->m->args[v->ops[1].arg0 + 1].value = 1;
}

static void shoot(const conf *c, fsched_entry *e, shot *s, fsched_fence *wait,
                  fsched_fence *input_wait, int64_t value) {
  fsched_fence *end = fence(c, s->end, 1);
  uint64_t out_bytes = c->m->buffers[PING].size;
  fsched_binding b[] = {{.buffer = "in", .data = s->in, .bytes = sizeof s->in, .wait = input_wait},
                        {.buffer = "b11", .data = s->out, .bytes = out_bytes}};
  fsched_parameter p = {.op = "op1", .arg = 1, .value = value};
  fsched_invocation i = {.size = sizeof i,
                         .wait = wait,
                         .signal = end,
                         .bindings = b,
                         .n_bindings = 2,
                         .parameters = &p,
                         .n_parameters = 1,
                         .callback = called,
                         .user = s};
  conf_ok(c, fsched_invoke(c->ctx, e, &i), "invoke");
  fsched_fence_release(end);
}

static fsched_cause await_shot(const conf *c, shot *s) {
  fsched_fence *end = fence(c, s->end, 1);
  fsched_cause cause = fsched_fence_wait(end, LIMIT_NS);
  fsched_fence_release(end);
  return cause;
}

static void many_at_once(const conf *c, uint32_t in_flight, uint64_t pool_bytes) {
  enum { N = 48 };
  shot *shots = calloc(N, sizeof *shots);
  fsched_pool *pool = NULL;
  if (pool_bytes > 0) {
    conf_ok(c, fsched_pool_create(c->ctx, c->device, pool_bytes, &pool), "pool");
  }
  fsched_exec *x = open_exec(c, pool, in_flight);
  fsched_entry *e = load(c, x, &c->m->program);
  for (uint32_t i = 0; i < N; i++) {
    fill(&shots[i], i);
    shoot(c, e, &shots[i], NULL, NULL, i);
  }
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_int_eq(await_shot(c, &shots[i]), FSCHED_CAUSE_NONE);
    check_shot(c, &shots[i], i);
  }
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_uint_eq(shots[i].called, 1);
    ck_assert_int_eq(shots[i].cause, 0);
    fsched_semaphore_release(shots[i].end);
  }
  free(shots);
}

CONFORMS(several_slots) {
  make_ping_pong(c->m, PING, 3);
  many_at_once(c, 1, 0);
  many_at_once(c, 4, 0);
}

CONFORMS(several_slots_in_a_pool) {
  make_ping_pong(c->m, PING, 3);
  many_at_once(c, 4, 5000);
  many_at_once(c, 3, 1536);
}

/* Inputs come in the opposite order of the invocations. */
CONFORMS(late_inputs) {
  enum { N = 6 };
  shot shots[N];
  fsched_fence *fences[N];
  fsched_semaphore *inputs[N];
  make_ping_pong(c->m, PING, 2);
  fsched_exec *x = open_exec(c, NULL, N);
  fsched_entry *e = load(c, x, &c->m->program);
  for (uint32_t i = 0; i < N; i++) {
    inputs[i] = timeline();
    fences[i] = fence(c, inputs[i], 1);
    fill(&shots[i], 1000); /* the input is not there yet */
    shoot(c, e, &shots[i], NULL, fences[i], 1);
  }
  for (uint32_t i = N; i-- > 0;) {
    ck_assert_uint_eq(shots[i].called, 0);
    fill_input(&shots[i], i);
    ck_assert_int_eq(fsched_fence_signal(fences[i]), FSCHED_OK);
    ck_assert_int_eq(await_shot(c, &shots[i]), FSCHED_CAUSE_NONE);
    check_shot(c, &shots[i], 1);
  }
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < N; i++) {
    fsched_fence_release(fences[i]);
    fsched_semaphore_release(inputs[i]);
    fsched_semaphore_release(shots[i].end);
  }
}

/* An invocation fails with the cause of its wait fence, or of an input's fence; the next one
 * succeeds. */
CONFORMS(causes_pass_through) {
  shot shots[4];
  make_ping_pong(c->m, PING, 2);
  fsched_exec *x = open_exec(c, NULL, 1);
  fsched_entry *e = load(c, x, &c->m->program);
  for (uint32_t i = 0; i < 4; i++) {
    fsched_semaphore *source = timeline();
    fsched_fence *f = fence(c, source, 1);
    fill(&shots[i], i);
    shoot(c, e, &shots[i], i == 0 ? f : NULL, i == 1 ? f : NULL, 1);
    fsched_fence_fail(f, 77);
    fsched_cause cause = await_shot(c, &shots[i]);
    ck_assert_int_eq(cause, i < 2 ? 77 : FSCHED_CAUSE_NONE);
    if (i >= 2) {
      check_shot(c, &shots[i], 1);
    }
    fsched_fence_release(f);
    fsched_semaphore_release(source);
  }
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(shots[i].called, 1);
    ck_assert_int_eq(shots[i].cause, i < 2 ? 77 : 0);
    fsched_semaphore_release(shots[i].end);
  }
}

/* Shutdown comes while inputs never come, and while more invocations wait than there are slots. */
CONFORMS(shutdown_with_work_in_flight) {
  enum { N = 5 };
  shot shots[N];
  make_ping_pong(c->m, PING, 2);
  fsched_semaphore *never = timeline();
  fsched_fence *f = fence(c, never, 1);
  fsched_exec *x = open_exec(c, NULL, 2);
  fsched_entry *e = load(c, x, &c->m->program);
  for (uint32_t i = 0; i < N; i++) {
    fill(&shots[i], i);
    shoot(c, e, &shots[i], i == 4 ? f : NULL, f, 1);
  }
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_uint_eq(shots[i].called, 1);
    ck_assert_int_eq(shots[i].cause, FSCHED_CAUSE_CANCELLED);
    fsched_semaphore_release(shots[i].end);
  }
  fsched_fence_release(f);
  fsched_semaphore_release(never);
}

/* An invocation that is stuck is reported and fails; the next one succeeds. */
CONFORMS(stuck_invocation) {
  shot shots[2];
  make_ping_pong(c->m, PING, 2);
  fsched_semaphore *never = timeline();
  fsched_fence *f = fence(c, never, 1);
  fsched_exec *x = open_exec(c, NULL, 1);
  fsched_entry *e = load(c, x, &c->m->program);
  for (uint32_t i = 0; i < 2; i++) {
    fill(&shots[i], i);
    shoot(c, e, &shots[i], NULL, i == 0 ? f : NULL, 1);
    fsched_fence *end = fence(c, shots[i].end, 1);
    fsched_cause cause;
    fsched_diag_clear(c->ctx);
    fsched_status status = fsched_exec_wait(c->ctx, x, end, LIMIT_NS, 20000000, &cause);
    ck_assert_int_eq(status, i == 0 ? FSCHED_REPLAY : FSCHED_OK);
    ck_assert_int_eq(cause, i == 0 ? FSCHED_CAUSE_TIMEOUT : FSCHED_CAUSE_NONE);
    if (i == 0) {
      const fsched_diag *d = fsched_diag_get(c->ctx, 0);
      ck_assert_str_eq(d->code, "replay-stuck");
      ck_assert_msg(strstr(d->message, "'in'") != NULL, "%s", d->message);
    } else {
      check_shot(c, &shots[i], 1);
    }
    fsched_fence_release(end);
  }
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < 2; i++) {
    fsched_semaphore_release(shots[i].end);
  }
  fsched_fence_release(f);
  fsched_semaphore_release(never);
}

/* ---- state */

/* The program computes s += f(s); the test looks at s after each invocation. */
CONFORMS(state_is_carried) {
  maker *m = c->m;
  uint32_t mem = mk_memory(m, "ddr", 64), q = mk_queue(m, "q");
  uint32_t s0 = (mk_buffer(m, "s", 16, FSCHED_IO_STATE), mk_version(m, mem, 0));
  mk_given(m, s0, mem, 0), mk_kept(m, s0, mem, 0);
  (void)mk_op(m, "step"), mk_arg(m, FSCHED_INOUT, s0);
  (void)mk_run(m, q, 0);
  fsched_exec *x = open_exec(c, NULL, 3);
  fsched_entry *e = load(c, x, &m->program);
  uint8_t state[16], wanted[16];
  fs_fill_given("s", wanted, sizeof wanted);
  conf_ok(c, fsched_exec_read_state(c->ctx, x, "s", state, sizeof state), "read");
  ck_assert_mem_eq(state, wanted, sizeof state);
  fs_kernel_arg arg = {.data = wanted, .length = sizeof wanted, .tag = FSCHED_INOUT};
  fs_kernel_call call = {.size = sizeof call, .op = "step", .args = &arg, .n_args = 1};
  for (uint32_t k = 0; k < 40; k++) {
    conf_ok(c, fsched_invoke(c->ctx, e, NULL), "invoke");
    fs_builtin_run(FS_BUILTIN_MIX, &call);
    if (k % 7 == 6) {
      conf_ok(c, fsched_exec_read_state(c->ctx, x, "s", state, sizeof state), "read");
      ck_assert_mem_eq(state, wanted, sizeof state);
    }
  }
  memset(wanted, 9, sizeof wanted);
  conf_ok(c, fsched_exec_write_state(c->ctx, x, "s", wanted, sizeof wanted), "write");
  conf_ok(c, fsched_invoke(c->ctx, e, NULL), "invoke");
  fs_builtin_run(FS_BUILTIN_MIX, &call);
  conf_ok(c, fsched_exec_read_state(c->ctx, x, "s", state, sizeof state), "read");
  ck_assert_mem_eq(state, wanted, sizeof state);
  fsched_exec_destroy(x);
}

void fs_conformance_execs(TCase *t, int i) {
  FS_LOOPS(t, i, i + 1, replayed_and_checked, several_slots, several_slots_in_a_pool, late_inputs,
           causes_pass_through, shutdown_with_work_in_flight, stuck_invocation, state_is_carried);
}
