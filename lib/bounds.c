/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds that need no search: longest path, work per set of queues, resource energy, and
 * the copies that no schedule avoids (the first read of given content that is used, the write-back
 * of what is kept).
 *
 * Queue work of a domain counts every op and unavoidable copy whose eligible queues all lie in the
 * domain (a gang counts once per member), over the number of its queues; implicit queues with a
 * concurrency limit are one domain. */
#include "schedule.h"

typedef struct bounds {
  const fsched_graph *g;
  fs_tick *domain_work; /* per domain: ops and copies eligible there and nowhere else */
  fs_tick *domain_copies;
  fs_tick *queue_gang; /* per queue: gangs */
} bounds;

static bool spills(const fsched_graph *g, uint32_t v) {
  const fs_memory *m = &g->target.memory[fs_version_memory(g, v)];
  return fs_memory_bounded(m) && fs_memory_spills(m);
}

static bool read_needed(const fsched_graph *g, uint32_t v) {
  return spills(g, v) && fs_version_given(g, v) &&
         g->version_access0[v] < g->version_access0[v + 1];
}

/* A kept version that is given and never written is in the store already. */
static bool write_needed(const fsched_graph *g, uint32_t v) {
  if (!spills(g, v) || !fs_version_kept(g, v)) {
    return false;
  }
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    if (fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      return true;
    }
  }
  return false;
}

static fs_tick read_time(const fsched_graph *g, uint32_t v) {
  return fs_spill_read_time(&g->target.memory[fs_version_memory(g, v)], fs_version_size(g, v));
}

static fs_tick write_time(const fsched_graph *g, uint32_t v) {
  return fs_spill_write_time(&g->target.memory[fs_version_memory(g, v)], fs_version_size(g, v));
}

static fs_status critical_path(const fsched_graph *g, fs_arena *arena, fs_tick *out) {
  fs_tick *end;
  FS_TRY(fs_new_zero(arena, &end, g->n_ops));
  *out = 0;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    fs_tick start = g->op_start != NULL && g->op_start[op] != FS_TICK_NONE ? g->op_start[op] : 0;
    for (uint32_t p = g->pred0[op]; p < g->pred0[op + 1]; p++) {
      start = fs_max(start, end[g->pred[p]]);
    }
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v != FS_NONE && g->arg_tag[a] != FSCHED_NO_DEP && read_needed(g, v)) {
        start = fs_max(start, read_time(g, v));
      }
    }
    end[op] = start + g->op_time[op];
    fs_tick last = end[op];
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v != FS_NONE && fs_tag_writes(g->arg_tag[a]) && write_needed(g, v)) {
        last = fs_max(last, end[op] + write_time(g, v));
      }
    }
    *out = fs_max(*out, last);
  }
  return FSCHED_OK;
}

static void add_work(bounds *b) {
  const fsched_graph *g = b->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (g->op_gang[op] == FS_NONE) {
      b->domain_work[g->op_domain[op]] += g->op_time[op];
      continue;
    }
    for (uint32_t i = g->gang_queue0[g->op_gang[op]]; i < g->gang_queue0[g->op_gang[op] + 1]; i++) {
      b->queue_gang[g->gang_queue[i]] += g->op_time[op];
    }
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    fs_tick time = (read_needed(g, v) ? read_time(g, v) : 0) +
                   (write_needed(g, v) ? write_time(g, v) : 0);
    if (time > 0) {
      b->domain_copies[g->target.memory[fs_version_memory(g, v)].spill_domain] += time;
    }
  }
}

static bool subset(const fs_target *t, uint32_t a, uint32_t b) {
  uint32_t j = t->domain_queue0[b];
  for (uint32_t i = t->domain_queue0[a]; i < t->domain_queue0[a + 1]; i++) {
    while (j < t->domain_queue0[b + 1] && t->domain_queue[j] < t->domain_queue[i]) {
      j++;
    }
    if (j == t->domain_queue0[b + 1] || t->domain_queue[j] != t->domain_queue[i]) {
      return false;
    }
  }
  return true;
}

static void domain_bound(const bounds *b, uint32_t d, fs_lower_bounds *out) {
  const fs_target *t = &b->g->target;
  uint64_t queues = t->implicit_queues ? t->concurrency
                                       : t->domain_queue0[d + 1] - t->domain_queue0[d];
  if (queues == 0) {
    return;
  }
  fs_tick ops = 0, copies = 0;
  for (uint32_t e = 0; e < t->n_domains; e++) {
    if ((b->domain_work[e] > 0 || b->domain_copies[e] > 0) && subset(t, e, d)) {
      ops += b->domain_work[e];
      copies += b->domain_copies[e];
    }
  }
  for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
    ops += b->queue_gang[t->domain_queue[i]];
  }
  out->queue_work = fs_max(out->queue_work, fs_ceil_div(ops, queues));
  out->copy_work = fs_max(out->copy_work, fs_ceil_div(copies, queues));
  out->all = fs_max(out->all, fs_ceil_div(ops + copies, queues));
}

__extension__ typedef unsigned __int128 energy_type;

/* Energy; a use of more than half of the capacity excludes its likes, which is counted too. */
static fs_status resource_bound(const fsched_graph *g, fs_arena *arena, fs_tick *out) {
  fs_tick *whole, *half;
  uint64_t *part; /* remainder of the energy below the capacity */
  FS_TRY(fs_new_zero(arena, &whole, g->target.n_resources));
  FS_TRY(fs_new_zero(arena, &half, g->target.n_resources));
  FS_TRY(fs_new_zero(arena, &part, g->target.n_resources));
  fs_tick total = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    total += g->op_time[op];
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      uint32_t r = g->use_resource[i];
      uint64_t capacity = g->target.resource_capacity[r];
      if (capacity == 0) {
        continue;
      }
      energy_type energy = (energy_type)g->op_time[op] * g->use_amount[i] + part[r];
      whole[r] += (fs_tick)(energy / capacity);
      part[r] = (uint64_t)(energy % capacity);
      half[r] += g->use_amount[i] > capacity / 2 && g->use_amount[i] * 2 > capacity
                     ? g->op_time[op]
                     : 0;
    }
  }
  *out = g->target.concurrency > 0 ? fs_ceil_div(total, g->target.concurrency) : 0;
  for (uint32_t r = 0; r < g->target.n_resources; r++) {
    *out = fs_max(*out, fs_max(whole[r] + (part[r] > 0), half[r]));
  }
  return FSCHED_OK;
}

static fs_status all_bounds(const fsched_graph *g, fs_arena *arena, fs_lower_bounds *out) {
  bounds b = {.g = g};
  FS_TRY(fs_new_zero(arena, &b.domain_work, g->target.n_domains));
  FS_TRY(fs_new_zero(arena, &b.domain_copies, g->target.n_domains));
  FS_TRY(fs_new_zero(arena, &b.queue_gang, g->target.n_queues));
  FS_TRY(critical_path(g, arena, &out->critical_path));
  FS_TRY(resource_bound(g, arena, &out->resource_work));
  add_work(&b);
  for (uint32_t d = 0; d < g->target.n_domains; d++) {
    domain_bound(&b, d, out);
  }
  out->all = fs_max(out->all, fs_max(out->critical_path, out->resource_work));
  return FSCHED_OK;
}

fs_status fs_graph_lower_bounds(fsched_context *ctx, const fsched_graph *g, fs_lower_bounds *out) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  *out = (fs_lower_bounds){0};
  fs_status status = all_bounds(g, &arena, out);
  fs_arena_release(&arena);
  return status;
}

fs_status fs_memory_lower_bounds(fsched_context *ctx, const fsched_graph *g,
                                 uint64_t *per_memory) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  uint64_t *need = NULL;
  uint32_t *seen = NULL;
  const fs_target *t = &g->target;
  fs_status status = fs_new_zero(&arena, &need, t->n_memories);
  status = status == FSCHED_OK ? fs_new_none(&arena, &seen, g->n_versions) : status;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    per_memory[m] = 0;
  }
  for (uint32_t op = 0; status == FSCHED_OK && op < g->n_ops; op++) {
    for (int pass = 0; pass < 2; pass++) { /* add up, then take over and clear */
      for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
        uint32_t v = g->arg_version[a];
        if (v == FS_NONE || g->arg_tag[a] == FSCHED_NO_DEP) {
          continue;
        }
        uint32_t m = fs_version_memory(g, v);
        if (pass == 0 && seen[v] != op) {
          seen[v] = op;
          need[m] += fs_align_up(fs_version_size(g, v), t->memory[m].align);
        } else if (pass == 1) {
          per_memory[m] = fs_max(per_memory[m], need[m]);
          need[m] = 0;
        }
      }
      for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
        uint32_t m = g->scratch_memory[i];
        if (pass == 0) {
          need[m] += fs_align_up(g->scratch_size[i], t->memory[m].align);
        } else {
          per_memory[m] = fs_max(per_memory[m], need[m]);
          need[m] = 0;
        }
      }
    }
  }
  fs_arena_release(&arena);
  return status;
}
