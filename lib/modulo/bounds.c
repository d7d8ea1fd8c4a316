/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/bounds.h"

#include "modulo/cliques.h"
#include "modulo/problem/ratio.h"

/* --- resources --- */

static void raise_resource(fs_modulo_bounds *out, int64_t work, int64_t tracks, fs_modulo_limit by,
                           uint32_t index) {
  fs_modulo_ratio bound = fs_modulo_ratio_of(work, tracks);
  if (fs_modulo_less(out->resource, bound)) {
    out->resource = bound;
    out->resource_by = by;
    out->resource_index = index;
  }
}

/* The work that must be done on the tracks of a claim's domain. */
static void bound_domain(const fs_modulo_body *b, uint32_t claim, fs_modulo_bounds *out) {
  uint32_t g = b->claim[claim].group;
  uint64_t domain = b->claim[claim].domain;
  int64_t work = 0;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    const fs_modulo_claim *c = &b->claim[b->member[k]];
    if (c->domain == domain && b->member[k] < claim) {
      return; /* has been looked at */
    }
    work += (c->domain & ~domain) == 0 ? c->hold : 0;
  }
  uint32_t first = b->name[b->track0[g] + (uint32_t)__builtin_ctzll(domain)];
  raise_resource(out, work, __builtin_popcountll(domain), FS_MODULO_BY_QUEUES, first);
}

static void bound_lanes(const fs_modulo_body *b, fs_modulo_bounds *out) {
  const fs_modulo_problem *p = b->p;
  for (uint32_t r = 0; p->use0 != NULL && r < p->n_resources; r++) {
    int64_t work = 0;
    for (uint32_t i = 0; i < p->n; i++) {
      for (uint32_t k = p->use0[i]; k < p->use0[i + 1]; k++) {
        bool here = p->use[k].resource == r;
        work += here ? b->latency[i] * p->use[k].amount : 0;
      }
    }
    if (p->lanes[r] > 0) {
      raise_resource(out, work, p->lanes[r], FS_MODULO_BY_RESOURCE, r);
    }
  }
}

static fs_status bound_cliques(fsched_context *ctx, const fs_modulo_body *b,
                               fs_modulo_bounds *out) {
  int64_t worth;
  fs_modulo_limit by;
  uint32_t index;
  FS_TRY(fs_modulo_clique_bound(ctx, b, true, &worth, &by, &index));
  raise_resource(out, worth, 1, by, index);
  return FSCHED_OK;
}

/* --- recurrence --- */

static void add_limit_of_ring(const fs_modulo_body *b, uint32_t ring, fs_ratio_edge *edge,
                              uint32_t *m) {
  const fs_modulo_problem *p = b->p;
  uint32_t writer = p->ring[ring].writer;
  int64_t most = p->ring[ring].most;
  edge[(*m)++] = (fs_ratio_edge){writer, writer, b->latency[writer], most};
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    uint32_t op = p->reader[k].op;
    edge[(*m)++] = (fs_ratio_edge){op, writer, b->latency[op], most - p->reader[k].back};
  }
}

/* The ring whose limit an edge is, the k-th of those that were added. */
static uint32_t ring_of_limit(const fs_modulo_body *b, uint32_t k) {
  const fs_modulo_problem *p = b->p;
  for (uint32_t r = 0; r < b->n_open; r++) {
    uint32_t ring = b->open[r];
    uint32_t n = p->ring[ring].most == 0 ? 0 : 1 + p->reader0[ring + 1] - p->reader0[ring];
    if (k < n) {
      return ring;
    }
    k -= n;
  }
  assert(false);
  return FS_NONE;
}

static fs_status bound_cycles(fsched_context *ctx, fs_arena *scratch, const fs_modulo_body *b,
                              fs_modulo_bounds *out, bool *endless) {
  const fs_modulo_problem *p = b->p;
  size_t room = (size_t)b->n_arcs + b->n_open;
  for (uint32_t r = 0; r < b->n_open; r++) {
    room += p->reader0[b->open[r] + 1] - p->reader0[b->open[r]];
  }
  fs_ratio_edge *edge;
  fs_ratio_cycle cycle;
  uint32_t m = 0, n_arcs, *arc;
  FS_TRY(fs_new(scratch, &edge, room));
  FS_TRY(fs_new(scratch, &arc, b->n_arcs));
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    const fs_modulo_arc *a = &b->arc[k];
    if (!a->entry) {
      arc[m] = k;
      edge[m++] = (fs_ratio_edge){a->from, a->to, a->delay, a->distance};
    }
  }
  n_arcs = m;
  for (uint32_t r = 0; r < b->n_open; r++) {
    if (p->ring[b->open[r]].most > 0) {
      add_limit_of_ring(b, b->open[r], edge, &m);
    }
  }
  FS_TRY(fs_modulo_cycle(ctx, scratch, b->n, edge, m, &cycle));
  *endless = cycle.endless;
  out->recurrence = cycle.ratio;
  out->recurrence_by = FS_MODULO_BY_RECURRENCE;
  out->recurrence_index = cycle.n > 0 ? edge[cycle.edge[0]].from : FS_NONE;
  for (uint32_t k = 0; k < cycle.n; k++) {
    uint32_t at = cycle.edge[k];
    if (at >= n_arcs || b->arc[arc[at]].ring != FS_NONE) {
      out->recurrence_by = FS_MODULO_BY_RING;
      out->recurrence_index = at < n_arcs ? b->arc[arc[at]].ring : ring_of_limit(b, at - n_arcs);
    }
  }
  return FSCHED_OK;
}

fs_status fs_modulo_bounds_of(fsched_context *ctx, const fs_modulo_body *b, fs_modulo_bounds *out,
                              bool *endless) {
  assert(b->copies == 1);
  FS_SCRATCH(scratch, ctx);
  out->resource = (fs_modulo_ratio){0, 1};
  for (uint32_t c = 0; c < b->n_claims; c++) {
    if (b->claim[c].group < b->n_queue_groups) {
      bound_domain(b, c, out);
    }
  }
  bound_lanes(b, out);
  FS_TRY(bound_cliques(ctx, b, out));
  return bound_cycles(ctx, &scratch, b, out, endless);
}
