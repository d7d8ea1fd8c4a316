/* SPDX-License-Identifier: Apache-2.0 */
/* An instance is called like an op, with the places of its command moved to its iteration: by the
 * arg's step, or to a slot of its ring. */
#include "exec/host/loops.h"

fs_status fs_loops_make(fs_arena *arena, const fs_stream *s, fs_loops *out) {
  assert(s->n_meta == 1);
  *out = (fs_loops){0};
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(arena, &out->of, s->n_ops));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    out->of[s->loops[l].op] = l;
  }
  return FSCHED_OK;
}

/* Digests */

static uint64_t stir(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

uint64_t fs_loop_digest(uint32_t op, uint64_t iteration, uint64_t digest) {
  const uint64_t step = UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio, odd */
  return stir(stir(stir(op + step) + iteration * step) ^ digest);
}

/* Names */

enum { DIGITS = 20 };

size_t fs_loop_name_bytes(const char *op) { return strlen(op) + DIGITS + sizeof "[]"; }

void fs_loop_name(char *room, const char *op, uint64_t iteration) {
  char digit[DIGITS];
  size_t n = strlen(op), k = 0;
  memcpy(room, op, n);
  room[n++] = '[';
  do {
    digit[k++] = (char)('0' + iteration % 10);
    iteration /= 10;
  } while (iteration > 0);
  while (k > 0) {
    room[n++] = digit[--k];
  }
  room[n++] = ']';
  room[n] = '\0';
}

/* Args */

fs_byte_range fs_loop_arg_range(const fs_stream *s, const fs_stream_loop_arg *a,
                                uint64_t iteration) {
  assert(a->buffer < s->n_buffers && a->ring == FS_NONE);
  uint64_t size = s->buffers[a->buffer].size;
  uint64_t begin = fs_min(a->offset + (uint64_t)a->step * iteration, size);
  return (fs_byte_range){begin, begin + fs_min(a->length, size - begin)};
}

/* How far the place of an arg lies behind that of iteration 0, or of slot 0. */
static uint64_t move(const fs_stream *s, const fs_stream_loop_arg *a, uint64_t iteration) {
  if (a->ring == FS_NONE) {
    return (uint64_t)a->step * iteration;
  }
  const fs_stream_ring *ring = &s->rings[a->ring];
  uint64_t slot = iteration < a->back ? ring->depth - 1 : (iteration - a->back) % ring->depth;
  return slot * ring->slot;
}

static uint64_t length_of(const fs_stream *s, const fs_stream_loop_arg *a, uint64_t iteration) {
  if (a->ring != FS_NONE) {
    return a->length;
  }
  fs_byte_range r = fs_loop_arg_range(s, a, iteration);
  return r.end - r.begin;
}

static fs_kernel_call make_call(const fs_effects *e, const fs_effect_room *room,
                                const fs_loop_instance *at) {
  const fs_stream *s = e->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  const fs_stream_loop_op *op = &s->loop_ops[c->op];
  uint32_t n_scratch = 0;
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[op->arg0 + i];
    room->args[i] = (fs_kernel_arg){.value = a->value, .tag = a->tag};
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    bool content = p->version != FS_NONE;
    if (!fs_space_has_bytes(p->space)) {
      continue;
    }
    if (!content && (p->mode & FS_MODE_W) != 0) {
      uint8_t *data = fs_memories_at(e->memories, p->index, p->address);
      room->scratch[n_scratch++] = (fs_kernel_arg){.data = data, .length = p->size};
    } else if (content && p->arg - op->arg0 < op->n_args) {
      const fs_stream_loop_arg *a = &s->loop_args[p->arg];
      fs_kernel_arg *arg = &room->args[p->arg - op->arg0];
      arg->data = fs_memories_at(e->memories, p->index, p->address + move(s, a, at->iteration));
      arg->length = length_of(s, a, at->iteration);
    }
  }
  fs_loop_name(room->name, fs_stream_string(s, op->name), at->iteration);
  fs_kernel_call call = {.op = room->name,
                         .args = room->args,
                         .scratch = room->scratch,
                         .n_args = op->n_args,
                         .n_scratch = n_scratch};
  fs_kernels_shape(s, op->kernel, &call);
  return call;
}

/* Running */

static const fs_stream_loop *loop_of(const fs_effects *e, uint32_t command) {
  const fs_stream_command *c = &e->s->commands[command];
  assert(e->loops != NULL && fs_command_has_op(c) && e->loops->of[c->target] != FS_NONE);
  return &e->s->loops[e->loops->of[c->target]];
}

fsched_cause fs_loop_run_instance(const fs_effects *e, const fs_effect_room *room,
                                  const fs_work *work, const fs_loop_instance *at, uint64_t *sum) {
  const fs_stream_loop *loop = loop_of(e, at->command);
  uint32_t op = e->s->loop_commands[at->loop_command].op;
  assert(op - loop->op0 < loop->n_ops);
  uint32_t kernel = e->s->loop_ops[op].kernel;
  fs_running what = {.command = at->command, .loop_op = op, .iteration = at->iteration};
  fs_kernel_call call = make_call(e, room, at);
  fsched_cause cause = fs_effect_call(e, room, work, &what, kernel, &call);
  if (cause == FSCHED_CAUSE_NONE && work->record.digest != NULL) {
    uint64_t digest = fs_kernels_digest(e->kernels, kernel, &call);
    *sum += fs_loop_digest(op - loop->op0, at->iteration, digest);
  }
  return cause;
}

static bool is_off(const fs_effects *e) {
  return e->off != NULL && atomic_load_explicit(e->off, memory_order_relaxed);
}

fsched_cause fs_loop_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                         uint32_t command) {
  assert(command < e->s->n_commands);
  const fs_stream_loop *loop = loop_of(e, command);
  fs_loop_instance at = {.command = command};
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t sum = 0;
  fs_loop_walk_begin(room->walk, loop);
  while (cause == FSCHED_CAUSE_NONE &&
         fs_loop_walk_next(room->walk, &at.loop_command, &at.iteration)) {
    cause = is_off(e) ? FSCHED_CAUSE_CANCELLED : fs_loop_run_instance(e, room, work, &at, &sum);
  }
  if (cause == FSCHED_CAUSE_NONE && room->walk->left > 0) {
    cause = FSCHED_CAUSE_WRONG;
  }
  if (cause == FSCHED_CAUSE_NONE && work->record.digest != NULL) {
    work->record.digest[loop->op] = sum;
  }
  return cause;
}
