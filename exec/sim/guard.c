/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: notices when two commands touch the same bytes at once.
 *
 * A command has its effect at its end.  At its begin the places that it will write and does not
 * read are spoilt, and the bytes of all of its places are hashed; at its end the hashes must still
 * be the same.  So, of two commands that conflict and are under way at the same virtual time, one
 * notices the other, or reads spoilt bytes and computes another result:
 *
 *   reader   |--------|          reader      |---|         writer   |-------|
 *   writer        |------|       writer   |---------|      writer       |--------|
 *         spoilt: noticed            reads what was spoilt    noticed by the first
 *
 * A stream in which that happens for any durations lacks a wait.  In a program with races
 * (hazards: raw) it may happen, so such a program is not guarded. */
#include "exec/sim/loops/loops.h"
#include "model/stream/views.h"

#include <stdio.h>

/* What the guard does with a place.  What a loop writes is spoilt when it begins, and then is for
 * the instances inside to guard; so is what some of its queues do not touch, as these need not wait
 * for who writes it before, nor be over when it is written again. */
enum { UNTOUCHED, GUARD, SPOIL, SPOIL_ALONE };

/* Every two places of a command are compared, so a command with more places spoils none; in loops
 * they are compared for each instance. */
enum { MOST_PLACES = 1000, MOST_OF_INSTANCE = 32 };

static const fs_stream_arg *arg_of(const fs_stream *s, const fs_stream_command *c,
                                   const fs_stream_place *p) {
  const fs_stream_op *op = &s->ops[c->target];
  return fs_command_has_op(c) && p->version != FS_NONE && p->arg - op->arg0 < op->n_args
             ? &s->args[p->arg]
             : NULL;
}

static bool is_scratch(const fs_stream_command *c, const fs_stream_place *p) {
  return fs_command_has_op(c) && p->version == FS_NONE && (p->mode & FS_MODE_W) != 0;
}

static bool is_guarded(const fs_stream *s, const fs_stream_command *c, const fs_stream_place *p) {
  if (!fs_space_has_bytes(p->space) || p->size == 0) {
    return false;
  }
  const fs_stream_arg *a = arg_of(s, c, p);
  return fs_command_has_version(c) || is_scratch(c, p) || (a != NULL && fs_tag_accesses(a->tag));
}

/* Whether the command will write the whole place and does not use its present bytes. */
static bool is_new(const fs_stream *s, const fs_stream_command *c, const fs_stream_place *p) {
  const fs_stream_arg *a = arg_of(s, c, p);
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      return is_scratch(c, p) || (a != NULL && fs_tag_begins(a->tag));
    case FS_COMMAND_COPY:
      return p == &s->places[c->place0 + 1];
  }
  return false;
}

static bool overlap(const fs_stream_place *a, const fs_stream_place *b) {
  return a->space == b->space && a->index == b->index && a->address < b->address + b->size &&
         b->address < a->address + a->size;
}

static bool may_spoil(const fs_stream *s, const fs_stream_command *c, const fs_stream_place *p) {
  if (c->n_places > MOST_PLACES || !is_new(s, c, p)) {
    return false;
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *other = &s->places[i];
    if (!is_new(s, c, other) && overlap(p, other)) {
      return false;
    }
  }
  return true;
}

/* Whether the command writes none of the bytes at that place. */
static bool only_reads(const fs_stream *s, const fs_stream_command *c, const fs_stream_place *p) {
  bool reads = c->n_places <= MOST_PLACES;
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && reads; i++) {
    reads = (s->places[i].mode & FS_MODE_W) == 0 || !overlap(p, &s->places[i]);
  }
  return reads;
}

/* Counts per buffer the queues of a loop whose commands touch it. */
static fs_status count_queues(fs_arena *arena, const fs_stream *s, const fs_stream_loop *l,
                              uint32_t **out) {
  uint32_t *last;
  FS_TRY(fs_new_zero(arena, out, s->n_buffers));
  FS_TRY(fs_new_none(arena, &last, s->n_buffers));
  for (uint32_t k = l->queue0; k < l->queue0 + l->n_queues; k++) {
    const fs_stream_loop_queue *q = &s->loop_queues[k];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[c].op];
      for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
        uint32_t buffer = s->loop_args[a].buffer;
        if (buffer != FS_NONE && last[buffer] != k) {
          last[buffer] = k;
          (*out)[buffer]++;
        }
      }
    }
  }
  return FSCHED_OK;
}

/* Leaves to instances what is for these alone. */
static fs_status leave_to_instances(fs_instance *x, uint32_t command) {
  const fs_stream *s = x->stream;
  const fs_stream_command *k = &s->commands[command];
  const fs_stream_loop *l = &s->loops[fs_sim_loop_of(x, command)];
  uint32_t *queues;
  FS_SCRATCH(scratch, x->arena.ctx);
  FS_TRY(count_queues(&scratch, s, l, &queues));
  for (uint32_t i = k->place0; i < k->place0 + k->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    bool all = p->version == FS_NONE || queues[s->versions[p->version].buffer] == l->n_queues;
    if (!only_reads(s, k, p) || !all) {
      x->touch[i] = x->touch[i] == SPOIL && all ? SPOIL_ALONE : UNTOUCHED;
    }
  }
  return FSCHED_OK;
}

fs_status fs_sim_guard_make(fs_instance *x) {
  const fs_stream *s = x->stream;
  x->guarded = s->n_races == 0;
  FS_TRY(fs_new_zero(&x->arena, &x->touch, s->n_places));
  FS_TRY(fs_new(&x->arena, &x->seen, s->n_places));
  for (uint32_t c = 0; c < s->n_commands && x->guarded; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = k->place0; i < k->place0 + k->n_places; i++) {
      const fs_stream_place *p = &s->places[i];
      x->touch[i] = !is_guarded(s, k, p) ? UNTOUCHED : may_spoil(s, k, p) ? SPOIL : GUARD;
    }
    FS_TRY(fs_sim_loop_of(x, c) == FS_NONE ? FSCHED_OK : leave_to_instances(x, c));
  }
  return FSCHED_OK;
}

static uint64_t hash_of(const fs_instance *x, const fs_stream_command *c,
                        const fs_stream_place *p) {
  const fs_stream_arg *a = arg_of(x->stream, c, p);
  if (a == NULL || fs_stream_view_of(x->stream, p->arg) == NULL) {
    return fs_hash_bytes(0, fs_memories_at(&x->memories, p->index, p->address), p->size);
  }
  fs_view_runs runs = fs_stream_pieces(x->stream, p->arg, p->address - a->offset);
  uint64_t hash = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    hash = fs_hash_bytes(hash, fs_memories_at(&x->memories, p->index, at.low), at.high - at.low);
  }
  return hash;
}

void fs_sim_guard_begin(fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    const fs_stream_place *p = &x->stream->places[i];
    if (x->touch[i] == SPOIL || x->touch[i] == SPOIL_ALONE) {
      fs_fill_bytes(command, fs_memories_at(&x->memories, p->index, p->address), p->size);
    }
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    if (x->touch[i] == GUARD || x->touch[i] == SPOIL) {
      x->seen[i] = hash_of(x, c, &x->stream->places[i]);
    }
  }
}

/* `version`: FS_NONE: it is its scratch. */
static void tell_change(const fs_instance *x, const char *kind, const char *name,
                        uint32_t version) {
  const fs_stream *s = x->stream;
  char what[512];
  const char *buffer = version == FS_NONE
                           ? "its scratch"
                           : fs_stream_string(s, s->buffers[s->versions[version].buffer].name);
  const char *quote = version == FS_NONE ? "" : "'";
  (void)snprintf(what, sizeof what,
                 "%s '%.200s': %s%.200s%s was changed while it ran, so that nothing orders it with "
                 "another command",
                 kind, name, quote, buffer, quote);
  x->work->failed(x->work->user, FSCHED_CAUSE_WRONG, what);
}

static void tell_place(const fs_instance *x, const fs_stream_command *c, const fs_stream_place *p) {
  tell_change(x, fs_words_target[c->kind], fs_command_target_name(x->stream, c),
              fs_command_has_version(c) ? c->target : p->version);
}

bool fs_sim_guard_end(fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    const fs_stream_place *p = &x->stream->places[i];
    bool seen = x->touch[i] == GUARD || x->touch[i] == SPOIL;
    if (seen && hash_of(x, c, p) != x->seen[i]) {
      if (x->work->failed != NULL) {
        tell_place(x, c, p);
      }
      return false;
    }
  }
  return true;
}

/* Instances in loops */

/* What an instance touches at a place. */
typedef struct touched {
  uint8_t *data; /* NULL: nothing that is guarded */
  uint64_t n;
  bool new;                   /* it will write all of it and does not use its present bytes */
  const fs_stream_view *view; /* of which it touches these bytes alone; NULL: all */
} touched;

static uint64_t hash_touched(const touched *t) {
  if (t->view == NULL) {
    return fs_hash_bytes(0, t->data, t->n);
  }
  fs_view_runs runs = fs_stream_view_pieces(t->view, 0, t->n);
  uint64_t hash = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    hash = fs_hash_bytes(hash, t->data + at.low, at.high - at.low);
  }
  return hash;
}

static touched touch_of(const fs_instance *x, const fs_loop_instance *at,
                        const fs_stream_place *p) {
  const fs_stream *s = x->stream;
  uint64_t address = p->address, n = p->size;
  bool new = true;
  const fs_stream_view *view = NULL;
  if (!fs_space_has_bytes(p->space)) {
    return (touched){NULL, 0, false, NULL};
  }
  if (p->version != FS_NONE) {
    const fs_stream_loop_arg *a = &s->loop_args[p->arg];
    fs_loop_where w = fs_loop_arg_where(s, a, at);
    address += w.way;
    n = fs_tag_accesses(a->tag) ? w.range.end - w.range.begin : 0;
    new = fs_tag_begins(a->tag);
    view = fs_stream_loop_view_of(s, p->arg);
  } else if ((p->mode & FS_MODE_W) == 0) {
    n = 0;
  }
  return (touched){n == 0 ? NULL : fs_memories_at(&x->memories, p->index, address), n, new, view};
}

/* Whether no other place of the instance, which it reads, has some of these bytes. */
static bool is_apart(const fs_instance *x, const fs_loop_instance *at, const touched *t) {
  const fs_stream_loop_command *k = &x->stream->loop_commands[at->loop_command];
  bool apart = k->n_places <= MOST_OF_INSTANCE;
  for (uint32_t i = k->place0; i < k->place0 + k->n_places && apart; i++) {
    touched other = touch_of(x, at, &x->stream->loop_places[i]);
    apart = other.data == NULL || other.new || other.data >= t->data + t->n ||
            t->data >= other.data + other.n;
  }
  return apart;
}

void fs_sim_guard_begin_flight(fs_instance *x, uint32_t flight) {
  if (!x->guarded) {
    return;
  }
  fs_loop_instance at = fs_sim_instance_of(x, flight);
  const fs_stream_loop_command *k = &x->stream->loop_commands[at.loop_command];
  const fs_stream_place *place = &x->stream->loop_places[k->place0];
  for (uint32_t i = 0; i < k->n_places; i++) {
    touched t = touch_of(x, &at, &place[i]);
    if (t.data != NULL && t.new &&is_apart(x, &at, &t)) {
      fs_fill_bytes(at.loop_command, t.data, t.n);
    }
  }
  uint64_t *seen = &x->loops->seen.at[(size_t)flight * x->loops->n_places];
  for (uint32_t i = 0; i < k->n_places; i++) {
    touched t = touch_of(x, &at, &place[i]);
    seen[i] = t.data == NULL ? 0 : hash_touched(&t);
  }
}

bool fs_sim_guard_end_flight(fs_instance *x, uint32_t flight) {
  if (!x->guarded) {
    return true;
  }
  fs_loop_instance at = fs_sim_instance_of(x, flight);
  const fs_stream_loop_command *k = &x->stream->loop_commands[at.loop_command];
  const uint64_t *seen = &x->loops->seen.at[(size_t)flight * x->loops->n_places];
  for (uint32_t i = 0; i < k->n_places; i++) {
    const fs_stream_place *p = &x->stream->loop_places[k->place0 + i];
    touched t = touch_of(x, &at, p);
    if (t.data != NULL && hash_touched(&t) != seen[i]) {
      if (x->work->failed != NULL) {
        fs_loop_name(x->room.name, fs_stream_string(x->stream, x->stream->loop_ops[at.op].name),
                     &at);
        tell_change(x, "op", x->room.name, p->version);
      }
      return false;
    }
  }
  return true;
}
