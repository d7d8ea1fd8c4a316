/* SPDX-License-Identifier: Apache-2.0 */
/* Rules out a point without addresses, and with it as many other points as possible.
 *
 * Whether residencies can be placed depends only on which of them overlap in time.  So first a core
 * is found: residencies are left out one by one, as long as the others still have no addresses.  If
 * each version in the core has one residency, then no schedule in which the same pairs overlap has
 * addresses, unless it reads a version of the core once more:
 *
 *     sum of o_ab over the pairs - further reads of versions in the core <= pairs - 1
 *     o_ab >= m_a_t + m_b_t - 1
 *
 * Otherwise (several residencies of one version, in-place pairs, store copies) the row forbids only
 * the same starts and copies of the ops and versions that touch the core:
 *
 *     sum of x, w, g that are 1 - sum of the other g <= their number - 1 */
#include "ilp/spill/private.h"

typedef struct core {
  fs_spill_model *t;
  const int64_t *value;
  fs_spill_draft d; /* `used` of a life: it is in the core */
  uint64_t *address;
  FS_VEC(uint32_t) member; /* members of the core, with ids as in fs_spill_meet, each once */
  bool plain;              /* each member has one residency, and there is no in-place pair */
} core;

/* ---- the core */

/* Leaves only lives of one memory in use, and as few as still have no addresses. */
static fs_status shrink(core *c, uint32_t memory) {
  fs_decision all;
  FS_TRY(fs_spill_place(c->t, &c->d, memory, c->address, &all));
  for (size_t i = 0; i < c->d.life.n; i++) {
    c->d.life.at[i].used = c->d.life.at[i].used && c->d.life.at[i].memory == memory;
  }
  for (size_t i = c->d.life.n; all.is == FS_NO && i-- > 0;) {
    fs_spill_life *life = &c->d.life.at[i];
    if (life->used) {
      fs_decision rest;
      life->used = false;
      FS_TRY(fs_spill_place(c->t, &c->d, memory, c->address, &rest));
      life->used = rest.is != FS_NO;
    }
  }
  return FSCHED_OK;
}

/* Finds a core in the first memory without addresses; *any is false when each memory has some. */
static fs_status find_core(core *c, bool *any) {
  *any = false;
  for (uint32_t m = 0; m < c->t->g->target.n_memories && !*any; m++) {
    fs_decision places;
    FS_TRY(fs_spill_place(c->t, &c->d, m, c->address, &places));
    if (places.is != FS_YES) {
      *any = true;
      FS_TRY(shrink(c, m));
    }
  }
  return FSCHED_OK;
}

static uint32_t member_of(const core *c, const fs_spill_life *life) {
  return life->version != FS_NONE ? life->version : c->t->g->n_versions + life->op;
}

static bool is_member(const core *c, uint32_t who) {
  for (size_t i = 0; i < c->member.n; i++) {
    if (c->member.at[i] == who) {
      return true;
    }
  }
  return false;
}

/* The number of reads of a version that no schedule can do without. */
static int64_t needed_reads(const fs_spill_version *v) { return v->given && v->spills ? 1 : 0; }

static bool single(const core *c, uint32_t version) {
  const fs_spill_version *v = &c->t->version[version];
  bool begins = v->given ? v->n_begin == 0 : v->n_begin == 1;
  return begins && fs_span_sum(&v->read, c->value, v->read.from, v->read.to) == needed_reads(v);
}

static fs_status list_members(core *c) {
  c->plain = true;
  for (size_t i = 0; i < c->d.life.n; i++) {
    const fs_spill_life *life = &c->d.life.at[i];
    if (!life->used) {
      continue;
    }
    uint32_t who = member_of(c, life);
    bool store = life->version != FS_NONE && life->memory != c->t->version[life->version].memory;
    c->plain = c->plain && !store && !is_member(c, who) &&
               (life->version == FS_NONE || single(c, life->version));
    if (!is_member(c, who)) {
      FS_TRY(fs_vec_push(c->t->ctx, &c->member, who));
    }
  }
  for (uint32_t p = 0; p < c->t->n_pairs; p++) {
    c->plain = c->plain && !(is_member(c, c->t->pair[p].in) && is_member(c, c->t->pair[p].out));
  }
  return FSCHED_OK;
}

/* ---- by pairs that overlap */

static const fs_spill_life *life_of(const core *c, uint32_t who) {
  size_t i = 0;
  while (!c->d.life.at[i].used || member_of(c, &c->d.life.at[i]) != who) {
    i++;
  }
  return &c->d.life.at[i];
}

static bool lives_meet(const core *c, uint32_t a, uint32_t b) {
  const fs_spill_life *x = life_of(c, a), *y = life_of(c, b);
  return x->begin < y->end && y->begin < x->end;
}

static fs_status add_presence(fs_spill_model *t, uint32_t who, int64_t at, int64_t coef) {
  if (who < t->g->n_versions) {
    return fs_spill_add_at(t, &t->version[who].in, at, coef);
  }
  uint32_t op = who - t->g->n_versions;
  return fs_spill_add(t, &t->start[op], at - t->time[op] + 1, at, FS_NONE, coef);
}

/* Finds the variable of a pair; makes it, and its rows, when it is first needed. */
static fs_status meet_var(fs_spill_model *t, uint32_t a, uint32_t b, uint32_t *var) {
  for (size_t i = 0; i < t->meet.n; i++) {
    if (t->meet.at[i].a == a && t->meet.at[i].b == b) {
      *var = t->meet.at[i].var;
      return FSCHED_OK;
    }
  }
  FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, var, "o_%u_%u", a, b));
  fs_spill_meet pair = {a, b, *var};
  FS_TRY(fs_vec_push(t->ctx, &t->meet, pair));
  for (int64_t at = 0; at < t->horizon; at++) {
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 1, "meet_%u_%u_%lld", a, b, (long long)at));
    FS_TRY(add_presence(t, a, at, 1));
    FS_TRY(add_presence(t, b, at, 1));
    FS_TRY(fs_model_add_term(&t->model, *var, -1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  return FSCHED_OK;
}

/* Lists the variables of pairs before a row begins, since new ones come with rows of their own. */
static fs_status list_pairs(core *c, uint32_t **var, uint32_t *n) {
  *n = 0;
  FS_TRY(fs_new(&c->d.arena, var, c->member.n * c->member.n));
  for (size_t i = 0; i < c->member.n; i++) {
    for (size_t j = i + 1; j < c->member.n; j++) {
      uint32_t a = c->member.at[i], b = c->member.at[j];
      if (lives_meet(c, a, b)) {
        FS_TRY(meet_var(c->t, a < b ? a : b, a < b ? b : a, &(*var)[(*n)++]));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status forbid_pairs(core *c) {
  fs_spill_model *t = c->t;
  uint32_t *var, n;
  int64_t reads = 0;
  FS_TRY(list_pairs(c, &var, &n));
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, (int64_t)n - 1, "cut_%u", t->n_cuts++));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_model_add_term(&t->model, var[i], 1));
  }
  for (size_t i = 0; i < c->member.n; i++) {
    if (c->member.at[i] < t->g->n_versions) {
      const fs_spill_version *v = &t->version[c->member.at[i]];
      FS_TRY(fs_spill_add(t, &v->read, v->read.from, v->read.to, FS_NONE, -1));
      reads += needed_reads(v);
    }
  }
  fs_model_add_known(&t->model, reads);
  return fs_model_end_row(&t->model);
}

/* ---- by starts */

static bool touches(const core *c, uint32_t op) {
  if (c->member.n == 0 || is_member(c, c->t->g->n_versions + op)) {
    return true; /* without a core, all ops count */
  }
  for (uint32_t v = 0; v < c->t->g->n_versions; v++) {
    for (uint32_t u = c->t->version[v].user0; u < c->t->version[v].user1; u++) {
      if (c->t->user_op[u] == op && is_member(c, v)) {
        return true;
      }
    }
  }
  return false;
}

/* Adds the starts that are 1, in all classes; with `others` subtracts those that are 0. */
static fs_status add_chosen(core *c, const fs_start_span *s, bool others, int64_t *n) {
  for (int64_t at = s->from; at < s->to; at++) {
    bool one = fs_span_sum(s, c->value, at, at) > 0;
    if (one || others) {
      FS_TRY(fs_spill_add_at(c->t, s, at, one ? 1 : -1));
    }
    *n += one;
  }
  return FSCHED_OK;
}

static fs_status forbid_starts(core *c) {
  fs_spill_model *t = c->t;
  int64_t n = 0;
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 0, "cut_%u", t->n_cuts++));
  for (uint32_t op = 0; op < t->g->n_ops; op++) {
    if (touches(c, op)) {
      FS_TRY(add_chosen(c, &t->start[op], false, &n));
    }
  }
  for (uint32_t i = 0; i < t->g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    if (v->used && (c->member.n == 0 || is_member(c, i))) {
      FS_TRY(add_chosen(c, &v->write, false, &n));
      FS_TRY(add_chosen(c, &v->read, true, &n));
    }
  }
  fs_model_add_known(&t->model, 1 - n);
  return fs_model_end_row(&t->model);
}

static fs_status forbid(core *c) {
  bool any;
  FS_TRY(fs_spill_draft_begin(c->t, &c->d));
  FS_TRY(fs_spill_lives(c->t, c->value, false, &c->d));
  FS_TRY(fs_new_zero(&c->d.arena, &c->address, c->d.life.n));
  if (c->d.wrong) {
    return forbid_starts(c);
  }
  FS_TRY(find_core(c, &any));
  if (any) {
    FS_TRY(list_members(c));
  }
  return any && c->plain ? forbid_pairs(c) : forbid_starts(c);
}

fs_status fs_spill_model_forbid(fs_spill_model *t, const int64_t *value) {
  assert(!t->model.open);
  core c = {.t = t, .value = value};
  fs_status status = forbid(&c);
  fs_vec_free(t->ctx, &c.member);
  fs_spill_draft_end(&c.d);
  return status;
}
