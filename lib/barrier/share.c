/* SPDX-License-Identifier: Apache-2.0 */
/* Lets items share barriers at no cost.  Items are taken in the problem's order.  An item joins a
 * group when the present orders say that every member is over before each command that waits for
 * the item, and the item before each command that waits for a member:
 *
 *     0 (dma0) -> 2, 3    1 (dma1) -> 3    2 after 1 on dma1: 0 and 1 share
 *
 * Then no waiting command can be a producer or precede one, and in every run the lives of the
 * barriers that were joined overlap, so sharing never holds a physical barrier longer.  Of an item
 * with several barriers only its slots in the last one count, the one that is shared.
 *
 * The number of groups is not proven to be the least: slots are packed as items come, and not all
 * groups are candidates.
 *
 * The candidates are the last few groups for which one of the item's waiting commands also waits,
 * then the last few groups of all.  Items with the same waiting commands need no comparison, so
 * joins are found even where there are no rows. */
#include "barrier/draft.h"
#include "base/radix.h"

enum { RECENT = 4, LOOK_AT = 8, WINDOW = 16, PAIRS = 4096 };

typedef struct sharer {
  const fs_order *o;
  fs_links *l;
  uint32_t *recent; /* per command: the last RECENT groups for which it waits, latest first */
  uint32_t *last;   /* per group: the item that joined last */
  uint32_t *next;   /* per item: the one that joined its group before */
  uint64_t *left;   /* per group: free slots */
  uint32_t *links;  /* per group: links of all its items */
  uint32_t *size;   /* per group: items */
  bool *alike;      /* per group: all items have the same waiters */
} sharer;

static bool same_waiters(const fs_links *l, uint32_t u, uint32_t v) {
  assert(u != v);
  uint32_t n = l->succ0[u + 1] - l->succ0[u];
  if (n != l->succ0[v + 1] - l->succ0[v]) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (l->command[l->succ[l->succ0[u] + i]] != l->command[l->succ[l->succ0[v] + i]]) {
      return false;
    }
  }
  return true;
}

/* Is the part of u in the last of its barriers over before command c starts?  Of a gang whose slots
 * are split, this part is the members with slots in that barrier. */
static bool last_before(const sharer *s, uint32_t u, uint32_t c) {
  const fs_order *o = s->o;
  const fs_barrier_problem *p = o->p;
  const uint32_t *row = o->row + (size_t)c * o->n;
  uint32_t first = p->item_command0[u];
  for (uint32_t k = first; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    if (fs_barrier_draft_slots(p, u, k - first, s->l->need[u] - 1) > 0 &&
        row[o->axis[m]] <= o->index[m]) {
      return false;
    }
  }
  return true;
}

/* Is each member over before the commands that wait for u start, and u before those of each? */
static bool all_ordered(const sharer *s, uint32_t g, uint32_t u) {
  const fs_links *l = s->l;
  for (uint32_t w = s->last[g]; w != FS_NONE; w = s->next[w]) {
    for (uint32_t i = l->succ0[w]; i < l->succ0[w + 1]; i++) {
      if (!last_before(s, u, l->command[l->succ[i]])) {
        return false;
      }
    }
    for (uint32_t i = l->succ0[u]; i < l->succ0[u + 1]; i++) {
      if (!last_before(s, w, l->command[l->succ[i]])) {
        return false;
      }
    }
  }
  return true;
}

static bool may_join(const sharer *s, uint32_t g, uint32_t u) {
  if (fs_links_rest(s->o, s->l, u) > s->left[g]) {
    return false;
  }
  if (s->alike[g] && same_waiters(s->l, u, s->last[g])) {
    return true;
  }
  uint64_t mine = s->l->succ0[u + 1] - s->l->succ0[u];
  return s->o->row != NULL && s->size[g] * mine + s->links[g] <= PAIRS && all_ordered(s, g, u);
}

static uint32_t find_group(const sharer *s, uint32_t u) {
  assert(s->l->need[u] > 0);
  const fs_links *l = s->l;
  uint32_t end = (uint32_t)fs_min(l->succ0[u + 1], (uint64_t)l->succ0[u] + LOOK_AT);
  for (uint32_t i = l->succ0[u]; i < end; i++) {
    const uint32_t *recent = s->recent + (size_t)l->command[l->succ[i]] * RECENT;
    for (uint32_t k = 0; k < RECENT && recent[k] != FS_NONE; k++) {
      if (may_join(s, recent[k], u)) {
        return recent[k];
      }
    }
  }
  for (uint32_t k = 0; k < WINDOW && k < l->n_groups; k++) {
    if (may_join(s, l->n_groups - 1 - k, u)) {
      return l->n_groups - 1 - k;
    }
  }
  return FS_NONE;
}

static void remember(uint32_t *recent, uint32_t g) {
  assert(g != FS_NONE);
  uint32_t at = 0;
  while (at + 1 < RECENT && recent[at] != g && recent[at] != FS_NONE) {
    at++;
  }
  memmove(recent + 1, recent, at * sizeof *recent);
  recent[0] = g;
}

static void join_group(sharer *s, uint32_t g, uint32_t u) {
  assert(g < s->l->n_groups && s->l->group[u] == FS_NONE);
  assert(s->left[g] >= fs_links_rest(s->o, s->l, u));
  fs_links *l = s->l;
  l->group[u] = g;
  s->alike[g] = s->size[g] == 0 || (s->alike[g] && same_waiters(l, u, s->last[g]));
  s->next[u] = s->last[g];
  s->last[g] = u;
  s->left[g] -= fs_links_rest(s->o, l, u);
  s->links[g] += l->succ0[u + 1] - l->succ0[u];
  s->size[g]++;
  for (uint32_t i = l->succ0[u]; i < l->succ0[u + 1]; i++) {
    remember(s->recent + (size_t)l->command[l->succ[i]] * RECENT, g);
  }
}

static void share(sharer *s) {
  const fs_barrier_problem *p = s->o->p;
  fs_links *l = s->l;
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t u = p->order[i];
    if (l->need[u] == 0) {
      continue;
    }
    uint32_t g = find_group(s, u);
    if (g == FS_NONE) {
      g = l->n_groups++;
      s->left[g] = p->n_slots;
      s->last[g] = FS_NONE;
    }
    join_group(s, g, u);
  }
}

fs_status fs_links_share(fsched_context *ctx, fs_arena *arena, const fs_order *o, fs_links *l) {
  assert(l->need != NULL || o->p->n_items == 0);
  const fs_barrier_problem *p = o->p;
  FS_TRY(fs_new_none(arena, &l->group, p->n_items));
  l->n_groups = 0;
  FS_SCRATCH(scratch, ctx);
  sharer s = {.o = o, .l = l};
  FS_TRY(fs_new_none(&scratch, &s.recent, (size_t)p->n_commands * RECENT));
  FS_TRY(fs_new(&scratch, &s.last, p->n_items));
  FS_TRY(fs_new(&scratch, &s.next, p->n_items));
  FS_TRY(fs_new(&scratch, &s.left, p->n_items));
  FS_TRY(fs_new_zero(&scratch, &s.links, p->n_items));
  FS_TRY(fs_new_zero(&scratch, &s.size, p->n_items));
  FS_TRY(fs_new(&scratch, &s.alike, p->n_items));
  share(&s);
  return FSCHED_OK;
}
