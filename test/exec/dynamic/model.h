/* SPDX-License-Identifier: Apache-2.0 */
/* A naive model of dynamic runs: buffers of at most 64 bytes, so that a set of bytes is a word;
 * lists that are walked from one end to the other; states that are found anew from what has
 * happened, without counts.  It knows the rules of tags, versions and lives, and it evaluates the
 * tasks in the order of their submission, so that it can say which bytes each one has to find. */
#ifndef FS_TEST_DYNAMIC_MODEL_H
#define FS_TEST_DYNAMIC_MODEL_H

#include "exec/dynamic/engine.h"

enum {
  MODEL_QUEUES = 5, /* of class 0, 0, 0, 1, 1 */
  MODEL_CLASSES = 2,
  MODEL_TASKS = 400,
  MODEL_BUFFERS = 64,
  MODEL_ARGS = 8, /* of all members of a task */
  MODEL_PREDS = 128,
  MODEL_ENTRIES = 4000,
  MODEL_VERSIONS = 1000,
  MODEL_BYTES = 64,
  MODEL_RESOURCES = 2,
  MODEL_SCRATCH = 2 /* pieces of a task */
};

typedef struct run_arg {
  uint32_t buffer, member;
  fsched_tag tag;
  bool has_view, reads, writes;
  fs_view view;
  uint64_t bytes;   /* a set */
  uint64_t content; /* those of them that have been written before */
  uint32_t version; /* that it names or makes, by queue where it is a device's */
  bool makes, joins, renews;
  uint8_t finds[MODEL_BYTES], leaves[MODEL_BYTES];
} run_arg;

typedef struct run_version {
  uint32_t owner; /* task; FS_NONE: memory of the user */
  uint64_t written;
  uint8_t value[MODEL_BYTES]; /* after all tasks so far, one after the other */
  fs_dynamic_where where;
} run_version;

typedef struct run_buffer {
  bool known, owned, device, readable, writable;
  uint32_t size;
  uint32_t version[MODEL_QUEUES]; /* FS_NONE: none */
  fs_dynamic_buffer handle;
} run_buffer;

typedef struct run_model_task {
  fs_dynamic_task handle;
  bool is_alloc, started, ended, failed, consumed, fails;
  bool scoped, was_retained;
  uint32_t scope; /* its number */
  uint32_t holds, n_members, n_args, n_queues, class_;
  uint32_t queue[MODEL_QUEUES]; /* named */
  uint32_t runs_on[MODEL_QUEUES];
  uint32_t returned; /* set of members */
  uint32_t n_preds, pred[MODEL_PREDS];
  bool waits[MODEL_PREDS], retains[MODEL_PREDS];
  run_arg arg[MODEL_ARGS];
  uint64_t uses[MODEL_RESOURCES]; /* amounts; 0: none */
  uint32_t n_scratch;
  uint64_t scratch[MODEL_SCRATCH];
  fs_dynamic_where scratch_at[MODEL_SCRATCH];
} run_model_task;

typedef struct run_entry {
  uint32_t task, version;
  uint64_t bytes;
  bool writes;
} run_entry;

typedef struct model {
  bool sequential, closed, over, failed;
  uint32_t n_tasks, n_buffers, n_versions, n_entries;
  run_model_task task[MODEL_TASKS];
  run_buffer buffer[MODEL_BUFFERS];
  run_version version[MODEL_VERSIONS];
  run_entry entry[MODEL_ENTRIES];
  uint32_t n_scopes, scope[64], next_scope; /* open ones, by number */
} model;

/* The bytes of a view. */
uint64_t model_bytes(const fs_view *v);
/* Whether a task may be submitted: it is at m->task[m->n_tasks], with its target and its args, and
 * its predecessors behind the ones that tags give are in `pred`.  Sets what the args find. */
bool model_accepts(model *m);
/* Adds it: its predecessors, its accesses, and what it writes. */
void model_submit(model *m, uint32_t n_more, const fs_dynamic_predecessor *more);
/* What follows from what has happened: who fails, ends, is consumed. */
void model_settle(model *m);
fs_dynamic_state model_state(const model *m, const run_model_task *t);
/* How many accesses still matter. */
uint32_t model_accesses(const model *m);

#endif
