/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose memories are short.  Few ops: the list scheduler's trials, the learner, which
 * chooses the copies and refutes limits from below, and orders, in turns.  Many: orders alone.  The
 * orders are those that copy little, or, where no content may leave (lives.c), such that wait
 * little for room.  The copies of the best schedule get starts and addresses anew (retime.c).
 *
 * With a proof, the steps of each learner are logged, and only what they show raises the bound. */
#include "base/saturate.h"
#include "listsched/listsched.h"
#include "search/orders/turns.h"
#include "search/private.h"
#include "search/spill/spill.h"

enum {
  CONFLICTS = 250,  /* of the learner, until the caller hears of it */
  LEARNER_FEW = 32, /* ops from which on the learner's turns become shorter */
  MOST_ROUNDS = 20,
  MOST_PARTS = 8,  /* of the way from the bound, that members of a crew begin with */
  LEARNT_WORK = 7, /* of a step of the learner */
  SHARES = 8,      /* of the nodes that are left: of trials and orders in a turn */
  /* Neighbours of orders for each run of the list scheduler: half of one, and of more ops than this
   * so many, as runs take longer there. */
  MANY_OPS = 200,
  MANY_NEIGHBOURS = 16
};

static void count_runs(fs_search_state *s, uint64_t runs) {
  uint64_t nodes = s->before_trials + runs;
  s->work += (nodes - s->nodes) * FS_WORK_RUN * s->g->n_ops;
  s->nodes = nodes;
}

/* What others of the crew have found waits until the list scheduler is done. */
static void hear_in_trials(fs_search_state *s) {
  fs_schedule *heard = NULL;
  if (s->hears_in_trials && fs_search_meets(s) && s->heard_status == FSCHED_OK) {
    s->heard_status = fs_search_exchange(s, s->heard == NULL ? s->best : s->heard, &heard);
  }
  if (heard != NULL) {
    fs_schedule_destroy(s->heard);
    s->heard = heard;
  }
}

static bool trial_over(void *user, uint64_t runs, fs_tick best) {
  fs_search_state *s = user;
  count_runs(s, runs);
  hear_in_trials(s);
  fs_search_tell(s, fs_min(best, fs_search_best(s)));
  return runs >= s->most_trials || s->heard_status != FSCHED_OK || fs_search_over(s);
}

static fs_status meet_in_turns(void *user, const fs_schedule *best, fs_schedule **heard) {
  fs_search_state *s = user;
  *heard = NULL;
  return fs_search_meets(s) ? fs_search_exchange(s, best, heard) : FSCHED_OK;
}

static fs_status improve_in_turns(void *user, const fs_schedule *best, uint64_t *nodes,
                                  fs_schedule **found) {
  fs_search_state *s = user;
  return fs_retiming_run(s->retiming, s, best, nodes, found);
}

/* Runs the list scheduler again, at an effort. */
static fs_listsched_options trials_of(fs_search_state *s, uint64_t seed, uint32_t effort,
                                      uint64_t runs) {
  s->before_trials = s->nodes;
  s->most_trials = runs;
  return (fs_listsched_options){.evict = s->o->evict,
                                .seed = seed,
                                .lower_bound = s->bound,
                                .effort = effort,
                                .silent = true,
                                .stop = trial_over,
                                .user = s};
}

static fs_status offer_found(fs_search_state *s, fs_status status, fs_schedule *found) {
  if (status == FSCHED_OK) {
    fs_search_offer(s, found);
  }
  return status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
}

/* The nodes that are left, and a part of them; UINT64_MAX: there is no limit. */
static uint64_t left_of(const fs_search_state *s) {
  return s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - fs_min(s->nodes, s->most_nodes);
}
static uint64_t share_of(const fs_search_state *s) {
  return s->most_nodes == 0 ? UINT64_MAX : fs_max(1, left_of(s) / SHARES);
}

static fs_status search_trials(fs_search_state *s, uint64_t seed, uint32_t effort, uint64_t runs) {
  fs_listsched_options o = trials_of(s, seed, effort, runs);
  fs_schedule *found = NULL;
  s->hears_in_trials = s->crew != NULL;
  fs_status status = fs_listsched_run(s->ctx, s->g, &o, &found);
  s->hears_in_trials = false;
  FS_TRY(offer_found(s, status, found));
  fs_search_offer(s, s->heard);
  s->heard = NULL;
  FS_TRY(s->heard_status);
  return fs_search_meet(s);
}

/* Searches for orders that copy little, as long as so many runs take. */
static fs_status search_orders(fs_search_state *s, uint64_t seed, uint64_t runs) {
  if (s->best == NULL || !fs_order_turns_know(s->g)) {
    return search_trials(s, seed, FS_EFFORT_MOST, runs);
  }
  fs_listsched_options o = trials_of(s, seed, FS_EFFORT_MOST, runs);
  fs_schedule *found = NULL;
  fs_order_calls calls = {.meet = s->crew == NULL ? NULL : meet_in_turns,
                          .improve = improve_in_turns};
  fs_status status = fs_order_turns_run(s->ctx, &o, calls, s->best, &found);
  FS_TRY(offer_found(s, status, found));
  return fs_search_meet(s);
}

/* The learner chooses the copies, guided by the best schedule. */
static fs_status learn_spills(fs_search_state *s, fs_spills *spills, uint64_t work) {
  uint64_t end = fs_add_most(spills->l.work, work);
  if (s->best != NULL && fs_search_is_guided(s)) {
    fs_spills_guide(spills, s->best);
  }
  while (fs_search_best(s) > s->bound && spills->l.work < end && !spills->ended &&
         !fs_search_over(s)) {
    uint64_t before = spills->l.conflicts;
    uint64_t left = s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - s->nodes;
    fs_spill_turn turn = {.conflicts = fs_min(left, CONFLICTS),
                          .work = end - spills->l.work,
                          .stop = fs_search_over,
                          .user = s,
                          .best = fs_min(fs_search_best(s), FS_SEARCH_LONGEST)};
    uint64_t worked = spills->l.work;
    FS_TRY(fs_spills_run(spills, &turn));
    s->nodes += spills->l.conflicts - before;
    s->work += (spills->l.work - worked) * LEARNT_WORK;
    bool shown = turn.none && (s->proof == NULL || fs_spills_tell_all(spills));
    s->whole = s->whole || (shown && s->proof != NULL);
    s->bound = shown ? turn.best : s->bound;
    fs_search_offer(s, turn.found);
    FS_TRY(fs_search_meet(s));
    fs_search_tell(s, fs_search_best(s));
  }
  return FSCHED_OK;
}

/* A short turn of another learner, which is told of a limit that may be too short. */
static fs_status ask_spills(fs_search_state *s, fs_problem *p, fs_tick limit, uint64_t work,
                            bool *none) {
  FS_SCRATCH(arena, s->ctx);
  fs_spills spills;
  fs_spill_turn turn = {.conflicts = s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - s->nodes,
                        .work = work,
                        .stop = fs_search_over,
                        .user = s,
                        .best = limit + 1};
  fs_text text;
  fs_text_init(&text, s->ctx);
  fs_status status = fs_spills_init(&spills, p, &arena);
  if (status == FSCHED_OK && s->proof != NULL) {
    status = fs_spills_log(&spills, &text);
  }
  if (status == FSCHED_OK) {
    status = fs_spills_run(&spills, &turn);
  }
  s->nodes += spills.l.conflicts;
  s->work += spills.l.work * LEARNT_WORK;
  *none = status == FSCHED_OK && turn.none && (s->proof == NULL || fs_spills_tell_all(&spills));
  fs_spills_release(&spills);
  fs_search_offer(s, turn.found);
  if (*none && s->proof != NULL && limit + 1 > s->bound) {
    fs_text_drop(&s->raised);
    s->raised = text;
    fs_text_init(&text, s->ctx);
  }
  fs_text_drop(&text);
  s->bound = *none ? fs_max(s->bound, limit + 1) : s->bound;
  fs_search_tell(s, fs_search_best(s));
  return status == FSCHED_OK ? fs_search_meet(s) : status;
}

/* Raises the bound by limits that are refuted, until one is not.  They are a part of the way to
 * what is known: half of it, and half as much after each that took too long. */
static fs_status raise_by_limits(fs_search_state *s, fs_problem *p, uint64_t work, fs_tick *part) {
  bool none = true;
  while (none && s->best != NULL && fs_search_best(s) > s->bound && !fs_search_over(s)) {
    fs_tick gap = fs_search_best(s) - s->bound;
    FS_TRY(ask_spills(s, p, s->bound + (gap - 1) / *part, work, &none));
    *part = none || *part > gap ? *part : 2 * *part;
  }
  return FSCHED_OK;
}

/* Work of the learner in a turn: a part of that of trials where there are many ops. */
static uint64_t learner_work(const fs_search_state *s, uint32_t round) {
  uint64_t n = fs_max(s->g->n_ops, LEARNER_FEW), work = fs_trial_steps_of(s->ctx) << round;
  return work / (n * n) * (LEARNER_FEW * LEARNER_FEW);
}

/* Is it proven that there is no schedule at all? */
static bool has_none(const fs_search_state *s) {
  return s->best == NULL && s->bound >= FS_SEARCH_LONGEST;
}

/* Searches schedules without the learner, by so many runs; where all content stays, by neighbours
 * of orders before, as now the ones and now the others are better. */
static fs_status search_unlearnt(fs_search_state *s, fs_life_search *lives, uint64_t seed,
                                 uint64_t runs) {
  bool many = s->g->n_ops > MANY_OPS;
  uint64_t neighbours = many ? fs_multiply_most(MANY_NEIGHBOURS, runs) : fs_max(1, runs / 2);
  if (lives->p != NULL && s->best != NULL) {
    FS_TRY(fs_life_search_run(lives, neighbours));
  }
  bool over = fs_search_best(s) <= s->bound || fs_search_over(s);
  return over ? FSCHED_OK : search_orders(s, seed, runs);
}

/* The trials are those of a graph that is not refined, so that none ends with a longer schedule. */
static fs_status search_many(fs_search_state *s, fs_life_search *lives) {
  uint64_t before = s->nodes;
  FS_TRY(search_trials(s, s->o->seed, FSCHED_EFFORT_USUAL, left_of(s)));
  uint64_t runs = fs_max(1, s->nodes - before);
  if (lives->p == NULL || s->best == NULL) {
    bool over = fs_search_best(s) <= s->bound || fs_search_over(s);
    return over ? FSCHED_OK : search_orders(s, s->o->seed, UINT64_MAX);
  }
  for (uint32_t k = 0; fs_search_best(s) > s->bound && !fs_search_over(s); k += k < MOST_ROUNDS) {
    FS_TRY(search_unlearnt(s, lives, s->o->seed + k, runs << k));
  }
  return FSCHED_OK;
}

/* Trials, orders and the learner take turns, each as long as the others of its round and half as
 * long as those of the next one.  The trials are those of a graph that is not refined. */
static fs_status search_in_rounds(fs_search_state *s, fs_problem *p, fs_spills *spills,
                                  fs_life_search *lives) {
  uint64_t before = s->nodes;
  fs_tick part = (fs_tick)2 << (s->member % MOST_PARTS);
  FS_TRY(search_trials(s, s->o->seed, FSCHED_EFFORT_USUAL, share_of(s)));
  uint64_t runs = fs_max(1, s->nodes - before);
  bool ended = false; /* nothing is shorter, which steps do not show */
  for (uint32_t k = 0; fs_search_best(s) > s->bound && !fs_search_over(s) && !has_none(s) && !ended;
       k += k < MOST_ROUNDS) {
    FS_TRY(learn_spills(s, spills, learner_work(s, k)));
    FS_TRY(raise_by_limits(s, p, learner_work(s, k), &part));
    ended = spills->ended && spills->exact;
    if (fs_search_best(s) > s->bound && !fs_search_over(s) && !has_none(s) && !ended) {
      FS_TRY(search_unlearnt(s, lives, s->o->seed + k, fs_min(runs << k, share_of(s))));
    }
  }
  return FSCHED_OK;
}

fs_status fs_search_can_show(const fs_search_state *s, bool *can) {
  fs_problem *p;
  assert(s->best != NULL);
  *can = false;
  FS_TRY(fs_problem_spilling(s->ctx, s->g, fs_search_best(s), s->bound, &p));
  fs_status status = FSCHED_OK;
  if (p != NULL && fs_spills_know(p)) {
    status = fs_spilling_provable(p, can);
  }
  fs_problem_destroy(p);
  return status;
}

fs_status fs_search_short(fs_search_state *s, fs_problem *kept) {
  FS_SCRATCH(arena, s->ctx);
  fs_problem *p;
  fs_life_search lives;
  FS_TRY(fs_life_search_init(&lives, s, kept, &arena));
  fs_retiming retiming;
  fs_spills spills = {0};
  fs_tick horizon = fs_min(fs_search_best(s), FS_SEARCH_LONGEST);
  FS_TRY(fs_problem_spilling(s->ctx, s->g, horizon, s->bound, &p));
  bool known = p != NULL && fs_spills_know(p);
  fs_status status = known ? fs_spills_init(&spills, p, &arena) : FSCHED_OK;
  if (status == FSCHED_OK && known && s->proof != NULL) {
    status = fs_spills_log(&spills, s->proof);
  }
  spills.l.pause = spills.l.next_restart = fs_search_pause(s, spills.l.pause);
  fs_retiming_init(&retiming, s->ctx);
  s->retiming = &retiming;
  if (status == FSCHED_OK) {
    status = known ? search_in_rounds(s, p, &spills, &lives) : search_many(s, &lives);
  }
  s->retiming = NULL;
  fs_retiming_release(&retiming);
  fs_spills_release(&spills);
  fs_problem_destroy(p);
  return status;
}
