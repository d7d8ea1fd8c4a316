/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/times.h"

#include "base/context.h"

fs_status fs_times_reserve(fsched_context *ctx, fs_task_times *s, const char *task, uint32_t n,
                           size_t *name) {
  size_t length = strlen(task) + 1;
  FS_TRY(fs_vec_reserve(ctx, &s->names, s->names.n + length));
  FS_TRY(fs_vec_reserve(ctx, &s->begun, s->begun.n + s->n_reserved + n));
  *name = s->names.n;
  memcpy(s->names.at + s->names.n, task, length);
  s->names.n += length;
  s->n_reserved += n;
  return FSCHED_OK;
}

void fs_times_withdraw(fs_task_times *s, uint32_t n, size_t name) {
  assert(s->n_reserved >= n && name <= s->names.n);
  s->n_reserved -= n;
  s->names.n = name;
}

size_t fs_times_begin(fs_task_times *s, fs_task_time span) {
  assert(s->n_reserved > 0 && s->begun.n < s->begun.cap);
  s->n_reserved--;
  s->begun.at[s->begun.n] = span;
  return s->begun.n++;
}

void fs_times_clear(fs_task_times *s) { s->begun.n = s->names.n = s->n_reserved = 0; }

void fs_times_release(fsched_context *ctx, fs_task_times *s) {
  fs_vec_free(ctx, &s->begun);
  fs_vec_free(ctx, &s->names);
}
