/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: slots find room.
 *
 * A ring of a loop in a loop has slots for all runs, as far as these are joined: where they turn
 * out not to be, or the slots have no room, the graph is made again, with slots for one run.
 *
 * A ring of a loop in a loop that ops outside use, of which no depth is given, has one slot, unless
 * the outermost loops are quicker with more.
 *
 * The depths of rings are planned in front of placement, which may find a memory in pieces where
 * its bytes would do.  So a graph is tried: if there is no schedule of it, the one is looked for
 * that has the least intervals among those that have one.
 *
 *     depths (4, 3) have no room:   at most (3, any)     or   at most (any, 2)
 *
 * Depths that have no room, and all that are larger, are left out by two or more limits, of which
 * plans are made; of all that are left the plan with the least intervals comes next.  Where that
 * would take too many tries, rings get as few slots as they need, and then one after the other as
 * many as have room.
 *
 * Where loops may be shorter with other depths, the graph is made once more (deepen.c).
 *
 * Depths that were given are not changed.  If it is these that do not fit, smaller ones are tried
 * in the same way, and are what a hint says.
 *
 * Complexity: that of up to MOST_TRIES graphs and their schedules, and as many more where rings get
 * slots one after the other; fewer of large graphs.  Determinism: a function of the builder. */
#include <stdio.h>

#include "base/heap.h"
#include "base/saturate.h"
#include "front/builder/private.h"
#include "listsched/listsched.h"
#include "model/loop_report.h"

/* Graphs that are tried, and their ops together; at least so many are. */
enum { MOST_TRIES = 64, MOST_OPS = 1 << 21, LEAST_TRIES = 8 };

typedef struct fit_ring {
  uint32_t loop, buffer; /* as described */
  uint32_t depth, least; /* least: of the limits that are tried */
  bool given;
} fit_ring;

typedef struct fit_limits {
  uint32_t *most; /* per ring; FS_NONE: any */
  uint64_t cost;  /* of the plan, if it was made; else no more than that */
  bool planned;
} fit_limits;

typedef struct fit_finder {
  fsched_context *ctx;
  fsched_builder *described;
  fs_arena *scratch;
  uint32_t n;
  fit_ring *ring;
  uint32_t tries, most_tries;
  FS_VEC(fit_limits) limits;
  fs_heap heap;
} fit_finder;

/* --- rings --- */

/* Whether a draft gives the depth of a ring. */
static bool gives_depth(const fs_ring_draft *d, const fit_ring *ring) {
  return d->loop == ring->loop && d->buffer == ring->buffer && d->depth > 0;
}

static const fs_ring_draft *find_given(const fsched_builder *b, const fit_ring *ring) {
  const fs_ring_draft *found = NULL;
  for (size_t i = 0; i < b->ring.n && found == NULL; i++) {
    found = gives_depth(&b->ring.at[i], ring) ? &b->ring.at[i] : NULL;
  }
  return found;
}

/* The least depth that can be given where what else is given of the ring stays. */
static uint32_t least_given(const fs_ring_draft *d, uint32_t least) {
  uint64_t ahead = d->behind ? d->depth - d->ahead + 1 : d->ahead;
  return (uint32_t)fs_max(fs_max(d->every, ahead), least);
}

/* The most slots that might be of use and have room. */
static uint32_t most_depth(const fsched_graph *g, const fs_rolled *x, uint32_t ring) {
  const fs_body_slots *s = &x->slots[ring];
  uint64_t capacity = g->target.memory[g->buffer_memory[s->buffer]].capacity;
  uint64_t most = fs_min(fs_add_most(x->trip, 1), capacity / fs_max(s->slot, 1));
  return (uint32_t)fs_min(fs_max(most, x->loop.ring[ring].depth), UINT32_MAX / 2);
}

/* Lists the rings of a graph in bounded memories that could have fewer slots, or, of the graph in
 * which all have as few as they need, those that could have more. */
static fs_status list_rings(fit_finder *f, const fsched_graph *g, bool more) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    n += g->rolled[l].loop.n_rings;
  }
  FS_TRY(fs_new(f->scratch, &f->ring, n));
  f->n = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings; v++) {
      fit_ring ring = {.loop = x->report->loop, .buffer = x->slots[v].buffer};
      const fs_ring_draft *d = find_given(f->described, &ring);
      ring.given = d != NULL;
      ring.least = more ? x->loop.ring[v].depth : x->slots[v].least;
      ring.least = d != NULL ? least_given(d, ring.least) : ring.least;
      ring.depth = d != NULL ? (uint32_t)fs_min(d->depth, UINT32_MAX / 2)
                   : more    ? most_depth(g, x, v)
                             : x->loop.ring[v].depth;
      bool bounded = fs_memory_bounded(&g->target.memory[g->buffer_memory[ring.buffer]]);
      bool fixed = x->report->slots[v].given && d == NULL; /* no other depth is possible */
      if (bounded && !fixed && ring.depth > ring.least) {
        f->ring[f->n++] = ring;
      }
    }
  }
  return FSCHED_OK;
}

/* The depth that a ring has in a graph. */
static uint32_t depth_in(const fsched_graph *g, const fit_ring *ring) {
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings && x->report->loop == ring->loop; v++) {
      if (x->slots[v].buffer == ring->buffer) {
        return x->loop.ring[v].depth;
      }
    }
  }
  return ring->least;
}

/* --- tries --- */

static void give_depth(fsched_builder *b, const fit_ring *ring, uint32_t depth) {
  for (size_t i = 0; i < b->ring.n; i++) {
    fs_ring_draft *d = &b->ring.at[i];
    if (gives_depth(d, ring) && d->depth > depth) {
      d->ahead -= d->behind ? d->depth - depth : 0;
      d->depth = depth;
    }
  }
}

static fs_status limit_depths(const fit_finder *f, const uint32_t *most, fsched_builder *b) {
  for (uint32_t i = 0; most != NULL && i < f->n; i++) {
    const fit_ring *ring = &f->ring[i];
    if (most[i] == FS_NONE) {
      continue;
    }
    if (ring->given) {
      give_depth(b, ring, most[i]);
      continue;
    }
    fs_depth_limit limit = {ring->loop, ring->buffer, most[i]};
    FS_TRY(fs_vec_push(f->ctx, &b->depth_limit, limit));
  }
  return FSCHED_OK;
}

/* Makes the graph with these limits; NULL: it can't be. */
static fs_status plan_graph(fit_finder *f, const uint32_t *most, fs_depths depths,
                            fsched_graph **out) {
  fsched_builder *b;
  *out = NULL;
  f->tries++;
  FS_TRY(fs_builder_clone(f->described, &b));
  b->depths = depths;
  bool muted = fs_context_mute(f->ctx, true);
  fs_status status = limit_depths(f, most, b);
  if (status == FSCHED_OK) {
    status = fs_builder_finish_once(b, out);
  }
  (void)fs_context_mute(f->ctx, muted);
  fsched_builder_destroy(b);
  return status == FSCHED_SYSTEM ? status : FSCHED_OK;
}

/* Whether there is a schedule. */
static fs_status has_schedule(const fit_finder *f, const fsched_graph *g, bool *has) {
  fs_listsched_options o = {.lower_bound = FS_TICK_NONE - 1, .silent = true};
  fs_schedule *s = NULL;
  bool muted = fs_context_mute(f->ctx, true);
  fs_status status = fs_listsched_run(f->ctx, g, &o, &s);
  (void)fs_context_mute(f->ctx, muted);
  fs_schedule_destroy(s);
  *has = status == FSCHED_OK;
  return status == FSCHED_SYSTEM ? status : FSCHED_OK;
}

/* Makes the graph with these limits, if there is a schedule of it; else NULL. */
static fs_status try_graph(fit_finder *f, const uint32_t *most, fs_depths depths,
                           fsched_graph **out) {
  bool has = false;
  FS_TRY(plan_graph(f, most, depths, out));
  fs_status status = *out == NULL ? FSCHED_OK : has_schedule(f, *out, &has);
  if (!has) {
    fsched_graph_destroy(*out);
    *out = NULL;
  }
  return status;
}

/* --- least intervals first --- */

/* What all iterations take, if each loop runs at its interval. */
static uint64_t cost_of(const fsched_graph *g) {
  uint64_t cost = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_loop_report *r = g->rolled[l].report;
    uint64_t runs = fs_multiply_most(r->trip, r->runs);
    cost = fs_add_most(cost, fs_multiply_most(r->ii.num, runs) / fs_max(r->ii.den, 1));
  }
  return cost;
}

static bool was_listed(const fit_finder *f, const uint32_t *most) {
  bool listed = false;
  for (size_t i = 0; i < f->limits.n && !listed; i++) {
    listed = memcmp(f->limits.at[i].most, most, f->n * sizeof *most) == 0;
  }
  return listed;
}

/* Of equal costs, those that were listed last come first. */
static fs_status list_limits(fit_finder *f, size_t at) {
  return fs_heap_push(f->ctx, &f->heap, f->limits.at[at].cost, UINT32_MAX - (uint32_t)at);
}

/* Lists limits that leave out the depths of a graph and all larger ones. */
static fs_status leave_out(fit_finder *f, const uint32_t *most, uint64_t cost,
                           const fsched_graph *g) {
  for (uint32_t i = 0; i < f->n; i++) {
    uint32_t depth = depth_in(g, &f->ring[i]), *next;
    if (f->ring[i].given || depth <= f->ring[i].least) {
      continue;
    }
    FS_TRY(fs_new_none(f->scratch, &next, f->n));
    if (most != NULL) {
      memcpy(next, most, f->n * sizeof *next);
    }
    next[i] = depth - 1;
    if (!was_listed(f, next)) {
      FS_TRY(fs_vec_push(f->ctx, &f->limits, ((fit_limits){next, cost, false})));
      FS_TRY(list_limits(f, f->limits.n - 1));
    }
  }
  return FSCHED_OK;
}

/* Looks at the limits whose plan costs least, as far as it is known. */
static fs_status try_limits(fit_finder *f, size_t at, fsched_graph **found) {
  fit_limits *x = &f->limits.at[at];
  fsched_graph *g;
  bool has = false;
  FS_TRY(plan_graph(f, x->most, FS_DEPTHS_AS_PLANNED, &g));
  if (g == NULL) {
    return FSCHED_OK;
  }
  x->cost = fs_max(x->cost, cost_of(g));
  fs_status status;
  if (!x->planned && f->heap.n > 0 && x->cost > f->heap.at[0].key) { /* another one comes first */
    x->planned = true;
    status = list_limits(f, at);
  } else {
    status = has_schedule(f, g, &has);
    if (status == FSCHED_OK && !has) {
      status = leave_out(f, x->most, x->cost, g);
    }
  }
  if (has) {
    *found = g;
  } else {
    fsched_graph_destroy(g);
  }
  return status;
}

static fs_status find_least_intervals(fit_finder *f, const fsched_graph *first,
                                      fsched_graph **found) {
  FS_TRY(leave_out(f, NULL, cost_of(first), first));
  while (f->heap.n > 0 && f->tries < f->most_tries && *found == NULL) {
    FS_TRY(try_limits(f, UINT32_MAX - fs_heap_pop(&f->heap).id, found));
  }
  return FSCHED_OK;
}

/* --- as many slots as have room --- */

/* Raises the limit of a ring as far as there is a schedule, up to `high`; *best is the graph. */
static fs_status raise_limit(fit_finder *f, uint32_t i, uint32_t high, fs_depths depths,
                             uint32_t *most, fsched_graph **best) {
  uint32_t low = most[i];
  while (low < high && f->tries < f->most_tries) {
    fsched_graph *g;
    most[i] = low + (high - low + 1) / 2;
    FS_TRY(try_graph(f, most, depths, &g));
    if (g == NULL) {
      high = most[i] - 1;
      continue;
    }
    low = most[i];
    fsched_graph_destroy(*best);
    *best = g;
  }
  most[i] = low;
  return FSCHED_OK;
}

/* Rings of given depth, or the others, get as many slots as have room, one after the other. */
static fs_status raise_limits(fit_finder *f, bool given, fs_depths depths, uint32_t *most,
                              fsched_graph **best) {
  f->most_tries = f->tries + MOST_TRIES;
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->ring[i].given == given) {
      FS_TRY(raise_limit(f, i, f->ring[i].depth, depths, most, best));
    }
  }
  return FSCHED_OK;
}

/* From a graph with as few slots as are needed; *most: the limits. */
static fs_status find_most_slots(fit_finder *f, uint32_t **most, fsched_graph **found) {
  FS_TRY(fs_new_none(f->scratch, most, f->n));
  for (uint32_t i = 0; i < f->n; i++) {
    (*most)[i] = f->ring[i].given ? FS_NONE : depth_in(*found, &f->ring[i]);
  }
  return raise_limits(f, false, FS_DEPTHS_AS_PLANNED, *most, found);
}

/* --- given depths --- */

/* Says which depths would fit; most: per ring. */
static fs_status say_depths(fit_finder *f, const uint32_t *most, fs_arena *arena,
                            const char **hint) {
  fs_text t;
  uint32_t n = 0, said = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    n += f->ring[i].given && most[i] < f->ring[i].depth;
  }
  fs_text_init(&t, f->ctx);
  for (uint32_t i = 0; i < f->n; i++) {
    if (!f->ring[i].given || most[i] >= f->ring[i].depth) {
      continue;
    }
    const char *and = said == 0 ? "" : said + 1 < n ? ", " : " and ";
    fs_text_printf(&t, "%s%s%u of '%.80s'", and,
                   said > 0 ? ""
                   : n > 1  ? "depths of "
                            : "a depth of ",
                   most[i], f->described->buffers.text.at[f->ring[i].buffer]);
    said++;
  }
  fs_text_puts(&t, " would fit");
  *hint = t.failed ? NULL : fs_arena_strndup(arena, t.at, t.n);
  fs_text_drop(&t);
  return *hint == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Looks for one ring of which a smaller depth fits. */
static fs_status lower_one(fit_finder *f, uint32_t *most, fsched_graph **found) {
  for (uint32_t i = 0; i < f->n && *found == NULL; i++) {
    if (!f->ring[i].given) {
      continue;
    }
    most[i] = f->ring[i].least;
    FS_TRY(try_graph(f, most, FS_DEPTHS_LEAST_OPEN, found));
    if (*found == NULL) {
      most[i] = FS_NONE;
    } else {
      f->most_tries = f->tries + MOST_TRIES;
      FS_TRY(raise_limit(f, i, f->ring[i].depth - 1, FS_DEPTHS_LEAST_OPEN, most, found));
    }
  }
  return FSCHED_OK;
}

/* Looks for depths that fit where those that were given do not.  *hint: none, or the text. */
static fs_status find_hint(fit_finder *f, fs_arena *arena, const char **hint) {
  fsched_graph *g;
  uint32_t *most;
  FS_TRY(plan_graph(f, NULL, FS_DEPTHS_LEAST, &g));
  fs_status status = g == NULL ? FSCHED_OK : list_rings(f, g, true);
  fsched_graph_destroy(g);
  if (g == NULL || status != FSCHED_OK) {
    return status;
  }
  g = NULL;
  FS_TRY(fs_new_none(f->scratch, &most, f->n));
  status = lower_one(f, most, &g);
  if (status == FSCHED_OK && g == NULL) {
    for (uint32_t i = 0; i < f->n; i++) {
      most[i] = f->ring[i].given ? f->ring[i].least : FS_NONE;
    }
    status = try_graph(f, most, FS_DEPTHS_LEAST_OPEN, &g);
    if (status == FSCHED_OK && g != NULL) {
      status = raise_limits(f, true, FS_DEPTHS_LEAST_OPEN, most, &g);
    }
  }
  bool fits = g != NULL;
  fsched_graph_destroy(g);
  return status == FSCHED_OK && fits ? say_depths(f, most, arena, hint) : status;
}

/* --- what is told --- */

/* The memory of a ring that has fewer slots than it had, or has them for lack of room. */
static const char *short_memory(const fit_finder *f, const fsched_graph *first,
                                const fsched_graph *g, const fs_rolled *x) {
  const fit_ring *found = NULL;
  for (uint32_t i = 0; i < f->n && found == NULL; i++) {
    const fit_ring *ring = &f->ring[i];
    uint32_t before = first == NULL ? ring->depth : depth_in(first, ring);
    bool here = ring->loop == x->report->loop && !ring->given;
    found = here && depth_in(g, ring) < before ? ring : NULL;
  }
  return found == NULL ? NULL : g->target.memory[g->buffer_memory[found->buffer]].name;
}

/* Limits of depths are none of the loop's own: where they make an interval longer it is the memory
 * that does, and bounds are those without them.  first: the graph without limits, or NULL. */
static void compare_reports(const fit_finder *f, const fsched_graph *first, fsched_graph *g) {
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_loop_report *old = first == NULL ? NULL : first->rolled[l].report;
    fs_loop_report *r = g->rolled[l].report;
    const char *memory = short_memory(f, first, g, &g->rolled[l]);
    bool same = old != NULL && r->ii.num * old->ii.den == old->ii.num * r->ii.den;
    r->bound = old == NULL ? (fs_loop_ticks){0, 1} : old->bound;
    if (same) {
      r->limited_by = old->limited_by;
      r->limit = old->limit;
      r->proven = old->proven;
    } else if (memory != NULL && (old != NULL || r->limited_by == FS_LOOP_BY_SLOTS)) {
      r->limited_by = FS_LOOP_BY_MEMORY;
      r->limit = memory;
      r->proven = false; /* only lists say what has no room */
    }
  }
}

/* Looks for depths with a schedule in the place of those of a graph without one, from which lists
 * of rings are made. */
static fs_status find_depths(fit_finder *f, const fsched_graph *first, fsched_graph **found) {
  uint32_t *most;
  f->most_tries = fs_max(fs_min(MOST_OPS / fs_max(first->n_ops, 1), MOST_TRIES), LEAST_TRIES);
  FS_TRY(find_least_intervals(f, first, found));
  if (*found == NULL) {
    FS_TRY(try_graph(f, NULL, FS_DEPTHS_LEAST_OPEN, found));
    return *found == NULL ? FSCHED_OK : find_most_slots(f, &most, found);
  }
  return FSCHED_OK;
}

/* A graph is made: if there is no schedule of it, one of other depths takes its place. */
static fs_status fit_graph(fit_finder *f, fsched_graph **out) {
  fsched_graph *first = *out, *found = NULL;
  bool has;
  FS_TRY(list_rings(f, first, false));
  if (f->n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(has_schedule(f, first, &has));
  if (has) {
    return FSCHED_OK;
  }
  fs_status status = find_depths(f, first, &found);
  if (status != FSCHED_OK) {
    fsched_graph_destroy(found);
    return status;
  }
  if (found == NULL) {
    return find_hint(f, &first->arena, &first->depths_hint);
  }
  compare_reports(f, first, found);
  fs_builder_take_graph(out, found);
  return FSCHED_OK;
}

/* The same graph again, with what is to be told of it. */
static fs_status say_graph(fit_finder *f, fs_diag_mark mark, const char *hint, const uint32_t *most,
                           fsched_graph **out) {
  fsched_builder *b;
  FS_TRY(fs_builder_clone(f->described, &b));
  fs_context_rewind(f->ctx, mark);
  b->depths_hint = hint;
  fs_status status = limit_depths(f, most, b);
  if (status == FSCHED_OK) {
    status = fs_builder_finish_once(b, out);
  }
  fsched_builder_destroy(b);
  return status;
}

/* Finds the graph with as many slots as have room; NULL: not even one has. */
static fs_status find_room(fit_finder *f, uint32_t **most, fsched_graph **g) {
  FS_TRY(try_graph(f, NULL, FS_DEPTHS_LEAST_OPEN, g));
  fs_status status = *g == NULL ? FSCHED_OK : list_rings(f, *g, true);
  return *g == NULL || status != FSCHED_OK ? status : find_most_slots(f, most, g);
}

/* No graph was made, as something does not fit: loops may, with as few slots as they need.
 * *status: as it is then. */
static fs_status fit_loops(fit_finder *f, fs_arena *texts, fs_diag_mark mark, fs_status *made,
                           fsched_graph **out) {
  fsched_graph *g;
  uint32_t *most;
  const char *hint = NULL;
  fs_status status = find_room(f, &most, &g);
  if (status == FSCHED_OK && g == NULL) {
    FS_TRY(find_hint(f, texts, &hint));
    if (hint != NULL) {
      *made = say_graph(f, mark, hint, NULL, out);
    }
    return FSCHED_OK;
  }
  fsched_graph_destroy(g);
  FS_TRY(status);
  *made = say_graph(f, mark, NULL, most, out);
  if (*made == FSCHED_OK) {
    compare_reports(f, NULL, *out);
    fs_arena_join(&(*out)->arena, texts);
  }
  return FSCHED_OK;
}

/* --- slots for all runs --- */

static bool has_bounded(const fsched_builder *b) {
  bool any = false;
  for (size_t m = 0; m < b->memory.n; m++) {
    any = any || fs_memory_bounded(&b->memory.at[m].m);
  }
  return any;
}

static bool has_nests(const fsched_builder *b) {
  bool any = false;
  for (size_t i = 0; i < b->loop.n && !any; i++) {
    any = b->loop.at[i].parent != FS_NONE;
  }
  return any;
}

/* Notes the loops that have slots for runs which are not joined. */
static fs_status note_apart(fit_finder *f, const fsched_graph *g, bool *any) {
  *any = false;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    if (g->rolled[l].wide && !g->rolled[l].joined) {
      *any = true;
      FS_TRY(fs_vec_push(f->ctx, &f->described->apart, g->rolled[l].report->loop));
    }
  }
  return FSCHED_OK;
}

/* Whether there are slots for more than one run; of a depth that was given, or any. */
static bool has_wide(const fsched_graph *g, bool given) {
  bool any = false;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; x->wide && v < x->loop.n_rings; v++) {
      any = any || !given || (x->report->slots[v].given && x->loop.ring[v].depth > x->trip);
    }
  }
  return any;
}

/* A graph is made, with slots for all runs: those stay that are joined, if they have room and were
 * given, or make the outermost loops quicker, and do not make them slower. */
static fs_status narrow_graph(fit_finder *f, fsched_graph **g) {
  fsched_graph *other = NULL;
  bool any, has = true;
  FS_TRY(note_apart(f, *g, &any));
  for (size_t n = 0; any && n < f->described->loop.n; n++) {
    FS_TRY(plan_graph(f, NULL, FS_DEPTHS_AS_PLANNED, &other));
    fs_builder_take_graph(g, other);
    FS_TRY(note_apart(f, *g, &any));
  }
  f->described->one_run = true; /* from now on */
  if (!has_wide(*g, false)) {
    return FSCHED_OK;
  }
  FS_TRY(plan_graph(f, NULL, FS_DEPTHS_AS_PLANNED, &other));
  fs_status status = has_bounded(f->described) ? has_schedule(f, *g, &has) : FSCHED_OK;
  uint64_t wide = fs_builder_span_of(*g),
           narrow = other == NULL ? UINT64_MAX : fs_builder_span_of(other);
  bool better = wide < narrow || (wide == narrow && has_wide(*g, true));
  if (any || !has || !better) {
    fs_builder_take_graph(g, other);
  } else {
    fsched_graph_destroy(other);
  }
  return status;
}

/* Slots of a loop in a loop take those away that the body around it has of the buffer; those of
 * what is given or kept in a backing store are copied, all of them.  So they stay if they make the
 * outermost loops quicker. */
static fs_status close_outside(fit_finder *f, fsched_graph **g) {
  fsched_graph *other = NULL;
  if (!fs_builder_slots_outside(f->described, *g)) {
    return FSCHED_OK;
  }
  f->described->one_outside = true;
  FS_TRY(plan_graph(f, NULL, FS_DEPTHS_AS_PLANNED, &other));
  if (other != NULL && fs_builder_span_of(other) <= fs_builder_span_of(*g)) {
    fs_builder_take_graph(g, other);
    return FSCHED_OK;
  }
  f->described->one_outside = false;
  fsched_graph_destroy(other);
  return FSCHED_OK;
}

/* Makes the graph; *made: as finishing it ended. */
static fs_status make_graph(fit_finder *f, fsched_builder *b, fs_diag_mark mark, fs_status *made,
                            fsched_graph **out) {
  *made = fs_builder_finish_once(b, out);
  bool nests = has_nests(f->described);
  fs_status status = *made == FSCHED_OK && nests ? narrow_graph(f, out) : FSCHED_OK;
  f->described->one_run = f->described->one_run || nests;
  status = status == FSCHED_OK && *made == FSCHED_OK ? close_outside(f, out) : status;
  if (!nests) {
    return status;
  }
  if (*made == FSCHED_INFEASIBLE) {
    *made = say_graph(f, mark, NULL, NULL, out);
    if (*made == FSCHED_OK) {
      fs_arena_join(&(*out)->arena, &b->arena);
    }
  }
  return status;
}

static fs_status settle_graph(fit_finder *f, fsched_graph **out) {
  const fsched_graph *first = *out;
  FS_TRY(fit_graph(f, out)); /* may take slots away */
  return *out == first ? fs_builder_deepen(f->described, out) : FSCHED_OK;
}

/* Runs stay joined if there are barriers enough, or it takes no fewer without. */
static fs_status spare_barriers(fit_finder *f, fsched_graph **g) {
  fsched_graph *other = NULL;
  uint32_t *most;
  if (!fs_builder_may_lack_barriers(*g)) {
    return FSCHED_OK;
  }
  f->described->unjoined = true;
  f->limits.n = f->heap.n = 0;
  FS_TRY(plan_graph(f, NULL, FS_DEPTHS_AS_PLANNED, &other));
  bool fits = other != NULL;
  fs_status status = fits ? settle_graph(f, &other) : find_room(f, &most, &other);
  if (status == FSCHED_OK && other != NULL && !fits) {
    compare_reports(f, NULL, other);
  }
  if (status == FSCHED_OK && other != NULL && fs_builder_takes_fewer_barriers(other, *g)) {
    fs_builder_take_graph(g, other);
    return FSCHED_OK;
  }
  fsched_graph_destroy(other);
  return status;
}

static fs_status finish(fit_finder *f, fsched_builder *b, fsched_graph **out) {
  fs_diag_mark mark = fs_context_mark(f->ctx);
  fs_status made, status = make_graph(f, b, mark, &made, out);
  if (status == FSCHED_OK && made == FSCHED_OK) {
    status = settle_graph(f, out);
  } else if (status == FSCHED_OK && made == FSCHED_INFEASIBLE &&
             (has_bounded(f->described) || has_nests(f->described))) {
    status = fit_loops(f, &b->arena, mark, &made, out);
  }
  status = status == FSCHED_OK && made == FSCHED_OK ? spare_barriers(f, out) : status;
  if (status != FSCHED_OK) {
    fsched_graph_destroy(*out);
    *out = NULL;
    return status;
  }
  return made;
}

static fs_status finish_fitting(fsched_builder *b, fsched_graph **out) {
  assert(b->loop.n > 0 && !b->finished);
  fsched_builder *described;
  *out = NULL;
  FS_TRY(fs_builder_clone(b, &described));
  FS_SCRATCH(scratch, b->ctx);
  fit_finder f = {.ctx = b->ctx, .described = described, .scratch = &scratch};
  fs_status status = finish(&f, b, out);
  fs_vec_free(b->ctx, &f.limits);
  fs_vec_free(b->ctx, &f.heap);
  fsched_builder_destroy(described);
  return status;
}

fs_status fs_builder_fit(fsched_builder *b, fsched_graph **out) {
  bool stay = b->loop.n > 0 && !b->unroll && !b->sample && !b->finished;
  return stay ? finish_fitting(b, out) : fs_builder_finish_once(b, out);
}
