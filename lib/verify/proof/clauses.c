/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses by number.  When more than half of the literals are of deleted ones, the others move
 * together, so that the memory is that of the largest number of clauses at one time. */
#include "verify/proof/proof.h"

enum { LEAST_WASTE = 1024 };

fs_status fs_vclauses_add(fsched_context *ctx, fs_vclauses *c, const fs_vliteral *literal,
                          size_t n) {
  if (c->begin.n == FS_NONE - 1) {
    return fs_no_memory(ctx, SIZE_MAX);
  }
  size_t at = c->literal.n;
  fs_vliteral entry = {(int64_t)n, (uint32_t)c->begin.n, FS_VFORM_FROM, false};
  FS_TRY(fs_vec_ensure(ctx, &c->literal, at + n + 1));
  FS_TRY(fs_vec_push(ctx, &c->begin, at));
  c->literal.at[at] = entry;
  for (size_t k = 0; k < n; k++) {
    c->literal.at[at + 1 + k] = literal[k];
  }
  c->literal.n = at + n + 1;
  return FSCHED_OK;
}

const fs_vliteral *fs_vclauses_get(const fs_vclauses *c, uint64_t number, size_t *n) {
  assert(fs_vclauses_has(c, number));
  const fs_vliteral *entry = &c->literal.at[c->begin.at[number - 1]];
  *n = (size_t)entry->bound;
  return entry + 1;
}

static void move_together(fs_vclauses *c) {
  size_t to = 0;
  for (size_t at = 0, n; at < c->literal.n; at += n) {
    const fs_vliteral *entry = &c->literal.at[at];
    n = (size_t)entry->bound + 1;
    if (c->begin.at[entry->id] == at) {
      c->begin.at[entry->id] = to;
      memmove(&c->literal.at[to], entry, n * sizeof *entry);
      to += n;
    }
  }
  assert(c->literal.n - to == c->waste);
  c->literal.n = to;
  c->waste = 0;
}

void fs_vclauses_delete(fs_vclauses *c, uint64_t number) {
  assert(fs_vclauses_has(c, number));
  size_t *begin = &c->begin.at[number - 1];
  c->waste += (size_t)c->literal.at[*begin].bound + 1;
  *begin = SIZE_MAX;
  if (c->waste > LEAST_WASTE && c->waste > c->literal.n / 2) {
    move_together(c);
  }
}

void fs_vclauses_clear(fs_vclauses *c) {
  c->literal.n = 0;
  c->begin.n = 0;
  c->waste = 0;
}

void fs_vclauses_free(fsched_context *ctx, fs_vclauses *c) {
  fs_vec_free(ctx, &c->literal);
  fs_vec_free(ctx, &c->begin);
}
