/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a command's places are those that its op, or its copy, has to touch: one place per
 * argument, at an aligned address inside the memory, with one base for all places of one version;
 * scratch; and exactly the amounts of counted memories, resources and concurrency, as intervals
 * that do not overlap within the command. */
#include <stdio.h>

#include "base/context.h"
#include "verify/overlap.h"
#include "verify/stream/stream.h"

/* The units of counted memories that a command holds for a version or for a scratch. */
typedef struct counted_units {
  uint64_t sum;
  uint32_t memory;
  unsigned mode; /* union over all intervals */
  bool apart;    /* some intervals are of another memory */
} counted_units;

/* A version in the last command that it was met in. */
typedef struct version_use {
  uint64_t address; /* of byte 0 */
  counted_units units;
  uint32_t command;            /* that command; FS_NONE: none yet */
  uint32_t n_accesses, access; /* number of args that access it, and the last one */
  unsigned mode;               /* union over these args */
  bool based;                  /* the address is known */
} version_use;

/* The same for a scratch area, or for a resource, which has only units. */
typedef struct units_use {
  counted_units units;
  uint32_t command;
} units_use;

/* The versions, scratch areas and resources of commands, each entry valid for one command; and the
 * search for overlaps within a command. */
typedef struct uses {
  version_use *version;
  units_use *scratch, *resource;
  fs_voverlap overlap;
} uses;

typedef struct place_cursor {
  fs_vs *v;
  uses *use;
  uint32_t command;
  const fs_stream_command *c;
  const fs_stream_place *p; /* next place */
  uint32_t left;
  bool wrong; /* a fault was reported */
} place_cursor;

static void wrong_place(place_cursor *x, const char *what) {
  if (!x->wrong) {
    char name[FS_VNAME];
    FS_WRONG(x->v, FS_DIAG_VERIFY_PLACE, "%s, place %u: %s",
             fs_vs_command_name(x->v, x->command, name), x->c->n_places - x->left, what);
  }
  x->wrong = true;
}

static void wrong_lane(place_cursor *x, const char *what, uint32_t memory_or_resource_name) {
  if (!x->wrong) {
    char name[FS_VNAME];
    FS_WRONG(x->v, FS_DIAG_VERIFY_LANE, "%s: %s %s", fs_vs_command_name(x->v, x->command, name),
             what, fs_vs_string(x->v, memory_or_resource_name));
  }
  x->wrong = true;
}

/* Whether the whole range of `size` bytes at `base` lies inside the memory and is aligned. */
static bool address_fits(const fs_stream_memory *m, uint64_t base, uint64_t size) {
  if (base > FSCHED_MAX_SIZE * 64 || size > FSCHED_MAX_SIZE || base + size > m->extent ||
      (fs_vs_contiguous(m) && base % m->align != 0)) {
    return false;
  }
  return !fs_vs_contiguous(m) || base + fs_align_up(size, m->align) <= m->capacity;
}

/* The mode of an arg; an address without dependencies may be read. */
static unsigned arg_mode(const fs_stream_arg *a) {
  return !fs_tag_accesses(a->tag)
             ? FS_MODE_R
             : (fs_tag_reads(a->tag) ? FS_MODE_R : 0u) | (fs_tag_writes(a->tag) ? FS_MODE_W : 0u);
}

static const fs_stream_place *take_bytes(place_cursor *x) {
  if (x->left == 0 || !fs_space_has_bytes(x->p->space)) {
    wrong_place(x, "a place is missing");
    return NULL;
  }
  x->left--;
  return x->p++;
}

static version_use *use_of_version(const place_cursor *x, uint32_t version) {
  version_use *u = &x->use->version[version];
  if (u->command != x->command) {
    *u = (version_use){.command = x->command, .access = FS_NONE};
  }
  return u;
}

static counted_units *units_of(const place_cursor *x, units_use *all, uint32_t id) {
  if (all[id].command != x->command) {
    all[id] = (units_use){.command = x->command};
  }
  return &all[id].units;
}

static bool is_access(const fs_stream_arg *a) { return fs_tag_accesses(a->tag); }

/* Checks that all args of one version have the same base, since they see the same bytes: a byte
 * that one of them writes is visible to the others. */
static bool same_base(place_cursor *x, uint32_t arg, uint64_t address) {
  const fs_stream_arg *a = &x->v->s->args[arg];
  version_use *u = use_of_version(x, a->version);
  if (is_access(a)) {
    u->n_accesses++;
    u->access = arg;
    u->mode |= arg_mode(a);
  }
  if (!u->based) {
    u->address = address;
    u->based = true;
  }
  return u->address == address;
}

static void check_arg(place_cursor *x, uint32_t arg) {
  const fs_stream *s = x->v->s;
  const fs_stream_arg *a = &s->args[arg];
  const fs_stream_place *p = take_bytes(x);
  if (p == NULL) {
    return;
  }
  const fs_stream_buffer *b = &s->buffers[a->buffer];
  if (p->arg != arg || p->version != a->version || p->index != b->memory || p->size != a->length ||
      p->mode != arg_mode(a)) {
    wrong_place(x, "not the argument's buffer, length or mode");
  } else if (p->address < a->offset ||
             !address_fits(&s->memories[p->index], p->address - a->offset, b->size)) {
    wrong_place(x, "the buffer is not aligned, or not inside its memory");
  } else if (!same_base(x, arg, p->address - a->offset)) {
    wrong_place(x, "another argument has the version elsewhere");
  }
}

static void check_scratch(place_cursor *x, uint32_t scratch) {
  const fs_stream *s = x->v->s;
  const fs_stream_scratch *r = &s->scratches[scratch];
  const fs_stream_memory *m = &s->memories[r->memory];
  if (!fs_vs_contiguous(m) || (r->size == 0 && (x->left == 0 || x->p->arg != scratch))) {
    return;
  }
  const fs_stream_place *p = take_bytes(x);
  if (p == NULL) {
    return;
  }
  if (p->version != FS_NONE || p->arg != scratch || p->index != r->memory || p->mode != FS_MODE_W ||
      p->size < r->size || p->size > fs_align_up(r->size, m->align) ||
      !address_fits(m, p->address, p->size)) {
    wrong_place(x, "not the op's scratch");
  }
}

/* Adds an interval to the units that its owner holds. */
static void add_units(counted_units *u, const fs_stream_place *p) {
  u->apart |= u->sum > 0 && u->memory != p->index;
  u->memory = p->index;
  u->sum += p->size;
  u->mode |= p->mode;
}

/* Checks that the owner has as many units of the memory as its size asks for, in that mode. */
static void check_units(place_cursor *x, const counted_units *u, uint32_t memory, uint64_t size,
                        unsigned mode) {
  const fs_stream_memory *m = &x->v->s->memories[memory];
  bool some = u->sum > 0;
  if (u->apart || u->sum != fs_align_up(size, m->align) ||
      (some && (u->memory != memory || u->mode != mode))) {
    wrong_lane(x, "holds not its size, or not in its mode, in", m->name);
  }
}

/* Takes the COUNTED intervals: adds them to the units of each version and each scratch, and returns
 * the sum of all. */
static uint64_t take_counted(place_cursor *x) {
  uint64_t sum = 0;
  const fs_stream_place *p = x->v->s->places + x->c->place0;
  for (uint32_t i = 0; i < x->c->n_places; i++) {
    if (fs_space_has_units(p[i].space)) {
      add_units(p[i].version != FS_NONE ? &use_of_version(x, p[i].version)->units
                                        : units_of(x, x->use->scratch, p[i].arg),
                &p[i]);
      sum += p[i].size;
    }
  }
  return sum;
}

static void check_counted_args(place_cursor *x, const fs_stream_op *o) {
  const fs_stream *s = x->v->s;
  uint64_t all = take_counted(x), owned = 0;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &s->args[i];
    if (!is_access(a) || !fs_vs_counted(&s->memories[s->buffers[a->buffer].memory])) {
      continue;
    }
    const version_use *u = use_of_version(x, a->version);
    if (u->access == i) {
      check_units(x, &u->units, s->buffers[a->buffer].memory, s->buffers[a->buffer].size, u->mode);
      owned += u->units.sum;
    }
  }
  for (uint32_t i = o->scratch0; i < o->scratch0 + o->n_scratches; i++) {
    const fs_stream_scratch *r = &s->scratches[i];
    if (fs_vs_counted(&s->memories[r->memory])) {
      const counted_units *u = units_of(x, x->use->scratch, i);
      check_units(x, u, r->memory, r->size, FS_MODE_W);
      owned += u->sum;
    }
  }
  if (owned != all) {
    wrong_place(x, "counted intervals that belong to none of its accesses");
  }
}

/* Checks the RESOURCE and CONCURRENCY places, which come last. */
static void check_lanes(place_cursor *x, const fs_stream_op *o) {
  const fs_stream *s = x->v->s;
  uint64_t used = 0, wanted = 0, slots = 0;
  for (uint32_t i = 0; i < x->left; i++) {
    if (fs_space_of_resource(x->p[i].space)) {
      add_units(units_of(x, x->use->resource, x->p[i].index), &x->p[i]);
    }
  }
  for (uint32_t k = 0; k < o->n_uses; k++) {
    const fs_stream_use *u = &s->uses[o->use0 + k];
    wanted += u->amount;
    if (units_of(x, x->use->resource, u->resource)->sum != u->amount) {
      wrong_lane(x, "holds not what it uses of", s->resources[u->resource].name);
    }
  }
  for (uint32_t i = 0; i < x->left; i++) {
    const fs_stream_place *p = &x->p[i];
    bool resource = fs_space_of_resource(p->space);
    bool slot = !resource && !fs_space_in_memory(p->space);
    uint64_t limit = resource ? s->resources[p->index].capacity : s->meta[0].concurrency;
    used += resource ? p->size : 0;
    slots += slot ? p->size : 0;
    if ((!resource && !slot) || p->mode != FS_MODE_W || p->version != FS_NONE ||
        p->address > limit || p->size > limit - p->address) {
      wrong_place(x, "not an interval of a resource within its capacity");
    }
  }
  if (used != wanted || slots != (s->meta[0].concurrency > 0 ? 1u : 0u)) {
    wrong_place(x, "holds more or less than its op uses");
  }
}

/* Checks that COUNTED places are in range, and skips them. */
static void skip_counted(place_cursor *x) {
  while (x->left > 0 && fs_space_has_units(x->p->space)) {
    const fs_stream_memory *m = &x->v->s->memories[x->p->index];
    if (!fs_vs_counted(m) || x->p->address > m->capacity ||
        x->p->size > m->capacity - x->p->address) {
      wrong_place(x, "an interval beyond its memory's capacity");
    }
    x->p++;
    x->left--;
  }
}

static void check_run(place_cursor *x) {
  const fs_stream_op *o = &x->v->s->ops[x->c->target];
  for (uint32_t i = 0; i < o->n_args && !x->wrong; i++) {
    if (fs_tag_names_buffer(x->v->s->args[o->arg0 + i].tag)) {
      check_arg(x, o->arg0 + i);
    }
  }
  for (uint32_t i = 0; i < o->n_scratches && !x->wrong; i++) {
    check_scratch(x, o->scratch0 + i);
  }
  if (!x->wrong) {
    skip_counted(x);
    check_counted_args(x, o);
    check_lanes(x, o);
  }
}

/* Checks the copy's intervals in one of its two memories, if that is counted; returns their sum. */
static uint64_t check_counted_copy(place_cursor *x, uint32_t memory, uint64_t size, unsigned mode) {
  counted_units u = {0};
  const fs_stream_place *p = x->v->s->places + x->c->place0;
  if (!fs_vs_counted(&x->v->s->memories[memory])) {
    return 0;
  }
  for (uint32_t i = 0; i < x->c->n_places; i++) {
    if (fs_space_has_units(p[i].space) && p[i].index == memory && p[i].version == x->c->target) {
      add_units(&u, &p[i]);
    }
  }
  check_units(x, &u, memory, size, mode);
  return u.sum;
}

/* Checks source and destination, then the intervals in those of the two that are counted. */
static void check_copy(place_cursor *x) {
  const fs_stream *s = x->v->s;
  uint32_t version = x->c->target;
  const fs_stream_buffer *b = &s->buffers[s->versions[version].buffer];
  uint32_t store = s->memories[b->memory].backing;
  bool write = x->c->direction == FS_SPILL_WRITE;
  const fs_stream_place *from = take_bytes(x);
  const fs_stream_place *to = from == NULL ? NULL : take_bytes(x);
  if (to == NULL || store == FS_NONE) {
    wrong_place(x, "a copy in a memory without a backing store");
    return;
  }
  const fs_stream_place *home = write ? from : to, *away = write ? to : from;
  if (from->mode != FS_MODE_R || to->mode != FS_MODE_W || home->index != b->memory ||
      away->index != store || from->version != version || to->version != version ||
      from->size != b->size || to->size != b->size) {
    wrong_place(x, "not a copy of the version between its memory and the store");
  } else if (!address_fits(&s->memories[home->index], home->address, b->size) ||
             !address_fits(&s->memories[store], away->address, b->size)) {
    wrong_place(x, "the buffer is not aligned, or not inside its memory");
  }
  skip_counted(x);
  uint64_t owned = check_counted_copy(x, b->memory, b->size, write ? FS_MODE_R : FS_MODE_W);
  owned += check_counted_copy(x, store, b->size, write ? FS_MODE_W : FS_MODE_R);
  if (x->left > 0 || owned != take_counted(x)) {
    wrong_place(x, "a copy holds nothing else");
  }
}

/* --- overlap within a command --- */

/* The arg of an op that is its only access of a version, FS_NONE if there are several. */
static uint32_t only_arg(const place_cursor *x, uint32_t version) {
  const version_use *u = use_of_version(x, version);
  return u->n_accesses == 1 ? u->access : FS_NONE;
}

/* Whether the arg begins a new version; a given one does not count, since a replay puts its content
 * there before the op starts. */
static bool begins(const fs_vs *v, const fs_stream_arg *a) {
  return fs_tag_begins(a->tag) ||
         (fs_tag_writes_over(a->tag) && v->s->versions[a->version].given_memory == FS_NONE);
}

/* Whether an output may take the place of an input: both are whole, and of one size. */
static bool takes_place(const place_cursor *c, uint32_t in, uint32_t out) {
  const fs_vs *v = c->v;
  in = only_arg(c, in);
  out = only_arg(c, out);
  if (in == FS_NONE || out == FS_NONE) {
    return false;
  }
  const fs_stream_arg *x = &v->s->args[in], *y = &v->s->args[out];
  return fs_vs_member(v, c->c->target, in) == fs_vs_member(v, c->c->target, out) &&
         fs_tag_only_reads(x->tag) && begins(v, y) && x->length == y->length && fs_vs_whole(x) &&
         fs_vs_whole(y);
}

/* Whether two places of one command may overlap: an output may lie exactly over an input whose
 * place it takes; an address alone is not an access. */
static bool may_overlap(void *cursor_, const fs_stream_place *a, const fs_stream_place *b) {
  const place_cursor *x = cursor_;
  const fs_stream_arg *args = x->v->s->args;
  bool memory = fs_space_has_bytes(a->space);
  if (a->version == FS_NONE || b->version == FS_NONE || !fs_command_has_op(x->c)) {
    return false;
  }
  if (memory && (!fs_tag_accesses(args[a->arg].tag) || !fs_tag_accesses(args[b->arg].tag))) {
    return true;
  }
  return (!memory || (a->address == b->address && a->size == b->size)) &&
         (takes_place(x, a->version, b->version) || takes_place(x, b->version, a->version));
}

static void check_self(place_cursor *x) {
  const fs_stream_place *place = x->v->s->places + x->c->place0, *a, *b;
  if (fs_voverlap_find(&x->use->overlap, place, x->c->n_places, may_overlap, x, &a, &b)) {
    char name[FS_VNAME];
    FS_WRONG(x->v, FS_DIAG_VERIFY_SELF, "%s: its places %u and %u overlap",
             fs_vs_command_name(x->v, x->command, name), (unsigned)(a - place),
             (unsigned)(b - place));
  }
}

/* Checks the places of given and kept content: they belong to the right versions, and lie inside
 * their memory or its store. */
static void check_version_places(fs_vs *v) {
  const fs_stream *s = v->s;
  for (uint32_t i = 0; i < s->n_versions; i++) {
    const fs_stream_version *x = &s->versions[i];
    const fs_stream_buffer *b = &s->buffers[x->buffer];
    uint32_t home = b->memory, store = s->memories[home].backing;
    bool given = x->index == 0 && fs_io_given(b->io);
    bool kept = x->index + 1 == b->n_versions && fs_io_kept(b->io);
    /* Given content that nothing reads may have no place; a reader would find no content there. */
    bool ok = (given || x->given_memory == FS_NONE) && kept == (x->kept_memory != FS_NONE);
    if (ok && x->given_memory != FS_NONE) {
      ok = (x->given_memory == home || x->given_memory == store) &&
           address_fits(&s->memories[x->given_memory], x->given_address, b->size);
    }
    if (ok && kept) {
      ok = (x->kept_memory == home || x->kept_memory == store) &&
           address_fits(&s->memories[x->kept_memory], x->kept_address, b->size);
    }
    if (!ok) {
      char name[FS_VNAME];
      FS_WRONG(v, FS_DIAG_VERIFY_PLACE, "%s is given or kept where it cannot be",
               fs_vs_version_name(v, i, name));
    }
  }
}

static fs_status make_uses(fs_vs *v, uses *u) {
  const fs_stream *s = v->s;
  FS_TRY(fs_voverlap_init(&v->arena, s, &u->overlap));
  FS_TRY(fs_new_none(&v->arena, &u->version, s->n_versions));
  FS_TRY(fs_new_none(&v->arena, &u->scratch, s->n_scratches));
  return fs_new_none(&v->arena, &u->resource, s->n_resources);
}

fs_status fs_vs_places(fs_vs *v) {
  const fs_stream *s = v->s;
  uses use;
  FS_TRY(make_uses(v, &use));
  bool wrong = false;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t occ = v->command_occ[i];
    if (occ != FS_NONE && v->occ_command[v->occ_command0[occ]] != i) {
      continue; /* its places equal those of the first member */
    }
    place_cursor x = {.v = v, .use = &use, .command = i, .c = &s->commands[i]};
    x.p = s->places + x.c->place0;
    x.left = x.c->n_places;
    switch (fs_command_kind_of(x.c)) {
      case FS_COMMAND_RUN:
        check_run(&x);
        break;
      case FS_COMMAND_COPY:
        check_copy(&x);
        break;
    }
    if (!x.wrong) {
      check_self(&x);
    }
    wrong = wrong || x.wrong;
  }
  check_version_places(v);
  return wrong ? FSCHED_WRONG : FSCHED_OK;
}
