/* SPDX-License-Identifier: Apache-2.0 */
/* Large pictures for Graphviz: collapsed nodes, places, hints; and names. */
#include "draw/dot/dot.h"
#include "draw/dot/label.h"
#include "draw/dot/place.h"
#include "draw/dot/write.h"
#include "draw/dot_reader.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/handle.h"

#include "kit/context.h"

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
    ck_assert_str_eq(get(dot, "layout"), "nop");
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
      ck_assert((whys_of(e) & (CONTROL | WAIT | QUEUE)) != 0 || has_class(e, "critical"));
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
    ck_fs(ctx, fs_dot_schedule(ctx, s->sync, NULL, &text, &n));
    Agraph_t *dot = parse(text);
    no_ports(dot, text);
    check_counts(dot, s->schedule->n_items);
    ck_assert_str_eq(get(dot, "layout"), "nop");
    ck_assert_ptr_nonnull(
        strstr(get(dot, "label"), "edges that are neither control, waits nor next"));
    ck_assert_int_le(agnnodes(dot) - 1, FS_DOT_MOST);
    check_places(dot, s->schedule->n_queues);
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* An item that begins when others have ended is not left of them, even when nothing else ties the
 * lanes together. */
START_TEST(lanes_keep_time)
{
  enum { N = 11 };
  fs_picture p;
  fs_pic_places places;
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

/* Of the data edges those of the critical path are drawn, and control edges are, too. */
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
  ck_fs(ctx, fs_picture_edge(&p, 0, 1, FS_PIC_REUSE));
  ck_fs(ctx, fs_picture_finish(&p));
  ck_fs(ctx, fs_picture_critical(&p));
  ck_fs(ctx, fs_picture_drop_data(&p));
  ck_fs(ctx, fs_dot_write(&p, FS_LAYOUT_PLACED, false, &t));
  fs_text_add(&t, "", 1);
  Agraph_t *dot = parse(t.at);
  ck_assert_int_eq(agnedges(dot), 2);
  ck_assert_ptr_nonnull(agedge(dot, node_of(dot, 0), node_of(dot, 1), NULL, 0));
  ck_assert_ptr_nonnull(agedge(dot, node_of(dot, 1), node_of(dot, 2), NULL, 0));
  ck_assert_ptr_nonnull(
      strstr(get(dot, "label"), "1 edge that is neither control, a wait nor next"));
  (void)agclose(dot);
  fs_text_drop(&t);
  fs_picture_release(&p);
}
END_TEST

/* Every edge of a schedule is drawn if nothing may be collapsed; otherwise at most every control
 * edge is. */
START_TEST(control_stays)
{
  fsched_graph *g = large_graph(400);
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  for (int all = 0; all <= 1; all++) {
    fs_dot_options o = {.size = sizeof o, .collapse = all != 0 ? FS_DOT_NEVER : FS_DOT_AUTO};
    char *text;
    size_t n;
    ck_fs(ctx, fs_dot_schedule(ctx, s->sync, &o, &text, &n));
    Agraph_t *dot = parse(text);
    ck_assert_str_eq(get(dot, "layout"), "nop");
    ck_assert_uint_gt(s->sync->n_control, 0);
    for (uint32_t e = 0; e < s->sync->n_control; e++) {
      const uint32_t *at = s->sync->position;
      Agedge_t *edge = agedge(dot, node_of(dot, at[s->sync->control_from[e]]),
                              node_of(dot, at[s->sync->control_to[e]]), NULL, 0);
      ck_assert_ptr_nonnull(edge);
      ck_assert_uint_ne(whys_of(edge) & CONTROL, 0);
    }
    ck_assert((strstr(get(dot, "label"), "not drawn") == NULL) == (all != 0));
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Makes a picture of `n` nodes, one tick each, which go to the `clusters` in turn. */
static void bare_picture(fs_picture *p, fs_pic_source source, uint32_t n, uint32_t clusters) {
  fs_picture_init(p, ctx, source);
  p->name = "bare";
  ck_fs(ctx, fs_picture_clusters(p, clusters));
  for (uint32_t c = 0; c < clusters; c++) {
    p->cluster[c] = "q";
  }
  ck_fs(ctx, fs_picture_items(p, n));
  for (uint32_t i = 0; i < n; i++) {
    p->item[i] = (fs_pic_item){
        .name = "x", .start = i, .end = i + 1, .cluster = clusters == 0 ? FS_NONE : i % clusters};
  }
}

/* There is an edge for every pair of 40 nodes: all but 39 are implied, and edges for waits stay. */
START_TEST(implied_edges)
{
  enum { N = 40, PAIRS = N * (N - 1) / 2 };
  fs_picture p;
  bare_picture(&p, FS_PIC_GRAPH, N, 0);
  for (uint32_t a = 0; a < N; a++) {
    for (uint32_t b = a + 1; b < N; b++) {
      ck_fs(ctx, fs_picture_edge(&p, a, b, FS_PIC_DATA));
    }
  }
  ck_fs(ctx, fs_picture_edge(&p, 3, 17, FS_PIC_WAIT));
  ck_fs(ctx, fs_picture_finish(&p));
  ck_fs(ctx, fs_picture_thin(&p, PAIRS));
  ck_assert_uint_eq(p.edge.n, PAIRS);
  ck_fs(ctx, fs_picture_thin(&p, PAIRS - 1));
  ck_assert_uint_eq(p.edge.n, N);
  ck_assert_uint_eq(p.implied, PAIRS - N);
  for (size_t e = 0; e < p.edge.n; e++) {
    ck_assert(p.edge.at[e].to == p.edge.at[e].from + 1 || p.edge.at[e].from == 3);
  }
  fs_picture_release(&p);
}
END_TEST

/* Two full layers imply nothing: each node keeps its latest predecessors. */
START_TEST(surplus_edges)
{
  enum { HALF = 30, MOST = 299, KEPT = MOST / (2 * HALF) + 1 };
  fs_picture p;
  bare_picture(&p, FS_PIC_GRAPH, 2 * HALF, 0);
  for (uint32_t a = 0; a < HALF; a++) {
    for (uint32_t b = HALF; b < 2 * HALF; b++) {
      ck_fs(ctx, fs_picture_edge(&p, a, b, FS_PIC_DATA));
    }
  }
  ck_fs(ctx, fs_picture_finish(&p));
  ck_fs(ctx, fs_picture_thin(&p, MOST));
  ck_assert_uint_eq(p.implied, 0);
  ck_assert_uint_eq(p.edge.n, HALF * KEPT);
  ck_assert_uint_eq(p.surplus, HALF * HALF - HALF * KEPT);
  for (size_t e = 0; e < p.edge.n; e++) {
    ck_assert_uint_ge(p.edge.at[e].from, HALF - KEPT);
  }
  fs_text t;
  fs_text_init(&t, ctx);
  ck_fs(ctx, fs_dot_write(&p, FS_LAYOUT_PLACED, false, &t));
  fs_text_add(&t, "", 1);
  ck_assert_ptr_nonnull(strstr(t.at, "750 edges are not drawn: no more than 5 to a node"));
  fs_text_drop(&t);
  fs_picture_release(&p);
}
END_TEST

/* Nodes of a placed graph do not touch, stay in their columns, and edges go down. */
START_TEST(levels)
{
  enum { N = 200 };
  static const uint32_t clusters[] = {0, 3};
  fs_rng rng = {7};
  for (size_t k = 0; k < 2; k++) {
    fs_picture p;
    fs_pic_places at;
    int64_t width[N];
    bare_picture(&p, FS_PIC_GRAPH, N, clusters[k]);
    for (uint32_t i = 0; i < N; i++) {
      width[i] = 20 + fs_rng_below(&rng, 80);
      for (uint32_t e = 0; i > 60 && e < 2; e++) {
        ck_fs(ctx, fs_picture_edge(&p, fs_rng_below(&rng, i), i, FS_PIC_DATA));
      }
    }
    ck_fs(ctx, fs_picture_finish(&p));
    ck_fs(ctx, fs_place_in_levels(&p, width, &at));
    for (size_t e = 0; e < p.edge.n; e++) {
      ck_assert_int_gt(at.y[p.edge.at[e].from], at.y[p.edge.at[e].to]);
    }
    for (uint32_t i = 0; i < N; i++) {
      ck_assert_int_ge(at.y[i] - FS_PLACE_HEIGHT / 2, at.low);
      if (clusters[k] > 0) {
        fs_pic_box b = at.lane[i % clusters[k]];
        ck_assert(at.x[i] - width[i] / 2 >= b.left && at.x[i] + width[i] / 2 <= b.right);
        ck_assert(at.y[i] - FS_PLACE_HEIGHT / 2 >= b.low &&
                  at.y[i] + FS_PLACE_HEIGHT / 2 + FS_PLACE_LABEL <= b.high);
      }
      for (uint32_t j = 0; j < i; j++) {
        int64_t dx = at.x[i] - at.x[j], dy = at.y[i] - at.y[j];
        ck_assert(2 * (dx < 0 ? -dx : dx) >= width[i] + width[j] ||
                  (dy < 0 ? -dy : dy) >= FS_PLACE_HEIGHT);
      }
    }
    fs_picture_release(&p);
  }
}
END_TEST

/* A picture that would take Graphviz long gets places: this depends on nodes and edges, above a few
 * nodes. */
START_TEST(effort)
{
  for (uint32_t preds = 1; preds <= 8; preds += 7) {
    fs_text t;
    fs_text_init(&t, ctx);
    fs_text_puts(&t, "fsched: 1\nname: dense\nops:\n");
    for (uint32_t i = 0; i < 150; i++) {
      fs_text_printf(&t, "  - {name: c%u, after: [", i);
      for (uint32_t k = 1; k <= preds && k * k <= i; k++) {
        fs_text_printf(&t, "%sc%u", k > 1 ? ", " : "", i - k * k);
      }
      fs_text_puts(&t, "]}\n");
    }
    fsched_graph *g;
    char *text;
    size_t n;
    ck_fs(ctx, fsched_graph_parse(ctx, "dense", t.at, t.n, NULL, &g));
    ck_fs(ctx, fs_dot_graph(ctx, g, NULL, &text, &n));
    Agraph_t *dot = parse(text);
    ck_assert_str_eq(get(dot, "layout"), preds == 1 ? "" : "nop");
    for (Agnode_t *node = agfstnode(dot); node != NULL; node = agnxtnode(dot, node)) {
      ck_assert((*get(node, "pos") == '\0') == (preds == 1));
    }
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
    fsched_graph_destroy(g);
    fs_text_drop(&t);
  }
}
END_TEST

/* Many queues share a few clusters, and all nodes are there. */
START_TEST(merged_clusters)
{
  fs_picture p;
  bare_picture(&p, FS_PIC_SCHEDULE, 700, 350);
  ck_fs(ctx, fs_picture_finish(&p));
  fs_picture_host(&p, (const uint32_t[]){9, 349}, 2);
  ck_fs(ctx, fs_picture_merge_clusters(&p, 350));
  ck_assert_uint_eq(p.unmerged, 0);
  ck_fs(ctx, fs_picture_merge_clusters(&p, 100));
  ck_assert_uint_eq(p.unmerged, 350);
  ck_assert_uint_eq(p.n_clusters, 88);
  ck_assert_str_eq(p.cluster[0], "q .. q (4)");
  ck_assert_str_eq(p.cluster[87], "q .. q (2)");
  ck_assert_uint_eq(p.host[87], 2);
  for (uint32_t i = 0; i < p.n_nodes; i++) {
    ck_assert_uint_eq(p.node[i].cluster, i % 350 / 4);
    ck_assert_uint_eq(p.item[i].cluster, i % 350 / 4);
  }
  ck_fs(ctx, fs_picture_find_empty(&p));
  ck_assert_uint_eq(p.host[87], FS_NONE);
  fs_picture_release(&p);
}
END_TEST

/* Of two items that end last, in either order, the path leads to the one with fewer idle ticks. */
START_TEST(fewest_idle_ticks)
{
  for (uint32_t late = 1; late <= 2; late++) {
    fs_picture p;
    bare_picture(&p, FS_PIC_SCHEDULE, 3, 3);
    for (uint32_t i = 1; i <= 2; i++) {
      p.item[i].start = i == late ? 3 : 1;
      p.item[i].end = 5;
      ck_fs(ctx, fs_picture_edge(&p, 0, i, FS_PIC_DATA));
    }
    ck_fs(ctx, fs_picture_finish(&p));
    ck_fs(ctx, fs_picture_critical(&p));
    ck_assert_uint_eq(p.path_gaps, 0);
    ck_assert(!p.node[late].critical && p.node[3 - late].critical);
    fs_picture_release(&p);
  }
}
END_TEST

/* The many queues of a gang are named in its tooltip only. */
START_TEST(wide_gangs)
{
  static const char text[] =
      "fsched: 1\ntarget: {queues: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]}\nops:\n"
      "  - {name: four, on: [a, b, c, d]}\n  - {name: five, on: [a, b, c, d, e]}\n";
  char *out;
  size_t n;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fs_dot_graph(ctx, g, NULL, &out, &n));
  Agraph_t *dot = parse(out);
  ck_assert_ptr_nonnull(strstr(out, "four\\non a, b, c, d\\n1"));
  ck_assert_ptr_nonnull(strstr(out, "five\\non 5 queues\\n1"));
  ck_assert_ptr_nonnull(strstr(out, "five\\non a, b, c, d, e\\n1"));
  (void)agclose(dot);
  fsched_text_free(ctx, out, n);
  fsched_graph_destroy(g);
}
END_TEST

/* Makes a graph of `n` ops in a row, with an edge that skips from the middle to the end. */
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
  char *out;
  size_t n;
  fsched_graph *g = fs_parse(text);
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
  fsched_graph *g = fs_parse(text);
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

FS_SUITE(dot_large, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, large_graphs, large_schedules, lanes_keep_time, path_stays, control_stays,
           implied_edges, surplus_edges, levels, effort, merged_clusters, fewest_idle_ticks,
           wide_gangs, chains, shortened_names, hostile_names, full_names, no_ops);
}
