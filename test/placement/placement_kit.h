/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangles to be placed, an independent definition of what a placement is, and the answer as two
 * truth values: was one found, and is the answer proven? */
#ifndef FS_TEST_PLACEMENT_KIT_H
#define FS_TEST_PLACEMENT_KIT_H

#include "placement/placement.h"

static inline fs_status fs_test_place(fsched_context *ctx, const fs_placement *p, bool lowest,
                                      uint64_t *address, uint64_t *peak, bool *found,
                                      bool *proven) {
  fs_decision exists = fs_not_decided();
  bool least = false;
  fs_status status = fs_placement_run(ctx, p, lowest, address, peak, &exists, &least);
  *found = exists.is == FS_YES;
  *proven = *found ? least : exists.is == FS_NO;
  return status;
}

enum { FS_MOST_RECTS = 400 };

/* A problem with its arrays. */
typedef struct fs_rects {
  fs_placement p;
  uint64_t size[FS_MOST_RECTS], given[FS_MOST_RECTS];
  fs_tick begin[FS_MOST_RECTS], end[FS_MOST_RECTS];
  uint32_t pair_a[FS_MOST_RECTS], pair_b[FS_MOST_RECTS];
  fs_tick pair_from[FS_MOST_RECTS], pair_to[FS_MOST_RECTS];
} fs_rects;

static inline void fs_rects_start(fs_rects *s) {
  *s = (fs_rects){.p = {.capacity = FS_UNBOUNDED}};
  s->p.size = s->size;
  s->p.begin = s->begin;
  s->p.end = s->end;
  s->p.pair_a = s->pair_a;
  s->p.pair_b = s->pair_b;
  s->p.pair_from = s->pair_from;
  s->p.pair_to = s->pair_to;
}

static inline void fs_rects_add(fs_rects *s, uint64_t size, fs_tick begin, fs_tick end) {
  s->size[s->p.n] = size;
  s->begin[s->p.n] = begin;
  s->end[s->p.n] = end;
  s->given[s->p.n++] = UINT64_MAX;
}

/* ---- an independent definition of what is right */

static inline bool fs_rects_meet(const fs_rects *s, uint32_t a, uint32_t b) {
  bool instant_a = s->begin[a] == s->end[a], instant_b = s->begin[b] == s->end[b];
  if (instant_a || instant_b) {
    uint32_t x = instant_a ? a : b, y = instant_a ? b : a;
    return !(instant_a && instant_b) && s->begin[y] < s->begin[x] && s->begin[x] < s->end[y];
  }
  return s->begin[a] < s->end[b] && s->begin[b] < s->end[a];
}

static inline bool fs_rects_may_coincide(const fs_rects *s, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < s->p.n_pairs; k++) {
    bool this =
        (s->pair_a[k] == a && s->pair_b[k] == b) || (s->pair_a[k] == b && s->pair_b[k] == a);
    fs_tick from = s->begin[a] > s->begin[b] ? s->begin[a] : s->begin[b];
    fs_tick to = s->end[a] < s->end[b] ? s->end[a] : s->end[b];
    if (this && s->size[a] == s->size[b] && from >= s->pair_from[k] && to <= s->pair_to[k]) {
      return true;
    }
  }
  return false;
}

static inline bool fs_rects_conflict(const fs_rects *s, uint32_t a, uint32_t b,
                                     const uint64_t *address) {
  bool apart = address[a] + s->size[a] <= address[b] || address[b] + s->size[b] <= address[a];
  return s->size[a] > 0 && s->size[b] > 0 && !apart && fs_rects_meet(s, a, b) &&
         !(address[a] == address[b] && fs_rects_may_coincide(s, a, b));
}

/* Returns the highest end; UINT64_MAX when something is wrong. */
static inline uint64_t fs_rects_judge(const fs_rects *s, const uint64_t *address) {
  uint64_t peak = 0;
  for (uint32_t a = 0; a < s->p.n; a++) {
    if (s->p.given != NULL && s->given[a] != UINT64_MAX && address[a] != s->given[a]) {
      return UINT64_MAX;
    }
    if (s->size[a] > 0 && address[a] + s->size[a] > peak) {
      peak = address[a] + s->size[a];
    }
    for (uint32_t b = 0; b < a; b++) {
      if (fs_rects_conflict(s, a, b, address)) {
        return UINT64_MAX;
      }
    }
  }
  return peak;
}

/* Finds the least peak up to `most` by trying all addresses; UINT64_MAX: there is none. */
static inline uint64_t fs_rects_least_peak(const fs_rects *s, uint32_t k, uint64_t *address,
                                           uint64_t peak, uint64_t most) {
  if (k == s->p.n) {
    return peak;
  }
  uint64_t best = UINT64_MAX;
  bool given = s->p.given != NULL && s->given[k] != UINT64_MAX;
  for (uint64_t at = given ? s->given[k] : 0; at + s->size[k] <= most; at++) {
    bool fits = true;
    address[k] = at;
    for (uint32_t b = 0; b < k && fits; b++) {
      fits = !fs_rects_conflict(s, k, b, address);
    }
    if (fits) {
      uint64_t top = s->size[k] == 0 || at + s->size[k] < peak ? peak : at + s->size[k];
      uint64_t found = fs_rects_least_peak(s, k + 1, address, top, most);
      if (found < best) {
        best = found;
        most = found - 1 < most && found > 0 ? found - 1 : most;
      }
    }
    if (given || s->size[k] == 0) {
      break;
    }
  }
  return best;
}

/* Lists the conflicts in the form of fs_parcel. */
static inline void fs_rects_list_conflicts(const fs_rects *s, uint32_t *other0, uint32_t *other,
                                           uint8_t *together) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->p.n; i++) {
    other0[i] = n;
    for (uint32_t k = 0; k < s->p.n; k++) {
      if (k != i && fs_rects_meet(s, i, k)) {
        together[n] = fs_rects_may_coincide(s, i, k);
        other[n++] = k;
      }
    }
  }
  other0[s->p.n] = n;
}

#endif
