/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as a picture.  From top to bottom: title, time axis, the queues, the memories, other
 * limited amounts, the time axis again, the legend.  The height is known only at the end, so the
 * body is written first, and then put after the head of the file. */
#include "draw/svg/svg.h"

#include <stdio.h>

#include "base/group.h"
#include "base/text/plural.h"
#include "base/text/ticks.h"
#include "model/handle.h"

enum { DEFAULT_WIDTH = 1400, LEAST_WIDTH = 400, MOST_WIDTH = 10000, EDGE = 16 * FS_PX };
enum { AXIS = 15 * FS_PX }; /* height of the axis's numbers */

/* Finds the op whose colour each version has: its first writer, or first reader if it is given. */
static fs_status find_version_ops(fs_svg *v) {
  const fsched_graph *g = v->g;
  FS_TRY(fs_new_none(&v->arena, &v->version_op, g->n_versions));
  for (uint32_t version = 0; version < g->n_versions; version++) {
    for (uint32_t a = g->version_access0[version]; a < g->version_access0[version + 1]; a++) {
      if (fs_version_given(g, version) || fs_tag_writes(g->arg_tag[g->access_arg[a]])) {
        v->version_op[version] = g->access_op[a];
        break;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status find_contents(fs_svg *v) {
  const fs_schedule *s = v->s;
  FS_TRY(fs_new(&v->arena, &v->content, s->n_residencies));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    v->content[r] =
        s->res_version[r] == FS_NONE ? s->res_size[r] : fs_version_size(v->g, s->res_version[r]);
  }
  for (uint32_t i = 0; i < v->g->op_scratch0[v->g->n_ops]; i++) {
    if (s->scratch_residency[i] != FS_NONE) {
      v->content[s->scratch_residency[i]] = v->g->scratch_size[i];
    }
  }
  return FSCHED_OK;
}

/* The memories that each copy is in: of the residency, and of its store where that is bounded. */
static fs_status group_copies(fs_svg *v) {
  const fs_schedule *s = v->s;
  uint32_t *place0, *place, n = 0;
  FS_TRY(fs_new(&v->arena, &place0, (size_t)s->n_copies + 1));
  FS_TRY(fs_new(&v->arena, &place, 2 * (size_t)s->n_copies));
  for (uint32_t copy = 0; copy < s->n_copies; copy++) {
    uint32_t residency = s->copy_residency[copy], store = s->copy_store[copy];
    place0[copy] = n;
    if (residency != FS_NONE) {
      place[n++] = s->res_memory[residency];
    }
    if (store != FS_NONE && (n == place0[copy] || s->res_memory[store] != place[n - 1])) {
      place[n++] = s->res_memory[store];
    }
  }
  place0[s->n_copies] = n;
  return fs_group_turn(&v->arena, place0, place, s->n_copies, v->g->target.n_memories,
                       &v->memory_copy0, &v->memory_copy);
}

static fs_status group_pairs(fs_svg *v) {
  uint32_t n = v->g->op_inplace0[v->g->n_ops], *memory;
  FS_TRY(fs_new(&v->arena, &memory, n));
  for (uint32_t pair = 0; pair < n; pair++) {
    uint32_t out = v->s->arg_residency[v->g->inplace_out[pair]];
    memory[pair] = out == FS_NONE ? FS_NONE : v->s->res_memory[out];
  }
  return fs_group(&v->arena, memory, n, v->g->target.n_memories, &v->memory_pair0, &v->memory_pair);
}

static fs_status group_uses(fs_svg *v) {
  const fsched_graph *g = v->g;
  uint32_t n = g->op_use0[g->n_ops];
  FS_TRY(fs_new(&v->arena, &v->use_op, n));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t u = g->op_use0[op]; u < g->op_use0[op + 1]; u++) {
      v->use_op[u] = op;
    }
  }
  return fs_group(&v->arena, g->use_resource, n, g->target.n_resources, &v->resource_use0,
                  &v->resource_use);
}

static fs_status find_panels(fs_svg *v) {
  FS_TRY(fs_group(&v->arena, v->s->res_memory, v->s->n_residencies, v->g->target.n_memories,
                  &v->memory_res0, &v->memory_res));
  FS_TRY(fs_new_none(&v->arena, &v->alone, v->s->n_residencies));
  FS_TRY(group_copies(v));
  FS_TRY(group_pairs(v));
  return group_uses(v);
}

/* Finds the ticks that the picture spans, so that everything lies between 0 and the span, even in a
 * schedule that has not been verified. */
static void find_span(fs_svg *v) {
  const fs_schedule *s = v->s;
  v->span = fs_max(fs_max(s->makespan, s->lower_bound), 1);
  for (uint32_t i = 0; i < s->n_items; i++) {
    v->span = fs_max(v->span, s->end[i]);
  }
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    v->span = fs_max(v->span, s->res_end[r]);
  }
}

static void find_edges(fs_svg *v, uint32_t width) {
  enum { LEAST = 76 * FS_PX, MOST = 150 * FS_PX, BESIDE = 74 * FS_PX };
  v->width = (fs_cent)(width == 0 ? DEFAULT_WIDTH : width) * FS_PX;
  v->left = LEAST;
  for (uint32_t q = 0; q < v->s->n_queues; q++) {
    const char *name = v->s->queue_name[q];
    const char *mark = fs_svg_queue_mark(v, q);
    fs_cent wide = fs_svg_width(name, strlen(name), FS_SVG_ROW) +
                   fs_svg_width(mark, strlen(mark), FS_SVG_ROW) + EDGE;
    v->left = wide > v->left ? wide : v->left;
  }
  v->left = v->left > MOST ? MOST : v->left;
  v->right = v->width - BESIDE;
}

/* ---- time */

static void find_unit(fs_svg *v) {
  const char *name = v->g->target.time_unit;
  fs_svg_unit u = {name == NULL ? "ticks" : name, 0, 1};
  uint32_t at = 0;
  while (at < FS_TICK_UNITS && strcmp(u.name, fs_tick_unit[at]) != 0) {
    at++;
  }
  v->step = fs_svg_step(v->span, (uint32_t)((v->right - v->left) / (90 * FS_PX)) + 1);
  while (v->step / u.ticks % 1000 == 0 && v->span / u.ticks >= 10000) {
    u.ticks *= 1000;
    if (at + 1 < FS_TICK_UNITS) {
      u.name = fs_tick_unit[++at];
    } else {
      u.thousands++;
    }
  }
  v->unit = u;
}

static void put_axis_unit(fs_text *t, const fs_svg_unit *u) {
  if (u->thousands == 0) {
    fs_svg_name(t, u->name);
    return;
  }
  fs_text_puts(t, "10<tspan dy=\"-3\" font-size=\"8\">");
  fs_text_u64(t, (uint64_t)3 * u->thousands);
  fs_text_puts(t, "</tspan><tspan dx=\"3\" dy=\"3\">");
  fs_svg_name(t, u->name);
  fs_text_puts(t, "</tspan>");
}

static void axis(fs_svg *v, fs_cent baseline) {
  fs_svg_text(&v->body, "t e", v->left - 12 * FS_PX, baseline);
  put_axis_unit(&v->body, &v->unit);
  fs_text_puts(&v->body, "</text>\n");
  for (fs_tick time = 0; time <= v->span; time += v->step) {
    fs_svg_text(&v->body, "t a o", v->left + fs_svg_x(v, time), baseline);
    fs_text_u64(&v->body, time / v->unit.ticks);
    fs_text_puts(&v->body, "</text>\n");
  }
}

/* Whether a vertical line at this time would strike through a number of the axis. */
static bool meets_number(const fs_svg *v, fs_tick time) {
  char digits[24];
  fs_tick before = time / v->step * v->step;
  for (int i = 0; i < 2; i++) {
    fs_tick at = before + (fs_tick)i * v->step;
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)(at / v->unit.ticks));
    fs_cent half = fs_svg_width(digits, (size_t)n, FS_SVG_LABEL) / 2 + 2 * FS_PX;
    fs_cent apart = fs_svg_x(v, at) - fs_svg_x(v, time);
    if (at <= v->span && apart < half && -apart < half) {
      return true;
    }
  }
  return false;
}

/* Adds a vertical line to a path, unless it has no length. */
static void put_line(fs_text *t, fs_cent x, fs_cent y0, fs_cent y1) {
  if (y0 < y1) {
    fs_text_puts(t, "M");
    fs_svg_number(t, x);
    fs_text_puts(t, " ");
    fs_svg_number(t, y0);
    fs_text_puts(t, "V");
    fs_svg_number(t, y1);
  }
}

/* Draws a vertical line through all panels but those with other axes, and words above it.  The line
 * begins at the words, or, if it would strike through a number of the axis, below the numbers. */
static void time_mark(fs_svg *v, const char *line, const char *words_class, const char *words,
                      fs_tick time, fs_cent top, fs_cent *free) {
  fs_cent x = v->left + fs_svg_x(v, time);
  fs_text_puts(&v->body, "<path class=\"");
  fs_text_puts(&v->body, line);
  fs_text_puts(&v->body, "\" d=\"");
  bool apart = v->apart0 < v->apart1;
  put_line(&v->body, x, meets_number(v, time) ? top + AXIS : top, apart ? v->apart0 : v->y);
  put_line(&v->body, x, v->apart1, apart ? v->y : v->apart1);
  fs_text_puts(&v->body, "\"/>\n");
  fs_cent wide = fs_svg_width(words, strlen(words), FS_SVG_LABEL);
  fs_cent end = x + wide / 2 < v->width - EDGE ? x + wide / 2 : v->width - EDGE;
  end = end > *free ? *free : end;
  *free = end - wide - 8 * FS_PX;
  fs_svg_text(&v->body, words_class, end, top - 4 * FS_PX);
  fs_text_puts(&v->body, words);
  fs_text_puts(&v->body, "</text>\n");
}

static void time_marks(fs_svg *v, fs_cent top) {
  const fs_schedule *s = v->s;
  fs_cent free = v->width;
  if (s->lower_bound == s->makespan) {
    time_mark(v, "me", "t e", "makespan = lower bound", s->makespan, top, &free);
    return;
  }
  time_mark(v, "me", "t e", "makespan", s->makespan, top, &free);
  if (s->lower_bound > 0) {
    time_mark(v, "lb", "t e lt", "lower bound", s->lower_bound, top, &free);
  }
}

/* ---- panels */

static uint32_t count_memories(const fs_svg *v, fsched_placement placement) {
  uint32_t n = 0;
  for (uint32_t m = 0; m < v->g->target.n_memories; m++) {
    const fs_memory *memory = &v->g->target.memory[m];
    n += fs_memory_bounded(memory) && memory->placement == placement;
  }
  return n;
}

static fs_status memories(fs_svg *v) {
  FS_TRY(fs_new(&v->arena, &v->peak, v->g->target.n_memories));
  FS_TRY(fs_schedule_peaks(v->ctx, v->s, v->peak));
  FS_TRY(fs_schedule_stays(v->s, &v->arena, &v->stays));
  uint32_t n = count_memories(v, FSCHED_CONTIGUOUS);
  fs_cent height = (n <= 1 ? 280 : n == 2 ? 220 : n == 3 ? 170 : n <= 12 ? 120 : 80) * FS_PX;
  for (uint32_t m = 0; m < v->g->target.n_memories; m++) {
    const fs_memory *memory = &v->g->target.memory[m];
    if (fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement)) {
      FS_TRY(fs_svg_map(v, m, height));
    }
  }
  return FSCHED_OK;
}

static fs_status amounts(fs_svg *v) {
  const fs_target *target = &v->g->target;
  uint32_t n = count_memories(v, FSCHED_COUNTED) + target->n_resources + (target->concurrency != 0);
  fs_cent height = (n <= 3 ? 84 : n <= 8 ? 56 : 32) * FS_PX;
  for (uint32_t m = 0; m < target->n_memories; m++) {
    if (fs_memory_bounded(&target->memory[m]) &&
        !fs_placement_has_addresses(target->memory[m].placement)) {
      FS_TRY(fs_svg_counted(v, m, height));
    }
  }
  for (uint32_t r = 0; r < target->n_resources; r++) {
    FS_TRY(fs_svg_resource(v, r, height));
  }
  return target->concurrency == 0 ? FSCHED_OK : fs_svg_concurrency(v, height);
}

static fs_status draw_body(fs_svg *v) {
  enum { HEADER = 60 * FS_PX, MARKS = 18 * FS_PX };
  fs_cent top = HEADER + MARKS;
  v->y = top + AXIS;
  FS_TRY(fs_svg_gantt(v));
  FS_TRY(fs_svg_loops(v));
  FS_TRY(memories(v));
  FS_TRY(amounts(v));
  time_marks(v, top);
  axis(v, top + AXIS - 5 * FS_PX); /* over the marks */
  axis(v, v->y + 17 * FS_PX);
  v->y += 21 * FS_PX;
  fs_svg_legend(v);
  return FSCHED_OK;
}

/* ---- the whole */

/* Writes "2 loads, 1 store, 0 spills". */
static void put_copies(fs_text *t, const fs_svg *v) {
  uint32_t count[FS_ROLES] = {0};
  for (uint32_t copy = 0; copy < v->s->n_copies; copy++) {
    count[v->role[copy]]++;
  }
  uint32_t loads = count[FS_ROLE_LOAD], stores = count[FS_ROLE_STORE];
  uint32_t spills = v->s->n_copies - loads - stores;
  fs_text_count(t, loads, "load");
  fs_text_puts(t, ", ");
  fs_text_count(t, stores, "store");
  fs_text_puts(t, ", ");
  fs_text_count(t, spills, "spill");
}

/* Writes the summary "5 ops, 0 copies; makespan 7 us, lower bound 5 us, feasible (not proven
 * optimal)". */
static void put_summary(fs_text *t, const fs_svg *v) {
  const fs_schedule *s = v->s;
  fs_text_count(t, v->g->n_ops, "op");
  fs_text_puts(t, ", ");
  if (s->n_copies == 0) {
    fs_text_puts(t, "0 copies");
  } else {
    put_copies(t, v);
  }
  fs_text_puts(t, "; makespan ");
  fs_svg_time(t, v, s->makespan);
  fs_text_puts(t, ", lower bound ");
  fs_svg_time(t, v, s->lower_bound);
  fs_text_puts(t, ", ");
  fs_text_puts(t, fs_words_schedule_status[s->status]);
  fs_text_puts(t, s->status == FS_SCHEDULE_FEASIBLE ? " (not proven optimal)" : "");
}

static void put_size(fs_text *t, const fs_svg *v) {
  fs_svg_attribute(t, "width", v->width);
  fs_svg_attribute(t, "height", v->y);
  fs_text_puts(t, " viewBox=\"0 0 ");
  fs_svg_number(t, v->width);
  fs_text_puts(t, " ");
  fs_svg_number(t, v->y);
  fs_text_puts(t, "\"");
}

static void put_head(fs_text *t, const fs_svg *v) {
  fs_text_puts(t,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\"");
  put_size(t, v);
  fs_text_puts(t,
               " role=\"img\" aria-labelledby=\"fsched-title fsched-desc\">\n"
               "<title id=\"fsched-title\">");
  fs_svg_name(t, v->g->name);
  fs_text_puts(t,
               ": schedule</title>\n<desc id=\"fsched-desc\">Gantt chart of the queues and, on "
               "the same time axis, what is held of each bounded memory and resource: ");
  put_summary(t, v);
  fs_text_puts(t, ".</desc>\n");
  fs_svg_style(v, t);
  fs_text_puts(t, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  fs_svg_text(t, "n", EDGE, 30 * FS_PX);
  fs_svg_name(t, v->g->name);
  fs_text_puts(t, "</text>\n");
  fs_svg_text(t, "u", EDGE, 50 * FS_PX);
  put_summary(t, v);
  fs_text_puts(t, "</text>\n");
}

static fs_status draw_schedule(fs_svg *v, uint32_t width, char **text, size_t *length) {
  FS_TRY(find_version_ops(v));
  FS_TRY(find_contents(v));
  FS_TRY(find_panels(v));
  FS_TRY(fs_schedule_copy_roles(v->s, &v->arena, &v->role));
  FS_TRY(fs_svg_find_loops(v));
  find_span(v);
  find_edges(v, width);
  find_unit(v);
  FS_TRY(draw_body(v));
  if (v->body.failed || v->name.failed) {
    return FSCHED_SYSTEM;
  }
  fs_text whole;
  fs_text_init(&whole, v->ctx);
  put_head(&whole, v);
  fs_text_add(&whole, v->body.at, v->body.n);
  fs_text_puts(&whole, "</svg>\n");
  return fs_text_take(&whole, text, length);
}

fs_status fsched_schedule_svg(fsched_context *ctx, const fsched_schedule *s,
                              const fsched_svg_options *options, char **text, size_t *length) {
  uint32_t width = 0;
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_svg_options", options->size,
                            FS_SIZE_UP_TO(fsched_svg_options, width)));
    width = options->width;
  }
  if (width != 0 && (width < LEAST_WIDTH || width > MOST_WIDTH)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "a picture is %d to %d pixels wide, not %u", LEAST_WIDTH, MOST_WIDTH, width);
  }
  fs_svg v = {.ctx = ctx, .s = s->schedule, .sync = s->sync, .g = s->schedule->graph};
  fs_arena_init(&v.arena, ctx);
  fs_text_init(&v.body, ctx);
  fs_text_init(&v.above, ctx);
  fs_text_init(&v.name, ctx);
  fs_status status = draw_schedule(&v, width, text, length);
  fs_text_drop(&v.body);
  fs_text_drop(&v.above);
  fs_text_drop(&v.name);
  fs_arena_release(&v.arena);
  return status;
}
