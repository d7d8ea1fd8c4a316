/* SPDX-License-Identifier: Apache-2.0 */
/* The shared scenarios: makespan and waits are no worse than what is written beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "model/handle.h"
#include "model/stream/stream.h"

#include "kit/context.h"

enum { SCENARIOS = 22 };

typedef struct expected {
  char name[64];
  unsigned makespan, edges, same_queue, dominated, emitted;
} expected;

/* name,greedy_makespan,best_found,lower_bound,wait_edges,same_queue,dominated,emitted; the third
 * and fourth field may be empty. */
static bool parse(const char *line, expected *e) {
  if (sscanf(line, "%63[^,],%u", e->name, &e->makespan) != 2) {
    return false;
  }
  for (int field = 0; field < 4; field++) {
    line = strchr(line, ',') + 1;
  }
  return sscanf(line, "%u,%u,%u,%u", &e->edges, &e->same_queue, &e->dominated, &e->emitted) == 4;
}

static void compile(const char *folder, const expected *e) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s.yaml", folder, e->name);
  fsched_graph *g;
  ck_assert_msg(fsched_graph_read(ctx, path, NULL, &g) == FSCHED_OK, "%s: %s", path,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "not read");
  fsched_compile_options options = {.size = sizeof options, .verify = 1};
  fsched_schedule *s;
  fsched_program *p;
  ck_assert_msg(fsched_compile(ctx, g, &options, &s, &p) == FSCHED_OK, "%s: %s", path,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "not compiled");
  const fs_sync *y = s->sync;
  ck_assert_msg(fsched_schedule_makespan(s) <= e->makespan, "%s: makespan %llu, not %u", e->name,
                (unsigned long long)fsched_schedule_makespan(s), e->makespan);
  ck_assert_uint_eq(p->view.n_waits, y->waits_emitted);
  ck_assert_msg(p->view.n_waits <= e->emitted, "%s: %u waits, not %u", e->name, p->view.n_waits,
                e->emitted);
  ck_assert_uint_eq(y->waits_edges, y->waits_same_queue + y->waits_dominated + y->waits_emitted);
  ck_assert_uint_ge(y->waits_edges, e->edges);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(no_worse_than_expected)
{
  const char *shared = getenv("FSCHED_SHARED");
  char folder[400];
  char path[512];
  (void)snprintf(folder, sizeof folder, "%s/data/scenarios", shared == NULL ? "../shared" : shared);
  (void)snprintf(path, sizeof path, "%s/expected.csv", folder);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    printf("skipped: no %s\n", path);
    return;
  }
  char line[512];
  int n = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    expected e;
    if (parse(line, &e)) {
      compile(folder, &e);
      n++;
    }
  }
  (void)fclose(f);
  ck_assert_int_eq(n, SCENARIOS);
}
END_TEST

FS_SUITE(scenarios, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 20);
  FS_TESTS(t, no_worse_than_expected);
}
