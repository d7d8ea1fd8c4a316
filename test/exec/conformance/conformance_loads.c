/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of loads that fail: they leave nothing behind, whatever the reason and however often.
 * The memory of the exec, of its device and of the calls is counted separately. */
#include <limits.h>
#include <malloc.h>
#include "kit/quick.h"

#include "exec/conformance/conformance_kit.h"

enum { OFTEN = 200 };

#define STATE(size)                                                               \
  "fsched: 1\n"                                                                   \
  "buffers: [{name: in, size: 8, io: input}, {name: out, size: 8, io: output},\n" \
  "          {name: a, size: 4000, io: state}, {name: s, size: " size             \
  ", io: state}]\n"                                                               \
  "ops:\n"                                                                        \
  "  - {name: f, args: [{in: in}, {inout: a}, {inout: s}, {out: out}], kernel: "

static const char small[] = STATE("8") "{builtin: mix}}\n";
static const char other_size[] = STATE("16") "{builtin: mix}}\n";
static const char nowhere[] =
    STATE("8") "{module: none, function: nowhere, grid: [1, 1, 1], block: [1, 1, 1]}}\n";

typedef struct conformance_loads_counted {
  fs_budget budget;
  fsched_context *ctx;
} conformance_loads_counted;

static void open_counted(const conf *c, conformance_loads_counted *k) {
  *k = (conformance_loads_counted){.budget = {.left = LONG_MAX}};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &k->budget};
  conf_ok(c, fsched_context_create(&o, &k->ctx), "context");
}

static fsched_program *compile(const conf *c, const char *text) {
  fsched_graph *graph;
  fsched_program *program;
  conf_ok(c, fsched_graph_parse(c->ctx, "test.yaml", text, strlen(text), NULL, &graph), "parse");
  conf_ok(c, fsched_compile(c->ctx, graph, &fs_quick, NULL, &program), "compile");
  fsched_graph_destroy(graph);
  return program;
}

typedef struct loads {
  conformance_loads_counted device, exec, call;
  fsched_device *on;
  fsched_pool *pool;
  fsched_exec *x;
  fsched_program *small, *large, *nowhere;
} loads;

static void open_loads(const conf *c, loads *l, bool pooled) {
  *l = (loads){0};
  open_counted(c, &l->device);
  open_counted(c, &l->exec);
  open_counted(c, &l->call);
  fsched_device_options options = c->options;
  options.trust_modules = 1; /* a simulation looks for modules only then */
  conf_ok(c, fsched_device_create(l->device.ctx, &options, &l->on), "device");
  if (pooled) {
    conf_ok(c, fsched_pool_create(l->device.ctx, l->on, 256, &l->pool), "pool");
  }
  fsched_exec_options o = {.size = sizeof o, .device = l->on, .pool = l->pool, .in_flight = 2};
  conf_ok(c, fsched_exec_create(l->exec.ctx, &o, &l->x), "exec");
  l->small = compile(c, small);
  l->large = compile(c, other_size);
  l->nowhere = compile(c, nowhere);
}

static void close_loads(loads *l) {
  fsched_exec_destroy(l->x);
  fsched_pool_destroy(l->pool);
  fsched_device_release(l->on);
  fsched_program_destroy(l->small);
  fsched_program_destroy(l->large);
  fsched_program_destroy(l->nowhere);
  conformance_loads_counted *all[] = {&l->device, &l->exec, &l->call};
  for (int i = 0; i < 3; i++) {
    fsched_context_destroy(all[i]->ctx);
    ck_assert_int_eq(all[i]->budget.blocks, 0);
    ck_assert_int_eq(all[i]->budget.held, 0);
  }
}

/* Loads once, which has to fail; clears the diagnostics. */
static void fail_once(loads *l, const fsched_program *p, fsched_status status) {
  fsched_entry *e = (fsched_entry *)(void *)l;
  ck_assert_int_eq(fsched_exec_load(l->call.ctx, l->x, p, &e), status);
  ck_assert_ptr_null(e);
  ck_assert_uint_ge(fsched_diag_errors(l->call.ctx), 1);
  fsched_diag_clear(l->call.ctx);
}

/* Loads often, and sees that memory does not grow, apart from the list of diagnostics, which the
 * first one allocates. */
static void fail_often(loads *l, const fsched_program *p, fsched_status status) {
  long exec = l->exec.budget.held, device = l->device.budget.held;
  fail_once(l, p, status);
  ck_assert_int_eq(l->exec.budget.held, exec);
  ck_assert_int_eq(l->device.budget.held, device);
  long call = l->call.budget.held;
  for (int i = 0; i < OFTEN; i++) {
    fail_once(l, p, status);
  }
  ck_assert_int_eq(l->exec.budget.held, exec);
  ck_assert_int_eq(l->device.budget.held, device);
  ck_assert_int_eq(l->call.budget.held, call);
}

CONFORMS(failing_loads_leave_nothing) {
  loads l;
  open_loads(c, &l, false);
  fail_often(&l, l.nowhere, FSCHED_REPLAY);
  fsched_entry *e;
  conf_ok(c, fsched_exec_load(c->ctx, l.x, l.small, &e), "load");
  fail_often(&l, l.nowhere, FSCHED_REPLAY);
  fail_often(&l, l.large, FSCHED_USAGE);
  close_loads(&l);
}

CONFORMS(loads_too_large_for_the_pool_leave_nothing) {
  loads l;
  open_loads(c, &l, true);
  fail_often(&l, l.small, FSCHED_INFEASIBLE);
  close_loads(&l);
}

/* Lets allocation n of one of the three allocators fail, for each n until none does.  If a load
 * after each failure succeeds, nothing was left undone. */
static void fail_each(const conf *c, int which) {
  fsched_status status = FSCHED_SYSTEM;
  for (long n = 0; status != FSCHED_OK; n++) {
    loads l;
    open_loads(c, &l, false);
    conformance_loads_counted *all[] = {&l.device, &l.exec, &l.call};
    long exec = l.exec.budget.held, device = l.device.budget.held;
    fsched_entry *e;
    all[which]->budget.left = n;
    status = fsched_exec_load(l.call.ctx, l.x, l.small, &e);
    all[which]->budget.left = LONG_MAX;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    if (status != FSCHED_OK) {
      ck_assert_int_eq(l.exec.budget.held, exec);
      ck_assert_int_eq(l.device.budget.held, device);
      fsched_diag_clear(l.call.ctx);
      conf_ok(c, fsched_exec_load(l.call.ctx, l.x, l.small, &e), "load again");
    }
    close_loads(&l);
  }
}

CONFORMS(loads_without_memory_leave_nothing) {
  for (int which = 0; which < 3; which++) {
    fail_each(c, which);
  }
}

/* This looks at the C library's heap, which the counting allocators do not see.  Under a sanitizer
 * it says nothing. */
CONFORMS(failing_loads_do_not_grow_the_heap) {
  enum { MANY = 2000, SLACK = 64 << 10 };
  loads l;
  open_loads(c, &l, false);
  fail_often(&l, l.nowhere, FSCHED_REPLAY);
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i < MANY && c->on_host; i++) {
    fail_once(&l, l.nowhere, FSCHED_REPLAY);
  }
  ck_assert_uint_lt(mallinfo2().uordblks, before + SLACK);
  close_loads(&l);
}

void fs_conformance_loads(TCase *t, int i) {
  FS_LOOPS(t, i, i + 1, failing_loads_leave_nothing, loads_too_large_for_the_pool_leave_nothing,
           loads_without_memory_leave_nothing, failing_loads_do_not_grow_the_heap);
}
