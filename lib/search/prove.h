/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs of bounds that need no search. */
#ifndef FS_SEARCH_PROVE_H
#define FS_SEARCH_PROVE_H

#include "problem/problem.h"

/* Can proofs be written of the problem?  NULL, or why not. */
const char *fs_prove_refused(const fs_problem *p);
/* Writes a proof that no schedule is shorter than *bound, the greatest bound up to `most` that is
 * found to follow without a search, before the problem's user stops it; all but its end
 * (fs_log_end).  Requires a problem that fs_prove_refused does not refuse, and a makespan above 0.
 * O(log most) runs of fs_learner_refutes. */
fs_status fs_prove_at_root(const fs_problem *p, fs_tick most, fs_text *text,
                           fs_tick *bound) FS_MUST_USE;

#endif
