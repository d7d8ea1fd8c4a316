/* SPDX-License-Identifier: Apache-2.0 */
/* Models as LP and MPS: the texts themselves, and the results that glpsol and cbc, where they are
 * installed, give for them, compared with the optimum found by trying every point. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "ilp/model/text.h"
#include "ilp/model_kit.h"

#include "kit/context.h"

static uint32_t var(fs_model *m, fs_var_kind kind, int64_t low, int64_t high, int64_t cost) {
  uint32_t id;
  ck_fs(ctx, fs_model_add_var(m, kind, low, high, cost, &id, "v_%zu", m->var.n));
  return id;
}

static void row(fs_model *m, int64_t low, int64_t high, uint32_t a, int64_t ca, uint32_t b,
                int64_t cb) {
  ck_fs(ctx, fs_model_begin_row(m, low, high, "r_%zu", m->row.n));
  ck_fs(ctx, fs_model_add_term(m, a, ca));
  ck_fs(ctx, fs_model_add_term(m, b, cb));
  ck_fs(ctx, fs_model_end_row(m));
}

/* Makes one of each kind of bounds and rows, and a row and a note that are too long for a line. */
static void all_kinds(fs_model *m) {
  static const int64_t bound[][2] = {{0, FS_MODEL_INF},
                                     {-FS_MODEL_INF, FS_MODEL_INF},
                                     {-7, 8},
                                     {-FS_MODEL_INF, -2},
                                     {-FS_MODEL_INF, 3},
                                     {2, FS_MODEL_INF},
                                     {4, 4},
                                     {0, 0},
                                     {0, 1},
                                     {0, 12345678901234}};
  fs_model_init(m, ctx, "all kinds: 1\n\xC3\xA9");
  for (int kind = FS_VAR_CONTINUOUS; kind <= FS_VAR_INTEGER; kind++) {
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
      (void)var(m, (fs_var_kind)kind, bound[i][0], bound[i][1], (int64_t)(i + 2) % 4 - 1);
    }
  }
  uint32_t b = var(m, FS_VAR_BINARY, 0, 1, -12), one = var(m, FS_VAR_BINARY, 1, 1, 0);
  row(m, -3, -3, b, 1, one, -4);
  row(m, -FS_MODEL_INF, 100, 1, -1, 11, 1);
  row(m, -60, FS_MODEL_INF, 1, 1, 11, 1);
  row(m, -50, 50, 1, 1, 3, -1);
  row(m, 0, 70, 4, -1, 13, -1);
  row(m, -70, 0, 14, 1, 3, 1);
  ck_fs(ctx, fs_model_begin_row(m, 0, 99, "long_row"));
  for (uint32_t i = 0; i < m->var.n; i++) {
    ck_fs(ctx, fs_model_add_term(m, i, i % 3 == 0 ? -1 : i % 3 == 1 ? 1 : 1000000 + (int64_t)i));
  }
  ck_fs(ctx, fs_model_end_row(m));
  m->constant = -5;
  ck_fs(ctx, fs_model_add_note(m, "v_20: op 'a\tb\x7F'"));
  ck_fs(ctx, fs_model_add_note(m, "%s", ""));
  ck_fs(ctx, fs_model_add_note(m, "%0250d", 7));
}

static char *text_of(const fs_model *m, bool mps, size_t *n) {
  char *text;
  ck_fs(ctx, mps ? fs_model_mps(m, &text, n) : fs_model_lp(m, &text, n));
  ck_assert_uint_eq(strlen(text), *n);
  for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    ck_assert_msg(end - line < 255, "%.*s", (int)(end - line), line);
  }
  return text;
}

static void golden(const fs_model *m, const char *name) {
  char file[64];
  for (int mps = 0; mps <= 1; mps++) {
    size_t n;
    char *text = text_of(m, mps, &n);
    (void)snprintf(file, sizeof file, "%s.%s", name, mps ? "mps" : "lp");
    fs_golden_check(file, text, n);
    fsched_text_free(ctx, text, n);
  }
}

START_TEST(goldens)
{
  fs_model m;
  all_kinds(&m);
  golden(&m, "model");
  fs_model_release(&m);
}
END_TEST

/* Goldens of a model with nothing in it, and of one without a solution. */
START_TEST(empty_goldens)
{
  fs_model m;
  fs_model_init(&m, ctx, "");
  golden(&m, "model-empty");
  (void)var(&m, FS_VAR_INTEGER, 0, 5, 0);
  m.contradiction = true;
  golden(&m, "model-never");
  fs_model_release(&m);
}
END_TEST

/* ---- solvers ---- */

typedef struct tool {
  const char *name, *command;
  bool mps;
} tool;

static const tool tools[] = {
    {"glpsol", "glpsol --lp m.lp -w m.sol", false},
    {"glpsol", "glpsol --freemps m.mps -w m.sol", true},
    {"cbc", "cbc m.lp solve solu m.sol", false},
    {"cbc", "cbc m.mps solve solu m.sol", true},
};

static bool installed(const tool *t) {
  char command[128];
  (void)snprintf(command, sizeof command, "command -v %s >log 2>&1", t->name);
  bool there = system(command) == 0;
  if (!there) {
    printf("ilp_formats: %s is not installed, skipped\n", t->name);
  }
  return there;
}

static void write_file(const char *name, const char *text, size_t n) {
  FILE *f = fopen(name, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(text, 1, n, f), n);
  ck_assert_int_eq(fclose(f), 0);
}

/* Solves a model with a tool; false when it says that there is no solution. */
static bool solve(const tool *t, const fs_model *m, int64_t *value) {
  static char text[1 << 16];
  char command[320];
  size_t n;
  char *model = text_of(m, t->mps, &n);
  write_file(t->mps ? "m.mps" : "m.lp", model, n);
  fsched_text_free(ctx, model, n);
  (void)unlink("m.sol");
  (void)snprintf(command, sizeof command, "timeout 60 %s >log 2>&1", t->command);
  ck_assert_int_eq(system(command), 0);
  FILE *f = fopen("m.sol", "rb");
  ck_assert_msg(f != NULL, "%s has written no solution", t->command);
  n = fread(text, 1, sizeof text, f);
  (void)fclose(f);
  fs_status status = fs_solution_read(ctx, m, "m.sol", text, n, value);
  if (status != FSCHED_OK) {
    ck_assert_msg(strstr(fs_test_diags(ctx), "no solution") != NULL, "%s: %s", t->command,
                  fs_test_diags(ctx));
    fsched_diag_clear(ctx);
  }
  return status == FSCHED_OK;
}

static void agrees(const tool *t, const fs_model *m, bool found, int64_t best, unsigned seed) {
  int64_t value[64];
  bool solved = solve(t, m, value);
  ck_assert_msg(solved == found, "%s, seed %u: solved %d", t->command, seed, solved);
  if (solved) {
    uint64_t broken = fs_model_broken(m, value);
    ck_assert_msg(broken == FS_NONE, "%s, seed %u: breaks %llx", t->command, seed,
                  (unsigned long long)broken);
    ck_assert_msg(fs_model_objective(m, value) == best, "%s, seed %u: %lld, best %lld", t->command,
                  seed, (long long)fs_model_objective(m, value), (long long)best);
  }
}

START_TEST(solvers_find_the_optimum)
{
  unsigned solved = 0;
  for (unsigned seed = 0; installed(&tools[_i]) && seed < 60; seed++) {
    fs_model m;
    int64_t best = 0;
    fs_model_init(&m, ctx, "random");
    ck_fs(ctx, fs_kit_random(&m, seed));
    bool found = fs_kit_optimum(&m, &best);
    solved += found;
    agrees(&tools[_i], &m, found, best, seed);
    fs_model_release(&m);
    ck_assert_msg(seed < 59 || (solved > 20 && solved < 55), "%u", solved);
  }
}
END_TEST

START_TEST(solvers_read_all_kinds)
{
  fs_model m;
  int64_t value[64];
  all_kinds(&m);
  if (installed(&tools[_i])) {
    bool solved = solve(&tools[_i], &m, value);
    ck_assert(solved);
    ck_assert_int_eq(value[20], 1);
    ck_assert_int_eq(value[21], 1);
    ck_assert_int_eq(value[6], 4);
  }
  fs_model_release(&m);
}
END_TEST

START_TEST(solvers_read_empty_models)
{
  fs_model m;
  int64_t value[64];
  fs_model_init(&m, ctx, "");
  if (installed(&tools[_i])) {
    (void)var(&m, FS_VAR_INTEGER, -3, 5, 2);
    m.constant = 10;
    ck_assert(solve(&tools[_i], &m, value));
    ck_assert_int_eq(fs_model_objective(&m, value), 4);
    m.contradiction = true;
    ck_assert(!solve(&tools[_i], &m, value));
  }
  fs_model_release(&m);
}
END_TEST

/* ---- the rest ---- */

START_TEST(names)
{
  static const struct {
    const char *name;
    bool ok;
  } cases[] = {{"x", true},    {"x_1", true},  {"free_1", true},     {"e_1", true},
               {"E", false},   {"e5", false},  {"E1_2", false},      {"free", false},
               {"1_x", false}, {"a-1", false}, {"a.1", false},       {"", false},
               {"_1", true},   {"st", false},  {"\xC3\xA9_1", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fs_model m;
    uint32_t id;
    fs_model_init(&m, ctx, "names");
    ck_fs(ctx, fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &id, "%s", cases[i].name));
    ck_assert_msg(fs_model_text_names_ok(&m) == cases[i].ok, "'%s'", cases[i].name);
    fs_model_release(&m);
  }
}
END_TEST

START_TEST(names_are_unique)
{
  fs_model m;
  fs_model_init(&m, ctx, "names");
  uint32_t a = var(&m, FS_VAR_BINARY, 0, 1, 0);
  ck_fs(ctx, fs_model_begin_row(&m, 0, 1, "v_0")); /* rows have names of their own */
  ck_fs(ctx, fs_model_add_term(&m, a, 1));
  ck_fs(ctx, fs_model_end_row(&m));
  ck_assert(fs_model_text_names_ok(&m));
  ck_fs(ctx, fs_model_add_var(&m, FS_VAR_BINARY, 0, 1, 0, &a, "v_0"));
  ck_assert(!fs_model_text_names_ok(&m));
  fs_model_release(&m);
}
END_TEST

START_TEST(no_memory)
{
  for (int mps = 0; mps <= 1; mps++) {
    for (long n = 0;; n++) {
      fs_budget budget = {.left = 1000};
      fsched_context_options o = {
          .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
      fsched_context *c;
      fs_model m;
      ck_assert_int_eq(fsched_context_create(&o, &c), FSCHED_OK);
      fs_model_init(&m, c, "m");
      ck_assert_int_eq(fs_kit_random(&m, 4), FSCHED_OK);
      for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(fs_model_add_note(&m, "note %d of a text of many lines", i), FSCHED_OK);
      }
      budget.left = n;
      char *text;
      size_t length;
      fs_status status = mps ? fs_model_mps(&m, &text, &length) : fs_model_lp(&m, &text, &length);
      bool failed = budget.left < 0;
      ck_assert_int_eq(status, failed ? FSCHED_SYSTEM : FSCHED_OK);
      if (status == FSCHED_OK) {
        fsched_text_free(c, text, length);
      }
      fs_model_release(&m);
      fsched_context_destroy(c);
      ck_assert_int_eq(budget.blocks, 0);
      if (!failed) {
        ck_assert_int_ge(n, 2);
        break;
      }
    }
  }
}
END_TEST

FS_SUITE(ilp_formats, s) {
  enum { TOOLS = sizeof tools / sizeof *tools };
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, goldens, empty_goldens, names, names_are_unique, no_memory);
  t = fs_case(s, fs_test_in_dir);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, TOOLS, solvers_find_the_optimum, solvers_read_all_kinds,
           solvers_read_empty_models);
}
