/* SPDX-License-Identifier: Apache-2.0 */
/* Says why a stream does not go on, for back ends that know what each queue waits for. */
#ifndef FS_EXEC_STUCK_H
#define FS_EXEC_STUCK_H

#include "backend.h"

/* Where a queue is stuck. */
typedef struct fs_stuck {
  uint32_t at;    /* index among its commands; FS_NONE: it is not stuck */
  uint32_t item;  /* given item whose content it waits for; FS_NONE: it waits for an epoch */
  uint32_t axis;  /* of a gang whose members are not all there: the collective one */
  uint64_t epoch; /* within the invocation, from 1 */
} fs_stuck;

/* A look at an instance.  Things may move between two calls. */
typedef struct fs_stuck_view {
  const fs_stream *s;
  const fs_io *io;
  const fs_instance *x;
  fs_stuck (*queue)(const fs_instance *x, uint32_t queue);
  uint64_t (*reached)(const fs_instance *x, uint32_t axis); /* within the invocation */
} fs_stuck_view;

/* Reports the queue that is to blame as an error, the other stuck ones as notes; nothing when none
 * is stuck.  No allocation but the diagnostics'. */
void fs_stuck_report(fsched_context *ctx, const fs_stuck_view *view);

#endif
