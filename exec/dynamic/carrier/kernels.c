/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/carrier/kernels.h"

#include <dlfcn.h>

#include "base/context.h"
#include "base/mem.h"
#include "base/process.h"
#include "exec/host/child.h"

static fs_status refuse_kernel(fsched_context *ctx, const char *what, const char *name,
                               const char *why) {
  return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL, "%s '%s'%s%s", what,
                 name, why == NULL ? "" : ": ", why == NULL ? "" : why);
}

static fs_status open_kernel(fsched_context *ctx, const fs_task_kernel *k, bool modules,
                             fs_opened_kernel *out) {
  *out = (fs_opened_kernel){.function = k->function, .user = k->user, .builtin = FS_BUILTINS};
  if (k->function != NULL) {
    return FSCHED_OK;
  }
  if (k->module == NULL) {
    out->builtin = fs_builtin_find(k->name);
    return out->builtin != FS_BUILTINS
               ? FSCHED_OK
               : refuse_kernel(ctx, "there is no built-in kernel", k->name, NULL);
  }
  if (!modules) {
    return FSCHED_OK;
  }
  out->module = dlopen(k->module, RTLD_NOW | RTLD_LOCAL);
  if (out->module == NULL) {
    return refuse_kernel(ctx, "cannot open module", k->module, dlerror());
  }
  void *symbol = dlsym(out->module, k->name);
  memcpy(&out->of_module, &symbol, sizeof symbol);
  return symbol != NULL ? FSCHED_OK
                        : refuse_kernel(ctx, "there is no function", k->name, k->module);
}

fs_status fs_opened_kernels_open(fsched_context *ctx, uint32_t n, const fs_task_kernel *kernel,
                                 bool modules, fs_opened_kernels *out) {
  *out = (fs_opened_kernels){.birth = fs_process_birth()};
  if (n == 0) {
    return FSCHED_OK;
  }
  out->at = fs_realloc(ctx, NULL, 0, n * sizeof *out->at);
  if (out->at == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(out->at, 0, n * sizeof *out->at);
  out->n = n;
  for (uint32_t i = 0; i < n; i++) {
    fs_status status = open_kernel(ctx, &kernel[i], modules, &out->at[i]);
    if (status != FSCHED_OK) {
      fs_opened_kernels_close(ctx, out);
      return status;
    }
  }
  return FSCHED_OK;
}

void fs_opened_kernels_close(fsched_context *ctx, fs_opened_kernels *k) {
  for (uint32_t i = 0; i < k->n; i++) {
    if (k->at[i].module != NULL) {
      (void)dlclose(k->at[i].module);
    }
  }
  (void)fs_realloc(ctx, k->at, k->n * sizeof *k->at, 0);
  *k = (fs_opened_kernels){0};
}

fs_status fs_opened_kernel_accepts(fsched_context *ctx, const fs_opened_kernels *k, uint32_t kernel,
                                   const fsched_kernel_call *call) {
  assert(kernel < k->n);
  fs_builtin builtin = k->at[kernel].builtin;
  if (builtin == FS_BUILTINS) {
    return FSCHED_OK;
  }
  fs_tag_counts counts = {0};
  for (uint32_t i = 0; i < call->n_args; i++) {
    fs_count_tag(&counts, call->args[i].tag);
  }
  const char *wants = fs_builtin_refusal(builtin, &counts);
  return wants == NULL ? FSCHED_OK
                       : fs_fail(ctx, FSCHED_BAD_INPUT, FS_DIAG_DYNAMIC_ARG, FS_NOWHERE, NULL,
                                 "task '%s': its built-in kernel wants %s", call->op, wants);
}

int fs_opened_kernel_run(const fs_opened_kernels *k, const fs_started_member *member) {
  assert(member->kernel < k->n);
  const fs_opened_kernel *o = &k->at[member->kernel];
  if (o->builtin != FS_BUILTINS) {
    fs_builtin_run(o->builtin, member->call);
    return 0;
  }
  assert(o->function != NULL || o->of_module != NULL);
  int answer = o->function != NULL ? o->function(member, o->user) : o->of_module(member->call);
  if (k->returns_in_child != NULL && fs_process_inherited(k->birth)) {
    k->returns_in_child(member->call);
  }
  fs_child_end(k->birth);
  return answer;
}
