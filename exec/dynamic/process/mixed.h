/* SPDX-License-Identifier: Apache-2.0 */
/* The carrier (carrier.h) whose workers are processes, but for those of the host, which are threads
 * of this process. */
#ifndef FS_DYNAMIC_MIXED_H
#define FS_DYNAMIC_MIXED_H

#include "exec/dynamic/process/process.h"

/* Workers for which `host` of the options says so are threads.  Errors: as fs_carrier_processes and
 * fs_carrier_threads. */
fs_status fs_carrier_mixed(fsched_context *ctx, const fs_carrier_options *options,
                           const fs_process_options *process, fs_carrier **out) FS_MUST_USE;

#endif
