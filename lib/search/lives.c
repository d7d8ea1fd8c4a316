/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose short memories have no store, so that all content stays where it is: schedules from
 * orders (generation/anneal.h), beginning with the best one known. */
#include "base/saturate.h"
#include "search/private.h"

enum {
  MOST_ITEMS = 4096,    /* an order is evaluated without asking whether to stop */
  NEIGHBOUR_WORK = 1500 /* of an item of a neighbour */
};

/* Does nothing but that versions may have several residencies keep the problem from being exact? */
static bool keeps_all(const fs_problem *p) {
  const fs_target *t = &p->graph->target;
  bool all = p->least;
  for (uint32_t m = 0; m < t->n_memories && all; m++) {
    all = !p->tight[m] || !fs_memory_spills(&t->memory[m]);
  }
  return all;
}

fs_status fs_life_search_open(fs_life_search *x, fs_search_state *s, fs_problem *p,
                              fs_arena *arena) {
  *x = (fs_life_search){.s = s, .tried = FS_TICK_NONE};
  if (p->n_items > MOST_ITEMS || !fs_lives_know(p)) {
    return FSCHED_OK;
  }
  x->p = p;
  FS_TRY(fs_new(arena, &x->order, p->n_items));
  FS_TRY(fs_new(arena, &x->address, p->n_residencies));
  FS_TRY(fs_new(arena, &x->next, p->graph->target.n_memories));
  FS_TRY(fs_form_make(p, arena, &x->form));
  FS_TRY(fs_annealing_init(&x->a, &x->form, s->o->seed + s->member, arena));
  x->a.lives.passes.stop = fs_search_over;
  x->a.lives.passes.user = s;
  return FSCHED_OK;
}

fs_status fs_life_search_init(fs_life_search *x, fs_search_state *s, fs_problem *p,
                              fs_arena *arena) {
  if (p != NULL && keeps_all(p)) {
    return fs_life_search_open(x, s, p, arena);
  }
  *x = (fs_life_search){.s = s, .tried = FS_TICK_NONE};
  return FSCHED_OK;
}

fs_status fs_life_search_take(fs_life_search *x, const fs_schedule *from) {
  assert(x->p != NULL);
  fs_answer *known;
  if (from == NULL || (x->a.any && x->a.best.passed.makespan <= from->makespan)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_answer_of_schedule(x->p, from, &known));
  if (known != NULL) {
    fs_passed starts = {.start = known->start, .makespan = known->makespan};
    memcpy(x->order, x->p->topo, x->p->n_items * sizeof *x->order);
    fs_pass_by_start(&x->a.lives.passes, &starts, x->order);
    for (uint32_t k = 0; k < x->a.lives.n_lives; k++) {
      x->address[k] = known->address == NULL ? 0 : known->address[x->a.lives.life[k].residency];
    }
    FS_TRY(fs_annealing_offer(&x->a, &starts, x->order, x->address));
  }
  return FSCHED_OK;
}

/* In memories that are not short one lies beside the other. */
static void give_addresses(fs_life_search *x) {
  const fs_problem *p = x->p;
  const fs_lives *l = &x->a.lives;
  memset(x->next, 0, p->graph->target.n_memories * sizeof *x->next);
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    x->address[r] = x->next[p->res_memory[r]];
    x->next[p->res_memory[r]] += p->res_size[r];
  }
  for (uint32_t k = 0; k < l->n_lives; k++) {
    x->address[l->life[k].residency] = x->a.address[k];
  }
}

fs_status fs_life_search_make(fs_life_search *x, fs_tick known, fs_schedule **found) {
  const char *why;
  const fs_passed *best = &x->a.best.passed;
  *found = NULL;
  if (best->makespan >= fs_min(x->tried, known)) {
    return FSCHED_OK;
  }
  x->tried = best->makespan;
  give_addresses(x);
  fs_answer answer = {.start = best->start, .makespan = best->makespan, .address = x->address};
  return fs_answer_schedule(x->p, &answer, found, &why);
}

static fs_status make_best(fs_life_search *x) {
  fs_schedule *found;
  FS_TRY(fs_life_search_make(x, fs_search_best(x->s), &found));
  if (found != NULL) {
    fs_search_offer(x->s, found);
    fs_search_tell(x->s, fs_search_best(x->s));
  }
  return FSCHED_OK;
}

fs_status fs_life_search_run(fs_life_search *x, uint64_t nodes) {
  assert(x->p != NULL);
  fs_search_state *s = x->s;
  uint64_t end = fs_add_most(s->nodes, nodes);
  FS_TRY(fs_life_search_take(x, s->best));
  while (x->a.any && s->nodes < end && fs_search_best(s) > s->bound && !fs_search_over(s)) {
    FS_TRY(fs_annealing_step(&x->a));
    s->nodes++;
    s->work += (uint64_t)NEIGHBOUR_WORK * x->form.n;
    FS_TRY(make_best(x));
    FS_TRY(fs_search_meet(s));
  }
  return FSCHED_OK;
}
