/* SPDX-License-Identifier: Apache-2.0 */
/* What loops on streams make the driver wait for, read from the fake driver's log of its calls:
 * each instance for just those that it has to wait for, or these were over before it was issued. So
 * no event is used for two instances at once, however far apart these are.  And what queues need
 * not wait for where they enter and leave loops: with some seeds the driver does it later. */
#include <string.h>

#include "exec/host/kernel.h"
#include "exec/replay/run_trace.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

enum { TRIP = 700, NONE = -1 };

static fsched_program *compile_ring(uint32_t depth) {
  char text[600];
  fsched_compile_options c = {.size = sizeof c, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  fsched_program *p;
  int n = snprintf(text, sizeof text,
                   "fsched: 1\n"
                   "target:\n  queues: [{name: a, class: a}, {name: b, class: b}]\n"
                   "  memories: [{name: m, capacity: 64KiB}]\n"
                   "buffers: [{name: y, size: 8, io: output}]\n"
                   "ops:\n  - loop: L\n    trip: %d\n    buffers: {t: {depth: %u}}\n    ops:\n"
                   "      - {name: load, on: a, args: [{out: t, size: 8}]}\n"
                   "      - {name: use, on: b, args: [{in: t}, {out_existing: y}]}\n"
                   "      - {name: more, on: b, args: [{in: t}, {out_existing: y}]}\n",
                   TRIP, depth);
  ck_fs(ctx, fsched_graph_parse(ctx, "ring.yaml", text, (size_t)n, NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &c, NULL, &p));
  fsched_graph_destroy(g);
  ck_assert_uint_eq(p->view.n_loops, 1);
  return p;
}

/* Instance i of `load` has number i, that of `use` TRIP + i, and that of `more` 2 * TRIP + i. */
enum { INSTANCES = 3 * TRIP };
static uint64_t seeds[INSTANCES];

static void name_instances(void) {
  static const char *const ops[] = {"load", "use", "more"};
  for (uint32_t i = 0; i < INSTANCES; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s[%u]", ops[i / TRIP], i % TRIP);
    seeds[i] = fs_kernel_seed(name, NULL, 0);
  }
}

static int number_of(uint64_t seed) {
  int i = 0;
  while (i < INSTANCES && seeds[i] != seed) {
    i++;
  }
  return i < INSTANCES ? i : NONE;
}

/* The instance that one has to wait for on the other queue; NONE: there is none. */
static int target_of(int number, int depth) {
  int i = number % TRIP;
  switch (number / TRIP) {
    case 0: /* the slot's last reader */
      return i < depth ? NONE : 2 * TRIP + i - depth;
    case 1: /* what it reads */
      return i;
    default: /* the one before it on its queue has waited */
      return NONE;
  }
}

/* What has been seen of the log so far. */
typedef struct order_seen {
  struct {
    const void *event;
    int instance; /* the last one before its latest record on the stream */
  } record[1000];
  struct {
    const void *stream;
    int last, waits[8]; /* instances that it waits for since then */
    uint32_t n_waits;
  } stream[16];
  uint32_t n_records, n_streams;
  const fake_cuda_entry *launch[INSTANCES]; /* per instance */
  uint32_t n_launches, n_waited;
} order_seen;

static uint32_t stream_at(order_seen *o, const void *stream) {
  uint32_t i = 0;
  while (i < o->n_streams && o->stream[i].stream != stream) {
    i++;
  }
  if (i == o->n_streams) {
    ck_assert_uint_lt(i, sizeof o->stream / sizeof o->stream[0]);
    o->stream[i].stream = stream;
    o->stream[i].last = NONE;
    o->n_streams++;
  }
  return i;
}

static uint32_t record_at(order_seen *o, const void *event) {
  uint32_t i = 0;
  while (i < o->n_records && o->record[i].event != event) {
    i++;
  }
  if (i == o->n_records) {
    ck_assert_uint_lt(i, sizeof o->record / sizeof o->record[0]);
    o->record[i].event = event;
    o->n_records++;
  }
  return i;
}

/* The instance waits for its target and nothing else, or that was over before. */
static void check_launch(order_seen *o, const fake_cuda_entry *e, int number, int depth) {
  uint32_t s = stream_at(o, e->stream);
  int target = target_of(number, depth);
  bool waits = false;
  for (uint32_t i = 0; i < o->stream[s].n_waits; i++) {
    int other = o->stream[s].waits[i];
    ck_assert_msg(other == target, "instance %d waits for %d, not for %d", number, other, target);
    waits = true;
  }
  o->n_waited += waits;
  if (target != NONE && !waits) {
    const fake_cuda_entry *t = o->launch[target];
    ck_assert_msg(t != NULL && t->executed != 0 && t->executed <= e->before,
                  "instance %d does not wait for %d", number, target);
  }
  o->launch[number] = e;
  o->stream[s].last = number;
  o->stream[s].n_waits = 0;
  o->n_launches++;
}

static void check_entry(order_seen *o, const fake_cuda_entry *e, int depth) {
  uint32_t s = stream_at(o, e->stream);
  int number = e->kind == FAKE_CUDA_LAUNCH ? number_of(e->seed) : NONE;
  switch (e->kind) {
    case FAKE_CUDA_LAUNCH:
      if (number != NONE) {
        check_launch(o, e, number, depth);
      }
      break;
    case FAKE_CUDA_RECORD:
      o->record[record_at(o, e->event)].instance = o->stream[s].last;
      break;
    case FAKE_CUDA_WAIT: {
      int other = o->record[record_at(o, e->event)].instance;
      if (other != NONE) { /* else it waits for the begin of the loop */
        ck_assert_uint_lt(o->stream[s].n_waits, 8);
        o->stream[s].waits[o->stream[s].n_waits++] = other;
      }
      break;
    }
  }
}

static const uint32_t depths[] = {1, 2, 3, 40, 63, 64, 65, 100, 127, 128, 129, 200, 400};
enum { DEPTHS = sizeof depths / sizeof depths[0] };

START_TEST(waits_for_its_target)
{
  static order_seen o;
  uint32_t depth = depths[_i];
  fsched_program *p = compile_ring(depth);
  memset(&o, 0, sizeof o);
  name_instances();
  fsched_device_options d = {.size = sizeof d, .kind = "cuda", .driver = fake.path};
  fsched_replay_options how = {.size = sizeof how};
  fake.reset(&(fake_cuda_controls){.log = 1, .seed = (uint64_t)_i});
  ck_fs(ctx, fsched_device_create(ctx, &d, &how.device));
  ck_fs(ctx, fsched_replay(ctx, p, &how, NULL));
  const fake_cuda_entry *e;
  for (uint64_t i = 0; (e = fake.log(i)) != NULL; i++) {
    check_entry(&o, e, (int)depth);
  }
  ck_assert_uint_eq(o.n_launches, INSTANCES);
  if (depth < 40) { /* of targets further away, many or all are over */
    ck_assert_uint_gt(o.n_waited, TRIP);
  }
  fsched_device_release(how.device);
  fsched_program_destroy(p);
  cuda_fake_clean(&fake);
}
END_TEST

static const char two_queues[] =
    "fsched: 1\n"
    "target:\n  queues: [{name: a, class: a}, {name: b, class: b}, {name: c, class: c}]\n"
    "  memories: [{name: m, capacity: 1KiB}]\n"
    "buffers: [{name: p, size: 8}, {name: q, size: 8}]\n"
    "ops:\n";
static const char loads_and_uses[] =
    "{loop: L, trip: 5, buffers: {t: {depth: 2}}, ops: [\n"
    "      {name: load, on: a, args: [{out: t, size: 8}]},\n"
    "      {name: use, on: b, args: [{in: t}]}]}\n";

/* What one op has to come behind, and what it may come before. */
typedef struct order_case {
  const char *before, *behind; /* ops around the loop */
  const char *op, *always, *never;
} order_case;

/* It is planned before the loop, as what follows it takes long. */
#define PRE                                    \
  "  - {name: pre, on: b, args: [{out: p}]}\n" \
  "  - {name: long, on: c, time: 50, args: [{in: p}]}\n"
static const order_case cases[] = {
    /* The first load does not wait for what is before the loop on the queue of the uses. */
    {PRE, "", "load[0]", NULL, "pre"},
    {PRE, "", "use[0]", "pre", NULL},
    /* What is behind the loop on the queue of the loads does not wait for the last use. */
    {"", "  - {name: next, on: a, args: [{out: q}]}\n", "next", "load[4]", "use[4]"},
    /* What waits for the last use does. */
    {"", "  - {name: next, on: a, args: [{out: q}]}\n  - {name: last, on: b, args: [{in: q}]}\n",
     "last", "use[4]", NULL},
    /* Runs that are joined: the first load of the second one waits for its slot alone. */
    {"  - loop: M\n    trip: 3\n    ops:\n    - ", NULL, "load[1][0]", "use[0][3]", "use[0][4]"},
    {"  - loop: M\n    trip: 3\n    ops:\n    - ", NULL, "use[1][0]", "use[0][4]", NULL},
};
enum { CASES = sizeof cases / sizeof cases[0], SEEDS = 24 };

static fsched_program *compile_case(const order_case *c) {
  char text[1500];
  (void)snprintf(text, sizeof text, "%s%s%s%s%s", two_queues, c->before,
                 c->behind == NULL ? "" : "  - ", loads_and_uses,
                 c->behind == NULL ? "" : c->behind);
  fsched_program *p = compile_text(text);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(p->view.n_loops, c->behind == NULL ? 2 : 1);
  ck_assert_uint_eq(p->view.loops[p->view.n_loops - 1].joined, c->behind == NULL);
  return p;
}

/* Whether `never` was not over when the op began; `always` was. */
static bool check_case(const order_case *c, const tr_trace *t) {
  const tr_event *op = tr_find(t, c->op);
  ck_assert_msg(op != NULL, "no '%s'", c->op);
  if (c->always != NULL) {
    const tr_event *always = tr_find(t, c->always);
    ck_assert_msg(always != NULL && always->ts + always->dur <= op->ts, "%s before %s", c->op,
                  c->always);
  }
  const tr_event *never = c->never == NULL ? NULL : tr_find(t, c->never);
  ck_assert(c->never == NULL || never != NULL);
  return never == NULL || never->ts + never->dur > op->ts;
}

static void check_order(const char *kind, const order_case *c) {
  fsched_program *p = compile_case(c);
  uint32_t n = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    fsched_device_options d = {.size = sizeof d, .kind = kind, .driver = fake.path};
    fsched_device *on;
    tr_trace t;
    fake.reset(&(fake_cuda_controls){.seed = fs_turn() * SEEDS + seed});
    ck_fs(ctx, fsched_device_create(ctx, &d, &on));
    run_trace(p, on, seed, NULL, &t);
    n += check_case(c, &t);
    tr_close(&t);
    fsched_device_release(on);
    cuda_fake_clean(&fake);
  }
  ck_assert_msg(n > 0, "%s: %s waits for %s", kind, c->op, c->never);
  fsched_program_destroy(p);
}

START_TEST(queues_go_on_alone)
{
  check_order("cuda", &cases[_i]);
  check_order("cuda-graph", &cases[_i]);
}
END_TEST

FS_SUITE(cuda_loop_order, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_fake_cuda(t);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, DEPTHS, waits_for_its_target);
    FS_LOOPS(t, 0, CASES, queues_go_on_alone);
  }
}
