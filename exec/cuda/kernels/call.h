/* SPDX-License-Identifier: Apache-2.0 */
/* How the built-in kernels of the device are called; shared by the host and builtin.cu.
 *
 * A call is a record in device memory, followed by its args, its scratch places, and the views of
 * those args that are strided; it is written anew only for an invocation with other values than the
 * one before.  A kernel gets the address of its call, and the address of the pooled memories, which
 * may differ in each invocation. */
#ifndef FS_EXEC_KERNELS_CALL_H
#define FS_EXEC_KERNELS_CALL_H

typedef struct fs_cuda_arg {
  unsigned long long data, length; /* address and length of the accessed bytes; with `pooled`, the
                                      address is an offset in the pooled memories; of a view, the
                                      bytes of its elements alone */
  unsigned long long value;
  unsigned long long view; /* offset of its fs_cuda_view from the call; 0: a range of bytes */
  unsigned int reads, writes, has_value, pooled; /* 0 or 1 */
} fs_cuda_arg;

/* A strided view, as few dimensions as there can be: the innermost elements do not touch.  Byte i
 * of the arg is byte i % element of element i / element, in the order of the dimensions. */
typedef struct fs_cuda_view {
  unsigned long long element, span; /* bytes; span: from the first byte to behind the last one */
  unsigned long long shape[5], stride[5];
  unsigned int n_dims, reserved;
} fs_cuda_view;

typedef struct fs_cuda_call {
  unsigned long long seed;   /* mix: the hash of the op's name */
  unsigned long long digest; /* where fsched_digest puts its result */
  unsigned int n_args, n_scratch;
  unsigned int kernel; /* fs_builtin: the digest begins with it */
  unsigned int reserved;
} fs_cuda_call;

enum { FS_CUDA_BLOCK = 256 }; /* threads per launch of a kernel, in one block */

#endif
