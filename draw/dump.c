/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/dump.h"

#include "base/group.h"
#include "base/text/columns.h"
#include "draw/stats.h"
#include "model/bounds/bounds.h"
#include "model/stream/stream.h"
#include "model/sync.h"

/* Writes the headings of a table; sides: 'l' or 'r' per column, for its alignment. */
static void put_heads(fs_columns *c, const char *const *heads, const char *sides) {
  for (uint32_t k = 0; k < c->n; k++) {
    fs_text_puts(&c->text, heads[k]);
    fs_columns_cell(c, sides[k] == 'r' ? FS_RIGHT : FS_LEFT);
  }
}

static void cell_text(fs_columns *c, const char *text) {
  fs_text_visible(&c->text, text);
  fs_columns_cell(c, FS_LEFT);
}

static void cell_u64(fs_columns *c, uint64_t value) {
  fs_text_u64(&c->text, value);
  fs_columns_cell(c, FS_RIGHT);
}

static void put_u64(fs_text *t, const char *before, uint64_t value) {
  fs_text_puts(t, before);
  fs_text_u64(t, value);
}

/* Writes "x", or "x.2" for a version other than the first. */
static void put_version(fs_text *t, const fsched_graph *g, uint32_t version) {
  fs_text_visible(t, g->buffer_name[g->version_buffer[version]]);
  if (fs_version_index(g, version) != 0) {
    put_u64(t, ".", fs_version_index(g, version));
  }
}

/* Writes "A", "write x" or "read x.2". */
static void put_item(fs_text *t, const fs_schedule *s, uint32_t item) {
  const fsched_graph *g = s->graph;
  if (!fs_item_is_copy(s, item)) {
    fs_text_visible(t, g->op_name[item]);
    return;
  }
  uint32_t copy = item - g->n_ops;
  fs_text_printf(t, "%s ", fs_words_copy[s->copy_kind[copy]]);
  put_version(t, g, s->copy_version[copy]);
}

static void put_memory_bounds(fs_columns *c, const fsched_graph *g, const uint64_t *need) {
  static const char *const heads[] = {"memory", "capacity", "needed at once"};
  put_heads(c, heads, "lrr");
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    cell_text(c, g->target.memory[m].name);
    if (fs_memory_bounded(&g->target.memory[m])) {
      cell_u64(c, g->target.memory[m].capacity);
    } else {
      fs_text_puts(&c->text, "unbounded");
      fs_columns_cell(c, FS_RIGHT);
    }
    cell_u64(c, need[m]);
  }
}

fs_status fs_dump_bounds(fs_text *t, const fsched_graph *g, const fs_lower_bounds *bounds) {
  const struct {
    const char *name;
    fs_tick value;
  } bound[] = {{"critical path", bounds->critical_path},
               {"work of queues", bounds->queue_work},
               {"work of resources", bounds->resource_work},
               {"copies", bounds->copy_work},
               {"memories", bounds->memory_work},
               {"parts in series", bounds->series},
               {"makespan", bounds->all}};
  static const char *const heads[] = {"bound", "ticks"};
  fs_columns c;
  fs_columns_init(&c, t->ctx, 2);
  put_heads(&c, heads, "lr");
  for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++) {
    cell_text(&c, bound[i].name);
    cell_u64(&c, bound[i].value);
  }
  FS_TRY(fs_columns_finish(&c, "", t));
  if (g->target.n_memories == 0) {
    return FSCHED_OK;
  }
  fs_text_puts(t, "\n");
  FS_SCRATCH(arena, t->ctx);
  uint64_t *need;
  FS_TRY(fs_new_zero(&arena, &need, g->target.n_memories));
  FS_TRY(fs_memory_lower_bounds(t->ctx, g, need));
  fs_columns_init(&c, t->ctx, 3);
  put_memory_bounds(&c, g, need);
  return fs_columns_finish(&c, "", t);
}

static void put_interval(fs_text *t, uint64_t begin, uint64_t end) {
  put_u64(t, "[", begin);
  put_u64(t, ",", end);
  fs_text_puts(t, ")");
}

static void put_residency(fs_columns *c, const fs_schedule *s, uint32_t r) {
  const fsched_graph *g = s->graph;
  const fs_memory *m = &g->target.memory[s->res_memory[r]];
  if (s->res_version[r] == FS_NONE) {
    fs_text_puts(&c->text, "scratch of ");
    fs_text_visible(&c->text, g->op_name[s->res_op[r]]);
  } else {
    put_version(&c->text, g, s->res_version[r]);
  }
  fs_columns_cell(c, FS_LEFT);
  cell_text(c, m->name);
  if (!fs_placement_has_addresses(m->placement)) {
    put_u64(&c->text, "", s->res_size[r]);
  } else {
    put_interval(&c->text, s->res_address[r], s->res_address[r] + s->res_size[r]);
  }
  fs_columns_cell(c, FS_LEFT);
  cell_u64(c, s->res_begin[r]);
  cell_u64(c, s->res_end[r]);
}

fs_status fs_dump_schedule(fs_text *t, const fs_schedule *s) {
  static const char *const heads[] = {"resident", "memory", "bytes", "begin", "end"};
  put_u64(t, "makespan ", s->makespan);
  put_u64(t, ", lower bound ", s->lower_bound);
  put_u64(t, ", copies ", s->n_copies);
  put_u64(t, ", residencies ", s->n_residencies);
  fs_text_puts(t, "\n");
  fs_stats_put_peaks(t, s, "");
  fs_text_puts(t, "\n");
  FS_TRY(fs_schedule_table_put(t, s));
  if (s->n_residencies == 0) {
    return FSCHED_OK;
  }
  fs_text_puts(t, "\n");
  fs_columns c;
  fs_columns_init(&c, t->ctx, 5);
  put_heads(&c, heads, "lllrr");
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    put_residency(&c, s, r);
  }
  return fs_columns_finish(&c, "", t);
}

static void put_edge(fs_columns *c, const fs_sync *y, uint32_t edge) {
  put_item(&c->text, y->schedule, y->control_from[edge]);
  fs_columns_cell(c, FS_LEFT);
  put_item(&c->text, y->schedule, y->control_to[edge]);
  fs_columns_cell(c, FS_LEFT);
  cell_text(c, fs_words_why[y->control_why[edge]]);
}

static void put_lane(fs_columns *c, const fs_schedule *s, const fs_lane *lane) {
  const fs_target *target = &s->graph->target;
  if (lane->kind == FS_LANE_CONCURRENCY) {
    fs_text_puts(&c->text, "concurrency");
  } else {
    fs_text_puts(&c->text, lane->kind == FS_LANE_MEMORY ? "memory " : "resource ");
    fs_text_visible(&c->text, lane->kind == FS_LANE_MEMORY ? target->memory[lane->index].name
                                                           : target->resource_name[lane->index]);
  }
  fs_columns_cell(c, FS_LEFT);
  put_interval(&c->text, lane->begin, lane->end);
  fs_columns_cell(c, FS_LEFT);
  if (lane->kind != FS_LANE_MEMORY) {
    put_item(&c->text, s, lane->owner);
  } else if (s->res_version[lane->owner] == FS_NONE) {
    fs_text_puts(&c->text, "scratch of ");
    fs_text_visible(&c->text, s->graph->op_name[s->res_op[lane->owner]]);
  } else {
    put_version(&c->text, s->graph, s->res_version[lane->owner]);
  }
  fs_columns_cell(c, FS_LEFT);
}

fs_status fs_dump_control(fs_text *t, const fs_sync *y) {
  static const char *const edge_heads[] = {"from", "to", "why"};
  static const char *const lane_heads[] = {"of", "units", "held by"};
  fs_columns c;
  put_u64(t, "control edges ", y->n_control);
  put_u64(t, ", lanes ", y->n_lanes);
  fs_text_puts(t, "\n");
  if (y->n_control > 0) {
    fs_text_puts(t, "\n");
    fs_columns_init(&c, t->ctx, 3);
    put_heads(&c, edge_heads, "lll");
    for (uint32_t i = 0; i < y->n_control; i++) {
      put_edge(&c, y, i);
    }
    FS_TRY(fs_columns_finish(&c, "", t));
  }
  if (y->n_lanes > 0) {
    fs_text_puts(t, "\n");
    fs_columns_init(&c, t->ctx, 3);
    put_heads(&c, lane_heads, "lll");
    for (uint32_t i = 0; i < y->n_lanes; i++) {
      put_lane(&c, y->schedule, &y->lane[i]);
    }
    FS_TRY(fs_columns_finish(&c, "", t));
  }
  return FSCHED_OK;
}

/* Writes the name of an axis; the axis of a gang is named after its members. */
static void put_axis(fs_text *t, const fs_schedule *s, uint32_t axis) {
  if (axis < s->n_queues) {
    fs_text_visible(t, s->queue_name[axis]);
    return;
  }
  uint32_t gang = axis - s->n_queues;
  for (uint32_t i = s->gang_queue0[gang]; i < s->gang_queue0[gang + 1]; i++) {
    fs_text_puts(t, i == s->gang_queue0[gang] ? "" : "+");
    fs_text_visible(t, s->queue_name[s->gang_queue[i]]);
  }
}

static void cell_clock(fs_columns *c, const fs_schedule *s, const fs_wait *entry, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    fs_text_puts(&c->text, i == 0 ? "" : " ");
    put_axis(&c->text, s, entry[i].axis);
    put_u64(&c->text, ":", entry[i].epoch);
  }
  fs_text_puts(&c->text, n == 0 ? "-" : "");
  fs_columns_cell(c, FS_LEFT);
}

static void put_command(fs_columns *c, const fs_sync *sync, uint32_t command, uint32_t epoch) {
  const fs_schedule *s = sync->schedule;
  cell_u64(c, epoch);
  put_item(&c->text, s, sync->command_item[command]);
  fs_columns_cell(c, FS_LEFT);
  uint32_t first = sync->wait0[command];
  cell_clock(c, s, sync->wait + first, sync->wait0[command + 1] - first);
  cell_text(c, sync->signal[command] ? fs_words_scope[sync->scope[command]] : "-");
  first = sync->frontier0[command];
  cell_clock(c, s, sync->frontier + first, sync->frontier0[command + 1] - first);
  cell_text(c, sync->tainted[command] ? "tainted" : "");
}

fs_status fs_dump_waits(fs_text *t, const fs_sync *sync) {
  static const char *const heads[] = {"epoch", "command", "waits", "signal", "frontier", ""};
  const fs_schedule *s = sync->schedule;
  put_u64(t, "edges ", sync->waits_edges);
  put_u64(t, ": in queue order ", sync->waits_same_queue);
  put_u64(t, ", dominated ", sync->waits_dominated);
  put_u64(t, " (exact ", sync->waits_dominated_exact);
  put_u64(t, ", by frontiers ", sync->waits_dominated - sync->waits_dominated_exact);
  fs_text_puts(t, ")");
  put_u64(t, ", waits ", sync->waits_emitted);
  put_u64(t, "; signals ", sync->n_signals);
  put_u64(t, "; frontiers of at most ", sync->frontier_largest);
  put_u64(t, ", tainted ", sync->frontier_tainted);
  fs_text_puts(t, "\n");
  for (uint32_t q = 0; q < s->n_queues; q++) {
    fs_text_puts(t, "\nqueue ");
    fs_text_visible(t, s->queue_name[q]);
    fs_text_puts(t, "\n");
    fs_columns c;
    fs_columns_init(&c, t->ctx, 6);
    put_heads(&c, heads, "rlllll");
    for (uint32_t i = sync->queue_command0[q]; i < sync->queue_command0[q + 1]; i++) {
      put_command(&c, sync, i, i - sync->queue_command0[q] + 1);
    }
    FS_TRY(fs_columns_finish(&c, "  ", t));
  }
  return FSCHED_OK;
}

/* Writes the item that a command belongs to; a member of a gang is followed by its queue. */
static void put_member(fs_text *t, const fs_sync *sync, uint32_t command) {
  const fs_schedule *s = sync->schedule;
  uint32_t item = sync->command_item[command];
  put_item(t, s, item);
  if (sync->item_command0[item + 1] - sync->item_command0[item] > 1) {
    uint32_t q = 0;
    while (sync->queue_command0[q + 1] <= command) {
      q++;
    }
    fs_text_puts(t, "@");
    fs_text_visible(t, s->queue_name[q]);
  }
}

/* Lists of barriers per command turned into lists of commands per barrier, ascending by command. */
typedef struct fs_turned {
  uint32_t *first, *command, *entry; /* CSR by barrier; entry: its index in `list` */
} fs_turned;

static fs_status turn(fs_arena *arena, const fs_sync *sync, const uint32_t *list0,
                      const uint32_t *list, fs_turned *out) {
  uint32_t n = sync->n_barriers;
  FS_TRY(fs_new_zero(arena, &out->first, (size_t)n + 2));
  FS_TRY(fs_new(arena, &out->command, list0[sync->n_commands]));
  FS_TRY(fs_new(arena, &out->entry, list0[sync->n_commands]));
  for (uint32_t i = 0; i < list0[sync->n_commands]; i++) {
    out->first[list[i] + 2]++;
  }
  fs_group_sum(out->first, n);
  for (uint32_t c = 0; c < sync->n_commands; c++) {
    for (uint32_t i = list0[c]; i < list0[c + 1]; i++) {
      uint32_t at = out->first[list[i] + 1]++;
      out->command[at] = c;
      out->entry[at] = i;
    }
  }
  return FSCHED_OK;
}

/* Writes one barrier's commands and, unless `slots` is NULL, the number of slots that each takes if
 * not 1. */
static void cell_members(fs_columns *c, const fs_sync *sync, const fs_turned *of, uint32_t barrier,
                         const uint32_t *slots) {
  for (uint32_t i = of->first[barrier]; i < of->first[barrier + 1]; i++) {
    fs_text_puts(&c->text, i == of->first[barrier] ? "" : ", ");
    put_member(&c->text, sync, of->command[i]);
    if (slots != NULL && slots[of->entry[i]] != 1) {
      put_u64(&c->text, " x", slots[of->entry[i]]);
    }
  }
  fs_columns_cell(c, FS_LEFT);
}

static fs_status put_barriers(fs_text *t, const fs_sync *sync, fs_arena *arena) {
  static const char *const heads[] = {"barrier", "physical", "use", "updated by", "waited for by"};
  fs_turned producers, consumers;
  FS_TRY(turn(arena, sync, sync->barrier_update0, sync->barrier_update, &producers));
  FS_TRY(turn(arena, sync, sync->barrier_wait0, sync->barrier_wait, &consumers));
  fs_columns c;
  fs_columns_init(&c, t->ctx, 5);
  put_heads(&c, heads, "rrrll");
  for (uint32_t b = 0; b < sync->n_barriers; b++) {
    cell_u64(&c, b);
    cell_u64(&c, sync->barrier_physical[b]);
    cell_u64(&c, sync->barrier_use[b]);
    cell_members(&c, sync, &producers, b, sync->barrier_update_slots);
    cell_members(&c, sync, &consumers, b, NULL);
  }
  return fs_columns_finish(&c, "", t);
}

static void put_cost(fs_text *t, const fs_sync *sync) {
  put_u64(t, "; makespan ", sync->schedule->makespan);
  put_u64(t, ", without them ", sync->makespan_before);
  fs_text_puts(t, "\n");
}

fs_status fs_dump_barriers(fs_text *t, const fs_sync *sync) {
  put_u64(t, "barriers ", sync->n_barriers);
  put_u64(t, ", physical ", sync->barriers_used);
  if (sync->barrier_bound != FS_BARRIERS_AUTO) {
    put_u64(t, " of ", sync->barrier_bound);
  }
  put_u64(t, ", waits ", sync->barrier_wait0[sync->n_commands]);
  put_u64(t, ", orders added ", sync->barrier_added);
  put_u64(t, ", gates ", sync->barrier_gates);
  put_cost(t, sync);
  if (sync->n_barriers == 0) {
    return FSCHED_OK;
  }
  fs_text_puts(t, "\n");
  FS_SCRATCH(arena, t->ctx);
  return put_barriers(t, sync, &arena);
}

static void put_stop(fs_columns *c, const fs_schedule *s, const fs_stop *stop) {
  fs_columns_cell(c, FS_LEFT);
  if (stop->queue == FS_NONE) {
    fs_text_puts(&c->text, "(all)");
  } else {
    fs_text_visible(&c->text, s->queue_name[stop->queue]);
  }
  fs_columns_cell(c, FS_LEFT);
  fs_text_puts(&c->text, "sync");
  if (stop->keep != 0) {
    put_u64(&c->text, ", all but the last ", stop->keep);
  }
  fs_columns_cell(c, FS_LEFT);
}

static fs_status put_issue(fs_text *t, const fs_sync *sync, fs_arena *arena) {
  static const char *const heads[] = {"order", "queue", "command"};
  const fs_schedule *s = sync->schedule;
  fs_issue issue;
  FS_TRY(fs_sync_issue(sync, arena, &issue));
  fs_columns c;
  fs_columns_init(&c, t->ctx, 3);
  put_heads(&c, heads, "rll");
  for (uint32_t at = 0, stop = 0; at < sync->n_commands; at++) {
    for (; stop < sync->n_stops && sync->stop[stop].at <= at; stop++) {
      put_stop(&c, s, &sync->stop[stop]);
    }
    uint32_t command = issue.command[at];
    cell_u64(&c, at);
    cell_text(&c, s->queue_name[issue.queue[command]]);
    put_item(&c.text, s, sync->command_item[command]);
    fs_columns_cell(&c, FS_LEFT);
  }
  return fs_columns_finish(&c, "", t);
}

fs_status fs_dump_block(fs_text *t, const fs_sync *sync) {
  put_u64(t, "full syncs ", sync->n_full);
  put_u64(t, ", counting ", sync->n_stops - sync->n_full);
  put_u64(t, ", cost of a full one ", sync->schedule->graph->target.sync_cost);
  put_cost(t, sync);
  fs_text_puts(t, "\n");
  FS_SCRATCH(arena, t->ctx);
  return put_issue(t, sync, &arena);
}

fs_status fs_dump_program(fs_text *t, const fsched_program *program) {
  char *text;
  size_t length;
  FS_TRY(fsched_program_text(t->ctx, program, &text, &length));
  fs_text_add(t, text, length);
  fsched_text_free(t->ctx, text, length);
  return FSCHED_OK;
}

void fs_dump_verified(fs_text *t, const fs_schedule *s, const fsched_program *program) {
  put_u64(t, "schedule verified: ops ", s->graph->n_ops);
  put_u64(t, ", copies ", s->n_copies);
  put_u64(t, ", residencies ", s->n_residencies);
  put_u64(t, "\nstream verified: commands ", program->view.n_commands);
  put_u64(t, ", waits ", program->view.n_waits);
  put_u64(t, ", places ", program->view.n_places);
  fs_text_puts(t, "\n");
}
