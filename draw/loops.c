/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/loops.h"

#include "base/saturate.h"
#include "base/text/columns.h"
#include "base/text/plural.h"

enum { SHOWN = 8 }; /* lines of a summary */

void fs_loops_put_ticks(fs_text *t, fs_loop_ticks x) {
  assert(x.den > 0);
  uint64_t whole = x.num / x.den, rest = x.num % x.den;
  uint64_t cents = x.den > UINT64_MAX / 200 ? 0 : (rest * 200 + x.den) / (2 * x.den);
  if (rest == 0) {
    fs_text_u64(t, whole);
    return;
  }
  fs_text_printf(t, "%llu.%02llu", (unsigned long long)(whole + cents / 100),
                 (unsigned long long)(cents % 100));
}

/* "12 clocks", or "12". */
static void put_time(fs_text *t, const fsched_graph *g, fs_loop_ticks x) {
  fs_loops_put_ticks(t, x);
  if (g->target.time_unit != NULL) {
    fs_text_puts(t, " ");
    fs_text_visible(t, g->target.time_unit);
  }
}

static void put_limit(fs_text *t, const fs_loop_report *r) {
  fs_text_printf(t, " (%s", fs_words_loop_limit[r->limited_by]);
  if (r->limit != NULL) {
    fs_text_puts(t, " ");
    fs_text_visible(t, r->limit);
  }
  fs_text_puts(t, ")");
}

static void put_plan(fs_text *t, const fsched_graph *g, const fs_loop_report *r) {
  if (r->why_not != NULL) {
    if (r->bound.num > 0) {
      fs_text_puts(t, "; one every ");
      put_time(t, g, r->bound);
      fs_text_puts(t, " at least");
    }
    fs_text_printf(t, "; no plan: %s", r->why_not);
    return;
  }
  fs_text_puts(t, "; one every ");
  put_time(t, g, r->ii);
  if (r->proven) {
    fs_text_puts(t, " at best");
  } else {
    fs_text_puts(t, " planned, at least ");
    fs_loops_put_ticks(t, r->bound);
  }
  put_limit(t, r);
  if (r->copies > 1) {
    fs_text_printf(t, ", by turns of %u iterations", r->copies);
  }
  fs_text_puts(t, r->joined ? ", runs joined" : "");
}

static void put_trips(fs_text *t, const fs_loop_report *r) {
  fs_text_puts(t, ": ");
  if (r->param != NULL) {
    fs_text_visible(t, r->param);
    fs_text_printf(t, " (%llu to %llu) iterations, ", (unsigned long long)r->least,
                   (unsigned long long)r->trip);
  }
  fs_text_printf(t, "%llu%s", (unsigned long long)r->trip,
                 r->param != NULL ? "" : fs_plural(r->trip, " iteration", " iterations"));
}

void fs_loops_put(fs_text *t, const fsched_graph *g, const fs_loop_report *report, uint32_t n,
                  bool scheduled) {
  for (uint32_t i = 0; i < n; i++) {
    if (scheduled && i == SHOWN && n > SHOWN + 1) {
      fs_text_printf(t, "  and %u more loops, which the statistics have\n", n - i);
      return;
    }
    const fs_loop_report *r = &report[i];
    fs_text_puts(t, "  loop ");
    fs_text_visible(t, r->name);
    put_trips(t, r);
    if (scheduled) {
      fs_text_puts(t, " in ");
      put_time(t, g, (fs_loop_ticks){r->span, 1});
    }
    put_plan(t, g, r);
    fs_text_puts(t, "\n");
  }
}

static void json_ticks(fs_text *t, const char *name, fs_loop_ticks x) {
  fs_text_printf(t, ", \"%s\": [%llu, %llu]", name, (unsigned long long)x.num,
                 (unsigned long long)x.den);
}

fs_loop_ticks fs_loops_period(const fs_loop_report *r) {
  assert(r->why_not == NULL && r->ii.den > 0);
  uint64_t common = fs_common_divisor(r->copies, r->ii.den);
  return (fs_loop_ticks){fs_multiply_most(r->ii.num, r->copies / common), r->ii.den / common};
}

/* The slots that a value has: of a loop that stays one those of its ring. */
static uint64_t slots_of(const fs_loop_report *r, const fs_rolled *x, uint32_t value) {
  bool ring = x != NULL && value < x->loop.n_rings;
  return ring ? x->loop.ring[value].depth : fs_min(r->slots[value].depth, fs_max(r->trip, 1));
}

/* x: the loop, if it stays one; else NULL. */
static void json_plan(fs_text *t, const fs_loop_report *r, const fs_rolled *x) {
  json_ticks(t, "ii", r->ii);
  json_ticks(t, "period", fs_loops_period(r));
  json_ticks(t, "bound", r->bound);
  fs_text_printf(t,
                 ", \"proven\": %s, \"copies\": %u, \"makespan\": %llu, \"limited_by\": \"%s\", ",
                 r->proven ? "true" : "false", r->copies, (unsigned long long)r->makespan,
                 fs_words_loop_limit[r->limited_by]);
  if (r->limit == NULL) {
    fs_text_puts(t, "\"limit\": null");
  } else {
    fs_text_puts(t, "\"limit\": ");
    fs_text_json_string(t, r->limit);
  }
  fs_text_puts(t, ", \"buffers\": [");
  for (uint32_t i = 0; i < r->n_slots; i++) {
    const fs_loop_slots *v = &r->slots[i];
    fs_text_puts(t, i == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, v->buffer);
    fs_text_printf(t, ", \"depth\": %u, \"prefetch\": %u, \"slots\": %llu, \"given\": %s, ",
                   v->depth, v->prefetch, (unsigned long long)slots_of(r, x, i),
                   v->given ? "true" : "false");
    fs_text_printf(t, "\"bytes\": %llu}", (unsigned long long)v->bytes);
  }
  fs_text_puts(t, "]");
  fs_text_puts(t, r->joined ? ", \"joined\": true" : "");
  if (r->waits > 0) {
    fs_text_printf(t, ", \"waits\": {\"emitted\": %u, \"executed\": %llu}", r->waits,
                   (unsigned long long)r->executed);
  }
  if (r->steps > 0) {
    fs_text_printf(t, ", \"syncs\": {\"full\": %u, \"counting\": %u, \"steps\": %llu}", r->full,
                   r->counting, (unsigned long long)r->steps);
  }
}

void fs_loops_put_json(fs_text *t, const fs_schedule *s) {
  assert(s->n_loops == 0 || (s->loop != NULL && s->n_loops >= s->graph->n_rolled));
  const fsched_graph *g = s->graph;
  fs_text_puts(t, "[");
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_loop_report *r = &s->loop[i];
    fs_text_puts(t, i == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, r->name);
    fs_text_printf(t, ", \"trip\": %llu", (unsigned long long)r->trip);
    if (r->param != NULL) {
      fs_text_puts(t, ", \"param\": {\"name\": ");
      fs_text_json_string(t, r->param);
      fs_text_printf(t, ", \"min\": %llu}", (unsigned long long)r->least);
    }
    fs_text_printf(t, ", \"runs\": %llu", (unsigned long long)r->runs);
    fs_text_printf(t, ", \"span\": %llu", (unsigned long long)r->span);
    if (r->why_not != NULL) {
      fs_text_puts(t, ", \"ii\": null");
      if (r->bound.num > 0) {
        json_ticks(t, "bound", r->bound);
      }
      fs_text_puts(t, ", \"why\": ");
      fs_text_json_string(t, r->why_not);
    } else {
      bool rolled = i + g->n_rolled >= s->n_loops;
      json_plan(t, r, rolled ? &g->rolled[i + g->n_rolled - s->n_loops] : NULL);
    }
    fs_text_puts(t, "}");
  }
  fs_text_puts(t, "]");
}

/* ---- bodies */

static void put_u64(fs_text *t, const char *before, uint64_t value) {
  fs_text_puts(t, before);
  fs_text_u64(t, value);
}

static void put_ops(fs_text *t, const fs_schedule *s, const fs_rolled *x) {
  for (uint32_t m = 0; m < x->n_ops; m++) {
    const fs_body_op *op = &x->body[m];
    fs_text_puts(t, m == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, op->name);
    put_u64(t, ", \"time\": ", op->time);
    if (op->latency > op->time) {
      put_u64(t, ", \"latency\": ", op->latency);
    }
    if (op->loop != FS_NONE) {
      fs_text_puts(t, ", \"loop\": ");
      fs_loops_put_body(t, s, op->loop);
    }
    fs_text_puts(t, "}");
  }
}

static void put_commands(fs_text *t, const fs_schedule *s, const fs_rolled_loop *r) {
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      const fs_rolled_command *k = &r->command[c];
      put_u64(t, c == 0 ? "{\"op\": " : ", {\"op\": ", k->member);
      fs_text_puts(t, ", \"queue\": ");
      fs_text_json_string(t, s->queue_name[r->queue[q]]);
      put_u64(t, ", \"copy\": ", k->copy);
      put_u64(t, ", \"shift\": ", k->shift);
      if (r->issued) {
        put_u64(t, ", \"issue\": ", k->issue);
      }
      fs_text_puts(t, "}");
    }
  }
}

static void put_edges(fs_text *t, const fs_rolled_loop *r) {
  const char *before = "{\"from\": ";
  for (uint32_t c = 0; c < r->n_commands; c++) {
    for (uint32_t w = r->command[c].wait0; w < r->command[c].wait0 + r->command[c].n_waits; w++) {
      put_u64(t, before, r->wait[w].command);
      put_u64(t, ", \"to\": ", c);
      put_u64(t, ", \"distance\": ", r->wait[w].distance);
      fs_text_puts(t, "}");
      before = ", {\"from\": ";
    }
  }
}

/* What each queue has of a run, from its begin on, if these enter and leave it on their own. */
static void put_queues(fs_text *t, const fs_schedule *s, const fs_rolled *x) {
  const fs_rolled_part *part = x->within == FS_NONE ? fs_op_parts(s->graph, x->op) : NULL;
  for (uint32_t q = 0; part != NULL && q < x->loop.n_queues; q++) {
    fs_text_puts(t, q == 0 ? ", \"queues\": [{\"queue\": " : ", {\"queue\": ");
    fs_text_json_string(t, s->queue_name[x->loop.queue[q]]);
    put_u64(t, ", \"begin\": ", part[q].begin);
    put_u64(t, ", \"end\": ", part[q].end);
    fs_text_puts(t, q + 1 == x->loop.n_queues ? "}]" : "}");
  }
}

void fs_loops_put_body(fs_text *t, const fs_schedule *s, uint32_t loop) {
  assert(loop < s->graph->n_rolled);
  const fs_rolled *x = &s->graph->rolled[loop];
  put_u64(t, "{\"trip\": ", x->trip);
  put_u64(t, ", \"copies\": ", x->loop.copies);
  fs_text_puts(t, x->joined ? ", \"joined\": true" : "");
  put_queues(t, s, x);
  fs_text_puts(t, ", \"ops\": [");
  put_ops(t, s, x);
  fs_text_puts(t, "], \"commands\": [");
  put_commands(t, s, &x->loop);
  fs_text_puts(t, "], \"edges\": [");
  put_edges(t, &x->loop);
  fs_text_puts(t, "]}");
}
