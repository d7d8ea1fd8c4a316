/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the back end "dynamic", which submits a program's ops one by one:
 *   program/plan.c    what is known of the stream before it runs: order, lives, heaps,
 *   program/order.c   finds loops that are not submitted in program order,
 *   program/walk.c    submits the ops of an invocation, to workers or to an engine alone,
 *   program/kernels.c is what workers run,
 *   program/attach.c  what those need that are no forks of the process,
 *   program/program.c starts and ends instances.
 *
 * Commands, waits and copies of the stream are not used.  An op is a task, and so is each instance
 * of an op in a loop; which of them may start follows from their args, `after`, the amounts that
 * they use, and what is idle.  An op that the stream has `by_class` runs on any idle queues of that
 * class, as many as it has commands; any other one on the queues of its commands.
 *
 * Memory.  What is given or kept has memory of its own.  Each other version, and each scratch, is a
 * piece of the heap of its memory.  A version lives from its first writer's submission until its
 * last user, in the order of submission, has ended; scratch as long as its task. */
#ifndef FS_DYNAMIC_PROGRAM_H
#define FS_DYNAMIC_PROGRAM_H

#include <pthread.h>

#include "exec/dynamic/workers.h"
#include "exec/host/host.h"
#include "exec/host/loops.h"
#include "model/stream/loop_walk.h"

/* What a worker needs to know of a member; it is the block of parameters of its call. */
typedef struct fs_program_level {
  uint32_t loop_command, op; /* of the loop's: the op at hand, or the one that is the next loop */
  uint64_t iteration, before;
} fs_program_level;

typedef struct fs_program_key {
  uint32_t op;      /* of the stream */
  uint32_t depth;   /* 0: it is that op; else an instance, so many loops in */
  bool moves;       /* the task only moves a value of a ring to another slot */
  uint32_t command; /* of the stream: that of the op */
  uint32_t n_members;
  uint32_t gang;                        /* FS_NONE: it has one member */
  fs_program_level level[FS_LOOP_NEST]; /* the outermost loop first */
} fs_program_key;

/* What the members of a task tell each other. */
typedef struct fs_program_gang {
  _Atomic uint64_t digest; /* the sum of those of members with args of their own */
  _Atomic uint32_t ended;  /* such members */
  _Atomic uint32_t over;   /* 1: the member that runs for all has ended */
} fs_program_gang;

/* What workers and the submitting process both see and write: in memory that forked workers share
 * with it. */
typedef struct fs_program_shared {
  _Atomic uint32_t poisoned;  /* effects are left out; futex word */
  _Atomic uint32_t broken;    /* a member has failed: gangs do not wait for it */
  _Atomic fsched_cause cause; /* of the first kernel that has failed */
  _Atomic uint64_t moves;
  _Atomic uint32_t n_builtin; /* members at work outside of kernels of modules */
  _Atomic uint32_t gang_news; /* futex word: some gang is over, or broken */
  /* Of the invocation; written while nothing runs. */
  uint64_t begin_ns;
  bool digests, times; /* wanted */
} fs_program_shared;

/* The commands of an op of a loop's body, by copy. */
typedef struct fs_body_command {
  uint32_t copy, queue, command; /* command: of loop_commands */
} fs_body_command;

struct fs_instance {
  fsched_context *ctx; /* the instance's own */
  const fs_stream *stream;
  const fs_io *io;
  fs_backend_config config;
  const fsched_device_options *options;
  fs_arena arena;
  fs_kernels kernels;
  fs_effects effects;

  /* plan.c */
  fs_loops loops;
  uint32_t *order;                /* of ops; NULL: program order */
  uint32_t *command;              /* per op: its first command; FS_NONE: it has none */
  uint32_t *op_command;           /* per op_queue */
  uint32_t *op_queue0, *op_queue; /* CSR per op: the queues of its commands */
  uint32_t *body0;                /* CSR per op of loops */
  fs_body_command *body;
  uint32_t n_queues;               /* at least one */
  uint32_t *class_of;              /* per queue */
  const char **queue_name;         /* per queue; NULL: the stream has none */
  bool *host;                      /* per queue: it is a thread of this process */
  uint8_t **own;                   /* per version: its own memory, or NULL */
  uint32_t *last_use;              /* per version: the last op with it; FS_NONE */
  bool any_after;                  /* some op names another one */
  fs_heap_room *room;              /* per memory: its heap */
  uint32_t n_heaps;                /* at least one */
  uint64_t *capacity;              /* per resource */
  void *block;                     /* of all own memory */
  uint64_t block_bytes, own_align; /* own_align: the most that a version is aligned to */

  fs_workers *workers;
  fs_effect_room *hand_room; /* of each hand, in this process */
  uint32_t n_hands;
  /* In memory that workers share, from shared_at on. */
  void *shared_at;
  fs_program_shared *shared;
  fs_hand *hand;         /* per queue: what its worker runs */
  fs_program_gang *gang; /* of each task with several members, in the order of submission */
  uint32_t n_gangs;
  _Atomic uint64_t *digest, *begin, *end; /* per op, and per command; begin UINT64_MAX: never */
  size_t shared_bytes;
  bool processes; /* the workers are processes */
  bool spawns;    /* and programs of their own */
  bool shares;    /* what is shared lies in the memory of these */

  pthread_t thread; /* submits */
  pthread_mutex_t lock;
  pthread_cond_t news;
  bool has_lock, has_thread, stop;
  bool *ready; /* per given item */
  uint32_t n_missing;
  const fs_work *work;
  uint64_t next; /* invocations so far */
  _Atomic fsched_cause cause;
  atomic_bool waits, walks; /* for content; through the ops */
};

static inline bool fs_program_poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->shared->poisoned, memory_order_relaxed) != 0;
}
/* Effects are left out from now on; the first cause counts.  Requires a cause. */
void fs_program_poison(fs_instance *x, fsched_cause cause);

/* The hazards by which tasks are ordered: slots of rings are used again. */
fsched_hazards fs_program_hazards(const fs_stream *s);
/* plan.c.  Makes all but the threads.  Errors, reported to ctx: FSCHED_INFEASIBLE: a heap is too
 * small, with need and have; FSCHED_SYSTEM; FSCHED_REPLAY: a kernel is missing. */
fs_status fs_program_plan(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
void fs_program_unplan(fs_instance *x);
/* Sets where all is that workers share, from shared_at on, and its size; without that (NULL) the
 * size alone. */
void fs_program_place_shared(fs_instance *x);
/* Which ops may run in a process where workers are processes: all but those on queues of the host
 * alone; also those of loops.  In the instance's arena. */
fs_status fs_program_find_away(fs_instance *x, uint8_t **op, uint8_t **loop_op) FS_MUST_USE;
/* Finds what kernels in a process that was not forked need to know of the stream.  Requires that
 * place.  Errors: FSCHED_REPLAY: a kernel is missing; FSCHED_SYSTEM. */
fs_status fs_program_learn(fsched_context *ctx, fs_instance *x) FS_MUST_USE;

/* attach.c.  The bytes of memory that workers which are not forked have to share besides what is
 * given or kept. */
uint64_t fs_program_share_bytes(const fs_instance *x);
/* Takes these bytes, the first of that memory, and puts all there that they need.  Requires
 * workers, and no task yet.  Errors: as fs_workers_memory. */
fs_status fs_program_share(fs_instance *x) FS_MUST_USE;
/* What a worker has of such a program. */
typedef struct fs_program_attached {
  fsched_context *ctx;
  unsigned char *shared; /* the memory */
  /* As in fsched_device_options. */
  void (*kernel_runs)(void *runs_user, const fsched_kernel_run *run);
  void *runs_user;
  fs_instance x;
  bool tried;
  fs_status status;
} fs_program_attached;
/* The function of its tasks; `user` is an fs_program_attached. */
int fs_program_serve(const fs_started_member *member, void *user);
/* The name of that kernel. */
#define FS_PROGRAM_KERNEL "op of a program"
/* Moves the memory of what is given or kept to where worker processes reach it.  Errors: as
 * fs_workers_memory. */
fs_status fs_program_move_own(fs_instance *x) FS_MUST_USE;

/* order.c.  Makes a walk for each loop, empty (`s` is NULL) where program order will do. */
fs_status fs_program_orders(fs_arena *arena, const fs_stream *s, fs_loop_walk **out) FS_MUST_USE;

/* walk.c.  Submits all ops.  `extent` (may be NULL: then it is to the workers): to an engine alone,
 * in which each task ends when memory is wanted; extent is raised to what each heap needs, and
 * n_gangs is set. */
fs_status fs_program_walk(fsched_context *ctx, fs_instance *x, const uint64_t *trips,
                          uint64_t *extent) FS_MUST_USE;

/* kernels.c: the function of all tasks; `user` is the instance. */
int fs_program_run(const fs_started_member *started, void *user);

#endif
