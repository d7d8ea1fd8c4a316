/* SPDX-License-Identifier: Apache-2.0 */
/* A loop is evaluated by what it means, iteration after iteration: its rings are values (rings.h),
 * of which the last one is put into its slot at the end; all else in a ring's place is undefined
 * then.  A loop in a loop finds its bytes in what the op that it is has: in values of the outer
 * loop's rings, or in the version that these bytes are of. */
#include "exec/replay/evaluate.h"
#include "exec/replay/rings.h"
#include "model/stream/views.h"

/* A loop that is being evaluated. */
typedef struct evaluated_loop {
  fs_reference *r;
  const fs_stream_loop *loop;
  fs_ring_values *rings;
  struct evaluated_loop *around; /* the loop that it is in, or NULL */
  fs_loop_instance at;           /* the instance at hand */
} evaluated_loop;

/* What is the same for a loop and those inside. */
typedef struct loop_sum {
  evaluated_loop *run; /* per loop of the stream */
  char *name;
  uint64_t digest;
  bool known; /* every instance so far has read defined bytes alone */
} loop_sum;

/* Bytes in which args lie: those of a version, or of a ring's value. */
typedef struct loop_bytes {
  uint8_t *bytes;
  fs_byteset *defined;
} loop_bytes;

static uint64_t trips_of(const evaluated_loop *l) {
  return fs_loop_trips(l->r->s, l->r->trips, l->loop);
}

/* Finds the bytes that an arg of the loop's ops lies in. */
static loop_bytes find_bytes(evaluated_loop *l, const fs_stream_loop_arg *a) {
  const fs_stream *s = l->r->s;
  for (;; a = &s->loop_args[a->own], l = l->around) {
    if (a->ring != FS_NONE) {
      fs_ring_value *v =
          fs_ring_look(&l->rings[a->ring - l->loop->ring0], l->at.iteration, a->back);
      return (loop_bytes){v->bytes, &v->defined};
    }
    if (l->around == NULL) {
      fs_value *v = &l->r->value[s->args[a->own].version];
      return (loop_bytes){v->bytes, &v->defined};
    }
  }
}

/* Where the slots of a ring begin, in the bytes that they lie in: those of an arg of the op that
 * the loop is. */
static loop_bytes ring_bytes(evaluated_loop *l, const fs_stream_ring *ring, uint64_t *begin) {
  const fs_stream *s = l->r->s;
  if (l->around == NULL) {
    fs_value *v = &l->r->value[s->args[ring->arg].version];
    *begin = s->args[ring->arg].offset;
    return (loop_bytes){v->bytes, &v->defined};
  }
  const fs_stream_loop_arg *a = &s->loop_args[ring->arg];
  *begin = fs_loop_arg_where(s, a, &l->around->at).range.begin;
  return find_bytes(l->around, a);
}

/* --- begin and end --- */

/* Makes room for a loop and those inside. */
static fs_status prepare_loop(loop_sum *all, fs_reference *r, fs_arena *arena, uint32_t loop,
                              evaluated_loop *around) {
  const fs_stream *s = r->s;
  evaluated_loop *l = &all->run[loop];
  *l = (evaluated_loop){.r = r, .loop = &s->loops[loop], .around = around};
  FS_TRY(fs_rings_make(arena, s, l->loop, &l->rings));
  for (uint32_t i = l->loop->op0; i < l->loop->op0 + l->loop->n_ops; i++) {
    if (s->loop_ops[i].loop != FS_NONE) { /* the recursion is as deep as loops nest */
      FS_TRY(prepare_loop(all, r, arena, s->loop_ops[i].loop, l));
    }
  }
  return FSCHED_OK;
}

static fs_status make_name(loop_sum *all, const fs_stream *s, fs_arena *arena) {
  size_t bytes = 1;
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    const char *name = fs_stream_string(s, s->loop_ops[i].name);
    bytes = fs_max(bytes, fs_loop_name_bytes(name, FS_LOOP_NEST));
  }
  return fs_new(arena, &all->name, bytes);
}

/* Makes the bytes that a loop which is an op of the stream has on entry. */
static fs_status make_entry(fs_reference *r, const fs_stream_op *op) {
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (fs_tag_accesses(a->tag)) {
      FS_TRY(fs_evaluate_take(r, a->version));
      FS_TRY(fs_evaluate_make(r, a->version, a->offset, a->offset + a->length));
    }
  }
  return FSCHED_OK;
}

/* Puts what rings have on entry into their values. */
static fs_status enter_rings(evaluated_loop *l) {
  fs_rings_clear(l->loop, l->rings);
  for (uint32_t k = 0; k < l->loop->n_rings; k++) {
    const fs_stream_ring *ring = &l->r->s->rings[l->loop->ring0 + k];
    fs_ring_value *entry = &l->rings[k].at[l->rings[k].kept];
    uint64_t begin;
    loop_bytes b = ring_bytes(l, ring, &begin);
    if (!fs_ring_entered(ring)) {
      continue;
    }
    begin += ring->slot * (ring->depth - 1);
    memcpy(entry->bytes, b.bytes + begin, ring->size);
    for (size_t i = 0; i < b.defined->n; i++) {
      uint64_t from = fs_max(b.defined->at[i].begin, begin);
      uint64_t until = fs_min(b.defined->at[i].end, begin + ring->size);
      if (from < until) {
        FS_TRY(fs_byteset_add(l->r->ctx, &entry->defined, from - begin, until - begin));
      }
    }
  }
  return FSCHED_OK;
}

static uint64_t ring_length(const evaluated_loop *l, const fs_stream_ring *ring) {
  const fs_stream *s = l->r->s;
  return l->around == NULL ? s->args[ring->arg].length : s->loop_args[ring->arg].length;
}

/* Puts the last value of a ring into its slot; the rest of the ring's place is undefined. */
static fs_status leave_ring(evaluated_loop *l, uint32_t index) {
  fsched_context *ctx = l->r->ctx;
  const fs_stream_ring *ring = &l->r->s->rings[l->loop->ring0 + index];
  uint64_t last = trips_of(l) - 1, begin, length = ring_length(l, ring);
  const fs_ring_value *from = fs_ring_look(&l->rings[index], last, 0);
  loop_bytes b = ring_bytes(l, ring, &begin);
  bool back = fs_ring_moves(l->loop, ring);
  uint64_t at = begin + ring->slot * (back ? ring->depth - 1 : last % ring->depth);
  memset(b.bytes + begin, 0xA5, (size_t)length);
  FS_TRY(fs_byteset_remove(ctx, b.defined, begin, begin + length));
  memcpy(b.bytes + at, from->bytes, (size_t)ring->size);
  for (size_t i = 0; i < from->defined.n; i++) {
    fs_byte_range d = from->defined.at[i];
    FS_TRY(fs_byteset_add(ctx, b.defined, at + d.begin, at + d.end));
  }
  return FSCHED_OK;
}

/* --- instances --- */

/* The values that the instance at hand begins. */
static void begin_values(evaluated_loop *l, const fs_stream_loop_op *op) {
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_stream_loop_arg *a = &l->r->s->loop_args[i];
    if (a->ring != FS_NONE && fs_tag_begins(a->tag)) {
      (void)fs_ring_begin(&l->rings[a->ring - l->loop->ring0], l->at.iteration);
    }
  }
}

static fs_element_walk elements_of(const fs_stream *s, const fs_stream_loop_arg *a,
                                   fs_byte_range range) {
  const fs_stream_view *view = fs_stream_loop_view_of(s, (uint32_t)(a - s->loop_args));
  return fs_evaluate_elements(view, range.begin, range.end);
}

static fs_kernel_call make_loop_call(evaluated_loop *l, char *name, const fs_stream_loop_op *op,
                                     uint32_t member, bool *known) {
  const fs_stream *s = l->r->s;
  fs_stream_member own = fs_loop_op_call_args(s, op, member);
  *known = true;
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[own.arg0 + i];
    fs_kernel_arg *out = &l->r->args[i];
    *out = (fs_kernel_arg){
        .value = a->value, .tag = fs_tag_seen(a->tag, a->begins), .length = a->length};
    if (!fs_tag_accesses(a->tag)) {
      continue;
    }
    loop_bytes b = find_bytes(l, a);
    fs_byte_range range = fs_loop_arg_where(s, a, &l->at).range;
    out->data = b.bytes + range.begin;
    out->length = range.end - range.begin;
    fs_element_walk w = elements_of(s, a, range);
    while (*known && fs_tag_reads(a->tag) && fs_evaluate_element(&w)) {
      *known = fs_byteset_cover(b.defined, w.begin, w.end);
    }
  }
  fs_loop_name(name, fs_stream_string(s, op->name), &l->at);
  fs_kernel_call call = {.op = name,
                         .args = l->r->args,
                         .n_args = own.n_args,
                         .views = fs_kernel_loop_views(s, own, l->r->views),
                         .member = member,
                         .n_members = op->n_members};
  fs_kernels_shape(&l->r->kernels, op->kernel, &call);
  return call;
}

static fs_status define_in_loop(evaluated_loop *l, fs_stream_member own, bool known) {
  for (uint32_t i = own.arg0; i < own.arg0 + own.n_args; i++) {
    const fs_stream_loop_arg *a = &l->r->s->loop_args[i];
    if (fs_tag_writes(a->tag)) {
      loop_bytes b = find_bytes(l, a);
      fs_byte_range range = fs_loop_arg_where(l->r->s, a, &l->at).range;
      for (fs_element_walk w = elements_of(l->r->s, a, range); fs_evaluate_element(&w);) {
        FS_TRY(known ? fs_byteset_add(l->r->ctx, b.defined, w.begin, w.end)
                     : fs_byteset_remove(l->r->ctx, b.defined, w.begin, w.end));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status evaluate_instance(loop_sum *all, evaluated_loop *l, const fs_stream_loop_op *op) {
  fs_reference *r = l->r;
  bool nothing = fs_evaluate_idle(r, op->kernel);
  uint64_t digest = 0;
  for (uint32_t m = 0; m < fs_loop_op_calls(op); m++) { /* no member reads another one's bytes */
    bool known;
    fs_kernel_call call = make_loop_call(l, all->name, op, m, &known);
    if (fs_kernels_run(&r->kernels, op->kernel, &call) != FSCHED_CAUSE_NONE) {
      return fs_fail(r->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
                     "op '%s': its kernel failed in a sequential evaluation", call.op);
    }
    all->known = all->known && (known || nothing);
    digest += r->digest == NULL ? 0 : fs_kernels_digest(&r->kernels, op->kernel, &call);
    FS_TRY(nothing ? FSCHED_OK : define_in_loop(l, fs_loop_op_call_args(r->s, op, m), known));
  }
  if (r->digest != NULL) {
    all->digest += fs_loop_digest(&l->at, digest);
  }
  return FSCHED_OK;
}

/* Runs a loop.  The recursion is as deep as loops nest. */
static fs_status evaluate_run(loop_sum *all, evaluated_loop *l) {
  const fs_stream *s = l->r->s;
  const fs_loop_instance *around = l->around == NULL ? NULL : &l->around->at;
  l->at = (fs_loop_instance){
      .loop = l->loop, .before = fs_loop_before(l->loop, around, trips_of(l)), .around = around};
  FS_TRY(enter_rings(l));
  for (uint64_t i = 0; i < trips_of(l); i++) {
    for (uint32_t k = 0; k < l->loop->n_ops; k++) {
      l->at.op = l->loop->op0 + k;
      l->at.iteration = i;
      const fs_stream_loop_op *op = &s->loop_ops[l->at.op];
      begin_values(l, op);
      FS_TRY(op->loop == FS_NONE ? evaluate_instance(all, l, op)
                                 : evaluate_run(all, &all->run[op->loop]));
    }
  }
  for (uint32_t k = 0; trips_of(l) > 0 && k < l->loop->n_rings; k++) {
    FS_TRY(leave_ring(l, k));
  }
  return FSCHED_OK;
}

static fs_status evaluate_all(loop_sum *all, fs_reference *r, fs_arena *arena, uint32_t loop) {
  FS_TRY(fs_new_zero(arena, &all->run, r->s->n_loops));
  FS_TRY(make_name(all, r->s, arena));
  FS_TRY(prepare_loop(all, r, arena, loop, NULL));
  FS_TRY(make_entry(r, &r->s->ops[r->s->loops[loop].op]));
  return evaluate_run(all, &all->run[loop]);
}

fs_status fs_evaluate_loop(fs_reference *r, const fs_stream_loop *loop) {
  assert(loop->within == FS_NONE);
  FS_SCRATCH(arena, r->ctx);
  loop_sum all = {.known = true};
  fs_status status = evaluate_all(&all, r, &arena, (uint32_t)(loop - r->s->loops));
  for (uint32_t i = 0; all.run != NULL && i < r->s->n_loops; i++) {
    fs_rings_release(r->ctx, &r->s->loops[i], all.run[i].rings);
  }
  FS_TRY(status);
  if (all.known && r->digest != NULL) {
    fs_evaluate_digest(r, loop->op, all.digest);
  }
  fs_evaluate_drop_dead(r, loop->op);
  return FSCHED_OK;
}
