/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/clock.h"

fs_status fs_vdense_init(fs_arena *arena, fs_vdense *d, uint32_t n) {
  d->n = 0;
  FS_TRY(fs_new_zero(arena, &d->epoch, n));
  return fs_new(arena, &d->touched, n);
}

void fs_vdense_clear(fs_vdense *d) {
  for (uint32_t i = 0; i < d->n; i++) {
    d->epoch[d->touched[i]] = 0;
  }
  d->n = 0;
}

void fs_vdense_raise(fs_vdense *d, uint32_t queue, uint32_t epoch) {
  uint32_t old = d->epoch[queue];
  if (epoch > old) {
    if (old == 0) {
      d->touched[d->n++] = queue;
    }
    d->epoch[queue] = epoch;
  }
}

void fs_vdense_join(fs_vdense *d, const fs_vclock *c) {
  for (uint32_t i = 0; c != NULL && i < c->n; i++) {
    fs_vdense_raise(d, c->at[i].queue, c->at[i].epoch);
  }
}

void fs_vclock_release(fs_vclocks *from, fs_vclock *c) {
  assert(c == NULL || c->refs > 0);
  if (c != NULL && --c->refs == 0) {
    memcpy(c->at, &from->free[c->size_class], sizeof(void *));
    from->free[c->size_class] = c;
  }
}

fs_status fs_vclock_make(fs_vclocks *from, const fs_vdense *d, uint32_t without, fs_vclock **out) {
  uint32_t size_class = 1;
  while (((uint32_t)1 << size_class) < d->n) {
    size_class++;
  }
  fs_vclock *c = from->free[size_class];
  if (c != NULL) {
    memcpy(&from->free[size_class], c->at, sizeof(void *));
  } else {
    c = fs_arena_alloc(from->arena, sizeof *c + (sizeof c->at[0] << size_class));
    if (c == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  *c = (fs_vclock){.refs = 1, .size_class = size_class};
  for (uint32_t i = 0; i < d->n; i++) {
    if (d->touched[i] != without) {
      c->at[c->n++] = (fs_vclock_entry){d->touched[i], d->epoch[d->touched[i]]};
    }
  }
  *out = c;
  return FSCHED_OK;
}
