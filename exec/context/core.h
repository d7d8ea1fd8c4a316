/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of contexts of execution, shared by
 *   exec.c    creation, programs, state, waiting, shutdown,
 *   bind.c    from a descriptor to an invocation,
 *   invoke.c  the course of an invocation,
 *   choose.c  which invocation gets a slot.
 *
 * An invocation goes through these stages, each change under the exec's lock:
 *
 *   WAITING    for its wait fence
 *   ORDERED    its program has state, and an earlier one with state is not complete
 *   READY      in a list of those that may start
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

#include "exec/context/device.h"
#include "exec/context/fence.h"
#include "exec/context/pool.h"
#include "exec/host/watch.h"

typedef struct fs_invocation fs_invocation;

typedef struct fs_list {
  fs_invocation *first, *last;
} fs_list;

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
  bool reached;                            /* ... which is reached; under the lock */
  bool waits;                              /* whose callback has not come; under the lock */
  bool left;                               /* ... and will release the data; under the lock */
  fsched_fence *signal;                    /* kept */
  bool settled;                            /* ... and signalled or failed */
  uint64_t epoch;                          /* kept, of its axis; 0: not signalled by itself */
  fsched_frontier known;                   /* kept: what `signal` carries; known.h */
  void (*release)(void *user, void *data); /* given; NULL when it is called */
  void *release_user, *data;
} fs_bound;

struct fs_invocation {
  fsched_entry *entry;
  fs_invocation *next, *previous; /* of all in the exec */
  fs_list *list;                  /* READY, has a slot, or in the order of those with state; NULL */
  fs_invocation *next_in_list, *previous_in_list;
  uint32_t references; /* under the lock */
  uint64_t turn;       /* among those with state */
  size_t size_bytes;
  fs_stage stage;
  fsched_cause cause;
  uint32_t n_open; /* inputs that ops read and whose fences are not reached */
  bool safe;       /* has a slot, and ends whatever becomes of those that have none */
  uint32_t slot;   /* FS_NONE */
  uint64_t ns;
  fs_fence_wait wait;
  fsched_fence *signal;
  fsched_frontier known; /* what it has waited for; in the end what `signal` carries; known.h */
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
  fsched_frontier_entry *entries; /* of all that it knows */
};

typedef struct fs_exec_slot {
  fsched_context *own;
  fs_instance *instance;
  fs_invocation *running; /* NULL: idle */
  bool stuck;             /* what runs was found stuck, and has been poisoned */
  bool lost;              /* a kernel in it was given up: it counts as working for ever */
  fs_watch watch;
  uint64_t epoch;       /* successes so far */
  uint64_t *kept_epoch; /* per kept item: how often it was signalled by itself */
} fs_exec_slot;

typedef struct fs_state {
  const char *name;
  uint64_t size;
  uint8_t *bytes;
  fs_byteset there; /* content that has been made; the rest is nobody's yet */
  struct fs_state *next;
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
  fs_exec_slot *slot;
  bool numbered; /* ordinals of axes, from this one on; else there were none left */
  uint64_t ordinal0;
};

struct fsched_exec {
  fs_allocator allocator;
  fsched_context *ctx; /* its own: programs and states; by the thread that loads */
  fs_arena arena;
  uint64_t birth; /* of the process that has made it */
  fsched_device *device;
  fsched_exec_options options;
  pthread_mutex_t loading; /* taken before `lock`: ctx and arena */
  pthread_mutex_t lock;
  pthread_cond_t quiet; /* fewer invocations */
  fsched_entry *entries;
  fs_state *states; /* changed by the thread that loads, under `lock` */
  fs_invocation *all;
  fs_list ready;   /* all inputs are there */
  fs_list early;   /* READY but for inputs */
  fs_list failed;  /* READY only to be told */
  fs_list working; /* has a slot */
  fs_list ordered;
  uint64_t n_live;    /* invocations that are not gone */
  uint64_t n_busy;    /* threads that will come back for the lock */
  uint64_t n_working; /* invocations that have a slot, and slots that are lost */
  uint64_t n_lost;
  uint64_t moves;              /* invocations and inputs that have come or gone */
  fs_watch watch;              /* of those that wait for inputs while nobody works */
  uint64_t turns, turn;        /* uses of state, by invocations and from outside: asked for, over */
  fsched_cause state_cause;    /* of the first that failed */
  fsched_frontier state_known; /* what the last success with state has made known */
  bool pumping, again, closing;
  fsched_cause first_cause;
  char failure[512];
  fsched_cause last_cause; /* of the last failure that a back end has told */
  char last[512];
};

/* bind.c: all but the fences' callbacks; `entry` is immutable.  Requires an entry of an exec. */
fs_status fs_invocation_make(fsched_context *ctx, fsched_entry *entry,
                             const fsched_invocation *descriptor, const fs_measure *measure,
                             fs_invocation **out) FS_MUST_USE;
/* One reference less; the last frees.  Not with the lock.  Requires an invocation. */
void fs_invocation_drop(fs_invocation *v);
/* As if it had never been: bindings keep their owners. */
void fs_invocation_unmake(fs_invocation *v);

/* exec.c: cancels all, and watches what runs as fsched_exec_wait does until it has ended or was
 * given up, so that destroying the exec waits for nothing. */
void fs_exec_close(fsched_context *ctx, fsched_exec *exec, uint64_t stuck_ns);

/* choose.c, with the lock */

/* Requires that the invocation is in no list. */
void fs_list_append(fs_list *list, fs_invocation *v);
/* Requires that the invocation is in a list. */
void fs_list_remove(fs_invocation *v);
/* Into the list of those READY that it belongs to now.  Requires an invocation that has no slot. */
void fs_exec_line_up(fs_invocation *v);
/* The one that gets a slot now, its member `safe` set; NULL: none.  It stays in its list. */
fs_invocation *fs_exec_choose(fsched_exec *exec);

/* invoke.c */
fs_status fs_exec_invoke(fsched_context *ctx, fsched_entry *entry,
                         const fsched_invocation *descriptor,
                         const fs_measure *measure) FS_MUST_USE;
/* Starts what can start.  Requires (unchecked: a mutex does not tell who holds it) the lock, which
 * it gives up. */
void fs_exec_pump(fsched_exec *exec);
/* Where the state lies that the entry keeps in that buffer; while no invocation runs.  What no
 * program touches of it holds nothing.  Requires a buffer of the program. */
const uint8_t *fs_entry_kept_state(const fsched_entry *e, uint32_t buffer);
/* What has not started ends, what runs leaves the rest out; nothing can be asked for any more. */
void fs_exec_cancel_all(fsched_exec *exec);
/* Whether all has ended, within that time (UINT64_MAX: for ever). */
bool fs_exec_await_quiet(fsched_exec *exec, uint64_t timeout_ns);
/* What runs in the slot has failed, and the slot is lost.  Requires a slot in which
 * something runs.  Requires (unchecked: a mutex does not tell who holds it) the lock, which it
 * gives up. */
void fs_exec_lose(fsched_exec *exec, fs_exec_slot *slot);

#endif
