/* SPDX-License-Identifier: Apache-2.0 */
/* Races of unrolled graphs, told once for all iterations: of each two ops as they were described,
 * or one with itself, and each buffer, the pair of instances that are the fewest iterations apart.
 *
 * Iterations are those of the loops around both ops, counted through all runs of the inner ones, as
 * often as these run at most: in loops of 3 and 4 iterations, the instances [0][3] and [1][0] are 1
 * apart.  If pairs are equally far apart, the one counts whose distance in the outermost loop is
 * the least, and so on; then the one whose earlier op was described first. */
#ifndef FS_FOLDED_H
#define FS_FOLDED_H

#include "front/builder/private.h"

typedef struct fs_folded_race {
  const char *name_a, *name_b, *buffer_name; /* as they were described */
  uint32_t a, b, buffer;                     /* the same; a: the op of the earlier instance */
  uint32_t n_loops;                          /* around both */
  int64_t distance[FSCHED_MAX_LOOPS];        /* in each of these, the outermost first */
  uint64_t iterations;                       /* UINT64_MAX: that many, or more */
  uint32_t arg;                              /* of the later op: which of its args */
  fs_pos at;                                 /* of that */
} fs_folded_race;

typedef struct fs_race_folder {
  fsched_context *ctx;
  fs_arena arena;
  const fsched_builder *b; /* of the graph at hand */
  const fsched_graph *g;
  const uint64_t *trip; /* per loop: what iterations are counted by */
  /* Per loop: so many iterations are in the graph, and so many are not, which would be in the
   * middle; NULL: none are missing. */
  const uint64_t *left, *removed;
  fs_names keys, names;
  FS_VEC(fs_folded_race) race;
  bool sorted;
  bool unknown; /* races of loops were not found */
} fs_race_folder;

void fs_folder_init(fs_race_folder *f, fsched_context *ctx);
void fs_folder_free(fs_race_folder *f);
/* Adds the race of two instances of the graph at hand, of which `after` is the later one in program
 * order.  Requires an unrolled graph, and its builder.  Complexity: O(loops around them).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_folder_add(fs_race_folder *f, uint32_t before, uint32_t after,
                        uint32_t version) FS_MUST_USE;
/* Sorts the races by buffers, then the ops that were described later, then the others. */
void fs_folder_sort(fs_race_folder *f);
/* Warns of the races; as many as are shown.  Requires that they are sorted. */
void fs_folder_warn(const fs_race_folder *f);
/* Appends what a race is to a text, as far as warnings of all races are alike. */
void fs_builder_race_text(fs_text *t, const char *buffer);
/* The arg of an op that touches a version, one that writes if there is any; FS_NONE: there is none.
 * Requires an op of the graph. */
uint32_t fs_builder_arg_of_version(const fsched_graph *g, uint32_t op, uint32_t version);

#endif
