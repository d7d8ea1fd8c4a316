/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are scratch, and versions, of which those that in-place pairs join are one.  Of each block
 * the moments are listed at which it is there for sure, as spans between two ops whose windows show
 * it; at the moments at which spans begin they are summed up. */
#include "search/held.h"

#include <stdlib.h>

#include "base/saturate.h"

typedef struct held_span {
  int64_t from, to;
  uint64_t size;
  uint32_t first, last; /* the ops */
} held_span;

typedef struct holding {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_held_windows *w;
  fs_arena *arena;
  uint32_t memory, end_op; /* end_op: the op that surely ends last */
  uint32_t *block;         /* per version: the version that its block is named by */
  FS_VEC(held_span) span;
} holding;

static int64_t sure_end(const holding *h, uint32_t op) {
  return h->w->earliest[op] + h->w->time[op];
}

static fs_status add_span(holding *h, held_span span) {
  return span.from < span.to && span.size > 0 ? fs_vec_push(h->ctx, &h->span, span) : FSCHED_OK;
}

/* ---- blocks */

static uint32_t block_of(const holding *h, uint32_t version) {
  uint32_t v = version;
  while (h->block[v] != v) {
    v = h->block[v];
  }
  return v;
}

static fs_status find_blocks(holding *h) {
  const fsched_graph *g = h->g;
  FS_TRY(fs_new(h->arena, &h->block, g->n_versions));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    h->block[v] = v;
  }
  for (uint32_t i = 0; i < g->op_inplace0[g->n_ops]; i++) {
    uint32_t a = block_of(h, g->arg_version[g->inplace_in[i]]);
    uint32_t b = block_of(h, g->arg_version[g->inplace_out[i]]);
    h->block[fs_max(a, b)] = fs_min(a, b);
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    h->block[v] = block_of(h, v);
  }
  return FSCHED_OK;
}

/* May an op begin the version anew, though it was there before?  Ops that do not read it can, but
 * for the first one. */
static bool begins_again(const fsched_graph *g, uint32_t v) {
  bool there = fs_version_given(g, v), again = false;
  uint32_t first = FS_NONE;
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    unsigned tag = g->arg_tag[g->access_arg[i]];
    if (fs_tag_writes(tag) && !fs_tag_reads(tag)) {
      again = again || there || (first != FS_NONE && first != g->access_op[i]);
      first = g->access_op[i];
    }
  }
  return again;
}

/* ---- spans */

typedef struct held_access {
  uint32_t block, op;
} held_access;

static int by_block(const void *a, const void *b) {
  const held_access *x = a, *y = b;
  if (x->block != y->block) {
    return x->block < y->block ? -1 : 1;
  }
  return x->op < y->op ? -1 : x->op > y->op;
}

/* What a block is, beside the ops that access it. */
typedef struct held_block {
  bool given, kept, breaks; /* breaks: it may be gone between the ops */
  uint64_t size;
} held_block;

static void describe_blocks(const holding *h, held_block *block) {
  const fsched_graph *g = h->g;
  const fs_memory *m = &g->target.memory[h->memory];
  for (uint32_t v = 0; v < g->n_versions; v++) {
    held_block *b = &block[h->block[v]];
    if (fs_version_memory(g, v) == h->memory) {
      b->size = fs_align_up(fs_version_size(g, v), m->align);
      b->kept = b->kept || fs_version_kept(g, v);
      b->given = b->given || fs_version_given(g, v);
      b->breaks = b->breaks || fs_memory_spills(m) || begins_again(g, v);
    }
  }
}

static fs_status span_whole(holding *h, const held_block *b, const held_access *at, size_t n) {
  held_span s = {0, 0, b->size, h->end_op, h->end_op};
  for (size_t k = 0; k < n; k++) {
    uint32_t op = at[k].op;
    s.first = k == 0 || h->w->latest[op] < h->w->latest[s.first] ? op : s.first;
    s.last = k == 0 || sure_end(h, op) > sure_end(h, s.last) ? op : s.last;
  }
  if (b->kept) {
    s.last = h->end_op;
  }
  if (b->given) {
    s.first = n == 0 || b->kept ? h->end_op : s.last;
  }
  s.from = b->given ? 0 : h->w->latest[s.first];
  s.to = sure_end(h, s.last);
  return n > 0 || (b->given && b->kept) ? add_span(h, s) : FSCHED_OK;
}

static int by_latest(const void *a, const void *b) {
  const held_span *x = a, *y = b;
  if (x->from != y->from) {
    return x->from < y->from ? -1 : 1;
  }
  return x->first < y->first ? -1 : x->first > y->first;
}

/* While each op runs, once where these overlap. */
static fs_status span_parts(holding *h, const held_block *b, const held_access *at, size_t n) {
  held_span *part;
  FS_TRY(fs_new(h->arena, &part, n));
  for (size_t k = 0; k < n; k++) {
    uint32_t op = at[k].op;
    part[k] = (held_span){h->w->latest[op], sure_end(h, op), b->size, op, op};
  }
  qsort(part, n, sizeof *part, by_latest);
  int64_t covered = 0;
  for (size_t k = 0; k < n; k++) {
    part[k].from = part[k].from < covered ? covered : part[k].from;
    covered = part[k].to < covered ? covered : part[k].to;
    FS_TRY(add_span(h, part[k]));
  }
  return FSCHED_OK;
}

static fs_status list_accesses(holding *h, held_access **at, size_t *n) {
  const fsched_graph *g = h->g;
  FS_TRY(fs_new(h->arena, at, g->n_args));
  *n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a]) && fs_version_memory(g, v) == h->memory) {
        (*at)[(*n)++] = (held_access){h->block[v], op};
      }
    }
  }
  if (*n > 1) {
    qsort(*at, *n, sizeof **at, by_block);
  }
  return FSCHED_OK;
}

static fs_status span_blocks(holding *h) {
  const fsched_graph *g = h->g;
  held_block *block;
  held_access *at;
  size_t n, from = 0;
  FS_TRY(find_blocks(h));
  FS_TRY(fs_new_zero(h->arena, &block, g->n_versions));
  describe_blocks(h, block);
  FS_TRY(list_accesses(h, &at, &n));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    size_t to = from;
    while (to < n && at[to].block == v) {
      to++;
    }
    if (block[v].size > 0 && !block[v].breaks) {
      FS_TRY(span_whole(h, &block[v], at + from, to - from));
    } else if (to > from) {
      FS_TRY(span_parts(h, &block[v], at + from, to - from));
    }
    from = to;
  }
  return FSCHED_OK;
}

static fs_status span_scratch(holding *h) {
  const fsched_graph *g = h->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint64_t size = fs_align_up(g->scratch_size[i], g->target.memory[h->memory].align);
      if (g->scratch_memory[i] == h->memory) {
        FS_TRY(add_span(h, (held_span){h->w->latest[op], sure_end(h, op), size, op, op}));
      }
    }
  }
  return FSCHED_OK;
}

/* ---- the moment */

static int by_from(const void *a, const void *b) {
  const held_span *x = a, *y = b;
  if (x->from != y->from) {
    return x->from < y->from ? -1 : 1;
  }
  if (x->to != y->to) {
    return x->to < y->to ? -1 : 1;
  }
  return x->size < y->size ? -1 : x->size > y->size;
}

static int by_time(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

typedef struct held_end {
  int64_t to;
  uint64_t size;
} held_end;

static int by_end(const void *a, const void *b) {
  const held_end *x = a, *y = b;
  int order = by_time(&x->to, &y->to);
  return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* The moment of the most bytes, at which some span begins. */
static fs_status find_moment(holding *h, int64_t *moment, uint64_t *bytes) {
  size_t n = h->span.n, gone = 0;
  held_end *end;
  uint64_t sum = 0;
  FS_TRY(fs_new(h->arena, &end, n));
  for (size_t k = 0; k < n; k++) {
    end[k] = (held_end){h->span.at[k].to, h->span.at[k].size};
  }
  if (n > 1) {
    qsort(h->span.at, n, sizeof *h->span.at, by_from);
    qsort(end, n, sizeof *end, by_end);
  }
  for (size_t k = 0; k < n; k++) {
    while (end[gone].to <= h->span.at[k].from) {
      sum -= end[gone++].size;
    }
    sum += h->span.at[k].size;
    if (sum > *bytes) {
      *bytes = sum;
      *moment = h->span.at[k].from;
    }
  }
  return FSCHED_OK;
}

/* Lists the ops whose windows show what is there at the moment. */
static fs_status name_ops(holding *h, int64_t moment, fs_ids *op) {
  bool *named;
  FS_TRY(fs_new_zero(h->arena, &named, h->g->n_ops));
  for (size_t k = 0; k < h->span.n; k++) {
    const held_span *s = &h->span.at[k];
    bool there = s->from <= moment && moment < s->to;
    named[s->first] = named[s->first] || there;
    named[s->last] = named[s->last] || there;
  }
  for (uint32_t i = 0; i < h->g->n_ops; i++) {
    if (named[i]) {
      FS_TRY(fs_vec_push(h->ctx, op, i));
    }
  }
  return FSCHED_OK;
}

static fs_status hold(holding *h, fs_held *out) {
  int64_t moment = 0;
  for (uint32_t op = 0; op < h->g->n_ops; op++) {
    h->end_op = sure_end(h, op) > sure_end(h, h->end_op) ? op : h->end_op;
  }
  FS_TRY(span_scratch(h));
  FS_TRY(h->g->buffer_slot == NULL ? span_blocks(h) : FSCHED_OK);
  FS_TRY(find_moment(h, &moment, &out->bytes));
  return name_ops(h, moment, &out->op);
}

fs_status fs_held_most(fsched_context *ctx, const fsched_graph *g, uint32_t memory,
                       const fs_held_windows *w, fs_held *out) {
  assert(memory < g->target.n_memories && g->n_rolled == 0);
  FS_SCRATCH(arena, ctx);
  holding h = {.ctx = ctx, .g = g, .w = w, .arena = &arena, .memory = memory};
  *out = (fs_held){0};
  fs_status status = g->n_ops == 0 ? FSCHED_OK : hold(&h, out);
  fs_vec_free(ctx, &h.span);
  return status;
}
