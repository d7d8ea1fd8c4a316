/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that keep queues apart (lib/spread). */
#ifndef FS_COMPILE_APART_H
#define FS_COMPILE_APART_H

#include "model/sync.h"

/* Changes addresses alone, if reuse of places adds fewer orders then, or as many with fewer waits.
 * *sync: the control edges of the schedule as it is then, where they were looked for, or NULL.
 * Requires an order of all items.  Errors: FSCHED_SYSTEM. */
fs_status fs_schedule_apart(fs_schedule *s, fs_sync_kind kind, fs_sync **sync) FS_MUST_USE;

#endif
