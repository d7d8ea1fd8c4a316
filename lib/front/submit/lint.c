/* SPDX-License-Identifier: Apache-2.0 */
/* The lint: tasks that conflict, and which the program does not order by itself.
 *
 * The order of the program is that of the graph, but for tasks in manual scopes, which come behind
 * their predecessors alone.  The races of that order are the pairs.  Those of the graph are among
 * them, in the same order (hazards: raw); all others are ordered in the graph by what the tags
 * give. */
#include "front/builder/races.h"
#include "front/submit/private.h"

static fs_status mark_manual(const fsched_submitter *s, const fsched_graph *g, fs_arena *scratch,
                             bool **manual) {
  FS_TRY(fs_new_zero(scratch, manual, g->n_ops));
  for (size_t i = 0; i < s->manual.n; i++) {
    assert(s->manual.at[i].end <= g->n_ops);
    for (uint32_t op = s->manual.at[i].first; op < s->manual.at[i].end; op++) {
      (*manual)[op] = true;
    }
  }
  return FSCHED_OK;
}

/* All predecessors were submitted before, so ids are ranks. */
static fs_status order_program(const fsched_graph *g, const bool *manual, fs_arena *scratch,
                               fs_race_order *order) {
  uint32_t *pred0, *pred, *rank, n = 0;
  FS_TRY(fs_new(scratch, &pred0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(scratch, &pred, (size_t)g->n_edges + g->op_after0[g->n_ops]));
  FS_TRY(fs_new(scratch, &rank, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const uint32_t *list0 = manual[op] ? g->op_after0 : g->pred0;
    const uint32_t *list = manual[op] ? g->after_op : g->pred;
    rank[op] = op;
    pred0[op] = n;
    for (uint32_t e = list0[op]; e < list0[op + 1]; e++) {
      pred[n++] = list[e];
    }
  }
  pred0[g->n_ops] = n;
  *order = (fs_race_order){.pred0 = pred0, .pred = pred, .rank = rank, .loose = manual};
  return FSCHED_OK;
}

static fs_status add_pairs(fsched_submitter *s, const fsched_graph *g, const fs_race_list *list) {
  uint32_t race = 0; /* the next one of the graph */
  FS_TRY(fs_vec_reserve(s->ctx, &s->pair, list->n));
  for (size_t i = 0; i < list->n; i++) {
    const fs_race *r = &list->at[i];
    bool open = race < g->n_races && g->race_version[race] == r->version &&
                g->race_a[race] == r->before && g->race_b[race] == r->after;
    uint32_t buffer = g->version_buffer[r->version];
    race += open;
    fsched_submit_pair pair = {.before = r->before,
                               .after = r->after,
                               .buffer = buffer,
                               .derived = !open,
                               .before_name = g->op_name[r->before],
                               .after_name = g->op_name[r->after],
                               .buffer_name = g->buffer_name[buffer]};
    FS_TRY(fs_vec_push(s->ctx, &s->pair, pair));
  }
  assert(race == g->n_races);
  return FSCHED_OK;
}

static fs_status find_pairs(fsched_submitter *s, const fsched_graph *g, fs_race_list *list) {
  FS_SCRATCH(scratch, s->ctx);
  fs_race_order order;
  bool *manual;
  FS_TRY(mark_manual(s, g, &scratch, &manual));
  FS_TRY(order_program(g, manual, &scratch, &order));
  FS_TRY(fs_race_find(g, &order, list));
  return add_pairs(s, g, list);
}

fsched_status fsched_submit_lint(fsched_submitter *s, const fsched_graph *graph, uint32_t *n) {
  if (graph == NULL || graph != s->graph) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the graph is not the one that the submitter has made");
  }
  s->pair.n = 0;
  fs_status status = FSCHED_OK;
  if (s->manual.n > 0 || graph->n_races > 0) {
    fs_race_list list = {0};
    status = find_pairs(s, graph, &list);
    fs_vec_free(s->ctx, &list);
  }
  s->pair.n = status == FSCHED_OK ? s->pair.n : 0;
  *n = (uint32_t)s->pair.n;
  return status;
}

const fsched_submit_pair *fsched_submit_lint_pair(const fsched_submitter *s, uint32_t index) {
  return index < s->pair.n ? &s->pair.at[index] : NULL;
}
