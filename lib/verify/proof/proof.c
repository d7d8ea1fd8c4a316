/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a proof, fsched-proof(5).
 *
 *   text     words and numbers, faults with line and column                    proof/text.c
 *   header   unit and sets                                                     proof/header.c
 *   copies   first reads and last writes                                       proof/copies.c
 *   sets     what ops take of sets, and which exclude each other               proof/sets.c
 *   state    windows and orders that are assumed                               proof/state.c
 *   rules    of axioms                                                         proof/rules.c
 *   clauses  lemmas and axioms by number                                       proof/clauses.c
 *   replay   steps                                                             proof/replay.c
 *
 * It knows of the graph what makes starts late: edges, times, what ops take of queues, resources
 * and the limit of concurrency, and the copies that no schedule does without.  All else, room in
 * memories with its copies, waits and given starts, only asks more of a schedule: what no schedule
 * without it does, no schedule does.  So
 * does the choice of queues: of some queues no more can be taken at one time than there are.
 *
 * Times are counted in units of T, a divisor of all.  Of what is left of a schedule keep the orders
 * alone: that of ops that are not in progress at one time, and the graph's; and start each op as
 * early as they allow.  Then starts are sums of times.  Ops that are in progress at one time are
 * not ordered, so that all of them (intervals of which any two meet have a moment in common) were
 * in progress at one time before.  So that is a schedule again, and none of its ends is later.
 * (An op without a length is in progress at one time with those that begin before and end behind
 * it; these are not ordered with it, so all of them ran over its moment before.)
 *
 * The last line says what is shown, and only the steps behind the last "begin" show it, so both are
 * looked for from the end.  Complexity: O(text) in time but for sorting, and what the rules say;
 * memory of the largest number of lemmas at one time. */
#include "verify/proof/proof.h"

#include "base/progress.h"
#include "fsched/verify.h"

static fs_status check_covered(const fs_vproof *p) {
  const fsched_graph *g = p->g;
  const char *what = g->n_rolled > 0                     ? "loops that stay loops"
                     : g->gangs_open                     ? "gangs that choose their queues"
                     : fs_graph_first_slow(g) != FS_NONE ? "latencies"
                                                         : NULL;
  if (what != NULL) {
    return fs_fail(p->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_PROOF, FS_NOWHERE, NULL,
                   "the graph has %s, and proofs do not cover that", what);
  }
  return FSCHED_OK;
}

/* Where the last line of the first `length` bytes begins. */
static size_t last_line(const fs_vtext *t, size_t length) {
  size_t at = length;
  while (at > 0 && t->at[at - 1] != '\n') {
    at--;
  }
  return at;
}

/* Reads the last line, and takes it off the text. */
static fs_status read_end(fs_vproof *p, uint64_t *bound) {
  fs_vtext *t = &p->text;
  if (t->all == 0 || t->at[t->all - 1] != '\n') {
    return fs_vtext_syntax(t, t->all, "the last line should have an end");
  }
  size_t end = last_line(t, t->all - 1);
  t->pos = end;
  if (!fs_vtext_word(t, "end")) {
    return fs_vtext_syntax(t, end, "the last line should begin with: end");
  }
  FS_TRY(fs_vtext_next(t, "a time", bound));
  FS_TRY(fs_vtext_line_end(t));
  if (*bound == 0) {
    return fs_vtext_wrong(t, end + strlen("end "), "the time is 0");
  }
  t->length = end;
  t->pos = 0;
  return FSCHED_OK;
}

/* Moves behind the last "begin". */
static void skip_to_last(fs_vtext *t) {
  static const char begin[] = "\nbegin\n";
  size_t n = sizeof begin - 1;
  for (size_t at = t->length; at >= t->pos && at >= n; at--) {
    if (t->at[at - 1] == '\n' && memcmp(t->at + at - n, begin, n) == 0) {
      t->pos = at;
      return;
    }
  }
}

static fs_status check_proof(fs_vproof *p, uint64_t *bound) {
  FS_TRY(check_covered(p));
  FS_TRY(read_end(p, bound));
  FS_TRY(fs_vproof_header(p));
  p->horizon = (*bound - 1) / p->unit;
  FS_TRY(fs_vproof_begin(p));
  skip_to_last(&p->text);
  return fs_vproof_replay(p);
}

static void release(fs_vproof *p) {
  fs_vclauses_free(p->ctx, &p->lemmas);
  fs_vclauses_free(p->ctx, &p->axioms);
  fs_vec_free(p->ctx, &p->set);
  fs_vec_free(p->ctx, &p->copy);
  fs_vec_free(p->ctx, &p->copy_op);
  fs_vec_free(p->ctx, &p->op);
  fs_vec_free(p->ctx, &p->ordered);
  fs_vec_free(p->ctx, &p->pair);
  fs_vec_free(p->ctx, &p->clause);
  fs_arena_release(&p->slots);
  fs_arena_release(&p->scratch);
  fs_arena_release(&p->arena);
}

fsched_status fsched_verify_proof(fsched_context *ctx, const fsched_graph *graph, const char *text,
                                  size_t length, const char *name, uint64_t *bound) {
  if (graph == NULL || name == NULL || bound == NULL || (text == NULL && length > 0)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_USAGE, FS_NOWHERE, NULL,
                   "a proof needs a graph, a text, a name, and a place for what it shows");
  }
  fs_vproof p = {.ctx = ctx,
                 .g = graph,
                 .text = {.ctx = ctx, .name = name, .at = text, .length = length, .all = length}};
  uint64_t shown = 0;
  *bound = 0;
  fs_arena_init(&p.arena, ctx);
  fs_arena_init(&p.scratch, ctx);
  fs_arena_init(&p.slots, ctx);
  fs_progress_begin(ctx, "verify", length);
  fs_status status = check_proof(&p, &shown);
  fs_progress_end(ctx, status);
  release(&p);
  *bound = status == FSCHED_OK ? shown : 0;
  return status;
}
