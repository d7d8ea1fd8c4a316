/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of a schedule: count every section, allocate the file once, fill the records.
 *
 * The graph half (target, buffers, ops, args) is copied unchanged, so that a verifier can derive
 * the edges again.  The command half lists, queue by queue, the data of lib/model/sync.h for each
 * command, with the places of its item. */
#include "codegen/codegen.h"

#include "codegen/draft.h"
#include "codegen/loops.h"
#include "codegen/places.h"
#include "model/stream/views.h"

typedef struct fs_codegen {
  const fsched_graph *g;
  const fs_schedule *s;
  const fs_sync *sync;
  fs_layout layout;
  fs_command_places places;
  uint32_t *n_places;     /* per item */
  const char **axis_name; /* queues, then collectives */
  fs_draft d;
} fs_codegen;

/* Axis ids: session 8 | machine 8 | domain 8 | ordinal 40. */
enum { FS_AXIS_SESSION = 1, FS_AXIS_MACHINES = 256 };
static uint64_t axis_id(uint64_t machine, uint64_t domain, uint64_t ordinal) {
  return (uint64_t)FS_AXIS_SESSION << 56 | machine << 48 | domain << 40 | ordinal;
}

static bool is_queue_name(const fs_schedule *s, const char *name) {
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (strcmp(s->queue_name[q], name) == 0) {
      return true;
    }
  }
  return false;
}

/* Collectives are named "gang0", "gang1", ...; underscores keep them apart from the queues'
 * names. */
static fs_status gang_name(fs_arena *arena, const fs_schedule *s, uint32_t gang, const char **out) {
  size_t prefix = 0;
  do {
    size_t room = prefix + 16;
    char *name;
    FS_TRY(fs_new(arena, &name, room));
    memset(name, '_', prefix);
    (void)snprintf(name + prefix, room - prefix, "gang%u", gang);
    *out = name;
    prefix++;
  } while (is_queue_name(s, *out));
  return FSCHED_OK;
}

static fs_status name_axes(fs_codegen *c, fs_arena *arena) {
  uint32_t n_queues = c->s->n_queues;
  FS_TRY(fs_new(arena, &c->axis_name, (size_t)n_queues + c->s->n_gangs));
  for (uint32_t q = 0; q < n_queues; q++) {
    c->axis_name[q] = c->s->queue_name[q];
  }
  for (uint32_t k = 0; k < c->s->n_gangs; k++) {
    FS_TRY(gang_name(arena, c->s, k, &c->axis_name[n_queues + k]));
  }
  return FSCHED_OK;
}

static const char *queue_class(const fs_codegen *c, uint32_t queue) {
  const fs_target *t = &c->g->target;
  return t->implicit_queues ? "compute" : t->class_name[t->queue[queue].class_id];
}

static uint64_t name_bytes(const char *const *names, uint32_t n) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < n; i++) {
    bytes += fs_string_bytes(names[i]);
  }
  return bytes;
}

static uint64_t string_bytes(const fs_codegen *c) {
  const fsched_graph *g = c->g;
  const fs_target *t = &g->target;
  uint64_t bytes = fs_string_bytes(g->name) + fs_string_bytes(t->time_unit);
  bytes += name_bytes(c->axis_name, c->s->n_queues + c->s->n_gangs);
  for (uint32_t q = 0; q < c->s->n_queues; q++) {
    bytes += fs_string_bytes(c->s->queue_name[q]) + fs_string_bytes(queue_class(c, q));
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    bytes += fs_string_bytes(t->memory[m].name);
  }
  bytes += name_bytes(t->resource_name, t->n_resources);
  bytes += name_bytes(g->buffer_name, g->n_buffers);
  bytes += name_bytes(g->op_name, g->n_ops);
  for (uint32_t k = 0; k < g->n_kernels; k++) {
    bytes += fs_string_bytes(g->kernel[k].builtin) + fs_string_bytes(g->kernel[k].module) +
             fs_string_bytes(g->kernel[k].function) + fs_string_bytes(g->kernel[k].params);
  }
  return bytes + fs_loops_string_bytes(g);
}

static void count_places(fs_codegen *c) {
  const fs_sync *sync = c->sync;
  for (uint32_t i = 0; i < c->s->n_items; i++) {
    c->n_places[i] = fs_places_of(&c->places, i, NULL);
    c->d.n_places +=
        (uint64_t)c->n_places[i] * (sync->item_command0[i + 1] - sync->item_command0[i]);
  }
}

static void count_sync(fs_draft *d, const fs_sync *sync) {
  uint32_t n = sync->n_commands;
  d->n_frontiers = sync->frontier0[n];
  switch (sync->kind) {
    case FS_SYNC_TIMELINE:
      d->n_waits = sync->wait0[n];
      break;
    case FS_SYNC_BARRIER:
      d->n_barriers = sync->n_barriers;
      d->n_barrier_waits = sync->barrier_wait0[n];
      d->n_barrier_updates = sync->barrier_update0[n];
      break;
    case FS_SYNC_BLOCK:
      d->n_stops = sync->n_stops;
      break;
  }
}

static uint32_t count_views(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t a = 0; a < g->n_args && g->n_views > 0; a++) {
    n += fs_arg_view(g, a) != NULL;
  }
  return n;
}

static uint32_t count_members(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    n += fs_op_members(g, op);
  }
  return n;
}

static void count(fs_codegen *c) {
  const fsched_graph *g = c->g;
  fs_draft *d = &c->d;
  d->n_meta = 1;
  d->n_axes = (uint64_t)c->s->n_queues + c->s->n_gangs;
  d->n_axis_members = c->s->n_gangs == 0 ? 0 : c->s->gang_queue0[c->s->n_gangs];
  d->n_queues = c->s->n_queues;
  d->n_memories = g->target.n_memories;
  d->n_resources = g->target.n_resources;
  d->n_buffers = g->n_buffers;
  d->n_versions = g->n_versions;
  d->n_ops = g->n_ops;
  d->n_args = g->n_args;
  d->n_members = count_members(g);
  d->n_views = count_views(g);
  d->n_uses = g->op_use0[g->n_ops];
  d->n_scratches = g->op_scratch0[g->n_ops];
  d->n_afters = g->op_after0[g->n_ops];
  d->n_kernels = g->n_kernels;
  d->n_races = g->n_races;
  d->n_commands = c->sync->n_commands;
  count_sync(d, c->sync);
  fs_loops_count(g, d);
  d->n_strings = string_bytes(c);
  count_places(c);
}

static void write_meta(fs_codegen *c) {
  const fsched_graph *g = c->g;
  fs_draft *d = &c->d;
  uint32_t name = fs_draft_string(d, g->name); /* strings are added in the order of the fields */
  uint32_t unit = fs_draft_string(d, g->target.time_unit);
  bool barrier = fs_sync_has_barriers(c->sync->kind); /* no bound (FS_BARRIERS_AUTO) is FS_NONE */
  d->meta[0] = (fs_stream_meta){.name = name,
                                .time_unit = unit,
                                .hazards = (uint32_t)g->hazards,
                                .sync = (uint32_t)c->sync->kind,
                                .makespan = c->s->makespan,
                                .lower_bound = c->s->lower_bound,
                                .concurrency = g->target.concurrency,
                                .frontier_capacity = g->target.frontier_capacity,
                                .barrier_count = barrier ? c->sync->barrier_bound : 0,
                                .barrier_slots = barrier ? c->sync->barrier_slots : 0};
}

static fs_status write_axes(fs_codegen *c) {
  const fsched_graph *g = c->g;
  const fs_schedule *s = c->s;
  uint32_t n_queues = s->n_queues;
  for (uint32_t a = 0; a < c->d.n_axes; a++) {
    bool queue = a < n_queues;
    uint32_t k = queue ? 0 : a - n_queues;
    uint32_t q = queue ? a : s->gang_queue[s->gang_queue0[k]];
    uint32_t machine = g->target.implicit_queues ? 0 : g->target.queue[q].machine;
    if (machine >= FS_AXIS_MACHINES) {
      return fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_STREAM_LIMIT, FS_NOWHERE, NULL,
                     "queue '%s' is on machine %u; an axis can name machines below %d",
                     c->s->queue_name[q], machine, FS_AXIS_MACHINES);
    }
    c->d.axes[a] =
        (fs_stream_axis){.id = axis_id(machine, queue ? 0 : 1, queue ? a : k),
                         .name = fs_draft_string(&c->d, c->axis_name[a]),
                         .kind = queue ? FS_AXIS_QUEUE : FS_AXIS_COLLECTIVE,
                         .member0 = queue ? 0 : s->gang_queue0[k],
                         .n_members = queue ? 0 : s->gang_queue0[k + 1] - s->gang_queue0[k]};
  }
  if (c->d.n_axis_members != 0) {
    memcpy(c->d.axis_members, s->gang_queue, c->d.n_axis_members * sizeof *s->gang_queue);
  }
  return FSCHED_OK;
}

static void write_queues(fs_codegen *c) {
  const fs_target *t = &c->g->target;
  const uint32_t *command0 = c->sync->queue_command0;
  bool block = fs_sync_has_stops(c->sync->kind) && !t->implicit_queues;
  for (uint32_t q = 0; q < c->s->n_queues; q++) {
    uint32_t name = fs_draft_string(&c->d, c->s->queue_name[q]);
    uint32_t class_name = fs_draft_string(&c->d, queue_class(c, q));
    c->d.queues[q] = (fs_stream_queue){.name = name,
                                       .class_name = class_name,
                                       .device = t->implicit_queues ? 0 : t->queue[q].device,
                                       .machine = t->implicit_queues ? 0 : t->queue[q].machine,
                                       .command0 = command0[q],
                                       .n_commands = command0[q + 1] - command0[q],
                                       .counting = block && t->queue[q].counting,
                                       .host = !t->implicit_queues && t->queue[q].host};
  }
}

static void write_memories(fs_codegen *c) {
  const fs_target *t = &c->g->target;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    const fs_memory *memory = &t->memory[m];
    c->d.memories[m] = (fs_stream_memory){.capacity = memory->capacity,
                                          .align = memory->align,
                                          .extent = c->layout.extent[m],
                                          .name = fs_draft_string(&c->d, memory->name),
                                          .placement = (uint32_t)memory->placement,
                                          .backing = memory->backing,
                                          .stack = memory->stack,
                                          .host = memory->host};
  }
  for (uint32_t r = 0; r < t->n_resources; r++) {
    c->d.resources[r] = (fs_stream_resource){.capacity = t->resource_capacity[r],
                                             .name = fs_draft_string(&c->d, t->resource_name[r])};
  }
}

static void write_buffers(fs_codegen *c) {
  const fsched_graph *g = c->g;
  for (uint32_t b = 0; b < g->n_buffers; b++) {
    fs_buffer_slot slot = fs_buffer_slot_of(g, b);
    c->d.buffers[b] =
        (fs_stream_buffer){.size = g->buffer_size[b],
                           .io_size = slot.size,
                           .given = slot.given,
                           .kept = slot.kept,
                           .name = fs_draft_string(&c->d, g->buffer_name[b]),
                           .memory = g->buffer_memory[b],
                           .io = g->buffer_io[b],
                           .version0 = g->buffer_version0[b],
                           .n_versions = g->buffer_version0[b + 1] - g->buffer_version0[b]};
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    fs_spot given = fs_layout_given(&c->layout, v), kept = fs_layout_kept(&c->layout, v);
    c->d.versions[v] = (fs_stream_version){.given_address = given.address,
                                           .kept_address = kept.address,
                                           .given_memory = given.memory,
                                           .kept_memory = kept.memory,
                                           .buffer = g->version_buffer[v],
                                           .index = fs_version_index(g, v)};
  }
}

static void write_ops(fs_codegen *c) {
  const fsched_graph *g = c->g;
  uint32_t member = 0;
  for (uint32_t o = 0; o < g->n_ops; o++) {
    c->d.ops[o] = (fs_stream_op){.time = g->op_time[o],
                                 .name = fs_draft_string(&c->d, g->op_name[o]),
                                 .kernel = g->op_kernel[o],
                                 .arg0 = g->op_arg0[o],
                                 .n_args = g->op_arg0[o + 1] - g->op_arg0[o],
                                 .use0 = g->op_use0[o],
                                 .n_uses = g->op_use0[o + 1] - g->op_use0[o],
                                 .scratch0 = g->op_scratch0[o],
                                 .n_scratches = g->op_scratch0[o + 1] - g->op_scratch0[o],
                                 .after0 = g->op_after0[o],
                                 .n_afters = g->op_after0[o + 1] - g->op_after0[o],
                                 .slots = g->op_slots == NULL ? 1 : g->op_slots[o],
                                 .slow = fs_op_slow(g, o),
                                 .by_class = fs_op_by_class(g, o),
                                 .member0 = member,
                                 .n_members = fs_op_members(g, o)};
    member += fs_op_members(g, o);
  }
}

static void write_members(fs_codegen *c) {
  const fsched_graph *g = c->g;
  uint32_t n = 0;
  for (uint32_t o = 0; o < g->n_ops && c->d.n_members > 0; o++) {
    uint32_t arg = g->op_arg0[o];
    for (uint32_t m = 0; m < fs_op_members(g, o); m++) {
      fs_stream_member *to = &c->d.members[n++];
      for (to->arg0 = arg; arg < g->op_arg0[o + 1] && fs_arg_member(g, arg) == m;) {
        arg++;
      }
      to->n_args = arg - to->arg0;
    }
  }
  assert(n == c->d.n_members);
}

static void write_args(fs_codegen *c) {
  const fsched_graph *g = c->g;
  for (uint32_t a = 0; a < g->n_args; a++) {
    uint32_t b = g->arg_buffer[a];
    bool value = b == FS_NONE;
    bool whole = value || fs_arg_whole(g, a);
    c->d.args[a] = (fs_stream_arg){.offset = value ? 0 : g->arg_offset[a],
                                   .length = value ? 0 : g->arg_length[a],
                                   .value = value ? g->arg_value[a] : 0,
                                   .tag = g->arg_tag[a],
                                   .buffer = b,
                                   .version = g->arg_version[a],
                                   .has_at = !whole,
                                   .begins = g->arg_begins != NULL && g->arg_begins[a]};
  }
}

static void write_views(fs_codegen *c) {
  const fsched_graph *g = c->g;
  uint32_t n = 0;
  for (uint32_t a = 0; a < g->n_args && c->d.n_views > 0; a++) {
    const fs_view *v = fs_arg_view(g, a);
    if (v != NULL) {
      c->d.views[n++] = fs_stream_view_make(v, a);
    }
  }
  assert(n == c->d.n_views);
}

static void write_op_details(fs_codegen *c) {
  const fsched_graph *g = c->g;
  for (uint32_t i = 0; i < c->d.n_uses; i++) {
    c->d.uses[i] = (fs_stream_use){.amount = g->use_amount[i], .resource = g->use_resource[i]};
  }
  for (uint32_t i = 0; i < c->d.n_scratches; i++) {
    c->d.scratches[i] =
        (fs_stream_scratch){.size = g->scratch_size[i], .memory = g->scratch_memory[i]};
  }
  for (uint32_t i = 0; i < c->d.n_afters; i++) {
    c->d.afters[i] = g->after_op[i];
  }
  for (uint32_t i = 0; i < c->d.n_races; i++) {
    c->d.races[i] =
        (fs_stream_race){.op_a = g->race_a[i], .op_b = g->race_b[i], .version = g->race_version[i]};
  }
}

static void write_kernels(fs_codegen *c) {
  for (uint32_t k = 0; k < c->g->n_kernels; k++) {
    const fs_kernel *from = &c->g->kernel[k];
    fs_stream_kernel *to = &c->d.kernels[k];
    *to = (fs_stream_kernel){.shared_bytes = from->shared_bytes};
    to->builtin = fs_draft_string(&c->d, from->builtin);
    to->module = fs_draft_string(&c->d, from->module);
    to->function = fs_draft_string(&c->d, from->function);
    to->params = fs_draft_string(&c->d, from->params);
    memcpy(to->grid, from->grid, sizeof to->grid);
    memcpy(to->block, from->block, sizeof to->block);
  }
}

/* What the item of a command has of the command's queue. */
static fs_item_part part_of(const fs_codegen *c, uint32_t item, uint32_t id) {
  const fs_sync *y = c->sync;
  uint32_t k = 0;
  while (y->item_command[y->item_command0[item] + k] != id) {
    k++;
  }
  return fs_item_part_on(c->s, item, k);
}

static fs_stream_command command(const fs_codegen *c, uint32_t id, uint32_t epoch) {
  const fs_sync *sync = c->sync;
  uint32_t item = sync->command_item[id], n_ops = c->g->n_ops;
  bool copy = fs_item_is_copy(c->s, item);
  uint32_t gang = fs_item_gang(c->s, item);
  fs_item_part part = part_of(c, item, id);
  return (fs_stream_command){.start = part.begin,
                             .end = part.end,
                             .target = copy ? c->s->copy_version[item - n_ops] : item,
                             .epoch = epoch,
                             .gang_axis = gang == FS_NONE ? FS_NONE : c->s->n_queues + gang,
                             .gang_epoch = gang == FS_NONE ? 0 : sync->item_gang_epoch[item],
                             .kind = copy ? FS_COMMAND_COPY : FS_COMMAND_RUN,
                             .direction = copy ? c->s->copy_kind[item - n_ops] : 0,
                             .tainted = sync->tainted[id],
                             .frontier0 = sync->frontier0[id],
                             .n_frontier = sync->frontier0[id + 1] - sync->frontier0[id]};
}

static void write_sync_of(const fs_sync *sync, uint32_t id, fs_stream_command *to) {
  switch (sync->kind) {
    case FS_SYNC_TIMELINE:
      to->signal = sync->signal[id];
      to->scope = sync->scope[id];
      to->wait0 = sync->wait0[id];
      to->n_waits = sync->wait0[id + 1] - sync->wait0[id];
      break;
    case FS_SYNC_BARRIER:
      to->barrier_wait0 = sync->barrier_wait0[id];
      to->n_barrier_waits = sync->barrier_wait0[id + 1] - sync->barrier_wait0[id];
      to->barrier_update0 = sync->barrier_update0[id];
      to->n_barrier_updates = sync->barrier_update0[id + 1] - sync->barrier_update0[id];
      break;
    case FS_SYNC_BLOCK:
      to->issue = sync->issue[id];
      break;
  }
}

static void write_commands(fs_codegen *c) {
  const fs_sync *sync = c->sync;
  uint32_t place = 0;
  for (uint32_t q = 0; q < c->s->n_queues; q++) {
    for (uint32_t i = sync->queue_command0[q]; i < sync->queue_command0[q + 1]; i++) {
      fs_stream_command *to = &c->d.commands[i];
      *to = command(c, i, i - sync->queue_command0[q] + 1);
      write_sync_of(sync, i, to);
      to->place0 = place;
      to->n_places = fs_places_of(&c->places, sync->command_item[i], &c->d.places[place]);
      assert(to->n_places == c->n_places[sync->command_item[i]]);
      place += to->n_places;
    }
  }
  assert(place == c->d.n_places);
}

/* fs_wait and fs_stream_wait both consist of the same two words. */
_Static_assert(sizeof(fs_wait) == sizeof(fs_stream_wait), "");
static void write_waits(fs_codegen *c) {
  if (c->d.n_waits != 0) {
    memcpy(c->d.waits, c->sync->wait, c->d.n_waits * sizeof(fs_wait));
  }
  if (c->d.n_frontiers != 0) {
    memcpy(c->d.frontiers, c->sync->frontier, c->d.n_frontiers * sizeof(fs_wait));
  }
}

static void write_barriers(fs_codegen *c) {
  const fs_sync *sync = c->sync;
  fs_draft *d = &c->d;
  for (uint32_t b = 0; b < d->n_barriers; b++) {
    d->barriers[b] =
        (fs_stream_barrier){.physical = sync->barrier_physical[b], .use = sync->barrier_use[b]};
  }
  for (uint32_t i = 0; i < d->n_barrier_waits; i++) {
    d->barrier_waits[i] = sync->barrier_wait[i];
    d->barriers[sync->barrier_wait[i]].n_consumers++;
  }
  for (uint32_t i = 0; i < d->n_barrier_updates; i++) {
    d->barrier_updates[i] = (fs_stream_update){.barrier = sync->barrier_update[i],
                                               .slots = sync->barrier_update_slots[i]};
    d->barriers[sync->barrier_update[i]].n_producers++;
  }
}

static void write_stops(fs_codegen *c) {
  for (uint32_t i = 0; i < c->d.n_stops; i++) {
    const fs_stop *stop = &c->sync->stop[i];
    c->d.stops[i] = (fs_stream_stop){.at = stop->at, .queue = stop->queue, .keep = stop->keep};
  }
}

static fs_status write_program(fs_codegen *c, fs_arena *arena, fsched_program **out) {
  FS_TRY(fs_layout_make(arena, c->s, &c->layout));
  FS_TRY(fs_places_make(arena, c->s, c->sync, &c->layout, &c->places));
  FS_TRY(fs_new(arena, &c->n_places, c->s->n_items));
  FS_TRY(name_axes(c, arena));
  count(c);
  FS_TRY(fs_draft_alloc(&c->d));
  write_meta(c);
  FS_TRY(write_axes(c));
  write_queues(c);
  write_memories(c);
  write_buffers(c);
  write_ops(c);
  write_args(c);
  write_members(c);
  write_views(c);
  write_op_details(c);
  write_kernels(c);
  write_commands(c);
  write_waits(c);
  write_barriers(c);
  write_stops(c);
  fs_loops_write(c->g, c->sync, &c->d);
  return fs_draft_finish(&c->d, out);
}

fs_status fs_codegen_run(fsched_context *ctx, const fs_schedule *s, const fs_sync *sync,
                         fsched_program **out) {
  assert(sync->schedule == s && sync->n_axes == s->n_queues + s->n_gangs);
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  assert(sync->queue_command0 != NULL && sync->frontier0 != NULL);
  fs_codegen c = {.g = s->graph, .s = s, .sync = sync, .d = {.ctx = ctx}};
  FS_SCRATCH(arena, ctx);
  fs_status status = write_program(&c, &arena, out);
  fs_draft_drop(&c.d);
  return status;
}
