/* SPDX-License-Identifier: Apache-2.0 */
/* The passes in their order; their numbers are the indices of fsched_pass_name. */
#ifndef FS_PASSES_H
#define FS_PASSES_H

typedef enum fs_pass {
#define FS_PASS(id, name, summary) FS_PASS_##id,
#include "compile/passes.def"
#undef FS_PASS
  FS_PASS_COUNT
} fs_pass;

#endif
