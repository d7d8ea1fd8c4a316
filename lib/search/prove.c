/* SPDX-License-Identifier: Apache-2.0 */
#include "search/prove.h"

#include "search/learning/log.h"

const char *fs_prove_refused(const fs_problem *p) {
  return p->graph->n_rolled > 0          ? "has loops that stay loops"
         : p->n_items != p->graph->n_ops ? "has copies"
         : p->n_items > FS_LEARNER_MOST  ? "has more than 1000 ops"
         : !fs_learner_knows(p)          ? "has ops that choose among unlike queues, or waits"
                                         : NULL;
}

/* Is there no schedule that ends before the bound?  The text gets the steps; with them, a learner
 * takes no heads and tails from the problem, which may know more than the rules. */
static fs_status try_bound(const fs_problem *p, fs_tick bound, fs_text *text, bool *holds) {
  FS_SCRATCH(arena, p->ctx);
  fs_learner l;
  fs_proof_log log = {0};
  fs_status status = fs_learner_init(&l, p, &arena);
  if (status == FSCHED_OK) {
    status = fs_log_begin(&log, &l, text);
  }
  if (status == FSCHED_OK) {
    *holds = fs_learner_refutes(&l, bound - 1);
    status = l.status;
  }
  fs_learner_release(&l);
  fs_log_release(&log, p->ctx);
  return status;
}

fs_status fs_prove_at_root(const fs_problem *p, fs_tick most, fs_text *text, fs_tick *bound) {
  assert(fs_prove_refused(p) == NULL && most > 0);
  fs_tick low = 1, high = most; /* some op takes time */
  bool holds;
  FS_TRY(try_bound(p, most, text, &holds));
  low = holds ? most : low;
  while (low < high && high - low > 1) {
    fs_tick middle = low + (high - low) / 2;
    FS_TRY(try_bound(p, middle, text, &holds));
    low = holds ? middle : low;
    high = holds ? high : middle;
  }
  *bound = low;
  return try_bound(p, low, text, &holds);
}
