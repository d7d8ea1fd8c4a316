/* SPDX-License-Identifier: Apache-2.0 */
/* The quick reader of plain YAML takes what graph files are written in, gives up on what it does
 * not know, and never reads anything but what the reader of all YAML does: by hand, of all files of
 * the examples and tests, of mutations of these, and of drawn texts. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit/gen.h"
#include "kit/two_readers.h"
/* Behind all others. */
#include "kit/context.h"

static void check_compare(const char *text, size_t n, two_readers expected) {
  fsched_diag_clear(ctx);
  two_readers found = two_readers_compare(ctx, text, n);
  ck_assert_msg(found == expected, "%d, not %d: %.*s", (int)found, (int)expected, (int)n, text);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
}

/* A copy that ends with its last byte, so that a sanitizer sees what is read behind it. */
static char *copy_exactly(const char *text, size_t n) {
  char *copy = malloc(n + (n == 0));
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, text, n);
  return copy;
}

static void check_text(const char *text, two_readers expected) {
  size_t n = strlen(text);
  char *copy = copy_exactly(text, n);
  check_compare(copy, n, expected);
  free(copy);
}

static const char *const plain[] = {
    "a: b\n",
    "a: b",
    "a: b   \n   \n\n",
    "# c\n\n  # d\na: b # e\n#f\nc: d #\n#",
    "a : b\n\"c\" : 'd'\ne:    f\n",
    "a:\n  b: c\n  d:\n    e: f\ng: h\n",
    "a:\n- b\n- c: d\n  e: f\ng: h\n",
    "a:\n  - b\n  -   c: d\n      e:\n      - f\n  - g\n",
    "- - a\n  - b\n- c\n-\n  d\n-\n  - e\n",
    "  a: b\n  c: d\n",
    "a: # b\n  # c\n  d: e\n",
    "a:\n  b\nc:\n  [d]\ne:\n  'f'\n",
    "word",
    "-5\n",
    "[a, b, ]\n",
    "{a: b, c: [d, {e: f}], }\n",
    "a: [\n# b\n1,\n2 ]\nc: {\n}\nd: []\n",
    "{\"a\":{\"b\":[1,2.5,-3e4,\"x y\",null,true]},\"c\" : \"\"}",
    "a: b c  d\n",
    "a: b[0], {c} ? - d & e\n",
    "a: http://x:1/y#z\n",
    "a# b: c#d\n",
    "a: -b\nc: .5\nd: /e/f\n",
    "a: ' # b: '\n",
    "a: \"it's\"\nb: 'say \"c\"'\n",
    "yes: no\n~: null\n1: 2\n",
    "{a: b-c, d: e - f}\n",
    "[a#, b #, c\n]",
};

START_TEST(what_is_plain)
{ check_text(plain[_i], TWO_READERS_AGREE); }
END_TEST

/* YAML that the quick reader does not know, and what is no YAML. */
static const char *const left[] = {
    "",
    "\n# a\n",
    "a: b: c\n",
    "a: - b\n",
    "a:\n",
    "a:\nb: c\n",
    "-\n- a\n",
    "-",
    "a: b\n c\n",
    "a: b\n  c: d\n",
    "a:\n    b: c\n  d: e\n",
    "a: [b]\n  - c\n",
    "- a\nb: c\n",
    "a: b\n- c\n",
    "a\nb\n",
    "a: 'b\n  c'\n",
    "a: 'b''c'\n",
    "a: \"b\\n\"\n",
    "a: 'b\n",
    "a: 'b' c\n",
    "a: 'b'#c\n",
    "a: [b]#c\n",
    "a: [b]: c\n",
    "[a]: b\n",
    "{a: b}: c\n",
    "{a, b: c}\n",
    "{a: , b: c}\n",
    "{a:b}\n",
    "{a :b}\n",
    "{a: b:c}\n",
    "{a\n: b}\n",
    "{a: b\nc: d}\n",
    "[a: b]\n",
    "[a\nb]\n",
    "[a,, b]\n",
    "[, a]\n",
    "[- a]\n",
    "[-]\n",
    "[a?]\n",
    "[a\n",
    "[a}\n",
    "[a] b\n",
    "[a]\n[b]\n",
    "'a':b\n",
    "? a\n: b\n",
    ": a\n",
    "a: |\n  b\n",
    "a: >\n  b\n",
    "a: &b c\n",
    "a: *b\n",
    "a: !b c\n",
    "a: @b\n",
    "a: `b`\n",
    "a: %b\n",
    "%YAML 1.1\n---\na: b\n",
    "---\na: b\n",
    "a: b\n...\n",
    "a: b\n---\nc: d\n",
    "[\n---\n]\n",
    "[\n...\n]\n",
    "a:\tb\n",
    "a: b\t\n",
    "a: b #\tc\n",
    "a: b\r\n",
    "a: b # \x7F\n",
    "a: \x01\n",
    "a: \"\xC3\xBC\"\n",
    "a: b # \xC2\x85 c: d\n",
    "a: b # \xE2\x80\xA8 c: d\n",
    "\xEF\xBB\xBF a: b\n",
    "a: b\na: c\n",
    "{a: b, 'a': c}\n",
    "a: b\nc\n",
};

START_TEST(what_is_left)
{ check_text(left[_i], TWO_READERS_LEFT); }
END_TEST

/* A NUL ends nothing. */
START_TEST(a_nul)
{
  check_compare("a: b\0\n", 6, TWO_READERS_LEFT);
  check_compare("a: 'b\0'\n", 8, TWO_READERS_LEFT);
  check_compare("a: b\n# \0\n", 9, TWO_READERS_LEFT);
}
END_TEST

/* Nothing is left behind by a reader that gives up late, and the other one starts anew. */
START_TEST(giving_up)
{
  static const char text[] = "a: [b, c]\nd: {e: f}\ng: 'h'\ni: !j k\n";
  fs_doc doc = {.file = 7, .overlay = FS_NONE, .overlay_file = FS_NONE};
  bool taken = true;
  ck_assert_int_eq(fs_plain_parse(ctx, &own_arena, text, strlen(text), &doc, &taken), FSCHED_OK);
  ck_assert(!taken && doc.node == NULL && doc.n_nodes == 0 && doc.file == 7);
  ck_assert_ptr_null(own_arena.last);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  ck_assert_int_eq(fs_doc_parse(ctx, &own_arena, "t", text, strlen(text), &doc), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 4);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->column, 4);
}
END_TEST

/* libyaml looks for a colon on the line of the key, up to 1024 characters from its start. */
START_TEST(long_keys)
{
  for (int spaces = 0; spaces < 2; spaces++) {
    for (int n = 1022; n < 1027; n++) {
      fs_text t;
      fs_text_init(&t, ctx);
      fs_text_printf(&t, "{b: 1, %0*d%s: 2}\n", n - spaces, 7, spaces == 1 ? " " : "");
      check_compare(t.at, t.n, n <= 1024 ? TWO_READERS_AGREE : TWO_READERS_LEFT);
      fs_text_drop(&t);
      fs_text_printf(&t, "%0*d%s: 2\n", n - spaces, 7, spaces == 1 ? " " : "");
      check_compare(t.at, t.n, n <= 1024 ? TWO_READERS_AGREE : TWO_READERS_LEFT);
      fs_text_drop(&t);
    }
  }
}
END_TEST

START_TEST(depths)
{
  char text[2 * FS_NODE_DEPTH + 3];
  for (int n = FS_NODE_DEPTH; n <= FS_NODE_DEPTH + 1; n++) {
    memset(text, '[', (size_t)n);
    memset(text + n, ']', (size_t)n);
    check_compare(text, 2 * (size_t)n, n == FS_NODE_DEPTH ? TWO_READERS_AGREE : TWO_READERS_LEFT);
    for (int i = 0; i < n; i++) {
      memcpy(text + (ptrdiff_t)2 * i, "- ", 2);
    }
    text[2 * n] = 'a';
    check_compare(text, 2 * (size_t)n + 1,
                  n == FS_NODE_DEPTH ? TWO_READERS_AGREE : TWO_READERS_LEFT);
  }
}
END_TEST

/* Enough keys for a table of them. */
START_TEST(many_keys)
{
  for (int repeated = 0; repeated < 2; repeated++) {
    fs_text t;
    fs_text_init(&t, ctx);
    for (int i = 0; i < 1000; i++) {
      fs_text_printf(&t, "a key of %d: {a: %d, long: %020d}\n", i, i % 100, i % 7);
    }
    fs_text_puts(&t, repeated == 1 ? "a key of 500: 1\n" : "");
    check_compare(t.at, t.n, repeated == 1 ? TWO_READERS_LEFT : TWO_READERS_AGREE);
    fs_text_drop(&t);
  }
}
END_TEST

/* The texts of the repository. */
typedef struct own_file {
  char *text;
  size_t n;
} own_file;

static struct {
  own_file at[2000];
  size_t n;
} files;

static bool ends_with(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)at;
  enum { LARGEST = 1 << 20 };
  bool wanted = ends_with(path, ".yaml") || ends_with(path, ".json") || ends_with(path, ".sh");
  if (type != FTW_F || !wanted || st->st_size == 0 || st->st_size > LARGEST ||
      files.n == sizeof files.at / sizeof *files.at) {
    return 0;
  }
  own_file *f = &files.at[files.n];
  f->text = malloc((size_t)st->st_size);
  FILE *stream = fopen(path, "rb");
  ck_assert(f->text != NULL && stream != NULL);
  f->n = fread(f->text, 1, (size_t)st->st_size, stream);
  (void)fclose(stream);
  files.n += f->n > 0;
  return 0;
}

/* The tests run in the root of the repository. */
static void read_files(void) {
  static const char *const roots[] = {"examples", "test/golden", "test/fuzz",
                                      "test/bad", "test/cli",    "test/import"};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    ck_assert_int_eq(nftw(roots[i], add_file, 8, FTW_PHYS), 0);
  }
  ck_assert_uint_gt(files.n, 100);
}

static void drop_files(void) {
  for (size_t i = 0; i < files.n; i++) {
    free(files.at[i].text);
  }
  files.n = 0;
}

/* Compares the readers, and returns whether the quick one took the text. */
static bool check_same(const char *text, size_t n) {
  fsched_diag_clear(ctx);
  two_readers found = two_readers_compare(ctx, text, n);
  ck_assert_msg(found == TWO_READERS_AGREE || found == TWO_READERS_LEFT,
                "the readers differ:\n%.*s", (int)n, text);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  return found == TWO_READERS_AGREE;
}

/* All examples are plain; their prefixes are read alike too. */
START_TEST(examples_are_plain)
{
  ck_assert_int_eq(nftw("examples", add_file, 8, FTW_PHYS), 0);
  size_t graphs = 0;
  for (size_t i = 0; i < files.n; i++) {
    const own_file *f = &files.at[i];
    if (f->n > 10 && memcmp(f->text, "#!", 2) != 0) {
      ck_assert_msg(check_same(f->text, f->n), "not plain: %.*s", 200, f->text);
      graphs++;
    }
    for (size_t n = 0; n < f->n; n += 1 + f->n / 100) {
      (void)check_same(f->text, n);
    }
  }
  ck_assert_uint_gt(graphs, 10);
  drop_files();
}
END_TEST

/* What is near the border of what is plain. */
static const char *const pieces[] = {" ",
                                     "  ",
                                     "\n",
                                     "\n  ",
                                     "\n- ",
                                     "\n\n",
                                     ":",
                                     ": ",
                                     ":\n",
                                     "- ",
                                     "-",
                                     "--",
                                     "---\n",
                                     "...",
                                     ",",
                                     ", ",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     "[]",
                                     "{}",
                                     "#",
                                     " #",
                                     "# ",
                                     "'",
                                     "\"",
                                     "\\",
                                     "?",
                                     "? ",
                                     "&",
                                     "*",
                                     "!",
                                     "|",
                                     ">",
                                     "%",
                                     "@",
                                     "`",
                                     "~",
                                     ".",
                                     "\t",
                                     "\r\n",
                                     "\r",
                                     "a",
                                     "0",
                                     "=",
                                     "<<: ",
                                     "a: ",
                                     "b",
                                     "\x7f",
                                     "'a'",
                                     "\"b\"",
                                     "a: b\n",
                                     "- c\n",
                                     "\xC2\x85",
                                     "\xE2\x80\xA8",
                                     "\xE2\x80\xA9",
                                     "\xEF\xBB\xBF",
                                     "\xC3\xBC",
                                     "\xFF"};

enum { MOST = 900 };

/* A text that changes. */
typedef struct changed_text {
  char at[2 * MOST];
  size_t n;
} changed_text;

/* Replaces `cut` bytes at `at`. */
static void splice(changed_text *t, size_t at, size_t cut, const char *with, size_t n) {
  cut = fs_min(cut, t->n - at);
  if (t->n - cut + n > sizeof t->at) {
    return;
  }
  memmove(t->at + at + n, t->at + at + cut, t->n - at - cut);
  memcpy(t->at + at, with, n);
  t->n += n - cut;
}

/* Some lines of a file. */
static void take_lines(changed_text *t, const own_file *f, fs_rng *rng) {
  size_t from = f->n <= MOST ? 0 : fs_rng_below(rng, (uint32_t)f->n);
  while (from > 0 && f->text[from - 1] != '\n') {
    from--;
  }
  t->n = fs_min(f->n - from, 20 + fs_rng_below(rng, MOST - 20));
  memcpy(t->at, f->text + from, t->n);
}

static void change(changed_text *t, fs_rng *rng) {
  size_t at = fs_rng_below(rng, (uint32_t)t->n + 1);
  char other[40];
  size_t n = fs_min(1 + fs_rng_below(rng, sizeof other - 1), t->n - at);
  memcpy(other, t->at + at, n);
  switch (fs_rng_below(rng, 4)) {
    case 0: /* something goes */
      splice(t, at, fs_rng_below(rng, 2) == 0 ? 1 : n, "", 0);
      return;
    case 1: /* something moves, or is there twice */
      splice(t, at, fs_rng_below(rng, 2) == 0 ? n : 0, "", 0);
      splice(t, fs_rng_below(rng, (uint32_t)t->n + 1), 0, other, n);
      return;
    default: {
      const char *piece = pieces[fs_rng_below(rng, sizeof pieces / sizeof *pieces)];
      splice(t, at, fs_rng_below(rng, 3), piece, strlen(piece));
    }
  }
}

START_TEST(changed_files)
{
  enum { TEXTS = 2000, CHANGES = 4 };
  fs_rng rng = {(uint64_t)_i + 1};
  uint32_t taken = 0;
  read_files();
  for (uint32_t i = 0; i < TEXTS; i++) {
    changed_text t;
    take_lines(&t, &files.at[fs_rng_below(&rng, (uint32_t)files.n)], &rng);
    for (uint32_t k = fs_rng_below(&rng, CHANGES + 1); k > 0; k--) {
      change(&t, &rng);
    }
    char *text = copy_exactly(t.at, t.n);
    taken += check_same(text, t.n);
    free(text);
  }
  ck_assert_uint_gt(taken, TEXTS / 50);
  drop_files();
}
END_TEST

/* Texts that are drawn by a grammar, most of them plain. */
typedef struct text_drawer {
  fs_rng *rng;
  fs_text *out;
  uint32_t odd; /* one piece of this many is anything; 0: none */
} text_drawer;

static const char *draw_from(text_drawer *d, const char *const *from, size_t n) {
  if (d->odd != 0 && fs_rng_one_in(d->rng, d->odd)) {
    return pieces[fs_rng_below(d->rng, sizeof pieces / sizeof *pieces)];
  }
  return from[fs_rng_below(d->rng, (uint32_t)n)];
}
#define DRAW(d, ...)                                                        \
  fs_text_puts((d)->out, draw_from((d), (const char *const[]){__VA_ARGS__}, \
                                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static void draw_scalar(text_drawer *d, uint32_t unique) {
  DRAW(d, "'", "\"", "", "", "", "");
  char quote = d->out->n > 0 ? d->out->at[d->out->n - 1] : ' ';
  DRAW(d, "a", "b c", "-1", "0", "x.y", "/p", "d-e", "f#g", "~", "true", "1e5", "h  i");
  fs_text_u64(d->out, unique);
  fs_text_puts(d->out, quote == '\'' ? "'" : quote == '"' ? "\"" : "");
}

static void draw_flow(text_drawer *d, uint32_t depth) {
  bool mapping = fs_rng_one_in(d->rng, 2);
  if (depth == 0 || fs_rng_one_in(d->rng, 3)) {
    draw_scalar(d, 0);
    return;
  }
  fs_text_puts(d->out, mapping ? "{" : "[");
  uint32_t n = fs_rng_below(d->rng, 4);
  for (uint32_t i = 0; i < n; i++) {
    DRAW(d, "", "", " ", "\n", " # c\n ");
    if (mapping) {
      draw_scalar(d, i);
      DRAW(d, ": ", ": ", " : ", ":\n", ": #\n");
    }
    draw_flow(d, depth - 1);
    DRAW(d, "", "", " ", "\n ");
    if (i + 1 < n || fs_rng_one_in(d->rng, 4)) {
      DRAW(d, ",", ", ", ",\n  ");
    }
  }
  fs_text_puts(d->out, mapping ? "}" : "]");
}

static void draw_indent(text_drawer *d, uint32_t column) {
  DRAW(d, "\n", "\n", "\n", " \n", " # c\n", "\n\n", "\n   # d\n");
  fs_text_printf(d->out, "%*s", (int)column, "");
}

/* Draws a value that begins in `column`. */
static void draw_block(text_drawer *d, uint32_t column, uint32_t depth) {
  bool mapping = fs_rng_one_in(d->rng, 2);
  if (depth == 0 || fs_rng_one_in(d->rng, 4)) {
    draw_flow(d, 3);
    return;
  }
  uint32_t n = 1 + fs_rng_below(d->rng, 3);
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0) {
      draw_indent(d, column);
    }
    uint32_t more = 2 + fs_rng_below(d->rng, 2);
    if (!mapping) {
      fs_text_puts(d->out, more == 2 ? "- " : "-  ");
      draw_block(d, column + more, depth - 1);
      continue;
    }
    draw_scalar(d, i);
    DRAW(d, ":", ":", ":", " :");
    if (fs_rng_one_in(d->rng, 2)) {
      draw_indent(d, column + more);
      draw_block(d, column + more, depth - 1);
    } else {
      fs_text_puts(d->out, " ");
      draw_flow(d, 3);
    }
  }
}

START_TEST(drawn_texts)
{
  enum { TEXTS = 2000 };
  fs_rng rng = {(uint64_t)_i + 100};
  uint32_t taken = 0;
  for (uint32_t i = 0; i < TEXTS; i++) {
    fs_text t;
    fs_text_init(&t, ctx);
    text_drawer d = {.rng = &rng, .out = &t, .odd = i % 2 == 0 ? 0 : 20};
    draw_block(&d, fs_rng_below(&rng, 3) == 0 ? 2 : 0, 4);
    DRAW(&d, "\n", "", "\n\n# c\n");
    char *text = copy_exactly(t.at, t.n);
    taken += check_same(text, t.n);
    free(text);
    fs_text_drop(&t);
  }
  ck_assert_uint_gt(taken, TEXTS / 3);
}
END_TEST

FS_SUITE(plain, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, (int)(sizeof plain / sizeof *plain), what_is_plain);
  FS_LOOPS(t, 0, (int)(sizeof left / sizeof *left), what_is_left);
  FS_TESTS(t, a_nul, giving_up, long_keys, depths, many_keys, examples_are_plain);
  FS_LOOPS(t, 0, 4, changed_files, drawn_texts);
}
