/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a dynamic run time, for the files of this room.
 *
 * A submitter (front/submit/sink.h) names and checks what is submitted, as it does for capture, and
 * hands it to the functions here, which give it to workers.  What lasts without a scope, as it is
 * held or of no scope, is held in the engine. */
#ifndef FS_DYNAMIC_CALLS_PRIVATE_H
#define FS_DYNAMIC_CALLS_PRIVATE_H

#include <pthread.h>

#include "base/context.h"
#include "exec/dynamic/workers.h"
#include "exec/host/module_file.h"
#include "front/submit/sink.h"
#include "fsched/dynamic.h"

/* By callable; the index is also that of its kernel. */
typedef struct fs_call_callable {
  fsched_kernel_call shape; /* grid, block, shared_bytes and params */
  uint32_t use0, n_uses, scratch0, n_scratch;
  uint32_t class_; /* on which its tasks run, once one has; FS_NONE */
  bool here;       /* its kernel is a function of the application, for queues of the host alone */
} fs_call_callable;

typedef struct fs_call_buffer {
  fs_dynamic_buffer buffer;
  fs_dynamic_task held; /* to which its version belongs; FS_DYNAMIC_NO_TASK: it is not held */
  bool owned;           /* it has versions: else memory of the user, or no bytes */
} fs_call_buffer;

struct fsched_dynamic {
  fsched_context *ctx;
  fsched_submitter *s;
  fs_submit_sink sink;
  fs_arena arena;                 /* texts, parameters and tables */
  fsched_dynamic_options options; /* with copies of its texts */
  fs_workers *workers;            /* NULL: no run was opened */
  uint32_t n_queues, *class_of;   /* per queue: the first one of its class */
  bool *host;                     /* per queue: it is of the host */
  FS_VEC(fs_task_kernel) kernel;
  FS_VEC(fs_call_callable) callable;
  FS_VEC(fs_dynamic_amount) use;
  FS_VEC(uint64_t) scratch;
  /* Of the watch: what it has seen last, and since when; `watching` keeps others out */
  pthread_mutex_t watching;
  uint64_t seen_moves, seen_since;
  bool has_watching, has_seen;
  /* Of the run */
  FS_VEC(fs_call_buffer) buffer;
  FS_VEC(fs_dynamic_task) task;
  /* Of the task in hand */
  FS_VEC(fs_dynamic_arg) arg;
  FS_VEC(fs_dynamic_member) member;
  FS_VEC(fs_task_value) value;
  FS_VEC(fs_dynamic_predecessor) predecessor;
};

#define fs_call_error(d, status, code, ...) \
  fs_fail((d)->ctx, (status), FS_DIAG_DYNAMIC_##code, FS_NOWHERE, NULL, __VA_ARGS__)

/* Whether a run was opened; errors are reported. */
fs_status fs_call_check_run(fsched_dynamic *d) FS_MUST_USE;
/* Whether a run takes submits; errors are reported. */
fs_status fs_call_accept(fsched_dynamic *d) FS_MUST_USE;

/* Whether all queues of a name, of one or of a class, are of the host. */
bool fs_call_of_host(const fsched_dynamic *d, const char *on);

/* The functions of the sink; `user` is the run time. */
fs_status fs_call_add_callable(void *user, const fsched_submit_callable_desc *desc) FS_MUST_USE;
fs_status fs_call_add_import(void *user, const fsched_submit_import_desc *desc,
                             unsigned access) FS_MUST_USE;
fs_status fs_call_add_alloc(void *user, uint64_t bytes) FS_MUST_USE;
fs_status fs_call_add_task(void *user, const fs_submitted *task) FS_MUST_USE;

#endif
