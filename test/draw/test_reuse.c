/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics say of each control edge that reuse of memory has added whose place was taken. */
#include <stdio.h>

#include "draw/reuse.h"
#include "draw/stats.h"
#include "fsched/compile.h"
#include "kit/context.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/suite.h"
#include "kit/turn.h"

enum { GRAPHS = 60 };

static const char *name_of(const fs_schedule *s, uint32_t item, char *room, size_t size) {
  const fsched_graph *g = s->graph;
  if (!fs_item_is_copy(s, item)) {
    return g->op_name[item];
  }
  uint32_t version = s->copy_version[item - g->n_ops], index = fs_version_index(g, version);
  int n = snprintf(room, size, "%s %s", s->copy_kind[item - g->n_ops] == 0 ? "write" : "read",
                   g->buffer_name[g->version_buffer[version]]);
  if (index > 0) {
    (void)snprintf(room + n, size - (size_t)n, ".%u", index);
  }
  return room;
}

/* How many of the control edges are of reuse, each of which is named. */
static uint32_t check_named(uint64_t seed, const fsched_schedule *handle) {
  const fs_schedule *s = handle->schedule;
  const fs_sync *sync = handle->sync;
  uint32_t n = 0;
  char *json, a[100], b[100], edge[300];
  size_t size;
  ck_fs(ctx, fsched_schedule_stats_json(ctx, handle, &json, &size));
  for (uint32_t e = 0; e < sync->n_control; e++) {
    if (sync->control_why[e] == FS_WHY_REUSE) {
      (void)snprintf(edge, sizeof edge, "{\"from\": \"%s\", \"to\": \"%s\"}",
                     name_of(s, sync->control_from[e], a, sizeof a),
                     name_of(s, sync->control_to[e], b, sizeof b));
      ck_assert_msg(strstr(json, edge) != NULL, "seed %lu: no %s in %s", (unsigned long)seed, edge,
                    json);
      n++;
    }
  }
  (void)snprintf(edge, sizeof edge, " \"reuse\": {\"edges\": %u, \"taken\": ", n);
  ck_assert_msg(strstr(json, edge) != NULL, "seed %lu: no %s", (unsigned long)seed, edge);
  fsched_text_free(ctx, json, size);
  return n;
}

START_TEST(each_edge_is_named)
{
  uint32_t named = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 3 + (uint64_t)_i) * GRAPHS + k;
    fs_gen_params p = _i == 0   ? fs_gen_any(seed, 30)
                      : _i == 1 ? fs_gen_odd(seed, 20)
                                : fs_gen_tight(seed, 20);
    fsched_graph *g;
    fsched_schedule *s;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    if (fsched_compile(ctx, g, &fs_quick, &s, NULL) == FSCHED_OK) {
      named += check_named(seed, s);
      fsched_schedule_destroy(s);
    }
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(named, GRAPHS);
}
END_TEST

/* Scratch takes the place of what two ops read; counted units are taken by name, too. */
static const char known[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: p}, {name: q}]\n"
    "  memories: [{name: m, capacity: 64}, {name: n, capacity: 64, placement: counted}]\n"
    "ops:\n"
    "  - {name: a, on: p, time: 2, args: [{out: x, size: 64, memory: m}]}\n"
    "  - {name: b, on: p, time: 2, args: [{in: x}]}\n"
    "  - {name: c, on: q, time: 3, args: [{in: x}]}\n"
    "  - {name: d, on: q, time: 1, after: [c], scratch: {m: 48}}\n"
    "  - {name: e, on: p, time: 1, args: [{out: y, size: 64, memory: n}]}\n"
    "  - {name: f, on: q, time: 1, after: [d], args: [{out: z, size: 16, memory: n}]}\n";

START_TEST(places)
{
  fsched_graph *g;
  fsched_schedule *s;
  char *json;
  size_t size;
  ck_fs(ctx, fsched_graph_parse(ctx, "known", known, strlen(known), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &fs_quick, &s, NULL));
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &json, &size));
  const char *m =
      "{\"memory\": \"m\", \"taken_by\": \"scratch of d\", \"from\": \"x\", "
      "\"edges\": [{\"from\": \"b\", \"to\": \"d\"}]}";
  const char *n =
      "{\"memory\": \"n\", \"taken_by\": \"z\", \"from\": \"y\", "
      "\"edges\": [{\"from\": \"e\", \"to\": \"f\"}]}";
  ck_assert_msg(strstr(json, m) != NULL, "%s", json);
  ck_assert_msg(strstr(json, n) != NULL, "%s", json);
  fsched_text_free(ctx, json, size);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Of a loop that stays one, rings whose slots are taken again tell after which iterations: `x`, not
 * `y`, which has a slot for each of its iterations. */
static const char rings[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}], memories: [{name: m, capacity: 4KiB}]}\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: 5\n"
    "    buffers: {x: {depth: 3}, y: {depth: 5}}\n"
    "    ops:\n"
    "      - {name: a, on: p, args: [{out: x, size: 64}, {out: y, size: 8}]}\n"
    "      - {name: b, on: q, args: [{in: x}, {in: y}]}\n"
    "      - {name: c, on: q, args: [{in: x, distance: 1}]}\n";

START_TEST(slots)
{
  char text[sizeof rings + 100], *json;
  fsched_graph *g;
  fsched_schedule *s;
  size_t size;
  (void)snprintf(text, sizeof text, "%.*s  - {name: z, on: p, args: [{out: x}]}\n%s",
                 (int)(strstr(rings, "  - loop") - rings), rings, strstr(rings, "  - loop"));
  ck_fs(ctx, fsched_graph_parse(ctx, "rings", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &fs_quick, &s, NULL));
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &json, &size));
  const char *x =
      "{\"loop\": \"l\", \"buffer\": \"x\", \"slots\": 3, \"edges\": "
      "[{\"from\": \"b\", \"to\": \"a\", \"distance\": 3}, "
      "{\"from\": \"c\", \"to\": \"a\", \"distance\": 2}]}]}";
  ck_assert_msg(strstr(json, x) != NULL, "%s", json);
  fsched_text_free(ctx, json, size);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(reuse, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 3, each_edge_is_named);
  FS_TESTS(t, places, slots);
}
