/* SPDX-License-Identifier: Apache-2.0 */
/* The work is done on tables of bits (producer and consumer commands of each barrier), which are
 * written out as records for every question, and put to the judge. */
#include "sync_maker.h"

#include <stdlib.h>

#include "mutate.h"
#include "oracle.h"
#include "sync.h"

enum { MOST = 64, MOST_BARRIERS = 128 };

typedef struct table {
  fs_stream *s;
  uint32_t n;
  uint64_t producers[MOST_BARRIERS], consumers[MOST_BARRIERS];
  uint32_t slots[MOST_BARRIERS]; /* 0: as many as each op demands */
  uint32_t physical[MOST_BARRIERS], use[MOST_BARRIERS];
} table;

#define REC(s, id, type) ((type *)(uintptr_t)(s)->id)

static void *fresh(const void *old, size_t n, size_t size) {
  free((void *)(uintptr_t)old);
  return calloc(n + 4, size);
}

static uint32_t demand(const fs_stream *s, uint32_t c) {
  return s->commands[c].kind == FS_COMMAND_RUN ? s->ops[s->commands[c].target].slots : 1;
}

static void write_barriers(const table *t) {
  fs_stream *s = t->s;
  fs_stream_command *c = REC(s, commands, fs_stream_command);
  uint32_t *wait = REC(s, barrier_waits, uint32_t);
  fs_stream_update *update = REC(s, barrier_updates, fs_stream_update);
  s->n_barriers = t->n;
  s->n_barrier_waits = s->n_barrier_updates = 0;
  for (uint32_t b = 0; b < t->n; b++) {
    REC(s, barriers, fs_stream_barrier)
    [b] = (fs_stream_barrier){t->physical[b], t->use[b],
                              (uint32_t)__builtin_popcountll(t->producers[b]),
                              (uint32_t)__builtin_popcountll(t->consumers[b])};
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    c[i].barrier_wait0 = s->n_barrier_waits;
    c[i].barrier_update0 = s->n_barrier_updates;
    for (uint32_t b = 0; b < t->n; b++) {
      if (t->consumers[b] >> i & 1) {
        wait[s->n_barrier_waits++] = b;
      }
      if (t->producers[b] >> i & 1) {
        update[s->n_barrier_updates++] =
            (fs_stream_update){b, t->slots[b] == 0 ? demand(s, i) : t->slots[b]};
      }
    }
    c[i].n_barrier_waits = s->n_barrier_waits - c[i].barrier_wait0;
    c[i].n_barrier_updates = s->n_barrier_updates - c[i].barrier_update0;
  }
}

/* The planned times that barriers add conditions to, and the circles. */
static bool possible(const table *t) {
  const fs_stream *s = t->s;
  write_barriers(t);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      if ((fs_oracle_over(s, d, c) && s->commands[d].end > s->commands[c].start) ||
          (fs_oracle_begun(s, d, c) && s->commands[d].start > s->commands[c].start)) {
        return false;
      }
    }
  }
  return !fs_oracle_circle(s);
}

static void list_points(table *t) {
  const fs_stream *s = t->s;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t i = 0; i < s->commands[c].n_waits; i++) {
      fs_stream one = *s; /* the command with this wait alone */
      fs_stream_command only[MOST];
      uint64_t producers = 0;
      memcpy(only, s->commands, s->n_commands * sizeof *only);
      one.commands = only;
      only[c].wait0 += i;
      only[c].n_waits = 1;
      for (uint32_t d = 0; d < s->n_commands; d++) {
        producers |= (uint64_t)fs_oracle_over(&one, d, c) << d;
      }
      uint32_t b = 0;
      while (b < t->n && t->producers[b] != producers) {
        b++;
      }
      t->n += b == t->n;
      t->producers[b] = producers;
      t->consumers[b] |= (uint64_t)1 << c;
      t->physical[b] = b;
    }
  }
}

static void join_some(table *t, fs_rng *rng) {
  for (uint32_t tries = 0; t->n > 1 && tries < t->n; tries++) {
    uint32_t a = fs_rng_below(rng, t->n), b = fs_rng_below(rng, t->n);
    if (a == b) {
      continue;
    }
    table joined = *t;
    joined.producers[a] |= t->producers[b];
    joined.consumers[a] |= t->consumers[b];
    joined.n--;
    joined.producers[b] = t->producers[joined.n];
    joined.consumers[b] = t->consumers[joined.n];
    if (a == joined.n) {
      joined.producers[b] = joined.producers[a];
      joined.consumers[b] = joined.consumers[a];
    }
    if (possible(&joined)) {
      *t = joined;
    }
  }
}

/* Barriers whose producers all demand two slots or more become several with the same commands. */
static void split_some(table *t, fs_rng *rng) {
  uint32_t n = t->n;
  for (uint32_t b = 0; b < n; b++) {
    uint32_t least = UINT32_MAX;
    for (uint32_t c = 0; c < t->s->n_commands; c++) {
      least = t->producers[b] >> c & 1 ? (uint32_t)fs_min(least, demand(t->s, c)) : least;
    }
    bool equal = true;
    for (uint32_t c = 0; c < t->s->n_commands; c++) {
      equal = equal && (!(t->producers[b] >> c & 1) || demand(t->s, c) == least);
    }
    if (least < 2 || !equal || fs_rng_one_in(rng, 3) || t->n == MOST_BARRIERS) {
      continue;
    }
    t->producers[t->n] = t->producers[b];
    t->consumers[t->n] = t->consumers[b];
    t->physical[t->n] = t->n;
    t->slots[b] = 1;
    t->slots[t->n++] = least - 1;
  }
}

static void share_some(table *t, fs_rng *rng) {
  uint32_t used = 0, uses[MOST_BARRIERS] = {0};
  for (uint32_t b = 0; b < t->n; b++) { /* ids that nobody has while b is tried */
    t->physical[b] = MOST_BARRIERS + b;
  }
  for (uint32_t b = 0; b < t->n; b++) {
    uint32_t tries = 0;
    bool found = false;
    for (; used > 0 && tries < 3 && !found; tries++) {
      t->physical[b] = fs_rng_below(rng, used);
      t->use[b] = uses[t->physical[b]];
      found = possible(t);
    }
    if (!found) {
      t->physical[b] = used++;
      t->use[b] = 0;
    }
    uses[t->physical[b]]++;
  }
  REC(t->s, meta, fs_stream_meta)->barrier_count = fs_rng_one_in(rng, 4) ? FS_NONE : used;
}

static void without_waits(fs_stream *s) {
  fs_stream_command *c = REC(s, commands, fs_stream_command);
  s->n_waits = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    c[i].n_waits = c[i].wait0 = 0;
    c[i].signal = 0;
    c[i].scope = FS_SCOPE_QUEUE;
  }
}

void fs_make_barriers(fsched_program *copy, fs_rng *rng) {
  fs_stream *s = &copy->view;
  table *t = calloc(1, sizeof *t);
  t->s = s;
  list_points(t);
  without_waits(s);
  size_t most = (size_t)MOST_BARRIERS * MOST;
  s->barriers = fresh(s->barriers, MOST_BARRIERS, sizeof *s->barriers);
  s->barrier_waits = fresh(s->barrier_waits, most, sizeof *s->barrier_waits);
  s->barrier_updates = fresh(s->barrier_updates, most, sizeof *s->barrier_updates);
  fs_stream_meta *m = REC(s, meta, fs_stream_meta);
  m->sync = FS_SYNC_BARRIER;
  m->barrier_slots = FS_NONE;
  for (uint32_t o = 0; o < s->n_ops; o++) {
    REC(s, ops, fs_stream_op)[o].slots = 1 + fs_rng_below(rng, 3);
  }
  join_some(t, rng);
  split_some(t, rng);
  share_some(t, rng);
  write_barriers(t);
  uint64_t most_slots = 1;
  for (uint32_t b = 0; b < t->n; b++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n_barrier_updates; i++) {
      sum += s->barrier_updates[i].barrier == b ? s->barrier_updates[i].slots : 0;
    }
    most_slots = fs_max(most_slots, sum);
  }
  m->barrier_slots = fs_rng_one_in(rng, 4) ? FS_NONE : (uint32_t)most_slots;
  fs_mutant_repair(copy);
  free(t);
}

/* --- stops --- */

typedef struct sequencer {
  fs_stream *s;
  uint64_t waits[MOST];   /* what each command waited for */
  uint64_t issued, known; /* commands */
  uint32_t n_issued;
  fs_tick time, longest, end[MOST];
} sequencer;

static uint32_t queue_of(const fs_stream *s, uint32_t command) {
  uint32_t q = 0;
  while (command >= s->queues[q].command0 + s->queues[q].n_commands) {
    q++;
  }
  return q;
}

/* The members of a command's gang, itself alone without one. */
static uint64_t gang_of(const fs_stream *s, uint32_t c) {
  uint64_t members = (uint64_t)1 << c;
  for (uint32_t d = 0; d < s->n_commands && s->commands[c].gang_axis != FS_NONE; d++) {
    bool same = s->commands[d].gang_axis == s->commands[c].gang_axis &&
                s->commands[d].gang_epoch == s->commands[c].gang_epoch;
    members |= (uint64_t)same << d;
  }
  return members;
}

static bool can_issue(const sequencer *x, uint64_t members) {
  bool ok = true;
  for (uint32_t c = 0; c < x->s->n_commands; c++) {
    if (members >> c & 1) {
      bool first = c == x->s->queues[queue_of(x->s, c)].command0;
      ok = ok && (first || (x->issued >> (c - 1) & 1)) && (x->waits[c] & ~x->issued) == 0;
    }
  }
  return ok && (members & x->issued) == 0;
}

/* A counting stop if one queue has all that is missing. */
static void put_stop(sequencer *x, uint64_t missing, fs_rng *rng) {
  fs_stream *s = x->s;
  uint32_t q = queue_of(s, (uint32_t)__builtin_ctzll(missing));
  uint32_t last = 63 - (uint32_t)__builtin_clzll(missing);
  fs_stream_stop stop = {x->n_issued, FS_NONE, 0, 0};
  if (queue_of(s, last) == q && !fs_rng_one_in(rng, 3)) {
    uint64_t behind = x->issued >> last >> 1;
    uint32_t end = s->queues[q].command0 + s->queues[q].n_commands;
    behind &= ((uint64_t)1 << (end - last - 1)) - 1;
    stop.queue = q;
    stop.keep = (uint32_t)__builtin_popcountll(behind);
    REC(s, queues, fs_stream_queue)[q].counting = 1;
    for (uint32_t c = s->queues[q].command0; c <= last; c++) {
      x->known |= (uint64_t)1 << c;
    }
    x->time = fs_max(x->time, x->end[last]);
  } else {
    x->known |= x->issued;
    x->time = fs_max(x->time, x->longest);
  }
  REC(s, stops, fs_stream_stop)[s->n_stops++] = stop;
}

static void issue(sequencer *x, uint64_t members, fs_rng *rng) {
  fs_stream *s = x->s;
  fs_stream_command *command = REC(s, commands, fs_stream_command);
  uint64_t missing = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    missing |= members >> c & 1 ? x->waits[c] & ~x->known : 0;
  }
  if (missing != 0) {
    put_stop(x, missing, rng);
  }
  fs_tick start = x->time;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    bool first = c == s->queues[queue_of(s, c)].command0;
    start = members >> c & 1 && !first ? fs_max(start, x->end[c - 1]) : start;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (members >> c & 1) {
      x->end[c] = start + command[c].end - command[c].start;
      command[c].start = start;
      command[c].end = x->end[c];
      command[c].issue = x->n_issued++;
      x->longest = fs_max(x->longest, x->end[c]);
    }
  }
  x->issued |= members;
}

void fs_make_block(fsched_program *copy, fs_rng *rng) {
  fs_stream *s = &copy->view;
  sequencer x = {.s = s};
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      x.waits[c] |= (uint64_t)fs_oracle_over(s, d, c) << d;
    }
  }
  without_waits(s);
  s->stops = fresh(s->stops, MOST, sizeof *s->stops);
  s->n_stops = 0;
  REC(s, meta, fs_stream_meta)->sync = FS_SYNC_BLOCK;
  while (x.n_issued < s->n_commands) {
    uint32_t best = FS_NONE;
    for (uint32_t c = 0; c < s->n_commands; c++) {
      if (can_issue(&x, gang_of(s, c)) &&
          (best == FS_NONE || s->commands[c].start < s->commands[best].start)) {
        best = c;
      }
    }
    issue(&x, gang_of(s, best), rng);
  }
  REC(s, meta, fs_stream_meta)->makespan = x.longest;
  REC(s, meta, fs_stream_meta)->lower_bound = 0;
  fs_mutant_repair(copy);
}
