/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the picture of a schedule: ops and copies in the order of issue, with a cluster per queue.
 *
 * Data that has left its memory in between comes back by copies; then the edge from its writer to
 * its reader is replaced by the edges through the copies. */
#include "base/group.h"
#include "draw/dot/picture.h"
#include "draw/parts.h"
#include "model/sync.h"

typedef struct schedule_drawer {
  fs_picture *p;
  const fs_schedule *s;
  const fs_sync *y;
  uint8_t *role; /* fs_copy_role, per copy */
} schedule_drawer;

static fs_status make_item(const schedule_drawer *f, uint32_t id, fs_pic_item *item) {
  const fs_schedule *s = f->s;
  const fsched_graph *g = s->graph;
  bool copy = fs_item_is_copy(s, id);
  uint32_t c = id - g->n_ops, n;
  const uint32_t *queues = fs_item_queues(s, id, &n);
  *item = (fs_pic_item){.start = s->start[id], .end = s->end[id], .cluster = queues[0]};
  if (copy) {
    uint32_t v = s->copy_version[c];
    item->kind = (uint8_t)(FS_PIC_LOAD + f->role[c]);
    item->name = g->buffer_name[g->version_buffer[v]];
    item->version = fs_version_index(g, v);
    return FSCHED_OK;
  }
  item->kind = FS_PIC_OP;
  item->name = g->op_name[id];
  FS_TRY(fs_parts_of_graph(&f->p->arena, g, id, &item->parts));
  if (s->op_gang[id] != FS_NONE) {
    item->kind = FS_PIC_GANG;
    item->queues = fs_picture_list(f->p, s->queue_name, queues, n);
    item->n_queues = n;
    item->members = fs_op_members(g, id) > 0;
    fs_picture_host(f->p, queues, n);
  }
  return item->kind == FS_PIC_GANG && item->queues == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status edge(const schedule_drawer *f, uint32_t from, uint32_t to, fs_pic_why why) {
  return fs_picture_edge(f->p, f->y->position[from], f->y->position[to], why);
}

/* Whether all that op `b` reads from op `a` reaches it by copies: no two args share a residency. */
static bool by_copies(const fs_schedule *s, uint32_t a, uint32_t b) {
  const fsched_graph *g = s->graph;
  for (uint32_t w = g->op_arg0[a]; w < g->op_arg0[a + 1]; w++) {
    for (uint32_t r = g->op_arg0[b]; r < g->op_arg0[b + 1]; r++) {
      if (fs_tag_writes(g->arg_tag[w]) && fs_tag_reads(g->arg_tag[r]) &&
          g->arg_version[w] == g->arg_version[r] && s->arg_residency[w] == s->arg_residency[r]) {
        return false;
      }
    }
  }
  return true;
}

static fs_status edge_of_graph(const schedule_drawer *f, uint32_t from, uint32_t op) {
  const fsched_graph *g = f->s->graph;
  uint32_t arg = g->op_arg0[op], version;
  if (!fs_picture_next_data(g, from, op, &arg, &version)) {
    return edge(f, from, op, FS_PIC_ORDER);
  }
  if (by_copies(f->s, from, op)) {
    return FSCHED_OK;
  }
  do {
    FS_TRY(fs_picture_data(f->p, f->y->position[from], f->y->position[op], version));
  } while (fs_picture_next_data(g, from, op, &arg, &version));
  return FSCHED_OK;
}

/* Adds an edge for a copy's data; `from` or `item` is the copy.  Between two ops the edge has no
 * version: it then follows from planned times (fs_accesses_collect). */
static fs_status edge_of_copy(const schedule_drawer *f, uint32_t from, uint32_t item) {
  uint32_t n_ops = f->s->graph->n_ops;
  if (from < n_ops && item < n_ops) {
    return edge(f, from, item, FS_PIC_DATA);
  }
  uint32_t version = f->s->copy_version[(from < n_ops ? item : from) - n_ops];
  return fs_picture_data(f->p, f->y->position[from], f->y->position[item], version);
}

static fs_status edges_of_data(const schedule_drawer *f) {
  const fsched_graph *g = f->s->graph;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      FS_TRY(edge_of_graph(f, g->pred[k], op));
    }
  }
  for (uint32_t i = 0; i < f->s->n_items; i++) {
    for (uint32_t k = f->y->data0[i]; k < f->y->data0[i + 1]; k++) {
      FS_TRY(edge_of_copy(f, f->y->data[k], i));
    }
  }
  return FSCHED_OK;
}

static fs_status edges_of_control(const schedule_drawer *f) {
  static const fs_pic_why whys[] = {[FS_WHY_REUSE] = FS_PIC_REUSE,
                                    [FS_WHY_RESOURCE] = FS_PIC_RESOURCE,
                                    [FS_WHY_CONCURRENCY] = FS_PIC_CONCURRENCY,
                                    [FS_WHY_BARRIER] = FS_PIC_BARRIER};
  const fs_sync *y = f->y;
  for (uint32_t e = 0; e < y->n_control; e++) {
    FS_TRY(edge(f, y->control_from[e], y->control_to[e], whys[y->control_why[e]]));
  }
  return FSCHED_OK;
}

/* The item that a wait names: of a queue's command, or of a gang's epoch. */
static uint32_t waited_for(const schedule_drawer *f, fs_wait w, const uint32_t *gang0,
                           const uint32_t *gang_item) {
  uint32_t n_queues = f->s->n_queues;
  return w.axis < n_queues ? f->y->command_item[f->y->queue_command0[w.axis] + w.epoch - 1]
                           : gang_item[gang0[w.axis - n_queues] + w.epoch - 1];
}

static fs_status edges_of_queues(const schedule_drawer *f) {
  const fs_sync *y = f->y;
  for (uint32_t q = 0; q < f->s->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q] + 1; c < y->queue_command0[q + 1]; c++) {
      FS_TRY(edge(f, y->command_item[c - 1], y->command_item[c], FS_PIC_QUEUE));
    }
  }
  return FSCHED_OK;
}

static fs_status edges_of_waits(const schedule_drawer *f, const uint32_t *wait0,
                                const fs_wait *wait) {
  const fs_sync *y = f->y;
  uint32_t *gang0, *gang_item;
  FS_TRY(fs_sync_gang_ops(y, &f->p->arena, &gang0, &gang_item));
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t w = wait0[c]; w < wait0[c + 1]; w++) {
      uint32_t from = waited_for(f, wait[w], gang0, gang_item);
      FS_TRY(edge(f, from, y->command_item[c], FS_PIC_WAIT));
    }
  }
  return FSCHED_OK;
}

/* For each barrier, its last producer on each queue: entries [first, end) of `command`. */
typedef struct producers {
  uint32_t *first, *end, *command;
  uint32_t *queue; /* per command */
} producers;

static fs_status make_producers(const schedule_drawer *f, producers *of) {
  const fs_sync *y = f->y;
  FS_TRY(fs_new_zero(&f->p->arena, &of->first, (size_t)y->n_barriers + 1));
  FS_TRY(fs_new(&f->p->arena, &of->end, y->n_barriers));
  FS_TRY(fs_new(&f->p->arena, &of->command, y->barrier_update0[y->n_commands]));
  FS_TRY(fs_new(&f->p->arena, &of->queue, y->n_commands));
  for (uint32_t i = 0; i < y->barrier_update0[y->n_commands]; i++) {
    of->first[y->barrier_update[i] + 1]++; /* room for all producers */
  }
  fs_group_starts(of->first, y->n_barriers);
  memcpy(of->end, of->first, y->n_barriers * sizeof *of->end);
  return FSCHED_OK;
}

static void find_producers(const schedule_drawer *f, producers *of) {
  const fs_sync *y = f->y;
  for (uint32_t q = 0; q < f->s->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      of->queue[c] = q;
      for (uint32_t i = y->barrier_update0[c]; i < y->barrier_update0[c + 1]; i++) {
        uint32_t b = y->barrier_update[i], *end = &of->end[b];
        *end -= *end > of->first[b] && of->queue[of->command[*end - 1]] == q;
        of->command[(*end)++] = c;
      }
    }
  }
}

/* Adds waits for the last producer, on each other queue, of all barriers that a command awaits.
 * last: per queue, FS_NONE before and after. */
static fs_status edges_from_producers(const schedule_drawer *f, const producers *of, uint32_t c,
                                      uint32_t *last) {
  const fs_sync *y = f->y;
  for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
    for (uint32_t b = y->barrier_wait[w], i = of->first[b]; i < of->end[b]; i++) {
      uint32_t *at = &last[of->queue[of->command[i]]];
      *at = *at == FS_NONE || *at < of->command[i] ? of->command[i] : *at;
    }
  }
  for (uint32_t w = y->barrier_wait0[c]; w < y->barrier_wait0[c + 1]; w++) {
    for (uint32_t b = y->barrier_wait[w], i = of->first[b]; i < of->end[b]; i++) {
      uint32_t q = of->queue[of->command[i]], from = last[q];
      last[q] = FS_NONE;
      if (from != FS_NONE && q != of->queue[c]) {
        FS_TRY(edge(f, y->command_item[from], y->command_item[c], FS_PIC_WAIT));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status edges_of_barriers(const schedule_drawer *f) {
  producers of;
  uint32_t *last;
  FS_TRY(make_producers(f, &of));
  find_producers(f, &of);
  FS_TRY(fs_new_none(&f->p->arena, &last, f->s->n_queues));
  for (uint32_t c = 0; c < f->y->n_commands; c++) {
    FS_TRY(edges_from_producers(f, &of, c, last));
  }
  return FSCHED_OK;
}

static fs_status edges_of_stops(const schedule_drawer *f) {
  uint32_t *point0;
  fs_wait *point;
  FS_TRY(fs_sync_points(f->y, &f->p->arena, &point0, &point));
  return edges_of_waits(f, point0, point);
}

static fs_status edges_of_sync(const schedule_drawer *f) {
  switch (f->y->kind) {
    case FS_SYNC_TIMELINE:
      return edges_of_waits(f, f->y->wait0, f->y->wait);
    case FS_SYNC_BARRIER:
      return edges_of_barriers(f);
    case FS_SYNC_BLOCK:
      return edges_of_stops(f);
  }
  return FSCHED_OK;
}

static fs_status draw_barriers(const schedule_drawer *f) {
  const fs_sync *y = f->y;
  FS_TRY(fs_picture_barriers(f->p, y->n_barriers));
  for (uint32_t b = 0; b < y->n_barriers; b++) {
    f->p->barrier[b].physical = y->barrier_physical[b];
    f->p->barrier[b].use = y->barrier_use[b];
  }
  for (uint32_t c = 0; c < y->n_commands; c++) {
    uint32_t item = y->position[y->command_item[c]];
    for (uint32_t i = y->barrier_wait0[c]; i < y->barrier_wait0[c + 1]; i++) {
      FS_TRY(fs_picture_await(f->p, item, y->barrier_wait[i]));
    }
    for (uint32_t i = y->barrier_update0[c]; i < y->barrier_update0[c + 1]; i++) {
      uint32_t slots = y->barrier_update_slots[i];
      FS_TRY(fs_picture_update(f->p, item, y->barrier_update[i], slots));
    }
  }
  return FSCHED_OK;
}

static fs_status draw_sync(const schedule_drawer *f) {
  switch (f->y->kind) {
    case FS_SYNC_TIMELINE:
      break;
    case FS_SYNC_BARRIER:
      return draw_barriers(f);
    case FS_SYNC_BLOCK:
      f->p->full_syncs = f->y->n_full;
      f->p->some_syncs = f->y->n_stops - f->y->n_full;
      break;
  }
  return FSCHED_OK;
}

fs_status fs_picture_of_schedule(const fs_sync *y, fs_picture *p) {
  const fs_schedule *s = y->schedule;
  schedule_drawer f = {.p = p, .s = s, .y = y};
  p->name = s->graph->name;
  p->unit = s->graph->target.time_unit;
  p->span = s->makespan;
  p->lower_bound = s->lower_bound;
  p->queue_name = s->queue_name;
  FS_TRY(fs_picture_graph_loops(p, s->graph));
  FS_TRY(fs_schedule_copy_roles(s, &p->arena, &f.role));
  FS_TRY(fs_picture_graph_versions(p, s->graph));
  FS_TRY(fs_picture_clusters(p, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_target *t = &s->graph->target;
    p->cluster[q] = fs_picture_queue(p, s->queue_name[q], !t->implicit_queues && t->queue[q].host);
    if (p->cluster[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  FS_TRY(fs_picture_items(p, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    FS_TRY(make_item(&f, s->order[i], &p->item[i]));
  }
  FS_TRY(edges_of_data(&f));
  FS_TRY(edges_of_control(&f));
  FS_TRY(edges_of_queues(&f));
  FS_TRY(edges_of_sync(&f));
  FS_TRY(draw_sync(&f));
  return fs_picture_finish(p);
}
