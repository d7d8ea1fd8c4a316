/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/edit.h"

#include <check.h>
#include <stdlib.h>

#include "codegen/draft.h"
#include "fsched/graph.h"
#include "kit/mutate/mutate_private.h"

const char *fs_edit_name(fs_edit edit) {
  static const char *const name[] = {
#define FS_EDIT_NAME_(id, text) text,
      FS_EDITS(FS_EDIT_NAME_)
#undef FS_EDIT_NAME_
  };
  return name[edit];
}

#define BUFFER(m) REC(m, buffers, fs_stream_buffer)
#define VERSION(m) REC(m, versions, fs_stream_version)
#define ARG(m) REC(m, args, fs_stream_arg)
#define PLACE(m) REC(m, places, fs_stream_place)
#define MEMORY(m) REC(m, memories, fs_stream_memory)
#define OP(m) REC(m, ops, fs_stream_op)

static bool of_arg(const fs_stream_place *p, uint32_t arg) {
  return p->space == FS_SPACE_MEMORY && p->version != FS_NONE && p->arg == arg;
}

static bool of_version(const fs_stream_place *p, uint32_t version) {
  return p->space == FS_SPACE_MEMORY && p->version == version && version != FS_NONE;
}

static uint64_t base_of(const fs_stream *s, const fs_stream_place *p) {
  return p->address - (p->arg == FS_NONE ? 0 : s->args[p->arg].offset);
}

static void make_room(mutant *m, uint32_t memory, uint64_t end) {
  MEMORY(m)[memory].extent = fs_max(m->s->memories[memory].extent, end);
}

/* Gives an arg a range, and changes its places to match. */
static void set_range(mutant *m, uint32_t arg, uint64_t offset, uint64_t length) {
  fs_stream_arg *a = &ARG(m)[arg];
  for (uint32_t i = 0; i < m->s->n_places; i++) {
    if (of_arg(&m->s->places[i], arg)) {
      PLACE(m)[i].address += offset - a->offset;
      PLACE(m)[i].size = length;
    }
  }
  uint64_t size = m->s->buffers[a->buffer].size;
  a->offset = offset;
  a->length = length;
  a->has_at = !(offset == 0 && length == size);
}

static bool resize(mutant *m) {
  uint32_t b = pick(m, m->s->n_buffers);
  uint64_t old = m->s->buffers[b].size;
  uint64_t size = fs_rng_one_in(m->rng, 2) ? old + 1 + pick(m, 8)
                                           : old - pick(m, (uint32_t)fs_min(old, 64) + 1);
  BUFFER(m)[b].size = BUFFER(m)[b].io_size = size;
  for (uint32_t i = 0; i < m->s->n_args; i++) {
    const fs_stream_arg *a = &m->s->args[i];
    if (a->buffer == b && !a->has_at) {
      set_range(m, i, 0, size);
    } else if (a->buffer == b) {
      uint64_t offset = fs_min(a->offset, size == 0 ? 0 : size - 1);
      set_range(m, i, offset, fs_min(a->length, size - offset));
    }
  }
  for (uint32_t i = 0; i < m->s->n_places; i++) {
    fs_stream_place *p = &PLACE(m)[i];
    if (p->space <= FS_SPACE_COUNTED && p->version != FS_NONE &&
        m->s->versions[p->version].buffer == b) {
      p->size = p->space == FS_SPACE_COUNTED || p->arg == FS_NONE ? size : p->size;
      make_room(m, p->index, p->space == FS_SPACE_MEMORY ? base_of(m->s, p) + size : 0);
    }
  }
  return size != old;
}

/* Moves all places of a version in a memory together, with what is given and kept there. */
static void move_all(mutant *m, uint32_t version, uint32_t memory, uint64_t by) {
  fs_stream_version *v = &VERSION(m)[version];
  uint64_t size = m->s->buffers[v->buffer].size;
  for (uint32_t i = 0; i < m->s->n_places; i++) {
    fs_stream_place *p = &PLACE(m)[i];
    if (of_version(p, version) && p->index == memory) {
      p->address += by;
      make_room(m, memory, base_of(m->s, p) + size);
    }
  }
  v->given_address += v->given_memory == memory ? by : 0;
  v->kept_address += v->kept_memory == memory ? by : 0;
  make_room(m, memory,
            fs_max(v->given_memory == memory ? v->given_address + size : 0,
                   v->kept_memory == memory ? v->kept_address + size : 0));
}

static bool move_place(mutant *m) {
  uint32_t at = pick(m, m->s->n_places);
  const fs_stream_place p = m->s->places[at];
  if (p.space != FS_SPACE_MEMORY || p.version == FS_NONE) {
    return false;
  }
  const fs_stream_memory *memory = &m->s->memories[p.index];
  uint64_t steps = fs_min(memory->extent / memory->align + 2, 1 << 20);
  uint64_t to = pick(m, (uint32_t)steps) * memory->align, from = base_of(m->s, &p);
  if (fs_rng_one_in(m->rng, 2)) { /* over another version's place, or beside it */
    const fs_stream_place *q = &m->s->places[pick(m, m->s->n_places)];
    uint64_t size = m->s->buffers[m->s->versions[p.version].buffer].size;
    to = q->space != FS_SPACE_MEMORY || q->version == FS_NONE ? to
         : fs_rng_one_in(m->rng, 2)                           ? base_of(m->s, q) + size / 2
                                                              : base_of(m->s, q);
  }
  move_all(m, p.version, p.index, to - from);
  return to != from;
}

static bool change_range(mutant *m) {
  uint32_t i = pick(m, m->s->n_args);
  const fs_stream_arg a = m->s->args[i];
  uint64_t size = a.buffer == FS_NONE ? 0 : m->s->buffers[a.buffer].size;
  if (size == 0) {
    return false;
  }
  uint64_t offset = pick(m, (uint32_t)fs_min(size, 1 << 16));
  uint64_t length = 1 + pick(m, (uint32_t)fs_min(size - offset, 1 << 16));
  bool whole = fs_rng_one_in(m->rng, 4);
  set_range(m, i, whole ? 0 : offset, whole ? size : length);
  if (a.tag == FSCHED_OUT && m->s->args[i].has_at && a.version != FS_NONE) {
    ARG(m)[i].tag = FSCHED_OUT_EXISTING; /* this is right where the arg starts the first version */
  }
  return m->s->args[i].offset != a.offset || m->s->args[i].length != a.length;
}

static uint8_t mode_of(uint32_t tag) {
  static const uint8_t mode[] = {[FSCHED_IN] = FS_MODE_R,
                                 [FSCHED_OUT] = FS_MODE_W,
                                 [FSCHED_INOUT] = FS_MODE_RW,
                                 [FSCHED_OUT_EXISTING] = FS_MODE_W,
                                 [FSCHED_NO_DEP] = FS_MODE_R};
  return mode[tag];
}

static bool change_tag(mutant *m) {
  uint32_t i = pick(m, m->s->n_args);
  fs_stream_arg *a = &ARG(m)[i];
  uint32_t tag = pick(m, FSCHED_VALUE), old = a->tag;
  if (old == FSCHED_VALUE || tag == old) {
    return false;
  }
  a->tag = tag;
  for (uint32_t k = 0; k < m->s->n_places; k++) {
    const fs_stream_place *p = &m->s->places[k];
    if (of_arg(p, i) || (p->space == FS_SPACE_COUNTED && p->version == a->version)) {
      PLACE(m)[k].mode = mode_of(tag);
    }
  }
  return true;
}

/* Finds the place that a version has first, or last; false when nothing touches it. */
static bool find_place(const fs_stream *s, uint32_t version, bool last, uint32_t *memory,
                       uint64_t *address) {
  bool found = false;
  for (uint32_t i = 0; i < s->n_places; i++) {
    if (of_version(&s->places[i], version) && (!found || last)) {
      *memory = s->places[i].index;
      *address = base_of(s, &s->places[i]);
      found = true;
    }
  }
  return found;
}

static bool set_io(mutant *m, uint32_t b, uint32_t io) {
  const fs_stream_buffer *x = &m->s->buffers[b];
  uint32_t old = x->io, n = x->n_versions;
  BUFFER(m)[b].io = io;
  for (uint32_t k = 0; k < n; k++) {
    fs_stream_version *v = &VERSION(m)[x->version0 + k];
    bool given =
        k == 0 && (io == FSCHED_IO_INPUT || io == FSCHED_IO_CONSTANT || io == FSCHED_IO_STATE);
    bool kept = k + 1 == n && (io == FSCHED_IO_OUTPUT || io == FSCHED_IO_STATE);
    if (given != (v->given_memory != FS_NONE)) {
      v->given_memory = FS_NONE;
      v->given_address = 0;
      (void)(given &&
             find_place(m->s, x->version0 + k, false, &v->given_memory, &v->given_address));
    }
    if (kept != (v->kept_memory != FS_NONE)) {
      v->kept_memory = FS_NONE;
      v->kept_address = 0;
      (void)(kept && find_place(m->s, x->version0 + k, true, &v->kept_memory, &v->kept_address));
    }
  }
  return io != old;
}

bool fs_edit_io(fsched_program *copy, uint32_t buffer, uint32_t io) {
  mutant m = {&copy->view, NULL};
  return set_io(&m, buffer, io);
}

static bool change_kernel(mutant *m) {
  uint32_t i = pick(m, m->s->n_ops), old = m->s->ops[i].kernel;
  uint32_t kernel = pick(m, m->s->n_kernels + 1);
  OP(m)[i].kernel = kernel == m->s->n_kernels ? FS_NONE : kernel;
  if (fs_rng_one_in(m->rng, 8) && m->s->n_kernels > 0) {
    fs_stream_kernel *k = &REC(m, kernels, fs_stream_kernel)[pick(m, m->s->n_kernels)];
    uint32_t *field[] = {&k->module, &k->function, &k->grid[0], &k->block[2]};
    *field[pick(m, 4)] = fs_rng_one_in(m->rng, 2) ? k->builtin : pick(m, 3);
    k->builtin = fs_rng_one_in(m->rng, 4) ? FS_NONE : k->builtin;
  }
  return m->s->ops[i].kernel != old;
}

static bool change_value(mutant *m) {
  uint32_t i = pick(m, m->s->n_args);
  ARG(m)[i].value += m->s->args[i].tag == FSCHED_VALUE ? 1 + pick(m, 9) : 0;
  return m->s->args[i].tag == FSCHED_VALUE;
}

/* Changes the name of an op, or of a buffer, whose given content is then another. */
static bool change_name(mutant *m) {
  uint32_t name = fs_rng_one_in(m->rng, 2) ? m->s->ops[pick(m, m->s->n_ops)].name
                                           : m->s->buffers[pick(m, m->s->n_buffers)].name;
  REC(m, strings, char)[name] = (char)('A' + pick(m, 26));
  return true;
}

static bool change_memory(mutant *m) {
  fs_stream_memory *x = &MEMORY(m)[pick(m, m->s->n_memories)];
  switch (pick(m, 4)) {
    case 0:
      x->extent += pick(m, 64);
      return true;
    case 1:
      x->capacity = fs_rng_one_in(m->rng, 2) ? FS_UNBOUNDED : x->extent + pick(m, 8);
      return true;
    case 2:
      x->align = (uint64_t)1 << pick(m, 4);
      return true;
    default:
      x->backing = fs_rng_one_in(m->rng, 2) ? FS_NONE : pick(m, m->s->n_memories);
      return true;
  }
}

/* Does an op write all of the version whatever it contained? Then nobody sees its given content,
 * which may be anywhere. */
static bool overwritten(const fs_stream *s, uint32_t version) {
  for (uint32_t i = 0; i < s->n_args; i++) {
    if (s->args[i].version == version && s->args[i].tag == FSCHED_OUT_EXISTING &&
        !s->args[i].has_at) {
      return true;
    }
  }
  return false;
}

static bool change_given_kept(mutant *m) {
  uint32_t at = pick(m, m->s->n_versions), n = m->s->n_versions;
  bool aimed = fs_rng_one_in(m->rng, 2);
  for (uint32_t i = 0; i < n && aimed && !overwritten(m->s, at); i++) {
    at = (at + 1) % n;
  }
  fs_stream_version *v = &VERSION(m)[at];
  bool given = fs_rng_one_in(m->rng, 2);
  uint32_t *memory = given ? &v->given_memory : &v->kept_memory;
  uint64_t *address = given ? &v->given_address : &v->kept_address;
  if (*memory == FS_NONE) {
    return false;
  }
  const fs_stream_memory *x = &m->s->memories[*memory];
  if (fs_rng_one_in(m->rng, 4)) {
    *memory = pick(m, m->s->n_memories);
  } else if (fs_rng_one_in(m->rng, 2)) { /* a few bytes from where its commands find it */
    uint64_t by = (1 + pick(m, 4)) * x->align;
    *address = fs_rng_one_in(m->rng, 2) ? *address + by : *address - fs_min(by, *address);
  } else {
    *address = pick(m, (uint32_t)fs_min(x->extent / x->align + 1, 1 << 20)) * x->align;
  }
  make_room(m, *memory, *address + m->s->buffers[v->buffer].size);
  return true;
}

static bool change_limit(mutant *m) {
  fs_stream_meta *meta = REC(m, meta, fs_stream_meta);
  switch (pick(m, 3)) {
    case 0:
      meta->frontier_capacity += 1 + pick(m, 4);
      return true;
    case 1:
      meta->lower_bound -= fs_min(meta->lower_bound, pick(m, 3));
      return true;
    default:
      if (m->s->n_resources > 0) {
        REC(m, resources, fs_stream_resource)[pick(m, m->s->n_resources)].capacity += pick(m, 5);
      }
      return m->s->n_resources > 0;
  }
}

bool fs_edit_program(fsched_program *copy, fs_edit edit, fs_rng *rng) {
  mutant m = {&copy->view, rng};
  if (m.s->n_commands == 0 || m.s->n_buffers == 0 || m.s->n_args == 0 || m.s->n_places == 0 ||
      m.s->n_versions == 0) {
    return false;
  }
  switch (edit) {
    case FS_EDIT_SIZE:
      return resize(&m);
    case FS_EDIT_PLACE:
      return move_place(&m);
    case FS_EDIT_RANGE:
      return change_range(&m);
    case FS_EDIT_TAG:
      return change_tag(&m);
    case FS_EDIT_IO:
      return set_io(&m, pick(&m, m.s->n_buffers), pick(&m, FSCHED_IO_STATE + 1));
    case FS_EDIT_KERNEL:
      return change_kernel(&m);
    case FS_EDIT_VALUE:
      return change_value(&m);
    case FS_EDIT_NAME:
      return change_name(&m);
    case FS_EDIT_MEMORY:
      return change_memory(&m);
    case FS_EDIT_HAZARDS:
      REC(&m, meta, fs_stream_meta)->hazards ^= 1;
      return true;
    case FS_EDIT_GIVEN_KEPT:
      return change_given_kept(&m);
    case FS_EDIT_LIMIT:
      return change_limit(&m);
    default:
      return fs_mutate_program(copy, (fs_program_mutation)pick(&m, FS_PROGRAM_MUTATION_COUNT), rng);
  }
}

/* --- bytes --- */

/* Lays out lists so that those of a command follow those of the command before. */
static void tile_lists(const fs_stream *s, fs_draft *d) {
  uint32_t waits = 0, frontiers = 0, places = 0, barrier_waits = 0, updates = 0;
#define TAKE(first, count, section, at)                                              \
  do {                                                                               \
    memcpy(d->section + (at), s->section + c->first, c->count * sizeof *d->section); \
    c->first = (at);                                                                 \
    (at) += c->count;                                                                \
  } while (0)
  for (uint32_t i = 0; i < s->n_commands; i++) {
    fs_stream_command *c = &d->commands[i];
    TAKE(wait0, n_waits, waits, waits);
    TAKE(frontier0, n_frontier, frontiers, frontiers);
    TAKE(place0, n_places, places, places);
    if (s->meta->sync == FS_SYNC_BARRIER) {
      TAKE(barrier_wait0, n_barrier_waits, barrier_waits, barrier_waits);
      TAKE(barrier_update0, n_barrier_updates, barrier_updates, updates);
    }
  }
#undef TAKE
}

static void count_lists(const fs_stream *s, fs_draft *d) {
  d->n_waits = d->n_frontiers = d->n_places = d->n_barrier_waits = d->n_barrier_updates = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    d->n_waits += c->n_waits;
    d->n_frontiers += c->n_frontier;
    d->n_places += c->n_places;
    d->n_barrier_waits += s->meta->sync == FS_SYNC_BARRIER ? c->n_barrier_waits : 0;
    d->n_barrier_updates += s->meta->sync == FS_SYNC_BARRIER ? c->n_barrier_updates : 0;
  }
}

static fsched_program *write_bytes(fsched_context *ctx, const fs_stream *s, const char *more) {
  fs_draft d = {.ctx = ctx};
  fsched_program *p;
  size_t extra = more == NULL ? 0 : 13; /* "mix", "nop", "copy" */
#define COUNT(id, type) d.n_##id = s->n_##id;
  FS_STREAM_SECTIONS(COUNT)
#undef COUNT
  count_lists(s, &d);
  d.n_kernels += more == NULL ? 0 : 3;
  d.n_strings += extra;
  ck_assert_int_eq(fs_draft_alloc(&d), FSCHED_OK);
#define COPY(id, type) \
  memcpy(d.id, s->id, (s->n_##id < d.n_##id ? s->n_##id : d.n_##id) * sizeof *d.id);
  FS_STREAM_SECTIONS(COPY)
#undef COPY
  tile_lists(s, &d);
  for (uint32_t i = 0; i < 3 && more != NULL; i++) {
    uint32_t at = s->n_strings + 4 * i;
    d.kernels[s->n_kernels + i] = (fs_stream_kernel){.builtin = at,
                                                     .params = FS_NONE,
                                                     .module = FS_NONE,
                                                     .function = FS_NONE,
                                                     .grid = {1, 1, 1},
                                                     .block = {1, 1, 1}};
    memcpy(d.strings + at, more + 4 * i, i == 2 ? 5 : 4);
  }
  d.string_end = (uint32_t)d.n_strings;
  ck_assert_int_eq(fs_draft_finish(&d, &p), FSCHED_OK);
  return p;
}

fsched_program *fs_edit_bytes(fsched_context *ctx, const fsched_program *copy) {
  return write_bytes(ctx, &copy->view, NULL);
}

fsched_program *fs_edit_with_kernels(fsched_context *ctx, const fsched_program *p) {
  return write_bytes(ctx, &p->view, "mix\0nop\0copy");
}
