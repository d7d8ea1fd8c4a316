/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of an instance with a known optimum: no bound may be above it, no window may leave it out,
 * every exact model must have it as a point, nothing may call it impossible, and nothing proven may
 * be better.  Each check returns a number that depends on all its results, so that the number
 * differs where a limit (limit.h) of the context changed anything.  `limit` is for messages;
 * "none": the limits are as usual. */
#ifndef FS_TEST_KNOWN_LOOK_H
#define FS_TEST_KNOWN_LOOK_H

#include "compile/known.h"

typedef uint64_t fs_known_look(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                               const char *limit);

fs_known_look fs_known_look_all;      /* for up to about 15 ops */
fs_known_look fs_known_look_places;   /* addresses of a strip's pieces when their times are known */
fs_known_look fs_known_look_copies;   /* copies that the learner chooses */
fs_known_look fs_known_look_spills;   /* those of a strip in a memory that could spill */
fs_known_look fs_known_look_attempts; /* which model the refinement chooses */
/* Not of the instance, but of a graph that needs its in-place pairs. */
fs_known_look fs_known_look_inplace;
fs_known_look fs_known_look_strip; /* bounds, and the model by positions */

#endif
