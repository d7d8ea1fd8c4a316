/* SPDX-License-Identifier: Apache-2.0 */
/* What surely lies in a memory at one moment: rule m of fsched-proof(5). */
#ifndef FS_SEARCH_HELD_H
#define FS_SEARCH_HELD_H

#include "base/mem.h"
#include "model/graph.h"

/* Windows of the starts of ops, and their times, in units of the caller's. */
typedef struct fs_held_windows {
  const int64_t *earliest, *latest, *time;
} fs_held_windows;

typedef struct fs_held {
  uint64_t bytes; /* the most of any moment */
  fs_ids op;      /* whose windows show that, each once; released by the caller */
} fs_held;

/* Requires windows that are not empty, and a graph whose loops are unrolled.
 * O(args log args + versions) */
fs_status fs_held_most(fsched_context *ctx, const fsched_graph *g, uint32_t memory,
                       const fs_held_windows *w, fs_held *out) FS_MUST_USE;

#endif
