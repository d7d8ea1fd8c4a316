/* SPDX-License-Identifier: Apache-2.0 */
/* The search on public instances whose least makespans are known: nothing is below them, nothing
 * that is called optimal is above them, and most are found and proven within a limit of nodes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "fsched/compile.h"
#include "fsched/import.h"
#include "fsched/verify.h"

#include "kit/context.h"

typedef struct known_set {
  const char *folder, *suffix;
  fsched_format format;
  uint64_t nodes, most_best; /* instances whose best known makespan is longer are left out */
  unsigned every;
  unsigned n, proven, found;
  unsigned shown; /* bounds, by the file of a proof */
} known_set;

static bool read_shared(const known_set *set, const char *name, char **text, size_t *length) {
  char path[4096];
  const char *root = getenv("FSCHED_SHARED");
  (void)snprintf(path, sizeof path, "%s/data/%s/%s", root == NULL ? "../shared" : root, set->folder,
                 name);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return false;
  }
  (void)fclose(file);
  ck_fs(ctx, fs_file_read(ctx, path, text, length));
  return true;
}

static fsched_graph *import_instance(const known_set *set, const char *name) {
  char path[128], *text, *yaml;
  size_t n, m;
  fsched_graph *g;
  (void)snprintf(path, sizeof path, "%s%s", name, set->suffix);
  ck_assert_msg(read_shared(set, path, &text, &n), "no %s", path);
  ck_fs(ctx, fsched_import(ctx, set->format, name, text, n, NULL, &yaml, &m));
  ck_fs(ctx, fsched_graph_parse(ctx, name, yaml, m, NULL, &g));
  fsched_text_free(ctx, yaml, m);
  (void)fs_realloc(ctx, text, n + 1, 0);
  return g;
}

/* What is proven with a file is shown by it. */
static void check_proof(known_set *set, const fsched_graph *g, const char *name, uint64_t best) {
  char *text;
  size_t n;
  uint64_t shown;
  fsched_compile_options o = {.size = sizeof o,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = set->nodes,
                              .proof = &text,
                              .proof_length = &n};
  fsched_schedule *s;
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  if (status == FSCHED_USAGE) { /* ops of no length on queues that are short */
    fsched_diag_clear(ctx);
    return;
  }
  ck_fs(ctx, status);
  set->shown++;
  ck_fs(ctx, fsched_verify_proof(ctx, g, text, n, name, &shown));
  ck_assert_uint_eq(shown, fsched_schedule_lower_bound(s));
  ck_assert_uint_le(shown, best);
  fsched_schedule_destroy(s);
  fsched_text_free(ctx, text, n);
}

static void try_instance(known_set *set, const char *name, uint64_t least, uint64_t best) {
  fsched_graph *g = import_instance(set, name);
  fsched_compile_options o = {
      .size = sizeof o, .verify = 1, .refine = FSCHED_REFINE_SEARCH, .node_limit = set->nodes};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  uint64_t makespan = fsched_schedule_makespan(s), bound = fsched_schedule_lower_bound(s);
  ck_assert_msg(makespan >= least, "%s: %llu is below %llu", name, (unsigned long long)makespan,
                (unsigned long long)least);
  ck_assert_msg(bound <= best, "%s: the bound %llu is above %llu", name, (unsigned long long)bound,
                (unsigned long long)best);
  if (set->n % 4 == 0) {
    check_proof(set, g, name, best);
  }
  set->n++;
  set->proven += makespan == bound;
  set->found += makespan == best;
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

/* False: there is no shared data. */
static bool try_set(known_set *set) {
  char *list, name[32];
  size_t n;
  unsigned long long least, best;
  unsigned k = 0;
  if (!read_shared(set, "best_known.csv", &list, &n)) {
    printf("skipped: no shared data %s\n", set->folder);
    return false;
  }
  for (char *line = list; line != NULL; line = strchr(line + 1, '\n')) {
    if (sscanf(line, "\n%31[^,.]%*[^,],%llu,%llu", name, &least, &best) != 3 &&
        sscanf(line, "\n%31[^,.],%llu,%llu", name, &least, &best) != 3) {
      continue;
    }
    if (best <= set->most_best && k++ % set->every == 0) {
      try_instance(set, name, least, best);
    }
  }
  (void)fs_realloc(ctx, list, n + 1, 0);
  return true;
}

START_TEST(projects_of_thirty_jobs)
{
  known_set set = {.folder = "rcpsp/j30",
                   .suffix = ".rcp",
                   .format = FSCHED_FORMAT_PATTERSON,
                   .nodes = 1500,
                   .most_best = UINT64_MAX,
                   .every = 1};
  if (try_set(&set)) {
    ck_assert_uint_ge(set.n, 90);
    ck_assert_uint_ge(set.proven, set.n * 8 / 10);
    ck_assert_uint_ge(set.found, set.n * 9 / 10);
    ck_assert_uint_ge(set.shown, set.n / 5);
  }
}
END_TEST

/* Those of fewer than 1000 ticks have 50 to 100 operations. */
START_TEST(job_shops)
{
  known_set set = {.folder = "jobshop",
                   .suffix = ".txt",
                   .format = FSCHED_FORMAT_JOBSHOP,
                   .nodes = 20000,
                   .most_best = 1000,
                   .every = 1};
  if (try_set(&set)) {
    ck_assert_uint_ge(set.n, 10);
    ck_assert_uint_ge(set.proven, set.n * 6 / 10);
    ck_assert_uint_ge(set.found, set.n * 8 / 10);
    ck_assert_uint_ge(set.shown, set.n / 8);
  }
}
END_TEST

FS_SUITE(search_known, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_TESTS(t, projects_of_thirty_jobs, job_shops);
}
