/* SPDX-License-Identifier: Apache-2.0 */
/* Longest paths, kept closed.
 *
 * An arc from -> to changes the path i -> j only if it is better both for i -> to and for
 * from -> j, so an insertion looks at those rows and columns alone.
 *
 * At the root, arcs between ops of different parts (strongly connected ones) are dropped: queues
 * and lanes care for starts modulo the period alone, so a part can be moved by whole periods until
 * all arcs from earlier parts hold.  Thus they never matter, unless the makespan is limited. */
#include "modulo/state.h"

bool fs_modulo_set(fs_modulo_state *s, uint32_t cell, int64_t value) {
  fs_modulo_undo undo = {cell, s->cell[cell]};
  if (fs_vec_push(s->ctx, &s->trail, undo) != FSCHED_OK) {
    s->status = FSCHED_SYSTEM;
    return false;
  }
  s->cell[cell] = value;
  return true;
}

void fs_modulo_undo_to(fs_modulo_state *s, size_t length) {
  assert(length <= s->trail.n);
  while (s->trail.n > length) {
    fs_modulo_undo undo = s->trail.at[--s->trail.n];
    s->cell[undo.cell] = undo.old;
  }
  while (s->n_waiting > 0) {
    s->is_waiting[s->waiting[--s->n_waiting]] = false;
  }
}

static void wake_pairs(fs_modulo_state *s, uint32_t i, uint32_t j) {
  uint32_t first = i < j ? i * s->n + j : j * s->n + i;
  for (uint32_t k = s->first_pair[first]; k != FS_NONE; k = s->pair[k].next) {
    if (!s->is_waiting[k] && s->cell[s->pair0 + k] == FS_MODULO_OPEN) {
      s->is_waiting[k] = true;
      s->waiting[s->n_waiting++] = k;
    }
  }
}

static bool lengthen_path(fs_modulo_state *s, uint32_t i, uint32_t j, int64_t path) {
  if (path > fs_modulo_path(s, i, j)) {
    if (!fs_modulo_set(s, i * s->n + j, path)) {
      return false;
    }
    wake_pairs(s, i, j);
  }
  return true;
}

bool fs_modulo_insert(fs_modulo_state *s, uint32_t from, uint32_t to, int64_t weight) {
  assert(from < s->n && to < s->n);
  int64_t back = fs_modulo_path(s, to, from);
  if (fs_modulo_path(s, from, to) >= weight) {
    return true;
  }
  if (from == to || (back != FS_MODULO_FAR && back + weight > 0)) {
    return false;
  }
  uint32_t rows = 0, columns = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    int64_t before = fs_modulo_path(s, i, from), behind = fs_modulo_path(s, to, i);
    if (before != FS_MODULO_FAR && before + weight > fs_modulo_path(s, i, to)) {
      s->row[rows++] = i;
    }
    if (behind != FS_MODULO_FAR && behind + weight > fs_modulo_path(s, from, i)) {
      s->column[columns++] = i;
    }
  }
  s->steps += 1 + s->n + (uint64_t)rows * columns;
  for (uint32_t r = 0; r < rows; r++) {
    int64_t before = fs_modulo_path(s, s->row[r], from) + weight;
    for (uint32_t c = 0; c < columns; c++) {
      int64_t path = before + fs_modulo_path(s, to, s->column[c]);
      if (!lengthen_path(s, s->row[r], s->column[c], path)) {
        return false;
      }
    }
  }
  s->rings_wait = true;
  return true;
}

/* The delay of an arc. */
static int64_t arc_weight(const fs_modulo_state *s, const fs_modulo_arc *a) {
  return a->delay * s->scale - a->distance * s->period;
}

static void find_parts(fs_modulo_state *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    s->part[i] = i;
    for (uint32_t j = 0; j < i; j++) {
      bool there = fs_modulo_path(s, i, j) != FS_MODULO_FAR;
      bool back = fs_modulo_path(s, j, i) != FS_MODULO_FAR;
      if (there && back && s->part[i] == i) {
        s->part[i] = s->part[j];
      }
      if (there != back) {
        s->cell[i * s->n + j] = s->cell[j * s->n + i] = FS_MODULO_FAR;
      }
    }
  }
}

/* No op of an iteration ends later than the makespan after the start of another one. */
static bool limit_makespan(fs_modulo_state *s) {
  for (uint32_t i = 0; i < s->n && s->q->makespan >= 0; i++) {
    uint32_t first = i - i % s->b->p->n; /* of its copy */
    for (uint32_t j = first; j < first + s->b->p->n; j++) {
      int64_t weight = s->b->latency[i] * s->scale - s->q->makespan;
      if (!fs_modulo_insert(s, i, j, weight)) {
        return false;
      }
    }
  }
  return true;
}

/* Puts in the orders that rings give to ops that have one queue, the same.  So they are of one
 * part; where a depth is given, others are, too. */
static bool insert_given(fs_modulo_state *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    const fs_modulo_pair *x = &s->pair[k];
    uint64_t domain = fs_modulo_domain(s, x->claim_a);
    if (!x->given || !fs_modulo_single(domain) || domain != fs_modulo_domain(s, x->claim_b)) {
      continue;
    }
    int64_t first = s->b->claim[x->claim_a].hold * s->scale;
    int64_t second = s->b->claim[x->claim_b].hold * s->scale;
    if (!fs_modulo_insert(s, x->a, x->b, first - x->low * s->period) ||
        !fs_modulo_insert(s, x->b, x->a, second - (1 - x->high) * s->period)) {
      return false;
    }
  }
  return true;
}

/* Which copy comes first does not matter where all iterations are alike.  One of them is such that
 * from there on, an op's first starts are never later than if they were spread evenly: where the
 * most that they are late is reached (the cycle lemma; Dvoretzky and Motzkin, 1947). */
static bool choose_first_copy(fs_modulo_state *s) {
  const fs_modulo_body *b = s->b;
  uint32_t n = b->p->n, op = 0;
  for (uint32_t i = 1; i < n; i++) {
    op = b->time[i] > b->time[op] ? i : op;
  }
  for (uint32_t c = 1; c < b->copies && b->in_order; c++) {
    int64_t most = fs_ceiling_div(c * s->period, b->copies);
    if (!fs_modulo_insert(s, c * n + op, op, -most)) {
      return false;
    }
  }
  return true;
}

bool fs_modulo_root(fs_modulo_state *s) {
  assert(s->trail.n == 0);
  const fs_modulo_body *b = s->b;
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    if (!fs_modulo_insert(s, b->arc[k].from, b->arc[k].to, arc_weight(s, &b->arc[k]))) {
      return false;
    }
  }
  for (uint32_t r = 0; r < b->n_open; r++) {
    uint32_t most = b->p->ring[b->open[r]].most;
    if (!fs_modulo_put_depth(s, r, 1, most == 0 ? INT64_MAX : most)) {
      return false;
    }
  }
  if (!choose_first_copy(s) || !insert_given(s) || !limit_makespan(s) ||
      !fs_modulo_propagate_rings(s)) {
    return false;
  }
  find_parts(s);
  s->trail.n = 0;
  return true;
}
