/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs with a known best schedule, as the schedule was made first: its time is cut into pieces,
 * and each piece becomes an op.  Where the pieces fill a strip, or the queues of a class, no
 * schedule can be shorter.
 *
 *   strips   a rectangle is cut from side to side, again and again: each piece is an op (time) with
 *            a scratch (address)
 *   jigsaw   rectangles, all but one at given starts: the least makespans are from a table that a
 *            search through all starts made (test_ilp_spill.c)
 *   alike    ops of one length, one more than fill the queues: it takes a round of its own
 *   queues   the time of every queue is cut; pieces get edges, buffers, resources and whatever else
 *            the known schedule respects: capacities are what it takes */
#ifndef FS_TEST_KNOWN_H
#define FS_TEST_KNOWN_H

#include "kit/gen.h"

typedef struct fs_known_params {
  uint64_t seed;
  bool strip;
  uint32_t n_ops;      /* the approximate number of ops */
  uint64_t tick, unit; /* all times, and all sizes, are multiples of these */
  uint32_t n_queues;
  bool fixed;    /* some starts are given */
  bool instants; /* some ops take no time */
  bool gangs;    /* some ops take all queues of their class */
  bool uses;     /* resources, and a limit of concurrency */
  bool buffers;  /* in a contiguous or a counted memory */
  bool store;    /* the memory spills, and content is given and kept */
  bool counted;
  /* fs_known_any does not draw these.  A strip with `store` has only the memory with the store. */
  bool all_fixed; /* all starts are given */
  bool roomy;     /* a strip's memory is twice as large */
  bool jigsaw;    /* a strip of rectangles that fit by amounts earlier than by addresses */
  /* All ops take `length` ticks, and one is left over for another round of the queues. */
  bool alike;
  uint64_t length;
} fs_known_params;

/* Draws parameters from a seed. */
fs_known_params fs_known_any(uint64_t seed, uint32_t most_ops);

enum { FS_KNOWN_OPS = 512, FS_KNOWN_QUEUES = 6 };

/* What is known of each op and each buffer. */
typedef struct fs_known_case {
  fs_known_params p;
  fsched_graph *g;
  uint32_t n_ops, n_buffers;
  uint64_t makespan;
  uint64_t start[FS_KNOWN_OPS], time[FS_KNOWN_OPS];
  uint32_t queue[FS_KNOWN_OPS];
  bool gang[FS_KNOWN_OPS];
  uint64_t scratch_size[FS_KNOWN_OPS], scratch_at[FS_KNOWN_OPS]; /* size 0: none */
  /* Of buffer b: its writer (FS_NONE: it is given), life, address, and copies (FS_TICK_NONE:
   * none). */
  uint32_t writer[FS_KNOWN_OPS];
  uint64_t size[FS_KNOWN_OPS], at[FS_KNOWN_OPS], begin[FS_KNOWN_OPS], end[FS_KNOWN_OPS];
  uint64_t read_at[FS_KNOWN_OPS], write_at[FS_KNOWN_OPS];
  uint64_t capacity;
  uint32_t open; /* of a jigsaw: the op without a start; its best one is not stored */
} fs_known_case;

/* Makes a case; k->g belongs to the caller. */
fs_status fs_known_make(fsched_context *ctx, const fs_known_params *p,
                        fs_known_case *k) FS_MUST_USE;

#endif
