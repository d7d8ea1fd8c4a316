/* SPDX-License-Identifier: Apache-2.0 */
/* Checks residencies as rectangles: size and alignment, sums of counted memories, disjointness of
 * contiguous ones (a sweep over time with the live rectangles in a map by address), and at most one
 * residency of a version in a memory at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "verify/schedule/schedule.h"

static bool bounded(const fs_memory *m) { return m->capacity != FS_UNBOUNDED; }
static uint64_t aligned(uint64_t size, uint64_t align) {
  return (size + align - 1) / align * align;
}

/* --- each residency alone --- */

static bool place_ok(const fs_vsched *v, uint32_t r) {
  const fs_schedule *s = v->s;
  const fs_memory *m = &v->g->target.memory[s->res_memory[r]];
  uint32_t version = s->res_version[r];
  if (!bounded(m) || s->res_size[r] > m->capacity || s->res_address[r] > m->capacity ||
      s->res_address[r] + s->res_size[r] > m->capacity || s->res_address[r] % m->align != 0 ||
      (!fs_placement_has_addresses(m->placement) && s->res_address[r] != 0)) {
    return false;
  }
  if (version == FS_NONE) {
    return true; /* the size of scratch is checked with its op */
  }
  uint32_t buffer = v->g->version_buffer[version], home = v->g->buffer_memory[buffer];
  return (s->res_memory[r] == home || s->res_memory[r] == v->g->target.memory[home].backing) &&
         s->res_size[r] == aligned(v->g->buffer_size[buffer], m->align);
}

static void check_places(fs_vsched *v) {
  char name[FS_SNAME];
  for (uint32_t r = 0; r < v->s->n_residencies; r++) {
    if (!place_ok(v, r)) {
      FS_REFUTE(v, FS_DIAG_VERIFY_ADDRESS, "%s: %llu bytes at %llu cannot be its place",
                fs_vsched_residency(v, r, name), (unsigned long long)v->s->res_size[r],
                (unsigned long long)v->s->res_address[r]);
    }
  }
}

/* Checks that every scratch in a bounded memory has one residency, as long as its op. */
static fs_status check_scratch(fs_vsched *v) {
  const fsched_graph *g = v->g;
  const fs_schedule *s = v->s;
  char name[FS_SNAME];
  uint32_t *found;
  FS_TRY(fs_new_zero(&v->arena, &found, g->op_scratch0[g->n_ops]));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_version[r] != FS_NONE) {
      continue;
    }
    uint32_t op = s->res_op[r], i = g->op_scratch0[op], end = g->op_scratch0[op + 1];
    while (i < end && g->scratch_memory[i] != s->res_memory[r]) {
      i++;
    }
    const fs_memory *m = &g->target.memory[s->res_memory[r]];
    if (i == end || found[i]++ > 0 || s->res_begin[r] != s->start[op] ||
        s->res_end[r] != s->end[op] || s->res_size[r] != aligned(g->scratch_size[i], m->align) ||
        (s->scratch_residency != NULL && s->scratch_residency[i] != FS_NONE &&
         s->scratch_residency[i] != r)) {
      FS_REFUTE(v, FS_DIAG_VERIFY_RESIDENCY, "%s is not its op's", fs_vsched_residency(v, r, name));
    }
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      if (found[i] == 0 && g->scratch_size[i] > 0 &&
          bounded(&g->target.memory[g->scratch_memory[i]])) {
        FS_REFUTE(v, FS_DIAG_VERIFY_ACCESS, "%s has no residency for its scratch in %s",
                  fs_vsched_item(v, op, name), g->target.memory[g->scratch_memory[i]].name);
      }
    }
  }
  return FSCHED_OK;
}

/* --- one version, one residency --- */

typedef struct place_key {
  uint32_t memory, version;
  fs_tick begin, end;
  uint32_t id;
} place_key;

static int compare_keys(const void *a, const void *b) {
  const place_key *x = a, *y = b;
  if (x->memory != y->memory) {
    return x->memory < y->memory ? -1 : 1;
  }
  if (x->version != y->version) {
    return x->version < y->version ? -1 : 1;
  }
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  if (x->end != y->end) {
    return x->end < y->end ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static fs_status index_places(fs_vsched *v) {
  const fs_schedule *s = v->s;
  place_key *key;
  uint32_t n = 0;
  FS_TRY(fs_new(&v->arena, &key, s->n_residencies));
  FS_TRY(fs_new(&v->arena, &v->by_place, s->n_residencies));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_version[r] != FS_NONE) {
      key[n++] =
          (place_key){s->res_memory[r], s->res_version[r], s->res_begin[r], s->res_end[r], r};
    }
  }
  if (n > 1) {
    qsort(key, n, sizeof *key, compare_keys);
  }
  for (uint32_t i = 0; i < n; i++) {
    v->by_place[i] = key[i].id;
    if (i > 0 && key[i].memory == key[i - 1].memory && key[i].version == key[i - 1].version &&
        key[i].begin < key[i - 1].end) {
      char name[FS_SNAME], other[FS_SNAME];
      FS_REFUTE(v, FS_DIAG_VERIFY_TWICE, "%s is there beside %s",
                fs_vsched_residency(v, key[i].id, name),
                fs_vsched_residency(v, key[i - 1].id, other));
    }
  }
  v->n_by_place = n;
  return FSCHED_OK;
}

/* --- sums and rectangles --- */

/* Whether `out` may lie over `in`: as a declared in-place output at the same place, while its op
 * runs. */
static bool in_place(const fs_vsched *v, uint32_t in, uint32_t out) {
  const fsched_graph *g = v->g;
  const fs_schedule *s = v->s;
  if (s->res_version[in] == FS_NONE || s->res_version[out] == FS_NONE ||
      s->res_address[in] != s->res_address[out] || s->res_size[in] != s->res_size[out]) {
    return false;
  }
  uint32_t version = s->res_version[out];
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    uint32_t op = g->access_op[i];
    for (uint32_t k = g->op_inplace0[op]; k < g->op_inplace0[op + 1]; k++) {
      if (g->arg_version[g->inplace_out[k]] == version &&
          g->arg_version[g->inplace_in[k]] == s->res_version[in] &&
          s->res_begin[out] >= s->start[op] && s->res_end[in] <= s->end[op]) {
        return true;
      }
    }
  }
  return false;
}

static void report_overlap(fs_vsched *v, uint32_t a, uint32_t b) {
  char name[FS_SNAME], other[FS_SNAME];
  FS_REFUTE(v, FS_DIAG_VERIFY_OVERLAP, "%s at %llu overlaps %s at %llu",
            fs_vsched_residency(v, b, name), (unsigned long long)v->s->res_address[b],
            fs_vsched_residency(v, a, other), (unsigned long long)v->s->res_address[a]);
}

/* Compares r with the residencies that are in its address range now. */
static void meet_residency(fs_vsched *v, const fs_vmap *live, uint32_t r) {
  uint64_t lo = v->s->res_address[r], hi = lo + v->s->res_size[r];
  fs_vmap_cursor at = fs_vmap_find(live, lo);
  do {
    const fs_vmap_entry *e = fs_vmap_at(live, at);
    if (e->key >= hi) {
      return;
    }
    if (e->value != FS_NONE && !in_place(v, e->value, r)) {
      report_overlap(v, e->value, r);
      return;
    }
  } while (fs_vmap_next(live, &at));
}

static fs_status enter_residency(fs_vsched *v, fs_vmap *live, uint32_t r) {
  uint64_t lo = v->s->res_address[r], hi = lo + v->s->res_size[r];
  fs_vmap_cursor at;
  bool fresh;
  FS_TRY(fs_vmap_cut(&v->arena, live, hi, &at, &fresh));
  FS_TRY(fs_vmap_cut(&v->arena, live, lo, &at, &fresh));
  fs_vmap_clear_inside(live, lo, hi);
  fs_vmap_at(live, fs_vmap_find(live, lo))->value = r;
  return FSCHED_OK;
}

/* Removes r from the map, except where another residency has taken its place in the meantime. */
static void leave_residency(fs_vsched *v, fs_vmap *live, uint32_t r) {
  uint64_t hi = v->s->res_address[r] + v->s->res_size[r];
  fs_vmap_cursor at = fs_vmap_find(live, v->s->res_address[r]);
  do {
    fs_vmap_entry *e = fs_vmap_at(live, at);
    if (e->key >= hi) {
      return;
    }
    e->value = e->value == r ? FS_NONE : e->value;
  } while (fs_vmap_next(live, &at));
}

static fs_status sweep_contiguous(fs_vsched *v, fs_vmap *live, const fs_vevent *e) {
  if (v->s->res_size[e->id] == 0 || !place_ok(v, e->id)) {
    return FSCHED_OK;
  }
  if (e->phase == FS_PHASE_END) {
    leave_residency(v, live, e->id);
    return FSCHED_OK;
  }
  if (live->chunk != NULL) {
    meet_residency(v, live, e->id);
  }
  if (e->phase == FS_PHASE_BEGIN) {
    return enter_residency(v, live, e->id);
  }
  return FSCHED_OK;
}

static void sweep_counted(fs_vsched *v, uint64_t *used, const fs_vevent *e) {
  const fs_memory *m = &v->g->target.memory[v->s->res_memory[e->id]];
  uint64_t size = v->s->res_size[e->id];
  if (e->phase == FS_PHASE_END) {
    *used -= size;
    return;
  }
  if (size > m->capacity || *used > m->capacity - size) {
    char name[FS_SNAME];
    FS_REFUTE(v, FS_DIAG_VERIFY_CAPACITY, "%s: %llu bytes beside %llu are over the capacity %llu",
              fs_vsched_residency(v, e->id, name), (unsigned long long)size,
              (unsigned long long)*used, (unsigned long long)m->capacity);
  }
  *used += e->phase == FS_PHASE_BEGIN ? size : 0;
}

static fs_status sweep_all(fs_vsched *v) {
  const fs_schedule *s = v->s;
  fs_vevent *at;
  fs_vmap *live;
  uint64_t *used;
  size_t n = 0;
  FS_TRY(fs_new(&v->arena, &at, 2 * (size_t)s->n_residencies));
  FS_TRY(fs_new_zero(&v->arena, &live, v->g->target.n_memories));
  FS_TRY(fs_new_zero(&v->arena, &used, v->g->target.n_memories));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    n += fs_vevents_add(at + n, s->res_begin[r], s->res_end[r], r);
  }
  fs_vevents_sort(at, n);
  for (size_t i = 0; i < n; i++) {
    uint32_t memory = s->res_memory[at[i].id];
    const fs_memory *m = &v->g->target.memory[memory];
    if (!fs_placement_has_addresses(m->placement)) {
      sweep_counted(v, &used[memory], &at[i]);
    } else {
      FS_TRY(sweep_contiguous(v, &live[memory], &at[i]));
    }
  }
  return FSCHED_OK;
}

fs_status fs_vsched_memory(fs_vsched *v) {
  assert(v->position != NULL || v->s->n_items == 0);
  check_places(v);
  FS_TRY(check_scratch(v));
  FS_TRY(index_places(v));
  return sweep_all(v);
}
