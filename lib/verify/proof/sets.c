/* SPDX-License-Identifier: Apache-2.0 */
/* What ops take of sets.  Queues: an op that may run on some of the set's queues alone takes 1 of
 * them, a gang as many as it has there.  So no more than the capacity is taken at one time, an op
 * without a length counted beside those that begin before it and end behind it. */
#include "verify/proof/stays/stays.h"

#include "base/saturate.h"

/* Fills in what is taken of the set whose queues are marked. */
static void count_taken(const fs_vproof *p, const bool *mark, uint32_t *of) {
  const fsched_graph *g = p->g;
  const fs_target *t = &g->target;
  for (uint32_t d = 0; d < t->n_domains; d++) {
    bool all = true;
    for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
      all = all && mark[t->domain_queue[i]];
    }
    of[d] = all && t->domain_queue0[d] < t->domain_queue0[d + 1];
  }
  for (uint32_t gang = 0; gang < g->n_gangs; gang++) {
    uint32_t n = 0;
    for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
      n += mark[g->gang_queue[i]];
    }
    of[t->n_domains + gang] = n;
  }
}

fs_status fs_vset_add_queues(fs_vproof *p, const uint32_t *queue, uint32_t n) {
  assert(n <= p->g->target.n_queues);
  fs_vset set = {.kind = FS_VSET_QUEUES, .capacity = n};
  bool *mark;
  FS_TRY(fs_new_zero(&p->arena, &mark, p->g->target.n_queues));
  for (uint32_t i = 0; i < n; i++) {
    assert(queue[i] < p->g->target.n_queues && !mark[queue[i]]);
    mark[queue[i]] = true;
  }
  FS_TRY(fs_new(&p->arena, &set.of, (size_t)p->g->target.n_domains + p->g->n_gangs));
  count_taken(p, mark, set.of);
  set.in = mark;
  return fs_vec_push(p->ctx, &p->set, set);
}

/* ---- memories */

/* The op that alone accesses the version; FS_NONE: there is none. */
static uint32_t only_user(const fsched_graph *g, uint32_t version) {
  uint32_t op = FS_NONE;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    if (op != FS_NONE && g->access_op[i] != op) {
      return FS_NONE;
    }
    op = g->access_op[i];
  }
  return op;
}

/* May the version share its place with another one while the op runs? */
static bool is_in_place(const fsched_graph *g, uint32_t op, uint32_t version) {
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    if (g->arg_version[g->inplace_in[i]] == version ||
        g->arg_version[g->inplace_out[i]] == version) {
      return true;
    }
  }
  return false;
}

/* Scratch, and versions that no other op accesses: nobody else's bytes. */
static void count_bytes(const fs_vproof *p, uint32_t memory, uint64_t *bytes) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[memory];
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint64_t size = g->scratch_memory[i] == memory ? fs_vsize_aligned(m, g->scratch_size[i]) : 0;
      bytes[op] = fs_add_most(bytes[op], size);
    }
  }
  for (uint32_t v = 0; v < g->n_versions && g->buffer_slot == NULL; v++) {
    uint32_t buffer = g->version_buffer[v], op = only_user(g, v);
    if (g->buffer_memory[buffer] == memory && op != FS_NONE && !is_in_place(g, op, v)) {
      bytes[op] = fs_add_most(bytes[op], fs_vsize_aligned(m, g->buffer_size[buffer]));
    }
  }
}

uint64_t fs_vproof_capacity(const fs_vproof *p, uint32_t memory) {
  const fs_memory *m = &p->g->target.memory[memory];
  bool less = p->claim.kind == FS_VCLAIM_PEAK && p->claim.memory == memory;
  assert(m->capacity != FS_UNBOUNDED && (!less || p->claim.value > 0));
  return (less ? fs_min(m->capacity, p->claim.value - 1) : m->capacity) & ~(m->align - 1);
}

fs_status fs_vset_add_memory(fs_vproof *p, uint32_t memory) {
  assert(memory < p->g->target.n_memories);
  fs_vset set = {
      .kind = FS_VSET_MEMORY, .resource = memory, .capacity = fs_vproof_capacity(p, memory)};
  FS_TRY(fs_new_zero(&p->arena, &set.bytes, p->g->n_ops));
  count_bytes(p, memory, set.bytes);
  return fs_vec_push(p->ctx, &p->set, set);
}

/* ---- open copies */

/* Of ops on their own, their scratch. */
fs_status fs_vset_add_stays(fs_vproof *p, uint32_t memory) {
  const fsched_graph *g = p->g;
  const fs_memory *m = &g->target.memory[memory];
  fs_vset set = {
      .kind = FS_VSET_STAYS, .resource = memory, .capacity = m->capacity & ~(m->align - 1)};
  assert(p->stays != NULL);
  FS_TRY(fs_new_zero(&p->arena, &set.bytes, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint64_t size = g->scratch_memory[i] == memory ? fs_vsize_aligned(m, g->scratch_size[i]) : 0;
      set.bytes[op] = fs_add_most(set.bytes[op], size);
    }
  }
  return fs_vec_push(p->ctx, &p->set, set);
}

fs_status fs_vset_add_turns(fs_vproof *p, const uint32_t *op, uint32_t n) {
  fs_vset set = {.kind = FS_VSET_TURNS, .capacity = 1};
  FS_TRY(fs_new_zero(&p->arena, &set.in, p->g->n_ops));
  for (uint32_t k = 0; k < n; k++) {
    set.in[op[k]] = true;
  }
  return fs_vec_push(p->ctx, &p->set, set);
}

/* ---- what is taken */

static uint64_t amount_of(const fsched_graph *g, uint32_t op, uint32_t resource) {
  for (uint32_t u = g->op_use0[op]; u < g->op_use0[op + 1]; u++) {
    if (g->use_resource[u] == resource) {
      return g->use_amount[u];
    }
  }
  return 0;
}

/* A copy takes a queue, and nothing else. */
static uint64_t taken_by_copy(const fs_vproof *p, const fs_vset *s, const fs_vcopy *c) {
  uint32_t memory = p->g->buffer_memory[p->g->version_buffer[c->version]];
  return s->kind == FS_VSET_QUEUES ? s->of[p->g->target.memory[memory].spill_domain] : 0;
}

uint64_t fs_vset_take(const fs_vproof *p, uint32_t set, uint32_t op) {
  assert(set < p->set.n && op < p->n_items);
  const fs_vset *s = &p->set.at[set];
  const fsched_graph *g = p->g;
  if (op >= g->n_ops) {
    return taken_by_copy(p, s, fs_vproof_copy(p, op));
  }
  switch (s->kind) {
    case FS_VSET_QUEUES:
      return s
          ->of[g->op_gang[op] == FS_NONE ? g->op_domain[op] : g->target.n_domains + g->op_gang[op]];
    case FS_VSET_RESOURCE:
      return amount_of(g, op, s->resource);
    case FS_VSET_CONCURRENCY:
      return 1;
    case FS_VSET_MEMORY:
    case FS_VSET_STAYS:
      return p->time[op] == 0 ? 0 : s->bytes[op];
    case FS_VSET_TURNS:
      return s->in[op];
  }
  return 0;
}

uint64_t fs_vset_taken(const fs_vproof *p, uint32_t set, uint32_t op) {
  uint64_t take = fs_vset_take(p, set, op);
  const fs_vset *s = &p->set.at[set];
  bool chooses = p->stays != NULL && take == 0 && s->kind == FS_VSET_QUEUES;
  return chooses ? fs_vstays_runs_on(p, s, op) : take;
}

bool fs_vproof_exclude(const fs_vproof *p, uint32_t a, uint32_t b, bool *whole) {
  assert(a < p->n_items && b < p->n_items);
  bool exclude = false;
  *whole = false;
  for (uint32_t set = 0; a != b && set < p->set.n; set++) {
    uint64_t x = fs_vset_take(p, set, a), y = fs_vset_take(p, set, b);
    if (x > 0 && y > 0 && fs_add_most(x, y) > p->set.at[set].capacity) {
      exclude = true;
      *whole = *whole || p->set.at[set].kind != FS_VSET_QUEUES;
    }
  }
  return exclude;
}
