/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes.  Additions and removals first find the intervals [low, high) that the new one
 * meets, and replace them by at most two: for a removal, the parts that stick out on either
 * side. */
#include "exec/host/byteset.h"

bool fs_byteset_cover(const fs_byteset *r, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  for (size_t i = 0; i < r->n; i++) {
    if (r->at[i].begin <= begin && end <= r->at[i].end) {
      return true;
    }
  }
  return begin == end;
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
  size_t low = 0, high;
  fs_byte_range whole = {begin, end};
  if (begin == end) {
    return FSCHED_OK;
  }
  while (low < r->n && r->at[low].end < begin) {
    low++;
  }
  for (high = low; high < r->n && r->at[high].begin <= end; high++) {
    whole.begin = fs_min(whole.begin, r->at[high].begin);
    whole.end = fs_max(whole.end, r->at[high].end);
  }
  return splice(ctx, r, low, high, &whole, 1);
}

fs_status fs_byteset_remove(fsched_context *ctx, fs_byteset *r, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  size_t low = 0, high, n = 0;
  fs_byte_range rest[2];
  if (begin == end) {
    return FSCHED_OK;
  }
  while (low < r->n && r->at[low].end <= begin) {
    low++;
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
