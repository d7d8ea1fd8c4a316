/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over an item both counts and writes its places, so that the two cannot differ. */
#include "codegen/places.h"

#include "base/group.h"

static bool contiguous(const fs_memory *m) {
  return fs_memory_bounded(m) && fs_placement_has_addresses(m->placement);
}

/* Groups lanes by owner: those of memories, or all others. */
static fs_status group_lanes(fs_arena *arena, const fs_sync *sync, bool memory, uint32_t n_owners,
                             uint32_t **index, uint32_t **lanes) {
  uint32_t *owner;
  FS_TRY(fs_new(arena, &owner, sync->n_lanes));
  for (uint32_t i = 0; i < sync->n_lanes; i++) {
    const fs_lane *l = &sync->lane[i];
    owner[i] = (l->kind == FS_LANE_MEMORY) == memory ? l->owner : FS_NONE;
  }
  return fs_group(arena, owner, sync->n_lanes, n_owners, index, lanes);
}

fs_status fs_places_make(fs_arena *arena, const fs_schedule *s, const fs_sync *sync,
                         const fs_layout *layout, fs_command_places *out) {
  assert(sync->lane != NULL || sync->n_lanes == 0);
  *out = (fs_command_places){.s = s, .sync = sync, .layout = layout};
  FS_TRY(group_lanes(arena, sync, true, s->n_residencies, &out->res_lane0, &out->res_lane));
  FS_TRY(group_lanes(arena, sync, false, s->n_items, &out->item_lane0, &out->item_lane));
  FS_TRY(fs_new_zero(arena, &out->res_seen, s->n_residencies));
  return fs_new(arena, &out->res_at, s->n_residencies);
}

/* Adds the intervals of a residency in a counted memory, once per list, with the union of the
 * modes. */
static uint32_t add_counted(fs_command_places *p, uint32_t residency, uint32_t scratch,
                            uint8_t mode, uint32_t n, fs_stream_place *out) {
  if (residency == FS_NONE) {
    return n;
  }
  uint32_t first = p->res_lane0[residency], end = p->res_lane0[residency + 1];
  if (p->res_seen[residency] == p->list) {
    for (uint32_t i = 0; out != NULL && i < end - first; i++) {
      out[p->res_at[residency] + i].mode |= mode;
    }
    return n;
  }
  p->res_seen[residency] = p->list;
  p->res_at[residency] = n;
  for (uint32_t i = first; i < end; i++, n++) {
    const fs_lane *lane = &p->sync->lane[p->res_lane[i]];
    if (out != NULL) {
      out[n] = (fs_stream_place){.address = lane->begin,
                                 .size = lane->end - lane->begin,
                                 .index = lane->index,
                                 .version = p->s->res_version[residency],
                                 .arg = scratch,
                                 .space = FS_SPACE_COUNTED,
                                 .mode = mode};
    }
  }
  return n;
}

static uint32_t add_args(fs_command_places *p, uint32_t op, uint32_t n, fs_stream_place *out) {
  const fsched_graph *g = p->s->graph;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (g->arg_buffer[a] == FS_NONE) {
      continue;
    }
    if (out != NULL) {
      fs_spot spot = {g->buffer_memory[g->arg_buffer[a]], 0};
      if (v != FS_NONE) {
        spot = fs_layout_home(p->layout, v, p->s->arg_residency[a]);
      }
      out[n] = (fs_stream_place){.address = spot.address + g->arg_offset[a],
                                 .size = g->arg_length[a],
                                 .index = spot.memory,
                                 .version = v,
                                 .arg = a,
                                 .space = FS_SPACE_MEMORY,
                                 .mode = fs_tag_mode(g->arg_tag[a])};
    }
    n++;
  }
  return n;
}

static uint32_t add_scratch(fs_command_places *p, uint32_t op, uint32_t n, fs_stream_place *out) {
  const fsched_graph *g = p->s->graph;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (!contiguous(&g->target.memory[g->scratch_memory[i]])) {
      continue;
    }
    if (out != NULL) {
      uint32_t r = p->s->scratch_residency[i]; /* FS_NONE where the size is 0 */
      out[n] = (fs_stream_place){.address = r == FS_NONE ? 0 : p->s->res_address[r],
                                 .size = g->scratch_size[i],
                                 .index = g->scratch_memory[i],
                                 .version = FS_NONE,
                                 .arg = i,
                                 .space = FS_SPACE_MEMORY,
                                 .mode = FS_MODE_W};
    }
    n++;
  }
  return n;
}

static uint32_t add_amounts(fs_command_places *p, uint32_t item, uint32_t n, fs_stream_place *out) {
  for (uint32_t i = p->item_lane0[item]; i < p->item_lane0[item + 1]; i++, n++) {
    const fs_lane *lane = &p->sync->lane[p->item_lane[i]];
    bool resource = lane->kind == FS_LANE_RESOURCE;
    if (out != NULL) {
      out[n] = (fs_stream_place){.address = lane->begin,
                                 .size = lane->end - lane->begin,
                                 .index = resource ? lane->index : 0,
                                 .version = FS_NONE,
                                 .arg = FS_NONE,
                                 .space = resource ? FS_SPACE_RESOURCE : FS_SPACE_CONCURRENCY,
                                 .mode = FS_MODE_W};
    }
  }
  return n;
}

static uint32_t places_of_op(fs_command_places *p, uint32_t op, fs_stream_place *out) {
  const fsched_graph *g = p->s->graph;
  uint32_t n = add_args(p, op, 0, out);
  n = add_scratch(p, op, n, out);
  if (p->sync->n_lanes != 0) {
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (g->arg_buffer[a] != FS_NONE) {
        n = add_counted(p, p->s->arg_residency[a], FS_NONE, fs_tag_mode(g->arg_tag[a]), n, out);
      }
    }
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      n = add_counted(p, p->s->scratch_residency[i], i, FS_MODE_W, n, out);
    }
  }
  return add_amounts(p, op, n, out);
}

static fs_stream_place copy_place(fs_spot spot, uint64_t size, uint32_t version, uint8_t mode) {
  return (fs_stream_place){.address = spot.address,
                           .size = size,
                           .index = spot.memory,
                           .version = version,
                           .arg = FS_NONE,
                           .space = FS_SPACE_MEMORY,
                           .mode = mode};
}

static uint32_t places_of_copy(fs_command_places *p, uint32_t item, fs_stream_place *out) {
  const fs_schedule *s = p->s;
  uint32_t c = item - s->graph->n_ops, v = s->copy_version[c];
  bool write = s->copy_kind[c] == FS_SPILL_WRITE;
  if (out != NULL) {
    uint64_t size = fs_version_size(s->graph, v);
    fs_spot home = fs_layout_home(p->layout, v, s->copy_residency[c]);
    fs_spot store = fs_layout_store(p->layout, v, s->copy_store[c]);
    out[0] = copy_place(write ? home : store, size, v, FS_MODE_R);
    out[1] = copy_place(write ? store : home, size, v, FS_MODE_W);
  }
  uint32_t n = add_counted(p, s->copy_residency[c], FS_NONE, write ? FS_MODE_R : FS_MODE_W, 2, out);
  n = add_counted(p, s->copy_store[c], FS_NONE, write ? FS_MODE_W : FS_MODE_R, n, out);
  return add_amounts(p, item, n, out);
}

uint32_t fs_places_of(fs_command_places *p, uint32_t item, fs_stream_place *out) {
  FS_ASSERT_SLOW(item < p->s->n_items);
  p->list++;
  return fs_item_is_copy(p->s, item) ? places_of_copy(p, item, out) : places_of_op(p, item, out);
}
