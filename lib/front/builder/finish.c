/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: the steps from the collected arrays to the frozen graph.
 *
 *   loops      are unrolled (builder/unroll.c)
 *   target     names of queues, classes and backings are resolved, domains and gangs made
 *   arrays     ops, args, uses, scratch, `after` are copied into CSR form
 *   versions   the walk in program order that derives versions and edges (builder/versions.c)
 *   order      edges in both directions and a topological order, or a cycle (builder/order.c)
 *   races      hazards: raw only (builder/races.c)
 *   inplaces   the legal pairs are kept (builder/inplace.c)
 *   capacity   every op fits by itself, resources (builder/check.c); not after an error
 *   warn       graphs that look like a mistake (builder/warn.c); not after an error
 *
 * A step that finds errors goes on, so that all of a file's errors are found in one run; only
 * errors that would follow from an earlier one are left out. */
#include <stdio.h>

#include "base/group.h"
#include "base/warnings.h"
#include "front/builder/private.h"

/* The domain that a word stands for: that of the queue of this name, else of the class; FS_NONE
 * when there is neither.  A queue that is alone in its class shares the class's domain. */
static uint32_t domain_of_word(const fsched_builder *b, const uint32_t *class_size,
                               uint32_t *queue_domain, uint32_t *n_domains, uint32_t word) {
  const char *name = b->words.text.at[word];
  uint32_t q = fs_names_find(&b->queues, name, strlen(name));
  if (q == FS_NONE) {
    return fs_names_find(&b->classes, name, strlen(name));
  }
  if (queue_domain[q] == FS_NONE) {
    uint32_t class_id = b->queue.at[q].class_id;
    queue_domain[q] = class_size[class_id] == 1 ? class_id : (*n_domains)++;
  }
  return queue_domain[q];
}

/* What refers to a queue or class: an op or a memory, by its name, and the key that has the word as
 * its default; NULL: the user has said the word. */
typedef struct word_user {
  fs_pos pos;
  const char *who, *name, *default_of;
} word_user;

/* Reports a queue or class that does not exist. */
static fs_status no_queue(fsched_builder *b, const word_user *u, const char *on) {
  const char *near = fs_nearest(on, b->queues.text.at, b->queues.text.n);
  const char *class_near = fs_nearest(on, b->classes.text.at, b->classes.text.n);
  if (class_near != NULL && (near == NULL || fs_spelling_distance(on, class_near, 99) <
                                                 fs_spelling_distance(on, near, 99))) {
    near = class_near;
  }
  fs_text hint;
  fs_text_init(&hint, b->ctx);
  if (near != NULL) {
    fs_text_printf(&hint, "did you mean '%s'?", near);
  } else {
    fs_text_puts(&hint, "the target's classes are");
    for (size_t i = 0; i < b->classes.text.n && i < 8; i++) {
      fs_text_printf(&hint, "%s '%s'", i == 0 ? "" : ",", b->classes.text.at[i]);
    }
  }
  fs_text_add(&hint, "", 1);
  char of[40] = "";
  if (u->default_of != NULL) {
    (void)snprintf(of, sizeof of, ", the default of '%s'", u->default_of);
  }
  (void)fs_builder_fail(b, FS_DIAG_NO_QUEUE, u->pos, hint.failed ? NULL : hint.at,
                        "%s '%s' cannot run anywhere: no queue or class is named '%s'%s", u->who,
                        u->name, on, of);
  bool failed = hint.failed;
  fs_text_drop(&hint);
  return failed ? FSCHED_SYSTEM : FSCHED_OK;
}

typedef struct resolver {
  fsched_builder *b;
  fsched_graph *g;
  uint32_t *class_size;
  uint32_t *queue_domain; /* FS_NONE: no domain of its own yet */
  uint32_t *word_domain;  /* FS_NONE: unknown or not asked yet */
  uint8_t *word_bad;      /* reported */
  uint32_t *memory_walk;
} resolver;

static fs_status resolve_word(resolver *r, uint32_t word, const word_user *user, uint32_t *domain) {
  fs_target *t = &r->g->target;
  if (t->implicit_queues) {
    *domain = 0;
    return FSCHED_OK;
  }
  if (r->word_domain[word] == FS_NONE && !r->word_bad[word]) {
    r->word_domain[word] =
        domain_of_word(r->b, r->class_size, r->queue_domain, &t->n_domains, word);
    bool lost = fs_builder_lost(r->b, FS_KIND_QUEUE) || fs_builder_lost(r->b, FS_KIND_CLASS);
    if (r->word_domain[word] == FS_NONE && !lost) {
      r->word_bad[word] = 1; /* report each wrong name once */
      FS_TRY(no_queue(r->b, user, r->b->words.text.at[word]));
    }
  }
  *domain = r->word_domain[word];
  return FSCHED_OK;
}

static fs_status resolve_backing(fsched_builder *b, uint32_t memory) {
  assert(memory < b->memory.n);
  fs_memory_draft *m = &b->memory.at[memory];
  if (m->backing_word == FS_NONE) {
    return FSCHED_OK;
  }
  const char *name = b->words.text.at[m->backing_word];
  m->m.backing = fs_names_find(&b->memories, name, strlen(name));
  if (m->m.backing == FS_NONE && !fs_builder_lost(b, FS_KIND_MEMORY)) {
    /* Suggest any memory but this one. */
    const char *near = fs_nearest(name, b->memories.text.at, memory);
    near = near != NULL ? near
                        : fs_nearest(name, b->memories.text.at + memory + 1,
                                     b->memories.text.n - memory - 1);
    char hint[160] = "";
    if (near != NULL) {
      (void)snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    }
    (void)fs_builder_fail(b, FS_DIAG_UNKNOWN_NAME, m->backing_at, near == NULL ? NULL : hint,
                          "there is no memory '%s' to back '%s'", name, m->m.name);
  }
  return FSCHED_OK;
}

/* Finds memories whose chain of backing stores comes back to them: O(memories), for a walk stops at
 * a memory that an earlier walk has met.  `walk` is scratch: per memory, the walk that met it. */
static void check_backing_cycles(fsched_builder *b, uint32_t *walk) {
  for (uint32_t i = 0; i < b->memory.n; i++) {
    uint32_t at = i;
    while (at != FS_NONE && walk[at] == FS_NONE) {
      walk[at] = i;
      at = b->memory.at[at].m.backing;
    }
    if (at != FS_NONE && walk[at] == i) {
      (void)fs_builder_fail(b, FS_DIAG_BACKING_CYCLE, b->memory.at[at].backing_at, NULL,
                            "memory '%s' is, in the end, its own backing store",
                            b->memory.at[at].m.name);
    }
  }
}

/* Warns of a backing store without copies to it, and of copies that take no time. */
static void warn_copies(fsched_builder *b, const fs_memory_draft *m) {
  if (b->sample || m->backing_word == FS_NONE || !fs_memory_bounded(&m->m)) {
    return;
  }
  if (m->spill_word == FS_NONE) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_BACKING_NO_SPILL, m->backing_at,
              "give the memory 'spill: {on: QUEUE, write: ..., read: ...}'",
              "memory '%s' has a backing store and no 'spill': nothing is copied to it or from it",
              m->m.name);
  } else if (m->m.write_fixed + m->m.write_rate + m->m.read_fixed + m->m.read_rate == 0) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_FREE_COPY, m->spill_at,
              "give 'write' and 'read' a 'fixed' time or a 'rate'",
              "copies between memory '%s' and its backing store take no time", m->m.name);
  }
}

static fs_status resolve_memories(resolver *r) {
  fsched_builder *b = r->b;
  for (uint32_t i = 0; i < b->memory.n; i++) {
    fs_memory_draft *m = &b->memory.at[i];
    FS_TRY(resolve_backing(b, i));
    if (m->spill_word != FS_NONE) {
      word_user user = {m->spill_at, "spilling of memory", m->m.name,
                        m->spill_default ? "spill.on" : NULL};
      FS_TRY(resolve_word(r, m->spill_word, &user, &m->m.spill_domain));
      if (m->backing_word == FS_NONE && !b->sample) {
        fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_SPILL_NO_BACKING, m->spill_at,
                  "give the memory a 'backing'",
                  "memory '%s' cannot spill: it has no backing store", m->m.name);
      }
    }
    warn_copies(b, m);
  }
  check_backing_cycles(b, r->memory_walk);
  fs_target *t = &r->g->target;
  FS_TRY(fs_new(&b->arena, &t->memory, b->memory.n));
  for (size_t i = 0; i < b->memory.n; i++) {
    t->memory[i] = b->memory.at[i].m;
  }
  t->n_memories = (uint32_t)b->memory.n;
  return FSCHED_OK;
}

/* Lists the members of the domains: first those of the classes, then queues that are named
 * alone. */
static fs_status list_domains(resolver *r) {
  fs_target *t = &r->g->target;
  uint32_t n_classes = t->implicit_queues ? 0 : t->n_classes;
  FS_TRY(fs_new_zero(&r->b->arena, &t->domain_queue0, (size_t)t->n_domains + 2));
  FS_TRY(fs_new(&r->b->arena, &t->domain_queue, (size_t)t->n_queues * 2));
  uint32_t *start = t->domain_queue0;
  for (uint32_t q = 0; q < t->n_queues; q++) {
    start[t->queue[q].class_id + 2]++;
    if (r->queue_domain[q] != FS_NONE && r->queue_domain[q] >= n_classes) {
      start[r->queue_domain[q] + 2]++;
    }
  }
  fs_group_sum(start, t->n_domains);
  for (uint32_t q = 0; q < t->n_queues; q++) {
    t->domain_queue[start[t->queue[q].class_id + 1]++] = q;
    if (r->queue_domain[q] != FS_NONE && r->queue_domain[q] >= n_classes) {
      t->domain_queue[start[r->queue_domain[q] + 1]++] = q;
    }
  }
  return FSCHED_OK;
}

static fs_status resolve_ops(resolver *r) {
  fsched_builder *b = r->b;
  fsched_graph *g = r->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const fs_op_draft *d = &b->op.at[op];
    if (d->gang != FS_NONE && !g->target.implicit_queues) {
      g->op_gang[op] = d->gang;
    } else if (d->gang != FS_NONE) {
      g->op_domain[op] = 0;
    } else {
      word_user user = {fs_pos_at(&b->op_on_at, op), "op", g->op_name[op],
                        d->on_default ? "on" : NULL};
      FS_TRY(resolve_word(r, d->on_word, &user, &g->op_domain[op]));
    }
  }
  return FSCHED_OK;
}

/* Keeps the positions that a compilation may have to point at. */
static fs_status keep_places(fsched_builder *b, fsched_graph *g) {
  FS_TRY(fs_new(&b->arena, &g->counting_at, b->queue.n));
  FS_TRY(fs_new(&b->arena, &g->placement_at, b->memory.n));
  for (size_t q = 0; q < b->queue.n; q++) {
    g->counting_at[q] = fs_pos_at(&b->counting_at, q);
  }
  for (size_t m = 0; m < b->memory.n; m++) {
    g->placement_at[m] = b->memory.at[m].placement_at;
  }
  return FSCHED_OK;
}

static fs_status copy_target(fsched_builder *b, fsched_graph *g) {
  fs_target *t = &g->target;
  t->time_unit = b->time_unit;
  t->implicit_queues = b->queue.n == 0;
  t->n_queues = (uint32_t)b->queue.n;
  t->n_classes = fs_names_count(&b->classes);
  t->n_resources = (uint32_t)b->resource_capacity.n;
  t->concurrency = b->concurrency;
  t->frontier_capacity = b->frontier_capacity;
  t->sync = b->sync;
  t->sync_cost = b->sync_cost;
  t->barrier_count = b->barrier_count;
  t->barrier_slots = b->barrier_slots == 0 ? FS_NONE : b->barrier_slots;
  g->sync_at = b->sync_at;
  g->barriers_at = b->barriers_at;
  g->sync_override = b->sync_at.file != FS_NONE && b->sync_at.file == b->options_file;
  FS_TRY(fs_new(&b->arena, &t->queue, t->n_queues));
  FS_TRY(fs_new(&b->arena, &t->class_name, t->n_classes));
  FS_TRY(fs_new(&b->arena, &t->resource_name, t->n_resources));
  FS_TRY(fs_new(&b->arena, &t->resource_capacity, t->n_resources));
  for (uint32_t i = 0; i < t->n_queues; i++) {
    t->queue[i] = b->queue.at[i];
  }
  for (uint32_t i = 0; i < t->n_classes; i++) {
    t->class_name[i] = b->classes.text.at[i];
  }
  for (uint32_t i = 0; i < t->n_resources; i++) {
    t->resource_name[i] = b->resources.text.at[i];
    t->resource_capacity[i] = b->resource_capacity.at[i];
  }
  return FSCHED_OK;
}

/* Resolves all names.  The resolver's scratch tables are taken from an arena of their own, since
 * they are not part of the graph. */
static fs_status resolve_all(resolver *r, fs_arena *scratch) {
  fsched_builder *b = r->b;
  fs_target *t = &r->g->target;
  FS_TRY(fs_new_zero(scratch, &r->class_size, t->n_classes));
  FS_TRY(fs_new_none(scratch, &r->queue_domain, t->n_queues));
  FS_TRY(fs_new_none(scratch, &r->word_domain, fs_names_count(&b->words)));
  FS_TRY(fs_new_zero(scratch, &r->word_bad, fs_names_count(&b->words)));
  FS_TRY(fs_new_none(scratch, &r->memory_walk, b->memory.n));
  for (uint32_t q = 0; q < t->n_queues; q++) {
    r->class_size[t->queue[q].class_id]++;
  }
  t->n_domains = t->implicit_queues ? 1 : t->n_classes;
  FS_TRY(resolve_memories(r));
  FS_TRY(fs_builder_resolve_gangs(b, r->g, r->class_size));
  FS_TRY(resolve_ops(r));
  return list_domains(r);
}

/* Finds the launch of each class. */
static fs_status resolve_launches(fsched_builder *b, fsched_graph *g) {
  fs_target *t = &g->target;
  t->wait = b->wait;
  t->launch = b->launch;
  FS_TRY(fs_new(&b->arena, &t->class_launch, t->n_classes));
  for (uint32_t c = 0; c < t->n_classes; c++) {
    t->class_launch[c] = b->launch;
  }
  for (size_t i = 0; i < b->launches.n; i++) {
    const fs_launch_draft *d = &b->launches.at[i];
    const char *name = b->words.text.at[d->word];
    uint32_t c = fs_names_find(&b->classes, name, strlen(name));
    if (c != FS_NONE) {
      t->class_launch[c] = d->ticks;
    } else if (!fs_builder_lost(b, FS_KIND_CLASS)) {
      const char *near = fs_nearest(name, b->classes.text.at, b->classes.text.n);
      char hint[160];
      (void)snprintf(hint, sizeof hint, "did you mean '%.100s'?", near == NULL ? "" : near);
      (void)fs_builder_fail(b, FS_DIAG_UNKNOWN_NAME, d->at, near == NULL ? NULL : hint,
                            "there is no class '%.80s' to launch commands on", name);
    }
  }
  return FSCHED_OK;
}

/* Adds launches to the times of ops and copies. */
static void add_launches(fsched_builder *b, fsched_graph *g) {
  fs_target *t = &g->target;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    bool gang = g->op_gang[op] != FS_NONE && !t->implicit_queues;
    bool known = gang || g->op_domain[op] != FS_NONE; /* else an error was reported */
    if (!known || (gang && b->bad)) {
      continue;
    }
    fs_tick launch =
        gang ? fs_gang_launch(g, g->op_gang[op]) : fs_domain_launch(t, g->op_domain[op]);
    g->op_time[op] += launch;
    if (g->op_latency != NULL) {
      g->op_latency[op] += launch;
    }
    if (fs_op_latency(g, op) > FSCHED_MAX_TIME) {
      (void)fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->op_at, op), NULL,
                            "op '%s' takes %llu ticks with its launch, more than 2^40",
                            g->op_name[op], (unsigned long long)fs_op_latency(g, op));
    }
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    fs_memory *memory = &t->memory[m];
    if (memory->spill_domain != FS_NONE) {
      fs_tick launch = fs_domain_launch(t, memory->spill_domain);
      memory->write_fixed += launch;
      memory->read_fixed += launch;
    }
  }
}

/* The target, the domains, and what commands cost. */
static fs_status make_target(fsched_builder *b, fsched_graph *g) {
  assert(g->n_edges == 0);
  FS_TRY(copy_target(b, g));
  FS_TRY(keep_places(b, g));
  fs_builder_check_sync(b);
  FS_SCRATCH(scratch, b->ctx);
  resolver r = {.b = b, .g = g};
  FS_TRY(resolve_all(&r, &scratch));
  FS_TRY(resolve_launches(b, g));
  add_launches(b, g);
  return FSCHED_OK;
}

/* Finds the memory of buffers that name none.  A target without memories gets an unbounded one if
 * there are buffers. */
static fs_status default_memory(fsched_builder *b, uint32_t *id) {
  if (b->memory.n == 0 && b->buffer_size.n > 0) {
    fsched_memory_desc d = {.size = sizeof d, .name = "memory", .capacity = FSCHED_UNBOUNDED};
    FS_TRY(fsched_builder_memory(b, &d, NULL));
  }
  *id = fs_builder_default_memory(b);
  return FSCHED_OK;
}

/* Where what is given and kept lies in slots of loops. */
static fs_status copy_slots(fsched_builder *b, fsched_graph *g) {
  if (b->buffer_slot.n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&b->arena, &g->buffer_slot, g->n_buffers));
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    bool said = i < b->buffer_slot.n && fs_io_said(g->buffer_io[i]);
    g->buffer_slot[i] = said ? b->buffer_slot.at[i] : (fs_buffer_slot){.size = g->buffer_size[i]};
  }
  return FSCHED_OK;
}

static fs_status copy_buffers(fsched_builder *b, fsched_graph *g) {
  uint32_t fallback;
  FS_TRY(default_memory(b, &fallback));
  uint32_t n = g->n_buffers = (uint32_t)b->buffer_size.n;
  FS_TRY(fs_new(&b->arena, &g->buffer_name, n));
  FS_TRY(fs_new(&b->arena, &g->buffer_memory, n));
  FS_TRY(fs_new(&b->arena, &g->buffer_size, n));
  FS_TRY(fs_new(&b->arena, &g->buffer_io, n));
  for (uint32_t i = 0; i < n; i++) {
    g->buffer_name[i] = b->buffers.text.at[i];
    g->buffer_size[i] = b->buffer_size.at[i];
    g->buffer_io[i] = b->buffer_io.at[i];
    uint32_t memory = b->buffer_memory.at[i];
    g->buffer_memory[i] = memory == FS_NONE ? fallback : memory;
  }
  return copy_slots(b, g);
}

/* Copies the arrays that most graphs do not need. */
static fs_status copy_rare(fsched_builder *b, fsched_graph *g) {
  uint32_t n = g->n_ops;
  bool starts = false, slots = false, latencies = false;
  for (uint32_t i = 0; i < n; i++) {
    starts |= b->op.at[i].start != FS_TICK_NONE;
    slots |= b->op.at[i].slots != 1;
    latencies |= b->op.at[i].latency != b->op.at[i].time;
  }
  if (starts) {
    FS_TRY(fs_new(&b->arena, &g->op_start, n));
  }
  if (slots) {
    FS_TRY(fs_new(&b->arena, &g->op_slots, n));
  }
  if (latencies) {
    FS_TRY(fs_new(&b->arena, &g->op_latency, n));
  }
  if (b->op_at.n > 0) {
    FS_TRY(fs_new(&b->arena, &g->op_at, n));
  }
  for (uint32_t i = 0; i < n; i++) {
    if (starts) {
      g->op_start[i] = b->op.at[i].start;
    }
    if (slots) {
      g->op_slots[i] = b->op.at[i].slots;
    }
    if (latencies) {
      g->op_latency[i] = b->op.at[i].latency;
    }
    if (b->op_at.n > 0) {
      g->op_at[i] = fs_pos_at(&b->op_at, i);
    }
  }
  return FSCHED_OK;
}

static fs_status copy_ops(fsched_builder *b, fsched_graph *g) {
  uint32_t n = g->n_ops = (uint32_t)b->op.n;
  FS_TRY(fs_new(&b->arena, &g->op_name, n));
  FS_TRY(fs_new(&b->arena, &g->op_time, n));
  FS_TRY(fs_new_none(&b->arena, &g->op_domain, n));
  FS_TRY(fs_new_none(&b->arena, &g->op_gang, n));
  FS_TRY(fs_new(&b->arena, &g->op_kernel, n));
  for (uint32_t i = 0; i < n; i++) {
    g->op_name[i] = b->ops.text.at[i];
    g->op_time[i] = b->op.at[i].time;
    g->op_kernel[i] = b->op.at[i].kernel;
  }
  FS_TRY(copy_rare(b, g));
  g->n_kernels = (uint32_t)b->kernel.n;
  FS_TRY(fs_new(&b->arena, &g->kernel, g->n_kernels));
  for (uint32_t i = 0; i < g->n_kernels; i++) {
    g->kernel[i] = b->kernel.at[i];
  }
  return FSCHED_OK;
}

/* The list itself is sorted, so that positions stay in step.  O(ops + items), and nothing is moved
 * when the calls came op by op. */
fs_status fs_builder_sort_items(fsched_builder *b, uint32_t n_ops, fs_item_list *list,
                                uint32_t **start) {
  FS_TRY(fs_new_zero(&b->arena, start, (size_t)n_ops + 1));
  uint32_t *at = *start;
  size_t n = list->item.n;
  bool sorted = true;
  for (size_t i = 0; i < n; i++) {
    at[list->item.at[i].op + 1]++;
    sorted = sorted && (i == 0 || list->item.at[i - 1].op <= list->item.at[i].op);
  }
  fs_group_starts(at, n_ops);
  if (sorted) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, b->ctx);
  uint32_t *next;
  fs_item_draft *item;
  fs_pos *pos;
  FS_TRY(fs_new(&scratch, &next, n_ops));
  FS_TRY(fs_new(&scratch, &item, n));
  FS_TRY(fs_new(&scratch, &pos, n));
  for (size_t i = list->at.n; list->at.n > 0 && i < n; i++) {
    FS_TRY(fs_vec_push(b->ctx, &list->at, FS_NOWHERE));
  }
  memcpy(next, at, n_ops * sizeof *next);
  for (size_t i = 0; i < n; i++) {
    uint32_t to = next[list->item.at[i].op]++;
    item[to] = list->item.at[i];
    pos[to] = fs_pos_at(&list->at, i);
  }
  memcpy(list->item.at, item, n * sizeof *item);
  for (size_t i = 0; i < list->at.n; i++) {
    list->at.at[i] = pos[i];
  }
  return FSCHED_OK;
}

/* Refuses an op with two entries of one name; the calls find those that follow each other. */
static fs_status refuse_repeats(fsched_builder *b, const fsched_graph *g, const fs_item_list *list,
                                const fs_names *names, const char *what) {
  FS_SCRATCH(scratch, b->ctx);
  uint32_t *last;
  FS_TRY(fs_new_none(&scratch, &last, names->text.n));
  for (size_t i = 0; i < list->item.n; i++) {
    const fs_item_draft *item = &list->item.at[i];
    if (last[item->a] == item->op) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, fs_pos_at(&list->at, i), NULL,
                            "op '%s' %s '%s' twice", g->op_name[item->op], what,
                            names->text.at[item->a]);
    }
    last[item->a] = item->op;
  }
  return FSCHED_OK;
}

static fs_status copy_items(fsched_builder *b, fsched_graph *g) {
  FS_TRY(fs_builder_sort_items(b, g->n_ops, &b->uses, &g->op_use0));
  FS_TRY(fs_builder_sort_items(b, g->n_ops, &b->scratches, &g->op_scratch0));
  FS_TRY(fs_builder_sort_items(b, g->n_ops, &b->afters, &g->op_after0));
  FS_TRY(refuse_repeats(b, g, &b->uses, &b->resources, "uses resource"));
  FS_TRY(refuse_repeats(b, g, &b->scratches, &b->memories, "has scratch in memory"));
  FS_TRY(fs_new(&b->arena, &g->use_resource, b->uses.item.n));
  FS_TRY(fs_new(&b->arena, &g->use_amount, b->uses.item.n));
  for (size_t i = 0; i < b->uses.item.n; i++) {
    g->use_resource[i] = b->uses.item.at[i].a;
    g->use_amount[i] = b->uses.item.at[i].amount;
  }
  FS_TRY(fs_new(&b->arena, &g->scratch_memory, b->scratches.item.n));
  FS_TRY(fs_new(&b->arena, &g->scratch_size, b->scratches.item.n));
  for (size_t i = 0; i < b->scratches.item.n; i++) {
    g->scratch_memory[i] = b->scratches.item.at[i].a;
    g->scratch_size[i] = b->scratches.item.at[i].amount;
  }
  FS_TRY(fs_new(&b->arena, &g->after_op, b->afters.item.n));
  for (size_t i = 0; i < b->afters.item.n; i++) {
    uint32_t before = b->afters.item.at[i].a;
    g->after_op[i] = before;
    if (before >= g->n_ops) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, fs_pos_at(&b->afters.at, i), NULL,
                            "op '%s' is after op %u, which was never added",
                            g->op_name[b->afters.item.at[i].op], before);
      g->after_op[i] = b->afters.item.at[i].op; /* such an entry becomes no edge */
    }
  }
  return FSCHED_OK;
}

static fs_status copy_files(fsched_builder *b, fsched_graph *g) {
  g->n_files = (uint32_t)b->file.n;
  FS_TRY(fs_new(&b->arena, &g->file, g->n_files));
  for (uint32_t i = 0; i < g->n_files; i++) {
    g->file[i] = b->file.at[i];
  }
  return FSCHED_OK;
}

static fs_status build_graph(fsched_builder *b, fsched_graph *g) {
  g->name = b->name;
  FS_TRY(fs_builder_unroll(b));
  g->hazards = b->hazards; /* with loops that stay loops they become sequential */
  g->rolled = b->rolled;
  g->param = b->open_param;
  g->n_params = b->n_open_params;
  g->effort = b->effort;
  g->n_rolled = b->n_rolled;
  g->unrolled = b->unrolled_bounds;
  FS_TRY(copy_files(b, g));
  FS_TRY(copy_buffers(b, g));
  FS_TRY(copy_ops(b, g));
  FS_TRY(fs_builder_keep_loops(b, g));
  FS_TRY(make_target(b, g));
  FS_TRY(fs_builder_copy_args(b, g));
  FS_TRY(copy_items(b, g));
  FS_TRY(fs_builder_check_members(b, g));
  FS_TRY(fs_builder_versions(b, g));
  FS_TRY(fs_builder_member_conflicts(b, g));
  FS_TRY(fs_builder_order(b, g));
  FS_TRY(fs_builder_races(b, g));
  FS_TRY(fs_builder_inplaces(b, g));
  /* A misfit may only follow from an earlier error, which decides the status anyway. */
  if (b->bad || b->sample) {
    return FSCHED_OK;
  }
  FS_TRY(fs_builder_capacity(b, g));
  return fs_builder_warn(b, g);
}

static fs_status verdict(const fsched_builder *b) {
  if (b->usage) {
    return FSCHED_USAGE;
  }
  if (b->bad || fs_warn_errors(b->ctx) != b->warning_errors) {
    return FSCHED_BAD_INPUT;
  }
  return b->infeasible ? FSCHED_INFEASIBLE : FSCHED_OK;
}

fs_status fs_builder_finish_once(fsched_builder *b, fsched_graph **out) {
  *out = NULL;
  if (b->finished) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                           "the builder is already finished");
  }
  b->finished = true;
  fsched_graph *g = fs_realloc(b->ctx, NULL, 0, sizeof *g);
  if (g == NULL) {
    return FSCHED_SYSTEM;
  }
  *g = (fsched_graph){.ctx = b->ctx};
  fs_status status = build_graph(b, g);
  if (status == FSCHED_OK) {
    status = verdict(b);
  } else if (status == FSCHED_BAD_INPUT && b->usage) {
    status = FSCHED_USAGE;
  }
  if (status != FSCHED_OK) {
    (void)fs_realloc(b->ctx, g, sizeof *g, 0);
    return status;
  }
  g->arena = b->arena;
  fs_arena_init(&b->arena, b->ctx);
  *out = g;
  return FSCHED_OK;
}
