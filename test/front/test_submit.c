/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a submitter one by one: names, ids, what args count as, scopes, and memory that runs
 * out. */
#include <stdio.h>
#include <string.h>

#include "kit/budget.h"
#include "model/graph.h"

#include "front/submit_kit.h"

START_TEST(names_count_the_tasks_of_a_callable)
{
  uint32_t g = FS_NONE, id = FS_NONE;
  fsched_submit_callable_desc d = {.size = sizeof d, .name = "g"};
  ck_fs(ctx, fsched_submit_callable(s, &d, &g));
  ck_assert_uint_eq(g, 1);
  static const char *const own[] = {NULL, "own", NULL, NULL};
  static const char *const name[] = {"f#0", "own", "g#0", "f#2"};
  for (uint32_t i = 0; i < 4; i++) {
    fsched_submit_task_desc t = {.size = sizeof t, .callable = i == 2 ? g : f, .name = own[i]};
    ck_fs(ctx, fsched_submit_task(s, &t, &id));
    ck_assert_uint_eq(id, i);
    ck_assert_str_eq(fsched_submit_task_name(s, i), name[i]);
  }
  ck_assert(fsched_submit_task_name(s, 4) == NULL);
  refused_as(submit_args("own", NULL, 0), "repeated-name", "the name 'own' of a task is taken");
  refused_as(submit_args("g#0", NULL, 0), "repeated-name", "the name 'g#0' of a task is taken");
  ck_fs(ctx, submit_args("f#4", NULL, 0));
  refused_as(submit_args(NULL, NULL, 0), "repeated-name", "the name 'f#4' of a task is taken");
  for (uint32_t i = 5; i < 1106; i++) { /* numbers of up to four digits */
    fsched_submit_task_desc t = {.size = sizeof t, .callable = g};
    char wanted[16];
    ck_fs(ctx, fsched_submit_task(s, &t, NULL));
    (void)snprintf(wanted, sizeof wanted, "g#%u", i - 4);
    ck_assert_str_eq(fsched_submit_task_name(s, i), wanted);
  }
  ck_assert_str_eq(fsched_submit_task_name(s, 1002), "g#998");
  fsched_graph *graph = finish();
  ck_assert_str_eq(graph->op_name[1002], "g#998");
  ck_assert_str_eq(fsched_submit_task_name(s, 0), "f#0");
  fsched_graph_destroy(graph);
}
END_TEST

START_TEST(callables_carry_over_to_each_task)
{
  fsched_kernel_desc kernel = {.size = sizeof kernel, .builtin = "copy"};
  fsched_submit_amount use = {0, 2}, scratch = {0, 64};
  fsched_submit_callable_desc d = {.size = sizeof d,
                                   .name = "g",
                                   .on = "q1",
                                   .has_time = 1,
                                   .latency = 7,
                                   .kernel = &kernel,
                                   .uses = &use,
                                   .n_uses = 1,
                                   .scratch = &scratch,
                                   .n_scratch = 1};
  ck_fs(ctx, fsched_submit_callable(s, &d, &f));
  fsched_submit_task_desc t = {.size = sizeof t, .callable = f};
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  t.on = "q0";
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  fsched_graph *g = finish();
  for (uint32_t op = 0; op < 2; op++) {
    ck_assert_uint_eq(g->op_time[op], 0);
    ck_assert_uint_eq(g->op_latency[op], 7);
    ck_assert_str_eq(g->kernel[g->op_kernel[op]].builtin, "copy");
    ck_assert_uint_eq(g->use_amount[g->op_use0[op]], 2);
    ck_assert_uint_eq(g->scratch_size[g->op_scratch0[op]], 64);
    const fs_target *target = &g->target;
    ck_assert_uint_eq(target->domain_queue[target->domain_queue0[g->op_domain[op]]], 1 - op);
  }
  ck_assert_uint_eq(g->n_kernels, 1);
  fsched_graph_destroy(g);
}
END_TEST

/* A task's block wins over its callable's kernel's, which other tasks keep; without a kernel it is
 * that of `mix`.  Nothing of it is the caller's any more. */
START_TEST(blocks_of_parameters)
{
  uint8_t own[] = {0x01, 0xFE}, block[FSCHED_MAX_PARAMS] = {0xAB};
  fsched_kernel_desc kernel = {.size = sizeof kernel,
                               .module = "m",
                               .function = "g",
                               .grid = {3, 1, 1},
                               .params = own,
                               .n_params = sizeof own};
  fsched_submit_callable_desc d = {.size = sizeof d, .name = "g", .kernel = &kernel};
  uint32_t with, plain = f;
  ck_fs(ctx, fsched_submit_callable(s, &d, &with));
  fsched_submit_task_desc t = {.size = sizeof t, .callable = with};
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  t.params = block;
  t.n_params = 1;
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  t.callable = plain;
  t.n_params = sizeof block;
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  memset(block, 0, sizeof block);
  t.n_params = 0;
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  t.callable = with;
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  t.size = offsetof(fsched_submit_task_desc, params); /* of a program that knows nothing of it */
  t.n_params = 5;
  ck_fs(ctx, fsched_submit_task(s, &t, NULL));
  fsched_graph *g = finish();
  static const char *const params[] = {"01fe", "ab", NULL, NULL, "01fe", "01fe"};
  for (uint32_t op = 0; op < 6; op++) {
    const fs_kernel *k = op == 3 ? NULL : &g->kernel[g->op_kernel[op]];
    if (op == 3) {
      ck_assert_uint_eq(g->op_kernel[op], FS_NONE);
    } else if (op == 2) {
      ck_assert_str_eq(k->builtin, "mix");
      ck_assert_uint_eq(strlen(k->params), (size_t)2 * FSCHED_MAX_PARAMS);
      ck_assert_mem_eq(k->params, "ab0000", 6);
    } else {
      ck_assert_str_eq(k->params, params[op]);
      ck_assert_str_eq(k->function, "g");
      ck_assert_uint_eq(k->grid[0], 3);
    }
  }
  fsched_graph_destroy(g);
}
END_TEST

/* A callable may be for a queue of the host. */
START_TEST(tasks_of_the_host)
{
  fsched_builder *b = make_target(ctx);
  fsched_queue_desc q = {.size = sizeof q, .name = "h", .queue_class = "cpu", .host = 1};
  fsched_submitter *own;
  fsched_graph *g;
  uint32_t id;
  ck_fs(ctx, fsched_builder_queue(b, &q, NULL));
  ck_fs(ctx, fsched_submit_create(b, &own));
  fsched_submit_callable_desc d = {.size = sizeof d, .name = "post", .on = "cpu"};
  ck_fs(ctx, fsched_submit_callable(own, &d, &id));
  fsched_submit_task_desc t = {.size = sizeof t, .callable = id};
  ck_fs(ctx, fsched_submit_task(own, &t, NULL));
  ck_fs(ctx, fsched_submit_finish(own, &g));
  const fs_target *target = &g->target;
  uint32_t first = target->domain_queue0[g->op_domain[0]];
  ck_assert_uint_eq(target->domain_queue0[g->op_domain[0] + 1], first + 1);
  ck_assert(target->queue[target->domain_queue[first]].host);
  ck_assert(!target->queue[0].host && !target->queue[1].host);
  fsched_graph_destroy(g);
  fsched_submit_destroy(own);
}
END_TEST

START_TEST(memory_of_a_device_is_used_on_its_queue)
{
  static char memory[16];
  ck_fs(ctx, import_at("d0", memory, 16, "q0"));
  ck_fs(ctx, import_at("d1", memory, 16, "q1"));
  refused_as(submit_one("t", FSCHED_IN, 0), "not-granted",
             "task 't', arg 0: 'd0' was imported for tasks on queue 'q0' alone");
  fsched_submit_arg arg = arg_of(FSCHED_OUT, 0), other = arg_of(FSCHED_IN, 1);
  fsched_submit_task_desc d = {
      .size = sizeof d, .args = &arg, .n_args = 1, .name = "t", .on = "q1"};
  refused_as(fsched_submit_task(s, &d, NULL), "not-granted",
             "task 't', arg 0: 'd0' was imported for tasks on queue 'q0' alone");
  d.on = "q0";
  ck_fs(ctx, fsched_submit_task(s, &d, NULL));
  d.on = "q1";
  d.name = "u";
  d.args = &other;
  ck_fs(ctx, fsched_submit_task(s, &d, NULL));
  d.on = "q3";
  refused_as(fsched_submit_task(s, &d, NULL), "repeated-name", "the name 'u' of a task is taken");
  d.name = "v";
  refused_as(fsched_submit_task(s, &d, NULL), "no-queue",
             "task 'v' cannot run anywhere: no queue or class is named 'q3'");
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->n_edges, 0); /* they have nothing to do with each other */
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(what_is_read_was_written)
{
  uint32_t x = alloc("x", 16), u = import("u", 16, FSCHED_IO_NONE, 0);
  refused_as(submit_one("t", FSCHED_IN, x), "not-produced",
             "task 't', arg 0: reads buffer 'x', which nothing before it has written");
  refused_as(submit_one("t", FSCHED_INOUT, u), "not-produced",
             "task 't', arg 0: reads buffer 'u', which nothing before it has written");
  ck_fs(ctx, submit_view(FSCHED_INOUT, x, 0, 8)); /* fresh, so it is written */
  refused_as(submit_one("u", FSCHED_INOUT, x), "not-produced",
             "task 'u', arg 0: reads all of a range of buffer 'x', which nothing before it has "
             "written");
  fsched_submit_view low = {.size = sizeof low, .offset = 0, .length = 8},
                     high = {.size = sizeof high, .offset = 8, .length = 8};
  fsched_submit_arg arg[] = {arg_of(FSCHED_IN, x), arg_of(FSCHED_OUT, x)};
  arg[0].view = &low;
  arg[1].view = &high;
  ck_fs(ctx, submit_args("v", arg, 2));
  ck_fs(ctx, submit_one("w", FSCHED_INOUT, x));
  fsched_graph *g = finish();
  static const fsched_tag tag[] = {FSCHED_OUT_EXISTING, FSCHED_IN, FSCHED_OUT_EXISTING,
                                   FSCHED_INOUT};
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(g->arg_tag[i], tag[i]);
  }
  ck_assert_uint_eq(g->n_versions, 1);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(two_args_do_not_write_one_byte)
{
  uint32_t x = alloc("x", 16), y = alloc("y", 16);
  fsched_submit_view low = {.size = sizeof low, .offset = 0, .length = 8},
                     high = {.size = sizeof high, .offset = 8, .length = 8},
                     mid = {.size = sizeof mid, .offset = 7, .length = 2};
  fsched_submit_arg arg[] = {arg_of(FSCHED_OUT, x), arg_of(FSCHED_OUT, y),
                             arg_of(FSCHED_OUT_EXISTING, x), arg_of(FSCHED_INOUT, x)};
  arg[0].view = &low;
  arg[2].view = &high;
  arg[3].view = &mid;
  refused_as(submit_args("t", arg, 4), "written-twice",
             "task 't', arg 3: it writes bytes of 'x' that arg 0 writes, too");
  ck_fs(ctx, submit_args("t", arg, 3));
  arg[0].view = NULL;
  refused_as(submit_args("u", arg, 3), "written-twice",
             "task 'u', arg 2: it writes bytes of 'x' that arg 0 writes, too");
  arg[0].tag = FSCHED_IN; /* reads the old bytes: both together are an inout */
  ck_fs(ctx, submit_args("u", arg, 3));
  fsched_graph_destroy(finish());
}
END_TEST

START_TEST(predecessors_wait_or_retain)
{
  fsched_submit_predecessor before[] = {{0, 0, 1}, {1, 1, 0}, {2, 1, 1}};
  fsched_submit_task_desc d = {.size = sizeof d, .predecessors = before, .n_predecessors = 1};
  refused_as(fsched_submit_task(s, &d, NULL), "bad-argument",
             "task 'f#0', predecessor 0: there is no task 0 before it");
  for (int i = 0; i < 3; i++) {
    ck_fs(ctx, submit_args(NULL, NULL, 0));
  }
  d.n_predecessors = 3;
  ck_fs(ctx, fsched_submit_task(s, &d, NULL));
  before[2] = (fsched_submit_predecessor){2, 0, 0};
  refused_as(fsched_submit_task(s, &d, NULL), "bad-argument",
             "task 'f#4', predecessor 2 is neither waited for nor retained");
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->n_edges, 2);
  ck_assert_uint_eq(g->pred[0], 1);
  ck_assert_uint_eq(g->pred[1], 2);
  fsched_graph_destroy(g);
}
END_TEST

static void begin_scope(const char *name) {
  fsched_submit_scope_desc d = {.size = sizeof d, .name = name};
  ck_fs(ctx, fsched_submit_begin_scope(s, &d));
}

START_TEST(what_a_scope_allocates_goes_with_it)
{
  uint32_t outer = alloc("outer", 8);
  ck_fs(ctx, submit_one("a", FSCHED_OUT, outer));
  begin_scope("layer");
  uint32_t x = alloc("x", 8), kept = alloc("kept", 8);
  ck_fs(ctx, submit_one("b", FSCHED_OUT, x));
  ck_fs(ctx, submit_one("c", FSCHED_OUT, kept));
  ck_fs(ctx, submit_one("d", FSCHED_OUT, outer)); /* this version is of the scope */
  ck_fs(ctx, fsched_submit_hold(s, kept));
  ck_fs(ctx, fsched_submit_hold(s, kept));
  ck_fs(ctx, fsched_submit_end_scope(s));
  refused_as(submit_one("t", FSCHED_IN, x), "buffer-gone",
             "task 't', arg 0: buffer 'x' has gone with scope 'layer'");
  refused_as(submit_one("t", FSCHED_OUT, x), "buffer-gone",
             "task 't', arg 0: buffer 'x' has gone with scope 'layer'");
  refused_as(submit_one("t", FSCHED_IN, outer), "buffer-gone",
             "task 't', arg 0: the content of buffer 'outer' has gone with scope 'layer'");
  refused_as(submit_view(FSCHED_OUT, outer, 0, 4), "buffer-gone",
             "task 't', arg 0: the content of buffer 'outer' has gone with scope 'layer'");
  refused_as(fsched_submit_hold(s, x), "buffer-gone",
             "hold: buffer 'x' has gone with scope 'layer'");
  refused_as(fsched_submit_hold(s, outer), "buffer-gone",
             "hold: the content of buffer 'outer' has gone with scope 'layer'");
  ck_fs(ctx, submit_one("e", FSCHED_OUT, outer));
  ck_fs(ctx, submit_one("f", FSCHED_IN, outer));
  ck_fs(ctx, fsched_submit_release(s, kept));
  ck_fs(ctx, submit_one("g", FSCHED_IN, kept));
  ck_fs(ctx, fsched_submit_release(s, kept));
  refused_as(submit_one("t", FSCHED_IN, kept), "buffer-gone",
             "task 't', arg 0: buffer 'kept' has gone with scope 'layer'");
  refused_as(fsched_submit_release(s, kept), "bad-scope",
             "buffer 'kept' is released, and is not held");
  refused_as(fsched_submit_release(s, 9), "bad-argument", "there is no buffer 9");
  refused_as(fsched_submit_hold(s, 9), "bad-argument", "there is no buffer 9");
  fsched_graph_destroy(finish());
}
END_TEST

START_TEST(scopes_nest)
{
  fsched_graph *g;
  refused_as(fsched_submit_end_scope(s), "bad-scope", "there is no scope to end");
  for (int i = 0; i < 64; i++) {
    ck_fs(ctx, fsched_submit_begin_scope(s, NULL));
  }
  refused_as(fsched_submit_begin_scope(s, NULL), "bad-scope", "scopes nest 64 deep at most");
  for (int i = 63; i > 0; i--) {
    ck_fs(ctx, fsched_submit_end_scope(s));
  }
  refused_as(fsched_submit_finish(s, &g), "bad-scope", "scope '#0' is open");
  fsched_submit_scope_desc bad = {.size = 4};
  refused_as(fsched_submit_begin_scope(s, &bad), "bad-argument",
             "'size' of fsched_submit_scope_desc is 4, at least 8 is needed");
  bad = (fsched_submit_scope_desc){.size = sizeof bad, .name = "\xff"};
  refused_as(fsched_submit_begin_scope(s, &bad), "bad-argument",
             "the name of a scope is not UTF-8");
  ck_fs(ctx, fsched_submit_end_scope(s));
  fsched_graph_destroy(finish());
}
END_TEST

static void begin_manual(const char *name) {
  fsched_submit_scope_desc d = {.size = sizeof d, .name = name, .manual = 1};
  ck_fs(ctx, fsched_submit_begin_scope(s, &d));
}

static fs_status submit_behind(const char *name, fsched_tag tag, uint32_t buffer, uint32_t task) {
  fsched_submit_arg arg = arg_of(tag, buffer);
  fsched_submit_predecessor before = {.task = task, .wait = 1};
  fsched_submit_task_desc d = {.size = sizeof d,
                               .callable = f,
                               .args = &arg,
                               .n_args = 1,
                               .name = name,
                               .predecessors = &before,
                               .n_predecessors = 1};
  return fsched_submit_task(s, &d, NULL);
}

static void is_pair(uint32_t index, const char *before, const char *after, const char *buffer) {
  const fsched_submit_pair *pair = fsched_submit_lint_pair(s, index);
  ck_assert_ptr_nonnull(pair);
  ck_assert_str_eq(pair->before_name, before);
  ck_assert_str_eq(pair->after_name, after);
  ck_assert_str_eq(pair->buffer_name, buffer);
  ck_assert_int_eq(pair->derived, 1);
}

START_TEST(manual_scopes_leave_pairs_to_the_lint)
{
  uint32_t x = alloc("x", 8), n = 7;
  fsched_graph *g;
  ck_fs(ctx, submit_one("write", FSCHED_OUT, x));
  begin_manual("by hand");
  refused_as(fsched_submit_begin_scope(s, NULL), "bad-scope",
             "a scope in the manual scope 'by hand' is manual, too");
  begin_manual(NULL);
  ck_fs(ctx, submit_one("read", FSCHED_IN, x)); /* reads before it is written */
  ck_fs(ctx, fsched_submit_end_scope(s));
  ck_fs(ctx, submit_behind("add", FSCHED_INOUT, x, 0)); /* changes what is being read */
  ck_fs(ctx, submit_behind("more", FSCHED_INOUT, x, 2));
  ck_fs(ctx, fsched_submit_end_scope(s));
  ck_fs(ctx, submit_one("end", FSCHED_INOUT, x)); /* waits by its tags, for the last writer */
  refused_as(fsched_submit_lint(s, NULL, &n), "bad-argument",
             "the graph is not the one that the submitter has made");
  g = finish();
  ck_fs(ctx, fsched_submit_lint(s, g, &n));
  ck_assert_uint_eq(n, 4);
  is_pair(0, "write", "read", "x");
  is_pair(1, "read", "add", "x");
  is_pair(2, "read", "more", "x");
  is_pair(3, "read", "end", "x");
  ck_assert_ptr_null(fsched_submit_lint_pair(s, 4));
  ck_assert_uint_eq(g->n_edges, 5); /* those of the tags */
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(nothing_follows_finish)
{
  uint32_t x = import("x", 4, FSCHED_IO_STATE, 0);
  fsched_graph *g = finish(), *none;
  static const char over[] = "the submitter is already finished";
  uint64_t shape = 1;
  fsched_submit_import_desc i = {.size = sizeof i, .name = "y"};
  fsched_submit_alloc_desc a = {.size = sizeof a, .element = 1, .n_dims = 1, .shape = &shape};
  fsched_submit_callable_desc c = {.size = sizeof c, .name = "g"};
  refused_as(fsched_submit_finish(s, &none), "bad-argument", over);
  ck_assert_ptr_null(none);
  refused_as(submit_one("t", FSCHED_IN, x), "bad-argument", over);
  refused_as(fsched_submit_import(s, &i, NULL), "bad-argument", over);
  refused_as(fsched_submit_alloc(s, &a, NULL), "bad-argument", over);
  refused_as(fsched_submit_callable(s, &c, NULL), "bad-argument", over);
  refused_as(fsched_submit_begin_scope(s, NULL), "bad-argument", over);
  refused_as(fsched_submit_end_scope(s), "bad-argument", over);
  refused_as(fsched_submit_hold(s, x), "bad-argument", over);
  refused_as(fsched_submit_release(s, x), "bad-argument", over);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(the_builder_has_a_target_alone)
{
  fsched_submitter *other;
  fsched_builder *b = make_target(ctx);
  fsched_op_desc op = {.size = sizeof op, .name = "op"};
  ck_fs(ctx, fsched_builder_op(b, &op, NULL));
  refused_as(fsched_submit_create(b, &other), "bad-argument",
             "the builder has buffers, ops or loops; a submitter takes the target alone");
  ck_assert_ptr_null(other);
  b = make_target(ctx);
  fsched_buffer_desc buffer = {.size = sizeof buffer, .name = "x"};
  ck_fs(ctx, fsched_builder_buffer(b, &buffer, NULL));
  refused_as(fsched_submit_create(b, &other), "bad-argument",
             "the builder has buffers, ops or loops; a submitter takes the target alone");
}
END_TEST

/* A caller with an older header, whose args and descriptors end earlier or later. */
START_TEST(other_sizes_of_structs)
{
  struct {
    fsched_submit_arg arg;
    uint64_t more;
  } longer[2];
  uint32_t x = alloc("x", 8), y = alloc("y", 8);
  for (uint32_t i = 0; i < 2; i++) {
    longer[i].arg = arg_of(FSCHED_OUT, i == 0 ? x : y);
    longer[i].arg.size = sizeof longer[i];
    longer[i].more = UINT64_MAX;
  }
  ck_fs(ctx, submit_args("t", &longer[0].arg, 2));
  fsched_submit_task_desc d = {
      .size = offsetof(fsched_submit_task_desc, n_args) + 4, .callable = f, .name = "not read"};
  ck_fs(ctx, fsched_submit_task(s, &d, NULL));
  ck_assert_str_eq(fsched_submit_task_name(s, 1), "f#1");
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->arg_buffer[1], y);
  fsched_graph_destroy(g);
}
END_TEST

/* A small program that uses every call. */
static fs_status whole_program(fsched_context *c, fsched_submitter **made) {
  static char memory[16];
  uint64_t shape = 8, rows = 4;
  uint32_t x, y, z, k, t;
  fsched_kernel_desc kernel = {.size = sizeof kernel, .builtin = "mix"};
  fsched_submit_amount use = {0, 1};
  fsched_submit_import_desc in = {.size = sizeof in,
                                  .name = "x",
                                  .bytes = 8,
                                  .memory = "ddr",
                                  .io = FSCHED_IO_STATE,
                                  .address = memory};
  fsched_submit_alloc_desc a = {.size = sizeof a, .element = 1, .n_dims = 1, .shape = &shape};
  fsched_submit_callable_desc call = {
      .size = sizeof call, .name = "k", .kernel = &kernel, .uses = &use, .n_uses = 1};
  fsched_submit_scope_desc scope = {.size = sizeof scope, .name = "scope"};
  fsched_submit_view v = {.size = sizeof v, .n_dims = 1, .shape = &rows};
  fsched_builder *b = make_target(c);
  if (b == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fsched_submit_create(b, made));
  FS_TRY(fsched_submit_import(*made, &in, &x));
  FS_TRY(fsched_submit_callable(*made, &call, &k));
  FS_TRY(fsched_submit_begin_scope(*made, &scope));
  FS_TRY(fsched_submit_alloc(*made, &a, &y));
  fsched_submit_arg arg[] = {arg_of(FSCHED_IN, x), arg_of(FSCHED_OUT, y), arg_of(FSCHED_OUT, 0)};
  arg[1].view = &v;
  arg[2].alloc = &a;
  arg[2].allocated = &z;
  fsched_submit_task_desc d = {.size = sizeof d, .callable = k, .args = arg, .n_args = 3};
  for (int i = 0; i < 20; i++) {
    FS_TRY(fsched_submit_task(*made, &d, &t));
  }
  static const char *const queues[] = {"q0", "q1"};
  const fsched_submit_member members[] = {{arg, 1}, {arg, 3}};
  fsched_submit_group_desc group = {
      .size = sizeof group, .callable = k, .queues = queues, .members = members, .n_members = 2};
  FS_TRY(fsched_submit_group(*made, &group, &t));
  FS_TRY(fsched_submit_hold(*made, z));
  return fsched_submit_end_scope(*made);
}

/* Groups: members with args of their own, which are looked up before any is entered. */
START_TEST(members_of_a_group)
{
  static const char *const queues[] = {"q0", "q1"};
  uint32_t x = alloc("x", 16), y = FS_NONE, id = FS_NONE;
  uint64_t four = 4;
  fsched_submit_view low = {.size = sizeof low, .length = 8}, high = low;
  high.offset = 8;
  fsched_submit_alloc_desc made = {
      .size = sizeof made, .element = 1, .n_dims = 1, .shape = &four, .name = NULL};
  ck_fs(ctx, submit_one("first", FSCHED_OUT, x));
  fsched_submit_arg one[] = {arg_of(FSCHED_INOUT, x)};
  fsched_submit_arg two[] = {arg_of(FSCHED_IN, x), arg_of(FSCHED_OUT, 0)};
  one[0].view = &low;
  two[0].view = &high;
  two[1].alloc = &made;
  two[1].allocated = &y;
  const fsched_submit_member members[] = {{one, 1}, {two, 2}};
  fsched_submit_group_desc d = {
      .size = sizeof d, .callable = f, .queues = queues, .members = members, .n_members = 2};
  ck_fs(ctx, fsched_submit_group(s, &d, &id));
  ck_assert_uint_eq(id, 1);
  ck_assert_str_eq(fsched_submit_task_name(s, id), "f#1");
  two[0].view = NULL; /* what the other one writes, too */
  refused_as(fsched_submit_group(s, &d, &id), "member-conflict",
             "task 'f#2', arg 1: it shares bytes of 'x' with arg 0 of another member, and one "
             "writes");
  one[0] = arg_of(FSCHED_OUT, x); /* begins another version */
  ck_fs(ctx, fsched_submit_group(s, &d, &id));
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->n_ops, 3);
  ck_assert_uint_eq(fs_op_members(g, 0), 0);
  ck_assert_uint_eq(fs_op_members(g, 1), 2);
  const uint32_t member[] = {0, 0, 1, 1, 0, 1, 1};
  for (uint32_t a = 0; a < 7; a++) {
    ck_assert_uint_eq(fs_arg_member(g, a), member[a]);
  }
  ck_assert_uint_eq(g->arg_version[4], g->arg_version[5] + 1); /* reads what was there before */
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(bad_groups)
{
  static const char *const none[] = {"q0", "compute"}, *const turned[] = {"q1", "q0"};
  uint32_t x = alloc("x", 16);
  fsched_submit_arg one[] = {arg_of(FSCHED_OUT, x)};
  const fsched_submit_member members[] = {{one, 1}, {one, 1}};
  fsched_submit_group_desc d = {
      .size = sizeof d, .callable = f, .queues = none, .members = members, .n_members = 2};
  refused_as(fsched_submit_group(s, &d, NULL), "bad-members",
             "task 'f#0', member 1: 'compute' is no queue");
  d.queues = turned;
  refused_as(fsched_submit_group(s, &d, NULL), "bad-members",
             "task 'f#0', member 1: queue 'q0' is out of order");
  d.queues = NULL;
  refused_as(fsched_submit_group(s, &d, NULL), "bad-members",
             "task 'f#0': a group needs members and their queues");
  d.queues = turned + 1;
  d.n_members = 0;
  refused_as(fsched_submit_group(s, &d, NULL), "bad-members",
             "task 'f#0': a group needs members and their queues");
  static const char *const both[] = {"q0", "q1"};
  d.queues = both;
  d.n_members = 2;
  refused_as(fsched_submit_group(s, &d, NULL), "written-twice",
             "task 'f#0', arg 1: it writes bytes of 'x' that arg 0 writes, too");
  ck_fs(ctx, submit_one("t", FSCHED_OUT, x)); /* nothing had an effect */
  fsched_graph_destroy(finish());
}
END_TEST

static fs_status add_gang(const char *on, const char *gang_class, uint32_t count) {
  fsched_submit_callable_desc d = {
      .size = sizeof d, .name = "g", .on = on, .gang_class = gang_class, .gang_count = count};
  return fsched_submit_callable(s, &d, NULL);
}

/* A gang has a class with as many queues, and no other place; a group of it a member for each. */
START_TEST(bad_gangs)
{
  refused_as(add_gang(NULL, "copy", 1), "no-queue",
             "callable 'g' cannot run anywhere: no queue is of class 'copy'");
  refused_as(add_gang(NULL, "compute", 3), "out-of-range",
             "the gang of callable 'g' takes 3 queues of class 'compute', which has 2");
  refused_as(add_gang(NULL, "compute", 0), "bad-argument",
             "the gang of callable 'g' needs a count of 1 or more");
  refused_as(add_gang(NULL, NULL, 2), "bad-argument", "the gang of callable 'g' needs a class");
  refused_as(add_gang("q0", "compute", 2), "bad-argument", "callable 'g' has both 'on' and a gang");
  ck_fs(ctx, add_gang(NULL, "compute", 2));
  const fsched_submit_member members[3] = {{NULL, 0}};
  fsched_submit_group_desc d = {
      .size = sizeof d, .callable = f + 1, .members = members, .n_members = 3};
  refused_as(fsched_submit_group(s, &d, NULL), "bad-members",
             "task 'g#0' has 3 members, and the gang of its callable 2");
  d.n_members = 2;
  ck_fs(ctx, fsched_submit_group(s, &d, NULL));
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->gang_members[g->op_gang[0]], 2);
  fsched_graph_destroy(g);
}
END_TEST

/* Wherever memory runs out, nothing leaks, and no graph is made. */
START_TEST(memory_runs_out)
{
  fs_budget budget = {0};
  bool whole = false;
  for (long n = 0; !whole; n++) {
    fsched_context *c;
    fsched_submitter *made = NULL;
    fsched_graph *g = NULL;
    budget.left = n;
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    if (fsched_context_create(&o, &c) != FSCHED_OK) {
      continue;
    }
    fs_status status = whole_program(c, &made);
    if (status != FSCHED_OK && made != NULL) {
      budget.left = 1000000; /* also with more memory, what is not whole is not finished */
      ck_assert_int_eq(fsched_submit_finish(made, &g), FSCHED_SYSTEM);
      ck_assert_ptr_null(g);
    } else if (status == FSCHED_OK) {
      status = fsched_submit_finish(made, &g);
      whole = status == FSCHED_OK;
    }
    ck_assert(whole || status == FSCHED_SYSTEM);
    fsched_submit_destroy(made);
    fsched_graph_destroy(g);
    fsched_context_destroy(c);
    ck_assert_int_eq(budget.blocks, 0);
  }
}
END_TEST

FS_SUITE(submit, suite) {
  TCase *t = fs_case(suite, fixture);
  FS_TESTS(t, names_count_the_tasks_of_a_callable, callables_carry_over_to_each_task,
           blocks_of_parameters, tasks_of_the_host, memory_of_a_device_is_used_on_its_queue,
           what_is_read_was_written, two_args_do_not_write_one_byte, predecessors_wait_or_retain,
           what_a_scope_allocates_goes_with_it, scopes_nest, manual_scopes_leave_pairs_to_the_lint,
           nothing_follows_finish, the_builder_has_a_target_alone, other_sizes_of_structs,
           members_of_a_group, bad_groups, bad_gangs, memory_runs_out);
}
