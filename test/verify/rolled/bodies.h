/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of one loop, as texts: rings with and without a value on entry, moving args,
 * orders, latencies, resources and scratch. */
#ifndef FS_TEST_ROLLED_BODIES_H
#define FS_TEST_ROLLED_BODIES_H

#include "base/mem.h"
#include "kit/gen.h"

typedef struct fs_body_kind {
  uint32_t trip; /* 0: a few, drawn */
  bool block;    /* syncs, which some queues count; no latencies */
  bool unlike;   /* args of a buffer may move unlike each other */
} fs_body_kind;

/* Writes the text of a graph, which some are not right for.  Requires an empty text. */
void fs_draw_bodies(uint64_t seed, fs_body_kind kind, fs_text *out);

#endif
