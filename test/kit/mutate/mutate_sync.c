/* SPDX-License-Identifier: Apache-2.0 */
/* Small changes of barriers and stops.  Counts are corrected, so that only the meaning is wrong. */
#include "kit/mutate/mutate_private.h"
#include "model/sync.h"

#define BARRIER(m) REC(m, barriers, fs_stream_barrier)
#define STOP(m) REC(m, stops, fs_stream_stop)

static bool drop_barrier_wait(mutant *m) {
  if (m->s->n_barrier_waits == 0) {
    return false;
  }
  uint32_t at = pick(m, m->s->n_barrier_waits);
  uint32_t *w = REC(m, barrier_waits, uint32_t);
  BARRIER(m)[w[at]].n_consumers--;
  memmove(w + at, w + at + 1, (m->s->n_barrier_waits - at - 1) * sizeof *w);
  m->s->n_barrier_waits--;
  for (uint32_t i = 0; i < m->s->n_commands; i++) {
    fs_stream_command *c = &COMMAND(m)[i];
    c->n_barrier_waits -= at - c->barrier_wait0 < c->n_barrier_waits;
    c->barrier_wait0 -= c->barrier_wait0 > at;
  }
  return true;
}

static bool drop_update(mutant *m) {
  if (m->s->n_barrier_updates == 0) {
    return false;
  }
  uint32_t at = pick(m, m->s->n_barrier_updates);
  fs_stream_update *u = REC(m, barrier_updates, fs_stream_update);
  BARRIER(m)[u[at].barrier].n_producers--;
  memmove(u + at, u + at + 1, (m->s->n_barrier_updates - at - 1) * sizeof *u);
  m->s->n_barrier_updates--;
  for (uint32_t i = 0; i < m->s->n_commands; i++) {
    fs_stream_command *c = &COMMAND(m)[i];
    c->n_barrier_updates -= at - c->barrier_update0 < c->n_barrier_updates;
    c->barrier_update0 -= c->barrier_update0 > at;
  }
  return true;
}

/* Makes a command wait for another barrier than before. */
static bool other_barrier(mutant *m) {
  if (m->s->n_barrier_waits == 0 || m->s->n_barriers < 2) {
    return false;
  }
  uint32_t i = 0;
  while (m->s->commands[i].n_barrier_waits != 1) {
    if (++i == m->s->n_commands) {
      return false;
    }
  }
  uint32_t *w = &REC(m, barrier_waits, uint32_t)[m->s->commands[i].barrier_wait0];
  uint32_t other = pick(m, m->s->n_barriers);
  bool same = other == *w;
  BARRIER(m)[*w].n_consumers--;
  BARRIER(m)[other].n_consumers++;
  *w = other;
  return !same;
}

static bool swap_physical(mutant *m) {
  if (m->s->n_barriers < 2) {
    return false;
  }
  fs_stream_barrier *a = &BARRIER(m)[pick(m, m->s->n_barriers)];
  fs_stream_barrier *b = &BARRIER(m)[pick(m, m->s->n_barriers)], swap = *a;
  a->physical = b->physical;
  a->use = b->use;
  b->physical = swap.physical;
  b->use = swap.use;
  return a->physical != b->physical || a->use != b->use;
}

/* Moves the barrier behind the last use of another physical barrier, or only gives it a wrong
 * count. */
static bool move_use(mutant *m) {
  if (m->s->n_barriers < 2) {
    return false;
  }
  uint32_t moved = pick(m, m->s->n_barriers), to = pick(m, m->s->n_barriers), uses = 0;
  fs_stream_barrier *b = BARRIER(m), old = b[moved];
  if (fs_rng_one_in(m->rng, 6)) {
    b[moved].use += fs_rng_one_in(m->rng, 2) && b[moved].use > 0 ? UINT32_MAX : 1;
    return true;
  }
  if (b[to].physical == old.physical) {
    return false;
  }
  for (uint32_t i = 0; i < m->s->n_barriers; i++) {
    uses += b[i].physical == b[to].physical;
    b[i].use -= i != moved && b[i].physical == old.physical && b[i].use > old.use;
  }
  b[moved].physical = b[to].physical;
  b[moved].use = uses;
  return true;
}

static bool change_slots(mutant *m) {
  if (m->s->n_barrier_updates == 0) {
    return false;
  }
  fs_stream_update *u = REC(m, barrier_updates, fs_stream_update);
  uint32_t at = pick(m, m->s->n_barrier_updates);
  u[at].slots += fs_rng_one_in(m->rng, 2) ? 1 + pick(m, 4) : UINT32_MAX;
  return true;
}

static bool change_bound(mutant *m) {
  fs_stream_meta *meta = REC(m, meta, fs_stream_meta);
  uint32_t most = 0;
  for (uint32_t b = 0; b < m->s->n_barriers; b++) {
    most = (uint32_t)fs_max(most, m->s->barriers[b].physical);
  }
  if (m->s->n_barriers == 0) {
    return false;
  }
  meta->barrier_count = most;
  return true;
}

static bool change_counts(mutant *m) {
  if (m->s->n_barriers == 0) {
    return false;
  }
  fs_stream_barrier *b = &BARRIER(m)[pick(m, m->s->n_barriers)];
  *(fs_rng_one_in(m->rng, 2) ? &b->n_producers : &b->n_consumers) +=
      fs_rng_one_in(m->rng, 2) ? 1 : UINT32_MAX;
  return true;
}

static bool drop_stop(mutant *m) {
  if (m->s->n_stops == 0) {
    return false;
  }
  uint32_t at = pick(m, m->s->n_stops);
  memmove(STOP(m) + at, STOP(m) + at + 1, (m->s->n_stops - at - 1) * sizeof *m->s->stops);
  m->s->n_stops--;
  return true;
}

/* Makes a stop keep more, become full, or count where it did not. */
static bool change_keep(mutant *m) {
  if (m->s->n_stops == 0) {
    return false;
  }
  fs_stream_stop *x = &STOP(m)[pick(m, m->s->n_stops)];
  if (x->queue == FS_NONE) {
    x->queue = pick(m, m->s->n_queues);
  } else {
    x->keep += fs_rng_one_in(m->rng, 3) && x->keep > 0 ? UINT32_MAX : 1;
  }
  return true;
}

static bool shift_stop(mutant *m) {
  if (m->s->n_stops == 0) {
    return false;
  }
  fs_stream_stop *x = &STOP(m)[pick(m, m->s->n_stops)];
  x->at += fs_rng_one_in(m->rng, 2) && x->at > 0 ? UINT32_MAX : 1;
  return true;
}

static bool swap_issue(mutant *m) {
  if (m->s->meta[0].sync != FS_SYNC_BLOCK || m->s->n_commands < 2) {
    return false;
  }
  uint32_t at = pick(m, m->s->n_commands - 1), with = at + 1, a = 0, b = 0;
  with = fs_rng_one_in(m->rng, 2) ? pick(m, m->s->n_commands) : with;
  for (uint32_t i = 0; i < m->s->n_commands; i++) {
    a = m->s->commands[i].issue == at ? i : a;
    b = m->s->commands[i].issue == with ? i : b;
  }
  COMMAND(m)[a].issue = with;
  COMMAND(m)[b].issue = fs_rng_one_in(m->rng, 8) ? with : at;
  return at != with;
}

/* Adds what only programs with another kind of sync have: a place in the order of issue, or a
 * barrier. */
static bool stray_sync(mutant *m) {
  if (m->s->meta[0].sync != FS_SYNC_BLOCK) {
    REC(m, commands, fs_stream_command)[pick(m, m->s->n_commands)].issue++;
  } else {
    REC(m, barriers, fs_stream_barrier)[m->s->n_barriers++] = (fs_stream_barrier){0, 0, 0, 0};
  }
  return true;
}

bool fs_mutate_sync(mutant *m, fs_program_mutation mutation) {
  switch (mutation) {
    case FS_MUTATE_BARRIER_WAIT:
      return drop_barrier_wait(m);
    case FS_MUTATE_BARRIER_UPDATE:
      return drop_update(m);
    case FS_MUTATE_BARRIER_OTHER:
      return other_barrier(m);
    case FS_MUTATE_PHYSICAL:
      return swap_physical(m);
    case FS_MUTATE_USE:
      return move_use(m);
    case FS_MUTATE_SLOTS:
      return change_slots(m);
    case FS_MUTATE_BOUND:
      return change_bound(m);
    case FS_MUTATE_COUNTS:
      return change_counts(m);
    case FS_MUTATE_DROP_STOP:
      return drop_stop(m);
    case FS_MUTATE_KEEP:
      return change_keep(m);
    case FS_MUTATE_STOP_AT:
      return shift_stop(m);
    case FS_MUTATE_ISSUE:
      return swap_issue(m);
    case FS_MUTATE_STRAY:
      return stray_sync(m);
    default:
      return false;
  }
}
