/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator of tests that let the n-th allocation fail, or that count allocations.  Any thread
 * may call it. */
#ifndef FS_TEST_BUDGET_H
#define FS_TEST_BUDGET_H

#include <stdatomic.h>
#include <stdlib.h>

/* How many allocations succeed before one fails, and how much is in use. */
typedef struct fs_budget {
  _Atomic long left;
  _Atomic long blocks;
  _Atomic long held, peak; /* bytes */
} fs_budget;

static inline void *fs_budget_reallocate(void *user, void *block, size_t old_size,
                                         size_t new_size) {
  fs_budget *b = user;
  long old = block == NULL ? 0 : (long)old_size;
  if (new_size == 0) {
    b->blocks -= block != NULL;
    b->held -= old;
    free(block);
    return NULL;
  }
  if (b->left-- <= 0) {
    return NULL;
  }
  b->blocks += block == NULL;
  long held = atomic_fetch_add(&b->held, (long)new_size - old) + (long)new_size - old;
  long peak = b->peak;
  while (held > peak && !atomic_compare_exchange_weak(&b->peak, &peak, held)) {
  }
  return realloc(block, new_size);
}

#endif
