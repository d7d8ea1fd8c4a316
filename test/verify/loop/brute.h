/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, by unrolling them: written from the comment of model/rolled.h alone. */
#ifndef FS_TEST_LOOP_BRUTE_H
#define FS_TEST_LOOP_BRUTE_H

#include "verify/loop/loop.h"

enum { FS_BRUTE_MEMBERS = 8, FS_BRUTE_TRIPS = 40 };

/* Returns what is wrong with n trips of a loop that is not malformed, or NULL: a deadlock, an
 * order, ring or lane that some durations break.  Up to FS_BRUTE_MEMBERS members and FS_BRUTE_TRIPS
 * trips. */
const char *fs_loop_brute(const fs_rolled_loop *r, const fs_loop_rules *rules, uint32_t n);

/* The same of runs of `run` iterations each, a multiple of the copies, that are joined: n are those
 * of all. */
const char *fs_loop_brute_joined(const fs_rolled_loop *r, const fs_loop_rules *rules, uint32_t n,
                                 uint32_t run);

/* Returns which instance is over before which one starts, whatever they take, for free(); NULL: a
 * deadlock.  Instance i of a member is member * n + i; entry x * n_members * n + y tells of x
 * before y.  The same limits hold. */
bool *fs_loop_brute_before(const fs_rolled_loop *r, uint32_t n_members, uint32_t n);

#endif
