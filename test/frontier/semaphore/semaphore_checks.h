/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites on semaphores share. */
#ifndef FS_TEST_SEMAPHORE_CHECKS_H
#define FS_TEST_SEMAPHORE_CHECKS_H

#include <check.h>
#include <unistd.h>

#include "fsched/semaphore.h"

static inline fsched_semaphore *fs_sem_make(uint32_t capacity, uint32_t history) {
  fsched_semaphore_options o = {
      .size = sizeof o, .frontier_capacity = capacity, .history_limit = history};
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(&o, &s), FSCHED_OK);
  return s;
}

static inline fsched_semaphore *fs_sem_make_shared(uint32_t capacity, uint32_t history) {
  fsched_semaphore_options o = {.size = sizeof o,
                                .frontier_capacity = capacity,
                                .history_limit = history,
                                .scope = FSCHED_SCOPE_SYSTEM};
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(&o, &s), FSCHED_OK);
  return s;
}

static inline fsched_semaphore *fs_sem_another(fsched_semaphore *s) {
  int fd;
  fsched_semaphore *out;
  ck_assert_int_eq(fsched_semaphore_export(s, &fd), FSCHED_OK);
  ck_assert_int_eq(fsched_semaphore_import(NULL, fd, &out), FSCHED_OK);
  (void)close(fd);
  return out;
}

static inline void fs_sem_signal(fsched_semaphore *s, uint64_t value, fsched_axis axis,
                                 uint64_t epoch) {
  fsched_frontier_entry e = {axis, epoch};
  fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_signal(s, value, &f), FSCHED_OK);
}

typedef struct fs_room {
  fsched_frontier_entry entry[8];
  fsched_frontier f;
} fs_room;

static inline fsched_frontier *fs_room_clear(fs_room *r) {
  r->f = (fsched_frontier){.entry = r->entry, .capacity = 8};
  return &r->f;
}

#endif
