/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts of the facts (script.h) are run against.  A driver names tasks and buffers by
 * numbers of its own. */
#ifndef FS_TEST_SCRIPT_DRIVER_H
#define FS_TEST_SCRIPT_DRIVER_H

#include "exec/dynamic/engine.h"

enum { SCRIPT_ARGS = 8, SCRIPT_MEMBERS = 4, SCRIPT_TASKS = 32 };
/* Queues 0 to 3 are workers by number, of class 0; the others are of class 1. */
enum { SCRIPT_QUEUES = 6, SCRIPT_WORKERS = 4 };

typedef struct fs_script_settings {
  fsched_context *ctx;
  fsched_hazards hazards;
  uint64_t heap, timeout; /* bytes, ns */
  void *user;             /* of the clock */
  uint64_t (*now)(void *user);
  bool (*wait)(void *user, uint64_t until);
} fs_script_settings;

/* A buffer in an arg is the driver's number. */
typedef struct fs_script_task {
  const char *name;
  bool group, sub;   /* sub: on any queue of class 1 */
  uint32_t n_queues; /* that it names */
  const uint32_t *queue;
  uint32_t n_members;
  const fs_dynamic_member *member;
} fs_script_task;

typedef struct fs_script_driver {
  void *(*make)(const fs_script_settings *s);
  void (*drop)(void *of);
  fs_status (*import)(void *of, const char *name, const fs_dynamic_import *d, uint64_t *buffer);
  /* *task: FS_DYNAMIC_NO_TASK where it has no name. */
  fs_status (*alloc)(void *of, uint32_t n_dims, uint64_t bytes, uint64_t *buffer, uint64_t *task);
  fs_status (*scope)(void *of, bool begins);
  fs_status (*submit)(void *of, const fs_script_task *t, uint64_t *task);
  bool (*run)(void *of, uint64_t task); /* false: it cannot start */
  /* `cause`: NULL, or why it fails. */
  void (*end)(void *of, uint64_t task, uint32_t member, const char *cause);
  fs_status (*close)(void *of);
  void (*cancel)(void *of, const char *cause);
  fs_status (*drain)(void *of);
  fs_dynamic_run (*state)(void *of);
  /* Calls `look` with the engine; NULL: there is none, and nothing is expected of its state. */
  void (*inspect)(void *of, void (*look)(void *user, fs_dynamic *e), void *user);
  /* The engine's handles. */
  fs_dynamic_task (*task_of)(void *of, uint64_t task);
  fs_dynamic_buffer (*buffer_of)(void *of, uint64_t buffer);
  /* Expects the names of a task's predecessors, "A,B" or "-"; NULL: the engine is asked. */
  void (*expect_predecessors)(void *of, uint64_t task, const char *names);
  bool eager;     /* what is ready runs if its worker is idle */
  bool own_words; /* causes are others than the script's */
} fs_script_driver;

extern const fs_script_driver fs_script_engine;  /* the state machine alone, step by step */
extern const fs_script_driver fs_script_dynamic; /* the public calls of dynamic.h, on threads */
extern const fs_script_driver fs_script_capture; /* those of submit.h, which know no states */

#endif
