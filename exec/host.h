/* SPDX-License-Identifier: Apache-2.0 */
/* What back ends that execute on the host have in common: their machine, the kernels of a stream,
 * and what a command does to memory. */
#ifndef FS_EXEC_HOST_H
#define FS_EXEC_HOST_H

#include "backend.h"
#include "kernel.h"
#include "memories.h"

/* The machine: options, their strings copied. */
struct fs_machine {
  fsched_context *ctx; /* of its own, for its memory */
  fsched_device_options options;
  char modules[4096];
  char note[64];
};

fs_status fs_host_open(fsched_context *ctx, const fsched_device_options *options,
                       fs_machine **out) FS_MUST_USE;
void fs_host_close(fs_machine *machine);
const fsched_device_options *fs_host_options(const fs_machine *machine);
const char *fs_host_describe(const fs_machine *machine);
fs_status fs_host_take_pool(fsched_context *ctx, fs_machine *machine, uint64_t bytes,
                            void **out) FS_MUST_USE;
void fs_host_give_pool(fs_machine *machine, void *memory, uint64_t bytes);

/* A kernel of a stream: built in, or a function. */
typedef struct fs_resolved {
  fs_builtin builtin; /* FS_BUILTINS: the function */
  fsched_kernel_fn function;
  void *module; /* of dlopen; NULL */
} fs_resolved;

typedef struct fs_kernels {
  uint32_t n;
  fs_resolved *at; /* per kernel of the stream */
} fs_kernels;

/* Finds the kernels of all ops; reports every op whose kernel is not there (FSCHED_REPLAY).
 * `options`: modules, find; NULL: built-in kernels alone.  The result is to be released even then.
 */
fs_status fs_kernels_find(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                          const fsched_device_options *options, fs_kernels *kernels) FS_MUST_USE;
void fs_kernels_release(fs_kernels *kernels);

/* Runs the kernel of an op; 0, or the cause of its failure. */
fsched_cause fs_kernels_run(const fs_kernels *kernels, uint32_t kernel, const fs_kernel_call *call);
/* Digest of what is in the args that it has written. */
uint64_t fs_kernels_digest(const fs_kernels *kernels, uint32_t kernel, const fs_kernel_call *call);
/* The call's grid, block and shared memory. */
void fs_kernels_shape(const fs_stream *s, uint32_t kernel, fs_kernel_call *call);

/* What a command does. */
typedef struct fs_effects {
  const fs_stream *s;
  const fs_io *io;
  const fs_kernels *kernels;
  const fs_memories *memories;
} fs_effects;

/* Room for the args of the largest op, of one thread. */
typedef struct fs_effect_room {
  fs_kernel_arg *args, *scratch;
} fs_effect_room;
fs_status fs_effect_room_make(fs_arena *arena, const fs_stream *s,
                              fs_effect_room *room) FS_MUST_USE;

/* Runs the op or copies.  A failure is told to work->failed and returned. */
fsched_cause fs_effect_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                           uint32_t command);
/* Puts the content of a given item in its place; takes that of a kept item out, if it is wanted. */
void fs_effect_give(const fs_effects *e, const fs_work *work, uint32_t item);
void fs_effect_keep(const fs_effects *e, const fs_work *work, uint32_t item);

#endif
