/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/proof/point_proof.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the header */

static bool is_kind(const point_thing *t, const char *word) { return strcmp(t->word, word) == 0; }

static uint32_t find_thing(const point_proof *x, const char *word, const uint32_t *at) {
  for (uint32_t k = x->g->n_ops; k < x->n; k++) {
    const point_thing *t = &x->thing[k];
    if (is_kind(t, word) && t->at[0] == at[0] && t->at[1] == at[1] && t->at[2] == at[2]) {
      return k;
    }
  }
  return FS_NONE;
}

bool fs_point_read(point_proof *x, const fsched_graph *g, const char *proof) {
  const char *at = strstr(proof, "\nopen\n") + strlen("\nopen\n");
  memset(x, 0, sizeof *x);
  x->g = g;
  x->head = proof;
  x->head_length = (size_t)(strstr(proof, "begin\n") - proof);
  for (x->n = 0; x->n < g->n_ops; x->n++) {
    x->thing[x->n] = (point_thing){.word = "op", .owner = FS_NONE};
  }
  x->n_items = x->n;
  for (; strncmp(at, "unit ", 5) != 0; at = strchr(at, '\n') + 1) {
    if (x->n == POINT_MOST) {
      return false;
    }
    point_thing *t = &x->thing[x->n++];
    t->owner = FS_NONE;
    t->n = sscanf(at, "%7s %u %u %u %u %u %u %u", t->word, &t->at[0], &t->at[1], &t->at[2],
                  &t->at[3], &t->at[4], &t->at[5], &t->at[6]) -
           1;
    bool copy = is_kind(t, "read") || is_kind(t, "write"), end = is_kind(t, "stay");
    x->n_items += copy;
    x->n_ends += end;
    t->boolean = !copy && !end;
  }
  x->unit = strtoull(at + 5, NULL, 10);
  for (at = strchr(at, '\n') + 1; strncmp(at, "set ", 4) == 0; at = strchr(at, '\n') + 1) {
    x->n_sets++;
  }
  for (uint32_t k = g->n_ops; k < x->n; k++) {
    point_thing *t = &x->thing[k];
    if (!t->boolean && t->n == 3) {
      t->owner = find_thing(x, is_kind(t, "write") ? "stored" : "first", t->at);
    }
  }
  return true;
}

/* ---- the schedule */

static uint32_t version_at(const point_proof *x, const uint32_t *at) {
  return x->g->buffer_version0[at[0]] + at[1];
}

static uint32_t residency_of(const point_proof *x, uint32_t op, uint32_t version) {
  for (uint32_t a = x->g->op_arg0[op]; a < x->g->op_arg0[op + 1]; a++) {
    if (x->g->arg_version[a] == version && fs_tag_accesses(x->g->arg_tag[a])) {
      return x->s->arg_residency[a];
    }
  }
  return FS_NONE;
}

/* The first op in a residency. */
static uint32_t first_in(const point_proof *x, uint32_t residency) {
  uint32_t first = FS_NONE, version = x->s->res_version[residency];
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    if (residency_of(x, op, version) == residency &&
        (first == FS_NONE || x->s->start[op] < x->s->start[first])) {
      first = op;
    }
  }
  return first;
}

static bool op_writes(const point_proof *x, uint32_t op, uint32_t version) {
  bool writes = false;
  for (uint32_t a = x->g->op_arg0[op]; a < x->g->op_arg0[op + 1]; a++) {
    writes = writes || (x->g->arg_version[a] == version && fs_tag_writes(x->g->arg_tag[a]));
  }
  return writes;
}

/* The first copy of the version that begins at a time or later; FS_NONE: there is none. */
static uint32_t copy_from(const point_proof *x, fs_copy_kind kind, uint32_t version, fs_tick from) {
  uint32_t best = FS_NONE;
  for (uint32_t c = 0; c < x->s->n_copies; c++) {
    uint32_t item = x->g->n_ops + c;
    if (x->s->copy_version[c] == version && x->s->copy_kind[c] == kind &&
        x->s->start[item] >= from && (best == FS_NONE || x->s->start[item] < x->s->start[best])) {
      best = item;
    }
  }
  return best;
}

/* The last op that writes the version and is over at a time. */
static uint32_t writer_at(const point_proof *x, uint32_t version, fs_tick at) {
  uint32_t last = FS_NONE;
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    if (residency_of(x, op, version) != FS_NONE && op_writes(x, op, version) &&
        x->s->end[op] <= at && (last == FS_NONE || x->s->end[op] > x->s->end[last])) {
      last = op;
    }
  }
  return last;
}

/* Is what the op leaves read into a stay that the header has a read of, or kept? */
static bool is_stored(const point_proof *x, uint32_t op, const uint32_t *at) {
  uint32_t version = version_at(x, at);
  bool stored = fs_version_kept(x->g, version) && writer_at(x, version, FS_TICK_NONE) == op;
  for (uint32_t k = x->g->n_ops; k < x->n_items; k++) {
    const point_thing *t = &x->thing[k];
    if (is_kind(t, "read") && t->n == 3 && t->at[0] == at[0] && t->at[1] == at[1]) {
      uint32_t r = residency_of(x, t->at[2], version);
      stored = stored ||
               (first_in(x, r) == t->at[2] && writer_at(x, version, x->s->start[t->at[2]]) == op);
    }
  }
  return stored;
}

static void take_copy(point_proof *x, point_thing *t) {
  uint32_t version = version_at(x, t->at), item;
  bool read = is_kind(t, "read");
  t->there = true;
  if (t->n == 2 && read) {
    item = copy_from(x, FS_SPILL_READ, version, 0);
  } else if (t->n == 2) {
    uint32_t last = writer_at(x, version, FS_TICK_NONE);
    item = copy_from(x, FS_SPILL_WRITE, version, x->s->end[last]);
  } else if (read) {
    uint32_t r = residency_of(x, t->at[2], version);
    t->there = first_in(x, r) == t->at[2];
    item = t->there ? copy_from(x, FS_SPILL_READ, version, x->s->res_begin[r]) : FS_NONE;
  } else {
    t->there = is_stored(x, t->at[2], t->at);
    item = t->there ? copy_from(x, FS_SPILL_WRITE, version, x->s->end[t->at[2]]) : FS_NONE;
  }
  if (t->there) {
    t->value = x->s->start[item];
    t->end = x->s->end[item];
  }
}

/* Behind all ops in the residency, and the writes from it that the header has. */
static void take_end(point_proof *x, point_thing *t) {
  uint32_t version = version_at(x, t->at), r = FS_NONE;
  for (uint32_t k = 0; k < x->s->n_residencies && t->n == 2; k++) {
    r = x->s->res_version[k] == version ? k : r;
  }
  r = t->n == 3 ? residency_of(x, t->at[2], version) : r;
  t->there = t->n == 2 || first_in(x, r) == t->at[2];
  t->value = t->n == 2 && fs_version_kept(x->g, version) ? x->s->makespan : 0;
  for (uint32_t op = 0; op < x->g->n_ops && t->there; op++) {
    if (residency_of(x, op, version) == r) {
      t->value = fs_max(t->value, x->s->end[op]);
    }
  }
  for (uint32_t k = x->g->n_ops; k < x->n_items && t->there && t->n == 3; k++) {
    const point_thing *w = &x->thing[k];
    if (is_kind(w, "write") && w->there && w->at[0] == t->at[0] && w->at[1] == t->at[1] &&
        w->n == 3 && residency_of(x, w->at[2], version) == r) {
      t->value = fs_max(t->value, w->end);
    }
  }
}

static bool shares_place(const point_proof *x, const uint32_t *at) {
  uint32_t in = residency_of(x, at[0], version_at(x, at + 1));
  uint32_t out = residency_of(x, at[0], version_at(x, at + 3));
  const fs_schedule *s = x->s;
  return fs_placement_has_addresses(x->g->target.memory[s->res_memory[in]].placement) &&
         s->res_address[in] == s->res_address[out] && s->res_end[in] <= s->end[at[0]] &&
         s->res_begin[out] == s->start[at[0]];
}

static uint32_t item_in_schedule(const point_proof *x, uint32_t item) {
  const point_thing *t = &x->thing[item];
  if (item < x->g->n_ops) {
    return item;
  }
  return copy_from(x, is_kind(t, "read") ? FS_SPILL_READ : FS_SPILL_WRITE, version_at(x, t->at),
                   t->value);
}

static bool holds(const point_proof *x, const point_thing *t) {
  const uint32_t *at = t->at;
  if (is_kind(t, "both")) {
    return x->thing[at[0]].value != 0 && x->thing[at[1]].value != 0;
  }
  if (is_kind(t, "not")) {
    return x->thing[at[0]].value == 0;
  }
  if (is_kind(t, "place")) {
    return shares_place(x, at);
  }
  if (is_kind(t, "stored")) {
    return is_stored(x, at[2], at);
  }
  if (is_kind(t, "on")) {
    bool on = false;
    uint32_t item = x->thing[at[0]].there ? item_in_schedule(x, at[0]) : FS_NONE;
    for (int k = 1; k < t->n && item != FS_NONE; k++) {
      on = on || x->s->queue[item] == at[k];
    }
    return on;
  }
  uint32_t first = first_in(x, residency_of(x, at[2], version_at(x, at)));
  return is_kind(t, "first") ? first == at[2] : first == at[3] && at[2] != at[3];
}

bool fs_point_take(point_proof *x, const fs_schedule *s) {
  bool multiples = true;
  x->s = s;
  for (uint32_t k = 0; k < x->n; k++) {
    point_thing *t = &x->thing[k];
    if (k < x->g->n_ops) {
      t->there = true;
      t->value = s->start[k];
      t->end = s->end[k];
    } else if (k < x->n_items) {
      take_copy(x, t);
    } else if (!t->boolean) {
      take_end(x, t);
    } else {
      t->there = true;
      t->value = holds(x, t);
    }
    multiples = multiples && (t->boolean || !t->there || t->value % x->unit == 0);
  }
  return multiples;
}
