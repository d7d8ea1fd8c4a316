/* SPDX-License-Identifier: Apache-2.0 */
/* A slot's memory, streams and events.
 *
 * One block of the device's memory holds the memories at their compiled offsets, unless a pool
 * gives that block; a small block holds the calls of the built-in kernels and the digests.  One
 * block of pinned host memory holds the stores and all data that go to the device or come from it.
 * No memory is taken or given back in the course of an invocation, since that would wait for the
 * device. */
#include "base/text/ticks.h"
#include "exec/cuda/cuda.h"
#include "exec/cuda/views.h"
#include "exec/host/memories.h"

typedef struct sizes {
  uint64_t at;
} sizes;

/* Reserves room in a block; its size saturates at more than any machine has. */
static uint64_t room(sizes *s, uint64_t bytes) {
  uint64_t at = s->at, limit = UINT64_MAX / 4;
  s->at = fs_min(at + fs_align_up(fs_min(bytes, limit), FS_IO_ALIGN), limit);
  return at;
}

/* The bytes of the call of a command, at the most. */
static uint64_t call_bytes(const fs_stream *s, const fs_stream_command *c) {
  const fs_stream_op *op = &s->ops[c->target];
  fs_stream_member args = {op->arg0, op->n_args};
  return sizeof(fs_cuda_call) + ((uint64_t)op->n_args + c->n_places) * sizeof(fs_cuda_arg) +
         (uint64_t)fs_cuda_count_views(s, (fs_cuda_args){args.arg0, args.n_args, false}) *
             sizeof(fs_cuda_view);
}

static fs_status lay_out(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  const fs_io *io = x->io;
  sizes aux = {0}, pinned = {0};
  FS_TRY(fs_new(&x->arena, &x->call, plan->n_items));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    const fs_stream_command *c = &x->s->commands[plan->item[i].command];
    bool loop = fs_cuda_is_loop(x, plan->item[i].command);
    bool run = fs_command_has_op(c) && !x->config.empty && !loop && !fs_cuda_is_host(x, i);
    x->call[i] = run ? room(&aux, call_bytes(x->s, c)) : UINT64_MAX;
  }
  uint64_t unrolled = x->config.empty ? 0 : x->loops.n_calls;
  uint64_t aux_calls = room(&aux, unrolled * x->loops.call_bytes);
  x->digests = room(&aux, (x->s->n_ops + x->loops.n_calls + x->s->n_members) * 8);
  x->aux_bytes = aux.at;
  (void)room(&pinned, x->config.empty ? 0 : io->store_bytes);
  x->threads.words = room(&pinned, fs_cuda_threads_bytes(x));
  x->staged_aux = room(&pinned, aux.at);
  x->loops.calls = room(&pinned, x->loops.n_records * x->loops.call_bytes);
  x->loops.digests = room(&pinned, x->loops.n_records * sizeof(uint64_t));
  if (x->graph) {
    x->loops.calls = aux_calls;
    x->loops.digests = x->digests + (uint64_t)x->s->n_ops * 8;
  }
  FS_TRY(fs_new(&x->arena, &x->staged_given, io->n_given));
  FS_TRY(fs_new(&x->arena, &x->staged_kept, io->n_kept));
  for (uint32_t i = 0; i < io->n_given && !x->config.empty; i++) {
    x->staged_given[i] = io->store[io->given[i].memory] ? 0 : room(&pinned, io->given[i].size);
  }
  for (uint32_t i = 0; i < io->n_kept && !x->config.empty; i++) {
    x->staged_kept[i] = io->store[io->kept[i].memory] ? 0 : room(&pinned, io->kept[i].size);
  }
  x->pinned_bytes = pinned.at;
  x->block_bytes = x->config.empty || x->config.pooled ? 0 : io->pooled_bytes;
  return FSCHED_OK;
}

static fs_status refuse_memory(fsched_context *ctx, const fs_instance *x, const char *what,
                               uint64_t bytes) {
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE, NULL,
                 "%s refuses %llu bytes of %s", x->machine->device.cuda.name,
                 (unsigned long long)bytes, what);
}

static fs_status take_device(fsched_context *ctx, const fs_instance *x, uint64_t bytes,
                             fs_cu_address *out) {
  const fs_cuda *d = &x->machine->device.cuda;
  if (bytes == 0) {
    return FSCHED_OK;
  }
  fs_cu_result result = d->api.cuMemAlloc(out, bytes);
  if (result == FS_CU_OUT_OF_MEMORY) {
    *out = 0;
    return refuse_memory(ctx, x, "its memory", bytes);
  }
  return result == FS_CU_SUCCESS ? FSCHED_OK : fs_cuda_fail(ctx, d, "cuMemAlloc", result);
}

static fs_status take_pinned(fsched_context *ctx, fs_instance *x) {
  const fs_cuda *d = &x->machine->device.cuda;
  void *bytes = NULL;
  if (x->pinned_bytes == 0) {
    return FSCHED_OK;
  }
  fs_cu_result result =
      d->api.cuMemHostAlloc(&bytes, x->pinned_bytes, FS_CU_HOST_PORTABLE | FS_CU_HOST_MAPPED);
  x->pinned = result == FS_CU_SUCCESS ? bytes : NULL;
  if (result == FS_CU_OUT_OF_MEMORY) {
    return refuse_memory(ctx, x, "pinned memory", x->pinned_bytes);
  }
  return result == FS_CU_SUCCESS ? FSCHED_OK : fs_cuda_fail(ctx, d, "cuMemHostAlloc", result);
}

static fs_status take_memory(fsched_context *ctx, fs_instance *x) {
  uint64_t need = x->config.empty ? 0 : x->io->store_bytes + x->block_bytes;
  if (need > x->config.memory_limit) {
    return fs_refuse_memory(ctx, "replay", need, x->config.memory_limit);
  }
  FS_TRY(fs_new_zero(&x->arena, &x->base, x->s->n_memories));
  FS_TRY(take_device(ctx, x, x->block_bytes, &x->block));
  FS_TRY(take_device(ctx, x, x->aux_bytes, &x->aux));
  return take_pinned(ctx, x);
}

static fs_status make_events(fsched_context *ctx, fs_instance *x, uint32_t n, fs_cu_event **out,
                             uint32_t *made) {
  FS_TRY(fs_new_zero(&x->arena, out, n));
  for (; *made < n; ++*made) {
    FS_CU_TRY(ctx, &x->machine->device.cuda, cuEventCreate,
              (&(*out)[*made], FS_CU_EVENT_NO_TIMING));
  }
  return FSCHED_OK;
}

static fs_status make_streams(fsched_context *ctx, fs_instance *x) {
  const fs_cuda *d = &x->machine->device.cuda;
  const fs_cuda_plan *plan = &x->program->plan;
  x->n_lanes = fs_cuda_count_lanes(x);
  x->loops.lane0 = x->n_lanes + 2;
  uint32_t n = fs_cuda_count_streams(x);
  FS_TRY(fs_new_zero(&x->arena, &x->lane, n));
  for (; x->n_streams < n; x->n_streams++) {
    FS_CU_TRY(ctx, d, cuStreamCreate, (&x->lane[x->n_streams], FS_CU_STREAM_NON_BLOCKING));
  }
  if (!x->graph) {
    FS_TRY(fs_new_zero(&x->arena, &x->given_waited, (size_t)x->io->n_given * plan->n_lanes));
    FS_TRY(make_events(ctx, x, x->io->n_given, &x->given_event, &x->n_given_events));
    FS_TRY(make_events(ctx, x, x->io->n_kept, &x->kept_event, &x->n_kept_events));
  }
  uint32_t n_events = x->graph ? x->loops.n_foreign : x->loops.n_records;
  uint32_t n_begun = x->program->watched ? n_events : 0;
  FS_TRY(make_events(ctx, x, n_events, &x->loops.event, &x->loops.n_events));
  FS_TRY(make_events(ctx, x, n_begun, &x->loops.begun, &x->loops.n_begun));
  if (!x->graph || x->program->watched) {
    FS_TRY(make_events(ctx, x, plan->n_events, &x->event, &x->n_events));
  }
  FS_CU_TRY(ctx, d, cuEventCreate, (&x->done, FS_CU_EVENT_NO_TIMING));
  return FSCHED_OK;
}

/* The words of an op's parameters, at the most. */
static uint64_t param_words(const fs_stream *s, const fs_stream_op *op) {
  fs_stream_member args = {op->arg0, op->n_args};
  return (uint64_t)op->n_args + 2 + fs_cuda_params_words(s, op->kernel) +
         (uint64_t)fs_cuda_count_views(s, (fs_cuda_args){args.arg0, args.n_args, false}) *
             FS_CUDA_VIEW_WORDS;
}

/* Makes the tables that the course of an invocation fills. */
static fs_status make_tables(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  uint64_t n_params = 0;
  for (uint32_t i = 0; i < plan->n_items; i++) {
    const fs_stream_command *c = &x->s->commands[plan->item[i].command];
    const fs_stream_op *op = fs_command_has_op(c) ? &x->s->ops[c->target] : NULL;
    n_params += op == NULL ? 0 : param_words(x->s, op);
  }
  FS_TRY(fs_new_zero(&x->arena, &x->todo, plan->n_items));
  FS_TRY(fs_new_zero(&x->arena, &x->param, n_params));
  FS_TRY(fs_new_zero(&x->arena, &x->params, n_params));
  FS_TRY(fs_new_zero(&x->arena, &x->values, x->s->n_args));
  FS_TRY(fs_new_zero(&x->arena, &x->issued, plan->n_items));
  FS_TRY(fs_new_zero(&x->arena, &x->kept_left, x->io->n_kept));
  FS_TRY(fs_new_zero(&x->arena, &x->kept_order, x->io->n_kept));
  FS_TRY(fs_new_zero(&x->arena, &x->given_there, x->io->n_given));
  FS_TRY(fs_new_zero(&x->arena, &x->given_made, x->io->n_given));
  FS_TRY(fs_new_zero(&x->arena, &x->given_ready, x->io->n_given));
  return fs_new_zero(&x->arena, &x->time, 2 * (size_t)plan->n_items + 1);
}

/* Computes how long each item is held back: as long as it was planned to take.  A loop is not; its
 * instances are. */
static fs_status make_paces(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  uint64_t pace = x->config.pace_ps;
  if (pace == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&x->arena, &x->pace, plan->n_items));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    const fs_stream_command *c = &x->s->commands[plan->item[i].command];
    uint64_t ticks = c->end > c->start ? c->end - c->start : 0;
    bool loop = fs_cuda_is_loop(x, plan->item[i].command);
    x->pace[i] = loop ? 0 : fs_min(fs_ticks_ns(ticks, pace), UINT64_MAX / 2);
  }
  return FSCHED_OK;
}

static fs_status make_watch(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  FS_TRY(fs_new_zero(&x->arena, &x->at, plan->n_lanes));
  FS_TRY(fs_new_zero(&x->arena, &x->over, plan->n_items));
  FS_TRY(make_paces(x));
  fs_cuda_watch_reset(x);
  return FSCHED_OK;
}

fs_status fs_cuda_slot_make(fsched_context *ctx, fs_instance *x) {
  FS_TRY(fs_cuda_loops_make(ctx, x));
  FS_TRY(fs_cuda_host_make(ctx, x));
  FS_TRY(fs_cuda_threads_make(x));
  FS_TRY(lay_out(x));
  FS_TRY(make_tables(x));
  FS_TRY(make_watch(x));
  FS_TRY(take_memory(ctx, x));
  fs_cuda_host_place(x);
  return make_streams(ctx, x);
}

static void drop_events(const fs_instance *x, fs_cu_event *event, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    (void)x->machine->device.cuda.api.cuEventDestroy(event[i]);
  }
}

/* The calls that free things wait for the device; whether they succeed does not matter any more. */
void fs_cuda_slot_release(fs_instance *x) {
  const fs_cuda_api *api = &x->machine->device.cuda.api;
  fs_cuda_graph_drop(x);
  for (uint32_t i = 0; i < x->n_streams; i++) {
    (void)api->cuStreamDestroy(x->lane[i]);
  }
  drop_events(x, x->event, x->n_events);
  drop_events(x, x->given_event, x->n_given_events);
  drop_events(x, x->kept_event, x->n_kept_events);
  drop_events(x, x->time, x->n_times);
  drop_events(x, x->loops.event, x->loops.n_events);
  drop_events(x, x->loops.begun, x->loops.n_begun);
  drop_events(x, x->loops.times.event, x->loops.times.n_events);
  if (x->done != NULL) {
    (void)api->cuEventDestroy(x->done);
  }
  if (x->block != 0) {
    (void)api->cuMemFree(x->block);
  }
  if (x->aux != 0) {
    (void)api->cuMemFree(x->aux);
  }
  if (x->pinned != NULL) {
    (void)api->cuMemFreeHost(x->pinned);
  }
  fs_cuda_host_release(x);
}
