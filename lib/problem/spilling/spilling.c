/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/spilling/spilling.h"

#include "model/overwritten.h"
#include "problem/spilling/private.h"

enum { MOST_USERS = 32 }; /* of a version: there are clauses for all pairs of their stays */

/* How an op uses a version. */
typedef struct user_access {
  bool any, reads, writes, whole;
} user_access;

/* ---- parts */

static uint32_t new_bool(fs_spilling_draft *b) { return b->w->n_bools++; }

static fs_status add_link(fs_spilling_draft *b, uint32_t from, uint32_t to, fs_tick lag,
                          uint32_t only_if) {
  fs_spill_link l = {from, to, only_if, (int64_t)lag};
  return fs_vec_push(b->ctx, &b->link, l);
}

/* The clause of these literals, those that are FS_NONE left out. */
static fs_status add_clause(fs_spilling_draft *b, const uint32_t *literal, uint32_t n) {
  FS_TRY(fs_vec_push(b->ctx, &b->clause0, (uint32_t)b->clause.n));
  for (uint32_t k = 0; k < n; k++) {
    if (literal[k] != FS_NONE) {
      FS_TRY(fs_vec_push(b->ctx, &b->clause, literal[k]));
    }
  }
  return FSCHED_OK;
}

static uint32_t yes(uint32_t boolean) { return boolean == FS_NONE ? FS_NONE : 2 * boolean; }
static uint32_t no(uint32_t boolean) { return boolean == FS_NONE ? FS_NONE : 2 * boolean + 1; }

/* If `a` holds, so does `c`, where FS_NONE holds. */
static fs_status imply(fs_spilling_draft *b, uint32_t a, uint32_t c) {
  uint32_t literal[] = {no(a), yes(c)};
  return c == FS_NONE ? FSCHED_OK : add_clause(b, literal, 2);
}

/* A boolean that is told by others (fs_spilling.told). */
static fs_status new_bool_of(fs_spilling_draft *b, uint32_t x, uint32_t y, uint32_t *out) {
  fs_told_bool told = { *out = new_bool(b), x, y};
  return fs_vec_push(b->ctx, &b->told, told);
}

/* A boolean that holds where both do; FS_NONE: always. */
static fs_status both(fs_spilling_draft *b, uint32_t x, uint32_t y, uint32_t *out) {
  if (x == FS_NONE || y == FS_NONE) {
    *out = x == FS_NONE ? y : x;
    return FSCHED_OK;
  }
  FS_TRY(new_bool_of(b, x, y, out));
  uint32_t literal[] = {no(x), no(y), yes(*out)};
  FS_TRY(add_clause(b, literal, 3));
  FS_TRY(imply(b, *out, x));
  return imply(b, *out, y);
}

static fs_status add_copy(fs_spilling_draft *b, fs_copy_kind kind, uint32_t v, uint32_t only_if,
                          uint32_t *item) {
  FS_TRY(fs_vec_push(b->ctx, &b->copy_if, only_if));
  return fs_problem_add_copy(&b->d, kind, v, FS_NONE, FS_NONE, item);
}

/* ---- users */

static user_access access_of(const fsched_graph *g, uint32_t op, uint32_t v) {
  user_access x = {0};
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (fs_arg_accesses(g, a) && g->arg_version[a] == v) {
      bool writes = fs_tag_writes(g->arg_tag[a]);
      x.any = true;
      x.reads = x.reads || fs_tag_reads(g->arg_tag[a]);
      x.writes = x.writes || writes;
      x.whole = x.whole || (writes && fs_arg_whole(g, a));
    }
  }
  return x;
}

/* Lists the users of a version. */
static fs_status list_users(fs_spilling_draft *b, uint32_t v, uint32_t *n) {
  const fsched_graph *g = b->g;
  *n = 0;
  for (uint32_t k = 0; k < g->n_ops; k++) {
    user_access x = access_of(g, g->topo[k], v);
    fs_spill_user u = {.op = g->topo[k],
                       .writes = x.writes,
                       .writer = FS_NONE,
                       .stay = FS_NONE,
                       .read = FS_NONE,
                       .write = FS_NONE};
    if (x.any) {
      FS_TRY(fs_vec_push(b->ctx, &b->user, u));
      *n += 1;
      b->covered = b->covered && g->op_time[u.op] > 0;
    }
  }
  return FSCHED_OK;
}

/* The users of a version, as they are being made. */
typedef struct version_draft {
  uint32_t v, n, first; /* first: of users */
  bool given;           /* its content is in the store, and wanted */
  bool kept;
  bool spills;
  fs_tick read_time, write_time;
} version_draft;

static fs_spill_user *user_of(const fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  assert(k < x->n);
  return &b->user.at[x->first + k];
}

static bool comes_after(const fs_spilling_draft *b, const version_draft *x, uint32_t later,
                        uint32_t earlier) {
  return fs_op_follows(&b->after, user_of(b, x, later)->op, user_of(b, x, earlier)->op);
}

/* Finds the last writer before each user.  Writers and others have to be ordered. */
static void find_writers(fs_spilling_draft *b, const version_draft *x) {
  for (uint32_t k = 0; k < x->n; k++) {
    fs_spill_user *u = user_of(b, x, k);
    for (uint32_t i = 0; i < x->n; i++) {
      if (i == k || !user_of(b, x, i)->writes) {
        continue;
      }
      bool before = comes_after(b, x, k, i);
      b->covered = b->covered && (before || comes_after(b, x, i, k));
      if (before && (u->writer == FS_NONE || comes_after(b, x, i, u->writer))) {
        u->writer = i;
      }
    }
  }
}

/* Needs the user nothing of what was there before? */
static bool begins_alone(const fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  const fs_spill_user *u = user_of(b, x, k);
  user_access how = access_of(b->g, u->op, x->v);
  return how.writes && !how.reads && (how.whole || (u->writer == FS_NONE && !x->given));
}

/* ---- stays */

/* The stay that begins with a user. */
static fs_status add_stay(fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  fs_spill_user *u = user_of(b, x, k);
  bool alone = begins_alone(b, x, k);
  if (!alone && u->writer == FS_NONE && !x->given) {
    b->covered = false; /* it finds nothing */
    return FSCHED_OK;
  }
  if (!alone && !x->spills) {
    return FSCHED_OK;
  }
  bool always = alone && k == 0 && !x->given;
  for (uint32_t i = 1; i < x->n && always; i++) {
    always = comes_after(b, x, i, k);
  }
  fs_stay s = {.version = x->v, .user = k, .begin = u->op};
  s.only_if = always ? FS_NONE : new_bool(b);
  u->stay = (uint32_t)b->stay.n;
  if (!alone) {
    FS_TRY(add_copy(b, FS_SPILL_READ, x->v, s.only_if, &u->read));
    s.begin = u->read;
    FS_TRY(add_link(b, u->read, u->op, x->read_time, s.only_if));
  }
  FS_TRY(fs_vec_push(b->ctx, &b->stay, s));
  fs_memory_use use = {.memory = fs_version_memory(b->g, x->v),
                       .from = s.begin,
                       .to = FS_STAY_END | u->stay,
                       .only_if = s.only_if,
                       .bytes = fs_spilling_size(b->g, x->v)};
  FS_TRY(fs_vec_push(b->ctx, &b->use, use));
  return add_link(b, u->op, use.to, b->g->op_time[u->op], s.only_if);
}

static uint32_t stay_if(const fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  return b->stay.at[user_of(b, x, k)->stay].only_if;
}

static uint32_t *member_of(const fs_spilling_draft *b, const version_draft *x, uint32_t k,
                           uint32_t leader) {
  return &b->member.at[user_of(b, x, k)->in0 + leader];
}

/* Can a user be in the stay that another one begins?  Writers in between have to be in it. */
static bool can_join(const fs_spilling_draft *b, const version_draft *x, uint32_t k,
                     uint32_t leader) {
  const fs_spill_user *u = user_of(b, x, k);
  if (leader == k || user_of(b, x, leader)->stay == FS_NONE || comes_after(b, x, leader, k)) {
    return false;
  }
  return u->writer == FS_NONE || u->writer == leader || comes_after(b, x, leader, u->writer) ||
         *member_of(b, x, u->writer, leader) != FS_NONE;
}

static fs_status join(fs_spilling_draft *b, const version_draft *x, uint32_t k, uint32_t leader) {
  const fs_spill_user u = *user_of(b, x, k), first = *user_of(b, x, leader);
  uint32_t in = *member_of(b, x, k, leader) = new_bool(b);
  FS_TRY(imply(b, in, stay_if(b, x, leader)));
  FS_TRY(add_link(b, u.op, FS_STAY_END | first.stay, b->g->op_time[u.op], in));
  if (!comes_after(b, x, k, leader)) {
    FS_TRY(add_link(b, first.op, u.op, 0, in));
  }
  bool between = u.writer != FS_NONE && u.writer != leader && !comes_after(b, x, leader, u.writer);
  return between ? imply(b, in, *member_of(b, x, u.writer, leader)) : FSCHED_OK;
}

/* At most one of the user's own stay and those of others holds it, and one does. */
static fs_status join_one(fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  const fs_spill_user *u = user_of(b, x, k);
  uint32_t own = u->stay == FS_NONE ? FS_NONE : stay_if(b, x, k), n = 0, *literal;
  if (u->stay != FS_NONE && own == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&b->d.scratch, &literal, (size_t)x->n + 1));
  literal[n++] = yes(own);
  for (uint32_t i = 0; i < x->n; i++) {
    literal[n++] = yes(*member_of(b, x, k, i));
  }
  FS_TRY(add_clause(b, literal, n));
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < i; j++) {
      uint32_t pair[] = {literal[i] ^ 1, literal[j] ^ 1};
      if (literal[i] != FS_NONE && literal[j] != FS_NONE) {
        FS_TRY(add_clause(b, pair, 2));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status add_stays(fs_spilling_draft *b, const version_draft *x) {
  for (uint32_t k = 0; k < x->n; k++) {
    user_of(b, x, k)->in0 = (uint32_t)b->member.n;
    for (uint32_t i = 0; i < x->n; i++) {
      FS_TRY(fs_vec_push(b->ctx, &b->member, FS_NONE));
    }
    FS_TRY(add_stay(b, x, k));
  }
  for (uint32_t k = 0; k < x->n && b->covered; k++) { /* in topological order */
    const fs_spill_user *u = user_of(b, x, k);
    bool always = u->stay != FS_NONE && stay_if(b, x, k) == FS_NONE;
    for (uint32_t i = 0; i < x->n && !always; i++) {
      if (can_join(b, x, k, i)) {
        FS_TRY(join(b, x, k, i));
      }
    }
    FS_TRY(join_one(b, x, k));
  }
  return FSCHED_OK;
}

/* ---- writes to the store */

/* The stays that a writer may be in last until its write has ended. */
static fs_status hold_write(fs_spilling_draft *b, const version_draft *x, uint32_t k,
                            uint32_t only_if) {
  uint32_t item = user_of(b, x, k)->write, in;
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t stay = user_of(b, x, i)->stay, by = i == k ? FS_NONE : *member_of(b, x, k, i);
    if (stay == FS_NONE || (i != k && by == FS_NONE)) {
      continue;
    }
    FS_TRY(both(b, i == k ? stay_if(b, x, k) : by, only_if, &in));
    FS_TRY(add_link(b, item, FS_STAY_END | stay, x->write_time, in));
  }
  return FSCHED_OK;
}

/* The write of what a writer leaves: it is there if a read needs it, or if it is kept. */
static fs_status add_write(fs_spilling_draft *b, const version_draft *x, uint32_t k) {
  bool last = true;
  uint32_t n = 0, *literal;
  FS_TRY(fs_new(&b->d.scratch, &literal, (size_t)x->n + 1));
  for (uint32_t i = 0; i < x->n; i++) {
    last = last && (i == k || !user_of(b, x, i)->writes || comes_after(b, x, k, i));
    if (user_of(b, x, i)->writer == k && user_of(b, x, i)->read != FS_NONE) {
      literal[++n] = i;
    }
  }
  bool kept = last && x->kept;
  if (n == 0 && !kept) {
    return FSCHED_OK;
  }
  uint32_t only_if = kept ? FS_NONE : new_bool(b), item;
  FS_TRY(add_copy(b, FS_SPILL_WRITE, x->v, only_if, &item));
  user_of(b, x, k)->write = item;
  FS_TRY(add_link(b, user_of(b, x, k)->op, item, b->g->op_time[user_of(b, x, k)->op], only_if));
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t reads = stay_if(b, x, literal[i]);
    FS_TRY(add_link(b, item, user_of(b, x, literal[i])->read, x->write_time, reads));
    FS_TRY(imply(b, reads, only_if));
    literal[i] = yes(reads);
  }
  for (uint32_t i = 0; i < x->n; i++) { /* what comes next modifies it */
    if (user_of(b, x, i)->writes && user_of(b, x, i)->writer == k) {
      FS_TRY(add_link(b, item, user_of(b, x, i)->op, x->write_time, only_if));
    }
  }
  literal[0] = no(only_if);
  FS_TRY(kept ? FSCHED_OK : add_clause(b, literal, n + 1));
  return hold_write(b, x, k, only_if);
}

/* ---- versions */

static fs_status add_short(fs_spilling_draft *b, uint32_t v) {
  const fs_memory *m = fs_version_home(b->g, v);
  uint64_t size = fs_version_size(b->g, v);
  version_draft x = {.v = v,
                     .first = (uint32_t)b->user.n,
                     .given = fs_version_load_needed(b->g, v),
                     .kept = fs_problem_needs_write(b->g, v),
                     .spills = true,
                     .read_time = fs_spill_read_time(m, size),
                     .write_time = fs_spill_write_time(m, size)};
  b->covered = b->covered && x.read_time > 0 && x.write_time > 0 && !fs_version_load_races(b->g, v);
  FS_TRY(list_users(b, v, &x.n));
  b->covered = b->covered && x.n <= MOST_USERS;
  if (!b->covered) {
    return FSCHED_OK;
  }
  find_writers(b, &x);
  FS_TRY(b->covered ? add_stays(b, &x) : FSCHED_OK);
  for (uint32_t k = 0; k < x.n && b->covered; k++) {
    if (user_of(b, &x, k)->writes) {
      FS_TRY(add_write(b, &x, k));
    }
  }
  return FSCHED_OK;
}

/* The stay of a version in a memory without a store, of which users were listed. */
static fs_status add_held_stay(fs_spilling_draft *b, const version_draft *x) {
  const fsched_graph *g = b->g;
  uint32_t stay = b->w->held[x->v] = (uint32_t)b->stay.n, end = FS_STAY_END | stay;
  fs_stay s = {.version = x->v, .begin = FS_NONE, .only_if = FS_NONE};
  fs_memory_use use = {.memory = fs_version_memory(g, x->v),
                       .from = 0,
                       .to = end,
                       .only_if = FS_NONE,
                       .delay = FS_BEFORE_ALL,
                       .bytes = fs_spilling_size(g, x->v)};
  if (x->n > 0) {
    user_of(b, x, 0)->stay = stay;
  }
  if (!x->given) {
    s.begin = use.from = user_of(b, x, 0)->op;
    use.delay = 0;
  }
  FS_TRY(fs_vec_push(b->ctx, &b->stay, s));
  FS_TRY(fs_vec_push(b->ctx, &b->use, use));
  for (uint32_t k = 0; k < x->n && !x->kept; k++) {
    uint32_t op = user_of(b, x, k)->op;
    FS_TRY(add_link(b, op, end, g->op_time[op], FS_NONE));
  }
  for (uint32_t op = 0; op < g->n_ops && x->kept; op++) {
    FS_TRY(add_link(b, op, end, g->op_time[op], FS_NONE));
  }
  return FSCHED_OK;
}

/* Does some user that needs nothing of what was there come behind others, or may do so? */
static bool begins_again(const fs_spilling_draft *b, const version_draft *x) {
  bool again = false;
  for (uint32_t k = 0; k < x->n; k++) {
    user_access how = access_of(b->g, user_of(b, x, k)->op, x->v);
    bool first = !x->given;
    for (uint32_t i = 0; i < x->n && first; i++) {
      first = i == k || comes_after(b, x, i, k);
    }
    again = again || (how.whole && !how.reads && !first);
  }
  return again;
}

/* The stays of a version that goes without a read (fs_version_rests), of which users were listed:
 * as with a store, but that only ops which need nothing of what was there begin one. */
static fs_status add_resting(fs_spilling_draft *b, const version_draft *x) {
  b->covered = b->covered && !x->given && !x->kept && x->n <= MOST_USERS;
  return b->covered ? add_stays(b, x) : FSCHED_OK;
}

static fs_status add_held(fs_spilling_draft *b, uint32_t v) {
  bool kept = fs_version_stays(b->g, v);
  version_draft x = {
      .v = v, .first = (uint32_t)b->user.n, .given = fs_version_given(b->g, v), .kept = kept};
  FS_TRY(list_users(b, v, &x.n));
  if (x.n == 0 && !(x.given && kept)) {
    return FSCHED_OK;
  }
  find_writers(b, &x);
  if (begins_again(b, &x)) {
    return add_resting(b, &x);
  }
  b->covered = b->covered && b->g->n_ops > 0 && (x.given || begins_alone(b, &x, 0));
  for (uint32_t k = 1; k < x.n && !x.given; k++) {
    b->covered = b->covered && comes_after(b, &x, k, 0);
  }
  return b->covered ? add_held_stay(b, &x) : FSCHED_OK;
}

static fs_status add_versions(fs_spilling_draft *b) {
  const fsched_graph *g = b->g;
  for (uint32_t v = 0; v < g->n_versions && b->covered; v++) {
    b->w->user0[v] = (uint32_t)b->user.n;
    b->w->copy0[v] = (uint32_t)b->d.kind.n;
    if (b->is_short[fs_version_memory(g, v)]) {
      FS_TRY(fs_memory_spills(fs_version_home(g, v)) ? add_short(b, v) : add_held(b, v));
      continue;
    }
    FS_TRY(fs_problem_add_version(&b->d, v));
    while (b->copy_if.n < b->d.kind.n) {
      FS_TRY(fs_vec_push(b->ctx, &b->copy_if, FS_NONE));
    }
  }
  b->w->user0[g->n_versions] = (uint32_t)b->user.n;
  return FSCHED_OK;
}

static fs_status add_scratch(fs_spilling_draft *b) {
  const fsched_graph *g = b->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint32_t m = g->scratch_memory[i];
      fs_memory_use use = {.memory = m,
                           .from = op,
                           .to = op,
                           .only_if = FS_NONE,
                           .length = g->op_time[op],
                           .bytes = fs_align_up(g->scratch_size[i], g->target.memory[m].align)};
      if (b->is_short[m]) {
        b->covered = b->covered && g->op_time[op] > 0;
        FS_TRY(fs_vec_push(b->ctx, &b->use, use));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- outputs in the place of an input */

/* The user that an op is of a version. */
static uint32_t find_user(const fs_spilling_draft *b, uint32_t v, uint32_t op) {
  uint32_t k = b->w->user0[v];
  while (b->user.at[k].op != op) {
    k++;
  }
  return k;
}

/* The input's stay ends with the op. */
static fs_status end_input(fs_spilling_draft *b, uint32_t v, uint32_t op, uint32_t shares) {
  uint32_t first = b->w->user0[v], n = b->w->user0[v + 1] - first, k = find_user(b, v, op), in;
  uint32_t held = b->w->held[v], never[] = {no(shares)};
  fs_tick time = b->g->op_time[op];
  if (held != FS_NONE) {
    fs_spill_link l = {FS_STAY_END | held, op, shares, -(int64_t)time};
    return fs_version_stays(b->g, v) ? add_clause(b, never, 1) : fs_vec_push(b->ctx, &b->link, l);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t stay = b->user.at[first + i].stay;
    uint32_t by = i == k - first ? FS_NONE : b->member.at[b->user.at[k].in0 + i];
    if (stay == FS_NONE || (i != k - first && by == FS_NONE)) {
      continue;
    }
    FS_TRY(both(b, i == k - first ? b->stay.at[stay].only_if : by, shares, &in));
    fs_spill_link l = {FS_STAY_END | stay, op, in, -(int64_t)time};
    FS_TRY(fs_vec_push(b->ctx, &b->link, l));
  }
  return FSCHED_OK;
}

/* The use of the output's stay begins with the end of the op, and before that only if it shares no
 * place. */
static fs_status add_pair(fs_spilling_draft *b, uint32_t op, uint32_t in, uint32_t out) {
  uint32_t stay = b->user.at[find_user(b, out, op)].stay, shares = new_bool(b), k = 0;
  if (stay == FS_NONE || b->stay.at[stay].only_if != FS_NONE) {
    b->covered = false;
    return FSCHED_OK;
  }
  for (size_t i = 0; i < b->pair_op.n; i++) { /* each shares with one at most */
    bool meets = b->pair_op.at[i] == op && (b->pair_in.at[i] == in || b->pair_out.at[i] == out);
    b->covered = b->covered && !meets;
  }
  while (k < b->use.n && b->use.at[k].to != (FS_STAY_END | stay)) {
    k++;
  }
  assert(k < b->use.n);
  fs_memory_use before = b->use.at[k];
  before.to = before.from;
  before.length = b->g->op_time[op];
  b->use.at[k].delay = (int64_t)b->g->op_time[op];
  FS_TRY(new_bool_of(b, shares, FS_NONE, &before.only_if));
  uint32_t some[] = {yes(shares), yes(before.only_if)};
  FS_TRY(add_clause(b, some, 2));
  FS_TRY(fs_vec_push(b->ctx, &b->use, before));
  FS_TRY(fs_vec_push(b->ctx, &b->pair_op, op));
  FS_TRY(fs_vec_push(b->ctx, &b->pair_in, in));
  FS_TRY(fs_vec_push(b->ctx, &b->pair_out, out));
  FS_TRY(fs_vec_push(b->ctx, &b->pair_if, shares));
  return end_input(b, in, op, shares);
}

static fs_status add_pairs(fs_spilling_draft *b) {
  const fsched_graph *g = b->g;
  for (uint32_t op = 0; op < g->n_ops && b->covered; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1] && b->covered; i++) {
      uint32_t in = g->arg_version[g->inplace_in[i]], out = g->arg_version[g->inplace_out[i]];
      uint32_t m = fs_version_memory(g, in);
      if (b->is_short[m] && m == fs_version_memory(g, out) && in != out &&
          fs_placement_has_addresses(g->target.memory[m].placement)) {
        FS_TRY(add_pair(b, op, in, out));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- choices of queues */

static fs_status add_choices(fs_spilling_draft *b) {
  fs_problem *p = b->d.p;
  FS_TRY(fs_new_none(&p->arena, &b->w->item_if, p->n_items));
  FS_TRY(fs_new_none(&p->arena, &b->w->choice_if, p->choice0[p->n_items]));
  for (uint32_t c = 0; c < p->n_copies; c++) {
    b->w->item_if[b->g->n_ops + c] = b->copy_if.at[c];
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t n = p->choice0[i + 1] - p->choice0[i], some[64], literals = 0;
    if (p->gang[i] || n <= 1) {
      continue;
    }
    b->covered = b->covered && n < 64;
    some[literals++] = no(b->w->item_if[i]);
    for (uint32_t k = p->choice0[i]; k < p->choice0[i + 1] && n < 64; k++) {
      uint32_t by = b->w->choice_if[k] = new_bool(b);
      FS_TRY(imply(b, by, b->w->item_if[i]));
      for (uint32_t j = 1; j < literals; j++) {
        uint32_t pair[] = {no(by), some[j] ^ 1};
        FS_TRY(add_clause(b, pair, 2));
      }
      some[literals++] = yes(by);
    }
    FS_TRY(add_clause(b, some, literals));
  }
  return FSCHED_OK;
}

/* ---- making */

static fs_status take(fs_arena *arena, const void *from, size_t n, size_t elem, void *out_ptr) {
  FS_TRY(fs_arena_array_(arena, n, elem, -1, out_ptr));
  if (n > 0) {
    void *to;
    memcpy(&to, out_ptr, sizeof to);
    memcpy(to, from, n * elem);
  }
  return FSCHED_OK;
}
#define TAKE(b, list, to) \
  take(&(b)->d.p->arena, (b)->list.at, (b)->list.n, sizeof *(b)->list.at, (to))

static uint32_t node_of(const fs_spilling_draft *b, uint32_t node) {
  return node & FS_STAY_END ? fs_spilling_end(b->d.p, node & ~FS_STAY_END) : node;
}

static fs_status finish(fs_spilling_draft *b) {
  fs_spilling *w = b->w;
  FS_TRY(fs_problem_finish(&b->d));
  FS_TRY(add_choices(b));
  FS_TRY(fs_vec_push(b->ctx, &b->clause0, (uint32_t)b->clause.n));
  for (size_t k = 0; k < b->link.n; k++) {
    b->link.at[k].from = node_of(b, b->link.at[k].from);
    b->link.at[k].to = node_of(b, b->link.at[k].to);
  }
  for (size_t k = 0; k < b->use.n; k++) {
    b->use.at[k].to = node_of(b, b->use.at[k].to);
  }
  for (size_t k = 0; k < b->apart.n; k++) {
    b->apart.at[k].to = node_of(b, b->apart.at[k].to);
  }
  w->n_apart = (uint32_t)b->apart.n / 2;
  w->n_turns = (uint32_t)b->turn0.n;
  FS_TRY(fs_vec_push(b->ctx, &b->turn0, (uint32_t)b->turn.n));
  FS_TRY(TAKE(b, apart, &w->apart));
  FS_TRY(TAKE(b, turn0, &w->turn0));
  FS_TRY(TAKE(b, turn, &w->turn));
  w->n_told = (uint32_t)b->told.n;
  FS_TRY(TAKE(b, told, &w->told));
  w->n_stays = (uint32_t)b->stay.n;
  w->n_links = (uint32_t)b->link.n;
  w->n_uses = (uint32_t)b->use.n;
  w->n_clauses = (uint32_t)b->clause0.n - 1;
  w->n_pairs = (uint32_t)b->pair_op.n;
  FS_TRY(TAKE(b, stay, &w->stay));
  FS_TRY(TAKE(b, link, &w->link));
  FS_TRY(TAKE(b, use, &w->use));
  FS_TRY(TAKE(b, clause0, &w->clause0));
  FS_TRY(TAKE(b, clause, &w->clause));
  FS_TRY(TAKE(b, user, &w->user));
  FS_TRY(TAKE(b, member, &w->member));
  FS_TRY(TAKE(b, pair_op, &w->pair_op));
  FS_TRY(TAKE(b, pair_in, &w->pair_in));
  FS_TRY(TAKE(b, pair_out, &w->pair_out));
  return TAKE(b, pair_if, &w->pair_if);
}

/* Does some item choose among queues? */
static bool chooses(const fs_spilling_draft *b) {
  bool any = false;
  for (uint32_t k = 0; k < b->d.p->choice0[b->d.p->n_items]; k++) {
    any = any || b->w->choice_if[k] != FS_NONE;
  }
  return any;
}

static fs_status build(fs_spilling_draft *b) {
  const fsched_graph *g = b->g;
  fs_problem *p = b->d.p;
  bool any = false;
  FS_TRY(fs_spilling_find_short(b, &any));
  if (!b->covered) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(&p->arena, &p->arg_residency, g->n_args));
  FS_TRY(fs_new_none(&p->arena, &p->scratch_residency, g->op_scratch0[g->n_ops]));
  FS_TRY(fs_new_zero(&p->arena, &b->w, 1));
  FS_TRY(fs_new_zero(&p->arena, &b->w->user0, (size_t)g->n_versions + 1));
  FS_TRY(fs_new_zero(&p->arena, &b->w->copy0, g->n_versions));
  FS_TRY(fs_new_none(&p->arena, &b->w->held, g->n_versions));
  FS_TRY(fs_op_closure_find(&b->after, g, &b->d.scratch));
  b->covered = !fs_spilling_may_lose(b);
  FS_TRY(add_versions(b));
  FS_TRY(add_scratch(b));
  FS_TRY(add_pairs(b));
  if (!b->covered) {
    return FSCHED_OK;
  }
  FS_TRY(fs_spilling_apart(b));
  FS_TRY(finish(b));
  b->covered = b->covered && (any || chooses(b));
  return FSCHED_OK;
}

static void release_lists(fs_spilling_draft *b) {
  fs_vec_free(b->ctx, &b->stay);
  fs_vec_free(b->ctx, &b->link);
  fs_vec_free(b->ctx, &b->use);
  fs_vec_free(b->ctx, &b->user);
  fs_vec_free(b->ctx, &b->member);
  fs_vec_free(b->ctx, &b->clause0);
  fs_vec_free(b->ctx, &b->clause);
  fs_vec_free(b->ctx, &b->told);
  fs_vec_free(b->ctx, &b->copy_if);
  fs_vec_free(b->ctx, &b->apart);
  fs_vec_free(b->ctx, &b->turn0);
  fs_vec_free(b->ctx, &b->turn);
  fs_vec_free(b->ctx, &b->pair_op);
  fs_vec_free(b->ctx, &b->pair_in);
  fs_vec_free(b->ctx, &b->pair_out);
  fs_vec_free(b->ctx, &b->pair_if);
}

fs_status fs_problem_spilling(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                              fs_tick lower_bound, fs_problem **out) {
  assert(g->topo != NULL || g->n_ops == 0);
  fs_spilling_draft b = {.ctx = ctx, .g = g, .covered = true};
  *out = NULL;
  if (!fs_spilling_covers(ctx, g)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_problem_draft_begin(&b.d, ctx, g));
  fs_status status = build(&b);
  b.d.p->horizon = horizon;
  b.d.p->lower_bound = lower_bound;
  b.d.p->exact = b.d.p->least = false;
  b.d.p->relaxed = true;
  b.d.p->spilling = b.w;
  release_lists(&b);
  return fs_problem_draft_end(&b.d, status, b.covered, out);
}
