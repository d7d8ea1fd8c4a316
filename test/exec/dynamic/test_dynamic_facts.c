/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of dynamic runs, its heaps, and the public calls above it, executed or captured, do
 * what the facts of the orchestrator say. */
#include <stdio.h>
#include <string.h>

#include "exec/dynamic/script.h"
#include "kit/context.h"

/* What holds instead of what the file has. */
static const fs_script_edit corrections[] = {
    /* A case reads its own old bytes: that is an `inout`. */
    {"write-then-read-one-task-rejected", "error invalid \"write overlapping bytes\"",
     "state B = READY\npreds B = -\nwriters x = B"},
    /* `out` needs the right to write as well. */
    {"access-out-is-not-checked", "state A = READY", "error invalid"},
    /* The run fails at once; the task ends when its members have returned. */
    {"group-bad-member-index-fails-node", "state G = CONSUMED", "state G = RUNNING"},
    {"group-bad-member-index-fails-node",
     "reason G = \"Scheduler::worker_done: group_index 7 out of range for group_size 2\"", ""},
    {"group-bad-member-index-fails-node", "run_is failing",
     "run_is failing\ndone G.0\nstate G = RUNNING\ndone G.1\nstate G = CONSUMED\nrun_is failing"},
    /* An empty heap has all its bytes. */
    {"alloc-other-ring-still-usable", "error runtime \"per-ring heap exhausted\"", "ringof W = 1"},
    {"ring-empty-not-rebased", "error runtime \"timed out\"", "off b = 0\nid b = 1"},
    {"ring-empty-not-rebased", "off c = 1024", "error runtime"},
    /* A request may fill a heap exactly. */
    {"ring-gap-guard-strict", "error runtime \"timed out\"", "off d = 1024"},
    {"ring-gap-guard-strict", "off e = 1024", "error runtime"},
    /* The time-out begins anew with each reclaim. */
    {"ring-back-pressure-partial-progress-does-not-extend-deadline", "error runtime \"timed out\"",
     "off e = 0\ntop 0 = 2048\ntail 0 = 2048"},
    {NULL, NULL, NULL}};

/* What holds under `hazards: sequential`, where the corrected file has something else. */
static const fs_script_edit sequential[] = {
    /* Reads are tracked. */
    {"tag-in-no-writer", "mapsize 0", ""},
    /* What overwrites bytes comes after those that read them. */
    {"tag-war-inout-skips-reader", "preds I = W", "preds I = W,R"},
    {"tag-war-inout-skips-reader", "state I = READY", "state I = PENDING\nlive I = 1"},
    /* It also comes after those that wrote them, and retains them. */
    {"superseded-consume-keeps-newer", "state A = CONSUMED", "state A = COMPLETED"},
    {"tiles-2x2-independent", "preds X = A,B,C,D", "preds X = A,B,C,D,R"},
    /* Members that conflict are an error. */
    {"group-self-loop-skipped", "preds G = -", "error invalid"},
    {"group-self-loop-skipped", "preds R = G", "preds R = -"},
    {"group-member-order-other-way", "preds G = A", "error invalid\nwriters x = A"},
    {NULL, NULL, NULL}};

/* What the public calls do otherwise, as their headers say. */
#define IN_PUBLIC_CALLS                                                             \
  /* Scopes that nest too deep are a fault of the program. */                       \
  {                                                                                 \
    "scope-depth-limit", "error runtime \"Scope: maximum nesting depth exceeded\"", \
        "error invalid"                                                             \
  }

static const fs_script_edit dynamic_calls[] = {
    IN_PUBLIC_CALLS,
    /* Workers are of the host; test_dynamic_calls.c has the refusal. */
    {"device-key-is-per-worker", NULL, NULL},
    /* A member ends as its kernel returns, which cannot be told twice, or of another one. */
    {"group-duplicate-completion-ignored", "done G.0", ""},
    /* A task that is ready runs, and cancelling waits for it. */
    {"cancel-without-scope-consumes", "state A = CONSUMED",
     "state A = RUNNING\nrun_is failing\ndone A\nstate A = CONSUMED"},
    /* What is of no scope is held to the end of the run. */
    {"alloc-without-scope-never-consumed-early", "refs T = 0/1", ""},
    {"alloc-without-scope-never-consumed-early", "refs T = 1/1", "refs T = 2/1"},
    {"alloc-without-scope-never-consumed-early", "state T = CONSUMED",
     "state T = COMPLETED\nrefs T = 2/2"},
    {"group-bad-member-index-fails-node", NULL, NULL},
    {NULL, NULL, NULL}};

static const fs_script_edit captured[] = {
    IN_PUBLIC_CALLS,
    /* Nothing runs, so there is nothing to fail or to be full, and no run to close. */
    {"group-bad-member-index-fails-node", NULL, NULL},
    {"alloc-too-large", NULL, NULL},
    {"alloc-other-ring-still-usable", NULL, NULL},
    {"failure-poisons-pending-consumers", NULL, NULL},
    {"submit-after-run-error-rethrows", NULL, NULL},
    {"running-consumer-is-not-poisoned", NULL, NULL},
    {"cancel-without-scope-consumes", NULL, NULL},
    {"empty-run-completes-at-close", NULL, NULL},
    {"execution-may-finish-before-close", NULL, NULL},
    {"submit-outside-run", NULL, NULL},
    {NULL, NULL, NULL}};

enum { CASES = 41, RINGS = 11, STATEMENTS = 420, ERRORS = 17 };

static uint32_t count_edits(const fs_script_run *run) {
  uint32_t edits = 0;
  for (uint32_t i = 0; i < FS_SCRIPT_EDITS; i++) {
    for (const fs_script_edit *x = run->edits[i]; x != NULL && x->id != NULL; x++) {
      bool of_heaps = strncmp(x->id, "ring-", 5) == 0;
      edits += x->from != NULL && (!of_heaps || run->driver == &fs_script_engine);
    }
  }
  return edits;
}

static void print_counts(const fs_script_counts *n) {
  printf(
      "%u cases and %u of heaps, %u left out, %u statements and %u left out, %u errors, %u "
      "edits\n",
      n->cases, n->rings, n->cases_left_out, n->statements, n->left_out, n->errors, n->edits);
}

static void run_engine(fsched_hazards hazards, const fs_script_edit *second) {
  fs_script_run run = {&fs_script_engine, hazards, {corrections, second}};
  fs_script_counts n;
  if (!fs_script_run_all(&run, &n)) {
    return;
  }
  print_counts(&n);
  ck_assert_uint_eq(n.edits, count_edits(&run));
  ck_assert_uint_ge(n.cases, CASES);
  ck_assert_uint_ge(n.rings, RINGS);
  ck_assert_uint_ge(n.statements, STATEMENTS);
  ck_assert_uint_ge(n.errors, ERRORS);
}

START_TEST(raw_as_the_facts)
{ run_engine(FSCHED_HAZARDS_RAW, NULL); }
END_TEST

START_TEST(sequential_as_program_order)
{ run_engine(FSCHED_HAZARDS_SEQUENTIAL, sequential); }
END_TEST

/* The driver's own edits come last.  At least so many cases and statements are run. */
static void run_calls(const fs_script_driver *driver, bool sequentially, const fs_script_edit *own,
                      uint32_t cases, uint32_t statements) {
  fs_script_run run = {driver,
                       sequentially ? FSCHED_HAZARDS_SEQUENTIAL : FSCHED_HAZARDS_RAW,
                       {corrections, sequentially ? sequential : NULL, own}};
  fs_script_counts n;
  if (!fs_script_run_all(&run, &n)) {
    return;
  }
  print_counts(&n);
  ck_assert_uint_eq(n.edits, count_edits(&run));
  ck_assert_uint_ge(n.cases, cases);
  ck_assert_uint_ge(n.statements - n.left_out, statements);
}

/* _i: under sequential hazards. */
START_TEST(dynamic_calls_as_the_facts)
{ run_calls(&fs_script_dynamic, _i == 1, dynamic_calls, 39, 310); }
END_TEST

START_TEST(captured_as_the_facts)
{ run_calls(&fs_script_capture, _i == 1, captured, 31, 180); }
END_TEST

FS_SUITE(dynamic_facts, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, raw_as_the_facts, sequential_as_program_order);
  FS_LOOPS(t, 0, 2, dynamic_calls_as_the_facts, captured_as_the_facts);
}
