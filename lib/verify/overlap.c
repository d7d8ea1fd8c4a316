/* SPDX-License-Identifier: Apache-2.0 */
/* The places are walked by their begins.  A place that has begun and may not have ended is open.
 * Whether an open place overlaps the next place and belongs to another version follows from the two
 * latest ends, of different versions, among all places and among those that are written; only if so
 * are the open places visited. */
#include "verify/overlap.h"

#include <stdlib.h>

fs_status fs_voverlap_init(fs_arena *arena, const fs_stream *s, fs_voverlap *o) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    longest = (uint32_t)fs_max(longest, s->commands[i].n_places);
  }
  for (uint32_t i = 0; i < s->n_loop_commands; i++) {
    longest = (uint32_t)fs_max(longest, s->loop_commands[i].n_places);
  }
  FS_TRY(fs_new(arena, &o->sorted, longest));
  return fs_new(arena, &o->open, longest);
}

/* Compares places by space, index and address.  They lie in one array, and equal ones keep its
 * order. */
static int by_place(const void *a, const void *b) {
  const fs_stream_place *x = *(const fs_stream_place *const *)a;
  const fs_stream_place *y = *(const fs_stream_place *const *)b;
  if (x->space != y->space) {
    return x->space < y->space ? -1 : 1;
  }
  if (x->index != y->index) {
    return x->index < y->index ? -1 : 1;
  }
  if (x->address != y->address) {
    return x->address < y->address ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

/* The owner of a place: the version of a place in a memory, else the place itself. */
static uint64_t owner_of(const fs_stream_place *p, const fs_stream_place *first) {
  bool version = fs_space_has_bytes(p->space) && p->version != FS_NONE;
  return version ? p->version : ((uint64_t)1 << 32) + (uint64_t)(p - first);
}

static void raise_ends(fs_voverlap_ends *e, uint64_t owner, uint64_t end) {
  if (e->owner[0] == owner) {
    e->end[0] = end > e->end[0] ? end : e->end[0];
  } else if (end > e->end[0]) {
    e->owner[1] = e->owner[0];
    e->end[1] = e->end[0];
    e->owner[0] = owner;
    e->end[0] = end;
  } else if (end > e->end[1]) {
    e->owner[1] = owner;
    e->end[1] = end;
  }
}

static uint64_t end_of_others(const fs_voverlap_ends *e, uint64_t owner) {
  return e->end[e->owner[0] == owner];
}

static bool is_written(const fs_stream_place *p) {
  return !fs_space_has_bytes(p->space) || (p->mode & FS_MODE_W) != 0;
}

/* Visits the open places, and closes those that have ended. */
static const fs_stream_place *find_open(fs_voverlap *o, const fs_stream_place *first,
                                        const fs_stream_place *b, fs_voverlap_may may, void *x) {
  const fs_stream_place *found = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < o->n_open; i++) {
    const fs_stream_place *a = o->open[i];
    if (a->address + a->size <= b->address) {
      continue;
    }
    o->open[n++] = a;
    bool apart = owner_of(a, first) == owner_of(b, first) || (!is_written(a) && !is_written(b));
    if (found == NULL && !apart && !may(x, a, b)) {
      found = a;
    }
  }
  o->n_open = n;
  return found;
}

static void open_place(fs_voverlap *o, const fs_stream_place *p, uint64_t owner) {
  o->open[o->n_open++] = p;
  raise_ends(&o->all, owner, p->address + p->size);
  if (is_written(p)) {
    raise_ends(&o->written, owner, p->address + p->size);
  }
}

bool fs_voverlap_find(fs_voverlap *o, const fs_stream_place *place, uint32_t n, fs_voverlap_may may,
                      void *x, const fs_stream_place **a, const fs_stream_place **b) {
  assert(n == 0 || (place != NULL && o->sorted != NULL));
  for (uint32_t i = 0; i < n; i++) {
    o->sorted[i] = &place[i];
  }
  if (n > 1) {
    qsort(o->sorted, n, sizeof *o->sorted, by_place);
  }
  for (uint32_t i = 0; i < n; i++) {
    const fs_stream_place *p = o->sorted[i];
    if (i == 0 || p->space != o->sorted[i - 1]->space || p->index != o->sorted[i - 1]->index) {
      static const fs_voverlap_ends none = {.owner = {UINT64_MAX, UINT64_MAX}};
      o->n_open = 0;
      o->all = o->written = none;
    }
    if (p->size == 0) {
      continue;
    }
    uint64_t owner = owner_of(p, place);
    if (end_of_others(is_written(p) ? &o->all : &o->written, owner) > p->address) {
      *a = find_open(o, place, p, may, x);
      *b = p;
      if (*a != NULL) {
        return true;
      }
    }
    open_place(o, p, owner);
  }
  return false;
}
