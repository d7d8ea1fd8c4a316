/* SPDX-License-Identifier: Apache-2.0 */
/* The panel of the queues: a row for each, sorted by machine and device, and a bar for every item
 * on each of its queues. */
#include "base/radix.h"
#include "base/text/plural.h"
#include "draw/parts.h"
#include "draw/svg/svg.h"

typedef struct fs_svg_rows {
  fs_cent top;    /* y of the panel's upper edge */
  fs_cent height; /* of the panel */
  fs_cent pitch, gap;
  uint32_t *sorted; /* queues from top to bottom */
  fs_cent *y;       /* per queue: y of its row, from the panel's upper edge */
  uint32_t n_boxes;
  fs_svg_box *box;        /* the `id` of a box is its index */
  uint32_t *item, *queue; /* per box */
} fs_svg_rows;

enum { GROUP_LINE = 16 * FS_PX, THIN_ROW = 8 * FS_PX, MOST_HEIGHT = 4000 * FS_PX };

/* The height of a row: rows get thinner as their number grows; with many, the panel also gets
 * taller. */
static fs_cent pitch_of(uint32_t n) {
  if (n <= 16) {
    return (n <= 4 ? 46 : n <= 8 ? 32 : 22) * FS_PX;
  }
  uint64_t thin = fs_min(6 * FS_PX, 1600 * FS_PX / n);
  uint64_t pitch = fs_max(fs_max(640 * FS_PX / n, thin), FS_PX);
  return (fs_cent)fs_min(pitch, MOST_HEIGHT / n);
}

static uint64_t place_of(const fs_svg *v, uint32_t queue) {
  const fs_target *target = &v->g->target;
  if (target->implicit_queues) {
    return 0;
  }
  return (uint64_t)target->queue[queue].machine << 16 | target->queue[queue].device;
}

static fs_status sort_queues(fs_svg *v, fs_svg_rows *rows) {
  uint32_t n = v->s->n_queues;
  uint64_t *key, *scratch;
  FS_TRY(fs_new(&v->arena, &rows->sorted, n));
  FS_TRY(fs_new(&v->arena, &key, n));
  FS_TRY(fs_new(&v->arena, &scratch, n));
  for (uint32_t q = 0; q < n; q++) {
    key[q] = place_of(v, q) << 32 | q;
  }
  fs_radix_sort(key, scratch, n);
  for (uint32_t i = 0; i < n; i++) {
    rows->sorted[i] = (uint32_t)key[i];
  }
  return FSCHED_OK;
}

/* Whether row i is the first of a device.  With several devices, a line with the device's name
 * comes before it, unless rows are too thin. */
static bool begins_group(const fs_svg *v, const fs_svg_rows *rows, uint32_t i) {
  uint32_t n = v->s->n_queues;
  bool several =
      rows->pitch >= THIN_ROW && place_of(v, rows->sorted[0]) != place_of(v, rows->sorted[n - 1]);
  return several && (i == 0 || place_of(v, rows->sorted[i]) != place_of(v, rows->sorted[i - 1]));
}

static fs_status place_rows(fs_svg *v, fs_svg_rows *rows) {
  uint32_t n = v->s->n_queues;
  FS_TRY(sort_queues(v, rows));
  FS_TRY(fs_new(&v->arena, &rows->y, n));
  rows->pitch = pitch_of(n);
  rows->gap = rows->pitch / 5 < 5 * FS_PX ? rows->pitch / 5 : 5 * FS_PX;
  for (uint32_t i = 0; i < n; i++) {
    rows->height += begins_group(v, rows, i) ? GROUP_LINE : 0;
    rows->y[rows->sorted[i]] = rows->height;
    rows->height += rows->pitch;
  }
  rows->height = rows->height == 0 ? pitch_of(1) : rows->height;
  return FSCHED_OK;
}

static fs_status collect_boxes(fs_svg *v, fs_svg_rows *rows) {
  const fs_schedule *s = v->s;
  size_t most = 0;
  uint32_t n;
  for (uint32_t item = 0; item < s->n_items; item++) {
    (void)fs_item_queues(s, item, &n);
    most += n;
  }
  FS_TRY(fs_new(&v->arena, &rows->box, most));
  FS_TRY(fs_new(&v->arena, &rows->item, most));
  FS_TRY(fs_new(&v->arena, &rows->queue, most));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    const uint32_t *queues = fs_item_queues(s, item, &n);
    for (uint32_t k = 0; k < n; k++) {
      uint32_t b = rows->n_boxes++;
      fs_cent y = rows->y[queues[k]] + rows->gap / 2;
      rows->item[b] = item;
      rows->queue[b] = queues[k];
      fs_item_part part = fs_item_part_on(s, item, k);
      rows->box[b] = (fs_svg_box){fs_svg_x(v, part.begin), fs_svg_x(v, part.free), y,
                                  y + rows->pitch - rows->gap, b};
    }
  }
  return FSCHED_OK;
}

/* ---- drawing */

static void group_name(fs_svg *v, const fs_svg_rows *rows, uint32_t queue, fs_cent y) {
  const fs_queue *q = &v->g->target.queue[queue];
  const fs_queue *first = &v->g->target.queue[rows->sorted[0]];
  const fs_queue *last = &v->g->target.queue[rows->sorted[v->s->n_queues - 1]];
  fs_svg_text(&v->body, "t", v->left + 4 * FS_PX, y - 5 * FS_PX);
  if (first->machine != last->machine) {
    fs_text_puts(&v->body, "machine ");
    fs_text_u64(&v->body, q->machine);
    fs_text_puts(&v->body, ", ");
  }
  fs_text_puts(&v->body, "device ");
  fs_text_u64(&v->body, q->device);
  fs_text_puts(&v->body, "</text>\n");
}

static void row_line(fs_svg *v, fs_cent y) {
  fs_text_puts(&v->body, "<path class=\"v\" d=\"M");
  fs_svg_number(&v->body, v->left);
  fs_text_puts(&v->body, " ");
  fs_svg_number(&v->body, y);
  fs_text_puts(&v->body, "h");
  fs_svg_number(&v->body, v->right - v->left);
  fs_text_puts(&v->body, "\"/>\n");
}

/* Writes the names of the rows; if rows are thin, only as many as do not touch each other. */
static void row_names(fs_svg *v, const fs_svg_rows *rows) {
  uint32_t size = rows->pitch >= 12 * FS_PX ? FS_SVG_ROW : FS_SVG_LABEL;
  fs_cent free = rows->top - rows->pitch;
  for (uint32_t i = 0; i < v->s->n_queues; i++) {
    uint32_t q = rows->sorted[i];
    fs_cent y = rows->top + rows->y[q], middle = y + rows->pitch / 2;
    if (begins_group(v, rows, i)) {
      group_name(v, rows, q, y);
    }
    if (i > 0 && rows->pitch >= THIN_ROW) {
      row_line(v, y);
    }
    if (middle - (fs_cent)size * FS_PX / 2 < free) {
      continue;
    }
    free = middle + (fs_cent)size * FS_PX / 2;
    fs_svg_text(&v->body, size == FS_SVG_ROW ? "q" : "t e", v->left - 8 * FS_PX,
                middle + fs_svg_baseline(size));
    const char *name = v->s->queue_name[q], *mark = fs_svg_queue_mark(v, q);
    fs_cent room = v->left - 14 * FS_PX - fs_svg_width(mark, strlen(mark), size);
    fs_svg_fitted(&v->body, name, fs_svg_cut(name, size, room));
    fs_text_puts(&v->body, mark);
    fs_text_puts(&v->body, "</text>\n");
  }
}

/* The kind of an item: an op, or the role of a copy (fs_copy_role). */
typedef enum fs_svg_kind { KIND_OP = FS_ROLES, KINDS } fs_svg_kind;

static fs_svg_kind kind_of(const fs_svg *v, uint32_t item) {
  if (!fs_item_is_copy(v->s, item)) {
    return KIND_OP;
  }
  return (fs_svg_kind)v->role[item - v->g->n_ops];
}

static void put_kind(fs_text *t, fs_svg_kind kind, uint64_t n) {
  static const char *const words[KINDS] = {
      [KIND_OP] = "op",
      [FS_ROLE_LOAD] = "load",
      [FS_ROLE_STORE] = "store",
      [FS_ROLE_SPILL_WRITE] = "spill write",
      [FS_ROLE_SPILL_READ] = "spill read",
  };
  fs_text_puts(t, words[kind]);
  fs_text_puts(t, fs_plural_s(n));
}

/* What else there is to say of an op (draw/parts.h), on a line of its own. */
static fs_status put_parts(fs_svg *v, fs_text *t, uint32_t item) {
  const char *parts = NULL;
  if (!fs_item_is_copy(v->s, item)) {
    FS_TRY(fs_parts_of_graph(&v->arena, v->g, item, &parts));
  }
  if (parts != NULL) {
    fs_text_puts(t, "\n");
    fs_svg_fitted(t, parts, (fs_svg_part){strlen(parts), strlen(parts)});
  }
  return FSCHED_OK;
}

static fs_status bar_title(fs_svg *v, fs_text *t, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_item_queues(v->s, item, &n);
  fs_text_puts(t, "><title>");
  fs_svg_name(t, fs_svg_item_name(v, item));
  bool members = !fs_item_is_copy(v->s, item) && fs_op_members(v->g, item) > 0;
  fs_text_puts(t, members ? ": group of members, " : n > 1 ? ": gang " : ": ");
  put_kind(t, kind_of(v, item), 1);
  fs_text_puts(t, ", ");
  fs_svg_interval(t, v, v->s->start[item], v->s->end[item]);
  if (fs_item_slow(v->s, item)) {
    fs_text_puts(t, ", free at ");
    fs_text_u64(t, fs_item_free(v->s, item));
  }
  for (uint32_t k = 0; k < n && k < 8; k++) {
    fs_text_puts(t, k == 0 ? ", on " : ", ");
    fs_svg_name(t, v->s->queue_name[queues[k]]);
  }
  if (n > 8) {
    fs_text_puts(t, " and ");
    fs_text_u64(t, n - 8);
    fs_text_puts(t, " more");
  }
  fs_status status = put_parts(v, t, item);
  fs_text_puts(t, "</title></rect>\n");
  return status;
}

/* Connects two rows of a gang with a band in its colour. */
static void ribbon(fs_svg *v, const fs_svg_rows *rows, const fs_svg_box *bar, uint32_t to) {
  fs_svg_box box = *bar;
  fs_cent other = rows->y[to] + rows->gap / 2;
  box.y0 = bar->y1 < other ? bar->y1 : other + rows->pitch - rows->gap;
  box.y1 = bar->y1 < other ? other : bar->y0;
  fs_svg_rect(v, &v->body, "f", fs_svg_item_colour(v, rows->item[bar->id]), rows->top, box);
  fs_text_puts(&v->body, "/>\n");
}

static void ribbons(fs_svg *v, const fs_svg_rows *rows, const fs_svg_pieces *pieces) {
  for (uint32_t i = 0; i < pieces->n; i++) {
    const fs_svg_piece *p = &pieces->piece[i];
    uint32_t b = p->box.id;
    bool together = b + 1 < rows->n_boxes && rows->item[b + 1] == rows->item[b] &&
                    rows->box[b + 1].x0 == rows->box[b].x0 &&
                    rows->box[b + 1].x1 == rows->box[b].x1; /* a loop's rows may be apart */
    if (p->n == 1 && together) {
      ribbon(v, rows, &p->box, rows->queue[b + 1]);
    }
  }
}

/* Classes of bars too small for hatching: copies are told apart by direction. */
static const char *const small_classes[KINDS] = {
    [KIND_OP] = "",
    [FS_ROLE_LOAD] = "cr",
    [FS_ROLE_STORE] = "cw",
    [FS_ROLE_SPILL_WRITE] = "cw",
    [FS_ROLE_SPILL_READ] = "cr",
};

/* Draws a bar.  A copy has the colour of the version that it moves, under its hatching; a small bar
 * has the colour of the hatching instead. */
static fs_status bar(fs_svg *v, const fs_svg_rows *rows, const fs_svg_box *box) {
  uint32_t item = rows->item[box->id], n;
  fs_svg_kind kind = kind_of(v, item);
  bool large = box->x1 - box->x0 >= 3 * FS_PX && rows->pitch >= 4 * FS_PX;
  bool instant = v->s->start[item] == v->s->end[item];
  bool plain = kind != KIND_OP && !large && !instant;
  const char *hatch = kind == KIND_OP ? NULL : fs_svg_hatch(v, item - v->g->n_ops);
  (void)fs_item_queues(v->s, item, &n);
  v->used[FS_SVG_OP] |= kind == KIND_OP;
  v->used[FS_SVG_GANG] |= n > 1;
  v->used[FS_SVG_INSTANT] |= instant;
  bool opens = large && fs_svg_opens(v, item);
  const char *classes = instant  ? "i"
                        : !large ? small_classes[kind]
                        : opens  ? (n > 1 ? "b y f" : "b f")
                        : n > 1  ? "b y"
                                 : "b";
  fs_text *t = instant ? &v->above : &v->body;
  fs_svg_box shown = fs_svg_visible(box, instant, v->right - v->left, rows->height);
  fs_svg_rect(v, t, classes, plain ? FS_SVG_PLAIN : fs_svg_item_colour(v, item), rows->top, shown);
  FS_TRY(bar_title(v, t, item));
  if (kind != KIND_OP && large) {
    fs_svg_rect(v, t, hatch, FS_SVG_PLAIN, rows->top, shown);
    fs_text_puts(t, " pointer-events=\"none\"/>\n");
  }
  bool seen = false;
  if (opens) {
    FS_TRY(fs_svg_instances(v, item, rows->queue[box->id], rows->top, box, &seen));
  }
  if (!seen) {
    fs_svg_label(v, kind == KIND_OP ? "l" : "l o", fs_svg_item_name(v, item), rows->top, box);
  }
  return FSCHED_OK;
}

/* Writes the tooltip of a merged piece: "12 ops, 3 spill reads: 40–55 us". */
static void merged_title(fs_svg *v, const uint64_t *count, fs_tick begin, fs_tick end) {
  bool first = true;
  fs_text_puts(&v->body, "><title>");
  for (uint32_t i = 0; i < KINDS; i++) {
    uint32_t kind = (i + KIND_OP) % KINDS; /* ops come first */
    if (count[kind] > 0) {
      fs_text_puts(&v->body, first ? "" : ", ");
      fs_text_u64(&v->body, count[kind]);
      fs_text_puts(&v->body, " ");
      put_kind(&v->body, (fs_svg_kind)kind, count[kind]);
      first = false;
    }
  }
  fs_text_puts(&v->body, ": ");
  fs_svg_interval(&v->body, v, begin, end);
  fs_text_puts(&v->body, "</title></rect>\n");
}

/* Draws a merged piece: in the colour of its largest member, or as a copy if it has no ops. */
static void merged(fs_svg *v, const fs_svg_rows *rows, const fs_svg_pieces *pieces,
                   const fs_svg_piece *p) {
  static const char *const classes[KINDS] = {
      [KIND_OP] = "x",
      [FS_ROLE_LOAD] = "cr x",
      [FS_ROLE_STORE] = "cw x",
      [FS_ROLE_SPILL_WRITE] = "cw x",
      [FS_ROLE_SPILL_READ] = "cr x",
  };
  uint64_t count[KINDS] = {0};
  fs_tick begin = FS_TICK_NONE, end = 0;
  for (uint32_t i = p->member0; i < p->member0 + p->n; i++) {
    uint32_t item = rows->item[pieces->member[i]];
    count[kind_of(v, item)]++;
    begin = fs_min(begin, v->s->start[item]);
    end = fs_max(end, v->s->end[item]);
  }
  uint32_t largest = rows->item[p->box.id];
  fs_svg_kind kind = count[KIND_OP] == 0 ? kind_of(v, largest) : KIND_OP;
  v->used[FS_SVG_MERGED] = true;
  fs_svg_rect(v, &v->body, classes[kind],
              kind == KIND_OP ? fs_svg_item_colour(v, largest) : FS_SVG_PLAIN, rows->top,
              fs_svg_visible(&p->box, false, v->right - v->left, rows->height));
  merged_title(v, count, begin, end);
}

fs_status fs_svg_gantt(fs_svg *v) {
  fs_svg_rows rows = {0};
  fs_svg_pieces pieces;
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  FS_TRY(place_rows(v, &rows));
  FS_TRY(collect_boxes(v, &rows));
  FS_TRY(fs_svg_merge(&v->arena, rows.box, rows.n_boxes, v->right - v->left, false, &pieces));
  rows.top = fs_svg_open(v, false, rows.height);
  row_names(v, &rows);
  ribbons(v, &rows, &pieces);
  for (uint32_t i = 0; i < pieces.n; i++) {
    const fs_svg_piece *p = &pieces.piece[i];
    if (p->n == 1) {
      FS_TRY(bar(v, &rows, &p->box));
    } else {
      merged(v, &rows, &pieces, p);
    }
  }
  FS_TRY(fs_svg_syncs(v, &(fs_svg_sync_rows){rows.top, rows.height, rows.pitch, rows.y}));
  fs_svg_close(v);
  fs_arena_reset(&v->arena, mark);
  return FSCHED_OK;
}
