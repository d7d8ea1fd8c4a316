/* SPDX-License-Identifier: Apache-2.0 */
/* An item may go to the phases that its neighbours leave it, which depends on the queue: with the
 * latest source that needs a sync in phase 4 on queue b, and the earliest target in phase 7,
 *
 *     phase      4    5    6    7
 *     queue a         x    x
 *     queue b    x    x    x              behind its source, without a sync between
 *
 * A move that leaves a phase empty saves its sync.  Of moves that change the measure by nothing,
 * those are made that put the item on a less loaded place than its old one without it: the sum of
 * the squares of all loads falls, so rounds end. */
#include "block/moves.h"

#include "block/tops.h"

enum { LOOK = 12, QUEUES = 24, ROUNDS = 24, MOST_CELLS = 1 << 22, STEPS = 1 << 23 };

typedef struct mover {
  const fs_block_problem *p;
  fs_block_answer *a;
  uint32_t n_phases;
  fs_tick *loads;  /* per phase: a tree of the loads of queues (tops.h) */
  uint32_t *count; /* items per phase */
  uint64_t moved, steps;
} mover;

/* The phases that an item may be in: `least` to `most`, or, on one queue each, one more. */
typedef struct phase_window {
  uint32_t least, most;
  uint32_t least_queue, most_queue; /* FS_NONE: none */
  uint32_t most_counting;           /* on a counting queue */
} phase_window;

typedef struct item_place {
  uint32_t queue, phase;
} item_place;

static fs_tick *loads_of(const mover *m, uint32_t phase) {
  return &m->loads[phase * fs_tops_size(m->p->n_queues)];
}

/* The largest of the phase's loads. */
static fs_tick length_of(const mover *m, uint32_t phase) {
  return fs_tops_most(loads_of(m, phase), m->p->n_queues);
}

static bool all_counting(const mover *m, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(m->p, item, &m->a->queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    if (!m->p->counting[queues[i]]) {
      return false;
    }
  }
  return true;
}

/* The queue that makes a sync between two items needless; FS_NONE: none does. */
static uint32_t common_queue(const mover *m, uint32_t item, uint32_t other) {
  return m->p->gang[item] || m->p->gang[other] ? FS_NONE : m->a->queue[other];
}

static void look_back(const mover *m, uint32_t item, phase_window *w) {
  const fs_block_problem *p = m->p;
  uint32_t free_least = 0; /* by edges that take no sync */
  for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
    uint32_t from = p->pred[e].from;
    uint32_t phase = m->a->phase[from];
    if (!p->pred[e].full || (p->any_counting && all_counting(m, from))) {
      free_least = phase > free_least ? phase : free_least;
    } else if (phase + 1 > w->least) {
      w->least = phase + 1;
      w->least_queue = common_queue(m, item, from);
    } else if (phase + 1 == w->least && w->least_queue != common_queue(m, item, from)) {
      w->least_queue = FS_NONE;
    }
  }
  if (free_least >= w->least) {
    w->least = free_least;
    w->least_queue = FS_NONE;
  }
}

static void look_ahead(const mover *m, uint32_t item, phase_window *w) {
  const fs_block_problem *p = m->p;
  uint32_t free_most = m->n_phases - 1;
  uint32_t most = m->n_phases; /* of targets that need a sync: the earliest phase */
  for (uint32_t e = p->succ0[item]; e < p->succ0[item + 1]; e++) {
    uint32_t to = p->succ[e].from;
    uint32_t phase = m->a->phase[to];
    if (!p->succ[e].full) {
      free_most = phase < free_most ? phase : free_most;
    } else if (phase < most) {
      most = phase;
      w->most_queue = common_queue(m, item, to);
    } else if (phase == most && w->most_queue != common_queue(m, item, to)) {
      w->most_queue = FS_NONE;
    }
  }
  w->most_counting = most < free_most ? most : free_most;
  w->most = most == 0 || most - 1 > free_most ? free_most : most - 1;
  if (most > free_most) {
    w->most_queue = FS_NONE;
  }
  if (most == 0) { /* only its own queue lets it be where it is */
    w->most = UINT32_MAX;
  }
}

static phase_window window(const mover *m, uint32_t item) {
  phase_window w = {.least_queue = FS_NONE, .most_queue = FS_NONE};
  look_back(m, item, &w);
  look_ahead(m, item, &w);
  return w;
}

static void shift(mover *m, uint32_t item, item_place at, bool in) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(m->p, item, &at.queue, &n);
  fs_tick time = m->p->time[item];
  fs_tick *loads = loads_of(m, at.phase);
  for (uint32_t i = 0; i < n; i++) {
    fs_tick load = fs_tops_load(loads, m->p->n_queues, queues[i]);
    fs_tops_set(loads, m->p->n_queues, queues[i], in ? load + time : load - time);
  }
  m->count[at.phase] += in ? 1 : UINT32_MAX;
}

/* The load of the item's busiest queue. */
static fs_tick busiest(const mover *m, uint32_t item, item_place at) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(m->p, item, &at.queue, &n);
  fs_tick load = 0;
  for (uint32_t i = 0; i < n; i++) {
    load = fs_max(load, fs_tops_load(loads_of(m, at.phase), m->p->n_queues, queues[i]));
  }
  return load;
}

typedef struct best_place {
  item_place at;
  fs_tick cost, load;
} best_place;

static void try_place(const mover *m, uint32_t item, item_place at, best_place *best) {
  fs_tick load = busiest(m, item, at);
  fs_tick with = load + m->p->time[item];
  fs_tick length = length_of(m, at.phase);
  fs_tick cost = (with > length ? with - length : 0) + (m->count[at.phase] == 0 ? m->p->cost : 0);
  if (cost < best->cost || (cost == best->cost && load < best->load)) {
    *best = (best_place){at, cost, load};
  }
}

static void try_queue(mover *m, uint32_t item, uint32_t queue, const phase_window *w,
                      best_place *best) {
  uint32_t here = m->a->phase[item];
  uint32_t least = w->least - (queue == w->least_queue);
  uint32_t most = w->most + (queue == w->most_queue);
  if (!m->p->gang[item] && m->p->counting[queue]) {
    most = w->most_counting;
  }
  if (most == UINT32_MAX) {
    return;
  }
  least = least + LOOK < here ? here - LOOK : least;
  most = most > here + LOOK ? here + LOOK : most;
  for (uint32_t phase = least; phase <= most; phase++) {
    try_place(m, item, (item_place){queue, phase}, best);
    m->steps++;
  }
}

/* Whether a queue, or FS_NONE, is one of n that ascend. */
static bool is_among(const uint32_t *queue, uint32_t n, uint32_t wanted) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (queue[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && queue[low] == wanted;
}

/* With many queues those are tried that its neighbours are on, and some others in turn. */
static void try_queues(mover *m, uint32_t item, uint32_t round, const phase_window *w,
                       best_place *best) {
  const fs_block_problem *p = m->p;
  uint32_t d = p->domain[item];
  if (d == FS_NONE) {
    try_queue(m, item, m->a->queue[item], w, best);
    return;
  }
  uint32_t n = p->domain0[d + 1] - p->domain0[d];
  const uint32_t *queue = &p->eligible[p->domain0[d]];
  uint32_t first = n > QUEUES ? (uint32_t)(((uint64_t)item * 31 + (uint64_t)round * 7919) % n) : 0;
  for (uint32_t i = 0; i < n && i < QUEUES; i++) {
    try_queue(m, item, queue[(first + i) % n], w, best);
  }
  if (n > QUEUES) {
    uint32_t low = w->least_queue < w->most_queue ? w->least_queue : w->most_queue;
    uint32_t high = w->least_queue < w->most_queue ? w->most_queue : w->least_queue;
    if (is_among(queue, n, low)) {
      try_queue(m, item, low, w, best);
    }
    if (high != low && is_among(queue, n, high)) {
      try_queue(m, item, high, w, best);
    }
  }
}

static void try_item(mover *m, uint32_t item, uint32_t round) {
  item_place here = {m->a->queue[item], m->a->phase[item]};
  phase_window w = window(m, item);
  shift(m, item, here, false);
  m->steps++;
  best_place best = {.at = here, .cost = FS_TICK_NONE};
  try_place(m, item, here, &best);
  try_queues(m, item, round, &w, &best);
  shift(m, item, best.at, true);
  m->a->queue[item] = best.at.queue;
  m->a->phase[item] = best.at.phase;
  m->moved += best.at.queue != here.queue || best.at.phase != here.phase;
}

static fs_status move_items(mover *m, fs_arena *scratch) {
  const fs_block_problem *p = m->p;
  FS_TRY(fs_new_zero(scratch, &m->loads, m->n_phases * fs_tops_size(p->n_queues)));
  FS_TRY(fs_new_zero(scratch, &m->count, m->n_phases));
  for (uint32_t i = 0; i < p->n; i++) {
    shift(m, i, (item_place){m->a->queue[i], m->a->phase[i]}, true);
  }
  for (uint32_t round = 0; round < ROUNDS; round++) {
    m->moved = 0;
    for (uint32_t i = 0; i < p->n && m->steps < STEPS; i++) {
      try_item(m, p->order[round % 2 == 0 ? p->n - 1 - i : i], round);
    }
    if (m->moved == 0) {
      break;
    }
  }
  return FSCHED_OK;
}

fs_status fs_block_move(fsched_context *ctx, const fs_block_problem *p, fs_block_answer *a) {
  assert(a->queue != NULL && a->phase != NULL);
  mover m = {.p = p, .a = a, .n_phases = a->syncs + 1};
  if ((uint64_t)m.n_phases * p->n_queues > MOST_CELLS || p->n == 0) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, ctx);
  FS_TRY(move_items(&m, &scratch));
  return fs_block_answer_fill(ctx, p, a);
}
