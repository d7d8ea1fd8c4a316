/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/plain.h"

#include "base/saturate.h"
#include "modulo/repeat.h"

typedef struct plain_maker {
  const fs_modulo_problem *p;
  fs_modulo_plan *out;
  int64_t *queue, *resource; /* when they are free */
} plain_maker;

static void raise_to(int64_t *at, int64_t least) { *at = least > *at ? least : *at; }

static bool is_gang(const fs_modulo_problem *p, uint32_t op) {
  return p->gang != NULL && p->gang[op];
}

/* One more than the last queue of an op: the first eligible one, or all of a gang's. */
static uint32_t queues_end(const fs_modulo_problem *p, uint32_t op) {
  return is_gang(p, op) ? p->eligible0[op + 1] : p->eligible0[op] + 1;
}

static void place_op(plain_maker *m, uint32_t op) {
  const fs_modulo_problem *p = m->p;
  int64_t start = 0;
  for (uint32_t k = p->eligible0[op]; k < queues_end(p, op); k++) {
    raise_to(&start, m->queue[p->eligible[k]]);
  }
  for (uint32_t e = 0; e < p->n_edges; e++) {
    const fs_modulo_edge *x = &p->edge[e];
    if (x->to == op && x->distance == 0) {
      assert(x->from < op);
      raise_to(&start, m->out->start[x->from] + (int64_t)p->latency[x->from]);
    }
  }
  for (uint32_t u = p->use0 == NULL ? 0 : p->use0[op]; p->use0 != NULL && u < p->use0[op + 1];
       u++) {
    raise_to(&start, m->resource[p->use[u].resource]);
  }
  int64_t end = start + (int64_t)p->latency[op];
  for (uint32_t k = p->eligible0[op]; k < queues_end(p, op); k++) {
    m->queue[p->eligible[k]] = end;
  }
  for (uint32_t u = p->use0 == NULL ? 0 : p->use0[op]; p->use0 != NULL && u < p->use0[op + 1];
       u++) {
    m->resource[p->use[u].resource] = end;
  }
  m->out->start[op] = start;
  m->out->queue[op] = p->eligible[p->eligible0[op]];
  raise_to(&m->out->period, end);
}

/* Ops take the first lanes. */
static fs_status take_lanes(plain_maker *m, fs_arena *arena) {
  const fs_modulo_problem *p = m->p;
  uint32_t n = 0;
  FS_TRY(fs_new_zero(arena, &m->out->lane0, (size_t)p->n + 1));
  for (uint32_t op = 0; op < p->n; op++) {
    m->out->lane0[op] = n;
    for (uint32_t u = p->use0 == NULL ? 0 : p->use0[op]; p->use0 != NULL && u < p->use0[op + 1];
         u++) {
      n += p->use[u].amount;
    }
  }
  m->out->lane0[p->n] = n;
  FS_TRY(fs_new(arena, &m->out->lane, n));
  n = 0;
  for (uint32_t u = 0; p->use0 != NULL && u < p->use0[p->n]; u++) {
    for (uint32_t i = 0; i < p->use[u].amount; i++) {
      m->out->lane[n++] = i;
    }
  }
  return FSCHED_OK;
}

static fs_status set_depths(plain_maker *m, fs_arena *arena) {
  const fs_modulo_problem *p = m->p;
  FS_TRY(fs_new(arena, &m->out->depth, p->n_rings));
  FS_TRY(fs_new_zero(arena, &m->out->bytes, p->n_memories));
  for (uint32_t r = 0; r < p->n_rings; r++) {
    uint32_t depth = p->ring[r].depth == 0 ? fs_modulo_least_depth(p, r) : p->ring[r].depth;
    uint32_t more = p->ring[r].every > 1 ? p->ring[r].every - 1 : 0;
    for (uint32_t k = p->reader0[r]; k < p->reader0[r + 1] && p->ring[r].depth == 0; k++) {
      uint32_t need = p->reader[k].back + (p->reader[k].op > p->ring[r].writer) + more;
      depth = need > depth ? need : depth;
    }
    m->out->depth[r] = depth;
    if (p->ring[r].memory != FS_NONE) {
      uint64_t *bytes = &m->out->bytes[p->ring[r].memory];
      *bytes = fs_add_most(*bytes, fs_multiply_most(depth, p->ring[r].size));
    }
  }
  return FSCHED_OK;
}

fs_status fs_modulo_plain(fs_arena *arena, const fs_modulo_problem *p, fs_modulo_plan *out) {
  uint32_t unit = fs_modulo_unit(p);
  assert(p->n > 0 && unit <= FS_MODULO_COPIES);
  plain_maker m = {.p = p, .out = out};
  *out = (fs_modulo_plan){.found = fs_decided_by(true),
                          .bounds = out->bounds,
                          .copies = 1,
                          .scale = 1,
                          .limited_by = FS_MODULO_BY_ORDER,
                          .steps = 0};
  FS_TRY(fs_new_zero(arena, &m.queue, p->n_queues));
  FS_TRY(fs_new_zero(arena, &m.resource, p->n_resources));
  FS_TRY(fs_new_zero(arena, &out->start, p->n));
  FS_TRY(fs_new_zero(arena, &out->shift, p->n));
  FS_TRY(fs_new(arena, &out->queue, p->n));
  for (uint32_t op = 0; op < p->n; op++) {
    place_op(&m, op);
  }
  out->ii = (fs_modulo_ratio){out->period, 1};
  out->makespan = out->period;
  FS_TRY(take_lanes(&m, arena));
  FS_TRY(set_depths(&m, arena));
  fs_modulo_plan one = *out;
  return unit == 1 ? FSCHED_OK : fs_modulo_repeat(arena, p, &one, unit, out);
}
