/* SPDX-License-Identifier: Apache-2.0 */
/* A table of kernels, made ready to be called in this process.  Calls may come from any threads. */
#ifndef FS_DYNAMIC_KERNELS_H
#define FS_DYNAMIC_KERNELS_H

#include "exec/dynamic/carrier/carrier.h"
#include "exec/host/kernel.h"

typedef struct fs_opened_kernel {
  fs_member_function function; /* of the application; or NULL */
  void *user;
  fsched_kernel_fn of_module; /* or NULL: built in */
  void *module;
  fs_builtin builtin; /* FS_BUILTINS: none */
} fs_opened_kernel;

typedef struct fs_opened_kernels {
  uint32_t n;
  fs_opened_kernel *at;
  uint64_t birth; /* of the process (process.h) */
  /* Called in a child that a kernel has made by fork, before it ends; NULL: nothing is said. */
  void (*returns_in_child)(const fsched_kernel_call *call);
} fs_opened_kernels;

/* Looks the kernels up, and opens the modules; without `modules` their kernels cannot be run, as
 * they are for other processes.  Errors: FSCHED_REPLAY: a module that cannot be
 * opened, a kernel that is not there; FSCHED_SYSTEM.  All reported, and then nothing is open. */
fs_status fs_opened_kernels_open(fsched_context *ctx, uint32_t n, const fs_task_kernel *kernel,
                                 bool modules, fs_opened_kernels *out) FS_MUST_USE;
void fs_opened_kernels_close(fsched_context *ctx, fs_opened_kernels *k);
/* Whether a built-in kernel takes such args.  Errors: FSCHED_BAD_INPUT, reported.  Requires a
 * kernel of the table. */
fs_status fs_opened_kernel_accepts(fsched_context *ctx, const fs_opened_kernels *k, uint32_t kernel,
                                   const fsched_kernel_call *call) FS_MUST_USE;
/* Runs a member; 0: success.  A child that the kernel has made by fork ends here.  Requires a
 * kernel of the table. */
int fs_opened_kernel_run(const fs_opened_kernels *k, const fs_started_member *member);

#endif
