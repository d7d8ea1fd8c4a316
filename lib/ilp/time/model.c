/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model.
 *
 *   minimise   sum(t) t * x[sink,t]
 *   subject to sum(t) x[i,t] = 1                          one start each          time/items.c
 *              orders of starts                                                   time/items.c
 *              sum(i) use[i] * a[i,t] <= capacity         amounts and queues      time/amounts.c
 *              sum(r) size[r] * live[r,t] <= capacity     memories                time/lives.c
 *              addresses                time/positions.c, time/pairs.c or time/given.c
 *
 * What the published formulas lack:
 *   - the objective is printed without the t, and then it is the constant 1;
 *   - a[i,t] = sum(s = t-d+1 .. t) x[i,s] is a definition; printed as "= 1" it asks every item to
 *     run at every time;
 *   - without sum(t) x[i,t] = 1 for all items, an item may start twice or never: the rows are
 *     printed for some;
 *   - the sink has to follow every item, or the makespan is not the last end;
 *   - in b[i,t,p], "takes cell p at t", the sum over positions begins at max(0, p - r + 1); printed
 *     as min{0, p - r} it counts items that lie wholly below p.  It has to be summed over all
 *     starts within the duration, too, not only over starts at t.
 *   - items of no time (and lives of no length) are in none of the sums over slots; each has a row
 *     at its instant, with the items that run (or the lives that last) over it.
 *
 * Windows keep the model small: starts have variables from the earliest to the latest only; rows
 * that cannot be broken are dropped, and rows that a neighbour in time implies. */
#include "base/limit.h"
#include "ilp/time/private.h"

static fs_status find_units(fs_time_model *t) {
  const fs_problem *p = t->p;
  FS_TRY(fs_new_zero(&t->arena, &t->unit, p->graph->target.n_memories));
  FS_TRY(fs_new_none(&t->arena, &t->address_var, p->n_residencies));
  FS_TRY(fs_new_none(&t->arena, &t->position_var0, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint64_t *unit = &t->unit[p->res_memory[r]];
    *unit = fs_common_divisor(*unit, p->res_size[r]);
  }
  return FSCHED_OK;
}

static fs_status places(fs_time_model *t) {
  switch (t->o.places) {
    case FS_TIME_POSITIONS:
      return fs_time_positions(t);
    case FS_TIME_PAIRS:
      return fs_time_pairs(t);
    case FS_TIME_GIVEN:
      return fs_time_given(t);
    case FS_TIME_AMOUNTS:
      break;
  }
  return FSCHED_OK;
}

static fs_status build_model(fs_time_model *t) {
  FS_TRY(fs_time_items(t));
  if (t->impossible) {
    t->m.contradiction = true;
    return FSCHED_OK;
  }
  t->full = t->to - t->from > fs_limits_of(t->m.ctx)->time_ticks;
  if (t->full) {
    return FSCHED_OK;
  }
  FS_TRY(find_units(t));
  FS_TRY(fs_time_starts(t));
  FS_TRY(t->full ? FSCHED_OK : fs_time_amounts(t));
  FS_TRY(t->full ? FSCHED_OK : fs_time_lives(t));
  FS_TRY(t->full ? FSCHED_OK : fs_time_memories(t));
  return t->full ? FSCHED_OK : places(t);
}

fs_status fs_time_model_build(const fs_problem *p, const fs_time_options *o, fs_time_model **out) {
  assert(o->places != FS_TIME_GIVEN || o->address != NULL);
  assert(p->topo != NULL || p->n_items == 0);
  fs_arena arena;
  fs_time_model *t;
  *out = NULL;
  fs_arena_init(&arena, p->ctx);
  fs_status status = fs_new_zero(&arena, &t, 1);
  if (status != FSCHED_OK) {
    fs_arena_release(&arena);
    return status;
  }
  *t = (fs_time_model){.p = p, .o = *o, .arena = arena, .n = p->n_items};
  fs_model_init(&t->m, p->ctx, "time_indexed");
  status = build_model(t);
  if (status != FSCHED_OK || t->full) {
    fs_time_model_destroy(t);
    return status;
  }
  *out = t;
  return FSCHED_OK;
}

const fs_model *fs_time_model_of(const fs_time_model *t) { return &t->m; }

void fs_time_model_destroy(fs_time_model *t) {
  if (t != NULL) {
    fs_vec_free(t->m.ctx, &t->life_end);
    fs_vec_free(t->m.ctx, &t->owner);
    fs_vec_free(t->m.ctx, &t->pair);
    fs_model_release(&t->m);
    fs_arena arena = t->arena;
    fs_arena_release(&arena);
  }
}
