/* SPDX-License-Identifier: Apache-2.0 */
#include "block/sorts.h"

#include "base/radix.h"

/* The longest path to each item, in ticks or in items, and the longest of all. */
static uint64_t find_heads(const fs_block_problem *p, bool steps, uint64_t *key) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t item = p->order[i];
    key[item] = 0;
    for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
      uint32_t from = p->pred[e].from;
      key[item] = fs_max(key[item], key[from] + (steps ? 1 : p->time[from]));
    }
    most = fs_max(most, key[item]);
  }
  return most;
}

/* How much shorter the longest path from each item, itself included, is than the longest of all. */
static uint64_t find_tails(const fs_block_problem *p, bool steps, uint64_t *key) {
  uint64_t most = 0;
  for (uint32_t i = p->n; i-- > 0;) {
    uint32_t item = p->order[i];
    key[item] = 0;
    for (uint32_t e = p->succ0[item]; e < p->succ0[item + 1]; e++) {
      key[item] = fs_max(key[item], key[p->succ[e].from]);
    }
    key[item] += steps ? 1 : p->time[item];
    most = fs_max(most, key[item]);
  }
  for (uint32_t i = 0; i < p->n; i++) {
    key[i] = most - key[i];
  }
  return most;
}

static uint64_t find_keys(const fs_block_problem *p, fs_block_sort sort, uint64_t *key) {
  switch (sort) {
    case FS_SORT_HEAD:
    case FS_SORT_EARLY_STEP:
      return find_heads(p, sort == FS_SORT_EARLY_STEP, key);
    case FS_SORT_TAIL:
    case FS_SORT_LATE_STEP:
      return find_tails(p, sort == FS_SORT_LATE_STEP, key);
    case FS_SORT_PLANNED:
    case FS_BLOCK_SORTS:
      break;
  }
  return 0;
}

/* Keys can have more bits than fit beside an item's place: they are ranked 32 bits at a time, the
 * low ones first, as the sort keeps the order of equal keys. */
static fs_status sort_by_key(fs_arena *scratch, const fs_block_problem *p, const uint64_t *key,
                             uint64_t most, uint32_t *order) {
  uint64_t *pack;
  FS_TRY(fs_new(scratch, &pack, 2 * (size_t)p->n));
  for (uint32_t shift = 0; shift < 64 && (shift == 0 || most >> shift != 0); shift += 32) {
    uint32_t *before;
    FS_TRY(fs_new(scratch, &before, p->n));
    for (uint32_t i = 0; i < p->n; i++) {
      before[i] = order[i];
      pack[i] = (key[order[i]] >> shift & UINT32_MAX) << 32 | i;
    }
    fs_radix_sort(pack, pack + p->n, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
      order[i] = before[(uint32_t)pack[i]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_block_sort_items(fsched_context *ctx, const fs_block_problem *p, fs_block_sort sort,
                              uint32_t *order) {
  assert(sort < FS_BLOCK_SORTS && (order != NULL || p->n == 0));
  FS_SCRATCH(scratch, ctx);
  uint64_t *key;
  if (p->n > 0) {
    memcpy(order, p->order, p->n * sizeof *order);
  }
  if (sort == FS_SORT_PLANNED) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&scratch, &key, p->n));
  uint64_t most = find_keys(p, sort, key);
  return sort_by_key(&scratch, p, key, most, order);
}

fs_status fs_block_count_steps(fsched_context *ctx, const fs_block_problem *p, bool late,
                               uint32_t *step, uint32_t *n) {
  assert(step != NULL || p->n == 0);
  FS_SCRATCH(scratch, ctx);
  uint64_t *key;
  FS_TRY(fs_new(&scratch, &key, p->n));
  (void)(late ? find_tails(p, true, key) : find_heads(p, true, key));
  *n = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    step[i] = (uint32_t)key[i];
    *n = step[i] >= *n ? step[i] + 1 : *n;
  }
  return FSCHED_OK;
}
