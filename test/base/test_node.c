/* SPDX-License-Identifier: Apache-2.0 */

#include "base/text/node.h"

#include "kit/context.h"

static fs_doc doc;

static fs_status parse(const char *text) {
  fsched_diag_clear(ctx);
  return fs_doc_parse(ctx, &own_arena, "t.yaml", text, strlen(text), &doc);
}

static void check_pos(uint32_t node, uint32_t line, uint32_t column, uint32_t length) {
  fs_pos pos = fs_node_pos(&doc, node);
  ck_assert_uint_eq(pos.line, line);
  ck_assert_uint_eq(pos.column, column);
  ck_assert_uint_eq(pos.length, length);
}

START_TEST(tree_and_positions)
{
  ck_assert_int_eq(parse("a: 1\nlist: [x, 'two words', {k: v}]\n"), FSCHED_OK);
  ck_assert_int_eq(doc.node[0].kind, FS_NODE_MAPPING);
  ck_assert_uint_eq(doc.node[0].n_children, 4);
  check_pos(fs_node_get(&doc, 0, "a"), 1, 4, 1);
  uint32_t list = fs_node_get(&doc, 0, "list");
  ck_assert_int_eq(doc.node[list].kind, FS_NODE_SEQUENCE);
  ck_assert_uint_eq(doc.node[list].n_children, 3);
  check_pos(list, 2, 7, 1);
  uint32_t two = doc.node[doc.node[list].child].next;
  ck_assert_str_eq(doc.node[two].text, "two words");
  ck_assert(doc.node[two].quoted);
  check_pos(two, 2, 11, 11);
  uint32_t map = doc.node[two].next;
  ck_assert_str_eq(doc.node[fs_node_get(&doc, map, "k")].text, "v");
  ck_assert_uint_eq(doc.node[map].next, FS_NONE);
  ck_assert_uint_eq(fs_node_get(&doc, 0, "b"), FS_NONE);
}
END_TEST

/* Columns count bytes, libyaml counts characters. */
START_TEST(columns_count_bytes)
{
  ck_assert_int_eq(
      parse("\xEF\xBB\xBF\"\xC3\xBC\xE2\x82\xAC\": {x: \"\xF0\x9F\x98\x80\"}\r\nb: 2\n"),
      FSCHED_OK);
  uint32_t map = doc.node[doc.node[0].child].next;
  check_pos(map, 1, 10, 1);
  check_pos(fs_node_get(&doc, map, "x"), 1, 14, 6);
  check_pos(fs_node_get(&doc, 0, "b"), 2, 4, 1);
}
END_TEST

/* A text that the context takes over, with and without a byte order mark: its lines are shown. */
START_TEST(owned_text)
{
  static const char *const texts[] = {"a: 1\nb: [\n",
                                      "\xEF\xBB\xBF"
                                      "a: 1\nb: [\n"};
  for (int i = 0; i < 2; i++) {
    fsched_diag_clear(ctx);
    size_t n = strlen(texts[i]);
    char *owned = fs_realloc(ctx, NULL, 0, n + 1);
    memcpy(owned, texts[i], n + 1);
    ck_assert_int_eq(fs_doc_parse_owned(ctx, &own_arena, "t.yaml", owned, n, &doc),
                     FSCHED_BAD_INPUT);
    ck_assert_uint_eq(fsched_diag_count(ctx), 1);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "yaml-syntax");
  }
}
END_TEST

/* Equal texts may be one copy, long texts and those that differ late are not mixed up. */
START_TEST(equal_texts)
{
  fs_text t;
  fs_text_init(&t, ctx);
  for (int i = 0; i < 5000; i++) {
    fs_text_printf(&t, "- {name: n%d, key: same, long: %020d}\n", i % 1700, i);
  }
  ck_assert_int_eq(fs_doc_parse(ctx, &own_arena, "t", t.at, t.n, &doc), FSCHED_OK);
  uint32_t item = doc.node[0].child;
  for (int i = 0; i < 5000; i++, item = doc.node[item].next) {
    char name[32], digits[32];
    (void)snprintf(name, sizeof name, "n%d", i % 1700);
    (void)snprintf(digits, sizeof digits, "%020d", i);
    ck_assert_str_eq(doc.node[fs_node_get(&doc, item, "name")].text, name);
    ck_assert_str_eq(doc.node[fs_node_get(&doc, item, "key")].text, "same");
    ck_assert_str_eq(doc.node[fs_node_get(&doc, item, "long")].text, digits);
  }
  ck_assert_uint_eq(item, FS_NONE);
  fs_text_drop(&t);
}
END_TEST

START_TEST(scalars_stay_text)
{
  ck_assert_int_eq(parse("[yes, on, 0o7, ~, null, '', 1_000]"), FSCHED_OK);
  ck_assert_str_eq(doc.node[1].text, "yes");
  ck_assert_str_eq(doc.node[4].text, "~");
  ck_assert_str_eq(doc.node[6].text, "");
}
END_TEST

START_TEST(multi_line_token_ends_with_its_line)
{
  ck_assert_int_eq(parse("a: \"one\n  two\"\nb: |\n  text\n"), FSCHED_OK);
  check_pos(fs_node_get(&doc, 0, "a"), 1, 4, 4);
  ck_assert_str_eq(doc.node[fs_node_get(&doc, 0, "a")].text, "one two");
  ck_assert_str_eq(doc.node[fs_node_get(&doc, 0, "b")].text, "text\n");
}
END_TEST

static const struct {
  const char *text, *code;
  uint32_t line, column;
} bad[] = {
    {"a: [1, 2", "yaml-syntax", 1, 9},
    {"a: 1\na: 2\n", "repeated-key", 2, 1},
    {"x: {b: 1, 'b': 2}\n", "repeated-key", 1, 11},
    {"a: &x 1\n", "yaml-feature", 1, 4},
    {"- !!str 1\n", "yaml-feature", 1, 3},
    {"--- 1\n--- 2\n", "yaml-feature", 2, 1},
    {"", "yaml-syntax", 1, 1},
    {"[a]: 1\n", "wrong-type", 1, 1},
    {"\"a\\0b\": 1\n", "wrong-type", 1, 1},
    {"a: 1\nb: \xFF\n", "yaml-syntax", 2, 4},
    {"a: \x01\n", "yaml-syntax", 1, 4},
};

START_TEST(what_is_rejected)
{
  ck_assert_int_eq(parse(bad[_i].text), FSCHED_BAD_INPUT);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, bad[_i].code);
  ck_assert_uint_eq(d->line, bad[_i].line);
  ck_assert_uint_eq(d->column, bad[_i].column);
}
END_TEST

/* The mapping is large enough for the hash table. */
START_TEST(repeated_key_among_many)
{
  fs_text t;
  fs_text_init(&t, ctx);
  for (int i = 0; i < 1000; i++) {
    fs_text_printf(&t, "k%d: 1\n", i);
  }
  fs_text_puts(&t, "k500: 1\n");
  ck_assert_int_eq(fs_doc_parse(ctx, &own_arena, "t", t.at, t.n, &doc), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 1);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 1001);
  fs_text_drop(&t);
}
END_TEST

START_TEST(depth_is_bounded)
{
  char text[2 * FS_NODE_DEPTH + 3];
  for (int extra = 0; extra < 2; extra++) {
    int n = FS_NODE_DEPTH + extra;
    memset(text, '[', (size_t)n);
    memset(text + n, ']', (size_t)n);
    text[2 * n] = '\0';
    ck_assert_int_eq(parse(text), extra == 0 ? FSCHED_OK : FSCHED_BAD_INPUT);
  }
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "yaml-depth");
}
END_TEST

START_TEST(numbers)
{
  ck_assert_int_eq(parse("[0, 18446744073709551615, 18446744073709551616, 012, -1, 1.0, '3', x,"
                         " -9223372036854775808, -9223372036854775809, 0x1, +1, '', 1_0]"),
                   FSCHED_OK);
  uint32_t node = doc.node[0].child;
  static const bool u64[] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  static const bool i64[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  for (int i = 0; node != FS_NONE; i++, node = doc.node[node].next) {
    uint64_t u;
    int64_t s;
    ck_assert_msg(fs_node_u64(&doc, node, &u) == u64[i], "%s", doc.node[node].text);
    ck_assert_msg(fs_node_i64(&doc, node, &s) == i64[i], "%s", doc.node[node].text);
  }
}
END_TEST

START_TEST(overlays)
{
  ck_assert_int_eq(parse("a: {b: 1}\n"), FSCHED_OK);
  uint32_t file;
  ck_assert_int_eq(fs_context_add_file(ctx, "options", "c=2\n", 4, &file), FSCHED_OK);
  fs_pos pos = {file, 1, 3, 1};
  uint32_t a;
  ck_assert_int_eq(fs_doc_set_mapping(&own_arena, &doc, 0, "a", pos, &a), FSCHED_OK);
  ck_assert_int_eq(fs_doc_set(&own_arena, &doc, a, "b", "2", pos), FSCHED_OK);
  ck_assert_int_eq(fs_doc_set(&own_arena, &doc, a, "c", "3", pos), FSCHED_OK);
  ck_assert_str_eq(doc.node[fs_node_get(&doc, a, "b")].text, "2");
  ck_assert_str_eq(doc.node[fs_node_get(&doc, a, "c")].text, "3");
  ck_assert_uint_eq(fs_node_pos(&doc, fs_node_get(&doc, a, "c")).file, file);
  ck_assert_uint_eq(fs_node_pos(&doc, a).file, doc.file);
  ck_assert_uint_eq(doc.node[a].n_children, 4);
}
END_TEST

FS_SUITE(node, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, tree_and_positions, columns_count_bytes, owned_text, equal_texts, scalars_stay_text,
           multi_line_token_ends_with_its_line, repeated_key_among_many, depth_is_bounded, numbers,
           overlays);
  FS_LOOPS(t, 0, sizeof bad / sizeof bad[0], what_is_rejected);
}
