/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses a version, and what a user finds there.  A version is refused where more could happen
 * than stays.h says. */
#include "verify/proof/stays/stays.h"

#include "base/saturate.h"

uint64_t fs_vmemory_aligned(const fsched_graph *g, uint32_t memory, uint64_t size) {
  uint64_t align = g->target.memory[memory].align;
  return fs_add_most(size, align - 1) & ~(align - 1);
}

/* ---- which op comes behind which */

fs_status fs_vstays_begin(fs_vproof *p) {
  const fsched_graph *g = p->g;
  fs_vstays *s = p->stays;
  s->row = ((size_t)g->n_ops + 63) / 64;
  FS_TRY(fs_new_zero(&p->arena, &s->version, g->n_versions));
  FS_TRY(fs_new_zero(&p->arena, &s->after, s->row * g->n_ops));
  for (uint32_t k = g->n_ops; k-- > 0;) { /* those behind an op are known before it */
    uint32_t op = g->topo[k];
    uint64_t *mine = s->after + op * s->row;
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
      uint32_t next = g->succ[e];
      mine[next / 64] |= UINT64_C(1) << next % 64;
      for (size_t w = 0; w < s->row; w++) {
        mine[w] |= s->after[next * s->row + w];
      }
    }
  }
  return FSCHED_OK;
}

/* ---- users */

uint32_t fs_vstays_user(const fs_vproof *p, uint32_t version, uint32_t op) {
  const fs_vversion *v = &p->stays->version[version];
  for (uint32_t k = 0; k < v->users; k++) {
    if (p->stays->user.at[v->user0 + k].op == op) {
      return k;
    }
  }
  return FS_NONE;
}

static fs_status list_users(fs_vproof *p, uint32_t version) {
  const fsched_graph *g = p->g;
  fs_vversion *v = &p->stays->version[version];
  v->user0 = (uint32_t)p->stays->user.n;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    uint32_t arg = g->access_arg[i], k = fs_vstays_user(p, version, g->access_op[i]);
    if (k == FS_NONE) {
      fs_vuser u = {.op = g->access_op[i],
                    .writer = FS_NONE,
                    .first = FS_NONE,
                    .end = FS_NONE,
                    .read = FS_NONE,
                    .write = FS_NONE,
                    .stored = FS_NONE};
      FS_TRY(fs_vec_push(p->ctx, &p->stays->user, u));
      k = v->users++;
    }
    fs_vuser *u = &p->stays->user.at[v->user0 + k];
    bool writes = fs_tag_writes(g->arg_tag[arg]);
    u->reads = u->reads || fs_tag_reads(g->arg_tag[arg]);
    u->writes = u->writes || writes;
    u->whole = u->whole || (writes && fs_arg_whole(g, arg));
  }
  for (uint32_t k = 0; k < v->users && v->users <= FS_VSTAYS_USERS; k++) {
    p->stays->user.at[v->user0 + k].in0 = (uint32_t)p->stays->in.n;
    for (uint32_t i = 0; i < v->users; i++) {
      FS_TRY(fs_vec_push(p->ctx, &p->stays->in, FS_NONE));
    }
  }
  return FSCHED_OK;
}

/* The users of a version, as they are looked at. */
typedef struct user_list {
  const fs_vstays *s;
  fs_vuser *at;
  uint32_t n;
} user_list;
static user_list list_of(const fs_vstays *s, const fs_vversion *v) {
  return (user_list){s, v->users == 0 ? NULL : s->user.at + v->user0, v->users};
}

static bool is_behind(const user_list *l, uint32_t later, uint32_t earlier) {
  return fs_vstays_follows(l->s, l->at[later].op, l->at[earlier].op);
}

/* Finds last writers; false: a writer is not ordered with some other user. */
static bool find_writers(const user_list *l) {
  for (uint32_t k = 0; k < l->n; k++) {
    for (uint32_t i = 0; i < l->n; i++) {
      if (i == k || !l->at[i].writes) {
        continue;
      }
      if (!is_behind(l, k, i) && !is_behind(l, i, k)) {
        return false;
      }
      uint32_t last = l->at[k].writer;
      if (is_behind(l, k, i) && (last == FS_NONE || is_behind(l, i, last))) {
        l->at[k].writer = i;
      }
    }
  }
  return true;
}

static bool all_behind(const user_list *l, uint32_t first) {
  bool all = true;
  for (uint32_t k = 0; k < l->n; k++) {
    all = all && (k == first || is_behind(l, k, first));
  }
  return all;
}

/* ---- memories that spill */

/* Why the users of a version that spills are not covered, or NULL. */
static const char *look_at_spills(const fsched_graph *g, uint32_t version, const user_list *l) {
  bool given = fs_version_given(g, version);
  bool wanted = g->buffer_wanted[g->version_buffer[version]] != 0;
  for (uint32_t k = 0; k < l->n; k++) {
    fs_vuser *u = &l->at[k];
    bool overwrites = u->writes && !u->reads, nothing = u->writer == FS_NONE && !(given && wanted);
    u->alone = overwrites && (u->whole || nothing);
    if (nothing && !u->alone) {
      return "an op finds no content";
    }
    if (overwrites && !u->alone && u->writer == FS_NONE && !all_behind(l, k)) {
      return "given content may be lost before it is wanted";
    }
  }
  return NULL;
}

/* ---- memories that do not */

/* Of a version that an op writes all of, and which is neither given nor kept. */
static const char *look_at_rests(fs_vversion *v, const user_list *l) {
  v->how = FS_VCONTENT_RESTS;
  for (uint32_t k = 0; k < l->n; k++) {
    fs_vuser *u = &l->at[k];
    u->alone = u->writes && !u->reads && (u->whole || u->writer == FS_NONE);
    if (u->writer == FS_NONE && !u->alone) {
      return "an op finds no content";
    }
  }
  return NULL;
}

static const char *look_at_held(const fsched_graph *g, uint32_t version, fs_vversion *v,
                                const user_list *l) {
  bool given = fs_version_given(g, version);
  bool first = given; /* the one that begins the residency was seen */
  v->how = FS_VCONTENT_HELD;
  for (uint32_t k = 0; k < l->n; k++) {
    fs_vuser *u = &l->at[k];
    bool overwrites = u->writes && !u->reads;
    u->alone = !given && overwrites && all_behind(l, k);
    first = first || u->alone;
    if (overwrites && u->whole && !u->alone) {
      return given || v->kept ? "what is given or kept may have several residencies"
                              : look_at_rests(v, l);
    }
  }
  return !first ? "an op finds no content" : NULL;
}

/* ---- all */

static const char *look_at_users(fs_vproof *p, uint32_t version) {
  const fsched_graph *g = p->g;
  fs_vversion *v = &p->stays->version[version];
  const fs_memory *m = &g->target.memory[g->buffer_memory[g->version_buffer[version]]];
  user_list l = list_of(p->stays, v);
  if (l.n > FS_VSTAYS_USERS) {
    return "it has too many users";
  }
  for (uint32_t k = 0; k < l.n; k++) {
    if (g->op_time[l.at[k].op] == 0) {
      return "an op of it takes no time";
    }
  }
  if (m->capacity == FS_UNBOUNDED) {
    return "its memory is not bounded";
  }
  if (!find_writers(&l)) {
    return "nothing orders a writer and another op";
  }
  bool written = false;
  for (uint32_t k = 0; k < l.n; k++) {
    written = written || l.at[k].writes;
  }
  if (m->backing == FS_NONE || m->spill_domain == FS_NONE) {
    v->kept = fs_version_stays(g, version);
    v->how = FS_VCONTENT_HELD;
    return l.n == 0 && !(v->kept && fs_version_given(g, version)) ? "it needs no room"
                                                                  : look_at_held(g, version, v, &l);
  }
  v->how = FS_VCONTENT_SPILLS;
  v->kept = fs_version_kept(g, version) && written;
  bool bounded = g->target.memory[m->backing].capacity != FS_UNBOUNDED;
  return bounded ? "its store is bounded" : look_at_spills(g, version, &l);
}

fs_status fs_vstays_look(fs_vproof *p, uint32_t version, const char **why) {
  fs_vversion *v = &p->stays->version[version];
  *why = NULL;
  if (v->how == FS_VCONTENT_UNKNOWN) {
    v->end = FS_NONE;
    FS_TRY(list_users(p, version));
    *why = look_at_users(p, version);
  }
  return FSCHED_OK;
}

bool fs_vstays_joins(const fs_vproof *p, const fs_vversion *v, uint32_t user, uint32_t leader) {
  user_list l = list_of(p->stays, v);
  assert(user < l.n && leader < l.n);
  uint32_t w = l.at[user].writer;
  bool leads = v->how != FS_VCONTENT_RESTS || l.at[leader].alone;
  if (user == leader || !leads || is_behind(&l, leader, user)) {
    return false;
  }
  /* A writer in between is in the stay, too. */
  return w == FS_NONE || w == leader || is_behind(&l, leader, w) ||
         fs_vstays_joins(p, v, w, leader);
}

bool fs_vstays_writes(const fs_vproof *p, const fs_vversion *v, uint32_t user) {
  user_list l = list_of(p->stays, v);
  bool last = v->kept && l.at[user].writes;
  for (uint32_t k = 0; k < l.n; k++) {
    last = last && (k == user || !l.at[k].writes || is_behind(&l, user, k));
  }
  return last;
}
