/* SPDX-License-Identifier: Apache-2.0 */
/* Spill reads ahead of the claims that want them, while a queue for copies is free.
 *
 * Memories can be as many as ops (each core of a device has its own).  Each has a list of the ops
 * to come that hold something in it, and is in one of these states:
 * - asleep: another look would start no read, as there was no room, or nothing that is wanted soon.
 *   It is woken (fs_engine_wake_memory) by whatever may change that: room that becomes free,
 * content that becomes absent, ops that leave its list or are claimed;
 * - asleep until the scheduler is blocked at a later position than now, or not at all;
 * - awake, and a reader of the domain whose queues copy for it.
 * Each round looks at the memories that are awake, in the order of their ids, as long as their
 * domains have free queues: the first readers of all such domains are in one heap. */
#include "listsched/engine.h"

/* The memories in which an op holds something, each once, are entries of e->hold. */
fs_status fs_engine_prepare_holds(fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t *last, n = 0; /* per memory: its newest entry */
  FS_TRY(fs_new_zero(e->scratch, &e->readers, g->target.n_domains));
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
        e->hold[n++] = (fs_hold){.op = op, .memory = m};
      }
    }
  }
  e->hold0[g->n_ops] = n;
  return FSCHED_OK;
}

static fs_status init_readers(fs_engine *e) {
  const fs_target *t = &e->g->target;
  FS_TRY(fs_new_zero(e->scratch, &e->absent, t->n_memories));
  FS_TRY(fs_new_zero(e->scratch, &e->memory_state, t->n_memories));
  FS_TRY(fs_new(e->scratch, &e->memory_woken, t->n_memories));
  FS_TRY(fs_new_none(e->scratch, &e->sleeps_until, t->n_memories));
  FS_TRY(fs_new_none(e->scratch, &e->reader_listed, t->n_domains));
  FS_TRY(fs_new_zero(e->scratch, &e->domain_is_opened, t->n_domains));
  for (uint32_t d = 0; d < t->n_domains; d++) {
    e->readers[d].n = 0;
  }
  return fs_new(e->scratch, &e->domain_opened, t->n_domains);
}

fs_status fs_engine_init_holds(fs_engine *e) {
  const fsched_graph *g = e->g;
  FS_TRY(fs_new_none(e->scratch, &e->hold_first, g->target.n_memories));
  FS_TRY(init_readers(e));
  for (uint32_t i = g->n_ops; i-- > 0;) {
    uint32_t op = e->op_at[i];
    for (uint32_t k = e->hold0[op]; k < e->hold0[op + 1]; k++) {
      uint32_t *first = &e->hold_first[e->hold[k].memory];
      e->hold[k].next = *first;
      e->hold[k].previous = FS_NONE;
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
  fs_engine_wake_held(e, op);
  for (uint32_t k = e->hold0[op]; k < e->hold0[op + 1]; k++) {
    const fs_hold *h = &e->hold[k];
    *(h->previous == FS_NONE ? &e->hold_first[h->memory] : &e->hold[h->previous].next) = h->next;
    if (h->next != FS_NONE) {
      e->hold[h->next].previous = h->previous;
    }
  }
}

void fs_engine_wake_memory(fs_engine *e, uint32_t memory) {
  FS_ASSERT_SLOW(memory < e->g->target.n_memories);
  if (e->memory_state[memory] == FS_MEMORY_ASLEEP && e->absent[memory] > 0) {
    e->memory_state[memory] = FS_MEMORY_WOKEN;
    e->sleeps_until[memory] = FS_NONE;
    e->memory_woken[e->n_memory_woken++] = memory;
  }
}

void fs_engine_wake_held(fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(op < e->g->n_ops);
  for (uint32_t k = e->hold0[op]; k < e->hold0[op + 1]; k++) {
    fs_engine_wake_memory(e, e->hold[k].memory);
  }
}

void fs_engine_open_domain(fs_engine *e, uint32_t domain) {
  FS_ASSERT_SLOW(domain < e->g->target.n_domains);
  if (e->readers[domain].n > 0 && !e->domain_is_opened[domain]) {
    e->domain_is_opened[domain] = 1;
    e->domain_opened[e->n_domain_opened++] = domain;
  }
}

void fs_engine_absent(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  e->absent[e->v_memory[version]]++;
  fs_engine_wake_memory(e, e->v_memory[version]);
}

void fs_engine_wanted(fs_engine *e, uint32_t version) {
  assert(e->absent[e->v_memory[version]] > 0);
  e->absent[e->v_memory[version]]--;
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

/* Reads for an op, and adds to *headroom what it will need of its own (fs_engine_own_room).  Sets
 * *stop when a policy that reads in turn cannot go on. */
static fs_status prefetch_for(fs_engine *e, uint32_t op, uint32_t m, uint64_t *headroom,
                              bool *stop) {
  const fsched_graph *g = e->g;
  uint64_t own = 0;
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    if (e->v_memory[v] != m) {
      continue;
    }
    if (!e->v_content[v]) {
      own += e->v_size[v];
    } else if (e->v_state[v] == FS_V_ABSENT && e->v_stored[v]) {
      FS_TRY(prefetch_version(e, v, e->position[op], *headroom));
      if (e->policy->in_turn && e->v_state[v] == FS_V_ABSENT) {
        *stop = true;
        return FSCHED_OK;
      }
    }
  }
  if (g->op_scratch0[op] < g->op_scratch0[op + 1]) {
    own = fs_engine_own_room(e, op, m);
  }
  *headroom += own;
  return FSCHED_OK;
}

static bool domain_open(fs_engine *e, uint32_t domain) {
  return fs_engine_free_queue(e, domain, FS_NONE) != FS_NONE;
}

/* Notes the first reader of a domain, if it has one that is not noted. */
static fs_status list_reader(fs_engine *e, uint32_t domain) {
  FS_ASSERT_SLOW(domain < e->g->target.n_domains);
  if (e->readers[domain].n == 0 || e->readers[domain].at[0].id == e->reader_listed[domain]) {
    return FSCHED_OK;
  }
  e->reader_listed[domain] = e->readers[domain].at[0].id;
  return fs_heap_push(e->ctx, &e->first_readers, e->reader_listed[domain], domain);
}

/* Makes readers of the memories that were woken. */
static fs_status list_readers(fs_engine *e) {
  uint32_t limit = e->blocked ? e->blocked_position : FS_NONE;
  while (e->held_back.n > 0 && e->held_back.at[0].key <= limit) {
    fs_heap_entry first = fs_heap_pop(&e->held_back);
    if (e->sleeps_until[first.id] == first.key) {
      fs_engine_wake_memory(e, first.id);
    }
  }
  while (e->n_memory_woken > 0) {
    uint32_t m = e->memory_woken[--e->n_memory_woken];
    uint32_t domain = e->g->target.memory[m].spill_domain;
    e->memory_state[m] = FS_MEMORY_READS;
    FS_TRY(fs_heap_push(e->ctx, &e->readers[domain], m, m));
    FS_TRY(list_reader(e, domain));
  }
  while (e->n_domain_opened > 0) {
    uint32_t domain = e->domain_opened[--e->n_domain_opened];
    e->domain_is_opened[domain] = 0;
    FS_TRY(list_reader(e, domain));
  }
  return FSCHED_OK;
}

/* The reader with the least id whose domain has a free queue, which is a reader no more; FS_NONE:
 * there is none. */
static uint32_t take_reader(fs_engine *e) {
  while (e->first_readers.n > 0) {
    fs_heap_entry first = e->first_readers.at[0];
    uint32_t domain = first.id;
    bool counts = first.key == e->reader_listed[domain];
    if (counts && !domain_open(e, domain) && e->g->target.implicit_queues) {
      return FS_NONE; /* implicit queues are those of all domains */
    }
    (void)fs_heap_pop(&e->first_readers);
    if (counts) {
      e->reader_listed[domain] = FS_NONE;
      if (domain_open(e, domain)) { /* else it is listed again once it is opened */
        uint32_t m = fs_heap_pop(&e->readers[domain]).id;
        assert(m == first.key && e->memory_state[m] == FS_MEMORY_READS);
        e->memory_state[m] = FS_MEMORY_ASLEEP;
        return m;
      }
    }
  }
  return FS_NONE;
}

/* Looks at the next ops that hold something in a memory.  The memory stays awake if that has
 * changed anything, or no queue is left. */
static fs_status prefetch_memory(fs_engine *e, uint32_t m, bool *stop, bool *awake) {
  const fs_memory *memory = &e->g->target.memory[m];
  assert(fs_memory_spills(memory) && domain_open(e, memory->spill_domain));
  /* In small graphs all ops are looked at, in large ones only the next ones. */
  uint32_t window = (uint32_t)fs_max(32, ((uint32_t)1 << 21) / e->g->n_ops);
  uint64_t headroom = 0;
  uint32_t before = e->absent[m];
  bool any = e->places[m].free > 0 || e->policy->in_turn;
  for (uint32_t k = e->hold_first[m]; any && k != FS_NONE && window > 0;
       k = e->hold[k].next, window--) {
    uint32_t op = e->hold[k].op;
    e->steps++;
    if (e->blocked && e->position[op] > e->blocked_position) {
      e->sleeps_until[m] = e->position[op];
      FS_TRY(fs_heap_push(e->ctx, &e->held_back, e->position[op], m));
      break;
    }
    if (e->op_phase[op] == FS_OP_CLAIMED) {
      continue;
    }
    FS_TRY(prefetch_for(e, op, m, &headroom, stop));
    if (*stop || (headroom > e->places[m].free && !e->policy->in_turn)) {
      break; /* nothing that is needed later has room */
    }
  }
  *awake = *stop || e->absent[m] != before || !domain_open(e, memory->spill_domain);
  return FSCHED_OK;
}

fs_status fs_engine_prefetch(fs_engine *e) {
  bool stop = false;
  FS_TRY(list_readers(e));
  e->stay_awake.n = 0;
  for (uint32_t m; !stop && (m = take_reader(e)) != FS_NONE;) {
    bool awake = false;
    if (e->absent[m] > 0) {
      FS_TRY(prefetch_memory(e, m, &stop, &awake));
    }
    if (awake) {
      FS_TRY(fs_vec_push(e->ctx, &e->stay_awake, m));
    }
    FS_TRY(list_reader(e, e->g->target.memory[m].spill_domain));
  }
  for (size_t i = 0; i < e->stay_awake.n; i++) {
    fs_engine_wake_memory(e, e->stay_awake.at[i]);
  }
  return FSCHED_OK;
}
