/* SPDX-License-Identifier: Apache-2.0 */
/* Exact addresses of scratch by position variables.
 *
 *   p[r,t,q] = 1: the op of r starts at t with its scratch at q, 0 <= q <= k - z
 *   sum(q) p[r,t,q] = x[i,t]
 *   b[r,t,c] = sum(s = t-d+1 .. t) sum(q = c-z+1 .. c) p[r,s,q]     cell c is r's at t
 *   sum(r) b[r,t,c] <= 1                                            for each t and c
 *
 * Positions are in units of the greatest common divisor of the sizes: all residencies that fit
 * still fit when they are pushed down, and then every address is a sum of sizes.  A scratch of no
 * time takes its cells from the residencies that exist at its instant.  All residencies of
 * contiguous memories must be scratch, else there is no such model. */
#include "base/limit.h"
#include "ilp/time/private.h"

static uint64_t cells(const fs_time_model *t, uint32_t r) {
  return t->p->res_size[r] / t->unit[t->p->res_memory[r]];
}
static uint64_t room(const fs_time_model *t, uint32_t memory) {
  return t->p->graph->target.memory[memory].capacity / t->unit[memory];
}

/* The variable of (start, position) of a residency. */
static uint32_t position(const fs_time_model *t, uint32_t r, fs_tick start, uint64_t q) {
  uint64_t n = room(t, t->p->res_memory[r]) - cells(t, r) + 1;
  return t->position_var0[r] + (uint32_t)((start - t->item[t->life[r].begin].est) * n + q);
}

static fs_status add_positions(fs_time_model *t, uint32_t r) {
  const fs_time_item *x = &t->item[t->life[r].begin];
  uint64_t n = room(t, t->p->res_memory[r]) - cells(t, r) + 1;
  if (cells(t, r) > room(t, t->p->res_memory[r])) {
    t->m.contradiction = true;
    return FSCHED_OK;
  }
  uint64_t most = t->o.max_terms == 0 ? FS_NONE / 2 : fs_min(t->o.max_terms, FS_NONE / 2);
  if (n > most || (x->lst - x->est + 1) > (most - fs_min(most, t->m.var.n)) / n) {
    t->full = true;
    return FSCHED_OK;
  }
  t->position_var0[r] = (uint32_t)t->m.var.n;
  for (fs_tick at = x->est; at <= x->lst; at++) {
    for (uint64_t q = 0; q < n; q++) {
      char name[80];
      uint32_t var;
      (void)snprintf(name, sizeof name, "p_%u_%llu_%llu", r, (unsigned long long)at,
                     (unsigned long long)q);
      FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, 0, t->n + 2 + r, name, &var));
    }
  }
  for (fs_tick at = x->est; at <= x->lst; at++) {
    FS_TRY(fs_model_begin_row(&t->m, 0, 0, "place_%u_%llu", r, (unsigned long long)at));
    for (uint64_t q = 0; q < n; q++) {
      FS_TRY(fs_model_add_term(&t->m, position(t, r, at, q), 1));
    }
    FS_TRY(fs_time_add_start(t, t->life[r].begin, FS_NONE, at, at, -1));
    FS_TRY(fs_model_end_row(&t->m));
  }
  return FSCHED_OK;
}

/* Adds the positions of r at which it covers the cell, for starts in [lo, hi]. */
static fs_status add_cell(fs_time_model *t, uint32_t r, uint64_t cell, fs_tick lo, fs_tick hi) {
  const fs_time_item *x = &t->item[t->life[r].begin];
  uint64_t z = cells(t, r), last = room(t, t->p->res_memory[r]) - z;
  for (fs_tick at = fs_max(lo, x->est); at <= hi && at <= x->lst; at++) {
    for (uint64_t q = cell + 1 > z ? cell + 1 - z : 0; q <= fs_min(cell, last); q++) {
      FS_TRY(fs_model_add_term(&t->m, position(t, r, at, q), 1));
    }
  }
  return FSCHED_OK;
}

static fs_status add_cells(fs_time_model *t, uint32_t memory, uint64_t cell, fs_tick at,
                           bool inside) {
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    if (t->position_var0[r] == FS_NONE || t->p->res_memory[r] != memory) {
      continue;
    }
    fs_tick time = t->item[t->life[r].begin].time;
    if (time > (inside ? 1 : 0) && !(inside && at == 0)) {
      fs_tick lo = at + 1 > time ? at + 1 - time : 0;
      FS_TRY(add_cell(t, r, cell, lo, inside ? at - 1 : at));
    }
  }
  return FSCHED_OK;
}

static fs_status cell_rows(fs_time_model *t, uint32_t memory, uint64_t cell) {
  bool kept, before = false;
  for (fs_tick at = t->from; at < t->to && !t->full; at++) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "cell_%u_%llu_%llu", memory,
                              (unsigned long long)at, (unsigned long long)cell));
    FS_TRY(add_cells(t, memory, cell, at, false));
    FS_TRY(fs_time_end_row(t, &kept));
    fs_time_drop_weaker(t, &before, kept);
  }
  return FSCHED_OK;
}

static fs_status instant_rows(fs_time_model *t, uint32_t r, uint64_t cell) {
  const fs_time_item *x = &t->item[t->life[r].begin];
  bool kept;
  for (fs_tick at = x->est; at <= x->lst && !t->full; at++) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "cell_%u_%llu_%llu_%u", t->p->res_memory[r],
                              (unsigned long long)at, (unsigned long long)cell, r));
    FS_TRY(add_cell(t, r, cell, at, at));
    FS_TRY(add_cells(t, t->p->res_memory[r], cell, at, true));
    FS_TRY(fs_time_end_row(t, &kept));
  }
  return FSCHED_OK;
}

static fs_status memory_rows(fs_time_model *t, uint32_t memory) {
  const fs_memory *m = &t->p->graph->target.memory[memory];
  if (!fs_placement_has_addresses(m->placement) || !fs_memory_bounded(m) || t->unit[memory] == 0) {
    return FSCHED_OK;
  }
  if (room(t, memory) > fs_limits_of(t->m.ctx)->time_cells / fs_max(1, t->to - t->from)) {
    t->full = true;
    return FSCHED_OK;
  }
  FS_TRY(fs_model_add_note(&t->m, "p_r_t_q: residency r starts at t, at %llu * q in %s",
                           (unsigned long long)t->unit[memory], m->name));
  for (uint64_t cell = 0; cell < room(t, memory) && !t->full; cell++) {
    FS_TRY(cell_rows(t, memory, cell));
    for (uint32_t r = 0; r < t->p->n_residencies && !t->full; r++) {
      bool instant = t->position_var0[r] != FS_NONE && t->life[r].instant;
      FS_TRY(instant && t->p->res_memory[r] == memory ? instant_rows(t, r, cell) : FSCHED_OK);
    }
  }
  return FSCHED_OK;
}

fs_status fs_time_positions(fs_time_model *t) {
  assert(t->life != NULL || t->p->n_residencies == 0);
  const fs_problem *p = t->p;
  for (uint32_t r = 0; r < p->n_residencies && !t->full; r++) {
    if (fs_time_placed(t, r)) {
      t->full = p->res_op[r] == FS_NONE || p->res_begin_item[r] == FS_NONE;
      FS_TRY(t->full ? FSCHED_OK : add_positions(t, r));
    }
  }
  for (uint32_t m = 0; m < p->graph->target.n_memories && !t->full; m++) {
    FS_TRY(memory_rows(t, m));
  }
  return FSCHED_OK;
}
