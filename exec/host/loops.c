/* SPDX-License-Identifier: Apache-2.0 */
/* An instance is called like an op, with the places of its command moved to its iteration: by the
 * arg's step, or to a slot of its ring; and with those of the op that its loop is. */
#include "exec/host/loops.h"

fs_status fs_loops_make(fs_arena *arena, const fs_stream *s, fs_loops *out) {
  assert(s->n_meta == 1);
  *out = (fs_loops){0};
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(arena, &out->of, s->n_ops));
  for (uint32_t l = 0; l < s->n_loops && s->loops[l].within == FS_NONE; l++) {
    out->of[s->loops[l].op] = l;
  }
  return FSCHED_OK;
}

uint32_t fs_loops_depth(const fs_stream *s) {
  uint32_t most = 0;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    uint32_t depth = 1;
    for (uint32_t x = s->loops[l].within; x != FS_NONE; x = s->loops[x].within) {
      depth++;
    }
    most = depth > most ? depth : most;
  }
  return most;
}

/* Trips */

static fs_status set_trips(fsched_context *ctx, const fs_stream *s, const fsched_trips *t,
                           uint64_t *out) {
  const char *param = t->param == NULL ? "" : t->param;
  uint32_t p = 0;
  while (p < s->n_params && strcmp(fs_stream_string(s, s->params[p].name), param) != 0) {
    p++;
  }
  if (p == s->n_params) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "no loop of the program takes its trips from '%.80s'", param);
  }
  if (t->trips < s->params[p].least || t->trips > s->params[p].most) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "'%.80s' is %llu, and the program takes %llu to %llu", param,
                   (unsigned long long)t->trips, (unsigned long long)s->params[p].least,
                   (unsigned long long)s->params[p].most);
  }
  for (uint32_t l = 0; l < s->n_loops; l++) {
    out[l] = s->loops[l].param == p ? t->trips : out[l];
  }
  return FSCHED_OK;
}

fs_status fs_loops_trips(fsched_context *ctx, const fs_stream *s, const fsched_trips *given,
                         uint32_t n, uint64_t *out) {
  assert(given != NULL || n == 0);
  for (uint32_t l = 0; l < s->n_loops; l++) {
    out[l] = s->loops[l].trip;
  }
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(set_trips(ctx, s, &given[i], out));
  }
  return FSCHED_OK;
}

/* Digests */

static uint64_t stir(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

uint64_t fs_loop_digest(const fs_loop_instance *at, uint64_t digest) {
  const uint64_t step = UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio, odd */
  for (; at != NULL; at = at->around) {
    assert(at->op - at->loop->op0 < at->loop->n_ops);
    digest = stir(stir(stir(at->op - at->loop->op0 + step) + at->iteration * step) ^ digest);
  }
  return digest;
}

/* Names */

enum { DIGITS = 20 };

size_t fs_loop_name_bytes(const char *op, uint32_t depth) {
  return strlen(op) + (size_t)depth * (DIGITS + sizeof "[]") + 1;
}

static char *add_index(char *to, uint64_t iteration) {
  char digit[DIGITS];
  size_t k = 0;
  *to++ = '[';
  do {
    digit[k++] = (char)('0' + iteration % 10);
    iteration /= 10;
  } while (iteration > 0);
  while (k > 0) {
    *to++ = digit[--k];
  }
  *to++ = ']';
  return to;
}

static char *add_indices(char *to, const fs_loop_instance *at) {
  to = at->around == NULL ? to : add_indices(to, at->around); /* as deep as loops nest */
  return add_index(to, at->iteration);
}

void fs_loop_name(char *room, const char *op, const fs_loop_instance *at) {
  size_t n = strlen(op);
  memcpy(room, op, n);
  *add_indices(room + n, at) = '\0';
}

/* Args */

fs_loop_where fs_loop_arg_where(const fs_stream *s, const fs_stream_loop_arg *a,
                                const fs_loop_instance *at) {
  assert(a->buffer < s->n_buffers);
  uint64_t begin = a->offset, length = a->length, way = 0;
  uint64_t limit = s->buffers[a->buffer].size;
  bool moves = true; /* within its buffer, or within a version of a ring */
  for (;; a = &s->loop_args[a->own]) {
    if (a->ring != FS_NONE) {
      const fs_stream_ring *r = &s->rings[a->ring];
      uint64_t i = at->before + at->iteration;
      way += r->slot * (i < a->back ? r->depth - 1 : (i - a->back) % r->depth);
      limit = moves ? r->size : limit;
      moves = false;
    } else {
      way += (uint64_t)a->step * at->iteration;
      begin += moves ? (uint64_t)a->step * at->iteration : 0;
    }
    at = at->around;
    if (at == NULL) {
      break;
    }
  }
  begin = fs_min(begin, limit);
  return (fs_loop_where){{begin, begin + fs_min(length, limit - begin)}, way};
}

/* The place that the op of a loop has for an arg. */
static const fs_stream_place *own_place(const fs_stream *s, uint32_t command,
                                        const fs_loop_instance *around, uint32_t arg) {
  const fs_stream_place *p = &s->places[s->commands[command].place0];
  if (around != NULL) {
    p = &s->loop_places[s->loop_commands[around->loop_command].place0];
  }
  while (!fs_space_has_bytes(p->space) || p->version == FS_NONE || p->arg != arg) {
    p++;
  }
  return p;
}

fs_loop_move fs_loop_last_value(const fs_stream *s, const fs_stream_loop *loop, uint32_t ring,
                                uint64_t trips, uint32_t command, const fs_loop_instance *around) {
  assert(ring < loop->n_rings);
  const fs_stream_ring *r = &s->rings[loop->ring0 + ring];
  if (!fs_ring_moves(loop, r) || trips % r->depth == 0) {
    return (fs_loop_move){0};
  }
  const fs_stream_place *p = own_place(s, command, around, r->arg);
  uint64_t at = p->address;
  at += around == NULL ? 0 : fs_loop_arg_where(s, &s->loop_args[r->arg], around).way;
  return (fs_loop_move){.memory = p->index,
                        .from = at + r->slot * ((trips - 1) % r->depth),
                        .to = at + r->slot * (r->depth - 1),
                        .bytes = r->size};
}

/* Makes the call of an instance, or of its member. */
static fs_kernel_call make_call(const fs_effects *e, const fs_effect_room *room,
                                const fs_loop_instance *at, uint32_t member) {
  const fs_stream *s = e->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  const fs_stream_loop_op *op = &s->loop_ops[c->op];
  fs_stream_member own = fs_loop_op_call_args(s, op, member);
  uint32_t n_scratch = 0;
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[own.arg0 + i];
    room->args[i] = (fs_kernel_arg){.value = a->value, .tag = fs_tag_seen(a->tag, a->begins)};
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
    } else if (content && p->arg - own.arg0 < own.n_args) {
      fs_loop_where w = fs_loop_arg_where(s, &s->loop_args[p->arg], at);
      fs_kernel_arg *arg = &room->args[p->arg - own.arg0];
      arg->data = fs_memories_at(e->memories, p->index, p->address + w.way);
      arg->length = w.range.end - w.range.begin;
    }
  }
  fs_loop_name(room->name, fs_stream_string(s, op->name), at);
  fs_kernel_call call = {.op = room->name,
                         .args = room->args,
                         .scratch = room->scratch,
                         .n_args = own.n_args,
                         .n_scratch = n_scratch,
                         .views = fs_kernel_loop_views(s, own, room->views),
                         .member = member,
                         .n_members = op->n_members};
  fs_kernels_shape(e->kernels, op->kernel, &call);
  return call;
}

/* Running */

fsched_cause fs_loop_run_call(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                              const fs_loop_instance *at, uint32_t call, uint64_t *digest) {
  const fs_stream *s = e->s;
  assert(at->op < s->n_loop_ops && s->loop_ops[at->op].loop == FS_NONE);
  uint32_t kernel = s->loop_ops[at->op].kernel;
  fs_running what = {.command = at->command, .loop_op = at->op, .queue = FS_NONE};
  for (const fs_loop_instance *x = at; x != NULL; x = x->around) {
    what.iteration[what.depth++] = x->iteration;
  }
  fs_kernel_call k = make_call(e, room, at, call);
  fsched_cause cause = fs_effect_call(e, room, work, &what, kernel, &k);
  if (cause == FSCHED_CAUSE_NONE && work->record.digest != NULL) {
    *digest += fs_kernels_digest(e->kernels, kernel, &k);
  }
  return cause;
}

fsched_cause fs_loop_run_instance(const fs_effects *e, const fs_effect_room *room,
                                  const fs_work *work, const fs_loop_instance *at, uint64_t *sum) {
  fsched_cause cause = FSCHED_CAUSE_NONE;
  uint64_t digest = 0;
  assert(at->op < e->s->n_loop_ops);
  uint32_t n = fs_loop_op_calls(&e->s->loop_ops[at->op]);
  for (uint32_t m = 0; m < n && cause == FSCHED_CAUSE_NONE; m++) {
    cause = fs_loop_run_call(e, room, work, at, m, &digest);
  }
  if (cause == FSCHED_CAUSE_NONE && work->record.digest != NULL) {
    *sum += fs_loop_digest(at, digest);
  }
  return cause;
}

void fs_loop_leave(const fs_effects *e, const fs_stream_loop *loop, uint64_t trips,
                   uint32_t command, const fs_loop_instance *around) {
  for (uint32_t k = 0; k < loop->n_rings; k++) {
    fs_loop_move m = fs_loop_last_value(e->s, loop, k, trips, command, around);
    if (m.bytes > 0) {
      memcpy(fs_memories_at(e->memories, m.memory, m.to),
             fs_memories_at(e->memories, m.memory, m.from), m.bytes);
    }
  }
}
