/* SPDX-License-Identifier: Apache-2.0 */
/* The walk on the barrier machine.
 *
 * A command starts when all producers of each barrier that it waits for are over, and each barrier
 * that it updates is mapped: all consumers of the previous barrier on the same physical one have
 * started.  The walk starts and ends a command in one step.  That is enough.  A condition that
 * holds goes on to hold until the command starts (a complete barrier stays complete; a mapped one
 * stays mapped while a producer is missing, since its consumers wait for that producer), and a
 * command needs all of its conditions.  If some execution got stuck, then all commands that it
 * started would be over, and the first command of the walk that it has not started could start.
 *
 * Clocks: a barrier's clock holds its producers, at their ends (stream/apart.c), and all that they
 * know; of a
 * producer that also updates other barriers, it holds what the producer knows at its begin
 * (stream/parts.c).
 * A mapped barrier shows that other commands have started; nothing is concluded from that. */
#include "verify/stream/walk.h"

#include "base/context.h"

static const uint32_t *waits_of(const fs_vs *v, uint32_t command, uint32_t *n) {
  *n = v->s->commands[command].n_barrier_waits;
  return v->s->barrier_waits + v->s->commands[command].barrier_wait0;
}
static const fs_stream_update *updates_of(const fs_vs *v, uint32_t command, uint32_t *n) {
  *n = v->s->commands[command].n_barrier_updates;
  return v->s->barrier_updates + v->s->commands[command].barrier_update0;
}

static bool mapped(const fs_vwalk *w, uint32_t barrier) {
  assert(barrier < w->v->s->n_barriers);
  uint32_t before = w->v->use_before[barrier];
  return before == FS_NONE || w->starts_left[before] == 0;
}

uint32_t fs_vbarrier_lacks(fs_vwalk *w, uint32_t q) {
  assert(q < w->v->s->n_queues);
  uint32_t n_waits, n_updates;
  const uint32_t *wait = waits_of(w->v, w->head[q], &n_waits);
  const fs_stream_update *update = updates_of(w->v, w->head[q], &n_updates);
  for (; w->next_wait[q] < n_waits; w->next_wait[q]++) {
    if (w->ends_left[wait[w->next_wait[q]]] > 0) {
      return 2 * wait[w->next_wait[q]];
    }
  }
  for (; w->next_wait[q] < n_waits + n_updates; w->next_wait[q]++) {
    if (!mapped(w, update[w->next_wait[q] - n_waits].barrier)) {
      return 2 * update[w->next_wait[q] - n_waits].barrier + 1;
    }
  }
  return FS_NONE;
}

/* --- clocks --- */

void fs_vbarrier_join(fs_vwalk *w, uint32_t command) {
  assert(command < w->v->s->n_commands);
  uint32_t n, known = w->v->now.n;
  const uint32_t *wait = waits_of(w->v, command, &n);
  for (uint32_t i = 0; i < n; i++) {
    fs_vdense_join(&w->v->now, w->clock[wait[i]]);
    if (w->split[wait[i]] != FS_NONE) {
      fs_vdense_raise(&w->v->now, w->split[wait[i]], 1);
    }
    if (--w->reads_left[wait[i]] == 0) {
      fs_vclock_release(&w->v->clocks, w->clock[wait[i]]);
      w->clock[wait[i]] = NULL;
    }
  }
  fs_vparts_settle(w, known);
}

/* Makes a barrier's clock when all of its producers are over. */
static fs_status make_clock(fs_vwalk *w, uint32_t barrier) {
  assert(w->ends_left[barrier] == 0);
  fs_vs *v = w->v;
  fs_vdense_clear(&v->other);
  for (uint32_t k = v->producer0[barrier]; k < v->producer0[barrier + 1]; k++) {
    uint32_t c = v->producer[k].command;
    fs_vdense_join(&v->other, v->snapshot[c]);
    fs_vdense_raise(&v->other, v->command_queue[c], v->s->commands[c].epoch - 1);
    if (v->s->commands[c].n_barrier_updates == 1) {
      fs_vapart_over(v, &v->other, c);
    }
    if (--v->snapshot_refs[c] == 0) {
      fs_vclock_release(&v->clocks, v->snapshot[c]);
      v->snapshot[c] = NULL;
    }
  }
  if (w->reads_left[barrier] == 0) {
    return FSCHED_OK;
  }
  return fs_vclock_make(&v->clocks, &v->other, FS_NONE, &w->clock[barrier]);
}

/* --- progress --- */

static void started(fs_vwalk *w, uint32_t command) {
  uint32_t n;
  const uint32_t *wait = waits_of(w->v, command, &n);
  fs_tick start = w->v->s->commands[command].start;
  for (uint32_t i = 0; i < n; i++) {
    if (w->last_start_by[wait[i]] == FS_NONE || w->last_start[wait[i]] < start) {
      w->last_start[wait[i]] = start;
      w->last_start_by[wait[i]] = command;
    }
    uint32_t behind = w->v->use_behind[wait[i]];
    if (--w->starts_left[wait[i]] == 0 && behind != FS_NONE) {
      fs_vwalk_wake(w, 2 * behind + 1);
    }
  }
}

static fs_status ended(fs_vwalk *w, uint32_t command) {
  uint32_t n;
  const fs_stream_update *update = updates_of(w->v, command, &n);
  fs_tick end = w->v->s->commands[command].end;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t b = update[i].barrier;
    if (w->end_by[b] == FS_NONE || w->end[b] < end) {
      w->end[b] = end;
      w->end_by[b] = command;
    }
    if (--w->ends_left[b] == 0) {
      FS_TRY(make_clock(w, b));
      fs_vwalk_wake(w, 2 * b);
    }
  }
  return FSCHED_OK;
}

fs_status fs_vbarrier_ran(fs_vwalk *w, const uint32_t *commands, uint32_t n) {
  assert(n > 0);
  for (uint32_t i = 0; i < n; i++) {
    started(w, commands[i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(ended(w, commands[i]));
  }
  return FSCHED_OK;
}

/* --- planned times --- */

void fs_vbarrier_plan(const fs_vwalk *w, uint32_t command) {
  assert(command < w->v->s->n_commands);
  fs_vs *v = w->v;
  char name[FS_VNAME], other[FS_VNAME];
  fs_tick start = v->s->commands[command].start;
  uint32_t n;
  const uint32_t *wait = waits_of(v, command, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (w->end_by[wait[i]] != FS_NONE && w->end[wait[i]] > start) {
      FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned before the end of %s, for which it waits",
               fs_vs_command_name(v, command, name),
               fs_vs_command_name(v, w->end_by[wait[i]], other));
    }
  }
  const fs_stream_update *update = updates_of(v, command, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t before = v->use_before[update[i].barrier];
    if (before != FS_NONE && w->last_start_by[before] != FS_NONE && w->last_start[before] > start) {
      FS_WRONG(v, FS_DIAG_VERIFY_PLAN,
               "%s is planned before the start of %s, which frees physical barrier %u for it",
               fs_vs_command_name(v, command, name),
               fs_vs_command_name(v, w->last_start_by[before], other),
               v->s->barriers[before].physical);
    }
  }
}

/* --- stuck queues --- */

static bool has_run(const fs_vwalk *w, uint32_t command) {
  return command < w->head[w->v->command_queue[command]];
}

void fs_vbarrier_stuck(fs_vwalk *w, uint32_t q, uint32_t event) {
  assert(q < w->v->s->n_queues);
  fs_vs *v = w->v;
  char name[FS_VNAME], other[FS_VNAME];
  uint32_t barrier = event / 2, physical = v->s->barriers[barrier].physical;
  fs_vs_command_name(v, w->head[q], name);
  if (event % 2 == 0) {
    uint32_t k = v->producer0[barrier];
    while (k + 1 < v->producer0[barrier + 1] && has_run(w, v->producer[k].command)) {
      k++;
    }
    FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK,
             "%s waits for barrier %u (physical %u), which waits for %s", name, barrier, physical,
             fs_vs_command_name(v, v->producer[k].command, other));
    return;
  }
  uint32_t before = v->use_before[barrier], k = v->consumer0[before];
  while (k + 1 < v->consumer0[before + 1] && has_run(w, v->consumer[k])) {
    k++;
  }
  bool itself = v->consumer[k] == w->head[q];
  FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK,
           "%s updates barrier %u, which is not mapped: physical %u holds barrier %u until %s has "
           "started",
           name, barrier, physical, before,
           itself ? "the command itself" : fs_vs_command_name(v, v->consumer[k], other));
}

/* --- begin --- */

fs_status fs_vbarrier_prepare(fs_vwalk *w) {
  assert(fs_sync_has_barriers(w->v->kind));
  fs_vs *v = w->v;
  const fs_stream *s = v->s;
  uint32_t n = s->n_barriers;
  FS_TRY(fs_new(&v->arena, &w->ends_left, n));
  FS_TRY(fs_new(&v->arena, &w->starts_left, n));
  FS_TRY(fs_new(&v->arena, &w->reads_left, n));
  FS_TRY(fs_new_zero(&v->arena, &w->clock, n));
  FS_TRY(fs_new_zero(&v->arena, &w->end, n));
  FS_TRY(fs_new_zero(&v->arena, &w->last_start, n));
  FS_TRY(fs_new_none(&v->arena, &w->end_by, n));
  FS_TRY(fs_new_none(&v->arena, &w->last_start_by, n));
  for (uint32_t b = 0; b < n; b++) {
    w->ends_left[b] = v->producer0[b + 1] - v->producer0[b];
    w->starts_left[b] = w->reads_left[b] = v->consumer0[b + 1] - v->consumer0[b];
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    v->snapshot_refs[i] = s->commands[i].n_barrier_updates;
  }
  return FSCHED_OK;
}
