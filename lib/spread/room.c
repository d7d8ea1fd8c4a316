/* SPDX-License-Identifier: Apache-2.0 */
#include "spread/room.h"

fs_status fs_spread_room_init(fs_spread_room *r, fsched_context *ctx, uint64_t capacity) {
  *r = (fs_spread_room){.ctx = ctx};
  fs_spread_piece all = {0, capacity, FS_NONE};
  return capacity == 0 ? FSCHED_OK : fs_vec_push(ctx, &r->piece, all);
}

void fs_spread_room_release(fs_spread_room *r) { fs_vec_free(r->ctx, &r->piece); }

size_t fs_spread_room_find(const fs_spread_room *r, uint64_t address) {
  size_t low = 0, high = r->piece.n;
  assert(r->piece.n > 0 && address < r->piece.at[r->piece.n - 1].high);
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (r->piece.at[middle].low <= address) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The pieces [from, to) become the three or fewer of `with`. */
static void replace_pieces(fs_spread_room *r, size_t from, size_t to, const fs_spread_piece *with,
                           size_t n) {
  size_t behind = r->piece.n - to;
  if (behind > 0) {
    memmove(&r->piece.at[from + n], &r->piece.at[to], behind * sizeof *with);
  }
  memcpy(&r->piece.at[from], with, n * sizeof *with);
  r->piece.n = from + n + behind;
}

fs_status fs_spread_room_take(fs_spread_room *r, uint64_t low, uint64_t high, uint32_t owner) {
  assert(low < high);
  size_t from = fs_spread_room_find(r, low), to = from + 1, n = 0;
  while (r->piece.at[to - 1].high < high) {
    to++;
    assert(to <= r->piece.n);
  }
  fs_spread_piece with[3], left = r->piece.at[from], right = r->piece.at[to - 1];
  FS_TRY(fs_vec_ensure(r->ctx, &r->piece, r->piece.n + 2));
  if (left.low < low) {
    with[n++] = (fs_spread_piece){left.low, low, left.owner};
  }
  with[n++] = (fs_spread_piece){low, high, owner};
  if (high < right.high) {
    with[n++] = (fs_spread_piece){high, right.high, right.owner};
  }
  replace_pieces(r, from, to, with, n);
  return FSCHED_OK;
}
