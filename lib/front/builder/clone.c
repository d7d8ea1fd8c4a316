/* SPDX-License-Identifier: Apache-2.0 */
/* A second builder that says the same as the first.  Texts are shared, so the first must outlive
 * it. */
#include "front/builder/private.h"

static fs_status copy_all(const fsched_builder *b, fsched_builder *c) {
#define COPY_NAMES_(t) FS_TRY(fs_names_copy(&b->t, &c->t));
#define COPY_VECTOR_(v)                                 \
  FS_TRY(fs_vec_reserve(b->ctx, &c->v, b->v.n));        \
  if (b->v.n > 0) {                                     \
    memcpy(c->v.at, b->v.at, b->v.n * sizeof *b->v.at); \
  }                                                     \
  c->v.n = b->v.n;
  FS_BUILDER_NAMES(COPY_NAMES_)
  FS_BUILDER_VECTORS(COPY_VECTOR_)
#undef COPY_NAMES_
#undef COPY_VECTOR_
  return FSCHED_OK;
}

fs_status fs_builder_clone(const fsched_builder *b, fsched_builder **out) {
  fsched_builder *c = fs_realloc(b->ctx, NULL, 0, sizeof *c);
  *out = NULL;
  if (c == NULL) {
    return FSCHED_SYSTEM;
  }
  *c = *b;
  c->finished = false;
  fs_arena_init(&c->arena, b->ctx);
#define CLEAR_(x) memset(&c->x, 0, sizeof c->x);
  FS_BUILDER_VECTORS(CLEAR_)
#undef CLEAR_
#define INIT_(t) fs_names_init(&c->t, &c->arena);
  FS_BUILDER_NAMES(INIT_)
#undef INIT_
  fs_status status = copy_all(b, c);
  if (status != FSCHED_OK) {
    fsched_builder_destroy(c);
    return status;
  }
  *out = c;
  return FSCHED_OK;
}
