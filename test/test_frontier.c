/* SPDX-License-Identifier: Apache-2.0 */
/* Axes and frontiers against the shared facts and against maps that are slow and plain. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "fsched/frontier.h"
#include "gen.h"

enum { MAX = 32, AXES = 8 };

typedef struct boxed {
  fsched_frontier_entry at[MAX];
  fsched_frontier f;
} boxed;

static void box(boxed *b, uint32_t capacity) {
  b->f = (fsched_frontier){.entry = b->at, .capacity = capacity};
}

static void boxed_parse(boxed *b, const char *text, uint32_t capacity) {
  box(b, capacity);
  for (const char *p = text; *p != '-' && *p != '\0';) {
    char *end;
    fsched_frontier_entry e;
    e.axis = strtoull(p, &end, 0);
    e.epoch = strtoull(end + 1, &end, 0);
    ck_assert_uint_lt(b->f.n, MAX);
    b->at[b->f.n++] = e;
    p = *end == ',' ? end + 1 : end;
  }
}

static void assert_equal(const fsched_frontier *a, const fsched_frontier *b, const char *what) {
  ck_assert_msg(a->n == b->n, "%s: %u entries, not %u", what, a->n, b->n);
  for (uint32_t i = 0; i < a->n; i++) {
    ck_assert_msg(a->entry[i].axis == b->entry[i].axis && a->entry[i].epoch == b->entry[i].epoch,
                  "%s: entry %u", what, i);
  }
}

/* Facts: `tag id op args => expected`. */

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
  if (v[3] > FSCHED_AXIS_MAX_ORDINAL) { /* elsewhere it wraps around; here it is refused */
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

/* Where a merge overflows there, the target stays as it was; here the smallest epochs leave. */
static void fact_merge(char **w, char **x, const char *id) {
  uint32_t capacity = (uint32_t)atoi(w[0]);
  boxed target, source, expected;
  boxed_parse(&target, w[1], capacity);
  boxed_parse(&source, w[2], MAX);
  boxed_parse(&expected, x[1], MAX);
  fsched_frontier_merge(&target.f, &source.f);
  ck_assert_int_eq(target.f.tainted, strcmp(x[0], "overflow") == 0);
  if (!target.f.tainted) {
    assert_equal(&target.f, &expected.f, id);
  }
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
  } else if (strcmp(op, "merge") == 0) {
    fact_merge(w, x, id);
  } else if (strcmp(op, "raise") == 0) {
    fact_raise(w, x, id);
  } else if (strcmp(op, "undominated") == 0) {
    fact_undominated(w, x, id);
  } else {
    return false;
  }
  return true;
}

/* Words of a line; `=>` splits them. */
static bool fact_line(char *line) {
  line[strcspn(line, "#\n")] = '\0';
  char *words[32] = {NULL};
  int n = 0;
  int arrow = 0;
  for (char *p = strtok(line, " "); p != NULL && n < 31; p = strtok(NULL, " ")) {
    arrow = strcmp(p, "=>") == 0 ? n : arrow;
    words[n++] = p;
  }
  /* U: observed elsewhere and unsound. */
  if (arrow < 3 || strlen(words[0]) != 1 || strchr("TXD", words[0][0]) == NULL) {
    return false;
  }
  return fact(words + 3, words + arrow + 1, words[2], words[1]);
}

START_TEST(facts)
{
  const char *shared = getenv("FSCHED_SHARED");
  char path[512];
  (void)snprintf(path, sizeof path, "%s/data/facts/frontier_vectors.txt",
                 shared == NULL ? "../shared" : shared);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    printf("skipped: no %s\n", path);
    return;
  }
  char line[4096];
  int n = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    n += fact_line(line);
  }
  (void)fclose(f);
  ck_assert_int_ge(n, 50);
}
END_TEST

/* A plain map, epoch 0 for absent. */
typedef struct plain {
  uint64_t epoch[AXES];
} plain;

static void random_plain(fs_rng *r, plain *p) {
  for (int i = 0; i < AXES; i++) {
    p->epoch[i] = fs_rng_one_in(r, 2) ? 0 : 1 + fs_rng_below(r, 5);
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

START_TEST(random_against_maps)
{
  fs_rng r = {42};
  for (int round = 0; round < 20000; round++) {
    plain a, b;
    random_plain(&r, &a);
    random_plain(&r, &b);
    boxed x, y, z;
    fill(&y, &b, AXES);
    fill(&x, &a, AXES);
    ck_assert_int_eq(fsched_frontier_dominates(&x.f, &y.f), plain_covers(&a, &b));
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

    uint32_t axis = fs_rng_below(&r, AXES);
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

Suite *fs_suite_frontier(void);
Suite *fs_suite_frontier(void) {
  Suite *s = suite_create("frontier");
  TCase *t = tcase_create("frontier");
  tcase_set_timeout(t, 20);
  tcase_add_test(t, axis_ranges);
  tcase_add_test(t, facts);
  tcase_add_test(t, random_against_maps);
  suite_add_tcase(s, t);
  return s;
}
