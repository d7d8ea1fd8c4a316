/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that are legal and yet look like a mistake.  This is the last step of finish, for graphs
 * without errors.  A class of warnings that is off costs no search.
 *
 *   unused            counts the uses of every entity: O(graph)
 *   dead              a version with writers, without readers, not kept: O(accesses)
 *   redundant-after   one search backwards from each op with `after`, not past the earliest op
 *                     that these name in the topological order; all searches together look at no
 *                     more than MOST_STEPS edges, after which only edges are found that an arg or
 *                     an earlier `after` of the op gives directly
 *   race              the pairs that builder/races.c has found
 *
 * Each class shows a limited number of warnings and counts the rest. */
#include <stdio.h>
#include <stdlib.h>

#include "base/warnings.h"
#include "front/builder/bodies.h"
#include "front/builder/folded.h"

enum { SHOWN = FS_WARNINGS_SHOWN, MOST_STEPS = 1 << 24 };

/* Reports, after the last warning of a class, how many were not shown. */
static void report_rest(fsched_builder *b, fs_diag_code code, uint32_t n, const char *what) {
  if (n > SHOWN) {
    fs_report(b->ctx, FSCHED_WARNING, code, FS_NOWHERE, NULL, "%u more %s", n - SHOWN, what);
  }
}

/* Warns of races of an unrolled graph, once for all iterations. */
static fs_status warn_unrolled_races(fsched_builder *b, const fsched_graph *g) {
  FS_SCRATCH(scratch, b->ctx);
  fs_race_folder f;
  uint64_t *trip;
  FS_TRY(fs_new(&scratch, &trip, b->loop.n));
  for (size_t l = 0; l < b->loop.n; l++) {
    trip[l] = b->loop.at[l].trip;
  }
  fs_folder_init(&f, b->ctx);
  f.b = b;
  f.g = g;
  f.trip = trip;
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < g->n_races && status == FSCHED_OK; i++) {
    status = fs_folder_add(&f, g->race_a[i], g->race_b[i], g->race_version[i]);
  }
  fs_folder_sort(&f);
  fs_folder_warn(&f);
  fs_folder_free(&f);
  return status;
}

static void warn_race(fsched_builder *b, const fsched_graph *g, uint32_t i) {
  uint32_t arg = fs_builder_arg_of_version(g, g->race_b[i], g->race_version[i]);
  fs_pos at = arg == FS_NONE ? FS_NOWHERE : fs_pos_at(&b->arg_at, arg);
  fs_text t;
  fs_text_init(&t, b->ctx);
  fs_text_printf(&t, "'%s' and '%s'", g->op_name[g->race_a[i]], g->op_name[g->race_b[i]]);
  fs_builder_race_text(&t, g->buffer_name[g->version_buffer[g->race_version[i]]]);
  fs_text_add(&t, "", 1);
  if (!t.failed) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_RACE, at, NULL, "ops %s", t.at);
  }
  fs_text_drop(&t);
}

static fs_status warn_races(fsched_builder *b, const fsched_graph *g) {
  if (b->unrolled) {
    return g->n_races == 0 ? FSCHED_OK : warn_unrolled_races(b, g);
  }
  for (uint32_t i = 0; i < g->n_races && i < SHOWN; i++) {
    warn_race(b, g, i);
  }
  if (g->n_races > SHOWN) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_RACE, FS_NOWHERE,
              "fsched dis --format json lists all", "%u more pairs of ops are unordered",
              g->n_races - SHOWN);
  }
  return FSCHED_OK;
}

typedef struct usage {
  fsched_builder *b;
  const fsched_graph *g;
  uint8_t *buffer, *memory, *resource, *queue, *domain; /* per entity: something uses it */
  uint32_t n;                                           /* warnings, shown or not */
} usage;

static fs_status start_usage(usage *u, fs_arena *scratch) {
  const fs_target *t = &u->g->target;
  FS_TRY(fs_new_zero(scratch, &u->buffer, u->g->n_buffers));
  FS_TRY(fs_new_zero(scratch, &u->memory, t->n_memories));
  FS_TRY(fs_new_zero(scratch, &u->resource, t->n_resources));
  FS_TRY(fs_new_zero(scratch, &u->queue, t->n_queues));
  return fs_new_zero(scratch, &u->domain, t->n_domains);
}

static void use_buffers_and_memories(usage *u) {
  const fsched_graph *g = u->g;
  for (uint32_t a = 0; a < g->n_args; a++) {
    if (g->arg_buffer[a] != FS_NONE) {
      u->buffer[g->arg_buffer[a]] = 1;
    }
  }
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    u->memory[g->buffer_memory[i]] = 1;
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    u->memory[g->scratch_memory[i]] = 1;
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (g->target.memory[m].backing != FS_NONE) {
      u->memory[g->target.memory[m].backing] = 1;
    }
  }
  for (uint32_t i = 0; i < g->op_use0[g->n_ops]; i++) {
    u->resource[g->use_resource[i]] = 1;
  }
}

static void use_queues(usage *u) {
  const fsched_graph *g = u->g;
  const fs_target *t = &g->target;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (g->op_domain[op] != FS_NONE) {
      u->domain[g->op_domain[op]] = 1;
    }
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (t->memory[m].spill_domain != FS_NONE) {
      u->domain[t->memory[m].spill_domain] = 1;
    }
  }
  for (uint32_t d = 0; d < t->n_domains; d++) {
    for (uint32_t i = t->domain_queue0[d]; u->domain[d] && i < t->domain_queue0[d + 1]; i++) {
      u->queue[t->domain_queue[i]] = 1;
    }
  }
  for (uint32_t i = 0; i < g->gang_queue0[g->n_gangs]; i++) {
    u->queue[g->gang_queue[i]] = 1;
  }
}

/* Whether the position is in the graph's own file.  A target in a file of its own serves several
 * graphs, so entities that one of them leaves unused are no mistake. */
static bool is_own(const fsched_builder *b, fs_pos pos) {
  return b->op_at.n == 0 || pos.file == b->op_at.at[0].file;
}

static void unused(usage *u, fs_pos pos, const char *kind, const char *name) {
  if (is_own(u->b, pos) && u->n++ < SHOWN) {
    fs_report(u->b->ctx, FSCHED_WARNING, FS_DIAG_UNUSED, pos, NULL, "nothing uses the %s '%s'",
              kind, name);
  }
}

static fs_status warn_unused(fsched_builder *b, const fsched_graph *g, fs_arena *scratch) {
  usage u = {.b = b, .g = g};
  const fs_target *t = &g->target;
  FS_TRY(start_usage(&u, scratch));
  use_buffers_and_memories(&u);
  use_queues(&u);
  for (uint32_t i = 0; i < t->n_queues; i++) {
    if (!u.queue[i]) {
      unused(&u, fs_pos_at(&b->queue_at, i), "queue", t->queue[i].name);
    }
  }
  for (uint32_t i = 0; i < t->n_memories; i++) {
    if (!u.memory[i]) {
      unused(&u, b->memory.at[i].at, "memory", t->memory[i].name);
    }
  }
  for (uint32_t i = 0; i < t->n_resources; i++) {
    if (!u.resource[i]) {
      unused(&u, fs_pos_at(&b->resource_at, i), "resource", t->resource_name[i]);
    }
  }
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    bool merged = i < b->n_merged && b->merged[i];
    if (!u.buffer[i] && !merged) {
      unused(&u, fs_pos_at(&b->buffer_at, i), "buffer", g->buffer_name[i]);
    }
  }
  report_rest(b, FS_DIAG_UNUSED, u.n, "things are not used");
  return FSCHED_OK;
}

/* The last access, a write, of a version that no op reads; FS_NONE: the version has no writer, or
 * is read. */
static uint32_t lost_writer(const fsched_graph *g, uint32_t version) {
  uint32_t access = FS_NONE;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    if (fs_tag_reads(g->arg_tag[g->access_arg[i]])) {
      return FS_NONE;
    }
    access = i;
  }
  return access;
}

/* The key of the arg, as described, by which an access is made. */
static size_t key_of(const fsched_builder *b, const fsched_graph *g, uint32_t access,
                     const char *what, char key[48]) {
  uint32_t op = g->access_op[access];
  uint32_t arg = g->access_arg[access] - g->op_arg0[op];
  return (size_t)snprintf(key, 48, "%s:%u:%u", what, b->origin.at[op], arg);
}

/* Notes the args of an unrolled graph that write something which is read in some iteration. */
static fs_status note_read(fsched_builder *b, const fsched_graph *g) {
  for (uint32_t v = 0; v < g->n_versions; v++) {
    bool lost = !fs_version_kept(g, v) && lost_writer(g, v) != FS_NONE;
    for (uint32_t i = g->version_access0[v]; !lost && i < g->version_access0[v + 1]; i++) {
      char key[48];
      uint32_t id;
      FS_TRY(fs_names_intern(&b->said, key, key_of(b, g, i, "read", key), &id, NULL));
    }
  }
  return FSCHED_OK;
}

/* Whether the result of an access that nothing reads is read in another iteration, or was told. */
static bool is_read_else(fsched_builder *b, const fsched_graph *g, uint32_t access) {
  char key[48];
  uint32_t id;
  bool added = true;
  if (!b->unrolled) {
    return false;
  }
  if (fs_names_find(&b->said, key, key_of(b, g, access, "read", key)) != FS_NONE) {
    return true;
  }
  fs_status status = fs_names_intern(&b->said, key, key_of(b, g, access, "dead", key), &id, &added);
  return status != FSCHED_OK || !added;
}

/* Whether the op is a loop that reads the buffer itself. */
static bool is_read_inside(const fsched_graph *g, uint32_t op, uint32_t buffer) {
  bool found = false;
  for (uint32_t l = 0; l < g->n_rolled && !found; l++) {
    const fs_rolled *x = &g->rolled[l], *around = x;
    while (around->within != FS_NONE) {
      around = &g->rolled[around->within];
    }
    for (uint32_t i = 0; around->op == op && i < x->n_args && !found; i++) {
      found = x->arg[i].buffer == buffer && fs_tag_reads(x->arg[i].tag);
    }
  }
  return found;
}

static void warn_dead(fsched_builder *b, const fsched_graph *g) {
  uint32_t n = 0;
  if (b->unrolled && note_read(b, g) != FSCHED_OK) {
    return;
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint32_t access = fs_version_kept(g, v) ? FS_NONE : lost_writer(g, v);
    if (access != FS_NONE && is_read_inside(g, g->access_op[access], g->version_buffer[v])) {
      continue;
    }
    if (access == FS_NONE || is_read_else(b, g, access) || n++ >= SHOWN) {
      continue;
    }
    uint32_t buffer = g->version_buffer[v];
    bool last = v + 1 == g->buffer_version0[buffer + 1];
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_DEAD, fs_pos_at(&b->arg_at, g->access_arg[access]),
              last && !fs_io_said(g->buffer_io[buffer])
                  ? "a result of the graph is a buffer with 'io: output'"
                  : NULL,
              "op '%s' writes '%s', and nothing reads it%s", g->op_name[g->access_op[access]],
              g->buffer_name[buffer], last ? "" : " before it is written anew");
  }
  report_rest(b, FS_DIAG_DEAD, n, "results of ops are never read");
}

typedef struct searcher {
  fsched_builder *b;
  const fsched_graph *g;
  uint32_t *rank; /* position in topo */
  uint32_t *seen; /* per op: 1 + the op whose search has met it as an ancestor of a predecessor */
  fs_ids stack;
  uint32_t steps;
} searcher;

/* Marks every op of at least `lowest` rank from which a path of two or more edges leads to `op`. */
static fs_status mark_far(searcher *s, uint32_t op, uint32_t lowest) {
  const fsched_graph *g = s->g;
  s->stack.n = 0;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    FS_TRY(fs_vec_push(s->b->ctx, &s->stack, g->pred[e]));
  }
  while (s->stack.n > 0 && s->steps < MOST_STEPS) {
    uint32_t at = s->stack.at[--s->stack.n];
    for (uint32_t e = g->pred0[at]; e < g->pred0[at + 1] && s->steps < MOST_STEPS; e++) {
      uint32_t before = g->pred[e];
      s->steps++;
      if (s->rank[before] >= lowest && s->seen[before] != op + 1) {
        s->seen[before] = op + 1;
        FS_TRY(fs_vec_push(s->b->ctx, &s->stack, before));
      }
    }
  }
  return FSCHED_OK;
}

static void redundant(fsched_builder *b, const fsched_graph *g, uint32_t op, uint32_t item) {
  bool direct = b->after_given.at[item] != 0;
  fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_REDUNDANT_AFTER, fs_pos_at(&b->afters.at, item), NULL,
            "op '%s' comes after '%s' anyway: %s", g->op_name[op], g->op_name[g->after_op[item]],
            direct ? "an arg, or another 'after', says so"
                   : "it depends on other ops that come after it");
}

static fs_status search_op(searcher *s, uint32_t op, uint32_t *n) {
  const fsched_graph *g = s->g;
  uint32_t lowest = FS_NONE;
  for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
    lowest = (uint32_t)fs_min(lowest, s->rank[g->after_op[i]]);
  }
  if (g->op_after0[op] < g->op_after0[op + 1]) {
    FS_TRY(mark_far(s, op, lowest));
  }
  for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
    bool found = s->b->after_given.at[i] != 0 || s->seen[g->after_op[i]] == op + 1;
    if (found && (*n)++ < SHOWN) {
      redundant(s->b, g, op, i);
    }
  }
  return FSCHED_OK;
}

static fs_status warn_redundant_after(fsched_builder *b, const fsched_graph *g, fs_arena *scratch) {
  searcher s = {.b = b, .g = g};
  uint32_t n = 0;
  FS_TRY(fs_new(scratch, &s.rank, g->n_ops));
  FS_TRY(fs_new_zero(scratch, &s.seen, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    s.rank[g->topo[i]] = i;
  }
  fs_status status = FSCHED_OK;
  for (uint32_t op = 0; op < g->n_ops && status == FSCHED_OK; op++) {
    status = search_op(&s, op, &n);
  }
  fs_vec_free(b->ctx, &s.stack);
  report_rest(b, FS_DIAG_REDUNDANT_AFTER, n, "'after' are not needed");
  return status;
}

fs_status fs_builder_warn(fsched_builder *b, const fsched_graph *g) {
  assert(g->op_inplace0 != NULL && g->topo != NULL);
  bool exhausted = fs_context_out_of_memory(b->ctx);
  FS_SCRATCH(scratch, b->ctx);
  fs_status status = warn_races(b, g);
  report_rest(b, FS_DIAG_INPLACE, b->inplace_dropped, "'inplace' are not possible");
  if (status == FSCHED_OK && fs_warn_on(b->ctx, FS_WARN_UNUSED)) {
    status = warn_unused(b, g, &scratch);
  }
  if (fs_warn_on(b->ctx, FS_WARN_DEAD)) {
    warn_dead(b, g);
  }
  /* In a loop an 'after' may be needed in some iterations only. */
  if (status == FSCHED_OK && b->after_given.n > 0 && !b->unrolled) {
    status = warn_redundant_after(b, g, &scratch);
  }
  if (status == FSCHED_OK && fs_context_out_of_memory(b->ctx) && !exhausted) {
    status = FSCHED_SYSTEM; /* out of memory for the text of a warning */
  }
  return status;
}
