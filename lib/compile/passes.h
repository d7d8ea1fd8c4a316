/* SPDX-License-Identifier: Apache-2.0 */
/* The passes by number, in their order: what fsched_pass_name counts. */
#ifndef FS_PASSES_H
#define FS_PASSES_H

typedef enum fs_pass {
#define FS_PASS(id, name, summary) FS_PASS_##id,
#include "compile/passes.def"
#undef FS_PASS
  FS_PASS_COUNT
} fs_pass;

#endif
