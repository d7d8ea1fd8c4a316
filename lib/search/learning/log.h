/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a learner, in the form of fsched-proof(5).
 *
 * What grows at the root becomes a lemma of one literal at once, as the reasons of a later state
 * may rest on it.  Behind the root, each growth and clash that a clause was traced through is an
 * axiom of its rule, or an earlier lemma; the clause is the lemma that follows from them, taken in
 * the order in which they came true.
 *
 * Where copies are open, a premise says that what it bounds is there, and what follows of own times
 * says that it is not, or so; clauses of the problem are axioms where they are used.
 *
 * Memory: all text since the last begin. */
#ifndef FS_SEARCH_LOG_H
#define FS_SEARCH_LOG_H

#include "search/learning/learner.h"

typedef struct fs_log_hint {
  uint32_t at;  /* on the trail; 0: at the root */
  int64_t step; /* a lemma; below 0: an axiom since the last lemma */
} fs_log_hint;

struct fs_proof_log {
  fs_text *text;
  uint64_t lemmas;
  int64_t axioms, clash; /* behind the last lemma; the step of the clash */
  uint64_t *root;        /* per side: the lemma of what has grown at the root; 0: none */
  uint64_t *seen; /* per side: 1 + the lemmas before the one that root[] is already a hint of */
  FS_VEC(fs_log_hint) roots, dropped, traced; /* hints of the next lemma, in three parts */
  /* What fs_learner_refuse is told of next: a memory, and things that have no addresses there
   * together; empty: no rule says so. */
  fs_ids unplaced;
  bool broken; /* a step was left out that no rule gives: the text is no proof */
};

/* Begins a text anew, with the steps of the learner, which has done nothing yet.  Refers to text
 * and learner. */
fs_status fs_log_begin(fs_proof_log *log, fs_learner *s, fs_text *text) FS_MUST_USE;
void fs_log_release(fs_proof_log *log, fsched_context *ctx);

/* A literal that holds at the root is a premise of the next lemma. */
void fs_log_root(fs_learner *s, fs_literal l);
/* The growth follows from premise[], as far as the value. */
void fs_log_traced(fs_learner *s, const fs_growth *g, fs_side_value value);
/* The growth `at` on the trail, by which the clause leaves a literal out, follows from the
 * premises, as far as the value. */
void fs_log_dropped(fs_learner *s, uint32_t at, fs_side_value value, const fs_literal *premise,
                    size_t n);
/* The clash is the last hint of the next lemma. */
void fs_log_clash(fs_learner *s);
/* The lemma of found[]. */
void fs_log_lemma(fs_learner *s);
/* A growth at the root, before it is made; premise[] is overwritten. */
void fs_log_growth(fs_learner *s, const fs_growth *g, fs_side_value value);
/* Of the clause all literals but this one fail at the root. */
void fs_log_left(fs_learner *s, uint32_t clause, fs_literal l);
/* The clash needs no decision: nothing is left. */
void fs_log_none(fs_learner *s);
/* At the root, the items of a table take too much between two times: nothing is left. */
void fs_log_energy(fs_learner *s, const fs_learner_table *table, fs_side_value begin,
                   fs_side_value end);
/* At the root, the windows of these ops leave more in a memory at one moment than it has: nothing
 * is left. */
void fs_log_memory(fs_learner *s, uint32_t memory, const uint32_t *op, size_t n);
/* The last lemma; 0 without a log. */
uint32_t fs_log_last(const fs_learner *s);
/* A clause is forgotten. */
void fs_log_forget(fs_learner *s, uint32_t clause);
/* The lines that name what is open: copies, ends of stays and booleans, numbered as the variables
 * of the learner; and of a table without a field.  log_open.c */
fs_status fs_log_put_open(fs_text *t, const fs_learner *s) FS_MUST_USE;
void fs_log_put_open_set(fs_text *t, const fs_learner *s, const fs_learner_table *table);

/* What the next fs_learner_refuse is of: residencies of a memory, by the ends of their stays and,
 * of scratch, by their ops.  More than some are no step of a proof. */
void fs_log_unplaced(fs_learner *s, uint32_t memory, const uint32_t *node, size_t n);
/* What the next fs_learner_refuse is of is no step of a proof. */
void fs_log_unknown(fs_learner *s);

/* No schedule ends before this. */
void fs_log_end(fs_text *text, fs_tick makespan);
/* There is no schedule. */
void fs_log_end_none(fs_text *text);

#endif
