/* SPDX-License-Identifier: Apache-2.0 */
/* A tree whose children are lists: `child` is the first one, `sibling` the next, `back` the one
 * before, or the parent of the first.  The root has neither sibling nor back.  Two trees are melded
 * by making the later root the first child of the earlier one.  Removing a node melds its children
 * in pairs, then the pairs from the last to the first, which gives the amortised bound; both walks
 * are loops, so that a heap of any size needs no stack. */
#include "frontier/tracker/heap.h"

static fsched_waiter *meld(fsched_waiter *a, fsched_waiter *b) {
  assert(a != b && a != NULL && b != NULL);
  if (b->inner.epoch < a->inner.epoch) {
    fsched_waiter *c = a;
    a = b;
    b = c;
  }
  b->inner.back = a;
  b->inner.sibling = a->inner.child;
  if (b->inner.sibling != NULL) {
    b->inner.sibling->inner.back = b;
  }
  a->inner.child = b;
  return a;
}

/* Takes the first tree off a list. */
static fsched_waiter *take_tree(fsched_waiter **list) {
  fsched_waiter *w = *list;
  if (w != NULL) {
    *list = w->inner.sibling;
    w->inner.sibling = w->inner.back = NULL;
  }
  return w;
}

static fsched_waiter *meld_list(fsched_waiter *list) {
  fsched_waiter *pairs = NULL; /* the last one first */
  for (fsched_waiter *a; (a = take_tree(&list)) != NULL;) {
    fsched_waiter *b = take_tree(&list);
    a = b == NULL ? a : meld(a, b);
    a->inner.sibling = pairs;
    pairs = a;
  }
  fsched_waiter *root = take_tree(&pairs);
  for (fsched_waiter *a; (a = take_tree(&pairs)) != NULL;) {
    root = meld(root, a);
  }
  return root;
}

void fs_waiters_add(fsched_waiter **root, fsched_waiter *w) {
  assert(*root != w);
  w->inner.child = w->inner.sibling = w->inner.back = NULL;
  *root = *root == NULL ? w : meld(*root, w);
}

void fs_waiters_remove(fsched_waiter **root, fsched_waiter *w) {
  assert(*root != NULL && (w == *root || w->inner.back != NULL));
  fsched_waiter *rest = meld_list(w->inner.child);
  w->inner.child = NULL;
  if (w == *root) {
    *root = rest;
    return;
  }
  fsched_waiter *back = w->inner.back;
  assert(back != NULL);
  if (back->inner.child == w) {
    back->inner.child = w->inner.sibling;
  } else {
    back->inner.sibling = w->inner.sibling;
  }
  if (w->inner.sibling != NULL) {
    w->inner.sibling->inner.back = back;
  }
  *root = rest == NULL ? *root : meld(*root, rest);
}
