/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a schedule.
 *
 *   times   durations, given starts, precedence, queues, resources, concurrency    here
 *   memory  residencies: size, alignment, capacity, no overlap           schedule/memory.c
 *   values  each access inside a residency that holds its version; copies
 *                                                                        schedule/values.c
 *
 * The schedule may have been written by another program: ids are checked before they are used, and
 * the residency of an access is found by time (a stored one is compared).  Amounts are summed over
 * sorted events.  At one time the ends come first, then items without length, then the begins; an
 * item without length counts with all that run over that instant, but not with other such items.
 * Complexity: O(n log n). */
#include "verify/schedule/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/group.h"
#include "base/progress.h"
#include "fsched/verify.h"
#include "model/handle.h"
#include "verify/schedule/schedule.h"

enum { PARTS = 3 }; /* the parts: times, memory, values */

const char *fs_vsched_item(const fs_vsched *v, uint32_t item, char text[FS_SNAME]) {
  assert(item < v->s->n_items);
  unsigned long long start = v->s->start[item];
  if (item < v->g->n_ops) {
    snprintf(text, FS_SNAME, "op %.120s at %llu", v->g->op_name[item], start);
  } else {
    uint32_t copy = fs_vsched_copy(v, item), version = v->s->copy_version[copy];
    uint32_t buffer = v->g->version_buffer[version];
    snprintf(text, FS_SNAME, "spill %s of %.100s.%u at %llu", fs_words_copy[v->s->copy_kind[copy]],
             v->g->buffer_name[buffer], version - v->g->buffer_version0[buffer], start);
  }
  return text;
}

const char *fs_vsched_residency(const fs_vsched *v, uint32_t r, char text[FS_SNAME]) {
  assert(r < v->s->n_residencies);
  const fs_schedule *s = v->s;
  const char *memory = v->g->target.memory[s->res_memory[r]].name;
  unsigned long long begin = s->res_begin[r], end = s->res_end[r];
  if (s->res_version[r] == FS_NONE) {
    snprintf(text, FS_SNAME, "scratch of %.80s in %.40s during [%llu, %llu)",
             v->g->op_name[s->res_op[r]], memory, begin, end);
  } else {
    uint32_t buffer = v->g->version_buffer[s->res_version[r]];
    snprintf(text, FS_SNAME, "%.80s.%u in %.40s during [%llu, %llu)", v->g->buffer_name[buffer],
             s->res_version[r] - v->g->buffer_version0[buffer], memory, begin, end);
  }
  return text;
}

/* Compares events; events that compare equal are equal in every member. */
static int compare_events(const void *a, const void *b) {
  const fs_vevent *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->phase != y->phase) {
    return x->phase < y->phase ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

void fs_vevents_sort(fs_vevent *at, size_t n) {
  if (n > 1) {
    qsort(at, n, sizeof *at, compare_events);
  }
}

/* --- ids --- */

static bool ids_ok(const fs_vsched *v) {
  const fsched_graph *g = v->g;
  const fs_schedule *s = v->s;
  bool ok = s->n_items == g->n_ops + s->n_copies &&
            (g->target.implicit_queues || s->n_queues == g->target.n_queues);
  for (uint32_t i = 0; ok && i < s->n_items; i++) {
    ok = s->queue[i] < s->n_queues && s->start[i] <= s->end[i];
  }
  for (uint32_t i = 0; ok && i < s->n_copies; i++) {
    ok = s->copy_kind[i] < FS_N_COPY_KINDS && s->copy_version[i] < g->n_versions &&
         (s->copy_residency[i] == FS_NONE || s->copy_residency[i] < s->n_residencies) &&
         (s->copy_store[i] == FS_NONE || s->copy_store[i] < s->n_residencies);
  }
  for (uint32_t i = 0; ok && i < s->n_residencies; i++) {
    bool scratch = s->res_version[i] == FS_NONE;
    ok = s->res_memory[i] < g->target.n_memories && s->res_begin[i] <= s->res_end[i] &&
         (scratch ? s->res_op[i] < g->n_ops : s->res_version[i] < g->n_versions);
  }
  return ok;
}

static bool has_queue(const fsched_graph *g, uint32_t gang, uint32_t queue) {
  for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
    if (g->gang_queue[i] == queue) {
      return true;
    }
  }
  return false;
}

/* Whether an op is on one queue, or on as many distinct ones of its gang as the graph says. */
static bool gang_allowed(const fs_vsched *v, uint32_t op) {
  const fs_schedule *s = v->s;
  uint32_t asked = v->g->op_gang[op], gang = s->op_gang[op];
  if (asked == FS_NONE || gang == FS_NONE) {
    return asked == gang;
  }
  if (gang >= s->n_gangs) {
    return false;
  }
  uint32_t first = s->gang_queue0[gang], n = s->gang_queue0[gang + 1] - first;
  bool ok = n == v->g->gang_members[asked] && s->queue[op] == s->gang_queue[first];
  for (uint32_t i = first; ok && i < first + n; i++) {
    uint32_t queue = s->gang_queue[i]; /* ascending ids are distinct */
    ok = has_queue(v->g, asked, queue) && (i == first || s->gang_queue[i - 1] < queue);
  }
  return ok;
}

/* Checks the queues of gangs; what follows relies on them. */
static fs_status check_gangs(fs_vsched *v) {
  fs_status status = FSCHED_OK;
  for (uint32_t op = 0; op < v->g->n_ops; op++) {
    if (!gang_allowed(v, op)) {
      char name[FS_SNAME];
      FS_REFUTE(v, FS_DIAG_VERIFY_QUEUE, "%s may not run on its queues",
                fs_vsched_item(v, op, name));
      status = FSCHED_WRONG;
    }
  }
  return status;
}

/* Checks that `order` is a permutation by start; fills position. */
static fs_status check_order(fs_vsched *v) {
  const fs_schedule *s = v->s;
  FS_TRY(fs_new_none(&v->arena, &v->position, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    if (item >= s->n_items || v->position[item] != FS_NONE) {
      return fs_fail(v->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_ORDER, FS_NOWHERE, NULL,
                     "the order of issue is not a permutation of the items");
    }
    v->position[item] = i;
    if (i > 0 && s->start[item] < s->start[s->order[i - 1]]) {
      char name[FS_SNAME];
      FS_REFUTE(v, FS_DIAG_VERIFY_ORDER, "%s is issued after an item with a later start",
                fs_vsched_item(v, item, name));
    }
  }
  return FSCHED_OK;
}

/* --- items --- */

static fs_tick copy_time(const fs_vsched *v, uint32_t copy) {
  uint32_t version = v->s->copy_version[copy];
  uint32_t buffer = v->g->version_buffer[version];
  const fs_memory *m = &v->g->target.memory[v->g->buffer_memory[buffer]];
  bool write = v->s->copy_kind[copy] == FS_SPILL_WRITE;
  uint64_t rate = write ? m->write_rate : m->read_rate;
  uint64_t size = v->g->buffer_size[buffer] * (write ? m->write_per : m->read_per);
  fs_tick fixed = write ? m->write_fixed : m->read_fixed;
  return fixed + (rate == 0 ? 0 : size / rate + (size % rate != 0));
}

/* When an op is complete after its start. */
static fs_tick latency(const fsched_graph *g, uint32_t op) {
  return g->op_latency == NULL ? g->op_time[op] : g->op_latency[op];
}

/* Whether the item ends later than its queues go on. */
static bool is_slow(const fs_vsched *v, uint32_t item) {
  return item < v->g->n_ops && latency(v->g, item) > v->g->op_time[item];
}

/* When the item's queues go on. */
static fs_tick queue_free(const fs_vsched *v, uint32_t item) {
  return is_slow(v, item) ? v->s->start[item] + v->g->op_time[item] : v->s->end[item];
}

/* When the item takes the k-th of its queues, and lets it go on. */
static void taken(const fs_vsched *v, uint32_t item, uint32_t k, fs_tick *from, fs_tick *until) {
  const fs_rolled_part *part = fs_vsched_parts(v, item);
  *from = v->s->start[item] + (part == NULL ? 0 : part[k].begin);
  *until = part == NULL ? queue_free(v, item) : v->s->start[item] + part[k].end;
}

static void check_durations(fs_vsched *v) {
  char name[FS_SNAME];
  const fs_schedule *s = v->s;
  for (uint32_t i = 0; i < s->n_items; i++) {
    fs_tick time = i < v->g->n_ops ? latency(v->g, i) : copy_time(v, fs_vsched_copy(v, i));
    if (s->end[i] - s->start[i] != time) {
      FS_REFUTE(v, FS_DIAG_VERIFY_DURATION, "%s takes %llu instead of %llu",
                fs_vsched_item(v, i, name), (unsigned long long)(s->end[i] - s->start[i]),
                (unsigned long long)time);
    }
    if (i < v->g->n_ops && v->g->op_start != NULL && v->g->op_start[i] != FS_TICK_NONE &&
        v->g->op_start[i] != s->start[i]) {
      FS_REFUTE(v, FS_DIAG_VERIFY_START, "%s has the given start %llu", fs_vsched_item(v, i, name),
                (unsigned long long)v->g->op_start[i]);
    }
  }
}

static const uint32_t *item_queues(const fs_vsched *v, uint32_t item, uint32_t *n) {
  uint32_t gang = item < v->g->n_ops ? v->s->op_gang[item] : FS_NONE;
  if (gang == FS_NONE) {
    *n = 1;
    return &v->s->queue[item];
  }
  *n = v->s->gang_queue0[gang + 1] - v->s->gang_queue0[gang];
  return v->s->gang_queue + v->s->gang_queue0[gang];
}

/* Whether queue order alone tells one op that another is over: both are on one queue, as a gang of
 * one is, too. */
static bool in_order(const fs_vsched *v, uint32_t before, uint32_t after) {
  uint32_t n, m;
  const uint32_t *x = item_queues(v, before, &n), *y = item_queues(v, after, &m);
  return n == 1 && m == 1 && x[0] == y[0] && !is_slow(v, before);
}

/* Finds when the epochs of each item are reached: the latest end of the items up to it on its
 * queues. */
static fs_status find_reached(fs_vsched *v, fs_tick **out) {
  const fs_schedule *s = v->s;
  fs_tick *latest, from, until;
  FS_TRY(fs_new(&v->arena, out, s->n_items));
  FS_TRY(fs_new_zero(&v->arena, &latest, s->n_queues));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i], n;
    const uint32_t *queue = item_queues(v, item, &n);
    (*out)[item] = s->end[item];
    for (uint32_t k = 0; k < n; k++) {
      taken(v, item, k, &from, &until);
      latest[queue[k]] =
          fs_max(latest[queue[k]], fs_vsched_parts(v, item) == NULL ? s->end[item] : until);
      (*out)[item] = fs_max((*out)[item], latest[queue[k]]);
    }
  }
  return FSCHED_OK;
}

/* Barriers tell of each end alone: a target that has them plans so. */
static fs_status check_precedence(fs_vsched *v) {
  fs_tick *reached = v->s->end;
  bool told_alone = fs_sync_has_barriers(v->g->target.sync);
  for (uint32_t op = 0; op < v->g->n_ops; op++) {
    v->any_slow = v->any_slow || is_slow(v, op);
  }
  if (v->any_slow && !told_alone) {
    FS_TRY(find_reached(v, &reached));
  }
  const fsched_graph *g = v->g;
  char name[FS_SNAME], other[FS_SNAME];
  for (uint32_t o = 0; o < g->n_ops; o++) {
    for (uint32_t e = g->pred0[o]; e < g->pred0[o + 1]; e++) {
      uint32_t p = g->pred[e];
      fs_vedge edge = fs_vsched_edge(v, p, o);
      if (edge.end > edge.start) {
        FS_REFUTE(v, FS_DIAG_VERIFY_PRECEDENCE, "%s starts before the end at %llu of %s",
                  fs_vsched_item(v, o, name), (unsigned long long)edge.end,
                  fs_vsched_item(v, p, other));
      } else if (v->position[p] > v->position[o]) {
        FS_REFUTE(v, FS_DIAG_VERIFY_ORDER, "%s is issued before %s, on which it depends",
                  fs_vsched_item(v, o, name), fs_vsched_item(v, p, other));
      } else if (v->any_slow && reached[p] > v->s->start[o] && !in_order(v, p, o)) {
        FS_REFUTE(
            v, FS_DIAG_VERIFY_PRECEDENCE,
            "%s starts before %llu, when the epoch of %s is reached, which slow ops before it "
            "hold back",
            fs_vsched_item(v, o, name), (unsigned long long)reached[p],
            fs_vsched_item(v, p, other));
      }
    }
  }
  return FSCHED_OK;
}

/* Checks the control edges, which were added for memory, amounts or barriers, when the schedule
 * comes with them. */
static void check_control(fs_vsched *v) {
  const fs_sync *sync = v->sync;
  char name[FS_SNAME], other[FS_SNAME];
  for (uint32_t e = 0; sync != NULL && e < sync->n_control; e++) {
    uint32_t from = sync->control_from[e], to = sync->control_to[e];
    if (v->s->end[from] > v->s->start[to]) {
      FS_REFUTE(v, FS_DIAG_VERIFY_PRECEDENCE,
                "%s starts before the end at %llu of %s, to which a control edge ties it",
                fs_vsched_item(v, to, name), (unsigned long long)v->s->end[from],
                fs_vsched_item(v, from, other));
    }
  }
}

/* --- queues --- */

static bool queue_allowed(const fs_vsched *v, uint32_t item) {
  const fs_target *t = &v->g->target;
  uint32_t domain;
  if (item < v->g->n_ops) {
    if (v->g->op_gang[item] != FS_NONE) {
      return true; /* check_gangs */
    }
    domain = v->g->op_domain[item];
  } else {
    uint32_t version = v->s->copy_version[fs_vsched_copy(v, item)];
    domain = t->memory[v->g->buffer_memory[v->g->version_buffer[version]]].spill_domain;
  }
  if (t->implicit_queues || domain == FS_NONE) {
    return true; /* a copy in a memory that cannot spill is reported elsewhere */
  }
  for (uint32_t i = t->domain_queue0[domain]; i < t->domain_queue0[domain + 1]; i++) {
    if (t->domain_queue[i] == v->s->queue[item]) {
      return true;
    }
  }
  return false;
}

/* Checks items by queue in order of issue: none starts before an item issued before it lets the
 * queue go on, at its end or, if it is slow, earlier.  A loop does both on each queue on its own.
 */
static fs_status check_queues(fs_vsched *v) {
  const fs_schedule *s = v->s;
  uint32_t *last;
  fs_tick *free_at;
  char name[FS_SNAME], other[FS_SNAME];
  FS_TRY(fs_new_none(&v->arena, &last, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &free_at, s->n_queues));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i], n;
    const uint32_t *queue = item_queues(v, item, &n);
    if (!queue_allowed(v, item)) {
      FS_REFUTE(v, FS_DIAG_VERIFY_QUEUE, "%s may not run on queue %s",
                fs_vsched_item(v, item, name), s->queue_name[s->queue[item]]);
    }
    for (uint32_t k = 0; k < n; k++) {
      uint32_t before = last[queue[k]];
      fs_tick from, until;
      taken(v, item, k, &from, &until);
      if (before != FS_NONE && free_at[queue[k]] > from) {
        FS_REFUTE(v, FS_DIAG_VERIFY_QUEUE_OVERLAP, "%s starts on %s before the end at %llu of %s",
                  fs_vsched_item(v, item, name), s->queue_name[queue[k]],
                  (unsigned long long)free_at[queue[k]], fs_vsched_item(v, before, other));
      }
      last[queue[k]] = item;
      free_at[queue[k]] = until;
    }
  }
  return FSCHED_OK;
}

/* --- amounts --- */

typedef struct amount {
  uint64_t capacity;
  fs_diag_code code;
  const char *name;
} amount;

/* Checks an amount over time.  `use[id]` is the amount that item id holds; events are of items that
 * hold some. */
static void sweep_events(fs_vsched *v, const amount *a, const fs_vevent *at, size_t n,
                         const uint64_t *use) {
  assert(n == 0 || at != NULL);
  uint64_t used = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t mine = use == NULL ? 1 : use[at[i].id];
    if (at[i].phase == FS_PHASE_END) {
      used -= mine;
      continue;
    }
    if (mine > a->capacity || used > a->capacity - mine) {
      char name[FS_SNAME];
      FS_REFUTE(v, a->code, "%s needs %llu of %s, where %llu of %llu are in use",
                fs_vsched_item(v, at[i].id, name), (unsigned long long)mine, a->name,
                (unsigned long long)used, (unsigned long long)a->capacity);
    }
    used += at[i].phase == FS_PHASE_BEGIN ? mine : 0;
  }
}

static void check_concurrency(fs_vsched *v, fs_vevent *at) {
  assert(v->g->target.concurrency > 0);
  size_t n = 0;
  for (uint32_t o = 0; o < v->g->n_ops; o++) {
    n += fs_vevents_add(at + n, v->s->start[o], v->s->end[o], o);
  }
  fs_vevents_sort(at, n);
  const amount a = {v->g->target.concurrency, FS_DIAG_VERIFY_CONCURRENCY, "the concurrency limit"};
  sweep_events(v, &a, at, n, NULL);
}

/* Resources can be as many as ops, so each looks at its own users alone. */
static fs_status check_resources(fs_vsched *v, fs_vevent *at) {
  const fsched_graph *g = v->g;
  uint32_t n_uses = g->op_use0[g->n_ops], *user, *use0, *use_id;
  uint64_t *use;
  FS_TRY(fs_new(&v->arena, &use, g->n_ops));
  FS_TRY(fs_new(&v->arena, &user, n_uses));
  for (uint32_t o = 0; o < g->n_ops; o++) {
    for (uint32_t u = g->op_use0[o]; u < g->op_use0[o + 1]; u++) {
      user[u] = o;
    }
  }
  FS_TRY(fs_group(&v->arena, g->use_resource, n_uses, g->target.n_resources, &use0, &use_id));
  for (uint32_t r = 0; r < g->target.n_resources; r++) {
    size_t n = 0;
    for (uint32_t k = use0[r]; k < use0[r + 1]; k++) {
      uint32_t o = user[use_id[k]];
      use[o] = g->use_amount[use_id[k]]; /* an op uses a resource at most once */
      n += fs_vevents_add(at + n, v->s->start[o], v->s->end[o], o);
    }
    fs_vevents_sort(at, n);
    const amount a = {g->target.resource_capacity[r], FS_DIAG_VERIFY_RESOURCE,
                      g->target.resource_name[r]};
    sweep_events(v, &a, at, n, use);
  }
  return FSCHED_OK;
}

static fs_status check_amounts(fs_vsched *v) {
  fs_vevent *at;
  if (v->g->n_ops == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&v->arena, &at, 2 * (size_t)v->g->n_ops));
  if (v->g->target.concurrency > 0) {
    check_concurrency(v, at);
  }
  return check_resources(v, at);
}

static const char *status_name(unsigned status) {
  return fs_words_schedule_status[fs_min(status, FS_SCHEDULE_INFEASIBLE)];
}

static void check_status(fs_vsched *v) {
  const fs_schedule *s = v->s;
  fs_tick last = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    last = fs_max(last, s->end[i]);
  }
  bool ok = s->makespan == last && s->lower_bound <= s->makespan &&
            (s->status != FS_SCHEDULE_OPTIMAL || s->lower_bound == s->makespan) &&
            s->status <= FS_SCHEDULE_FEASIBLE;
  if (!ok) {
    FS_REFUTE(v, FS_DIAG_VERIFY_STATUS,
              "makespan %llu, lower bound %llu and status '%s', but the last item ends at %llu",
              (unsigned long long)s->makespan, (unsigned long long)s->lower_bound,
              status_name((unsigned)s->status), (unsigned long long)last);
  }
}

/* Items: their times, queues and amounts. */
static fs_status check_items(fs_vsched *v) {
  FS_TRY(check_order(v));
  check_status(v);
  check_durations(v);
  FS_TRY(check_precedence(v));
  check_control(v);
  FS_TRY(check_queues(v));
  return check_amounts(v);
}

static fs_status verify_all(fs_vsched *v) {
  if (!ids_ok(v)) {
    return fs_fail(v->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_ORDER, FS_NOWHERE, NULL,
                   "the schedule's records refer to what is not there");
  }
  uint64_t part = fs_verify_schedule_work(v->s) / PARTS;
  FS_TRY(fs_vsched_find_loops(v));
  FS_TRY(check_gangs(v));
  FS_TRY(check_items(v));
  fs_progress_at(v->ctx, part);
  FS_TRY(fs_vsched_memory(v));
  fs_progress_at(v->ctx, 2 * part);
  return fs_vsched_values(v);
}

uint64_t fs_verify_schedule_work(const fs_schedule *s) {
  return PARTS * ((uint64_t)s->n_items / 4 + 1);
}

fs_status fs_verify_schedule(fsched_context *ctx, const fsched_graph *graph,
                             const fs_schedule *schedule, const fs_sync *sync) {
  fs_vsched v = {.ctx = ctx, .g = graph, .s = schedule, .sync = sync};
  uint32_t errors = fsched_diag_errors(ctx);
  fs_arena_init(&v.arena, ctx);
  fs_progress_begin(ctx, "verify", fs_verify_schedule_work(schedule));
  fs_status status = verify_all(&v);
  fs_arena_release(&v.arena);
  if (status == FSCHED_OK && fsched_diag_errors(ctx) != errors) {
    status = FSCHED_WRONG;
  }
  fs_progress_end(ctx, status);
  return status;
}

fsched_status fsched_verify_schedule(fsched_context *ctx, const fsched_graph *graph,
                                     const fsched_schedule *schedule) {
  return fs_verify_schedule(ctx, graph, schedule->schedule, schedule->sync);
}

fs_status fs_schedule_is_right(fsched_context *ctx, const fs_schedule *s, bool *right) {
  fsched_context *own;
  FS_TRY(fs_context_own(ctx, &own));
  fs_status status = fs_verify_schedule(own, s->graph, s, NULL);
  *right = status == FSCHED_OK;
  fsched_context_destroy(own);
  return status == FSCHED_SYSTEM ? fs_no_memory(ctx, 0) : FSCHED_OK;
}
