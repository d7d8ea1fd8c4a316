/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: work that an event releases, done in a loop by the thread in which the event happened.
 *
 * One event (a fence is reached, memory is given back) releases the next, which releases another,
 * in chains of any length.  Each is a step.  A step that is released inside another step of the
 * same thread runs after that step, in the call that runs it, so a chain of any length needs no
 * stack.
 *
 * Users' callbacks are no steps and begin a new level: the steps that a call in a callback releases
 * are done before that call returns, whatever the callback runs in, so that the callback may rely
 * on them.  Before a thread sleeps, it does all steps that are left to it (fs_steps_help), as the
 * event that it waits for may come of them. */
#ifndef FS_STEPS_H
#define FS_STEPS_H

#include "base/base.h"

/* The memory of a step belongs to whoever releases it; it is not touched once `run` has begun. */
typedef struct fs_step fs_step;
struct fs_step {
  void (*run)(fs_step *step);
  fs_step *next;
};

/* Runs the step and the steps that it releases, or, when called inside a step, leaves it to that
 * step's loop.  Call it without locks.  Requires a step that is not queued. */
void fs_step_run(fs_step *step);

typedef enum fs_steps_kind { FS_STEPS_LOOP, FS_STEPS_CALLBACK, FS_STEPS_OWN } fs_steps_kind;

/* The levels that a thread is in, innermost first; callers of callbacks keep them on their
 * stack. */
typedef struct fs_steps {
  struct fs_steps *outer;
  fs_step *first, *last; /* of a loop: the steps that are left */
  fs_steps_kind kind;
} fs_steps;

/* These two calls enclose a callback.  The library's own callbacks, which the caller cannot tell
 * from a user's, call fs_steps_own first: the steps that they release belong to the step that they
 * are called in. */
void fs_steps_enter(fs_steps *callback);
/* Requires the innermost callback of this thread. */
void fs_steps_leave(fs_steps *callback);
/* Requires that this thread's innermost level is a callback. */
void fs_steps_own(void);
/* Does all steps that are left to this thread.  Call it without locks. */
void fs_steps_help(void);

#endif
