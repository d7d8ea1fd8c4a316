/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of dynamic runs: tasks with tagged args, executed as soon as what they depend on is
 * complete.  It is a state machine without threads: its user submits tasks, asks which one may
 * start, and says which have ended.
 *
 *     free -> building -> pending -> ready -> running -> completed -> consumed
 *                            |         |         +-----> failed ---------^
 *                            +---------+-- (poisoned, or cancelled) --^
 *
 * Edges.  A task's args are looked up in order, and all look-ups come before what the task itself
 * adds.  `in` depends on the writes that share bytes with it; `inout` as well; `out` and
 * `out_existing` of memory that is there on nothing; `no_dep` on nothing.  With
 * FSCHED_HAZARDS_SEQUENTIAL reads are tracked, and all writes depend on the writes and the reads
 * that share bytes with them.  A write takes out what it covers exactly.  A predecessor is recorded
 * once, in the order found; one that has completed is retained and not waited for, one that is
 * consumed is passed over.
 *
 * Buffers.  An imported buffer is memory of the user.  A declared one has versions, each with
 * memory from a heap: `alloc` makes one, and so does a whole `out`, which depends on nothing of the
 * version before; any other write makes the first one if there is none.  A version belongs to the
 * task that made it; tasks that access it retain that task, and so its memory.  Once that is
 * consumed the version is gone, and whoever names it before a new one gets an error.
 *
 * Lives.  A task counts references (tasks that retain it, its scope, holds) and releases (its own
 * when it ends, then one for each reference); it is consumed by the release that makes releases
 * reach references + 1.  A task of `alloc` is born completed, with its own release made.
 *
 * Groups.  All members start at once, when enough workers are idle; the task ends when all members
 * have returned.  The group that has been ready longest keeps its workers from tasks that became
 * ready after it.
 *
 * Amounts.  A task starts only when the amounts of resources that it uses are free, and fewer tasks
 * run than `concurrency` says (a group is one).  The task with several members or with amounts that
 * has been ready longest keeps what it needs: first the amounts, and once it has these the queues.
 * What became ready after it takes only what is left.
 *
 * Failure.  The first cause of a run counts.  Tasks that wait for a failed one fail with its cause,
 * and so on; others go on.  Nothing more can be submitted.
 *
 * Units: bytes; times are nanoseconds of the user's clock.  Threads: one at a time.  Nothing
 * recurses, whatever the graph.
 * Source: the rules of the orchestrator of hw-native-sys/simpler; corrected: look-ups of a group
 * precede its inserts, `out` is checked for access rights too, a heap may be filled exactly, and
 * the time-out of a full heap begins anew with each reclaim. */
#ifndef FS_DYNAMIC_ENGINE_H
#define FS_DYNAMIC_ENGINE_H

#include "base/base.h"
#include "base/view.h"
#include "exec/dynamic/rings.h"
#include "fsched/graph.h"

typedef struct fs_dynamic fs_dynamic;
/* Handles; what they stand for may have gone long ago. */
typedef uint64_t fs_dynamic_task;
typedef uint64_t fs_dynamic_buffer;
#define FS_DYNAMIC_NO_TASK UINT64_MAX

enum { FS_DYNAMIC_SCOPES = 64 };

typedef struct fs_dynamic_options {
  uint32_t n_queues;
  const uint32_t *class_of;      /* of each queue, below n_queues; NULL: one class for all */
  const char *const *queue_name; /* of each queue, for messages; stays; NULL: its number */
  uint64_t heap_size;       /* of each of the four heaps, which are aligned to FS_HEAP_ALIGN, or: */
  const fs_heap_room *heap; /* each of `n_heaps`; NULL: heap_size */
  uint32_t n_heaps;         /* of `heap`, at least one; 0: four */
  uint32_t n_resources;
  const uint64_t *capacity; /* of each resource */
  uint64_t concurrency;     /* at most so many tasks run at once; 0: no limit */
  uint64_t timeout;         /* of a full heap; 0: 10 seconds */
  fsched_hazards hazards;
  bool undefined; /* bytes that nothing has written may be read */
  /* The clock, and how to wait until a task has ended or the time is `until`: `wait` may call
   * fs_dynamic_next, start, complete and fail.  False: there will be no more of that; the call that
   * waits then fails as at its time-out.  Both are only needed by runs that can fill a heap. */
  void *user;
  uint64_t (*now)(void *user);
  bool (*wait)(void *user, uint64_t until);
} fs_dynamic_options;

/* The first run is open.  The options' arrays are copied.  Errors: FSCHED_USAGE, reported: there
 * are no queues, or a class is out of range.  FSCHED_SYSTEM. */
fs_status fs_dynamic_create(fsched_context *ctx, const fs_dynamic_options *options,
                            fs_dynamic **out) FS_MUST_USE;
/* Whatever the state; NULL is ignored. */
void fs_dynamic_destroy(fs_dynamic *e);

/* Runs.  Functions that fail report FS_DIAG_DYNAMIC_... and return FSCHED_BAD_INPUT (a wrong arg),
 * FSCHED_USAGE (not now), FSCHED_INFEASIBLE (a limit), FSCHED_REPLAY (the run has failed; the
 * message is its first cause) or FSCHED_SYSTEM, and then nothing has changed. */

typedef enum fs_dynamic_run {
  FS_RUN_OPEN,    /* tasks can be submitted */
  FS_RUN_CLOSED,  /* tasks of it are not over */
  FS_RUN_FAILING, /* the same, or open, but one has failed */
  FS_RUN_DONE,    /* all have completed */
  FS_RUN_FAILED   /* nothing of it runs any more */
} fs_dynamic_run;

/* Begins the next run.  Errors: FSCHED_USAGE: the last one is not over. */
fs_status fs_dynamic_open(fs_dynamic *e) FS_MUST_USE;
/* Ends the submission: open scopes end, holds are given up.  Errors: FSCHED_USAGE: it has ended. */
fs_status fs_dynamic_close(fs_dynamic *e) FS_MUST_USE;
/* Fails all tasks that have not started, and closes.  `cause` is copied; one of an earlier failure
 * stays.  Nothing happens to a run that is over. */
void fs_dynamic_cancel(fs_dynamic *e, const char *cause);
/* Whether tasks can be submitted.  Errors, reported: FSCHED_REPLAY: the run has failed;
 * FSCHED_USAGE: the submission has ended. */
fs_status fs_dynamic_accept(fs_dynamic *e) FS_MUST_USE;
/* Whether the submission has not ended. */
bool fs_dynamic_is_open(const fs_dynamic *e);
fs_dynamic_run fs_dynamic_run_state(const fs_dynamic *e);
/* The first cause of the last run, of at most 255 bytes; NULL if nothing has failed. */
const char *fs_dynamic_run_cause(const fs_dynamic *e);

/* A task that is submitted in a scope lives at least until the scope ends.  The heap of a task is
 * that of its depth (rings.h).  Errors: FSCHED_INFEASIBLE: FS_DYNAMIC_SCOPES are open. */
fs_status fs_dynamic_scope_begin(fs_dynamic *e) FS_MUST_USE;
/* Errors: FSCHED_USAGE: no scope is open; FSCHED_REPLAY: nor is one, as the run has failed. */
fs_status fs_dynamic_scope_end(fs_dynamic *e) FS_MUST_USE;

/* Buffers */

/* Where the memory of an arg is. */
typedef struct fs_dynamic_where {
  uint32_t heap;   /* FS_NONE: it is the user's */
  uint64_t offset; /* in the heap, of the buffer's first byte; of the user's: its address */
  uint64_t size;   /* of the buffer */
} fs_dynamic_where;

typedef struct fs_dynamic_import {
  uint64_t size;
  uint64_t address; /* of its first byte; only compared with those of other imports */
  bool readable, writable;
  bool device; /* memory that each queue has for itself, at this address */
} fs_dynamic_import;

/* Errors: FSCHED_BAD_INPUT: it shares bytes with another one of its kind.  O(log imports). */
fs_status fs_dynamic_import_buffer(fs_dynamic *e, const fs_dynamic_import *desc,
                                   fs_dynamic_buffer *out) FS_MUST_USE;
/* Declares a buffer that has no memory yet. */
fs_status fs_dynamic_declare(fs_dynamic *e, uint64_t size, fs_dynamic_buffer *out) FS_MUST_USE;
/* Declares one and makes its first version, without content, which belongs to *task.  Errors:
 * FSCHED_BAD_INPUT: no dimension, or no element; as fs_dynamic_submit. */
fs_status fs_dynamic_alloc(fs_dynamic *e, uint32_t n_dims, const uint64_t *shape, uint64_t element,
                           fs_dynamic_buffer *out, fs_dynamic_task *task) FS_MUST_USE;
/* Declares one of `size` bytes and makes its first version, without content, in this heap.  It
 * belongs to *task, which has a hold until fs_dynamic_release; a size of 0 is allowed.  *where (may
 * be NULL) tells where it is.  Requires one of the heaps.  Errors: as fs_dynamic_submit. */
fs_status fs_dynamic_make(fs_dynamic *e, uint32_t heap, uint64_t size, fs_dynamic_buffer *out,
                          fs_dynamic_task *task, fs_dynamic_where *where) FS_MUST_USE;
/* The handle ends; tasks keep the memory of a declared buffer for as long as they need it.  Errors:
 * FSCHED_BAD_INPUT: no such buffer. */
fs_status fs_dynamic_forget(fs_dynamic *e, fs_dynamic_buffer buffer) FS_MUST_USE;
/* Holds the version that a declared buffer has now: *task, to which it belongs, has a further
 * reference until fs_dynamic_release.  Errors: FSCHED_BAD_INPUT: it has none, or it is gone;
 * FSCHED_REPLAY: that, or holds are given up, as the run has failed. */
fs_status fs_dynamic_hold(fs_dynamic *e, fs_dynamic_buffer buffer,
                          fs_dynamic_task *task) FS_MUST_USE;
/* Errors: FSCHED_USAGE: nothing holds the task; FSCHED_REPLAY: nor does it, and the run has failed.
 */
fs_status fs_dynamic_release(fs_dynamic *e, fs_dynamic_task task) FS_MUST_USE;

/* Tasks */

typedef struct fs_dynamic_arg {
  fsched_tag tag; /* not FSCHED_VALUE */
  fs_dynamic_buffer buffer;
  bool has_view; /* else all bytes */
  fs_view view;
} fs_dynamic_arg;

typedef struct fs_dynamic_member {
  uint32_t n_args;
  const fs_dynamic_arg *arg;
} fs_dynamic_member;

/* Waiting: it starts after that one completed.  Retaining: that one is not consumed before this one
 * has ended.  Either alone is possible. */
typedef struct fs_dynamic_predecessor {
  fs_dynamic_task task;
  bool waits, retains;
} fs_dynamic_predecessor;

typedef struct fs_dynamic_amount {
  uint32_t resource;
  uint64_t amount; /* above 0 */
} fs_dynamic_amount;

typedef struct fs_dynamic_submission {
  uint32_t n_members; /* 1: a task on its own */
  const fs_dynamic_member *member;
  /* The queue of each member, no two the same; or none, and any free ones of a class. */
  uint32_t n_queues;
  const uint32_t *queue;
  uint32_t class_;
  uint32_t n_predecessors; /* besides those that the tags give, behind which they are recorded */
  const fs_dynamic_predecessor *predecessor;
  uint32_t n_uses; /* of resources, each at most once; of all members together */
  const fs_dynamic_amount *use;
  uint32_t n_scratch; /* memory for the task alone: bytes of each piece */
  const uint64_t *scratch;
  uint32_t heap; /* 0: by the depth of scopes; h + 1: heap h */
  bool manual;   /* it waits for its predecessors alone; what its args do is entered all the same */
  /* Its args are known to be right: of buffers that are there, with tags and views that these
   * allow, and no two that may not touch the same bytes.  Then only versions are looked for. */
  bool checked;
  uint32_t n_holds; /* that the task begins with, each until fs_dynamic_release */
  uint64_t user;    /* whatever the user wants back with the task */
} fs_dynamic_submission;

/* Submits a task.  `where` (may be NULL) is filled for all args, member after member, and then for
 * its scratch.  Memory for all versions that the task makes, and its scratch, is one piece of a
 * heap, each aligned as the heap is.
 * Errors, all before anything changes: FSCHED_BAD_INPUT for args that do not fit: no or too many
 * members, queues out of range or twice, views outside of a buffer, missing access rights, content
 * that nothing has written as far as FS_VIEW_STEPS tell (base/view.h), a version that is gone, two
 * args that write the same bytes, resources that are not there, twice, or not enough, and with
 * FSCHED_HAZARDS_SEQUENTIAL members that conflict.  FSCHED_USAGE: no submission is open.
 * FSCHED_REPLAY: the run has failed.  FSCHED_INFEASIBLE: rings.h.
 * Cost: O(args^2) comparisons of args of one buffer, and the look-ups (accesses.h). */
fs_status fs_dynamic_submit(fs_dynamic *e, const fs_dynamic_submission *s, fs_dynamic_task *out,
                            fs_dynamic_where *where) FS_MUST_USE;

/* Execution */

/* The next task that may start, which then runs: its members on the queues, in order (room for
 * n_queues).  False: none can start before another ends.  Order: by when they became ready, as far
 * as workers are idle.  O(queues + resources), and O(members + uses) of up to 64 tasks that wait
 * with several members or with amounts. */
typedef struct fs_dynamic_start {
  fs_dynamic_task task;
  uint64_t user;
  uint32_t n_members;
  uint32_t *queue;
} fs_dynamic_start;
bool fs_dynamic_next(fs_dynamic *e, fs_dynamic_start *start);
/* Starts this task; for users with an order of their own.  False: it is not ready, or its workers
 * are not idle, or its amounts not free. */
bool fs_dynamic_claim(fs_dynamic *e, fs_dynamic_task task, fs_dynamic_start *start);
/* A member has returned.  Returning twice has no effect, nor has a task that does not run; a member
 * that the task does not have is a failure of the task.  O(edges of the task). */
void fs_dynamic_complete(fs_dynamic *e, fs_dynamic_task task, uint32_t member);
/* The same, and the task has failed.  `cause` is copied. */
void fs_dynamic_fail(fs_dynamic *e, fs_dynamic_task task, uint32_t member, const char *cause);

/* A queue has no worker any more.  What it runs goes on until its members have returned; what waits
 * and cannot run on the others fails, with `cause`, which is copied, and so do submissions of such
 * tasks from now on, of further runs, too, whose message has the cause.  Nothing happens to a queue
 * that is retired.  Requires a queue.  O(tasks). */
void fs_dynamic_retire(fs_dynamic *e, uint32_t queue, const char *cause);
/* The same of a queue that runs nothing, whose worker has done that ("has exited"). */
void fs_dynamic_retire_idle(fs_dynamic *e, uint32_t queue, const char *what);

/* The group that has been ready longest; FS_DYNAMIC_NO_TASK: none waits for workers.  O(tasks with
 * several members or with amounts that are ready). */
fs_dynamic_task fs_dynamic_waiting_group(const fs_dynamic *e, uint64_t *user);

/* What there is, for tests and reports */

typedef enum fs_dynamic_state {
  FS_TASK_FREE,
  FS_TASK_BUILDING,
  FS_TASK_PENDING,
  FS_TASK_READY,
  FS_TASK_RUNNING,
  FS_TASK_COMPLETED,
  FS_TASK_FAILED,
  FS_TASK_CONSUMED
} fs_dynamic_state;

typedef struct fs_dynamic_task_info {
  fs_dynamic_state state;
  uint32_t references, releases;
  uint32_t n_waits; /* predecessors that it waits for */
  uint32_t heap;
  const char *cause; /* why it failed, until its slot is used again; or NULL */
} fs_dynamic_task_info;

/* Requires a task that was submitted. */
fs_dynamic_task_info fs_dynamic_task_get(const fs_dynamic *e, fs_dynamic_task task);
/* The recorded predecessors of a task that has not ended, in order, up to `room`; returns their
 * number.  Requires a task that was submitted. */
uint32_t fs_dynamic_predecessors(const fs_dynamic *e, fs_dynamic_task task, fs_dynamic_task *out,
                                 uint32_t room);
/* The tasks whose writes share bytes with a view (NULL: all) of a buffer, one for each access, in
 * order, up to `room`; `queue` matters for memory of devices.  Errors: FSCHED_BAD_INPUT. */
fs_status fs_dynamic_writers(fs_dynamic *e, fs_dynamic_buffer buffer, const fs_view *view,
                             uint32_t queue, fs_dynamic_task *out, uint32_t room,
                             uint32_t *n) FS_MUST_USE;
/* Counts: of the accesses that are tracked, and of the slots whose heap is not reclaimed. */
uint32_t fs_dynamic_accesses(const fs_dynamic *e);
uint64_t fs_dynamic_active(const fs_dynamic *e);

#endif
