/* SPDX-License-Identifier: Apache-2.0 */
/* What surely lies in a memory at some moment.
 *
 * A version is there while an op that accesses it runs.  Where content cannot leave the memory, it
 * stays in between: it comes with an op that writes it, or was given and lies there from 0, and is
 * gone only when all have run that access it, or, if it is kept, at the end.  But an op that writes
 * it without reading it may begin it anew behind a gap, unless it is the first one that writes it,
 * as the only such op of a version that is not given is.
 *
 * Versions of an in-place pair may share a place while their op runs.  Versions that pairs join are
 * a group, of one size; one of them is there from when the first one comes until the last one goes,
 * so the group counts as one version.  The orders of ops say which groups are there at one time, as
 * they do of ops (proof.c). */
#include "verify/proof/proof.h"

#include <stdlib.h>

#include "base/saturate.h"

/* ---- groups */

static bool accesses(const fsched_graph *g, uint32_t arg) {
  return g->arg_version[arg] != FS_NONE && fs_tag_accesses(g->arg_tag[arg]);
}

static uint32_t root_of(const uint32_t *joined, uint32_t version) {
  while (joined[version] != version) {
    version = joined[version];
  }
  return version;
}

/* Joins the versions of in-place pairs; the one of the least number stands for its group. */
static void join_pairs(const fsched_graph *g, uint32_t *joined) {
  for (uint32_t v = 0; v < g->n_versions; v++) {
    joined[v] = v;
  }
  for (uint32_t i = 0; i < g->op_inplace0[g->n_ops]; i++) {
    uint32_t in = g->arg_version[g->inplace_in[i]], out = g->arg_version[g->inplace_out[i]];
    if (in != FS_NONE && out != FS_NONE) {
      uint32_t a = root_of(joined, in), b = root_of(joined, out);
      joined[fs_max(a, b)] = fs_min(a, b);
    }
  }
}

/* Is the version there all the time from the first op that accesses it to the last one?  Only one
 * thing gives it content that was not there. */
static bool stays_between(const fsched_graph *g, uint32_t version) {
  uint32_t begins = fs_version_given(g, version), last = FS_NONE;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    unsigned tag = g->arg_tag[g->access_arg[i]];
    if (fs_tag_writes(tag) && !fs_tag_reads(tag)) {
      begins += g->access_op[i] != last;
      last = g->access_op[i];
    }
  }
  return begins <= 1;
}

static void add_member(const fs_vproof *p, fs_vlives *l, uint32_t version) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[l->memory];
  fs_vgroup *of = &l->group[l->group_of[version]];
  of->size = fs_max(of->size, fs_vsize_aligned(m, g->buffer_size[g->version_buffer[version]]));
  of->given = of->given || fs_version_given(g, version);
  of->kept = of->kept || fs_version_kept(g, version);
  of->stays = of->stays && stays_between(g, version);
}

static fs_status make_groups(fs_vproof *p, fs_vlives *l) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[l->memory];
  uint32_t *joined;
  bool leaves = m->backing != FS_NONE && m->spill_domain != FS_NONE;
  FS_TRY(fs_new(&p->scratch, &joined, g->n_versions));
  FS_TRY(fs_new_none(&p->arena, &l->group_of, g->n_versions));
  FS_TRY(fs_new(&p->arena, &l->group, g->n_versions));
  join_pairs(g, joined);
  for (uint32_t v = 0; v < g->n_versions && g->buffer_slot == NULL; v++) {
    if (g->buffer_memory[g->version_buffer[v]] == l->memory) {
      uint32_t first = root_of(joined, v);
      if (l->group_of[first] == FS_NONE) {
        l->group[l->n_groups] = (fs_vgroup){.stays = !leaves};
        l->group_of[first] = l->n_groups++;
      }
      l->group_of[v] = l->group_of[first];
      add_member(p, l, v);
    }
  }
  for (uint32_t k = 0; k < l->n_groups; k++) {
    const fs_vgroup *of = &l->group[k];
    bool always = of->stays && of->given && of->kept;
    l->always = always ? fs_add_most(l->always, of->size) : l->always;
  }
  return FSCHED_OK;
}

static fs_status find_lives(fs_vproof *p, uint32_t memory, const fs_vlives **out) {
  for (size_t k = 0; k < p->lives.n; k++) {
    if (p->lives.at[k].memory == memory) {
      *out = &p->lives.at[k];
      return FSCHED_OK;
    }
  }
  fs_vlives l = {.memory = memory};
  FS_TRY(make_groups(p, &l));
  FS_TRY(fs_vec_push(p->ctx, &p->lives, l));
  *out = &p->lives.at[p->lives.n - 1];
  return FSCHED_OK;
}

/* ---- what is there for sure */

typedef struct held_part {
  uint64_t from, to, size;
  uint32_t group; /* FS_NONE: scratch */
} held_part;

static int compare_parts(const void *a, const void *b) {
  const held_part *x = a, *y = b;
  if (x->group != y->group) {
    return x->group < y->group ? -1 : 1;
  }
  if (x->from != y->from) {
    return x->from < y->from ? -1 : 1;
  }
  if (x->to != y->to) {
    return x->to < y->to ? -1 : 1;
  }
  return x->size < y->size ? -1 : x->size > y->size;
}

typedef struct held_list {
  held_part *at;
  size_t n;
  uint64_t end; /* of all ops, at least */
} held_list;

/* Adds what the op holds while it surely runs; of what stays, also where it does not. */
static void hold_op(const fs_vproof *p, const fs_vlives *l, uint32_t op, held_list *h) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[l->memory];
  uint64_t from = (uint64_t)p->ub[op], to = (uint64_t)p->lb[op] + p->time[op];
  h->end = fs_max(h->end, to);
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (g->scratch_memory[i] == l->memory && from < to) {
      h->at[h->n++] = (held_part){from, to, fs_vsize_aligned(m, g->scratch_size[i]), FS_NONE};
    }
  }
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t group = accesses(g, a) ? l->group_of[g->arg_version[a]] : FS_NONE;
    const fs_vgroup *of = group == FS_NONE ? NULL : &l->group[group];
    if (of != NULL && (of->stays ? !(of->given && of->kept) : from < to)) {
      h->at[h->n++] = (held_part){from, to, of->size, group};
    }
  }
}

static fs_status hold_ops(fs_vproof *p, const fs_vlives *l, held_list *h) {
  const fsched_graph *g = p->g;
  size_t most = 0;
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    most += op >= g->n_ops ? 0
                           : (size_t)(g->op_scratch0[op + 1] - g->op_scratch0[op]) +
                                 (g->op_arg0[op + 1] - g->op_arg0[op]);
  }
  FS_TRY(fs_new(&p->scratch, &h->at, most));
  for (size_t k = 0; k < p->op.n; k++) {
    if (p->op.at[k] < g->n_ops) {
      hold_op(p, l, p->op.at[k], h);
    }
  }
  if (h->n > 1) {
    qsort(h->at, h->n, sizeof *h->at, compare_parts);
  }
  return FSCHED_OK;
}

/* Makes the parts of a group one where they meet, or where it stays between them. */
static void merge_parts(const fs_vlives *l, held_list *h) {
  size_t to = 0;
  for (size_t k = 0; k < h->n; k++) {
    held_part part = h->at[k];
    const fs_vgroup *of = part.group == FS_NONE ? NULL : &l->group[part.group];
    bool stays = of != NULL && of->stays;
    part.from = stays && of->given ? 0 : part.from;
    part.to = stays && of->kept ? h->end : part.to;
    held_part *last = to == 0 ? NULL : &h->at[to - 1];
    bool same = of != NULL && last != NULL && last->group == part.group;
    if (same && (stays || part.from <= last->to)) {
      last->to = fs_max(last->to, part.to); /* sorted, so that the first one begins first */
    } else {
      h->at[to++] = part;
    }
  }
  h->n = to;
}

typedef struct held_event {
  uint64_t time, size;
  bool begins; /* ends come first */
} held_event;

static int compare_held(const void *a, const void *b) {
  const held_event *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->begins != y->begins) {
    return x->begins ? 1 : -1;
  }
  return x->size < y->size ? -1 : x->size > y->size;
}

static fs_status sweep_parts(fs_vproof *p, const held_list *h, uint64_t always, uint64_t capacity,
                             bool *over) {
  held_event *at;
  size_t n = 0;
  uint64_t used = always;
  FS_TRY(fs_new(&p->scratch, &at, 2 * h->n));
  for (size_t k = 0; k < h->n; k++) {
    if (h->at[k].from < h->at[k].to) {
      at[n++] = (held_event){h->at[k].from, h->at[k].size, true};
      at[n++] = (held_event){h->at[k].to, h->at[k].size, false};
    }
  }
  if (n > 1) {
    qsort(at, n, sizeof *at, compare_held);
  }
  *over = h->end > 0 && always > capacity;
  for (size_t k = 0; k < n && !*over; k++) {
    *over = at[k].begins && at[k].size > capacity - used;
    used = at[k].begins ? used + at[k].size : used - at[k].size;
  }
  return FSCHED_OK;
}

fs_status fs_vproof_overfull(fs_vproof *p, uint32_t memory, bool *over) {
  assert(memory < p->g->target.n_memories);
  const fs_vlives *l;
  held_list h = {0};
  FS_TRY(find_lives(p, memory, &l));
  FS_TRY(hold_ops(p, l, &h));
  merge_parts(l, &h);
  return sweep_parts(p, &h, l->always, fs_vproof_capacity(p, memory), over);
}
