/* SPDX-License-Identifier: Apache-2.0 */
/* The residency of an access follows from its time: it is the latest residency of the version in
 * the memory that has begun by then.  Only an item without length at the time when one residency
 * ends and the next begins fits into both; it gets the later one, unless the read that fills that
 * one is listed after it.  An access without any residency is left without one, which the verifier
 * reports. */
#include "base/group.h"
#include "front/schedule_file/parse.h"

typedef struct fs_linker {
  fs_sparse *p;
  uint32_t *own0, *own;     /* CSR per version: its residencies in its own memory, by begin */
  uint32_t *store0, *store; /* the same in its backing store */
  uint32_t *filler;         /* per residency: the read that fills it, or FS_NONE */
} fs_linker;

/* Groups the residencies of versions by version, keeping their order. */
static fs_status group(fs_linker *l, bool own, uint32_t **index, uint32_t **list) {
  const fs_schedule *s = l->p->s;
  const fsched_graph *g = l->p->g;
  uint32_t *version;
  FS_TRY(fs_new(&l->p->arena, &version, s->n_residencies));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t v = s->res_version[r];
    bool in = v != FS_NONE && (s->res_memory[r] == fs_version_memory(g, v)) == own;
    version[r] = in ? v : FS_NONE;
  }
  return fs_group(&l->p->arena, version, s->n_residencies, g->n_versions, index, list);
}

static bool holds(const fs_linker *l, uint32_t r, uint32_t item) {
  const fs_schedule *s = l->p->s;
  return s->res_begin[r] <= s->start[item] && s->end[item] <= s->res_end[r];
}

static bool filled_before(const fs_linker *l, uint32_t r, uint32_t item) {
  const fs_schedule *s = l->p->s;
  uint32_t filler = l->filler[r];
  return filler == FS_NONE || s->start[filler] < s->start[item] ||
         l->p->listed_index[filler] < l->p->listed_index[item];
}

/* The residency among list[first..end) that holds the item; FS_NONE for none. */
static uint32_t find_residency(const fs_linker *l, const uint32_t *list, uint32_t first,
                               uint32_t end, uint32_t item, bool fills) {
  const fs_schedule *s = l->p->s;
  uint32_t low = first, high = end, found = FS_NONE;
  while (low < high) { /* finds the first one that begins after the item's start */
    uint32_t middle = low + (high - low) / 2;
    if (s->res_begin[list[middle]] <= s->start[item]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (uint32_t i = low; i-- > first && i + 2 >= low;) { /* the last two that have begun */
    if (holds(l, list[i], item)) {
      if (fills || filled_before(l, list[i], item)) {
        return list[i];
      }
      found = found == FS_NONE ? list[i] : found;
    }
  }
  return found;
}

/* Links a copy.  Reads fill residencies, so they are linked before the items that use these. */
static void link_copy(fs_linker *l, uint32_t copy, bool reads) {
  fs_schedule *s = l->p->s;
  const fsched_graph *g = l->p->g;
  if ((s->copy_kind[copy] == FS_SPILL_READ) != reads) {
    return;
  }
  uint32_t item = g->n_ops + copy, v = s->copy_version[copy];
  uint32_t own = fs_version_memory(g, v), store = g->target.memory[own].backing;
  uint32_t r = find_residency(l, l->own, l->own0[v], l->own0[v + 1], item, reads);
  s->copy_residency[copy] = r;
  if (reads && r != FS_NONE) {
    l->filler[r] = item;
  }
  if (fs_memory_bounded(&g->target.memory[store])) {
    s->copy_store[copy] = find_residency(l, l->store, l->store0[v], l->store0[v + 1], item, true);
  }
}

static void link_op(fs_linker *l, uint32_t op) {
  const fsched_graph *g = l->p->g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v == FS_NONE || !fs_memory_bounded(fs_version_home(g, v))) {
      continue;
    }
    l->p->s->arg_residency[a] = find_residency(l, l->own, l->own0[v], l->own0[v + 1], op, false);
  }
}

/* Links a residency of scratch, which names its op.  An op has one such residency for a memory. */
static void link_scratch(fs_linker *l, uint32_t r) {
  fs_schedule *s = l->p->s;
  const fsched_graph *g = l->p->g;
  uint32_t op = s->res_op[r];
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (g->scratch_memory[i] == s->res_memory[r] && s->scratch_residency[i] == FS_NONE) {
      s->scratch_residency[i] = r;
    }
  }
}

fs_status fs_schedule_link(fs_sparse *p) {
  assert(p->s->res_begin != NULL || p->s->n_residencies == 0);
  fs_linker l = {.p = p};
  FS_TRY(group(&l, true, &l.own0, &l.own));
  FS_TRY(group(&l, false, &l.store0, &l.store));
  FS_TRY(fs_new_none(&p->arena, &l.filler, p->s->n_residencies));
  for (int reads = 1; reads >= 0; reads--) {
    for (uint32_t c = 0; c < p->s->n_copies; c++) {
      link_copy(&l, c, reads);
    }
  }
  for (uint32_t op = 0; op < p->g->n_ops; op++) {
    link_op(&l, op);
  }
  for (uint32_t r = 0; r < p->s->n_residencies; r++) {
    if (p->s->res_op[r] != FS_NONE) {
      link_scratch(&l, r);
    }
  }
  return FSCHED_OK;
}
