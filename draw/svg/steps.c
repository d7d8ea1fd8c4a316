/* SPDX-License-Identifier: Apache-2.0 */
/* Panels of amounts over time, as an area under steps: what is in use of a counted memory or a
 * resource, and how many ops run.
 *
 * The sum is updated event by event, in order of time.  At equal times, releases come before
 * acquisitions, and between them come events that take no time, each of which counts only itself on
 * top of the sum; of a memory they are the sums that there are in the order of issue
 * (model/schedule.h, fs_stays), where residencies without length are beside others.  A step
 * narrower than half a pixel is drawn half a pixel wide, as high as the largest sum in its time: so
 * the line never hides a peak, and has at most four points per pixel whatever the number of events.
 */
#include "base/heap.h"
#include "draw/svg/svg.h"

typedef struct fs_svg_steps {
  fs_heap events; /* keys: 2 * time, odd for acquisitions; ids with INSTANT come after releases */
  uint64_t *amount;
  uint32_t n;
  bool sums; /* the amounts of events that take no time are sums */
} fs_svg_steps;

#define INSTANT ((uint32_t)1 << 31)

static fs_status add_event(fs_svg *v, fs_svg_steps *steps, fs_tick begin, fs_tick end,
                           uint64_t amount) {
  uint32_t id = steps->n++;
  steps->amount[id] = amount;
  if (begin == end) {
    return fs_heap_push(v->ctx, &steps->events, 2 * begin, id | INSTANT);
  }
  FS_TRY(fs_heap_push(v->ctx, &steps->events, 2 * begin + 1, id));
  return fs_heap_push(v->ctx, &steps->events, 2 * end, id);
}

static uint64_t sum_saturated(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The sum after all events of one time, and the largest sum after an acquisition at that time. */
typedef struct fs_svg_rise {
  fs_tick time;
  uint64_t largest, after;
} fs_svg_rise;

typedef struct fs_svg_line {
  fs_svg_rise *step;
  uint32_t n;
  uint64_t peak, largest; /* `peak` excludes what takes no time, but for memories */
} fs_svg_line;

/* Sums the events, which become one step for each distinct time. */
static fs_status sum_events(fs_svg *v, fs_svg_steps *steps, fs_svg_line *line) {
  uint64_t sum = 0;
  FS_TRY(fs_new(&v->arena, &line->step, steps->events.n));
  while (steps->events.n > 0) {
    fs_heap_entry e = fs_heap_pop(&steps->events);
    uint64_t amount = steps->amount[e.id & ~INSTANT];
    if (line->n == 0 || line->step[line->n - 1].time != e.key / 2) {
      line->step[line->n++] = (fs_svg_rise){.time = e.key / 2};
    }
    fs_svg_rise *step = &line->step[line->n - 1];
    if ((e.id & INSTANT) != 0) {
      step->largest = fs_max(step->largest, steps->sums ? amount : sum_saturated(sum, amount));
      line->peak = steps->sums ? fs_max(line->peak, amount) : line->peak;
    } else if (e.key % 2 == 0) {
      sum -= fs_min(sum, amount);
    } else {
      sum = sum_saturated(sum, amount);
      step->largest = fs_max(step->largest, sum);
      line->peak = fs_max(line->peak, sum);
    }
    step->after = sum;
    line->largest = fs_max(line->largest, step->largest);
  }
  return FSCHED_OK;
}

typedef struct fs_svg_pen {
  fs_svg *v;
  fs_cent top, height;
  uint64_t amount_top;
  fs_cent x, y; /* its position */
} fs_svg_pen;

static void move(fs_svg_pen *pen, fs_cent x, uint64_t amount) {
  fs_text *t = &pen->v->body;
  fs_cent y = pen->height - fs_svg_scale(amount, pen->amount_top, pen->height);
  if (y == pen->y) {
    return;
  }
  if (x != pen->x) {
    fs_text_puts(t, "H");
    fs_svg_number(t, pen->v->left + x);
  }
  fs_text_puts(t, "V");
  fs_svg_number(t, pen->top + y);
  pen->x = x;
  pen->y = y;
}

/* Draws the steps; those within half a pixel are joined. */
static void draw_line(fs_svg_pen *pen, const fs_svg_line *line) {
  enum { GRAIN = FS_PX / 2 };
  uint32_t i = 0;
  while (i < line->n) {
    fs_cent x = fs_svg_x(pen->v, line->step[i].time);
    uint64_t after = line->step[i].after, largest = fs_max(line->step[i].largest, after);
    for (i++; i < line->n && fs_svg_x(pen->v, line->step[i].time) < x + GRAIN; i++) {
      largest = fs_max(largest, line->step[i].largest);
      after = line->step[i].after;
    }
    fs_cent limit = pen->v->right - pen->v->left - GRAIN;
    move(pen, x < limit ? x : limit, largest);
    move(pen, x < limit ? x + GRAIN : limit + GRAIN, after);
  }
}

static fs_status draw_steps(fs_svg *v, fs_svg_steps *steps, const char *name, const char *what,
                            uint64_t capacity, bool bytes, fs_cent height) {
  fs_svg_line line = {0};
  fs_svg_amounts a;
  FS_TRY(sum_events(v, steps, &line));
  fs_svg_amounts_init(&a, capacity, line.largest, "peak", bytes);
  a.used = line.peak;
  fs_svg_heading(v, name);
  fs_text_puts(&v->body, what);
  fs_svg_amount(&v->body, &a, capacity);
  fs_text_puts(&v->body, ", peak ");
  fs_svg_amount(&v->body, &a, line.peak);
  fs_cent top = fs_svg_open(v, true, height);
  fs_svg_pen pen = {v, top, height, a.top, 0, height};
  fs_text_puts(&v->body, "<path class=\"st\" d=\"M");
  fs_svg_number(&v->body, v->left);
  fs_text_puts(&v->body, " ");
  fs_svg_number(&v->body, top + height);
  draw_line(&pen, &line);
  move(&pen, v->right - v->left, 0);
  fs_text_puts(&v->body, "Z\"/>\n");
  fs_svg_ruler(v, &a, top, height);
  fs_svg_close(v);
  return FSCHED_OK;
}

/* Adds the sum that there is whenever a residency begins, in the order of issue. */
static fs_status add_sums(fs_svg *v, fs_svg_steps *steps, fs_heap *moves, uint32_t memory) {
  const fs_schedule *s = v->s;
  uint64_t sum = 0;
  for (uint32_t k = v->memory_res0[memory]; k < v->memory_res0[memory + 1]; k++) {
    uint32_t r = v->memory_res[k];
    FS_TRY(fs_heap_push(v->ctx, moves, (uint64_t)v->stays.from[r] * 2 + 1, 2 * r + 1));
    FS_TRY(fs_heap_push(v->ctx, moves, (uint64_t)v->stays.to[r] * 2, 2 * r));
  }
  while (moves->n > 0) {
    uint32_t id = fs_heap_pop(moves).id, r = id / 2;
    sum = id % 2 != 0 ? sum_saturated(sum, s->res_size[r]) : sum - fs_min(sum, s->res_size[r]);
    if (id % 2 != 0) {
      FS_TRY(add_event(v, steps, s->res_begin[r], s->res_begin[r], sum));
    }
  }
  return FSCHED_OK;
}

static fs_status collect_residencies(fs_svg *v, fs_svg_steps *steps, uint32_t memory) {
  const fs_schedule *s = v->s;
  uint32_t first = v->memory_res0[memory], end = v->memory_res0[memory + 1];
  FS_TRY(fs_new(&v->arena, &steps->amount, 2 * (size_t)(end - first)));
  for (uint32_t k = first; k < end; k++) {
    uint32_t r = v->memory_res[k];
    if (s->res_begin[r] < s->res_end[r]) {
      FS_TRY(add_event(v, steps, s->res_begin[r], s->res_end[r], s->res_size[r]));
    }
  }
  fs_heap moves = {0};
  steps->sums = true;
  fs_status status = add_sums(v, steps, &moves, memory);
  fs_vec_free(v->ctx, &moves);
  return status;
}

fs_status fs_svg_counted(fs_svg *v, uint32_t memory, fs_cent height) {
  const fs_memory *m = &v->g->target.memory[memory];
  fs_svg_steps steps = {0};
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  fs_status status = collect_residencies(v, &steps, memory);
  if (status == FSCHED_OK) {
    status = draw_steps(v, &steps, m->name, "counted memory, capacity ", m->capacity, true, height);
  }
  fs_vec_free(v->ctx, &steps.events);
  fs_arena_reset(&v->arena, mark);
  return status;
}

static fs_status collect_uses(fs_svg *v, fs_svg_steps *steps, uint32_t resource) {
  uint32_t first = v->resource_use0[resource], end = v->resource_use0[resource + 1];
  FS_TRY(fs_new(&v->arena, &steps->amount, end - first));
  for (uint32_t k = first; k < end; k++) {
    uint32_t use = v->resource_use[k], op = v->use_op[use];
    FS_TRY(add_event(v, steps, v->s->start[op], v->s->end[op], v->g->use_amount[use]));
  }
  return FSCHED_OK;
}

fs_status fs_svg_resource(fs_svg *v, uint32_t resource, fs_cent height) {
  const fs_target *target = &v->g->target;
  fs_svg_steps steps = {0};
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  fs_status status = collect_uses(v, &steps, resource);
  if (status == FSCHED_OK) {
    status = draw_steps(v, &steps, target->resource_name[resource], "resource, capacity ",
                        target->resource_capacity[resource], false, height);
  }
  fs_vec_free(v->ctx, &steps.events);
  fs_arena_reset(&v->arena, mark);
  return status;
}

static fs_status collect_ops(fs_svg *v, fs_svg_steps *steps) {
  FS_TRY(fs_new(&v->arena, &steps->amount, v->g->n_ops));
  for (uint32_t op = 0; op < v->g->n_ops; op++) {
    FS_TRY(add_event(v, steps, v->s->start[op], v->s->end[op], 1));
  }
  return FSCHED_OK;
}

fs_status fs_svg_concurrency(fs_svg *v, fs_cent height) {
  fs_svg_steps steps = {0};
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  fs_status status = collect_ops(v, &steps);
  if (status == FSCHED_OK) {
    status = draw_steps(v, &steps, "concurrency", "ops at once, at most ", v->g->target.concurrency,
                        false, height);
  }
  fs_vec_free(v->ctx, &steps.events);
  fs_arena_reset(&v->arena, mark);
  return status;
}
