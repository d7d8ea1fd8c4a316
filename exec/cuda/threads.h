/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the host as threads, beside the streams of a device.
 *
 * A thread does steps in order, which the slot's thread puts behind each other as it issues the
 * plan: it waits, runs a task, notes a time.  It is told about others, and tells them, by words of
 * 64 bits in pinned memory that only grow:
 *
 *   of a thread   the steps that it has done.  Streams wait for it (cuStreamWaitValue64), and so do
 *                 other threads
 *   of a stream   how often it was told to write it (cuStreamWriteValue64), for threads alone
 *
 * So a thread calls nothing of the driver, and the driver calls nothing of ours.  That matters: a
 * launch that finds the driver's room full waits in there for what is on its way, with locks.  And
 * what is put somewhere waits only for what was put before it, so there is a way on even where a
 * device runs several streams as one, in the order of issue.
 *
 * A driver without these two calls lets streams call a function that writes the word; and instead
 * of a stream that waits for a thread, the slot's thread does before it issues what comes behind.
 *
 * After a failure threads do the steps that are left, but tasks no longer have effects: all words
 * get to where someone waits for them.  Only a device that has failed writes no words any more;
 * then threads do not wait for those (`broken`). */
#ifndef FS_EXEC_CUDA_THREADS_H
#define FS_EXEC_CUDA_THREADS_H

#include <pthread.h>

#include "exec/cuda/driver.h"
#include "exec/cuda/host.h"

enum {
  FS_CUDA_STEPS = 512,     /* the most steps of a thread that are on their way */
  FS_CUDA_WORD_BYTES = 128 /* the room of a word: what others write is on other lines */
};

typedef enum fs_cuda_step_kind {
  FS_CUDA_AWAIT, /* until the word is at least `value` */
  FS_CUDA_HOLD,  /* for `value` ns */
  FS_CUDA_NOTE,  /* puts the ns since the begin of the invocation into *time */
  FS_CUDA_MOVE,  /* moves `value` bytes */
  FS_CUDA_RUN    /* runs the task */
} fs_cuda_step_kind;

typedef struct fs_cuda_step {
  fs_cuda_step_kind kind;
  uint64_t value;
  union {
    const _Atomic uint64_t *word;
    uint64_t *time;
    void *to;
    fs_cuda_task *task;
  };
  const void *from;
} fs_cuda_step;

/* What runs commands in order: a stream of the slot by its number, or a thread, whose numbers are
 * behind those of the streams. */
typedef uint32_t fs_cuda_line;

/* A place on a line: what is before it is over when the line's word is at least `mark`, or of a
 * stream when the event is over. */
typedef struct fs_cuda_point {
  fs_cuda_line line;
  fs_cu_event event;
  uint64_t mark; /* of a stream: 0 unless threads are told */
} fs_cuda_point;

typedef struct fs_cuda_thread {
  fs_instance *x;
  uint32_t number, queue;
  pthread_t thread;
  bool started;
  fs_cuda_step *step;
  uint64_t put;           /* steps so far; the slot's thread's */
  _Atomic uint64_t ready; /* the same, for the thread */
} fs_cuda_thread;

/* What the function that writes a stream's word gets. */
typedef struct fs_cuda_teller {
  fs_instance *x;
  _Atomic uint64_t *word;
} fs_cuda_teller;

/* What a slot has of them; all 0 where no queue of the host is a thread. */
typedef struct fs_cuda_threads {
  uint32_t n;
  fs_cuda_thread *at;
  uint64_t words;         /* their offset in the host's block: of the streams and then of threads */
  uint64_t *told;         /* per stream: how often it was told to write its word */
  fs_cuda_teller *teller; /* per stream */
  fs_cuda_point *over;    /* per item: behind it */
  uint64_t *given_mark;   /* per given item: of the stream `in` */
  uint64_t *time;         /* two per item, ns, of those on threads */
  uint32_t *of;           /* per queue that is one: its number */
  bool in_loops;          /* some of the queues are in loops, where all streams tell */
  _Atomic uint32_t turn, sleepers; /* futex word: changes with all that a thread may wait for */
  _Atomic uint32_t broken, stop;
} fs_cuda_threads;

/* Makes a slot's tables, behind those for loops and ops of the host; begins the threads, once the
 * slot has its memory; ends those that have begun. */
fs_status fs_cuda_threads_make(fs_instance *x) FS_MUST_USE;
fs_status fs_cuda_threads_begin(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
void fs_cuda_threads_end(fs_instance *x);
/* Before an invocation.  Requires that the threads have done all steps. */
void fs_cuda_threads_reset(fs_instance *x);
/* The bytes of all words.  Requires the tables. */
uint64_t fs_cuda_threads_bytes(const fs_instance *x);
/* Wakes all threads, so that they look again. */
void fs_cuda_threads_wake(fs_instance *x);
/* Whether all threads have done all of their steps. */
bool fs_cuda_threads_idle(const fs_instance *x);

/* The watchdog calls these: to look what threads have in hand; whether one has a kernel of a module
 * there; to report those.  Returns whether there is one. */
void fs_cuda_threads_look(fs_instance *x);
bool fs_cuda_threads_hang(const fs_instance *x);
bool fs_cuda_threads_report(fs_instance *x, fsched_context *ctx);

/* Waits until a thread has done so many steps, or all threads have done all; false: poisoned, by
 * the device.  The first returns false, too, when the invocation is poisoned otherwise. */
bool fs_cuda_await_thread(fs_instance *x, uint32_t thread, uint64_t mark) FS_MUST_USE;
bool fs_cuda_await_threads(fs_instance *x) FS_MUST_USE;
/* Waits for them after a failure, with a device that is there or has failed. */
void fs_cuda_drain_threads(fs_instance *x, bool broken);

/* Puts a step behind those of a thread.  False: poisoned, and it is not put. */
bool fs_cuda_step_put(fs_instance *x, fs_cuda_line line, fs_cuda_step step) FS_MUST_USE;

/* Whether the line is a thread. */
bool fs_cuda_line_is_thread(const fs_instance *x, fs_cuda_line line);
/* The line of a lane of the plan. */
fs_cuda_line fs_cuda_line_of(const fs_instance *x, uint32_t lane);
/* Marks the place behind all that the line has.  On a stream the event is recorded, if there is
 * one, and threads are told, if some are to wait for it.  False: poisoned. */
bool fs_cuda_line_mark(fs_instance *x, fs_cuda_line line, fs_cu_event event, bool tells,
                       fs_cuda_point *out) FS_MUST_USE;
/* What comes on the line waits until what is before the point is over; on its own line it does
 * anyway.  Requires for a thread a point that tells, for a stream one with an event or of a thread.
 * False: poisoned. */
bool fs_cuda_line_wait(fs_instance *x, fs_cuda_line line, const fs_cuda_point *point) FS_MUST_USE;
/* Whether what is before a point is over, as far as the device says; FS_CU_NOT_READY: not yet. */
fs_cu_result fs_cuda_point_query(const fs_instance *x, const fs_cuda_point *point);

#endif
