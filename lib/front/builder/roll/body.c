/* SPDX-License-Identifier: Apache-2.0 */
/* What the ops of a loop's body touch, as the loop's iterations find it. */
#include <string.h>

#include "front/builder/roll/roll.h"

/* How many iterations ago the value was begun that an arg uses of a ring. */
static uint32_t back_of(const fs_roller *r, uint32_t op, uint32_t arg, uint32_t writer) {
  const fs_moving_draft *m = fs_roller_moving(r, op, arg);
  if (m != NULL && m->distance > 0) {
    return (uint32_t)m->distance;
  }
  return op < writer || (op == writer && !fs_tag_begins(r->b->arg.at[arg].tag));
}

static fs_status fill_arg(fs_roller *r, uint32_t op, uint32_t arg, fs_rolled *x) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  fs_body_arg *to = &x->arg[x->n_args++];
  bool value = !fs_tag_names_buffer(a->tag);
  *to = (fs_body_arg){.tag = a->tag,
                      .buffer = FS_NONE,
                      .ring = FS_NONE,
                      .own = FS_NONE,
                      .view = a->view,
                      .member = a->member};
  if (value) {
    to->value = a->u.value;
    return FSCHED_OK;
  }
  uint32_t loop = r->in.loop_of[op];
  to->buffer = a->buffer;
  to->offset = a->offset;
  to->length = a->u.length;
  to->begins = a->begins;
  if (fs_roller_begins(r, loop, a->buffer)) {
    to->ring = fs_roller_ring(r, loop, a->buffer);
    to->back = back_of(r, op, arg, r->b->loop.at[loop].op0 + x->loop.ring[to->ring].writer);
    x->slots[to->ring].entry |= to->back > 0;
  } else {
    uint64_t size = r->b->buffer_size.at[a->buffer];
    const fs_moving_draft *m = fs_roller_moving(r, op, arg);
    to->step = fs_roller_step(r, m);
    /* if it moves up, or not, later ones end no farther; if it moves down, they begin lower */
    to->length = fs_min(a->u.length, fs_roller_falls(r, op, arg, true) ? size : size - a->offset);
  }
  return FSCHED_OK;
}

/* What this version does not have of an arg. */
static fs_status check_arg(fs_roller *r, uint32_t op, uint32_t arg) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  const char *why = NULL;
  if (fs_tag_is_address(a->tag)) {
    const fs_moving_draft *m = fs_roller_moving(r, op, arg);
    uint32_t op0 = fs_loop_at(r->b, r->in.loop_of[op])->op0;
    bool there = fs_io_given(r->b->buffer_io.at[a->buffer]) || r->first_op[a->buffer] < op0;
    why = r->ring[a->buffer].loop != FS_NONE ? "a loop begins the buffer of a 'no_dep' arg"
          : !there                      ? "nothing is in the buffer of a 'no_dep' arg before it"
          : m != NULL && m->n_steps > 0 ? "a 'no_dep' arg moves"
                                        : NULL;
  }
  return why == NULL
             ? FSCHED_OK
             : fs_builder_refuse_loop(r->b, r->in.loop_of[op], fs_pos_at(&r->b->arg_at, arg),
                                      "%s (op '%.80s')", why, r->b->ops.text.at[op]);
}

static fs_status fill_args(fs_roller *r, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = r->b;
  uint32_t op0 = b->loop.at[loop].op0;
  FS_TRY(fs_new(&r->b->arena, &x->arg,
                fs_builder_args_end(b, op0 + x->n_ops - 1) - b->op.at[op0].arg0));
  for (uint32_t op = op0; op < op0 + x->n_ops; op++) {
    x->body[op - op0].arg0 = x->n_args;
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      FS_TRY(check_arg(r, op, arg));
      FS_TRY(fill_arg(r, op, arg, x));
    }
    x->body[op - op0].n_args = x->n_args - x->body[op - op0].arg0;
  }
  return FSCHED_OK;
}

/* `after` between ops of the body; what stands in no earlier iteration of it is outside. */
static fs_status fill_afters(fs_roller *r, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = r->b;
  uint32_t op0 = b->loop.at[loop].op0, end = op0 + x->n_ops;
  FS_TRY(fs_new(&r->b->arena, &x->after, r->in.after0[end] - r->in.after0[op0]));
  for (uint32_t op = op0; op < end; op++) {
    x->body[op - op0].after0 = x->n_afters;
    for (uint32_t i = r->in.after0[op]; i < r->in.after0[op + 1]; i++) {
      const fs_item_draft *a = &b->afters.item.at[i];
      if (!a->b && a->a >= op0 && a->a < end) {
        if (a->amount == 0 && a->a > op) {
          return fs_builder_refuse_loop(r->b, loop, fs_pos_at(&b->afters.at, i),
                                        "op '%.80s' is 'after' a later one of its iteration",
                                        b->ops.text.at[op]);
        }
        x->after[x->n_afters++] = (fs_body_after){a->a - op0, (uint32_t)a->amount};
      }
    }
    x->body[op - op0].n_afters = x->n_afters - x->body[op - op0].after0;
  }
  return FSCHED_OK;
}

/* Which of the loop's queues a copy of an op keeps until it is over, if all of its commands are on
 * that; else FS_NONE. */
static uint32_t copy_queue(const fs_rolled *x, uint32_t member, uint32_t copy) {
  const fs_rolled_loop *l = &x->loop;
  uint32_t found = FS_NONE, n = 0;
  for (uint32_t q = 0; q < l->n_queues; q++) {
    bool here = false;
    for (uint32_t c = l->command0[q]; c < l->command0[q + 1]; c++) {
      here = here || (l->command[c].member == member && l->command[c].copy == copy);
    }
    found = here ? q : found;
    n += here;
  }
  bool keeps = x->body[member].latency <= x->body[member].time;
  return n == 1 && keeps ? found : FS_NONE;
}

/* The same, but FS_NONE where iterations are in order, and do not keep one queue. */
static uint32_t kept_queue(const fs_rolled *x, uint32_t member, uint32_t copy) {
  uint32_t kept = copy_queue(x, member, copy);
  for (uint32_t c = 0; c < x->loop.copies && x->scratch_in_order; c++) {
    kept = copy_queue(x, member, c) == kept ? kept : FS_NONE;
  }
  return kept;
}

/* Gives the scratch of all that keeps a queue places in that of the loop, where it takes turns. An
 * op that keeps none (FS_NONE) has places of its own, for all copies: its iterations come one after
 * the other.  *at: per copy and entry of the loop's ops. */
static void place_scratch(fs_roller *r, uint32_t loop, const fs_rolled *x, uint32_t queue,
                          uint64_t *base, uint64_t *at) {
  const fsched_builder *b = r->b;
  const uint32_t *first = r->in.scratch0;
  uint64_t *used = r->scratch_use[loop];
  uint32_t op0 = b->loop.at[loop].op0, n = first[op0 + x->n_ops] - first[op0];
  memcpy(base, used, b->memory.n * sizeof *base);
  for (uint32_t op = op0; op < op0 + x->n_ops; op++) {
    for (uint32_t c = 0; c < x->loop.copies; c++) {
      for (uint32_t i = first[op]; i < first[op + 1] && kept_queue(x, op - op0, c) == queue; i++) {
        const fs_item_draft *s = &b->scratches.item.at[i];
        uint64_t size = fs_align_up(s->amount, b->memory.at[s->a].m.align);
        uint64_t *place = at + c * n + i - first[op0];
        *place = queue != FS_NONE ? base[s->a] : c == 0 ? used[s->a] : at[i - first[op0]];
        used[s->a] = fs_max(used[s->a], *place + size);
      }
    }
  }
}

static fs_status fill_scratches(fs_roller *r, uint32_t loop, fs_rolled *x) {
  const fsched_builder *b = r->b;
  uint32_t op0 = b->loop.at[loop].op0, end = op0 + x->n_ops, copies = x->loop.copies;
  const uint32_t *first = r->in.scratch0;
  uint32_t n = first[end] - first[op0];
  uint64_t *base, *at;
  FS_TRY(fs_new_zero(r->scratch, &r->scratch_use[loop], b->memory.n));
  FS_TRY(fs_new(&r->b->arena, &x->scratch, (size_t)n * copies));
  FS_TRY(fs_new(r->scratch, &base, b->memory.n));
  FS_TRY(fs_new(r->scratch, &at, (size_t)n * copies));
  place_scratch(r, loop, x, FS_NONE, base, at);
  for (uint32_t q = 0; q < x->loop.n_queues; q++) {
    place_scratch(r, loop, x, q, base, at);
  }
  for (uint32_t op = op0; op < end; op++) {
    fs_body_op *body = &x->body[op - op0];
    body->scratch0 = x->n_scratches;
    for (uint32_t c = 0; c < copies; c++) {
      for (uint32_t i = first[op]; i < first[op + 1]; i++) {
        const fs_item_draft *s = &b->scratches.item.at[i];
        x->scratch[x->n_scratches++] =
            (fs_body_scratch){s->a, c, at[c * n + i - first[op0]], s->amount};
      }
    }
    body->n_scratches = x->n_scratches - body->scratch0;
  }
  return FSCHED_OK;
}

fs_status fs_roller_fill_body(fs_roller *r, uint32_t loop) {
  fs_rolled *x = r->rolled[loop];
  assert(x != NULL);
  FS_TRY(fill_args(r, loop, x));
  FS_TRY(fill_afters(r, loop, x));
  return fill_scratches(r, loop, x);
}
