# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The declarations of the CUDA driver are compared with CUDA's own header, where that is installed.
cuda=
for d in "${CUDA_HOME-/usr/local/cuda}" /usr/lib/cuda /usr; do
  if [ -z "$cuda" ] && [ -f "$d/include/cudaTypedefs.h" ]; then cuda=$d; fi
done
if [ -z "$cuda" ]; then
  echo "skipped: no cudaTypedefs.h here"
else
  # The header gives later versions the names of the first version.
  sed -n 's/^FS_CU[A-Z_]*(\(cu[A-Za-z0-9]*\),.*/#undef \1/p' "$TOP/exec/cuda/driver.def" >undef.h
  cat >check.c <<'EOF'
#include <cudaTypedefs.h>
#include <stdio.h>
#include "undef.h"
#include "exec/cuda/driver.h"

#define SAME(name, version) \
  __builtin_types_compatible_p(PFN_##name##_v##version, __typeof__(((fs_cuda_api *)0)->name))
/* Where a parameter is a pointer to a struct of ours, which is another type. */
static int struct_param(const char *name) {
  return strcmp(name, "cuGraphAddKernelNode") == 0 || strcmp(name, "cuGraphAddMemcpyNode") == 0 ||
         strcmp(name, "cuGraphAddHostNode") == 0;
}
#define FIELD(ours, theirs, a, b) \
  _Static_assert(offsetof(ours, a) == offsetof(theirs, b) && \
                 sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b), #b);
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, function, func)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, grid[1], gridDimY)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, block[2], blockDimZ)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, shared_bytes, sharedMemBytes)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, params, kernelParams)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, extra, extra)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, kernel, kern)
FIELD(fs_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2, context, ctx)
FIELD(fs_cu_host_node, CUDA_HOST_NODE_PARAMS, function, fn)
FIELD(fs_cu_host_node, CUDA_HOST_NODE_PARAMS, user, userData)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.x, srcXInBytes)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.level, srcLOD)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.type, srcMemoryType)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.host, srcHost)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.device, srcDevice)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, from.pitch, srcPitch)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, to.type, dstMemoryType)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, to.host, dstHost)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, to.device, dstDevice)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, to.height, dstHeight)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, width, WidthInBytes)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, height, Height)
FIELD(fs_cu_copy, CUDA_MEMCPY3D_v2, depth, Depth)
_Static_assert(sizeof(fs_cu_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "");
_Static_assert(sizeof(fs_cu_host_node) == sizeof(CUDA_HOST_NODE_PARAMS), "");
_Static_assert(sizeof(fs_cu_copy) == sizeof(CUDA_MEMCPY3D_v2), "");

#define VALUE(ours, theirs) _Static_assert((int)ours == (int)theirs, #theirs);
VALUE(FS_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)
VALUE(FS_CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY)
VALUE(FS_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE)
VALUE(FS_CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU)
VALUE(FS_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND)
VALUE(FS_CU_NOT_READY, CUDA_ERROR_NOT_READY)
VALUE(FS_CU_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
VALUE(FS_CU_MAX_BLOCK_X + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)
VALUE(FS_CU_MAX_GRID_X + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)
VALUE(FS_CU_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
VALUE(FS_CU_COPY_ENGINES, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)
VALUE(FS_CU_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)
VALUE(FS_CU_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
VALUE(FS_CU_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
VALUE(FS_CU_MAX_SHARED_BYTES, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
VALUE(FS_CU_BINARY_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION)
VALUE(FS_CU_DYNAMIC_SHARED_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
VALUE(FS_CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER)
VALUE(FS_CU_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
VALUE(FS_CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE)
VALUE(FS_CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP)
VALUE(FS_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING)
VALUE(FS_CU_EVENT_BLOCKING, CU_EVENT_BLOCKING_SYNC)
VALUE(FS_CU_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING)
VALUE(FS_CU_MEMORY_HOST, CU_MEMORYTYPE_HOST)
VALUE(FS_CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE)

int main(void) {
  const struct { const char *name; int same; } entries[] = {
#define FS_CU(name, version, params) {#name, SAME(name, version)},
#define FS_CU_OPTIONAL(name, version, params) {#name, SAME(name, version)},
#include "exec/cuda/driver.def"
  };
  int wrong = 0;
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    if (!entries[i].same && !struct_param(entries[i].name)) {
      printf("%s\n", entries[i].name);
      wrong++;
    }
  }
  return wrong;
}
EOF
  # shellcheck disable=SC2086 # CC may be several words
  run 0 ${CC:-cc} -std=gnu11 -I"$TOP" -I"$TOP/include" -I"$TOP/lib" -I"$cuda/include" -o check check.c
  run 0 ./check
fi
