/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that need no search, or little. */
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
/* Tries to write a proof that there is no schedule: by what follows without a search, by what lies
 * in memories, and by up to *nodes conflicts, which are taken off, or until the problem's user
 * stops it.  *shown: the proof is there; else the text is empty.  Requires a problem of what
 * proofs speak of (problem/stated), not refused; its horizon becomes one that is enough. */
fs_status fs_prove_none(fs_problem *p, uint64_t *nodes, fs_text *text, bool *shown) FS_MUST_USE;
/* Where each schedule of the problem has one that is no longer, and that ends by this: one op or
 * copy behind the other, after the last given start. */
fs_tick fs_prove_horizon(const fs_problem *p);
/* Adds a proof for each bounded memory of which all schedules take some bytes for sure.  Requires a
 * graph whose ops all have given starts, and that proofs cover. */
fs_status fs_prove_peaks(fsched_context *ctx, const fsched_graph *g, fs_text *text) FS_MUST_USE;
/* Have all ops given starts, and is there a bounded memory? */
bool fs_prove_has_peaks(const fsched_graph *g);

#endif
