/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: the shared facts' scripts on semaphores, links, chains, waits and histories. */
#include <pthread.h>
#include <stdlib.h>

#include "fsched/semaphore.h"
#include "kit/facts_script.h"
#include "kit/suite.h"

enum { NAMES = 8, POINTS = 8 };

typedef struct semaphore_facts_named {
  fsched_timepoint point;
  char name[16];
  struct semaphore_facts_driver *d;
  fsched_semaphore *chain; /* the callback signals it */
  uint64_t chain_value;
} semaphore_facts_named;

typedef struct semaphore_facts_driver {
  fs_facts facts;
  struct {
    char name[16];
    fsched_semaphore *s;
  } sem[NAMES];
  uint32_t n_sems;
  semaphore_facts_named point[NAMES];
  uint32_t n_points;
  struct {
    char name[16];
    fsched_link *link;
  } link[NAMES];
  uint32_t n_links;
  fs_fired fired;
} semaphore_facts_driver;

static fsched_semaphore *find_sem(const semaphore_facts_driver *d, const char *name,
                                  size_t length) {
  for (uint32_t i = 0; i < d->n_sems; i++) {
    if (strlen(d->sem[i].name) == length && strncmp(d->sem[i].name, name, length) == 0) {
      return d->sem[i].s;
    }
  }
  ck_abort_msg("%s: no semaphore %s", d->facts.id, name);
  return NULL;
}

static fsched_semaphore *sem_word(const semaphore_facts_driver *d, int word) {
  return find_sem(d, d->facts.word[word], strlen(d->facts.word[word]));
}

static void called(fsched_timepoint *t, fsched_cause cause) {
  semaphore_facts_named *x = t->user;
  fs_fired_add(&x->d->fired, x->name, cause);
  if (x->chain != NULL && cause == FSCHED_CAUSE_NONE) {
    ck_assert_int_eq(fsched_semaphore_signal(x->chain, x->chain_value, NULL), FSCHED_OK);
  }
}

static void drive_sem(semaphore_facts_driver *d) {
  char **w = d->facts.word;
  fsched_semaphore_options o = {.size = sizeof o,
                                .initial = fs_facts_u64(w[2]),
                                .frontier_capacity = (uint32_t)fs_facts_u64(w[3])};
  ck_assert_uint_lt(d->n_sems, NAMES);
  (void)snprintf(d->sem[d->n_sems].name, sizeof d->sem[0].name, "%s", w[1]);
  ck_assert_int_eq(fsched_semaphore_create(&o, &d->sem[d->n_sems++].s), FSCHED_OK);
}

static void drive_raise(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  fsched_semaphore *s = sem_word(d, 1);
  uint64_t value = fs_facts_u64(f->word[2]);
  fsched_frontier_entry entry[FS_FACTS_ENTRIES];
  fsched_frontier known = fs_facts_frontier(f->word[3], entry);
  const fsched_frontier *k = strcmp(f->word[3], "null") == 0 ? NULL : &known;
  fsched_status status = fs_facts_is(f, "signal") ? fsched_semaphore_signal(s, value, k)
                         : fs_facts_is(f, "publish")
                             ? fsched_semaphore_publish(s, value, k)
                             : fsched_semaphore_signal_untainted(s, value, k);
  const char *name = status == FSCHED_OK ? "OK" : status == FSCHED_USAGE ? "INVALID_ARGUMENT" : "?";
  ck_assert_msg(strcmp(name, f->expected[0]) == 0, "%s: %s, not %s", f->id, name, f->expected[0]);
  bool listed = f->n_expected > 1;
  fs_fired_check(&d->fired, f->id, f->expected + 1, listed ? f->n_expected - 1 : 0);
}

/* Corrects the expectations of records marked U: what is published for the present value is kept
 * and trusted, and a link forwards its source's frontier. */
static void correct(fs_facts *f) {
  static char one[] = "1";
  static char seven[] = "0:7";
  static char ten[] = "10";
  static char axis_ten[] = "0:10";
  bool publish = strcmp(f->id, "sem.publish_old_value_drops_frontier") == 0;
  if ((publish || strcmp(f->id, "lnk.frontier_lost") == 0) && fs_facts_is(f, "frontier")) {
    ck_assert_int_eq(f->tag, 'U');
    f->expected[0] = one;
    f->expected[1] = publish ? seven : axis_ten;
  } else if (publish && fs_facts_is(f, "untainted")) {
    f->expected[0] = ten;
  }
}

static void check_entries(const fs_facts *f, const fsched_frontier_entry *at, uint32_t n,
                          const char *text) {
  fsched_frontier_entry entry[FS_FACTS_ENTRIES];
  fsched_frontier wanted = fs_facts_frontier(text, entry);
  ck_assert_msg(n == wanted.n, "%s: %u entries, not %u", f->id, n, wanted.n);
  ck_assert_int_eq(memcmp(at, entry, n * sizeof *at), 0);
}

static void drive_frontier(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  fsched_frontier_entry at[FS_FACTS_ENTRIES];
  uint32_t room = (uint32_t)fs_facts_u64(f->word[2]);
  uint32_t n = fsched_semaphore_frontier(sem_word(d, 1), at, room, NULL);
  ck_assert_msg(n == fs_facts_u64(f->expected[0]), "%s: %u entries", f->id, n);
  check_entries(f, at, n < room ? n : room, f->expected[1]);
}

static semaphore_facts_named *find_point(semaphore_facts_driver *d, const char *name) {
  for (uint32_t i = 0; i < d->n_points; i++) {
    if (strcmp(d->point[i].name, name) == 0) {
      return &d->point[i];
    }
  }
  ck_assert_uint_lt(d->n_points, NAMES);
  semaphore_facts_named *x = &d->point[d->n_points++];
  *x = (semaphore_facts_named){.point = {.callback = called, .user = x}, .d = d};
  (void)snprintf(x->name, sizeof x->name, "%s", name);
  return x;
}

static void drive_point(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  semaphore_facts_named *x = find_point(d, f->word[1]);
  if (fs_facts_is(f, "chain")) {
    x->chain = sem_word(d, 4);
    x->chain_value = fs_facts_u64(f->word[5]);
  }
  int pending;
  ck_assert_int_eq(
      fsched_semaphore_await(sem_word(d, 2), fs_facts_u64(f->word[3]), &x->point, &pending),
      FSCHED_OK);
  char text[64] = "pending";
  if (!pending) {
    ck_assert_int_eq(d->fired.n, 1);
    (void)snprintf(text, sizeof text, "fired:%s", fs_facts_cause_name(d->fired.at[0].cause));
  }
  ck_assert_msg(strcmp(text, f->expected[0]) == 0, "%s: %s, not %s", f->id, text, f->expected[0]);
}

static void drive_link(semaphore_facts_driver *d) {
  char **w = d->facts.word;
  ck_assert_uint_lt(d->n_links, NAMES);
  (void)snprintf(d->link[d->n_links].name, sizeof d->link[0].name, "%s", w[1]);
  ck_assert_int_eq(fsched_semaphore_link(sem_word(d, 2), fs_facts_u64(w[3]), sem_word(d, 4),
                                         fs_facts_u64(w[5]), &d->link[d->n_links++].link),
                   FSCHED_OK);
}

static void drive_release(semaphore_facts_driver *d) {
  for (uint32_t i = 0; i < d->n_sems; i++) {
    if (strcmp(d->sem[i].name, d->facts.word[1]) == 0) {
      fsched_semaphore_release(d->sem[i].s);
      d->sem[i].s = NULL;
    }
  }
}

/* Runs "S=V,S!STATUS" in a thread of its own. */
static void *during(void *user) {
  semaphore_facts_driver *d = user;
  for (char *p = d->facts.word[4]; *p != '\0' && *p != '-';) {
    size_t n = strcspn(p, "=!");
    fsched_semaphore *s = find_sem(d, p, n);
    size_t rest = strcspn(p + n, ",");
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)rest - 1, p + n + 1);
    if (p[n] == '=') {
      ck_assert_int_eq(fsched_semaphore_signal(s, fs_facts_u64(text), NULL), FSCHED_OK);
    } else {
      (void)fsched_semaphore_fail(s, fs_facts_cause(text));
    }
    p += n + rest;
    p += *p == ',';
  }
  return NULL;
}

static void drive_many(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  fsched_wait_point point[POINTS] = {0};
  uint32_t n = 0;
  for (const char *p = f->word[2]; *p != '-' && *p != '\0';) {
    size_t length = strcspn(p, ":");
    char *end;
    ck_assert_uint_lt(n, POINTS);
    point[n].semaphore = find_sem(d, p, length);
    point[n++].value = strtoull(p + length + 1, &end, 0);
    p = *end == ',' ? end + 1 : end;
  }
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, during, d), 0);
  fsched_wait_result r;
  bool all = strcmp(f->word[1], "ALL") == 0;
  ck_assert_int_eq(fsched_semaphore_wait_many(point, n, all ? FSCHED_WAIT_ALL : FSCHED_WAIT_ANY,
                                              fs_facts_u64(f->word[3]) * 1000000, &r),
                   FSCHED_OK);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_msg(r.cause == fs_facts_cause(f->expected[0]), "%s: %s", f->id,
                fs_facts_cause_name(r.cause));
}

static void expect_number(const fs_facts *f, uint64_t value) {
  ck_assert_msg(value == fs_facts_u64(f->expected[0]), "%s: %s is %llu", f->id, f->word[0],
                (unsigned long long)value);
}

static void drive_query(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  fsched_frontier_entry entry[FS_FACTS_ENTRIES];
  if (fs_facts_is(f, "value")) {
    expect_number(f, fsched_semaphore_value(sem_word(d, 1)));
  } else if (fs_facts_is(f, "status")) {
    ck_assert_int_eq(fsched_semaphore_cause(sem_word(d, 1)), fs_facts_cause(f->expected[0]));
  } else if (fs_facts_is(f, "tainted")) {
    expect_number(f, (uint64_t)fsched_semaphore_tainted(sem_word(d, 1), fs_facts_u64(f->word[2])));
  } else if (fs_facts_is(f, "untainted")) {
    expect_number(f, fsched_semaphore_untainted(sem_word(d, 1)));
  } else if (fs_facts_is(f, "taint_above")) {
    expect_number(f, fsched_semaphore_taint_above(sem_word(d, 1), fs_facts_u64(f->word[2])));
  } else if (fs_facts_is(f, "merge_only")) {
    fsched_frontier known = fs_facts_frontier(f->word[2], entry);
    expect_number(f, (uint64_t)fsched_semaphore_merge(sem_word(d, 1), &known));
  } else if (fs_facts_is(f, "cancel_tp")) {
    /* There is one semaphore in these scripts. */
    expect_number(
        f, (uint64_t)fsched_semaphore_cancel(d->sem[0].s, &find_point(d, f->word[1])->point));
  } else {
    ck_abort_msg("%s: unknown command %s", f->id, f->word[0]);
  }
}

static void drive_command(semaphore_facts_driver *d) {
  fs_facts *f = &d->facts;
  d->fired.n = 0;
  correct(f);
  if (fs_facts_is(f, "sem")) {
    drive_sem(d);
  } else if (strncmp(f->word[0], "signal", 6) == 0 || fs_facts_is(f, "publish")) {
    drive_raise(d);
  } else if (fs_facts_is(f, "frontier")) {
    drive_frontier(d);
  } else if (fs_facts_is(f, "tp") || fs_facts_is(f, "chain")) {
    drive_point(d);
  } else if (fs_facts_is(f, "link")) {
    drive_link(d);
  } else if (fs_facts_is(f, "release") || fs_facts_is(f, "failsem")) {
    if (fs_facts_is(f, "release")) {
      drive_release(d);
    } else {
      (void)fsched_semaphore_fail(sem_word(d, 1), fs_facts_cause(f->word[2]));
    }
    fs_fired_check(&d->fired, f->id, f->expected, f->n_expected);
  } else if (fs_facts_is(f, "mwait")) {
    drive_many(d);
  } else {
    drive_query(d);
  }
}

static bool wanted(const char *id) {
  static const char *const prefixes[] = {"sem.", "lnk.", "chn.", "mw."};
  for (uint32_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (strncmp(id, prefixes[i], strlen(prefixes[i])) == 0) {
      return true;
    }
  }
  return false;
}

START_TEST(scripts)
{
  semaphore_facts_driver d = {0};
  if (!fs_facts_open(&d.facts)) {
    return;
  }
  int n = 0;
  while (fs_facts_script(&d.facts)) {
    if (!wanted(d.facts.id)) {
      continue;
    }
    d.n_sems = d.n_points = d.n_links = 0;
    while (fs_facts_command(&d.facts)) {
      drive_command(&d);
    }
    for (uint32_t i = 0; i < d.n_links; i++) {
      (void)fsched_semaphore_unlink(d.link[i].link);
    }
    for (uint32_t i = 0; i < d.n_sems; i++) {
      fsched_semaphore_release(d.sem[i].s);
    }
    n++;
  }
  fs_facts_close(&d.facts);
  ck_assert_int_eq(n, 34); /* all that there are */
}
END_TEST

/* Signals "V=F;V=F" in turn, and then checks what a wait for a value learns. */
static void drive_history(const fs_facts *f) {
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(NULL, &s), FSCHED_OK);
  char *save;
  for (char *p = strtok_r(f->word[1], ";", &save); p != NULL; p = strtok_r(NULL, ";", &save)) {
    char *end;
    uint64_t value = strtoull(p, &end, 0);
    fsched_frontier_entry entry[FS_FACTS_ENTRIES];
    fsched_frontier known = fs_facts_frontier(end + 1, entry);
    ck_assert_int_eq(fsched_semaphore_signal(s, value, &known), FSCHED_OK);
  }
  fsched_frontier_entry at[FS_FACTS_ENTRIES];
  fsched_frontier learnt = {.entry = at, .capacity = FS_FACTS_ENTRIES};
  fsched_status status = fsched_semaphore_learn(s, fs_facts_u64(f->word[2]), &learnt);
  bool none = strcmp(f->expected[0], "none") == 0;
  ck_assert_int_eq(status, none ? FSCHED_INFEASIBLE : FSCHED_OK);
  check_entries(f, at, learnt.n, none ? "-" : f->expected[0]);
  ck_assert_int_eq(learnt.tainted, 0);
  fsched_semaphore_release(s);
}

START_TEST(histories)
{
  fs_facts f;
  if (!fs_facts_open(&f)) {
    return;
  }
  int n = 0;
  while (fs_facts_record(&f)) {
    if (strncmp(f.id, "hist.", 5) == 0) {
      drive_history(&f);
      n++;
    }
  }
  fs_facts_close(&f);
  ck_assert_int_eq(n, 2); /* all that there are */
}
END_TEST

FS_SUITE(semaphore_facts, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, scripts, histories);
}
