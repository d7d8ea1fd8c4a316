/* SPDX-License-Identifier: Apache-2.0 */
/* In-place outputs are marked as counted while the others are added up, and the marks are taken
 * back. */
#include "model/needs.h"

fs_status fs_needs_init(fs_needs *s, const fsched_graph *g, fs_arena *arena) {
  assert(g->op_inplace0 != NULL || g->n_ops == 0);
  *s = (fs_needs){.g = g};
  FS_TRY(fs_new_zero(arena, &s->need, g->target.n_memories));
  FS_TRY(fs_new(arena, &s->memory, g->target.n_memories));
  return fs_new_zero(arena, &s->counted, g->n_versions);
}

static void add_need(fs_needs *s, uint32_t memory, uint64_t size) {
  FS_ASSERT_SLOW(memory < s->g->target.n_memories);
  if (size == 0) {
    return;
  }
  if (s->need[memory] == 0) {
    FS_ASSERT_SLOW(s->n < s->g->target.n_memories);
    s->memory[s->n++] = memory;
  }
  uint64_t sum = s->need[memory] + fs_align_up(size, s->g->target.memory[memory].align);
  s->need[memory] = fs_min(sum, UINT64_MAX / 4);
}

static void mark_in_place(fs_needs *s, uint32_t op, uint64_t turn) {
  const fsched_graph *g = s->g;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t v = g->arg_version[g->inplace_out[i]];
    if (fs_placement_has_addresses(fs_version_home(g, v)->placement)) {
      s->counted[v] = turn;
    }
  }
}

static bool open_place(const fsched_graph *g, uint32_t arg) {
  return g->arg_open[arg] && fs_placement_has_addresses(
                                 g->target.memory[g->buffer_memory[g->arg_buffer[arg]]].placement);
}

void fs_needs_find(fs_needs *s, uint32_t op) {
  FS_ASSERT_SLOW(op < s->g->n_ops);
  const fsched_graph *g = s->g;
  while (s->n > 0) {
    s->need[s->memory[--s->n]] = 0;
  }
  s->turn++;
  mark_in_place(s, op, s->turn);
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    uint32_t v = g->arg_version[arg];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[arg]) && s->counted[v] != s->turn &&
        !open_place(g, arg)) {
      s->counted[v] = s->turn;
      add_need(s, fs_version_memory(g, v), fs_version_size(g, v));
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    add_need(s, g->scratch_memory[i], g->scratch_size[i]);
  }
  mark_in_place(s, op, 0);
}
