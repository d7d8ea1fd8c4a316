/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the host (fs_stream_queue.host) beside a device.
 *
 * What such a queue runs is a function of the host: its op's kernel is looked up as on the back
 * ends of the host, and all that it touches lies in host memory, which the device reaches, too.  A
 * thread of the queue calls the function (cuda/threads.h), or in a graph the driver, when what
 * comes before it there is over.  The function calls nothing of the driver. */
#ifndef FS_EXEC_CUDA_HOST_H
#define FS_EXEC_CUDA_HOST_H

#include <pthread.h>

#include "exec/host/host.h"
#include "exec/host/instances.h"

enum { FS_CUDA_BOTH = 2 };

/* What all slots of a program share. */
typedef struct fs_cuda_host_ops {
  bool some;             /* some op or copy is the host's */
  uint8_t *op, *loop_op; /* per op, and per op of loops: 1 if it has commands on the host's queues;
                          * FS_CUDA_BOTH if it has members on those of the device, too */
  uint8_t *member;       /* per member with args of its own, of ops in no loop: 1 if it is the
                          * host's */
  fs_effect_size size;   /* the room that a queue needs */
  fs_kernels kernels;    /* of these ops alone */
} fs_cuda_host_ops;

/* What the function gets.  It lies still while the function may be called. */
typedef struct fs_cuda_task {
  fs_instance *x;
  uint32_t command, queue;    /* of the stream */
  const fs_loop_instance *at; /* NULL: in no loop */
  uint64_t digest;            /* of a call of an instance */
} fs_cuda_task;

/* What a slot has for it; all 0 where nothing is the host's. */
typedef struct fs_cuda_hosts {
  fs_memories memories; /* of these, the host's alone have a base */
  fs_effects effects;
  fs_effect_room *room; /* per queue */
  fs_hand *hand;
  fs_work work;           /* the invocation's, with digests of its own */
  uint64_t *digest;       /* per op, and then per member with args of its own */
  fs_cuda_task *item;     /* per item of the plan */
  fs_cuda_task *record;   /* per record, for loops on streams */
  fs_cuda_task *instance; /* in a graph, per call of an instance of an op of the host */
  fs_loop_instance *at;   /* their instances, `depth` for each */
  uint32_t n_instances, depth;

  pthread_mutex_t gate;  /* guards these: */
  bool has_gate, closed; /* closed: the slot was given up, and no function may begin */
  uint32_t inside;       /* functions that have begun and not ended */
} fs_cuda_hosts;

/* Finds the program's ops of the host.  Requires a stream that fs_stream_check has accepted.
 * O(commands). */
fs_status fs_cuda_host_find(fs_arena *arena, const fs_stream *s, fs_cuda_host_ops *out) FS_MUST_USE;
/* Refuses ops of the host that touch memory of the device, and those that have queues of both but
 * run once.  FSCHED_USAGE, reported to ctx.  Requires the stream's fs_io.  O(places). */
fs_status fs_cuda_host_check(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                             const fs_cuda_host_ops *ops) FS_MUST_USE;
/* Makes a slot's tables, behind those for loops, and before its memory.  Requires its program. */
fs_status fs_cuda_host_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* Says where the memories of the host are, once the slot has them.  Requires the tables. */
void fs_cuda_host_place(fs_instance *x);
/* Before an invocation, when all streams are empty.  Requires its work. */
void fs_cuda_host_begin(fs_instance *x);
/* Frees what is not in an arena. */
void fs_cuda_host_release(fs_instance *x);

/* For a graph: makes room for so many calls of instances, in so many loops; notes a call, or
 * without room counts it.  Requires that there is no room yet. */
fs_status fs_cuda_host_list_make(fs_instance *x, uint32_t n, uint32_t depth) FS_MUST_USE;
void fs_cuda_host_list(fs_instance *x, const fs_loop_instance *at);

/* The task of an item, of a record's call, and of the n-th call that was noted.  Require
 * one of the host. */
fs_cuda_task *fs_cuda_host_item(fs_instance *x, uint32_t item);
fs_cuda_task *fs_cuda_host_record(fs_instance *x, uint32_t record);
fs_cuda_task *fs_cuda_host_instance(fs_instance *x, uint32_t n);
/* The function; its argument is a task. */
void fs_cuda_host_run(void *task);

/* Puts the digests of ops of the host that are in no loop where they belong.  Requires room. */
void fs_cuda_host_digests(const fs_instance *x, uint64_t *digest);
/* Closes the gate, unless a function is at work that cannot be given up; the watchdog calls it.
 * Returns whether it is closed. */
bool fs_cuda_host_close(fs_instance *x);

#endif
