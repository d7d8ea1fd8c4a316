/* SPDX-License-Identifier: Apache-2.0 */
/* Races under hazards: raw: pairs of ops that touch overlapping bytes of one version, at least one
 * of them writing, with no path between them.
 *
 * Per version the accesses are walked in program order with two sets of ranges that are never cut:
 * all writes, and all accesses.  The sets give the pairs that overlap; whether a path joins a pair
 * is found by one search backwards from the later op, not past the earliest candidate.  Cost: in
 * the worst case O(ops + edges) for each op that accesses a version with in-place writes, and for
 * each pair that `after` turns round; near the distance between the accesses in practice. */
#include "front/builder/races.h"
#include "front/builder/private.h"

enum { MAX_RACES = 1 << 20 };

typedef struct race_finder {
  const fsched_graph *g;
  const fs_race_order *order;
  fs_race_visit *take;
  void *user;
  fs_ranges ranges;
  fs_ids found;   /* ops with overlapping accesses */
  fs_ids stack;   /* the search's stack */
  uint32_t *seen; /* per op: stamp of the last search that met it */
  uint32_t stamp;
} race_finder;

/* Marks the ancestors of `op` of at least `lowest` rank with the current stamp. */
static fs_status mark_ancestors(race_finder *r, uint32_t op, uint32_t lowest) {
  const fs_race_order *order = r->order;
  r->stamp++;
  r->stack.n = 0;
  FS_TRY(fs_vec_push(r->g->ctx, &r->stack, op));
  while (r->stack.n > 0) {
    uint32_t at = r->stack.at[--r->stack.n];
    for (uint32_t e = order->pred0[at]; e < order->pred0[at + 1]; e++) {
      uint32_t before = order->pred[e];
      if (order->rank[before] >= lowest && r->seen[before] != r->stamp) {
        r->seen[before] = r->stamp;
        FS_TRY(fs_vec_push(r->g->ctx, &r->stack, before));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status add_race(race_finder *r, uint32_t op, uint32_t other, uint32_t version) {
  fs_race race = {op < other ? op : other, op < other ? other : op, version};
  return r->take(r->user, &race);
}

/* Lists the races of `op` with the candidates.  Candidates that come before `op` in topo share one
 * search.  The others, which `after` puts behind `op` although `op` is later in program order, have
 * one search each. */
static fs_status judge(race_finder *r, uint32_t op, uint32_t version) {
  uint32_t lowest = FS_NONE;
  for (size_t i = 0; i < r->found.n; i++) {
    lowest = (uint32_t)fs_min(lowest, r->order->rank[r->found.at[i]]);
  }
  FS_TRY(mark_ancestors(r, op, lowest));
  uint32_t ancestors = r->stamp;
  for (size_t i = 0; i < r->found.n; i++) { /* drops the ancestors of `op` */
    uint32_t other = r->found.at[i];
    if (other == op || r->seen[other] == ancestors) {
      r->found.at[i] = FS_NONE;
    }
  }
  for (size_t i = 0; i < r->found.n; i++) {
    uint32_t other = r->found.at[i];
    if (other == FS_NONE) {
      continue;
    }
    if (r->order->rank[other] > r->order->rank[op]) {
      FS_TRY(mark_ancestors(r, other, r->order->rank[op]));
      if (r->seen[op] == r->stamp) {
        continue;
      }
    }
    FS_TRY(add_race(r, op, other, version));
  }
  return FSCHED_OK;
}

/* Sorts ids and drops repeated ones.  A heap sort: the lists may be long, and repeat ops that have
 * several args. */
static void sort_unique(fs_ids *ids) {
  uint32_t *v = ids->at;
  size_t n = ids->n;
  for (size_t start = n / 2, end = n; end > 1;) {
    if (start > 0) {
      start--;
    } else {
      uint32_t top = v[0];
      v[0] = v[--end];
      v[end] = top;
    }
    for (size_t at = start;;) {
      size_t child = at * 2 + 1;
      if (child >= end) {
        break;
      }
      child += child + 1 < end && v[child] < v[child + 1];
      if (v[at] >= v[child]) {
        break;
      }
      uint32_t swap = v[at];
      v[at] = v[child];
      v[child] = swap;
      at = child;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept == 0 || v[kept - 1] != v[i]) {
      v[kept++] = v[i];
    }
  }
  ids->n = kept;
}

typedef struct access_sets {
  uint32_t writes, all;
} access_sets;

/* Looks up one run of an access, or enters it. */
static fs_status visit_range(race_finder *r, access_sets *s, uint32_t access, bool enter,
                             uint64_t lo, uint64_t hi) {
  const fsched_graph *g = r->g;
  uint32_t op = g->access_op[access];
  bool write = fs_tag_writes(g->arg_tag[g->access_arg[access]]);
  if (!enter) {
    uint64_t covered;
    return fs_ranges_find(&r->ranges, write ? s->all : s->writes, lo, hi, &r->found, &covered);
  }
  if (write) {
    FS_TRY(fs_ranges_add(&r->ranges, &s->writes, lo, hi, op));
  }
  return fs_ranges_add(&r->ranges, &s->all, lo, hi, op);
}

/* Looks up one access, or enters it. */
static fs_status visit(race_finder *r, access_sets *s, uint32_t access, bool enter) {
  const fsched_graph *g = r->g;
  uint32_t arg = g->access_arg[access];
  if (fs_arg_view(g, arg) == NULL) {
    uint64_t lo = g->arg_offset[arg];
    return visit_range(r, s, access, enter, lo, lo + fs_max(g->arg_length[arg], 1));
  }
  fs_view_runs runs = fs_arg_pieces(g, arg);
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    FS_TRY(visit_range(r, s, access, enter, at.low, at.high));
  }
  return FSCHED_OK;
}

/* Finds the races of one version.  The accesses of one op are looked up together, so that a pair is
 * listed once. */
static fs_status race_version(race_finder *r, uint32_t version) {
  const fsched_graph *g = r->g;
  access_sets s = {FS_NONE, FS_NONE};
  uint32_t end = g->version_access0[version + 1];
  for (uint32_t i = g->version_access0[version]; i < end;) {
    uint32_t op = g->access_op[i];
    uint32_t first = i;
    r->found.n = 0;
    for (; i < end && g->access_op[i] == op; i++) {
      FS_TRY(visit(r, &s, i, false));
    }
    if (r->found.n > 0) {
      sort_unique(&r->found);
      FS_TRY(judge(r, op, version));
    }
    if (fs_op_members(g, op) > 0 && i - first > 1) {
      bool meet;
      uint32_t at;
      FS_TRY(fs_builder_members_meet(g, first, i, &meet, &at));
      FS_TRY(meet ? add_race(r, op, op, version) : FSCHED_OK);
    }
    for (uint32_t k = first; k < i; k++) {
      FS_TRY(visit(r, &s, k, true));
    }
  }
  fs_ranges_clear(&r->ranges, &s.writes);
  fs_ranges_clear(&r->ranges, &s.all);
  return FSCHED_OK;
}

/* Whether the version may have races: some op writes it in place, or accesses it and is loose;
 * else all wait for the `out`. */
static bool may_race(const race_finder *r, uint32_t version) {
  const fsched_graph *g = r->g;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    unsigned tag = g->arg_tag[g->access_arg[i]];
    if (fs_tag_writes_in_place(tag) ||
        (r->order->loose != NULL && r->order->loose[g->access_op[i]])) {
      return true;
    }
  }
  return false;
}

static fs_status find_races(race_finder *r) {
  const fsched_graph *g = r->g;
  FS_SCRATCH(scratch, g->ctx);
  FS_TRY(fs_new_zero(&scratch, &r->seen, g->n_ops));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (may_race(r, v)) {
      FS_TRY(race_version(r, v));
    }
  }
  return FSCHED_OK;
}

fs_status fs_race_each(const fsched_graph *g, const fs_race_order *order, fs_race_visit *take,
                       void *user) {
  assert(order->rank != NULL);
  race_finder r = {.g = g, .order = order, .take = take, .user = user};
  fs_ranges_init(&r.ranges, g->ctx);
  fs_status status = find_races(&r);
  fs_ranges_release(&r.ranges);
  fs_vec_free(g->ctx, &r.found);
  fs_vec_free(g->ctx, &r.stack);
  return status;
}

fs_status fs_race_edges(const fsched_graph *g, fs_arena *scratch, fs_race_order *out) {
  assert(g->topo != NULL);
  uint32_t *rank;
  FS_TRY(fs_new(scratch, &rank, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    rank[g->topo[i]] = i;
  }
  *out = (fs_race_order){.pred0 = g->pred0, .pred = g->pred, .rank = rank};
  return FSCHED_OK;
}

typedef struct race_lister {
  fsched_context *ctx;
  fs_race_list *list;
} race_lister;

static fs_status list_race(void *user, const fs_race *race) {
  race_lister *l = user;
  if (l->list->n == MAX_RACES) {
    return fs_fail(l->ctx, FSCHED_BAD_INPUT, FS_DIAG_TOO_MANY_RACES, FS_NOWHERE,
                   "use 'hazards: sequential'", "more than %d pairs of ops are left unordered",
                   (int)MAX_RACES);
  }
  return fs_vec_push(l->ctx, l->list, *race);
}

fs_status fs_race_find(const fsched_graph *g, const fs_race_order *order, fs_race_list *list) {
  assert(order->rank != NULL && list->n == 0);
  race_lister l = {g->ctx, list};
  return fs_race_each(g, order, list_race, &l);
}

static fs_status keep_races(fsched_builder *b, fsched_graph *g, const fs_race_list *list) {
  g->n_races = (uint32_t)list->n;
  FS_TRY(fs_new(&b->arena, &g->race_a, g->n_races));
  FS_TRY(fs_new(&b->arena, &g->race_b, g->n_races));
  FS_TRY(fs_new(&b->arena, &g->race_version, g->n_races));
  for (uint32_t i = 0; i < g->n_races; i++) {
    g->race_a[i] = list->at[i].before;
    g->race_b[i] = list->at[i].after;
    g->race_version[i] = list->at[i].version;
  }
  return FSCHED_OK;
}

fs_status fs_builder_races(fsched_builder *b, fsched_graph *g) {
  assert(g->succ0 != NULL);
  if (!fs_hazards_data_only(g->hazards) || b->bad || b->sample) { /* bad: it may have no topo */
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, b->ctx);
  fs_race_list list = {0};
  fs_race_order order;
  FS_TRY(fs_race_edges(g, &scratch, &order));
  fs_status status = fs_race_find(g, &order, &list);
  status = status == FSCHED_OK ? keep_races(b, g, &list) : status;
  fs_vec_free(b->ctx, &list);
  return status;
}
