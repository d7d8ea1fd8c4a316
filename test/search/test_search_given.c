/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs with given starts: their proofs of makespans, of what memories have to have, and that
 * there is no schedule, against a search through all starts, queues and addresses. */
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"

#include "kit/context.h"

enum { CASES = 400, DAMAGED = 60, DAMAGES = 30, MOST_BUFFERS = 8, TEXT = 2048, STEPS = 1 << 24 };

/* A graph whose text is known, so that it can be made again with another capacity. */
typedef struct given_case {
  char head[128], tail[TEXT]; /* around the capacity */
  unsigned capacity, n_ops, all;
  bool memory, slow; /* slow: some ops have latencies */
} given_case;

typedef struct case_writer {
  fs_rng *r;
  char *at;
  size_t n;
  unsigned n_buffers, size[MOST_BUFFERS];
  bool written[MOST_BUFFERS];
} case_writer;

static void put(case_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(case_writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at + w->n, TEXT - w->n, format, args);
  va_end(args);
  ck_assert(n >= 0 && (size_t)n < TEXT - w->n);
  w->n += (size_t)n;
}

/* Buffers 0 to 2: an input, a state and an output. */
static void put_buffers(case_writer *w) {
  static const char *const io[] = {"input", "state", "output"};
  put(w, "buffers:\n");
  for (w->n_buffers = 0; w->n_buffers < 3; w->n_buffers++) {
    unsigned k = w->n_buffers;
    w->size[k] = 1 + fs_rng_below(w->r, 2);
    w->written[k] = k < 2;
    put(w, "  - {name: b%u, size: %u, memory: m, io: %s}\n", k, w->size[k], io[k]);
  }
}

/* What the op reads, writes over, or makes, perhaps in place of what it reads. */
static void put_args(case_writer *w, bool last) {
  unsigned in = fs_rng_below(w->r, w->n_buffers), out = w->n_buffers;
  const char *separator = "";
  put(w, ", args: [");
  if (w->written[in] && fs_rng_one_in(w->r, 2)) {
    bool over = fs_rng_one_in(w->r, 4);
    put(w, "{%s: b%u}", over ? fs_rng_one_in(w->r, 2) ? "inout" : "out_existing" : "in", in);
    separator = ", ";
    in = over ? MOST_BUFFERS : in;
  } else {
    in = MOST_BUFFERS;
  }
  if (last && !w->written[2]) {
    put(w, "%s{out: b2}", separator);
    w->written[2] = true;
  } else if (out < MOST_BUFFERS && fs_rng_one_in(w->r, 2)) {
    w->size[out] = in < MOST_BUFFERS ? w->size[in] : 1 + fs_rng_below(w->r, 3);
    w->written[out] = true;
    w->n_buffers++;
    put(w, "%s{out: b%u, size: %u, memory: m}", separator, out, w->size[out]);
    if (in < MOST_BUFFERS && fs_rng_one_in(w->r, 2)) {
      put(w, "], inplace: {b%u: b%u}", out, in);
      return;
    }
  }
  put(w, "]");
}

static void put_op(case_writer *w, unsigned op, bool last, given_case *c, bool all_given) {
  static const char *const queues[] = {"q0", "q1", "c"};
  unsigned time = fs_rng_one_in(w->r, 10) ? 0 : 1 + fs_rng_below(w->r, 3);
  unsigned start = fs_rng_below(w->r, 8);
  put(w, "  - {name: o%u, time: %u, on: %s", op, time, queues[fs_rng_below(w->r, 3)]);
  if (c->slow && fs_rng_one_in(w->r, 2)) {
    time += 1 + fs_rng_below(w->r, 2);
    put(w, ", latency: %u", time);
  }
  c->all += time;
  if (all_given || fs_rng_one_in(w->r, 3)) {
    start = all_given && fs_rng_below(w->r, 4) > 0 ? 3 * op : start;
    put(w, ", start: %u", start);
    c->all += start; /* more than the last one */
  }
  if (op > 0 && fs_rng_one_in(w->r, 4)) {
    put(w, ", after: [o%u]", fs_rng_below(w->r, op));
  }
  if (fs_rng_one_in(w->r, 3)) {
    put(w, ", uses: {r: %u}", 1 + fs_rng_below(w->r, 3));
  }
  if (c->memory && fs_rng_one_in(w->r, 3)) {
    put(w, ", scratch: {m: %u}", 1 + fs_rng_below(w->r, 4));
  }
  if (c->memory) {
    put_args(w, last);
  }
  put(w, "}\n");
}

static given_case draw_case(uint64_t seed) {
  fs_rng r = {fs_turn() << 20 | seed};
  given_case c = {.memory = fs_rng_below(&r, 3) > 0,
                  .slow = fs_rng_one_in(&r, 4),
                  .n_ops = 2 + fs_rng_below(&r, 3)};
  case_writer w = {.r = &r, .at = c.tail};
  bool all_given = c.memory && fs_rng_below(&r, 4) > 0;
  c.capacity = 4 + fs_rng_below(&r, 6);
  (void)snprintf(c.head, sizeof c.head,
                 "fsched: 1\nname: g\ntarget:\n"
                 "  queues: [{name: q0, class: c}, {name: q1, class: c}]\n"
                 "  memories: [{name: far}, {name: m, capacity: ");
  put(&w, "%s}]\n  resources: [{name: r, capacity: 4}]\n",
      fs_rng_one_in(&r, 2)   ? ", placement: counted"
      : fs_rng_one_in(&r, 4) ? ", align: 2"
                             : "");
  if (c.memory) {
    put_buffers(&w);
  }
  put(&w, "ops:\n");
  for (unsigned op = 0; op < c.n_ops; op++) {
    put_op(&w, op, op + 1 == c.n_ops, &c, all_given);
  }
  return c;
}

/* NULL: an op alone does not fit. */
static fsched_graph *make_graph(const given_case *c, unsigned capacity) {
  char text[2 * TEXT];
  fsched_graph *g = NULL;
  int n = snprintf(text, sizeof text, "%s%u%s", c->head, capacity, c->tail);
  fsched_status status = fsched_graph_parse(ctx, "g", text, (size_t)n, NULL, &g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "%s\n%s",
                status == FSCHED_OK ? "" : fsched_diag_get(ctx, 0)->message, text);
  fsched_diag_clear(ctx);
  return g;
}

/* Is there a schedule at all, with so much of the memory?  *best: the least makespan. */
static bool any_schedule(const given_case *c, unsigned capacity, uint64_t *best) {
  fsched_graph *g = capacity == 0 && c->memory ? NULL : make_graph(c, capacity);
  if (g == NULL) {
    return false;
  }
  fs_exhaust e = fs_exhaust_search(g, c->all, c->all, STEPS);
  if (e.found && best != NULL) {
    e = fs_exhaust_search(g, 0, c->all, STEPS);
    *best = e.best;
  }
  ck_assert(e.known);
  fsched_graph_destroy(g);
  return e.found;
}

typedef struct given_proof {
  fsched_status status; /* of the compiler */
  char *text;
  size_t n;
  uint64_t bound, makespan, taken; /* of the schedule; taken: bytes of the memory */
} given_proof;

static given_proof prove(const fsched_graph *g, uint64_t seed) {
  given_proof p = {0};
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .seed = seed,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = 500,
                              .proof = &p.text,
                              .proof_length = &p.n};
  p.status = fsched_compile(ctx, g, &o, &s, NULL);
  ck_assert_msg(p.status == FSCHED_OK || p.status == FSCHED_INFEASIBLE || p.status == FSCHED_USAGE,
                "%s", fsched_diag_get(ctx, 0)->message);
  fsched_diag_clear(ctx);
  if (p.status == FSCHED_OK) {
    uint64_t peak[2], extent[2];
    p.bound = fsched_schedule_lower_bound(s);
    p.makespan = fsched_schedule_makespan(s);
    ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, peak));
    fs_schedule_extents(s->schedule, extent);
    p.taken = fs_max(peak[1], extent[1]);
    fsched_schedule_destroy(s);
  }
  return p;
}

typedef struct given_counts {
  unsigned optimal, less, none, unknown, peaks, exact;
} given_counts;

static void check_shown(const given_case *c, const fsched_graph *g, const given_proof *p,
                        given_counts *n) {
  uint64_t bound, peak[2], best = 0;
  bool found = any_schedule(c, c->capacity, &best);
  if (p->text == NULL) {
    n->unknown += !found;
    ck_assert(p->status != FSCHED_OK);
    return;
  }
  fsched_status status = fsched_verify_proofs(ctx, g, p->text, p->n, "p", &bound, peak);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s%u%s%s", fsched_diag_get(ctx, 0)->message, c->head,
                c->capacity, c->tail, p->text);
  if (p->status == FSCHED_INFEASIBLE) {
    ck_assert_uint_eq(bound, FSCHED_NO_SCHEDULE);
    ck_assert_msg(!found, "%s%u%s%s", c->head, c->capacity, c->tail, p->text);
    n->none++;
    return;
  }
  ck_assert(found);
  ck_assert_uint_eq(bound, p->bound);
  ck_assert_msg(bound <= best && best <= p->makespan, "%s%u%s%s", c->head, c->capacity, c->tail,
                p->text);
  n->optimal += bound == best;
  n->less += bound < best;
  ck_assert_uint_eq(peak[0], 0);
  if (peak[1] > 0) {
    n->peaks++;
    n->exact += any_schedule(c, (unsigned)peak[1], NULL);
    ck_assert_uint_le(peak[1], p->taken);
    ck_assert_msg(!any_schedule(c, (unsigned)peak[1] - 1, NULL), "%s%u%s%s", c->head, c->capacity,
                  c->tail, p->text);
  }
}

START_TEST(all_claims)
{
  given_counts n = {0};
  for (unsigned k = 0; k < CASES; k++) {
    given_case c = draw_case(k);
    fsched_graph *g = make_graph(&c, c.capacity);
    if (g != NULL) {
      given_proof p = prove(g, k);
      if (p.status != FSCHED_USAGE) { /* no op takes time */
        check_shown(&c, g, &p, &n);
      }
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(n.optimal, CASES / 8);
  fs_assert_seen(n.none, CASES / 8);
  fs_assert_seen(n.peaks, CASES / 20);
  fs_assert_seen(n.exact, CASES / 20);
  ck_assert_uint_lt(n.unknown, n.none / 2);
}
END_TEST

/* ---- damages */

static void damage(const given_proof *p, fs_rng *r, fs_text *t) {
  static const char bytes[] = "0123456789<=>@:poxtzmsefbld ";
  size_t at = fs_rng_below(r, (uint32_t)p->n), line = at;
  const char *end = memchr(p->text + at, '\n', p->n - at);
  while (line > 0 && p->text[line - 1] != '\n') {
    line--;
  }
  fs_text_init(t, ctx);
  if (fs_rng_one_in(r, 5)) {
    fs_text_add(t, p->text, line);
    fs_text_add(t, end + 1, p->n - (size_t)(end + 1 - p->text));
    return;
  }
  fs_text_add(t, p->text, at);
  fs_text_add(t, &bytes[fs_rng_below(r, sizeof bytes - 1)], 1);
  fs_text_add(t, p->text + at + 1, p->n - at - 1);
}

/* The least capacity with which there is a schedule; UINT64_MAX: none is enough. */
static uint64_t least_capacity(const given_case *c) {
  unsigned enough = 0;
  while (enough < 40 && !any_schedule(c, enough, NULL)) {
    enough++;
  }
  return enough == 40 ? UINT64_MAX : enough;
}

START_TEST(damaged_claims)
{
  unsigned refused = 0, passed = 0;
  for (unsigned k = 0; k < DAMAGED; k++) {
    given_case c = draw_case(1000 + k);
    fsched_graph *g = make_graph(&c, c.capacity);
    given_proof p = g == NULL ? (given_proof){0} : prove(g, k);
    uint64_t best = 0, least = least_capacity(&c);
    bool found = any_schedule(&c, c.capacity, &best);
    fs_rng r = {fs_turn() << 20 | k};
    for (unsigned i = 0; p.text != NULL && i < DAMAGES; i++) {
      uint64_t bound, peak[2];
      fs_text t;
      damage(&p, &r, &t);
      fsched_status status = fsched_verify_proofs(ctx, g, t.at, t.n, "p", &bound, peak);
      ck_assert(status == FSCHED_OK || status == FSCHED_WRONG || status == FSCHED_BAD_INPUT);
      ck_assert_msg(!found || bound <= best, "%.*s", (int)t.n, t.at);
      ck_assert_msg(peak[1] <= least, "%.*s", (int)t.n, t.at);
      passed += status == FSCHED_OK;
      refused += status != FSCHED_OK;
      fsched_diag_clear(ctx);
      fs_text_drop(&t);
    }
    fsched_text_free(ctx, p.text, p.n);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(refused, DAMAGED * DAMAGES / 4);
  fs_assert_seen(passed, 20);
}
END_TEST

FS_SUITE(search_given, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, all_claims, damaged_claims);
}
