/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that panels are made of: boxes, labels that fit into them, headings, rulers. */
#include "draw/svg/svg.h"

void fs_svg_rect(const fs_svg *v, fs_text *t, const char *classes, uint32_t colour, fs_cent top,
                 fs_svg_box box) {
  assert(colour <= FS_SVG_PLAIN);
  fs_text_puts(t, "<rect class=\"");
  if (colour != FS_SVG_PLAIN) {
    fs_text_puts(t, "c");
    fs_text_u64(t, colour);
    fs_text_puts(t, *classes == '\0' ? "" : " ");
  }
  fs_text_puts(t, classes);
  fs_text_puts(t, "\"");
  fs_svg_attribute(t, "x", v->left + box.x0);
  fs_svg_attribute(t, "y", top + box.y0);
  fs_svg_attribute(t, "width", box.x1 - box.x0);
  fs_svg_attribute(t, "height", box.y1 - box.y0);
}

void fs_svg_text(fs_text *t, const char *classes, fs_cent x, fs_cent y) {
  fs_text_puts(t, "<text class=\"");
  fs_text_puts(t, classes);
  fs_text_puts(t, "\"");
  fs_svg_attribute(t, "x", x);
  fs_svg_attribute(t, "y", y);
  fs_text_puts(t, ">");
}

static void upright(fs_text *t, const char *classes, fs_cent x, fs_cent y) {
  fs_text_puts(t, "<text class=\"");
  fs_text_puts(t, classes);
  fs_text_puts(t, "\" transform=\"translate(");
  fs_svg_number(t, x);
  fs_text_puts(t, " ");
  fs_svg_number(t, y);
  fs_text_puts(t, ") rotate(-90)\">");
}

static size_t hidden(fs_svg_part p) { return p.tail - p.head; }

void fs_svg_label(fs_svg *v, const char *classes, const char *name, fs_cent top,
                  const fs_svg_box *box) {
  enum { SIDES = 4 * FS_PX, LINE = 11 * FS_PX };
  fs_cent wide = box->x1 - box->x0, high = box->y1 - box->y0;
  fs_svg_part across = fs_svg_fit(name, FS_SVG_LABEL, high < LINE ? 0 : wide - SIDES);
  fs_svg_part along = fs_svg_fit(name, FS_SVG_LABEL, wide < LINE ? 0 : high - SIDES);
  if (across.head == 0 && along.head == 0) {
    return;
  }
  fs_cent x = v->left + box->x0 + wide / 2, y = top + box->y0 + high / 2;
  bool lies = hidden(across) <= hidden(along);
  if (lies) {
    fs_svg_text(&v->above, classes, x, y + fs_svg_baseline(FS_SVG_LABEL));
  } else {
    upright(&v->above, classes, x + fs_svg_baseline(FS_SVG_LABEL), y);
  }
  fs_svg_fitted(&v->above, name, lies ? across : along);
  fs_text_puts(&v->above, "</text>\n");
}

/* Moves two ends to at least this distance from each other, within 0 and the limit. */
static void grow(fs_cent *low, fs_cent *high, fs_cent least, fs_cent limit) {
  if (*high - *low < least) {
    *low = *low - least / 2 < 0 ? 0 : *low - least / 2;
    *high = *low + least > limit ? limit : *low + least;
    *low = *high - least;
  }
}

fs_svg_box fs_svg_visible(const fs_svg_box *box, bool instant, fs_cent width, fs_cent height) {
  fs_svg_box b = *box;
  grow(&b.x0, &b.x1, instant ? FS_PX : FS_PX / 2, width);
  grow(&b.y0, &b.y1, FS_PX / 2, height);
  return b;
}

const char *fs_svg_version_name(fs_svg *v, uint32_t version) {
  const char *buffer = v->g->buffer_name[v->g->version_buffer[version]];
  uint32_t index = fs_version_index(v->g, version);
  if (index == 0) {
    return buffer;
  }
  v->name.n = 0;
  fs_text_puts(&v->name, buffer);
  fs_text_puts(&v->name, ".");
  fs_text_u64(&v->name, index);
  fs_text_add(&v->name, "", 1);
  return v->name.failed ? buffer : v->name.at;
}

const char *fs_svg_item_name(fs_svg *v, uint32_t item) {
  return fs_item_is_copy(v->s, item)
             ? fs_svg_version_name(v, v->s->copy_version[item - v->g->n_ops])
             : v->g->op_name[item];
}

static void put_unit(fs_text *t, const fs_svg *v) {
  if (v->g->target.time_unit != NULL) {
    fs_text_puts(t, " ");
    fs_svg_name(t, v->g->target.time_unit);
  }
}

/* Writes rest / whole as a decimal fraction without zeros at its end; whole is a power of 10. */
static void put_fraction(fs_text *t, uint64_t rest, uint64_t whole) {
  fs_text_puts(t, rest == 0 ? "" : ".");
  for (; rest != 0; rest %= whole) {
    whole /= 10;
    fs_text_u64(t, rest / whole);
  }
}

void fs_svg_time(fs_text *t, const fs_svg *v, fs_tick time) {
  const fs_svg_unit *u = &v->unit;
  if (u->thousands > 0 || v->g->target.time_unit == NULL) {
    fs_text_u64(t, time);
    put_unit(t, v);
    return;
  }
  fs_text_u64(t, time / u->ticks);
  put_fraction(t, time % u->ticks, u->ticks);
  fs_text_puts(t, " ");
  fs_svg_name(t, u->name);
}

void fs_svg_interval(fs_text *t, const fs_svg *v, fs_tick begin, fs_tick end) {
  fs_text_u64(t, begin);
  if (end != begin) {
    fs_text_puts(t, "\xE2\x80\x93");
    fs_text_u64(t, end);
  }
  put_unit(t, v);
}

void fs_svg_heading(fs_svg *v, const char *name) {
  v->y += 26 * FS_PX;
  fs_svg_text(&v->body, "h", v->left, v->y - 7 * FS_PX);
  fs_svg_name(&v->body, name);
  fs_text_puts(&v->body, "<tspan class=\"d\" dx=\"8\">");
}

/* Draws the grid of the time axis, one line in about 90 pixels. */
static void grid(fs_svg *v, fs_cent top, fs_cent height) {
  fs_text_puts(&v->body, "<path class=\"g\" d=\"");
  for (fs_tick time = v->step; time < v->span; time += v->step) {
    fs_text_puts(&v->body, "M");
    fs_svg_number(&v->body, v->left + fs_svg_x(v, time));
    fs_text_puts(&v->body, " ");
    fs_svg_number(&v->body, top);
    fs_text_puts(&v->body, "v");
    fs_svg_number(&v->body, height);
  }
  fs_text_puts(&v->body, "\"/>\n");
}

fs_cent fs_svg_open(fs_svg *v, bool heading, fs_cent height) {
  fs_cent top = v->y;
  fs_text_puts(&v->body, heading ? "</tspan></text>\n" : "");
  fs_svg_box all = {.x1 = v->right - v->left, .y1 = height};
  fs_svg_rect(v, &v->body, "p", FS_SVG_PLAIN, top, all);
  fs_text_puts(&v->body, "/>\n");
  grid(v, top, height);
  v->y += height;
  return top;
}

void fs_svg_close(fs_svg *v) {
  v->body.failed |= v->above.failed;
  if (!v->above.failed) {
    fs_text_add(&v->body, v->above.at == NULL ? "" : v->above.at, v->above.n);
  }
  v->above.n = 0;
}

void fs_svg_amounts_init(fs_svg_amounts *a, uint64_t capacity, uint64_t used, const char *word,
                         bool bytes) {
  *a = (fs_svg_amounts){.capacity = capacity, .used = used, .word = word, .bytes = bytes};
  a->top = fs_max(fs_max(capacity, used), 1);
  if (capacity / 4 > used) { /* mostly empty: the used part is enlarged */
    uint64_t wanted = fs_max(used + used / 4, 1);
    uint64_t step = bytes && wanted >= 16 ? fs_svg_binary_step(wanted, 4) : fs_svg_step(wanted, 4);
    a->top = fs_min(fs_ceil_div(wanted, step) * step, a->top);
  }
}

void fs_svg_amount(fs_text *t, const fs_svg_amounts *a, uint64_t value) {
  if (a->bytes) {
    fs_svg_bytes(t, value);
  } else {
    fs_text_u64(t, value);
  }
}

/* Draws a line across the panel at height y. */
static void level(fs_svg *v, const char *class, fs_cent y) {
  fs_text_puts(&v->above, "<path class=\"");
  fs_text_puts(&v->above, class);
  fs_text_puts(&v->above, "\" d=\"M");
  fs_svg_number(&v->above, v->left);
  fs_text_puts(&v->above, " ");
  fs_svg_number(&v->above, y);
  fs_text_puts(&v->above, "h");
  fs_svg_number(&v->above, v->right - v->left);
  fs_text_puts(&v->above, "\"/>\n");
}

/* Writes `word` at the right of the panel, and the amount below it if there is room; returns the y
 * of the next line. */
static fs_cent beside(fs_svg *v, const char *class, const char *word, const fs_svg_amounts *a,
                      uint64_t value, bool room, fs_cent y) {
  fs_svg_text(&v->above, class, v->right + 6 * FS_PX, y);
  fs_text_puts(&v->above, word);
  fs_text_puts(&v->above, "</text>\n");
  if (room) {
    y += 12 * FS_PX;
    fs_svg_text(&v->above, class, v->right + 6 * FS_PX, y);
    fs_svg_amount(&v->above, a, value);
    fs_text_puts(&v->above, "</text>\n");
  }
  return y + 12 * FS_PX;
}

static void ruler_ticks(fs_svg *v, const fs_svg_amounts *a, fs_cent top, fs_cent height) {
  uint32_t most = (uint32_t)(height / (44 * FS_PX)) + 1;
  uint64_t step =
      a->bytes && a->top >= 16 ? fs_svg_binary_step(a->top, most) : fs_svg_step(a->top, most);
  for (uint64_t value = 0; value <= a->top; value += step) {
    fs_cent y = top + height - fs_svg_scale(value, a->top, height);
    fs_svg_text(&v->body, "t e", v->left - 6 * FS_PX, y + fs_svg_baseline(FS_SVG_LABEL));
    fs_svg_amount(&v->body, a, value);
    fs_text_puts(&v->body, "</text>\n");
  }
}

void fs_svg_ruler(fs_svg *v, const fs_svg_amounts *a, fs_cent top, fs_cent height) {
  bool room = height >= 80 * FS_PX, inside = a->capacity <= a->top;
  fs_cent bottom = top + height;
  fs_cent y = inside ? bottom - fs_svg_scale(a->capacity, a->top, height) : top;
  ruler_ticks(v, a, top, height);
  if (inside) {
    level(v, "k", y);
  }
  const char *word = inside ? "capacity" : "capacity \xE2\x86\x91";
  fs_cent next = beside(v, "t kt", word, a, a->capacity, room,
                        y + fs_svg_baseline(FS_SVG_LABEL)); /* beside the end of the line */
  fs_cent used = bottom - fs_svg_scale(a->used, a->top, height);
  bool apart = used - y > 2 * FS_PX || y - used > 2 * FS_PX;
  if (apart && a->used > 0) {
    level(v, "m", used);
    used += fs_svg_baseline(FS_SVG_LABEL);
    fs_cent at = used < next ? next : used;
    if (at <= bottom) {
      (void)beside(v, "t", a->word, a, a->used, room && at + 12 * FS_PX <= bottom, at);
    }
  }
}
