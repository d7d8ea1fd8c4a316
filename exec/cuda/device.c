/* SPDX-License-Identifier: Apache-2.0 */
/* Functions are loaded when they are found, not when they are first launched: drivers load lazily,
 * and a load in the middle of a program may wait for what is running. */
#include "exec/cuda/device.h"

#include "exec/cuda/builtin.h"

static const char *const builtin_names[FS_BUILTINS] = {[FS_BUILTIN_MIX] = "fsched_mix",
                                                       [FS_BUILTIN_NOP] = "fsched_nop",
                                                       [FS_BUILTIN_COPY] = "fsched_copy"};

fs_status fs_cuda_function_load(fsched_context *ctx, const fs_cuda_device *device,
                                fs_cu_module module, const char *name, fs_cu_function *function,
                                fs_cu_result *result) {
  assert(name != NULL);
  const fs_cuda *d = &device->cuda;
  int version;
  *result = d->api.cuModuleGetFunction(function, module, name);
  if (*result == FS_CU_NOT_FOUND) {
    return FSCHED_OK;
  }
  if (*result != FS_CU_SUCCESS) {
    return fs_cuda_fail(ctx, d, "cuModuleGetFunction", *result);
  }
  FS_CU_TRY(ctx, d, cuFuncGetAttribute, (&version, FS_CU_BINARY_VERSION, *function));
  if (d->api.cuFuncLoad != NULL) {
    FS_CU_TRY(ctx, d, cuFuncLoad, (*function));
  }
  return FSCHED_OK;
}

static fs_status load_one(fsched_context *ctx, fs_cuda_device *device, const char *name,
                          fs_cu_function *function) {
  fs_cu_result result;
  FS_TRY(fs_cuda_function_load(ctx, device, device->builtins, name, function, &result));
  return result == FS_CU_SUCCESS ? FSCHED_OK
                                 : fs_cuda_fail(ctx, &device->cuda, "cuModuleGetFunction", result);
}

static fs_status load_builtins(fsched_context *ctx, fs_cuda_device *device) {
  FS_CU_TRY(ctx, &device->cuda, cuModuleLoadDataEx,
            (&device->builtins, fs_cuda_builtin_ptx, 0, NULL, NULL));
  for (unsigned b = 0; b < FS_BUILTINS; b++) {
    FS_TRY(load_one(ctx, device, builtin_names[b], &device->function[b]));
  }
  FS_TRY(load_one(ctx, device, "fsched_digest", &device->digest));
  return load_one(ctx, device, "fsched_pace", &device->pace);
}

static fs_status read_limits(fsched_context *ctx, fs_cuda_device *device) {
  const fs_cuda *d = &device->cuda;
  FS_CU_TRY(ctx, d, cuDeviceGetAttribute,
            (&device->most_threads, FS_CU_MAX_THREADS_PER_BLOCK, d->device));
  FS_CU_TRY(ctx, d, cuDeviceGetAttribute,
            (&device->most_shared, FS_CU_MAX_SHARED_BYTES, d->device));
  for (unsigned i = 0; i < 3; i++) {
    FS_CU_TRY(ctx, d, cuDeviceGetAttribute,
              (&device->most_block[i], FS_CU_MAX_BLOCK_X + i, d->device));
    FS_CU_TRY(ctx, d, cuDeviceGetAttribute,
              (&device->most_grid[i], FS_CU_MAX_GRID_X + i, d->device));
  }
  return FSCHED_OK;
}

fs_status fs_cuda_device_open(fsched_context *ctx, const fs_cuda_where *where,
                              fs_cuda_device *device) {
  *device = (fs_cuda_device){0};
  FS_TRY(fs_cuda_open(ctx, &device->cuda, where));
  fs_status status = fs_cuda_enter(ctx, &device->cuda);
  if (status == FSCHED_OK) {
    status = read_limits(ctx, device);
    if (status == FSCHED_OK) {
      status = load_builtins(ctx, device);
    }
    fs_cuda_leave(&device->cuda);
  }
  if (status != FSCHED_OK) {
    fs_cuda_device_close(device);
  }
  return status;
}

void fs_cuda_device_close(fs_cuda_device *device) {
  const fs_cuda *d = &device->cuda;
  if (device->builtins != NULL && fs_cuda_enter_again(d)) {
    (void)d->api.cuModuleUnload(device->builtins);
    fs_cuda_leave(d);
  }
  fs_cuda_close(&device->cuda);
  *device = (fs_cuda_device){0};
}
