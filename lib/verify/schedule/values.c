/* SPDX-License-Identifier: Apache-2.0 */
/* Values in a schedule.  A walk over the items in order of issue counts the modifications of each
 * version so far; each residency and store holds the number of the modification whose content it
 * has.
 *
 * A residency is filled by its version's first writer or a spill read, and begins with that.  A
 * read must find the newest number, and a fill, a copy and a modification of one version do not run
 * at once.  Given content has number 1 in its store, or in its residency from 0.
 *
 * Given content that is in its store may be overwritten without a read: the first write then fills
 * the residency, and the other bytes of the content are lost, in the newest number and those that
 * follow it, until they are overwritten.  No op may read lost bytes, and no kept content may lack
 * them. */
#include <stdio.h>

#include "base/context.h"
#include "verify/schedule/schedule.h"

/* The content of a residency or a store. */
typedef struct version_holder {
  uint32_t content;      /* modification number; 0: no content */
  fs_tick ready;         /* end of the copy that filled it */
  fs_tick last_copy_end; /* latest end of copies that read it */
} version_holder;

enum { LOST = 1 };

typedef struct values {
  fs_vsched *v;
  version_holder *at;    /* per residency */
  version_holder *store; /* per version, where the store is unbounded */
  uint32_t *current;     /* per version */
  fs_tick *last_mod_end; /* per version */
  fs_vmap *lost;         /* per version: bytes of given content, LOST; untouched: none */
} values;

static bool bounded(const fs_memory *m) { return m->capacity != FS_UNBOUNDED; }
static const fs_memory *home_of(const fs_vsched *v, uint32_t version, uint32_t *id) {
  assert(version < v->g->n_versions);
  *id = v->g->buffer_memory[v->g->version_buffer[version]];
  return &v->g->target.memory[*id];
}
static bool spills(const fs_memory *m) {
  return m->backing != FS_NONE && m->spill_domain != FS_NONE;
}
static bool is_given(const fsched_graph *g, uint32_t version) {
  assert(version < g->n_versions);
  uint32_t b = g->version_buffer[version];
  unsigned io = g->buffer_io[b];
  return version == g->buffer_version0[b] && fs_io_given(io);
}
static bool is_kept(const fsched_graph *g, uint32_t version) {
  assert(version < g->n_versions);
  uint32_t b = g->version_buffer[version];
  unsigned io = g->buffer_io[b];
  return version + 1 == g->buffer_version0[b + 1] && fs_io_kept(io);
}

/* --- finding a residency by time --- */

static bool holds(const fs_vsched *v, uint32_t r, uint32_t memory, uint32_t version, fs_tick start,
                  fs_tick end) {
  const fs_schedule *s = v->s;
  return s->res_memory[r] == memory && s->res_version[r] == version && s->res_begin[r] <= start &&
         end <= s->res_end[r];
}

/* The first index in by_place after all residencies of (memory, version) that begin up to
 * `start`. */
static uint32_t upper(const fs_vsched *v, uint32_t memory, uint32_t version, fs_tick start) {
  uint32_t lo = 0, hi = v->n_by_place;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2, r = v->by_place[mid];
    uint32_t m = v->s->res_memory[r], x = v->s->res_version[r];
    bool before = m < memory || (m == memory && x < version) ||
                  (m == memory && x == version && v->s->res_begin[r] <= start);
    if (before) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

/* The stored residency if it holds the interval, else another one that does, else FS_NONE.  More
 * than one can hold it only where residencies touch and the item takes no time. */
static uint32_t find_holder(const fs_vsched *v, uint32_t stored, uint32_t memory, uint32_t version,
                            fs_tick start, fs_tick end) {
  if (stored != FS_NONE && stored < v->s->n_residencies &&
      holds(v, stored, memory, version, start, end)) {
    return stored;
  }
  uint32_t i = upper(v, memory, version, start);
  for (uint32_t tries = 0; i > 0 && tries < 3; tries++) {
    uint32_t r = v->by_place[--i];
    if (holds(v, r, memory, version, start, end)) {
      return r;
    }
  }
  return FS_NONE;
}

/* --- places of args --- */

static uint32_t arg_place(values *w, uint32_t op, uint32_t arg, bool report) {
  const fs_vsched *v = w->v;
  uint32_t memory, version = v->g->arg_version[arg];
  if (!bounded(home_of(v, version, &memory))) {
    return FS_NONE;
  }
  uint32_t stored = v->s->arg_residency == NULL ? FS_NONE : v->s->arg_residency[arg];
  uint32_t r = find_holder(v, stored, memory, version, v->s->start[op], v->s->end[op]);
  if (report && (r == FS_NONE || (stored != FS_NONE && stored != r))) {
    char name[FS_SNAME];
    FS_REFUTE(w->v, FS_DIAG_VERIFY_ACCESS, "%s: argument %u lies outside the %s of %s",
              fs_vsched_item(v, op, name), arg - v->g->op_arg0[op],
              r == FS_NONE ? "residencies" : "stored residency",
              v->g->buffer_name[v->g->arg_buffer[arg]]);
  }
  return r;
}

static void wrong_content(values *w, uint32_t item, uint32_t version, const char *what) {
  const fsched_graph *g = w->v->g;
  uint32_t b = g->version_buffer[version];
  char name[FS_SNAME];
  FS_REFUTE(w->v, FS_DIAG_VERIFY_CONTENT, "%s %s of %s.%u", fs_vsched_item(w->v, item, name), what,
            g->buffer_name[b], version - g->buffer_version0[b]);
}

static bool is_access(const fsched_graph *g, uint32_t arg) {
  return fs_tag_accesses(g->arg_tag[arg]) && g->arg_version[arg] != FS_NONE;
}

/* --- bytes that are lost --- */

static bool any_lost(const values *w, uint32_t version, uint64_t lo, uint64_t hi) {
  assert(lo < hi);
  const fs_vmap *map = &w->lost[version];
  if (map->chunk == NULL) {
    return false;
  }
  fs_vmap_cursor at = fs_vmap_find(map, lo);
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= hi) {
      return false;
    }
    if (e->value == LOST) {
      return true;
    }
  } while (fs_vmap_next(map, &at));
  return false;
}

static fs_status set_lost(values *w, uint32_t version, uint64_t lo, uint64_t hi, uint32_t value) {
  assert(lo < hi);
  fs_vmap *map = &w->lost[version];
  fs_vmap_cursor at;
  bool fresh;
  FS_TRY(fs_vmap_cut(&w->v->arena, map, hi, &at, &fresh));
  FS_TRY(fs_vmap_cut(&w->v->arena, map, lo, &at, &fresh));
  fs_vmap_clear_inside(map, lo, hi);
  fs_vmap_at(map, fs_vmap_find(map, lo))->value = value;
  return FSCHED_OK;
}

/* Whether the residency begins with this write, while the given content is in its store alone. */
static bool loses_given(const values *w, uint32_t version, const version_holder *h) {
  uint32_t memory;
  return h->content == 0 && w->current[version] == 1 && is_given(w->v->g, version) &&
         spills(home_of(w->v, version, &memory));
}

/* Updates the version's lost bytes when the arg writes the residency. */
static fs_status lose(values *w, uint32_t arg, const version_holder *h) {
  const fsched_graph *g = w->v->g;
  uint32_t version = g->arg_version[arg];
  if (loses_given(w, version, h)) {
    FS_TRY(set_lost(w, version, 0, fs_max(fs_version_size(g, version), 1), LOST));
  }
  if (w->lost[version].chunk == NULL || fs_arg_coarse(g, arg)) { /* some bytes stay lost */
    return FSCHED_OK;
  }
  fs_view_runs runs = fs_arg_pieces(g, arg);
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    FS_TRY(set_lost(w, version, at.low, at.high, FS_NONE));
  }
  return FSCHED_OK;
}

static bool reads_lost(const values *w, uint32_t arg) {
  const fsched_graph *g = w->v->g;
  if (w->lost[g->arg_version[arg]].chunk == NULL) {
    return false;
  }
  fs_view_runs runs = fs_arg_pieces(g, arg);
  bool lost = false;
  for (fs_view_walk at = {.at = 0}; !lost && fs_view_walk_on(&runs, &at);) {
    lost = any_lost(w, g->arg_version[arg], at.low, at.high);
  }
  return lost;
}

/* --- ops --- */

static void read_arg(values *w, uint32_t op, uint32_t arg) {
  const fsched_graph *g = w->v->g;
  uint32_t r = arg_place(w, op, arg, true), version = g->arg_version[arg];
  if (r == FS_NONE) {
    return;
  }
  if (reads_lost(w, arg)) {
    wrong_content(w, op, version, "reads given content that was not loaded");
  }
  if (w->current[version] == 0 || w->at[r].content != w->current[version]) {
    wrong_content(w, op, version, "finds no or old content");
  } else if (w->at[r].ready > w->v->s->start[op]) {
    wrong_content(w, op, version, "starts before the end of the read");
  }
}

static fs_status write_arg(values *w, uint32_t op, uint32_t arg) {
  const fsched_graph *g = w->v->g;
  const fs_schedule *s = w->v->s;
  uint32_t version = g->arg_version[arg];
  uint32_t r = arg_place(w, op, arg, !fs_tag_reads(g->arg_tag[arg]));
  if (r == FS_NONE) {
    return FSCHED_OK;
  }
  version_holder *h = &w->at[r];
  bool whole = fs_arg_whole(g, arg);
  if (h->content == 0 && s->res_begin[r] != s->start[op]) {
    char name[FS_SNAME];
    FS_REFUTE(w->v, FS_DIAG_VERIFY_RESIDENCY, "%s does not begin with its first writer",
              fs_vsched_residency(w->v, r, name));
  }
  if (!whole && h->content != w->current[version] && !loses_given(w, version, h)) {
    wrong_content(w, op, version, "modifies old content");
  }
  if (h->ready > s->start[op] || h->last_copy_end > s->start[op]) {
    wrong_content(w, op, version, "modifies during a copy the content");
  }
  FS_TRY(lose(w, arg, h));
  h->content = ++w->current[version];
  w->last_mod_end[version] = fs_max(w->last_mod_end[version], s->end[op]);
  return FSCHED_OK;
}

static fs_status one_op(values *w, uint32_t op) {
  assert(op < w->v->g->n_ops);
  const fsched_graph *g = w->v->g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (is_access(g, a) && fs_tag_reads(g->arg_tag[a])) {
      read_arg(w, op, a);
    }
  }
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (is_access(g, a) && fs_tag_writes(g->arg_tag[a])) {
      FS_TRY(write_arg(w, op, a));
    }
  }
  return FSCHED_OK;
}

/* --- copies --- */

/* The store side of a copy; NULL, after a report, when there is none. */
static version_holder *store_side(values *w, uint32_t item, const fs_memory *m,
                                  uint32_t *residency) {
  const fs_schedule *s = w->v->s;
  uint32_t copy = fs_vsched_copy(w->v, item), version = s->copy_version[copy];
  *residency = FS_NONE;
  if (!bounded(&w->v->g->target.memory[m->backing])) {
    return &w->store[version];
  }
  *residency =
      find_holder(w->v, s->copy_store[copy], m->backing, version, s->start[item], s->end[item]);
  return *residency == FS_NONE ? NULL : &w->at[*residency];
}

static void wrong_copy(values *w, uint32_t item, const char *what) {
  char name[FS_SNAME];
  FS_REFUTE(w->v, FS_DIAG_VERIFY_COPY, "%s %s", fs_vsched_item(w->v, item, name), what);
}

/* Checks that a residency which a copy fills begins with the copy. */
static void begins_with(values *w, uint32_t item, uint32_t r, const version_holder *h) {
  if (r != FS_NONE && h->content == 0 && w->v->s->res_begin[r] != w->v->s->start[item]) {
    char name[FS_SNAME];
    FS_REFUTE(w->v, FS_DIAG_VERIFY_RESIDENCY, "%s does not begin with the copy that fills it",
              fs_vsched_residency(w->v, r, name));
  }
}

static void one_copy(values *w, uint32_t item) {
  const fs_schedule *s = w->v->s;
  uint32_t copy = fs_vsched_copy(w->v, item), version = s->copy_version[copy], memory;
  const fs_memory *m = home_of(w->v, version, &memory);
  if (!bounded(m) || !spills(m)) {
    wrong_copy(w, item, "is of a memory that does not spill");
    return;
  }
  uint32_t stored = s->copy_residency[copy], rs;
  uint32_t r = find_holder(w->v, stored, memory, version, s->start[item], s->end[item]);
  version_holder *store = store_side(w, item, m, &rs);
  if (r == FS_NONE || store == NULL || (stored != FS_NONE && stored != r)) {
    wrong_copy(w, item,
               r == FS_NONE || store == NULL ? "has no residency on one side"
                                             : "is outside its stored residency");
    return;
  }
  bool write = s->copy_kind[copy] == FS_SPILL_WRITE;
  version_holder *from = write ? &w->at[r] : store, *to = write ? store : &w->at[r];
  if (w->current[version] == 0 || from->content != w->current[version] ||
      from->ready > s->start[item]) {
    wrong_content(w, item, version, "copies no or old content");
  }
  if (w->last_mod_end[version] > s->start[item]) {
    wrong_content(w, item, version, "runs beside a modification");
  }
  if (to->last_copy_end > s->start[item] || to->ready > s->start[item] ||
      (!write && to->content != 0)) {
    wrong_copy(w, item, "overwrites what is in use");
  }
  begins_with(w, item, write ? rs : r, to);
  from->last_copy_end = fs_max(from->last_copy_end, s->end[item]);
  to->content = w->current[version];
  to->ready = s->end[item];
}

/* --- begin and end --- */

/* Puts given content into the store or, where no copy can bring it from there, into a residency
 * from 0. */
static void put_given(values *w, uint32_t version) {
  uint32_t memory;
  const fs_memory *m = home_of(w->v, version, &memory);
  w->current[version] = 1;
  if (!bounded(m)) {
    return;
  }
  bool away = spills(m);
  if (away && !bounded(&w->v->g->target.memory[m->backing])) {
    w->store[version].content = 1;
    return;
  }
  uint32_t r = find_holder(w->v, FS_NONE, away ? m->backing : memory, version, 0, 0);
  if (r != FS_NONE) {
    w->at[r].content = 1;
  }
}

static void check_kept(values *w, uint32_t version) {
  const fs_vsched *v = w->v;
  const fs_schedule *s = v->s;
  uint32_t memory;
  const fs_memory *m = home_of(v, version, &memory);
  if (!bounded(m)) {
    return;
  }
  bool away = spills(m), ok;
  if (away && !bounded(&v->g->target.memory[m->backing])) {
    ok = w->store[version].content == w->current[version];
  } else {
    uint32_t i = upper(v, away ? m->backing : memory, version, s->makespan);
    uint32_t r = i == 0 ? FS_NONE : v->by_place[i - 1];
    ok = r != FS_NONE && s->res_version[r] == version &&
         s->res_memory[r] == (away ? m->backing : memory) && s->res_end[r] >= s->makespan &&
         w->at[r].content == w->current[version];
  }
  ok = ok && !any_lost(w, version, 0, fs_max(fs_version_size(v->g, version), 1));
  if (!ok || w->current[version] == 0) {
    uint32_t b = v->g->version_buffer[version];
    FS_REFUTE(w->v, FS_DIAG_VERIFY_KEPT, "%s.%u is not %s at the end", v->g->buffer_name[b],
              version - v->g->buffer_version0[b], away ? "in its store" : "in its memory");
  }
}

static void check_filled(values *w) {
  char name[FS_SNAME];
  for (uint32_t r = 0; r < w->v->s->n_residencies; r++) {
    if (w->v->s->res_version[r] != FS_NONE && w->at[r].content == 0) {
      FS_REFUTE(w->v, FS_DIAG_VERIFY_RESIDENCY, "%s begins with no writer and no copy",
                fs_vsched_residency(w->v, r, name));
    }
  }
}

fs_status fs_vsched_values(fs_vsched *v) {
  assert(v->by_place != NULL || v->s->n_residencies == 0);
  values w = {.v = v};
  uint32_t n = v->g->n_versions;
  FS_TRY(fs_new_zero(&v->arena, &w.at, v->s->n_residencies));
  FS_TRY(fs_new_zero(&v->arena, &w.store, n));
  FS_TRY(fs_new_zero(&v->arena, &w.current, n));
  FS_TRY(fs_new_zero(&v->arena, &w.last_mod_end, n));
  FS_TRY(fs_new_zero(&v->arena, &w.lost, n));
  for (uint32_t i = 0; i < n; i++) {
    if (is_given(v->g, i)) {
      put_given(&w, i);
    }
  }
  for (uint32_t i = 0; i < v->s->n_items; i++) {
    uint32_t item = v->s->order[i];
    if (item < v->g->n_ops) {
      FS_TRY(one_op(&w, item));
    } else {
      one_copy(&w, item);
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (is_kept(v->g, i)) {
      check_kept(&w, i);
    }
  }
  check_filled(&w);
  return FSCHED_OK;
}
