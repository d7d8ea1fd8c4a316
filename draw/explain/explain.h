/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of fsched_program_explain: what explain.c finds, and explain/text.c and explain/json.c
 * write.  Items are as in stream/wants.h. */
#ifndef FS_EXPLAIN_H
#define FS_EXPLAIN_H

#include "model/stream/known.h"
#include "model/stream/wants.h"

typedef struct fs_asked { /* a wait for an axis, by some command of the queue at hand */
  uint32_t epoch, by, previous;
} fs_asked;

typedef struct fs_explain {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena arena;
  fs_stream_order order;
  fs_wants wants;
  bool all; /* no list is cut */
  fs_text *t;

  /* of the command at hand, see fs_explain_look_at */
  uint32_t command;
  fs_known known;
  uint32_t *asked; /* per axis: into asked_at, the latest epoch that its queue waited for */
  FS_VEC(fs_asked) asked_at;

  FS_VEC(uint32_t) item; /* to be explained */
} fs_explain;

/* Requires a context, and a stream. */
void fs_explain_init(fs_explain *e, fsched_context *ctx, const fs_stream *s);
void fs_explain_release(fs_explain *e);
/* Order and orderings.  Errors: FSCHED_WRONG, reported, for a stream that deadlocks. */
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
  uint32_t by;  /* EXACT: the command that waits for the axis */
  uint32_t to;  /* EXACT: and up to which epoch */
  uint32_t hop; /* FRONTIER: into known.hop */
} fs_because;

/* Clocks of one command: what follows is about it.  Requires a command, and that fs_explain_prepare
 * has succeeded. */
fs_status fs_explain_look_at(fs_explain *e, uint32_t command) FS_MUST_USE;
/* How it is ordered after an item.  Requires an item, and a command that is looked at. */
fs_because fs_explain_tier(const fs_explain *e, uint32_t from);
/* The end of the run of orderings with the same `from`.  Requires an item, and one of its
 * orderings. */
uint32_t fs_explain_run(const fs_explain *e, uint32_t item, uint32_t at);
/* The orderings of `item` after `from`, *n of them.  Requires two items. */
const fs_want *fs_explain_reasons(const fs_explain *e, uint32_t item, uint32_t from, uint32_t *n);
/* What to wait for until the item is complete.  Requires an item. */
fs_stream_wait fs_explain_complete(const fs_explain *e, uint32_t item);
/* Requires an axis of the stream, and an epoch of it. */
uint32_t fs_explain_awaited(const fs_explain *e, const fs_stream_wait *w); /* an item */
/* The members of an item.  Requires an item. */
const uint32_t *fs_explain_members(const fs_explain *e, uint32_t item, uint32_t *n);

/* Why an item starts when it does: what it follows most closely. */
typedef enum fs_hold_why {
  FS_HOLD_WANT,
  FS_HOLD_QUEUE,
  FS_HOLD_GANG,
  FS_HOLD_SYNC, /* a barrier or sync beyond what is wanted */
  FS_HOLD_GATE, /* a barrier is free when `before` starts */
  FS_HOLD_START /* it begins at 0, or follows nothing */
} fs_hold_why;
typedef struct fs_link {
  fs_hold_why hold;
  const fs_want *want;
  uint32_t before; /* the item that it follows */
  uint32_t queue;  /* QUEUE, GANG: on which */
  uint64_t gap;    /* ticks from the end of that (GATE: its start; or from 0) to the start */
} fs_link;
/* Requires an item. */
fs_link fs_explain_link(const fs_explain *e, uint32_t item);

typedef struct fs_queue_waits {
  uint32_t queue, waits;
} fs_queue_waits;
typedef struct fs_summary {
  uint64_t wanted[FS_TIER_NONE];           /* orderings, each once for a command */
  uint64_t waits[FS_WANT_CONCURRENCY + 2]; /* by their first reason; none */
  fs_queue_waits *queue;                   /* most waits first */
  uint32_t last; /* the item that ends last; FS_NONE: there are no commands */
} fs_summary;
fs_status fs_explain_summary(fs_explain *e, fs_summary *out) FS_MUST_USE;

/* explain/names.c */
/* "C", "dpu:3", "tp0:1", "read A_in", "spill_write x.1", "run C": fills e->item; reports names that
 * are none of these, and returns FSCHED_USAGE then.  Requires one name at least. */
fs_status fs_explain_names(fs_explain *e, const char *const *name, size_t n) FS_MUST_USE;

/* Requires a string of the stream, or none. */
static inline const char *fs_explain_string(const fs_explain *e, uint32_t string) {
  assert(string == FS_NONE || string < e->s->n_strings);
  return string == FS_NONE ? "" : e->s->strings + string;
}

/* explain/sync.c: a command's barriers or syncs; nothing with timelines.  Requires a command. */
void fs_explain_sync_text(const fs_explain *e, uint32_t command);
/* Requires a command. */
void fs_explain_sync_json(const fs_explain *e, uint32_t command);

fs_status fs_explain_text(fs_explain *e) FS_MUST_USE;
fs_status fs_explain_json(fs_explain *e) FS_MUST_USE;

#endif
