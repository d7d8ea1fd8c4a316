/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of the things that are named: see stays.h. */
#include "verify/proof/stays/stays.h"

#include "base/group.h"

static fs_vuser *user_of(const fs_vproof *p, const fs_vversion *v, uint32_t k) {
  assert(k < v->users);
  return &p->stays->user.at[v->user0 + k];
}

static uint32_t in_of(const fs_vproof *p, const fs_vuser *u, uint32_t leader) {
  return p->stays->in.at[u->in0 + leader];
}

static uint32_t node_of(const fs_vproof *p, uint32_t thing) { return p->g->n_ops + thing; }

/* ---- parts */

/* Adds a link between things that are named. */
static fs_status add_link(fs_vproof *p, uint32_t from, uint32_t to, uint64_t lag,
                          uint32_t only_if) {
  fs_vlink l = {from, to, only_if, (int64_t)lag};
  return from == FS_NONE || to == FS_NONE ? FSCHED_OK : fs_vec_push(p->ctx, &p->stays->link, l);
}

/* The boolean that holds where both do; *named: there is one, or FS_NONE, which always holds. */
static uint32_t both_of(const fs_vproof *p, uint32_t x, uint32_t y, bool *named) {
  *named = true;
  if (x == FS_NONE || y == FS_NONE || x == y) {
    return x == FS_NONE ? y : x;
  }
  for (size_t k = 0; k < p->stays->thing.n; k++) {
    const fs_vthing *t = &p->stays->thing.at[k];
    if (t->kind == FS_VTHING_BOTH && ((t->x == x && t->y == y) || (t->x == y && t->y == x))) {
      return node_of(p, (uint32_t)k);
    }
  }
  *named = false;
  return FS_NONE;
}

static fs_status add_link_if(fs_vproof *p, uint32_t from, uint32_t to, int64_t lag, uint32_t x,
                             uint32_t y) {
  bool named;
  fs_vlink l = {from, to, both_of(p, x, y, &named), lag};
  return !named || from == FS_NONE || to == FS_NONE ? FSCHED_OK
                                                    : fs_vec_push(p->ctx, &p->stays->link, l);
}

static uint32_t yes(uint32_t node) { return 2 * node; }
static uint32_t no(uint32_t node) { return 2 * node + 1; }

static fs_status add_clause(fs_vproof *p, const uint32_t *literal, uint32_t n) {
  FS_TRY(fs_vec_push(p->ctx, &p->stays->clause0, (uint32_t)p->stays->clause.n));
  for (uint32_t k = 0; k < n; k++) {
    FS_TRY(fs_vec_push(p->ctx, &p->stays->clause, literal[k]));
  }
  return FSCHED_OK;
}

/* Where `a` holds, so does `b`.  Of what always holds, or is not named, nothing is said. */
static fs_status imply(fs_vproof *p, uint32_t a, uint32_t b) {
  uint32_t literal[] = {no(a), yes(b)};
  return a == FS_NONE || b == FS_NONE ? FSCHED_OK : add_clause(p, literal, 2);
}

static fs_status exclude_both(fs_vproof *p, uint32_t a, uint32_t b) {
  uint32_t literal[] = {no(a), no(b)};
  return a == FS_NONE || b == FS_NONE ? FSCHED_OK : add_clause(p, literal, 2);
}

/* ---- stays of a version that come and go */

/* A user is the first of its stay, or in that of one other. */
static fs_status tell_stay(fs_vproof *p, const fs_vversion *v, uint32_t k, fs_arena *scratch) {
  const fs_vuser *u = user_of(p, v, k);
  uint32_t *some, n = 0;
  bool leads = v->how == FS_VCONTENT_SPILLS || u->alone, all = u->first != FS_NONE || !leads;
  FS_TRY(fs_new(scratch, &some, (size_t)v->users + 1));
  if (u->first != FS_NONE) {
    some[n++] = yes(u->first);
  }
  for (uint32_t i = 0; i < v->users; i++) {
    uint32_t in = in_of(p, u, i);
    all = all && (in != FS_NONE || !fs_vstays_joins(p, v, k, i));
    if (in == FS_NONE) {
      continue;
    }
    some[n++] = yes(in);
    FS_TRY(imply(p, in, user_of(p, v, i)->first));
    uint32_t w = u->writer;
    bool between = w != FS_NONE && w != i &&
                   !fs_vstays_follows(p->stays, user_of(p, v, i)->op, user_of(p, v, w)->op);
    FS_TRY(between ? imply(p, in, in_of(p, user_of(p, v, w), i)) : FSCHED_OK);
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < i; j++) {
      FS_TRY(exclude_both(p, some[i] / 2, some[j] / 2));
    }
  }
  return all ? add_clause(p, some, n) : FSCHED_OK;
}

/* When what a stay is of begins and ends. */
static fs_status time_stay(fs_vproof *p, const fs_vversion *v, uint32_t k) {
  const fs_vuser *u = user_of(p, v, k);
  FS_TRY(add_link(p, u->op, u->end, p->time[u->op], u->first));
  if (u->read != FS_NONE) {
    FS_TRY(add_link(p, u->read, u->op, p->time[u->read], u->first));
  }
  for (uint32_t i = 0; i < v->users; i++) {
    uint32_t in = in_of(p, u, i);
    if (in != FS_NONE) {
      FS_TRY(add_link(p, u->op, user_of(p, v, i)->end, p->time[u->op], in));
      FS_TRY(add_link(p, user_of(p, v, i)->op, u->op, 0, in));
    }
  }
  return FSCHED_OK;
}

/* The write of what a user leaves. */
static fs_status tell_write(fs_vproof *p, const fs_vversion *v, uint32_t k, fs_arena *scratch) {
  const fs_vuser *u = user_of(p, v, k);
  uint32_t *some, n = 0, item = u->write;
  bool all = u->stored != FS_NONE;
  FS_TRY(fs_new(scratch, &some, (size_t)v->users + 1));
  some[n++] = all ? no(u->stored) : 0;
  uint64_t time = item == FS_NONE ? 0 : p->time[item];
  if (item != FS_NONE) {
    FS_TRY(add_link(p, u->op, item, p->time[u->op], u->stored));
    FS_TRY(add_link_if(p, item, u->end, (int64_t)time, u->first, u->stored));
  }
  for (uint32_t i = 0; i < v->users; i++) {
    const fs_vuser *o = user_of(p, v, i);
    uint32_t in = in_of(p, u, i);
    if (item != FS_NONE && in != FS_NONE) {
      FS_TRY(add_link_if(p, item, o->end, (int64_t)time, in, u->stored));
    }
    if (o->writer != k) {
      continue;
    }
    if (item != FS_NONE) {
      FS_TRY(o->alone ? FSCHED_OK : add_link(p, item, o->read, time, o->first));
      FS_TRY(o->writes ? add_link(p, item, o->op, time, u->stored) : FSCHED_OK);
    }
    if (!o->alone) {
      FS_TRY(imply(p, o->first, u->stored));
      all = all && o->first != FS_NONE;
      some[n++] = all ? yes(o->first) : 0;
    }
  }
  return all ? add_clause(p, some, n) : FSCHED_OK;
}

/* ---- what is taken */

static bool is_output_in_place(const fsched_graph *g, uint32_t op, uint32_t version) {
  bool any = false;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    any = any || g->arg_version[g->inplace_out[i]] == version;
  }
  return any;
}

static bool has_addresses(const fsched_graph *g, uint32_t memory) {
  return fs_placement_has_addresses(g->target.memory[memory].placement);
}

static uint64_t size_of(const fsched_graph *g, uint32_t version) {
  uint32_t buffer = g->version_buffer[version];
  return fs_vmemory_aligned(g, g->buffer_memory[buffer], g->buffer_size[buffer]);
}

/* What an op begins to hold of a version, where the output may be in the place of an input. */
static fs_status use_from_op(fs_vproof *p, uint32_t version, uint32_t op, fs_vuse use) {
  const fsched_graph *g = p->g;
  use.from = op;
  if (!has_addresses(g, use.memory) || !is_output_in_place(g, op, version)) {
    return fs_vec_push(p->ctx, &p->stays->use, use);
  }
  use.delay = (int64_t)p->time[op];
  FS_TRY(fs_vec_push(p->ctx, &p->stays->use, use));
  for (size_t k = 0; k < p->stays->thing.n; k++) {
    const fs_vthing *t = &p->stays->thing.at[k];
    if (t->kind != FS_VTHING_NOT) {
      continue;
    }
    const fs_vthing *place = &p->stays->thing.at[t->x - g->n_ops];
    if (place->kind == FS_VTHING_PLACE && place->x == op && place->version == version) {
      fs_vuse before = {.memory = use.memory,
                        .from = op,
                        .to = op,
                        .only_if = node_of(p, (uint32_t)k),
                        .length = (int64_t)p->time[op],
                        .bytes = use.bytes};
      return use.only_if == FS_NONE ? fs_vec_push(p->ctx, &p->stays->use, before) : FSCHED_OK;
    }
  }
  return FSCHED_OK;
}

static fs_status use_version(fs_vproof *p, uint32_t version) {
  const fsched_graph *g = p->g;
  const fs_vversion *v = &p->stays->version[version];
  fs_vuse use = {.memory = g->buffer_memory[g->version_buffer[version]],
                 .only_if = FS_NONE,
                 .bytes = size_of(g, version)};
  if (v->how == FS_VCONTENT_HELD && v->end != FS_NONE) {
    use.to = v->end;
    for (uint32_t k = 0; k < v->users; k++) {
      if (user_of(p, v, k)->alone) {
        return use_from_op(p, version, user_of(p, v, k)->op, use);
      }
    }
    use.delay = FS_VBEFORE_ALL;
    use.from = v->end;
    return fs_vec_push(p->ctx, &p->stays->use, use);
  }
  for (uint32_t k = 0; k < v->users && fs_vcontent_goes(v->how); k++) {
    const fs_vuser *u = user_of(p, v, k);
    use.to = u->end;
    use.only_if = u->first;
    use.from = u->read;
    if (use.to != FS_NONE && u->alone) {
      FS_TRY(use_from_op(p, version, u->op, use));
    } else if (use.to != FS_NONE && use.from != FS_NONE) {
      FS_TRY(fs_vec_push(p->ctx, &p->stays->use, use));
    }
  }
  return FSCHED_OK;
}

static fs_status use_scratch(fs_vproof *p) {
  const fsched_graph *g = p->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint32_t m = g->scratch_memory[i];
      fs_vuse use = {.memory = m,
                     .from = op,
                     .to = op,
                     .only_if = FS_NONE,
                     .length = (int64_t)p->time[op],
                     .bytes = fs_vmemory_aligned(g, m, g->scratch_size[i])};
      if (p->time[op] > 0) {
        FS_TRY(fs_vec_push(p->ctx, &p->stays->use, use));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- versions */

static fs_status tell_held(fs_vproof *p, uint32_t version) {
  const fs_vversion *v = &p->stays->version[version];
  for (uint32_t op = 0; op < p->g->n_ops && v->kept; op++) {
    FS_TRY(add_link(p, op, v->end, p->time[op], FS_NONE));
  }
  for (uint32_t k = 0; k < v->users && !v->kept; k++) {
    uint32_t op = user_of(p, v, k)->op;
    FS_TRY(add_link(p, op, v->end, p->time[op], FS_NONE));
  }
  return FSCHED_OK;
}

static fs_status tell_version(fs_vproof *p, uint32_t version, fs_arena *scratch) {
  const fs_vversion *v = &p->stays->version[version];
  if (v->how == FS_VCONTENT_HELD) {
    FS_TRY(tell_held(p, version));
  }
  for (uint32_t k = 0; k < v->users && fs_vcontent_goes(v->how); k++) {
    bool stored = v->how == FS_VCONTENT_SPILLS;
    FS_TRY(tell_stay(p, v, k, scratch));
    FS_TRY(time_stay(p, v, k));
    FS_TRY(stored && user_of(p, v, k)->writes ? tell_write(p, v, k, scratch) : FSCHED_OK);
  }
  return use_version(p, version);
}

/* A read of given content comes before the last write, as an op that writes is between. */
static fs_status tell_outer(fs_vproof *p, uint32_t item) {
  const fs_vcopy *c = fs_vproof_copy(p, item);
  for (uint32_t k = p->g->n_ops; k < p->n_items && c->op0 < c->op1 && c->write; k++) {
    const fs_vcopy *o = fs_vproof_copy(p, k);
    if (o->version == c->version && !o->write && o->op0 < o->op1) {
      FS_TRY(add_link(p, k, item, p->time[k], FS_NONE));
    }
  }
  return FSCHED_OK;
}

/* ---- booleans */

/* The input's stay ends with the op. */
static fs_status tell_place(fs_vproof *p, uint32_t node, const fs_vthing *t) {
  const fs_vversion *in = &p->stays->version[t->user];
  int64_t lag = -(int64_t)p->time[t->x];
  if (in->how == FS_VCONTENT_HELD) {
    return add_link_if(p, in->end, t->x, lag, FS_NONE, node);
  }
  const fs_vuser *u = user_of(p, in, fs_vstays_user(p, t->user, t->x));
  FS_TRY(add_link_if(p, u->end, t->x, lag, u->first, node));
  for (uint32_t i = 0; i < in->users; i++) {
    uint32_t by = in_of(p, u, i);
    if (by != FS_NONE) {
      FS_TRY(add_link_if(p, user_of(p, in, i)->end, t->x, lag, by, node));
    }
  }
  return FSCHED_OK;
}

static uint32_t domain_of(const fs_vproof *p, uint32_t item) {
  const fsched_graph *g = p->g;
  return item < g->n_ops
             ? g->op_domain[item]
             : g->target
                   .memory[g->buffer_memory[g->version_buffer[fs_vproof_copy(p, item)->version]]]
                   .spill_domain;
}

static bool has_queue(const fs_vproof *p, const fs_vthing *t, uint32_t queue) {
  bool has = false;
  for (size_t k = t->queue0; k < t->queue1; k++) {
    has = has || p->stays->queue.at[k] == queue;
  }
  return has;
}

static bool share_queues(const fs_vproof *p, const fs_vthing *a, const fs_vthing *b) {
  bool any = false;
  for (size_t k = a->queue0; k < a->queue1; k++) {
    any = any || has_queue(p, b, p->stays->queue.at[k]);
  }
  return any;
}

/* An item that is there runs on one queue. */
static fs_status tell_queues(fs_vproof *p, uint32_t item, fs_arena *scratch) {
  const fs_vstays *s = p->stays;
  const fs_target *t = &p->g->target;
  uint32_t *some, n = 0, from = s->on0[item], to = s->on0[item + 1];
  if (from == to) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(scratch, &some, (size_t)(to - from) + 1));
  if (p->owner[item] != FS_NONE) {
    some[n++] = no(p->owner[item]);
  }
  for (uint32_t i = from; i < to; i++) {
    uint32_t node = node_of(p, s->on[i]);
    FS_TRY(imply(p, node, p->owner[item]));
    for (uint32_t j = from; j < i; j++) {
      bool meet = share_queues(p, &s->thing.at[s->on[i]], &s->thing.at[s->on[j]]);
      FS_TRY(meet ? FSCHED_OK : exclude_both(p, node, node_of(p, s->on[j])));
    }
    some[n++] = yes(node);
  }
  uint32_t domain = domain_of(p, item);
  for (uint32_t q = t->domain_queue0[domain]; q < t->domain_queue0[domain + 1]; q++) {
    bool any = false;
    for (uint32_t i = from; i < to; i++) {
      any = any || has_queue(p, &s->thing.at[s->on[i]], t->domain_queue[q]);
    }
    if (!any) {
      return FSCHED_OK;
    }
  }
  return add_clause(p, some, n);
}

static fs_status tell_boolean(fs_vproof *p, uint32_t node, const fs_vthing *t) {
  if (t->kind == FS_VTHING_PLACE) {
    return tell_place(p, node, t);
  }
  if (t->kind == FS_VTHING_BOTH) {
    uint32_t literal[] = {no(t->x), no(t->y), yes(node)};
    FS_TRY(add_clause(p, literal, 3));
    FS_TRY(imply(p, node, t->x));
    return imply(p, node, t->y);
  }
  if (t->kind == FS_VTHING_NOT) {
    uint32_t literal[] = {yes(t->x), yes(node)};
    FS_TRY(add_clause(p, literal, 2));
    return exclude_both(p, t->x, node);
  }
  return FSCHED_OK;
}

/* ---- all */

static void find_owners(fs_vproof *p) {
  for (size_t k = 0; k < p->stays->thing.n; k++) {
    const fs_vthing *t = &p->stays->thing.at[k];
    if (t->kind > FS_VTHING_END || t->user == FS_NONE) {
      continue;
    }
    const fs_vuser *u = user_of(p, &p->stays->version[t->version], t->user);
    p->owner[node_of(p, (uint32_t)k)] = t->kind == FS_VTHING_WRITE ? u->stored : u->first;
  }
}

/* Rows of the links from each node, of the clauses of each, and of what each owns. */
static fs_status index_facts(fs_vproof *p) {
  fs_vstays *s = p->stays;
  uint32_t *row, n_clauses = (uint32_t)s->clause0.n;
  FS_TRY(fs_vec_push(p->ctx, &s->clause0, (uint32_t)s->clause.n));
  FS_TRY(fs_new(&p->arena, &row, s->link.n));
  for (size_t k = 0; k < s->link.n; k++) {
    row[k] = s->link.at[k].from;
  }
  FS_TRY(fs_group(&p->arena, row, (uint32_t)s->link.n, p->n_nodes, &s->link0, &s->link_of));
  FS_TRY(fs_group(&p->arena, p->owner, p->n_nodes, p->n_nodes, &s->owned0, &s->owned));
  FS_TRY(fs_new(&p->arena, &row, s->clause.n));
  for (size_t k = 0; k < s->clause.n; k++) {
    row[k] = s->clause.at[k] / 2;
  }
  return fs_group_turn(&p->arena, s->clause0.at, row, n_clauses, p->n_nodes, &s->of0, &s->of);
}

fs_status fs_vstays_facts(fs_vproof *p) {
  assert(p->time != NULL || p->n_items == 0);
  FS_SCRATCH(scratch, p->ctx);
  fs_vstays *s = p->stays;
  uint32_t *row;
  find_owners(p);
  FS_TRY(fs_new_none(&scratch, &row, s->thing.n));
  for (size_t k = 0; k < s->thing.n; k++) {
    row[k] = s->thing.at[k].kind == FS_VTHING_ON ? s->thing.at[k].x : FS_NONE;
  }
  FS_TRY(fs_group(&p->arena, row, (uint32_t)s->thing.n, p->n_items, &s->on0, &s->on));
  for (uint32_t v = 0; v < p->g->n_versions; v++) {
    FS_TRY(tell_version(p, v, &scratch));
  }
  FS_TRY(use_scratch(p));
  for (uint32_t i = 0; i < p->n_items; i++) {
    FS_TRY(tell_queues(p, i, &scratch));
    FS_TRY(i < p->g->n_ops ? FSCHED_OK : tell_outer(p, i));
  }
  for (size_t k = 0; k < s->thing.n; k++) {
    FS_TRY(tell_boolean(p, node_of(p, (uint32_t)k), &s->thing.at[k]));
  }
  return index_facts(p);
}
