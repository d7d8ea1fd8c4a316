/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of each residency are counted, then filed in a walk over the items in order of
 * issue. A walk over the residencies finds the orderings that copies need:
 *
 *     fill   w1   r1   SW   r2   w2   SW'          accesses of one residency
 *      '------'----'----'----'----'----'           after the fill: everything
 *             '---------'         '----'           a write: after the writers since the last one
 *                       '---------'                and before the next writers
 *
 * Chains give the rest: w1 -> SW -> w2 -> SW'.
 *
 * With timelines no item changes its planned time, and residencies without bytes need no order.
 * Other kinds of sync delay items (lib/model/retime.h): a residency then holds back the next one of
 * its version, and those of size 0 are ordered, too. */
#include "model/access.h"

#include "base/group.h"
#include "base/radix.h"

typedef FS_VEC(uint64_t) fs_keys;

/* An access before it is filed. */
typedef struct touch {
  uint32_t residency, item;
  uint64_t low, high;
  uint8_t mode;
} touch;

typedef struct filing {
  fs_accesses *out;
  bool hulls;     /* views have too many runs: all bytes between their first and last ones count */
  uint32_t *fill; /* per residency: where its next access goes */
} filing;

/* The most touches of views that are filed run by run. */
#define MOST_RUNS ((uint64_t)1 << 28)

static uint32_t count_runs(const fsched_graph *g, uint32_t arg) {
  fs_view_runs runs = fs_arg_pieces(g, arg);
  uint32_t n = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    n++;
  }
  return n;
}

static bool too_many_runs(const fsched_graph *g) {
  uint64_t n = 0;
  for (uint32_t a = 0; a < g->n_args && g->n_views > 0 && n <= MOST_RUNS; a++) {
    n += fs_arg_view(g, a) == NULL ? 0 : count_runs(g, a);
  }
  return n > MOST_RUNS;
}

static void count_touches(const fs_schedule *s, bool hulls, uint32_t *n) {
  const fsched_graph *g = s->graph;
  for (uint32_t a = 0; a < g->n_args; a++) {
    if (s->arg_residency[a] != FS_NONE) {
      n[s->arg_residency[a]] += hulls || fs_arg_view(g, a) == NULL ? 1 : count_runs(g, a);
    }
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    if (s->scratch_residency[i] != FS_NONE) {
      n[s->scratch_residency[i]]++;
    }
  }
  for (uint32_t c = 0; c < s->n_copies; c++) {
    n[s->copy_residency[c]]++;
    if (s->copy_store[c] != FS_NONE) {
      n[s->copy_store[c]]++;
    }
  }
}

static void file(filing *f, const touch *t) {
  FS_ASSERT_SLOW(f->fill[t->residency] < f->out->res0[t->residency + 1]);
  FS_ASSERT_SLOW(t->low <= t->high && t->mode != 0);
  uint32_t at = f->fill[t->residency];
  fs_accesses *out = f->out;
  if (at > out->res0[t->residency]) { /* several args of one op, the same range */
    uint32_t last = at - 1;
    if (out->item[last] == t->item && out->low[last] == t->low && out->high[last] == t->high) {
      out->mode[last] |= t->mode;
      return;
    }
  }
  out->item[at] = t->item;
  out->low[at] = t->low;
  out->high[at] = t->high;
  out->mode[at] = t->mode;
  f->fill[t->residency] = at + 1;
}

static void file_op(filing *f, const fs_schedule *s, uint32_t op) {
  FS_ASSERT_SLOW(op < s->graph->n_ops);
  const fsched_graph *g = s->graph;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    unsigned tag = g->arg_tag[a];
    uint32_t residency = s->arg_residency[a];
    if (residency == FS_NONE || !fs_tag_accesses(tag)) {
      continue;
    }
    bool whole = fs_arg_whole(g, a);
    touch t = {
        residency, op, whole ? 0 : g->arg_offset[a],
        whole ? FS_UNBOUNDED : g->arg_offset[a] + g->arg_length[a],
        (uint8_t)((fs_tag_reads(tag) ? FS_ACCESS_R : 0) | (fs_tag_writes(tag) ? FS_ACCESS_W : 0))};
    if (f->hulls || fs_arg_view(g, a) == NULL) {
      file(f, &t);
      continue;
    }
    fs_view_runs runs = fs_arg_pieces(g, a);
    for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
      t.low = at.low;
      t.high = at.high;
      file(f, &t);
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (s->scratch_residency[i] != FS_NONE) {
      touch t = {s->scratch_residency[i], op, 0, FS_UNBOUNDED, FS_ACCESS_W};
      file(f, &t);
    }
  }
}

static void file_copy(filing *f, const fs_schedule *s, uint32_t item) {
  assert(item >= s->graph->n_ops && item < s->n_items);
  uint32_t copy = item - s->graph->n_ops;
  bool write = s->copy_kind[copy] == FS_SPILL_WRITE;
  touch place = {s->copy_residency[copy], item, 0, FS_UNBOUNDED, write ? FS_ACCESS_R : FS_ACCESS_W};
  file(f, &place);
  if (s->copy_store[copy] != FS_NONE) {
    touch store = {s->copy_store[copy], item, 0, FS_UNBOUNDED, write ? FS_ACCESS_W : FS_ACCESS_R};
    file(f, &store);
  }
}

static void file_all(filing *f, const fs_schedule *s) {
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    if (fs_item_is_copy(s, item)) {
      file_copy(f, s, item);
    } else {
      file_op(f, s, item);
    }
  }
}

/* Closes the gaps that merged accesses left. */
static void compact(fs_accesses *out, const uint32_t *fill, uint32_t n_residencies) {
  uint32_t to = 0;
  for (uint32_t r = 0; r < n_residencies; r++) {
    uint32_t from = out->res0[r];
    FS_ASSERT_SLOW(to <= from && from <= fill[r]);
    out->res0[r] = to;
    for (; from < fill[r]; from++, to++) {
      out->item[to] = out->item[from];
      out->low[to] = out->low[from];
      out->high[to] = out->high[from];
      out->mode[to] = out->mode[from];
    }
  }
  out->res0[n_residencies] = to;
}

static fs_status file_accesses(fsched_context *ctx, const fs_schedule *s, fs_arena *arena,
                               fs_accesses *out) {
  uint32_t n = s->n_residencies;
  FS_TRY(fs_new_zero(arena, &out->res0, (size_t)n + 1));
  bool hulls = too_many_runs(s->graph);
  count_touches(s, hulls, out->res0 + 1);
  fs_group_starts(out->res0, n);
  uint32_t total = out->res0[n];
  FS_TRY(fs_new(arena, &out->item, total));
  FS_TRY(fs_new(arena, &out->low, total));
  FS_TRY(fs_new(arena, &out->high, total));
  FS_TRY(fs_new(arena, &out->mode, total));
  FS_SCRATCH(scratch, ctx);
  filing f = {out, hulls, NULL};
  FS_TRY(fs_new(&scratch, &f.fill, n));
  if (n > 0) {
    memcpy(f.fill, out->res0, n * sizeof *f.fill);
  }
  file_all(&f, s);
  compact(out, f.fill, n);
  return FSCHED_OK;
}

/* The orderings for copies' data, collected as they are found. */
typedef struct data_orders {
  fsched_context *ctx;
  const fs_schedule *s;
  const fs_accesses *acc;
  bool retimed; /* items get new times later: orderings by planned times alone are added, too */
  fs_keys keys; /* orderings packed so that sorting makes the CSR */
} data_orders;

/* With sync: block such orders hold only in the plan, and need no sync: lib/block/orders.c. */
static bool retimed(fs_sync_kind kind) {
  switch (kind) {
    case FS_SYNC_BARRIER:
      return true;
    case FS_SYNC_TIMELINE:
    case FS_SYNC_BLOCK:
      break;
  }
  return false;
}

static fs_status want(data_orders *d, uint32_t from, uint32_t to) {
  FS_ASSERT_SLOW(from != FS_NONE && to != FS_NONE);
  return from == to ? FSCHED_OK : fs_vec_push(d->ctx, &d->keys, (uint64_t)to << 32 | from);
}

/* Is the access a spill copy of this kind in the version's own memory (not in the store)? */
static bool copies(const fs_schedule *s, uint32_t item, uint32_t residency, fs_copy_kind kind) {
  if (!fs_item_is_copy(s, item)) {
    return false;
  }
  uint32_t copy = item - s->graph->n_ops;
  return s->copy_kind[copy] == kind && s->copy_residency[copy] == residency;
}

static fs_status want_in_residency(data_orders *d, uint32_t r) {
  const fs_schedule *s = d->s;
  const fs_accesses *acc = d->acc;
  uint32_t first = acc->res0[r];
  uint32_t end = acc->res0[r + 1];
  if (first == end || (s->res_size[r] == 0 && !d->retimed)) { /* no bytes, no order */
    return FSCHED_OK;
  }
  bool filled = copies(s, acc->item[first], r, FS_SPILL_READ);
  uint32_t last_write = FS_NONE; /* the latest spill write here */
  uint32_t since = first;        /* the first access after it */
  for (uint32_t i = first; i < end; i++) {
    uint32_t item = acc->item[i];
    if (filled && i > first) {
      FS_TRY(want(d, acc->item[first], item));
    }
    if (copies(s, item, r, FS_SPILL_WRITE)) {
      for (uint32_t j = since; j < i; j++) {
        if ((acc->mode[j] & FS_ACCESS_W) != 0) {
          FS_TRY(want(d, acc->item[j], item));
        }
      }
      last_write = item;
      since = i + 1;
    } else if ((acc->mode[i] & FS_ACCESS_W) != 0 && last_write != FS_NONE) {
      FS_TRY(want(d, last_write, item));
    }
  }
  return FSCHED_OK;
}

/* A version has one residency in its memory at a time: the read that fills the next one comes after
 * all accesses to the previous one. */
static fs_status want_between(data_orders *d, fs_arena *scratch) {
  const fs_schedule *s = d->s;
  const fs_accesses *acc = d->acc;
  uint32_t *latest; /* per version: its latest residency */
  FS_TRY(fs_new_none(scratch, &latest, s->graph->n_versions));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t version = s->res_version[r];
    if (version == FS_NONE || s->res_memory[r] != fs_version_memory(s->graph, version)) {
      continue;
    }
    uint32_t before = latest[version];
    latest[version] = r;
    for (uint32_t i = before == FS_NONE ? 0 : acc->res0[before];
         before != FS_NONE && i < acc->res0[before + 1]; i++) {
      FS_TRY(want(d, acc->item[i], acc->item[acc->res0[r]]));
    }
  }
  return FSCHED_OK;
}

typedef struct store_state { /* per version: how its copy in the store was last used */
  uint32_t write;            /* latest spill write, an item */
  uint32_t reads;            /* spill reads since: a list through `next`, copies */
} store_state;

/* Do two copies of a version use the same bytes in the store?  Unbounded and counted memories have
 * one place for each version. */
static bool same_store_bytes(const fs_schedule *s, uint32_t a, uint32_t b) {
  uint32_t store = s->copy_store[a];
  return store == s->copy_store[b] || store == FS_NONE ||
         !fs_placement_has_addresses(s->graph->target.memory[s->res_memory[store]].placement);
}

static fs_status want_at_store(data_orders *d, store_state *state, uint32_t *next, uint32_t item) {
  const fs_schedule *s = d->s;
  assert(fs_item_is_copy(s, item));
  uint32_t n_ops = s->graph->n_ops;
  uint32_t copy = item - n_ops;
  if (fs_version_size(s->graph, s->copy_version[copy]) == 0 && !d->retimed) {
    return FSCHED_OK;
  }
  store_state *v = &state[s->copy_version[copy]];
  if (s->copy_kind[copy] == FS_SPILL_READ) {
    next[copy] = v->reads;
    v->reads = copy;
    return v->write == FS_NONE ? FSCHED_OK : want(d, v->write, item);
  }
  for (uint32_t c = v->reads; c != FS_NONE; c = next[c]) {
    if (same_store_bytes(s, c, copy)) {
      FS_TRY(want(d, n_ops + c, item));
    }
  }
  if (v->reads == FS_NONE && v->write != FS_NONE && same_store_bytes(s, v->write - n_ops, copy)) {
    FS_TRY(want(d, v->write, item));
  }
  *v = (store_state){item, FS_NONE};
  return FSCHED_OK;
}

static fs_status want_data(data_orders *d, fs_arena *scratch) {
  const fs_schedule *s = d->s;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    FS_TRY(want_in_residency(d, r));
  }
  if (d->retimed) {
    FS_TRY(want_between(d, scratch));
  }
  store_state *state;
  uint32_t *next;
  FS_TRY(fs_new_none(scratch, &state, s->graph->n_versions));
  FS_TRY(fs_new(scratch, &next, s->n_copies));
  for (uint32_t i = 0; i < s->n_items; i++) {
    if (fs_item_is_copy(s, s->order[i])) {
      FS_TRY(want_at_store(d, state, next, s->order[i]));
    }
  }
  return FSCHED_OK;
}

/* Makes the CSR from sorted keys (to, from). */
static fs_status file_data(const fs_schedule *s, fs_arena *arena, const fs_keys *keys,
                           fs_accesses *out) {
  FS_TRY(fs_new_zero(arena, &out->data0, (size_t)s->n_items + 1));
  FS_TRY(fs_new(arena, &out->data, keys->n));
  uint32_t n = 0;
  for (size_t i = 0; i < keys->n; i++) {
    if (i > 0 && keys->at[i] == keys->at[i - 1]) {
      continue;
    }
    uint32_t from = (uint32_t)keys->at[i];
    FS_ASSERT_SLOW(i == 0 || keys->at[i - 1] < keys->at[i]);
    uint32_t to = (uint32_t)(keys->at[i] >> 32);
    assert(out->position[from] < out->position[to]);
    out->data[n++] = from;
    out->data0[to + 1] = n;
  }
  for (uint32_t i = 0; i < s->n_items; i++) { /* items without orderings */
    out->data0[i + 1] = out->data0[i + 1] > out->data0[i] ? out->data0[i + 1] : out->data0[i];
  }
  return FSCHED_OK;
}

static fs_status collect_data(data_orders *d, fs_arena *results, fs_arena *scratch,
                              fs_accesses *out) {
  FS_TRY(want_data(d, scratch));
  uint64_t *spare;
  FS_TRY(fs_new(scratch, &spare, d->keys.n));
  fs_radix_sort(d->keys.at, spare, d->keys.n);
  return file_data(d->s, results, &d->keys, out);
}

fs_status fs_accesses_collect(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                              fs_arena *results, fs_arena *arena, fs_accesses *out) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  FS_TRY(fs_new(results, &out->position, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    out->position[s->order[i]] = i;
  }
  FS_TRY(file_accesses(ctx, s, arena, out));
  data_orders d = {.ctx = ctx, .s = s, .acc = out, .retimed = retimed(kind)};
  FS_SCRATCH(scratch, ctx);
  fs_status status = collect_data(&d, results, &scratch, out);
  fs_vec_free(ctx, &d.keys);
  return status;
}

static bool contains(const uint32_t *ids, uint32_t low, uint32_t high, uint32_t id) {
  FS_ASSERT_SLOW(low <= high);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ids[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return ids[low] == id;
}

bool fs_direct_edge(const fs_schedule *s, const fs_accesses *acc, uint32_t a, uint32_t b) {
  FS_ASSERT_SLOW(a < s->n_items && b < s->n_items);
  const fsched_graph *g = s->graph;
  if (a < g->n_ops && b < g->n_ops && g->pred0[b] < g->pred0[b + 1] &&
      contains(g->pred, g->pred0[b], g->pred0[b + 1] - 1, a)) {
    return true;
  }
  return acc->data0[b] < acc->data0[b + 1] &&
         contains(acc->data, acc->data0[b], acc->data0[b + 1] - 1, a);
}

uint32_t fs_inplace_taken(const fs_schedule *s, uint32_t op, uint32_t out) {
  assert(op < s->graph->n_ops && out < s->n_residencies);
  const fsched_graph *g = s->graph;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t in = s->arg_residency[g->inplace_in[i]];
    if (s->arg_residency[g->inplace_out[i]] == out && in != FS_NONE && in != out &&
        s->res_memory[in] == s->res_memory[out] && s->res_address[in] == s->res_address[out] &&
        s->res_size[in] == s->res_size[out] && s->res_begin[out] == s->start[op] &&
        s->res_end[in] == s->end[op]) {
      return in;
    }
  }
  return FS_NONE;
}
