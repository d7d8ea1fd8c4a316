/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a schedule from an answer: residencies follow from the starts, then queues and addresses
 * are found, then the order of issue.  The verifier, which shares no code with this, checks the
 * result; it reports to a context of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/issue_order.h"
#include "problem/answer/private.h"
#include "verify/schedule/verify.h"

enum { WHY = 320 };

fs_status fs_answer_refute(fs_assembly *y, const char *format, ...) {
  assert(y->why == NULL && format != NULL);
  char text[WHY];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  y->why = fs_arena_strndup(&y->p->arena, text, strlen(text));
  return y->why == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

const char *fs_problem_item_name(const fs_problem *p, uint32_t item, char *text, size_t size) {
  assert(item < p->n_items && size > 0);
  const fsched_graph *g = p->graph;
  if (item < g->n_ops) {
    (void)snprintf(text, size, "op %s", g->op_name[item]);
    return text;
  }
  uint32_t v = p->copy_version[item - g->n_ops];
  (void)snprintf(text, size, "the %s of %s.%u", fs_words_copy[p->copy_kind[item - g->n_ops]],
                 g->buffer_name[g->version_buffer[v]], fs_version_index(g, v));
  return text;
}

/* ---- times */

static fs_status check_starts(fs_assembly *y) {
  const fs_problem *p = y->p;
  char name[160];
  for (uint32_t i = 0; i < p->n_items; i++) {
    if (y->a->start[i] > FS_TICK_NONE / 4) {
      return fs_answer_refute(y, "%s has no start", fs_problem_item_name(p, i, name, sizeof name));
    }
  }
  return FSCHED_OK;
}

static void find_lives(fs_assembly *y) {
  const fs_problem *p = y->p;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    fs_tick begin = FS_TICK_NONE, end = 0;
    for (uint32_t k = p->res_begin0[r]; k < p->res_begin0[r + 1]; k++) {
      begin = fs_min(begin, y->a->start[p->res_begin[k]]);
    }
    begin = begin == FS_TICK_NONE ? 0 : begin;
    for (uint32_t k = p->res_end0[r]; k < p->res_end0[r + 1]; k++) {
      end = fs_max(end, y->a->start[p->res_end[k]] + p->time[p->res_end[k]]);
    }
    y->begin[r] = begin;
    y->end[r] = fs_max(begin, p->res_to_end[r] ? y->s->makespan : end);
  }
}

typedef struct moment {
  fs_tick start;
  uint32_t lasts; /* 1 if the item has a length */
  uint32_t rank, item;
} moment;

/* The order is total, since no two items have the same rank. */
static int by_start(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->start != y->start) {
    return x->start < y->start ? -1 : 1;
  }
  if (x->lasts != y->lasts) {
    return x->lasts < y->lasts ? -1 : 1;
  }
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static fs_status sort_items(fs_assembly *y) {
  const fs_problem *p = y->p;
  moment *at;
  FS_TRY(fs_new(&y->scratch, &y->by_start, p->n_items));
  FS_TRY(fs_new(&y->scratch, &at, p->n_items));
  for (uint32_t k = 0; k < p->n_items; k++) {
    uint32_t i = p->topo[k];
    at[k] = (moment){y->a->start[i], p->time[i] > 0, y->a->place == NULL ? k : y->a->place[i], i};
  }
  if (p->n_items > 1) {
    qsort(at, p->n_items, sizeof *at, by_start);
  }
  for (uint32_t k = 0; k < p->n_items; k++) {
    y->by_start[k] = at[k].item;
  }
  return FSCHED_OK;
}

/* ---- the schedule */

static fs_status fill_items(fs_assembly *y) {
  const fs_problem *p = y->p;
  fs_schedule *s = y->s;
  FS_TRY(fs_schedule_make_items(s, p->n_copies));
  assert(s->n_items == p->n_items);
  for (uint32_t i = 0; i < p->n_items; i++) {
    s->start[i] = y->a->start[i];
    s->end[i] = s->start[i] + p->time[i];
    s->makespan = fs_max(s->makespan, s->end[i]);
  }
  for (uint32_t c = 0; c < p->n_copies; c++) {
    s->copy_kind[c] = p->copy_kind[c];
    s->copy_version[c] = p->copy_version[c];
  }
  s->lower_bound = fs_min(p->lower_bound, s->makespan);
  s->status = s->lower_bound == s->makespan ? FS_SCHEDULE_OPTIMAL : FS_SCHEDULE_FEASIBLE;
  return FSCHED_OK;
}

static int by_begin(const void *a, const void *b) {
  const moment *x = a, *y = b;
  return x->start != y->start ? (x->start < y->start ? -1 : 1)
                              : (x->item > y->item) - (x->item < y->item);
}

static void rename_ids(const uint32_t *from, uint32_t n, const uint32_t *to, uint32_t *out) {
  for (uint32_t i = 0; i < n; i++) {
    out[i] = from[i] == FS_NONE ? FS_NONE : to[from[i]];
  }
}

static void rename_residencies(fs_assembly *y, const uint32_t *to) {
  const fs_problem *p = y->p;
  fs_schedule *s = y->s;
  rename_ids(p->arg_residency, p->graph->n_args, to, s->arg_residency);
  rename_ids(p->scratch_residency, p->graph->op_scratch0[p->graph->n_ops], to,
             s->scratch_residency);
  rename_ids(p->copy_residency, p->n_copies, to, s->copy_residency);
  rename_ids(p->copy_store, p->n_copies, to, s->copy_store);
}

static fs_status fill_residencies(fs_assembly *y) {
  const fs_problem *p = y->p;
  fs_schedule *s = y->s;
  uint32_t n = p->n_residencies, *to;
  moment *at;
  FS_TRY(fs_schedule_make_residencies(s, n));
  FS_TRY(fs_new(&y->scratch, &to, n));
  FS_TRY(fs_new(&y->scratch, &at, n));
  for (uint32_t r = 0; r < n; r++) {
    at[r] = (moment){.start = y->begin[r], .item = r};
  }
  if (n > 1) {
    qsort(at, n, sizeof *at, by_begin);
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t r = at[k].item;
    to[r] = k;
    s->res_version[k] = p->res_version[r];
    s->res_op[k] = p->res_op[r];
    s->res_memory[k] = p->res_memory[r];
    s->res_address[k] = p->res_size[r] == 0 ? 0 : y->address[r];
    s->res_size[k] = p->res_size[r];
    s->res_begin[k] = y->begin[r];
    s->res_end[k] = y->end[r];
  }
  rename_residencies(y, to);
  return FSCHED_OK;
}

static fs_status verify(fs_assembly *y) {
  fsched_context *own;
  FS_TRY(fs_context_own(y->p->ctx, &own));
  fs_status status = fs_verify_schedule(own, y->p->graph, y->s, NULL);
  if (status == FSCHED_WRONG) {
    const fsched_diag *d = fsched_diag_get(own, 0);
    status = fs_answer_refute(y, "%s", d == NULL ? "it is refuted" : d->message);
  } else if (status != FSCHED_OK) {
    status = fs_no_memory(y->p->ctx, 0);
  }
  fsched_context_destroy(own);
  return status;
}

/* ---- the target's wait */

/* The queues of an op. */
static const uint32_t *queues_of(const fs_assembly *y, uint32_t op, uint32_t *n) {
  return fs_item_queues(y->s, op, n);
}

static bool share_queue(const fs_assembly *y, uint32_t a, uint32_t b) {
  uint32_t n, m;
  const uint32_t *x = queues_of(y, a, &n), *z = queues_of(y, b, &m);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < m; k++) {
      if (x[i] == z[k]) {
        return true;
      }
    }
  }
  return false;
}

/* Refutes an answer in which an op starts within the wait after a predecessor on other queues. */
static fs_status check_waits(fs_assembly *y) {
  const fsched_graph *g = y->p->graph;
  for (uint32_t op = 0; y->p->wait != 0 && op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; fs_problem_waits(y->p, op) && e < g->pred0[op + 1]; e++) {
      uint32_t before = g->pred[e];
      if (y->s->start[op] < y->s->end[before] + y->p->wait && !share_queue(y, op, before)) {
        return fs_answer_refute(y, "op %s starts within the target's wait after op %s",
                                g->op_name[op], g->op_name[before]);
      }
    }
  }
  return FSCHED_OK;
}

static fs_status assemble(fs_assembly *y) {
  FS_TRY(check_starts(y));
  if (y->why != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fill_items(y));
  FS_TRY(fs_new(&y->scratch, &y->begin, y->p->n_residencies));
  FS_TRY(fs_new(&y->scratch, &y->end, y->p->n_residencies));
  find_lives(y);
  FS_TRY(sort_items(y));
  FS_TRY(fs_answer_moments(y));
  FS_TRY(fs_answer_amounts(y));
  if (y->why == NULL) {
    FS_TRY(fs_answer_queues(y));
  }
  if (y->why == NULL) {
    FS_TRY(check_waits(y));
  }
  if (y->why == NULL) {
    FS_TRY(fs_answer_places(y));
  }
  if (y->why != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fill_residencies(y));
  FS_TRY(fs_schedule_order(y->s, y->by_start));
  FS_TRY(fs_schedule_order_residencies(y->s));
  return verify(y);
}

fs_status fs_answer_schedule(fs_problem *p, const fs_answer *a, fs_schedule **out,
                             const char **why) {
  assert(a->start != NULL || p->n_items == 0);
  fs_assembly y = {.p = p, .a = a};
  *out = NULL;
  *why = NULL;
  FS_TRY(fs_schedule_create(p->ctx, p->graph, &y.s));
  fs_arena_init(&y.scratch, p->ctx);
  fs_status status = assemble(&y);
  fs_arena_release(&y.scratch);
  if (status != FSCHED_OK || y.why != NULL) {
    fs_schedule_destroy(y.s);
    y.s = NULL;
  }
  *out = y.s;
  *why = y.why;
  return status;
}
