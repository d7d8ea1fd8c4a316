/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/rolled.h"

#include <stdlib.h>

#include "base/group.h"
#include "base/saturate.h"
#include "model/stream/stream.h"
#include "modulo/past/past.h"
#include "modulo/stops/stops.h"

_Static_assert(FS_MODULO_COPIES <= FS_LOOP_COPIES, "streams hold as many copies");

typedef struct roller {
  fsched_context *ctx;
  fs_arena *arena, scratch;
  const fs_modulo_problem *p;
  const fs_modulo_plan *plan;
  fs_rolled_loop *out;
  uint32_t n;      /* nodes: copy * ops + op */
  fs_past_loop of; /* its nodes and, once they are listed, the wants */
  FS_VEC(fs_past_want) want;
  const bool *counting; /* per queue of the target, where commands are issued; else NULL */
  fs_past_known with, without;
  bool possible;
} roller;

/* --- commands --- */

static int64_t within_period(const roller *r, uint32_t node) {
  int64_t start = r->plan->start[node];
  return start - fs_floor_div(start, r->plan->period) * r->plan->period;
}

static bool is_gang(const roller *r, uint32_t node) {
  return r->p->gang != NULL && r->p->gang[node % r->p->n];
}

/* The queues that a node takes. */
static const uint32_t *queues_of(const roller *r, uint32_t node, uint32_t *n) {
  uint32_t op = node % r->p->n;
  if (is_gang(r, node)) {
    *n = r->p->eligible0[op + 1] - r->p->eligible0[op];
    return r->p->eligible + r->p->eligible0[op];
  }
  *n = 1;
  return &r->plan->queue[node];
}

/* Sorts the nodes of a queue by their starts in the period. */
static void sort_queue(const roller *r, uint32_t *node, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    uint32_t moved = node[i], at = i;
    int64_t place = within_period(r, moved);
    for (; at > 0 && within_period(r, node[at - 1]) > place; at--) {
      node[at] = node[at - 1];
    }
    node[at] = moved;
  }
}

static fs_rolled_command make_command(const roller *r, uint32_t node, uint32_t least) {
  uint32_t op = node % r->p->n;
  return (fs_rolled_command){.member = op,
                             .copy = node / r->p->n,
                             .shift = r->plan->shift[node] - least,
                             .slow = r->p->latency[op] > r->p->time[op]};
}

/* Appends the commands of a queue, if it has any. */
static void add_queue(roller *r, uint32_t queue, const uint32_t *node, uint32_t n) {
  fs_rolled_loop *out = r->out;
  uint32_t least = n > 0 ? r->plan->shift[node[0]] : 0;
  if (n == 0) {
    return;
  }
  for (uint32_t i = 1; i < n; i++) {
    least = r->plan->shift[node[i]] < least ? r->plan->shift[node[i]] : least;
  }
  if (r->counting != NULL) { /* steps are those of all queues, of which some op starts at 0 */
    least = 0;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = out->n_commands++;
    out->command[c] = make_command(r, node[i], least);
  }
  out->queue[out->n_queues++] = queue;
  out->command0[out->n_queues] = out->n_commands;
}

/* Lists the nodes of each queue of the target. */
static fs_status list_queues(roller *r, uint32_t **first, uint32_t **node) {
  uint32_t n, *row0;
  FS_TRY(fs_new_zero(&r->scratch, &row0, (size_t)r->p->n_queues + 2));
  for (uint32_t x = 0; x < r->n; x++) {
    const uint32_t *queue = queues_of(r, x, &n);
    for (uint32_t i = 0; i < n; i++) {
      row0[queue[i] + 2]++;
    }
  }
  fs_group_sum(row0, r->p->n_queues);
  FS_TRY(fs_new(&r->scratch, node, row0[r->p->n_queues + 1]));
  for (uint32_t x = 0; x < r->n; x++) {
    const uint32_t *queue = queues_of(r, x, &n);
    for (uint32_t i = 0; i < n; i++) {
      (*node)[row0[queue[i] + 1]++] = x;
    }
  }
  *first = row0;
  return FSCHED_OK;
}

static fs_status make_commands(roller *r) {
  fs_rolled_loop *out = r->out;
  uint32_t *first, *node;
  FS_TRY(list_queues(r, &first, &node));
  uint32_t n = first[r->p->n_queues];
  FS_TRY(fs_new(r->arena, &out->queue, r->p->n_queues));
  FS_TRY(fs_new_zero(r->arena, &out->command0, (size_t)r->p->n_queues + 1));
  FS_TRY(fs_new(r->arena, &out->command, n));
  for (uint32_t q = 0; q < r->p->n_queues; q++) {
    sort_queue(r, node + first[q], first[q + 1] - first[q]);
    add_queue(r, q, node + first[q], first[q + 1] - first[q]);
  }
  FS_TRY(fs_past_begin(&r->scratch, out, r->p->n, &r->of));
  r->of.apart = !r->p->held_back && r->counting == NULL;
  return FSCHED_OK;
}

/* --- what is wanted --- */

/* The planned start of an op's iteration; the largest number where it is that or more. */
static uint64_t planned_start(const fs_modulo_plan *plan, uint32_t n, uint32_t op, uint32_t i) {
  uint64_t turns = fs_multiply_most(i / plan->copies, (uint64_t)plan->period);
  return fs_add_most((uint64_t)plan->start[i % plan->copies * n + op], turns);
}

/* Whether all that read what is there on entry are over, as planned, before its slot is taken. With
 * several copies an earlier iteration of a reader may come later; with one it does not. */
static bool entries_are_read(const roller *r) {
  const fs_modulo_problem *q = r->p;
  for (uint32_t v = 0; v < q->n_rings && r->plan->copies > 1; v++) {
    uint32_t writer = q->ring[v].writer, depth = r->plan->depth[v];
    uint64_t taken = planned_start(r->plan, q->n, writer, depth - 1);
    for (uint32_t k = q->reader0[v]; k < q->reader0[v + 1]; k++) {
      for (uint32_t i = 0; i < q->reader[k].back && i + 1 < depth; i++) {
        uint32_t op = q->reader[k].op;
        uint64_t lasts = fs_multiply_most(q->latency[op], (uint64_t)r->plan->scale);
        uint64_t end = fs_add_most(planned_start(r->plan, q->n, op, i), lasts);
        if (end > taken || end == UINT64_MAX) { /* or it is not known */
          return false;
        }
      }
    }
  }
  return true;
}

static fs_status add_want(roller *r, uint32_t from, uint32_t to, int64_t distance) {
  return fs_vec_push(r->ctx, &r->want, ((fs_past_want){from, to, distance, false}));
}

/* An order of iterations, for all copies. */
static fs_status want_order(roller *r, uint32_t from, uint32_t to, uint32_t distance) {
  uint32_t u = r->out->copies, n = r->p->n;
  for (uint32_t c = 0; c < u; c++) {
    uint32_t before = (c + u - distance % u) % u;
    FS_TRY(add_want(r, before * n + from, c * n + to, distance));
  }
  return FSCHED_OK;
}

/* What is there on entry lies in the last slot, where the first iterations read it before iteration
 * depth - 1 begins a version there: with several copies, not all of them come before a reader for
 * which a wait is there already. */
static fs_status want_entry(roller *r, uint32_t reader, uint32_t writer, uint32_t least,
                            uint32_t depth) {
  uint32_t u = r->out->copies, n = r->p->n;
  for (uint32_t d = least + 1; d < depth && d < least + u; d++) {
    FS_TRY(add_want(r, (depth - 1 - d) % u * n + reader, (depth - 1) % u * n + writer, d));
  }
  return FSCHED_OK;
}

/* The writer takes slots that were given back at once: what each of them has is then known. */
static fs_status want_returns(roller *r, uint32_t ring, const fs_modulo_reader *reader) {
  const fs_modulo_ring *x = &r->p->ring[ring];
  uint32_t u = r->out->copies, n = r->p->n, every = x->every;
  assert(u % every == 0 && r->plan->depth[ring] + 1 >= every + reader->back);
  uint32_t distance = r->plan->depth[ring] + 1 - every - reader->back;
  for (uint32_t c = r->plan->depth[ring] % every; c < u; c += every) {
    uint32_t before = (c + u - distance % u) % u;
    FS_TRY(add_want(r, before * n + reader->op, c * n + x->writer, distance));
  }
  return FSCHED_OK;
}

/* The writer works in place, and in the first iterations in that of what is there on entry. */
static fs_status want_in_place(roller *r, uint32_t writer, uint32_t depth) {
  uint32_t u = r->out->copies, n = r->p->n, to = fs_modulo_entry_copy(depth, u);
  for (uint32_t e = 1; e <= fs_modulo_entries(depth, u); e++) {
    FS_TRY(add_want(r, (to + u - e) % u * n + writer, to * n + writer, e));
  }
  return FSCHED_OK;
}

static fs_status want_rings(roller *r) {
  const fs_modulo_problem *p = r->p;
  for (uint32_t k = 0; k < p->n_rings; k++) {
    uint32_t writer = p->ring[k].writer, depth = r->plan->depth[k];
    if (p->ring[k].inside) {
      continue;
    }
    for (uint32_t i = p->reader0[k]; i < p->reader0[k + 1]; i++) {
      const fs_modulo_reader *reader = &p->reader[i];
      assert(depth >= reader->back);
      if (reader->op != writer || depth > reader->back) { /* else it works in place */
        FS_TRY(want_order(r, reader->op, writer, depth - reader->back));
        FS_TRY(want_entry(r, reader->op, writer, depth - reader->back, depth));
        FS_TRY(p->ring[k].every > 1 ? want_returns(r, k, reader) : FSCHED_OK);
      }
    }
    FS_TRY(want_order(r, writer, writer, depth));
    FS_TRY(p->ring[k].in_place ? want_in_place(r, writer, depth) : FSCHED_OK);
  }
  return FSCHED_OK;
}

/* Lists the nodes that take each lane of all resources, by their starts in the period. */
static fs_status list_lanes(roller *r, uint32_t n_lanes, const uint32_t *lane0, uint32_t **first,
                            uint32_t **node) {
  const fs_modulo_problem *p = r->p;
  const fs_modulo_plan *plan = r->plan;
  FS_TRY(fs_new_zero(&r->scratch, first, (size_t)n_lanes + 2));
  FS_TRY(fs_new(&r->scratch, node, plan->lane0[r->n]));
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t x = 0; x < r->n; x++) {
      uint32_t at = plan->lane0[x], op = x % p->n;
      for (uint32_t k = p->use0[op]; k < p->use0[op + 1]; k++) {
        for (uint32_t i = 0; i < p->use[k].amount; i++, at++) {
          uint32_t lane = lane0[p->use[k].resource] + plan->lane[at];
          if (pass == 0) {
            (*first)[lane + 2]++;
          } else {
            (*node)[(*first)[lane + 1]++] = x;
          }
        }
      }
    }
    if (pass == 0) {
      fs_group_sum(*first, n_lanes);
    }
  }
  for (uint32_t l = 0; l < n_lanes; l++) {
    sort_queue(r, *node + (*first)[l], (*first)[l + 1] - (*first)[l]);
  }
  return FSCHED_OK;
}

/* The next node on a lane comes after this one is over. */
static fs_status want_next(roller *r, uint32_t a, uint32_t b, bool wraps) {
  uint32_t n = r->p->n;
  int64_t periods = (int64_t)r->plan->shift[a] - r->plan->shift[b] + wraps;
  int64_t distance = periods * r->out->copies + (int64_t)(b / n) - (int64_t)(a / n);
  r->possible = r->possible && distance >= 0;
  return r->possible ? add_want(r, a, b, distance) : FSCHED_OK;
}

static fs_status want_lanes(roller *r) {
  const fs_modulo_problem *p = r->p;
  uint32_t *lane0, *first, *node;
  if (p->use0 == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&r->scratch, &lane0, (size_t)p->n_resources + 1));
  for (uint32_t k = 0; k < p->n_resources; k++) {
    lane0[k + 1] = lane0[k] + p->lanes[k];
  }
  uint32_t n_lanes = lane0[p->n_resources];
  FS_TRY(list_lanes(r, n_lanes, lane0, &first, &node));
  for (uint32_t l = 0; l < n_lanes && r->possible; l++) {
    uint32_t n = first[l + 1] - first[l];
    for (uint32_t i = 0; i < n; i++) {
      FS_TRY(want_next(r, node[first[l] + i], node[first[l] + (i + 1) % n], i + 1 == n));
    }
  }
  return FSCHED_OK;
}

static int by_ends(const void *a, const void *b) {
  const fs_past_want *x = a, *y = b;
  if (x->to != y->to || x->from != y->from) {
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from < y->from ? -1 : 1);
  }
  return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Of what is wanted for two nodes, the least distance says all. */
static fs_status list_wants(roller *r) {
  for (uint32_t e = 0; e < r->p->n_edges; e++) {
    const fs_modulo_edge *x = &r->p->edge[e];
    FS_TRY(want_order(r, x->from, x->to, x->distance));
  }
  FS_TRY(want_rings(r));
  FS_TRY(want_lanes(r));
  size_t n = 0;
  if (r->want.n > 1) {
    qsort(r->want.at, r->want.n, sizeof *r->want.at, by_ends);
  }
  for (size_t i = 0; i < r->want.n; i++) {
    const fs_past_want *w = &r->want.at[i];
    bool exists = r->p->trip == 0 || w->distance < 0 || (uint64_t)w->distance < r->p->trip;
    bool first = n == 0 || w->from != r->want.at[n - 1].from || w->to != r->want.at[n - 1].to;
    if (exists && first) {
      r->want.at[n++] = *w;
    }
  }
  r->want.n = n;
  return fs_past_orders(&r->scratch, r->want.at, (uint32_t)n, &r->of);
}

/* --- what is known --- */

static bool same_known(const roller *r) {
  size_t bytes = r->n * sizeof *r->with.over;
  return memcmp(r->with.over, r->without.over, bytes) == 0 &&
         memcmp(r->with.started, r->without.started, bytes) == 0;
}

/* Whether all that is wanted is known. */
static bool all_known(roller *r) {
  for (uint32_t x = 0; x < r->n; x++) {
    if (r->of.into0[x] < r->of.into0[x + 1]) {
      fs_past_find(&r->of, &r->with, x, FS_NONE);
    }
    for (uint32_t i = r->of.into0[x]; i < r->of.into0[x + 1]; i++) {
      const fs_past_want *w = &r->want.at[r->of.into[i]];
      if (r->with.over[w->from] > w->distance) {
        return false;
      }
    }
  }
  return true;
}

/* Leaves a wait out, if the others say what it does. */
static void try_without(roller *r, uint32_t at) {
  fs_past_want *w = &r->want.at[at];
  if (w->dropped) {
    return;
  }
  fs_past_find(&r->of, &r->without, w->to, at);
  if (r->without.over[w->from] > w->distance) {
    return;
  }
  fs_past_find(&r->of, &r->with, w->to, FS_NONE);
  w->dropped = true;
  if (!same_known(r) && (r->n > FS_ROLLED_EXACT || !all_known(r))) {
    w->dropped = false;
  }
}

typedef struct drop_order {
  int64_t distance;
  uint32_t want;
} drop_order;

/* Those for the longest ago come first. */
static int by_distance(const void *a, const void *b) {
  const drop_order *x = a, *y = b;
  return x->distance != y->distance ? (x->distance > y->distance ? -1 : 1)
         : x->want < y->want        ? -1
                                    : x->want > y->want;
}

static fs_status leave_out(roller *r) {
  drop_order *order;
  uint32_t n = (uint32_t)r->want.n;
  FS_TRY(fs_past_new(&r->scratch, &r->of, &r->with));
  FS_TRY(fs_past_new(&r->scratch, &r->of, &r->without));
  FS_TRY(fs_new(&r->scratch, &order, n));
  for (uint32_t i = 0; i < n; i++) {
    order[i] = (drop_order){r->want.at[i].distance, i};
    r->want.at[i].dropped = fs_past_by_queue(&r->of, &r->want.at[i]);
  }
  if (n > 1) {
    qsort(order, n, sizeof *order, by_distance);
  }
  for (uint32_t i = 0; i < n; i++) {
    try_without(r, order[i].want);
  }
  return FSCHED_OK;
}

/* --- the result --- */

/* The first command of a node has its waits. */
static fs_status write_waits(roller *r) {
  fs_rolled_loop *out = r->out;
  FS_TRY(fs_new(r->arena, &out->wait, r->want.n));
  for (uint32_t c = 0; c < out->n_commands; c++) {
    uint32_t node = fs_past_node(&r->of, c);
    out->command[c].wait0 = out->n_waits;
    for (uint32_t i = r->of.into0[node];
         i < r->of.into0[node + 1] && fs_past_first(&r->of, node) == c; i++) {
      const fs_past_want *w = &r->want.at[r->of.into[i]];
      if (!w->dropped) {
        out->wait[out->n_waits++] =
            (fs_rolled_wait){fs_past_first(&r->of, w->from), (uint32_t)w->distance};
      }
    }
    out->command[c].n_waits = out->n_waits - out->command[c].wait0;
  }
  return FSCHED_OK;
}

static fs_status write_rings(roller *r) {
  const fs_modulo_problem *p = r->p;
  fs_rolled_loop *out = r->out;
  uint32_t n = p->n_rings == 0 ? 0 : p->reader0[p->n_rings];
  out->n_rings = p->n_rings;
  FS_TRY(fs_new(r->arena, &out->ring, p->n_rings));
  FS_TRY(fs_new(r->arena, &out->reader, n));
  for (uint32_t k = 0; k < p->n_rings; k++) {
    out->ring[k] = (fs_rolled_ring){p->ring[k].writer, r->plan->depth[k], p->reader0[k],
                                    p->reader0[k + 1] - p->reader0[k]};
  }
  for (uint32_t i = 0; i < n; i++) {
    out->reader[i] = (fs_rolled_reader){p->reader[i].op, p->reader[i].back};
  }
  return FSCHED_OK;
}

/* --- what is issued --- */

/* Sorts all nodes by their starts in the period, as each queue does, and gives their commands
 * places: *place and *command are of nodes. */
static fs_status order_issue(roller *r, uint32_t **place, uint32_t **command) {
  uint32_t *node, at = 0;
  FS_TRY(fs_new(&r->scratch, &node, r->n));
  FS_TRY(fs_new(&r->scratch, place, r->n));
  FS_TRY(fs_new(&r->scratch, command, r->n));
  for (uint32_t x = 0; x < r->n; x++) {
    node[x] = x;
  }
  sort_queue(r, node, r->n);
  for (uint32_t i = 0; i < r->n; i++) {
    (*place)[node[i]] = i;
    (*command)[i] = at;
    for (uint32_t k = r->of.node0[node[i]]; k < r->of.node0[node[i] + 1]; k++) {
      r->out->command[r->of.of_node[k]].issue = at++;
    }
  }
  assert(at == r->out->n_commands);
  return FSCHED_OK;
}

/* What is between two nodes of a want, and whether that is more than nothing. */
static bool find_arc(const roller *r, const fs_past_want *w, const uint32_t *place,
                     fs_stop_arc *out) {
  uint32_t first = fs_past_first(&r->of, w->from), q = r->of.queue_of[first], n = r->p->n;
  int64_t copies = (int64_t)(w->from / n) - (int64_t)(w->to / n);
  int64_t steps = (w->distance + copies) / r->out->copies + (int64_t)r->plan->shift[w->to] -
                  (int64_t)r->plan->shift[w->from];
  int64_t length = steps * r->n + (int64_t)place[w->to] - (int64_t)place[w->from];
  *out = (fs_stop_arc){{place[w->from], (uint64_t)length},
                       r->counting[r->out->queue[q]] ? q : FS_NONE};
  return length > 0;
}

/* Lists the places of each queue's nodes. */
static fs_status list_places(const roller *r, fs_arena *scratch, const uint32_t *place,
                             fs_stop_order *out) {
  uint32_t *at;
  FS_TRY(fs_new(scratch, &at, r->out->n_commands));
  for (uint32_t c = 0; c < r->out->n_commands; c++) {
    at[c] = place[fs_past_node(&r->of, c)];
  }
  out->queue0 = r->out->command0;
  out->queue = at;
  return FSCHED_OK;
}

static fs_status write_stops(roller *r) {
  uint32_t *place, *command, n = 0;
  fs_stop_arc *arc;
  fs_stop_order order = {.n = r->n};
  FS_TRY(order_issue(r, &place, &command));
  FS_TRY(list_places(r, &r->scratch, place, &order));
  FS_TRY(fs_new(&r->scratch, &arc, r->want.n));
  for (size_t i = 0; i < r->want.n && r->possible; i++) {
    if (!r->want.at[i].dropped) {
      r->possible = find_arc(r, &r->want.at[i], place, &arc[n++]);
    }
  }
  order.command = command;
  r->out->issued = true;
  return r->possible ? fs_modulo_stops(r->ctx, r->arena, &order, arc, n, r->out) : FSCHED_OK;
}

static fs_status roll(roller *r) {
  r->possible = r->counting != NULL || entries_are_read(r); /* the order of issue says it then */
  FS_TRY(make_commands(r));
  FS_TRY(list_wants(r));
  if (!r->possible) {
    return FSCHED_OK;
  }
  FS_TRY(leave_out(r));
  FS_TRY(write_waits(r));
  FS_TRY(r->counting == NULL ? FSCHED_OK : write_stops(r));
  return write_rings(r);
}

/* Lists what is wanted, which takes the commands. */
static fs_status list_edges(roller *r, fs_modulo_edge **want, uint32_t *n) {
  FS_TRY(make_commands(r));
  FS_TRY(list_wants(r));
  *n = (uint32_t)r->want.n;
  FS_TRY(fs_new(r->arena, want, r->want.n));
  for (uint32_t i = 0; i < *n; i++) {
    const fs_past_want *w = &r->want.at[i];
    (*want)[i] = (fs_modulo_edge){w->from, w->to, (uint32_t)w->distance};
  }
  return FSCHED_OK;
}

static void begin_roller(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                         const fs_modulo_plan *plan, fs_rolled_loop *out, roller *r) {
  *out = (fs_rolled_loop){.copies = plan->copies};
  *r = (roller){.ctx = ctx,
                .arena = arena,
                .p = p,
                .plan = plan,
                .out = out,
                .n = plan->copies * p->n,
                .possible = true};
  fs_arena_init(&r->scratch, ctx);
}

static fs_status end_roller(roller *r, fs_status status, bool *possible) {
  *possible = r->possible;
  fs_vec_free(r->ctx, &r->want);
  fs_arena_release(&r->scratch);
  return status;
}

fs_status fs_modulo_rolled(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, fs_rolled_loop *out, bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  roller r;
  begin_roller(ctx, arena, p, plan, out, &r);
  return end_roller(&r, roll(&r), possible);
}

fs_status fs_modulo_issued(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, const bool *counting, fs_rolled_loop *out,
                           bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0 && counting != NULL);
  roller r;
  begin_roller(ctx, arena, p, plan, out, &r);
  r.counting = counting;
  return end_roller(&r, roll(&r), possible);
}

fs_status fs_modulo_wants(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          const fs_modulo_plan *plan, fs_modulo_edge **want, uint32_t *n,
                          bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  fs_rolled_loop commands; /* are not asked for */
  roller r;
  begin_roller(ctx, arena, p, plan, &commands, &r);
  return end_roller(&r, list_edges(&r, want, n), possible);
}
