/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a solution into the form of pack/symmetry.c by the steps of the proof that the form exists:
 * rectangles fall, strips and memories are turned, starts are exchanged.  The steps are repeated
 * until nothing changes, at most ROUNDS times. */
#include <stdlib.h>

#include "ilp/pack/private.h"

enum { ROUNDS = 64 };

typedef struct ranked {
  int64_t at;
  uint32_t id;
} ranked;

typedef struct former {
  const fs_pack_model *t;
  int64_t *start, *address;
  int64_t *begin, *end; /* per residency */
  ranked *order;        /* room for items or residencies */
  uint32_t *group;
  uint8_t *done;
  bool changed;
} former;

static int by_rank(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return x->at != y->at ? (x->at > y->at ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static void sort(ranked *at, size_t n) {
  if (n > 1) {
    qsort(at, n, sizeof *at, by_rank);
  }
}

static void set(former *f, int64_t *at, int64_t value) {
  f->changed |= *at != value;
  *at = value;
}

static int64_t size_of(const former *f, uint32_t r) { return (int64_t)f->t->p->res_size[r]; }

/* Has a ended when b begins?  Not if an item that begins b precedes or is one that ends a. */
static bool ended(const former *f, uint32_t a, uint32_t b) {
  uint32_t n = f->t->p->n_items;
  return f->end[a] <= f->begin[b] && fs_pack_left_truth(f->t, n + a, n + b) != FS_PACK_NO;
}
static bool meet_in_time(const former *f, uint32_t a, uint32_t b) {
  return !ended(f, a, b) && !ended(f, b, a);
}
static bool meet_in_place(const former *f, uint32_t a, uint32_t b) {
  return f->address[a] < f->address[b] + size_of(f, b) &&
         f->address[b] < f->address[a] + size_of(f, a);
}

static void take_times(former *f) {
  for (uint32_t r = 0; r < f->t->p->n_residencies; r++) {
    fs_pack_times(f->t, f->start, r, &f->begin[r], &f->end[r]);
  }
}

/* --- falling --- */

/* Collects in f->group the residencies that share the place of r by declaration, r included, and
 * returns their number. */
static uint32_t gather_group(former *f, uint32_t r) {
  const fs_problem *p = f->t->p;
  uint32_t n = 0;
  f->group[n++] = r;
  f->done[r] = 1;
  for (uint32_t i = 0; i < n && p->n_coincide > 0; i++) {
    for (uint32_t q = 0; q < p->n_residencies; q++) {
      if (!f->done[q] && f->address[q] == f->address[r] &&
          fs_pack_declared(p, f->group[i], q) != FS_NONE) {
        f->done[q] = 1;
        f->group[n++] = q;
      }
    }
  }
  return n;
}

/* Lets everything in memory m fall, the lowest rectangle first. */
static void fall(former *f, uint32_t m) {
  const fs_problem *p = f->t->p;
  uint32_t n = 0, n_fallen = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    f->done[r] = p->res_memory[r] != m || !fs_pack_placed(f->t, r);
    if (!f->done[r]) {
      f->order[n++] = (ranked){f->address[r], r};
    }
  }
  sort(f->order, n);
  uint32_t *fallen = f->group + p->n_residencies;
  for (uint32_t k = 0; k < n; k++) {
    if (f->done[f->order[k].id]) {
      continue;
    }
    uint32_t size = gather_group(f, f->order[k].id);
    int64_t floor = 0;
    for (uint32_t i = 0; i < size * n_fallen; i++) {
      uint32_t one = f->group[i % size], other = fallen[i / size];
      int64_t top = f->address[other] + size_of(f, other);
      floor = top > floor && meet_in_time(f, one, other) ? top : floor;
    }
    for (uint32_t i = 0; i < size; i++) {
      set(f, &f->address[f->group[i]], floor);
      fallen[n_fallen++] = f->group[i];
    }
  }
}

/* The latest end of an item that started before i and whose rectangle overlaps one of i in
 * address. */
static int64_t earliest(const former *f, uint32_t n_before, uint32_t i) {
  const fs_problem *p = f->t->p;
  int64_t start = 0;
  for (uint32_t a = 0; a < p->n_residencies; a++) {
    if (p->res_begin[p->res_begin0[a]] != i) {
      continue;
    }
    for (uint32_t b = 0; b < p->n_residencies; b++) {
      uint32_t k = p->res_begin[p->res_begin0[b]];
      bool before = f->done[k] && n_before > 0 && p->res_memory[a] == p->res_memory[b];
      if (before && meet_in_place(f, a, b)) {
        int64_t end = f->start[k] + (int64_t)p->time[k];
        start = end > start ? end : start;
      }
    }
  }
  return start;
}

/* Lets items fall in time: each starts when those before it that share addresses with it have
 * ended. */
static void hurry(former *f) {
  uint32_t n = f->t->p->n_items;
  for (uint32_t i = 0; i < n; i++) {
    f->order[i] = (ranked){f->start[i], i};
    f->done[i] = 0;
  }
  sort(f->order, n);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = f->order[k].id;
    set(f, &f->start[i], earliest(f, k, i));
    f->done[i] = 1;
  }
}

/* --- turning and exchanging --- */

static void turn_memory(former *f, uint32_t m) {
  const fs_pack_model *t = f->t;
  uint32_t low = t->low_half[m];
  int64_t top = t->room[m] * (int64_t)t->unit[m];
  if (low == FS_NONE) {
    return;
  }
  if (t->options.peak && t->options.peak_memory == m) {
    top = 0;
    for (uint32_t r = 0; r < t->p->n_residencies; r++) {
      bool here = t->p->res_memory[r] == m && fs_pack_placed(t, r);
      int64_t end = here ? f->address[r] + size_of(f, r) : 0;
      top = end > top ? end : top;
    }
  }
  if (2 * f->address[low] + size_of(f, low) <= top) {
    return;
  }
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    if (t->p->res_memory[r] == m && fs_pack_placed(t, r)) {
      set(f, &f->address[r], top - size_of(f, r) - f->address[r]);
    }
  }
}

static void turn_time(former *f) {
  const fs_problem *p = f->t->p;
  uint32_t early = f->t->early_half;
  int64_t total = fs_pack_total(f->t, f->start);
  if (2 * f->start[early] + (int64_t)p->time[early] <= total) {
    return;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    set(f, &f->start[i], total - (int64_t)p->time[i] - f->start[i]);
  }
}

/* Exchanges the starts and addresses of two items of one size. */
static void exchange(former *f, uint32_t a, uint32_t b) {
  const fs_problem *p = f->t->p;
  int64_t start = f->start[a];
  f->start[a] = f->start[b];
  f->start[b] = start;
  f->changed = true;
  uint32_t q = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_begin[p->res_begin0[r]] != a) {
      continue;
    }
    while (p->res_begin[p->res_begin0[q]] != b) {
      q++;
    }
    int64_t address = f->address[r];
    f->address[r] = f->address[q];
    f->address[q++] = address;
  }
}

/* Exchanges neighbours in the chains of items of one size until starts ascend. */
static void exchange_all(former *f) {
  const fs_pack_model *t = f->t;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < t->p->n_items; i++) {
      uint32_t next = t->alike[i];
      if (next != FS_NONE && f->start[i] > f->start[next]) {
        exchange(f, i, next);
        again = true;
      }
    }
  }
}

static void form_round(former *f) {
  const fs_pack_model *t = f->t;
  if (t->strip) {
    hurry(f);
    exchange_all(f);
    turn_time(f);
    hurry(f);
    exchange_all(f);
  }
  take_times(f);
  for (uint32_t m = 0; m < t->p->graph->target.n_memories; m++) {
    turn_memory(f, m);
    fall(f, m);
  }
}

fs_status fs_pack_form(const fs_pack_model *t, int64_t *start, int64_t *address) {
  former f = {.t = t, .start = start, .address = address, .changed = true};
  uint32_t n = t->p->n_residencies, most = n > t->p->n_items ? n : t->p->n_items;
  FS_SCRATCH(scratch, t->ctx);
  FS_TRY(fs_new(&scratch, &f.begin, n));
  FS_TRY(fs_new(&scratch, &f.end, n));
  FS_TRY(fs_new(&scratch, &f.order, most));
  FS_TRY(fs_new(&scratch, &f.done, most));
  FS_TRY(fs_new(&scratch, &f.group, 2 * (size_t)n));
  for (int round = 0; f.changed && round < ROUNDS; round++) {
    f.changed = false;
    form_round(&f);
  }
  return FSCHED_OK;
}
