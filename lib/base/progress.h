/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the progress of long work to the context's user.  Without a listener a step costs one
 * comparison.
 *   fs_progress_begin(ctx, "verify", 7);
 *   fs_progress_at(ctx, 1); ...
 *   fs_progress_end(ctx, status);
 * Work that begins within other work is a part of it: its steps continue the count of the outer
 * work, whose total includes them.  Work nests one level deep. */
#ifndef FS_PROGRESS_H
#define FS_PROGRESS_H

#include "base/base.h"

typedef struct fs_progress {
  fsched_progress_fn tell; /* or NULL */
  void *user;
  const char *what;
  uint64_t done, total;
  uint64_t base, inner_total; /* of inner work: the outer steps done when it began, and its own
                               * total */
  uint32_t depth;             /* 0: no work; at most 2 */
} fs_progress;

/* Is there a listener? */
bool fs_progress_heard(const fsched_context *ctx);
/* Requires at most one other work in progress. */
void fs_progress_begin(fsched_context *ctx, const char *what, uint64_t total);
/* Sets `done` of the innermost work.  It never decreases and stays at the total once it is
 * reached. */
void fs_progress_at(fsched_context *ctx, uint64_t done);
/* Updates the total of the outer work. */
void fs_progress_total(fsched_context *ctx, uint64_t total);
/* Ends the innermost work, which is complete or, when `status` says so, failed together with the
 * outer work. */
void fs_progress_end(fsched_context *ctx, fs_status status);

#endif
