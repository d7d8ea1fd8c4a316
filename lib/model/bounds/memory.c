/* SPDX-License-Identifier: Apache-2.0 */
/* The area that no schedule avoids in a bounded memory: amounts times ticks, each within a window.
 *
 *          amount
 *   capacity  +---------------------------------+
 *             | producer |   gap    | reader |   |    a version: held by its producer and by one of
 *             |----------+----------+--------+   |    its readers, and between them,
 *             |   | scratch |                    |    scratch: held by its op
 *             +---------------------------------+ makespan
 *
 * A version must not be counted twice at one time, so it is held by a chain of its ops, of which
 * paths lead from each to the next one, by the gaps between them, and by others of its ops of which
 * no two, nor one and an op of the chain, can run at once; their time is taken off the gaps in
 * which they may lie.
 *
 * A gap counts as long as the longest path in it.  Where the version can be spilled, it may be gone
 * instead: then it is held only while its copies run, a read in the gap, and a write in the first
 * gap behind a writer, as no store has its content then.  What is saved by that, and the copies
 * that it takes, are kept as a trade (trades.c).  A version that an op writes over as a
 * whole, or that racing ops write, may return without a read, and has no gaps.
 *
 * In addition, with spilling, given content is held by its first read, which precedes all accesses,
 * and kept content by its first writer and by the write-back.  Without spilling, given content is
 * held from 0 to an access, kept content from a writer to the end, and content that is both reduces
 * the capacity.
 *
 * An in-place output may lie on its input while their op runs, and is not held by it.  Sizes are
 * counted in units, their greatest common divisor or, where ticks times units would overflow, more;
 * rounding down keeps the bound valid.  Paths and chains end when the steps (limit.h) are used up,
 * which keeps it valid, too.
 */
#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "model/bounds/positions.h"
#include "model/bounds/private.h"
#include "model/overwritten.h"

/* Ops of a version that are looked at for which of them can run at once. */
enum { MOST_APART = 64 };

typedef struct memory_search {
  fs_bounds *b;
  uint32_t memory;
  uint64_t unit, steps; /* steps that are left */
  fs_position_set open; /* reached, and not yet left */
  uint64_t *amount;     /* per op, in units */
  uint64_t *held;       /* ops with an amount, by topological position, with twice the room */
  uint32_t n_held;
  uint64_t ticks;               /* of all ops */
  uint32_t *scratch0, *scratch; /* CSR: by memory */
  uint32_t *scratch_op;
  uint32_t *shares_in; /* per version: the op in which it may lie on an input, or FS_NONE */
  /* Per op, of the version at hand: its place in the list below, and the longest path to it. */
  uint32_t *listed, *reached; /* the version for which they hold, or FS_NONE */
  uint32_t *place;
  fs_tick *path;
  FS_VEC(fs_bounds_job) jobs;
  FS_VEC(fs_bounds_gap) gaps;
  /* The ops that access the version, each once, in topological order; the arrays have room for the
   * most accesses of a version. */
  uint32_t n;
  uint64_t *key;         /* twice that */
  uint32_t *op, *before; /* `before`: the previous op of the best chain that ends here, or
                          * FS_NONE */
  fs_tick *chain, *gap;  /* what the chain is worth, and the path between `before` and the op */
  uint64_t *later;       /* bits of ops that a path leads to, of up to 64 ops */
  bool *writes, *shares; /* `shares`: the version may lie on another while the op runs */
  bool *wants;           /* the op finds content of the version, so a residency that begins with
                          * it needs a read */
  uint32_t stamp;        /* of `reached` */
} memory_search;

/* ---- units */

static uint64_t version_size(const memory_search *s, uint32_t v) {
  const fsched_graph *g = s->b->g;
  return fs_align_up(fs_version_size(g, v), g->target.memory[s->memory].align);
}

static uint64_t scratch_size(const memory_search *s, uint32_t i) {
  const fsched_graph *g = s->b->g;
  return fs_align_up(g->scratch_size[i], g->target.memory[s->memory].align);
}

/* Finds the unit, and returns the capacity in units, less the amount that is always held. */
static uint64_t find_unit(memory_search *s) {
  const fsched_graph *g = s->b->g;
  const fs_memory *m = &g->target.memory[s->memory];
  uint64_t always = 0;
  s->unit = 0;
  for (uint32_t i = s->b->version0[s->memory]; i < s->b->version0[s->memory + 1]; i++) {
    uint32_t v = s->b->version[i];
    bool stays = !fs_memory_spills(m) && fs_version_given(g, v) && fs_version_kept(g, v) &&
                 !fs_version_rests(g, v);
    always = stays ? fs_add_most(always, version_size(s, v)) : always;
    s->unit = fs_common_divisor(s->unit, version_size(s, v));
  }
  for (uint32_t i = s->scratch0[s->memory]; i < s->scratch0[s->memory + 1]; i++) {
    s->unit = fs_common_divisor(s->unit, scratch_size(s, s->scratch[i]));
  }
  s->unit = fs_max(s->unit, 1);
  while (fs_multiply_most(m->capacity / s->unit, fs_max(s->ticks, 1)) >> 62 != 0) {
    s->unit *= 2;
  }
  assert(s->unit > 0 && fs_memory_bounded(m));
  return (m->capacity - fs_min(m->capacity, always)) / s->unit;
}

static void add_amount(memory_search *s, uint32_t op, uint64_t amount) {
  FS_ASSERT_SLOW(op < s->b->g->n_ops);
  if (s->amount[op] == 0 && amount > 0) {
    FS_ASSERT_SLOW(s->n_held < s->b->g->n_ops);
    s->held[s->n_held++] = (uint64_t)s->b->position[op] << 32 | op;
  }
  s->amount[op] += amount;
}

/* ---- the ops of a version */

static fs_tick time_of(const memory_search *s, uint32_t i) {
  return fs_op_latency(s->b->g, s->op[i]);
}

/* Lists the ops in topological order. */
static void list_ops(memory_search *s, uint32_t v) {
  FS_ASSERT_SLOW(s->n_held <= s->b->g->n_ops);
  const fsched_graph *g = s->b->g;
  uint64_t *key = s->key;
  s->n = 0;
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    uint32_t op = g->access_op[i];
    FS_ASSERT_SLOW(op < g->n_ops);
    if (s->listed[op] != v) {
      s->listed[op] = v;
      key[s->n++] = (uint64_t)s->b->position[op] << 32 | op;
    }
  }
  fs_radix_sort_block(key, s->n);
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t op = s->op[i] = (uint32_t)key[i];
    s->place[op] = i;
    s->shares[i] = s->shares_in[v] == op;
    s->before[i] = FS_NONE;
    s->chain[i] = s->gap[i] = s->later[i] = 0;
    s->writes[i] = s->wants[i] = false;
  }
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    uint32_t arg = g->access_arg[i], at = s->place[g->access_op[i]];
    unsigned tag = g->arg_tag[arg];
    s->writes[at] |= fs_tag_writes(tag);
    s->wants[at] |= fs_tag_reads(tag) || (!fs_version_given(g, v) && !fs_arg_whole(g, arg));
  }
}

static bool count_step(memory_search *s) {
  s->steps -= s->steps > 0;
  return s->steps > 0;
}

/* Notes that a path of so many ticks leads to an op, which lies before `last`. */
static void reach(memory_search *s, uint32_t op, fs_tick path, uint32_t last) {
  bool again = s->reached[op] == s->stamp;
  s->path[op] = again ? fs_max(s->path[op], path) : path;
  s->reached[op] = s->stamp;
  if (!again && s->b->position[op] < last) {
    fs_position_add(&s->open, s->b->position[op]);
  }
}

/* Finds the ticks between the end of the version's op and the start of each op behind it. */
static void find_paths(memory_search *s, uint32_t from) {
  FS_ASSERT_SLOW(from < s->n && s->open.n == 0);
  const fs_bounds *b = s->b;
  const fsched_graph *g = b->g;
  uint32_t last = b->position[s->op[s->n - 1]], at = b->position[s->op[from]];
  s->stamp++;
  reach(s, s->op[from], 0, last);
  while (s->open.n > 0 && count_step(s)) {
    at = fs_position_take(&s->open, at);
    uint32_t op = g->topo[at];
    fs_tick path = op == s->op[from] ? 0 : s->path[op] + fs_op_latency(g, op);
    for (uint32_t k = g->succ0[op]; k < g->succ0[op + 1] && count_step(s); k++) {
      reach(s, g->succ[k], path, last);
    }
  }
  while (s->open.n > 0) { /* the steps are used up */
    at = fs_position_take(&s->open, at);
  }
}

/* What the version's copies take that would let it leave between two of its ops. */
static fs_tick gone(const memory_search *s, uint32_t v, uint32_t from, uint32_t to) {
  const fsched_graph *g = s->b->g;
  if (!fs_memory_spills(&g->target.memory[s->memory])) {
    return FS_TICK_NONE;
  }
  return !s->wants[to]     ? 0
         : s->writes[from] ? fs_add_most(fs_bounds_read_time(g, v), fs_bounds_write_time(g, v))
                           : fs_bounds_read_time(g, v);
}

/* Finds the best chain that ends with each op; returns the end of the best of all. */
static void find_chains(memory_search *s, uint32_t v, uint32_t *end) {
  FS_ASSERT_SLOW(s->n > 0);
  *end = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    s->chain[i] += time_of(s, i);
    *end = s->chain[i] > s->chain[*end] ? i : *end;
    if (i + 1 < s->n) {
      find_paths(s, i);
    }
    for (uint32_t k = i + 1; k < s->n; k++) {
      uint32_t op = s->op[k];
      if (s->reached[op] != s->stamp) {
        continue;
      }
      fs_tick away = gone(s, v, i, k);
      fs_tick worth = s->chain[i] + fs_min(s->path[op], fs_multiply_most(away, 2));
      s->later[i] |= k < MOST_APART ? UINT64_C(1) << k : 0;
      if (s->before[k] == FS_NONE || worth >= s->chain[k]) {
        s->before[k] = i;
        s->chain[k] = worth;
        s->gap[k] = s->path[op];
      }
    }
  }
}

/* ---- what is held */

static void hold_op(memory_search *s, uint32_t i, uint64_t units) {
  FS_ASSERT_SLOW(i < s->n);
  add_amount(s, s->op[i], s->shares[i] ? 0 : units);
}

static fs_status hold(memory_search *s, fs_tick head, fs_tick tail, fs_tick ticks, uint64_t units) {
  fs_bounds_job j = {head, tail, fs_multiply_most(ticks, units)};
  return j.work == 0 ? FSCHED_OK : fs_vec_push(s->b->ctx, &s->jobs, j);
}

static fs_tick end_head(const memory_search *s, uint32_t i) {
  return s->b->head[s->op[i]] + fs_op_latency(s->b->g, s->op[i]);
}

static fs_tick start_tail(const memory_search *s, uint32_t i) {
  return s->b->tail[s->op[i]] + fs_op_latency(s->b->g, s->op[i]);
}

/* May the version leave and return without a read, between any of its ops?  It may where an op
 * writes over all of it, and where racing ops do so at a time that no order tells. */
static bool returns_alone(const memory_search *s, uint32_t v) {
  const fsched_graph *g = s->b->g;
  uint32_t writers = 0;
  bool alone = false;
  for (uint32_t i = 0; i < s->n; i++) {
    writers += s->writes[i];
    alone = alone || (!s->wants[i] && (i > 0 || fs_version_given(g, v)));
  }
  return alone || (writers > 1 && fs_hazards_data_only(g->hazards));
}

/* The queue of the op if it can have only that one; FS_NONE: it has several, or is a gang. */
static uint32_t only_queue(const fsched_graph *g, uint32_t op) {
  const fs_target *t = &g->target;
  uint32_t d = g->op_domain[op];
  return t->implicit_queues || d == FS_NONE || t->domain_queue0[d + 1] - t->domain_queue0[d] != 1
             ? FS_NONE
             : t->domain_queue[t->domain_queue0[d]];
}

/* Can the two ops not run at once? */
static bool exclude(const memory_search *s, uint32_t i, uint32_t k) {
  const fsched_graph *g = s->b->g;
  if (((s->later[i] >> k | s->later[k] >> i) & 1) != 0) {
    return true;
  }
  uint32_t queue = only_queue(g, s->op[i]);
  return queue != FS_NONE && queue == only_queue(g, s->op[k]) && !fs_op_slow(g, s->op[i]) &&
         !fs_op_slow(g, s->op[k]);
}

/* Finds the ops, as bits, of which no two run at once: the chain's and others. */
static uint64_t find_apart(const memory_search *s, uint64_t chain) {
  uint64_t apart = chain;
  for (uint32_t i = 0; i < s->n; i++) {
    bool all = (chain >> i & 1) == 0;
    for (uint32_t k = 0; k < s->n && all; k++) {
      all = (apart >> k & 1) == 0 || exclude(s, i, k);
    }
    apart |= all ? UINT64_C(1) << i : 0;
  }
  return apart;
}

/* The ticks of ops apart from the chain that may lie between two ops of it. */
static fs_tick time_between(const memory_search *s, uint64_t others, uint32_t from, uint32_t to) {
  fs_tick sum = 0;
  for (uint32_t i = 0; i < s->n && others >> i != 0; i++) {
    bool inside =
        (others >> i & 1) != 0 && (s->later[i] >> from & 1) == 0 && (s->later[to] >> i & 1) == 0;
    sum += inside ? time_of(s, i) : 0;
  }
  return sum;
}

/* A gap between two ops of the chain. */
typedef struct chain_gap {
  uint32_t from, to;
  fs_tick ticks, left; /* held at least; the same if the version leaves */
} chain_gap;

static fs_status push_gap(memory_search *s, fs_bounds_gap gap) {
  return gap.saved == 0 ? FSCHED_OK : fs_vec_push(s->b->ctx, &s->gaps, gap);
}

/* Adds the gaps of a part of the chain without a writer behind its first op.  They share one write,
 * unless the store has the content. */
static fs_status hold_part(memory_search *s, uint32_t v, const chain_gap *gap, uint32_t n,
                           bool stored, uint64_t units) {
  const fsched_graph *g = s->b->g;
  fs_tick read = fs_bounds_read_time(g, v), write = stored ? 0 : fs_bounds_write_time(g, v);
  fs_tick begin = end_head(s, gap[0].from), sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    sum = fs_add_most(sum, gap[i].ticks - fs_min(gap[i].left, gap[i].ticks));
  }
  for (uint32_t i = 0; i < n; i++) {
    fs_tick left = fs_min(gap[i].left, gap[i].ticks), saved = gap[i].ticks - left;
    fs_bounds_gap x = {.head = end_head(s, gap[i].from),
                       .tail = start_tail(s, gap[i].to),
                       .saved = saved * units,
                       .copies = read};
    FS_TRY(hold(s, x.head, x.tail, left, units));
    if (write > 0 && begin < x.head) {
      x.after = begin + 1;
      FS_TRY(push_gap(s, x));
      x.after = 0;
    }
    if (sum > 0 && sum < FS_TICK_NONE >> 32 && write < UINT64_C(1) << 31) {
      x.copies += write * saved / sum;
    }
    x.head = begin;
    FS_TRY(push_gap(s, x));
  }
  return FSCHED_OK;
}

static fs_status hold_gaps(memory_search *s, uint32_t v, chain_gap *gap, uint32_t n,
                           uint64_t units) {
  const fsched_graph *g = s->b->g;
  if (n == 0 || returns_alone(s, v)) {
    return FSCHED_OK;
  }
  if (!fs_memory_spills(&g->target.memory[s->memory])) {
    for (uint32_t i = 0; i < n; i++) {
      FS_TRY(hold(s, end_head(s, gap[i].from), start_tail(s, gap[i].to), gap[i].ticks, units));
    }
    return FSCHED_OK;
  }
  for (uint32_t i = 0, to; i < n; i = to) {
    bool dirty = s->writes[gap[i].from];
    to = i + 1;
    while (to < n && !s->writes[gap[to].from]) {
      to++;
    }
    for (uint32_t k = i; k < to; k++) {
      gap[k].left = fs_bounds_read_time(g, v);
    }
    gap[i].left += dirty ? fs_bounds_write_time(g, v) : 0;
    bool kept = to == n && fs_bounds_write_needed(g, v);
    FS_TRY(hold_part(s, v, gap + i, to - i, !dirty || kept, units));
  }
  return FSCHED_OK;
}

/* Lets the ops of the chain hold the version, and others that are apart, which are returned as
 * bits; *gap lists what is between those of the chain. */
static fs_status hold_chain(memory_search *s, uint32_t end, uint64_t units, chain_gap **gap,
                            uint32_t *n) {
  uint64_t chain = 0, others = 0;
  *n = 0;
  FS_TRY(fs_new(s->b->arena, gap, s->n));
  for (uint32_t i = end; i != FS_NONE; i = s->before[i]) {
    hold_op(s, i, units);
    chain |= i < MOST_APART ? UINT64_C(1) << i : 0;
    *n += s->before[i] != FS_NONE;
  }
  if (s->n <= MOST_APART) {
    others = find_apart(s, chain) & ~chain;
  }
  for (uint32_t i = 0; i < s->n && others >> i != 0; i++) {
    hold_op(s, i, (others >> i & 1) != 0 ? units : 0);
  }
  for (uint32_t i = end, k = *n; s->before[i] != FS_NONE; i = s->before[i]) {
    fs_tick inside = time_between(s, others, s->before[i], i);
    fs_tick ticks = s->gap[i] - fs_min(s->gap[i], inside);
    (*gap)[--k] = (chain_gap){.from = s->before[i], .to = i, .ticks = ticks};
  }
  return FSCHED_OK;
}

/* Holds by the best chain, unless the first writer and the write-back hold for longer. */
static fs_status hold_between(memory_search *s, uint32_t v, uint64_t units) {
  assert(s->n > 0 && units > 0);
  uint32_t end, n;
  chain_gap *gap;
  fs_tick write = 0;
  find_chains(s, v, &end);
  if (fs_bounds_write_needed(s->b->g, v) && s->writes[0]) {
    write = fs_bounds_write_time(s->b->g, v);
  }
  if (time_of(s, 0) + write > s->chain[end]) {
    hold_op(s, 0, units);
    return hold(s, end_head(s, 0), 0, write, units);
  }
  FS_TRY(hold_chain(s, end, units, &gap, &n));
  return hold_gaps(s, v, gap, n, units);
}

/* Holds from 0 to the latest access. */
static fs_status hold_from_zero(memory_search *s, uint64_t units) {
  assert(s->n > 0);
  uint32_t last = 0;
  for (uint32_t i = 1; i < s->n; i++) {
    last = end_head(s, i) > end_head(s, last) ? i : last;
  }
  hold_op(s, last, units);
  return hold(s, 0, start_tail(s, last), s->b->head[s->op[last]], units);
}

/* Holds from the writer with the longest tail to the makespan. */
static fs_status hold_to_end(memory_search *s, uint64_t units) {
  uint32_t first = FS_NONE;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->writes[i] && (first == FS_NONE || start_tail(s, i) > start_tail(s, first))) {
      first = i;
    }
  }
  if (first == FS_NONE) {
    return FSCHED_OK;
  }
  hold_op(s, first, units);
  return hold(s, end_head(s, first), 0, s->b->tail[s->op[first]], units);
}

static fs_status hold_read(memory_search *s, uint32_t v, uint64_t units) {
  fs_tick tail = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    tail = fs_max(tail, start_tail(s, i));
  }
  return hold(s, 0, tail, fs_bounds_read_time(s->b->g, v), units);
}

static fs_status hold_version(memory_search *s, uint32_t v) {
  FS_ASSERT_SLOW(s->unit > 0);
  const fsched_graph *g = s->b->g;
  uint64_t units = version_size(s, v) / s->unit;
  bool held = !fs_memory_spills(&g->target.memory[s->memory]) && !fs_version_rests(g, v);
  bool given = fs_version_given(g, v), kept = fs_version_kept(g, v);
  if (units == 0 || g->version_access0[v] == g->version_access0[v + 1] || (held && given && kept)) {
    return FSCHED_OK;
  }
  list_ops(s, v);
  if (held && (given || kept)) {
    return given ? hold_from_zero(s, units) : hold_to_end(s, units);
  }
  if (fs_bounds_read_needed(g, v)) {
    FS_TRY(hold_read(s, v, units));
  }
  return hold_between(s, v, units);
}

/* ---- all of it */

/* Stores the amounts by topological position, so that a part is a range. */
static fs_status keep_amounts(memory_search *s, fs_bounds_memory *m) {
  fs_arena *a = s->b->arena;
  m->n_held = s->n_held;
  FS_TRY(fs_new(a, &m->held_op, m->n_held));
  FS_TRY(fs_new(a, &m->held_amount, m->n_held));
  FS_TRY(fs_new(a, &m->job, s->jobs.n));
  m->n_jobs = (uint32_t)s->jobs.n;
  if (m->n_jobs > 0) {
    memcpy(m->job, s->jobs.at, s->jobs.n * sizeof *m->job);
  }
  FS_TRY(fs_bounds_keep_gaps(s->b, s->gaps.at, (uint32_t)s->gaps.n, m));
  s->gaps.n = 0;
  fs_radix_sort_block(s->held, s->n_held);
  for (uint32_t i = 0; i < s->n_held; i++) {
    uint32_t op = (uint32_t)s->held[i];
    m->held_op[i] = op;
    m->held_amount[i] = s->amount[op];
    s->amount[op] = 0;
  }
  s->n_held = 0;
  s->jobs.n = 0;
  return FSCHED_OK;
}

static fs_status find_memory(memory_search *s, fs_bounds_memory *m) {
  m->capacity = find_unit(s);
  for (uint32_t i = s->scratch0[s->memory]; i < s->scratch0[s->memory + 1]; i++) {
    add_amount(s, s->scratch_op[s->scratch[i]], scratch_size(s, s->scratch[i]) / s->unit);
  }
  for (uint32_t i = s->b->version0[s->memory]; i < s->b->version0[s->memory + 1]; i++) {
    fs_arena_mark mark = fs_arena_set_mark(s->b->arena);
    FS_TRY(hold_version(s, s->b->version[i]));
    fs_arena_reset(s->b->arena, mark);
  }
  return keep_amounts(s, m);
}

/* Makes room for the ops of a version. */
static fs_status make_room(memory_search *s) {
  const fsched_graph *g = s->b->g;
  fs_arena *a = s->b->arena;
  size_t n = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    n = fs_max(n, g->version_access0[v + 1] - g->version_access0[v]);
  }
  FS_TRY(fs_new(a, &s->key, 2 * n));
  FS_TRY(fs_new(a, &s->op, n));
  FS_TRY(fs_new(a, &s->before, n));
  FS_TRY(fs_new(a, &s->chain, n));
  FS_TRY(fs_new(a, &s->gap, n));
  FS_TRY(fs_new(a, &s->later, n));
  FS_TRY(fs_new(a, &s->writes, n));
  FS_TRY(fs_new(a, &s->wants, n));
  return fs_new(a, &s->shares, n);
}

/* Finds the versions that may lie on an input of the op that begins them while it runs. */
static fs_status find_shares(memory_search *s) {
  const fsched_graph *g = s->b->g;
  FS_TRY(fs_new_none(s->b->arena, &s->shares_in, g->n_versions));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      s->shares_in[g->arg_version[g->inplace_out[i]]] = op;
    }
  }
  return FSCHED_OK;
}

/* Lists the versions and scratches of each memory. */
static fs_status list_memories(memory_search *s) {
  const fsched_graph *g = s->b->g;
  fs_arena *a = s->b->arena;
  uint32_t *memory;
  FS_TRY(fs_new(a, &memory, g->n_versions));
  FS_TRY(fs_new(a, &s->scratch_op, g->op_scratch0[g->n_ops]));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    memory[v] = fs_version_memory(g, v);
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    s->ticks = fs_add_most(s->ticks, fs_op_latency(g, op));
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      s->scratch_op[i] = op;
    }
  }
  FS_TRY(fs_group(a, memory, g->n_versions, g->target.n_memories, &s->b->version0, &s->b->version));
  return fs_group(a, g->scratch_memory, g->op_scratch0[g->n_ops], g->target.n_memories,
                  &s->scratch0, &s->scratch);
}

/* Lists, per op, the memories that hold something while it runs. */
static fs_status turn_held(fs_bounds *b) {
  const fsched_graph *g = b->g;
  uint32_t n = 0, n_memories = g->target.n_memories, *held0, *op;
  FS_TRY(fs_new_zero(b->arena, &b->memory_part, n_memories));
  FS_TRY(fs_new(b->arena, &held0, (size_t)n_memories + 1));
  for (uint32_t m = 0; m < n_memories; m++) {
    held0[m] = n;
    n += b->memory[m].n_held;
  }
  held0[n_memories] = n;
  FS_TRY(fs_new(b->arena, &op, n));
  for (uint32_t m = 0; m < n_memories; m++) {
    for (uint32_t i = 0; i < b->memory[m].n_held; i++) {
      op[held0[m] + i] = b->memory[m].held_op[i];
    }
  }
  return fs_group_turn(b->arena, held0, op, n_memories, g->n_ops, &b->held0, &b->held);
}

static fs_status find_all(memory_search *s) {
  fs_bounds *b = s->b;
  const fsched_graph *g = b->g;
  FS_TRY(fs_new_zero(b->arena, &b->memory, g->target.n_memories));
  FS_TRY(list_memories(s));
  FS_TRY(find_shares(s));
  FS_TRY(make_room(s));
  FS_TRY(fs_new_zero(b->arena, &s->amount, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->held, (size_t)g->n_ops * 2));
  FS_TRY(fs_new_none(b->arena, &s->listed, g->n_ops));
  FS_TRY(fs_new_none(b->arena, &s->reached, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->place, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->path, g->n_ops));
  FS_TRY(fs_position_set_make(b->arena, g->n_ops, &s->open));
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (fs_memory_bounded(&g->target.memory[m])) {
      s->memory = m;
      FS_TRY(find_memory(s, &b->memory[m]));
    }
  }
  return turn_held(b);
}

fs_status fs_bounds_find_memories(fs_bounds *b) {
  assert(b->position != NULL && b->memory == NULL);
  memory_search s = {.b = b, .steps = fs_limits_of(b->ctx)->bound_path_steps};
  fs_status status = find_all(&s);
  fs_vec_free(b->ctx, &s.jobs);
  fs_vec_free(b->ctx, &s.gaps);
  return status;
}

/* The first of the held ops that is not before the position. */
static uint32_t lower(const fs_bounds *b, const fs_bounds_memory *m, uint32_t position) {
  uint32_t low = 0, high = m->n_held;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (b->position[m->held_op[middle]] < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static fs_status memory_bound(fs_bounds *b, uint32_t k, fs_tick *out) {
  assert(k < b->g->target.n_memories && b->jobs.n == 0);
  const fs_bounds_memory *m = &b->memory[k];
  for (uint32_t i = lower(b, m, b->first), n = lower(b, m, b->last); i < n; i++) {
    uint32_t op = m->held_op[i];
    fs_tick work = fs_multiply_most(fs_op_latency(b->g, op), m->held_amount[i]);
    FS_TRY(fs_bounds_add_job(b, b->head[op], b->tail[op], work));
  }
  for (uint32_t i = 0; b->copies && i < m->n_jobs; i++) {
    FS_TRY(fs_bounds_add_job(b, m->job[i].head, m->job[i].tail, m->job[i].work));
  }
  return fs_bounds_windows(b, m->capacity, out);
}

/* For the whole graph, all memories are looked at; for a part, only those that hold something for
 * its ops, as parts times memories can be many. */
fs_status fs_bounds_memories(fs_bounds *b, fs_tick *out) {
  assert(b->memory != NULL && b->jobs.n == 0);
  const fsched_graph *g = b->g;
  for (uint32_t k = 0; b->copies && k < g->target.n_memories; k++) {
    FS_TRY(memory_bound(b, k, out));
  }
  for (uint32_t i = b->first; !b->copies && i < b->last; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t h = b->held0[op]; h < b->held0[op + 1]; h++) {
      uint32_t k = b->held[h];
      if (b->memory_part[k] != b->n_parts) {
        b->memory_part[k] = b->n_parts;
        FS_TRY(memory_bound(b, k, out));
      }
    }
  }
  return FSCHED_OK;
}
