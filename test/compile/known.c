/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/graph.h"

typedef struct piece {
  /* Those of a strip, in ticks and units; otherwise start and time. */
  uint64_t start, time, at, size;
} piece;

typedef struct known_maker {
  fs_known_case *k;
  fs_rng rng;
  fsched_builder *b;
  fs_status status;
  uint32_t reader0[FS_KNOWN_OPS + 1]; /* per buffer: into reader */
  uint32_t reader[4 * FS_KNOWN_OPS];
  uint32_t use[FS_KNOWN_OPS][2];
  uint64_t copy_time, copies_until, copies_from; /* those of the queue of copies */
  bool kept[FS_KNOWN_OPS];
} known_maker;

static uint64_t below(known_maker *m, uint64_t n) { return fs_rng_below(&m->rng, (uint32_t)n); }
static bool one_in(known_maker *m, uint32_t n) { return fs_rng_one_in(&m->rng, n); }
static void keep(known_maker *m, fs_status status) {
  m->status = m->status == FSCHED_OK ? status : m->status;
}
static uint64_t end_of(const fs_known_case *k, uint32_t op) { return k->start[op] + k->time[op]; }

/* ---- strips */

static uint32_t cut_strip(known_maker *m, piece *at, uint64_t time, uint64_t size) {
  uint32_t n = 1;
  at[0] = (piece){0, time, 0, size};
  for (uint32_t tries = 0; n < m->k->p.n_ops && tries < 40 * m->k->p.n_ops; tries++) {
    piece *x = &at[below(m, n)], rest = *x;
    bool across = one_in(m, 2);
    uint64_t side = across ? x->time : x->size;
    if (side < 2) {
      continue;
    }
    uint64_t cut = 1 + below(m, side - 1);
    if (across) {
      x->time = cut;
      rest.start += cut;
      rest.time -= cut;
    } else {
      x->size = cut;
      rest.at += cut;
      rest.size -= cut;
    }
    at[n++] = rest;
  }
  return n;
}

static void shuffle(known_maker *m, piece *at, uint32_t n) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = (uint32_t)below(m, i);
    piece x = at[k];
    at[k] = at[i - 1];
    at[i - 1] = x;
  }
}

static void make_strip(known_maker *m) {
  fs_known_case *k = m->k;
  piece *at = calloc(FS_KNOWN_OPS, sizeof *at);
  uint64_t least = 1, time, size;
  while (least * least < 2 * (uint64_t)k->p.n_ops) {
    least++;
  }
  time = least + below(m, least + 4);
  size = least + below(m, least + 4);
  k->n_ops = cut_strip(m, at, time, size);
  shuffle(m, at, k->n_ops);
  k->makespan = time * k->p.tick;
  k->capacity = size * k->p.unit;
  for (uint32_t i = 0; i < k->n_ops; i++) {
    k->start[i] = at[i].start * k->p.tick;
    k->time[i] = at[i].time * k->p.tick;
    k->scratch_at[i] = at[i].at * k->p.unit;
    k->scratch_size[i] = at[i].size * k->p.unit;
  }
  free(at);
}

/* Size, begin, end, and the least makespan when all the others begin there; 0: there is none. */
static const uint8_t rectangle[12][4] = {
    {1, 2, 5, 11}, {1, 3, 6, 11}, {3, 6, 8, 10}, {3, 1, 2, 10},  {1, 4, 7, 11}, {2, 8, 10, 0},
    {1, 2, 7, 0},  {2, 0, 4, 10}, {3, 0, 4, 10}, {2, 7, 10, 11}, {3, 6, 8, 10}, {1, 8, 10, 0}};

static void make_jigsaw(known_maker *m) {
  fs_known_case *k = m->k;
  piece at[12];
  uint32_t open = (uint32_t)below(m, 12);
  while (rectangle[open][3] == 0) {
    open = (open + 1) % 12;
  }
  for (uint32_t i = 0; i < 12; i++) {
    const uint8_t *r = rectangle[i];
    at[i] = (piece){r[1], r[2] - r[1], i, r[0]};
  }
  shuffle(m, at, 12);
  k->n_ops = 12;
  for (uint32_t i = 0; i < 12; i++) {
    k->open = at[i].at == open ? i : k->open;
    k->start[i] = at[i].at == open ? FS_TICK_NONE : at[i].start * k->p.tick;
    k->time[i] = at[i].time * k->p.tick;
    k->scratch_size[i] = at[i].size * k->p.unit;
  }
  k->makespan = rectangle[open][3] * k->p.tick;
  k->capacity = 8 * k->p.unit;
}

/* ---- queues: the pieces */

static void add_op(fs_known_case *k, uint32_t queue, uint64_t start, uint64_t time, bool gang) {
  if (k->n_ops < FS_KNOWN_OPS) {
    k->queue[k->n_ops] = queue;
    k->start[k->n_ops] = start;
    k->time[k->n_ops] = time;
    k->gang[k->n_ops++] = gang;
  }
}

/* Fills [from, to) of a queue with about n ops. */
static void fill_queue(known_maker *m, uint32_t queue, uint64_t from, uint64_t to, uint32_t n) {
  while (from < to) {
    uint64_t time = n <= 1 ? to - from : 1 + below(m, fs_max(1, 2 * (to - from) / n));
    time = fs_min(time, to - from);
    add_op(m->k, queue, from, time, false);
    from += time;
    n -= n > 1;
  }
}

static int by_time(const void *a, const void *b) {
  const piece *x = a, *y = b;
  return x->start != y->start               ? (x->start > y->start) - (x->start < y->start)
         : (x->time == 0) != (y->time == 0) ? (x->time == 0 ? -1 : 1)
                                            : (x->at > y->at) - (x->at < y->at);
}

/* Sorts ops by their starts, so that later steps go forwards in the schedule. */
static void sort_ops(fs_known_case *k) {
  piece *at = calloc(FS_KNOWN_OPS, sizeof *at);
  fs_known_case *old = malloc(sizeof *old);
  memcpy(old, k, sizeof *old);
  for (uint32_t i = 0; i < k->n_ops; i++) {
    at[i] = (piece){.start = k->start[i], .time = k->time[i], .at = i};
  }
  qsort(at, k->n_ops, sizeof *at, by_time);
  for (uint32_t i = 0; i < k->n_ops; i++) {
    uint32_t from = (uint32_t)at[i].at;
    k->start[i] = old->start[from] * k->p.tick;
    k->time[i] = old->time[from] * k->p.tick;
    k->queue[i] = old->queue[from];
    k->gang[i] = old->gang[from];
  }
  free(old);
  free(at);
}

/* Adds some ops without length, where others of their queue begin. */
static void add_instants(known_maker *m) {
  fs_known_case *k = m->k;
  for (uint32_t i = 0, n = k->n_ops; i < n && k->p.instants; i++) {
    if (one_in(m, 4) && !k->gang[i]) {
      add_op(k, k->queue[i], k->start[i], 0, false);
    }
  }
}

static void make_pieces(known_maker *m) {
  fs_known_case *k = m->k;
  uint32_t n = k->p.n_ops, queues = k->p.n_queues;
  uint64_t time = 2 + n / queues + below(m, 4 + 2 * n), gang = 0, length = 0;
  if (k->p.gangs) {
    length = 1 + below(m, time / 2);
    gang = below(m, time - length);
    add_op(k, 0, gang, length, true);
  }
  for (uint32_t q = 0; q < queues; q++) {
    uint32_t mine = n / queues + 1;
    fill_queue(m, q, 0, gang, length == 0 ? 0 : mine / 2);
    fill_queue(m, q, gang + length, time, length == 0 ? mine : mine / 2);
  }
  k->makespan = time * k->p.tick;
  add_instants(m);
  sort_ops(k);
}

/* By the work alone the ops would fit into less time. */
static void make_alike(known_maker *m) {
  fs_known_case *k = m->k;
  uint32_t rounds = fs_max(k->p.n_ops / k->p.n_queues, 1);
  for (uint32_t i = 0; i <= rounds * k->p.n_queues; i++) {
    uint64_t start = i / k->p.n_queues * k->p.length;
    add_op(k, i % k->p.n_queues, start, k->p.length, false);
  }
  k->makespan = (rounds + 1) * k->p.length * k->p.tick;
  sort_ops(k);
}

/* ---- buffers */

static void add_reader(known_maker *m, uint32_t buffer, uint32_t op) {
  fs_known_case *k = m->k;
  k->end[buffer] = fs_max(k->end[buffer], end_of(k, op));
  m->reader[m->reader0[buffer + 1]++] = op;
}

static bool has_reader(const known_maker *m, uint32_t buffer, uint32_t op) {
  for (uint32_t i = m->reader0[buffer]; i < m->reader0[buffer + 1]; i++) {
    if (m->reader[i] == op) {
      return true;
    }
  }
  return false;
}

/* Chooses one to three ops that start at `from` or later and are not without length. */
static void choose_readers(known_maker *m, uint32_t buffer, uint64_t from) {
  const fs_known_case *k = m->k;
  for (uint64_t tries = 1 + below(m, 6), n = 0; tries > 0 && n < 3; tries--) {
    uint32_t op = (uint32_t)below(m, k->n_ops);
    if (k->start[op] >= from && k->time[op] > 0 && op != k->writer[buffer] &&
        !has_reader(m, buffer, op)) {
      add_reader(m, buffer, op);
      n++;
    }
  }
}

/* Chooses a write back as late as there is time on the queue of copies. */
static void choose_write(known_maker *m, uint32_t buffer) {
  fs_known_case *k = m->k;
  uint64_t at = m->copies_from - m->copy_time;
  if (m->copies_from >= m->copies_until + m->copy_time && at >= end_of(k, k->writer[buffer])) {
    m->kept[buffer] = true;
    m->copies_from = k->write_at[buffer] = at;
    k->end[buffer] = fs_max(k->end[buffer], at + m->copy_time);
  }
}

static void add_buffer(known_maker *m, uint32_t writer) {
  fs_known_case *k = m->k;
  uint32_t b = k->n_buffers++;
  bool given = writer == FS_NONE;
  k->writer[b] = writer;
  k->size[b] = (1 + below(m, 6)) * k->p.unit;
  k->read_at[b] = k->write_at[b] = FS_TICK_NONE;
  k->begin[b] = given ? m->copies_until : k->start[writer];
  k->end[b] = given ? k->begin[b] + m->copy_time : end_of(k, writer);
  m->reader0[b + 1] = m->reader0[b];
  if (given) {
    k->read_at[b] = m->copies_until;
    m->copies_until += m->copy_time;
  }
  choose_readers(m, b, k->end[b]);
  if (given && m->reader0[b] == m->reader0[b + 1]) { /* then nobody needs it */
    m->copies_until -= m->copy_time;
    k->n_buffers--;
  } else if (k->p.store && !given && one_in(m, 3)) {
    choose_write(m, b);
  }
}

static bool meet(const fs_known_case *k, uint32_t a, uint32_t b) {
  return k->begin[a] < k->end[b] && k->begin[b] < k->end[a];
}

/* Places a buffer in the lowest gap; those before it are placed. */
static void place(fs_known_case *k, uint32_t b) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t a = 0; a < b; a++) {
      if (meet(k, a, b) && k->at[a] < k->at[b] + k->size[b] && k->at[b] < k->at[a] + k->size[a]) {
        k->at[b] = k->at[a] + k->size[a];
        again = true;
      }
    }
  }
  k->capacity = fs_max(k->capacity, k->at[b] + k->size[b]);
}

/* Counts for a counted memory: it holds what lives at one time. */
static void count(fs_known_case *k) {
  for (uint32_t b = 0; b < k->n_buffers; b++) {
    uint64_t sum = 0;
    for (uint32_t a = 0; a < k->n_buffers; a++) {
      bool there = k->begin[a] <= k->begin[b] && k->begin[b] < k->end[a];
      sum += there || a == b ? k->size[a] : 0;
    }
    k->capacity = fs_max(k->capacity, sum);
  }
}

static void make_buffers(known_maker *m) {
  fs_known_case *k = m->k;
  m->copy_time = k->p.tick;
  m->copies_from = k->makespan;
  for (uint32_t i = 0; i < 3 && k->p.store && m->copies_until + m->copy_time < m->copies_from;
       i++) {
    add_buffer(m, FS_NONE);
  }
  for (uint32_t op = 0; op < k->n_ops && k->n_buffers < FS_KNOWN_OPS; op++) {
    if (k->time[op] > 0 && one_in(m, 2)) {
      add_buffer(m, op);
    }
  }
  for (uint32_t b = 0; b < k->n_buffers && !k->p.counted; b++) {
    place(k, b);
  }
  if (k->p.counted) {
    count(k);
  }
}

/* ---- the graph */

static void describe_target(known_maker *m) {
  fs_known_case *k = m->k;
  uint32_t id;
  static const char *const name[] = {"q0", "q1", "q2", "q3", "q4", "q5"};
  for (uint32_t q = 0; q < k->p.n_queues && !k->p.strip; q++) {
    fsched_queue_desc d = {.size = sizeof d, .name = name[q]};
    keep(m, fsched_builder_queue(m->b, &d, &id));
  }
  if (k->p.store && !k->p.strip) {
    fsched_queue_desc dma = {.size = sizeof dma, .name = "dma", .queue_class = "copies"};
    keep(m, fsched_builder_queue(m->b, &dma, &id));
  }
  if (k->p.strip || k->p.buffers) {
    fsched_memory_desc d = {.size = sizeof d,
                            .name = "m",
                            .capacity = k->capacity * (k->p.roomy ? 2 : 1),
                            .placement = k->p.counted ? FSCHED_COUNTED : FSCHED_CONTIGUOUS};
    if (k->p.store) {
      d.backing = "store";
      d.spill_on = "dma";
      d.write_fixed = d.read_fixed = k->p.tick;
    }
    keep(m, fsched_builder_memory(m->b, &d, &id));
    fsched_memory_desc store = {.size = sizeof store, .name = "store"};
    keep(m, fsched_builder_memory(m->b, &store, &id));
  }
}

static void describe_buffers(known_maker *m) {
  fs_known_case *k = m->k;
  for (uint32_t b = 0; b < k->n_buffers; b++) {
    char name[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "b%u", b);
    fsched_buffer_desc d = {.size = sizeof d, .name = name, .bytes = k->size[b], .memory = "m"};
    d.io = k->writer[b] == FS_NONE ? FSCHED_IO_INPUT : m->kept[b] ? FSCHED_IO_OUTPUT : d.io;
    keep(m, fsched_builder_buffer(m->b, &d, &id));
  }
}

static void describe_args(known_maker *m, uint32_t op) {
  fs_known_case *k = m->k;
  for (uint32_t b = 0; b < k->n_buffers; b++) {
    fsched_arg_desc d = {.size = sizeof d, .buffer = b};
    if (k->writer[b] == op || has_reader(m, b, op)) {
      d.tag = k->writer[b] == op ? FSCHED_OUT : FSCHED_IN;
      keep(m, fsched_builder_arg(m->b, op, &d));
    }
  }
}

static void describe_edges(known_maker *m, uint32_t op) {
  fs_known_case *k = m->k;
  for (uint64_t tries = k->p.strip || k->p.alike ? 0 : below(m, 4); tries > 0 && op > 0; tries--) {
    uint32_t before = (uint32_t)below(m, op);
    if (end_of(k, before) <= k->start[op]) {
      keep(m, fsched_builder_after(m->b, op, before));
    }
  }
}

static void describe_op(known_maker *m, uint32_t op) {
  static const char *const all[] = {"q0", "q1", "q2", "q3", "q4", "q5"};
  fs_known_case *k = m->k;
  char name[16];
  uint32_t id;
  (void)snprintf(name, sizeof name, "o%u", op);
  fsched_op_desc d = {.size = sizeof d, .name = name, .has_time = 1, .time = k->time[op]};
  if (k->gang[op]) {
    d.gang = all;
    d.n_gang = k->p.n_queues;
  } else if (!k->p.strip && !k->p.alike && one_in(m, 5)) {
    d.on = all[k->queue[op]];
  }
  if (k->p.all_fixed || (k->p.jigsaw && op != k->open) || (k->p.fixed && one_in(m, 5))) {
    d.has_start = 1;
    d.start = k->start[op];
  }
  keep(m, fsched_builder_op(m->b, &d, &id));
  if (k->scratch_size[op] > 0) {
    keep(m, fsched_builder_scratch(m->b, op, 0, k->scratch_size[op]));
  }
  describe_args(m, op);
  describe_edges(m, op);
}

/* The amount of what runs while `op` begins, and at its instant. */
static uint64_t running(const known_maker *m, uint32_t op, int resource) {
  const fs_known_case *k = m->k;
  uint64_t sum = 0, at = k->start[op];
  for (uint32_t i = 0; i < k->n_ops; i++) {
    bool there = i == op || (k->start[i] <= at && at < end_of(k, i)) ||
                 (k->time[i] == 0 && k->start[i] == at);
    sum += !there ? 0 : resource < 0 ? 1 : m->use[i][resource];
  }
  return sum;
}

/* Capacities of resources are smaller than those of memories. */
static uint64_t use_unit(const fs_known_case *k) { return fs_min(k->p.unit, (uint64_t)1 << 33); }

static void describe_uses(known_maker *m) {
  static const char *const name[] = {"power", "bandwidth"};
  fs_known_case *k = m->k;
  uint32_t id;
  for (int r = 0; r < 2; r++) {
    uint64_t most = 1;
    for (uint32_t op = 0; op < k->n_ops; op++) {
      m->use[op][r] = (uint32_t)below(m, 5);
    }
    for (uint32_t op = 0; op < k->n_ops; op++) {
      most = fs_max(most, running(m, op, r));
    }
    keep(m, fsched_builder_resource(m->b, name[r], most * use_unit(k), &id));
  }
  uint64_t most = 1;
  for (uint32_t op = 0; op < k->n_ops; op++) {
    most = fs_max(most, running(m, op, -1));
  }
  if (one_in(m, 2)) {
    keep(m, fsched_builder_concurrency(m->b, most));
  }
}

static fs_status make_graph(known_maker *m, fsched_context *ctx) {
  fs_known_case *k = m->k;
  FS_TRY(fsched_builder_create(ctx, "known", &m->b));
  describe_target(m);
  if (k->p.uses && !k->p.strip) {
    describe_uses(m);
  }
  describe_buffers(m);
  for (uint32_t op = 0; op < k->n_ops; op++) {
    describe_op(m, op);
    for (uint32_t r = 0; r < 2; r++) {
      if (m->use[op][r] > 0) {
        keep(m, fsched_builder_use(m->b, op, r, m->use[op][r] * use_unit(k)));
      }
    }
  }
  keep(m, m->status == FSCHED_OK ? fsched_builder_finish(m->b, &k->g) : FSCHED_OK);
  fsched_builder_destroy(m->b);
  return m->status;
}

fs_status fs_known_make(fsched_context *ctx, const fs_known_params *p, fs_known_case *k) {
  known_maker *m = calloc(1, sizeof *m);
  memset(k, 0, sizeof *k);
  k->p = *p;
  m->k = k;
  m->rng.state = p->seed;
  if (p->jigsaw) {
    make_jigsaw(m);
  } else if (p->strip) {
    make_strip(m);
  } else if (p->alike) {
    make_alike(m);
  } else {
    make_pieces(m);
    if (p->buffers) {
      make_buffers(m);
    }
  }
  fs_status status = make_graph(m, ctx);
  free(m);
  return status;
}

fs_known_params fs_known_any(uint64_t seed, uint32_t most_ops) {
  static const uint64_t ticks[] = {
      1, 1, 1, 1, 7, 1000, ((uint64_t)1 << 31) - 1, ((uint64_t)1 << 32) + 1};
  static const uint64_t units[] = {1, 1, 1, 3, 64, ((uint64_t)1 << 31) + 1, (uint64_t)1 << 36};
  fs_rng r = {seed};
  fs_known_params p = {.seed = fs_rng_next(&r), .strip = fs_rng_one_in(&r, 2)};
  p.n_ops = 1 + fs_rng_below(&r, most_ops);
  p.tick = ticks[fs_rng_below(&r, sizeof ticks / sizeof *ticks)];
  p.unit = units[fs_rng_below(&r, sizeof units / sizeof *units)];
  p.n_queues = 1 + fs_rng_below(&r, 3);
  p.fixed = fs_rng_one_in(&r, 5);
  p.instants = fs_rng_one_in(&r, 4);
  p.gangs = fs_rng_one_in(&r, 4);
  p.uses = fs_rng_one_in(&r, 2);
  p.buffers = !p.strip && !fs_rng_one_in(&r, 3);
  p.store = p.buffers && fs_rng_one_in(&r, 2);
  p.counted = p.buffers && fs_rng_one_in(&r, 2);
  return p;
}
