/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the loop once: an instance starts when it is next in all its queues, and all its waits are
 * over.  The order of the run does not matter: what is over before an instance starts in every run
 * is collected along queues and waits. */
#include "verify/loop/brute.h"

#include <stdlib.h>

enum { INSTANCES = FS_BRUTE_MEMBERS * FS_BRUTE_TRIPS, WORDS = (INSTANCES + 63) / 64, QUEUES = 8 };

typedef struct instance_set {
  uint64_t word[WORDS];
} instance_set;

/* A place in a queue's order: the instance of a command. */
typedef struct brute_place {
  uint32_t command, trip;
} brute_place;

typedef struct loop_brute {
  const fs_rolled_loop *r;
  uint32_t n, run; /* run: iterations of each run, of which a queue does one after the other */
  brute_place place[QUEUES][INSTANCES];
  uint32_t places[QUEUES], next[QUEUES];
  instance_set passed[QUEUES];    /* over before the next one there starts */
  instance_set before[INSTANCES]; /* over before it starts */
  bool done[INSTANCES];
} loop_brute;

static uint32_t instance_of(const loop_brute *b, uint32_t member, uint32_t trip) {
  return member * b->n + trip;
}

static void unite(instance_set *s, const instance_set *other) {
  for (uint32_t w = 0; w < WORDS; w++) {
    s->word[w] |= other->word[w];
  }
}

static void put(instance_set *s, uint32_t instance) {
  s->word[instance / 64] |= (uint64_t)1 << instance % 64;
}

static bool is_over(const loop_brute *b, uint32_t first, uint32_t then) {
  return (b->before[then].word[first / 64] >> first % 64 & 1) != 0;
}

/* Steps 0, 1, 2, ... of a queue, as long as a command has an iteration left of `first` and those
 * behind that in its run. */
static void list_queue(loop_brute *b, uint32_t q, uint32_t first) {
  bool left = true;
  int64_t run = b->n - first < b->run ? b->n - first : b->run;
  for (uint32_t step = 0; left; step++) {
    left = false;
    for (uint32_t c = b->r->command0[q]; c < b->r->command0[q + 1]; c++) {
      const fs_rolled_command *command = &b->r->command[c];
      int64_t trip =
          ((int64_t)step - (int64_t)command->shift) * (int64_t)b->r->copies + command->copy;
      left = left || trip < run;
      if (trip >= 0 && trip < run) {
        b->place[q][b->places[q]++] = (brute_place){c, first + (uint32_t)trip};
      }
    }
  }
}

static uint32_t queue_of(const loop_brute *b, uint32_t command) {
  uint32_t q = 0;
  while (command >= b->r->command0[q + 1]) {
    q++;
  }
  return q;
}

/* Collects what a wait tells; false: something of it is not over. */
static bool wait_for(loop_brute *b, const fs_rolled_wait *w, uint32_t trip, instance_set *known) {
  if (trip < w->distance) {
    return true;
  }
  uint32_t q = queue_of(b, w->command);
  if (b->r->guarded) { /* a barrier tells of the end of its producer */
    uint32_t x = instance_of(b, b->r->command[w->command].member, trip - w->distance);
    if (b->done[x]) {
      unite(known, &b->before[x]);
      put(known, x);
    }
    return b->done[x];
  }
  for (uint32_t k = 0;; k++) {
    const brute_place *p = &b->place[q][k];
    uint32_t x = instance_of(b, b->r->command[p->command].member, p->trip);
    if (!b->done[x]) {
      return false;
    }
    unite(known, &b->before[x]);
    put(known, x);
    if (p->command == w->command && p->trip == trip - w->distance) {
      return true;
    }
  }
}

static bool is_next(const loop_brute *b, uint32_t q, uint32_t command, uint32_t trip) {
  return b->next[q] < b->places[q] && b->place[q][b->next[q]].command == command &&
         b->place[q][b->next[q]].trip == trip;
}

/* Starts the instance, if it can start. */
static bool start(loop_brute *b, uint32_t member, uint32_t trip) {
  instance_set known = {{0}};
  uint32_t self = instance_of(b, member, trip);
  for (uint32_t c = 0; c < b->r->n_commands; c++) {
    const fs_rolled_command *command = &b->r->command[c];
    if (command->member != member || command->copy != trip % b->r->copies) {
      continue;
    }
    if (!is_next(b, queue_of(b, c), c, trip)) {
      return false;
    }
    unite(&known, &b->passed[queue_of(b, c)]);
    for (uint32_t w = 0; w < command->n_waits; w++) {
      if (!wait_for(b, &b->r->wait[command->wait0 + w], trip, &known)) {
        return false;
      }
    }
  }
  b->before[self] = known;
  b->done[self] = true;
  for (uint32_t q = 0; q < b->r->n_queues; q++) {
    uint32_t c = b->next[q] < b->places[q] ? b->place[q][b->next[q]].command : FS_NONE;
    if (c != FS_NONE && b->r->command[c].member == member && is_next(b, q, c, trip)) {
      b->next[q]++;
      unite(&b->passed[q], &known);
      if (!b->r->command[c].slow) {
        put(&b->passed[q], self);
      }
    }
  }
  return true;
}

/* False: it gets stuck. */
static bool run_loop(loop_brute *b) {
  bool more = true, stuck = false;
  while (more) {
    more = false;
    stuck = false;
    for (uint32_t q = 0; q < b->r->n_queues; q++) {
      while (b->next[q] < b->places[q]) {
        const brute_place *p = &b->place[q][b->next[q]];
        if (!start(b, b->r->command[p->command].member, p->trip)) {
          stuck = true;
          break;
        }
        more = true;
      }
    }
  }
  return !stuck;
}

static const char *judge_orders(const loop_brute *b, const fs_loop_rules *rules) {
  for (uint32_t k = 0; k < rules->n_orders; k++) {
    const fs_loop_order *o = &rules->order[k];
    for (uint32_t i = o->distance; i < b->n; i++) {
      if (!is_over(b, instance_of(b, o->from, i - o->distance), instance_of(b, o->to, i))) {
        return "order";
      }
    }
  }
  return NULL;
}

/* What happens to slot f mod depth apart from version f, which `reader` reads in `trip`: other
 * versions are over before, or begin when the reader is over. */
static bool reads_well(const loop_brute *b, const fs_rolled_ring *ring, uint32_t reader,
                       uint32_t trip, int64_t f) {
  int64_t depth = ring->depth;
  uint32_t self = instance_of(b, reader, trip);
  for (int64_t g = 0; g < (int64_t)b->n; g++) {
    uint32_t writer = instance_of(b, ring->writer, (uint32_t)g);
    if ((g + depth) % depth != (f + depth) % depth) {
      continue;
    }
    if (g <= f ? !is_over(b, writer, self) : writer != self && !is_over(b, self, writer)) {
      return false;
    }
  }
  return true;
}

static const char *judge_ring(const loop_brute *b, const fs_rolled_ring *ring) {
  for (uint32_t f = 0; f < b->n; f++) {
    for (uint32_t g = f + ring->depth; g < b->n; g += ring->depth) {
      if (!is_over(b, instance_of(b, ring->writer, f), instance_of(b, ring->writer, g))) {
        return "versions of a slot";
      }
    }
  }
  for (uint32_t k = 0; k < ring->n_readers; k++) {
    const fs_rolled_reader *reader = &b->r->reader[ring->reader0 + k];
    for (uint32_t i = 0; i < b->n; i++) {
      int64_t f = i < reader->back ? -1 : (int64_t)i - reader->back;
      if (!reads_well(b, ring, reader->member, i, f)) {
        return "reader of a slot";
      }
    }
  }
  return NULL;
}

static bool meet(const loop_brute *b, uint32_t x, uint32_t y) {
  return x != y && !is_over(b, x, y) && !is_over(b, y, x);
}

/* Whether entry k of the lanes holds in that trip. */
static bool holds(const loop_brute *b, const fs_loop_rules *rules, uint32_t k, uint32_t trip) {
  uint32_t copy = rules->lane_copy == NULL ? FS_NONE : rules->lane_copy[k];
  return copy == FS_NONE || trip % b->r->copies == copy;
}

static const char *judge_lane(const loop_brute *b, const fs_loop_rules *rules, uint32_t lane) {
  uint32_t first = rules->lane0[lane], entries = rules->lane0[lane + 1] - first;
  for (uint32_t k = 0; k < entries * b->n; k++) {
    for (uint32_t l = 0; l < k; l++) {
      uint32_t x = first + k / b->n, y = first + l / b->n;
      if (holds(b, rules, x, k % b->n) && holds(b, rules, y, l % b->n) &&
          meet(b, instance_of(b, rules->lane[x], k % b->n),
               instance_of(b, rules->lane[y], l % b->n))) {
        return "lane";
      }
    }
  }
  return NULL;
}

static const char *judge_run(const loop_brute *b, const fs_loop_rules *rules) {
  const char *what = judge_orders(b, rules);
  for (uint32_t k = 0; k < b->r->n_rings && what == NULL; k++) {
    what = judge_ring(b, &b->r->ring[k]);
  }
  for (uint32_t l = 0; l < rules->n_lanes && what == NULL; l++) {
    what = judge_lane(b, rules, l);
  }
  return what;
}

static loop_brute *begin(const fs_rolled_loop *r, uint32_t n_members, uint32_t n, uint32_t run) {
  assert(n <= FS_BRUTE_TRIPS && n_members <= FS_BRUTE_MEMBERS && r->n_queues <= QUEUES);
  (void)n_members;
  loop_brute *b = calloc(1, sizeof *b);
  assert(b != NULL);
  b->r = r;
  b->n = n;
  b->run = run;
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t first = 0; first < n; first += run) {
      list_queue(b, q, first);
    }
  }
  return b;
}

const char *fs_loop_brute(const fs_rolled_loop *r, const fs_loop_rules *rules, uint32_t n) {
  return fs_loop_brute_joined(r, rules, n, n > 0 ? n : 1);
}

const char *fs_loop_brute_joined(const fs_rolled_loop *r, const fs_loop_rules *rules, uint32_t n,
                                 uint32_t run) {
  assert(run > 0 && (run % r->copies == 0 || run >= n));
  loop_brute *b = begin(r, rules->n_members, n, run);
  const char *what = run_loop(b) ? judge_run(b, rules) : "deadlock";
  free(b);
  return what;
}

bool *fs_loop_brute_before(const fs_rolled_loop *r, uint32_t n_members, uint32_t n) {
  loop_brute *b = begin(r, n_members, n, n > 0 ? n : 1);
  size_t all = (size_t)n_members * n;
  bool *before = run_loop(b) ? calloc(all * all + 1, sizeof *before) : NULL;
  for (size_t x = 0; before != NULL && x < all; x++) {
    for (size_t y = 0; y < all; y++) {
      before[x * all + y] = is_over(b, (uint32_t)x, (uint32_t)y);
    }
  }
  free(b);
  return before;
}
