/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong programs and schedules, made from right ones by one small change each. */
#ifndef FS_TEST_MUTATE_H
#define FS_TEST_MUTATE_H

#include "kit/gen.h"
#include "model/schedule.h"
#include "model/stream/stream.h"

/* X(id, "what it does") */
#define FS_PROGRAM_MUTATIONS(X)             \
  X(DROP_WAIT, "drop a wait")               \
  X(SWAP_COMMANDS, "swap two commands")     \
  X(SHIFT_ADDRESS, "shift an address")      \
  X(MOVE_CONTENT, "move a place by places") \
  X(WAIT_EPOCH, "change a wait's epoch")    \
  X(WAIT_AXIS, "change a wait's axis")      \
  X(ADD_WAIT, "add a wait")                 \
  X(SIGNAL, "change a signal")              \
  X(SCOPE, "change a scope")                \
  X(FRONTIER_EPOCH, "change a frontier")    \
  X(FRONTIER_DROP, "drop from a frontier")  \
  X(TAINT, "change a taint")                \
  X(LANE, "shift a lane")                   \
  X(LANE_SIZE, "resize a lane")             \
  X(COPY_VERSION, "retarget a copy")        \
  X(COPY_FLIP, "turn a copy round")         \
  X(DROP_COPY, "drop a copy")               \
  X(ARG_VERSION, "change a version")        \
  X(GIVEN, "move given content")            \
  X(KEPT, "move a kept version")            \
  X(TARGET, "run another op")               \
  X(GANG, "change a gang's epoch")          \
  X(MEMBER, "change a gang's member")       \
  X(EPOCH, "change an epoch")               \
  X(MODE, "change a place's mode")          \
  X(PLAN, "change a planned time")          \
  X(MAKESPAN, "change the makespan")        \
  X(GRAPH, "change what the graph says")    \
  X(RACE, "add a race")                     \
  X(OVERLAP, "lay one place over another")  \
  X(MEMBER_ARGS, "exchange members' args")  \
  X(MEMBER_TWICE, "give args to two")       \
  X(BARRIER_WAIT, "drop a barrier wait")    \
  X(BARRIER_UPDATE, "drop an update")       \
  X(BARRIER_OTHER, "wait for another one")  \
  X(PHYSICAL, "swap physical barriers")     \
  X(USE, "move a barrier's use")            \
  X(SLOTS, "change slots")                  \
  X(BOUND, "one barrier fewer")             \
  X(COUNTS, "change a barrier's counts")    \
  X(DROP_STOP, "drop a stop")               \
  X(KEEP, "change what a stop keeps")       \
  X(STOP_AT, "shift a stop")                \
  X(ISSUE, "swap in the order of issue")    \
  X(STRAY, "add sync of another kind")

typedef enum fs_program_mutation {
#define FS_MUTATION_ID(id, text) FS_MUTATE_##id,
  FS_PROGRAM_MUTATIONS(FS_MUTATION_ID)
#undef FS_MUTATION_ID
      FS_PROGRAM_MUTATION_COUNT
} fs_program_mutation;
const char *fs_program_mutation_name(fs_program_mutation m);

/* A copy of a program's view whose records may be written; it has no bytes. */
fsched_program *fs_mutant_copy(const fsched_program *p);
void fs_mutant_free(fsched_program *p);
/* Changes the copy in that way; false if there is nothing to change. */
bool fs_mutate_program(fsched_program *copy, fs_program_mutation m, fs_rng *rng);
/* Makes frontiers, signals and scopes right for the waits as they are, so that only the waits are
 * wrong.  For up to 64 commands. */
void fs_mutant_repair(fsched_program *copy);
/* Changes a field of a record in a program's bytes, and then makes the checksum right. */
void fs_mutate_bytes(unsigned char *bytes, size_t size, fs_rng *rng);

#define FS_SCHEDULE_MUTATIONS(X)             \
  X(S_SHIFT, "shift an item")                \
  X(S_END, "change an end")                  \
  X(S_QUEUE, "change a queue")               \
  X(S_ORDER, "swap in the order")            \
  X(S_ADDRESS, "shift an address")           \
  X(S_SIZE, "change a size")                 \
  X(S_BEGIN, "shift a begin")                \
  X(S_RES_END, "shift a residency's end")    \
  X(S_RES_VERSION, "change its version")     \
  X(S_RES_MEMORY, "change its memory")       \
  X(S_COPY_VERSION, "retarget a copy")       \
  X(S_COPY_KIND, "turn a copy round")        \
  X(S_DROP_COPY, "drop a copy")              \
  X(S_ARG, "change an argument's residency") \
  X(S_STATUS, "change status or makespan")   \
  X(S_MERGE, "join two residencies' places")

typedef enum fs_schedule_mutation {
#define FS_MUTATION_ID(id, text) FS_MUTATE_##id,
  FS_SCHEDULE_MUTATIONS(FS_MUTATION_ID)
#undef FS_MUTATION_ID
      FS_SCHEDULE_MUTATION_COUNT
} fs_schedule_mutation;
const char *fs_schedule_mutation_name(fs_schedule_mutation m);

/* Returns a copy as a new schedule (fs_schedule_destroy), or NULL when out of memory. */
fs_schedule *fs_schedule_copy(const fs_schedule *s);
bool fs_mutate_schedule(fs_schedule *copy, fs_schedule_mutation m, fs_rng *rng);

#endif
