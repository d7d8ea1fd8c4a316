/* SPDX-License-Identifier: Apache-2.0 */
/* The shared page of a system-wide semaphore into which another process has written anything: the
 * input is a list of 2 bytes that choose a word of the page and 8 bytes that it becomes.  Values
 * may then be nonsense, but every call ends, and a process that maps the page anew refuses it or
 * copes. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fsched/semaphore.h"
#include "fuzz/kit.h"

enum { CAPACITY = 3, HISTORY = 4, CHANGE = 10 };

/* Code that naps before it looks again looks at once here, as no other process is at work. */
int nanosleep(const struct timespec *time, struct timespec *left) {
  (void)time;
  (void)left;
  return 0;
}

static fsched_semaphore *make(void) {
  fsched_semaphore_options o = {.size = sizeof o,
                                .frontier_capacity = CAPACITY,
                                .history_limit = HISTORY,
                                .scope = FSCHED_SCOPE_SYSTEM};
  fsched_semaphore *s = NULL;
  fs_fuzz_must(fsched_semaphore_create(&o, &s) == FSCHED_OK, "no semaphore");
  for (uint64_t value = 1; value <= HISTORY + 2; value++) {
    fsched_frontier_entry at[] = {{value % 3, value}, {7, value}};
    fsched_frontier f = {.entry = at, .n = 2, .capacity = 2};
    fs_fuzz_must(fsched_semaphore_publish(s, value, &f) == FSCHED_OK, "no signal");
  }
  return s;
}

static void write_over(int fd, const uint8_t *data, size_t size) {
  struct stat about;
  fs_fuzz_must(fstat(fd, &about) == 0, "no page");
  size_t words = (size_t)about.st_size / 8;
  for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
    size_t word = (data[0] | (size_t)data[1] << 8) % words;
    (void)!pwrite(fd, data + 2, 8, (off_t)(8 * word));
  }
}

static void use(fsched_semaphore *s) {
  fsched_frontier_entry entry[8], own[8], new_entry = {5, 1000};
  fsched_frontier known = {.entry = own, .capacity = 8};
  fsched_frontier attached = {.entry = &new_entry, .n = 1, .capacity = 1};
  int lossy;
  uint64_t value = fsched_semaphore_value(s);
  (void)fsched_semaphore_cause(s);
  (void)fsched_semaphore_tainted(s, 2);
  fs_fuzz_must(fsched_semaphore_frontier(s, entry, 8, &lossy) <= CAPACITY * HISTORY * 8, "entries");
  for (uint64_t v = 0; v <= HISTORY + 3; v++) {
    (void)!fsched_semaphore_learn(s, v, &known);
    fs_fuzz_must(fsched_frontier_validate(&known) == FSCHED_OK, "a frontier that is none");
  }
  fsched_wait_point point = {.semaphore = s, .value = value};
  fsched_wait_result result;
  (void)!fsched_semaphore_wait_many(&point, 1, FSCHED_WAIT_ALL, 0, &result);
  (void)!fsched_semaphore_publish(s, 3, &attached);
  (void)!fsched_semaphore_signal(s, value + 1, &attached);
  (void)!fsched_semaphore_learn(s, value + 1, &known);
  fsched_semaphore_advance_external(s, value + 2);
  fsched_semaphore_poll(s);
  (void)fsched_semaphore_fail(s, FSCHED_CAUSE_SYSTEM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fsched_semaphore *before = make(), *after = NULL;
  int fd = -1;
  fs_fuzz_must(fsched_semaphore_export(before, &fd) == FSCHED_OK, "no file");
  write_over(fd, data, size);
  if (fsched_semaphore_import(NULL, fd, &after) == FSCHED_OK) {
    use(after);
    fsched_semaphore_release(after);
  }
  (void)close(fd);
  use(before);
  fsched_semaphore_release(before);
  return 0;
}
