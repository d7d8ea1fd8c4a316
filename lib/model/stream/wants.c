/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks of the same form keep, per buffer (tags) or per memory, resource and so on (places), a
 * set of last writes and a set of the reads since, by range.  An access looks up what it overlaps;
 * then a write cuts its range out of both sets and takes its place.
 *
 * With hazards: raw, writes of one version may be unordered, so by places no write replaces another
 * of the same version, and the next owner of the bytes comes after all of them.  The same applies
 * to parts of content that is given or kept in its place, as that content holds all of its bytes.
 * The first such write takes what was there before out of the sets; the others come after that,
 * too, so it is kept with the version. Such ops need no order among each other, so ops with the
 * same bytes of a version share one entry of the set: the others hang on the first, as long as
 * nothing is cut out of it.
 *
 * Orderings between two ops on the same version are left to the tags, which know `at` and program
 * order. */
#include "model/stream/wants.h"

#include <stdlib.h>

#include "base/ranges.h"
#include "fsched/graph.h"
#include "model/stream/views.h"

typedef struct access {
  uint64_t low, high;
  uint32_t item, version;
  uint32_t next; /* the next op's access that differs from this only in the item; FS_NONE at the
                  * end */
  bool write;
} access;

typedef struct sets {
  uint32_t written, read;
} sets;

/* What a version took out of sets: an access, in this range. */
typedef struct displaced {
  const sets *from;
  uint64_t low, high;
  uint32_t access;
  uint32_t next; /* the version's next one; FS_NONE at the end */
} displaced;

typedef struct want_finder {
  fsched_context *ctx;
  const fs_stream *s;
  const fs_stream_order *order;
  fs_wants *out;
  bool raw;
  fs_ranges ranges;
  FS_VEC(access) access; /* the accesses that own the ranges of units and of places */
  fs_ids found;
  sets *buffer;         /* per buffer: of its current version */
  sets *units;          /* the same of one byte more, which every access of it has; held_as_units */
  uint32_t *current;    /* per buffer: that version */
  uint32_t *op_item;    /* per op: where it runs */
  uint32_t *of_op0;     /* CSR per op: its orderings by tags */
  sets *space[4];       /* fs_space: per index */
  uint32_t *alike[2];   /* per version, of reads and of writes: on whose access the next hangs */
  uint32_t *displaced0; /* per version: the first of `displaced` */
  FS_VEC(displaced) displaced;
  FS_VEC(fs_want) tag;  /* by op */
  FS_VEC(fs_want) want; /* by item, in the order of the walk */
} want_finder;

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

/* An ordering with its position, for qsort, which has no access to positions. */
typedef struct sorted {
  uint32_t position;
  fs_want want;
} sorted;

/* A position stands for one item, so entries that compare equal are equal in every member. */
static int compare_sorted(const void *a, const void *b) {
  const sorted *x = a, *y = b;
  if (x->position != y->position) {
    return x->position > y->position ? -1 : 1;
  }
  return compare_wants(&x->want, &y->want);
}

/* Sorts the orderings from `first` on and joins those that differ only in their ranges. */
static fs_status finish_item(want_finder *f, fs_arena *scratch, size_t first) {
  assert(first <= f->want.n);
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

static fs_status look_up(want_finder *f, uint32_t set, uint64_t low, uint64_t high) {
  assert(low < high);
  uint64_t covered;
  f->found.n = 0;
  return fs_ranges_find(&f->ranges, set, low, high, &f->found, &covered);
}

static bool has_version(const want_finder *f, uint32_t version) {
  assert(version != FS_NONE);
  for (size_t i = 0; i < f->found.n; i++) {
    if (f->access.at[f->found.at[i]].version == version) {
      return true;
    }
  }
  return false;
}

/* Keeps what is found, for further writes of the version that takes its place. */
static fs_status keep_displaced(want_finder *f, const sets *from, const access *a) {
  for (size_t i = 0; i < f->found.n; i++) {
    const access *old = &f->access.at[f->found.at[i]];
    displaced d = {.from = from,
                   .low = fs_max(old->low, a->low),
                   .high = fs_min(old->high, a->high),
                   .access = f->found.at[i],
                   .next = f->displaced0[a->version]};
    f->displaced0[a->version] = (uint32_t)f->displaced.n;
    FS_TRY(fs_vec_push(f->ctx, &f->displaced, d));
  }
  return FSCHED_OK;
}

/* Cuts the range out of both sets: no access hangs on the entries that were there any more. others:
 * other writes of the version may come. */
static fs_status cut(want_finder *f, sets *s, const access *a, bool others) {
  assert(a->low < a->high);
  uint32_t *const set[] = {&s->read, &s->written};
  for (uint32_t k = 0; k < 2; k++) {
    FS_TRY(look_up(f, *set[k], a->low, a->high));
    for (size_t i = 0; i < f->found.n; i++) {
      const access *old = &f->access.at[f->found.at[i]];
      if (old->version != FS_NONE && f->alike[old->write][old->version] == f->found.at[i]) {
        f->alike[old->write][old->version] = FS_NONE;
      }
    }
    if (others) {
      FS_TRY(keep_displaced(f, s, a));
    }
    FS_TRY(fs_ranges_cut(&f->ranges, set[k], a->low, a->high));
  }
  return FSCHED_OK;
}

/* keep: other writes of the same version stay in the set. */
static fs_status note(want_finder *f, sets *s, const access *a, bool keep) {
  assert(a->low < a->high);
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
    FS_TRY(cut(f, s, a, keep && a->version != FS_NONE));
  }
  return fs_ranges_add(&f->ranges, &s->written, a->low, a->high, id);
}

/* Tags */

/* A buffer without bytes carries dependencies as if it had one. */
static access of_arg(const want_finder *f, uint32_t op, const fs_stream_arg *a) {
  assert(op < f->s->n_ops);
  return (access){.low = a->offset,
                  .high = a->offset + fs_max(a->length, 1),
                  .item = f->op_item[op],
                  .version = a->version,
                  .next = FS_NONE,
                  .write = !fs_tag_only_reads(a->tag)};
}

static fs_status want_found(want_finder *f, uint32_t op, uint32_t version, fs_want_why why) {
  for (size_t i = 0; i < f->found.n; i++) {
    uint32_t from = f->found.at[i];
    if (from != f->op_item[op] && from != FS_NONE) {
      fs_want w = {.from = from, .version = version, .old = FS_NONE, .index = FS_NONE, .why = why};
      FS_TRY(fs_vec_push(f->ctx, &f->tag, w));
    }
  }
  return FSCHED_OK;
}

/* Does a counted memory hold the version as a whole? */
static bool held_as_units(const want_finder *f, uint32_t buffer) {
  uint32_t memory = f->s->buffers[buffer].memory;
  return !f->raw && memory != FS_NONE &&
         !fs_placement_has_addresses(f->s->memories[memory].placement) &&
         f->s->memories[memory].capacity != FS_UNBOUNDED;
}

/* Adds the orderings by units that bytes do not imply already. */
static fs_status want_units(want_finder *f, const access *x, uint32_t set) {
  FS_TRY(look_up(f, set, 0, 1));
  for (size_t i = 0; i < f->found.n; i++) {
    const access *old = &f->access.at[f->found.at[i]];
    bool overlap = x->low < old->high && old->low < x->high;
    if (!overlap && old->item != x->item && old->item != FS_NONE) {
      fs_want w = {.from = old->item,
                   .version = x->version,
                   .old = FS_NONE,
                   .index = FS_NONE,
                   .why = FS_WANT_UNITS};
      FS_TRY(fs_vec_push(f->ctx, &f->tag, w));
    }
  }
  return FSCHED_OK;
}

static fs_status look_up_units(want_finder *f, uint32_t op, const fs_stream_arg *a) {
  if (fs_tag_begins(a->tag) || !held_as_units(f, a->buffer)) {
    return FSCHED_OK;
  }
  access x = of_arg(f, op, a);
  const sets *s = &f->units[a->buffer];
  FS_TRY(want_units(f, &x, s->written));
  return x.write ? want_units(f, &x, s->read) : FSCHED_OK;
}

static fs_status note_units(want_finder *f, uint32_t buffer, const access *x) {
  sets *s = &f->units[buffer];
  uint32_t id = (uint32_t)f->access.n;
  if (!held_as_units(f, buffer)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(f->ctx, &f->access, *x));
  if (!x->write) {
    return fs_ranges_add(&f->ranges, &s->read, 0, 1, id);
  }
  fs_ranges_clear(&f->ranges, &s->read);
  fs_ranges_clear(&f->ranges, &s->written);
  return fs_ranges_add(&f->ranges, &s->written, 0, 1, id);
}

/* Adds an access to a set by tags, in which only the item is stored. */
static fs_status note_arg(want_finder *f, sets *s, const access *a) {
  if (!a->write) {
    return fs_ranges_add(&f->ranges, &s->read, a->low, a->high, a->item);
  }
  FS_TRY(fs_ranges_cut(&f->ranges, &s->read, a->low, a->high));
  FS_TRY(fs_ranges_cut(&f->ranges, &s->written, a->low, a->high));
  return fs_ranges_add(&f->ranges, &s->written, a->low, a->high, a->item);
}

static fs_status note_runs(want_finder *f, uint32_t arg, const access *a) {
  sets *s = &f->buffer[f->s->args[arg].buffer];
  if (fs_stream_view_of(f->s, arg) == NULL) {
    return note_arg(f, s, a);
  }
  fs_view_runs runs = fs_stream_pieces(f->s, arg, 0);
  access run = *a;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    run.low = at.low;
    run.high = at.high;
    FS_TRY(note_arg(f, s, &run));
  }
  return FSCHED_OK;
}

static fs_status look_up_arg(want_finder *f, uint32_t op, const fs_stream_arg *a) {
  uint32_t arg = (uint32_t)(a - f->s->args);
  bool reads = fs_tag_reads(a->tag), writes = fs_tag_writes_in_place(a->tag);
  bool overwrites = writes && !f->raw, keeps = writes && fs_stream_coarse(f->s, arg);
  fs_view_runs runs = {0};
  const sets *s = &f->buffer[a->buffer];
  if (reads || overwrites || keeps) {
    runs = fs_stream_pieces(f->s, arg, 0);
  }
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    FS_TRY(look_up(f, s->written, at.low, at.high));
    FS_TRY(want_found(f, op, a->version, reads ? FS_WANT_DATA : FS_WANT_REWRITE));
    if (overwrites) {
      FS_TRY(look_up(f, s->read, at.low, at.high));
      FS_TRY(want_found(f, op, a->version, FS_WANT_OVERWRITE));
    }
  }
  return look_up_units(f, op, a);
}

static bool is_access(const fs_stream_arg *a) { return fs_tag_accesses(a->tag); }

static void begin_version(want_finder *f, const fs_stream_arg *a) {
  assert(a->buffer < f->s->n_buffers);
  sets *s = &f->buffer[a->buffer];
  f->current[a->buffer] = a->version;
  fs_ranges_clear(&f->ranges, &s->written);
  fs_ranges_clear(&f->ranges, &s->read);
  fs_ranges_clear(&f->ranges, &f->units[a->buffer].written);
  fs_ranges_clear(&f->ranges, &f->units[a->buffer].read);
}

static fs_status walk_op(want_finder *f, uint32_t op) {
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
    bool first = fs_tag_writes_over(arg[i].tag) && f->current[arg[i].buffer] == FS_NONE;
    if (fs_tag_begins(arg[i].tag) || first) {
      begin_version(f, &arg[i]);
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (is_access(&arg[i]) && f->current[arg[i].buffer] == arg[i].version) {
      access x = of_arg(f, op, &arg[i]);
      FS_TRY(note_runs(f, o->arg0 + i, &x));
      FS_TRY(note_units(f, arg[i].buffer, &x));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_ops(want_finder *f, fs_arena *scratch) {
  const fs_stream *s = f->s;
  FS_TRY(fs_new_none(scratch, &f->buffer, s->n_buffers));
  FS_TRY(fs_new_none(scratch, &f->units, s->n_buffers));
  FS_TRY(fs_new(scratch, &f->current, s->n_buffers));
  FS_TRY(fs_new(scratch, &f->of_op0, (size_t)s->n_ops + 1));
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    uint32_t io = s->buffers[b].io;
    bool given = fs_io_given(io);
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

static bool is_run(const want_finder *f, uint32_t item) {
  return fs_command_has_op(&f->s->commands[item]);
}

static bool same_version(const fs_stream_place *p, const access *old) {
  return p->version != FS_NONE && p->version == old->version;
}

/* Do the tags order this item and the earlier access, with all that hang on it? */
static bool tags_say(const want_finder *f, uint32_t item, const fs_stream_place *p,
                     const access *old) {
  return same_version(p, old) &&
         (!fs_space_has_bytes(p->space) || (is_run(f, item) && is_run(f, old->item)));
}

/* Makes the ordering of a place's later user after an earlier one; false if none is needed, or the
 * tags give it. */
static bool make_want(const want_finder *f, uint32_t item, const fs_stream_place *p,
                      const access *old, fs_want *w) {
  bool same = same_version(p, old);
  if (old->item == item || tags_say(f, item, p, old)) {
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
  if (!fs_space_in_memory(p->space)) {
    w->why = fs_space_of_resource(p->space) ? FS_WANT_RESOURCE : FS_WANT_CONCURRENCY;
  } else if (same) {
    w->why = !old->write ? FS_WANT_OVERWRITE
                         : ((p->mode & FS_MODE_R) != 0 ? FS_WANT_DATA : FS_WANT_REWRITE);
    w->low = w->high = 0;
  }
  return true;
}

/* Adds the orderings of a place's later user after an access and all that hang on it. */
static fs_status want_after(want_finder *f, uint32_t item, const fs_stream_place *p, uint32_t old) {
  for (; old != FS_NONE; old = f->access.at[old].next) {
    fs_want w;
    if (make_want(f, item, p, &f->access.at[old], &w)) {
      FS_TRY(fs_vec_push(f->ctx, &f->want, w));
    }
  }
  return FSCHED_OK;
}

static fs_status want_of_place(want_finder *f, uint32_t item, const fs_stream_place *p,
                               uint32_t set) {
  assert(p->size > 0);
  FS_TRY(look_up(f, set, p->address, p->address + p->size));
  for (size_t i = 0; i < f->found.n; i++) {
    uint32_t old = f->found.at[i];
    if (tags_say(f, item, p, &f->access.at[old])) {
      continue;
    }
    FS_TRY(want_after(f, item, p, old));
  }
  return FSCHED_OK;
}

/* A write beside others of its version comes after what the first of them displaced. */
static fs_status want_displaced(want_finder *f, uint32_t item, const fs_stream_place *p) {
  if (!fs_space_has_bytes(p->space) || p->version == FS_NONE || (p->mode & FS_MODE_W) == 0) {
    return FSCHED_OK;
  }
  for (uint32_t i = f->displaced0[p->version]; i != FS_NONE; i = f->displaced.at[i].next) {
    const displaced *d = &f->displaced.at[i];
    if (d->from == &f->space[p->space][p->index] && d->low < p->address + p->size &&
        p->address < d->high) {
      FS_TRY(want_after(f, item, p, d->access));
    }
  }
  return FSCHED_OK;
}

static bool counts(const want_finder *f, const fs_stream_place *p) {
  bool named = fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg != FS_NONE;
  return p->size > 0 && p->address <= UINT64_MAX - p->size &&
         !(named && !fs_tag_accesses(f->s->args[p->arg].tag));
}

/* Content that is given or kept at this place occupies all of it, whatever the command touches: *p
 * then becomes the whole place. */
static bool hold_all(const want_finder *f, fs_stream_place *p) {
  if (!fs_space_has_bytes(p->space) || p->version == FS_NONE || p->arg == FS_NONE) {
    return false;
  }
  const fs_stream_version *v = &f->s->versions[p->version];
  uint64_t base = p->address - f->s->args[p->arg].offset;
  uint64_t size = f->s->buffers[v->buffer].size;
  bool held = (p->index == v->given_memory && base == v->given_address) ||
              (p->index == v->kept_memory && base == v->kept_address);
  if (!held || p->size == size) {
    return false;
  }
  p->address = base;
  p->size = size;
  return true;
}

static fs_status want_of_sets(want_finder *f, uint32_t item, const fs_stream_place *place) {
  fs_stream_place p = *place;
  bool whole = hold_all(f, &p);
  const sets *s = &f->space[p.space][p.index];
  FS_TRY(want_of_place(f, item, &p, s->written));
  FS_TRY(want_displaced(f, item, &p));
  return whole || (p.mode & FS_MODE_W) != 0 ? want_of_place(f, item, &p, s->read) : FSCHED_OK;
}

/* Hangs an op's access on an equal one in the set; *hung is false when there is none. */
static fs_status hang(want_finder *f, const access *a, bool *hung) {
  uint32_t first = f->alike[a->write][a->version];
  access *old = first == FS_NONE ? NULL : &f->access.at[first];
  *hung = old != NULL && old->low == a->low && old->high == a->high;
  if (!*hung) {
    f->alike[a->write][a->version] = (uint32_t)f->access.n;
    return FSCHED_OK;
  }
  access more = *a;
  more.next = old->next;
  old->next = (uint32_t)f->access.n;
  return fs_vec_push(f->ctx, &f->access, more);
}

static fs_status note_place(want_finder *f, uint32_t item, const fs_stream_place *place) {
  fs_stream_place p = *place;
  bool keep = hold_all(f, &p) || f->raw;
  access a = {.low = p.address,
              .high = p.address + p.size,
              .item = item,
              .version = p.version,
              .next = FS_NONE,
              .write = (p.mode & FS_MODE_W) != 0};
  if (fs_space_has_bytes(p.space) && p.version != FS_NONE && is_run(f, item) &&
      (keep || !a.write)) {
    bool hung;
    FS_TRY(hang(f, &a, &hung));
    if (hung) {
      return FSCHED_OK;
    }
  }
  return note(f, &f->space[p.space][p.index], &a, keep);
}

static fs_status walk_place(want_finder *f, uint32_t item, const fs_stream_place *place,
                            bool note) {
  fs_stream_place p = *place;
  bool named = fs_space_has_bytes(p.space) && p.version != FS_NONE && is_run(f, item);
  if (!counts(f, place)) {
    return FSCHED_OK;
  }
  if (!named || fs_stream_view_of(f->s, p.arg) == NULL || hold_all(f, &p)) {
    return note ? note_place(f, item, place) : want_of_sets(f, item, place);
  }
  fs_view_runs runs = fs_stream_pieces(f->s, p.arg, p.address - f->s->args[p.arg].offset);
  p.arg = FS_NONE; /* a run is no place of its own that holds all */
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    p.address = at.low;
    p.size = at.high - at.low;
    FS_TRY(note ? note_place(f, item, &p) : want_of_sets(f, item, &p));
  }
  return FSCHED_OK;
}

static fs_status walk_places(want_finder *f, uint32_t item) {
  const fs_stream_command *c = &f->s->commands[item];
  const fs_stream_place *place = f->s->places + c->place0;
  for (uint32_t i = 0; i < c->n_places; i++) {
    FS_TRY(walk_place(f, item, &place[i], false));
  }
  for (uint32_t i = 0; i < c->n_places; i++) {
    FS_TRY(walk_place(f, item, &place[i], true));
  }
  return FSCHED_OK;
}

static fs_status walk_item(want_finder *f, fs_arena *scratch, uint32_t item) {
  const fs_stream_command *c = &f->s->commands[item];
  size_t first = f->want.n;
  if (fs_command_has_op(c)) {
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

static fs_status walk_commands(want_finder *f, fs_arena *scratch) {
  const fs_stream *s = f->s;
  const uint32_t n[] = {s->n_memories, s->n_memories, s->n_resources, 1};
  for (uint32_t i = 0; i < 4; i++) {
    FS_TRY(fs_new_none(scratch, &f->space[i], n[i]));
  }
  FS_TRY(fs_new_none(scratch, &f->alike[0], s->n_versions));
  FS_TRY(fs_new_none(scratch, &f->alike[1], s->n_versions));
  FS_TRY(fs_new_none(scratch, &f->displaced0, s->n_versions));
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
static fs_status make_items(fs_arena *arena, want_finder *f, fs_arena *scratch) {
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
    if (fs_command_has_op(k)) {
      f->op_item[k->target] = out->item[c];
    }
  }
  return FSCHED_OK;
}

static fs_status find_wants(want_finder *f, fs_arena *arena, fs_arena *scratch) {
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
  assert(s->n_meta == 1 && order->order != NULL);
  *out = (fs_wants){0};
  want_finder f = {.ctx = arena->ctx,
                   .s = s,
                   .order = order,
                   .out = out,
                   .raw = fs_hazards_data_only(s->meta->hazards)};
  FS_SCRATCH(scratch, arena->ctx);
  fs_ranges_init(&f.ranges, arena->ctx);
  fs_status status = find_wants(&f, arena, &scratch);
  fs_ranges_release(&f.ranges);
  fs_vec_free(f.ctx, &f.access);
  fs_vec_free(f.ctx, &f.displaced);
  fs_vec_free(f.ctx, &f.found);
  fs_vec_free(f.ctx, &f.tag);
  fs_vec_free(f.ctx, &f.want);
  return status;
}
