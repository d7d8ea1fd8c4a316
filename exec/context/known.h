/* SPDX-License-Identifier: Apache-2.0 */
/* The frontiers that the signals of an invocation carry: the work that was complete before them.
 *
 * Each load numbers its own axes, and numbers are never used again in this process.  Each slot has
 * an axis for its invocations (a collective axis, which stands for all queues of the slot), and one
 * for each output (an epilogue axis).  A slot has one invocation at a time, so each axis is in
 * order.  Epochs count successes, as failed work is never known to be complete.
 *
 *   an invocation   its own epoch, the epochs of outputs that were signalled on their own, and the
 *                   frontiers of its waits: its fence, the fences of inputs that it has used,
 *                   the invocation before it among those with state
 *   an output       its own epoch, and the frontiers of the invocation's waits by then
 *
 * The epoch implies the earlier invocations of the same slot, but the frontier leaves out what
 * those had waited for.  So it says less than is true.  That is safe: a reader that needs one of
 * those invocations to be complete finds its epoch, and everything before an epoch is complete with
 * it. */
#ifndef FS_EXEC_KNOWN_H
#define FS_EXEC_KNOWN_H

#include "exec/context/core.h"

/* Gives the entry's slots their axes.  When no ordinals are left, they stay without, and the
 * entry's signals are tainted. */
fs_status fs_known_number(fsched_entry *entry) FS_MUST_USE;
/* An empty frontier of the exec's capacity, in these entries.  Requires entries, if the exec's
 * frontiers hold any. */
static inline fsched_frontier fs_known_room(const fsched_exec *x, fsched_frontier_entry *entries) {
  assert(entries != NULL || x->options.frontier_capacity == 0);
  return (fsched_frontier){.entry = entries, .capacity = x->options.frontier_capacity};
}

/* The caller of the following functions holds the exec's lock. */

/* The invocation's wait fence is reached. */
void fs_known_waited(fs_invocation *v);
/* The invocation's turn among those with state has come. */
void fs_known_admitted(fs_invocation *v);
/* A kept item is there: sets binding->known to what the binding's signal carries.  Requires a kept
 * item that has a signal. */
void fs_known_output(fs_invocation *v, fs_bound *binding);
/* The invocation is complete: sets v->known to what its signal carries.  Requires that it still has
 * its slot. */
void fs_known_complete(fs_invocation *v);

#endif
