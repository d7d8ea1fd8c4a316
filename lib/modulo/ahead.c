/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/ahead.h"

/* Whether two nodes share a queue. */
static bool share_queue(const fs_modulo_problem *p, const fs_modulo_plan *plan, uint32_t a,
                        uint32_t b) {
  uint32_t x = a % p->n, y = b % p->n;
  bool all_x = p->gang != NULL && p->gang[x], all_y = p->gang != NULL && p->gang[y];
  const uint32_t *of_x = all_x ? p->eligible + p->eligible0[x] : plan->queue + a;
  const uint32_t *of_y = all_y ? p->eligible + p->eligible0[y] : plan->queue + b;
  uint32_t n_x = all_x ? p->eligible0[x + 1] - p->eligible0[x] : 1;
  uint32_t n_y = all_y ? p->eligible0[y + 1] - p->eligible0[y] : 1;
  for (uint32_t i = 0; i < n_x; i++) {
    for (uint32_t k = 0; k < n_y; k++) {
      if (of_x[i] == of_y[k]) {
        return true;
      }
    }
  }
  return false;
}

/* How many periods the last start of `writer` that is not behind that of `reader` is ahead. */
static int64_t periods_ahead(const fs_modulo_plan *plan, uint32_t writer, uint32_t reader) {
  return fs_floor_div(plan->start[reader] - plan->start[writer], plan->period);
}

static bool ring_kept(const fs_modulo_problem *p, const fs_modulo_plan *plan, uint32_t ring) {
  const fs_modulo_ring *x = &p->ring[ring];
  uint32_t u = plan->copies;
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    uint32_t op = p->reader[k].op;
    for (uint32_t c = 0; c < u * u && p->reader[k].back == 0 && op != x->writer; c++) {
      uint32_t writer = c / u * p->n + x->writer, reader = c % u * p->n + op;
      if (share_queue(p, plan, writer, reader) &&
          periods_ahead(plan, writer, reader) != fs_modulo_ahead(x, c / u, c % u, u)) {
        return false;
      }
    }
  }
  return true;
}

bool fs_modulo_ahead_kept(const fs_modulo_problem *p, const fs_modulo_plan *plan) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  bool kept = true;
  for (uint32_t r = 0; r < p->n_rings && kept; r++) {
    kept = p->ring[r].ahead == 0 || ring_kept(p, plan, r);
  }
  return kept;
}

uint32_t fs_modulo_ahead_planned(const fs_modulo_problem *p, const fs_modulo_plan *plan,
                                 uint32_t ring) {
  assert(ring < p->n_rings && plan->found.is == FS_YES && plan->copies > 0);
  int64_t u = plan->copies, least = INT64_MAX;
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    const fs_modulo_reader *x = &p->reader[k];
    for (int64_t c = 0; c < u && x->op != p->ring[ring].writer; c++) {
      int64_t most = INT64_MIN;
      for (int64_t w = 0; w < u; w++) {
        uint32_t writer = (uint32_t)w * p->n + p->ring[ring].writer;
        int64_t last = w + u * periods_ahead(plan, writer, (uint32_t)c * p->n + x->op);
        most = last > most ? last : most;
      }
      int64_t ahead = most - c + x->back;
      least = ahead < least ? ahead : least;
    }
  }
  return least == INT64_MAX || least < 0 ? 0 : (uint32_t)(least < UINT32_MAX ? least : UINT32_MAX);
}
