/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the engine of dynamic runs, for the files of this room alone. */
#ifndef FS_DYNAMIC_PRIVATE_H
#define FS_DYNAMIC_PRIVATE_H

#include "exec/dynamic/accesses.h"
#include "exec/dynamic/engine.h"
#include "exec/dynamic/rings.h"

enum { FS_DYNAMIC_CAUSES = 16, FS_DYNAMIC_CAUSE_BYTES = 256, FS_DYNAMIC_MORE = 64 };

/* A producer of a task.  While the task waits for it, the edge is in the producer's list. */
typedef struct fs_dynamic_edge {
  fs_dynamic_task producer;
  uint32_t consumer;
  uint32_t next;                   /* of the consumer's; or of the unused ones */
  uint32_t previous_out, next_out; /* of the producer's */
  bool waits, retains;
} fs_dynamic_edge;

typedef struct fs_dynamic_slot {
  uint32_t generation; /* of its use, from 1, by which handles tell whether they are meant */
  fs_dynamic_state state;
  uint32_t piece; /* of a heap */
  uint32_t n_members, n_left;
  uint32_t n_waits, references, releases, holds;
  uint32_t in_first, in_last, out_first, out_last; /* edges from producers, and to consumers */
  uint32_t next;                                   /* unused slot, or the next one in its scope */
  uint32_t next_work;                              /* of those that are about to fail */
  uint32_t ready_previous, ready_next, list;       /* of ready tasks */
  uint64_t ready_order;
  uint32_t *queues; /* of the members, if they are named, of a group or a task with amounts */
  fs_dynamic_amount *amounts;
  uint32_t n_amounts;
  uint32_t class_;
  uint32_t running;       /* the first queue that runs it, linked by fs_dynamic_queue.next */
  uint32_t cause;         /* FS_NONE, or of the engine's */
  bool failing, in_scope; /* of a scope that is open */
  uint64_t user;
  uint64_t seen_by; /* the submission that has recorded it, as its predecessor number: */
  uint32_t seen_at;
} fs_dynamic_slot;

typedef struct fs_dynamic_queue {
  uint32_t class_;
  uint32_t slot, member; /* that it runs; FS_NONE: it is idle */
  uint32_t next;         /* queue of the same task */
  bool retired;
  char *why; /* what its worker has died of, in so many bytes; NULL: it has not, or is not known */
} fs_dynamic_queue;

/* Ready tasks in the order in which they became ready: of each queue, of each class, and those that
 * need more than one queue: groups, and tasks with amounts. */
typedef struct fs_dynamic_list {
  uint32_t first, last;
} fs_dynamic_list;

typedef struct fs_dynamic_record {
  uint32_t generation;
  bool used, owned, device, readable, writable;
  uint64_t size, address;
  uint32_t place, next; /* `next`: unused records */
  /* The present version of one that is declared. */
  fs_dynamic_task owner; /* FS_DYNAMIC_NO_TASK: there was none yet */
  uint32_t heap;
  uint64_t offset;
  uint32_t written; /* what has been written, as a set of e->spans; FS_NONE: nothing, or: */
  bool full;        /* all of it */
  /* While a submission is checked: which of its args makes a version. */
  uint64_t made_by;
  uint32_t made_at;
} fs_dynamic_record;

typedef struct fs_dynamic_written {
  fs_view_runs runs;
  uint32_t next; /* unused one */
} fs_dynamic_written;

/* How an arg of a submission finds the version of its buffer. */
typedef enum fs_use_version {
  FS_USE_PRESENT, /* it is there, or it is the user's memory */
  FS_USE_MAKES,   /* this arg makes it, as there is none */
  FS_USE_JOINS,   /* an earlier arg of the task does */
  FS_USE_RENEWS   /* this arg makes a new one, while others name the one before */
} fs_use_version;

typedef struct fs_dynamic_use {
  fs_view_runs runs;
  uint64_t carve; /* of a version that it makes: where in the task's piece */
  uint32_t record, member, place;
  fs_use_version version;
  bool reads, writes, whole;
} fs_dynamic_use;

/* A predecessor of the task that is being submitted. */
typedef struct fs_dynamic_found {
  uint32_t slot;
  bool waits, retains;
} fs_dynamic_found;

struct fs_dynamic {
  fsched_context *ctx;
  fs_dynamic_options options;
  bool tracks_reads;
  fs_heap_rings heaps;
  fs_access_map accesses;
  FS_VEC(fs_dynamic_slot) slot;
  FS_VEC(fs_dynamic_edge) edge;
  FS_VEC(fs_dynamic_record) record;
  FS_VEC(fs_dynamic_written) written;
  fs_ranges spans;      /* of what has been written, from first byte to last; and: */
  uint32_t imported[2]; /* sets of it: where imported buffers are, and those on all devices */
  fs_ids near;          /* scratch, with room for all of them */
  uint32_t unused_slot, unused_edge, unused_written;
  uint32_t unused_record[2]; /* of those on all devices, too */
  uint32_t n_edges, n_live, n_unfinished, n_holds;
  /* Queues */
  fs_dynamic_queue *queue;
  uint32_t n_queues, n_words;
  uint32_t *class_size;  /* by class, of which there are as many as queues; without retired ones */
  uint64_t *idle, *kept; /* sets of queues */
  fs_dynamic_list *list; /* of each queue, of each class, of what needs more */
  uint64_t *capacity, *free_amount, *kept_amount; /* by resource */
  uint32_t n_resources, n_running;
  bool keeps_run; /* one of the tasks that may run at once */
  uint32_t n_ready;
  uint64_t next_ready;
  uint32_t *started; /* what fs_dynamic_start points to */
  /* The run */
  bool open, over;
  uint32_t n_scopes, scope[FS_DYNAMIC_SCOPES]; /* the last slot of each */
  uint32_t n_causes;
  char cause[FS_DYNAMIC_CAUSES][FS_DYNAMIC_CAUSE_BYTES];
  uint32_t work_first, work_last;
  /* The submission that is being checked */
  uint64_t submission;
  FS_VEC(fs_dynamic_use) use;
  FS_VEC(fs_dynamic_found) found;
  uint32_t heap;
  uint64_t need, scratch; /* bytes; where in its piece the scratch begins */
  bool strided, makes;    /* an arg has more than one run; one makes a version */
};

/* What messages call a queue. */
typedef struct fs_queue_text {
  char text[72];
} fs_queue_text;
fs_queue_text fs_queue_shown(const fs_dynamic *e, uint32_t queue);

#define fs_dynamic_error(e, status, code, ...) \
  fs_fail((e)->ctx, (status), FS_DIAG_DYNAMIC_##code, FS_NOWHERE, NULL, __VA_ARGS__)

/* Handles.  FS_NONE: the task is consumed, or there never was one. */
static inline fs_dynamic_task fs_slot_handle(const fs_dynamic *e, uint32_t slot) {
  assert(slot < e->slot.n);
  return (uint64_t)e->slot.at[slot].generation << 32 | slot;
}
static inline uint32_t fs_slot_of(const fs_dynamic *e, fs_dynamic_task task) {
  uint32_t slot = (uint32_t)task;
  return slot < e->slot.n && task >> 32 > 0 && e->slot.at[slot].generation == task >> 32 ? slot
                                                                                         : FS_NONE;
}
/* Whether a task was submitted at some time. */
static inline bool fs_slot_was(const fs_dynamic *e, fs_dynamic_task task) {
  uint32_t slot = (uint32_t)task;
  return slot < e->slot.n && task >> 32 > 0 && e->slot.at[slot].generation >= task >> 32;
}
/* Whether a task's memory is there. */
bool fs_slot_lives(const fs_dynamic *e, fs_dynamic_task task);
bool fs_slot_ended(const fs_dynamic_slot *s);

/* Runs (engine.c).  Says why tasks may not be submitted, if they may not. */
fs_status fs_run_refuses(fs_dynamic *e);
/* Whether tasks may be submitted; errors are reported. */
static inline fs_status fs_run_accepts(fs_dynamic *e) {
  return e->open && e->n_causes == 0 ? FSCHED_OK : fs_run_refuses(e);
}
/* Only whether it has failed; errors: FSCHED_REPLAY, reported with the first cause. */
fs_status fs_run_unfailed(fs_dynamic *e);
/* Ends the run if nothing of it is left. */
void fs_run_settle(fs_dynamic *e);
/* Notes a cause, and returns its number; beyond FS_DYNAMIC_CAUSES it is the first one's. */
uint32_t fs_run_note(fs_dynamic *e, const char *text);

/* Slots (slots.c).  Makes an unused one. */
fs_status fs_slot_make(fs_dynamic *e) FS_MUST_USE;
/* Makes room for a task with so many edges. */
static inline FS_MUST_USE fs_status fs_slot_reserve(fs_dynamic *e, uint32_t n_edges) {
  FS_TRY(fs_vec_ensure(e->ctx, &e->edge, (size_t)e->n_edges + n_edges));
  return e->unused_slot == FS_NONE ? fs_slot_make(e) : FSCHED_OK;
}
/* Takes a reserved slot; it is being built, and in the innermost scope.  Requires a reserved one.
 */
uint32_t fs_slot_take(fs_dynamic *e, uint32_t piece);
/* Requires room for an edge. */
void fs_slot_follow(fs_dynamic *e, uint32_t slot, const fs_dynamic_found *producer);
void fs_slot_release(fs_dynamic *e, uint32_t slot);
/* Consumes a task that has ended.  Nothing happens to one that is consumed. */
void fs_slot_consume(fs_dynamic *e, uint32_t slot);
/* A task has ended, and so have those that fail with it.  Requires a task that has not ended. */
void fs_slot_end(fs_dynamic *e, uint32_t slot);

/* Queues (dispatch.c).  Requires a task that waits for nothing. */
void fs_ready_add(fs_dynamic *e, uint32_t slot);
/* Requires a ready task. */
void fs_ready_remove(fs_dynamic *e, uint32_t slot);

/* Buffers (buffers.c).  Reports that there is no such buffer, and returns FS_NONE. */
uint32_t fs_record_missing(fs_dynamic *e);
/* FS_NONE, reported: there is no such buffer. */
static inline uint32_t fs_record_of(fs_dynamic *e, fs_dynamic_buffer buffer) {
  uint32_t id = (uint32_t)buffer;
  bool known =
      id < e->record.n && e->record.at[id].used && e->record.at[id].generation == buffer >> 32;
  return known ? id : fs_record_missing(e);
}
/* Makes room, so that the next n calls of fs_record_write cannot fail. */
static inline FS_MUST_USE fs_status fs_record_reserve(fs_dynamic *e, size_t n) {
  FS_TRY(fs_vec_ensure(e->ctx, &e->written, e->written.n + n));
  FS_TRY(fs_vec_ensure(e->ctx, &e->near, e->written.n + n));
  return fs_ranges_reserve(&e->spans, n);
}
/* What is written of a view: all of it, some or none; or as far as FS_VIEW_STEPS tell, not all of
 * it (and whether any is open), or nothing is known. */
typedef enum fs_content {
  FS_WRITTEN_ALL,
  FS_WRITTEN_SOME,
  FS_WRITTEN_NONE,
  FS_WRITTEN_NOT_ALL,
  FS_WRITTEN_OPEN
} fs_content;
/* Requires a declared buffer. */
fs_content fs_record_written(fs_dynamic *e, const fs_dynamic_record *r, const fs_view_runs *runs);
/* Notes what is written from now on.  Requires room for it. */
void fs_record_write(fs_dynamic *e, uint32_t record, const fs_view_runs *runs, bool whole);
/* A new version, without content. */
void fs_record_renew(fs_dynamic *e, uint32_t record, fs_dynamic_task owner, uint32_t piece,
                     uint64_t carve);
/* As fs_view_range; dimensions that are not there are left as they were. */
static inline void fs_record_range(fs_view_runs *out, uint64_t offset, uint64_t n) {
  out->offset = offset;
  out->run = out->extent[0] = n;
  out->n_dims = 0;
}
/* The runs of a view of a buffer.  Errors: FSCHED_BAD_INPUT, reported: outside of it. */
fs_status fs_record_view(fs_dynamic *e, const fs_dynamic_record *r, const fs_view *view,
                         fs_view_runs *out) FS_MUST_USE;
/* The same; without a view (NULL) all.  A buffer of the user without bytes gives an order all the
 * same, as one of one byte would. */
static inline FS_MUST_USE fs_status fs_record_runs(fs_dynamic *e, const fs_dynamic_record *r,
                                                   const fs_view *view, fs_view_runs *out) {
  if (view != NULL) {
    return fs_record_view(e, r, view, out);
  }
  fs_record_range(out, 0, r->owned ? r->size : fs_max(r->size, 1));
  return FSCHED_OK;
}

/* Submissions.  Sets e->use, e->heap, e->need and e->scratch (check.c). */
fs_status fs_submission_check(fs_dynamic *e, const fs_dynamic_submission *s) FS_MUST_USE;
/* Takes a piece of e->heap, waiting if need be; *waited tells whether
 * anything may have changed (submit.c). */
fs_status fs_submission_memory(fs_dynamic *e, uint64_t bytes, uint32_t *piece,
                               bool *waited) FS_MUST_USE;

#endif
