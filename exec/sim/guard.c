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
#include "exec/sim/sim.h"

#include <stdio.h>

/* What the guard does with a place. */
enum { UNTOUCHED, GUARD, SPOIL };

/* Every two places of a command are compared, so a command with more places spoils none. */
enum { MOST_PLACES = 1000 };

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
  }
  return FSCHED_OK;
}

static uint64_t hash_of(const fs_instance *x, const fs_stream_place *p) {
  return fs_hash_bytes(0, fs_memories_at(&x->memories, p->index, p->address), p->size);
}

void fs_sim_guard_begin(fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    const fs_stream_place *p = &x->stream->places[i];
    if (x->touch[i] == SPOIL) {
      fs_fill_bytes(command, fs_memories_at(&x->memories, p->index, p->address), p->size);
    }
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    if (x->touch[i] != UNTOUCHED) {
      x->seen[i] = hash_of(x, &x->stream->places[i]);
    }
  }
}

static void tell_place(const fs_instance *x, const fs_stream_command *c, const fs_stream_place *p) {
  const fs_stream *s = x->stream;
  char what[512];
  uint32_t version = fs_command_has_version(c) ? c->target : p->version;
  const char *buffer = version == FS_NONE
                           ? "its scratch"
                           : fs_stream_string(s, s->buffers[s->versions[version].buffer].name);
  const char *quote = version == FS_NONE ? "" : "'";
  (void)snprintf(what, sizeof what,
                 "%s '%.200s': %s%.200s%s was changed while it ran, so that nothing orders it with "
                 "another command",
                 fs_words_target[c->kind], fs_command_target_name(s, c), quote, buffer, quote);
  x->work->failed(x->work->user, FSCHED_CAUSE_WRONG, what);
}

bool fs_sim_guard_end(fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places && x->guarded; i++) {
    const fs_stream_place *p = &x->stream->places[i];
    if (x->touch[i] != UNTOUCHED && hash_of(x, p) != x->seen[i]) {
      if (x->work->failed != NULL) {
        tell_place(x, c, p);
      }
      return false;
    }
  }
  return true;
}
