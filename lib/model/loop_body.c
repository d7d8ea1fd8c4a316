/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loop_body.h"

#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"

typedef struct body_finder {
  const fsched_graph *g;
  const fs_loop_index *x;
  fs_loop_body *out;
  uint32_t loop;
  FS_VEC(fs_body_edge) edge;
  FS_VEC(fs_body_edge) use; /* of values: from the writer's access to the reader */
  FS_VEC(uint64_t) outside; /* versions, twice as long for sorting */
  FS_VEC(fs_body_value) value;
} body_finder;

static void find_inner(const fsched_graph *g, fs_loop_index *x) {
  for (uint32_t l = 0; l < g->n_loops; l++) {
    uint32_t b = x->body0[l] < x->body0[l + 1] ? x->body[x->body0[l]] : FS_NONE;
    x->inner[l] = b != FS_NONE && x->op0[b] < x->op0[b + 1] && g->loop[l].trip >= 2;
  }
  for (uint32_t l = 0; l < g->n_loops; l++) {
    if (g->loop[l].parent != FS_NONE) {
      x->inner[g->loop[l].parent] = false;
    }
  }
}

/* Notes the depths that were given, by body op and arg. */
static fs_status note_depths(fs_arena *arena, const fsched_graph *g, fs_loop_index *x) {
  uint32_t n = 0;
  FS_TRY(fs_new(arena, &x->value0, g->n_body_ops));
  for (uint32_t b = 0; b < g->n_body_ops; b++) {
    x->value0[b] = n;
    if (x->op0[b] < x->op0[b + 1]) {
      uint32_t op = x->op[x->op0[b]];
      n += g->op_arg0[op + 1] - g->op_arg0[op];
    }
  }
  FS_TRY(fs_new_zero(arena, &x->depth, n));
  for (uint32_t r = 0; r < g->n_rings; r++) {
    uint32_t b = g->ring[r].body_op;
    if (x->op0[b] < x->op0[b + 1]) {
      x->depth[x->value0[b] + g->ring[r].arg] = g->ring[r].depth;
    }
  }
  return FSCHED_OK;
}

fs_status fs_loop_index_make(fs_arena *arena, const fsched_graph *g, fs_loop_index *out) {
  assert(g->n_loops > 0);
  FS_TRY(fs_group(arena, g->body_op_loop, g->n_body_ops, g->n_loops, &out->body0, &out->body));
  FS_TRY(fs_group(arena, g->op_body_op, g->n_ops, g->n_body_ops, &out->op0, &out->op));
  FS_TRY(fs_new(arena, &out->nth, g->n_ops));
  FS_TRY(fs_new_none(arena, &out->member, g->n_body_ops));
  FS_TRY(fs_new(arena, &out->inner, g->n_loops));
  for (uint32_t b = 0; b < g->n_body_ops; b++) {
    for (uint32_t i = out->op0[b]; i < out->op0[b + 1]; i++) {
      out->nth[out->op[i]] = i - out->op0[b];
    }
  }
  for (uint32_t l = 0; l < g->n_loops; l++) {
    for (uint32_t i = out->body0[l]; i < out->body0[l + 1]; i++) {
      out->member[out->body[i]] = i - out->body0[l];
    }
  }
  find_inner(g, out);
  return note_depths(arena, g, out);
}

static uint32_t member_of(const body_finder *f, uint32_t op) {
  return f->x->member[f->g->op_body_op[op]];
}

/* The iteration of an op in the last run of the loop; FS_NONE: it is not in that. */
static uint32_t iteration_of(const body_finder *f, uint32_t op) {
  uint32_t b = f->g->op_body_op[op];
  uint64_t before = (f->out->runs - 1) * f->out->trip;
  return f->g->body_op_loop[b] != f->loop || f->x->nth[op] < before
             ? FS_NONE
             : (uint32_t)(f->x->nth[op] - before);
}

/* The instance of a member that is `back` iterations before the last one. */
static uint32_t instance_of(const body_finder *f, uint32_t member, uint32_t back) {
  uint32_t b = f->x->body[f->x->body0[f->loop] + member];
  return f->x->op[f->x->op0[b + 1] - 1 - back];
}

static fs_status find_members(body_finder *f, fs_arena *arena) {
  fs_loop_body *out = f->out;
  uint32_t b = f->x->body[f->x->body0[f->loop]];
  out->n = f->x->body0[f->loop + 1] - f->x->body0[f->loop];
  out->runs = (f->x->op0[b + 1] - f->x->op0[b]) / out->trip;
  FS_TRY(fs_new(arena, &out->op, out->n));
  for (uint32_t m = 0; m < out->n; m++) {
    out->op[m] = instance_of(f, m, 0);
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

/* Appends the edges into an op that come from its run. */
static fs_status add_edges(body_finder *f, fsched_context *ctx, uint32_t op) {
  const fsched_graph *g = f->g;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    uint32_t from = g->pred[e], i = iteration_of(f, from), k = iteration_of(f, op);
    if (i != FS_NONE && i <= k) {
      fs_body_edge x = {member_of(f, from), member_of(f, op), k - i};
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
  for (uint32_t m = 0; m < out->n; m++) {
    FS_TRY(add_edges(f, ctx, instance_of(f, m, 1)));
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
static fs_status note_version(body_finder *f, fsched_context *ctx, uint32_t op, uint32_t version) {
  const fsched_graph *g = f->g;
  uint32_t first = g->version_access0[version];
  assert(first < g->version_access0[version + 1]);
  uint32_t i = iteration_of(f, g->access_op[first]);
  if (i != FS_NONE && !fs_version_given(g, version) &&
      fs_tag_begins(g->arg_tag[g->access_arg[first]])) {
    fs_body_edge x = {first, member_of(f, op), iteration_of(f, op) - i};
    return fs_vec_push(ctx, &f->use, x);
  }
  return fs_vec_push(ctx, &f->outside, version);
}

/* Adds up the versions from outside, each once. */
static fs_status add_held(body_finder *f, fsched_context *ctx, fs_arena *arena) {
  const fsched_graph *g = f->g;
  size_t n = f->outside.n;
  FS_TRY(fs_new_zero(arena, &f->out->held, g->target.n_memories));
  FS_TRY(fs_vec_reserve(ctx, &f->outside, 2 * n));
  fs_radix_sort_block(f->outside.at, n);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || f->outside.at[i] != f->outside.at[i - 1]) {
      uint32_t buffer = g->version_buffer[f->outside.at[i]];
      uint64_t align = g->target.memory[g->buffer_memory[buffer]].align;
      f->out->held[g->buffer_memory[buffer]] += fs_align_up(g->buffer_size[buffer], align);
    }
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

uint32_t fs_described_name(const fsched_graph *g, uint32_t buffer) {
  const char *name = g->buffer_name[buffer];
  const char *number = buffer < g->n_named ? NULL : strrchr(name, '@');
  return (uint32_t)(number == NULL ? strlen(name) : (size_t)(number - name));
}

static fs_body_value value_of(const body_finder *f, uint32_t access, uint32_t reader0) {
  const fsched_graph *g = f->g;
  uint32_t arg = g->access_arg[access], buffer = g->arg_buffer[arg];
  uint32_t op = g->access_op[access], b = g->op_body_op[op];
  uint64_t align = g->target.memory[g->buffer_memory[buffer]].align;
  return (fs_body_value){.writer = member_of(f, op),
                         .memory = g->buffer_memory[buffer],
                         .size = fs_align_up(g->buffer_size[buffer], align),
                         .name = g->buffer_name[buffer],
                         .n_name = fs_described_name(g, buffer),
                         .depth = f->x->depth[f->x->value0[b] + arg - g->op_arg0[op]],
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
  for (uint32_t m = 0; m < f->out->n; m++) {
    uint32_t op = f->out->op[m];
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (fs_tag_accesses(g->arg_tag[a])) {
        FS_TRY(note_version(f, ctx, op, g->arg_version[a]));
      }
    }
  }
  FS_TRY(add_held(f, ctx, arena));
  return make_values(f, ctx, arena, scratch);
}

static fs_status find_body(body_finder *f, fsched_context *ctx, fs_arena *arena,
                           fs_arena *scratch) {
  FS_TRY(find_members(f, arena));
  FS_TRY(find_edges(f, ctx, arena));
  if (!f->out->periodic) {
    f->out->n_edges = 0;
    return FSCHED_OK;
  }
  return find_values(f, ctx, arena, scratch);
}

fs_status fs_loop_body_find(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                            const fs_loop_index *index, uint32_t loop, fs_loop_body *out) {
  assert(index->inner[loop]);
  *out = (fs_loop_body){.trip = g->loop[loop].trip, .versions = g->loop[loop].trip};
  body_finder f = {.g = g, .x = index, .out = out, .loop = loop};
  FS_SCRATCH(scratch, ctx);
  fs_status status = find_body(&f, ctx, arena, &scratch);
  fs_vec_free(ctx, &f.edge);
  fs_vec_free(ctx, &f.use);
  fs_vec_free(ctx, &f.outside);
  fs_vec_free(ctx, &f.value);
  return status;
}
