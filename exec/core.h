/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of contexts of execution, shared by
 *   exec.c    creation, programs, state, waiting, shutdown,
 *   bind.c    from a descriptor to an invocation,
 *   invoke.c  the course of an invocation.
 *
 * An invocation goes through these stages, each change under the exec's lock:
 *
 *   WAITING    for its wait fence
 *   ORDERED    its program has state, and an earlier one with state is not complete
 *   READY      in the list of those that may start, first come first served
 *   RESERVING  has a slot, waits for memory
 *   RUNNING    in the hands of the back end
 *   DONE       all that is left is to tell
 *
 * An invocation lasts until nobody refers to it: its course is one reference, each input whose
 * fence is still waited for another.  Data that the library owns are released when they have been
 * read, or else when the invocation has ended and their fence, which somebody may still have to
 * signal who writes them, is reached or has failed. */
#ifndef FS_EXEC_CORE_H
#define FS_EXEC_CORE_H

#include <pthread.h>

#include "device.h"
#include "fence.h"
#include "pool.h"
#include "watch.h"

typedef struct fs_invocation fs_invocation;

typedef enum fs_stage {
  FS_WAITING,
  FS_ORDERED,
  FS_READY,
  FS_RESERVING,
  FS_RUNNING,
  FS_DONE
} fs_stage;

/* For the library itself: what fsched_invocation has no room for. */
typedef struct fs_measure {
  fs_record record;
  /* After a success, before the fences are signalled; NULL. */
  void (*measured)(void *user, uint64_t index, uint64_t ns);
  void *user;
  uint64_t index;
} fs_measure;

/* A binding. */
typedef struct fs_bound {
  fs_invocation *invocation;
  uint32_t buffer;
  uint32_t item; /* given or kept; FS_NONE: no command touches the buffer */
  fs_fence_wait wait;
  bool late;                               /* it has a fence to wait for */
  bool waits;                              /* whose callback has not come; under the lock */
  bool left;                               /* ... and will release the data; under the lock */
  fsched_fence *signal;                    /* kept; NULL when it is settled */
  void (*release)(void *user, void *data); /* given; NULL when it is called */
  void *release_user, *data;
} fs_bound;

struct fs_invocation {
  fsched_entry *entry;
  fs_invocation *next, *previous; /* of all in the exec */
  fs_invocation *next_in_list;    /* READY, or in the order of those with state */
  uint32_t references;            /* under the lock */
  uint64_t turn;                  /* among those with state */
  size_t size_bytes;
  fs_stage stage;
  fsched_cause cause;
  uint32_t slot; /* FS_NONE */
  uint64_t ns;
  fs_fence_wait wait;
  fsched_fence *signal;
  void (*callback)(void *user, fsched_cause cause);
  void *user;
  fs_measure measure;
  fs_reservation reservation;
  fs_work work;
  uint32_t n_bound;
  fs_bound *bound;
  uint32_t *given_bound, *kept_bound; /* per item: its binding; FS_NONE */
  const void **given;
  bool *late;
  void **kept;
  int64_t *values;
};

typedef struct fs_slot {
  fsched_context *own;
  fs_instance *instance;
  fs_invocation *running; /* NULL: idle */
  fs_watch watch;
} fs_slot;

typedef struct fs_state {
  const char *name;
  uint64_t size;
  uint8_t *bytes;
} fs_state;

typedef struct fs_name {
  const char *name;
  uint32_t id;
} fs_name;

struct fsched_entry {
  fsched_exec *exec;
  fsched_entry *next;
  const fs_stream *stream;
  fs_io io;
  uint8_t **state;                  /* per state of the program: its bytes */
  fs_name *buffer, *op;             /* by name */
  uint32_t *given_item, *kept_item; /* per buffer: FS_NONE */
  uint32_t n_slots;
  fs_slot *slot;
};

typedef struct fs_list {
  fs_invocation *first, *last;
} fs_list;

struct fsched_exec {
  fs_allocator allocator;
  fsched_context *ctx; /* its own: programs and states; by the thread that loads */
  fs_arena arena;
  fsched_device *device;
  fsched_exec_options options;
  pthread_mutex_t loading; /* taken before `lock`: ctx and arena */
  pthread_mutex_t lock;
  pthread_cond_t quiet; /* fewer invocations */
  fsched_entry *entries;
  FS_VEC(fs_state) states;
  fs_invocation *all;
  fs_list ready, ordered;
  uint64_t n_live;          /* invocations that are not gone */
  uint64_t n_busy;          /* threads that will come back for the lock */
  uint64_t n_working;       /* invocations that have a slot */
  uint64_t turns, turn;     /* uses of state, by invocations and from outside: asked for, over */
  fsched_cause state_cause; /* of the first that failed */
  bool pumping, again, closing;
  fsched_cause first_cause;
  char failure[512];
  fsched_cause last_cause; /* of the last failure that a back end has told */
  char last[512];
};

/* bind.c: all but the fences' callbacks; `entry` is immutable. */
fs_status fs_invocation_make(fsched_context *ctx, fsched_entry *entry,
                             const fsched_invocation *descriptor, const fs_measure *measure,
                             fs_invocation **out) FS_MUST_USE;
/* One reference less; the last frees.  Not with the lock. */
void fs_invocation_drop(fs_invocation *v);
/* As if it had never been: bindings keep their owners. */
void fs_invocation_unmake(fs_invocation *v);

/* invoke.c */
fs_status fs_exec_invoke(fsched_context *ctx, fsched_entry *entry,
                         const fsched_invocation *descriptor,
                         const fs_measure *measure) FS_MUST_USE;
/* Starts what can start.  With the lock, which it gives up. */
void fs_exec_pump(fsched_exec *exec);
void fs_exec_cancel_all(fsched_exec *exec);

#endif
