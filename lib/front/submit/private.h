/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a submitter, for the files of this room.
 *
 * What is submitted is checked against the tables here, and handed on to a builder, which derives
 * versions and edges when it is finished.  Ids of tasks are those of the builder's ops; those of
 * buffers are the builder's, too. */
#ifndef FS_SUBMIT_PRIVATE_H
#define FS_SUBMIT_PRIVATE_H

#include "base/names.h"
#include "base/ranges.h"
#include "front/submit/sink.h"
#include "model/kinds.h"

typedef struct fs_submit_buffer {
  uint64_t bytes;
  uint64_t n_written; /* bytes of `written`, while not all are */
  uint64_t call;      /* the last task, by its number among the calls, that writes it ... */
  uint32_t first_arg; /* ... and by which of its args first */
  uint64_t group;     /* the last group that accesses it, and its last access there */
  uint32_t last_access;
  uint32_t written;       /* a set of ranges, empty when all is written */
  uint32_t queue;         /* whose device it is on; FS_NONE: any may use it */
  uint32_t scope;         /* in which it was allocated; FS_NONE: none */
  uint32_t content_scope; /* in which its version began */
  uint32_t holds;
  uint8_t access;
  uint8_t tags;         /* the set of those that its rights and its memory allow, on any queue */
  bool imported, fixed; /* fixed: a constant */
  bool bounded;         /* it is in a bounded memory */
  bool all_written;
} fs_submit_buffer;

typedef struct fs_submit_scope {
  const char *name;
  uint32_t parent; /* FS_NONE: none */
  bool open, manual;
} fs_submit_scope;

/* Tasks that were submitted in a manual scope. */
typedef struct fs_submit_manual {
  uint32_t first, end;
} fs_submit_manual;

/* Room for "#", a number of 32 bits, and the NUL. */
enum { FS_SUBMIT_LABEL = 12 };

typedef struct fs_submit_callable {
  fsched_op_desc op; /* the texts are the submitter's copies; `on` is also the class of a gang */
  char *label;       /* the name of its next task without one of its own: "callable#number" */
  size_t label_length;
  uint32_t queue;                             /* that `on` names; FS_NONE: a class */
  uint32_t kernel;                            /* the builder's; FS_NONE: none */
  uint32_t use0, n_uses, scratch0, n_scratch; /* into `amount` */
} fs_submit_callable;

struct fsched_submitter {
  fsched_context *ctx;
  fsched_builder *b;
  fs_arena arena;             /* names */
  const fs_submit_sink *sink; /* NULL: submits are captured */
  fs_arena run;               /* names of scopes, and of buffers where there is a sink */
  fs_names buffer_names;      /* where there is a sink */
  fs_names callables;
  fs_ranges ranges;
  uint32_t *import_set; /* per queue, and then of the host: what is imported, by address */
  FS_VEC(fs_submit_buffer) buffer;
  FS_VEC(fs_submit_callable) callable;
  FS_VEC(fsched_submit_amount) amount;
  FS_VEC(fs_submit_scope) scope;
  FS_VEC(fs_submit_manual) manual; /* ascending; the last one may have no end yet */
  FS_VEC(fs_submit_access) access; /* of the task in hand */
  FS_VEC(fs_submit_alloc) alloc;   /* of the task in hand */
  fs_ids member_queue;             /* of the group in hand */
  FS_VEC(fs_view) tile;            /* of the task in hand, each where it is in its buffer */
  FS_VEC(fsched_submit_pair) pair; /* of the lint */
  const fsched_graph *graph;       /* that finish made; not the submitter's */
  fs_ids found;
  uint32_t current, depth; /* the innermost open scope, FS_NONE: none; how many are open */
  uint32_t n_unnamed;      /* allocs without a name */
  uint32_t n_tasks;
  uint64_t calls;
  bool hash_named; /* some task has a name of its own with a "#" */
  bool finished, broken;
};

/* The bytes that an access stands for; a buffer without bytes counts as one. */
static inline uint64_t fs_submit_end(uint64_t offset, uint64_t length) {
  return offset + fs_max(length, 1);
}

static inline const fs_names *fs_submit_buffer_names(const fsched_submitter *s) {
  return s->sink == NULL ? fs_builder_names(s->b, FS_KIND_BUFFER) : &s->buffer_names;
}

/* Refuses calls after finish, and after memory ran out. */
fs_status fs_submit_check_open(fsched_submitter *s) FS_MUST_USE;
/* Ends a call that may have recorded something: what is not recorded as a whole, or could not be
 * looked at as memory ran out, must not become a graph.  Returns the status. */
fs_status fs_submit_recorded(fsched_submitter *s, fs_status status) FS_MUST_USE;
fs_status fs_submit_ended(fsched_submitter *s, fs_status status) FS_MUST_USE;
/* Refuses a descriptor whose size is below the least one.  Requires least > 0. */
fs_status fs_submit_check_size(fsched_submitter *s, const char *type, size_t size,
                               size_t least) FS_MUST_USE;
#define FS_SUBMIT_TAKE(type, last, copy, desc)                                     \
  type copy = {0};                                                                 \
  FS_TRY(fs_submit_check_size(s, #type, (desc)->size, FS_SIZE_UP_TO(type, last))); \
  (void)((desc)->size >= sizeof copy ? memcpy(&copy, (desc), sizeof copy)          \
                                     : memcpy(&copy, (desc), (desc)->size))

/* Refuses a name that is missing, empty, not UTF-8, or in the table.  Requires what it is of. */
fs_status fs_submit_check_name(fsched_submitter *s, const char *what, const char *name,
                               const fs_names *taken) FS_MUST_USE;
/* Finds a memory; FS_NONE for NULL.  Requires what asks for it. */
fs_status fs_submit_find_memory(fsched_submitter *s, const char *who, const char *name,
                                uint32_t *memory) FS_MUST_USE;
/* Finds what a task can run on: a queue, or FS_NONE for a class.  Requires who runs there and a
 * name. */
fs_status fs_submit_find_queue(fsched_submitter *s, const char *who, const char *on,
                               uint32_t *queue) FS_MUST_USE;
/* The bytes of a shape, checked.  Requires who it is of. */
fs_status fs_submit_shape(fsched_submitter *s, const char *who, const fsched_submit_alloc_desc *d,
                          uint64_t *bytes) FS_MUST_USE;
/* Adds a buffer that was checked, to the builder too.  Requires a name. */
fs_status fs_submit_add_buffer(fsched_submitter *s, fs_submit_buffer buffer, const char *name,
                               uint32_t memory, fsched_io io, uint32_t *id) FS_MUST_USE;
/* A buffer of fsched's in the innermost open scope. */
fs_submit_buffer fs_submit_own_buffer(const fsched_submitter *s, uint64_t bytes);
/* What is written of [lo, hi) of a buffer, in bytes.  Requires a buffer, and lo < hi. */
fs_status fs_submit_written(fsched_submitter *s, uint32_t buffer, uint64_t lo, uint64_t hi,
                            uint64_t *bytes) FS_MUST_USE;
/* Notes that [lo, hi) of a buffer is written.  Requires a buffer, and lo < hi. */
fs_status fs_submit_write(fsched_submitter *s, uint32_t buffer, uint64_t lo,
                          uint64_t hi) FS_MUST_USE;

/* A submit that is being looked at: a group, or a task, which has one list of args. */
typedef struct fs_submit_call {
  fsched_submitter *s;
  const fsched_submit_group_desc *d;
  bool group;
  const char *on; /* of a task; NULL: the callable's */
  fs_submit_callable *callable;
  const char *name; /* its own, or its callable's label */
  uint32_t queue;   /* FS_NONE: any of a class; of a group, that of the member in hand */
  uint32_t member;  /* the one in hand */
  uint32_t arg;     /* the one in hand, of all members */
} fs_submit_call;

/* Checks the args of the member in hand, and adds them to s->access, s->alloc and s->tile (args.c).
 */
fs_status fs_submit_check_list(fs_submit_call *c, const fsched_submit_member *m) FS_MUST_USE;
/* What an access touches, as runs of bytes; of tiles with very many rows all between its first and
 * its last byte. */
fs_view_runs fs_submit_pieces(const fsched_submitter *s, const fs_submit_access *a);
/* The callable's next label, behind a task that has taken this one; and the first one. */
void fs_submit_next_label(fs_submit_callable *c);
void fs_submit_first_label(fs_submit_callable *c);

/* Whether a buffer, or what is in it, has gone with its scope.  Requires a buffer. */
bool fs_submit_gone(const fsched_submitter *s, uint32_t buffer);
bool fs_submit_content_gone(const fsched_submitter *s, uint32_t buffer);

#endif
