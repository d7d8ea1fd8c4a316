/* SPDX-License-Identifier: Apache-2.0 */
/* Short memories: the learner chooses which copies are made, and when (problem/spilling).
 *
 * It knows memories by amounts.  What it finds gets addresses from lib/placement, or, where that is
 * not soon decided, from another learner (decide.c); where there are none, it is
 * told of a smallest set of residencies that have none as long as those of them meet
 * that do: a moment for each largest set that is there at once, a begin that is no later than the
 * first of its moments, an end that is behind the last one.  Where this is not decided, the search
 * goes on, and proves nothing any more. */
#ifndef FS_SEARCH_SPILL_H
#define FS_SEARCH_SPILL_H

#include "problem/spilling/spilling.h"
#include "search/learning/log.h"

typedef struct fs_spills {
  fs_problem *p;
  fs_arena *arena;
  fs_learner l;
  fs_tick limit;  /* no schedule may be longer; FS_TICK_NONE: not set yet */
  fs_tick most;   /* all items one at a time: if there is a schedule, one is no longer */
  bool exact;     /* nothing was given up */
  bool ended;     /* nothing is left to try */
  fs_tick *start; /* room for a point */
  uint8_t *holds;
  uint64_t refused; /* points without addresses */
  fs_proof_log log;
} fs_spills;

/* Does the search know the problem?  Requires a problem with spilling. */
bool fs_spills_know(const fs_problem *p);
/* Requires a problem that it knows; it and the arena outlive the search. */
fs_status fs_spills_init(fs_spills *s, fs_problem *p, fs_arena *arena) FS_MUST_USE;
/* The steps of the search go into a text, which begins anew; it has done nothing yet.  They are a
 * proof as long as fs_spills_tell_all. */
fs_status fs_spills_log(fs_spills *s, fs_text *text) FS_MUST_USE;
static inline bool fs_spills_tell_all(const fs_spills *s) { return !s->log.broken; }
void fs_spills_release(fs_spills *s); /* ignores one that is all zeros */
/* A schedule of the graph that guides decisions from now on. */
void fs_spills_guide(fs_spills *s, const fs_schedule *known);

typedef struct fs_spill_turn {
  uint64_t conflicts, work; /* the most; work as the learner counts it */
  bool (*stop)(void *user);
  void *user;
  fs_tick best;       /* the shortest makespan that is known: shorter ones are looked for */
  fs_schedule *found; /* a shorter one, or NULL */
  bool none;          /* it is proven that there is none */
} fs_spill_turn;
/* Goes on until a schedule is found, none exists, or the conflicts or the work are used up. */
fs_status fs_spills_run(fs_spills *s, fs_spill_turn *turn) FS_MUST_USE;

#endif
