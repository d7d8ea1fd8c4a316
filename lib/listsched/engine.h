/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the list scheduler: one simulated run in time.
 *
 * An op goes through: waiting (a predecessor is not issued), soon (all are issued), claimed (its
 * inputs are pinned and places are promised to what it lacks), runnable (it lacks only a queue),
 * running, done.  Claims are made in planned order; every claim ends in a start, because the events
 * that it waits for (ends of items in flight, copies of leaving versions) always come.
 *
 * A version in a bounded memory is absent, promised (a place is reserved), filling (a spill read
 * is in flight), in, leaving (evicted or dying, its room already on offer), or dead (not needed any
 * more). */
#ifndef FS_ENGINE_H
#define FS_ENGINE_H

#include "base/heap.h"
#include "listsched/listsched.h"
#include "listsched/places.h"
#include "listsched/policy.h"
#include "model/lags.h"

typedef enum fs_op_phase {
  FS_OP_WAITING,
  FS_OP_SOON,
  FS_OP_CLAIMED,
  FS_OP_RUNNING,
  FS_OP_DONE
} fs_op_phase;

typedef enum fs_version_state {
  FS_V_ABSENT,
  FS_V_PROMISED, /* place reserved, by its first writer or for a read */
  FS_V_FILLING,
  FS_V_IN,
  FS_V_LEAVING,
  FS_V_DEAD
} fs_version_state;

/* What the spill reads ahead of claims have to do with a memory (prefetch.c). */
typedef enum fs_memory_state {
  FS_MEMORY_ASLEEP, /* no read can start */
  FS_MEMORY_WOKEN,  /* it is one of memory_woken */
  FS_MEMORY_READS   /* it is one of the readers of its domain */
} fs_memory_state;

typedef struct fs_residency_record {
  uint32_t version, op, memory;
  uint64_t address, size;
  fs_tick begin, end;
} fs_residency_record;

typedef struct fs_copy_record {
  uint32_t version, residency, store;
  uint8_t kind;
} fs_copy_record;

/* An output took over the place of an input. */
typedef struct fs_handed {
  uint32_t op, input, output; /* the latter are residencies */
} fs_handed;

typedef struct fs_waiter {
  uint32_t op, next;
} fs_waiter;

typedef struct fs_need {
  uint64_t size;
  uint32_t memory;
  uint32_t version; /* FS_NONE for scratch */
  uint32_t scratch;
} fs_need;

/* An op holds something in a bounded memory while it runs: an input, an output, or scratch. */
typedef struct fs_hold {
  uint32_t op, memory;
  uint32_t next, previous; /* of the unissued ops that hold something there, in planned order */
} fs_hold;

/* A claim at work (claim.h). */
typedef struct fs_claim {
  uint32_t op, position;
  bool last_resort;
  bool pack; /* all versions leave; the needs go to the lowest addresses */
  FS_VEC(fs_need) needs;
  FS_VEC(uint32_t) reserved; /* places, in order of needs */
  FS_VEC(uint32_t) own;      /* last resort: inputs that may leave */
} fs_claim;

typedef struct fs_engine {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_policy *policy;
  fs_arena *scratch;
  fs_arena_mark prepared; /* what lies below it is of the graph, above it of a run */
  fs_tick now;
  uint64_t steps; /* work done in this run; each is about as long as the next (trials.c) */

  /* A run that cannot end by `limit`, the best makespan so far, is given up, and one that is
   * stopped (listsched.h). */
  fs_tick limit;
  const fs_listsched_options *options;
  uint64_t runs, next_asked; /* for options->stop: the runs so far; steps at which it is asked */
  bool given_up;
  fs_tick *op_rank;               /* longest path from the op's start to the end */
  fs_tick *slot_work, *slot_left; /* time of its ops: of all, and of those not started */
  uint32_t *slot_members;         /* ops that its queues take at once; 0 where these are implicit */
  uint32_t next_checked;          /* the slot whose work is looked at next */

  /* Planned order, a linear extension of the graph; and the list of unissued ops in that order. */
  const uint32_t *position, *op_at;
  uint32_t *unissued_next, *unissued_previous; /* by position; n_ops is the end mark */

  /* Ops. */
  uint8_t *op_phase;
  uint32_t *op_unissued_preds, *op_running_preds;
  bool ends_alone;    /* the end of an item counts, whatever runs before it on its queues */
  bool any_slow;      /* some op ends after its queues go on */
  fs_lags lags;       /* of the edges to and from loops */
  uint8_t *op_lagged; /* some predecessor may still run when the op starts; NULL: of none */
  uint8_t *op_listed; /* the op is runnable; NULL: none becomes so while a predecessor runs */
  uint32_t *op_lacks; /* places and inputs a claimed op still waits for, and its given start */
  fs_tick *op_start, *op_end;
  fs_tick *op_reached; /* when its epochs are: all items before it on its queues have ended, too,
                        * unless ends count alone */
  uint32_t *op_queue;  /* of a gang the first */
  uint32_t *op_member0, *op_member; /* only if a gang chooses: CSR, the queues of ops in gangs */
  fs_heap choice;                   /* empty between uses */
  fs_tick *choice_key;              /* per queue; 0 between uses */
  fs_tick *queue_work, *queue_left; /* if a gang chooses, per queue: time of the ops that can run on
                                     * no others, of all, and of those not started */
  uint32_t n_done;

  /* Queues.  A slot is a domain, or n_domains + gang. */
  uint32_t n_queues, queue_limit, n_slots, n_busy;
  fs_heap *idle; /* per class, or one of all implicit queues: free ones, and some that are busy */
  FS_VEC(uint8_t) queue_busy;
  FS_VEC(uint8_t) queue_idle; /* it is in `idle` */
  FS_VEC(uint32_t) queue_op;  /* its latest op, if its latest item is one alone on it, or FS_NONE */
  FS_VEC(fs_tick) queue_until;   /* when its latest item lets it go on */
  FS_VEC(fs_tick) queue_reached; /* when all of its items so far have ended */
  FS_VEC(uint32_t) queue_behind; /* items that take it over when those before let it go on */
  FS_VEC(uint64_t) queue_held;   /* position of the gang it is kept for, else UINT64_MAX */
  FS_VEC(fs_tick) queue_held_until;
  FS_VEC(uint32_t) held;              /* queues that are kept, some of them twice */
  uint32_t *queue_slot0, *queue_slot; /* domains that a queue is in */
  uint32_t *slot_free;                /* free queues of a domain */
  uint32_t *slot_claims, *slot_quota; /* claimed ops that hold memory */
  uint8_t *slot_woken;                /* it is one of `woken` */
  uint32_t *woken, n_woken;           /* slots to be listed again */
  uint64_t *slot_listed;              /* the key of its entry in `listed` that counts */
  fs_heap listed;                     /* slots that may have something to start */
  fs_heap *runnable;                  /* per slot: ops by position */
  fs_heap *copies; /* per domain: version * 2 + kind by position of the op that wants it */
  fs_heap *later;  /* per slot: soon ops over the quota */
  fs_heap soon;
  fs_heap ends;               /* events: item, when its epochs are reached; FS_ENGINE_WAKE + slot:
                               * what waits may start; FS_ENGINE_WAKE + n_slots + queue: it is free
                               * again, before the epoch of its item is reached */
  fs_tick *op_wake;           /* the last event of that kind for the op */
  bool waits_cost;            /* the target has a wait that counts */
  FS_VEC(uint32_t) parked;    /* this round: runnable ops that cannot start */
  FS_VEC(uint32_t) set_aside; /* this round: ops whose claim failed */
  int claim_failures;
  uint8_t *slot_closed;     /* this round: too many ops have been passed over */
  uint32_t *slot_passed;    /* this round: ops passed over */
  FS_VEC(uint32_t) release; /* ops with given starts, by start */
  size_t next_release;

  uint64_t *resource_free;
  uint64_t concurrency_free;

  /* Memories. */
  bool any_bounded;
  uint8_t *op_holds;                      /* the op touches a bounded memory */
  fs_places *places;                      /* per memory; unused for unbounded ones */
  fs_heap *victims_clean, *victims_dirty; /* per memory; entries may be stale */
  uint64_t supply;                        /* bytes given up or offered so far, all memories */
  uint64_t *op_retry;  /* the supply at which a claim that failed is worth another try */
  uint64_t *asked;     /* per memory; 0 between uses */
  uint64_t *evictable; /* bytes of versions that are in, not pinned, and may leave; per memory */
  uint32_t *absent;    /* versions that a read could bring in; per memory */
  uint32_t *hold0;     /* per op: its entries of hold */
  fs_hold *hold;
  uint32_t *hold_first; /* per memory: FS_NONE, none */

  /* Reads ahead of claims (prefetch.c). */
  uint8_t *memory_state; /* fs_memory_state */
  uint32_t *memory_woken, n_memory_woken;
  uint32_t *sleeps_until;    /* per memory: the position in held_back that counts, or FS_NONE */
  fs_heap held_back;         /* sleeping memories, by the least blocked position that wakes them */
  fs_heap *readers;          /* per domain: memories that are awake, by id */
  fs_heap first_readers;     /* domains, by the first of their readers */
  uint32_t *reader_listed;   /* per domain: its entry in first_readers that counts, or FS_NONE */
  uint8_t *domain_is_opened; /* it is one of domain_opened */
  uint32_t *domain_opened, n_domain_opened;
  FS_VEC(uint32_t) stay_awake; /* this round: memories to be looked at again in the next */

  /* What ops touch: distinct versions in bounded memories. */
  uint32_t *touch0, *touch;
  uint8_t *touch_writes;

  /* Versions (in bounded memories). */
  uint32_t *v_memory; /* FS_NONE: unbounded */
  uint64_t *v_size;   /* aligned */
  uint8_t *v_state;
  uint8_t *v_dirty, *v_stored, *v_content, *v_writing, *v_counted_evictable;
  uint32_t *v_place, *v_promised_place, *v_store_place;
  uint32_t *v_residency, *v_store_residency;
  uint32_t *v_users, *v_pins, *v_left, *v_writers_left, *v_writers_running;
  uint32_t *v_read_for; /* position of the claim that wants it read */
  fs_tick *v_last_end;
  uint32_t *v_last_use;                  /* sequence number of the last issue that touched it */
  uint32_t *v_waiters;                   /* list in waiter */
  uint32_t *v_use0, *v_use, *v_next_use; /* positions of accesses, ascending; cursor */
  uint32_t *v_writers;                   /* number of ops that write it */
  uint32_t *v_inplace; /* version whose place this one takes over, per claimed op */
  uint32_t *scratch_place;
  FS_VEC(fs_waiter) waiter;
  uint32_t free_waiter;

  /* A claim at work; one at a time, so its lists keep their memory. */
  fs_claim claim;
  FS_VEC(uint32_t) victims;

  bool no_room; /* given content, or a store copy, does not fit its memory */
  uint32_t no_room_version;
  bool blocked;              /* the last round left a claim unfulfilled */
  uint32_t blocked_position; /* its position */
  uint32_t issue_count;
  bool hears_progress; /* each op that ends is a unit of progress */

  /* Results. */
  uint32_t *arg_residency, *scratch_residency;
  FS_VEC(fs_residency_record) residency;
  FS_VEC(fs_handed) handed; /* in runs by amounts */
  FS_VEC(fs_copy_record) copy;
  FS_VEC(fs_tick) copy_start;
  FS_VEC(fs_tick) copy_end;
  FS_VEC(fs_tick) copy_reached; /* as op_reached */
  FS_VEC(uint32_t) copy_queue;
  FS_VEC(uint32_t) order;
} fs_engine;

/* What all runs share: made once, in an arena that is the engine's alone from then on.  Requires a
 * frozen graph. */
fs_status fs_engine_prepare(fs_engine *e, fsched_context *ctx, fs_arena *scratch,
                            const fsched_graph *g) FS_MUST_USE;
/* Makes ready for a run.  Requires an engine that is prepared, and `op_at` as the inverse of
 * `position`. */
fs_status fs_engine_begin(fs_engine *e, const fs_policy *policy, const uint32_t *position,
                          const uint32_t *op_at) FS_MUST_USE;
/* A run: *infeasible is set (and explained when `explain`) when memory lets it make no progress or
 * an op misses its given start, and e->given_up when it cannot end by e->limit.  Requires that
 * fs_engine_begin was called, and that no run has begun since. */
fs_status fs_engine_run(fs_engine *e, bool explain, bool *infeasible) FS_MUST_USE;
void fs_engine_release(fs_engine *e);

/* claim.c, evict.c */

/* Requires an op all of whose predecessors are issued, which is neither claimed nor running. */
fs_status fs_engine_claim(fs_engine *e, uint32_t op, bool last_resort, bool *done) FS_MUST_USE;
/* Puts a version that may leave on the list of victims.  Requires a version in a bounded memory. */
fs_status fs_engine_offer(fs_engine *e, uint32_t version) FS_MUST_USE;
fs_status fs_engine_arrived(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Requires an op that lacks something. */
fs_status fs_engine_lack_less(fs_engine *e, uint32_t op) FS_MUST_USE;

/* copies.c */

/* Requires a version of a memory that spills. */
fs_status fs_engine_want_write(fs_engine *e, uint32_t version, uint32_t position) FS_MUST_USE;
fs_status fs_engine_want_read(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Requires a version that is in or leaving, which nothing uses or copies. */
fs_status fs_engine_depart(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Requires a version of a bounded memory. */
fs_status fs_engine_drop_store(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Requires a bounded memory. */
fs_status fs_engine_unblock(fs_engine *e, uint32_t memory) FS_MUST_USE;
/* Is the copy (version * 2 + kind) still wanted, and can it start?  Requires a version in a bounded
 * memory. */
bool fs_engine_copy_valid(const fs_engine *e, uint32_t entry);
/* Requires that the copy is valid but for its place. */
fs_status fs_engine_start_copy(fs_engine *e, uint32_t entry, uint32_t queue) FS_MUST_USE;
/* Requires a copy that has started. */
fs_status fs_engine_end_copy(fs_engine *e, uint32_t copy) FS_MUST_USE;
/* Requires a version in a bounded memory. */
fs_status fs_engine_settle(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Room in a memory that an op needs for its outputs and scratch.  Requires a bounded memory. */
uint64_t fs_engine_own_room(const fs_engine *e, uint32_t op, uint32_t memory);

/* slots.c */
fs_status fs_engine_init_slots(fs_engine *e) FS_MUST_USE;
/* The slot's best candidate may be better now, or one of its queues is free.  Requires a slot. */
void fs_engine_wake(fs_engine *e, uint32_t slot);
/* The slot with the best candidate, and whether that is a copy; FS_NONE: nothing can start.
 * Requires slots that fs_engine_init_slots has made. */
fs_status fs_engine_best_slot(fs_engine *e, uint32_t *slot, bool *copy) FS_MUST_USE;

/* prefetch.c */
fs_status fs_engine_prepare_holds(fs_engine *e) FS_MUST_USE;
fs_status fs_engine_init_holds(fs_engine *e) FS_MUST_USE;
/* A read into the memory may be able to start now.  Requires a memory. */
void fs_engine_wake_memory(fs_engine *e, uint32_t memory);
/* The same for all bounded memories in which the op holds something.  Requires an op. */
void fs_engine_wake_held(fs_engine *e, uint32_t op);
/* A queue of the domain is free again.  Requires a domain. */
void fs_engine_open_domain(fs_engine *e, uint32_t domain);
/* The op is issued.  Requires an op that was not issued before. */
void fs_engine_drop_holds(fs_engine *e, uint32_t op);
/* Notes that the version is absent and a read could bring it in; fs_engine_wanted ends this once a
 * place is promised to it.  Requires a version in a bounded memory. */
void fs_engine_absent(fs_engine *e, uint32_t version);
/* Requires that fs_engine_absent was told of the version. */
void fs_engine_wanted(fs_engine *e, uint32_t version);
fs_status fs_engine_prefetch(fs_engine *e) FS_MUST_USE;

/* addresses.c */
/* Sets the addresses of all residencies, if some are found; nodes: of each search; 0:
 * they are placed greedily.  Requires a run by amounts in which all ops are done.  Complexity: that
 * of a search for addresses (placement.h) per memory. */
fs_status fs_engine_find_addresses(fs_engine *e, uint64_t nodes, bool *found) FS_MUST_USE;

/* failure.c: what is said of a run that found no schedule. */

/* Requires an op that has not started at its given start, which is now. */
void fs_engine_explain_missed(const fs_engine *e, uint32_t op);
/* Names the memory that the first unissued op cannot get into.  Requires an op that is not
 * issued. */
void fs_engine_explain_memory(const fs_engine *e);
/* Names the memory that has no room for given content, or for a store copy. */
void fs_engine_explain_stored(const fs_engine *e);

/* engine.c */

/* Requires an op that waits. */
fs_status fs_engine_soon(fs_engine *e, uint32_t op) FS_MUST_USE; /* all predecessors are issued */
/* Requires either a version or an op, and a place that is promised or taken. */
fs_status fs_engine_new_residency(fs_engine *e, uint32_t version, uint32_t op, uint32_t memory,
                                  uint32_t place, uint32_t *id) FS_MUST_USE;

/* The bounded memory that a version is in.  Requires a version in a bounded memory. */
static inline const fs_memory *fs_engine_memory_of(const fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  return &e->g->target.memory[e->v_memory[version]];
}
/* Nobody needs the version any more: no op to come, and no write-back.  Requires a version in a
 * bounded memory. */
static inline bool fs_engine_dies(const fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  return e->v_left[version] == 0 && e->v_pins[version] == 0 && !fs_version_stays(e->g, version) &&
         !(fs_version_kept(e->g, version) && e->v_dirty[version]);
}
/* Events from here on are no items. */
#define FS_ENGINE_WAKE (UINT32_MAX / 2)
/* queues.c */
/* A free queue of the domain, `preferred` if possible, or FS_NONE; with implicit queues n_queues
 * stands for one that is yet to be made.  Requires a domain. */
uint32_t fs_engine_free_queue(fs_engine *e, uint32_t domain, uint32_t preferred);
/* Requires a queue that is free, or with implicit queues the next one to be made. */
fs_status fs_engine_acquire(fs_engine *e, uint32_t queue, fs_tick until) FS_MUST_USE;
/* The item keeps the queue until `until`, and ends at `end`.  Raises *reached, which is at least
 * the end, to the time when all items of the queue up to this one have ended, unless ends count
 * alone.  Requires a queue as
 * fs_engine_acquire does, and until <= end. */
fs_status fs_engine_occupy(fs_engine *e, uint32_t queue, fs_tick until, fs_tick end,
                           fs_tick *reached) FS_MUST_USE;
/* The queue is free at `until`, which is before the event of its item.  Requires a queue that is
 * busy. */
fs_status fs_engine_free_at(fs_engine *e, uint32_t queue, fs_tick until) FS_MUST_USE;
/* Requires a queue that is busy. */
fs_status fs_engine_release_queue(fs_engine *e, uint32_t queue) FS_MUST_USE;
/* The one queue on which an op can run now though epochs of its predecessors are not reached: the
 * others of them have ended there, which queue order tells.  FS_NONE: there is none, or all are
 * reached.  Requires an op of the graph. */
uint32_t fs_engine_local_queue(const fs_engine *e, uint32_t op);
/* When an op with lags can start, as to its predecessors, all of which have started.  Requires an
 * op of the graph. */
fs_tick fs_engine_lag_ready(const fs_engine *e, uint32_t op);
/* The *n queues of an op; of a gang that chooses them, once it has started.  Requires an op of the
 * graph. */
const uint32_t *fs_engine_queues_of(const fs_engine *e, uint32_t op, uint32_t *n);
/* The queues of an op that can run on no others, and how many; 0 of one that chooses.  Requires an
 * op of the graph. */
const uint32_t *fs_engine_only_queues(const fs_engine *e, uint32_t op, uint32_t *n);
/* The queue for an op, FS_NONE if there is none; for a gang its first member.  Requires an op of
 * the graph. */
fs_status fs_engine_queue_for(fs_engine *e, uint32_t op, uint32_t *queue) FS_MUST_USE;
/* The op with a given start from now on and before `end` for which the queue is kept from `self`,
 * as it cannot use another one; FS_NONE: there is none.  Requires a queue, or the next one to be
 * made. */
uint32_t fs_engine_kept_for(const fs_engine *e, uint32_t self, uint32_t queue, fs_tick end);
/* The round is over: no queue is kept for a gang. */
void fs_engine_keep_none(fs_engine *e);

/* Ops that compete: a domain, or n_domains + gang.  Requires an op of the graph. */
static inline uint32_t fs_engine_slot(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  uint32_t gang = e->g->op_gang[op];
  return gang == FS_NONE ? e->g->op_domain[op] : e->g->target.n_domains + gang;
}
/* Position of the next unissued op that touches a version, or n_ops.  Requires a version in a
 * bounded memory. */
static inline uint32_t fs_engine_next_use(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  uint32_t *at = &e->v_next_use[version];
  while (*at < e->v_use0[version + 1] && e->op_phase[e->op_at[e->v_use[*at]]] >= FS_OP_RUNNING) {
    ++*at;
  }
  return *at < e->v_use0[version + 1] ? e->v_use[*at] : e->g->n_ops;
}
/* What each queue of an op has of it (graph.h); NULL: all are taken for its time.  Requires an op
 * of the graph. */
static inline const fs_rolled_part *fs_engine_parts(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  bool whole = e->g->op_gang[op] == FS_NONE || e->options->whole_loops;
  return whole ? NULL : fs_op_parts(e->g, op);
}
/* Whether the op, a loop or one behind a loop, may start while predecessors run (model/lags.h).
 * Requires an op of the graph. */
static inline bool fs_engine_lagged(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  return e->op_lagged != NULL && e->op_lagged[op] != 0 && !e->options->whole_loops;
}
/* How long an op keeps one of its queues at least, the same for all ops of its slot.  Requires an
 * op of the graph. */
static inline fs_tick fs_engine_keeps(const fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  const fs_rolled_part *part = e->g->op_gang[op] == FS_NONE ? NULL : fs_op_parts(e->g, op);
  return part == NULL ? e->g->op_time[op] : part[0].end - part[0].begin;
}
/* The distinct versions in bounded memories that an op touches. */
#define FS_ENGINE_EACH_VERSION(e, op, i, v)                                                       \
  for (uint32_t i = (e)->touch0[op], v; i < (e)->touch0[(op) + 1] && ((v = (e)->touch[i]), true); \
       i++)

#endif
