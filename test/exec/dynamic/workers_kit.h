/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of each kind, with the kernels of the tests. */
#ifndef FS_TEST_WORKERS_KIT_H
#define FS_TEST_WORKERS_KIT_H

#include "exec/dynamic/kernels.h"
#include "exec/dynamic/workers.h"
#include "kit/gen.h"

/* MODULE_THREADS: threads whose kernels are of a module, as those of spawned processes are. */
typedef enum worker_kind { THREADS, MODULE_THREADS, FORKED, SPAWNED, WORKER_KINDS } worker_kind;

enum { SHARED_SIZE = 1 << 20 };

/* Whether there are workers of this kind here: the thread sanitizer has a thread of its own, so
 * that nothing can be forked. */
bool has_kind(worker_kind kind);
/* Options for workers of a kind; the engine's, with 4 queues in two classes. */
fs_workers_options worker_options(worker_kind kind, uint64_t heap_size);
fs_workers *start_workers(worker_kind kind, uint64_t heap_size);
/* Imported memory that workers of all kinds reach, with content 0. */
void *import_shared(fs_workers *w, uint64_t size, fs_dynamic_buffer *out);

/* Submits a task with one kernel, on a queue, whose first arg is such bytes of an imported buffer,
 * and the last one a value. */
fs_status submit_simple(fs_workers *w, const char *name, uint32_t kernel, uint32_t queue,
                        fsched_tag tag, fs_dynamic_buffer b, int64_t value);

/* A random program, whose tasks are evaluated plainly as they are submitted. */
typedef struct plain_program {
  fs_workers *w;
  fs_dynamic_buffer buffer[BUFFERS];
  uint8_t *memory[SHARED]; /* the imported buffers, of BYTES each */
  uint8_t plain[BUFFERS][BYTES];
  bool written[BUFFERS];
  uint32_t kill_at; /* after so many tasks, from 1, */
  int32_t victim;   /* the process to kill */
} plain_program;

void begin_plain(plain_program *p, fs_workers *w);
/* Declares the buffers, and submits n random tasks in a scope, and then tasks that show what is in
 * the declared buffers; stops at the first submission that fails, and returns its status. */
fs_status submit_random(plain_program *p, fs_rng *rng, uint32_t n);
void ck_plain(const plain_program *p);

#endif
