/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the driver: the library, then all entry points, then the device, then its primary
 * context.  A part that is missing at any of these steps is a reason, not an error: most machines
 * have no device. */
#include "exec/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>

enum { LEAST_VERSION = 12000, LEAST_CAPABILITY = 70 };

typedef fs_cu_result get_proc_address(const char *symbol, void **address, int version,
                                      unsigned long long flags, unsigned *status);

static fs_status no_device(fs_cuda_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static fs_status no_device(fs_cuda_reason *reason, const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)vsnprintf(reason->text, sizeof reason->text, format, args);
  va_end(args);
  return FSCHED_SYSTEM;
}

static fs_status call_failed(const fs_cuda *d, fs_cuda_reason *reason, const char *call,
                             fs_cu_result result) {
  if (result == FS_CU_NO_DEVICE) {
    return no_device(reason, "the CUDA driver finds no device");
  }
  if (result == FS_CU_STUB_LIBRARY) {
    return no_device(reason, "the CUDA driver is a stub library, for linking only");
  }
  char text[200];
  fs_cuda_describe(d, call, result, text, sizeof text);
  return no_device(reason, "the CUDA driver cannot be used: %s", text);
}

#define TRY_FIND(d, reason, call, args)                  \
  do {                                                   \
    fs_cu_result result_ = (d)->api.call args;           \
    if (result_ != FS_CU_SUCCESS) {                      \
      return call_failed((d), (reason), #call, result_); \
    }                                                    \
  } while (0)

/* The address of a function as a pointer to data, as dlsym gives it. */
static void *find_symbol(void *library, const char *name) { return dlsym(library, name); }

static fs_status load_entries(fs_cuda *d, const char *file, fs_cuda_reason *reason) {
  void *symbol = find_symbol(d->library, "cuGetProcAddress_v2");
  if (symbol == NULL) {
    return no_device(reason, "the CUDA driver '%s' is older than CUDA 12.0", file);
  }
  get_proc_address *get;
  memcpy(&get, &symbol, sizeof get);
  const struct {
    const char *name;
    int version;
    void *entry;
    bool optional;
  } wanted[] = {
#define FS_CU(name, version, params) {#name, version, &d->api.name, false},
#define FS_CU_OPTIONAL(name, version, params) {#name, version, &d->api.name, true},
#include "exec/cuda/driver.def"
#undef FS_CU
#undef FS_CU_OPTIONAL
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *address = NULL;
    fs_cu_result result = get(wanted[i].name, &address, wanted[i].version, 0, NULL);
    if ((result != FS_CU_SUCCESS || address == NULL) && !wanted[i].optional) {
      return no_device(reason, "the CUDA driver '%s' lacks %s of CUDA %d.%d", file, wanted[i].name,
                       wanted[i].version / 1000, wanted[i].version % 1000 / 10);
    }
    address = result == FS_CU_SUCCESS ? address : NULL;
    memcpy(wanted[i].entry, &address, sizeof address);
  }
  return FSCHED_OK;
}

static fs_status load_library(fs_cuda *d, const char *file, fs_cuda_reason *reason) {
  d->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (d->library == NULL) {
    const char *why = dlerror();
    return no_device(reason, "no CUDA driver: %s", why == NULL ? file : why);
  }
  return load_entries(d, file, reason);
}

static fs_status find_device(fs_cuda *d, uint32_t ordinal, fs_cuda_reason *reason) {
  int count = 0, major = 0, minor = 0, unified = 0;
  TRY_FIND(d, reason, cuInit, (0));
  TRY_FIND(d, reason, cuDriverGetVersion, (&d->version));
  if (d->version < LEAST_VERSION) {
    return no_device(reason, "the CUDA driver is for CUDA %d.%d, 12.0 is needed", d->version / 1000,
                     d->version % 1000 / 10);
  }
  TRY_FIND(d, reason, cuDeviceGetCount, (&count));
  if (ordinal >= (uint32_t)count) {
    return count == 0 ? call_failed(d, reason, "cuDeviceGetCount", FS_CU_NO_DEVICE)
                      : no_device(reason, "there is no CUDA device %u, they are 0 to %d", ordinal,
                                  count - 1);
  }
  TRY_FIND(d, reason, cuDeviceGet, (&d->device, (int)ordinal));
  TRY_FIND(d, reason, cuDeviceGetName, (d->name, (int)sizeof d->name, d->device));
  TRY_FIND(d, reason, cuDeviceGetAttribute, (&major, FS_CU_CAPABILITY_MAJOR, d->device));
  TRY_FIND(d, reason, cuDeviceGetAttribute, (&minor, FS_CU_CAPABILITY_MINOR, d->device));
  TRY_FIND(d, reason, cuDeviceGetAttribute, (&unified, FS_CU_UNIFIED_ADDRESSING, d->device));
  d->capability = 10 * major + minor;
  if (d->capability < LEAST_CAPABILITY || !unified) {
    return no_device(reason, "'%s' has compute capability %d.%d%s, 7.0 is needed", d->name, major,
                     minor, unified ? "" : " and no unified addresses");
  }
  int words = 0;
  TRY_FIND(d, reason, cuDeviceGetAttribute, (&words, FS_CU_STREAM_WORDS, d->device));
  d->words =
      d->api.cuStreamWaitValue64 != NULL && d->api.cuStreamWriteValue64 != NULL && words != 0;
  TRY_FIND(d, reason, cuDevicePrimaryCtxRetain, (&d->context, d->device));
  return FSCHED_OK;
}

fs_status fs_cuda_find(fs_cuda *d, const fs_cuda_where *where, fs_cuda_reason *reason) {
  const char *file = where->driver == NULL ? "libcuda.so.1" : where->driver;
  *d = (fs_cuda){0};
  fs_status status = load_library(d, file, reason);
  if (status == FSCHED_OK) {
    status = find_device(d, where->ordinal, reason);
  }
  if (status != FSCHED_OK) {
    fs_cuda_close(d);
  }
  return status;
}

fs_status fs_cuda_open(fsched_context *ctx, fs_cuda *d, const fs_cuda_where *where) {
  fs_cuda_reason reason;
  fs_status status = fs_cuda_find(d, where, &reason);
  if (status != FSCHED_OK) {
    fs_report(ctx, FSCHED_ERROR, FS_DIAG_DEVICE, FS_NOWHERE, NULL, "%s", reason.text);
  }
  return status;
}

void fs_cuda_close(fs_cuda *d) {
  if (d->context != NULL) {
    (void)d->api.cuDevicePrimaryCtxRelease(d->device);
  }
  if (d->library != NULL) {
    (void)dlclose(d->library);
  }
  *d = (fs_cuda){0};
}

fs_status fs_cuda_enter(fsched_context *ctx, const fs_cuda *d) {
  FS_CU_TRY(ctx, d, cuCtxPushCurrent, (d->context));
  return FSCHED_OK;
}

bool fs_cuda_enter_again(const fs_cuda *d) {
  return d->api.cuCtxPushCurrent(d->context) == FS_CU_SUCCESS ||
         d->api.cuCtxPushCurrent(d->context) == FS_CU_SUCCESS;
}

void fs_cuda_leave(const fs_cuda *d) {
  fs_cu_context context;
  (void)d->api.cuCtxPopCurrent(&context);
}

void fs_cuda_describe(const fs_cuda *d, const char *call, fs_cu_result result, char *text,
                      size_t size) {
  assert(size > 0);
  const char *name = NULL, *meaning = NULL;
  if (d->api.cuGetErrorName(result, &name) != FS_CU_SUCCESS || name == NULL) {
    name = "an error without a name";
  }
  if (d->api.cuGetErrorString(result, &meaning) != FS_CU_SUCCESS || meaning == NULL) {
    meaning = "unknown to the driver";
  }
  (void)snprintf(text, size, "%s: %s (%u): %s", call, name, result, meaning);
}

fs_status fs_cuda_fail(fsched_context *ctx, const fs_cuda *d, const char *call,
                       fs_cu_result result) {
  assert(result != FS_CU_SUCCESS);
  char text[200];
  fs_cuda_describe(d, call, result, text, sizeof text);
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_DEVICE, FS_NOWHERE, NULL, "%s", text);
}
