/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the search share. */
#ifndef FS_SEARCH_PRIVATE_H
#define FS_SEARCH_PRIVATE_H

#include "problem/problem.h"
#include "search/crew/crew.h"
#include "search/generation/anneal.h"
#include "search/search.h"

/* Work, which is what the rounds of a crew are counted in, is about as many nanoseconds as it takes
 * on some machine, so that members that do different things at one time are about as fast. */
enum {
#ifdef FS_STRESS
  FS_WORK_ROUND = 100000,
#else
  FS_WORK_ROUND = 10000000,
#endif
  FS_WORK_RUN = 300 /* a run of the list scheduler, per op */
};

/* No schedule that is searched for is as long: a bound of this says that there is none at all. */
#define FS_SEARCH_LONGEST (FS_TICK_NONE / 8)

typedef struct fs_search_state {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_search_options *o;
  fs_schedule *best; /* NULL: none is known */
  fs_tick bound;
  uint64_t begin_ns, deadline_ns, told_ns; /* deadline 0: none */
  uint64_t nodes, most_nodes;              /* most_nodes 0: no limit */
  uint64_t before_trials, most_trials;     /* nodes; runs */
  fs_tick told_makespan, told_bound;
  fs_text *proof;      /* where the steps of the learner go; NULL: nowhere */
  bool whole;          /* they are a proof of the bound, as the learner came to its end */
  fs_text raised;      /* with `proof`, the steps that showed the bound without it */
  const char *refused; /* why no proof can be written, where that ends the search; or NULL */

  struct fs_retiming *retiming; /* of graphs that spill */

  /* Of a member of a crew (jobs.c). */
  fs_crew *crew;        /* NULL: it searches alone */
  uint32_t member;      /* the first, 0, searches as one that is alone does */
  uint64_t work, round; /* so far */
  uint64_t round_end;   /* work */
  fs_tick said;         /* the makespan of the last schedule that was said */
  fs_tick heard_bound;  /* of the others, where a bound of its own needs a proof of its own */
  uint64_t heard_nodes; /* of the others */
  bool settled;         /* what is known is optimal, or there is none, as others have proven */
  bool hears_in_trials; /* words are heard while the list scheduler runs; what is shorter */
  fs_schedule *heard;   /* then waits here; or NULL */
  fs_status heard_status;
} fs_search_state;

/* Is the search at an end, by a limit or the caller?  `user` is its state. */
bool fs_search_over(void *user);
/* The caller hears of the shortest makespan and the bound, where they have changed or after a
 * while.
 */
void fs_search_tell(fs_search_state *s, fs_tick makespan);
/* FS_TICK_NONE: none is known. */
fs_tick fs_search_best(const fs_search_state *s);
/* Takes ownership of the schedule, which may be NULL. */
void fs_search_offer(fs_search_state *s, fs_schedule *found);
/* Searches as long as the limits allow.  search.c */
fs_status fs_search_graph(fs_search_state *s) FS_MUST_USE;
/* Searches a graph whose memories may be short; `p` is its problem without spills, or NULL.
 * short.c */
fs_status fs_search_short(fs_search_state *s, fs_problem *p) FS_MUST_USE;
/* Does its learner know the graph, with its copies and choices of queues? */
fs_status fs_search_can_open(const fs_search_state *s, bool *can) FS_MUST_USE;
/* With s->proof, the bound is what its steps show.  Can they, of this graph?  Requires a schedule
 * that is known. */
fs_status fs_search_can_show(const fs_search_state *s, bool *can) FS_MUST_USE;
/* Searches a problem with schedules from orders, and the learner, in turns.  turns.c */
fs_status fs_search_in_turns(fs_search_state *s, fs_problem *p, fs_arena *arena) FS_MUST_USE;

/* A search of orders whose content stays where it is.  lives.c */
typedef struct fs_life_search {
  fs_search_state *s;
  fs_problem *p; /* NULL: it is of no use here */
  fs_packed_form form;
  fs_annealing a;
  uint32_t *order;
  uint64_t *address; /* per residency */
  uint64_t *next;    /* per memory: the first address behind what lies there */
  fs_tick tried;     /* the shortest makespan of which a schedule was tried to be made */
} fs_life_search;
/* Refers to the problem, if it knows it; it may be NULL. */
fs_status fs_life_search_init(fs_life_search *x, fs_search_state *s, fs_problem *p,
                              fs_arena *arena) FS_MUST_USE;
/* Searches until so many nodes are used, or the limits say so.  Requires a problem that it knows.
 */
fs_status fs_life_search_run(fs_life_search *x, uint64_t nodes) FS_MUST_USE;
/* The parts of such a search: begins one of a problem whose copies are those of a schedule, if it
 * knows it; goes on from a schedule, which may be NULL, if it is the best; makes a schedule of the
 * best starts, once, if they are shorter than what is known, or sets NULL, also where no queues are
 * found for them. */
fs_status fs_life_search_open(fs_life_search *x, fs_search_state *s, fs_problem *p,
                              fs_arena *arena) FS_MUST_USE;
fs_status fs_life_search_take(fs_life_search *x, const fs_schedule *from) FS_MUST_USE;
fs_status fs_life_search_make(fs_life_search *x, fs_tick known, fs_schedule **found) FS_MUST_USE;

/* Starts and addresses for the copies of the best schedule known.  retime.c */
typedef struct fs_retiming {
  fs_arena arena;
  fs_problem *p; /* NULL: none was begun */
  fs_life_search lives;
  fs_tick makespan; /* of the schedule whose copies they are, or that was found since */
} fs_retiming;
void fs_retiming_init(fs_retiming *x, fsched_context *ctx);
void fs_retiming_release(fs_retiming *x);
/* *found is a schedule with the copies of the best one that is shorter, or NULL.  In about so many
 * nodes, which become those that were used. */
fs_status fs_retiming_run(fs_retiming *x, fs_search_state *s, const fs_schedule *best,
                          uint64_t *nodes, fs_schedule **found) FS_MUST_USE;

/* jobs.c */
/* Does the same with as many threads as the options have jobs, 2 or more. */
fs_status fs_search_with_jobs(fs_search_state *s) FS_MUST_USE;
/* Learners have no random numbers, so those of a crew are made unlike: every other one is not
 * guided by the best schedule, and they begin with longer and longer pauses between restarts. */
static inline bool fs_search_is_guided(const fs_search_state *s) { return s->member % 2 == 0; }
static inline uint64_t fs_search_pause(const fs_search_state *s, uint64_t usual) {
  enum { PAUSES = 4 };
  return usual << s->member / 2 % PAUSES;
}
/* Does the member's round end here? */
static inline bool fs_search_meets(const fs_search_state *s) {
  return s->crew != NULL && s->work >= s->round_end;
}
/* Ends the round, and those that should have ended since: says the schedule, the member's best (or
 * NULL), and hears the others.  *heard is a shorter one, which is the caller's, or NULL.  Requires
 * a member whose round ends. */
fs_status fs_search_exchange(fs_search_state *s, const fs_schedule *best,
                             fs_schedule **heard) FS_MUST_USE;
/* The same with s->best, if the round ends. */
fs_status fs_search_meet(fs_search_state *s) FS_MUST_USE;

#endif
