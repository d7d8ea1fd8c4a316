/* SPDX-License-Identifier: Apache-2.0 */
#include "search/private.h"

#include "base/clock.h"
#include "base/saturate.h"
#include "base/warnings.h"
#include "problem/problem.h"
#include "problem/relaxed/relaxed.h"
#include "problem/settled/settled.h"
#include "problem/stated/stated.h"
#include "search/learning/log.h"
#include "search/prove.h"
#include "search/strip/strip.h"

enum {
  TELL_NS = 500000000,
  BOUND_STEPS = 100000, /* of propagation for each makespan, before the learner decides */
  STRIP_NODES = 64,     /* of the first question for a packing; and of all, before the bound */
  STRIP_FIRST = 1000,
  STRIP_MOST = 1 << 24, /* of one question */
  STRIP_WORK = 100,     /* of a rectangle */
  BOUND_SHARE = 4,      /* of the search of a graph that waits for memory, or whose gangs choose,
                         * for its bound; of one of few ops, whose copies are searched for, too */
  FEW_SHARE = 16,
  FEW_OPS = 32,
  CHOICE_WORK = 1 << 28 /* items times queues times queues, up to which queues are looked for */
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
  bool crew_over = s->crew != NULL && (s->settled || fs_crew_abandoned(s->crew));
  return is_spent(s) || crew_over || is_stopped(s) || is_late(s);
}

void fs_search_tell(fs_search_state *s, fs_tick makespan) {
  if (s->o->news == NULL || makespan == FS_TICK_NONE) {
    return;
  }
  uint64_t now = fs_now_ns();
  fs_tick bound = fs_max(s->bound, s->heard_bound);
  if (makespan == s->told_makespan && bound == s->told_bound && now < s->told_ns + TELL_NS) {
    return;
  }
  s->told_makespan = makespan;
  s->told_bound = bound;
  s->told_ns = now;
  fsched_refine_state state = {.size = sizeof state,
                               .incumbent = makespan,
                               .bound = fs_min(bound, makespan),
                               .nodes = s->nodes + s->heard_nodes,
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

static uint64_t nodes_of(const fs_search_state *s, uint32_t items) {
  if (s->o->node_limit != 0 || s->o->time_limit_ns != 0) {
    return s->o->node_limit;
  }
  return fs_min(FSCHED_SEARCH_NODES, fs_max(FS_SEARCH_FEWEST, FS_SEARCH_ITEMS / (1 + items)));
}

/* Raises the bound by makespans that leave some item no start; that is for the first of a crew, and
 * where items take queues for all of their time. */
static fs_status raise_bound(fs_search_state *s, fs_problem *p) {
  fs_tick bound = s->bound;
  if (s->best == NULL || s->member != 0 || p->busy != NULL) {
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

/* The same, but that some starts are given. */
static fs_status is_tied(const fs_problem *p, bool *tied) {
  *tied = p != NULL && p->exact && p->fixed != NULL && p->wait == 0;
  return *tied ? find_room(p, tied) : FSCHED_OK;
}

/* Only what is proven counts as a bound, so the one that was given does not.  The steps of the
 * learner are the proof if it has come to its end; else those that refuted the last limit from
 * below, or that showed the bound without a search. */
static fs_status search_proof(fs_search_state *s, fs_problem *p, fs_arena *arena) {
  fs_tick bound;
  fs_text_init(&s->raised, s->ctx);
  fs_status status = fs_prove_at_root(p, fs_search_best(s), &s->raised, &bound);
  if (status == FSCHED_OK) {
    s->bound = bound;
    s->proof = s->o->proof;
    s->whole = false;
    status = bound < fs_search_best(s) ? fs_search_in_turns(s, p, arena) : FSCHED_OK;
    s->proof = NULL;
  }
  if (status == FSCHED_OK && !s->whole) {
    s->o->proof->n = 0;
    fs_text_add(s->o->proof, s->raised.at, s->raised.n);
  }
  fs_log_end(s->o->proof, s->bound);
  s->o->proof->failed = s->o->proof->failed || s->raised.failed;
  fs_text_drop(&s->raised);
  return status;
}

static fs_status search_plain(fs_search_state *s, fs_problem *p, bool proof) {
  FS_SCRATCH(arena, s->ctx);
  p->stop = fs_search_over;
  p->user = s;
  if (proof) {
    return search_proof(s, p, &arena);
  }
  FS_TRY(raise_bound(s, p));
  return fs_search_best(s) <= s->bound ? FSCHED_OK : fs_search_in_turns(s, p, &arena);
}

/* ---- graphs that wait for memory, or whose gangs choose */

/* Searches a relaxed problem by a part of the nodes and of the time.  Its makespans are no
 * schedule's: what is proven of them is a bound. */
static fs_status search_apart(fs_search_state *s, fs_problem *p, bool proof) {
  uint64_t now = fs_now_ns(), most_nodes = s->most_nodes, deadline_ns = s->deadline_ns;
  uint64_t share = s->g->n_ops <= FEW_OPS && !s->g->gangs_open ? FEW_SHARE : BOUND_SHARE;
  if (most_nodes != 0) { /* at least 1, as 0 is no limit */
    s->most_nodes = fs_max(1, s->nodes + (most_nodes - s->nodes) / share);
  }
  s->deadline_ns = deadline_ns == 0 ? 0 : now + (deadline_ns - fs_min(now, deadline_ns)) / share;
  fs_status status = search_plain(s, p, proof);
  s->most_nodes = most_nodes;
  s->deadline_ns = deadline_ns;
  fs_search_tell(s, fs_search_best(s));
  return status;
}

/* An answer is a schedule where queues are found for it, which are looked for if they are few. */
static void mark_sets(const fs_search_state *s, fs_problem *p) {
  uint64_t queues = s->g->target.n_queues;
  p->exact = p->least = false;
  p->relaxed = true;
  p->sets = (uint64_t)p->n_items * queues <= CHOICE_WORK / (1 + queues);
}

/* The problem of a graph whose memories are never short, with sets of queues in place of those that
 * gangs choose; NULL: the graph is none of these. */
static fs_status make_sets(const fs_search_state *s, fs_problem **p) {
  bool plain;
  FS_TRY(fs_problem_from_graph(s->ctx, s->g, s->best->makespan, s->bound, p));
  fs_status status = is_plain(*p, &plain);
  if (status == FSCHED_OK && plain && fs_graph_wait(s->g) == 0) {
    mark_sets(s, *p);
    return FSCHED_OK;
  }
  fs_problem_destroy(*p);
  *p = NULL;
  return status;
}

/* The least relaxed problem of a graph with gangs that choose. */
static fs_status relax_gangs(const fs_search_state *s, fs_problem **p) {
  *p = NULL;
  if (s->g->n_rolled > 0) {
    return FSCHED_OK;
  }
  FS_TRY(make_sets(s, p));
  if (*p == NULL) {
    FS_TRY(fs_problem_relax(s->ctx, s->g, s->best->makespan, s->bound, p));
  }
  if (*p == NULL) {
    return fs_problem_state(s->ctx, s->g, s->best->makespan, s->bound, p);
  }
  return fs_problem_take_sets(*p);
}

/* The problem of a graph with latencies, if it is one for the learner. */
static fs_status relax_slow(const fs_search_state *s, fs_problem **p) {
  *p = NULL;
  return s->g->n_rolled > 0 || s->g->n_ops > FS_LEARNER_MOST
             ? FSCHED_OK
             : fs_problem_state(s->ctx, s->g, s->best->makespan, s->bound, p);
}

/* Raises the bound; that is for the first of a crew. */
static fs_status search_relaxed(fs_search_state *s) {
  fs_problem *p;
  if (s->best == NULL || s->member != 0) {
    return FSCHED_OK;
  }
  bool slow = fs_graph_first_slow(s->g) != FS_NONE;
  fs_status status = slow ? relax_slow(s, &p)
                     : s->g->gangs_open
                         ? relax_gangs(s, &p)
                         : fs_problem_relax(s->ctx, s->g, s->best->makespan, s->bound, &p);
  if (status == FSCHED_OK && p != NULL) {
    status = search_apart(s, p, false);
  }
  fs_problem_destroy(p);
  return status;
}

/* What the problem form does not tell: queues that are free before their ops are over,
 * and gangs that choose. */
static bool has_form(const fsched_graph *g) {
  return !g->gangs_open && fs_graph_first_slow(g) == FS_NONE;
}

/* A graph of which no proof can be written. */
static void report_refused(const fs_search_state *s) {
  fs_report(s->ctx, FSCHED_ERROR, FS_DIAG_UNSUPPORTED, FS_NOWHERE,
            "fsched-proof(5) lists what they cover",
            "no proof can be written of graph '%s', which %s", s->g->name, s->refused);
}

/* ---- strips */

static fs_status ask_strip(fs_search_state *s, fs_problem *p, fs_strip_search *o, bool *found) {
  FS_SCRATCH(arena, s->ctx);
  fs_answer answer = {0};
  fs_schedule *schedule = NULL;
  const char *why;
  fs_strip_search part = *o;
  uint64_t before = s->nodes;
  o->seed++;
  part.nodes = s->most_nodes == 0 ? o->nodes : fs_min(o->nodes, s->most_nodes - s->nodes);
  FS_TRY(fs_strip_run(&part, &arena, &answer, &s->nodes, found));
  if (*found) {
    FS_TRY(fs_answer_schedule(p, &answer, &schedule, &why));
    *found = schedule != NULL;
    fs_search_offer(s, schedule);
  }
  s->work += (s->nodes - before) * FS_STRIP_NODE * STRIP_WORK;
  fs_search_tell(s, fs_search_best(s));
  return fs_search_meet(s);
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

/* ---- graphs some of whose starts are given */

static fs_status take_tied(fs_search_state *s, fs_problem *p, const fs_learner *l) {
  FS_SCRATCH(arena, s->ctx);
  fs_answer answer = {0};
  fs_schedule *found;
  const char *why;
  FS_TRY(fs_new(&arena, &answer.start, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    answer.start[i] = fs_learner_start(l, i);
    answer.makespan = fs_max(answer.makespan, answer.start[i] + p->time[i]);
  }
  FS_TRY(fs_answer_schedule(p, &answer, &found, &why));
  fs_search_offer(s, found);
  return FSCHED_OK;
}

/* Searches for a first schedule, or that there is none, by a part of the nodes. */
static fs_status ask_tied(fs_search_state *s, fs_problem *p, fs_learner *l) {
  uint64_t nodes = s->most_nodes == 0
                       ? FSCHED_SEARCH_NODES
                       : (s->most_nodes - fs_min(s->nodes, s->most_nodes)) / BOUND_SHARE;
  fs_learned found = fs_learner_limit(l, p->horizon)
                         ? fs_learner_search(l, fs_max(1, nodes), fs_search_over, s)
                         : FS_LEARNED_NONE;
  s->nodes += l->conflicts;
  FS_TRY(l->status);
  s->bound = found == FS_LEARNED_NONE ? FS_SEARCH_LONGEST : s->bound;
  return found == FS_LEARNED_SCHEDULE ? take_tied(s, p, l) : FSCHED_OK;
}

static fs_status find_tied(fs_search_state *s, fs_problem *p) {
  FS_SCRATCH(arena, s->ctx);
  fs_learner l;
  if (p->n_items > FS_LEARNER_MOST) {
    return FSCHED_OK;
  }
  p->horizon = fs_prove_horizon(p);
  fs_status status = fs_learner_init(&l, p, &arena);
  if (status == FSCHED_OK) {
    status = ask_tied(s, p, &l);
  }
  fs_learner_release(&l);
  return status;
}

/* Where items choose among queues that are not alike, sets of queues stand for choices. */
static fs_status search_tied(fs_search_state *s, fs_problem *p) {
  if (!fs_learner_knows(p)) {
    mark_sets(s, p);
    FS_TRY(fs_problem_take_sets(p));
  }
  if (!fs_learner_knows(p)) {
    return FSCHED_OK;
  }
  if (s->best == NULL) {
    FS_TRY(find_tied(s, p));
  }
  return s->best == NULL ? FSCHED_OK : search_apart(s, p, false);
}

/* ---- all graphs */

static fs_status make_problem(fs_search_state *s, fs_problem **p, bool *plain) {
  *p = NULL;
  if (has_form(s->g)) {
    fs_tick horizon = s->best == NULL ? FS_SEARCH_LONGEST : s->best->makespan;
    FS_TRY(fs_problem_from_graph(s->ctx, s->g, horizon, s->bound, p));
  }
  s->most_nodes = nodes_of(s, *p == NULL ? s->g->n_ops : (*p)->n_items);
  return is_plain(*p, plain);
}

/* Of few ops, some of which choose among queues that are not alike: a learner knows that only where
 * copies are open, too. */
static fs_status is_for_choices(const fs_search_state *s, const fs_problem *p, bool *is) {
  bool few = p != NULL && s->g->n_ops <= FEW_OPS && !fs_learner_knows(p);
  *is = false;
  return few ? fs_search_can_open(s, is) : FSCHED_OK;
}

static fs_status search_schedules(fs_search_state *s, fs_problem *p, bool plain) {
  bool strip = !plain && p != NULL && s->best != NULL && fs_strip_knows(p), tied;
  FS_TRY(is_tied(p, &tied));
  if (strip) {
    FS_TRY(search_strips(s, p));
  } else if (tied) {
    FS_TRY(search_tied(s, p));
  } else if (!plain) {
    FS_TRY(search_relaxed(s));
  }
  if (fs_search_best(s) <= s->bound || s->bound >= FS_SEARCH_LONGEST) {
    return FSCHED_OK;
  }
  bool choices = false;
  FS_TRY(plain ? is_for_choices(s, p, &choices) : FSCHED_OK);
  if (choices) {
    FS_TRY(search_apart(s, p, false));
    return fs_search_best(s) <= s->bound ? FSCHED_OK : fs_search_short(s, p);
  }
  return plain ? search_plain(s, p, false) : strip ? FSCHED_OK : fs_search_short(s, p);
}

/* The proof becomes that of what the learner shows where copies are open, if that is more. */
static fs_status search_open(fs_search_state *s, fs_problem *p) {
  fs_tick before = s->bound;
  fs_text text;
  fs_text_init(&text, s->ctx);
  fs_text_init(&s->raised, s->ctx);
  s->proof = &text;
  s->whole = false;
  fs_status status = fs_search_short(s, p);
  s->proof = NULL;
  const fs_text *shown = s->whole ? &text : &s->raised;
  if (status == FSCHED_OK && s->bound > before) {
    s->o->proof->n = 0;
    fs_text_add(s->o->proof, shown->at, shown->n);
    fs_log_end(s->o->proof, s->bound);
    s->o->proof->failed = s->o->proof->failed || shown->failed;
  }
  fs_text_drop(&text);
  fs_text_drop(&s->raised);
  return status;
}

static bool takes_time(const fs_problem *p) {
  bool takes = false;
  for (uint32_t i = 0; i < p->n_items; i++) {
    takes = takes || p->time[i] > 0;
  }
  return takes;
}

/* Writes the proof of a bound of what proofs speak of.  The search for schedules that follows may
 * know more, which shows nothing. */
static fs_status search_stated(fs_search_state *s, fs_problem *p, bool plain) {
  fs_problem *stated;
  FS_TRY(fs_problem_state(s->ctx, s->g, s->best->makespan, s->bound, &stated));
  const char *why = !takes_time(stated) ? "has no op that takes time" : fs_prove_refused(stated);
  s->refused = why;
  fs_status status = why != NULL ? FSCHED_USAGE : search_apart(s, stated, true);
  fs_problem_destroy(stated);
  FS_TRY(status);
  fs_tick bound = s->bound;
  bool open = false, strip = p != NULL && fs_strip_knows(p), choices = false;
  FS_TRY(plain ? is_for_choices(s, p, &choices) : FSCHED_OK);
  if ((!plain || choices) && !strip && fs_search_best(s) > bound && !fs_settles(s->g)) {
    FS_TRY(fs_search_can_show(s, &open));
  }
  if (open) {
    FS_TRY(search_open(s, p));
    bound = s->bound;
  } else if (fs_settles(s->g)) {
    FS_TRY(search_addresses(s));
  } else if (fs_search_best(s) > bound) {
    FS_TRY(search_schedules(s, p, plain));
  }
  s->bound = bound;
  fs_search_tell(s, fs_search_best(s));
  return FSCHED_OK;
}

/* Tries to prove that there is no schedule; what shows it goes into the text. */
static fs_status search_none(fs_search_state *s, fs_text *text) {
  fs_problem *stated;
  bool shown = false;
  uint64_t share = s->most_nodes == 0 ? FSCHED_SEARCH_NODES : s->most_nodes / BOUND_SHARE;
  uint64_t left = share;
  FS_TRY(fs_problem_state(s->ctx, s->g, FS_SEARCH_LONGEST, s->bound, &stated));
  fs_status status = FSCHED_OK;
  stated->stop = fs_search_over;
  stated->user = s;
  if (fs_prove_refused(stated) == NULL) {
    status = fs_prove_none(stated, &left, text, &shown);
  }
  fs_problem_destroy(stated);
  s->nodes += share - left;
  s->bound = shown ? FS_SEARCH_LONGEST : s->bound;
  return status;
}

/* Where no schedule is known there may be none; else one is searched for, and then a proof of its
 * bound. */
static fs_status search_first(fs_search_state *s, fs_problem *p, bool plain) {
  FS_TRY(search_none(s, s->o->proof));
  if (s->bound >= FS_SEARCH_LONGEST) {
    return FSCHED_OK;
  }
  return fs_settles(s->g) ? search_addresses(s) : search_schedules(s, p, plain);
}

static fs_status search_peaks(fs_search_state *s) {
  fs_text peaks;
  if (!fs_prove_has_peaks(s->g)) {
    return FSCHED_OK;
  }
  fs_text_init(&peaks, s->ctx);
  fs_status status = fs_prove_peaks(s->ctx, s->g, &peaks);
  fs_text_add(s->o->proof, peaks.at, peaks.n);
  s->o->proof->failed = s->o->proof->failed || peaks.failed;
  fs_text_drop(&peaks);
  return status;
}

static fs_status search_with_proof(fs_search_state *s, fs_problem *p, bool plain) {
  s->refused = s->g->n_rolled > 0 ? "has loops that stay loops"
               : s->g->gangs_open ? "has gangs that choose"
                                  : NULL;
  if (s->refused == NULL && s->best == NULL) {
    FS_TRY(search_first(s, p, plain));
    if (s->best == NULL) {
      return FSCHED_OK;
    }
  }
  if (s->refused == NULL && fs_search_best(s) == 0) {
    s->refused = "has no op that takes time";
  }
  if (s->refused != NULL) {
    return FSCHED_USAGE;
  }
  bool whole = plain && fs_prove_refused(p) == NULL;
  FS_TRY(whole ? search_plain(s, p, true) : search_stated(s, p, plain));
  return search_peaks(s);
}

/* Given starts may be such that there is no schedule, which nobody wants a proof of. */
static fs_status refute_starts(fs_search_state *s) {
  fs_text text;
  if (s->best != NULL || s->g->op_start == NULL || s->g->n_rolled > 0 || s->g->gangs_open) {
    return FSCHED_OK;
  }
  fs_text_init(&text, s->ctx);
  s->most_nodes = nodes_of(s, s->g->n_ops);
  fs_status status = search_none(s, &text);
  fs_text_drop(&text);
  return status;
}

fs_status fs_search_graph(fs_search_state *s) {
  fs_problem *p;
  bool plain = false, proof = s->o->proof != NULL;
  if (!proof) {
    FS_TRY(refute_starts(s));
  }
  if (!proof && s->bound >= FS_SEARCH_LONGEST) {
    return FSCHED_OK;
  }
  if (fs_settles(s->g) && !proof) {
    return search_addresses(s);
  }
  if (fs_search_best(s) <= s->bound && !proof) {
    return FSCHED_OK;
  }
  fs_status status = make_problem(s, &p, &plain);
  if (status == FSCHED_OK) {
    status = proof ? search_with_proof(s, p, plain) : search_schedules(s, p, plain);
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

/* Addresses are searched for by one thread alone. */
static bool is_for_crew(const fs_search_state *s) {
  bool proof = s->o->proof != NULL;
  return s->o->jobs > 1 && (proof || (!fs_settles(s->g) && fs_search_best(s) > s->bound));
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
  fs_status status = is_for_crew(&s) ? fs_search_with_jobs(&s) : fs_search_graph(&s);
  *schedule = s.best;
  if (status == FSCHED_USAGE && s.refused != NULL) {
    report_refused(&s);
  }
  FS_TRY(status);
  if (s.best != NULL) {
    s.best->lower_bound = fs_min(s.bound, s.best->makespan);
    s.best->search_nodes = s.nodes;
    s.best->refined_from = before;
    s.best->refine_end = end_of(&s);
    s.best->trial_runs = runs;
    s.best->trial_steps = steps;
  } else {
    bool proven = bound < FS_SEARCH_LONGEST && s.bound >= FS_SEARCH_LONGEST;
    bool silent = o->proof != NULL && o->proof->n == 0;
    fs_report(ctx, FSCHED_WARNING, FS_DIAG_REFINE, FS_NOWHERE, NULL, "%s%s",
              proven ? "the search has proven that there is no schedule"
                     : "the search found no schedule within its limits",
              silent ? "; no proof of that is written" : "");
  }
  return FSCHED_OK;
}
