/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/guard_judge.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, BARRIERS = 16, STATES = 1 << 17 };

/* Where all queues and barriers are.  The checks of a command are made one by one. */
typedef struct guard_state {
  uint64_t flying;         /* bits: instances that are not over, though their queues have gone on */
  uint8_t turn[QUEUES];    /* commands that the queue is behind, those that pass included */
  uint8_t checked[QUEUES]; /* checks that the next one has passed */
  uint8_t running[QUEUES]; /* whether it has started */
  uint8_t missing[BARRIERS]; /* producers of the present phase that are not over */
  uint8_t parity[BARRIERS];  /* of the last complete phase */
  uint8_t reserved[4];       /* so that there are no bytes between members */
} guard_state;

_Static_assert(sizeof(guard_state) == 8 + 3 * QUEUES + 2 * BARRIERS + 4, "");

typedef struct guard_machine {
  const fs_rolled_loop *r;
  uint64_t trip, run; /* run: iterations of each run but the last one, which may have fewer */
  uint32_t barrier0[BARRIERS]; /* per guard */
  guard_state *seen;           /* a hash table; the first byte of a free one is 255 */
  uint32_t n_seen;
  guard_state *stack;
  uint32_t depth;
  fs_guard_verdict verdict;
} guard_machine;

static uint32_t size_of(const guard_machine *m, uint32_t q) {
  return m->r->command0[q + 1] - m->r->command0[q];
}

/* The turns of a queue in a run, after which it has nothing to do there. */
static uint32_t turns_of_run(const guard_machine *m, uint32_t q) {
  uint32_t shift = 0;
  for (uint32_t c = m->r->command0[q]; c < m->r->command0[q + 1]; c++) {
    shift = m->r->command[c].shift > shift ? m->r->command[c].shift : shift;
  }
  return (uint32_t)(shift + m->run) * size_of(m, q);
}

static uint32_t turns_of(const guard_machine *m, uint32_t q) {
  return (uint32_t)((m->trip + m->run - 1) / m->run) * turns_of_run(m, q);
}

/* The iteration that a queue's turn is, if it is one. */
static bool find_turn(const guard_machine *m, uint32_t q, uint32_t turn, uint32_t *command,
                      uint64_t *iteration) {
  uint32_t run = turn / turns_of_run(m, q), own = turn % turns_of_run(m, q);
  *command = m->r->command0[q] + own % size_of(m, q);
  const fs_rolled_command *k = &m->r->command[*command];
  int64_t i = ((int64_t)(own / size_of(m, q)) - k->shift) * m->r->copies + k->copy;
  *iteration = run * m->run + (uint64_t)i;
  return i >= 0 && (uint64_t)i < m->run && *iteration < m->trip;
}

/* What passes is over at once. */
static void pass(const guard_machine *m, guard_state *s) {
  uint32_t c;
  uint64_t i;
  for (uint32_t q = 0; q < m->r->n_queues; q++) {
    while (s->turn[q] < turns_of(m, q) && !find_turn(m, q, s->turn[q], &c, &i)) {
      s->turn[q]++;
    }
  }
}

/* The bit of an instance. */
static uint64_t bit_of(const guard_machine *m, uint32_t member, uint64_t iteration) {
  return (uint64_t)1 << (member * m->trip + iteration);
}

/* Whether an iteration of a member is over: so is its turn on the first queue that has it. */
static bool is_over(const guard_machine *m, const guard_state *s, uint32_t member,
                    uint64_t iteration) {
  uint32_t c;
  uint64_t i;
  if ((s->flying & bit_of(m, member, iteration)) != 0) {
    return false;
  }
  for (uint32_t q = 0; q < m->r->n_queues; q++) {
    for (uint32_t t = 0; t < s->turn[q]; t++) {
      if (find_turn(m, q, t, &c, &i) && i == iteration && m->r->command[c].member == member) {
        return true;
      }
    }
  }
  return false;
}

static bool waits_are_over(const guard_machine *m, const guard_state *s, uint32_t command,
                           uint64_t iteration) {
  const fs_rolled_command *k = &m->r->command[command];
  bool over = true;
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits && over; w++) {
    const fs_rolled_wait *x = &m->r->wait[w];
    over = iteration < x->distance ||
           is_over(m, s, m->r->command[x->command].member, iteration - x->distance);
  }
  return over;
}

static uint32_t producers_of(const fs_rolled_guard *g) { return g->n_producers; }

static void add_state(guard_machine *m, const guard_state *s) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < sizeof *s; i++) {
    hash = (hash ^ ((const uint8_t *)s)[i]) * 1099511628211u;
  }
  uint32_t at = (uint32_t)(hash ^ hash >> 32) & (2 * STATES - 1);
  while (m->seen[at].turn[0] != 255) {
    if (memcmp(&m->seen[at], s, sizeof *s) == 0) {
      return;
    }
    at = (at + 1) & (2 * STATES - 1);
  }
  if (m->n_seen == STATES) {
    m->verdict = FS_GUARDS_LARGE;
    return;
  }
  m->seen[at] = *s;
  m->n_seen++;
  m->stack[m->depth++] = *s;
}

/* A member of an op is over: the last one of its commands counts it off. */
static void arrive(const guard_machine *m, guard_state *s, uint32_t member, uint64_t iteration) {
  for (uint32_t g = 0; g < m->r->n_guards; g++) {
    const fs_rolled_guard *x = &m->r->guard[g];
    for (uint32_t p = x->producer0; p < x->producer0 + x->n_producers; p++) {
      uint32_t b = m->barrier0[g] + (uint32_t)(iteration % x->depth);
      if (m->r->producer[p] == member && --s->missing[b] == 0) {
        s->missing[b] = (uint8_t)producers_of(x);
        s->parity[b] ^= 1;
      }
    }
  }
}

/* Makes the next check of a queue's command; false: it does not pass, or all are made. */
static bool make_check(const guard_machine *m, guard_state *s, uint32_t q, uint32_t command,
                       uint64_t iteration) {
  const fs_rolled_command *k = &m->r->command[command];
  if (s->checked[q] == k->n_checks) {
    return false;
  }
  const fs_rolled_check *x = &m->r->check[k->check0 + s->checked[q]];
  const fs_rolled_guard *g = &m->r->guard[x->guard];
  if (iteration >= x->distance) {
    uint64_t of = iteration - x->distance;
    if (s->parity[m->barrier0[x->guard] + of % g->depth] != of / g->depth % 2) {
      return false;
    }
  }
  s->checked[q]++;
  return true;
}

/* Starts an op whose commands have all made their checks: those of a gang start together. */
static bool start(guard_machine *m, guard_state *s, uint32_t q, uint32_t command,
                  uint64_t iteration) {
  const fs_rolled_command *k = &m->r->command[command];
  uint32_t c, ready = 0, wanted = 0;
  uint64_t i;
  for (uint32_t x = 0; x < m->r->n_commands; x++) {
    wanted += m->r->command[x].member == k->member && m->r->command[x].copy == k->copy;
  }
  for (uint32_t x = 0; x < m->r->n_queues; x++) {
    ready += s->turn[x] < turns_of(m, x) && find_turn(m, x, s->turn[x], &c, &i) && i == iteration &&
             m->r->command[c].member == k->member && !s->running[x] &&
             s->checked[x] == m->r->command[c].n_checks;
  }
  if (s->running[q] || ready < wanted) {
    return false;
  }
  for (uint32_t x = 0; x < m->r->n_queues; x++) {
    if (s->turn[x] < turns_of(m, x) && find_turn(m, x, s->turn[x], &c, &i) && i == iteration &&
        m->r->command[c].member == k->member) {
      s->running[x] = 1;
      if (!waits_are_over(m, s, c, i)) {
        m->verdict = FS_GUARDS_EARLY;
      }
    }
  }
  return true;
}

/* A command that runs lets its queue go on, and with it all of its gang; if it is slow, it is over
 * later. */
static void let_go(const guard_machine *m, guard_state *s, uint32_t command, uint64_t iteration) {
  uint32_t c, member = m->r->command[command].member;
  uint64_t i;
  for (uint32_t x = 0; x < m->r->n_queues; x++) {
    if (s->running[x] && find_turn(m, x, s->turn[x], &c, &i) && i == iteration &&
        m->r->command[c].member == member) {
      s->running[x] = s->checked[x] = 0;
      s->turn[x]++;
    }
  }
  if (m->r->command[command].slow) {
    s->flying |= bit_of(m, member, iteration);
  } else {
    arrive(m, s, member, iteration);
  }
  pass(m, s);
}

/* Ends each of the instances under way, in turn. */
static bool end_flying(guard_machine *m, const guard_state *from) {
  for (uint32_t k = 0; k < 64; k++) {
    guard_state s = *from;
    if (from->flying >> k & 1) {
      s.flying &= ~((uint64_t)1 << k);
      arrive(m, &s, (uint32_t)(k / m->trip), k % m->trip);
      add_state(m, &s);
    }
  }
  return from->flying != 0;
}

static void step(guard_machine *m, const guard_state *from) {
  bool moved = end_flying(m, from), done = true;
  for (uint32_t q = 0; q < m->r->n_queues && m->verdict == FS_GUARDS_RIGHT; q++) {
    guard_state s = *from;
    uint32_t c;
    uint64_t i;
    if (s.turn[q] >= turns_of(m, q)) {
      continue;
    }
    done = false;
    (void)find_turn(m, q, s.turn[q], &c, &i);
    bool can = s.running[q];
    if (can) {
      let_go(m, &s, c, i);
    } else {
      can = make_check(m, &s, q, c, i) || start(m, &s, q, c, i);
    }
    moved = moved || can;
    if (can) {
      add_state(m, &s);
    }
  }
  if (!moved && !done && m->verdict == FS_GUARDS_RIGHT) {
    m->verdict = FS_GUARDS_STUCK;
  }
}

fs_guard_verdict fs_guard_judge(const fs_rolled_loop *r, uint64_t trip) {
  return fs_guard_judge_joined(r, trip, trip > 0 ? trip : 1);
}

fs_guard_verdict fs_guard_judge_joined(const fs_rolled_loop *r, uint64_t trip, uint64_t run) {
  guard_machine m = {.r = r, .trip = trip, .run = run, .verdict = FS_GUARDS_RIGHT};
  guard_state s = {.flying = 0};
  uint32_t n = 0, members = 0;
  for (uint32_t g = 0; g < r->n_guards; g++) {
    m.barrier0[g] = n;
    n += r->guard[g].depth;
  }
  if (r->n_queues > QUEUES || n > BARRIERS || r->n_guards > BARRIERS) {
    return FS_GUARDS_LARGE;
  }
  for (uint32_t c = 0; c < r->n_commands; c++) {
    members = (uint32_t)fs_max(members, r->command[c].member + (uint64_t)1);
  }
  if (members * trip > 64) {
    return FS_GUARDS_LARGE;
  }
  for (uint32_t q = 0; q < r->n_queues; q++) {
    if (turns_of(&m, q) >= 255) {
      return FS_GUARDS_LARGE;
    }
  }
  for (uint32_t g = 0; g < r->n_guards; g++) {
    for (uint32_t b = 0; b < r->guard[g].depth; b++) {
      s.missing[m.barrier0[g] + b] = (uint8_t)producers_of(&r->guard[g]);
      s.parity[m.barrier0[g] + b] = 1; /* of a phase -1 */
    }
  }
  m.seen = malloc(2 * STATES * sizeof *m.seen);
  m.stack = malloc(STATES * sizeof *m.stack);
  if (m.seen == NULL || m.stack == NULL) {
    abort();
  }
  memset(m.seen, 255, 2 * STATES * sizeof *m.seen);
  pass(&m, &s);
  add_state(&m, &s);
  while (m.depth > 0 && m.verdict == FS_GUARDS_RIGHT) {
    guard_state at = m.stack[--m.depth];
    step(&m, &at);
  }
  free(m.seen);
  free(m.stack);
  return m.verdict;
}
