/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies no schedule avoids, and whether a best schedule has no others.
 *
 * Given content needs its read unless all bytes that are read, or kept, are overwritten before.
 * With raw hazards, a racing write may come before or after the reader; then the read is taken to
 * be needed.
 *
 * A spill that a schedule could avoid is useful only if it makes room.  Where everything that ever
 * lies in a memory fits side by side, and in its store too, no spill is useful: extra copies can be
 * left out of any schedule, and the residencies of a version joined, without moving any item.  So
 * it is where a version of a memory without a store may have several residencies. */
#include "model/overwritten.h"
#include "problem/private.h"

bool fs_problem_needs_read(const fsched_graph *g, uint32_t version) {
  assert(version < g->n_versions);
  return fs_version_load_needed(g, version);
}

bool fs_problem_needs_write(const fsched_graph *g, uint32_t version) {
  assert(version < g->n_versions);
  if (!fs_version_kept(g, version) || !fs_version_spills(g, version)) {
    return false;
  }
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    if (fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      return true;
    }
  }
  return false;
}

/* Does the problem have exactly the needed copies, each once? */
static fs_status needed_copies(fs_problem_draft *d, bool *only) {
  const fsched_graph *g = d->g;
  const fs_problem *p = d->p;
  uint32_t *n; /* per version: reads, then writes */
  FS_TRY(fs_new_zero(&d->scratch, &n, 2 * (size_t)g->n_versions));
  for (uint32_t c = 0; c < p->n_copies; c++) {
    n[2 * p->copy_version[c] + (p->copy_kind[c] == FS_SPILL_WRITE)]++;
  }
  *only = true;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    *only = *only && n[2 * v] == fs_problem_needs_read(g, v) &&
            n[2 * v + 1] == fs_problem_needs_write(g, v);
  }
  return FSCHED_OK;
}

/* Has each version at most one residency in each memory, so that none was given up to make room? */
static fs_status single_places(fs_problem_draft *d, bool *single) {
  const fs_problem *p = d->p;
  uint8_t *own;
  FS_TRY(fs_new_zero(&d->scratch, &own, 2 * (size_t)d->g->n_versions));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t v = p->res_version[r];
    if (v != FS_NONE) {
      bool home = p->res_memory[r] == fs_version_memory(d->g, v);
      *single = *single && own[2 * v + home]++ == 0;
    }
  }
  return FSCHED_OK;
}

/* Sets *fits if each memory that spills, and each of their stores, and others in which versions may
 * have several residencies, have room for all their residencies at one time.  Those that have not
 * are marked as tight. */
static fs_status never_overfull(fs_problem_draft *d, bool *fits) {
  const fs_target *t = &d->g->target;
  const fs_problem *p = d->p;
  uint64_t *sum;
  uint8_t *matters;
  FS_TRY(fs_new_zero(&d->scratch, &sum, t->n_memories));
  FS_TRY(fs_new_zero(&d->scratch, &matters, t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (fs_memory_bounded(&t->memory[m]) && fs_memory_spills(&t->memory[m])) {
      matters[m] = matters[t->memory[m].backing] = 1;
    }
  }
  for (uint32_t v = 0; v < d->g->n_versions; v++) {
    matters[fs_version_memory(d->g, v)] |= fs_version_rests(d->g, v);
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint64_t *s = &sum[p->res_memory[r]];
    *s = *s > FS_UNBOUNDED - p->res_size[r] ? FS_UNBOUNDED : *s + p->res_size[r];
  }
  FS_TRY(fs_new_zero(&d->p->arena, &d->p->tight, t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    bool over = matters[m] && fs_memory_bounded(&t->memory[m]) && sum[m] > t->memory[m].capacity;
    d->p->tight[m] = over;
    *fits = *fits && !over;
  }
  return FSCHED_OK;
}

/* Is there given content that a schedule may do without if a racing write comes first? */
static bool any_load_races(const fsched_graph *g) {
  bool any = false;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    any = any || fs_version_load_races(g, v);
  }
  return any;
}

fs_status fs_problem_exactness(fs_problem_draft *d) {
  bool only, single = true, fits = true;
  FS_TRY(needed_copies(d, &only));
  FS_TRY(single_places(d, &single));
  FS_TRY(never_overfull(d, &fits));
  d->p->least = only && single && !any_load_races(d->g);
  d->p->exact = d->p->least && fits;
  return FSCHED_OK;
}
