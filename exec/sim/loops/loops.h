/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: loops that stay loops (model/rolled.h), instance by instance in virtual time.
 *
 *   sim/loops/make.c   the tables of all loops of a stream,
 *   sim/loops/runs.c   runs them,
 *   sim/loops/stuck.c  finds what queues in them wait for.
 *
 * A part is what a queue does in a loop.  It takes the commands of its steps in turn: one that runs
 * no iteration passes; another waits for what it waits for, then meets the other members of its
 * gang, and begins with them.  A flight is an instance on its way, on one queue: from its begin
 * until it and all flights before it on that queue are over.  There is more than one of a part only
 * where ops are slow.
 *
 * The parts of a loop that is in no other begin and end on their own: the run goes on from the
 * first begin to the last end.  Those of a loop in a loop begin and end together, unless its runs
 * are joined: then each begins, and ends, with the command of its own queue, and counts the
 * instances of all runs.  If it is slow (model/stream/slow_parts.h) its queue goes on when it has
 * no command left, and flights of several runs may be under way; so each flight knows its run.
 *
 * Of each part, one run at most goes on at any time, as those of a loop in a loop have their queues
 * one after the other; and so of each loop whose runs are not joined. */
#ifndef FS_EXEC_SIM_LOOPS_H
#define FS_EXEC_SIM_LOOPS_H

#include "exec/host/guards.h"
#include "exec/host/loops.h"
#include "exec/sim/sim.h"

typedef struct fs_sim_flight {
  uint32_t command, part;     /* of loop_commands; of loop_queues */
  uint32_t next, next_member; /* next: of its part, or, while it is free, of those that are free;
                                 next_member: of its gang, of which the first one leads */
  bool over;
  uint32_t slot; /* of its times; FS_NONE: they are not recorded */
  uint64_t iteration, begin;
  uint64_t turn; /* commands of its part before it */
  /* Where runs are joined: the op that the loop is, and its flight, which is over with this one if
   * `ends` says so. */
  uint32_t outer;
  fs_loop_instance around;
  bool ends;
} fs_sim_flight;

/* What a part does. */
typedef enum fs_sim_part_is {
  FS_SIM_PART_AWAY,     /* its queue has not come to the loop */
  FS_SIM_PART_UNISSUED, /* its present command is not issued yet (sync: block) */
  FS_SIM_PART_WAITS,    /* for an instance of another command, or for a phase of a barrier */
  FS_SIM_PART_MEETS,    /* for other members of a gang */
  FS_SIM_PART_RUNS,
  FS_SIM_PART_OVER, /* it has no command left */
  FS_SIM_PART_LEFT  /* and no flight */
} fs_sim_part_is;

typedef struct fs_sim_part {
  fs_sim_part_is is;
  uint32_t loop;
  uint32_t command;        /* of the stream: that of the outermost loop on this queue */
  uint64_t begin;          /* of the part, if the loop is in no other */
  uint32_t flight;         /* that of the op that the loop is; FS_NONE: it is in no loop */
  fs_loop_instance around; /* of that op */
  uint32_t at, next_wait;  /* the present command in its step, and its next wait or check */
  uint64_t step, steps;
  uint32_t first, last;  /* flights, in their order */
  uint32_t next;         /* in a list of those that wait for a command or barrier, or meet */
  uint64_t issued, over; /* sync: block: commands, those that pass included */
  fs_shown_walk shown;   /* through what is recorded of the run */
} fs_sim_part;

/* Of commands of one op and copy, which are a gang's if there are several, the first one leads. */
typedef struct fs_sim_member {
  uint32_t leader, part;
  bool slow;                 /* its queue goes on before it is over */
  uint32_t members, arrived; /* of a leader */
  uint32_t met;              /* of a leader: list of the parts that have arrived */
  uint32_t waiter;           /* list of the parts that wait for an instance of this command */
  uint64_t done;             /* if it signals: its instances that are over, with all before them on
                                its queue */
} fs_sim_member;

/* A barrier of loops (exec/host/guards.h). */
typedef struct fs_sim_loop_barrier {
  uint64_t complete;        /* phases in this run */
  uint32_t arrived, waiter; /* arrived: in this phase; waiter: list of the parts that wait for it */
} fs_sim_loop_barrier;

/* The present run of a loop. */
typedef struct fs_sim_loop_run {
  uint32_t
      command;     /* of the stream: that of the outermost loop, on the first queue to come to it */
  uint32_t flight; /* that of the op that the loop is; FS_NONE: it is in no loop */
  uint32_t left;   /* parts that are not over */
  bool goes_on;    /* never said of a loop whose runs are joined */
  uint64_t digest; /* of a loop in no other: the sum over its instances so far */
  /* sync: block: where the sequencer is, in steps, commands of a step, and its stops. */
  uint64_t step, steps;
  uint32_t place, stop;
} fs_sim_loop_run;

typedef struct fs_sim_loops {
  fs_loops of;           /* per op of the stream: its loop */
  fs_sim_loop_run *run;  /* per loop */
  fs_sim_part *part;     /* per loop_queue */
  fs_sim_member *member; /* per loop_command */
  fs_guards guards;
  fs_sim_loop_barrier *barrier; /* per barrier of guards */
  uint32_t *by_issue;  /* sync: block: per loop, from its first command on: by their places */
  uint32_t *stop_part; /* sync: block: per loop_stop, its part; FS_NONE: a full sync */
  FS_VEC(fs_sim_flight) flight;
  uint32_t free;         /* list of flights */
  uint32_t n_places;     /* the most that a command of a loop has */
  FS_VEC(uint64_t) seen; /* per flight that leads, n_places: hashes of the places' bytes */
} fs_sim_loops;

/* The flight's instance, which is that of all of its gang; it holds until there is a flight more.
 * Requires a flight. */
static inline fs_loop_instance fs_sim_instance_of(const fs_instance *x, uint32_t flight) {
  const fs_sim_loops *l = x->loops;
  assert(flight < l->flight.n);
  const fs_sim_flight *f = &l->flight.at[flight];
  const fs_sim_part *p = &l->part[f->part];
  const fs_stream_loop *loop = &x->stream->loops[p->loop];
  const fs_loop_instance *around = loop->joined != 0 ? &f->around : &p->around;
  return (fs_loop_instance){
      .loop = loop,
      .command = p->command,
      .loop_command = f->command,
      .op = x->stream->loop_commands[f->command].op,
      .iteration = f->iteration,
      .before = fs_loop_before(loop, around, fs_loop_trips(x->stream, x->work->trips, loop)),
      .around = f->outer == FS_NONE ? NULL : around};
}

/* Requires a part. */
static inline const fs_stream_loop_queue *fs_sim_queue_of(const fs_instance *x, uint32_t part) {
  assert(part < x->stream->n_loop_queues);
  return &x->stream->loop_queues[part];
}
/* The trips of a loop in this invocation. */
static inline uint64_t fs_sim_trips_of(const fs_instance *x, const fs_stream_loop *loop) {
  return fs_loop_trips(x->stream, x->work->trips, loop);
}
/* The present command of a part: of loop_commands. */
static inline uint32_t fs_sim_present(const fs_instance *x, uint32_t part) {
  return fs_sim_queue_of(x, part)->command0 + x->loops->part[part].at;
}
/* Whether the present command has an iteration in this step, and which. */
static inline bool fs_sim_has_iteration(const fs_instance *x, uint32_t part, uint64_t *iteration) {
  const fs_sim_part *p = &x->loops->part[part];
  const fs_stream_loop *loop = &x->stream->loops[p->loop];
  const fs_stream_loop_command *k = &x->stream->loop_commands[fs_sim_present(x, part)];
  *iteration = (p->step - k->shift) * loop->copies + k->copy;
  return p->step >= k->shift && *iteration < fs_sim_trips_of(x, loop);
}
/* The part of a queue in a loop.  Requires one of the loop's queues. */
uint32_t fs_sim_part_on(const fs_instance *x, uint32_t loop, uint32_t queue);

#endif
