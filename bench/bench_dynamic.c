/* SPDX-License-Identifier: Apache-2.0 */
/* What a task costs that is submitted with tagged args, beside a command of the stream that is
 * compiled from the same DAG: a chain, independent tasks, layers.
 *
 *   bench_dynamic
 *
 * The first two have two tags a task: `in` and `out_existing`, of 64 bytes each; a task of a layer
 * has two `in`; where nothing is read of another task, an `in` reads what nobody writes.  Each task
 * writes memory of its own, so all edges are dataflow.
 *
 * Engine: the state machine alone, on one thread, without kernels: all submits of a DAG, then all
 * dispatches (start and completion).  Workers: the same with its threads and an empty kernel, from
 * the first submit until all have ended.  Calls: those of fsched/dynamic.h, on the same threads.
 * Held: a task of each queue waits until all are submitted; the submits, and then the rest.  Going:
 * the submits, and all from the first one until all have ended.  OpenMP: `task depend` with the
 * same addresses; making the tasks is part of it.  Replay: the compiled stream, with empty kernels.
 * Contenders take turns; minimum and median of BENCH_RUNS, and for the calls the ratio of minima to
 * the engine's.
 *
 * Break-even: how many runs it takes until compiling has paid for itself. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dags.h"
#include "exec/dynamic/workers.h"
#include "fsched/compile.h"
#include "fsched/dynamic.h"

enum { TOKEN = 64 };

typedef struct contest {
  fsched_context *ctx;
  const bench_dag *dag;
  unsigned char *token; /* TOKEN bytes that each op writes, and as many that nobody writes */
  fs_dynamic_buffer *buffer;
} contest;

typedef fs_status (*import_token)(void *into, void *data, fs_dynamic_buffer *out);

static fs_status import_engine(void *into, void *data, fs_dynamic_buffer *out) {
  fs_dynamic_import d = {TOKEN, (uintptr_t)data, true, true, false};
  return fs_dynamic_import_buffer(into, &d, out);
}

static fs_status import_workers(void *into, void *data, fs_dynamic_buffer *out) {
  return fs_workers_import(into, data, TOKEN, true, true, out);
}

static void import_all(const contest *c, void *into, import_token import) {
  for (uint32_t i = 0; i < 2 * c->dag->n_ops; i++) {
    bench_need(c->ctx, import(into, c->token + (size_t)i * TOKEN, &c->buffer[i]));
  }
}

/* The args of op i: what it reads, and what it writes. */
static uint32_t fill_args(const contest *c, uint32_t i, fs_dynamic_arg *arg) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t before = c->dag->before[i][k];
    if (before != UINT32_MAX || k == 0) {
      before = before == UINT32_MAX ? c->dag->n_ops + i : before;
      arg[n++] = (fs_dynamic_arg){.tag = FSCHED_IN, .buffer = c->buffer[before]};
    }
  }
  arg[n++] = (fs_dynamic_arg){.tag = FSCHED_OUT_EXISTING, .buffer = c->buffer[i]};
  return n;
}

static fs_dynamic_options make_options(const contest *c) {
  return (fs_dynamic_options){.n_queues = c->dag->n_queues, .heap_size = 1 << 20};
}

/* The engine alone: ns per op of the submits and of the dispatches. */
static void run_engine(const contest *c, double *submit, double *dispatch) {
  fs_dynamic_options o = make_options(c);
  fs_dynamic *e;
  *submit = *dispatch = 0;
  bench_need(c->ctx, fs_dynamic_create(c->ctx, &o, &e));
  import_all(c, e, import_engine);
  for (int k = 0; k < BENCH_REPEAT; k++) {
    double begin = bench_now_ns();
    for (uint32_t i = 0; i < c->dag->n_ops; i++) {
      fs_dynamic_arg arg[3];
      fs_dynamic_member m = {fill_args(c, i, arg), arg};
      fs_dynamic_submission s = {.n_members = 1, .member = &m};
      fs_dynamic_task task;
      bench_need(c->ctx, fs_dynamic_submit(e, &s, &task, NULL));
    }
    double submitted = bench_now_ns();
    fs_dynamic_start start;
    while (fs_dynamic_next(e, &start)) {
      fs_dynamic_complete(e, start.task, 0);
    }
    double end = bench_now_ns();
    *submit = bench_quicker(*submit, submitted - begin);
    *dispatch = bench_quicker(*dispatch, end - submitted);
    bench_need(c->ctx, fs_dynamic_close(e));
    bench_need(c->ctx, fs_dynamic_open(e));
  }
  fs_dynamic_destroy(e);
  *submit /= c->dag->n_ops;
  *dispatch /= c->dag->n_ops;
}

static int run_nothing(const fs_started_member *member, void *user) {
  (void)member;
  (void)user;
  return 0;
}

/* Threads and all: ns per op. */
static double run_workers(const contest *c) {
  const fs_task_kernel nothing = {.function = run_nothing};
  fs_workers_options o = {.engine = make_options(c), .n_kernels = 1, .kernel = &nothing};
  fs_workers *w;
  double best = 0;
  bench_need(c->ctx, fs_workers_create(c->ctx, &o, &w));
  import_all(c, w, import_workers);
  for (int k = 0; k < BENCH_REPEAT; k++) {
    double begin = bench_now_ns();
    for (uint32_t i = 0; i < c->dag->n_ops; i++) {
      fs_dynamic_arg arg[3];
      fs_dynamic_member m = {fill_args(c, i, arg), arg};
      fs_workers_task t = {.name = "t", .submission = {.n_members = 1, .member = &m}};
      fs_dynamic_task task;
      bench_need(c->ctx, fs_workers_submit(w, &t, &task));
    }
    bench_need(c->ctx, fs_workers_finish(w));
    best = bench_quicker(best, bench_now_ns() - begin);
  }
  fs_workers_destroy(w);
  return best / c->dag->n_ops;
}

static int call_nothing(const fsched_kernel_call *call) {
  (void)call;
  return 0;
}

/* Returns when the mutex is free. */
static int call_gate(const fsched_kernel_call *call) {
  pthread_mutex_t *gate;
  memcpy(&gate, call->params, sizeof gate);
  (void)pthread_mutex_lock(gate);
  (void)pthread_mutex_unlock(gate);
  return 0;
}

static fsched_kernel_fn find_function(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "gate") == 0 ? call_gate : call_nothing;
}

/* The public calls: callable 0 does nothing, and callable 1 waits. */
typedef struct calls_contest {
  const contest *c;
  fsched_dynamic *d;
  pthread_mutex_t gate;
  pthread_mutex_t *params; /* of the gate's kernel: where it is */
} calls_contest;

static void add_function(calls_contest *x, const char *name) {
  fsched_kernel_desc k = {.size = sizeof k, .module = "bench", .function = name};
  fsched_submit_callable_desc f = {.size = sizeof f, .name = name, .kernel = &k};
  bench_need(x->c->ctx, fsched_dynamic_callable(x->d, &f, NULL));
}

static void start_calls(calls_contest *x) {
  fsched_context *ctx = x->c->ctx;
  fsched_builder *b;
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"};
  bench_need(ctx, fsched_builder_create(ctx, "bench", &b));
  for (uint32_t q = 0; q < x->c->dag->n_queues; q++) {
    char name[16];
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_queue_desc queue = {.size = sizeof queue, .name = name};
    bench_need(ctx, fsched_builder_queue(b, &queue, NULL));
  }
  bench_need(ctx, fsched_builder_memory(b, &ddr, NULL));
  fsched_dynamic_options o = {.size = sizeof o, .heap_bytes = 1 << 20, .find = find_function};
  bench_need(ctx, fsched_dynamic_create(b, &o, &x->d));
  x->params = &x->gate;
  (void)pthread_mutex_init(&x->gate, NULL);
  add_function(x, "nothing");
  add_function(x, "gate");
}

static void end_calls(calls_contest *x) {
  fsched_dynamic_destroy(x->d);
  (void)pthread_mutex_destroy(&x->gate);
}

static void import_calls(const calls_contest *x) {
  for (uint32_t i = 0; i < 2 * x->c->dag->n_ops; i++) {
    char name[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "b%u", i);
    fsched_submit_import_desc m = {.size = sizeof m,
                                   .name = name,
                                   .bytes = TOKEN,
                                   .io = FSCHED_IO_STATE,
                                   .address = x->c->token + (size_t)i * TOKEN};
    bench_need(x->c->ctx, fsched_dynamic_import(x->d, &m, &id));
    x->c->buffer[i] = id;
  }
}

static void submit_gates(calls_contest *x) {
  for (uint32_t q = 0; q < x->c->dag->n_queues; q++) {
    char name[16];
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_submit_task_desc t = {.size = sizeof t,
                                 .callable = 1,
                                 .on = name,
                                 .params = &x->params,
                                 .n_params = sizeof x->params};
    bench_need(x->c->ctx, fsched_dynamic_task(x->d, &t, NULL));
  }
}

static uint32_t fill_submit_args(const contest *c, uint32_t i, fsched_submit_arg *arg) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t before = c->dag->before[i][k];
    if (before != UINT32_MAX || k == 0) {
      before = before == UINT32_MAX ? c->dag->n_ops + i : before;
      arg[n++] = (fsched_submit_arg){
          .size = sizeof *arg, .tag = FSCHED_IN, .buffer = (uint32_t)c->buffer[before]};
    }
  }
  arg[n++] = (fsched_submit_arg){
      .size = sizeof *arg, .tag = FSCHED_OUT_EXISTING, .buffer = (uint32_t)c->buffer[i]};
  return n;
}

static void submit_calls(const calls_contest *x) {
  for (uint32_t i = 0; i < x->c->dag->n_ops; i++) {
    fsched_submit_arg arg[3];
    uint32_t n = fill_submit_args(x->c, i, arg);
    fsched_submit_task_desc t = {.size = sizeof t, .args = arg, .n_args = n};
    bench_need(x->c->ctx, fsched_dynamic_task(x->d, &t, NULL));
  }
}

/* ns per op of the submits, and of what then is left. */
static void run_calls(const contest *c, bool held, double *submit, double *rest) {
  calls_contest x = {.c = c};
  start_calls(&x);
  *submit = *rest = 0;
  for (int k = 0; k < BENCH_REPEAT; k++) {
    bench_need(c->ctx, fsched_dynamic_open(x.d));
    import_calls(&x);
    (void)pthread_mutex_lock(&x.gate);
    if (held) {
      submit_gates(&x);
    }
    double begin = bench_now_ns();
    submit_calls(&x);
    double submitted = bench_now_ns();
    (void)pthread_mutex_unlock(&x.gate);
    bench_need(c->ctx, fsched_dynamic_close(x.d));
    bench_need(c->ctx, fsched_dynamic_drain(x.d));
    *submit = bench_quicker(*submit, submitted - begin);
    *rest = bench_quicker(*rest, bench_now_ns() - (held ? submitted : begin));
  }
  end_calls(&x);
  *submit /= c->dag->n_ops;
  *rest /= c->dag->n_ops;
}

static fsched_program *compile_timed(fsched_context *ctx, const bench_dag *dag, double *took) {
  double begin = bench_now_ns();
  fsched_program *p = bench_dag_compile(ctx, dag, 0);
  *took = bench_now_ns() - begin;
  return p;
}

static double print_row(const bench_dag *dag, const char *what, bench_series *s) {
  char name[64];
  (void)snprintf(name, sizeof name, "%.11s, %u queue%s: %s", dag->name, dag->n_queues,
                 dag->n_queues == 1 ? "" : "s", what);
  return bench_row(name, s);
}

static void print_verdict(double dynamic, double replay, double compile_per_op) {
  printf("  best dynamic / replay %.1f, break-even after %.1f runs\n", dynamic / replay,
         compile_per_op / (dynamic - replay));
}

/* What a DAG costs each contender. */
typedef struct bench_table {
  bench_series submit, dispatch, workers, held, released, going, going_all, openmp, replay;
} bench_table;

static void run_all(const contest *c, fsched_program *p, int run, bench_table *t) {
  run_engine(c, &t->submit.ns[run], &t->dispatch.ns[run]);
  t->workers.ns[run] = run_workers(c);
  run_calls(c, true, &t->held.ns[run], &t->released.ns[run]);
  run_calls(c, false, &t->going.ns[run], &t->going_all.ns[run]);
  t->openmp.ns[run] = bench_dag_openmp(c->dag);
  t->replay.ns[run] = bench_dag_replay(c->ctx, p, c->dag->n_ops);
}

static void print_table(const bench_dag *dag, bench_table *t, double compile_per_op) {
  double submit = print_row(dag, "engine, submit", &t->submit);
  double dispatch = print_row(dag, "engine, dispatch", &t->dispatch);
  (void)print_row(dag, "workers, all", &t->workers);
  double held = print_row(dag, "held, submit", &t->held);
  double released = print_row(dag, "held, the rest", &t->released);
  double going = print_row(dag, "going, submit", &t->going);
  double all = print_row(dag, "going, all", &t->going_all);
  double other = print_row(dag, "OpenMP depend", &t->openmp);
  double last = print_row(dag, "replay", &t->replay);
  double ours = submit + dispatch;
  printf(
      "  calls / engine: submit held %.2f, going %.2f; the rest %.2f; all %.2f.  "
      "All / OpenMP %.2f\n",
      held / submit, going / submit, released / dispatch, all / ours, all / other);
  print_verdict(ours < other ? ours : other, last, compile_per_op);
}

static void compare(fsched_context *ctx, bench_dag dag) {
  contest c = {.ctx = ctx, .dag = &dag};
  bench_table t;
  double compile;
  c.token = calloc(2 * (size_t)dag.n_ops, TOKEN);
  c.buffer = calloc(2 * (size_t)dag.n_ops, sizeof *c.buffer);
  if (c.token == NULL || c.buffer == NULL) {
    bench_fail("out of memory");
  }
  fsched_program *p = compile_timed(ctx, &dag, &compile);
  omp_set_num_threads((int)dag.n_queues);
  for (int run = 0; run < BENCH_RUNS; run++) {
    run_all(&c, p, run, &t);
  }
  print_table(&dag, &t, compile / dag.n_ops);
  fsched_program_destroy(p);
  free(c.token);
  free(c.buffer);
  free(dag.before);
}

int main(void) {
  uint32_t queues = (uint32_t)omp_get_max_threads();
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    bench_fail("no context");
  }
  printf("ns per task of DAGs of %d ops, without kernels\n", BENCH_DAG_OPS);
  printf("%-44s %10s %10s\n", "", "minimum", "median");
  for (uint32_t n = 1; n <= queues; n += queues > 1 ? queues - 1 : 1) {
    bench_dag chain = bench_dag_chain("chain", BENCH_DAG_OPS, n);
    chain.alternate = 0;
    compare(ctx, chain);
    compare(ctx, bench_dag_make("independent", BENCH_DAG_OPS, n, 0));
    compare(ctx, bench_dag_layers(n));
  }
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
