/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of the stream verifier (stream/walk.c), and the part of each kind of sync in it.
 *
 * A queue whose head cannot run waits for an event, and is visited again when the event happens:
 *   timeline  a command is complete (its id), or an occurrence is (n_commands + its id);
 *   barrier   all producers of a barrier are over (2 * its id), or it is mapped (2 * id + 1);
 *   block     the head is issued (FS_VEVENT_ISSUE). */
#ifndef FS_VERIFY_WALK_H
#define FS_VERIFY_WALK_H

#include "verify/stream/stream.h"

#define FS_VEVENT_ISSUE (FS_NONE - 1)

typedef struct fs_vwalk {
  fs_vs *v;
  uint32_t *head;           /* per queue: its next command */
  uint32_t *next_wait;      /* per queue: first condition of the head not known to hold */
  uint32_t *ready, n_ready; /* queues to visit */
  uint32_t *arrived;        /* per occurrence: members at the head of their queue */
  uint32_t *waiter;         /* per event: a list of queues whose head waits for it */
  uint32_t *next;           /* per queue: the next one of its list */
  uint32_t n_done;          /* number of commands that ran */

  /* stream/barrier.c, per barrier */
  uint32_t *ends_left, *starts_left; /* number of producers and consumers to come */
  uint32_t *reads_left;              /* number of consumers that have not read the clock */
  fs_vclock **clock;                 /* once complete: its producers and what they know */
  fs_tick *end, *last_start;         /* planned: of its producers, of its consumers so far */
  uint32_t *end_by, *last_start_by;  /* the commands that these times are from */

  /* stream/parts.c: a barrier with commands that also update others has an axis in clocks, after
   * those of the queues; an epoch of 1 says that the barrier is complete. */
  uint32_t n_split;
  uint32_t *split;        /* per barrier: its axis, or FS_NONE */
  uint32_t *part0, *part; /* CSR per such barrier: its split commands */

  /* stream/block.c */
  uint32_t n_issued, stop; /* number of issued commands, and the next stop */
  uint32_t *issued;        /* per queue: number of issued commands */
  fs_vdense known;         /* commands that the sequencer knows to be complete */
  fs_vclock *known_clock;  /* the same as `known`; NULL: empty, or `known` has changed */
  fs_tick issue_time, longest_end;
  uint32_t issue_time_by, longest_end_by; /* the commands that these times are from */
} fs_vwalk;

void fs_vwalk_wake(fs_vwalk *w, uint32_t event);

/* Finds split commands.  Called before any clock is made. */
fs_status fs_vparts_prepare(fs_vwalk *w) FS_MUST_USE;
/* Called after the entries of v->now from index `first` on became known: raises v->now by the split
 * commands that are thereby known to be over, and drops axes of barriers that add no knowledge any
 * more. */
void fs_vparts_settle(fs_vwalk *w, uint32_t first);

/* stream/apart.c.  Adds axes behind `first` others, where v->apart. */
fs_status fs_vapart_prepare(fs_vs *v, uint32_t first, uint32_t *n_axes) FS_MUST_USE;
/* The command is known to be over.  Requires a command. */
void fs_vapart_over(const fs_vs *v, fs_vdense *known, uint32_t command);
/* Called after v->now has learned something, where v->apart. */
void fs_vapart_settle(fs_vs *v);
/* What is wrong with the command's frontier, or NULL: v->now holds what is complete before it.
 * Requires v->apart. */
const char *fs_vapart_frontier(fs_vs *v, uint32_t command);

/* The event that the command at the head of queue q waits for, or FS_NONE.  Requires a queue with
 * commands to come. */
uint32_t fs_vbarrier_lacks(fs_vwalk *w, uint32_t q);
/* Requires a queue with commands to come. */
uint32_t fs_vblock_lacks(const fs_vwalk *w, uint32_t q);
/* Joins into v->now the knowledge that the command's sync gives it.  Requires a command. */
void fs_vbarrier_join(fs_vwalk *w, uint32_t command);
/* Checks the planned times of a command against its sync.  Requires a command. */
void fs_vbarrier_plan(const fs_vwalk *w, uint32_t command);
/* Notes that an item has started and ended.  Requires an item that is not empty. */
fs_status fs_vbarrier_ran(fs_vwalk *w, const uint32_t *commands, uint32_t n) FS_MUST_USE;
/* Issues as many commands as the stops allow, once every issued command has run or cannot run.
 * Requires the kind of sync. */
fs_status fs_vblock_issue(fs_vwalk *w) FS_MUST_USE;
/* Reports why the head of a queue does not run; `event` is the event that it waits for.
 * fs_vblock_stuck reports why the sequencer does not go on.  Requires a queue with commands to
 * come. */
void fs_vbarrier_stuck(fs_vwalk *w, uint32_t q, uint32_t event);
void fs_vblock_stuck(fs_vwalk *w);

/* Requires the kind of sync. */
fs_status fs_vbarrier_prepare(fs_vwalk *w) FS_MUST_USE;
/* Requires the kind of sync. */
fs_status fs_vblock_prepare(fs_vwalk *w) FS_MUST_USE;

#endif
