/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include "base/context_private.h"

void fsched_progress_set(fsched_context *ctx, fsched_progress_fn progress, void *user) {
  ctx->progress.tell = progress;
  ctx->progress.user = user;
}

bool fs_progress_heard(const fsched_context *ctx) { return ctx->progress.tell != NULL; }

static void tell_progress(const fs_progress *p) {
  if (p->tell != NULL) {
    p->tell(p->user, p->what, p->done, p->total);
  }
}

void fs_progress_begin(fsched_context *ctx, const char *what, uint64_t total) {
  fs_progress *p = &ctx->progress;
  assert(p->depth < 2);
  if (p->depth++ > 0) {
    assert(p->total >= p->done);
    p->base = p->done;
    p->inner_total = total;
    return;
  }
  p->what = what;
  p->base = p->done = 0;
  p->total = total;
  tell_progress(p);
}

/* Sets `done` of the outer work. */
static void advance(fs_progress *p, uint64_t done) {
  done = fs_min(done, p->total);
  assert(p->depth <= 2);
  if (done > p->done) {
    p->done = done;
    tell_progress(p);
  }
}

void fs_progress_at(fsched_context *ctx, uint64_t done) {
  fs_progress *p = &ctx->progress;
  if (p->tell != NULL && p->depth > 0 && !ctx->muted) {
    advance(p, p->base + done);
  }
}

void fs_progress_total(fsched_context *ctx, uint64_t total) {
  fs_progress *p = &ctx->progress;
  p->total = ctx->muted ? p->total : fs_max(total, p->done);
}

void fs_progress_end(fsched_context *ctx, fs_status status) {
  fs_progress *p = &ctx->progress;
  if (status != FSCHED_OK) {
    p->depth = 0;
  } else if (p->depth > 1) {
    p->depth--;
    advance(p, p->base + p->inner_total);
    p->base = 0;
  } else if (p->depth == 1) {
    p->depth = 0;
    advance(p, p->total);
  }
}
