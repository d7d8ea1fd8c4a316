/* SPDX-License-Identifier: Apache-2.0 */
/* When the members of tasks ran: from the moment in which one is given to its worker to that in
 * which its end is known.  Room is taken as tasks are submitted, so nothing is allocated when
 * members begin or end.  The user's lock is held in all calls. */
#ifndef FS_DYNAMIC_TIMES_H
#define FS_DYNAMIC_TIMES_H

#include "base/mem.h"

typedef struct fs_task_time {
  size_t name; /* where its name begins in `names` */
  uint32_t queue, member;
  bool group;
  uint64_t begin, end; /* ns; end 0: it has not ended */
} fs_task_time;

typedef struct fs_task_times {
  FS_VEC(fs_task_time) begun; /* in the order of their begins */
  FS_VEC(char) names;         /* each with its NUL */
  size_t n_reserved;          /* spans of members that were submitted and have not begun */
} fs_task_times;

/* Makes room for the members of a task, and keeps its name; *name is where. */
fs_status fs_times_reserve(fsched_context *ctx, fs_task_times *s, const char *task, uint32_t n,
                           size_t *name) FS_MUST_USE;
/* Takes back what was reserved last, as the task was refused.  Requires that it was. */
void fs_times_withdraw(fs_task_times *s, uint32_t n, size_t name);
/* Adds a span; its index.  Requires one that was reserved. */
size_t fs_times_begin(fs_task_times *s, fs_task_time span);
/* Forgets those of a run that is over. */
void fs_times_clear(fs_task_times *s);
void fs_times_release(fsched_context *ctx, fs_task_times *s);

#endif
