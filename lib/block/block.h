/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs for targets with sync: block, where syncs that stop the one sequencer are the only
 * synchronisation.
 *
 * Machine: one sequencer issues all commands in one order; a queue runs what is issued to it first
 * in, first out.  At a full sync the sequencer waits until all that it has issued is over; at a
 * counting sync until all but the last `keep` commands that it has issued to one (counting) queue
 * are over.  Then it goes on.
 *
 * Three things are decided: the queues of items (of those that they may use), the order of issue,
 * and the syncs.  What is minimised is the makespan and, for each full sync, what the target says
 * that it costs (fs_sync_total); with a high cost there are as few as any order of issue allows.
 *
 * Requires fs_ctrledge_run and fs_waits_run, which `again` runs anew where addresses or queues
 * change.
 * Ensures: issue and stop of `sync` are filled, the schedule has new times (lib/model/retime.h) and
 * queues, residencies in stack memories have addresses from the stack where these fit, and control
 * edges and data are those of the new addresses.
 *
 * Complexity: O((items + edges) log), and a bounded number of steps of search.
 *
 * Errors: FSCHED_SYSTEM; FSCHED_INFEASIBLE (reported) where syncs hold back an op whose start is
 * given.
 *
 * Source: nvFuser's sync insertion and shared memory allocation; the .c files say what differs. */
#ifndef FS_BLOCK_H
#define FS_BLOCK_H

#include "model/sync.h"

fs_status fs_block_run(fsched_context *ctx, fs_schedule *s, fs_sync *sync,
                       fs_sync_fn again) FS_MUST_USE;

#endif
