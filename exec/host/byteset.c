/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes.  Additions and removals first find the intervals [low, high) that the new one
 * meets, and replace them by at most two: for a removal, the parts that stick out on either
 * side. */
#include "exec/host/byteset.h"

/* The first interval that ends at or behind a byte; the number of intervals when there is none. */
static size_t first_end(const fs_byteset *r, uint64_t byte) {
  size_t low = 0, high = r->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->at[middle].end < byte) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool fs_byteset_cover(const fs_byteset *r, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  size_t i = first_end(r, end);
  return begin == end || (i < r->n && r->at[i].begin <= begin);
}

/* Replaces intervals [low, high) by n others. */
static fs_status splice(fsched_context *ctx, fs_byteset *r, size_t low, size_t high,
                        const fs_byte_range *with, size_t n) {
  size_t rest = r->n - high;
  FS_TRY(fs_vec_reserve(ctx, r, low + n + rest));
  if (rest > 0) {
    memmove(r->at + low + n, r->at + high, rest * sizeof *r->at);
  }
  for (size_t i = 0; i < n; i++) {
    r->at[low + i] = with[i];
  }
  r->n = low + n + rest;
  return FSCHED_OK;
}

fs_status fs_byteset_add(fsched_context *ctx, fs_byteset *r, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  size_t low = first_end(r, begin), high;
  fs_byte_range whole = {begin, end};
  if (begin == end) {
    return FSCHED_OK;
  }
  for (high = low; high < r->n && r->at[high].begin <= end; high++) {
    whole.begin = fs_min(whole.begin, r->at[high].begin);
    whole.end = fs_max(whole.end, r->at[high].end);
  }
  return splice(ctx, r, low, high, &whole, 1);
}

fs_status fs_byteset_remove(fsched_context *ctx, fs_byteset *r, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  size_t low = first_end(r, begin + 1), high, n = 0;
  fs_byte_range rest[2];
  if (begin == end) {
    return FSCHED_OK;
  }
  for (high = low; high < r->n && r->at[high].begin < end; high++) {
  }
  if (low == high) {
    return FSCHED_OK;
  }
  if (r->at[low].begin < begin) {
    rest[n++] = (fs_byte_range){r->at[low].begin, begin};
  }
  if (r->at[high - 1].end > end) {
    rest[n++] = (fs_byte_range){end, r->at[high - 1].end};
  }
  return splice(ctx, r, low, high, rest, n);
}
