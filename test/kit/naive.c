/* SPDX-License-Identifier: Apache-2.0 */
/* One op runs after the other, and around each are the copies that bring its versions in and out:
 *
 *   read x | read y | run op (x, y, z in memory) | write z | next op ...
 *
 * Every version is in the store between two ops, so the precondition alone says that each op
 * fits. */
#include "kit/naive.h"
#include "model/bounds/bounds.h"

typedef struct naive {
  const fsched_graph *g;
  fs_schedule *s;
  fs_tick now;
  uint32_t *uses_left; /* per version: accesses of ops that have not run */
  uint8_t *content;    /* per version: whether it has been given or written */
  uint64_t *top;       /* per memory: bytes used by the current op */
  uint32_t n_issued;
} naive;

static bool in_bounded(const fsched_graph *g, uint32_t arg) {
  return g->arg_version[arg] != FS_NONE && g->arg_tag[arg] != FSCHED_NO_DEP &&
         fs_memory_bounded(&g->target.memory[fs_version_memory(g, g->arg_version[arg])]);
}

/* The op's first arg with this version; later args of it share its place. */
static uint32_t first_arg(const fsched_graph *g, uint32_t op, uint32_t version) {
  uint32_t a = g->op_arg0[op];
  while (g->arg_version[a] != version || g->arg_tag[a] == FSCHED_NO_DEP) {
    a++;
  }
  return a;
}

static bool op_writes(const fsched_graph *g, uint32_t op, uint32_t version) {
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (g->arg_version[a] == version && fs_tag_writes(g->arg_tag[a])) {
      return true;
    }
  }
  return false;
}

/* Whether the op needs the version's content: it reads it, or writes only a part of it. */
static bool op_needs(const fsched_graph *g, uint32_t op, uint32_t version) {
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (g->arg_version[a] == version && g->arg_tag[a] != FSCHED_NO_DEP &&
        (fs_tag_reads(g->arg_tag[a]) || !fs_arg_whole(g, a))) {
      return true;
    }
  }
  return false;
}

static uint32_t domain_queue(const fsched_graph *g, uint32_t domain) {
  const fs_target *t = &g->target;
  return t->implicit_queues ? 0 : t->domain_queue[t->domain_queue0[domain]];
}

static void issue(naive *n, uint32_t item, uint32_t queue, fs_tick time) {
  fs_schedule *s = n->s;
  s->start[item] = n->now;
  s->queue[item] = queue;
  s->order[n->n_issued++] = item;
  n->now += time;
  s->end[item] = n->now;
}

/* Adds a place on top of the others; FS_NONE when it does not fit. */
static uint32_t new_place(naive *n, uint32_t memory, uint32_t version, uint32_t op, uint64_t size) {
  fs_schedule *s = n->s;
  const fs_memory *m = &n->g->target.memory[memory];
  uint64_t aligned = fs_align_up(size, m->align);
  if (aligned > m->capacity - n->top[memory]) {
    return FS_NONE;
  }
  uint32_t r = s->n_residencies++;
  s->res_version[r] = version;
  s->res_op[r] = op;
  s->res_memory[r] = memory;
  s->res_address[r] = m->placement == FSCHED_COUNTED ? 0 : n->top[memory];
  s->res_size[r] = aligned;
  s->res_begin[r] = n->now;
  n->top[memory] += aligned;
  return r;
}

static void copy(naive *n, fs_copy_kind kind, uint32_t version, uint32_t residency) {
  fs_schedule *s = n->s;
  const fs_memory *m = &n->g->target.memory[fs_version_memory(n->g, version)];
  uint64_t size = fs_version_size(n->g, version);
  uint32_t c = s->n_copies++;
  s->copy_kind[c] = (uint8_t)kind;
  s->copy_version[c] = version;
  s->copy_residency[c] = residency;
  s->copy_store[c] = FS_NONE;
  issue(n, n->g->n_ops + c, domain_queue(n->g, m->spill_domain),
        kind == FS_SPILL_READ ? fs_spill_read_time(m, size) : fs_spill_write_time(m, size));
}

static fs_status bring_in(naive *n, uint32_t op, bool reads) {
  const fsched_graph *g = n->g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (!in_bounded(g, a) || first_arg(g, op, v) != a ||
        (n->content[v] && op_needs(g, op, v)) != reads) {
      continue;
    }
    uint32_t m = fs_version_memory(g, v);
    uint32_t r = new_place(n, m, v, FS_NONE, fs_version_size(g, v));
    if (r == FS_NONE) {
      return FSCHED_INFEASIBLE;
    }
    n->s->arg_residency[a] = r;
    if (reads) {
      copy(n, FS_SPILL_READ, v, r);
    }
  }
  return FSCHED_OK;
}

static fs_status place_scratch(naive *n, uint32_t op) {
  const fsched_graph *g = n->g;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (fs_memory_bounded(&g->target.memory[g->scratch_memory[i]])) {
      uint32_t r = new_place(n, g->scratch_memory[i], FS_NONE, op, g->scratch_size[i]);
      if (r == FS_NONE) {
        return FSCHED_INFEASIBLE;
      }
      n->s->scratch_residency[i] = r;
    }
  }
  return FSCHED_OK;
}

/* Ends the places from `r` on, and first writes back what the op wrote and a later op or the user
 * wants. */
static void give_up(naive *n, uint32_t op, uint32_t r) {
  fs_schedule *s = n->s;
  for (; r < s->n_residencies; r++) {
    uint32_t v = s->res_version[r];
    bool wanted = v != FS_NONE && (n->uses_left[v] > 0 || fs_version_kept(n->g, v));
    if (wanted && op_writes(n->g, op, v)) {
      copy(n, FS_SPILL_WRITE, v, r);
      s->res_end[r] = n->now;
    } else {
      s->res_end[r] = s->end[op];
    }
  }
}

static void count_accesses(naive *n, uint32_t op) {
  const fsched_graph *g = n->g;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && g->arg_tag[a] != FSCHED_NO_DEP) {
      n->uses_left[v]--;
      n->content[v] |= fs_tag_writes(g->arg_tag[a]);
      if (in_bounded(g, a)) {
        n->s->arg_residency[a] = n->s->arg_residency[first_arg(g, op, v)];
      }
    }
  }
}

static fs_status one_op(naive *n, uint32_t op) {
  const fsched_graph *g = n->g;
  uint32_t first = n->s->n_residencies;
  memset(n->top, 0, g->target.n_memories * sizeof *n->top);
  FS_TRY(bring_in(n, op, true));
  if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
    if (g->op_start[op] < n->now) {
      return FSCHED_INFEASIBLE;
    }
    n->now = g->op_start[op];
  }
  FS_TRY(bring_in(n, op, false));
  FS_TRY(place_scratch(n, op));
  uint32_t gang = g->op_gang[op];
  issue(n, op,
        gang != FS_NONE ? g->gang_queue[g->gang_queue0[gang + 1] - g->gang_members[gang]]
                        : domain_queue(g, g->op_domain[op]),
        g->op_time[op]);
  count_accesses(n, op);
  give_up(n, op, first);
  return FSCHED_OK;
}

static fs_status start_versions(naive *n) {
  const fsched_graph *g = n->g;
  FS_TRY(fs_new(&n->s->arena, &n->uses_left, g->n_versions));
  FS_TRY(fs_new_zero(&n->s->arena, &n->content, g->n_versions));
  FS_TRY(fs_new_zero(&n->s->arena, &n->top, g->target.n_memories));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    const fs_memory *m = &g->target.memory[fs_version_memory(g, v)];
    n->uses_left[v] = g->version_access0[v + 1] - g->version_access0[v];
    n->content[v] = fs_version_given(g, v);
    if (fs_memory_bounded(m) &&
        (!fs_memory_spills(m) || fs_memory_bounded(&g->target.memory[m->backing]))) {
      return FSCHED_INFEASIBLE;
    }
  }
  return FSCHED_OK;
}

/* Makes arrays of the largest size needed: a place per arg and scratch, and two copies per arg. */
static fs_status make_arrays(fs_schedule *s) {
  const fsched_graph *g = s->graph;
  uint32_t places = g->n_args + g->op_scratch0[g->n_ops], copies = 2 * g->n_args;
  uint32_t items = g->n_ops + copies;
  FS_TRY(fs_new(&s->arena, &s->start, items));
  FS_TRY(fs_new(&s->arena, &s->end, items));
  FS_TRY(fs_new(&s->arena, &s->queue, items));
  FS_TRY(fs_new(&s->arena, &s->order, items));
  FS_TRY(fs_new(&s->arena, &s->copy_kind, copies));
  FS_TRY(fs_new(&s->arena, &s->copy_version, copies));
  FS_TRY(fs_new(&s->arena, &s->copy_residency, copies));
  FS_TRY(fs_new(&s->arena, &s->copy_store, copies));
  FS_TRY(fs_new(&s->arena, &s->res_version, places));
  FS_TRY(fs_new(&s->arena, &s->res_op, places));
  FS_TRY(fs_new(&s->arena, &s->res_memory, places));
  FS_TRY(fs_new(&s->arena, &s->res_address, places));
  FS_TRY(fs_new(&s->arena, &s->res_size, places));
  FS_TRY(fs_new(&s->arena, &s->res_begin, places));
  FS_TRY(fs_new(&s->arena, &s->res_end, places));
  FS_TRY(fs_new_none(&s->arena, &s->arg_residency, g->n_args));
  return fs_new_none(&s->arena, &s->scratch_residency, g->op_scratch0[g->n_ops]);
}

static fs_status name_queues(fs_schedule *s) {
  const fs_target *t = &s->graph->target;
  s->n_queues = t->implicit_queues ? 1 : t->n_queues;
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    s->queue_name[q] = t->implicit_queues ? "q0" : t->queue[q].name;
  }
  return FSCHED_OK;
}

/* Gangs take the last queues of those that they may choose. */
static fs_status take_gangs(fs_schedule *s) {
  const fsched_graph *g = s->graph;
  uint32_t *member0, *member;
  FS_TRY(fs_graph_members(g, &s->arena, &member0));
  FS_TRY(fs_new(&s->arena, &member, member0[g->n_ops]));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t gang = g->op_gang[op], n = member0[op + 1] - member0[op];
    for (uint32_t i = 0; i < n; i++) {
      member[member0[op] + i] = g->gang_queue[g->gang_queue0[gang + 1] - n + i];
    }
  }
  return fs_schedule_set_gangs(s, member0, member);
}

static fs_status fill(fs_schedule *s) {
  naive n = {.g = s->graph, .s = s};
  fs_lower_bounds bounds;
  FS_TRY(make_arrays(s));
  FS_TRY(name_queues(s));
  FS_TRY(start_versions(&n));
  for (uint32_t i = 0; i < n.g->n_ops; i++) {
    FS_TRY(one_op(&n, n.g->topo[i]));
  }
  FS_TRY(fs_graph_lower_bounds(s->ctx, n.g, &bounds));
  s->n_items = n.g->n_ops + s->n_copies;
  assert(n.n_issued == s->n_items);
  if (n.g->gangs_open) {
    FS_TRY(take_gangs(s));
  }
  s->makespan = n.now;
  s->lower_bound = bounds.all;
  s->status = FS_SCHEDULE_FEASIBLE;
  return FSCHED_OK;
}

fs_status fs_naive_schedule(fsched_context *ctx, const fsched_graph *g, fs_schedule **out) {
  fs_schedule *s;
  FS_TRY(fs_schedule_create(ctx, g, &s));
  fs_status status = fill(s);
  if (status != FSCHED_OK) {
    fs_schedule_destroy(s);
    return status;
  }
  *out = s;
  return FSCHED_OK;
}
