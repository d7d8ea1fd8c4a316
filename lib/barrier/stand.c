/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the machine once, with items that take no time.  An item that can start stays able to start,
 * so any run tells whether all do.  Items that may have become able to start are on a list, and are
 * tried in turn. */
#include "barrier/stand.h"

#include "base/group.h"

typedef struct stander {
  const fs_order *o;
  const fs_barrier_problem *p;
  const fs_barrier_draft *d;
  uint32_t *producers, *consumers; /* per barrier: those that have not started */
  uint32_t *user0, *user;          /* CSR per barrier: items that update it, commands that wait */
  uint32_t *waiter0, *waiter;
  uint32_t *after; /* per barrier: the next one on its physical barrier, or FS_NONE */
  bool *over;      /* per item */
  bool *listed;    /* per item: on the list */
  uint32_t *list, n_list;
  uint32_t *ran, n_ran;
} stander;

static bool is_mapped(const stander *s, uint32_t b) {
  uint32_t before = s->d->before[b];
  return before == FS_NONE || s->consumers[before] == 0;
}

/* The command that keeps c from starting by itself; FS_NONE: there is none. */
static uint32_t blocker(const stander *s, uint32_t c, fs_barrier_stuck_kind *kind,
                        uint32_t *barrier) {
  assert(c < s->p->n_commands);
  const fs_barrier_draft *d = s->d;
  uint32_t u = s->p->command_item[c];
  *barrier = FS_NONE;
  *kind = FS_STUCK_QUEUE;
  uint32_t previous = fs_order_previous(s->o, c);
  if (previous != FS_NONE && !s->over[s->p->command_item[previous]]) {
    return previous;
  }
  *kind = FS_STUCK_WAIT;
  for (uint32_t k = d->wait0[c]; k < d->wait0[c + 1]; k++) {
    *barrier = d->wait[k];
    for (uint32_t i = s->user0[*barrier]; i < s->user0[*barrier + 1]; i++) {
      if (!s->over[s->user[i]]) {
        return s->p->item_command[s->p->item_command0[s->user[i]]];
      }
    }
  }
  *kind = FS_STUCK_MAPPED;
  for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
    if (is_mapped(s, d->bar[k])) {
      continue;
    }
    *barrier = d->bar[k];
    uint32_t held = d->before[*barrier];
    for (uint32_t i = s->waiter0[held]; i < s->waiter0[held + 1]; i++) {
      if (!s->over[s->p->command_item[s->waiter[i]]]) {
        return s->waiter[i];
      }
    }
  }
  return FS_NONE;
}

static void list(stander *s, uint32_t u) {
  assert(u < s->p->n_items);
  if (!s->listed[u] && !s->over[u]) {
    s->listed[u] = true;
    s->list[s->n_list++] = u;
  }
}

static bool can_start(const stander *s, uint32_t u) {
  const fs_barrier_problem *p = s->p;
  fs_barrier_stuck_kind kind;
  uint32_t barrier;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    if (blocker(s, p->item_command[k], &kind, &barrier) != FS_NONE) {
      return false;
    }
  }
  return true;
}

static void list_waiters(stander *s, uint32_t b) {
  for (uint32_t i = s->waiter0[b]; i < s->waiter0[b + 1]; i++) {
    list(s, s->p->command_item[s->waiter[i]]);
  }
}

static void start_item(stander *s, uint32_t u) {
  assert(!s->over[u] && s->n_ran < s->p->n_items);
  const fs_barrier_problem *p = s->p;
  const fs_barrier_draft *d = s->d;
  s->over[u] = true;
  s->ran[s->n_ran++] = u;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    uint32_t c = p->item_command[k];
    for (uint32_t w = d->wait0[c]; w < d->wait0[c + 1]; w++) {
      uint32_t b = d->wait[w];
      uint32_t after = --s->consumers[b] == 0 ? s->after[b] : FS_NONE;
      for (uint32_t i = after == FS_NONE ? 0 : s->user0[after];
           after != FS_NONE && i < s->user0[after + 1]; i++) {
        list(s, s->user[i]);
      }
    }
    if (c + 1 < p->queue_command0[s->o->queue[c] + 1]) {
      list(s, p->command_item[c + 1]);
    }
  }
  for (uint32_t k = d->bar0[u]; k < d->bar0[u + 1]; k++) {
    if (--s->producers[d->bar[k]] == 0) {
      list_waiters(s, d->bar[k]);
    }
  }
}

static void run_machine(stander *s) {
  for (uint32_t u = 0; u < s->p->n_items; u++) {
    list(s, u);
  }
  while (s->n_list > 0) {
    uint32_t u = s->list[--s->n_list];
    s->listed[u] = false;
    if (can_start(s, u)) {
      start_item(s, u);
    }
  }
}

/* The command that keeps c, or another member of its gang, from starting. */
static uint32_t reason(const stander *s, uint32_t c, fs_barrier_stuck_kind *kind,
                       uint32_t *barrier) {
  const fs_barrier_problem *p = s->p;
  uint32_t next = blocker(s, c, kind, barrier);
  uint32_t u = p->command_item[c];
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1] && next == FS_NONE; k++) {
    fs_barrier_stuck_kind of_member;
    if (blocker(s, p->item_command[k], &of_member, barrier) != FS_NONE) {
      *kind = FS_STUCK_GANG;
      *barrier = FS_NONE;
      next = p->item_command[k];
    }
  }
  assert(next != FS_NONE);
  return next;
}

/* Follows the reasons from a command that cannot start until a command comes again: that is the
 * cycle. */
static fs_status find_cycle(fs_arena *arena, fs_arena *scratch, const stander *s,
                            fs_barrier_stuck *stuck) {
  assert(s->n_ran < s->p->n_items);
  uint32_t *at; /* per command: its place on the path */
  FS_TRY(fs_new_none(scratch, &at, s->p->n_commands));
  uint32_t first = 0;
  while (s->over[s->p->command_item[first]]) {
    first++;
  }
  fs_barrier_stuck_kind kind;
  uint32_t barrier;
  uint32_t n = 0;
  for (uint32_t c = first; at[c] == FS_NONE; c = first) {
    at[c] = n++;
    first = reason(s, c, &kind, &barrier);
  }
  stuck->n = n - at[first];
  FS_TRY(fs_new(arena, &stuck->command, stuck->n));
  FS_TRY(fs_new(arena, &stuck->barrier, stuck->n));
  FS_TRY(fs_new(arena, &stuck->kind, stuck->n));
  for (uint32_t i = 0; i < stuck->n; i++) {
    stuck->command[i] = first;
    first = reason(s, first, &stuck->kind[i], &stuck->barrier[i]);
  }
  return FSCHED_OK;
}

static fs_status init(fs_arena *a, stander *s) {
  const fs_barrier_draft *d = s->d;
  uint32_t n = s->p->n_items;
  FS_TRY(fs_new(a, &s->producers, d->n));
  FS_TRY(fs_new(a, &s->consumers, d->n));
  FS_TRY(fs_new_none(a, &s->after, d->n));
  FS_TRY(fs_new_zero(a, &s->over, n));
  FS_TRY(fs_new_zero(a, &s->listed, n));
  FS_TRY(fs_new(a, &s->list, n));
  FS_TRY(fs_new(a, &s->ran, n));
  FS_TRY(fs_group_turn(a, d->bar0, d->bar, n, d->n, &s->user0, &s->user));
  FS_TRY(fs_group_turn(a, d->wait0, d->wait, s->p->n_commands, d->n, &s->waiter0, &s->waiter));
  for (uint32_t b = 0; b < d->n; b++) {
    s->producers[b] = s->user0[b + 1] - s->user0[b];
    s->consumers[b] = s->waiter0[b + 1] - s->waiter0[b];
    if (s->producers[b] > 0 && d->before[b] != FS_NONE) {
      s->after[d->before[b]] = b;
    }
  }
  return FSCHED_OK;
}

fs_status fs_barrier_stands(fsched_context *ctx, fs_arena *arena, const fs_order *o,
                            fs_barrier_draft *d, fs_barrier_stuck *stuck) {
  assert(d->seq != NULL || o->p->n_items == 0);
  *stuck = (fs_barrier_stuck){0};
  stander s = {.o = o, .p = o->p, .d = d};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(init(&scratch, &s));
  run_machine(&s);
  if (s.n_ran < s.p->n_items) {
    return find_cycle(arena, &scratch, &s, stuck);
  }
  memcpy(d->seq, s.ran, s.n_ran * sizeof *d->seq);
  return FSCHED_OK;
}
