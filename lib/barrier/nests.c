/* SPDX-License-Identifier: Apache-2.0 */
/* Of one nest, a walk over the items behind it finds for each command which of the nest's commands
 * are complete before it starts: those that were before the command before it on its queue, that
 * one itself, and for each item that it waits for those that were before this one's commands. */
#include "barrier/nests.h"

#include "base/context.h"
#include "base/radix.h"
#include "base/saturate.h"

enum { MOST_COMMANDS = 64 }; /* of a nest that shares */
#define MOST_WORK (UINT64_C(1) << 27)

typedef struct barrier_nest {
  uint32_t item;
  uint64_t n, first; /* barriers */
} barrier_nest;

typedef struct nest_placer {
  fs_arena *scratch;
  const fs_schedule *s;
  const fs_sync *y;
  const uint32_t *pred;
  uint32_t n;
  barrier_nest *nest; /* those with barriers, in the order of the schedule */
  uint32_t *nest_of;  /* per item, or FS_NONE */
  bool *leads;        /* per command: it is the first of its queue */
  uint64_t *known;    /* per command: commands of the nest at hand that are complete before it */
  uint8_t *ordered;   /* n * n: the nest of the row is over before that of the column begins */
} nest_placer;

/* --- the nests --- */

static uint64_t count_own(const fs_rolled *x) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < x->loop.n_guards; i++) {
    n += x->loop.guard[i].depth;
  }
  return n;
}

/* The loop in no other one that a loop is in, or itself. */
static uint32_t outermost(const fsched_graph *g, uint32_t loop) {
  while (g->rolled[loop].within != FS_NONE) {
    loop = g->rolled[loop].within;
  }
  return loop;
}

static fs_status list_nests(nest_placer *p) {
  const fsched_graph *g = p->s->graph;
  uint64_t *own;
  FS_TRY(fs_new_zero(p->scratch, &own, p->s->n_items));
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    own[g->rolled[outermost(g, l)].op] += count_own(&g->rolled[l]);
  }
  FS_TRY(fs_new(p->scratch, &p->nest, g->n_rolled));
  FS_TRY(fs_new_none(p->scratch, &p->nest_of, p->s->n_items));
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    uint32_t item = p->s->order[i];
    if (own[item] > 0) {
      p->nest_of[item] = p->n;
      p->nest[p->n++] = (barrier_nest){.item = item, .n = own[item]};
    }
  }
  return FSCHED_OK;
}

/* --- orders --- */

static uint32_t n_commands_of(const nest_placer *p, uint32_t item) {
  return p->y->item_command0[item + 1] - p->y->item_command0[item];
}

static uint64_t all_of(const nest_placer *p, uint32_t item) {
  uint32_t n = n_commands_of(p, item);
  return n == MOST_COMMANDS ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The bit of a command if it is one of the nest's. */
static uint64_t bit_of(const nest_placer *p, uint32_t item, uint32_t command) {
  uint64_t bit = 0;
  for (uint32_t k = 0; k < n_commands_of(p, item) && p->y->command_item[command] == item; k++) {
    bit |= p->y->item_command[p->y->item_command0[item] + k] == command ? UINT64_C(1) << k : 0;
  }
  return bit;
}

/* What is known when an item is complete. */
static uint64_t known_behind(const nest_placer *p, uint32_t nest, uint32_t item) {
  uint64_t known = item == nest ? all_of(p, nest) : 0;
  for (uint32_t k = p->y->item_command0[item]; k < p->y->item_command0[item + 1]; k++) {
    known |= p->known[p->y->item_command[k]];
  }
  return known;
}

static uint64_t known_before(const nest_placer *p, uint32_t nest, uint32_t command) {
  const fs_sync *y = p->y;
  uint64_t known = p->leads[command] ? 0 : p->known[command - 1] | bit_of(p, nest, command - 1);
  for (uint32_t w = y->wait0[command]; w < y->wait0[command + 1]; w++) {
    known |= known_behind(p, nest, p->pred[w]);
  }
  return known;
}

/* Finds the nests that begin when a nest is over. */
static void find_ordered(nest_placer *p, uint32_t nest) {
  const fs_sync *y = p->y;
  uint32_t item = p->nest[nest].item;
  memset(p->known, 0, y->n_commands * sizeof *p->known);
  for (uint32_t i = y->position[item] + 1; i < p->s->n_items; i++) {
    uint32_t x = p->s->order[i];
    bool all = true;
    for (uint32_t k = y->item_command0[x]; k < y->item_command0[x + 1]; k++) {
      uint32_t c = y->item_command[k];
      p->known[c] = known_before(p, item, c);
      all = all && p->known[c] == all_of(p, item);
    }
    if (p->nest_of[x] != FS_NONE) {
      p->ordered[(size_t)nest * p->n + p->nest_of[x]] = all;
    }
  }
}

static fs_status find_orders(nest_placer *p) {
  const fs_sync *y = p->y;
  uint64_t each = (uint64_t)y->n_commands + y->wait0[y->n_commands];
  FS_TRY(fs_new_zero(p->scratch, &p->ordered, (size_t)p->n * p->n));
  FS_TRY(fs_new_zero(p->scratch, &p->leads, y->n_commands));
  FS_TRY(fs_new(p->scratch, &p->known, y->n_commands));
  for (uint32_t q = 0; q < p->s->n_queues; q++) {
    if (y->queue_command0[q] < y->queue_command0[q + 1]) {
      p->leads[y->queue_command0[q]] = true;
    }
  }
  for (uint32_t a = 0; a + 1 < p->n && (a + 1) * each <= MOST_WORK; a++) {
    if (n_commands_of(p, p->nest[a].item) <= MOST_COMMANDS) {
      find_ordered(p, a);
    }
  }
  return FSCHED_OK;
}

/* --- places --- */

/* Puts a nest at the first place that those before it leave.  `key` has room for twice as many as
 * there are nests. */
static void put_nest(nest_placer *p, uint32_t nest, uint64_t *key) {
  uint32_t n = 0;
  uint64_t at = 0;
  for (uint32_t a = 0; a < nest; a++) {
    if (!p->ordered[(size_t)a * p->n + nest]) {
      key[n++] = fs_min(p->nest[a].first, UINT32_MAX) << 32 | a; /* more are refused */
    }
  }
  fs_radix_sort_block(key, n);
  for (uint32_t i = 0; i < n; i++) {
    const barrier_nest *other = &p->nest[key[i] & UINT32_MAX];
    if (other->first >= at + p->nest[nest].n) {
      break;
    }
    at = fs_max(at, other->first + other->n);
  }
  p->nest[nest].first = at;
}

static fs_status put_nests(nest_placer *p, fs_barrier_nests *out) {
  uint64_t *key;
  FS_TRY(fs_new(p->scratch, &key, 2 * (size_t)p->n));
  for (uint32_t i = 0; i < p->n; i++) {
    put_nest(p, i, key);
    out->held = fs_max(out->held, p->nest[i].first + p->nest[i].n);
  }
  return FSCHED_OK;
}

/* Those of a nest follow one another, as its loops do. */
static void number_loops(const nest_placer *p, fs_barrier_nests *out) {
  const fsched_graph *g = p->s->graph;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    uint32_t nest = p->nest_of[g->rolled[outermost(g, l)].op];
    out->first[l] = 0;
    if (nest != FS_NONE) {
      out->first[l] = p->nest[nest].first;
      p->nest[nest].first += count_own(&g->rolled[l]);
    }
  }
}

fs_status fs_barrier_nests_place(fs_arena *arena, const fs_schedule *s, const fs_sync *sync,
                                 const uint32_t *pred, fs_barrier_nests *out) {
  assert(sync->wait0 != NULL);
  FS_SCRATCH(scratch, arena->ctx);
  nest_placer p = {.scratch = &scratch, .s = s, .y = sync, .pred = pred};
  *out = (fs_barrier_nests){0};
  FS_TRY(fs_new_zero(arena, &out->first, s->graph->n_rolled));
  if (s->graph->n_rolled == 0) {
    return FSCHED_OK;
  }
  FS_TRY(list_nests(&p));
  FS_TRY(find_orders(&p));
  FS_TRY(put_nests(&p, out));
  number_loops(&p, out);
  return FSCHED_OK;
}
