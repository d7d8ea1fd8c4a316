/* SPDX-License-Identifier: Apache-2.0 */
/* Memories without a store that are as small as can be.  What a graph holds in each set of ops that
 * are done is added up here, over all sets: so it is known which capacities do for some order, and
 * a schedule is found for exactly these.  For contiguous memories addresses of some such order are
 * looked for by trying all, and where there are some, a schedule is found, too. */
#include <stdio.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/status.h"
#include "kit/turn.h"

#include "kit/context.h"

enum { MOST = 9, MEMORIES = 2, GRAPHS = 60, CASES = 8 };

typedef struct tight_op {
  uint32_t size, memory, scratch; /* of its output; scratch is in memory 0 */
  uint32_t reads, readers;        /* sets of ops */
  bool kept;
} tight_op;

typedef struct tight_graph {
  uint32_t n, n_memories;
  tight_op op[MOST];
  uint32_t given;    /* size of a buffer in memory 0 that is there from the begin on; 0: none */
  uint32_t given_to; /* the ops that read it */
  uint32_t capacity[MEMORIES];
  uint8_t fits[1 << MOST]; /* per set that is done: it is reached by some order that fits */
} tight_graph;

static void draw(uint64_t seed, tight_graph *t) {
  fs_rng state = {seed}, *r = &state;
  *t = (tight_graph){.n = 3 + fs_rng_below(r, MOST - 2), .n_memories = 1 + fs_rng_below(r, 2)};
  for (uint32_t i = 0; i < t->n; i++) {
    tight_op *op = &t->op[i];
    op->size = 1 + fs_rng_below(r, 6);
    op->memory = fs_rng_below(r, t->n_memories);
    op->scratch = fs_rng_one_in(r, 5) ? 1 + fs_rng_below(r, 4) : 0;
    op->kept = fs_rng_one_in(r, 6);
    for (uint32_t k = fs_rng_below(r, 3); i > 0 && k > 0; k--) {
      uint32_t from = fs_rng_below(r, i);
      op->reads |= 1u << from;
      t->op[from].readers |= 1u << i;
    }
  }
  t->given = fs_rng_one_in(r, 3) ? 1 + fs_rng_below(r, 5) : 0;
  t->given_to = t->given > 0 ? 1u << fs_rng_below(r, t->n) | 1u << fs_rng_below(r, t->n) : 0;
}

/* Bytes of a memory that are held where these ops are done and nothing runs. */
static uint32_t held(const tight_graph *t, uint32_t done, uint32_t memory) {
  uint32_t sum = memory == 0 && (t->given_to & ~done) != 0 ? t->given : 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const tight_op *op = &t->op[i];
    bool lives = (done >> i & 1) != 0 && (op->kept || (op->readers & ~done) != 0);
    sum += lives && op->memory == memory ? op->size : 0;
  }
  return sum;
}

static uint32_t needed(const tight_graph *t, uint32_t done, uint32_t i, uint32_t memory) {
  const tight_op *op = &t->op[i];
  return held(t, done, memory) + (op->memory == memory ? op->size : 0) +
         (memory == 0 ? op->scratch : 0);
}

static bool may_run(const tight_graph *t, uint32_t done, uint32_t i) {
  bool fits = (done >> i & 1) == 0 && (t->op[i].reads & ~done) == 0;
  for (uint32_t m = 0; m < t->n_memories && fits; m++) {
    fits = needed(t, done, i, m) <= t->capacity[m];
  }
  return fits;
}

/* Is there an order that fits? */
static bool some_order_fits(tight_graph *t) {
  uint32_t all = (1u << t->n) - 1;
  memset(t->fits, 0, sizeof t->fits);
  t->fits[0] = 1;
  for (uint32_t done = 0; done < all; done++) {
    for (uint32_t i = 0; i < t->n && t->fits[done]; i++) {
      if (may_run(t, done, i)) {
        t->fits[done | 1u << i] = 1;
      }
    }
  }
  return t->fits[all] != 0;
}

/* The least capacities, one memory after the other. */
static void squeeze(tight_graph *t) {
  for (uint32_t m = 0; m < t->n_memories; m++) {
    t->capacity[m] = 1000;
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    while (t->capacity[m] > 0 && some_order_fits(t)) {
      t->capacity[m]--;
    }
    t->capacity[m] += !some_order_fits(t);
  }
}

typedef struct tight_place {
  uint32_t from, to, size, address;
} tight_place;

/* Tries all addresses for the places from `i` on. */
static bool all_placed(tight_place *p, uint32_t n, uint32_t i, uint32_t capacity) {
  bool found = i == n;
  for (uint32_t a = 0; !found && a + p[i].size <= capacity; a++) {
    bool clear = true;
    for (uint32_t k = 0; k < i && clear; k++) {
      clear = p[k].to <= p[i].from || p[i].to <= p[k].from || p[k].address + p[k].size <= a ||
              a + p[i].size <= p[k].address;
    }
    p[i].address = a;
    found = clear && all_placed(p, n, i + 1, capacity);
  }
  return found;
}

/* A random order that fits, backwards through the sets that are reached; are there addresses? */
static bool order_has_addresses(const tight_graph *t, fs_rng *r) {
  uint32_t at[MOST], done = (1u << t->n) - 1;
  for (uint32_t k = t->n; k-- > 0;) {
    uint32_t i;
    do {
      i = fs_rng_below(r, t->n);
    } while ((done >> i & 1) == 0 || !t->fits[done & ~(1u << i)] ||
             !may_run(t, done & ~(1u << i), i));
    at[i] = k;
    done &= ~(1u << i);
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    tight_place p[2 * MOST + 1];
    uint32_t n = 0;
    if (m == 0 && t->given > 0) {
      p[n] = (tight_place){.size = t->given};
      for (uint32_t i = 0; i < t->n; i++) {
        bool reads = (t->given_to >> i & 1) != 0;
        p[n].to = reads && at[i] + 1 > p[n].to ? at[i] + 1 : p[n].to;
      }
      n++;
    }
    for (uint32_t i = 0; i < t->n; i++) {
      const tight_op *op = &t->op[i];
      uint32_t to = op->kept ? t->n : at[i] + 1;
      for (uint32_t k = 0; k < t->n; k++) {
        to = (op->readers >> k & 1) != 0 && at[k] + 1 > to ? at[k] + 1 : to;
      }
      if (op->memory == m) {
        p[n++] = (tight_place){at[i], to, op->size, 0};
      }
      if (m == 0 && op->scratch > 0) {
        p[n++] = (tight_place){at[i], at[i] + 1, op->scratch, 0};
      }
    }
    if (!all_placed(p, n, 0, t->capacity[m])) {
      return false;
    }
  }
  return true;
}

static void write_text(const tight_graph *t, fs_rng *r, bool contiguous, fs_text *out) {
  uint32_t queues = 1 + fs_rng_below(r, 3);
  fs_text_puts(out, "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}, {name: q2}]\n");
  fs_text_puts(out, "  memories:\n");
  for (uint32_t m = 0; m < t->n_memories; m++) {
    fs_text_printf(out, "  - {name: m%u, capacity: %u, placement: %s, align: 1}\n", m,
                   t->capacity[m], contiguous ? "contiguous" : "counted");
  }
  fs_text_puts(out, "buffers:\n- {name: unused, size: 0, memory: m0}\n");
  if (t->given > 0) {
    fs_text_printf(out, "- {name: given, size: %u, memory: m0, io: input}\n", t->given);
  }
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->op[i].kept) {
      fs_text_printf(out, "- {name: b%u, size: %u, memory: m%u, io: output}\n", i, t->op[i].size,
                     t->op[i].memory);
    }
  }
  fs_text_puts(out, "ops:\n");
  for (uint32_t i = 0; i < t->n; i++) {
    const tight_op *op = &t->op[i];
    fs_text_printf(out, "- {name: o%u, on: q%u, time: %u, ", i, fs_rng_below(r, queues),
                   1 + fs_rng_below(r, 9));
    if (op->scratch > 0) {
      fs_text_printf(out, "scratch: {m0: %u}, ", op->scratch);
    }
    fs_text_printf(out, "args: [{out: b%u, size: %u, memory: m%u}", i, op->size, op->memory);
    for (uint32_t k = 0; k < i; k++) {
      if ((op->reads >> k & 1) != 0) {
        fs_text_printf(out, ", {in: b%u}", k);
      }
    }
    fs_text_puts(out, (t->given_to >> i & 1) != 0 ? ", {in: given}]}\n" : "]}\n");
  }
}

static fsched_status compile(const tight_graph *t, fs_rng *r, bool contiguous, fs_text *text) {
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  fsched_schedule *s = NULL;
  fsched_graph *g;
  write_text(t, r, contiguous, text);
  ck_assert(!text->failed);
  fsched_status status = fsched_graph_parse(ctx, "tight.yaml", text->at, text->n, NULL, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &o, &s, NULL);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "%s\n%.*s", fs_test_diags(ctx),
                (int)text->n, text->at);
  fsched_diag_clear(ctx);
  return status;
}

/* Capacities at, above and below the least. */
static void vary(tight_graph *t, fs_rng *r) {
  squeeze(t);
  for (uint32_t m = 0; m < t->n_memories; m++) {
    uint32_t by = fs_rng_below(r, 4);
    t->capacity[m] += by == 3 ? UINT32_MAX : by / 2;
    t->capacity[m] += t->capacity[m] == 0 || t->capacity[m] == UINT32_MAX;
  }
}

/* Graphs of a part: with counted memories there is a schedule where some order fits, and nowhere
 * else; with contiguous ones where such an order has addresses. */
static void check_graphs(uint64_t part, bool contiguous) {
  uint32_t sure = 0, none = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * CASES + part) * GRAPHS + k;
    fs_rng r = {seed + 77 + contiguous};
    tight_graph t;
    fs_text text;
    fs_text_init(&text, ctx);
    draw(seed, &t);
    vary(&t, &r);
    bool fits = some_order_fits(&t), has = fits && !contiguous;
    for (uint32_t order = 0; order < 8 && fits && !has; order++) {
      has = order_has_addresses(&t, &r);
    }
    fsched_status status = compile(&t, &r, contiguous, &text);
    ck_assert_msg(status == FSCHED_OK || !has, "seed %llu: there is a schedule\n%.*s",
                  (unsigned long long)seed, (int)text.n, text.at);
    ck_assert_msg(status != FSCHED_OK || fits, "seed %llu: no order fits\n%.*s",
                  (unsigned long long)seed, (int)text.n, text.at);
    sure += has;
    none += !fits;
    fs_text_drop(&text);
  }
  fs_assert_seen(sure, GRAPHS / 4);
  fs_assert_seen(none, GRAPHS / 8);
}

START_TEST(counted_memories_do_if_some_order_fits)
{ check_graphs((uint64_t)_i, false); }
END_TEST

START_TEST(contiguous_memories_do_if_some_order_has_addresses)
{ check_graphs((uint64_t)_i, true); }
END_TEST

FS_SUITE(tight, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, CASES, counted_memories_do_if_some_order_fits,
           contiguous_memories_do_if_some_order_has_addresses);
}
