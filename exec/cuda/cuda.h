/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CUDA back ends, shared by their files:
 *   cuda/driver.c   the driver,            cuda/device.c   a device with the built-in kernels,
 *   cuda/plan.c     items and their order, cuda/modules.c  kernels of modules,
 *   cuda/program.c  what the slots of a program share,
 *   cuda/slot.c     memory, streams and events of a slot,
 *   cuda/host.c     what queues of the host do,
 *   cuda/threads.c  those as threads, beside streams,
 *   cuda/build.c    launch parameters,     cuda/views.c   strided views among them,
 *   cuda/issue.c    an invocation by streams and events,
 *   cuda/loops/     loops in it,
 *   cuda/graph.c    an invocation by one launch of a graph,
 *   cuda/worker.c   the thread of a slot,
 *   cuda/watch.c    waiting for the device, and kernels that hang,
 *   cuda.c          both back ends.
 *
 * During an invocation, the slot's thread makes all calls of the driver: it puts given content in
 * place, issues, waits, and takes kept content out.  Between two invocations all of its streams are
 * empty, and the threads of queues of the host have nothing to do, so work of one invocation cannot
 * meet work of the next.
 *
 * A kernel that hangs and was given up still runs.  From then on no slot, pool or program frees,
 * unloads or closes anything on the device, as that would wait for the kernel; and nothing new is
 * made there. */
#ifndef FS_EXEC_CUDA_H
#define FS_EXEC_CUDA_H

#include <pthread.h>

#include "exec/cuda/host.h"
#include "exec/cuda/kernels/call.h"
#include "exec/cuda/modules.h"
#include "exec/cuda/plan.h"
#include "exec/cuda/threads.h"
#include "exec/host/backend.h"
#include "exec/host/instances.h"
#include "exec/host/kernel.h"
#include "exec/host/stuck.h"
#include "model/shown.h"
#include "model/stream/loop_walk.h"

typedef struct fs_cuda_program fs_cuda_program;

struct fs_machine {
  fs_allocator allocator;
  fs_cuda_device device;
  pthread_mutex_t lock; /* guards `programs` */
  fs_cuda_program *programs;
  _Atomic uint32_t lost; /* a kernel on it was given up */
  fs_module_rule rule;
  fsched_device_options options; /* for kernels of the host */
  char modules[4096];            /* the modules' directory */
  char note[160];
};

/* The part of a program that all of its slots share. */
struct fs_cuda_program {
  fs_cuda_program *next;
  fs_machine *machine;
  const fs_stream *s; /* its key in the list; NULL: cannot be found, as one of its slots is lost */
  bool empty;         /* without kernels of modules */
  bool threads;       /* its queues of the host are threads; else what they do is in a graph */
  bool watched;       /* it has kernels of modules, which may hang: each item has an event */
  uint32_t references;
  fsched_context *ctx; /* the program's own, for its memory */
  fs_arena arena;
  fs_cuda_plan plan;
  fs_cuda_modules modules;
  fs_cuda_host_ops hosts;
  uint32_t *kept0, *kept_writer;    /* per kept item: the items that write it */
  uint32_t *lane_first, *lane_next; /* per lane of the plan: its first item; per item: the next one
                                       on its lane; FS_NONE: none */
  uint8_t *foreign;                 /* per item: 1 if its kernel is of a module */
};

/* States of a slot's thread; see cuda/watch.c. */
enum { FS_CUDA_WORKS, FS_CUDA_WAITS, FS_CUDA_CALLS, FS_CUDA_LOST };

/* How far a lane of the plan is. */
typedef struct fs_cuda_position {
  uint32_t item;             /* the first item that is not known to be over; FS_NONE: none */
  _Atomic uint32_t runs;     /* the same if it is a module's kernel that has begun; else FS_NONE */
  _Atomic uint64_t since_ns; /* when that kernel has begun, or when its pace is over */
} fs_cuda_position;

/* The parameters of a kernel launch. */
typedef struct fs_cuda_launch {
  fs_cu_function function; /* NULL: nothing to launch */
  unsigned grid[3], block[3], shared_bytes;
  void **params;
} fs_cuda_launch;

/* What an item does; the plan says when. */
typedef struct fs_cuda_work {
  fs_cuda_launch launch;  /* a RUN */
  fs_cu_address call;     /* the fs_cuda_call, for built-in kernels and digests; 0: none */
  fs_cu_address from, to; /* a COPY */
  uint64_t size;
  bool from_host, to_host;
  bool host; /* a function of the host, in place of all that */
} fs_cuda_work;

/* What the launches were built for; the next invocation that is alike uses them again. */
typedef struct fs_cuda_build {
  bool valid, timed, digests, instances; /* instances: when they run */
  fs_cu_address block;                   /* of the pooled memories */
  bool has_values;
} fs_cuda_build;

/* A graph for pooled memories at `block`. */
typedef struct fs_cuda_made {
  fs_cu_address block;
  fs_cu_graph graph;
  fs_cu_executable executable;
} fs_cuda_made;
enum { FS_CUDA_MADE = 4 }; /* graphs that a slot keeps */

/* One call of an instance of a loop, or one meeting of queues there, on its way; see
 * cuda/loops/streams.c. */
typedef struct fs_cuda_record {
  bool marked;         /* its call is issued: */
  fs_cuda_point point; /* behind it */
  fs_loop_instance at[FS_LOOP_NEST];
  uint32_t n_around; /* instances in `at`, the innermost first */
  uint32_t lane;     /* of foreign ones: which of the streams for loops */
  bool digests;      /* a digest comes */
  bool foreign;      /* its kernel is of a module and not known to be over */
  bool host;         /* a thread runs it, whose task has the digest */
} fs_cuda_record;
enum { FS_CUDA_RECORDS = 128 }; /* the most that a slot has */

typedef struct fs_cuda_latest {
  uint64_t record, iteration;
} fs_cuda_latest;

/* A call of an instance in a graph whose kernel is of a module. */
typedef struct fs_cuda_foreign {
  fs_running what;
  uint32_t lane, next; /* the next one of its queue; FS_NONE: none */
} fs_cuda_foreign;

/* Kernels of modules that a queue runs in loops.  The atomic members are for the watchdog. */
typedef struct fs_cuda_loop_position {
  uint32_t first, last, now; /* in a graph: of `foreign`; `now` is not known to be over; FS_NONE */
  _Atomic uint64_t runs;     /* a number of the one that runs; 0: none does */
  _Atomic uint64_t since_ns;
  _Atomic uint32_t command, loop_op, depth; /* of fs_running, and so are the iterations */
  _Atomic uint64_t iteration[FS_LOOP_NEST];
} fs_cuda_loop_position;

/* Times of instances; see cuda/loops/times.c. */
typedef struct fs_cuda_times {
  fs_shown_walk *walk;  /* per loop queue: through what is shown of its present run */
  uint32_t *slot;       /* per loop command: of its present instance; FS_NONE: it is not shown */
  uint32_t *pair;       /* per slot: its events; FS_NONE: none are recorded */
  uint64_t *noted;      /* two per pair, on threads: ns; UINT64_MAX: they are events */
  fs_cu_event *event;   /* per pair: when an instance begins, and when it ends */
  uint32_t n, n_events; /* slots that there is room for; events that are made */
} fs_cuda_times;

/* What a slot has for loops; all 0 without them. */
typedef struct fs_cuda_loops {
  fs_loops loops;
  fs_loop_walk *walk; /* per depth */
  uint32_t *queue_of; /* per loop command: queue of the stream */
  uint32_t *call_of;  /* per loop command: the call that it is of its instance's */
  uint64_t *sum;      /* per loop: its digest so far */
  uint64_t part;      /* the digest so far of an instance of which not all calls are added */
  fs_cuda_times times;

  /* One instance at a time; see cuda/loops/calls.h. */
  uint64_t call_bytes; /* of a call's room */
  uint64_t *param;     /* of its launch */
  void **params;
  uint64_t *pace; /* per op of a loop: ns by which it is held back; NULL: none is */
  char *name;     /* room for its name */

  /* Queues that are in loops have numbers, and on streams each has one of its own for that. */
  uint32_t *stream_of;           /* per queue: its number; FS_NONE: none */
  uint32_t n_streams, n_threads; /* the last numbers are those of threads */
  fs_cuda_loop_position *at;     /* per number */

  /* Offsets of calls, and of a word for each digest: on streams per record, in the host's block; in
   * a graph per call, in aux. */
  uint64_t calls, digests;
  fs_cu_event *event, *begun; /* per record, or per foreign call: behind its kernel, before it */
  uint32_t n_events, n_begun;

  /* In a graph. */
  uint64_t n_calls; /* of all instances */
  fs_cuda_foreign *foreign;
  uint32_t n_foreign;

  /* On streams. */
  uint32_t lane0; /* the streams are from lane[lane0] on; queues that are threads have none */
  uint32_t n_records;
  fs_cuda_record *record; /* used in turn */
  uint64_t taken;         /* records taken in this invocation */
  uint64_t over;          /* the kernels of all records before this one are over */
  fs_cuda_latest *latest; /* per loop command: its latest iterations, in turn */
  uint8_t *behind;        /* per stream: in a look, the first kernel that is not over was seen */
} fs_cuda_loops;

struct fs_instance {
  fsched_context *own;
  const fs_stream *s;
  const fs_io *io;
  fs_machine *machine;
  fs_cuda_program *program;
  fs_backend_config config;
  bool graph;
  fs_arena arena;

  /* Memory.  The host's block (`pinned`): stores, and the calls, digests and content that are on
   * their way to or from the device. */
  fs_cu_address block, aux; /* own memories unless pooled; calls and digests */
  uint8_t *pinned;
  uint64_t block_bytes, aux_bytes, pinned_bytes;
  uint64_t staged_aux;                  /* offset in the host's block */
  uint64_t *staged_given, *staged_kept; /* per item: offset in the host's block */
  uint64_t digests;    /* offset in aux of the digests, a word per op, call of a graph, member */
  fs_cu_address *base; /* per memory: the block it lies in */

  /* Streams and events. */
  uint32_t n_lanes; /* lanes of the plan that are streams, at least 1, or 1 for a graph; without
                     * `in` and `out` */
  fs_cu_stream *lane;
  uint32_t n_streams;
  fs_cu_event *event, *given_event, *kept_event, done;
  uint32_t n_events, n_given_events, n_kept_events;
  fs_cu_event *time; /* two per item and one for the begin; made when times are first wanted */
  uint32_t n_times;

  /* The launches that were built. */
  fs_cuda_build built;
  int64_t *values;    /* per arg of the stream */
  fs_cuda_work *todo; /* per item */
  uint64_t *call;     /* per item: offset of its call in aux; UINT64_MAX: none */
  uint64_t *param;    /* values of kernel parameters */
  void **params;      /* pointers to these */
  fs_cuda_made made[FS_CUDA_MADE];
  uint32_t n_made, next_made; /* graphs kept; the one to be replaced next */
  fs_cu_executable executable;

  fs_cuda_loops loops;
  fs_cuda_hosts hosts;
  fs_cuda_threads threads;

  /* The running invocation.  Only the slot's thread uses the members that are not atomic. */
  const fs_work *work;
  _Atomic uint64_t begin_ns;
  uint8_t *issued; /* per item */
  uint32_t n_issued;
  uint32_t *kept_left;  /* per kept item: writers that are not issued yet */
  uint32_t *kept_order; /* kept items on their way to the host, in the order in which they arrive */
  uint32_t n_coming, n_come;
  uint8_t *given_there;          /* per given item */
  uint8_t *given_made;           /* per given item: its room holds the content made from its name */
  uint8_t *given_waited;         /* per given item and lane: the lane waits for it */
  _Atomic uint32_t *given_ready; /* per given item */

  fs_cuda_position *at; /* per lane of the plan */
  uint8_t *over;        /* per item */
  uint32_t n_over;
  uint64_t *pace;            /* per item: ns by which it is held back; NULL: no item is */
  uint64_t seen_looks, told; /* the watchdog's: last seen `looks`; last reported `moves` */

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

typedef struct fs_cuda_kind {
  bool empty, graph;
} fs_cuda_kind;
/* cuda/program.c: finds or makes the program of a stream; gives it back. */
fs_status fs_cuda_program_get(fsched_context *ctx, fs_machine *machine, const fs_stream *s,
                              const fs_io *io, fs_cuda_kind kind,
                              fs_cuda_program **out) FS_MUST_USE;
/* Requires a reference. */
void fs_cuda_program_give(fs_cuda_program *p);
/* Gives a program up for good: its stream may go, and its other parts stay. */
void fs_cuda_program_lose(fs_cuda_program *p);

/* cuda/slot.c.  The device's context must be current. */
fs_status fs_cuda_slot_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
void fs_cuda_slot_release(fs_instance *x);

/* Whether the call succeeded.  A failure is told to the core and poisons the instance. */
bool fs_cuda_ok(fs_instance *x, const char *call, fs_cu_result result) FS_MUST_USE;
/* Enclose a call of the driver in the course of an invocation, or while it is built; `leave`
 * returns the call's result.  A thread that is given up meanwhile does not come back from it. */
void fs_cuda_enter_driver(fs_instance *x);
fs_cu_result fs_cuda_leave_driver(fs_instance *x, fs_cu_result result);
#define FS_CUDA_CALL(x, call, args) \
  (fs_cuda_enter_driver(x), fs_cuda_leave_driver((x), (x)->machine->device.cuda.api.call args))
#define FS_CUDA_DO(x, call, args) fs_cuda_ok((x), #call, FS_CUDA_CALL(x, call, args))

/* cuda/watch.c.  The slot's thread calls these: before an invocation; to look which items are over;
 * to sleep, until `turn` changes at the latest; to wait until an event or all of a stream is over,
 * or until fewer than `ahead` items are not over.  False: poisoned.  A thread that is given up
 * meanwhile does not come back. */
void fs_cuda_watch_reset(fs_instance *x);
bool fs_cuda_look(fs_instance *x) FS_MUST_USE;
void fs_cuda_rest(fs_instance *x, uint32_t turn, uint64_t ns);
bool fs_cuda_await_event(fs_instance *x, fs_cu_event event) FS_MUST_USE;
bool fs_cuda_await_stream(fs_instance *x, fs_cu_stream stream) FS_MUST_USE;
/* The same for a point, or until the invocation is poisoned, if it then `stops`.  False: poisoned
 * by the device. */
bool fs_cuda_await_point(fs_instance *x, const fs_cuda_point *point, bool stops) FS_MUST_USE;
bool fs_cuda_await_room(fs_instance *x, uint32_t ahead) FS_MUST_USE;
/* The watchdog calls these; see fs_backend.  The second names the kernels that hang, if any do. */
uint64_t fs_cuda_progress(fs_instance *x, bool *idle);
bool fs_cuda_report_hanging(fs_instance *x, fsched_context *ctx);
bool fs_cuda_give_up(fs_instance *x);

/* cuda/build.c: builds the launches that the invocation wants, unless they are there.  False:
 * poisoned. */
bool fs_cuda_build_for(fs_instance *x) FS_MUST_USE;

/* cuda/issue.c: puts content in place, for either back end, on that stream.  Requires a given
 * item. */
bool fs_cuda_put(fs_instance *x, uint32_t item, fs_cu_stream stream) FS_MUST_USE;
/* Hands content that has come to the host over to the core.  Requires a kept item. */
void fs_cuda_hand_over(fs_instance *x, uint32_t item);
/* Issues all items that can be issued now; false: poisoned.  *wants: the given item for which the
 * first item that could not be issued waits; FS_NONE when all are issued. */
bool fs_cuda_issue(fs_instance *x, uint32_t *wants) FS_MUST_USE;
/* Once all items are issued: issues the join, and the copies of content that is taken out at the
 * end. */
bool fs_cuda_issue_end(fs_instance *x) FS_MUST_USE;
/* The pace kernel and the digest kernel that go with an item; false where there is none.  Requires
 * an item of the plan. */
bool fs_cuda_pace_launch(const fs_instance *x, uint32_t item, uint64_t *ns, void **params,
                         fs_cuda_launch *out);
/* Requires an item of the plan. */
bool fs_cuda_digest_launch(fs_instance *x, uint32_t item, void **params, fs_cuda_launch *out);

/* Where an item, which is issued, is over.  Requires streams, not a graph. */
fs_cuda_point fs_cuda_point_of(const fs_instance *x, uint32_t item);

/* cuda/issue.c: launches a kernel on a stream; false: poisoned. */
bool fs_cuda_launch_on(fs_instance *x, const fs_cuda_launch *l, fs_cu_stream stream);

/* cuda/loops/streams.c: makes a slot's tables, before its memory and streams.  Requires, for a
 * graph, loops that it can have. Errors: FSCHED_REPLAY, told to ctx, when instances in a graph wait
 * for each other. */
fs_status fs_cuda_loops_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* Before an invocation, when all streams are empty.  Requires no records taken without loops. */
void fs_cuda_loops_reset(fs_instance *x);
/* Issues all instances of a loop; what is on the lane of a part then comes after that part.  False:
 * poisoned.  Requires the first part of a loop.  Complexity: O(instances), and waits for the device
 * when FS_CUDA_RECORDS are on their way. */
bool fs_cuda_loop_issue(fs_instance *x, uint32_t item) FS_MUST_USE;
/* Adds up what is left of the digests, per op of the stream, once all is over. Requires room. */
void fs_cuda_loops_end(fs_instance *x, uint64_t *digest);

/* cuda/loops/times.c: reads when instances have run, once all is over.  False: poisoned.  Requires
 * an invocation that wants it. */
bool fs_cuda_times_read(fs_instance *x) FS_MUST_USE;

/* cuda/worker.c: the time of an event, in ns from the begin of the invocation.  False: poisoned. */
bool fs_cuda_time_of(fs_instance *x, fs_cu_event event, uint64_t *ns) FS_MUST_USE;

/* cuda/loops/unroll.c: adds up the digests of a graph. */
void fs_cuda_unroll_digests(fs_instance *x);

/* cuda/loops/watch.c.  The slot's thread calls the first two: before an invocation, and to look
 * which kernels are over.  The others are the watchdog's: whether kernels of modules run in loops,
 * and the one that runs on a stream for loops. */
void fs_cuda_loops_watch_reset(fs_instance *x);
fs_cu_result fs_cuda_loops_look(fs_instance *x);
bool fs_cuda_loops_hang(const fs_instance *x);
bool fs_cuda_loops_running(const fs_instance *x, uint32_t i, fs_running *out, uint64_t *since_ns);

/* cuda/graph.c: finds or makes the graph of what is built; drops all graphs of a slot; launches. */
bool fs_cuda_graph_find(fs_instance *x) FS_MUST_USE;
void fs_cuda_graph_drop(fs_instance *x);
bool fs_cuda_graph_launch(fs_instance *x, uint32_t *wants) FS_MUST_USE;

/* cuda/worker.c */
void *fs_cuda_worker(void *instance);
void fs_cuda_wake(fs_instance *x);
/* Requires a cause. */
void fs_cuda_poison(fs_instance *x, fsched_cause cause);

/* The streams of a slot; of these, `in` and `out` come behind those of lanes, and those for loops
 * last. */
static inline uint32_t fs_cuda_count_lanes(const fs_instance *x) {
  return x->graph || x->program->plan.n_streams == 0 ? 1 : x->program->plan.n_streams;
}
static inline uint32_t fs_cuda_count_streams(const fs_instance *x) {
  return fs_cuda_count_lanes(x) + (x->graph ? 0 : 2 + x->loops.n_streams - x->loops.n_threads);
}
static inline bool fs_cuda_poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed) != 0;
}
/* Requires a kept item. */
static inline bool fs_cuda_wanted(const fs_instance *x, uint32_t kept_item) {
  assert(kept_item < x->io->n_kept);
  return x->work->kept != NULL && x->work->kept[kept_item] != NULL;
}
/* Whether a kernel of the stream, or FS_NONE, is one of a module that the device is to run. */
static inline bool fs_cuda_is_foreign(const fs_cuda_program *p, uint32_t kernel) {
  assert(kernel == FS_NONE || kernel < p->s->n_kernels);
  return !p->empty && kernel != FS_NONE && p->modules.kernel[kernel].builtin == FS_BUILTINS;
}
/* The same of a kernel that the device or the host is to run. */
static inline bool fs_cuda_is_foreign_on(const fs_cuda_program *p, uint32_t kernel, bool host) {
  assert(kernel == FS_NONE || kernel < p->s->n_kernels);
  return host ? !p->empty && fs_kernels_foreign(&p->hosts.kernels, kernel)
              : fs_cuda_is_foreign(p, kernel);
}
/* How long the item is held back before it has its effect.  Requires an item of the plan. */
static inline uint64_t fs_cuda_pace_ns(const fs_instance *x, uint32_t item) {
  assert(item < x->program->plan.n_items);
  return x->pace == NULL ? 0 : x->pace[item];
}
/* Whether the kept item is wanted and is taken out after all commands have run.  Requires a kept
 * item. */
static inline bool fs_cuda_at_end(const fs_instance *x, uint32_t kept_item) {
  assert(kept_item < x->io->n_kept);
  return (x->graph || x->io->kept[kept_item].touches == 0) && fs_cuda_wanted(x, kept_item);
}
static inline fs_cuda_line fs_cuda_in(const fs_instance *x) { return x->graph ? 0 : x->n_lanes; }
static inline fs_cuda_line fs_cuda_out(const fs_instance *x) {
  return x->graph ? 0 : x->n_lanes + 1;
}
/* Whether the command is a loop.  Requires a command of the stream. */
static inline bool fs_cuda_is_loop(const fs_instance *x, uint32_t command) {
  assert(command < x->s->n_commands);
  const fs_stream_command *c = &x->s->commands[command];
  return x->loops.loops.of != NULL && fs_command_has_op(c) &&
         x->loops.loops.of[c->target] != FS_NONE;
}
/* Whether the host is to run an instance, or the member that it stands for.  Requires loops. */
static inline bool fs_cuda_loop_on_host(const fs_instance *x, const fs_loop_instance *at) {
  assert(x->loops.queue_of != NULL);
  return x->s->queues[x->loops.queue_of[at->loop_command]].host != 0;
}
static inline bool fs_cuda_loop_foreign(const fs_instance *x, const fs_loop_instance *at) {
  return fs_cuda_is_foreign_on(x->program, x->s->loop_ops[at->op].kernel,
                               fs_cuda_loop_on_host(x, at));
}
/* Whether the item is a function of the host; of a loop, its instances may be.  Requires an item of
 * the plan. */
static inline bool fs_cuda_is_host(const fs_instance *x, uint32_t item) {
  assert(item < x->program->plan.n_items);
  const fs_cuda_item *t = &x->program->plan.item[item];
  return x->s->queues[t->queue].host != 0 && !fs_cuda_is_loop(x, t->command);
}
/* Requires a memory of the stream. */
static inline fs_cu_address fs_cuda_at(const fs_instance *x, uint32_t memory, uint64_t address) {
  assert(memory < x->s->n_memories);
  return x->base[memory] + fs_io_at(x->io, memory, address);
}

#endif
