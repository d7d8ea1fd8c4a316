/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by name. */
#include "device.h"

#include "host.h"

#include <stdio.h>

enum { DEFAULT_LIMIT_LOG2 = 36 };

static const fs_backend *const backends[] = {&fs_backend_cpu, &fs_backend_cuda,
                                             &fs_backend_cuda_graph, &fs_backend_sim};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const fs_backend *find(const char *name) {
  for (unsigned i = 0; i < BACKENDS; i++) {
    if (strcmp(backends[i]->name, name) == 0) {
      return backends[i];
    }
  }
  return NULL;
}

static fs_status open_as(fsched_context *ctx, fsched_device *d, const char *kind,
                         const fsched_device_options *o) {
  d->backend = find(kind);
  if (d->backend == NULL) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_DEVICE, FS_NOWHERE, NULL,
                   "there is no kind of device called '%s'", kind);
  }
  /* The machine's diagnostics are the caller's, its memory is the device's. */
  FS_TRY(d->backend->open(d->ctx, o, &d->machine));
  (void)snprintf(d->note, sizeof d->note, "%s", d->backend->describe(d->machine));
  d->host = d->backend->on_host ? fs_host_options(d->machine) : NULL;
  return FSCHED_OK;
}

/* Why the last attempt failed, as a line. */
static void keep_reason(fsched_device *d, char *why, size_t room) {
  uint32_t n = fsched_diag_count(d->ctx);
  (void)snprintf(why, room, "%s", n == 0 ? "" : fsched_diag_get(d->ctx, 0)->message);
  fsched_diag_clear(d->ctx);
}

static fs_status open_best(fsched_context *ctx, fsched_device *d, const fsched_device_options *o) {
  char why[200] = "no CUDA back end";
  if (find("cuda") != NULL) {
    if (open_as(ctx, d, "cuda", o) == FSCHED_OK) {
      return FSCHED_OK;
    }
    keep_reason(d, why, sizeof why);
  }
  FS_TRY(open_as(ctx, d, "cpu", o));
  (void)snprintf(d->note, sizeof d->note, "the processors of this machine: %s", why);
  return FSCHED_OK;
}

/* Says to the caller what was said to the device's context. */
static void pass_on(fsched_context *ctx, const fsched_context *from) {
  if (fs_context_out_of_memory(from)) {
    (void)fs_no_memory(ctx, 0);
    return;
  }
  for (uint32_t i = 0; i < fsched_diag_count(from); i++) {
    const fsched_diag *d = fsched_diag_get(from, i);
    fs_report(ctx, d->severity, FS_DIAG_DEVICE, FS_NOWHERE, d->hint, "%s", d->message);
  }
}

static fs_status open_device(fsched_context *ctx, fsched_device *d,
                             const fsched_device_options *o) {
  const char *kind = o->kind == NULL ? "cpu" : o->kind;
  fs_status status = strcmp(kind, "auto") == 0 ? open_best(ctx, d, o) : open_as(ctx, d, kind, o);
  pass_on(ctx, d->ctx);
  return status;
}

fsched_status fsched_device_create(fsched_context *ctx, const fsched_device_options *options,
                                   fsched_device **out) {
  fsched_device_options o = {.size = sizeof o};
  *out = NULL;
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_device_options", options->size,
                            FS_SIZE_UP_TO(fsched_device_options, seed)));
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  o.memory_limit = o.memory_limit == 0 ? UINT64_C(1) << DEFAULT_LIMIT_LOG2 : o.memory_limit;
  fs_allocator a = fs_allocator_of(ctx);
  fsched_device *d = fs_allocator_new(a, sizeof *d);
  if (d == NULL) {
    return fs_no_memory(ctx, sizeof *d);
  }
  *d = (fsched_device){.allocator = a, .memory_limit = o.memory_limit};
  atomic_init(&d->references, 1);
  fs_status status = fs_context_own(ctx, &d->ctx);
  if (status == FSCHED_OK) {
    status = open_device(ctx, d, &o);
  }
  if (status != FSCHED_OK) {
    fsched_context_destroy(d->ctx);
    fs_allocator_free(a, d, sizeof *d);
    return status;
  }
  *out = d;
  return FSCHED_OK;
}

void fsched_device_retain(fsched_device *device) {
  atomic_fetch_add_explicit(&device->references, 1, memory_order_relaxed);
}

void fsched_device_release(fsched_device *device) {
  if (device == NULL ||
      atomic_fetch_sub_explicit(&device->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  device->backend->close(device->machine);
  fsched_context_destroy(device->ctx);
  fs_allocator_free(device->allocator, device, sizeof *device);
}

const char *fsched_device_kind(const fsched_device *device) { return device->backend->name; }
const char *fsched_device_note(const fsched_device *device) { return device->note; }
