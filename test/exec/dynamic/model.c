/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/model.h"

#include <check.h>

uint64_t model_bytes(const fs_view *v) {
  uint64_t set = 0, index[FS_VIEW_DIMS] = {0};
  for (uint32_t d = 0; d < v->n_dims; d++) {
    if (v->shape[d] == 0) {
      return 0;
    }
  }
  for (;;) {
    uint64_t at = v->offset;
    for (uint32_t d = 0; d < v->n_dims; d++) {
      at += index[d] * v->stride[d];
    }
    for (uint64_t i = 0; i < v->element; i++) {
      set |= (uint64_t)1 << (at + i);
    }
    uint32_t d = 0;
    while (d < v->n_dims && ++index[d] == v->shape[d]) {
      index[d++] = 0;
    }
    if (d == v->n_dims) {
      return set;
    }
  }
}

static bool is_gone(const model *m, uint32_t version) {
  uint32_t owner = m->version[version].owner;
  return owner != FS_NONE && m->task[owner].consumed;
}

static uint32_t place_of(const run_model_task *t, const run_buffer *b, uint32_t member) {
  return b->device ? t->queue[member] : 0;
}

/* Finds what an arg of a declared buffer names. */
static bool resolve_owned(model *m, run_model_task *t, run_arg *a) {
  const run_buffer *b = &m->buffer[a->buffer];
  bool whole = a->tag == FSCHED_OUT && !a->has_view, none = b->version[0] == FS_NONE;
  a->version = b->version[0];
  if (a->writes && none) {
    for (const run_arg *x = t->arg; x < a; x++) {
      a->joins = a->joins || (x->buffer == a->buffer && x->makes);
    }
    a->makes = !a->joins;
    return true;
  }
  if (whole) {
    a->renews = true;
    return true;
  }
  if (none || is_gone(m, a->version)) {
    return false;
  }
  uint64_t there = m->version[a->version].written & a->bytes;
  return !a->reads || there == a->bytes || (a->writes && there == 0);
}

static bool resolve_arg(model *m, run_model_task *t, run_arg *a) {
  const run_buffer *b = &m->buffer[a->buffer];
  if (!b->known) {
    return false;
  }
  a->reads = a->tag == FSCHED_IN || a->tag == FSCHED_INOUT;
  a->writes = a->tag != FSCHED_IN && a->tag != FSCHED_NO_DEP;
  uint64_t elements = a->view.element;
  for (uint32_t d = 0; a->has_view && d < a->view.n_dims; d++) {
    elements *= a->view.shape[d];
  }
  if (a->has_view && a->writes && elements != (uint64_t)__builtin_popcountll(a->bytes)) {
    return false;
  }
  if (b->owned) {
    return resolve_owned(m, t, a);
  }
  if ((a->reads && !b->readable) || (a->writes && !b->writable) ||
      (b->device && t->n_queues == 0)) {
    return false;
  }
  a->version = b->version[place_of(t, b, a->member)];
  return true;
}

static bool args_conflict(const model *m, const run_model_task *t, const run_arg *a,
                          const run_arg *b) {
  const run_buffer *buffer = &m->buffer[a->buffer];
  if (a->buffer != b->buffer || place_of(t, buffer, a->member) != place_of(t, buffer, b->member)) {
    return false;
  }
  if (a->renews || b->renews) {
    return a->writes && b->writes;
  }
  if ((a->bytes & b->bytes) == 0) {
    return false;
  }
  if (a->member == b->member) {
    return a->writes && b->writes;
  }
  bool touched = (a->reads || a->writes) && (b->reads || b->writes);
  return m->sequential && touched && (a->writes || b->writes);
}

bool model_accepts(model *m) {
  run_model_task *t = &m->task[m->n_tasks];
  for (uint32_t i = 0; i < t->n_args; i++) {
    t->arg[i].makes = t->arg[i].joins = t->arg[i].renews = false;
    if (!resolve_arg(m, t, &t->arg[i])) {
      return false;
    }
    for (uint32_t k = 0; k < i; k++) {
      if (args_conflict(m, t, &t->arg[k], &t->arg[i])) {
        return false;
      }
    }
  }
  return true;
}

static void add_pred(model *m, run_model_task *t, uint32_t pred, bool waits, bool retains) {
  if (m->task[pred].consumed) {
    return;
  }
  uint32_t i = 0;
  while (i < t->n_preds && t->pred[i] != pred) {
    i++;
  }
  if (i == t->n_preds) {
    ck_assert_uint_lt(i, MODEL_PREDS);
    t->pred[t->n_preds++] = pred;
    t->waits[i] = t->retains[i] = false;
  }
  t->waits[i] = t->waits[i] || (waits && !m->task[pred].ended);
  t->retains[i] = t->retains[i] || retains;
  m->task[pred].was_retained = m->task[pred].was_retained || retains;
}

static void look_up_arg(model *m, run_model_task *t, const run_arg *a) {
  if (a->makes || a->joins || a->renews) {
    return;
  }
  if (m->version[a->version].owner != FS_NONE) {
    add_pred(m, t, m->version[a->version].owner, false, true);
  }
  for (uint32_t i = 0; i < m->n_entries; i++) {
    const run_entry *e = &m->entry[i];
    bool wanted = e->writes ? a->reads || (a->writes && m->sequential) : a->writes && m->sequential;
    if (wanted && e->version == a->version && (e->bytes & a->bytes) != 0) {
      add_pred(m, t, e->task, true, true);
    }
  }
}

static uint32_t new_version(model *m, uint32_t owner) {
  ck_assert_uint_lt(m->n_versions, MODEL_VERSIONS);
  m->version[m->n_versions] = (run_version){.owner = owner};
  return m->n_versions++;
}

static void insert_entry(model *m, uint32_t task, const run_arg *a) {
  if (a->bytes == 0 || !(a->writes || (a->reads && m->sequential))) {
    return;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->n_entries; i++) {
    const run_entry *e = &m->entry[i];
    bool covered = a->writes && e->version == a->version && (e->bytes & ~a->bytes) == 0;
    if (!covered && !m->task[e->task].consumed) {
      m->entry[kept++] = *e;
    }
  }
  m->n_entries = kept;
  ck_assert_uint_lt(kept, MODEL_ENTRIES);
  m->entry[m->n_entries++] = (run_entry){task, a->version, a->bytes, a->writes};
}

/* What each arg has to find, and then what it leaves. */
static void evaluate_args(model *m, uint32_t task) {
  run_model_task *t = &m->task[task];
  uint64_t sum = task + 1;
  for (uint32_t i = 0; i < t->n_args; i++) {
    run_arg *a = &t->arg[i];
    a->content = a->reads ? a->bytes & m->version[a->version].written : 0;
    memcpy(a->finds, m->version[a->version].value, MODEL_BYTES);
    for (uint32_t k = 0; k < MODEL_BYTES; k++) {
      sum = sum * 31 + ((a->content >> k & 1) != 0 ? a->finds[k] : 0);
    }
  }
  for (uint32_t i = 0; i < t->n_args; i++) {
    run_arg *a = &t->arg[i];
    for (uint32_t k = 0; a->writes && k < MODEL_BYTES; k++) {
      a->leaves[k] = (uint8_t)((sum + i) * 0x9e3779b97f4a7c15u >> 40) ^ (uint8_t)(k * 37);
    }
  }
}

void model_submit(model *m, uint32_t n_more, const fs_dynamic_predecessor *more) {
  uint32_t task = m->n_tasks++;
  run_model_task *t = &m->task[task];
  for (uint32_t i = 0; i < t->n_args; i++) {
    look_up_arg(m, t, &t->arg[i]);
  }
  for (uint32_t i = 0; i < n_more; i++) {
    for (uint32_t k = 0; k < task; k++) {
      if (m->task[k].handle == more[i].task && (more[i].waits || more[i].retains)) {
        add_pred(m, t, k, more[i].waits, more[i].retains);
      }
    }
  }
  /* What is read is of the versions that are there; then new ones take their place. */
  uint32_t fresh[MODEL_BUFFERS];
  memset(fresh, 0xff, sizeof fresh);
  for (uint32_t i = 0; i < t->n_args; i++) {
    run_arg *a = &t->arg[i];
    if (a->makes || a->renews) {
      fresh[a->buffer] = new_version(m, task);
    }
    a->version = a->makes || a->renews || a->joins ? fresh[a->buffer] : a->version;
  }
  evaluate_args(m, task);
  for (uint32_t i = 0; i < t->n_args; i++) {
    const run_arg *a = &t->arg[i];
    insert_entry(m, task, a);
    run_version *v = &m->version[a->version];
    for (uint32_t k = 0; a->writes && k < MODEL_BYTES; k++) {
      v->value[k] = (a->bytes >> k & 1) != 0 ? a->leaves[k] : v->value[k];
    }
    v->written |= a->writes ? a->bytes : 0;
  }
  for (uint32_t b = 0; b < m->n_buffers; b++) {
    m->buffer[b].version[0] = fresh[b] == FS_NONE ? m->buffer[b].version[0] : fresh[b];
  }
}

static bool is_retained(const model *m, uint32_t task) {
  for (uint32_t i = task + 1; i < m->n_tasks; i++) {
    const run_model_task *t = &m->task[i];
    for (uint32_t k = 0; !t->ended && k < t->n_preds; k++) {
      if (t->pred[k] == task && t->retains[k]) {
        return true;
      }
    }
  }
  return false;
}

static bool in_open_scope(const model *m, const run_model_task *t) {
  for (uint32_t i = 0; t->scoped && i < m->n_scopes; i++) {
    if (m->scope[i] == t->scope) {
      return true;
    }
  }
  return false;
}

void model_settle(model *m) {
  bool all = true;
  for (uint32_t i = 0; i < m->n_tasks; i++) { /* producers come first */
    run_model_task *t = &m->task[i];
    if (t->started && !t->ended && t->returned == ((uint32_t)1 << t->n_members) - 1) {
      t->ended = true;
      t->failed = t->fails;
    }
    for (uint32_t k = 0; k < t->n_preds && !t->ended; k++) {
      t->ended = t->failed = t->waits[k] && m->task[t->pred[k]].failed;
    }
    all = all && t->ended;
  }
  m->over = m->over || (all && m->closed);
  for (uint32_t i = 0; i < m->n_tasks; i++) {
    run_model_task *t = &m->task[i];
    bool referred = is_retained(m, i) || in_open_scope(m, t) || t->holds > 0;
    bool unread = t->is_alloc && !t->was_retained && !t->scoped;
    t->consumed = t->consumed || (t->ended && ((!referred && !unread) || m->over));
  }
}

fs_dynamic_state model_state(const model *m, const run_model_task *t) {
  if (t->ended) {
    return t->consumed ? FS_TASK_CONSUMED : t->failed ? FS_TASK_FAILED : FS_TASK_COMPLETED;
  }
  if (t->started) {
    return FS_TASK_RUNNING;
  }
  for (uint32_t k = 0; k < t->n_preds; k++) {
    if (t->waits[k] && !m->task[t->pred[k]].ended) {
      return FS_TASK_PENDING;
    }
  }
  return FS_TASK_READY;
}

uint32_t model_accesses(const model *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_entries; i++) {
    bool reached = false;
    for (uint32_t b = 0; b < m->n_buffers; b++) {
      for (uint32_t q = 0; q < MODEL_QUEUES; q++) {
        reached = reached || (m->buffer[b].known && m->buffer[b].version[q] == m->entry[i].version);
      }
    }
    n += reached && !m->task[m->entry[i].task].consumed;
  }
  return n;
}
