/* SPDX-License-Identifier: Apache-2.0 */
/* What is assumed: a window of starts per op, an order per pair that was met.  A change lasts until
 * all is forgotten, which costs no more than the changes did. */
#include "verify/proof/stays/stays.h"

enum { FIRST_SLOTS = 64 };

static void open_window(fs_vproof *p, uint32_t op) {
  p->lb[op] = 0;
  if (op >= p->n_items) { /* an end, or a boolean */
    p->ub[op] = op < p->n_items + p->stays->n_ends ? (int64_t)p->horizon : 1;
    return;
  }
  p->ub[op] = p->time[op] > p->horizon ? -1 : (int64_t)(p->horizon - p->time[op]);
  if (p->given != NULL && p->given[op] != UINT64_MAX) {
    int64_t start = (int64_t)p->given[op];
    p->lb[op] = start;
    p->ub[op] = p->ub[op] < start ? p->ub[op] : start;
  }
}

fs_status fs_vproof_begin(fs_vproof *p) {
  assert(p->time != NULL && p->horizon <= INT64_MAX);
  uint32_t n = p->n_nodes;
  FS_TRY(fs_new(&p->arena, &p->lb, n));
  FS_TRY(fs_new(&p->arena, &p->ub, n));
  FS_TRY(fs_new_zero(&p->arena, &p->named, n));
  FS_TRY(fs_new_none(&p->arena, &p->owner, n));
  for (uint32_t op = 0; op < n; op++) {
    open_window(p, op);
  }
  p->n_slots = FIRST_SLOTS;
  return fs_new_none(&p->slots, &p->slot, p->n_slots);
}

void fs_vproof_forget(fs_vproof *p) {
  for (size_t k = 0; k < p->op.n; k++) {
    open_window(p, p->op.at[k]);
    p->named[p->op.at[k]] = false;
  }
  for (size_t k = 0; k < p->ordered.n; k++) {
    p->pair.at[p->ordered.at[k]].known = false;
  }
  p->op.n = 0;
  p->ordered.n = 0;
  p->empty = false;
}

/* ---- pairs */

/* The slot that a pair has, or would get. */
static uint32_t *find_slot(const fs_vproof *p, uint32_t a, uint32_t b) {
  uint32_t key[] = {a, b}, mask = p->n_slots - 1;
  uint32_t at = (uint32_t)fs_keyed_hash(fs_context_key(p->ctx), key, sizeof key) & mask;
  while (p->slot[at] != FS_NONE &&
         (p->pair.at[p->slot[at]].first != a || p->pair.at[p->slot[at]].second != b)) {
    at = (at + 1) & mask;
  }
  return &p->slot[at];
}

static fs_status grow_slots(fs_vproof *p) {
  if (p->n_slots > UINT32_MAX / 2) {
    return fs_no_memory(p->ctx, SIZE_MAX);
  }
  fs_arena_release(&p->slots);
  FS_TRY(fs_new_none(&p->slots, &p->slot, (size_t)p->n_slots * 2));
  p->n_slots *= 2;
  for (uint32_t k = 0; k < p->pair.n; k++) {
    *find_slot(p, p->pair.at[k].first, p->pair.at[k].second) = k;
  }
  return FSCHED_OK;
}

fs_status fs_vproof_pair(fs_vproof *p, uint32_t a, uint32_t b, uint32_t *id) {
  assert(a < b && b < p->n_items);
  bool whole;
  uint32_t *slot = find_slot(p, a, b);
  *id = *slot;
  if (*slot != FS_NONE || !fs_vproof_exclude(p, a, b, &whole)) {
    return FSCHED_OK;
  }
  if (p->pair.n + 1 > p->n_slots / 2) {
    FS_TRY(grow_slots(p));
    slot = find_slot(p, a, b);
  }
  fs_vpair pair = {.first = a, .second = b, .whole = whole};
  FS_TRY(fs_vec_push(p->ctx, &p->pair, pair));
  *id = *slot = (uint32_t)(p->pair.n - 1);
  return FSCHED_OK;
}

/* ---- literals */

static bool ordered_as(const fs_vproof *p, uint32_t pair, fs_vform form) {
  return p->pair.at[pair].known && p->pair.at[pair].order == form;
}

/* Of what may not be there, a literal that is its own holds where it is not, and others fail. */
bool fs_vproof_fails(const fs_vproof *p, const fs_vliteral *l) {
  switch (l->form) {
    case FS_VFORM_FROM:
      return l->own ? p->ub[l->id] < l->bound && fs_vproof_there(p, l->id)
                    : p->ub[l->id] < l->bound || fs_vproof_gone(p, l->id);
    case FS_VFORM_UNTIL:
      return l->own ? p->lb[l->id] > l->bound && fs_vproof_there(p, l->id)
                    : p->lb[l->id] > l->bound || fs_vproof_gone(p, l->id);
    case FS_VFORM_FORWARD:
      return ordered_as(p, l->id, FS_VFORM_BACKWARD);
    case FS_VFORM_BACKWARD:
      return ordered_as(p, l->id, FS_VFORM_FORWARD);
  }
  return false;
}

bool fs_vproof_holds(const fs_vproof *p, const fs_vliteral *l) {
  switch (l->form) {
    case FS_VFORM_FROM:
      return l->own ? p->lb[l->id] >= l->bound || fs_vproof_gone(p, l->id)
                    : p->lb[l->id] >= l->bound && fs_vproof_there(p, l->id);
    case FS_VFORM_UNTIL:
      return l->own ? p->ub[l->id] <= l->bound || fs_vproof_gone(p, l->id)
                    : p->ub[l->id] <= l->bound && fs_vproof_there(p, l->id);
    case FS_VFORM_FORWARD:
    case FS_VFORM_BACKWARD:
      return ordered_as(p, l->id, l->form);
  }
  return false;
}

fs_vliteral fs_vliteral_negation(const fs_vliteral *l) {
  assert(l->bound >= 0 && (uint64_t)l->bound <= FS_VTEXT_MOST);
  bool there_or_not = !l->own;
  switch (l->form) {
    case FS_VFORM_FROM:
      return (fs_vliteral){l->bound - 1, l->id, FS_VFORM_UNTIL, there_or_not};
    case FS_VFORM_UNTIL:
      return (fs_vliteral){l->bound + 1, l->id, FS_VFORM_FROM, there_or_not};
    case FS_VFORM_FORWARD:
      return (fs_vliteral){0, l->id, FS_VFORM_BACKWARD, false};
    case FS_VFORM_BACKWARD:
      return (fs_vliteral){0, l->id, FS_VFORM_FORWARD, false};
  }
  return *l;
}

static fs_status name_op(fs_vproof *p, uint32_t op) {
  if (p->named[op]) {
    return FSCHED_OK;
  }
  p->named[op] = true;
  return fs_vec_push(p->ctx, &p->op, op);
}

/* Of a boolean by which an item is there and runs on some queues, that by which the item is there;
 * else FS_NONE. */
static uint32_t owner_of_choice(const fs_vproof *p, uint32_t node) {
  if (p->stays == NULL || node < p->g->n_ops) {
    return FS_NONE;
  }
  const fs_vthing *t = &p->stays->thing.at[node - p->g->n_ops];
  return t->kind == FS_VTHING_ON ? p->owner[t->x] : FS_NONE;
}

/* The window of a node may have become empty: then it is not there.  A boolean that holds says that
 * what it owns is there, and one of queues that its item is. */
static fs_status settle(fs_vproof *p, uint32_t node) {
  uint32_t owner = p->owner[node];
  bool crosses = p->lb[node] > p->ub[node];
  FS_TRY(name_op(p, node));
  if (crosses && owner == FS_NONE) {
    p->empty = true;
  } else if (crosses) {
    p->ub[owner] = fs_min(p->ub[owner], 0);
    FS_TRY(settle(p, owner)); /* booleans have no owner */
  }
  if (p->stays == NULL || p->lb[node] < 1) {
    return FSCHED_OK;
  }
  uint32_t there = owner_of_choice(p, node);
  if (there != FS_NONE && p->lb[there] < 1) {
    p->lb[there] = 1;
    FS_TRY(settle(p, there)); /* it has no owner, and is of no queues */
  }
  for (uint32_t i = p->stays->owned0[node]; i < p->stays->owned0[node + 1]; i++) {
    uint32_t owned = p->stays->owned[i];
    p->empty = p->empty || p->lb[owned] > p->ub[owned];
  }
  return FSCHED_OK;
}

/* What is bounded is there, but for a literal that is its own. */
static fs_status settle_bounded(fs_vproof *p, const fs_vliteral *l) {
  uint32_t owner = p->owner[l->id];
  if (!l->own && owner != FS_NONE) {
    p->lb[owner] = fs_max(p->lb[owner], 1);
    FS_TRY(settle(p, owner));
  }
  return settle(p, l->id);
}

static fs_status assume_order(fs_vproof *p, const fs_vliteral *l) {
  fs_vpair *pair = &p->pair.at[l->id];
  FS_TRY(settle(p, pair->first)); /* both are always there */
  FS_TRY(settle(p, pair->second));
  if (pair->known) {
    p->empty = p->empty || pair->order != l->form;
    return FSCHED_OK;
  }
  pair->known = true;
  pair->order = l->form;
  return fs_vec_push(p->ctx, &p->ordered, l->id);
}

fs_status fs_vproof_assume(fs_vproof *p, const fs_vliteral *l) {
  switch (l->form) {
    case FS_VFORM_FROM:
      p->lb[l->id] = l->bound > p->lb[l->id] ? l->bound : p->lb[l->id];
      return settle_bounded(p, l);
    case FS_VFORM_UNTIL:
      p->ub[l->id] = l->bound < p->ub[l->id] ? l->bound : p->ub[l->id];
      return settle_bounded(p, l);
    case FS_VFORM_FORWARD:
    case FS_VFORM_BACKWARD:
      return assume_order(p, l);
  }
  return FSCHED_OK;
}
