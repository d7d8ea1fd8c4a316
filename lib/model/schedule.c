/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a schedule, and frequent queries. */
#include "model/schedule.h"

#include "base/names.h"
#include "model/overwritten.h"

fs_status fs_schedule_create(fsched_context *ctx, const fsched_graph *g, fs_schedule **out) {
  fs_schedule *s = fs_realloc(ctx, NULL, 0, sizeof *s);
  if (s == NULL) {
    return FSCHED_SYSTEM;
  }
  *s = (fs_schedule){.ctx = ctx,
                     .graph = g,
                     .n_gangs = g->n_gangs,
                     .gang_queue0 = g->gang_queue0,
                     .gang_queue = g->gang_queue,
                     .op_gang = g->op_gang};
  fs_arena_init(&s->arena, ctx);
  *out = s;
  return FSCHED_OK;
}

/* The arrays of a schedule s: X(how they are made, member, number of elements). */
#define ITEM_ARRAYS(X)                        \
  X(fs_new_zero, start, s->n_items)           \
  X(fs_new_zero, end, s->n_items)             \
  X(fs_new_zero, queue, s->n_items)           \
  X(fs_new, order, s->n_items)                \
  X(fs_new, copy_kind, s->n_copies)           \
  X(fs_new, copy_version, s->n_copies)        \
  X(fs_new_none, copy_residency, s->n_copies) \
  X(fs_new_none, copy_store, s->n_copies)
#define RESIDENCY_ARRAYS(X)                       \
  X(fs_new, res_version, s->n_residencies)        \
  X(fs_new, res_op, s->n_residencies)             \
  X(fs_new, res_memory, s->n_residencies)         \
  X(fs_new, res_address, s->n_residencies)        \
  X(fs_new, res_size, s->n_residencies)           \
  X(fs_new, res_begin, s->n_residencies)          \
  X(fs_new, res_end, s->n_residencies)            \
  X(fs_new_none, arg_residency, s->graph->n_args) \
  X(fs_new_none, scratch_residency, s->graph->op_scratch0[s->graph->n_ops])

#define MAKE_ARRAY(make, member, n) FS_TRY(make(&s->arena, &s->member, n));
fs_status fs_schedule_make_items(fs_schedule *s, uint32_t n_copies) {
  s->n_copies = n_copies;
  s->n_items = s->graph->n_ops + n_copies;
  ITEM_ARRAYS(MAKE_ARRAY)
  return FSCHED_OK;
}

fs_status fs_schedule_make_residencies(fs_schedule *s, uint32_t n) {
  s->n_residencies = n;
  RESIDENCY_ARRAYS(MAKE_ARRAY)
  return FSCHED_OK;
}

void fs_schedule_destroy(fs_schedule *s) {
  if (s == NULL) {
    return;
  }
  fs_arena_release(&s->arena);
  (void)fs_realloc(s->ctx, s, sizeof *s, 0);
}

/* *array becomes a copy of its n elements. */
static fs_status copy_array(fs_arena *arena, size_t n, size_t size, void *array) {
  const void *from;
  memcpy(&from, array, sizeof from);
  if (from == NULL) {
    return FSCHED_OK;
  }
  void *to = fs_arena_alloc(arena, n * size);
  if (to == NULL) {
    return FSCHED_SYSTEM;
  }
  memcpy(to, from, n * size);
  memcpy(array, &to, sizeof to);
  return FSCHED_OK;
}
#define COPY_ARRAY(s, member, n) \
  FS_TRY(copy_array(&(s)->arena, (n), sizeof *(s)->member, &(s)->member))

/* Names that are not the graph's are of the other schedule. */
static fs_status copy_names(fs_schedule *s) {
  COPY_ARRAY(s, queue_name, s->n_queues);
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_target *t = &s->graph->target;
    const char *name = s->queue_name[q];
    if (q >= t->n_queues || name != t->queue[q].name) {
      s->queue_name[q] = fs_arena_strndup(&s->arena, name, strlen(name));
    }
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status copy_gangs(fs_schedule *s) {
  if (s->op_gang != s->graph->op_gang) {
    uint32_t members = s->gang_queue0[s->n_gangs];
    COPY_ARRAY(s, gang_queue0, (size_t)s->n_gangs + 1);
    COPY_ARRAY(s, gang_queue, members);
    COPY_ARRAY(s, op_gang, s->graph->n_ops);
  }
  return FSCHED_OK;
}

#define COPY_MADE(make, member, n) COPY_ARRAY(s, member, n);
static fs_status copy_items(fs_schedule *s) {
  ITEM_ARRAYS(COPY_MADE)
  RESIDENCY_ARRAYS(COPY_MADE)
  return FSCHED_OK;
}

fs_status fs_schedule_clone(fsched_context *ctx, const fs_schedule *s, fs_schedule **out) {
  assert(s->n_loops == 0);
  fs_schedule *copy = fs_realloc(ctx, NULL, 0, sizeof *copy);
  if (copy == NULL) {
    return FSCHED_SYSTEM;
  }
  *copy = *s;
  copy->ctx = ctx;
  fs_arena_init(&copy->arena, ctx);
  fs_status status = copy_names(copy);
  status = status == FSCHED_OK ? copy_gangs(copy) : status;
  status = status == FSCHED_OK ? copy_items(copy) : status;
  if (status != FSCHED_OK) {
    fs_schedule_destroy(copy);
    return status;
  }
  *out = copy;
  return FSCHED_OK;
}

/* The gang of n queues, by its name: their ids. */
static fs_status intern_gang(fs_names *sets, const uint32_t *queue, uint32_t n, uint32_t *gang,
                             bool *added) {
  fs_text text;
  fs_text_init(&text, sets->ctx);
  for (uint32_t i = 0; i < n; i++) {
    fs_text_u64(&text, queue[i]);
    fs_text_add(&text, ",", 1);
  }
  fs_status status =
      text.failed ? FSCHED_SYSTEM : fs_names_intern(sets, text.at, text.n, gang, added);
  fs_text_drop(&text);
  return status;
}

static fs_status list_gangs(fs_schedule *s, fs_names *sets, const uint32_t *member0,
                            const uint32_t *member) {
  uint32_t n_ops = s->graph->n_ops, *gang_queue0, *gang_queue, *op_gang;
  FS_TRY(fs_new(&s->arena, &gang_queue0, (size_t)n_ops + 1));
  FS_TRY(fs_new(&s->arena, &gang_queue, member0[n_ops]));
  FS_TRY(fs_new_none(&s->arena, &op_gang, n_ops));
  gang_queue0[0] = 0;
  for (uint32_t op = 0; op < n_ops; op++) {
    uint32_t n = member0[op + 1] - member0[op], gang;
    bool added = false;
    if (n == 0) {
      continue;
    }
    FS_TRY(intern_gang(sets, member + member0[op], n, &gang, &added));
    op_gang[op] = gang;
    if (added) {
      memcpy(gang_queue + gang_queue0[gang], member + member0[op], n * sizeof *member);
      gang_queue0[gang + 1] = gang_queue0[gang] + n;
    }
  }
  s->n_gangs = fs_names_count(sets);
  s->gang_queue0 = gang_queue0;
  s->gang_queue = gang_queue;
  s->op_gang = op_gang;
  return FSCHED_OK;
}

fs_status fs_schedule_set_gangs(fs_schedule *s, const uint32_t *member0, const uint32_t *member) {
  assert(member0[0] == 0);
  FS_SCRATCH(arena, s->ctx);
  fs_names sets;
  fs_names_init(&sets, &arena);
  fs_status status = list_gangs(s, &sets, member0, member);
  fs_names_free(&sets);
  return status;
}

fs_item_part fs_item_part_on(const fs_schedule *s, uint32_t item, uint32_t k) {
  FS_ASSERT_SLOW(item < s->n_items);
  const fs_rolled_part *part =
      fs_item_gang(s, item) == FS_NONE ? NULL : fs_op_parts(s->graph, item);
  fs_tick start = s->start[item];
  if (part == NULL) {
    return (fs_item_part){start, fs_item_free(s, item), s->end[item]};
  }
  return (fs_item_part){start + part[k].begin, start + part[k].end, start + part[k].end};
}

static bool in_store(const fs_schedule *s, uint32_t r) {
  return s->res_memory[r] != fs_version_memory(s->graph, s->res_version[r]);
}

bool fs_residency_given(const fs_schedule *s, uint32_t r) {
  FS_ASSERT_SLOW(r < s->n_residencies);
  uint32_t v = s->res_version[r];
  return v != FS_NONE && fs_version_given(s->graph, v) &&
         (in_store(s, r) || !fs_version_spills(s->graph, v));
}

bool fs_residency_stays(const fs_schedule *s, uint32_t r) {
  FS_ASSERT_SLOW(r < s->n_residencies);
  const fsched_graph *g = s->graph;
  uint32_t v = s->res_version[r];
  if (v == FS_NONE) {
    return false;
  }
  return in_store(s, r) ? fs_version_kept(g, v) : fs_version_stays(g, v);
}

/* Reads of one version follow each other in order of issue, so the first one is known. */
fs_status fs_schedule_copy_roles(const fs_schedule *s, fs_arena *arena, uint8_t **out) {
  const fsched_graph *g = s->graph;
  uint8_t *loaded;
  FS_TRY(fs_new(arena, out, s->n_copies));
  FS_TRY(fs_new_zero(arena, &loaded, g->n_versions));
  for (uint32_t i = 0; i < s->n_items; i++) {
    if (!fs_item_is_copy(s, s->order[i])) {
      continue;
    }
    uint32_t copy = s->order[i] - g->n_ops, version = s->copy_version[copy];
    if (s->copy_kind[copy] == FS_SPILL_WRITE) {
      (*out)[copy] = fs_version_kept(g, version) ? FS_ROLE_STORE : FS_ROLE_SPILL_WRITE;
    } else {
      bool first = fs_version_load_needed(g, version) && loaded[version] == 0;
      (*out)[copy] = first ? FS_ROLE_LOAD : FS_ROLE_SPILL_READ;
      loaded[version] = 1;
    }
  }
  return FSCHED_OK;
}

fs_status fs_schedule_reached(const fs_schedule *s, fs_arena *arena, fs_tick **out) {
  assert(s->order != NULL || s->n_items == 0);
  fs_tick *queue;
  FS_TRY(fs_new(arena, out, s->n_items));
  FS_TRY(fs_new_zero(arena, &queue, s->n_queues));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i], n;
    const uint32_t *queues = fs_item_queues(s, item, &n);
    (*out)[item] = s->end[item];
    for (uint32_t k = 0; k < n; k++) {
      queue[queues[k]] = fs_max(queue[queues[k]], fs_item_part_on(s, item, k).end);
      (*out)[item] = fs_max((*out)[item], queue[queues[k]]);
    }
  }
  return FSCHED_OK;
}
