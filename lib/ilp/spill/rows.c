/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of versions and memories.  With a_i_t = sum of x_i over (t - time, t], and likewise wa_v_t
 * and ga_v_t for copies that run at t:
 *
 *   life      m_v_t <= m_v_(t-1) + x_first_t + g_v_t        (b_v_t for several first writers)
 *   access    a_i_t + ga_v_t <= m_v_t                       each user i: not during a read
 *   copies    wa_v_t + ga_v_t <= m_v_t
 *   write     it starts after the end of the only writer; of several, not while one of them runs
 *   read      ga_v_t <= 1 if the version has been written by t, else 0
 *   load      a user of given content starts after the end of some read
 *   kept      one write, or, without a store, in memory to the makespan
 *   stay      m_v_t + reads after t >= begun by t - ended by t: until a user ends, its version is
 *             in memory or read again (integers imply this; it makes the relaxation stronger)
 *   room      sum of size * m_v_t + scratch * a_i_t <= capacity, per memory
 *
 * Where s_v_t is needed (several contents, or a bounded store), s falls when a writer starts and
 * rises only at the end of a write; reads need it, and it takes room in the store.
 *
 * While its op runs, an in-place pair takes the room of one version, if its input leaves at the
 * op's end. */
#include "ilp/spill/private.h"

typedef struct spill_rows {
  fs_spill_model *t;
  fs_model *m;
  uint32_t id; /* version */
  const fs_spill_version *v;
} spill_rows;

/* Adds the starts from which an item of this time still runs at `at`. */
static fs_status add_running(spill_rows *w, const fs_start_span *s, int64_t time, int64_t at,
                             int64_t coef) {
  return fs_spill_add(w->t, s, at - time + 1, at, FS_NONE, coef);
}

static fs_status add_begin(spill_rows *w, int64_t at, int64_t coef) {
  const fs_spill_version *v = w->v;
  if (v->n_begin > 1) {
    return fs_spill_add_at(w->t, &v->begin, at, coef);
  }
  return v->n_begin == 0 ? FSCHED_OK : fs_spill_add_at(w->t, &w->t->start[v->begin_op], at, coef);
}

static fs_status life(spill_rows *w) {
  const fs_spill_version *v = w->v;
  bool there = v->given && !v->spills; /* in memory from 0 on */
  for (int64_t at = v->in.from + (there ? 1 : 0); at < v->in.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "life_%u_%lld", w->id, (long long)at));
    FS_TRY(fs_spill_add_at(w->t, &v->in, at, 1));
    FS_TRY(fs_spill_add_at(w->t, &v->in, at - 1, -1));
    FS_TRY(add_begin(w, at, -1));
    FS_TRY(fs_spill_add_at(w->t, &v->read, at, -1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

/* Adds the rows of a begin with one of several first writers: once, and when one of them starts. */
static fs_status begins(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (v->n_begin < 2) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 1, "begin_%u", w->id));
  FS_TRY(fs_spill_add(w->t, &v->begin, v->begin.from, v->begin.to, FS_NONE, 1));
  FS_TRY(fs_model_end_row(w->m));
  for (int64_t at = v->begin.from; at < v->begin.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "begin_%u_%lld", w->id, (long long)at));
    FS_TRY(fs_spill_add_at(w->t, &v->begin, at, 1));
    for (uint32_t u = v->user0; u < v->user1; u++) {
      if (w->t->user_how[u] & FS_SPILL_BEGINS) {
        FS_TRY(fs_spill_add_at(w->t, &w->t->start[w->t->user_op[u]], at, -1));
      }
    }
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

static fs_status access_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    uint32_t op = w->t->user_op[u];
    const fs_start_span *s = &w->t->start[op];
    for (int64_t at = s->from; at < s->to + w->t->time[op] - 1; at++) {
      FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "access_%u_%u_%lld", w->id, op,
                                (long long)at));
      FS_TRY(add_running(w, s, w->t->time[op], at, 1));
      FS_TRY(add_running(w, &v->read, v->read_time, at, 1));
      FS_TRY(fs_spill_add_at(w->t, &v->in, at, -1));
      FS_TRY(fs_model_end_row(w->m));
    }
  }
  return FSCHED_OK;
}

static fs_status copy_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  for (int64_t at = v->in.from; at < v->in.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "copy_%u_%lld", w->id, (long long)at));
    FS_TRY(add_running(w, &v->write, v->write_time, at, 1));
    FS_TRY(add_running(w, &v->read, v->read_time, at, 1));
    if (w->m->term.n == w->m->row.at[w->m->row.n - 1].term0) {
      fs_model_drop_row(w->m);
      continue;
    }
    FS_TRY(fs_spill_add_at(w->t, &v->in, at, -1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

/* ---- writes */

static fs_status write_after(spill_rows *w, uint32_t op) {
  const fs_spill_version *v = w->v;
  const fs_start_span *s = &w->t->start[op];
  for (int64_t at = v->write.from; at < v->write.to && at - w->t->time[op] < s->to - 1; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "write_%u_%lld", w->id, (long long)at));
    FS_TRY(fs_spill_add(w->t, &v->write, v->write.from, at, FS_NONE, 1));
    FS_TRY(fs_spill_add(w->t, s, s->from, at - w->t->time[op], FS_NONE, -1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

static fs_status write_beside(spill_rows *w, uint32_t op) {
  const fs_spill_version *v = w->v;
  for (int64_t at = v->write.from; at < v->write.to + v->write_time - 1; at++) {
    FS_TRY(
        fs_model_begin_row(w->m, -FS_MODEL_INF, 1, "write_%u_%u_%lld", w->id, op, (long long)at));
    FS_TRY(add_running(w, &v->write, v->write_time, at, 1));
    FS_TRY(add_running(w, &w->t->start[op], w->t->time[op], at, 1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

static bool one_write(const fs_spill_version *v) { return v->n_modify == 1; }

static fs_status write_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (v->write.from >= v->write.to) {
    return FSCHED_OK;
  }
  bool must = one_write(v) && v->kept;
  FS_TRY(fs_model_begin_row(w->m, must ? 1 : -FS_MODEL_INF, v->n_modify, "writes_%u", w->id));
  FS_TRY(fs_spill_add(w->t, &v->write, v->write.from, v->write.to, FS_NONE, 1));
  FS_TRY(fs_model_end_row(w->m));
  for (uint32_t u = v->user0; u < v->user1; u++) {
    if (w->t->user_how[u] & FS_SPILL_MODIFIES) {
      uint32_t op = w->t->user_op[u];
      FS_TRY(one_write(v) ? write_after(w, op) : write_beside(w, op));
    }
  }
  for (int64_t at = w->t->bound; v->kept && at < w->t->horizon; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "back_%u_%lld", w->id, (long long)at));
    FS_TRY(fs_spill_add(w->t, &v->write, at - v->write_time + 1, one_write(v) ? v->write.to : at,
                        FS_NONE, 1));
    FS_TRY(fs_spill_add_at(w->t, &w->t->late, at, -1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

/* ---- reads */

/* Lets a read run only while the store has the content. */
static fs_status read_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (v->given && !v->tracked) {
    return FSCHED_OK; /* the store always has it */
  }
  for (int64_t at = v->read.from; at < v->read.to + v->read_time - 1; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "read_%u_%lld", w->id, (long long)at));
    FS_TRY(add_running(w, &v->read, v->read_time, at, 1));
    if (v->tracked) {
      FS_TRY(fs_spill_add_at(w->t, &v->stored, at, -1));
    } else {
      FS_TRY(fs_spill_add(w->t, &v->write, v->write.from, at - v->write_time, FS_NONE, -1));
    }
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

/* Does no other user precede this one? */
static bool first_user(const spill_rows *w, uint32_t user) {
  const fs_spill_version *v = w->v;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    if (w->t->ancestors[w->t->user_op[user]] >> w->t->user_op[u] & 1) {
      return false;
    }
  }
  return true;
}

static fs_status load_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (!v->given || !v->spills || v->n_begin > 0) {
    return FSCHED_OK;
  }
  for (uint32_t u = v->user0; u < v->user1; u++) {
    const fs_start_span *s = &w->t->start[w->t->user_op[u]];
    for (int64_t at = s->from; first_user(w, u) && at < s->to; at++) {
      FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "load_%u_%u_%lld", w->id, w->t->user_op[u],
                                (long long)at));
      FS_TRY(fs_spill_add(w->t, s, s->from, at, FS_NONE, 1));
      FS_TRY(fs_spill_add(w->t, &v->read, v->read.from, at - v->read_time, FS_NONE, -1));
      FS_TRY(fs_model_end_row(w->m));
    }
  }
  if (!w->t->memory_roomy[v->memory]) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 1, "reads_%u", w->id));
  FS_TRY(fs_spill_add(w->t, &v->read, v->read.from, v->read.to, FS_NONE, 1));
  return fs_model_end_row(w->m);
}

/* ---- what the store holds, where this does not follow from the writes alone */

static fs_status stored_modified(spill_rows *w, uint32_t op) {
  const fs_spill_version *v = w->v;
  const fs_start_span *s = &w->t->start[op];
  for (int64_t at = s->from; at < s->to; at++) {
    FS_TRY(
        fs_model_begin_row(w->m, -FS_MODEL_INF, 1, "stale_%u_%u_%lld", w->id, op, (long long)at));
    FS_TRY(fs_spill_add_at(w->t, &v->stored, at, 1));
    FS_TRY(fs_spill_add_at(w->t, s, at, 1));
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

static fs_status stored_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (!v->tracked) {
    return FSCHED_OK;
  }
  for (int64_t at = v->stored.from + (v->given ? 1 : 0); at < v->stored.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 0, "stored_%u_%lld", w->id, (long long)at));
    FS_TRY(fs_spill_add_at(w->t, &v->stored, at, 1));
    FS_TRY(fs_spill_add_at(w->t, &v->stored, at - 1, -1));
    FS_TRY(fs_spill_add_at(w->t, &v->write, at - v->write_time, -1));
    FS_TRY(fs_model_end_row(w->m));
  }
  for (uint32_t u = v->user0; u < v->user1; u++) {
    if (w->t->user_how[u] & FS_SPILL_MODIFIES) {
      FS_TRY(stored_modified(w, w->t->user_op[u]));
    }
  }
  for (int64_t at = v->stored.from - v->write_time; v->bounded_store && at < v->stored.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, -FS_MODEL_INF, 1, "again_%u_%lld", w->id, (long long)at));
    FS_TRY(add_running(w, &v->write, v->write_time, at, 1));
    FS_TRY(fs_spill_add_at(w->t, &v->stored, at, 1));
    FS_TRY(fs_model_end_row(w->m));
  }
  if (!v->kept) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(w->m, 1, 1, "kept_%u", w->id));
  FS_TRY(fs_spill_add_at(w->t, &v->stored, w->t->horizon, 1));
  return fs_model_end_row(w->m);
}

/* ---- kept content in a memory without a store, to the makespan */

static fs_status add_late(spill_rows *w, int64_t at, int64_t coef) {
  if (at < w->t->bound) {
    fs_model_add_known(w->m, coef);
    return FSCHED_OK;
  }
  return fs_spill_add_at(w->t, &w->t->late, at, coef);
}

/* Keeps the version in memory from the start of `op`, its last writer; FS_NONE: from 0. */
static fs_status stays_from(spill_rows *w, uint32_t op) {
  const fs_spill_version *v = w->v;
  for (int64_t at = v->in.from; at < v->in.to; at++) {
    FS_TRY(fs_model_begin_row(w->m, op == FS_NONE ? 0 : -1, FS_MODEL_INF, "keep_%u_%u_%lld", w->id,
                              op == FS_NONE ? w->t->g->n_ops : op, (long long)at));
    FS_TRY(fs_spill_add_at(w->t, &v->in, at, 1));
    FS_TRY(add_late(w, at, -1));
    if (op != FS_NONE) {
      FS_TRY(fs_spill_add(w->t, &w->t->start[op], 0, at, FS_NONE, -1));
    }
    FS_TRY(fs_model_end_row(w->m));
  }
  return FSCHED_OK;
}

bool fs_spill_last_writer(const fs_spill_model *t, const fs_spill_version *v, uint32_t user) {
  assert(user >= v->user0 && user < v->user1);
  bool last = t->user_how[user] & FS_SPILL_MODIFIES;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    last = last && !(t->user_how[u] & FS_SPILL_MODIFIES &&
                     t->ancestors[t->user_op[u]] >> t->user_op[user] & 1);
  }
  return last;
}

static fs_status keep_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (v->spills || !v->kept) {
    return FSCHED_OK;
  }
  for (uint32_t u = v->user0; u < v->user1; u++) {
    if (fs_spill_last_writer(w->t, v, u)) {
      FS_TRY(stays_from(w, w->t->user_op[u]));
    }
  }
  return v->n_modify == 0 ? stays_from(w, FS_NONE) : FSCHED_OK;
}

/* Keeps a version of one content in memory, or lets it be read again, until each user's end. */
static fs_status stay_rows(spill_rows *w) {
  const fs_spill_version *v = w->v;
  if (v->n_modify > 1 || (v->given && v->n_modify > 0) || v->n_begin > 1) {
    return FSCHED_OK;
  }
  for (uint32_t u = v->user0; u < v->user1; u++) {
    uint32_t op = w->t->user_op[u];
    const fs_start_span *s = &w->t->start[op];
    for (int64_t at = v->in.from; at < v->in.to && at < s->to + w->t->time[op] - 1; at++) {
      if (op == v->begin_op) {
        break;
      }
      FS_TRY(fs_model_begin_row(w->m, v->given ? 1 : 0, FS_MODEL_INF, "stay_%u_%u_%lld", w->id, op,
                                (long long)at));
      FS_TRY(fs_spill_add_at(w->t, &v->in, at, 1));
      FS_TRY(fs_spill_add(w->t, &v->read, at + 1, v->read.to, FS_NONE, 1));
      FS_TRY(fs_spill_add(w->t, s, s->from, at - w->t->time[op], FS_NONE, 1));
      if (!v->given) {
        FS_TRY(fs_spill_add(w->t, &w->t->start[v->begin_op], 0, at, FS_NONE, -1));
      }
      FS_TRY(fs_model_end_row(w->m));
    }
  }
  return FSCHED_OK;
}

static fs_status version_rows(fs_spill_model *t, uint32_t id) {
  spill_rows w = {t, &t->model, id, &t->version[id]};
  static fs_status (*const part[])(spill_rows *) = {life,       begins,    access_rows, copy_rows,
                                                    write_rows, read_rows, load_rows,   stored_rows,
                                                    keep_rows,  stay_rows};
  for (size_t i = 0; i < sizeof part / sizeof part[0] && !t->large; i++) {
    FS_TRY(part[i](&w));
  }
  return FSCHED_OK;
}

/* ---- in-place pairs */

static fs_status pair_rows(fs_spill_model *t, uint32_t id) {
  const fs_spill_pair *p = &t->pair[id];
  const fs_spill_version *in = &t->version[p->in];
  for (int64_t at = p->taken.from; at < p->taken.to; at++) {
    int64_t end = at + t->time[p->op];
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 0, "pair_%u_%lld", id, (long long)at));
    FS_TRY(fs_spill_add_at(t, &p->taken, at, 1));
    FS_TRY(fs_spill_add_at(t, &t->start[p->op], at, -1));
    FS_TRY(fs_model_end_row(&t->model));
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 1, "leave_%u_%lld", id, (long long)at));
    FS_TRY(fs_spill_add_at(t, &p->taken, at, 1));
    FS_TRY(fs_spill_add_at(t, &in->in, end, 1));
    FS_TRY(fs_spill_add_at(t, &in->read, end, -1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  for (uint32_t other = 0; other < id; other++) {
    const fs_spill_pair *o = &t->pair[other];
    if (o->op == p->op && (o->in == p->in || o->out == p->out)) {
      FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 1, "pairs_%u_%u", other, id));
      FS_TRY(fs_spill_add(t, &p->taken, p->taken.from, p->taken.to, FS_NONE, 1));
      FS_TRY(fs_spill_add(t, &o->taken, o->taken.from, o->taken.to, FS_NONE, 1));
      FS_TRY(fs_model_end_row(&t->model));
    }
  }
  return FSCHED_OK;
}

/* ---- memories */

static fs_status room_versions(fs_spill_model *t, uint32_t memory, int64_t at) {
  const fsched_graph *g = t->g;
  uint64_t unit = t->memory_unit[memory];
  for (uint32_t i = 0; i < g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    if (!v->used) {
      continue;
    }
    if (v->memory == memory) {
      FS_TRY(fs_spill_add_at(t, &v->in, at, (int64_t)(v->size / unit)));
    }
    if (v->bounded_store && g->target.memory[v->memory].backing == memory) {
      uint64_t size = fs_align_up(fs_version_size(g, i), g->target.memory[memory].align);
      int64_t amount = (int64_t)(size / unit);
      FS_TRY(fs_spill_add_at(t, &v->stored, at, amount));
      FS_TRY(fs_spill_add(t, &v->write, at - v->write_time + 1, at, FS_NONE, amount));
    }
  }
  return FSCHED_OK;
}

static fs_status room_row(fs_spill_model *t, uint32_t memory, int64_t at) {
  const fsched_graph *g = t->g;
  uint64_t unit = t->memory_unit[memory];
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF,
                            (int64_t)(g->target.memory[memory].capacity / unit), "room_%u_%lld",
                            memory, (long long)at));
  FS_TRY(room_versions(t, memory, at));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      if (g->scratch_memory[i] == memory) {
        uint64_t size = fs_align_up(g->scratch_size[i], g->target.memory[memory].align);
        FS_TRY(fs_spill_add(t, &t->start[op], at - t->time[op] + 1, at, FS_NONE,
                            (int64_t)(size / unit)));
      }
    }
  }
  for (uint32_t p = 0; p < t->n_pairs; p++) {
    const fs_spill_pair *pair = &t->pair[p];
    if (t->version[pair->in].memory == memory) {
      FS_TRY(fs_spill_add(t, &pair->taken, at - t->time[pair->op] + 1, at, FS_NONE,
                          -(int64_t)(pair->size / unit)));
    }
  }
  return fs_model_end_row(&t->model);
}

fs_status fs_spill_rows(fs_spill_model *t) {
  for (uint32_t v = 0; v < t->g->n_versions && !t->large; v++) {
    if (t->version[v].used) {
      FS_TRY(version_rows(t, v));
    }
  }
  for (uint32_t p = 0; p < t->n_pairs && !t->large; p++) {
    FS_TRY(pair_rows(t, p));
  }
  for (uint32_t m = 0; m < t->g->target.n_memories; m++) {
    bool bounded = fs_memory_bounded(&t->g->target.memory[m]);
    for (int64_t at = 0; bounded && !t->memory_roomy[m] && at < t->horizon && !t->large; at++) {
      FS_TRY(room_row(t, m, at));
    }
  }
  return FSCHED_OK;
}
