/* SPDX-License-Identifier: Apache-2.0 */
/* The run time's creation and release, and the runs. */
#include "base/mem.h"
#include "base/saturate.h"
#include "exec/dynamic/calls/private.h"

/* Of each heap, where no memory of the target is bounded. */
#define HEAP_BYTES ((uint64_t)64 << 20)

static fs_status copy_text(fsched_dynamic *d, const char **text) {
  if (*text != NULL) {
    *text = fs_arena_strndup(&d->arena, *text, strlen(*text));
    return *text == NULL ? FSCHED_SYSTEM : FSCHED_OK;
  }
  return FSCHED_OK;
}

static fs_status take_options(fsched_dynamic *d, const fsched_dynamic_options *options) {
  if (options != NULL && options->size < sizeof options->size) {
    return fs_fail(d->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                   "set it to the sizeof of the struct",
                   "'size' of fsched_dynamic_options is %zu, at least %zu is needed", options->size,
                   sizeof options->size);
  }
  if (options != NULL) {
    memcpy(&d->options, options,
           options->size < sizeof d->options ? options->size : sizeof d->options);
  }
  FS_TRY(copy_text(d, &d->options.worker));
  return copy_text(d, &d->options.modules);
}

static fs_status list_queues(fsched_dynamic *d) {
  const fsched_builder *b = fs_submit_target(d->s);
  d->n_queues = fs_names_count(fs_builder_names(b, FS_KIND_QUEUE));
  if (d->n_queues == 0) {
    return fs_fail(d->ctx, FSCHED_BAD_INPUT, FS_DIAG_NO_QUEUE, FS_NOWHERE,
                   "describe queues with fsched_builder_queue",
                   "a dynamic run has a worker for each queue, and the target has none");
  }
  FS_TRY(fs_new(&d->arena, &d->class_of, d->n_queues));
  FS_TRY(fs_new(&d->arena, &d->host, d->n_queues));
  for (uint32_t q = 0; q < d->n_queues; q++) {
    uint32_t first = 0;
    while (fs_builder_class_of(b, first) != fs_builder_class_of(b, q)) {
      first++;
    }
    d->class_of[q] = first;
    d->host[q] = fs_builder_queue_of_host(b, q);
  }
  return FSCHED_OK;
}

fsched_status fsched_dynamic_create(fsched_builder *target, const fsched_dynamic_options *options,
                                    fsched_dynamic **out) {
  fsched_context *ctx = fs_builder_context(target);
  fsched_submitter *s;
  *out = NULL;
  FS_TRY(fsched_submit_create(target, &s));
  fsched_dynamic *d = fs_realloc(ctx, NULL, 0, sizeof *d);
  if (d == NULL) {
    fsched_submit_destroy(s);
    return FSCHED_SYSTEM;
  }
  *d = (fsched_dynamic){.ctx = ctx, .s = s};
  fs_arena_init(&d->arena, ctx);
  d->sink = (fs_submit_sink){.user = d,
                             .callable = fs_call_add_callable,
                             .import = fs_call_add_import,
                             .alloc = fs_call_add_alloc,
                             .submit = fs_call_add_task};
  fs_submit_set_sink(s, &d->sink);
  fs_status status = take_options(d, options);
  status = status == FSCHED_OK ? list_queues(d) : status;
  d->has_watching = pthread_mutex_init(&d->watching, NULL) == 0;
  if (status == FSCHED_OK && !d->has_watching) {
    status = fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL, "no lock could be made");
  }
  if (status != FSCHED_OK) {
    fsched_dynamic_destroy(d);
    return status;
  }
  *out = d;
  return FSCHED_OK;
}

void fsched_dynamic_destroy(fsched_dynamic *d) {
  if (d == NULL) {
    return;
  }
  fsched_context *ctx = d->ctx;
  fs_workers_destroy(d->workers);
  if (d->has_watching) {
    (void)pthread_mutex_destroy(&d->watching);
  }
  fsched_submit_destroy(d->s);
  fs_vec_free(ctx, &d->kernel);
  fs_vec_free(ctx, &d->callable);
  fs_vec_free(ctx, &d->use);
  fs_vec_free(ctx, &d->scratch);
  fs_vec_free(ctx, &d->buffer);
  fs_vec_free(ctx, &d->task);
  fs_vec_free(ctx, &d->arg);
  fs_vec_free(ctx, &d->member);
  fs_vec_free(ctx, &d->value);
  fs_vec_free(ctx, &d->predecessor);
  fs_arena_release(&d->arena);
  (void)fs_realloc(ctx, d, sizeof *d, 0);
}

/* The room of each heap: that of all bounded memories, aligned as the target's memories are. */
static fs_heap_room heap_room(const fsched_dynamic *d) {
  const fsched_builder *b = fs_submit_target(d->s);
  fs_heap_room room = {.align = FS_HEAP_ALIGN};
  bool bounded = false;
  for (uint32_t m = 0; m < fs_names_count(fs_builder_names(b, FS_KIND_MEMORY)); m++) {
    room.align = fs_max(room.align, fs_builder_memory_align(b, m));
    if (fs_builder_memory_bounded(b, m)) {
      room.size = fs_add_most(room.size, fs_builder_memory_capacity(b, m));
      bounded = true;
    }
  }
  room.size = d->options.heap_bytes > 0 ? d->options.heap_bytes : bounded ? room.size : HEAP_BYTES;
  room.size = fs_heap_rounded(fs_min(room.size, FSCHED_MAX_SIZE), room.align);
  return room;
}

static fs_status list_capacities(fsched_dynamic *d, uint32_t n, uint64_t **out) {
  FS_TRY(fs_new(&d->arena, out, (size_t)n + 1));
  for (uint32_t r = 0; r < n; r++) {
    (*out)[r] = fs_builder_resource_capacity(fs_submit_target(d->s), r);
  }
  return FSCHED_OK;
}

static fs_status start_workers(fsched_dynamic *d) {
  const fsched_builder *b = fs_submit_target(d->s);
  uint32_t n_resources = fs_names_count(fs_builder_names(b, FS_KIND_RESOURCE));
  uint64_t *capacity;
  fs_heap_room room = heap_room(d);
  const fs_heap_room heap[FS_HEAP_RINGS] = {room, room, room, room};
  FS_TRY(list_capacities(d, n_resources, &capacity));
  fs_workers_options o = {
      .n_kernels = (uint32_t)d->kernel.n,
      .kernel = d->kernel.at,
      .kind = d->options.processes ? FS_WORKERS_PROCESSES : FS_WORKERS_THREADS,
      .host = d->host,
      .traces = d->options.trace != 0,
      .shared_size = d->options.memory_bytes,
      .process = {.spawns = d->options.spawn != 0, .program = d->options.worker}};
  o.engine = (fs_dynamic_options){
      .n_queues = d->n_queues,
      .class_of = d->class_of,
      .queue_name = (const char *const *)fs_builder_names(b, FS_KIND_QUEUE)->text.at,
      .heap = heap,
      .n_resources = n_resources,
      .capacity = capacity,
      .concurrency = fs_builder_limit_of_ops(b),
      .timeout = d->options.timeout_ns,
      .hazards = fs_builder_data_only(b) ? FSCHED_HAZARDS_RAW : FSCHED_HAZARDS_SEQUENTIAL,
      .undefined = true}; /* the submitter knows what is written */
  return fs_workers_create(d->ctx, &o, &d->workers);
}

fsched_status fsched_dynamic_open(fsched_dynamic *d) {
  if (d->workers == NULL) {
    return start_workers(d);
  }
  FS_TRY(fs_workers_open(d->workers));
  for (size_t i = 0; i < d->buffer.n; i++) {
    fs_status forgotten = fs_workers_forget(d->workers, d->buffer.at[i].buffer);
    assert(forgotten == FSCHED_OK);
    (void)forgotten;
  }
  d->buffer.n = d->task.n = 0;
  fs_submit_renew(d->s);
  return FSCHED_OK;
}

bool fs_call_of_host(const fsched_dynamic *d, const char *on) {
  const fsched_builder *b = fs_submit_target(d->s);
  uint32_t queue = fs_names_find(fs_builder_names(b, FS_KIND_QUEUE), on, strlen(on));
  uint32_t class_ = fs_names_find(fs_builder_names(b, FS_KIND_CLASS), on, strlen(on));
  bool all = true;
  for (uint32_t q = 0; q < d->n_queues; q++) {
    bool meant = queue == FS_NONE ? fs_builder_class_of(b, q) == class_ : q == queue;
    all = all && (!meant || d->host[q]);
  }
  return all;
}

fs_status fs_call_check_run(fsched_dynamic *d) {
  return d->workers != NULL ? FSCHED_OK : fs_call_error(d, FSCHED_USAGE, CALL, "no run was opened");
}

fs_status fs_call_accept(fsched_dynamic *d) {
  FS_TRY(fs_call_check_run(d));
  return fs_workers_accept(d->workers);
}

fsched_status fsched_dynamic_close(fsched_dynamic *d) {
  FS_TRY(fs_call_check_run(d));
  return fs_workers_close(d->workers);
}

fsched_status fsched_dynamic_drain(fsched_dynamic *d) {
  FS_TRY(fs_call_check_run(d));
  return fs_workers_drain(d->workers);
}

void fsched_dynamic_cancel(fsched_dynamic *d, const char *cause) {
  if (d->workers != NULL) {
    fs_workers_cancel(d->workers, cause == NULL ? "the run was cancelled" : cause);
  }
}

fsched_dynamic_state fsched_dynamic_run_state(fsched_dynamic *d) {
  if (d->workers == NULL) {
    return FSCHED_DYNAMIC_NONE;
  }
  switch (fs_workers_run_state(d->workers)) {
    case FS_RUN_OPEN:
      return FSCHED_DYNAMIC_OPEN;
    case FS_RUN_CLOSED:
      return FSCHED_DYNAMIC_CLOSED;
    case FS_RUN_FAILING:
      return FSCHED_DYNAMIC_FAILING;
    case FS_RUN_DONE:
      return FSCHED_DYNAMIC_DONE;
    case FS_RUN_FAILED:
      return FSCHED_DYNAMIC_FAILED;
  }
  return FSCHED_DYNAMIC_NONE;
}

const char *fsched_dynamic_run_cause(fsched_dynamic *d) {
  return d->workers == NULL ? NULL : fs_workers_run_cause(d->workers);
}
