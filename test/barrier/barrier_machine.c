/* SPDX-License-Identifier: Apache-2.0 */
#include "barrier/barrier_machine.h"

#include <stdlib.h>
#include <string.h>

/* --- results by themselves --- */

static const char *check_arrays(const fs_barrier_problem *p, const fs_barriers *b) {
  uint64_t *taken = calloc(b->n + 1, sizeof *taken);
  uint32_t *uses = calloc((size_t)b->used + 1, sizeof *uses);
  const char *fault = b->used > p->bound ? "more physical barriers than the bound" : NULL;
  for (uint32_t i = 0; i < b->n && fault == NULL; i++) {
    if (b->physical[i] >= b->used) {
      fault = "a physical id beyond those in use";
    } else if (b->use[i] != uses[b->physical[i]]++) {
      fault = "uses do not count";
    }
  }
  for (uint32_t c = 0; c < p->n_commands && fault == NULL; c++) {
    uint64_t slots = 0;
    for (uint32_t k = b->update0[c]; k < b->update0[c + 1]; k++) {
      taken[b->update[k]] += b->slots[k];
      slots += b->slots[k];
      fault = b->slots[k] == 0 ? "no slot" : fault;
      fault = k > b->update0[c] && b->update[k] <= b->update[k - 1] ? "updates unsorted" : fault;
    }
    fault = slots != 0 && slots != p->demand[p->command_item[c]] ? "slots" : fault;
    for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
      fault = b->wait[k] >= b->n ? "a wait for nothing" : fault;
      fault = k > b->wait0[c] && b->wait[k] <= b->wait[k - 1] ? "waits unsorted" : fault;
    }
  }
  for (uint32_t i = 0; i < b->n && fault == NULL; i++) {
    fault = taken[i] == 0 || taken[i] > p->n_slots ? "slots of a barrier" : NULL;
  }
  free(taken);
  free(uses);
  return fault;
}

/* The last use before b of its physical barrier, or FS_NONE. */
static uint32_t use_before(const fs_barriers *b, uint32_t i) {
  for (uint32_t k = i; k-- > 0;) {
    if (b->physical[k] == b->physical[i]) {
      return k;
    }
  }
  return FS_NONE;
}

typedef struct barrier_machine_times {
  fs_tick *queue, *end, *gate;
  uint32_t *left; /* per barrier: commands that have yet to wait */
  uint32_t *producers;
  uint32_t *before;
} barrier_machine_times;

static const char *check_start(const fs_barrier_problem *p, const fs_barriers *b,
                               barrier_machine_times *t, uint32_t u) {
  fs_tick start = b->start[u];
  if (start < p->start[u]) {
    return "starts before its plan";
  }
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    for (uint32_t w = b->wait0[c]; w < b->wait0[c + 1]; w++) {
      if (start < t->end[b->wait[w]] || t->producers[b->wait[w]] > 0) {
        return "starts before a barrier";
      }
    }
    for (uint32_t w = b->update0[c]; w < b->update0[c + 1]; w++) {
      uint32_t before = t->before[b->update[w]];
      if (before != FS_NONE && (start < t->gate[before] || t->left[before] > 0)) {
        return "takes a barrier that is held";
      }
    }
  }
  return NULL;
}

static const char *check_item(const fs_barrier_problem *p, const fs_barriers *b,
                              barrier_machine_times *t, const uint32_t *command_queue, uint32_t u) {
  const char *fault = check_start(p, b, t, u);
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    fault = b->start[u] < t->queue[command_queue[c]] ? "overtakes its queue" : fault;
    t->queue[command_queue[c]] = b->start[u] + p->busy[u];
    for (uint32_t w = b->wait0[c]; w < b->wait0[c + 1]; w++) {
      t->gate[b->wait[w]] = fs_max(t->gate[b->wait[w]], b->start[u]);
      t->left[b->wait[w]]--;
    }
    for (uint32_t w = b->update0[c]; w < b->update0[c + 1]; w++) {
      t->end[b->update[w]] = fs_max(t->end[b->update[w]], b->start[u] + p->time[u]);
      t->producers[b->update[w]]--;
    }
  }
  return fault;
}

const char *fs_bm_check(const fs_barrier_problem *p, const fs_barriers *b) {
  const char *fault = check_arrays(p, b);
  if (fault != NULL) {
    return fault;
  }
  barrier_machine_times t = {calloc(p->n_queues + 1, sizeof(fs_tick)),
                             calloc(b->n + 1, sizeof(fs_tick)),
                             calloc(b->n + 1, sizeof(fs_tick)),
                             calloc(b->n + 1, 4),
                             calloc(b->n + 1, 4),
                             calloc(b->n + 1, 4)};
  uint32_t *command_queue = calloc(p->n_commands + 1, 4);
  char *seen = calloc(p->n_items + 1, 1);
  for (uint32_t i = 0; i < b->n; i++) {
    t.before[i] = use_before(b, i);
  }
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      command_queue[c] = q;
      for (uint32_t w = b->wait0[c]; w < b->wait0[c + 1]; w++) {
        t.left[b->wait[w]]++;
      }
      for (uint32_t w = b->update0[c]; w < b->update0[c + 1]; w++) {
        t.producers[b->update[w]]++;
      }
    }
  }
  fs_tick makespan = 0;
  for (uint32_t i = 0; i < p->n_items && fault == NULL; i++) {
    uint32_t u = b->order[i];
    fault = seen[u]++ ? "an item twice in the order" : fault;
    fault = fault == NULL ? check_item(p, b, &t, command_queue, u) : fault;
    fault = i > 0 && b->start[u] < b->start[b->order[i - 1]] ? "order against starts" : fault;
    makespan = fs_max(makespan, b->start[u] + p->time[u]);
  }
  fault = fault == NULL && makespan != b->makespan ? "makespan" : fault;
  free(t.queue);
  free(t.end);
  free(t.gate);
  free(t.left);
  free(t.producers);
  free(t.before);
  free(command_queue);
  free(seen);
  return fault;
}

/* --- the machine --- */

enum { WAITING, RUNNING, FREE, OVER };

typedef struct barrier_machine_machine {
  const fs_barrier_problem *p;
  const fs_barriers *b;
  uint32_t *producers, *consumers; /* per barrier: still to come */
  uint32_t *mapped;                /* per physical: the barrier, or FS_NONE */
  uint32_t *next_use;              /* per barrier */
  uint32_t *head, *queue;          /* per queue: commands it is free of; per command: its queue */
  char *state;                     /* per command */
  uint32_t *members_over;          /* per item */
  fs_tick *end;                    /* per command */
  uint32_t *running, n_running;
  fs_tick now;
  fs_rng *r;
  fs_bm_mode mode;
} barrier_machine_machine;

static bool command_can_start(const barrier_machine_machine *m, uint32_t c) {
  const fs_barriers *b = m->b;
  if (m->state[c] != WAITING || m->p->queue_command0[m->queue[c]] + m->head[m->queue[c]] != c) {
    return false;
  }
  for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
    if (m->mapped[b->physical[b->wait[k]]] != b->wait[k] || m->producers[b->wait[k]] > 0) {
      return false;
    }
  }
  for (uint32_t k = b->update0[c]; k < b->update0[c + 1]; k++) {
    if (m->mapped[b->physical[b->update[k]]] != b->update[k]) {
      return false;
    }
  }
  return true;
}

static const char *start_command(barrier_machine_machine *m, uint32_t c) {
  const fs_barrier_problem *p = m->p;
  const fs_barriers *b = m->b;
  for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
    uint32_t w = p->pred[e];
    if (m->members_over[w] < p->item_command0[w + 1] - p->item_command0[w]) {
      return "starts before what it depends on is over";
    }
  }
  m->state[c] = RUNNING;
  m->running[m->n_running++] = c;
  m->end[c] = m->now + (fs_rng_one_in(m->r, 8) ? fs_rng_below(m->r, 1000) : fs_rng_below(m->r, 9));
  for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
    uint32_t i = b->wait[k];
    if (--m->consumers[i] == 0) {
      m->mapped[b->physical[i]] = m->next_use[i];
    }
  }
  return NULL;
}

/* The queue goes on, if it has not before. */
static void let_go(barrier_machine_machine *m, uint32_t c) {
  m->head[m->queue[c]] += m->state[c] == RUNNING;
  m->state[c] = FREE;
}

/* The queue of a slow command goes on before that is over. */
static void free_one(barrier_machine_machine *m) {
  uint32_t c = m->running[fs_rng_below(m->r, m->n_running)], item = m->p->command_item[c];
  if (m->p->busy[item] < m->p->time[item]) {
    let_go(m, c);
  }
}

static void end_command(barrier_machine_machine *m, uint32_t at) {
  uint32_t c = m->running[at];
  m->running[at] = m->running[--m->n_running];
  let_go(m, c);
  m->state[c] = OVER;
  m->members_over[m->p->command_item[c]]++;
  for (uint32_t k = m->b->update0[c]; k < m->b->update0[c + 1]; k++) {
    m->producers[m->b->update[k]]--;
  }
}

/* Starts one of the commands that can start, chosen by chance; *did says whether there was one. */
static const char *start_one(barrier_machine_machine *m, bool *did) {
  const fs_barrier_problem *p = m->p;
  uint32_t first = fs_rng_below(m->r, p->n_queues);
  *did = false;
  for (uint32_t i = 0; i < p->n_queues; i++) {
    uint32_t q = (first + i) % p->n_queues;
    uint32_t c = p->queue_command0[q] + m->head[q];
    if (c < p->queue_command0[q + 1] && command_can_start(m, c)) {
      *did = true;
      return start_command(m, c);
    }
  }
  return NULL;
}

static void end_one(barrier_machine_machine *m) {
  uint32_t at = fs_rng_below(m->r, m->n_running);
  for (uint32_t i = 0; m->mode == FS_BM_TIMES && i < m->n_running; i++) {
    at = m->end[m->running[i]] < m->end[m->running[at]] ? i : at;
  }
  m->now = fs_max(m->now, m->end[m->running[at]]);
  end_command(m, at);
}

static const char *run(barrier_machine_machine *m) {
  for (uint32_t over = 0; over < m->p->n_commands;) {
    bool did = false;
    if (m->n_running > 0 && fs_rng_one_in(m->r, 2)) {
      free_one(m);
    }
    if (m->mode == FS_BM_TIMES || m->n_running == 0 || fs_rng_one_in(m->r, 2)) {
      const char *fault = start_one(m, &did);
      if (fault != NULL) {
        return fault;
      }
    }
    if (!did && m->n_running == 0) {
      return "deadlock";
    }
    if (!did) {
      end_one(m);
      over++;
    }
  }
  return NULL;
}

static void set_up(barrier_machine_machine *m) {
  const fs_barrier_problem *p = m->p;
  const fs_barriers *b = m->b;
  memset(m->mapped, 0xFF, ((size_t)b->used + 1) * 4);
  for (uint32_t i = b->n; i-- > 0;) {
    m->next_use[i] = m->mapped[b->physical[i]];
    m->mapped[b->physical[i]] = i;
  }
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      m->queue[c] = q;
      for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
        m->consumers[b->wait[k]]++;
      }
      for (uint32_t k = b->update0[c]; k < b->update0[c + 1]; k++) {
        m->producers[b->update[k]]++;
      }
    }
  }
}

const char *fs_bm_run(const fs_barrier_problem *p, const fs_barriers *b, fs_bm_mode mode,
                      fs_rng *r) {
  size_t nb = (size_t)b->n + b->used + 2;
  size_t nc = (size_t)p->n_commands + p->n_queues + p->n_items + 1;
  uint32_t *words = calloc(3 * nb + 4 * nc, sizeof *words);
  barrier_machine_machine m = {.p = p, .b = b, .mode = mode, .r = r};
  m.producers = words;
  m.consumers = words + nb;
  m.next_use = words + 2 * nb;
  m.mapped = calloc((size_t)b->used + 1, sizeof *words);
  m.head = words + 3 * nb;
  m.queue = m.head + nc;
  m.running = m.queue + nc;
  m.members_over = m.running + nc;
  m.state = calloc(nc, 1);
  m.end = calloc(nc, sizeof *m.end);
  set_up(&m);
  const char *fault = run(&m);
  for (uint32_t i = 0; i < b->n && fault == NULL; i++) {
    fault = m.consumers[i] + m.producers[i] > 0 ? "a barrier is left over" : NULL;
  }
  free(words);
  free(m.mapped);
  free(m.state);
  free(m.end);
  return fault;
}

/* --- orders --- */

/* Finds the commands that are over before command c starts, a byte each, from the rows of the
 * commands before it. */
static void find_known(const fs_barrier_problem *p, char *known, uint32_t c) {
  size_t n = p->n_commands;
  char *mine = known + c * n;
  uint32_t q = 0;
  while (p->queue_command0[q + 1] <= c) {
    q++;
  }
  for (uint32_t d = p->queue_command0[q]; d < c; d++) {
    mine[d] |= p->busy[p->command_item[d]] == p->time[p->command_item[d]];
    for (size_t k = 0; k < n; k++) {
      mine[k] |= known[d * n + k];
    }
  }
  for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
    for (uint32_t d = 0; d < n; d++) {
      for (size_t k = 0; k < n && p->command_item[d] == p->pred[e]; k++) {
        mine[k] |= known[d * n + k] | (k == d);
      }
    }
  }
}

char *fs_bm_closure(const fs_bm *m) {
  const fs_barrier_problem *p = &m->p;
  size_t n = p->n_commands;
  char *known = calloc(n * n + 1, 1);
  char *before = calloc(n * m->n_items + 1, 1);
  for (uint32_t i = 0; i < m->n_items; i++) {
    uint32_t v = p->order[i];
    for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
      find_known(p, known, p->item_command[k]);
    }
  }
  for (size_t u = 0; u < m->n_items; u++) {
    for (size_t c = 0; c < n; c++) {
      bool all = true;
      for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
        all = all && known[c * n + p->item_command[k]] != 0;
      }
      before[u * n + c] = all;
    }
  }
  free(known);
  return before;
}

/* Whether item u updates barriers, and command c waits for every barrier that a member of u
 * updates. */
static bool waits_for(const fs_barrier_problem *p, const fs_barriers *b, uint32_t u, uint32_t c) {
  bool all = true;
  bool any = false;
  for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
    uint32_t d = p->item_command[i];
    for (uint32_t j = b->update0[d]; j < b->update0[d + 1]; j++) {
      bool waits = false;
      for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
        waits = waits || b->wait[k] == b->update[j];
      }
      any = true;
      all = all && waits;
    }
  }
  return any && all;
}

const char *fs_bm_check_added(const fs_bm *m, const char *closure, const fs_barriers *b) {
  const fs_barrier_problem *p = &m->p;
  size_t n = m->n_items;
  char *added = calloc(n * n + 1, 1);
  const char *fault = NULL;
  uint32_t *place = calloc(n + 1, sizeof *place);
  for (uint32_t v = 0; v < n; v++) {
    place[p->order[v]] = v;
  }
  if (b->added0[0] != 0 || b->added0[n] != b->n_added) {
    fault = "lists of added orders";
  }
  for (uint32_t v = 0; v < n && fault == NULL; v++) {
    for (uint32_t i = b->added0[v]; i < b->added0[v + 1]; i++) {
      added[b->added[i] * n + p->order[v]] = 1;
      if (i > b->added0[v] && place[b->added[i - 1]] >= place[b->added[i]]) {
        fault = "added orders do not ascend";
      }
    }
  }
  free(place);
  char *wanted = calloc(n * n + 1, 1);
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++) {
      bool all = true;
      bool news = false;
      for (uint32_t k = p->item_command0[v]; k < p->item_command0[v + 1]; k++) {
        uint32_t c = p->item_command[k];
        bool knew = closure[u * p->n_commands + c] != 0;
        bool waits = waits_for(p, b, u, c);
        all = all && (knew || waits);
        news = news || (waits && !knew);
      }
      wanted[u * n + v] = all && news;
    }
  }
  uint32_t count = 0;
  for (size_t i = 0; i < n * n && fault == NULL; i++) {
    fault = added[i] != wanted[i] ? "added orders" : NULL;
    count += (uint32_t)wanted[i];
  }
  fault = fault == NULL && count != b->n_added ? "added orders repeat" : fault;
  free(added);
  free(wanted);
  return fault;
}
