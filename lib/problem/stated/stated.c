/* SPDX-License-Identifier: Apache-2.0 */
/* Of copies there are those that no schedule does without: a first read for ops that read given
 * content before any op writes it, and a last write of what is kept behind all ops that write it.
 */
#include "problem/stated/stated.h"

#include "base/saturate.h"
#include "problem/private.h"

typedef struct stating {
  fs_problem_draft d;
  fs_problem *p;
  const fsched_graph *g;
  uint32_t *behind; /* per op: the last one of those that it was found to wait for */
} stating;

/* ---- copies */

static bool writes(const fsched_graph *g, uint32_t access) {
  return fs_tag_writes(g->arg_tag[g->access_arg[access]]);
}

/* Marks the op and those that wait for it. */
static void mark_behind(stating *s, uint32_t op) {
  for (uint32_t e = s->g->succ0[op]; e < s->g->succ0[op + 1]; e++) {
    s->behind[s->g->succ[e]] = op;
  }
  s->behind[op] = op;
}

/* Does the op read content that was given, as all that write the version come behind it? */
static bool reads_given(stating *s, uint32_t version, uint32_t access) {
  const fsched_graph *g = s->g;
  uint32_t op = g->access_op[access], arg = g->access_arg[access];
  bool reads = fs_tag_reads(g->arg_tag[arg]) && g->arg_length[arg] > 0;
  if (reads) {
    mark_behind(s, op);
  }
  for (uint32_t i = g->version_access0[version]; reads && i < g->version_access0[version + 1];
       i++) {
    reads = !writes(g, i) || s->behind[g->access_op[i]] == op;
  }
  return reads;
}

/* Adds the copy with its edges, if an op waits for the read, or is behind the write. */
static fs_status add_copy(stating *s, fs_copy_kind kind, uint32_t version) {
  const fsched_graph *g = s->g;
  bool write = kind == FS_SPILL_WRITE;
  uint32_t item = FS_NONE;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    if (!(write ? writes(g, i) : reads_given(s, version, i))) {
      continue;
    }
    if (item == FS_NONE) {
      FS_TRY(fs_problem_add_copy(&s->d, kind, version, FS_NONE, FS_NONE, &item));
    }
    uint32_t op = g->access_op[i];
    FS_TRY(fs_problem_add_edge(&s->d, write ? op : item, write ? item : op));
  }
  return FSCHED_OK;
}

/* The first read of each version that needs one, and the last write. */
static fs_status add_copies(stating *s) {
  const fsched_graph *g = s->g;
  FS_TRY(fs_new_none(&s->d.scratch, &s->behind, g->n_ops));
  if (g->target.implicit_queues || g->buffer_slot != NULL) {
    return FSCHED_OK;
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (fs_version_spills(g, v) && fs_version_given(g, v)) {
      FS_TRY(add_copy(s, FS_SPILL_READ, v));
    }
    if (fs_version_spills(g, v) && fs_version_kept(g, v)) {
      FS_TRY(add_copy(s, FS_SPILL_WRITE, v));
    }
  }
  return FSCHED_OK;
}

/* ---- memories as amounts, behind those of the graph */

/* Does any other op access the version, or may it share its place? */
static bool is_shared(const fsched_graph *g, uint32_t version, uint32_t op) {
  bool shared = false;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1] && !shared;
       i++) {
    shared = g->access_op[i] != op;
  }
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    shared = shared || g->arg_version[g->inplace_in[i]] == version ||
             g->arg_version[g->inplace_out[i]] == version;
  }
  return shared;
}

/* What the op alone holds in the memory while it runs: scratch, and versions that are its own. */
static uint64_t own_bytes(const stating *s, uint32_t op, uint32_t memory) {
  const fsched_graph *g = s->g;
  const fs_memory *m = &g->target.memory[memory];
  uint64_t sum = 0;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    sum = g->scratch_memory[i] == memory
              ? fs_add_most(sum, fs_align_up(g->scratch_size[i], m->align))
              : sum;
  }
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1] && g->buffer_slot == NULL; a++) {
    uint32_t v = g->arg_version[a];
    bool first = fs_arg_accesses(g, a) && fs_version_memory(g, v) == memory;
    for (uint32_t b = g->op_arg0[op]; b < a && first; b++) {
      first = !fs_arg_accesses(g, b) || g->arg_version[b] != v;
    }
    if (first && !is_shared(g, v, op)) {
      sum = fs_add_most(sum, fs_align_up(fs_version_size(g, v), m->align));
    }
  }
  return fs_op_latency(g, op) == 0 ? 0 : sum;
}

/* Lists the bounded memories of which ops alone hold more than there is, if all ran at one time. */
static fs_status find_memories(stating *s, uint64_t **bytes) {
  fs_problem *p = s->p;
  const fs_target *t = &s->g->target;
  FS_TRY(fs_new(&p->arena, &p->amount_memory, t->n_memories));
  FS_TRY(fs_new(&s->d.scratch, bytes, (size_t)s->g->n_ops * t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    uint64_t sum = 0, *of = *bytes + (size_t)p->n_amount_memories * s->g->n_ops;
    for (uint32_t op = 0; op < s->g->n_ops && fs_memory_bounded(&t->memory[m]); op++) {
      of[op] = own_bytes(s, op, m);
      sum = fs_add_most(sum, of[op]);
    }
    if (fs_memory_bounded(&t->memory[m]) && sum > t->memory[m].capacity) {
      p->amount_memory[p->n_amount_memories++] = m;
    }
  }
  return FSCHED_OK;
}

static fs_status add_memories(stating *s) {
  fs_problem *p = s->p;
  uint64_t *bytes;
  FS_TRY(find_memories(s, &bytes));
  uint32_t before = p->amount_memory0 = p->n_amounts, n = 0;
  const uint64_t *capacity = p->amount_capacity, *amount = p->use_amount;
  const char **name = p->amount_name;
  const uint32_t *use0 = p->use0, *use = p->use;
  p->n_amounts += p->n_amount_memories;
  size_t most = use0[p->n_items] + (size_t)s->g->n_ops * p->n_amount_memories;
  FS_TRY(fs_new(&p->arena, &p->amount_capacity, p->n_amounts));
  FS_TRY(fs_new(&p->arena, &p->amount_name, p->n_amounts));
  FS_TRY(fs_new(&p->arena, &p->use0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&p->arena, &p->use, most));
  FS_TRY(fs_new(&p->arena, &p->use_amount, most));
  for (uint32_t i = 0; i < p->n_amounts; i++) {
    const fs_memory *m = i < before ? NULL : &s->g->target.memory[p->amount_memory[i - before]];
    p->amount_capacity[i] = m == NULL ? capacity[i] : m->capacity & ~(m->align - 1);
    p->amount_name[i] = m == NULL ? name[i] : m->name;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->use0[i] = n;
    for (uint32_t u = use0[i]; u < use0[i + 1]; u++) {
      p->use[n] = use[u];
      p->use_amount[n++] = amount[u];
    }
    for (uint32_t k = 0; k < p->n_amount_memories && i < s->g->n_ops; k++) {
      p->use[n] = before + k;
      p->use_amount[n] = bytes[(size_t)k * s->g->n_ops + i];
      n += p->use_amount[n] > 0;
    }
  }
  p->use0[p->n_items] = n;
  return FSCHED_OK;
}

static fs_status state(stating *s) {
  fs_problem *p = s->p = s->d.p;
  FS_TRY(fs_new_none(&p->arena, &p->arg_residency, s->g->n_args));
  FS_TRY(fs_new_none(&p->arena, &p->scratch_residency, s->g->op_scratch0[s->g->n_ops]));
  FS_TRY(add_copies(s));
  FS_TRY(fs_problem_finish(&s->d));
  FS_TRY(add_memories(s));
  p->wait = 0;
  return fs_problem_take_sets(p);
}

fs_status fs_problem_state(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                           fs_tick lower_bound, fs_problem **out) {
  assert(g->n_rolled == 0 && (g->topo != NULL || g->n_ops == 0));
  stating s = {.g = g};
  FS_TRY(fs_problem_draft_begin(&s.d, ctx, g));
  s.d.latencies = true;
  fs_status status = state(&s);
  s.d.p->horizon = horizon;
  s.d.p->lower_bound = lower_bound;
  s.d.p->exact = s.d.p->least = false;
  s.d.p->relaxed = s.d.p->stated = true;
  return fs_problem_draft_end(&s.d, status, true, out);
}
