/* SPDX-License-Identifier: Apache-2.0 */
/* Submits that are executed at once instead of captured.
 *
 * A submitter with a sink checks and names what it is given as others do, and hands it to the sink
 * instead of recording it for a graph.  What it keeps is the state of its run: buffers, which of
 * their bytes are written, scopes and holds; fs_submit_renew forgets all of that.  Names of tasks
 * are not kept, so a name may come again.  Such a submitter is never finished.
 *
 * Threads: those of the submitter. */
#ifndef FS_SUBMIT_SINK_H
#define FS_SUBMIT_SINK_H

#include "base/view.h"
#include "front/builder/builder.h"
#include "fsched/submit.h"

/* A task's arg that was found to be right. */
typedef struct fs_submit_access {
  fsched_tag tag;  /* as the graph has it */
  uint32_t buffer; /* FS_NONE: a number, or what is allocated */
  bool has_at;
  uint64_t offset, length; /* of a tile, up to its last byte */
  uint32_t tile;           /* into the submitter's; FS_NONE: a range */
  uint32_t member;         /* of a group; else 0 */
  uint32_t before;         /* of a group: its access of the same buffer before; FS_NONE: none */
  uint32_t alloc;          /* into what the submit allocates; FS_NONE: nothing */
  int64_t value;
} fs_submit_access;

/* What an arg allocates. */
typedef struct fs_submit_alloc {
  const char *name;
  uint64_t bytes;
  uint32_t memory;
  uint32_t *allocated; /* where the caller wants the buffer's id; or NULL */
} fs_submit_alloc;

/* A task or group that was found to be right.  What it allocates are the next buffers, in the order
 * of its args. */
typedef struct fs_submitted {
  const char *name;
  uint32_t callable;
  bool group, manual; /* manual: in a manual scope */
  uint32_t n_gang;    /* any so many queues of the class; 0: one, or those of members */
  const char *on;     /* a queue's name, or a class's; not of a group on queues that are named */
  bool on_own;        /* of the task's own; else the callable's */
  uint32_t queue;     /* FS_NONE: any of the class */
  uint32_t n_members;
  const uint32_t *member_queue; /* of a group, unless it has a gang */
  uint32_t n_accesses;          /* of all members, one after the other */
  const fs_submit_access *access;
  const fs_submit_alloc *alloc;
  const fs_view *tile;
  uint32_t n_predecessors;
  const fsched_submit_predecessor *predecessor;
  const void *params; /* in place of the callable's, if there are any */
  size_t n_params;
} fs_submitted;

/* Each function is called when all checks are over, and before anything is noted; if it fails, the
 * call has had no effect.  The ids of what it gets are the next ones of their kind. */
typedef struct fs_submit_sink {
  void *user;
  fs_status (*callable)(void *user, const fsched_submit_callable_desc *d) FS_MUST_USE;
  fs_status (*import)(void *user, const fsched_submit_import_desc *d,
                      unsigned access) FS_MUST_USE; /* FSCHED_ACCESS_..., not 0 */
  fs_status (*alloc)(void *user, uint64_t bytes) FS_MUST_USE;
  fs_status (*submit)(void *user, const fs_submitted *task) FS_MUST_USE;
} fs_submit_sink;

/* Requires a submitter to which nothing has been submitted. */
void fs_submit_set_sink(fsched_submitter *s, const fs_submit_sink *sink);
/* Begins the next run: buffers, scopes and tasks are forgotten, callables stay, and all numbers
 * begin anew.  O(callables + buffers).  Requires a sink. */
void fs_submit_renew(fsched_submitter *s);
/* The target, which belongs to the submitter. */
const fsched_builder *fs_submit_target(const fsched_submitter *s);
/* Whether the version of a buffer must last although no scope keeps it: it is held, or of no scope.
 * Requires a buffer. */
bool fs_submit_lasts(const fsched_submitter *s, uint32_t buffer);
/* The same for a version that begins now, in a buffer that is there, or in a new one (FS_NONE). */
bool fs_submit_will_last(const fsched_submitter *s, uint32_t buffer);

#endif
