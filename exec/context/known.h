/* SPDX-License-Identifier: Apache-2.0 */
/* What the signals of an invocation carry: the frontier of what was complete before them.
 *
 * Axes, numbered for each load, never again in this process: each slot has one for its invocations
 * (a collective axis, which stands for all queues of the slot), and one for each output (an
 * epilogue axis).  A slot has one invocation at a time, so each axis is in order.  Epochs count
 * successes: of what has failed nobody can know that it is complete.
 *
 *   an invocation   its own epoch, those of its outputs that had been signalled for themselves, and
 *                   what it has waited for: its fence, the fences of inputs that it has used, the
 *                   invocation before it among those with state
 *   an output       its own epoch, and what the invocation had waited for by then
 *
 * What was complete before in the same slot is in the epoch, but what that had waited for is not:
 * the frontier then says less than is true, which is safe, as who wants that invocation to be
 * complete finds its epoch, and what an epoch comes after is complete with it. */
#ifndef FS_EXEC_KNOWN_H
#define FS_EXEC_KNOWN_H

#include "exec/context/core.h"

/* Gives the entry's slots their axes; without, when none are left: its signals are tainted. */
fs_status fs_known_number(fsched_entry *entry) FS_MUST_USE;
/* Room for an empty one of the exec's capacity.  Requires entries, if the exec's frontiers hold
 * any. */
static inline fsched_frontier fs_known_room(const fsched_exec *x, fsched_frontier_entry *entries) {
  assert(entries != NULL || x->options.frontier_capacity == 0);
  return (fsched_frontier){.entry = entries, .capacity = x->options.frontier_capacity};
}

/* All of these with the exec's lock. */

/* The wait fence is reached. */
void fs_known_waited(fs_invocation *v);
/* Its turn among those with state has come. */
void fs_known_admitted(fs_invocation *v);
/* A kept item is there, whose binding has a signal: binding->known is what that carries.  Requires
 * a kept item that has a signal. */
void fs_known_output(fs_invocation *v, fs_bound *binding);
/* It is complete: v->known is what its signal carries.  It still has its slot.  Requires that it
 * still has its slot. */
void fs_known_complete(fs_invocation *v);

#endif
