/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of contexts of execution, shared by
 *   exec.c    creation, programs, state, waiting, shutdown,
 *   bind.c    makes an invocation from a descriptor,
 *   invoke.c  the course of an invocation,
 *   choose.c  which invocation gets a slot.
 *
 * An invocation goes through these stages; each change is made under the exec's lock:
 *
 *   WAITING    for its wait fence
 *   ORDERED    its program has state, and an earlier invocation with state is not complete
 *   READY      in a list of those that may start
 *   RESERVING  has a slot, waits for memory
 *   RUNNING    in the hands of the back end
 *   DONE       only its outcome has still to be told
 *
 * An invocation lasts until all references to it are dropped: its course holds one, and so does
 * each input whose fence is still waited for.  Data that the library owns are released when they
 * have been read.  Data that were not read are released when the invocation has ended and their
 * fence is reached or has failed: until then their writer may still write them. */
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

/* Requests of the library itself, for which fsched_invocation has no members. */
typedef struct fs_measure {
  fs_record record;
  /* Called after a success, before the fences are signalled; or NULL. */
  void (*measured)(void *user, uint64_t index, uint64_t ns);
  void *user;
  uint64_t index;
} fs_measure;

/* A binding of an invocation. */
typedef struct fs_bound {
  fs_invocation *invocation;
  uint32_t buffer;
  uint32_t item; /* given or kept; FS_NONE: no command touches the buffer */
  fs_fence_wait wait;
  bool late;             /* it is an input that has a fence to wait for */
  bool reached;          /* that fence is reached; under the lock */
  bool waits;            /* the fence's callback has not come; under the lock */
  bool left;             /* the callback will release the data; under the lock */
  fsched_fence *signal;  /* kept */
  bool settled;          /* kept: `signal` is signalled or failed */
  uint64_t epoch;        /* kept: epoch of its axis; 0: not signalled on its own */
  fsched_frontier known; /* kept: what `signal` carries; known.h */
  void (*release)(void *user, void *data); /* given; NULL once it was called */
  void *release_user, *data;
} fs_bound;

struct fs_invocation {
  fsched_entry *entry;
  fs_invocation *next, *previous; /* list of all invocations of the exec */
  fs_list *list;                  /* the list that it is in; NULL: none */
  fs_invocation *next_in_list, *previous_in_list;
  uint32_t references; /* under the lock */
  uint64_t turn;       /* number among the uses of state */
  size_t size_bytes;
  fs_stage stage;
  fsched_cause cause;
  uint32_t n_open; /* inputs that ops read and whose fences are not reached */
  bool safe;       /* has a slot, and will end even if no other invocation gets one */
  uint32_t slot;   /* FS_NONE */
  uint64_t ns;
  fs_fence_wait wait;
  fsched_fence *signal;
  fsched_frontier known; /* frontier of its waits; in the end what `signal` carries; known.h */
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
  uint64_t *trips;
  fsched_frontier_entry *entries; /* room of all its frontiers */
};

typedef struct fs_exec_slot {
  fsched_context *own;
  fs_instance *instance;
  fs_invocation *running; /* NULL: idle */
  bool stuck;             /* `running` was found stuck, and has been poisoned */
  bool lost;              /* a kernel in it was given up: the slot counts as working for ever */
  fs_watch watch;
  uint64_t epoch;       /* successes so far */
  uint64_t *kept_epoch; /* per kept item: how often it was signalled on its own */
} fs_exec_slot;

typedef struct fs_state {
  const char *name;
  uint64_t size;
  uint8_t *bytes;
  fs_byteset there; /* bytes whose content has been made; no program uses the others yet */
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
  uint8_t **state;                  /* per state of the program: the state's bytes */
  fs_name *buffer, *op;             /* sorted by name */
  uint32_t *given_item, *kept_item; /* per buffer: its item; FS_NONE */
  uint32_t n_slots;
  fs_exec_slot *slot;
  bool numbered; /* its slots have axes; false: no ordinals were left */
  uint64_t ordinal0;
};

struct fsched_exec {
  fs_allocator allocator;
  fsched_context *ctx; /* its own, for programs and states; used by the thread that loads */
  fs_arena arena;
  uint64_t birth; /* birth of the process that has made it */
  fsched_device *device;
  fsched_exec_options options;
  pthread_mutex_t loading; /* taken before `lock`; guards ctx and arena */
  pthread_mutex_t lock;
  pthread_cond_t quiet; /* signalled when there are fewer invocations */
  fsched_entry *entries;
  fs_state *states; /* changed by the thread that loads, under `lock` */
  fs_invocation *all;
  fs_list ready;   /* READY, and all inputs are there */
  fs_list early;   /* READY, but some inputs are not there */
  fs_list failed;  /* READY, but failed: only the outcome has to be told */
  fs_list working; /* invocations that have a slot */
  fs_list ordered;
  uint64_t n_live;    /* invocations that exist */
  uint64_t n_busy;    /* threads that will take the lock again */
  uint64_t n_working; /* invocations that have a slot, and slots that are lost */
  uint64_t n_lost;
  uint64_t moves;              /* counts invocations and inputs that have come or gone */
  fs_watch watch;              /* watches invocations that wait for inputs while none works */
  uint64_t turns, turn;        /* uses of state, by invocations and from outside: begun; over */
  fsched_cause state_cause;    /* of the first use that failed */
  fsched_frontier state_known; /* frontier that the last success with state carries */
  bool pumping, again, closing;
  fsched_cause first_cause;
  char failure[512];
  fsched_cause last_cause; /* of the last failure that a back end has reported */
  char last[512];
};

/* bind.c: makes an invocation, whose fences' callbacks are not begun yet; `entry` is immutable.
 * Requires an entry of an exec. */
fs_status fs_invocation_make(fsched_context *ctx, fsched_entry *entry,
                             const fsched_invocation *descriptor, const fs_measure *measure,
                             fs_invocation **out) FS_MUST_USE;
/* Drops a reference; the last drop frees.  The caller must not hold the lock.  Requires an
 * invocation. */
void fs_invocation_drop(fs_invocation *v);
/* Undoes fs_invocation_make: bound data and fences stay with their owners. */
void fs_invocation_unmake(fs_invocation *v);

/* exec.c: cancels all invocations, and watches the running ones as fsched_exec_wait does until each
 * has ended or was given up, so that destroying the exec does not have to wait. */
void fs_exec_close(fsched_context *ctx, fsched_exec *exec, uint64_t stuck_ns);

/* choose.c, with the lock */

/* Requires that the invocation is in no list. */
void fs_list_append(fs_list *list, fs_invocation *v);
/* Requires that the invocation is in a list. */
void fs_list_remove(fs_invocation *v);
/* Puts a READY invocation into the list that it belongs to now: ready, early or failed.  Requires
 * an invocation that has no slot. */
void fs_exec_line_up(fs_invocation *v);
/* The invocation that gets a slot now, with its member `safe` set; NULL: none.  It stays in its
 * list. */
fs_invocation *fs_exec_choose(fsched_exec *exec);

/* invoke.c */
fs_status fs_exec_invoke(fsched_context *ctx, fsched_entry *entry,
                         const fsched_invocation *descriptor,
                         const fs_measure *measure) FS_MUST_USE;
/* Starts all invocations that can start.  Requires (unchecked: a mutex does not tell who holds it)
 * the lock, which it gives up. */
void fs_exec_pump(fsched_exec *exec);
/* The bytes of the state that the entry keeps in that buffer; valid while no invocation runs.
 * Bytes that no program touches hold no content.  Requires a buffer of the program. */
const uint8_t *fs_entry_kept_state(const fsched_entry *e, uint32_t buffer);
/* Ends invocations that have not started; running ones leave out their remaining effects.  The exec
 * accepts no invocations any more. */
void fs_exec_cancel_all(fsched_exec *exec);
/* Waits until all invocations have ended, at most that long (UINT64_MAX: for ever).  Returns
 * whether they have. */
bool fs_exec_await_quiet(fsched_exec *exec, uint64_t timeout_ns);
/* Fails the invocation that runs in the slot, and marks the slot as lost.  Requires a slot in which
 * something runs.  Requires (unchecked: a mutex does not tell who holds it) the lock, which it
 * gives up. */
void fs_exec_lose(fsched_exec *exec, fs_exec_slot *slot);

#endif
