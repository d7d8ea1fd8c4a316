/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the commands that touch given and kept items.
 *
 * A place touches an item when it is of the item's version and lies where the item has these bytes.
 * A version has one given and one kept place; its other places count as elsewhere, even where they
 * share bytes with these: content that comes in late must not overwrite them.  Every command has
 * one list of given and one of kept items, in the order of its places. */
#include "exec/host/io.h"

#include <stdlib.h>

#include "fsched/graph.h"

typedef struct io_maker {
  fs_arena *arena;
  const fs_stream *s;
  fs_io *io;
  uint32_t *given_of, *kept_of;     /* per version; FS_NONE */
  uint32_t *given_last, *kept_last; /* per item: the last command that lists it; FS_NONE */
} io_maker;

/* The place must have a version: it belongs to an arg, or else to a copy, which is of the whole
 * version. */
static bool touches(const fs_stream *s, const fs_io_item *item, const fs_stream_place *p) {
  uint64_t offset = p->arg == FS_NONE ? 0 : s->args[p->arg].offset;
  return fs_space_has_bytes(p->space) && p->index == item->memory && p->version == item->version &&
         p->address - offset == item->base;
}

static fs_status find_states(io_maker *m) {
  const fs_stream *s = m->s;
  fs_io *io = m->io;
  FS_TRY(fs_new(m->arena, &io->state, s->n_buffers));
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    if (fs_io_carried(s->buffers[b].io)) {
      io->state[io->n_states++] = b;
    }
  }
  return FSCHED_OK;
}

/* Finds a buffer's state by bisection, as states ascend by buffer. */
static uint32_t state_of(const fs_io *io, uint32_t buffer) {
  uint32_t low = 0, high = io->n_states;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (io->state[middle] < buffer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < io->n_states && io->state[low] == buffer ? low : FS_NONE;
}

static fs_io_item make_item(const io_maker *m, uint32_t version, uint32_t memory, uint64_t base,
                            uint64_t offset) {
  uint32_t buffer = m->s->versions[version].buffer;
  return (fs_io_item){.version = version,
                      .buffer = buffer,
                      .memory = memory,
                      .base = base,
                      .address = base + offset,
                      .size = m->s->buffers[buffer].io_size,
                      .state = state_of(m->io, buffer)};
}

static fs_status find_items(io_maker *m) {
  const fs_stream *s = m->s;
  fs_io *io = m->io;
  FS_TRY(fs_new_none(m->arena, &m->given_of, s->n_versions));
  FS_TRY(fs_new_none(m->arena, &m->kept_of, s->n_versions));
  FS_TRY(fs_new(m->arena, &io->given, s->n_versions));
  FS_TRY(fs_new(m->arena, &io->kept, s->n_versions));
  for (uint32_t v = 0; v < s->n_versions; v++) {
    const fs_stream_version *k = &s->versions[v];
    const fs_stream_buffer *b = &s->buffers[k->buffer];
    if (k->given_memory != FS_NONE) {
      m->given_of[v] = io->n_given;
      io->given[io->n_given++] = make_item(m, v, k->given_memory, k->given_address, b->given);
    }
    if (k->kept_memory != FS_NONE) {
      m->kept_of[v] = io->n_kept;
      io->kept[io->n_kept] = make_item(m, v, k->kept_memory, k->kept_address, b->kept);
      bool same = k->given_memory == k->kept_memory && k->given_address == k->kept_address &&
                  b->given == b->kept;
      io->kept[io->n_kept++].given = same ? m->given_of[v] : FS_NONE;
    }
  }
  return FSCHED_OK;
}

/* Whether the command counts as one: of a gang's members, only the first does. */
static bool stands_for_all(const fs_stream *s, const fs_stream_command *c, uint32_t queue) {
  return c->gang_axis == FS_NONE || s->axis_members[s->axes[c->gang_axis].member0] == queue;
}

static void list_command(const io_maker *m, uint32_t command, bool counted, uint32_t *given_end,
                         uint32_t *kept_end) {
  const fs_stream_command *c = &m->s->commands[command];
  fs_io *io = m->io;
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &m->s->places[i];
    if (!fs_space_has_bytes(p->space) || p->version == FS_NONE) {
      continue;
    }
    uint32_t g = m->given_of[p->version], k = m->kept_of[p->version];
    if (g != FS_NONE && m->given_last[g] != command && touches(m->s, &io->given[g], p)) {
      m->given_last[g] = command;
      io->command_given[(*given_end)++] = g;
      io->given[g].touches += counted;
    }
    if (k != FS_NONE && m->kept_last[k] != command && (p->mode & FS_MODE_W) != 0 &&
        io->kept[k].state == FS_NONE && touches(m->s, &io->kept[k], p)) {
      m->kept_last[k] = command;
      io->command_kept[(*kept_end)++] = k;
      io->kept[k].touches += counted;
    }
  }
}

static fs_status list_commands(io_maker *m) {
  const fs_stream *s = m->s;
  fs_io *io = m->io;
  FS_TRY(fs_new_zero(m->arena, &io->given0, (size_t)s->n_commands + 1));
  FS_TRY(fs_new_zero(m->arena, &io->kept0, (size_t)s->n_commands + 1));
  FS_TRY(fs_new(m->arena, &io->command_given, s->n_places));
  FS_TRY(fs_new(m->arena, &io->command_kept, s->n_places));
  FS_TRY(fs_new_none(m->arena, &m->given_last, io->n_given));
  FS_TRY(fs_new_none(m->arena, &m->kept_last, io->n_kept));
  uint32_t given_end = 0, kept_end = 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      uint32_t command = s->queues[q].command0 + i;
      list_command(m, command, stands_for_all(s, &s->commands[command], q), &given_end, &kept_end);
      io->given0[command + 1] = given_end;
      io->kept0[command + 1] = kept_end;
    }
  }
  return FSCHED_OK;
}

/* Ranges
 *
 * Bytes that no command touches are neither filled nor taken out: there may be many. */

typedef struct range_maker {
  const io_maker *m;
  uint32_t *given_end, *kept_end; /* per item: where its next range goes; NULL while counting */
} range_maker;

static void add_range(const range_maker *r, fs_io_item *item, uint32_t *end,
                      const fs_stream_place *p) {
  uint64_t end_of = fs_min(p->address + p->size, item->address + item->size);
  uint64_t begin = fs_max(p->address, item->address);
  if (begin >= end_of) {
    return;
  }
  if (end == NULL) {
    item->n_ranges++;
  } else {
    r->m->io->range[end[0]++] = (fs_byte_range){begin - item->address, end_of - item->address};
  }
}

static void add_ranges(const range_maker *r) {
  const fs_stream *s = r->m->s;
  fs_io *io = r->m->io;
  for (uint32_t i = 0; i < s->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    if (!fs_space_has_bytes(p->space) || p->version == FS_NONE) {
      continue;
    }
    uint32_t g = r->m->given_of[p->version], k = r->m->kept_of[p->version];
    if (g != FS_NONE && touches(s, &io->given[g], p)) {
      add_range(r, &io->given[g], r->given_end == NULL ? NULL : &r->given_end[g], p);
    }
    if (k != FS_NONE && io->kept[k].given == FS_NONE && (p->mode & FS_MODE_W) != 0 &&
        touches(s, &io->kept[k], p)) {
      add_range(r, &io->kept[k], r->kept_end == NULL ? NULL : &r->kept_end[k], p);
    }
  }
}

/* Ranges that compare equal are equal in every member. */
static int by_begin(const void *a, const void *b) {
  const fs_byte_range *x = a, *y = b;
  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
         : x->end < y->end    ? -1
                              : x->end > y->end;
}

static void join_ranges(fs_io *io, fs_io_item *item) {
  fs_byte_range *range = io->range + item->range0;
  uint32_t n = 0;
  qsort(range, item->n_ranges, sizeof *range, by_begin);
  for (uint32_t i = 0; i < item->n_ranges; i++) {
    if (n > 0 && range[i].begin <= range[n - 1].end) {
      range[n - 1].end = fs_max(range[n - 1].end, range[i].end);
    } else {
      range[n++] = range[i];
    }
  }
  item->n_ranges = n;
}

static void begin_ranges(fs_io_item *item, uint32_t n, uint32_t *end, uint32_t *sum) {
  for (uint32_t i = 0; i < n; i++) {
    item[i].range0 = end[i] = *sum;
    *sum += item[i].n_ranges;
  }
}

static fs_status find_ranges(io_maker *m) {
  fs_io *io = m->io;
  range_maker r = {.m = m};
  uint32_t sum = 0, *given_end, *kept_end;
  FS_TRY(fs_new(m->arena, &given_end, io->n_given));
  FS_TRY(fs_new(m->arena, &kept_end, io->n_kept));
  add_ranges(&r);
  begin_ranges(io->given, io->n_given, given_end, &sum);
  begin_ranges(io->kept, io->n_kept, kept_end, &sum);
  FS_TRY(fs_new(m->arena, &io->range, sum));
  r.given_end = given_end;
  r.kept_end = kept_end;
  add_ranges(&r);
  for (uint32_t i = 0; i < io->n_given; i++) {
    join_ranges(io, &io->given[i]);
  }
  for (uint32_t i = 0; i < io->n_kept; i++) {
    fs_io_item *k = &io->kept[i];
    join_ranges(io, k);
    if (k->given != FS_NONE) {
      k->range0 = io->given[k->given].range0;
      k->n_ranges = io->given[k->given].n_ranges;
    }
  }
  return FSCHED_OK;
}

/* Gaps
 *
 * Each memory's addresses are split into BUCKETS equal parts, and the places that touch each part
 * are counted.  The longest run of untouched parts is then widened to the nearest place on either
 * side. */

enum { BUCKETS = 1024, LEAST_EXTENT = 1 << 16 };

typedef struct gap_maker {
  const fs_stream *s;
  int32_t *count;          /* per memory and part: its places less those of the part before */
  uint64_t *from, *until;  /* per memory: first the run, then the gap; equal: there is none */
  uint64_t *below, *above; /* end of the places below the run, begin of those above */
} gap_maker;

static uint64_t bucket_of(const fs_stream_memory *m, uint64_t address) {
  return fs_min(address / (m->extent / BUCKETS + 1), BUCKETS - 1);
}

static void count_touch(gap_maker *g, uint32_t memory, uint64_t address, uint64_t size) {
  const fs_stream_memory *m = &g->s->memories[memory];
  int32_t *count = g->count + (size_t)memory * (BUCKETS + 1);
  count[bucket_of(m, address)]++;
  count[bucket_of(m, address + fs_max(size, 1) - 1) + 1]--;
}

static void widen(gap_maker *g, uint32_t memory, uint64_t address, uint64_t size) {
  uint64_t end = address + fs_max(size, 1);
  if (address >= g->until[memory]) {
    g->above[memory] = fs_min(g->above[memory], address);
  } else {
    g->below[memory] = fs_max(g->below[memory], end);
  }
}

static void for_all(gap_maker *g, const fs_io *io,
                    void (*visit)(gap_maker *g, uint32_t memory, uint64_t address, uint64_t size)) {
  for (uint32_t i = 0; i < g->s->n_places; i++) {
    const fs_stream_place *p = &g->s->places[i];
    if (fs_space_has_bytes(p->space)) {
      visit(g, p->index, p->address, p->size);
    }
  }
  for (uint32_t i = 0; i < io->n_given; i++) {
    visit(g, io->given[i].memory, io->given[i].address, io->given[i].size);
  }
  for (uint32_t i = 0; i < io->n_kept; i++) {
    visit(g, io->kept[i].memory, io->kept[i].address, io->kept[i].size);
  }
}

static void longest_run(gap_maker *g, uint32_t memory) {
  const int32_t *count = g->count + (size_t)memory * (BUCKETS + 1);
  uint64_t part = g->s->memories[memory].extent / BUCKETS + 1;
  uint64_t begin = 0, longest = 0;
  int32_t touched = 0;
  for (uint64_t b = 0; b < BUCKETS; b++) {
    touched += count[b];
    begin = touched > 0 ? b + 1 : begin;
    if (b + 1 - begin > longest) {
      longest = b + 1 - begin;
      g->from[memory] = begin * part;
      g->until[memory] = (b + 1) * part;
    }
  }
}

static fs_status find_gaps(io_maker *m) {
  const fs_stream *s = m->s;
  fs_io *io = m->io;
  gap_maker g = {.s = s};
  FS_TRY(fs_new_none(m->arena, &io->gap_end, s->n_memories));
  FS_TRY(fs_new_zero(m->arena, &io->gap_bytes, s->n_memories));
  fs_arena_mark mark = fs_arena_set_mark(m->arena);
  FS_TRY(fs_new_zero(m->arena, &g.count, (size_t)s->n_memories * (BUCKETS + 1)));
  FS_TRY(fs_new_zero(m->arena, &g.from, s->n_memories));
  FS_TRY(fs_new_zero(m->arena, &g.until, s->n_memories));
  FS_TRY(fs_new_zero(m->arena, &g.below, s->n_memories));
  FS_TRY(fs_new_none(m->arena, &g.above, s->n_memories));
  for_all(&g, io, count_touch);
  for (uint32_t i = 0; i < s->n_memories; i++) {
    longest_run(&g, i);
  }
  for_all(&g, io, widen);
  for (uint32_t i = 0; i < s->n_memories; i++) {
    uint64_t align = fs_max(s->memories[i].align, FS_IO_ALIGN);
    bool worth =
        s->memories[i].extent >= LEAST_EXTENT && g.until[i] > g.from[i] && g.above[i] != UINT64_MAX;
    if (worth) {
      io->gap_end[i] = g.above[i];
      io->gap_bytes[i] = (g.above[i] - g.below[i]) / align * align;
    }
  }
  fs_arena_reset(m->arena, mark);
  return FSCHED_OK;
}

static fs_status place_memories(io_maker *m) {
  const fs_stream *s = m->s;
  fs_io *io = m->io;
  FS_TRY(fs_new_zero(m->arena, &io->store, s->n_memories));
  FS_TRY(fs_new_zero(m->arena, &io->offset, s->n_memories));
  for (uint32_t i = 0; i < s->n_memories; i++) {
    io->store[i] = io->store[i] || s->memories[i].host != 0;
    if (s->memories[i].backing != FS_NONE) {
      io->store[s->memories[i].backing] = true;
    }
  }
  for (uint32_t i = 0; i < s->n_memories; i++) {
    uint64_t *sum = io->store[i] ? &io->store_bytes : &io->pooled_bytes;
    uint64_t limit = UINT64_MAX / 4; /* sizes saturate at more than any machine has */
    uint64_t used = s->memories[i].extent - io->gap_bytes[i];
    uint64_t size = fs_align_up(fs_min(used, limit), FS_IO_ALIGN);
    io->offset[i] = *sum;
    *sum = fs_min(*sum + size, limit);
  }
  return FSCHED_OK;
}

fs_status fs_io_make(fs_arena *arena, const fs_stream *s, fs_io *io) {
  assert(s->n_meta == 1);
  *io = (fs_io){0};
  io_maker m = {.arena = arena, .s = s, .io = io};
  FS_TRY(find_states(&m));
  FS_TRY(find_items(&m));
  FS_TRY(list_commands(&m));
  FS_TRY(find_ranges(&m));
  FS_TRY(find_gaps(&m));
  return place_memories(&m);
}
