/* SPDX-License-Identifier: Apache-2.0 */
/* Points of the spill model: the point of a schedule, and the variables that follow from starts and
 * copies.
 *
 * A residency is as short as its users and writes allow: backwards in time, a version is in memory
 * at t if something needs it then, or if it is at t+1 and no residency begins there. */
#include "ilp/spill/private.h"

static int64_t running(const fs_start_span *s, int64_t time, const int64_t *value, int64_t at) {
  return fs_span_sum(s, value, at - time + 1, at);
}

static int64_t makespan(const fs_spill_model *t, const int64_t *value) {
  int64_t end = t->bound;
  for (uint32_t op = 0; op < t->g->n_ops; op++) {
    const fs_start_span *s = &t->start[op];
    int64_t at = fs_span_next(s, value, s->from) + t->time[op];
    end = at > end ? at : end;
  }
  for (uint32_t i = 0; i < t->g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    for (int64_t at = v->write.from; v->kept && at < v->write.to; at++) {
      int64_t done = fs_span_sum(&v->write, value, at, at) > 0 ? at + v->write_time : 0;
      end = done > end ? done : end;
    }
  }
  return end;
}

/* Must content stay at `at`, since it is kept without a store and its last writer has started? */
static bool stays(const fs_spill_model *t, const fs_spill_version *v, const int64_t *value,
                  int64_t at, int64_t end) {
  if (v->spills || !v->kept || at >= end) {
    return false;
  }
  bool yes = v->n_modify == 0;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    yes = yes || (fs_spill_last_writer(t, v, u) &&
                  fs_span_sum(&t->start[t->user_op[u]], value, 0, at) > 0);
  }
  return yes;
}

static bool needed(const fs_spill_model *t, const fs_spill_version *v, const int64_t *value,
                   int64_t at, int64_t end) {
  for (uint32_t u = v->user0; u < v->user1; u++) {
    uint32_t op = t->user_op[u];
    if (running(&t->start[op], t->time[op], value, at) > 0) {
      return true;
    }
  }
  return running(&v->write, v->write_time, value, at) > 0 ||
         running(&v->read, v->read_time, value, at) > 0 || stays(t, v, value, at, end);
}

/* Sets b: the residency begins with the first of the writers that may be first. */
static void fill_begin(const fs_spill_model *t, const fs_spill_version *v, int64_t *value) {
  int64_t first = v->begin.to;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    const fs_start_span *s = &t->start[t->user_op[u]];
    int64_t at = fs_span_next(s, value, s->from);
    first = t->user_how[u] & FS_SPILL_BEGINS && at < first ? at : first;
  }
  for (int64_t at = v->begin.from; at < v->begin.to; at++) {
    value[fs_span_var(&v->begin, at, 0)] = at == first;
  }
}

static bool begins_at(const fs_spill_model *t, const fs_spill_version *v, const int64_t *value,
                      int64_t at) {
  const fs_start_span *first = v->n_begin == 1 ? &t->start[v->begin_op] : &v->begin;
  return fs_span_sum(&v->read, value, at, at) > 0 || fs_span_sum(first, value, at, at) > 0;
}

static void fill_life(const fs_spill_model *t, const fs_spill_version *v, int64_t *value,
                      int64_t end) {
  bool in = false;
  if (v->n_begin > 1) {
    fill_begin(t, v, value);
  }
  for (int64_t at = v->in.to; at-- > v->in.from;) {
    in = (in && !begins_at(t, v, value, at + 1)) || needed(t, v, value, at, end);
    value[fs_span_var(&v->in, at, 0)] = in;
  }
}

static void fill_stored(const fs_spill_model *t, const fs_spill_version *v, int64_t *value) {
  bool held = false;
  for (int64_t at = v->stored.to; at-- > v->stored.from;) {
    bool written = fs_span_sum(&v->write, value, at + 1 - v->write_time, at + 1 - v->write_time);
    held = (held && !written) || running(&v->read, v->read_time, value, at) > 0 ||
           (v->kept && at == t->horizon);
    value[fs_span_var(&v->stored, at, 0)] = held;
  }
}

static bool taken_before(const fs_spill_model *t, uint32_t id, const int64_t *value) {
  const fs_spill_pair *p = &t->pair[id];
  for (uint32_t other = 0; other < id; other++) {
    const fs_spill_pair *o = &t->pair[other];
    if (o->op == p->op && (o->in == p->in || o->out == p->out) &&
        fs_span_sum(&o->taken, value, o->taken.from, o->taken.to) > 0) {
      return true;
    }
  }
  return false;
}

static void fill_pair(const fs_spill_model *t, uint32_t id, int64_t *value) {
  const fs_spill_pair *p = &t->pair[id];
  const fs_spill_version *in = &t->version[p->in];
  int64_t start = fs_span_next(&t->start[p->op], value, p->taken.from);
  int64_t end = start + t->time[p->op];
  bool leaves = fs_span_sum(&in->in, value, end, end) <= fs_span_sum(&in->read, value, end, end);
  bool taken = leaves && !taken_before(t, id, value);
  for (int64_t at = p->taken.from; at < p->taken.to; at++) {
    value[fs_span_var(&p->taken, at, 0)] = taken && at == start;
  }
}

/* Is a version, or the scratch of an op (ids from n_versions on), in memory during [at, at+1)? */
static bool is_present(const fs_spill_model *t, uint32_t who, const int64_t *value, int64_t at) {
  if (who < t->g->n_versions) {
    return fs_span_sum(&t->version[who].in, value, at, at) > 0;
  }
  uint32_t op = who - t->g->n_versions;
  return running(&t->start[op], t->time[op], value, at) > 0;
}

static void fill_meet(const fs_spill_model *t, const fs_spill_meet *m, int64_t *value) {
  value[m->var] = 0;
  for (int64_t at = 0; at < t->horizon; at++) {
    bool both = is_present(t, m->a, value, at) && is_present(t, m->b, value, at);
    value[m->var] = both ? 1 : value[m->var];
  }
}

/* Fills the variables that follow from starts and copies: residencies, what is stored, the
 * makespan.  Each residency is as short as possible. */
static void fill_rest(const fs_spill_model *t, int64_t *value) {
  int64_t end = makespan(t, value);
  for (int64_t at = t->late.from; at < t->late.to; at++) {
    value[fs_span_var(&t->late, at, 0)] = at < end;
  }
  for (uint32_t v = 0; v < t->g->n_versions; v++) {
    if (t->version[v].used) {
      fill_life(t, &t->version[v], value, end);
      fill_stored(t, &t->version[v], value);
    }
  }
  for (uint32_t p = 0; p < t->n_pairs; p++) {
    fill_pair(t, p, value);
  }
  for (size_t i = 0; i < t->meet.n; i++) {
    fill_meet(t, &t->meet.at[i], value);
  }
}

/* ---- from a schedule */

/* The index of a queue's class among some classes; FS_NONE: it is in none of them. */
static uint32_t class_at(const fs_spill_model *t, const uint32_t *choice, uint32_t n,
                         uint32_t queue) {
  if (t->class_of == NULL) {
    return 0;
  }
  uint32_t k = 0;
  while (k < n && choice[k] != t->class_of[queue]) {
    k++;
  }
  return k < n ? k : FS_NONE;
}

static bool set(const fs_start_span *s, fs_tick start, uint32_t k, int64_t *value) {
  int64_t at = (int64_t)start;
  if (k == FS_NONE || at < s->from || at >= s->to) {
    return false;
  }
  value[fs_span_var(s, at, k)] = 1;
  return true;
}

static bool set_op(const fs_spill_model *t, const fs_schedule *s, uint32_t op, int64_t *value) {
  uint32_t first = t->choice0[op], n = t->choice0[op + 1] - first;
  bool gang = t->g->op_gang[op] != FS_NONE;
  uint32_t k = gang ? 0 : class_at(t, t->choice + first, n, s->queue[op]);
  return set(&t->start[op], s->start[op] / t->unit, k, value);
}

static bool set_copy(const fs_spill_model *t, const fs_schedule *s, uint32_t copy, int64_t *value) {
  const fs_spill_version *v = &t->version[s->copy_version[copy]];
  uint32_t item = t->g->n_ops + copy, first = t->copy_choice0[v->memory];
  uint32_t k =
      class_at(t, t->copy_choice + first, t->copy_choice0[v->memory + 1] - first, s->queue[item]);
  const fs_start_span *span = s->copy_kind[copy] == FS_SPILL_WRITE ? &v->write : &v->read;
  return set(span, s->start[item] / t->unit, k, value);
}

fs_status fs_spill_model_point(const fs_spill_model *t, const fs_schedule *s, int64_t *value,
                               bool *fits) {
  memset(value, 0, t->model.var.n * sizeof *value);
  *fits = true;
  for (uint32_t op = 0; op < t->g->n_ops && *fits; op++) {
    *fits = set_op(t, s, op, value);
  }
  for (uint32_t c = 0; c < s->n_copies && *fits; c++) {
    *fits = set_copy(t, s, c, value);
  }
  if (*fits) {
    fill_rest(t, value);
    *fits = fs_model_broken(&t->model, value) == FS_NONE;
  }
  return FSCHED_OK;
}
