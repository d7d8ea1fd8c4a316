/* SPDX-License-Identifier: Apache-2.0 */
/* Are a command's places those that its op, or its copy, has to touch?  One per argument, at an
 * aligned address inside the memory; scratch; and exactly the amounts of counted memories,
 * resources and concurrency, as intervals that do not overlap within the command. */
#include <stdio.h>
#include <stdlib.h>

#include "context.h"
#include "verify_stream.h"

typedef struct cursor {
  fs_vs *v;
  uint32_t command;
  const fs_stream_command *c;
  const fs_stream_place *p; /* next place */
  uint32_t left;
  bool wrong; /* reported */
} cursor;

static void wrong_place(cursor *x, const char *what) {
  if (!x->wrong) {
    char name[FS_VNAME];
    FS_WRONG(x->v, FS_DIAG_VERIFY_PLACE, "%s, place %u: %s",
             fs_vs_command_name(x->v, x->command, name), x->c->n_places - x->left, what);
  }
  x->wrong = true;
}

static void wrong_lane(cursor *x, const char *what, uint32_t memory_or_resource_name) {
  if (!x->wrong) {
    char name[FS_VNAME];
    FS_WRONG(x->v, FS_DIAG_VERIFY_LANE, "%s: %s %s", fs_vs_command_name(x->v, x->command, name),
             what, fs_vs_string(x->v, memory_or_resource_name));
  }
  x->wrong = true;
}

/* The whole of what `size` bytes at `base` stand for lies inside the memory and is aligned. */
static bool address_fits(const fs_stream_memory *m, uint64_t base, uint64_t size) {
  if (base > FSCHED_MAX_SIZE * 64 || size > FSCHED_MAX_SIZE || base + size > m->extent ||
      (fs_vs_contiguous(m) && base % m->align != 0)) {
    return false;
  }
  return !fs_vs_contiguous(m) || base + fs_align_up(size, m->align) <= m->capacity;
}

/* An address without dependencies may be looked at. */
static unsigned arg_mode(const fs_stream_arg *a) {
  return a->tag == FSCHED_NO_DEP
             ? FS_MODE_R
             : (fs_tag_reads(a->tag) ? FS_MODE_R : 0u) | (fs_tag_writes(a->tag) ? FS_MODE_W : 0u);
}

static const fs_stream_place *take(cursor *x, uint32_t space) {
  if (x->left == 0 || x->p->space != space) {
    wrong_place(x, "a place is missing");
    return NULL;
  }
  x->left--;
  return x->p++;
}

static void check_arg(cursor *x, uint32_t arg) {
  const fs_stream *s = x->v->s;
  const fs_stream_arg *a = &s->args[arg];
  const fs_stream_place *p = take(x, FS_SPACE_MEMORY);
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
  }
}

static void check_scratch(cursor *x, uint32_t scratch) {
  const fs_stream *s = x->v->s;
  const fs_stream_scratch *r = &s->scratches[scratch];
  const fs_stream_memory *m = &s->memories[r->memory];
  if (!fs_vs_contiguous(m) || (r->size == 0 && (x->left == 0 || x->p->arg != scratch))) {
    return;
  }
  const fs_stream_place *p = take(x, FS_SPACE_MEMORY);
  if (p == NULL) {
    return;
  }
  if (p->version != FS_NONE || p->arg != scratch || p->index != r->memory || p->mode != FS_MODE_W ||
      p->size < r->size || p->size > fs_align_up(r->size, m->align) ||
      !address_fits(m, p->address, p->size)) {
    wrong_place(x, "not the op's scratch");
  }
}

/* Sum of the command's COUNTED places of an owner: a version, or a scratch. */
static uint64_t counted_sum(const cursor *x, uint32_t memory, uint32_t version, uint32_t scratch,
                            unsigned *mode) {
  uint64_t sum = 0;
  const fs_stream_place *p = x->v->s->places + x->c->place0;
  *mode = 0;
  for (uint32_t i = 0; i < x->c->n_places; i++) {
    if (p[i].space == FS_SPACE_COUNTED && p[i].index == memory && p[i].version == version &&
        (version != FS_NONE || p[i].arg == scratch)) {
      sum += p[i].size;
      *mode |= p[i].mode;
    }
  }
  return sum;
}

static uint64_t counted_total(const cursor *x) {
  uint64_t sum = 0;
  const fs_stream_place *p = x->v->s->places + x->c->place0;
  for (uint32_t i = 0; i < x->c->n_places; i++) {
    sum += p[i].space == FS_SPACE_COUNTED ? p[i].size : 0;
  }
  return sum;
}

/* The command's intervals for a version in a memory, if that is counted; adds them to *total. */
static void check_counted(cursor *x, uint32_t memory, uint32_t version, uint32_t scratch,
                          uint64_t size, unsigned mode, uint64_t *total) {
  const fs_stream_memory *m = &x->v->s->memories[memory];
  if (!fs_vs_counted(m)) {
    return;
  }
  unsigned found;
  uint64_t sum = counted_sum(x, memory, version, scratch, &found);
  *total += sum;
  if (sum != fs_align_up(size, m->align) || (sum > 0 && found != mode)) {
    wrong_lane(x, "holds not its size, or not in its mode, in", m->name);
  }
}

static void check_counted_args(cursor *x, const fs_stream_op *o) {
  const fs_stream *s = x->v->s;
  uint64_t total = 0;
  for (uint32_t i = 0; i < o->n_args; i++) {
    const fs_stream_arg *a = &s->args[o->arg0 + i];
    if (a->tag == FSCHED_VALUE || a->tag == FSCHED_NO_DEP ||
        !fs_vs_counted(&s->memories[s->buffers[a->buffer].memory])) {
      continue;
    }
    unsigned mode = 0;
    bool again = false;
    for (uint32_t k = 0; k < o->n_args && !again; k++) {
      const fs_stream_arg *b = &s->args[o->arg0 + k];
      bool same = b->version == a->version && b->tag != FSCHED_NO_DEP;
      again = same && k < i;
      mode |= same ? arg_mode(b) : 0;
    }
    if (!again) {
      check_counted(x, s->buffers[a->buffer].memory, a->version, FS_NONE,
                    s->buffers[a->buffer].size, mode, &total);
    }
  }
  for (uint32_t i = 0; i < o->n_scratches; i++) {
    const fs_stream_scratch *r = &s->scratches[o->scratch0 + i];
    check_counted(x, r->memory, FS_NONE, o->scratch0 + i, r->size, FS_MODE_W, &total);
  }
  if (total != counted_total(x)) {
    wrong_place(x, "counted intervals that belong to none of its accesses");
  }
}

/* RESOURCE and CONCURRENCY places, which come last. */
static void check_lanes(cursor *x, const fs_stream_op *o) {
  const fs_stream *s = x->v->s;
  uint64_t used = 0, wanted = 0, slots = 0;
  for (uint32_t k = 0; k < o->n_uses; k++) {
    const fs_stream_use *u = &s->uses[o->use0 + k];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < x->left; i++) {
      bool mine = x->p[i].space == FS_SPACE_RESOURCE && x->p[i].index == u->resource;
      sum += mine ? x->p[i].size : 0;
    }
    wanted += u->amount;
    if (sum != u->amount) {
      wrong_lane(x, "holds not what it uses of", s->resources[u->resource].name);
    }
  }
  for (uint32_t i = 0; i < x->left; i++) {
    const fs_stream_place *p = &x->p[i];
    bool resource = p->space == FS_SPACE_RESOURCE, slot = p->space == FS_SPACE_CONCURRENCY;
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

/* COUNTED places are in range; skips them. */
static void skip_counted(cursor *x) {
  while (x->left > 0 && x->p->space == FS_SPACE_COUNTED) {
    const fs_stream_memory *m = &x->v->s->memories[x->p->index];
    if (!fs_vs_counted(m) || x->p->address > m->capacity ||
        x->p->size > m->capacity - x->p->address) {
      wrong_place(x, "an interval beyond its memory's capacity");
    }
    x->p++;
    x->left--;
  }
}

static void check_run(cursor *x) {
  const fs_stream_op *o = &x->v->s->ops[x->c->target];
  for (uint32_t i = 0; i < o->n_args && !x->wrong; i++) {
    if (x->v->s->args[o->arg0 + i].tag != FSCHED_VALUE) {
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

/* Source, destination, then intervals of those that are counted. */
static void check_copy(cursor *x) {
  const fs_stream *s = x->v->s;
  uint32_t version = x->c->target;
  const fs_stream_buffer *b = &s->buffers[s->versions[version].buffer];
  uint32_t store = s->memories[b->memory].backing;
  bool write = x->c->direction == FS_SPILL_WRITE;
  const fs_stream_place *from = take(x, FS_SPACE_MEMORY);
  const fs_stream_place *to = from == NULL ? NULL : take(x, FS_SPACE_MEMORY);
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
  uint64_t total = 0;
  skip_counted(x);
  check_counted(x, b->memory, version, FS_NONE, b->size, write ? FS_MODE_R : FS_MODE_W, &total);
  check_counted(x, store, version, FS_NONE, b->size, write ? FS_MODE_W : FS_MODE_R, &total);
  if (x->left > 0 || total != counted_total(x)) {
    wrong_place(x, "a copy holds nothing else");
  }
}

/* --- overlap within a command --- */

static int by_place(const void *a, const void *b) {
  const fs_stream_place *x = *(const fs_stream_place *const *)a;
  const fs_stream_place *y = *(const fs_stream_place *const *)b;
  if (x->space != y->space) {
    return x->space < y->space ? -1 : 1;
  }
  if (x->index != y->index) {
    return x->index < y->index ? -1 : 1;
  }
  if (x->address != y->address) {
    return x->address < y->address ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

/* The arg of an op that is its only access of a version, FS_NONE if there are several. */
static uint32_t only_arg(const fs_vs *v, const fs_stream_op *o, uint32_t version) {
  uint32_t found = FS_NONE;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &v->s->args[i];
    if (a->version == version && a->tag != FSCHED_VALUE && a->tag != FSCHED_NO_DEP) {
      if (found != FS_NONE) {
        return FS_NONE;
      }
      found = i;
    }
  }
  return found;
}

/* An output may take the place of an input: both whole, of one size. */
static bool takes_place(const fs_vs *v, const fs_stream_command *c, uint32_t in, uint32_t out) {
  const fs_stream_op *o = &v->s->ops[c->target];
  in = only_arg(v, o, in);
  out = only_arg(v, o, out);
  if (in == FS_NONE || out == FS_NONE) {
    return false;
  }
  const fs_stream_arg *x = &v->s->args[in], *y = &v->s->args[out];
  return x->tag == FSCHED_IN && (y->tag == FSCHED_OUT || y->tag == FSCHED_OUT_EXISTING) &&
         x->length == y->length && fs_vs_whole(v, x) && fs_vs_whole(v, y);
}

/* Two places of one command that overlap: arguments of one version may; an output may lie exactly
 * over an input whose place it takes; an address alone is no access. */
static bool may_overlap(const fs_vs *v, const fs_stream_command *c, const fs_stream_place *a,
                        const fs_stream_place *b) {
  bool memory = a->space == FS_SPACE_MEMORY;
  if (memory && !((a->mode | b->mode) & FS_MODE_W)) {
    return true;
  }
  if (a->version == FS_NONE || b->version == FS_NONE || c->kind != FS_COMMAND_RUN) {
    return false;
  }
  if (memory && (a->version == b->version || v->s->args[a->arg].tag == FSCHED_NO_DEP ||
                 v->s->args[b->arg].tag == FSCHED_NO_DEP)) {
    return true;
  }
  return (!memory || (a->address == b->address && a->size == b->size)) &&
         (takes_place(v, c, a->version, b->version) || takes_place(v, c, b->version, a->version));
}

static void check_self(cursor *x, const fs_stream_place **sorted) {
  const fs_stream_place *place = x->v->s->places + x->c->place0;
  uint32_t n = x->c->n_places;
  for (uint32_t i = 0; i < n; i++) {
    sorted[i] = &place[i];
  }
  if (n > 1) {
    qsort(sorted, n, sizeof *sorted, by_place);
  }
  for (uint32_t i = 0; i < n; i++) {
    const fs_stream_place *a = sorted[i];
    for (uint32_t k = i + 1; k < n; k++) {
      const fs_stream_place *b = sorted[k];
      if (b->space != a->space || b->index != a->index || b->address >= a->address + a->size) {
        break;
      }
      if (b->size > 0 && !may_overlap(x->v, x->c, a, b)) {
        char name[FS_VNAME];
        FS_WRONG(x->v, FS_DIAG_VERIFY_SELF, "%s: its places %u and %u overlap",
                 fs_vs_command_name(x->v, x->command, name), (unsigned)(a - place),
                 (unsigned)(b - place));
        return;
      }
    }
  }
}

/* Given and kept content: the versions that have it, inside their memory or its store. */
static void check_version_places(fs_vs *v) {
  const fs_stream *s = v->s;
  for (uint32_t i = 0; i < s->n_versions; i++) {
    const fs_stream_version *x = &s->versions[i];
    const fs_stream_buffer *b = &s->buffers[x->buffer];
    uint32_t home = b->memory, store = s->memories[home].backing;
    bool given = x->index == 0 && (b->io == FSCHED_IO_INPUT || b->io == FSCHED_IO_CONSTANT ||
                                   b->io == FSCHED_IO_STATE);
    bool kept =
        x->index + 1 == b->n_versions && (b->io == FSCHED_IO_OUTPUT || b->io == FSCHED_IO_STATE);
    /* Given content that nothing reads may be nowhere; what reads it would find nothing there. */
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

fs_status fs_vs_places(fs_vs *v) {
  const fs_stream *s = v->s;
  const fs_stream_place **sorted;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    longest = longest < s->commands[i].n_places ? s->commands[i].n_places : longest;
  }
  FS_TRY(fs_new(&v->arena, &sorted, longest));
  bool wrong = false;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t occ = v->command_occ[i];
    if (occ != FS_NONE && v->occ_command[v->occ_command0[occ]] != i) {
      continue; /* the same places as the first member's */
    }
    cursor x = {.v = v, .command = i, .c = &s->commands[i]};
    x.p = s->places + x.c->place0;
    x.left = x.c->n_places;
    if (x.c->kind == FS_COMMAND_RUN) {
      check_run(&x);
    } else {
      check_copy(&x);
    }
    if (!x.wrong) {
      check_self(&x, sorted);
    }
    wrong = wrong || x.wrong;
  }
  check_version_places(v);
  return wrong ? FSCHED_WRONG : FSCHED_OK;
}
