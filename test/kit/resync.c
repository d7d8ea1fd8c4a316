/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of pairs (command, barrier) say who waits for and who updates what; the records are written
 * from these.  All commands of a gang have one position in the order, since they start together. */
#include "kit/resync.h"

#include <check.h>
#include <stdlib.h>

#include "codegen/draft.h"
#include "model/stream/order.h"
#include "model/sync.h"

typedef struct resync_pair {
  uint32_t command, barrier;
} resync_pair;

typedef struct resync_maker {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena arena;
  fs_rng rng;
  fs_stream_order order;
  /* Per command: position in the order; that of the gang's first member. */
  uint32_t *position;
  uint32_t n_barriers;        /* at most the number of waits */
  uint32_t *physical, *use;   /* per barrier */
  uint32_t *first, *last;     /* per barrier: positions of the first producer, the last consumer */
  resync_pair *wait, *update; /* ascending */
  uint32_t n_waits, n_updates, n_update_room;
  uint32_t *issue; /* per command */
  fs_stream_stop *stop;
  uint32_t n_stops;
  uint64_t *start, makespan; /* per command: as planned anew; NULL: not planned */
} resync_maker;

static void need(fs_status status) { ck_assert_int_eq(status, FSCHED_OK); }

static bool together(const fs_stream *s, uint32_t a, uint32_t b) {
  const fs_stream_command *x = &s->commands[a], *y = &s->commands[b];
  return x->gang_axis != FS_NONE && x->gang_axis == y->gang_axis && x->gang_epoch == y->gang_epoch;
}

static void begin(resync_maker *m, fsched_context *ctx, const fs_stream *s, uint64_t seed) {
  *m = (resync_maker){.ctx = ctx, .s = s};
  m->rng = (fs_rng){seed};
  fs_arena_init(&m->arena, ctx);
}

static void find_positions(resync_maker *m) {
  const fs_stream *s = m->s;
  need(fs_stream_order_find(&m->arena, s, &m->order));
  ck_assert_uint_eq(m->order.n_runnable, s->n_commands);
  need(fs_new(&m->arena, &m->position, s->n_commands));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t c = m->order.order[i], before = i == 0 ? c : m->order.order[i - 1];
    m->position[c] = i > 0 && together(s, before, c) ? m->position[before] : i;
  }
}

/* ---- records */

static int by_command(const void *a, const void *b) {
  const resync_pair *x = a, *y = b;
  return x->command != y->command ? (x->command > y->command) - (x->command < y->command)
                                  : (x->barrier > y->barrier) - (x->barrier < y->barrier);
}

static void write_barriers(resync_maker *m, fs_draft *d) {
  uint32_t w = 0, u = 0;
  for (uint32_t b = 0; b < m->n_barriers; b++) {
    d->barriers[b] = (fs_stream_barrier){.physical = m->physical[b], .use = m->use[b]};
  }
  for (uint32_t c = 0; c < m->s->n_commands; c++) {
    fs_stream_command *k = &d->commands[c];
    k->barrier_wait0 = w;
    for (; w < m->n_waits && m->wait[w].command == c; w++) {
      d->barrier_waits[w] = m->wait[w].barrier;
      d->barriers[m->wait[w].barrier].n_consumers++;
    }
    k->n_barrier_waits = w - k->barrier_wait0;
    k->barrier_update0 = u;
    for (; u < m->n_updates && m->update[u].command == c; u++) {
      d->barrier_updates[u] = (fs_stream_update){m->update[u].barrier, 1};
      d->barriers[m->update[u].barrier].n_producers++;
    }
    k->n_barrier_updates = u - k->barrier_update0;
  }
}

static uint32_t queue_of(const fs_stream *s, uint32_t command) {
  uint32_t q = 0;
  while (command - s->queues[q].command0 >= s->queues[q].n_commands) {
    q++;
  }
  return q;
}

static void write_commands(const resync_maker *m, fs_draft *d) {
  for (uint32_t c = 0; c < m->s->n_commands; c++) {
    fs_stream_command *k = &d->commands[c];
    k->signal = k->scope = 0;
    if (m->start != NULL) {
      k->end = m->start[c] + (k->end - k->start);
      k->start = m->start[c];
    }
    k->wait0 = k->n_waits = 0;
    k->tainted = k->n_frontier = 1; /* no more entries than there have to be */
    k->frontier0 = c;
    d->frontiers[c] = (fs_stream_wait){queue_of(m->s, c), k->epoch};
    k->issue = m->issue == NULL ? 0 : m->issue[c];
    k->barrier_wait0 = k->n_barrier_waits = k->barrier_update0 = k->n_barrier_updates = 0;
  }
}

static fsched_program *finish(resync_maker *m, fs_sync_kind kind) {
  const fs_stream *s = m->s;
  fs_draft d = {.ctx = m->ctx};
  fsched_program *p;
#define COUNT_(id, type) d.n_##id = s->n_##id;
  FS_STREAM_SECTIONS(COUNT_)
#undef COUNT_
  d.n_waits = 0;
  d.n_frontiers = s->n_commands;
  d.n_barriers = m->n_barriers;
  d.n_barrier_waits = m->n_waits;
  d.n_barrier_updates = m->n_updates;
  d.n_stops = m->n_stops;
  need(fs_draft_alloc(&d));
  d.string_end = (uint32_t)d.n_strings;
#define COPY_(id, type)                                    \
  if (d.n_##id == s->n_##id && s->n_##id > 0) {            \
    memcpy(d.id, s->id, (size_t)s->n_##id * sizeof(type)); \
  }
  FS_STREAM_SECTIONS(COPY_)
#undef COPY_
  d.meta->sync = (uint32_t)kind;
  /* Hand-made streams have none. */
  d.meta->frontier_capacity = fs_max(s->meta->frontier_capacity, 1);
  d.meta->barrier_count = d.meta->barrier_slots = kind == FS_SYNC_BARRIER ? FS_NONE : 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    d.queues[q].counting = kind == FS_SYNC_BLOCK;
  }
  if (m->start != NULL) { /* resources, and the bound that comes from them, are not kept */
    d.meta->makespan = m->makespan;
    d.meta->lower_bound = 0;
  }
  write_commands(m, &d);
  if (kind == FS_SYNC_BARRIER) {
    write_barriers(m, &d);
  } else if (m->n_stops > 0) {
    memcpy(d.stops, m->stop, m->n_stops * sizeof *m->stop);
  }
  need(fs_draft_finish(&d, &p));
  fs_arena_release(&m->arena);
  return p;
}

/* ---- barriers */

static void update(resync_maker *m, uint32_t command, uint32_t barrier) {
  ck_assert_uint_lt(m->n_updates, m->n_update_room);
  m->update[m->n_updates++] = (resync_pair){command, barrier};
}

/* Makes the producers of what a wait is for, which are all members of a gang, update a barrier. */
static void update_source(resync_maker *m, const fs_stream_wait *w, uint32_t barrier) {
  const fs_stream *s = m->s;
  if (w->axis < s->n_queues) {
    update(m, s->queues[w->axis].command0 + w->epoch - 1, barrier);
    return;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (s->commands[c].gang_axis == w->axis && s->commands[c].gang_epoch == w->epoch) {
      update(m, c, barrier);
    }
  }
}

/* How many waits are for the same command, and an earlier one of them. */
static uint32_t count_same(const fs_stream *s, uint32_t wait, uint32_t *earlier) {
  uint32_t n = 0;
  *earlier = FS_NONE;
  for (uint32_t i = 0; i < s->n_waits; i++) {
    if (s->waits[i].axis == s->waits[wait].axis && s->waits[i].epoch == s->waits[wait].epoch) {
      *earlier = i < wait ? i : *earlier;
      n++;
    }
  }
  return n;
}

static void make_pairs(resync_maker *m) {
  const fs_stream *s = m->s;
  uint32_t *barrier_of, earlier;
  m->n_update_room = s->n_waits * (s->n_queues + 1);
  need(fs_new(&m->arena, &barrier_of, s->n_waits));
  need(fs_new(&m->arena, &m->wait, s->n_waits));
  need(fs_new(&m->arena, &m->update, m->n_update_room));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    uint32_t own = FS_NONE; /* the barrier for what nobody else waits for */
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      bool alone = count_same(s, w, &earlier) == 1;
      bool made = alone ? own != FS_NONE : earlier != FS_NONE;
      uint32_t b = !made ? m->n_barriers++ : alone ? own : barrier_of[earlier];
      own = alone ? b : own;
      barrier_of[w] = b;
      if (alone || !made) {
        update_source(m, &s->waits[w], b);
      }
      if (!(alone && made)) {
        m->wait[m->n_waits++] = (resync_pair){c, b};
      }
    }
  }
}

/* Sorts pairs and removes duplicates, which arise where a gang and a member of it produce one
 * barrier. */
static void sort_pairs(resync_pair *pairs, uint32_t *n) {
  uint32_t kept = 0;
  if (*n > 0) {
    qsort(pairs, *n, sizeof *pairs, by_command);
  }
  for (uint32_t i = 0; i < *n; i++) {
    if (kept == 0 || by_command(&pairs[kept - 1], &pairs[i]) != 0) {
      pairs[kept++] = pairs[i];
    }
  }
  *n = kept;
}

static void find_spans(resync_maker *m) {
  need(fs_new_none(&m->arena, &m->first, m->n_barriers));
  need(fs_new_zero(&m->arena, &m->last, m->n_barriers));
  for (uint32_t i = 0; i < m->n_updates; i++) {
    uint32_t *first = &m->first[m->update[i].barrier];
    *first = (uint32_t)fs_min(*first, m->position[m->update[i].command]);
  }
  for (uint32_t i = 0; i < m->n_waits; i++) {
    uint32_t *last = &m->last[m->wait[i].barrier];
    *last = (uint32_t)fs_max(*last, m->position[m->wait[i].command]);
  }
}

/* Renames all barriers: to[b] is the new name of b. */
static void rename_barriers(resync_maker *m, const uint32_t *to) {
  for (uint32_t i = 0; i < m->n_waits; i++) {
    m->wait[i].barrier = to[m->wait[i].barrier];
  }
  for (uint32_t i = 0; i < m->n_updates; i++) {
    m->update[i].barrier = to[m->update[i].barrier];
  }
  sort_pairs(m->wait, &m->n_waits);
  sort_pairs(m->update, &m->n_updates);
}

/* Numbers barriers in the order in which they are first updated, and maps each to a physical one,
 * chosen by chance from those that all consumers have left. */
static void map(resync_maker *m) {
  uint32_t n = m->n_barriers, *to, *busy, *uses, *sorted, n_physical = 0;
  need(fs_new(&m->arena, &to, n));
  need(fs_new(&m->arena, &sorted, n));
  need(fs_new(&m->arena, &m->physical, n));
  need(fs_new(&m->arena, &m->use, n));
  need(fs_new(&m->arena, &busy, n));      /* per physical barrier: position */
  need(fs_new_zero(&m->arena, &uses, n)); /* per physical barrier */
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    for (; at > 0 && m->first[sorted[at - 1]] > m->first[i]; at--) {
      sorted[at] = sorted[at - 1];
    }
    sorted[at] = i;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t b = sorted[i], p = n_physical, n_free = 0;
    for (uint32_t j = 0; j < n_physical; j++) {
      if (busy[j] < m->first[b] && fs_rng_below(&m->rng, ++n_free) == 0) {
        p = j;
      }
    }
    n_physical += p == n_physical;
    to[b] = i;
    m->physical[i] = p;
    m->use[i] = uses[p]++;
    busy[p] = m->last[b];
  }
  rename_barriers(m, to);
}

static void make_barriers(resync_maker *m) {
  make_pairs(m);
  sort_pairs(m->update, &m->n_updates);
  find_spans(m);
  map(m);
}

/* ---- syncs */

typedef struct resync_sequencer {
  uint32_t *over, *issued; /* per queue: commands */
  /* Per queue: the epoch that the next command waits for; 0: nothing new. */
  uint32_t *asked;
  uint32_t at;
} resync_sequencer;

static void ask(resync_maker *m, resync_sequencer *q, const fs_stream_wait *w) {
  const fs_stream *s = m->s;
  if (w->axis < s->n_queues) {
    q->asked[w->axis] = (uint32_t)fs_max(q->asked[w->axis], w->epoch);
    return;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (s->commands[c].gang_axis == w->axis && s->commands[c].gang_epoch == w->epoch) {
      uint32_t *asked = &q->asked[m->order.queue[c]];
      *asked = (uint32_t)fs_max(*asked, s->commands[c].epoch);
    }
  }
}

static void stop(resync_maker *m, resync_sequencer *q, uint32_t queue, uint32_t keep) {
  m->stop[m->n_stops++] = (fs_stream_stop){.at = q->at, .queue = queue, .keep = keep};
}

/* Satisfies what is asked for, by one full sync or by a counting one for each queue. */
static void sync_up(resync_maker *m, resync_sequencer *q) {
  uint32_t n_queues = m->s->n_queues, n = 0;
  for (uint32_t i = 0; i < n_queues; i++) {
    n += q->asked[i] > q->over[i];
  }
  bool full = n > 0 && fs_rng_below(&m->rng, 2) == 0;
  if (full) {
    stop(m, q, FS_NONE, 0);
  }
  for (uint32_t i = 0; i < n_queues; i++) {
    if (full) {
      q->over[i] = q->issued[i];
    } else if (q->asked[i] > q->over[i]) {
      stop(m, q, i, q->issued[i] - q->asked[i]);
      q->over[i] = q->asked[i];
    }
    q->asked[i] = 0;
  }
}

/* Plans the next item, which is commands [q->at, end) of the order, after the syncs before it. */
static void plan(resync_maker *m, const resync_sequencer *q, uint32_t end, uint64_t *issue_time) {
  const fs_stream *s = m->s;
  uint32_t first = m->n_stops;
  for (; first > 0 && m->stop[first - 1].at == q->at; first--) {
  }
  for (uint32_t c = 0; c < s->n_commands && first < m->n_stops; c++) {
    const fs_stream_command *k = &s->commands[c];
    bool over = m->issue[c] < q->at && k->epoch <= q->over[m->order.queue[c]];
    *issue_time = over ? fs_max(*issue_time, m->start[c] + k->end - k->start) : *issue_time;
  }
  uint64_t start = *issue_time;
  for (uint32_t i = q->at; i < end; i++) {
    uint32_t c = m->order.order[i];
    const fs_stream_command *before = &s->commands[c] - 1;
    if (s->commands[c].epoch > 1) {
      start = fs_max(start, m->start[c - 1] + before->end - before->start);
    }
  }
  for (uint32_t i = q->at; i < end; i++) {
    const fs_stream_command *k = &s->commands[m->order.order[i]];
    m->start[m->order.order[i]] = start;
    m->makespan = fs_max(m->makespan, start + k->end - k->start);
  }
}

static void make_stops(resync_maker *m) {
  const fs_stream *s = m->s;
  resync_sequencer q = {0};
  uint64_t issue_time = 0;
  need(fs_new_none(&m->arena, &m->issue, s->n_commands));
  need(fs_new_zero(&m->arena, &m->start, s->n_commands));
  need(fs_new(&m->arena, &m->stop, (size_t)s->n_commands * (s->n_queues + 1)));
  need(fs_new_zero(&m->arena, &q.over, s->n_queues));
  need(fs_new_zero(&m->arena, &q.issued, s->n_queues));
  need(fs_new_zero(&m->arena, &q.asked, s->n_queues));
  while (q.at < s->n_commands) {
    uint32_t end = q.at + 1, position = m->position[m->order.order[q.at]];
    while (end < s->n_commands && m->position[m->order.order[end]] == position) {
      end++;
    }
    for (uint32_t i = q.at; i < end; i++) {
      const fs_stream_command *k = &s->commands[m->order.order[i]];
      for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
        ask(m, &q, &s->waits[w]);
      }
    }
    sync_up(m, &q);
    plan(m, &q, end, &issue_time);
    for (; q.at < end; q.at++) {
      uint32_t c = m->order.order[q.at];
      m->issue[c] = q.at;
      q.issued[m->order.queue[c]]++;
    }
  }
}

fsched_program *fs_resync(fsched_context *ctx, const fs_stream *s, fs_sync_kind kind,
                          uint64_t seed) {
  resync_maker m;
  begin(&m, ctx, s, seed);
  find_positions(&m);
  if (kind == FS_SYNC_BARRIER) {
    make_barriers(&m);
  } else {
    make_stops(&m);
  }
  return finish(&m, kind);
}

/* ---- what is left out */

static void take_barriers(resync_maker *m) {
  const fs_stream *s = m->s;
  m->n_barriers = s->n_barriers;
  need(fs_new(&m->arena, &m->physical, s->n_barriers));
  need(fs_new(&m->arena, &m->use, s->n_barriers));
  need(fs_new(&m->arena, &m->wait, s->n_barrier_waits));
  need(fs_new(&m->arena, &m->update, s->n_barrier_updates));
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    m->physical[b] = s->barriers[b].physical;
    m->use[b] = s->barriers[b].use;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      m->wait[m->n_waits++] = (resync_pair){c, s->barrier_waits[k->barrier_wait0 + i]};
    }
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      m->update[m->n_updates++] =
          (resync_pair){c, s->barrier_updates[k->barrier_update0 + i].barrier};
    }
  }
}

/* Drops a barrier that nobody waits for any more. */
static void drop_barrier(resync_maker *m, uint32_t barrier) {
  uint32_t *to, n = 0;
  need(fs_new(&m->arena, &to, m->n_barriers));
  for (uint32_t i = 0; i < m->n_updates; i++) {
    if (m->update[i].barrier != barrier) {
      m->update[n++] = m->update[i];
    }
  }
  m->n_updates = n;
  uint32_t physical = m->physical[barrier];
  bool alone = true; /* its physical barrier is of no more use */
  for (uint32_t b = 0; b < m->n_barriers; b++) {
    alone = alone && (b == barrier || m->physical[b] != physical);
  }
  for (uint32_t b = 0; b < m->n_barriers; b++) {
    to[b] = b - (b > barrier);
    m->use[b] -= m->physical[b] == m->physical[barrier] && m->use[b] > m->use[barrier];
  }
  m->n_barriers--;
  for (uint32_t b = barrier; b < m->n_barriers; b++) {
    m->physical[b] = m->physical[b + 1];
    m->use[b] = m->use[b + 1];
  }
  for (uint32_t b = 0; b < m->n_barriers; b++) {
    m->physical[b] -= alone && m->physical[b] > physical;
  }
  rename_barriers(m, to);
}

static void drop_wait(resync_maker *m, uint32_t index) {
  uint32_t barrier = m->wait[index].barrier;
  bool last = true;
  m->n_waits--;
  memmove(m->wait + index, m->wait + index + 1, (m->n_waits - index) * sizeof *m->wait);
  for (uint32_t i = 0; i < m->n_waits; i++) {
    last = last && m->wait[i].barrier != barrier;
  }
  if (last) {
    drop_barrier(m, barrier);
  }
}

fsched_program *fs_resync_drop(fsched_context *ctx, const fs_stream *s, uint32_t index) {
  resync_maker m;
  begin(&m, ctx, s, 0);
  if (s->meta->sync == FS_SYNC_BARRIER) {
    take_barriers(&m);
    drop_wait(&m, index);
    return finish(&m, FS_SYNC_BARRIER);
  }
  need(fs_new(&m.arena, &m.issue, s->n_commands));
  need(fs_new(&m.arena, &m.stop, s->n_stops));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    m.issue[c] = s->commands[c].issue;
  }
  for (uint32_t i = 0; i < s->n_stops; i++) {
    if (i != index) {
      m.stop[m.n_stops++] = s->stops[i];
    }
  }
  return finish(&m, FS_SYNC_BLOCK);
}
