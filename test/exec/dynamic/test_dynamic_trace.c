/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of dynamic runs, read back: which tasks ran on which queue, and in which order. */
#include <stdlib.h>
#include <string.h>

#include "draw/trace_reader.h"
#include "exec/dynamic/calls_program.h"
#include "exec/dynamic/forks.h"
#include "kit/budget.h"

#include "kit/context.h"

enum { LINKS = 20, MEMORY = 4096 };

static fsched_dynamic *d;

static void begin_case(fsched_context *c, bool processes, int trace, fsched_dynamic **out) {
  fsched_dynamic_options o = {.size = sizeof o,
                              .processes = processes,
                              .heap_bytes = 8192,
                              .memory_bytes = MEMORY,
                              .trace = trace};
  fsched_submit_callable_desc mix = {.size = sizeof mix, .name = "mix"};
  ck_fs(c, fsched_dynamic_create(two_queues(c), &o, out));
  ck_fs(c, fsched_dynamic_callable(*out, &mix, NULL));
}

static void drop_run(void) {
  fsched_dynamic_destroy(d);
  fs_test_end();
}

static void fixture(TCase *t) { tcase_add_checked_fixture(t, fs_test_begin, drop_run); }

/* A chain of tasks that change queues, and a group of two behind it.  The first status that is not
 * good. */
static fs_status run_chain(fsched_dynamic *x) {
  static const char *const queues[] = {"q0", "q1"};
  const uint64_t shape = BYTES;
  uint32_t a, task;
  fsched_submit_alloc_desc own = {.size = sizeof own, .element = 1, .n_dims = 1, .shape = &shape};
  FS_TRY(fsched_dynamic_begin_scope(x, NULL));
  FS_TRY(fsched_dynamic_alloc(x, &own, &a));
  for (int i = 0; i < LINKS; i++) {
    fsched_submit_arg link = arg(FSCHED_INOUT, a);
    fsched_submit_task_desc t = {.size = sizeof t, .args = &link, .n_args = 1, .on = queues[i % 2]};
    FS_TRY(fsched_dynamic_task(x, &t, &task));
  }
  fsched_submit_arg read = arg(FSCHED_IN, a);
  fsched_submit_member members[] = {{&read, 1}, {&read, 1}};
  fsched_submit_group_desc g = {.size = sizeof g,
                                .queues = queues,
                                .members = members,
                                .n_members = 2,
                                .name = "both \"ends\""};
  FS_TRY(fsched_dynamic_group(x, &g, &task));
  FS_TRY(fsched_dynamic_end_scope(x));
  FS_TRY(fsched_dynamic_close(x));
  return fsched_dynamic_drain(x);
}

/* The slices in the order of the file, and how many. */
static uint32_t list_slices(const tr_trace *t, const tr_event *out[], uint32_t room) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->event[i].phase == 'X') {
      ck_assert_uint_lt(n, room);
      out[n++] = &t->event[i];
    }
  }
  return n;
}

/* The name of the queue that is an event's thread. */
static const char *queue_of(const tr_trace *t, const tr_event *e) {
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *m = &t->event[i];
    if (m->phase == 'M' && m->tid == e->tid && strcmp(m->name, "thread_name") == 0) {
      return m->label;
    }
  }
  ck_abort_msg("thread %u has no name", e->tid);
  return NULL;
}

static uint64_t end_of(const tr_event *e) { return e->ts + e->dur; }

/* _i: processes, where they can be forked. */
START_TEST(each_member_has_a_slice)
{
  begin_case(ctx, _i == 1 && workers_fork(), 1, &d);
  for (int run = 0; run < 2; run++) { /* of the last run alone */
    tr_trace t;
    const tr_event *slice[LINKS + 2];
    char *text;
    size_t length;
    ck_fs(ctx, fsched_dynamic_open(d));
    ck_fs(ctx, run_chain(d));
    ck_fs(ctx, fsched_dynamic_trace(d, &text, &length));
    tr_open(&t, text, length);
    fsched_text_free(ctx, text, length);
    ck_assert_str_eq(t.event[0].label, "calls (dynamic)");
    ck_assert_uint_eq(list_slices(&t, slice, LINKS + 2), LINKS + 2);
    ck_assert_uint_eq(slice[0]->ts, 0);
    for (uint32_t i = 0; i < LINKS; i++) {
      char name[16];
      (void)snprintf(name, sizeof name, "mix#%u", i);
      ck_assert_str_eq(slice[i]->name, name);
      ck_assert_str_eq(slice[i]->cat, "op");
      ck_assert_str_eq(queue_of(&t, slice[i]), i % 2 == 0 ? "q0" : "q1");
      ck_assert_uint_eq(slice[i]->epoch, 1 + i / 2);
      ck_assert(i == 0 || slice[i]->ts >= end_of(slice[i - 1]));
    }
    for (uint32_t m = 0; m < 2; m++) {
      const tr_event *e = slice[LINKS + m];
      ck_assert_str_eq(e->name, "both \"ends\"");
      ck_assert_str_eq(e->cat, "gang");
      ck_assert_uint_eq(e->member, m);
      ck_assert_str_eq(queue_of(&t, e), m == 0 ? "q0" : "q1");
      ck_assert(e->ts >= end_of(slice[LINKS - 1]));
    }
    tr_close(&t);
  }
}
END_TEST

static void refused(fs_status status, const char *part) {
  ck_assert_int_eq(status, FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, part));
  fsched_diag_clear(ctx);
}

START_TEST(traces_are_of_runs_that_are_over)
{
  char *text = (char *)(uintptr_t)1;
  size_t length;
  begin_case(ctx, false, 1, &d);
  refused(fsched_dynamic_trace(d, &text, &length), "no run was opened");
  ck_assert_ptr_null(text);
  ck_fs(ctx, fsched_dynamic_open(d));
  refused(fsched_dynamic_trace(d, &text, &length), "not over");
  fsched_dynamic_cancel(d, "enough");
  ck_fs(ctx, fsched_dynamic_trace(d, &text, &length)); /* and has no slices */
  ck_assert_ptr_null(strstr(text, "\"ph\":\"X\""));
  ck_assert_ptr_nonnull(strstr(text, "thread_name"));
  fsched_text_free(ctx, text, length);
  fsched_dynamic_destroy(d);
  begin_case(ctx, false, 0, &d);
  ck_fs(ctx, fsched_dynamic_open(d));
  ck_fs(ctx, run_chain(d));
  refused(fsched_dynamic_trace(d, &text, &length), "did not ask");
}
END_TEST

static fs_status trace_chain(fsched_context *own) {
  fsched_dynamic_options o = {.size = sizeof o, .heap_bytes = 8192, .trace = 1};
  fsched_submit_callable_desc mix = {.size = sizeof mix, .name = "mix"};
  fsched_dynamic *x;
  fsched_builder *b = two_queues(own);
  char *text = NULL;
  size_t length = 0;
  if (b == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fsched_dynamic_create(b, &o, &x));
  fs_status status = fsched_dynamic_callable(x, &mix, NULL);
  status = status == FSCHED_OK ? fsched_dynamic_open(x) : status;
  status = status == FSCHED_OK ? run_chain(x) : status;
  status = status == FSCHED_OK ? fsched_dynamic_trace(x, &text, &length) : status;
  fsched_text_free(own, text, length);
  fsched_dynamic_destroy(x);
  return status;
}

START_TEST(memory_may_run_out_anywhere)
{
  fs_budget budget = {0};
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    budget.left = n;
    status = fsched_context_create(&o, &own);
    if (status == FSCHED_OK) {
      status = trace_chain(own);
      fsched_context_destroy(own);
    }
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_SYSTEM, "%d after %ld", (int)status, n);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_gt(n, 50);
}
END_TEST

FS_SUITE(dynamic_trace, s) {
  TCase *t = fs_case(s, fixture);
  FS_LOOPS(t, 0, 2, each_member_has_a_slice);
  FS_TESTS(t, traces_are_of_runs_that_are_over, memory_may_run_out_anywhere);
}
