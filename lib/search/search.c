/* SPDX-License-Identifier: Apache-2.0 */
#include "search/private.h"

#include "base/clock.h"
#include "base/saturate.h"
#include "base/warnings.h"
#include "problem/problem.h"
#include "problem/relaxed/relaxed.h"
#include "problem/settled/settled.h"
#include "search/generation/evolve.h"
#include "search/learning/log.h"
#include "search/prove.h"
#include "search/strip/strip.h"
#include "search/tabu/tabu.h"

enum {
  POPULATION = 600,
  FEWEST = 8,
  ORDERS = 1 << 22, /* items of all orders of a population */
  TELL_NS = 500000000,
  /* Children before the learner gets its first turn; conflicts in each turn of it, and the fewest
   * children in each turn that they get.  The most are two items of them for each step of the
   * learner's work, which take up to ten times as long, and fewer where there are few items, as
   * those are soon proven; where they find nothing better there are an eighth less in the next
   * turn.  A child takes a part of the time of a conflict. */
  FIRST_CHILDREN = 100,
  FIRST_PER_ITEM = 5,
  CHILDREN = 500,
  CONFLICTS = 250,
  CHILDREN_OF_NODE = 8,
  MANY_WORK = 8192, /* 2 items for a step from 128 items on */
  /* Where items take turns alone: children in all; the work of a turn, of tabu search and of the
   * learner, and how much more it is of the first one; moves that are counted as a node. */
  TURN_CHILDREN = 8,
  TURN_WORK = 1 << 22,
  FIRST_TURN = 4,
  MOVES_OF_NODE = 64,
  BOUND_STEPS = 100000, /* of propagation for each makespan, before the learner decides */
  STRIP_NODES = 64,     /* of the first question for a packing; and of all, before the bound */
  STRIP_FIRST = 1000,
  STRIP_MOST = 1 << 24, /* of one question */
  BOUND_SHARE = 4       /* of the search of a graph that waits for memory, for its bound */
};

/* ---- limits and news */

static bool is_stopped(const fs_search_state *s) {
  return s->o->stop != NULL && __atomic_load_n(s->o->stop, __ATOMIC_RELAXED) != 0;
}

static bool is_late(const fs_search_state *s) {
  return s->deadline_ns != 0 && fs_now_ns() >= s->deadline_ns;
}

static bool is_spent(const fs_search_state *s) {
  return s->most_nodes != 0 && s->nodes >= s->most_nodes;
}

bool fs_search_over(void *user) {
  const fs_search_state *s = user;
  return is_spent(s) || is_stopped(s) || is_late(s);
}

void fs_search_tell(fs_search_state *s, fs_tick makespan) {
  if (s->o->news == NULL || makespan == FS_TICK_NONE) {
    return;
  }
  uint64_t now = fs_now_ns();
  if (makespan == s->told_makespan && s->bound == s->told_bound && now < s->told_ns + TELL_NS) {
    return;
  }
  s->told_makespan = makespan;
  s->told_bound = s->bound;
  s->told_ns = now;
  fsched_refine_state state = {.size = sizeof state,
                               .incumbent = makespan,
                               .bound = fs_min(s->bound, makespan),
                               .nodes = s->nodes,
                               .seconds = 1e-9 * (double)(now - s->begin_ns)};
  s->o->news(s->o->user, &state);
}

fs_tick fs_search_best(const fs_search_state *s) {
  return s->best == NULL ? FS_TICK_NONE : s->best->makespan;
}

/* Takes ownership of the schedule. */
void fs_search_offer(fs_search_state *s, fs_schedule *found) {
  bool better = found != NULL && found->makespan < fs_search_best(s);
  fs_schedule_destroy(better ? s->best : found);
  s->best = better ? found : s->best;
}

/* ---- generation */

static uint64_t nodes_of(const fs_search_state *s, uint32_t items) {
  if (s->o->node_limit != 0 || s->o->time_limit_ns != 0) {
    return s->o->node_limit;
  }
  return fs_min(FSCHED_SEARCH_NODES, fs_max(FS_SEARCH_FEWEST, FS_SEARCH_ITEMS / (1 + items)));
}

/* The order in which the best schedule starts the items of the problem, if they are its own. */
static fs_status add_known(fs_search_state *s, fs_problem *p, fs_evolution *e, fs_arena *arena) {
  fs_answer *known;
  uint32_t *order;
  if (s->best == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_answer_of_schedule(p, s->best, &known));
  if (known == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(arena, &order, p->n_items));
  memcpy(order, p->topo, p->n_items * sizeof *order);
  fs_passed starts = {.start = known->start, .makespan = known->makespan};
  fs_pass_by_start(&e->passes, &starts, order);
  fs_evolution_add(e, order);
  return FSCHED_OK;
}

static fs_status take_best(fs_search_state *s, fs_problem *p, const fs_evolution *e) {
  fs_schedule *found;
  const char *why;
  if (e->best.makespan >= fs_search_best(s)) {
    return FSCHED_OK;
  }
  fs_answer answer = {.start = e->best.start, .makespan = e->best.makespan};
  FS_TRY(fs_answer_schedule(p, &answer, &found, &why));
  fs_search_offer(s, found);
  return FSCHED_OK;
}

/* ---- generation and learning in turns */

typedef struct turns {
  fs_search_state *s;
  fs_problem *p;
  fs_packed_form form;
  fs_evolution e;
  fs_learner l;
  fs_proof_log log;
  fs_tabu tabu;
  fs_tick limit;     /* that the learner has: it looks for less */
  bool learns;       /* the learner knows all of the problem, and it is small enough */
  uint64_t turn_end; /* of the learner's turn: its work then */
  bool has_tabu;     /* items take turns, and there is nothing else */
  uint64_t children; /* that the next turn of them has at most */
  uint32_t *order;
} turns;

static bool is_optimal(const turns *t) {
  return fs_min(t->e.best.makespan, fs_search_best(t->s)) <= t->s->bound;
}

/* What is found of a relaxed problem is no schedule of the graph. */
static void tell_turn(const turns *t) {
  fs_tick best = fs_search_best(t->s);
  fs_search_tell(t->s, t->p->relaxed ? best : fs_min(t->e.best.makespan, best));
}

static void evolve(turns *t, uint64_t children) {
  fs_search_state *s = t->s;
  uint64_t each = t->learns ? CHILDREN_OF_NODE : 1;
  for (uint64_t k = 0; k < children && !is_optimal(t) && !fs_search_over(s); k++) {
    fs_evolution_step(&t->e);
    s->nodes += t->e.made % each == 0;
    tell_turn(t);
  }
}

/* The learner has found a schedule: it is an individual, too.  Its starts are kept as they are, as
 * the pass that makes the individual may give worse ones: it rounds amounts of many bits, and does
 * not fs_search_tell starts apart where the makespan has many.  Then the learner would find it
 * forever. */
static void take_learnt(turns *t) {
  fs_passed starts = {.start = t->e.back.start, .way = t->e.back.way};
  for (uint32_t i = 0; i < t->form.n; i++) {
    starts.start[i] = fs_learner_start(&t->l, i);
    starts.way[i] = t->form.way0[i]; /* the only one, of what the learner knows */
    starts.makespan = fs_max(starts.makespan, starts.start[i] + t->p->time[i]);
    t->order[i] = t->p->topo[i];
  }
  fs_learner_reset(&t->l);
  fs_evolution_keep(&t->e, &starts);
  fs_pass_by_start(&t->e.passes, &starts, t->order);
  fs_evolution_add(&t->e, t->order);
}

static bool is_turn_over(void *user) {
  const turns *t = user;
  return t->l.work >= t->turn_end || fs_search_over(t->s);
}

static void take_learning_turn(turns *t, uint64_t conflicts, uint64_t work) {
  fs_search_state *s = t->s;
  uint64_t end = t->l.conflicts + conflicts;
  t->turn_end = fs_add_most(t->l.work, work);
  while (!is_optimal(t) && t->l.conflicts < end && !is_turn_over(t) && t->l.status == FSCHED_OK) {
    fs_tick best = fs_min(t->e.best.makespan, fs_search_best(s));
    if (best < t->limit) {
      fs_learner_reset(&t->l);
      t->limit = best;
      if (!fs_learner_limit(&t->l, best - 1)) {
        s->bound = best;
        break;
      }
      if (t->e.best.makespan == best) {
        fs_learner_guide(&t->l, t->e.best.start);
      }
    }
    uint64_t before = t->l.conflicts;
    uint64_t left = s->most_nodes == 0 ? UINT64_MAX : s->most_nodes - s->nodes;
    fs_learned found = fs_learner_search(&t->l, fs_min(end - before, left), is_turn_over, t);
    s->nodes += t->l.conflicts - before;
    if (found == FS_LEARNED_SCHEDULE) {
      take_learnt(t);
    } else if (found == FS_LEARNED_NONE) {
      s->bound = best;
    }
    tell_turn(t);
  }
}

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

static void take_tabu_turn(turns *t, uint64_t work) {
  fs_search_state *s = t->s;
  uint64_t end = t->tabu.work + work;
  while (t->tabu.work < end && !is_optimal(t) && !fs_search_over(s)) {
    fs_tabu_run(&t->tabu, MOVES_OF_NODE, s->bound, fs_search_over, s);
    s->nodes++;
    take_moved(t);
    tell_turn(t);
  }
}

/* The orders of the first generation are where the tabu search begins. */
static void offer_orders(turns *t) {
  for (uint32_t k = 0; k < t->e.filled; k++) {
    fs_tabu_offer(&t->tabu, t->e.order + (size_t)k * t->form.n);
  }
}

static fs_status learn_and_move(turns *t) {
  evolve(t, TURN_CHILDREN);
  offer_orders(t);
  take_tabu_turn(t, (uint64_t)(FIRST_TURN - 1) * TURN_WORK);
  while (!is_optimal(t) && !fs_search_over(t->s)) {
    take_tabu_turn(t, TURN_WORK);
    if (t->learns) {
      take_learning_turn(t, UINT64_MAX / 2, TURN_WORK / 3);
      FS_TRY(t->l.status);
    }
  }
  return FSCHED_OK;
}

/* Behind a turn of the learner that took so much work.  Of a relaxed problem no schedule is wanted,
 * but its bound. */
static void take_evolving_turn(turns *t, uint64_t work) {
  fs_tick before = t->e.best.makespan;
  uint64_t n = 1 + (uint64_t)t->form.n;
  uint64_t most = fs_min(2 * work / n, n * work / MANY_WORK);
  t->children = fs_max(CHILDREN, fs_min(t->children, t->p->relaxed ? 0 : most));
  evolve(t, t->children);
  t->children = t->e.best.makespan < before ? UINT64_MAX : t->children - t->children / 8;
}

static fs_status learn_and_evolve(turns *t) {
  evolve(t, FIRST_CHILDREN + (uint64_t)FIRST_PER_ITEM * t->form.n);
  t->children = UINT64_MAX;
  while (!is_optimal(t) && !fs_search_over(t->s)) {
    uint64_t before = t->l.work;
    if (t->learns) {
      take_learning_turn(t, CONFLICTS, UINT64_MAX);
      FS_TRY(t->l.status);
    }
    take_evolving_turn(t, t->l.work - before);
  }
  return FSCHED_OK;
}

static fs_status search_in_turns(fs_search_state *s, fs_problem *p, fs_arena *arena) {
  turns t = {.s = s, .p = p, .limit = FS_TICK_NONE};
  FS_TRY(fs_form_make(p, arena, &t.form));
  uint32_t size = (uint32_t)fs_max(FEWEST, fs_min(POPULATION, ORDERS / (1 + p->n_items)));
  FS_TRY(fs_evolution_init(&t.e, &t.form, size, s->o->seed, arena));
  t.e.passes.stop = fs_search_over;
  t.e.passes.user = s;
  FS_TRY(fs_new(arena, &t.order, p->n_items));
  if (!p->relaxed) {
    FS_TRY(add_known(s, p, &t.e, arena));
  }
  t.has_tabu = !p->relaxed && fs_tabu_knows(p);
  if (t.has_tabu) {
    FS_TRY(fs_tabu_init(&t.tabu, p, s->o->seed, arena));
  }
  t.learns = p->n_items <= FS_LEARNER_MOST && fs_learner_knows(p);
  fs_status status = t.learns ? fs_learner_init(&t.l, p, arena) : FSCHED_OK;
  if (status == FSCHED_OK && s->o->proof != NULL) {
    status = fs_log_begin(&t.log, &t.l, s->o->proof);
  }
  if (status == FSCHED_OK) {
    status = t.has_tabu ? learn_and_move(&t) : learn_and_evolve(&t);
  }
  fs_learner_release(&t.l);
  fs_log_release(&t.log, s->ctx);
  return status == FSCHED_OK && !p->relaxed ? take_best(s, p, &t.e) : status;
}

/* Raises the bound by makespans that leave some item no start. */
static fs_status raise_bound(fs_search_state *s, fs_problem *p) {
  fs_tick bound = s->bound;
  if (s->best == NULL) {
    return FSCHED_OK;
  }
  p->steps = BOUND_STEPS;
  FS_TRY(fs_problem_destructive_bound(p, &bound));
  s->bound = fs_max(s->bound, bound);
  fs_search_tell(s, fs_search_best(s));
  return FSCHED_OK;
}

/* Is no memory ever short: does all that ever lies in it fit side by side? */
static fs_status find_room(const fs_problem *p, bool *room) {
  const fs_target *t = &p->graph->target;
  FS_SCRATCH(arena, p->ctx);
  uint64_t *sum;
  FS_TRY(fs_new_zero(&arena, &sum, t->n_memories));
  *room = true;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t m = p->res_memory[r];
    sum[m] = fs_add_most(sum[m], p->res_size[r]);
    *room = *room && (!fs_memory_bounded(&t->memory[m]) || sum[m] <= t->memory[m].capacity);
  }
  return FSCHED_OK;
}

/* Are items, queues and amounts all there is to the graph?  Then no memory is ever short, and
 * copies are those that no schedule avoids. */
static fs_status is_plain(const fs_problem *p, bool *plain) {
  *plain = p != NULL && p->exact && p->fixed == NULL;
  return *plain ? find_room(p, plain) : FSCHED_OK;
}

/* Only what is proven counts as a bound, so the one that was given does not.  The steps of the
 * learner are the proof if it has come to its end; else they are what showed the bound without it.
 */
static fs_status search_proof(fs_search_state *s, fs_problem *p, fs_arena *arena) {
  fs_text root;
  fs_tick bound;
  fs_text_init(&root, s->ctx);
  fs_status status = fs_prove_at_root(p, fs_search_best(s), &root, &bound);
  if (status == FSCHED_OK) {
    s->bound = bound;
    status = bound < fs_search_best(s) ? search_in_turns(s, p, arena) : FSCHED_OK;
  }
  if (status == FSCHED_OK && s->bound == bound) {
    s->o->proof->n = 0;
    fs_text_add(s->o->proof, root.at, root.n);
  }
  fs_log_end(s->o->proof, s->bound);
  s->o->proof->failed = s->o->proof->failed || root.failed;
  fs_text_drop(&root);
  return status;
}

static fs_status search_plain(fs_search_state *s, fs_problem *p) {
  FS_SCRATCH(arena, s->ctx);
  p->stop = fs_search_over;
  p->user = s;
  if (s->o->proof != NULL) {
    return search_proof(s, p, &arena);
  }
  FS_TRY(raise_bound(s, p));
  return fs_search_best(s) <= s->bound ? FSCHED_OK : search_in_turns(s, p, &arena);
}

/* ---- graphs that wait for memory */

/* Raises the bound by a part of the nodes and of the time, in which the relaxed problem is
 * searched. Its makespans are no schedule's: what is proven of them is a bound. */
static fs_status search_relaxed(fs_search_state *s) {
  fs_problem *p;
  if (s->best == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_problem_relax(s->ctx, s->g, s->best->makespan, s->bound, &p));
  if (p == NULL) {
    return FSCHED_OK;
  }
  fs_search_state part = *s;
  uint64_t now = fs_now_ns();
  if (s->most_nodes != 0) { /* at least 1, as 0 is no limit */
    part.most_nodes = fs_max(1, s->nodes + (s->most_nodes - s->nodes) / BOUND_SHARE);
  }
  part.deadline_ns =
      s->deadline_ns == 0 ? 0 : now + (s->deadline_ns - fs_min(now, s->deadline_ns)) / BOUND_SHARE;
  fs_status status = search_plain(&part, p);
  fs_problem_destroy(p);
  s->bound = part.bound;
  s->nodes = part.nodes;
  fs_search_tell(s, fs_search_best(s));
  return status;
}

/* What the problem form does not fs_search_tell: queues that are free before their ops are over,
 * and gangs that choose. */
static bool has_form(const fsched_graph *g) {
  return !g->gangs_open && fs_graph_first_slow(g) == FS_NONE;
}

/* A graph of which no proof can be written. */
static fs_status refuse_proof(const fs_search_state *s, const char *why) {
  fs_report(s->ctx, FSCHED_ERROR, FS_DIAG_UNSUPPORTED, FS_NOWHERE,
            "fsched-proof(5) lists what they cover",
            "no proof can be written of graph '%s', which %s", s->g->name, why);
  return FSCHED_USAGE;
}

/* ---- strips */

static fs_status ask_strip(fs_search_state *s, fs_problem *p, fs_strip_search *o, bool *found) {
  FS_SCRATCH(arena, s->ctx);
  fs_answer answer = {0};
  fs_schedule *schedule = NULL;
  const char *why;
  fs_strip_search part = *o;
  o->seed++;
  part.nodes = s->most_nodes == 0 ? o->nodes : fs_min(o->nodes, s->most_nodes - s->nodes);
  FS_TRY(fs_strip_run(&part, &arena, &answer, &s->nodes, found));
  if (*found) {
    FS_TRY(fs_answer_schedule(p, &answer, &schedule, &why));
    *found = schedule != NULL;
    fs_search_offer(s, schedule);
  }
  fs_search_tell(s, fs_search_best(s));
  return FSCHED_OK;
}

/* Asks for packings in rounds, with more nodes from round to round, until so many are used: within
 * the bound, then halfway between what is known and what was not found. */
static fs_status ask_strips(fs_search_state *s, fs_problem *p, uint64_t nodes) {
  fs_strip_search o = {.problem = p, .seed = s->o->seed, .stop = fs_search_over, .user = s};
  fs_tick least = s->bound;
  for (o.nodes = STRIP_NODES;
       fs_search_best(s) > s->bound && s->nodes < nodes && !fs_search_over(s);) {
    bool found;
    fs_tick known = fs_search_best(s) - 1;
    if (least > known) { /* a round begins */
      least = s->bound;
      o.nodes = fs_min(2 * o.nodes, (uint64_t)STRIP_MOST);
    }
    o.height = least == s->bound ? least : least + (known - least) / 2;
    FS_TRY(ask_strip(s, p, &o, &found));
    least = found ? least : o.height + 1;
  }
  return FSCHED_OK;
}

/* Most packings are found soon or not at all, so the bound is raised between the two. */
static fs_status search_strips(fs_search_state *s, fs_problem *p) {
  FS_TRY(ask_strips(s, p, STRIP_FIRST));
  if (fs_search_best(s) > s->bound && !fs_search_over(s)) {
    FS_TRY(search_relaxed(s));
  }
  return ask_strips(s, p, UINT64_MAX);
}

/* ---- graphs whose starts are all given */

static fs_status take_lower(fs_search_state *s, fs_settled *settled) {
  fs_schedule *found;
  uint64_t old = UINT64_MAX, new;
  FS_TRY(fs_settled_schedule(settled, &found));
  if (found == NULL) {
    return FSCHED_OK;
  }
  fs_status status = s->best == NULL ? FSCHED_OK : fs_settled_extent(s->best, &old);
  if (status == FSCHED_OK) {
    status = fs_settled_extent(found, &new);
  }
  bool lower = status == FSCHED_OK && new < old;
  fs_schedule_destroy(lower ? s->best : found);
  s->best = lower ? found : s->best;
  return status;
}

/* Searches for addresses with lower peaks. */
static fs_status search_addresses(fs_search_state *s) {
  FS_SCRATCH(arena, s->ctx);
  fs_settled settled;
  fs_settling o = {
      .lower_bound = s->bound,
      .nodes = s->o->node_limit != 0 ? s->o->node_limit : fs_limits_of(s->ctx)->settle_nodes,
      .lowest = true,
      .stop = fs_search_over,
      .user = s};
  fs_status status = fs_settle(s->ctx, s->g, &o, &arena, &settled);
  if (status == FSCHED_OK && settled.found) {
    status = take_lower(s, &settled);
  }
  fs_settled_release(&settled);
  return status;
}

static fs_status search_graph(fs_search_state *s) {
  fs_problem *p = NULL;
  if (fs_settles(s->g) && s->o->proof == NULL) {
    return search_addresses(s);
  }
  if (fs_search_best(s) <= s->bound && s->o->proof == NULL) {
    return FSCHED_OK;
  }
  if (has_form(s->g)) {
    fs_tick horizon = s->best == NULL ? FS_TICK_NONE / 8 : s->best->makespan;
    FS_TRY(fs_problem_from_graph(s->ctx, s->g, horizon, s->bound, &p));
  }
  s->most_nodes = nodes_of(s, p == NULL ? s->g->n_ops : p->n_items);
  bool plain = false;
  fs_status status = is_plain(p, &plain);
  const char *why = !has_form(s->g)             ? "has latencies, or gangs that choose"
                    : fs_search_best(s) == 0    ? "takes no time"
                    : !plain || s->best == NULL ? "has memories that may be short"
                                                : fs_prove_refused(p);
  if (status == FSCHED_OK && s->o->proof != NULL && why != NULL) {
    status = refuse_proof(s, why);
  } else if (status == FSCHED_OK) {
    bool strip = !plain && p != NULL && s->best != NULL && fs_strip_knows(p);
    if (strip) {
      status = search_strips(s, p);
    } else if (!plain && has_form(s->g)) {
      status = search_relaxed(s);
    }
    if (status == FSCHED_OK && (fs_search_best(s) > s->bound || s->o->proof != NULL)) {
      status = plain ? search_plain(s, p) : strip ? FSCHED_OK : fs_search_short(s);
    }
  }
  fs_problem_destroy(p);
  return status;
}

static fs_refine_end end_of(const fs_search_state *s) {
  return fs_search_best(s) <= s->bound ? FS_REFINE_END_NONE
         : is_stopped(s)               ? FS_REFINE_END_STOPPED
         : is_late(s)                  ? FS_REFINE_END_TIME
                                       : FS_REFINE_END_NODES;
}

fs_status fs_search_run(fsched_context *ctx, const fsched_graph *g, const fs_search_options *o,
                        fs_tick bound, fs_schedule **schedule) {
  assert(*schedule == NULL || (*schedule)->graph == g);
  fs_search_state s = {.ctx = ctx, .g = g, .o = o, .best = *schedule, .bound = bound};
  s.begin_ns = fs_now_ns();
  s.deadline_ns = o->time_limit_ns == 0 ? 0 : s.begin_ns + o->time_limit_ns;
  fs_tick before = s.best == NULL ? 0 : s.best->makespan;
  uint64_t runs = s.best == NULL ? 0 : s.best->trial_runs;
  uint64_t steps = s.best == NULL ? 0 : s.best->trial_steps;
  fs_status status = search_graph(&s);
  *schedule = s.best;
  FS_TRY(status);
  if (s.best != NULL) {
    s.best->lower_bound = fs_min(s.bound, s.best->makespan);
    s.best->search_nodes = s.nodes;
    s.best->refined_from = before;
    s.best->refine_end = end_of(&s);
    s.best->trial_runs = runs;
    s.best->trial_steps = steps;
  } else {
    fs_report(ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE, NULL,
              "the search found no schedule within its limits");
  }
  return FSCHED_OK;
}
