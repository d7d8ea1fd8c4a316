/* SPDX-License-Identifier: Apache-2.0 */
/* Strided views: what they share is what sets of their bytes share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "kit/gen.h"
#include "kit/shared_facts.h"
#include "kit/turn.h"

#include "kit/context.h"

enum { BYTES = 256 };

typedef struct byte_set {
  uint8_t at[BYTES]; /* how many elements have the byte, at most 2 */
} byte_set;

static void add_elements(const fs_view *v, uint32_t d, uint64_t at, byte_set *set) {
  if (d < v->n_dims) {
    for (uint64_t i = 0; i < v->shape[d]; i++) {
      add_elements(v, d + 1, at + i * v->stride[d], set);
    }
    return;
  }
  for (uint64_t i = 0; i < v->element; i++) {
    assert(at + i < BYTES);
    set->at[at + i] = (uint8_t)(set->at[at + i] == 0 ? 1 : 2);
  }
}

static byte_set bytes_of(const fs_view *v) {
  byte_set set = {{0}};
  add_elements(v, 0, v->offset, &set);
  return set;
}

static fs_overlap overlap_of(const byte_set *probe, const byte_set *entry) {
  uint32_t shared = 0, missing = 0;
  for (uint32_t i = 0; i < BYTES; i++) {
    shared += probe->at[i] > 0 && entry->at[i] > 0;
    missing += probe->at[i] == 0 && entry->at[i] > 0;
  }
  return missing == 0 ? FS_OVERLAP_COVERED : shared > 0 ? FS_OVERLAP_PARTIAL : FS_OVERLAP_NONE;
}

/* A view that ends within BYTES; it may interleave, repeat or be empty. */
static fs_view draw_view(fs_rng *rng) {
  static const uint8_t strides[] = {0, 1, 2, 3, 4, 6, 8, 8, 12, 16, 16, 20, 24, 32, 48, 64};
  for (;;) {
    fs_view v = {.offset = fs_rng_below(rng, BYTES / 2),
                 .element = 1 + fs_rng_below(rng, 4),
                 .n_dims = fs_rng_below(rng, FS_VIEW_DIMS + 1)};
    for (uint32_t d = 0; d < v.n_dims; d++) {
      v.shape[d] = fs_rng_one_in(rng, 60) ? 0 : 1 + fs_rng_below(rng, 1 + 12 / (d + 1));
      v.stride[d] = strides[fs_rng_below(rng, sizeof strides)];
    }
    if (fs_view_end(&v) <= BYTES) {
      return v;
    }
  }
}

/* One that is often beside, or within, the other. */
static fs_view draw_other(fs_rng *rng, const fs_view *v) {
  fs_view other = *v;
  if (fs_rng_one_in(rng, 2)) {
    return draw_view(rng);
  }
  other.offset += fs_rng_below(rng, 9);
  if (other.n_dims > 0) {
    uint32_t d = fs_rng_below(rng, other.n_dims);
    other.shape[d] = 1 + fs_rng_below(rng, (uint32_t)other.shape[d] + 1);
  }
  return fs_view_end(&other) <= BYTES ? other : *v;
}

static void print_view(char *out, size_t size, const fs_view *v) {
  int n = snprintf(out, size, "%u of %u", (unsigned)v->offset, (unsigned)v->element);
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n += snprintf(out + n, size - (size_t)n, ", %u by %u", (unsigned)v->shape[d],
                  (unsigned)v->stride[d]);
  }
}

START_TEST(as_sets_of_bytes)
{
  enum { PAIRS = 125000 };
  fs_rng rng = {fs_turn() * 8 + (uint64_t)_i};
  uint32_t n[3] = {0}, twice = 0;
  for (uint32_t k = 0; k < PAIRS; k++) {
    fs_view a = draw_view(&rng), b = draw_other(&rng, &a);
    byte_set in_a = bytes_of(&a), in_b = bytes_of(&b);
    fs_view_runs x = fs_view_runs_of(&a), y = fs_view_runs_of(&b);
    bool gave_up, both = memchr(in_a.at, 2, BYTES) != NULL;
    fs_overlap want = overlap_of(&in_a, &in_b), got = fs_view_overlap(&x, &y, &gave_up);
    if (got != want || gave_up || fs_view_overlaps_itself(&a) != both) {
      char one[160], other[160];
      print_view(one, sizeof one, &a);
      print_view(other, sizeof other, &b);
      ck_abort_msg("%s; %s: %d instead of %d", one, other, (int)got, (int)want);
    }
    n[want]++;
    twice += both;
  }
  fs_assert_seen(n[FS_OVERLAP_NONE], PAIRS / 20);
  fs_assert_seen(n[FS_OVERLAP_PARTIAL], PAIRS / 20);
  fs_assert_seen(n[FS_OVERLAP_COVERED], PAIRS / 20);
  fs_assert_seen(twice, PAIRS / 20);
}
END_TEST

/* All runs, in order, are the bytes. */
START_TEST(runs_are_the_bytes)
{
  static const byte_set none;
  fs_rng rng = {fs_turn() * 8 + 7};
  for (uint32_t k = 0; k < 20000; k++) {
    fs_view v = draw_view(&rng);
    fs_view_runs r = fs_view_runs_of(&v);
    byte_set want = bytes_of(&v);
    uint64_t at = 0, low, high;
    uint32_t steps = 0;
    while (fs_view_next(&r, at, &low, &high, &steps)) {
      bool right = high > at && high <= BYTES;
      for (uint64_t i = at > low ? at : low; right && i < high; i++) {
        right = want.at[i] > 0;
        want.at[i] = 0;
      }
      ck_assert(right);
      at = high;
    }
    ck_assert_mem_eq(&want, &none, sizeof none);
  }
}
END_TEST

/* A walk leaves no run out, however many rows lie over each other. */
START_TEST(walks_are_whole)
{
  enum { SPAN = 4096 };
  static uint8_t want[SPAN];
  fs_rng rng = {fs_turn() * 8 + 5};
  for (uint32_t k = 0; k < 60; k++) {
    fs_view v = {.element = 1 + fs_rng_below(&rng, 3), .n_dims = 5};
    uint32_t n = 1;
    for (uint32_t d = 0; d < v.n_dims; d++) {
      v.shape[d] = 2 + fs_rng_below(&rng, 8);
      v.stride[d] = 11 + fs_rng_below(&rng, 60);
      n *= (uint32_t)v.shape[d];
    }
    memset(want, 0, sizeof want);
    for (uint32_t i = 0; i < n; i++) {
      uint64_t at = 0, rest = i;
      for (uint32_t d = 0; d < v.n_dims; d++) {
        at += rest % v.shape[d] * v.stride[d];
        rest /= v.shape[d];
      }
      memset(want + at, 1, v.element);
    }
    fs_view_runs runs = fs_view_runs_of(&v);
    ck_assert(fs_view_fine(&runs));
    for (fs_view_walk w = {.at = 0}; fs_view_walk_on(&runs, &w);) {
      for (uint64_t at = w.low; at < w.high; at++) {
        ck_assert_uint_eq(want[at], 1);
        want[at] = 0;
      }
    }
    for (uint32_t at = 0; at < SPAN; at++) {
      ck_assert_uint_eq(want[at], 0);
    }
  }
}
END_TEST

/* Tiles of a large matrix cost a step a row; what interleaves too often is not called apart. */
START_TEST(limits)
{
  fs_view left = {0, 4, 2, {32768, 64}, {65536, 4}}, right = {256, 4, 2, {32768, 64}, {65536, 4}};
  fs_view_runs x = fs_view_runs_of(&left), y = fs_view_runs_of(&right);
  bool gave_up;
  ck_assert_int_eq(fs_view_overlap(&x, &y, &gave_up), FS_OVERLAP_PARTIAL);
  ck_assert(gave_up);
  right.shape[0] = left.shape[0] = 4096;
  x = fs_view_runs_of(&left);
  y = fs_view_runs_of(&right);
  ck_assert_int_eq(fs_view_overlap(&x, &y, &gave_up), FS_OVERLAP_NONE);
  ck_assert(!gave_up);
  fs_view whole = {0, UINT64_C(1) << 40, 0, {0}, {0}};
  y = fs_view_runs_of(&whole);
  ck_assert_int_eq(fs_view_overlap(&y, &x, &gave_up), FS_OVERLAP_COVERED);
  ck_assert_int_eq(fs_view_overlap(&x, &y, &gave_up), FS_OVERLAP_PARTIAL);
  fs_view far = {UINT64_C(1) << 62, 4, 1, {2}, {UINT64_C(1) << 62}};
  ck_assert(!fs_view_valid(&far));
  far.n_dims = FS_VIEW_DIMS + 1;
  ck_assert(!fs_view_valid(&far));
  ck_assert(!fs_view_valid(&(fs_view){.offset = 1}));
}
END_TEST

/* A box of a view has no byte that the view has not. */
START_TEST(boxes)
{
  fs_rng rng = {fs_turn() + 77};
  uint32_t n = 0;
  for (uint32_t i = 0; i < 20000; i++) {
    fs_view entry = draw_view(&rng), part = entry;
    for (uint32_t d = 0; d < entry.n_dims; d++) {
      uint64_t first = fs_rng_below(&rng, (uint32_t)entry.shape[d] + 1);
      part.shape[d] = fs_rng_below(&rng, (uint32_t)entry.shape[d] + 2);
      part.offset += first * entry.stride[d];
    }
    if (fs_view_end(&part) > BYTES) {
      continue;
    }
    fs_view_runs x = fs_view_runs_of(&entry), y = fs_view_runs_of(&part);
    byte_set all = bytes_of(&entry), some = bytes_of(&part);
    if (fs_view_has_box(&x, &y)) {
      ck_assert_int_eq(overlap_of(&all, &some), FS_OVERLAP_COVERED);
      n++;
    }
  }
  fs_assert_seen(n, 2000);
}
END_TEST

/* However many runs there are, a box is told exactly; what has one row more is not. */
START_TEST(boxes_beyond_the_limit)
{
  fs_view entry = {100, 4, 2, {4096, 4096}, {65536, 8}};
  fs_view part = {100 + 5 * 65536 + 7 * 8 + 1, 3, 2, {4091, 4089}, {65536, 8}};
  fs_view_runs x = fs_view_runs_of(&entry), y = fs_view_runs_of(&part);
  bool gave_up = true;
  ck_assert_int_eq(fs_view_overlap(&x, &y, &gave_up), FS_OVERLAP_COVERED);
  ck_assert(!gave_up);
  ck_assert_int_eq(fs_view_overlap(&y, &x, &gave_up), FS_OVERLAP_PARTIAL);
  for (uint32_t d = 0; d < 2; d++) {
    fs_view more = part;
    more.shape[d]++;
    y = fs_view_runs_of(&more);
    ck_assert(!fs_view_has_box(&x, &y));
    ck_assert_int_eq(fs_view_overlap(&x, &y, &gave_up), FS_OVERLAP_PARTIAL);
  }
  part.offset++; /* of an element of 4 bytes, the last 3 begin at 1 */
  y = fs_view_runs_of(&part);
  ck_assert(!fs_view_has_box(&x, &y));
}
END_TEST

/* --- facts --- */

static uint32_t size_of_type(const char *type) {
  ck_assert(strcmp(type, "u8") == 0 || strcmp(type, "f32") == 0);
  return type[0] == 'u' ? 1 : 4;
}

/* whole, or offset;shape,..;strides,..: the offset in bytes, strides in elements. */
static fs_view read_view(const char *text, uint32_t element, uint64_t backing) {
  fs_view v = {.element = element};
  if (strcmp(text, "whole") == 0) {
    v.element = backing;
    return v;
  }
  char *end;
  v.offset = strtoull(text, &end, 10);
  for (char next = ';'; *end == next; next = ',') {
    ck_assert_uint_lt(v.n_dims, FS_VIEW_DIMS);
    v.shape[v.n_dims++] = strtoull(end + 1, &end, 10);
  }
  uint32_t d = 0;
  for (char next = ';'; *end == next; next = ',') {
    ck_assert_uint_lt(d, v.n_dims);
    v.stride[d++] = strtoull(end + 1, &end, 10) * element;
  }
  ck_assert(*end == '\0' && d == v.n_dims);
  return v;
}

/* What the facts call PARTIAL is "may share bytes"; the exact answer is wanted. */
START_TEST(overlap_facts)
{
  static const char *const words[] = {"NONE", "PARTIAL", "COVERED"};
  static const char exact[] = "probe=0;4096;1 entry=whole"; /* all 4,096 bytes are covered */
  FILE *file = fs_shared_facts("orchestrator_vectors.txt");
  char line[512], type[16], probe[128], entry[128], word[16];
  unsigned long backing;
  uint32_t n = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "ovl %15s backing=%lu probe=%127s entry=%127s = %15s", type, &backing, probe,
               entry, word) != 5) {
      continue;
    }
    const char *wanted = strstr(line, exact) != NULL ? "COVERED" : word;
    fs_view a = read_view(probe, size_of_type(type), backing);
    fs_view b = read_view(entry, size_of_type(type), backing);
    fs_view_runs x = fs_view_runs_of(&a), y = fs_view_runs_of(&b);
    ck_assert_msg(strcmp(words[fs_view_overlap(&x, &y, NULL)], wanted) == 0, "%s", line);
    n++;
  }
  if (file != NULL) {
    ck_assert_uint_eq(n, 7);
    (void)fclose(file);
  }
}
END_TEST

FS_SUITE(view, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 8, as_sets_of_bytes);
  FS_TESTS(t, runs_are_the_bytes, walks_are_whole, limits, boxes, boxes_beyond_the_limit,
           overlap_facts);
}
