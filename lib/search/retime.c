/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and addresses for the copies of a schedule that spills: with these given, content stays
 * where it is from one copy to the next, so that schedules are made from orders of ops and copies
 * (generation/anneal.h), beginning with the one known.  They are shorter by what serial generation
 * of ops alone leaves open in memories and on queues. */
#include "search/private.h"

/* Nodes, each as long as a run of the list scheduler: of a neighbour, of addresses from those that
 * are known, and from scratch. */
enum { STEP_NODES = 4, FIND_NODES = 8, PLACE_NODES = 64 };

void fs_retiming_init(fs_retiming *x, fsched_context *ctx) {
  assert(ctx != NULL);
  *x = (fs_retiming){.makespan = FS_TICK_NONE};
  fs_arena_init(&x->arena, ctx);
}

void fs_retiming_release(fs_retiming *x) {
  fs_problem_destroy(x->p);
  fs_arena_release(&x->arena);
  x->p = NULL;
}

static fs_status begin_retiming(fs_retiming *x, fs_search_state *s, const fs_schedule *best) {
  fs_retiming_release(x);
  fs_retiming_init(x, s->ctx);
  FS_TRY(fs_problem_from_schedule(s->ctx, best, &x->p));
  FS_TRY(fs_life_search_open(&x->lives, s, x->p, &x->arena));
  x->makespan = best->makespan;
  return x->lives.p == NULL ? FSCHED_OK : fs_life_search_take(&x->lives, best);
}

fs_status fs_retiming_run(fs_retiming *x, fs_search_state *s, const fs_schedule *best,
                          uint64_t *nodes, fs_schedule **found) {
  assert(best != NULL);
  uint64_t most = *nodes;
  *found = NULL;
  *nodes = 0;
  if (x->makespan != best->makespan) {
    FS_TRY(begin_retiming(x, s, best));
  }
  fs_annealing *a = &x->lives.a;
  while (x->lives.p != NULL && a->any && *nodes < most && x->makespan > s->bound &&
         !fs_search_over(s)) {
    uint64_t finds = a->finds, searches = a->searches;
    fs_schedule *made;
    FS_TRY(fs_annealing_step(a));
    *nodes += STEP_NODES + (a->finds - finds) * FIND_NODES + (a->searches - searches) * PLACE_NODES;
    FS_TRY(fs_life_search_make(&x->lives, x->makespan, &made));
    if (made != NULL) {
      x->makespan = made->makespan;
      fs_schedule_destroy(*found);
      *found = made;
    }
  }
  return FSCHED_OK;
}
