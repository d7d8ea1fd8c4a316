/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of back ends that execute on the host: their machine, the kernels of a stream,
 * and the effects of commands on memory. */
#ifndef FS_EXEC_HOST_H
#define FS_EXEC_HOST_H

#include <stdatomic.h>

#include "exec/host/backend.h"
#include "exec/host/kernel.h"
#include "exec/host/memories.h"
#include "exec/host/stuck.h"
#include "model/stream/stream.h"

/* The most threads that the instances may have: as the options say, else the default. */
enum { FS_DEFAULT_THREADS = 512, FS_MOST_THREADS = 65536 };
static inline uint32_t fs_host_threads(const fsched_device_options *options) {
  return options->threads == 0 ? FS_DEFAULT_THREADS : options->threads;
}

fs_status fs_host_open(fsched_context *ctx, const fsched_device_options *options,
                       fs_machine **out) FS_MUST_USE;
void fs_host_close(fs_machine *machine);
const fsched_device_options *fs_host_options(const fs_machine *machine);
const char *fs_host_describe(const fs_machine *machine);
fs_status fs_host_take_pool(fsched_context *ctx, fs_machine *machine, uint64_t bytes,
                            void **out) FS_MUST_USE;
void fs_host_give_pool(fs_machine *machine, void *memory, uint64_t bytes);

/* A kernel of a stream: a built-in kernel, or a function. */
typedef struct fs_resolved {
  fs_builtin builtin; /* FS_BUILTINS: not built in, see `function` */
  fsched_kernel_fn function;
  void *module;    /* handle of dlopen; or NULL */
  uint8_t *params; /* or NULL */
  uint64_t n_params;
} fs_resolved;

typedef struct fs_kernels {
  const fs_stream *s;
  const fsched_device_options *options;
  uint64_t birth; /* birth (fs_process_birth) of the process that has found the kernels */
  uint32_t n;
  fs_resolved *at; /* per kernel of the stream */
} fs_kernels;

/* Finds the kernels of all ops; reports every op whose kernel is missing (FSCHED_REPLAY). `options`
 * gives `modules` and `find`; NULL: built-in kernels alone.  The result has to be released even
 * after a failure.  Requires a stream that fs_stream_check has accepted. */
fs_status fs_kernels_find(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                          const fsched_device_options *options, fs_kernels *kernels) FS_MUST_USE;
/* The same for some ops alone: those that are not 0 in `op`, and of loops in `loop_op`.  Requires
 * as many as the stream has. */
fs_status fs_kernels_find_some(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                               const fsched_device_options *options, const uint8_t *op,
                               const uint8_t *loop_op, fs_kernels *kernels) FS_MUST_USE;
void fs_kernels_release(fs_kernels *kernels);

/* Whether the kernel is a function that is not built in.  Requires a kernel of the stream, or
 * none. */
bool fs_kernels_foreign(const fs_kernels *kernels, uint32_t kernel);
/* Runs the kernel of an op.  Returns 0, or the cause of the kernel's failure.  Requires a kernel of
 * the stream, or none. */
fsched_cause fs_kernels_run(const fs_kernels *kernels, uint32_t kernel, const fs_kernel_call *call);
/* The function of a foreign kernel, which the thread is about to call on a queue, or without one
 * (NULL).  Calls the option kernel_runs, if set, with *run, which must stay until fs_kernels_answer
 * has got the function's answer.  Requires a kernel that is foreign. */
fsched_kernel_fn fs_kernels_announce(const fs_kernels *kernels, uint32_t kernel,
                                     const fs_kernel_call *call, const char *queue,
                                     fsched_kernel_run *run);
/* Takes the answer of a function that has returned and was not given up; after a give-up `kernels`
 * may be gone.  Returns the cause of its failure, or 0.  In a child process, which the function has
 * made by fork, this ends the child. */
fsched_cause fs_kernels_answer(const fs_kernels *kernels, int answer);
/* Digest of the content of the args that the kernel has written.  Requires a kernel of the stream,
 * or none. */
uint64_t fs_kernels_digest(const fs_kernels *kernels, uint32_t kernel, const fs_kernel_call *call);
/* Fills in the call's grid, block and shared memory.  Requires a kernel of the stream, or none. */
void fs_kernels_shape(const fs_kernels *kernels, uint32_t kernel, fs_kernel_call *call);

/* What the effects of commands need. */
typedef struct fs_effects {
  const fs_stream *s; /* one that fs_stream_check has accepted */
  const fs_io *io;
  const fs_kernels *kernels;
  const fs_memories *memories;
} fs_effects;

/* The kernel that a thread runs.  A kernel that never returns can be given up; should it return
 * later, its thread sleeps for ever and touches nothing. */
typedef struct fs_hand {
  _Atomic uint64_t count; /* odd while a kernel runs; FS_HAND_LOST: given up */
  /* As in fs_running: */
  _Atomic uint32_t command, loop_op, queue, depth;
  _Atomic uint64_t iteration[FS_LOOP_NEST];
  /* The watchdog's own: the count at its last look, and when it first saw that count. */
  uint64_t seen, seen_ns;
} fs_hand;
#define FS_HAND_LOST UINT64_MAX

static inline bool fs_hand_busy(uint64_t count) { return count % 2 == 1; }
/* Returns the count, and remembers since when it has been the same. */
uint64_t fs_hand_look(fs_hand *hand);
/* Reports the running kernel as an error.  Returns whether one runs.  Requires a stream that
 * fs_stream_check has accepted. */
bool fs_hand_report(fsched_context *ctx, const fs_stream *s, const fs_hand *hand,
                    uint64_t begin_ns);
/* Gives up the call that the thread was in when it had that count.  Returns whether the thread was
 * still in it.  The invocation must have been poisoned before. */
bool fs_hand_give_up(fs_hand *hand, uint64_t count);

/* One thread's room for the args of the largest op, and for the names of instances of loops. */
typedef struct fs_effect_room {
  fs_kernel_arg *args, *scratch;
  fsched_kernel_view *views;
  char *name;
  fs_hand *hand;
} fs_effect_room;
/* The size of that room, computed once per stream. */
typedef struct fs_effect_size {
  uint32_t args, places;
  size_t name_bytes;
} fs_effect_size;
/* Requires a stream that fs_stream_check has accepted. */
fs_effect_size fs_effect_measure(const fs_stream *s);
fs_status fs_effect_room_make(fs_arena *arena, fs_effect_size size, fs_hand *hand,
                              fs_effect_room *room) FS_MUST_USE;

/* Runs a kernel.  A failure is reported to work->failed and returned.  Requires a kernel of the
 * stream, or none. */
fsched_cause fs_effect_call(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                            const fs_running *what, uint32_t kernel, const fs_kernel_call *call);
/* Runs the op, which is no loop, or makes the copy.  A failure is reported to work->failed and
 * returned.  Requires a command. */
fsched_cause fs_effect_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                           uint32_t command);
/* The digest of what a command has written that is a member with args of its own; that of the op is
 * the sum over its members.  Requires such a command. */
uint64_t fs_effect_member_digest(const fs_effects *e, const fs_effect_room *room,
                                 const fs_work *work, uint32_t command);
/* Puts the content of a given item in its place; takes a kept item's content out, if it is wanted.
 * Requires a given item. */
void fs_effect_give(const fs_effects *e, const fs_work *work, uint32_t item);
/* Requires a kept item. */
void fs_effect_keep(const fs_effects *e, const fs_work *work, uint32_t item);

#endif
