/* SPDX-License-Identifier: Apache-2.0 */
/* .npy headers, and arrays in files. */
#include "base/text/npy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/array_file.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "kit/temp_dir.h"

#include "kit/context.h"

/* Makes a file of format `version` with this dictionary; returns its length. */
static size_t make_npy(unsigned version, const char *dictionary, char *out) {
  size_t n = strlen(dictionary), prefix = version == 1 ? 10 : 12;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version;
  for (size_t i = 7; i < prefix; i++) {
    out[i] = (char)(i < 8 ? 0 : n >> (8 * (i - 8)));
  }
  memcpy(out + prefix, dictionary, n);
  return prefix + n;
}

#define DICT(descr, order, shape) \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }    \n"

static const struct {
  const char *dictionary, *dtype;
  uint64_t size;
  uint32_t dimensions;
} good[] = {
    {DICT("'<f4'", "False", "(3, 4)"), "<f4", 48, 2},
    {DICT("'|u1'", "False", "(7,)"), "|u1", 7, 1},
    {DICT("'>u1'", "False", "(7,)"), ">u1", 7, 1}, /* one byte has no order */
    {DICT("'|b1'", "False", "()"), "|b1", 1, 0},
    {DICT("'<c16'", "False", "(2, 0, 5)"), "<c16", 0, 3},
    {DICT("'<U3'", "False", "(2L, 2L,)"), "<U3", 48, 2},
    {DICT("'|S5'", "False", "(2,)"), "|S5", 10, 1},
    {DICT("'<V2'", "False", "(2,)"), "<V2", 4, 1},
    {DICT("'<M8[ns]'", "False", "(2,)"), "<M8[ns]", 16, 1},
    {"{\"shape\":(1,2),\"descr\":\"<i8\",\"fortran_order\":False}\n", "<i8", 16, 2},
    {DICT("'|u1'", "False", "(0, 9223372036854775807)"), "|u1", 0, 2},
};

START_TEST(reads)
{
  for (unsigned version = 1; version <= 3; version++) {
    char bytes[512], why[FS_NPY_WHY] = "";
    size_t n = make_npy(version, good[_i].dictionary, bytes);
    fs_npy npy;
    ck_assert_msg(fs_npy_parse(bytes, n, &npy, why), "%s", why);
    ck_assert_str_eq(npy.type.dtype, good[_i].dtype);
    ck_assert_uint_eq(npy.size, good[_i].size);
    ck_assert_uint_eq(npy.type.n_dimensions, good[_i].dimensions);
    ck_assert_uint_eq(npy.header_size, n);
  }
}
END_TEST

#define BIG "1000000000000000000000"
static const struct {
  const char *dictionary, *why;
} bad[] = {
    {DICT("'<f4'", "True", "(3, 4)"), "Fortran order"},
    {DICT("'>f4'", "False", "(3, 4)"), "its items are big-endian ('>f4'), which is not supported"},
    {DICT("'|f4'", "False", "(3, 4)"), "dtype '|f4' does not say which byte comes first"},
    {DICT("'=f4'", "False", "(3, 4)"), "does not say which byte comes first"},
    {DICT("'|O'", "False", "(3,)"), "its items are Python objects"},
    {DICT("'|O8'", "False", "(3,)"), "its items are Python objects"},
    {DICT("'<f5'", "False", "(3,)"), "items of dtype '<f5' cannot be used"},
    {DICT("'<x4'", "False", "(3,)"), "items of dtype '<x4' cannot be used"},
    {DICT("'<f'", "False", "(3,)"), "'<f' is no dtype"},
    {DICT("'<f4x'", "False", "(3,)"), "'<f4x' is no dtype"},
    {DICT("'<f04'", "False", "(3,)"), "'<f04' is no dtype"},
    {DICT("'|V99999999'", "False", "(3,)"), "is no dtype"},
    {DICT("'|V0'", "False", "(3,)"), "'|V0' is no dtype"},
    {DICT("[('a', '<f4')]", "False", "(3,)"), "its items are structures"},
    {DICT("'<f4'", "false", "(3,)"), "its header has no True or False at byte 44"},
    {DICT("'<f4'", "False", "(3)"), "no comma in its tuple of one at byte"},
    {DICT("'<f4'", "False", "(3 4)"), "no comma at byte"},
    {DICT("'<f4'", "False", "(3,,4)"), "no number at byte"},
    {DICT("'<f4'", "False", "(-3,)"), "no number at byte"},
    {DICT("'<f4'", "False", "[3]"), "no tuple at byte"},
    {DICT("'<f4'", "False", "(" BIG ",)"), "a dimension is above 2^63-1"},
    {DICT("'<f8'", "False", "(9223372036854775807,)"), "it has more than 2^62 bytes"},
    {DICT("'<f8'", "False", "(3000000000, 3000000000)"), "it has more than 2^62 bytes"},
    {DICT("'<f8'", "False", "(3,), 'shape': (3,)"), "its header has 'shape' twice"},
    {DICT("'<f8'", "False", "(3,), 'more': 1"), "its header has a key 'more'"},
    {"{'descr': '<f8', 'shape': (3,)}\n", "its header has no 'fortran_order'"},
    {"{'descr': '<f8', 'fortran_order': False}\n", "its header has no 'shape'"},
    {"{}\n", "its header has no 'descr'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x\n", "no end, a line feed, at"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}  ", "no end, a line feed, at"},
    {"{'descr' '<f8'}\n", "no colon at byte 19"},
    {"{'descr': '<f8' 'shape': (3,)}\n", "no comma at byte 26"},
    {"{'descr': '<f8\n', }\n", "no end of a text at byte"},
    {"{'de\\scr': '<f8'}\n", "no end of a text at byte"},
    {"{descr: '<f8'}\n", "no text at byte 11"},
    {"[]\n", "no dictionary at byte 10"},
    {"", "no dictionary at byte 10"},
};

START_TEST(refuses)
{
  char bytes[512], why[FS_NPY_WHY] = "";
  fs_npy npy;
  size_t n = make_npy(1, bad[_i].dictionary, bytes);
  ck_assert(!fs_npy_parse(bytes, n, &npy, why));
  ck_assert_msg(strstr(why, bad[_i].why) != NULL, "%s, not %s", why, bad[_i].why);
}
END_TEST

START_TEST(refuses_versions_and_lengths)
{
  char bytes[512], why[FS_NPY_WHY];
  fs_npy npy;
  size_t n = make_npy(1, good[0].dictionary, bytes);
  bytes[6] = 4;
  ck_assert(!fs_npy_parse(bytes, n, &npy, why));
  ck_assert_str_eq(why, "its format is not 1.0, 2.0 or 3.0");
  bytes[6] = 1, bytes[7] = 1;
  ck_assert(!fs_npy_parse(bytes, n, &npy, why));
  n = make_npy(2, good[0].dictionary, bytes);
  bytes[10] = 2; /* 128 KiB */
  ck_assert(!fs_npy_parse(bytes, n, &npy, why));
  ck_assert_str_eq(why, "its header is longer than 65536 bytes");
  bytes[0] = 'x';
  ck_assert(!fs_npy_parse(bytes, n, &npy, why));
  ck_assert_str_eq(why, "it does not begin as a .npy file does");
}
END_TEST

START_TEST(many_dimensions)
{
  for (int n = FS_NPY_DIMENSIONS; n <= FS_NPY_DIMENSIONS + 1; n++) {
    char dictionary[1024] = "{'descr': '|u1', 'fortran_order': False, 'shape': (", bytes[2048];
    char why[FS_NPY_WHY];
    fs_npy npy;
    for (int i = 0; i < n; i++) {
      strcat(dictionary, "1, ");
    }
    strcat(dictionary, ")}\n");
    bool fits = n == FS_NPY_DIMENSIONS;
    ck_assert_int_eq(fs_npy_parse(bytes, make_npy(1, dictionary, bytes), &npy, why), fits);
  }
}
END_TEST

/* What is written is read again, aligned, whatever the shape. */
START_TEST(round_trip)
{
  fs_rng rng = {(uint64_t)_i};
  fs_npy_type type = {.n_dimensions = (uint32_t)_i % (FS_NPY_DIMENSIONS + 1)};
  char header[FS_NPY_WRITTEN], why[FS_NPY_WHY];
  fs_npy npy;
  ck_assert(fs_npy_dtype("<f4", 3, &type, why));
  for (uint32_t d = 0; d < type.n_dimensions; d++) {
    type.shape[d] = _i > 2 * FS_NPY_DIMENSIONS ? INT64_MAX : fs_rng_below(&rng, 2);
  }
  uint64_t size;
  bool representable = fs_npy_bytes(&type, &size);
  size_t n = fs_npy_header(&type, header);
  ck_assert_uint_eq(n % 64, 0);
  ck_assert_int_eq(header[n - 1], '\n');
  ck_assert_int_eq(fs_npy_parse(header, n, &npy, why), representable);
  if (representable) {
    ck_assert_uint_eq(npy.size, size);
    ck_assert_uint_eq(npy.type.n_dimensions, type.n_dimensions);
    ck_assert_int_eq(memcmp(npy.type.shape, type.shape, type.n_dimensions * sizeof size), 0);
  }
}
END_TEST

/* Every prefix is refused without a read behind its end (each is in a block of its own, for the
 * sanitizer); every file with one byte changed to any value is refused or understood. */
START_TEST(damaged_headers)
{
  char bytes[512], why[FS_NPY_WHY];
  fs_npy npy;
  size_t n = make_npy((unsigned)_i, good[0].dictionary, bytes);
  for (size_t cut = 0; cut < n; cut++) {
    char *block = malloc(cut == 0 ? 1 : cut);
    memcpy(block, bytes, cut);
    why[0] = '\0';
    if (fs_npy_parse(block, cut, &npy, why) || why[0] == '\0') {
      ck_abort_msg("the first %zu bytes are taken for a header", cut);
    }
    free(block);
  }
  uint32_t understood = 0;
  for (size_t at = 0; at < n; at++) {
    for (unsigned value = 0; value < 256; value++) {
      char *block = malloc(n);
      memcpy(block, bytes, n);
      block[at] = (char)value;
      if (fs_npy_parse(block, n, &npy, why)) {
        understood++;
        if (npy.header_size > n || npy.type.n_dimensions > FS_NPY_DIMENSIONS) {
          ck_abort_msg("byte %zu as %u gives a header beyond the file", at, value);
        }
      }
      free(block);
    }
  }
  ck_assert_uint_ge(understood, n);
  ck_assert_uint_le(understood, 20 * n);
}
END_TEST

START_TEST(random_headers)
{
  static const char letters[] = "{}()[],:'\" <>|=0123456789LdescrfotanhpTFalue_\n\\\x80";
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 2000; k++) {
    char bytes[512], why[FS_NPY_WHY];
    fs_npy npy;
    size_t n = make_npy(1 + fs_rng_below(&rng, 3), good[k % 10].dictionary, bytes);
    for (uint32_t m = fs_rng_below(&rng, 6) + 1; m-- > 0;) {
      bytes[fs_rng_below(&rng, (uint32_t)n)] = letters[fs_rng_below(&rng, sizeof letters - 1)];
    }
    char *block = malloc(n);
    memcpy(block, bytes, n);
    uint64_t size;
    if (fs_npy_parse(block, n, &npy, why) &&
        (!fs_npy_bytes(&npy.type, &size) || size != npy.size || npy.header_size > n)) {
      ck_abort_msg("seed %d, header %d: %.*s", _i, k, (int)n, bytes);
    }
    free(block);
  }
}
END_TEST

/* ---- files */

static void put(const char *path, const char *bytes, size_t n) {
  ck_assert_int_eq(fs_file_write(ctx, path, bytes, n), FSCHED_OK);
}

static const char *last(void) { return fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message; }

static void read_fails(const char *path, uint64_t size, const char *code, const char *message) {
  char out[256];
  fsched_diag_clear(ctx);
  fsched_status status = fs_array_file_read(ctx, path, size, out);
  ck_assert_int_eq(status, strcmp(code, "file") == 0 ? FSCHED_SYSTEM : FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(last(), message);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, code);
  if (strcmp(code, "file") != 0) {
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->file, strcmp(path, "-") == 0 ? "<stdin>" : path);
  }
}

START_TEST(raw_files)
{
  char out[16] = "................";
  put("raw", "0123456789", 10);
  ck_assert_int_eq(fs_array_file_read(ctx, "raw", 10, out), FSCHED_OK);
  ck_assert_int_eq(memcmp(out, "0123456789......", 16), 0);
  read_fails("raw", 11, "array-size", "the file has 10 bytes; 11 are expected");
  read_fails("raw", 9, "array-size", "the file has 10 bytes; 9 are expected");
  read_fails("raw", 0, "array-size", "the file has 10 bytes; 0 are expected");
  read_fails("none", 0, "file", "cannot open none: No such file or directory");
  put("empty", "", 0);
  ck_assert_int_eq(fs_array_file_read(ctx, "empty", 0, NULL), FSCHED_OK);
  read_fails("empty", 1, "array-size", "the file has 0 bytes; 1 are expected");
  /* The suffix decides, not the content. */
  put("x.npy.bin", "\x93NUMPY\1", 8);
  ck_assert_int_eq(fs_array_file_read(ctx, "x.npy.bin", 8, out), FSCHED_OK);
}
END_TEST

START_TEST(npy_files)
{
  char bytes[512], out[64];
  size_t n = make_npy(1, DICT("'<u2'", "False", "(2, 3)"), bytes);
  memcpy(bytes + n, "abcdefghijkl", 12);
  put("a.npy", bytes, n + 12);
  ck_assert_int_eq(fs_array_file_read(ctx, "a.npy", 12, out), FSCHED_OK);
  ck_assert_int_eq(memcmp(out, "abcdefghijkl", 12), 0);
  read_fails("a.npy", 13, "array-size",
             "the array has 12 bytes (dtype <u2, shape (2, 3)); 13 are expected");
  put("short.npy", bytes, n + 11);
  read_fails("short.npy", 12, "array-size", "the array ends after 11 bytes; 12 are expected");
  put("long.npy", bytes, n + 13);
  read_fails("long.npy", 12, "array-size",
             "the array goes on after the 12 bytes that are expected");
  put("text.npy", "fsched: 1\n", 10);
  read_fails("text.npy", 12, "array-format",
             "not an array that can be read: it does not begin as a .npy file does");
  put("none.npy", "", 0);
  read_fails("none.npy", 12, "array-format",
             "not an array that can be read: it does not begin as a .npy file does");
  put("cut.npy", bytes, n - 1);
  read_fails("cut.npy", 12, "array-format",
             "not an array that can be read: it ends within its header");
  n = make_npy(3, DICT("'<u2'", "True", "(2, 3)"), bytes);
  put("fortran.npy", bytes, n + 12);
  read_fails("fortran.npy", 12, "array-format",
             "not an array that can be read: its items are in Fortran order, which is not "
             "supported: save it in C order (numpy.ascontiguousarray)");
  ck_assert_int_eq(mkdir("sub.npy", 0700), 0);
  read_fails("sub.npy", 1, "file", "cannot read sub.npy: Is a directory");
  ck_assert_int_eq(fs_array_file_write(ctx, "sub.npy", "x", 1, NULL), FSCHED_SYSTEM);
}
END_TEST

/* Each prefix of a file, and each file with a byte of its header changed, is read as its header
 * says or is refused; nothing is written beyond the bytes that are asked for. */
START_TEST(damaged_files)
{
  char bytes[512], out[32];
  size_t head = make_npy(1, DICT("'<u2'", "False", "(2, 3)"), bytes), n = head + 12;
  memcpy(bytes + head, "abcdefghijkl", 12);
  for (size_t i = 0; i < 2 * n; i++) {
    char damaged[512];
    memcpy(damaged, bytes, n);
    memset(out, '#', sizeof out);
    if (i >= n) {
      damaged[i - n] ^= (char)(1 << i % 8);
    }
    put("x.npy", damaged, i < n ? i : n);
    fsched_diag_clear(ctx);
    fsched_status status = fs_array_file_read(ctx, "x.npy", 12, out);
    bool reported = fsched_diag_errors(ctx) == 1;
    if ((status != FSCHED_OK && status != FSCHED_BAD_INPUT) || reported == (status == FSCHED_OK) ||
        (i < n && status == FSCHED_OK) || out[12] != '#') {
      ck_abort_msg("case %zu: status %d", i, status);
    }
  }
}
END_TEST

START_TEST(writes)
{
  char out[16];
  struct stat st;
  ck_assert_int_eq(fs_array_file_write(ctx, "a.npy", "abc", 3, NULL), FSCHED_OK);
  ck_assert_int_eq(stat("a.npy", &st), 0);
  ck_assert_int_eq(st.st_size, 128 + 3);
  ck_assert_int_eq(fs_array_file_read(ctx, "a.npy", 3, out), FSCHED_OK);
  ck_assert_int_eq(memcmp(out, "abc", 3), 0);
  read_fails("a.npy", 4, "array-size",
             "the array has 3 bytes (dtype |u1, shape (3,)); 4 are expected");
  ck_assert_int_eq(fs_array_file_write(ctx, "a.bin", "abc", 3, NULL), FSCHED_OK);
  ck_assert_int_eq(stat("a.bin", &st), 0);
  ck_assert_int_eq(st.st_size, 3);
  fs_npy_type type = {.n_dimensions = 2, .shape = {2, 3}};
  char why[FS_NPY_WHY];
  ck_assert(fs_npy_dtype("<i2", 3, &type, why));
  ck_assert_int_eq(fs_array_file_write(ctx, "a.npy", "abcdefghijkl", 12, &type), FSCHED_OK);
  read_fails("a.npy", 4, "array-size",
             "the array has 12 bytes (dtype <i2, shape (2, 3)); 4 are expected");
  ck_assert_int_eq(fs_array_file_write(ctx, "a.npy", "abc", 3, &type), FSCHED_USAGE);
  ck_assert_str_eq(last(), "the dtype and shape for a.npy are not those of 3 bytes");
  ck_assert_int_eq(fs_array_file_read(ctx, "a.npy", 12, out), FSCHED_OK); /* as it was before */
  ck_assert_int_eq(fs_array_file_write(ctx, "e.npy", NULL, 0, NULL), FSCHED_OK);
  ck_assert_int_eq(fs_array_file_read(ctx, "e.npy", 0, NULL), FSCHED_OK);
}
END_TEST

/* Reads standard input as a pipe, which has no size: it is bare, or .npy by its first bytes. */
static fsched_status from_pipe(const char *bytes, size_t n, uint64_t size, char *out) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  if (fork() == 0) {
    for (size_t i = 0; i < n; i += 5) { /* in pieces */
      (void)!write(ends[1], bytes + i, n - i < 5 ? n - i : 5);
    }
    _exit(0);
  }
  (void)close(ends[1]);
  ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  (void)close(ends[0]);
  fsched_diag_clear(ctx);
  return fs_array_file_read(ctx, "-", size, out);
}

START_TEST(standard_input)
{
  char bytes[512], out[128];
  static const char text[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  ck_assert_int_eq(from_pipe(text, 36, 36, out), FSCHED_OK);
  ck_assert_int_eq(memcmp(out, text, 36), 0);
  ck_assert_int_eq(from_pipe(text, 3, 3, out), FSCHED_OK);
  ck_assert_int_eq(from_pipe(text, 0, 0, out), FSCHED_OK);
  ck_assert_int_eq(from_pipe(text, 36, 37, out), FSCHED_BAD_INPUT);
  ck_assert_str_eq(last(), "the file ends after 36 bytes; 37 are expected");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->file, "<stdin>");
  ck_assert_int_eq(from_pipe(text, 36, 35, out), FSCHED_BAD_INPUT);
  ck_assert_str_eq(last(), "the file goes on after the 35 bytes that are expected");
  ck_assert_int_eq(from_pipe(text, 36, 5, out), FSCHED_BAD_INPUT);
  ck_assert_int_eq(from_pipe(text, 1, 0, out), FSCHED_BAD_INPUT);
  size_t n = make_npy(2, DICT("'<u2'", "False", "(2, 3)"), bytes);
  memcpy(bytes + n, text, 12);
  memset(out, 0, sizeof out);
  ck_assert_int_eq(from_pipe(bytes, n + 12, 12, out), FSCHED_OK);
  ck_assert_int_eq(memcmp(out, text, 12), 0);
  ck_assert_int_eq(from_pipe(bytes, n + 11, 12, out), FSCHED_BAD_INPUT);
  ck_assert_int_eq(from_pipe(bytes, n + 13, 12, out), FSCHED_BAD_INPUT);
  ck_assert_int_eq(from_pipe(bytes, 8, 12, out), FSCHED_BAD_INPUT);
}
END_TEST

/* The file is larger than a pipe or a first block. */
START_TEST(large_files)
{
  enum { N = 3000001 };
  char *bytes = malloc(N), *again = malloc(N);
  for (size_t i = 0; i < N; i++) {
    bytes[i] = (char)(i * 7 + i / 256);
  }
  static const char *const names[] = {"big.npy", "big.raw"};
  for (size_t k = 0; k < 2; k++) {
    ck_assert_int_eq(fs_array_file_write(ctx, names[k], bytes, N, NULL), FSCHED_OK);
    memset(again, 0, N);
    ck_assert_int_eq(fs_array_file_read(ctx, names[k], N, again), FSCHED_OK);
    ck_assert_int_eq(memcmp(bytes, again, N), 0);
  }
  free(bytes);
  free(again);
}
END_TEST

START_TEST(out_of_memory)
{
  fs_budget budget = {.left = 1 << 30};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *c;
  char out[8];
  ck_assert_int_eq(fsched_context_create(&o, &c), FSCHED_OK);
  long allowed = 0;
  for (fsched_status status = FSCHED_SYSTEM; status != FSCHED_OK; allowed++) {
    fsched_diag_clear(c);
    ck_assert_int_lt(allowed, 100);
    budget.left = allowed;
    status = fs_array_file_write(c, "m.npy", "12345678", 8, NULL);
    status = status == FSCHED_OK ? fs_array_file_read(c, "m.npy", 8, out) : status;
    budget.left = 1 << 30;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
  }
  ck_assert_int_gt(allowed, 1); /* these bytes are for the header */
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof(table)[0])

FS_SUITE(npy, s) {
  TCase *t = fs_case(s, fs_test_in_dir);
  FS_LOOPS(t, 0, ROWS(good), reads);
  FS_LOOPS(t, 0, ROWS(bad), refuses);
  FS_TESTS(t, refuses_versions_and_lengths, many_dimensions, raw_files, npy_files, damaged_files,
           writes, standard_input, large_files, out_of_memory);
  FS_LOOPS(t, 0, 3 * FS_NPY_DIMENSIONS, round_trip);
  FS_LOOPS(t, 1, 4, damaged_headers);
  FS_LOOPS(t, 0, 5, random_headers);
}
