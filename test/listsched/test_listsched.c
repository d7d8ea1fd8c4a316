/* SPDX-License-Identifier: Apache-2.0 */
/* The list scheduler: known optima, the precondition as the only refusal for memory, policies,
 * errors, and the shared facts on whole schedules (their orders, times and spills are required,
 * their addresses are not). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/gen.h"
#include "kit/shared_facts.h"
#include "listsched/listsched.h"
#include "model/kinds.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

/* Schedules and verifies. */
static fs_schedule *schedule(fsched_context *own, const fsched_graph *g, fsched_evict evict) {
  fs_listsched_options o = {.evict = evict, .effort = FSCHED_EFFORT_USUAL};
  fs_schedule *s = NULL;
  fs_status status = fs_listsched_run(own, g, &o, &s);
  ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(own));
  status = fs_verify_schedule(own, g, s, NULL);
  ck_assert_msg(status == FSCHED_OK, "%s", fs_first_message(own));
  return s;
}

static fs_tick makespan_of(const char *text) {
  fsched_graph *g = fs_parse(text);
  fs_schedule *s = schedule(ctx, g, FSCHED_EVICT_FARTHEST);
  fs_tick makespan = s->makespan;
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return makespan;
}

static fs_status status_of(const char *text, char *message, size_t size) {
  fsched_graph *g = fs_parse(text);
  fs_listsched_options o = {0};
  fs_schedule *s = NULL;
  fs_status status = fs_listsched_run(ctx, g, &o, &s);
  (void)snprintf(message, size, "%s", fs_first_message(ctx));
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return status;
}

#define FIGURE_10_OPS                                              \
  "buffers: [{name: C, size: 4, io: output}]\n"                    \
  "ops:\n"                                                         \
  "  - {name: A_in, on: dma, size: 5}\n"                           \
  "  - {name: A, on: dpu, size: 5, args: [{in: A_in}]}\n"          \
  "  - {name: B_in, on: dma, size: 4}\n"                           \
  "  - {name: B, on: dpu, size: 1, args: [{in: A}, {in: B_in}]}\n" \
  "  - {name: C, on: dpu, args: [{in: A_in}, {in: B}, {out: C}]}\n"
#define FIGURE_10_MEMORY                                                              \
  "  memories:\n"                                                                     \
  "    - {name: cmx, capacity: 10, backing: ddr,\n"                                   \
  "       spill: {on: dma, write: {fixed: 1, rate: 0}, read: {fixed: 1, rate: 0}}}\n" \
  "    - {name: ddr}\n"

START_TEST(figure_10)
{
  ck_assert_uint_eq(
      makespan_of(
          "fsched: 1\nname: f\ntarget:\n"
          "  queues: [{name: dpu}, {name: q, class: dma}]\n" FIGURE_10_MEMORY FIGURE_10_OPS),
      7);
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget:\n"
                                "  concurrency: 1\n" FIGURE_10_MEMORY FIGURE_10_OPS),
                    8);
}
END_TEST

/* Without queues there are as many as `concurrency` says, copies included, or else as many as are
 * needed. */
START_TEST(implicit_queues)
{
#define FOUR_OPS "ops: [{name: a, time: 3}, {name: b, time: 3}, {name: c, time: 3}, {name: d}]\n"
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget: {concurrency: 2}\n" FOUR_OPS), 6);
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget: {}\n" FOUR_OPS), 3);
}
END_TEST

/* The gang waits for `long`; of the short ops only the one that ends by then runs before the
 * gang. */
START_TEST(gang_is_not_starved)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nname: f\ntarget:\n"
      "  queues: [{name: q0}, {name: q1}, {name: q2}]\n"
      "ops:\n"
      "  - {name: long, on: q0, time: 4}\n"
      "  - {name: gang, on: [q0, q1], time: 10}\n"
      "  - {name: s1, on: q1, time: 3}\n"
      "  - {name: s2, on: q1, time: 3}\n"
      "  - {name: tail, on: q2, time: 20, after: [long]}\n");
  fs_schedule *s = schedule(ctx, g, FSCHED_EVICT_FARTHEST);
  ck_assert_uint_eq(s->start[1], 4);
  ck_assert_uint_eq(s->start[2], 0);
  ck_assert_uint_eq(s->start[3], 14);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(resources_hold)
{
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\n"
                                "target: {resources: [{name: power, capacity: 5}]}\n"
                                "ops:\n"
                                "  - {name: a, time: 2, uses: {power: 3}}\n"
                                "  - {name: b, time: 2, uses: {power: 3}}\n"
                                "  - {name: c, time: 2, uses: {power: 2}}\n"),
                    4);
}
END_TEST

/* The in-place output needs no room beside its input. */
START_TEST(inplace_takes_over)
{
#define INPLACE(line)                                                    \
  "fsched: 1\nname: f\ntarget:\n  memories: [{name: m, capacity: 10}]\n" \
  "ops:\n  - {name: a, size: 6}\n  - {name: b, args: [{in: a}, {out: x, size: 6}]" line "}\n"
  char message[256];
  fsched_graph *g = NULL;
  const char *without = INPLACE("");
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", without, strlen(without), NULL, &g),
                   FSCHED_INFEASIBLE);
  (void)message;
  ck_assert_uint_eq(
      makespan_of("fsched: 1\nname: f\ntarget:\n  memories: [{name: m, capacity: 12}]\n"
                  "ops:\n  - {name: a, size: 6}\n"
                  "  - {name: b, args: [{in: a}, {out: x, size: 6}], inplace: {x: a}}\n"
                  "  - {name: c, args: [{in: x}, {out: y, size: 6}], inplace: {y: x}}\n"),
      3);
}
END_TEST

START_TEST(given_starts)
{
  char message[256];
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget: {}\n"
                                "ops: [{name: a, time: 2, start: 5}, {name: b, start: 1}]\n"),
                    7);
  ck_assert_int_eq(status_of("fsched: 1\nname: f\ntarget: {concurrency: 1}\n"
                             "ops: [{name: a, time: 2, start: 5}, {name: b, start: 6}]\n",
                             message, sizeof message),
                   FSCHED_INFEASIBLE);
  ck_assert_str_eq(message,
                   "no schedule was found: op 'b' cannot start at its given time 6: "
                   "as many ops run as 'concurrency' allows, 1");
}
END_TEST

/* A queue is kept free for an op with a given start. */
START_TEST(given_start_is_kept_free)
{
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget: {queues: [{name: q}]}\n"
                                "ops: [{name: a, start: 4, time: 3}, {name: b, time: 5}, "
                                "{name: c, time: 4}]\n"),
                    12);
}
END_TEST

/* The place of `a` decides whether evicting `s` makes one hole that is large enough. */
START_TEST(placement_leaves_large_holes)
{
  ck_assert_uint_eq(makespan_of("fsched: 1\nname: f\ntarget:\n"
                                "  queues: [{name: c}, {name: d, class: copy}]\n"
                                "  memories:\n    - {name: m, capacity: 10, backing: ddr,\n"
                                "       spill: {on: copy, write: {fixed: 3}, read: {fixed: 3}}}\n"
                                "    - {name: ddr}\n"
                                "ops:\n  - {name: s, size: 4, time: 2}\n"
                                "  - {name: a, size: 4, time: 5, args: [{in: s}]}\n"
                                "  - {name: b, size: 5, time: 5, args: [{in: a}]}\n"
                                "  - {name: c, size: 5, time: 5, args: [{in: b}]}\n"
                                "  - {name: d, size: 4, time: 5, args: [{in: c}]}\n"
                                "  - {name: e, size: 2, time: 2, args: [{in: d}, {in: s}]}\n"),
                    27);
}
END_TEST

/* Compiles and verifies the schedule and the stream. */
static void compiles_right(const char *text) {
  fsched_graph *g = fs_parse(text);
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  fsched_program *program = NULL;
  ck_assert_msg(fsched_compile(ctx, g, &o, NULL, &program) == FSCHED_OK, "%s",
                fs_first_message(ctx));
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(unread_given_content)
{
  compiles_right(
      "fsched: 1\nname: f\ntarget: {memories: [{name: m, capacity: 8}]}\n"
      "buffers: [{name: b, size: 8, io: input}, {name: x, size: 8}]\n"
      "ops: [{name: a, args: [{out: x}]}]\n");
}
END_TEST

/* Kept content holds its units also against an item without duration at the very end. */
START_TEST(kept_to_the_last_instant)
{
  compiles_right(
      "fsched: 1\nname: f\ntarget: {queues: [{name: q}], "
      "memories: [{name: m, capacity: 16, placement: counted}]}\n"
      "buffers: [{name: y, size: 8, io: output}, {name: t, size: 8}]\n"
      "ops: [{name: z, time: 0, args: [{out: t}]}, {name: a, args: [{out: y}]}]\n");
}
END_TEST

/* A read without duration gains nothing by being early, but one that takes time is prefetched. */
static fs_tick first_read(const char *read_time) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: f\ntarget:\n"
                 "  queues: [{name: c}, {name: d, class: dma}]\n"
                 "  memories:\n    - {name: m, capacity: 100, backing: ddr,\n"
                 "       spill: {on: dma, write: {fixed: 1}, read: {fixed: %s}}}\n"
                 "    - {name: ddr}\n"
                 "buffers: [{name: w, size: 8, io: constant}]\n"
                 "ops:\n  - {name: x, time: 5, size: 8}\n"
                 "  - {name: y, time: 5, size: 8, args: [{in: x}]}\n"
                 "  - {name: z, size: 8, args: [{in: y}, {in: w}]}\n",
                 read_time);
  fsched_graph *g = fs_parse(text);
  fs_schedule *s = schedule(ctx, g, FSCHED_EVICT_FARTHEST);
  ck_assert_uint_eq(s->n_copies, 1);
  fs_tick start = s->start[g->n_ops];
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return start;
}

START_TEST(free_reads_are_not_early)
{
  ck_assert_uint_eq(first_read("3"), 0);
  ck_assert_uint_ge(first_read("0"), 5);
}
END_TEST

/* These lifetimes need 6 at any time, but can only be packed in 7 (shared facts, DSA gap7). */
START_TEST(lack_of_room_without_a_store)
{
  char message[256];
#define GAP(capacity)                                                       \
  "fsched: 1\nname: f\ntarget:\n  memories: [{name: m, capacity: " capacity \
  "}]\n"                                                                    \
  "ops:\n  - {name: a, time: 1, start: 0, scratch: {m: 2}}\n"               \
  "  - {name: b, time: 2, start: 0, scratch: {m: 4}}\n"                     \
  "  - {name: c, time: 2, start: 1, scratch: {m: 1}}\n"                     \
  "  - {name: d, time: 3, start: 1, scratch: {m: 1}}\n"                     \
  "  - {name: e, time: 2, start: 2, scratch: {m: 1}}\n"                     \
  "  - {name: f, time: 2, start: 3, scratch: {m: 4}}\n"                     \
  "  - {name: g, time: 1, start: 4, scratch: {m: 2}}\n"
  ck_assert_int_eq(status_of(GAP("6"), message, sizeof message), FSCHED_INFEASIBLE);
  ck_assert_int_eq(status_of("fsched: 1\nname: f\ntarget:\n  memories: [{name: m, capacity: 9}]\n"
                             "buffers: [{name: x, size: 4, io: output}, "
                             "{name: y, size: 4, io: output}, {name: z, size: 4, io: output}]\n"
                             "ops: [{name: a, args: [{out: x}]}, {name: b, args: [{out: y}]}, "
                             "{name: c, args: [{out: z}]}]\n",
                             message, sizeof message),
                   FSCHED_INFEASIBLE);
  ck_assert_str_eq(message,
                   "no schedule was found: memory 'm' has no room for op 'c': "
                   "4 more bytes needed, 1 of 9 free");
}
END_TEST

/* The precondition is the only refusal for memory: thousands of graphs have the tightest
 * capacity. */
static void tightest(uint64_t align, uint64_t first_seed) {
  for (uint64_t seed = first_seed; seed < first_seed + 700; seed++) {
    fs_gen_params p = fs_gen_any(seed, 50);
    p.align = align;
    p.tightness = 1.0;
    p.n_memories = 1 + (uint32_t)(seed % 3);
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    fs_schedule *s = schedule(ctx, g, (fsched_evict)(seed % FS_N_EVICTS));
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}

START_TEST(tightest_capacities)
{ tightest((const uint64_t[]){1, 64, 256}[_i], 10000 * (uint64_t)(_i + 1)); }
END_TEST

/* The graphs are long: an input that left and is promised another place must not stay after all. */
START_TEST(long_graphs)
{
  fs_gen_params p = fs_gen_any((const uint64_t[]){7, 14, 21, 22, 24, 35, 37}[_i], 3000);
  fsched_graph *g;
  ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
  fs_schedule_destroy(schedule(ctx, g, FSCHED_EVICT_FARTHEST));
  fsched_graph_destroy(g);
}
END_TEST

/* No schedule needs some copies (shared facts, spilling.txt): a version that the store holds is not
 * written again, and one that was read and not changed since is not written. */
static void no_idle_writes(const fs_schedule *s) {
  const fsched_graph *g = s->graph;
  bool *stored = calloc(g->n_versions + 1, sizeof *stored);
  ck_assert_ptr_nonnull(stored);
  for (uint32_t v = 0; v < g->n_versions; v++) {
    stored[v] = fs_version_given(g, v);
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    if (item >= g->n_ops) {
      uint32_t v = s->copy_version[item - g->n_ops];
      bool write = s->copy_kind[item - g->n_ops] == FS_SPILL_WRITE;
      ck_assert_msg(stored[v] != write, "version %u: %s", v,
                    write ? "stored already" : "not stored");
      stored[v] = true;
      continue;
    }
    for (uint32_t a = g->op_arg0[item]; a < g->op_arg0[item + 1]; a++) {
      if (g->arg_version[a] != FS_NONE && fs_tag_writes(g->arg_tag[a])) {
        stored[g->arg_version[a]] = false;
      }
    }
  }
  free(stored);
}

START_TEST(no_copy_is_idle)
{
  uint32_t copies = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fs_gen_params p = fs_gen_any(seed, 60);
    p.n_memories = 1;
    p.tightness = 1.0 + (double)(seed % 4) / 2;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    fs_schedule *s = schedule(ctx, g, (fsched_evict)(seed % FS_N_EVICTS));
    no_idle_writes(s);
    copies += s->n_copies;
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(copies, 1000);
}
END_TEST

/* A backing store with a capacity may run out, and the refusal names it. */
START_TEST(bounded_store)
{
#define STORE(capacity)                                                                         \
  "fsched: 1\nname: f\ntarget:\n  memories:\n"                                                  \
  "    - {name: m, capacity: 8, backing: store, spill: {on: compute, write: {fixed: 1}, read: " \
  "{fixed: 1}}}\n"                                                                              \
  "    - {name: store, capacity: " capacity                                                     \
  "}\n"                                                                                         \
  "buffers: [{name: x, size: 4, io: output}, {name: y, size: 4, io: output}, "                  \
  "{name: z, size: 4, io: output}]\n"                                                           \
  "ops: [{name: a, args: [{out: x}]}, {name: b, args: [{out: y}]}, {name: c, args: [{out: z}]}]\n"
  char message[256];
  ck_assert_uint_gt(makespan_of(STORE("12")), 0);
  ck_assert_int_eq(status_of(STORE("8"), message, sizeof message), FSCHED_INFEASIBLE);
  ck_assert_ptr_nonnull(strstr(message, "memory 'store' has no room for the stored content"));
}
END_TEST

START_TEST(same_input_same_schedule)
{
  for (uint64_t seed = 1; seed < 30; seed++) {
    char *text[2];
    size_t length[2];
    fsched_context *own[2];
    for (int i = 0; i < 2; i++) {
      own[i] = fs_new_context();
      fs_gen_params p = fs_gen_any(seed, 60);
      fsched_graph *g;
      ck_assert_int_eq(fs_gen_graph(own[i], &p, &g), FSCHED_OK);
      fsched_schedule *s;
      ck_assert_int_eq(fsched_compile(own[i], g, NULL, &s, NULL), FSCHED_OK);
      ck_assert_int_eq(fsched_schedule_json(own[i], s, &text[i], &length[i]), FSCHED_OK);
      fsched_schedule_destroy(s);
      fsched_graph_destroy(g);
    }
    ck_assert_uint_eq(length[0], length[1]);
    ck_assert_mem_eq(text[0], text[1], length[0]);
    for (int i = 0; i < 2; i++) {
      fsched_text_free(own[i], text[i], length[i]);
      fsched_context_destroy(own[i]);
    }
  }
}
END_TEST

/* Another seed breaks ties in another way; the same seed breaks them in the same way. */
START_TEST(seeds_break_ties)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nname: f\ntarget: {queues: [{name: q}]}\n"
      "ops: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]\n");
  uint32_t first[8], distinct = 0;
  for (uint64_t seed = 0; seed < 8; seed++) {
    fs_listsched_options o = {.seed = seed};
    for (int again = 0; again < 2; again++) {
      fs_schedule *s;
      ck_assert_int_eq(fs_listsched_run(ctx, g, &o, &s), FSCHED_OK);
      ck_assert_int_eq(fs_verify_schedule(ctx, g, s, NULL), FSCHED_OK);
      ck_assert(again == 0 || first[seed] == s->order[0]);
      first[seed] = s->order[0];
      fs_schedule_destroy(s);
    }
    distinct += first[seed] != first[0];
  }
  ck_assert_uint_eq(first[0], 0);
  ck_assert_uint_gt(distinct, 2);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- n-th allocation failure over the whole compiler ---- */

static void *failing(void *user, void *block, size_t old_size, size_t new_size) {
  (void)old_size;
  long *left = user;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  return (*left)-- > 0 ? realloc(block, new_size) : NULL;
}

START_TEST(allocation_failures)
{
  fs_gen_params p = fs_gen_any(77, 30);
  p.tightness = 1.0;
  p.n_memories = 2;
  p.counted = true;
  fs_status status = FSCHED_SYSTEM;
  for (long n = 1; status != FSCHED_OK; n += 1 + n / 200) {
    ck_assert_int_lt(n, 1000000);
    long left = n;
    fsched_context_options o = {.size = sizeof o, .reallocate = failing, .user = &left};
    fsched_context *own;
    status = fsched_context_create(&o, &own);
    if (status != FSCHED_OK) {
      continue;
    }
    fsched_graph *g = NULL;
    fsched_schedule *s = NULL;
    fsched_program *program = NULL;
    fsched_compile_options c = {.size = sizeof c, .verify = 1};
    fs_few_trials(own);
    status = fs_gen_graph(own, &p, &g);
    status = status == FSCHED_OK ? fsched_compile(own, g, &c, &s, &program) : status;
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_SYSTEM, "allocation %ld: %d", n, status);
    ck_assert(status == FSCHED_OK || fsched_diag_errors(own) > 0);
    fsched_program_destroy(program);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_context_destroy(own);
  }
}
END_TEST

/* ---- shared facts ---- */

enum { MAX_OPS = 16 };

typedef struct listsched_fact {
  fsched_context *ctx;
  fsched_builder *b;
  fsched_graph *g;
  fs_schedule *s;
  char buffer[MAX_OPS][16];
  uint32_t buffer_id[MAX_OPS], n_buffers;
} listsched_fact;

static void fact_begin(listsched_fact *f, unsigned long long capacity, unsigned long long align,
                       unsigned ports) {
  *f = (listsched_fact){.ctx = fs_new_context()};
  uint32_t id;
  ck_assert_int_eq(fsched_builder_create(f->ctx, "fact", &f->b), FSCHED_OK);
  for (unsigned i = 0; i < ports; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "dma%u", i);
    fsched_queue_desc q = {.size = sizeof q, .name = name, .queue_class = "dma"};
    ck_assert_int_eq(fsched_builder_queue(f->b, &q, &id), FSCHED_OK);
  }
  static const char *const classes[] = {"dpu", "shave"};
  for (int i = 0; i < 2; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "%s0", classes[i]);
    fsched_queue_desc q = {.size = sizeof q, .name = name, .queue_class = classes[i]};
    ck_assert_int_eq(fsched_builder_queue(f->b, &q, &id), FSCHED_OK);
  }
  fsched_memory_desc m = {.size = sizeof m,
                          .name = "cmx",
                          .capacity = capacity,
                          .align = align,
                          .backing = "ddr",
                          .spill_on = "dma",
                          .write_fixed = 1,
                          .read_fixed = 1};
  ck_assert_int_eq(fsched_builder_memory(f->b, &m, &id), FSCHED_OK);
  fsched_memory_desc d = {.size = sizeof d, .name = "ddr", .capacity = FSCHED_UNBOUNDED};
  ck_assert_int_eq(fsched_builder_memory(f->b, &d, &id), FSCHED_OK);
}

static uint32_t fact_buffer(const listsched_fact *f, const char *name, size_t n) {
  for (uint32_t i = 0; i < f->n_buffers; i++) {
    if (strlen(f->buffer[i]) == n && strncmp(f->buffer[i], name, n) == 0) {
      return f->buffer_id[i];
    }
  }
  return FSCHED_NONE;
}

static void fact_args(listsched_fact *f, uint32_t op, const char *list, fsched_tag tag) {
  while (*list != '\0') {
    size_t n = strcspn(list, ",");
    uint32_t buffer = fact_buffer(f, list, n);
    if (buffer != FSCHED_NONE) { /* "-" and "@ddr" are no buffers */
      fsched_arg_desc a = {.size = sizeof a, .tag = tag, .buffer = buffer};
      ck_assert_int_eq(fsched_builder_arg(f->b, op, &a), FSCHED_OK);
    }
    list += n + (list[n] == ',');
  }
}

static void fact_op(listsched_fact *f, const char *line) {
  char name[16], queue[16], deps[64], reads[64], writes[64];
  unsigned long long cost;
  ck_assert_int_eq(sscanf(line, "OP %15s %15s %llu deps=%63s reads=%63s writes=%63s", name, queue,
                          &cost, deps, reads, writes),
                   6);
  fsched_op_desc o = {.size = sizeof o, .name = name, .on = queue, .has_time = 1, .time = cost};
  uint32_t id;
  ck_assert_int_eq(fsched_builder_op(f->b, &o, &id), FSCHED_OK);
  fact_args(f, id, reads, FSCHED_IN);
  fact_args(f, id, writes, FSCHED_OUT);
}

/* The item that a word of EXPECT_ORDER names: an op, SW(buffer) or SR(buffer). */
static uint32_t fact_item(const listsched_fact *f, const char *word) {
  bool copy = strncmp(word, "SW(", 3) == 0 || strncmp(word, "SR(", 3) == 0;
  uint8_t kind = word[1] == 'W' ? FS_SPILL_WRITE : FS_SPILL_READ;
  for (uint32_t op = 0; !copy && op < f->g->n_ops; op++) {
    if (strcmp(f->g->op_name[op], word) == 0) {
      return op;
    }
  }
  for (uint32_t c = 0; copy && c < f->s->n_copies; c++) {
    const char *name = f->g->buffer_name[f->g->version_buffer[f->s->copy_version[c]]];
    if (f->s->copy_kind[c] == kind && strncmp(word + 3, name, strlen(name)) == 0) {
      return f->g->n_ops + c;
    }
  }
  return FS_NONE;
}

static void fact_order(const listsched_fact *f, char *words) {
  uint32_t before = FS_NONE;
  for (char *word = strtok(words, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    if (strcmp(word, "SW(c)") == 0) {
      continue; /* it is written back only where the graph says output */
    }
    uint32_t item = fact_item(f, word);
    ck_assert_msg(item != FS_NONE, "%s is not scheduled", word);
    if (before != FS_NONE) {
      ck_assert_msg(f->s->start[before] <= f->s->start[item], "%s starts too early", word);
    }
    before = item;
  }
}

static void fact_expect(listsched_fact *f, char *line) {
  char a[16], b[16];
  unsigned long long begin, end;
  if (f->s == NULL) {
    ck_assert_msg(fsched_builder_finish(f->b, &f->g) == FSCHED_OK, "%s", fs_first_message(f->ctx));
    f->s = schedule(f->ctx, f->g, FSCHED_EVICT_FARTHEST);
  }
  if (sscanf(line, "EXPECT %15s %15s %llu %llu", a, b, &begin, &end) == 4) {
    uint32_t op = fact_item(f, a);
    ck_assert_msg(f->s->start[op] == begin && f->s->end[op] == end, "%s", line);
  } else if (sscanf(line, "EXPECT_EDGE %15s %15s", a, b) == 2) {
    ck_assert_uint_le(f->s->end[fact_item(f, a)], f->s->start[fact_item(f, b)]);
  } else if (strncmp(line, "EXPECT_ORDER ", 13) == 0) {
    fact_order(f, line + 13);
  }
}

static void fact_end(listsched_fact *f) {
  fs_schedule_destroy(f->s);
  fsched_graph_destroy(f->g);
  fsched_builder_destroy(f->b);
  fsched_context_destroy(f->ctx);
}

START_TEST(shared_schedules)
{
  FILE *file = fs_shared_facts("schedules.txt");
  char line[512];
  if (file == NULL) {
    return;
  }
  listsched_fact f = {0};
  unsigned cases = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long capacity, align;
    unsigned ports;
    if (sscanf(line, "CASE %*s capacity=%llu align=%llu dma_ports=%u", &capacity, &align, &ports) ==
        3) {
      fact_begin(&f, capacity, align, ports);
    } else if (strncmp(line, "BUF ", 4) == 0) {
      unsigned long long bytes;
      ck_assert_int_eq(sscanf(line, "BUF %15s %llu", f.buffer[f.n_buffers], &bytes), 2);
      fsched_buffer_desc d = {.size = sizeof d, .name = f.buffer[f.n_buffers], .bytes = bytes};
      ck_assert_int_eq(fsched_builder_buffer(f.b, &d, &f.buffer_id[f.n_buffers]), FSCHED_OK);
      f.n_buffers++;
    } else if (strncmp(line, "OP ", 3) == 0) {
      fact_op(&f, line);
    } else if (strncmp(line, "EXPECT", 6) == 0) {
      fact_expect(&f, line);
    } else if (strncmp(line, "END", 3) == 0) {
      fact_end(&f);
      cases++;
    }
  }
  (void)fclose(file);
  ck_assert_uint_eq(cases, 6);
}
END_TEST

FS_SUITE(listsched, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, figure_10, implicit_queues, gang_is_not_starved, resources_hold, inplace_takes_over,
           given_starts, given_start_is_kept_free, placement_leaves_large_holes,
           unread_given_content, kept_to_the_last_instant, free_reads_are_not_early,
           lack_of_room_without_a_store, no_copy_is_idle, bounded_store, same_input_same_schedule,
           seeds_break_ties, allocation_failures, shared_schedules);
  FS_LOOPS(t, 0, 3, tightest_capacities);
  FS_LOOPS(t, 0, 7, long_graphs);
}
