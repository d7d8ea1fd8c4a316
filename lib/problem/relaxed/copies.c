/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that every schedule has.
 *
 * Given content that is used is read first; kept content that some op writes is written back last.
 *
 * A version is not in its memory while an op runs that leaves no room for it.  Where such ops lie
 * between two accesses, the version has left before the first of them and returns behind the last:
 *
 *      w ---> write ---> x ---> read ---> r          x takes more than the capacity less the
 *        \-------------> y ------^                   version's size, and so does y
 *
 * The read is one of its own for each such place of a chain of accesses; the write is needed once
 * for each writer, and is the write-back where that must come before x anyway.
 *
 * A version that may return without a read, as an op writes over all of it, has none of this. */
#include "model/overwritten.h"
#include "problem/relaxed/private.h"

enum { MOST_USERS = 64 };

typedef struct version_copies {
  fs_relaxing *s;
  uint32_t v, n;
  const uint32_t *op;      /* those that access the version, in topological order */
  bool writes[MOST_USERS]; /* per op */
  uint32_t n_writers;
  uint32_t n_big; /* ops that leave no room for the version */
  uint32_t *big;
  uint32_t read, write; /* items of the needed copies, or FS_NONE */
  /* A place where the version is out, of the best chain of places that ends with the op behind it:
   * their number, the op before it (FS_NONE: there is none) and, per op, the op behind the last
   * place of the best chain up to it. */
  uint32_t places[MOST_USERS], from[MOST_USERS], behind[MOST_USERS];
} version_copies;

static bool writes_version(const fsched_graph *g, uint32_t op, uint32_t v) {
  bool writes = false;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    writes =
        writes || (fs_arg_accesses(g, a) && g->arg_version[a] == v && fs_tag_writes(g->arg_tag[a]));
  }
  return writes;
}

/* May the version return to its memory without a read? */
static bool returns_alone(const version_copies *c) {
  const fsched_graph *g = c->s->g;
  bool alone = c->n_writers > 1 && fs_hazards_data_only(g->hazards);
  for (uint32_t i = 0; i < c->n && !alone; i++) {
    uint32_t op = c->op[i];
    bool wants = i == 0 && !fs_version_given(g, c->v);
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (fs_arg_accesses(g, a) && g->arg_version[a] == c->v) {
        wants = wants || fs_tag_reads(g->arg_tag[a]) ||
                (!fs_version_given(g, c->v) && !fs_arg_whole(g, a));
      }
    }
    alone = !wants;
  }
  return alone;
}

/* ---- needed copies */

static fs_status add_copy(version_copies *c, fs_copy_kind kind, uint32_t *item) {
  return fs_problem_add_copy(&c->s->d, kind, c->v, FS_NONE, FS_NONE, item);
}

static fs_status add_needed(version_copies *c) {
  const fsched_graph *g = c->s->g;
  fs_problem_draft *d = &c->s->d;
  c->read = c->write = FS_NONE;
  if (fs_version_load_needed(g, c->v) && !fs_version_load_races(g, c->v)) {
    FS_TRY(add_copy(c, FS_SPILL_READ, &c->read));
    for (uint32_t i = 0; i < c->n; i++) {
      FS_TRY(fs_problem_add_edge(d, c->read, c->op[i]));
    }
  }
  if (fs_problem_needs_write(g, c->v)) {
    FS_TRY(add_copy(c, FS_SPILL_WRITE, &c->write));
    for (uint32_t i = 0; i < c->n; i++) {
      if (writes_version(g, c->op[i], c->v)) {
        FS_TRY(fs_problem_add_edge(d, c->op[i], c->write));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- forced copies */

static bool accesses(const version_copies *c, uint32_t op) {
  bool any = false;
  for (uint32_t i = 0; i < c->n; i++) {
    any = any || c->op[i] == op;
  }
  return any;
}

static fs_status list_big(version_copies *c) {
  const fsched_graph *g = c->s->g;
  uint32_t m = fs_version_memory(g, c->v);
  uint64_t size = fs_relaxing_size(c->s, c->v), capacity = g->target.memory[m].capacity;
  FS_TRY(fs_new(&c->s->d.scratch, &c->big, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops && size > 0; op++) {
    if (c->s->need[m][op] + size > capacity && g->op_time[op] > 0 && !accesses(c, op)) {
      c->big[c->n_big++] = op;
    }
  }
  return FSCHED_OK;
}

static uint32_t places_up_to(const version_copies *c, uint32_t op) {
  return c->behind[op] == FS_NONE ? 0 : c->places[c->behind[op]];
}

/* Is there an op without room between the two? */
static bool is_out_between(const version_copies *c, uint32_t from, uint32_t to) {
  bool out = false;
  for (uint32_t b = 0; b < c->n_big; b++) {
    out = out || (fs_relaxing_after(c->s, c->op[from], c->big[b]) &&
                  fs_relaxing_after(c->s, c->big[b], c->op[to]));
  }
  return out;
}

/* Finds the chain with the most places; of equal ones, that with the latest ops before and the
 * earliest behind them.  Returns the op behind its last place, or FS_NONE. */
static uint32_t find_chain(version_copies *c) {
  uint32_t end = FS_NONE;
  for (uint32_t k = 0; k < c->n; k++) {
    c->places[k] = 0;
    c->behind[k] = c->from[k] = FS_NONE;
    for (uint32_t i = 0; i < k; i++) {
      if (places_up_to(c, i) + 1 >= c->places[k] && is_out_between(c, i, k)) {
        c->places[k] = places_up_to(c, i) + 1;
        c->from[k] = i;
      }
    }
    for (uint32_t i = 0; i <= k; i++) {
      bool before = i == k || fs_relaxing_after(c->s, c->op[i], c->op[k]);
      c->behind[k] = before && c->places[i] > places_up_to(c, k) ? i : c->behind[k];
    }
    end = c->places[k] > (end == FS_NONE ? 0 : c->places[end]) ? k : end;
  }
  return end;
}

/* The item that writes what `writer` has left, before the version is out behind `from`; FS_NONE:
 * it is not known to be needed. */
static fs_status find_write(version_copies *c, uint32_t writer, bool last, uint32_t *item) {
  *item = FS_NONE;
  if (c->write != FS_NONE && last) {
    *item = c->n_writers == 1 ? c->write : FS_NONE;
    return FSCHED_OK;
  }
  FS_TRY(add_copy(c, FS_SPILL_WRITE, item));
  return fs_problem_add_edge(&c->s->d, c->op[writer], *item);
}

/* Adds the copies of a place between two ops of the chain.  `writer`: what it has left is in no
 * store; FS_NONE: all is.  `last`: no op behind writes any more. */
static fs_status add_place(version_copies *c, uint32_t from, uint32_t to, uint32_t writer,
                           bool last) {
  fs_problem_draft *d = &c->s->d;
  uint32_t read, write = FS_NONE;
  FS_TRY(add_copy(c, FS_SPILL_READ, &read));
  FS_TRY(fs_problem_add_edge(d, read, c->op[to]));
  if (writer != FS_NONE) {
    FS_TRY(find_write(c, writer, last, &write));
  }
  for (uint32_t b = 0; b < c->n_big; b++) {
    uint32_t big = c->big[b];
    if (!fs_relaxing_after(c->s, c->op[from], big) || !fs_relaxing_after(c->s, big, c->op[to])) {
      continue;
    }
    FS_TRY(fs_problem_add_edge(d, big, read));
    if (write != FS_NONE) {
      FS_TRY(fs_problem_add_edge(d, write, big));
    }
  }
  return FSCHED_OK;
}

/* The last writer up to an op that comes behind the place before it (which begins with `before`;
 * FS_NONE: there is none); FS_NONE: what the op finds is stored. */
static uint32_t writer_up_to(const version_copies *c, uint32_t op, uint32_t before) {
  for (uint32_t i = op + 1; i-- > 0;) {
    if (c->writes[i] && (i == op || fs_relaxing_after(c->s, c->op[i], c->op[op])) &&
        (before == FS_NONE || is_out_between(c, before, i))) {
      return i;
    }
  }
  return FS_NONE;
}

/* Does no writer come behind the op, nor is it one? */
static bool is_written_last(const version_copies *c, uint32_t op) {
  bool last = true;
  for (uint32_t i = op; i < c->n; i++) {
    last = last && !(c->writes[i] && (i == op || fs_relaxing_after(c->s, c->op[op], c->op[i])));
  }
  return last;
}

static fs_status add_forced(version_copies *c) {
  for (uint32_t k = find_chain(c); k != FS_NONE; k = c->behind[c->from[k]]) {
    uint32_t from = c->from[k], place = c->behind[from];
    uint32_t writer = writer_up_to(c, from, place == FS_NONE ? FS_NONE : c->from[place]);
    FS_TRY(add_place(c, from, k, writer, is_written_last(c, k)));
  }
  return FSCHED_OK;
}

/* The first read of a version with one access comes behind the ops before it that leave it no room,
 * and the write-back behind a single writer before those behind it. */
static fs_status order_needed(version_copies *c) {
  for (uint32_t b = 0; b < c->n_big; b++) {
    uint32_t big = c->big[b];
    if (c->read != FS_NONE && c->n == 1 && fs_relaxing_after(c->s, big, c->op[0])) {
      FS_TRY(fs_problem_add_edge(&c->s->d, big, c->read));
    }
    for (uint32_t i = 0; i < c->n && c->write != FS_NONE && c->n_writers == 1; i++) {
      if (c->writes[i] && fs_relaxing_after(c->s, c->op[i], big)) {
        FS_TRY(fs_problem_add_edge(&c->s->d, c->write, big));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status copy_version(fs_relaxing *s, uint32_t v) {
  const fsched_graph *g = s->g;
  version_copies c = {.s = s, .v = v, .op = s->user + s->user0[v]};
  c.n = s->user0[v + 1] - s->user0[v];
  FS_TRY(add_needed(&c));
  if (!fs_relaxing_short(s, fs_version_memory(g, v)) || c.n == 0 || c.n > MOST_USERS) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < c.n; i++) {
    c.writes[i] = writes_version(g, c.op[i], v);
    c.n_writers += c.writes[i];
  }
  if (returns_alone(&c)) {
    return FSCHED_OK;
  }
  fs_arena_mark mark = fs_arena_set_mark(&s->d.scratch);
  FS_TRY(list_big(&c));
  FS_TRY(add_forced(&c));
  FS_TRY(order_needed(&c));
  fs_arena_reset(&s->d.scratch, mark);
  return FSCHED_OK;
}

fs_status fs_relaxing_copies(fs_relaxing *s) {
  assert(s->after.bit != NULL || s->g->n_ops == 0);
  for (uint32_t v = 0; v < s->g->n_versions; v++) {
    if (fs_version_spills(s->g, v)) {
      FS_TRY(copy_version(s, v));
    }
  }
  return FSCHED_OK;
}
