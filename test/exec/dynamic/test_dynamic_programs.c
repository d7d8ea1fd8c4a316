/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs that are submitted op by op.  Kernels note when they begin and end, what they
 * have read, and what is used meanwhile; a model that shares no code with the library evaluates the
 * ops one after the other, and knows for each two whether they share a buffer that one of them
 * writes.  The trace tells on which queues each op ran. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/dynamic/forks.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/context.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/stream/stream.h"

enum { MOST_OPS = 40, MOST_QUEUES = 6, MOST_READS = 3, BYTES = 24, TEXT = 1 << 15, RESOURCES = 2 };

typedef enum drawn_target { ON_QUEUE, ON_CLASS, GANG_LISTED, GANG_OF_CLASS } drawn_target;

typedef struct drawn_op {
  drawn_target kind;
  uint32_t first, second; /* queues; or a class, and how many */
  uint32_t read[MOST_READS], n_reads;
  uint32_t inout; /* buffer; FS_NONE */
  uint32_t after; /* op; FS_NONE */
  uint32_t amount[RESOURCES];
  bool sink; /* nobody reads what it makes */
} drawn_op;

/* A program: op i makes buffer i. */
typedef struct drawn_program {
  uint32_t n_queues, class_of[MOST_QUEUES], n_ops, concurrency, capacity[RESOURCES];
  drawn_op op[MOST_OPS];
} drawn_program;

/* What kernels write, in memory that forked workers share. */
typedef struct noted_ops {
  _Atomic uint32_t clock, running, wrong;
  _Atomic uint32_t used[RESOURCES];
  uint32_t begin[MOST_OPS], end[MOST_OPS], hash[MOST_OPS];
  drawn_program of;
} noted_ops;

static noted_ops *noted;

static uint32_t mix_byte(uint32_t h, uint8_t b) { return (h ^ b) * 16777619u; }

static void spin(uint32_t n) {
  for (volatile uint32_t i = 0; i < n; i++) {
  }
}

static int work(const fsched_kernel_call *call) {
  uint32_t id = (uint32_t)call->args[0].value, h = 2166136261u ^ id;
  const drawn_op *o = &noted->of.op[id];
  noted->begin[id] = atomic_fetch_add(&noted->clock, 1);
  uint32_t running = atomic_fetch_add(&noted->running, 1) + 1;
  bool wrong = noted->of.concurrency != 0 && running > noted->of.concurrency;
  for (uint32_t r = 0; r < RESOURCES; r++) {
    wrong |= atomic_fetch_add(&noted->used[r], o->amount[r]) + o->amount[r] > noted->of.capacity[r];
  }
  atomic_fetch_add(&noted->wrong, wrong);
  for (uint32_t i = 1; i < call->n_args; i++) {
    for (uint32_t k = 0; call->args[i].tag != FSCHED_OUT && k < BYTES; k++) {
      h = mix_byte(h, ((const uint8_t *)call->args[i].data)[k]);
    }
  }
  spin(h % 65536);
  for (uint32_t i = 1; i < call->n_args; i++) {
    for (uint32_t k = 0; call->args[i].tag != FSCHED_IN && k < BYTES; k++) {
      ((uint8_t *)call->args[i].data)[k] = (uint8_t)(mix_byte(h, (uint8_t)(k + i)) >> 8);
    }
  }
  noted->hash[id] = h;
  for (uint32_t r = 0; r < RESOURCES; r++) {
    atomic_fetch_sub(&noted->used[r], o->amount[r]);
  }
  atomic_fetch_sub(&noted->running, 1);
  noted->end[id] = atomic_fetch_add(&noted->clock, 1);
  return 0;
}

static fsched_kernel_fn find_work(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  (void)function;
  return work;
}

/* ---- drawing */

static uint32_t class_size(const drawn_program *m, uint32_t class_) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < m->n_queues; q++) {
    n += m->class_of[q] == class_;
  }
  return n;
}

static void draw_target(fs_rng *r, const drawn_program *m, drawn_op *o) {
  o->kind = (drawn_target)fs_rng_below(r, 4);
  o->first = fs_rng_below(r, m->n_queues);
  o->second = fs_rng_below(r, m->n_queues);
  switch (o->kind) {
    case ON_QUEUE:
      break;
    case GANG_LISTED:
      if (o->first == o->second) {
        o->kind = ON_QUEUE;
      }
      break;
    case ON_CLASS:
    case GANG_OF_CLASS:
      o->first = m->class_of[o->first];
      o->second = 1 + fs_rng_below(r, class_size(m, o->first));
      break;
  }
}

static bool reads(const drawn_op *o, uint32_t buffer) {
  for (uint32_t i = 0; i < o->n_reads; i++) {
    if (o->read[i] == buffer) {
      return true;
    }
  }
  return false;
}

static void draw_op(fs_rng *r, drawn_program *m, uint32_t id) {
  drawn_op *o = &m->op[id];
  *o = (drawn_op){.inout = FS_NONE, .after = FS_NONE, .sink = id > 0 && fs_rng_one_in(r, 5)};
  draw_target(r, m, o);
  for (uint32_t i = 0; i < MOST_READS && id > 0; i++) {
    uint32_t b = fs_rng_below(r, id);
    if (!m->op[b].sink && !reads(o, b) && fs_rng_one_in(r, 2)) {
      o->read[o->n_reads++] = b;
    }
  }
  uint32_t b = id > 0 ? fs_rng_below(r, id) : 0;
  if (id > 0 && !o->sink && !m->op[b].sink && !reads(o, b) && fs_rng_one_in(r, 3)) {
    o->inout = b;
  }
  if (id > 0 && fs_rng_one_in(r, 4)) {
    o->after = fs_rng_below(r, id);
  }
  for (uint32_t k = 0; k < RESOURCES; k++) {
    o->amount[k] = fs_rng_one_in(r, 2) ? fs_rng_below(r, m->capacity[k] + 1) : 0;
  }
}

/* A sink may come after a later op that overwrites nothing, and so waits for no sink. */
static void draw_forward(fs_rng *r, drawn_program *m) {
  for (uint32_t i = 0; i + 1 < m->n_ops; i++) {
    uint32_t j = i + 1 + fs_rng_below(r, m->n_ops - i - 1);
    const drawn_op *o = &m->op[j];
    bool apart = !o->sink && o->inout == FS_NONE && o->after == FS_NONE;
    for (uint32_t k = 0; k < o->n_reads; k++) {
      apart = false; /* what it reads may have waited for the sink */
    }
    if (m->op[i].sink && apart) {
      m->op[i].after = j;
    }
  }
}

static void draw_model(uint64_t seed, drawn_program *m) {
  fs_rng r = {seed};
  uint32_t n_classes = 1 + fs_rng_below(&r, 3);
  m->n_queues = 2 + fs_rng_below(&r, MOST_QUEUES - 1);
  for (uint32_t q = 0; q < m->n_queues; q++) {
    m->class_of[q] = fs_rng_below(&r, n_classes);
  }
  m->concurrency = fs_rng_one_in(&r, 2) ? fs_rng_below(&r, 4) : 0;
  for (uint32_t k = 0; k < RESOURCES; k++) {
    m->capacity[k] = 1 + fs_rng_below(&r, 4);
  }
  m->n_ops = 5 + fs_rng_below(&r, MOST_OPS - 4);
  for (uint32_t i = 0; i < m->n_ops; i++) {
    draw_op(&r, m, i);
  }
  draw_forward(&r, m);
}

static void put_target(FILE *f, const drawn_op *o) {
  switch (o->kind) {
    case ON_QUEUE:
      (void)fprintf(f, "q%u", o->first);
      break;
    case ON_CLASS:
      (void)fprintf(f, "c%u", o->first);
      break;
    case GANG_LISTED:
      (void)fprintf(f, "[q%u, q%u]", o->first, o->second);
      break;
    case GANG_OF_CLASS:
      (void)fprintf(f, "{class: c%u, count: %u}", o->first, o->second);
      break;
  }
}

static void put_op(FILE *f, const drawn_op *o, uint32_t id) {
  (void)fprintf(f, "  - {name: o%u, kernel: {module: t, function: w}, on: ", id);
  put_target(f, o);
  (void)fprintf(f, ", scratch: {m: %u}, args: [{value: %u}", id % 3 * 8, id);
  for (uint32_t i = 0; i < o->n_reads; i++) {
    (void)fprintf(f, ", {in: b%u}", o->read[i]);
  }
  if (o->inout != FS_NONE) {
    (void)fprintf(f, ", {inout: b%u}", o->inout);
  }
  (void)fprintf(f, ", {out: b%u, size: %u}]", id, (unsigned)BYTES);
  if (o->after != FS_NONE) {
    (void)fprintf(f, ", after: [o%u]", o->after);
  }
  (void)fprintf(f, ", uses: {r0: %u, r1: %u}}\n", o->amount[0], o->amount[1]);
}

static void put_graph(const drawn_program *m, char *text) {
  FILE *f = fmemopen(text, TEXT, "w");
  ck_assert_ptr_nonnull(f);
  (void)fprintf(f, "fsched: 1\ntarget:\n");
  if (m->concurrency > 0) {
    (void)fprintf(f, "  concurrency: %u\n", m->concurrency);
  }
  (void)fprintf(f, "  memories: [{name: m}]\n  queues:\n");
  for (uint32_t q = 0; q < m->n_queues; q++) {
    (void)fprintf(f, "    - {name: q%u, class: c%u}\n", q, m->class_of[q]);
  }
  (void)fprintf(f, "  resources: [{name: r0, capacity: %u}, {name: r1, capacity: %u}]\nops:\n",
                m->capacity[0], m->capacity[1]);
  for (uint32_t i = 0; i < m->n_ops; i++) {
    put_op(f, &m->op[i], i);
  }
  (void)fclose(f);
}

/* ---- judging */

static bool touches(const drawn_op *o, uint32_t id, uint32_t buffer, bool writes) {
  return id == buffer || o->inout == buffer || (!writes && reads(o, buffer));
}

static bool conflict(const drawn_program *m, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < m->n_ops; k++) {
    bool both = touches(&m->op[a], a, k, false) && touches(&m->op[b], b, k, false);
    if (both && (touches(&m->op[a], a, k, true) || touches(&m->op[b], b, k, true))) {
      return true;
    }
  }
  return false;
}

static void judge_order(const drawn_program *m) {
  for (uint32_t b = 0; b < m->n_ops; b++) {
    for (uint32_t a = 0; a < m->n_ops; a++) {
      bool before = m->op[b].after == a || (a < b && conflict(m, a, b));
      ck_assert_msg(!before || noted->end[a] < noted->begin[b], "op %u, then %u", a, b);
    }
  }
}

static void judge_bytes(const drawn_program *m) {
  uint8_t content[MOST_OPS][BYTES];
  for (uint32_t id = 0; id < m->n_ops; id++) {
    const drawn_op *o = &m->op[id];
    uint32_t h = 2166136261u ^ id, arg = 1 + o->n_reads;
    for (uint32_t i = 0; i < o->n_reads + (o->inout != FS_NONE); i++) {
      const uint8_t *from = content[i < o->n_reads ? o->read[i] : o->inout];
      for (uint32_t k = 0; k < BYTES; k++) {
        h = mix_byte(h, from[k]);
      }
    }
    ck_assert_msg(noted->hash[id] == h, "what op %u has read", id);
    for (uint32_t w = o->inout == FS_NONE; w < 2; w++, arg++) {
      for (uint32_t k = 0; k < BYTES; k++) {
        content[w == 0 ? o->inout : id][k] = (uint8_t)(mix_byte(h, (uint8_t)(k + arg)) >> 8);
      }
    }
  }
}

/* The queues that an op ran on, as a set, by the slices of a trace. */
static uint32_t queues_of(const char *trace, uint32_t id, uint32_t *n_slices) {
  char name[32];
  uint32_t set = 0;
  (void)snprintf(name, sizeof name, "\"name\":\"o%u\",", id);
  *n_slices = 0;
  for (const char *at = strstr(trace, name); at != NULL; at = strstr(at + 1, name)) {
    const char *line = at;
    while (line > trace && line[-1] != '\n') {
      line--;
    }
    const char *tid = strstr(line, "\"tid\":");
    ck_assert(tid != NULL && tid < at);
    set |= 1u << (strtoul(tid + 6, NULL, 10) - 2); /* threads are numbered from 2 on */
    ++*n_slices;
  }
  return set;
}

static void judge_queues(const drawn_program *m, const char *trace) {
  for (uint32_t id = 0; id < m->n_ops; id++) {
    const drawn_op *o = &m->op[id];
    bool gang = o->kind == GANG_LISTED || o->kind == GANG_OF_CLASS;
    uint32_t n, set = queues_of(trace, id, &n), of_class = 0;
    uint32_t wanted = o->kind == GANG_LISTED ? 2 : gang ? o->second : 1;
    for (uint32_t q = 0; q < m->n_queues; q++) {
      of_class |= (uint32_t)(m->class_of[q] == o->first) << q;
    }
    ck_assert_msg(n == wanted && (uint32_t)__builtin_popcount(set) == n, "op %u: %u of %u slices",
                  id, n, wanted);
    switch (o->kind) {
      case ON_QUEUE:
        ck_assert_uint_eq(set, 1u << o->first);
        break;
      case GANG_LISTED:
        ck_assert_uint_eq(set, 1u << o->first | 1u << o->second);
        break;
      case ON_CLASS:
      case GANG_OF_CLASS:
        ck_assert_uint_eq(set & ~of_class, 0);
        break;
    }
  }
}

static void run_model(uint64_t seed, bool processes, bool unplanned) {
  static char text[TEXT];
  fsched_graph *g;
  fsched_program *program;
  memset(noted, 0, sizeof *noted);
  draw_model(seed, &noted->of);
  put_graph(&noted->of, text);
  fsched_read_options read = {.size = sizeof read, .unplanned = unplanned};
  ck_fs(ctx, fsched_graph_parse(ctx, "random", text, strlen(text), &read, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  fsched_device_options device = {.size = sizeof device,
                                  .kind = "dynamic",
                                  .find = find_work,
                                  .heap_bytes = 1 << 16,
                                  .processes = processes};
  fsched_replay_options o = {.size = sizeof o, .trace = 1};
  fsched_replay_result result = {.size = sizeof result};
  ck_fs(ctx, fsched_device_create(ctx, &device, &o.device));
  ck_fs(ctx, fsched_replay(ctx, program, &o, &result));
  ck_assert_uint_eq(noted->wrong, 0);
  judge_order(&noted->of);
  judge_bytes(&noted->of);
  judge_queues(&noted->of, result.trace_json);
  fsched_text_free(ctx, result.trace_json, result.trace_length);
  fsched_device_release(o.device);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}

/* _i: workers are processes, where they can be forked. */
START_TEST(ops_run_where_and_when_they_may)
{
  enum { PROGRAMS = 60 };
  bool processes = _i == 1 && workers_fork();
  noted = mmap(NULL, sizeof *noted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(noted, MAP_FAILED);
  for (uint64_t i = 0; i < PROGRAMS; i++) {
    run_model(fs_turn() * PROGRAMS + i, processes, i % 2 == 1);
  }
  (void)munmap(noted, sizeof *noted);
}
END_TEST

/* ---- loops that read what is carried */

static void put_carried_arg(fs_rng *r, FILE *f, uint32_t buffer) {
  (void)fprintf(f, ", {in: c%u, distance: %u}", buffer, 1 + fs_rng_below(r, 2));
}

/* Some ops begin a value in each iteration; others read those of iterations before. */
static void put_carrying_loop(fs_rng *r, FILE *f, uint32_t n_queues, uint32_t n_carried) {
  uint32_t n_ops = n_carried + 1 + fs_rng_below(r, 4);
  for (uint32_t i = 0, next = 0; i < n_ops; i++) {
    bool begins = next < n_carried && (n_ops - i == n_carried - next || fs_rng_one_in(r, 2));
    (void)fprintf(f, "      - {name: o%u, on: q%u, time: %u, args: [{value: %u}", i,
                  fs_rng_below(r, n_queues), fs_rng_below(r, 4), i);
    for (uint32_t b = 0; b < n_carried; b++) {
      if (fs_rng_one_in(r, 2)) {
        put_carried_arg(r, f, b);
      }
    }
    if (begins) {
      (void)fprintf(f, ", {out: c%u}", next++);
    }
    (void)fprintf(f, ", {inout: s%u}]}\n", i);
  }
}

/* Each op has a state that shows all that it has read. */
static void put_carrying(uint64_t seed, char *text) {
  FILE *f = fmemopen(text, TEXT, "w");
  fs_rng r = {seed};
  uint32_t n_queues = 1 + fs_rng_below(&r, 3), n_carried = 1 + fs_rng_below(&r, 3);
  ck_assert_ptr_nonnull(f);
  (void)fprintf(f, "fsched: 1\ntarget: {queues: [");
  for (uint32_t q = 0; q < n_queues; q++) {
    (void)fprintf(f, "%s{name: q%u}", q == 0 ? "" : ", ", q);
  }
  (void)fprintf(f, "]}\nbuffers:\n");
  for (uint32_t i = 0; i < MOST_QUEUES + 3; i++) {
    (void)fprintf(f, "  - {name: s%u, size: 8, io: state}\n", i);
  }
  for (uint32_t b = 0; b < n_carried; b++) {
    (void)fprintf(f, "  - {name: c%u, size: %u}\n", b, (unsigned)BYTES);
  }
  (void)fprintf(f, "ops:\n");
  for (uint32_t b = 0; b < n_carried; b++) {
    (void)fprintf(f, "  - {name: i%u, args: [{out: c%u}]}\n", b, b);
  }
  bool varies = fs_rng_one_in(&r, 2);
  uint32_t trips = 1 + fs_rng_below(&r, 5);
  (void)fprintf(f,
                varies ? "  - loop: l\n    trip: {param: n, min: 0, max: %u}\n    ops:\n"
                       : "  - loop: l\n    trip: %u\n    ops:\n",
                trips);
  put_carrying_loop(&r, f, n_queues, n_carried);
  (void)fclose(f);
}

/* 1 if it has a plan with a loop. */
static uint32_t check_carrying(uint64_t seed, const fsched_device_options *device) {
  static char text[TEXT];
  fsched_graph *g;
  fsched_program *program;
  put_carrying(seed, text);
  ck_fs(ctx, fsched_graph_parse(ctx, "carrying", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  uint32_t loops = program->view.n_loops;
  fsched_replay_options o = {.size = sizeof o, .check = 1};
  fsched_replay_result result = {.size = sizeof result};
  ck_fs(ctx, fsched_device_create(ctx, device, &o.device));
  ck_assert_msg(fsched_replay(ctx, program, &o, &result) == FSCHED_OK, "%s\n%s", text,
                fs_test_diags(ctx));
  fsched_device_release(o.device);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
  return loops;
}

/* A value may be read after its slot's next writer in the body, so that the plan has these the
 * other way round.  _i: as above. */
START_TEST(slots_are_not_begun_too_early)
{
  enum { PROGRAMS = 150 };
  fsched_device_options device = {.size = sizeof device,
                                  .kind = "dynamic",
                                  .heap_bytes = 1 << 16,
                                  .processes = _i == 1 && workers_fork()};
  uint32_t loops = 0;
  for (uint64_t i = 0; i < PROGRAMS; i++) {
    loops += check_carrying(fs_turn() * PROGRAMS + i, &device);
  }
  fs_assert_seen(loops, PROGRAMS / 2);
}
END_TEST

FS_SUITE(dynamic_programs, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, ops_run_where_and_when_they_may);
  FS_LOOPS(t, 0, 2, slots_are_not_begun_too_early);
}
