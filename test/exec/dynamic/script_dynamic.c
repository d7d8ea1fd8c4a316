/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts as public calls of dynamic runs, on threads.  The kernel of a task returns when the
 * script says that the task ends. */
#include <pthread.h>
#include <sched.h>

#include "exec/dynamic/calls/private.h"
#include "exec/dynamic/private.h"
#include "exec/dynamic/script_calls.h"

/* A task whose kernel is, or will be, called. */
typedef struct held_task {
  char name[16]; /* empty: there is none */
  fs_dynamic_task task;
  uint32_t n_members;
  bool begun[SCRIPT_MEMBERS], may_end[SCRIPT_MEMBERS];
  int answer;
} held_task;

typedef struct script_calls {
  fsched_context *ctx;
  fsched_dynamic *d;
  pthread_mutex_t lock;
  pthread_cond_t moves;
  held_task held[SCRIPT_TASKS];
  bool over;
  uint8_t memory[1 << 16];
} script_calls;

/* A kernel is told nothing but its call. */
static script_calls *running;

static held_task *find_held(script_calls *c, const char *name) {
  for (uint32_t i = 0; i < SCRIPT_TASKS; i++) {
    if (strcmp(c->held[i].name, name) == 0) {
      return &c->held[i];
    }
  }
  return NULL;
}

static int wait_for_script(const fsched_kernel_call *call) {
  script_calls *c = running;
  (void)pthread_mutex_lock(&c->lock);
  held_task *t = find_held(c, call->op);
  t->begun[call->member] = true;
  (void)pthread_cond_broadcast(&c->moves);
  while (!t->may_end[call->member] && !c->over) {
    (void)pthread_cond_wait(&c->moves, &c->lock);
  }
  int answer = t->answer;
  (void)pthread_mutex_unlock(&c->lock);
  return answer;
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  (void)function;
  return wait_for_script;
}

static void *make(const fs_script_settings *s) {
  static script_calls calls;
  calls = (script_calls){
      .ctx = s->ctx, .lock = PTHREAD_MUTEX_INITIALIZER, .moves = PTHREAD_COND_INITIALIZER};
  running = &calls;
  fsched_dynamic_options o = {
      .size = sizeof o, .heap_bytes = s->heap, .timeout_ns = s->timeout, .find = find};
  fsched_kernel_desc k = {.size = sizeof k, .module = "script", .function = "wait"};
  fsched_submit_callable_desc c = {.size = sizeof c, .name = "c", .on = "next", .kernel = &k};
  ck_fs(s->ctx, fsched_dynamic_create(script_target(s->ctx, s->hazards), &o, &calls.d));
  ck_fs(s->ctx, fsched_dynamic_callable(calls.d, &c, NULL));
  ck_fs(s->ctx, fsched_dynamic_open(calls.d));
  return &calls;
}

static void drop(void *of) {
  script_calls *c = of;
  (void)pthread_mutex_lock(&c->lock);
  c->over = true;
  (void)pthread_cond_broadcast(&c->moves);
  (void)pthread_mutex_unlock(&c->lock);
  fsched_dynamic_destroy(c->d);
}

static fs_status import(void *of, const char *name, const fs_dynamic_import *d, uint64_t *buffer) {
  script_calls *c = of;
  uint32_t id = FS_NONE;
  ck_assert_uint_le(d->address + d->size, sizeof c->memory);
  fsched_submit_import_desc i = script_import(name, d, c->memory);
  fs_status status = fsched_dynamic_import(c->d, &i, &id);
  *buffer = id;
  return status;
}

static void inspect(void *of, void (*look)(void *user, fs_dynamic *e), void *user) {
  fs_workers_inspect(((script_calls *)of)->d->workers, look, user);
}

static fs_dynamic_buffer buffer_of(void *of, uint64_t buffer) {
  return ((script_calls *)of)->d->buffer.at[buffer].buffer;
}

static fs_dynamic_task task_of(void *of, uint64_t task) {
  (void)of;
  return task;
}

/* In: a buffer; out: the task whose version it has. */
static void look_up_owner(void *user, fs_dynamic *e) {
  uint64_t *at = user;
  *at = e->record.at[(uint32_t)*at].owner;
}

static fs_status alloc(void *of, uint32_t n_dims, uint64_t bytes, uint64_t *buffer,
                       uint64_t *task) {
  script_calls *c = of;
  fsched_submit_alloc_desc a = {
      .size = sizeof a, .element = 1, .n_dims = n_dims, .shape = &bytes, .memory = "ddr"};
  uint32_t id;
  fs_status status = fsched_dynamic_alloc(c->d, &a, &id);
  if (status == FSCHED_OK) {
    *buffer = id;
    *task = buffer_of(of, id);
    inspect(of, look_up_owner, task);
  }
  return status;
}

static fs_status scope(void *of, bool begins) {
  script_calls *c = of;
  return begins ? fsched_dynamic_begin_scope(c->d, NULL) : fsched_dynamic_end_scope(c->d);
}

static fs_status submit(void *of, const fs_script_task *t, uint64_t *task) {
  script_calls *c = of;
  script_descs d;
  uint32_t id;
  describe_script_task(t, &d);
  (void)pthread_mutex_lock(&c->lock);
  held_task *held = find_held(c, "");
  ck_assert_ptr_nonnull(held);
  *held = (held_task){.n_members = t->n_members};
  (void)snprintf(held->name, sizeof held->name, "%s", t->name);
  (void)pthread_mutex_unlock(&c->lock);
  fs_status status = t->group ? fsched_dynamic_group(c->d, &d.group, &id)
                              : fsched_dynamic_task(c->d, &d.task, &id);
  if (status == FSCHED_OK) {
    *task = held->task = c->d->task.at[id];
  } else {
    held->name[0] = '\0'; /* no kernel has it */
  }
  return status;
}

static held_task *held_of(script_calls *c, uint64_t task) {
  for (uint32_t i = 0; i < SCRIPT_TASKS; i++) {
    if (c->held[i].name[0] != '\0' && c->held[i].task == task) {
      return &c->held[i];
    }
  }
  ck_abort_msg("no such task");
  return NULL;
}

/* Waits until the kernels of all members have been called. */
static bool run(void *of, uint64_t task) {
  script_calls *c = of;
  held_task *t = held_of(c, task);
  (void)pthread_mutex_lock(&c->lock);
  for (uint32_t m = 0; m < t->n_members; m++) {
    while (!t->begun[m]) {
      (void)pthread_cond_wait(&c->moves, &c->lock);
    }
  }
  (void)pthread_mutex_unlock(&c->lock);
  return true;
}

/* In: a task; out: NO_TASK while it runs. */
static void look_whether_over(void *user, fs_dynamic *e) {
  uint64_t *at = user;
  if (fs_dynamic_task_get(e, *at).state == FS_TASK_RUNNING) {
    *at = FS_DYNAMIC_NO_TASK;
  }
}

static void await_end(script_calls *c, uint64_t task) {
  for (uint64_t at = FS_DYNAMIC_NO_TASK; at == FS_DYNAMIC_NO_TASK;) {
    at = task;
    inspect(c, look_whether_over, &at);
    (void)sched_yield();
  }
}

static void end(void *of, uint64_t task, uint32_t member, const char *cause) {
  script_calls *c = of;
  held_task *t = held_of(c, task);
  bool last = true;
  ck_assert_uint_lt(member, t->n_members);
  (void)pthread_mutex_lock(&c->lock);
  t->may_end[member] = true;
  t->answer = cause == NULL ? t->answer : 7;
  for (uint32_t m = 0; m < t->n_members; m++) {
    last = last && t->may_end[m];
  }
  (void)pthread_cond_broadcast(&c->moves);
  (void)pthread_mutex_unlock(&c->lock);
  if (last) {
    await_end(c, task);
  }
}

static fs_status close_run(void *of) { return fsched_dynamic_close(((script_calls *)of)->d); }
static fs_status drain(void *of) { return fsched_dynamic_drain(((script_calls *)of)->d); }
static void cancel(void *of, const char *cause) {
  fsched_dynamic_cancel(((script_calls *)of)->d, cause);
}

static fs_dynamic_run state(void *of) {
  switch (fsched_dynamic_run_state(((script_calls *)of)->d)) {
    case FSCHED_DYNAMIC_NONE:
      break;
    case FSCHED_DYNAMIC_OPEN:
      return FS_RUN_OPEN;
    case FSCHED_DYNAMIC_CLOSED:
      return FS_RUN_CLOSED;
    case FSCHED_DYNAMIC_FAILING:
      return FS_RUN_FAILING;
    case FSCHED_DYNAMIC_DONE:
      return FS_RUN_DONE;
    case FSCHED_DYNAMIC_FAILED:
      return FS_RUN_FAILED;
  }
  ck_abort_msg("a run in no state");
  return FS_RUN_FAILED;
}

const fs_script_driver fs_script_dynamic = {.make = make,
                                            .drop = drop,
                                            .import = import,
                                            .alloc = alloc,
                                            .scope = scope,
                                            .submit = submit,
                                            .run = run,
                                            .end = end,
                                            .close = close_run,
                                            .cancel = cancel,
                                            .drain = drain,
                                            .state = state,
                                            .inspect = inspect,
                                            .task_of = task_of,
                                            .buffer_of = buffer_of,
                                            .eager = true,
                                            .own_words = true};
