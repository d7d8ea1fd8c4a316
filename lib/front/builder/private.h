/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a builder, for the files of this room.
 *
 * The calls' arguments are collected in growing arrays; finish resolves names, derives versions and
 * edges, and copies everything into the arena of the graph.  builder/finish.c lists the steps. */
#ifndef FS_BUILDER_PRIVATE_H
#define FS_BUILDER_PRIVATE_H

#include "base/names.h"
#include "base/ranges.h"
#include "front/builder/builder.h"
#include "model/graph.h"

enum { FS_WARNINGS_SHOWN = 20 }; /* shown per class of warnings; the rest is counted */

typedef FS_VEC(fs_pos) fs_pos_list; /* by entity; entities past the end have no position */

typedef struct fs_memory_draft {
  fs_memory m;
  uint32_t backing_word, spill_word; /* ids in words, FS_NONE when absent */
  bool spill_default;                /* the user has not said where spills run */
  fs_pos at, backing_at, spill_at, placement_at;
} fs_memory_draft;

typedef struct fs_op_draft {
  uint64_t time, start; /* FS_TICK_NONE: no given start */
  uint32_t on_word;     /* FS_NONE for a gang */
  bool on_default;      /* the user has not said it */
  uint32_t gang;        /* draft gang or FS_NONE */
  uint32_t kernel;
  uint32_t arg0;
  uint32_t slots;
  uint64_t latency; /* at least the time */
  uint32_t members; /* of a gang: members with args of their own; else 0 */
  uint32_t member0; /* into member_word: their queues, as they were named; FS_NONE: of a class */
} fs_op_draft;

typedef struct fs_arg_draft {
  uint64_t offset;
  union {
    uint64_t length;
    int64_t value;
  } u;
  uint32_t buffer;
  uint8_t tag;
  bool has_at;
  bool begins;   /* was an `out` (model/graph.h) */
  uint32_t view; /* of the builder's; FS_NONE: a range */
  uint32_t member;
} fs_arg_draft;

/* What a loop adds to an arg: where its range moves, or of which earlier iteration its value is. */
typedef struct fs_moving_draft {
  uint64_t distance; /* 0: of this iteration */
  uint32_t arg;
  uint32_t step0, n_steps; /* into step */
} fs_moving_draft;

typedef struct fs_loop_draft {
  uint64_t trip, least, most; /* the trips; limits if a parameter gives them */
  uint32_t param;             /* in words; FS_NONE: none */
  uint32_t parent;            /* the loop around it, or FS_NONE */
  uint32_t op0, op_end;       /* the ops of the body, and of the loops inside */
  uint32_t depth;             /* 1 for the outermost */
  uint64_t shown;             /* of a sample: so many iterations are those of the loop itself */
  bool gone;                  /* an op has taken its place */
} fs_loop_draft;

typedef struct fs_ring_draft {
  uint64_t depth; /* 0: not given */
  uint64_t every; /* at least 1 */
  uint64_t ahead; /* one more than the prefetch; 0: not given */
  bool behind;    /* the prefetch was counted from the depth */
  uint32_t loop, buffer;
  uint32_t op;   /* in bodies that were looked at: the op of the body that begins the buffer, ... */
  uint32_t arg;  /* ... and by which of its args */
  bool in_place; /* it does so in the place of the version before */
  fs_pos at;
} fs_ring_draft;

/* The most slots of a buffer that a loop begins, where it is given none. */
typedef struct fs_depth_limit {
  uint32_t loop, buffer;
  uint32_t most;
} fs_depth_limit;

/* Of the unrolled graph: values that iterations hand on.  A carry is a buffer whose value at the
 * end of an iteration of a loop some op reads later; a mark says before which op a run of a loop
 * begins or an iteration has ended; a past arg reads the value of `back` ends before the last one.
 */
typedef struct fs_carry { /* ascending in loops, then buffers */
  uint32_t loop, buffer;
} fs_carry;
typedef struct fs_mark {
  uint32_t op, loop;
  bool begin;
} fs_mark;
typedef struct fs_past_arg {
  uint32_t arg, carry, back;
} fs_past_arg;

/* An op's use of a resource, scratch in a memory, `after` (a the op, or the loop if b is 1; the
 * amount is the distance), or pair of buffers (a out, b in). */
typedef struct fs_item_draft {
  uint64_t amount;
  uint32_t op, a, b;
} fs_item_draft;

typedef struct fs_item_list {
  FS_VEC(fs_item_draft) item;
  fs_pos_list at;
} fs_item_list;

/* The launch of a class. */
typedef struct fs_launch_draft {
  uint32_t word;
  uint64_t ticks;
  fs_pos at;
} fs_launch_draft;

/* What is known of a graph whose loops may not all stay loops. */
typedef struct fs_refusal {
  bool unrolls;      /* it is made of iterations then */
  char hint[160];    /* else: what the user can do */
  bool refused;      /* some loop cannot stay one; the last that was found: */
  uint32_t loop;     /* FS_NONE: it is not known */
  char message[512]; /* why */
} fs_refusal;

/* Which rings get as few slots as they need. */
typedef enum fs_depths { FS_DEPTHS_AS_PLANNED, FS_DEPTHS_LEAST_OPEN, FS_DEPTHS_LEAST } fs_depths;

struct fsched_builder {
  fsched_context *ctx;
  fs_arena arena; /* becomes the graph's arena */
  const char *name;
  fsched_hazards hazards;
  bool raw; /* they were raw, before loops that stay loops made them sequential */
  const char *time_unit;
  uint64_t concurrency, frontier_capacity;
  uint64_t launch, wait; /* launch: of classes that `launches` does not name */
  FS_VEC(fs_launch_draft) launches;
  fs_sync_kind sync;
  uint64_t sync_cost;
  fs_pos sync_at, barriers_at;
  uint32_t barrier_count, barrier_slots; /* 0: not given */

  fs_names words; /* names of queues, classes and backings as other entities refer to them */
  fs_names queues, classes, memories, resources, buffers, ops, gang_keys;
  FS_VEC(fs_queue) queue;
  FS_VEC(fs_memory_draft) memory;
  FS_VEC(uint64_t) resource_capacity;
  FS_VEC(uint64_t) buffer_size;
  FS_VEC(fs_buffer_slot) buffer_slot; /* what is given and kept; empty: all bytes of all */
  FS_VEC(uint32_t) buffer_memory;     /* FS_NONE: the default */
  FS_VEC(uint8_t) buffer_io;
  FS_VEC(fs_op_draft) op;
  FS_VEC(fs_arg_draft) arg;
  FS_VEC(uint32_t) gang0, gang_word; /* CSR: the words of each gang, queues or one class */
  FS_VEC(uint32_t) gang_count;       /* of the class; 0: the words are queues */
  FS_VEC(uint32_t) member_word;
  FS_VEC(fs_kernel) kernel;
  FS_VEC(const char *) file;
  FS_VEC(fs_moving_draft) moving; /* ascending in args */
  FS_VEC(int64_t) step;
  FS_VEC(fs_view) view; /* with an offset of 0 */
  FS_VEC(fs_loop_draft) loop;
  FS_VEC(fs_ring_draft) ring;
  FS_VEC(fs_depth_limit) depth_limit;
  FS_VEC(uint32_t) apart; /* loops in a loop whose rings have slots for one run, not for more */
  FS_VEC(fs_carry) carry;
  FS_VEC(fs_mark) mark;
  FS_VEC(fs_past_arg) past;
  uint32_t open_loop;       /* FS_NONE outside of loops */
  uint32_t last_loop;       /* that of the last op */
  FS_VEC(uint32_t) origin;  /* per op of an unrolled graph: the op as described */
  FS_VEC(uint32_t) loop_of; /* per op as described: the innermost loop around it, or FS_NONE */
  uint32_t effort;          /* FSCHED_EFFORT(level), or 0 */
  bool unplanned, unroll, unrolled;
  bool contracted; /* ops are in the place of loops */
  fs_depths depths;
  const char *depths_hint; /* which given depths fit where others do not; NULL: not known */
  fs_refusal *refusal;     /* that of the call of finish; NULL outside of it */
  bool one_run;            /* so are all loops in a loop as those of `apart` */
  bool unjoined;           /* no runs are joined */
  bool one_outside;        /* rings of loops in a loop that ops outside use have one slot, as have
                            * those of buffers that are given or kept in a backing store */
  bool issue_as_planned;   /* block syncs change neither copies of bodies nor depths */
  bool deepen;             /* depths are chosen by what loops take, not by their intervals alone */
  bool sample;             /* a part of what was described, to be looked at: nothing is warned of */
  FS_VEC(fs_rolled *) op_rolled; /* per op, if it is not empty: the loop that it is, or NULL */
  fs_rolled *rolled;             /* loops that stay loops */
  uint32_t n_rolled;
  fs_graph_param *open_param; /* those that invocations give */
  uint32_t n_open_params;
  struct fs_lower_bounds *unrolled_bounds; /* NULL: not known */
  uint32_t n_named;                        /* buffers, before versions became some */
  fs_names loops, params, said; /* said: the errors that are told once for all iterations */
  FS_VEC(uint64_t) param;       /* the values */
  fs_item_list uses, scratches, afters, inplaces;

  fs_pos pos;
  fs_pos part[FS_PARTS];
  fs_pos_list buffer_at, op_at, op_on_at, arg_at, gang_at, queue_at, counting_at, resource_at,
      loop_at;
  FS_VEC(uint8_t)
  after_given; /* per `after`: an arg or an earlier `after` gives the edge; empty
                  when no warning needs it */
  uint32_t options_file;

  bool bad;        /* BAD_INPUT was reported */
  bool infeasible; /* INFEASIBLE was reported */
  bool usage;      /* an error in options_file was reported */
  bool incomplete; /* ops, args or buffers are missing that the user wrote */
  bool lost[FS_KINDS];
  uint32_t warning_errors; /* fs_warn_errors at the beginning */
  uint32_t inplace_dropped;
  bool *merged; /* per buffer: another one has taken its place; NULL: none has */
  uint32_t n_merged;
  bool finished;
};

/* X(member): all tables of names, and all growing arrays. */
/* clang-format off */
#define FS_BUILDER_NAMES(X) \
  X(words) X(queues) X(classes) X(memories) X(resources) X(buffers) X(ops) X(gang_keys) X(loops) \
  X(params) X(said)
#define FS_BUILDER_VECTORS(X) \
  X(queue) X(memory) X(resource_capacity) X(buffer_size) X(buffer_slot) X(buffer_memory) X(launches) \
  X(buffer_io) X(op) X(arg) X(gang0) X(gang_word) X(gang_count) X(member_word) X(kernel) X(file) X(moving) X(step) X(view) X(loop) \
  X(ring) X(depth_limit) X(apart) X(carry) X(mark) X(past) X(origin) X(loop_of) X(op_rolled) X(param) X(uses.item) X(uses.at) \
  X(scratches.item) X(scratches.at) X(afters.item) X(afters.at) X(inplaces.item) X(inplaces.at) \
  X(after_given) X(buffer_at) X(op_at) X(op_on_at) X(arg_at) X(gang_at) X(queue_at) \
  X(counting_at) X(resource_at) X(loop_at)
/* clang-format on */

/* The end of the args of an op as described: those of the next op begin there.  Requires an op. */
static inline uint32_t fs_builder_args_end(const fsched_builder *b, uint32_t op) {
  FS_ASSERT_SLOW(op < b->op.n);
  return op + 1 == b->op.n ? (uint32_t)b->arg.n : b->op.at[op + 1].arg0;
}

/* The position of entity `id`, FS_NOWHERE if none was given.  Requires an array if n is above 0. */
static inline fs_pos fs_pos_at(const fs_pos_list *p, size_t id) {
  FS_ASSERT_SLOW(p->n == 0 || p->at != NULL);
  return id < p->n ? p->at[id] : FS_NOWHERE;
}

/* Finds or adds a name in b->words.  Requires a word, not NULL. */
fs_status fs_builder_word(fsched_builder *b, const char *word, uint32_t *id) FS_MUST_USE;
/* Stores the position of an entity.  Requires that the entity has no position yet, nor one behind
 * it. */
fs_status fs_builder_place(fsched_builder *b, fs_pos_list *places, size_t id,
                           fs_pos pos) FS_MUST_USE;
/* Whether a diagnostic of this kind is to be told at this place: in an unrolled graph it is only
 * once, for the first iteration. */
bool fs_builder_tells(fsched_builder *b, fs_diag_code code, fs_pos pos);
/* Reports FSCHED_INFEASIBLE. */
void fs_builder_infeasible(fsched_builder *b, fs_diag_code code, fs_pos pos, const char *hint,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Refuses a name that is missing, empty or not UTF-8. */
fs_status fs_builder_check_name(fsched_builder *b, const char *kind, const char *name) FS_MUST_USE;
/* Reports a repeated name.  Requires a name that is there already. */
fs_status fs_builder_repeated(fsched_builder *b, const char *kind, const char *name) FS_MUST_USE;
/* Refuses a text that is not UTF-8.  NULL passes. */
fs_status fs_builder_check_text(fsched_builder *b, const char *what, const char *text) FS_MUST_USE;
/* Refuses a value of an enumeration that is negative or above the last one.  Requires last >= 0. */
fs_status fs_builder_check_enum(fsched_builder *b, const char *what, int value,
                                int last) FS_MUST_USE;
/* Refuses a descriptor whose size is below the least one.  Requires least > 0. */
fs_status fs_builder_check_size(fsched_builder *b, const char *type, size_t size,
                                size_t least) FS_MUST_USE;
/* Copies a descriptor.  Descriptors of callers that were built against an older header are shorter:
 * the rest is set to zero.  `last` is the last member that must be there. */
#define FS_TAKE_DESC(type, last, copy, desc)                                        \
  type copy = {0};                                                                  \
  FS_TRY(fs_builder_check_size(b, #type, (desc)->size, FS_SIZE_UP_TO(type, last))); \
  memcpy(&copy, (desc), fs_min((desc)->size, sizeof copy))

/* Checks value <= limit. */
fs_status fs_builder_limit(fsched_builder *b, const char *what, uint64_t value,
                           uint64_t limit) FS_MUST_USE;

/* Makes a builder that says the same, and shares the texts.  Errors: FSCHED_SYSTEM. */
fs_status fs_builder_clone(const fsched_builder *b, fsched_builder **out) FS_MUST_USE;
/* Checks loops, and puts their unrolling in their place, or an op for each that stays a loop. */
fs_status fs_builder_unroll(fsched_builder *b) FS_MUST_USE;
/* Puts ops in the place of loops.  Errors: FSCHED_BAD_INPUT, FSCHED_SYSTEM. */
fs_status fs_builder_roll(fsched_builder *b) FS_MUST_USE;
/* Reports that this version does not have a loop as one, and notes why.  `at`: what it is about.
 * Requires a loop. */
fs_status fs_builder_refuse_loop(fsched_builder *b, uint32_t loop, fs_pos at, const char *format,
                                 ...) FS_MUST_USE __attribute__((format(printf, 4, 5)));
/* Finds or makes the gang of n queues, sorted and distinct, or with `count` above 0 of so many
 * queues of the class that is the only word.  Requires words. */
fs_status fs_builder_gang(fsched_builder *b, const uint32_t *word, uint32_t n, uint32_t count,
                          uint32_t *gang) FS_MUST_USE;
/* Fills the graph's gangs.  Reports queues and classes that do not exist, and classes that are too
 * small.  Requires that it was not called before, and the number of queues per class.  gangs.c */
fs_status fs_builder_resolve_gangs(fsched_builder *b, fsched_graph *g,
                                   const uint32_t *class_size) FS_MUST_USE;
/* Lists in the graph what was unrolled. */
fs_status fs_builder_keep_loops(fsched_builder *b, fsched_graph *g) FS_MUST_USE;
/* Finds the values that args with a distance read; the carries of loop i are carry0[i] up to
 * carry0[i + 1] - 1.  Requires an unrolled graph. */
fs_status fs_builder_carry(fsched_builder *b, const uint32_t *carry0) FS_MUST_USE;
/* Sorts items by op, in the order of the calls within an op; the list's entries of op i are then
 * (*start)[i] .. (*start)[i + 1] - 1. */
fs_status fs_builder_sort_items(fsched_builder *b, uint32_t n_ops, fs_item_list *list,
                                uint32_t **start) FS_MUST_USE;

/* fsched_builder_finish for loops that stay loops.  fit.c */
fs_status fs_builder_fit(fsched_builder *b, fsched_graph **out) FS_MUST_USE;
/* fs_builder_fit; where memories are bounded and syncs stop everything, loops may have the copies and
 * depths of their plans instead of those that need fewer syncs.  Requires loops that may stay loops.
 * spare.c */
fs_status fs_builder_spare(fsched_builder *b, fsched_graph **out) FS_MUST_USE;
/* fs_builder_fit, with depths as they are planned: fit.c then looks for a schedule. */
fs_status fs_builder_finish_once(fsched_builder *b, fsched_graph **out) FS_MUST_USE;

/* Copies the args, which the builder then has no more.  Requires a graph without args. */
fs_status fs_builder_copy_args(fsched_builder *b, fsched_graph *g) FS_MUST_USE;
/* Checks that members with args of their own have queues in their order.  Requires gangs. */
fs_status fs_builder_check_members(fsched_builder *b, const fsched_graph *g) FS_MUST_USE;
/* Whether, of the accesses [first, end) of one version by an op with members, one writes bytes that
 * another member's accesses; *at is then the later arg.  Requires accesses of one op.
 * Complexity: O(n log n) for n runs of bytes.  Errors: FSCHED_SYSTEM. */
fs_status fs_builder_members_meet(const fsched_graph *g, uint32_t first, uint32_t end, bool *meet,
                                  uint32_t *at) FS_MUST_USE;
/* Refuses members that conflict, unless hazards are raw.  Requires versions. */
fs_status fs_builder_member_conflicts(fsched_builder *b, const fsched_graph *g) FS_MUST_USE;
/* The steps of finish; g is the graph in the making.  Requires that the ops and args are there. */
fs_status fs_builder_versions(fsched_builder *b, fsched_graph *g) FS_MUST_USE; /* and data edges */
/* Requires predecessors, as fs_builder_versions makes them. */
fs_status fs_builder_order(fsched_builder *b, fsched_graph *g) FS_MUST_USE; /* CSR, topo */
/* Requires an order of the graph. */
fs_status fs_builder_races(fsched_builder *b, fsched_graph *g) FS_MUST_USE;
/* Finds and tells the races of a graph whose loops stay loops, as far as hazards are raw.  Requires
 * the builder of the graph as it was described.  Complexity: that of the races of about 4,096
 * instances of its ops, whatever the trips are. */
fs_status fs_builder_loop_races(const fsched_builder *described, fsched_graph *g) FS_MUST_USE;
/* Requires an order of the graph, and versions. */
fs_status fs_builder_inplaces(fsched_builder *b, fsched_graph *g) FS_MUST_USE;
/* Warns of a pair that is not kept, and why.  Requires one of the builder's. */
void fs_builder_drop_inplace(fsched_builder *b, size_t item, const char *op, const char *out,
                             const char *in, const char *fault);
/* Refuses what the kind of sync does not have: counting queues and stacks. */
void fs_builder_check_sync(fsched_builder *b);
/* Requires the pairs in place. */
fs_status fs_builder_capacity(fsched_builder *b, fsched_graph *g) FS_MUST_USE;
/* Requires a graph that is complete. */
fs_status fs_builder_warn(fsched_builder *b, const fsched_graph *g) FS_MUST_USE;
/* Whether a loop has several slots, whose number was not given, of a buffer that is given or kept
 * in a backing store, or, in a loop, of one that is used outside of it.  Requires the builder of
 * the graph as it was described. Complexity: O(rings * args). */
bool fs_builder_slots_outside(const fsched_builder *described, const fsched_graph *g);
/* What the outermost loops of a graph take, each in one run, and copies of what is given and kept.
 */
uint64_t fs_builder_span_of(const fsched_graph *g);

/* deepen.c: what a list schedule of a graph takes; UINT64_MAX: there is none.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_builder_makespan_of(const fsched_graph *g, uint64_t *makespan) FS_MUST_USE;

/* Takes another graph of the same description, if there is one, in the place of *g. */
void fs_builder_take_graph(fsched_graph **g, fsched_graph *other);
/* Whether runs are joined on barriers, and all loops of the graph might take more of these than the
 * target has, with what ops outside of them need, or its number is not known yet.
 * O(loops^2 + ops). */
bool fs_builder_may_lack_barriers(const fsched_graph *g);
/* Whether an outermost loop, with those in it, takes fewer barriers than in another graph of the
 * same description.  O(outermost loops * loops). */
bool fs_builder_takes_fewer_barriers(const fsched_graph *g, const fsched_graph *other);

/* deepen.c: puts a graph in the place of that of a builder, which has loops that stay loops, in
 * which depths are chosen by what the loops take, if a list schedule of it takes less; or as much,
 * and slots take fewer bytes.  Complexity: that of another graph, and of two list schedules where
 * memories are bounded.  Errors: FSCHED_SYSTEM. */
fs_status fs_builder_deepen(const fsched_builder *described, fsched_graph **g) FS_MUST_USE;
/* Warns of given depths that loops which stay loops do not take.  Requires n_given rings as they
 * were described. */
void fs_builder_warn_depths(const fsched_graph *g, const fs_ring_draft *given, size_t n_given);

#endif
