/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the built-in kernels, in the order of fs_builtin (exec/host/kernel.h). */
#ifndef FS_BUILTINS_H
#define FS_BUILTINS_H

static const char *const fs_builtin_names[] = {"mix", "nop", "copy"};

#endif
