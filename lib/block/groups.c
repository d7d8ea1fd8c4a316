/* SPDX-License-Identifier: Apache-2.0 */
/* As cuts.c, but the length of a phase [i, j) is found by dividing its groups among the queues:
 * what edges that take a sync connect inside of a phase must be on one queue, for which all of its
 * items must be eligible; a gang can be in a phase with none of its neighbours, and has its own
 * queues. Going backward from j, each item joins the groups of its targets.  If a group has no
 * queue left, no earlier begin is possible either. */
#include "block/groups.h"

enum { STEPS = 1 << 22, LEAST_WINDOW = 4 };

typedef struct group_cutter {
  const fs_block_problem *p;
  const uint32_t *order;
  uint32_t *place;    /* per item */
  uint64_t *eligible; /* per item: queues; of a gang its members */
  fs_tick *best;      /* per j */
  uint32_t *begin;    /* per j */
  /* The phase that is tried: */
  uint32_t end;
  uint32_t *root;   /* per item: one of its group, or itself */
  uint64_t *queues; /* per root */
  fs_tick *time;    /* per root */
  uint32_t n_roots;
  uint32_t *list;   /* roots, the longest first */
  uint32_t *listed; /* per root: its index there */
  uint32_t *at;     /* per root: its queue */
  fs_tick load[FS_GROUP_QUEUES];
  uint64_t steps;
} group_cutter;

bool fs_block_groups_can(const fs_block_problem *p) {
  return p->open && !p->any_counting && p->n_queues <= FS_GROUP_QUEUES;
}

static uint64_t eligible_of(const fs_block_problem *p, uint32_t item) {
  uint32_t n;
  const uint32_t *queues;
  uint32_t d = p->domain[item];
  if (d == FS_NONE) {
    queues = fs_item_queues(p->s, item, &n);
  } else {
    queues = &p->eligible[p->domain0[d]];
    n = p->domain0[d + 1] - p->domain0[d];
  }
  uint64_t set = 0;
  for (uint32_t i = 0; i < n; i++) {
    set |= UINT64_C(1) << queues[i];
  }
  return set;
}

static uint32_t find_root(const group_cutter *c, uint32_t item) {
  while (c->root[item] != item) {
    item = c->root[item];
  }
  return item;
}

/* Moves a root forward in the list, as its time has grown. */
static void raise_root(group_cutter *c, uint32_t root) {
  uint32_t at = c->listed[root];
  for (; at > 0 && c->time[c->list[at - 1]] < c->time[root]; at--) {
    c->list[at] = c->list[at - 1];
    c->listed[c->list[at]] = at;
    c->steps++;
  }
  c->list[at] = root;
  c->listed[root] = at;
}

static void unlist_root(group_cutter *c, uint32_t root) {
  c->n_roots--;
  for (uint32_t at = c->listed[root]; at < c->n_roots; at++) {
    c->list[at] = c->list[at + 1];
    c->listed[c->list[at]] = at;
    c->steps++;
  }
}

/* Adds an item before the others of the phase; false if its group has no queue. */
static bool add_item(group_cutter *c, uint32_t item) {
  const fs_block_problem *p = c->p;
  bool gang = p->gang[item];
  c->root[item] = item;
  c->queues[item] = c->eligible[item];
  c->time[item] = p->time[item];
  for (uint32_t e = p->succ0[item]; e < p->succ0[item + 1]; e++) {
    uint32_t to = p->succ[e].from;
    c->steps++;
    if (!p->succ[e].full || c->place[to] >= c->end) {
      continue;
    }
    uint32_t root = find_root(c, to);
    if (gang || p->gang[to]) {
      return false;
    }
    if (root != item) {
      unlist_root(c, root);
      c->root[root] = item;
      c->queues[item] &= c->queues[root];
      c->time[item] += c->time[root];
    }
  }
  c->listed[item] = c->n_roots;
  c->n_roots++;
  raise_root(c, item);
  return c->queues[item] != 0;
}

/* Puts a gang's time on all of its queues, another group's on the one with the least load. */
static fs_tick put_root(group_cutter *c, uint32_t root) {
  bool gang = c->p->gang[root];
  uint32_t best = FS_NONE;
  fs_tick longest = 0;
  for (uint64_t left = c->queues[root]; left != 0; left &= left - 1) {
    uint32_t q = (uint32_t)__builtin_ctzll(left);
    c->steps++;
    if (gang) {
      c->load[q] += c->time[root];
      longest = fs_max(longest, c->load[q]);
    } else if (best == FS_NONE || c->load[q] < c->load[best]) {
      best = q;
    }
  }
  if (gang) {
    c->at[root] = fs_item_queues(c->p->s, root, &(uint32_t){0})[0];
    return longest;
  }
  c->at[root] = best;
  c->load[best] += c->time[root];
  return c->load[best];
}

static fs_tick divide(group_cutter *c, fs_tick enough) {
  fs_tick length = 0;
  memset(c->load, 0, c->p->n_queues * sizeof *c->load);
  for (uint32_t k = 0; k < c->n_roots && length < enough; k++) {
    length = fs_max(length, put_root(c, c->list[k]));
  }
  return length;
}

static void cut_at(group_cutter *c, uint32_t j, uint64_t most_steps) {
  uint64_t last_step = c->steps + most_steps;
  c->end = j;
  c->n_roots = 0;
  c->best[j] = FS_TICK_NONE;
  for (uint32_t i = j; i-- > 0 && (c->steps < last_step || j - i <= LEAST_WINDOW);) {
    if (!add_item(c, c->order[i])) {
      return;
    }
    fs_tick before = c->best[i] + (i == 0 ? 0 : c->p->cost);
    if (before >= c->best[j]) {
      continue;
    }
    fs_tick length = divide(c, c->best[j] - before);
    if (before + length < c->best[j]) {
      c->best[j] = before + length;
      c->begin[j] = i;
    }
  }
}

static void put_phase(group_cutter *c, fs_block_answer *a, uint32_t begin, uint32_t end,
                      uint32_t phase) {
  c->end = end;
  c->n_roots = 0;
  for (uint32_t i = end; i-- > begin;) {
    (void)add_item(c, c->order[i]);
  }
  (void)divide(c, FS_TICK_NONE);
  for (uint32_t i = begin; i < end; i++) {
    uint32_t item = c->order[i];
    a->queue[item] = c->at[find_root(c, item)];
    a->phase[item] = phase;
  }
}

static fs_status make_room(group_cutter *c, fs_arena *scratch) {
  uint32_t n = c->p->n;
  FS_TRY(fs_new(scratch, &c->place, n));
  FS_TRY(fs_new(scratch, &c->eligible, n));
  FS_TRY(fs_new(scratch, &c->best, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &c->begin, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &c->root, n));
  FS_TRY(fs_new(scratch, &c->queues, n));
  FS_TRY(fs_new(scratch, &c->time, n));
  FS_TRY(fs_new(scratch, &c->list, n));
  FS_TRY(fs_new(scratch, &c->listed, n));
  return fs_new(scratch, &c->at, n);
}

static fs_status cut_by_groups(group_cutter *c, fs_arena *scratch, fs_block_answer *a) {
  uint32_t n = c->p->n;
  uint32_t phase = 0;
  FS_TRY(make_room(c, scratch));
  for (uint32_t i = 0; i < n; i++) {
    c->place[c->order[i]] = i;
    c->eligible[i] = eligible_of(c->p, i);
  }
  c->best[0] = 0;
  for (uint32_t j = 1; j <= n; j++) {
    cut_at(c, j, STEPS / n + 1);
  }
  for (uint32_t j = n; j > 0; j = c->begin[j]) {
    phase++;
  }
  for (uint32_t j = n; j > 0; j = c->begin[j]) {
    put_phase(c, a, c->begin[j], j, --phase);
  }
  return FSCHED_OK;
}

fs_status fs_block_group(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                         fs_block_answer *a) {
  assert(fs_block_groups_can(p) && (order != NULL || p->n == 0));
  FS_SCRATCH(scratch, ctx);
  group_cutter c = {.p = p, .order = order};
  if (p->n > 0) {
    FS_TRY(cut_by_groups(&c, &scratch, a));
  }
  return fs_block_answer_fill(ctx, p, a);
}
