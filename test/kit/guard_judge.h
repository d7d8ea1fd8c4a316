/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of parity barriers, in all of its executions: written from the comment of
 * model/rolled.h.  A barrier knows how many producers of its present phase are missing, and the
 * parity of the last complete phase; nothing tells it which phase a command asks for. */
#ifndef FS_TEST_GUARD_JUDGE_H
#define FS_TEST_GUARD_JUDGE_H

#include "model/rolled.h"

typedef enum fs_guard_verdict {
  FS_GUARDS_RIGHT,
  FS_GUARDS_EARLY, /* in some execution a command starts before what its waits are for is over */
  FS_GUARDS_STUCK, /* some execution comes to no end */
  FS_GUARDS_LARGE  /* there are too many states */
} fs_guard_verdict;

/* Tries all interleavings of `trip` iterations on a guarded loop.  Requires at most 8 commands, 8
 * barriers and 15 steps of each queue. */
fs_guard_verdict fs_guard_judge(const fs_rolled_loop *r, uint64_t trip);

/* The same of runs of `run` iterations each, a multiple of the copies, that are joined: `trip` are
 * those of all. */
fs_guard_verdict fs_guard_judge_joined(const fs_rolled_loop *r, uint64_t trip, uint64_t run);

#endif
