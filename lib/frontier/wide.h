/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of walks along entries, in a plain form and in a form with vectors for processors that
 * have AVX-512 (F, VL, DQ) and BMI2.  FS_PLAIN leaves the vector form out, as do builds for other
 * processors.
 *
 * Vectors as in memory alternate axis and epoch: 256 bits hold two entries, 512 bits four.
 * "Deinterleaved" is a vector of eight axes and one of eight epochs.  Lists that mostly name the
 * same axes are walked in 256 bits; for other lists, each entry of one list is compared with eight
 * entries of the other at once, without a branch that depends on an axis. */
#ifndef FS_WIDE_H
#define FS_WIDE_H

#include "base/base.h"
#include "fsched/frontier.h"

enum { FS_A_LACKS = 1, FS_B_LACKS = 2, FS_BOTH_LACK = 3, FS_AXES_DIFFER = 4 };

/* Compares n entries of each: is an epoch of a, or of b, below the other's, or do axes differ?
 * Ends where axes differ, or both lack something. */
static inline uint32_t fs_compare_plain(const fsched_frontier_entry *a,
                                        const fsched_frontier_entry *b, uint32_t n) {
  uint32_t answer = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].axis != b[i].axis) {
      return FS_AXES_DIFFER;
    }
    if (a[i].epoch != b[i].epoch) {
      answer |= a[i].epoch < b[i].epoch ? FS_A_LACKS : FS_B_LACKS;
      if (answer == FS_BOTH_LACK) {
        break;
      }
    }
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

#if !defined(__x86_64__) || defined(FS_PLAIN)

#define FS_WIDE_OR(wide, plain) (plain)

#else

#include <immintrin.h>

#define FS_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,bmi2,popcnt")))
#define FS_WIDE_INLINE static inline __attribute__((always_inline)) FS_WIDE
#define FS_WIDE_OR(wide, plain) (fs_is_wide() ? (wide) : (plain))

static inline bool fs_is_wide(void) {
  return __builtin_expect(__builtin_cpu_supports("avx512vl") &&
                              __builtin_cpu_supports("avx512dq") &&
                              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"),
                          1);
}

/* Same axes */

FS_WIDE_INLINE __m256i fs_load(const fsched_frontier_entry *e) {
  return _mm256_loadu_si256((const void *)e);
}
FS_WIDE_INLINE void fs_store(fsched_frontier_entry *e, __m256i v) {
  _mm256_storeu_si256((void *)e, v);
}

/* A mask of the differences between two entries of each. */
FS_WIDE_INLINE __m256i fs_differ2(const fsched_frontier_entry *a, const fsched_frontier_entry *b) {
  return _mm256_xor_si256(fs_load(a), fs_load(b));
}
FS_WIDE_INLINE __m256i fs_differ4(const fsched_frontier_entry *a, const fsched_frontier_entry *b) {
  return _mm256_or_si256(fs_differ2(a, b), fs_differ2(a + 2, b + 2));
}

FS_WIDE_INLINE bool fs_none(__m256i v) { return _mm256_testz_si256(v, v); }
FS_WIDE_INLINE bool fs_no_axis(__m256i differ) {
  return _mm256_testz_si256(differ, _mm256_set_epi64x(0, -1, 0, -1));
}

/* The differences between entries: a lane of a_lacks is not 0 where the epoch of a is below that of
 * b, one of b_lacks where it is above, one of `differ` where the two are not the same.  Lanes of
 * axes count in `differ` alone. */
typedef struct fs_unlike {
  __m256i a_lacks, b_lacks, differ;
} fs_unlike;

FS_WIDE_INLINE fs_unlike fs_unlike2(fs_unlike u, const fsched_frontier_entry *a,
                                    const fsched_frontier_entry *b) {
  enum { OR_XOR = 0xF6 }; /* x | (y ^ z) */
  __m256i p = fs_load(a);
  __m256i q = fs_load(b);
  __m256i m = _mm256_max_epu64(p, q);
  u.a_lacks = _mm256_ternarylogic_epi64(u.a_lacks, m, p, OR_XOR);
  u.b_lacks = _mm256_ternarylogic_epi64(u.b_lacks, m, q, OR_XOR);
  u.differ = _mm256_ternarylogic_epi64(u.differ, p, q, OR_XOR);
  return u;
}

FS_WIDE_INLINE uint32_t fs_unlike_answer(fs_unlike u) {
  return fs_no_axis(u.differ)
             ? (fs_none(u.a_lacks) ? 0 : FS_A_LACKS) | (fs_none(u.b_lacks) ? 0 : FS_B_LACKS)
             : FS_AXES_DIFFER;
}

/* Entries that are not all the same: one pass, which ends behind eight that decide.  `ends` holds
 * the answers that decide beside FS_BOTH_LACK and FS_AXES_DIFFER. */
FS_WIDE_INLINE uint32_t fs_unlike_wide(const fsched_frontier_entry *a,
                                       const fsched_frontier_entry *b, uint32_t n, uint32_t ends) {
  fs_unlike u = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
  for (; n >= 8; a += 8, b += 8, n -= 8) {
    u = fs_unlike2(fs_unlike2(u, a, b), a + 2, b + 2);
    u = fs_unlike2(fs_unlike2(u, a + 4, b + 4), a + 6, b + 6);
    uint32_t answer = fs_unlike_answer(u);
    if (n == 8 || (answer & ends) != 0 || answer >= FS_BOTH_LACK) {
      return answer;
    }
  }
  for (; n >= 2; a += 2, b += 2, n -= 2) {
    u = fs_unlike2(u, a, b);
  }
  uint32_t answer = fs_unlike_answer(u);
  return n == 0 ? answer : answer | fs_compare_plain(a, b, 1);
}

/* Looks for differences first: in blocks of eight, the last of which overlaps the one before. */
FS_WIDE_INLINE uint32_t fs_compare_wide(const fsched_frontier_entry *a,
                                        const fsched_frontier_entry *b, uint32_t n) {
  __m256i differ;
  if (n >= 8) {
    differ = _mm256_or_si256(fs_differ4(a, b), fs_differ4(a + 4, b + 4));
    for (uint32_t i = 8; i < n; i += 8) {
      if (!fs_no_axis(differ)) {
        return FS_AXES_DIFFER;
      }
      uint32_t at = i + 8 <= n ? i : n - 8;
      __m256i more =
          _mm256_or_si256(fs_differ4(a + at, b + at), fs_differ4(a + at + 4, b + at + 4));
      differ = _mm256_or_si256(differ, more);
    }
  } else if (n >= 4) {
    differ = _mm256_or_si256(fs_differ4(a, b), fs_differ4(a + n - 4, b + n - 4));
  } else if (n >= 2) {
    differ = _mm256_or_si256(fs_differ2(a, b), fs_differ2(a + n - 2, b + n - 2));
  } else {
    return fs_compare_plain(a, b, n);
  }
  if (fs_none(differ)) {
    return 0;
  }
  return fs_no_axis(differ) ? fs_unlike_wide(a, b, n, 0) : FS_AXES_DIFFER;
}

/* Raise eight or four entries unless their axes differ; then false.  Eight that are all equal are
 * not written. */
FS_WIDE_INLINE bool fs_raise8(fsched_frontier_entry *t, const fsched_frontier_entry *s) {
  __m256i t0 = fs_load(t), t1 = fs_load(t + 2), t2 = fs_load(t + 4), t3 = fs_load(t + 6);
  __m256i s0 = fs_load(s), s1 = fs_load(s + 2), s2 = fs_load(s + 4), s3 = fs_load(s + 6);
  __m256i differ01 = _mm256_or_si256(_mm256_xor_si256(t0, s0), _mm256_xor_si256(t1, s1));
  __m256i differ23 = _mm256_or_si256(_mm256_xor_si256(t2, s2), _mm256_xor_si256(t3, s3));
  __m256i differ = _mm256_or_si256(differ01, differ23);
  if (!fs_no_axis(differ)) {
    return false;
  }
  if (!fs_none(differ)) {
    fs_store(t, _mm256_max_epu64(t0, s0));
    fs_store(t + 2, _mm256_max_epu64(t1, s1));
    fs_store(t + 4, _mm256_max_epu64(t2, s2));
    fs_store(t + 6, _mm256_max_epu64(t3, s3));
  }
  return true;
}

FS_WIDE_INLINE bool fs_raise4(fsched_frontier_entry *t, const fsched_frontier_entry *s) {
  __m256i t0 = fs_load(t), t1 = fs_load(t + 2);
  __m256i s0 = fs_load(s), s1 = fs_load(s + 2);
  if (!fs_no_axis(_mm256_or_si256(_mm256_xor_si256(t0, s0), _mm256_xor_si256(t1, s1)))) {
    return false;
  }
  fs_store(t, _mm256_max_epu64(t0, s0));
  fs_store(t + 2, _mm256_max_epu64(t1, s1));
  return true;
}

/* As fs_raise_plain. */
FS_WIDE_INLINE uint32_t fs_raise_wide(fsched_frontier_entry *target,
                                      const fsched_frontier_entry *source, uint32_t i, uint32_t n) {
  while (n - i >= 8 && fs_raise8(target + i, source + i)) {
    i += 8;
  }
  if (n - i >= 4 && fs_raise4(target + i, source + i)) {
    i += 4;
  }
  return fs_raise_plain(target, source, i, n);
}

/* Any axes: entries that are wanted and not known */

/* Eight wanted entries: two vectors of four, their axes in one (in the order 0, 4, 1, 5, ...), and
 * the epochs that are known for these. */
typedef struct fs_wide_wanted {
  __m512i low, high, axes, found;
} fs_wide_wanted;

FS_WIDE_INLINE fs_wide_wanted fs_want(__m512i low, __m512i high) {
  return (fs_wide_wanted){low, high, _mm512_unpacklo_epi64(low, high), _mm512_setzero_si512()};
}
FS_WIDE_INLINE fs_wide_wanted fs_want8(const fsched_frontier_entry *w) {
  return fs_want(_mm512_loadu_si512(w), _mm512_loadu_si512(w + 4));
}
FS_WIDE_INLINE fs_wide_wanted fs_want_some(const fsched_frontier_entry *w, uint32_t n) {
  uint32_t mask = (1u << 2 * n) - 1;
  return fs_want(_mm512_maskz_loadu_epi64((__mmask8)mask, w),
                 _mm512_maskz_loadu_epi64((__mmask8)(mask >> 8), w + 4));
}

FS_WIDE_INLINE void fs_look(fs_wide_wanted *w, const fsched_frontier_entry *known) {
  __mmask8 same = _mm512_cmpeq_epi64_mask(w->axes, _mm512_set1_epi64((long long)known->axis));
  w->found = _mm512_mask_set1_epi64(w->found, same, (long long)known->epoch);
}
FS_WIDE_INLINE void fs_look4(fs_wide_wanted *w, const fsched_frontier_entry *known) {
  fs_look(w, known);
  fs_look(w, known + 1);
  fs_look(w, known + 2);
  fs_look(w, known + 3);
}

/* The wanted entries that are not known, output as two vectors, each filled from its low end. */
typedef struct fs_lacking {
  __m512i low, high;
  uint32_t n_low, n_high; /* lanes */
} fs_lacking;

FS_WIDE_INLINE fs_lacking fs_lack(fs_wide_wanted w) {
  __mmask8 low = _mm512_cmplt_epu64_mask(_mm512_unpacklo_epi64(w.found, w.found),
                                         _mm512_unpackhi_epi64(w.low, w.low));
  __mmask8 high = _mm512_cmplt_epu64_mask(_mm512_unpackhi_epi64(w.found, w.found),
                                          _mm512_unpackhi_epi64(w.high, w.high));
  return (fs_lacking){_mm512_maskz_compress_epi64(low, w.low),
                      _mm512_maskz_compress_epi64(high, w.high),
                      (uint32_t)__builtin_popcount(_cvtmask8_u32(low)),
                      (uint32_t)__builtin_popcount(_cvtmask8_u32(high))};
}

/* Writes the entries; needs room for eight, however few they are. */
FS_WIDE_INLINE fsched_frontier_entry *fs_out8(fsched_frontier_entry *o, fs_lacking l) {
  _mm512_storeu_si512(o, l.low);
  o = (void *)((uint64_t *)o + l.n_low);
  _mm512_storeu_si512(o, l.high);
  return (void *)((uint64_t *)o + l.n_high);
}
FS_WIDE_INLINE fsched_frontier_entry *fs_out_some(fsched_frontier_entry *o, fs_lacking l) {
  _mm512_mask_storeu_epi64(o, (__mmask8)((1u << l.n_low) - 1), l.low);
  o = (void *)((uint64_t *)o + l.n_low);
  _mm512_mask_storeu_epi64(o, (__mmask8)((1u << l.n_high) - 1), l.high);
  return (void *)((uint64_t *)o + l.n_high);
}

/* Looks up eight or fewer wanted entries among all known ones. */
FS_WIDE_INLINE void fs_look_all(fs_wide_wanted *w, const fsched_frontier_entry *k,
                                const fsched_frontier_entry *k_end) {
  for (; k_end - k >= 4; k += 4) {
    fs_look4(w, k);
  }
  for (; k < k_end; k++) {
    fs_look(w, k);
  }
}

/* Looks up wanted entries up to the axis `last` among the known ones from *k on, and moves *k to
 * where later axes may be. */
FS_WIDE_INLINE void fs_look_up_to(fs_wide_wanted *w, fsched_axis last,
                                  const fsched_frontier_entry **k,
                                  const fsched_frontier_entry *k_end) {
  const fsched_frontier_entry *p = *k;
  for (; k_end - p >= 4 && p->axis <= last; p += 4) {
    fs_look4(w, p);
  }
  *k = p > *k && p[-1].axis > last ? p - 4 : p;
  if (k_end - p < 4) {
    for (; p < k_end; p++) {
      fs_look(w, p);
    }
  }
}

static __attribute__((noinline)) FS_WIDE uint32_t fs_undominated_far(const fsched_frontier_entry *k,
                                                                     uint32_t k_n,
                                                                     const fsched_frontier_entry *w,
                                                                     uint32_t w_n,
                                                                     fsched_frontier_entry *out) {
  const fsched_frontier_entry *k_end = k + k_n;
  fsched_frontier_entry *o = out;
  for (; w_n >= 8; w += 8, w_n -= 8) {
    fs_wide_wanted b = fs_want8(w);
    fs_look_up_to(&b, w[7].axis, &k, k_end);
    o = fs_out8(o, fs_lack(b));
  }
  if (w_n > 0) {
    fs_wide_wanted b = fs_want_some(w, w_n);
    fs_look_up_to(&b, w[w_n - 1].axis, &k, k_end);
    o = fs_out_some(o, fs_lack(b));
  }
  return (uint32_t)(o - out);
}

FS_WIDE_INLINE uint32_t fs_undominated_wide(const fsched_frontier_entry *k, uint32_t k_n,
                                            const fsched_frontier_entry *w, uint32_t w_n,
                                            fsched_frontier_entry *out) {
  if (k_n > 8 || w_n > 8) {
    return fs_undominated_far(k, k_n, w, w_n, out);
  }
  const fsched_frontier_entry *k_end = k + k_n;
  if (w_n == 8) {
    fs_wide_wanted b = fs_want8(w);
    fs_look_all(&b, k, k_end);
    return (uint32_t)(fs_out8(out, fs_lack(b)) - out);
  }
  fs_wide_wanted b = fs_want_some(w, w_n);
  fs_look_all(&b, k, k_end);
  return (uint32_t)(fs_out_some(out, fs_lack(b)) - out);
}

/* Insertion */

/* Loads by halves, as entries may just have been written in halves: a load that spans several
 * stores waits for all of them. */
FS_WIDE_INLINE __m512i fs_load4(const fsched_frontier_entry *e) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(fs_load(e)), fs_load(e + 2), 1);
}

/* Eight entries in a row among which an axis belongs. */
typedef struct fs_wide_window {
  __m512i low, high;
  uint32_t below; /* the number of entries with a lower axis */
  bool hit;
} fs_wide_window;

FS_WIDE_INLINE fs_wide_window fs_find_wide(const fsched_frontier_entry *at, fsched_axis axis) {
  fs_wide_window w = {.low = fs_load4(at), .high = fs_load4(at + 4)};
  __m512i axes = _mm512_unpacklo_epi64(w.low, w.high);
  __m512i wanted = _mm512_set1_epi64((long long)axis);
  w.below = (uint32_t)__builtin_popcount(_cvtmask8_u32(_mm512_cmplt_epu64_mask(axes, wanted)));
  w.hit = _cvtmask8_u32(_mm512_cmpeq_epi64_mask(axes, wanted)) != 0;
  return w;
}

/* Moves [at, end) up by one. */
FS_WIDE_INLINE void fs_move_up_wide(fsched_frontier_entry *at, fsched_frontier_entry *end) {
  for (; end - at >= 4; end -= 4) {
    _mm512_storeu_si512(end - 3, fs_load4(end - 4));
  }
  if (end - at >= 2) {
    end -= 2;
    fs_store(end + 1, fs_load(end));
  }
  if (end > at) {
    *end = end[-1];
  }
}

/* Inserts into the window, which then has nine entries.  The addresses of the stores do not depend
 * on the place, or later loads would wait until it is known. */
FS_WIDE_INLINE void fs_insert_wide(fs_wide_window w, fsched_frontier_entry *at, fsched_axis axis,
                                   uint64_t epoch) {
  __m128i one = _mm_set_epi64x((long long)epoch, (long long)axis);
  __m512i new = _mm512_broadcast_i64x2(one);
  uint32_t here = 3u << 2 * w.below;
  uint32_t above = UINT32_MAX << 2 * w.below;
  __m512i low = _mm512_mask_alignr_epi64(w.low, (__mmask8)above, w.low, new, 6);
  __m512i high = _mm512_mask_alignr_epi64(w.high, (__mmask8)(above >> 8), w.high, w.low, 6);
  __m128i top = _mm512_extracti64x2_epi64(w.high, 3);
  low = _mm512_mask_mov_epi64(low, (__mmask8)here, new);
  high = _mm512_mask_mov_epi64(high, (__mmask8)(here >> 8), new);
  top = _mm_mask_mov_epi64(top, (__mmask8)(here >> 16), one);
  _mm512_storeu_si512(at, low);
  _mm512_storeu_si512(at + 4, high);
  _mm_storeu_si128((void *)(at + 8), top);
}

/* Any axes: merging up to eight entries into up to eight */

typedef struct fs_eight {
  __m512i axes, epochs;
} fs_eight;

FS_WIDE_INLINE fs_eight fs_deinterleave(__m512i low, __m512i high) {
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
  return (fs_eight){_mm512_permutex2var_epi64(low, even, high),
                    _mm512_permutex2var_epi64(low, odd, high)};
}

/* Absent entries get the highest possible axis. */
FS_WIDE_INLINE fs_eight fs_load_some(const fsched_frontier_entry *e, uint32_t n) {
  uint32_t mask = (1u << 2 * n) - 1;
  __m512i none = _mm512_set1_epi64(-1);
  return fs_deinterleave(_mm512_mask_loadu_epi64(none, (__mmask8)mask, e),
                         _mm512_mask_loadu_epi64(none, (__mmask8)(mask >> 8), e + 4));
}

/* Stores the first n of eight, all of which there is room for when `whole`. */
FS_WIDE_INLINE void fs_store_some(fsched_frontier_entry *e, fs_eight v, uint32_t n, bool whole) {
  const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
  const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  __m512i low = _mm512_permutex2var_epi64(v.axes, first, v.epochs);
  __m512i high = _mm512_permutex2var_epi64(v.axes, second, v.epochs);
  if (whole) {
    _mm512_storeu_si512(e, low);
    _mm512_storeu_si512(e + 4, high);
    return;
  }
  uint32_t mask = n < 8 ? (1u << 2 * n) - 1 : UINT16_MAX;
  _mm512_mask_storeu_epi64(e, (__mmask8)mask, low);
  _mm512_mask_storeu_epi64(e + 4, (__mmask8)(mask >> 8), high);
}

/* The ranks of the source's entries among those of the target. */
typedef struct fs_ranks {
  __m512i found;  /* the target's epochs for the source's axes */
  uint32_t slots; /* a bit for each of the target's entries: its slot in the merged order */
} fs_ranks;

/* For the target's entries from the last to the first.  As axes ascend, the mask of the source's
 * that are below one of the target is 2^r - 1 when they are r; that one's slot, when i of the
 * target come before it, is i + r.  So the sum of all masks, each shifted by i, is the sum of all
 * 2^(i + r) less that of all 2^i. */
FS_WIDE_INLINE void fs_rank(fs_ranks *r, __m512i axes, const fsched_frontier_entry *t) {
  __m512i axis = _mm512_set1_epi64((long long)t->axis);
  r->slots = 2 * r->slots + _cvtmask8_u32(_mm512_cmplt_epu64_mask(axes, axis));
  __mmask8 same = _mm512_cmpeq_epi64_mask(axes, axis);
  r->found = _mm512_mask_set1_epi64(r->found, same, (long long)t->epoch);
}

FS_WIDE_INLINE fs_ranks fs_rank_all(__m512i axes, const fsched_frontier_entry *t, uint32_t t_n) {
  fs_ranks r = {.found = _mm512_setzero_si512()};
  const fsched_frontier_entry *p = t + t_n;
  for (; p - t >= 4; p -= 4) {
    fs_rank(&r, axes, p - 1);
    fs_rank(&r, axes, p - 2);
    fs_rank(&r, axes, p - 3);
    fs_rank(&r, axes, p - 4);
  }
  while (p > t) {
    fs_rank(&r, axes, --p);
  }
  r.slots += (1u << t_n) - 1;
  return r;
}

/* Eight slots of the union: the target's entries from first_t on are at the bits of in_t, the
 * source's from first_s on at those of in_s, which prevail. */
FS_WIDE_INLINE fs_eight fs_unite(fs_eight t, uint32_t in_t, uint32_t first_t, fs_eight s,
                                 uint32_t in_s, uint32_t first_s) {
  const __m512i count = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i of_second = _mm512_set_epi64(15, 14, 13, 12, 11, 10, 9, 8);
  __m512i from_t = _mm512_add_epi64(count, _mm512_set1_epi64((int)first_t));
  __m512i from_s = _mm512_add_epi64(of_second, _mm512_set1_epi64((int)first_s));
  __m512i from = _mm512_maskz_expand_epi64((__mmask8)in_t, from_t);
  from = _mm512_mask_expand_epi64(from, (__mmask8)in_s, from_s);
  return (fs_eight){_mm512_permutex2var_epi64(t.axes, from, s.axes),
                    _mm512_permutex2var_epi64(t.epochs, from, s.epochs)};
}

/* Merges s into t, which has room for both; returns how many there are then. */
FS_WIDE_INLINE uint32_t fs_merge_few(fsched_frontier_entry *t, uint32_t t_n,
                                     const fsched_frontier_entry *s, uint32_t s_n) {
  bool whole = t_n + s_n == 16;
  fs_eight x = whole ? fs_deinterleave(fs_load4(t), fs_load4(t + 4)) : fs_load_some(t, t_n);
  fs_eight y = whole ? fs_deinterleave(_mm512_loadu_si512(s), _mm512_loadu_si512(s + 4))
                     : fs_load_some(s, s_n);
  fs_ranks r = fs_rank_all(y.axes, t, t_n);
  y.epochs = _mm512_max_epu64(y.epochs, r.found);
  /* A common axis has two slots, the source's after the target's; the source's entry stays, in the
   * target's slot. */
  uint32_t common = _cvtmask8_u32(_mm512_test_epi64_mask(r.found, r.found));
  uint32_t all = (1u << (t_n + s_n)) - 1;
  uint32_t of_s = all ^ r.slots;
  uint32_t twice = _pdep_u32(common, of_s); /* no more bits than the source has entries */
  uint32_t stay = all ^ twice;
  uint32_t in_t = _pext_u32(r.slots, stay);
  uint32_t in_s = _pext_u32((of_s ^ twice) | twice >> 1, stay);
  uint32_t n = (uint32_t)__builtin_popcount(stay);
  fs_eight low = fs_unite(x, in_t, 0, y, in_s, 0);
  fs_eight high = fs_unite(x, in_t >> 8, (uint32_t)__builtin_popcount(in_t & 0xff), y, in_s >> 8,
                           (uint32_t)__builtin_popcount(in_s & 0xff));
  fs_store_some(t, low, n, whole);
  fs_store_some(t + 8, high, n > 8 ? n - 8 : 0, whole);
  return n;
}

#endif
#endif
