/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a body lies within the places of its loop: bytes where its buffers are, scratch in the
 * loop's scratch, and units among those that the loop holds.
 *
 * Where the places of the loop's own command lie apart, and every arg lies in that of its buffer,
 * ops meet in the bytes of a buffer alone, of which the orders and rings tell; and in scratch and
 * units, where commands that share some are a lane. */
#include <stdlib.h>

#include "verify/overlap.h"
#include "verify/stream/loops/parts.h"

const fs_stream_place *fs_vloop_own_place(const fs_vloop *x, uint32_t arg) {
  for (uint32_t i = 0; i < x->n_places; i++) {
    const fs_stream_place *p = &x->place[i];
    if (fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg == arg) {
      return p;
    }
  }
  return NULL;
}

typedef struct body_places {
  fs_vloop *x;
  uint32_t command; /* of loop_commands, at hand */
  fs_vlanes *lanes;
} body_places;

static void wrong_place(const body_places *b, fs_diag_code code, uint32_t place, const char *what) {
  const fs_vloop *x = b->x;
  FS_LOOP_WRONG(b->x, code, "loop %.60s: op %.60s, copy %u, place %u: %s", x->name,
                fs_vloop_op_name(x, fs_vloop_member(x, b->command)),
                x->v->s->loop_commands[b->command].copy,
                place - x->v->s->loop_commands[b->command].place0, what);
}

/* The address that an arg has in iteration 0, or in slot 0.  Returns false if the loop's own op has
 * no arg of its buffer. */
static bool find_address(const fs_vloop *x, const fs_stream_loop_arg *a, uint32_t *version,
                         uint64_t *address) {
  const fs_stream_place *p = fs_vloop_own_place(x, a->own);
  if (p == NULL) {
    return false;
  }
  *version = p->version;
  *address = p->address + a->offset - (a->ring != FS_NONE ? 0 : fs_vloop_own(x, a->own).offset);
  return true;
}

static void check_arg_place(const body_places *b, uint32_t place, uint32_t arg) {
  const fs_stream *s = b->x->v->s;
  const fs_stream_loop_arg *a = &s->loop_args[arg];
  const fs_stream_place *p = &s->loop_places[place];
  uint64_t address;
  uint32_t version;
  if (!find_address(b->x, a, &version, &address)) {
    wrong_place(b, FS_DIAG_VERIFY_PLACE, place, "the loop's op has no place of the buffer");
  } else if (!fs_space_has_bytes(p->space) || p->arg != arg || p->version != version ||
             p->index != s->buffers[a->buffer].memory ||
             p->size != fs_min(a->length, fs_vloop_limit(s, b->x->l, a) - a->offset) ||
             p->mode != fs_tag_mode(a->tag)) {
    wrong_place(b, FS_DIAG_VERIFY_PLACE, place, "not the argument's buffer, length or mode");
  } else if (p->address != address) {
    wrong_place(b, FS_DIAG_VERIFY_PLACE, place, "not where the loop has the buffer");
  }
}

/* Whether scratch lies in that of the loop. */
static bool in_own_scratch(const fs_vloop *x, const fs_stream_place *p) {
  const fs_stream_memory *m = &x->v->s->memories[p->index];
  const fs_stream_place *own = x->place;
  for (uint32_t i = 0; i < x->n_places; i++) {
    if (fs_space_has_bytes(own[i].space) && own[i].version == FS_NONE && own[i].index == p->index &&
        own[i].address <= p->address && p->address - own[i].address <= own[i].size &&
        p->size <= own[i].size - (p->address - own[i].address)) {
      return fs_vs_contiguous(m) && p->address % m->align == 0;
    }
  }
  return false;
}

/* The units of a resource that the loop's own op holds. */
static uint64_t own_units(const fs_vloop *x, uint32_t resource) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < x->n_places; i++) {
    const fs_stream_place *p = &x->place[i];
    sum += fs_space_of_resource(p->space) && p->index == resource ? p->size : 0;
  }
  return sum;
}

/* Whether units are among those that the loop holds, which count from 0. */
static bool in_own_units(const fs_vloop *x, const fs_stream_place *p) {
  uint64_t all = own_units(x, p->index);
  return p->address <= all && p->size <= all - p->address;
}

static void check_other_place(const body_places *b, uint32_t place) {
  const fs_stream_place *p = &b->x->v->s->loop_places[place];
  bool bytes = fs_space_has_bytes(p->space);
  if (p->version != FS_NONE || p->arg != FS_NONE || p->mode != FS_MODE_W ||
      (!bytes && !fs_space_of_resource(p->space))) {
    wrong_place(b, FS_DIAG_VERIFY_PLACE, place, "neither scratch nor units of a resource");
  } else if (bytes && !in_own_scratch(b->x, p)) {
    wrong_place(b, FS_DIAG_VERIFY_PLACE, place, "not in the loop's scratch");
  } else if (!bytes && !in_own_units(b->x, p)) {
    wrong_place(b, FS_DIAG_VERIFY_LANE, place, "not among the units that the loop uses");
  }
}

static void check_command(const body_places *b) {
  const fs_stream *s = b->x->v->s;
  const fs_stream_loop_command *m = &s->loop_commands[b->command];
  const fs_stream_loop_op *o = &s->loop_ops[m->op];
  uint32_t at = m->place0, end = m->place0 + m->n_places;
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    if (s->loop_args[a].buffer == FS_NONE) {
      continue;
    }
    if (at == end) {
      wrong_place(b, FS_DIAG_VERIFY_PLACE, at, "a place is missing");
      return;
    }
    check_arg_place(b, at++, a);
  }
  for (; at < end; at++) {
    check_other_place(b, at);
  }
}

/* --- what commands share --- */

/* A place of scratch or of units, with the command that has it. */
typedef struct shared_place {
  const fs_stream_place *p;
  uint32_t command;
} shared_place;

static int by_address(const void *a_, const void *b_) {
  const shared_place *a = a_, *b = b_;
  const fs_stream_place *p = a->p, *q = b->p;
  return p->space != q->space       ? (p->space < q->space ? -1 : 1)
         : p->index != q->index     ? (p->index < q->index ? -1 : 1)
         : p->address != q->address ? (p->address < q->address ? -1 : 1)
                                    : (a->p > b->p) - (a->p < b->p);
}

static fs_status add_lane(const body_places *b, const shared_place *m, const shared_place *n) {
  fs_vlane lane = {{m->command, n->command}, (uint32_t)(n->p - b->x->v->s->loop_places)};
  return fs_vec_push(b->x->v->ctx, b->lanes, lane);
}

/* A command is a lane of its own, and one with each that shares some of its scratch or units. */
static fs_status find_lanes(const body_places *b, const shared_place *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const fs_stream_place *p = at[i].p;
    FS_TRY(add_lane(b, &at[i], &at[i]));
    for (uint32_t k = i + 1; k < n; k++) {
      const fs_stream_place *q = at[k].p;
      if (q->space != p->space || q->index != p->index || q->address >= p->address + p->size) {
        break;
      }
      FS_TRY(add_lane(b, &at[i], &at[k]));
      if (at[i].command == at[k].command) {
        wrong_place(&(body_places){b->x, at[i].command, b->lanes}, FS_DIAG_VERIFY_SELF,
                    (uint32_t)(q - b->x->v->s->loop_places), "overlaps another one");
      }
    }
  }
  return FSCHED_OK;
}

static fs_status list_shared(const body_places *b, fs_arena *arena) {
  const fs_vloop *x = b->x;
  const fs_stream *s = x->v->s;
  shared_place *at;
  uint32_t room = 0, n = 0;
  for (uint32_t c = x->command0; c < x->command0 + x->n_commands; c++) {
    room += s->loop_commands[c].n_places;
  }
  FS_TRY(fs_new(arena, &at, room));
  for (uint32_t c = x->command0; c < x->command0 + x->n_commands; c++) {
    const fs_stream_loop_command *m = &s->loop_commands[c];
    for (uint32_t i = m->place0; i < m->place0 + m->n_places; i++) {
      if (s->loop_places[i].version == FS_NONE && s->loop_places[i].size > 0) {
        at[n++] = (shared_place){&s->loop_places[i], c};
      }
    }
  }
  if (n > 1) {
    qsort(at, n, sizeof *at, by_address);
  }
  return find_lanes(b, at, n);
}

/* --- what the loop's own places share --- */

/* An address alone is not an access. */
static bool is_address(void *loop, const fs_stream_place *a, const fs_stream_place *b) {
  const fs_vloop *x = loop;
  return fs_space_has_bytes(a->space) &&
         ((a->version != FS_NONE && !fs_tag_accesses(fs_vloop_own(x, a->arg).tag)) ||
          (b->version != FS_NONE && !fs_tag_accesses(fs_vloop_own(x, b->arg).tag)));
}

/* An op may put an output over an input, but not one that goes on to read that. */
static fs_status check_own(fs_vloop *x, fs_arena *arena) {
  fs_voverlap overlap;
  const fs_stream_place *place = x->place, *a, *b;
  FS_TRY(fs_voverlap_init(arena, x->v->s, &overlap));
  if (fs_voverlap_find(&overlap, place, x->n_places, is_address, x, &a, &b)) {
    FS_LOOP_WRONG(x, FS_DIAG_VERIFY_SELF, "loop %.80s: places %u and %u of its op overlap", x->name,
                  (unsigned)(a - place), (unsigned)(b - place));
  }
  return FSCHED_OK;
}

/* --- in place --- */

/* The reader of a ring that reads the slot which it then writes must read all of it, and nothing
 * else of the ring may. */
static void check_in_place(fs_vloop *x, uint32_t ring) {
  const fs_stream *s = x->v->s;
  const fs_stream_ring *r = &s->rings[ring];
  const fs_stream_loop_op *o = &s->loop_ops[r->writer];
  uint32_t n = 0;
  bool whole = true;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[i];
    if (a->ring == ring && fs_tag_accesses(a->tag) && a->back == r->depth) {
      n++;
      whole = whole && fs_tag_only_reads(a->tag) && a->offset == 0 && a->length == r->size &&
              fs_stream_loop_view_of(s, i) == NULL;
    }
  }
  if (n > 1 || !whole) {
    FS_LOOP_WRONG(x, FS_DIAG_VERIFY_SELF,
                  "loop %.60s: op %.60s begins a value where it uses another, not in place",
                  x->name, fs_vloop_op_name(x, r->writer - x->l->op0));
  }
}

fs_status fs_vloop_places(fs_vloop *x, fs_vlanes *lanes) {
  assert(x->place != NULL && x->n_commands > 0);
  FS_SCRATCH(scratch, x->v->ctx);
  body_places b = {x, x->command0, lanes};
  FS_TRY(check_own(x, &scratch));
  for (; b.command < x->command0 + x->n_commands; b.command++) {
    check_command(&b);
  }
  for (uint32_t k = x->l->ring0; k < x->l->ring0 + x->l->n_rings; k++) {
    check_in_place(x, k);
  }
  return list_shared(&b, &scratch);
}
