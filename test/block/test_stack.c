/* SPDX-License-Identifier: Apache-2.0 */
/* The stack that gives places back at syncs: the shared facts, and its promises on random
 * entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/stack.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

enum { MAX = 64 };

/* Reads NAME:SIZE:FIRST:LAST;... in order of first write. */
static uint32_t entries(const char *text, fs_stack_entry *out) {
  uint32_t n = 0;
  for (const char *p = text, *end; p != NULL; p = end == NULL ? NULL : end + 1) {
    unsigned size;
    end = strchr(p, ';');
    ck_assert_int_eq(sscanf(p, "%*[^:]:%u:%u:%u", &size, &out[n].first, &out[n].last), 3);
    out[n++].size = size;
  }
  return n;
}

/* Compares with NAME:ADDRESS;... in the same order. */
static void compare_addresses(const char *text, const uint64_t *address, uint32_t n) {
  const char *p = text;
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_ptr_nonnull(p);
    p = strchr(p, ':');
    ck_assert_uint_eq(strtoull(p + 1, NULL, 10), address[i]);
    p = strchr(p, ';');
  }
  ck_assert_ptr_null(p);
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
    char allocs[1024];
    char syncs[1024];
    char addr[1024];
    unsigned align;
    unsigned peak;
    if (sscanf(line, "stack allocs=%1023s syncs=%1023s align=%u addr=%1023s peak=%u", allocs, syncs,
               &align, addr, &peak) != 5) {
      continue;
    }
    fs_stack_entry entry[MAX];
    uint32_t sync[MAX];
    uint64_t address[MAX];
    uint64_t got;
    uint32_t n = entries(allocs, entry);
    uint32_t n_syncs = fs_shared_numbers(syncs, sync);
    ck_assert_int_eq(fs_block_stack(ctx, entry, n, sync, n_syncs, align, address, &got), FSCHED_OK);
    compare_addresses(addr, address, n);
    ck_assert_uint_eq(got, peak);
    seen++;
  }
  (void)fclose(file);
  ck_assert_uint_eq(seen, 4);
}
END_TEST

/* Without the holding area, A would lie below B and never be given back, which takes 276. */
START_TEST(holding)
{
  const fs_stack_entry entry[] = {{20, 1, 3}, {24, 2, 6}, {24, 5, 7}};
  uint32_t sync = 4;
  uint64_t address[3];
  uint64_t peak;
  ck_assert_int_eq(fs_block_stack(ctx, entry, 3, &sync, 1, 128, address, &peak), FSCHED_OK);
  ck_assert_uint_eq(peak, 152);
  ck_assert_int_eq(fs_block_stack(ctx, entry, 3, NULL, 0, 128, address, &peak), FSCHED_OK);
  ck_assert_uint_eq(peak, 276);
}
END_TEST

/* A is not pushed at the sync before 2, where nothing could be given back, so B goes below it. */
START_TEST(patient)
{
  const fs_stack_entry entry[] = {{8, 1, 10}, {8, 3, 30}, {8, 12, 13}};
  const uint32_t sync[] = {2, 11};
  uint64_t address[3];
  uint64_t peak;
  ck_assert_int_eq(fs_block_stack(ctx, entry, 3, sync, 2, 1, address, &peak), FSCHED_OK);
  ck_assert_uint_eq(peak, 16);
}
END_TEST

/* Y is written while X lives, and lives longer: X may not be given back from beneath it. */
START_TEST(still_alive)
{
  const fs_stack_entry entry[] = {{8, 0, 0}, {8, 0, 5}, {8, 3, 20}, {8, 9, 12}, {8, 30, 31}};
  const uint32_t sync[] = {2, 6, 25};
  uint64_t address[5];
  uint64_t peak;
  ck_assert_int_eq(fs_block_stack(ctx, entry, 5, sync, 3, 1, address, &peak), FSCHED_OK);
  ck_assert_uint_eq(address[1], 0); /* X, on the stack since the sync before 2 */
  ck_assert_uint_eq(address[2], 8); /* Y, held until the sync before 25 */
  ck_assert_uint_eq(address[3], 16);
  ck_assert_uint_eq(address[4], 0);
  ck_assert_uint_eq(peak, 24);
}
END_TEST

static uint32_t random_entries(fs_rng *rng, fs_stack_entry *e, uint32_t n) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < n; i++) {
    first += fs_rng_below(rng, 3);
    e[i].size = fs_rng_below(rng, 40);
    e[i].first = first;
    e[i].last = fs_rng_one_in(rng, 30) ? UINT32_MAX : first + fs_rng_below(rng, 12);
  }
  return first;
}

static bool apart(const fs_stack_entry *a, const fs_stack_entry *b, const uint32_t *sync,
                  uint32_t n_syncs) {
  for (uint32_t i = 0; i < n_syncs; i++) {
    if ((a->last < sync[i] && sync[i] <= b->first) || (b->last < sync[i] && sync[i] <= a->first)) {
      return true;
    }
  }
  return false;
}

START_TEST(random_lives)
{
  fs_rng rng = {5};
  uint64_t shared = 0; /* pairs that share bytes show that the property is not empty */
  for (int round = 0; round < 4000; round++) {
    fs_stack_entry e[MAX];
    uint32_t sync[MAX * 3];
    uint64_t address[MAX];
    uint64_t peak;
    uint32_t n = fs_rng_below(&rng, MAX);
    uint32_t top = random_entries(&rng, e, n) + 4;
    uint32_t n_syncs = 0;
    uint32_t often = 1 + fs_rng_below(&rng, 12);
    for (uint32_t at = 0; at < top; at++) {
      if (fs_rng_one_in(&rng, often)) {
        sync[n_syncs++] = at;
      }
    }
    uint64_t align = (uint64_t)1 << fs_rng_below(&rng, 5);
    ck_assert_int_eq(fs_block_stack(ctx, e, n, sync, n_syncs, align, address, &peak), FSCHED_OK);
    uint64_t high = 0;
    for (uint32_t i = 0; i < n; i++) {
      high = fs_max(high, address[i] + e[i].size);
      if (address[i] % align != 0) {
        ck_abort_msg("round %d: %u is not aligned", round, i);
      }
      for (uint32_t k = 0; k < i; k++) {
        if (address[i] < address[k] + e[k].size && address[k] < address[i] + e[i].size) {
          shared++;
          if (!apart(&e[k], &e[i], sync, n_syncs)) {
            ck_abort_msg("round %d: %u and %u share bytes without a sync", round, k, i);
          }
        }
      }
    }
    ck_assert_uint_eq(peak, high);
  }
  ck_assert_uint_gt(shared, 10000);
}
END_TEST

START_TEST(huge)
{
  const uint64_t most = (uint64_t)1 << 62;
  const fs_stack_entry entry[] = {{most, 0, 9}, {most, 1, 9}, {most, 2, 9}};
  uint64_t address[3];
  uint64_t peak;
  ck_assert_int_eq(fs_block_stack(ctx, entry, 3, NULL, 0, 4096, address, &peak), FSCHED_OK);
  ck_assert_uint_ge(peak, most);
}
END_TEST

START_TEST(no_memory)
{
  fs_budget budget = {.left = 0};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  for (long fail = 0;; fail++) {
    budget.left = 1000;
    fsched_context *own;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    const fs_stack_entry entry[] = {{20, 1, 3}, {24, 2, 6}, {24, 5, 7}};
    uint32_t sync = 4;
    uint64_t address[3];
    uint64_t peak;
    budget.left = fail;
    fs_status status = fs_block_stack(own, entry, 3, &sync, 1, 128, address, &peak);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
    if (status == FSCHED_OK) {
      ck_assert_int_gt(fail, 0);
      return;
    }
    ck_assert_int_eq(status, FSCHED_SYSTEM);
  }
}
END_TEST

FS_SUITE(stack, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, facts, holding, patient, still_alive, random_lives, huge, no_memory);
}
