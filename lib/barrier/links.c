/* SPDX-License-Identifier: Apache-2.0 */
/* The transitive reduction goes command by command: the items that it waits for, latest first, are
 * dropped when the queue and those kept so far know that they are over.  An item that implies
 * another comes later in the problem's order, so one sweep is enough. */
#include "barrier/links.h"

#include "base/group.h"
#include "base/radix.h"

/* The reducer of one command: its keys are position << 32 | item, descending. */
typedef struct link_reducer {
  const fs_order *o;
  uint32_t *position; /* per item in the problem's order */
  uint32_t *row;      /* 0, but in `span` */
  fs_row_span span;
  uint64_t *key, *scratch;
} link_reducer;

static uint32_t sort_preds(const link_reducer *r, uint32_t c) {
  assert(c < r->o->p->n_commands);
  const fs_barrier_problem *p = r->o->p;
  uint32_t n = 0;
  for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
    r->key[n++] = (uint64_t)(p->n_items - r->position[p->pred[e]]) << 32 | p->pred[e];
  }
  if (n > 1) {
    fs_radix_sort(r->key, r->scratch, n);
  }
  return n;
}

static bool is_known(const fs_order *o, const uint32_t *row, uint32_t u) {
  const fs_barrier_problem *p = o->p;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t m = p->item_command[k];
    if (row[o->axis[m] - o->first] <= o->index[m]) {
      return false;
    }
  }
  return true;
}

/* Keeps the items that the others do not imply; returns their number. */
static uint32_t reduce(link_reducer *r, uint32_t c, uint32_t *kept) {
  const fs_order *o = r->o;
  uint32_t n = sort_preds(r, c);
  uint32_t n_kept = 0;
  if (o->row != NULL && n > 0) {
    fs_row_clear(r->row, &r->span);
    fs_order_queue(o, c, r->row, &r->span);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t u = (uint32_t)r->key[i];
    if (o->row == NULL ? i > 0 && r->key[i] == r->key[i - 1] : is_known(o, r->row, u)) {
      continue;
    }
    kept[n_kept++] = u;
    if (o->row != NULL) {
      fs_order_over(o, u, r->row, &r->span);
    }
  }
  assert(n_kept <= n);
  return n_kept;
}

static void sort_ascending(link_reducer *r, uint32_t *item, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    r->key[i] = item[i];
  }
  if (n > 1) {
    fs_radix_sort(r->key, r->scratch, n);
  }
  for (uint32_t i = 0; i < n; i++) {
    item[i] = (uint32_t)r->key[i];
  }
}

static fs_status make_preds(fs_arena *arena, link_reducer *r, fs_links *l) {
  const fs_barrier_problem *p = r->o->p;
  FS_TRY(fs_new(arena, &l->pred0, (size_t)p->n_commands + 1));
  FS_TRY(fs_new(arena, &l->pred, p->pred0[p->n_commands]));
  FS_TRY(fs_new(arena, &l->command, p->pred0[p->n_commands]));
  l->n = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    l->pred0[c] = l->n;
    uint32_t n = reduce(r, c, l->pred + l->n);
    sort_ascending(r, l->pred + l->n, n);
    for (uint32_t i = 0; i < n; i++) {
      l->command[l->n++] = c;
    }
  }
  l->pred0[p->n_commands] = l->n;
  return FSCHED_OK;
}

static fs_status make_needs(fs_arena *arena, const fs_barrier_problem *p, fs_links *l) {
  FS_TRY(fs_new(arena, &l->slots, p->n_items));
  FS_TRY(fs_new(arena, &l->need, p->n_items));
  for (uint32_t u = 0; u < p->n_items; u++) {
    uint64_t members = p->item_command0[u + 1] - p->item_command0[u];
    l->slots[u] = members * (p->demand == NULL ? 1 : p->demand[u]);
    uint64_t need = fs_ceil_div(l->slots[u], p->n_slots);
    l->need[u] = l->succ0[u] == l->succ0[u + 1] ? 0 : (uint32_t)fs_min(need, FS_NONE);
  }
  return FSCHED_OK;
}

fs_status fs_links_make(fsched_context *ctx, fs_arena *arena, const fs_order *o, fs_links *l) {
  assert(o->queue != NULL || o->p->n_commands == 0);
  const fs_barrier_problem *p = o->p;
  FS_SCRATCH(scratch, ctx);
  link_reducer r = {.o = o};
  uint32_t most = 0;
  for (uint32_t c = 0; c < p->n_commands; c++) {
    most = (uint32_t)fs_max(most, p->pred0[c + 1] - p->pred0[c]);
  }
  FS_TRY(fs_new(&scratch, &r.position, p->n_items));
  FS_TRY(fs_new_zero(&scratch, &r.row, o->n));
  FS_TRY(fs_new(&scratch, &r.key, most));
  FS_TRY(fs_new(&scratch, &r.scratch, most));
  for (uint32_t i = 0; i < p->n_items; i++) {
    r.position[p->order[i]] = i;
  }
  FS_TRY(make_preds(arena, &r, l));
  FS_TRY(fs_group(arena, l->pred, l->n, p->n_items, &l->succ0, &l->succ));
  return make_needs(arena, p, l);
}
