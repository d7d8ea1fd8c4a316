/* SPDX-License-Identifier: Apache-2.0 */
/* Items without length share their instant with the residencies that end and begin there.  In the
 * order of issue the items follow each other, and memory has to hold what each of them needs: an op
 * that takes no time still has all of its buffers at once, and residencies that it begins are there
 * when the next item is issued. */
#include <stdlib.h>

#include "problem/answer/private.h"

/* The moment just before the first item that starts at `time` or later. */
static fs_tick before(const fs_assembly *y, fs_tick time) {
  uint32_t low = 0, high = y->p->n_items;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (y->a->start[y->by_start[middle]] < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 2 * (fs_tick)low;
}

static void items(fs_assembly *y) {
  const fs_problem *p = y->p;
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t i = y->by_start[k];
    y->item_from[i] = 2 * (fs_tick)k + 1;
    y->item_to[i] = p->time[i] == 0 ? y->item_from[i] + 1 : before(y, y->a->start[i] + p->time[i]);
    y->instants = y->instants || p->time[i] == 0;
  }
}

static void residency(fs_assembly *y, uint32_t r) {
  const fs_problem *p = y->p;
  fs_tick from = FS_TICK_NONE, to = 0;
  for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
    from = fs_min(from, y->item_from[p->res_begin[k]]);
  }
  y->from[r] = from = from == FS_TICK_NONE ? 0 : from;
  for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
    to = fs_max(to, y->item_to[p->res_end[k]]);
  }
  y->to[r] = p->res_to_end[r] ? 2 * (fs_tick)p->n_items + 1 : fs_max(to, from + 1);
}

fs_status fs_answer_moments(fs_assembly *y) {
  assert(y->by_start != NULL || y->p->n_items == 0);
  FS_TRY(fs_new(&y->scratch, &y->item_from, y->p->n_items));
  FS_TRY(fs_new(&y->scratch, &y->item_to, y->p->n_items));
  FS_TRY(fs_new(&y->scratch, &y->from, y->p->n_residencies));
  FS_TRY(fs_new(&y->scratch, &y->to, y->p->n_residencies));
  items(y);
  for (uint32_t r = 0; r < y->p->n_residencies; r++) {
    residency(y, r);
  }
  return FSCHED_OK;
}

/* ---- amounts */

typedef struct amount_change {
  fs_tick moment;
  uint64_t amount;
  bool more;
} amount_change;
typedef FS_VEC(amount_change) changes;

/* Changes that compare equal are equal in every member. */
static int in_time(const void *a, const void *b) {
  const amount_change *x = a, *y = b;
  if (x->moment != y->moment) {
    return x->moment < y->moment ? -1 : 1;
  }
  return x->more != y->more ? (x->more ? 1 : -1)
                            : (x->amount > y->amount) - (x->amount < y->amount);
}

static fs_status add_amount(const fs_assembly *y, changes *c, fs_tick from, fs_tick to,
                            uint64_t amount) {
  amount_change more = {from, amount, true}, less = {to, amount, false};
  FS_TRY(fs_vec_push(y->p->ctx, c, more));
  return fs_vec_push(y->p->ctx, c, less);
}

/* Checks the changes of one amount against its capacity, and empties the list. */
static fs_status sweep_changes(fs_assembly *y, changes *c, uint64_t capacity, const char *name) {
  uint64_t held = 0;
  if (c->n > 1) {
    qsort(c->at, c->n, sizeof *c->at, in_time);
  }
  for (size_t k = 0; k < c->n && y->why == NULL; k++) {
    held = c->at[k].more ? held + c->at[k].amount : held - c->at[k].amount;
    if (held > capacity) {
      FS_TRY(fs_answer_refute(y, "ops that take no time ask for more of %s than there is", name));
    }
  }
  c->n = 0;
  return FSCHED_OK;
}

static fs_status counted(fs_assembly *y, changes *c) {
  const fs_problem *p = y->p;
  const fs_target *t = &p->graph->target;
  for (uint32_t m = 0; m < t->n_memories && y->why == NULL; m++) {
    for (uint32_t r = 0; r < p->n_residencies; r++) {
      if (p->res_memory[r] == m && !fs_placement_has_addresses(t->memory[m].placement)) {
        FS_TRY(add_amount(y, c, y->from[r], y->to[r], p->res_size[r]));
      }
    }
    FS_TRY(sweep_changes(y, c, t->memory[m].capacity, t->memory[m].name));
  }
  return FSCHED_OK;
}

static fs_status held(fs_assembly *y, changes *c) {
  const fs_problem *p = y->p;
  for (uint32_t k = 0; k < p->n_amounts && y->why == NULL; k++) {
    for (uint32_t i = 0; i < p->n_items; i++) {
      for (uint32_t u = p->use0[i]; u < p->use0[i + 1]; u++) {
        if (p->use[u] == k) {
          FS_TRY(add_amount(y, c, y->item_from[i], y->item_to[i], p->use_amount[u]));
        }
      }
    }
    FS_TRY(sweep_changes(y, c, p->amount_capacity[k], p->amount_name[k]));
  }
  return FSCHED_OK;
}

fs_status fs_answer_amounts(fs_assembly *y) {
  assert(y->item_from != NULL || y->p->n_items == 0);
  changes c = {0};
  if (!y->instants) {
    return FSCHED_OK;
  }
  fs_status status = counted(y, &c);
  status = status == FSCHED_OK && y->why == NULL ? held(y, &c) : status;
  fs_vec_free(y->p->ctx, &c);
  return status;
}
