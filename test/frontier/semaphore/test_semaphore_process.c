/* SPDX-License-Identifier: Apache-2.0 */
/* System-wide semaphores: two processes, their failures and deaths, and pages full of nonsense.
 * The child reports by its exit status: 0, or which of its expectations did not hold. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontier/semaphore/semaphore_checks.h"
#include "fsched/semaphore.h"
#include "kit/gen.h"
#include "kit/suite.h"

enum { TURNS = 1000, DEATHS = 40, SLOTS_AT = 256, MANGLED = 300, AXIS = 7 };
enum { AT_PREVIOUS = 3, AT_VALUE, AT_INFO, AT_EPOCH = 7, SLOT_WORDS = 10 };

static int export(fsched_semaphore *s) {
  int fd;
  ck_assert_int_eq(fsched_semaphore_export(s, &fd), FSCHED_OK);
  return fd;
}

/* Another handle on the same page, as another process would have it. */
static fsched_semaphore *open_again(fsched_semaphore *s) {
  int fd = export(s);
  fsched_semaphore *other;
  ck_assert_int_eq(fsched_semaphore_import(NULL, fd, &other), FSCHED_OK);
  ck_assert_int_eq(close(fd), 0);
  return other;
}

static fsched_status raise_to(fsched_semaphore *s, uint64_t value, bool trusted) {
  fsched_frontier_entry e = {AXIS, value};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  return trusted ? fsched_semaphore_signal_untainted(s, value, &f)
                 : fsched_semaphore_signal(s, value, &f);
}

/* Waits for the value; returns whether exactly its own frontier came with it. */
static bool wait_exact(fsched_semaphore *s, uint64_t value) {
  fsched_frontier_entry e[2];
  fsched_frontier known = {.entry = e, .capacity = 2};
  fsched_wait_point p = {.semaphore = s, .value = value, .known = &known};
  fsched_wait_result r;
  return fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r) == FSCHED_OK &&
         r.cause == FSCHED_CAUSE_NONE && known.n == 1 && e[0].epoch == value && !known.tainted;
}

/* Starts a child that runs `body` on semaphores imported from the descriptors. */
static pid_t spawn(int (*body)(fsched_semaphore **s), fsched_semaphore **own, uint32_t n) {
  int fd[3];
  for (uint32_t i = 0; i < n; i++) {
    fd[i] = export(own[i]);
  }
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    fsched_semaphore *s[3];
    for (uint32_t i = 0; i < n; i++) {
      if (fsched_semaphore_import(NULL, fd[i], &s[i]) != FSCHED_OK) {
        _exit(100);
      }
    }
    int result = body(s);
    for (uint32_t i = 0; i < n; i++) {
      fsched_semaphore_release(s[i]);
    }
    _exit(result);
  }
  for (uint32_t i = 0; i < n; i++) {
    (void)close(fd[i]);
  }
  return pid;
}

static void expect_exit(pid_t pid) {
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_msg(WIFEXITED(status), "the child was killed");
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* To and fro */

static int answer(fsched_semaphore **s) {
  for (uint64_t v = 1; v <= TURNS; v++) {
    if (!wait_exact(s[0], v)) {
      return 1;
    }
    if (raise_to(s[1], v, true) != FSCHED_OK) {
      return 2;
    }
  }
  return 0;
}

START_TEST(to_and_fro)
{
  fsched_semaphore *s[2] = {fs_sem_make_shared(2, 4), fs_sem_make_shared(2, 4)};
  pid_t pid = spawn(answer, s, 2);
  for (uint64_t v = 1; v <= TURNS; v++) {
    ck_assert_int_eq(raise_to(s[0], v, true), FSCHED_OK);
    ck_assert(wait_exact(s[1], v));
    ck_assert_uint_eq(fsched_semaphore_value(s[1]), v);
    ck_assert_uint_eq(fsched_semaphore_untainted(s[1]), v); /* its frontier came with it */
  }
  expect_exit(pid);
  fsched_semaphore_release(s[0]);
  fsched_semaphore_release(s[1]);
}
END_TEST

/* What the other side sees of a failure */

static int fail_after(fsched_semaphore **s) {
  for (uint64_t v = 1; v <= 3; v++) {
    if (raise_to(s[0], v, false) != FSCHED_OK) {
      return 1;
    }
  }
  if (!fsched_semaphore_fail(s[0], 42)) {
    return 2;
  }
  return raise_to(s[0], 9, false) == FSCHED_OK ? 0 : 3; /* this has no effect any more */
}

START_TEST(failure_of_the_other)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 8);
  pid_t pid = spawn(fail_after, &s, 1);
  fsched_wait_point p = {.semaphore = s, .value = 4};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  ck_assert_int_eq(r.cause, 42);
  expect_exit(pid);
  for (uint64_t v = 1; v <= 3; v++) {
    ck_assert(wait_exact(s, v));
  }
  ck_assert_int_eq(fsched_semaphore_reached(s, 4), 0);
  ck_assert_uint_eq(fsched_semaphore_value(s), 9);
  ck_assert_int_eq(fsched_semaphore_cause(s), 42);
  ck_assert_int_eq(fsched_semaphore_fail(s, 43), 0);
  fsched_semaphore *late = open_again(s);
  ck_assert(wait_exact(late, 3));
  ck_assert_int_eq(fsched_semaphore_reached(late, 4), 0);
  ck_assert_int_eq(fsched_semaphore_cause(late), 42);
  fsched_semaphore_release(late);
  fsched_semaphore_release(s);
}
END_TEST

/* Death */

static int signal_for_ever(fsched_semaphore **s) {
  for (uint64_t v = 1;; v++) {
    if (raise_to(s[0], v, true) != FSCHED_OK) {
      return 1;
    }
  }
}

static void note_cause(fsched_timepoint *t, fsched_cause cause) {
  *(fsched_cause *)t->user = cause;
}

START_TEST(death_of_the_other)
{
  for (uint64_t round = 1; round <= DEATHS; round++) {
    fsched_semaphore *s = fs_sem_make_shared(2, 4);
    fsched_cause cause = 99;
    fsched_timepoint t = {.callback = note_cause, .user = &cause};
    ck_assert_int_eq(fsched_semaphore_await(s, UINT64_MAX, &t, NULL), FSCHED_OK);
    pid_t pid = spawn(signal_for_ever, &s, 1);
    fsched_wait_point p = {.semaphore = s, .value = round};
    fsched_wait_result r;
    ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                     FSCHED_OK);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    /* What the child published is whole, unless it died before it could mark the last signal as its
     * own; and everything goes on. */
    uint64_t value = fsched_semaphore_value(s);
    ck_assert_uint_ge(value, round);
    fs_room room;
    ck_assert_int_eq(fsched_semaphore_learn(s, value, fs_room_clear(&room)), FSCHED_OK);
    ck_assert(room.f.tainted || (room.f.n == 1 && room.entry[0].epoch == value));
    ck_assert_int_eq(raise_to(s, value + 1, true), FSCHED_OK);
    ck_assert(wait_exact(s, value + 1));
    ck_assert_int_eq(fsched_semaphore_cause(s), FSCHED_CAUSE_NONE);
    ck_assert_int_eq(fsched_semaphore_fail(s, FSCHED_CAUSE_SYSTEM), 1);
    fsched_semaphore_release(s); /* waits for the thread that may be calling */
    ck_assert_int_eq(cause, FSCHED_CAUSE_SYSTEM);
  }
}
END_TEST

/* Callbacks, links and waits on several, let go by the other process */

static int signal_three(fsched_semaphore **s) {
  for (uint32_t i = 0; i < 3; i++) {
    if (raise_to(s[i], 1 + i, false) != FSCHED_OK) {
      return 1;
    }
  }
  return 0;
}

START_TEST(let_go_by_the_other)
{
  fsched_semaphore *s[3] = {fs_sem_make_shared(2, 4), fs_sem_make_shared(2, 4),
                            fs_sem_make_shared(2, 4)};
  fsched_semaphore *local;
  ck_assert_int_eq(fsched_semaphore_create(NULL, &local), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_link(s[2], 3, local, 7, NULL), FSCHED_OK);
  fsched_cause cause = 99;
  fsched_timepoint t = {.callback = note_cause, .user = &cause};
  int pending;
  ck_assert_int_eq(fsched_semaphore_await(s[2], 3, &t, &pending), FSCHED_OK);
  ck_assert_int_eq(pending, 1);
  pid_t pid = spawn(signal_three, s, 3);
  fsched_frontier_entry e[3][2];
  fsched_frontier known[3];
  fsched_wait_point p[3] = {{.semaphore = s[0], .value = 1},
                            {.semaphore = s[1], .value = 2},
                            {.semaphore = local, .value = 7}};
  for (uint32_t i = 0; i < 3; i++) {
    known[i] = (fsched_frontier){.entry = e[i], .capacity = 2};
    p[i].known = &known[i];
  }
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(p, 3, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r),
                   FSCHED_OK);
  ck_assert_int_eq(r.cause, FSCHED_CAUSE_NONE);
  for (uint32_t i = 0; i < 3; i++) {
    ck_assert_uint_eq(known[i].n, 1);
    ck_assert_uint_eq(e[i][0].epoch, 1 + i);
  }
  expect_exit(pid);
  fsched_semaphore_release(local);
  for (uint32_t i = 0; i < 3; i++) {
    fsched_semaphore_release(s[i]);
  }
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
}
END_TEST

/* Two handles in one process, to see single steps */

START_TEST(trust_needs_the_frontier)
{
  fsched_semaphore *a = fs_sem_make_shared(2, 3);
  fsched_semaphore *b = open_again(a);
  ck_assert_int_eq(raise_to(b, 1, true), FSCHED_OK);
  ck_assert_int_eq(raise_to(b, 2, true), FSCHED_OK);
  fsched_semaphore_poll(a);
  ck_assert_uint_eq(fsched_semaphore_untainted(a), 2);
  ck_assert_int_eq(raise_to(b, 3, false), FSCHED_OK);
  ck_assert_int_eq(raise_to(b, 4, true), FSCHED_OK);
  fsched_semaphore_poll(a);
  ck_assert_uint_eq(fsched_semaphore_untainted(b), 4);
  ck_assert_uint_eq(fsched_semaphore_untainted(a), 2);
  ck_assert_int_eq(raise_to(a, 5, true), FSCHED_OK); /* recovery */
  ck_assert_uint_eq(fsched_semaphore_untainted(a), 5);
  for (uint64_t v = 6; v <= 9; v++) { /* 6 leaves the page before it is seen */
    ck_assert_int_eq(raise_to(b, v, true), FSCHED_OK);
  }
  fsched_semaphore_poll(a);
  ck_assert_uint_eq(fsched_semaphore_untainted(a), 5);
  ck_assert_int_eq(raise_to(a, 9, true), FSCHED_USAGE);
  fsched_frontier_entry e[2];
  fsched_frontier known = {.entry = e, .capacity = 2};
  ck_assert_int_eq(fsched_semaphore_learn(a, 6, &known), FSCHED_OK);
  ck_assert_uint_eq(known.n, 0);
  ck_assert_int_eq(known.tainted, 1);
  ck_assert(wait_exact(a, 7));
  /* What is in the page is seen at once. */
  ck_assert_int_eq(raise_to(b, 10, true), FSCHED_OK);
  fsched_cause cause = 99;
  fsched_timepoint t = {.callback = note_cause, .user = &cause};
  int pending;
  ck_assert_int_eq(fsched_semaphore_await(a, 10, &t, &pending), FSCHED_OK);
  ck_assert_int_eq(pending, 0);
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  /* More is published for the present value, in both handles. */
  fsched_frontier_entry more = {1, 5};
  fsched_frontier f = {.entry = &more, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_publish(a, 10, &f), FSCHED_OK);
  known = (fsched_frontier){.entry = e, .capacity = 2};
  ck_assert_int_eq(fsched_semaphore_learn(b, 10, &known), FSCHED_OK);
  ck_assert_uint_eq(known.n, 2);
  fsched_semaphore_release(b);
  /* It is destroyed in this process only. */
  ck_assert_int_eq(fsched_semaphore_cause(a), FSCHED_CAUSE_NONE);
  fsched_semaphore_release(a);
}
END_TEST

/* Signals around a failure are seen together: those that came after it release nobody. */
START_TEST(failure_between_signals)
{
  for (uint32_t round = 0; round < 100; round++) {
    fsched_semaphore *a = fs_sem_make_shared(2, 4);
    fsched_semaphore *b = open_again(a);
    fsched_cause cause[2] = {99, 99};
    fsched_timepoint t[2];
    for (uint32_t i = 0; i < 2; i++) {
      t[i] = (fsched_timepoint){.callback = note_cause, .user = &cause[i]};
      ck_assert_int_eq(fsched_semaphore_await(a, i == 0 ? 3 : 5, &t[i], NULL), FSCHED_OK);
    }
    ck_assert_int_eq(raise_to(b, 3, true), FSCHED_OK);
    ck_assert_int_eq(fsched_semaphore_fail(b, 8), 1);
    ck_assert_int_eq(raise_to(b, 9, true), FSCHED_OK);
    fsched_semaphore_poll(a);
    ck_assert_int_eq(fsched_semaphore_reached(a, 5), 0);
    fsched_semaphore_release(a); /* waits for the thread that may be calling */
    ck_assert_int_eq(cause[0], FSCHED_CAUSE_NONE);
    ck_assert_int_eq(cause[1], 8);
    fsched_semaphore_release(b);
  }
}
END_TEST

/* Pages that are not semaphores */

static void expect_refused(int fd) {
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_import(NULL, fd, &s), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(s);
}

static int sealed_file(const void *bytes, size_t size, off_t length, int seals) {
  int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(ftruncate(fd, length), 0);
  ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
  ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

START_TEST(files_that_are_no_semaphores)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  int good = export(s);
  struct stat st;
  ck_assert_int_eq(fstat(good, &st), 0);
  unsigned char page[4096];
  ck_assert_int_le(st.st_size, (off_t)sizeof page);
  size_t size = (size_t)st.st_size;
  ck_assert_int_eq(pread(good, page, size, 0), (ssize_t)size);
  struct {
    size_t size;
    off_t length;
    int seals;
  } bad[] = {{size, st.st_size, 0},
             {size, st.st_size + 8, F_SEAL_SHRINK},
             {size - 8, st.st_size - 8, F_SEAL_SHRINK},
             {8, 8, F_SEAL_SHRINK},
             {0, st.st_size, F_SEAL_SHRINK}};
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int fd = sealed_file(page, bad[i].size, bad[i].length, bad[i].seals);
    expect_refused(fd);
    ck_assert_int_eq(close(fd), 0);
  }
  int copy = sealed_file(page, size, st.st_size, F_SEAL_SHRINK);
  fsched_semaphore *other;
  ck_assert_int_eq(fsched_semaphore_import(NULL, copy, &other), FSCHED_OK);
  fsched_semaphore_release(other);
  ck_assert_int_eq(close(copy), 0);
  expect_refused(-1);
  expect_refused(STDIN_FILENO);
  ck_assert_int_ne(ftruncate(good, 0), 0);
  ck_assert_int_eq(close(good), 0);
  fsched_semaphore_release(s);
}
END_TEST

static unsigned char *map(fsched_semaphore *s, size_t *size) {
  int fd = export(s);
  struct stat st;
  ck_assert_int_eq(fstat(fd, &st), 0);
  *size = (size_t)st.st_size;
  void *at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(at, MAP_FAILED);
  ck_assert_int_eq(close(fd), 0);
  return at;
}

/* This is as if processes had died while they wrote every one of the slots. */
START_TEST(slots_lost)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  size_t size;
  unsigned char *page = map(s, &size);
  ck_assert_int_eq(raise_to(s, 1, true), FSCHED_OK);
  memset(page + SLOTS_AT, 1, size - SLOTS_AT);
  ck_assert_int_eq(raise_to(s, 2, true), FSCHED_OK);
  ck_assert_uint_eq(fsched_semaphore_value(s), 2);
  fsched_frontier_entry e[2];
  fsched_frontier known = {.entry = e, .capacity = 2};
  ck_assert_int_eq(fsched_semaphore_learn(s, 2, &known), FSCHED_OK);
  ck_assert_uint_eq(known.n, 0);
  ck_assert_int_eq(known.tainted, 1);
  memset(page + SLOTS_AT, 2, 8); /* this slot is whole again */
  ck_assert_int_eq(raise_to(s, 3, true), FSCHED_OK);
  ck_assert(wait_exact(s, 3));
  ck_assert_int_eq(munmap(page, size), 0);
  fsched_semaphore_release(s);
}
END_TEST

/* The words of slot `slot` of a page with two entries each. */
static uint64_t *slot_words(unsigned char *page, uint32_t slot) {
  return (uint64_t *)(void *)(page + SLOTS_AT) + (size_t)slot * SLOT_WORDS;
}

static void expect_nothing(fsched_semaphore *s, uint64_t value) {
  fsched_frontier_entry e[2];
  fsched_frontier known = {.entry = e, .capacity = 2};
  ck_assert_int_eq(fsched_semaphore_learn(s, value, &known), FSCHED_OK);
  ck_assert_uint_eq(known.n, 0);
  ck_assert_int_eq(known.tainted, 1);
}

START_TEST(slots_with_nonsense)
{
  fsched_semaphore *s = fs_sem_make_shared(2, 4);
  size_t size;
  unsigned char *page = map(s, &size);
  ck_assert_int_eq(raise_to(s, 1, true), FSCHED_OK);
  uint64_t *slot = slot_words(page, 0);
  ck_assert_uint_eq(slot[AT_VALUE], 1);
  ck_assert_uint_eq(slot[AT_EPOCH], 1);
  slot[AT_EPOCH] = 0;
  expect_nothing(s, 1);
  slot[AT_EPOCH] = 1;
  ck_assert(wait_exact(s, 1));
  slot[AT_INFO] = UINT64_MAX;
  expect_nothing(s, 1);
  /* This is as if a process had died after it wrote the slot and before it raised the value. */
  for (uint32_t i = 0; i < 4; i++) {
    slot_words(page, i)[0] |= 1;
  }
  ck_assert_int_eq(raise_to(s, 3, true), FSCHED_OK);
  slot[AT_INFO] = 1 << 2;
  slot[AT_PREVIOUS] = 1;
  slot[AT_VALUE] = 5;
  slot[0]++;
  expect_nothing(s, 3);
  ck_assert_int_eq(munmap(page, size), 0);
  fsched_semaphore_release(s);
}
END_TEST

static void use(fsched_semaphore *s) {
  fsched_frontier_entry e[2];
  fsched_frontier known = {.entry = e, .capacity = 2};
  uint64_t value = fsched_semaphore_value(s);
  fsched_semaphore_poll(s);
  (void)!fsched_semaphore_learn(s, value, &known);
  (void)!fsched_semaphore_learn(s, value / 2, &known);
  (void)!raise_to(s, value + 1, true);
  fsched_wait_point p = {.semaphore = s, .value = value + 1};
  fsched_wait_result r;
  ck_assert_int_eq(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, 0, &r), FSCHED_OK);
  (void)fsched_semaphore_fail(s, 3);
  ck_assert_int_eq(fsched_frontier_validate(&known), FSCHED_OK);
}

/* Any words of the page are overwritten: values may be nonsense, but there is no fault and no
 * endless loop. */
START_TEST(pages_mangled)
{
  for (uint64_t seed = 1; seed <= MANGLED; seed++) {
    fs_rng r = {seed};
    fsched_semaphore *a = fs_sem_make_shared(2, 4);
    size_t size;
    unsigned char *page = map(a, &size);
    ck_assert_int_eq(raise_to(a, 1, true), FSCHED_OK);
    uint32_t bytes = seed % 3 == 0 ? (uint32_t)size : 1 + fs_rng_below(&r, 64);
    for (uint32_t i = 0; i < bytes; i++) {
      uint32_t at = bytes == size ? i : fs_rng_below(&r, (uint32_t)size);
      page[at] = (unsigned char)fs_rng_below(&r, 256);
    }
    int fd = export(a);
    fsched_semaphore *b;
    fsched_status status = fsched_semaphore_import(NULL, fd, &b);
    ck_assert(status == FSCHED_OK || status == FSCHED_BAD_INPUT);
    ck_assert_int_eq(close(fd), 0);
    use(a);
    if (b != NULL) {
      use(b);
    }
    ck_assert_int_eq(munmap(page, size), 0);
    fsched_semaphore_release(b);
    fsched_semaphore_release(a);
  }
}
END_TEST

FS_SUITE(semaphore_process, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, to_and_fro, failure_of_the_other, death_of_the_other, let_go_by_the_other,
           trust_needs_the_frontier, failure_between_signals, files_that_are_no_semaphores,
           slots_lost, slots_with_nonsense, pages_mangled);
}
