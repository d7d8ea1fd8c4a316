/* SPDX-License-Identifier: Apache-2.0 */
/* Instances are imported, compiled and exported, and the checkers of test/import/solutions.h accept
 * the solutions: of random instances, and of those in shared/data where it exists.  A schedule that
 * does not fit a format is refused. */
#include <stdio.h>
#include <stdlib.h>
#include "kit/quick.h"

#include "base/files/file.h"
#include "fsched/import.h"
#include "fsched/verify.h"
#include "import/solutions.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "model/handle.h"

#include "kit/context.h"

static const char *first_fault(const fsched_context *c) {
  return fsched_diag_count(c) == 0 ? "" : fsched_diag_get(c, 0)->message;
}

/* ---- one round trip */

typedef const char *(*checker)(const char *instance, const char *solution, uint64_t *reached);
static const checker checkers[] = {fs_check_project, NULL, fs_check_strip, fs_check_memory,
                                   fs_check_jobshop};

/* Compiles and verifies, writes the schedule and reads it again, as the program does. */
static fsched_schedule *schedule_of(fsched_context *c, const fsched_graph *g) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *made = NULL, *read = NULL;
  char *json;
  size_t n;
  if (fsched_compile(c, g, &o, &made, NULL) != FSCHED_OK ||
      fsched_schedule_json(c, made, &json, &n) != FSCHED_OK ||
      fsched_schedule_parse(c, g, "s.json", json, n, &read) != FSCHED_OK ||
      fsched_verify_schedule(c, g, read) != FSCHED_OK) {
    ck_abort_msg("%s", first_fault(c));
  }
  fsched_text_free(c, json, n);
  fsched_schedule_destroy(made);
  return read;
}

static char *import_text(fsched_context *c, fsched_format format, const char *instance,
                         size_t *length) {
  char *yaml = NULL;
  if (fsched_import(c, format, "x", instance, strlen(instance), NULL, &yaml, length) != FSCHED_OK) {
    ck_abort_msg("%s\n%s", first_fault(c), instance);
  }
  return yaml;
}

/* Returns what the solution reaches; `answer` is the format that is checked. */
static uint64_t round_trip(fsched_format format, const char *instance, fsched_format answer,
                           const char *checked) {
  fsched_context *c;
  fsched_graph *g = NULL;
  size_t n;
  char *solution;
  uint64_t reached = 0;
  ck_assert_int_eq(fsched_context_create(NULL, &c), FSCHED_OK);
  char *yaml = import_text(c, format, instance, &n);
  if (fsched_graph_parse(c, "x.yaml", yaml, n, NULL, &g) != FSCHED_OK) {
    ck_abort_msg("%s\n%.*s", first_fault(c), (int)n, yaml);
  }
  fsched_text_free(c, yaml, n);
  fsched_schedule *s = schedule_of(c, g);
  if (fsched_export(c, format, s, &solution, &n) != FSCHED_OK) {
    ck_abort_msg("%s", first_fault(c));
  }
  const char *wrong = checkers[answer](checked, solution, &reached);
  if (wrong != NULL) {
    ck_abort_msg("%s\n%s\n%s", wrong, checked, solution);
  }
  fsched_text_free(c, solution, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
  return reached;
}

/* ---- random instances */

enum { RANDOM = 60 };

typedef struct export_project {
  uint32_t jobs, resources;
  uint32_t capacity[4], time[40], use[40][4], n_next[40], next[40][40];
} export_project;

static void make_project(export_project *p, uint64_t seed) {
  fs_rng rng = {seed};
  *p = (export_project){.jobs = 2 + fs_rng_below(&rng, 38), .resources = fs_rng_below(&rng, 5)};
  for (uint32_t k = 0; k < p->resources; k++) {
    p->capacity[k] = fs_rng_below(&rng, 9);
  }
  for (uint32_t j = 0; j < p->jobs; j++) {
    p->time[j] = fs_rng_below(&rng, 8);
    for (uint32_t k = 0; k < p->resources; k++) {
      p->use[j][k] = fs_rng_below(&rng, p->capacity[k] + 1);
    }
    /* In the order of a shuffle, so there is no circle. */
    for (uint32_t other = 0; other < p->jobs; other++) {
      bool after = (other * 7 + 3) % 41 > (j * 7 + 3) % 41;
      if (after && fs_rng_one_in(&rng, 6)) {
        p->next[j][p->n_next[j]++] = other + 1;
      }
    }
  }
}

static void put_patterson(fs_text *t, const export_project *p, fs_rng *rng) {
  fs_text_printf(t, "%u %u\n", p->jobs, p->resources);
  for (uint32_t k = 0; k < p->resources; k++) {
    fs_text_printf(t, " %u", p->capacity[k]);
  }
  for (uint32_t j = 0; j < p->jobs; j++) {
    fs_text_printf(t, "\n%u ", p->time[j]);
    for (uint32_t k = 0; k < p->resources; k++) {
      fs_text_printf(t, " %u", p->use[j][k]);
    }
    fs_text_printf(t, "%s%u", fs_rng_one_in(rng, 5) ? "\n\t" : "   ", p->n_next[j]);
    for (uint32_t i = 0; i < p->n_next[j]; i++) {
      fs_text_printf(t, "%s%u", fs_rng_one_in(rng, 5) ? "\n" : " ", p->next[j][i]);
    }
  }
  fs_text_add(t, "\n", 2);
}

static void put_psplib(fs_text *t, const export_project *p) {
  fs_text_printf(t,
                 "****\nfile with basedata : x.bas\nprojects : 1\njobs (incl. supersource/sink ): "
                 "%u\nhorizon : 99\nRESOURCES\n  - renewable : %u   R\n  - nonrenewable : 0   N\n"
                 "  - doubly constrained : 0   D\n****\nPROJECT INFORMATION:\npronr. #jobs\n 1 9\n"
                 "****\nPRECEDENCE RELATIONS:\njobnr. #modes #successors successors\n",
                 p->jobs, p->resources);
  for (uint32_t j = 0; j < p->jobs; j++) {
    fs_text_printf(t, " %u 1 %u", j + 1, p->n_next[j]);
    for (uint32_t i = 0; i < p->n_next[j]; i++) {
      fs_text_printf(t, " %u", p->next[j][i]);
    }
    fs_text_puts(t, "\n");
  }
  fs_text_puts(t, "****\nREQUESTS/DURATIONS:\njobnr. mode duration R 1\n--------\n");
  for (uint32_t j = 0; j < p->jobs; j++) {
    fs_text_printf(t, " %u 1 %u", j + 1, p->time[j]);
    for (uint32_t k = 0; k < p->resources; k++) {
      fs_text_printf(t, " %u", p->use[j][k]);
    }
    fs_text_puts(t, "\n");
  }
  fs_text_puts(t, "****\nRESOURCEAVAILABILITIES:\n R 1\n");
  for (uint32_t k = 0; k < p->resources; k++) {
    fs_text_printf(t, " %u", p->capacity[k]);
  }
  fs_text_add(t, "\n****\n", 7);
}

/* Both forms of a project give the same graph, except for the first line. */
START_TEST(projects)
{
  for (uint64_t seed = 0; seed < RANDOM; seed++) {
    export_project p;
    fs_rng rng = {seed};
    fs_text patterson, psplib;
    size_t n, m;
    make_project(&p, seed);
    fs_text_init(&patterson, ctx);
    fs_text_init(&psplib, ctx);
    put_patterson(&patterson, &p, &rng);
    put_psplib(&psplib, &p);
    char *one = import_text(ctx, FSCHED_FORMAT_PATTERSON, patterson.at, &n);
    char *two = import_text(ctx, FSCHED_FORMAT_PSPLIB, psplib.at, &m);
    const char *a = one + strcspn(one, "\n"), *b = two + strcspn(two, "\n");
    if (strcmp(a, b) != 0) {
      ck_abort_msg("%s\ndiffers from\n%s", one, two);
    }
    fsched_text_free(ctx, one, n);
    fsched_text_free(ctx, two, m);
    (void)round_trip(FSCHED_FORMAT_PATTERSON, patterson.at, FSCHED_FORMAT_PATTERSON, patterson.at);
    (void)round_trip(FSCHED_FORMAT_PSPLIB, psplib.at, FSCHED_FORMAT_PATTERSON, patterson.at);
    fs_text_drop(&patterson);
    fs_text_drop(&psplib);
  }
}
END_TEST

START_TEST(strips)
{
  for (uint64_t seed = 0; seed < RANDOM; seed++) {
    fs_rng rng = {seed};
    fs_text t;
    fs_text_init(&t, ctx);
    uint32_t width = 1 + fs_rng_below(&rng, 30);
    fs_text_printf(&t, "strip %u 1\n", width);
    for (uint32_t n = 1 + fs_rng_below(&rng, 40); n > 0; n--) {
      uint32_t height = 1 + fs_rng_below(&rng, 20);
      fs_text_printf(&t, "%u %u\n", 1 + fs_rng_below(&rng, width), height);
    }
    fs_text_add(&t, "", 1);
    (void)round_trip(FSCHED_FORMAT_STRIP, t.at, FSCHED_FORMAT_STRIP, t.at);
    fs_text_drop(&t);
  }
}
END_TEST

START_TEST(jobshops)
{
  for (uint64_t seed = 0; seed < RANDOM; seed++) {
    fs_rng rng = {seed};
    fs_text t;
    fs_text_init(&t, ctx);
    uint32_t jobs = 1 + fs_rng_below(&rng, 9), machines = 1 + fs_rng_below(&rng, 7);
    fs_text_printf(&t, "%u %u\n", jobs, machines);
    for (uint32_t job = 0; job < jobs; job++) {
      for (uint32_t k = 0; k < machines; k++) { /* a machine may be visited twice, or never */
        fs_text_printf(&t, "%u %u ", fs_rng_below(&rng, machines), fs_rng_below(&rng, 9));
      }
      fs_text_puts(&t, "\n");
    }
    fs_text_add(&t, "", 1);
    (void)round_trip(FSCHED_FORMAT_JOBSHOP, t.at, FSCHED_FORMAT_JOBSHOP, t.at);
    fs_text_drop(&t);
  }
}
END_TEST

/* With the default capacity everything can be placed, in any order. */
START_TEST(memories)
{
  for (uint64_t seed = 0; seed < RANDOM; seed++) {
    fs_rng rng = {seed};
    fs_text t;
    fs_text_init(&t, ctx);
    fs_text_puts(&t, "id,lower,upper,size\n");
    uint32_t n = 1 + fs_rng_below(&rng, 200);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t lower = fs_rng_below(&rng, 50), size = fs_rng_below(&rng, 100);
      fs_text_printf(&t, "b%u,%u,%u,%u\n", i, lower, lower + 1 + fs_rng_below(&rng, 20), size);
      sum += size;
    }
    fs_text_add(&t, "", 1);
    uint64_t peak = round_trip(FSCHED_FORMAT_MEMORY, t.at, FSCHED_FORMAT_MEMORY, t.at);
    ck_assert_uint_le(peak, sum);
    fs_text_drop(&t);
  }
}
END_TEST

/* ---- shared data */

static const char *shared(char path[4096], const char *name) {
  const char *root = getenv("FSCHED_SHARED");
  (void)snprintf(path, 4096, "%s/data/%s", root == NULL ? "../shared" : root, name);
  return path;
}

/* Returns NULL when the file is not there. */
static char *read_shared(const char *name, size_t *length) {
  char path[4096], *text = NULL;
  FILE *file = fopen(shared(path, name), "r");
  if (file == NULL) {
    return NULL;
  }
  (void)fclose(file);
  ck_assert_int_eq(fs_file_read(ctx, path, &text, length), FSCHED_OK);
  return text;
}

/* Does the same, but the file must be there if any is. */
static char *need_shared(const char *name, size_t *length) {
  char *text = read_shared(name, length);
  if (text == NULL) {
    printf("skipped: no shared data %s\n", name);
  }
  return text;
}

static void free_shared(char *text, size_t length) { (void)fs_realloc(ctx, text, length + 1, 0); }

/* No solution is better than what is proven. */
static void try_project(const char *set, const char *name, uint64_t bound) {
  char path[128];
  size_t n;
  (void)snprintf(path, sizeof path, "rcpsp/%s/%s", set, name);
  char *text = read_shared(path, &n);
  ck_assert_msg(text != NULL, "no %s", path);
  uint64_t reached = round_trip(FSCHED_FORMAT_PATTERSON, text, FSCHED_FORMAT_PATTERSON, text);
  if (reached < bound) {
    ck_abort_msg("%s: makespan %llu is below %llu", path, (unsigned long long)reached,
                 (unsigned long long)bound);
  }
  free_shared(text, n);
}

/* Tries every `step`-th project of the set. */
static void try_projects(const char *set, uint32_t step) {
  char path[64], name[32];
  size_t n;
  unsigned long long bound;
  (void)snprintf(path, sizeof path, "rcpsp/%s/best_known.csv", set);
  char *list = need_shared(path, &n);
  uint32_t k = 0;
  for (char *line = list; line != NULL; line = strchr(line + 1, '\n')) {
    if (sscanf(line, "\n%31[^,],%llu,", name, &bound) == 2 && k++ % step == 0) {
      try_project(set, name, bound);
    }
  }
  if (list != NULL) {
    ck_assert_uint_ge(k, 40);
    free_shared(list, n);
  }
}

START_TEST(rcpsp)
{
  try_projects("j30", 1);
  try_projects("j60", 4);
  try_projects("j120", 6);
}
END_TEST

START_TEST(strip_data)
{
  static const char *const names[] = {"beng_1",      "beng_2",      "beng_6",      "burke_N1",
                                      "burke_N3",    "burke_N5",    "burke_N9",    "hopper_C1_1",
                                      "hopper_C2_1", "hopper_C3_1", "hopper_C4_1", "hopper_C5_1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[64];
    size_t n;
    unsigned long long width, height;
    (void)snprintf(path, sizeof path, "strip/%s.txt", names[i]);
    char *text = need_shared(path, &n);
    if (text == NULL) {
      break;
    }
    ck_assert_int_eq(sscanf(text, "strip %llu %llu", &width, &height), 2);
    ck_assert_uint_ge(round_trip(FSCHED_FORMAT_STRIP, text, FSCHED_FORMAT_STRIP, text), height);
    free_shared(text, n);
  }
}
END_TEST

START_TEST(jobshop_data)
{
  static const struct {
    const char *name;
    uint64_t least;
  } files[] = {{"ft06", 55}, {"ft20", 1165}, {"la01", 666}, {"la19", 842}, {"orb01", 1059}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[64];
    size_t n;
    (void)snprintf(path, sizeof path, "jobshop/%s.txt", files[i].name);
    char *text = need_shared(path, &n);
    if (text == NULL) {
      break;
    }
    ck_assert_uint_ge(round_trip(FSCHED_FORMAT_JOBSHOP, text, FSCHED_FORMAT_JOBSHOP, text),
                      files[i].least);
    free_shared(text, n);
  }
}
END_TEST

START_TEST(memory_data)
{
  static const struct {
    const char *name;
    uint64_t bound;
  } files[] = {{"minimalloc/A.1048576.csv", 1048576}, {"minimalloc/B.1048576.csv", 1048576},
               {"minimalloc/C.1048576.csv", 1039360}, {"minimalloc/D.1048576.csv", 986112},
               {"minimalloc/E.1048576.csv", 1048576}, {"minimalloc/F.1048576.csv", 1048576},
               {"minimalloc/input.12.csv", 12},       {"large/G_1.csv", 3030937746},
               {"large/resnet50.csv", 1515472556}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[64], comment[64];
    size_t n, length;
    (void)snprintf(path, sizeof path, "memory/%s", files[i].name);
    char *text = need_shared(path, &n);
    if (text == NULL) {
      break;
    }
    char *yaml = import_text(ctx, FSCHED_FORMAT_MEMORY, text, &length);
    (void)snprintf(comment, sizeof comment, ", at most %llu bytes live",
                   (unsigned long long)files[i].bound);
    ck_assert_ptr_nonnull(strstr(yaml, comment));
    fsched_text_free(ctx, yaml, length);
    ck_assert_uint_ge(round_trip(FSCHED_FORMAT_MEMORY, text, FSCHED_FORMAT_MEMORY, text),
                      files[i].bound);
    free_shared(text, n);
  }
}
END_TEST

/* ---- what is refused */

/* Returns the fault of exporting the schedule of a graph; "" when it is exported. */
static const char *export_fault(fsched_format format, const char *target, const char *ops) {
  fs_text t;
  fsched_graph *g;
  char *solution = NULL;
  size_t n = 0;
  fs_text_init(&t, ctx);
  fs_text_printf(&t, "fsched: 1\nname: g\ntarget: {%s}\nops:\n%s\n", target, ops);
  fsched_diag_clear(ctx);
  ck_assert_msg(fsched_graph_parse(ctx, "g.yaml", t.at, t.n, NULL, &g) == FSCHED_OK, "%s",
                first_fault(ctx));
  fs_text_drop(&t);
  fsched_schedule *s = schedule_of(ctx, g);
  fsched_diag_clear(ctx);
  fs_status status = fsched_export(ctx, format, s, &solution, &n);
  if (status == FSCHED_OK) {
    fsched_text_free(ctx, solution, n);
  } else {
    ck_assert_int_eq(status, FSCHED_BAD_INPUT);
    ck_assert_uint_eq(fsched_diag_errors(ctx), 1);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "export-shape");
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return first_fault(ctx);
}

#define MEMORY "memories: [{name: m, capacity: 8}]"

START_TEST(refused)
{
  static const struct {
    fsched_format format;
    const char *target, *ops, *fault;
  } cases[] = {
      {FSCHED_FORMAT_PATTERSON, "resources: [{name: r1, capacity: 2}]",
       "  - {name: j1, uses: {r1: 1}}\n  - {name: j2, after: [j1]}", ""},
      {FSCHED_FORMAT_PATTERSON, "", "  - {name: j1}\n  - {name: b}",
       "op 'b' should be named j2: jobs are numbered"},
      {FSCHED_FORMAT_PATTERSON, "queues: [{name: q}]", "  - {name: j1}",
       "the target of 'g' has queues, and a project has none"},
      {FSCHED_FORMAT_PSPLIB, "concurrency: 2", "  - {name: j1}",
       "the target of 'g' has a limit of ops, and a project has none"},
      {FSCHED_FORMAT_PSPLIB, MEMORY, "  - {name: j1, scratch: {m: 1}}",
       "op 'j1' has scratch, and a project has none"},
      {FSCHED_FORMAT_PATTERSON, MEMORY, "  - {name: j1, size: 3}",
       "op 'j1' has args, and a project has none"},
      {FSCHED_FORMAT_PATTERSON, "", "  - {name: j1, start: 3}",
       "op 'j1' has a given start, and a project has none"},
      {FSCHED_FORMAT_STRIP, MEMORY, "  - {name: x, scratch: {m: 1}}", ""},
      {FSCHED_FORMAT_STRIP, MEMORY, "  - {name: x, scratch: {m: 1}}\n  - {name: y, after: [x]}",
       "op 'y' has predecessors, and a strip has none"},
      {FSCHED_FORMAT_STRIP, MEMORY ", resources: [{name: r, capacity: 1}]",
       "  - {name: x, uses: {r: 1}}", "op 'x' has uses, and a strip has none"},
      {FSCHED_FORMAT_STRIP, MEMORY, "  - {name: x}", "op 'x' has no area, and a rectangle has one"},
      {FSCHED_FORMAT_STRIP, MEMORY, "  - {name: x, time: 0, scratch: {m: 1}}",
       "op 'x' has no area, and a rectangle has one"},
      {FSCHED_FORMAT_STRIP, "memories: [{name: m, capacity: 8, align: 2}]",
       "  - {name: x, scratch: {m: 2}}",
       "memory 'm' has an alignment, and that of a strip is of another kind"},
      {FSCHED_FORMAT_STRIP, "memories: [{name: m, capacity: 8, placement: counted}]",
       "  - {name: x, scratch: {m: 2}}",
       "memory 'm' has no addresses, and that of a strip is of another kind"},
      {FSCHED_FORMAT_MEMORY, MEMORY, "  - {name: x, start: 2, scratch: {m: 1}}", ""},
      {FSCHED_FORMAT_MEMORY, MEMORY, "  - {name: x, start: 2}", ""},
      {FSCHED_FORMAT_MEMORY, MEMORY, "  - {name: x, scratch: {m: 1}}",
       "op 'x' has no given start, and a buffer has one"},
      {FSCHED_FORMAT_MEMORY, MEMORY,
       "  - {name: x, start: 2, scratch: {m: 1}}\n  - {name: y, scratch: {m: 1}}",
       "op 'y' has no given start, and a buffer has one"},
      {FSCHED_FORMAT_MEMORY, "memories: [{name: m}]", "  - {name: x, start: 2}",
       "memory 'm' has no capacity, and that of a memory allocation is of another kind"},
      {FSCHED_FORMAT_MEMORY, "memories: [{name: m, capacity: 1}, {name: n, capacity: 2}]",
       "  - {name: x, start: 2}",
       "the target of 'g' has 2 memories, and a memory allocation has one"},
      {FSCHED_FORMAT_JOBSHOP, "queues: [{name: q}]", "  - {name: x}\n  - {name: y, after: [x]}",
       ""},
      {FSCHED_FORMAT_JOBSHOP, "queues: [{name: q}]",
       "  - {name: x}\n  - {name: y}\n  - {name: z, after: [x]}",
       "op 'z' does not come after the op before it alone"},
      {FSCHED_FORMAT_JOBSHOP, "queues: [{name: q}, {name: p}]", "  - {name: x, on: [q, p]}",
       "op 'x' is on several queues, and an operation is on one machine"},
      {FSCHED_FORMAT_JOBSHOP, "resources: [{name: r, capacity: 1}], queues: [{name: q}]",
       "  - {name: x, uses: {r: 1}}", "op 'x' has uses, and a job shop has none"},
      {FSCHED_FORMAT_STRIP, "", "  - {name: x}",
       "the target of 'g' has 0 memories, and a strip has one"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_str_eq(export_fault(cases[i].format, cases[i].target, cases[i].ops), cases[i].fault);
  }
  ck_assert_str_eq(export_fault(FSCHED_FORMAT_PATTERSON, "", "  - {name: j1}\n  - {name: b}"),
                   cases[1].fault);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 6); /* where the op is described */
}
END_TEST

/* ---- schedules that lack something, and other forms */

static const char pair[] =
    "fsched: 1\nname: g\ntarget: {memories: [{name: m, capacity: 64, align: 16}]}\nops:\n"
    "  - {name: \"a,\\\"b\\\"\", start: 1, time: 2, scratch: {m: 20}}\n"
    "  - {name: \" c\", start: 2, scratch: {m: 16}}\n";

static fsched_graph *pair_graph(fsched_context *c) {
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_parse(c, "g.yaml", pair, sizeof pair - 1, NULL, &g), FSCHED_OK);
  return g;
}

START_TEST(quoted_and_aligned)
{
  fsched_graph *g = pair_graph(ctx);
  fsched_schedule *s = schedule_of(ctx, g);
  char *solution;
  size_t n;
  ck_assert_int_eq(fsched_export(ctx, FSCHED_FORMAT_MEMORY, s, &solution, &n), FSCHED_OK);
  ck_assert_str_eq(solution,
                   "id,lower,upper,size,alignment,offset\n"
                   "\"a,\"\"b\"\"\",1,3,20,16,0\n\" c\",2,3,16,16,32\n");
  ck_assert_uint_eq(strlen(solution), n);
  fsched_text_free(ctx, solution, n);
  s->schedule->scratch_residency[1] = FS_NONE; /* as in a schedule that leaves it out */
  ck_assert_int_eq(fsched_export(ctx, FSCHED_FORMAT_MEMORY, s, &solution, &n), FSCHED_BAD_INPUT);
  ck_assert_str_eq(first_fault(ctx), "the schedule has no place for op ' c'");
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_export(ctx, (fsched_format)77, s, &solution, &n), FSCHED_USAGE);
  ck_assert_str_eq(first_fault(ctx), "there is no format 77");
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(out_of_memory)
{
  bool done = false;
  for (long n = 0; !done; n++) {
    fs_budget budget = {.left = 1 << 20};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    char *solution;
    size_t length;
    ck_assert_int_eq(fsched_context_create(&o, &c), FSCHED_OK);
    fsched_graph *g = pair_graph(c);
    fsched_schedule *s = schedule_of(c, g);
    budget.left = n;
    fs_status status = fsched_export(c, FSCHED_FORMAT_MEMORY, s, &solution, &length);
    done = status == FSCHED_OK;
    ck_assert(done || status == FSCHED_SYSTEM);
    if (done) {
      fsched_text_free(c, solution, length);
    }
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_context_destroy(c);
    ck_assert_int_eq(budget.blocks, 0);
  }
}
END_TEST

FS_SUITE(export, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, projects, strips, memories, jobshops, rcpsp, strip_data, jobshop_data, memory_data,
           refused, quoted_and_aligned, out_of_memory);
}
