/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of which a best schedule is known, because the schedule was there first: its time is cut
 * into pieces, and each piece becomes an op.  Where the pieces fill a strip, or the queues of a
 * class, nothing can be shorter.
 *
 *   strips   a rectangle is cut from side to side, again and again: each piece is an op (time) with
 *            a scratch (address)
 *   jigsaw   rectangles, all but one at given starts: the least makespans are from a table that a
 *            search through all starts made (test_ilp_spill.c)
 *   alike    ops of one length, one more than fill the queues: it takes a round of its own
 *   queues   the time of every queue is cut; pieces get edges, buffers, resources and whatever else
 *            the schedule that is known keeps to: capacities are what it takes */
#ifndef FS_TEST_KNOWN_H
#define FS_TEST_KNOWN_H

#include "kit/gen.h"

typedef struct fs_known_params {
  uint64_t seed;
  bool strip;
  uint32_t n_ops;      /* about so many */
  uint64_t tick, unit; /* all times, and all sizes, are multiples */
  uint32_t n_queues;
  bool fixed;    /* some starts are given */
  bool instants; /* some ops take no time */
  bool gangs;    /* some take all queues of their class */
  bool uses;     /* resources, and a limit of concurrency */
  bool buffers;  /* in a contiguous or a counted memory */
  bool store;    /* that spills, with content given and kept */
  bool counted;
  /* Not drawn by fs_known_any.  A strip with `store` has the memory with the store alone. */
  bool all_fixed; /* all starts are given */
  bool roomy;     /* a strip's memory is twice as large */
  bool jigsaw;    /* a strip of rectangles that fit by amounts earlier than by addresses */
  bool alike;     /* all ops take `length` ticks, and one is left for another round of the queues */
  uint64_t length;
} fs_known_params;

/* Parameters from a seed. */
fs_known_params fs_known_any(uint64_t seed, uint32_t most_ops);

enum { FS_KNOWN_OPS = 512, FS_KNOWN_QUEUES = 6 };

/* What is known, per op and per buffer. */
typedef struct fs_known_case {
  fs_known_params p;
  fsched_graph *g;
  uint32_t n_ops, n_buffers;
  uint64_t makespan;
  uint64_t start[FS_KNOWN_OPS], time[FS_KNOWN_OPS];
  uint32_t queue[FS_KNOWN_OPS];
  bool gang[FS_KNOWN_OPS];
  uint64_t scratch_size[FS_KNOWN_OPS], scratch_at[FS_KNOWN_OPS]; /* size 0: none */
  /* buffer b: its writer (FS_NONE: it is given), life, address, and copies (FS_TICK_NONE: none) */
  uint32_t writer[FS_KNOWN_OPS];
  uint64_t size[FS_KNOWN_OPS], at[FS_KNOWN_OPS], begin[FS_KNOWN_OPS], end[FS_KNOWN_OPS];
  uint64_t read_at[FS_KNOWN_OPS], write_at[FS_KNOWN_OPS];
  uint64_t capacity;
  uint32_t open; /* of a jigsaw: the op without a start, whose best one is not told */
} fs_known_case;

/* Makes it; k->g belongs to the caller. */
fs_status fs_known_make(fsched_context *ctx, const fs_known_params *p,
                        fs_known_case *k) FS_MUST_USE;

#endif
