/* SPDX-License-Identifier: Apache-2.0 */
/* The places of an instance are those of its command, moved to its iteration.  Its launch is built
 * anew for each instance: a built-in kernel gets the address of its call, and a kernel of a module
 * the op's args in order, with the shapes of views. */
#include "exec/cuda/loops/calls.h"

#include "base/text/ticks.h"
#include "exec/cuda/views.h"

/* The args of a call. */
static fs_cuda_args args_of(const fs_instance *x, const fs_loop_instance *at) {
  const fs_stream_loop_op *op = &x->s->loop_ops[at->op];
  fs_stream_member own = fs_loop_op_call_args(x->s, op, x->loops.call_of[at->loop_command]);
  return (fs_cuda_args){own.arg0, own.n_args, true};
}

/* Room */

static fs_status make_paces(fs_instance *x) {
  const fs_stream *s = x->s;
  if (x->config.pace_ps == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&x->arena, &x->loops.pace, s->n_loop_ops));
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    const fs_stream_loop_op *op = &s->loop_ops[i];
    uint64_t ns = fs_ticks_ns(fs_max(op->time, op->latency), x->config.pace_ps);
    x->loops.pace[i] = op->loop == FS_NONE ? fs_min(ns, UINT64_MAX / 2) : 0;
  }
  return FSCHED_OK;
}

/* The commands of an op's copy, in the order of their queues, are its calls, if it has several. */
fs_status fs_cuda_calls_number(fs_arena *arena, const fs_stream *s, uint32_t **call_of) {
  uint32_t *next;
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(fs_new_zero(&scratch, &next, (size_t)s->n_loop_ops * FS_LOOP_COPIES));
  FS_TRY(fs_new_zero(arena, call_of, s->n_loop_commands));
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    if (s->loop_ops[k->op].n_members > 0) {
      (*call_of)[c] = next[k->op * FS_LOOP_COPIES + k->copy]++;
    }
  }
  return FSCHED_OK;
}

fs_status fs_cuda_calls_make(fs_instance *x, uint32_t depth) {
  const fs_stream *s = x->s;
  fs_cuda_loops *r = &x->loops;
  size_t name_bytes = 0;
  uint64_t n_params = 2; /* of a built-in kernel */
  assert(s->n_loops > 0);
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_op *op = &s->loop_ops[s->loop_commands[c].op];
    uint64_t args = (uint64_t)op->n_args + s->loop_commands[c].n_places;
    uint64_t views = fs_cuda_count_views(s, (fs_cuda_args){op->arg0, op->n_args, true});
    uint64_t bytes =
        sizeof(fs_cuda_call) + args * sizeof(fs_cuda_arg) + views * sizeof(fs_cuda_view);
    size_t name = fs_loop_name_bytes(fs_stream_string(s, op->name), depth);
    r->call_bytes = fs_max(r->call_bytes, bytes);
    n_params = fs_max(
        n_params, op->n_args + views * FS_CUDA_VIEW_WORDS + fs_cuda_params_words(s, op->kernel));
    name_bytes = name > name_bytes ? name : name_bytes;
  }
  FS_TRY(fs_new(&x->arena, &r->param, n_params));
  FS_TRY(fs_new(&x->arena, &r->params, n_params));
  FS_TRY(fs_new(&x->arena, &r->name, name_bytes));
  FS_TRY(fs_cuda_calls_number(&x->arena, s, &r->call_of));
  return make_paces(x);
}

/* Calls */

static fs_builtin builtin_of(const fs_instance *x, const fs_stream_loop_op *op) {
  return op->kernel == FS_NONE ? FS_BUILTIN_MIX : x->program->modules.kernel[op->kernel].builtin;
}

static void write_places(fs_instance *x, const fs_loop_instance *at, fs_cuda_args own,
                         fs_cuda_call *call) {
  const fs_stream *s = x->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    fs_cuda_arg *to = NULL;
    uint64_t way = 0, length = p->size;
    if (!fs_space_has_bytes(p->space)) {
      continue;
    }
    if (p->version != FS_NONE && p->arg - own.arg0 < own.n_args) {
      fs_loop_where w = fs_loop_arg_where(s, &s->loop_args[p->arg], at);
      to = &arg[p->arg - own.arg0];
      way = w.way;
      length = w.range.end - w.range.begin;
    } else if (p->version == FS_NONE && (p->mode & FS_MODE_W) != 0) {
      to = &arg[own.n_args + call->n_scratch++];
      *to = (fs_cuda_arg){0};
    }
    if (to != NULL) {
      to->pooled = !x->io->store[p->index];
      to->data = fs_io_at(x->io, p->index, p->address + way) +
                 (to->pooled ? 0 : (fs_cu_address)(uintptr_t)x->pinned);
      to->length = length;
    }
  }
}

/* The seed of a member with args of its own.  The first member spoils the scratch for all. */
static void make_member(const fs_instance *x, const fs_loop_instance *at, fs_cuda_call *call) {
  uint32_t member = x->loops.call_of[at->loop_command];
  call->seed = fs_member_seed(call->seed, member);
  call->n_scratch = member == 0 ? call->n_scratch : 0;
}

void fs_cuda_call_write(fs_instance *x, const fs_loop_instance *at, fs_cu_address digest,
                        fs_cuda_call *call) {
  const fs_stream_loop_op *op = &x->s->loop_ops[at->op];
  fs_cuda_args own = args_of(x, at);
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  assert(x->pinned != NULL && op->loop == FS_NONE);
  fs_loop_name(x->loops.name, fs_stream_string(x->s, op->name), at);
  const fs_cuda_kernel *kernel =
      op->kernel == FS_NONE ? NULL : &x->program->modules.kernel[op->kernel];
  *call =
      (fs_cuda_call){.seed = fs_kernel_seed(x->loops.name, kernel == NULL ? NULL : kernel->params,
                                            kernel == NULL ? 0 : kernel->n_params),
                     .digest = digest,
                     .n_args = own.n_args,
                     .kernel = builtin_of(x, op)};
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_loop_arg *a = &x->s->loop_args[own.arg0 + i];
    arg[i] = (fs_cuda_arg){.value = (uint64_t)a->value,
                           .reads = fs_tag_reads(a->tag),
                           .writes = fs_tag_writes(a->tag),
                           .has_value = !fs_tag_names_buffer(a->tag)};
  }
  write_places(x, at, own, call);
  fs_cuda_call_views(x->s, own, call, (fs_cuda_view *)(void *)(arg + own.n_args + call->n_scratch));
  if (op->n_members > 0) {
    make_member(x, at, call);
  }
}

void fs_cuda_call_over(fs_instance *x, const fs_loop_instance *at, uint64_t digest) {
  const fs_loop_instance *outer = at;
  assert(x->loops.call_of != NULL);
  while (outer->around != NULL) {
    outer = outer->around;
  }
  x->loops.part += digest;
  if (fs_cuda_call_last(x, at)) {
    x->loops.sum[outer->loop - x->s->loops] += fs_loop_digest(at, x->loops.part);
    x->loops.part = 0;
  }
}

/* Launches */

/* The params of a module's kernel. */
static void write_params(fs_instance *x, const fs_loop_instance *at) {
  const fs_stream *s = x->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  const fs_stream_loop_op *op = &s->loop_ops[at->op];
  fs_cuda_args own = args_of(x, at);
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[own.arg0 + i];
    x->loops.param[i] = fs_tag_names_buffer(a->tag) ? 0 : (uint64_t)a->value;
  }
  (void)fs_cuda_point_params(s, own, x->program->modules.kernel[op->kernel].params,
                             fs_cuda_params_words(s, op->kernel), x->loops.param, x->loops.params);
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    if (fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg - own.arg0 < own.n_args) {
      uint64_t way = fs_loop_arg_where(s, &s->loop_args[p->arg], at).way;
      x->loops.param[p->arg - own.arg0] = fs_cuda_at(x, p->index, p->address + way);
    }
  }
}

/* The params of a kernel of ours. */
static void write_call_params(fs_instance *x, fs_cu_address call) {
  x->loops.param[0] = call;
  x->loops.param[1] = x->built.block;
  x->loops.params[0] = &x->loops.param[0];
  x->loops.params[1] = &x->loops.param[1];
}

void fs_cuda_call_launch(fs_instance *x, const fs_loop_instance *at, fs_cu_address call,
                         fs_cuda_launch *out) {
  const fs_cuda_device *d = &x->machine->device;
  const fs_stream_loop_op *op = &x->s->loop_ops[at->op];
  assert(op->loop == FS_NONE);
  *out = (fs_cuda_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = x->loops.params};
  if (fs_cuda_is_foreign(x->program, op->kernel)) {
    const fs_stream_kernel *k = &x->s->kernels[op->kernel];
    out->function = x->program->modules.kernel[op->kernel].function;
    out->shared_bytes = (unsigned)k->shared_bytes;
    memcpy(out->grid, k->grid, sizeof out->grid);
    memcpy(out->block, k->block, sizeof out->block);
    write_params(x, at);
    return;
  }
  fs_builtin builtin = x->config.empty ? FS_BUILTIN_NOP : builtin_of(x, op);
  out->function = d->function[builtin];
  out->block[0] = builtin == FS_BUILTIN_NOP ? 1 : FS_CUDA_BLOCK;
  write_call_params(x, call);
}

bool fs_cuda_call_digest(fs_instance *x, fs_cu_address call, fs_cuda_launch *out) {
  assert(x->loops.params != NULL);
  *out = (fs_cuda_launch){.function = x->machine->device.digest,
                          .grid = {1, 1, 1},
                          .block = {FS_CUDA_BLOCK, 1, 1},
                          .params = x->loops.params};
  write_call_params(x, call);
  return x->built.digests;
}

bool fs_cuda_call_pace(fs_instance *x, const fs_loop_instance *at, fs_cuda_launch *out) {
  assert(at->op < x->s->n_loop_ops);
  *out = (fs_cuda_launch){.function = x->machine->device.pace,
                          .grid = {1, 1, 1},
                          .block = {1, 1, 1},
                          .params = x->loops.params};
  x->loops.param[0] = x->loops.pace == NULL ? 0 : x->loops.pace[at->op];
  x->loops.params[0] = &x->loops.param[0];
  return x->loops.param[0] > 0;
}
