/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by name. */
#include "exec/context/device.h"

#include "exec/host/host.h"
#include "exec/host/machine_memory.h"

#include <stdio.h>

/* The memory limit of a device that has its own memory: high, as its driver knows the true one. */
static const uint64_t device_limit = UINT64_C(1) << 36;

#define BACKEND(id, ...) &fs_backend_##id,
static const fs_backend *const backends[FS_N_BACKENDS] = {FS_BACKEND_KINDS(BACKEND)};

static fs_status open_as(fsched_context *ctx, fsched_device *d, const char *kind,
                         const fsched_device_options *o) {
  const fs_backend_kind *found = fs_backend_kind_of(kind);
  if (found == NULL) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_DEVICE, FS_NOWHERE, NULL,
                   "there is no kind of device called '%s'", kind);
  }
  d->backend = backends[found - fs_backend_kinds];
  d->kind = found->name;
  /* The machine's diagnostics go to the caller's context, its memory comes from the device's. */
  fsched_device_options own = *o;
  own.kind = d->kind;
  FS_TRY(d->backend->open(d->ctx, &own, &d->machine));
  (void)snprintf(d->note, sizeof d->note, "%s", d->backend->describe(d->machine));
  d->host = d->backend->on_host ? fs_host_options(d->machine) : NULL;
  return FSCHED_OK;
}

/* Keeps the reason why the last attempt failed, as a line. */
static void keep_reason(fsched_device *d, char *why, size_t room) {
  uint32_t n = fsched_diag_count(d->ctx);
  (void)snprintf(why, room, "%s", n == 0 ? "" : fsched_diag_get(d->ctx, 0)->message);
  fsched_diag_clear(d->ctx);
}

static fs_status open_best(fsched_context *ctx, fsched_device *d, const fsched_device_options *o) {
  char why[200] = "no back end is better";
  for (uint32_t i = 0; i < FS_N_BACKENDS; i++) {
    if (fs_backend_kinds[i].best) {
      if (open_as(ctx, d, fs_backend_kinds[i].name, o) == FSCHED_OK) {
        return FSCHED_OK;
      }
      keep_reason(d, why, sizeof why);
    }
  }
  FS_TRY(open_as(ctx, d, "cpu", o));
  (void)snprintf(d->note, sizeof d->note, "the processors of this machine: %s", why);
  return FSCHED_OK;
}

/* Repeats the diagnostics of the device's context to the caller. */
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
  if (status == FSCHED_OK && d->memory_limit == 0) {
    uint64_t least = d->host == NULL ? device_limit : 0;
    d->memory_limit = fs_max(fs_machine_memory(), least);
  }
  pass_on(ctx, d->ctx);
  return status;
}

fs_status fs_refuse_inherited(fsched_context *ctx, uint64_t birth) {
  return fs_process_inherited(birth)
             ? fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE,
                       "make devices, pools and contexts of execution after fork",
                       "what a parent process has made cannot be used in its child")
             : FSCHED_OK;
}

static fs_status check_session(fsched_context *ctx, const fsched_device_options *o) {
  const char *wrong = o->session > FSCHED_SESSION_LOCAL      ? "'session' is at most 255"
                      : o->session == FSCHED_SESSION_PROGRAM ? "session 1 is that of programs"
                      : o->machine > UINT8_MAX               ? "'machine' is at most 255"
                                                             : NULL;
  return wrong == NULL ? FSCHED_OK
                       : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL, "%s", wrong);
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
  FS_TRY(check_session(ctx, &o));
  if (o.threads > FS_MOST_THREADS) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "'threads' is at most %d, not %u", FS_MOST_THREADS, o.threads);
  }
  fs_allocator a = fs_allocator_of(ctx);
  fsched_device *d = fs_allocator_new(a, sizeof *d);
  if (d == NULL) {
    return fs_no_memory(ctx, sizeof *d);
  }
  *d = (fsched_device){.allocator = a,
                       .memory_limit = o.memory_limit,
                       .axis_session = o.session == 0 ? FSCHED_SESSION_LOCAL : o.session,
                       .axis_machine = o.machine,
                       .ordinals = fs_process_ordinals(),
                       .birth = fs_process_birth()};
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
  if (device == NULL || fs_process_inherited(device->birth) ||
      atomic_fetch_sub_explicit(&device->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  device->backend->close(device->machine);
  fsched_context_destroy(device->ctx);
  fs_allocator_free(device->allocator, device, sizeof *device);
}

const char *fsched_device_kind(const fsched_device *device) { return device->kind; }
const char *fsched_device_note(const fsched_device *device) { return device->note; }
int fsched_device_lost(const fsched_device *device) { return atomic_load(&device->lost) != 0; }
