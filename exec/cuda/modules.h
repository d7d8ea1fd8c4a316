/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a program on a device: modules (PTX, cubin, fatbin) are loaded, functions are
 * found, and their launch parameters are checked. */
#ifndef FS_EXEC_CUDA_MODULES_H
#define FS_EXEC_CUDA_MODULES_H

#include "base/mem.h"
#include "base/text/hex.h"
#include "exec/cuda/device.h"
#include "exec/cuda/host.h"
#include "exec/host/module_file.h"

typedef struct fs_cuda_kernel {
  fs_cu_function function;
  fs_builtin builtin; /* FS_BUILTINS: a kernel of a module */
  uint8_t *params;    /* the block of parameters; or NULL */
  uint32_t n_params;  /* its bytes */
} fs_cuda_kernel;

/* The words that a block of parameters takes.  FS_NONE: of no kernel. */
static inline uint32_t fs_cuda_params_words(const fs_stream *s, uint32_t kernel) {
  const char *text = kernel == FS_NONE ? NULL : fs_stream_string(s, s->kernels[kernel].params);
  return text == NULL ? 0 : (uint32_t)((fs_hex_bytes(text) + 7) / 8);
}

typedef struct fs_cuda_modules {
  const fs_cuda_device *device;
  uint32_t n;
  fs_cu_module *module;
  uint32_t *path;         /* per module: string of the stream */
  fs_status *status;      /* per module: how its loading ended */
  fs_cuda_kernel *kernel; /* per kernel of the stream */
} fs_cuda_modules;

/* The device's context must be current.  Every op, those of loops too, whose kernel cannot be run
 * here is reported, but for those of the host.  The modules have to be released, after a failure
 * too.  A module is the file of its name, or of its name with ".ptx", ".fatbin" or ".cubin"
 * appended, if the rule allows it.  Requires a stream that fs_stream_check has accepted. Errors:
 * FSCHED_REPLAY for kernels that are missing or cannot be launched as the stream says;
 * FSCHED_SYSTEM for files that cannot be read, and for the device. */
fs_status fs_cuda_modules_load(fsched_context *ctx, fs_arena *arena, const fs_cuda_device *device,
                               const fs_stream *s, const fs_module_rule *rule,
                               const fs_cuda_host_ops *hosts, fs_cuda_modules *m) FS_MUST_USE;
void fs_cuda_modules_release(fs_cuda_modules *m);

#endif
