/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of execution: creation, programs, state, waiting, shutdown. */
#include "exec/context/core.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/names.h"
#include "base/saturate.h"
#include "base/text/ticks.h"
#include "exec/context/known.h"
#include "exec/host/kernel.h"
#include "fsched/graph.h"
#include "fsched/verify.h"

enum { MOST_IN_FLIGHT = 1024, DEFAULT_CAPACITY = 8, MOST_CAPACITY = 1024 };
static const uint64_t look_ns = 250000000;

/* Creation */

static fs_status check_exec_options(fsched_context *ctx, const fsched_exec_options *o) {
  const char *wrong = o->device == NULL                      ? "an exec wants a device"
                      : o->in_flight > MOST_IN_FLIGHT        ? "'in_flight' is at most 1024"
                      : o->frontier_capacity > MOST_CAPACITY ? "'frontier_capacity' is at most 1024"
                      : o->tick_ps > FS_TICK_MOST_PS         ? "'tick_ps' is at most 2^40 ns"
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

/* After a failure only the exec's context has to be given back. */
static fs_status make_parts(fsched_context *ctx, fsched_exec *x) {
  fsched_frontier_entry *entries;
  fs_arena_init(&x->arena, x->ctx);
  if (fs_new(&x->arena, &entries, x->options.frontier_capacity) != FSCHED_OK) {
    return fs_no_memory(ctx, x->options.frontier_capacity * sizeof *entries);
  }
  x->state_known = fs_known_room(x, entries);
  fs_status status = make_locks(ctx, x);
  if (status != FSCHED_OK) {
    fs_arena_release(&x->arena);
  }
  return status;
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
  FS_TRY(fs_refuse_inherited(ctx, o.device->birth));
  o.frontier_capacity = o.frontier_capacity == 0 ? DEFAULT_CAPACITY : o.frontier_capacity;
  o.in_flight = o.in_flight == 0 ? 1 : o.in_flight;
  o.pool = o.empty ? NULL : o.pool;
  fs_allocator a = fs_allocator_of(ctx);
  fsched_exec *x = fs_allocator_new(a, sizeof *x);
  if (x == NULL) {
    return fs_no_memory(ctx, sizeof *x);
  }
  *x = (fsched_exec){.allocator = a, .birth = fs_process_birth(), .device = o.device, .options = o};
  fs_status status = fs_context_own(ctx, &x->ctx);
  status = status == FSCHED_OK ? make_parts(ctx, x) : status;
  if (status != FSCHED_OK) {
    fsched_context_destroy(x->ctx);
    fs_allocator_free(a, x, sizeof *x);
    return status;
  }
  fsched_device_retain(x->device);
  *out = x;
  return FSCHED_OK;
}

static void destroy_slots(fsched_entry *e) {
  for (uint32_t i = 0; i < e->n_slots; i++) {
    e->exec->device->backend->destroy(e->slot[i].instance);
    if (!e->slot[i].lost) { /* a lost slot's instance still exists */
      fsched_context_destroy(e->slot[i].own);
    }
  }
  e->n_slots = 0;
}

/* Frees the states' bytes; the structs are in the arena. */
static void drop_states(const fsched_exec *x, fs_state *first) {
  for (fs_state *state = first; state != NULL; state = state->next) {
    (void)fs_realloc(x->ctx, state->bytes, (size_t)state->size + 1, 0);
    fs_vec_free(x->ctx, &state->there);
  }
}

void fsched_exec_destroy(fsched_exec *exec) {
  if (exec == NULL || fs_process_inherited(exec->birth)) {
    return;
  }
  fs_exec_cancel_all(exec);
  (void)fs_exec_await_quiet(exec, UINT64_MAX);
  for (fsched_entry *e = exec->entries; e != NULL; e = e->next) {
    destroy_slots(e);
  }
  drop_states(exec, exec->states);
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

static fs_state *find_state(fs_state *first, const char *name) {
  fs_state *state = first;
  while (state != NULL && strcmp(state->name, name) != 0) {
    state = state->next;
  }
  return state;
}

/* Adds a state at the head of the list. */
static fs_status add_state(fsched_context *ctx, fsched_exec *x, const char *name,
                           const fs_stream_buffer *b, fs_state **list) {
  fs_state *state;
  FS_TRY(fs_new(&x->arena, &state, 1));
  const char *copy = fs_arena_strndup(&x->arena, name, strlen(name));
  uint8_t *bytes = copy == NULL || b->io_size >= SIZE_MAX / 2
                       ? NULL
                       : fs_realloc(x->ctx, NULL, 0, (size_t)b->io_size + 1);
  if (bytes == NULL) {
    return fs_no_memory(ctx, (size_t)b->io_size);
  }
  *state = (fs_state){.name = copy, .size = b->io_size, .bytes = bytes, .next = *list};
  *list = state;
  return FSCHED_OK;
}

/* Makes the missing content of [begin, end).  Content that is there may come from invocations. */
static fs_status make_state(fsched_exec *x, fs_state *state, uint64_t begin, uint64_t end) {
  uint64_t at = begin;
  for (size_t i = 0; i < state->there.n && at < end; i++) {
    fs_byte_range r = state->there.at[i];
    if (r.end > at) {
      fs_fill_given_range(state->name, state->bytes, at, fs_max(at, fs_min(r.begin, end)));
      at = fs_max(at, r.end);
    }
  }
  fs_fill_given_range(state->name, state->bytes, at, fs_max(at, end));
  return fs_byteset_add(x->ctx, &state->there, begin, end);
}

static fs_status make_touched(fsched_exec *x, const fs_io *io, const fs_io_item *item,
                              fs_state *state) {
  for (uint32_t i = 0; i < item->n_ranges; i++) {
    fs_byte_range r = io->range[item->range0 + i];
    FS_TRY(make_state(x, state, r.begin, r.end));
  }
  return FSCHED_OK;
}

/* Makes the content of all bytes of a state that the entry's commands read or write. */
static fs_status make_used(const fsched_entry *e, uint32_t buffer, fs_state *state) {
  const fs_io *io = &e->io;
  uint32_t given = e->given_item[buffer], kept = e->kept_item[buffer];
  if (given != FS_NONE) {
    FS_TRY(make_touched(e->exec, io, &io->given[given], state));
  }
  return kept == FS_NONE ? FSCHED_OK : make_touched(e->exec, io, &io->kept[kept], state);
}

/* A state of an entry that is being loaded. */
typedef struct joined {
  fs_state *state;
  bool made; /* made by this load */
} joined;

/* The same for each of the entry's states.  States that this load has made are not shared yet.  In
 * the others, uses from outside may make content meanwhile, so these are locked. */
static fs_status make_all_used(fsched_context *ctx, const fsched_entry *e, const joined *of) {
  fsched_exec *x = e->exec;
  for (uint32_t i = 0; i < e->io.n_states; i++) {
    fs_status status;
    if (of[i].made) {
      status = make_used(e, e->io.state[i], of[i].state);
    } else {
      pthread_mutex_lock(&x->lock);
      status = make_used(e, e->io.state[i], of[i].state);
      pthread_mutex_unlock(&x->lock);
    }
    if (status != FSCHED_OK) {
      return fs_no_memory(ctx, sizeof(fs_byte_range));
    }
  }
  return FSCHED_OK;
}

/* Indexes the states by name, without the lock: only the loading thread changes their list. */
static fs_status index_states(const fsched_exec *x, fs_names *names, fs_state ***of) {
  uint32_t n = 0;
  for (fs_state *state = x->states; state != NULL; state = state->next) {
    n++;
  }
  FS_TRY(fs_new(names->arena, of, n));
  for (fs_state *state = x->states; state != NULL; state = state->next) {
    uint32_t id;
    FS_TRY(fs_names_add_kept(names, state->name, &id));
    (*of)[id] = state;
  }
  return FSCHED_OK;
}

/* Finds or makes the entry's states by name, as programs share states by their names.  States that
 * are made belong to the exec only after the load has succeeded. */
static fs_status join_indexed(fsched_context *ctx, fsched_entry *e, fs_names *names,
                              fs_state **made, joined *of) {
  fsched_exec *x = e->exec;
  const fs_stream *s = e->stream;
  fs_state **known;
  FS_TRY(index_states(x, names, &known));
  FS_TRY(fs_new(&x->arena, &e->state, e->io.n_states));
  for (uint32_t i = 0; i < e->io.n_states; i++) {
    const fs_stream_buffer *b = &s->buffers[e->io.state[i]];
    const char *name = fs_stream_string(s, b->name);
    uint32_t id = fs_names_find(names, name, strlen(name));
    fs_state *state = id == FS_NONE ? NULL : known[id];
    of[i].made = state == NULL;
    if (state == NULL) {
      FS_TRY(add_state(ctx, x, name, b, made));
      state = *made;
    }
    of[i].state = state;
    e->state[i] = state->bytes;
    if (state->size != b->io_size) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                     "state '%s' has %llu bytes in one program and %llu in another", name,
                     (unsigned long long)state->size, (unsigned long long)b->io_size);
    }
  }
  return FSCHED_OK;
}

static fs_status join_states(fsched_context *ctx, fsched_entry *e, fs_state **made, joined *of) {
  fs_names names;
  FS_SCRATCH(scratch, ctx);
  fs_names_init(&names, &scratch);
  fs_status status = join_indexed(ctx, e, &names, made, of);
  fs_names_free(&names);
  return status;
}

static fs_status make_slots(fsched_context *ctx, fsched_entry *e) {
  fsched_exec *x = e->exec;
  uint64_t tick =
      x->options.tick_ps != 0 ? x->options.tick_ps : fs_multiply_most(x->options.pace_ns, 1000);
  fs_backend_config config = {.pace_ps = x->options.pace_ns != 0 ? tick : 0,
                              .tick_ps = tick,
                              .memory_limit = x->device->memory_limit,
                              .empty = x->options.empty != 0,
                              .pooled = x->options.pool != NULL && e->io.pooled_bytes > 0,
                              .slots = x->options.in_flight};
  FS_TRY(fs_new_zero(&x->arena, &e->slot, x->options.in_flight));
  for (uint32_t i = 0; i < x->options.in_flight; i++) {
    fs_exec_slot *slot = &e->slot[i];
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

static fs_status make_entry(fsched_context *ctx, const fsched_program *program, fsched_entry *e,
                            fs_state **states) {
  fsched_exec *x = e->exec;
  e->stream = &program->view;
  FS_TRY(fs_io_make(&x->arena, e->stream, &e->io));
  FS_TRY(index_names(&x->arena, e));
  joined *of;
  FS_TRY(fs_new(&x->arena, &of, e->io.n_states));
  FS_TRY(join_states(ctx, e, states, of));
  if (x->options.pool != NULL) {
    FS_TRY(fs_pool_check(ctx, x->options.pool, fsched_entry_bytes(e)));
  }
  FS_TRY(make_slots(ctx, e));
  FS_TRY(fs_known_number(e));
  return make_all_used(ctx, e, of);
}

/* Hands the entry and the states that were made for it over to the exec. */
static void keep_entry(fsched_entry *e, fs_state *states) {
  fsched_exec *x = e->exec;
  fs_state **end = &states;
  while (*end != NULL) {
    end = &(*end)->next;
  }
  pthread_mutex_lock(&x->lock);
  *end = x->states;
  x->states = states;
  e->next = x->entries;
  x->entries = e;
  if (x->options.pool != NULL) {
    fs_pool_expect(x->options.pool, fsched_entry_bytes(e));
  }
  pthread_mutex_unlock(&x->lock);
}

/* After a failure all is as it was before, memory included. */
static fs_status load(fsched_context *ctx, fsched_exec *x, const fsched_program *program,
                      fsched_entry **out) {
  fs_arena_mark before = fs_arena_set_mark(&x->arena);
  fs_state *states = NULL;
  fsched_entry *e;
  FS_TRY(fs_new_zero(&x->arena, &e, 1));
  e->exec = x;
  fs_status status = make_entry(ctx, program, e, &states);
  if (status != FSCHED_OK) {
    destroy_slots(e);
    drop_states(x, states);
    fs_arena_reset(&x->arena, before);
    return status;
  }
  keep_entry(e, states);
  *out = e;
  return FSCHED_OK;
}

fsched_status fsched_exec_load(fsched_context *ctx, fsched_exec *exec,
                               const fsched_program *program, fsched_entry **out) {
  *out = NULL;
  FS_TRY(fs_refuse_inherited(ctx, exec->birth));
  if (exec->options.verify) {
    FS_TRY(fsched_verify_program(ctx, program, NULL));
  }
  pthread_mutex_lock(
      &exec->loading); /* not `lock`: a load may take long, and calls the user's functions */
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

const uint8_t *fs_entry_kept_state(const fsched_entry *e, uint32_t buffer) {
  assert(buffer < e->stream->n_buffers);
  return e->state[e->io.kept[e->kept_item[buffer]].state];
}

/* A use of state from outside takes its turn among the invocations with state. */
typedef struct state_use {
  fsched_context *ctx;
  const char *name;
  uint64_t bytes;
  void *to;         /* NULL: the state is written */
  const void *from; /* NULL: the state is read */
} state_use;

static fs_status check_state(const state_use *use, const fsched_exec *x, fs_state **out) {
  fs_state *state = find_state(x->states, use->name == NULL ? "" : use->name);
  if (state == NULL) {
    return fs_fail(use->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL, "there is no state '%s'",
                   use->name == NULL ? "" : use->name);
  }
  if (state->size != use->bytes) {
    return fs_fail(use->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "state '%s' has %llu bytes, not %llu", use->name,
                   (unsigned long long)state->size, (unsigned long long)use->bytes);
  }
  *out = state;
  return FSCHED_OK;
}

static fs_status use_state(fsched_exec *x, const state_use *use) {
  fs_state *state;
  FS_TRY(fs_refuse_inherited(use->ctx, x->birth));
  pthread_mutex_lock(&x->lock);
  fs_status status = check_state(use, x, &state);
  if (status != FSCHED_OK) {
    pthread_mutex_unlock(&x->lock);
    return status;
  }
  uint64_t turn = x->turns++;
  if (x->turn != turn) {
    pthread_mutex_unlock(&x->lock);
    fs_steps_help();
    pthread_mutex_lock(&x->lock);
  }
  while (x->turn != turn) {
    pthread_cond_wait(&x->quiet, &x->lock);
  }
  if (make_state(x, state, 0, use->bytes) != FSCHED_OK) {
    status = fs_no_memory(use->ctx, sizeof(fs_byte_range));
  } else if (use->bytes > 0) {
    memcpy(use->to != NULL ? use->to : state->bytes, use->to != NULL ? state->bytes : use->from,
           (size_t)use->bytes);
  }
  x->turn++;
  pthread_cond_broadcast(&x->quiet);
  fs_exec_pump(x);
  return status;
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
  if (fs_process_inherited(exec->birth)) {
    return;
  }
  pthread_mutex_lock(&exec->lock);
  exec->state_cause = exec->first_cause = FSCHED_CAUSE_NONE;
  exec->last_cause = FSCHED_CAUSE_NONE;
  exec->failure[0] = '\0';
  pthread_mutex_unlock(&exec->lock);
}

/* Waiting */

/* Under the lock: reports what the device knows of a slot that does not move, and copies the first
 * line of that to *what, unless NULL. */
static void explain_slot(fsched_context *ctx, const fsched_exec *x, const fs_exec_slot *slot,
                         char *what, size_t room) {
  uint32_t first = fsched_diag_count(ctx);
  x->device->backend->report(slot->instance, ctx);
  bool said = fsched_diag_count(ctx) > first;
  if (what != NULL) {
    (void)snprintf(what, room, "%s",
                   said ? fsched_diag_get(ctx, first)->message : "it made no progress");
  }
}

/* Under the lock: reports and poisons a slot that is stuck, once. */
static void watch_slot(fsched_context *ctx, fsched_exec *x, fs_exec_slot *slot, uint64_t stuck_ns) {
  const fs_backend *backend = x->device->backend;
  bool idle = false;
  uint64_t moves = backend->progress(slot->instance, &idle);
  if (fs_watch_stuck(&slot->watch, moves, idle, fs_now_ns(), stuck_ns)) {
    bool first = x->first_cause == FSCHED_CAUSE_NONE;
    explain_slot(ctx, x, slot, first ? x->failure : NULL, sizeof x->failure);
    x->first_cause = first ? FSCHED_CAUSE_TIMEOUT : x->first_cause;
    backend->poison(slot->instance, FSCHED_CAUSE_TIMEOUT);
    slot->watch = (fs_watch){0};
    slot->stuck = true;
  }
}

/* The name of an input that an op reads and whose fence is not reached. */
static const char *open_input(const fs_invocation *v) {
  for (uint32_t i = 0; i < v->n_bound; i++) {
    const fs_bound *b = &v->bound[i];
    if (b->waits && b->item != FS_NONE) {
      return fs_stream_string(v->entry->stream, v->entry->stream->buffers[b->buffer].name);
    }
  }
  return "";
}

/* Under the lock: while no invocation works, one that waits for inputs depends on others to signal.
 * The first one is reported when it is stuck, as a running one would be. */
static void watch_early(fsched_context *ctx, fsched_exec *x, uint64_t stuck_ns) {
  fs_invocation *v = x->early.first;
  bool idle = v != NULL && x->n_working == x->n_lost;
  if (fs_watch_stuck(&x->watch, x->moves, idle, fs_now_ns(), stuck_ns)) {
    char what[sizeof x->failure];
    (void)snprintf(what, sizeof what,
                   "an invocation has not started: it waits for the content of '%.200s', whose "
                   "fence has not been signalled",
                   open_input(v));
    fs_report(ctx, FSCHED_ERROR, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL, "%s", what);
    if (x->first_cause == FSCHED_CAUSE_NONE) {
      x->first_cause = FSCHED_CAUSE_TIMEOUT;
      (void)snprintf(x->failure, sizeof x->failure, "%s", what);
    }
    v->cause = v->cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_TIMEOUT : v->cause;
    fs_exec_line_up(v);
    x->watch = (fs_watch){0};
  }
}

/* Under the lock: finds a slot in which only kernels that do not return are left; or NULL. */
static fs_exec_slot *find_lost(fsched_exec *x) {
  for (fsched_entry *e = x->entries; e != NULL && x->device->backend->give_up != NULL;
       e = e->next) {
    for (uint32_t i = 0; i < e->n_slots; i++) {
      fs_exec_slot *slot = &e->slot[i];
      if (slot->running != NULL && slot->stuck && x->device->backend->give_up(slot->instance)) {
        return slot;
      }
    }
  }
  return NULL;
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
  for (fs_exec_slot *slot; (slot = find_lost(x)) != NULL;) {
    fs_exec_lose(x, slot);
    pthread_mutex_lock(&x->lock);
  }
  watch_early(ctx, x, stuck_ns);
  fs_exec_pump(x);
}

/* How long to wait between two looks. */
static uint64_t slice_of(uint64_t stuck_ns) { return fs_min(look_ns, stuck_ns / 4 + 1); }

void fs_exec_close(fsched_context *ctx, fsched_exec *exec, uint64_t stuck_ns) {
  fs_exec_cancel_all(exec);
  while (!fs_exec_await_quiet(exec, slice_of(stuck_ns))) {
    watch_all(ctx, exec, stuck_ns);
  }
}

size_t fsched_exec_failure(fsched_exec *exec, char *text, size_t room) {
  if (fs_process_inherited(exec->birth)) {
    (void)snprintf(text, room, "%s", "");
    return 0;
  }
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

/* Reports a failed fence.  The text is that of the last kernel or device that failed with this
 * cause, else that of the exec's first failure, if its cause is the same. */
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

/* Reports a timeout without a failure: the stages of the invocations, and what running ones that do
 * not move wait for. */
static fs_status report_timeout(fsched_context *ctx, fsched_exec *x, uint64_t timeout_ns) {
  uint64_t n[FS_DONE + 1] = {0}, early = 0;
  pthread_mutex_lock(&x->lock);
  for (const fs_invocation *v = x->all; v != NULL; v = v->next) {
    bool inputs = v->list == &x->early;
    early += inputs;
    n[v->stage] += !inputs;
  }
  fs_report(
      ctx, FSCHED_ERROR, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
      "the fence was not reached within %llu ms; invocations that wait for their fence: %llu, "
      "for an earlier one with state: %llu, for inputs of theirs: %llu, for a slot: %llu, for "
      "memory: %llu; that run: %llu",
      (unsigned long long)(timeout_ns / 1000000), (unsigned long long)n[FS_WAITING],
      (unsigned long long)n[FS_ORDERED], (unsigned long long)early, (unsigned long long)n[FS_READY],
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
static fsched_cause look_at_fence(fsched_fence *fence, uint64_t timeout_ns, bool *late) {
  fsched_cause cause = fsched_fence_wait(fence, timeout_ns);
  *late = cause == FSCHED_CAUSE_TIMEOUT && fs_fence_failed(fence) == FSCHED_CAUSE_NONE;
  return cause;
}

fsched_status fsched_exec_wait(fsched_context *ctx, fsched_exec *exec, fsched_fence *fence,
                               uint64_t timeout_ns, uint64_t stuck_ns, fsched_cause *cause) {
  if (cause != NULL) {
    *cause = FSCHED_CAUSE_SYSTEM;
  }
  FS_TRY(fs_refuse_inherited(ctx, exec->birth));
  uint64_t begin = fs_now_ns(), passed = 0;
  uint32_t errors = fsched_diag_errors(ctx);
  fsched_cause now;
  bool late;
  do {
    uint64_t slice = fs_min(slice_of(stuck_ns), timeout_ns - passed);
    now = look_at_fence(fence, slice, &late);
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
  if (fsched_diag_errors(ctx) > errors) { /* the watch has reported that it is stuck */
    return FSCHED_REPLAY;
  }
  return late ? report_timeout(ctx, exec, timeout_ns) : report_failure(ctx, exec, now);
}
