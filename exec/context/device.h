/* SPDX-License-Identifier: Apache-2.0 */
/* A device: a back end and its machine. */
#ifndef FS_EXEC_DEVICE_H
#define FS_EXEC_DEVICE_H

#include "base/mem.h"
#include "base/process.h"
#include "exec/host/backend.h"

/* FSCHED_OK in the process of that birth; else reports that an object which the parent process has
 * made cannot be used. */
fs_status fs_refuse_inherited(fsched_context *ctx, uint64_t birth) FS_MUST_USE;

struct fsched_device {
  fs_allocator allocator;
  fsched_context *ctx; /* its own, for the machine's memory; used by one thread at a time */
  _Atomic uint32_t references;
  const fs_backend *backend;
  const char *kind; /* name of the back end's kind, a constant */
  fs_machine *machine;
  _Atomic uint32_t lost; /* a kernel on it was given up */
  uint64_t memory_limit;
  const fsched_device_options *host; /* how the host finds kernels of modules; NULL: it does not */
  char note[256];
  uint32_t axis_session, axis_machine; /* parts of the axes of its execs and pools */
  fs_ordinals *ordinals;               /* the process' source of axis ordinals */
  uint64_t birth;                      /* birth of the process that has made it */
};

#endif
