/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/loops.h"

#include "base/text/columns.h"
#include "base/text/plural.h"

enum { SHOWN = 8 }; /* lines of a summary */

/* Writes a whole number, or one with two decimals, rounded. */
static void put_ticks(fs_text *t, fs_loop_ticks x) {
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
  put_ticks(t, x);
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
    put_ticks(t, r->bound);
  }
  put_limit(t, r);
  if (r->copies > 1) {
    fs_text_printf(t, ", by turns of %u iterations", r->copies);
  }
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
    fs_text_printf(t, ": %llu %s", (unsigned long long)r->trip,
                   fs_plural(r->trip, "iteration", "iterations"));
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

static void json_plan(fs_text *t, const fs_loop_report *r) {
  json_ticks(t, "ii", r->ii);
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
    const fs_loop_slots *x = &r->slots[i];
    fs_text_puts(t, i == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, x->buffer);
    fs_text_printf(t, ", \"depth\": %u, \"prefetch\": %u, \"given\": %s, \"bytes\": %llu}",
                   x->depth, x->prefetch, x->given ? "true" : "false",
                   (unsigned long long)x->bytes);
  }
  fs_text_puts(t, "]");
  if (r->steps > 0) {
    fs_text_printf(t, ", \"syncs\": {\"full\": %u, \"counting\": %u, \"steps\": %llu}", r->full,
                   r->counting, (unsigned long long)r->steps);
  }
}

void fs_loops_put_json(fs_text *t, const fs_schedule *s) {
  assert(s->n_loops == 0 || s->loop != NULL);
  fs_text_puts(t, "[");
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_loop_report *r = &s->loop[i];
    fs_text_puts(t, i == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, r->name);
    fs_text_printf(t, ", \"trip\": %llu, \"runs\": %llu", (unsigned long long)r->trip,
                   (unsigned long long)r->runs);
    fs_text_printf(t, ", \"span\": %llu", (unsigned long long)r->span);
    if (r->why_not != NULL) {
      fs_text_puts(t, ", \"ii\": null");
      if (r->bound.num > 0) {
        json_ticks(t, "bound", r->bound);
      }
      fs_text_puts(t, ", \"why\": ");
      fs_text_json_string(t, r->why_not);
    } else {
      json_plan(t, r);
    }
    fs_text_puts(t, "}");
  }
  fs_text_puts(t, "]");
}
