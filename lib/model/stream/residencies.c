/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the commands in an order in which they could run.  Each version has two chains of
 * residencies, in its own memory and in the backing store, latest first:
 *
 *     version x   cmx:    [5,10) <- [0,5)       read, then fetched again elsewhere
 *                 ddr:    [64,69)
 *
 * A command may use an older place than the latest if no ordering puts it after the newer filling.
 * The places then differ (else they would conflict), so looking back for the same place finds the
 * right residency.  In counted memories the first interval identifies the place. */
#include "model/stream/residencies.h"

#include "base/group.h"
#include "fsched/graph.h"
#include "model/schedule.h"

#define NOWHERE UINT64_MAX

enum { LOOK_BACK = 16 }; /* a valid plan has one place at a time, so only invalid ones need more */

typedef struct record {
  uint64_t place; /* address, of counted ones the first unit; NOWHERE: not known yet */
  uint64_t address, size;
  uint32_t memory, version, scratch, previous;
  uint32_t touched_by; /* the last command that touched it */
  bool given, kept;
} record;

typedef struct touching {
  uint32_t residency, command;
} touching;

/* The first unit of a version in a counted memory, as used by the last command that had one there.
 */
typedef struct unit {
  uint32_t command;
  uint64_t first;
} unit;

typedef struct residency_finder {
  fsched_context *ctx;
  const fs_stream *s;
  uint32_t *latest;     /* per version: in its memory, then in its store */
  unit *unit;           /* likewise */
  uint32_t *of_scratch; /* per scratch */
  FS_VEC(record) record;
  FS_VEC(touching) touch;
} residency_finder;

static bool bounded(const fs_stream_memory *m) { return m->capacity != FS_UNBOUNDED; }
static bool contiguous(const fs_stream_memory *m) {
  return fs_placement_has_addresses(m->placement);
}

static uint64_t version_size(const fs_stream *s, uint32_t version) {
  return s->buffers[s->versions[version].buffer].size;
}

/* Finds the index of a version in a memory, in lists with two entries per version; false for
 * memories that are ignored. */
static bool find_slot(const residency_finder *f, uint32_t version, uint32_t memory, size_t *slot) {
  assert(version < f->s->n_versions && memory < f->s->n_memories);
  uint32_t home = f->s->buffers[f->s->versions[version].buffer].memory;
  *slot = 2 * (size_t)version + (memory != home);
  return bounded(&f->s->memories[memory]) &&
         (memory == home || memory == f->s->memories[home].backing);
}

/* The chain of a version in a memory, or NULL. */
static uint32_t *chain_of(const residency_finder *f, uint32_t version, uint32_t memory) {
  size_t slot;
  return find_slot(f, version, memory, &slot) ? &f->latest[slot] : NULL;
}

static fs_status add_residency(residency_finder *f, uint32_t memory, uint64_t size, uint64_t place,
                               uint32_t *id) {
  const fs_stream_memory *m = &f->s->memories[memory];
  record r = {.place = place,
              .address = contiguous(m) && place != NOWHERE ? place : 0,
              .size = fs_align_up(size, m->align),
              .memory = memory,
              .version = FS_NONE,
              .scratch = FS_NONE,
              .previous = FS_NONE,
              .touched_by = FS_NONE};
  *id = (uint32_t)f->record.n;
  return fs_vec_push(f->ctx, &f->record, r);
}

static fs_status begin_version(residency_finder *f, uint32_t version, uint32_t memory,
                               uint64_t place, uint32_t *chain) {
  uint32_t id;
  FS_TRY(add_residency(f, memory, version_size(f->s, version), place, &id));
  f->record.at[id].version = version;
  f->record.at[id].previous = *chain;
  *chain = id;
  return FSCHED_OK;
}

/* Begins residencies for content that lies in a bounded memory before the first command. */
static fs_status begin_given(residency_finder *f) {
  const fs_stream *s = f->s;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    uint32_t memory = s->versions[v].given_memory;
    uint32_t *chain = memory == FS_NONE ? NULL : chain_of(f, v, memory);
    if (chain != NULL) {
      bool known = contiguous(&s->memories[memory]);
      FS_TRY(begin_version(f, v, memory, known ? s->versions[v].given_address : NOWHERE, chain));
      f->record.at[*chain].given = true;
    }
  }
  return FSCHED_OK;
}

static uint32_t find_at(const residency_finder *f, uint32_t latest, uint64_t place) {
  assert(latest == FS_NONE || latest < f->record.n);
  uint32_t r = latest;
  for (uint32_t i = 0; i < LOOK_BACK && r != FS_NONE; i++, r = f->record.at[r].previous) {
    if (f->record.at[r].place == place || f->record.at[r].place == NOWHERE) {
      return r;
    }
  }
  return latest;
}

/* Notes a touch once, even if an op touches a residency by several args. */
static fs_status note(residency_finder *f, uint32_t residency, uint32_t command) {
  assert(residency < f->record.n && command < f->s->n_commands);
  record *r = &f->record.at[residency];
  if (r->touched_by == command) {
    return FSCHED_OK;
  }
  r->touched_by = command;
  touching t = {residency, command};
  return fs_vec_push(f->ctx, &f->touch, t);
}

/* An access begins a residency, or touches the latest one at the place. */
static fs_status touch(residency_finder *f, uint32_t command, uint32_t version, uint32_t memory,
                       uint64_t place, bool fills) {
  uint32_t *chain = chain_of(f, version, memory);
  if (chain == NULL) {
    return FSCHED_OK;
  }
  uint32_t id = fills ? FS_NONE : find_at(f, *chain, place);
  if (id == FS_NONE) {
    FS_TRY(begin_version(f, version, memory, place, chain));
    id = *chain;
  }
  if (f->record.at[id].place == NOWHERE) {
    f->record.at[id].place = place;
  }
  return note(f, id, command);
}

/* Notes where the intervals that a command has in counted memories begin. */
static void note_units(residency_finder *f, uint32_t command) {
  const fs_stream_command *c = &f->s->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &f->s->places[i];
    size_t slot;
    if (fs_space_has_units(p->space) && p->version != FS_NONE &&
        find_slot(f, p->version, p->index, &slot) && f->unit[slot].command != command) {
      f->unit[slot] = (unit){command, p->address};
    }
  }
}

/* The first unit of a version in a counted memory, in the command at hand. */
static uint64_t counted_place(const residency_finder *f, uint32_t command, uint32_t version,
                              uint32_t memory) {
  size_t slot;
  bool noted = find_slot(f, version, memory, &slot) && f->unit[slot].command == command;
  return noted ? f->unit[slot].first : 0; /* of size 0 */
}

static fs_status touch_place(residency_finder *f, uint32_t command, const fs_stream_place *p,
                             bool fills) {
  const fs_stream *s = f->s;
  const fs_stream_command *c = &s->commands[command];
  uint64_t place = p->address;
  if (!bounded(&s->memories[p->index])) {
    return FSCHED_OK;
  }
  if (!contiguous(&s->memories[p->index])) {
    place = counted_place(f, command, p->version, p->index);
  } else if (fs_command_has_op(c)) {
    uint64_t offset = s->args[p->arg].offset;
    place = place > offset ? place - offset : 0;
  }
  return touch(f, command, p->version, p->index, place, fills);
}

static fs_status touch_scratch(residency_finder *f, uint32_t command, const fs_stream_place *p) {
  const fs_stream *s = f->s;
  uint32_t *id = &f->of_scratch[p->arg];
  if (!bounded(&s->memories[p->index])) {
    return FSCHED_OK;
  }
  if (*id == FS_NONE) {
    FS_TRY(add_residency(f, p->index, s->scratches[p->arg].size, p->address, id));
    f->record.at[*id].scratch = p->arg;
  }
  return note(f, *id, command);
}

static bool is_access(const fs_stream *s, const fs_stream_place *p) {
  return fs_space_has_bytes(p->space) && p->version != FS_NONE &&
         (p->arg == FS_NONE || fs_tag_accesses(s->args[p->arg].tag));
}

static fs_status walk_command(residency_finder *f, uint32_t command) {
  const fs_stream *s = f->s;
  const fs_stream_command *c = &s->commands[command];
  note_units(f, command);
  for (uint32_t i = 0; i < c->n_places; i++) {
    const fs_stream_place *p = &s->places[c->place0 + i];
    if (is_access(s, p)) {
      FS_TRY(touch_place(f, command, p, fs_command_has_version(c) && i == 1));
    } else if (fs_space_in_memory(p->space) && p->version == FS_NONE && p->arg != FS_NONE) {
      FS_TRY(touch_scratch(f, command, p));
    }
  }
  return FSCHED_OK;
}

static void mark_kept(residency_finder *f) {
  const fs_stream *s = f->s;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    uint32_t memory = s->versions[v].kept_memory;
    const uint32_t *chain = memory == FS_NONE ? NULL : chain_of(f, v, memory);
    if (chain != NULL && *chain != FS_NONE) {
      bool known = contiguous(&s->memories[memory]);
      f->record.at[known ? find_at(f, *chain, s->versions[v].kept_address) : *chain].kept = true;
    }
  }
}

static fs_status make_arrays(fs_arena *a, uint32_t n, fs_stream_residencies *out) {
  out->n = n;
  FS_TRY(fs_new(a, &out->memory, n));
  FS_TRY(fs_new(a, &out->version, n));
  FS_TRY(fs_new(a, &out->scratch, n));
  FS_TRY(fs_new(a, &out->address, n));
  FS_TRY(fs_new(a, &out->size, n));
  FS_TRY(fs_new(a, &out->given, n));
  FS_TRY(fs_new(a, &out->kept, n));
  return fs_new_zero(a, &out->touch0, (size_t)n + 2);
}

static fs_status take_records(const residency_finder *f, fs_arena *arena,
                              fs_stream_residencies *out) {
  uint32_t n = (uint32_t)f->record.n;
  FS_TRY(make_arrays(arena, n, out));
  FS_TRY(fs_new(arena, &out->touch, f->touch.n));
  for (uint32_t i = 0; i < n; i++) {
    const record *r = &f->record.at[i];
    out->memory[i] = r->memory;
    out->version[i] = r->version;
    out->scratch[i] = r->scratch;
    out->address[i] = r->address;
    out->size[i] = r->size;
    out->given[i] = r->given;
    out->kept[i] = r->kept;
  }
  for (size_t i = 0; i < f->touch.n; i++) {
    out->touch0[f->touch.at[i].residency + 2]++;
  }
  fs_group_sum(out->touch0, n);
  for (size_t i = 0; i < f->touch.n; i++) {
    out->touch[out->touch0[f->touch.at[i].residency + 1]++] = f->touch.at[i].command;
  }
  return FSCHED_OK;
}

static fs_status find_residencies(residency_finder *f, fs_arena *arena,
                                  const fs_stream_order *order, fs_stream_residencies *out) {
  FS_TRY(fs_new_none(arena, &f->latest, 2 * (size_t)f->s->n_versions));
  FS_TRY(fs_new_none(arena, &f->unit, 2 * (size_t)f->s->n_versions));
  FS_TRY(fs_new_none(arena, &f->of_scratch, f->s->n_scratches));
  FS_TRY(begin_given(f));
  for (uint32_t i = 0; i < f->s->n_commands; i++) {
    FS_TRY(walk_command(f, order->order[i]));
  }
  mark_kept(f);
  return take_records(f, arena, out);
}

fs_status fs_stream_residencies_find(fs_arena *arena, const fs_stream *s,
                                     const fs_stream_order *order, fs_stream_residencies *out) {
  assert(s->n_meta == 1 && order->order != NULL);
  *out = (fs_stream_residencies){.s = s};
  residency_finder f = {.ctx = arena->ctx, .s = s};
  fs_status status = find_residencies(&f, arena, order, out);
  fs_vec_free(f.ctx, &f.record);
  fs_vec_free(f.ctx, &f.touch);
  return status;
}

void fs_stream_residencies_time(const fs_stream_residencies *r, const uint64_t *begin,
                                const uint64_t *end, uint64_t last, fs_time_span *span) {
  assert(r->s->n_commands == 0 || (begin != NULL && end != NULL));
  for (uint32_t i = 0; i < r->n; i++) {
    span[i] = (fs_time_span){UINT64_MAX, 0};
    for (uint32_t t = r->touch0[i]; t < r->touch0[i + 1]; t++) {
      span[i].begin = fs_min(span[i].begin, begin[r->touch[t]]);
      span[i].end = fs_max(span[i].end, end[r->touch[t]]);
    }
    if (r->given[i]) {
      span[i].begin = 0;
    }
    if (r->kept[i]) {
      span[i].end = last;
    }
  }
}
