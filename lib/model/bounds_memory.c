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
 * A version must not be counted twice at one time, so it is held by ops in sequence, and the best
 * of these is taken:
 *   - a chain of its ops, each an edge from the one before;
 *   - its first op and one that a longest path leads to.  Where nothing can be spilled, all of the
 *     path between them counts; else the gap counts at most as long as the copies that the version
 *     would need to leave and return (a read; and a write if its only writer stands at its begin,
 *     as no store has its content then).  A copy in the gap holds the version, too.
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
#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"
#include "model/bounds_private.h"

typedef struct memory_search {
  fs_bounds *b;
  uint32_t memory;
  uint64_t unit, steps; /* steps that are left */
  fs_heap open;         /* reached, by topological position */
  uint64_t *amount;     /* per op, in units */
  uint64_t *held;       /* ops with an amount, by topological position, with twice the room */
  uint32_t n_held;
  uint64_t ticks;               /* of all ops */
  uint32_t *version0, *version; /* CSR: by memory */
  uint32_t *scratch0, *scratch; /* the same */
  uint32_t *scratch_op;
  uint32_t *shares_in; /* per version: the op in which it may lie on an input, or FS_NONE */
  /* Per op, of the version at hand: its place in the list below, and the longest path to it. */
  uint32_t *listed, *reached; /* the version for which they hold, or FS_NONE */
  uint32_t *place;
  fs_tick *path;
  FS_VEC(fs_bounds_job) jobs;
  /* The ops that access the version, each once, in program order. */
  uint32_t n;
  uint32_t *op, *before; /* `before`: the previous op of the best chain that ends here, or
                          * FS_NONE */
  fs_tick *chain;
  bool *writes, *shares; /* `shares`: the version may lie on another while the op runs */
} memory_search;

/* ---- units */

static uint64_t common(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

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
  for (uint32_t i = s->version0[s->memory]; i < s->version0[s->memory + 1]; i++) {
    uint32_t v = s->version[i];
    bool stays = !fs_memory_spills(m) && fs_version_given(g, v) && fs_version_kept(g, v);
    always = stays ? fs_add_most(always, version_size(s, v)) : always;
    s->unit = common(s->unit, version_size(s, v));
  }
  for (uint32_t i = s->scratch0[s->memory]; i < s->scratch0[s->memory + 1]; i++) {
    s->unit = common(s->unit, scratch_size(s, s->scratch[i]));
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

static fs_status list_ops(memory_search *s, uint32_t v) {
  FS_ASSERT_SLOW(s->n_held <= s->b->g->n_ops);
  const fsched_graph *g = s->b->g;
  uint32_t n = g->version_access0[v + 1] - g->version_access0[v];
  fs_arena *a = s->b->arena;
  s->n = 0;
  FS_TRY(fs_new(a, &s->op, n));
  FS_TRY(fs_new(a, &s->before, n));
  FS_TRY(fs_new(a, &s->chain, n));
  FS_TRY(fs_new_zero(a, &s->writes, n));
  FS_TRY(fs_new(a, &s->shares, n));
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    uint32_t op = g->access_op[i];
    FS_ASSERT_SLOW(op < g->n_ops);
    if (s->listed[op] != v) {
      s->listed[op] = v;
      s->place[op] = s->n;
      s->op[s->n] = op;
      s->shares[s->n++] = s->shares_in[v] == op;
    }
    s->writes[s->place[op]] |= fs_tag_writes(g->arg_tag[g->access_arg[i]]);
  }
  return FSCHED_OK;
}

static bool count_step(memory_search *s) {
  s->steps -= s->steps > 0;
  return s->steps > 0;
}

/* Finds the best chain that ends with each op; returns the end of the best of all. */
static uint32_t find_chains(memory_search *s, uint32_t v) {
  FS_ASSERT_SLOW(s->n > 0);
  const fsched_graph *g = s->b->g;
  uint32_t best = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t op = s->op[i];
    s->before[i] = FS_NONE;
    s->chain[i] = 0;
    for (uint32_t p = g->pred0[op]; p < g->pred0[op + 1] && count_step(s); p++) {
      uint32_t pred = g->pred[p];
      if (s->listed[pred] == v && s->place[pred] < i &&
          (s->before[i] == FS_NONE || s->chain[s->place[pred]] > s->chain[i])) {
        s->before[i] = s->place[pred];
        s->chain[i] = s->chain[s->place[pred]];
      }
    }
    s->chain[i] += time_of(s, i);
    best = s->chain[i] > s->chain[best] ? i : best;
  }
  return best;
}

/* Notes that a path of so many ticks leads to an op, which lies before `last`. */
static fs_status reach(memory_search *s, uint32_t v, uint32_t op, fs_tick path, uint32_t last) {
  bool again = s->reached[op] == v;
  s->path[op] = again ? fs_max(s->path[op], path) : path;
  s->reached[op] = v;
  return again || s->b->position[op] >= last
             ? FSCHED_OK
             : fs_heap_push(s->b->ctx, &s->open, s->b->position[op], op);
}

/* Finds the ticks between the end of the first op and the start of each op behind it. */
static fs_status find_paths(memory_search *s, uint32_t v) {
  FS_ASSERT_SLOW(s->n > 0);
  const fs_bounds *b = s->b;
  const fsched_graph *g = b->g;
  uint32_t last = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    last = (uint32_t)fs_max(last, b->position[s->op[i]]);
  }
  s->open.n = 0;
  FS_TRY(reach(s, v, s->op[0], 0, last));
  while (s->open.n > 0 && count_step(s)) {
    uint32_t op = fs_heap_pop(&s->open).id;
    fs_tick path = op == s->op[0] ? 0 : s->path[op] + fs_op_latency(g, op);
    for (uint32_t k = g->succ0[op]; k < g->succ0[op + 1] && count_step(s); k++) {
      FS_TRY(reach(s, v, g->succ[k], path, last));
    }
  }
  return FSCHED_OK;
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

static void hold_chain(memory_search *s, uint32_t i, uint64_t units) {
  FS_ASSERT_SLOW(i < s->n);
  for (; i != FS_NONE; i = s->before[i]) {
    hold_op(s, i, units);
  }
}

/* The longest gap between two ops of a version that counts in full: its copies out and in would
 * take as long. */
static fs_tick gone(const memory_search *s, uint32_t v) {
  const fsched_graph *g = s->b->g;
  if (!fs_memory_spills(&g->target.memory[s->memory])) {
    return FS_TICK_NONE;
  }
  uint32_t writers = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    writers += s->writes[i];
  }
  bool unstored = writers == 1 && s->writes[0] && !fs_version_given(g, v);
  return fs_bounds_read_time(g, v) + (unstored ? fs_bounds_write_time(g, v) : 0);
}

/* Holds by the better of the best chain and of the first op with one behind it. */
static fs_status hold_between(memory_search *s, uint32_t v, uint64_t units) {
  assert(s->n > 0 && units > 0);
  fs_tick most = gone(s, v), best_gap = 0;
  uint32_t end = find_chains(s, v), best = FS_NONE;
  fs_tick ticks = s->chain[end];
  FS_TRY(find_paths(s, v));
  for (uint32_t i = 1; i < s->n; i++) {
    if (s->reached[s->op[i]] == v) {
      fs_tick gap = fs_min(s->path[s->op[i]], most);
      fs_tick sum = time_of(s, 0) + gap + time_of(s, i);
      best = sum > ticks ? i : best;
      best_gap = sum > ticks ? gap : best_gap;
      ticks = fs_max(ticks, sum);
    }
  }
  fs_tick write = 0;
  if (fs_bounds_write_needed(s->b->g, v) && s->writes[0]) {
    write = fs_bounds_write_time(s->b->g, v);
  }
  if (time_of(s, 0) + write > ticks) {
    hold_op(s, 0, units);
    return hold(s, end_head(s, 0), 0, write, units);
  }
  if (best == FS_NONE) {
    hold_chain(s, end, units);
    return FSCHED_OK;
  }
  hold_op(s, 0, units);
  hold_op(s, best, units);
  return hold(s, end_head(s, 0), start_tail(s, best), best_gap, units);
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
  bool spills = fs_memory_spills(&g->target.memory[s->memory]);
  bool given = fs_version_given(g, v), kept = fs_version_kept(g, v);
  if (units == 0 || g->version_access0[v] == g->version_access0[v + 1] ||
      (!spills && given && kept)) {
    return FSCHED_OK;
  }
  FS_TRY(list_ops(s, v));
  if (!spills && (given || kept)) {
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
  for (uint32_t i = s->version0[s->memory]; i < s->version0[s->memory + 1]; i++) {
    fs_arena_mark mark = fs_arena_set_mark(s->b->arena);
    FS_TRY(hold_version(s, s->version[i]));
    fs_arena_reset(s->b->arena, mark);
  }
  return keep_amounts(s, m);
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
  FS_TRY(fs_group(a, memory, g->n_versions, g->target.n_memories, &s->version0, &s->version));
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
  FS_TRY(fs_new_zero(b->arena, &s->amount, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->held, (size_t)g->n_ops * 2));
  FS_TRY(fs_new_none(b->arena, &s->listed, g->n_ops));
  FS_TRY(fs_new_none(b->arena, &s->reached, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->place, g->n_ops));
  FS_TRY(fs_new(b->arena, &s->path, g->n_ops));
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
  fs_vec_free(b->ctx, &s.open);
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
