/* SPDX-License-Identifier: Apache-2.0 */
/* Small changes to the loops of a stream. */
#ifndef FS_TEST_ROLLED_BREAKS_H
#define FS_TEST_ROLLED_BREAKS_H

#include "kit/mutate/mutate.h"

/* X(id, "what it does") */
#define FS_LOOP_BREAKS(X)                      \
  X(DROP_WAIT, "drop a wait")                  \
  X(DISTANCE, "change a wait's distance")      \
  X(TARGET, "change a wait's target")          \
  X(SHIFT, "change a shift")                   \
  X(COPY, "change a copy")                     \
  X(COMMANDS, "swap two commands")             \
  X(SIGNAL, "change a signal")                 \
  X(COPIES, "change the copies")               \
  X(TRIP, "change the trips")                  \
  X(DEPTH, "change a ring's depth")            \
  X(SLOT, "change the way between slots")      \
  X(RING_SIZE, "change a version's size")      \
  X(ENTRY, "change what is there on entry")    \
  X(WRITER, "change a ring's writer")          \
  X(RING_ARG, "move a ring to another arg")    \
  X(OFFSET, "change an arg's offset")          \
  X(LENGTH, "change an arg's length")          \
  X(STEP, "change an arg's step")              \
  X(BACK, "change how far back an arg is")     \
  X(TAG, "change an arg's tag")                \
  X(ARG_RING, "change an arg's ring")          \
  X(ADDRESS, "change a place's address")       \
  X(SIZE, "change a place's size")             \
  X(AFTER, "change an 'after'")                \
  X(LATENCY, "change a latency")               \
  X(OPS, "swap two ops")                       \
  X(OWN_TAG, "change a tag of the loop's")     \
  X(OWN_RANGE, "change a range of the loop's") \
  X(OWN_UNITS, "change the loop's units")      \
  X(DROP_STOP, "drop a sync")                  \
  X(STOP_PLACE, "move a sync")                 \
  X(STOP_QUEUE, "change what a sync counts")   \
  X(KEEP, "change what a sync keeps")          \
  X(ISSUE, "swap the places of two commands")

typedef enum fs_loop_break {
#define FS_BREAK_ID_(id, text) FS_BREAK_##id,
  FS_LOOP_BREAKS(FS_BREAK_ID_)
#undef FS_BREAK_ID_
      FS_BREAK_COUNT
} fs_loop_break;
const char *fs_break_name(fs_loop_break b);

/* Changes a copy (fs_mutant_copy) in that way; false if there is nothing to change.  Requires a
 * stream with a loop. */
bool fs_break_loop(fsched_program *copy, fs_loop_break b, fs_rng *rng);
/* Takes a wait out.  Requires a wait of the stream's loops. */
void fs_break_wait(fsched_program *copy, uint32_t wait);
/* Makes places and signals fit the args and waits, so that only these are wrong. */
void fs_break_repair(fsched_program *copy);

#endif
