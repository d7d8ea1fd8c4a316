/* SPDX-License-Identifier: Apache-2.0 */
/* A control edge is known by its items alone; it is of those residencies of both that share bytes,
 * or units of a counted memory. */
#include "draw/reuse.h"

#include <stdlib.h>

#include "base/group.h"
#include "base/saturate.h"
#include "model/access.h"
#include "model/loop_report.h"

typedef struct reuse_edge {
  uint32_t from, to; /* residencies */
  uint32_t edge;
} reuse_edge;

typedef struct reuse_list {
  const fs_schedule *s;
  const fs_sync *sync;
  fs_arena *arena;
  uint32_t *of0, *of;     /* CSR per item: the residencies of buffers that it accesses */
  uint32_t *lane0, *lane; /* CSR per residency of a counted memory: its units */
  FS_VEC(reuse_edge) edge;
} reuse_list;

static fs_status find_residencies(fsched_context *ctx, reuse_list *r) {
  fs_accesses acc;
  FS_TRY(fs_accesses_collect(ctx, r->s, r->sync->kind, r->arena, r->arena, &acc));
  return fs_group_turn(r->arena, acc.res0, acc.item, r->s->n_residencies, r->s->n_items, &r->of0,
                       &r->of);
}

static fs_status find_lanes(reuse_list *r) {
  uint32_t *owner, n = r->sync->n_lanes;
  FS_TRY(fs_new(r->arena, &owner, n));
  for (uint32_t i = 0; i < n; i++) {
    const fs_lane *lane = &r->sync->lane[i];
    owner[i] = lane->kind == FS_LANE_MEMORY ? lane->owner : FS_NONE;
  }
  return fs_group(r->arena, owner, n, r->s->n_residencies, &r->lane0, &r->lane);
}

/* Whether two residencies of a counted memory have units in common, or the bytes of one version. */
static bool share_units(const reuse_list *r, uint32_t a, uint32_t b) {
  if (r->s->res_version[a] != FS_NONE && r->s->res_version[a] == r->s->res_version[b]) {
    return true;
  }
  for (uint32_t i = r->lane0[a]; i < r->lane0[a + 1]; i++) {
    const fs_lane *x = &r->sync->lane[r->lane[i]];
    for (uint32_t k = r->lane0[b]; k < r->lane0[b + 1]; k++) {
      const fs_lane *y = &r->sync->lane[r->lane[k]];
      if (x->begin < y->end && y->begin < x->end) {
        return true;
      }
    }
  }
  return false;
}

/* Whether the later residency takes something of the earlier one's place. */
static bool takes_place(const reuse_list *r, uint32_t earlier, uint32_t later) {
  const fs_schedule *s = r->s;
  uint32_t m = s->res_memory[earlier];
  if (earlier == later || s->res_memory[later] != m ||
      s->res_begin[later] < s->res_begin[earlier]) {
    return false;
  }
  uint64_t a = s->res_address[earlier], b = s->res_address[later];
  return fs_placement_has_addresses(s->graph->target.memory[m].placement)
             ? a < b + s->res_size[later] && b < a + s->res_size[earlier]
             : share_units(r, earlier, later);
}

/* How many residencies an item has: those that it accesses, maybe repeated, and its scratch. */
static uint32_t count_of(const reuse_list *r, uint32_t item) {
  const fsched_graph *g = r->s->graph;
  uint32_t scratch =
      fs_item_is_copy(r->s, item) ? 0 : g->op_scratch0[item + 1] - g->op_scratch0[item];
  return r->of0[item + 1] - r->of0[item] + scratch;
}

/* FS_NONE for scratch in an unbounded memory. */
static uint32_t residency_of(const reuse_list *r, uint32_t item, uint32_t i) {
  uint32_t n = r->of0[item + 1] - r->of0[item];
  FS_ASSERT_SLOW(i < count_of(r, item));
  return i < n ? r->of[r->of0[item] + i]
               : r->s->scratch_residency[r->s->graph->op_scratch0[item] + i - n];
}

static fs_status list_edge(fsched_context *ctx, reuse_list *r, uint32_t e) {
  uint32_t from = r->sync->control_from[e], to = r->sync->control_to[e];
  for (uint32_t i = 0; i < count_of(r, from); i++) {
    uint32_t earlier = residency_of(r, from, i);
    for (uint32_t k = 0; earlier != FS_NONE && k < count_of(r, to); k++) {
      uint32_t later = residency_of(r, to, k);
      if (later != FS_NONE && takes_place(r, earlier, later)) {
        FS_TRY(fs_vec_push(ctx, &r->edge, ((reuse_edge){earlier, later, e})));
      }
    }
  }
  return FSCHED_OK;
}

/* By what is taken, then by edges. */
static int by_place(const void *a, const void *b) {
  const reuse_edge *x = a, *y = b;
  return x->to != y->to       ? (x->to > y->to ? 1 : -1)
         : x->from != y->from ? (x->from > y->from ? 1 : -1)
                              : (x->edge > y->edge) - (x->edge < y->edge);
}

/* Appends "x", or "x.2" for a version other than the first. */
static void name_version(fs_text *t, const fs_schedule *s, uint32_t version) {
  const fsched_graph *g = s->graph;
  fs_text_puts(t, g->buffer_name[g->version_buffer[version]]);
  if (fs_version_index(g, version) != 0) {
    fs_text_printf(t, ".%u", fs_version_index(g, version));
  }
}

static void name_item(fs_text *t, const fs_schedule *s, uint32_t item) {
  const fsched_graph *g = s->graph;
  if (!fs_item_is_copy(s, item)) {
    fs_text_puts(t, g->op_name[item]);
    return;
  }
  fs_text_printf(t, "%s ", fs_words_copy[s->copy_kind[item - g->n_ops]]);
  name_version(t, s, s->copy_version[item - g->n_ops]);
}

static void name_residency(fs_text *t, const fs_schedule *s, uint32_t residency) {
  if (s->res_version[residency] == FS_NONE) {
    fs_text_printf(t, "scratch of %s", s->graph->op_name[s->res_op[residency]]);
  } else {
    name_version(t, s, s->res_version[residency]);
  }
}

/* Appends a key and a name as a JSON string. */
static void put_name(fs_text *t, const char *before, const fs_schedule *s, uint32_t id,
                     void (*name)(fs_text *, const fs_schedule *, uint32_t)) {
  fs_text own;
  fs_text_init(&own, t->ctx);
  name(&own, s, id);
  fs_text_add(&own, "", 1);
  fs_text_puts(t, before);
  if (own.failed) {
    t->failed = true;
  } else {
    fs_text_json_string(t, own.at);
  }
  fs_text_drop(&own);
}

/* Appends the edges of the place at `at`; the index behind them. */
static uint32_t put_place(fs_text *t, const reuse_list *r, uint32_t at) {
  const reuse_edge *x = &r->edge.at[at];
  const fs_schedule *s = r->s;
  uint32_t i = at;
  fs_text_puts(t, "{\"memory\": ");
  fs_text_json_string(t, s->graph->target.memory[s->res_memory[x->to]].name);
  put_name(t, ", \"taken_by\": ", s, x->to, name_residency);
  put_name(t, ", \"from\": ", s, x->from, name_residency);
  fs_text_puts(t, ", \"edges\": [");
  for (; i < r->edge.n && r->edge.at[i].to == x->to && r->edge.at[i].from == x->from; i++) {
    uint32_t e = r->edge.at[i].edge;
    put_name(t, i == at ? "{\"from\": " : ", {\"from\": ", s, r->sync->control_from[e], name_item);
    put_name(t, ", \"to\": ", s, r->sync->control_to[e], name_item);
    fs_text_puts(t, "}");
  }
  fs_text_puts(t, "]}");
  return i;
}

/* Appends the places, as far as they are named. */
static void put_places(fs_text *t, const reuse_list *r, const char *indent) {
  uint32_t n = 0;
  fs_text_puts(t, ", \"places\": [");
  for (uint32_t at = 0; at < r->edge.n && n < FS_REUSE_NAMED; n++) {
    fs_text_puts(t, n == 0 ? "\n" : ",\n");
    fs_text_puts(t, indent);
    fs_text_puts(t, "  ");
    at = put_place(t, r, at);
  }
  fs_text_puts(t, "]");
}

/* How many values the ring of a loop has: of a run, or of all runs that are joined. */
static uint64_t values_of(const fsched_graph *g, const fs_rolled *x) {
  return x->joined ? fs_multiply_most(x->trip, g->rolled[x->within].trip) : x->trip;
}

/* Appends the orders by which the slots of a ring are taken again: iteration i of `to` comes after
 * iteration i - distance of `from`. */
static void put_ring(fs_text *t, const fsched_graph *g, const fs_rolled *x, uint32_t k,
                     const char *before) {
  const fs_rolled_ring *r = &x->loop.ring[k];
  fs_text_puts(t, before);
  fs_text_puts(t, "{\"loop\": ");
  fs_text_json_string(t, x->report->name);
  fs_text_puts(t, ", \"buffer\": ");
  fs_text_json_string(t, g->buffer_name[x->slots[k].buffer]);
  fs_text_printf(t, ", \"slots\": %u, \"edges\": [", r->depth);
  for (uint32_t i = r->reader0; i < r->reader0 + r->n_readers; i++) {
    const fs_rolled_reader *from = &x->loop.reader[i];
    fs_text_puts(t, i == r->reader0 ? "{\"from\": " : ", {\"from\": ");
    fs_text_json_string(t, x->body[from->member].name);
    fs_text_puts(t, ", \"to\": ");
    fs_text_json_string(t, x->body[r->writer].name);
    fs_text_printf(t, ", \"distance\": %u}", r->depth - from->back);
  }
  fs_text_puts(t, "]}");
}

/* Appends the rings of loops that stay ones whose slots are taken again. */
static void put_rings(fs_text *t, const fsched_graph *g, const char *indent) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t k = 0; k < x->loop.n_rings; k++) {
      if (values_of(g, x) > x->loop.ring[k].depth && n < FS_REUSE_NAMED) {
        fs_text_puts(t, n++ == 0 ? ", \"rings\": [\n" : ",\n");
        fs_text_puts(t, indent);
        put_ring(t, g, x, k, "  ");
      }
    }
  }
  fs_text_puts(t, n == 0 ? "" : "]");
}

static fs_status put_reuse(fs_text *t, reuse_list *r, const char *indent) {
  uint32_t n = 0, more = 0;
  FS_TRY(find_residencies(t->ctx, r));
  FS_TRY(find_lanes(r));
  for (uint32_t e = 0; e < r->sync->n_control; e++) {
    if (r->sync->control_why[e] == FS_WHY_REUSE) {
      FS_TRY(list_edge(t->ctx, r, e));
      n++;
    }
  }
  if (r->edge.n > 1) {
    qsort(r->edge.at, r->edge.n, sizeof *r->edge.at, by_place);
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->edge.n; i++) {
    reuse_edge x = r->edge.at[i], *last = kept == 0 ? NULL : &r->edge.at[kept - 1];
    bool same = last != NULL && x.to == last->to && x.from == last->from;
    more += !same;
    if (!same || x.edge != last->edge) {
      r->edge.at[kept++] = x;
    }
  }
  r->edge.n = kept;
  fs_text_printf(t, "{\"edges\": %u, \"taken\": %u", n, more);
  put_places(t, r, indent);
  put_rings(t, r->s->graph, indent);
  fs_text_puts(t, "}");
  return FSCHED_OK;
}

fs_status fs_reuse_put(fs_text *t, const fs_schedule *s, const fs_sync *sync, const char *indent) {
  assert(sync != NULL);
  FS_SCRATCH(arena, t->ctx);
  reuse_list r = {.s = s, .sync = sync, .arena = &arena};
  fs_status status = put_reuse(t, &r, indent);
  fs_vec_free(t->ctx, &r.edge);
  return status;
}
