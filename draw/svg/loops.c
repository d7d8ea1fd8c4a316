/* SPDX-License-Identifier: Apache-2.0 */
/* Loops.  Where all instances of a loop are shown (model/shown.h), they are drawn into its bar, at
 * their times.  Else the loop has a panel of its own, with an axis that leaves out what lies
 * between the first steps, two periods of the middle and the last steps.  An instance that is a
 * loop, too, has its own ones inside. */
#include <stdio.h>

#include "base/text/plural.h"
#include "draw/parts.h"
#include "draw/svg/svg.h"

enum { STAGES = 3, MOST_PANELS = 8, MOST_NEST = 64, INSET = 3 * FS_PX };
enum { GAP = 36 * FS_PX, ROW = 34 * FS_PX };

/* A part of the time, and where it is drawn. */
typedef struct loop_stage {
  fs_tick begin, end;
  fs_cent x0, x1;
} loop_stage;

typedef struct loop_bar {
  fs_tick begin, end;
  uint32_t colour;
  size_t name;           /* in names */
  const char *op;        /* its name; NULL: hidden */
  uint32_t loop, member; /* of the graph's rolled ones, and of its body; not of a hidden one */
  bool hidden;
} loop_bar;

/* What is drawn of one loop. */
typedef struct loop_drawing {
  fs_svg *v;
  uint32_t n_stages;
  loop_stage stage[STAGES];
  fs_cent top, height; /* of the panel */
  fs_text names;
  FS_VEC(fs_svg_box) box;
  FS_VEC(loop_bar) bar;
  uint32_t depth; /* loops around the present part */
  uint64_t iteration[MOST_NEST];
} loop_drawing;

static bool has_gap(const fs_shown_loop *l) {
  bool gap = false;
  for (uint32_t i = 0; i < l->shown.part0[l->loop.n_queues] && !gap; i++) {
    gap = l->shown.part[i].command == FS_NONE;
  }
  return gap;
}

fs_status fs_svg_find_loops(fs_svg *v) {
  const fsched_graph *g = v->g;
  FS_TRY(fs_shown_of_graph(&v->arena, g, &v->loop));
  FS_TRY(fs_new_none(&v->arena, &v->loop_of, g->n_ops));
  FS_TRY(fs_new_zero(&v->arena, &v->slot, g->n_buffers));
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    if (v->loop[l].op != FS_NONE) {
      v->loop_of[v->loop[l].op] = l;
    }
    for (uint32_t r = 0; r < x->loop.n_rings; r++) {
      uint64_t *slot = &v->slot[x->slots[r].buffer];
      if (x->loop.ring[r].depth > 1 && x->slots[r].slot > 0) {
        *slot = *slot == 0 ? x->slots[r].slot : fs_min(*slot, x->slots[r].slot);
      }
    }
  }
  return FSCHED_OK;
}

bool fs_svg_opens(const fs_svg *v, uint32_t item) {
  assert(item < v->s->n_items);
  uint32_t loop = fs_item_is_copy(v->s, item) ? FS_NONE : v->loop_of[item];
  return loop != FS_NONE && !has_gap(&v->loop[loop]);
}

/* ---- boxes */

static fs_cent x_of(const loop_drawing *d, fs_tick tick) {
  uint32_t i = 0;
  while (i + 1 < d->n_stages && tick >= d->stage[i + 1].begin) {
    i++;
  }
  const loop_stage *s = &d->stage[i];
  fs_tick at = tick < s->begin ? 0 : tick - s->begin;
  return s->x0 + fs_svg_scale(at, fs_max(s->end - s->begin, 1), s->x1 - s->x0);
}

static size_t put_name(loop_drawing *d, const fs_shown_loop *l, const fs_shown_part *part) {
  fs_text *t = &d->names;
  size_t at = t->n;
  if (part->command == FS_NONE) {
    fs_text_count(t, part->iteration, "instance");
  } else {
    fs_text_puts(t, l->name[l->loop.command[part->command].member]);
    for (uint32_t i = 0; i < d->depth; i++) {
      fs_text_puts(t, "[");
      fs_text_u64(t, d->iteration[i]);
      fs_text_puts(t, "]");
    }
  }
  fs_text_add(t, "", 1);
  return at;
}

/* Ops of a body differ in colour, and so do those of loops in one another. */
static uint32_t colour_of(const loop_drawing *d, const fs_shown_loop *l, uint32_t member) {
  uint32_t n = fs_max(l->n_members - 1, 1), most = FS_SVG_COLOURS - 1;
  return (member * most / n + (d->depth - 1) * 5) % FS_SVG_COLOURS;
}

static fs_status add_box(loop_drawing *d, const fs_shown_loop *l, const fs_shown_part *part,
                         fs_tick base, fs_cent y0, fs_cent y1) {
  bool hidden = part->command == FS_NONE;
  fs_tick begin = base + part->begin, end = base + part->free;
  loop_bar bar = {.begin = begin, .end = base + part->end, .hidden = hidden};
  fs_svg_box box = {x_of(d, begin), x_of(d, end), y0, y1, (uint32_t)d->box.n};
  bar.colour = hidden ? FS_SVG_PLAIN : colour_of(d, l, l->loop.command[part->command].member);
  bar.name = put_name(d, l, part);
  bar.loop = (uint32_t)(l - d->v->loop);
  bar.member = hidden ? FS_NONE : l->loop.command[part->command].member;
  bar.op = hidden ? NULL : l->name[bar.member];
  FS_TRY(fs_vec_push(d->v->ctx, &d->bar, bar));
  return fs_vec_push(d->v->ctx, &d->box, box);
}

/* Adds the parts of a run of a loop on a queue, from tick `base` on, between two heights. */
static fs_status add_parts(loop_drawing *d, const fs_shown_loop *l, uint32_t queue, fs_tick base,
                           fs_cent y0, fs_cent y1) {
  uint32_t q = 0;
  while (q < l->loop.n_queues && l->loop.queue[q] != queue) {
    q++;
  }
  if (q == l->loop.n_queues || d->depth == MOST_NEST) {
    return FSCHED_OK;
  }
  d->depth++;
  for (uint32_t i = l->shown.part0[q]; i < l->shown.part0[q + 1]; i++) {
    const fs_shown_part *part = &l->shown.part[i];
    uint32_t member = part->command == FS_NONE ? FS_NONE : l->loop.command[part->command].member;
    uint32_t inner = member == FS_NONE ? FS_NONE : l->inner[member];
    d->iteration[d->depth - 1] = part->iteration;
    FS_TRY(add_box(d, l, part, base, y0, y1));
    if (inner != FS_NONE && d->v->loop[inner].open && y1 - y0 >= 4 * INSET) {
      FS_TRY(add_parts(d, &d->v->loop[inner], queue, base + part->run, y0 + INSET, y1 - INSET));
    }
  }
  d->depth--;
  return FSCHED_OK;
}

/* ---- drawing */

static void draw_title(loop_drawing *d, const char *name, fs_tick begin, fs_tick end,
                       const char *parts) {
  fs_text *t = &d->v->body;
  fs_text_puts(t, "><title>");
  fs_svg_name(t, name);
  fs_text_puts(t, ": ");
  fs_svg_interval(t, d->v, begin, end);
  if (parts != NULL) {
    fs_text_puts(t, "\n");
    fs_svg_fitted(t, parts, (fs_svg_part){strlen(parts), strlen(parts)});
  }
  fs_text_puts(t, "</title></rect>\n");
}

/* Whether another part is drawn inside. */
static bool holds(const loop_drawing *d, uint32_t box) {
  const fs_svg_box *a = &d->box.at[box], *b = a + 1;
  return box + 1 < d->box.n && b->y0 > a->y0 && b->y1 < a->y1;
}

static fs_status draw_bar(loop_drawing *d, const fs_svg_box *box) {
  fs_svg *v = d->v;
  const char *parts = NULL;
  const loop_bar *b = &d->bar.at[box->id];
  const char *name = d->names.at + b->name;
  bool large = box->x1 - box->x0 >= 3 * FS_PX && box->y1 - box->y0 >= 4 * FS_PX;
  bool instant = b->begin == b->end;
  v->used[b->hidden ? FS_SVG_HIDDEN : FS_SVG_OP] = true;
  fs_svg_rect(v, &v->body,
              b->hidden ? "h0"
              : instant ? "i"
              : large   ? "b"
                        : "",
              b->colour, d->top, fs_svg_visible(box, instant, v->right - v->left, d->height));
  if (!b->hidden) {
    FS_TRY(fs_parts_of_body(&v->arena, v->g, b->loop, b->member, &parts));
  }
  draw_title(d, name, b->begin, b->end, parts);
  if (!holds(d, box->id)) {
    bool fits = fs_svg_width(name, strlen(name), FS_SVG_LABEL) <= box->x1 - box->x0;
    fs_svg_label(v, "l", fits || b->op == NULL ? name : b->op, d->top, box);
  }
  return FSCHED_OK;
}

static void draw_merged(loop_drawing *d, const fs_svg_pieces *pieces, const fs_svg_piece *p) {
  fs_svg *v = d->v;
  fs_tick begin = FS_TICK_NONE, end = 0;
  char name[48];
  for (uint32_t i = p->member0; i < p->member0 + p->n; i++) {
    const loop_bar *b = &d->bar.at[pieces->member[i]];
    begin = fs_min(begin, b->begin);
    end = fs_max(end, b->end);
  }
  v->used[FS_SVG_MERGED] = true;
  fs_svg_rect(v, &v->body, "x", d->bar.at[p->box.id].colour, d->top,
              fs_svg_visible(&p->box, false, v->right - v->left, d->height));
  (void)snprintf(name, sizeof name, "%u instances", p->n);
  draw_title(d, name, begin, end, NULL);
}

/* Draws the boxes; *seen: one can be told apart from others. */
static fs_status draw_boxes(loop_drawing *d, bool *seen) {
  fs_svg *v = d->v;
  fs_svg_pieces pieces;
  if (d->names.failed) {
    return FSCHED_SYSTEM;
  }
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  FS_TRY(
      fs_svg_merge(&v->arena, d->box.at, (uint32_t)d->box.n, v->right - v->left, false, &pieces));
  for (uint32_t i = 0; i < pieces.n; i++) {
    const fs_svg_piece *p = &pieces.piece[i];
    if (p->n == 1) {
      FS_TRY(draw_bar(d, &p->box));
      *seen = *seen || p->box.x1 - p->box.x0 >= 3 * FS_PX;
    } else {
      draw_merged(d, &pieces, p);
    }
  }
  fs_arena_reset(&v->arena, mark);
  return FSCHED_OK;
}

static void begin_drawing(loop_drawing *d, fs_svg *v) {
  *d = (loop_drawing){.v = v};
  fs_text_init(&d->names, v->ctx);
}

static void end_drawing(loop_drawing *d) {
  fs_text_drop(&d->names);
  fs_vec_free(d->v->ctx, &d->box);
  fs_vec_free(d->v->ctx, &d->bar);
}

fs_status fs_svg_instances(fs_svg *v, uint32_t item, uint32_t queue, fs_cent top,
                           const fs_svg_box *bar, bool *seen) {
  assert(fs_svg_opens(v, item));
  loop_drawing d;
  begin_drawing(&d, v);
  d.top = top;
  d.height = bar->y1 + FS_PX;
  d.n_stages = 1;
  d.stage[0] = (loop_stage){v->s->start[item], v->s->end[item], fs_svg_x(v, v->s->start[item]),
                            fs_svg_x(v, v->s->end[item])};
  fs_status status = add_parts(&d, &v->loop[v->loop_of[item]], queue, v->s->start[item],
                               bar->y0 + INSET, bar->y1 - INSET);
  status = status == FSCHED_OK ? draw_boxes(&d, seen) : status;
  end_drawing(&d);
  return status;
}

/* ---- panels */

/* Finds the time of each stage: of the parts of all queues between their gaps.  Stages that overlap
 * are one. */
static void find_stages(loop_drawing *d, const fs_shown_loop *l, fs_tick base) {
  for (uint32_t i = 0; i < STAGES; i++) {
    d->stage[i] = (loop_stage){FS_TICK_NONE, 0, 0, 0};
  }
  for (uint32_t q = 0; q < l->loop.n_queues; q++) {
    for (uint32_t i = l->shown.part0[q], at = 0; i < l->shown.part0[q + 1]; i++) {
      const fs_shown_part *part = &l->shown.part[i];
      if (part->command == FS_NONE) {
        at++;
        continue;
      }
      assert(at < STAGES);
      d->stage[at].begin = fs_min(d->stage[at].begin, base + part->begin);
      d->stage[at].end = fs_max(d->stage[at].end, base + part->end);
    }
  }
  d->n_stages = 0;
  for (uint32_t i = 0; i < STAGES; i++) {
    loop_stage *last = d->n_stages == 0 ? NULL : &d->stage[d->n_stages - 1];
    if (last != NULL && d->stage[i].begin <= last->end) {
      last->end = fs_max(last->end, d->stage[i].end);
    } else if (d->stage[i].begin != FS_TICK_NONE) {
      d->stage[d->n_stages++] = d->stage[i];
    }
  }
}

/* Shares the width in proportion to the times. */
static void place_stages(loop_drawing *d) {
  fs_svg *v = d->v;
  fs_tick all = 0, before = 0;
  fs_cent room = v->right - v->left - (fs_cent)(d->n_stages - 1) * GAP;
  for (uint32_t i = 0; i < d->n_stages; i++) {
    all += d->stage[i].end - d->stage[i].begin;
  }
  for (uint32_t i = 0; i < d->n_stages; i++) {
    loop_stage *s = &d->stage[i];
    s->x0 = (fs_cent)i * GAP + fs_svg_scale(before, fs_max(all, 1), room);
    before += s->end - s->begin;
    s->x1 = (fs_cent)i * GAP + fs_svg_scale(before, fs_max(all, 1), room);
  }
}

static void put_heading(fs_svg *v, const fs_shown_loop *l) {
  fs_svg_heading(v, l->title);
  fs_text_puts(&v->body, "loop, ");
  fs_text_count(&v->body, l->trip, "iteration");
  fs_text_puts(&v->body, ": the first and the last ones, and two periods of the middle");
}

static void put_stages(const loop_drawing *d) {
  fs_svg *v = d->v;
  for (uint32_t i = 0; i < d->n_stages; i++) {
    const loop_stage *s = &d->stage[i];
    fs_svg_text(&v->body, "t a", v->left + s->x0 + (s->x1 - s->x0) / 2, v->y + 13 * FS_PX);
    fs_svg_interval(&v->body, v, s->begin, s->end);
    fs_text_puts(&v->body, "</text>\n");
  }
  v->y += 18 * FS_PX;
}

static fs_status draw_panel(loop_drawing *d, const fs_shown_loop *l) {
  fs_svg *v = d->v;
  fs_tick base = v->s->start[l->op];
  bool seen = false;
  find_stages(d, l, base);
  place_stages(d);
  put_heading(v, l);
  fs_text_puts(&v->body, "</tspan></text>\n");
  d->top = v->y;
  d->height = (fs_cent)l->loop.n_queues * ROW;
  v->y += d->height;
  for (uint32_t i = 0; i < d->n_stages; i++) {
    fs_svg_rect(v, &v->body, "p", FS_SVG_PLAIN, d->top,
                (fs_svg_box){d->stage[i].x0, d->stage[i].x1, 0, d->height, 0});
    fs_text_puts(&v->body, "/>\n");
  }
  for (uint32_t q = 0; q < l->loop.n_queues; q++) {
    const char *name = v->s->queue_name[l->loop.queue[q]];
    fs_cent y = (fs_cent)q * ROW;
    fs_svg_text(&v->body, "q", v->left - 8 * FS_PX,
                d->top + y + ROW / 2 + fs_svg_baseline(FS_SVG_ROW));
    fs_svg_fitted(&v->body, name, fs_svg_cut(name, FS_SVG_ROW, v->left - 14 * FS_PX));
    fs_text_puts(&v->body, "</text>\n");
    FS_TRY(add_parts(d, l, l->loop.queue[q], base, y + INSET, y + ROW - INSET));
  }
  FS_TRY(draw_boxes(d, &seen));
  put_stages(d);
  fs_svg_close(v);
  return FSCHED_OK;
}

fs_status fs_svg_loops(fs_svg *v) {
  uint32_t panels = 0;
  v->apart0 = v->y;
  for (uint32_t l = 0; l < v->g->n_rolled && panels < MOST_PANELS; l++) {
    if (v->loop[l].op == FS_NONE || !has_gap(&v->loop[l])) {
      continue;
    }
    loop_drawing d;
    begin_drawing(&d, v);
    fs_status status = draw_panel(&d, &v->loop[l]);
    end_drawing(&d);
    FS_TRY(status);
    panels++;
  }
  v->apart1 = v->y;
  return FSCHED_OK;
}
