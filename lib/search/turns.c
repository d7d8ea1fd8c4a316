/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules from orders, which evolve or are moved along longest paths, in turns with the learner,
 * which looks for a shorter one, and with others, which refute limits from below. */
#include "base/saturate.h"
#include "search/generation/evolve.h"
#include "search/learning/log.h"
#include "search/private.h"
#include "search/tabu/tabu.h"

enum {
  POPULATION = 600,
  FEWEST = 8,
  ORDERS = 1 << 22, /* items of all orders of a population */
  /* Children before the learner gets its first turn; conflicts in each turn of it, and the fewest
   * children in each turn that they get.  The most are 9 items of them for two steps of the
   * learner's work, which take up to ten times as long, and fewer where there are few items, as
   * those are soon proven; where they find nothing better there are an eighth less in the next
   * turn.  A child takes a part of the time of a conflict. */
  FIRST_CHILDREN = 100,
  FIRST_PER_ITEM = 5,
  CHILDREN = 100,
  RELAXED_CHILDREN = 16,
  CONFLICTS = 250,
  CHILDREN_OF_NODE = 8,
  MANY_WORK = 3641, /* the same as 9 items for two steps from 128 items on */
  /* That part of them, where the bound is less than this part of the makespan away from it: a proof
   * may be near, and there is little left to find. */
  NEAR_SHARE = 32,
  NEAR = 20,
  NEARLY_SHARE = 3,
  NEARLY = 14,
  /* Where items take turns alone: children in all; the work of a turn, of tabu search and of the
   * learner, and how much more it is of the first one; moves that are counted as a node. */
  TURN_CHILDREN = 8,
  TURN_WORK = 1 << 22,
  FIRST_TURN = 4,
  MOVES_OF_NODE = 64,
  /* Limits from below: the work of the first questions, of an item at least; a part of that of the
   * learner's turns, where there are only turns and otherwise. */
  ASK_WORK = 1 << 18,
  ASK_PER_PAIR = 2,
  ASK_SHARE_TURNS = 2,
  ASK_SHARE = 4,
  LAST = 64, /* such a part of the bound is not worth questions, where there are others, too */
  FIRST_PARTS = 64, /* of the way from the bound to what is known, of which one is the first step */
  FIRST_STEPS = 4,  /* that members of a crew begin with, each twice as long */
  /* Work: of an item of a child; of a step of the learner, in halves, where there are only turns
   * and otherwise; and of 2 steps of tabu search. */
  CHILD_WORK = 190,
  LEARNT_WORK_TURNS = 16,
  LEARNT_WORK = 90,
  MOVED_WORK = 7
};

typedef struct turns {
  fs_search_state *s;
  fs_problem *p;
  fs_packed_form form;
  fs_evolution e;
  fs_learner l;
  fs_proof_log log;
  fs_tabu tabu;
  fs_tick limit;      /* that the learner has: it looks for less */
  bool learns;        /* the learner knows all of the problem, and it is small enough */
  uint64_t turn_end;  /* of the learner's turn: its work then */
  uint64_t round_end; /* of the crew: the learner's work then */
  bool has_tabu;      /* items take turns, and there is nothing else */
  uint64_t children;  /* that the next turn of them has at most */
  uint32_t *order;
  uint64_t learnt, moved; /* work of learner and tabu search that was counted */
  uint64_t asked, ask;    /* the learners' work for limits from below; for the next one */
  fs_tick step;           /* of the next one, from the bound; 0: there was none */
  fs_tick offered;        /* the best of them that was made a schedule */
} turns;

/* ---- schedules */

/* The starts of the best schedule, if its items are those of the problem, else NULL; the order has
 * the order in which they start them. */
static fs_status find_known(turns *t, fs_answer **known) {
  *known = NULL;
  if (t->s->best == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_answer_of_schedule(t->p, t->s->best, known));
  if (*known != NULL) {
    fs_passed starts = {.start = (*known)->start, .makespan = (*known)->makespan};
    memcpy(t->order, t->p->topo, t->p->n_items * sizeof *t->order);
    fs_pass_by_start(&t->e.passes, &starts, t->order);
  }
  return FSCHED_OK;
}

/* Keeps starts as they are; where each item has one way to be. */
static void keep_starts(turns *t, fs_tick *start, fs_tick makespan) {
  fs_passed starts = {.start = start, .way = t->form.way0, .makespan = makespan};
  fs_evolution_keep(&t->e, &starts);
}

/* Passes make schedules without given starts, so there are none of them where there are some. */
static fs_status add_known(turns *t) {
  fs_answer *known;
  FS_TRY(find_known(t, &known));
  if (known != NULL && t->p->fixed != NULL) {
    keep_starts(t, known->start, known->makespan);
  } else if (known != NULL) {
    fs_evolution_add(&t->e, t->order);
  }
  return FSCHED_OK;
}

/* Makes the best starts a schedule, once. */
static fs_status take_best(turns *t) {
  fs_schedule *found;
  const char *why;
  const fs_passed *best = &t->e.best;
  bool none = t->p->relaxed && !t->p->sets;
  if (none || best->makespan >= fs_min(t->offered, fs_search_best(t->s))) {
    return FSCHED_OK;
  }
  t->offered = best->makespan;
  fs_answer answer = {.start = best->start, .makespan = best->makespan};
  FS_TRY(fs_answer_schedule(t->p, &answer, &found, &why));
  fs_search_offer(t->s, found);
  return FSCHED_OK;
}

/* Queues may be found for these starts, and not for the better ones that come later. */
static fs_status try_queues(turns *t) { return t->p->sets ? take_best(t) : FSCHED_OK; }

/* Others of the crew have found the best schedule.  Where each item has one way to be, its starts
 * are kept as they are (see take_learnt). */
static fs_status take_heard(turns *t) {
  fs_answer *known;
  if (t->p->relaxed || fs_search_best(t->s) >= t->e.best.makespan) {
    return FSCHED_OK;
  }
  FS_TRY(find_known(t, &known));
  if (known == NULL) {
    return FSCHED_OK;
  }
  if (t->learns || t->has_tabu) {
    keep_starts(t, known->start, known->makespan);
  }
  if (t->has_tabu) {
    fs_tabu_offer(&t->tabu, t->order);
  }
  if (t->p->fixed == NULL) {
    fs_evolution_add(&t->e, t->order);
  }
  return FSCHED_OK;
}

static fs_status meet_crew(turns *t) {
  if (!fs_search_meets(t->s)) {
    return FSCHED_OK;
  }
  FS_TRY(take_best(t));
  FS_TRY(fs_search_meet(t->s));
  return take_heard(t);
}

/* ---- turns */

static bool is_optimal(const turns *t) {
  return fs_min(t->e.best.makespan, fs_search_best(t->s)) <= t->s->bound;
}

/* What is found of a relaxed problem is no schedule of the graph. */
static void tell_turn(const turns *t) {
  fs_tick best = fs_search_best(t->s);
  fs_search_tell(t->s, t->p->relaxed ? best : fs_min(t->e.best.makespan, best));
}

static fs_status evolve(turns *t, uint64_t children) {
  fs_search_state *s = t->s;
  uint64_t each = t->learns ? CHILDREN_OF_NODE : 1;
  for (uint64_t k = 0; k < children && !is_optimal(t) && !fs_search_over(s); k++) {
    fs_evolution_step(&t->e);
    s->nodes += t->e.made % each == 0;
    s->work += (uint64_t)CHILD_WORK * t->form.n;
    FS_TRY(try_queues(t));
    FS_TRY(meet_crew(t));
    tell_turn(t);
  }
  return FSCHED_OK;
}

/* A learner has found a schedule: it is an individual, too.  Its starts are kept as they are, as
 * the pass that makes the individual may give worse ones: it rounds amounts of many bits, and does
 * not tell starts apart where the makespan has many.  Then the learner would find it
 * forever. */
static void take_learnt(turns *t, fs_learner *l) {
  fs_passed starts = {.start = t->e.back.start, .way = t->e.back.way};
  for (uint32_t i = 0; i < t->form.n; i++) {
    starts.start[i] = fs_learner_start(l, i);
    starts.way[i] = t->form.way0[i]; /* the only one, of what the learner knows */
    starts.makespan = fs_max(starts.makespan, starts.start[i] + t->p->time[i]);
    t->order[i] = t->p->topo[i];
  }
  fs_learner_reset(l);
  fs_evolution_keep(&t->e, &starts);
  if (t->p->fixed == NULL) {
    fs_pass_by_start(&t->e.passes, &starts, t->order);
    fs_evolution_add(&t->e, t->order);
  }
}

static bool is_turn_over(const turns *t) {
  return t->l.work >= t->turn_end || fs_search_over(t->s);
}

/* The learner stops for the crew, too. */
static bool is_learner_to_stop(void *user) {
  const turns *t = user;
  return is_turn_over(t) || (t->s->crew != NULL && t->l.work >= t->round_end);
}

/* Ends a round of the crew where the learner's work since the last call has ended it. */
static fs_status count_learnt(turns *t) {
  uint64_t each = t->has_tabu ? LEARNT_WORK_TURNS : LEARNT_WORK;
  t->s->work += (t->l.work - t->learnt) * each / 2;
  t->learnt = t->l.work;
  FS_TRY(meet_crew(t));
  t->round_end = t->l.work + 1 + (t->s->round_end - fs_min(t->s->round_end, t->s->work)) * 2 / each;
  return FSCHED_OK;
}

static fs_status take_learning_turn(turns *t, uint64_t conflicts, uint64_t work) {
  fs_search_state *s = t->s;
  uint64_t end = t->l.conflicts + conflicts;
  t->turn_end = fs_add_most(t->l.work, work);
  FS_TRY(count_learnt(t));
  while (!is_optimal(t) && t->l.conflicts < end && !is_turn_over(t) && t->l.status == FSCHED_OK) {
    fs_tick best = fs_min(t->e.best.makespan, fs_search_best(s));
    if (best < t->limit) {
      fs_learner_reset(&t->l);
      t->limit = best;
      if (!fs_learner_limit(&t->l, best - 1)) {
        s->bound = best;
        s->whole = true;
        break;
      }
      if (t->e.best.makespan == best && fs_search_is_guided(s)) {
        fs_learner_guide(&t->l, t->e.best.start);
      }
    }
    uint64_t before = t->l.conflicts;
    uint64_t left = s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - s->nodes;
    fs_learned found = fs_learner_search(&t->l, fs_min(end - before, left), is_learner_to_stop, t);
    s->nodes += t->l.conflicts - before;
    if (found == FS_LEARNED_SCHEDULE) {
      take_learnt(t, &t->l);
      FS_TRY(try_queues(t));
    } else if (found == FS_LEARNED_NONE) {
      s->bound = best;
      s->whole = true;
    }
    FS_TRY(count_learnt(t));
    tell_turn(t);
  }
  return t->l.status;
}

/* ---- limits from below */

/* What a learner of its own is asked, and the work at which it gives up. */
typedef struct question {
  const turns *t;
  fs_learner l;
  fs_proof_log log;
  fs_text text;
} question;

static bool gives_up(void *user) {
  const question *q = user;
  return q->l.work >= q->t->ask || fs_search_over(q->t->s);
}

static fs_status begin_question(question *q, fs_arena *arena) {
  const turns *t = q->t;
  fs_text_init(&q->text, t->s->ctx);
  FS_TRY(fs_learner_init(&q->l, t->p, arena));
  return t->s->proof == NULL ? FSCHED_OK : fs_log_begin(&q->log, &q->l, &q->text);
}

/* Is there a schedule within the limit?  Raises the bound, or takes the schedule. */
static fs_status ask_question(turns *t, question *q, fs_tick limit, bool *none) {
  fs_search_state *s = t->s;
  uint64_t left = s->most_nodes == 0 ? UINT64_MAX / 2 : s->most_nodes - s->nodes;
  fs_learned found = fs_learner_limit(&q->l, limit) ? fs_learner_search(&q->l, left, gives_up, q)
                                                    : FS_LEARNED_NONE;
  s->nodes += q->l.conflicts;
  FS_TRY(q->l.status);
  if (found == FS_LEARNED_SCHEDULE) {
    take_learnt(t, &q->l);
    return try_queues(t);
  }
  *none = found == FS_LEARNED_NONE;
  if (!*none) {
    return FSCHED_OK;
  }
  s->bound = limit + 1;
  if (s->proof != NULL) {
    fs_text_drop(&s->raised);
    s->raised = q->text;
    fs_text_init(&q->text, s->ctx);
  }
  return FSCHED_OK;
}

static fs_status ask_learner(turns *t, fs_tick limit, bool *none) {
  FS_SCRATCH(arena, t->s->ctx);
  question q = {.t = t};
  *none = false;
  fs_status status = begin_question(&q, &arena);
  if (status == FSCHED_OK) {
    status = ask_question(t, &q, limit, none);
  }
  t->asked += q.l.work + t->form.n;
  t->s->work += q.l.work * (t->has_tabu ? LEARNT_WORK_TURNS : LEARNT_WORK) / 2;
  fs_learner_release(&q.l);
  fs_log_release(&q.log, t->s->ctx);
  fs_text_drop(&q.text);
  tell_turn(t);
  return status == FSCHED_OK ? meet_crew(t) : status;
}

/* Raises the bound by limits that are refuted.  A limit is the harder to refute the further it is
 * from the bound: steps become longer after each that is, and shorter after one that takes too
 * long, when the next one gets more time. */
static fs_status raise_by_limits(turns *t) {
  fs_search_state *s = t->s;
  uint64_t share = t->has_tabu ? ASK_SHARE_TURNS : ASK_SHARE;
  while (t->asked < t->l.work / share && !is_optimal(t) && !fs_search_over(s)) {
    bool none;
    fs_tick gap = fs_min(t->e.best.makespan, fs_search_best(s)) - s->bound;
    if (gap <= (t->has_tabu ? 1 : 1 + s->bound / LAST)) { /* the learner looks at nearly that */
      return FSCHED_OK;
    }
    t->step = t->step > 0 ? t->step : fs_max(1, gap / FIRST_PARTS) << (s->member % FIRST_STEPS);
    fs_tick step = fs_min(t->step, gap - 1);
    FS_TRY(ask_learner(t, s->bound + step - 1, &none));
    t->step = none ? 2 * step : fs_max(1, step / 2);
    t->ask *= none ? 1 : 2;
  }
  return FSCHED_OK;
}

/* ---- turns of all */

/* What the tabu search has found is kept as it is. */
static void take_moved(turns *t) {
  if (t->tabu.best_makespan >= t->e.best.makespan) {
    return;
  }
  fs_passed starts = {
      .start = t->tabu.best_start, .way = t->e.back.way, .makespan = t->tabu.best_makespan};
  memcpy(starts.way, t->form.way0, t->form.n * sizeof *starts.way); /* each has one */
  fs_evolution_keep(&t->e, &starts);
}

static fs_status take_tabu_turn(turns *t, uint64_t work) {
  fs_search_state *s = t->s;
  uint64_t end = t->tabu.work + work;
  while (t->tabu.work < end && !is_optimal(t) && !fs_search_over(s)) {
    fs_tabu_run(&t->tabu, MOVES_OF_NODE, s->bound, fs_search_over, s);
    s->nodes++;
    take_moved(t);
    s->work += (t->tabu.work - t->moved) * MOVED_WORK / 2;
    t->moved = t->tabu.work;
    FS_TRY(meet_crew(t));
    tell_turn(t);
  }
  return FSCHED_OK;
}

/* The orders of the first generation are where the tabu search begins. */
static void offer_orders(turns *t) {
  for (uint32_t k = 0; k < t->e.filled; k++) {
    fs_tabu_offer(&t->tabu, t->e.order + (size_t)k * t->form.n);
  }
}

static fs_status learn_and_move(turns *t) {
  FS_TRY(evolve(t, TURN_CHILDREN));
  offer_orders(t);
  FS_TRY(take_tabu_turn(t, (uint64_t)(FIRST_TURN - 1) * TURN_WORK));
  while (!is_optimal(t) && !fs_search_over(t->s)) {
    FS_TRY(take_tabu_turn(t, TURN_WORK));
    if (t->learns) {
      FS_TRY(take_learning_turn(t, UINT64_MAX / 2, TURN_WORK / 3));
      FS_TRY(raise_by_limits(t));
    }
  }
  return FSCHED_OK;
}

/* The part of the children that an evolving turn gets. */
static uint64_t share_of(const turns *t) {
  fs_tick best = fs_min(t->e.best.makespan, fs_search_best(t->s)), gap = best - t->s->bound;
  return gap <= best / NEAR ? NEAR_SHARE : gap <= best / NEARLY ? NEARLY_SHARE : 1;
}

/* Is only a bound wanted?  A problem whose sets of queues are found in the end has schedules. */
static bool wants_bound(const turns *t) { return t->p->relaxed && !t->p->sets; }

/* Behind a turn of the learner that took so much work.  Of a relaxed problem no schedule is wanted,
 * but its bound. */
static fs_status take_evolving_turn(turns *t, uint64_t work) {
  fs_tick before = t->e.best.makespan;
  uint64_t n = 1 + (uint64_t)t->form.n;
  uint64_t most = fs_min(9 * work / (2 * n), n * work / MANY_WORK);
  t->children = wants_bound(t) ? RELAXED_CHILDREN : fs_max(CHILDREN, fs_min(t->children, most));
  FS_TRY(evolve(t, t->children / share_of(t)));
  t->children = t->e.best.makespan < before ? UINT64_MAX : t->children - t->children / 8;
  return FSCHED_OK;
}

/* Of a relaxed problem that the learner does not know, nothing raises the bound. */
static fs_status learn_and_evolve(turns *t) {
  if (wants_bound(t) && !t->learns) {
    return FSCHED_OK;
  }
  FS_TRY(evolve(t, FIRST_CHILDREN + (uint64_t)FIRST_PER_ITEM * t->form.n));
  t->children = UINT64_MAX;
  while (!is_optimal(t) && !fs_search_over(t->s)) {
    uint64_t before = t->l.work;
    if (t->learns) {
      FS_TRY(take_learning_turn(t, CONFLICTS, UINT64_MAX));
      FS_TRY(raise_by_limits(t));
    }
    FS_TRY(take_evolving_turn(t, t->l.work - before));
  }
  return FSCHED_OK;
}

static fs_status learn_alone(turns *t) {
  while (t->learns && !is_optimal(t) && !fs_search_over(t->s)) {
    FS_TRY(take_learning_turn(t, CONFLICTS, UINT64_MAX));
    FS_TRY(raise_by_limits(t));
  }
  return FSCHED_OK;
}

fs_status fs_search_in_turns(fs_search_state *s, fs_problem *p, fs_arena *arena) {
  turns t = {.s = s, .p = p, .limit = FS_TICK_NONE, .offered = FS_TICK_NONE};
  t.ask = fs_max(ASK_WORK, (uint64_t)ASK_PER_PAIR * p->n_items * p->n_items);
  FS_TRY(fs_form_make(p, arena, &t.form));
  uint32_t size = (uint32_t)fs_max(FEWEST, fs_min(POPULATION, ORDERS / (1 + p->n_items)));
  FS_TRY(fs_evolution_init(&t.e, &t.form, size, s->o->seed, arena));
  t.e.passes.stop = fs_search_over;
  t.e.passes.user = s;
  FS_TRY(fs_new(arena, &t.order, p->n_items));
  if (!p->relaxed) {
    FS_TRY(add_known(&t));
  }
  t.has_tabu = !p->relaxed && fs_tabu_knows(p);
  if (t.has_tabu) {
    FS_TRY(fs_tabu_init(&t.tabu, p, s->o->seed, arena));
  }
  t.learns = p->n_items <= FS_LEARNER_MOST && fs_learner_knows(p);
  fs_status status = t.learns ? fs_learner_init(&t.l, p, arena) : FSCHED_OK;
  t.l.pause = t.l.next_restart = fs_search_pause(s, t.l.pause);
  if (status == FSCHED_OK && t.learns && s->proof != NULL) {
    status = fs_log_begin(&t.log, &t.l, s->proof);
  }
  if (status == FSCHED_OK) {
    status = t.has_tabu         ? learn_and_move(&t)
             : p->fixed != NULL ? learn_alone(&t)
                                : learn_and_evolve(&t);
  }
  fs_learner_release(&t.l);
  fs_log_release(&t.log, s->ctx);
  return status == FSCHED_OK ? take_best(&t) : status;
}
