/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of a submitter refuse because of a descriptor, with its text. */
#include <stdint.h>

#include "model/graph.h"

#include "front/submit_kit.h"

START_TEST(bad_callables)
{
  fsched_submit_amount twice[] = {{0, 1}, {0, 1}}, none = {1, 1}, much = {0, FSCHED_MAX_TIME + 1},
                       large = {1, FSCHED_MAX_SIZE + 1}, no_memory = {2, 1};
  fsched_kernel_desc kernel = {.size = sizeof kernel, .builtin = "cpy"};
  fsched_submit_callable_desc d = {.size = 8};
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "'size' of fsched_submit_callable_desc is 8, at least 16 is needed");
  d.size = sizeof d;
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "the name of a callable is missing");
  d.name = "\xff";
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "the name of a callable is not UTF-8");
  d.name = "f";
  refused_as(fsched_submit_callable(s, &d, NULL), "repeated-name",
             "the name 'f' of a callable is taken");
  d.name = "g";
  d.on = "q2";
  refused_as(fsched_submit_callable(s, &d, NULL), "no-queue",
             "callable 'g' cannot run anywhere: no queue or class is named 'q2'");
  d.on = "compute";
  d.uses = twice;
  d.n_uses = 2;
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "callable 'g' names resource 0 twice");
  d.n_uses = 1;
  d.uses = &none;
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "callable 'g': there is no resource 1");
  d.uses = &much;
  refused_as(fsched_submit_callable(s, &d, NULL), "out-of-range",
             "callable 'g': the amount of resource 0 is 1099511627777, at most 1099511627776 is "
             "possible");
  d.uses = NULL;
  d.scratch = &no_memory;
  d.n_scratch = 1;
  refused_as(fsched_submit_callable(s, &d, NULL), "bad-argument",
             "callable 'g': there is no memory 2");
  d.scratch = &large;
  refused_as(fsched_submit_callable(s, &d, NULL), "out-of-range",
             "callable 'g': the amount of memory 1 is 281474976710657, at most 281474976710656 is "
             "possible");
  d.scratch = NULL;
  d.kernel = &kernel;
  refused_as(fsched_submit_callable(s, &d, NULL), "unknown-value",
             "there is no built-in kernel 'cpy'");
  d.kernel = NULL;
  d.time = 3;
  d.latency = 2;
  refused_as(fsched_submit_callable(s, &d, NULL), "out-of-range",
             "the latency of op 'g' is 2, less than its time of 3");
  d.latency = 3;
  ck_fs(ctx, fsched_submit_callable(s, &d, NULL));
  fsched_graph_destroy(finish()); /* the faults before have left no trace */
}
END_TEST

START_TEST(bad_params)
{
  static uint8_t block[FSCHED_MAX_PARAMS + 1];
  uint32_t id = 77;
  fsched_submit_task_desc d = {
      .size = sizeof d, .callable = f, .params = block, .n_params = sizeof block};
  refused_as(fsched_submit_task(s, &d, &id), "out-of-range",
             "the number of bytes of parameters is 1025, at most 1024 is possible");
  d.params = NULL;
  d.n_params = 1;
  refused_as(fsched_submit_task(s, &d, &id), "bad-argument", "a kernel's 'params' is NULL");
  ck_assert_uint_eq(id, 77);
  fsched_graph *g = finish(); /* the faults before have left no trace */
  ck_assert_uint_eq(g->n_ops, 0);
  ck_assert_uint_eq(g->n_kernels, 0);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(bad_imports)
{
  static char memory[64];
  uint32_t id = 77;
  fsched_submit_import_desc d = {.size = 8};
  refused_as(fsched_submit_import(s, &d, &id), "bad-argument",
             "'size' of fsched_submit_import_desc is 8, at least 24 is needed");
  d.size = sizeof d;
  refused_as(fsched_submit_import(s, &d, &id), "bad-argument", "the name of an import is missing");
  d.name = "x";
  d.bytes = FSCHED_MAX_SIZE + 1;
  refused_as(fsched_submit_import(s, &d, &id), "out-of-range",
             "import 'x' has more than 2^48 bytes");
  d.bytes = 16;
  d.memory = "fats";
  refused_as(fsched_submit_import(s, &d, &id), "unknown-name",
             "import 'x': there is no memory 'fats'");
  d.memory = "ddr";
  d.access = 4;
  refused_as(fsched_submit_import(s, &d, &id), "bad-argument",
             "import 'x': 'access' is 4, a sum of FSCHED_ACCESS_... is needed");
  d.access = FSCHED_ACCESS_READ;
  d.io = (fsched_io)5;
  refused_as(fsched_submit_import(s, &d, &id), "bad-argument",
             "import 'x': 'io' is 5, outside 0 .. 4");
  d.io = FSCHED_IO_OUTPUT;
  refused_as(fsched_submit_import(s, &d, &id), "not-granted",
             "import 'x' is output, and may not be written");
  d.io = FSCHED_IO_STATE;
  refused_as(fsched_submit_import(s, &d, &id), "not-granted",
             "import 'x' is state, and may not be written");
  d.access = FSCHED_ACCESS_WRITE;
  d.io = FSCHED_IO_INPUT;
  refused_as(fsched_submit_import(s, &d, &id), "not-granted",
             "import 'x' is input, and may not be read");
  d.access = 0;
  d.queue = "q9";
  refused_as(fsched_submit_import(s, &d, &id), "unknown-name",
             "import 'x': there is no queue 'q9'");
  d.queue = NULL;
  d.address = (void *)(UINTPTR_MAX - 8);
  refused_as(fsched_submit_import(s, &d, &id), "out-of-range",
             "import 'x' ends behind the last address");
  d.address = memory;
  ck_assert_uint_eq(id, 77);
  ck_fs(ctx, fsched_submit_import(s, &d, &id));
  ck_assert_uint_eq(id, 0);
  refused_as(fsched_submit_import(s, &d, &id), "repeated-name",
             "the name 'x' of an import is taken");
}
END_TEST

START_TEST(imports_do_not_overlap)
{
  static char memory[64];
  ck_fs(ctx, import_at("middle", memory + 16, 16, NULL));
  refused_as(import_at("x", memory + 8, 16, NULL), "imports-overlap",
             "imports 'x' and 'middle' have 8 bytes in common");
  refused_as(import_at("x", memory + 31, 1, NULL), "imports-overlap",
             "imports 'x' and 'middle' have 1 bytes in common");
  refused_as(import_at("x", memory, 64, NULL), "imports-overlap",
             "imports 'x' and 'middle' have 16 bytes in common");
  ck_fs(ctx, import_at("before", memory, 16, NULL));
  ck_fs(ctx, import_at("behind", memory + 32, 32, NULL));
  ck_fs(ctx, import_at("empty", memory + 20, 0, NULL));
  ck_fs(ctx, import_at("unknown", NULL, 64, NULL));
  /* A device's addresses are its own, and each queue sees them apart. */
  ck_fs(ctx, import_at("d0", memory + 16, 16, "q0"));
  ck_fs(ctx, import_at("d1", memory + 16, 16, "q1"));
  refused_as(import_at("d2", memory + 24, 16, "q1"), "imports-overlap",
             "imports 'd2' and 'd1' have 8 bytes in common");
}
END_TEST

START_TEST(shapes)
{
  uint64_t shape[] = {3, 5, 7, 2, 2, 2};
  uint32_t id = FS_NONE;
  fsched_submit_alloc_desc d = {.size = 24};
  refused_as(fsched_submit_alloc(s, &d, &id), "bad-argument",
             "'size' of fsched_submit_alloc_desc is 24, at least 32 is needed");
  d = (fsched_submit_alloc_desc){.size = sizeof d, .element = 4, .shape = shape};
  refused_as(fsched_submit_alloc(s, &d, &id), "bad-argument",
             "buffer 'alloc#0': a shape has 1 to 5 dimensions, not 0");
  d.n_dims = 6;
  refused_as(fsched_submit_alloc(s, &d, &id), "bad-argument",
             "buffer 'alloc#0': a shape has 1 to 5 dimensions, not 6");
  d.n_dims = 5;
  d.element = 0;
  refused_as(fsched_submit_alloc(s, &d, &id), "bad-argument",
             "buffer 'alloc#0': an element has no bytes");
  d.element = 4;
  d.memory = "none";
  refused_as(fsched_submit_alloc(s, &d, &id), "unknown-name",
             "buffer 'alloc#0': there is no memory 'none'");
  d.memory = NULL;
  ck_fs(ctx, fsched_submit_alloc(s, &d, &id));
  shape[0] = (uint64_t)1 << 40;
  shape[1] = 64;
  d.n_dims = 2;
  ck_fs(ctx, fsched_submit_alloc(s, &d, &id));
  ck_assert_uint_eq(id, 1);
  shape[1] = 65;
  refused_as(fsched_submit_alloc(s, &d, &id), "out-of-range",
             "buffer 'alloc#2' has more than 2^48 bytes");
  shape[0] = shape[1] = (uint64_t)1 << 33; /* the product is 4 modulo 2^64 */
  refused_as(fsched_submit_alloc(s, &d, &id), "out-of-range",
             "buffer 'alloc#2' has more than 2^48 bytes");
  shape[0] = 0;
  ck_fs(ctx, fsched_submit_alloc(s, &d, &id));
  d.name = "alloc#1";
  refused_as(fsched_submit_alloc(s, &d, &id), "repeated-name",
             "the name 'alloc#1' of a buffer is taken");
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->buffer_size[0], 4 * 3 * 5 * 7 * 2 * 2);
  ck_assert_uint_eq(g->buffer_size[1], FSCHED_MAX_SIZE);
  ck_assert_uint_eq(g->buffer_size[2], 0);
  ck_assert_uint_eq(g->buffer_memory[0], 0);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(rights_hold_for_every_tag)
{
  uint32_t r = import("r", 8, FSCHED_IO_INPUT, FSCHED_ACCESS_READ);
  uint32_t w = import("w", 8, FSCHED_IO_OUTPUT, FSCHED_ACCESS_WRITE);
  uint32_t c = import("c", 8, FSCHED_IO_CONSTANT, 0);
  static const char no_write[] = "task 't', arg 0: the import of 'r' does not allow to write it";
  static const char no_read[] = "task 't', arg 0: the import of 'w' does not allow to read it";
  ck_fs(ctx, submit_one("in", FSCHED_IN, r));
  refused_as(submit_one("t", FSCHED_OUT, r), "not-granted", no_write);
  refused_as(submit_one("t", FSCHED_INOUT, r), "not-granted", no_write);
  refused_as(submit_one("t", FSCHED_OUT_EXISTING, r), "not-granted", no_write);
  refused_as(submit_one("t", FSCHED_NO_DEP, r), "not-granted", no_write);
  ck_fs(ctx, submit_one("out", FSCHED_OUT, w));
  ck_fs(ctx, submit_one("existing", FSCHED_OUT_EXISTING, w));
  refused_as(submit_one("t", FSCHED_IN, w), "not-granted", no_read);
  refused_as(submit_one("t", FSCHED_INOUT, w), "not-granted", no_read);
  refused_as(submit_one("t", FSCHED_NO_DEP, w), "not-granted", no_read);
  refused_as(submit_one("t", FSCHED_OUT, c), "constant-written",
             "task 't', arg 0: the constant 'c' is written");
}
END_TEST

START_TEST(bad_args)
{
  uint32_t x = alloc("x", 16), none = 3;
  uint64_t shape = 4;
  fsched_submit_alloc_desc a = {.size = sizeof a, .element = 1, .n_dims = 1, .shape = &shape};
  fsched_submit_view v = {.size = 8, .length = 4};
  fsched_submit_arg arg[2] = {arg_of((fsched_tag)6, x), arg_of(FSCHED_OUT, x)};
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "task 't', arg 0: 'tag' is 6, outside 0 .. 5");
  refused_as(submit_one("t", FSCHED_OUT, none), "bad-argument",
             "task 't', arg 0: there is no buffer 3");
  arg[0] = arg_of(FSCHED_OUT, x);
  arg[0].size = 24;
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "'size' of fsched_submit_arg is 24, at least 48 is needed");
  arg[0].size = sizeof arg[0];
  arg[1].size += 8;
  refused_as(submit_args("t", arg, 2), "bad-argument",
             "task 't', arg 1: 'size' is 56, and 48 in the first");
  arg[0].view = &v;
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "'size' of fsched_submit_view is 8, at least 24 is needed");
  refused_as(submit_view(FSCHED_OUT, x, 3, 0), "at-outside",
             "task 't', arg 0: a view of no bytes of 'x'");
  refused_as(submit_view(FSCHED_OUT, x, 13, 4), "at-outside",
             "task 't', arg 0: 4 bytes from 13 on leave 'x' of 16 bytes");
  refused_as(submit_view(FSCHED_OUT, x, UINT64_MAX, 2), "at-outside",
             "task 't', arg 0: 2 bytes from 18446744073709551615 on leave 'x' of 16 bytes");
  uint64_t tile[] = {2, 4, 0}, stride[] = {8, 1};
  fsched_submit_view t = {.size = sizeof t, .n_dims = 2, .offset = 5};
  arg[0].view = &t;
  refused_as(submit_args("t", arg, 1), "bad-view", "task 't', arg 0: the view of 'x' has no shape");
  t.shape = tile + 1;
  refused_as(submit_args("t", arg, 1), "bad-view",
             "task 't', arg 0: the view of 'x' has a dimension of 0");
  t.shape = tile;
  t.strides = stride;
  refused_as(submit_args("t", arg, 1), "at-outside",
             "task 't', arg 0: 12 bytes from 5 on leave 'x' of 16 bytes");
  stride[0] = 3;
  refused_as(submit_args("t", arg, 1), "bad-view",
             "task 't', arg 0: the view of 'x' is written, and elements of it overlap");
  t.n_dims = 6;
  refused_as(submit_args("t", arg, 1), "bad-view",
             "task 't', arg 0: the view of 'x' has more than 5 dimensions");
  refused_as(submit_one("t", FSCHED_NO_DEP, x), "no-dep-bounded",
             "task 't', arg 0: no_dep of 'x', whose life in a bounded memory it cannot hold");
  v.size = sizeof v;
  arg[0].alloc = &a;
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "task 't', arg 0: only an 'out' without a view allocates a buffer");
  arg[0].view = NULL;
  arg[0].tag = FSCHED_INOUT;
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "task 't', arg 0: only an 'out' without a view allocates a buffer");
  arg[0].tag = FSCHED_OUT;
  a.n_dims = 0;
  refused_as(submit_args("t", arg, 1), "bad-argument",
             "task 't', arg 0: a shape has 1 to 5 dimensions, not 0");
  a.n_dims = 1;
  a.memory = "none";
  refused_as(submit_args("t", arg, 1), "unknown-name",
             "task 't', arg 0: there is no memory 'none'");
  a.memory = NULL;
  a.name = "x";
  refused_as(submit_args("t", arg, 1), "repeated-name", "the name 'x' of a buffer is taken");
  a.name = "y";
  arg[1] = arg[0];
  refused_as(submit_args("t", arg, 2), "repeated-name",
             "task 't', arg 1: arg 0 allocates a buffer 'y', too");
  fsched_submit_task_desc d = {.size = sizeof d, .callable = 1};
  refused_as(fsched_submit_task(s, &d, NULL), "bad-argument", "there is no callable 1");
  d.size = 8;
  refused_as(fsched_submit_task(s, &d, NULL), "bad-argument",
             "'size' of fsched_submit_task_desc is 8, at least 28 is needed");
  fsched_graph *g = finish();
  ck_assert_uint_eq(g->n_ops, 0);
  fsched_graph_destroy(g);
}
END_TEST

/* Up to so many rows all bytes are known.  Beyond, what may have been written may be read. */
START_TEST(reads_of_very_many_rows)
{
  enum { KNOWN = 65536 };
  for (uint64_t rows = KNOWN; rows <= KNOWN + 1; rows++) {
    char name[24], message[120];
    (void)snprintf(name, sizeof name, "x%u", (unsigned)rows);
    uint32_t x = alloc(name, 2 * rows);
    uint64_t shape = rows, stride = 2;
    fsched_submit_view v = {
        .size = sizeof v, .n_dims = 1, .shape = &shape, .strides = &stride, .element = 1};
    fsched_submit_arg a = arg_of(FSCHED_IN, x);
    a.view = &v;
    (void)snprintf(message, sizeof message,
                   "task 't', arg 0: reads buffer '%s', which nothing before it has written", name);
    refused_as(submit_args("t", &a, 1), "not-produced", message);
    shape = rows - 1;
    a.tag = FSCHED_OUT;
    ck_fs(ctx, submit_args(NULL, &a, 1));
    a.tag = FSCHED_IN;
    ck_fs(ctx, submit_args(NULL, &a, 1));
    shape = rows;
    if (rows == KNOWN) {
      (void)snprintf(message, sizeof message,
                     "task 't', arg 0: reads all of a range of buffer '%s', which nothing before "
                     "it has written",
                     name);
      refused_as(submit_args("t", &a, 1), "not-produced", message);
    } else {
      ck_fs(ctx, submit_args(NULL, &a, 1));
    }
  }
}
END_TEST

FS_SUITE(submit_refused, suite) {
  TCase *t = fs_case(suite, fixture);
  FS_TESTS(t, bad_callables, bad_params, bad_imports, imports_do_not_overlap, shapes,
           rights_hold_for_every_tag, bad_args, reads_of_very_many_rows);
}
