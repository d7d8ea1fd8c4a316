/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the judge of programs share: the machine, and what a command is. */
#ifndef FS_TEST_ORACLE_PRIVATE_H
#define FS_TEST_ORACLE_PRIVATE_H

#include "kit/oracle/oracle.h"

enum { MAX_COMMANDS = 64, MAX_ARGS = 1024 };

typedef uint64_t cell; /* content; 0: nothing */

typedef struct machine {
  const fs_stream *s;
  uint32_t queue_of[MAX_COMMANDS], epoch[MAX_COMMANDS]; /* by position */
  /* Derived by the oracle: the index within the buffer. */
  uint32_t version_of_arg[MAX_ARGS];
  cell **want;  /* per arg: expected bytes where it reads */
  cell **final; /* per buffer: bytes of its last version in program order */
  uint32_t *last_version;
  cell **byte, **unit; /* per memory */
  /* Bits; see fs_oracle_held and fs_oracle_begun. */
  uint64_t held[MAX_COMMANDS], begun[MAX_COMMANDS];
  uint64_t said[MAX_COMMANDS];  /* bits: what a frontier claims */
  uint64_t parts[MAX_COMMANDS]; /* of a running command: updates that are over */
  uint32_t started[64];         /* per queue: commands that have begun */
  uint32_t done[64];            /* per queue: commands up to which all are over */
  uint64_t over;                /* bits: commands that are over */
  uint64_t hash;
  uint64_t *seen;
  size_t n_seen, cap_seen;
  uint32_t max_states;
} machine;

static inline bool bounded_counted(const fs_stream_memory *m) {
  return m->capacity != FS_UNBOUNDED && m->placement == FSCHED_COUNTED;
}

/* May the queue of a command go on before it is over? */
static inline bool is_slow(const fs_stream *s, uint32_t c) {
  return s->commands[c].kind == FS_COMMAND_RUN && s->ops[s->commands[c].target].slow != 0;
}

static inline const fs_stream_place *places(const machine *x, uint32_t c) {
  return x->s->places + x->s->commands[c].place0;
}

static inline bool one_gang(const machine *x, uint32_t a, uint32_t b) {
  const fs_stream_command *c = &x->s->commands[a], *d = &x->s->commands[b];
  return c->gang_axis != FS_NONE && c->gang_axis == d->gang_axis && c->gang_epoch == d->gang_epoch;
}

/* Does the target have the barriers and stops that the program uses? */
fs_oracle_verdict fs_oracle_check_sync(const machine *x);

/* Checks what needs no execution: every op runs once; places lie within their memories and hold the
 * amounts they should; signals reach who waits; frontiers claim what is complete.  Requires
 * queue_of, epoch and version_of_arg; fills `said`. */
fs_oracle_verdict fs_oracle_check_static(machine *x);

#endif
