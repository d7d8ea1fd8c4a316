/* SPDX-License-Identifier: Apache-2.0 */
/* Death frontiers, compared with the compiler's control edges.
 *
 * Both answer the same question, which commands have to wait before addresses are reused, from
 * different ends: the compiler looks at rectangles of a schedule and adds edges between their
 * accesses; the blocks know no schedule, only which accesses to the bytes were last and what the
 * user knows.  So they must agree:
 *
 *   1. With all edges of the schedule, whose waits are in the user's frontier, a block that takes
 *      each residency's place in order of issue never needs a wait: no edge is missing.
 *   2. Without the edges for reuse (and with nothing else that bounds amounts, as one edge may
 *      stand for two reasons), the blocks' missing waits are added to the commands as they appear.
 *      What is then known before each command, axis by axis, is what is known with the edges: the
 *      waits for reuse come back, all of them, and nothing is ordered that the edges do not order.
 *
 * The waits themselves can differ, as one side may wait for a later command that implies another;
 * knowledge cannot.  A residency is taken in parts, cut where the byte ranges of its accesses end,
 * each by those who touch it: bytes that nobody touches order nothing.  A user is asked at every
 * access of a part, not only at the first, since each of several unordered first accesses waits by
 * itself.  An op whose output takes its input's place (which it still reads) takes it from the
 * accesses before its own. */
#include <stdlib.h>
#include <string.h>

#include "ctrledge/ctrledge.h"
#include "fsched/block.h"
#include "kit/gen.h"
#include "kit/suite.h"
#include "listsched/listsched.h"
#include "model/access.h"
#include "waits/waits.h"

enum { QUEUES = 64 };

/* A frontier with room for every queue. */
typedef struct block_waits_known {
  fsched_frontier f;
  fsched_frontier_entry entry[QUEUES];
} block_waits_known;

/* Bytes of a residency that are touched by the same accesses. */
typedef struct block_waits_part {
  uint32_t residency, memory;
  uint64_t low, high;   /* within the residency */
  uint64_t begin, end;  /* addresses */
  uint32_t first, last; /* items that access it */
  bool live;            /* taken now */
  fsched_block block;
  block_waits_known death; /* that of the place before it was taken */
} block_waits_part;

typedef struct block_waits_replay {
  const fs_schedule *s;
  const fs_sync *y;
  const fs_accesses *acc;
  bool add;          /* missing waits are added; otherwise there must be none */
  fsched_blocks **b; /* per memory; NULL: it has no addresses */
  block_waits_part *part;
  uint32_t n_parts, max_parts;
  uint32_t *before; /* per command and queue: what is known before it starts */
  uint32_t missing, reuses;
} block_waits_replay;

static uint32_t *before(const block_waits_replay *r, uint32_t command) {
  return r->before + (size_t)command * r->s->n_queues;
}

static void to_frontier(const block_waits_replay *r, uint32_t command, block_waits_known *k) {
  k->f = (fsched_frontier){k->entry, 0, QUEUES, 0};
  for (uint32_t q = 0; q < r->s->n_queues; q++) {
    if (before(r, command)[q] > 0) {
      k->entry[k->f.n++] = (fsched_frontier_entry){q, before(r, command)[q]};
    }
  }
}

static void raise_to(uint32_t *clock, uint32_t queue, uint64_t epoch) {
  clock[queue] = (uint32_t)fs_max(clock[queue], epoch);
}

/* Lets a command know that the command with an epoch of a queue is complete. */
static void learn(const block_waits_replay *r, uint32_t command, uint32_t queue, uint64_t epoch) {
  const uint32_t *from = before(r, r->y->queue_command0[queue] + (uint32_t)epoch - 1);
  for (uint32_t q = 0; q < r->s->n_queues; q++) {
    raise_to(before(r, command), q, from[q]);
  }
  raise_to(before(r, command), queue, epoch);
}

static uint32_t member(const block_waits_replay *r, uint32_t item, uint32_t m, uint32_t *queue,
                       uint64_t *epoch) {
  uint32_t n;
  const uint32_t *queues = fs_item_queues(r->s, item, &n);
  uint32_t command = r->y->item_command[r->y->item_command0[item] + m];
  *queue = queues[m];
  *epoch = command - r->y->queue_command0[*queue] + 1;
  return command;
}

static uint32_t n_members(const block_waits_replay *r, uint32_t item) {
  return r->y->item_command0[item + 1] - r->y->item_command0[item];
}

static void learn_item(const block_waits_replay *r, uint32_t command, uint32_t item) {
  for (uint32_t m = 0; m < n_members(r, item); m++) {
    uint32_t queue;
    uint64_t epoch;
    (void)member(r, item, m, &queue, &epoch);
    learn(r, command, queue, epoch);
  }
}

static void learn_waits(const block_waits_replay *r, uint32_t command, uint32_t queue,
                        uint64_t epoch) {
  const fs_sync *y = r->y;
  if (epoch > 1) {
    learn(r, command, queue, epoch - 1);
  }
  for (uint32_t w = y->wait0[command]; w < y->wait0[command + 1]; w++) {
    if (y->wait[w].axis < r->s->n_queues) {
      learn(r, command, y->wait[w].axis, y->wait[w].epoch);
      continue;
    }
    for (uint32_t op = 0; op < r->s->graph->n_ops; op++) {
      if (r->s->op_gang[op] == y->wait[w].axis - r->s->n_queues &&
          y->item_gang_epoch[op] == y->wait[w].epoch) {
        learn_item(r, command, op);
      }
    }
  }
}

/* --- parts --- */

static bool covers(const block_waits_replay *r, uint32_t access, const block_waits_part *p) {
  return r->acc->low[access] <= p->low && p->high <= r->acc->high[access];
}

static bool accesses(const block_waits_replay *r, const block_waits_part *p, uint32_t item) {
  bool yes = false;
  for (uint32_t i = r->acc->res0[p->residency]; i < r->acc->res0[p->residency + 1]; i++) {
    yes = yes || (r->acc->item[i] == item && covers(r, i, p));
  }
  return yes;
}

static void add_part(block_waits_replay *r, uint32_t residency, uint64_t low, uint64_t high) {
  block_waits_part p = {.residency = residency,
                        .memory = r->s->res_memory[residency],
                        .low = low,
                        .high = high,
                        .begin = r->s->res_address[residency] + low,
                        .end = r->s->res_address[residency] + high,
                        .first = FS_NONE};
  for (uint32_t i = r->acc->res0[residency]; i < r->acc->res0[residency + 1]; i++) {
    if (covers(r, i, &p)) {
      p.first = p.first == FS_NONE ? r->acc->item[i] : p.first;
      p.last = r->acc->item[i];
    }
  }
  if (p.first != FS_NONE) {
    if (r->n_parts == r->max_parts) {
      r->max_parts = 2 * r->max_parts + 16;
      r->part = realloc(r->part, r->max_parts * sizeof *r->part);
    }
    r->part[r->n_parts++] = p;
  }
}

/* The bytes that are touched, before alignment. */
static uint64_t touched_bytes(const fs_schedule *s, uint32_t residency) {
  if (s->res_version[residency] != FS_NONE) {
    return fs_version_size(s->graph, s->res_version[residency]);
  }
  uint32_t op = s->res_op[residency];
  uint32_t i = s->graph->op_scratch0[op];
  while (s->scratch_residency[i] != residency) {
    i++;
  }
  return s->graph->scratch_size[i];
}

static void cut_residency(block_waits_replay *r, uint32_t residency) {
  uint64_t size = touched_bytes(r->s, residency);
  for (uint64_t low = 0, high; low < size; low = high) {
    high = size;
    for (uint32_t i = r->acc->res0[residency]; i < r->acc->res0[residency + 1]; i++) {
      high = r->acc->low[i] > low ? fs_min(high, r->acc->low[i]) : high;
      high = r->acc->high[i] > low ? fs_min(high, r->acc->high[i]) : high;
    }
    add_part(r, residency, low, high);
  }
}

static void give(block_waits_replay *r, block_waits_part *p) {
  ck_assert_int_eq(fsched_blocks_give(r->b[p->memory], &p->block, NULL), FSCHED_OK);
  p->live = false;
}

/* Gives back what ends with an item and is taken over in place. */
static void give_in_place(block_waits_replay *r, uint32_t item) {
  for (uint32_t i = 0; i < r->n_parts; i++) {
    block_waits_part *old = &r->part[i];
    for (uint32_t k = 0; old->live && old->last == item && k < r->n_parts; k++) {
      const block_waits_part *p = &r->part[k];
      if (p->residency != old->residency && p->first == item && p->memory == old->memory &&
          p->begin < old->end && old->begin < p->end) {
        give(r, old);
      }
    }
  }
}

static void take(block_waits_replay *r, block_waits_part *p, uint32_t command) {
  block_waits_known user;
  block_waits_known waits = {{waits.entry, 0, QUEUES, 0}, {{0, 0}}};
  to_frontier(r, command, &user);
  fsched_blocks_result result;
  ck_assert_int_eq(fsched_blocks_take_at(r->b[p->memory], p->begin, p->end - p->begin, &user.f,
                                         &p->block, &waits.f, &result),
                   FSCHED_OK);
  ck_assert_int_le(result, FSCHED_BLOCKS_WAITS);
  ck_assert_int_eq(result == FSCHED_BLOCKS_WAITS, waits.f.n > 0);
  r->reuses += result != FSCHED_BLOCKS_FRESH;
  p->live = true;
  p->death.f = (fsched_frontier){p->death.entry, 0, QUEUES, 0};
  ck_assert_int_eq(fsched_blocks_death(r->b[p->memory], &p->block, &p->death.f), FSCHED_OK);
}

/* A command is about to access a part: asks what it has to wait for. */
static void ask(block_waits_replay *r, const block_waits_part *p, uint32_t command) {
  block_waits_known user;
  fsched_frontier_entry wait[QUEUES];
  to_frontier(r, command, &user);
  uint32_t n = fsched_frontier_undominated(&user.f, &p->death.f, wait, QUEUES);
  r->missing += n;
  for (uint32_t i = 0; r->add && i < n; i++) {
    learn(r, command, (uint32_t)wait[i].axis, wait[i].epoch);
  }
}

static void access_part(block_waits_replay *r, block_waits_part *p, uint32_t item) {
  for (uint32_t m = 0; m < n_members(r, item); m++) {
    uint32_t queue;
    uint64_t epoch;
    uint32_t command = member(r, item, m, &queue, &epoch);
    if (m == 0 && p->first == item) {
      take(r, p, command);
    }
    ask(r, p, command);
  }
}

static void touch(block_waits_replay *r, const block_waits_part *p, uint32_t item) {
  for (uint32_t m = 0; m < n_members(r, item); m++) {
    uint32_t queue;
    uint64_t epoch;
    (void)member(r, item, m, &queue, &epoch);
    fsched_frontier_entry entry = {queue, epoch};
    fsched_frontier own = {&entry, 1, 1, 0};
    ck_assert_int_eq(fsched_blocks_touch(r->b[p->memory], &p->block, &own), FSCHED_OK);
  }
}

static void replay_item(block_waits_replay *r, uint32_t item) {
  for (uint32_t m = 0; m < n_members(r, item); m++) {
    uint32_t queue;
    uint64_t epoch;
    uint32_t command = member(r, item, m, &queue, &epoch);
    learn_waits(r, command, queue, epoch);
  }
  give_in_place(r, item);
  for (uint32_t i = 0; i < r->n_parts; i++) {
    block_waits_part *p = &r->part[i];
    if ((p->live || p->first == item) && accesses(r, p, item)) {
      access_part(r, p, item);
    }
  }
  for (uint32_t i = 0; i < r->n_parts; i++) {
    block_waits_part *p = &r->part[i];
    if (p->live && accesses(r, p, item)) {
      touch(r, p, item);
      if (p->last == item) {
        give(r, p);
      }
    }
  }
}

static void replay_begin(block_waits_replay *r) {
  const fs_target *t = &r->s->graph->target;
  r->b = calloc(t->n_memories + 1, sizeof(fsched_blocks *));
  r->before = calloc((size_t)r->y->n_commands * r->s->n_queues + 1, sizeof *r->before);
  ck_assert_uint_le(r->s->n_queues, QUEUES);
  for (uint32_t m = 0; m < t->n_memories; m++) {
    fsched_blocks_options o = {
        .size = sizeof o, .bytes = t->memory[m].capacity, .capacity = QUEUES};
    if (fs_memory_bounded(&t->memory[m]) && t->memory[m].placement == FSCHED_CONTIGUOUS &&
        o.bytes > 0) {
      ck_assert_int_eq(fsched_blocks_create(&o, &r->b[m]), FSCHED_OK);
    }
  }
  for (uint32_t k = 0; k < r->s->n_residencies; k++) {
    if (r->b[r->s->res_memory[k]] != NULL) {
      cut_residency(r, k);
    }
  }
}

static void replay_end(block_waits_replay *r) {
  for (uint32_t m = 0; m < r->s->graph->target.n_memories; m++) {
    fsched_blocks_destroy(r->b[m]);
  }
  free(r->b);
  free(r->part);
  free(r->before);
}

static void replay_run(block_waits_replay *r) {
  replay_begin(r);
  for (uint32_t i = 0; i < r->s->n_items; i++) {
    replay_item(r, r->s->order[i]);
  }
}

/* --- the two claims --- */

/* Makes control edges and waits, without those for reuse if `reuse` is false. */
static void synchronise(fsched_context *ctx, const fs_schedule *s, bool reuse, fs_sync *y) {
  *y = (fs_sync){.schedule = s};
  fs_arena_init(&y->arena, ctx);
  ck_assert_int_eq(fs_ctrledge_run(ctx, s, NULL, y), FSCHED_OK);
  uint32_t n = 0;
  for (uint32_t i = 0; i < y->n_control; i++) {
    if (reuse || y->control_why[i] != FS_WHY_REUSE) {
      y->control_from[n] = y->control_from[i];
      y->control_to[n] = y->control_to[i];
      y->control_why[n++] = y->control_why[i];
    }
  }
  y->n_control = n;
  ck_assert_int_eq(fs_waits_run(ctx, s, y), FSCHED_OK);
}

typedef struct block_waits_totals {
  uint32_t reuses, missing, graphs;
} block_waits_totals;

static void nothing_is_missing(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                               block_waits_totals *t) {
  fs_sync y;
  synchronise(ctx, s, true, &y);
  block_waits_replay r = {.s = s, .y = &y, .acc = acc};
  replay_run(&r);
  ck_assert_uint_eq(r.missing, 0);
  t->reuses += r.reuses;
  replay_end(&r);
  fs_arena_release(&y.arena);
}

static void the_same_is_known(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                              block_waits_totals *t) {
  fs_sync with;
  fs_sync without;
  synchronise(ctx, s, true, &with);
  synchronise(ctx, s, false, &without);
  block_waits_replay edges = {.s = s, .y = &with, .acc = acc};
  block_waits_replay blocks = {.s = s, .y = &without, .acc = acc, .add = true};
  replay_run(&edges);
  replay_run(&blocks);
  for (uint32_t c = 0; c < with.n_commands; c++) {
    for (uint32_t q = 0; q < s->n_queues; q++) {
      ck_assert_msg(before(&edges, c)[q] == before(&blocks, c)[q],
                    "command %u knows epoch %u of queue %u by edges, %u by blocks", c,
                    before(&edges, c)[q], q, before(&blocks, c)[q]);
    }
  }
  t->missing += blocks.missing;
  replay_end(&edges);
  replay_end(&blocks);
  fs_arena_release(&with.arena);
  fs_arena_release(&without.arena);
}

typedef void (*claim_fn)(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                         block_waits_totals *t);

static void run_seed(const fs_gen_params *params, claim_fn claim, block_waits_totals *t) {
  fsched_context *ctx;
  ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK);
  fs_listsched_options options = {.seed = 0};
  fsched_graph *g = NULL;
  fs_schedule *s = NULL;
  if (fs_gen_graph(ctx, params, &g) == FSCHED_OK &&
      fs_listsched_run(ctx, g, &options, &s) == FSCHED_OK) {
    fs_arena arena;
    fs_arena_init(&arena, ctx);
    fs_accesses acc;
    ck_assert_int_eq(fs_accesses_collect(ctx, s, FS_SYNC_TIMELINE, &arena, &arena, &acc),
                     FSCHED_OK);
    claim(ctx, s, &acc, t);
    t->graphs++;
    fs_arena_release(&arena);
  }
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

START_TEST(no_edge_is_missing)
{
  block_waits_totals t = {0};
  for (uint64_t seed = 0; seed < 250; seed++) {
    fs_gen_params params = fs_gen_any(seed, 32);
    run_seed(&params, nothing_is_missing, &t);
  }
  ck_assert_uint_gt(t.graphs, 200);
  ck_assert_uint_gt(t.reuses, 1000);
}
END_TEST

START_TEST(waits_for_reuse_come_back)
{
  block_waits_totals t = {0};
  for (uint64_t seed = 0; seed < 250; seed++) {
    fs_gen_params params = fs_gen_any(seed, 32);
    params.counted = params.resources = params.concurrency = false;
    run_seed(&params, the_same_is_known, &t);
  }
  ck_assert_uint_gt(t.graphs, 200);
  ck_assert_uint_gt(t.missing, 500);
}
END_TEST

FS_SUITE(block_waits, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, no_edge_is_missing, waits_for_reuse_come_back);
}
