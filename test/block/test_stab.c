/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest syncs for a set of hazards: the shared facts, and brute force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/stab.h"
#include "kit/gen.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

enum { MAX = 64 };

static uint32_t spans(const char *text, fs_hazard_span *out) {
  uint32_t n = 0;
  for (const char *p = text; (p = strchr(p, '(')) != NULL; p++) {
    unsigned last;
    unsigned first;
    ck_assert_int_eq(sscanf(p, "(%u,%u)", &last, &first), 2);
    out[n++] = (fs_hazard_span){last, first};
  }
  return n;
}

START_TEST(facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  uint32_t seen = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    char need[1024];
    char existing[1024];
    char before[1024];
    if (sscanf(line, "stab need=%1023s existing=%1023s insert_before=%1023s", need, existing,
               before) != 3) {
      continue;
    }
    fs_hazard_span span[MAX];
    uint32_t given[MAX];
    uint32_t wanted[MAX];
    uint32_t got[MAX];
    uint32_t n_got;
    uint32_t n = spans(need, span);
    uint32_t n_given = fs_shared_numbers(existing, given);
    uint32_t n_wanted = fs_shared_numbers(before, wanted);
    ck_assert_int_eq(fs_block_stab(ctx, span, n, given, n_given, got, &n_got), FSCHED_OK);
    ck_assert_uint_eq(n_got, n_wanted);
    ck_assert_mem_eq(got, wanted, n_got * sizeof *got);
    seen++;
  }
  (void)fclose(file);
  ck_assert_uint_eq(seen, 3);
}
END_TEST

/* Whether each span is met; bit s of `syncs` stands for a sync at s. */
static bool all_met(const fs_hazard_span *span, uint32_t n, uint32_t syncs) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t inside = ((uint32_t)2 << span[i].first) - ((uint32_t)2 << span[i].last);
    if ((syncs & inside) == 0) {
      return false;
    }
  }
  return true;
}

START_TEST(brute_force)
{
  enum { TOP = 11 };
  fs_rng rng = {11};
  for (int round = 0; round < 5000; round++) {
    fs_hazard_span span[MAX];
    uint32_t n = fs_rng_below(&rng, 8);
    for (uint32_t i = 0; i < n; i++) {
      span[i].last = fs_rng_below(&rng, TOP);
      span[i].first = span[i].last + 1 + fs_rng_below(&rng, TOP - span[i].last);
    }
    uint32_t given[MAX];
    uint32_t n_given = 0;
    uint32_t mask = 0;
    for (uint32_t at = 0; at <= TOP; at++) {
      if (fs_rng_one_in(&rng, 8)) {
        given[n_given++] = at;
        mask |= (uint32_t)1 << at;
      }
    }
    uint32_t least = UINT32_MAX;
    for (uint32_t more = 0; more < (uint32_t)1 << (TOP + 1); more++) {
      uint32_t count = (uint32_t)__builtin_popcount(more);
      if (count < least && all_met(span, n, mask | more)) {
        least = count;
      }
    }
    uint32_t got[MAX];
    uint32_t n_got;
    ck_assert_int_eq(fs_block_stab(ctx, span, n, given, n_given, got, &n_got), FSCHED_OK);
    for (uint32_t i = 0; i < n_got; i++) {
      if (i > 0 && got[i] <= got[i - 1]) {
        ck_abort_msg("round %d: not ascending", round);
      }
      mask |= (uint32_t)1 << got[i];
    }
    if (n_got != least || !all_met(span, n, mask)) {
      ck_abort_msg("round %d: %u syncs where %u are enough", round, n_got, least);
    }
  }
}
END_TEST

FS_SUITE(stab, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, facts, brute_force);
}
