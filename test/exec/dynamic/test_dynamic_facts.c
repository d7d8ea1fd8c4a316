/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of dynamic runs, and its heaps, do what the facts of the orchestrator say. */
#include <stdio.h>

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

enum { CASES = 41, RINGS = 11, STATEMENTS = 420, ERRORS = 17 };

static void expect_counts(const fs_script_counts *n, const fs_script_edit *second) {
  uint32_t edits = 0;
  printf("%u cases, %u of heaps, %u statements, %u errors, %u edits\n", n->cases, n->rings,
         n->statements, n->errors, n->edits);
  for (const fs_script_edit *x = corrections; x->id != NULL; x++) {
    edits++;
  }
  for (const fs_script_edit *x = second; x != NULL && x->id != NULL; x++) {
    edits++;
  }
  ck_assert_uint_eq(n->edits, edits);
  ck_assert_uint_ge(n->cases, CASES);
  ck_assert_uint_ge(n->rings, RINGS);
  ck_assert_uint_ge(n->statements, STATEMENTS);
  ck_assert_uint_ge(n->errors, ERRORS);
}

START_TEST(raw_as_the_facts)
{
  fs_script_counts n;
  if (fs_script_run_all(FSCHED_HAZARDS_RAW, corrections, NULL, &n)) {
    expect_counts(&n, NULL);
  }
}
END_TEST

START_TEST(sequential_as_program_order)
{
  fs_script_counts n;
  if (fs_script_run_all(FSCHED_HAZARDS_SEQUENTIAL, corrections, sequential, &n)) {
    expect_counts(&n, sequential);
  }
}
END_TEST

FS_SUITE(dynamic_facts, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, raw_as_the_facts, sequential_as_program_order);
}
