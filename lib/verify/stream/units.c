/* SPDX-License-Identifier: Apache-2.0 */
/* Units of counted memories that kept content has at the end.
 *
 * Content that commands touch has the units that their places show, since the intervals carry the
 * version.  Idle content, which is given and kept in one counted memory and which no command
 * touches, has units from the begin to the end as well, and no command shows which:
 *
 *     units    |--x--|--y--|...... g ......|--x--|       g: any that no command ever has
 *
 * As many units must therefore be left beside those that commands have at any time.  Units are
 * alike, and idle content never has to move, so no more than that is required.  Given content that
 * no command touches and that is not kept may have no place, and then has no units. */
#include "base/context.h"
#include "base/saturate.h"
#include "verify/stream/stream.h"

/* Counts, per version, the units of its counted memory that it holds. */
static fs_status held_units(fs_vs *v, uint64_t **out) {
  FS_TRY(fs_new_zero(&v->arena, out, v->s->n_versions));
  for (uint32_t m = 0; m < v->s->n_memories; m++) {
    const fs_vmap *map = &v->counted.at[m];
    if (map->chunk == NULL) {
      continue;
    }
    fs_vmap_cursor at = {0, 0};
    do {
      const fs_vmap_entry *e = fs_vmap_at(map, at);
      uint32_t version = e->value == FS_NONE ? FS_NONE : v->pool.cell.at[e->value].version;
      if (version != FS_NONE && v->s->versions[version].kept_memory == m) {
        (*out)[version] += fs_vmap_end(map, at) - e->key;
      }
    } while (fs_vmap_next(map, &at));
  }
  return FSCHED_OK;
}

/* Per version: whether commands show which units it has where it is kept. */
static fs_status find_shown(fs_vs *v, uint8_t **out) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_zero(&v->arena, out, s->n_versions));
  for (uint32_t i = 0; i < s->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    if (fs_space_has_units(p->space) && p->version != FS_NONE && p->size > 0 &&
        s->versions[p->version].kept_memory == p->index) {
      (*out)[p->version] = 1;
    }
  }
  return FSCHED_OK;
}

/* Whether the version is idle: given content that no command touches and that is kept, which has
 * its units from the begin to the end. */
static bool is_idle(const fs_vs *v, uint32_t version, const uint8_t *shown) {
  const fs_stream_version *x = &v->s->versions[version];
  return x->kept_memory != FS_NONE && fs_vs_counted(&v->s->memories[x->kept_memory]) &&
         x->given_memory == x->kept_memory && !shown[version];
}

/* The number of units that some command has. */
static uint64_t used_units(const fs_vs *v, uint32_t memory) {
  const fs_vmap *map = &v->counted.at[memory];
  uint64_t sum = 0;
  fs_vmap_cursor at = {0, 0};
  if (map->chunk == NULL) {
    return 0;
  }
  do {
    const fs_vmap_entry *e = fs_vmap_at(map, at);
    sum += e->value == FS_NONE ? 0 : fs_vmap_end(map, at) - e->key;
  } while (fs_vmap_next(map, &at));
  return sum;
}

/* Checks that enough units are left for idle content: any that no command ever has. */
static fs_status check_idle(fs_vs *v, const uint8_t *shown) {
  const fs_stream *s = v->s;
  uint64_t *idle;
  FS_TRY(fs_new_zero(&v->arena, &idle, s->n_memories));
  for (uint32_t i = 0; i < s->n_versions; i++) {
    const fs_stream_version *x = &s->versions[i];
    if (is_idle(v, i, shown)) {
      uint64_t size = fs_align_up(s->buffers[x->buffer].size, s->memories[x->kept_memory].align);
      idle[x->kept_memory] = fs_add_most(idle[x->kept_memory], size);
    }
  }
  for (uint32_t m = 0; m < s->n_memories; m++) {
    uint64_t used = idle[m] == 0 ? 0 : used_units(v, m), capacity = s->memories[m].capacity;
    if (idle[m] > 0 && (used > capacity || idle[m] > capacity - used)) {
      FS_WRONG(v, FS_DIAG_VERIFY_CAPACITY,
               "%s: commands have %llu units, beside %llu of kept content that nothing touches, "
               "and there are %llu",
               fs_vs_string(v, s->memories[m].name), (unsigned long long)used,
               (unsigned long long)idle[m], (unsigned long long)capacity);
    }
  }
  return FSCHED_OK;
}

fs_status fs_vs_units_end(fs_vs *v, bool **right) {
  const fs_stream *s = v->s;
  uint64_t *held;
  uint8_t *shown;
  FS_TRY(held_units(v, &held));
  FS_TRY(find_shown(v, &shown));
  FS_TRY(check_idle(v, shown));
  FS_TRY(fs_new(&v->arena, right, s->n_versions));
  for (uint32_t i = 0; i < s->n_versions; i++) {
    const fs_stream_version *x = &s->versions[i];
    const fs_stream_memory *m = x->kept_memory == FS_NONE ? NULL : &s->memories[x->kept_memory];
    (*right)[i] = m == NULL || !fs_vs_counted(m) || is_idle(v, i, shown) ||
                  held[i] == fs_align_up(s->buffers[x->buffer].size, m->align);
  }
  return FSCHED_OK;
}
