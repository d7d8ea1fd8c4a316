/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and extents, compared with a brute force over the residencies, which looks at every border
 * of addresses at every begin; and a known case, as the statistics show it. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/cover.h"
#include "model/handle.h"

#include "kit/context.h"

static bool lives_at(const fs_schedule *s, uint32_t r, fs_tick time) {
  return s->res_begin[r] <= time && time < s->res_end[r];
}

static bool covered(const fs_schedule *s, uint32_t memory, fs_tick time, uint64_t address) {
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_memory[r] == memory && lives_at(s, r, time) && s->res_address[r] <= address &&
        address < s->res_address[r] + s->res_size[r]) {
      return true;
    }
  }
  return false;
}

/* The next border above an address, where the covered ranges may change. */
static uint64_t next_border(const fs_schedule *s, uint32_t memory, uint64_t above) {
  uint64_t next = UINT64_MAX;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_memory[r] == memory) {
      uint64_t border[2] = {s->res_address[r], s->res_address[r] + s->res_size[r]};
      for (int i = 0; i < 2; i++) {
        next = border[i] > above ? fs_min(next, border[i]) : next;
      }
    }
  }
  return next;
}

static uint64_t live_bytes(const fs_schedule *s, uint32_t memory, fs_tick time) {
  uint64_t sum = 0;
  if (!fs_placement_has_addresses(s->graph->target.memory[memory].placement)) {
    for (uint32_t r = 0; r < s->n_residencies; r++) {
      sum += s->res_memory[r] == memory && lives_at(s, r, time) ? s->res_size[r] : 0;
    }
    return sum;
  }
  for (uint64_t at = 0, next; (next = next_border(s, memory, at)) != UINT64_MAX; at = next) {
    sum += covered(s, memory, time, at) ? next - at : 0;
  }
  return sum;
}

static uint64_t tried_peak(const fs_schedule *s, uint32_t memory) {
  uint64_t peak = 0;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    peak = fs_max(peak, live_bytes(s, memory, s->res_begin[r]));
  }
  return peak;
}

/* The highest byte that is covered at some begin, plus 1. */
static uint64_t tried_extent(const fs_schedule *s, uint32_t memory) {
  uint64_t extent = 0;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint64_t end = s->res_address[r] + s->res_size[r];
    if (s->res_memory[r] == memory && end > extent &&
        covered(s, memory, s->res_begin[r], end - 1)) {
      extent = end;
    }
  }
  return fs_placement_has_addresses(s->graph->target.memory[memory].placement) ? extent : 0;
}

static void expect_shown(const fsched_schedule *s, uint64_t *peak, uint64_t *extent) {
  char *text, wanted[200];
  size_t n;
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &text, &n));
  const char *at = strstr(text, "\"memories\"");
  const fs_target *target = &s->schedule->graph->target;
  for (uint32_t m = 0; m < target->n_memories; m++) {
    int length = snprintf(wanted, sizeof wanted,
                          "\"peak\": %llu, \"extent\": ", (unsigned long long)peak[m]);
    if (fs_placement_has_addresses(target->memory[m].placement)) {
      (void)snprintf(wanted + length, sizeof wanted - (size_t)length, "%llu,",
                     (unsigned long long)extent[m]);
    } else {
      (void)snprintf(wanted + length, sizeof wanted - (size_t)length, "null,");
    }
    at = strstr(at, wanted);
    ck_assert_msg(at != NULL, "memory %u: not %s", m, wanted);
  }
  fsched_text_free(ctx, text, n);
}

static bool check_schedule(const fsched_schedule *s) {
  uint32_t n = s->schedule->graph->target.n_memories;
  uint64_t peak[16], extent[16];
  bool apart = false;
  ck_assert_uint_le(n, 16);
  ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, peak));
  fs_schedule_extents(s->schedule, extent);
  for (uint32_t m = 0; m < n; m++) {
    ck_assert_uint_eq(peak[m], tried_peak(s->schedule, m));
    ck_assert_uint_eq(extent[m], tried_extent(s->schedule, m));
    apart = apart || peak[m] < extent[m];
  }
  expect_shown(s, peak, extent);
  return apart;
}

START_TEST(random_schedules)
{
  uint32_t apart = 0, compiled = 0;
  for (uint64_t k = 0; k < 200; k++) {
    uint64_t seed = (fs_turn() * 200 + k) * 2 + (uint64_t)_i;
    fs_gen_params p = _i == 0 ? fs_gen_any(seed, 12) : fs_gen_odd(seed, 12);
    fsched_graph *g;
    fsched_schedule *s;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
    ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
    if (status == FSCHED_OK) {
      compiled++;
      apart += check_schedule(s);
      fsched_schedule_destroy(s);
    }
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(compiled, 50);
  fs_assert_seen(apart, 0);
}
END_TEST

/* x and y live together, then y and z, which does not fit below y: 12 KiB of 16. */
START_TEST(a_hole)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\n"
      "target: {queues: [{name: q}], memories: [{name: m, capacity: 64KiB}]}\n"
      "ops:\n"
      "  - {name: a, time: 2, args: [{out: x, size: 4KiB}]}\n"
      "  - {name: b, time: 2, args: [{in: x}, {out: y, size: 4KiB}]}\n"
      "  - {name: c, time: 2, args: [{in: y}, {out: z, size: 8KiB}]}\n");
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  uint64_t peak = 0, extent = 0;
  ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, &peak));
  fs_schedule_extents(s->schedule, &extent);
  ck_assert_uint_eq(peak, 12 << 10);
  ck_assert_uint_eq(extent, 16 << 10);
  ck_assert(check_schedule(s));
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(no_limit)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\n"
      "ops: [{name: a, size: 4}, {name: b, size: 4, args: [{in: a}]}]\n");
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o};
  char *text;
  size_t n;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_fs(ctx, fsched_schedule_stats_json(ctx, s, &text, &n));
  ck_assert_ptr_nonnull(
      strstr(text, "{\"capacity\": null, \"peak\": 0, \"extent\": 0, \"lower_bound\": 0}"));
  fsched_text_free(ctx, text, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Ranges are added, and removed in another order, beside a count per address. */
START_TEST(covers)
{
  enum { ADDRESSES = 64, RANGES = 20 };
  fs_rng rng = {fs_turn() * 100 + (uint64_t)_i};
  uint64_t border[4 * RANGES], first[RANGES], size[RANGES];
  uint32_t count[ADDRESSES] = {0};
  bool in[RANGES] = {false};
  for (uint32_t i = 0; i < RANGES; i++) {
    first[i] = fs_rng_below(&rng, ADDRESSES);
    size[i] = 1 + fs_rng_below(&rng, (uint32_t)(ADDRESSES - first[i]));
    border[2 * i] = first[i];
    border[2 * i + 1] = first[i] + size[i];
  }
  fs_cover v;
  ck_fs(ctx, fs_cover_init(&v, &own_arena, border, 2 * RANGES));
  for (uint32_t step = 0; step < 200; step++) {
    uint32_t i = fs_rng_below(&rng, RANGES), sum = 0;
    in[i] = !in[i];
    fs_cover_change(&v, first[i], size[i], in[i]);
    for (uint64_t a = first[i]; a < first[i] + size[i]; a++) {
      count[a] += in[i] ? 1 : UINT32_MAX;
    }
    for (uint32_t a = 0; a < ADDRESSES; a++) {
      sum += count[a] > 0;
    }
    ck_assert_uint_eq(fs_cover_bytes(&v), sum);
  }
}
END_TEST

FS_SUITE(occupancy, s) {
  TCase *t = fs_case(s, fs_test_arena);
  tcase_set_timeout(t, 60);
  FS_TESTS(t, a_hole, no_limit);
  tcase_add_loop_test(t, random_schedules, 0, 2);
  tcase_add_loop_test(t, covers, 0, 20);
}
