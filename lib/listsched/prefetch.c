/* SPDX-License-Identifier: Apache-2.0 */
/* Spill reads ahead of the claims that want them, while a queue for copies is free.
 *
 * Memories can be as many as ops (each core of a device has its own): each has a list of the ops to
 * come that hold something in it, and only those that lack stored content are looked at. */
#include "listsched/engine.h"

/* The memories in which an op holds something, each once, as entries of e->hold. */
static fs_status init_op_holds(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t *last, n = 0; /* per memory: its newest entry */
  FS_TRY(fs_new_none(e->scratch, &last, g->target.n_memories));
  FS_TRY(fs_new(e->scratch, &e->hold0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(e->scratch, &e->hold, e->touch0[g->n_ops] + g->op_scratch0[g->n_ops]));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    e->hold0[op] = n;
    uint32_t n_touch = e->touch0[op + 1] - e->touch0[op];
    uint32_t n_scratch = g->op_scratch0[op + 1] - g->op_scratch0[op];
    for (uint32_t i = 0; i < n_touch + n_scratch; i++) {
      uint32_t m = i < n_touch ? e->v_memory[e->touch[e->touch0[op] + i]]
                               : g->scratch_memory[g->op_scratch0[op] + i - n_touch];
      if (fs_memory_bounded(&g->target.memory[m]) &&
          (last[m] == FS_NONE || last[m] < e->hold0[op])) {
        last[m] = n;
        e->hold[n++] = (fs_hold){.op = op, .memory = m, .next = FS_NONE, .previous = FS_NONE};
      }
    }
  }
  e->hold0[g->n_ops] = n;
  return FSCHED_OK;
}

fs_status fs_engine_init_holds(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(init_op_holds(e));
  FS_TRY(fs_new_none(e->scratch, &e->hold_first, g->target.n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->absent, g->target.n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->memory_absent, g->target.n_memories / 64 + 1));
  for (uint32_t i = g->n_ops; i-- > 0;) {
    uint32_t op = e->op_at[i];
    for (uint32_t k = e->hold0[op]; k < e->hold0[op + 1]; k++) {
      uint32_t *first = &e->hold_first[e->hold[k].memory];
      e->hold[k].next = *first;
      if (*first != FS_NONE) {
        e->hold[*first].previous = k;
      }
      *first = k;
    }
  }
  return FSCHED_OK;
}

void fs_engine_drop_holds(fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  for (uint32_t k = e->hold0[op]; k < e->hold0[op + 1]; k++) {
    const fs_hold *h = &e->hold[k];
    *(h->previous == FS_NONE ? &e->hold_first[h->memory] : &e->hold[h->previous].next) = h->next;
    if (h->next != FS_NONE) {
      e->hold[h->next].previous = h->previous;
    }
  }
}

void fs_engine_absent(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  uint32_t m = e->v_memory[version];
  e->absent[m]++;
  e->memory_absent[m / 64] |= (uint64_t)1 << (m % 64);
}

void fs_engine_wanted(fs_engine *e, uint32_t version) {
  assert(e->absent[e->v_memory[version]] > 0);
  uint32_t m = e->v_memory[version];
  if (--e->absent[m] == 0) {
    e->memory_absent[m / 64] &= ~((uint64_t)1 << (m % 64));
  }
}

static fs_status prefetch_version(fs_engine *e, uint32_t v, uint32_t position, uint64_t headroom) {
  assert(e->v_state[v] == FS_V_ABSENT && e->v_stored[v]);
  const fs_memory *m = fs_engine_memory_of(e, v);
  fs_places *p = &e->places[e->v_memory[v]];
  uint64_t size = e->v_size[v];
  /* A read that takes no time gains nothing by being early. */
  if (p->free < size + headroom || fs_spill_read_time(m, fs_version_size(e->g, v)) == 0) {
    return FSCHED_OK;
  }
  uint32_t queue = fs_engine_free_queue(e, m->spill_domain, FS_NONE);
  if (queue == FS_NONE) {
    return FSCHED_OK;
  }
  uint32_t place;
  FS_TRY(fs_places_reserve_now(p, size, e->policy->reads_high, &place));
  if (place == FS_NONE) {
    return FSCHED_OK;
  }
  p->place.at[place].owner = v * 2;
  e->v_promised_place[v] = place;
  e->v_state[v] = FS_V_PROMISED;
  e->v_read_for[v] = position;
  fs_engine_wanted(e, v);
  return fs_engine_start_copy(e, v * 2 + FS_SPILL_READ, queue);
}

/* Sets *stop when a policy that reads in turn cannot go on. */
static fs_status prefetch_for(fs_engine *e, uint32_t op, uint32_t m, uint64_t headroom,
                              bool *stop) {
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    if (e->v_memory[v] == m && e->v_state[v] == FS_V_ABSENT && e->v_content[v] && e->v_stored[v]) {
      FS_TRY(prefetch_version(e, v, e->position[op], headroom));
      if (e->policy->in_turn && e->v_state[v] == FS_V_ABSENT) {
        *stop = true;
        return FSCHED_OK;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status prefetch_memory(fs_engine *e, uint32_t m, bool *stop) {
  const fs_memory *memory = &e->g->target.memory[m];
  if (!fs_memory_spills(memory) || (e->places[m].free == 0 && !e->policy->in_turn) ||
      fs_engine_free_queue(e, memory->spill_domain, FS_NONE) == FS_NONE) {
    return FSCHED_OK;
  }
  /* In small graphs all ops are looked at, in large ones only the next ones. */
  uint32_t window = (uint32_t)fs_max(32, ((uint32_t)1 << 21) / e->g->n_ops);
  uint64_t headroom = 0;
  for (uint32_t k = e->hold_first[m]; k != FS_NONE && window > 0; k = e->hold[k].next, window--) {
    uint32_t op = e->hold[k].op;
    if (e->blocked && e->position[op] > e->blocked_position) {
      break;
    }
    if (e->op_phase[op] == FS_OP_CLAIMED) {
      continue;
    }
    FS_TRY(prefetch_for(e, op, m, headroom, stop));
    headroom += fs_engine_own_room(e, op, m);
    if (*stop || (headroom > e->places[m].free && !e->policy->in_turn)) {
      break; /* nothing that is needed later has room */
    }
  }
  return FSCHED_OK;
}

fs_status fs_engine_prefetch(fs_engine *e) {
  bool stop = false;
  for (uint32_t word = 0; word < e->g->target.n_memories / 64 + 1; word++) {
    for (uint64_t left = e->memory_absent[word]; left != 0 && !stop; left &= left - 1) {
      FS_TRY(prefetch_memory(e, word * 64 + (uint32_t)__builtin_ctzll(left), &stop));
    }
  }
  return FSCHED_OK;
}
