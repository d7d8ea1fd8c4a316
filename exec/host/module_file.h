/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file of a module that a stream names, and decides whether it may be opened.  A module
 * is code, and the stream's author has chosen its name, so by default none is opened. */
#ifndef FS_EXEC_MODULE_FILE_H
#define FS_EXEC_MODULE_FILE_H

#include "base/context.h"
#include "fsched/exec.h"

typedef struct fs_module_rule {
  const char *directory; /* relative names are relative to it */
  bool closed;           /* none is opened */
  bool confined;         /* only files in or below the directory, wherever links lead */
} fs_module_rule;

/* The options' strings must outlive the rule. */
fs_module_rule fs_module_rule_of(const fsched_device_options *options);

enum { FS_MODULE_PATH = 4096 };

/* Writes the path of the file to open to `file`: for a name without a suffix, the first that exists
 * with one of the endings (a list that ends with NULL).  With a confining rule the path is free of
 * links and names a regular file.  The rule trusts all who may write to the directory: they can
 * change the file until it is opened.  Requires names, and endings.
 * Errors: FSCHED_REPLAY, reported with the op and the option that would allow it. */
fs_status fs_module_file(fsched_context *ctx, const fs_module_rule *rule, const char *op,
                         const char *module, const char *const *endings,
                         char file[FS_MODULE_PATH]) FS_MUST_USE;

#endif
