/* SPDX-License-Identifier: Apache-2.0 */
/* What is assumed: a window of starts per op, an order per pair that was met.  A change lasts until
 * all is forgotten, which costs no more than the changes did. */
#include "verify/proof/proof.h"

enum { FIRST_SLOTS = 64 };

static void open_window(fs_vproof *p, uint32_t op) {
  p->lb[op] = 0;
  p->ub[op] = p->time[op] > p->horizon ? -1 : (int64_t)(p->horizon - p->time[op]);
  if (p->given != NULL && p->given[op] != UINT64_MAX) {
    int64_t start = (int64_t)p->given[op];
    p->lb[op] = start;
    p->ub[op] = p->ub[op] < start ? p->ub[op] : start;
  }
}

fs_status fs_vproof_begin(fs_vproof *p) {
  assert(p->time != NULL && p->horizon <= INT64_MAX);
  uint32_t n = p->n_items;
  FS_TRY(fs_new(&p->arena, &p->lb, n));
  FS_TRY(fs_new(&p->arena, &p->ub, n));
  FS_TRY(fs_new_zero(&p->arena, &p->named, n));
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

bool fs_vproof_fails(const fs_vproof *p, const fs_vliteral *l) {
  switch (l->form) {
    case FS_VFORM_FROM:
      return p->ub[l->id] < l->bound;
    case FS_VFORM_UNTIL:
      return p->lb[l->id] > l->bound;
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
      return p->lb[l->id] >= l->bound;
    case FS_VFORM_UNTIL:
      return p->ub[l->id] <= l->bound;
    case FS_VFORM_FORWARD:
    case FS_VFORM_BACKWARD:
      return ordered_as(p, l->id, l->form);
  }
  return false;
}

fs_vliteral fs_vliteral_negation(const fs_vliteral *l) {
  assert(l->bound >= 0 && (uint64_t)l->bound <= FS_VTEXT_MOST);
  switch (l->form) {
    case FS_VFORM_FROM:
      return (fs_vliteral){l->bound - 1, l->id, FS_VFORM_UNTIL};
    case FS_VFORM_UNTIL:
      return (fs_vliteral){l->bound + 1, l->id, FS_VFORM_FROM};
    case FS_VFORM_FORWARD:
      return (fs_vliteral){0, l->id, FS_VFORM_BACKWARD};
    case FS_VFORM_BACKWARD:
      return (fs_vliteral){0, l->id, FS_VFORM_FORWARD};
  }
  return *l;
}

static fs_status name_op(fs_vproof *p, uint32_t op) {
  p->empty = p->empty || p->lb[op] > p->ub[op];
  if (p->named[op]) {
    return FSCHED_OK;
  }
  p->named[op] = true;
  return fs_vec_push(p->ctx, &p->op, op);
}

static fs_status assume_order(fs_vproof *p, const fs_vliteral *l) {
  fs_vpair *pair = &p->pair.at[l->id];
  FS_TRY(name_op(p, pair->first));
  FS_TRY(name_op(p, pair->second));
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
      return name_op(p, l->id);
    case FS_VFORM_UNTIL:
      p->ub[l->id] = l->bound < p->ub[l->id] ? l->bound : p->ub[l->id];
      return name_op(p, l->id);
    case FS_VFORM_FORWARD:
    case FS_VFORM_BACKWARD:
      return assume_order(p, l);
  }
  return FSCHED_OK;
}
