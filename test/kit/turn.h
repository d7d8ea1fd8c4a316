/* SPDX-License-Identifier: Apache-2.0 */
/* The number by which tests vary from commit to commit.  The runner (scripts/run-tests) prints it
 * and sets FSCHED_TURN to it; a failure comes again with the same number.  Without the variable it
 * is 0. */
#ifndef FS_TEST_TURN_H
#define FS_TEST_TURN_H

#include <stdint.h>
#include <stdlib.h>

/* Returns FSCHED_TURN, which is below 2^24. */
static inline uint64_t fs_turn(void) {
  const char *text = getenv("FSCHED_TURN");
  return text == NULL ? 0 : strtoull(text, NULL, 10) & 0xffffff;
}

#endif
