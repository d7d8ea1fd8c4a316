/* SPDX-License-Identifier: Apache-2.0 */
#include "search/spill/spill.h"

#include "base/saturate.h"
#include "search/spill/private.h"

/* All items, one at a time. */
static fs_tick one_at_a_time(const fs_problem *p) {
  fs_tick sum = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    sum = fs_add_most(sum, p->time[i]);
  }
  return sum;
}

bool fs_spills_know(const fs_problem *p) {
  assert(p->spilling != NULL);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < p->spilling->n_uses; k++) {
    sum = fs_add_most(sum, p->spilling->use[k].bytes);
  }
  return p->n_items <= FS_LEARNER_MOST && fs_learner_knows(p) && sum < (uint64_t)1 << 60 &&
         one_at_a_time(p) < (fs_tick)(-FS_BEFORE_ALL) / 2; /* it is longer than any schedule */
}

fs_status fs_spills_init(fs_spills *s, fs_problem *p, fs_arena *arena) {
  assert(fs_spills_know(p));
  *s = (fs_spills){.p = p, .arena = arena, .limit = FS_TICK_NONE, .exact = true};
  s->most = one_at_a_time(p);
  FS_TRY(fs_new_zero(arena, &s->start, p->n_items));
  FS_TRY(fs_new_zero(arena, &s->holds, p->spilling->n_bools));
  return fs_learner_init(&s->l, p, arena);
}

fs_status fs_spills_log(fs_spills *s, fs_text *text) { return fs_log_begin(&s->log, &s->l, text); }

void fs_spills_release(fs_spills *s) {
  if (s->p != NULL) {
    fs_learner_release(&s->l);
    fs_log_release(&s->log, s->p->ctx);
  }
}

/* ---- guides */

/* The copies of the schedule that are of a version and kind, in order; those that the problem has
 * start where they do. */
static void guide_copies(fs_spills *s, const fs_schedule *known) {
  const fs_problem *p = s->p;
  for (uint32_t c = 0; c < p->n_copies; c++) {
    uint32_t item = p->graph->n_ops + c, best = FS_NONE;
    const fs_spilling *w = p->spilling;
    uint32_t v = p->copy_version[c];
    for (uint32_t k = 0; k < known->n_copies; k++) {
      uint32_t other = p->graph->n_ops + k;
      if (known->copy_version[k] != v || known->copy_kind[k] != p->copy_kind[c]) {
        continue;
      }
      uint32_t u = w->user0[v];
      while (u < w->user0[v + 1] && w->user[u].read != item && w->user[u].write != item) {
        u++;
      }
      bool fits = u == w->user0[v + 1] ||
                  (w->user[u].read == item ? known->end[other] <= known->start[w->user[u].op]
                                           : known->start[other] >= known->end[w->user[u].op]);
      bool later = best == FS_NONE || known->start[other] > known->start[best];
      best = fits && later ? other : best;
    }
    s->start[item] = best == FS_NONE ? 0 : known->start[best];
  }
}

void fs_spills_guide(fs_spills *s, const fs_schedule *known) {
  const fs_problem *p = s->p;
  for (uint32_t op = 0; op < p->graph->n_ops; op++) {
    s->start[op] = known->start[op];
  }
  guide_copies(s, known);
  fs_spilling_holds(p, known, s->holds);
  fs_learner_guide(&s->l, s->start);
  fs_learner_guide_bools(&s->l, s->holds);
}

/* ---- what is found */

static void take_point(fs_spills *s) {
  for (uint32_t i = 0; i < s->p->n_items; i++) {
    s->start[i] = fs_learner_start(&s->l, i);
  }
  for (uint32_t b = 0; b < s->p->spilling->n_bools; b++) {
    s->holds[b] = fs_is_true(&s->l, fs_bool_variable(&s->l, b));
  }
}

static fs_status make_schedule(fs_spills *s, fs_spill_fixed *fixed, fs_spill_turn *turn) {
  const char *why;
  bool placed;
  FS_TRY(fs_spills_place(s, turn, fixed, &placed));
  if (!placed) {
    s->refused++;
    return FSCHED_OK;
  }
  FS_TRY(fs_answer_schedule(fixed->problem, &fixed->answer, &turn->found, &why));
  if (turn->found == NULL) {
    return fs_spills_give_up(s);
  }
  fs_learner_guide(&s->l, s->start);
  fs_learner_guide_bools(&s->l, s->holds);
  return FSCHED_OK;
}

static fs_status take_found(fs_spills *s, fs_spill_turn *turn) {
  fs_spill_fixed fixed;
  take_point(s);
  fs_spill_point point = {s->start, s->holds};
  FS_TRY(fs_spilling_fix(s->p, &point, &fixed));
  fs_status status = make_schedule(s, &fixed, turn);
  fs_problem_destroy(fixed.problem);
  return status;
}

/* The caller's stop, and the turn's work. */
typedef struct spill_watch {
  const fs_spills *s;
  const fs_spill_turn *turn;
  uint64_t end;
} spill_watch;

static bool is_over(void *user) {
  const spill_watch *w = user;
  const fs_spill_turn *t = w->turn;
  return w->s->l.work >= w->end || (t->stop != NULL && t->stop(t->user));
}

static bool set_limit(fs_spills *s, fs_tick best) {
  if (best - 1 >= s->limit) {
    return true;
  }
  fs_learner_reset(&s->l);
  s->limit = best - 1;
  return fs_learner_limit(&s->l, s->limit);
}

fs_status fs_spills_run(fs_spills *s, fs_spill_turn *turn) {
  uint64_t end = fs_add_most(s->l.conflicts, turn->conflicts);
  fs_tick best = fs_min(turn->best, fs_add_most(s->most, 1));
  turn->found = NULL;
  turn->none = false;
  s->ended = s->ended || best == 0 || !set_limit(s, best);
  spill_watch watch = {s, turn, fs_add_most(s->l.work, turn->work)};
  while (!s->ended && turn->found == NULL && s->l.conflicts < end && s->l.status == FSCHED_OK &&
         !is_over(&watch)) {
    fs_learned found = fs_learner_search(&s->l, end - s->l.conflicts, is_over, &watch);
    if (found == FS_LEARNED_NOTHING) {
      break;
    }
    s->ended = found == FS_LEARNED_NONE;
    FS_TRY(s->ended ? FSCHED_OK : take_found(s, turn));
  }
  turn->none =
      s->ended && s->exact && s->l.status == FSCHED_OK && (best == 0 || best - 1 <= s->limit);
  return s->l.status;
}
