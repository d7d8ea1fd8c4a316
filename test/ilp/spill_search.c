/* SPDX-License-Identifier: Apache-2.0 */
/* A breadth first search, tick by tick.  A state says for each op how much of it is left, and for
 * each version where it is in memory (or that it is there), whether the store holds its content,
 * which copy of it runs, and how much of the copy is left.  Within a tick, beginnings and removals
 * follow one another as steps that cost no time.  A state that was reached before is not better
 * when it comes later.
 *
 * This shares no code with what it checks, and knows nothing of windows or bounds. */
#include "ilp/spill_search.h"

#include <stdlib.h>

enum {
  OPS = 6,
  VERSIONS = 6,
  OP_BITS = 3,
  WAITING = 7, /* of an op: not started; 0: done */
  PLACE_BITS = 4,
  COPY_BITS = 3, /* 0: none; 1 to 3: a write with so much left; 4 to 6: a read */
  READING = 3,
  MOST = 1 << 21
};

typedef struct spill_search_state {
  uint8_t op[OPS], place[VERSIONS], copy[VERSIONS]; /* place: 0 out, else address + 1 */
  bool stored[VERSIONS];
} spill_search_state;

typedef struct spill_search_search {
  const fsched_graph *g;
  uint32_t n_versions, version[VERSIONS]; /* the versions in the bounded memory */
  uint32_t memory;
  uint64_t capacity, store, size[VERSIONS]; /* store: its capacity */
  bool contiguous, kept[VERSIONS];
  uint64_t *seen; /* a hash table of packed states; 0: empty */
  uint64_t *now, *next;
  uint32_t n_seen, n_now, n_next;
  bool done, full;
} spill_search_search;

static uint64_t pack(const spill_search_search *s, const spill_search_state *x) {
  uint64_t key = 1;
  for (uint32_t i = 0; i < s->g->n_ops; i++) {
    key = key << OP_BITS | x->op[i];
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    key = ((key << PLACE_BITS | x->place[v]) << COPY_BITS | x->copy[v]) << 1 | x->stored[v];
  }
  return key;
}

static spill_search_state unpack(const spill_search_search *s, uint64_t key) {
  spill_search_state x = {0};
  for (uint32_t v = s->n_versions; v-- > 0;) {
    x.stored[v] = key & 1;
    x.copy[v] = key >> 1 & 7;
    x.place[v] = key >> 4 & 15;
    key >>= PLACE_BITS + COPY_BITS + 1;
  }
  for (uint32_t i = s->g->n_ops; i-- > 0; key >>= OP_BITS) {
    x.op[i] = key & 7;
  }
  return x;
}

static bool is_new(spill_search_search *s, uint64_t key) {
  uint64_t at = (key * 0x9e3779b97f4a7c15u) >> 42; /* below 2 * MOST */
  while (s->seen[at] != 0 && s->seen[at] != key) {
    at = (at + 1) % (2 * MOST);
  }
  if (s->seen[at] == key) {
    return false;
  }
  s->full = s->full || s->n_seen + 1 >= MOST;
  s->seen[at] = s->full ? 0 : key;
  s->n_seen++;
  return !s->full;
}

/* ---- what a state allows */

static bool runs(const spill_search_state *x, uint32_t op) {
  return x->op[op] != 0 && x->op[op] != WAITING;
}

/* How an op uses a version: it reads or modifies it. */
static void use(const spill_search_search *s, uint32_t op, uint32_t v, bool *reads, bool *writes) {
  const fsched_graph *g = s->g;
  *reads = *writes = false;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (g->arg_version[a] == s->version[v]) {
      *reads = *reads || fs_tag_reads(g->arg_tag[a]);
      *writes = *writes || fs_tag_writes(g->arg_tag[a]);
    }
  }
}

static uint64_t scratch(const spill_search_search *s, uint32_t op) {
  uint64_t sum = 0;
  for (uint32_t i = s->g->op_scratch0[op]; i < s->g->op_scratch0[op + 1]; i++) {
    sum += s->g->scratch_memory[i] == s->memory ? s->g->scratch_size[i] : 0;
  }
  return sum;
}

static uint64_t room(const spill_search_search *s, const spill_search_state *x) {
  uint64_t used = 0;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    used += x->place[v] != 0 ? s->size[v] : 0;
  }
  for (uint32_t i = 0; i < s->g->n_ops; i++) {
    used += runs(x, i) ? scratch(s, i) : 0;
  }
  return s->capacity - used;
}

static bool free_at(const spill_search_search *s, const spill_search_state *x, uint32_t version,
                    uint64_t at) {
  for (uint32_t v = 0; v < s->n_versions; v++) {
    uint64_t low = x->place[v] - (uint64_t)1;
    if (x->place[v] != 0 && low < at + s->size[version] && at < low + s->size[v]) {
      return false;
    }
  }
  return at + s->size[version] <= s->capacity;
}

/* Each class has one queue here.  Is one of the op's domain free? */
static bool queue_free(const spill_search_search *s, const spill_search_state *x, uint32_t domain) {
  const fsched_graph *g = s->g;
  uint32_t busy = 0, copies = g->target.memory[s->memory].spill_domain;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    busy += runs(x, i) && g->op_domain[i] == domain;
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    busy += x->copy[v] != 0 && copies == domain;
  }
  return busy < g->target.domain_queue0[domain + 1] - g->target.domain_queue0[domain];
}

static bool ready(const spill_search_search *s, const spill_search_state *x, uint32_t op) {
  const fsched_graph *g = s->g;
  bool yes = x->op[op] == WAITING && queue_free(s, x, g->op_domain[op]);
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    yes = yes && x->op[g->pred[e]] == 0;
  }
  return yes;
}

/* Whether an op that runs uses the version (`modifies`: writes it). */
static bool in_use(const spill_search_search *s, const spill_search_state *x, uint32_t v,
                   bool modifies) {
  for (uint32_t op = 0; op < s->g->n_ops; op++) {
    bool reads, writes;
    use(s, op, v, &reads, &writes);
    if (runs(x, op) && (writes || (reads && !modifies))) {
      return true;
    }
  }
  return false;
}

/* ---- steps */

static void arrive(spill_search_search *s, const spill_search_state *x, bool ticks) {
  uint64_t key = pack(s, x);
  if (!is_new(s, key)) {
    return;
  }
  if (ticks) {
    s->next[s->n_next++] = key;
  } else {
    s->now[s->n_now++] = key;
  }
}

/* Puts the op's version v, and then its next ones, at every possible place. */
static void start_op(spill_search_search *s, const spill_search_state *x, uint32_t op, uint32_t v) {
  bool reads = false, writes = false;
  for (; v < s->n_versions; v++) {
    use(s, op, v, &reads, &writes);
    if (!reads && writes && x->place[v] == 0) {
      break;
    }
    if ((reads || writes) &&
        (x->place[v] == 0 || x->copy[v] > READING || (writes && x->copy[v] != 0))) {
      return;
    }
  }
  spill_search_state y = *x;
  if (v == s->n_versions) {
    if (room(s, x) < scratch(s, op)) {
      return;
    }
    y.op[op] = (uint8_t)s->g->op_time[op];
    for (uint32_t u = 0; u < s->n_versions; u++) {
      use(s, op, u, &reads, &writes);
      y.stored[u] = y.stored[u] && !writes;
    }
    arrive(s, &y, false);
    return;
  }
  for (uint64_t at = 0; at < (s->contiguous ? s->capacity : 1); at++) {
    if (s->contiguous ? free_at(s, x, v, at) : room(s, x) >= s->size[v]) {
      y.place[v] = (uint8_t)(at + 1);
      start_op(s, &y, op, v + 1);
    }
  }
}

/* Whether the store has room for one more copy. */
static bool store_room(const spill_search_search *s, const spill_search_state *x,
                       uint32_t version) {
  uint64_t used = 0;
  for (uint32_t v = 0; v < s->n_versions && s->store != FS_UNBOUNDED; v++) {
    bool writes = x->copy[v] > 0 && x->copy[v] <= READING;
    used += v != version && (x->stored[v] || writes) ? s->size[v] : 0;
  }
  return s->store == FS_UNBOUNDED || used + s->size[version] <= s->store;
}

/* Gives up the store's copy, but only where it takes room. */
static void forget(spill_search_search *s, const spill_search_state *x, uint32_t v) {
  if (s->store != FS_UNBOUNDED && x->stored[v] && x->copy[v] == 0) {
    spill_search_state y = *x;
    y.stored[v] = false;
    arrive(s, &y, false);
  }
}

static void copy_version(spill_search_search *s, const spill_search_state *x, uint32_t v) {
  const fs_memory *m = &s->g->target.memory[s->memory];
  if (x->copy[v] != 0 || !queue_free(s, x, m->spill_domain)) {
    return;
  }
  spill_search_state y = *x;
  if (x->place[v] != 0 && !x->stored[v] && !in_use(s, x, v, true) && store_room(s, x, v)) {
    y.copy[v] = (uint8_t)fs_spill_write_time(m, s->size[v]);
    arrive(s, &y, false);
  }
  if (x->place[v] != 0 || !x->stored[v]) {
    return;
  }
  y.copy[v] = (uint8_t)(READING + fs_spill_read_time(m, s->size[v]));
  for (uint64_t at = 0; at < (s->contiguous ? s->capacity : 1); at++) {
    if (s->contiguous ? free_at(s, x, v, at) : room(s, x) >= s->size[v]) {
      y.place[v] = (uint8_t)(at + 1);
      arrive(s, &y, false);
    }
  }
}

static void leave(spill_search_search *s, const spill_search_state *x, uint32_t v) {
  if (x->place[v] != 0 && x->copy[v] == 0 && !in_use(s, x, v, false)) {
    spill_search_state y = *x;
    y.place[v] = 0;
    arrive(s, &y, false);
  }
}

static void tick(spill_search_search *s, const spill_search_state *x) {
  spill_search_state y = *x;
  for (uint32_t i = 0; i < s->g->n_ops; i++) {
    y.op[i] = (uint8_t)(x->op[i] - runs(x, i));
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    if (x->copy[v] == 1) {
      y.stored[v] = true;
    }
    y.copy[v] = x->copy[v] == 0 || x->copy[v] == 1 || x->copy[v] == READING + 1
                    ? 0
                    : (uint8_t)(x->copy[v] - 1);
  }
  arrive(s, &y, true);
}

static bool at_end(const spill_search_search *s, const spill_search_state *x) {
  bool end = true;
  for (uint32_t i = 0; i < s->g->n_ops; i++) {
    end = end && x->op[i] == 0;
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    end = end && (!s->kept[v] || x->stored[v]);
  }
  return end;
}

static void expand(spill_search_search *s, const spill_search_state *x) {
  for (uint32_t op = 0; op < s->g->n_ops; op++) {
    if (ready(s, x, op)) {
      start_op(s, x, op, 0);
    }
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    copy_version(s, x, v);
    leave(s, x, v);
    forget(s, x, v);
  }
}

static bool prepare(spill_search_search *s) {
  const fsched_graph *g = s->g;
  while (s->memory < g->target.n_memories && !fs_memory_bounded(&g->target.memory[s->memory])) {
    s->memory++;
  }
  s->capacity = g->target.memory[s->memory].capacity;
  s->contiguous = g->target.memory[s->memory].placement == FSCHED_CONTIGUOUS;
  s->store = g->target.memory[g->target.memory[s->memory].backing].capacity;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (fs_version_memory(g, v) == s->memory) {
      if (s->n_versions == VERSIONS) {
        return false;
      }
      s->size[s->n_versions] = fs_version_size(g, v);
      s->kept[s->n_versions] = fs_version_kept(g, v);
      s->version[s->n_versions++] = v;
    }
  }
  return g->n_ops <= OPS - 1 && (s->capacity < 16 || !s->contiguous);
}

static fs_tick run(spill_search_search *s) {
  spill_search_state first = {0};
  for (uint32_t i = 0; i < s->g->n_ops; i++) {
    first.op[i] = WAITING;
  }
  for (uint32_t v = 0; v < s->n_versions; v++) {
    first.stored[v] = fs_version_given(s->g, s->version[v]);
  }
  arrive(s, &first, true);
  for (fs_tick at = 0; s->n_next > 0 && !s->full; at++) {
    uint64_t *swap = s->now;
    s->now = s->next;
    s->next = swap;
    s->n_now = s->n_next;
    s->n_next = 0;
    for (uint32_t i = 0; i < s->n_now && !s->full; i++) {
      spill_search_state x = unpack(s, s->now[i]);
      if (at_end(s, &x)) {
        return at;
      }
      expand(s, &x);
    }
    /* For states in which nothing more begins now. */
    for (uint32_t i = 0; i < s->n_now && !s->full; i++) {
      spill_search_state x = unpack(s, s->now[i]);
      tick(s, &x);
    }
  }
  return FS_TICK_NONE;
}

fs_tick fs_spill_search(const fsched_graph *g, uint32_t *states) {
  spill_search_search s = {.g = g};
  fs_tick best = FS_TICK_NONE;
  if (prepare(&s)) {
    s.seen = calloc(2 * (size_t)MOST, sizeof *s.seen);
    s.now = malloc(MOST * sizeof *s.now);
    s.next = malloc(MOST * sizeof *s.next);
    best = s.seen == NULL || s.now == NULL || s.next == NULL ? FS_TICK_NONE : run(&s);
    free(s.seen);
    free(s.now);
    free(s.next);
  }
  *states = s.n_seen;
  return best;
}
