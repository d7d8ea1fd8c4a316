/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of things: copies, then ends, then booleans.  What a line names has to be what it says
 * in every schedule. */
#include "verify/proof/stays/stays.h"

typedef struct line_form {
  const char *word;
  fs_vkind kind;
} line_form;

static const line_form form[] = {{"read", FS_VTHING_READ},   {"write", FS_VTHING_WRITE},
                                 {"stay", FS_VTHING_END},    {"first", FS_VTHING_FIRST},
                                 {"in", FS_VTHING_IN},       {"stored", FS_VTHING_STORED},
                                 {"place", FS_VTHING_PLACE}, {"both", FS_VTHING_BOTH},
                                 {"not", FS_VTHING_NOT},     {"on", FS_VTHING_ON}};

static fs_vuser *user_at(fs_vproof *p, uint32_t version, uint32_t user) {
  return &p->stays->user.at[p->stays->version[version].user0 + user];
}

static uint32_t node_of_next(const fs_vproof *p) {
  return p->g->n_ops + (uint32_t)p->stays->thing.n;
}

/* ---- words */

static fs_status look(fs_vproof *p, size_t place, uint32_t version) {
  const char *why;
  const fs_vversion *v = &p->stays->version[version];
  if (v->outer[false] || v->outer[true]) {
    return fs_vtext_wrong(&p->text, place,
                          "of this version the first read or the last write is named");
  }
  FS_TRY(fs_vstays_look(p, version, &why));
  return why == NULL
             ? FSCHED_OK
             : fs_vtext_wrong(&p->text, place, "stays of this version are not covered: %s", why);
}

/* A user of the version: its number among them. */
static fs_status read_user(fs_vproof *p, uint32_t version, uint32_t *user) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t op;
  FS_TRY(fs_vtext_next(t, "an op", &op));
  *user = op < p->g->n_ops ? fs_vstays_user(p, version, (uint32_t)op) : FS_NONE;
  if (*user == FS_NONE) {
    return fs_vtext_wrong(t, place, "op %llu accesses no such version", (unsigned long long)op);
  }
  return FSCHED_OK;
}

static fs_status set_once(fs_vproof *p, size_t place, uint32_t *thing) {
  if (*thing != FS_NONE) {
    return fs_vtext_wrong(&p->text, place, "this was named before");
  }
  *thing = node_of_next(p);
  return FSCHED_OK;
}

static fs_status read_boolean(fs_vproof *p, uint32_t *node) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t n;
  FS_TRY(fs_vtext_next(t, "a boolean", &n));
  if (n >= node_of_next(p) || n < (uint64_t)p->n_items + p->stays->n_ends) {
    return fs_vtext_wrong(t, place, "%llu is no boolean before this one", (unsigned long long)n);
  }
  *node = (uint32_t)n;
  return FSCHED_OK;
}

/* ---- copies and ends */

/* The first read comes before all that access the version, if one reads what was given; the last
 * write behind all that write it. */
static fs_status list_outer(fs_vproof *p, fs_vcopy *c) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[g->buffer_memory[g->version_buffer[c->version]]];
  uint32_t from = g->version_access0[c->version], to = g->version_access0[c->version + 1];
  bool there = m->capacity != FS_UNBOUNDED && m->backing != FS_NONE && m->spill_domain != FS_NONE;
  c->op0 = p->copy_op.n;
  bool needed = c->write && fs_version_kept(g, c->version);
  for (uint32_t i = from; i < to && !c->write && fs_version_given(g, c->version); i++) {
    uint32_t arg = g->access_arg[i], op = g->access_op[i];
    bool first = fs_tag_reads(g->arg_tag[arg]) && g->arg_length[arg] > 0;
    for (uint32_t k = from; k < to && first; k++) {
      first = !fs_tag_writes(g->arg_tag[g->access_arg[k]]) || g->access_op[k] == op ||
              fs_vstays_follows(p->stays, g->access_op[k], op);
    }
    needed = needed || first;
  }
  for (uint32_t i = from; i < to && there && needed; i++) {
    if (!c->write || fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      FS_TRY(fs_vec_push(p->ctx, &p->copy_op, g->access_op[i]));
    }
  }
  c->op1 = p->copy_op.n;
  return FSCHED_OK;
}

static fs_status add_copy(fs_vproof *p, size_t place, fs_vthing *x) {
  fs_vcopy c = {.write = x->kind == FS_VTHING_WRITE, .version = x->version};
  bool useful = true;
  c.op0 = c.op1 = p->copy_op.n;
  if (x->user == FS_NONE) {
    fs_vversion *v = &p->stays->version[x->version];
    FS_TRY(list_outer(p, &c));
    useful = c.op0 < c.op1 && v->how == FS_VCONTENT_UNKNOWN && !v->outer[c.write];
    v->outer[c.write] = true;
  } else {
    const fs_vuser *u = user_at(p, x->version, x->user);
    bool stored = p->stays->version[x->version].how == FS_VCONTENT_SPILLS;
    useful = stored && (c.write ? u->writes : !u->alone);
  }
  c.ticks = fs_vcopy_ticks(p->g, &c);
  if (!useful || c.ticks == 0 || c.ticks > FS_VTEXT_MOST) {
    return fs_vtext_wrong(&p->text, place, "schedules may do without this copy");
  }
  p->n_items++;
  return fs_vec_push(p->ctx, &p->copy, c);
}

/* With the number of an op it is of that one's stay. */
static fs_status read_place_of(fs_vproof *p, size_t place, fs_vthing *x) {
  fs_vtext *t = &p->text;
  FS_TRY(fs_vproof_version(p, &x->version));
  x->user = FS_NONE;
  if (x->kind == FS_VTHING_END || fs_vtext_peek(t) == ' ') {
    FS_TRY(look(p, place, x->version));
  }
  const fs_vversion *v = &p->stays->version[x->version];
  if (fs_vtext_peek(t) == ' ') {
    if (!fs_vcontent_goes(v->how)) {
      return fs_vtext_wrong(t, place, "the version has no stays that come and go");
    }
    FS_TRY(read_user(p, x->version, &x->user));
    fs_vuser *u = user_at(p, x->version, x->user);
    FS_TRY(set_once(p, place,
                    x->kind == FS_VTHING_READ    ? &u->read
                    : x->kind == FS_VTHING_WRITE ? &u->write
                                                 : &u->end));
  } else if (x->kind == FS_VTHING_END) {
    if (v->how != FS_VCONTENT_HELD) {
      return fs_vtext_wrong(t, place, "the version has more than one stay");
    }
    FS_TRY(set_once(p, place, &p->stays->version[x->version].end));
  }
  return x->kind == FS_VTHING_END ? FSCHED_OK : add_copy(p, place, x);
}

/* ---- booleans */

static fs_status read_of_user(fs_vproof *p, size_t place, fs_vthing *x) {
  fs_vtext *t = &p->text;
  FS_TRY(fs_vproof_version(p, &x->version));
  FS_TRY(look(p, place, x->version));
  const fs_vversion *v = &p->stays->version[x->version];
  if (!fs_vcontent_goes(v->how)) {
    return fs_vtext_wrong(t, place, "the version has no stays that come and go");
  }
  FS_TRY(read_user(p, x->version, &x->user));
  fs_vuser *u = user_at(p, x->version, x->user);
  if (x->kind == FS_VTHING_FIRST) {
    return set_once(p, place, &u->first);
  }
  if (x->kind == FS_VTHING_STORED) {
    return !u->writes || v->how != FS_VCONTENT_SPILLS || fs_vstays_writes(p, v, x->user)
               ? fs_vtext_wrong(t, place, "what the op leaves is always written, or never")
               : set_once(p, place, &u->stored);
  }
  FS_TRY(read_user(p, x->version, &x->x));
  if (!fs_vstays_joins(p, v, x->user, x->x)) {
    return fs_vtext_wrong(t, place, "the op cannot be in that stay");
  }
  return set_once(p, place, &p->stays->in.at[u->in0 + x->x]);
}

/* How many in-place pairs of the op have the output; *found: with the input. */
static uint32_t count_pairs(const fsched_graph *g, uint32_t op, uint32_t in, uint32_t out,
                            bool *found) {
  uint32_t n = 0;
  *found = false;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    bool same = g->arg_version[g->inplace_out[i]] == out;
    *found = *found || (same && g->arg_version[g->inplace_in[i]] == in);
    n += same;
  }
  return n;
}

static fs_status read_place(fs_vproof *p, size_t place, fs_vthing *x) {
  fs_vtext *t = &p->text;
  uint64_t op;
  bool found;
  FS_TRY(fs_vtext_next(t, "an op", &op));
  if (op >= p->g->n_ops) {
    return fs_vtext_wrong(t, place, "there is no op %llu", (unsigned long long)op);
  }
  x->x = (uint32_t)op;
  FS_TRY(fs_vproof_version(p, &x->user));
  FS_TRY(fs_vproof_version(p, &x->version));
  FS_TRY(look(p, place, x->user));
  FS_TRY(look(p, place, x->version));
  if (count_pairs(p->g, x->x, x->user, x->version, &found) != 1 || !found ||
      x->user == x->version || fs_vstays_user(p, x->user, x->x) == FS_NONE) {
    return fs_vtext_wrong(t, place, "the op has no such pair, or others of its output");
  }
  return FSCHED_OK;
}

static fs_status read_on(fs_vproof *p, size_t place, fs_vthing *x) {
  fs_vtext *t = &p->text;
  uint64_t item, queue;
  FS_TRY(fs_vtext_next(t, "an op", &item));
  if (item >= p->n_items || (item < p->g->n_ops && p->g->op_gang[item] != FS_NONE)) {
    return fs_vtext_wrong(t, place, "it runs on no queue of several");
  }
  x->x = (uint32_t)item;
  x->queue0 = p->stays->queue.n;
  do {
    FS_TRY(fs_vtext_next(t, "a queue", &queue));
    if (queue >= p->g->target.n_queues) {
      return fs_vtext_wrong(t, place, "there is no queue %llu", (unsigned long long)queue);
    }
    FS_TRY(fs_vec_push(p->ctx, &p->stays->queue, (uint32_t)queue));
  } while (fs_vtext_peek(t) == ' ');
  x->queue1 = p->stays->queue.n;
  return FSCHED_OK;
}

/* ---- all lines */

static fs_status read_thing(fs_vproof *p, size_t place, fs_vthing *x) {
  switch (x->kind) {
    case FS_VTHING_READ:
    case FS_VTHING_WRITE:
    case FS_VTHING_END:
      return read_place_of(p, place, x);
    case FS_VTHING_FIRST:
    case FS_VTHING_IN:
    case FS_VTHING_STORED:
      return read_of_user(p, place, x);
    case FS_VTHING_PLACE:
      return read_place(p, place, x);
    case FS_VTHING_BOTH:
      FS_TRY(read_boolean(p, &x->x));
      return read_boolean(p, &x->y);
    case FS_VTHING_NOT:
      return read_boolean(p, &x->x);
    case FS_VTHING_ON:
      return read_on(p, place, x);
  }
  return FSCHED_OK;
}

/* 0: a copy; 1: an end; 2: a boolean. */
static unsigned part_of(fs_vkind kind) {
  return kind <= FS_VTHING_WRITE ? 0 : kind == FS_VTHING_END ? 1 : 2;
}

/* What may not be there has the boolean that tells. */
static fs_status check_told(fs_vproof *p, size_t place) {
  fs_vstays *s = p->stays;
  for (uint32_t version = 0; version < p->g->n_versions; version++) {
    const fs_vversion *v = &s->version[version];
    for (uint32_t k = 0; k < v->users; k++) {
      fs_vuser *u = &s->user.at[v->user0 + k];
      u->always = true;
      for (uint32_t i = 0; i < v->users; i++) {
        u->always =
            u->always && (i == k || fs_vstays_follows(s, s->user.at[v->user0 + i].op, u->op));
      }
      bool begins = u->first != FS_NONE || u->always || (u->read == FS_NONE && u->end == FS_NONE);
      bool stored = u->stored != FS_NONE || u->write == FS_NONE || fs_vstays_writes(p, v, k);
      if (!begins || !stored) {
        return fs_vtext_wrong(
            &p->text, place, "nothing tells if op %u of version %u has its copies", u->op, version);
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_vstays_lines(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos;
  unsigned part = 0;
  if (p->g->n_ops > FS_VSTAYS_OPS) {
    return fs_vtext_wrong(t, place, "copies are open in graphs of at most %d ops", FS_VSTAYS_OPS);
  }
  if (p->g->target.implicit_queues || p->g->buffer_slot != NULL || p->g->n_races > 0) {
    return fs_vtext_wrong(t, place, "open copies need queues with names, no slots, and no races");
  }
  FS_TRY(fs_vstays_begin(p));
  for (;;) {
    fs_vthing x = {.version = FS_NONE, .user = FS_NONE, .x = FS_NONE, .y = FS_NONE};
    size_t k = 0, at = t->pos;
    while (k < sizeof form / sizeof form[0] && !fs_vtext_word(t, form[k].word)) {
      k++;
    }
    if (k == sizeof form / sizeof form[0]) {
      return check_told(p, place);
    }
    x.kind = form[k].kind;
    if (part_of(x.kind) < part || p->g->n_ops + p->stays->thing.n >= FS_NONE - 2) {
      return fs_vtext_wrong(t, at, "copies come first, then ends, then booleans");
    }
    part = part_of(x.kind);
    FS_TRY(read_thing(p, at, &x));
    FS_TRY(fs_vtext_line_end(t));
    FS_TRY(fs_vec_push(p->ctx, &p->stays->thing, x));
    p->stays->n_ends += part == 1;
    p->stays->n_bools += part == 2;
  }
}
