/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in kernels for CUDA devices, as text that any driver compiles for its device. */
#ifndef FS_EXEC_CUDA_BUILTIN_H
#define FS_EXEC_CUDA_BUILTIN_H

extern const char fs_cuda_builtin_ptx[]; /* ends with a NUL */

#endif
