/* SPDX-License-Identifier: Apache-2.0 */
#include "barrier/barrier_machine.h"

#include <stdlib.h>
#include <string.h>

void fs_bm_init(fs_bm *m, uint32_t n_queues, uint64_t n_slots) {
  memset(m, 0, sizeof *m);
  m->n_queues = n_queues;
  m->n_slots = n_slots;
  m->item = NULL;
}

static void forget_plan(fs_bm *m) {
  while (m->n_owned > 0) {
    free(m->owned[--m->n_owned]);
  }
}

void fs_bm_free(fs_bm *m) {
  forget_plan(m);
  free(m->item);
  free(m->link);
}

uint32_t fs_bm_item_add(fs_bm *m, uint32_t queue, uint32_t time, uint32_t demand) {
  assert(queue < m->n_queues);
  if ((m->n_items & (m->n_items - 1)) == 0) {
    m->item = realloc(m->item, (m->n_items == 0 ? 1 : 2 * (size_t)m->n_items) * sizeof *m->item);
  }
  m->item[m->n_items] = (fs_bm_item){1, {queue}, time, demand, time};
  return m->n_items++;
}

void fs_bm_member_add(fs_bm *m, uint32_t queue) {
  fs_bm_item *i = &m->item[m->n_items - 1];
  assert(i->n_members < FS_BM_GANG);
  i->queue[i->n_members++] = queue;
}

void fs_bm_slow(fs_bm *m, fs_rng *r) {
  for (uint32_t i = 0; i < m->n_items; i++) {
    if (m->item[i].time > 0 && fs_rng_one_in(r, 3)) {
      m->item[i].busy = fs_rng_below(r, m->item[i].time);
    }
  }
}

void fs_bm_link_add(fs_bm *m, uint32_t from, uint32_t to) {
  assert(from < to);
  for (uint32_t i = m->n_links; i-- > 0 && m->link[i][1] == to;) {
    if (m->link[i][0] == from) {
      return;
    }
  }
  if (m->n_links == m->cap_links) {
    m->cap_links = 2 * m->cap_links + 16;
    m->link = realloc(m->link, m->cap_links * sizeof *m->link);
  }
  m->link[m->n_links][0] = from;
  m->link[m->n_links++][1] = to;
}

static void *own(fs_bm *m, size_t n, size_t size) {
  assert(m->n_owned < 12);
  return m->owned[m->n_owned++] = calloc(n + 1, size);
}

static uint32_t id_of(const fs_bm *m, uint32_t item) {
  return m->reversed ? m->n_items - 1 - item : item;
}

/* Numbers commands by queue, and within a queue by item. */
static void number_commands(fs_bm *m) {
  fs_barrier_problem *p = &m->p;
  uint32_t *queue0 = own(m, m->n_queues + 1, 4);
  for (uint32_t i = 0; i < m->n_items; i++) {
    p->n_commands += m->item[i].n_members;
  }
  uint32_t *command_item = own(m, p->n_commands, 4);
  uint32_t *item0 = own(m, m->n_items + 1, 4);
  uint32_t *member = own(m, p->n_commands, 4);
  uint32_t n = 0;
  for (uint32_t q = 0; q < m->n_queues; q++) {
    queue0[q] = n;
    for (uint32_t i = 0; i < m->n_items; i++) {
      for (uint32_t k = 0; k < m->item[i].n_members; k++) {
        if (m->item[i].queue[k] == q) {
          command_item[n++] = id_of(m, i);
        }
      }
    }
  }
  queue0[m->n_queues] = n;
  for (uint32_t c = 0; c < n; c++) {
    item0[command_item[c] + 1]++;
  }
  for (uint32_t u = 0; u < m->n_items; u++) {
    item0[u + 1] += item0[u];
  }
  uint32_t *at = calloc(m->n_items + 1, sizeof *at);
  for (uint32_t c = 0; c < n; c++) {
    member[item0[command_item[c]] + at[command_item[c]]++] = c;
  }
  free(at);
  p->queue_command0 = queue0;
  p->command_item = command_item;
  p->item_command0 = item0;
  p->item_command = member;
}

/* Makes each link a wait of all members of the item at its end. */
static void make_preds(fs_bm *m) {
  fs_barrier_problem *p = &m->p;
  uint32_t *count = own(m, p->n_commands + 1, 4);
  for (int pass = 0; pass < 2; pass++) {
    uint32_t *pred = pass == 0 ? NULL : own(m, count[p->n_commands], 4);
    for (uint32_t i = 0; i < m->n_links; i++) {
      uint32_t to = id_of(m, m->link[i][1]);
      for (uint32_t k = p->item_command0[to]; k < p->item_command0[to + 1]; k++) {
        uint32_t *n = &count[p->item_command[k]];
        if (pass == 0) {
          n[1]++;
        } else {
          pred[(*n)++] = id_of(m, m->link[i][0]);
        }
      }
    }
    for (uint32_t c = 0; pass == 0 && c < p->n_commands; c++) {
      count[c + 1] += count[c];
    }
    p->pred = pred;
  }
  for (uint32_t c = p->n_commands; c > 0; c--) {
    count[c] = count[c - 1];
  }
  count[0] = 0;
  p->pred0 = count;
}

static void plan_starts(fs_bm *m) {
  fs_barrier_problem *p = &m->p;
  fs_tick *start = own(m, m->n_items, sizeof *start);
  fs_tick *time = own(m, m->n_items, sizeof *time);
  uint32_t *order = own(m, m->n_items, 4);
  uint32_t *demand = own(m, m->n_items, 4);
  fs_tick *busy = own(m, m->n_items, sizeof *busy), *reached = own(m, m->n_items, sizeof *busy);
  fs_tick *queue = calloc(m->n_queues + 1, sizeof *queue);
  fs_tick *latest = calloc(m->n_queues + 1, sizeof *latest);
  for (uint32_t i = 0; i < m->n_items; i++) {
    uint32_t u = id_of(m, i);
    order[i] = u;
    time[u] = m->item[i].time;
    demand[u] = m->item[i].demand;
    busy[u] = m->item[i].busy;
    for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
      uint32_t c = p->item_command[k];
      for (uint32_t e = p->pred0[c]; e < p->pred0[c + 1]; e++) {
        start[u] = fs_max(start[u], reached[p->pred[e]]);
      }
    }
    for (uint32_t k = 0; k < m->item[i].n_members; k++) {
      start[u] = fs_max(start[u], queue[m->item[i].queue[k]]);
    }
    for (uint32_t k = 0; k < m->item[i].n_members; k++) {
      uint32_t q = m->item[i].queue[k];
      queue[q] = start[u] + busy[u];
      latest[q] = fs_max(latest[q], start[u] + time[u]);
      reached[u] = fs_max(reached[u], latest[q]);
    }
  }
  free(queue);
  free(latest);
  p->start = start;
  p->time = time;
  p->busy = busy;
  p->order = order;
  p->demand = demand;
}

fs_barrier_problem *fs_bm_plan(fs_bm *m, uint32_t bound) {
  forget_plan(m);
  m->p = (fs_barrier_problem){
      .n_queues = m->n_queues, .n_items = m->n_items, .n_slots = m->n_slots, .bound = bound};
  number_commands(m);
  make_preds(m);
  plan_starts(m);
  return &m->p;
}

void fs_bm_random(fs_bm *m, fs_rng *r, uint32_t n_items, uint32_t n_queues, uint32_t edges_per_item,
                  uint32_t most_demand, uint64_t n_slots, bool gangs) {
  fs_bm_init(m, n_queues, n_slots);
  m->reversed = fs_rng_one_in(r, 2);
  uint32_t window = 1 + fs_rng_below(r, n_items);
  for (uint32_t i = 0; i < n_items; i++) {
    uint32_t q = fs_rng_below(r, n_queues);
    uint32_t time = fs_rng_one_in(r, 10) ? 0 : 1 + fs_rng_below(r, 20);
    uint32_t members = gangs && n_queues > 1 && fs_rng_one_in(r, 8) ? 2 : 1;
    fs_bm_item_add(m, q, time, 1 + fs_rng_below(r, most_demand / members));
    if (members == 2) {
      fs_bm_member_add(m, (q + 1) % n_queues);
    }
    uint32_t reach = i < window ? i : window;
    for (uint32_t e = fs_rng_below(r, 2 * edges_per_item + 1); e-- > 0 && reach > 0;) {
      fs_bm_link_add(m, i - 1 - fs_rng_below(r, reach), i);
    }
  }
}
