/* SPDX-License-Identifier: Apache-2.0 */
/* Compares planned with measured times.  The measured makespan is the expected one (the ops and
 * copies alone, lib/front/profile/profile.c) plus the time between them.  The two parts tell
 * whether the times of the plan are wrong, or whether time is lost that no plan contains.  Where
 * the length of a tick is unknown, planned times are shown in ticks and not compared. */
#include "base/heap.h"
#include "base/saturate.h"
#include "base/text/columns.h"
#include "base/text/fields.h"
#include "base/text/plural.h"
#include "base/text/ticks.h"
#include "front/profile/profile.h"

enum { SHOWN = 10 };

typedef struct queue_sum {
  uint32_t n;
  bool planned_known; /* all items have planned times */
  fs_tick planned;
  uint64_t measured_ns;
} queue_sum;

typedef struct report {
  fsched_context *ctx;
  const fsched_profile *p;
  fs_text *t;
  fs_arena *arena;
  bool all;
  uint64_t tick_ps;        /* 0: not known */
  queue_sum *queue, total; /* total counts each item once */
  uint64_t off_ns;         /* sum of all items' differences */
  uint32_t n_listed, *listed;
} report;

/* ---- figures */

/* A planned time in ns; FS_TICK_NONE: not known. */
static uint64_t planned_ns(const report *r, fs_tick planned) {
  return planned == FS_TICK_NONE || r->tick_ps == 0 ? FS_TICK_NONE
                                                    : fs_ticks_ns(planned, r->tick_ps);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* How far an item is from its plan; without a plan, how long it took. */
static uint64_t difference(const report *r, const fs_profile_item *item) {
  uint64_t planned = planned_ns(r, item->planned);
  return planned == FS_TICK_NONE ? item->took.median_ns : distance(planned, item->took.median_ns);
}

/* How far an item is from its plan when its time is rounded up to whole ticks, since no plan is
 * finer; 0 without a plan. */
static uint64_t difference_ns(const report *r, const fs_profile_item *item) {
  uint64_t planned = planned_ns(r, item->planned);
  return planned == FS_TICK_NONE
             ? 0
             : distance(planned,
                        fs_ticks_ns(fs_ticks_of_ns(item->took.median_ns, r->tick_ps), r->tick_ps));
}

static void add_item(queue_sum *sum, const fs_profile_item *item) {
  sum->n++;
  sum->measured_ns = fs_add_most(sum->measured_ns, item->took.median_ns);
  if (item->planned == FS_TICK_NONE) {
    sum->planned_known = false;
  } else {
    sum->planned = fs_add_most(sum->planned, item->planned);
  }
}

static fs_status sum_up(report *r) {
  const fsched_profile *p = r->p;
  FS_TRY(fs_new_zero(r->arena, &r->queue, p->n_queues));
  r->total.planned_known = true;
  for (uint32_t q = 0; q < p->n_queues; q++) {
    r->queue[q].planned_known = true;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    const fs_profile_item *item = &p->item[i];
    add_item(&r->total, item);
    r->off_ns = fs_add_most(r->off_ns, difference_ns(r, item));
    for (uint32_t k = 0; k < item->n_queues; k++) {
      add_item(&r->queue[p->item_queue[item->queue0 + k]], item);
    }
  }
  return FSCHED_OK;
}

/* Lists the items: those that differ most come first, equal ones in the order of the profile.
 * Items without a difference are listed only when all are wanted. */
static fs_status find_listed(report *r) {
  fs_heap heap = {0};
  fs_status status = fs_new(r->arena, &r->listed, r->p->n_items);
  for (uint32_t i = 0; status == FSCHED_OK && i < r->p->n_items; i++) {
    status = fs_heap_push(r->ctx, &heap, UINT64_MAX - difference(r, &r->p->item[i]), i);
  }
  while (status == FSCHED_OK && heap.n > 0 &&
         (r->all || (r->n_listed < SHOWN && heap.at[0].key != UINT64_MAX))) {
    r->listed[r->n_listed++] = fs_heap_pop(&heap).id;
  }
  fs_vec_free(r->ctx, &heap);
  return status;
}

static bool measured(const report *r) { return r->p->makespan.count != 0; }

/* Whether more than a tenth of all planned time is wrong. */
static bool should_recompile(const report *r) {
  uint64_t planned = r->total.planned_known ? planned_ns(r, r->total.planned) : FS_TICK_NONE;
  return planned != FS_TICK_NONE && r->off_ns > planned / 10;
}

/* The part of the makespan that is neither ops nor copies. */
static uint64_t between_ns(const report *r) {
  uint64_t expected = r->p->expected_ns, whole = r->p->makespan.median_ns;
  return !measured(r) || expected == FS_TICK_NONE || expected > whole ? 0 : whole - expected;
}

static bool loses_time(const report *r) {
  return measured(r) && between_ns(r) > r->p->makespan.median_ns / 10;
}

/* a / b in thousandths, rounded down; FS_TICK_NONE: not known. */
static uint64_t thousandths(uint64_t a, uint64_t b) {
  if (a == FS_TICK_NONE || b == FS_TICK_NONE || b == 0) {
    return FS_TICK_NONE;
  }
  for (; a >> 53 != 0; a >>= 1, b >>= 1) {
  }
  return b == 0 ? FS_TICK_NONE : a * 1000 / b;
}

/* ---- text */

/* Writes a time of a profile in ticks: "7", "7.250". */
static void put_ticks(fs_text *t, uint64_t ns) {
  uint64_t per_tick = FS_TICK_UNKNOWN_PS / 1000;
  fs_text_u64(t, ns / per_tick);
  if (ns % per_tick != 0) {
    fs_text_printf(t, ".%03llu", (unsigned long long)(ns % per_tick));
  }
}

/* Writes "850 ns", "12.345 us", "3.210 ms", "1.500 s", in integers, so that the text is the same in
 * all locales and on all machines; or "7 ticks", where nothing says how long a tick is. */
static void put_ns(const report *r, fs_text *t, uint64_t ns) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
  if (r->p->in_ticks) {
    put_ticks(t, ns);
    fs_text_puts(t, ns == FS_TICK_UNKNOWN_PS / 1000 ? " tick" : " ticks");
    return;
  }
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (ns >= units[i].ns) {
      fs_text_printf(t, "%llu.%03llu %s", (unsigned long long)(ns / units[i].ns),
                     (unsigned long long)(ns % units[i].ns / (units[i].ns / 1000)), units[i].name);
      return;
    }
  }
  fs_text_printf(t, "%llu ns", (unsigned long long)ns);
}

/* Writes a planned time in ns if the length of a tick is known, else in ticks. */
static void put_planned(const report *r, fs_text *t, fs_tick planned) {
  if (planned == FS_TICK_NONE) {
    fs_text_puts(t, "-");
  } else if (r->tick_ps == 0) {
    fs_text_printf(t, "%llu", (unsigned long long)planned);
  } else {
    put_ns(r, t, planned_ns(r, planned));
  }
}

static void put_percent(fs_text *t, uint64_t thousandth) {
  if (thousandth == FS_TICK_NONE) {
    fs_text_puts(t, "-");
  } else {
    fs_text_printf(t, "%llu.%llu %%", (unsigned long long)(thousandth / 10),
                   (unsigned long long)(thousandth % 10));
  }
}

static void put_name(fs_text *t, const fs_profile_item *item) {
  fs_text_puts(t, item->kind == FS_PROFILE_OP      ? ""
                  : item->kind == FS_PROFILE_WRITE ? "write "
                                                   : "read ");
  fs_text_visible(t, item->name);
}

static void text_makespan(const report *r) {
  const fsched_profile *p = r->p;
  const fsched_duration *d = &p->makespan;
  fs_text *t = r->t;
  uint64_t planned = planned_ns(r, p->planned);
  fs_text_visible(t, p->graph == NULL ? "profile" : p->graph);
  if (p->on != NULL) {
    fs_text_puts(t, " on ");
    fs_text_visible(t, p->on);
  }
  fs_text_puts(t, ": makespan planned ");
  put_planned(r, t, p->planned);
  fs_text_puts(t, r->tick_ps == 0 && p->planned != FS_TICK_NONE ? " ticks" : "");
  if (measured(r)) {
    fs_text_puts(t, p->simulated ? ", simulated " : ", measured ");
    put_ns(r, t, d->median_ns);
    if (planned != FS_TICK_NONE) {
      fs_text_puts(t, " (");
      put_percent(t, thousandths(d->median_ns, planned));
      fs_text_puts(t, ")");
    }
    fs_text_printf(t, " in %llu run%s", (unsigned long long)d->count, fs_plural_s(d->count));
    if (d->min_ns != d->max_ns) {
      fs_text_puts(t, ", from ");
      put_ns(r, t, d->min_ns);
      fs_text_puts(t, " to ");
      put_ns(r, t, d->max_ns);
    }
  }
  fs_text_puts(t, "\n");
  if (p->expected_ns != FS_TICK_NONE) {
    fs_text_puts(t, "ops and copies alone would take ");
    put_ns(r, t, p->expected_ns);
    if (measured(r)) {
      fs_text_puts(t, "; ");
      put_ns(r, t, between_ns(r));
      fs_text_puts(t, " lie between them");
    }
    fs_text_puts(t, "\n");
  }
}

static void cell(fs_columns *c, const char *text, fs_side side) {
  fs_text_puts(&c->text, text);
  fs_columns_cell(c, side);
}

static void planned_and_measured(const report *r, fs_columns *c, fs_tick planned, uint64_t ns) {
  put_planned(r, &c->text, planned);
  fs_columns_cell(c, FS_RIGHT);
  put_ns(r, &c->text, ns);
  fs_columns_cell(c, FS_RIGHT);
  put_percent(&c->text, thousandths(ns, planned_ns(r, planned)));
  fs_columns_cell(c, FS_RIGHT);
}

static const char *took_word(const report *r) { return r->p->simulated ? "simulated" : "measured"; }

static fs_status text_queues(const report *r) {
  const char *const heads[] = {"commands", "planned", took_word(r), "of plan"};
  fs_columns c;
  fs_columns_init(&c, r->ctx, 5);
  cell(&c, "queue", FS_LEFT);
  for (size_t i = 0; i < 4; i++) {
    cell(&c, heads[i], FS_RIGHT);
  }
  for (uint32_t q = 0; q < r->p->n_queues; q++) {
    const queue_sum *sum = &r->queue[q];
    fs_text_visible(&c.text, r->p->queue[q]);
    fs_columns_cell(&c, FS_LEFT);
    fs_text_printf(&c.text, "%u", sum->n);
    fs_columns_cell(&c, FS_RIGHT);
    planned_and_measured(r, &c, sum->planned_known ? sum->planned : FS_TICK_NONE, sum->measured_ns);
  }
  fs_text_puts(r->t, "\n");
  return fs_columns_finish(&c, "", r->t);
}

static fs_status text_items(const report *r) {
  const char *const heads[] = {"planned", took_word(r), "of plan", "least", "greatest"};
  fs_columns c;
  fs_columns_init(&c, r->ctx, 6);
  fs_text_printf(r->t, "\n%s", r->tick_ps == 0 ? "what took longest" : "what differs most");
  fs_text_printf(r->t, r->n_listed < r->p->n_items ? ", %u of %u:\n" : ":\n", r->n_listed,
                 r->p->n_items);
  cell(&c, "", FS_LEFT);
  for (size_t i = 0; i < 5; i++) {
    cell(&c, heads[i], FS_RIGHT);
  }
  for (uint32_t k = 0; k < r->n_listed; k++) {
    const fs_profile_item *item = &r->p->item[r->listed[k]];
    put_name(&c.text, item);
    fs_columns_cell(&c, FS_LEFT);
    planned_and_measured(r, &c, item->planned, item->took.median_ns);
    put_ns(r, &c.text, item->took.min_ns);
    fs_columns_cell(&c, FS_RIGHT);
    put_ns(r, &c.text, item->took.max_ns);
    fs_columns_cell(&c, FS_RIGHT);
  }
  return fs_columns_finish(&c, "  ", r->t);
}

static void text_advice(const report *r) {
  fs_text *t = r->t;
  if (r->p->simulated) { /* a simulation takes the planned times, or what it was told to take */
    return;
  }
  fs_text_puts(t, "\n");
  if (r->tick_ps == 0) {
    fs_text_puts(t,
                 "Nothing says how long a tick is: --tick LENGTH does, or a time_unit of the "
                 "target (ns, us, ms, s).\n");
  }
  if (should_recompile(r)) {
    fs_text_puts(t,
                 "The planned times are far from these: compile the graph with --profile and "
                 "the profile's file, and the plan goes by what was measured.\n");
  } else if (r->tick_ps != 0 && r->total.planned_known) {
    fs_text_puts(t, "In whole ticks, the planned times are within a tenth of these.\n");
  }
  if (loses_time(r)) {
    fs_text_puts(t,
                 "Time is lost between the commands, which no plan changes: fewer and longer "
                 "ops would help, or as many processors as queues.\n");
  }
}

static fs_status put_report_text(const report *r) {
  text_makespan(r);
  if (r->p->n_queues > 0) {
    FS_TRY(text_queues(r));
  }
  if (r->n_listed > 0) {
    FS_TRY(text_items(r));
  }
  text_advice(r);
  return FSCHED_OK;
}

/* ---- JSON */

static void key(fs_text *t, const char *prefix, uint64_t value) {
  if (value != FS_TICK_NONE) {
    fs_text_puts(t, prefix);
    fs_text_u64(t, value);
  }
}

static void word(fs_text *t, const char *prefix, const char *value) {
  if (value != NULL) {
    fs_text_puts(t, prefix);
    fs_text_quoted(t, value);
  }
}

static void ratio(fs_text *t, uint64_t a, uint64_t b) {
  uint64_t value = thousandths(a, b);
  if (value != FS_TICK_NONE) {
    fs_text_printf(t, ", \"ratio\": %llu.%03llu", (unsigned long long)(value / 1000),
                   (unsigned long long)(value % 1000));
  }
}

/* Writes a time under the name with "_ns", or where nothing says how long a tick is, "_ticks". */
static void key_time(const report *r, const char *name, uint64_t ns) {
  if (ns == FS_TICK_NONE) {
    return;
  }
  fs_text_printf(r->t, ", \"%s_%s\": ", name, r->p->in_ticks ? "ticks" : "ns");
  if (r->p->in_ticks) {
    put_ticks(r->t, ns);
  } else {
    fs_text_u64(r->t, ns);
  }
}

static void json_times(const report *r, fs_tick planned, uint64_t ns) {
  key(r->t, ", \"planned\": ", planned);
  key(r->t, ", \"planned_ns\": ", r->p->in_ticks ? FS_TICK_NONE : planned_ns(r, planned));
  key_time(r, took_word(r), ns);
  ratio(r->t, ns, planned_ns(r, planned));
}

static void json_makespan(const report *r) {
  const fsched_profile *p = r->p;
  fs_text *t = r->t;
  fs_text_puts(t, "{\n \"fsched_profile_report\": 1");
  word(t, ",\n \"graph\": ", p->graph);
  word(t, ",\n \"time_unit\": ", p->time_unit);
  bool known = r->tick_ps != 0 && !p->in_ticks;
  key(t, ",\n \"tick_ns\": ", known && r->tick_ps % 1000 == 0 ? r->tick_ps / 1000 : FS_TICK_NONE);
  key(t, ",\n \"tick_ps\": ", known && r->tick_ps % 1000 != 0 ? r->tick_ps : FS_TICK_NONE);
  word(t, ",\n \"on\": ", p->on);
  fs_text_puts(t, p->simulated ? ",\n \"simulated\": true" : "");
  fs_text_puts(t, ",\n \"makespan\": {\"invocations\": ");
  fs_text_u64(t, p->makespan.count);
  json_times(r, p->planned, measured(r) ? p->makespan.median_ns : FS_TICK_NONE);
  if (measured(r)) {
    key_time(r, "min", p->makespan.min_ns);
    key_time(r, "max", p->makespan.max_ns);
  }
  key_time(r, "expected", p->expected_ns);
  if (measured(r) && p->expected_ns != FS_TICK_NONE) {
    key_time(r, "between", between_ns(r));
  }
  fs_text_puts(t, "}");
}

static void json_item(const report *r, const fs_profile_item *item) {
  word(r->t, "{\"name\": ", item->name);
  word(r->t, ", \"kind\": ", fs_profile_kind_name[item->kind]);
  if (item->kind != FS_PROFILE_OP) {
    key(r->t, ", \"version\": ", item->version);
  }
  json_times(r, item->planned, item->took.median_ns);
  key_time(r, "min", item->took.min_ns);
  key_time(r, "max", item->took.max_ns);
  fs_text_puts(r->t, "}");
}

static fs_status put_report_json(const report *r) {
  fs_text *t = r->t;
  json_makespan(r);
  fs_text_puts(t, ",\n \"queues\": [");
  for (uint32_t q = 0; q < r->p->n_queues; q++) {
    const queue_sum *sum = &r->queue[q];
    word(t, q == 0 ? "\n  {\"name\": " : ",\n  {\"name\": ", r->p->queue[q]);
    key(t, ", \"commands\": ", sum->n);
    json_times(r, sum->planned_known ? sum->planned : FS_TICK_NONE, sum->measured_ns);
    fs_text_puts(t, "}");
  }
  fs_text_puts(t, r->p->n_queues == 0 ? "],\n \"ops\": [" : "\n ],\n \"ops\": [");
  for (uint32_t k = 0; k < r->n_listed; k++) {
    fs_text_puts(t, k == 0 ? "\n  " : ",\n  ");
    json_item(r, &r->p->item[r->listed[k]]);
  }
  fs_text_puts(t, r->n_listed == 0 ? "]" : "\n ]");
  key(t, ",\n \"ops_not_shown\": ", r->p->n_items - r->n_listed);
  fs_text_printf(t, ",\n \"recompile\": %s,\n \"time_between\": %s\n}\n",
                 should_recompile(r) ? "true" : "false", loses_time(r) ? "true" : "false");
  return FSCHED_OK;
}

static fs_status make_report(report *r, fsched_report_format format) {
  FS_TRY(sum_up(r));
  FS_TRY(find_listed(r));
  return format == FSCHED_REPORT_TEXT ? put_report_text(r) : put_report_json(r);
}

fsched_status fsched_profile_report(fsched_context *ctx, const fsched_profile *p,
                                    const fsched_report_options *options, char **text,
                                    size_t *length) {
  fsched_report_options o = {.size = sizeof o};
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_report_options", options->size,
                            FS_SIZE_UP_TO(fsched_report_options, all)));
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  if ((unsigned)o.format > FSCHED_REPORT_JSON) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'format' is %d, no fsched_report_format", (int)o.format);
  }
  fs_text t;
  fs_text_init(&t, ctx);
  FS_SCRATCH(arena, ctx);
  report r = {.ctx = ctx,
              .p = p,
              .t = &t,
              .all = o.all != 0,
              .tick_ps = fs_profile_tick_ps(p),
              .arena = &arena};
  fs_status status = make_report(&r, o.format);
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  return fs_text_take(&t, text, length);
}
