/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loop_body.h"

#include <stdlib.h>

#include "base/group.h"

typedef struct body_finder {
  const fsched_graph *g;
  fs_loop_body *out;
  uint32_t loop;
  uint32_t *member;    /* per body op: which one, or FS_NONE */
  uint32_t *iteration; /* per op of the last run: its iteration; FS_NONE: of none */
  FS_VEC(fs_body_edge) edge;
  FS_VEC(fs_body_edge) use; /* of values: from writer to reader */
  FS_VEC(fs_body_value) value;
} body_finder;

bool fs_loop_is_inner(const fsched_graph *g, uint32_t loop) {
  assert(loop < g->n_loops);
  bool has_op = false;
  for (uint32_t l = loop + 1; l < g->n_loops; l++) {
    if (g->loop[l].parent == loop) {
      return false;
    }
  }
  for (uint32_t b = 0; b < g->n_body_ops && !has_op; b++) {
    has_op = g->body_op_loop[b] == loop;
  }
  return has_op && g->loop[loop].trip >= 2;
}

/* Numbers the members, and finds the iterations of the last run. */
static fs_status find_members(body_finder *f, fs_arena *arena, fs_arena *scratch) {
  const fsched_graph *g = f->g;
  fs_loop_body *out = f->out;
  uint32_t *count;
  FS_TRY(fs_new_none(scratch, &f->member, g->n_body_ops));
  FS_TRY(fs_new_none(scratch, &f->iteration, g->n_ops));
  FS_TRY(fs_new_zero(scratch, &count, g->n_body_ops));
  for (uint32_t b = 0; b < g->n_body_ops; b++) {
    f->member[b] = g->body_op_loop[b] == f->loop ? out->n++ : FS_NONE;
  }
  FS_TRY(fs_new_none(arena, &out->op, out->n));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    count[g->op_body_op[op]]++;
  }
  for (uint32_t op = g->n_ops; op-- > 0;) {
    uint32_t b = g->op_body_op[op], m = f->member[b];
    if (m == FS_NONE) {
      continue;
    }
    if (out->op[m] == FS_NONE) {
      out->op[m] = op;
      out->runs = count[b] / out->trip;
      count[b] = (uint32_t)out->trip; /* of which so many are left */
    }
    if (count[b] > 0) {
      f->iteration[op] = --count[b];
    }
  }
  return FSCHED_OK;
}

static int by_ends(const void *a, const void *b) {
  const fs_body_edge *x = a, *y = b;
  if (x->to != y->to || x->from != y->from) {
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from < y->from ? -1 : 1);
  }
  return x->distance != y->distance ? (x->distance < y->distance ? -1 : 1) : 0;
}

static uint32_t member_of(const body_finder *f, uint32_t op) {
  return f->member[f->g->op_body_op[op]];
}

/* Appends the edges into an op that come from its run. */
static fs_status add_edges(body_finder *f, fsched_context *ctx, uint32_t op) {
  const fsched_graph *g = f->g;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    uint32_t from = g->pred[e];
    if (f->iteration[from] != FS_NONE && f->iteration[from] <= f->iteration[op]) {
      fs_body_edge x = {member_of(f, from), member_of(f, op),
                        f->iteration[op] - f->iteration[from]};
      FS_TRY(fs_vec_push(ctx, &f->edge, x));
    }
  }
  return FSCHED_OK;
}

/* The edges into the last iteration, in order; and whether those into the one before it are the
 * same, but for what that one does not reach. */
static fs_status find_edges(body_finder *f, fsched_context *ctx, fs_arena *arena) {
  fs_loop_body *out = f->out;
  uint64_t last = out->trip - 1;
  for (uint32_t m = 0; m < out->n; m++) {
    FS_TRY(add_edges(f, ctx, out->op[m]));
  }
  out->n_edges = (uint32_t)f->edge.n;
  FS_TRY(fs_new(arena, &out->edge, out->n_edges));
  if (out->n_edges > 0) {
    memcpy(out->edge, f->edge.at, out->n_edges * sizeof *out->edge);
    qsort(out->edge, out->n_edges, sizeof *out->edge, by_ends);
  }
  f->edge.n = 0;
  for (uint32_t op = 0; op < f->g->n_ops; op++) {
    if (f->iteration[op] == last - 1) {
      FS_TRY(add_edges(f, ctx, op));
    }
  }
  if (f->edge.n > 1) {
    qsort(f->edge.at, f->edge.n, sizeof *f->edge.at, by_ends);
  }
  size_t same = 0;
  out->periodic = true;
  for (uint32_t e = 0; e < out->n_edges && out->periodic; e++) {
    if (out->edge[e].distance < last) {
      out->periodic = same < f->edge.n && by_ends(&out->edge[e], &f->edge.at[same]) == 0;
      same++;
    }
  }
  out->periodic = out->periodic && same == f->edge.n;
  return FSCHED_OK;
}

/* Notes that an op of the last iteration uses a version: one of its run, or one from outside. */
static fs_status note_version(body_finder *f, fsched_context *ctx, uint32_t op, uint32_t version,
                              bool *seen) {
  const fsched_graph *g = f->g;
  uint32_t first = g->version_access0[version];
  uint32_t buffer = g->version_buffer[version];
  const fs_memory *memory = &g->target.memory[g->buffer_memory[buffer]];
  uint32_t writer = first == g->version_access0[version + 1] ? FS_NONE : g->access_op[first];
  bool inside = writer != FS_NONE && f->iteration[writer] != FS_NONE &&
                !fs_version_given(g, version) && fs_tag_begins(g->arg_tag[g->access_arg[first]]);
  if (inside) {
    fs_body_edge x = {first, member_of(f, op), f->iteration[op] - f->iteration[writer]};
    return fs_vec_push(ctx, &f->use, x);
  }
  if (!seen[version]) {
    seen[version] = true;
    f->out->held[g->buffer_memory[buffer]] +=
        (g->buffer_size[buffer] + memory->align - 1) & ~(memory->align - 1);
  }
  return FSCHED_OK;
}

/* Which arg of its op an access is: a value is known by its writer and this number. */
static uint64_t value_key(const body_finder *f, uint32_t access) {
  const fsched_graph *g = f->g;
  uint32_t op = g->access_op[access];
  return (uint64_t)member_of(f, op) << 32 | (g->access_arg[access] - g->op_arg0[op]);
}

/* A use of a value, as it is sorted. */
typedef struct value_use {
  uint64_t key;
  uint32_t access, reader;
  uint64_t back;
} value_use;

static int by_value(const void *a, const void *b) {
  const value_use *x = a, *y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return x->reader != y->reader ? (x->reader < y->reader ? -1 : 1)
         : x->back != y->back   ? (x->back < y->back ? -1 : 1)
                                : 0;
}

/* How much of a buffer's name it has as it was described: a version that became a buffer has its
 * number behind that. */
static uint32_t described_name(const fsched_graph *g, uint32_t buffer) {
  const char *name = g->buffer_name[buffer];
  const char *number = buffer < g->n_named ? NULL : strrchr(name, '@');
  return (uint32_t)(number == NULL ? strlen(name) : (size_t)(number - name));
}

static uint64_t given_depth(const fsched_graph *g, uint32_t op, uint32_t arg) {
  uint64_t depth = 0;
  for (uint32_t r = 0; r < g->n_rings; r++) {
    if (g->ring[r].body_op == g->op_body_op[op] && g->ring[r].arg == arg - g->op_arg0[op]) {
      depth = g->ring[r].depth;
    }
  }
  return depth;
}

static fs_body_value value_of(const body_finder *f, uint32_t access, uint32_t reader0) {
  const fsched_graph *g = f->g;
  uint32_t arg = g->access_arg[access], buffer = g->arg_buffer[arg];
  uint64_t align = g->target.memory[g->buffer_memory[buffer]].align;
  return (fs_body_value){.writer = member_of(f, g->access_op[access]),
                         .memory = g->buffer_memory[buffer],
                         .size = (g->buffer_size[buffer] + align - 1) & ~(align - 1),
                         .name = g->buffer_name[buffer],
                         .n_name = described_name(g, buffer),
                         .depth = given_depth(g, g->access_op[access], arg),
                         .reader0 = reader0};
}

/* Makes values of the uses; the writer's own is none. */
static fs_status make_values(body_finder *f, fsched_context *ctx, fs_arena *arena,
                             fs_arena *scratch) {
  fs_loop_body *out = f->out;
  value_use *use;
  size_t n = f->use.n;
  uint32_t n_readers = 0;
  FS_TRY(fs_new(scratch, &use, n));
  FS_TRY(fs_new(arena, &out->reader, n));
  for (size_t i = 0; i < n; i++) {
    const fs_body_edge *x = &f->use.at[i];
    use[i] = (value_use){value_key(f, x->from), x->from, x->to, x->distance};
  }
  if (n > 1) {
    qsort(use, n, sizeof *use, by_value);
  }
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || use[i].key != use[i - 1].key) {
      FS_TRY(fs_vec_push(ctx, &f->value, value_of(f, use[i].access, n_readers)));
    } else if (by_value(&use[i], &use[i - 1]) == 0) {
      continue;
    }
    fs_body_value *v = &f->value.at[f->value.n - 1];
    if (use[i].reader != v->writer || use[i].back > 0) {
      out->reader[n_readers++] = (fs_body_reader){use[i].reader, use[i].back};
      v->n_readers++;
    }
  }
  out->n_values = (uint32_t)f->value.n;
  FS_TRY(fs_new(arena, &out->value, out->n_values));
  if (out->n_values > 0) {
    memcpy(out->value, f->value.at, out->n_values * sizeof *out->value);
  }
  return FSCHED_OK;
}

static fs_status find_values(body_finder *f, fsched_context *ctx, fs_arena *arena,
                             fs_arena *scratch) {
  const fsched_graph *g = f->g;
  bool *seen;
  FS_TRY(fs_new_zero(scratch, &seen, g->n_versions));
  FS_TRY(fs_new_zero(arena, &f->out->held, g->target.n_memories));
  for (uint32_t m = 0; m < f->out->n; m++) {
    uint32_t op = f->out->op[m];
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (fs_tag_accesses(g->arg_tag[a])) {
        FS_TRY(note_version(f, ctx, op, g->arg_version[a], seen));
      }
    }
  }
  return make_values(f, ctx, arena, scratch);
}

static fs_status find_body(body_finder *f, fsched_context *ctx, fs_arena *arena,
                           fs_arena *scratch) {
  FS_TRY(find_members(f, arena, scratch));
  FS_TRY(find_edges(f, ctx, arena));
  if (!f->out->periodic) {
    f->out->n_edges = 0;
    return FSCHED_OK;
  }
  return find_values(f, ctx, arena, scratch);
}

fs_status fs_loop_body_find(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                            uint32_t loop, fs_loop_body *out) {
  assert(fs_loop_is_inner(g, loop));
  *out = (fs_loop_body){.trip = g->loop[loop].trip};
  body_finder f = {.g = g, .out = out, .loop = loop};
  FS_SCRATCH(scratch, ctx);
  fs_status status = find_body(&f, ctx, arena, &scratch);
  fs_vec_free(ctx, &f.edge);
  fs_vec_free(ctx, &f.use);
  fs_vec_free(ctx, &f.value);
  return status;
}
