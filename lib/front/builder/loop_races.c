/* SPDX-License-Identifier: Apache-2.0 */
/* Races in graphs with loops that stay loops.
 *
 * A loop means its unrolling, so its races are those of that: which are found in one of shorter
 * loops (shorter.h), as they are found in any unrolled graph; where none are known that do, the
 * list has no races of loops, and a warning says so.  Parameters have their greatest values there;
 * the races are added that there are with the least ones. */
#include "base/limit.h"
#include "front/builder/folded.h"
#include "front/builder/races.h"
#include "front/builder/shorter.h"
#include "fsched/graph.h"

static fs_status fold_race(void *user, const fs_race *race) {
  return fs_folder_add(user, race->before, race->after, race->version);
}

static fs_status fold_graph(fs_race_folder *f, const fsched_builder *b, const fsched_graph *g) {
  FS_SCRATCH(scratch, f->ctx);
  fs_race_order order;
  FS_TRY(fs_race_edges(g, &scratch, &order));
  f->b = b;
  f->g = g;
  return fs_race_each(g, &order, fold_race, f);
}

/* Makes a sample of the loops, with `trip` iterations each, and adds its races. */
static fs_status fold_loops(fs_race_folder *f, fsched_builder *s, const uint64_t *trip,
                            fs_arena *scratch) {
  fs_shorter shorter = {0};
  fsched_graph *g = NULL;
  s->unroll = s->sample = true;
  s->param.n = 0;
  FS_TRY(fs_builder_shorten(s, trip, (uint64_t)fs_limits_of(f->ctx)->race_instances, scratch,
                            &shorter));
  f->unknown = f->unknown || shorter.unknown;
  if (shorter.unknown) {
    return FSCHED_OK;
  }
  for (uint32_t l = 0; l < s->loop.n; l++) {
    fs_loop_draft *loop = &s->loop.at[l];
    loop->trip = loop->least = loop->most = loop->shown = shorter.trip[l];
    loop->param = FS_NONE;
  }
  f->removed = shorter.removed;
  f->left = shorter.trip;
  fs_status status = fsched_builder_finish(s, &g);
  status = status == FSCHED_OK ? fold_graph(f, s, g) : status;
  fsched_graph_destroy(g);
  return status;
}

/* The fewest trips that invocations may give, or those of `most`; *varies: they are others. */
static void find_least(const fsched_builder *b, const uint64_t *most, uint64_t *least,
                       bool *varies) {
  *varies = false;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const fs_loop_draft *x = fs_loop_at(b, l);
    bool open = x->param != FS_NONE;
    if (open) {
      const char *name = b->words.text.at[x->param];
      open = fs_names_find(&b->params, name, strlen(name)) == FS_NONE;
    }
    least[l] = open ? 0 : most[l];
    for (uint32_t k = 0; k < b->loop.n && open; k++) {
      const fs_loop_draft *y = fs_loop_at(b, k);
      least[l] = y->param == x->param ? fs_max(least[l], y->least) : least[l];
    }
    *varies = *varies || least[l] < most[l];
  }
}

static fs_status fold_all(const fsched_builder *described, fs_race_folder *f, fs_arena *scratch) {
  uint64_t *most, *least;
  bool again = true;
  FS_TRY(fs_new(scratch, &most, described->loop.n));
  FS_TRY(fs_new(scratch, &least, described->loop.n));
  for (uint32_t l = 0; l < described->loop.n; l++) {
    most[l] = fs_bodies_trip(described, l);
  }
  f->trip = most;
  for (uint32_t i = 0; again; i++) {
    fsched_builder *s;
    FS_TRY(fs_builder_clone(described, &s));
    fs_status status = fold_loops(f, s, i == 0 ? most : least, scratch);
    fsched_builder_destroy(s);
    FS_TRY(status);
    find_least(described, most, least, &again);
    again = again && i == 0;
  }
  f->race.n = f->unknown ? 0 : f->race.n; /* a part of them would look like all */
  fs_folder_sort(f);
  return FSCHED_OK;
}

static fs_status keep_text(fsched_graph *g, const char *text, const char **out) {
  size_t n = strlen(text) + 1;
  char *copy = fs_arena_alloc(&g->arena, n);
  if (copy == NULL) {
    return FSCHED_SYSTEM;
  }
  *out = memcpy(copy, text, n);
  return FSCHED_OK;
}

static fs_status keep_races(const fs_race_folder *f, fsched_graph *g) {
  FS_TRY(fs_new(&g->arena, &g->loop_race, f->race.n));
  for (size_t i = 0; i < f->race.n; i++) {
    const fs_folded_race *r = &f->race.at[i];
    fs_graph_race *to = &g->loop_race[i];
    FS_TRY(keep_text(g, r->name_a, &to->op_a));
    FS_TRY(keep_text(g, r->name_b, &to->op_b));
    FS_TRY(keep_text(g, r->buffer_name, &to->buffer));
    to->distance = r->n_loops > 0 ? fs_min(r->iterations, FS_NO_DISTANCE - 1) : FS_NO_DISTANCE;
  }
  g->n_loop_races = (uint32_t)f->race.n;
  g->loop_races_unknown = f->unknown;
  return FSCHED_OK;
}

fs_status fs_builder_loop_races(const fsched_builder *described, fsched_graph *g) {
  assert(!described->unrolled && !described->contracted);
  if (!fs_hazards_data_only(described->hazards)) {
    return FSCHED_OK;
  }
  fs_diag_mark mark = fs_context_mark(described->ctx);
  bool exhausted = fs_context_out_of_memory(described->ctx);
  FS_SCRATCH(scratch, described->ctx);
  fs_race_folder f;
  fs_folder_init(&f, described->ctx);
  fs_status status = fold_all(described, &f, &scratch);
  if (status == FSCHED_OK) {
    fs_context_rewind(described->ctx, mark);
    status = keep_races(&f, g);
    fs_folder_warn(&f);
    if (fs_context_out_of_memory(described->ctx) && !exhausted) {
      status = FSCHED_SYSTEM; /* for the text of a warning */
    }
  }
  fs_folder_free(&f);
  return status;
}
