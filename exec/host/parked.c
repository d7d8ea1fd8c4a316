/* SPDX-License-Identifier: Apache-2.0 */
/* A pairing heap: a tree in which no child is less than its parent; children are a list.  Taking
 * the root out joins its children, first in pairs from the left, then the pairs from the right. */
#include "exec/host/parked.h"

static fs_parked *join_heaps(fs_parked *a, fs_parked *b) {
  if (a == NULL || b == NULL) {
    return a == NULL ? b : a;
  }
  fs_parked *parent = a->value <= b->value ? a : b, *child = parent == a ? b : a;
  child->next = parent->child;
  parent->child = child;
  return parent;
}

void fs_parked_add(fs_parked **least, fs_parked *waiter) {
  waiter->child = waiter->next = NULL;
  *least = join_heaps(*least, waiter);
}

/* The pairs as a list, the last one first. */
static fs_parked *join_pairs(fs_parked *first) {
  fs_parked *pairs = NULL;
  while (first != NULL) {
    fs_parked *a = first, *b = a->next;
    first = b == NULL ? NULL : b->next;
    a->next = NULL;
    if (b != NULL) {
      b->next = NULL;
    }
    fs_parked *pair = join_heaps(a, b);
    pair->next = pairs;
    pairs = pair;
  }
  return pairs;
}

fs_parked *fs_parked_take(fs_parked **least) {
  assert(*least != NULL);
  fs_parked *taken = *least, *pairs = join_pairs(taken->child), *rest = NULL;
  while (pairs != NULL) {
    fs_parked *pair = pairs;
    pairs = pair->next;
    pair->next = NULL;
    rest = join_heaps(rest, pair);
  }
  taken->child = NULL;
  *least = rest;
  return taken;
}
