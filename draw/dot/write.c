/* SPDX-License-Identifier: Apache-2.0 */
/* Writing.  Every attribute is declared with its default before the first node, so that cgraph
 * writes only what differs.  Everything is named by number (n12, cluster_3); names are labels.
 *
 * Colours are those of Okabe and Ito, which people with any colour vision can tell apart; kinds of
 * nodes differ in shape, and edges that are only ordered by waits are dashed, as well. */
#include "write.h"

#include <cgraph.h>
#include <stdio.h>

#include "ids.h"
#include "label.h"
#include "place.h"

#define BLACK "#000000"
#define GREY "#999999"
#define LIGHT "#C8C8C8"
#define ORANGE "#E69F00"
#define SKY "#56B4E9"
#define GREEN "#009E73"
#define YELLOW "#F0E442"
#define BLUE "#0072B2"
#define VERMILION "#D55E00"
#define PURPLE "#CC79A7"

typedef struct fs_edge_style {
  const char *name, *legend, *color, *style;
  int dashes; /* in the legend; 0: drawn through */
} fs_edge_style;

/* By fs_pic_why. */
static const fs_edge_style edge_styles[FS_PIC_WHYS] = {
    {"data", "data", BLACK, "", 0},
    {"order", "order, no data", GREY, "dotted", 6},
    {"reuse", "control: reuse", VERMILION, "", 0},
    {"resource", "control: resource", PURPLE, "", 0},
    {"concurrency", "control: concurrency", GREEN, "", 0},
    {"barrier", "control: barrier", ORANGE, "", 0},
    {"wait", "wait", BLUE, "dashed", 3},
    {"queue", "next on its queue", LIGHT, "", 0},
};

typedef struct fs_node_style {
  const char *name, *legend, *shape, *fill, *peripheries;
} fs_node_style;

/* By fs_pic_kind. */
static const fs_node_style node_styles[FS_PIC_KINDS] = {
    {"op", "op", "box", "#FFFFFF", "1"},
    {"gang", "gang (one op, several queues)", "box", YELLOW, "2"},
    {"spill_write", "spill write (to the store)", "cylinder", ORANGE, "1"},
    {"spill_read", "spill read (from the store)", "cylinder", SKY, "1"},
};

typedef struct fs_writer {
  fs_picture *p;
  fs_layout layout;
  bool failed;      /* cgraph could not do something; sticky */
  uint32_t omitted; /* edges */
  fs_places places; /* of FS_LAYOUT_PLACED */
  Agraph_t *g;
  Agraph_t **cluster;
  Agnode_t **node;
  const char **shown; /* per item: its name, perhaps shortened */
  fs_text line;       /* the value in the making */
} fs_writer;

/* ---- cgraph takes char * and copies */

static void set(fs_writer *w, void *object, const char *key, const char *value) {
  w->failed |= agset(object, (char *)key, (char *)value) != 0;
}

/* The line, as a value; it starts anew. */
static void set_line(fs_writer *w, void *object, const char *key) {
  fs_text_add(&w->line, "", 1);
  if (!w->line.failed) {
    set(w, object, key, w->line.at);
    w->line.n = 0;
  }
}

static void declare(fs_writer *w, int kind, const char *key, const char *value) {
  w->failed |= agattr(w->g, kind, (char *)key, (char *)value) == NULL;
}

static Agnode_t *add_node(fs_writer *w, Agraph_t *g, const char *prefix, uint32_t number) {
  char name[32];
  if (number == FS_NONE) {
    (void)snprintf(name, sizeof name, "%s", prefix);
  } else {
    (void)snprintf(name, sizeof name, "%s%u", prefix, number);
  }
  Agnode_t *n = agnode(g, name, 1);
  w->failed |= n == NULL;
  return n;
}

static Agedge_t *add_edge(fs_writer *w, Agnode_t *from, Agnode_t *to) {
  Agedge_t *e = from == NULL || to == NULL ? NULL : agedge(w->g, from, to, NULL, 1);
  w->failed |= e == NULL;
  return e;
}

static Agraph_t *add_cluster(fs_writer *w, const char *name) {
  Agraph_t *g = agsubg(w->g, (char *)name, 1);
  w->failed |= g == NULL;
  return g;
}

static int put_text(void *out, const char *s) {
  fs_text *t = out;
  fs_text_puts(t, s);
  return t->failed ? EOF : 0;
}
static int put_nothing(void *out) {
  (void)out;
  return 0;
}

/* ---- defaults */

static void declare_graph(fs_writer *w) {
  bool in_time = w->p->source != FS_PIC_GRAPH;
  declare(w, AGRAPH, "linelength", "0"); /* cgraph breaks no lines */
  declare(w, AGRAPH, "charset", "UTF-8");
  declare(w, AGRAPH, "label", "");
  declare(w, AGRAPH, "labelloc", "t");
  declare(w, AGRAPH, "labeljust", "l");
  declare(w, AGRAPH, "fontname", "Helvetica");
  declare(w, AGRAPH, "fontsize", "12");
  declare(w, AGRAPH, "rankdir", in_time ? "LR" : "TB");
  declare(w, AGRAPH, "newrank", "true"); /* edges go forward between clusters too */
  declare(w, AGRAPH, "ranksep", in_time ? "0.35" : "0.4");
  declare(w, AGRAPH, "nodesep", "0.2");
  declare(w, AGRAPH, "style", "");
  declare(w, AGRAPH, "color", BLACK);
  declare(w, AGRAPH, "fillcolor", "");
  if (w->layout != FS_LAYOUT_FULL) {
    declare(w, AGRAPH, "splines", "line");
  }
  if (w->layout == FS_LAYOUT_LIMITED) { /* nslimit1 is left alone: long edges cost more later */
    declare(w, AGRAPH, "nslimit", "0.1");
    declare(w, AGRAPH, "mclimit", "0.1");
  }
  if (w->layout == FS_LAYOUT_PLACED) {
    declare(w, AGRAPH, "layout", "nop");
    declare(w, AGRAPH, "outputorder", "edgesfirst");
    declare(w, AGRAPH, "bb", "");
    declare(w, AGRAPH, "lp", "");
    declare(w, AGNODE, "pos", "");
  }
}

static void declare_all(fs_writer *w) {
  declare_graph(w);
  declare(w, AGNODE, "shape", "box");
  declare(w, AGNODE, "style", "filled");
  declare(w, AGNODE, "fillcolor", "#FFFFFF");
  declare(w, AGNODE, "color", "#555555");
  declare(w, AGNODE, "penwidth", "1");
  declare(w, AGNODE, "peripheries", "1");
  declare(w, AGNODE, "fontname", "Helvetica");
  declare(w, AGNODE, "fontsize", "10");
  declare(w, AGNODE, "margin", "0.08,0.04");
  declare(w, AGNODE, "height", "0.3");
  declare(w, AGNODE, "width", "0.3");
  declare(w, AGNODE, "label", "");
  declare(w, AGNODE, "tooltip", "");
  declare(w, AGNODE, "class", "");
  declare(w, AGEDGE, "color", BLACK);
  declare(w, AGEDGE, "style", "");
  declare(w, AGEDGE, "penwidth", "1");
  declare(w, AGEDGE, "arrowsize", "0.6");
  declare(w, AGEDGE, "weight", "1");
  declare(w, AGEDGE, "constraint", "true");
  declare(w, AGEDGE, "tooltip", "");
  declare(w, AGEDGE, "class", "");
}

/* ---- labels */

static void put_unit(fs_writer *w) {
  if (w->p->unit != NULL) {
    fs_text_puts(&w->line, " ");
    fs_dot_escape(&w->line, w->p->unit);
  }
}

static void put_counts(fs_text *t, uint32_t ops, uint32_t copies) {
  if (ops > 0) {
    fs_text_printf(t, "%u op%s", ops, ops == 1 ? "" : "s");
  }
  if (copies > 0) {
    fs_text_printf(t, "%s%u cop%s", ops > 0 ? ", " : "", copies, copies == 1 ? "y" : "ies");
  }
}

static void put_item(fs_writer *w, uint32_t i, bool full) {
  const fs_pic_item *item = &w->p->item[i];
  if (item->kind == FS_PIC_WRITE || item->kind == FS_PIC_READ) {
    fs_text_puts(&w->line, item->kind == FS_PIC_WRITE ? "write " : "read ");
  }
  fs_dot_escape(&w->line, full ? item->name : w->shown[i]);
  if (item->version > 0) {
    fs_text_printf(&w->line, ".%u", item->version);
  }
}

static void put_time(fs_writer *w, const fs_pic_node *n) {
  if (w->p->source == FS_PIC_GRAPH) {
    fs_text_u64(&w->line, n->end - n->start);
    put_unit(w);
    return;
  }
  fs_text_puts(&w->line, "[");
  fs_text_u64(&w->line, n->start);
  fs_text_puts(&w->line, ",");
  fs_text_u64(&w->line, n->end);
  fs_text_puts(&w->line, ")");
}

/* first .. last \n (12 ops) [0,40) */
static void put_node(fs_writer *w, const fs_pic_node *n, bool full) {
  put_item(w, n->first, full);
  if (n->ops + n->copies > 1) {
    fs_text_puts(&w->line, " ..\\n");
    put_item(w, n->last, full);
    fs_text_puts(&w->line, "\\n(");
    put_counts(&w->line, n->ops, n->copies);
    fs_text_puts(&w->line, ")");
  } else if (w->p->item[n->first].queues != NULL) {
    fs_text_puts(&w->line, "\\non ");
    fs_dot_escape(&w->line, w->p->item[n->first].queues);
  }
  fs_text_puts(&w->line, n->ops + n->copies > 1 ? " " : "\\n");
  put_time(w, n);
}

static void put_span(fs_writer *w) {
  const fs_picture *p = w->p;
  fs_text_puts(&w->line, p->source == FS_PIC_GRAPH ? ", longest path " : ", makespan ");
  fs_text_u64(&w->line, p->span);
  put_unit(w);
  if (p->lower_bound != FS_TICK_NONE) {
    fs_text_puts(&w->line, ", lower bound ");
    fs_text_u64(&w->line, p->lower_bound);
  }
  fs_text_printf(&w->line, "\\lcritical path (bold): %u of them, ", p->path_items);
  if (p->path_gaps == 0) {
    fs_text_puts(&w->line, "without gaps");
  } else {
    fs_text_puts(&w->line, "with gaps of ");
    fs_text_u64(&w->line, p->path_gaps);
    put_unit(w);
  }
}

static void put_reduction(fs_writer *w) {
  const fs_picture *p = w->p;
  if (p->n_nodes < p->n_items) {
    fs_text_printf(&w->line, "\\l%u drawn as %u: ", p->n_items, p->n_nodes);
    fs_text_puts(&w->line, p->chains ? "chains are one node" : "");
    fs_text_puts(&w->line, p->chains && p->groups ? ", and so is " : "");
    if (p->groups) {
      fs_text_puts(&w->line, p->source == FS_PIC_GRAPH ? "what is near each other in program order"
                                                       : "what runs near each other on a queue");
    }
  }
}

static void put_omission(fs_writer *w) {
  if (w->omitted > 0) {
    fs_text_printf(&w->line, "\\l%u edge%s not drawn", w->omitted,
                   w->omitted == 1 ? " that is neither a wait nor next on a queue is"
                                   : "s that are neither waits nor next on a queue are");
  }
}

static void label_graph(fs_writer *w) {
  static const char *const what[] = {"graph", "schedule", "program"};
  const fs_picture *p = w->p;
  fs_dot_escape(&w->line, p->name);
  fs_text_printf(&w->line, ": %s, ", what[p->source]);
  put_counts(&w->line, p->n_ops, p->n_copies);
  if (p->n_items > 0) {
    put_span(w);
  }
  put_reduction(w);
  put_omission(w);
  fs_text_puts(&w->line, "\\l");
  set_line(w, w->g, "label");
}

/* ---- places */

/* Width of a node by its label's longest line, which is in w->line as an escString; a little more
 * than what letters take on average. */
static int64_t width_of_line(const fs_text *t) {
  enum { LETTER = 6, MARGIN = 16 };
  int64_t longest = 0, n = 0;
  for (size_t i = 0; i < t->n; i++) {
    if (t->at[i] == '\\' && i + 1 < t->n) {
      n = t->at[++i] == 'n' ? 0 : n + 1;
    } else {
      n += ((unsigned char)t->at[i] & 0xC0) != 0x80;
    }
    longest = n > longest ? n : longest;
  }
  return longest * LETTER + MARGIN;
}

static fs_status find_places(fs_writer *w) {
  fs_picture *p = w->p;
  int64_t *width;
  FS_TRY(fs_new(&p->arena, &width, p->n_nodes));
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    put_node(w, &p->node[i], false);
    width[i] = width_of_line(&w->line);
    w->line.n = 0;
  }
  return fs_place_in_time(p, width, &w->places);
}

static void put_point(fs_text *t, int64_t x, int64_t y) {
  fs_text_printf(t, "%lld,%lld", (long long)x, (long long)y);
}

static void set_place(fs_writer *w, Agnode_t *to, int64_t x, int64_t y) {
  if (w->layout == FS_LAYOUT_PLACED) {
    put_point(&w->line, x, y);
    set_line(w, to, "pos");
  }
}

/* Below everything, at the left. */
static void place_legend(fs_writer *w, Agnode_t *to) {
  enum { RIGHT = 120, BELOW = 100 };
  set_place(w, to, RIGHT, w->places.low - BELOW);
}

static void place_cluster(fs_writer *w, Agraph_t *to, uint32_t c) {
  enum { LETTER = 8 };
  if (w->layout == FS_LAYOUT_PLACED) {
    const fs_pic_box *b = &w->places.lane[c];
    int64_t half = ((int64_t)strlen(w->p->cluster[c]) + 6) * LETTER / 2;
    put_point(&w->line, b->left, b->low);
    fs_text_puts(&w->line, ",");
    put_point(&w->line, b->right, b->high);
    set_line(w, to, "bb");
    put_point(&w->line, b->left + half, b->high - FS_PLACE_LABEL / 2);
    set_line(w, to, "lp");
  }
}

/* ---- nodes */

static void style_node(fs_writer *w, Agnode_t *to, fs_pic_kind kind, bool several) {
  const fs_node_style *s = &node_styles[kind];
  set(w, to, "shape", several && kind < FS_PIC_WRITE ? "box3d" : s->shape);
  set(w, to, "fillcolor", s->fill);
  set(w, to, "peripheries", s->peripheries);
}

static void write_node(fs_writer *w, uint32_t i) {
  const fs_pic_node *n = &w->p->node[i];
  Agraph_t *g = n->cluster == FS_NONE ? w->g : w->cluster[n->cluster];
  Agnode_t *to = w->node[i] = g == NULL ? NULL : add_node(w, g, "n", n->first);
  if (to == NULL) {
    return;
  }
  bool several = n->ops + n->copies > 1;
  style_node(w, to, (fs_pic_kind)n->kind, several);
  put_node(w, n, false);
  set_line(w, to, "label");
  put_node(w, n, true);
  set_line(w, to, "tooltip");
  fs_text_printf(&w->line, "%s%s%s", node_styles[n->kind].name, several ? " several" : "",
                 n->critical ? " critical" : "");
  set_line(w, to, "class");
  if (n->critical) {
    set(w, to, "penwidth", "3");
    set(w, to, "color", BLACK);
  }
  if (w->layout == FS_LAYOUT_PLACED) {
    set_place(w, to, w->places.x[i], w->places.y[i]);
  }
}

/* ---- edges */

static fs_pic_why main_why(uint8_t why) { return (fs_pic_why)__builtin_ctz(why); }
static bool has(uint8_t set, fs_pic_why why) { return (set >> why & 1) != 0; }
/* An edge with another reason that is waited for has a second line in the colour of waits. */
static bool is_double(uint8_t why) { return has(why, FS_PIC_WAIT) && main_why(why) != FS_PIC_WAIT; }

static void style_edge(fs_writer *w, Agedge_t *to, uint8_t why) {
  const fs_edge_style *s = &edge_styles[main_why(why)];
  if (is_double(why)) {
    fs_text_printf(&w->line, "%s:%s", s->color, BLUE);
    set_line(w, to, "color");
  } else {
    set(w, to, "color", s->color);
    set(w, to, "style", s->style);
  }
}

static void put_whys(fs_writer *w, uint8_t why, const char *between) {
  const char *before = "";
  for (int k = 0; k < FS_PIC_WHYS; k++) {
    if (has(why, (fs_pic_why)k)) {
      fs_text_printf(&w->line, "%s%s", before, edge_styles[k].name);
      before = between;
    }
  }
}

static void write_edge(fs_writer *w, const fs_pic_edge *e) {
  Agedge_t *to = add_edge(w, w->node[e->from], w->node[e->to]);
  if (to == NULL) {
    return;
  }
  style_edge(w, to, e->why);
  put_whys(w, e->why, " ");
  fs_text_puts(&w->line, e->critical ? " critical" : "");
  set_line(w, to, "class");
  put_item(w, w->p->node[e->from].last, true);
  fs_text_puts(&w->line, " to ");
  put_item(w, w->p->node[e->to].first, true);
  fs_text_puts(&w->line, ": ");
  put_whys(w, e->why, ", ");
  set_line(w, to, "tooltip");
  if (e->critical) {
    set(w, to, "penwidth", "3");
  }
  if (has(e->why, FS_PIC_QUEUE)) {
    set(w, to, "weight", "8"); /* queues are straight */
  }
}

/* ---- legend: one node, a row for every kind that occurs */

static void put_swatch(fs_text *t, const char *color, int width, int height) {
  fs_text_printf(t, "<TD FIXEDSIZE=\"TRUE\" WIDTH=\"%d\" HEIGHT=\"%d\"", width, height);
  if (*color != '\0') {
    fs_text_printf(t, " BGCOLOR=\"%s\"", color);
  }
  fs_text_puts(t, "></TD>");
}

#define SMALL_TABLE "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\">"

/* A line as a table of its own: one cell, or as many as there are dashes, with gaps as long. */
static void put_line(fs_text *t, const char *color, int dashes) {
  enum { WIDTH = 36, HEIGHT = 2 };
  int cells = dashes == 0 ? 1 : 2 * dashes - 1;
  fs_text_puts(t, "<TR><TD>" SMALL_TABLE "<TR>");
  for (int i = 0; i < cells; i++) {
    put_swatch(t, i % 2 == 0 ? color : "", WIDTH / cells, HEIGHT);
  }
  fs_text_puts(t, "</TR></TABLE></TD></TR>");
}

static void legend_row(fs_text *t, const char *text, bool waited) {
  fs_text_printf(t, "</TD><TD ALIGN=\"LEFT\">%s%s</TD></TR>", text, waited ? ", waited for" : "");
}

static void legend_node(fs_text *t, fs_pic_kind kind) {
  const fs_node_style *s = &node_styles[kind];
  fs_text_printf(t,
                 "<TR><TD><TABLE BORDER=\"%s\" CELLBORDER=\"1\" CELLSPACING=\"%d\" "
                 "CELLPADDING=\"0\"><TR>",
                 kind == FS_PIC_GANG ? "1" : "0", kind == FS_PIC_GANG ? 2 : 0);
  put_swatch(t, s->fill, 28, 10);
  fs_text_puts(t, "</TR></TABLE>");
  legend_row(t, s->legend, false);
}

static void legend_edge(fs_text *t, fs_pic_why why, bool waited) {
  const fs_edge_style *s = &edge_styles[why];
  fs_text_puts(t, "<TR><TD>" SMALL_TABLE);
  put_line(t, s->color, s->dashes);
  if (waited) {
    put_line(t, BLUE, 0);
  }
  fs_text_puts(t, "</TABLE>");
  legend_row(t, s->legend, waited);
}

static void put_legend(const fs_picture *p, fs_text *t) {
  bool node[FS_PIC_KINDS] = {false}, edge[FS_PIC_WHYS] = {false}, waited[FS_PIC_WHYS] = {false};
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    node[p->node[i].kind] = true;
  }
  for (size_t e = 0; e < p->edge.n; e++) {
    uint8_t why = p->edge.at[e].why;
    (is_double(why) ? waited : edge)[main_why(why)] = true;
  }
  fs_text_puts(t, "<TABLE BORDER=\"1\" COLOR=\"" LIGHT
                  "\" CELLBORDER=\"0\" CELLSPACING=\"1\" "
                  "CELLPADDING=\"1\">");
  for (int k = 0; k < FS_PIC_KINDS; k++) {
    if (node[k]) {
      legend_node(t, (fs_pic_kind)k);
    }
  }
  for (int k = 0; k < FS_PIC_WHYS; k++) {
    if (edge[k]) {
      legend_edge(t, (fs_pic_why)k, false);
    }
    if (waited[k]) {
      legend_edge(t, (fs_pic_why)k, true);
    }
  }
  fs_text_puts(t, "</TABLE>");
}

static void write_legend(fs_writer *w) {
  Agnode_t *n = add_node(w, w->g, "legend", FS_NONE);
  put_legend(w->p, &w->line);
  fs_text_add(&w->line, "", 1);
  if (n == NULL || w->line.failed) {
    return;
  }
  char *label = agstrdup_html(w->g, w->line.at);
  w->line.n = 0;
  w->failed |= label == NULL;
  if (label != NULL) {
    set(w, n, "label", label);
    set(w, n, "shape", "plain");
    set(w, n, "style", "");
    set(w, n, "tooltip", "legend");
    place_legend(w, n);
  }
}

/* ---- all */

static void write_clusters(fs_writer *w) {
  for (uint32_t c = 0; c < w->p->n_clusters; c++) {
    char name[32];
    (void)snprintf(name, sizeof name, "cluster_%u", c);
    w->cluster[c] = add_cluster(w, name);
    if (w->cluster[c] != NULL) {
      fs_text_puts(&w->line, "queue ");
      fs_dot_escape(&w->line, w->p->cluster[c]);
      set_line(w, w->cluster[c], "label");
      set(w, w->cluster[c], "style", "filled");
      set(w, w->cluster[c], "color", LIGHT);
      set(w, w->cluster[c], "fillcolor", "#F2F2F2");
      place_cluster(w, w->cluster[c], c);
    }
  }
}

/* Is there the memory that cgraph will take?  A generous guess of what it keeps per object. */
static fs_status ask_for_memory(const fs_picture *p) {
  enum { PER_GRAPH = 1 << 16, PER_NODE = 2048, PER_EDGE = 1536 };
  size_t size = PER_GRAPH + p->n_nodes * (size_t)PER_NODE + p->edge.n * (size_t)PER_EDGE;
  void *block = fs_realloc(p->ctx, NULL, 0, size);
  if (block == NULL) {
    return FSCHED_SYSTEM;
  }
  (void)fs_realloc(p->ctx, block, size, 0);
  return FSCHED_OK;
}

/* Straight lines between places: those that queues and waits say anyhow would only hide them. */
static void omit_edges(fs_writer *w) {
  fs_picture *p = w->p;
  size_t n = 0;
  for (size_t i = 0; i < p->edge.n; i++) {
    fs_pic_edge e = p->edge.at[i];
    if (e.critical || has(e.why, FS_PIC_WAIT) || has(e.why, FS_PIC_QUEUE)) {
      p->edge.at[n++] = e;
    }
  }
  w->omitted = (uint32_t)(p->edge.n - n);
  p->edge.n = n;
}

static fs_status prepare(fs_writer *w, bool full_names) {
  fs_picture *p = w->p;
  const char **name;
  FS_TRY(fs_new_zero(&p->arena, &w->cluster, p->n_clusters));
  FS_TRY(fs_new_zero(&p->arena, &w->node, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &name, p->n_items));
  FS_TRY(fs_new(&p->arena, &w->shown, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    w->shown[i] = name[i] = p->item[i].name;
  }
  if (!full_names) {
    FS_TRY(fs_dot_shorten(&p->arena, name, w->shown, p->n_items));
  }
  if (w->layout == FS_LAYOUT_PLACED) {
    omit_edges(w);
    FS_TRY(find_places(w));
  }
  return ask_for_memory(p);
}

static void write_all(fs_writer *w, fs_text *out) {
  declare_all(w);
  label_graph(w);
  write_clusters(w);
  for (uint32_t i = 0; i < w->p->n_nodes; i++) {
    write_node(w, i);
  }
  for (size_t e = 0; e < w->p->edge.n && !w->failed; e++) {
    write_edge(w, &w->p->edge.at[e]);
  }
  write_legend(w);
  w->failed |= !w->line.failed && agwrite(w->g, out) != 0 && !out->failed;
}

static fs_status report(const fs_writer *w) {
  char *message = aglasterr();
  return fs_fail(w->p->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                 "cgraph could not make the picture: %s", message == NULL ? "-" : message);
}

static fs_status open_and_write(fs_writer *w, fs_text *out) {
  Agiodisc_t io = {.putstr = put_text, .flush = put_nothing};
  fs_dot_ids ids;
  Agdisc_t discipline = {.id = &ids.discipline, .io = &io};
  fs_dot_escape(&w->line, w->p->name);
  fs_text_add(&w->line, "", 1);
  char **names;
  FS_TRY(w->line.failed ? FSCHED_SYSTEM : fs_new(&w->p->arena, &names, w->p->n_clusters + 1));
  fs_dot_ids_init(&ids, names, w->p->n_clusters + 1);
  agerrlevel_t level = agseterr(AGMAX); /* it prints nothing and remembers the last error */
  w->g = agopen(w->line.at, Agdirected, &discipline);
  w->line.n = 0;
  w->failed = w->g == NULL;
  if (w->g != NULL) {
    write_all(w, out);
    w->failed |= agclose(w->g) != 0;
  }
  fs_status status = w->failed ? report(w) : FSCHED_OK;
  (void)agseterr(level);
  return w->line.failed || out->failed ? FSCHED_SYSTEM : status;
}

fs_status fs_dot_write(fs_picture *p, fs_layout layout, bool full_names, fs_text *out) {
  fs_writer w = {.p = p, .layout = layout};
  fs_text_init(&w.line, p->ctx);
  fs_status status = prepare(&w, full_names);
  if (status == FSCHED_OK) {
    status = open_and_write(&w, out);
  }
  fs_text_drop(&w.line);
  return status;
}
