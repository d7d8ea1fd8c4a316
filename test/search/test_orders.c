/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of ops that spill: rooms against a map of bytes, amounts against sums of them, queues
 * against a map of ticks, every schedule that is decoded against the verifier, runs that are
 * resumed against whole ones, and the search against the list scheduler. */
#include "search/orders/search.h"

#include "base/random.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "search/orders/turns.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { BYTES = 200, TICKS = 400, PARTS = 40 };

/* ---- rooms */

typedef struct room_model {
  fs_order_room room;
  uint32_t held[PARTS], n_held, owner[BYTES];
  fs_tick since[BYTES]; /* of free bytes */
} room_model;

/* The earliest time from which some `size` bytes are free; FS_TICK_NONE: there are none. */
static fs_tick free_since(const room_model *m, uint64_t size) {
  fs_tick best = FS_TICK_NONE;
  for (uint64_t first = 0; first + size <= BYTES; first++) {
    fs_tick since = 0;
    for (uint64_t b = first; b < first + size; b++) {
      since = m->owner[b] == 0 ? fs_max(since, m->since[b]) : FS_TICK_NONE;
    }
    best = fs_min(best, since);
  }
  return best;
}

static void take_bytes(room_model *m, uint64_t size, fs_tick wanted, bool high) {
  fs_tick since = free_since(m, size);
  uint32_t i = fs_order_room_take(&m->room, size, wanted, high, 1);
  ck_assert_int_eq(i == FS_NONE, since == FS_TICK_NONE);
  if (i == FS_NONE) {
    return;
  }
  const fs_order_segment *s = &m->room.segment[i];
  ck_assert_uint_eq(s->size, size);
  ck_assert_uint_eq(s->since, fs_max(since, wanted));
  for (uint64_t b = s->address; b < s->address + size; b++) {
    ck_assert_uint_eq(m->owner[b], 0);
    ck_assert_uint_le(m->since[b], s->since);
    m->owner[b] = 1;
  }
  m->held[m->n_held++] = i;
}

static void give_bytes(room_model *m, uint32_t k, fs_tick since) {
  const fs_order_segment *s = &m->room.segment[m->held[k]];
  for (uint64_t b = s->address; b < s->address + s->size; b++) {
    m->owner[b] = 0;
    m->since[b] = since;
  }
  fs_order_room_give(&m->room, m->held[k], since);
  m->held[k] = m->held[--m->n_held];
}

/* Where free segments are not joined, what is free first is found exactly: of up to 16. */
START_TEST(rooms_are_free_first)
{
  room_model m = {.room = {.capacity = BYTES, .most = fs_order_room_most(PARTS, PARTS)}};
  fs_rng rng = {fs_turn() * 100 + (uint64_t)_i};
  ck_fs(ctx, fs_new(&own_arena, &m.room.segment, m.room.most));
  fs_order_room_reset(&m.room);
  for (int step = 0; step < 2000; step++) {
    if (m.room.n_free > 8 && m.n_held > 0) {
      give_bytes(&m, 0, 0);
      for (uint32_t b = 0; b < BYTES; b++) { /* all free ones are joined */
        m.since[b] = m.owner[b] == 0 ? 0 : m.since[b];
      }
      for (uint32_t i = m.room.first; i != FS_NONE; i = m.room.segment[i].after) {
        m.room.segment[i].since = 0;
      }
      fs_order_room_tidy(&m.room, 0);
    } else if (m.n_held < PARTS && fs_rng_one_in(&rng, 2)) {
      take_bytes(&m, 1 + fs_rng_below(&rng, 30), fs_rng_below(&rng, 10), fs_rng_one_in(&rng, 2));
    } else if (m.n_held > 0) {
      give_bytes(&m, fs_rng_below(&rng, m.n_held), fs_rng_below(&rng, 20));
    }
  }
}
END_TEST

/* ---- amounts */

enum { SPARE_BYTES = 60 };

typedef struct amounts_model {
  fs_order_room room;
  uint32_t held[PARTS], n_held;
  uint64_t held_bytes;
} amounts_model;

/* When so many of the free bytes, and of those to spare where `borrow` says so, are free. */
static fs_tick bytes_since(const amounts_model *m, uint64_t size, bool borrow) {
  uint64_t best = FS_TICK_NONE;
  for (fs_tick t = 0; t <= TICKS && best == FS_TICK_NONE; t++) {
    uint64_t sum = borrow && m->room.spare_since <= t ? m->room.spare : 0;
    for (uint32_t i = m->room.first; i != FS_NONE; i = m->room.segment[i].after) {
      const fs_order_segment *s = &m->room.segment[i];
      sum += s->owner == FS_SEGMENT_FREE && s->since <= t ? s->size : 0;
    }
    best = sum >= size ? t : best;
  }
  return best;
}

static void check_bytes(const amounts_model *m) {
  uint64_t free = fs_order_room_free(&m->room);
  ck_assert_uint_eq(free + m->held_bytes + m->room.spare, BYTES + SPARE_BYTES);
  ck_assert_uint_eq(m->room.spare + m->room.borrowed, SPARE_BYTES);
}

static void take_amount(amounts_model *m, uint64_t size, fs_tick wanted, bool borrow) {
  bool short_of = fs_order_room_free(&m->room) < size;
  fs_tick since = bytes_since(m, size, borrow && short_of);
  uint32_t i = borrow ? fs_order_amounts_borrow(&m->room, size, wanted, 1)
                      : fs_order_room_take(&m->room, size, wanted, false, 1);
  ck_assert_int_eq(i == FS_NONE, since == FS_TICK_NONE);
  if (i == FS_NONE) {
    return;
  }
  const fs_order_segment *s = &m->room.segment[i];
  ck_assert_uint_eq(s->size, size);
  if (!(borrow && short_of)) {
    ck_assert_uint_eq(fs_max(s->since, wanted), fs_max(since, wanted));
  }
  ck_assert_uint_ge(fs_max(s->since, wanted), since);
  m->held[m->n_held++] = i;
  m->held_bytes += size;
}

/* Bytes by amounts are neither lost nor made, are taken as soon as so many are free, and those to
 * spare only where nothing else is; they come back first. */
START_TEST(amounts_are_kept)
{
  amounts_model m = {.room = {.capacity = BYTES,
                              .all = BYTES + SPARE_BYTES,
                              .amounts = true,
                              .most = fs_order_room_most(PARTS, PARTS)}};
  fs_rng rng = {fs_turn() * 100 + (uint64_t)_i};
  uint32_t borrowed = 0;
  ck_fs(ctx, fs_new(&own_arena, &m.room.segment, m.room.most));
  fs_order_room_reset(&m.room);
  for (int step = 0; step < 2000; step++) {
    fs_order_room_tidy(&m.room, fs_rng_below(&rng, 4));
    ck_assert_uint_le(m.room.n_free, FS_ROOM_FREE);
    if (m.n_held < PARTS && fs_rng_below(&rng, 5) < 3) {
      take_amount(&m, 1 + fs_rng_below(&rng, 30), fs_rng_below(&rng, 30), fs_rng_one_in(&rng, 3));
    } else if (m.n_held > 0) {
      uint32_t k = fs_rng_below(&rng, m.n_held);
      m.held_bytes -= m.room.segment[m.held[k]].size;
      fs_order_room_give(&m.room, m.held[k], fs_rng_below(&rng, TICKS));
      m.held[k] = m.held[--m.n_held];
    }
    check_bytes(&m);
    borrowed += m.room.borrowed > 0;
  }
  ck_assert_uint_ge(borrowed, 50);
}
END_TEST

/* ---- queues */

/* The first of `time` free ticks in a row, from `ready` on. */
static fs_tick first_free(const bool *busy, fs_tick ready, fs_tick time) {
  for (fs_tick start = ready;; start++) {
    fs_tick n = 0;
    while (n < time && !busy[start + n]) {
      n++;
    }
    if (n == time) {
      return start;
    }
  }
}

START_TEST(queues_use_their_gaps)
{
  fs_rng rng = {fs_turn() * 100 + (uint64_t)_i};
  bool busy[TICKS] = {false};
  fs_order_queue q = {0};
  uint32_t in_gaps = 0;
  while (q.free < TICKS / 2 && q.n_gaps + 1 < FS_ORDER_GAPS) {
    fs_tick time = 1 + fs_rng_below(&rng, 4);
    fs_tick ready = fs_rng_below(&rng, (uint32_t)q.free + 6);
    fs_tick start = fs_order_queue_earliest(&q, ready, time);
    ck_assert_uint_eq(start, first_free(busy, ready, time));
    in_gaps += start < q.free;
    fs_order_queue_take(&q, start, time);
    memset(busy + start, 1, time);
  }
  ck_assert_uint_gt(in_gaps, 0);
}
END_TEST

/* ---- schedules */

static fsched_graph *spilling_graph(fsched_context *own, uint64_t seed, uint32_t most_ops) {
  fs_rng r = {seed};
  fs_gen_params p = {.seed = seed,
                     .n_ops = 5 + fs_rng_below(&r, most_ops),
                     .n_queues = 2 + fs_rng_below(&r, 4),
                     .n_classes = 1 + fs_rng_below(&r, 2),
                     .n_memories = 1 + fs_rng_below(&r, 2),
                     .align = 1u << fs_rng_below(&r, 4),
                     .max_size = 4 + fs_rng_below(&r, 200),
                     .window = 2 + fs_rng_below(&r, 30),
                     .tightness = 1 + 0.5 * fs_rng_below(&r, 5),
                     .backing = true,
                     .gangs = fs_rng_one_in(&r, 3),
                     .scratch = fs_rng_one_in(&r, 3),
                     .inplace = fs_rng_one_in(&r, 2),
                     .inouts = fs_rng_one_in(&r, 2),
                     .ats = fs_rng_one_in(&r, 3),
                     .zero_times = fs_rng_one_in(&r, 3),
                     .io = fs_rng_one_in(&r, 2),
                     .raw = fs_rng_one_in(&r, 4),
                     .versions = fs_rng_one_in(&r, 3),
                     .states = fs_rng_one_in(&r, 4)};
  fsched_graph *g;
  ck_fs(own, fs_gen_graph(own, &p, &g));
  return g;
}

/* A linear extension at random. */
static void random_order(const fsched_graph *g, fs_arena *arena, uint64_t seed, uint32_t *order) {
  uint32_t *left, *ready, n_ready = 0;
  ck_fs(ctx, fs_new(arena, &left, g->n_ops));
  ck_fs(ctx, fs_new(arena, &ready, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    left[op] = g->pred0[op + 1] - g->pred0[op];
    if (left[op] == 0) {
      ready[n_ready++] = op;
    }
  }
  for (uint32_t k = 0; k < g->n_ops; k++) {
    uint32_t i = fs_random_below(&seed, n_ready), op = order[k] = ready[i];
    ready[i] = ready[--n_ready];
    for (uint32_t s = g->succ0[op]; s < g->succ0[op + 1]; s++) {
      if (--left[g->succ[s]] == 0) {
        ready[n_ready++] = g->succ[s];
      }
    }
  }
}

static fs_tick copies_of(const fs_schedule *s) {
  fs_tick sum = 0;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    sum += s->end[s->graph->n_ops + c] - s->start[s->graph->n_ops + c];
  }
  return sum;
}

/* fs_decoder_schedule gives no schedule that the verifier refutes, so it has to give one. */
START_TEST(schedules_are_right)
{
  uint32_t known = 0, returned = 0;
  for (uint64_t k = 0; k < 40; k++) {
    uint64_t seed = (fs_turn() * 8 + (uint64_t)_i) * 40 + k;
    fsched_graph *g = spilling_graph(ctx, seed, 60);
    if (fs_decoder_knows(g)) {
      FS_SCRATCH(arena, ctx);
      fs_decoder d;
      uint32_t *order;
      fs_schedule *s;
      ck_fs(ctx, fs_decoder_init(&d, g, &arena));
      ck_fs(ctx, fs_new(&arena, &order, g->n_ops));
      random_order(g, &arena, seed, order);
      for (uint32_t v = 0; v < g->n_versions; v++) {
        d.opposite[v] = fs_random_next(&seed) & 1;
      }
      d.reserve = k % 4 * 8;
      bool has_room = fs_decoder_run(&d, order);
      fs_order_run run = *d.run;
      ck_fs(ctx, fs_decoder_schedule(&d, ctx, order, &s));
      ck_assert_int_eq(s != NULL, has_room);
      if (s != NULL) {
        ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
        ck_assert_uint_eq(s->makespan, run.makespan);
        ck_assert_uint_eq(copies_of(s), run.copy_time);
        known++;
        returned += run.n_returns;
      }
      fs_schedule_destroy(s);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 20);
  fs_assert_seen(returned, 200);
}
END_TEST

/* The most bytes of a memory that lie in it at one time.  Requires a schedule without places that
 * are taken over. */
static uint64_t peak_of(const fs_schedule *s, uint32_t memory) {
  uint64_t peak = 0;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < s->n_residencies; k++) {
      bool there = s->res_memory[k] == memory && s->res_begin[k] <= s->res_begin[r] &&
                   s->res_begin[r] < s->res_end[k];
      sum += there ? s->res_size[k] : 0;
    }
    peak = fs_max(peak, sum);
  }
  return peak;
}

/* By amounts, an order has the schedule that its run promises, or none where no addresses are
 * found; the verifier agrees.  Where no op needs more, no more is taken than the parts. */
START_TEST(amounts_are_placed)
{
  uint32_t placed = 0;
  for (uint64_t k = 0; k < 12; k++) {
    fs_gen_params p = {.seed = fs_turn() * 12 + k,
                       .n_ops = 50,
                       .n_queues = 3,
                       .n_memories = 1 + k % 2,
                       .window = 16,
                       .tightness = 2.5,
                       .inplace = k % 3 == 0,
                       .scratch = k % 4 == 0,
                       .backing = true,
                       .io = true};
    fsched_graph *g;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    FS_SCRATCH(arena, ctx);
    fs_decoder d;
    uint32_t *order;
    ck_assert(fs_decoder_knows(g));
    ck_fs(ctx, fs_decoder_init(&d, g, &arena));
    ck_fs(ctx, fs_new(&arena, &order, g->n_ops));
    random_order(g, &arena, k, order);
    for (uint32_t parts = 28; parts <= FS_ORDER_PARTS; parts += 9) {
      fs_schedule *s;
      fs_decoder_use_amounts(&d, parts);
      ck_assert(fs_decoder_run(&d, order));
      fs_order_run run = *d.run;
      ck_fs(ctx, fs_decoder_schedule(&d, ctx, order, &s));
      placed += s != NULL;
      for (uint32_t m = 0; m < g->target.n_memories && s != NULL; m++) {
        uint64_t capacity = g->target.memory[m].capacity;
        if (fs_memory_bounded(&g->target.memory[m]) && !p.inplace) {
          ck_assert_uint_le(peak_of(s, m), capacity / FS_ORDER_PARTS * parts + FS_ORDER_PARTS);
        }
      }
      if (s != NULL) {
        ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
        ck_assert_uint_eq(s->makespan, run.makespan);
        ck_assert_uint_eq(copies_of(s), run.copy_time);
      }
      fs_schedule_destroy(s);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(placed, 20);
}
END_TEST

/* A run that goes on from any place, with the same order, ends like the whole run. */
START_TEST(runs_are_resumed)
{
  for (uint64_t k = 0; k < 20; k++) {
    fsched_graph *g = spilling_graph(ctx, fs_turn() * 20 + k, 40);
    FS_SCRATCH(arena, ctx);
    fs_decoder d;
    uint32_t *order;
    if (fs_decoder_knows(g)) {
      ck_fs(ctx, fs_decoder_init(&d, g, &arena));
      ck_fs(ctx, fs_new(&arena, &order, g->n_ops));
      random_order(g, &arena, k, order);
      char *saved = fs_arena_alloc(&arena, d.block_size);
      uint32_t place = g->n_ops / 2;
      fs_decoder_begin(&d, order);
      bool room = true;
      for (uint32_t i = 0; i < place && room; i++) {
        room = fs_decoder_step(&d, i);
      }
      fs_decoder_save(&d, saved);
      if (room && fs_decoder_run(&d, order)) {
        fs_order_run whole = *d.run;
        fs_decoder_resume(&d, order, saved);
        for (uint32_t i = place; i < g->n_ops; i++) {
          ck_assert(fs_decoder_step(&d, i));
        }
        fs_decoder_finish(&d);
        ck_assert_uint_eq(d.run->makespan, whole.makespan);
        ck_assert_uint_eq(d.run->copy_time, whole.copy_time);
      }
    }
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Volumes are those of the copies that no order avoids where all fits, and more where it does not.
 */
START_TEST(volumes_are_of_copies)
{
  uint32_t fits = 0, spills = 0;
  for (uint64_t k = 0; k < 60; k++) {
    fsched_graph *g = spilling_graph(ctx, fs_turn() * 60 + k, 40);
    FS_SCRATCH(arena, ctx);
    fs_decoder d;
    fs_volume v;
    uint32_t *order;
    if (fs_decoder_knows(g)) {
      ck_fs(ctx, fs_decoder_init(&d, g, &arena));
      ck_fs(ctx, fs_volume_init(&v, &d, &arena));
      ck_fs(ctx, fs_new(&arena, &order, g->n_ops));
      random_order(g, &arena, k, order);
      fs_volume_run(&v, order);
      ck_assert_uint_ge(v.copy_time, v.least);
      bool tight = v.n_returned > 0;
      for (uint32_t m = 0; m < g->target.n_memories; m++) {
        v.memory[m].capacity *= 1000;
      }
      fs_volume_run(&v, order);
      ck_assert_uint_eq(v.copy_time, v.least);
      ck_assert_uint_eq(v.n_returned, 0);
      fits += !tight;
      spills += tight;
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(fits, 1);
  fs_assert_seen(spills, 20);
}
END_TEST

/* ---- the search */

static fsched_graph *tight_graph(fsched_context *own, uint64_t seed, uint32_t n_ops) {
  fs_gen_params p = {.seed = seed,
                     .n_ops = n_ops,
                     .n_queues = 4,
                     .n_memories = 1,
                     .max_size = 1000,
                     .window = 16,
                     .tightness = 1.5,
                     .backing = true,
                     .io = true};
  fsched_graph *g;
  ck_fs(own, fs_gen_graph(own, &p, &g));
  ck_assert(fs_decoder_knows(g));
  return g;
}

static bool never(void *user) {
  (void)user;
  return false;
}

/* The search shortens by a tenth at least, the same way each time, and its schedule is right. */
START_TEST(search_shortens)
{
  fsched_graph *g = tight_graph(ctx, (uint64_t)_i / 2, 120);
  fs_tick makespan[2];
  uint64_t work[2];
  for (int k = 0; k < 2; k++) {
    FS_SCRATCH(arena, ctx);
    fs_order_search o;
    fs_schedule *s;
    ck_fs(ctx, fs_order_search_init(&o, g, 1, _i % 2 == 1, &arena));
    fs_order_search_offer(&o, g->topo);
    fs_tick first = o.best_makespan;
    fs_order_search_run(&o, (uint64_t)600 * g->n_ops, 0, never, NULL);
    fs_order_search_run(&o, (uint64_t)(600 + 600 * k) * g->n_ops, 0, never, NULL);
    s = NULL;
    for (int tries = 0; s == NULL && tries < 16; tries++) { /* by amounts, with fewer parts */
      ck_fs(ctx, fs_order_search_schedule(&o, ctx, FS_TICK_NONE, &s));
    }
    ck_assert_ptr_nonnull(s);
    ck_assert(_i % 2 == 1 || s->makespan == o.best_makespan);
    ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
    ck_assert_uint_lt(s->makespan * 10, first * 9);
    makespan[k] = s->makespan;
    work[k] = o.work;
    fs_schedule_destroy(s);
  }
  ck_assert(_i % 2 == 1 || makespan[1] <= makespan[0]);
  ck_assert_uint_lt(work[0], work[1]);
  fsched_graph_destroy(g);
}
END_TEST

typedef struct turns_limit {
  uint64_t nodes, most;
  fs_tick best;
} turns_limit;

static bool is_over(void *user, uint64_t nodes, fs_tick best) {
  turns_limit *l = user;
  ck_assert_uint_ge(nodes, l->nodes);
  ck_assert_uint_le(best, l->best);
  l->nodes = nodes;
  l->best = best;
  return nodes >= l->most;
}

static fs_tick take_turns(fsched_graph *g, const fs_schedule *from, uint64_t nodes) {
  turns_limit limit = {.most = nodes, .best = from->makespan};
  fs_listsched_options o = {.seed = 3, .stop = is_over, .user = &limit};
  fs_schedule *s;
  ck_fs(ctx, fs_order_turns_run(ctx, &o, (fs_order_calls){0}, from, &s));
  ck_assert_uint_ge(limit.nodes, nodes);
  fs_tick makespan = from->makespan;
  if (s != NULL) {
    ck_fs(ctx, fs_verify_schedule(ctx, g, s, NULL));
    ck_assert_uint_lt(s->makespan, makespan);
    makespan = s->makespan;
  }
  ck_assert_uint_le(makespan, limit.best);
  fs_schedule_destroy(s);
  return makespan;
}

/* Turns keep their limit of nodes, are never longer than what they begin with, and are the same
 * each time. */
START_TEST(turns_shorten)
{
  fsched_graph *g = tight_graph(ctx, 10 + (uint64_t)_i, 100);
  fs_listsched_options few = {.effort = 1};
  fs_schedule *from;
  ck_fs(ctx, fs_listsched_run(ctx, g, &few, &from));
  fs_tick makespan = take_turns(g, from, 3000);
  ck_assert_uint_lt(makespan * 20, from->makespan * 19);
  ck_assert_uint_eq(take_turns(g, from, 3000), makespan);
  fs_schedule_destroy(from);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- memory */

static fsched_status search_with(fsched_context *own, fs_budget *budget, long left) {
  fsched_graph *g = tight_graph(own, 5, 30);
  fs_listsched_options few = {.effort = 1};
  fs_schedule *from, *s = NULL;
  ck_fs(own, fs_listsched_run(own, g, &few, &from));
  turns_limit limit = {.most = 300, .best = from->makespan};
  fs_listsched_options o = {.seed = 3, .stop = is_over, .user = &limit};
  budget->left = left;
  fs_status status = fs_order_turns_run(own, &o, (fs_order_calls){0}, from, &s);
  long after = budget->left;
  fs_schedule_destroy(s);
  fs_schedule_destroy(from);
  fsched_graph_destroy(g);
  budget->left = after;
  return status;
}

START_TEST(runs_out_of_memory)
{ fs_fail_each(search_with, 1); }
END_TEST

FS_SUITE(orders, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 10, rooms_are_free_first);
  FS_LOOPS(t, 0, 10, amounts_are_kept);
  FS_LOOPS(t, 0, 10, queues_use_their_gaps);
  FS_LOOPS(t, 0, 8, schedules_are_right);
  FS_TESTS(t, amounts_are_placed, runs_are_resumed, volumes_are_of_copies);
  FS_LOOPS(t, 0, 8, search_shortens);
  FS_LOOPS(t, 0, 4, turns_shorten);
  FS_TESTS(t, runs_out_of_memory);
}
