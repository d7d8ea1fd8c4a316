/* SPDX-License-Identifier: Apache-2.0 */
/* Items: how their starts are modelled, and the rows that concern starts alone.
 *
 *   sum(t) x[i,t] = 1                                          for every item
 *   sum(t) t * x[j,t] - sum(t) t * x[i,t] >= d[i]              for an edge i -> j
 *   sum(s >= t) x[i,s] + sum(s < t + d[i]) x[j,s] <= 1         the same for each t, tighter
 *   sum(s >= t, b other than a) x[i,b,s]
 *     + sum(s < t + d[i] + wait) x[j,a,s] <= 1                 an edge between unlike queues
 *
 * The sink is one more item, which takes no time and follows all others; its start is the makespan.
 * Windows are those of the problem, narrowed by fixed items and by items that move together.  A
 * start with a single possible value is a constant.  Edges that others imply get no rows. */
#include "base/limit.h"
#include "ilp/time/private.h"

/* --- roles and windows --- */

static bool is_fixed(const fs_time_model *t, uint32_t i) {
  return t->p->fixed != NULL && t->p->fixed[i] != FS_TICK_NONE;
}
static bool is_rigid(const fs_time_model *t, uint32_t i) {
  return t->o.rigid != NULL && t->o.rigid[i] != FS_TICK_NONE && !is_fixed(t, i);
}

static void limit_shift(fs_time_model *t, fs_tick latest, fs_tick earliest) {
  t->max_shift = fs_min(t->max_shift, latest > earliest ? latest - earliest : 0);
}

/* Finds how far the items that move together may; returns when all items end without a shift. */
static fs_tick find_shift(fs_time_model *t) {
  const fs_problem *p = t->p;
  fs_tick end = 0, fixed_end = 0;
  t->max_shift = t->o.max_shift;
  for (uint32_t i = 0; i < t->n; i++) {
    if (is_fixed(t, i)) {
      fixed_end = fs_max(fixed_end, p->fixed[i] + p->time[i]);
    } else if (is_rigid(t, i)) {
      t->rigid = true;
      end = fs_max(end, t->o.rigid[i] + p->time[i]);
      limit_shift(t, t->o.rigid[i], p->head[i]);
      for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
        uint32_t before = p->pred[e];
        if (is_fixed(t, before)) {
          limit_shift(t, t->o.rigid[i], p->fixed[before] + p->time[before]);
        }
      }
    }
  }
  end = fs_max(end, fixed_end);
  if (t->rigid) {
    limit_shift(t, end, fs_max(fixed_end, p->lower_bound));
  } else {
    t->max_shift = 0;
  }
  return end;
}

static void set_windows(fs_time_model *t, fs_tick end) {
  const fs_problem *p = t->p;
  for (uint32_t i = 0; i < t->n; i++) {
    fs_time_item *x = &t->item[i];
    *x = (fs_time_item){.role = FS_TIME_FREE, .var0 = FS_NONE, .known = FS_NONE, .n_choices = 1};
    x->time = p->time[i];
    x->est = p->head[i];
    fs_tick behind = p->tail[i] + p->time[i];
    x->lst = p->horizon >= behind ? p->horizon - behind : 0;
    t->impossible |= p->horizon < behind;
    if (is_fixed(t, i)) {
      x->role = FS_TIME_FIXED;
      x->est = x->lst = p->fixed[i];
    } else if (is_rigid(t, i)) {
      x->role = FS_TIME_RIGID;
      x->lst = t->o.rigid[i];
      x->est = x->lst - t->max_shift;
    }
  }
  fs_time_item *sink = &t->item[t->n];
  *sink = (fs_time_item){.var0 = FS_NONE, .known = FS_NONE, .n_choices = 1};
  sink->role = t->rigid ? FS_TIME_RIGID : FS_TIME_FREE;
  sink->lst = t->rigid ? end : p->horizon;
  sink->est = t->rigid ? end - t->max_shift : fs_max(p->lower_bound, end);
}

/* Narrows the windows of free items by their neighbours. */
static void narrow(fs_time_model *t) {
  const fs_problem *p = t->p;
  fs_time_item *sink = &t->item[t->n];
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = p->topo[k];
    for (uint32_t e = p->pred0[i]; t->item[i].role == FS_TIME_FREE && e < p->pred0[i + 1]; e++) {
      const fs_time_item *before = &t->item[p->pred[e]];
      t->item[i].est = fs_max(t->item[i].est, before->est + before->time);
    }
    bool free = sink->role == FS_TIME_FREE;
    sink->est = free ? fs_max(sink->est, t->item[i].est + t->item[i].time) : sink->est;
  }
  for (uint32_t k = t->n; k-- > 0;) {
    uint32_t i = p->topo[k];
    fs_time_item *x = &t->item[i];
    if (x->role != FS_TIME_FREE) {
      continue;
    }
    fs_tick latest = sink->lst;
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      latest = fs_min(latest, t->item[p->succ[e]].lst);
    }
    t->impossible |= latest < x->time;
    x->lst = fs_min(x->lst, latest < x->time ? 0 : latest - x->time);
    t->impossible |= x->lst < x->est;
  }
  t->impossible |= sink->lst < sink->est;
}

/* Finds the classes that are open to each item. */
static void set_choices(fs_time_model *t) {
  const fs_problem *p = t->p;
  for (uint32_t i = 0; i < t->n; i++) {
    fs_time_item *x = &t->item[i];
    uint32_t n = p->choice0[i + 1] - p->choice0[i];
    if (!p->gang[i] && n > 0) {
      bool said = x->role != FS_TIME_FREE && t->o.choice != NULL && t->o.choice[i] != FS_NONE;
      x->n_choices = said ? 1 : n;
      x->known = said ? t->o.choice[i] : n == 1 ? p->choice[p->choice0[i]] : FS_NONE;
    }
  }
}

/* Finds the times that rows are about: those of items that are free, or whose class is open, and
 * those where rigid items can meet fixed ones.  Residencies may exist before the first of these
 * items. */
static void find_range(fs_time_model *t) {
  fs_tick fixed_end = 0, first = FS_TICK_NONE, last = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const fs_time_item *x = &t->item[i];
    if (x->role == FS_TIME_FREE || x->n_choices > 1) {
      last = fs_max(last, x->lst + x->time);
    }
    fixed_end = x->role == FS_TIME_FIXED ? fs_max(fixed_end, x->lst + x->time) : fixed_end;
    if (x->role != FS_TIME_FIXED || x->n_choices > 1) {
      first = fs_min(first, x->est);
    }
  }
  t->to = t->rigid ? fs_max(last, fixed_end) : last;
  t->from = t->p->fixed == NULL && t->o.rigid == NULL ? 0 : fs_min(first, t->to);
}

static fs_status find_near(fs_time_model *t) {
  FS_TRY(fs_new(&t->arena, &t->near, t->n));
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->item[i].est <= t->to && t->item[i].lst + t->item[i].time >= t->from) {
      t->near[t->n_near++] = i;
    }
  }
  return FSCHED_OK;
}

/* --- the closure of orders --- */

static void close_one(fs_time_model *t, uint32_t i) {
  const fs_problem *p = t->p;
  uint64_t *mine = t->reach + i * t->words;
  for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
    uint32_t next = p->succ[e];
    for (size_t w = 0; w < t->words; w++) {
      mine[w] |= t->reach[next * t->words + w];
    }
    mine[next / 64] |= (uint64_t)1 << next % 64;
  }
}

static fs_status close_order(fs_time_model *t) {
  if (t->p->fixed != NULL || t->o.rigid != NULL || t->n > fs_limits_of(t->m.ctx)->time_closed) {
    return FSCHED_OK;
  }
  t->words = (t->n + (size_t)63) / 64;
  FS_TRY(fs_new_zero(&t->arena, &t->reach, t->n * t->words));
  for (uint32_t k = t->n; k-- > 0;) {
    close_one(t, t->p->topo[k]);
  }
  return FSCHED_OK;
}

static bool reaches(const fs_time_model *t, uint32_t a, uint32_t b) {
  return t->reach != NULL && (t->reach[a * t->words + b / 64] >> b % 64 & 1) != 0;
}

bool fs_time_before(const fs_time_model *t, uint32_t a, uint32_t b) {
  assert(a <= t->n && b <= t->n);
  const fs_time_item *x = &t->item[a], *y = &t->item[b];
  bool together = x->role == FS_TIME_RIGID && y->role == FS_TIME_RIGID;
  if (x->lst + x->time <= (together ? y->lst : y->est) || b == t->n) {
    return true;
  }
  if (a == t->n || reaches(t, a, b)) {
    return a != t->n;
  }
  for (uint32_t e = t->p->pred0[b]; e < t->p->pred0[b + 1]; e++) {
    if (t->p->pred[e] == a) {
      return true;
    }
  }
  return false;
}

fs_status fs_time_items(fs_time_model *t) {
  FS_TRY(fs_new_zero(&t->arena, &t->item, (size_t)t->n + 1));
  set_windows(t, find_shift(t));
  set_choices(t);
  narrow(t);
  if (t->impossible) {
    return FSCHED_OK;
  }
  find_range(t);
  FS_TRY(find_near(t));
  return close_order(t);
}

/* --- variables --- */

static fs_status add_shift(fs_time_model *t) {
  char name[32];
  const fs_time_item *sink = &t->item[t->n];
  if (!t->rigid) {
    return FSCHED_OK;
  }
  t->m.constant = (int64_t)sink->lst;
  t->shift0 = (uint32_t)t->m.var.n;
  for (fs_tick k = 0; k <= t->max_shift; k++) {
    uint32_t var;
    (void)snprintf(name, sizeof name, "shift_%llu", (unsigned long long)k);
    FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, -(int64_t)k, t->n + 1, name, &var));
  }
  FS_TRY(fs_model_begin_row(&t->m, 1, 1, "one_shift"));
  for (fs_tick k = 0; k <= t->max_shift; k++) {
    FS_TRY(fs_model_add_term(&t->m, t->shift0 + (uint32_t)k, 1));
  }
  return fs_model_end_row(&t->m);
}

static bool needs_variables(const fs_time_model *t, uint32_t i) {
  const fs_time_item *x = &t->item[i];
  return x->n_choices > 1 || (x->role == FS_TIME_FREE && x->est < x->lst);
}

static fs_status add_starts(fs_time_model *t, uint32_t i) {
  const fs_time_item *x = &t->item[i];
  char name[64];
  uint32_t var;
  for (uint32_t c = 0; c < x->n_choices; c++) {
    for (fs_tick at = x->est; at <= x->lst; at++) {
      unsigned long long tick = at;
      if (i == t->n) {
        (void)snprintf(name, sizeof name, "x_sink_%llu", tick);
      } else if (x->n_choices > 1) {
        (void)snprintf(name, sizeof name, "x_%u_%u_%llu", i, t->p->choice[t->p->choice0[i] + c],
                       tick);
      } else {
        (void)snprintf(name, sizeof name, "x_%u_%llu", i, tick);
      }
      FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, i == t->n ? (int64_t)at : 0, i, name, &var));
    }
  }
  return FSCHED_OK;
}

static fs_status add_note(fs_time_model *t, uint32_t i) {
  const fs_problem *p = t->p;
  const fsched_graph *g = p->graph;
  if (i == t->n) {
    return fs_model_add_note(&t->m, "x_sink_t: the makespan is t");
  }
  if (i < g->n_ops) {
    return fs_model_add_note(&t->m, "x_%u_%st: op %s starts at t", i,
                             t->item[i].n_choices > 1 ? "c_" : "", g->op_name[i]);
  }
  uint32_t copy = i - g->n_ops, version = p->copy_version[copy];
  return fs_model_add_note(&t->m, "x_%u_%st: the spill %s of %s.%u starts at t", i,
                           t->item[i].n_choices > 1 ? "c_" : "", fs_words_copy[p->copy_kind[copy]],
                           g->buffer_name[g->version_buffer[version]],
                           fs_version_index(g, version));
}

/* Makes the variables of an item whose start is one of several, or which moves with others and has
 * an open class, and the rows that choose one of them. */
static fs_status one_start(fs_time_model *t, uint32_t i) {
  fs_time_item *x = &t->item[i];
  uint32_t var0 = (uint32_t)t->m.var.n, n = (uint32_t)(x->lst - x->est + 1);
  FS_TRY(add_note(t, i));
  FS_TRY(add_starts(t, i));
  bool together = x->role == FS_TIME_RIGID;
  for (uint32_t k = 0; k < (together ? n : 1); k++) {
    FS_TRY(fs_model_begin_row(&t->m, together ? 0 : 1, together ? 0 : 1, "one_%u_%u", i, k));
    if (together) {
      FS_TRY(fs_model_add_term(&t->m, t->shift0 + n - 1 - k, -1));
    }
    for (uint32_t v = together ? k : 0; v < n * x->n_choices; v += together ? n : 1) {
      FS_TRY(fs_model_add_term(&t->m, var0 + v, 1));
    }
    FS_TRY(fs_model_end_row(&t->m));
  }
  x->var0 = var0;
  return FSCHED_OK;
}

static bool too_many(const fs_time_model *t, uint32_t i) {
  const fs_time_item *x = &t->item[i];
  fs_tick most = t->o.max_terms == 0 ? FS_NONE / 2 : fs_min(t->o.max_terms, FS_NONE / 2);
  return t->m.var.n >= most || (x->lst - x->est) >= (most - t->m.var.n) / x->n_choices;
}

static fs_status add_variables(fs_time_model *t) {
  t->full = t->max_shift >= (t->o.max_terms == 0 ? FS_NONE / 2 : t->o.max_terms);
  if (t->full) {
    return FSCHED_OK;
  }
  FS_TRY(add_shift(t));
  for (uint32_t i = 0; i <= t->n && !t->full; i++) {
    if (needs_variables(t, i)) {
      t->full = too_many(t, i);
      FS_TRY(t->full ? FSCHED_OK : one_start(t, i));
    } else if (t->item[i].role == FS_TIME_FREE) {
      t->item[i].role = FS_TIME_FIXED;
      t->m.constant += i == t->n ? (int64_t)t->item[i].est : 0;
    }
  }
  return FSCHED_OK;
}

/* --- orders --- */

/* Adds one row: `to` starts at least `gap` after the start of `from`. */
static fs_status aggregated(fs_time_model *t, uint32_t from, uint32_t to, fs_tick gap) {
  FS_TRY(fs_model_begin_row(&t->m, (int64_t)gap, FS_MODEL_INF, "after_%u_%u", from, to));
  FS_TRY(fs_time_add_time(t, to, 1));
  FS_TRY(fs_time_add_time(t, from, -1));
  return fs_model_end_row(&t->m);
}

/* Adds it for each time: not both `from` at or after the time and `to` before it plus the gap. */
static fs_status disaggregated(fs_time_model *t, uint32_t from, uint32_t to, fs_tick gap) {
  const fs_time_item *x = &t->item[from], *y = &t->item[to];
  fs_tick first = y->est + 1 > gap ? fs_max(x->est, y->est + 1 - gap) : x->est;
  for (fs_tick at = first; at <= x->lst && !t->full; at++) {
    bool kept;
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "after_%u_%u_%llu", from, to,
                              (unsigned long long)at));
    FS_TRY(fs_time_add_start(t, from, FS_NONE, at, x->lst, 1));
    FS_TRY(at + gap == 0 ? FSCHED_OK : fs_time_add_start(t, to, FS_NONE, 0, at + gap - 1, 1));
    FS_TRY(fs_time_end_row(t, &kept));
  }
  return FSCHED_OK;
}

static fs_status order(fs_time_model *t, uint32_t from, uint32_t to, fs_tick gap) {
  const fs_time_item *x = &t->item[from], *y = &t->item[to];
  bool together = x->role == FS_TIME_RIGID && y->role == FS_TIME_RIGID;
  if (x->lst + gap <= (together ? y->lst : y->est)) {
    return FSCHED_OK;
  }
  FS_TRY(t->o.disaggregated ? disaggregated(t, from, to, gap) : aggregated(t, from, to, gap));
  t->full = t->full || (t->o.max_terms != 0 && t->m.term.n > t->o.max_terms);
  return FSCHED_OK;
}

/* Does the item take the class, when it takes this one of its choices? */
static bool takes(const fs_time_model *t, uint32_t item, uint32_t choice, uint32_t class) {
  const fs_problem *p = t->p;
  uint32_t first = p->choice0[item];
  for (uint32_t k = first; p->gang[item] && k < p->choice0[item + 1]; k++) {
    if (p->choice[k] == class) {
      return true;
    }
  }
  return !p->gang[item] && p->choice[first + choice] == class;
}

/* Do the two items share a queue when they take these of their choices?  With a wait, a class has
 * one queue. */
static bool share_queue(const fs_time_model *t, uint32_t a, uint32_t choice_a, uint32_t b,
                        uint32_t choice_b) {
  const fs_problem *p = t->p;
  for (uint32_t k = p->choice0[a]; p->gang[a] && k < p->choice0[a + 1]; k++) {
    if (takes(t, b, choice_b, p->choice[k])) {
      return true;
    }
  }
  return !p->gang[a] && takes(t, b, choice_b, p->choice[p->choice0[a] + choice_a]);
}

/* Adds the rows of the target's wait: `to`, with one of its choices, does not start before the end
 * of `from` and the wait, where `from` is at a choice that shares no queue with it. */
static fs_status wait_rows(fs_time_model *t, uint32_t from, uint32_t to, uint32_t choice) {
  const fs_time_item *x = &t->item[from], *y = &t->item[to];
  fs_tick gap = x->time + t->p->wait;
  fs_tick first = y->est + 1 > gap ? fs_max(x->est, y->est + 1 - gap) : x->est;
  for (fs_tick at = first; at <= x->lst && !t->full; at++) {
    bool kept;
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "wait_%u_%u_%u_%llu", from, to, choice,
                              (unsigned long long)at));
    for (uint32_t c = 0; c < x->n_choices; c++) {
      if (!share_queue(t, from, c, to, choice)) {
        FS_TRY(fs_time_add_start(t, from, c, at, x->lst, 1));
      }
    }
    FS_TRY(fs_time_add_start(t, to, choice, 0, at + gap - 1, 1));
    FS_TRY(fs_time_end_row(t, &kept));
  }
  return FSCHED_OK;
}

static fs_status waits_of(fs_time_model *t, uint32_t op) {
  const fsched_graph *g = t->p->graph;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    for (uint32_t c = 0; c < t->item[op].n_choices && !t->full; c++) {
      FS_TRY(wait_rows(t, g->pred[e], op, c));
    }
  }
  return FSCHED_OK;
}

/* Does another successor of `from` come in between? */
static bool follows(const fs_time_model *t, uint32_t from, uint32_t to) {
  const fs_problem *p = t->p;
  for (uint32_t e = p->succ0[from]; t->reach != NULL && e < p->succ0[from + 1]; e++) {
    if (p->succ[e] != to && reaches(t, p->succ[e], to)) {
      return true;
    }
  }
  return false;
}

/* Tails hold for every makespan, and so may be in rows, only where no item is tied to a time. */
static fs_status order_sink(fs_time_model *t) {
  const fs_problem *p = t->p;
  bool tied = p->fixed != NULL || t->o.rigid != NULL || p->graph->op_start != NULL;
  FS_SCRATCH(arena, t->m.ctx);
  fs_tick *path;
  FS_TRY(fs_new_zero(&arena, &path, t->n));
  for (uint32_t k = t->n; k-- > 0 && !t->full;) {
    uint32_t i = p->topo[k];
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      path[i] = fs_max(path[i], p->time[p->succ[e]] + path[p->succ[e]]);
    }
    fs_tick tail = tied ? 0 : p->tail[i];
    if (p->succ0[i] == p->succ0[i + 1] || tail > path[i]) {
      FS_TRY(order(t, i, t->n, p->time[i] + fs_max(tail, path[i])));
    }
  }
  return FSCHED_OK;
}

fs_status fs_time_starts(fs_time_model *t) {
  assert(t->item != NULL);
  const fs_problem *p = t->p;
  assert(p->wait == 0 || (t->o.rigid == NULL && t->o.choice == NULL)); /* windows know of no wait */
  FS_TRY(add_variables(t));
  for (uint32_t k = 0; k < t->n_near && !t->full; k++) {
    uint32_t i = t->near[k];
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1] && !t->full; e++) {
      FS_TRY(follows(t, i, p->succ[e]) ? FSCHED_OK : order(t, i, p->succ[e], p->time[i]));
    }
  }
  for (uint32_t op = 0; op < p->graph->n_ops && !t->full; op++) {
    FS_TRY(fs_problem_waits(p, op) ? waits_of(t, op) : FSCHED_OK);
  }
  return t->full ? FSCHED_OK : order_sink(t);
}
