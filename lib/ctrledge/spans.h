/* SPDX-License-Identifier: Apache-2.0 */
/* A set of disjoint intervals of addresses, each with an owner: the last one that took it. */
#ifndef FS_SPANS_H
#define FS_SPANS_H

#include "base/context.h"
#include "base/mem.h"

enum { FS_SPAN_LEVELS = 12 };

/* A skip list in one block of words.  A span is the index of its record: low, high, owner with the
 * number of levels, then the next span per level, two to a word.  The head is at 0 and begins
 * before all.  Levels come from a fixed sequence, so that the same calls always make the same list.
 */
typedef struct fs_spans {
  fsched_context *ctx;
  FS_VEC(uint64_t) word;
  uint32_t free_span[FS_SPAN_LEVELS + 1]; /* per number of levels: a list through the first link */
  uint64_t random;
} fs_spans;

fs_status fs_spans_init(fsched_context *ctx, fs_spans *s) FS_MUST_USE;
void fs_spans_release(fs_spans *s);
/* Requires that fs_spans_init has succeeded. */
void fs_spans_clear(fs_spans *s);

typedef fs_status (*fs_span_fn)(void *user, uint32_t owner);
/* Takes [low, high) for `owner`: the parts of other owners' spans inside it are cut off; the parts
 * on either side stay theirs.  Calls `fn` for every span that loses something, ascending by
 * address; an owner with several spans is named several times.  Amortised O(log n) and O(1) per
 * span cut.  Requires low < high. */
fs_status fs_spans_take(fs_spans *s, uint64_t low, uint64_t high, uint32_t owner, fs_span_fn fn,
                        void *user) FS_MUST_USE;

#endif
