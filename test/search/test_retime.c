/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of a schedule get other starts and addresses: as many of each kind and version, in a
 * schedule that the verifier accepts and that is shorter, the same way each time. */
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/private.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { GRAPHS = 6, NODES = 20000 };

static fs_schedule *retime(const fsched_graph *g, const fs_schedule *from, uint64_t nodes,
                           uint64_t *used) {
  const fs_search_options o = {.seed = 1};
  fs_search_state s = {.ctx = ctx, .g = g, .o = &o};
  fs_retiming x;
  fs_schedule *found;
  *used = nodes;
  fs_retiming_init(&x, ctx);
  ck_fs(ctx, fs_retiming_run(&x, &s, from, used, &found));
  fs_retiming_release(&x);
  return found;
}

/* The copies of each version, reads and writes. */
static void count_copies(const fs_schedule *s, uint32_t *n) {
  memset(n, 0, 2 * s->graph->n_versions * sizeof *n);
  for (uint32_t c = 0; c < s->n_copies; c++) {
    n[2 * s->copy_version[c] + (s->copy_kind[c] == FS_SPILL_WRITE)]++;
  }
}

START_TEST(keeps_copies)
{
  uint32_t shorter = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fs_gen_params p = {.seed = fs_turn() << 16 | (uint64_t)_i << 8 | k,
                       .n_ops = 40,
                       .n_queues = 4,
                       .n_memories = 1,
                       .max_size = 100,
                       .window = 16,
                       .tightness = 1.5,
                       .backing = true,
                       .io = _i % 2 == 1};
    fsched_graph *g;
    fsched_schedule *list;
    uint64_t used, again;
    fsched_compile_options o = {.size = sizeof o};
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    ck_fs(ctx, fsched_compile(ctx, g, &o, &list, NULL));
    const fs_schedule *from = list->schedule;
    fs_schedule *found = retime(g, from, NODES, &used), *other = retime(g, from, NODES, &again);
    ck_assert((found == NULL) == (other == NULL) && used == again);
    if (found != NULL) {
      size_t n = 2 * (size_t)g->n_versions;
      uint32_t *before = calloc(2 * n, sizeof *before);
      ck_assert_ptr_nonnull(before);
      ck_assert_uint_lt(found->makespan, from->makespan);
      ck_assert_uint_eq(found->makespan, other->makespan);
      ck_fs(ctx, fs_verify_schedule(ctx, g, found, NULL));
      count_copies(from, before);
      count_copies(found, before + n);
      ck_assert_mem_eq(before, before + n, n * sizeof *before);
      free(before);
      shorter++;
    }
    fs_schedule_destroy(found);
    fs_schedule_destroy(other);
    fsched_schedule_destroy(list);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(shorter, 0);
}
END_TEST

FS_SUITE(retiming, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, 2, keeps_copies);
}
