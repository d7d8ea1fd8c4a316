/* SPDX-License-Identifier: Apache-2.0 */
/* Small changes to schedules.  Items stay sorted by start where only the times are meant to be
 * wrong. */
#include "kit/mutate/mutate.h"

const char *fs_schedule_mutation_name(fs_schedule_mutation m) {
  static const char *const name[] = {
#define FS_MUTATION_NAME(id, text) text,
      FS_SCHEDULE_MUTATIONS(FS_MUTATION_NAME)
#undef FS_MUTATION_NAME
  };
  return name[m];
}

#define COPY_ARRAY(to, from, member, n)                                       \
  if ((from)->member != NULL) {                                               \
    if (fs_new(&(to)->arena, &(to)->member, (n)) != FSCHED_OK) {              \
      fs_schedule_destroy(to);                                                \
      return NULL;                                                            \
    }                                                                         \
    memcpy((to)->member, (from)->member, (size_t)(n) * sizeof *(to)->member); \
  }

fs_schedule *fs_schedule_copy(const fs_schedule *s) {
  fs_schedule *c = fs_realloc(s->ctx, NULL, 0, sizeof *c);
  if (c == NULL) {
    return NULL;
  }
  *c = *s;
  fs_arena_init(&c->arena, s->ctx);
  COPY_ARRAY(c, s, queue_name, s->n_queues)
  COPY_ARRAY(c, s, start, s->n_items)
  COPY_ARRAY(c, s, end, s->n_items)
  COPY_ARRAY(c, s, queue, s->n_items)
  COPY_ARRAY(c, s, order, s->n_items)
  COPY_ARRAY(c, s, copy_kind, s->n_copies)
  COPY_ARRAY(c, s, copy_version, s->n_copies)
  COPY_ARRAY(c, s, copy_residency, s->n_copies)
  COPY_ARRAY(c, s, copy_store, s->n_copies)
  COPY_ARRAY(c, s, res_version, s->n_residencies)
  COPY_ARRAY(c, s, res_op, s->n_residencies)
  COPY_ARRAY(c, s, res_memory, s->n_residencies)
  COPY_ARRAY(c, s, res_address, s->n_residencies)
  COPY_ARRAY(c, s, res_size, s->n_residencies)
  COPY_ARRAY(c, s, res_begin, s->n_residencies)
  COPY_ARRAY(c, s, res_end, s->n_residencies)
  COPY_ARRAY(c, s, arg_residency, s->graph->n_args)
  COPY_ARRAY(c, s, scratch_residency, s->graph->op_scratch0[s->graph->n_ops])
  return c;
}

static uint64_t step_of(fs_rng *rng, uint64_t from) {
  uint64_t step = 1 + fs_rng_below(rng, 3);
  return from >= step && fs_rng_one_in(rng, 2) ? -step : step;
}

/* Keeps `order` sorted by start, so that only the times are wrong. */
static void sort_order(fs_schedule *s) {
  for (uint32_t i = 1; i < s->n_items; i++) {
    for (uint32_t k = i; k > 0 && s->start[s->order[k - 1]] > s->start[s->order[k]]; k--) {
      uint32_t swap = s->order[k];
      s->order[k] = s->order[k - 1];
      s->order[k - 1] = swap;
    }
  }
}

static void fix_makespan(fs_schedule *s) {
  fs_tick last = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    last = fs_max(last, s->end[i]);
  }
  s->makespan = last;
  s->lower_bound = fs_min(s->lower_bound, last);
  s->status = FS_SCHEDULE_FEASIBLE;
}

static bool shift_item(fs_schedule *s, fs_rng *rng) {
  uint32_t i = fs_rng_below(rng, s->n_items);
  uint64_t step = step_of(rng, s->start[i]);
  s->start[i] += step;
  s->end[i] += step;
  sort_order(s);
  fix_makespan(s);
  return true;
}

/* Drops a copy; the last copy takes its place in the arrays. */
static bool drop_a_copy(fs_schedule *s, fs_rng *rng) {
  if (s->n_copies == 0) {
    return false;
  }
  uint32_t c = fs_rng_below(rng, s->n_copies), last = s->n_copies - 1;
  uint32_t item = s->graph->n_ops + c, last_item = s->graph->n_ops + last, n = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t x = s->order[i];
    if (x != item) {
      s->order[n++] = x == last_item ? item : x;
    }
  }
  s->start[item] = s->start[last_item];
  s->end[item] = s->end[last_item];
  s->queue[item] = s->queue[last_item];
  s->copy_kind[c] = s->copy_kind[last];
  s->copy_version[c] = s->copy_version[last];
  s->copy_residency[c] = s->copy_residency[last];
  s->copy_store[c] = s->copy_store[last];
  s->n_copies--;
  s->n_items--;
  fix_makespan(s);
  return true;
}

static bool mutate_copies(fs_schedule *s, fs_schedule_mutation m, fs_rng *rng) {
  if (s->n_copies == 0) {
    return false;
  }
  uint32_t c = fs_rng_below(rng, s->n_copies);
  if (m == FS_MUTATE_S_COPY_KIND) {
    s->copy_kind[c] ^= 1;
    return true;
  }
  uint32_t old = s->copy_version[c];
  s->copy_version[c] = fs_rng_below(rng, s->graph->n_versions);
  s->copy_residency[c] = FS_NONE;
  return s->copy_version[c] != old;
}

static bool mutate_residency(fs_schedule *s, fs_schedule_mutation m, fs_rng *rng) {
  if (s->n_residencies == 0) {
    return false;
  }
  uint32_t r = fs_rng_below(rng, s->n_residencies), o = fs_rng_below(rng, s->n_residencies);
  uint64_t align = s->graph->target.memory[s->res_memory[r]].align;
  switch (m) {
    case FS_MUTATE_S_ADDRESS:
      s->res_address[r] += s->res_address[r] >= align && fs_rng_one_in(rng, 2) ? -align : align;
      return true;
    case FS_MUTATE_S_SIZE:
      s->res_size[r] += s->res_size[r] >= align && fs_rng_one_in(rng, 2) ? -align : align;
      return true;
    case FS_MUTATE_S_BEGIN:
      s->res_begin[r] += step_of(rng, s->res_begin[r]);
      s->res_begin[r] = fs_min(s->res_begin[r], s->res_end[r]);
      return true;
    case FS_MUTATE_S_RES_END:
      s->res_end[r] += step_of(rng, s->res_end[r]);
      s->res_end[r] = fs_max(s->res_begin[r], s->res_end[r]);
      return true;
    case FS_MUTATE_S_RES_VERSION:
      s->res_version[r] = fs_rng_below(rng, s->graph->n_versions + 1);
      s->res_version[r] = s->res_version[r] == s->graph->n_versions ? FS_NONE : s->res_version[r];
      s->res_op[r] = s->res_version[r] == FS_NONE ? fs_rng_below(rng, s->graph->n_ops) : FS_NONE;
      return true;
    case FS_MUTATE_S_RES_MEMORY:
      s->res_memory[r] = fs_rng_below(rng, s->graph->target.n_memories);
      return true;
    default:
      s->res_address[r] = s->res_address[o];
      return r != o && s->res_memory[r] == s->res_memory[o];
  }
}

bool fs_mutate_schedule(fs_schedule *s, fs_schedule_mutation m, fs_rng *rng) {
  if (s->n_items == 0 || s->graph->n_versions == 0) {
    return false;
  }
  uint32_t i = fs_rng_below(rng, s->n_items), a = fs_rng_below(rng, s->graph->n_args + 1);
  switch (m) {
    case FS_MUTATE_S_SHIFT:
      return shift_item(s, rng);
    case FS_MUTATE_S_END:
      s->end[i]++;
      fix_makespan(s);
      return true;
    case FS_MUTATE_S_QUEUE:
      s->queue[i] = fs_rng_below(rng, s->n_queues);
      return true;
    case FS_MUTATE_S_ORDER:
      if (i > 0) {
        uint32_t swap = s->order[i];
        s->order[i] = s->order[i - 1];
        s->order[i - 1] = swap;
      }
      return i > 0;
    case FS_MUTATE_S_COPY_VERSION:
    case FS_MUTATE_S_COPY_KIND:
      return mutate_copies(s, m, rng);
    case FS_MUTATE_S_DROP_COPY:
      return drop_a_copy(s, rng);
    case FS_MUTATE_S_ARG:
      if (a == s->graph->n_args || s->n_residencies == 0 || s->arg_residency[a] == FS_NONE) {
        return false;
      }
      s->arg_residency[a] = fs_rng_below(rng, s->n_residencies);
      return true;
    case FS_MUTATE_S_STATUS:
      s->makespan += fs_rng_one_in(rng, 2);
      s->status = FS_SCHEDULE_OPTIMAL;
      s->lower_bound += fs_rng_one_in(rng, 2) ? 1 : UINT64_MAX;
      return true;
    default:
      return mutate_residency(s, m, rng);
  }
}
