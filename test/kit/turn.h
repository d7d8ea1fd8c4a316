/* SPDX-License-Identifier: Apache-2.0 */
/* The number by which tests vary from commit to commit.  The runner (scripts/run-tests) prints it
 * and sets FSCHED_TURN to it; a failure comes again with the same number.  Without the variable it
 * is 0. */
#ifndef FS_TEST_TURN_H
#define FS_TEST_TURN_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns FSCHED_TURN, which is below 2^24. */
static inline uint64_t fs_turn(void) {
  const char *text = getenv("FSCHED_TURN");
  return text == NULL ? 0 : strtoull(text, NULL, 10) & 0xffffff;
}

/* With sanitizers samples are small: a part of what the plain build draws and judges. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FS_SMALL_SAMPLES = 1 };
#else
enum { FS_SMALL_SAMPLES = 0 };
#endif

/* Asserts that a random test has seen more than `least` of something, without which it would show
 * little.  This judges the sample, not the product: it is asked as it stands of turn 0, whose
 * sample changes with the code alone, and a quarter of it of any other turn and of small samples,
 * so that luck fails no test. */
static inline void fs_assert_seen(uint64_t seen, uint64_t least) {
  if (fs_turn() == 0 && !FS_SMALL_SAMPLES) {
    ck_assert_uint_gt(seen, least);
  } else {
    ck_assert_uint_ge(seen, least / 4);
  }
}

#endif
