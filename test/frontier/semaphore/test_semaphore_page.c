/* SPDX-License-Identifier: Apache-2.0 */
/* The page of system-wide semaphores: its history, reused and amended, seen through several
 * handles; forks; and other processes that stop, die or change it without end, which the tests do
 * by writing the page's words themselves. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontier/semaphore/private.h"
#include "frontier/semaphore/semaphore_checks.h"
#include "kit/suite.h"

enum { VALUE_AT = 64, SLEEPERS_AT = 132, SLOTS_AT = 256, SYSTEM_PAGE = 4096 };

static unsigned char *bytes_of(fsched_semaphore *s) { return (unsigned char *)s->shared.page; }

static _Atomic uint64_t *value_of(fsched_semaphore *s) {
  return (_Atomic uint64_t *)(void *)(bytes_of(s) + VALUE_AT);
}

static fsched_status publish(fsched_semaphore *s, uint64_t value, fsched_axis axis,
                             uint64_t epoch) {
  fsched_frontier_entry e = {axis, epoch};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  return fsched_semaphore_publish(s, value, &f);
}

/* The whole frontier has to be the entries {i: epoch[i]}, 0 for none. */
static void expect_whole(fsched_semaphore *s, const uint64_t *epoch, uint32_t n, int lossy) {
  fsched_frontier_entry at[8];
  int has_lost;
  uint32_t count = fsched_semaphore_frontier(s, at, 8, &has_lost);
  uint32_t k = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (epoch[i] > 0) {
      ck_assert_uint_lt(k, count);
      ck_assert_uint_eq(at[k].axis, i);
      ck_assert_uint_eq(at[k++].epoch, epoch[i]);
    }
  }
  ck_assert_uint_eq(count, k);
  ck_assert_int_eq(has_lost, lossy);
}

/* A wait for the value has to learn one entry, or nothing and taint (epoch 0). */
static void expect_one(fsched_semaphore *s, uint64_t value, uint64_t epoch) {
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, value, fs_room_clear(&r)), FSCHED_OK);
  if (r.f.n != (epoch > 0) || r.f.tainted != (epoch == 0) ||
      (epoch > 0 && r.entry[0].epoch != epoch)) {
    ck_abort_msg("value %u: %u entries, the first %u, not %u", (unsigned)value, r.f.n,
                 (unsigned)r.entry[0].epoch, (unsigned)epoch);
  }
}

/* Wake-ups that never come */

static void note_cause(fsched_timepoint *t, fsched_cause cause) {
  atomic_store((_Atomic fsched_cause *)t->user, cause);
}

static void *sleep_for_five(void *user) {
  fsched_wait_point p = {.semaphore = user, .value = 5};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  ck_assert_int_eq(r.cause, FSCHED_CAUSE_NONE);
  return NULL;
}

/* This is as if the process that raised the value had died before it could wake anybody. */
START_TEST(raised_without_a_wake)
{
  fsched_semaphore *s = fs_sem_make_shared(1, 4);
  _Atomic fsched_cause cause = 99;
  fsched_timepoint t = {.callback = note_cause, .user = &cause};
  pthread_t thread;
  if (_i == 0) {
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_for_five, s), 0);
  } else {
    ck_assert_int_eq(fsched_semaphore_await(s, 5, &t, NULL), FSCHED_OK);
  }
  const _Atomic uint32_t *sleepers = (const void *)(bytes_of(s) + SLEEPERS_AT);
  while (atomic_load(sleepers) == 0) {
    (void)sched_yield();
  }
  atomic_store(value_of(s), 5);
  if (_i == 0) {
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
  }
  while (_i == 1 && atomic_load(&cause) == 99) {
    (void)sched_yield();
  }
  fsched_semaphore_release(s);
}
END_TEST

/* Forks */

/* Does what a child may do with what it inherits; returns 0, or the number of what went wrong. */
static int use_inherited(fsched_semaphore *s, fsched_semaphore *local) {
  fsched_frontier_entry e = {1, 2};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  fsched_timepoint t = {.callback = note_cause};
  fsched_wait_point p = {.semaphore = s, .value = 1};
  fsched_wait_result r;
  int lossy = 0;
  bool wrong[] = {fsched_semaphore_value(s) != 3,
                  fsched_semaphore_cause(s) != FSCHED_CAUSE_NONE,
                  fsched_semaphore_reached(s, 3) == 0,
                  fsched_semaphore_signal(s, 9, &f) != FSCHED_USAGE,
                  fsched_semaphore_signal_untainted(s, 9, &f) != FSCHED_USAGE,
                  fsched_semaphore_publish(s, 9, &f) != FSCHED_USAGE,
                  fsched_semaphore_learn(s, 3, &f) != FSCHED_USAGE,
                  fsched_semaphore_await(s, 3, &t, NULL) != FSCHED_USAGE,
                  fsched_semaphore_cancel(s, &t) != 0,
                  fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, 0, &r) != FSCHED_USAGE,
                  fsched_semaphore_link(s, 9, local, 9, NULL) != FSCHED_USAGE,
                  fsched_semaphore_link(local, 9, s, 9, NULL) != FSCHED_USAGE,
                  fsched_semaphore_merge(s, &f) != 0,
                  fsched_semaphore_fail(s, 5) != 0,
                  fsched_semaphore_frontier(s, &e, 1, &lossy) != 0 || lossy == 0};
  for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++) {
    if (wrong[i]) {
      return i + 1;
    }
  }
  fsched_semaphore_advance_external(s, 9);
  fsched_semaphore_poll(s);
  (void)fsched_semaphore_taint_above(s, 0);
  int fd;
  fsched_semaphore *own;
  if (fsched_semaphore_export(s, &fd) != FSCHED_OK ||
      fsched_semaphore_import(NULL, fd, &own) != FSCHED_OK) {
    return 50;
  }
  fsched_semaphore_release(s);
  if (fsched_semaphore_value(own) != 3 || fsched_semaphore_signal(own, 7, &f) != FSCHED_OK) {
    return 51;
  }
  fsched_semaphore_release(own);
  return 0;
}

START_TEST(inherited_by_a_child)
{
  if (_i == 1) {
    fs_process_without_page();
  }
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  fsched_semaphore *local = fs_sem_make(2, 4);
  _Atomic fsched_cause cause = 99;
  fsched_timepoint t = {.callback = note_cause, .user = &cause};
  ck_assert_int_eq(fsched_semaphore_await(s, 7, &t, NULL), FSCHED_OK); /* a watching thread */
  ck_assert_int_eq(publish(s, 3, 1, 1), FSCHED_OK);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    _exit(use_inherited(s, local));
  }
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
  fsched_wait_point p = {.semaphore = s, .value = 7};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  ck_assert_uint_eq(fsched_semaphore_value(s), 7);
  ck_assert_uint_eq(fsched_semaphore_untainted(s), 3);
  while (atomic_load(&cause) == 99) {
    (void)sched_yield();
  }
  fsched_semaphore_release(s);
  fsched_semaphore_release(local);
}
END_TEST

/* What several handles attach */

START_TEST(whole_of_all_handles)
{
  fsched_semaphore *a = fs_sem_make_shared(4, 3);
  fsched_semaphore *b = fs_sem_another(a);
  fs_sem_signal(b, 1, 0, 10); /* nobody vouches for it */
  ck_assert_int_eq(publish(b, 2, 1, 20), FSCHED_OK);
  expect_whole(a, (uint64_t[]){10, 20}, 2, 0);
  expect_whole(b, (uint64_t[]){10, 20}, 2, 0);
  ck_assert_int_eq(publish(a, 3, 0, 11), FSCHED_OK);
  expect_whole(b, (uint64_t[]){11, 20}, 2, 0);
  /* This is for a value that both have seen. */
  ck_assert_int_eq(publish(b, 2, 2, 30), FSCHED_OK);
  expect_whole(a, (uint64_t[]){11, 20, 30}, 3, 0);
  /* A handle made late sees what is in the history. */
  fsched_semaphore *late = fs_sem_another(a);
  expect_whole(late, (uint64_t[]){11, 20, 30}, 3, 0);
  fs_sem_signal(a, 4, 0, 12);
  fsched_semaphore *later = fs_sem_another(a);
  expect_whole(later, (uint64_t[]){12, 20, 30}, 3, 1); /* the first signal is not there */
  expect_whole(late, (uint64_t[]){12, 20, 30}, 3, 0);
  /* This is for a value that no signal had: a handle that has not published it lacks the entry, and
   * knows that. */
  ck_assert_int_eq(publish(b, 1, 3, 40), FSCHED_OK);
  expect_whole(b, (uint64_t[]){12, 20, 30, 40}, 4, 1);
  expect_whole(a, (uint64_t[]){12, 20, 30}, 3, 1);
  fsched_semaphore_release(later);
  fsched_semaphore_release(late);
  fsched_semaphore_release(b);
  fsched_semaphore_release(a);
}
END_TEST

/* A signal that fails leaves nothing behind. */
START_TEST(loser_attaches_nothing)
{
  fsched_semaphore *a = fs_sem_make_shared(4, 3);
  atomic_store(value_of(a), 5);
  fsched_frontier_entry e = {0, 1};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_signal(a, 5, &f), FSCHED_USAGE);
  expect_whole(a, (uint64_t[]){0}, 1, 1); /* the signal of 5 is not there */
  fsched_semaphore_release(a);
}
END_TEST

/* The content of a slot that is not marked as a winner's reaches nobody, neither in the history nor
 * in the whole. */
START_TEST(only_winners_are_followed)
{
  enum { WON_AT = SLOTS_AT + 16 };
  fsched_semaphore *a = fs_sem_make_shared(4, 3);
  ck_assert_int_eq(publish(a, 1, 0, 10), FSCHED_OK);
  ck_assert_int_eq(publish(a, 2, 1, 20), FSCHED_OK);
  _Atomic uint64_t *won = (void *)(bytes_of(a) + WON_AT);
  ck_assert_uint_eq(atomic_exchange(won, 0), 1); /* the first ticket */
  fsched_semaphore *late = fs_sem_another(a);
  expect_whole(late, (uint64_t[]){0, 20}, 2, 1);
  expect_one(late, 1, 0);
  expect_one(late, 2, 20);
  fsched_semaphore_release(late);
  fsched_semaphore_release(a);
}
END_TEST

/* Amending */

START_TEST(amending_takes_no_slot)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  for (uint64_t v = 1; v <= 4; v++) {
    ck_assert_int_eq(publish(s, v, 1, v), FSCHED_OK);
  }
  for (uint64_t i = 1; i <= 100; i++) {
    ck_assert_int_eq(publish(s, 4, 2, i), FSCHED_OK);
    ck_assert_int_eq(fsched_semaphore_publish(s, 3, NULL), FSCHED_OK);
  }
  for (uint64_t v = 1; v <= 3; v++) {
    expect_one(s, v, v);
  }
  fs_room r;
  ck_assert_int_eq(fsched_semaphore_learn(s, 4, fs_room_clear(&r)), FSCHED_OK);
  ck_assert_uint_eq(r.f.n, 2);
  ck_assert_uint_eq(r.entry[1].epoch, 100);
  fsched_semaphore_release(s);
}
END_TEST

enum { AMENDERS = 2, AMENDS = 32, ROUNDS = 300 };

typedef struct amender {
  fsched_semaphore *s;
  _Atomic uint32_t *arrived;
  uint32_t id;
} amender;

static void *amend_all(void *user) {
  amender *a = user;
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    (void)atomic_fetch_add(a->arrived, 1);
    while (atomic_load(a->arrived) < AMENDERS * (2 * round - 1)) {
      (void)sched_yield();
    }
    for (uint32_t i = 0; i < AMENDS; i++) {
      if (publish(a->s, round, AMENDERS * i + a->id, round) != FSCHED_OK) {
        ck_abort_msg("not published");
      }
    }
    (void)atomic_fetch_add(a->arrived, 1);
    while (atomic_load(a->arrived) < AMENDERS * 2 * round) {
      (void)sched_yield();
    }
  }
  return NULL;
}

/* Two threads publish for one value at once, on different axes: neither entry is lost. */
START_TEST(amended_at_once)
{
  fsched_semaphore *s =
      fs_sem_make_shared(AMENDERS * AMENDS, AMENDERS * ROUNDS); /* losers take slots too */
  _Atomic uint32_t arrived = 0;
  amender a[AMENDERS];
  pthread_t thread[AMENDERS];
  for (uint32_t i = 0; i < AMENDERS; i++) {
    a[i] = (amender){fs_sem_another(s), &arrived, i};
    ck_assert_int_eq(pthread_create(&thread[i], NULL, amend_all, &a[i]), 0);
  }
  for (uint32_t i = 0; i < AMENDERS; i++) {
    ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    fsched_semaphore_release(a[i].s);
  }
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    fsched_frontier_entry e[AMENDERS * AMENDS];
    fsched_frontier f = {.entry = e, .capacity = AMENDERS * AMENDS};
    ck_assert_int_eq(fsched_semaphore_learn(s, round, &f), FSCHED_OK);
    ck_assert_int_eq(f.tainted, 0);
    ck_assert_uint_eq(f.n, AMENDERS * AMENDS);
    ck_assert_uint_eq(e[0].epoch, round);
  }
  fsched_semaphore_release(s);
}
END_TEST

/* A process that stopped or died while it amended does not block others for ever. */
START_TEST(amender_stopped)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  ck_assert_int_eq(publish(s, 1, 1, 1), FSCHED_OK);
  _Atomic uint64_t *sequence = (void *)(bytes_of(s) + SLOTS_AT);
  (void)atomic_fetch_add(sequence, 1);
  expect_one(s, 1, 0);
  ck_assert_int_eq(publish(s, 1, 2, 2), FSCHED_SYSTEM);
  ck_assert_int_eq(publish(s, 2, 1, 2), FSCHED_OK);
  expect_one(s, 2, 2);
  (void)atomic_fetch_add(sequence, 1); /* the process goes on */
  expect_one(s, 1, 1);
  fsched_semaphore_release(s);
}
END_TEST

/* A page that changes under every attempt */

static struct {
  unsigned char *page;
  size_t size;
  uint32_t changes;
} hostile;

/* Every attempt to write a slot finds afterwards that the value has changed. */
static void change_value(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  size_t at = (size_t)((unsigned char *)info->si_addr - hostile.page);
  if (at < SYSTEM_PAGE || at >= hostile.size ||
      mprotect(hostile.page + at / SYSTEM_PAGE * SYSTEM_PAGE, SYSTEM_PAGE,
               PROT_READ | PROT_WRITE) != 0) {
    _exit(99);
  }
  hostile.changes++;
  (void)atomic_fetch_add((_Atomic uint64_t *)(void *)(hostile.page + VALUE_AT), 1);
}

START_TEST(value_changed_without_end)
{
  enum { HISTORY = 5000, WIDE = 1024 };
  fsched_semaphore *s = fs_sem_make_shared(WIDE, HISTORY);
  /* This makes the slot's first page of memory present. */
  ck_assert_int_eq(publish(s, 1, 1, 1), FSCHED_OK);
  hostile.page = bytes_of(s);
  hostile.size = s->shared.size_bytes;
  struct sigaction act = {.sa_sigaction = change_value, .sa_flags = SA_SIGINFO};
  struct sigaction old;
  ck_assert_int_eq(sigaction(SIGSEGV, &act, &old), 0);
  ck_assert_int_eq(mprotect(hostile.page + SYSTEM_PAGE, hostile.size - SYSTEM_PAGE, PROT_NONE), 0);
  if (_i == 0) {
    ck_assert_int_eq(publish(s, UINT64_MAX, 2, 2), FSCHED_SYSTEM);
    ck_assert_int_eq(fsched_semaphore_cause(s), FSCHED_CAUSE_NONE);
  } else {
    fsched_semaphore_advance_external(s, UINT64_MAX);
    ck_assert_int_eq(fsched_semaphore_cause(s), FSCHED_CAUSE_SYSTEM);
  }
  ck_assert_uint_gt(hostile.changes, 1000);
  ck_assert_uint_lt(fsched_semaphore_value(s), UINT64_MAX);
  ck_assert_int_eq(
      mprotect(hostile.page + SYSTEM_PAGE, hostile.size - SYSTEM_PAGE, PROT_READ | PROT_WRITE), 0);
  ck_assert_int_eq(sigaction(SIGSEGV, &old, NULL), 0);
  ck_assert_int_eq(publish(s, UINT64_MAX, 2, 2), FSCHED_OK);
  fsched_semaphore_release(s);
}
END_TEST

/* Slots used again */

/* Signals are 3, 6, 9 ...  `last`: returns the value of the one that a wait for `value` learns of;
 * 0: it is forgotten. */
static uint64_t signal_of(uint64_t value, uint64_t last, uint32_t history) {
  uint64_t signalled = (value + 2) / 3 * 3;
  return signalled + 3 * (uint64_t)history > last ? signalled : 0;
}

START_TEST(slots_used_again)
{
  enum { HISTORY = 3, LAST = 60 };
  fsched_semaphore *s = _i == 0 ? fs_sem_make(2, HISTORY) : fs_sem_make_shared(2, HISTORY);
  fsched_semaphore *other = _i == 0 ? s : fs_sem_another(s);
  for (uint64_t v = 3; v <= LAST; v += 3) {
    fs_sem_signal(v % 2 == 0 ? s : other, v, 1, v);
    for (uint64_t w = 1; w <= v; w++) {
      expect_one(s, w, signal_of(w, v, HISTORY));
      expect_one(other, w, signal_of(w, v, HISTORY));
    }
  }
  if (other != s) {
    fsched_semaphore_release(other);
  }
  fsched_semaphore_release(s);
}
END_TEST

enum { ENTRIES = 256, SIGNALS = 20000 };

/* Every signal of v brings {0: v, 1: v, ...}. */
static int signal_all(fsched_semaphore *s) {
  for (uint64_t v = 1; v <= SIGNALS; v++) {
    fsched_frontier_entry e[ENTRIES];
    for (uint32_t i = 0; i < ENTRIES; i++) {
      e[i] = (fsched_frontier_entry){i, v};
    }
    fsched_frontier f = {.entry = e, .n = ENTRIES, .capacity = ENTRIES};
    if (fsched_semaphore_signal(s, v, &f) != FSCHED_OK) {
      return 1;
    }
  }
  return 0;
}

/* Whether everything learnt is of that value; false when nothing was learnt. */
static bool learn_exactly(fsched_semaphore *s, uint64_t value) {
  fsched_frontier_entry e[ENTRIES];
  fsched_frontier f = {.entry = e, .capacity = ENTRIES};
  ck_assert_int_eq(fsched_semaphore_learn(s, value, &f), FSCHED_OK);
  ck_assert_uint_eq(f.n, f.tainted ? 0 : ENTRIES);
  for (uint32_t i = 0; i < f.n; i++) {
    if (e[i].axis != i || e[i].epoch != value) {
      ck_abort_msg("value %u learns of %u", (unsigned)value, (unsigned)e[i].epoch);
    }
  }
  return f.n > 0;
}

/* One process writes the few slots over and over, the other reads them. */
START_TEST(slots_used_again_by_another_process)
{
  uint32_t history = 1 + (uint32_t)_i;
  fsched_semaphore *s = fs_sem_make_shared(ENTRIES, history);
  int fd;
  ck_assert_int_eq(fsched_semaphore_export(s, &fd), FSCHED_OK);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    fsched_semaphore *own;
    _exit(fsched_semaphore_import(NULL, fd, &own) != FSCHED_OK ? 2 : signal_all(own));
  }
  (void)close(fd);
  for (uint64_t value = 0; value < SIGNALS;) {
    value = fsched_semaphore_value(s);
    for (uint64_t back = 0; back < 3 && back < value; back++) {
      (void)learn_exactly(s, value - back);
    }
  }
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
  for (uint32_t back = 0; back < 3; back++) {
    ck_assert_int_eq(learn_exactly(s, SIGNALS - back), back < history);
  }
  fsched_semaphore_release(s);
}
END_TEST

/* A look at all signals of a long history does not take the square of their number, which would be
 * minutes. */
START_TEST(long_history)
{
  enum { LONG = FS_PAGE_MAX_SLOTS };
  fsched_semaphore *a = fs_sem_make_shared(1, LONG);
  fsched_semaphore *b = fs_sem_another(a);
  for (uint64_t v = 1; v <= LONG; v++) {
    ck_assert_int_eq(publish(a, v, 0, v), FSCHED_OK);
  }
  fsched_semaphore_poll(b);
  ck_assert_uint_eq(fsched_semaphore_untainted(b), LONG);
  expect_whole(b, (uint64_t[]){LONG}, 1, 0);
  expect_one(b, 1, 1);
  expect_one(b, LONG, LONG);
  fsched_semaphore_release(b);
  fsched_semaphore_release(a);
}
END_TEST

FS_SUITE(semaphore_page, s) {
  TCase *t = fs_case(s, NULL);
  FS_LOOPS(t, 0, 2, raised_without_a_wake, inherited_by_a_child, value_changed_without_end,
           slots_used_again, slots_used_again_by_another_process);
  FS_TESTS(t, whole_of_all_handles, loser_attaches_nothing, only_winners_are_followed,
           amending_takes_no_slot, amended_at_once, amender_stopped, long_history);
}
