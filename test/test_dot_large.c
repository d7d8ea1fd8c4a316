/* SPDX-License-Identifier: Apache-2.0 */
/* Large pictures for Graphviz: what is put together, places, hints; and names. */
#include "dot_reader.h"
#include "draw/dot/dot.h"
#include "draw/dot/label.h"
#include "draw/dot/place.h"
#include "draw/dot/write.h"
#include "gen.h"
#include "golden_case.h"
#include "sync.h"

static fsched_context *ctx;
static void setup(void) { ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK); }
static void teardown(void) { fsched_context_destroy(ctx); }

/* ---- large pictures */

static fsched_graph *large_graph(uint32_t n_ops) {
  fs_gen_params p = {.seed = 5,
                     .n_ops = n_ops,
                     .n_queues = 8,
                     .n_memories = 1,
                     .tightness = 8,
                     .backing = true,
                     .gangs = true,
                     .max_size = 50};
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
  return g;
}

static void check_counts(Agraph_t *dot, uint32_t items) {
  uint32_t sum = 0;
  for (Agnode_t *n = agfstnode(dot); n != NULL; n = agnxtnode(dot, n)) {
    if (is_drawn(n)) {
      uint32_t k = stands_for(n);
      ck_assert(has_class(n, "several") == (k > 1));
      sum += k;
    }
  }
  ck_assert_uint_eq(sum, items);
}

START_TEST(large_graphs)
{
  static const struct {
    uint32_t ops, most;
    fs_dot_collapse collapse;
  } cases[] = {{2000, 1999, FS_DOT_AUTO}, {2000, 2000, FS_DOT_NEVER}, {6000, 200, FS_DOT_AUTO}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fsched_graph *g = large_graph(cases[i].ops);
    fs_dot_options o = {.size = sizeof o, .collapse = cases[i].collapse};
    char *text;
    size_t n;
    ck_fs(ctx, fs_dot_graph(ctx, g, &o, &text, &n));
    Agraph_t *dot = parse(text);
    no_ports(dot, text);
    check_counts(dot, g->n_ops);
    ck_assert_int_le(agnnodes(dot) - 1, (int)cases[i].most);
    ck_assert_str_eq(get(dot, "splines"), "line");
    ck_assert_str_ne(get(dot, "nslimit"), "");
    char told[64];
    (void)snprintf(told, sizeof told, "%u drawn as %d: ", cases[i].ops, agnnodes(dot) - 1);
    ck_assert((strstr(get(dot, "label"), told) != NULL) == (cases[i].collapse == FS_DOT_AUTO));
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Nodes of a lane follow each other within it, in the order of their numbers; edges go right. */
static void check_places(Agraph_t *dot, uint32_t n_queues) {
  for (uint32_t q = 0; q < n_queues; q++) {
    char name[32];
    (void)snprintf(name, sizeof name, "cluster_%u", q);
    Agraph_t *lane = agsubg(dot, name, 0);
    long left, low, right, high, x, y, before = 0;
    ck_assert_int_eq(sscanf(get(lane, "bb"), "%ld,%ld,%ld,%ld", &left, &low, &right, &high), 4);
    for (Agnode_t *n = agfstnode(lane); n != NULL; n = agnxtnode(lane, n)) {
      ck_assert_int_eq(sscanf(get(n, "pos"), "%ld,%ld", &x, &y), 2);
      ck_assert(x >= before + 30 && x + 15 <= right && y - 20 >= low && y + 20 <= high);
      before = x;
    }
  }
  for (Agnode_t *n = agfstnode(dot); n != NULL; n = agnxtnode(dot, n)) {
    for (Agedge_t *e = agfstout(dot, n); e != NULL; e = agnxtout(dot, e)) {
      ck_assert((whys_of(e) & (WAIT | QUEUE)) != 0 || has_class(e, "critical"));
      if (item_of(n) < item_of(aghead(e)) && stands_for(n) == 1 && stands_for(aghead(e)) == 1) {
        ck_assert_int_lt(strtol(get(n, "pos"), NULL, 10), strtol(get(aghead(e), "pos"), NULL, 10));
      }
    }
  }
}

START_TEST(large_schedules)
{
  static const uint32_t sizes[] = {400, 2000, 5000};
  for (size_t i = 0; i < 3; i++) {
    fsched_graph *g = large_graph(sizes[i]);
    fsched_schedule *s;
    char *text;
    size_t n;
    ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
    ck_fs(ctx, fs_dot_schedule(ctx, s, NULL, &text, &n));
    Agraph_t *dot = parse(text);
    no_ports(dot, text);
    check_counts(dot, s->n_items);
    ck_assert_str_eq(get(dot, "layout"), "nop");
    ck_assert_ptr_nonnull(strstr(get(dot, "label"), "edges that are neither waits nor next"));
    ck_assert_int_le(agnnodes(dot) - 1, FS_DOT_MOST);
    check_places(dot, s->n_queues);
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* What begins when others have ended is not left of them, though nothing else ties the lanes. */
START_TEST(lanes_keep_time)
{
  enum { N = 11 };
  fs_picture p;
  fs_places places;
  int64_t width[N];
  fs_picture_init(&p, ctx, FS_PIC_SCHEDULE);
  ck_fs(ctx, fs_picture_clusters(&p, 2));
  ck_fs(ctx, fs_picture_items(&p, N));
  for (uint32_t i = 0; i < N; i++) {
    bool last = i == N - 1;
    p.item[i] = (fs_pic_item){.name = "x", .start = i, .end = i + 1, .cluster = last};
    width[i] = 40;
  }
  ck_fs(ctx, fs_picture_finish(&p));
  ck_fs(ctx, fs_place_in_time(&p, width, &places));
  ck_assert_int_ge(places.x[N - 1], places.x[N - 2]);
  ck_assert_int_lt(places.y[N - 1], places.y[0]);
  fs_picture_release(&p);
}
END_TEST

/* Edges of the critical path are drawn even where neither queue nor wait needs them. */
START_TEST(path_stays)
{
  fs_picture p;
  fs_text t;
  fs_text_init(&t, ctx);
  fs_picture_init(&p, ctx, FS_PIC_SCHEDULE);
  p.name = "path";
  p.span = 2;
  ck_fs(ctx, fs_picture_clusters(&p, 3));
  ck_fs(ctx, fs_picture_items(&p, 3));
  for (uint32_t i = 0; i < 3; i++) {
    p.cluster[i] = "q";
    p.item[i] = (fs_pic_item){.name = "x", .start = i / 2, .end = i / 2 + 1, .cluster = i};
  }
  ck_fs(ctx, fs_picture_edge(&p, 1, 2, FS_PIC_DATA));
  ck_fs(ctx, fs_picture_edge(&p, 0, 2, FS_PIC_DATA));
  ck_fs(ctx, fs_picture_finish(&p));
  ck_fs(ctx, fs_picture_critical(&p));
  ck_fs(ctx, fs_dot_write(&p, FS_LAYOUT_PLACED, false, &t));
  fs_text_add(&t, "", 1);
  Agraph_t *dot = parse(t.at);
  ck_assert_int_eq(agnedges(dot), 1);
  ck_assert_ptr_nonnull(agedge(dot, node_of(dot, 1), node_of(dot, 2), NULL, 0));
  ck_assert_ptr_nonnull(strstr(get(dot, "label"), "1 edge that is neither a wait nor next"));
  (void)agclose(dot);
  fs_text_drop(&t);
  fs_picture_release(&p);
}
END_TEST

/* A graph file of ops in a row, `n` of them, with a side step from the middle to the end. */
static fsched_graph *row(uint32_t n) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "fsched: 1\nname: row\nops:\n  - {name: c0, size: 1}\n");
  for (uint32_t i = 1; i < n; i++) {
    fs_text_printf(&t, "  - {name: c%u, size: 1, args: [{in: c%u}]}\n", i, i - 1);
  }
  fs_text_printf(&t, "  - {name: side, size: 1, args: [{in: c%u}]}\n", n / 2 - 1);
  fs_text_printf(&t, "  - {name: join, size: 1, args: [{in: c%u}, {in: side}]}\n", n - 1);
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "row", t.at, t.n, NULL, &g));
  fs_text_drop(&t);
  return g;
}

START_TEST(chains)
{
  static const uint32_t sizes[] = {40, 1600};
  for (size_t i = 0; i < 2; i++) {
    for (int always = 0; always <= 1; always++) {
      fsched_graph *g = row(sizes[i]);
      fs_dot_options o = {.size = sizeof o, .collapse = always != 0 ? FS_DOT_ALWAYS : FS_DOT_AUTO};
      char *text, count[32];
      size_t n;
      ck_fs(ctx, fs_dot_graph(ctx, g, &o, &text, &n));
      Agraph_t *dot = parse(text);
      check_counts(dot, sizes[i] + 2);
      bool small = always == 0 && sizes[i] == 40;
      ck_assert_int_eq(agnnodes(dot) - 1, small ? 42 : 4);
      (void)snprintf(count, sizeof count, "(%u ops)", sizes[i] / 2);
      ck_assert((strstr(get(node_of(dot, 0), "label"), count) != NULL) == !small);
      ck_assert((strstr(get(dot, "label"), "drawn as 4: chains are one node") != NULL) == !small);
      (void)agclose(dot);
      fsched_text_free(ctx, text, n);
      fsched_graph_destroy(g);
    }
  }
}
END_TEST

/* ---- names */

START_TEST(shortened_names)
{
  static const char *const name[] = {
      "twenty-four characters.",
      "twenty-four characters..",
      "twenty-five characters...",
      "layer.0.attention.projection.weight.tile",
      "layer.0.attention.rearrangement.weight.tile",
      "layer.0.attention.projection.weight.tile",
      "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3"
      "\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6"
      "\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
      "",
  };
#define DOTS "\xE2\x80\xA6"
  static const char *const expected[] = {
      "twenty-four characters.",
      "twenty-four characters..",
      "twenty-five " DOTS "aracters...",
      "layer.0.attention." DOTS "ction.weight.tile",
      "layer.0.attention." DOTS "ement.weight.tile",
      "layer.0.attention." DOTS "ction.weight.tile",
      "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3"
      "\xBC" DOTS
      "\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC",
      NULL,
      NULL,
      "",
  };
  enum { N = sizeof name / sizeof name[0] };
  const char *out[N];
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_dot_shorten(&arena, name, out, N));
  for (int i = 0; i < N; i++) {
    ck_assert_str_eq(out[i], expected[i] == NULL ? name[i] : expected[i]);
  }
  fs_arena_release(&arena);
}
END_TEST

START_TEST(hostile_names)
{
  static const char text[] =
      "fsched: 1\nname: \"end\\\\\"\nops:\n"
      "  - {name: \"quo\\\"te\"}\n  - {name: \"back\\\\\"}\n  - {name: \"\\\\N\\\\n\"}\n"
      "  - {name: \"<b>&lt;</b>\"}\n  - {name: \"li\\nne\\t\"}\n  - {name: \"node\"}\n";
  static const char *const label[] = {
      "quo\"te\\n1",         "back\\\\\\n1",           "\\\\N\\\\n\\n1",
      "<b>&amp;lt;</b>\\n1", "li\\\\x0ane\\\\x09\\n1", "node\\n1"};
  fsched_graph *g;
  char *out;
  size_t n;
  ck_fs(ctx, fsched_graph_parse(ctx, "hostile", text, sizeof text - 1, NULL, &g));
  ck_fs(ctx, fs_dot_graph(ctx, g, NULL, &out, &n));
  Agraph_t *dot = parse(out);
  ck_assert_int_eq(agnnodes(dot), 7);
  for (uint32_t i = 0; i < 6; i++) {
    ck_assert_str_eq(get(node_of(dot, i), "label"), label[i]);
    ck_assert_int_eq(aghtmlstr(agget(node_of(dot, i), (char *)"label")), 0);
  }
  (void)agclose(dot);
  fsched_text_free(ctx, out, n);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(full_names)
{
  static const char text[] =
      "fsched: 1\nops:\n  - {name: a-name-of-more-than-twenty-four-characters}\n";
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "long", text, sizeof text - 1, NULL, &g));
  for (int full = 0; full <= 1; full++) {
    fs_dot_options o = {.size = sizeof o, .full_names = full != 0};
    char *out;
    size_t n;
    ck_fs(ctx, fs_dot_graph(ctx, g, &o, &out, &n));
    Agraph_t *dot = parse(out);
    ck_assert_str_eq(get(node_of(dot, 0), "tooltip"),
                     "a-name-of-more-than-twenty-four-characters\\n1");
    ck_assert((strstr(get(node_of(dot, 0), "label"), DOTS) == NULL) == (full != 0));
    (void)agclose(dot);
    fsched_text_free(ctx, out, n);
  }
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(no_ops)
{
  static const char text[] = "fsched: 1\nname: empty\nops: []\n";
  fsched_graph *g;
  char *out;
  size_t n;
  if (fsched_graph_parse(ctx, "empty", text, sizeof text - 1, NULL, &g) != FSCHED_OK) {
    return; /* a graph without ops is refused */
  }
  ck_fs(ctx, fs_dot_graph(ctx, g, NULL, &out, &n));
  Agraph_t *dot = parse(out);
  ck_assert_int_eq(agnnodes(dot), 1);
  (void)agclose(dot);
  fsched_text_free(ctx, out, n);
  fsched_graph_destroy(g);
}
END_TEST

Suite *fs_suite_dot_large(void) {
  Suite *s = suite_create("dot_large");
  TCase *t = tcase_create("dot_large");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, large_graphs);
  tcase_add_test(t, large_schedules);
  tcase_add_test(t, lanes_keep_time);
  tcase_add_test(t, path_stays);
  tcase_add_test(t, chains);
  tcase_add_test(t, shortened_names);
  tcase_add_test(t, hostile_names);
  tcase_add_test(t, full_names);
  tcase_add_test(t, no_ops);
  suite_add_tcase(s, t);
  return s;
}
