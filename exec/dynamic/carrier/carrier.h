/* SPDX-License-Identifier: Apache-2.0 */
/* Carriers bring members of tasks to workers, and their ends back.  A carrier has one worker for
 * each queue; what a worker is (a thread, a process) is the carrier's affair.
 *
 * Kernels are indices into a table that is closed when the carrier is made.
 *
 * Threads: the user has a baton (baton.h), and calls `start` and `hear` in it.  A carrier calls
 * `returned` in the baton: from within `hear`, for what its threads have left as news, or from a
 * thread of its own that has taken the baton and then calls `leave`.  It never calls it from within
 * `start`.  Kernels run without the baton. */
#ifndef FS_DYNAMIC_CARRIER_H
#define FS_DYNAMIC_CARRIER_H

#include "base/base.h"
#include "exec/dynamic/carrier/baton.h"
#include "fsched/kernel.h"

typedef struct fs_started_member {
  const fsched_kernel_call *call; /* stays until the member has returned */
  uint32_t kernel, member;
  uint32_t queue; /* whose worker runs it */
} fs_started_member;

/* A function of the application.  0: success; else the member has failed. */
typedef int (*fs_member_function)(const fs_started_member *member, void *user);

typedef struct fs_task_kernel {
  fs_member_function function; /* NULL: built in, or a module's */
  void *user;                  /* of the function */
  const char *module;          /* path of a shared object, which is opened as it is; NULL: none */
  const char *name; /* of the function of the module, or of the built-in kernel; of one of the
                       application what a program that is a worker knows it by, NULL: it does not */
  bool here;        /* it is only run by workers that are threads of this process */
} fs_task_kernel;

typedef struct fs_carrier fs_carrier;
typedef struct fs_carrier_functions {
  /* Whether a call that looks so can be started; `data` is not there yet.  Errors: reported. */
  fs_status (*accepts)(fs_carrier *c, uint32_t kernel, const fsched_kernel_call *call) FS_MUST_USE;
  /* Starts a member on an idle worker.  Cannot fail: what goes wrong is the member's end. */
  void (*start)(fs_carrier *c, uint32_t worker, const fs_started_member *member);
  /* Takes in all news, as they come from fs_baton_hear. */
  void (*hear)(fs_carrier *c, fs_news *news);
  /* Ends the workers, which are idle; nobody has the baton. */
  void (*destroy)(fs_carrier *c);
} fs_carrier_functions;
/* The first member of each carrier. */
struct fs_carrier {
  const fs_carrier_functions *functions;
  bool spawned;                 /* its processes do not have the application's functions */
  unsigned char *heap, *shared; /* memory that the workers reach, aligned to FS_CARRIER_ALIGN; what
                                 * is shared is 0 at first */
};

/* What all carriers are made from; arrays are copied. */
typedef struct fs_carrier_options {
  uint32_t n_workers;
  const bool
      *host; /* per worker: it is a thread of this process, whatever others are; NULL: none */
  uint64_t heap_bytes, shared_bytes; /* of memory for the user */
  uint64_t align; /* the most that the user aligns in it, by addresses; 0: nothing */
  uint32_t n_kernels;
  const fs_task_kernel *kernel;
  fs_baton *baton; /* of the user */
  void *user;
  /* Leaves the baton, as the user does. */
  void (*leave)(void *user);
  /* The member that a worker had has ended; `cause`: why it failed, or NULL.  The worker is idle.
   */
  void (*returned)(void *user, uint32_t worker, const char *cause);
  /* A worker is gone and has no successor; if it had a member, `returned` follows, with the same
   * cause.  Else `cause` is what it has done ("has exited with status 0"). */
  void (*lost)(void *user, uint32_t worker, const char *cause);
} fs_carrier_options;

/* FS_CARRIER_CAUSE: room for a cause. */
enum { FS_CARRIER_CAUSE = 256, FS_CARRIER_ALIGN = 1024 };

/* Workers are threads.  Errors: FSCHED_REPLAY: a kernel cannot be opened (kernels.h);
 * FSCHED_SYSTEM: no memory, no threads.  All reported. */
fs_status fs_carrier_threads(fsched_context *ctx, const fs_carrier_options *options,
                             fs_carrier **out) FS_MUST_USE;

#endif
