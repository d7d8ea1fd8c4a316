/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of other tools: those in test/import give the graph file or the faults in their .expect
 * (UPDATE=1 writes these); damaged instances that are still imported give graph files that can be
 * read. */
#include "fsched/import.h"

#include <dirent.h>
#include <stdio.h>

#include "base/context.h"
#include "base/files/file.h"
#include "base/text/diag_format.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/golden.h"

#include "kit/context.h"

#define CORPUS "test/import"

/* ---- the files */

typedef struct instance {
  char path[300];
  fsched_format format;
  char *text; /* exactly `length` bytes, so that sanitizers see what lies beyond */
  size_t length;
} instance;

static bool format_of(const char *name, fsched_format *format) {
  static const char *const suffix[] = {".rcp", ".sm", ".strip", ".csv", ".jsp"};
  const char *dot = strrchr(name, '.');
  for (uint32_t i = 0; dot != NULL && i < sizeof suffix / sizeof suffix[0]; i++) {
    if (strcmp(dot, suffix[i]) == 0) {
      *format = (fsched_format)i;
      return true;
    }
  }
  return false;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_instance(const char *name, instance *f) {
  char *text;
  (void)snprintf(f->path, sizeof f->path, "%s/%s", CORPUS, name);
  ck_assert_int_eq(fs_file_read(ctx, f->path, &text, &f->length), FSCHED_OK);
  f->text = malloc(f->length + 1);
  memcpy(f->text, text, f->length);
  f->text = realloc(f->text, f->length == 0 ? 1 : f->length);
  (void)fs_realloc(ctx, text, f->length + 1, 0);
}

/* Calls `use` with each file of the corpus. */
static void each_instance(void (*use)(const instance *f)) {
  struct dirent **entry;
  int n = scandir(CORPUS, &entry, NULL, by_name), used = 0;
  ck_assert_msg(n > 0, "run from the top of the source tree");
  for (int i = 0; i < n; i++) {
    instance f;
    if (format_of(entry[i]->d_name, &f.format)) {
      read_instance(entry[i]->d_name, &f);
      use(&f);
      free(f.text);
      used++;
    }
    free(entry[i]);
  }
  free(entry);
  ck_assert_int_ge(used, 40);
}

/* ---- expected texts */

static uint8_t seen[FS_DIAG_COUNT];

/* Writes what an import gives: the graph file, or its faults. */
static void put_result(const instance *f, fsched_context *c, fs_text *out) {
  char *yaml = NULL;
  size_t n = 0;
  fs_status status = fsched_import(c, f->format, f->path, f->text, f->length, NULL, &yaml, &n);
  for (uint32_t i = 0; i < fsched_diag_count(c); i++) {
    const fsched_diag *d = fsched_diag_get(c, i);
    fs_diag_format(d, false, out);
    for (int code = 0; code < FS_DIAG_COUNT; code++) {
      seen[code] |= strcmp(d->code, fs_diag_code_name((fs_diag_code)code)) == 0;
    }
  }
  if (status == FSCHED_OK) {
    fs_text_add(out, yaml, n);
    fsched_text_free(c, yaml, n);
  } else {
    fs_text_printf(out, "%u errors, status %d\n", fsched_diag_errors(c), status);
  }
}

static void compare_expect(const char *path, const fs_text *out) {
  char expect[320], *text;
  size_t n;
  (void)snprintf(expect, sizeof expect, "%s.expect", path);
  if (getenv("UPDATE") != NULL) {
    ck_assert_int_eq(fs_file_write(ctx, expect, out->at, out->n), FSCHED_OK);
  }
  ck_assert_msg(fs_file_read(ctx, expect, &text, &n) == FSCHED_OK, "no %s: run with UPDATE=1",
                expect);
  ck_assert_msg(n == out->n && memcmp(text, out->at, n) == 0, "%s differs; now:\n%.*s", expect,
                (int)out->n, out->at);
  (void)fs_realloc(ctx, text, n + 1, 0);
}

static void expect_result(const instance *f) {
  fsched_context *c;
  fs_text out;
  fs_text_init(&out, ctx);
  ck_assert_int_eq(fsched_context_create(NULL, &c), FSCHED_OK);
  put_result(f, c, &out);
  fsched_context_destroy(c);
  compare_expect(f->path, &out);
  fs_text_drop(&out);
}

START_TEST(corpus)
{
  each_instance(expect_result);
  for (int code = FS_DIAG_IMPORT_SYNTAX; code <= FS_DIAG_IMPORT_REFERENCE; code++) {
    ck_assert_msg(seen[code], "no file in " CORPUS " shows '%s'",
                  fs_diag_code_name((fs_diag_code)code));
  }
}
END_TEST

static void expect_fault(const char *text, size_t length, const char *expected) {
  instance f = {.path = "x", .format = FSCHED_FORMAT_PATTERSON, .length = length};
  fs_text out;
  f.text = malloc(length);
  memcpy(f.text, text, length);
  fs_text_init(&out, ctx);
  fsched_diag_clear(ctx);
  put_result(&f, ctx, &out);
  fs_text_add(&out, "", 1);
  ck_assert_str_eq(out.at, expected);
  fs_text_drop(&out);
  free(f.text);
}

START_TEST(rubbish)
{
  expect_fault("3 1\n0 \0\n", 8,
               "x:2:1: error: this line is not text (UTF-8) [import-syntax]\n"
               "    2 | 0 \n      | ^\n1 errors, status 1\n");
  expect_fault("\xFF\xFE", 2,
               "x:1:1: error: this line is not text (UTF-8) [import-syntax]\n"
               "    1 | \xFF\xFE\n      | ^\n1 errors, status 1\n");
}
END_TEST

/* ---- whatever is imported reads back */

/* Returns NULL when it is not imported. */
static fsched_graph *import_graph(fsched_context *c, fsched_format format, const char *text,
                                  size_t length) {
  char *yaml = NULL;
  size_t n = 0;
  fsched_graph *g = NULL;
  fs_status status = fsched_import(c, format, "some/file.x", text, length, NULL, &yaml, &n);
  if (status != FSCHED_OK) {
    if (fsched_diag_errors(c) == 0 || (status != FSCHED_BAD_INPUT && status != FSCHED_INFEASIBLE)) {
      ck_abort_msg("status %d and %u errors", status, fsched_diag_errors(c));
    }
    return NULL;
  }
  if (fsched_graph_parse(c, "file.yaml", yaml, n, NULL, &g) != FSCHED_OK) {
    ck_abort_msg("does not read back: %s\n%.*s", fsched_diag_get(c, 0)->message, (int)n, yaml);
  }
  fsched_text_free(c, yaml, n);
  return g;
}

/* Imports in a context of its own, as a context keeps all texts. */
static bool imports(fsched_format format, const char *text, size_t length) {
  fsched_context *c;
  if (fsched_context_create(NULL, &c) != FSCHED_OK) {
    ck_abort_msg("no context");
  }
  fsched_graph *g = import_graph(c, format, text, length);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
  return g != NULL;
}

static uint32_t n_imported;

static void cut(const instance *f) {
  for (size_t n = 0; n < f->length; n++) {
    char *text = malloc(n == 0 ? 1 : n);
    memcpy(text, f->text, n);
    n_imported += imports(f->format, text, n);
    free(text);
  }
}

START_TEST(prefixes)
{
  each_instance(cut);
  ck_assert_uint_gt(n_imported, 100);
}
END_TEST

/* Returns a byte, more often than not one that means something to one of the formats. */
static char any_byte(fs_rng *rng) {
  static const char some[] = "0123456789  ,\"\n\r\t-.:x#*R{}[]&\x80";
  return fs_rng_one_in(rng, 4) ? (char)fs_rng_below(rng, 256)
                               : some[fs_rng_below(rng, sizeof some - 1)];
}

static void flip(const instance *f) {
  enum { ROUNDS = 1000 };
  fs_rng rng = {f->length * 31 + f->format};
  for (int round = 0; round < ROUNDS && f->length > 0; round++) {
    char *text = malloc(f->length);
    memcpy(text, f->text, f->length);
    for (uint32_t k = fs_rng_below(&rng, 4) + 1; k > 0; k--) {
      text[fs_rng_below(&rng, (uint32_t)f->length)] = any_byte(&rng);
    }
    n_imported += imports(f->format, text, f->length);
    free(text);
  }
}

START_TEST(damaged)
{
  n_imported = 0;
  each_instance(flip);
  ck_assert_uint_gt(n_imported, 400);
}
END_TEST

static void as_others(const instance *f) {
  for (int format = 0; format < 4; format++) {
    n_imported += format != (int)f->format && imports((fsched_format)format, f->text, f->length);
  }
}

START_TEST(other_formats)
{
  n_imported = 0;
  each_instance(as_others);
  ck_assert_uint_le(n_imported, 6); /* those whose format is guessed */
}
END_TEST

/* ---- memory */

static void without_memory(const instance *f) {
  bool done = false;
  for (long n = 0; !done; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      char *yaml = NULL;
      size_t length = 0;
      fs_status status =
          fsched_import(c, f->format, f->path, f->text, f->length, NULL, &yaml, &length);
      done = budget.left >= 0;
      if (!done && status == FSCHED_OK) {
        ck_abort_msg("%s: allocation %ld failed and nobody said so", f->path, n);
      }
      if (status == FSCHED_OK) {
        fsched_text_free(c, yaml, length);
      }
      fsched_context_destroy(c);
    }
    if (budget.blocks != 0) {
      ck_abort_msg("%s: %ld blocks are left after allocation %ld", f->path, (long)budget.blocks, n);
    }
  }
}

START_TEST(out_of_memory)
{ each_instance(without_memory); }
END_TEST

START_TEST(claims_take_nothing)
{
  static const char *const texts[] = {"2147483647 2147483647\n1 2 3\n",
                                      "2147483647 0\n0 2147483647 1\n", "2147483647 0\n0 0\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    fs_budget budget = {.left = 1000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    char *yaml;
    size_t n;
    ck_assert_int_eq(fsched_context_create(&o, &c), FSCHED_OK);
    ck_assert_int_eq(
        fsched_import(c, FSCHED_FORMAT_PATTERSON, "x", texts[i], strlen(texts[i]), NULL, &yaml, &n),
        FSCHED_BAD_INPUT);
    ck_assert_int_lt(budget.peak, 1 << 20);
    fsched_context_destroy(c);
  }
}
END_TEST

/* ---- many */

/* A text with many faults takes time in proportion to its length: each fault is counted, and 20 are
 * kept. */
START_TEST(many_faults)
{
  enum { ROWS = 200000 };
  fs_text t;
  char *yaml;
  size_t n;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "id,lower,upper,size\n");
  for (int i = 0; i < ROWS; i++) {
    fs_text_printf(&t, "same,%d,%d,x\n", i, i + 1);
  }
  ck_assert_int_eq(fsched_import(ctx, FSCHED_FORMAT_MEMORY, "x", t.at, t.n, NULL, &yaml, &n),
                   FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 20);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2 * ROWS - 1);
  fs_text_drop(&t);
}
END_TEST

START_TEST(large)
{
  enum { ROWS = 100000 };
  fs_rng rng = {7};
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "id,lower,upper,size\n");
  for (uint32_t i = 0; i < ROWS; i++) {
    uint32_t lower = fs_rng_below(&rng, 1000000);
    uint32_t size = fs_rng_below(&rng, 5000), upper = lower + 1 + fs_rng_below(&rng, 1000);
    fs_text_printf(&t, "b%u,%u,%u,%u\n", i, lower, upper, size);
  }
  char *yaml;
  size_t n;
  ck_assert_int_eq(fsched_import(ctx, FSCHED_FORMAT_MEMORY, "x", t.at, t.n, NULL, &yaml, &n),
                   FSCHED_OK);
  yaml[n - 1] = '\0';
  ck_assert_ptr_nonnull(strstr(yaml, "# Memory allocation: 100000 buffers, at most "));
  ck_assert_ptr_nonnull(strstr(yaml, "- {name: b99999, start: "));
  yaml[n - 1] = '\n';
  fsched_text_free(ctx, yaml, n);
  fs_text_drop(&t);
}
END_TEST

/* ---- options */

static const char rows[] = "id,lower,upper,size\na,0,4,8\nb,3,6,8\n";

static char *import_rows(const fsched_import_options *o, fs_status expected) {
  static char copy[1000];
  char *yaml;
  size_t n;
  fsched_diag_clear(ctx);
  fs_status status = fsched_import(ctx, FSCHED_FORMAT_MEMORY, "dir/rows.v1.csv", rows,
                                   sizeof rows - 1, o, &yaml, &n);
  ck_assert_int_eq(status, expected);
  if (status != FSCHED_OK) {
    return NULL;
  }
  (void)snprintf(copy, sizeof copy, "%.*s", (int)n, yaml);
  fsched_text_free(ctx, yaml, n);
  return copy;
}

START_TEST(options)
{
  fsched_import_options o = {.size = sizeof o};
  ck_assert_ptr_nonnull(strstr(import_rows(&o, FSCHED_OK), "name: rows.v1\n"));
  ck_assert_ptr_nonnull(strstr(import_rows(NULL, FSCHED_OK), "capacity: 16, placement"));
  o.graph_name = "two words";
  o.capacity = 32;
  const char *yaml = import_rows(&o, FSCHED_OK);
  ck_assert_ptr_nonnull(strstr(yaml, "name: \"two words\"\n"));
  ck_assert_ptr_nonnull(strstr(yaml, "capacity: 32, placement"));
  o.capacity = 15;
  ck_assert_ptr_null(import_rows(&o, FSCHED_INFEASIBLE));
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "with this buffer 16 bytes are live at 3, and the memory has 15");
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 3);
  o.capacity = FSCHED_MAX_SIZE + 1;
  ck_assert_ptr_null(import_rows(&o, FSCHED_USAGE));
  o = (fsched_import_options){.size = sizeof(size_t)};
  ck_assert_ptr_null(import_rows(&o, FSCHED_USAGE));
}
END_TEST

/* Returns the graph's name as it is in the graph file. */
static const char *name_of(const char *path) {
  static char copy[100];
  char *yaml;
  size_t n;
  ck_assert_int_eq(
      fsched_import(ctx, FSCHED_FORMAT_MEMORY, path, rows, sizeof rows - 1, NULL, &yaml, &n),
      FSCHED_OK);
  const char *name = strstr(yaml, "name: ") + strlen("name: ");
  (void)snprintf(copy, sizeof copy, "%.*s", (int)strcspn(name, "\n"), name);
  fsched_text_free(ctx, yaml, n);
  return copy;
}

START_TEST(names)
{
  ck_assert_str_eq(name_of("a/b/c"), "c");
  ck_assert_str_eq(name_of("c.1.csv"), "c.1");
  ck_assert_str_eq(name_of("a.b/.csv"), "\".csv\"");
  ck_assert_str_eq(name_of("a/x: y #z.csv"), "\"x: y #z\"");
  ck_assert_str_eq(name_of("a/\xFF.csv"), "memory");
  ck_assert_str_eq(name_of("a/"), "memory");
  ck_assert_str_eq(name_of(""), "memory");
}
END_TEST

START_TEST(formats)
{
  char *yaml;
  size_t n;
  ck_assert_uint_eq(fsched_format_count(), 5);
  ck_assert_str_eq(fsched_format_name(FSCHED_FORMAT_PSPLIB), "psplib");
  ck_assert_str_eq(fsched_format_name(FSCHED_FORMAT_MEMORY), "memory");
  ck_assert_ptr_nonnull(fsched_format_summary(FSCHED_FORMAT_STRIP));
  ck_assert_ptr_null(fsched_format_name(5));
  ck_assert_ptr_null(fsched_format_summary(5));
  ck_assert_int_eq(fsched_import(ctx, (fsched_format)5, "x", "", 0, NULL, &yaml, &n), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, "there is no format 5");
}
END_TEST

FS_SUITE(import, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, corpus, rubbish, prefixes, damaged, other_formats, out_of_memory, claims_take_nothing,
           many_faults, large, options, names, formats);
}
