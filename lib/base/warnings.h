/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of warnings (warn.def) and whether a context has them on.  fs_report looks up the class
 * itself: warnings that are off are dropped, and warnings that count as errors are reported as
 * errors. */
#ifndef FS_WARNINGS_H
#define FS_WARNINGS_H

#include "base/context.h"

typedef enum fs_warn {
#define FS_WARN(id, name, group, what) FS_WARN_##id,
#include "base/warn.def"
#undef FS_WARN
  FS_WARN_COUNT
} fs_warn;

/* Is the class on?  While it is off, work that serves its warnings alone can be skipped.  Requires
 * a class of warn.def. */
bool fs_warn_on(const fsched_context *ctx, fs_warn class_id);
/* Warnings that were reported as errors so far.  A call during which the number rises fails with
 * FSCHED_BAD_INPUT. */
uint32_t fs_warn_errors(const fsched_context *ctx);
/* The class whose diagnostics have this code; FS_NONE when no class of warnings has it. */
uint32_t fs_warn_of_name(const char *code);
/* The level of warnings with this code.  Requires one of a class: so every warning has one. */
fsched_warning_level fs_warn_level(const fsched_context *ctx, fs_diag_code code);

#endif
