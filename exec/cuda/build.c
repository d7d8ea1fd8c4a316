/* SPDX-License-Identifier: Apache-2.0 */
/* The launch parameters of kernels: addresses and values.
 *
 * A built-in kernel gets the address of its call, which is a record in the device's memory.  A
 * kernel of a module gets the op's args in order: a buffer as the address of the accessed bytes,
 * with the description of a strided view behind it, a value as 64 bits.  Calls do not depend on
 * where the pooled memories lie, so they are written again only when values differ; all other
 * parameters are also built again when the memories lie elsewhere. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/loops/times.h"
#include "exec/cuda/loops/unroll.h"
#include "exec/cuda/views.h"
#include "model/stream/views.h"

bool fs_cuda_ok(fs_instance *x, const char *call, fs_cu_result result) {
  if (result == FS_CU_SUCCESS) {
    return true;
  }
  if (!fs_cuda_poisoned(x) && x->work->failed != NULL) {
    char text[200];
    fs_cuda_describe(&x->machine->device.cuda, call, result, text, sizeof text);
    x->work->failed(x->work->user, FSCHED_CAUSE_SYSTEM, text);
  }
  fs_cuda_poison(x, FSCHED_CAUSE_SYSTEM);
  return false;
}

static int64_t value_of(const fs_instance *x, uint32_t arg) {
  return x->work->values == NULL ? x->s->args[arg].value : x->work->values[arg];
}

static void find_bases(fs_instance *x, fs_cu_address block) {
  for (uint32_t m = 0; m < x->s->n_memories; m++) {
    x->base[m] = x->io->store[m] ? (fs_cu_address)(uintptr_t)x->pinned : block;
  }
}

static fs_cuda_call *staged_call(const fs_instance *x, uint32_t item) {
  return (fs_cuda_call *)(void *)(x->pinned + x->staged_aux + x->call[item]);
}

static fs_builtin builtin_of(const fs_instance *x, const fs_stream_command *c) {
  uint32_t kernel = x->s->ops[c->target].kernel;
  return kernel == FS_NONE ? FS_BUILTIN_MIX : x->program->modules.kernel[kernel].builtin;
}

/* The offset in aux of the digest of a command: its op's, or its member's. */
static uint64_t digest_at(const fs_instance *x, uint32_t command) {
  const fs_stream_op *op = &x->s->ops[x->s->commands[command].target];
  uint64_t word = op->n_members == 0 ? x->s->commands[command].target
                                     : x->s->n_ops + x->loops.n_calls + op->member0 +
                                           fs_stream_member_of(x->s, command);
  return x->digests + word * 8;
}

/* The seed of a member with args of its own.  The first member spoils the scratch for all. */
static void make_member(const fs_instance *x, uint32_t command, fs_cuda_call *call) {
  uint32_t member = fs_stream_member_of(x->s, command);
  call->seed = fs_member_seed(call->seed, member);
  call->n_scratch = member == 0 ? call->n_scratch : 0;
}

/* Writes the record of an op's or member's call: its args, its scratch places, and the views. */
static void write_call(fs_instance *x, uint32_t item, const fs_stream_command *c) {
  const fs_stream_op *op = &x->s->ops[c->target];
  uint32_t command = (uint32_t)(c - x->s->commands);
  fs_stream_member own = fs_stream_args_of(x->s, command);
  fs_cuda_call *call = staged_call(x, item);
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  const fs_cuda_kernel *kernel =
      op->kernel == FS_NONE ? NULL : &x->program->modules.kernel[op->kernel];
  *call = (fs_cuda_call){.seed = fs_kernel_seed(fs_stream_string(x->s, op->name),
                                                kernel == NULL ? NULL : kernel->params,
                                                kernel == NULL ? 0 : kernel->n_params),
                         .digest = x->aux + digest_at(x, command),
                         .n_args = own.n_args,
                         .kernel = builtin_of(x, c)};
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_arg *a = &x->s->args[own.arg0 + i];
    arg[i] = (fs_cuda_arg){.value = (uint64_t)value_of(x, own.arg0 + i),
                           .reads = fs_tag_reads(a->tag),
                           .writes = fs_tag_writes(a->tag),
                           .has_value = !fs_tag_names_buffer(a->tag)};
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &x->s->places[i];
    fs_cuda_arg *to = NULL;
    if (fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg - own.arg0 < own.n_args) {
      to = &arg[p->arg - own.arg0];
    } else if (fs_space_has_bytes(p->space) && p->version == FS_NONE &&
               (p->mode & FS_MODE_W) != 0) { /* else a no_dep arg without content */
      to = &arg[own.n_args + call->n_scratch++];
      *to = (fs_cuda_arg){0};
    }
    if (to != NULL) {
      to->pooled = !x->io->store[p->index];
      to->data = fs_io_at(x->io, p->index, p->address) +
                 (to->pooled ? 0 : (fs_cu_address)(uintptr_t)x->pinned);
      to->length = p->size;
    }
  }
  fs_cuda_call_views(x->s, (fs_cuda_args){own.arg0, own.n_args, false}, call,
                     (fs_cuda_view *)(void *)(arg + own.n_args + call->n_scratch));
  if (op->n_members > 0) {
    make_member(x, command, call);
  }
}

static bool write_calls(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  for (uint32_t i = 0; i < plan->n_items; i++) {
    if (x->call[i] != UINT64_MAX) {
      write_call(x, i, &x->s->commands[plan->item[i].command]);
    }
  }
  if (x->graph) {
    fs_cuda_unroll_calls(x);
  }
  return x->aux_bytes == 0 ||
         (FS_CUDA_DO(x, cuMemcpyAsync,
                     (x->aux, (fs_cu_address)(uintptr_t)(x->pinned + x->staged_aux), x->aux_bytes,
                      x->lane[0])) &&
          fs_cuda_await_stream(x, x->lane[0]));
}

/* Builds the parameters of a module's kernel from the op's args; *at is the first free one. */
static void build_params(fs_instance *x, const fs_stream_command *c, uint64_t *at) {
  const fs_stream_op *op = &x->s->ops[c->target];
  fs_stream_member own = fs_stream_args_of(x->s, (uint32_t)(c - x->s->commands));
  for (uint32_t i = 0; i < own.n_args; i++) {
    bool value = !fs_tag_names_buffer(x->s->args[own.arg0 + i].tag);
    x->param[*at + i] = value ? (uint64_t)value_of(x, own.arg0 + i) : 0;
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &x->s->places[i];
    if (fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg - own.arg0 < own.n_args) {
      x->param[*at + (p->arg - own.arg0)] = fs_cuda_at(x, p->index, p->address);
    }
  }
  *at +=
      fs_cuda_point_params(x->s, (fs_cuda_args){own.arg0, own.n_args, false},
                           x->program->modules.kernel[op->kernel].params,
                           fs_cuda_params_words(x->s, op->kernel), &x->param[*at], &x->params[*at]);
}

static void build_run(fs_instance *x, uint32_t item, const fs_stream_command *c, uint64_t *at) {
  const fs_cuda_device *device = &x->machine->device;
  uint32_t kernel = x->s->ops[c->target].kernel;
  fs_builtin builtin = builtin_of(x, c);
  fs_cuda_work *w = &x->todo[item];
  w->call = x->aux + x->call[item];
  w->launch = (fs_cuda_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &x->params[*at]};
  if (builtin == FS_BUILTINS) {
    const fs_stream_kernel *k = &x->s->kernels[kernel];
    w->launch.function = x->program->modules.kernel[kernel].function;
    w->launch.shared_bytes = (unsigned)k->shared_bytes;
    memcpy(w->launch.grid, k->grid, sizeof w->launch.grid);
    memcpy(w->launch.block, k->block, sizeof w->launch.block);
    build_params(x, c, at);
    return;
  }
  w->launch.function = device->function[builtin];
  w->launch.block[0] = builtin == FS_BUILTIN_NOP ? 1 : FS_CUDA_BLOCK;
  x->param[*at] = w->call;
  x->param[*at + 1] = x->built.block;
  for (uint32_t i = 0; i < 2; i++, ++*at) {
    x->params[*at] = &x->param[*at];
  }
}

static void build_copy(fs_instance *x, uint32_t item, const fs_stream_command *c) {
  const fs_stream_place *p = &x->s->places[c->place0];
  x->todo[item] = (fs_cuda_work){.from = fs_cuda_at(x, p[0].index, p[0].address),
                                 .to = fs_cuda_at(x, p[1].index, p[1].address),
                                 .size = p[1].size,
                                 .from_host = x->io->store[p[0].index],
                                 .to_host = x->io->store[p[1].index]};
}

static void build_nothing(fs_instance *x, uint32_t item) {
  x->todo[item].launch = (fs_cuda_launch){.function = x->machine->device.function[FS_BUILTIN_NOP],
                                          .grid = {1, 1, 1},
                                          .block = {1, 1, 1}};
}

static void build_items(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  uint64_t at = 0;
  for (uint32_t i = 0; i < plan->n_items; i++) {
    const fs_stream_command *c = &x->s->commands[plan->item[i].command];
    x->todo[i] = (fs_cuda_work){0};
    if (fs_cuda_is_loop(x, plan->item[i].command)) {
      continue; /* its instances are built when they are issued, or put into a graph */
    }
    if (fs_cuda_is_host(x, i)) {
      x->todo[i].host = true;
      continue;
    }
    if (x->config.empty) {
      build_nothing(x, i);
      continue;
    }
    switch (fs_command_kind_of(c)) {
      case FS_COMMAND_RUN:
        build_run(x, i, c, &at);
        break;
      case FS_COMMAND_COPY:
        build_copy(x, i, c);
        break;
    }
  }
}

static bool make_times(fs_instance *x) {
  uint32_t n = 2 * x->program->plan.n_items + 1;
  for (; x->n_times < n; x->n_times++) {
    if (!FS_CUDA_DO(x, cuEventCreate, (&x->time[x->n_times], 0))) {
      return false;
    }
  }
  return true;
}

/* The block of the pooled memories in this invocation. */
static fs_cu_address block_of(const fs_instance *x) {
  return x->config.pooled ? (fs_cu_address)(uintptr_t)x->work->memory : x->block;
}

static bool same_values(const fs_instance *x) {
  return !x->built.has_values && x->work->values == NULL
             ? true
             : x->built.has_values && x->work->values != NULL &&
                   memcmp(x->values, x->work->values, x->s->n_args * sizeof *x->values) == 0;
}

bool fs_cuda_build_for(fs_instance *x) {
  fs_cuda_build wanted = {.timed = x->work->record.begin != NULL,
                          .digests = x->work->record.digest != NULL && !x->config.empty,
                          .instances = x->work->record.instances != NULL,
                          .block = block_of(x),
                          .has_values = x->work->values != NULL};
  const fs_cuda_build old = x->built;
  bool called = old.valid && same_values(x);
  bool alike = called && old.timed == wanted.timed && old.digests == wanted.digests &&
               old.instances == wanted.instances;
  if (wanted.instances && !fs_cuda_times_make(x)) {
    return false;
  }
  if (alike && old.block == wanted.block) {
    return true;
  }
  x->built = wanted;
  if (wanted.has_values) {
    memcpy(x->values, x->work->values, x->s->n_args * sizeof *x->values);
  }
  if (!called && !write_calls(x)) {
    return false;
  }
  find_bases(x, wanted.block);
  build_items(x);
  if (wanted.timed && !make_times(x)) {
    return false;
  }
  if (x->graph) {
    if (!alike) {
      fs_cuda_graph_drop(x);
    }
    if (!fs_cuda_graph_find(x)) {
      return false;
    }
  }
  x->built.valid = true;
  return true;
}
