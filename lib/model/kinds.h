/* SPDX-License-Identifier: Apache-2.0 */
/* The enumerations by which stages decide.  Each is a table with a row per member: the word for it
 * in all texts, and a column for each property that depends on the member alone.
 *
 * A new member is a new row, and a row without all its columns does not compile.  Code that
 * treats members differently uses a switch without default, and the compiler names the switches
 * that lack a member.  Other code names a member only where it makes objects of that kind.
 *
 * Members of public enumerations are declared in include/fsched and have their rows here;
 * kinds.c does not compile while a member lacks its row. */
#ifndef FS_KINDS_H
#define FS_KINDS_H

#include "base/base.h"
#include "fsched/compile.h"
#include "fsched/graph.h"

#define FS_COUNT_ROW_(...) +1
/* A table of words and its length, as two arguments. */
#define FS_WORDS(table) (table), sizeof(table) / sizeof((table)[0])
/* The set of the members for which a column is true, and whether a member is in it. */
#define FS_IF_(yes, member) | (unsigned)(yes) << (member)
#define FS_IN_(member, set) (((0u set) >> ((member)&31u) & 1u) != 0)

/* How commands of different queues are ordered.  X(ID, "word", waits, barriers, stops):
 * waits     commands wait for epochs of axes, and signal with a scope;
 * barriers  commands update barriers and wait for them (lib/barrier);
 * stops     syncs stop all queues (lib/block): commands have one order of issue, queues may count,
 *           memories may be stacks.
 * Rows are in the order of fsched_sync. */
#define FS_SYNC_KINDS(X)                      \
  X(TIMELINE, "timeline", true, false, false) \
  X(BARRIER, "barrier", false, true, false)   \
  X(BLOCK, "block", false, false, true)
#define FS_SYNC_MEMBER_(id, ...) FS_SYNC_##id,
typedef enum fs_sync_kind { FS_SYNC_KINDS(FS_SYNC_MEMBER_) } fs_sync_kind;
enum { FS_N_SYNC_KINDS = 0 FS_SYNC_KINDS(FS_COUNT_ROW_) };
extern const char *const fs_words_sync[FS_N_SYNC_KINDS];
bool fs_sync_known(unsigned sync);

#define FS_SYNC_WAITS_(id, word, waits, barriers, stops) FS_IF_(waits, FS_SYNC_##id)
#define FS_SYNC_BARRIERS_(id, word, waits, barriers, stops) FS_IF_(barriers, FS_SYNC_##id)
#define FS_SYNC_STOPS_(id, word, waits, barriers, stops) FS_IF_(stops, FS_SYNC_##id)
static inline bool fs_sync_has_waits(unsigned kind) {
  return FS_IN_(kind, FS_SYNC_KINDS(FS_SYNC_WAITS_));
}
static inline bool fs_sync_has_barriers(unsigned kind) {
  return FS_IN_(kind, FS_SYNC_KINDS(FS_SYNC_BARRIERS_));
}
static inline bool fs_sync_has_stops(unsigned kind) {
  return FS_IN_(kind, FS_SYNC_KINDS(FS_SYNC_STOPS_));
}

/* The commands of a stream.  X(ID, "word", "what", op, version, gang, directed):
 * what      it is to people, before the name of its target;
 * op        its target is an op, its first places are those of the op's args, and it takes the
 *           op's planned time and its slots of barriers; or
 * version   its target is a version and its time is that of the bytes: it copies the version from
 *           its first place to its second;
 * gang      several queues may run it together;
 * directed  it has a direction, fs_copy_kind. */
#define FS_COMMAND_KINDS(X)                     \
  X(RUN, "run", "op", true, false, true, false) \
  X(COPY, "copy", "copy of", false, true, false, true)
#define FS_COMMAND_MEMBER_(id, ...) FS_COMMAND_##id,
typedef enum fs_command_kind { FS_COMMAND_KINDS(FS_COMMAND_MEMBER_) } fs_command_kind;
enum { FS_N_COMMAND_KINDS = 0 FS_COMMAND_KINDS(FS_COUNT_ROW_) };
extern const char *const fs_words_target[FS_N_COMMAND_KINDS]; /* "what" */

#define FS_COMMAND_OP_(id, word, what, op, version, gang, directed) FS_IF_(op, FS_COMMAND_##id)
#define FS_COMMAND_VERSION_(id, word, what, op, version, gang, directed) \
  FS_IF_(version, FS_COMMAND_##id)
#define FS_COMMAND_GANG_(id, word, what, op, version, gang, directed) FS_IF_(gang, FS_COMMAND_##id)
#define FS_COMMAND_DIRECTED_(id, word, what, op, version, gang, directed) \
  FS_IF_(directed, FS_COMMAND_##id)
static inline bool fs_kind_has_op(unsigned kind) {
  return FS_IN_(kind, FS_COMMAND_KINDS(FS_COMMAND_OP_));
}
static inline bool fs_kind_has_version(unsigned kind) {
  return FS_IN_(kind, FS_COMMAND_KINDS(FS_COMMAND_VERSION_));
}
static inline bool fs_kind_has_gang(unsigned kind) {
  return FS_IN_(kind, FS_COMMAND_KINDS(FS_COMMAND_GANG_));
}
static inline bool fs_kind_has_direction(unsigned kind) {
  return FS_IN_(kind, FS_COMMAND_KINDS(FS_COMMAND_DIRECTED_));
}

/* Entries of the list of commands in the JSON form: commands, and entries that belong to the
 * next or the last command.  X(ID, "word"). */
#define FS_SIDE_ENTRIES(X)        \
  X(BARRIER_WAIT, "barrier_wait") \
  X(BARRIER_UPDATE, "barrier_update")
#define FS_ENTRY_MEMBER_(id, ...) FS_ENTRY_##id,
typedef enum fs_entry_kind {
  FS_COMMAND_KINDS(FS_ENTRY_MEMBER_) FS_SIDE_ENTRIES(FS_ENTRY_MEMBER_)
} fs_entry_kind;
enum { FS_N_ENTRY_KINDS = FS_N_COMMAND_KINDS FS_SIDE_ENTRIES(FS_COUNT_ROW_) };
extern const char *const fs_words_entry[FS_N_ENTRY_KINDS]; /* those of commands first */

/* Spill copies.  X(ID, "word"). */
#define FS_COPY_KINDS(X) \
  X(WRITE, "write")      \
  X(READ, "read")
#define FS_SPILL_MEMBER_(id, ...) FS_SPILL_##id,
typedef enum fs_copy_kind { FS_COPY_KINDS(FS_SPILL_MEMBER_) } fs_copy_kind;
enum { FS_N_COPY_KINDS = 0 FS_COPY_KINDS(FS_COUNT_ROW_) };
extern const char *const fs_words_copy[FS_N_COPY_KINDS];
#define FS_SPILL_WORD_(id, word) "spill_" word,
extern const char *const fs_words_spill[FS_N_COPY_KINDS];

/* What keeps iterations of a loop from beginning more often.  X(ID, "word"):
 * roles  whole ops have to be divided among queues
 * order  none of the others alone
 * syncs  full ones, which stop everything
 * trips  so few that more slots of the ring, which would do, are of no use */
#define FS_LOOP_LIMITS(X)     \
  X(QUEUE, "queue")           \
  X(RESOURCE, "resource")     \
  X(RECURRENCE, "recurrence") \
  X(SLOTS, "slots")           \
  X(ROLES, "roles")           \
  X(ORDER, "order")           \
  X(MEMORY, "memory")         \
  X(SYNCS, "syncs")           \
  X(TRIPS, "trips")
#define FS_LOOP_LIMIT_MEMBER_(id, ...) FS_LOOP_BY_##id,
typedef enum fs_loop_limit { FS_LOOP_LIMITS(FS_LOOP_LIMIT_MEMBER_) } fs_loop_limit;
enum { FS_N_LOOP_LIMITS = 0 FS_LOOP_LIMITS(FS_COUNT_ROW_) };
extern const char *const fs_words_loop_limit[FS_N_LOOP_LIMITS];

/* What is known about the optimality of a schedule.  X(ID, "word"). */
#define FS_SCHEDULE_STATUSES(X) \
  X(OPTIMAL, "optimal")         \
  X(FEASIBLE, "feasible")       \
  X(INFEASIBLE, "infeasible")
#define FS_SCHEDULE_MEMBER_(id, ...) FS_SCHEDULE_##id,
typedef enum fs_schedule_status { FS_SCHEDULE_STATUSES(FS_SCHEDULE_MEMBER_) } fs_schedule_status;
enum { FS_N_SCHEDULE_STATUSES = 0 FS_SCHEDULE_STATUSES(FS_COUNT_ROW_) };
extern const char *const fs_words_schedule_status[FS_N_SCHEDULE_STATUSES];

/* The reason for a control edge.  X(ID, "word"). */
#define FS_WHYS(X)              \
  X(REUSE, "reuse")             \
  X(RESOURCE, "resource")       \
  X(CONCURRENCY, "concurrency") \
  X(BARRIER, "barrier")
#define FS_WHY_MEMBER_(id, ...) FS_WHY_##id,
typedef enum fs_why { FS_WHYS(FS_WHY_MEMBER_) } fs_why;
enum { FS_N_WHYS = 0 FS_WHYS(FS_COUNT_ROW_) };
extern const char *const fs_words_why[FS_N_WHYS];

/* The scope of a signal, the narrowest that reaches all who wait for it.  X(ID, "word"):
 * QUEUE         no other queue waits: no primitive
 * DEVICE_GROUP  several devices of one machine
 * PROCESS       queues without a device of their own: host classes; unused so far
 * SYSTEM        several machines */
#define FS_SCOPES(X)              \
  X(QUEUE, "queue")               \
  X(DEVICE, "device")             \
  X(DEVICE_GROUP, "device_group") \
  X(PROCESS, "process")           \
  X(SYSTEM, "system")
#define FS_SCOPE_MEMBER_(id, ...) FS_SCOPE_##id,
typedef enum fs_scope { FS_SCOPES(FS_SCOPE_MEMBER_) } fs_scope;
enum { FS_N_SCOPES = 0 FS_SCOPES(FS_COUNT_ROW_) };
extern const char *const fs_words_scope[FS_N_SCOPES];

/* Axes of epochs.  X(ID, "word", members): members  the axis stands for several queues together. */
#define FS_AXIS_KINDS(X)   \
  X(QUEUE, "queue", false) \
  X(COLLECTIVE, "collective", true)
#define FS_AXIS_MEMBER_(id, ...) FS_AXIS_##id,
typedef enum fs_axis_kind { FS_AXIS_KINDS(FS_AXIS_MEMBER_) } fs_axis_kind;
enum { FS_N_AXIS_KINDS = 0 FS_AXIS_KINDS(FS_COUNT_ROW_) };
extern const char *const fs_words_axis[FS_N_AXIS_KINDS];

#define FS_AXIS_MEMBERS_(id, word, members) FS_IF_(members, FS_AXIS_##id)
static inline bool fs_axis_has_members(unsigned kind) {
  return FS_IN_(kind, FS_AXIS_KINDS(FS_AXIS_MEMBERS_));
}

/* The space in which a place of a command lies.  X(ID, "word", memory, resource, bytes):
 * MEMORY       index: memory; address: bytes that are touched
 * COUNTED      index: counted memory; address: unit interval of its capacity
 * RESOURCE     index: resource; unit interval
 * CONCURRENCY  index 0; unit interval
 * memory    the index is a memory id; or
 * resource  the index is a resource id; else the only index is 0;
 * bytes     the address is a byte address; else it counts units of an amount. */
#define FS_SPACES(X)                          \
  X(MEMORY, "memory", true, false, true)      \
  X(COUNTED, "counted", true, false, false)   \
  X(RESOURCE, "resource", false, true, false) \
  X(CONCURRENCY, "concurrency", false, false, false)
#define FS_SPACE_MEMBER_(id, ...) FS_SPACE_##id,
typedef enum fs_space { FS_SPACES(FS_SPACE_MEMBER_) } fs_space;
enum { FS_N_SPACES = 0 FS_SPACES(FS_COUNT_ROW_) };
#define FS_SPACE_MEMORY_(id, word, memory, resource, bytes) FS_IF_(memory, FS_SPACE_##id)
#define FS_SPACE_RESOURCE_(id, word, memory, resource, bytes) FS_IF_(resource, FS_SPACE_##id)
#define FS_SPACE_BYTES_(id, word, memory, resource, bytes) FS_IF_(bytes, FS_SPACE_##id)
static inline bool fs_space_of_resource(unsigned space) {
  return FS_IN_(space, FS_SPACES(FS_SPACE_RESOURCE_));
}
static inline bool fs_space_in_memory(unsigned space) {
  return FS_IN_(space, FS_SPACES(FS_SPACE_MEMORY_));
}
static inline bool fs_space_has_bytes(unsigned space) {
  return FS_IN_(space, FS_SPACES(FS_SPACE_BYTES_));
}
/* Is a place in this space an amount of a counted memory? */
static inline bool fs_space_has_units(unsigned space) {
  return fs_space_in_memory(space) && !fs_space_has_bytes(space);
}

/* Words without an enumeration: by bits of FS_MODE_R and FS_MODE_W, and whether a sync is of
 * one queue. */
extern const char *const fs_words_mode[4];
extern const char *const fs_words_stop[2];

/* ---- public enumerations */

/* X(ID, "word", data_only): data_only  edges go only from writes to reads, and accesses that no
 * edge orders race. */
#define FS_HAZARDS(X)                \
  X(SEQUENTIAL, "sequential", false) \
  X(RAW, "raw", true)
enum { FS_N_HAZARDS = 0 FS_HAZARDS(FS_COUNT_ROW_) };
extern const char *const fs_words_hazards[FS_N_HAZARDS];
bool fs_hazards_known(unsigned hazards);
#define FS_HAZARDS_DATA_ONLY_(id, word, data_only) FS_IF_(data_only, FSCHED_HAZARDS_##id)
static inline bool fs_hazards_data_only(unsigned hazards) {
  return FS_IN_(hazards, FS_HAZARDS(FS_HAZARDS_DATA_ONLY_));
}

/* X(ID, "word", addresses, stack):
 * addresses  a place is a range of addresses; else a number of units
 * stack      addresses come from a stack, which frees places at syncs; in a target such a memory
 *            is CONTIGUOUS with a mark (fs_memory.stack) */
#define FS_PLACEMENTS(X)                   \
  X(CONTIGUOUS, "contiguous", true, false) \
  X(COUNTED, "counted", false, false)      \
  X(STACK, "stack", true, true)
enum { FS_N_PLACEMENTS = 0 FS_PLACEMENTS(FS_COUNT_ROW_) };
extern const char *const fs_words_placement[FS_N_PLACEMENTS];
bool fs_placement_known(unsigned placement);
#define FS_PLACEMENT_ADDRESSES_(id, word, addresses, stack) FS_IF_(addresses, FSCHED_##id)
#define FS_PLACEMENT_STACK_(id, word, addresses, stack) FS_IF_(stack, FSCHED_##id)
static inline bool fs_placement_has_addresses(unsigned placement) {
  return FS_IN_(placement, FS_PLACEMENTS(FS_PLACEMENT_ADDRESSES_));
}
static inline bool fs_placement_is_stack(unsigned placement) {
  return FS_IN_(placement, FS_PLACEMENTS(FS_PLACEMENT_STACK_));
}

/* The role of a buffer for the caller.  X(ID, "word", given, kept, fixed, carried):
 * given    its first version has content before the first op
 * kept     its last version is kept after the last op
 * fixed    no op writes it
 * carried  the kept content is what the next invocation is given */
#define FS_IOS(X)                                   \
  X(NONE, "none", false, false, false, false)       \
  X(INPUT, "input", true, false, false, false)      \
  X(CONSTANT, "constant", true, false, true, false) \
  X(OUTPUT, "output", false, true, false, false)    \
  X(STATE, "state", true, true, false, true)
enum { FS_N_IOS = 0 FS_IOS(FS_COUNT_ROW_) };
extern const char *const fs_words_io[FS_N_IOS];
enum {
  FS_IO_SAID = FSCHED_IO_NONE + 1
}; /* the first with a word; NONE is written by omitting the word */
bool fs_io_known(unsigned io);
#define FS_IO_GIVEN_(id, word, given, kept, fixed, carried) FS_IF_(given, FSCHED_IO_##id)
#define FS_IO_KEPT_(id, word, given, kept, fixed, carried) FS_IF_(kept, FSCHED_IO_##id)
#define FS_IO_FIXED_(id, word, given, kept, fixed, carried) FS_IF_(fixed, FSCHED_IO_##id)
#define FS_IO_CARRIED_(id, word, given, kept, fixed, carried) FS_IF_(carried, FSCHED_IO_##id)
static inline bool fs_io_given(unsigned io) { return FS_IN_(io, FS_IOS(FS_IO_GIVEN_)); }
static inline bool fs_io_kept(unsigned io) { return FS_IN_(io, FS_IOS(FS_IO_KEPT_)); }
static inline bool fs_io_fixed(unsigned io) { return FS_IN_(io, FS_IOS(FS_IO_FIXED_)); }
static inline bool fs_io_carried(unsigned io) { return FS_IN_(io, FS_IOS(FS_IO_CARRIED_)); }
static inline bool fs_io_said(unsigned io) { return fs_io_given(io) || fs_io_kept(io); }
/* Is content given only, or kept only? */
static inline bool fs_io_is_input(unsigned io) { return fs_io_given(io) && !fs_io_kept(io); }
static inline bool fs_io_is_output(unsigned io) { return fs_io_kept(io) && !fs_io_given(io); }

/* The use that an op makes of an arg.  X(ID, "word", buffer, access, reads, writes, begins):
 * buffer  the arg names a buffer; else it is a number
 * access  the op needs content, makes it, or both; else it gets only an address
 * reads   the op needs the old content
 * writes  the op makes content
 * begins  the op replaces the buffer's content and keeps nothing of the old */
#define FS_TAGS(X)                                                \
  X(IN, "in", true, true, true, false, false)                     \
  X(OUT, "out", true, true, false, true, true)                    \
  X(INOUT, "inout", true, true, true, true, false)                \
  X(OUT_EXISTING, "out_existing", true, true, false, true, false) \
  X(NO_DEP, "no_dep", true, false, false, false, false)           \
  X(VALUE, "value", false, false, false, false, false)
enum { FS_N_TAGS = 0 FS_TAGS(FS_COUNT_ROW_) };
extern const char *const fs_words_tag[FS_N_TAGS];
bool fs_tag_known(unsigned tag);
#define FS_TAG_BUFFER_(id, word, buffer, access, reads, writes, begins) FS_IF_(buffer, FSCHED_##id)
#define FS_TAG_ACCESS_(id, word, buffer, access, reads, writes, begins) FS_IF_(access, FSCHED_##id)
#define FS_TAG_READS_(id, word, buffer, access, reads, writes, begins) FS_IF_(reads, FSCHED_##id)
#define FS_TAG_WRITES_(id, word, buffer, access, reads, writes, begins) FS_IF_(writes, FSCHED_##id)
#define FS_TAG_BEGINS_(id, word, buffer, access, reads, writes, begins) FS_IF_(begins, FSCHED_##id)
static inline bool fs_tag_names_buffer(unsigned tag) {
  return FS_IN_(tag, FS_TAGS(FS_TAG_BUFFER_));
}
static inline bool fs_tag_accesses(unsigned tag) { return FS_IN_(tag, FS_TAGS(FS_TAG_ACCESS_)); }
static inline bool fs_tag_reads(unsigned tag) { return FS_IN_(tag, FS_TAGS(FS_TAG_READS_)); }
static inline bool fs_tag_writes(unsigned tag) { return FS_IN_(tag, FS_TAGS(FS_TAG_WRITES_)); }
static inline bool fs_tag_begins(unsigned tag) { return FS_IN_(tag, FS_TAGS(FS_TAG_BEGINS_)); }
static inline bool fs_tag_only_reads(unsigned tag) {
  return fs_tag_reads(tag) && !fs_tag_writes(tag);
}
/* The op writes, and the rest of the content, or all of it, stays. */
static inline bool fs_tag_writes_in_place(unsigned tag) {
  return fs_tag_writes(tag) && !fs_tag_begins(tag);
}
/* The op writes without needing the old content. */
static inline bool fs_tag_writes_anew(unsigned tag) {
  return fs_tag_writes(tag) && !fs_tag_reads(tag);
}
static inline bool fs_tag_writes_over(unsigned tag) {
  return fs_tag_writes_in_place(tag) && !fs_tag_reads(tag);
}
/* The tag that a kernel sees: of an arg that begins a value in a slot, which its op only writes
 * over in the buffer, the one that the graph's author gave. */
static inline unsigned fs_tag_seen(unsigned tag, bool begins) { return begins ? FSCHED_OUT : tag; }
/* The arg names a buffer and is not an access. */
static inline bool fs_tag_is_address(unsigned tag) {
  return fs_tag_names_buffer(tag) && !fs_tag_accesses(tag);
}

/* The choice of the version that leaves a full memory.  X(ID, "word", ahead):
 * ahead  by what the plan holds: a version that is needed before the op that wants its place stays,
 *        and the cheapest window of neighbours is looked for; else the first that fits is taken.
 * The order in which they are offered is victim_key's in lib/listsched/evict.c. */
#define FS_EVICTS(X)            \
  X(FARTHEST, "farthest", true) \
  X(LRU, "lru", false)
enum { FS_N_EVICTS = 0 FS_EVICTS(FS_COUNT_ROW_) };
bool fs_evict_known(unsigned evict);
#define FS_EVICT_AHEAD_(id, word, ahead) FS_IF_(ahead, FSCHED_EVICT_##id)
static inline bool fs_evict_looks_ahead(fsched_evict evict) {
  return FS_IN_(evict, FS_EVICTS(FS_EVICT_AHEAD_));
}

/* The method that improves a schedule.  X(ID, "word", models, packs, searches, open):
 * models  by integer programs, which a solver solves,
 * packs   of places in strips; else of starts in time,
 * searches  by a search of our own,
 * open    to be chosen by counts: that search, or nothing. */
#define FS_REFINES(X)                            \
  X(NONE, "none", false, false, false, false)    \
  X(ILP, "ilp", true, false, false, false)       \
  X(PACK, "pack", true, true, false, false)      \
  X(SEARCH, "search", false, false, true, false) \
  X(AUTO, "auto", false, false, true, true)
bool fs_refine_known(unsigned refine);
#define FS_REFINE_MODELS_(id, word, models, ...) FS_IF_(models, FSCHED_REFINE_##id)
#define FS_REFINE_PACKS_(id, word, models, packs, ...) FS_IF_(packs, FSCHED_REFINE_##id)
#define FS_REFINE_SEARCHES_(id, word, models, packs, searches, open) \
  FS_IF_(searches, FSCHED_REFINE_##id)
#define FS_REFINE_OPEN_(id, word, models, packs, searches, open) FS_IF_(open, FSCHED_REFINE_##id)
static inline bool fs_refine_packs(fsched_refine refine) {
  return FS_IN_(refine, FS_REFINES(FS_REFINE_PACKS_));
}
static inline bool fs_refine_searches(fsched_refine refine) {
  return FS_IN_(refine, FS_REFINES(FS_REFINE_SEARCHES_));
}
static inline bool fs_refine_is_open(fsched_refine refine) {
  return FS_IN_(refine, FS_REFINES(FS_REFINE_OPEN_));
}
static inline bool fs_refine_has_models(fsched_refine refine) {
  return FS_IN_(refine, FS_REFINES(FS_REFINE_MODELS_));
}
static inline bool fs_refine_improves(fsched_refine refine) {
  return fs_refine_has_models(refine) || fs_refine_searches(refine);
}

/* The method by which barriers are shared.  X(ID, "word", published): published  by the
 * construction of the literature, for comparison: of a known number of barriers, whatever they
 * cost. */
#define FS_BARRIER_METHODS(X) \
  X(BEST, "best", false)      \
  X(PUBLISHED, "published", true)
bool fs_barrier_method_known(unsigned method);
#define FS_BARRIERS_PUBLISHED_(id, word, published) FS_IF_(published, FSCHED_BARRIERS_##id)
static inline bool fs_barrier_method_published(fsched_barrier_method method) {
  return FS_IN_(method, FS_BARRIER_METHODS(FS_BARRIERS_PUBLISHED_));
}

/* The words of a table as the argument of an option: FS_CHOICE(FS_EVICTS) is "farthest|lru". */
#define FS_CHOICE_WORD_(id, word, ...) "|" word
#define FS_CHOICE(table) (&("" table(FS_CHOICE_WORD_))[1])
#define FS_CHOICE_OR(table, more) (&("" table(FS_CHOICE_WORD_) "|" more)[1])

#endif
