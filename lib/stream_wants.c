/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks with the same means: per buffer (tags) or per memory, resource and so on (places) a set
 * of last writes and a set of the reads since, by range.  An access looks up what it overlaps; then
 * a write cuts its range out of both sets and takes its place.
 *
 * With hazards: raw, writes of one version may be unordered, so by places none takes the place of
 * another of the same version: whoever gets the bytes next comes after all of them.
 *
 * What two ops do to the same version is left to the tags, which know `at` and program order. */
#include "stream_wants.h"

#include <stdlib.h>

#include "fsched/graph.h"
#include "ranges.h"

typedef struct access {
  uint64_t low, high;
  uint32_t item, version;
  bool write;
} access;

typedef struct sets {
  uint32_t written, read;
} sets;

typedef struct finder {
  fsched_context *ctx;
  const fs_stream *s;
  const fs_stream_order *order;
  fs_wants *out;
  bool raw;
  fs_ranges ranges;
  FS_VEC(access) access; /* what the ranges are of */
  fs_ids found;
  sets *buffer;         /* per buffer: of its current version */
  uint32_t *current;    /* per buffer: that version */
  uint32_t *op_item;    /* per op: where it runs */
  uint32_t *of_op0;     /* CSR per op: its orderings by tags */
  sets *space[4];       /* fs_space: per index */
  FS_VEC(fs_want) tag;  /* by op */
  FS_VEC(fs_want) want; /* by item, in the order of the walk */
} finder;

/* Orderings of one item, without repeats */

static bool same_reason(const fs_want *a, const fs_want *b) {
  return a->from == b->from && a->why == b->why && a->version == b->version && a->old == b->old &&
         a->index == b->index && a->space == b->space;
}

static int compare_wants(const fs_want *a, const fs_want *b) {
  const uint64_t x[] = {a->why, a->space, a->index, a->version, a->old, a->low, a->high};
  const uint64_t y[] = {b->why, b->space, b->index, b->version, b->old, b->low, b->high};
  for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
    if (x[i] != y[i]) {
      return x[i] < y[i] ? -1 : 1;
    }
  }
  return 0;
}

/* An ordering on its way through qsort, which knows nothing of positions. */
typedef struct sorted {
  uint32_t position;
  fs_want want;
} sorted;

static int compare_sorted(const void *a, const void *b) {
  const sorted *x = a, *y = b;
  if (x->position != y->position) {
    return x->position > y->position ? -1 : 1;
  }
  return compare_wants(&x->want, &y->want);
}

/* Sorts the orderings from `first` on and joins those that differ in their ranges alone. */
static fs_status finish_item(finder *f, fs_arena *scratch, size_t first) {
  size_t n = f->want.n - first;
  if (n == 0) {
    return FSCHED_OK;
  }
  fs_arena_mark mark = fs_arena_set_mark(scratch);
  sorted *at;
  FS_TRY(fs_new(scratch, &at, n));
  for (size_t i = 0; i < n; i++) {
    fs_want w = f->want.at[first + i];
    at[i] = (sorted){f->out->position[w.from], w};
  }
  qsort(at, n, sizeof *at, compare_sorted);
  f->want.n = first;
  for (size_t i = 0; i < n; i++) {
    fs_want *last = f->want.n > first ? &f->want.at[f->want.n - 1] : NULL;
    if (last != NULL && same_reason(last, &at[i].want)) {
      last->low = fs_min(last->low, at[i].want.low);
      last->high = fs_max(last->high, at[i].want.high);
    } else {
      f->want.at[f->want.n++] = at[i].want;
    }
  }
  fs_arena_reset(scratch, mark);
  return FSCHED_OK;
}

/* Sets */

static fs_status look_up(finder *f, uint32_t set, uint64_t low, uint64_t high) {
  uint64_t covered;
  f->found.n = 0;
  return fs_ranges_find(&f->ranges, set, low, high, &f->found, &covered);
}

static bool has_version(const finder *f, uint32_t version) {
  for (size_t i = 0; i < f->found.n; i++) {
    if (f->access.at[f->found.at[i]].version == version) {
      return true;
    }
  }
  return false;
}

/* keep: writes of the same version stay beside it. */
static fs_status note(finder *f, sets *s, const access *a, bool keep) {
  uint32_t id = (uint32_t)f->access.n;
  FS_TRY(fs_vec_push(f->ctx, &f->access, *a));
  if (!a->write) {
    return fs_ranges_add(&f->ranges, &s->read, a->low, a->high, id);
  }
  bool beside = false;
  if (keep && a->version != FS_NONE) {
    FS_TRY(look_up(f, s->written, a->low, a->high));
    beside = has_version(f, a->version);
  }
  if (!beside) {
    FS_TRY(fs_ranges_cut(&f->ranges, &s->read, a->low, a->high));
    FS_TRY(fs_ranges_cut(&f->ranges, &s->written, a->low, a->high));
  }
  return fs_ranges_add(&f->ranges, &s->written, a->low, a->high, id);
}

/* Tags */

/* A buffer without bytes carries dependencies as if it had one. */
static access of_arg(const finder *f, uint32_t op, const fs_stream_arg *a) {
  return (access){.low = a->offset,
                  .high = a->offset + fs_max(a->length, 1),
                  .item = f->op_item[op],
                  .version = a->version,
                  .write = a->tag != FSCHED_IN};
}

static fs_status want_found(finder *f, uint32_t op, uint32_t version, fs_want_why why) {
  for (size_t i = 0; i < f->found.n; i++) {
    uint32_t from = f->access.at[f->found.at[i]].item;
    if (from != f->op_item[op] && from != FS_NONE) {
      fs_want w = {.from = from, .version = version, .old = FS_NONE, .index = FS_NONE, .why = why};
      FS_TRY(fs_vec_push(f->ctx, &f->tag, w));
    }
  }
  return FSCHED_OK;
}

static fs_status look_up_arg(finder *f, uint32_t op, const fs_stream_arg *a) {
  bool reads = a->tag == FSCHED_IN || a->tag == FSCHED_INOUT;
  bool overwrites = (a->tag == FSCHED_INOUT || a->tag == FSCHED_OUT_EXISTING) && !f->raw;
  access x = of_arg(f, op, a);
  const sets *s = &f->buffer[a->buffer];
  if (reads || overwrites) {
    FS_TRY(look_up(f, s->written, x.low, x.high));
    FS_TRY(want_found(f, op, a->version, reads ? FS_WANT_DATA : FS_WANT_REWRITE));
  }
  if (overwrites) {
    FS_TRY(look_up(f, s->read, x.low, x.high));
    FS_TRY(want_found(f, op, a->version, FS_WANT_OVERWRITE));
  }
  return FSCHED_OK;
}

static bool is_access(const fs_stream_arg *a) {
  return a->tag != FSCHED_VALUE && a->tag != FSCHED_NO_DEP;
}

static void begin_version(finder *f, const fs_stream_arg *a) {
  sets *s = &f->buffer[a->buffer];
  f->current[a->buffer] = a->version;
  fs_ranges_clear(&f->ranges, &s->written);
  fs_ranges_clear(&f->ranges, &s->read);
}

static fs_status walk_op(finder *f, uint32_t op) {
  const fs_stream_op *o = &f->s->ops[op];
  const fs_stream_arg *arg = f->s->args + o->arg0;
  for (uint32_t i = 0; i < o->n_afters; i++) {
    uint32_t from = f->op_item[f->s->afters[o->after0 + i]];
    fs_want w = {from, FS_NONE, FS_NONE, FS_NONE, 0, 0, FS_WANT_AFTER, 0};
    if (from != FS_NONE && from != f->op_item[op]) {
      FS_TRY(fs_vec_push(f->ctx, &f->tag, w));
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (is_access(&arg[i])) {
      FS_TRY(look_up_arg(f, op, &arg[i]));
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    bool first = arg[i].tag == FSCHED_OUT_EXISTING && f->current[arg[i].buffer] == FS_NONE;
    if (arg[i].tag == FSCHED_OUT || first) {
      begin_version(f, &arg[i]);
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (is_access(&arg[i]) && f->current[arg[i].buffer] == arg[i].version) {
      access x = of_arg(f, op, &arg[i]);
      FS_TRY(note(f, &f->buffer[arg[i].buffer], &x, false));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_ops(finder *f, fs_arena *scratch) {
  const fs_stream *s = f->s;
  FS_TRY(fs_new_none(scratch, &f->buffer, s->n_buffers));
  FS_TRY(fs_new(scratch, &f->current, s->n_buffers));
  FS_TRY(fs_new(scratch, &f->of_op0, (size_t)s->n_ops + 1));
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    uint32_t io = s->buffers[b].io;
    bool given = io == FSCHED_IO_INPUT || io == FSCHED_IO_CONSTANT || io == FSCHED_IO_STATE;
    f->current[b] = given && s->buffers[b].n_versions > 0 ? s->buffers[b].version0 : FS_NONE;
  }
  for (uint32_t op = 0; op < s->n_ops; op++) {
    f->of_op0[op] = (uint32_t)f->tag.n;
    FS_TRY(walk_op(f, op));
  }
  f->of_op0[s->n_ops] = (uint32_t)f->tag.n;
  return FSCHED_OK;
}

/* Places */

static bool is_run(const finder *f, uint32_t item) {
  return f->s->commands[item].kind == FS_COMMAND_RUN;
}

/* What a place's later user wants of an earlier one; false: nothing, or the tags say it. */
static bool make_want(const finder *f, uint32_t item, const fs_stream_place *p, const access *old,
                      fs_want *w) {
  bool same = p->version != FS_NONE && p->version == old->version;
  if (old->item == item || (same && p->space != FS_SPACE_MEMORY) ||
      (same && is_run(f, item) && is_run(f, old->item))) {
    return false;
  }
  *w = (fs_want){.from = old->item,
                 .version = p->version,
                 .old = old->version,
                 .index = p->index,
                 .low = fs_max(p->address, old->low),
                 .high = fs_min(p->address + p->size, old->high),
                 .why = FS_WANT_REUSE,
                 .space = p->space};
  if (p->space >= FS_SPACE_RESOURCE) {
    w->why = p->space == FS_SPACE_RESOURCE ? FS_WANT_RESOURCE : FS_WANT_CONCURRENCY;
  } else if (same) {
    w->why = !old->write ? FS_WANT_OVERWRITE
                         : ((p->mode & FS_MODE_R) != 0 ? FS_WANT_DATA : FS_WANT_REWRITE);
    w->low = w->high = 0;
  }
  return true;
}

static fs_status want_of_place(finder *f, uint32_t item, const fs_stream_place *p, uint32_t set) {
  FS_TRY(look_up(f, set, p->address, p->address + p->size));
  for (size_t i = 0; i < f->found.n; i++) {
    fs_want w;
    if (make_want(f, item, p, &f->access.at[f->found.at[i]], &w)) {
      FS_TRY(fs_vec_push(f->ctx, &f->want, w));
    }
  }
  return FSCHED_OK;
}

static bool counts(const finder *f, const fs_stream_place *p) {
  bool named = p->space == FS_SPACE_MEMORY && p->version != FS_NONE && p->arg != FS_NONE;
  return p->size > 0 && p->address <= UINT64_MAX - p->size &&
         !(named && f->s->args[p->arg].tag == FSCHED_NO_DEP);
}

static fs_status walk_places(finder *f, uint32_t item) {
  const fs_stream_command *c = &f->s->commands[item];
  const fs_stream_place *place = f->s->places + c->place0;
  for (uint32_t i = 0; i < c->n_places; i++) {
    if (counts(f, &place[i])) {
      const sets *s = &f->space[place[i].space][place[i].index];
      FS_TRY(want_of_place(f, item, &place[i], s->written));
      if ((place[i].mode & FS_MODE_W) != 0) {
        FS_TRY(want_of_place(f, item, &place[i], s->read));
      }
    }
  }
  for (uint32_t i = 0; i < c->n_places; i++) {
    if (counts(f, &place[i])) {
      access a = {.low = place[i].address,
                  .high = place[i].address + place[i].size,
                  .item = item,
                  .version = place[i].version,
                  .write = (place[i].mode & FS_MODE_W) != 0};
      FS_TRY(note(f, &f->space[place[i].space][place[i].index], &a, f->raw));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_item(finder *f, fs_arena *scratch, uint32_t item) {
  const fs_stream_command *c = &f->s->commands[item];
  size_t first = f->want.n;
  if (c->kind == FS_COMMAND_RUN) {
    uint32_t from = f->of_op0[c->target], n = f->of_op0[c->target + 1] - from;
    FS_TRY(fs_vec_reserve(f->ctx, &f->want, first + n));
    for (uint32_t i = 0; i < n; i++) {
      f->want.at[f->want.n++] = f->tag.at[from + i];
    }
  }
  FS_TRY(walk_places(f, item));
  FS_TRY(finish_item(f, scratch, first));
  f->out->want0[item] = (uint32_t)first;
  f->out->n_wants[item] = (uint32_t)(f->want.n - first);
  return FSCHED_OK;
}

static fs_status walk_commands(finder *f, fs_arena *scratch) {
  const fs_stream *s = f->s;
  const uint32_t n[] = {s->n_memories, s->n_memories, s->n_resources, 1};
  for (uint32_t i = 0; i < 4; i++) {
    FS_TRY(fs_new_none(scratch, &f->space[i], n[i]));
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t c = f->order->order[i];
    if (f->out->item[c] == c) {
      FS_TRY(walk_item(f, scratch, c));
    }
  }
  return FSCHED_OK;
}

/* Items */

/* Members of a gang follow each other in the order. */
static fs_status make_items(fs_arena *arena, finder *f, fs_arena *scratch) {
  const fs_stream *s = f->s;
  fs_wants *out = f->out;
  FS_TRY(fs_new(arena, &out->position, s->n_commands));
  FS_TRY(fs_new(arena, &out->item, s->n_commands));
  FS_TRY(fs_new_zero(arena, &out->n_members, s->n_commands));
  FS_TRY(fs_new_zero(arena, &out->want0, s->n_commands));
  FS_TRY(fs_new_zero(arena, &out->n_wants, s->n_commands));
  FS_TRY(fs_new_none(scratch, &f->op_item, s->n_ops));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t c = f->order->order[i], before = i == 0 ? FS_NONE : f->order->order[i - 1];
    const fs_stream_command *k = &s->commands[c];
    bool together = before != FS_NONE && k->gang_axis != FS_NONE &&
                    s->commands[before].gang_axis == k->gang_axis &&
                    s->commands[before].gang_epoch == k->gang_epoch;
    out->position[c] = i;
    out->item[c] = together ? out->item[before] : c;
    out->n_members[out->item[c]]++;
    if (k->kind == FS_COMMAND_RUN) {
      f->op_item[k->target] = out->item[c];
    }
  }
  return FSCHED_OK;
}

static fs_status find(finder *f, fs_arena *arena, fs_arena *scratch) {
  FS_TRY(make_items(arena, f, scratch));
  FS_TRY(walk_ops(f, scratch));
  FS_TRY(walk_commands(f, scratch));
  FS_TRY(fs_new(arena, &f->out->want, f->want.n));
  if (f->want.n > 0) {
    memcpy(f->out->want, f->want.at, f->want.n * sizeof *f->want.at);
  }
  return FSCHED_OK;
}

fs_status fs_stream_wants_find(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                               fs_wants *out) {
  *out = (fs_wants){0};
  finder f = {.ctx = arena->ctx,
              .s = s,
              .order = order,
              .out = out,
              .raw = s->meta->hazards == FSCHED_HAZARDS_RAW};
  fs_arena scratch;
  fs_arena_init(&scratch, arena->ctx);
  fs_ranges_init(&f.ranges, arena->ctx);
  fs_status status = find(&f, arena, &scratch);
  fs_ranges_release(&f.ranges);
  fs_vec_free(f.ctx, &f.access);
  fs_vec_free(f.ctx, &f.found);
  fs_vec_free(f.ctx, &f.tag);
  fs_vec_free(f.ctx, &f.want);
  fs_arena_release(&scratch);
  return status;
}
