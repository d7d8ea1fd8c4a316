/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges and waits together, compared with an oracle that has no clocks: it lists what every
 * item touches, closes queue order and waits by brute force, and requires that all conflicts are
 * ordered and that no wait can be left out. */
#include <stdlib.h>
#include <string.h>

#include "ctrledge/ctrledge.h"
#include "kit/gen.h"
#include "listsched/listsched.h"
#include "waits/waits.h"

#include "kit/context.h"

enum { MAX_COMMANDS = 192, WORDS = MAX_COMMANDS / 64, MAX_TOUCHES = 2048 };

/* Something that an item touches: [low, high) of a space.  In spaces of lanes, owners of one
 * residency do not conflict. */
typedef struct waits_touch {
  uint64_t space, low, high;
  uint32_t item, owner;
  bool writes;
} waits_touch;

typedef struct waits_set {
  uint64_t word[WORDS];
} waits_set;

typedef struct oracle {
  const fs_schedule *s;
  const fs_sync *y;
  waits_touch touch[MAX_TOUCHES];
  uint32_t n_touches;
  uint32_t position[MAX_COMMANDS];         /* per item */
  bool needed[MAX_COMMANDS][MAX_COMMANDS]; /* item before item */
  waits_set before[MAX_COMMANDS];
} oracle;

static bool has(const waits_set *s, uint32_t i) { return (s->word[i / 64] >> (i % 64) & 1) != 0; }
static void add(waits_set *s, uint32_t i) { s->word[i / 64] |= (uint64_t)1 << (i % 64); }
static void unite(waits_set *s, const waits_set *other) {
  for (int w = 0; w < WORDS; w++) {
    s->word[w] |= other->word[w];
  }
}

enum { SPACE_MEMORY = 1, SPACE_VERSION, SPACE_LANE, SPACE_RESOURCE, SPACE_CONCURRENCY };
static uint64_t space(unsigned kind, uint32_t index, uint32_t version) {
  return (uint64_t)kind << 56 | (uint64_t)index << 32 | version;
}

static void note(oracle *o, uint64_t where, uint64_t low, uint64_t high, uint32_t item,
                 uint32_t owner, bool writes) {
  ck_assert_uint_lt(o->n_touches, MAX_TOUCHES);
  o->touch[o->n_touches++] = (waits_touch){where, low, high, item, owner, writes};
}

/* Notes bytes [offset, offset + length) of a version, at an address or in a space of its own. */
static void note_bytes(oracle *o, uint32_t item, uint32_t version, uint32_t memory,
                       uint32_t residency, uint64_t offset, uint64_t length, bool writes) {
  const fs_memory *m = &o->s->graph->target.memory[memory];
  if (version == FS_NONE && m->placement == FSCHED_COUNTED) {
    /* Scratch in a counted memory has an amount, but no bytes. */
  } else if (residency == FS_NONE || m->placement == FSCHED_COUNTED) {
    note(o, space(SPACE_VERSION, memory, version), offset, offset + length, item, item, writes);
  } else {
    uint64_t low = o->s->res_address[residency] + offset;
    note(o, space(SPACE_MEMORY, memory, 0), low, low + length, item, item, writes);
  }
  for (uint32_t i = 0; i < o->y->n_lanes; i++) {
    const fs_lane *l = &o->y->lane[i];
    if (residency != FS_NONE && l->kind == FS_LANE_MEMORY && l->owner == residency) {
      note(o, space(SPACE_LANE, memory, 0), l->begin, l->end, item, residency, writes);
    }
  }
}

static void note_op(oracle *o, uint32_t op) {
  const fsched_graph *g = o->s->graph;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    unsigned tag = g->arg_tag[a];
    if (tag != FSCHED_NO_DEP && tag != FSCHED_VALUE) {
      note_bytes(o, op, g->arg_version[a], g->buffer_memory[g->arg_buffer[a]],
                 o->s->arg_residency[a], g->arg_offset[a], g->arg_length[a], fs_tag_writes(tag));
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    uint32_t r = o->s->scratch_residency[i];
    if (r != FS_NONE) {
      note_bytes(o, op, FS_NONE, g->scratch_memory[i], r, 0, g->scratch_size[i], true);
    }
  }
  for (uint32_t i = 0; i < o->y->n_lanes; i++) {
    const fs_lane *l = &o->y->lane[i];
    if (l->kind != FS_LANE_MEMORY && l->owner == op) {
      note(o,
           l->kind == FS_LANE_RESOURCE ? space(SPACE_RESOURCE, l->index, 0)
                                       : space(SPACE_CONCURRENCY, 0, 0),
           l->begin, l->end, op, op, true);
    }
  }
}

static void note_copy(oracle *o, uint32_t copy) {
  const fs_schedule *s = o->s;
  uint32_t item = s->graph->n_ops + copy;
  uint32_t version = s->copy_version[copy];
  uint32_t memory = fs_version_memory(s->graph, version);
  bool write = s->copy_kind[copy] == FS_SPILL_WRITE;
  uint64_t size = fs_version_size(s->graph, version);
  note_bytes(o, item, version, memory, s->copy_residency[copy], 0, size, !write);
  note_bytes(o, item, version, s->graph->target.memory[memory].backing, s->copy_store[copy], 0,
             size, write);
}

static void find_needed(oracle *o) {
  const fs_schedule *s = o->s;
  for (uint32_t i = 0; i < s->n_items; i++) {
    o->position[s->order[i]] = i;
  }
  for (uint32_t op = 0; op < s->graph->n_ops; op++) {
    note_op(o, op);
    for (uint32_t i = s->graph->pred0[op]; i < s->graph->pred0[op + 1]; i++) {
      o->needed[s->graph->pred[i]][op] = true;
    }
  }
  for (uint32_t c = 0; c < s->n_copies; c++) {
    note_copy(o, c);
  }
  for (uint32_t i = 0; i < o->n_touches; i++) {
    const waits_touch *a = &o->touch[i];
    for (uint32_t k = 0; k < o->n_touches; k++) {
      const waits_touch *b = &o->touch[k];
      if (a->space == b->space && a->owner != b->owner && a->low < b->high && b->low < a->high &&
          (a->writes || b->writes) && o->position[a->item] < o->position[b->item]) {
        o->needed[a->item][b->item] = true;
      }
    }
  }
}

/* o->before[command] is what is complete before it starts when one wait is left out. */
static void close_order(oracle *o, uint32_t without) {
  const fs_sync *y = o->y;
  memset(o->before, 0, sizeof o->before);
  for (uint32_t i = 0; i < o->s->n_items; i++) {
    uint32_t item = o->s->order[i];
    uint32_t n;
    const uint32_t *queues = fs_item_queues(o->s, item, &n);
    for (uint32_t m = 0; m < n; m++) {
      uint32_t c = y->item_command[y->item_command0[item] + m];
      waits_set *b = &o->before[c];
      if (c > y->queue_command0[queues[m]]) {
        *b = o->before[c - 1];
        add(b, c - 1);
      }
      for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
        for (uint32_t from = 0; w != without && from < y->n_commands; from++) {
          uint32_t it = y->command_item[from];
          uint32_t q = y->wait[w].axis;
          bool hit = q < o->s->n_queues
                         ? from == y->queue_command0[q] + y->wait[w].epoch - 1
                         : !fs_item_is_copy(o->s, it) && o->s->op_gang[it] == q - o->s->n_queues &&
                               y->item_gang_epoch[it] == y->wait[w].epoch;
          if (hit) {
            ck_assert_uint_lt(o->position[it], i);
            unite(b, &o->before[from]);
            add(b, from);
          }
        }
      }
    }
  }
}

/* Finds the first needed pair that is not ordered. */
static bool all_ordered(const oracle *o, uint32_t *from, uint32_t *to) {
  const fs_sync *y = o->y;
  for (uint32_t a = 0; a < o->s->n_items; a++) {
    for (uint32_t b = 0; b < o->s->n_items; b++) {
      if (!o->needed[a][b]) {
        continue;
      }
      for (uint32_t i = y->item_command0[b]; i < y->item_command0[b + 1]; i++) {
        for (uint32_t k = y->item_command0[a]; k < y->item_command0[a + 1]; k++) {
          if (!has(&o->before[y->item_command[i]], y->item_command[k])) {
            *from = a;
            *to = b;
            return false;
          }
        }
      }
    }
  }
  return true;
}

static uint32_t known_epoch(const oracle *o, uint32_t command, uint32_t queue) {
  const fs_sync *y = o->y;
  uint32_t epoch = 0;
  for (uint32_t c = y->queue_command0[queue]; c < y->queue_command0[queue + 1]; c++) {
    if (c == command || has(&o->before[command], c)) {
      epoch = c - y->queue_command0[queue] + 1;
    }
  }
  return epoch;
}

/* What the stored frontier of a command says about a queue. */
static uint32_t stored_epoch(const oracle *o, uint32_t command, uint32_t queue) {
  const fs_sync *y = o->y;
  uint32_t epoch = 0;
  for (uint32_t i = y->frontier0[command]; i < y->frontier0[command + 1]; i++) {
    fs_wait e = y->frontier[i];
    ck_assert(i == y->frontier0[command] || y->frontier[i - 1].axis < e.axis);
    if (e.axis == queue) {
      epoch = (uint32_t)fs_max(epoch, e.epoch);
    }
    for (uint32_t op = 0; op < o->s->graph->n_ops; op++) {
      if (e.axis < o->s->n_queues || o->s->op_gang[op] != e.axis - o->s->n_queues ||
          y->item_gang_epoch[op] != e.epoch) {
        continue;
      }
      for (uint32_t c = y->item_command0[op]; c < y->item_command0[op + 1]; c++) {
        uint32_t member = y->item_command[c];
        if (member >= y->queue_command0[queue] && member < y->queue_command0[queue + 1]) {
          epoch = (uint32_t)fs_max(epoch, member - y->queue_command0[queue] + 1);
        }
      }
    }
  }
  return epoch;
}

/* Entries that a tainted frontier dropped would not have lasted longer than those that it has. */
static void check_eviction(const oracle *o, uint32_t command, uint32_t queue) {
  const fs_sync *y = o->y;
  for (uint32_t p = 0; p < o->s->n_queues && o->s->n_gangs == 0; p++) {
    uint32_t left = known_epoch(o, command, p);
    if (left == 0 || stored_epoch(o, command, p) > 0) {
      continue;
    }
    for (uint32_t i = y->frontier0[command]; i < y->frontier0[command + 1]; i++) {
      fs_wait e = y->frontier[i];
      ck_assert(e.axis == queue || e.epoch > left || (e.epoch == left && e.axis < p));
    }
  }
}

static void check_frontiers(const oracle *o) {
  const fs_sync *y = o->y;
  uint32_t tainted = 0;
  uint32_t largest = 0;
  for (uint32_t q = 0; q < o->s->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      uint32_t n = y->frontier0[c + 1] - y->frontier0[c];
      largest = (uint32_t)fs_max(largest, n);
      tainted += y->tainted[c];
      ck_assert_uint_le(n, o->s->graph->target.frontier_capacity);
      for (uint32_t p = 0; p < o->s->n_queues; p++) {
        uint32_t exact = known_epoch(o, c, p);
        uint32_t stored = stored_epoch(o, c, p);
        ck_assert_msg(stored <= exact, "command %u claims %u of queue %u, %u is known", c, stored,
                      p, exact);
        if (p == q || !y->tainted[c]) {
          ck_assert_uint_eq(stored, exact);
        }
      }
      ck_assert(!y->tainted[c] || n == o->s->graph->target.frontier_capacity);
      check_eviction(o, c, q);
    }
  }
  ck_assert_uint_eq(tainted, y->frontier_tainted);
  ck_assert_uint_eq(largest, y->frontier_largest);
}

static void check_counts(const oracle *o) {
  const fs_sync *y = o->y;
  uint32_t signals = 0;
  bool waited[MAX_COMMANDS] = {false};
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
      uint32_t axis = y->wait[w].axis;
      ck_assert(w == y->wait0[c] || y->wait[w - 1].axis < axis);
      for (uint32_t d = 0; d < y->n_commands; d++) {
        uint32_t it = y->command_item[d];
        bool gang = y->item_gang_epoch[it] > 0;
        waited[d] = waited[d] ||
                    (axis < o->s->n_queues ? d == y->queue_command0[axis] + y->wait[w].epoch - 1
                                           : gang && o->s->op_gang[it] == axis - o->s->n_queues &&
                                                 y->item_gang_epoch[it] == y->wait[w].epoch);
      }
    }
  }
  for (uint32_t c = 0; c < y->n_commands; c++) {
    ck_assert_int_eq(y->signal[c], waited[c]);
    signals += waited[c];
  }
  ck_assert_uint_eq(signals, y->n_signals);
  ck_assert_uint_eq(y->waits_edges, y->waits_same_queue + y->waits_dominated + y->waits_emitted);
  ck_assert_uint_eq(y->waits_emitted, y->wait0[y->n_commands]);
}

/* Lanes have their amounts, and owners that run together have no unit in common. */
static void check_lane_sums(const oracle *o) {
  const fs_schedule *s = o->s;
  const fs_sync *y = o->y;
  for (uint32_t i = 0; i < y->n_lanes; i++) {
    const fs_lane *a = &y->lane[i];
    uint64_t capacity = a->kind == FS_LANE_MEMORY     ? s->graph->target.memory[a->index].capacity
                        : a->kind == FS_LANE_RESOURCE ? s->graph->target.resource_capacity[a->index]
                                                      : s->graph->target.concurrency;
    ck_assert(a->begin < a->end && a->end <= capacity);
    for (uint32_t k = 0; k < i; k++) {
      const fs_lane *b = &y->lane[k];
      if (a->kind != b->kind || a->index != b->index) {
        continue;
      }
      const fs_tick *begin = a->kind == FS_LANE_MEMORY ? s->res_begin : s->start;
      const fs_tick *end = a->kind == FS_LANE_MEMORY ? s->res_end : s->end;
      ck_assert(a->begin >= b->end || b->begin >= a->end || end[a->owner] <= begin[b->owner] ||
                end[b->owner] <= begin[a->owner]);
    }
  }
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < y->n_lanes; i++) {
      sum += y->lane[i].kind == FS_LANE_MEMORY && y->lane[i].owner == r
                 ? y->lane[i].end - y->lane[i].begin
                 : 0;
    }
    bool counted = s->graph->target.memory[s->res_memory[r]].placement == FSCHED_COUNTED;
    ck_assert_uint_eq(sum, counted ? s->res_size[r] : 0);
  }
}

static uint32_t waits_seen;

static void check_schedule(const fs_schedule *s, const fs_sync *y, uint64_t seed) {
  static oracle o;
  memset(&o, 0, sizeof o);
  o.s = s;
  o.y = y;
  if (y->n_commands > MAX_COMMANDS) {
    return;
  }
  uint32_t from;
  uint32_t to;
  find_needed(&o);
  for (uint32_t w = 0; w < y->waits_emitted; w++) {
    close_order(&o, w);
    ck_assert_msg(!all_ordered(&o, &from, &to), "seed %lu: wait %u is superfluous",
                  (unsigned long)seed, w);
  }
  close_order(&o, FS_NONE);
  ck_assert_msg(all_ordered(&o, &from, &to), "seed %lu: item %u is not before %u",
                (unsigned long)seed, from, to);
  check_frontiers(&o);
  check_counts(&o);
  check_lane_sums(&o);
  waits_seen += y->waits_emitted;
}

/* --- runs --- */

/* An allocator that counts its blocks and fails from the n-th request on, when armed. */
typedef struct meter {
  bool armed;
  uint32_t left;
  int64_t blocks;
} meter;

static void *meter_reallocate(void *user, void *block, size_t old_size, size_t new_size) {
  meter *m = user;
  (void)old_size;
  if (new_size == 0) {
    m->blocks -= block != NULL;
    free(block);
    return NULL;
  }
  if (m->armed && m->left-- == 0) {
    m->left = 0;
    return NULL;
  }
  m->blocks += block == NULL;
  return realloc(block, new_size);
}

static bool make_schedule(fsched_context *own, const fs_gen_params *params, fsched_graph **g,
                          fs_schedule **s) {
  fs_listsched_options options = {.seed = 0};
  *g = NULL;
  *s = NULL;
  return fs_gen_graph(own, params, g) == FSCHED_OK &&
         fs_listsched_run(own, *g, &options, s) == FSCHED_OK;
}

/* Without frontiers, the waits are the same. */
static void check_alone(const fs_schedule *s, const fs_sync *with) {
  fs_sync y = {.schedule = s};
  fs_arena_init(&y.arena, ctx);
  ck_assert_int_eq(fs_ctrledge_run(ctx, s, NULL, &y), FSCHED_OK);
  ck_assert_int_eq(fs_waits_run_alone(ctx, s, &y), FSCHED_OK);
  ck_assert(y.n_commands == with->n_commands && y.waits_edges == with->waits_edges &&
            y.waits_emitted == with->waits_emitted && y.frontier0 == NULL);
  for (uint32_t c = 0; c <= y.n_commands; c++) {
    ck_assert(y.wait0[c] == with->wait0[c]);
  }
  for (uint32_t w = 0; w < y.wait0[y.n_commands]; w++) {
    ck_assert(y.wait[w].axis == with->wait[w].axis && y.wait[w].epoch == with->wait[w].epoch);
  }
  fs_arena_release(&y.arena);
}

static void run_seed(const fs_gen_params *params, uint64_t seed) {
  fsched_graph *g;
  fs_schedule *s;
  if (make_schedule(ctx, params, &g, &s)) {
    g->target.frontier_capacity = seed % 3 == 0 ? 16 : 1 + seed % 4;
    fs_sync y = {.schedule = s};
    fs_arena_init(&y.arena, ctx);
    ck_assert_int_eq(fs_ctrledge_run(ctx, s, NULL, &y), FSCHED_OK);
    ck_assert_int_eq(fs_waits_run(ctx, s, &y), FSCHED_OK);
    check_schedule(s, &y, seed);
    check_alone(s, &y);
    fs_arena_release(&y.arena);
  }
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(random_graphs)
{
  waits_seen = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fs_gen_params params = fs_gen_any(seed, 24);
    run_seed(&params, seed);
  }
  ck_assert_uint_gt(waits_seen, 1000);
}
END_TEST

START_TEST(random_gangs_and_limits)
{
  waits_seen = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 20,
                            .n_queues = 3 + (uint32_t)(seed % 4),
                            .n_memories = 1 + (uint32_t)(seed % 2),
                            .tightness = 1.5,
                            .backing = true,
                            .counted = seed % 3 == 0,
                            .gangs = true,
                            .resources = seed % 2 == 0,
                            .concurrency = seed % 5 == 0,
                            .inouts = true,
                            .ats = seed % 4 == 1,
                            .zero_times = seed % 7 == 0,
                            .io = true};
    run_seed(&params, seed);
  }
  ck_assert_uint_gt(waits_seen, 1000);
}
END_TEST

START_TEST(random_counted_memories)
{
  waits_seen = 0;
  for (uint64_t seed = 0; seed < 150; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 24,
                            .n_queues = 4,
                            .n_memories = 2,
                            .tightness = 1.0,
                            .backing = true,
                            .counted = true,
                            .inouts = true,
                            .io = true};
    run_seed(&params, seed);
  }
  ck_assert_uint_gt(waits_seen, 1000);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  fs_gen_params params = {.seed = 3,
                          .n_ops = 60,
                          .n_queues = 5,
                          .n_memories = 2,
                          .tightness = 1.2,
                          .backing = true,
                          .counted = true,
                          .gangs = true,
                          .resources = true,
                          .concurrency = true,
                          .ats = true,
                          .io = true};
  meter m = {0};
  fsched_context_options options = {
      .size = sizeof options, .reallocate = meter_reallocate, .user = &m};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&options, &own), FSCHED_OK);
  fsched_graph *g;
  fs_schedule *s;
  ck_assert(make_schedule(own, &params, &g, &s));
  int64_t blocks = m.blocks;
  uint32_t failures = 0;
  for (fs_status status = FSCHED_SYSTEM; status != FSCHED_OK; failures++) {
    fs_sync y = {.schedule = s};
    fs_arena_init(&y.arena, own);
    m.armed = true;
    m.left = failures;
    status = fs_ctrledge_run(own, s, NULL, &y);
    if (status == FSCHED_OK) {
      status = fs_waits_run(own, s, &y);
    }
    m.armed = false;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    fs_arena_release(&y.arena);
    ck_assert_int_eq(m.blocks, blocks);
  }
  ck_assert_uint_gt(failures, 30);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
  ck_assert_int_eq(m.blocks, 0);
}
END_TEST

FS_SUITE(waits, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_graphs, random_gangs_and_limits, random_counted_memories,
           every_allocation_may_fail);
}
