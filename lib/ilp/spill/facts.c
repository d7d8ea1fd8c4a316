/* SPDX-License-Identifier: Apache-2.0 */
/* What the spill model is made from: the unit of time, classes of queues, windows of ops, and for
 * each version its users and the times when it can be in memory, written and read.
 *
 * Graphs are refused that have ops without length that touch a bounded memory, copies that take no
 * time, or races (hazards: raw) in a bounded memory: the model says what is in memory during ticks,
 * but these depend on what is there at an instant.  Ops without length that touch no bounded memory
 * are modelled exactly.  Others are refused in which an op overwrites all that another one wrote of
 * a version that spills: before it the version may leave unwritten; and in which one overwrites a
 * part of given content, without a read, which others may have read before: it need not be read
 * again; and in which one overwrites all of a version of a short memory without a store, which may
 * leave before that.
 *
 * The model has two dominance rules, which lose no optimum, with amounts or with addresses:
 *   - a content is written at most once, because the store keeps it;
 *   - a memory that holds all of its versions and scratch side by side is `roomy`: nothing has to
 *     leave it, so given content is read once, and only kept content is written. */
#include "base/saturate.h"
#include "ilp/spill/private.h"
#include "model/bounds/bounds.h"
#include "model/overwritten.h"

/* ---- times */

static bool bounded_version(const fsched_graph *g, uint32_t v) {
  return fs_memory_bounded(fs_version_home(g, v));
}

static bool needs_bounded(const fsched_graph *g, uint32_t op) {
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (fs_tag_accesses(g->arg_tag[a]) && g->arg_version[a] != FS_NONE &&
        bounded_version(g, g->arg_version[a])) {
      return true;
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (fs_memory_bounded(&g->target.memory[g->scratch_memory[i]])) {
      return true;
    }
  }
  return false;
}

static fs_tick copy_tick(const fsched_graph *g, uint32_t v, bool write) {
  const fs_memory *m = fs_version_home(g, v);
  uint64_t size = fs_version_size(g, v);
  return write ? fs_spill_write_time(m, size) : fs_spill_read_time(m, size);
}

static void find_unit(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  uint64_t unit = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    unit = fs_common_divisor(unit, g->op_time[op]);
    if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
      unit = fs_common_divisor(unit, g->op_start[op]);
    }
    t->refused |= g->op_time[op] == 0 && needs_bounded(g, op);
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (fs_version_spills(g, v)) {
      unit =
          fs_common_divisor(fs_common_divisor(unit, copy_tick(g, v, true)), copy_tick(g, v, false));
      t->refused |= copy_tick(g, v, true) == 0 || copy_tick(g, v, false) == 0;
    }
  }
  for (uint32_t i = 0; i < g->n_races; i++) {
    t->refused |= bounded_version(g, g->race_version[i]);
  }
  t->unit = unit == 0 ? 1 : unit;
}

/* ---- classes: no set of queues that an op or a copy uses divides one */

/* Splits each class into its queues in a set and the others. */
static fs_status refine(fs_spill_model *t, const uint32_t *queue, uint32_t n) {
  uint32_t *inside, before = t->n_classes;
  uint8_t *member;
  fs_arena_mark mark = fs_arena_set_mark(&t->arena);
  FS_TRY(fs_new_none(&t->arena, &inside, before));
  FS_TRY(fs_new_zero(&t->arena, &member, t->g->target.n_queues));
  uint32_t *left;
  FS_TRY(fs_new_zero(&t->arena, &left, before));
  for (uint32_t q = 0; q < t->g->target.n_queues; q++) {
    left[t->class_of[q]]++;
  }
  for (uint32_t i = 0; i < n; i++) {
    member[queue[i]] = 1;
    left[t->class_of[queue[i]]]--;
  }
  for (uint32_t q = 0; q < t->g->target.n_queues; q++) {
    uint32_t old = t->class_of[q];
    if (!member[q] || left[old] == 0) {
      continue; /* no queue of the class is inside, or all are */
    }
    inside[old] = inside[old] == FS_NONE ? t->n_classes++ : inside[old];
    t->class_of[q] = inside[old];
  }
  fs_arena_reset(&t->arena, mark);
  return FSCHED_OK;
}

static const uint32_t *op_queues(const fsched_graph *g, uint32_t op, uint32_t *n) {
  const fs_target *target = &g->target;
  uint32_t gang = g->op_gang[op], d = g->op_domain[op];
  if (gang != FS_NONE) {
    *n = g->gang_queue0[gang + 1] - g->gang_queue0[gang];
    return g->gang_queue + g->gang_queue0[gang];
  }
  *n = target->domain_queue0[d + 1] - target->domain_queue0[d];
  return target->domain_queue + target->domain_queue0[d];
}

static const uint32_t *copy_queues(const fsched_graph *g, uint32_t memory, uint32_t *n) {
  const fs_target *target = &g->target;
  uint32_t d = target->memory[memory].spill_domain;
  *n = d == FS_NONE ? 0 : target->domain_queue0[d + 1] - target->domain_queue0[d];
  return d == FS_NONE ? NULL : target->domain_queue + target->domain_queue0[d];
}

/* Appends the distinct classes of some queues. */
static void add_choices(const fs_spill_model *t, const uint32_t *queue, uint32_t n,
                        uint32_t *choice, uint32_t *end) {
  uint32_t first = *end;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = first;
    while (k < *end && choice[k] != t->class_of[queue[i]]) {
      k++;
    }
    if (k == *end) {
      choice[(*end)++] = t->class_of[queue[i]];
    }
  }
}

static fs_status explicit_classes(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  uint32_t n, end = 0;
  size_t sum = 0;
  t->n_classes = 1;
  FS_TRY(fs_new_zero(&t->arena, &t->class_of, g->target.n_queues));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const uint32_t *queue = op_queues(g, op, &n);
    FS_TRY(refine(t, queue, n));
    sum += n;
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const uint32_t *queue = copy_queues(g, m, &n);
    FS_TRY(refine(t, queue, n));
    sum += n;
  }
  FS_TRY(fs_new_zero(&t->arena, &t->class_size, t->n_classes));
  for (uint32_t q = 0; q < g->target.n_queues; q++) {
    t->class_size[t->class_of[q]]++;
  }
  FS_TRY(fs_new(&t->arena, &t->choice, sum));
  t->copy_choice = t->choice;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const uint32_t *queue = op_queues(g, op, &n);
    t->choice0[op] = end;
    add_choices(t, queue, n, t->choice, &end);
  }
  t->choice0[g->n_ops] = end;
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const uint32_t *queue = copy_queues(g, m, &n);
    t->copy_choice0[m] = end;
    add_choices(t, queue, n, t->choice, &end);
  }
  t->copy_choice0[g->target.n_memories] = end;
  return FSCHED_OK;
}

/* Makes the one class of implicit queues: as many as the concurrency allows, for copies too. */
static fs_status implicit_classes(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  uint64_t limit = g->target.concurrency;
  t->n_classes = 1;
  FS_TRY(fs_new(&t->arena, &t->class_size, 1));
  t->class_size[0] = limit == 0 || limit >= FS_NONE ? FS_NONE : (uint32_t)limit;
  FS_TRY(fs_new_zero(&t->arena, &t->choice, (size_t)g->n_ops + g->target.n_memories));
  t->copy_choice = t->choice;
  for (uint32_t op = 0; op <= g->n_ops; op++) {
    t->choice0[op] = op;
  }
  for (uint32_t m = 0; m <= g->target.n_memories; m++) {
    t->copy_choice0[m] = m;
  }
  return FSCHED_OK;
}

static fs_status find_classes(fs_spill_model *t) {
  FS_TRY(fs_new(&t->arena, &t->choice0, (size_t)t->g->n_ops + 1));
  FS_TRY(fs_new(&t->arena, &t->copy_choice0, (size_t)t->g->target.n_memories + 1));
  return t->g->target.implicit_queues ? implicit_classes(t) : explicit_classes(t);
}

/* ---- versions */

/* How an op uses a version (fs_spill_use, and whether at all); 0: not at all. */
static unsigned use_of(const fs_spill_model *t, uint32_t op, uint32_t v) {
  const fsched_graph *g = t->g;
  bool reads = false, writes = false, whole = false, any = false;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (g->arg_version[a] != v || !fs_tag_accesses(g->arg_tag[a]) || g->arg_buffer[a] == FS_NONE) {
      continue;
    }
    bool w = fs_tag_writes(g->arg_tag[a]);
    any = true;
    reads |= fs_tag_reads(g->arg_tag[a]);
    whole |= w && fs_arg_whole(g, a);
    writes |= w;
  }
  if (!any) {
    return 0;
  }
  bool begins =
      writes && !reads && (whole || !fs_version_given(g, v) || !fs_version_load_needed(g, v));
  return 4u | (writes ? FS_SPILL_MODIFIES : 0) | (begins ? FS_SPILL_BEGINS : 0);
}

/* Does the op overwrite the version, and read nothing of it?  *all: all of it. */
static bool overwrites(const fsched_graph *g, uint32_t op, uint32_t v, bool *all) {
  bool reads = false, writes = false, whole = false;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (g->arg_version[a] == v && fs_tag_accesses(g->arg_tag[a])) {
      reads = reads || fs_tag_reads(g->arg_tag[a]);
      writes = writes || fs_tag_writes(g->arg_tag[a]);
      whole = whole || (fs_tag_writes(g->arg_tag[a]) && fs_arg_whole(g, a));
    }
  }
  *all = whole;
  return writes && !reads;
}

/* Clears FS_SPILL_BEGINS of writers that come after another one.  Before one that overwrites all a
 * version may leave unwritten, which the model does not know. */
static void later_writers(fs_spill_model *t, uint32_t id) {
  const fs_spill_version *v = &t->version[id];
  for (uint32_t a = v->user0; a < v->user1; a++) {
    for (uint32_t b = v->user0; b < v->user1; b++) {
      if (t->user_how[b] & FS_SPILL_MODIFIES && t->ancestors[t->user_op[a]] >> t->user_op[b] & 1) {
        t->user_how[a] &= (uint8_t)~FS_SPILL_BEGINS;
        bool all, over = overwrites(t->g, t->user_op[a], id, &all);
        t->refused |= fs_version_spills(t->g, id) && over && all;
      }
    }
  }
}

/* Is there a user that overwrites a part of given content that is wanted, before all other writers,
 * and that some user need not come behind? */
static bool may_lose_given(const fs_spill_model *t, uint32_t id) {
  const fs_spill_version *v = &t->version[id];
  bool lost = false;
  for (uint32_t a = v->user0; a < v->user1 && fs_version_load_needed(t->g, id); a++) {
    uint32_t op = t->user_op[a];
    bool all, over = overwrites(t->g, op, id, &all), written = false, free = false;
    for (uint32_t b = v->user0; b < v->user1; b++) {
      uint32_t other = t->user_op[b];
      written |= t->user_how[b] & FS_SPILL_MODIFIES && t->ancestors[op] >> other & 1;
      free |= other != op && !(t->ancestors[other] >> op & 1);
    }
    lost |= over && !all && !written && free;
  }
  return lost;
}

/* Is there not room for all that ever lies in a memory, side by side? */
static bool is_short(const fsched_graph *g, uint32_t memory) {
  uint64_t sum = 0, align = g->target.memory[memory].align;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    bool here = fs_version_memory(g, v) == memory;
    sum = fs_add_most(sum, here ? fs_align_up(fs_version_size(g, v), align) : 0);
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    bool here = g->scratch_memory[i] == memory;
    sum = fs_add_most(sum, here ? fs_align_up(g->scratch_size[i], align) : 0);
  }
  return sum > g->target.memory[memory].capacity;
}

static fs_status find_users(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  uint32_t n = 0;
  FS_TRY(fs_new_zero(&t->arena, &t->version, g->n_versions));
  FS_TRY(fs_new(&t->arena, &t->user_op, g->n_args));
  FS_TRY(fs_new(&t->arena, &t->user_how, g->n_args));
  for (uint32_t i = 0; i < g->n_versions; i++) {
    fs_spill_version *v = &t->version[i];
    v->user0 = v->user1 = n;
    v->begin_op = FS_NONE;
    v->memory = fs_version_memory(g, i);
    if (!bounded_version(g, i)) {
      continue;
    }
    for (uint32_t op = 0; op < g->n_ops; op++) {
      unsigned use = use_of(t, op, i);
      if (use != 0) {
        t->user_op[n] = op;
        t->user_how[n++] = (uint8_t)(use & 3u);
      }
    }
    v->user1 = n;
    t->refused |= fs_version_spills(t->g, i) && may_lose_given(t, i);
    t->refused |= fs_version_rests(g, i) && is_short(g, v->memory);
    later_writers(t, i);
  }
  return FSCHED_OK;
}

static void describe(fs_spill_model *t, uint32_t id) {
  const fsched_graph *g = t->g;
  fs_spill_version *v = &t->version[id];
  const fs_memory *m = &g->target.memory[v->memory];
  v->spills = fs_memory_spills(m);
  v->given = fs_version_given(g, id);
  v->kept = fs_version_kept(g, id);
  v->used = fs_memory_bounded(m) && (v->user0 < v->user1 || v->kept);
  v->size = fs_align_up(fs_version_size(g, id), m->align);
  v->bounded_store = v->spills && fs_memory_bounded(&g->target.memory[m->backing]);
  if (v->used && v->spills) {
    v->write_time = (int64_t)(copy_tick(g, id, true) / t->unit);
    v->read_time = (int64_t)(copy_tick(g, id, false) / t->unit);
  }
  for (uint32_t u = v->user0; u < v->user1; u++) {
    v->n_modify += t->user_how[u] & FS_SPILL_MODIFIES ? 1 : 0;
    if (t->user_how[u] & FS_SPILL_BEGINS) {
      v->begin_op = v->n_begin++ == 0 ? t->user_op[u] : FS_NONE;
    }
  }
  v->tracked = v->used && v->spills &&
               (v->bounded_store || v->n_modify > 1 || (v->given && v->n_modify > 0));
  t->refused |= v->used && !v->given && v->n_begin == 0;
}

/* ---- heads and tails */

/* A lower bound of the start of an op: the time of the reads that it and its ancestors need, spread
 * over all queues. */
static int64_t loads_before(const fs_spill_model *t, uint32_t op) {
  int64_t most = 0;
  for (uint32_t m = 0; m < t->g->target.n_memories; m++) {
    int64_t sum = 0, longest = 0;
    for (uint32_t i = 0; i < t->g->n_versions; i++) {
      const fs_spill_version *v = &t->version[i];
      bool wanted = false;
      for (uint32_t u = v->user0; u < v->user1; u++) {
        wanted |= t->user_op[u] == op || t->ancestors[op] >> t->user_op[u] & 1;
      }
      if (wanted && v->memory == m && v->used && v->spills && v->given && v->n_begin == 0) {
        sum += v->read_time;
        longest = v->read_time > longest ? v->read_time : longest;
      }
    }
    uint64_t queues = 0;
    for (uint32_t k = t->copy_choice0[m]; k < t->copy_choice0[m + 1]; k++) {
      queues += t->class_size[t->copy_choice[k]];
    }
    int64_t need = queues == 0 ? 0 : (int64_t)fs_ceil_div((uint64_t)sum, queues);
    need = need > longest ? need : longest;
    most = need > most ? need : most;
  }
  return most;
}

static void find_heads(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    int64_t head = loads_before(t, op);
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      int64_t end = t->head[g->pred[e]] + t->time[g->pred[e]];
      head = end > head ? end : head;
    }
    if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
      int64_t given = (int64_t)(g->op_start[op] / t->unit);
      head = given > head ? given : head;
    }
    t->head[op] = head;
  }
}

/* The time of the write of kept content that has to follow the op. */
static int64_t store_after(const fs_spill_model *t, uint32_t op) {
  int64_t tail = 0;
  for (uint32_t i = 0; i < t->g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    for (uint32_t u = v->user0; u < v->user1; u++) {
      if (t->user_op[u] == op && t->user_how[u] & FS_SPILL_MODIFIES && v->kept && v->spills) {
        tail = v->write_time > tail ? v->write_time : tail;
      }
    }
  }
  return tail;
}

static void find_tails(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  for (uint32_t i = g->n_ops; i-- > 0;) {
    uint32_t op = g->topo[i];
    int64_t tail = store_after(t, op);
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
      int64_t more = t->tail[g->succ[e]] + t->time[g->succ[e]];
      tail = more > tail ? more : tail;
    }
    t->tail[op] = tail;
  }
}

/* Finds the windows of ops; if one is empty, there is no schedule within the horizon. */
static void find_starts(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    fs_start_span *s = &t->start[op];
    s->from = t->head[op];
    s->to = t->horizon - t->time[op] - t->tail[op] + 1;
    if (g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
      int64_t given = (int64_t)(g->op_start[op] / t->unit);
      t->refused |= given != s->from || given >= s->to;
      s->to = given + 1;
    }
    t->refused |= s->from >= s->to;
    s->classes = g->op_gang[op] != FS_NONE ? 1 : t->choice0[op + 1] - t->choice0[op];
    t->refused |= s->classes == 0;
  }
}

/* ---- windows of copies and residencies */

static int64_t end_of(const fs_spill_model *t, uint32_t op) { /* the latest end */
  return t->start[op].to - 1 + t->time[op];
}

/* The latest start of a user that needs content. */
static int64_t latest_need(const fs_spill_model *t, const fs_spill_version *v) {
  int64_t latest = -1;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    int64_t last = t->start[t->user_op[u]].to - 1;
    if (t->user_op[u] != v->begin_op && last > latest) {
      latest = last;
    }
  }
  return latest;
}

static void copy_windows(const fs_spill_model *t, fs_spill_version *v) {
  int64_t written = INT64_MAX / 4; /* the earliest end of a writer */
  bool roomy = t->memory_roomy[v->memory] != 0;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    uint32_t op = t->user_op[u];
    if (t->user_how[u] & FS_SPILL_MODIFIES && t->head[op] + t->time[op] < written) {
      written = t->head[op] + t->time[op];
    }
  }
  v->write = (fs_start_span){.from = written};
  v->read = (fs_start_span){.from = v->given ? 0 : written + v->write_time,
                            .to = latest_need(t, v) - v->read_time + 1};
  if (roomy && !v->given) {
    v->read.to = 0;
  }
  v->write.to = v->kept ? t->horizon - v->write_time + 1 : v->read.to - v->write_time;
  if (v->n_modify == 0 || (roomy && !v->kept)) {
    v->write.to = 0;
  }
  v->write.classes = v->read.classes = t->copy_choice0[v->memory + 1] - t->copy_choice0[v->memory];
}

static void life_window(const fs_spill_model *t, fs_spill_version *v) {
  int64_t from = v->read.from < v->read.to ? v->read.from : INT64_MAX, to = 0;
  for (uint32_t u = v->user0; u < v->user1; u++) {
    uint32_t op = t->user_op[u];
    if (t->user_how[u] & FS_SPILL_BEGINS && t->head[op] < from) {
      from = t->head[op];
    }
    to = end_of(t, op) > to ? end_of(t, op) : to;
  }
  if (!v->spills && v->given) {
    from = 0;
  }
  if ((v->kept && !v->spills) || v->write.from < v->write.to) {
    int64_t last = v->kept ? t->horizon : v->write.to - 1 + v->write_time;
    to = last > to ? last : to;
  }
  v->in = (fs_start_span){.from = from == INT64_MAX ? to : from, .to = to, .classes = 1};
  if (v->n_begin > 1) {
    v->begin = (fs_start_span){.from = v->in.from, .to = v->in.to, .classes = 1};
  }
  if (v->tracked) {
    int64_t first = v->given ? 0 : v->write.from + v->write_time;
    v->stored = (fs_start_span){.from = first, .to = t->horizon + 1, .classes = 1};
  }
}

/* ---- memories */

static fs_status measure(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  uint64_t *sum;
  FS_TRY(fs_new_zero(&t->arena, &t->memory_unit, g->target.n_memories));
  FS_TRY(fs_new_zero(&t->arena, &t->memory_roomy, g->target.n_memories));
  FS_TRY(fs_new_zero(&t->arena, &sum, g->target.n_memories));
  for (uint32_t i = 0; i < g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    t->memory_unit[v->memory] = fs_common_divisor(t->memory_unit[v->memory], v->size);
    sum[v->memory] += v->size;
    if (v->bounded_store) {
      uint32_t b = g->target.memory[v->memory].backing;
      uint64_t size = fs_align_up(fs_version_size(g, i), g->target.memory[b].align);
      t->memory_unit[b] = fs_common_divisor(t->memory_unit[b], size);
      sum[b] += size;
    }
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    uint32_t m = g->scratch_memory[i];
    uint64_t size = fs_align_up(g->scratch_size[i], g->target.memory[m].align);
    t->memory_unit[m] = fs_common_divisor(t->memory_unit[m], size);
    sum[m] += size;
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    t->memory_unit[m] = t->memory_unit[m] == 0 ? 1 : t->memory_unit[m];
    t->memory_roomy[m] = sum[m] <= g->target.memory[m].capacity;
  }
  return FSCHED_OK;
}

static fs_status find_pairs(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  FS_TRY(fs_new_zero(&t->arena, &t->pair, g->op_inplace0[g->n_ops]));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      uint32_t in = g->arg_version[g->inplace_in[i]], out = g->arg_version[g->inplace_out[i]];
      const fs_spill_version *v = &t->version[in];
      const fs_memory *m = &g->target.memory[v->memory];
      if (v->used && t->version[out].size == v->size && v->size > 0 &&
          fs_placement_has_addresses(m->placement) && !t->memory_roomy[v->memory]) {
        fs_start_span taken = {.from = t->start[op].from, .to = t->start[op].to, .classes = 1};
        t->pair[t->n_pairs++] = (fs_spill_pair){op, in, out, v->size, taken};
      }
    }
  }
  return FSCHED_OK;
}

static void find_ancestors(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      t->ancestors[op] |= t->ancestors[g->pred[e]] | 1u << g->pred[e];
    }
  }
}

fs_status fs_spill_facts(fs_spill_model *t, fs_tick horizon) {
  assert(t->g->topo != NULL || t->g->n_ops == 0);
  const fsched_graph *g = t->g;
  fs_lower_bounds bounds;
  find_unit(t);
  t->horizon = (int64_t)(horizon / t->unit);
  if (t->refused) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&t->arena, &t->time, g->n_ops));
  FS_TRY(fs_new_zero(&t->arena, &t->head, g->n_ops));
  FS_TRY(fs_new_zero(&t->arena, &t->tail, g->n_ops));
  FS_TRY(fs_new_zero(&t->arena, &t->ancestors, g->n_ops));
  FS_TRY(fs_new_zero(&t->arena, &t->start, g->n_ops));
  FS_TRY(fs_graph_lower_bounds(t->ctx, g, &bounds));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    t->time[op] = (int64_t)(g->op_time[op] / t->unit);
  }
  t->lower_bound = bounds.all;
  t->bound = (int64_t)fs_ceil_div(bounds.all, t->unit);
  find_ancestors(t);
  FS_TRY(find_classes(t));
  FS_TRY(find_users(t));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    describe(t, v);
  }
  FS_TRY(measure(t));
  find_heads(t);
  find_tails(t);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    int64_t least = t->head[op] + t->time[op] + t->tail[op];
    t->bound = least > t->bound ? least : t->bound;
  }
  t->refused |= t->bound > t->horizon;
  find_starts(t);
  for (uint32_t v = 0; v < g->n_versions && !t->refused; v++) {
    if (t->version[v].used) {
      if (t->version[v].spills) {
        copy_windows(t, &t->version[v]);
      }
      life_window(t, &t->version[v]);
    }
  }
  return t->refused ? FSCHED_OK : find_pairs(t);
}
