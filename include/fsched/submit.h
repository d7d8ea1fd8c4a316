/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: graphs from tagged submits.
 *
 * A model compiler walks its model and submits a task for each layer, tile or copy: which buffers
 * it reads and which it writes.  The order between tasks follows from that.  A submitter records
 * the tasks (capture), and fsched_submit_finish makes a frozen graph of them, which is compiled,
 * verified and replayed like any other.
 *
 *   fsched_builder *target;                 describe queues and memories by graph.h
 *   fsched_submitter *s;
 *   fsched_submit_create(target, &s);
 *   fsched_submit_import(s, &weights, &w);  memory of the user
 *   fsched_submit_callable(s, &matmul, &mm);
 *   fsched_submit_task(s, &task, &id);      once for each task, in program order
 *   fsched_submit_finish(s, &graph);
 *
 * The target is described with the calls of graph.h, on a builder that is then handed over: a
 * machine is described once, by one vocabulary, for graphs of any origin; and nothing about it can
 * change while tasks are submitted, so a call can check at once what it is given.
 *
 * Names: a task has its own name, or that of its callable, "#" and the number of the callable's
 * tasks before it, named or not: "matmul#2".  What the built-in kernel `mix` writes depends on that
 * name, so it is the same however the tasks are run.  Names are copied, and are UTF-8.  Ids count
 * from 0 in order of creation, per kind; those of tasks and buffers are the graph's.
 *
 * Errors: every fault that can be found is found before anything is recorded.  A call that fails
 * with FSCHED_BAD_INPUT has reported a diagnostic, which names the task and the arg, and has no
 * other effect: the submitter goes on as if the call had not been made, and its outputs are
 * unchanged.  After FSCHED_SYSTEM (memory ran out) it can only be destroyed: further calls, and
 * finish, report and return FSCHED_SYSTEM.  After a finish that has made or tried to make the graph
 * other calls are FSCHED_BAD_INPUT.
 *
 * Descriptors start with their own size, and members beyond it count as zero (graph.h).  Elements
 * of an array of such structs all have the size of the first.
 *
 * Threads: a submitter, with its context, is used by one thread at a time.
 * Complexity: O(1) amortised per call, and for a task O(log n) per arg, or per row of its tile, n
 * the ranges of its buffer that are written so far, and O(w^2) for w written args of one buffer. */
#ifndef FSCHED_SUBMIT_H
#define FSCHED_SUBMIT_H

#include "fsched/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_submitter fsched_submitter;

/** The deepest nest of scopes, and the most dimensions of a shape. */
#define FSCHED_SUBMIT_SCOPES 64
#define FSCHED_SUBMIT_DIMS 5

/** What tasks may do with imported memory; a sum of these. */
#define FSCHED_ACCESS_READ 1u
#define FSCHED_ACCESS_WRITE 2u

/** Memory of the user.  Imports name what exists, so two of them may not overlap. */
typedef struct fsched_submit_import_desc {
  size_t size;
  const char *name;
  uint64_t bytes;
  const char *memory; /* of the target, as in fsched_buffer_desc */
  fsched_io io;       /* what is given and kept of it */
  /** FSCHED_ACCESS_...; 0: both.  `in` needs the right to read, `out` and `out_existing` that to
   *  write, `inout` both; `no_dep`, of which it is not known what it does, both. */
  unsigned access;
  /** Where it is; NULL: not known yet.  Capture keeps no pointer: where a graph is run, its inputs
   *  and outputs are bound by name. */
  const void *address;
  /** NULL: memory of the host.  Else the name of a queue, and `address` is in the memory of that
   *  queue's device as the queue sees it; only tasks on this queue can use it.  The same address is
   *  imported once for each queue, and these buffers have nothing to do with each other. */
  const char *queue;
} fsched_submit_import_desc;

/** A buffer whose place and life are fsched's. */
typedef struct fsched_submit_alloc_desc {
  size_t size;
  uint64_t element;      /* bytes of an element */
  uint32_t n_dims;       /* 1 to FSCHED_SUBMIT_DIMS */
  const uint64_t *shape; /* elements along each dimension; a 0 makes a buffer without bytes */
  /** NULL: "alloc#", and the number of calls of fsched_submit_alloc before without a name; of a
   *  buffer that a task allocates, the task's name, "." and the index of the arg. */
  const char *name;
  const char *memory; /* as in fsched_buffer_desc */
} fsched_submit_alloc_desc;

/** Of a resource or memory, by the id that the builder gave it, what a task takes of it. */
typedef struct fsched_submit_amount {
  uint32_t id;
  uint64_t amount;
} fsched_submit_amount;

/** What a task executes and what it costs, described once and called by any number of tasks. */
typedef struct fsched_submit_callable_desc {
  size_t size;
  const char *name;                 /* of no other callable */
  const char *on;                   /* name of a queue, else class; NULL: "compute" */
  int has_time;                     /* time is given, even if it is 0 */
  uint64_t time;                    /* ticks; 0 without has_time: 1 */
  uint64_t latency;                 /* as in fsched_op_desc */
  const fsched_kernel_desc *kernel; /* NULL: the built-in mix */
  const fsched_submit_amount *uses; /* of resources */
  uint32_t n_uses;
  const fsched_submit_amount *scratch; /* bytes of memories, held while the task runs */
  uint32_t n_scratch;
  /** In place of `on`: a gang on any gang_count queues of the class, which are chosen for each
   * task: 1 to the number of its queues.  The task takes them all, and its kernel is called once.
   * NULL with gang_count 0: none. */
  const char *gang_class;
  uint32_t gang_count;
} fsched_submit_callable_desc;

/** Which bytes of its buffer an arg is: a range, or a tile of n_dims dimensions as in
 *  fsched_arg_desc.  Whether what is read was written is known of each byte of a tile of up to
 * 65,536 rows; a tile of more rows counts as all bytes from its first to its last one, as far as it
 * is written, and may be read if any of them is. */
typedef struct fsched_submit_view {
  size_t size;
  uint64_t offset, length; /* bytes; length 1 or more, ignored for a tile */
  uint32_t n_dims;         /* 0: a range; else up to FSCHED_MAX_DIMS */
  const uint64_t *shape;   /* elements along each dimension */
  const uint64_t *strides; /* bytes from one to the next; NULL: side by side, the last innermost */
  uint64_t element;        /* bytes; 0: 1 */
} fsched_submit_view;

/** An argument of a task.  Its tag says what the task does with it (fsched_tag), where
 *  - `out` without a view, of a buffer that is not imported, starts a version of the buffer, with
 *    memory of its own; any other `out` writes in place, as FSCHED_OUT_EXISTING does;
 *  - FSCHED_INOUT of bytes of an alloc'ed buffer, none of which was written before, is
 *    FSCHED_OUT_EXISTING. */
typedef struct fsched_submit_arg {
  size_t size;
  fsched_tag tag;
  uint32_t buffer;                /* id; ignored for FSCHED_VALUE, and with `alloc` */
  const fsched_submit_view *view; /* NULL: all of it */
  int64_t value;                  /* for FSCHED_VALUE */
  /** For FSCHED_OUT without a view: not `buffer` is written, but a new one that is allocated, and
   *  whose id is stored in *allocated (NULL: nowhere). */
  const fsched_submit_alloc_desc *alloc;
  uint32_t *allocated;
} fsched_submit_arg;

/** A task before this one, which it waits for, whose results it retains, or both.  Captured graphs
 *  need no retaining, as the lives of buffers are the compiler's; one of the two must be set. */
typedef struct fsched_submit_predecessor {
  uint32_t task;
  int wait, retain;
} fsched_submit_predecessor;

typedef struct fsched_submit_task_desc {
  size_t size;
  uint32_t callable;
  const fsched_submit_arg *args; /* in the order of the kernel's parameters */
  uint32_t n_args;
  const char *name; /* NULL: the callable's, and a number */
  const char *on;   /* NULL: the callable's, or its gang */
  const fsched_submit_predecessor *predecessors;
  uint32_t n_predecessors;
  /** A block of up to FSCHED_MAX_PARAMS bytes, which is copied: the task's kernel gets it in place
   * of the callable's (fsched_kernel_desc); `mix` where the callable has no kernel.  n_params 0: as
   * the callable says. */
  const void *params;
  size_t n_params;
} fsched_submit_task_desc;

/** The args of a member of a group; NULL with n_args 0: none. */
typedef struct fsched_submit_member {
  const fsched_submit_arg *args; /* in the order of the kernel's parameters */
  uint32_t n_args;
} fsched_submit_member;

/** A group of members that run at the same time, each with its own args on its own queue; it is
 *  over when all of them are. */
typedef struct fsched_submit_group_desc {
  size_t size;
  uint32_t callable; /* each member executes it; its `on` does not count */
  /** One for each member, in the order in which the queues were added.  NULL, of a callable with a
   *  gang: any queues of its class, and there are gang_count members. */
  const char *const *queues;
  const fsched_submit_member *members;
  uint32_t n_members; /* 1 or more */
  const char *name;   /* NULL: the callable's, and a number */
  const fsched_submit_predecessor *predecessors;
  uint32_t n_predecessors;
  const void *params; /* as of a task; each member gets it */
  size_t n_params;
} fsched_submit_group_desc;

typedef struct fsched_submit_scope_desc {
  size_t size;
  const char *name; /* for diagnostics; NULL: "#" and the number of scopes before it */
  /** In a manual scope tags say what tasks do, and nothing of when: its tasks wait for the
   *  predecessors that are given, alone.  Tasks behind it, in no manual scope, wait for them as for
   *  others.  A captured graph has the edges of the tags all the same, so that it is right;
   *  fsched_submit_lint lists what the program has left to them.  Scopes in a manual one must be
   *  manual, too. */
  int manual;
} fsched_submit_scope_desc;

/** Makes a submitter for the target and settings of a builder, which has neither buffers nor ops
 *  nor loops.  The builder belongs to the submitter from then on, whatever the result.  Errors:
 *  FSCHED_BAD_INPUT, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_create(fsched_builder *target,
                                                              fsched_submitter **out);
/** NULL is ignored.  The graph that fsched_submit_finish made stays. */
FSCHED_API void fsched_submit_destroy(fsched_submitter *s);

/** Errors: an import that overlaps another one, of the same queue or of the host. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_import(fsched_submitter *s,
                                                              const fsched_submit_import_desc *desc,
                                                              uint32_t *buffer);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_alloc(fsched_submitter *s,
                                                             const fsched_submit_alloc_desc *desc,
                                                             uint32_t *buffer);
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_submit_callable(fsched_submitter *s, const fsched_submit_callable_desc *desc, uint32_t *id);

/** Submits a task behind all others.  All args are looked up before any is entered: an `in` reads
 *  what was there before the task.  Predecessors are those of the args in their order, then those
 *  that are given, in theirs; a captured graph lists them by their ids.  Errors, beside faults of a
 * descriptor: an access that the import does not grant; a read of bytes that nothing has written;
 * two args that write overlapping bytes; a buffer, or content, whose scope has ended; a constant
 * that is written; `no_dep` of a buffer in a bounded memory; imported memory of another queue; a
 * name that is there already. task may be NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_task(fsched_submitter *s,
                                                            const fsched_submit_task_desc *desc,
                                                            uint32_t *task);
/** Submits a group behind all other tasks; it is one task.  All args of all members are looked up
 *  before any is entered, so an `in` of one member reads what was there before the group, also
 * where another one writes.  In diagnostics args count on from member to member.  Errors, beside
 * those of a task: members that conflict, as one writes bytes of a version that another one
 * accesses, which is a race with FSCHED_HAZARDS_RAW; queues that are none, or out of their order.
 * task may be NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_group(fsched_submitter *s,
                                                             const fsched_submit_group_desc *desc,
                                                             uint32_t *task);
/** The name of a task; NULL for an id that is none.  It lives as long as the submitter and the
 *  graph that finish made. */
FSCHED_API const char *fsched_submit_task_name(const fsched_submitter *s, uint32_t task);

/** Begins a scope in the innermost open one; NULL: without a name.  What is allocated in it goes
 *  with its end: a buffer, and a version that an `out` begins, also of a buffer of another scope.
 *  Without a scope both stay.  Imported memory is the user's and never goes.  Using what has gone
 * is an error; only an `out` of all of it may follow on a version that has gone, as it reads
 * nothing. Errors: more than FSCHED_SUBMIT_SCOPES scopes open. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_submit_begin_scope(fsched_submitter *s, const fsched_submit_scope_desc *desc);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_end_scope(fsched_submitter *s);
/** Keeps a buffer, and its content, behind the end of its scope, until it is released as often as
 *  it was held.  What is held at finish is so to the end.  Errors: a buffer or content that has
 *  gone; a release without a hold. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_hold(fsched_submitter *s, uint32_t buffer);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_release(fsched_submitter *s,
                                                               uint32_t buffer);

/** Freezes what was submitted.  Errors: FSCHED_BAD_INPUT, without any effect, when a scope is open;
 *  else as fsched_builder_finish. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_finish(fsched_submitter *s,
                                                              fsched_graph **out);

/** Two tasks that touch the same bytes of a version, one of them writing, and which the program
 * does not order: they are in manual scopes, or the graph's hazards are raw. */
typedef struct fsched_submit_pair {
  uint32_t before, after; /* in the order in which they were submitted */
  uint32_t buffer;
  int derived; /* the captured graph has them in this order, by their tags; else it is a race there,
                  too */
  const char *before_name, *after_name, *buffer_name; /* as long as the graph */
} fsched_submit_pair;

/** Finds these pairs; *n is their number.  `graph` is the one that finish made.
 *  Complexity: O(1) without manual scopes and races; else O(tasks + edges) at worst for each task
 *  that accesses a version which is written in place, or in a manual scope.
 *  Errors: FSCHED_BAD_INPUT, for another graph, and for more than 2^20 pairs; FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_submit_lint(fsched_submitter *s,
                                                            const fsched_graph *graph, uint32_t *n);
/** One of the pairs found last; NULL for an index that is not below their number.  It belongs to
 *  the submitter, until the next lint. */
FSCHED_API const fsched_submit_pair *fsched_submit_lint_pair(const fsched_submitter *s,
                                                             uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
