/* SPDX-License-Identifier: Apache-2.0 */
/* Edges go from each byte's last writer, in program order, to its readers, and as `after` says.
 * These edges also order all other overlapping accesses, since there are no races. */
#include "exec/replay/reference_order.h"

#include "base/ranges.h"
#include "exec/host/kernel.h"
#include "model/stream/views.h"

typedef struct sorter {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena *scratch;
  fs_ranges ranges;
  uint32_t *writers; /* per version: a set of ranges with their last writers */
  uint32_t *pred0;   /* CSR */
  fs_ids pred;
  uint32_t *next; /* per op: how far the walk is in its `pred`; FS_NONE: not met yet */
  fs_ids stack;
} sorter;

static bool goes_back(const fs_stream *s) {
  bool back = false;
  for (uint32_t op = 0; op < s->n_ops && !back; op++) {
    const fs_stream_op *o = &s->ops[op];
    for (uint32_t i = 0; i < o->n_afters && !back; i++) {
      back = s->afters[o->after0 + i] > op;
    }
  }
  return back;
}

static fs_status find_preds(sorter *t, uint32_t op) {
  const fs_stream_op *o = &t->s->ops[op];
  const fs_stream_arg *a = t->s->args + o->arg0;
  for (uint32_t i = 0; i < o->n_afters; i++) {
    FS_TRY(fs_vec_push(t->ctx, &t->pred, t->s->afters[o->after0 + i]));
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    uint64_t covered;
    bool keeps = fs_tag_writes(a[i].tag) && fs_stream_coarse(t->s, o->arg0 + i);
    fs_view_runs runs = {0};
    if (fs_tag_reads(a[i].tag) || keeps) {
      runs = fs_stream_pieces(t->s, o->arg0 + i, 0);
    }
    for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
      FS_TRY(fs_ranges_find(&t->ranges, t->writers[a[i].version], at.low, at.high, &t->pred,
                            &covered));
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    fs_view_runs runs = {0};
    if (fs_tag_writes(a[i].tag)) {
      runs = fs_stream_pieces(t->s, o->arg0 + i, 0);
    }
    for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
      FS_TRY(fs_ranges_replace(&t->ranges, &t->writers[a[i].version], at.low, at.high, op));
    }
  }
  return FSCHED_OK;
}

/* Places the op after all of its predecessors, and these after theirs. */
static fs_status place_op(sorter *t, uint32_t op, uint32_t *order, uint32_t *n) {
  FS_TRY(fs_vec_push(t->ctx, &t->stack, op));
  while (t->stack.n > 0) {
    uint32_t top = t->stack.at[t->stack.n - 1];
    t->next[top] = t->next[top] == FS_NONE ? t->pred0[top] : t->next[top];
    while (t->next[top] < t->pred0[top + 1] && t->next[t->pred.at[t->next[top]]] != FS_NONE) {
      t->next[top]++;
    }
    if (t->next[top] < t->pred0[top + 1]) {
      FS_TRY(fs_vec_push(t->ctx, &t->stack, t->pred.at[t->next[top]]));
    } else {
      order[(*n)++] = top;
      t->stack.n--;
    }
  }
  return FSCHED_OK;
}

static fs_status sort(sorter *t, uint32_t *order) {
  uint32_t n = 0;
  FS_TRY(fs_new_none(t->scratch, &t->writers, t->s->n_versions));
  FS_TRY(fs_new(t->scratch, &t->pred0, (size_t)t->s->n_ops + 1));
  FS_TRY(fs_new_none(t->scratch, &t->next, t->s->n_ops));
  for (uint32_t op = 0; op < t->s->n_ops; op++) {
    t->pred0[op] = (uint32_t)t->pred.n;
    FS_TRY(find_preds(t, op));
  }
  t->pred0[t->s->n_ops] = (uint32_t)t->pred.n;
  for (uint32_t op = 0; op < t->s->n_ops; op++) {
    if (t->next[op] == FS_NONE) {
      FS_TRY(place_op(t, op, order, &n));
    }
  }
  return FSCHED_OK;
}

fs_status fs_reference_order(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                             uint32_t **order) {
  assert(s->n_meta == 1);
  *order = NULL;
  if (!fs_hazards_data_only(s->meta[0].hazards) || !goes_back(s)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(arena, order, s->n_ops));
  FS_SCRATCH(scratch, ctx);
  sorter t = {.ctx = ctx, .s = s, .scratch = &scratch};
  fs_ranges_init(&t.ranges, ctx);
  fs_status status = sort(&t, *order);
  fs_ranges_release(&t.ranges);
  fs_vec_free(ctx, &t.pred);
  fs_vec_free(ctx, &t.stack);
  return status;
}
