/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the invocation that gets a slot, so that every invocation that can end does end, whatever
 * the order of calls.
 *
 * An invocation may start before its inputs are there, and then keeps its slot until they are.  The
 * invocation that makes these inputs may need a slot too.  So the last idle slot goes only to a
 * safe invocation: one that will end without any further slot, as its inputs are there, or are
 * signals of safe invocations that have slots already.  All other invocations must leave the last
 * idle slot free.
 *
 * Why that suffices: call an invocation due when all of its inputs have come.  If any invocation is
 * left, and the waits are not cyclic, one of them is due.  It is safe, so it may have any idle
 * slot.  If no slot is idle, the last one given away went to a safe invocation, which ends.  Memory
 * follows the same rule (pool.c): invocations that start without being safe reserve early, and safe
 * ones queue for their memory in the order in which they became safe, behind those that they wait
 * for.
 *
 * The search for signals of other invocations is bounded, as no progress depends on it. */
#include "exec/context/core.h"

enum { LOOKS = 1024 }; /* inputs and promises looked at for one choice */

/* Lists */

void fs_list_append(fs_list *list, fs_invocation *v) {
  assert(v->list == NULL);
  v->list = list;
  v->next_in_list = NULL;
  v->previous_in_list = list->first == NULL ? NULL : list->last;
  *(list->first == NULL ? &list->first : &list->last->next_in_list) = v;
  list->last = v;
}

void fs_list_remove(fs_invocation *v) {
  assert(v->list != NULL);
  fs_list *list = v->list;
  fs_invocation *next = v->next_in_list, *previous = v->previous_in_list;
  *(previous == NULL ? &list->first : &previous->next_in_list) = next;
  *(next == NULL ? &list->last : &next->previous_in_list) = previous;
  v->list = NULL;
}

void fs_exec_line_up(fs_invocation *v) {
  assert(v->stage <= FS_READY);
  fsched_exec *x = v->entry->exec;
  if (v->list != NULL) {
    fs_list_remove(v);
  }
  v->stage = FS_READY;
  fs_list_append(v->cause != FSCHED_CAUSE_NONE ? &x->failed
                 : v->n_open > 0               ? &x->early
                                               : &x->ready,
                 v);
}

/* Safety */

/* Whether the end of the invocation, or of one of its outputs, settles the point. */
static bool promises(const fs_invocation *h, const fsched_fence_point *p, uint32_t *looks) {
  bool found = fs_fence_promises(h->signal, p->timeline, p->value);
  for (uint32_t i = 0; i < h->n_bound && !found && *looks > 0; i++) {
    const fsched_fence *signal = h->bound[i].signal;
    *looks -= signal != NULL;
    found = fs_fence_promises(signal, p->timeline, p->value);
  }
  return found;
}

static bool promised(const fsched_exec *x, const fsched_fence_point *p, uint32_t *looks) {
  for (const fs_invocation *h = x->working.first; h != NULL && *looks > 0; h = h->next_in_list) {
    --*looks;
    if (h->safe && promises(h, p, looks)) {
      return true;
    }
  }
  return false;
}

/* Whether all inputs have come, or will come from safe invocations.  False when `looks` run out. */
static bool is_safe(const fs_invocation *v, uint32_t *looks) {
  const fsched_exec *x = v->entry->exec;
  for (uint32_t i = 0; i < v->n_bound && v->n_open > 0; i++) {
    const fs_bound *b = &v->bound[i];
    if (!b->late || !b->waits || b->item == FS_NONE) {
      continue;
    }
    if (*looks == 0) {
      return false;
    }
    --*looks;
    for (uint32_t k = 0; k < b->wait.n; k++) {
      const fsched_fence_point *p = &b->wait.fence->points[k];
      if (!fsched_semaphore_reached(p->timeline, p->value) && !promised(x, p, looks)) {
        return false;
      }
    }
  }
  return true;
}

/* Finds invocations that started early and have become safe; one can make another one safe.  Those
 * that wait for memory stay unsafe, as they are behind others. */
static void find_safe(fsched_exec *x, uint32_t *looks) {
  for (bool more = true; more && *looks > 0;) {
    more = false;
    for (fs_invocation *h = x->working.first; h != NULL; h = h->next_in_list) {
      if (!h->safe && h->stage == FS_RUNNING && is_safe(h, looks)) {
        h->safe = more = true;
      }
    }
  }
}

static fs_invocation *first_safe(fsched_exec *x) {
  uint32_t looks = LOOKS;
  find_safe(x, &looks);
  fs_invocation *v = x->early.first;
  while (v != NULL && looks > 0 && !is_safe(v, &looks)) {
    v = v->next_in_list;
  }
  v = looks > 0 ? v : NULL;
  if (v != NULL) {
    v->safe = true;
  }
  return v;
}

/* The choice while more than one slot is idle: the first early one, whether it is safe or not. */
static fs_invocation *first_early(fsched_exec *x) {
  uint32_t looks = LOOKS;
  find_safe(x, &looks);
  x->early.first->safe = is_safe(x->early.first, &looks);
  return x->early.first;
}

fs_invocation *fs_exec_choose(fsched_exec *x) {
  uint64_t idle = x->options.in_flight - x->n_working;
  fs_invocation *v = idle == 0 ? NULL : x->ready.first;
  if (v != NULL) {
    v->safe = true;
  } else if (idle > 1 && x->early.first != NULL) {
    v = first_early(x);
  } else if (idle > 0 && x->early.first != NULL && x->working.first != NULL) {
    v = first_safe(x);
  }
  return v;
}
