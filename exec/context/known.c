/* SPDX-License-Identifier: Apache-2.0 */
/* The frontiers that the signals of an invocation carry. */
#include "exec/context/known.h"

/* Number of a slot's axes: one for its invocations, then one for each output. */
static uint64_t axes_of_slot(const fsched_entry *e) { return 1 + (uint64_t)e->io.n_kept; }

fs_status fs_known_number(fsched_entry *e) {
  fsched_exec *x = e->exec;
  for (uint32_t i = 0; i < e->n_slots; i++) {
    FS_TRY(fs_new_zero(&x->arena, &e->slot[i].kept_epoch, e->io.n_kept));
  }
  e->numbered = fs_ordinals_take(x->device->ordinals, e->n_slots * axes_of_slot(e), &e->ordinal0);
  return FSCHED_OK;
}

/* Adds to the frontier that axis `index` of the invocation's slot has reached the epoch. */
static void add_own(fsched_frontier *f, const fs_invocation *v, uint32_t index, uint64_t epoch) {
  const fsched_entry *e = v->entry;
  const fsched_device *d = e->exec->device;
  const fsched_axis_parts parts = {
      .session = d->axis_session,
      .machine = d->axis_machine,
      .domain = index == 0 ? FSCHED_AXIS_COLLECTIVE : FSCHED_AXIS_EPILOGUE,
      .ordinal = e->ordinal0 + v->slot * axes_of_slot(e) + index};
  fsched_axis axis;
  if (!e->numbered || fsched_axis_make(parts, &axis) != FSCHED_OK) {
    f->tainted = 1;
    return;
  }
  f->tainted |= fsched_frontier_raise(f, (fsched_frontier_entry){axis, epoch}, NULL);
}

void fs_known_waited(fs_invocation *v) { fs_fence_wait_learnt(&v->wait, &v->known); }

void fs_known_admitted(fs_invocation *v) {
  fsched_frontier_merge(&v->known, &v->entry->exec->state_known);
}

static void add_inputs(fsched_frontier *f, const fs_invocation *v) {
  for (uint32_t i = 0; i < v->n_bound; i++) {
    if (v->bound[i].reached) {
      fs_fence_wait_learnt(&v->bound[i].wait, f);
    }
  }
}

void fs_known_output(fs_invocation *v, fs_bound *b) {
  assert(b->signal != NULL && b->invocation == v);
  fs_exec_slot *slot = &v->entry->slot[v->slot];
  b->epoch = ++slot->kept_epoch[b->item];
  fsched_frontier_merge(&b->known, &v->known);
  add_inputs(&b->known, v);
  add_own(&b->known, v, 1 + b->item, b->epoch);
}

void fs_known_complete(fs_invocation *v) {
  assert(v->slot != FS_NONE);
  fsched_exec *x = v->entry->exec;
  add_inputs(&v->known, v);
  for (uint32_t i = 0; i < v->n_bound; i++) {
    if (v->bound[i].epoch > 0) {
      add_own(&v->known, v, 1 + v->bound[i].item, v->bound[i].epoch);
    }
  }
  add_own(&v->known, v, 0, ++v->entry->slot[v->slot].epoch);
  if (v->entry->io.n_states > 0) {
    x->state_known.n = 0;
    x->state_known.tainted = 0;
    fsched_frontier_merge(&x->state_known, &v->known);
  }
}
