/* SPDX-License-Identifier: Apache-2.0 */
/* Given and kept content holds all of its bytes, touched or not.
 *
 * Given content is there from 0 to the last command that touches it, kept content from the first
 * such command to the end, and a replay may fill all of it late or take all of it out early:
 *
 *     given x  [=====|.......]   an op reads the front alone;
 *     y               [====]     a writer of y has to come after that op, though no byte is shared
 *
 * The map of accesses (stream/access.c) knows single bytes.  Beside it, there is a map of owners
 * here: every touch of such content counts as one of its whole place, and touches of two owners
 * that meet there have to be ordered.  An owner is a version with the address of its first byte: at
 * another address the version is another owner, for which no content is given.  A command that
 * touches a part must find that its owner still has the whole place; a command that writes the
 * whole begins anew.
 *
 * Only content that some command touches in part is examined: content that every command touches as
 * a whole is whole in the other map, too.  An address without access (no_dep) is a touch, since it
 * fills a replay's place.  Complexity: O((touches + places beside them) log n) where there is such
 * content. */
#include "base/context.h"
#include "verify/stream/stream.h"

typedef struct hold_touch {
  fs_vs *v;
  const uint32_t *commands;
  uint32_t n;
  const fs_vdense *before;
  const fs_stream_command *c; /* the first member */
} hold_touch;

static uint64_t version_size(const fs_stream *s, uint32_t version) {
  assert(version < s->n_versions);
  return s->buffers[s->versions[version].buffer].size;
}

static const fs_stream_arg *arg_of(const fs_vs *v, const fs_stream_command *c,
                                   const fs_stream_place *p) {
  return fs_command_has_op(c) && p->arg < v->s->n_args ? &v->s->args[p->arg] : NULL;
}

/* The address of the first byte of the place's version. */
static uint64_t base_of(const fs_vs *v, const fs_stream_command *c, const fs_stream_place *p) {
  const fs_stream_arg *a = p->version == FS_NONE ? NULL : arg_of(v, c, p);
  return p->address - (a == NULL ? 0 : a->offset);
}

/* Flags FS_HELD_* that tell whether the place lies where its version is given, and where it is
 * kept. */
static unsigned lies_where(const fs_vs *v, const fs_stream_command *c, const fs_stream_place *p) {
  if (!fs_space_has_bytes(p->space) || p->version == FS_NONE) {
    return 0;
  }
  const fs_stream_version *x = &v->s->versions[p->version];
  uint64_t base = base_of(v, c, p);
  bool fits = version_size(v->s, p->version) <= UINT64_MAX - 1 - base;
  bool given = fits && p->index == x->given_memory && base == x->given_address;
  bool kept = fits && p->index == x->kept_memory && base == x->kept_address;
  return (given ? FS_HELD_GIVEN : 0u) | (kept ? FS_HELD_KEPT : 0u);
}

static bool is_address(const fs_vs *v, const fs_stream_command *c, const fs_stream_place *p) {
  const fs_stream_arg *a = arg_of(v, c, p);
  return p->version != FS_NONE && a != NULL && !fs_tag_accesses(a->tag);
}

/* --- which content is held --- */

/* Whether the place has all bytes of its version. */
static bool is_whole(const fs_vs *v, const fs_stream_command *c, const fs_stream_place *p) {
  const fs_stream_arg *a = arg_of(v, c, p);
  return p->size == version_size(v->s, p->version) && (a == NULL || fs_vs_whole(a));
}

static void mark_place(fs_vs *v, const fs_stream_command *c, const fs_stream_place *p) {
  uint64_t size = p->version == FS_NONE ? 0 : version_size(v->s, p->version);
  if (size > 0 && (!is_whole(v, c, p) || is_address(v, c, p))) {
    v->held[p->version] |= (uint8_t)lies_where(v, c, p);
  }
}

/* Gives the place an owner: for given content the version itself, for kept content none yet. */
static fs_status put_owner(fs_vs *v, uint32_t version, uint32_t memory, uint64_t address,
                           bool given) {
  fs_vmap_cursor at;
  uint32_t cell;
  uint64_t end = address + version_size(v->s, version);
  FS_TRY(fs_vpool_cut(&v->pool, &v->hold.at[memory], address, end, &at));
  do {
    if (fs_vmap_at(&v->hold.at[memory], at)->key >= end) {
      break;
    }
    FS_TRY(fs_vpool_cell(&v->pool, &v->hold.at[memory], at, &cell));
    v->pool.cell.at[cell].version = given ? version : FS_NONE;
    v->pool.cell.at[cell].base = address;
  } while (fs_vmap_next(&v->hold.at[memory], &at));
  return FSCHED_OK;
}

static fs_status put_owners(fs_vs *v) {
  for (uint32_t i = 0; i < v->s->n_versions; i++) {
    const fs_stream_version *x = &v->s->versions[i];
    if ((v->held[i] & FS_HELD_KEPT) != 0) {
      FS_TRY(put_owner(v, i, x->kept_memory, x->kept_address, false));
    }
  }
  for (uint32_t i = 0; i < v->s->n_versions; i++) {
    const fs_stream_version *x = &v->s->versions[i];
    if ((v->held[i] & FS_HELD_GIVEN) != 0) {
      bool both = x->given_memory == x->kept_memory && x->given_address == x->kept_address;
      FS_TRY(put_owner(v, i, x->given_memory, x->given_address, true));
      v->begun[i] = (uint8_t)(FS_HELD_GIVEN | (both ? FS_HELD_KEPT : 0));
    }
  }
  return FSCHED_OK;
}

fs_status fs_vs_hold_begin(fs_vs *v) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_zero(&v->arena, &v->hold.at, s->n_memories));
  FS_TRY(fs_new_zero(&v->arena, &v->held, s->n_versions));
  FS_TRY(fs_new_zero(&v->arena, &v->begun, s->n_versions));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    for (uint32_t k = 0; k < c->n_places; k++) {
      mark_place(v, c, &s->places[c->place0 + k]);
    }
  }
  for (uint32_t i = 0; i < s->n_versions; i++) {
    v->any_held = v->any_held || v->held[i] != 0;
  }
  return v->any_held ? put_owners(v) : FSCHED_OK;
}

/* --- touches --- */

static bool is_before(const hold_touch *t, uint32_t command) {
  const fs_vs *v = t->v;
  return command == t->commands[0] ||
         (t->n > 1 && v->command_occ[command] == v->command_occ[t->commands[0]]) ||
         fs_vs_before(v, t->before, command);
}

/* Checks that the touches of another owner are over. */
static void check_order(const hold_touch *t, uint32_t head, const fs_stream_place *p) {
  const fs_vs *v = t->v;
  for (uint32_t i = head; i != FS_NONE; i = v->pool.node.at[i].next) {
    if (!is_before(t, v->pool.node.at[i].who)) {
      char a[FS_VNAME], b[FS_VNAME];
      FS_WRONG(t->v, FS_DIAG_VERIFY_CONFLICT,
               "%s and %s share the place of given or kept content in %s at %llu and are not "
               "ordered",
               fs_vs_command_name(v, v->pool.node.at[i].who, a),
               fs_vs_command_name(v, t->commands[0], b),
               fs_vs_string(v, v->s->memories[p->index].name), (unsigned long long)p->address);
      return;
    }
  }
}

/* Adds the touches of the item's members to the cell; the last touch of each queue is enough. */
static fs_status add_touch(const hold_touch *t, uint32_t cell) {
  fs_vpool *pool = &t->v->pool;
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = pool->cell.at[cell].writers;
    uint32_t steps = 64; /* the number of entries that are visited */
    while (i != FS_NONE && steps-- > 0 &&
           !fs_vs_stands_for(t->v, t->commands[k], pool->node.at[i].who)) {
      i = pool->node.at[i].next;
    }
    if (i != FS_NONE && fs_vs_stands_for(t->v, t->commands[k], pool->node.at[i].who)) {
      pool->node.at[i].who = t->commands[k];
    } else {
      FS_TRY(fs_vpool_push_writer(pool, cell, t->commands[k], FS_NONE));
    }
  }
  return FSCHED_OK;
}

/* Touches a cell.  *lost is set if it belonged to another owner. */
static fs_status touch_cell(const hold_touch *t, uint32_t cell, const fs_stream_place *p,
                            uint64_t base, bool *lost) {
  fs_vpool *pool = &t->v->pool;
  fs_vcell *c = &pool->cell.at[cell];
  if (p->version == FS_NONE || c->version != p->version || c->base != base) {
    *lost = true;
    check_order(t, c->writers, p);
    fs_vpool_drop(pool, &c->writers);
    c->version = p->version;
    c->base = base;
  }
  return add_touch(t, cell);
}

static bool writes_whole(const hold_touch *t, const fs_stream_place *p) {
  const fs_stream_arg *a = arg_of(t->v, t->c, p);
  bool anew = a == NULL ? p->mode == FS_MODE_W : fs_tag_writes_anew(a->tag);
  return anew && is_whole(t->v, t->c, p);
}

static void report_lost(const hold_touch *t, const fs_stream_place *p, uint64_t base) {
  char a[FS_VNAME], b[FS_VNAME];
  FS_WRONG(t->v, FS_DIAG_VERIFY_VALUE, "%s does not find all of %s in %s at %llu",
           fs_vs_command_name(t->v, t->commands[0], a), fs_vs_version_name(t->v, p->version, b),
           fs_vs_string(t->v, t->v->s->memories[p->index].name), (unsigned long long)base);
}

static fs_status touch_place(const hold_touch *t, const fs_stream_place *p) {
  fs_vs *v = t->v;
  fs_vmap *map = &v->hold.at[p->index];
  unsigned where = lies_where(v, t->c, p) & (p->version == FS_NONE ? 0u : v->held[p->version]);
  uint64_t base = base_of(v, t->c, p);
  uint64_t lo = where != 0 ? base : p->address;
  uint64_t hi = where != 0 ? lo + version_size(v->s, p->version) : lo + p->size;
  bool lost = false;
  if (map->chunk == NULL || lo == hi || (where == 0 && is_address(v, t->c, p))) {
    return FSCHED_OK;
  }
  fs_vmap_cursor at;
  FS_TRY(fs_vpool_cut(&v->pool, map, lo, hi, &at));
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= hi) {
      break;
    }
    if (e->value != FS_NONE) {
      FS_TRY(touch_cell(t, e->value, p, base, &lost));
    }
  } while (fs_vmap_next(map, &at));
  if (lost && where != 0 && (v->begun[p->version] & where) != 0 && !writes_whole(t, p)) {
    report_lost(t, p, lo);
  }
  if (where != 0) {
    v->begun[p->version] |= (uint8_t)where;
  }
  return FSCHED_OK;
}

/* Touches the places that the item reads first, since an output may take the place of an input. */
fs_status fs_vs_hold(fs_vs *v, const uint32_t *commands, uint32_t n, const fs_vdense *before) {
  assert(n > 0 && commands[0] < v->s->n_commands);
  const hold_touch t = {v, commands, n, before, &v->s->commands[commands[0]]};
  const fs_stream_place *place = v->s->places + t.c->place0;
  for (int writes = 0; writes <= 1 && v->any_held; writes++) {
    for (uint32_t i = 0; i < t.c->n_places; i++) {
      if (fs_space_has_bytes(place[i].space) && (place[i].mode == FS_MODE_W) == (writes != 0)) {
        FS_TRY(touch_place(&t, &place[i]));
      }
    }
  }
  return FSCHED_OK;
}

/* --- the end --- */

bool fs_vs_hold_kept(const fs_vs *v, uint32_t version) {
  assert(version < v->s->n_versions);
  const fs_stream_version *x = &v->s->versions[version];
  if ((v->held[version] & FS_HELD_KEPT) == 0) {
    return true;
  }
  const fs_vmap *map = &v->hold.at[x->kept_memory];
  uint64_t end = x->kept_address + version_size(v->s, version);
  bool mine = true;
  fs_vmap_cursor at = fs_vmap_find(map, x->kept_address);
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= end) {
      break;
    }
    const fs_vcell *c = e->value == FS_NONE ? NULL : &v->pool.cell.at[e->value];
    mine = mine && c != NULL && c->version == version && c->base == x->kept_address;
  } while (fs_vmap_next(map, &at));
  return mine;
}
