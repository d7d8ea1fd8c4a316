/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, scopes and holds.  A buffer without bytes is memory of the user of no bytes. */
#include "exec/dynamic/calls/private.h"

/* Adds a buffer for which there is room. */
static void add_buffer(fsched_dynamic *d, fs_call_buffer buffer) {
  fs_status status = fs_vec_push(d->ctx, &d->buffer, buffer);
  assert(status == FSCHED_OK);
  (void)status;
}

static fs_status add_empty(fsched_dynamic *d, unsigned access) {
  fs_call_buffer x = {.held = FS_DYNAMIC_NO_TASK};
  void *nowhere;
  FS_TRY(fs_vec_reserve(d->ctx, &d->buffer, d->buffer.n + 1));
  FS_TRY(fs_workers_memory(d->workers, 0, &nowhere));
  FS_TRY(fs_workers_import(d->workers, nowhere, 0, (access & FSCHED_ACCESS_READ) != 0,
                           (access & FSCHED_ACCESS_WRITE) != 0, &x.buffer));
  add_buffer(d, x);
  return FSCHED_OK;
}

fs_status fs_call_add_import(void *user, const fsched_submit_import_desc *desc, unsigned access) {
  fsched_dynamic *d = user;
  fs_call_buffer x = {.held = FS_DYNAMIC_NO_TASK};
  if (desc->queue != NULL) {
    return fs_call_error(d, FSCHED_BAD_INPUT, ARG,
                         "import '%.80s': workers are of the host, and memory of the device of "
                         "queue '%.80s' is not",
                         desc->name, desc->queue);
  }
  if (desc->bytes == 0) {
    return add_empty(d, access);
  }
  if (desc->address == NULL) {
    return fs_call_error(d, FSCHED_BAD_INPUT, ARG, "import '%.80s' has no address", desc->name);
  }
  FS_TRY(fs_vec_reserve(d->ctx, &d->buffer, d->buffer.n + 1));
  FS_TRY(fs_workers_import(d->workers, (void *)(uintptr_t)desc->address, desc->bytes,
                           (access & FSCHED_ACCESS_READ) != 0, (access & FSCHED_ACCESS_WRITE) != 0,
                           &x.buffer));
  add_buffer(d, x);
  return FSCHED_OK;
}

fs_status fs_call_add_alloc(void *user, uint64_t bytes) {
  fsched_dynamic *d = user;
  fs_call_buffer x = {.held = FS_DYNAMIC_NO_TASK, .owned = true};
  fs_dynamic_task task;
  if (bytes == 0) {
    return add_empty(d, FSCHED_ACCESS_READ | FSCHED_ACCESS_WRITE);
  }
  FS_TRY(fs_vec_reserve(d->ctx, &d->buffer, d->buffer.n + 1));
  FS_TRY(fs_workers_alloc(d->workers, 1, &bytes, 1, &x.buffer, &task));
  fs_status status = fs_submit_will_last(d->s, FS_NONE)
                         ? fs_workers_hold(d->workers, x.buffer, &x.held)
                         : FSCHED_OK;
  if (status != FSCHED_OK) {
    fs_status forgotten = fs_workers_forget(d->workers, x.buffer);
    assert(forgotten == FSCHED_OK);
    (void)forgotten;
    return status;
  }
  add_buffer(d, x);
  return FSCHED_OK;
}

fsched_status fsched_dynamic_memory(fsched_dynamic *d, uint64_t bytes, void **out) {
  if (d->workers == NULL) {
    return fs_call_error(d, FSCHED_USAGE, CALL, "no run was opened");
  }
  return fs_workers_memory(d->workers, bytes, out);
}

fsched_status fsched_dynamic_import(fsched_dynamic *d, const fsched_submit_import_desc *desc,
                                    uint32_t *buffer) {
  FS_TRY(fs_call_accept(d));
  return fsched_submit_import(d->s, desc, buffer);
}

fsched_status fsched_dynamic_alloc(fsched_dynamic *d, const fsched_submit_alloc_desc *desc,
                                   uint32_t *buffer) {
  FS_TRY(fs_call_accept(d));
  return fsched_submit_alloc(d->s, desc, buffer);
}

fsched_status fsched_dynamic_begin_scope(fsched_dynamic *d, const fsched_submit_scope_desc *desc) {
  FS_TRY(fs_call_accept(d));
  FS_TRY(fsched_submit_begin_scope(d->s, desc));
  fs_status status = fs_workers_scope_begin(d->workers);
  if (status != FSCHED_OK) { /* the run has failed meanwhile */
    fs_status ended = fsched_submit_end_scope(d->s);
    (void)ended;
  }
  return status;
}

fsched_status fsched_dynamic_end_scope(fsched_dynamic *d) {
  FS_TRY(fs_call_accept(d));
  FS_TRY(fsched_submit_end_scope(d->s));
  return fs_workers_scope_end(d->workers);
}

fsched_status fsched_dynamic_hold(fsched_dynamic *d, uint32_t buffer) {
  FS_TRY(fs_call_accept(d));
  FS_TRY(fsched_submit_hold(d->s, buffer));
  fs_call_buffer *x = &d->buffer.at[buffer];
  if (!x->owned || x->held != FS_DYNAMIC_NO_TASK) {
    return FSCHED_OK;
  }
  fs_status status = fs_workers_hold(d->workers, x->buffer, &x->held);
  if (status != FSCHED_OK) { /* the run has failed meanwhile */
    fs_status released = fsched_submit_release(d->s, buffer);
    (void)released;
    x->held = FS_DYNAMIC_NO_TASK;
  }
  return status;
}

fsched_status fsched_dynamic_release(fsched_dynamic *d, uint32_t buffer) {
  FS_TRY(fs_call_accept(d));
  FS_TRY(fsched_submit_release(d->s, buffer));
  fs_call_buffer *x = &d->buffer.at[buffer];
  if (x->held == FS_DYNAMIC_NO_TASK || fs_submit_lasts(d->s, buffer)) {
    return FSCHED_OK;
  }
  fs_dynamic_task held = x->held;
  x->held = FS_DYNAMIC_NO_TASK;
  return fs_workers_release(d->workers, held);
}
