/* SPDX-License-Identifier: Apache-2.0 */
/* Limits without addresses: queues, resources, concurrency, counted memories.
 *
 * The queues of a class are interchangeable, and intervals can be coloured with as many colours as
 * overlap at most, so a class of k queues is an amount of k, of which an item takes 1 and a gang k.
 * Then all limits are alike: the amounts of the members that are present at any time add up to at
 * most `capacity`.  As the sum only grows when a member begins, it is enough to look at the begin
 * of each member j:
 *
 *     amount_j + sum over i of amount_i * o_ij <= capacity
 *     o_ij = t_ij + u_ij - 1     1 when i is present as j begins, else 0
 *     t_ij                       0 where i has ended when j begins (pack/order.c)
 *     u_ij                       0 where i begins later than j: begin(j) + 1 <= begin(i) + W u_ij
 *     t_ij + u_ij >= 1           i does not end before it begins
 *
 * Two members that together exceed the capacity are kept apart, which needs neither u nor the sum.
 * A member without length takes nothing from others; at its instant it counts together with the
 * members that contain the instant strictly.  A member i that begins at the instant is not present,
 * so u is 0 already where begin(j) <= begin(i).  Where it depends on the schedule whether j has a
 * length, it has both rows, and the first binds only if j has one: a binary z_j, with end(j) <=
 * begin(j) + W (1 - z_j), relaxes it where it is 1.
 *
 * Where items choose among classes, binaries say which: o_ij >= t_ij + u_ij + pick_i - 2, and the
 * row binds only when j is of the class.
 *
 * The published model has none of these. */
#include <stdio.h>

#include "ilp/pack/private.h"

typedef struct member {
  uint32_t span;
  int64_t amount;
  uint32_t pick; /* the binary that says whether it is a member; FS_NONE: it is in any case */
} member;

typedef struct amount_group {
  const char *name;
  uint32_t id;
  int64_t capacity;
  member *at;
  uint32_t n;
} amount_group;

/* The presence o of a member when another begins: ended + late - 1, or a variable. */
typedef struct presence {
  int64_t amount;
  fs_pack_order ended, late;
  uint32_t chosen; /* the variable o, where the member has a choice; else FS_NONE */
} presence;

/* Keeps two members apart that together exceed the capacity. */
static fs_status exclude(fs_pack_model *t, const amount_group *g, const member *a,
                         const member *b) {
  if (a->pick == FS_NONE && b->pick == FS_NONE) {
    return fs_pack_apart(t, a->span, b->span);
  }
  fs_pack_order left, right;
  const uint32_t pick[2] = {a->pick, b->pick};
  FS_TRY(fs_pack_left(t, a->span, b->span, &left));
  FS_TRY(fs_pack_left(t, b->span, a->span, &right));
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 3, "%s%u_apart_%u_%u", g->name, g->id,
                            a->span, b->span));
  FS_TRY(fs_pack_add_not(t, left, 1));
  FS_TRY(fs_pack_add_not(t, right, 1));
  for (int k = 0; k < 2; k++) {
    if (pick[k] == FS_NONE) {
      fs_model_add_known(&t->model, 1);
    } else {
      FS_TRY(fs_model_add_term(&t->model, pick[k], 1));
    }
  }
  return fs_model_end_row(&t->model);
}

static fs_status exclude_pairs(fs_pack_model *t, const amount_group *g) {
  for (uint32_t a = 0; a < g->n && !fs_pack_full(t); a++) {
    for (uint32_t b = a + 1; b < g->n; b++) {
      bool instants = t->span[g->at[a].span].length == FS_PACK_ZERO &&
                      t->span[g->at[b].span].length == FS_PACK_ZERO;
      bool known = fs_pack_left_truth(t, g->at[a].span, g->at[b].span) == FS_PACK_YES ||
                   fs_pack_left_truth(t, g->at[b].span, g->at[a].span) == FS_PACK_YES;
      if (g->at[a].amount + g->at[b].amount > g->capacity && !instants && !known) {
        FS_TRY(exclude(t, g, &g->at[a], &g->at[b]));
      }
    }
  }
  return FSCHED_OK;
}

/* May i be present when j begins, and are the two not kept apart anyway? */
static bool counts(const fs_pack_model *t, const amount_group *g, const member *i, const member *j,
                   int64_t gap) {
  return i != j && t->span[i->span].length != FS_PACK_ZERO &&
         i->amount + j->amount <= g->capacity &&
         fs_pack_left_truth(t, i->span, j->span) != FS_PACK_YES &&
         fs_pack_late_truth(t, i->span, j->span, gap) != FS_PACK_YES;
}

static fs_status make_presence(fs_pack_model *t, const amount_group *g, const member *i,
                               const member *j, int64_t gap, presence *out) {
  *out = (presence){.amount = i->amount, .chosen = FS_NONE};
  FS_TRY(fs_pack_left(t, i->span, j->span, &out->ended));
  FS_TRY(fs_pack_late(t, i->span, j->span, gap, out->ended, &out->late));
  if (i->pick == FS_NONE) {
    return FSCHED_OK;
  }
  char name[40];
  bool ended = out->ended.truth == FS_PACK_OPEN, late = out->late.truth == FS_PACK_OPEN;
  fs_pack_def def = {.kind = FS_PACK_ALL,
                     .x = ended ? out->ended.var : FS_NONE,
                     .y = late ? out->late.var : FS_NONE,
                     .other = i->pick};
  (void)snprintf(name, sizeof name, "with%d_%s%u", (int)gap, g->name, g->id);
  FS_TRY(fs_pack_binary(t, def, &out->chosen, name, i->span, j->span));
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 2, "all_%s_%u_%u", name, i->span, j->span));
  FS_TRY(fs_pack_add_not(t, out->ended, 1));
  FS_TRY(fs_pack_add_not(t, out->late, 1));
  FS_TRY(fs_model_add_term(&t->model, i->pick, 1));
  FS_TRY(fs_model_add_term(&t->model, out->chosen, -1));
  return fs_model_end_row(&t->model);
}

static fs_status add_presence(fs_pack_model *t, const presence *o) {
  if (o->chosen != FS_NONE) {
    return fs_model_add_term(&t->model, o->chosen, o->amount);
  }
  FS_TRY(fs_pack_add_not(t, o->ended, o->amount));
  FS_TRY(fs_pack_add_not(t, o->late, o->amount));
  fs_model_add_known(&t->model, -o->amount);
  return FSCHED_OK;
}

/* Makes the binary z, which may be 1 only where j has no length. */
static fs_status make_instant(fs_pack_model *t, const amount_group *g, const member *j,
                              uint32_t *out) {
  fs_pack_expr b = t->span[j->span].begin, e = t->span[j->span].end;
  fs_pack_def def = {
      .kind = FS_PACK_NOW, .x = e.var, .y = b.var, .other = FS_NONE, .add = e.add - b.add};
  FS_TRY(fs_pack_binary(t, def, out, g->name, g->id, j->span));
  int64_t most = e.high - b.low;
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, most, "instant_%s%u_%u", g->name, g->id,
                            j->span));
  FS_TRY(fs_pack_add(t, e, 1));
  FS_TRY(fs_pack_add(t, b, -1));
  FS_TRY(fs_model_add_term(&t->model, *out, most));
  return fs_model_end_row(&t->model);
}

/* Makes the row of the begin of j. */
static fs_status begin_row(fs_pack_model *t, const amount_group *g, const member *j, int64_t gap,
                           presence *scratch) {
  int64_t sum = j->amount;
  uint32_t n = 0, instant = FS_NONE;
  for (uint32_t i = 0; i < g->n; i++) {
    sum += counts(t, g, &g->at[i], j, gap) ? g->at[i].amount : 0;
  }
  if (sum <= g->capacity) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < g->n; i++) {
    if (counts(t, g, &g->at[i], j, gap)) {
      FS_TRY(make_presence(t, g, &g->at[i], j, gap, &scratch[n++]));
    }
  }
  int64_t over = sum - g->capacity;
  if (gap == 1 && t->span[j->span].length == FS_PACK_MAYBE_ZERO) {
    FS_TRY(make_instant(t, g, j, &instant));
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, g->capacity - j->amount, "%s%u_at%d_%u",
                            g->name, g->id, (int)gap, j->span));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(add_presence(t, &scratch[i]));
  }
  if (j->pick != FS_NONE) {
    FS_TRY(fs_model_add_term(&t->model, j->pick, over));
    fs_model_add_known(&t->model, -over);
  }
  if (instant != FS_NONE) {
    FS_TRY(fs_model_add_term(&t->model, instant, -over));
  }
  return fs_model_end_row(&t->model);
}

static fs_status group_rows(fs_pack_model *t, amount_group *g, presence *scratch) {
  uint64_t unit = 0;
  int64_t sum = 0;
  for (uint32_t k = 0; k < g->n; k++) {
    unit = fs_pack_divisor(unit, (uint64_t)g->at[k].amount);
  }
  g->capacity /= unit == 0 ? 1 : (int64_t)unit;
  for (uint32_t k = 0; k < g->n; k++) {
    g->at[k].amount /= (int64_t)unit;
    t->model.contradiction |= g->at[k].amount > g->capacity && g->at[k].pick == FS_NONE;
    sum += fs_min((uint64_t)g->at[k].amount, INT64_MAX / 8 / (uint64_t)g->n);
  }
  if (sum <= g->capacity) {
    return FSCHED_OK;
  }
  FS_TRY(exclude_pairs(t, g));
  for (uint32_t k = 0; k < g->n && !fs_pack_full(t); k++) {
    uint8_t length = t->span[g->at[k].span].length;
    if (length != FS_PACK_ZERO) {
      FS_TRY(begin_row(t, g, &g->at[k], 1, scratch));
    }
    if (length != FS_PACK_POSITIVE) {
      FS_TRY(begin_row(t, g, &g->at[k], 0, scratch));
    }
  }
  return FSCHED_OK;
}

/* --- the groups and their members --- */

static fs_status make_picks(fs_pack_model *t) {
  const fs_problem *p = t->p;
  FS_TRY(fs_new_none(&t->arena, &t->pick, p->choice0[p->n_items]));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t first = p->choice0[i], end = p->choice0[i + 1];
    if (p->gang[i] || end - first < 2) {
      continue;
    }
    for (uint32_t k = first; k < end; k++) {
      FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, &t->pick[k], "pick_%u_%u", i,
                              p->choice[k]));
    }
    FS_TRY(fs_model_begin_row(&t->model, 1, 1, "picks_%u", i));
    for (uint32_t k = first; k < end; k++) {
      FS_TRY(fs_model_add_term(&t->model, t->pick[k], 1));
    }
    FS_TRY(fs_model_end_row(&t->model));
  }
  return FSCHED_OK;
}

static int64_t amount(uint64_t a) { return (int64_t)fs_min(a, INT64_MAX / 8); }

static void gather_class(const fs_pack_model *t, uint32_t c, amount_group *g) {
  const fs_problem *p = t->p;
  *g = (amount_group){.name = "class", .id = c, .capacity = p->class_size[c], .at = g->at};
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = p->choice0[i]; k < p->choice0[i + 1]; k++) {
      if (p->choice[k] == c) {
        g->at[g->n++] = (member){i, p->gang[i] ? p->class_size[c] : 1, t->pick[k]};
      }
    }
  }
}

static void gather_amount(const fs_pack_model *t, uint32_t a, amount_group *g) {
  const fs_problem *p = t->p;
  *g = (amount_group){
      .name = "amount", .id = a, .capacity = amount(p->amount_capacity[a]), .at = g->at};
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = p->use0[i]; k < p->use0[i + 1]; k++) {
      if (p->use[k] == a && p->use_amount[k] > 0) {
        g->at[g->n++] = (member){i, amount(p->use_amount[k]), FS_NONE};
      }
    }
  }
}

static void gather_memory(const fs_pack_model *t, uint32_t m, amount_group *g) {
  const fs_problem *p = t->p;
  *g = (amount_group){.name = "memory",
                      .id = m,
                      .capacity = amount(p->graph->target.memory[m].capacity),
                      .at = g->at};
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == m && !fs_pack_placed(t, r) && p->res_size[r] > 0) {
      g->at[g->n++] = (member){p->n_items + r, amount(p->res_size[r]), FS_NONE};
    }
  }
}

fs_status fs_pack_amounts(fs_pack_model *t) {
  const fs_problem *p = t->p;
  amount_group g = {0};
  presence *scratch;
  FS_TRY(make_picks(t));
  fs_arena_mark mark = fs_arena_set_mark(&t->arena);
  FS_TRY(fs_new(&t->arena, &g.at, t->n_spans));
  FS_TRY(fs_new(&t->arena, &scratch, t->n_spans));
  for (uint32_t c = 0; c < p->n_classes; c++) {
    gather_class(t, c, &g);
    FS_TRY(group_rows(t, &g, scratch));
  }
  for (uint32_t a = 0; a < p->n_amounts; a++) {
    gather_amount(t, a, &g);
    FS_TRY(group_rows(t, &g, scratch));
  }
  for (uint32_t m = 0; m < p->graph->target.n_memories; m++) {
    gather_memory(t, m, &g);
    FS_TRY(group_rows(t, &g, scratch));
  }
  fs_arena_reset(&t->arena, mark);
  return FSCHED_OK;
}
