/* SPDX-License-Identifier: Apache-2.0 */
#include "search/prove.h"

#include "search/learning/log.h"

const char *fs_prove_refused(const fs_problem *p) {
  return p->n_copies > 0 && !p->stated ? "has copies"
         : !fs_learner_knows(p)        ? "has numbers that are too large"
                                       : NULL;
}

/* Is there no schedule that ends before the bound?  Only what rules show counts, so the learner
 * takes no heads and tails from the problem, which may know more.  `text`: NULL, or gets the steps.
 */
static fs_status try_bound(const fs_problem *p, fs_tick bound, fs_text *text, bool *holds) {
  FS_SCRATCH(arena, p->ctx);
  fs_learner l;
  fs_proof_log log = {0};
  fs_status status = fs_learner_init(&l, p, &arena);
  if (status == FSCHED_OK && text != NULL) {
    status = fs_log_begin(&log, &l, text);
  } else if (status == FSCHED_OK) {
    fs_learner_strip(&l);
  }
  if (status == FSCHED_OK) {
    *holds = fs_learner_refutes(&l, bound - 1);
    status = l.status;
  }
  fs_learner_release(&l);
  fs_log_release(&log, p->ctx);
  return status;
}

/* The bound is at least *low, and below *high; is it at least `next`? */
static fs_status narrow(const fs_problem *p, fs_tick next, fs_tick *low, fs_tick *high) {
  bool holds;
  if (next <= *low || next >= *high) {
    return FSCHED_OK;
  }
  FS_TRY(try_bound(p, next, NULL, &holds));
  *(holds ? low : high) = next;
  return FSCHED_OK;
}

fs_status fs_prove_at_root(const fs_problem *p, fs_tick most, fs_text *text, fs_tick *bound) {
  assert(fs_prove_refused(p) == NULL && most > 0);
  fs_tick low = 1, high = most + 1; /* some op takes time */
  bool holds;
  FS_TRY(narrow(p, most, &low, &high));
  FS_TRY(narrow(p, p->lower_bound, &low, &high)); /* which was found by some of the rules */
  while (high - low > 1 && !fs_problem_stopped(p)) {
    FS_TRY(narrow(p, low + (high - low) / 2, &low, &high));
  }
  *bound = low;
  return try_bound(p, low, text, &holds);
}
