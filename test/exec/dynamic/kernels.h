/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the tests of workers.  They are in the runner, and in a module of their own, so that
 * workers of all kinds have them; the index of the member that some need is their last arg. */
#ifndef FS_TEST_DYNAMIC_KERNELS_H
#define FS_TEST_DYNAMIC_KERNELS_H

#include "exec/dynamic/surroundings.h"
#include "fsched/graph.h"
#include "fsched/kernel.h"

enum {
  QUEUES = 4,
  SHARED = 4, /* imported buffers */
  LOCAL = 4,  /* declared ones */
  BUFFERS = SHARED + LOCAL,
  BYTES = 256,
  TASKS = 400,
  MOST_ARGS = 4,
  MEMBERS = 2
};

/* A task: the same description is for the workers and for the plain loop. */
typedef struct plain_arg {
  fsched_tag tag;
  uint32_t buffer, begin, end; /* begin 0 and end BYTES: all */
} plain_arg;

typedef struct plain_task {
  uint64_t seed;
  uint32_t n_members, n_args[MEMBERS];
  plain_arg arg[MEMBERS][MOST_ARGS];
} plain_task;

/* What a member does: it reads all that it reads, and then writes. */
void compute_plain(const plain_task *t, uint32_t member, uint8_t *const *at);

/* run_task: its parameters are the description of its task, and its last arg the member.
 * count_call: counts its calls in its first arg, and fills the others.
 * fail_call: returns 7.
 * check_told: see the test.
 * spoil_scratch: writes its out arg, and spoils all of its scratch.
 * die: fills its first arg, and sends itself the signal, or exits with the status, of its last.
 * look_around: writes what the process is like (surroundings) to its first arg.
 * scribble: writes into its own mailbox, or another's, and rings, as its last arg says (below).
 * fork_child: returns in a child that it makes; the status of that goes to its first arg.
 * wait_for_word: returns when the word of its first arg is not 0. */
#define TEST_KERNELS(F) \
  F(run_task)           \
  F(count_call)         \
  F(fail_call)          \
  F(check_told)         \
  F(spoil_scratch)      \
  F(die)                \
  F(look_around)        \
  F(fork_child)         \
  F(wait_for_word)      \
  F(scribble)
#define DECLARE_KERNEL(name) \
  __attribute__((visibility("default"))) int name(const fsched_kernel_call *call);
TEST_KERNELS(DECLARE_KERNEL)
#define NUMBER_KERNEL(name) KERNEL_##name,
enum { TEST_KERNELS(NUMBER_KERNEL) KERNELS };

enum { DIES_BY_EXIT = 1000 }; /* and this much less is the status */

/* A serial that its worker never had; an end of no kind; another worker's mailbox. */
enum { SCRIBBLES_SERIAL, SCRIBBLES_END, SCRIBBLES_OTHER, SCRIBBLES };

#endif
