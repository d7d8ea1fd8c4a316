/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of schedules are well-formed, and their rectangles, identified by their tooltips, are
 * those of the schedule. */
#include <inttypes.h>

#include "draw/picture.h"
#include "draw/svg/svg.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

#include "kit/context.h"
#include "model/handle.h"

static picture draw(const fsched_schedule *s, uint32_t width) {
  picture v = {0};
  fsched_svg_options o = {.size = sizeof o, .width = width};
  ck_fs(ctx, fsched_schedule_svg(ctx, s, &o, &v.text, &v.n));
  ck_assert_uint_eq(strlen(v.text), v.n);
  read_picture(&v);
  ck_assert_int_eq(v.width, 100 * (long)(width == 0 ? 1400 : width));
  return v;
}

static void drop(picture *v) {
  fsched_text_free(ctx, v->text, v->n);
  free(v->rect);
}

static bool has_class(const shape *s, const char *name) {
  size_t n = strlen(name);
  for (const char *p = s->classes; (p = strstr(p, name)) != NULL; p += n) {
    if ((p == s->classes || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' ')) {
      return true;
    }
  }
  return false;
}

/* ---- goldens */

static const char *const cases[] = {"figure-10", "rich", "store", "drawn"};

START_TEST(goldens)
{
  fs_golden_case c;
  char file[64];
  fs_golden_open(&c, ctx, cases[_i]);
  picture v = draw(c.schedule, 0);
  (void)snprintf(file, sizeof file, "%s.svg", cases[_i]);
  fs_golden_check(file, v.text, v.n);
  drop(&v);
  fs_golden_close(&c);
}
END_TEST

/* ---- what is drawn is the schedule */

/* A picture together with its schedule, and what each panel shows. */
typedef struct reading {
  const picture *v;
  const fsched_schedule *s;
  const fsched_graph *g;
  size_t *panel; /* indices of the panels' backgrounds */
  size_t n_panels;
  fs_tick span;
  uint32_t *seen;   /* how often items' rows, and after them residencies, were seen */
  size_t merged[2]; /* members of merged shapes, in rows and in all maps */
  size_t shapes;    /* shapes with tooltips; the most in one panel */
} reading;

static fs_tick span_of(const fsched_schedule *s) {
  fs_tick span = fs_max(fs_max(s->schedule->makespan, s->schedule->lower_bound), 1);
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    span = fs_max(span, s->schedule->end[i]);
  }
  for (uint32_t r = 0; r < s->schedule->n_residencies; r++) {
    span = fs_max(span, s->schedule->res_end[r]);
  }
  return span;
}

/* Whether a shape lies, within a pixel, where an interval from `begin` to `end` of `all` units is
 * on a `length` that begins at `origin`. */
static bool lies(long at, long size, long origin, long length, double begin, double end,
                 double all) {
  double from = (double)origin + (double)length * (begin / all);
  double to = (double)origin + (double)length * (end / all);
  return (double)at >= from - 100 && (double)at <= from + 100 && (double)(at + size) >= to - 100 &&
         (double)(at + size) <= to + 100;
}

static bool lies_in_time(const reading *r, const shape *s, const shape *panel, fs_tick begin,
                         fs_tick end) {
  return lies(s->x, s->width, panel->x, panel->width, (double)begin, (double)end, (double)r->span);
}

/* A read is a load if none of its version ended before it began. */
static const char *role_of(const fsched_schedule *s, uint32_t item) {
  const fsched_graph *g = s->schedule->graph;
  uint32_t copy = item - g->n_ops, version = s->schedule->copy_version[copy];
  if (s->schedule->copy_kind[copy] == FS_SPILL_WRITE) {
    return fs_version_kept(g, version) ? "store" : "spill write";
  }
  bool first = fs_version_given(g, version);
  for (uint32_t other = 0; other < s->schedule->n_copies; other++) {
    first &= other == copy || s->schedule->copy_version[other] != version ||
             s->schedule->copy_kind[other] != FS_SPILL_READ ||
             s->schedule->start[g->n_ops + other] > s->schedule->start[item];
  }
  return first ? "load" : "spill read";
}

/* Writes the words with which the tooltip of an item begins. */
static void item_words(const reading *r, uint32_t item, char *words, size_t n) {
  const fsched_graph *g = r->g;
  uint32_t version = item < g->n_ops ? 0 : r->s->schedule->copy_version[item - g->n_ops];
  const char *name =
      item < g->n_ops ? g->op_name[item] : g->buffer_name[g->version_buffer[version]];
  char index[16] = "";
  bool gang = item < g->n_ops && g->op_gang[item] != FS_NONE;
  if (item >= g->n_ops && fs_version_index(g, version) > 0) {
    (void)snprintf(index, sizeof index, ".%u", fs_version_index(g, version));
  }
  uint32_t queues;
  (void)fs_item_queues(r->s->schedule, item, &queues);
  int used =
      snprintf(words, n, "%s%s: %s%s, %" PRIu64, name, index, gang && queues > 1 ? "gang " : "",
               item < g->n_ops ? "op" : role_of(r->s, item), r->s->schedule->start[item]);
  if (r->s->schedule->end[item] != r->s->schedule->start[item]) {
    (void)snprintf(words + used, n - (size_t)used, "–%" PRIu64, r->s->schedule->end[item]);
  }
}

static void residency_words(const reading *r, uint32_t id, char *words, size_t n) {
  const fsched_schedule *s = r->s;
  uint32_t version = s->schedule->res_version[id];
  char name[80];
  if (version == FS_NONE) {
    (void)snprintf(name, sizeof name, "%s: scratch,", r->g->op_name[s->schedule->res_op[id]]);
  } else if (fs_version_index(r->g, version) == 0) {
    (void)snprintf(name, sizeof name, "%s:", r->g->buffer_name[r->g->version_buffer[version]]);
  } else {
    (void)snprintf(name, sizeof name, "%s.%u:", r->g->buffer_name[r->g->version_buffer[version]],
                   fs_version_index(r->g, version));
  }
  int used = snprintf(words, n, "%s ", name);
  if (version != FS_NONE) {
    used += snprintf(words + used, n - (size_t)used, "%" PRIu64 " B at ",
                     fs_version_size(r->g, version));
  } /* the unaligned size of scratch is not checked */
}

static void expect_item(reading *r, const shape *s, const shape *panel) {
  char words[200];
  for (uint32_t item = 0; item < r->s->schedule->n_items; item++) {
    item_words(r, item, words, sizeof words);
    size_t n = strlen(words);
    if (strncmp(s->title, words, n) == 0 && (s->title[n] == ',' || s->title[n] == ' ') &&
        lies_in_time(r, s, panel, r->s->schedule->start[item], r->s->schedule->end[item])) {
      uint32_t queues;
      (void)fs_item_queues(r->s->schedule, item, &queues);
      if (r->seen[item] < queues) {
        r->seen[item]++;
        return;
      }
    }
  }
  ck_abort_msg("no op or copy for '%s' at %ld + %ld", s->title, s->x, s->width);
}

static void expect_residency(reading *r, const shape *s, const shape *panel, uint32_t memory,
                             uint64_t top) {
  char words[200];
  for (uint32_t id = 0; id < r->s->schedule->n_residencies; id++) {
    residency_words(r, id, words, sizeof words);
    uint64_t low = r->s->schedule->res_address[id], high = low + r->s->schedule->res_size[id];
    if (r->seen[r->s->schedule->n_items + id] == 0 && r->s->schedule->res_memory[id] == memory &&
        strncmp(s->title, words, strlen(words)) == 0 &&
        lies_in_time(r, s, panel, r->s->schedule->res_begin[id], r->s->schedule->res_end[id]) &&
        lies(s->y, s->height, panel->y, panel->height, (double)(top - high), (double)(top - low),
             (double)top)) {
      r->seen[r->s->schedule->n_items + id] = 1;
      return;
    }
  }
  ck_abort_msg("no residency for '%s' at %ld + %ld, %ld + %ld", s->title, s->x, s->width, s->y,
               s->height);
}

/* Reads "12 ops, 3 spill reads: ..." or "7 residencies: ..."; 0 if the shape is not merged. */
static size_t merged_members(const shape *s) {
  size_t sum = 0;
  if (!has_class(s, "x")) {
    return 0;
  }
  for (const char *p = s->title;; p = strchr(p, ',') + 2) {
    char *end;
    sum += strtoul(p, &end, 10);
    quick_assert_msg(end > p, "no count: %s", s->title);
    const char *comma = strchr(end, ',');
    if (comma == NULL || comma > strchr(end, ':')) {
      return sum;
    }
  }
}

static void expect_inside(const shape *s, const shape *panel) {
  quick_assert_msg(s->x >= panel->x && s->y >= panel->y &&
                       s->x + s->width <= panel->x + panel->width &&
                       s->y + s->height <= panel->y + panel->height,
                   "'%s' sticks out of its panel", s->title);
}

static uint64_t top_of(const fsched_schedule *s, uint32_t memory) {
  uint64_t top = 0;
  for (uint32_t r = 0; r < s->schedule->n_residencies; r++) {
    if (s->schedule->res_memory[r] == memory) {
      top = fs_max(top, s->schedule->res_address[r] + s->schedule->res_size[r]);
    }
  }
  fs_svg_amounts a;
  fs_svg_amounts_init(&a, s->schedule->graph->target.memory[memory].capacity, top, "extent", true);
  ck_assert_uint_ge(a.top, top);
  return a.top;
}

static uint32_t nth_map(const fsched_graph *g, size_t n) {
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    if (fs_memory_bounded(memory) && memory->placement == FSCHED_CONTIGUOUS && n-- == 0) {
      return m;
    }
  }
  return FS_NONE;
}

/* The shapes of one panel: those between its background and the next one. */
static void read_panel(reading *r, size_t index, bool identify) {
  const picture *v = r->v;
  const shape *panel = &v->rect[r->panel[index]];
  size_t end = index + 1 < r->n_panels ? r->panel[index + 1] : v->n_rects, shapes = 0;
  uint32_t memory = index == 0 ? FS_NONE : nth_map(r->g, index - 1);
  for (size_t i = r->panel[index] + 1; i < end; i++) {
    const shape *s = &v->rect[i];
    if (s->title[0] == '\0') { /* an overlay, or the legend after the last panel */
      continue;
    }
    shapes++;
    expect_inside(s, panel);
    size_t n = merged_members(s);
    r->merged[index > 0] += n;
    if (n == 0 && !identify) {
      r->seen[index == 0 ? 0 : r->s->schedule->n_items]++;
    } else if (n == 0 && index == 0) {
      expect_item(r, s, panel);
    } else if (n == 0) {
      expect_residency(r, s, panel, memory, top_of(r->s, memory));
    }
  }
  r->shapes = shapes > r->shapes ? shapes : r->shapes;
}

static size_t rows_wanted(const fsched_schedule *s) {
  size_t n = 0;
  for (uint32_t item = 0; item < s->schedule->n_items; item++) {
    uint32_t queues;
    (void)fs_item_queues(s->schedule, item, &queues);
    n += queues;
  }
  return n;
}

static size_t rectangles_wanted(const fsched_schedule *s) {
  size_t n = 0;
  for (uint32_t r = 0; r < s->schedule->n_residencies; r++) {
    n += s->schedule->graph->target.memory[s->schedule->res_memory[r]].placement ==
         FSCHED_CONTIGUOUS;
  }
  return n;
}

/* Every op and copy is on each of its queues, and every residency in its memory, once or counted in
 * a merged shape.  With `identify` each is looked up, in quadratic time. */
static size_t compare(const picture *v, const fsched_schedule *s, bool identify) {
  reading r = {.v = v, .s = s, .g = s->schedule->graph, .span = span_of(s)};
  r.seen = calloc((size_t)s->schedule->n_items + s->schedule->n_residencies + 1, sizeof *r.seen);
  r.panel = malloc(v->n_rects * sizeof *r.panel);
  for (size_t i = 0; i < v->n_rects; i++) {
    if (has_class(&v->rect[i], "p")) {
      r.panel[r.n_panels++] = i;
    }
  }
  for (size_t i = 0; i < r.n_panels; i++) {
    read_panel(&r, i, identify);
  }
  size_t rows = r.merged[0], rectangles = r.merged[1];
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    rows += r.seen[i];
  }
  for (uint32_t i = 0; i < s->schedule->n_residencies; i++) {
    rectangles += r.seen[s->schedule->n_items + i];
  }
  ck_assert_uint_eq(rows, rows_wanted(s));
  ck_assert_uint_eq(rectangles, rectangles_wanted(s));
  free(r.seen);
  free(r.panel);
  return r.shapes;
}

/* ---- amounts over time */

/* What an amount is held of: a counted memory, a resource, or the ops that run at once. */
typedef enum amount_kind { COUNTED, RESOURCE, CONCURRENCY } amount_kind;

static uint64_t held(const fsched_schedule *s, amount_kind kind, uint32_t index, fs_tick time) {
  const fsched_graph *g = s->schedule->graph;
  uint64_t sum = 0;
  for (uint32_t r = 0; kind == COUNTED && r < s->schedule->n_residencies; r++) {
    if (s->schedule->res_memory[r] == index && s->schedule->res_begin[r] <= time &&
        time < s->schedule->res_end[r]) {
      sum += s->schedule->res_size[r];
    }
  }
  for (uint32_t op = 0; kind != COUNTED && op < g->n_ops; op++) {
    if (s->schedule->start[op] > time || time >= s->schedule->end[op]) {
      continue;
    }
    sum += kind == CONCURRENCY;
    for (uint32_t u = g->op_use0[op]; kind == RESOURCE && u < g->op_use0[op + 1]; u++) {
      sum += g->use_resource[u] == index ? g->use_amount[u] : 0;
    }
  }
  return sum;
}

/* Returns the height of a path at x above its first y; the path is "M x y" and then any of "H x"
 * and "V y". */
static double height_at(const char *path, double x) {
  char *p;
  double at = strtod(path + 1, &p), bottom = strtod(p, &p), y = bottom;
  (void)at;
  while (*p == 'H' || *p == 'V') {
    char what = *p;
    double value = strtod(p + 1, &p);
    if (what == 'H' && value > x) {
      break;
    }
    y = what == 'V' ? value : y;
  }
  return bottom - y;
}

/* Heights agree with the amounts at the middle of every pixel in which nothing begins or ends. */
static void check_steps(const fsched_schedule *s, const char *path, const shape *panel,
                        amount_kind kind, uint32_t index) {
  double most = 0, most_height = 1, left = (double)panel->x / 100,
         wide = (double)panel->width / 100;
  double span = (double)span_of(s);
  for (int pass = 0; pass < 2; pass++) {
    for (double x = 0.5; x < wide; x += 7) {
      fs_tick before = x < 1 ? 0 : (fs_tick)((x - 1) / wide * span);
      fs_tick after = (fs_tick)((x + 1) / wide * span);
      if (x < 1 || before != after) {
        continue;
      }
      double amount = (double)held(s, kind, index, before), high = height_at(path, left + x);
      if (pass == 0 && amount > most) {
        most = amount;
        most_height = high;
      }
      double wanted = most == 0 ? 0 : amount / most * most_height;
      quick_assert(pass == 0 || (high > wanted - 0.1 && high < wanted + 0.1));
    }
  }
  ck_assert(most == 0 || most_height > 5);
}

static void expect_peak(const picture *v, const fsched_schedule *s, uint32_t memory) {
  char wanted[200], *words = NULL;
  size_t n;
  uint64_t *peaks = calloc(s->schedule->graph->target.n_memories + 1, sizeof *peaks);
  fs_text t;
  fs_text_init(&t, ctx);
  ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, peaks));
  fs_svg_bytes(&t, peaks[memory]);
  ck_fs(ctx, fs_text_take(&t, &words, &n));
  const fs_memory *m = &s->schedule->graph->target.memory[memory];
  (void)snprintf(wanted, sizeof wanted, ">%s<tspan", m->name);
  const char *heading = strstr(v->text, wanted);
  ck_assert_msg(heading != NULL, "%s has no panel", m->name);
  (void)snprintf(wanted, sizeof wanted, ", peak %s", words);
  ck_assert_msg(strstr(heading, wanted) != NULL && strstr(heading, wanted) < strchr(heading, '\n'),
                "%s: not%s", m->name, wanted);
  fsched_text_free(ctx, words, n);
  free(peaks);
}

static void compare_amounts(const picture *v, const fsched_schedule *s) {
  const fs_target *target = &s->schedule->graph->target;
  const char *path = v->text;
  const shape *panel = v->rect; /* all panels are as wide */
  uint32_t resource = 0;
  while (!has_class(panel, "p")) {
    panel++;
  }
  for (uint32_t m = 0; m < target->n_memories; m++) {
    if (fs_memory_bounded(&target->memory[m])) {
      expect_peak(v, s, m);
    }
  }
  for (uint32_t m = 0; m < target->n_memories + target->n_resources + 1; m++) {
    bool memory = m < target->n_memories, last = m == target->n_memories + target->n_resources;
    if (memory ? !fs_memory_bounded(&target->memory[m]) ||
                     target->memory[m].placement != FSCHED_COUNTED
               : last && target->concurrency == 0) {
      continue;
    }
    path = strstr(path, "<path class=\"st\" d=\"");
    ck_assert_ptr_nonnull(path);
    path += strlen("<path class=\"st\" d=\"");
    check_steps(s, path, panel,
                memory ? COUNTED
                : last ? CONCURRENCY
                       : RESOURCE,
                memory ? m
                : last ? 0
                       : resource++);
  }
}

static fsched_schedule *compile_random(const fs_gen_params *p, fsched_graph **g) {
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o, .verify = p->n_ops < 1000};
  ck_fs(ctx, fs_gen_graph(ctx, p, g));
  ck_fs(ctx, fsched_compile(ctx, *g, &o, &s, NULL));
  return s;
}

START_TEST(random_schedules)
{
  static const uint32_t widths[] = {0, 400, 1111, 10000};
  fs_gen_params p = fs_gen_any((uint64_t)_i, 80);
  fsched_graph *g;
  fsched_schedule *s = compile_random(&p, &g);
  picture v = draw(s, widths[_i % 4]);
  (void)compare(&v, s, true);
  compare_amounts(&v, s);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* A schedule that was read from its JSON looks the same. */
START_TEST(read_schedules)
{
  fs_gen_params p = fs_gen_any(1000 + (uint64_t)_i, 60);
  fsched_graph *g;
  fsched_schedule *s = compile_random(&p, &g), *again;
  char *json;
  size_t n;
  ck_fs(ctx, fsched_schedule_json(ctx, s, &json, &n));
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "again", json, n, &again));
  picture a = draw(s, 0), b = draw(again, 0);
  ck_assert_str_eq(a.text, b.text);
  drop(&a);
  drop(&b);
  fsched_text_free(ctx, json, n);
  fsched_schedule_destroy(again);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The bounds that the header states, at 100,000 ops. */
START_TEST(large_schedules)
{
  fs_gen_params p = {.seed = 7,
                     .n_ops = 100000,
                     .n_queues = 16,
                     .n_memories = 2,
                     .tightness = 20,
                     .backing = true,
                     .max_size = 4000,
                     .align = 64,
                     .io = true,
                     .gangs = true,
                     .counted = _i == 1,
                     .resources = true};
  fsched_graph *g;
  fsched_schedule *s = compile_random(&p, &g);
  picture v = draw(s, 0);
  ck_assert_uint_le(compare(&v, s, false), FS_SVG_PIECES_MOST);
  ck_assert_uint_lt(v.n, 2000000);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- what may be odd */

static fsched_schedule *parse(const fsched_graph *g, const char *json) {
  fsched_schedule *s;
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "odd", json, strlen(json), &s));
  return s;
}

static const char odd_graph[] =
    "fsched: 1\nname: odd\ntarget:\n  queues: [{name: q}]\n"
    "  memories: [{name: m, capacity: 16, placement: contiguous}, "
    "{name: c, capacity: 16, placement: counted}]\n"
    "ops:\n  - {name: a, args: [{out: x, size: 4, memory: m}]}\n"
    "  - {name: b, args: [{out: y, size: 4, memory: c}]}\n";

/* Schedules that nobody has verified can be drawn: late, long, over capacity, or with items on top
 * of each other. */
START_TEST(odd_schedules)
{
  static const char *const json[] = {
      "{\"fsched_schedule\": 1, \"makespan\": 3, \"lower_bound\": 4611686018427387904, \"ops\": ["
      "{\"name\": \"a\", \"queues\": [\"q\"], \"start\": 0, \"end\": 4611686018427387904}, "
      "{\"name\": \"b\", \"queues\": [\"q\"], \"start\": 0, \"end\": 4611686018427387904}],"
      "\"residencies\": [{\"buffer\": \"x\", \"version\": 0, \"memory\": \"m\", \"address\": "
      "281474976710656, \"size\": 281474976710656, \"begin\": 0, \"end\": 4611686018427387904},"
      "{\"buffer\": \"y\", \"version\": 0, \"memory\": \"c\", \"size\": 281474976710656, "
      "\"begin\": 4611686018427387903, \"end\": 4611686018427387904}]}",
      "{\"fsched_schedule\": 1, \"makespan\": 0, \"ops\": ["
      "{\"name\": \"a\", \"queues\": [\"q\"], \"start\": 7, \"end\": 7}, "
      "{\"name\": \"b\", \"queues\": [\"q\"], \"start\": 7, \"end\": 7}],"
      "\"residencies\": [{\"buffer\": \"x\", \"version\": 0, \"memory\": \"m\", \"address\": 0, "
      "\"size\": 0, \"begin\": 0, \"end\": 0},"
      "{\"buffer\": \"y\", \"version\": 0, \"memory\": \"c\", \"size\": 0, \"begin\": 9, "
      "\"end\": 9}]}"};
  fsched_graph *g = fs_parse(odd_graph);
  fsched_schedule *s = parse(g, json[_i]);
  picture v = draw(s, 0);
  (void)compare(&v, s, true);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* A peak is far narrower than a pixel, and next to lower ones. */
START_TEST(narrow_peaks)
{
  static const char graph[] =
      "fsched: 1\nname: peaks\ntarget: {resources: [{name: power, capacity: 6}]}\nops:\n"
      "  - {name: a, time: 1000000, uses: {power: 1}}\n  - {name: b, uses: {power: 3}}\n"
      "  - {name: c, uses: {power: 5}}\n  - {name: d, uses: {power: 3}}\n";
  static const char json[] =
      "{\"fsched_schedule\": 1, \"ops\": ["
      "{\"name\": \"a\", \"queues\": [\"q0\"], \"start\": 0, \"end\": 1000000},"
      "{\"name\": \"b\", \"queues\": [\"q1\"], \"start\": 500000, \"end\": 500001},"
      "{\"name\": \"c\", \"queues\": [\"q1\"], \"start\": 500001, \"end\": 500002},"
      "{\"name\": \"d\", \"queues\": [\"q1\"], \"start\": 500002, \"end\": 500003}]}";
  fsched_graph *g = fs_parse(graph);
  fsched_schedule *s = parse(g, json);
  picture v = draw(s, 0);
  const char *path = strstr(v.text, "<path class=\"st\" d=\"");
  ck_assert_ptr_nonnull(path);
  path += strlen("<path class=\"st\" d=\"");
  double x = 76 + (1400 - 76 - 74) / 2.0; /* the middle */
  double low = height_at(path, x - 2), high = height_at(path, x + 0.2);
  ck_assert(low > 0 && high > 5.9 * low && high < 6.1 * low);
  ck_assert(height_at(path, x + 2) < 1.01 * low);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* 88 bytes are in use for no time, then 44. */
START_TEST(no_time)
{
  static const char *const memory[] = {"m, capacity: 90, placement: counted", "m, capacity: 90"};
  char text[400];
  (void)snprintf(
      text, sizeof text,
      "{fsched: 1, target: {memories: [{name: %s}]}, ops: [{name: a, time: 0, scratch: {m: 88}},"
      "{name: c, time: 9, after: [a], scratch: {m: 44}}]}",
      memory[_i]);
  fsched_graph *g = fs_parse(text);
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  picture v = draw(s, 0);
  ck_assert_ptr_nonnull(strstr(v.text, _i == 0 ? ", peak 88 B<" : ", peak 88 B, extent 88 B<"));
  const char *path = strstr(v.text, "<path class=\"st\" d=\"");
  ck_assert(_i == 1 || fabs(height_at(path + 20, 76.2) / height_at(path + 20, 80) - 2) < 0.1);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Checks the words for copies, times in the unit of the axis, and the names of narrow bars. */
START_TEST(words)
{
  static const char graph[] =
      "fsched: 1\nname: words\ntarget:\n  time_unit: ns\n"
      "  queues: [{name: q, class: c}, {name: d, class: d}]\n"
      "  memories: [{name: m, capacity: 8, backing: s, spill: {on: d, write: {fixed: 350}, "
      "read: {fixed: 350}}}, {name: s}]\n"
      "buffers: [{name: in, size: 4, io: input}, {name: out, size: 4, io: output}]\n"
      "ops:\n  - {name: scores1, on: c, time: 40006, args: [{in: in}, {out: out}]}\n"
      "  - {name: abc, on: c, time: 500, after: [scores1]}\n"
      "  - {name: scores2, on: c, time: 1200, after: [abc]}\n";
  static const char *const wanted[] = {
      "3 ops, 1 load, 1 store, 0 spills; makespan 42.056 us, lower bound ",
      "<title>in: load, 0–350 ns, on d</title>",
      "<title>out: store, 40356–40706 ns, on d</title>",
      "what is given is coloured as its first reader",
      ">load of what is given<",
      ">store of what is kept<",
      "rotate(-90)\">abc<",
      ">sc…s2<",
  };
  fsched_schedule *s;
  fsched_graph *g = fs_parse(graph);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  picture v = draw(s, 0);
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    ck_assert_msg(strstr(v.text, wanted[i]) != NULL, "no '%s'", wanted[i]);
  }
  ck_assert_ptr_null(strstr(v.text, ">spilled"));
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* There are no ops, and not even queues. */
START_TEST(empty_schedules)
{
  fs_gen_params p = {.n_ops = 0, .n_queues = (uint32_t)_i, .n_memories = 1, .backing = true};
  fsched_graph *g;
  fsched_schedule *s = compile_random(&p, &g);
  picture v = draw(s, 0);
  ck_assert_uint_eq(compare(&v, s, true), 0);
  ck_assert_ptr_nonnull(strstr(v.text, "0 ops, 0 copies; makespan 0"));
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Rows are lower than a pixel. */
START_TEST(many_queues)
{
  fs_gen_params p = {.seed = 3, .n_ops = 9000, .n_queues = 4080, .max_time = 1};
  fsched_graph *g;
  fsched_schedule *s = compile_random(&p, &g);
  picture v = draw(s, 0);
  ck_assert_uint_le(compare(&v, s, false), FS_SVG_PIECES_MOST);
  ck_assert_int_lt(v.height, 4200 * 100);
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* One name is markup, and one is very long. */
START_TEST(hostile_names)
{
  char text[6000], name[4000];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: \"]]><&'\\\"\\x01\\x7F\\u0085\\uFFFE\"\n"
                 "target: {time_unit: \"<s>\", queues: [{name: \"<q>\"}], "
                 "memories: [{name: \"&m;\", capacity: 100}], "
                 "resources: [{name: \"<r/>\", capacity: 1}]}\n"
                 "ops:\n  - {name: \"</title>\", time: 9, args: [{out: \"</rect>\", size: 90}]}\n"
                 "  - {name: \"%s\", args: [{in: \"</rect>\"}]}\n",
                 name);
  fsched_schedule *s;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  picture v = draw(s, 0);
  ck_assert_uint_eq(compare(&v, s, false), 2);
  ck_assert_uint_lt(v.n, 8000);
  ck_assert_ptr_nonnull(
      strstr(v.text, ">]]&gt;&lt;&amp;'&quot;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
  ck_assert_ptr_nonnull(strstr(v.text, "<title>&lt;/title&gt;: op, 0–9 &lt;s&gt;"));
  drop(&v);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(svg, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 4, goldens);
  FS_LOOPS(t, 0, 150, random_schedules);
  FS_LOOPS(t, 0, 30, read_schedules);
  FS_LOOPS(t, 0, 2, large_schedules, odd_schedules, no_time);
  FS_TESTS(t, narrow_peaks, words, many_queues, hostile_names);
  FS_LOOPS(t, 0, 3, empty_schedules);
}
