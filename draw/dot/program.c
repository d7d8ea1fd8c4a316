/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the picture of a program: commands (those of a gang are one item) in an order that queues
 * and waits (or what replaces waits: lib/model/stream/points.h) allow, by planned start where there
 * is a choice.  Programs do not store why a wait is there, but data can be seen: in a walk in that
 * order, each range of addresses remembers its writers, per version and memory, and each read finds
 * its writers there.
 *
 * A producer that takes over a physical barrier starts no earlier than certain commands (gates).
 * Of these commands only those are drawn that may still have to start when the producer could;
 * queues and waits imply that the others have ended.  This is found by a clock per entity, passed
 * on in the same order.
 *
 *   entities: op o has id o; the n-th copy (in order of commands) has id n_ops + n */
#include "base/group.h"
#include "base/heap.h"
#include "base/ranges.h"
#include "draw/dot/picture.h"
#include "draw/parts.h"
#include "fsched/graph.h"
#include "model/stream/members.h"
#include "model/stream/points.h"
#include "model/stream/shown_loops.h"
#include "model/sync.h"

typedef struct program_drawer {
  fs_picture *p;
  const fs_stream *s;
  fs_points points;
  uint32_t n;        /* number of entities */
  uint32_t *of;      /* per command: its entity */
  uint32_t *queue;   /* per command */
  uint32_t *command; /* per entity: its first command; FS_NONE: it has none */
  uint32_t *place;   /* per entity: its item */
  uint32_t *axis0;   /* CSR per axis: its entities by epoch, from 1 */
  uint32_t *axis_at;
  uint8_t *loaded;                  /* per version: whether a copy has read it already */
  uint32_t *next0, *next, *missing; /* per entity: CSR of successors; predecessors left */
  bool *by_gate;                    /* per entry of `next` */
  uint32_t *over; /* per entity and queue: the epoch over when the entity is; NULL: unknown */
} program_drawer;

static fs_status file_commands(program_drawer *f) {
  const fs_stream *s = f->s;
  uint32_t n_others = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    n_others += !fs_command_has_op(&s->commands[c]);
  }
  f->n = s->n_ops + n_others;
  FS_TRY(fs_new(&f->p->arena, &f->of, s->n_commands));
  FS_TRY(fs_new_none(&f->p->arena, &f->queue, s->n_commands));
  FS_TRY(fs_new_none(&f->p->arena, &f->command, f->n));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t c = 0; c < s->queues[q].n_commands; c++) {
      f->queue[s->queues[q].command0 + c] = q;
    }
  }
  uint32_t other = s->n_ops;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint32_t e = fs_command_has_op(&s->commands[c]) ? s->commands[c].target : other++;
    f->of[c] = e;
    f->command[e] = f->command[e] == FS_NONE ? c : f->command[e];
  }
  return FSCHED_OK;
}

/* Lists the entities of every axis by epoch.  When the program was read, it was checked that epochs
 * are in range and without gaps. */
static fs_status file_axes(program_drawer *f) {
  const fs_stream *s = f->s;
  uint32_t *most;
  FS_TRY(fs_new_zero(&f->p->arena, &most, s->n_axes));
  FS_TRY(fs_new_zero(&f->p->arena, &f->axis0, (size_t)s->n_axes + 1));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    most[q] = s->queues[q].n_commands;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE) {
      most[k->gang_axis] = (uint32_t)fs_max(most[k->gang_axis], k->gang_epoch);
    }
  }
  size_t sum = 0;
  for (uint32_t a = 0; a < s->n_axes; a++) {
    sum += most[a];
    f->axis0[a + 1] = (uint32_t)sum;
  }
  FS_TRY(fs_new_none(&f->p->arena, &f->axis_at, sum));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      uint32_t c = s->queues[q].command0 + i;
      const fs_stream_command *k = &s->commands[c];
      f->axis_at[f->axis0[q] + i] = f->of[c];
      if (k->gang_axis != FS_NONE) {
        f->axis_at[f->axis0[k->gang_axis] + k->gang_epoch - 1] = f->of[c];
      }
    }
  }
  return FSCHED_OK;
}

static uint32_t waited_for(const program_drawer *f, fs_stream_wait w) {
  return f->axis_at[f->axis0[w.axis] + w.epoch - 1];
}

typedef fs_status (*fs_visit)(program_drawer *f, uint32_t from, uint32_t to, fs_pic_why why);

/* Visits all orderings by queues, waits and gates. */
static fs_status each_order(program_drawer *f, fs_visit visit) {
  const fs_stream *s = f->s;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_stream_queue *queue = &s->queues[q];
    for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
      if (c > queue->command0) {
        FS_TRY(visit(f, f->of[c - 1], f->of[c], FS_PIC_QUEUE));
      }
      for (uint32_t w = f->points.point0[c]; w < f->points.point0[c + 1]; w++) {
        FS_TRY(visit(f, waited_for(f, f->points.point[w]), f->of[c], FS_PIC_WAIT));
      }
      for (uint32_t g = f->points.gate0[c]; g < f->points.gate0[c + 1]; g++) {
        FS_TRY(visit(f, f->of[f->points.gate[g]], f->of[c], FS_PIC_GATE));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status count_order(program_drawer *f, uint32_t from, uint32_t to, fs_pic_why why) {
  (void)why;
  f->next0[from + 2]++;
  f->missing[to]++;
  return FSCHED_OK;
}
static fs_status fill_order(program_drawer *f, uint32_t from, uint32_t to, fs_pic_why why) {
  f->by_gate[f->next0[from + 1]] = why == FS_PIC_GATE;
  f->next[f->next0[from + 1]++] = to;
  return FSCHED_OK;
}
/* Whether `from` is known to be over before `to` starts. */
static bool over_before(const program_drawer *f, uint32_t from, uint32_t to) {
  uint32_t c = f->command[from];
  return f->over != NULL &&
         f->over[(size_t)to * f->s->n_queues + f->queue[c]] >= f->s->commands[c].epoch;
}

static fs_status draw_order(program_drawer *f, uint32_t from, uint32_t to, fs_pic_why why) {
  if (why == FS_PIC_GATE && over_before(f, from, to)) {
    return FSCHED_OK;
  }
  return fs_picture_edge(f->p, f->place[from], f->place[to], why);
}

/* The kind of a copy, as in fs_schedule_copy_roles; copies come in the picture's order. */
static fs_pic_kind kind_of_copy(program_drawer *f, const fs_stream_command *k) {
  const fs_stream_version *v = &f->s->versions[k->target];
  if (k->direction == FS_SPILL_WRITE) {
    return v->kept_memory != FS_NONE ? FS_PIC_STORE : FS_PIC_WRITE;
  }
  bool first = v->given_memory != FS_NONE && f->loaded[k->target] == 0;
  f->loaded[k->target] = 1;
  return first ? FS_PIC_LOAD : FS_PIC_READ;
}

static fs_status add_item(program_drawer *f, uint32_t e) {
  const fs_stream *s = f->s;
  uint32_t c = f->command[e];
  const fs_stream_command *k = &s->commands[c];
  f->place[e] = f->p->n_items;
  fs_pic_item *item = &f->p->item[f->p->n_items++];
  *item = (fs_pic_item){.name = fs_command_target_name(s, k),
                        .start = k->start,
                        .end = k->end,
                        .cluster = f->queue[c]};
  switch (fs_command_kind_of(k)) {
    case FS_COMMAND_RUN:
      item->kind = FS_PIC_OP;
      FS_TRY(fs_parts_of_stream(&f->p->arena, s, k->target, &item->parts));
      break;
    case FS_COMMAND_COPY:
      item->kind = (uint8_t)kind_of_copy(f, k);
      item->version = s->versions[k->target].index;
      break;
  }
  if (k->gang_axis != FS_NONE) {
    const fs_stream_axis *axis = &s->axes[k->gang_axis];
    item->kind = FS_PIC_GANG;
    item->cluster = s->axis_members[axis->member0];
    item->n_queues = axis->n_members;
    item->members = fs_command_members(s, k) > 0;
    fs_picture_host(f->p, s->axis_members + axis->member0, axis->n_members);
    item->queues =
        fs_picture_list(f->p, f->p->cluster, s->axis_members + axis->member0, axis->n_members);
    return item->queues == NULL ? FSCHED_SYSTEM : FSCHED_OK;
  }
  return FSCHED_OK;
}

static uint64_t start_of(const program_drawer *f, uint32_t e) {
  return f->s->commands[f->command[e]].start;
}

/* Kahn's algorithm (1962); entities on or after a cycle of waits come last. */
static fs_status add_items(program_drawer *f, fs_heap *ready) {
  for (uint32_t e = 0; e < f->n; e++) {
    if (f->command[e] != FS_NONE && f->missing[e] == 0) {
      FS_TRY(fs_heap_push(f->p->ctx, ready, start_of(f, e), e));
    }
  }
  while (ready->n > 0) {
    uint32_t e = fs_heap_pop(ready).id;
    FS_TRY(add_item(f, e));
    for (uint32_t i = f->next0[e]; i < f->next0[e + 1]; i++) {
      if (--f->missing[f->next[i]] == 0) {
        FS_TRY(fs_heap_push(f->p->ctx, ready, start_of(f, f->next[i]), f->next[i]));
      }
    }
  }
  for (uint32_t e = 0; e < f->n; e++) {
    if (f->command[e] != FS_NONE && f->place[e] == FS_NONE) {
      FS_TRY(add_item(f, e));
    }
  }
  return FSCHED_OK;
}

/* An item goes on from the first start of its commands to the last end. */
static void time_items(program_drawer *f) {
  for (uint32_t c = 0; c < f->s->n_commands; c++) {
    const fs_stream_command *k = &f->s->commands[c];
    fs_pic_item *item = &f->p->item[f->place[f->of[c]]];
    item->start = fs_min(item->start, k->start);
    item->end = fs_max(item->end, k->end);
  }
}

static fs_status order_items(program_drawer *f) {
  fs_arena *arena = &f->p->arena;
  FS_TRY(fs_new_zero(arena, &f->next0, (size_t)f->n + 2));
  FS_TRY(fs_new_zero(arena, &f->missing, f->n));
  FS_TRY(each_order(f, count_order));
  fs_group_sum(f->next0, f->n);
  FS_TRY(fs_new(arena, &f->next, f->next0[f->n + 1]));
  FS_TRY(fs_new(arena, &f->by_gate, f->next0[f->n + 1]));
  FS_TRY(each_order(f, fill_order));
  FS_TRY(fs_new_none(arena, &f->place, f->n));
  FS_TRY(fs_new_zero(arena, &f->loaded, f->s->n_versions));
  FS_TRY(fs_picture_items(f->p, f->n));
  f->p->n_items = 0;
  fs_heap ready = {0};
  fs_status status = add_items(f, &ready);
  fs_vec_free(f->p->ctx, &ready);
  if (status == FSCHED_OK) {
    time_items(f);
  }
  return status;
}

/* ---- gates */

static void pass_on(program_drawer *f, uint32_t from, uint32_t to) {
  uint32_t n = f->s->n_queues;
  const uint32_t *source = f->over + (size_t)from * n;
  uint32_t *over = f->over + (size_t)to * n;
  for (uint32_t q = 0; q < n; q++) {
    over[q] = (uint32_t)fs_max(over[q], source[q]);
  }
}

/* Computes the clocks; if they would be too large, all gates are drawn. */
static fs_status find_over(program_drawer *f, const uint32_t *entity) {
  enum { MOST = 1 << 26 };
  const fs_stream *s = f->s;
  uint32_t n_gates = f->points.gate0[s->n_commands];
  if (n_gates == 0 || (uint64_t)f->n * s->n_queues > MOST) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&f->p->arena, &f->over, (size_t)f->n * s->n_queues));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    f->over[(size_t)f->of[c] * s->n_queues + f->queue[c]] = s->commands[c].epoch;
  }
  for (uint32_t i = 0; i < f->p->n_items; i++) {
    for (uint32_t k = f->next0[entity[i]]; k < f->next0[entity[i] + 1]; k++) {
      if (!f->by_gate[k]) {
        pass_on(f, entity[i], f->next[k]);
      }
    }
  }
  return FSCHED_OK;
}

/* ---- data */

typedef struct fs_written {
  program_drawer *f;
  fs_ranges ranges;
  uint32_t *set; /* per version, in the store and in its memory: the items that wrote each range */
  fs_ids found;
} fs_written;

static fs_status read_place(fs_written *w, const fs_stream_place *place, uint32_t *set,
                            uint32_t item) {
  uint64_t covered;
  w->found.n = 0;
  FS_TRY(fs_ranges_find(&w->ranges, *set, place->address, place->address + place->size, &w->found,
                        &covered));
  for (size_t i = 0; i < w->found.n; i++) {
    FS_TRY(fs_picture_data(w->f->p, w->found.at[i], item, place->version));
  }
  return FSCHED_OK;
}

/* Visits those places of a command that it reads, or those that it writes. */
static fs_status walk_places(fs_written *w, uint32_t command, uint32_t item, unsigned mode) {
  const fs_stream *s = w->f->s;
  const fs_stream_command *c = &s->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *place = &s->places[i];
    if (!fs_space_has_bytes(place->space) || place->version == FS_NONE || place->size == 0 ||
        (place->mode & mode) == 0 ||
        (place->arg != FS_NONE && !fs_tag_accesses(s->args[place->arg].tag))) {
      continue;
    }
    bool own = place->index == s->buffers[s->versions[place->version].buffer].memory;
    uint32_t *set = &w->set[(size_t)place->version * 2 + own];
    if (mode == FS_MODE_R) {
      FS_TRY(read_place(w, place, set, item));
    } else {
      FS_TRY(
          fs_ranges_replace(&w->ranges, set, place->address, place->address + place->size, item));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_data(fs_written *w, const uint32_t *entity) {
  for (uint32_t i = 0; i < w->f->p->n_items; i++) {
    uint32_t command = w->f->command[entity[i]];
    FS_TRY(walk_places(w, command, i, FS_MODE_R));
    FS_TRY(walk_places(w, command, i, FS_MODE_W));
  }
  return FSCHED_OK;
}

static fs_status draw_data(program_drawer *f, const uint32_t *entity) {
  const fs_stream *s = f->s;
  fs_written w = {.f = f};
  FS_TRY(fs_new_none(&f->p->arena, &w.set, (size_t)s->n_versions * 2));
  fs_ranges_init(&w.ranges, f->p->ctx);
  fs_status status = walk_data(&w, entity);
  fs_ranges_release(&w.ranges);
  fs_vec_free(f->p->ctx, &w.found);
  return status;
}

/* Lists the entities by their items. */
static fs_status file_entities(program_drawer *f, uint32_t **entity) {
  FS_TRY(fs_new(&f->p->arena, entity, f->n));
  for (uint32_t e = 0; e < f->n; e++) {
    if (f->place[e] != FS_NONE) {
      (*entity)[f->place[e]] = e;
    }
  }
  return FSCHED_OK;
}

static fs_status draw_after(program_drawer *f) {
  const fs_stream *s = f->s;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    for (uint32_t i = 0; i < s->ops[op].n_afters; i++) {
      uint32_t before = s->afters[s->ops[op].after0 + i];
      if (f->place[op] != FS_NONE && f->place[before] != FS_NONE) {
        FS_TRY(fs_picture_edge(f->p, f->place[before], f->place[op], FS_PIC_ORDER));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status draw_barriers(program_drawer *f) {
  const fs_stream *s = f->s;
  FS_TRY(fs_picture_barriers(f->p, s->n_barriers));
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    f->p->barrier[b].physical = s->barriers[b].physical;
    f->p->barrier[b].use = s->barriers[b].use;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    uint32_t item = f->place[f->of[c]];
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      FS_TRY(fs_picture_await(f->p, item, s->barrier_waits[k->barrier_wait0 + i]));
    }
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      const fs_stream_update *u = &s->barrier_updates[k->barrier_update0 + i];
      FS_TRY(fs_picture_update(f->p, item, u->barrier, u->slots));
    }
  }
  return FSCHED_OK;
}

static void count_stops(const fs_stream *s, fs_picture *p) {
  for (uint32_t i = 0; i < s->n_stops; i++) {
    *(s->stops[i].queue == FS_NONE ? &p->full_syncs : &p->some_syncs) += 1;
  }
}

static fs_status draw_loops(const fs_stream *s, fs_picture *p) {
  p->n_loops = s->n_loops;
  FS_TRY(fs_shown_of_stream(&p->arena, s, &p->loop));
  FS_TRY(fs_new(&p->arena, &p->loop_parts, s->n_loops));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    FS_TRY(fs_new(&p->arena, &p->loop_parts[l], s->loops[l].n_ops));
    for (uint32_t m = 0; m < s->loops[l].n_ops; m++) {
      FS_TRY(fs_parts_of_loop_op(&p->arena, s, s->loops[l].op0 + m, &p->loop_parts[l][m]));
    }
  }
  FS_TRY(fs_new(&p->arena, &p->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    p->queue_name[q] = fs_stream_string(s, s->queues[q].name);
  }
  return FSCHED_OK;
}

fs_status fs_picture_of_program(const fsched_program *program, fs_picture *p) {
  const fs_stream *s = &program->view;
  program_drawer f = {.p = p, .s = s};
  uint32_t *entity;
  p->name = fs_stream_string(s, s->meta->name);
  p->unit = fs_stream_string(s, s->meta->time_unit);
  p->span = s->meta->makespan;
  p->lower_bound = s->meta->lower_bound;
  FS_TRY(fs_picture_versions(p, s->n_versions));
  for (uint32_t v = 0; v < s->n_versions; v++) {
    p->version_name[v] = fs_stream_string(s, s->buffers[s->versions[v].buffer].name);
    p->version_index[v] = s->versions[v].index;
  }
  FS_TRY(fs_picture_clusters(p, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    p->cluster[q] =
        fs_picture_queue(p, fs_stream_string(s, s->queues[q].name), s->queues[q].host != 0);
    if (p->cluster[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  FS_TRY(fs_stream_points_find(&p->arena, s, &f.points));
  FS_TRY(file_commands(&f));
  FS_TRY(file_axes(&f));
  FS_TRY(order_items(&f));
  FS_TRY(file_entities(&f, &entity));
  FS_TRY(find_over(&f, entity));
  FS_TRY(each_order(&f, draw_order));
  FS_TRY(draw_after(&f));
  FS_TRY(draw_data(&f, entity));
  FS_TRY(draw_barriers(&f));
  FS_TRY(draw_loops(s, p));
  count_stops(s, p);
  return fs_picture_finish(p);
}
