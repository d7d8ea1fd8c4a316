/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cover.h"

#include "base/radix.h"

fs_status fs_cover_init(fs_cover *v, fs_arena *arena, uint64_t *border, uint32_t n) {
  assert(border != NULL || n == 0);
  fs_radix_sort_block(border, n);
  uint32_t borders = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (borders == 0 || border[borders - 1] != border[i]) {
      border[borders++] = border[i];
    }
  }
  v->border = border;
  v->n = borders < 2 ? 0 : borders - 1;
  FS_TRY(fs_new_zero(arena, &v->count, 4 * ((size_t)v->n + 1)));
  return fs_new_zero(arena, &v->bytes, 4 * ((size_t)v->n + 1));
}

static uint32_t piece_at(const fs_cover *v, uint64_t address) {
  uint32_t low = 0, high = v->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->border[middle] < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Increases or decreases by one the cover of pieces first .. end - 1, within a node of pieces low
 * .. high - 1. */
static void cover_pieces(fs_cover *v, uint32_t node, uint32_t low, uint32_t high, uint32_t first,
                         uint32_t end, bool more) {
  if (first <= low && high <= end) {
    assert(more || v->count[node] > 0);
    v->count[node] += more ? 1 : UINT32_MAX;
  } else {
    uint32_t middle = low + (high - low) / 2;
    if (first < middle) {
      cover_pieces(v, 2 * node, low, middle, first, end, more);
    }
    if (end > middle) {
      cover_pieces(v, 2 * node + 1, middle, high, first, end, more);
    }
  }
  if (v->count[node] > 0) {
    v->bytes[node] = v->border[high] - v->border[low];
  } else {
    v->bytes[node] = high - low == 1 ? 0 : v->bytes[2 * node] + v->bytes[2 * node + 1];
  }
}

void fs_cover_change(fs_cover *v, uint64_t address, uint64_t size, bool more) {
  assert(size > 0 && v->n > 0);
  uint32_t first = piece_at(v, address), end = piece_at(v, address + size);
  assert(v->border[first] == address && v->border[end] == address + size);
  cover_pieces(v, 1, 0, v->n, first, end, more);
}
