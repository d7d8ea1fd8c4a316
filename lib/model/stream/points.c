/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: a queue runs in order, so of the producers (or consumers) of a barrier only the last on
 * each queue matters: its epoch is reached (it has started) after those before it.  They are listed
 * for every barrier once; a command then collects the lists of the barriers that it waits for, and
 * for the gates those of the barriers that had its barriers' physical ids before.
 *
 * Syncs: a walk in the order of issue.  `over` says per queue up to which epoch syncs have waited,
 * and `since` holds the sync that raised that epoch, so a queue that has met sync k learns the
 * epochs with a later sync. */
#include "model/stream/points.h"

#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "model/sync.h"

typedef struct point_finder {
  fs_arena *arena;
  const fs_stream *s;
  uint32_t *queue;      /* per command */
  uint32_t *slow_epoch; /* per command: of the last slow one of its queue up to it, or 0 */
} point_finder;

static bool is_slow(const point_finder *f, uint32_t command) {
  return fs_command_slow(f->s, &f->s->commands[command]);
}

static fs_status index_queues(point_finder *f) {
  const fs_stream *s = f->s;
  FS_TRY(fs_new(f->arena, &f->queue, s->n_commands));
  FS_TRY(fs_new(f->arena, &f->slow_epoch, s->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t slow = 0;
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      uint32_t c = s->queues[q].command0 + i;
      slow = is_slow(f, c) ? i + 1 : slow;
      f->queue[c] = q;
      f->slow_epoch[c] = slow;
    }
  }
  return FSCHED_OK;
}

/* ---- timelines */

static fs_status take_waits(fs_arena *arena, const fs_stream *s, fs_points *out) {
  uint32_t *point0;
  FS_TRY(fs_new_zero(arena, &point0, (size_t)s->n_commands + 1));
  for (uint32_t c = 0; c < s->n_commands; c++) { /* they tile their section in this order */
    point0[c + 1] = point0[c] + s->commands[c].n_waits;
  }
  out->point0 = point0;
  out->point = s->waits;
  return FSCHED_OK;
}

/* ---- barriers */

/* Per barrier, ascending: commands, the last of each queue. */
typedef struct lasts {
  uint32_t *first, *n, *command;
} lasts;

/* `first` has room for all of a barrier's commands, of which only the last per queue stay. */
static fs_status make_lasts(point_finder *f, bool producers, lasts *l) {
  const fs_stream *s = f->s;
  uint32_t total = 0;
  FS_TRY(fs_new(f->arena, &l->first, s->n_barriers));
  FS_TRY(fs_new_zero(f->arena, &l->n, s->n_barriers));
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    l->first[b] = total;
    total += producers ? s->barriers[b].n_producers : s->barriers[b].n_consumers;
  }
  return fs_new(f->arena, &l->command, total);
}

/* Commands come in ascending order.  Before the last of a queue the last slow one stays, too, of
 * whose end the queue itself knows nothing. */
static void add_last(const point_finder *f, lasts *l, uint32_t barrier, uint32_t command) {
  assert(barrier < f->s->n_barriers && command < f->s->n_commands);
  uint32_t *list = l->command + l->first[barrier], *n = &l->n[barrier];
  bool same = *n != 0 && f->queue[list[*n - 1]] == f->queue[command];
  *n -= same && (!is_slow(f, list[*n - 1]) || is_slow(f, command));
  list[(*n)++] = command;
}

static fs_status find_lasts(point_finder *f, lasts *producers, lasts *consumers) {
  const fs_stream *s = f->s;
  FS_TRY(make_lasts(f, true, producers));
  FS_TRY(make_lasts(f, false, consumers));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *m = &s->commands[c];
    for (uint32_t i = 0; i < m->n_barrier_updates; i++) {
      add_last(f, producers, s->barrier_updates[m->barrier_update0 + i].barrier, c);
    }
    for (uint32_t i = 0; i < m->n_barrier_waits; i++) {
      add_last(f, consumers, s->barrier_waits[m->barrier_wait0 + i], c);
    }
  }
  return FSCHED_OK;
}

/* Finds, per barrier, the previous user of its physical barrier; FS_NONE for the first. */
static fs_status find_previous(point_finder *f, uint32_t **previous) {
  const fs_stream *s = f->s;
  uint32_t *first, *of;
  FS_TRY(fs_new_none(f->arena, previous, s->n_barriers));
  FS_TRY(fs_new_zero(f->arena, &first, (size_t)s->n_barriers + 1));
  FS_TRY(fs_new(f->arena, &of, s->n_barriers));
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    first[s->barriers[b].physical + 1]++;
  }
  fs_group_starts(first, s->n_barriers);
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    of[first[s->barriers[b].physical] + s->barriers[b].use] = b;
  }
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    const fs_stream_barrier *r = &s->barriers[b];
    if (r->use > 0) {
      (*previous)[b] = of[first[r->physical] + r->use - 1];
    }
  }
  return FSCHED_OK;
}

/* The union of lists, ascending, the last command per queue. */
typedef struct gathering {
  uint32_t *latest; /* per queue: its last gathered command; FS_NONE outside of a gathering */
  uint32_t *queue;  /* queues with a gathered command */
  uint32_t n;
} gathering;

/* For a command: what queue order implies is left out, and what contradicts it, in a stream that
 * deadlocks, stays.  `ends`: commands are gathered that are over, else that have started. */
static void gather_barrier(const point_finder *f, gathering *g, const lasts *l, uint32_t barrier,
                           uint32_t command, bool ends) {
  for (uint32_t i = 0; i < l->n[barrier]; i++) {
    uint32_t c = l->command[l->first[barrier] + i], *latest = &g->latest[f->queue[c]];
    if (f->queue[c] == f->queue[command] && c < command && !(ends && is_slow(f, c))) {
      continue;
    }
    if (*latest == FS_NONE) {
      g->queue[g->n++] = f->queue[c];
      *latest = c;
    } else {
      *latest = (uint32_t)fs_max(*latest, c);
    }
  }
}

/* Ends a gathering: writes its commands to `out` (NULL: counts only). */
static uint32_t end_gathering(gathering *g, uint32_t *out) {
  uint32_t n = 0;
  qsort(g->queue, g->n, sizeof *g->queue, fs_compare_u32);
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t q = g->queue[i], c = g->latest[q];
    g->latest[q] = FS_NONE;
    if (out != NULL) {
      out[n] = c;
    }
    n++;
  }
  g->n = 0;
  return n;
}

typedef struct barriers {
  lasts producers, consumers;
  uint32_t *previous;
  gathering g;
} barriers;

static uint32_t producers_of(const point_finder *f, barriers *b, uint32_t command, uint32_t *out) {
  const fs_stream_command *m = &f->s->commands[command];
  for (uint32_t i = 0; i < m->n_barrier_waits; i++) {
    gather_barrier(f, &b->g, &b->producers, f->s->barrier_waits[m->barrier_wait0 + i], command,
                   true);
  }
  return end_gathering(&b->g, out);
}

static uint32_t gates_of(const point_finder *f, barriers *b, uint32_t command, uint32_t *out) {
  const fs_stream_command *m = &f->s->commands[command];
  for (uint32_t i = 0; i < m->n_barrier_updates; i++) {
    uint32_t before = b->previous[f->s->barrier_updates[m->barrier_update0 + i].barrier];
    if (before != FS_NONE) {
      gather_barrier(f, &b->g, &b->consumers, before, command, false);
    }
  }
  return end_gathering(&b->g, out);
}

typedef uint32_t (*list_of)(const point_finder *f, barriers *b, uint32_t command, uint32_t *out);

/* Makes lists of commands per command. */
static fs_status make_csr(point_finder *f, barriers *b, list_of list, uint32_t **first,
                          uint32_t **out) {
  uint32_t n = f->s->n_commands;
  FS_TRY(fs_new_zero(f->arena, first, (size_t)n + 1));
  for (uint32_t c = 0; c < n; c++) {
    (*first)[c + 1] = (*first)[c] + list(f, b, c, NULL);
  }
  FS_TRY(fs_new(f->arena, out, (*first)[n]));
  for (uint32_t c = 0; c < n; c++) {
    (void)list(f, b, c, *out + (*first)[c]);
  }
  return FSCHED_OK;
}

static fs_status find_barriers(point_finder *f, fs_points *out) {
  const fs_stream *s = f->s;
  barriers b = {0};
  uint32_t *point0, *producer, *gate0, *gate;
  fs_stream_wait *point;
  FS_TRY(find_lasts(f, &b.producers, &b.consumers));
  FS_TRY(find_previous(f, &b.previous));
  FS_TRY(fs_new_none(f->arena, &b.g.latest, s->n_queues));
  FS_TRY(fs_new(f->arena, &b.g.queue, s->n_queues));
  FS_TRY(make_csr(f, &b, producers_of, &point0, &producer));
  FS_TRY(make_csr(f, &b, gates_of, &gate0, &gate));
  FS_TRY(fs_new(f->arena, &point, point0[s->n_commands]));
  for (uint32_t i = 0; i < point0[s->n_commands]; i++) {
    point[i] = (fs_stream_wait){f->queue[producer[i]], s->commands[producer[i]].epoch};
  }
  *out = (fs_points){point0, point, gate0, gate};
  return FSCHED_OK;
}

/* ---- syncs */

typedef struct sync_walk {
  uint32_t *by_issue; /* commands */
  uint32_t *issued;   /* per queue: commands so far */
  uint32_t *over;     /* per queue: the last epoch that a sync has waited for */
  uint32_t *since;    /* per queue: 1 + the sync that raised it last */
  uint32_t *met;      /* per queue: syncs before its last command */
  uint32_t next;      /* sync */
} sync_walk;

static fs_status make_walk(point_finder *f, sync_walk *w) {
  const fs_stream *s = f->s;
  FS_TRY(fs_new(f->arena, &w->by_issue, s->n_commands));
  FS_TRY(fs_new(f->arena, &w->issued, s->n_queues));
  FS_TRY(fs_new(f->arena, &w->over, s->n_queues));
  FS_TRY(fs_new(f->arena, &w->since, s->n_queues));
  FS_TRY(fs_new(f->arena, &w->met, s->n_queues));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    w->by_issue[s->commands[c].issue] = c;
  }
  return FSCHED_OK;
}

static void raise_to(sync_walk *w, uint32_t queue, uint32_t epoch) {
  if (epoch > w->over[queue]) {
    w->over[queue] = epoch;
    w->since[queue] = w->next + 1;
  }
}

static void pass_stop(const point_finder *f, sync_walk *w) {
  assert(w->next < f->s->n_stops);
  const fs_stream_stop *stop = &f->s->stops[w->next];
  if (stop->queue != FS_NONE) {
    assert(stop->keep <= w->issued[stop->queue]);
    raise_to(w, stop->queue, w->issued[stop->queue] - stop->keep);
  } else {
    for (uint32_t q = 0; q < f->s->n_queues; q++) {
      raise_to(w, q, w->issued[q]);
    }
  }
  w->next++;
}

/* The epoch, of those up to one of a queue, of the last command of which queue order tells nothing;
 * 0: there is none. */
static uint32_t last_slow(const point_finder *f, uint32_t queue, uint32_t epoch) {
  return epoch == 0 ? 0 : f->slow_epoch[f->s->queues[queue].command0 + epoch - 1];
}

/* Finds the epochs that a command's queue learns from syncs that it has not met. */
static uint32_t learn(const point_finder *f, sync_walk *w, uint32_t command, fs_stream_wait *out) {
  uint32_t own = f->queue[command], n = 0;
  for (uint32_t q = 0; w->met[own] < w->next && q < f->s->n_queues; q++) {
    uint32_t epoch = q == own ? last_slow(f, q, w->over[q]) : w->over[q];
    if (epoch > 0 && w->since[q] > w->met[own]) {
      if (out != NULL) {
        out[n] = (fs_stream_wait){q, epoch};
      }
      n++;
    }
  }
  w->met[own] = w->next;
  return n;
}

/* One walk: with `point` NULL it writes the number of command c's points to first[c + 1], else the
 * points. */
static void walk_issue(const point_finder *f, sync_walk *w, uint32_t *first,
                       fs_stream_wait *point) {
  const fs_stream *s = f->s;
  size_t bytes = s->n_queues * sizeof(uint32_t);
  if (bytes != 0) {
    memset(w->issued, 0, bytes);
    memset(w->over, 0, bytes);
    memset(w->since, 0, bytes);
    memset(w->met, 0, bytes);
  }
  w->next = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    while (w->next < s->n_stops && s->stops[w->next].at <= i) {
      pass_stop(f, w);
    }
    uint32_t c = w->by_issue[i];
    uint32_t n = learn(f, w, c, point == NULL ? NULL : point + first[c]);
    if (point == NULL) {
      first[c + 1] = n;
    }
    w->issued[f->queue[c]]++;
  }
}

static fs_status find_stops(point_finder *f, fs_points *out) {
  uint32_t n = f->s->n_commands, *point0;
  fs_stream_wait *point;
  sync_walk w;
  FS_TRY(make_walk(f, &w));
  FS_TRY(fs_new_zero(f->arena, &point0, (size_t)n + 1));
  walk_issue(f, &w, point0, NULL);
  fs_group_starts(point0, n);
  FS_TRY(fs_new(f->arena, &point, point0[n]));
  walk_issue(f, &w, point0, point);
  out->point0 = point0;
  out->point = point;
  return FSCHED_OK;
}

/* ---- all */

fs_status fs_stream_points_find(fs_arena *arena, const fs_stream *s, fs_points *out) {
  assert(s->n_meta == 1);
  point_finder f = {.arena = arena, .s = s};
  uint32_t *none;
  *out = (fs_points){0};
  switch (fs_stream_sync(s)) {
    case FS_SYNC_TIMELINE:
      FS_TRY(take_waits(arena, s, out));
      break;
    case FS_SYNC_BARRIER:
      FS_TRY(index_queues(&f));
      FS_TRY(find_barriers(&f, out));
      break;
    case FS_SYNC_BLOCK:
      FS_TRY(index_queues(&f));
      FS_TRY(find_stops(&f, out));
      break;
  }
  if (out->gate0 == NULL) {
    FS_TRY(fs_new_zero(arena, &none, (size_t)s->n_commands + 1));
    out->gate0 = out->gate = none;
  }
  return FSCHED_OK;
}
