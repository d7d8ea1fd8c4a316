/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of programs with barriers, and with nothing but syncs: they do what those with
 * timelines do. */
#include "base/futex.h"
#include "exec/conformance/conformance_kit.h"
#include "fsched/verify.h"
#include "kit/quick.h"
#include "kit/resync.h"

enum { KINDS = 2 };

static fs_sync_kind kind_of(uint64_t i) { return i % KINDS == 0 ? FS_SYNC_BARRIER : FS_SYNC_BLOCK; }

/* ---- what goes well */

static void run_some(rig *r) {
  for (uint64_t k = 1; k <= 5; k++) {
    rig_run(r, k);
  }
}

CONFORMS(other_syncs_by_hand) {
  for (uint32_t i = 0; i < 4 * KINDS; i++) {
    rig r;
    conf_fresh(c);
    if (i / KINDS == 3) {
      (void)make_gang(c->m);
    } else {
      make_ping_pong(c->m, 48, i / KINDS == 0 ? 1 : i / KINDS == 1 ? 2 : MK_SMALL);
    }
    fsched_program *p = fs_resync(c->ctx, &c->m->program.view, kind_of(i), i);
    rig_open(&r, c, &p->view, (rig_options){.timed = true});
    run_some(&r);
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

CONFORMS(other_syncs_of_random_graphs) {
  uint32_t with_gates = 0;
  for (uint64_t seed = 1; seed <= CONF_GRAPHS; seed++) {
    for (uint32_t as = 0; as < KINDS; as++) {
      rig r;
      fsched_program *p = conf_compile_as(c, seed, kind_of(as));
      rig_open(&r, c, &p->view, (rig_options){.timed = seed % 2 == 0});
      run_some(&r);
      with_gates += r.points.gate0[p->view.n_commands] > 0;
      rig_close(&r);
      fsched_program_destroy(p);
    }
  }
  ck_assert_uint_gt(with_gates, CONF_GRAPHS / 3);
}

/* The next invocation starts before the end of the one before has been told. */
CONFORMS(other_syncs_from_within_done) {
  for (uint32_t as = 0; as < KINDS; as++) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
      rig r;
      fsched_program *p = conf_compile_as(c, seed, kind_of(as));
      rig_open(&r, c, &p->view, (rig_options){0});
      rig_fill(&r, 3);
      r.again = 100;
      rig_start(&r);
      ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
      ck_assert_uint_eq(r.n_runs, 101);
      rig_check(&r);
      rig_close(&r);
      fsched_program_destroy(p);
    }
  }
}

/* Several slots are in use at once, each with barriers of its own. */
CONFORMS(other_syncs_in_flight) {
  for (uint64_t seed = 1; seed <= CONF_GRAPHS / 2; seed++) {
    fsched_program *p = conf_compile_as(c, seed, kind_of(seed));
    fsched_replay_options o = {.size = sizeof o,
                               .check = 1,
                               .repeat = 20,
                               .in_flight = 1 + (uint32_t)(seed % 4),
                               .timeout_ms = 60000,
                               .device = c->device};
    fsched_replay_result r = {.size = sizeof r};
    conf_ok(c, fsched_replay(c->ctx, p, &o, &r), "replay");
    fsched_program_destroy(p);
  }
}

/* Programs have barriers as the compiler makes them: within a bound, or as many as need no new
 * order. */
CONFORMS(compiled_with_barriers) {
  for (uint64_t seed = 1; seed <= CONF_GRAPHS / 2; seed++) {
    fs_gen_params params = fs_gen_any(seed, 50);
    params.members = params.gangs;
    fsched_compile_options options = {
        .size = sizeof options,
        .effort = FS_QUICK,
        .barriers = seed % 4 == 0 ? FSCHED_BARRIERS_AUTO : 2 + (uint32_t)(seed % 7)};
    fsched_graph *graph;
    fsched_program *p;
    rig r;
    conf_ok(c, fs_gen_graph(c->ctx, &params, &graph), "generate");
    conf_ok(c, fsched_compile(c->ctx, graph, &options, NULL, &p), "compile");
    conf_ok(c, fsched_verify_program(c->ctx, p, graph), "verify");
    ck_assert_uint_eq(p->view.meta->sync, FS_SYNC_BARRIER);
    rig_open(&r, c, &p->view, (rig_options){.timed = true});
    run_some(&r);
    rig_close(&r);
    fsched_program_destroy(p);
    fsched_graph_destroy(graph);
  }
}

/* Half of the content comes when everything else has been started. */
CONFORMS(other_syncs_with_late_inputs) {
  for (uint64_t seed = 1; seed <= CONF_GRAPHS / 2; seed++) {
    rig r;
    fsched_program *p = conf_compile_as(c, seed, kind_of(seed));
    rig_open(&r, c, &p->view, (rig_options){.timed = true});
    for (uint64_t k = 1; k <= 4; k++) {
      rig_fill(&r, k);
      for (uint32_t i = 0; i < r.io.n_given; i++) {
        r.late[i] = (i + k) % 2 == 0;
      }
      rig_start(&r);
      for (uint32_t i = r.io.n_given; i-- > 0;) {
        pthread_mutex_lock(&r.lock);
        if ((i + k) % 2 == 0 && r.n_done == 0) {
          c->backend->ready(r.instance, i);
        }
        pthread_mutex_unlock(&r.lock);
      }
      ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
      rig_check(&r);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

/* ---- what fails */

/* An invocation is poisoned at any moment: it ends, and the next one finds barriers as new. */
CONFORMS(other_syncs_poisoned) {
  for (uint64_t seed = 1; seed <= CONF_GRAPHS / 2; seed++) {
    rig r;
    fsched_program *p = conf_compile_as(c, seed, kind_of(seed));
    rig_open(&r, c, &p->view, (rig_options){0});
    for (int k = 1; k <= 10; k++) {
      rig_fill(&r, (uint64_t)k);
      if (k % 2 == 0) { /* some inputs never come */
        for (uint32_t i = 0; i < r.io.n_given; i += 2) {
          r.late[i] = true;
        }
      }
      rig_start(&r);
      for (int i = 0; i < k * k * 20; i++) {
        fs_pause();
      }
      rig_poison(&r, k);
      fsched_cause cause = rig_await(&r);
      ck_assert(cause == FSCHED_CAUSE_NONE || cause == k);
      rig_run(&r, 1000 + (uint64_t)k);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

/* A kernel in the middle fails while other commands wait and run. */
CONFORMS(other_syncs_with_a_failing_kernel) {
  if (!c->on_host) {
    return;
  }
  for (uint32_t as = 0; as < KINDS; as++) {
    rig r;
    conf_fresh(c);
    make_ping_pong(c->m, 24, 4);
    c->m->kernels[0] = (fs_stream_kernel){.builtin = FS_NONE,
                                          .module = mk_string(c->m, "kernels.so"),
                                          .function = mk_string(c->m, "f"),
                                          .params = FS_NONE};
    c->m->program.view.n_kernels = 1;
    c->m->ops[13].kernel = 0;
    fsched_program *p = fs_resync(c->ctx, &c->m->program.view, kind_of(as), 1);
    rig_open(&r, c, &p->view, (rig_options){0});
    for (int k = 1; k <= 20; k++) {
      conf_failure = k;
      rig_fill(&r, (uint64_t)k);
      rig_start(&r);
      ck_assert_int_eq(rig_await(&r), k);
      conf_failure = 0;
      rig_run(&r, (uint64_t)k);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

/* ---- what is stuck */

/* u -> v -> w run on three queues, each with a barrier for the next; both barriers are the same
 * physical one, so v waits for a hand-over that happens only when v has started. */
typedef struct shared {
  fs_stream_barrier barriers[2];
  uint32_t waits[2];
  fs_stream_update updates[2];
} shared;

static void make_shared(maker *m, shared *b) {
  fs_stream *s = &m->program.view;
  *b = (shared){
      .barriers = {{0, 0, 1, 1}, {0, 1, 1, 1}}, .waits = {0, 1}, .updates = {{0, 1}, {1, 1}}};
  make_ping_pong(m, 3, 3);
  m->meta.sync = FS_SYNC_BARRIER;
  s->barriers = b->barriers, s->n_barriers = 2;
  s->barrier_waits = b->waits, s->n_barrier_waits = 2;
  s->barrier_updates = b->updates, s->n_barrier_updates = 2;
  s->n_waits = 0;
  for (uint32_t i = 0; i < 3; i++) {
    fs_stream_command *k = &m->commands[i];
    k->wait0 = k->n_waits = k->signal = 0;
    k->start = i, k->end = i + 1;
    k->barrier_wait0 = i > 0 ? i - 1 : 0, k->n_barrier_waits = i > 0;
    k->barrier_update0 = i, k->n_barrier_updates = i < 2;
  }
}

static void said(rig *r, uint32_t n, const char *const *texts) {
  fsched_diag_clear(r->c->ctx);
  pthread_mutex_lock(&r->lock);
  r->c->backend->report(r->instance, r->c->ctx);
  pthread_mutex_unlock(&r->lock);
  ck_assert_uint_eq(fsched_diag_count(r->c->ctx), n);
  ck_assert_uint_eq(fsched_diag_errors(r->c->ctx), 1);
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_str_eq(fsched_diag_get(r->c->ctx, i)->code, "replay-stuck");
    ck_assert_str_eq(fsched_diag_get(r->c->ctx, i)->message, texts[i]);
  }
  fsched_diag_clear(r->c->ctx);
}

/* This is stuck where there are physical barriers; elsewhere it is refused. */
CONFORMS(stuck_for_a_barrier) {
  if (c->what->without_plan) {
    return;
  }
  static const char *const texts[] = {
      "queue 'q1' is stuck at command 1 (op 'op1'): it updates barrier 1 (use 1 of physical "
      "barrier "
      "0), and physical barrier 0 is in use 0, of which 1 of 1 consumers have not started",
      "queue 'q2' is stuck at command 1 (op 'op2'): it waits for barrier 1 (use 1 of physical "
      "barrier 0), and physical barrier 0 is in use 0, of which 1 of 1 consumers have not started"};
  rig r;
  shared b;
  make_shared(c->m, &b);
  if (!c->on_host) {
    fsched_exec *x;
    fsched_entry *e;
    fsched_exec_options o = {.size = sizeof o, .device = c->device};
    conf_ok(c, fsched_exec_create(c->ctx, &o, &x), "exec");
    ck_assert_int_eq(fsched_exec_load(c->ctx, x, &c->m->program, &e), FSCHED_REPLAY);
    ck_assert_str_eq(fsched_diag_get(c->ctx, 0)->code, "replay-stuck");
    fsched_exec_destroy(x);
    return;
  }
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  for (uint64_t k = 1; k <= 3; k++) { /* uses count from the beginning of the invocation */
    rig_fill(&r, k);
    rig_start(&r);
    rig_await_stuck(&r);
    said(&r, 2, texts);
    rig_poison(&r, FSCHED_CAUSE_TIMEOUT);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_TIMEOUT);
  }
  rig_close(&r);
}

/* Producers never come, as the command before them waits for content. */
CONFORMS(stuck_before_a_barrier) {
  if (c->what->without_plan) {
    return;
  }
  static const char *const texts[] = {
      "queue 'q0' is stuck at command 1 (op 'op0'): it waits for the content of 'in', whose fence "
      "has not been signalled",
      "queue 'q1' is stuck at command 1 (op 'op1'): it waits for barrier 0 (use 0 of physical "
      "barrier 0), and physical barrier 0 is in use 0, of which 1 of 1 producers are not over",
      "queue 'q2' is stuck at command 1 (op 'op2'): it waits for barrier 1 (use 0 of physical "
      "barrier 1), and physical barrier 1 is in use 0, of which 1 of 1 producers are not over"};
  rig r;
  shared b;
  if (!c->on_host) {
    return;
  }
  make_shared(c->m, &b);
  b.barriers[1] = (fs_stream_barrier){1, 0, 1, 1};
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  for (uint64_t k = 1; k <= 3; k++) {
    rig_fill(&r, k);
    r.late[0] = true;
    rig_start(&r);
    rig_await_stuck(&r);
    said(&r, 3, texts);
    rig_poison(&r, FSCHED_CAUSE_TIMEOUT);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_TIMEOUT);
    rig_run(&r, k);
  }
  rig_close(&r);
}

/* A gang starts when all of its members are there; only then does it count as a consumer that has
 * come.
 *   p: op0, updates 0 (use 0)   q: gang, waits for 0   r: op1 (late), gang
 *   t: op2, updates 1 (use 1 of the same)   u: op3, waits for 1 */
CONFORMS(gang_is_one_consumer) {
  static const fs_stream_barrier barriers[] = {{0, 0, 1, 1}, {0, 1, 1, 1}};
  static const fs_stream_update updates[] = {{0, 1}, {1, 1}};
  static const uint32_t waits[] = {0, 1};
  maker *m = c->m;
  fs_stream *s = &m->program.view;
  uint32_t mem = mk_memory(m, "ddr", 100), q[5], op[5];
  for (uint32_t i = 0; i < 5; i++) {
    const char name[] = {"pqrtu"[i], '\0'};
    q[i] = mk_queue(m, name);
  }
  uint32_t tp = mk_collective(m, "tp", 2);
  m->axis_members[m->axes[tp].member0] = 1, m->axis_members[m->axes[tp].member0 + 1] = 2;
  uint32_t in = (mk_buffer(m, "in", 8, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  uint32_t out = (mk_buffer(m, "out", 8, FSCHED_IO_OUTPUT), mk_version(m, mem, 16));
  mk_given(m, in, mem, 0), mk_kept(m, out, mem, 16);
  for (uint32_t i = 0; i < 5; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "op%u", i);
    op[i] = mk_op(m, name);
    if (i == 1) {
      mk_arg(m, FSCHED_IN, in);
    } else if (i == 2) {
      mk_arg(m, FSCHED_OUT, out);
    }
  }
  fs_stream_command *k = mk_run(m, q[0], op[0]);
  k->n_barrier_updates = 1;
  k = mk_run(m, q[1], op[4]);
  mk_gang(k, tp, 1);
  k->barrier_update0 = 1, k->n_barrier_waits = 1;
  k = mk_run(m, q[2], op[1]);
  k->barrier_update0 = k->barrier_wait0 = 1;
  k = mk_run(m, q[2], op[4]);
  mk_gang(k, tp, 1);
  k->barrier_update0 = k->barrier_wait0 = 1;
  k = mk_run(m, q[3], op[2]);
  k->barrier_update0 = k->barrier_wait0 = k->n_barrier_updates = 1;
  k = mk_run(m, q[4], op[3]);
  k->barrier_update0 = 2, k->barrier_wait0 = k->n_barrier_waits = 1;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    m->commands[i].signal = 0;
  }
  m->meta.sync = FS_SYNC_BARRIER;
  s->barriers = barriers, s->n_barriers = 2;
  s->barrier_waits = waits, s->n_barrier_waits = 2;
  s->barrier_updates = updates, s->n_barrier_updates = 2;
  rig r;
  rig_open(&r, c, s, (rig_options){.timed = true});
  for (uint64_t i = 1; i <= 5; i++) {
    rig_fill(&r, i);
    r.late[0] = true;
    rig_start(&r);
    if (c->on_host) { /* elsewhere nobody can tell that nothing goes on */
      rig_await_stuck(&r);
      ck_assert_uint_eq(r.there[0], 0);
    }
    pthread_mutex_lock(&r.lock);
    c->backend->ready(r.instance, 0);
    pthread_mutex_unlock(&r.lock);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
    rig_check(&r);
  }
  rig_close(&r);
}

/* ---- memory */

CONFORMS(other_syncs_nth_allocation_fails) {
  for (uint32_t as = 0; as < KINDS; as++) {
    fsched_program *p = conf_compile_as(c, 5, kind_of(as));
    conf_fail_allocations(c, &p->view);
    fsched_program_destroy(p);
  }
}

void fs_conformance_syncs(TCase *t, int i) {
  FS_LOOPS(t, i, i + 1, other_syncs_by_hand, other_syncs_of_random_graphs,
           other_syncs_from_within_done, other_syncs_in_flight, compiled_with_barriers,
           other_syncs_with_late_inputs, other_syncs_poisoned, other_syncs_with_a_failing_kernel,
           stuck_for_a_barrier, stuck_before_a_barrier, gang_is_one_consumer,
           other_syncs_nth_allocation_fails);
}
