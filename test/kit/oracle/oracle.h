/* SPDX-License-Identifier: Apache-2.0 */
/* A brute-force judge of small programs and schedules, written apart from the verifier and from the
 * passes: it tries what can happen instead of proving that it cannot.
 *
 * A program is executed on symbolic bytes in every interleaving of begins and ends that queues and
 * waits allow (states that were seen are not entered again).  Members of a gang begin and end on
 * their own, and so do the parts of a command that updates several barriers.  Hazards must be
 * sequential.  A schedule is looked at pair by pair and time by time. */
#ifndef FS_TEST_ORACLE_H
#define FS_TEST_ORACLE_H

#include "model/schedule.h"
#include "model/stream/stream.h"

typedef enum fs_oracle_verdict {
  FS_ORACLE_RIGHT,
  FS_ORACLE_DEADLOCK,
  FS_ORACLE_CONFLICT, /* two commands that run at once touch one byte or unit */
  FS_ORACLE_VALUE,    /* an op reads another value than in program order */
  FS_ORACLE_KEPT,     /* an output or state is not what program order gives */
  FS_ORACLE_ORDER,    /* an op begins before one it comes after is complete */
  FS_ORACLE_CAPACITY, /* an amount is exceeded, or a command does not hold what it should */
  FS_ORACLE_ADDRESS,  /* beyond the memory, or not aligned */
  FS_ORACLE_ONCE,     /* an op runs never or twice */
  FS_ORACLE_SIGNAL,   /* the scope of a signal does not reach who waits */
  FS_ORACLE_FRONTIER, /* a frontier claims what need not be complete */
  FS_ORACLE_SYNC,     /* barriers or stops that the machine does not have */
  FS_ORACLE_SCHEDULE, /* a schedule breaks a rule; see fs_oracle_schedule_reason */
  FS_ORACLE_TOO_LARGE
} fs_oracle_verdict;

/* Judges a program in at most `max_states` states.  Requires a view whose ids are in range. */
fs_oracle_verdict fs_oracle_program(const fs_stream *s, uint32_t max_states);
const char *fs_oracle_name(fs_oracle_verdict verdict);

/* What the syncs of command c ask of command d, beyond queue order, before c begins: that it is
 * over, or that a part of it is, or that it has begun.  No bound on the time is promised. */
bool fs_oracle_held(const fs_stream *s, uint32_t d, uint32_t c);
bool fs_oracle_begun(const fs_stream *s, uint32_t d, uint32_t c);
/* For up to 64 commands: bit d of over[c] says that queues and syncs show that d is complete before
 * c begins.  Nothing is concluded from what has begun because a physical barrier went on. */
void fs_oracle_over(const fs_stream *s, uint64_t *over);
/* The same with bit d of over[c] saying that d is complete when the epoch of c is reached. */
void fs_oracle_reached(const fs_stream *s, uint64_t *over);
/* Do commands wait for each other?  For up to 64 commands. */
bool fs_oracle_circle(const fs_stream *s);

/* Returns NULL if the schedule is right, else a word for what is wrong.  Requires ids in range. */
const char *fs_oracle_schedule(const fs_schedule *s);

#endif
