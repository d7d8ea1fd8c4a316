/* SPDX-License-Identifier: Apache-2.0 */
/* The lines before the first "begin". */
#include "verify/proof/stays/stays.h"

/* What stays and copies say is not said of latencies and given starts. */
static bool may_be_open(const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if ((g->op_latency != NULL && g->op_latency[op] != g->op_time[op]) ||
        (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE)) {
      return false;
    }
  }
  return true;
}

static fs_status read_ops(fs_vproof *p) {
  fs_vtext *t = &p->text;
  uint64_t n;
  if (!fs_vtext_word(t, "fsched-proof 1\n")) {
    return fs_vtext_syntax(t, t->pos, "the first line should be: fsched-proof 1");
  }
  if (!fs_vtext_word(t, "ops")) {
    return fs_vtext_syntax(t, t->pos, "this line should begin with: ops");
  }
  FS_TRY(fs_vtext_next(t, "the number of ops", &n));
  if (n != p->g->n_ops) {
    return fs_vtext_wrong(t, t->pos - 1, "the graph has %u ops, not %llu", p->g->n_ops,
                          (unsigned long long)n);
  }
  FS_TRY(fs_vtext_line_end(t));
  size_t place = t->pos;
  if (!fs_vtext_word(t, "open\n")) {
    return fs_vproof_copies(p);
  }
  if (p->claim.kind != FS_VCLAIM_MAKESPAN || !may_be_open(p->g)) {
    return fs_vtext_wrong(
        t, place, "copies are open for makespans alone, without latencies and given starts");
  }
  p->n_items = p->g->n_ops;
  FS_TRY(fs_new_zero(&p->arena, &p->stays, 1));
  return fs_vstays_lines(p);
}

static uint64_t ticks_of(const fs_vproof *p, uint32_t item) {
  return item < p->g->n_ops ? p->g->op_time[item] : fs_vproof_copy(p, item)->ticks;
}

/* Until it is complete, which may be later than when its queues are free. */
static uint64_t complete_of(const fs_vproof *p, uint32_t item) {
  const fsched_graph *g = p->g;
  return item < g->n_ops && g->op_latency != NULL ? g->op_latency[item] : ticks_of(p, item);
}

/* Given starts are counted in units, too; where these are not fine enough for all of them, they are
 * left out. */
static fs_status take_given(fs_vproof *p) {
  const fsched_graph *g = p->g;
  bool fine = g->op_start != NULL;
  for (uint32_t op = 0; op < g->n_ops && fine; op++) {
    fine = g->op_start[op] == FS_TICK_NONE || g->op_start[op] % p->unit == 0;
  }
  if (!fine) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&p->arena, &p->given, p->n_items));
  for (uint32_t op = 0; op < p->n_items; op++) {
    bool any = op >= g->n_ops || g->op_start[op] == FS_TICK_NONE;
    p->given[op] = any ? UINT64_MAX : g->op_start[op] / p->unit;
  }
  return FSCHED_OK;
}

static fs_status read_unit(fs_vproof *p) {
  fs_vtext *t = &p->text;
  if (!fs_vtext_word(t, "unit")) {
    return fs_vtext_syntax(t, t->pos, "this line should begin with: unit");
  }
  size_t place = t->pos + 1;
  FS_TRY(fs_vtext_next(t, "the unit of time", &p->unit));
  if (p->unit == 0) {
    return fs_vtext_wrong(t, place, "the unit of time is 0");
  }
  FS_TRY(fs_new(&p->arena, &p->time, p->n_items));
  FS_TRY(fs_new(&p->arena, &p->busy, p->n_items));
  for (uint32_t op = 0; op < p->n_items; op++) {
    uint64_t busy = ticks_of(p, op), ticks = complete_of(p, op);
    bool odd = busy % p->unit != 0;
    if (odd || ticks % p->unit != 0) {
      return fs_vtext_wrong(t, place, "the %s of op %u, %llu, is no multiple of %llu",
                            odd ? "time" : "latency", op, (unsigned long long)(odd ? busy : ticks),
                            (unsigned long long)p->unit);
    }
    p->time[op] = ticks / p->unit;
    p->busy[op] = busy / p->unit;
  }
  FS_TRY(take_given(p));
  return fs_vtext_line_end(t);
}

static fs_status read_queues(fs_vproof *p) {
  FS_SCRATCH(scratch, p->ctx);
  fs_vtext *t = &p->text;
  uint32_t n = 0, n_queues = p->g->target.n_queues, *queue;
  bool *mark;
  FS_TRY(fs_new(&scratch, &queue, n_queues));
  FS_TRY(fs_new_zero(&scratch, &mark, n_queues));
  do {
    uint64_t id;
    size_t place = t->pos + 1;
    FS_TRY(fs_vtext_next(t, "a queue", &id));
    if (id >= n_queues || mark[id]) {
      return fs_vtext_wrong(t, place, "queue %llu is %s", (unsigned long long)id,
                            id < n_queues ? "there already" : "none of the target's");
    }
    mark[id] = true;
    queue[n++] = (uint32_t)id;
  } while (fs_vtext_peek(t) == ' ');
  return fs_vset_add_queues(p, queue, n);
}

static fs_status read_resource(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t id;
  FS_TRY(fs_vtext_next(t, "a resource", &id));
  if (id >= p->g->target.n_resources) {
    return fs_vtext_wrong(t, place, "resource %llu is none of the target's",
                          (unsigned long long)id);
  }
  fs_vset set = {.kind = FS_VSET_RESOURCE,
                 .resource = (uint32_t)id,
                 .capacity = p->g->target.resource_capacity[id]};
  return fs_vec_push(p->ctx, &p->set, set);
}

fs_status fs_vproof_take_memory(fs_vproof *p, uint64_t id, size_t place, uint32_t *memory) {
  *memory = FS_NONE;
  if (id >= p->g->target.n_memories || p->g->target.memory[id].capacity == FS_UNBOUNDED) {
    return fs_vtext_wrong(&p->text, place, "memory %llu is no bounded one of the target's",
                          (unsigned long long)id);
  }
  *memory = (uint32_t)id;
  return FSCHED_OK;
}

/* `stays`: of a memory, where copies are open. */
static fs_status read_memory(fs_vproof *p, bool stays) {
  fs_vtext *t = &p->text;
  size_t place = t->pos + 1;
  uint64_t id;
  uint32_t memory;
  FS_TRY(fs_vtext_next(t, "a memory", &id));
  FS_TRY(fs_vproof_take_memory(p, id, place, &memory));
  return stays ? fs_vset_add_stays(p, memory) : fs_vset_add_memory(p, memory);
}

static fs_status read_turns(fs_vproof *p) {
  FS_SCRATCH(scratch, p->ctx);
  fs_vtext *t = &p->text;
  uint32_t n = 0, *op;
  FS_TRY(fs_new(&scratch, &op, p->g->n_ops));
  do {
    uint64_t id;
    size_t place = t->pos + 1;
    FS_TRY(fs_vtext_next(t, "an op", &id));
    bool apart = id < p->g->n_ops && n < p->g->n_ops;
    for (uint32_t k = 0; k < n && apart; k++) {
      apart = fs_vstays_ops_apart(p, op[k], (uint32_t)id);
    }
    if (!apart) {
      return fs_vtext_wrong(t, place, "op %llu may run beside one of these",
                            (unsigned long long)id);
    }
    op[n++] = (uint32_t)id;
  } while (fs_vtext_peek(t) == ' ');
  return fs_vset_add_turns(p, op, n);
}

static fs_status read_set(fs_vproof *p) {
  fs_vtext *t = &p->text;
  size_t place = t->pos;
  if (fs_vtext_word(t, "queues")) {
    FS_TRY(read_queues(p));
  } else if (fs_vtext_word(t, "resource")) {
    FS_TRY(read_resource(p));
  } else if (fs_vtext_word(t, "memory")) {
    FS_TRY(read_memory(p, false));
  } else if (p->stays != NULL && fs_vtext_word(t, "stays")) {
    FS_TRY(read_memory(p, true));
  } else if (p->stays != NULL && fs_vtext_word(t, "turns")) {
    FS_TRY(read_turns(p));
  } else if (fs_vtext_word(t, "concurrency")) {
    fs_vset set = {.kind = FS_VSET_CONCURRENCY, .capacity = p->g->target.concurrency};
    if (set.capacity == 0) {
      return fs_vtext_wrong(t, place, "the target has no limit on ops that run at one time");
    }
    FS_TRY(fs_vec_push(p->ctx, &p->set, set));
  } else {
    return fs_vtext_syntax(t, place, "a set is of queues, a resource, a memory, or concurrency");
  }
  return fs_vtext_line_end(t);
}

fs_status fs_vproof_header(fs_vproof *p) {
  FS_TRY(read_ops(p));
  FS_TRY(read_unit(p));
  while (fs_vtext_word(&p->text, "set ")) {
    FS_TRY(read_set(p));
  }
  if (!fs_vtext_word(&p->text, "begin\n")) {
    return fs_vtext_syntax(&p->text, p->text.pos, "this line should be a set, or: begin");
  }
  return FSCHED_OK;
}
