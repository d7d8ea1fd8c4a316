/* SPDX-License-Identifier: Apache-2.0 */
/* Versions and predecessors of every op, from the tags alone, in program order.
 *
 * Every buffer has a map from offset to the current version's last writers and the readers since.
 * An access looks up the intervals that it overlaps; a write replaces them.  Only the last writers
 * and the readers since are needed: earlier accesses are already their predecessors.
 * A version in a counted memory holds its units as a whole: unless hazards are raw, each access to
 * it also touches one more byte, the same for all.
 * All look-ups of an op come before its inserts.  With hazards: raw a writer looks up no readers,
 * and out_existing looks up nothing.
 * Complexity: O(accesses log accesses + predecessors). */
#include <stdlib.h>

#include "base/context.h"
#include "base/radix.h"
#include "verify/stream/stream.h"

typedef struct deps {
  fs_vs *v;
  fs_vpool pool;
  fs_vmap *map;      /* per buffer: accesses of the current version */
  fs_vmap *units;    /* per buffer: the same for the byte that stands for units */
  uint32_t *current; /* per buffer: version index or FS_NONE */
  uint32_t *last_to; /* per op: the last op that got it as a predecessor */
  bool raw;
} deps;

static fs_status add_pred(deps *d, uint32_t op, uint32_t pred) {
  assert(op < d->v->s->n_ops && pred < d->v->s->n_ops);
  if (pred == op || d->last_to[pred] == op) {
    return FSCHED_OK;
  }
  d->last_to[pred] = op;
  return fs_vec_push(d->v->ctx, &d->v->pred, pred);
}

static fs_status add_list(deps *d, uint32_t op, uint32_t head) {
  for (uint32_t n = head; n != FS_NONE; n = d->pool.node.at[n].next) {
    FS_TRY(add_pred(d, op, d->pool.node.at[n].who));
  }
  return FSCHED_OK;
}

/* Does an arg of the op write the buffer's version in place? */
static bool writes_in_place(const fs_stream *s, const fs_stream_op *op, uint32_t buffer) {
  bool does = false;
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args && !does; i++) {
    const fs_stream_arg *a = &s->args[i];
    does = fs_tag_names_buffer(a->tag) && a->buffer == buffer && fs_tag_writes_over(a->tag);
  }
  return does;
}

/* The version index that an arg means, or FS_NONE where there is no content to read.  Where there
 * is no version yet, and the op starts one in place, too, `out` begins the one after that. */
static uint32_t arg_index(const deps *d, const fs_stream_op *op, const fs_stream_arg *a) {
  uint32_t now = d->current[a->buffer];
  if (now == FS_NONE) {
    return !fs_tag_writes_anew(a->tag) ? FS_NONE
           : fs_tag_begins(a->tag)     ? writes_in_place(d->v->s, op, a->buffer)
                                       : 0;
  }
  return fs_tag_begins(a->tag) ? now + 1 : now;
}

static void check_version(deps *d, uint32_t op, uint32_t arg) {
  const fs_stream *s = d->v->s;
  const fs_stream_arg *a = &s->args[arg];
  uint32_t index = arg_index(d, &s->ops[op], a);
  const fs_stream_buffer *b = &s->buffers[a->buffer];
  if (!fs_tag_accesses(a->tag) && (a->version == FS_NONE || index == FS_NONE)) {
    return;
  }
  if (index >= b->n_versions || a->version != b->version0 + index) {
    FS_WRONG(d->v, FS_DIAG_VERIFY_VERSION, "op %s, argument %u: not version %u of %s",
             fs_vs_op_name(d->v, op), arg - s->ops[op].arg0, index == FS_NONE ? 0 : index,
             fs_vs_string(d->v, b->name));
  }
}

static bool held_as_units(const deps *d, uint32_t buffer) {
  return !d->raw && fs_vs_counted(&d->v->s->memories[d->v->s->buffers[buffer].memory]);
}

static fs_status look_up_range(deps *d, uint32_t op, fs_vmap *map, uint64_t lo, uint64_t hi,
                               bool writes) {
  assert(lo < hi);
  if (map->chunk == NULL) {
    return FSCHED_OK;
  }
  fs_vmap_cursor at = fs_vmap_find(map, lo);
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= hi) {
      break;
    }
    if (e->value != FS_NONE) {
      FS_TRY(add_list(d, op, d->pool.cell.at[e->value].writers));
      if (writes) {
        FS_TRY(add_list(d, op, d->pool.cell.at[e->value].readers));
      }
    }
  } while (fs_vmap_next(map, &at));
  return FSCHED_OK;
}

/* A buffer without bytes carries dependencies as if it had one.  What writes a few bytes here and
 * there, and counts as one piece, keeps the others of that: so it looks up who wrote them. */
static fs_status look_up(deps *d, uint32_t op, uint32_t arg) {
  const fs_stream_arg *a = &d->v->s->args[arg];
  bool writes = fs_tag_writes(a->tag) && !d->raw;
  bool keeps = fs_tag_writes(a->tag) && fs_stream_coarse(d->v->s, arg);
  if ((!writes && !fs_tag_reads(a->tag) && !keeps) || fs_tag_begins(a->tag)) {
    return FSCHED_OK;
  }
  fs_vs_runs runs = fs_vs_runs_of(d->v, arg, 0);
  for (; fs_vs_run(&runs);) {
    FS_TRY(look_up_range(d, op, &d->map[a->buffer], runs.low, runs.high, writes));
  }
  return held_as_units(d, a->buffer) ? look_up_range(d, op, &d->units[a->buffer], 0, 1, writes)
                                     : FSCHED_OK;
}

static fs_status insert_range(deps *d, uint32_t op, fs_vmap *map, uint64_t lo, uint64_t hi,
                              bool reads) {
  assert(lo < hi);
  fs_vmap_cursor at;
  uint32_t cell;
  FS_TRY(fs_vpool_cut(&d->pool, map, lo, hi, &at));
  if (!reads) {
    FS_TRY(fs_vpool_assign(&d->pool, map, at, hi, &cell));
    return fs_vpool_push_writer(&d->pool, cell, op, FS_NONE);
  }
  do {
    if (fs_vmap_at(map, at)->key >= hi) {
      break;
    }
    FS_TRY(fs_vpool_cell(&d->pool, map, at, &cell));
    uint32_t last = d->pool.cell.at[cell].readers;
    if (last == FS_NONE || d->pool.node.at[last].who != op) {
      FS_TRY(fs_vpool_push_reader(&d->pool, cell, op, FS_NONE));
    }
  } while (fs_vmap_next(map, &at));
  return FSCHED_OK;
}

static fs_status insert(deps *d, uint32_t op, uint32_t arg, uint32_t index) {
  const fs_stream_arg *a = &d->v->s->args[arg];
  if (!fs_tag_accesses(a->tag) || index == FS_NONE ||
      (d->current[a->buffer] != index && !fs_tag_begins(a->tag) &&
       d->current[a->buffer] != FS_NONE)) {
    return FSCHED_OK; /* the arg's version is an old one since this op */
  }
  bool reads = fs_tag_only_reads(a->tag);
  fs_vs_runs runs = fs_vs_runs_of(d->v, arg, 0);
  for (; fs_vs_run(&runs);) {
    FS_TRY(insert_range(d, op, &d->map[a->buffer], runs.low, runs.high, reads));
  }
  return held_as_units(d, a->buffer) ? insert_range(d, op, &d->units[a->buffer], 0, 1, reads)
                                     : FSCHED_OK;
}

/* Clears the map for a new version: accesses to the old one are not looked up again. */
static fs_status forget(deps *d, fs_vmap *map, uint64_t hi) {
  fs_vmap_cursor at;
  uint32_t cell;
  if (map->chunk == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_vpool_cut(&d->pool, map, 0, hi, &at));
  return fs_vpool_assign(&d->pool, map, at, hi, &cell);
}

static fs_status start_version(deps *d, const fs_stream_arg *a, uint32_t index) {
  d->current[a->buffer] = index;
  FS_TRY(forget(d, &d->units[a->buffer], 1));
  return forget(d, &d->map[a->buffer], fs_max(d->v->s->buffers[a->buffer].size, 1) + 1);
}

static fs_status one_op(deps *d, uint32_t op, uint32_t *index) {
  const fs_stream *s = d->v->s;
  const fs_stream_op *o = &s->ops[op];
  for (uint32_t i = 0; i < o->n_afters; i++) {
    FS_TRY(add_pred(d, op, s->afters[o->after0 + i]));
  }
  const fs_stream_arg *a = s->args + o->arg0;
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (fs_tag_names_buffer(a[i].tag)) {
      index[i] = arg_index(d, o, &a[i]);
      check_version(d, op, o->arg0 + i);
      FS_TRY(look_up(d, op, o->arg0 + i));
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (fs_tag_begins(a[i].tag)) {
      FS_TRY(start_version(d, &a[i], index[i]));
    } else if (fs_tag_writes_over(a[i].tag) && d->current[a[i].buffer] == FS_NONE) {
      d->current[a[i].buffer] = 0;
    }
  }
  for (uint32_t i = 0; i < o->n_args; i++) {
    if (fs_tag_names_buffer(a[i].tag)) {
      FS_TRY(insert(d, op, o->arg0 + i, index[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status index_races(fs_vs *v) {
  const fs_stream *s = v->s;
  if (s->n_races > UINT32_MAX / 2) {
    return fs_fail(v->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL, "too many races");
  }
  FS_TRY(fs_new(&v->arena, &v->race, 2 * (size_t)s->n_races));
  v->n_race = 2 * s->n_races;
  for (uint32_t i = 0; i < s->n_races; i++) {
    v->race[2 * i] = (uint64_t)s->races[i].op_a << 32 | s->races[i].op_b;
    v->race[2 * i + 1] = (uint64_t)s->races[i].op_b << 32 | s->races[i].op_a;
  }
  qsort(v->race, v->n_race, sizeof *v->race, fs_compare_u64);
  if (s->n_races > 0 && !fs_hazards_data_only(s->meta[0].hazards)) {
    FS_WRONG(v, FS_DIAG_VERIFY_RACE, "races are listed though hazards are sequential");
  }
  if (s->n_loop_races > 0 && fs_hazards_data_only(s->meta[0].hazards)) {
    FS_WRONG(v, FS_DIAG_VERIFY_RACE,
             "races of loops are listed though loops have none of their own");
  }
  return FSCHED_OK;
}

bool fs_vs_race(const fs_vs *v, uint32_t op_a, uint32_t op_b) {
  assert(op_a < v->s->n_ops && op_b < v->s->n_ops);
  if (v->n_race == 0) {
    return false;
  }
  uint64_t key = (uint64_t)op_a << 32 | op_b;
  return bsearch(&key, v->race, v->n_race, sizeof key, fs_compare_u64) != NULL;
}

/* Checks that the last version which the tags make is the buffer's last one. */
static void check_counts(const deps *d) {
  const fs_stream *s = d->v->s;
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    uint32_t n = d->current[b] == FS_NONE ? 0 : d->current[b] + 1;
    bool named = n == 0 && s->buffers[b].n_versions == 1; /* only no_dep args name the buffer */
    if (s->buffers[b].n_versions != n && !named) {
      FS_WRONG(d->v, FS_DIAG_VERIFY_VERSION, "%s has %u versions, but its ops make %u",
               fs_vs_string(d->v, s->buffers[b].name), s->buffers[b].n_versions, n);
    }
  }
}

static fs_status derive(deps *d) {
  fs_vs *v = d->v;
  uint32_t *index, longest = 0;
  for (uint32_t b = 0; b < v->s->n_buffers; b++) {
    uint32_t io = v->s->buffers[b].io;
    bool given = fs_io_given(io);
    d->current[b] = given ? 0 : FS_NONE;
  }
  for (uint32_t o = 0; o < v->s->n_ops; o++) {
    longest = longest < v->s->ops[o].n_args ? v->s->ops[o].n_args : longest;
  }
  FS_TRY(fs_new(&v->arena, &index, longest));
  for (uint32_t o = 0; o < v->s->n_ops; o++) {
    v->pred0[o] = (uint32_t)v->pred.n;
    FS_TRY(one_op(d, o, index));
  }
  v->pred0[v->s->n_ops] = (uint32_t)v->pred.n;
  check_counts(d);
  return FSCHED_OK;
}

fs_status fs_vs_deps(fs_vs *v) {
  deps d = {.v = v, .raw = fs_hazards_data_only(v->s->meta[0].hazards)};
  FS_TRY(index_races(v));
  FS_TRY(fs_new(&v->arena, &v->pred0, v->s->n_ops + 1));
  FS_TRY(fs_new_zero(&v->arena, &d.map, v->s->n_buffers));
  FS_TRY(fs_new_zero(&v->arena, &d.units, v->s->n_buffers));
  FS_TRY(fs_new(&v->arena, &d.current, v->s->n_buffers));
  FS_TRY(fs_new_none(&v->arena, &d.last_to, v->s->n_ops));
  fs_vpool_init(&d.pool, v->ctx, &v->arena);
  fs_status status = derive(&d);
  fs_vpool_free(&d.pool);
  return status;
}
