/* SPDX-License-Identifier: Apache-2.0 */
/* Conflicts and values, item by item in the order of the walk.
 *
 * Every interval of a space keeps its last writers, the readers since, and its content.  A reader
 * has to be ordered after the last writers; a writer has to be ordered after these and the readers
 * since.  That covers every pair: an earlier access x that conflicts with item c and is no longer
 * listed was replaced by a writer w that x is ordered before, and (c, w) was checked, directly or
 * through the writer that replaced w.  An access that a writer is not ordered after stays listed
 * beside it.
 *
 * The commands of a loop are accesses of the buffers that they touch (stream/edges.c), and a place
 * of a buffer is looked at for these alone; there is at least one, so that it stands for what it
 * replaced.
 *
 * Values: all conflicting pairs are ordered, so every execution gives each byte the same sequence
 * of accesses as this walk, and findings here hold for all executions.  A byte of memory carries
 * (version, address where byte 0 of that version would be, op that wrote it); `truth` knows the op
 * that wrote each byte of a version last, and a reader must find that one.  (A copy of a version
 * that an op has overwritten in part may lack given bytes.  They were not loaded, as no op reads
 * them before they are overwritten too; where an op does read them, or they are kept, the lack is
 * found.)  Bytes that no op wrote have no truth.  Intervals of a counted memory carry the version:
 * a command that comes back to them must find its own version.  stream/units.c checks those of kept
 * content at the end.
 * Complexity: O(log n) per interval that is touched. */
#include <stdio.h>

#include "base/context.h"
#include "verify/stream/stream.h"

typedef struct accessed_item {
  fs_vs *v;
  const uint32_t *commands;
  uint32_t n;
  const fs_vdense *before;
  const fs_stream_command *c; /* the first member */
} accessed_item;

static fs_vmap *place_map(fs_vs *v, const fs_stream_place *p) {
  switch (fs_place_space(p)) {
    case FS_SPACE_MEMORY:
      return &v->memory.at[p->index];
    case FS_SPACE_COUNTED:
      return &v->counted.at[p->index];
    case FS_SPACE_RESOURCE:
      return &v->resource.at[p->index];
    case FS_SPACE_CONCURRENCY:
      break;
  }
  return &v->concurrency.at[0];
}

static const char *place_name(const fs_vs *v, const fs_stream_place *p) {
  return fs_space_in_memory(p->space)     ? fs_vs_string(v, v->s->memories[p->index].name)
         : fs_space_of_resource(p->space) ? fs_vs_string(v, v->s->resources[p->index].name)
                                          : "the concurrency limit";
}

/* Whether the place is an access; an argument without dependencies is only an address for the
 * kernel. */
static bool is_access(const accessed_item *t, const fs_stream_place *p) {
  return p->size > 0 &&
         !(fs_command_has_op(t->c) && fs_space_has_bytes(p->space) && p->version != FS_NONE &&
           p->arg < t->v->s->n_args && !fs_tag_accesses(t->v->s->args[p->arg].tag));
}

/* --- order --- */

static bool same_item(const accessed_item *t, uint32_t command) {
  assert(command < t->v->s->n_commands);
  uint32_t occ = t->v->command_occ[t->commands[0]];
  return command == t->commands[0] || (occ != FS_NONE && t->v->command_occ[command] == occ);
}

static bool ordered(const accessed_item *t, uint32_t command) {
  return fs_vs_before(t->v, t->before, command);
}

/* Whether the lack of an order is allowed: the accesses are of one version and race.  With raw
 * hazards, accesses of one version in a counted memory may share its units: whether its bytes need
 * an order is checked at the bytes. */
static bool excused(const accessed_item *t, const fs_vnode *n, const fs_stream_place *p) {
  const fs_stream_command *other = &t->v->s->commands[n->who];
  if (p->version == FS_NONE || n->version != p->version) {
    return false;
  }
  return (fs_space_has_units(p->space) && fs_hazards_data_only(t->v->s->meta[0].hazards)) ||
         (fs_command_has_op(t->c) && fs_command_has_op(other) &&
          fs_vs_race(t->v, other->target, t->c->target));
}

/* Checks the order after a list.  *open is set when an access stays unordered, whether excused or
 * reported. */
static void check_list(const accessed_item *t, uint32_t head, const fs_stream_place *p,
                       bool *open) {
  for (uint32_t i = head; i != FS_NONE; i = t->v->pool.node.at[i].next) {
    const fs_vnode *n = &t->v->pool.node.at[i];
    if (same_item(t, n->who) || ordered(t, n->who)) {
      continue;
    }
    *open = true;
    if (!excused(t, n, p)) {
      char a[FS_VNAME], b[FS_VNAME];
      FS_WRONG(t->v, FS_DIAG_VERIFY_CONFLICT, "%s and %s share %s at %llu and are not ordered",
               fs_vs_command_name(t->v, n->who, a), fs_vs_command_name(t->v, t->commands[0], b),
               place_name(t->v, p), (unsigned long long)p->address);
      return;
    }
  }
}

/* Removes from a list the accesses that are ordered before the item, which now stands for them. */
static void filter_list(const accessed_item *t, uint32_t *head) {
  fs_vpool *pool = &t->v->pool;
  uint32_t kept = FS_NONE;
  while (*head != FS_NONE) {
    uint32_t i = *head;
    *head = pool->node.at[i].next;
    bool drop = same_item(t, pool->node.at[i].who) || ordered(t, pool->node.at[i].who);
    uint32_t *list = drop ? &pool->free_node : &kept;
    pool->node.at[i].next = *list;
    *list = i;
  }
  *head = kept;
}

/* --- truth --- */

/* `stamp`: an op, or FS_STAMP_GIVEN. */
static fs_status truth_put(fs_vs *v, uint32_t version, uint64_t offset, uint64_t length,
                           uint32_t stamp) {
  assert(version < v->s->n_versions);
  fs_vtruth *t = &v->truth[version];
  uint64_t size = v->s->buffers[v->s->versions[version].buffer].size;
  if (offset == 0 && length == size) {
    *t = (fs_vtruth){stamp, NULL};
    return FSCHED_OK;
  }
  fs_vmap_cursor at;
  bool fresh;
  if (t->map == NULL) {
    FS_TRY(fs_new_zero(&v->arena, &t->map, 1));
    FS_TRY(fs_vmap_cut(&v->arena, t->map, 0, &at, &fresh));
    fs_vmap_at(t->map, at)->value = t->stamp;
  }
  FS_TRY(fs_vmap_cut(&v->arena, t->map, offset + length, &at, &fresh));
  FS_TRY(fs_vmap_cut(&v->arena, t->map, offset, &at, &fresh));
  fs_vmap_clear_inside(t->map, offset, offset + length);
  fs_vmap_at(t->map, fs_vmap_find(t->map, offset))->value = stamp;
  return FSCHED_OK;
}

static fs_status truth_write(fs_vs *v, uint32_t version, uint64_t offset, uint64_t length,
                             uint32_t op) {
  assert(op < v->s->n_ops);
  return truth_put(v, version, offset, length, op);
}

/* Whether the content at [lo, hi) is that of the version there.  A NULL cell has no content.
 * `copied`: given bytes may be missing where ops have overwritten other bytes. */
static bool truth_holds(const fs_vs *v, uint32_t version, const fs_vcell *cell, uint64_t lo,
                        uint64_t hi, uint64_t base, bool copied) {
  const fs_vtruth *t = &v->truth[version];
  bool mine = cell != NULL && cell->version == version && cell->base == base;
  if (t->map == NULL) {
    return t->stamp == FS_NONE || (mine && cell->stamp == t->stamp);
  }
  fs_vmap_cursor at = fs_vmap_find(t->map, lo - base);
  do {
    const fs_vmap_entry *e = fs_vmap_at(t->map, at);
    if (e->key >= hi - base) {
      break;
    }
    bool wanted = e->value != FS_NONE && !(copied && e->value == FS_STAMP_GIVEN);
    if (wanted && !(mine && cell->stamp == e->value)) {
      return false;
    }
  } while (fs_vmap_next(t->map, &at));
  return true;
}

static bool truth_empty(const fs_vs *v, uint32_t version) {
  return v->truth[version].map == NULL && v->truth[version].stamp == FS_NONE;
}

/* Compares bytes [address, address + size) with the truth; `base` is where byte 0 should be. */
static bool content_right(const fs_vs *v, fs_vmap *map, uint64_t address, uint64_t size,
                          uint32_t version, uint64_t base) {
  if (size == 0) {
    return true;
  }
  if (map->chunk == NULL) {
    return truth_holds(v, version, NULL, address, address + size, base, false);
  }
  fs_vmap_cursor at = fs_vmap_find(map, address);
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= address + size) {
      break;
    }
    const fs_vcell *cell = e->value == FS_NONE ? NULL : &v->pool.cell.at[e->value];
    uint64_t lo = fs_max(e->key, address), hi = fs_min(fs_vmap_end(map, at), address + size);
    if (!truth_holds(v, version, cell, lo, hi, base, false)) {
      return false;
    }
  } while (fs_vmap_next(map, &at));
  return true;
}

/* --- reading --- */

static void report_value(const accessed_item *t, const fs_stream_place *p) {
  char a[FS_VNAME], b[FS_VNAME];
  FS_WRONG(t->v, FS_DIAG_VERIFY_VALUE, "%s does not find %s in %s at %llu",
           fs_vs_command_name(t->v, t->commands[0], a), fs_vs_version_name(t->v, p->version, b),
           place_name(t->v, p), (unsigned long long)p->address);
}

/* The address of byte 0 of the place's version. */
static uint64_t place_base(const accessed_item *t, const fs_stream_place *p) {
  bool offset = fs_command_has_op(t->c) && p->arg < t->v->s->n_args;
  return p->address - (offset ? t->v->s->args[p->arg].offset : 0);
}

/* Whether a counted interval is still this version's.  Content that is resident from the start
 * takes intervals that no command has touched. */
static bool lane_right(fs_vs *v, fs_vcell *cell, const fs_stream_place *p) {
  if (cell->version == FS_NONE && cell->writers == FS_NONE && cell->readers == FS_NONE &&
      v->s->versions[p->version].given_memory == p->index) {
    cell->version = p->version;
  }
  return cell->version == p->version;
}

static uint32_t home_of(const fs_vs *v, uint32_t version) {
  assert(version < v->s->n_versions);
  return v->s->buffers[v->s->versions[version].buffer].memory;
}

/* Whether nothing has written a version that is given, in whole or in one of its slots. */
static bool is_untouched(const fs_vs *v, uint32_t version) {
  const fs_vtruth *t = &v->truth[version];
  const fs_stream_buffer *b = &v->s->buffers[v->s->versions[version].buffer];
  if (t->map == NULL || b->io_size == b->size) {
    return t->map == NULL && t->stamp == FS_STAMP_GIVEN;
  }
  bool given = false, written = false;
  fs_vmap_cursor at = fs_vmap_find(t->map, 0);
  do {
    uint32_t stamp = fs_vmap_at(t->map, at)->value;
    given = given || stamp == FS_STAMP_GIVEN;
    written = written || (stamp != FS_STAMP_GIVEN && stamp != FS_NONE);
  } while (fs_vmap_next(t->map, &at) && !written);
  return given && !written;
}

/* Whether the version is given, still untouched, in another memory than the one where it is used,
 * so that nothing is loaded there yet. */
static bool not_loaded(const fs_vs *v, uint32_t version) {
  return is_untouched(v, version) && !v->has_units[version] &&
         v->s->versions[version].given_memory != home_of(v, version);
}

/* Whether the item needs the content of a counted place that it writes: it does if it writes a part
 * of a version that has content there. */
static bool writes_part(const accessed_item *t, uint32_t version) {
  if (!fs_command_has_op(t->c) || truth_empty(t->v, version) || not_loaded(t->v, version)) {
    return false;
  }
  const fs_stream_op *o = &t->v->s->ops[t->c->target];
  for (uint32_t i = 0; i < o->n_args; i++) {
    const fs_stream_arg *a = &t->v->s->args[o->arg0 + i];
    if (a->version == version && fs_tag_writes_over(a->tag) && !fs_vs_whole(a)) {
      return true;
    }
  }
  return false;
}

/* Whether the place is of an op's arg. */
static bool is_of_arg(const accessed_item *t, const fs_stream_place *p) {
  return fs_command_has_op(t->c) && fs_space_has_bytes(p->space) && p->version != FS_NONE;
}

/* Whether slots of loops lie in the version: what is given is one of them, and ops that need it
 * read that one. */
static bool has_slots(const fs_vs *v, uint32_t version) {
  const fs_stream_buffer *b = &v->s->buffers[v->s->versions[version].buffer];
  return b->io_size < b->size;
}

/* Whether the item may leave content as it is in the bytes that it writes over: it is a loop, or
 * writes bytes here and there that count as one piece. */
static bool leaves_part(const accessed_item *t, const fs_stream_place *p) {
  if (!is_of_arg(t, p) || (has_slots(t->v, p->version) && not_loaded(t->v, p->version))) {
    return false;
  }
  return (t->v->in_part != NULL && t->v->in_part[p->arg] != 0) || fs_stream_coarse(t->v->s, p->arg);
}

/* The runs of bytes of a place. */
static fs_vs_runs place_runs(const accessed_item *t, const fs_stream_place *p) {
  return is_of_arg(t, p) && p->arg < t->v->s->n_args && p->size > 0
             ? fs_vs_runs_of(t->v, p->arg, place_base(t, p))
             : (fs_vs_runs){.low = p->address, .high = p->address + p->size, .plain = true};
}

static fs_status add_reader(const accessed_item *t, uint32_t cell, uint32_t version) {
  fs_vpool *pool = &t->v->pool;
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = t->v->s->n_races > 0 ? FS_NONE : pool->cell.at[cell].readers;
    uint32_t steps = 64; /* the last reader of each queue is enough */
    while (i != FS_NONE && steps-- > 0 &&
           !fs_vs_stands_for(t->v, t->commands[k], pool->node.at[i].who)) {
      i = pool->node.at[i].next;
    }
    if (i != FS_NONE && fs_vs_stands_for(t->v, t->commands[k], pool->node.at[i].who)) {
      pool->node.at[i].who = t->commands[k];
    } else {
      FS_TRY(fs_vpool_push_reader(pool, cell, t->commands[k], version));
    }
  }
  return FSCHED_OK;
}

static fs_status read_run(const accessed_item *t, const fs_stream_place *p, uint64_t lo,
                          uint64_t hi, bool *all_right) {
  fs_vs *v = t->v;
  fs_vmap *map = place_map(v, p);
  bool valued = p->version != FS_NONE, right = true, open = false;
  uint64_t base = place_base(t, p);
  fs_vmap_cursor at;
  FS_TRY(fs_vpool_cut(&v->pool, map, lo, hi, &at));
  do {
    if (fs_vmap_at(map, at)->key >= hi) {
      break;
    }
    uint32_t cell;
    FS_TRY(fs_vpool_cell(&v->pool, map, at, &cell));
    check_list(t, v->pool.cell.at[cell].writers, p, &open);
    if (valued && fs_space_has_units(p->space)) {
      right = lane_right(v, &v->pool.cell.at[cell], p) && right;
    } else if (valued) {
      const fs_vcell *c = &v->pool.cell.at[cell];
      right = truth_holds(v, p->version, c, fs_vmap_at(map, at)->key, fs_vmap_end(map, at), base,
                          fs_command_has_version(t->c)) &&
              right;
    }
    if (p->mode == FS_MODE_R) {
      FS_TRY(add_reader(t, cell, p->version));
    }
  } while (fs_vmap_next(map, &at));
  *all_right = *all_right && right;
  return FSCHED_OK;
}

static fs_status read_place(const accessed_item *t, const fs_stream_place *p) {
  bool right = true;
  for (fs_vs_runs runs = place_runs(t, p); fs_vs_run(&runs);) {
    FS_TRY(read_run(t, p, runs.low, runs.high, &right));
  }
  if (!right) {
    report_value(t, p);
  }
  return FSCHED_OK;
}

/* --- writing --- */

static fs_status add_writer(const accessed_item *t, uint32_t cell, const fs_vcell *content) {
  for (uint32_t k = 0; k < t->n; k++) {
    FS_TRY(fs_vpool_push_writer(&t->v->pool, cell, t->commands[k], content->version));
  }
  fs_vcell *c = &t->v->pool.cell.at[cell];
  c->version = content->version;
  c->stamp = content->stamp;
  c->base = content->base;
  return FSCHED_OK;
}

/* Writes every interval separately; each one keeps its own list of unordered accesses. */
static fs_status write_each(const accessed_item *t, fs_vmap *map, fs_vmap_cursor at, uint64_t hi,
                            const fs_vcell *content) {
  do {
    if (fs_vmap_at(map, at)->key >= hi) {
      break;
    }
    uint32_t cell;
    FS_TRY(fs_vpool_cell(&t->v->pool, map, at, &cell));
    filter_list(t, &t->v->pool.cell.at[cell].writers);
    filter_list(t, &t->v->pool.cell.at[cell].readers);
    FS_TRY(add_writer(t, cell, content));
  } while (fs_vmap_next(map, &at));
  return FSCHED_OK;
}

static fs_status write_run(const accessed_item *t, const fs_stream_place *p, uint64_t lo,
                           uint64_t hi, const fs_vcell *content) {
  fs_vs *v = t->v;
  fs_vmap *map = place_map(v, p);
  bool open = false;
  fs_vmap_cursor first, at;
  FS_TRY(fs_vpool_cut(&v->pool, map, lo, hi, &first));
  at = first;
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= hi) {
      break;
    }
    if (e->value != FS_NONE) {
      check_list(t, v->pool.cell.at[e->value].writers, p, &open);
      check_list(t, v->pool.cell.at[e->value].readers, p, &open);
    }
  } while (fs_vmap_next(map, &at));
  if (open) {
    return write_each(t, map, first, hi, content);
  }
  uint32_t cell;
  FS_TRY(fs_vpool_assign(&v->pool, map, first, hi, &cell));
  return add_writer(t, cell, content);
}

static fs_status write_place(const accessed_item *t, const fs_stream_place *p,
                             const fs_vcell *content) {
  for (fs_vs_runs runs = place_runs(t, p); fs_vs_run(&runs);) {
    FS_TRY(write_run(t, p, runs.low, runs.high, content));
  }
  return FSCHED_OK;
}

/* --- copies --- */

/* Collects the content of a copy's source.  Content of other versions there gets lost: the copy
 * names the version that it moves, and a replay puts given content where commands of its version
 * find it. */
static fs_status collect_pieces(fs_vs *v, const fs_stream_place *from) {
  fs_vmap *map = place_map(v, from);
  uint64_t end = from->address + from->size;
  v->piece.n = 0;
  if (map->chunk == NULL) {
    return FSCHED_OK;
  }
  fs_vmap_cursor at = fs_vmap_find(map, from->address);
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= end) {
      break;
    }
    if (e->value != FS_NONE && v->pool.cell.at[e->value].version == from->version) {
      const fs_vcell *c = &v->pool.cell.at[e->value];
      FS_TRY(
          fs_vec_push(v->ctx, &v->piece,
                      ((fs_vpiece){fs_max(e->key, from->address), fs_min(fs_vmap_end(map, at), end),
                                   c->base, c->version, c->stamp})));
    }
  } while (fs_vmap_next(map, &at));
  return FSCHED_OK;
}

/* Puts the source's content into the destination; unsigned addresses wrap, as their difference
 * does. */
static fs_status place_pieces(const accessed_item *t, const fs_stream_place *from,
                              const fs_stream_place *to) {
  fs_vs *v = t->v;
  fs_vmap *map = place_map(v, to);
  uint64_t move = to->address - from->address;
  for (size_t i = 0; i < v->piece.n; i++) {
    const fs_vpiece *x = &v->piece.at[i];
    uint64_t hi = fs_min(x->hi, from->address + to->size) + move;
    if (x->lo + move >= hi) {
      continue;
    }
    fs_vmap_cursor at;
    FS_TRY(fs_vpool_cut(&v->pool, map, x->lo + move, hi, &at));
    do {
      const fs_vmap_entry *e = fs_vmap_at(map, at);
      if (e->key >= hi) {
        break;
      }
      fs_vcell *c = &v->pool.cell.at[e->value];
      c->version = x->version;
      c->base = x->base + move;
      c->stamp = x->stamp;
    } while (fs_vmap_next(map, &at));
  }
  return FSCHED_OK;
}

/* --- an item --- */

/* The item as it accesses a place: of a loop those commands that touch the buffer. */
static accessed_item at_place(const accessed_item *t, const fs_stream_place *p) {
  accessed_item at = *t;
  if (p->version != FS_NONE && fs_command_has_op(t->c)) {
    uint32_t buffer = t->v->s->versions[p->version].buffer;
    fs_vs_some some = fs_vs_at_buffer(t->v, t->commands, t->n, buffer, t->before);
    at.commands = some.commands;
    at.n = some.n;
    at.before = some.known;
  }
  return at;
}

static fs_status write_all(const accessed_item *t, const fs_stream_place *place) {
  fs_vs *v = t->v;
  const fs_stream_place *from = NULL;
  for (uint32_t i = 0; i < t->c->n_places; i++) {
    const fs_stream_place *p = &place[i];
    bool copied = fs_command_has_version(t->c) && fs_space_has_bytes(p->space);
    if (copied && p->mode == FS_MODE_R) {
      from = p;
      FS_TRY(collect_pieces(v, p));
    }
    if (!(p->mode & FS_MODE_W) || !is_access(t, p)) {
      continue;
    }
    fs_vcell content = {.version = p->version, .stamp = FS_NONE, .base = place_base(t, p)};
    content.stamp = fs_command_op(t->c);
    accessed_item at = at_place(t, p);
    FS_TRY(write_place(&at, p, &content));
    if (fs_space_has_units(p->space) && p->version != FS_NONE) {
      v->has_units[p->version] |= p->index == home_of(v, p->version);
    }
    if (copied && from != NULL) {
      FS_TRY(place_pieces(t, from, p));
    }
  }
  return FSCHED_OK;
}

fs_status fs_vs_access(fs_vs *v, const uint32_t *commands, uint32_t n, const fs_vdense *before) {
  assert(n > 0 && commands[0] < v->s->n_commands);
  const accessed_item t = {v, commands, n, before, &v->s->commands[commands[0]]};
  const fs_stream_place *place = v->s->places + t.c->place0;
  for (uint32_t i = 0; i < t.c->n_places; i++) {
    bool part = fs_space_has_units(place[i].space) && place[i].mode == FS_MODE_W &&
                place[i].version != FS_NONE && writes_part(&t, place[i].version);
    part = part || leaves_part(&t, &place[i]);
    if (((place[i].mode & FS_MODE_R) || part) && is_access(&t, &place[i])) {
      accessed_item at = at_place(&t, &place[i]);
      FS_TRY(read_place(&at, &place[i]));
    }
  }
  FS_TRY(write_all(&t, place));
  FS_TRY(fs_vs_hold(v, commands, n, before));
  if (fs_command_has_op(t.c)) {
    const fs_stream_op *o = &v->s->ops[t.c->target];
    for (uint32_t i = 0; i < o->n_args; i++) {
      const fs_stream_arg *a = &v->s->args[o->arg0 + i];
      if (fs_tag_writes(a->tag) && a->length > 0 && a->version != FS_NONE) {
        for (fs_vs_runs runs = fs_vs_runs_of(v, o->arg0 + i, 0); fs_vs_run(&runs);) {
          FS_TRY(truth_write(v, a->version, runs.low, runs.high - runs.low, t.c->target));
        }
      }
    }
  }
  return FSCHED_OK;
}

/* --- begin and end --- */

/* Of a version that has slots, bytes outside of the one that is given have no content. */
static fs_status put_given(fs_vs *v, uint32_t version) {
  const fs_stream_version *x = &v->s->versions[version];
  const fs_stream_buffer *b = &v->s->buffers[x->buffer];
  FS_TRY(truth_put(v, version, b->given, b->io_size, FS_STAMP_GIVEN));
  if (b->io_size == 0 || x->given_address > UINT64_MAX - 1 - b->size) {
    return FSCHED_OK;
  }
  uint64_t begin = x->given_address + b->given, end = begin + b->io_size;
  fs_vmap *map = &v->memory.at[x->given_memory];
  fs_vmap_cursor at;
  uint32_t cell;
  FS_TRY(fs_vpool_cut(&v->pool, map, begin, end, &at));
  fs_vmap_cursor look = at;
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, look);
    if (e->key < end && e->value != FS_NONE) {
      char name[FS_VNAME], other[FS_VNAME];
      FS_WRONG(v, FS_DIAG_VERIFY_VALUE, "%s and %s are given at one place of %s",
               fs_vs_version_name(v, version, name),
               fs_vs_version_name(v, v->pool.cell.at[e->value].version, other),
               fs_vs_string(v, v->s->memories[x->given_memory].name));
      break;
    }
  } while (fs_vmap_next(map, &look) && fs_vmap_at(map, look)->key < end);
  FS_TRY(fs_vpool_assign(&v->pool, map, at, end, &cell));
  fs_vcell *c = &v->pool.cell.at[cell];
  c->version = version;
  c->stamp = FS_STAMP_GIVEN;
  c->base = x->given_address;
  return FSCHED_OK;
}

fs_status fs_vs_access_begin(fs_vs *v) {
  const fs_stream *s = v->s;
  fs_vpool_init(&v->pool, v->ctx, &v->arena);
  FS_TRY(fs_new_zero(&v->arena, &v->memory.at, s->n_memories));
  FS_TRY(fs_new_zero(&v->arena, &v->counted.at, s->n_memories));
  FS_TRY(fs_new_zero(&v->arena, &v->resource.at, s->n_resources));
  FS_TRY(fs_new_zero(&v->arena, &v->concurrency.at, 1));
  FS_TRY(fs_new(&v->arena, &v->truth, s->n_versions));
  FS_TRY(fs_new_zero(&v->arena, &v->has_units, s->n_versions));
  for (uint32_t i = 0; i < s->n_versions; i++) {
    v->truth[i] = (fs_vtruth){FS_NONE, NULL};
    if (s->versions[i].given_memory != FS_NONE) {
      FS_TRY(put_given(v, i));
    }
  }
  return fs_vs_hold_begin(v);
}

fs_status fs_vs_access_end(fs_vs *v) {
  bool *units;
  FS_TRY(fs_vs_units_end(v, &units));
  for (uint32_t i = 0; i < v->s->n_versions; i++) {
    const fs_stream_version *x = &v->s->versions[i];
    if (x->kept_memory == FS_NONE) {
      continue;
    }
    const fs_stream_memory *m = &v->s->memories[x->kept_memory];
    uint64_t size = v->s->buffers[x->buffer].size;
    if (!units[i] || !fs_vs_hold_kept(v, i) || x->kept_address > UINT64_MAX - 1 - size ||
        !content_right(v, &v->memory.at[x->kept_memory], x->kept_address, size, i,
                       x->kept_address)) {
      char name[FS_VNAME];
      FS_WRONG(v, FS_DIAG_VERIFY_KEPT, "%s is not in %s at %llu at the end",
               fs_vs_version_name(v, i, name), fs_vs_string(v, m->name),
               (unsigned long long)x->kept_address);
    }
  }
  return FSCHED_OK;
}
