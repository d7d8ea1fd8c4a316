/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and extents, compared with a brute force over the residencies, which looks at every border
 * of addresses at every item in the order of issue; and known cases, as the statistics show
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/bounds/bounds.h"
#include "model/cover.h"
#include "model/handle.h"
#include "model/stream/stream.h"

#include "kit/context.h"

static bool touches(const fs_schedule *s, uint32_t item, uint32_t r) {
  const fsched_graph *g = s->graph;
  bool any = false;
  if (fs_item_is_copy(s, item)) {
    return s->copy_residency[item - g->n_ops] == r || s->copy_store[item - g->n_ops] == r;
  }
  for (uint32_t a = g->op_arg0[item]; a < g->op_arg0[item + 1]; a++) {
    any = any || s->arg_residency[a] == r;
  }
  return any || (s->res_op[r] == item && s->res_version[r] == FS_NONE);
}

/* Is the residency there when the k-th item is issued?  Then it has begun by this item, and some
 * item from this one on touches it, or it lasts for longer than until the item starts. */
static bool lives_at(const fs_schedule *s, uint32_t r, uint32_t k) {
  fs_tick now = s->start[s->order[k]];
  bool before = fs_residency_given(s, r) && s->res_begin[r] == 0;
  bool after = fs_residency_stays(s, r) || s->res_end[r] > now;
  for (uint32_t i = 0; i < s->n_items; i++) {
    bool touched = touches(s, s->order[i], r);
    before = before || (touched && i <= k);
    after = after || (touched && i >= k);
  }
  return before && after;
}

static bool covered(const fs_schedule *s, uint32_t memory, const bool *lives, uint64_t address) {
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_memory[r] == memory && lives[r] && s->res_address[r] <= address &&
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

static uint64_t live_bytes(const fs_schedule *s, uint32_t memory, const bool *lives) {
  uint64_t sum = 0;
  if (!fs_placement_has_addresses(s->graph->target.memory[memory].placement)) {
    for (uint32_t r = 0; r < s->n_residencies; r++) {
      sum += s->res_memory[r] == memory && lives[r] ? s->res_size[r] : 0;
    }
    return sum;
  }
  for (uint64_t at = 0, next; (next = next_border(s, memory, at)) != UINT64_MAX; at = next) {
    sum += covered(s, memory, lives, at) ? next - at : 0;
  }
  return sum;
}

static uint64_t tried_peak(const fs_schedule *s, uint32_t memory) {
  uint64_t peak = 0;
  bool *lives = calloc((size_t)s->n_residencies + 1, sizeof *lives);
  ck_assert_ptr_nonnull(lives);
  for (uint32_t k = 0; k < s->n_items; k++) {
    for (uint32_t r = 0; r < s->n_residencies; r++) {
      lives[r] = lives_at(s, r, k);
    }
    peak = fs_max(peak, live_bytes(s, memory, lives));
  }
  free(lives);
  return peak;
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

/* What is in use is no less than every schedule needs, and no more than there is; the extent is
 * that of the stream. */
static bool check_schedule(const fsched_schedule *s, const fsched_program *program) {
  const fs_target *target = &s->schedule->graph->target;
  uint32_t n = target->n_memories;
  uint64_t peak[16], extent[16], bound[16];
  bool apart = false;
  ck_assert_uint_le(n, 16);
  ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, peak));
  ck_fs(ctx, fs_memory_lower_bounds(ctx, s->schedule->graph, bound));
  fs_schedule_extents(s->schedule, extent);
  for (uint32_t m = 0; m < n; m++) {
    bool placed = fs_placement_has_addresses(target->memory[m].placement);
    ck_assert_uint_eq(peak[m], tried_peak(s->schedule, m));
    if (fs_memory_bounded(&target->memory[m])) {
      ck_assert_uint_ge(peak[m], bound[m]);
      ck_assert_uint_le(peak[m], placed ? extent[m] : target->memory[m].capacity);
      ck_assert_uint_eq(extent[m], placed ? program->view.memories[m].extent : 0);
    }
    apart = apart || peak[m] < extent[m];
  }
  expect_shown(s, peak, extent);
  return apart;
}

static bool has_instant(const fs_schedule *s) {
  bool any = false;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    any = any || (s->res_size[r] > 0 && s->res_begin[r] == s->res_end[r]);
  }
  return any;
}

START_TEST(random_schedules)
{
  uint32_t apart = 0, compiled = 0, instants = 0;
  for (uint64_t k = 0; k < 200; k++) {
    uint64_t seed = (fs_turn() * 200 + k) * 2 + (uint64_t)_i;
    fs_gen_params p = _i == 0 ? fs_gen_any(seed, 12) : fs_gen_odd(seed, 12);
    fsched_graph *g;
    fsched_schedule *s;
    fsched_program *program;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    fsched_status status = fsched_compile(ctx, g, &o, &s, &program);
    ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
    if (status == FSCHED_OK) {
      compiled++;
      apart += check_schedule(s, program);
      instants += has_instant(s->schedule);
      fsched_program_destroy(program);
      fsched_schedule_destroy(s);
    }
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(compiled, 50);
  fs_assert_seen(apart, 0);
  fs_assert_seen(instants, 0);
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
  fsched_program *program;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, &program));
  uint64_t peak = 0, extent = 0;
  ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, &peak));
  fs_schedule_extents(s->schedule, &extent);
  ck_assert_uint_eq(peak, 12 << 10);
  ck_assert_uint_eq(extent, 16 << 10);
  ck_assert(check_schedule(s, program));
  fsched_program_destroy(program);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Graphs of one memory whose ops take no time, and what it has to hold: with a byte less there is
 * no schedule. */
static const struct {
  const char *buffer, *ops;
  uint64_t needed;
} no_times[] = {
    {"", "{name: c, time: 0, scratch: {m: 10}}, {name: e, time: 3, after: [c], scratch: {m: 4}}",
     10},
    {"",
     "{name: a, time: 0, args: [{out: x, size: 80}]},"
     "{name: b, time: 0, args: [{in: x}, {out: y, size: 8}]}",
     88},
    /* x ends and y begins when b starts */
    {"",
     "{name: a, time: 2, args: [{out: x, size: 8}]},"
     "{name: b, time: 0, args: [{in: x}, {out: y, size: 8}]}, {name: c, time: 2, args: [{in: y}]}",
     16},
    /* x is there for b while c runs, all at one instant */
    {"",
     "{name: a, time: 0, args: [{out: x, size: 8}]}, {name: c, time: 0, after: [a], scratch: {m: "
     "8}},"
     "{name: b, time: 0, args: [{in: x}], after: [c]}",
     16},
    /* an input that no op has used yet, and an output that stays */
    {"{name: i, size: 8, io: input}",
     "{name: a, time: 0, args: [{out: x, size: 8}]}, {name: b, time: 1, args: [{in: i}], after: "
     "[a]}",
     16},
    {"{name: o, size: 8, io: output}",
     "{name: a, time: 2, args: [{out: o}]}, {name: b, time: 0, args: [{out: x, size: 8}], after: "
     "[a]}",
     16},
};

static fs_status compile_no_time(int i, const char *placement, uint64_t capacity, fsched_graph **g,
                                 fsched_schedule **s, fsched_program **program) {
  char text[1000];
  int n = snprintf(text, sizeof text,
                   "{fsched: 1, target: {queues: [{name: p}, {name: q}], memories: [{name: m, "
                   "capacity: %llu, placement: %s}]}, buffers: [%s], ops: [%s]}",
                   (unsigned long long)capacity, placement, no_times[i].buffer, no_times[i].ops);
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  *g = NULL;
  FS_TRY(fsched_graph_parse(ctx, "g", text, (size_t)n, NULL, g));
  return fsched_compile(ctx, *g, &o, s, program);
}

START_TEST(no_time)
{
  static const char *const placement[] = {"contiguous", "counted"};
  uint64_t needed = no_times[_i / 2].needed, capacity[] = {1000, needed}, peak;
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *program;
  for (int k = 0; k < 2; k++) {
    ck_fs(ctx, compile_no_time(_i / 2, placement[_i % 2], capacity[k], &g, &s, &program));
    ck_fs(ctx, fs_schedule_peaks(ctx, s->schedule, &peak));
    ck_assert_uint_eq(peak, needed);
    (void)check_schedule(s, program);
    fsched_program_destroy(program);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_int_eq(compile_no_time(_i / 2, placement[_i % 2], needed - 1, &g, &s, &program),
                   FSCHED_INFEASIBLE);
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
  tcase_add_loop_test(t, no_time, 0, 2 * sizeof no_times / sizeof *no_times);
  tcase_add_loop_test(t, random_schedules, 0, 2);
  tcase_add_loop_test(t, covers, 0, 20);
}
