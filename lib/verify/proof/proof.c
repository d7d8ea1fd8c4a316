/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a proof, fsched-proof(5).
 *
 *   text     words and numbers, faults with line and column                    proof/text.c
 *   header   unit and sets                                                     proof/header.c
 *   copies   first reads and last writes                                       proof/copies.c
 *   stays    where copies are open: which there are                            proof/stays
 *   sets     what ops take of sets, and which exclude each other               proof/sets.c
 *   lives    what surely lies in a memory at some moment                       proof/lives.c
 *   state    windows and orders that are assumed                               proof/state.c
 *   rules    of axioms                                                         proof/rules.c
 *   clauses  lemmas and axioms by number                                       proof/clauses.c
 *   replay   steps                                                             proof/replay.c
 *
 * It knows of the graph what makes starts late: edges, times, latencies, given starts, what ops
 * take of queues, resources and the limit of concurrency, what surely lies in memories, and the
 * copies that no schedule does without.  All else, other copies, places and waits, only asks more
 * of a schedule: what no schedule without it does, no schedule does.  So does the choice of queues:
 * of some queues no more can be taken at one time than there are.  Where copies are open it knows
 * more (stays/stays.h).
 *
 * Times are counted in units of T, a divisor of all times and given starts.  Of what is left of a
 * schedule keep the given starts, and of the others the orders alone: that of ops that are not in
 * progress at one time, and the graph's; and start each op as early as they allow.  Then each start
 * is 0 or a given one, and the times of some ops.  Ops that are in progress at one time are not
 * ordered, so that all of them (intervals of which any two meet have a moment in common) were in
 * progress at one time before.  So that is a schedule again, and none of its ends is later.
 * (An op without a length is in progress at one time with those that begin before and end behind
 * it; these are not ordered with it, so all of them ran over its moment before.)  The same is true
 * of what lies in a memory, which is there from the start of an op to the end of another one, from
 * 0, or to the end.  An op with a latency is in progress on its queues for its time, and in all
 * else for its latency; both orders are kept.
 *
 * So where there is a schedule at all, there is one in which no op ends later than the latest given
 * start and the times of all ops and copies, one behind the other: a chain of ops that begins at 0
 * or with a given start has each op once.  That none is in these windows shows that there is none;
 * and that there is none with less of a memory shows that each takes more of it.
 *
 * A text may have several proofs, one behind the other.  The last line of each says what is shown,
 * and only the steps behind its last "begin" show it, so both are looked for from its end.
 * Complexity: O(text) in time but for sorting, and what the rules say; memory of the largest number
 * of lemmas at one time. */
#include "verify/proof/stays/stays.h"

#include "base/progress.h"
#include "base/saturate.h"
#include "fsched/verify.h"

static fs_status check_covered(const fs_vproof *p) {
  const fsched_graph *g = p->g;
  const char *what = g->n_rolled > 0 ? "loops that stay loops"
                     : g->gangs_open ? "gangs that choose their queues"
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

static fs_status read_bound(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  FS_TRY(fs_vtext_next(t, "a time, none, or a peak", &p->claim.value));
  return p->claim.value > 0 ? FSCHED_OK : fs_vtext_wrong(t, place, "the time is 0");
}

static fs_status read_peak(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t id;
  p->claim.kind = FS_VCLAIM_PEAK;
  FS_TRY(fs_vtext_next(t, "a memory", &id));
  FS_TRY(fs_vproof_take_memory(p, id, place, &p->claim.memory));
  place = t->pos + 1;
  FS_TRY(fs_vtext_next(t, "bytes", &p->claim.value));
  return p->claim.value > 0 ? FSCHED_OK : fs_vtext_wrong(t, place, "these are 0 bytes");
}

/* Reads the last line, and takes it off the text; the text goes on from `begin`. */
static fs_status read_end(fs_vproof *p, size_t begin) {
  fs_vtext *t = &p->text;
  if (t->length == begin || t->at[t->length - 1] != '\n') {
    return fs_vtext_syntax(t, t->length, "the last line should have an end");
  }
  size_t end = last_line(t, t->length - 1);
  t->pos = end;
  if (!fs_vtext_word(t, "end")) {
    return fs_vtext_syntax(t, end, "the last line should begin with: end");
  }
  if (fs_vtext_word(t, " none")) {
    p->claim.kind = FS_VCLAIM_NONE;
  } else if (fs_vtext_word(t, " peak")) {
    FS_TRY(read_peak(p));
  } else {
    FS_TRY(read_bound(p));
  }
  FS_TRY(fs_vtext_line_end(t));
  t->length = end;
  t->pos = begin;
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

/* No start has to be later than all given ones and all times, one behind the other (see above). */
static fs_status find_horizon(fs_vproof *p) {
  uint64_t last = 0;
  if (p->claim.kind == FS_VCLAIM_MAKESPAN) {
    p->horizon = (p->claim.value - 1) / p->unit;
    return FSCHED_OK;
  }
  for (uint32_t op = 0; op < p->n_items; op++) {
    bool given = p->given != NULL && p->given[op] != UINT64_MAX;
    last = given ? fs_max(last, p->given[op]) : last;
    p->horizon = fs_add_most(p->horizon, p->time[op]);
  }
  p->horizon = fs_add_most(p->horizon, last);
  return p->horizon <= FS_VTEXT_MOST
             ? FSCHED_OK
             : fs_vtext_wrong(&p->text, p->text.length, "the times are too long to be summed up");
}

static fs_status check_part(fs_vproof *p, size_t begin) {
  FS_TRY(check_covered(p));
  FS_TRY(read_end(p, begin));
  FS_TRY(fs_vproof_header(p));
  FS_TRY(find_horizon(p));
  p->n_nodes = p->n_items + (p->stays == NULL ? 0 : p->stays->n_ends + p->stays->n_bools);
  FS_TRY(fs_vproof_begin(p));
  FS_TRY(p->stays == NULL ? FSCHED_OK : fs_vstays_facts(p));
  skip_to_last(&p->text);
  return fs_vproof_replay(p);
}

static void release_stays(fsched_context *ctx, fs_vstays *s) {
  fs_vec_free(ctx, &s->thing);
  fs_vec_free(ctx, &s->queue);
  fs_vec_free(ctx, &s->user);
  fs_vec_free(ctx, &s->in);
  fs_vec_free(ctx, &s->link);
  fs_vec_free(ctx, &s->use);
  fs_vec_free(ctx, &s->clause0);
  fs_vec_free(ctx, &s->clause);
}

static void release(fs_vproof *p) {
  if (p->stays != NULL) {
    release_stays(p->ctx, p->stays);
  }
  fs_vclauses_free(p->ctx, &p->lemmas);
  fs_vclauses_free(p->ctx, &p->axioms);
  fs_vec_free(p->ctx, &p->set);
  fs_vec_free(p->ctx, &p->lives);
  fs_vec_free(p->ctx, &p->copy);
  fs_vec_free(p->ctx, &p->copy_op);
  fs_vec_free(p->ctx, &p->op);
  fs_vec_free(p->ctx, &p->ordered);
  fs_vec_free(p->ctx, &p->pair);
  fs_vec_free(p->ctx, &p->clause);
  fs_vec_free(p->ctx, &p->things);
  fs_arena_release(&p->slots);
  fs_arena_release(&p->scratch);
  fs_arena_release(&p->arena);
}

/* Where the next proof begins behind one that begins here, or the text ends. */
static size_t end_of_part(const char *text, size_t begin, size_t length) {
  static const char first[] = "\nfsched-proof ";
  const char *next =
      begin == length ? NULL : memmem(text + begin, length - begin, first, sizeof first - 1);
  return next == NULL ? length : (size_t)(next - text) + 1;
}

typedef struct proof_text {
  const char *name, *at;
  size_t length;
} proof_text;

/* Checks the proof of the text from `begin` to `end`. */
static fs_status verify_part(fsched_context *ctx, const fsched_graph *graph, const proof_text *text,
                             size_t begin, size_t end, fs_vclaim *claim) {
  fs_vproof p = {
      .ctx = ctx,
      .g = graph,
      .text = {.ctx = ctx, .name = text->name, .at = text->at, .length = end, .all = text->length}};
  fs_arena_init(&p.arena, ctx);
  fs_arena_init(&p.scratch, ctx);
  fs_arena_init(&p.slots, ctx);
  fs_status status = check_part(&p, begin);
  release(&p);
  *claim = p.claim;
  return status;
}

static void take_claim(const fs_vclaim *claim, uint64_t *bound, uint64_t *peak) {
  switch (claim->kind) {
    case FS_VCLAIM_MAKESPAN:
      *bound = fs_max(*bound, claim->value);
      break;
    case FS_VCLAIM_NONE:
      *bound = FSCHED_NO_SCHEDULE;
      break;
    case FS_VCLAIM_PEAK:
      if (peak != NULL) {
        peak[claim->memory] = fs_max(peak[claim->memory], claim->value);
      }
      break;
  }
}

static fs_status verify_parts(fsched_context *ctx, const fsched_graph *graph,
                              const proof_text *text, uint64_t *bound, uint64_t *peak) {
  size_t begin = 0;
  do {
    fs_vclaim claim;
    size_t end = end_of_part(text->at, begin, text->length);
    FS_TRY(verify_part(ctx, graph, text, begin, end, &claim));
    take_claim(&claim, bound, peak);
    begin = end;
  } while (begin < text->length);
  return FSCHED_OK;
}

fsched_status fsched_verify_proofs(fsched_context *ctx, const fsched_graph *graph, const char *text,
                                   size_t length, const char *name, uint64_t *bound,
                                   uint64_t *peak) {
  if (graph == NULL || name == NULL || bound == NULL || (text == NULL && length > 0)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_USAGE, FS_NOWHERE, NULL,
                   "a proof needs a graph, a text, a name, and a place for what it shows");
  }
  proof_text t = {.name = name, .at = text, .length = length};
  uint32_t memories = peak == NULL ? 0 : graph->target.n_memories;
  *bound = 0;
  for (uint32_t m = 0; m < memories; m++) {
    peak[m] = 0;
  }
  fs_progress_begin(ctx, "verify", length);
  fs_status status = verify_parts(ctx, graph, &t, bound, peak);
  fs_progress_end(ctx, status);
  *bound = status == FSCHED_OK ? *bound : 0;
  for (uint32_t m = 0; m < memories && status != FSCHED_OK; m++) {
    peak[m] = 0;
  }
  return status;
}

fsched_status fsched_verify_proof(fsched_context *ctx, const fsched_graph *graph, const char *text,
                                  size_t length, const char *name, uint64_t *bound) {
  return fsched_verify_proofs(ctx, graph, text, length, name, bound, NULL);
}
