/* SPDX-License-Identifier: Apache-2.0 */
/* Where a schedule could do what the problem does not know:
 *
 *   - a part of given content that is wanted is overwritten first, in a stay of its own, without a
 *     read, as others have read theirs before;
 *   - given content in a memory that is not short is read by none that comes before all writers, so
 *     that fsched-proof(5) does not know of its read. */
#include "problem/spilling/private.h"

typedef struct access_list {
  const fsched_graph *g;
  fs_op_closure after;
  uint32_t version, from, to; /* accesses */
} access_list;

static bool access_writes(const access_list *l, uint32_t i) {
  return fs_tag_writes(l->g->arg_tag[l->g->access_arg[i]]);
}

/* Come all other ops of the version behind the op, or, with `writers`, those that write it? */
static bool comes_first(const access_list *l, uint32_t op, bool writers) {
  bool first = true;
  for (uint32_t i = l->from; i < l->to; i++) {
    uint32_t other = l->g->access_op[i];
    bool counts = other != op && (!writers || access_writes(l, i));
    first = first && (!counts || fs_op_follows(&l->after, other, op));
  }
  return first;
}

/* Does the op write the version, and not read it?  *whole: all of it. */
static bool overwrites(const access_list *l, uint32_t op, bool *whole) {
  bool writes = false, reads = false;
  *whole = false;
  for (uint32_t i = l->from; i < l->to; i++) {
    if (l->g->access_op[i] == op) {
      uint32_t arg = l->g->access_arg[i];
      writes = writes || access_writes(l, i);
      reads = reads || fs_tag_reads(l->g->arg_tag[arg]);
      *whole = *whole || (access_writes(l, i) && fs_arg_whole(l->g, arg));
    }
  }
  return writes && !reads;
}

static bool is_behind_writer(const access_list *l, uint32_t op) {
  bool any = false;
  for (uint32_t i = l->from; i < l->to; i++) {
    any = any || (access_writes(l, i) && fs_op_follows(&l->after, op, l->g->access_op[i]));
  }
  return any;
}

/* Of a version that comes and goes. */
static bool may_lose(const access_list *l) {
  bool lost = false, whole;
  for (uint32_t i = l->from; i < l->to && fs_problem_needs_read(l->g, l->version); i++) {
    uint32_t op = l->g->access_op[i];
    lost = lost || (overwrites(l, op, &whole) && !whole && !is_behind_writer(l, op) &&
                    !comes_first(l, op, false));
  }
  return lost;
}

/* Of a version in a memory that is not short. */
static bool reads_given(const access_list *l) {
  bool any = false;
  for (uint32_t i = l->from; i < l->to; i++) {
    uint32_t arg = l->g->access_arg[i];
    any = any || (fs_tag_reads(l->g->arg_tag[arg]) && l->g->arg_length[arg] > 0 &&
                  comes_first(l, l->g->access_op[i], true));
  }
  return any;
}

bool fs_spilling_may_lose(const fs_spilling_draft *b) {
  assert(b->is_short != NULL && (b->after.bit != NULL || b->g->n_ops == 0));
  access_list l = {.g = b->g, .after = b->after};
  bool lost = false;
  for (l.version = 0; l.version < b->g->n_versions && !lost; l.version++) {
    l.from = b->g->version_access0[l.version];
    l.to = b->g->version_access0[l.version + 1];
    lost = b->is_short[fs_version_memory(b->g, l.version)] && may_lose(&l);
  }
  return lost;
}

static bool is_provable(const fs_spilling *w, const access_list *l) {
  uint32_t v = l->version;
  return w->held[v] != FS_NONE || w->user0[v] < w->user0[v + 1] ||
         !fs_problem_needs_read(l->g, v) || reads_given(l);
}

fs_status fs_spilling_provable(const fs_problem *p, bool *provable) {
  assert(p->spilling != NULL);
  const fsched_graph *g = p->graph;
  FS_SCRATCH(arena, p->ctx);
  access_list l = {.g = g};
  FS_TRY(fs_op_closure_find(&l.after, g, &arena));
  *provable = !g->target.implicit_queues && g->buffer_slot == NULL && g->n_races == 0;
  for (l.version = 0; l.version < g->n_versions && *provable; l.version++) {
    l.from = g->version_access0[l.version];
    l.to = g->version_access0[l.version + 1];
    *provable = is_provable(p->spilling, &l);
  }
  return FSCHED_OK;
}
