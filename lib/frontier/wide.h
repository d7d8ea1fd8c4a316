/* SPDX-License-Identifier: Apache-2.0 */
/* Walks along two lists of entries that mostly name the same axes: plain ones, and ones with
 * vectors of 256 bits for processors with AVX-512VL.
 *
 * A vector holds two entries, axis and epoch in turns.  With the larger of both vectors in m, lane
 * by lane, m ^ a is not 0 where a is smaller, and m ^ b where b is: in epoch lanes that is what is
 * asked for, in axis lanes either of them says that the axes differ. */
#ifndef FS_WIDE_H
#define FS_WIDE_H

#include "base.h"
#include "fsched/frontier.h"

enum { FS_A_LACKS = 1, FS_B_LACKS = 2, FS_AXES_DIFFER = 4 };

/* Of n entries each: does an epoch of a, of b, lie below the other's?  Or do axes differ? */
static inline uint32_t fs_compare_plain(const fsched_frontier_entry *a,
                                        const fsched_frontier_entry *b, uint32_t n) {
  uint32_t answer = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].axis != b[i].axis) {
      return FS_AXES_DIFFER;
    }
    answer |= a[i].epoch < b[i].epoch ? FS_A_LACKS : 0;
    answer |= b[i].epoch < a[i].epoch ? FS_B_LACKS : 0;
  }
  return answer;
}

/* Raises the target's entries to the source's, from i on to where axes differ; returns where. */
static inline uint32_t fs_raise_plain(fsched_frontier_entry *target,
                                      const fsched_frontier_entry *source, uint32_t i, uint32_t n) {
  for (; i < n && target[i].axis == source[i].axis; i++) {
    target[i].epoch = fs_max(target[i].epoch, source[i].epoch);
  }
  return i;
}

#ifdef __x86_64__
#include <immintrin.h>

#define FS_WIDE __attribute__((target("avx512f,avx512vl")))
#define FS_WIDE_INLINE static inline __attribute__((always_inline)) FS_WIDE
/* Lanes, and entries in a vector. */
enum { FS_AXIS_LANES = 5, FS_WIDE_STEP = 2 };

static inline bool fs_is_wide(void) { return __builtin_cpu_supports("avx512vl"); }

typedef struct fs_wide {
  __m256i a_lacks, b_lacks;
} fs_wide;

FS_WIDE_INLINE fs_wide fs_wide_add(fs_wide w, const fsched_frontier_entry *a,
                                   const fsched_frontier_entry *b) {
  __m256i p = _mm256_loadu_si256((const void *)a);
  __m256i q = _mm256_loadu_si256((const void *)b);
  __m256i m = _mm256_max_epu64(p, q);
  w.a_lacks = _mm256_or_si256(w.a_lacks, _mm256_xor_si256(m, p));
  w.b_lacks = _mm256_or_si256(w.b_lacks, _mm256_xor_si256(m, q));
  return w;
}

FS_WIDE_INLINE bool fs_wide_axes_differ(fs_wide w) {
  __m256i any = _mm256_or_si256(w.a_lacks, w.b_lacks);
  return (_mm256_test_epi64_mask(any, any) & FS_AXIS_LANES) != 0;
}

FS_WIDE_INLINE uint32_t fs_wide_answer(fs_wide w) {
  if (fs_wide_axes_differ(w)) {
    return FS_AXES_DIFFER;
  }
  return (_mm256_testz_si256(w.a_lacks, w.a_lacks) ? 0 : FS_A_LACKS) |
         (_mm256_testz_si256(w.b_lacks, w.b_lacks) ? 0 : FS_B_LACKS);
}

/* Looks at the axes so far after each four vectors, but not just before the end. */
FS_WIDE_INLINE uint32_t fs_compare_wide(const fsched_frontier_entry *a,
                                        const fsched_frontier_entry *b, uint32_t n) {
  enum { BLOCK = 4 * FS_WIDE_STEP };
  fs_wide w = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  uint32_t i = 0;
  for (; n - i >= BLOCK; i += BLOCK) {
    if (i > 0 && fs_wide_axes_differ(w)) {
      return FS_AXES_DIFFER;
    }
    w = fs_wide_add(w, a + i, b + i);
    w = fs_wide_add(w, a + i + FS_WIDE_STEP, b + i + FS_WIDE_STEP);
    w = fs_wide_add(w, a + i + 2 * FS_WIDE_STEP, b + i + 2 * FS_WIDE_STEP);
    w = fs_wide_add(w, a + i + 3 * FS_WIDE_STEP, b + i + 3 * FS_WIDE_STEP);
  }
  for (; n - i >= FS_WIDE_STEP; i += FS_WIDE_STEP) {
    w = fs_wide_add(w, a + i, b + i);
  }
  uint32_t answer = fs_wide_answer(w);
  return i == n ? answer : answer | fs_compare_plain(a + i, b + i, n - i);
}

/* Raises two vectors' entries unless their axes differ; then false. */
FS_WIDE_INLINE bool fs_wide_raise(fsched_frontier_entry *target,
                                  const fsched_frontier_entry *source) {
  __m256i *t = (void *)target;
  const __m256i *s = (const void *)source;
  __m256i p0 = _mm256_loadu_si256(t);
  __m256i p1 = _mm256_loadu_si256(t + 1);
  __m256i q0 = _mm256_loadu_si256(s);
  __m256i q1 = _mm256_loadu_si256(s + 1);
  __m256i differ = _mm256_or_si256(_mm256_xor_si256(p0, q0), _mm256_xor_si256(p1, q1));
  if (!_mm256_testz_si256(differ, _mm256_set_epi64x(0, -1, 0, -1))) {
    return false;
  }
  _mm256_storeu_si256(t, _mm256_max_epu64(p0, q0));
  _mm256_storeu_si256(t + 1, _mm256_max_epu64(p1, q1));
  return true;
}

FS_WIDE_INLINE uint32_t fs_raise_wide(fsched_frontier_entry *target,
                                      const fsched_frontier_entry *source, uint32_t n) {
  uint32_t i = 0;
  while (n - i >= 2 * FS_WIDE_STEP && fs_wide_raise(target + i, source + i)) {
    i += 2 * FS_WIDE_STEP;
  }
  return i == n ? n : fs_raise_plain(target, source, i, n);
}

#else

#define FS_WIDE
static inline bool fs_is_wide(void) { return false; }
static inline uint32_t fs_compare_wide(const fsched_frontier_entry *a,
                                       const fsched_frontier_entry *b, uint32_t n) {
  return fs_compare_plain(a, b, n);
}
static inline uint32_t fs_raise_wide(fsched_frontier_entry *target,
                                     const fsched_frontier_entry *source, uint32_t n) {
  return fs_raise_plain(target, source, 0, n);
}

#endif
#endif
