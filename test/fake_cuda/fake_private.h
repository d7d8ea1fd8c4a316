/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the fake driver:
 *   fake_state.c   common state: faults, injected failures, handles,
 *   fake_memory.c  allocations,
 *   fake_builtin.c the built-in kernels,
 *   fake_run.c     streams, events and graphs, and their execution,
 *   fake_calls.c, fake_graphs.c   the driver's functions,
 *   fake_find.c    how they are found. */
#ifndef FAKE_CUDA_PRIVATE_H
#define FAKE_CUDA_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "fake_cuda/fake.h"
#include "fake_cuda/ptx.h"

enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  STUB_LIBRARY = 34,
  NO_DEVICE = 100,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
  UNKNOWN = 999
};

typedef unsigned result;

/* Every object begins with this; no handle is ever given out twice, so that a late use is
 * noticed. */
typedef enum object_kind {
  KIND_MODULE,
  KIND_FUNCTION,
  KIND_STREAM,
  KIND_EVENT,
  KIND_GRAPH,
  KIND_NODE,
  KIND_EXECUTABLE,
  KIND_MEMORY,
  KIND_HOST,
  KIND_CONTEXT,
  KINDS
} object_kind;

typedef struct object {
  struct object *next; /* the list of all objects */
  object_kind kind;
  bool live;
} object;

typedef struct function {
  object base;
  const ptx_entry *entry;
  struct module *module;
  bool loaded;
  int shared_limit;
} function;

typedef struct module {
  object base;
  ptx_module *ptx;
  bool builtin; /* it is a built-in kernel of the library */
} module;

typedef struct event {
  object base;
  bool timed;
  uint64_t recorded, completed; /* tickets */
  uint64_t time;                /* ns, of the last completed one */
} event;

typedef enum command_kind {
  RUN_KERNEL,
  RUN_COPY,
  RUN_RECORD,
  RUN_WAIT,
  RUN_GRAPH,
  RUN_HOST,
  RUN_AWAIT_WORD,
  RUN_WRITE_WORD
} command_kind;

typedef struct command {
  command_kind kind;
  function *function;
  ptx_launch launch;
  uint64_t to, from, size;  /* copy */
  void (*host)(void *user); /* a function of the host, and its argument */
  void *user;
  event *event;
  uint64_t ticket;
  uint64_t *word, value; /* to wait for or to write */
  uint64_t number;       /* of all that was put into streams */
  struct executable *executable;
  uint8_t *nodes; /* a graph that runs: per node, a node_state; NULL: it has not begun */
  bool hangs;     /* whether it has begun and does not end */
  uint64_t entry; /* in the log, from 1; 0: none */
} command;

enum { NODE_TODO, NODE_DONE, NODE_HANGS };

typedef struct stream {
  object base;
  uint64_t number; /* of all streams */
  command *at;
  size_t n, cap, done;
  bool hangs; /* the command after those that are done hangs, or some of its nodes do */
} stream;

typedef struct node {
  object base;
  struct graph *graph;
  bool empty;
  command command;
  uint32_t index; /* in the graph */
  uint32_t *after;
  size_t n_after;
} node;

typedef struct graph {
  object base;
  node **node;
  uint32_t n, cap;
} graph;

typedef struct executable {
  object base;
  bool uploaded;
  uint32_t n;
  command *command; /* per node */
  bool *empty;
  uint32_t **after;
  uint32_t *n_after;
} executable;

typedef struct state {
  fake_cuda_controls controls;
  char fail[64], lacks[64], hang[64];
  uint64_t hang_calls; /* executions of that kernel that have begun */
  bool let_go;
  uint64_t seed, calls, executed, now, used;
  uint64_t n_streams, n_pushed; /* ever */
  uint64_t n_blocked;           /* calls that wait for room */
  result sticky;                /* error of an execution */
  bool initialized;
  uint32_t retained;
  object *objects;
  object *found[KINDS]; /* the last one that was looked up */
  struct memory *memories;
  char fault[256];
  uint64_t *counts; /* per function */
  fake_cuda_entry *log;
  uint64_t n_log, log_cap, steps; /* steps: commands of streams that were executed */
} state;

extern state fake;

/* fake_state.c */
void note_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t draw(uint64_t n); /* 0 .. n - 1 */
void *new_object(object_kind kind, size_t size);
/* The object behind a handle, or NULL with a fault. */
void *check_object(void *handle, object_kind kind, const char *call);

/* fake_memory.c */
typedef struct memory {
  object base;
  struct memory *next; /* of those that are there */
  uint8_t *block;      /* guard, bytes, guard */
  uint64_t address, size;
} memory;
memory *memory_new(object_kind kind, uint64_t size);
bool memory_drop(memory *m); /* whether its guards are as they were */
memory *memory_at(object_kind kind, uint64_t address);
uint8_t *memory_bytes(uint64_t address, uint64_t size);

/* fake_run.c */
void stream_push(stream *s, const command *c);
/* Steps until an event's ticket is complete, or all of a stream, or everything. */
result run_until(const event *e, uint64_t ticket, const stream *s);
void run_some(void);
/* Waits as long as that hangs; if `call` may not do so, it is a fault. */
void wait_for_hanging(const char *call);
uint64_t hanging(void);
void await_room(const stream *s);
bool all_done(void);
void executable_drop(executable *x);

/* fake_builtin.c: false when the kernel is to be run as text. */
bool run_builtin(const char *name, const ptx_launch *launch);

#endif
