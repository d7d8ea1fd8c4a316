/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a module is that a stream names, and whether it may be opened.  A module is code, and
 * whoever wrote the stream has chosen its name, so by default none is opened. */
#ifndef FS_EXEC_MODULE_FILE_H
#define FS_EXEC_MODULE_FILE_H

#include "base/context.h"
#include "fsched/exec.h"

typedef struct fs_module_rule {
  const char *directory; /* relative names count from it */
  bool closed;           /* none is opened */
  bool confined;         /* only what lies in the directory or below, wherever links lead */
} fs_module_rule;

/* The options' strings must outlive it. */
fs_module_rule fs_module_rule_of(const fsched_device_options *options);

enum { FS_MODULE_PATH = 4096 };

/* To `file`, the path of the file that is to be opened: of a name without a suffix the first with
 * one of the endings (NULL behind the last) that there is.  With a confining rule it is free of
 * links and a regular file.  What lies there is the directory's owner's: who may write there can
 * change the file until it is opened.  Requires names, and endings.
 * Errors: FSCHED_REPLAY, reported with the op and what would allow it. */
fs_status fs_module_file(fsched_context *ctx, const fs_module_rule *rule, const char *op,
                         const char *module, const char *const *endings,
                         char file[FS_MODULE_PATH]) FS_MUST_USE;

#endif
