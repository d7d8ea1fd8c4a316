/* SPDX-License-Identifier: Apache-2.0 */
/* Which loops are not submitted in program order.  Tasks that share a slot of a ring come one after
 * the other in the order of submission.  A plan may let a value be read after its slot's next
 * writer in the body, with no slot more, as it has these the other way round. */
#include "exec/dynamic/program/program.h"

/* Whether an arg of iteration i is of a version whose slot is begun again in an iteration before,
 * or in this one by an op that comes before. */
static bool is_overtaken(const fs_stream *s, uint32_t op, const fs_stream_loop_arg *a) {
  if (!fs_tag_names_buffer(a->tag) || a->ring == FS_NONE) {
    return false;
  }
  const fs_stream_ring *r = &s->rings[a->ring];
  return a->back > r->depth || (a->back == r->depth && r->writer < op);
}

static bool is_before_its_turn(const fs_stream *s, uint32_t op) {
  const fs_stream_loop_op *o = &s->loop_ops[op];
  bool before = false;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args && !before; i++) {
    before = is_overtaken(s, op, &s->loop_args[i]);
  }
  for (uint32_t i = o->after0; i < o->after0 + o->n_afters && !before; i++) {
    before = s->loop_afters[i].distance == 0 && s->loop_afters[i].op > op;
  }
  return before;
}

/* Whether program order would not do for a loop. */
static bool has_own_order(const fs_stream *s, const fs_stream_loop *loop) {
  bool own = false;
  for (uint32_t op = loop->op0; op < loop->op0 + loop->n_ops && !own; op++) {
    own = is_before_its_turn(s, op);
  }
  return own;
}

fs_status fs_program_orders(fs_arena *arena, const fs_stream *s, fs_loop_walk **out) {
  FS_TRY(fs_new_zero(arena, out, s->n_loops));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    if (has_own_order(s, &s->loops[l])) {
      FS_TRY(fs_loop_walk_make(arena, s, &(*out)[l]));
    }
  }
  return FSCHED_OK;
}
