/* SPDX-License-Identifier: Apache-2.0 */
/* A device: a back end and its machine. */
#ifndef FS_EXEC_DEVICE_H
#define FS_EXEC_DEVICE_H

#include "backend.h"
#include "mem.h"

struct fsched_device {
  fs_allocator allocator;
  fsched_context *ctx; /* its own; for the machine's memory, by one thread at a time */
  _Atomic uint32_t references;
  const fs_backend *backend;
  fs_machine *machine;
  uint64_t memory_limit;
  const fsched_device_options *host; /* how the host finds kernels of modules; NULL: it does not */
  char note[256];
};

#endif
