/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver, opened at run time: a build needs no part of CUDA.
 *
 * The declarations are our own and cover only what is used; the functions have the driver's names.
 * Each entry point is looked up by cuGetProcAddress_v2 with the version of its signature
 * (cuda/driver.def).
 *
 * Ownership: an open driver holds the library and the device's primary context until it is closed.
 * The library itself stays loaded, since threads of the driver may outlive the last call.
 * Threads: several threads may use an open driver at once; each has to enter it first. */
#ifndef FS_EXEC_CUDA_DRIVER_H
#define FS_EXEC_CUDA_DRIVER_H

#include "base/context.h"

typedef unsigned fs_cu_result; /* 0: success */
enum {
  FS_CU_SUCCESS = 0,
  FS_CU_OUT_OF_MEMORY = 2,
  FS_CU_STUB_LIBRARY = 34,
  FS_CU_NO_DEVICE = 100,
  FS_CU_NO_BINARY = 209,
  FS_CU_NOT_FOUND = 500,
  FS_CU_NOT_READY = 600
};

typedef int fs_cu_device;
typedef unsigned long long fs_cu_address;
typedef struct CUctx_st *fs_cu_context;
typedef struct CUmod_st *fs_cu_module;
typedef struct CUfunc_st *fs_cu_function;
typedef struct CUstream_st *fs_cu_stream;
typedef struct CUevent_st *fs_cu_event;
typedef struct CUgraph_st *fs_cu_graph;
typedef struct CUgraphNode_st *fs_cu_node;
typedef struct CUgraphExec_st *fs_cu_executable;

typedef unsigned fs_cu_attribute;
enum {
  FS_CU_MAX_THREADS_PER_BLOCK = 1,
  FS_CU_MAX_BLOCK_X = 2, /* y and z follow */
  FS_CU_MAX_GRID_X = 5,  /* y and z follow */
  FS_CU_MULTIPROCESSORS = 16,
  FS_CU_COPY_ENGINES = 40,
  FS_CU_UNIFIED_ADDRESSING = 41,
  FS_CU_CAPABILITY_MAJOR = 75,
  FS_CU_CAPABILITY_MINOR = 76,
  FS_CU_MAX_SHARED_BYTES = 97, /* the most dynamic shared memory, which a kernel has to ask for */
  FS_CU_STREAM_WORDS = 122     /* streams wait for words of 64 bits in memory, and write them */
};

typedef unsigned fs_cu_function_attribute;
enum { FS_CU_BINARY_VERSION = 6, FS_CU_DYNAMIC_SHARED_BYTES = 8 };

typedef unsigned fs_cu_jit_option;
enum { FS_CU_JIT_ERROR_LOG = 5, FS_CU_JIT_ERROR_LOG_SIZE = 6 };

enum { FS_CU_HOST_PORTABLE = 1, FS_CU_HOST_MAPPED = 2 };
enum { FS_CU_STREAM_NON_BLOCKING = 1 };
enum { FS_CU_EVENT_BLOCKING = 1, FS_CU_EVENT_NO_TIMING = 2 };
enum { FS_CU_WAIT_AT_LEAST = 0, FS_CU_WRITE_BEHIND_ALL = 0 }; /* of words, for streams */

typedef struct fs_cu_kernel_node {
  fs_cu_function function;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void **params;
  void **extra;
  void *kernel; /* NULL: by function */
  fs_cu_context context;
} fs_cu_kernel_node;

typedef void (*fs_cu_host_function)(void *user);
typedef struct fs_cu_host_node {
  fs_cu_host_function function;
  void *user;
} fs_cu_host_node;

enum { FS_CU_MEMORY_HOST = 1, FS_CU_MEMORY_DEVICE = 2 };
typedef struct fs_cu_place {
  size_t x, y, z, level;
  unsigned type;
  void *host;
  fs_cu_address device;
  void *array;
  void *reserved;
  size_t pitch, height;
} fs_cu_place;
typedef struct fs_cu_copy {
  fs_cu_place from, to;
  size_t width, height, depth;
} fs_cu_copy;

/* The structures are laid out as the driver's; drivers exist for 64-bit hosts alone. */
#define FS_CU_LAYOUT(x) (sizeof(void *) != 8 || (x))
_Static_assert(FS_CU_LAYOUT(sizeof(fs_cu_kernel_node) == 72), "CUDA_KERNEL_NODE_PARAMS_v2");
_Static_assert(FS_CU_LAYOUT(offsetof(fs_cu_kernel_node, params) == 40), "and its padding");
_Static_assert(FS_CU_LAYOUT(sizeof(fs_cu_host_node) == 16), "CUDA_HOST_NODE_PARAMS");
_Static_assert(FS_CU_LAYOUT(sizeof(fs_cu_place) == 88), "half of CUDA_MEMCPY3D_v2");
_Static_assert(FS_CU_LAYOUT(sizeof(fs_cu_copy) == 200), "CUDA_MEMCPY3D_v2");

typedef struct fs_cuda_api {
#define FS_CU(name, version, params) fs_cu_result(*name) params;
#define FS_CU_OPTIONAL(name, version, params) fs_cu_result(*name) params;
#include "exec/cuda/driver.def"
#undef FS_CU
#undef FS_CU_OPTIONAL
} fs_cuda_api;

typedef struct fs_cuda {
  void *library;
  fs_cuda_api api;
  int version; /* the CUDA version of the driver: 1000 * major + 10 * minor */
  fs_cu_device device;
  fs_cu_context context;
  int capability; /* 10 * major + minor */
  bool words;     /* cuStreamWaitValue64 and cuStreamWriteValue64 are there and work */
  char name[96];  /* the device's */
} fs_cuda;

typedef struct fs_cuda_where {
  const char *driver; /* path or name of the library; NULL: libcuda.so.1 */
  uint32_t ordinal;   /* of the device, from 0 */
} fs_cuda_where;

/* Why there is no device: one line. */
typedef struct fs_cuda_reason {
  char text[240];
} fs_cuda_reason;

/* Opens the driver.  FSCHED_SYSTEM with a reason, which is not reported, when there is no device or
 * its driver cannot be used; nothing is held then. */
fs_status fs_cuda_find(fs_cuda *d, const fs_cuda_where *where, fs_cuda_reason *reason) FS_MUST_USE;
/* The same, but reports the reason. */
fs_status fs_cuda_open(fsched_context *ctx, fs_cuda *d, const fs_cuda_where *where) FS_MUST_USE;
/* Closes the driver, once everything made with it is gone; {0} is ignored. */
void fs_cuda_close(fs_cuda *d);

/* Make the device's context current for this thread, and undo that. */
fs_status fs_cuda_enter(fsched_context *ctx, const fs_cuda *d) FS_MUST_USE;
void fs_cuda_leave(const fs_cuda *d);
/* Like fs_cuda_enter, for releases, which have to go on whatever fails.  Returns whether
 * fs_cuda_leave has to follow. */
bool fs_cuda_enter_again(const fs_cuda *d);

/* Writes a line like "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".  Needs no context.
 * Requires room for some text. */
void fs_cuda_describe(const fs_cuda *d, const char *call, fs_cu_result result, char *text,
                      size_t size);
/* Reports a failure.  Returns FSCHED_SYSTEM.  Requires a failure. */
fs_status fs_cuda_fail(fsched_context *ctx, const fs_cuda *d, const char *call,
                       fs_cu_result result) FS_MUST_USE;

/* FS_CU_TRY(ctx, d, cuMemFree, (address)): makes the call; reports a failure and returns it. */
#define FS_CU_TRY(ctx, d, call, args)                        \
  do {                                                       \
    fs_cu_result fs_cu_result_ = (d)->api.call args;         \
    if (fs_cu_result_ != FS_CU_SUCCESS) {                    \
      return fs_cuda_fail((ctx), (d), #call, fs_cu_result_); \
    }                                                        \
  } while (0)

#endif
