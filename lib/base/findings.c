/* SPDX-License-Identifier: Apache-2.0 */
#include "base/findings.h"

#include <stdio.h>

enum { MOST_TEXT = 1024 };

void fs_findings_init(fs_findings *f, fs_arena *arena) {
  assert(arena->ctx != NULL);
  *f = (fs_findings){.arena = arena, .room = fs_context_error_room(arena->ctx)};
}

void fs_findings_add(fs_findings *f, fs_diag_code code, const char *hint, const char *format, ...) {
  assert(code < FS_DIAG_COUNT);
  f->total++;
  if (++f->count[code] > f->room || f->failed) {
    return;
  }
  char text[MOST_TEXT];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const char *copy = fs_arena_strndup(f->arena, text, n < 0 ? 0 : strlen(text));
  fs_finding found = {code, copy, hint};
  f->failed = copy == NULL || fs_vec_push(f->arena->ctx, &f->kept, found) != FSCHED_OK;
}

/* share[code]: the number of its findings that are shown. */
static void divide(const fs_findings *f, const fs_diag_code *order, size_t n_order,
                   uint32_t *share) {
  assert(n_order > 0);
  uint32_t left = f->room;
  for (bool given = true; given && left > 0;) {
    given = false;
    for (size_t i = 0; i < n_order && left > 0; i++) {
      if (share[order[i]] < f->count[order[i]]) {
        share[order[i]]++;
        left--;
        given = true;
      }
    }
  }
}

static bool is_one_of(uint32_t code, const fs_diag_code *order, size_t n_order) {
  size_t i = 0;
  while (i < n_order && order[i] != code) {
    i++;
  }
  return i < n_order;
}

void fs_findings_report(fs_findings *f, const fs_diag_code *order, size_t n_order) {
  assert(n_order > 0);
  fsched_context *ctx = f->arena->ctx;
  uint32_t share[FS_DIAG_COUNT] = {0};
  uint32_t shown = 0;
  divide(f, order, n_order, share);
  for (uint32_t code = 0; code < FS_DIAG_COUNT; code++) {
    FS_ASSERT_SLOW(f->count[code] == 0 || is_one_of(code, order, n_order));
  }
  for (size_t i = 0; i < n_order; i++) {
    uint32_t left = share[order[i]];
    for (size_t k = 0; k < f->kept.n && left > 0; k++) {
      if (f->kept.at[k].code == order[i]) {
        fs_report(ctx, FSCHED_ERROR, order[i], FS_NOWHERE, f->kept.at[k].hint, "%s",
                  f->kept.at[k].text);
        left--;
        shown++;
      }
    }
  }
  for (; shown < f->total; shown++) { /* the context has no room for these and counts them */
    fs_report(ctx, FSCHED_ERROR, order[n_order - 1], FS_NOWHERE, NULL, "not shown");
  }
  fs_vec_free(ctx, &f->kept);
}
