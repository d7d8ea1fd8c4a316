/* SPDX-License-Identifier: Apache-2.0 */
/* The solver: its making, and the search itself.  The most active literal is decided first, as it
 * was decided last; without any, the item that can start earliest starts there.  Restarts are
 * geometric. */
#include "search/learning/learner.h"

#include "base/radix.h"
#include "base/saturate.h"
#include "problem/spilling/spilling.h"
#include "search/learning/log.h"

enum { FIRST_RESTART = 100, MOST_LEARNT = 4000, ASK_EVERY = 16 };

/* Ticks and amounts, and sums of a few of them, are far from the limits of a side's value. */
static const fs_tick most_value = UINT64_C(1) << 60;

/* What an item takes of the k-th class or amount in its lists. */
typedef struct taken {
  uint32_t field;
  uint64_t amount;
} taken;

static uint32_t n_taken(const fs_problem *p, uint32_t item) {
  return p->choice0[item + 1] - p->choice0[item] + p->use0[item + 1] - p->use0[item];
}

static taken take(const fs_problem *p, uint32_t item, uint32_t k) {
  uint32_t classes = p->choice0[item + 1] - p->choice0[item];
  if (k < classes) {
    uint32_t class = p->choice[p->choice0[item] + k];
    return (taken){class, p->gang[item] ? p->class_size[class] : 1};
  }
  uint32_t u = p->use0[item] + k - classes;
  return (taken){p->n_classes + p->use[u], p->use_amount[u]};
}

static uint64_t capacity_of(const fs_problem *p, uint32_t field) {
  return field < p->n_classes ? p->class_size[field] : p->amount_capacity[field - p->n_classes];
}

static uint64_t taken_by_all(const fs_problem *p, uint32_t field) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = 0; k < n_taken(p, i); k++) {
      taken t = take(p, i, k);
      sum = t.field == field ? fs_add_most(sum, t.amount) : sum;
    }
  }
  return sum;
}

static fs_tick busy_of(const fs_problem *p, uint32_t item) {
  return p->busy == NULL ? p->time[item] : p->busy[item];
}

/* Is the class or amount one of queues?  Queues that nobody has named are as many as may run at one
 * time. */
static bool is_of_queues(const fs_problem *p, uint32_t field) {
  uint32_t amount = field - p->n_classes;
  return field < p->n_classes
             ? !p->graph->target.implicit_queues
             : p->amount_queue0 != NULL && p->amount_queue0[amount] < p->amount_queue0[amount + 1];
}

bool fs_learner_knows(const fs_problem *p) {
  fs_tick sum = 0;
  bool knows = (p->exact || p->relaxed) && (p->fixed == NULL || p->spilling == NULL);
  knows = knows && p->wait == 0;
  for (uint32_t i = 0; i < p->n_items && knows; i++) {
    sum = fs_add_most(sum, p->time[i]);
    knows = !fs_problem_is_fixed(p, i) || p->fixed[i] < most_value;
    knows = knows && (p->gang[i] || p->choice0[i + 1] - p->choice0[i] == 1 || p->spilling != NULL);
  }
  /* An item without a length may find its queue taken at its one moment: of what may be left out,
   * or is relaxed, that is not in the rules. */
  bool moments = (p->exact || p->stated) && p->spilling == NULL;
  for (uint32_t i = 0; i < p->n_items && knows && !moments; i++) {
    for (uint32_t k = 0; busy_of(p, i) == 0 && knows && k < n_taken(p, i); k++) {
      taken t = take(p, i, k);
      knows = taken_by_all(p, t.field) <= capacity_of(p, t.field);
    }
  }
  for (uint32_t f = 0; f < p->n_classes + p->n_amounts && knows; f++) {
    knows = taken_by_all(p, f) < most_value;
  }
  return knows && sum < most_value;
}

/* ---- making */

static void find_unit(fs_learner *s) {
  fs_tick unit = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    unit = fs_common_divisor(s->p->time[i], unit);
    unit = fs_common_divisor(busy_of(s->p, i), unit);
    if (fs_problem_is_fixed(s->p, i)) {
      unit = fs_common_divisor(s->p->fixed[i], unit);
    }
  }
  s->unit = fs_max(unit, 1);
}

static fs_status make_times(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  s->n = s->p->n_items;
  s->n_ends = w == NULL ? 0 : w->n_stays;
  s->n_bools = w == NULL ? 0 : w->n_bools;
  find_unit(s);
  FS_TRY(fs_new(s->arena, &s->time, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    s->time[i] = (fs_side_value)(s->p->time[i] / s->unit);
  }
  s->busy = s->time;
  if (s->p->busy == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(s->arena, &s->busy, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    s->busy[i] = (fs_side_value)(s->p->busy[i] / s->unit);
  }
  return FSCHED_OK;
}

/* Who is there only if some boolean holds. */
static fs_status make_owners(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  uint32_t first = fs_first_bool(s), n = 0;
  FS_TRY(fs_new_none(s->arena, &s->owner, (size_t)first + s->n_bools + s->n_orders));
  FS_TRY(fs_new_zero(s->arena, &s->owned0, (size_t)s->n_bools + 1));
  FS_TRY(fs_new(s->arena, &s->owned, (size_t)s->n + s->n_ends));
  for (uint32_t i = 0; w != NULL && i < s->n; i++) {
    s->owner[i] = w->item_if[i] == FS_NONE ? FS_NONE : first + w->item_if[i];
  }
  for (uint32_t k = 0; k < s->n_ends; k++) {
    uint32_t only_if = w->stay[k].only_if;
    s->owner[fs_end_variable(s, k)] = only_if == FS_NONE ? FS_NONE : first + only_if;
  }
  for (uint32_t b = 0; b < s->n_bools; b++) {
    s->owned0[b] = n;
    for (uint32_t v = 0; v < first; v++) {
      if (s->owner[v] == first + b) {
        s->owned[n++] = v;
      }
    }
  }
  s->owned0[s->n_bools] = n;
  return FSCHED_OK;
}

static fs_status make_sides(fs_learner *s) {
  s->n_sides = 2 * (fs_first_order(s) + s->n_orders);
  FS_TRY(fs_new(s->arena, &s->value, s->n_sides));
  FS_TRY(fs_new_none(s->arena, &s->latest, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &s->of_side, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &s->held, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &s->decided, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &s->needed, s->n_sides));
  FS_TRY(fs_new_none(s->arena, &s->where, s->n_sides));
  FS_TRY(fs_new_zero(s->arena, &s->listed, s->n_sides));
  for (uint32_t i = 0; i < s->n; i++) {
    s->value[2 * i] = (fs_side_value)(s->p->head[i] / s->unit);
    s->value[2 * i + 1] = -(fs_side_value)most_value;
  }
  for (uint32_t order = 0; order < s->n_orders; order++) {
    s->value[fs_order_side(s, order)] = 0;
    s->value[fs_order_side(s, order) + 1] = -1;
  }
  for (uint32_t k = 0; k < s->n_ends; k++) {
    s->value[2 * fs_end_variable(s, k)] = 0;
    s->value[2 * fs_end_variable(s, k) + 1] = -(fs_side_value)most_value;
  }
  for (uint32_t k = 0; k < s->n_bools; k++) {
    s->value[2 * fs_bool_variable(s, k)] = 0;
    s->value[2 * fs_bool_variable(s, k) + 1] = -1;
  }
  return FSCHED_OK;
}

static uint32_t variable_of(const fs_learner *s, uint32_t boolean) {
  return boolean == FS_NONE ? FS_NONE : fs_bool_variable(s, boolean);
}

/* The boolean by which the item takes the k-th in its lists. */
static uint32_t taken_if(const fs_learner *s, uint32_t item, uint32_t k) {
  const fs_problem *p = s->p;
  const fs_spilling *w = p->spilling;
  uint32_t classes = p->choice0[item + 1] - p->choice0[item];
  if (w == NULL) {
    return FS_NONE;
  }
  uint32_t choice = k < classes ? w->choice_if[p->choice0[item] + k] : FS_NONE;
  return variable_of(s, choice == FS_NONE ? w->item_if[item] : choice);
}

static uint32_t add_task(fs_learner *s, uint32_t n, uint32_t item, uint32_t k, uint64_t amount) {
  s->task[n] = (fs_learner_task){.item = item,
                                 .end = item,
                                 .table = s->n_tables,
                                 .only_if = taken_if(s, item, k),
                                 .length = fs_learner_takes(s, &s->table[s->n_tables], item),
                                 .amount = (fs_side_value)amount};
  return n + 1;
}

/* Items by the middle of their windows: the sure parts of tasks that are listed so come nearly in
 * the order of their times. */
static fs_status sort_items(fs_learner *s, uint32_t **out) {
  const fs_problem *p = s->p;
  uint64_t *key, most = 0;
  FS_TRY(fs_new(s->arena, &key, 2 * (size_t)s->n));
  FS_TRY(fs_new(s->arena, out, s->n));
  for (uint32_t i = 0; i < s->n; i++) {
    most = fs_max(most, p->tail[i] / s->unit);
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t middle = p->head[i] / s->unit + most - p->tail[i] / s->unit;
    key[i] = fs_min(middle, UINT32_MAX) << 32 | i;
  }
  fs_radix_sort_block(key, s->n);
  for (uint32_t i = 0; i < s->n; i++) {
    (*out)[i] = (uint32_t)key[i];
  }
  return FSCHED_OK;
}

/* Lists the tasks of the classes and amounts that can be short. */
static fs_status make_tables(fs_learner *s) {
  const fs_problem *p = s->p;
  uint32_t n_fields = p->n_classes + p->n_amounts, n = 0;
  size_t most = (size_t)p->choice0[p->n_items] + p->use0[p->n_items];
  if (p->spilling != NULL) {
    most += p->spilling->n_uses + p->spilling->turn0[p->spilling->n_turns];
    n_fields += p->graph->target.n_memories + p->spilling->n_turns;
  }
  uint32_t *item;
  FS_TRY(sort_items(s, &item));
  FS_TRY(fs_new_zero(s->arena, &s->table, n_fields));
  FS_TRY(fs_new(s->arena, &s->task, most));
  FS_TRY(fs_new(s->arena, &s->step, 2 * most + 2));
  n_fields = p->n_classes + p->n_amounts;
  for (uint32_t f = 0; f < n_fields; f++) {
    if (taken_by_all(p, f) <= capacity_of(p, f)) {
      continue;
    }
    fs_learner_table *t = &s->table[s->n_tables];
    *t = (fs_learner_table){.capacity = (fs_side_value)capacity_of(p, f),
                            .field = f,
                            .task0 = n,
                            .queues = is_of_queues(p, f)};
    for (uint32_t at = 0; at < p->n_items; at++) {
      uint32_t i = item[at];
      for (uint32_t k = 0; k < n_taken(p, i); k++) {
        taken x = take(p, i, k);
        if (x.field == f && x.amount > 0) {
          n = add_task(s, n, i, k, x.amount);
        }
      }
    }
    t->task1 = n;
    s->n_tables++;
  }
  s->n_tasks = n;
  return FSCHED_OK;
}

static fs_status make_full(fs_learner *s) {
  for (uint32_t t = 0; t < s->n_tables; t++) {
    for (uint32_t k = s->table[t].task0; k < s->table[t].task1; k++) {
      s->table[t].most =
          (fs_side_value)fs_max((uint64_t)s->table[t].most, (uint64_t)s->task[k].amount);
    }
  }
  return fs_new(s->arena, &s->full, 2 * (size_t)s->n_tasks + 1);
}

/* The variables of a task, each once. */
static uint32_t variables_of(const fs_learner_task *a, uint32_t variable[3]) {
  uint32_t n = 0;
  variable[n++] = a->item;
  if (a->end != a->item) {
    variable[n++] = a->end;
  }
  if (a->only_if != FS_NONE) {
    variable[n++] = a->only_if;
  }
  return n;
}

static fs_status index_tasks(fs_learner *s) {
  uint32_t *fill, variable[3], n = fs_first_order(s);
  FS_TRY(fs_new_zero(s->arena, &s->task0, (size_t)n + 1));
  FS_TRY(fs_new_zero(s->arena, &fill, n));
  FS_TRY(fs_new(s->arena, &s->task_of, 3 * (size_t)s->n_tasks));
  for (uint32_t k = 0; k < s->n_tasks; k++) {
    for (uint32_t i = variables_of(&s->task[k], variable); i-- > 0;) {
      s->task0[variable[i] + 1]++;
    }
  }
  for (uint32_t v = 0; v < n; v++) {
    s->task0[v + 1] += s->task0[v];
  }
  for (uint32_t k = 0; k < s->n_tasks; k++) {
    for (uint32_t i = variables_of(&s->task[k], variable); i-- > 0;) {
      s->task_of[s->task0[variable[i]] + fill[variable[i]]++] = k;
    }
  }
  return FSCHED_OK;
}

fs_status fs_learner_init(fs_learner *s, const fs_problem *p, fs_arena *arena) {
  assert(fs_learner_knows(p));
  *s = (fs_learner){.ctx = p->ctx,
                    .arena = arena,
                    .p = p,
                    .bump = 1,
                    .clause_bump = 1,
                    .most_learnt = MOST_LEARNT,
                    .pause = FIRST_RESTART,
                    .next_restart = FIRST_RESTART};
  FS_TRY(make_times(s));
  FS_TRY(fs_new(arena, &s->guide_room, p->n_items));
  FS_TRY(fs_new_zero(arena, &s->bool_guide, s->n_bools));
  FS_TRY(make_tables(s));
  FS_TRY(p->spilling == NULL ? FSCHED_OK : fs_learner_open_links(s));
  FS_TRY(make_full(s));
  FS_TRY(index_tasks(s));
  FS_TRY(fs_learner_make_pairs(s));
  FS_TRY(make_owners(s));
  FS_TRY(make_sides(s));
  if (p->spilling != NULL) {
    fs_learner_open_clauses(s);
  }
  return s->status;
}

void fs_learner_release(fs_learner *s) {
  for (uint32_t side = 0; s->of_side != NULL && side < s->n_sides; side++) {
    fs_vec_free(s->ctx, &s->of_side[side]);
  }
  for (size_t id = 0; id < s->literal.n; id++) {
    fs_vec_free(s->ctx, &s->literal.at[id].watch);
  }
  fs_vec_free(s->ctx, &s->trail);
  fs_vec_free(s->ctx, &s->level);
  fs_vec_free(s->ctx, &s->clash);
  fs_vec_free(s->ctx, &s->literal);
  fs_vec_free(s->ctx, &s->truth);
  fs_vec_free(s->ctx, &s->activity);
  fs_vec_free(s->ctx, &s->phase);
  fs_vec_free(s->ctx, &s->place);
  fs_vec_free(s->ctx, &s->heap);
  fs_vec_free(s->ctx, &s->clause);
  fs_vec_free(s->ctx, &s->learnt);
  fs_vec_free(s->ctx, &s->waiting);
  fs_vec_free(s->ctx, &s->set);
  fs_vec_free(s->ctx, &s->crossing);
  fs_vec_free(s->ctx, &s->involved);
  fs_vec_free(s->ctx, &s->premise);
  fs_vec_free(s->ctx, &s->found);
  fs_vec_free(s->ctx, &s->mark);
  fs_vec_free(s->ctx, &s->level_seen);
  fs_vec_free(s->ctx, &s->ids);
}

/* ---- search */

static void go_back(fs_learner *s, uint32_t level) {
  if (level < s->level.n) {
    fs_learner_undo(s, s->level.at[level]);
    s->level.n = level;
  }
  s->conflict = false;
}

/* What has grown at the root stays. */
static void settle_root(fs_learner *s) {
  assert(s->level.n == 0);
  fs_learner_propagate(s);
  s->trail.n = 0;
  s->set.n = 0;
  s->crossing.n = 0;
  s->visited = 0;
}

void fs_learner_reset(fs_learner *s) { go_back(s, 0); }

void fs_learner_strip(fs_learner *s) {
  assert(s->level.n == 0 && (s->trail.n == 0 || s->p->spilling != NULL)); /* clauses of one */
  s->bare = true;
  fs_learner_grow_heads(s);
}

bool fs_learner_limit(fs_learner *s, fs_tick makespan) {
  assert(s->level.n == 0 && !s->conflict);
  const fs_problem *p = s->p;
  if (!s->has_heights) {
    fs_learner_note(s, fs_learner_make_heights(s, makespan));
  }
  for (uint32_t k = s->n; k-- > 0;) {
    /* A proof shows by rules what lies behind an item, which edges do once from the last one on. */
    uint32_t i = s->bare ? p->topo[k] : s->n - 1 - k;
    fs_tick behind = (p->time[i] + (s->bare ? 0 : p->path[i])) / s->unit;
    fs_side_value latest = (fs_side_value)(makespan / s->unit) - (fs_side_value)behind;
    if (fs_problem_is_fixed(p, i) && latest > (fs_side_value)(p->fixed[i] / s->unit)) {
      latest = (fs_side_value)(p->fixed[i] / s->unit);
    }
    fs_learner_grow(s, 2 * i + 1, -latest, FS_BY_DECISION, FS_NONE, 0);
  }
  for (uint32_t k = 0; k < s->n_ends; k++) {
    fs_side_value latest = (fs_side_value)(makespan / s->unit);
    fs_learner_grow(s, 2 * fs_end_variable(s, k) + 1, -latest, FS_BY_DECISION, FS_NONE, 0);
  }
  settle_root(s);
  if (s->conflict) {
    fs_log_none(s);
  }
  return !s->conflict;
}

static void decide(fs_learner *s, fs_literal l) {
  if (s->status == FSCHED_OK) {
    s->status = fs_vec_push(s->ctx, &s->level, (uint32_t)s->trail.n);
  }
  s->decisions++;
  fs_learner_grow(s, l.side, l.value, FS_BY_DECISION, FS_NONE, 0);
}

/* The item that can start earliest; of those, the one that can start least late. */
static uint32_t next_item(const fs_learner *s) {
  uint32_t best = FS_NONE;
  for (uint32_t i = 0; i < s->n; i++) {
    if (fs_earliest(s, i) == fs_latest(s, i) || fs_is_false(s, s->owner[i])) {
      continue;
    }
    bool first =
        best == FS_NONE || fs_earliest(s, i) < fs_earliest(s, best) ||
        (fs_earliest(s, i) == fs_earliest(s, best) && fs_latest(s, i) < fs_latest(s, best));
    best = first ? i : best;
  }
  return best;
}

/* A boolean that is open. */
static uint32_t next_bool(const fs_learner *s) {
  uint32_t k = 0;
  while (k < s->n_bools &&
         (fs_is_true(s, fs_bool_variable(s, k)) || fs_is_false(s, fs_bool_variable(s, k)))) {
    k++;
  }
  return k < s->n_bools ? k : FS_NONE;
}

/* Of the orders that are open, of items that take turns, the one whose items leave each other least
 * room; decided for the item that can start earlier. */
static uint32_t next_order(const fs_learner *s) {
  uint32_t best = FS_NONE;
  fs_side_value least = 0;
  for (uint32_t k = 0; k < s->n_turn_orders; k++) {
    uint32_t side = fs_order_side(s, k), a = s->order_first[k], b = s->order_second[k];
    if (s->value[side] > 0 || s->value[side + 1] == 0) {
      continue;
    }
    fs_side_value ab = fs_latest(s, b) - fs_earliest(s, a) - s->time[a];
    fs_side_value ba = fs_latest(s, a) - fs_earliest(s, b) - s->time[b];
    fs_side_value slack = fs_min(ab, ba);
    if (best == FS_NONE || slack < least) {
      least = slack;
      best = side + (ab < ba);
    }
  }
  return best;
}

void fs_learner_guide(fs_learner *s, const fs_tick *start) {
  s->guide = s->guide_room;
  for (uint32_t i = 0; i < s->n; i++) {
    s->guide[i] = (fs_side_value)(start[i] / s->unit);
  }
}

void fs_learner_guide_bools(fs_learner *s, const uint8_t *holds) {
  assert(s->guide != NULL);
  if (s->n_bools > 0) {
    memcpy(s->bool_guide, holds, s->n_bools * sizeof *s->bool_guide);
  }
}

void fs_learner_refuse(fs_learner *s, const fs_literal *at, size_t n) {
  assert(!s->conflict);
  s->conflict = true;
  s->crossed = (fs_growth){.side = FS_NONE, .cause = FS_BY_DECISION};
  s->clash.n = 0;
  for (size_t k = 0; k < n; k++) {
    fs_learner_note(s, fs_vec_push(s->ctx, &s->clash, at[k]));
  }
}

/* Of an order, the side that the guide has. */
static uint32_t guided_order(const fs_learner *s, uint32_t order) {
  bool first = s->guide[s->order_first[order]] < s->guide[s->order_second[order]];
  return fs_order_side(s, order) + !first;
}

/* Whether a literal holds in the guide. */
static bool holds_in_guide(const fs_learner *s, fs_literal l) {
  uint32_t variable = l.side / 2;
  if (variable >= fs_first_order(s)) {
    return guided_order(s, variable - fs_first_order(s)) == l.side;
  }
  if (variable >= fs_first_bool(s)) {
    return (s->bool_guide[variable - fs_first_bool(s)] != 0) == ((l.side & 1) == 0);
  }
  if (variable >= s->n) { /* an end is as early as what it waits for */
    return (l.side & 1) != 0;
  }
  fs_side_value at = s->guide[variable];
  return ((l.side & 1) == 0 ? at : -at) >= l.value;
}

static void decide_pair(fs_learner *s, uint32_t pair) {
  const fs_known_literal *both = &s->literal.at[2 * (size_t)pair];
  bool first = s->guide == NULL ? s->phase.at[pair] != 0 : holds_in_guide(s, both[0].l);
  decide(s, both[first ? 0 : 1].l);
}

/* The item starts where the guide has it, if it may, or as early as it can. */
static void decide_item(fs_learner *s, uint32_t item) {
  fs_side_value at = fs_earliest(s, item);
  if (s->guide != NULL && s->guide[item] > at && s->guide[item] < fs_latest(s, item)) {
    at = s->guide[item];
  }
  decide(s, (fs_literal){2 * item + 1, -at});
}

/* False: all is decided. */
static bool decide_next(fs_learner *s) {
  uint32_t pair = fs_learner_choose(s);
  if (pair != FS_NONE) {
    decide_pair(s, pair);
    return true;
  }
  uint32_t boolean = next_bool(s);
  if (boolean != FS_NONE) {
    decide(s, (fs_literal){2 * fs_bool_variable(s, boolean) + 1, 0});
    return true;
  }
  uint32_t order = next_order(s);
  if (order != FS_NONE) {
    order = s->guide == NULL ? order : guided_order(s, order / 2 - fs_first_order(s));
    decide(s, fs_order_literal(order));
    return true;
  }
  uint32_t item = next_item(s);
  if (item != FS_NONE) {
    decide_item(s, item);
  }
  return item != FS_NONE;
}

/* False: the clash needs no decision. */
static bool learn_clause(fs_learner *s) {
  s->conflicts++;
  uint32_t back = s->level.n == 0 ? 0 : fs_learner_trace(s);
  if (s->level.n == 0 || s->found.n == 0) {
    fs_log_none(s);
    return false;
  }
  go_back(s, back);
  fs_learner_learn(s);
  s->bump /= 0.95;
  s->clause_bump /= 0.999f;
  return true;
}

static void restart(fs_learner *s) {
  fs_learner_reset(s);
  settle_root(s);
  if (!s->conflict && s->learnt.n >= s->most_learnt) {
    fs_learner_forget(s);
    s->most_learnt =
        fs_max(s->most_learnt + s->most_learnt / 10, (uint32_t)s->learnt.n + MOST_LEARNT / 2);
    settle_root(s);
  }
}

static bool stops(bool (*stop)(void *), void *user) { return stop != NULL && stop(user); }

fs_learned fs_learner_search(fs_learner *s, uint64_t conflicts, bool (*stop)(void *), void *user) {
  uint64_t end = s->conflicts + conflicts;
  while (s->status == FSCHED_OK) {
    fs_learner_propagate(s);
    if (s->conflict) {
      if (!learn_clause(s)) {
        return FS_LEARNED_NONE;
      }
      if (s->conflicts >= end || (s->conflicts % ASK_EVERY == 0 && stops(stop, user))) {
        return FS_LEARNED_NOTHING;
      }
      continue;
    }
    if (s->decisions % ASK_EVERY == ASK_EVERY - 1 && stops(stop, user)) {
      return FS_LEARNED_NOTHING;
    }
    if (s->conflicts >= s->next_restart || s->learnt.n >= s->most_learnt) {
      s->pause += s->conflicts >= s->next_restart ? s->pause / 2 : 0;
      s->next_restart = s->conflicts + s->pause;
      restart(s);
      continue;
    }
    if (s->level.n == 0) {
      settle_root(s);
    }
    if (!s->conflict && !decide_next(s)) {
      return FS_LEARNED_SCHEDULE;
    }
  }
  return FS_LEARNED_NOTHING;
}
