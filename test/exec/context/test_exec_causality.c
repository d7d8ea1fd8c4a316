/* SPDX-License-Identifier: Apache-2.0 */
/* What signals carry, compared with an account by the test of what came before what.
 *
 * Random graphs of invocations run on several contexts of several devices.  Some fail; signals of
 * the host and allocations are among them; all are made in any order.  Kernels write down when they
 * began and ended, and watchers what each signal brought and when.  Afterwards the test checks, by
 * a search in the graph and by these times:
 *
 *   own     each event of the library has one entry that nobody else has; on an axis these are the
 *           epochs from 1 on without a gap, in the order in which the events ran
 *   sound   what an entry claims was over by then, and came before, by the graph or on its axis
 *   exact   a frontier is tainted just when the host has signalled before it without saying what
 *           it knew; an untainted one dominates all that came before it
 *   real    what is dominated came before
 *
 * Only public functions are used. */
#include "exec/context/exec_kit.h"
#include "kit/suite.h"

enum {
  NODES = 36,
  EVENTS = 2 * NODES + 8,
  EXECS = 4,
  ROOM = 256,     /* entries: more than there are axes */
  LINE = 8,       /* points of the timeline that all events share */
  POOL_NODES = 7, /* an allocation knows 16 entries, two of each of these and its own */
  ROUNDS = KIT_SLOW ? 10 : 80
};

typedef enum event_kind {
  INVOKED,
  OUTPUT,
  ALLOCATED,
  HOST_SAYS,
  HOST_IS_SILENT,
  SHARED
} event_kind;

/* Something that is signalled, on a timeline of its own or at a point of the shared one. */
typedef struct exec_causality_event {
  event_kind kind;
  uint32_t node;
  fsched_semaphore *timeline;
  uint64_t value;
  bool sure[EVENTS], may[EVENTS]; /* what it waits for, and what it has perhaps waited for */
  uint32_t rank;                  /* no context above this one is needed to reach it */
  fsched_timepoint watch;
  fsched_frontier known;
  fsched_frontier_entry entries[ROOM];
  fsched_cause cause;
  uint64_t learnt;       /* when its signal was learnt */
  uint64_t without_data; /* nodes' allocations without data at that time */
  fsched_frontier_entry own;
} exec_causality_event;

typedef struct exec_causality_node {
  uint32_t event, output; /* output: FSCHED_NONE: not signalled by itself */
  uint32_t exec, program;
  fsched_fence *wait, *late, *signal, *output_signal;
  bool fails;
  uint64_t in, out;
  _Atomic uint64_t begun, ended; /* by its kernels; 0: not */
  _Atomic(fsched_allocation *) allocation;
} exec_causality_node;

typedef struct exec_causality_world {
  fsched_context *ctx;
  fsched_device *device[2];
  fsched_pool *pool;
  fsched_program *program[2];
  fsched_exec *exec[EXECS];
  fsched_entry *entry[EXECS][2];
  fsched_semaphore *line; /* for all */
  uint64_t seed;
  uint32_t n_nodes, n_events;
  exec_causality_node node[NODES];
  exec_causality_event event[EVENTS];
  kit_count learnt;
  _Atomic uint64_t clock;
} exec_causality_world;

static exec_causality_world w;

static uint64_t dice(uint64_t n) {
  w.seed ^= w.seed << 13;
  w.seed ^= w.seed >> 7;
  w.seed ^= w.seed << 17;
  return w.seed % n;
}

static uint64_t now(void) { return atomic_fetch_add(&w.clock, 1) + 1; }

/* A kernel of a node; its value is the node's number, and says whether it fails. */
static int step(const fsched_kernel_call *call) {
  exec_causality_node *n = &w.node[kit_value(call) / 2];
  uint64_t none = 0;
  (void)atomic_compare_exchange_strong(&n->begun, &none, now());
  (void)kit_add(call);
  n->ended = now();
  return kit_value(call) % 2 != 0 ? 7 : 0;
}

static const kit_kernel kernels[] = {{"step", step}, {NULL, NULL}};

/* The second graph has two ops that need not meet: an output may be there long before the other. */
static const char one_op[] = KIT_ONE("step");
static const char two_ops[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: in, size: 8, io: input}, {name: out, size: 8, io: output},\n"
    "          {name: other, size: 8, io: output}]\n"
    "ops:\n"
    "  - {name: f, args: [{in: in}, {value: 1}, {out: out}], on: p, " KIT_KERNEL("step") "}\n"
    "  - {name: g, args: [{out: other}, {value: 1}], on: q, " KIT_KERNEL("step") "}\n";

/* Making the graph */

/* Which nodes' allocations that the test knows of have no data yet. */
static uint64_t look_at_data(void) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < NODES; i++) {
    const fsched_allocation *a = w.node[i].allocation;
    bits |= (uint64_t)(a != NULL && fsched_allocation_data(a) == NULL) << i;
  }
  return bits;
}

static void learnt(fsched_timepoint *t, fsched_cause cause) {
  exec_causality_event *e = t->user;
  e->cause = cause;
  e->without_data = look_at_data();
  e->learnt = now();
  (void)kit_count_one(&w.learnt);
}

static exec_causality_event *add_event(event_kind kind, uint32_t of, fsched_semaphore *timeline,
                                       uint64_t value) {
  exec_causality_event *e = &w.event[w.n_events++];
  ck_assert_uint_le(w.n_events, EVENTS);
  memset(e, 0, sizeof *e);
  e->kind = kind;
  e->node = of;
  e->timeline = timeline;
  e->value = value;
  fsched_semaphore_options o = {.size = sizeof o, .frontier_capacity = ROOM};
  if (timeline == NULL) {
    ck_assert_int_eq(fsched_semaphore_create(&o, &e->timeline), FSCHED_OK);
  } else {
    fsched_semaphore_retain(timeline);
  }
  e->known = (fsched_frontier){.entry = e->entries, .capacity = ROOM};
  e->watch = (fsched_timepoint){.callback = learnt, .user = e, .known = &e->known};
  ck_fs(w.ctx, fsched_semaphore_await(e->timeline, e->value, &e->watch, NULL));
  return e;
}

static uint32_t index_of(const exec_causality_event *e) { return (uint32_t)(e - w.event); }

/* Makes a fence of some of the events of the first nodes.  Where a slot is held meanwhile (`below`
 * is that of its context) it takes only events that need contexts below, so that no two wait for
 * each other's slot. */
static fsched_fence *come_after(bool *before, uint32_t among, uint32_t below, uint32_t *rank) {
  fsched_fence_point p[3];
  fsched_fence *fence = NULL;
  uint32_t n = 0, most = among == 0 ? 0 : (uint32_t)dice(4);
  for (uint32_t k = 0; k < most; k++) {
    const exec_causality_node *other = &w.node[dice(among)];
    uint32_t which = other->output != FSCHED_NONE && dice(2) == 0 ? other->output : other->event;
    const exec_causality_event *e = &w.event[which];
    if (before[which] || e->rank >= below) {
      continue;
    }
    before[which] = true;
    *rank = e->rank > *rank ? e->rank : *rank;
    p[n++] = (fsched_fence_point){e->timeline, e->value};
  }
  if (n > 0) {
    ck_fs(w.ctx, fsched_fence_create(w.ctx, p, n, &fence));
  }
  return fence;
}

static fsched_fence *signal_of(const exec_causality_event *e, bool share) {
  const fsched_fence_point p[] = {{e->timeline, e->value}, {w.line, 1 + dice(LINE)}};
  fsched_fence *f;
  ck_fs(w.ctx, fsched_fence_create(w.ctx, p, 1 + (uint32_t)share, &f));
  return f;
}

static void make_invocation(exec_causality_node *n) {
  uint32_t of = w.n_nodes;
  n->exec = (uint32_t)dice(EXECS);
  n->program = (uint32_t)dice(2);
  n->fails = dice(40) == 0;
  bool before[EVENTS] = {false}, late[EVENTS] = {false};
  uint32_t rank = n->exec;
  n->wait = come_after(before, of, UINT32_MAX, &rank);
  n->late = dice(3) == 0 ? come_after(late, of, n->exec, &rank) : NULL;
  exec_causality_event *output = dice(3) == 0 ? add_event(OUTPUT, of, NULL, 1) : NULL;
  exec_causality_event *e = add_event(INVOKED, of, NULL, 1);
  for (uint32_t i = 0; i < EVENTS; i++) {
    e->sure[i] = before[i] || late[i];
    if (output != NULL) {
      output->sure[i] = before[i];
      output->may[i] = before[i] || late[i];
    }
  }
  n->output = FSCHED_NONE;
  e->rank = rank;
  if (output != NULL) {
    n->output = index_of(output);
    n->output_signal = signal_of(output, false);
    output->rank = rank;
    e->sure[n->output] = true;
  }
  n->event = index_of(e);
  n->signal = signal_of(e, dice(4) == 0);
}

static void make_other(exec_causality_node *n, event_kind kind) {
  bool before[EVENTS] = {false};
  uint32_t rank = 0;
  uint32_t among = w.n_nodes < POOL_NODES ? w.n_nodes : POOL_NODES;
  n->wait = kind == ALLOCATED ? come_after(before, among, UINT32_MAX, &rank) : NULL;
  exec_causality_event *e = add_event(kind, w.n_nodes, NULL, 1);
  memcpy(e->sure, before, sizeof before);
  e->rank = rank;
  n->exec = EXECS;
  n->output = FSCHED_NONE;
  n->event = index_of(e);
  n->signal = signal_of(e, false);
}

static void make_graph(void) {
  w.n_nodes = w.n_events = 0;
  memset(w.node, 0, sizeof w.node);
  bool silent = dice(2) == 0;
  for (; w.n_nodes < NODES; w.n_nodes++) {
    exec_causality_node *n = &w.node[w.n_nodes];
    uint64_t kind = dice(12);
    if (kind == 0 || (kind == 1 && silent)) {
      make_other(n, kind == 0 ? HOST_SAYS : HOST_IS_SILENT);
    } else if (kind == 2) {
      make_other(n, ALLOCATED);
    } else {
      make_invocation(n);
    }
  }
  for (uint64_t v = 1; v <= LINE; v++) {
    (void)add_event(SHARED, FSCHED_NONE, w.line, v);
  }
}

/* Running it */

static void ask(fsched_context *ctx, exec_causality_node *n) {
  const exec_causality_event *e = &w.event[n->event];
  if (e->kind == ALLOCATED) {
    fsched_allocation *a;
    ck_fs(ctx, fsched_pool_alloc(ctx, w.pool, 256, n->wait, n->signal, &a));
    n->allocation = a;
  } else if (e->kind == HOST_SAYS) {
    ck_fs(ctx, fsched_fence_publish(n->signal, NULL));
  } else if (e->kind == HOST_IS_SILENT) {
    ck_fs(ctx, fsched_fence_signal(n->signal));
  } else {
    int64_t value = 2 * (n - w.node) + n->fails;
    const fsched_parameter values[] = {{"f", 1, value}, {"g", 1, value}};
    const fsched_binding b[] = {
        {.buffer = "in", .data = &n->in, .bytes = 8, .wait = n->late},
        {.buffer = "out", .data = &n->out, .bytes = 8, .signal = n->output_signal}};
    fsched_invocation v = {.size = sizeof v,
                           .wait = n->wait,
                           .signal = n->signal,
                           .bindings = b,
                           .n_bindings = 2,
                           .parameters = values,
                           .n_parameters = 1 + n->program};
    ck_fs(ctx, fsched_invoke(ctx, w.entry[n->exec][n->program], &v));
  }
}

/* Makes every second node of a random order. */
typedef struct asker {
  pthread_t thread;
  uint32_t first;
  const uint32_t *order;
} asker;

static void *ask_all(void *user) {
  const asker *a = user;
  fsched_context *ctx;
  ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK);
  for (uint32_t i = a->first; i < NODES; i += 2) {
    ask(ctx, &w.node[a->order[i]]);
  }
  fsched_context_destroy(ctx);
  return NULL;
}

static void open_world(void) {
  const char *kinds[] = {"cpu", "sim"};
  for (int i = 0; i < 2; i++) {
    fsched_device_options o = {
        .size = sizeof o, .kind = kinds[i], .find = kit_find, .find_user = (void *)kernels};
    ck_fs(w.ctx, fsched_device_create(w.ctx, &o, &w.device[i]));
  }
  ck_fs(w.ctx, fsched_pool_create(w.ctx, w.device[0], 1 << 20, &w.pool));
  w.program[0] = kit_compile(w.ctx, one_op);
  w.program[1] = kit_compile(w.ctx, two_ops);
  for (uint32_t i = 0; i < EXECS; i++) {
    fsched_exec_options o = {.size = sizeof o,
                             .device = w.device[i % 2],
                             .in_flight = 1 + (uint32_t)dice(4),
                             .frontier_capacity = ROOM};
    ck_fs(w.ctx, fsched_exec_create(w.ctx, &o, &w.exec[i]));
    w.entry[i][0] = kit_load(w.ctx, w.exec[i], w.program[0]);
    w.entry[i][1] = kit_load(w.ctx, w.exec[i], w.program[1]);
  }
  fsched_semaphore_options o = {.size = sizeof o, .frontier_capacity = ROOM};
  ck_assert_int_eq(fsched_semaphore_create(&o, &w.line), FSCHED_OK);
  kit_count_open(&w.learnt);
}

static void run(void) {
  uint32_t order[NODES];
  for (uint32_t i = 0; i < NODES; i++) {
    uint32_t k = (uint32_t)dice(i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  asker a[2] = {{.first = 0, .order = order}, {.first = 1, .order = order}};
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(pthread_create(&a[i].thread, NULL, ask_all, &a[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(pthread_join(a[i].thread, NULL), 0);
  }
  ck_assert_int_eq(kit_await(w.learnt.timeline, w.n_events - LINE), FSCHED_CAUSE_NONE);
  (void)fsched_semaphore_fail(w.line, 9); /* this ends waits for points that nobody signals */
  ck_assert_int_eq(kit_await(w.learnt.timeline, w.n_events), FSCHED_CAUSE_NONE);
}

static void close_world(void) {
  for (uint32_t i = 0; i < EXECS; i++) {
    fsched_exec_destroy(w.exec[i]);
  }
  for (uint32_t i = 0; i < NODES; i++) {
    exec_causality_node *n = &w.node[i];
    fsched_fence *all[] = {n->wait, n->late, n->signal, n->output_signal};
    for (int k = 0; k < 4; k++) {
      fsched_fence_release(all[k]);
    }
  }
  for (uint32_t i = 0; i < w.n_events; i++) {
    fsched_semaphore_release(w.event[i].timeline);
  }
  fsched_semaphore_release(w.line);
  kit_count_close(&w.learnt);
  fsched_pool_destroy(w.pool);
  for (int i = 0; i < 2; i++) {
    fsched_program_destroy(w.program[i]);
    fsched_device_release(w.device[i]);
  }
}

/* The account: came[i][k] says that k came before i, or is i.  Events are in an order of the
 * graph. */

static bool came[EVENTS][EVENTS], may[EVENTS][EVENTS];
/* By what came before, and by what may have come before. */
static bool tainted[EVENTS], perhaps[EVENTS];

static bool is_over(const exec_causality_event *e) { return e->cause == FSCHED_CAUSE_NONE; }

static void add_closure(bool *to, const bool *before, bool (*of)[EVENTS]) {
  for (uint32_t k = 0; k < w.n_events; k++) {
    for (uint32_t j = 0; before[k] && j < w.n_events; j++) {
      to[j] |= of[k][j];
    }
  }
}

static void search(void) {
  memset(came, 0, sizeof came);
  memset(may, 0, sizeof may);
  memset(tainted, 0, sizeof tainted);
  memset(perhaps, 0, sizeof perhaps);
  for (uint32_t i = 0; i < w.n_events; i++) {
    const exec_causality_event *e = &w.event[i];
    came[i][i] = may[i][i] = true;
    add_closure(came[i], e->sure, came);
    add_closure(may[i], e->sure, may);
    add_closure(may[i], e->may, may);
    for (uint32_t k = 0; k < w.n_events; k++) {
      tainted[i] |= came[i][k] && w.event[k].kind == HOST_IS_SILENT;
      perhaps[i] |= may[i][k] && w.event[k].kind == HOST_IS_SILENT;
    }
  }
}

/* Finds its own entry, which none of the events it has waited for has. */
static void find_own(exec_causality_event *e) {
  fsched_frontier_entry entries[ROOM], found[2];
  fsched_frontier before = {.entry = entries, .capacity = ROOM};
  for (uint32_t k = 0; k < w.n_events; k++) {
    if (e->sure[k] || e->may[k]) {
      fsched_frontier_merge(&before, &w.event[k].known);
    }
  }
  e->own = (fsched_frontier_entry){0};
  if (e->kind == SHARED) {
    return;
  }
  bool library = e->kind == INVOKED || e->kind == OUTPUT || e->kind == ALLOCATED;
  uint32_t n = fsched_frontier_undominated(&before, &e->known, found, 2);
  ck_assert_uint_eq(n, library && is_over(e));
  if (n == 1) {
    e->own = found[0];
  }
}

static exec_causality_event *find_event(fsched_axis axis, uint64_t epoch) {
  for (uint32_t i = 0; i < w.n_events; i++) {
    if (w.event[i].own.axis == axis && w.event[i].own.epoch == epoch) {
      return &w.event[i];
    }
  }
  return NULL;
}

/* Its own entry is the only one of its epoch, and the event one epoch earlier ended before it
 * began. */
static void check_own(const exec_causality_event *e) {
  if (e->own.epoch == 0) {
    return;
  }
  ck_assert_uint_eq(fsched_axis_split(e->own.axis).session, FSCHED_SESSION_LOCAL);
  ck_assert_ptr_eq(find_event(e->own.axis, e->own.epoch), e);
  const exec_causality_event *last =
      e->own.epoch == 1 ? NULL : find_event(e->own.axis, e->own.epoch - 1);
  ck_assert(e->own.epoch == 1 || last != NULL);
  if (last != NULL) {
    ck_assert_int_eq(last->kind, e->kind);
    ck_assert_uint_eq(w.node[last->node].exec, w.node[e->node].exec);
    ck_assert_uint_eq(w.node[last->node].program, w.node[e->node].program);
  }
  if (last != NULL && e->kind == INVOKED) {
    ck_assert_uint_lt(w.node[last->node].ended, w.node[e->node].begun);
  }
}

static bool on_axis_before(const exec_causality_event *claimed, const bool *known) {
  for (uint32_t k = 0; k < w.n_events; k++) {
    const exec_causality_event *e = &w.event[k];
    if (known[k] && e->own.axis == claimed->own.axis && e->own.epoch >= claimed->own.epoch) {
      return true;
    }
  }
  return false;
}

/* All epochs up to the claimed entry's were over when the event was learnt. */
static void check_claim(const exec_causality_event *e, fsched_frontier_entry claim) {
  for (uint64_t epoch = 1; epoch <= claim.epoch; epoch++) {
    const exec_causality_event *c = find_event(claim.axis, epoch);
    ck_assert_ptr_nonnull(c);
    const exec_causality_node *n = &w.node[c->node];
    if (c->kind == ALLOCATED) {
      ck_assert(!(e->without_data >> c->node & 1));
    } else {
      ck_assert_uint_lt(c->kind == OUTPUT ? n->begun : n->ended, e->learnt);
    }
    ck_assert(e->kind == SHARED || on_axis_before(c, may[e - w.event]));
  }
}

static void check_known(const exec_causality_event *e) {
  uint32_t i = index_of(e);
  ck_assert_int_eq(fsched_frontier_validate(&e->known), FSCHED_OK);
  if (!is_over(e)) {
    ck_assert_uint_eq(e->known.n, 0);
    return;
  }
  for (uint32_t k = 0; k < e->known.n; k++) {
    check_claim(e, e->known.entry[k]);
  }
  if (e->kind == SHARED) {
    return;
  }
  ck_assert(e->known.tainted || !tainted[i]);
  ck_assert(!e->known.tainted || perhaps[i]);
  for (uint32_t k = 0; k < w.n_events && w.event[k].kind != SHARED; k++) {
    const exec_causality_event *f = &w.event[k];
    bool dominates = is_over(f) && fsched_frontier_dominates(&e->known, &f->known);
    if (came[i][k] && !perhaps[i] && !dominates) {
      char a[4000], b[4000];
      fsched_frontier_print(&e->known, a, sizeof a);
      fsched_frontier_print(&f->known, b, sizeof b);
      ck_abort_msg("event %u (%d) has %s, it came after %u (%d): %s", i, e->kind, a, k, f->kind, b);
    }
    if (dominates && f->own.epoch > 0) {
      ck_assert(on_axis_before(f, may[i]));
      ck_assert(f->kind != INVOKED || w.node[f->node].ended < e->learnt);
    }
  }
}

START_TEST(signals_tell_what_came_before)
{
  uint64_t over = 0, failed = 0, clean = 0;
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    memset(&w, 0, sizeof w);
    ck_assert_int_eq(fsched_context_create(NULL, &w.ctx), FSCHED_OK);
    w.seed = round * 0x9E3779B97F4A7C15u + (uint64_t)_i;
    open_world();
    make_graph();
    run();
    search();
    for (uint32_t i = 0; i < w.n_events; i++) {
      find_own(&w.event[i]);
    }
    for (uint32_t i = 0; i < w.n_events; i++) {
      const exec_causality_event *e = &w.event[i];
      check_own(e);
      check_known(e);
      over += is_over(e);
      failed += !is_over(e) && e->kind != SHARED;
      clean += is_over(e) && !e->known.tainted && e->kind == INVOKED;
    }
    close_world();
    fsched_context_destroy(w.ctx);
  }
  ck_assert_uint_gt(failed, ROUNDS / 2);
  ck_assert_uint_gt(over, 10 * ROUNDS);
  ck_assert_uint_gt(clean, 5 * ROUNDS);
}
END_TEST

FS_SUITE(exec_causality, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 240);
  FS_LOOPS(t, 0, 2, signals_tell_what_came_before);
}
