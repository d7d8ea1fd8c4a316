/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_schedule_svg: a canvas, and the panels that are drawn on it one below the
 * other on one time axis.
 *
 *   svg.c         the whole: order of panels, time axis, header
 *   svg/style.c   colours, patterns, style sheet, legend
 *   svg/panel.c   what panels are made of
 *   svg/gantt.c   the queues
 *   svg/syncs.c   syncs across them
 *   svg/map.c     a contiguous memory, time by address
 *   svg/steps.c   amounts over time: counted memories, resources, concurrency
 *   svg/pieces.c  small boxes merged
 *   svg/text.c    numbers and names */
#ifndef FS_SVG_H
#define FS_SVG_H

#include "draw/svg/pieces.h"
#include "model/sync.h"

/* What the legend explains, if it occurs. */
typedef enum fs_svg_mark {
  FS_SVG_OP,
  FS_SVG_GIVEN,
  FS_SVG_GANG,
  FS_SVG_LOAD, /* as fs_copy_role */
  FS_SVG_STORE,
  FS_SVG_WRITE,
  FS_SVG_READ,
  FS_SVG_SCRATCH,
  FS_SVG_INPLACE,
  FS_SVG_PADDING,
  FS_SVG_INSTANT,
  FS_SVG_MERGED,
  FS_SVG_SYNC,
  FS_SVG_COUNT,
  FS_SVG_MARKS
} fs_svg_mark;

/* The unit in which the axis counts: of ns, us and ms the next larger ones, of others thousands. */
typedef struct fs_svg_unit {
  const char *name;
  uint32_t thousands; /* the power of 1000 before the name */
  uint64_t ticks;     /* in one */
} fs_svg_unit;

typedef struct fs_svg {
  fsched_context *ctx;
  const fs_schedule *s;
  const fs_sync *sync; /* or NULL */
  const fsched_graph *g;
  fs_arena arena;
  fs_text body;               /* what is drawn, what covers later */
  fs_text above;              /* of the panel being drawn: labels and marks, over its shapes */
  fs_text name;               /* see fs_svg_version_name */
  fs_cent width, left, right; /* of the picture; edges of the panels */
  fs_cent y;                  /* what is below is free */
  fs_tick span;               /* the ticks from left to right, at least 1 */
  fs_tick step;               /* those between two numbers of the axis */
  fs_svg_unit unit;
  uint32_t *version_op; /* per version: the op that lends its colour, FS_NONE: none */
  uint64_t *content;    /* per residency: its size before alignment */
  uint8_t *role;        /* per copy: its fs_copy_role */
  bool used[FS_SVG_MARKS];
} fs_svg;

/* Sizes of text, and the distance of a baseline below the middle. */
enum { FS_SVG_LABEL = 10, FS_SVG_ROW = 11, FS_SVG_HEAD = 13 };
static inline fs_cent fs_svg_baseline(uint32_t size) { return (fs_cent)(size * 36); }

/* From the left edge of the panels. */
static inline fs_cent fs_svg_x(const fs_svg *v, fs_tick time) {
  return fs_svg_scale(time, v->span, v->right - v->left);
}

/* ---- svg/style.c */
/* After the panels. */
void fs_svg_style(const fs_svg *v, fs_text *t);
void fs_svg_legend(fs_svg *v);
/* The class of a colour: an op's, and that of what it writes; FS_NONE: grey. */
enum { FS_SVG_COLOURS = 16, FS_SVG_GREY = FS_SVG_COLOURS, FS_SVG_PLAIN };
/* Requires an item of the schedule. */
uint32_t fs_svg_item_colour(const fs_svg *v, uint32_t item);
/* Requires a residency of the schedule. */
uint32_t fs_svg_residency_colour(const fs_svg *v, uint32_t residency);
/* The hatching of copies by fs_copy_role; the legend will explain it.  Requires a copy of the
 * schedule. */
const char *fs_svg_hatch(fs_svg *v, uint32_t copy);

/* ---- svg/panel.c */
/* `<rect class="..." x y width height`, to be followed by `/>` or by a title.  Coordinates are the
 * box's from the left edge of the panels and from `top`.  FS_SVG_PLAIN: no colour.  Requires a
 * colour of the list. */
void fs_svg_rect(const fs_svg *v, fs_text *t, const char *classes, uint32_t colour, fs_cent top,
                 fs_svg_box box);
/* `<text class="..." x y>`, to be followed by the text and `</text>`. */
void fs_svg_text(fs_text *t, const char *classes, fs_cent x, fs_cent y);
/* As much of a name as fits into the middle of a box, in v->above; upright if more of it fits so.
 */
void fs_svg_label(fs_svg *v, const char *classes, const char *name, fs_cent top,
                  const fs_svg_box *box);
/* The box grown to what can be seen, by less than a pixel in each direction; what takes no time
 * stands out a bit more. */
fs_svg_box fs_svg_visible(const fs_svg_box *box, bool instant, fs_cent width, fs_cent height);
/* "name", and of versions after the first "name.version"; until the next call. */
const char *fs_svg_version_name(fs_svg *v, uint32_t version);
const char *fs_svg_item_name(fs_svg *v, uint32_t item);
/* "3–7 us" */
void fs_svg_interval(fs_text *t, const fs_svg *v, fs_tick begin, fs_tick end);
/* "7.25 us", exactly, in the unit of the axis if that has a name of its own */
void fs_svg_time(fs_text *t, const fs_svg *v, fs_tick time);

/* A panel: fs_svg_heading, then what else its heading says (to v->body), then fs_svg_open, which
 * gives its upper edge; at its end fs_svg_close.  `name` NULL: no heading. */
void fs_svg_heading(fs_svg *v, const char *name);
fs_cent fs_svg_open(fs_svg *v, bool heading, fs_cent height);
void fs_svg_close(fs_svg *v);

/* The scale of amounts at the left of a panel, its capacity and its peak. */
typedef struct fs_svg_amounts {
  uint64_t capacity, peak;
  uint64_t top; /* what the upper edge of the panel means, at least 1 */
  bool bytes;
} fs_svg_amounts;
void fs_svg_amounts_init(fs_svg_amounts *a, uint64_t capacity, uint64_t peak, bool bytes);
void fs_svg_amount(fs_text *t, const fs_svg_amounts *a, uint64_t value);
void fs_svg_ruler(fs_svg *v, const fs_svg_amounts *a, fs_cent top, fs_cent height);

/* ---- panels.  Errors: FSCHED_SYSTEM. */
fs_status fs_svg_gantt(fs_svg *v) FS_MUST_USE;
fs_status fs_svg_map(fs_svg *v, uint32_t memory, fs_cent height) FS_MUST_USE;
fs_status fs_svg_counted(fs_svg *v, uint32_t memory, fs_cent height) FS_MUST_USE;
fs_status fs_svg_resource(fs_svg *v, uint32_t resource, fs_cent height) FS_MUST_USE;
fs_status fs_svg_concurrency(fs_svg *v, fs_cent height) FS_MUST_USE;

/* The syncs of a schedule, over the rows of the queues. */
typedef struct fs_svg_sync_rows {
  fs_cent top, height, pitch;
  const fs_cent *y; /* per queue, from `top` */
} fs_svg_sync_rows;
fs_status fs_svg_syncs(fs_svg *v, const fs_svg_sync_rows *rows) FS_MUST_USE;

#endif
