/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text in a separate process, for a library that does not survive a failed allocation. */
#ifndef FS_DOT_APART_H
#define FS_DOT_APART_H

#include "base/mem.h"

/* Makes text; reports its faults to the context of `out`. */
typedef fs_status (*fs_apart_fn)(void *user, fs_text *out);
/* Calls make(user, ...) in a child process (fork) and adds the text that it makes, which holds no
 * NUL, to `out`.  The child has no other effect here, but its last report is repeated.  A child
 * that dies counts as out of memory.  Requires a text to add to.  Errors: FSCHED_SYSTEM. */
fs_status fs_apart_run(fsched_context *ctx, fs_apart_fn make, void *user, fs_text *out) FS_MUST_USE;

#endif
