/* SPDX-License-Identifier: Apache-2.0 */
/* The number by which tests vary from commit to commit; the runner (scripts/run-tests) prints it
 * and hands it over.  Without it 0, and a failure is met again with it. */
#ifndef FS_TEST_TURN_H
#define FS_TEST_TURN_H

#include <stdint.h>
#include <stdlib.h>

/* FSCHED_TURN: below 2^24. */
static inline uint64_t fs_turn(void) {
  const char *text = getenv("FSCHED_TURN");
  return text == NULL ? 0 : strtoull(text, NULL, 10) & 0xffffff;
}

#endif
