/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and memories of the host beside a CUDA device.  What is random is checked against a
 * sequential evaluation, in whatever order the driver executes; what is done by hand is arithmetic
 * that a kernel of the device and a function of this process share. */
#include <stdatomic.h>
#include <string.h>

#include "exec/context/exec_kit.h"
#include "fsched/replay.h"
#include "kit/gen.h"
#include "kit/loop_gen.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 20, LOOPS = 20 };
#else
enum { GRAPHS = 60, LOOPS = 80 };
#endif

static const char *kind_of(int loop) { return loop % 2 == 0 ? "cuda" : "cuda-graph"; }

/* Random queues of the host: what was compiled is taken there, graph and program alike. */

#define NO_MORE (FS_NONE - 1)

static fs_stream_queue *queue_at(const fs_stream *s, uint32_t q) {
  return (fs_stream_queue *)(uintptr_t)&s->queues[q];
}
static fs_stream_memory *memory_at(const fs_stream *s, uint32_t m) {
  return (fs_stream_memory *)(uintptr_t)&s->memories[m];
}

static bool is_loop(const fs_stream *s, uint32_t op, bool inner) {
  bool found = false;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    found = found || ((s->loops[l].within != FS_NONE) == inner && s->loops[l].op == op);
  }
  return found;
}

/* Whether an op's members have args of their own, so that each may be the device's or the host's.
 */
static bool is_apart(const fs_stream *s, uint32_t op, bool inner) {
  return (inner ? s->loop_ops[op].n_members : s->ops[op].n_members) > 0;
}

/* The other ops of a gang are the host's if all of their queues are. */
static bool join_gangs(const fs_stream *s, const bool *inner, uint32_t n_ops, uint32_t n_queues,
                       uint32_t (*op_of)(const fs_stream *s, uint32_t queue, uint32_t i),
                       uint8_t *host) {
  bool changed = false;
  for (uint32_t op = 0; op < n_ops; op++) {
    uint8_t all = 1;
    for (int pass = 0; pass < 2 && !is_loop(s, op, *inner) && !is_apart(s, op, *inner); pass++) {
      for (uint32_t q = 0; q < n_queues; q++) {
        for (uint32_t i = 0, o; (o = op_of(s, q, i)) != NO_MORE; i++) {
          uint32_t on = *inner ? s->loop_queues[q].queue : q;
          if (o == op && pass == 0) {
            all = all && host[on];
          } else if (o == op && host[on] != all) {
            host[on] = all;
            changed = true;
          }
        }
      }
    }
  }
  return changed;
}

static uint32_t op_on(const fs_stream *s, uint32_t q, uint32_t i) {
  const fs_stream_queue *x = &s->queues[q];
  return i == x->n_commands ? NO_MORE : fs_command_op(&s->commands[x->command0 + i]);
}
static uint32_t loop_op_on(const fs_stream *s, uint32_t q, uint32_t i) {
  const fs_stream_loop_queue *x = &s->loop_queues[q];
  return i == x->n_commands ? NO_MORE : s->loop_commands[x->command0 + i].op;
}

static void take_places(const fs_stream *s, const fs_stream_place *p, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (fs_space_has_bytes(p[i].space)) {
      memory_at(s, p[i].index)->host = 1;
    }
  }
}

/* Counts ops in no loop whose members are of both. */
static uint64_t count_both(const fs_stream *s) {
  uint64_t n = 0;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    bool of[2] = {false, false};
    for (uint32_t q = 0; q < s->n_queues && is_apart(s, op, false); q++) {
      for (uint32_t i = 0, o; (o = op_on(s, q, i)) != NO_MORE; i++) {
        of[s->queues[q].host != 0] = of[s->queues[q].host != 0] || o == op;
      }
    }
    n += of[0] && of[1];
  }
  return n;
}

/* Makes queues and memories the host's; returns how many commands that are no loops are there. */
static uint64_t take_to_host(uint64_t seed, fsched_program *p, fsched_graph *g) {
  const fs_stream *s = &p->view;
  static const bool inside = true, outside = false;
  uint8_t host[256];
  uint64_t n = 0;
  ck_assert_uint_le(s->n_queues, sizeof host);
  for (uint32_t q = 0; q < s->n_queues; q++) {
    host[q] = (seed >> q % 8 & 1) != 0;
  }
  while (join_gangs(s, &outside, s->n_ops, s->n_queues, op_on, host) ||
         join_gangs(s, &inside, s->n_loop_ops, s->n_loop_queues, loop_op_on, host)) {
  }
  for (uint32_t q = 0; q < s->n_queues; q++) {
    queue_at(s, q)->host = host[q];
    if (!g->target.implicit_queues) {
      g->target.queue[q].host = host[q] != 0;
    }
    const fs_stream_queue *x = &s->queues[q];
    for (uint32_t c = x->command0; c < x->command0 + x->n_commands && host[q]; c++) {
      const fs_stream_command *k = &s->commands[c];
      bool loop = fs_command_has_op(k) && is_loop(s, k->target, false);
      take_places(s, &s->places[k->place0], loop ? 0 : k->n_places);
      n += !loop;
    }
  }
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *x = &s->loop_queues[i];
    for (uint32_t c = x->command0; c < x->command0 + x->n_commands && host[x->queue]; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      bool loop = s->loop_ops[k->op].loop != FS_NONE;
      take_places(s, &s->loop_places[k->place0], loop ? 0 : k->n_places);
      n += !loop;
    }
  }
  for (uint32_t m = 0; m < s->n_memories; m++) {
    g->target.memory[m].host = s->memories[m].host != 0;
  }
  return n;
}

/* Drivers that lack words for streams, run several streams as one or take few launches at a time.
 */
static fake_cuda_controls driver_of(uint64_t seed) {
  return (fake_cuda_controls){.seed = seed,
                              .lacks = seed % 3 == 1 ? "cuStreamWaitValue64" : NULL,
                              .channels = seed % 4,
                              .depth = seed % 5 == 2 ? 3 : 0};
}

static void open_cuda(uint64_t seed, int loop, fsched_device_options d) {
  d.size = sizeof d;
  d.kind = kind_of(loop);
  if (!cuda_is_real()) {
    fake_cuda_controls c = driver_of(seed);
    fake.reset(&c);
    d.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
}

static void close_cuda(void) {
  fsched_device_release(device);
  device = NULL;
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

/* Replays a program, some of whose queues are the host's, and checks every byte and digest. */
static uint64_t replay_hosts(uint64_t seed, int loop, fsched_program *p, fsched_graph *g) {
  fsched_replay_result r = {.size = sizeof r};
  uint64_t n = take_to_host(fs_turn() + seed * 37, p, g);
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  open_cuda(seed, loop, (fsched_device_options){0});
  fsched_replay_options o = {.size = sizeof o,
                             .device = device,
                             .repeat = 1 + seed % 3,
                             .in_flight = 1 + seed % 2,
                             .trace = seed % 5 == 0,
                             .pace_ns = seed % 7 == 0,
                             .pool_bytes = seed % 4 == 0 ? 1 << 22 : 0,
                             .check = p->view.n_races == 0};
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  if (!cuda_is_real()) {
    bool graph = loop % 2 != 0;
    uint64_t launched = fake.calls(graph ? "cuGraphAddHostNode" : "cuLaunchHostFunc");
    ck_assert_msg(!graph || (launched > 0) == (n > 0) || p->view.n_loops > 0,
                  "seed %lu: %lu functions", (unsigned long)seed, (unsigned long)launched);
    ck_assert(graph || launched == 0 || driver_of(seed).lacks != NULL);
  }
  close_cuda();
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  return n;
}

START_TEST(any_graph)
{
  static const fsched_sync sync[] = {FSCHED_SYNC_TIMELINE, FSCHED_SYNC_BARRIER, FSCHED_SYNC_BLOCK};
  uint64_t n = 0, n_both = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() * GRAPHS + k;
    fs_gen_params params = k % 3 == 0   ? fs_gen_any(seed, 40)
                           : k % 3 == 1 ? fs_gen_tight(seed, 40)
                                        : fs_gen_odd(seed, 25);
    params.sync = k % 3 == 2 ? sync[k / 3 % 3] : params.sync;
    params.views = params.ats;
    params.gangs = params.class_gangs = params.members = true;
    fsched_graph *g;
    fsched_program *p;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    fsched_compile_options c = {.size = sizeof c, .effort = FS_QUICK};
    c.barriers = params.sync == FSCHED_SYNC_BARRIER ? FSCHED_BARRIERS_AUTO : 0;
    ck_fs(ctx, fsched_compile(ctx, g, &c, NULL, &p));
    if (p->view.n_queues <= 256 && !g->target.implicit_queues) {
      n += replay_hosts(seed, _i, p, g);
      n_both += count_both(&p->view);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(n, 3 * GRAPHS);
  fs_assert_seen(n_both, GRAPHS / 10);
}
END_TEST

static uint64_t try_loop(uint64_t seed, int loop, const char *text) {
  fsched_read_options o = {.size = sizeof o};
  fsched_compile_options c = {.size = sizeof c, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  fsched_program *p = NULL;
  uint64_t n = 0;
  if (fsched_graph_parse(ctx, "loop.yaml", text, strlen(text), &o, &g) == FSCHED_OK) {
    if (fsched_compile(ctx, g, &c, NULL, &p) == FSCHED_OK && p->view.n_loops > 0 &&
        !g->target.implicit_queues) {
      n = replay_hosts(seed, loop, p, g);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  fsched_diag_clear(ctx);
  return n;
}

START_TEST(loops)
{
  static void (*const generate[])(uint64_t, fs_text *) = {fs_loop_gen,          fs_nest_gen,
                                                          fs_loop_gen_barriers, fs_nest_gen_joined,
                                                          fs_nest_gen_syncs,    fs_loop_gen_gangs};
  uint64_t n = 0;
  for (uint64_t k = 0; k < LOOPS; k++) {
    uint64_t seed = fs_turn() * LOOPS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate[k % 6](seed, &t);
    fs_text_add(&t, "", 1);
    ck_assert(!t.failed);
    n += try_loop(seed, _i, t.at);
    fs_text_drop(&t);
  }
  fs_assert_seen(n, LOOPS / 2);
}
END_TEST

/* By hand: the device, the host, and again the device. */

#define TARGET(memory)                                                            \
  "fsched: 1\n"                                                                   \
  "target: {queues: [{name: d, class: dev}, {name: h, class: cpu, host: true},\n" \
  "                  {name: h2, class: cpu2, host: true}],\n"                     \
  "         memories: [{name: dm, capacity: 4KiB}, {name: hm, capacity: 4KiB" memory "}]}\n"
#define BUFFERS                                              \
  "buffers: [{name: in, size: 48, io: input, memory: dm},\n" \
  "          {name: out, size: 48, io: output, memory: dm}]\n"
#define SCALE "kernel: {module: kernels.ptx, function: scale, block: [12, 1, 1]}"
#define TWICE "kernel: {module: m, function: twice, params: \"05000000\"}"

static const char there_and_back[] = TARGET(", host: true") BUFFERS
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 48, memory: hm}, {value: 3}], " SCALE
    "}\n"
    "  - {name: b, on: cpu, args: [{in: x}, {out: y, size: 48, memory: hm}], " TWICE
    "}\n"
    "  - {name: c, on: cpu2, args: [{inout: y}, {in: x}], " TWICE
    "}\n"
    "  - {name: e, on: dev, args: [{in: y}, {out: out}, {value: 1}], " SCALE "}\n";

static const char in_a_loop[] = TARGET(", host: true") BUFFERS
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 48, memory: hm}, {value: 3}], " SCALE
    "}\n"
    "  - {name: z, on: cpu2, args: [{in: x}, {out: y, size: 48, memory: hm}], " TWICE
    "}\n"
    "  - loop: L\n    trip: 4\n    ops:\n"
    "      - {name: b, on: cpu, args: [{in: x}, {inout: y}], " TWICE
    "}\n"
    "  - {name: e, on: dev, args: [{in: y}, {out: out}, {value: 1}], " SCALE "}\n";

/* Members of the host beside each other, and a loop that they share with the device. */
static const char members_in_a_loop[] = TARGET(", host: true") BUFFERS
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 48, memory: hm}, {value: 3}], " SCALE
    "}\n"
    "  - {name: z, on: cpu2, args: [{in: x}, {out: y, size: 48, memory: hm}], " TWICE
    "}\n"
    "  - {name: z2, on: cpu, args: [{in: x}, {out: y2, size: 48, memory: hm}], " TWICE
    "}\n"
    "  - loop: L\n    trip: 3\n    ops:\n"
    "      - {name: n, on: dev, args: [{out: w, size: 8, memory: dm}]}\n"
    "      - {name: b, on: [h, h2], " TWICE
    ",\n         members: [{args: [{in: x}, {inout: y}]}, {args: [{in: x}, {inout: y2}]}]}\n"
    "  - {name: e, on: dev, args: [{in: y}, {out: out}, {value: 1}], " SCALE "}\n";

/* Two queues of a loop; `b` and `c` are their own. */
/* Members of the device and of the host, in no loop and in one. */
static const char of_both[] = TARGET(", host: true")
    "buffers: [{name: in, size: 48, io: input, memory: dm},\n"
    "          {name: out, size: 48, io: output, memory: hm}]\n"
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 48, memory: hm}, {value: 3}], " SCALE
    "}\n"
    "  - {name: b, on: [d, h], " SCALE
    ",\n     members: [{args: [{in: x}, {out: y, size: 48, memory: hm}, {value: 2}]},\n"
    "               {args: [{in: x}, {out: z, size: 48, memory: hm}, {value: 5}]}]}\n"
    "  - loop: L\n    trip: 3\n    ops:\n"
    "      - {name: c, on: [d, h, h2], " SCALE
    ",\n         members: [{args: [{in: z}, {out: v, size: 48, memory: dm}, {value: 11}]},\n"
    "                   {args: [{in: y}, {out: u, size: 48, memory: hm}, {value: 7}]},\n"
    "                   {args: [{in: z}, {out: w, size: 48, memory: hm}, {value: 13}]}]}\n"
    "      - {name: s, on: dev, args: [{in: v}, {out: v2, size: 48, memory: hm}, {value: 1}], " SCALE
    "}\n"
    "      - {name: e, on: cpu, args: [{in: u}, {in: v2}, {in: w}, {out: out}], kernel: {module: m, "
    "function: sum}}\n";

static const char on_two_queues[] = TARGET(", host: true") BUFFERS
    "ops:\n"
    "  - {name: a, on: dev, args: [{in: in}, {out: x, size: 48, memory: hm}, {value: 3}], " SCALE
    "}\n"
    "  - loop: L\n    trip: 2\n    ops:\n"
    "      - {name: b, on: cpu2, args: [{in: x}, {out: y, size: 48, memory: hm}], " TWICE
    "}\n"
    "      - {name: c, on: cpu, args: [{in: x}, {out: w, size: 48, memory: hm}], " TWICE
    "}\n"
    "  - {name: e, on: dev, args: [{in: y}, {out: out}, {value: 1}], " SCALE "}\n";

static atomic_int calls, fails_at, told, elsewhere;

/* The last written arg: twice the arg that is read, plus 5 of the parameters, plus what an inout
 * had before. */
static int twice(const fsched_kernel_call *call) {
  const uint32_t *x = NULL;
  uint32_t *y = NULL;
  int number = atomic_fetch_add(&calls, 1) + 1;
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fsched_kernel_arg *a = &call->args[i];
    x = a->tag == FSCHED_IN ? a->data : x;
    y = a->tag != FSCHED_IN ? a->data : y;
  }
  for (uint32_t i = 0; i < 12; i++) {
    uint32_t old = call->n_args == 2 && call->args[1].tag == FSCHED_OUT ? 0 : y[i];
    y[i] = 2 * x[i] + ((const uint8_t *)call->params)[0] + old;
  }
  return number == atomic_load(&fails_at) ? 77 : 0;
}

static fsched_kernel_fn find_twice(void *user, const char *module, const char *function) {
  (void)user;
  return strcmp(module, "m") == 0 && strcmp(function, "twice") == 0 ? twice : NULL;
}

/* What the device's kernel of that name does. */
static int scale(const fsched_kernel_call *call) {
  const uint32_t *x = call->args[0].data;
  uint32_t *y = call->args[1].data;
  for (uint32_t i = 0; i < 12; i++) {
    y[i] = x[i] * (uint32_t)call->args[2].value + i;
  }
  atomic_fetch_add(&calls, 1);
  return 0;
}

static int sum(const fsched_kernel_call *call) {
  uint32_t *to = call->args[3].data;
  memset(to, 0, 48);
  for (uint32_t i = 0; i < 36; i++) {
    to[i % 12] += ((const uint32_t *)call->args[i / 12].data)[i % 12];
  }
  return 0;
}

static fsched_kernel_fn find_both(void *user, const char *module, const char *function) {
  (void)user, (void)module;
  return strcmp(function, "scale") == 0 ? scale : strcmp(function, "sum") == 0 ? sum : NULL;
}

/* The queue on which an op runs is told. */
static void check_queue(void *user, const fsched_kernel_run *run) {
  (void)user;
  if (run != NULL && strchr(run->op, '[') != NULL) {
    bool right = strcmp(run->queue, run->op[0] == 'b' ? "h2" : "h") == 0;
    atomic_fetch_add(&elsewhere, !right);
    atomic_fetch_add(&told, 1);
  }
}

static void run_by_hand(int loop, const char *text, uint32_t times, int called) {
  uint32_t in[12], out[12] = {0};
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = out, .bytes = sizeof out}};
  fsched_program *p = kit_compile(ctx, text);
  for (uint32_t i = 0; i < 12; i++) {
    in[i] = 100 + 7 * i;
  }
  atomic_store(&calls, 0);
  open_cuda((uint64_t)loop, loop,
            (fsched_device_options){.modules = "test/cuda_modules", .find = find_twice});
  fsched_replay_options o = {.size = sizeof o,
                             .device = device,
                             .bindings = b,
                             .n_bindings = 2,
                             .repeat = 3,
                             .in_flight = 1 + (uint32_t)loop % 2,
                             .pool_bytes = loop % 3 == 0 ? 16384 : 0};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  for (uint32_t i = 0; i < 12; i++) {
    uint32_t x = in[i] * 3 + i, y = times * (2 * x + 5);
    ck_assert_uint_eq(out[i], y + i);
  }
  ck_assert_int_eq(atomic_load(&calls), 3 * called);
  close_cuda();
  fsched_program_destroy(p);
}

START_TEST(device_and_host)
{
  run_by_hand(_i, there_and_back, 2, 2);
  run_by_hand(_i, in_a_loop, 5, 5);
  run_by_hand(_i, members_in_a_loop, 4, 8);
  run_by_hand(_i, on_two_queues, 1, 4);
}
END_TEST

/* Each member of the device runs the module's kernel, and each of the host the function. */
START_TEST(members_of_both)
{
  uint32_t in[12], out[12] = {0};
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = out, .bytes = sizeof out}};
  fsched_program *p = kit_compile(ctx, of_both);
  for (uint32_t i = 0; i < 12; i++) {
    in[i] = 100 + 7 * i;
  }
  atomic_store(&calls, 0);
  open_cuda((uint64_t)_i, _i,
            (fsched_device_options){.modules = "test/cuda_modules", .find = find_both});
  fsched_replay_options o = {.size = sizeof o,
                             .device = device,
                             .bindings = b,
                             .n_bindings = 2,
                             .repeat = 3,
                             .in_flight = 1 + (uint32_t)_i % 2};
  ck_fs(ctx, fsched_replay(ctx, p, &o, NULL));
  for (uint32_t i = 0; i < 12; i++) {
    uint32_t x = in[i] * 3 + i, y = 2 * x + i, z = 5 * x + i;
    ck_assert_uint_eq(out[i], 7 * y + i + (11 * z + i + i) + 13 * z + i);
  }
  ck_assert_int_eq(atomic_load(&calls), 3 * (1 + 3 * 2));
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

/* A loop's first queue is not that of all of its ops. */
START_TEST(queues_are_told)
{
  fsched_program *p = kit_compile(ctx, on_two_queues);
  fsched_replay_options o = {.size = sizeof o};
  open_cuda((uint64_t)_i, _i,
            (fsched_device_options){
                .modules = "test/cuda_modules", .find = find_twice, .kernel_runs = check_queue});
  atomic_store(&told, 0);
  atomic_store(&elsewhere, 0);
  o.device = device;
  ck_fs(ctx, fsched_replay(ctx, p, &o, NULL));
  ck_assert_int_eq(atomic_load(&told), 4);
  ck_assert_int_eq(atomic_load(&elsewhere), 0);
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

/* A kernel that fails ends its invocation with its cause, and the next one is right.  Its third
 * call is that of a member in a loop. */
START_TEST(failure)
{
  static const char *const text[] = {there_and_back, in_a_loop, members_in_a_loop};
  uint32_t in[12] = {0}, out[12];
  fsched_program *p = kit_compile(ctx, text[_i / 2]);
  int nth = _i / 2 == 2 ? 3 : 1;
  open_cuda((uint64_t)_i, _i,
            (fsched_device_options){.modules = "test/cuda_modules", .find = find_twice});
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *entry = kit_load(ctx, x, p);
  fsched_semaphore *t = kit_timeline();
  atomic_store(&calls, 0);
  atomic_store(&fails_at, nth);
  for (uint64_t k = 1; k <= 2; k++) {
    fsched_fence *end = kit_fence(ctx, t, k);
    const fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                                {.buffer = "out", .data = out, .bytes = sizeof out}};
    fsched_invocation v = {.size = sizeof v, .signal = end, .bindings = b, .n_bindings = 2};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    if (k == 1) {
      ck_assert_int_eq(fsched_fence_wait(end, KIT_LIMIT), 77);
      int beside = _i == 4; /* the other member, on a thread of its own; nothing runs behind it */
      ck_assert_int_ge(atomic_load(&calls), nth);
      ck_assert_int_le(atomic_load(&calls), nth + beside);
      fsched_semaphore_release(t);
      t = kit_timeline();
      fsched_exec_reset(x);
    } else {
      ck_assert_int_eq(fsched_fence_wait(end, KIT_LIMIT), FSCHED_CAUSE_NONE);
    }
    fsched_fence_release(end);
  }
  fsched_exec_destroy(x);
  fsched_semaphore_release(t);
  fsched_program_destroy(p);
}
END_TEST

static void must_refuse(int loop, const char *text, const char *why) {
  fsched_program *p = kit_compile(ctx, text);
  fsched_entry *entry;
  open_cuda(1, loop, (fsched_device_options){.modules = "test/cuda_modules", .find = find_twice});
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  kit_refused(ctx, fsched_exec_load(ctx, x, p, &entry), FSCHED_USAGE, "unsupported", why);
  fsched_exec_destroy(x);
  close_cuda();
  fsched_program_destroy(p);
}

START_TEST(what_the_host_reaches)
{
  must_refuse(_i, TARGET("") BUFFERS "ops: [{name: b, on: cpu, args: [{in: in}, {out: out}]}]\n",
              "op 'b' runs on 'h', a queue of the host, and touches memory 'dm', which is the "
              "device's");
  must_refuse(_i,
              TARGET("") "buffers: [{name: in, size: 4, io: input, memory: hm}]\n"
              "ops: [{name: b, on: cpu, args: [{in: in}], scratch: {dm: 8}}]\n",
              "touches memory 'hm'");
  must_refuse(_i,
              TARGET(", host: true") "buffers: [{name: in, size: 4, io: input, memory: hm}]\n"
              "ops: [{name: b, on: cpu, args: [{in: in}], scratch: {dm: 8}}]\n",
              "touches memory 'dm'");
  must_refuse(_i,
              TARGET(", host: true") "buffers: [{name: in, size: 4, io: input, memory: hm}]\n"
              "ops: [{name: b, on: [d, h], args: [{in: in}]}]\n",
              "op 'b' has queues of the host and of the device, which cannot run it once, together");
  must_refuse(_i,
              TARGET(", host: true") "buffers: [{name: in, size: 4, io: input, memory: dm}]\n"
              "ops: [{name: b, on: [d, h], members: [{args: []}, {args: [{in: in}]}]}]\n",
              "op 'b' runs on 'h', a queue of the host, and touches memory 'dm'");
  must_refuse(_i,
              TARGET(", host: true") "buffers: [{name: in, size: 64, io: input, memory: dm}]\n"
              "ops:\n  - loop: L\n    trip: 4\n    ops:\n"
              "      - {name: b, on: cpu, args: [{in: in, at: {length: 16, step: 16}}]}\n",
              "op 'b' runs on 'h', a queue of the host, and touches memory 'dm'");
  must_refuse(_i,
              TARGET(", host: true") "buffers: [{name: in, size: 4, io: input, memory: hm}]\n"
              "ops:\n  - loop: L\n    trip: 4\n    ops:\n"
              "      - {name: b, on: [d, h], args: [{in: in}]}\n",
              "op 'b' has queues of the host and of the device");
  must_refuse(_i,
              "fsched: 1\n"
              "target: {queues: [{name: d, class: dev}, {name: h, class: cpu, host: true}],\n"
              "  memories: [{name: dm, capacity: 32, backing: s, spill: {on: cpu}}, {name: s}]}\n"
              "buffers: [{name: in, size: 32, io: input, memory: dm},\n"
              "          {name: out, size: 16, io: output, memory: dm}]\n"
              "ops: [{name: b, on: dev, args: [{in: in}]},\n"
              "      {name: c, on: dev, args: [{out: out}]},\n"
              "      {name: e, on: dev, args: [{in: in}], after: [c]}]\n",
              "a queue of the host, and touches memory 'dm'");
}
END_TEST

/* A backing store is the host's, whatever it is called, and so are copies between it and such a
 * memory. */
START_TEST(copies_by_the_host)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: d, class: dev}, {name: h, class: cpu, host: true}],\n"
      "  memories: [{name: m, capacity: 64, host: true, backing: s, spill: {on: cpu}},\n"
      "             {name: s}]}\n"
      "buffers: [{name: in, size: 48, io: input, memory: m},\n"
      "          {name: out, size: 48, io: output, memory: m}]\n"
      "ops: [{name: b, on: dev, args: [{in: in}]}, {name: c, on: dev, args: [{out: out}]},\n"
      "      {name: e, on: dev, args: [{in: in}], after: [c]}]\n";
  fsched_program *p = kit_compile(ctx, text);
  ck_assert_uint_gt(p->view.queues[1].n_commands, 0);
  open_cuda((uint64_t)_i, _i, (fsched_device_options){0});
  fsched_replay_options o = {.size = sizeof o, .device = device, .repeat = 2, .check = 1};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  ck_assert_uint_gt(r.checked_bytes, 0);
  close_cuda();
  fsched_program_destroy(p);
}
END_TEST

/* Kernels that are missing are reported where they are to run: a device's module does not serve the
 * host, and the other way round. */
START_TEST(each_its_kernels)
{
  static const char wrong[] = TARGET(", host: true")
      "buffers: [{name: in, size: 48, io: input, memory: hm}]\n"
      "ops: [{name: b, on: cpu, args: [{in: in}], kernel: {module: kernels.ptx, function: none}}]\n";
  static const char other[] = TARGET(", host: true")
      "buffers: [{name: in, size: 48, io: input, memory: hm}]\n"
      "ops: [{name: b, on: dev, args: [{in: in}], kernel: {module: m, function: twice}}]\n";
  for (int k = 0; k < 2; k++) {
    fsched_program *p = kit_compile(ctx, k == 0 ? wrong : other);
    fsched_entry *entry;
    open_cuda(1, _i, (fsched_device_options){.modules = "test/cuda_modules", .find = find_twice});
    fsched_exec *x = kit_exec(ctx, device, NULL, 1);
    kit_refused(ctx, fsched_exec_load(ctx, x, p, &entry), FSCHED_REPLAY, "replay-kernel", "op 'b'");
    fsched_exec_destroy(x);
    close_cuda();
    fsched_program_destroy(p);
  }
}
END_TEST

/* A function in a graph that does not return is named and given up like a kernel of the device. */
START_TEST(hanging)
{
  static const struct {
    const char *text, *where;
    uint64_t nth;
  } of[] = {{there_and_back, "(op 'b')", 1},
            {in_a_loop, "(op 'L', iteration 0 of 'b')", 2},
            {members_in_a_loop, "(op 'L', iteration 1 of 'b')", 5}};
  uint32_t in[12] = {0}, out[12];
  fsched_program *p = kit_compile(ctx, of[_i].text);
  fsched_device_options d = {.size = sizeof d,
                             .kind = "cuda-graph",
                             .driver = fake.path,
                             .modules = "test/cuda_modules",
                             .find = find_twice};
  fake.reset(&(fake_cuda_controls){.seed = (uint64_t)_i, .hang = "host", .hang_at = of[_i].nth});
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_semaphore *t = kit_timeline();
  fsched_fence *end = kit_fence(ctx, t, 1);
  const fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                              {.buffer = "out", .data = out, .bytes = sizeof out}};
  fsched_invocation v = {.size = sizeof v, .signal = end, .bindings = b, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, kit_load(ctx, x, p), &v));
  fsched_cause cause;
  ck_assert_int_eq(fsched_exec_wait(ctx, x, end, KIT_LIMIT, 20000000, &cause), FSCHED_REPLAY);
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message,
                               "its kernel, function 'twice' of module 'm', has not returned"));
  ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, of[_i].where) != NULL, "%s",
                fsched_diag_get(ctx, 0)->message);
  fsched_exec_destroy(x);
  fsched_fence_release(end);
  fsched_semaphore_release(t);
  fsched_program_destroy(p);
  fsched_device_release(device);
  device = NULL;
}
END_TEST

FS_SUITE(cuda_host, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 2, any_graph, loops);
  FS_LOOPS(t, 0, 12, device_and_host, members_of_both);
  FS_LOOPS(t, 0, 6, failure);
  FS_LOOPS(t, 0, 4, queues_are_told);
  FS_LOOPS(t, 0, 2, what_the_host_reaches, copies_by_the_host, each_its_kernels);
  TCase *h = fs_case(s, fs_test_context);
  fs_test_fake_cuda(h);
  if (!cuda_is_real()) {
    FS_LOOPS(h, 0, 3, hanging);
  }
}
