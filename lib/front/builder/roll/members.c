/* SPDX-License-Identifier: Apache-2.0 */
/* Members with args of their own, of ops in bodies: whether one writes what another one accesses in
 * the same iteration.
 *
 * Args that move alike have their bytes in common in all iterations or in none.  Others may in
 * some: where all that the one touches in all iterations lies apart from all that the other does,
 * they have not; else this version does not tell.
 *
 * With raw hazards that is a race, which only an unrolled graph may have, also of an op outside of
 * loops: a loop that stays one runs members in turn, and all else in program order. */
#include "base/saturate.h"
#include "front/builder/roll/roll.h"

typedef struct member_pair {
  uint32_t op, a, b; /* args */
} member_pair;

static int64_t step_of(const fs_roller *r, const fs_moving_draft *m, uint32_t loop) {
  return m == NULL || loop >= m->n_steps ? 0 : r->b->step.at[m->step0 + loop];
}

static uint64_t distance_of(const fs_moving_draft *m) { return m == NULL ? 0 : m->distance; }

static fs_view_runs runs_of(const fs_roller *r, uint32_t arg) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  if (a->view == FS_NONE) {
    return fs_view_range(a->offset, fs_max(a->u.length, 1));
  }
  fs_view v = r->b->view.at[a->view];
  v.offset = a->offset;
  return fs_view_pieces_of(&v);
}

/* The bytes that an arg touches in all iterations. */
static fs_left_bytes reach_of(const fs_roller *r, uint32_t op, uint32_t arg) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  fs_left_bytes x = {a->offset, a->offset + fs_max(a->u.length, 1)};
  uint32_t loop = r->in.loop_of[op];
  for (uint32_t i = m == NULL ? 0 : m->n_steps; i-- > 0; loop = fs_loop_at(r->b, loop)->parent) {
    int64_t step = step_of(r, m, i);
    uint64_t way = fs_multiply_most(step < 0 ? (uint64_t)-step : (uint64_t)step,
                                    fs_max(r->in.trip[loop], 1) - 1);
    x.low -= step < 0 ? fs_min(way, x.low) : 0;
    x.high = step > 0 ? fs_add_most(x.high, way) : x.high;
  }
  return x;
}

static bool move_alike(const fs_roller *r, const fs_moving_draft *m, const fs_moving_draft *n) {
  bool alike = true;
  for (uint32_t i = 0; alike && i < FSCHED_MAX_LOOPS; i++) {
    alike = step_of(r, m, i) == step_of(r, n, i);
  }
  return alike;
}

/* The loop that an op is in, or some loop. */
static uint32_t loop_near(const fs_roller *r, uint32_t op) {
  return r->in.loop_of[op] == FS_NONE ? 0 : r->in.loop_of[op];
}

static fs_status conflict(const fs_roller *r, const member_pair *p) {
  const fsched_builder *b = r->b;
  if (b->raw) {
    return fs_builder_refuse_loop(r->b, loop_near(r, p->op), fs_pos_at(&b->arg_at, p->b),
                                  "members of op '%.80s' race for bytes of '%.80s'",
                                  b->ops.text.at[p->op],
                                  b->buffers.text.at[b->arg.at[p->a].buffer]);
  }
  return fs_builder_fail(r->b, FS_DIAG_MEMBER_CONFLICT, fs_pos_at(&b->arg_at, p->b),
                         "members run at the same time",
                         "op '%s': one member writes bytes of '%s' that another one accesses",
                         b->ops.text.at[p->op], b->buffers.text.at[b->arg.at[p->a].buffer]);
}

static fs_status unknown(const fs_roller *r, const member_pair *p) {
  const fsched_builder *b = r->b;
  return fs_builder_refuse_loop(
      r->b, r->in.loop_of[p->op], fs_pos_at(&b->arg_at, p->b),
      "members of op '%.80s' access bytes of '%.80s' that move unlike each other, or values of "
      "different iterations, and one of them writes",
      b->ops.text.at[p->op], b->buffers.text.at[b->arg.at[p->a].buffer]);
}

static fs_status check_pair(const fs_roller *r, const member_pair *p) {
  const fsched_builder *b = r->b;
  const fs_arg_draft *x = &b->arg.at[p->a], *y = &b->arg.at[p->b];
  if (x->member == y->member || !fs_tag_accesses(x->tag) || !fs_tag_accesses(y->tag) ||
      x->buffer != y->buffer || (!fs_tag_writes(x->tag) && !fs_tag_writes(y->tag))) {
    return FSCHED_OK;
  }
  bool outside = r->in.loop_of[p->op] == FS_NONE;
  const fs_moving_draft *m = fs_roller_moving(r, p->op, p->a);
  const fs_moving_draft *n = fs_roller_moving(r, p->op, p->b);
  if (outside && fs_tag_begins(x->tag) != fs_tag_begins(y->tag)) {
    return FSCHED_OK; /* the one is of the version before */
  }
  if (fs_tag_begins(x->tag) != fs_tag_begins(y->tag) || distance_of(m) != distance_of(n)) {
    return unknown(r, p); /* of which the one may take the place of the other, or be it on entry */
  }
  fs_view_runs v = runs_of(r, p->a), w = runs_of(r, p->b);
  if (move_alike(r, m, n)) {
    return fs_view_overlap(&v, &w, NULL) == FS_OVERLAP_NONE ? FSCHED_OK : conflict(r, p);
  }
  fs_left_bytes i = reach_of(r, p->op, p->a), k = reach_of(r, p->op, p->b);
  return i.high <= k.low || k.high <= i.low ? FSCHED_OK : unknown(r, p);
}

fs_status fs_roller_members(const fs_roller *r) {
  assert(r->in.loop_of != NULL && !r->b->contracted);
  const fsched_builder *b = r->b;
  for (uint32_t op = 0; op < r->in.n_ops; op++) {
    bool looked_at = r->in.loop_of[op] != FS_NONE || b->raw; /* else an op outside is, later */
    if (b->op.at[op].members == 0 || !looked_at) {
      continue;
    }
    for (uint32_t x = b->op.at[op].arg0; x < fs_builder_args_end(b, op); x++) {
      for (uint32_t y = b->op.at[op].arg0; y < x; y++) {
        FS_TRY(check_pair(r, &(member_pair){op, y, x}));
      }
    }
  }
  return FSCHED_OK;
}
