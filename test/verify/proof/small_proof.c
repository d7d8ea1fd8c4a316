/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/proof/small_proof.h"

#include "fsched/compile.h"

#include <stdio.h>

#include "kit/context.h"

small_proof fs_small_proof(fs_rng *r, unsigned most_ops, unsigned most_time, bool mixed) {
  small_proof c = {.n = 2 + fs_rng_below(r, most_ops - 1),
                   .n_queues = 1 + fs_rng_below(r, SMALL_QUEUES),
                   .unit = 1 + 2 * fs_rng_below(r, 2)};
  unsigned pairs = c.n_queues > 1 && !fs_rng_one_in(r, 3) ? 2 : 1; /* queues of the first class */
  c.capacity = fs_rng_one_in(r, 3) ? 0 : 2 + fs_rng_below(r, 4);
  c.concurrency = fs_rng_one_in(r, 3) ? 1 + fs_rng_below(r, 3) : 0;
  for (unsigned op = 0; op < c.n; op++) {
    c.time[op] = fs_rng_one_in(r, 10) ? 0 : 1 + fs_rng_below(r, most_time);
    unsigned queue = fs_rng_below(r, c.n_queues);
    bool first = queue < pairs && pairs == 2;
    c.queues[op] = first && !(mixed && fs_rng_one_in(r, 3)) ? 3 : 1u << queue;
    c.gang[op] = c.queues[op] == 3 && mixed && fs_rng_one_in(r, 3);
    c.use[op] = c.capacity == 0 ? 0 : fs_rng_below(r, c.capacity + 1);
    for (unsigned before = 0; before < op; before++) {
      c.pred[op] |= fs_rng_one_in(r, 4) ? 1u << before : 0;
    }
  }
  return c;
}

void fs_small_latencies(small_proof *c, fs_rng *r) {
  for (unsigned op = 0; op < c->n; op++) {
    c->latency[op] = fs_rng_one_in(r, 2) ? c->time[op] + fs_rng_below(r, 3) : 0;
  }
}

small_proof fs_small_moments(fs_rng *r) {
  small_proof c = {.n = 5 + fs_rng_below(r, 2), .n_queues = 3, .capacity = 4, .unit = 1};
  for (unsigned op = 0; op < c.n; op++) {
    c.time[op] = op == 1 ? 0 : op == 0 || op == 2 ? 1 + fs_rng_below(r, 2) : 3 + fs_rng_below(r, 2);
    c.queues[op] = op < 3 ? 1 : op < 5 ? 1u << (op - 2) : 1u << fs_rng_below(r, 3);
    c.use[op] = op == 1 ? 3 : 1;
  }
  c.pred[1] = 1;
  c.pred[2] = 2;
  c.pred[4] = fs_rng_one_in(r, 4);
  return c;
}

static void put_queues(const small_proof *c, unsigned op, fs_text *t) {
  if (c->gang[op]) {
    fs_text_puts(t, "[q0, q1]");
  } else if (c->queues[op] == 3) {
    fs_text_puts(t, "c");
  } else {
    fs_text_puts(t, c->queues[op] == 1 ? "q0" : c->queues[op] == 2 ? "q1" : "q2");
  }
}

fsched_graph *fs_small_proof_graph(const small_proof *c) {
  static const char *const classes[] = {"c", "c", "d"};
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "fsched: 1\nname: g\ntarget:\n  queues:\n");
  for (unsigned q = 0; q < c->n_queues; q++) {
    fs_text_printf(&t, "    - {name: q%u, class: %s}\n", q, classes[q]);
  }
  if (c->capacity > 0) {
    fs_text_printf(&t, "  resources: [{name: r, capacity: %u}]\n", c->capacity);
  }
  if (c->concurrency > 0) {
    fs_text_printf(&t, "  concurrency: %u\n", c->concurrency);
  }
  fs_text_puts(&t, "ops:\n");
  for (unsigned op = 0; op < c->n; op++) {
    fs_text_printf(&t, "  - {name: op%u, time: %u, on: ", op, c->time[op] * c->unit);
    put_queues(c, op, &t);
    if (c->latency[op] > 0) {
      fs_text_printf(&t, ", latency: %u", c->latency[op] * c->unit);
    }
    if (c->use[op] > 0) {
      fs_text_printf(&t, ", uses: {r: %u}", c->use[op]);
    }
    const char *separator = ", after: [";
    for (unsigned before = 0; before < op; before++) {
      if ((c->pred[op] >> before & 1) != 0) {
        fs_text_printf(&t, "%sop%u", separator, before);
        separator = ", ";
      }
    }
    fs_text_puts(&t, c->pred[op] != 0 ? "]}\n" : "}\n");
  }
  char *text;
  size_t n;
  ck_fs(ctx, fs_text_take(&t, &text, &n));
  fsched_graph *g = fs_parse(text);
  fsched_text_free(ctx, text, n);
  return g;
}

static unsigned queue_sets(const small_proof *c) { return (1u << c->n_queues) - 1; }

unsigned fs_small_proof_sets(const small_proof *c) {
  return queue_sets(c) + (c->capacity > 0) + (c->concurrency > 0);
}

void fs_small_proof_head(const small_proof *c, fs_text *t) {
  fs_text_printf(t, "fsched-proof 1\nops %u\nunit %u\n", c->n, c->unit);
  for (unsigned set = 1; set <= queue_sets(c); set++) {
    fs_text_puts(t, "set queues");
    for (unsigned q = 0; q < c->n_queues; q++) {
      if ((set >> q & 1) != 0) {
        fs_text_printf(t, " %u", q);
      }
    }
    fs_text_puts(t, "\n");
  }
  fs_text_puts(t, c->capacity > 0 ? "set resource 0\n" : "");
  fs_text_puts(t, c->concurrency > 0 ? "set concurrency\n" : "");
  fs_text_puts(t, "begin\n");
}

/* ---- schedules */

static bool meet(const small_proof *c, const unsigned *start, unsigned a, unsigned b) {
  return start[a] < start[b] + c->time[b] && start[b] < start[a] + c->time[a];
}

/* Of queues: an op on one of several takes one of a set of all of these. */
static unsigned queues_in(const small_proof *c, unsigned op, unsigned set) {
  unsigned in = c->queues[op] & set, n = 0;
  for (; c->gang[op] && in != 0; in &= in - 1) {
    n++;
  }
  return c->gang[op] ? n : in == c->queues[op];
}

bool fs_small_exclude(const small_proof *c, unsigned a, unsigned b, bool *whole) {
  *whole =
      (c->capacity > 0 && c->use[a] > 0 && c->use[b] > 0 && c->use[a] + c->use[b] > c->capacity) ||
      c->concurrency == 1;
  bool queues = false;
  for (unsigned set = 1; set < 1u << c->n_queues; set++) {
    unsigned size = 0, x = queues_in(c, a, set), y = queues_in(c, b, set);
    for (unsigned q = 0; q < c->n_queues; q++) {
      size += set >> q & 1;
    }
    queues = queues || (x > 0 && y > 0 && x + y > size);
  }
  return a != b && (queues || *whole);
}

/* Can ops from `op` on get queues, those before it having theirs? */
static bool get_queues(const small_proof *c, const unsigned *start, unsigned op, unsigned *own) {
  if (op == c->n) {
    return true;
  }
  for (unsigned q = 0; q < c->n_queues; q++) {
    own[op] = c->gang[op] ? c->queues[op] : c->queues[op] & 1u << q;
    bool free = own[op] != 0;
    for (unsigned other = 0; other < op; other++) {
      free = free && ((own[other] & own[op]) == 0 || !meet(c, start, op, other));
    }
    if (free && get_queues(c, start, op + 1, own)) {
      return true;
    }
  }
  return false;
}

bool fs_small_proof_right(const small_proof *c, const unsigned *start) {
  unsigned own[SMALL_OPS];
  for (unsigned op = 0; op < c->n; op++) {
    unsigned used = 0, run = 0;
    for (unsigned other = 0; other < c->n; other++) {
      bool before = (c->pred[op] >> other & 1) != 0;
      if (before && start[other] + fs_small_whole(c, other) > start[op]) {
        return false;
      }
      /* What runs when the op starts, or beside it at its instant. */
      bool there = start[other] <= start[op] &&
                   start[op] < start[other] + fs_small_whole(c, other) &&
                   (fs_small_whole(c, op) > 0 || start[other] < start[op]);
      there = there || other == op;
      used += there ? c->use[other] : 0;
      run += there;
    }
    if ((c->capacity > 0 && used > c->capacity) || (c->concurrency > 0 && run > c->concurrency)) {
      return false;
    }
  }
  return get_queues(c, start, 0, own);
}

bool fs_small_proof_next(const small_proof *c, unsigned horizon, unsigned *start) {
  for (unsigned op = 0; op < c->n; op++) {
    if (start[op] + fs_small_whole(c, op) < horizon) {
      start[op]++;
      return true;
    }
    start[op] = 0;
  }
  return false;
}
