/* SPDX-License-Identifier: Apache-2.0 */
/* Axes and frontiers, compared with the shared facts and with slow and plain maps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fsched/frontier.h"
#include "kit/facts_script.h"
#include "kit/gen.h"
#include "kit/suite.h"

enum { MAX = 32, AXES = 24 };

typedef struct boxed {
  fsched_frontier_entry at[MAX];
  fsched_frontier f;
} boxed;

static void box(boxed *b, uint32_t capacity) {
  b->f = (fsched_frontier){.entry = b->at, .capacity = capacity};
}

static void boxed_parse(boxed *b, const char *text, uint32_t capacity) {
  fsched_frontier_entry entry[FS_FACTS_ENTRIES];
  fsched_frontier f = fs_facts_frontier(text, entry);
  ck_assert_uint_le(f.n, MAX);
  memcpy(b->at, entry, f.n * sizeof *entry);
  b->f = (fsched_frontier){.entry = b->at, .n = f.n, .capacity = capacity};
}

static void assert_equal(const fsched_frontier *a, const fsched_frontier *b, const char *what) {
  ck_assert_msg(a->n == b->n, "%s: %u entries, not %u", what, a->n, b->n);
  for (uint32_t i = 0; i < a->n; i++) {
    ck_assert_msg(a->entry[i].axis == b->entry[i].axis && a->entry[i].epoch == b->entry[i].epoch,
                  "%s: entry %u", what, i);
  }
}

/* Facts */

static void fact_axis(char **w, char **x, const char *op) {
  fsched_axis axis = 0;
  if (strcmp(op, "axis_split") == 0) {
    fsched_axis_parts p = fsched_axis_split(strtoull(w[0], NULL, 0));
    ck_assert_uint_eq(p.session, strtoull(x[0], NULL, 0));
    ck_assert_uint_eq(p.machine, strtoull(x[1], NULL, 0));
    ck_assert_uint_eq(p.domain, strtoull(x[2], NULL, 0));
    ck_assert_uint_eq(p.ordinal, strtoull(x[3], NULL, 0));
    return;
  }
  uint64_t v[4];
  for (int i = 0; i < 4; i++) {
    v[i] = strtoull(w[i], NULL, 0);
  }
  fsched_axis_parts parts = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], v[3]};
  fsched_status status =
      strcmp(op, "axis_make") == 0
          ? fsched_axis_make(parts, &axis)
          : fsched_axis_queue(parts.session, parts.machine, parts.domain, (uint32_t)v[3], &axis);
  if (v[3] > FSCHED_AXIS_MAX_ORDINAL) { /* the facts let it wrap around; here it is refused */
    ck_assert_int_eq(status, FSCHED_USAGE);
    return;
  }
  ck_assert_int_eq(status, FSCHED_OK);
  ck_assert_uint_eq(axis, strtoull(x[0], NULL, 0));
}

static void fact_order(char **w, char **x, const char *op, const char *id) {
  boxed a, b;
  boxed_parse(&a, w[0], MAX);
  boxed_parse(&b, w[1], MAX);
  if (strcmp(op, "dominates") == 0) {
    ck_assert_msg(fsched_frontier_dominates(&a.f, &b.f) == atoi(x[0]), "%s", id);
    return;
  }
  const char *names[] = {"EQUAL", "BEFORE", "AFTER", "CONCURRENT"};
  ck_assert_msg(strcmp(names[fsched_frontier_compare(&a.f, &b.f)], x[0]) == 0, "%s", id);
}

/* Where a merge overflows in the facts, the target stays as it was; here the smallest epochs
 * leave. */
static void fact_merge(char **w, char **x, const char *op, const char *id) {
  uint32_t capacity = (uint32_t)atoi(w[0]);
  boxed target, source, expected;
  boxed_parse(&target, w[1], capacity);
  boxed_parse(&source, w[2], MAX);
  boxed_parse(&expected, x[1], MAX);
  if (strcmp(op, "mergedom") == 0) {
    ck_assert_msg(fsched_frontier_merge_dominated(&target.f, &source.f) == atoi(x[2]), "%s", id);
  } else {
    fsched_frontier_merge(&target.f, &source.f);
  }
  ck_assert_int_eq(target.f.tainted, strcmp(x[0], "overflow") == 0);
  if (!target.f.tainted) {
    assert_equal(&target.f, &expected.f, id);
  }
}

static void fact_satisfied(char **w, char **x, const char *id) {
  boxed wanted, progress;
  boxed_parse(&wanted, w[0], MAX);
  boxed_parse(&progress, w[1], MAX);
  ck_assert_msg(fsched_frontier_satisfied(&wanted.f, &progress.f) == atoi(x[0]), "%s", id);
}

static void fact_raise(char **w, char **x, const char *id) {
  boxed f, expected;
  boxed_parse(&f, w[1], (uint32_t)atoi(w[0]));
  boxed_parse(&expected, x[0], MAX);
  fsched_frontier_entry evicted;
  int out = fsched_frontier_raise(
      &f.f, (fsched_frontier_entry){strtoull(w[2], NULL, 0), strtoull(w[3], NULL, 0)}, &evicted);
  assert_equal(&f.f, &expected.f, id);
  ck_assert_int_eq(f.f.tainted, atoi(x[1]));
  boxed left;
  boxed_parse(&left, x[2], MAX);
  ck_assert_int_eq(out, (int)left.f.n);
  if (out) {
    ck_assert_uint_eq(evicted.axis, left.at[0].axis);
    ck_assert_uint_eq(evicted.epoch, left.at[0].epoch);
  }
}

static void fact_undominated(char **w, char **x, const char *id) {
  boxed known, wanted, expected, got;
  boxed_parse(&known, w[1], MAX);
  boxed_parse(&wanted, w[2], MAX);
  boxed_parse(&expected, x[1], MAX);
  uint32_t room = (uint32_t)fs_min((uint64_t)atoi(w[0]), MAX);
  uint32_t n = fsched_frontier_undominated(&known.f, &wanted.f, got.at, room);
  ck_assert_uint_eq(n, (uint32_t)atoi(x[0]));
  got.f = (fsched_frontier){.entry = got.at, .n = (uint32_t)fs_min(n, room), .capacity = MAX};
  assert_equal(&got.f, &expected.f, id);
}

/* An entry of epoch 0 makes a frontier invalid, where in the facts it is more than nothing. */
static void fact_unsound(char **w, const char *op, const char *id) {
  ck_assert_msg(strcmp(op, "compare") == 0, "%s is not corrected here", id);
  boxed f;
  boxed_parse(&f, w[0], MAX);
  ck_assert_int_eq(fsched_frontier_validate(&f.f), FSCHED_BAD_INPUT);
}

static bool fact(char **w, char **x, const char *op, const char *id) {
  if (strncmp(op, "axis_", 5) == 0) {
    fact_axis(w, x, op);
  } else if (strcmp(op, "validate") == 0) {
    boxed f;
    boxed_parse(&f, w[0], MAX);
    ck_assert_msg((fsched_frontier_validate(&f.f) == FSCHED_OK) == (strcmp(x[0], "OK") == 0), "%s",
                  id);
  } else if (strcmp(op, "compare") == 0 || strcmp(op, "dominates") == 0) {
    fact_order(w, x, op, id);
  } else if (strcmp(op, "merge") == 0 || strcmp(op, "mergedom") == 0) {
    fact_merge(w, x, op, id);
  } else if (strcmp(op, "satisfied") == 0) {
    fact_satisfied(w, x, id);
  } else if (strcmp(op, "raise") == 0) {
    fact_raise(w, x, id);
  } else if (strcmp(op, "undominated") == 0) {
    fact_undominated(w, x, id);
  } else {
    ck_assert_msg(strcmp(op, "history") == 0, "%s: no driver for %s", id, op); /* semaphores' */
    return false;
  }
  return true;
}

/* Records `tag id op args => expected`. */
START_TEST(facts)
{
  fs_facts f;
  if (!fs_facts_open(&f)) {
    return;
  }
  int n = 0;
  int unsound = 0;
  while (fs_facts_record(&f)) {
    if (f.tag == 'U') {
      fact_unsound(f.word + 1, f.word[0], f.id);
      unsound++;
    } else {
      n += fact(f.word + 1, f.expected, f.word[0], f.id);
    }
  }
  fs_facts_close(&f);
  ck_assert_int_ge(n, 65);
  ck_assert_int_ge(unsound, 1);
}
END_TEST

/* A plain map, in which epoch 0 means absent. */
typedef struct plain {
  uint64_t epoch[AXES];
} plain;

static void random_plain(fs_rng *r, plain *p, uint32_t axes) {
  for (uint32_t i = 0; i < AXES; i++) {
    p->epoch[i] = i >= axes || fs_rng_one_in(r, 2) ? 0 : 1 + fs_rng_below(r, 5);
  }
}

/* Draws the same axes as another map, except for one now and then. */
static void random_like(fs_rng *r, plain *p, const plain *like, uint32_t axes) {
  for (uint32_t i = 0; i < AXES; i++) {
    p->epoch[i] = like->epoch[i] == 0 ? 0 : 1 + fs_rng_below(r, 5);
  }
  if (fs_rng_one_in(r, 2)) {
    uint32_t i = fs_rng_below(r, axes);
    p->epoch[i] = p->epoch[i] == 0;
  }
}

static void fill(boxed *b, const plain *p, uint32_t capacity) {
  box(b, capacity);
  for (uint32_t i = 0; i < AXES; i++) {
    if (p->epoch[i] > 0) {
      b->at[b->f.n++] = (fsched_frontier_entry){i * 3, p->epoch[i]};
    }
  }
}

/* Removes the smallest epoch, of equal ones the highest axis, until `capacity` are left. */
static bool plain_evict(plain *p, uint32_t capacity) {
  bool any = false;
  for (;;) {
    uint32_t n = 0;
    int least = -1;
    for (int i = 0; i < AXES; i++) {
      n += p->epoch[i] > 0;
      if (p->epoch[i] > 0 && (least < 0 || p->epoch[i] <= p->epoch[least])) {
        least = i;
      }
    }
    if (n <= capacity) {
      return any;
    }
    p->epoch[least] = 0;
    any = true;
  }
}

static bool plain_covers(const plain *a, const plain *b) {
  for (int i = 0; i < AXES; i++) {
    if (a->epoch[i] < b->epoch[i]) {
      return false;
    }
  }
  return true;
}

static void check_undominated(const boxed *known, const boxed *wanted, const plain *a,
                              const plain *b, uint32_t room) {
  fsched_frontier_entry out[MAX];
  uint32_t total = fsched_frontier_undominated(&known->f, &wanted->f, out, room);
  uint32_t n = 0;
  for (uint32_t i = 0; i < AXES; i++) {
    if (b->epoch[i] > a->epoch[i]) {
      if (n < room) {
        ck_assert_uint_eq(out[n].axis, i * 3);
        ck_assert_uint_eq(out[n].epoch, b->epoch[i]);
      }
      n++;
    }
  }
  ck_assert_uint_eq(total, n);
}

START_TEST(random_against_maps)
{
  fs_rng r = {42};
  for (int round = 0; round < 20000; round++) {
    plain a, b;
    uint32_t axes = 1 + fs_rng_below(&r, AXES);
    random_plain(&r, &a, axes);
    if (fs_rng_one_in(&r, 2)) {
      random_plain(&r, &b, axes);
    } else {
      random_like(&r, &b, &a, axes);
    }
    boxed x, y, z;
    fill(&y, &b, AXES);
    fill(&x, &a, AXES);
    ck_assert_int_eq(fsched_frontier_dominates(&x.f, &y.f), plain_covers(&a, &b));
    check_undominated(&x, &y, &a, &b, fs_rng_below(&r, MAX + 1));
    y.f.tainted = (int)fs_rng_below(&r, 2);
    ck_assert_int_eq(fsched_frontier_dominates(&x.f, &y.f), plain_covers(&a, &b) && !y.f.tainted);

    uint32_t capacity = (uint32_t)fs_max(x.f.n, fs_rng_below(&r, AXES + 1));
    x.f.capacity = capacity;
    for (int i = 0; i < AXES; i++) {
      a.epoch[i] = fs_max(a.epoch[i], b.epoch[i]);
    }
    bool tainted = plain_evict(&a, capacity);
    fsched_frontier_merge(&x.f, &y.f);
    fill(&z, &a, MAX);
    assert_equal(&x.f, &z.f, "merge");
    ck_assert_int_eq(x.f.tainted, tainted || y.f.tainted);

    uint32_t axis = fs_rng_below(&r, axes);
    uint64_t epoch = 1 + fs_rng_below(&r, 6);
    a.epoch[axis] = fs_max(a.epoch[axis], epoch);
    bool out = plain_evict(&a, capacity);
    ck_assert_int_eq(fsched_frontier_raise(&x.f, (fsched_frontier_entry){axis * 3, epoch}, NULL),
                     out);
    fill(&z, &a, MAX);
    assert_equal(&x.f, &z.f, "raise");
    ck_assert_int_eq(fsched_frontier_validate(&x.f), FSCHED_OK);
  }
}
END_TEST

START_TEST(axis_ranges)
{
  fsched_axis axis = 7;
  ck_assert_int_eq(fsched_axis_make((fsched_axis_parts){256, 0, 0, 0}, &axis), FSCHED_USAGE);
  ck_assert_int_eq(fsched_axis_make((fsched_axis_parts){0, 256, 0, 0}, &axis), FSCHED_USAGE);
  ck_assert_int_eq(fsched_axis_make((fsched_axis_parts){0, 0, 256, 0}, &axis), FSCHED_USAGE);
  ck_assert_int_eq(fsched_axis_make((fsched_axis_parts){0, 0, 0, (uint64_t)1 << 40}, &axis),
                   FSCHED_USAGE);
  ck_assert_int_eq(fsched_axis_queue(0, 0, 256, 0, &axis), FSCHED_USAGE);
  ck_assert_int_eq(fsched_axis_queue(0, 0, 0, 256, &axis), FSCHED_USAGE);
  ck_assert_uint_eq(axis, 7);
}
END_TEST

/* Text */

static void check_print(const char *literal, bool tainted, const char *expected) {
  boxed f;
  boxed_parse(&f, literal, MAX);
  f.f.tainted = tainted;
  char text[128];
  size_t length = strlen(expected);
  ck_assert_uint_eq(fsched_frontier_print(&f.f, NULL, 0), length);
  ck_assert_uint_eq(fsched_frontier_print(&f.f, text, sizeof text), length);
  ck_assert_str_eq(text, expected);
  for (size_t size = 1; size <= length; size++) {
    memset(text, 'x', sizeof text);
    ck_assert_uint_eq(fsched_frontier_print(&f.f, text, size), length);
    ck_assert_uint_eq(strlen(text), size - 1);
    ck_assert_int_eq(strncmp(text, expected, size - 1), 0);
    ck_assert_int_eq(text[size], 'x');
  }
}

START_TEST(print)
{
  char text[64];
  ck_assert_uint_eq(fsched_axis_print(0x01020300000000ff, text, sizeof text), 12);
  ck_assert_str_eq(text, "1.2.host.255");
  (void)fsched_axis_print(UINT64_MAX, text, sizeof text);
  ck_assert_str_eq(text, "255.255.255.1099511627775");
  check_print("-", false, "-");
  check_print("-", true, "- tainted");
  check_print("0x0100000000000005:3,0x0100010000000000:18446744073709551615", false,
              "1.0.queue.5:3 1.0.collective.0:18446744073709551615");
  check_print("0x0000020000000001:1", true, "0.0.epilogue.1:1 tainted");
}
END_TEST

/* Small domains, tested completely: 3 axes, epochs 0 (absent) to 3, capacities 1 to 3. */

/* Check's asserts write to a pipe each time; there are millions of these. */
#define holds(what) ((what) ? (void)0 : ck_abort_msg("does not hold: %s", #what))
#define equal(a, b) holds((a) == (b))

enum { SMALL_AXES = 3, SMALL_EPOCHS = 4, SMALL = 64 };

/* A frontier together with the truth: `exact` is what an unbounded one would hold.  It is honest if
 * its entries are no more than exact, and are all of it unless it is tainted. */
typedef struct frontier_small {
  fsched_frontier_entry at[SMALL_AXES];
  fsched_frontier f;
  uint32_t exact[SMALL_AXES];
} frontier_small;

static void small_clock(uint32_t number, uint32_t *clock) {
  for (uint32_t i = 0; i < SMALL_AXES; i++) {
    clock[i] = number % SMALL_EPOCHS;
    number /= SMALL_EPOCHS;
  }
}

/* Takes the entries of one clock and the truth of another; false when they do not go together. */
static bool small_make(frontier_small *x, uint32_t entries, uint32_t exact, bool tainted,
                       uint32_t capacity) {
  uint32_t held[SMALL_AXES];
  small_clock(entries, held);
  small_clock(exact, x->exact);
  x->f = (fsched_frontier){.entry = x->at, .capacity = SMALL_AXES, .tainted = tainted};
  for (uint32_t i = 0; i < SMALL_AXES; i++) {
    if (held[i] > x->exact[i]) {
      return false;
    }
    if (held[i] > 0) {
      x->at[x->f.n++] = (fsched_frontier_entry){10 + i, held[i]};
    }
  }
  x->f.capacity = capacity;
  return x->f.n <= capacity && (tainted || entries == exact);
}

static void small_copy(frontier_small *to, const frontier_small *from) {
  *to = *from;
  to->f.entry = to->at;
}

static bool covers(const uint32_t *a, const uint32_t *b) {
  return a[0] >= b[0] && a[1] >= b[1] && a[2] >= b[2];
}

static void exact_merge(uint32_t *a, const uint32_t *b) {
  for (uint32_t i = 0; i < SMALL_AXES; i++) {
    a[i] = a[i] > b[i] ? a[i] : b[i];
  }
}

static void assert_honest(const frontier_small *x) {
  uint32_t held[SMALL_AXES] = {0};
  equal(fsched_frontier_validate(&x->f), FSCHED_OK);
  for (uint32_t i = 0; i < x->f.n; i++) {
    held[x->at[i].axis - 10] = (uint32_t)x->at[i].epoch;
  }
  holds(covers(x->exact, held));
  holds(x->f.tainted || covers(held, x->exact));
}

static bool same(const frontier_small *a, const frontier_small *b) {
  return a->f.n == b->f.n && a->f.tainted == b->f.tainted &&
         memcmp(a->at, b->at, a->f.n * sizeof *a->at) == 0;
}

static void merged(frontier_small *to, const frontier_small *a, const frontier_small *b) {
  small_copy(to, a);
  fsched_frontier_merge(&to->f, &b->f);
}

START_TEST(small_laws)
{
  static frontier_small x[SMALL];
  for (uint32_t i = 0; i < SMALL; i++) {
    holds(small_make(&x[i], i, i, false, SMALL_AXES));
  }
  frontier_small ab, ba, abc, bc;
  for (uint32_t a = 0; a < SMALL; a++) {
    holds(fsched_frontier_dominates(&x[a].f, &x[a].f));
    merged(&ab, &x[a], &x[a]);
    holds(same(&ab, &x[a]));
    for (uint32_t b = 0; b < SMALL; b++) {
      merged(&ab, &x[a], &x[b]);
      merged(&ba, &x[b], &x[a]);
      holds(same(&ab, &ba));
      bool up = fsched_frontier_dominates(&x[a].f, &x[b].f);
      bool down = fsched_frontier_dominates(&x[b].f, &x[a].f);
      equal(up, covers(x[a].exact, x[b].exact)); /* exact when nothing is lost */
      holds(!(up && down) || a == b);
      equal(fsched_frontier_compare(&x[a].f, &x[b].f), up && down ? FSCHED_FRONTIER_EQUAL
                                                       : up       ? FSCHED_FRONTIER_AFTER
                                                       : down     ? FSCHED_FRONTIER_BEFORE
                                                                  : FSCHED_FRONTIER_CONCURRENT);
      for (uint32_t c = 0; c < SMALL; c++) {
        merged(&abc, &ab, &x[c]);
        merged(&bc, &x[b], &x[c]);
        merged(&ba, &x[a], &bc);
        holds(same(&abc, &ba));
        holds(!up || !fsched_frontier_dominates(&x[b].f, &x[c].f) ||
              fsched_frontier_dominates(&x[a].f, &x[c].f));
      }
    }
  }
}
END_TEST

/* Whatever is answered about two honest frontiers has to be true of the exact ones. */
static void check_answers(const frontier_small *a, const frontier_small *b) {
  fsched_frontier_order order = fsched_frontier_compare(&a->f, &b->f);
  bool up = fsched_frontier_dominates(&a->f, &b->f);
  bool a_covers = covers(a->exact, b->exact);
  bool b_covers = covers(b->exact, a->exact);
  holds(!up || a_covers);
  equal(fsched_frontier_satisfied(&b->f, &a->f), up);
  equal(order == FSCHED_FRONTIER_EQUAL || order == FSCHED_FRONTIER_AFTER, up);
  equal(order == FSCHED_FRONTIER_EQUAL || order == FSCHED_FRONTIER_BEFORE,
        fsched_frontier_dominates(&b->f, &a->f));
  holds(order != FSCHED_FRONTIER_EQUAL || (a_covers && b_covers));
  /* What the waiter knows and what it is told to wait for cover everything that is wanted. */
  fsched_frontier_entry out[SMALL_AXES];
  uint32_t n = fsched_frontier_undominated(&a->f, &b->f, out, SMALL_AXES);
  uint32_t then[SMALL_AXES];
  memcpy(then, a->exact, sizeof then);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *t = &then[out[i].axis - 10];
    *t = *t > out[i].epoch ? *t : (uint32_t)out[i].epoch;
  }
  holds(b->f.tainted || covers(then, b->exact));
  equal(up, !b->f.tainted && n == 0);
}

static void check_merge(const frontier_small *a, const frontier_small *b) {
  frontier_small x;
  small_copy(&x, a);
  int dominated = fsched_frontier_merge_dominated(&x.f, &b->f);
  holds(!dominated || covers(b->exact, a->exact));
  equal(dominated, fsched_frontier_dominates(&b->f, &a->f));
  exact_merge(x.exact, b->exact);
  assert_honest(&x);
  holds(x.f.tainted || (!a->f.tainted && !b->f.tainted));
}

static void check_raises(const frontier_small *a) {
  for (uint32_t i = 0; i < SMALL_AXES; i++) {
    for (uint32_t e = 1; e < SMALL_EPOCHS; e++) {
      frontier_small x;
      small_copy(&x, a);
      fsched_frontier_entry out = {0, 0};
      int left = fsched_frontier_raise(&x.f, (fsched_frontier_entry){10 + i, e}, &out);
      x.exact[i] = x.exact[i] > e ? x.exact[i] : e;
      assert_honest(&x);
      equal(left, out.epoch > 0);
      equal(x.f.tainted, a->f.tainted || left);
    }
  }
}

/* Honest frontiers, tainted on either side or both, stay honest, and no answer about them is
 * optimistic.  By induction this holds for sequences of any length. */
START_TEST(small_honesty)
{
  static frontier_small x[2 * SMALL * SMALL];
  for (uint32_t capacity = 1; capacity <= SMALL_AXES; capacity++) {
    uint32_t n = 0;
    for (uint32_t entries = 0; entries < SMALL; entries++) {
      for (uint32_t exact = 0; exact < SMALL; exact++) {
        n += small_make(&x[n], entries, exact, false, capacity);
        n += small_make(&x[n], entries, exact, true, capacity);
      }
    }
    ck_assert_uint_gt(n, 300);
    for (uint32_t i = 0; i < n; i++) {
      check_raises(&x[i]);
      for (uint32_t j = 0; j < n; j++) {
        check_answers(&x[i], &x[j]);
        check_merge(&x[i], &x[j]);
      }
    }
  }
}
END_TEST

FS_SUITE(frontier, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 20);
  FS_TESTS(t, axis_ranges, facts, random_against_maps, print, small_laws, small_honesty);
}
