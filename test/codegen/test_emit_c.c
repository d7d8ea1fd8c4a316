/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as C, and programs that are used where they are in memory.  The texts are read back here
 * by the rules of C; test/cli/pictures/t_emit_c.sh gives them to compilers. */
#include "base/text/c_name.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/stream/stream.h"

#include "kit/context.h"

/* ---- names */

START_TEST(names)
{
  static const char *const good[] = {"a",    "net_program", "X9",   "for_",  "format", "a_b_",
                                     "inta", "r",           "xint", "char8", "xNULL"};
  static const char *const bad[] = {
      "",        "_a",     "9a",   "a-b",      "a b",        "a\xc3\xa9", "int",    "class",
      "char8_t", "xor",    "main", "typeof",   "a$",         "while ",    " while", "for while",
      "a__b",    "size_t", "NULL", "offsetof", "UINT64_MAX", "INT8_C"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    ck_assert_msg(fs_c_name_valid(good[i]), "%s", good[i]);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ck_assert_msg(!fs_c_name_valid(bad[i]), "%s", bad[i]);
  }
}
END_TEST

START_TEST(made_names)
{
  static const char *const made[][2] = {{"figure-10", "figure_10_p"},
                                        {"3d", "graph_3d_p"},
                                        {"", "graph_p"},
                                        {"--", "graph_p"},
                                        {"_x_", "x_p"},
                                        {"a--b..c", "a_b_c_p"},
                                        {"int", "int_p"},
                                        {"-7-", "graph_7_p"},
                                        {"\xc3\xa9t\xc3\xa9", "t_p"},
                                        {"main", "main_p"}};
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
    char *name = fs_c_name_make(&arena, made[i][0], strlen(made[i][0]), "_p");
    ck_assert_str_eq(name, made[i][1]);
    ck_assert(fs_c_name_valid(name));
  }
  fs_arena_release(&arena);
}
END_TEST

/* ---- reading back */

/* Reads the sizes of the arrays, in their order. */
static size_t read_sizes(const char *text, size_t *size, size_t most) {
  size_t n = 0;
  for (const char *p = text; (p = strstr(p, "unsigned char c")) != NULL; n++) {
    char *end;
    p += strlen("unsigned char c");
    ck_assert_uint_eq(strtoul(p, &end, 10), n);
    ck_assert_uint_lt(n, most);
    size[n] = strtoul(end + 1, NULL, 10);
  }
  return n;
}

/* Reads an array from its literals: they consist of escapes alone, at most 4,095 of them, and the
 * array has room for the zero byte. */
static const char *read_literals(const char *p, unsigned char *out, size_t size) {
  size_t n = 0;
  memset(out, 0, size);
  while (*p == '"') {
    for (p++; *p != '"'; n++) {
      ck_assert_int_eq(*p, '\\');
      ck_assert_uint_lt(n + 1, size);
      unsigned value = 0, digits = 0;
      for (p++; digits < 3 && *p >= '0' && *p <= '7'; digits++) {
        value = value * 8 + (unsigned)(*p++ - '0');
      }
      ck_assert(digits > 0 && value < 256);
      out[n] = (unsigned char)value;
    }
    p += p[1] == '\n' ? 2 : 1;
  }
  ck_assert_uint_le(n, 4095);
  return p;
}

static const char *read_numbers(const char *p, unsigned char *out, size_t size) {
  for (size_t n = 0; n < size; n++) {
    ck_assert(*p == (n == 0 ? '{' : ','));
    p += p[1] == '\n' ? 2 : 1;
    char *end;
    out[n] = (unsigned char)strtoul(p, &end, 10);
    p = end;
  }
  ck_assert_int_eq(*p, '}');
  return p + 1;
}

/* Compares the bytes in the source with those of the program; returns true if they are a list of
 * numbers. */
static bool check_source(const char *source, size_t length, const fsched_program *p) {
  enum { MOST = 10000, LONGEST_LINE = 120 };
  static size_t size[MOST];
  static unsigned char piece[1 << 16];
  size_t n_bytes, at = 0, line = 0;
  bool numbers = false;
  const unsigned char *bytes = fsched_program_bytes(p, &n_bytes);
  ck_assert_uint_eq(strlen(source), length);
  for (size_t i = 0; i < length; i++) {
    line = source[i] == '\n' ? 0 : line + 1;
    ck_assert_uint_le(line, LONGEST_LINE);
    ck_assert_msg(source[i] == '\n' || (source[i] >= ' ' && source[i] <= '~'), "byte %d",
                  source[i]);
  }
  size_t n = read_sizes(source, size, MOST);
  const char *value = strstr(source, " = {{{\n") + strlen(" = {{{\n");
  for (size_t i = 0; i < n; i++) {
    numbers |= *value == '{';
    value = (*value == '{' ? read_numbers : read_literals)(value, piece, size[i]);
    ck_assert_int_eq(strncmp(value, ",\n", 2), 0);
    value += 2;
    ck_assert_uint_le(at + size[i], n_bytes);
    ck_assert_mem_eq(piece, bytes + at, size[i]);
    at += size[i];
  }
  ck_assert_uint_eq(at, n_bytes);
  ck_assert_int_eq(strncmp(value, "}}};\n", 5), 0);
  return numbers;
}

static void emit(const fsched_program *p, const char *symbol, char **source, char **header) {
  fsched_c_options o = {.size = sizeof o, .symbol = symbol};
  size_t n_source, n_header;
  ck_fs(ctx,
        fsched_program_c(ctx, p, symbol == NULL ? NULL : &o, source, &n_source, header, &n_header));
  (void)check_source(*source, n_source, p);
  ck_assert_uint_eq(strlen(*header), n_header);
}

static void drop(char *source, char *header) {
  fsched_text_free(ctx, source, strlen(source));
  fsched_text_free(ctx, header, strlen(header));
}

START_TEST(golden)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "figure-10");
  char *source, *header;
  emit(c.program, NULL, &source, &header);
  fs_golden_check("figure-10.c.txt", source, strlen(source));
  fs_golden_check("figure-10.h.txt", header, strlen(header));
  drop(source, header);
  fs_golden_close(&c);
}
END_TEST

START_TEST(any_program)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i, 150);
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  fsched_compile_options verify = {.size = sizeof verify, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &verify, NULL, &p));
  char *source, *header;
  emit(p, "sym", &source, &header);
  ck_assert_ptr_nonnull(strstr(header, "extern const struct sym_bytes sym;\n"));
  ck_assert_ptr_nonnull(strstr(header, "extern const size_t sym_size;\n"));
  drop(source, header);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* Makes a program of one op, with these names. */
static fsched_program *named(const char *graph, const char *unit, const char *op) {
  fsched_builder *b;
  fsched_graph *g;
  fsched_program *p;
  uint32_t id;
  ck_fs(ctx, fsched_builder_create(ctx, graph, &b));
  ck_fs(ctx, fsched_builder_time_unit(b, unit));
  ck_fs(ctx,
        fsched_builder_op(b, &(fsched_op_desc){.size = sizeof(fsched_op_desc), .name = op}, &id));
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_graph_destroy(g);
  return p;
}

/* The texts have no zero byte for longer than a literal may be. */
START_TEST(long_names)
{
  static char name[50000];
  for (size_t n = 3990; n < sizeof name - 1; n = n < 4010 ? n + 1 : n * 3) {
    for (size_t i = 0; i < n; i++) {
      name[i] = (char)('!' + i % 90);
    }
    name[n] = '\0';
    fsched_program *p = named("g", "us", name);
    char *source;
    size_t length;
    ck_fs(ctx, fsched_program_c(ctx, p, NULL, &source, &length, NULL, NULL));
    bool numbers = check_source(source, length, p);
    ck_assert(numbers || n < 4000);
    fsched_text_free(ctx, source, length);
    fsched_program_destroy(p);
  }
}
END_TEST

/* These names would end the comment, begin another one, or be read as something else. */
START_TEST(names_in_comments)
{
  static const char *const shown[][2] = {
      {"a*/b", "a./b:"},
      {"/*x", "/.x:"},
      {"x?\?/\n", "x../.:"},
      {"tab\t\\", "tab..:"},
      {"\xe2\x80\xae right \xe2\x81\xa6", ". right .:"},
      {"c1 \xc2\x9b.", "c1 ..:"},
      {"123456789 123456789 123456789 123456789 123456789 123456789\xc3\xa9longer",
       "23456789\xc3\xa9...:"},
  };
  for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
    fsched_program *p = named(shown[i][0], "*/", "op");
    char *header;
    size_t length;
    ck_fs(ctx, fsched_program_c(ctx, p, NULL, NULL, NULL, &header, &length));
    char *end = strchr(header, '\n');
    *end = '\0';
    size_t n = strlen(shown[i][1]);
    ck_assert_str_eq(end - n, shown[i][1]);
    *end = '\n';
    ck_assert_ptr_nonnull(strstr(header, "makespan 1 ./. */\n"));
    fsched_text_free(ctx, header, length);
    fsched_program_destroy(p);
  }
}
END_TEST

START_TEST(bad_options)
{
  fsched_program *p = named("g", "us", "op");
  char *source = NULL;
  size_t length = 7;
  fsched_c_options o = {.size = sizeof o, .symbol = "no-name"};
  ck_assert_int_eq(fsched_program_c(ctx, p, &o, &source, &length, NULL, NULL), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "bad-argument");
  o.size = 0;
  ck_assert_int_eq(fsched_program_c(ctx, p, &o, &source, &length, NULL, NULL), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  ck_assert(source == NULL && length == 7);
  fsched_program_destroy(p);
}
END_TEST

START_TEST(out_of_memory)
{
  fs_budget budget = {.left = 1 << 30};
  fsched_context_options co = {
      .size = sizeof co, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *c;
  ck_assert_int_eq(fsched_context_create(&co, &c), FSCHED_OK);
  fs_golden_case g;
  fs_golden_open(&g, c, "figure-10");
  size_t size, n_source, n_header;
  const void *bytes = fsched_program_bytes(g.program, &size);
  fsched_status status = FSCHED_SYSTEM;
  long allowed = 0;
  for (; status != FSCHED_OK; allowed++) {
    char *source = NULL, *header = NULL;
    fsched_program *borrowed = NULL;
    long before = budget.blocks;
    budget.left = allowed;
    status = fsched_program_c(c, g.program, NULL, &source, &n_source, &header, &n_header);
    if (status == FSCHED_OK) {
      fsched_text_free(c, source, n_source);
      fsched_text_free(c, header, n_header);
      status = fsched_program_borrow(c, "b", bytes, size, &borrowed);
      fsched_program_destroy(borrowed);
    } else {
      ck_assert(source == NULL && header == NULL);
    }
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_SYSTEM, "status %d", status);
    ck_assert_int_eq(budget.blocks, before);
  }
  ck_assert_int_gt(allowed, 5);
  budget.left = 1 << 30;
  fs_golden_close(&g);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

/* ---- borrowed programs */

START_TEST(borrow)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "store");
  size_t size, n;
  const void *bytes = fsched_program_bytes(c.program, &size);
  uint64_t *words = malloc(size + 8);
  fsched_program *p;
  memcpy(words, bytes, size);
  ck_fs(ctx, fsched_program_borrow(ctx, "there", words, size, &p));
  ck_assert_ptr_eq(fsched_program_bytes(p, &n), words); /* there is no copy */
  ck_assert_uint_eq(n, size);
  ck_fs(ctx, fsched_verify_program(ctx, p, c.graph));
  fsched_replay_options check = {.size = sizeof check, .check = 1};
  ck_fs(ctx, fsched_replay_cpu(ctx, p, &check, NULL));
  fsched_program_destroy(p);
  ck_assert_mem_eq(words, bytes, size); /* the words were not changed either */
  for (size_t off = 1; off < 8; off++) {
    unsigned char *at = (unsigned char *)words + off;
    memmove(at, bytes, size);
    fsched_diag_clear(ctx);
    p = c.program;
    ck_assert_int_eq(fsched_program_borrow(ctx, "there", at, size, &p), FSCHED_USAGE);
    ck_assert_ptr_null(p);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "bad-argument");
  }
  free(words);
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_borrow(ctx, "there", NULL, 0, &p), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "stream-size");
  fs_golden_close(&c);
}
END_TEST

FS_SUITE(emit_c, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, names, made_names, golden, long_names, names_in_comments, bad_options, out_of_memory,
           borrow);
  FS_LOOPS(t, 0, 40, any_program);
}
