/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graph.h"

#include "base/saturate.h"
#include "model/loop_report.h"

void fsched_graph_destroy(fsched_graph *g) {
  if (g != NULL) {
    fs_arena_release(&g->arena);
    (void)fs_realloc(g->ctx, g, sizeof *g, 0);
  }
}

const char *fsched_graph_name(const fsched_graph *g) { return g->name; }
uint32_t fsched_graph_ops(const fsched_graph *g) { return g->n_ops; }
uint32_t fsched_graph_memories(const fsched_graph *g) { return g->target.n_memories; }
uint32_t fsched_graph_edges(const fsched_graph *g) { return g->n_edges; }
uint32_t fsched_graph_files(const fsched_graph *g) { return g->n_files; }

const char *fsched_graph_file(const fsched_graph *g, uint32_t index) {
  return index < g->n_files ? g->file[index] : NULL;
}

bool fs_version_given(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  unsigned io = g->buffer_io[g->version_buffer[version]];
  return fs_version_index(g, version) == 0 && fs_io_given(io);
}

bool fs_version_kept(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  uint32_t buffer = g->version_buffer[version];
  unsigned io = g->buffer_io[buffer];
  return version + 1 == g->buffer_version0[buffer + 1] && fs_io_kept(io);
}

bool fs_version_stays(const fsched_graph *g, uint32_t version) {
  return !fs_version_spills(g, version) && fs_version_kept(g, version);
}

fs_view_runs fs_arg_pieces(const fsched_graph *g, uint32_t arg) {
  assert(arg < g->n_args && g->arg_buffer[arg] != FS_NONE);
  const fs_view *v = fs_arg_view(g, arg);
  if (v == NULL) {
    return fs_view_range(g->arg_offset[arg], fs_max(g->arg_length[arg], 1));
  }
  fs_view placed = *v;
  placed.offset = g->arg_offset[arg];
  return fs_view_pieces_of(&placed);
}

bool fs_arg_coarse(const fsched_graph *g, uint32_t arg) {
  assert(arg < g->n_args);
  const fs_view *v = fs_arg_view(g, arg);
  if (v == NULL) {
    return false;
  }
  fs_view_runs runs = fs_view_runs_of(v);
  return !fs_view_fine(&runs);
}

fs_pos fs_op_pos(const fsched_context *ctx, const fsched_graph *g, uint32_t op) {
  assert(op < g->n_ops);
  return g->op_at == NULL || g->ctx != ctx ? FS_NOWHERE : g->op_at[op];
}

static fs_status no_barriers(fsched_context *ctx, const fsched_graph *g) {
  return fs_fail(ctx, g->sync_override ? FSCHED_USAGE : FSCHED_BAD_INPUT, FS_DIAG_MISSING_KEY,
                 fs_graph_pos(ctx, g, g->sync_at),
                 "give the target 'barriers: {count: N}', or use --barriers N or --barriers auto",
                 "'sync: barrier' needs a number of barriers");
}

/* The fault is in the option; the position shows the property that it contradicts. */
static fs_status check_no_block(fsched_context *ctx, const fsched_graph *g) {
  const fs_target *t = &g->target;
  for (uint32_t q = 0; q < t->n_queues; q++) {
    if (t->queue[q].counting) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_SYNC_KIND, fs_graph_pos(ctx, g, g->counting_at[q]),
                     "leave --barriers out, or use 'counting: false'",
                     "queue '%s' is counting, which takes 'sync: block', not barriers",
                     t->queue[q].name);
    }
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (t->memory[m].stack) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_SYNC_KIND, fs_graph_pos(ctx, g, g->placement_at[m]),
                     "leave --barriers out, or use 'placement: contiguous'",
                     "memory '%s' is a stack, which takes 'sync: block', not barriers",
                     t->memory[m].name);
    }
  }
  return FSCHED_OK;
}

fs_status fs_graph_barriers(fsched_context *ctx, const fsched_graph *g, uint32_t option,
                            uint32_t *bound) {
  const fs_target *t = &g->target;
  *bound = option != 0 ? option : fs_sync_has_barriers(t->sync) ? t->barrier_count : 0;
  if (option != 0) {
    return check_no_block(ctx, g);
  }
  return fs_sync_has_barriers(t->sync) && *bound == 0 ? no_barriers(ctx, g) : FSCHED_OK;
}

fs_tick fs_domain_launch(const fs_target *t, uint32_t domain) {
  assert(domain < t->n_domains);
  if (t->implicit_queues) {
    return t->launch;
  }
  uint32_t class_id = domain;
  if (domain >= t->n_classes) { /* of one queue */
    class_id = t->queue[t->domain_queue[t->domain_queue0[domain]]].class_id;
  }
  return t->class_launch[class_id];
}

fs_status fs_graph_members(const fsched_graph *g, fs_arena *arena, uint32_t **member0) {
  FS_TRY(fs_new(arena, member0, (size_t)g->n_ops + 1));
  (*member0)[0] = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t gang = g->op_gang[op], n = gang == FS_NONE ? 0 : g->gang_members[gang];
    (*member0)[op + 1] = (*member0)[op] + n;
  }
  return FSCHED_OK;
}

fs_tick fs_gang_launch(const fsched_graph *g, uint32_t gang) {
  assert(gang < g->n_gangs);
  fs_tick most = 0;
  for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
    most = fs_max(most, g->target.class_launch[g->target.queue[g->gang_queue[i]].class_id]);
  }
  return most;
}

/* The product of a size, up to 2^48, and `per` has 58 bits. */
static fs_tick copy_time(uint64_t fixed, uint64_t rate, uint64_t per, uint64_t size) {
  return fixed + (rate == 0 ? 0 : fs_ceil_div(size * per, rate));
}

fs_tick fs_spill_write_time(const fs_memory *m, uint64_t size) {
  return copy_time(m->write_fixed, m->write_rate, m->write_per, size);
}

fs_tick fs_spill_read_time(const fs_memory *m, uint64_t size) {
  return copy_time(m->read_fixed, m->read_rate, m->read_per, size);
}

fs_status fs_graph_become_measured(fsched_graph *g, const fs_tick *op_time,
                                   const fs_tick *op_latency, const fs_memory *memory,
                                   const char *file) {
  fs_tick *times, *latencies = NULL;
  fs_memory *memories;
  const char **files;
  uint32_t n_files = g->n_files + (file != NULL);
  FS_TRY(fs_new(&g->arena, &times, g->n_ops));
  FS_TRY(fs_new(&g->arena, &memories, g->target.n_memories));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    times[i] = op_time[i];
  }
  if (op_latency != NULL) {
    FS_TRY(fs_new(&g->arena, &latencies, g->n_ops));
    memcpy(latencies, op_latency, g->n_ops * sizeof *latencies);
  }
  for (uint32_t i = 0; i < g->target.n_memories; i++) {
    memories[i] = memory[i];
  }
  FS_TRY(fs_new(&g->arena, &files, n_files));
  for (uint32_t i = 0; i < g->n_files; i++) {
    files[i] = g->file[i];
  }
  if (file != NULL &&
      (files[g->n_files] = fs_arena_strndup(&g->arena, file, strlen(file))) == NULL) {
    return FSCHED_SYSTEM;
  }
  g->file = files;
  g->n_files = n_files;
  g->op_time = times;
  g->unrolled = NULL;
  g->op_latency = latencies;
  g->target.memory = memories;
  return FSCHED_OK;
}

uint32_t fs_graph_first_slow(const fsched_graph *g) {
  for (uint32_t op = 0; g->op_latency != NULL && op < g->n_ops; op++) {
    if (fs_op_slow(g, op)) {
      return op;
    }
  }
  return FS_NONE;
}

fs_tick fs_graph_wait(const fsched_graph *g) {
  assert(g->topo != NULL || g->n_ops == 0);
  bool open = false;
  for (uint32_t op = 0; op < g->n_ops && !open; op++) {
    open = g->op_start == NULL || g->op_start[op] == FS_TICK_NONE;
  }
  return open && !fs_sync_has_stops(g->target.sync) ? g->target.wait : 0;
}

uint32_t fs_op_rolled(const fsched_graph *g, uint32_t op) {
  assert(op < g->n_ops);
  uint32_t low = 0, high = g->n_rolled; /* those in other loops come last */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const fs_rolled *x = &g->rolled[middle];
    if (x->within == FS_NONE && x->op < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = low < g->n_rolled && g->rolled[low].within == FS_NONE && g->rolled[low].op == op;
  return found ? low : FS_NONE;
}

const fs_rolled_part *fs_op_parts(const fsched_graph *g, uint32_t op) {
  FS_ASSERT_SLOW(op < g->n_ops);
  uint32_t loop = g->n_rolled == 0 ? FS_NONE : fs_op_rolled(g, op);
  const fs_rolled *x = loop == FS_NONE ? NULL : &g->rolled[loop];
  bool planned = x != NULL && x->part != NULL && x->report->span == g->op_time[op];
  return planned ? x->part : NULL; /* of a time that was measured nothing is known */
}

uint64_t fs_version_slots(const fsched_graph *g, uint32_t version) {
  assert(version < g->n_versions);
  uint64_t slots = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t r = 0; r < x->loop.n_rings; r++) {
      if (x->slots[r].buffer == g->version_buffer[version]) {
        slots = fs_multiply_most(fs_max(slots, 1), x->loop.ring[r].depth);
      }
    }
  }
  return slots;
}
