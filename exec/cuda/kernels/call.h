/* SPDX-License-Identifier: Apache-2.0 */
/* How the built-in kernels of the device are called, for the host and for builtin.cu.
 *
 * A call is a record in device memory, its args and then its scratch places behind it; it is
 * written once and used at every invocation.  A kernel gets its address, and that of the pooled
 * memories, which may lie elsewhere each time. */
#ifndef FS_EXEC_KERNELS_CALL_H
#define FS_EXEC_KERNELS_CALL_H

typedef struct fs_cuda_arg {
  unsigned long long data, length; /* the accessed bytes; with `pooled`, from the pooled memories */
  unsigned long long value;
  unsigned int reads, writes, has_value, pooled; /* 0 or 1 */
} fs_cuda_arg;

typedef struct fs_cuda_call {
  unsigned long long seed;   /* mix: the hash of the op's name */
  unsigned long long digest; /* where fsched_digest puts its result */
  unsigned int n_args, n_scratch;
  unsigned int kernel; /* fs_builtin: with which a digest begins */
  unsigned int reserved;
} fs_cuda_call;

enum { FS_CUDA_BLOCK = 256 }; /* threads, in one block, with which the kernels are launched */

#endif
