/* SPDX-License-Identifier: Apache-2.0 */
/* Values that iterations hand on, in an unrolled graph.
 *
 * An arg with a distance reads the value that its buffer had at the end of an earlier iteration.
 * Where that is the current version of the buffer, the arg is an ordinary one.  Where a new version
 * has begun since, the old one becomes a buffer of its own, NAME@N for version N: in a graph an op
 * reads the current version of a buffer.  The version that is given, and the last one, which may be
 * kept, stay with the name.  Where both are of a state, and the one is read when the other has
 * begun, the state has two slots, as in a loop that stays one (model/graph.h).  One walk over the
 * ops finds the versions, and whether a value is still there; a second one puts the new buffers in
 * their place.  Cost: O(ops + args + marks and their carries). */
#include <stdio.h>

#include "front/builder/carried.h"

enum { ALL_APART = 2 };

/* The value at the end of an iteration, or on entry; version FS_NONE: nothing was written yet. */
typedef struct carried_value {
  uint32_t version, writes;
} carried_value;

typedef FS_VEC(carried_value) carried_values;

typedef struct carrier {
  fsched_builder *b;
  const uint32_t *carry0; /* per loop */
  uint8_t *carried;       /* per buffer: its versions are followed; ALL_APART: see below */
  uint32_t *current;      /* per buffer: its version, or FS_NONE */
  uint32_t *arg_version;  /* per arg, or FS_NONE */
  FS_VEC(fs_carried_version) version;
  carried_values *values; /* per carry, of this run of the loop */
  uint64_t *slot;         /* per buffer with two slots: the bytes of one; else 0 */
  size_t mark, past;      /* the next ones */
} carrier;

static fs_status begin_version(carrier *c, uint32_t buffer, uint32_t op) {
  uint32_t before = c->current[buffer];
  fs_carried_version v = {.buffer = buffer,
                          .number = before == FS_NONE ? 0 : c->version.at[before].number + 1,
                          .last_read = FS_NONE,
                          .last_arg = FS_NONE,
                          .begun = op,
                          .renamed = FS_NONE};
  c->current[buffer] = (uint32_t)c->version.n;
  return fs_vec_push(c->b->ctx, &c->version, v);
}

static fs_status follow(carrier *c, uint32_t buffer) {
  bool given = fs_io_given(c->b->buffer_io.at[buffer]);
  if (c->carried[buffer]) {
    return FSCHED_OK;
  }
  c->carried[buffer] = 1;
  return given ? begin_version(c, buffer, FS_NONE) : FSCHED_OK;
}

static fs_status start(carrier *c, fs_arena *scratch) {
  fsched_builder *b = c->b;
  FS_TRY(fs_new_zero(scratch, &c->carried, b->buffer_size.n));
  FS_TRY(fs_new_none(scratch, &c->current, b->buffer_size.n));
  FS_TRY(fs_new_none(scratch, &c->arg_version, b->arg.n));
  FS_TRY(fs_new_zero(scratch, &c->values, b->carry.n));
  FS_TRY(fs_new_zero(scratch, &c->slot, b->buffer_size.n));
  for (size_t i = 0; i < b->carry.n; i++) {
    FS_TRY(follow(c, b->carry.at[i].buffer));
  }
  for (size_t r = 0; r < b->ring.n; r++) {
    if (b->ring.at[r].depth > 0) {
      FS_TRY(follow(c, b->ring.at[r].buffer));
    }
  }
  return FSCHED_OK;
}

/* Notes the values of the iterations that end before `op`, and those on entry to loops. */
static fs_status pass_marks(carrier *c, uint32_t op) {
  const fsched_builder *b = c->b;
  for (; c->mark < b->mark.n && b->mark.at[c->mark].op <= op; c->mark++) {
    const fs_mark *m = &b->mark.at[c->mark];
    for (uint32_t i = c->carry0[m->loop]; i < c->carry0[m->loop + 1]; i++) {
      if (m->begin) {
        c->values[i].n = 0;
      }
      carried_value v = {.version = c->current[b->carry.at[i].buffer]};
      v.writes = v.version == FS_NONE ? 0 : c->version.at[v.version].writes;
      FS_TRY(fs_vec_push(b->ctx, &c->values[i], v));
    }
  }
  return FSCHED_OK;
}

/* Whether the iteration at hand is one of the loop itself, of which a sample may have more. */
static bool is_shown(const carrier *c, const fs_past_arg *past) {
  size_t iteration = c->values[past->carry].n - 1;
  return !c->b->sample || iteration < c->b->loop.at[c->b->carry.at[past->carry].loop].shown;
}

/* Finds the version that an arg with a distance reads.  What reads one that is overwritten in
 * iterations that there are not reads that as it is. */
static void look_up_past(carrier *c, uint32_t op, uint32_t arg) {
  fsched_builder *b = c->b;
  const fs_past_arg *past = &b->past.at[c->past++];
  const carried_values *values = &c->values[past->carry];
  assert(past->back < values->n);
  carried_value v = values->at[values->n - 1 - past->back];
  const char *name = b->buffers.text.at[b->arg.at[arg].buffer];
  c->arg_version[arg] = v.version;
  if (v.version == FS_NONE) {
    if (!b->incomplete) { /* a missing op may have produced it */
      (void)fs_builder_fail(b, FS_DIAG_NOT_PRODUCED, fs_pos_at(&b->arg_at, arg),
                            "write it before the loop, or give it 'io: input'",
                            "op '%.80s' reads the value that '%.80s' had on entry to the loop, and "
                            "it had none",
                            b->ops.text.at[op], name);
    }
    b->bad = true;
    return;
  }
  fs_carried_version *x = &c->version.at[v.version];
  if (x->writes != v.writes && is_shown(c, past)) {
    (void)fs_builder_fail(b, FS_DIAG_VALUE_LOST, fs_pos_at(&b->arg_at, arg),
                          "read it before it is written in place, or write it by an 'out'",
                          "op '%.80s' reads the value that '%.80s' had at the end of an earlier "
                          "iteration, and it is overwritten by then",
                          b->ops.text.at[op], name);
  }
  if (v.version != c->current[x->buffer]) {
    x->last_read = op;
    x->last_arg = arg;
  }
}

/* Whether the arg is on a buffer whose versions are followed. */
static bool is_followed(const carrier *c, uint32_t arg) {
  const fs_arg_draft *a = &c->b->arg.at[arg];
  return fs_tag_names_buffer(a->tag) && c->carried[a->buffer];
}

/* Finds the versions of an op's args: first of those that it reads or writes in place, then of
 * those that it begins. */
static fs_status walk_op(carrier *c, uint32_t op, uint32_t end) {
  fsched_builder *b = c->b;
  FS_TRY(pass_marks(c, op));
  for (uint32_t arg = b->op.at[op].arg0; arg < end; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (c->past < b->past.n && b->past.at[c->past].arg == arg) {
      look_up_past(c, op, arg);
    } else if (is_followed(c, arg) && !fs_tag_begins(a->tag)) {
      if (fs_tag_writes_in_place(a->tag) && c->current[a->buffer] == FS_NONE) {
        FS_TRY(begin_version(c, a->buffer, op));
      }
      c->arg_version[arg] = c->current[a->buffer];
    }
  }
  for (uint32_t arg = b->op.at[op].arg0; arg < end; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (is_followed(c, arg) && fs_tag_writes_in_place(a->tag)) {
      c->version.at[c->arg_version[arg]].writes++;
    }
  }
  for (uint32_t arg = b->op.at[op].arg0; arg < end; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (is_followed(c, arg) && fs_tag_begins(a->tag)) {
      FS_TRY(begin_version(c, a->buffer, op));
      c->arg_version[arg] = c->current[a->buffer];
    }
  }
  return FSCHED_OK;
}

/* Gives a version a buffer of its own. */
static fs_status rename_version(carrier *c, fs_carried_version *v) {
  fsched_builder *b = c->b;
  uint32_t from = v->buffer;
  char number[24];
  size_t n = (size_t)snprintf(number, sizeof number, "@%u", v->number);
  size_t length = strlen(b->buffers.text.at[from]);
  char *name = fs_arena_alloc(&b->arena, length + n + 1);
  if (name == NULL) {
    return FSCHED_SYSTEM;
  }
  memcpy(name, b->buffers.text.at[from], length);
  memcpy(name + length, number, n + 1);
  if (fs_names_find(&b->buffers, name, length + n) != FS_NONE) {
    return fs_builder_fail(b, FS_DIAG_REPEATED_NAME, fs_pos_at(&b->buffer_at, from), NULL,
                           "unrolled, version %u of '%.80s' is a buffer '%.80s', of which there is "
                           "another one",
                           v->number, b->buffers.text.at[from], name);
  }
  fsched_buffer_desc d = {.size = sizeof d, .name = name, .bytes = b->buffer_size.at[from]};
  b->pos = fs_pos_at(&b->buffer_at, from);
  return fs_builder_add_buffer(b, &d, b->buffer_memory.at[from], &v->renamed);
}

/* Whether a version is the last one of its buffer. */
static bool is_last(const carrier *c, uint32_t version) {
  return c->current[c->version.at[version].buffer] == version;
}

/* Decides which versions become buffers of their own: those that are read when they are old; but
 * where that is the given one, which keeps the name, all others do, but for the last of a buffer
 * that is kept. */
static fs_status rename_versions(carrier *c) {
  fsched_builder *b = c->b;
  for (uint32_t v = 0; v < c->version.n; v++) {
    fs_carried_version *x = &c->version.at[v];
    if (x->begun == FS_NONE) { /* the first of its buffer */
      c->carried[x->buffer] = x->last_read == FS_NONE ? 1 : ALL_APART;
      continue;
    }
    bool apart = x->last_read != FS_NONE || c->carried[x->buffer] == ALL_APART;
    bool kept = !b->sample && fs_io_carried(b->buffer_io.at[x->buffer]) && is_last(c, v);
    if (apart && !kept) {
      FS_TRY(rename_version(c, x));
    }
  }
  return FSCHED_OK;
}

/* The first arg of an op on a buffer, that begins it or that does not; FS_NONE: there is none. */
static uint32_t find_arg(const fsched_builder *b, uint32_t op, uint32_t end, uint32_t buffer,
                         bool begins) {
  for (uint32_t arg = b->op.at[op].arg0; arg < end; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    if (fs_tag_names_buffer(a->tag) && a->buffer == buffer && fs_tag_begins(a->tag) == begins) {
      return arg;
    }
  }
  return FS_NONE;
}

/* The buffer that an arg is on by now. */
static uint32_t buffer_now(const carrier *c, uint32_t arg, uint32_t buffer) {
  uint32_t v = arg == FS_NONE ? FS_NONE : c->arg_version[arg];
  uint32_t renamed = v == FS_NONE ? FS_NONE : c->version.at[v].renamed;
  return renamed == FS_NONE ? buffer : renamed;
}

/* Pairs of versions in slots are not used: they have places of their own. */
static void put_pairs(carrier *c) {
  fsched_builder *b = c->b;
  size_t n = 0;
  for (size_t i = 0; i < b->inplaces.item.n; i++) {
    fs_item_draft x = b->inplaces.item.at[i];
    uint32_t end = fs_builder_args_end(b, x.op);
    uint32_t out = find_arg(b, x.op, end, x.a, true);
    uint32_t in = find_arg(b, x.op, end, x.b, false);
    x.a = buffer_now(c, out, x.a);
    x.b = buffer_now(c, in, x.b);
    bool slots =
        (x.a < c->b->n_named && c->slot[x.a] > 0) || (x.b < c->b->n_named && c->slot[x.b] > 0);
    if (!slots) {
      if (i < b->inplaces.at.n) {
        b->inplaces.at.at[n] = b->inplaces.at.at[i];
      }
      b->inplaces.item.at[n++] = x;
    }
  }
  b->inplaces.item.n = n;
  b->inplaces.at.n = fs_min(b->inplaces.at.n, n);
}

/* The given content lies in the second slot, the last version in the first one. */
static void put_in_slot(const carrier *c, uint32_t arg) {
  fs_arg_draft *a = &c->b->arg.at[arg];
  bool given = c->version.at[c->arg_version[arg]].begun == FS_NONE;
  a->offset += given ? c->slot[a->buffer] : 0;
  a->has_at = true;
  if (fs_tag_begins(a->tag)) {
    a->begins = true;
    a->tag = FSCHED_OUT_EXISTING;
  }
}

static void put_buffers(carrier *c) {
  fsched_builder *b = c->b;
  put_pairs(c);
  for (uint32_t arg = 0; arg < b->arg.n; arg++) {
    fs_arg_draft *a = &b->arg.at[arg];
    if (fs_tag_names_buffer(a->tag)) {
      uint32_t buffer = a->buffer;
      a->buffer = buffer_now(c, arg, buffer);
      if (a->buffer == buffer && c->slot[buffer] > 0) {
        put_in_slot(c, arg);
      }
    }
  }
}

/* Gives two slots to a state whose given content is read when its last version, which takes its
 * place, has begun.  In the loops of a sample it has slots. */
static void find_slots(carrier *c) {
  fsched_builder *b = c->b;
  for (uint32_t v = 0; v < c->version.n && !b->sample; v++) {
    const fs_carried_version *x = &c->version.at[v];
    uint32_t last = c->current[x->buffer];
    if (x->begun == FS_NONE && x->last_read != FS_NONE &&
        fs_io_carried(b->buffer_io.at[x->buffer]) && c->version.at[last].begun < x->last_read) {
      uint32_t memory = b->buffer_memory.at[x->buffer];
      memory = memory == FS_NONE ? fs_builder_default_memory(b) : memory;
      uint64_t align = memory == FS_NONE ? 1 : fs_max(b->memory.at[memory].m.align, 1);
      c->slot[x->buffer] = fs_align_up(fs_max(b->buffer_size.at[x->buffer], 1), align);
      if (c->slot[x->buffer] > FSCHED_MAX_SIZE / 2) {
        (void)fs_builder_fail(
            b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->arg_at, x->last_arg), NULL,
            "the given content of state '%.80s' is read when the last version has "
            "begun, and both have more than 2^48 bytes",
            b->buffers.text.at[x->buffer]);
      }
    }
  }
}

/* Makes buffers as large as their slots, and tells what of them is given and kept. */
static fs_status enlarge_buffers(carrier *c) {
  fsched_builder *b = c->b;
  for (uint32_t i = 0; i < b->n_named; i++) {
    uint64_t size = b->buffer_size.at[i];
    if (c->slot[i] == 0) {
      continue;
    }
    for (size_t k = b->buffer_slot.n; k < b->n_named; k++) {
      FS_TRY(fs_vec_push(b->ctx, &b->buffer_slot, (fs_buffer_slot){.size = b->buffer_size.at[k]}));
    }
    b->buffer_slot.at[i] = (fs_buffer_slot){.size = size, .given = c->slot[i], .kept = 0};
    b->buffer_size.at[i] = 2 * c->slot[i];
  }
  return FSCHED_OK;
}

static fs_status walk(carrier *c, fs_arena *scratch) {
  fsched_builder *b = c->b;
  FS_TRY(start(c, scratch));
  for (uint32_t op = 0; op < b->op.n; op++) {
    FS_TRY(walk_op(c, op, fs_builder_args_end(b, op)));
  }
  find_slots(c);
  FS_TRY(fs_builder_ring_orders(b, c->version.at, (uint32_t)c->version.n, c->arg_version));
  FS_TRY(rename_versions(c));
  put_buffers(c);
  return enlarge_buffers(c);
}

static bool any_followed(const fsched_builder *b) {
  bool any = b->past.n > 0;
  for (size_t r = 0; r < b->ring.n && !any; r++) {
    any = b->ring.at[r].depth > 0;
  }
  return any;
}

fs_status fs_builder_carry(fsched_builder *b, const uint32_t *carry0) {
  assert(b->unrolled);
  if (!any_followed(b)) {
    return FSCHED_OK;
  }
  carrier c = {.b = b, .carry0 = carry0};
  FS_SCRATCH(scratch, b->ctx);
  fs_status status = walk(&c, &scratch);
  for (size_t i = 0; c.values != NULL && i < b->carry.n; i++) {
    fs_vec_free(b->ctx, &c.values[i]);
  }
  fs_vec_free(b->ctx, &c.version);
  return status;
}
