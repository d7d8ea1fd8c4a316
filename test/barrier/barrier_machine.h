/* SPDX-License-Identifier: Apache-2.0 */
/* Problems for the barrier pass, which tests make item by item, and a machine, written apart from
 * the pass, that runs its results: physical barriers are mapped and freed in turn, commands take
 * any time, and the members of a gang start and end on their own. */
#ifndef FS_TEST_BARRIER_MACHINE_H
#define FS_TEST_BARRIER_MACHINE_H

#include "barrier/barrier.h"
#include "kit/gen.h"

enum { FS_BM_ITEMS = 1024, FS_BM_QUEUES = 64, FS_BM_GANG = 4 };

/* Problems: barrier_problem.c.
 *
 * Items are numbered in the order in which they are added, which is their FIFO order too. */
typedef struct fs_bm_item {
  uint32_t n_members, queue[FS_BM_GANG];
  uint32_t time, demand;
  uint32_t busy; /* less than the time: it is slow, and lets its queues go on before it is over */
} fs_bm_item;

typedef struct fs_bm {
  fs_barrier_problem p; /* made by fs_bm_plan; it points into what follows */
  uint32_t n_items, n_queues, n_links, cap_links;
  fs_bm_item *item;
  uint32_t (*link)[2]; /* from, to */
  uint64_t n_slots;
  bool reversed; /* the id of item i is n_items - 1 - i */
  void *owned[12];
  int n_owned;
} fs_bm;

void fs_bm_init(fs_bm *m, uint32_t n_queues, uint64_t n_slots);
void fs_bm_free(fs_bm *m);
/* Adds an item on one queue, and returns its number. */
uint32_t fs_bm_item_add(fs_bm *m, uint32_t queue, uint32_t time, uint32_t demand);
/* Adds one more member to the item that was added last. */
void fs_bm_member_add(fs_bm *m, uint32_t queue);
/* Makes some items slow. */
void fs_bm_slow(fs_bm *m, fs_rng *r);
/* Says that `from`, which was added earlier, is over before `to` starts. */
void fs_bm_link_add(fs_bm *m, uint32_t from, uint32_t to);
/* Returns the problem, whose items are planned as early as possible on unbounded barriers. */
fs_barrier_problem *fs_bm_plan(fs_bm *m, uint32_t bound);
/* Adds random items and links. */
void fs_bm_random(fs_bm *m, fs_rng *r, uint32_t n_items, uint32_t n_queues, uint32_t edges_per_item,
                  uint32_t most_demand, uint64_t n_slots, bool gangs);

/* What is wrong with a result by itself (slots, ids, uses, starts, order), or NULL. */
const char *fs_bm_check(const fs_barrier_problem *p, const fs_barriers *b);
typedef enum fs_bm_mode {
  FS_BM_TIMES, /* random durations, some very long; commands start as soon as they can */
  FS_BM_ANY    /* whatever may happen next happens at random */
} fs_bm_mode;
/* Runs a result.  Returns what went wrong, or NULL; it is "deadlock" when nothing can go on. */
const char *fs_bm_run(const fs_barrier_problem *p, const fs_barriers *b, fs_bm_mode mode,
                      fs_rng *r);
/* Returns a matrix, which the caller frees: [u * n_commands + c] says whether item u is over before
 * command c starts, by queues and links alone. */
char *fs_bm_closure(const fs_bm *m);
/* Whether the added orders are just those that the waits enforce and the closure lacks. */
const char *fs_bm_check_added(const fs_bm *m, const char *closure, const fs_barriers *b);

#endif
