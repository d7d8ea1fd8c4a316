/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/workers_kit.h"

#include <signal.h>
#include <stdlib.h>

#include "exec/dynamic/forks.h"
#include "kit/context.h"

static const uint32_t class_of[QUEUES] = {0, 0, 1, 1};

typedef struct named_kernel {
  const char *name;
  fsched_kernel_fn function;
} named_kernel;

#define NAME_KERNEL(name) {#name, name},
static const named_kernel named[KERNELS] = {TEST_KERNELS(NAME_KERNEL)};

/* Calls a function of the runner; and compares the member with what the task says. */
static int call_named(const fs_started_member *member, void *user) {
  const named_kernel *k = user;
  const fsched_kernel_call *call = member->call;
  if (k->function == run_task && (uint32_t)call->args[call->n_args - 1].value != member->member) {
    return 9;
  }
  return k->function(call);
}

bool has_kind(worker_kind kind) { return workers_fork() ? kind < WORKER_KINDS : kind != FORKED; }

fs_workers_options worker_options(worker_kind kind, uint64_t heap_size) {
  static char program[4096], module[4096];
  static fs_task_kernel function[KERNELS], of_module[KERNELS];
  for (uint32_t k = 0; k < KERNELS; k++) {
    function[k] = (fs_task_kernel){.function = call_named, .user = (void *)(uintptr_t)&named[k]};
    of_module[k] = (fs_task_kernel){.module = beside_runner("exec/dynamic/kernels.so", module),
                                    .name = named[k].name};
  }
  bool own = kind == THREADS || kind == FORKED;
  return (fs_workers_options){
      .engine = {.n_queues = QUEUES, .class_of = class_of, .heap_size = heap_size},
      .n_kernels = KERNELS,
      .kernel = own ? function : of_module,
      .kind = kind == FORKED || kind == SPAWNED ? FS_WORKERS_PROCESSES : FS_WORKERS_THREADS,
      .shared_size = SHARED_SIZE,
      .process = {kind == SPAWNED, beside_runner("../fsched-worker", program)}};
}

fs_workers *start_workers(worker_kind kind, uint64_t heap_size) {
  fs_workers_options o = worker_options(kind, heap_size);
  fs_workers *w;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  return w;
}

void *import_shared(fs_workers *w, uint64_t size, fs_dynamic_buffer *out) {
  void *at;
  ck_fs(ctx, fs_workers_memory(w, size, &at));
  memset(at, 0, size);
  ck_fs(ctx, fs_workers_import(w, at, size, true, true, out));
  return at;
}

/* Draws a task that no two members of fight over: member m uses the buffers with number m modulo 2
 * alone, if there are two.  `written`: which buffers have content. */
static void draw_task(fs_rng *rng, plain_task *t, bool *written) {
  static const fsched_tag tags[] = {FSCHED_IN, FSCHED_IN, FSCHED_OUT, FSCHED_INOUT,
                                    FSCHED_OUT_EXISTING};
  *t = (plain_task){.seed = fs_rng_next(rng), .n_members = fs_rng_one_in(rng, 5) ? MEMBERS : 1};
  for (uint32_t m = 0; m < t->n_members; m++) {
    bool used[BUFFERS] = {false};
    for (uint32_t k = fs_rng_below(rng, MOST_ARGS + 1); k > 0; k--) {
      plain_arg a = {.tag = tags[fs_rng_below(rng, 5)], .buffer = fs_rng_below(rng, BUFFERS)};
      if (used[a.buffer] || (t->n_members == MEMBERS && a.buffer % MEMBERS != m)) {
        continue;
      }
      used[a.buffer] = true;
      a.tag = written[a.buffer] ? a.tag : FSCHED_OUT;
      a.begin = 0;
      a.end = BYTES;
      if (written[a.buffer] && fs_rng_one_in(rng, 2)) {
        a.begin = fs_rng_below(rng, BYTES - 1);
        a.end = a.begin + 1 + fs_rng_below(rng, BYTES - a.begin - 1);
      }
      written[a.buffer] = true;
      t->arg[m][t->n_args[m]++] = a;
    }
  }
}

fs_status submit_simple(fs_workers *w, const char *name, uint32_t kernel, uint32_t queue,
                        fsched_tag tag, fs_dynamic_buffer b, int64_t value) {
  fs_dynamic_arg a = {.tag = tag, .buffer = b};
  fs_dynamic_member m = {1, &a};
  fs_task_value v = {0, 1, value};
  fs_workers_task task = {
      .name = name,
      .submission = {.n_members = 1, .member = &m, .n_queues = 1, .queue = &queue},
      .kernel = kernel,
      .n_values = 1,
      .value = &v};
  fs_dynamic_task t;
  return fs_workers_submit(w, &task, &t);
}

static void run_plainly(plain_program *p, const plain_task *t) {
  for (uint32_t m = 0; m < t->n_members; m++) {
    uint8_t *at[MOST_ARGS];
    for (uint32_t i = 0; i < t->n_args[m]; i++) {
      at[i] = p->plain[t->arg[m][i].buffer] + t->arg[m][i].begin;
    }
    compute_plain(t, m, at);
  }
}

static fs_status submit_plain(plain_program *p, const plain_task *t, fs_rng *rng) {
  fs_dynamic_arg arg[MEMBERS][MOST_ARGS];
  fs_dynamic_member member[MEMBERS];
  fs_task_value value[MEMBERS];
  uint32_t queue[MEMBERS], first = fs_rng_below(rng, QUEUES);
  for (uint32_t m = 0; m < t->n_members; m++) {
    member[m] = (fs_dynamic_member){t->n_args[m], arg[m]};
    value[m] = (fs_task_value){m, t->n_args[m], m};
    queue[m] = (first + m) % QUEUES;
    for (uint32_t i = 0; i < t->n_args[m]; i++) {
      const plain_arg *a = &t->arg[m][i];
      bool all = a->begin == 0 && a->end == BYTES;
      arg[m][i] = (fs_dynamic_arg){
          a->tag, p->buffer[a->buffer], !all, {a->begin, 1, 1, {a->end - a->begin}, {1}}};
    }
  }
  fsched_kernel_call shape = {.params = t, .n_params = sizeof *t};
  fs_workers_task w = {.name = "task",
                       .kernel = KERNEL_run_task,
                       .n_values = t->n_members,
                       .value = value,
                       .shape = &shape};
  w.submission = (fs_dynamic_submission){.n_members = t->n_members, .member = member};
  if (fs_rng_one_in(rng, 2)) {
    w.submission.n_queues = t->n_members;
    w.submission.queue = queue;
  } else {
    w.submission.class_ = fs_rng_below(rng, 2);
  }
  fs_dynamic_task out;
  return fs_workers_submit(p->w, &w, &out);
}

void begin_plain(plain_program *p, fs_workers *w) {
  *p = (plain_program){.w = w};
  for (uint32_t i = 0; i < SHARED; i++) {
    p->memory[i] = import_shared(w, BYTES, &p->buffer[i]);
  }
}

static fs_status submit_all(plain_program *p, fs_rng *rng, uint32_t n) {
  plain_task t;
  for (uint32_t i = 0; i < n; i++) {
    draw_task(rng, &t, p->written);
    run_plainly(p, &t);
    FS_TRY(submit_plain(p, &t, rng));
    if (i + 1 == p->kill_at) {
      ck_assert_int_eq(kill(p->victim, SIGKILL), 0);
    }
  }
  /* What is in declared buffers is seen by copying it. */
  for (uint32_t i = 0; i < LOCAL; i++) {
    t = (plain_task){.seed = i, .n_members = 1, .n_args = {2}};
    t.arg[0][0] = (plain_arg){FSCHED_IN, SHARED + i, 0, BYTES};
    t.arg[0][1] = (plain_arg){FSCHED_INOUT, i, 0, BYTES};
    if (p->written[SHARED + i]) {
      run_plainly(p, &t);
      FS_TRY(submit_plain(p, &t, rng));
    }
  }
  return fs_workers_scope_end(p->w);
}

fs_status submit_random(plain_program *p, fs_rng *rng, uint32_t n) {
  for (uint32_t i = 0; i < BUFFERS; i++) {
    p->written[i] = i < SHARED; /* declared buffers have no content at first */
    if (i >= SHARED) {
      ck_fs(ctx, fs_workers_declare(p->w, BYTES, &p->buffer[i]));
    }
  }
  FS_TRY(fs_workers_scope_begin(p->w));
  fs_status status = submit_all(p, rng, n);
  for (uint32_t i = SHARED; i < BUFFERS; i++) {
    ck_fs(ctx, fs_workers_forget(p->w, p->buffer[i]));
  }
  return status;
}

void ck_plain(const plain_program *p) {
  for (uint32_t i = 0; i < SHARED; i++) {
    ck_assert_mem_eq(p->memory[i], p->plain[i], BYTES);
  }
}
