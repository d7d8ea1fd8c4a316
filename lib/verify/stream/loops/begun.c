/* SPDX-License-Identifier: Apache-2.0 */
/* Args that are an `out` to their kernels although they write over what is in a buffer: each is one
 * slot of a ring of that buffer, or, of an op, the part of a buffer that is kept.  To all other
 * checks they are what their tags say, so that no order depends on this. */
#include "verify/stream/loops/parts.h"

typedef struct begun_slots {
  const fs_stream *s;
  uint32_t *first; /* per buffer: a ring in it, or FS_NONE */
  uint32_t *next;  /* per ring: another one of its buffer */
} begun_slots;

static fs_status find_rings(fs_vs *v, begun_slots *b) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_none(&v->arena, &b->first, s->n_buffers));
  FS_TRY(fs_new_none(&v->arena, &b->next, s->n_rings));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    for (uint32_t k = s->loops[l].ring0; k < s->loops[l].ring0 + s->loops[l].n_rings; k++) {
      uint32_t arg = s->rings[k].arg;
      uint32_t buffer =
          s->loops[l].within == FS_NONE ? s->args[arg].buffer : s->loop_args[arg].buffer;
      b->next[k] = b->first[buffer];
      b->first[buffer] = k;
    }
  }
  return FSCHED_OK;
}

static bool is_slot(const begun_slots *b, uint32_t buffer, uint64_t offset, uint64_t length) {
  uint32_t k = buffer == FS_NONE ? FS_NONE : b->first[buffer];
  bool found = false;
  for (; k != FS_NONE && !found; k = b->next[k]) {
    const fs_stream_ring *r = &b->s->rings[k];
    found = r->size == length && (offset == 0 || (r->slot > 0 && offset % r->slot == 0));
  }
  return found;
}

/* Whether the arg is of what is kept of a buffer, beside what is given of it. */
static bool is_kept(const fs_stream *s, const fs_stream_arg *a) {
  const fs_stream_buffer *b = a->buffer == FS_NONE ? NULL : &s->buffers[a->buffer];
  return b != NULL && b->given != b->kept && a->offset == b->kept && a->length == b->io_size;
}

fs_status fs_vs_loops_begins(fs_vs *v) {
  assert(v->op_command0 != NULL);
  begun_slots b = {.s = v->s};
  FS_TRY(find_rings(v, &b));
  for (uint32_t i = 0; i < v->s->n_args; i++) {
    const fs_stream_arg *a = &v->s->args[i];
    if (a->begins != 0 && (!fs_tag_writes_over(a->tag) ||
                           (!is_slot(&b, a->buffer, a->offset, a->length) && !is_kept(v->s, a)))) {
      FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "arg %u begins a value, and is no slot of a loop", i);
    }
  }
  for (uint32_t i = 0; i < v->s->n_loop_args; i++) {
    const fs_stream_loop_arg *a = &v->s->loop_args[i];
    if (a->begins != 0 && (!fs_tag_writes_over(a->tag) || a->step != 0 ||
                           !is_slot(&b, a->buffer, a->offset, a->length))) {
      FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "loop arg %u begins a value, and is no slot of a loop", i);
    }
  }
  return FSCHED_OK;
}
