/* SPDX-License-Identifier: Apache-2.0 */
/* What a proof says of open copies before its steps: each variable of the learner behind the ops
 * has a line that tells what it is. */
#include "problem/spilling/spilling.h"
#include "search/learning/log.h"

typedef struct open_writer {
  fs_text *t;
  const fs_learner *s;
  const fs_problem *p;
  const fs_spilling *w;
  uint32_t *version_of, *user_of; /* per item: of the copies of short memories that spill */
  char *kind;                     /* per boolean: f, i, s, p, o, b, n */
  uint32_t *a, *b, *c;            /* per boolean: what it is about */
} open_writer;

static void put_after(open_writer *o, const char *before, uint32_t n) {
  fs_text_puts(o->t, before);
  fs_text_u64(o->t, n);
}

static void put_version(open_writer *o, const char *word, uint32_t version) {
  const fsched_graph *g = o->p->graph;
  put_after(o, word, g->version_buffer[version]);
  put_after(o, " ", version - g->buffer_version0[g->version_buffer[version]]);
}

static uint32_t op_of(const open_writer *o, uint32_t version, uint32_t user) {
  return o->w->user[o->w->user0[version] + user].op;
}

/* Has the version stays that come and go? */
static bool spills(const open_writer *o, uint32_t version) {
  return o->w->held[version] == FS_NONE && o->w->user0[version] < o->w->user0[version + 1];
}

static void name_bool(open_writer *o, uint32_t boolean, char kind, uint32_t a, uint32_t b,
                      uint32_t c) {
  if (boolean != FS_NONE) {
    o->kind[boolean] = kind;
    o->a[boolean] = a;
    o->b[boolean] = b;
    o->c[boolean] = c;
  }
}

static void name_users(open_writer *o, uint32_t v) {
  const fs_spilling *w = o->w;
  uint32_t first = w->user0[v], n = w->user0[v + 1] - first;
  for (uint32_t k = 0; k < n; k++) {
    const fs_spill_user *u = &w->user[first + k];
    name_bool(o, u->stay == FS_NONE ? FS_NONE : w->stay[u->stay].only_if, 'f', v, k, 0);
    for (uint32_t i = 0; i < n; i++) {
      name_bool(o, w->member[u->in0 + i], 'i', v, k, i);
    }
    if (u->read != FS_NONE) {
      o->version_of[u->read] = v;
      o->user_of[u->read] = k;
    }
    if (u->write != FS_NONE) {
      o->version_of[u->write] = v;
      o->user_of[u->write] = k;
      name_bool(o, w->item_if[u->write], 's', v, k, 0);
    }
  }
}

static void name_all(open_writer *o) {
  const fs_spilling *w = o->w;
  for (uint32_t v = 0; v < o->p->graph->n_versions; v++) {
    if (spills(o, v)) {
      name_users(o, v);
    }
  }
  for (uint32_t k = 0; k < w->n_pairs; k++) {
    name_bool(o, w->pair_if[k], 'p', w->pair_op[k], w->pair_in[k], w->pair_out[k]);
  }
  for (uint32_t k = 0; k < w->n_told; k++) {
    const fs_told_bool *told = &w->told[k];
    name_bool(o, told->boolean, told->y == FS_NONE ? 'n' : 'b', told->x, told->y, 0);
  }
  for (uint32_t i = 0; i < o->p->n_items; i++) {
    for (uint32_t k = o->p->choice0[i]; k < o->p->choice0[i + 1]; k++) {
      name_bool(o, w->choice_if[k], 'o', i, o->p->choice[k], 0);
    }
  }
}

static void put_copy(open_writer *o, uint32_t c) {
  uint32_t item = o->p->graph->n_ops + c, v = o->p->copy_version[c];
  put_version(o, o->p->copy_kind[c] == FS_SPILL_READ ? "\nread " : "\nwrite ", v);
  if (o->version_of[item] != FS_NONE) {
    put_after(o, " ", op_of(o, v, o->user_of[item]));
  }
}

static void put_end(open_writer *o, uint32_t stay) {
  uint32_t v = o->w->stay[stay].version;
  put_version(o, "\nstay ", v);
  if (o->w->held[v] == FS_NONE) {
    put_after(o, " ", op_of(o, v, o->w->stay[stay].user));
  }
}

static void put_queues(open_writer *o, uint32_t class) {
  for (uint32_t k = o->p->class_queue0[class]; k < o->p->class_queue0[class + 1]; k++) {
    put_after(o, " ", o->p->class_queue[k]);
  }
}

static void put_bool(open_writer *o, uint32_t k) {
  uint32_t a = o->a[k], b = o->b[k], c = o->c[k];
  switch (o->kind[k]) {
    case 'f':
      put_version(o, "\nfirst ", a);
      put_after(o, " ", op_of(o, a, b));
      break;
    case 'i':
      put_version(o, "\nin ", a);
      put_after(o, " ", op_of(o, a, b));
      put_after(o, " ", op_of(o, a, c));
      break;
    case 's':
      put_version(o, "\nstored ", a);
      put_after(o, " ", op_of(o, a, b));
      break;
    case 'p':
      put_after(o, "\nplace ", a);
      put_version(o, " ", b);
      put_version(o, " ", c);
      break;
    case 'o':
      put_after(o, "\non ", a);
      put_queues(o, b);
      break;
    case 'b':
      put_after(o, "\nboth ", fs_bool_variable(o->s, a));
      put_after(o, " ", fs_bool_variable(o->s, b));
      break;
    default:
      assert(o->kind[k] == 'n');
      put_after(o, "\nnot ", fs_bool_variable(o->s, a));
  }
}

fs_status fs_log_put_open(fs_text *t, const fs_learner *s) {
  FS_SCRATCH(arena, s->ctx);
  open_writer o = {.t = t, .s = s, .p = s->p, .w = s->p->spilling};
  FS_TRY(fs_new_none(&arena, &o.version_of, s->n));
  FS_TRY(fs_new_none(&arena, &o.user_of, s->n));
  FS_TRY(fs_new_zero(&arena, &o.kind, s->n_bools));
  FS_TRY(fs_new(&arena, &o.a, s->n_bools));
  FS_TRY(fs_new(&arena, &o.b, s->n_bools));
  FS_TRY(fs_new(&arena, &o.c, s->n_bools));
  name_all(&o);
  fs_text_puts(t, "\nopen");
  for (uint32_t c = 0; c < s->p->n_copies; c++) {
    put_copy(&o, c);
  }
  for (uint32_t k = 0; k < s->n_ends; k++) {
    put_end(&o, k);
  }
  for (uint32_t k = 0; k < s->n_bools; k++) {
    put_bool(&o, k);
  }
  return FSCHED_OK;
}

void fs_log_put_open_set(fs_text *t, const fs_learner *s, const fs_learner_table *table) {
  const fs_spilling *w = s->p->spilling;
  uint32_t memories = s->p->graph->target.n_memories;
  if (table->open < memories) {
    fs_text_puts(t, "set stays ");
    fs_text_u64(t, table->open);
    return;
  }
  uint32_t set = table->open - memories;
  fs_text_puts(t, "set turns");
  for (uint32_t k = w->turn0[set]; k < w->turn0[set + 1]; k++) {
    fs_text_puts(t, " ");
    fs_text_u64(t, w->turn[k]);
  }
}
