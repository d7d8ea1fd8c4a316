/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a machine, for the back ends that are on it alone; a device has a machine of its
 * own. */
#ifndef FS_EXEC_HOST_MACHINE_H
#define FS_EXEC_HOST_MACHINE_H

#include "exec/host/host.h"

/* The options, with copies of their strings. */
struct fs_machine {
  fsched_context *ctx; /* the machine's own, for its memory */
  fsched_device_options options;
  char modules[4096];
  char note[64];
};

#endif
