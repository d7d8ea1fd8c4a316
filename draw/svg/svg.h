/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of fsched_schedule_svg: a canvas, and panels that are drawn on it one below the other
 * with a common time axis.
 *
 *   svg.c         the whole picture: order of panels, time axis, header
 *   svg/style.c   colours, patterns, style sheet, legend
 *   svg/panel.c   what all panels use: boxes, labels, headings, rulers
 *   svg/gantt.c   the panel of the queues
 *   svg/loops.c   instances of loops, in that panel or in panels of their own
 *   svg/syncs.c   lines for syncs, drawn over that panel
 *   svg/map.c     the panel of a contiguous memory: addresses over time
 *   svg/steps.c   panels of amounts over time: counted memories, resources, concurrency
 *   svg/pieces.c  merges small boxes
 *   svg/text.c    numbers and names */
#ifndef FS_SVG_H
#define FS_SVG_H

#include "draw/svg/pieces.h"
#include "model/shown.h"
#include "model/sync.h"

/* The marks that the legend explains if they occur in the picture. */
typedef enum fs_svg_mark {
  FS_SVG_OP,
  FS_SVG_GIVEN,
  FS_SVG_GANG,
  FS_SVG_LOAD, /* from here in the order of fs_copy_role */
  FS_SVG_STORE,
  FS_SVG_WRITE,
  FS_SVG_READ,
  FS_SVG_SCRATCH,
  FS_SVG_INPLACE,
  FS_SVG_PADDING,
  FS_SVG_INSTANT,
  FS_SVG_MERGED,
  FS_SVG_HIDDEN,
  FS_SVG_SLOTS,
  FS_SVG_SYNC,
  FS_SVG_COUNT,
  FS_SVG_MARKS
} fs_svg_mark;

/* The unit of the axis's numbers.  If they are large, it is the next of ns, us, ms and s, or, where
 * there is none, a power of 1000 of the unit. */
typedef struct fs_svg_unit {
  const char *name;
  uint32_t thousands; /* the power of 1000 before the name */
  uint64_t ticks;     /* ticks per unit */
} fs_svg_unit;

typedef struct fs_svg {
  fsched_context *ctx;
  const fs_schedule *s;
  const fs_sync *sync; /* may be NULL */
  const fsched_graph *g;
  fs_arena arena;
  fs_text body;               /* the shapes drawn so far, in the order of painting */
  fs_text above;              /* labels and marks of the current panel, painted over its shapes */
  fs_text name;               /* the buffer of fs_svg_version_name */
  fs_cent width, left, right; /* of the picture; edges of the panels */
  fs_cent y;                  /* the canvas is free below this line */
  fs_cent apart0, apart1;     /* between them are the panels that have time axes of their own */
  fs_tick span;               /* ticks between the left and right edges, at least 1 */
  fs_tick step;               /* ticks between two numbers of the axis */
  fs_svg_unit unit;
  uint32_t *version_op; /* per version: the op whose colour it has; FS_NONE: none */
  uint64_t *content;    /* per residency: bytes before alignment */
  uint8_t *role;        /* per copy: its fs_copy_role */
  uint64_t *peak;       /* per memory: the most live bytes at one time */
  /* What each memory and resource has, ascending by id: they can be as many as ops. */
  uint32_t *memory_res0, *memory_res;   /* residencies */
  fs_stays stays;                       /* of residencies */
  uint32_t *memory_copy0, *memory_copy; /* copies that read or write there */
  uint32_t *memory_pair0, *memory_pair; /* in-place pairs whose output is there */
  uint32_t *resource_use0, *resource_use;
  uint32_t *use_op; /* per use of a resource: its op */
  uint32_t *alone;  /* per residency: its box in its panel if drawn alone and large; else FS_NONE */
  fs_shown_loop *loop; /* per loop of the graph that stays one */
  uint32_t *loop_of;   /* per op: the loop that it is, or FS_NONE */
  uint64_t *slot;      /* per buffer: bytes from one slot of a ring to the next; 0: none */
  bool used[FS_SVG_MARKS];
} fs_svg;

/* Font sizes in pixels, and the distance of the baseline below the middle of a line. */
enum { FS_SVG_LABEL = 10, FS_SVG_ROW = 11, FS_SVG_HEAD = 13 };
static inline fs_cent fs_svg_baseline(uint32_t size) { return (fs_cent)(size * 36); }

/* What stands behind a queue's name. */
static inline const char *fs_svg_queue_mark(const fs_svg *v, uint32_t queue) {
  const fs_target *t = &v->g->target;
  return !t->implicit_queues && t->queue[queue].host ? " (host)" : "";
}

/* The x of a time, from the left edge of the panels. */
static inline fs_cent fs_svg_x(const fs_svg *v, fs_tick time) {
  return fs_svg_scale(time, v->span, v->right - v->left);
}

/* ---- svg/style.c */
/* Writes the style sheet; called after the panels, as it has the classes for the marks used. */
void fs_svg_style(const fs_svg *v, fs_text *t);
void fs_svg_legend(fs_svg *v);
/* Classes of colours: an op and the buffers that it writes have the same; grey is for no op, plain
 * for no colour. */
enum { FS_SVG_COLOURS = 16, FS_SVG_GREY = FS_SVG_COLOURS, FS_SVG_PLAIN };
/* Requires an item of the schedule. */
uint32_t fs_svg_item_colour(const fs_svg *v, uint32_t item);
/* Requires a residency of the schedule. */
uint32_t fs_svg_residency_colour(const fs_svg *v, uint32_t residency);
/* The class of a copy's hatching, by its fs_copy_role, which is noted for the legend.  Requires a
 * copy of the schedule. */
const char *fs_svg_hatch(fs_svg *v, uint32_t copy);

/* ---- svg/panel.c */
/* Writes `<rect class="..." x y width height`, which the caller ends with `/>` or a title.  The
 * coordinates of the box count from the left edge of the panels and from `top`.  FS_SVG_PLAIN: no
 * colour.  Requires a colour of the list. */
void fs_svg_rect(const fs_svg *v, fs_text *t, const char *classes, uint32_t colour, fs_cent top,
                 fs_svg_box box);
/* Writes `<text class="..." x y>`, which the caller ends with the text and `</text>`. */
void fs_svg_text(fs_text *t, const char *classes, fs_cent x, fs_cent y);
/* Writes to v->above as much of a name as fits into the middle of a box; the text is turned upright
 * if more of it fits that way. */
void fs_svg_label(fs_svg *v, const char *classes, const char *name, fs_cent top,
                  const fs_svg_box *box);
/* The box, enlarged to be visible: at least half a pixel high and wide, a pixel wide for an item
 * that takes no time (`instant`), within a panel of this width and height. */
fs_svg_box fs_svg_visible(const fs_svg_box *box, bool instant, fs_cent width, fs_cent height);
/* "name", or "name.version" for later versions; valid until the next call. */
const char *fs_svg_version_name(fs_svg *v, uint32_t version);
const char *fs_svg_item_name(fs_svg *v, uint32_t item);
/* Writes "3–7 us". */
void fs_svg_interval(fs_text *t, const fs_svg *v, fs_tick begin, fs_tick end);
/* Writes an exact time ("7.25 us"), in the unit of the axis if that has a name of its own. */
void fs_svg_time(fs_text *t, const fs_svg *v, fs_tick time);

/* A panel is drawn by fs_svg_heading, then the rest of its heading (added to v->body), then
 * fs_svg_open, which returns the panel's upper edge, and at its end fs_svg_close.  A panel without
 * fs_svg_heading has no heading. */
void fs_svg_heading(fs_svg *v, const char *name);
fs_cent fs_svg_open(fs_svg *v, bool heading, fs_cent height);
void fs_svg_close(fs_svg *v);

/* The amounts of a panel: its scale at the left, its capacity and what is used of it. */
typedef struct fs_svg_amounts {
  uint64_t capacity, used;
  const char *word; /* what `used` is called: "peak", or "extent" of addresses */
  uint64_t top;     /* the amount at the upper edge of the panel, at least 1 */
  bool bytes;
} fs_svg_amounts;
void fs_svg_amounts_init(fs_svg_amounts *a, uint64_t capacity, uint64_t used, const char *word,
                         bool bytes);
void fs_svg_amount(fs_text *t, const fs_svg_amounts *a, uint64_t value);
void fs_svg_ruler(fs_svg *v, const fs_svg_amounts *a, fs_cent top, fs_cent height);

/* ---- panels.  Errors: FSCHED_SYSTEM. */
fs_status fs_svg_gantt(fs_svg *v) FS_MUST_USE;
fs_status fs_svg_map(fs_svg *v, uint32_t memory, fs_cent height) FS_MUST_USE;
fs_status fs_svg_counted(fs_svg *v, uint32_t memory, fs_cent height) FS_MUST_USE;
fs_status fs_svg_resource(fs_svg *v, uint32_t resource, fs_cent height) FS_MUST_USE;
fs_status fs_svg_concurrency(fs_svg *v, fs_cent height) FS_MUST_USE;

/* ---- svg/loops.c */
/* Finds the loops of the graph, and what is shown of them. */
fs_status fs_svg_find_loops(fs_svg *v) FS_MUST_USE;
/* Whether an item is a loop all of whose instances can be drawn where it is. */
bool fs_svg_opens(const fs_svg *v, uint32_t item);
/* Draws the instances of an item that opens into its bar on a queue.  Returns whether they can be
 * told apart. */
fs_status fs_svg_instances(fs_svg *v, uint32_t item, uint32_t queue, fs_cent top,
                           const fs_svg_box *bar, bool *seen) FS_MUST_USE;
/* Draws a panel for each loop, up to 8, of which not all instances are shown, and notes where these
 * panels are. */
fs_status fs_svg_loops(fs_svg *v) FS_MUST_USE;

/* Where the queues' rows are, over which the syncs of a schedule are drawn. */
typedef struct fs_svg_sync_rows {
  fs_cent top, height, pitch;
  const fs_cent *y; /* per queue, from `top` */
} fs_svg_sync_rows;
fs_status fs_svg_syncs(fs_svg *v, const fs_svg_sync_rows *rows) FS_MUST_USE;

#endif
