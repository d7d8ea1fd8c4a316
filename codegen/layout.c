/* SPDX-License-Identifier: Apache-2.0 */
/* One bump pointer per memory: no address is ever reused, so addresses imply no order between
 * commands. */
#include "codegen/layout.h"

/* Addresses stay far below the limit at which additions of 64 bits overflow. */
static const uint64_t extent_limit = (uint64_t)1 << 62;

/* Whether every version has bytes of its own in this memory. */
static bool roomy(const fs_memory *m) {
  return !fs_memory_bounded(m) || !fs_placement_has_addresses(m->placement);
}

static fs_status bump(fs_layout *l, uint32_t memory, uint64_t size, uint64_t *address) {
  const fs_memory *m = &l->s->graph->target.memory[memory];
  uint64_t at = fs_align_up(l->extent[memory], fs_max(m->align, FS_LAYOUT_ALIGN));
  if (at + size > extent_limit) {
    return fs_fail(l->s->ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_LIMIT, FS_NOWHERE, NULL,
                   "the buffers in memory '%s' take more than 2^62 bytes", m->name);
  }
  *address = at;
  l->extent[memory] = at + size;
  return FSCHED_OK;
}

static uint32_t spill_store(const fsched_graph *g, uint32_t version) {
  return fs_version_spills(g, version) ? fs_version_home(g, version)->backing : FS_NONE;
}

static void find_residencies(fs_layout *l) {
  const fs_schedule *s = l->s;
  const fsched_graph *g = s->graph;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t memory = s->res_memory[r], v = s->res_version[r];
    if (!roomy(&g->target.memory[memory])) {
      l->extent[memory] = fs_max(l->extent[memory], s->res_address[r] + s->res_size[r]);
    }
    if (v == FS_NONE) {
      continue;
    }
    bool own = memory == fs_version_memory(g, v);
    uint32_t *first = own ? l->first_res : l->first_store_res;
    uint32_t *last = own ? l->last_res : l->last_store_res;
    if (first[v] == FS_NONE || s->res_begin[r] < s->res_begin[first[v]]) {
      first[v] = r;
    }
    if (last[v] == FS_NONE || s->res_begin[r] >= s->res_begin[last[v]]) {
      last[v] = r;
    }
  }
}

static fs_status assign(fs_layout *l, const uint8_t *written) {
  const fsched_graph *g = l->s->graph;
  const fs_memory *memories = g->target.memory;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint32_t own = fs_version_memory(g, v), store = spill_store(g, v);
    if (roomy(&memories[own])) {
      FS_TRY(bump(l, own, fs_version_size(g, v), &l->home[v]));
    }
    if (store != FS_NONE && roomy(&memories[store]) && (written[v] || fs_version_given(g, v))) {
      FS_TRY(bump(l, store, fs_version_size(g, v), &l->store[v]));
    }
  }
  return FSCHED_OK;
}

fs_status fs_layout_make(fs_arena *arena, const fs_schedule *s, fs_layout *out) {
  assert(s->res_memory != NULL || s->n_residencies == 0);
  const fsched_graph *g = s->graph;
  uint32_t n = g->n_versions;
  uint8_t *written;
  out->s = s;
  FS_TRY(fs_new_none(arena, &out->home, n));
  FS_TRY(fs_new_none(arena, &out->store, n));
  FS_TRY(fs_new_none(arena, &out->first_res, n));
  FS_TRY(fs_new_none(arena, &out->last_res, n));
  FS_TRY(fs_new_none(arena, &out->first_store_res, n));
  FS_TRY(fs_new_none(arena, &out->last_store_res, n));
  FS_TRY(fs_new_zero(arena, &out->extent, g->target.n_memories));
  FS_TRY(fs_new_zero(arena, &written, n));
  for (uint32_t c = 0; c < s->n_copies; c++) {
    written[s->copy_version[c]] |= s->copy_kind[c] == FS_SPILL_WRITE;
  }
  find_residencies(out);
  return assign(out, written);
}

fs_spot fs_layout_home(const fs_layout *l, uint32_t version, uint32_t residency) {
  FS_ASSERT_SLOW(version < l->s->graph->n_versions &&
                 (residency == FS_NONE || residency < l->s->n_residencies));
  const fsched_graph *g = l->s->graph;
  uint32_t memory = fs_version_memory(g, version);
  if (roomy(&g->target.memory[memory])) {
    return (fs_spot){memory, l->home[version]};
  }
  assert(residency < l->s->n_residencies && l->s->res_memory[residency] == memory);
  return (fs_spot){memory, l->s->res_address[residency]};
}

fs_spot fs_layout_store(const fs_layout *l, uint32_t version, uint32_t residency) {
  FS_ASSERT_SLOW(version < l->s->graph->n_versions &&
                 (residency == FS_NONE || residency < l->s->n_residencies));
  const fsched_graph *g = l->s->graph;
  uint32_t memory = spill_store(g, version);
  assert(memory != FS_NONE);
  if (roomy(&g->target.memory[memory])) {
    assert(l->store[version] != UINT64_MAX);
    return (fs_spot){memory, l->store[version]};
  }
  assert(residency < l->s->n_residencies && l->s->res_memory[residency] == memory);
  return (fs_spot){memory, l->s->res_address[residency]};
}

/* The version's place in its store if it has a copy there, else in its own memory if it is ever
 * resident there. */
static fs_spot find_spot(const fs_layout *l, uint32_t version, uint32_t store_res, uint32_t res) {
  const fsched_graph *g = l->s->graph;
  if (spill_store(g, version) != FS_NONE &&
      (store_res != FS_NONE || l->store[version] != UINT64_MAX)) {
    return fs_layout_store(l, version, store_res);
  }
  if (roomy(fs_version_home(g, version)) || res != FS_NONE) {
    return fs_layout_home(l, version, res);
  }
  return (fs_spot){FS_NONE, 0};
}

fs_spot fs_layout_given(const fs_layout *l, uint32_t version) {
  assert(version < l->s->graph->n_versions);
  return fs_version_given(l->s->graph, version)
             ? find_spot(l, version, l->first_store_res[version], l->first_res[version])
             : (fs_spot){FS_NONE, 0};
}

fs_spot fs_layout_kept(const fs_layout *l, uint32_t version) {
  assert(version < l->s->graph->n_versions);
  return fs_version_kept(l->s->graph, version)
             ? find_spot(l, version, l->last_store_res[version], l->last_res[version])
             : (fs_spot){FS_NONE, 0};
}
