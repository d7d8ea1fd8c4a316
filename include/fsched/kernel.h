/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the interface of users' kernels on the CPU.
 *
 * `kernel: {module: FILE, function: NAME}` names a function of this type in a shared object, which
 * is FILE.so when FILE has no suffix; an application may pass functions of its own instead
 * (fsched_device_options.find).
 *
 *   int scale(const fsched_kernel_call *call) {
 *     float *y = call->args[0].data;
 *     ...
 *     return 0;
 *   }
 *
 * A kernel reads its `in` and `inout` args and writes its `out`, `inout` and `out_existing` args,
 * and nothing else.  It may be called from any thread, for several invocations at once, and should
 * depend on nothing but its args; stacks are small (256 KiB).
 * Returns 0 for success.  A positive number is a failure with that number as the cause (cause.h); a
 * negative one is a failure with FSCHED_CAUSE_SYSTEM.  A child process that a kernel makes by fork
 * must call exec or end; the library ends a child in which the kernel returns (exec.h). */
#ifndef FSCHED_KERNEL_H
#define FSCHED_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_kernel_arg {
  void *data; /* the accessed bytes (`at` included); NULL for a value, and for `no_dep` of a buffer
                 that has no memory at that time; accesses through `no_dep` are not ordered */
  uint64_t length; /* of `data`, in bytes */
  int64_t value;
  uint32_t tag; /* fsched_tag, as the graph's author gave it, whether loops stay loops or not */
} fsched_kernel_arg;

/** The shape of an arg that is a strided view (fsched-graph(5)): element i, j, ... is at `data` + i
 * * strides[0] + j * strides[1] ...; the arg's length goes to the end of the last one.  The bytes
 *  between elements are not the arg's: others may read and write them at the same time.  A kernel
 * of a module on a CUDA device gets this struct by value, as the parameter behind the arg's
 * address. */
typedef struct fsched_kernel_view {
  uint32_t n_dims; /* 0: a range of bytes, as the arg says */
  uint64_t element;
  uint64_t shape[5], strides[5]; /* in bytes; 0 behind the last dimension */
} fsched_kernel_view;

typedef struct fsched_kernel_call {
  size_t size; /* sizeof this struct as the library knows it */
  const char *op;
  const fsched_kernel_arg *args; /* in the order of the op's args, values included */
  const fsched_kernel_arg *scratch;
  uint32_t n_args, n_scratch;
  uint32_t grid[3], block[3]; /* as in the graph; 1 by default */
  uint64_t shared_bytes;
  const void *params; /* the block of parameters, at any address; NULL: the kernel has none */
  uint64_t n_params;  /* bytes */
  const fsched_kernel_view *views; /* of the args, in their order; NULL: all are ranges */
  /** For a group whose members have args of their own: the member whose call this is, of how many.
   *  Each has a call with its args alone, perhaps at the same time; the scratch is the group's. For
   *  all other ops, also those on several queues, which are called once, both are 0. */
  uint32_t member, n_members;
} fsched_kernel_call;

typedef int (*fsched_kernel_fn)(const fsched_kernel_call *call);

#ifdef __cplusplus
}
#endif
#endif
