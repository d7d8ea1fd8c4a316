/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: physical barriers, and the sequencer of a machine that has syncs alone.
 *
 * Barriers.  A physical barrier is mapped to its uses in turn.  Commands that update a barrier wait
 * for the slot "mapped", commands that wait for the barrier for the slot "complete".  When the last
 * consumer starts, the next use is mapped at that virtual time.  That lets other commands start,
 * which may free other barriers.  So freed barriers are put aside first, and mapped by a loop in
 * fs_sim_sync_go_on instead of by recursion.
 *
 * On a machine, a command that updates several barriers may end part by part: each barrier is
 * complete when its own producers have counted themselves off, whatever else they update.  Here all
 * parts end with the command, which the rules allow.
 *
 * Sequencer (lib/block/block.h).  Every command has one more thing to wait for: being issued.  The
 * sequencer goes on at the virtual time at which the commands that a sync waits for were over.
 *
 * The run may meet starts and ends out of order (sim/run.c), so an event that follows the last of
 * several happens at the latest of their times. */
#include "model/sync.h"
#include "exec/host/stuck.h"
#include "exec/sim/sim.h"

fs_status fs_sim_sync_make(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_physicals_make(&x->arena, s, &x->physicals));
  FS_TRY(fs_new(&x->arena, &x->physical, x->physicals.n));
  FS_TRY(fs_new(&x->arena, &x->freed, x->physicals.n));
  if (!fs_sync_has_stops(s->meta->sync)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&x->arena, &x->by_issue, s->n_commands));
  FS_TRY(fs_new(&x->arena, &x->n_issued_of, s->n_queues));
  FS_TRY(fs_new(&x->arena, &x->over_at, s->n_commands));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    x->by_issue[s->commands[c].issue] = c;
  }
  return FSCHED_OK;
}

/* ---- barriers */

/* Sets the counts of the barrier's present use. */
static void set_counts(fs_instance *x, uint32_t physical) {
  fs_sim_physical *p = &x->physical[physical];
  const fs_stream_barrier *b =
      &x->stream->barriers[fs_physical_barrier(&x->physicals, physical, p->use)];
  p->producers = b->n_producers;
  p->consumers = b->n_consumers;
}

static void map_freed(fs_instance *x) {
  while (x->n_freed > 0) {
    uint32_t physical = x->freed[--x->n_freed];
    fs_sim_physical *p = &x->physical[physical];
    if (p->use < fs_physical_uses(&x->physicals, physical)) {
      set_counts(x, physical);
      uint32_t barrier = fs_physical_barrier(&x->physicals, physical, p->use);
      fs_sim_release_slot(x, fs_sim_mapped(x, barrier), p->free_at);
    }
  }
}

void fs_sim_sync_start(fs_instance *x, uint32_t command, uint64_t time) {
  assert(command < x->stream->n_commands);
  const fs_stream *s = x->stream;
  const fs_stream_command *c = &s->commands[command];
  for (uint32_t i = c->barrier_wait0; i < c->barrier_wait0 + c->n_barrier_waits; i++) {
    uint32_t physical = x->physicals.of[s->barrier_waits[i]];
    fs_sim_physical *p = &x->physical[physical];
    p->free_at = fs_max(p->free_at, time);
    if (--p->consumers == 0) {
      p->use++;
      x->freed[x->n_freed++] = physical;
    }
  }
}

static void update(fs_instance *x, const fs_stream_command *c, uint64_t time) {
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    uint32_t barrier = x->stream->barrier_updates[c->barrier_update0 + i].barrier;
    fs_sim_physical *p = &x->physical[x->physicals.of[barrier]];
    p->complete_at = fs_max(p->complete_at, time);
    if (--p->producers == 0) {
      fs_sim_release_slot(x, fs_sim_complete(x, barrier), p->complete_at);
    }
  }
}

/* ---- the sequencer */

/* Whether a sync is over, and when it was. */
static bool stop_over(const fs_instance *x, const fs_stream_stop *stop, uint64_t *time) {
  *time = 0;
  if (stop->queue == FS_NONE) {
    *time = x->makespan; /* the latest end of all commands issued, as all are over */
    return x->n_over == x->n_issued;
  }
  uint32_t issued = x->n_issued_of[stop->queue], wanted = issued - fs_min(stop->keep, issued);
  if (wanted > 0 && x->at[stop->queue] >= wanted) {
    *time = x->over_at[x->stream->queues[stop->queue].command0 + wanted - 1];
  }
  return x->at[stop->queue] >= wanted;
}

static void issue_commands(fs_instance *x) {
  const fs_stream *s = x->stream;
  while (x->n_issued < s->n_commands) {
    for (; x->next_stop < s->n_stops && s->stops[x->next_stop].at == x->n_issued; x->next_stop++) {
      uint64_t time;
      if (!stop_over(x, &s->stops[x->next_stop], &time)) {
        return;
      }
      x->issue_at = fs_max(x->issue_at, time);
    }
    uint32_t command = x->by_issue[x->n_issued++];
    x->n_issued_of[x->queue[command]]++;
    fs_sim_release(x, command, x->issue_at);
  }
}

/* ---- barriers and the sequencer */

void fs_sim_sync_begin(fs_instance *x) {
  for (uint32_t i = 0; i < x->physicals.n; i++) {
    x->physical[i] = (fs_sim_physical){0};
    x->freed[i] = i;
  }
  x->n_freed = x->physicals.n;
  x->n_issued = x->next_stop = x->n_over = 0;
  x->issue_at = 0;
  if (x->by_issue != NULL) {
    memset(x->n_issued_of, 0, x->stream->n_queues * sizeof *x->n_issued_of);
  }
}

void fs_sim_sync_end(fs_instance *x, uint32_t command, uint64_t time) {
  assert(command < x->stream->n_commands);
  update(x, &x->stream->commands[command], time);
  x->n_over++;
}

void fs_sim_sync_reach(fs_instance *x, uint32_t command, uint64_t time) {
  assert(command < x->stream->n_commands);
  if (x->by_issue != NULL) {
    x->over_at[command] = time;
  }
}

void fs_sim_sync_go_on(fs_instance *x) {
  map_freed(x);
  if (x->by_issue != NULL) {
    issue_commands(x);
  }
}

bool fs_sim_sync_stuck(const fs_instance *x, uint32_t command, fs_stuck *stuck) {
  assert(command < x->stream->n_commands);
  const fs_stream *s = x->stream;
  const fs_stream_command *c = &s->commands[command];
  if (x->by_issue != NULL && c->issue >= x->n_issued) {
    stuck->kind = FS_STUCK_ISSUE;
    stuck->stop = x->next_stop;
    return true;
  }
  for (uint32_t i = 0; i < c->n_barrier_waits + c->n_barrier_updates; i++) {
    bool wait = i < c->n_barrier_waits;
    uint32_t barrier =
        wait ? s->barrier_waits[c->barrier_wait0 + i]
             : s->barrier_updates[c->barrier_update0 + i - c->n_barrier_waits].barrier;
    const fs_sim_physical *p = &x->physical[x->physicals.of[barrier]];
    uint32_t use = s->barriers[barrier].use;
    if (p->use < use || (wait && p->use == use && p->producers > 0)) {
      stuck->kind = wait ? FS_STUCK_COMPLETE : FS_STUCK_MAPPED;
      stuck->barrier = barrier;
      return true;
    }
  }
  return false;
}
