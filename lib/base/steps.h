/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: what the library does next in the thread that has let it go, as a loop.
 *
 * One thing lets the next one go (a fence is reached, memory is given back), which lets the next
 * one go, and so on as long as users like.  Each is a step.  A step that is let go inside of
 * another one of the same thread is done after it, by the call that does that one, so a chain of
 * any length needs no stack.
 *
 * Users' callbacks are no steps, and begin anew: what a callback's own call lets go is done before
 * that call returns, whatever the callback runs in, so that the callback may rely on it.  Before a
 * thread sleeps for what others do, it does all that is left to it (fs_steps_help): what it sleeps
 * for may come of that. */
#ifndef FS_STEPS_H
#define FS_STEPS_H

#include "base/base.h"

/* Memory of who wants it done; not touched any more once `run` has begun. */
typedef struct fs_step fs_step;
struct fs_step {
  void (*run)(fs_step *step);
  fs_step *next;
};

/* Does it, and what it lets go; or leaves it to the step of this thread that this is called in.
 * Without locks.  Requires a step that is not yet to be done. */
void fs_step_run(fs_step *step);

typedef enum fs_steps_kind { FS_STEPS_LOOP, FS_STEPS_CALLBACK, FS_STEPS_OWN } fs_steps_kind;

/* Where a thread is, the innermost first: for callers of callbacks, on their stack. */
typedef struct fs_steps {
  struct fs_steps *outer;
  fs_step *first, *last; /* of a loop: what is left */
  fs_steps_kind kind;
} fs_steps;

/* Around a callback.  The library's own callbacks, of which the caller does not know that they are,
 * call fs_steps_own first: what they let go belongs to the step that they are called in. */
void fs_steps_enter(fs_steps *callback);
/* Requires the innermost callback of this thread. */
void fs_steps_leave(fs_steps *callback);
/* Requires a callback. */
void fs_steps_own(void);
/* Does all that is left to this thread.  Without locks. */
void fs_steps_help(void);

#endif
