/* SPDX-License-Identifier: Apache-2.0 */
/* What test_lanes_model.c explores: a setting, and the world that is made from it. */
#ifndef FS_TEST_LANES_WORLD_H
#define FS_TEST_LANES_WORLD_H

#include <ucontext.h>

#include "exec/cpu/lanes_sources.h"

enum {
  LANES = 4,
  WORKERS = 3,
  THREADS = WORKERS + 1, /* the last one is the thread that invokes */
  STEPS = 3,
  COMMANDS = LANES * STEPS,
  WAITS = 2,
  AXES = LANES,
  TIMELINES = AXES + 3, /* go, and two for the content */
  STACK = 6144,
  BUFFER = 4,
  SLACK = 128 /* bytes of a frame below its address */
};

/* The plan of a lane: up to STEPS commands, each after commands of others, written "lane, command
 * from 1". */
typedef struct lane_plan {
  uint8_t n;
  struct {
    uint8_t n, lane[WAITS], command[WAITS];
  } step[STEPS];
} lane_plan;

typedef enum ending { NO_ENDING, CANCELS, FAILS } ending;
/* The input that the first command reads is there at the start, comes later, or never comes. */
typedef enum content { NO_CONTENT, COMES, NEVER_COMES } content;

typedef struct setting {
  const char *name;
  uint8_t n_workers, n_lanes, invocations;
  bool from_done; /* an invocation starts the next one from within `done` */
  ending ending;  /* a thread cancels the first one at any time, or its first command fails */
  bool large;     /* explored only where FSCHED_LANES is in the environment */
  bool small;     /* also explored for each site that is spoilt */
  /* Commands end when the clock has moved; it does not move where a thread cancels. */
  bool paced;
  content content;
  lane_plan lane[LANES];
} setting;

typedef enum pending { ANY, FULL, LOCKS, SLEEPS, AWAITS, ENDED } pending;

typedef struct thread {
  pending pending; /* what its next step is */
  const volatile void *on;
  uint64_t until; /* AWAITS: until so many invocations are over; SLEEPS: the limit, or UINT64_MAX */
  uint8_t n;
  struct {
    volatile void *at;
    size_t size;
    uint64_t value;
  } buffer[BUFFER];
} thread;

/* Everything that the threads touch, in one block of memory. */
typedef struct world {
  fs_instance x;
  fs_stream stream;
  fs_io io;
  fs_work work;
  fs_worker worker[WORKERS];
  fs_cpu_lane lane[LANES];
  fs_timeline timeline[TIMELINES];
  uint64_t period[TIMELINES];
  fs_arrival arrival;
  fs_cpu_step step[COMMANDS];
  fs_step_wait wait[COMMANDS * WAITS];
  fs_stream_command command[COMMANDS];
  uint32_t none[COMMANDS + 1], given0[COMMANDS + 1], given; /* CSR of the input */
  pthread_mutex_t core;
  uint64_t over; /* invocations that are over */
  uint64_t clock;
  uint8_t running[LANES], runs[COMMANDS];
  const char *fault;
  thread thread[THREADS];
  const char *low[THREADS]; /* where the live part of each stack begins */
  ucontext_t context[THREADS];
  _Alignas(64) char stack[THREADS][STACK];
} world;

#endif
