/* SPDX-License-Identifier: Apache-2.0 */
/* Colours and the legend.  An op and all buffers that it writes have one colour, so that the eye
 * matches a bar with its rectangles.  Colours follow program order along a ramp from light yellow
 * to dark orchid: ops that run early, and content that stays long, stand out against their
 * neighbours.  The lightness of the ramp falls evenly, so that it can be told apart with any colour
 * vision and in grey.  Given content has the colour of its first reader.  Copies are hatched over
 * the colour of the version that they move: reads and writes differ in direction and colour (blue
 * and vermilion, safe for any colour vision), spills have broad strokes, loads and stores narrow
 * ones. */
#include "draw/svg/svg.h"

static const uint8_t ramp[][3] = {
    {247, 226, 125}, {166, 219, 178}, {112, 191, 224}, {143, 152, 221}, {186, 112, 170}};
enum { ANCHORS = sizeof ramp / sizeof ramp[0] };

static uint32_t op_colour(const fs_svg *v, uint32_t op) {
  if (op == FS_NONE) {
    return FS_SVG_GREY;
  }
  uint32_t n = v->g->n_ops;
  if (n <= FS_SVG_COLOURS) {
    return n == 1 ? 0 : op * (FS_SVG_COLOURS - 1) / (n - 1);
  }
  return (uint32_t)((uint64_t)op * FS_SVG_COLOURS / n);
}

uint32_t fs_svg_item_colour(const fs_svg *v, uint32_t item) {
  assert(item < v->s->n_items);
  return op_colour(v, fs_item_is_copy(v->s, item)
                          ? v->version_op[v->s->copy_version[item - v->g->n_ops]]
                          : item);
}

uint32_t fs_svg_residency_colour(const fs_svg *v, uint32_t residency) {
  assert(residency < v->s->n_residencies);
  uint32_t version = v->s->res_version[residency];
  return op_colour(v, version == FS_NONE ? v->s->res_op[residency] : v->version_op[version]);
}

const char *fs_svg_hatch(fs_svg *v, uint32_t copy) {
  assert(copy < v->s->n_copies);
  static const char *const hatches[FS_ROLES] = {
      [FS_ROLE_LOAD] = "rl",
      [FS_ROLE_STORE] = "ws",
      [FS_ROLE_SPILL_WRITE] = "w",
      [FS_ROLE_SPILL_READ] = "r",
  };
  v->used[FS_SVG_LOAD + v->role[copy]] = true;
  return hatches[v->role[copy]];
}

static void put_hex(fs_text *t, uint32_t value) {
  static const char hex[] = "0123456789abcdef";
  char digits[2] = {hex[value >> 4 & 15], hex[value & 15]};
  fs_text_add(t, digits, 2);
}

static void put_colour(fs_text *t, uint32_t index) {
  uint32_t place = index * (ANCHORS - 1), last = FS_SVG_COLOURS - 1;
  uint32_t a = place / last, rest = place % last, b = rest == 0 ? a : a + 1;
  fs_text_puts(t, "#");
  for (uint32_t i = 0; i < 3; i++) {
    put_hex(t, (ramp[a][i] * (last - rest) + ramp[b][i] * rest + last / 2) / last);
  }
}

#define HATCH(id, angle, stroke, colour)                                         \
  "<pattern id=\"" id                                                            \
  "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "                 \
  "patternTransform=\"rotate(" angle                                             \
  ")\"><rect width=\"6\" height=\"6\" fill=\"#fff\" "                            \
  "fill-opacity=\".35\"/><rect width=\"" stroke "\" height=\"6\" fill=\"" colour \
  "\"/></pattern>\n"

static const char sheet[] =
    "text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#1b2733}\n"
    ".n{font-size:18px;font-weight:bold}.u{font-size:12px;fill:#45525f}\n"
    ".h{font-size:13px;font-weight:bold}.d{font-size:11px;font-weight:normal;fill:#5a6772}\n"
    ".q{font-size:11px;text-anchor:end}.t{font-size:10px;fill:#5a6772}\n"
    ".l{font-size:10px;text-anchor:middle}.e{text-anchor:end}.a{text-anchor:middle}\n"
    ".o{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-opacity:.85;"
    "stroke-linejoin:round}\n"
    ".p{fill:#f6f7f9}.g{stroke:#dde2e8;fill:none}.v{stroke:#e9ecf0;fill:none}\n"
    ".b{stroke:#22303c;stroke-width:.6;stroke-opacity:.7}.s{fill-opacity:.45;"
    "stroke-dasharray:3 2;stroke-opacity:1}\n"
    ".y{stroke:#22303c;stroke-width:1.8;stroke-opacity:1}.f{fill-opacity:.4}\n"
    ".i{stroke:#22303c;stroke-width:1}.x{fill-opacity:.8}\n"
    ".w{fill:url(#fsched-write)}.r{fill:url(#fsched-read)}.ws{fill:url(#fsched-store)}"
    ".rl{fill:url(#fsched-load)}.cw{fill:#d1480b}.cr{fill:#1f57b8}\n"
    ".z{fill:url(#fsched-padding)}.j{fill:none;stroke:#22303c;stroke-width:1.4;"
    "stroke-dasharray:2 2}\n"
    ".k{stroke:#b3261e;stroke-width:1.4;fill:none}.kt{fill:#b3261e}\n"
    ".m{stroke:#5a6772;stroke-dasharray:2 3;fill:none}.st{fill:#a9c3e6;stroke:#35629f}\n"
    ".me{stroke:#22303c;stroke-width:1.2;fill:none}\n"
    ".lb{stroke:#1a7f37;stroke-width:1.2;stroke-dasharray:5 3;fill:none}.lt{fill:#1a7f37}\n";

static const char loops[] =
    ".h0{fill:#dfe4e9;stroke:#9aa5b0;stroke-width:.5;stroke-dasharray:2 2}"
    ".h1{fill:#22303c;fill-opacity:.55}\n";

static const char syncs[] =
    ".sf{stroke:#8a1c7c;stroke-width:1.8;fill:none}"
    ".sc{stroke:#8a1c7c;stroke-width:1.4;stroke-dasharray:3 2;fill:none}\n";

void fs_svg_style(const fs_svg *v, fs_text *t) {
  fs_text_puts(t, "<style>\n");
  fs_text_puts(t, sheet);
  fs_text_puts(t, v->used[FS_SVG_HIDDEN] || v->used[FS_SVG_SLOTS] ? loops : "");
  fs_text_puts(t, v->used[FS_SVG_SYNC] || v->used[FS_SVG_COUNT] ? syncs : "");
  for (uint32_t i = 0; i < FS_SVG_COLOURS; i++) {
    fs_text_puts(t, ".c");
    fs_text_u64(t, i);
    fs_text_puts(t, "{fill:");
    put_colour(t, i);
    fs_text_puts(t, i % 4 == 3 ? "}\n" : "}");
  }
  fs_text_puts(t, ".c16{fill:#c9d0d6}\n</style>\n<defs>\n");
  fs_text_puts(t, HATCH("fsched-write", "45", "2.8", "#d1480b"));
  fs_text_puts(t, HATCH("fsched-read", "-45", "2.8", "#1f57b8"));
  fs_text_puts(t, HATCH("fsched-store", "45", "1.1", "#d1480b"));
  fs_text_puts(t, HATCH("fsched-load", "-45", "1.1", "#1f57b8"));
  fs_text_puts(t,
               "<pattern id=\"fsched-padding\" width=\"4\" height=\"4\" "
               "patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#fff\" "
               "fill-opacity=\".75\"/><circle cx=\"2\" cy=\"2\" r=\".8\" "
               "fill=\"#22303c\"/></pattern>\n</defs>\n");
}

/* ---- legend */

typedef struct fs_svg_entry {
  const char *under, *over; /* classes of a sample, and of its overlay */
  const char *words;
} fs_svg_entry;

static const fs_svg_entry entries[FS_SVG_MARKS] = {
    [FS_SVG_OP] = {NULL, NULL, "ops and what they write, in program order"},
    [FS_SVG_GIVEN] = {NULL, NULL,
                      "ops and what they write, in program order; what is given is coloured as "
                      "its first reader"},
    [FS_SVG_GANG] = {"c6 b y", NULL, "gang on several queues"},
    [FS_SVG_LOAD] = {"c6 b", "rl", "load of what is given"},
    [FS_SVG_STORE] = {"c6 b", "ws", "store of what is kept"},
    [FS_SVG_WRITE] = {"c6 b", "w", "spilled to the backing store"},
    [FS_SVG_READ] = {"c6 b", "r", "read back from the backing store"},
    [FS_SVG_SCRATCH] = {"c6 b s", NULL, "scratch"},
    [FS_SVG_INPLACE] = {"c6 b", "j", "output in its input's place"},
    [FS_SVG_PADDING] = {"c6 b", "z", "padding"},
    [FS_SVG_INSTANT] = {NULL, "i", "takes no time"},
    [FS_SVG_MERGED] = {"c6 x", NULL, "several, too small to show alone"},
    [FS_SVG_HIDDEN] = {"h0", NULL, "instances that are not shown"},
    [FS_SVG_SLOTS] = {"c6 b", "h1", "slots of a ring"},
    [FS_SVG_SYNC] = {NULL, "sf", "full sync: all that was issued before is over"},
    [FS_SVG_COUNT] = {NULL, "sc", "sync that counts the commands of its row"},
};

enum { SAMPLE = 24 * FS_PX, SAMPLE_HEIGHT = 12 * FS_PX, LEGEND_LINE = 20 * FS_PX };

static void ramp_sample(fs_svg *v, fs_svg_box box) {
  fs_cent left = box.x0;
  for (uint32_t i = 0; i < 6; i++) {
    box.x0 = left + (fs_cent)i * SAMPLE / 6;
    box.x1 = left + (fs_cent)(i + 1) * SAMPLE / 6;
    fs_svg_rect(v, &v->body, "", i * (FS_SVG_COLOURS - 1) / 5, v->y, box);
    fs_text_puts(&v->body, "/>\n");
  }
}

static void sample(fs_svg *v, fs_svg_mark mark, fs_svg_box box) {
  const fs_svg_entry *e = &entries[mark];
  if (mark == FS_SVG_OP || mark == FS_SVG_GIVEN) {
    ramp_sample(v, box);
  }
  if (e->under != NULL) {
    fs_svg_rect(v, &v->body, e->under, FS_SVG_PLAIN, v->y, box);
    fs_text_puts(&v->body, "/>\n");
  }
  if (mark == FS_SVG_INSTANT || mark == FS_SVG_SYNC || mark == FS_SVG_COUNT) {
    box.x0 += SAMPLE / 2;
    box.x1 = box.x0 + (mark == FS_SVG_INSTANT ? FS_PX : 1);
  } else if (mark == FS_SVG_SLOTS) {
    box.y0 = SAMPLE_HEIGHT / 2;
    box.y1 = box.y0 + FS_PX / 2;
  } else if (mark == FS_SVG_PADDING) {
    box.y1 = SAMPLE_HEIGHT / 2;
  }
  if (e->over != NULL) {
    fs_svg_rect(v, &v->body, e->over, FS_SVG_PLAIN, v->y, box);
    fs_text_puts(&v->body, "/>\n");
  }
}

void fs_svg_legend(fs_svg *v) {
  fs_cent x = 0;
  v->used[FS_SVG_OP] &= !v->used[FS_SVG_GIVEN]; /* they share one entry */
  v->y += 14 * FS_PX;
  for (uint32_t mark = 0; mark < FS_SVG_MARKS; mark++) {
    const char *words = entries[mark].words;
    fs_cent wide = SAMPLE + 6 * FS_PX + fs_svg_width(words, strlen(words), FS_SVG_ROW);
    if (!v->used[mark]) {
      continue;
    }
    if (x > 0 && v->left + x + wide > v->width - 16 * FS_PX) {
      x = 0;
      v->y += LEGEND_LINE;
    }
    sample(v, (fs_svg_mark)mark, (fs_svg_box){x, x + SAMPLE, 0, SAMPLE_HEIGHT, 0});
    fs_svg_text(&v->body, "d", v->left + x + SAMPLE + 6 * FS_PX,
                v->y + SAMPLE_HEIGHT / 2 + fs_svg_baseline(FS_SVG_ROW));
    fs_text_puts(&v->body, words);
    fs_text_puts(&v->body, "</text>\n");
    x += wide + 18 * FS_PX;
  }
  v->y += LEGEND_LINE;
}
