/* SPDX-License-Identifier: Apache-2.0 */
/* What commands of a compiled program know, and what became of every wait that was wanted: small
 * cases with known answers, and properties of random programs, compared with plain arrays. */
#include <stdlib.h>
#include <string.h>
#include "kit/quick.h"

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/suite.h"
#include "model/graph.h"
#include "model/handle.h"
#include "model/stream/order.h"
#include "model/stream/stream.h"

typedef struct causality_compiled {
  fsched_context *ctx;
  fsched_builder *b;
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *p;
  const fs_sync *y;
  uint32_t n_ops;
} causality_compiled;

static void begin(causality_compiled *t) {
  *t = (causality_compiled){0};
  ck_assert_int_eq(fsched_context_create(NULL, &t->ctx), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_create(t->ctx, "causality", &t->b), FSCHED_OK);
}

static void queue_on(causality_compiled *t, const char *name, uint32_t device, uint32_t machine) {
  uint32_t id;
  fsched_queue_desc d = {
      .size = sizeof d, .name = name, .queue_class = name, .device = device, .machine = machine};
  ck_assert_int_eq(fsched_builder_queue(t->b, &d, &id), FSCHED_OK);
}

/* Adds queues, named by the letters of `names`. */
static void queues(causality_compiled *t, const char *names) {
  for (; *names != '\0'; names++) {
    char name[] = {*names, '\0'};
    queue_on(t, name, 0, 0);
  }
}

/* Adds an op on the queues named by the letters of `on` (several are a gang), after other ops
 * (FSCHED_NONE: none). */
static uint32_t op(causality_compiled *t, const char *on, uint64_t time, uint32_t a, uint32_t b,
                   uint32_t c) {
  char letter[8][2];
  const char *gang[8];
  bool alone = on[0] == '+';
  on += alone;
  uint32_t n = 0;
  for (; on[n] != '\0'; n++) {
    letter[n][0] = on[n];
    letter[n][1] = '\0';
    gang[n] = letter[n];
  }
  uint32_t id;
  char name[32];
  (void)snprintf(name, sizeof name, "op%u", (unsigned)t->n_ops++);
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = letter[0], .time = time};
  if (n > 1 || alone) {
    d.gang = gang;
    d.n_gang = n;
  }
  ck_assert_int_eq(fsched_builder_op(t->b, &d, &id), FSCHED_OK);
  const uint32_t after[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    if (after[i] != FSCHED_NONE) {
      ck_assert_int_eq(fsched_builder_after(t->b, id, after[i]), FSCHED_OK);
    }
  }
  return id;
}

static void compile(causality_compiled *t) {
  fsched_compile_options options = {.size = sizeof options, .effort = FS_QUICK, .verify = 1};
  ck_assert_msg(fsched_compile(t->ctx, t->g, &options, &t->s, &t->p) == FSCHED_OK, "%s",
                fsched_diag_count(t->ctx) > 0 ? fsched_diag_get(t->ctx, 0)->message : "?");
  t->y = t->s->sync;
}

static void finish(causality_compiled *t) {
  ck_assert_int_eq(fsched_builder_finish(t->b, &t->g), FSCHED_OK);
  compile(t);
}

static void end(causality_compiled *t) {
  fsched_program_destroy(t->p);
  fsched_schedule_destroy(t->s);
  fsched_graph_destroy(t->g);
  fsched_builder_destroy(t->b);
  fsched_context_destroy(t->ctx);
}

static uint32_t command_of(const causality_compiled *t, uint32_t op) {
  return t->y->item_command[t->y->item_command0[op]];
}

/* "axis:epoch axis:epoch", axes by number. */
static const char *list(const fs_wait *w, uint32_t n, char *text) {
  char *at = text;
  *at = '\0';
  for (uint32_t i = 0; i < n; i++) {
    at += sprintf(at, "%s%u:%u", i == 0 ? "" : " ", w[i].axis, w[i].epoch);
  }
  return text;
}
static void check_waits(const causality_compiled *t, uint32_t op, const char *wanted) {
  char text[256];
  uint32_t c = command_of(t, op);
  uint32_t first = t->y->wait0[c];
  ck_assert_str_eq(list(t->y->wait + first, t->y->wait0[c + 1] - first, text), wanted);
}
static void check_frontier(const causality_compiled *t, uint32_t op, const char *wanted) {
  char text[256];
  uint32_t c = command_of(t, op);
  uint32_t first = t->y->frontier0[c];
  ck_assert_str_eq(list(t->y->frontier + first, t->y->frontier0[c + 1] - first, text), wanted);
  ck_assert(!t->y->tainted[c]);
}
static void check_counts(const causality_compiled *t, uint32_t same_queue, uint32_t exact,
                         uint32_t frontier, uint32_t emitted) {
  const fs_sync *y = t->y;
  ck_assert_uint_eq(y->waits_same_queue, same_queue);
  ck_assert_uint_eq(y->waits_dominated_exact, exact);
  ck_assert_uint_eq(y->waits_dominated, exact + frontier);
  ck_assert_uint_eq(y->waits_emitted, emitted);
  ck_assert_uint_eq(y->waits_edges, same_queue + exact + frontier + emitted);
}

enum { NO = FSCHED_NONE };

/* --- small cases --- */

/* A command that waits late for an early value learns that value, not what has come since. */
START_TEST(late_waiter_learns_no_later_value)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "ab");
  uint32_t a1 = op(&t, "a", 1, NO, NO, NO);
  uint32_t a2 = op(&t, "a", 1, a1, NO, NO);
  uint32_t x = op(&t, "b", 10, NO, NO, NO);
  uint32_t late = op(&t, "b", 1, a1, x, NO);
  finish(&t);
  ck_assert_uint_lt(t.s->schedule->end[a2], t.s->schedule->start[late]);
  check_waits(&t, late, "0:1");
  check_frontier(&t, late, "0:1 1:2");
  check_frontier(&t, a2, "0:2");
  end(&t);
}
END_TEST

START_TEST(independent_streams_are_disjoint)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "abcd");
  uint32_t last[2] = {NO, NO};
  for (int i = 0; i < 10; i++) {
    last[0] = op(&t, i % 2 == 0 ? "a" : "b", 1, last[0], NO, NO);
    last[1] = op(&t, i % 2 == 0 ? "c" : "d", 2, last[1], NO, NO);
  }
  finish(&t);
  check_frontier(&t, last[0], "0:5 1:5");
  check_frontier(&t, last[1], "2:5 3:5");
  for (uint32_t c = 0; c < t.y->n_commands; c++) {
    bool upper = c >= t.y->queue_command0[2];
    for (uint32_t i = t.y->frontier0[c]; i < t.y->frontier0[c + 1]; i++) {
      ck_assert_int_eq(t.y->frontier[i].axis >= 2, upper);
    }
  }
  end(&t);
}
END_TEST

/* Axis 9 is the gang's; its wait and its entry stand for the eight members. */
START_TEST(collective_of_eight_is_one_entry)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "abcdefghz");
  uint32_t gang = op(&t, "abcdefgh", 1, NO, NO, NO);
  uint32_t after = op(&t, "z", 1, gang, NO, NO);
  finish(&t);
  check_waits(&t, after, "9:1");
  check_frontier(&t, after, "8:1 9:1");
  check_counts(&t, 0, 0, 0, 1);
  for (uint32_t m = 0; m < 8; m++) {
    ck_assert(t.y->signal[t.y->item_command[t.y->item_command0[gang] + m]]);
  }
  end(&t);
}
END_TEST

/* a -> b -> c -> d, and d wants a and b too: it learns of both through c. */
START_TEST(knowledge_through_three_queues)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "abcd");
  uint32_t a = op(&t, "a", 1, NO, NO, NO);
  uint32_t b = op(&t, "b", 1, a, NO, NO);
  uint32_t c = op(&t, "c", 1, b, NO, NO);
  uint32_t d = op(&t, "d", 1, a, b, c);
  finish(&t);
  check_waits(&t, d, "2:1");
  check_frontier(&t, d, "0:1 1:1 2:1 3:1");
  check_counts(&t, 0, 0, 2, 3);
  end(&t);
}
END_TEST

/* The exact tier: an earlier command has waited for it or for more, or another wait of the same
 * command does. */
START_TEST(exact_tier)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "ab");
  uint32_t a1 = op(&t, "a", 1, NO, NO, NO);
  uint32_t a2 = op(&t, "a", 1, a1, NO, NO);
  uint32_t b1 = op(&t, "b", 1, a1, a2, NO);
  uint32_t b2 = op(&t, "b", 1, a2, b1, NO);
  uint32_t b3 = op(&t, "b", 1, a1, b2, NO);
  finish(&t);
  check_waits(&t, b1, "0:2");
  check_waits(&t, b2, "");
  check_waits(&t, b3, "");
  check_counts(&t, 3, 3, 0, 1);
  end(&t);
}
END_TEST

/* A gang is known exactly when its axis was waited for. */
START_TEST(tiers_of_gangs)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "abc");
  uint32_t gang = op(&t, "ab", 1, NO, NO, NO);
  uint32_t a = op(&t, "a", 1, gang, NO, NO);
  uint32_t again = op(&t, "a", 1, gang, a, NO);
  uint32_t c = op(&t, "c", 1, again, gang, NO);
  finish(&t);
  check_waits(&t, a, "3:1"); /* the other member is not known from the queue's own */
  check_waits(&t, again, "");
  check_waits(&t, c, "0:3");
  check_counts(&t, 1, 1, 1, 2);
  end(&t);
}
END_TEST

START_TEST(gang_of_one)
{
  causality_compiled t;
  begin(&t);
  queues(&t, "ab");
  uint32_t gang = op(&t, "+a", 1, NO, NO, NO);
  uint32_t a = op(&t, "a", 1, gang, NO, NO);
  uint32_t b = op(&t, "b", 1, gang, NO, NO);
  finish(&t);
  ck_assert_uint_ne(t.g->op_gang[gang], FS_NONE);
  check_waits(&t, a, "");
  check_waits(&t, b, "2:1");
  check_counts(&t, 1, 0, 0, 1);
  end(&t);
}
END_TEST

/* --- properties of random programs --- */

typedef struct causality_totals {
  uint32_t programs, exact, frontier, scope[FS_SCOPE_SYSTEM + 1], own_gang;
} causality_totals;

/* What every command knows before it starts, per command and queue, from queue order and waits. */
typedef struct knowledge {
  const causality_compiled *t;
  uint32_t *before;
  uint32_t *position; /* per item */
} knowledge;

static uint32_t *before(const knowledge *k, uint32_t command) {
  return k->before + (size_t)command * k->t->s->schedule->n_queues;
}

static uint32_t queue_of(const knowledge *k, uint32_t command) {
  uint32_t q = 0;
  while (command >= k->t->y->queue_command0[q + 1]) {
    q++;
  }
  return q;
}
static uint32_t epoch_of(const knowledge *k, uint32_t command) {
  return command - k->t->y->queue_command0[queue_of(k, command)] + 1;
}

static void learn(const knowledge *k, uint32_t command, uint32_t from) {
  uint32_t *to = before(k, command);
  for (uint32_t q = 0; q < k->t->s->schedule->n_queues; q++) {
    to[q] = (uint32_t)fs_max(to[q], before(k, from)[q]);
  }
  uint32_t q = queue_of(k, from);
  to[q] = (uint32_t)fs_max(to[q], epoch_of(k, from));
}

/* The item that a wait is for. */
static uint32_t item_of(const causality_compiled *t, fs_wait w) {
  const fs_sync *y = t->y;
  if (w.axis < t->s->schedule->n_queues) {
    return y->command_item[y->queue_command0[w.axis] + w.epoch - 1];
  }
  uint32_t op = 0;
  while (t->g->op_gang[op] != w.axis - t->s->schedule->n_queues ||
         y->item_gang_epoch[op] != w.epoch) {
    op++;
    ck_assert_uint_lt(op, t->g->n_ops);
  }
  return op;
}

static void learn_item(const knowledge *k, uint32_t command, uint32_t item) {
  const fs_sync *y = k->t->y;
  for (uint32_t i = y->item_command0[item]; i < y->item_command0[item + 1]; i++) {
    learn(k, command, y->item_command[i]);
  }
}

static void find_knowledge(knowledge *k, const causality_compiled *t) {
  const fs_sync *y = t->y;
  *k = (knowledge){.t = t};
  k->before = calloc((size_t)y->n_commands * t->s->schedule->n_queues + 1, sizeof *k->before);
  k->position = calloc(t->s->schedule->n_items + 1, sizeof *k->position);
  for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
    uint32_t item = t->s->schedule->order[i];
    k->position[item] = i;
    for (uint32_t m = y->item_command0[item]; m < y->item_command0[item + 1]; m++) {
      uint32_t c = y->item_command[m];
      if (epoch_of(k, c) > 1) {
        learn(k, c, c - 1);
      }
      for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
        learn_item(k, c, item_of(t, y->wait[w]));
      }
    }
  }
}

static bool knows(const knowledge *k, const uint32_t *clock, uint32_t item) {
  const fs_sync *y = k->t->y;
  bool all = true;
  for (uint32_t i = y->item_command0[item]; i < y->item_command0[item + 1]; i++) {
    all = all && clock[queue_of(k, y->item_command[i])] >= epoch_of(k, y->item_command[i]);
  }
  return all;
}

/* A command that is submitted in the order of issue waits only for what was submitted before, and
 * by the plan only for what has ended.  A queue does not wait for itself: neither for its own axis,
 * nor for a gang of which it knows all members by its own order; and it never waits for a gang that
 * it has yet to join. */
static void check_order(const knowledge *k, causality_totals *sum) {
  const causality_compiled *t = k->t;
  const fs_sync *y = t->y;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    uint32_t q = queue_of(k, c);
    for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
      uint32_t from = item_of(t, y->wait[w]);
      ck_assert_uint_lt(k->position[from], k->position[y->command_item[c]]);
      ck_assert_uint_le(t->s->schedule->end[from], t->s->schedule->start[y->command_item[c]]);
      ck_assert_uint_ne(y->wait[w].axis, q);
      for (uint32_t i = y->item_command0[from]; i < y->item_command0[from + 1]; i++) {
        uint32_t member = y->item_command[i];
        sum->own_gang += queue_of(k, member) == q;
        ck_assert(queue_of(k, member) != q || member < c);
      }
      ck_assert(epoch_of(k, c) == 1 || !knows(k, before(k, c - 1), from));
    }
  }
}

/* Checks the same for the program's own order, in which a runtime may submit it. */
static void check_stream_order(const causality_compiled *t) {
  const fs_stream *s = &t->p->view;
  fs_arena arena;
  fs_arena_init(&arena, t->ctx);
  fs_stream_order o;
  ck_assert_int_eq(fs_stream_order_find(&arena, s, &o), FSCHED_OK);
  ck_assert_uint_eq(o.n_runnable, s->n_commands);
  uint32_t *done = calloc(s->n_axes + 1, sizeof *done); /* per axis: the epoch that is submitted */
  uint32_t *members = calloc(s->n_axes + 1, sizeof *members);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[o.order[i]];
    for (uint32_t w = c->wait0; w < c->wait0 + c->n_waits; w++) {
      ck_assert_uint_le(s->waits[w].epoch, done[s->waits[w].axis]);
    }
    ck_assert_uint_eq(c->epoch, ++done[o.queue[o.order[i]]]);
    if (c->gang_axis != FS_NONE &&
        ++members[c->gang_axis] == s->axes[c->gang_axis].n_members * c->gang_epoch) {
      done[c->gang_axis] = c->gang_epoch;
    }
  }
  free(done);
  free(members);
  fs_arena_release(&arena);
}

typedef struct tiers {
  uint32_t same_queue, exact, frontier, emitted;
} tiers;

/* Has the queue of command c, up to c itself, waited for the axis and epoch or a later one? */
static bool asked(const knowledge *k, uint32_t c, fs_wait wanted) {
  const fs_sync *y = k->t->y;
  uint32_t first = y->queue_command0[queue_of(k, c)];
  bool yes = false;
  for (uint32_t w = y->wait0[first]; w < y->wait0[c + 1]; w++) {
    yes = yes || (y->wait[w].axis == wanted.axis && y->wait[w].epoch >= wanted.epoch);
  }
  return yes;
}

static void count_edge(const knowledge *k, uint32_t from, uint32_t c, tiers *n) {
  const fs_sync *y = k->t->y;
  uint32_t source = y->item_command[y->item_command0[from]];
  fs_wait point = {queue_of(k, source), epoch_of(k, source)};
  if (y->item_gang_epoch[from] > 0) {
    point =
        (fs_wait){k->t->s->schedule->n_queues + k->t->g->op_gang[from], y->item_gang_epoch[from]};
  }
  bool emitted = false;
  for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
    emitted = emitted || (y->wait[w].axis == point.axis && y->wait[w].epoch == point.epoch);
  }
  ck_assert(knows(k, before(k, c), from));
  if (y->item_command0[from + 1] - y->item_command0[from] == 1 &&
      queue_of(k, source) == queue_of(k, c)) {
    n->same_queue++;
  } else if (emitted) {
    n->emitted++;
  } else if (asked(k, c, point)) {
    n->exact++;
  } else {
    n->frontier++;
  }
}

/* Finds every wanted order again, from the graph, copies' data and control edges, and checks each
 * once. */
static void check_tiers(const knowledge *k, causality_totals *sum) {
  const causality_compiled *t = k->t;
  const fs_sync *y = t->y;
  bool *wanted = calloc(t->s->schedule->n_items + 1, sizeof *wanted);
  tiers n = {0};
  uint32_t control = 0;
  for (uint32_t i = 0; i < t->s->schedule->n_items; i++) {
    uint32_t item = t->s->schedule->order[i];
    memset(wanted, 0, t->s->schedule->n_items * sizeof *wanted);
    for (uint32_t e = 0; item < t->g->n_ops && e < t->g->pred0[item + 1] - t->g->pred0[item]; e++) {
      wanted[t->g->pred[t->g->pred0[item] + e]] = true;
    }
    for (uint32_t e = y->data0[item]; e < y->data0[item + 1]; e++) {
      wanted[y->data[e]] = true;
    }
    for (; control < y->n_control && y->control_to[control] == item; control++) {
      wanted[y->control_from[control]] = true;
    }
    for (uint32_t from = 0; from < t->s->schedule->n_items; from++) {
      for (uint32_t m = y->item_command0[item]; wanted[from] && m < y->item_command0[item + 1];
           m++) {
        count_edge(k, from, y->item_command[m], &n);
      }
    }
  }
  check_counts(t, n.same_queue, n.exact, n.frontier, n.emitted);
  sum->exact += n.exact;
  sum->frontier += n.frontier;
  free(wanted);
}

/* The distance that a signal has to cover: nobody, one device, one machine, or more. */
static fs_scope distance(const fs_stream *s, uint32_t a, uint32_t b) {
  const fs_stream_queue *x = &s->queues[a];
  const fs_stream_queue *y = &s->queues[b];
  return x->machine != y->machine ? FS_SCOPE_SYSTEM
         : x->device != y->device ? FS_SCOPE_DEVICE_GROUP
                                  : FS_SCOPE_DEVICE;
}

/* Checks who signals, and how far, from who waits. */
static void check_scopes(const knowledge *k, causality_totals *sum) {
  const causality_compiled *t = k->t;
  const fs_stream *s = &t->p->view;
  uint8_t *reach = calloc(s->n_commands + 1, 1);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t w = t->y->wait0[c]; w < t->y->wait0[c + 1]; w++) {
      uint32_t from = item_of(t, t->y->wait[w]);
      for (uint32_t i = t->y->item_command0[from]; i < t->y->item_command0[from + 1]; i++) {
        uint32_t source = t->y->item_command[i];
        fs_scope d = distance(s, queue_of(k, source), queue_of(k, c));
        reach[source] = (uint8_t)fs_max(reach[source], d);
      }
    }
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    ck_assert_uint_eq(s->commands[c].scope, reach[c]);
    ck_assert_int_eq(s->commands[c].signal, reach[c] != FS_SCOPE_QUEUE);
    sum->scope[reach[c]]++;
  }
  free(reach);
}

/* Spreads the queues over devices and machines: the generator has all on one. */
static void spread_queues(fsched_graph *g) {
  for (uint32_t q = 0; q < g->target.n_queues; q++) {
    g->target.queue[q].device = q / 2 % 2;
    g->target.queue[q].machine = q / 3;
  }
}

static void run_seed(const fs_gen_params *params, causality_totals *sum) {
  causality_compiled t;
  begin(&t);
  if (fs_gen_graph(t.ctx, params, &t.g) == FSCHED_OK) {
    spread_queues(t.g);
    compile(&t);
    knowledge k;
    find_knowledge(&k, &t);
    check_order(&k, sum);
    check_stream_order(&t);
    check_tiers(&k, sum);
    check_scopes(&k, sum);
    sum->programs++;
    free(k.before);
    free(k.position);
  }
  end(&t);
}

START_TEST(random_programs)
{
  causality_totals sum = {0};
  for (uint64_t seed = 0; seed < 200; seed++) {
    fs_gen_params params = fs_gen_any(seed, 40);
    params.gangs = params.gangs || seed % 4 == 0;
    params.n_queues = params.n_queues == 0 ? 0 : 2 + (uint32_t)(seed % 6);
    run_seed(&params, &sum);
  }
  ck_assert_uint_gt(sum.programs, 150);
  ck_assert_uint_gt(sum.exact, 100);
  ck_assert_uint_gt(sum.frontier, 100);
  ck_assert_uint_gt(sum.own_gang, 0);
  for (int scope = 0; scope <= FS_SCOPE_SYSTEM; scope++) {
    /* every queue has a device, so none is at the distance of a process */
    ck_assert_int_eq(sum.scope[scope] > 0, scope != FS_SCOPE_PROCESS);
  }
}
END_TEST

FS_SUITE(causality, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, late_waiter_learns_no_later_value, independent_streams_are_disjoint,
           collective_of_eight_is_one_entry, knowledge_through_three_queues, exact_tier,
           tiers_of_gangs, gang_of_one, random_programs);
}
