/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of fsched_program_explain: explain.c finds the explanations, explain/text.c and
 * explain/json.c write them; explain/loops.c does both of iterations.  Items are as in
 * stream/wants.h. */
#ifndef FS_EXPLAIN_H
#define FS_EXPLAIN_H

#include "draw/parts.h"
#include "model/graph.h"
#include "model/stream/known.h"
#include "model/stream/members.h"
#include "model/stream/wants.h"

typedef struct fs_asked { /* a wait for an axis, by a command of the current queue */
  uint32_t epoch, by, previous;
} fs_asked;

typedef struct fs_explained { /* an instance in a loop, or, with n = 0, all of an op of a body */
  uint32_t loop, op;          /* op: of loop_ops */
  uint32_t n;                 /* iterations, of all loops around, the outermost first */
  uint64_t index[FS_LOOP_NEST];
} fs_explained;

typedef struct fs_explain {
  fsched_context *ctx;
  const fs_stream *s;
  const fsched_graph *g; /* the stream's graph, for its given starts; NULL: not known */
  fs_arena arena;
  fs_stream_order order;
  fs_wants wants;
  bool all;      /* lists are written in full */
  bool any_slow; /* some command ends after its queue goes on */
  fs_text *t;

  /* About the current command, see fs_explain_look_at: */
  uint32_t command;
  fs_known known;
  uint32_t *asked; /* per axis: into asked_at, the latest epoch that the queue has waited for */
  FS_VEC(fs_asked) asked_at;

  FS_VEC(uint32_t) item; /* the items to explain */
  FS_VEC(fs_explained) explained;
} fs_explain;

/* Requires a context, and a stream. */
void fs_explain_init(fs_explain *e, fsched_context *ctx, const fs_stream *s);
void fs_explain_release(fs_explain *e);
/* Finds order and wanted orderings.  Errors: FSCHED_WRONG, reported, for a stream that deadlocks,
 * or is not one of the graph. */
fs_status fs_explain_prepare(fs_explain *e) FS_MUST_USE;

typedef enum fs_tier { /* as in lib/waits/waits.h; the first that holds */
                       FS_TIER_SAME_QUEUE,
                       FS_TIER_WAIT,
                       FS_TIER_EXACT,
                       FS_TIER_FRONTIER,
                       FS_TIER_NONE /* nothing orders them: the stream is wrong */
} fs_tier;

typedef struct fs_because {
  fs_tier tier;
  uint32_t by;         /* EXACT: the command that waits for the axis */
  uint32_t to;         /* EXACT: the epoch that it waits for */
  uint32_t hop;        /* FRONTIER: into known.hop */
  bool none;           /* the orderings are not of this command, but of other members */
  bool all;            /* they are of all members of the earlier item, */
  fs_stream_wait done; /* which are complete then; else of some, of which this is one */
} fs_because;

/* Makes a command the current one, and finds what it knows.  Requires a command, and that
 * fs_explain_prepare has succeeded. */
fs_status fs_explain_look_at(fs_explain *e, uint32_t command) FS_MUST_USE;
/* How the command is ordered after an item.  Requires a run of its orderings after that, and a
 * command that is looked at. */
fs_because fs_explain_tier(const fs_explain *e, const fs_want *want, uint32_t n);
/* The end of the run of orderings with the same `from`.  Requires an item, and one of its
 * orderings. */
uint32_t fs_explain_run(const fs_explain *e, uint32_t item, uint32_t at);
/* The *n orderings of `item` after `from`.  Requires two items. */
const fs_want *fs_explain_reasons(const fs_explain *e, uint32_t item, uint32_t from, uint32_t *n);
/* The axis and epoch to wait for until the item is complete.  Requires an item. */
fs_stream_wait fs_explain_complete(const fs_explain *e, uint32_t item);
/* The item that a wait is for.  Requires an axis of the stream, and an epoch of it. */
uint32_t fs_explain_awaited(const fs_explain *e, const fs_stream_wait *w);
/* The members of an item.  Requires an item. */
const uint32_t *fs_explain_members(const fs_explain *e, uint32_t item, uint32_t *n);
/* When the first of an item's members is planned to start, and the last one to end.  Requires an
 * item. */
uint64_t fs_explain_start(const fs_explain *e, uint32_t item);
uint64_t fs_explain_end(const fs_explain *e, uint32_t item);

/* Why an item starts when it does: the kind of its predecessor that ends last. */
typedef enum fs_hold_why {
  FS_HOLD_WANT,
  FS_HOLD_QUEUE,
  FS_HOLD_GANG,
  FS_HOLD_SYNC, /* a barrier or sync for no wanted ordering */
  FS_HOLD_GATE, /* a barrier becomes free when `before` starts */
  FS_HOLD_START /* the item starts at 0, or follows nothing */
} fs_hold_why;
typedef struct fs_link {
  fs_hold_why hold;
  const fs_want *want;
  uint32_t before; /* the item that it follows */
  uint32_t queue;  /* QUEUE, GANG: the queue on which it follows */
  uint64_t until;  /* when `before` lets it go on: at its end, or when its queue does (GATE: at its
                    * start; START: 0) */
  uint64_t gap;    /* ticks from then to the start */
} fs_link;
/* Does the graph give the item's start?  False where the graph is not known.  Requires an item. */
bool fs_explain_given(const fs_explain *e, uint32_t item);
/* Requires an item. */
fs_link fs_explain_link(const fs_explain *e, uint32_t item);

typedef struct fs_queue_waits {
  uint32_t queue, waits;
} fs_queue_waits;
typedef struct fs_summary {
  uint64_t wanted[FS_TIER_NONE];           /* number of orderings, each once per command */
  uint64_t waits[FS_WANT_CONCURRENCY + 2]; /* number of waits by first reason; the last: without */
  fs_queue_waits *queue;                   /* sorted, most waits first */
  uint32_t last; /* the item that ends last; FS_NONE: there are no commands */
} fs_summary;
fs_status fs_explain_summary(fs_explain *e, fs_summary *out) FS_MUST_USE;

/* ---- explain/needs.c */
/* What of orderings after one item is for a command. */
typedef struct fs_needed_of {
  bool none, all;      /* no member of the earlier item, or all */
  bool own;            /* no needed one runs on another queue */
  bool waited;         /* the command waits for all needed ones on other queues */
  fs_stream_wait done; /* ALL: of the item; else of a needed one, if possible one not waited for */
} fs_needed_of;
fs_needed_of fs_explain_need(const fs_explain *e, uint32_t command, const fs_want *w, uint32_t n);
/* Until when an ordering holds the start of an item back. */
uint64_t fs_explain_until(const fs_explain *e, uint32_t item, const fs_want *w);

/* ---- explain/names.c */
/* Adds the items of these names to e->item: "C", "dpu:3", "tp0:1", "read A_in", "spill_write x.1",
 * "run C".  Reports names that are none of these, and then returns FSCHED_USAGE.  Requires one name
 * at least. */
fs_status fs_explain_names(fs_explain *e, const char *const *name, size_t n) FS_MUST_USE;

/* ---- explain/loops.c */
/* Adds "op", "op[3]" or "op[1][3]" to e->explained, if it is in a loop; *found: it is.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_explain_instance(fs_explain *e, const char *name, bool *found) FS_MUST_USE;
/* Is it the name of an op in a loop, with a bracket behind it? */
bool fs_explain_in_loop(const fs_explain *e, const char *name);
void fs_explain_instance_text(const fs_explain *e, const fs_explained *x);
void fs_explain_instance_json(const fs_explain *e, const fs_explained *x);

/* Requires a string of the stream, or none. */
static inline const char *fs_explain_string(const fs_explain *e, uint32_t string) {
  assert(string == FS_NONE || string < e->s->n_strings);
  return string == FS_NONE ? "" : e->s->strings + string;
}

/* Defined in explain/sync.c: writes a command's barriers or syncs; nothing with timelines.
 * Requires a command. */
void fs_explain_sync_text(const fs_explain *e, uint32_t command);
/* Requires a command. */
void fs_explain_sync_json(const fs_explain *e, uint32_t command);

fs_status fs_explain_text(fs_explain *e) FS_MUST_USE;
fs_status fs_explain_json(fs_explain *e) FS_MUST_USE;

#endif
