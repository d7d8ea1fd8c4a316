/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CUDA back ends, shared by their files:
 *   cuda/driver.c   the driver,            cuda/device.c   a device with the built-in kernels,
 *   cuda/plan.c     what in what order,    cuda/modules.c  kernels of modules,
 *   cuda/program.c  what the slots of a program share,
 *   cuda/slot.c     memory, streams and events of a slot,
 *   cuda/build.c    what kernels are launched with,
 *   cuda/issue.c    an invocation by streams and events,
 *   cuda/graph.c    an invocation by one launch of a graph,
 *   cuda/worker.c   the thread of a slot,
 *   cuda/watch.c    waiting for the device, and what hangs there,
 *   cuda.c          both back ends.
 *
 * A slot's thread does whatever calls the driver: it puts given content in place, issues, waits,
 * and takes kept content out.  Between two invocations all of its streams are empty, so nothing of
 * one can meet anything of the next.
 *
 * A kernel that hangs and was given up is still there.  From then on nothing of the device is
 * freed, unloaded or closed, in no slot, pool or program, as that would wait for it; and nothing is
 * made. */
#ifndef FS_EXEC_CUDA_H
#define FS_EXEC_CUDA_H

#include <pthread.h>

#include "exec/cuda/kernels/call.h"
#include "exec/cuda/modules.h"
#include "exec/cuda/plan.h"
#include "exec/host/backend.h"

typedef struct fs_cuda_program fs_cuda_program;

struct fs_machine {
  fs_allocator allocator;
  fs_cuda_device device;
  pthread_mutex_t lock; /* of the programs */
  fs_cuda_program *programs;
  _Atomic uint32_t lost; /* a kernel on it was given up */
  fs_module_rule rule;
  char modules[4096]; /* its directory */
  char note[160];
};

/* What all slots of a program share. */
struct fs_cuda_program {
  fs_cuda_program *next;
  fs_machine *machine;
  const fs_stream *s; /* by which it is found; NULL: no more, as a slot of it is lost */
  bool empty;         /* without kernels of modules */
  bool watched;       /* it has some, which may hang: each item has an event */
  uint32_t references;
  fsched_context *ctx; /* of its own, for its memory */
  fs_arena arena;
  fs_cuda_plan plan;
  fs_cuda_modules modules;
  uint32_t *kept0, *kept_writer;    /* per kept item: the items that write it */
  uint32_t *lane_first, *lane_next; /* per lane of the plan, and item: an item of it; FS_NONE */
  uint8_t *foreign;                 /* per item: its kernel is of a module */
};

/* Who has the thread of a slot; cuda/watch.c. */
enum { FS_CUDA_WORKS, FS_CUDA_WAITS, FS_CUDA_CALLS, FS_CUDA_LOST };

/* What a lane of the plan is at. */
typedef struct fs_cuda_position {
  uint32_t item;             /* the first that is not known to be over; FS_NONE */
  _Atomic uint32_t runs;     /* it, if it is a kernel of a module and has begun; FS_NONE */
  _Atomic uint64_t since_ns; /* ... when, or when its pace is over */
} fs_cuda_position;

/* With what a kernel is launched. */
typedef struct fs_cuda_launch {
  fs_cu_function function; /* NULL: nothing to launch */
  unsigned grid[3], block[3], shared_bytes;
  void **params;
} fs_cuda_launch;

/* What an item does, besides what the plan says of it. */
typedef struct fs_cuda_work {
  fs_cuda_launch launch;  /* a RUN */
  fs_cu_address call;     /* its call, for built-in kernels and digests; 0: none */
  fs_cu_address from, to; /* a COPY */
  uint64_t size;
  bool from_host, to_host;
} fs_cuda_work;

/* What an invocation was built for; the next one that is the same finds it done. */
typedef struct fs_cuda_build {
  bool valid, timed, digests;
  fs_cu_address block; /* of the pooled memories */
  bool has_values;
} fs_cuda_build;

/* A graph, for pooled memories at that place. */
typedef struct fs_cuda_made {
  fs_cu_address block;
  fs_cu_graph graph;
  fs_cu_executable executable;
} fs_cuda_made;
enum { FS_CUDA_MADE = 4 }; /* graphs that a slot keeps */

struct fs_instance {
  fsched_context *own;
  const fs_stream *s;
  const fs_io *io;
  fs_machine *machine;
  fs_cuda_program *program;
  fs_backend_config config;
  bool graph;
  fs_arena arena;

  /* Memory.  The host's block: stores, calls and digests on their way, content on its way. */
  fs_cu_address block, aux; /* own memories unless pooled; calls and digests */
  uint8_t *pinned;
  uint64_t block_bytes, aux_bytes, pinned_bytes;
  uint64_t staged_aux;                  /* offset in the host's block */
  uint64_t *staged_given, *staged_kept; /* per item: offset in the host's block */
  uint64_t digests;                     /* offset in aux; a word per op */
  fs_cu_address *base;                  /* per memory: the block it lies in */

  /* Streams and events. */
  uint32_t n_lanes; /* of the plan, or 1 for a graph; then `in` and `out` */
  fs_cu_stream *lane;
  uint32_t n_streams;
  fs_cu_event *event, *given_event, *kept_event, done;
  uint32_t n_events, n_given_events, n_kept_events;
  fs_cu_event *time; /* two per item and one of the begin; as far as they were wanted */
  uint32_t n_times;

  /* What was built. */
  fs_cuda_build built;
  int64_t *values;    /* per arg of the stream */
  fs_cuda_work *todo; /* per item */
  uint64_t *call;     /* per item: offset of its call in aux; UINT64_MAX */
  uint64_t *param;    /* values of parameters */
  void **params;      /* pointers to them */
  fs_cuda_made made[FS_CUDA_MADE];
  uint32_t n_made, next_made; /* the one that gives way */
  fs_cu_executable executable;

  /* The running invocation; by the thread, but for what is atomic. */
  const fs_work *work;
  _Atomic uint64_t begin_ns;
  uint8_t *issued; /* per item */
  uint32_t n_issued;
  uint32_t *kept_left;  /* per kept item: writers that were not issued */
  uint32_t *kept_order; /* kept items that are on their way, in the order in which they come */
  uint32_t n_coming, n_come;
  uint8_t *given_there;          /* per given item */
  uint8_t *given_made;           /* per given item: its room holds the content made from its name */
  uint8_t *given_waited;         /* per given item and lane: the lane waits for it */
  _Atomic uint32_t *given_ready; /* per given item */

  fs_cuda_position *at; /* per lane of the plan */
  uint8_t *over;        /* per item */
  uint32_t n_over;
  uint64_t *pace;            /* per item: ns that it is held back; NULL: none is */
  uint64_t seen_looks, told; /* the watchdog's: looks at its last one; moves when it has reported */

  pthread_t thread;
  bool started;
  _Atomic uint32_t hold; /* FS_CUDA_WORKS... */
  _Atomic uint64_t looks;
  _Atomic uint64_t go;   /* invocations that were started */
  _Atomic uint32_t turn; /* futex word: changes with go, ready, poison and stop */
  _Atomic uint32_t poisoned, stop;
  _Atomic fsched_cause cause;
  _Atomic uint64_t moves;
  _Atomic uint32_t waits_item, waits_given; /* FS_NONE: does not wait for content */
};

/* cuda/program.c: found or made; given back. */
fs_status fs_cuda_program_get(fsched_context *ctx, fs_machine *machine, const fs_stream *s,
                              const fs_io *io, bool empty, fs_cuda_program **out) FS_MUST_USE;
/* Requires a reference. */
void fs_cuda_program_give(fs_cuda_program *p);
/* For good: its stream may go, and the rest stays. */
void fs_cuda_program_lose(fs_cuda_program *p);

/* cuda/slot.c: in the device's context. */
fs_status fs_cuda_slot_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
void fs_cuda_slot_release(fs_instance *x);

/* A failure of the driver is told to the core and poisons. */
bool fs_cuda_ok(fs_instance *x, const char *call, fs_cu_result result) FS_MUST_USE;
/* A call of the driver in the course of an invocation, or while it is built, with its result.  A
 * thread that is given up meanwhile does not come back from it. */
void fs_cuda_enter_driver(fs_instance *x);
fs_cu_result fs_cuda_leave_driver(fs_instance *x, fs_cu_result result);
#define FS_CUDA_CALL(x, call, args) \
  (fs_cuda_enter_driver(x), fs_cuda_leave_driver((x), (x)->machine->device.cuda.api.call args))
#define FS_CUDA_DO(x, call, args) fs_cuda_ok((x), #call, FS_CUDA_CALL(x, call, args))

/* cuda/watch.c.  By the slot's thread: before an invocation; a look at what is over; sleeps, until
 * `turn` changes at the latest; until an event or all of a stream is over, or fewer than `ahead`
 * items are not.  False: poisoned.  A thread that is given up meanwhile does not come back. */
void fs_cuda_watch_reset(fs_instance *x);
bool fs_cuda_look(fs_instance *x) FS_MUST_USE;
void fs_cuda_rest(fs_instance *x, uint32_t turn, uint64_t ns);
bool fs_cuda_await_event(fs_instance *x, fs_cu_event event) FS_MUST_USE;
bool fs_cuda_await_stream(fs_instance *x, fs_cu_stream stream) FS_MUST_USE;
bool fs_cuda_await_room(fs_instance *x, uint32_t ahead) FS_MUST_USE;
/* By the watchdog; as of fs_backend.  Names what hangs, if something does. */
uint64_t fs_cuda_progress(fs_instance *x, bool *idle);
bool fs_cuda_report_hanging(fs_instance *x, fsched_context *ctx);
bool fs_cuda_give_up(fs_instance *x);

/* cuda/build.c: what the invocation wants, unless it is there.  False: poisoned. */
bool fs_cuda_build_for(fs_instance *x) FS_MUST_USE;

/* cuda/issue.c: content, by either back end, on that stream.  Requires a given item. */
bool fs_cuda_put(fs_instance *x, uint32_t item, fs_cu_stream stream) FS_MUST_USE;
/* Requires a kept item. */
void fs_cuda_hand_over(fs_instance *x, uint32_t item);
/* All that can be issued now; false: poisoned.  *wants: the given item that the first item waits
 * for which could not be; FS_NONE when all is issued. */
bool fs_cuda_issue(fs_instance *x, uint32_t *wants) FS_MUST_USE;
/* After all is issued: the join, and what is taken out at the end. */
bool fs_cuda_issue_end(fs_instance *x) FS_MUST_USE;
/* The launches that go with an item; false where there is none.  Requires an item of the plan. */
bool fs_cuda_pace_launch(const fs_instance *x, uint32_t item, uint64_t *ns, void **params,
                         fs_cuda_launch *out);
/* Requires an item of the plan. */
bool fs_cuda_digest_launch(fs_instance *x, uint32_t item, void **params, fs_cuda_launch *out);

/* cuda/graph.c: the graph of what is built, found or made; all of a slot's; its launch. */
bool fs_cuda_graph_find(fs_instance *x) FS_MUST_USE;
void fs_cuda_graph_drop(fs_instance *x);
bool fs_cuda_graph_launch(fs_instance *x, uint32_t *wants) FS_MUST_USE;

/* cuda/worker.c */
void *fs_cuda_worker(void *instance);
void fs_cuda_wake(fs_instance *x);
/* Requires a cause. */
void fs_cuda_poison(fs_instance *x, fsched_cause cause);

static inline bool fs_cuda_poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed) != 0;
}
/* Requires a kept item. */
static inline bool fs_cuda_wanted(const fs_instance *x, uint32_t kept_item) {
  assert(kept_item < x->io->n_kept);
  return x->work->kept != NULL && x->work->kept[kept_item] != NULL;
}
/* How long the item is held back before it does what it does.  Requires an item of the plan. */
static inline uint64_t fs_cuda_pace_ns(const fs_instance *x, uint32_t item) {
  assert(item < x->program->plan.n_items);
  return x->pace == NULL ? 0 : x->pace[item];
}
/* Whether the kept item is wanted, and taken out when everything has run.  Requires a kept item. */
static inline bool fs_cuda_at_end(const fs_instance *x, uint32_t kept_item) {
  assert(kept_item < x->io->n_kept);
  return (x->graph || x->io->kept[kept_item].touches == 0) && fs_cuda_wanted(x, kept_item);
}
static inline fs_cu_stream fs_cuda_in(const fs_instance *x) {
  return x->graph ? x->lane[0] : x->lane[x->n_lanes];
}
static inline fs_cu_stream fs_cuda_out(const fs_instance *x) {
  return x->graph ? x->lane[0] : x->lane[x->n_lanes + 1];
}
/* Requires a memory of the stream. */
static inline fs_cu_address fs_cuda_at(const fs_instance *x, uint32_t memory, uint64_t address) {
  assert(memory < x->s->n_memories);
  return x->base[memory] + fs_io_at(x->io, memory, address);
}

#endif
