/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that are held back.
 *
 * A wait for a is over when all commands before it on its queues are.  If x is on a queue of a and
 * k is the number of rounds by which x comes next after a, the last x before a is that of k - 1,
 * and who comes after a at distance d comes after x at distance d + 1 - k (in periods, where a
 * round is one).  Only an x whose latency is above its time matters.
 *
 * A wait for an op of another part needs nothing, as its arc needs nothing (paths.c): moved late
 * enough by whole periods, whoever waits comes after all of that. */
#include "modulo/state.h"

/* Do two ops share a queue?  *known: it will stay so. */
static bool share_queue(const fs_modulo_state *s, uint32_t a, uint32_t c, bool *known) {
  const fs_modulo_body *b = s->b;
  *known = true;
  for (uint32_t i = b->claim0[a]; i < b->claim0[a + 1]; i++) {
    for (uint32_t j = b->claim0[c]; j < b->claim0[c + 1]; j++) {
      if (b->claim[i].group != b->claim[j].group || b->claim[i].group >= b->n_queue_groups) {
        continue;
      }
      uint64_t x = fs_modulo_domain(s, i), y = fs_modulo_domain(s, j);
      if (b->turn[b->claim[i].group] > 1) { /* that depends on the iterations */
        *known = false;
        continue;
      }
      if ((x & y) != 0 && fs_modulo_single(x) && fs_modulo_single(y)) {
        *known = true;
        return true;
      }
      *known &= (x & y) == 0;
    }
  }
  return false;
}

/* Is it known that `to` waits for a? */
static bool must_wait(const fs_modulo_state *s, uint32_t a, uint32_t to) {
  bool known;
  bool share = share_queue(s, a, to, &known);
  return fs_modulo_waits(s->b, a, true) || (known && fs_modulo_waits(s->b, a, share));
}

/* Who comes after a at a distance comes after each x that is before a. */
static bool hold_back(fs_modulo_state *s, uint32_t a, uint32_t to, int64_t distance) {
  const fs_modulo_body *b = s->b;
  if (!must_wait(s, a, to)) {
    return true;
  }
  for (uint32_t c = b->claim0[a]; c < b->claim0[a + 1]; c++) {
    for (uint32_t i = s->of0[c]; b->claim[c].group < b->n_queue_groups && i < s->of0[c + 1]; i++) {
      const fs_modulo_pair *pair = &s->pair[s->of[i]];
      int64_t k = s->cell[s->pair0 + s->of[i]];
      uint32_t x = pair->a == a ? pair->b : pair->a;
      if (k == FS_MODULO_OPEN || k == FS_MODULO_APART || b->latency[x] == b->time[x]) {
        continue;
      }
      k = pair->a == a ? k : 1 - k;
      int64_t weight =
          b->latency[x] * s->scale - distance * s->period - (1 - k) * fs_modulo_round(s, c);
      if (!fs_modulo_insert(s, x, to, weight)) {
        return false;
      }
    }
  }
  return true;
}

/* The wait of a ring's writer for one of its readers, or (FS_NONE) for itself. */
static bool hold_access(fs_modulo_state *s, uint32_t open, uint32_t access) {
  const fs_modulo_problem *p = s->b->p;
  int64_t high = s->cell[s->high0 + open];
  uint32_t writer = p->ring[s->b->open[open]].writer;
  uint32_t op = access == FS_NONE ? writer : p->reader[access].op;
  int64_t back = access == FS_NONE ? 0 : p->reader[access].back;
  return high == INT64_MAX || s->part[op] != s->part[writer] ||
         hold_back(s, op, writer, high - back);
}

static bool hold_open_rings(fs_modulo_state *s, uint32_t a) {
  const fs_modulo_problem *p = s->b->p;
  for (uint32_t r = 0; r < s->b->n_open; r++) {
    uint32_t ring = s->b->open[r];
    if (p->ring[ring].writer == a && !hold_access(s, r, FS_NONE)) {
      return false;
    }
    for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
      if (p->reader[k].op == a && !hold_access(s, r, k)) {
        return false;
      }
    }
  }
  return true;
}

/* The waits of lanes, which are also for the op's own last iteration. */
static bool hold_lanes(fs_modulo_state *s, uint32_t a) {
  const fs_modulo_body *b = s->b;
  uint32_t last = b->claim0[a + 1] - 1;
  if (b->claim[last].group >= b->n_queue_groups &&
      !hold_back(s, a, a, b->turn[b->claim[last].group])) {
    return false;
  }
  for (uint32_t c = b->claim0[a]; c < b->claim0[a + 1]; c++) {
    for (uint32_t i = s->of0[c]; b->claim[c].group >= b->n_queue_groups && i < s->of0[c + 1]; i++) {
      const fs_modulo_pair *pair = &s->pair[s->of[i]];
      int64_t k = s->cell[s->pair0 + s->of[i]];
      if (k != FS_MODULO_OPEN && k != FS_MODULO_APART &&
          !hold_back(s, a, pair->a == a ? pair->b : pair->a,
                     (pair->a == a ? k : 1 - k) * (int64_t)b->turn[b->claim[c].group])) {
        return false;
      }
    }
  }
  return true;
}

/* All waits for a. */
static bool hold_all(fs_modulo_state *s, uint32_t a) {
  const fs_modulo_body *b = s->b;
  for (uint32_t k = b->out0[a]; k < b->out0[a + 1]; k++) {
    const fs_modulo_arc *arc = &b->arc[b->out[k]];
    if (!arc->tie && s->part[a] == s->part[arc->to] && !hold_back(s, a, arc->to, arc->distance)) {
      return false;
    }
  }
  return hold_open_rings(s, a) && hold_lanes(s, a);
}

bool fs_modulo_hold_pair(fs_modulo_state *s, uint32_t pair) {
  assert(pair < s->n_pairs);
  return hold_all(s, s->pair[pair].a) && hold_all(s, s->pair[pair].b);
}

bool fs_modulo_hold_claim(fs_modulo_state *s, uint32_t claim) {
  const fs_modulo_body *b = s->b;
  assert(claim < b->n_claims);
  uint32_t op = b->claim[claim].op;
  for (uint32_t k = b->in0[op]; k < b->in0[op + 1]; k++) {
    if (!hold_all(s, b->arc[b->in[k]].from)) {
      return false;
    }
  }
  for (uint32_t r = 0; r < b->n_open; r++) {
    if (b->p->ring[b->open[r]].writer == op && !fs_modulo_hold_ring(s, r)) {
      return false;
    }
  }
  for (uint32_t c = b->claim0[op]; c < b->claim0[op + 1]; c++) {
    for (uint32_t i = s->of0[c]; b->claim[c].group >= b->n_queue_groups && i < s->of0[c + 1]; i++) {
      const fs_modulo_pair *pair = &s->pair[s->of[i]];
      if (!hold_all(s, pair->a == op ? pair->b : pair->a)) {
        return false;
      }
    }
  }
  return true;
}

bool fs_modulo_hold_ring(fs_modulo_state *s, uint32_t open) {
  const fs_modulo_problem *p = s->b->p;
  assert(open < s->b->n_open);
  uint32_t ring = s->b->open[open];
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    if (!hold_access(s, open, k)) {
      return false;
    }
  }
  return hold_access(s, open, FS_NONE);
}
