/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the answer that a schedule gives.  If both lists of copies are equal they are matched one
 * to one, else by what the copies do, if no two do the same.  Residencies are matched by the items
 * that touch them. */
#include "problem/problem.h"

typedef struct match {
  fs_problem *p;
  const fs_schedule *s;
  fs_arena *scratch;
  uint32_t *copy;      /* per copy of the problem: the copy of the schedule */
  uint32_t *residency; /* per residency of the problem: that of the schedule; FS_NONE: not known */
  bool fits;
} match;

static bool same_copies(const fs_problem *p, const fs_schedule *s) {
  for (uint32_t c = 0; c < p->n_copies; c++) {
    if (p->copy_kind[c] != s->copy_kind[c] || p->copy_version[c] != s->copy_version[c]) {
      return false;
    }
  }
  return true;
}

static fs_status match_copies(match *m) {
  const fs_problem *p = m->p;
  const fs_schedule *s = m->s;
  uint32_t *of; /* per version and kind: the schedule's copy */
  m->fits = p->n_copies == s->n_copies;
  FS_TRY(fs_new(m->scratch, &m->copy, p->n_copies));
  FS_TRY(fs_new_none(m->scratch, &of, 2 * (size_t)p->graph->n_versions));
  if (!m->fits) {
    return FSCHED_OK;
  }
  bool same = same_copies(p, s);
  for (uint32_t c = 0; c < s->n_copies && !same && m->fits; c++) {
    uint32_t *at = &of[2 * s->copy_version[c] + s->copy_kind[c]];
    m->fits = *at == FS_NONE;
    *at = c;
  }
  for (uint32_t c = 0; c < p->n_copies && m->fits; c++) {
    m->copy[c] = same ? c : of[2 * p->copy_version[c] + p->copy_kind[c]];
    m->fits = m->copy[c] != FS_NONE;
  }
  return FSCHED_OK;
}

/* Records that residency r of the problem is residency k of the schedule. */
static void meet_residency(match *m, uint32_t r, uint32_t k) {
  const fs_problem *p = m->p;
  if (r == FS_NONE && k == FS_NONE) {
    return;
  }
  if (r == FS_NONE || k == FS_NONE) { /* a residency without bytes may have no place */
    m->fits = m->fits && k == FS_NONE && p->res_size[r] == 0;
    return;
  }
  m->fits = m->fits && (m->residency[r] == FS_NONE || m->residency[r] == k) &&
            p->res_memory[r] == m->s->res_memory[k] && p->res_size[r] == m->s->res_size[k];
  m->residency[r] = k;
}

/* Matches the residencies that no item touches, by version and memory. */
static fs_status match_untouched(match *m) {
  const fs_problem *p = m->p;
  const fs_schedule *s = m->s;
  uint32_t *of;
  FS_TRY(fs_new_none(m->scratch, &of, 2 * (size_t)p->graph->n_versions));
  for (uint32_t k = s->n_residencies; k-- > 0;) {
    uint32_t v = s->res_version[k];
    if (v != FS_NONE) {
      of[2 * v + (s->res_memory[k] == fs_version_memory(p->graph, v))] = k;
    }
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t v = p->res_version[r];
    if (m->residency[r] == FS_NONE && v != FS_NONE) {
      m->residency[r] = of[2 * v + (p->res_memory[r] == fs_version_memory(p->graph, v))];
    }
    m->fits = m->fits && (m->residency[r] != FS_NONE || p->res_size[r] == 0);
  }
  return FSCHED_OK;
}

static fs_status match_residencies(match *m) {
  const fs_problem *p = m->p;
  const fsched_graph *g = p->graph;
  FS_TRY(fs_new_none(m->scratch, &m->residency, p->n_residencies));
  for (uint32_t a = 0; a < g->n_args; a++) {
    meet_residency(m, p->arg_residency[a], m->s->arg_residency[a]);
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    meet_residency(m, p->scratch_residency[i], m->s->scratch_residency[i]);
  }
  for (uint32_t c = 0; c < p->n_copies; c++) {
    meet_residency(m, p->copy_residency[c], m->s->copy_residency[m->copy[c]]);
    meet_residency(m, p->copy_store[c], m->s->copy_store[m->copy[c]]);
  }
  return match_untouched(m);
}

static fs_status take_answer(match *m, fs_answer **out) {
  fs_problem *p = m->p;
  const fs_schedule *s = m->s;
  fs_answer *a;
  uint32_t *class_of, *position;
  FS_TRY(fs_new_zero(&p->arena, &a, 1));
  FS_TRY(fs_new(&p->arena, &a->start, p->n_items));
  FS_TRY(fs_new(&p->arena, &a->choice, p->n_items));
  FS_TRY(fs_new_zero(&p->arena, &a->address, p->n_residencies));
  FS_TRY(fs_new(&p->arena, &a->place, p->n_items));
  FS_TRY(fs_new_zero(m->scratch, &class_of, s->n_queues));
  FS_TRY(fs_new(m->scratch, &position, s->n_items));
  for (uint32_t k = 0; k < s->n_items; k++) {
    position[s->order[k]] = k;
  }
  for (uint32_t k = 0; k < p->n_classes; k++) {
    for (uint32_t i = p->class_queue0[k]; i < p->class_queue0[k + 1]; i++) {
      class_of[p->class_queue[i]] = k;
    }
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t n_ops = p->graph->n_ops, item = i < n_ops ? i : n_ops + m->copy[i - n_ops];
    a->start[i] = s->start[item];
    a->place[i] = position[item];
    a->choice[i] = p->gang[i] ? FS_NONE : class_of[s->queue[item]];
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    a->address[r] = m->residency[r] == FS_NONE ? 0 : s->res_address[m->residency[r]];
  }
  a->makespan = s->makespan;
  *out = a;
  return FSCHED_OK;
}

static fs_status find_answer(match *m, fs_answer **out) {
  FS_TRY(match_copies(m));
  if (m->fits) {
    FS_TRY(match_residencies(m));
  }
  return m->fits ? take_answer(m, out) : FSCHED_OK;
}

fs_status fs_answer_of_schedule(fs_problem *p, const fs_schedule *s, fs_answer **out) {
  assert(s->graph == p->graph);
  FS_SCRATCH(scratch, p->ctx);
  match m = {.p = p, .s = s, .scratch = &scratch};
  *out = NULL;
  return find_answer(&m, out);
}
