/* SPDX-License-Identifier: Apache-2.0 */
/* The work is done on tables of bits (producer and consumer commands of each barrier).  For every
 * question they are written out as records and put to the judge. */
#include "verify/resync_mutant.h"

#include <check.h>
#include <stdlib.h>

#include "kit/mutate/mutate_private.h"
#include "kit/oracle/oracle.h"
#include "kit/resync.h"

enum { MOST = 64, MOST_BARRIERS = 128 };

typedef struct resync_mutant_table {
  fs_stream *s;
  uint32_t n;
  uint64_t producers[MOST_BARRIERS], consumers[MOST_BARRIERS];
  uint32_t slots[MOST_BARRIERS]; /* 0: as many as each op demands */
  uint32_t physical[MOST_BARRIERS], use[MOST_BARRIERS];
} resync_mutant_table;

static uint32_t demand(const fs_stream *s, uint32_t c) {
  return s->commands[c].kind == FS_COMMAND_RUN ? s->ops[s->commands[c].target].slots : 1;
}

static void write_barriers(const resync_mutant_table *t) {
  fs_stream *s = t->s;
  fs_stream_command *c = REC(t, commands, fs_stream_command);
  uint32_t *wait = REC(t, barrier_waits, uint32_t);
  fs_stream_update *update = REC(t, barrier_updates, fs_stream_update);
  s->n_barriers = t->n;
  s->n_barrier_waits = s->n_barrier_updates = 0;
  for (uint32_t b = 0; b < t->n; b++) {
    REC(t, barriers, fs_stream_barrier)
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

/* Checks the planned times, to which barriers add conditions, and that nothing waits in a
 * circle. */
static bool possible(const resync_mutant_table *t) {
  const fs_stream *s = t->s;
  write_barriers(t);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      if ((fs_oracle_held(s, d, c) && s->commands[d].end > s->commands[c].start) ||
          (fs_oracle_begun(s, d, c) && s->commands[d].start > s->commands[c].start)) {
        return false;
      }
    }
  }
  return !fs_oracle_circle(s);
}

static void read_barriers(resync_mutant_table *t) {
  const fs_stream *s = t->s;
  ck_assert(s->n_commands <= MOST && s->n_barriers <= MOST_BARRIERS);
  t->n = s->n_barriers;
  for (uint32_t b = 0; b < t->n; b++) {
    t->physical[b] = b; /* share_some finds others */
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      t->consumers[s->barrier_waits[k->barrier_wait0 + i]] |= (uint64_t)1 << c;
    }
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      t->producers[s->barrier_updates[k->barrier_update0 + i].barrier] |= (uint64_t)1 << c;
    }
  }
}

static void join_some(resync_mutant_table *t, fs_rng *rng) {
  for (uint32_t tries = 0; t->n > 1 && tries < t->n; tries++) {
    uint32_t a = fs_rng_below(rng, t->n), b = fs_rng_below(rng, t->n);
    if (a == b) {
      continue;
    }
    resync_mutant_table joined = *t;
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

/* Splits barriers whose producers all demand two slots or more into several with the same
 * commands. */
static void split_some(resync_mutant_table *t, fs_rng *rng) {
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

static void share_some(resync_mutant_table *t, fs_rng *rng) {
  uint32_t used = 0, uses[MOST_BARRIERS] = {0};
  /* While b is tried, the others get ids that nothing else has. */
  for (uint32_t b = 0; b < t->n; b++) {
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
  REC(t, meta, fs_stream_meta)->barrier_count = fs_rng_one_in(rng, 4) ? FS_NONE : used;
}

/* Allocates room for all that a table may contain. */
static void *room(const void *old, size_t n, size_t size) {
  free((void *)(uintptr_t)old);
  return calloc(n, size);
}

static void set_slots(fs_stream *s, fs_rng *rng) {
  uint64_t most = 1;
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n_barrier_updates; i++) {
      sum += s->barrier_updates[i].barrier == b ? s->barrier_updates[i].slots : 0;
    }
    most = fs_max(most, sum);
  }
  ((fs_stream_meta *)(uintptr_t)s->meta)->barrier_slots =
      fs_rng_one_in(rng, 4) ? FS_NONE : (uint32_t)most;
}

static void mix_barriers(fsched_program *copy, fs_rng *rng) {
  fs_stream *s = &copy->view;
  resync_mutant_table *t = calloc(1, sizeof *t);
  t->s = s;
  read_barriers(t);
  size_t most = (size_t)MOST_BARRIERS * MOST;
  s->barriers = room(s->barriers, MOST_BARRIERS, sizeof *s->barriers);
  s->barrier_waits = room(s->barrier_waits, most, sizeof *s->barrier_waits);
  s->barrier_updates = room(s->barrier_updates, most, sizeof *s->barrier_updates);
  for (uint32_t o = 0; o < s->n_ops; o++) {
    REC(t, ops, fs_stream_op)[o].slots = 1 + fs_rng_below(rng, 3);
  }
  join_some(t, rng);
  split_some(t, rng);
  share_some(t, rng);
  write_barriers(t);
  set_slots(s, rng);
  free(t);
}

fsched_program *fs_resync_mutant(fsched_context *ctx, const fs_stream *s, fs_sync_kind kind,
                                 uint64_t seed) {
  fsched_program *p = fs_resync(ctx, s, kind, seed), *copy = fs_mutant_copy(p);
  fs_rng rng = {seed};
  fsched_program_destroy(p);
  if (kind == FS_SYNC_BARRIER) {
    mix_barriers(copy, &rng);
  }
  fs_mutant_repair(copy);
  return copy;
}
