/* SPDX-License-Identifier: Apache-2.0 */
/* Telling the context's user how far long work has come.  Without a user who listens a step costs a
 * comparison.
 *   fs_progress_begin(ctx, "verify", 7);
 *   fs_progress_at(ctx, 1); ...
 *   fs_progress_end(ctx, status);
 * Work that begins within other work is a part of it: its steps go on from where the other stood,
 * and the outer total foresees them.  One level of that. */
#ifndef FS_PROGRESS_H
#define FS_PROGRESS_H

#include "base/base.h"

typedef struct fs_progress {
  fsched_progress_fn tell; /* or NULL */
  void *user;
  const char *what;
  uint64_t done, total;
  uint64_t base, inner_total; /* of work within the work: where it began, and its own total */
  uint32_t depth;             /* 0: no work; at most 2 */
} fs_progress;

/* Somebody listens. */
bool fs_progress_heard(const fsched_context *ctx);
/* Requires at most one other work that goes on. */
void fs_progress_begin(fsched_context *ctx, const char *what, uint64_t total);
/* `done` of the innermost work; steps back are none, and beyond the total it stays at the total. */
void fs_progress_at(fsched_context *ctx, uint64_t done);
/* The outer total is better known now. */
void fs_progress_total(fsched_context *ctx, uint64_t total);
/* The innermost work is complete, or, when `status` says so, failed, and the outer one with it. */
void fs_progress_end(fsched_context *ctx, fs_status status);

#endif
