/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of the stream verifier (stream/walk.c), and what each kind of sync adds to it.
 *
 * A queue whose head cannot run waits for an event, and is looked at again when it happens:
 *   timeline  a command is complete (its id), an occurrence is (n_commands + its id);
 *   barrier   a barrier has had all of its producers (2 * its id), it is mapped (2 * id + 1);
 *   block     its head is issued (FS_VEVENT_ISSUE). */
#ifndef FS_VERIFY_WALK_H
#define FS_VERIFY_WALK_H

#include "verify/stream/stream.h"

#define FS_VEVENT_ISSUE (FS_NONE - 1)

typedef struct fs_vwalk {
  fs_vs *v;
  uint32_t *head;           /* per queue: its next command */
  uint32_t *next_wait;      /* per queue: first condition of the head not known to hold */
  uint32_t *ready, n_ready; /* queues to look at */
  uint32_t *arrived;        /* per occurrence: members at the head of their queue */
  uint32_t *waiter;         /* per event: a list of queues whose head waits for it */
  uint32_t *next;           /* per queue: the next one of its list */
  uint32_t n_done;          /* commands */

  /* stream/barrier.c, per barrier */
  uint32_t *ends_left, *starts_left; /* producers and consumers to come */
  uint32_t *reads_left;              /* consumers that have not looked at the clock */
  fs_vclock **clock;                 /* when all producers are over: what they know and they */
  fs_tick *end, *last_start;         /* planned: of the producers, the consumers so far */
  uint32_t *end_by, *last_start_by;  /* commands */

  /* stream/parts.c: barriers with commands that update others too have axes in clocks, after
   * those of the queues: an epoch of 1 says that they are complete. */
  uint32_t n_split;
  uint32_t *split;        /* per barrier: its axis, or FS_NONE */
  uint32_t *part0, *part; /* CSR per such barrier: those commands */

  /* stream/block.c */
  uint32_t n_issued, stop; /* the sequencer's place, and its next stop */
  uint32_t *issued;        /* per queue */
  fs_vdense known;         /* to the sequencer */
  fs_vclock *known_clock;  /* the same; NULL: nothing, or changed since */
  fs_tick issue_time, longest_end;
  uint32_t issue_time_by, longest_end_by; /* commands */
} fs_vwalk;

void fs_vwalk_wake(fs_vwalk *w, uint32_t event);

/* Finds split commands; before any clock is made. */
fs_status fs_vparts_prepare(fs_vwalk *w) FS_MUST_USE;
/* After the entries of v->now from index `first` on became known: raises it by the split commands
 * that are known to be over with these, and drops axes of barriers that say nothing more. */
void fs_vparts_settle(fs_vwalk *w, uint32_t first);

/* What the command at the head of queue q waits for, an event, or FS_NONE.  Requires a queue with
 * commands to come. */
uint32_t fs_vbarrier_lacks(fs_vwalk *w, uint32_t q);
/* Requires a queue with commands to come. */
uint32_t fs_vblock_lacks(const fs_vwalk *w, uint32_t q);
/* Joins into v->now what its sync tells the command.  Requires a command. */
void fs_vbarrier_join(fs_vwalk *w, uint32_t command);
/* Planned times against its sync.  Requires a command. */
void fs_vbarrier_plan(const fs_vwalk *w, uint32_t command);
/* An item has started and ended.  Requires an item that is not empty. */
fs_status fs_vbarrier_ran(fs_vwalk *w, const uint32_t *commands, uint32_t n) FS_MUST_USE;
/* Issues as much as the stops allow, once all that is issued has run or cannot.  Requires the kind
 * of sync. */
fs_status fs_vblock_issue(fs_vwalk *w) FS_MUST_USE;
/* Why the head of a queue does not run (event: what it waits for); why the sequencer does not.
 * Requires a queue with commands to come. */
void fs_vbarrier_stuck(fs_vwalk *w, uint32_t q, uint32_t event);
void fs_vblock_stuck(fs_vwalk *w);

/* Requires the kind of sync. */
fs_status fs_vbarrier_prepare(fs_vwalk *w) FS_MUST_USE;
/* Requires the kind of sync. */
fs_status fs_vblock_prepare(fs_vwalk *w) FS_MUST_USE;

#endif
