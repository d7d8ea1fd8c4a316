/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is ready for programs: its driver is open and the built-in kernels are loaded.
 * Threads: any number of threads may use an open device. */
#ifndef FS_EXEC_CUDA_DEVICE_H
#define FS_EXEC_CUDA_DEVICE_H

#include "exec/cuda/driver.h"
#include "exec/host/kernel.h"

typedef struct fs_cuda_device {
  fs_cuda cuda;
  fs_cu_module builtins;
  fs_cu_function function[FS_BUILTINS], digest, pace;
  int most_threads, most_block[3], most_grid[3], most_shared;
} fs_cuda_device;

/* Errors: FSCHED_SYSTEM, reported, and nothing is held then. */
fs_status fs_cuda_device_open(fsched_context *ctx, const fs_cuda_where *where,
                              fs_cuda_device *device) FS_MUST_USE;
void fs_cuda_device_close(fs_cuda_device *device); /* {0} is ignored */

/* Loads a function of a module, before anything is launched.  *result is FS_CU_NOT_FOUND where the
 * module has no function of that name; that returns FSCHED_OK.  Requires a name. */
fs_status fs_cuda_function_load(fsched_context *ctx, const fs_cuda_device *device,
                                fs_cu_module module, const char *name, fs_cu_function *function,
                                fs_cu_result *result) FS_MUST_USE;

#endif
