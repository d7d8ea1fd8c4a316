/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, epochs, waits, signals, scopes and stored frontiers from a schedule and its control
 * edges.
 *
 * Wanted: every edge of the graph, every ordering of a copy's data (access.h) and every control
 * edge, for each member command of the item that comes later; of an edge at a loop that concerns
 * some members alone (lags.h), each of these of the earlier item for each of the later one.  A wait
 * that queue order and the other waits of the stream already imply is dropped, so no wait can be
 * left out.  Each wanted order is counted once, by the first of these that holds: same queue  it
 * runs on the queue itself, and nowhere else, and is not slow (fs_item_slow) exact       an earlier
 * command of the queue, or another wait of the same command, waits for the very axis and this epoch
 * or a later one frontier    all of it is known through what waits brought along, over any number
 * of queues emitted     a wait in the stream A queue thus waits for its own axis only where a slow
 * command may still run, and never for an epoch twice; every wait is for a command that comes
 * earlier in schedule->order, so whoever submits in that order never waits for what is not
 * submitted yet.
 *
 * An entry {queue axis q: e} of a frontier says that all commands of q up to epoch e are complete;
 * {collective axis c: e} that all members of the e-th command of gang c are, with all that precedes
 * them on their queues.  The exact clock of a command has queue axes alone and is closed under what
 * is known: its own epoch and, for each command in it, that command's exact clock.  The stored
 * frontier names a collective instead of its members where their entries are just its members'
 * epochs (two members or more, none on the command's own queue).  It holds at most the target's
 * frontier capacity: beyond that the smallest epochs leave, never the command's own entry, and it
 * is tainted.  One that is not tainted implies every entry of the exact clock.
 *
 * A command signals when some command waits for its epoch or for its gang's.  Its scope is the
 * widest distance to a queue that waits: device, device group (one machine), system; queue when
 * nobody waits but its own queue, on its own axis. */
#ifndef FS_WAITS_H
#define FS_WAITS_H

#include "model/sync.h"

/* Requires fs_ctrledge_run, which makes the positions.  Fills the rest of `sync`.
 * Complexity: O((commands + edges) * axes known).  Errors: FSCHED_SYSTEM. */
fs_status fs_waits_run(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) FS_MUST_USE;

/* The same without frontiers, signals and scopes, where fs_frontiers_run makes them later.
 * Requires fs_ctrledge_run, too. */
fs_status fs_waits_run_alone(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) FS_MUST_USE;

/* The frontiers where barriers or syncs take the place of waits.  Barriers: the exact clock of a
 * command has its own epoch, what its queue knows, and the exact clock of every producer of the
 * barriers it waits for.  A producer that updates several barriers counts as begun only, until all
 * of them are known to be complete (parts.h).  Syncs: its own epoch, and what the stops that are
 * issued before it have waited for (told.h).  No command signals.
 * Requires fs_waits_run or fs_waits_run_alone, which has numbered the commands, and producers that
 * are earlier in schedule->order, or an order of issue.
 * Complexity: O((commands + waits for barriers and updates) * axes that are new); with stops
 * O(commands * (1 + entries stored)), with gangs O(commands * queues).
 * Errors: FSCHED_SYSTEM. */
fs_status fs_frontiers_run(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) FS_MUST_USE;

#endif
