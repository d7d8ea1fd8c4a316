/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a strip by positions.  A binary x is 1 where its item starts at t with its rectangle
 * at p; both are normal positions (pack/symmetry.c).
 *
 *     sum of the x of an item = 1         and s_i = sum t x, p_r = sum p x
 *     for a time t and a place p: sum of the x of rectangles that cover (t, p) <= 1
 *
 * If two rectangles overlap, they overlap at a corner: at the later of their starts and the higher
 * of their places.  So rows are needed only for each t that is a start and each p that is a place
 * of some position.
 *
 * The relaxation is much stronger than that of pairs: at a horizon at which the rectangles just
 * fill the strip, every row is an equation in effect.  So this model serves to look for a packing
 * within one given horizon, the least one that is not refuted, while the model of pairs improves a
 * longer schedule.
 *
 * Source: Beasley, An Exact Two-Dimensional Non-Guillotine Cutting Tree Search Procedure (1985). */
#include <stdlib.h>

#include "ilp/pack/private.h"

bool fs_pack_has_positions(const fs_problem *p) {
  bool good = fs_problem_is_strip(p) && p->n_residencies == p->n_items &&
              p->horizon <= fs_limits_of(p->ctx)->grid;
  for (uint32_t i = 0; i < p->n_items && good; i++) {
    uint32_t r = fs_pack_rectangle(p, i);
    good = r != FS_NONE && p->time[i] > 0 && p->res_size[r] > 0 &&
           p->res_memory[r] == p->res_memory[0];
  }
  return good;
}

typedef struct grid {
  fs_pack_model *t;
  int64_t length, room;
  int64_t *start, *place;   /* positions of one item */
  uint8_t *starts, *places; /* 1 where some item may start, or lie */
  uint32_t *first;          /* per item: its first index in t->position; [n_items]: the end */
} grid;

static fs_status make_variables(grid *g, uint32_t i) {
  fs_pack_model *t = g->t;
  uint32_t r = fs_pack_rectangle(t->p, i), var;
  uint32_t n, n_places;
  fs_decision starts = fs_pack_list_starts(t, i, g->start, &n);
  fs_decision places = fs_pack_list_places(t, r, g->place, &n_places);
  t->large |= starts.is == FS_NOT_DECIDED || places.is == FS_NOT_DECIDED;
  g->first[i] = (uint32_t)t->position.n;
  for (uint32_t a = 0; a < n; a++) {
    if (g->start[a] < t->span[i].begin.low || g->start[a] > t->span[i].begin.high) {
      continue;
    }
    g->starts[g->start[a]] = 1;
    for (uint32_t b = 0; b < n_places; b++) {
      fs_pack_position x = {i, g->start[a], g->place[b]};
      g->places[x.place] = 1;
      FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, &var, "x_%u_%u_%u", i,
                              (uint32_t)x.start, (uint32_t)x.place));
      t->position_var = t->position.n == 0 ? var : t->position_var;
      FS_TRY(fs_vec_push(t->ctx, &t->position, x));
    }
  }
  g->first[i + 1] = (uint32_t)t->position.n;
  return FSCHED_OK;
}

/* The coefficient of each position is 1, its start, or its place, by `what`. */
static fs_status sum_row(grid *g, uint32_t i, int64_t equals, int what, fs_pack_expr e,
                         const char *name) {
  fs_pack_model *t = g->t;
  FS_TRY(fs_model_begin_row(&t->model, equals, equals, "%s_%u", name, i));
  for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++) {
    const fs_pack_position *x = &t->position.at[k];
    FS_TRY(fs_model_add_term(&t->model, t->position_var + k,
                             what == 0   ? 1
                             : what == 1 ? x->start
                                         : x->place));
  }
  FS_TRY(fs_pack_add(t, e, -1));
  return fs_model_end_row(&t->model);
}

static fs_status item_rows(grid *g, uint32_t i) {
  fs_pack_model *t = g->t;
  FS_TRY(sum_row(g, i, 1, 0, fs_pack_known(0), "once"));
  FS_TRY(sum_row(g, i, 0, 1, t->span[i].begin, "starts"));
  return sum_row(g, i, 0, 2, t->place[fs_pack_rectangle(t->p, i)], "lies");
}

static fs_status cover_row(grid *g, int64_t time, int64_t place) {
  fs_pack_model *t = g->t;
  FS_TRY(
      fs_model_begin_row(&t->model, -FS_MODEL_INF, 1, "at_%u_%u", (uint32_t)time, (uint32_t)place));
  for (size_t k = 0; k < t->position.n; k++) {
    const fs_pack_position *x = &t->position.at[k];
    int64_t length = (int64_t)t->p->time[x->item];
    int64_t size = fs_pack_size(t, fs_pack_rectangle(t->p, x->item));
    if (x->start <= time && time < x->start + length && x->place <= place &&
        place < x->place + size) {
      FS_TRY(fs_model_add_term(&t->model, t->position_var + (uint32_t)k, 1));
    }
  }
  return fs_model_end_row(&t->model);
}

static fs_status fill_grid(grid *g) {
  fs_pack_model *t = g->t;
  fs_arena *a = &t->arena;
  FS_TRY(fs_new(a, &g->start, (size_t)g->length + 1));
  FS_TRY(fs_new(a, &g->place, (size_t)g->room + 1));
  FS_TRY(fs_new_zero(a, &g->starts, (size_t)g->length + 1));
  FS_TRY(fs_new_zero(a, &g->places, (size_t)g->room + 1));
  FS_TRY(fs_new_zero(a, &g->first, (size_t)t->p->n_items + 1));
  for (uint32_t i = 0; i < t->p->n_items && !t->large; i++) {
    FS_TRY(make_variables(g, i));
    t->large |= t->options.max_terms != 0 && t->position.n > t->options.max_terms;
  }
  for (uint32_t i = 0; i < t->p->n_items && !t->large; i++) {
    FS_TRY(item_rows(g, i));
  }
  for (int64_t time = 0; time <= g->length; time++) {
    for (int64_t place = 0; place <= g->room && !fs_pack_full(t); place++) {
      if (g->starts[time] && g->places[place]) {
        FS_TRY(cover_row(g, time, place));
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_pack_positions(fs_pack_model *t) {
  assert(t->strip && t->p->n_residencies > 0);
  grid g = {.t = t, .length = (int64_t)t->p->horizon, .room = t->room[t->p->res_memory[0]]};
  if (g.room > (int64_t)fs_limits_of(t->ctx)->grid) {
    t->large = true;
    return FSCHED_OK;
  }
  return fill_grid(&g);
}
