/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks with death frontiers: the shared facts, a model byte by byte, and small cases. */
#include <stdlib.h>
#include <string.h>

#include "fsched/block.h"
#include "kit/facts_script.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "kit/suite.h"

/* --- the shared facts --- */

enum { NAMES = 26, FACT_ENTRIES = 64 };

typedef struct fact_blocks {
  fsched_blocks *b;
  fsched_block block[NAMES]; /* by the first letter of the name */
  uint32_t capacity;
} fact_blocks;

/* Compares with a frontier as the facts write it; the entries of a tainted one do not count. */
static void check_fact_death(const fact_blocks *t, const fs_facts *f, const fsched_block *block) {
  fsched_frontier_entry entry[FACT_ENTRIES];
  fsched_frontier death = {entry, 0, t->capacity, 0};
  ck_assert_int_eq(fsched_blocks_death(t->b, block, &death), FSCHED_OK);
  fsched_frontier_entry wanted_entry[FACT_ENTRIES];
  fsched_frontier wanted = fs_facts_frontier(f->expected[1], wanted_entry);
  if (f->tag == 'U' && block->offset > 0) { /* both parts of what was split keep the death */
    wanted_entry[0] = (fsched_frontier_entry){0, 5};
    wanted = (fsched_frontier){wanted_entry, 1, 1, 0};
  }
  ck_assert_msg(death.tainted == atoi(f->expected[2]), "%s", f->id);
  ck_assert_msg(death.tainted || fsched_frontier_compare(&death, &wanted) == FSCHED_FRONTIER_EQUAL,
                "%s", f->id);
}

static void fact_alloc(fact_blocks *t, const fs_facts *f) {
  fsched_block *block = &t->block[f->word[1][0] - 'a'];
  fsched_frontier_entry entry[FACT_ENTRIES];
  fsched_frontier waits = {entry, 0, FACT_ENTRIES, 0};
  fsched_blocks_result result;
  uint64_t bytes = fs_facts_u64(f->word[2]);
  ck_assert_int_eq(
      fsched_blocks_take(t->b, bytes, NULL, FSCHED_BLOCKS_TIGHTEST, block, &waits, &result),
      FSCHED_OK);
  if (result == FSCHED_BLOCKS_BUSY) { /* tainted: only a planner who names the place is told */
    ck_assert_int_eq(atoi(f->expected[2]), 1);
    ck_assert_uint_ge(fsched_blocks_longest(t->b), bytes);
    return;
  }
  ck_assert_int_le(result, FSCHED_BLOCKS_WAITS);
  ck_assert_uint_eq(block->offset, fs_facts_u64(f->expected[0]));
  check_fact_death(t, f, block);
}

static void fact_command(fact_blocks *t, const fs_facts *f) {
  if (fs_facts_is(f, "tlsf")) {
    t->capacity = (uint32_t)fs_facts_u64(f->word[3]);
    fsched_blocks_options o = {.size = sizeof o,
                               .bytes = fs_facts_u64(f->word[1]),
                               .align = fs_facts_u64(f->word[2]),
                               .capacity = t->capacity};
    ck_assert_int_eq(fsched_blocks_create(&o, &t->b), FSCHED_OK);
  } else if (fs_facts_is(f, "alloc")) {
    fact_alloc(t, f);
  } else if (fs_facts_is(f, "free")) {
    fsched_frontier_entry entry[FS_FACTS_ENTRIES];
    fsched_frontier death = fs_facts_frontier(f->word[2], entry);
    ck_assert_int_eq(fsched_blocks_give(t->b, &t->block[f->word[1][0] - 'a'], &death), FSCHED_OK);
  } else if (fs_facts_is(f, "restore")) {
    fsched_block *block = &t->block[f->word[1][0] - 'a'];
    ck_assert_int_eq(fsched_blocks_return(t->b, block), block->id == 0 ? FSCHED_USAGE : FSCHED_OK);
  } else {
    ck_abort_msg("%s: unknown command %s", f->id, f->word[0]);
  }
}

START_TEST(shared_facts)
{
  fs_facts f;
  if (!fs_facts_open(&f)) {
    return;
  }
  uint32_t scripts = 0;
  while (fs_facts_script(&f)) {
    if (strncmp(f.id, "mem.", 4) != 0) {
      continue;
    }
    fact_blocks t = {0};
    while (fs_facts_command(&f)) {
      fact_command(&t, &f);
    }
    fsched_blocks_destroy(t.b);
    scripts++;
  }
  fs_facts_close(&f);
  ck_assert_uint_ge(scripts, 6);
}
END_TEST

/* --- a model byte by byte --- */

enum { AXES = 3, RANGE = 96, HELD = 12, WAITS = 8 };

typedef struct block_cell {
  bool taken, tainted;
  uint64_t stamp;
  uint8_t epoch[AXES];
} block_cell;

typedef struct block_held {
  fsched_block block; /* id 0: none */
  bool touched;
  block_cell use; /* epochs and taint of its accesses */
} block_held;

typedef struct block_model {
  fsched_blocks *b;
  uint64_t align, stamp;
  uint32_t capacity;
  block_cell at[RANGE];
  block_held held[HELD];
  fs_rng rng;
} block_model;

typedef struct block_point {
  fsched_frontier f;
  fsched_frontier_entry entry[WAITS];
} block_point;

static uint32_t n_axes(const uint8_t *epoch) {
  uint32_t n = 0;
  for (int a = 0; a < AXES; a++) {
    n += epoch[a] > 0;
  }
  return n;
}

static void random_epochs(block_model *m, uint8_t *epoch) {
  for (int a = 0; a < AXES; a++) {
    epoch[a] = (uint8_t)(fs_rng_one_in(&m->rng, 2) ? 0 : fs_rng_below(&m->rng, 5));
  }
}

static void to_frontier(const uint8_t *epoch, block_point *p) {
  p->f = (fsched_frontier){p->entry, 0, WAITS, 0};
  for (uint32_t a = 0; a < AXES; a++) {
    if (epoch[a] > 0) {
      p->entry[p->f.n++] = (fsched_frontier_entry){a, epoch[a]};
    }
  }
}

/* Finds what a window needs of a user; false: the window is not free, or tainted. */
static bool model_needs(const block_model *m, uint64_t offset, uint64_t bytes, const uint8_t *user,
                        uint8_t *missing, bool *fresh) {
  bool can = true;
  *fresh = true;
  memset(missing, 0, AXES);
  for (uint64_t i = offset; i < offset + bytes; i++) {
    const block_cell *c = &m->at[i];
    can = can && !c->taken && !c->tainted;
    for (int a = 0; a < AXES; a++) {
      *fresh = *fresh && c->epoch[a] == 0;
      if (c->epoch[a] > user[a] && c->epoch[a] > missing[a]) {
        missing[a] = c->epoch[a];
      }
    }
  }
  return can;
}

static uint64_t model_longest(const block_model *m) {
  uint64_t longest = 0;
  uint64_t run = 0;
  for (int i = 0; i < RANGE; i++) {
    run = m->at[i].taken ? 0 : run + 1;
    longest = fs_max(longest, run);
  }
  return longest;
}

/* Finds where to take: the lowest window with the fewest waits, in the shortest run, or else the
 * beginning of the shortest run. -1: nowhere. */
static int model_best(const block_model *m, uint64_t bytes, const uint8_t *user, uint32_t room,
                      fsched_blocks_fit fit) {
  int best = -1;
  uint64_t best_score = UINT64_MAX;
  for (uint64_t begin = 0, end; begin < RANGE; begin = end + 1) {
    for (end = begin; end < RANGE && !m->at[end].taken;) {
      end++;
    }
    for (uint64_t at = begin; at + bytes <= end; at += m->align) {
      uint8_t missing[AXES];
      bool fresh;
      bool can = model_needs(m, at, bytes, user, missing, &fresh) && n_axes(missing) <= room;
      uint64_t score = (end - begin) + (fit == FSCHED_BLOCKS_TIGHTEST ? 0 : 1000 * n_axes(missing));
      if (can && score < best_score && (fit != FSCHED_BLOCKS_TIGHTEST || at == begin)) {
        best_score = score;
        best = (int)at;
      }
    }
  }
  return best;
}

static void model_check(const block_model *m) {
  uint64_t n = 0;
  uint32_t edges = 1; /* places where pieces may meet */
  for (int i = 0; i < RANGE; i++) {
    n += !m->at[i].taken;
    if (i > 0) {
      const block_cell *x = &m->at[i - 1];
      const block_cell *y = &m->at[i];
      bool fresh = n_axes(x->epoch) + n_axes(y->epoch) == 0 && !x->tainted && !y->tainted;
      edges += x->taken || y->taken || (!fresh && x->stamp != y->stamp) ||
               x->tainted != y->tainted || memcmp(x->epoch, y->epoch, sizeof x->epoch) != 0;
    }
  }
  ck_assert_uint_eq(fsched_blocks_free_bytes(m->b), n);
  ck_assert_uint_eq(fsched_blocks_longest(m->b), model_longest(m));
  ck_assert_uint_eq(fsched_blocks_stamp(m->b), m->stamp);
  ck_assert_uint_le(fsched_blocks_pieces(m->b), edges);
}

static void model_took(block_model *m, const fsched_block *block, uint64_t bytes,
                       const uint8_t *user, const fsched_frontier *waits,
                       fsched_blocks_result result) {
  uint8_t missing[AXES];
  bool fresh;
  ck_assert_uint_eq(block->bytes, bytes);
  ck_assert_uint_le(block->offset + bytes, RANGE);
  ck_assert_uint_eq(block->offset % m->align, 0);
  ck_assert(model_needs(m, block->offset, bytes, user, missing, &fresh));
  ck_assert_int_eq(result, fresh                  ? FSCHED_BLOCKS_FRESH
                           : n_axes(missing) == 0 ? FSCHED_BLOCKS_DOMINATED
                                                  : FSCHED_BLOCKS_WAITS);
  block_point wanted;
  to_frontier(missing, &wanted);
  if (waits != NULL) {
    ck_assert_int_eq(fsched_frontier_compare(waits, &wanted.f), FSCHED_FRONTIER_EQUAL);
  } else {
    ck_assert_uint_eq(wanted.f.n, 0);
  }
  for (uint64_t i = block->offset; i < block->offset + bytes; i++) {
    m->at[i].taken = true;
  }
}

static void model_take(block_model *m, block_held *h) {
  uint8_t user[AXES];
  random_epochs(m, user);
  block_point known;
  to_frontier(user, &known);
  uint64_t bytes = 1 + fs_rng_below(&m->rng, RANGE / 3);
  uint64_t rounded = (bytes + m->align - 1) / m->align * m->align;
  block_point waits = {{waits.entry, 0, 1 + fs_rng_below(&m->rng, AXES), 0}, {{0}}};
  fsched_frontier *room = fs_rng_one_in(&m->rng, 4) ? NULL : &waits.f;
  fsched_blocks_fit fit =
      fs_rng_one_in(&m->rng, 3) ? FSCHED_BLOCKS_TIGHTEST : FSCHED_BLOCKS_FEWEST_WAITS;
  int best = model_best(m, rounded, user, room == NULL ? 0 : room->capacity, fit);
  bool full = model_longest(m) < rounded;
  fsched_blocks_result result;
  fsched_block block;
  if (fs_rng_one_in(&m->rng, 4)) {
    uint64_t offset = fs_rng_below(&m->rng, (uint32_t)((RANGE - rounded) / m->align) + 1);
    offset *= m->align;
    ck_assert_int_eq(fsched_blocks_take_at(m->b, offset, bytes, &known.f, &block, room, &result),
                     FSCHED_OK);
    ck_assert(block.id == 0 || block.offset == offset);
    uint8_t missing[AXES];
    bool fresh;
    bool can = model_needs(m, offset, rounded, user, missing, &fresh) &&
               n_axes(missing) <= (room == NULL ? 0 : room->capacity);
    ck_assert_int_eq(block.id != 0, can);
  } else {
    ck_assert_int_eq(fsched_blocks_take(m->b, bytes, &known.f, fit, &block, room, &result),
                     FSCHED_OK);
    ck_assert_int_eq(result == FSCHED_BLOCKS_FULL, full);
    ck_assert_int_eq(block.id == 0 ? -1 : (int)block.offset, best);
  }
  *h = (block_held){.block = block};
  if (block.id != 0) {
    model_took(m, &block, rounded, user, room, result);
  }
}

static void model_access(block_model *m, block_held *h, const uint8_t *epoch) {
  if (!h->touched) {
    h->touched = true;
    h->use = (block_cell){0};
  }
  for (int a = 0; a < AXES; a++) {
    h->use.epoch[a] = (uint8_t)fs_max(h->use.epoch[a], epoch[a]);
  }
  if (n_axes(h->use.epoch) > m->capacity || h->use.tainted) {
    h->use = (block_cell){.tainted = true};
  }
}

/* What fsched_blocks_death must say: the maximum over the bytes. */
static void model_death(const block_model *m, const block_held *h) {
  block_cell c = h->use;
  for (uint64_t i = h->block.offset; !h->touched && i < h->block.offset + h->block.bytes; i++) {
    c.tainted = c.tainted || m->at[i].tainted;
    for (int a = 0; a < AXES; a++) {
      c.epoch[a] = (uint8_t)fs_max(c.epoch[a], m->at[i].epoch[a]);
    }
  }
  block_point wanted;
  to_frontier(c.epoch, &wanted);
  block_point death = {{death.entry, 0, WAITS, 0}, {{0}}};
  ck_assert_int_eq(fsched_blocks_death(m->b, &h->block, &death.f), FSCHED_OK);
  ck_assert_int_eq(death.f.tainted, c.tainted);
  ck_assert(c.tainted || fsched_frontier_compare(&death.f, &wanted.f) == FSCHED_FRONTIER_EQUAL);
}

/* Gives, or declines, a block. */
static void model_release(block_model *m, block_held *h) {
  uint8_t epoch[AXES];
  random_epochs(m, epoch);
  block_point access;
  to_frontier(epoch, &access);
  if (fs_rng_one_in(&m->rng, 3)) {
    ck_assert_int_eq(fsched_blocks_return(m->b, &h->block), h->touched ? FSCHED_USAGE : FSCHED_OK);
    if (h->touched) {
      return;
    }
  } else {
    bool last = fs_rng_one_in(&m->rng, 2);
    ck_assert_int_eq(fsched_blocks_give(m->b, &h->block, last ? &access.f : NULL), FSCHED_OK);
    m->stamp++;
    if (last) {
      model_access(m, h, epoch);
    }
  }
  for (uint64_t i = h->block.offset; i < h->block.offset + h->block.bytes; i++) {
    if (h->touched) {
      m->at[i] = h->use;
      m->at[i].stamp = m->stamp;
    }
    m->at[i].taken = false;
  }
  ck_assert_int_eq(fsched_blocks_give(m->b, &h->block, NULL), FSCHED_USAGE);
  *h = (block_held){0};
}

static void lower(block_cell *c, const uint8_t *reached) {
  for (int a = 0; a < AXES; a++) {
    c->epoch[a] = c->epoch[a] <= reached[a] ? 0 : c->epoch[a];
  }
}

static void model_progress(block_model *m) {
  if (fs_rng_one_in(&m->rng, 2)) {
    uint64_t stamp = m->stamp - fs_rng_below(&m->rng, (uint32_t)fs_min(m->stamp, 4) + 1);
    fsched_blocks_idle(m->b, stamp);
    for (int i = 0; i < RANGE; i++) {
      if (m->at[i].stamp <= stamp) {
        m->at[i] = (block_cell){.taken = m->at[i].taken, .stamp = m->at[i].stamp};
      }
    }
    return;
  }
  uint8_t epoch[AXES];
  random_epochs(m, epoch);
  block_point reached;
  to_frontier(epoch, &reached);
  fsched_blocks_reached(m->b, &reached.f);
  for (int i = 0; i < RANGE; i++) {
    lower(&m->at[i], epoch);
  }
  for (int i = 0; i < HELD; i++) {
    lower(&m->held[i].use, epoch);
  }
}

static void model_step(block_model *m) {
  block_held *h = &m->held[fs_rng_below(&m->rng, HELD)];
  if (fs_rng_one_in(&m->rng, 20)) {
    model_progress(m);
  } else if (h->block.id == 0) {
    model_take(m, h);
  } else if (fs_rng_one_in(&m->rng, 2)) {
    uint8_t epoch[AXES];
    random_epochs(m, epoch);
    block_point access;
    to_frontier(epoch, &access);
    ck_assert_int_eq(fsched_blocks_touch(m->b, &h->block, &access.f), FSCHED_OK);
    model_access(m, h, epoch);
    model_death(m, h);
  } else {
    model_death(m, h);
    model_release(m, h);
  }
  model_check(m);
}

START_TEST(as_a_map_of_bytes)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    static block_model m;
    m = (block_model){.rng = {seed}, .align = seed % 3 == 0 ? 4 : 1, .capacity = 1 + seed % 4};
    fsched_blocks_options o = {.size = sizeof o,
                               .bytes = RANGE + (m.align - 1),
                               .align = m.align,
                               .capacity = m.capacity,
                               .effort = FSCHED_NONE};
    ck_assert_int_eq(fsched_blocks_create(&o, &m.b), FSCHED_OK);
    for (int i = 0; i < 1500; i++) {
      model_step(&m);
    }
    fsched_blocks_destroy(m.b);
  }
}
END_TEST

/* --- small cases --- */

static fsched_blocks *blocks(uint64_t bytes, uint32_t effort) {
  fsched_blocks_options o = {.size = sizeof o, .bytes = bytes, .effort = effort};
  fsched_blocks *b;
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_OK);
  return b;
}

static fsched_frontier one(fsched_frontier_entry *entry, uint64_t axis, uint64_t epoch) {
  *entry = (fsched_frontier_entry){axis, epoch};
  return (fsched_frontier){entry, 1, 1, 0};
}

static fsched_block take(fsched_blocks *b, uint64_t bytes, const fsched_frontier *user,
                         fsched_frontier *waits, fsched_blocks_result wanted) {
  fsched_block block;
  fsched_blocks_result result;
  ck_assert_int_eq(
      fsched_blocks_take(b, bytes, user, FSCHED_BLOCKS_FEWEST_WAITS, &block, waits, &result),
      FSCHED_OK);
  ck_assert_int_eq(result, wanted);
  return block;
}

/* A weight that 100 layers on two queues read dies once: of the last reader of each queue. */
START_TEST(many_readers_one_death)
{
  fsched_blocks *b = blocks(4096, 0);
  fsched_block weight = take(b, 4096, NULL, NULL, FSCHED_BLOCKS_FRESH);
  fsched_frontier_entry entry[2];
  for (uint64_t layer = 1; layer <= 100; layer++) {
    fsched_frontier read = one(entry, layer % 2, layer);
    ck_assert_int_eq(fsched_blocks_touch(b, &weight, &read), FSCHED_OK);
  }
  fsched_frontier death = {entry, 0, 2, 0};
  ck_assert_int_eq(fsched_blocks_death(b, &weight, &death), FSCHED_OK);
  ck_assert_uint_eq(death.n, 2);
  ck_assert(!death.tainted && entry[0].epoch == 100 && entry[1].epoch == 99);
  ck_assert_int_eq(fsched_blocks_give(b, &weight, NULL), FSCHED_OK);
  ck_assert_uint_eq(fsched_blocks_pieces(b), 1);
  fsched_frontier_entry user_entry;
  fsched_frontier user = one(&user_entry, 1, 99);
  fsched_frontier_entry wait_entry[2];
  fsched_frontier waits = {wait_entry, 0, 2, 0};
  (void)take(b, 10, &user, &waits, FSCHED_BLOCKS_WAITS);
  ck_assert_uint_eq(waits.n, 1);
  ck_assert(wait_entry[0].axis == 0 && wait_entry[0].epoch == 100);
  fsched_blocks_destroy(b);
}
END_TEST

/* Fresh bytes next to used ones stay fresh; among free runs the dominated one is found. */
START_TEST(try_before_you_fence)
{
  fsched_blocks *b = blocks(300, 0);
  fsched_block x = take(b, 100, NULL, NULL, FSCHED_BLOCKS_FRESH);
  fsched_block y = take(b, 100, NULL, NULL, FSCHED_BLOCKS_FRESH);
  fsched_frontier_entry entry;
  fsched_frontier death = one(&entry, 7, 4);
  ck_assert_int_eq(fsched_blocks_give(b, &x, &death), FSCHED_OK);
  entry.axis = 8;
  ck_assert_int_eq(fsched_blocks_give(b, &y, &death), FSCHED_OK);
  ck_assert_uint_eq(fsched_blocks_longest(b), 300);
  fsched_block z = take(b, 80, NULL, NULL, FSCHED_BLOCKS_FRESH);
  ck_assert_uint_eq(z.offset, 200);
  fsched_block w = take(b, 80, &death, NULL, FSCHED_BLOCKS_DOMINATED);
  ck_assert_uint_eq(w.offset, 100);
  (void)take(b, 80, &death, NULL, FSCHED_BLOCKS_BUSY);
  (void)take(b, 150, &death, NULL, FSCHED_BLOCKS_FULL);
  fsched_frontier_entry wait_entry;
  fsched_frontier waits = {&wait_entry, 0, 1, 0};
  (void)take(b, 80, &death, &waits, FSCHED_BLOCKS_WAITS);
  ck_assert(waits.n == 1 && wait_entry.axis == 7 && wait_entry.epoch == 4);
  fsched_blocks_destroy(b);
}
END_TEST

/* A death that lost entries is not to be had until it is known to be over. */
START_TEST(tainted_until_idle)
{
  fsched_blocks *b = blocks(100, 0);
  fsched_block x = take(b, 100, NULL, NULL, FSCHED_BLOCKS_FRESH);
  fsched_frontier_entry entry;
  fsched_frontier death = one(&entry, 7, 4);
  death.tainted = 1;
  ck_assert_int_eq(fsched_blocks_give(b, &x, &death), FSCHED_OK);
  death.tainted = 0;
  fsched_frontier_entry wait_entry[4];
  fsched_frontier waits = {wait_entry, 0, 4, 0};
  entry.epoch = UINT64_MAX;
  (void)take(b, 10, &death, &waits, FSCHED_BLOCKS_BUSY);
  fsched_blocks_reached(b, &death);
  (void)take(b, 10, &death, &waits, FSCHED_BLOCKS_BUSY);
  fsched_blocks_idle(b, 0);
  (void)take(b, 10, &death, &waits, FSCHED_BLOCKS_BUSY);
  fsched_blocks_idle(b, fsched_blocks_stamp(b));
  (void)take(b, 10, &death, &waits, FSCHED_BLOCKS_FRESH);
  fsched_blocks_destroy(b);
}
END_TEST

/* With little effort an answer may be worse, but it is right, and there is one wherever one run has
 * to be looked at. */
START_TEST(little_effort)
{
  fsched_blocks *b = blocks(10 * 64, 1);
  fsched_block block[64];
  fsched_frontier_entry entry;
  for (int i = 0; i < 64; i++) {
    block[i] = take(b, 10, NULL, NULL, FSCHED_BLOCKS_FRESH);
  }
  for (int i = 0; i < 64; i += 2) {
    fsched_frontier death = one(&entry, (uint64_t)i, 1);
    ck_assert_int_eq(fsched_blocks_give(b, &block[i], &death), FSCHED_OK);
  }
  fsched_frontier user = one(&entry, 62, 1);
  fsched_frontier_entry wait_entry;
  fsched_frontier waits = {&wait_entry, 0, 1, 0};
  fsched_block first = take(b, 10, &user, &waits, FSCHED_BLOCKS_WAITS);
  ck_assert_uint_eq(first.offset, 0);
  fsched_blocks_destroy(b);
}
END_TEST

START_TEST(bad_calls)
{
  fsched_blocks *b;
  fsched_blocks_options o = {.size = sizeof o};
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_USAGE);
  ck_assert_ptr_null(b);
  ck_assert_int_eq(fsched_blocks_create(NULL, &b), FSCHED_USAGE);
  o.bytes = 100;
  o.align = 3;
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_USAGE);
  o.align = 128;
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_USAGE);
  o.align = 8;
  o.size = 8;
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_USAGE);
  o.size = sizeof o;
  ck_assert_int_eq(fsched_blocks_create(&o, &b), FSCHED_OK);
  ck_assert_uint_eq(fsched_blocks_free_bytes(b), 96);
  fsched_block x;
  fsched_blocks_result result;
  ck_assert_int_eq(fsched_blocks_take(b, 0, NULL, 0, &x, NULL, &result), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_take_at(b, 4, 8, NULL, &x, NULL, &result), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_take_at(b, 96, 1, NULL, &x, NULL, &result), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_take_at(b, 88, 9, NULL, &x, NULL, &result), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_take_at(b, 88, 0, NULL, &x, NULL, &result), FSCHED_USAGE);
  (void)take(b, UINT64_MAX, NULL, NULL, FSCHED_BLOCKS_FULL);
  (void)take(b, 97, NULL, NULL, FSCHED_BLOCKS_FULL);
  x = take(b, 96, NULL, NULL, FSCHED_BLOCKS_FRESH);
  fsched_block none = {0};
  fsched_block other = {.offset = 0, .bytes = 96, .id = 77};
  ck_assert_int_eq(fsched_blocks_give(b, &none, NULL), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_return(b, &other), FSCHED_USAGE);
  other = x;
  other.bytes = 88;
  ck_assert_int_eq(fsched_blocks_give(b, &other, NULL), FSCHED_USAGE);
  ck_assert_int_eq(fsched_blocks_return(b, &x), FSCHED_OK);
  ck_assert_int_eq(fsched_blocks_return(b, &x), FSCHED_USAGE);
  fsched_blocks_destroy(b);
  fsched_blocks_destroy(NULL);
}
END_TEST

/* Takes and gives until memory runs out, and checks that then nothing has changed. */
static bool use_until_failure(fsched_blocks *b) {
  for (uint64_t i = 0; i < 40; i++) {
    uint64_t before = fsched_blocks_free_bytes(b);
    uint32_t pieces = fsched_blocks_pieces(b);
    fsched_block block;
    fsched_blocks_result result;
    fsched_status status =
        fsched_blocks_take(b, 3, NULL, FSCHED_BLOCKS_FEWEST_WAITS, &block, NULL, &result);
    if (status != FSCHED_OK) {
      ck_assert_int_eq(status, FSCHED_SYSTEM);
      ck_assert_uint_eq(fsched_blocks_free_bytes(b), before);
      ck_assert_uint_eq(fsched_blocks_pieces(b), pieces);
      return true;
    }
    fsched_frontier_entry entry;
    fsched_frontier death = one(&entry, i, 1);
    ck_assert_int_eq(result, FSCHED_BLOCKS_FRESH);
    ck_assert_int_eq(fsched_blocks_give(b, &block, &death), FSCHED_OK);
  }
  return false;
}

START_TEST(every_allocation_may_fail)
{
  uint32_t failures = 0;
  for (bool failed = true; failed; failures += failed) {
    fs_budget budget = {.left = failures};
    fsched_blocks_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget, .bytes = 1000};
    fsched_blocks *b;
    fsched_status status = fsched_blocks_create(&o, &b);
    ck_assert_int_eq(status == FSCHED_OK, b != NULL);
    failed = status != FSCHED_OK || use_until_failure(b);
    fsched_blocks_destroy(b);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_uint_gt(failures, 6);
}
END_TEST

FS_SUITE(block, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, shared_facts, as_a_map_of_bytes, many_readers_one_death, try_before_you_fence,
           tainted_until_idle, little_effort, bad_calls, every_allocation_may_fail);
}
