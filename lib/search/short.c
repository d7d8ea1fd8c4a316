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
  FIRST_PARTS = 16, /* of the way from the bound to what is known, of which one is the first step */
  FIRST_STEPS = 4,  /* that members of a crew begin with, each twice as long */
  MOST_TURNS = 3,   /* of a question */
  LEARNT_WORK = 7,  /* of a step of the learner */
  SHARES = 8,       /* of the nodes that are left: of trials and orders in a turn */
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

/* ---- limits from below */

/* What another learner is asked: is there a schedule within a limit that may be too short?  It goes
 * on from turn to turn until it knows. */
typedef struct limit_question {
  bool open;
  bool last; /* the last limit is one, too: the learner that looks below what is known shows nothing
              * any more */
  fs_arena arena;
  fs_spills spills;
  fs_text text;        /* its steps, with a proof */
  fs_tick limit, step; /* step: from the bound to the next limit */
  uint32_t turns;      /* that it had */
  uint64_t took;       /* the work of the last limit that was refuted; 0: none was */
} limit_question;

static void close_question(limit_question *q) {
  if (q->open) {
    fs_spills_release(&q->spills);
    fs_arena_release(&q->arena);
    fs_text_drop(&q->text);
  }
  q->open = false;
}

static fs_status open_question(fs_search_state *s, fs_problem *p, limit_question *q) {
  fs_tick gap = fs_search_best(s) - s->bound;
  close_question(q);
  q->limit = s->bound + fs_max(1, fs_min(q->step, gap - 1)) - 1;
  q->turns = 0;
  q->open = true;
  fs_arena_init(&q->arena, s->ctx);
  fs_text_init(&q->text, s->ctx);
  FS_TRY(fs_spills_init(&q->spills, p, &q->arena));
  return s->proof == NULL ? FSCHED_OK : fs_spills_log(&q->spills, &q->text);
}

/* Raises the bound to what was shown. */
static void take_answer(fs_search_state *s, limit_question *q) {
  s->bound = q->limit + 1;
  if (s->proof != NULL) {
    fs_text_drop(&s->raised);
    s->raised = q->text;
    fs_text_init(&q->text, s->ctx);
  }
}

/* Lets it work so much; *known: it has an answer. */
static fs_status ask_spills(fs_search_state *s, limit_question *q, uint64_t work, bool *known) {
  fs_spills *x = &q->spills;
  uint64_t conflicts = x->l.conflicts, worked = x->l.work;
  fs_spill_turn turn = {.conflicts = s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - s->nodes,
                        .work = work,
                        .stop = fs_search_over,
                        .user = s,
                        .best = q->limit + 1};
  FS_TRY(fs_spills_run(x, &turn));
  s->nodes += x->l.conflicts - conflicts;
  s->work += (x->l.work - worked) * LEARNT_WORK;
  *known = turn.found != NULL || x->ended;
  fs_search_offer(s, turn.found);
  if (turn.none && (s->proof == NULL || fs_spills_tell_all(x))) {
    take_answer(s, q);
  }
  fs_search_tell(s, fs_search_best(s));
  return fs_search_meet(s);
}

/* Chooses the next step after an answer, where a turn has so much work: as if the next answer took
 * as many times more as this one took more than the one before. */
static void step_on(limit_question *q, bool refuted, uint64_t work) {
  uint64_t all = fs_max(1, q->spills.l.work), most = 2 * work;
  uint64_t times = fs_max(1, all / fs_max(1, q->took == 0 ? all : q->took));
  uint64_t next = fs_multiply_most(all, times);
  if (!refuted || next > most) {
    q->step = fs_max(1, q->step / 2);
  } else if (all < work / 8 && fs_multiply_most(next, times) <= most) {
    q->step *= 2;
  }
  q->took = refuted ? all : q->took;
}

/* Raises the bound by limits that are refuted, with so much work in all.  A limit is the harder to
 * refute the further it is from the bound, by some factor for each tick. */
static fs_status raise_by_limits(fs_search_state *s, fs_problem *p, uint64_t work,
                                 limit_question *q) {
  uint64_t left = work;
  q->turns++;
  if (q->open && q->turns > MOST_TURNS && q->step > 1) {
    close_question(q);
    q->step = fs_max(1, q->step / 4);
  }
  while (left > 0 && s->best != NULL && fs_search_best(s) > s->bound + !q->last &&
         !fs_search_over(s)) {
    bool known;
    if (!q->open || q->limit < s->bound || q->limit + !q->last >= fs_search_best(s)) {
      FS_TRY(open_question(s, p, q));
    }
    fs_tick before = s->bound;
    uint64_t worked = q->spills.l.work;
    FS_TRY(ask_spills(s, q, left, &known));
    left -= fs_min(left, q->spills.l.work - worked + s->g->n_ops);
    if (!known) {
      break;
    }
    step_on(q, s->bound > before, work);
    close_question(q);
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
                                  fs_life_search *lives, limit_question *q) {
  uint64_t before = s->nodes;
  FS_TRY(search_trials(s, s->o->seed, FSCHED_EFFORT_USUAL, share_of(s)));
  uint64_t runs = fs_max(1, s->nodes - before);
  fs_tick gap = s->best == NULL ? 0 : fs_search_best(s) - s->bound;
  q->step = fs_max(1, gap / FIRST_PARTS) << (s->member % FIRST_STEPS);
  bool ended = false; /* nothing is shorter, which steps do not show */
  for (uint32_t k = 0; fs_search_best(s) > s->bound && !fs_search_over(s) && !has_none(s) && !ended;
       k += k < MOST_ROUNDS) {
    FS_TRY(learn_spills(s, spills, learner_work(s, k)));
    q->last = s->proof != NULL && !fs_spills_tell_all(spills);
    FS_TRY(raise_by_limits(s, p, learner_work(s, k), q));
    ended = spills->ended && spills->exact && !(q->last && q->open);
    if (fs_search_best(s) > s->bound && !fs_search_over(s) && !has_none(s) && !ended) {
      FS_TRY(search_unlearnt(s, lives, s->o->seed + k, fs_min(runs << k, share_of(s))));
    }
  }
  return FSCHED_OK;
}

/* The problem in which copies are open; NULL: the learner does not know it. */
static fs_status make_open(const fs_search_state *s, fs_problem **p) {
  fs_tick horizon = fs_min(fs_search_best(s), FS_SEARCH_LONGEST);
  FS_TRY(fs_problem_spilling(s->ctx, s->g, horizon, s->bound, p));
  if (*p != NULL && !fs_spills_know(*p)) {
    fs_problem_destroy(*p);
    *p = NULL;
  }
  return FSCHED_OK;
}

fs_status fs_search_can_open(const fs_search_state *s, bool *can) {
  fs_problem *p;
  FS_TRY(make_open(s, &p));
  *can = p != NULL;
  fs_problem_destroy(p);
  return FSCHED_OK;
}

fs_status fs_search_can_show(const fs_search_state *s, bool *can) {
  fs_problem *p;
  assert(s->best != NULL);
  *can = false;
  FS_TRY(make_open(s, &p));
  fs_status status = p == NULL ? FSCHED_OK : fs_spilling_provable(p, can);
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
  limit_question question = {0};
  FS_TRY(make_open(s, &p));
  bool known = p != NULL;
  fs_status status = known ? fs_spills_init(&spills, p, &arena) : FSCHED_OK;
  if (status == FSCHED_OK && known && s->proof != NULL) {
    status = fs_spills_log(&spills, s->proof);
  }
  spills.l.pause = spills.l.next_restart = fs_search_pause(s, spills.l.pause);
  fs_retiming_init(&retiming, s->ctx);
  s->retiming = &retiming;
  if (status == FSCHED_OK) {
    status = known ? search_in_rounds(s, p, &spills, &lives, &question) : search_many(s, &lives);
  }
  s->retiming = NULL;
  fs_retiming_release(&retiming);
  close_question(&question);
  fs_spills_release(&spills);
  fs_problem_destroy(p);
  return status;
}
