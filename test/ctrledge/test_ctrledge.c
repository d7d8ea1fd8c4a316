/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges: the sweep and the lanes on their own, and whole runs over the shared facts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrledge/ctrledge.h"
#include "ctrledge/lanes.h"
#include "ctrledge/sweep.h"
#include "kit/gen.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

enum { MAX = 64 };

/* --- the sweep --- */

typedef struct pairs {
  bool at[MAX][MAX];
} pairs;

static fs_status note_pair(void *user, uint32_t earlier, uint32_t later) {
  pairs *p = user;
  ck_assert_msg(!p->at[earlier][later], "contact %u %u twice", earlier, later);
  p->at[earlier][later] = true;
  return FSCHED_OK;
}

/* On every unit of address, consecutive rectangles by (begin, end, id) are a pair. */
static void brute_pairs(const fs_rect *r, uint32_t n, uint64_t top, pairs *out) {
  memset(out, 0, sizeof *out);
  for (uint64_t a = 0; a < top; a++) {
    for (uint32_t i = 0; i < n; i++) {
      uint32_t latest = FS_NONE; /* the one before i */
      for (uint32_t k = 0; k < n; k++) {
        if (r[k].space != r[i].space || a < r[k].low || a >= r[k].high || a < r[i].low ||
            a >= r[i].high || k == i) {
          continue;
        }
#define BEFORE(x, y)            \
  (r[x].begin < r[y].begin ||   \
   (r[x].begin == r[y].begin && \
    (r[x].end < r[y].end || (r[x].end == r[y].end && r[x].id < r[y].id))))
        if (BEFORE(k, i) && (latest == FS_NONE || BEFORE(latest, k))) {
          latest = k;
        }
#undef BEFORE
      }
      if (latest != FS_NONE) {
        out->at[r[latest].id][r[i].id] = true;
      }
    }
  }
}

static void assert_contacts(const fs_rect *r, uint32_t n, const pairs *expected, const char *what) {
  fs_rect copy[MAX];
  memcpy(copy, r, n * sizeof *r);
  pairs got = {0};
  ck_assert_int_eq(fs_sweep_contacts(ctx, copy, n, n, note_pair, &got), FSCHED_OK);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < n; k++) {
      ck_assert_msg(got.at[i][k] == expected->at[i][k], "%s: %s contact %u %u", what,
                    got.at[i][k] ? "false" : "missing", i, k);
    }
  }
  fsched_diag_clear(ctx);
}

START_TEST(sweep_against_brute_force)
{
  fs_rng rng = {7};
  for (int round = 0; round < 3000; round++) {
    uint32_t n = 1 + fs_rng_below(&rng, 40);
    uint32_t times = 1 + fs_rng_below(&rng, 40);
    fs_rect r[MAX];
    for (uint32_t i = 0; i < n; i++) {
      uint64_t begin = fs_rng_below(&rng, times);
      uint64_t low = fs_rng_below(&rng, 30);
      r[i] = (fs_rect){.begin = begin,
                       .end = begin + fs_rng_below(&rng, 5),
                       .low = low,
                       .high = low + fs_rng_below(&rng, 12),
                       .space = fs_rng_below(&rng, 2),
                       .id = i};
    }
    pairs expected;
    brute_pairs(r, n, 50, &expected);
    assert_contacts(r, n, &expected, "random");
  }
}
END_TEST

/* --- lanes --- */

typedef struct lane_check {
  const fs_holder *holder;
  uint32_t n;
  FS_VEC(fs_lane_piece) piece;
  bool *contact; /* earlier * n + later */
  fsched_context *ctx;
} lane_check;

static fs_status note_contact(void *user, uint32_t earlier, uint32_t later) {
  lane_check *c = user;
  ck_assert_uint_lt(earlier, later);
  c->contact[earlier * c->n + later] = true;
  return FSCHED_OK;
}

static fs_status note_piece(void *user, fs_lane_piece piece) {
  lane_check *c = user;
  if (c->piece.n > 0 && c->piece.at[c->piece.n - 1].holder == piece.holder) {
    ck_assert_uint_lt(c->piece.at[c->piece.n - 1].high, piece.low);
  }
  return fs_vec_push(c->ctx, &c->piece, piece);
}

/* Amounts are there, a unit never has two holders at once, and a unit's owners are ordered. */
static void check_lanes(lane_check *c, uint64_t capacity) {
  uint32_t n = c->n;
  uint64_t *sum = calloc(n, sizeof *sum);
  for (uint32_t k = 0; k < n; k++) { /* the closure of contacts, which go forward */
    for (uint32_t i = 0; i < k; i++) {
      for (uint32_t j = k + 1; j < n && c->contact[i * n + k]; j++) {
        c->contact[i * n + j] = c->contact[i * n + j] || c->contact[k * n + j];
      }
    }
  }
  for (size_t i = 0; i < c->piece.n; i++) {
    fs_lane_piece p = c->piece.at[i];
    ck_assert(p.low < p.high && p.high <= capacity);
    sum[p.holder] += p.high - p.low;
    for (size_t k = 0; k < i; k++) {
      fs_lane_piece q = c->piece.at[k];
      if (q.low < p.high && p.low < q.high) {
        ck_assert(q.holder < p.holder && c->holder[q.holder].end <= c->holder[p.holder].begin);
        ck_assert_msg(c->contact[q.holder * n + p.holder], "%u and %u are not ordered", q.holder,
                      p.holder);
      }
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_uint_eq(sum[i], c->holder[i].amount);
  }
  free(sum);
}

/* Draws random holders, in order of begin, that fit `capacity` at every time. */
static uint32_t random_holders(fs_rng *rng, fs_holder *h, uint32_t n, uint64_t capacity,
                               uint32_t largest) {
  uint32_t made = 0;
  uint64_t now = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t amount = fs_min(capacity, 1 + fs_rng_below(rng, largest));
    if (largest > 1000) { /* the same near the largest amounts */
      amount *= (uint64_t)1 << 20;
    }
    now += fs_rng_below(rng, 3);
    for (;; now++) { /* what is held at `now`, also by holders without length that start then */
      uint64_t held = 0;
      for (uint32_t k = 0; k < made; k++) {
        held += h[k].end > now ? h[k].amount : 0;
      }
      if (held + amount <= capacity) {
        break;
      }
    }
    h[made] = (fs_holder){now, now + fs_rng_below(rng, 12), made, made, amount, made, made};
    made++;
  }
  return made;
}

static void lanes_round(fs_rng *rng, uint64_t capacity, uint32_t largest) {
  enum { N = 150 };
  fs_holder holder[N];
  uint32_t n = random_holders(rng, holder, N, capacity, largest);
  uint32_t queue[N];
  uint32_t gang[N];
  uint32_t pred0[N + 1] = {0};
  uint32_t pred[N];
  uint32_t data0[N + 1] = {0};
  /* Every op comes after one op that has ended, if there is any. */
  for (uint32_t i = 0; i < N; i++) {
    queue[i] = fs_rng_below(rng, 5);
    gang[i] = FS_NONE;
    uint32_t p = i > 0 ? fs_rng_below(rng, i) : 0;
    pred0[i + 1] = pred0[i];
    if (i > 0 && holder[p].end <= holder[i].begin) {
      pred[pred0[i + 1]++] = p;
    }
  }
  fsched_graph g = {.n_ops = N, .op_gang = gang, .pred0 = pred0, .pred = pred};
  fs_schedule s = {.graph = &g, .n_items = N, .n_queues = 5, .queue = queue, .op_gang = gang};
  fs_accesses acc = {.data0 = data0};
  lane_check c = {.holder = holder, .n = n, .ctx = ctx};
  c.contact = calloc((size_t)n * n, sizeof *c.contact);
  fs_lane_sink sink = {&c, note_contact, note_piece};
  ck_assert_int_eq(fs_lanes_allot(ctx, &s, &acc, capacity, holder, n, &sink), FSCHED_OK);
  check_lanes(&c, capacity);
  free(c.contact);
  fs_vec_free(ctx, &c.piece);
  fsched_diag_clear(ctx);
}

START_TEST(lanes_cover_amounts_in_order)
{
  fs_rng rng = {11};
  for (int round = 0; round < 150; round++) {
    uint32_t largest = 1 + fs_rng_below(&rng, 12);
    lanes_round(&rng, largest + fs_rng_below(&rng, 20), largest);
    lanes_round(&rng, FSCHED_MAX_SIZE, 1u << 28);
  }
}
END_TEST

/* Ops of one queue that follow each other need no orders between queues when there are lanes
 * enough. */
START_TEST(lanes_follow_queues)
{
  enum { N = 40 };
  fs_holder holder[N];
  uint32_t queue[N];
  uint32_t gang[N];
  uint32_t zero[N + 1] = {0};
  for (uint32_t i = 0; i < N; i++) {
    uint64_t begin = i / 4 * 10;
    holder[i] = (fs_holder){begin, begin + 10, i, i, 1, i, i};
    queue[i] = (i * 3 + i / 4) % 4;
    gang[i] = FS_NONE;
  }
  fsched_graph g = {.n_ops = N, .op_gang = gang, .pred0 = zero};
  fs_schedule s = {.graph = &g, .n_items = N, .n_queues = 4, .queue = queue, .op_gang = gang};
  fs_accesses acc = {.data0 = zero};
  lane_check c = {.holder = holder, .n = N, .ctx = ctx};
  c.contact = calloc(N * N, sizeof *c.contact);
  fs_lane_sink sink = {&c, note_contact, note_piece};
  ck_assert_int_eq(fs_lanes_allot(ctx, &s, &acc, 4, holder, N, &sink), FSCHED_OK);
  for (uint32_t i = 0; i < N; i++) {
    for (uint32_t k = 0; k < N; k++) {
      ck_assert(!c.contact[i * N + k] || queue[i] == queue[k]);
    }
  }
  free(c.contact);
  fs_vec_free(ctx, &c.piece);
}
END_TEST

/* --- whole runs over schedules made by hand --- */

/* A case: ops with times, places in one memory with the ops that write and read them, and the
 * expected edges. */
typedef struct ctrledge_hand {
  uint32_t n_ops, n_places, n_edges;
  char op[MAX][16], place[MAX][16];
  uint64_t start[MAX], end[MAX], low[MAX], high[MAX];
  bool writes[MAX][MAX], reads[MAX][MAX]; /* op, place */
  uint32_t from[MAX], to[MAX];
  uint32_t after[MAX]; /* per op: 1 + another op that it comes after, or 0 */
} ctrledge_hand;

static uint32_t find_name(char names[][16], uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++) {
    if (strcmp(names[i], name) == 0) {
      return i;
    }
  }
  ck_abort_msg("no %s", name);
  return FS_NONE;
}

/* Makes the graph: each place is a buffer; its first writer makes it, further writers write it in
 * place without being ordered (raw hazards), and readers read it.  Readers wait for the last writer
 * by their tag, and for the others by `after` where the case says so. */
static fsched_graph *hand_graph(const ctrledge_hand *h) {
  fsched_builder *b;
  ck_assert_int_eq(fsched_builder_create(ctx, "case", &b), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_hazards(b, FSCHED_HAZARDS_RAW), FSCHED_OK);
  uint32_t id;
  for (uint32_t q = 0; q < h->n_ops; q++) {
    fsched_queue_desc d = {.size = sizeof d, .name = h->op[q], .queue_class = h->op[q]};
    ck_assert_int_eq(fsched_builder_queue(b, &d, &id), FSCHED_OK);
  }
  fsched_memory_desc m = {.size = sizeof m, .name = "m", .capacity = 1u << 30};
  ck_assert_int_eq(fsched_builder_memory(b, &m, &id), FSCHED_OK);
  uint32_t buffer[MAX];
  for (uint32_t p = 0; p < h->n_places; p++) {
    fsched_buffer_desc d = {.size = sizeof d, .name = h->place[p], .bytes = h->high[p] - h->low[p]};
    ck_assert_int_eq(fsched_builder_buffer(b, &d, &buffer[p]), FSCHED_OK);
  }
  bool made[MAX] = {false};
  for (uint32_t o = 0; o < h->n_ops; o++) {
    fsched_op_desc d = {.size = sizeof d,
                        .name = h->op[o],
                        .on = h->op[o],
                        .has_time = 1,
                        .time = h->end[o] - h->start[o]};
    ck_assert_int_eq(fsched_builder_op(b, &d, &id), FSCHED_OK);
    if (h->after[o] > 0) {
      ck_assert_int_eq(fsched_builder_after(b, o, h->after[o] - 1), FSCHED_OK);
    }
    for (uint32_t p = 0; p < h->n_places; p++) {
      fsched_arg_desc a = {.size = sizeof a, .buffer = buffer[p], .tag = FSCHED_IN};
      if (h->reads[o][p]) {
        ck_assert_int_eq(fsched_builder_arg(b, o, &a), FSCHED_OK);
        for (uint32_t e = 0; e < h->n_edges; e++) {
          if (h->to[e] == o && h->writes[h->from[e]][p]) {
            ck_assert_int_eq(fsched_builder_after(b, o, h->from[e]), FSCHED_OK);
          }
        }
      }
      if (h->writes[o][p]) {
        a.tag = made[p] ? FSCHED_OUT_EXISTING : FSCHED_OUT;
        made[p] = true;
        ck_assert_int_eq(fsched_builder_arg(b, o, &a), FSCHED_OK);
      }
    }
  }
  fsched_graph *g;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

/* Makes the schedule: op o is on its own queue, places are as given, and residencies are in order
 * of begin. */
static void hand_schedule(const ctrledge_hand *h, const fsched_graph *g, fs_schedule *s,
                          uint32_t *memory) {
  static const uint32_t none = FS_NONE;
  uint32_t n_args = g->n_args;
  uint32_t *mem = memory; /* one block for all u32 arrays */
  s->graph = g;
  s->op_gang = g->op_gang;
  s->n_queues = s->n_items = h->n_ops;
  s->queue = mem;
  s->order = mem + MAX;
  for (uint32_t o = 0; o < h->n_ops; o++) {
    s->queue[o] = s->order[o] = o;
  }
  s->n_residencies = h->n_places;
  s->res_version = mem + 2 * MAX;
  s->res_op = mem + 3 * MAX;
  s->res_memory = mem + 4 * MAX;
  s->arg_residency = mem + 5 * MAX;
  s->scratch_residency = mem + 5 * MAX;
  uint32_t rank[MAX];
  for (uint32_t p = 0; p < h->n_places; p++) { /* by first writer, then by id */
    rank[p] = 0;
    for (uint32_t k = 0; k < h->n_places; k++) {
      uint32_t a = 0, c = 0;
      for (; !h->writes[a][p]; a++) {
      }
      for (; !h->writes[c][k]; c++) {
      }
      rank[p] += c < a || (c == a && k < p);
    }
  }
  for (uint32_t p = 0; p < h->n_places; p++) {
    uint32_t r = rank[p];
    s->res_version[r] = g->buffer_version0[p];
    s->res_op[r] = none;
    s->res_memory[r] = 0;
    s->res_address[r] = h->low[p];
    s->res_size[r] = h->high[p] - h->low[p];
    s->res_begin[r] = FS_TICK_NONE;
    s->res_end[r] = 0;
    for (uint32_t o = 0; o < h->n_ops; o++) {
      if (h->reads[o][p] || h->writes[o][p]) {
        s->res_begin[r] = fs_min(s->res_begin[r], s->start[o]);
        s->res_end[r] = fs_max(s->res_end[r], s->end[o]);
      }
    }
  }
  for (uint32_t a = 0; a < n_args; a++) {
    s->arg_residency[a] = rank[g->arg_buffer[a]];
  }
}

static void close_pairs(pairs *p, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t i = 0; i < n; i++) {
      for (uint32_t j = 0; j < n; j++) {
        p->at[i][j] = p->at[i][j] || (p->at[i][k] && p->at[k][j]);
      }
    }
  }
}

/* All expected orders are there, and every control edge is one of them. */
static void hand_compare(const ctrledge_hand *h, const fsched_graph *g, const fs_sync *y,
                         const char *name) {
  pairs got = {0};
  pairs expected = {0};
  for (uint32_t i = 0; i < h->n_edges; i++) {
    expected.at[h->from[i]][h->to[i]] = true;
  }
  close_pairs(&expected, g->n_ops);
  for (uint32_t o = 0; o < g->n_ops; o++) {
    for (uint32_t i = g->pred0[o]; i < g->pred0[o + 1]; i++) {
      got.at[g->pred[i]][o] = true;
    }
  }
  for (uint32_t i = 0; i < y->n_control; i++) {
    uint32_t from = y->control_from[i];
    uint32_t to = y->control_to[i];
    ck_assert_uint_eq(y->control_why[i], FS_WHY_REUSE);
    ck_assert_msg(expected.at[from][to], "%s: %s before %s is too much", name, h->op[from],
                  h->op[to]);
    got.at[from][to] = true;
  }
  close_pairs(&got, g->n_ops);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    for (uint32_t j = 0; j < g->n_ops; j++) {
      ck_assert_msg(got.at[i][j] || !expected.at[i][j], "%s: %s is not before %s", name, h->op[i],
                    h->op[j]);
    }
  }
}

/* Checks a case, and returns the number of its control edges. */
static uint32_t hand_check(const ctrledge_hand *h, const char *name) {
  fsched_graph *g = hand_graph(h);
  uint64_t ticks[6][MAX];
  uint32_t ids[8 * MAX];
  fs_schedule s = {.start = ticks[0],
                   .end = ticks[1],
                   .res_address = ticks[2],
                   .res_size = ticks[3],
                   .res_begin = ticks[4],
                   .res_end = ticks[5]};
  memcpy(s.start, h->start, sizeof h->start);
  memcpy(s.end, h->end, sizeof h->end);
  hand_schedule(h, g, &s, ids);
  fs_sync y = {.schedule = &s};
  fs_arena_init(&y.arena, ctx);
  ck_assert_int_eq(fs_ctrledge_run(ctx, &s, NULL, &y), FSCHED_OK);
  hand_compare(h, g, &y, name);
  fs_arena_release(&y.arena);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return y.n_control;
}

/* Orders that follow from others are no edges: w writes p, r1 and r2 read it, r2 after r1; x writes
 * the place anew, and y, which reads the result of x, changes nothing. */
START_TEST(edges_are_few)
{
  ctrledge_hand h = {.n_ops = 5, .n_places = 2};
  const char *ops[] = {"w", "r1", "r2", "x", "y"};
  for (uint32_t o = 0; o < 5; o++) {
    (void)snprintf(h.op[o], sizeof h.op[o], "%s", ops[o]);
    h.start[o] = o;
    h.end[o] = o + 1;
  }
  (void)snprintf(h.place[0], sizeof h.place[0], "p");
  (void)snprintf(h.place[1], sizeof h.place[1], "q");
  h.high[0] = h.high[1] = 8;
  h.writes[0][0] = h.reads[1][0] = h.reads[2][0] = h.writes[3][1] = h.reads[4][1] = true;
  h.after[2] = 2; /* op r2 after op 1 */
  h.n_edges = 4;
  const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  for (uint32_t e = 0; e < 4; e++) {
    h.from[e] = edges[e][0];
    h.to[e] = edges[e][1];
  }
  ck_assert_uint_eq(hand_check(&h, "few"), 1);
}
END_TEST

/* --- the shared facts --- */

typedef struct access_case {
  uint64_t low[MAX], high[MAX];
  char kind[MAX], view[MAX][32];
} access_case;

/* Makes places of an access sequence: a producer begins a place, unless it writes another part (a
 * view of the same buffer) of the place that the producer before it began, and of just its
 * range. */
static void access_to_hand(const access_case *a, ctrledge_hand *h) {
  uint32_t place_of[MAX]; /* per producer */
  for (uint32_t o = 0; o < h->n_ops; o++) {
    h->start[o] = o;
    h->end[o] = o + 1;
    if (a->kind[o] == 'C') {
      /* The latest producer of just this view, or else the latest. */
      for (uint32_t p = o; p-- > 0;) {
        bool meets = a->kind[p] == 'P' && a->low[p] < a->high[o] && a->low[o] < a->high[p];
        if (meets && strcmp(a->view[p], a->view[o]) == 0) {
          h->reads[o][place_of[p]] = true;
          break;
        }
      }
      continue;
    }
    bool joins = o > 0 && a->kind[o - 1] == 'P' && a->low[o - 1] == a->low[o] &&
                 a->high[o - 1] == a->high[o] && strcmp(a->view[o - 1], a->view[o]) != 0;
    if (!joins) {
      uint32_t p = h->n_places++;
      (void)snprintf(h->place[p], sizeof h->place[p], "p%u", p);
      h->low[p] = a->low[o];
      h->high[p] = a->high[o];
    }
    place_of[o] = h->n_places - 1;
    h->writes[o][place_of[o]] = true;
  }
}

typedef struct fact_case {
  char name[64];
  char model; /* packing, access or pcr */
  fs_rect rect[MAX];
  uint32_t n_rects;
  pairs contact;
  access_case access;
  ctrledge_hand h;
} fact_case;

static void fact_line(fact_case *c, const char *line) {
  char x[5][32] = {{0}};
  unsigned long a, b, d, e;
  unsigned id;
  ctrledge_hand *h = &c->h;
  if (sscanf(line, "R %u %lu %lu %lu %lu", &id, &a, &b, &d, &e) == 5) {
    c->rect[c->n_rects] = (fs_rect){.begin = a, .end = b, .low = d, .high = e, .id = id};
    ck_assert_uint_eq(id, c->n_rects++);
  } else if (sscanf(line, "A %u %1s %lu %lu %31s", &id, x[0], &a, &b, x[1]) == 5) {
    c->access.kind[id] = x[0][0];
    c->access.low[id] = a;
    c->access.high[id] = b;
    memcpy(c->access.view[id], x[1], sizeof x[1]);
    (void)snprintf(h->op[id], sizeof h->op[id], "%u", id);
    h->n_ops = id + 1;
  } else if (sscanf(line, "O %15s %lu %lu", x[0], &a, &b) == 3) {
    memcpy(h->op[h->n_ops], x[0], 16);
    h->start[h->n_ops] = a;
    h->end[h->n_ops++] = b;
  } else if (sscanf(line, "B %15s %lu %lu", x[0], &a, &b) == 3) {
    memcpy(h->place[h->n_places], x[0], 16);
    h->low[h->n_places] = a;
    h->high[h->n_places++] = b;
  } else if (sscanf(line, "W %15s %15s", x[0], x[1]) == 2) {
    h->writes[find_name(h->op, h->n_ops, x[0])][find_name(h->place, h->n_places, x[1])] = true;
  } else if (sscanf(line, "U %15s %15s", x[0], x[1]) == 2) {
    h->reads[find_name(h->op, h->n_ops, x[0])][find_name(h->place, h->n_places, x[1])] = true;
  } else if (sscanf(line, "EDGE %15s %15s", x[0], x[1]) == 2) {
    if (c->model == 'p') {
      c->contact.at[atoi(x[0])][atoi(x[1])] = true;
    } else {
      h->from[h->n_edges] = find_name(h->op, h->n_ops, x[0]);
      h->to[h->n_edges++] = find_name(h->op, h->n_ops, x[1]);
    }
  }
}

static void fact_end(fact_case *c, int *done) {
  if (c->model == 'p') {
    assert_contacts(c->rect, c->n_rects, &c->contact, c->name);
    done[0]++;
    return;
  }
  if (c->model == 'a') {
    access_to_hand(&c->access, &c->h);
  }
  (void)hand_check(&c->h, c->name);
  done[c->model == 'a' ? 1 : 2]++;
}

START_TEST(facts)
{
  FILE *f = fs_shared_facts("control_edges.txt");
  if (f == NULL) {
    return;
  }
  static fact_case c;
  int done[3] = {0};
  char line[256];
  while (fgets(line, sizeof line, f) != NULL) {
    char model[16];
    char name[64];
    if (sscanf(line, "CASE %63s model=%15s", name, model) == 2) {
      memset(&c, 0, sizeof c);
      memcpy(c.name, name, sizeof name);
      c.model = strcmp(model, "packing") == 0 ? 'p' : strcmp(model, "access") == 0 ? 'a' : 'r';
    } else if (strncmp(line, "END", 3) == 0) {
      fact_end(&c, done);
    } else {
      fact_line(&c, line);
    }
  }
  (void)fclose(f);
  ck_assert_int_ge(done[0], 25);
  ck_assert_int_ge(done[1], 3);
  ck_assert_int_ge(done[2], 3);
}
END_TEST

FS_SUITE(ctrledge, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, sweep_against_brute_force, lanes_cover_amounts_in_order, lanes_follow_queues,
           edges_are_few, facts);
}
