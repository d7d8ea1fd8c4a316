/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the kernels that a stream names to functions of this process.
 *
 * A kernel with a module is looked up first in the embedding program and then in the shared object;
 * a kernel without one is built in, or the embedding program's.  Modules are opened once for each
 * kernel that names them, as the loader counts references.  In a simulation that may open no
 * module, the built-in mix stands in: times and places are those of the stream, and bytes are moved
 * and compared all the same. */
#include <dlfcn.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text/hex.h"
#include "exec/host/backends.h"
#include "exec/host/child.h"
#include "exec/host/host.h"
#include "exec/host/module_file.h"

typedef struct kernel_finder {
  fsched_context *ctx;
  const fs_stream *s;
  const fsched_device_options *options; /* NULL: built-in kernels alone */
  fs_module_rule rule;
  const uint8_t *op, *loop_op; /* which are looked up; NULL: all are */
  bool stand_in; /* use `mix` for functions of modules: a simulation that may open no module */
} kernel_finder;

static fs_status refuse_kernel(const kernel_finder *f, const char *hint, const char *op,
                               const char *why, const char *name) {
  return fs_fail(f->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, hint, "op '%s': %s '%s'",
                 op, why, name);
}

static fsched_kernel_fn ask(const kernel_finder *f, const char *module, const char *function) {
  return f->options == NULL || f->options->find == NULL
             ? NULL
             : f->options->find(f->options->find_user, module, function);
}

static fs_status find_builtin(const kernel_finder *f, const char *op, const char *name,
                              const fs_tag_counts *tags, fs_resolved *out) {
  out->builtin = fs_builtin_find(name);
  if (out->builtin == FS_BUILTINS) {
    return refuse_kernel(f, "the built-in kernels are mix, nop and copy", op,
                         "there is no built-in kernel", name);
  }
  const char *wants = fs_builtin_refusal(out->builtin, tags);
  if (wants != NULL) {
    return fs_fail(f->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': the built-in kernel '%s' wants %s", op, name, wants);
  }
  return FSCHED_OK;
}

static fs_status find_function(const kernel_finder *f, const char *op, const fs_stream_kernel *k,
                               fs_resolved *out) {
  const char *module = fs_stream_string(f->s, k->module);
  const char *function = fs_stream_string(f->s, k->function);
  static const char *const endings[] = {".so", NULL};
  char path[FS_MODULE_PATH];
  out->builtin = FS_BUILTINS;
  out->function = ask(f, module, function);
  if (out->function != NULL) {
    return FSCHED_OK;
  }
  if (f->options == NULL) {
    return refuse_kernel(f, "without a kernel an op runs the built-in 'mix'", op,
                         "cannot open module", module);
  }
  if (f->stand_in) {
    out->builtin = FS_BUILTIN_MIX;
    return FSCHED_OK;
  }
  FS_TRY(fs_module_file(f->ctx, &f->rule, op, module, endings, path));
  if (out->module == NULL) { /* it is open if an earlier op did not find the function in it */
    out->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (out->module == NULL) {
    const char *why = dlerror();
    return fs_fail(f->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE,
                   "on the CPU a module is a shared object", "op '%s': cannot open module '%s': %s",
                   op, module, why == NULL ? "" : why);
  }
  void *symbol = dlsym(out->module, function);
  if (symbol == NULL) {
    return fs_fail(f->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': module '%s' has no function '%s'", op, module, function);
  }
  memcpy(&out->function, &symbol, sizeof symbol);
  return FSCHED_OK;
}

/* Finds the kernel of an op, or of an op of a loop. */
static fs_status find_kernel(const kernel_finder *f, uint32_t name, uint32_t kernel,
                             const fs_tag_counts *tags, fs_kernels *kernels) {
  const char *op = fs_stream_string(f->s, name);
  if (kernel == FS_NONE || kernels->at[kernel].function != NULL) {
    return FSCHED_OK; /* there is none, or an earlier call has found it */
  }
  const fs_stream_kernel *k = &f->s->kernels[kernel];
  return k->builtin != FS_NONE
             ? find_builtin(f, op, fs_stream_string(f->s, k->builtin), tags, &kernels->at[kernel])
             : find_function(f, op, k, &kernels->at[kernel]);
}

static fs_status find_in_loops(const kernel_finder *f, fs_kernels *kernels) {
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < f->s->n_loop_ops; i++) {
    const fs_stream_loop_op *op = &f->s->loop_ops[i];
    if (f->loop_op != NULL && f->loop_op[i] == 0) {
      continue;
    }
    for (uint32_t m = 0; m < fs_loop_op_calls(op); m++) {
      fs_stream_member own = fs_loop_op_call_args(f->s, op, m);
      fs_tag_counts tags = {0};
      for (uint32_t a = own.arg0; a < own.arg0 + own.n_args; a++) {
        fs_count_tag(&tags, f->s->loop_args[a].tag);
      }
      fs_status one = find_kernel(f, op->name, op->kernel, &tags, kernels);
      status = status == FSCHED_OK ? one : status;
    }
  }
  return status;
}

static fs_status decode_params(fs_arena *arena, const fs_stream *s, const fs_stream_kernel *k,
                               fs_resolved *out) {
  const char *text = fs_stream_string(s, k->params);
  if (text == NULL) {
    return FSCHED_OK;
  }
  out->n_params = fs_hex_bytes(text);
  FS_TRY(fs_new(arena, &out->params, out->n_params));
  fs_hex_decode(text, out->params);
  return FSCHED_OK;
}

static fs_status find_in_stream(const kernel_finder *f, fs_kernels *kernels) {
  fs_status status = FSCHED_OK;
  for (uint32_t op = 0; op < f->s->n_ops; op++) {
    const fs_stream_op *o = &f->s->ops[op];
    if (f->op != NULL && f->op[op] == 0) {
      continue;
    }
    for (uint32_t m = 0; m < fs_op_calls(o); m++) {
      fs_tag_counts tags = fs_count_tags(f->s, fs_op_call_args(f->s, o, m));
      fs_status one = find_kernel(f, o->name, o->kernel, &tags, kernels);
      status = one == FSCHED_OK ? status : one;
    }
  }
  return status;
}

fs_status fs_kernels_find(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                          const fsched_device_options *options, fs_kernels *kernels) {
  assert(s->n_meta == 1);
  return fs_kernels_find_some(ctx, arena, s, options, NULL, NULL, kernels);
}

fs_status fs_kernels_find_some(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                               const fsched_device_options *options, const uint8_t *op,
                               const uint8_t *loop_op, fs_kernels *kernels) {
  assert((op == NULL) == (loop_op == NULL));
  kernel_finder f = {.ctx = ctx,
                     .s = s,
                     .options = options,
                     .rule = fs_module_rule_of(options),
                     .op = op,
                     .loop_op = loop_op};
  f.stand_in = f.rule.closed && options != NULL && fs_backend_kind_of(options->kind)->simulates;
  *kernels = (fs_kernels){.s = s, .options = options, .birth = fs_process_birth()};
  FS_TRY(fs_new_zero(arena, &kernels->at, s->n_kernels));
  kernels->n = s->n_kernels;
  for (uint32_t k = 0; k < s->n_kernels; k++) {
    FS_TRY(decode_params(arena, s, &s->kernels[k], &kernels->at[k]));
  }
  fs_status status = find_in_stream(&f, kernels);
  fs_status loops = find_in_loops(&f, kernels);
  return status == FSCHED_OK ? loops : status;
}

void fs_kernels_release(fs_kernels *kernels) {
  for (uint32_t i = 0; i < kernels->n; i++) {
    if (kernels->at[i].module != NULL) {
      (void)dlclose(kernels->at[i].module);
    }
  }
  *kernels = (fs_kernels){0};
}

static fs_builtin builtin_of(const fs_kernels *kernels, uint32_t kernel) {
  return kernel == FS_NONE ? FS_BUILTIN_MIX : kernels->at[kernel].builtin;
}

bool fs_kernels_foreign(const fs_kernels *kernels, uint32_t kernel) {
  assert(kernel == FS_NONE || kernel < kernels->n);
  return builtin_of(kernels, kernel) == FS_BUILTINS;
}

fsched_kernel_fn fs_kernels_announce(const fs_kernels *kernels, uint32_t kernel,
                                     const fs_kernel_call *call, const char *queue,
                                     fsched_kernel_run *run) {
  assert(fs_kernels_foreign(kernels, kernel));
  const fsched_device_options *o = kernels->options;
  const fs_stream_kernel *k = &kernels->s->kernels[kernel];
  *run = (fsched_kernel_run){call->op, fs_stream_string(kernels->s, k->module),
                             fs_stream_string(kernels->s, k->function), queue};
  if (o->kernel_runs != NULL) {
    o->kernel_runs(o->runs_user, run);
  }
  return kernels->at[kernel].function;
}

fsched_cause fs_kernels_answer(const fs_kernels *kernels, int answer) {
  const fsched_device_options *o = kernels->options;
  if (o->kernel_runs != NULL) {
    o->kernel_runs(o->runs_user, NULL);
  }
  fs_child_end(kernels->birth);
  return answer < 0 ? FSCHED_CAUSE_SYSTEM : answer;
}

fsched_cause fs_kernels_run(const fs_kernels *kernels, uint32_t kernel,
                            const fs_kernel_call *call) {
  FS_ASSERT_SLOW(kernel == FS_NONE || kernel < kernels->n);
  fs_builtin builtin = builtin_of(kernels, kernel);
  if (builtin != FS_BUILTINS) {
    fs_builtin_run(builtin, call);
    return FSCHED_CAUSE_NONE;
  }
  fsched_kernel_run run;
  return fs_kernels_answer(kernels, fs_kernels_announce(kernels, kernel, call, NULL, &run)(call));
}

uint64_t fs_kernels_digest(const fs_kernels *kernels, uint32_t kernel, const fs_kernel_call *call) {
  assert(kernel == FS_NONE || kernel < kernels->n);
  return fs_builtin_digest(builtin_of(kernels, kernel), call);
}

void fs_kernels_shape(const fs_kernels *kernels, uint32_t kernel, fs_kernel_call *call) {
  assert(kernel == FS_NONE || kernel < kernels->n);
  const fs_stream *s = kernels->s;
  call->params = kernel == FS_NONE ? NULL : kernels->at[kernel].params;
  call->n_params = kernel == FS_NONE ? 0 : kernels->at[kernel].n_params;
  call->size = sizeof *call;
  for (unsigned i = 0; i < 3; i++) {
    call->grid[i] = kernel == FS_NONE ? 1 : s->kernels[kernel].grid[i];
    call->block[i] = kernel == FS_NONE ? 1 : s->kernels[kernel].block[i];
  }
  call->shared_bytes = kernel == FS_NONE ? 0 : s->kernels[kernel].shared_bytes;
}
