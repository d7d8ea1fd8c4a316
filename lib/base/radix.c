/* SPDX-License-Identifier: Apache-2.0 */
#include "base/radix.h"

/* Up to SMALL keys are sorted by insertion, up to MEDIUM by merging runs of RUN keys: a pass over
 * all buckets would take longer. */
enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, SMALL = 48, RUN = 16, MEDIUM = 512 };

static void insertion_sort(uint64_t *keys, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint64_t key = keys[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) {
      keys[j] = keys[j - 1];
    }
    keys[j] = key;
  }
}

/* Merges the sorted from[0 .. middle) and from[middle .. n) into `to`. */
static void merge_runs(const uint64_t *from, uint64_t *to, size_t middle, size_t n) {
  size_t i = 0, j = middle;
  for (size_t k = 0; k < n; k++) {
    bool first = i < middle && (j == n || from[i] <= from[j]);
    to[k] = first ? from[i] : from[j];
    i += first;
    j += !first;
  }
}

static void merge_sort(uint64_t *keys, uint64_t *scratch, size_t n) {
  uint64_t *from = keys, *to = scratch;
  for (size_t i = 0; i < n; i += RUN) {
    insertion_sort(keys + i, n - i < RUN ? n - i : RUN);
  }
  for (size_t run = RUN; run < n; run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      size_t both = n - i < 2 * run ? n - i : 2 * run;
      merge_runs(from + i, to + i, both < run ? both : run, both);
    }
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) {
    memcpy(keys, from, n * sizeof *keys);
  }
}

static void scatter(const uint64_t *from, uint64_t *to, size_t n, unsigned shift) {
  size_t at[BUCKETS] = {0};
  for (size_t i = 0; i < n; i++) {
    at[(from[i] >> shift) & (BUCKETS - 1)]++;
  }
  size_t sum = 0;
  for (size_t b = 0; b < BUCKETS; b++) {
    size_t count = at[b];
    at[b] = sum;
    sum += count;
  }
  for (size_t i = 0; i < n; i++) {
    to[at[(from[i] >> shift) & (BUCKETS - 1)]++] = from[i];
  }
}

void fs_radix_sort(uint64_t *keys, uint64_t *scratch, size_t n) {
  assert(n <= 1 || scratch >= keys + n || keys >= scratch + n);
  if (n <= SMALL) {
    insertion_sort(keys, n);
    return;
  }
  if (n <= MEDIUM) {
    merge_sort(keys, scratch, n);
    return;
  }
  uint64_t varying = 0;
  bool sorted = true;
  for (size_t i = 1; i < n; i++) {
    varying |= keys[i] ^ keys[0];
    sorted = sorted && keys[i - 1] <= keys[i];
  }
  uint64_t *from = keys;
  uint64_t *to = scratch;
  for (unsigned shift = 0; shift < 64 && !sorted; shift += DIGIT_BITS) {
    if (((varying >> shift) & (BUCKETS - 1)) == 0) {
      continue;
    }
    scatter(from, to, n, shift);
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) {
    memcpy(keys, from, n * sizeof *keys);
  }
}

int fs_compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

int fs_compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}
