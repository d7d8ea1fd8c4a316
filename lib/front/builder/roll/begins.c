/* SPDX-License-Identifier: Apache-2.0 */
/* Which args still begin a buffer in a body when loops in it have become ops.
 *
 * A body begins a buffer once.  Where a loop in it has slots for the buffer, an op before that, or
 * behind it, writes in one of them; and of several loops that begin it the first one does so for
 * the body around them. */
#include "front/builder/roll/roll.h"

static uint64_t key_of(uint32_t loop, uint32_t buffer) { return (uint64_t)loop << 32 | buffer; }

void fs_roller_write_over(fs_arg_draft *a, bool loop) {
  a->begins = a->begins || (fs_tag_begins(a->tag) && !loop);
  a->tag = FSCHED_OUT_EXISTING;
}

bool fs_roller_is_carried(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = &r->b->loop.at[loop];
  bool found = false;
  for (uint32_t op = l->op0; op < l->op_end && !found; op++) {
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      const fs_moving_draft *x = &r->b->moving.at[m];
      found = found || (r->in.loop_of[op] == loop && x->distance > 0 &&
                        r->b->arg.at[x->arg].buffer == buffer);
    }
  }
  return found;
}

/* Of a buffer that a body does not begin, values of earlier iterations are gone. */
static fs_status check_carried(fs_roller *r, uint32_t loop, uint32_t buffer) {
  return fs_roller_is_carried(r, loop, buffer)
             ? fs_roller_unsupported(r, loop,
                                     "values of earlier iterations are read of a buffer that a "
                                     "loop in it begins, too")
             : FSCHED_OK;
}

static bool has_key(const uint64_t *at, size_t n, uint64_t key) {
  bool found = false;
  while (n > 0 && !found) {
    found = at[--n] == key;
  }
  return found;
}

fs_status fs_roller_begin_once(fs_roller *r, uint32_t around, bool loop, fs_arg_draft *a) {
  uint64_t key = key_of(around, a->buffer);
  if (around == FS_NONE || !fs_tag_begins(a->tag)) {
    return FSCHED_OK;
  }
  if (has_key(r->existing.at, r->existing.n, key) || has_key(r->begun.at, r->begun.n, key)) {
    fs_roller_write_over(a, loop);
    return check_carried(r, around, a->buffer);
  }
  return fs_vec_push(r->b->ctx, &r->begun, key);
}

/* A buffer of the body around, of which a loop at hand has slots, is no longer begun by it. */
static void drop_ring(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  fsched_builder *b = r->b;
  size_t n = 0;
  for (size_t i = 0; i < b->ring.n; i++) {
    if (b->ring.at[i].loop != loop || b->ring.at[i].buffer != buffer) {
      b->ring.at[n++] = b->ring.at[i];
    }
  }
  b->ring.n = n;
}

fs_status fs_roller_begin_in_slots(fs_roller *r, uint32_t around, uint32_t buffer) {
  uint64_t key = key_of(around, buffer);
  if (around == FS_NONE || has_key(r->begun.at, r->begun.n, key)) {
    return FSCHED_OK;
  }
  drop_ring(r, around, buffer);
  FS_TRY(check_carried(r, around, buffer));
  return fs_vec_push(r->b->ctx, &r->existing, key);
}

fs_status fs_roller_keep_begin(fs_roller *r, uint32_t op, unsigned tag, fs_arg_draft *a) {
  uint32_t loop = r->in.loop_of[op];
  if (loop == FS_NONE || !fs_tag_begins(tag) || fs_tag_begins(a->tag)) {
    return fs_roller_begin_once(r, loop, fs_roller_is_loop(r, op), a);
  }
  return fs_roller_begin_in_slots(r, loop, a->buffer);
}
