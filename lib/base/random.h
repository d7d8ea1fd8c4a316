/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers at random, as a function of the state that they begin with.
 *
 * Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators (2014). */
#ifndef FS_RANDOM_H
#define FS_RANDOM_H

#include "base/base.h"

static inline uint64_t fs_random_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Requires n > 0. */
static inline uint32_t fs_random_below(uint64_t *state, uint32_t n) {
  assert(n > 0);
  return (uint32_t)((fs_random_next(state) >> 32) * n >> 32);
}

#endif
