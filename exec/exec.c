/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of execution: creation, programs, state, waiting, shutdown. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>

#include "fsched/graph.h"
#include "futex.h"
#include "kernel.h"

enum { MOST_IN_FLIGHT = 1024 };
static const uint64_t look_ns = 250000000;

/* Creation */

static fs_status check_exec_options(fsched_context *ctx, const fsched_exec_options *o) {
  const char *wrong = o->device == NULL               ? "an exec wants a device"
                      : o->in_flight > MOST_IN_FLIGHT ? "'in_flight' is at most 1024"
                      : o->pool != NULL && fs_pool_device(o->pool) != o->device
                          ? "the pool is of another device"
                          : NULL;
  return wrong == NULL ? FSCHED_OK
                       : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL, "%s", wrong);
}

static fs_status make_locks(fsched_context *ctx, fsched_exec *x) {
  if (pthread_mutex_init(&x->lock, NULL) != 0) {
    return fs_no_memory(ctx, sizeof x->lock);
  }
  if (pthread_mutex_init(&x->loading, NULL) != 0) {
    (void)pthread_mutex_destroy(&x->lock);
    return fs_no_memory(ctx, sizeof x->loading);
  }
  if (pthread_cond_init(&x->quiet, NULL) != 0) {
    (void)pthread_mutex_destroy(&x->loading);
    (void)pthread_mutex_destroy(&x->lock);
    return fs_no_memory(ctx, sizeof x->quiet);
  }
  return FSCHED_OK;
}

fsched_status fsched_exec_create(fsched_context *ctx, const fsched_exec_options *options,
                                 fsched_exec **out) {
  fsched_exec_options o = {.size = sizeof o};
  *out = NULL;
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_exec_options", options->size,
                            FS_SIZE_UP_TO(fsched_exec_options, empty)));
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  FS_TRY(check_exec_options(ctx, &o));
  o.in_flight = o.in_flight == 0 ? 1 : o.in_flight;
  o.pool = o.empty ? NULL : o.pool;
  fs_allocator a = fs_allocator_of(ctx);
  fsched_exec *x = fs_allocator_new(a, sizeof *x);
  if (x == NULL) {
    return fs_no_memory(ctx, sizeof *x);
  }
  *x = (fsched_exec){.allocator = a, .device = o.device, .options = o};
  fs_status status = fs_context_own(ctx, &x->ctx);
  status = status == FSCHED_OK ? make_locks(ctx, x) : status;
  if (status != FSCHED_OK) {
    fsched_context_destroy(x->ctx);
    fs_allocator_free(a, x, sizeof *x);
    return status;
  }
  fs_arena_init(&x->arena, x->ctx);
  fsched_device_retain(x->device);
  *out = x;
  return FSCHED_OK;
}

static void destroy_slots(fsched_entry *e) {
  for (uint32_t i = 0; i < e->n_slots; i++) {
    e->exec->device->backend->destroy(e->slot[i].instance);
    fsched_context_destroy(e->slot[i].own);
  }
  e->n_slots = 0;
}

/* States from number `n` on. */
static void drop_states(fsched_exec *x, size_t n) {
  while (x->states.n > n) {
    const fs_state *state = &x->states.at[--x->states.n];
    (void)fs_realloc(x->ctx, state->bytes, (size_t)state->size + 1, 0);
  }
}

void fsched_exec_destroy(fsched_exec *exec) {
  if (exec == NULL) {
    return;
  }
  fs_exec_cancel_all(exec);
  for (fsched_entry *e = exec->entries; e != NULL; e = e->next) {
    destroy_slots(e);
  }
  drop_states(exec, 0);
  fs_vec_free(exec->ctx, &exec->states);
  fs_arena_release(&exec->arena);
  fsched_context_destroy(exec->ctx);
  (void)pthread_cond_destroy(&exec->quiet);
  (void)pthread_mutex_destroy(&exec->loading);
  (void)pthread_mutex_destroy(&exec->lock);
  fsched_device_release(exec->device);
  fs_allocator_free(exec->allocator, exec, sizeof *exec);
}

/* Programs */

static int by_name(const void *a, const void *b) {
  const fs_name *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order != 0 ? order : x->id < y->id ? -1 : x->id > y->id;
}

static fs_status index_names(fs_arena *arena, fsched_entry *e) {
  const fs_stream *s = e->stream;
  FS_TRY(fs_new(arena, &e->buffer, s->n_buffers));
  FS_TRY(fs_new(arena, &e->op, s->n_ops));
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    e->buffer[i] = (fs_name){fs_stream_string(s, s->buffers[i].name), i};
  }
  for (uint32_t i = 0; i < s->n_ops; i++) {
    e->op[i] = (fs_name){fs_stream_string(s, s->ops[i].name), i};
  }
  qsort(e->buffer, s->n_buffers, sizeof *e->buffer, by_name);
  qsort(e->op, s->n_ops, sizeof *e->op, by_name);
  FS_TRY(fs_new_none(arena, &e->given_item, s->n_buffers));
  FS_TRY(fs_new_none(arena, &e->kept_item, s->n_buffers));
  for (uint32_t i = 0; i < e->io.n_given; i++) {
    e->given_item[e->io.given[i].buffer] = i;
  }
  for (uint32_t i = 0; i < e->io.n_kept; i++) {
    e->kept_item[e->io.kept[i].buffer] = i;
  }
  return FSCHED_OK;
}

static uint32_t find_state(const fsched_exec *x, const char *name) {
  name = name == NULL ? "" : name;
  for (uint32_t i = 0; i < x->states.n; i++) {
    if (strcmp(x->states.at[i].name, name) == 0) {
      return i;
    }
  }
  return FS_NONE;
}

static fs_status add_state(fsched_context *ctx, fsched_exec *x, const char *name, uint64_t size) {
  const char *copy = fs_arena_strndup(&x->arena, name, strlen(name));
  uint8_t *bytes =
      copy == NULL || size >= SIZE_MAX / 2 ? NULL : fs_realloc(x->ctx, NULL, 0, (size_t)size + 1);
  if (bytes == NULL) {
    return fs_no_memory(ctx, (size_t)size);
  }
  fs_fill_given(name, bytes, size);
  if (fs_vec_push(x->ctx, &x->states, ((fs_state){copy, size, bytes})) != FSCHED_OK) {
    (void)fs_realloc(x->ctx, bytes, (size_t)size + 1, 0);
    return fs_no_memory(ctx, sizeof(fs_state));
  }
  return FSCHED_OK;
}

/* States are found or made under the name, which is what programs share them by. */
static fs_status join_states(fsched_context *ctx, fsched_entry *e) {
  fsched_exec *x = e->exec;
  const fs_stream *s = e->stream;
  FS_TRY(fs_new(&x->arena, &e->state, e->io.n_states));
  for (uint32_t i = 0; i < e->io.n_states; i++) {
    const fs_stream_buffer *b = &s->buffers[e->io.state[i]];
    const char *name = fs_stream_string(s, b->name);
    uint32_t found = find_state(x, name);
    if (found == FS_NONE) {
      FS_TRY(add_state(ctx, x, name, b->size));
      found = (uint32_t)x->states.n - 1;
    }
    const fs_state *state = &x->states.at[found];
    e->state[i] = state->bytes;
    if (state->size != b->size) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                     "state '%s' has %llu bytes in one program and %llu in another", name,
                     (unsigned long long)state->size, (unsigned long long)b->size);
    }
  }
  return FSCHED_OK;
}

static fs_status make_slots(fsched_context *ctx, fsched_entry *e) {
  fsched_exec *x = e->exec;
  fs_backend_config config = {.pace_ns = x->options.pace_ns,
                              .memory_limit = x->device->memory_limit,
                              .empty = x->options.empty != 0,
                              .pooled = x->options.pool != NULL && e->io.pooled_bytes > 0,
                              .slots = x->options.in_flight};
  FS_TRY(fs_new_zero(&x->arena, &e->slot, x->options.in_flight));
  for (uint32_t i = 0; i < x->options.in_flight; i++) {
    fs_slot *slot = &e->slot[i];
    FS_TRY(fs_context_own(ctx, &slot->own));
    e->n_slots++;
    fs_status status = x->device->backend->prepare(ctx, slot->own, x->device->machine, e->stream,
                                                   &e->io, &config, &slot->instance);
    if (status != FSCHED_OK) {
      return fs_context_out_of_memory(slot->own) ? fs_no_memory(ctx, 0) : status;
    }
  }
  return FSCHED_OK;
}

static fs_status make_entry(fsched_context *ctx, fsched_exec *x, const fsched_program *program,
                            fsched_entry *e) {
  e->exec = x;
  e->stream = &program->view;
  FS_TRY(fs_io_make(&x->arena, e->stream, &e->io));
  FS_TRY(index_names(&x->arena, e));
  pthread_mutex_lock(&x->lock);
  fs_status joined = join_states(ctx, e);
  pthread_mutex_unlock(&x->lock);
  FS_TRY(joined);
  if (x->options.pool != NULL) {
    FS_TRY(fs_pool_check(ctx, x->options.pool, fsched_entry_bytes(e)));
  }
  return make_slots(ctx, e);
}

static fs_status load(fsched_context *ctx, fsched_exec *x, const fsched_program *program,
                      fsched_entry **out) {
  fsched_entry *e;
  size_t n_states = x->states.n;
  FS_TRY(fs_new_zero(&x->arena, &e, 1));
  fs_status status = make_entry(ctx, x, program, e);
  if (status != FSCHED_OK) {
    destroy_slots(e);
  }
  pthread_mutex_lock(&x->lock);
  if (status != FSCHED_OK) {
    drop_states(x, n_states);
  } else {
    e->next = x->entries;
    x->entries = e;
    *out = e;
  }
  pthread_mutex_unlock(&x->lock);
  return status;
}

fsched_status fsched_exec_load(fsched_context *ctx, fsched_exec *exec,
                               const fsched_program *program, fsched_entry **out) {
  *out = NULL;
  pthread_mutex_lock(
      &exec->loading); /* not `lock`: this may take long, and calls what is the user's */
  fs_status status = load(ctx, exec, program, out);
  if (fs_context_out_of_memory(exec->ctx)) {
    (void)fs_no_memory(ctx, sizeof(fsched_entry));
    fsched_diag_clear(exec->ctx);
  }
  pthread_mutex_unlock(&exec->loading);
  return status;
}

uint64_t fsched_entry_bytes(const fsched_entry *entry) { return entry->io.pooled_bytes; }

/* State */

/* A use of state from outside takes its turn among the invocations with state. */
typedef struct state_use {
  fsched_context *ctx;
  const char *name;
  uint64_t bytes;
  void *to;         /* NULL: is written */
  const void *from; /* NULL: is read */
} state_use;

static fs_status check_state(const state_use *use, const fsched_exec *x, uint32_t *state) {
  *state = find_state(x, use->name);
  if (*state == FS_NONE) {
    return fs_fail(use->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL, "there is no state '%s'",
                   use->name == NULL ? "" : use->name);
  }
  uint64_t size = x->states.at[*state].size;
  if (size != use->bytes) {
    return fs_fail(use->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "state '%s' has %llu bytes, not %llu", use->name, (unsigned long long)size,
                   (unsigned long long)use->bytes);
  }
  return FSCHED_OK;
}

static fs_status use_state(fsched_exec *x, const state_use *use) {
  uint32_t state;
  pthread_mutex_lock(&x->lock);
  fs_status status = check_state(use, x, &state);
  if (status != FSCHED_OK) {
    pthread_mutex_unlock(&x->lock);
    return status;
  }
  uint64_t turn = x->turns++;
  while (x->turn != turn) {
    pthread_cond_wait(&x->quiet, &x->lock);
  }
  uint8_t *bytes = x->states.at[state].bytes;
  if (use->bytes > 0) {
    memcpy(use->to != NULL ? use->to : bytes, use->to != NULL ? bytes : use->from,
           (size_t)use->bytes);
  }
  x->turn++;
  pthread_cond_broadcast(&x->quiet);
  fs_exec_pump(x);
  return FSCHED_OK;
}

fsched_status fsched_exec_read_state(fsched_context *ctx, fsched_exec *exec, const char *name,
                                     void *data, uint64_t bytes) {
  return use_state(exec, &(state_use){ctx, name, bytes, data, NULL});
}

fsched_status fsched_exec_write_state(fsched_context *ctx, fsched_exec *exec, const char *name,
                                      const void *data, uint64_t bytes) {
  return use_state(exec, &(state_use){ctx, name, bytes, NULL, data});
}

void fsched_exec_reset(fsched_exec *exec) {
  pthread_mutex_lock(&exec->lock);
  exec->state_cause = exec->first_cause = FSCHED_CAUSE_NONE;
  exec->last_cause = FSCHED_CAUSE_NONE;
  exec->failure[0] = '\0';
  pthread_mutex_unlock(&exec->lock);
}

/* Waiting */

/* With the lock.  What the device knows of a slot in which nothing moves; to *what (if not NULL)
 * the first line of it. */
static void explain_slot(fsched_context *ctx, const fsched_exec *x, const fs_slot *slot, char *what,
                         size_t room) {
  uint32_t first = fsched_diag_count(ctx);
  x->device->backend->report(slot->instance, ctx);
  bool said = fsched_diag_count(ctx) > first;
  if (what != NULL) {
    (void)snprintf(what, room, "%s",
                   said ? fsched_diag_get(ctx, first)->message : "it made no progress");
  }
}

/* With the lock.  What is stuck is reported and left out of the rest. */
static void watch_slot(fsched_context *ctx, fsched_exec *x, fs_slot *slot, uint64_t stuck_ns) {
  const fs_backend *backend = x->device->backend;
  bool idle = false;
  uint64_t moves = backend->progress(slot->instance, &idle);
  if (fs_watch_stuck(&slot->watch, moves, idle, fs_now_ns(), stuck_ns)) {
    bool first = x->first_cause == FSCHED_CAUSE_NONE;
    explain_slot(ctx, x, slot, first ? x->failure : NULL, sizeof x->failure);
    x->first_cause = first ? FSCHED_CAUSE_TIMEOUT : x->first_cause;
    backend->poison(slot->instance, FSCHED_CAUSE_TIMEOUT);
    slot->watch = (fs_watch){0};
  }
}

static void watch_all(fsched_context *ctx, fsched_exec *x, uint64_t stuck_ns) {
  pthread_mutex_lock(&x->lock);
  for (fsched_entry *e = x->entries; e != NULL; e = e->next) {
    for (uint32_t i = 0; i < e->n_slots; i++) {
      fs_invocation *v = e->slot[i].running;
      if (v != NULL && v->stage == FS_RUNNING) {
        watch_slot(ctx, x, &e->slot[i], stuck_ns);
      }
    }
  }
  pthread_mutex_unlock(&x->lock);
}

size_t fsched_exec_failure(fsched_exec *exec, char *text, size_t room) {
  pthread_mutex_lock(&exec->lock);
  int n = snprintf(text, room, "%s", exec->failure);
  pthread_mutex_unlock(&exec->lock);
  return n < 0 ? 0 : (size_t)n;
}

static const char *cause_name(fsched_cause cause) {
  return cause == FSCHED_CAUSE_CANCELLED ? "cancelled"
         : cause == FSCHED_CAUSE_RETIRED ? "retired"
         : cause == FSCHED_CAUSE_TIMEOUT ? "out of time"
         : cause == FSCHED_CAUSE_SYSTEM  ? "the machine failed"
         : cause == FSCHED_CAUSE_WRONG   ? "the program is wrong"
                                         : "a kernel's or user's";
}

/* What the last kernel or device to fail with this cause has left, else the exec's first failure,
 * is told when it can be the reason. */
static fs_status report_failure(fsched_context *ctx, fsched_exec *x, fsched_cause cause) {
  char what[sizeof x->failure];
  pthread_mutex_lock(&x->lock);
  (void)snprintf(what, sizeof what, "%s",
                 x->last_cause == cause    ? x->last
                 : x->first_cause == cause ? x->failure
                                           : "");
  pthread_mutex_unlock(&x->lock);
  return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
                 what[0] == '\0' ? "the fence has failed with cause %d (%s)%s"
                                 : "an invocation failed with cause %d (%s): %s",
                 (int)cause, cause_name(cause), what);
}

/* Not in time, and nothing has failed: where the invocations are, and what those wait for that
 * run and do nothing. */
static fs_status report_timeout(fsched_context *ctx, fsched_exec *x, uint64_t timeout_ns) {
  uint64_t n[FS_DONE + 1] = {0};
  pthread_mutex_lock(&x->lock);
  for (const fs_invocation *v = x->all; v != NULL; v = v->next) {
    n[v->stage]++;
  }
  fs_report(
      ctx, FSCHED_ERROR, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
      "the fence was not reached within %llu ms; invocations that wait for their fence: %llu, "
      "for an earlier one with state: %llu, for a slot: %llu, for memory: %llu; that run: "
      "%llu",
      (unsigned long long)(timeout_ns / 1000000), (unsigned long long)n[FS_WAITING],
      (unsigned long long)n[FS_ORDERED], (unsigned long long)n[FS_READY],
      (unsigned long long)n[FS_RESERVING], (unsigned long long)n[FS_RUNNING]);
  for (fsched_entry *e = x->entries; e != NULL; e = e->next) {
    for (uint32_t i = 0; i < e->n_slots; i++) {
      const fs_invocation *v = e->slot[i].running;
      bool idle = false;
      if (v != NULL && v->stage == FS_RUNNING) {
        (void)x->device->backend->progress(e->slot[i].instance, &idle);
      }
      if (idle) {
        explain_slot(ctx, x, &e->slot[i], NULL, 0);
      }
    }
  }
  pthread_mutex_unlock(&x->lock);
  return FSCHED_REPLAY;
}

/* A fence may also have failed with FSCHED_CAUSE_TIMEOUT: *late says which it is. */
static fsched_cause look(fsched_fence *fence, uint64_t timeout_ns, bool *late) {
  fsched_cause cause = fsched_fence_wait(fence, timeout_ns);
  *late = cause == FSCHED_CAUSE_TIMEOUT && fs_fence_failed(fence) == FSCHED_CAUSE_NONE;
  return cause;
}

fsched_status fsched_exec_wait(fsched_context *ctx, fsched_exec *exec, fsched_fence *fence,
                               uint64_t timeout_ns, uint64_t stuck_ns, fsched_cause *cause) {
  uint64_t begin = fs_now_ns(), passed = 0;
  uint32_t errors = fsched_diag_errors(ctx);
  fsched_cause now;
  bool late;
  do {
    uint64_t slice = fs_min(fs_min(look_ns, stuck_ns / 4 + 1), timeout_ns - passed);
    now = look(fence, slice, &late);
    if (late) {
      watch_all(ctx, exec, stuck_ns);
    }
    passed = fs_now_ns() - begin;
  } while (late && passed < timeout_ns);
  if (cause != NULL) {
    *cause = now;
  }
  if (now == FSCHED_CAUSE_NONE) {
    return FSCHED_OK;
  }
  if (fsched_diag_errors(ctx) > errors) { /* that it is stuck */
    return FSCHED_REPLAY;
  }
  return late ? report_timeout(ctx, exec, timeout_ns) : report_failure(ctx, exec, now);
}
