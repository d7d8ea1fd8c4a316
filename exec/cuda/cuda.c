/* SPDX-License-Identifier: Apache-2.0 */
/* The back ends "cuda" and "cuda-graph". */
#include "exec/cuda/cuda.h"
#include "exec/cuda/loops/unroll.h"

#include <stdio.h>

#include "base/clock.h"

/* The machine */

static fs_status copy_directory(fsched_context *ctx, fs_machine *m,
                                const fsched_device_options *options) {
  m->rule = fs_module_rule_of(options);
  size_t known = fs_min(options->size, sizeof m->options);
  memcpy(&m->options, options, known);
  int n = snprintf(m->modules, sizeof m->modules, "%s", m->rule.directory);
  m->rule.directory = m->modules;
  m->options.modules = options->modules == NULL ? NULL : m->modules;
  m->options.driver = NULL;
  return n >= 0 && (size_t)n < sizeof m->modules
             ? FSCHED_OK
             : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_DEVICE, FS_NOWHERE, NULL,
                       "the path of the modules' directory is too long");
}

static fs_status open_machine(fsched_context *ctx, fs_machine *m,
                              const fsched_device_options *options) {
  fs_cuda_where where = {.driver = options->driver, .ordinal = options->ordinal};
  FS_TRY(copy_directory(ctx, m, options));
  if (pthread_mutex_init(&m->lock, NULL) != 0) {
    return fs_no_memory(ctx, sizeof m->lock);
  }
  fs_status status = fs_cuda_device_open(ctx, &where, &m->device);
  if (status != FSCHED_OK) {
    (void)pthread_mutex_destroy(&m->lock);
    return status;
  }
  const fs_cuda *d = &m->device.cuda;
  (void)snprintf(m->note, sizeof m->note, "%s, compute capability %d.%d, driver for CUDA %d.%d",
                 d->name, d->capability / 10, d->capability % 10, d->version / 1000,
                 d->version % 1000 / 10);
  return FSCHED_OK;
}

static fs_status cuda_open(fsched_context *ctx, const fsched_device_options *options,
                           fs_machine **out) {
  fs_allocator a = fs_allocator_of(ctx);
  fs_machine *m = fs_allocator_new(a, sizeof *m);
  if (m == NULL) {
    return fs_no_memory(ctx, sizeof *m);
  }
  memset(m, 0, sizeof *m);
  m->allocator = a;
  fs_status status = open_machine(ctx, m, options);
  if (status != FSCHED_OK) {
    fs_allocator_free(a, m, sizeof *m);
    return status;
  }
  *out = m;
  return FSCHED_OK;
}

static void cuda_close(fs_machine *m) {
  if (atomic_load(&m->lost) != 0) {
    return;
  }
  assert(m->programs == NULL);
  fs_cuda_device_close(&m->device);
  (void)pthread_mutex_destroy(&m->lock);
  fs_allocator_free(m->allocator, m, sizeof *m);
}

static const char *cuda_describe(const fs_machine *m) { return m->note; }

static fs_status take_pool(fsched_context *ctx, const fs_cuda *d, uint64_t bytes, void **out) {
  fs_cu_address address = 0;
  fs_cu_result result = d->api.cuMemAlloc(&address, fs_max(bytes, 1));
  if (result == FS_CU_OUT_OF_MEMORY) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE, NULL,
                   "%s refuses a pool of %llu bytes", d->name, (unsigned long long)bytes);
  }
  *out = (void *)(uintptr_t)address;
  return result == FS_CU_SUCCESS ? FSCHED_OK : fs_cuda_fail(ctx, d, "cuMemAlloc", result);
}

/* Refuses a device that has lost a kernel: any allocation may wait for that kernel for ever. */
static fs_status refuse_lost(fsched_context *ctx, const fs_machine *m) {
  return atomic_load(&m->lost) == 0
             ? FSCHED_OK
             : fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_DEVICE, FS_NOWHERE, NULL,
                       "%s takes nothing new, as a kernel that does not return was given up there",
                       m->device.cuda.name);
}

static fs_status cuda_take(fsched_context *ctx, fs_machine *m, uint64_t bytes, void **out) {
  const fs_cuda *d = &m->device.cuda;
  FS_TRY(refuse_lost(ctx, m));
  FS_TRY(fs_cuda_enter(ctx, d));
  fs_status status = take_pool(ctx, d, bytes, out);
  fs_cuda_leave(d);
  return status;
}

static void cuda_give(fs_machine *m, void *memory, uint64_t bytes) {
  const fs_cuda *d = &m->device.cuda;
  (void)bytes;
  if (memory != NULL && atomic_load(&m->lost) == 0 && fs_cuda_enter_again(d)) {
    (void)d->api.cuMemFree((fs_cu_address)(uintptr_t)memory);
    fs_cuda_leave(d);
  }
}

/* Instances */

/* Releases the instance's part of the device, unless that would wait for ever. */
static void give_back(fs_instance *x) {
  const fs_cuda *d = &x->machine->device.cuda;
  bool lost = atomic_load(&x->machine->lost) != 0, entered = !lost && fs_cuda_enter_again(d);
  if (!lost) {
    fs_cuda_slot_release(x);
  }
  fs_cuda_program_give(x->program);
  if (entered) {
    fs_cuda_leave(d);
  }
}

static void cuda_destroy(fs_instance *x) {
  if (x == NULL) {
    return;
  }
  if (atomic_load(&x->hold) == FS_CUDA_LOST) {
    fs_cuda_program_lose(x->program);
    return;
  }
  if (x->started) {
    atomic_store(&x->stop, 1);
    fs_cuda_wake(x);
    (void)pthread_join(x->thread, NULL);
  }
  fs_cuda_threads_end(x);
  if (x->program != NULL) {
    give_back(x);
  }
  fs_arena arena = x->arena; /* the arena holds x itself */
  fs_arena_release(&arena);
}

/* The failure that was met while the first invocation was built ahead. */
typedef struct trial {
  char text[200];
} trial;

static void trial_failed(void *user, fsched_cause cause, const char *what) {
  (void)cause;
  (void)snprintf(((trial *)user)->text, sizeof((trial *)user)->text, "%s", what);
}

/* Builds the usual invocation, so that the first one finds it built.  With a pool that is not
 * possible, since the memory is not known yet. */
static fs_status build_ahead(fsched_context *ctx, fs_instance *x) {
  trial t = {""};
  fs_work work = {.failed = trial_failed, .user = &t};
  if (x->config.pooled) {
    return FSCHED_OK;
  }
  x->work = &work;
  bool built = fs_cuda_build_for(x);
  x->work = NULL;
  return built ? FSCHED_OK
               : fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_DEVICE, FS_NOWHERE, NULL, "%s", t.text);
}

static fs_status make_instance(fsched_context *ctx, fs_instance *x) {
  FS_TRY(fs_cuda_program_get(ctx, x->machine, x->s, x->io,
                             (fs_cuda_kind){.empty = x->config.empty, .graph = x->graph},
                             &x->program));
  FS_TRY(fs_cuda_slot_make(ctx, x));
  FS_TRY(build_ahead(ctx, x));
  FS_TRY(fs_cuda_threads_begin(ctx, x));
  int error = pthread_create(&x->thread, NULL, fs_cuda_worker, x);
  x->started = error == 0;
  return error == 0 ? FSCHED_OK
                    : fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                              "the thread of a slot could not be started: %s", strerror(error));
}

static fs_status prepare_instance(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                                  const fs_stream *s, const fs_io *io,
                                  const fs_backend_config *config, bool graph, fs_instance **out) {
  fs_arena arena;
  fs_instance *x;
  fs_arena_init(&arena, own);
  FS_TRY(fs_new_zero(&arena, &x, 1));
  x->own = own;
  x->s = s;
  x->io = io;
  x->machine = machine;
  x->config = *config;
  x->graph = graph;
  x->arena = arena;
  atomic_init(&x->waits_item, FS_NONE);
  atomic_init(&x->waits_given, FS_NONE);
  const fs_cuda *d = &machine->device.cuda;
  fs_status status = refuse_lost(ctx, machine);
  status = status == FSCHED_OK ? fs_cuda_enter(ctx, d) : status;
  if (status == FSCHED_OK) {
    status = make_instance(ctx, x);
    fs_cuda_leave(d);
  }
  if (status != FSCHED_OK) {
    cuda_destroy(x);
    return status;
  }
  *out = x;
  return FSCHED_OK;
}

static fs_status prepare_streams(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                                 const fs_stream *s, const fs_io *io,
                                 const fs_backend_config *config, fs_instance **out) {
  return prepare_instance(ctx, own, machine, s, io, config, false, out);
}

static fs_status prepare_graph(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                               const fs_stream *s, const fs_io *io, const fs_backend_config *config,
                               fs_instance **out) {
  FS_TRY(fs_cuda_unroll_check(ctx, s));
  return prepare_instance(ctx, own, machine, s, io, config, true, out);
}

static void cuda_start(fs_instance *x, const fs_work *work) {
  x->work = work;
  atomic_store(&x->poisoned, 0);
  atomic_store(&x->cause, FSCHED_CAUSE_NONE);
  for (uint32_t i = 0; i < x->io->n_given; i++) {
    atomic_store_explicit(&x->given_ready[i], work->late == NULL || !work->late[i],
                          memory_order_relaxed);
  }
  atomic_store(&x->begin_ns, fs_now_ns());
  atomic_fetch_add(&x->go, 1);
  fs_cuda_wake(x);
}

static void cuda_ready(fs_instance *x, uint32_t item) {
  atomic_store(&x->given_ready[item], 1);
  fs_cuda_wake(x);
}

/* Reports kernels that hang, or else a command whose content is late. */
static void cuda_report(fs_instance *x, fsched_context *ctx) {
  const fs_stream *s = x->s;
  if (fs_cuda_report_hanging(x, ctx)) {
    return;
  }
  uint32_t given = atomic_load(&x->waits_given), item = atomic_load(&x->waits_item);
  if (given == FS_NONE) {
    return;
  }
  const char *content = fs_stream_string(s, s->buffers[x->io->given[given].buffer].name);
  if (item == FS_NONE) {
    fs_report(ctx, FSCHED_ERROR, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
              "the invocation cannot end: it waits for the content of '%s', whose fence has not "
              "been signalled",
              content);
    return;
  }
  uint32_t command = x->program->plan.item[item].command, queue = 0;
  const fs_stream_command *c = &s->commands[command];
  while (command - s->queues[queue].command0 >= s->queues[queue].n_commands) {
    queue++;
  }
  fs_report(ctx, FSCHED_ERROR, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
            "queue '%s' is stuck at command %u (%s '%s'): it waits for the content of '%s', whose "
            "fence has not been signalled",
            fs_stream_string(s, s->queues[queue].name), c->epoch, fs_words_target[c->kind],
            fs_command_target_name(s, c), content);
}

const fs_backend fs_backend_cuda = {.open = cuda_open,
                                    .close = cuda_close,
                                    .describe = cuda_describe,
                                    .take = cuda_take,
                                    .give = cuda_give,
                                    .prepare = prepare_streams,
                                    .start = cuda_start,
                                    .ready = cuda_ready,
                                    .poison = fs_cuda_poison,
                                    .progress = fs_cuda_progress,
                                    .report = cuda_report,
                                    .give_up = fs_cuda_give_up,
                                    .destroy = cuda_destroy};

const fs_backend fs_backend_cuda_graph = {.open = cuda_open,
                                          .close = cuda_close,
                                          .describe = cuda_describe,
                                          .take = cuda_take,
                                          .give = cuda_give,
                                          .prepare = prepare_graph,
                                          .start = cuda_start,
                                          .ready = cuda_ready,
                                          .poison = fs_cuda_poison,
                                          .progress = fs_cuda_progress,
                                          .report = cuda_report,
                                          .give_up = fs_cuda_give_up,
                                          .destroy = cuda_destroy};
