/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that pictures are made of: merged boxes, numbers, names. */
#include "base/text/utf8.h"
#include "draw/picture.h"
#include "draw/svg/svg.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/sync_kit.h"

#include "kit/context.h"

/* ---- pieces */

typedef struct svg_parts_crowd {
  fs_svg_box *box;
  uint32_t n;
  fs_cent width, height;
} svg_parts_crowd;

static svg_parts_crowd random_crowd(fs_rng *r, uint32_t n) {
  svg_parts_crowd c = {malloc((n + 1) * sizeof *c.box), n,
                       (fs_cent)(40000 + fs_rng_below(r, 960000)),
                       (fs_cent)(1000 + fs_rng_below(r, 100000))};
  uint32_t most_x = fs_rng_one_in(r, 3) ? 40 : 3000, most_y = fs_rng_one_in(r, 3) ? 40 : 900;
  for (uint32_t i = 0; i < n; i++) {
    fs_cent w = (fs_cent)fs_rng_below(r, most_x), h = (fs_cent)fs_rng_below(r, most_y);
    fs_cent x = (fs_cent)fs_rng_below(r, (uint32_t)(c.width - w));
    fs_cent y = (fs_cent)fs_rng_below(r, (uint32_t)(c.height - h));
    c.box[i] = (fs_svg_box){x, x + w, y, y + h, i};
  }
  return c;
}

static void check_piece(const svg_parts_crowd *c, const fs_svg_pieces *p, const fs_svg_piece *piece,
                        uint32_t *seen) {
  const fs_svg_box *b = &piece->box;
  fs_cent x = 0;
  for (uint32_t k = piece->member0; k < piece->member0 + piece->n; k++) {
    const fs_svg_box *m = &c->box[p->member[k]];
    seen[p->member[k]]++;
    quick_assert(m->x0 >= b->x0 && m->x1 <= b->x1 && m->y0 >= b->y0 && m->y1 <= b->y1);
    bool narrow = m->x1 - m->x0 < p->grain_x, low = m->y1 - m->y0 < p->grain_y;
    quick_assert(piece->n == 1 || narrow || low);
    /* Narrow boxes share a column of four grains, low ones share a row. */
    x = piece->n == 1 ? 0
        : narrow      ? b->x1 - b->x0 - 5 * p->grain_x
                      : b->y1 - b->y0 - 5 * p->grain_y;
    quick_assert(x <= 0);
  }
}

/* Every box is a member of one piece, which covers it; large boxes are alone and in order. */
START_TEST(pieces_cover)
{
  static const uint32_t sizes[] = {0, 1, 2, 30, 1000, 6000, 60000};
  fs_rng r = {(uint64_t)_i};
  svg_parts_crowd c = random_crowd(&r, sizes[_i % 7]);
  fs_arena arena;
  fs_svg_pieces p;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_svg_merge(&arena, c.box, c.n, c.width, _i % 2 != 0, &p));
  ck_assert_uint_le(p.n, FS_SVG_PIECES_MOST);
  uint32_t *seen = calloc(c.n + 1, sizeof *seen), last = 0;
  for (uint32_t i = 0; i < p.n; i++) {
    check_piece(&c, &p, &p.piece[i], seen);
    const fs_svg_box *b = &p.piece[i].box;
    if (b->x1 - b->x0 >= p.grain_x && b->y1 - b->y0 >= p.grain_y && p.piece[i].n == 1) {
      quick_assert(i == 0 || b->id > last);
      last = b->id;
    }
  }
  for (uint32_t i = 0; i < c.n; i++) {
    quick_assert(seen[i] == 1);
  }
  quick_assert(c.n > 1000 || (p.grain_x == 50 && p.grain_y == 50));
  free(seen);
  free(c.box);
  fs_arena_release(&arena);
}
END_TEST

/* All boxes are the same and as large as the panel: at the end there is one piece. */
START_TEST(pieces_in_a_heap)
{
  enum { N = FS_SVG_PIECES_MOST + 1 };
  fs_svg_box *box = malloc(N * sizeof *box);
  for (uint32_t i = 0; i < N; i++) {
    box[i] = (fs_svg_box){0, 125000, 0, 3000, i};
  }
  fs_arena arena;
  fs_svg_pieces p;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_svg_merge(&arena, box, N, 125000, _i != 0, &p));
  ck_assert_uint_eq(p.n, 1);
  ck_assert_uint_eq(p.piece[0].n, N);
  ck_assert_uint_eq(p.piece[0].box.id, 0);
  fs_arena_release(&arena);
  free(box);
}
END_TEST

/* ---- numbers and names */

static void expect_text(fs_text *t, const char *wanted) {
  ck_assert(!t->failed);
  fs_text_add(t, "", 1);
  ck_assert_str_eq(t->at, wanted);
  t->n = 0;
}

START_TEST(numbers)
{
  static const struct {
    uint64_t value;
    const char *text;
  } bytes[] = {{0, "0 B"},
               {1023, "1023 B"},
               {1024, "1 KiB"},
               {1536, "1.5 KiB"},
               {1034, "1 KiB"},
               {1035, "1.01 KiB"},
               {2047, "1.99 KiB"},
               {(uint64_t)1 << 20, "1 MiB"},
               {((uint64_t)1 << 30) - 1, "1023.99 MiB"},
               {(uint64_t)1 << 48, "256 TiB"},
               {UINT64_MAX, "15.99 EiB"}};
  fs_text t;
  fs_text_init(&t, ctx);
  for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
    fs_svg_bytes(&t, bytes[i].value);
    expect_text(&t, bytes[i].text);
  }
  fs_svg_number(&t, 0), expect_text(&t, "0");
  fs_svg_number(&t, 1200), expect_text(&t, "12");
  fs_svg_number(&t, 1205), expect_text(&t, "12.05");
  fs_svg_number(&t, 1250), expect_text(&t, "12.5");
  fs_svg_number(&t, -7), expect_text(&t, "-0.07");
  ck_assert_uint_eq(fs_svg_step(7, 14), 1);
  ck_assert_uint_eq(fs_svg_step(15, 10), 2);
  ck_assert_uint_eq(fs_svg_step(41, 10), 5);
  ck_assert_uint_eq(fs_svg_step(51, 10), 10);
  ck_assert_uint_eq(fs_svg_step(1413010, 14), 200000);
  ck_assert_uint_ge(fs_svg_step((uint64_t)1 << 62, 100), ((uint64_t)1 << 62) / 100);
  ck_assert_uint_eq(fs_svg_binary_step(10240, 5), 2048);
  ck_assert_uint_eq(fs_svg_binary_step(10241, 5), 4096);
  fs_text_drop(&t);
}
END_TEST

/* The value grows, is exact at both ends, and within one part in the length of the quotient. */
START_TEST(scales)
{
  fs_rng r = {(uint64_t)_i};
  for (uint32_t i = 0; i < 2000; i++) {
    uint64_t span = fs_rng_next(&r) >> fs_rng_below(&r, 64);
    fs_cent length = (fs_cent)fs_rng_below(&r, 1 << 20);
    uint64_t a = span == 0 ? 0 : fs_rng_next(&r) % span, b = span == 0 ? 0 : fs_rng_next(&r) % span;
    fs_cent at_a = fs_svg_scale(a, span, length), at_b = fs_svg_scale(b, span, length);
    quick_assert(a <= b ? at_a <= at_b : at_a >= at_b);
    quick_assert(fs_svg_scale(0, span, length) == 0);
    quick_assert(fs_svg_scale(span, span, length) == (span == 0 ? 0 : length));
    double exact = span == 0 ? 0 : (double)length * ((double)a / (double)span);
    quick_assert((double)at_a >= exact - 1.1 && (double)at_a <= exact + 0.1);
  }
}
END_TEST

/* Checks what is shown of a name in a given room. */
static void cut(const char *name, fs_cent room, bool fit, const char *wanted) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_svg_fitted(&t, name, fit ? fs_svg_fit(name, 10, room) : fs_svg_cut(name, 10, room));
  expect_text(&t, wanted);
  fs_text_drop(&t);
}

START_TEST(names)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fs_svg_name(&t, "a<b>&\"c'");
  expect_text(&t, "a&lt;b&gt;&amp;&quot;c'");
  fs_svg_name(&t, "\x01\t\n\x7F|\xC2\x85|\xFF|\xC3|\xED\xA0\x80|\xEF\xBF\xBE|\xEF\xBF\xBD|é€");
#define R "\xEF\xBF\xBD"
  expect_text(&t, R R R R "|" R "|" R "|" R "|" R R R "|" R "|" R "|é€");
  cut("conv", 10000, false, "conv");
  cut("conv", 0, false, "…");
  cut("", 0, false, "");
  for (fs_cent room = 0; room < 9000; room += 10) { /* it is never wider than the room */
    static const char name[] = "ééééé_conv2é";
    fs_svg_part p = fs_svg_cut(name, 10, room);
    fs_cent wide = fs_svg_width(name, p.head, 10) + fs_svg_width(name + p.tail, 18 - p.tail, 10);
    quick_assert(p.head == 18 || p.head == 0 || wide + 1000 <= room);
    fs_svg_fitted(&t, name, p);
    fs_text_add(&t, "", 1);
    quick_assert(fs_utf8_valid(t.at, t.n - 1) && strstr(t.at, R) == NULL);
    t.n = 0;
  }
  static const char name[] = "conv2_1abcd", ends[] = "conbcd";
  cut(name, fs_svg_width(name, 11, 10), true, name);
  cut(name, fs_svg_width(ends, 6, 10) + 1000, true, "con…bcd");
  /* a larger room changes nothing. */
  cut(name, fs_svg_width(ends, 3, 10) + 1000, true, "…");
  /* The cut does not leave "_…". */
  cut("ab_.xxcd", fs_svg_width("ab_cd", 5, 10) + 1000, false, "ab…cd");
  cut("scores0", 3700, true, "sc…s0");
  cut("\x80\x80\x80\x80\x80\x80", 3500, false, "\xEF\xBF\xBD…\xEF\xBF\xBD");
  fs_text_drop(&t);
}
END_TEST

/* ---- the axis */

START_TEST(units)
{
  static const struct {
    const char *unit;
    uint64_t time;
    const char *shown, *last; /* the unit and the last number of the axis */
  } rows[] = {
      {"ns", 9000, ">ns</text>", ">9000</text>"},
      {"ns", 40000, ">us</text>", ">40</text>"},
      {"us", 12000000, ">s</text>", ">12</text>"},
      {"s", 50000, ">10<tspan dy=\"-3\" font-size=\"8\">3</tspan>", ">50</text>"},
      {"cycles", 1000000000, "8\">6</tspan><tspan dx=\"3\" dy=\"3\">cycles<", ">1000</text>"},
      {"days", 25, ">days</text>", ">24</text>"}};
  char text[200];
  fsched_schedule *s;
  char *svg;
  size_t n;
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: u\ntarget: {time_unit: %s, queues: [{name: q}]}\n"
                 "ops: [{name: a, time: %llu}]\n",
                 rows[_i].unit, (unsigned long long)rows[_i].time);
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  ck_fs(ctx, fsched_schedule_svg(ctx, s, NULL, &svg, &n));
  ck_assert_msg(strstr(svg, rows[_i].shown) != NULL, "no %s", rows[_i].shown);
  ck_assert_msg(strstr(svg, rows[_i].last) != NULL, "no %s", rows[_i].last);
  fsched_text_free(ctx, svg, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* A line begins below the number that it would strike through, and otherwise at its words. */
START_TEST(marks)
{
  static const char *const graphs[] = {"{name: a, time: 7}", "{name: a, time: 7777}"};
  static const char *const tops[] = {"<path class=\"me\" d=\"M1326 93V",
                                     "<path class=\"me\" d=\"M1326 78V"};
  char text[200], *svg;
  size_t n;
  fsched_schedule *s;
  (void)snprintf(text, sizeof text, "fsched: 1\nops: [%s]\n", graphs[_i]);
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  ck_fs(ctx, fsched_schedule_svg(ctx, s, NULL, &svg, &n));
  ck_assert_msg(strstr(svg, tops[_i]) != NULL, "no %s", tops[_i]);
  fsched_text_free(ctx, svg, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Whether the path of a mark passes a rectangle; fails the test if the path is not one of vertical
 * lines at one place. */
static bool mark_passes(const char *path, const shape *r) {
  double x, y0, y1, at = -1;
  int n = 0;
  bool passes = false;
  for (; sscanf(path, "M%lf %lfV%lf%n", &x, &y0, &y1, &n) == 3; path += n) {
    ck_assert(y0 < y1 && (at < 0 || x == at));
    at = x;
    passes = passes || (y0 * 100 < (double)(r->y + r->height) && (double)r->y < y1 * 100);
  }
  ck_assert_msg(path[0] == '"' && at >= 0, "no path: %.20s", path);
  return passes;
}

/* The panels of loops have axes of their own, so the lines of makespan and bound leave them out,
 * and pass all others: the queues, and memories and resources behind the loops. */
START_TEST(marks_leave_loops_out)
{
  static const char *const rows[] = {"", "memories: [{name: m, capacity: 64}]",
                                     ("memories: [{name: m, capacity: 64}], "
                                      "resources: [{name: power, capacity: 2}]")};
  char text[1000];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}]%s%s}\nops:\n"
                 "- {loop: l, trip: 300, ops: [{name: a, on: p, time: 3, size: 8},\n"
                 "                             {name: b, on: q, args: [{in: a}]}]}\n"
                 "- {name: c, on: q, time: 90, after: [l], size: 8}\n"
                 "- {loop: k, trip: 200, ops: [{name: d, on: p, time: 3, size: 8},\n"
                 "                             {name: e, on: q, args: [{in: c}, {in: d}]}]}\n",
                 _i == 0 ? "" : ", ", rows[_i]);
  fsched_graph *g = fs_parse(text);
  fsched_schedule *s;
  picture v = {0};
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  ck_assert_uint_lt(fsched_schedule_lower_bound(s), fsched_schedule_makespan(s));
  ck_fs(ctx, fsched_schedule_svg(ctx, s, NULL, &v.text, &v.n));
  read_picture(&v);
  uint32_t left_out = 0, passed = 0;
  for (const char *at = v.text; (at = strstr(at, "<path class=\"")) != NULL; at++) {
    const char *path = at + strlen("<path class=\"me\" d=\"");
    bool mark =
        strncmp(path - 8, "\"me\" d=\"", 8) == 0 || strncmp(path - 8, "\"lb\" d=\"", 8) == 0;
    for (size_t i = 0; mark && i < v.n_rects; i++) {
      const shape *r = &v.rect[i];
      bool instance = strstr(r->title, "]: ") != NULL || strstr(r->title, " instances: ") != NULL;
      if (r->title[0] != '\0') { /* else it is the ground of a panel */
        ck_assert_msg(mark_passes(path, r) == !instance, "at %s", r->title);
        left_out += instance;
        passed += !instance;
      }
    }
  }
  ck_assert(left_out > 0 && passed > 0);
  free(v.rect);
  fsched_text_free(ctx, v.text, v.n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- the call */

START_TEST(options)
{
  static const struct {
    size_t size;
    uint32_t width;
    fsched_status status;
  } rows[] = {{sizeof(fsched_svg_options), 399, FSCHED_USAGE},
              {sizeof(fsched_svg_options), 10001, FSCHED_USAGE},
              {sizeof(size_t), 0, FSCHED_USAGE},
              {0, 0, FSCHED_USAGE},
              {sizeof(fsched_svg_options), 400, FSCHED_OK},
              {sizeof(fsched_svg_options), 10000, FSCHED_OK}};
  fs_golden_case c;
  fs_golden_open(&c, ctx, "figure-10");
  fsched_svg_options o = {rows[_i].size, rows[_i].width};
  char *text = NULL;
  size_t n = 0;
  ck_assert_int_eq(fsched_schedule_svg(ctx, c.schedule, &o, &text, &n), rows[_i].status);
  ck_assert_int_eq(text != NULL, rows[_i].status == FSCHED_OK);
  ck_assert_uint_eq(fsched_diag_errors(ctx), rows[_i].status == FSCHED_OK ? 0 : 1);
  fsched_text_free(ctx, text, n);
  fs_golden_close(&c);
}
END_TEST

/* One allocation fails, those after it succeed. */
typedef struct one_failure {
  long left, blocks;
} one_failure;

static void *fail_once(void *user, void *block, size_t old_size, size_t new_size) {
  (void)old_size;
  one_failure *f = user;
  if (new_size == 0) {
    f->blocks -= block != NULL;
    free(block);
    return NULL;
  }
  if (--f->left == 0) {
    return NULL;
  }
  f->blocks += block == NULL;
  return realloc(block, new_size);
}

START_TEST(nth_allocation_fails)
{
  static const char *const cases[] = {"figure-10", "rich", "store", "drawn", "rich"};
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  if (_i == 4) { /* one of the schedules has syncs */
    fsched_program_destroy(c.program);
    ck_fs(ctx, fs_kit_program(c.schedule, FS_SYNC_BLOCK, &c.program));
  }
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    one_failure f = {.left = n + 2}; /* the first allocation is the context's */
    fsched_context_options o = {.size = sizeof o, .reallocate = fail_once, .user = &f};
    fsched_context *tight;
    ck_assert_int_eq(fsched_context_create(&o, &tight), FSCHED_OK);
    char *text = NULL;
    size_t length = 0;
    status = fsched_schedule_svg(tight, c.schedule, NULL, &text, &length);
    ck_assert(status == FSCHED_OK || (status == FSCHED_SYSTEM && text == NULL));
    ck_assert_uint_eq(fsched_diag_errors(tight), status == FSCHED_OK ? 0 : 1);
    fsched_text_free(tight, text, length);
    fsched_context_destroy(tight);
    ck_assert_int_eq(f.blocks, 0);
  }
  ck_assert_int_gt(n, 10);
  fs_golden_close(&c);
}
END_TEST

FS_SUITE(svg_parts, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 70, pieces_cover);
  FS_LOOPS(t, 0, 2, pieces_in_a_heap, marks);
  FS_TESTS(t, numbers, names);
  FS_LOOPS(t, 0, 3, marks_leave_loops_out);
  FS_LOOPS(t, 0, 5, scales, nth_allocation_fails);
  FS_LOOPS(t, 0, 6, units, options);
}
