/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: the user's, and declared ones with their present version.  What has been written of a
 * version is a set of views, none of which covers another, in a tree by their spans; runs of bytes
 * that touch are one.  A version that is written whole has none. */
#include <inttypes.h>

#include "base/context.h"
#include "base/saturate.h"
#include "exec/dynamic/private.h"

static fs_dynamic_buffer buffer_handle(const fs_dynamic *e, uint32_t record) {
  return (uint64_t)e->record.at[record].generation << 32 | record;
}

uint32_t fs_record_missing(fs_dynamic *e) {
  (void)fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "there is no such buffer");
  return FS_NONE;
}

static fs_status new_record(fs_dynamic *e, bool device, uint32_t *out) {
  uint32_t id = e->unused_record[device];
  if (id == FS_NONE) {
    fs_dynamic_record fresh = {.device = device};
    FS_TRY(fs_vec_ensure(e->ctx, &e->record, e->record.n + 1));
    FS_TRY(fs_accesses_places(&e->accesses, device ? e->n_queues : 1, &fresh.place));
    id = (uint32_t)e->record.n++;
    e->record.at[id] = fresh;
  } else {
    e->unused_record[device] = e->record.at[id].next;
    e->record.at[id] = (fs_dynamic_record){.generation = e->record.at[id].generation + 1,
                                           .device = device,
                                           .place = e->record.at[id].place};
  }
  fs_dynamic_record *r = &e->record.at[id];
  r->used = true;
  r->owner = FS_DYNAMIC_NO_TASK;
  r->heap = r->written = FS_NONE;
  *out = id;
  return FSCHED_OK;
}

/* Whether no imported buffer of the host, or none of devices, has bytes of this one. */
static fs_status check_apart(fs_dynamic *e, const fs_dynamic_import *d) {
  uint64_t covered;
  e->near.n = 0;
  FS_TRY(fs_ranges_find(&e->spans, e->imported[d->device], d->address, d->address + d->size,
                        &e->near, &covered));
  return covered == 0
             ? FSCHED_OK
             : fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "two imported buffers share bytes");
}

fs_status fs_dynamic_import_buffer(fs_dynamic *e, const fs_dynamic_import *desc,
                                   fs_dynamic_buffer *out) {
  if (desc->size > FSCHED_MAX_SIZE || desc->address > UINT64_MAX - desc->size) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a buffer of %" PRIu64 " bytes is too large",
                            desc->size);
  }
  FS_TRY(desc->size == 0 ? FSCHED_OK : check_apart(e, desc));
  FS_TRY(fs_ranges_reserve(&e->spans, 1));
  uint32_t id;
  FS_TRY(new_record(e, desc->device, &id));
  fs_dynamic_record *r = &e->record.at[id];
  r->size = desc->size;
  r->address = desc->address;
  r->readable = desc->readable;
  r->writable = desc->writable;
  *out = buffer_handle(e, id);
  return desc->size == 0 ? FSCHED_OK
                         : fs_ranges_add(&e->spans, &e->imported[desc->device], desc->address,
                                         desc->address + desc->size, id);
}

fs_status fs_dynamic_declare(fs_dynamic *e, uint64_t size, fs_dynamic_buffer *out) {
  if (size > FSCHED_MAX_SIZE) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a buffer of %" PRIu64 " bytes is too large",
                            size);
  }
  uint32_t id;
  FS_TRY(new_record(e, false, &id));
  fs_dynamic_record *r = &e->record.at[id];
  r->size = size;
  r->owned = r->readable = r->writable = true;
  *out = buffer_handle(e, id);
  return FSCHED_OK;
}

static uint64_t span_end(const fs_view_runs *r) { return r->offset + r->extent[0]; }

static void drop_view(fs_dynamic *e, fs_dynamic_record *r, uint32_t id) {
  fs_dynamic_written *w = &e->written.at[id];
  fs_ranges_remove(&e->spans, &r->written, w->runs.offset, span_end(&w->runs), id);
  w->next = e->unused_written;
  e->unused_written = id;
}

static void drop_written(fs_dynamic *e, fs_dynamic_record *r) {
  while (r->written != FS_NONE) {
    drop_view(e, r, e->spans.node.at[r->written].op);
  }
}

fs_status fs_dynamic_forget(fs_dynamic *e, fs_dynamic_buffer buffer) {
  uint32_t id = fs_record_of(e, buffer);
  if (id == FS_NONE) {
    return FSCHED_BAD_INPUT;
  }
  fs_dynamic_record *r = &e->record.at[id];
  for (uint32_t i = 0; i < (r->device ? e->n_queues : 1); i++) {
    fs_accesses_drop_place(&e->accesses, r->place + i);
  }
  drop_written(e, r);
  if (!r->owned && r->size > 0) {
    fs_ranges_remove(&e->spans, &e->imported[r->device], r->address, r->address + r->size, id);
  }
  r->used = false;
  r->next = e->unused_record[r->device];
  e->unused_record[r->device] = id;
  return FSCHED_OK;
}

void fs_record_renew(fs_dynamic *e, uint32_t record, fs_dynamic_task owner, uint32_t piece,
                     uint64_t carve) {
  fs_dynamic_record *r = &e->record.at[record];
  assert(r->owned);
  fs_accesses_drop_place(&e->accesses, r->place);
  drop_written(e, r);
  r->full = r->size == 0;
  r->owner = owner;
  r->heap = e->heaps.piece.at[piece].ring;
  r->offset = e->heaps.piece.at[piece].offset + carve;
}

/* Sets e->near to the views whose span has bytes of [low, high). */
static void find_near(fs_dynamic *e, const fs_dynamic_record *r, uint64_t low, uint64_t high) {
  uint64_t covered;
  e->near.n = 0;
  fs_status status = r->written == FS_NONE
                         ? FSCHED_OK
                         : fs_ranges_find(&e->spans, r->written, low, high, &e->near, &covered);
  assert(status == FSCHED_OK); /* there is room for all */
  (void)status;
}

static void add_view(fs_dynamic *e, fs_dynamic_record *r, const fs_view_runs *runs) {
  uint32_t id = e->unused_written;
  if (id == FS_NONE) {
    assert(e->written.n < e->written.cap);
    id = (uint32_t)e->written.n++;
  } else {
    e->unused_written = e->written.at[id].next;
  }
  e->written.at[id] = (fs_dynamic_written){*runs, FS_NONE};
  fs_status status = fs_ranges_add(&e->spans, &r->written, runs->offset, span_end(runs), id);
  assert(status == FSCHED_OK);
  (void)status;
}

/* Takes a view into the runs if it touches them, and both are one run; false: it does not. */
static bool join_runs(fs_view_runs *runs, const fs_view_runs *other) {
  if (runs->n_dims > 0 || other->n_dims > 0) {
    return false;
  }
  uint64_t end = fs_max(span_end(runs), span_end(other));
  runs->offset = fs_min(runs->offset, other->offset);
  runs->run = runs->extent[0] = end - runs->offset;
  return true;
}

void fs_record_write(fs_dynamic *e, uint32_t record, const fs_view_runs *runs, bool whole) {
  assert(e->unused_written != FS_NONE || e->written.n < e->written.cap);
  fs_dynamic_record *r = &e->record.at[record];
  if (!r->owned || r->full || runs->run == 0) {
    return;
  }
  fs_view_runs all = *runs;
  find_near(e, r, runs->offset - (runs->offset > 0), span_end(runs) + 1);
  for (size_t i = 0; i < e->near.n && !whole; i++) {
    const fs_view_runs *w = &e->written.at[e->near.at[i]].runs;
    if (fs_view_overlap(w, runs, NULL) == FS_OVERLAP_COVERED) {
      return;
    }
  }
  for (size_t i = 0; i < e->near.n && !whole; i++) {
    const fs_view_runs *w = &e->written.at[e->near.at[i]].runs;
    if (join_runs(&all, w) || fs_view_overlap(runs, w, NULL) == FS_OVERLAP_COVERED) {
      drop_view(e, r, e->near.at[i]);
    }
  }
  if (whole || (all.n_dims == 0 && all.run == r->size)) {
    drop_written(e, r);
    r->full = true;
    return;
  }
  add_view(e, r, &all);
}

/* How far the bytes from `at` on are written, in one step; `at`: the byte there is not. */
static uint64_t find_written(fs_dynamic *e, const fs_dynamic_record *r, uint64_t at,
                             uint32_t *steps) {
  uint64_t low, high;
  find_near(e, r, at, at + 1);
  for (size_t i = 0; i < e->near.n; i++) {
    const fs_view_runs *w = &e->written.at[e->near.at[i]].runs;
    if (fs_view_next(w, at, &low, &high, steps) && low <= at) {
      return high;
    }
  }
  return at;
}

/* What is written of a view of which some bytes are not. */
static fs_content what_is_touched(fs_dynamic *e, const fs_dynamic_record *r,
                                  const fs_view_runs *runs) {
  fs_content written = FS_WRITTEN_NONE;
  find_near(e, r, runs->offset, span_end(runs));
  for (size_t i = 0; i < e->near.n; i++) {
    bool gave_up;
    /* in this order it is soon known that not all bytes are written */
    if (fs_view_overlap(&e->written.at[e->near.at[i]].runs, runs, &gave_up) == FS_OVERLAP_NONE) {
      continue;
    }
    if (!gave_up) {
      return FS_WRITTEN_SOME;
    }
    written = FS_WRITTEN_NOT_ALL;
  }
  return written;
}

/* Whether one of the views that are written has all of another one, as a box. */
static bool is_box_of_written(fs_dynamic *e, const fs_dynamic_record *r, const fs_view_runs *runs) {
  find_near(e, r, runs->offset, runs->offset + 1);
  for (size_t i = 0; i < e->near.n; i++) {
    if (fs_view_has_box(&e->written.at[e->near.at[i]].runs, runs)) {
      return true;
    }
  }
  return false;
}

fs_content fs_record_written(fs_dynamic *e, const fs_dynamic_record *r, const fs_view_runs *runs) {
  assert(r->owned);
  uint64_t at = 0, low, high;
  uint32_t steps = 0;
  if (r->full || runs->run == 0 || is_box_of_written(e, r, runs)) {
    return FS_WRITTEN_ALL;
  }
  while (fs_view_next(runs, at, &low, &high, &steps)) {
    uint64_t from = fs_max(at, low), to = find_written(e, r, from, &steps);
    if (steps > FS_VIEW_STEPS) {
      return FS_WRITTEN_OPEN;
    }
    if (to == from) {
      return what_is_touched(e, r, runs);
    }
    at = fs_min(to, high);
  }
  return FS_WRITTEN_ALL;
}

fs_status fs_record_view(fs_dynamic *e, const fs_dynamic_record *r, const fs_view *view,
                         fs_view_runs *out) {
  if (!fs_view_valid(view) || fs_view_end(view) > r->size) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "a view is not within its buffer of %" PRIu64 " bytes", r->size);
  }
  if (view->n_dims == 0) {
    fs_record_range(out, view->offset, view->element);
  } else {
    *out = fs_view_runs_of(view);
  }
  return FSCHED_OK;
}

fs_status fs_dynamic_hold(fs_dynamic *e, fs_dynamic_buffer buffer, fs_dynamic_task *task) {
  uint32_t id = fs_record_of(e, buffer);
  if (id == FS_NONE) {
    return FSCHED_BAD_INPUT;
  }
  fs_dynamic_task owner = e->record.at[id].owner;
  if (!fs_slot_lives(e, owner)) {
    FS_TRY(fs_run_unfailed(e)); /* which has given it up */
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "the buffer has no memory of a heap that could be held");
  }
  FS_TRY(fs_run_accepts(e));
  fs_dynamic_slot *s = &e->slot.at[(uint32_t)owner];
  s->holds++;
  s->references++;
  e->n_holds++;
  *task = owner;
  return FSCHED_OK;
}

fs_status fs_dynamic_release(fs_dynamic *e, fs_dynamic_task task) {
  uint32_t slot = fs_slot_of(e, task);
  if (slot == FS_NONE || e->slot.at[slot].holds == 0) {
    FS_TRY(fs_run_unfailed(e));
    return fs_dynamic_error(e, FSCHED_USAGE, CALL, "nothing holds the task");
  }
  e->slot.at[slot].holds--;
  e->n_holds--;
  fs_slot_release(e, slot);
  return FSCHED_OK;
}

fs_status fs_dynamic_writers(fs_dynamic *e, fs_dynamic_buffer buffer, const fs_view *view,
                             uint32_t queue, fs_dynamic_task *out, uint32_t room, uint32_t *n) {
  fs_view_runs runs;
  uint32_t id = fs_record_of(e, buffer);
  if (id == FS_NONE) {
    return FSCHED_BAD_INPUT;
  }
  const fs_dynamic_record *r = &e->record.at[id];
  if (r->device && queue >= e->n_queues) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "there is no queue %" PRIu32, queue);
  }
  FS_TRY(fs_record_runs(e, r, view, &runs));
  FS_TRY(fs_accesses_find(&e->accesses, r->place + (r->device ? queue : 0), &runs, false));
  *n = (uint32_t)e->accesses.found.n;
  for (uint32_t i = 0; i < *n && i < room; i++) {
    out[i] = fs_slot_handle(e, e->accesses.access.at[e->accesses.found.at[i].access].task);
  }
  return FSCHED_OK;
}
