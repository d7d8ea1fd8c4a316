/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a picture.  Every attribute is declared with its default before the first node, so that
 * cgraph writes only values that differ from it.  Objects are called by their numbers (n12,
 * cluster_3); names appear in labels. */
#include "draw/dot/write.h"

#include <stdio.h>

#include "draw/dot/apart.h"
#include "draw/dot/ids.h"
#include "draw/dot/label.h"
#include "draw/dot/legend.h"
#include "draw/dot/place.h"
#include "draw/dot/title.h"
#include "draw/dot/writer.h"

/* ---- cgraph: it takes values of type char *, and copies them */

void fs_dot_set(fs_writer *w, void *object, const char *key, const char *value) {
  w->failed |= agset(object, (char *)key, (char *)value) != 0;
}

/* Sets the attribute to the text in `line`, which is then empty. */
void fs_dot_set_line(fs_writer *w, void *object, const char *key) {
  fs_text_add(&w->line, "", 1);
  if (!w->line.failed) {
    fs_dot_set(w, object, key, w->line.at);
    w->line.n = 0;
  }
}

static void declare(fs_writer *w, int kind, const char *key, const char *value) {
  w->failed |= agattr(w->g, kind, (char *)key, (char *)value) == NULL;
}

Agnode_t *fs_dot_node(fs_writer *w, Agraph_t *g, const char *prefix, uint32_t number) {
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

Agedge_t *fs_dot_edge(fs_writer *w, Agnode_t *from, Agnode_t *to) {
  Agedge_t *e = from == NULL || to == NULL ? NULL : agedge(w->g, from, to, NULL, 1);
  w->failed |= e == NULL;
  return e;
}

Agraph_t *fs_dot_cluster(fs_writer *w, const char *name) {
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
  declare(w, AGRAPH, "linelength", "0"); /* lets cgraph break no lines */
  declare(w, AGRAPH, "charset", "UTF-8");
  declare(w, AGRAPH, "label", "");
  declare(w, AGRAPH, "labelloc", "t");
  declare(w, AGRAPH, "labeljust", "l");
  declare(w, AGRAPH, "fontname", "Helvetica");
  declare(w, AGRAPH, "fontsize", "12");
  declare(w, AGRAPH, "rankdir", in_time ? "LR" : "TB");
  declare(w, AGRAPH, "newrank", "true"); /* lets edges go forward between clusters too */
  declare(w, AGRAPH, "ranksep", in_time ? "0.35" : "0.4");
  declare(w, AGRAPH, "nodesep", "0.2");
  declare(w, AGRAPH, "style", "");
  declare(w, AGRAPH, "color", BLACK);
  declare(w, AGRAPH, "fillcolor", "");
  if (w->layout == FS_LAYOUT_PLACED) {
    declare(w, AGRAPH, "splines", "line");
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
  if (w->p->n_loops > 0) {
    declare(w, AGRAPH, "compound", "true"); /* edges end at clusters */
    declare(w, AGEDGE, "lhead", "");
    declare(w, AGEDGE, "label", "");
    declare(w, AGEDGE, "fontname", "Helvetica");
    declare(w, AGEDGE, "fontsize", "8");
  }
}

/* ---- labels */

/* Writes ".4" for version 4; nothing for the first version. */
static void put_index(fs_text *t, uint32_t index) {
  if (index > 0) {
    fs_text_printf(t, ".%u", index);
  }
}

static void put_item(fs_writer *w, uint32_t i, bool full) {
  static const char *const words[FS_PIC_KINDS] = {"", "", "load ", "store ", "write ", "read "};
  const fs_pic_item *item = &w->p->item[i];
  fs_text_puts(&w->line, words[item->kind]);
  fs_dot_escape(&w->line, full ? item->name : w->shown[i]);
  put_index(&w->line, item->version);
}

static void put_time(fs_writer *w, const fs_pic_node *n) {
  if (w->p->source == FS_PIC_GRAPH) {
    fs_text_u64(&w->line, n->end - n->start);
    fs_dot_put_unit(w->p, &w->line);
    return;
  }
  fs_text_puts(&w->line, "[");
  fs_text_u64(&w->line, n->start);
  fs_text_puts(&w->line, ",");
  fs_text_u64(&w->line, n->end);
  fs_text_puts(&w->line, ")");
  fs_dot_put_unit(w->p, &w->line);
}

/* Writes "first .. last \n (12 ops) [0,40)". */
static void put_node(fs_writer *w, const fs_pic_node *n, bool full) {
  enum { LISTED = 4 }; /* queues that a label lists; tooltips list all */
  const fs_pic_item *item = &w->p->item[n->first];
  const char *members = item->members ? "members " : "";
  put_item(w, n->first, full);
  if (n->ops + n->copies > 1) {
    fs_text_puts(&w->line, " ..\\n");
    put_item(w, n->last, full);
    fs_text_puts(&w->line, "\\n(");
    fs_dot_put_counts(&w->line, n->ops, n->copies);
    fs_text_puts(&w->line, ")");
  } else if (item->queues != NULL && !full && item->n_queues > LISTED) {
    fs_text_printf(&w->line, "\\n%son %u queues", members, item->n_queues);
  } else if (item->queues != NULL) {
    fs_text_puts(&w->line, "\\n");
    fs_text_puts(&w->line, members);
    fs_text_puts(&w->line, "on ");
    fs_dot_escape(&w->line, item->queues);
  }
  fs_text_puts(&w->line, n->ops + n->copies > 1 ? " " : "\\n");
  put_time(w, n);
  if (full && n->ops + n->copies == 1 && item->parts != NULL) {
    fs_text_puts(&w->line, "\\n");
    fs_dot_escape(&w->line, item->parts);
  }
}

/* ---- positions */

/* The width of a node whose label is in w->line as an escString: of its longest line, with letters
 * a little wider than average. */
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
  return p->source == FS_PIC_GRAPH ? fs_place_in_levels(p, width, &w->places)
                                   : fs_place_in_time(p, width, &w->places);
}

static void put_point(fs_text *t, int64_t x, int64_t y) {
  fs_text_printf(t, "%lld,%lld", (long long)x, (long long)y);
}

static void set_place(fs_writer *w, Agnode_t *to, int64_t x, int64_t y) {
  if (w->layout == FS_LAYOUT_PLACED) {
    put_point(&w->line, x, y);
    fs_dot_set_line(w, to, "pos");
  }
}

/* Places the legend below everything, at the left. */
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
    fs_dot_set_line(w, to, "bb");
    put_point(&w->line, b->left + half, b->high - FS_PLACE_LABEL / 2);
    fs_dot_set_line(w, to, "lp");
  }
}

/* ---- nodes */

static void style_node(fs_writer *w, Agnode_t *to, fs_pic_kind kind, bool several) {
  const fs_node_style *s = &fs_node_styles[kind];
  fs_dot_set(w, to, "shape", several && !fs_pic_copies(kind) ? "box3d" : s->shape);
  fs_dot_set(w, to, "fillcolor", s->fill);
  fs_dot_set(w, to, "peripheries", s->peripheries);
}

static void write_node(fs_writer *w, uint32_t i) {
  const fs_pic_node *n = &w->p->node[i];
  Agraph_t *g = n->cluster == FS_NONE ? w->g : w->cluster[n->cluster];
  Agnode_t *to = w->node[i] = g == NULL ? NULL : fs_dot_node(w, g, "n", n->first);
  if (to == NULL) {
    return;
  }
  bool several = n->ops + n->copies > 1;
  style_node(w, to, (fs_pic_kind)n->kind, several);
  put_node(w, n, false);
  fs_dot_set_line(w, to, "label");
  put_node(w, n, true);
  fs_dot_set_line(w, to, "tooltip");
  fs_text_printf(&w->line, "%s%s%s", fs_node_styles[n->kind].name, several ? " several" : "",
                 n->critical ? " critical" : "");
  fs_dot_set_line(w, to, "class");
  if (n->critical) {
    fs_dot_set(w, to, "penwidth", "3");
    fs_dot_set(w, to, "color", BLACK);
  }
  if (w->layout == FS_LAYOUT_PLACED) {
    set_place(w, to, w->places.x[i], w->places.y[i]);
  }
}

/* ---- edges */

static void style_edge(fs_writer *w, Agedge_t *to, uint16_t why) {
  const fs_edge_style *s = &fs_edge_styles[fs_why_main(why)];
  if (fs_why_double(why)) {
    fs_text_printf(&w->line, "%s:%s", s->color, BLUE);
    fs_dot_set_line(w, to, "color");
  } else {
    fs_dot_set(w, to, "color", s->color);
    fs_dot_set(w, to, "style", s->style);
  }
}

static void put_version(fs_writer *w, uint32_t version) {
  fs_dot_escape(&w->line, w->p->version_name[version]);
  put_index(&w->line, w->p->version_index[version]);
}

/* Writes "a to b: data in x, wait". */
static void put_edge(fs_writer *w, const fs_pic_edge *e) {
  const char *before = ": ";
  put_item(w, w->p->node[e->from].last, true);
  fs_text_puts(&w->line, " to ");
  put_item(w, w->p->node[e->to].first, true);
  for (int k = 0; k < FS_PIC_WHYS; k++) {
    if (!fs_why_has(e->why, (fs_pic_why)k)) {
      continue;
    }
    fs_text_printf(&w->line, "%s%s", before, fs_edge_styles[k].name);
    before = ", ";
    if (k == FS_PIC_DATA && e->version != FS_NONE) {
      fs_text_puts(&w->line, " in ");
      put_version(w, e->version);
      fs_text_puts(&w->line, e->more ? " and more" : "");
    }
  }
}

static void put_whys(fs_writer *w, uint16_t why, const char *between) {
  const char *before = "";
  for (int k = 0; k < FS_PIC_WHYS; k++) {
    if (fs_why_has(why, (fs_pic_why)k)) {
      fs_text_printf(&w->line, "%s%s", before, fs_edge_styles[k].name);
      before = between;
    }
  }
}

static void write_edge(fs_writer *w, const fs_pic_edge *e) {
  Agedge_t *to = fs_dot_edge(w, w->node[e->from], w->node[e->to]);
  if (to == NULL) {
    return;
  }
  style_edge(w, to, e->why);
  put_whys(w, e->why, " ");
  fs_text_puts(&w->line, e->critical ? " critical" : "");
  fs_dot_set_line(w, to, "class");
  put_edge(w, e);
  fs_dot_set_line(w, to, "tooltip");
  if (e->critical) {
    fs_dot_set(w, to, "penwidth", "3");
  }
  if (fs_why_has(e->why, FS_PIC_QUEUE)) {
    fs_dot_set(w, to, "weight", "8"); /* keeps the edges of queues straight */
  }
}

/* ---- buffers that are given or kept, as small nodes */

/* Places a buffer above the node that reads it, or below the node that writes it. */
static void place_buffer(fs_writer *w, Agnode_t *to, uint32_t node, bool given) {
  enum { AWAY = FS_PLACE_HEIGHT / 2 + 12, BESIDE = 36 };
  if (w->layout == FS_LAYOUT_PLACED) {
    int64_t x = w->places.x[node] + (int64_t)w->near[node]++ * BESIDE;
    set_place(w, to, x, w->places.y[node] + (given ? AWAY : -AWAY));
  }
}

static Agnode_t *write_buffer(fs_writer *w, uint32_t version, bool given) {
  Agnode_t *n = fs_dot_node(w, w->g, given ? "given" : "kept", version);
  if (n == NULL) {
    return NULL;
  }
  put_version(w, version);
  fs_dot_set_line(w, n, "label");
  put_version(w, version);
  fs_text_puts(&w->line, given ? ": given" : ": kept");
  fs_dot_set_line(w, n, "tooltip");
  fs_dot_set(w, n, "class", given ? "buffer given" : "buffer kept");
  fs_dot_set(w, n, "shape", "ellipse");
  fs_dot_set(w, n, "fillcolor", PALE_GREEN);
  fs_dot_set(w, n, "fontsize", "8");
  fs_dot_set(w, n, "height", "0.2");
  fs_dot_set(w, n, "margin", "0.04,0.02");
  return n;
}

static void write_buffers(fs_writer *w, bool given) {
  const fs_picture *p = w->p;
  const fs_pic_end *end = given ? p->given.at : p->kept.at;
  size_t n = given ? p->given.n : p->kept.n;
  Agnode_t *buffer = NULL;
  for (size_t i = 0; i < n && !w->failed; i++) {
    if (i == 0 || end[i].version != end[i - 1].version) {
      buffer = write_buffer(w, end[i].version, given);
      if (buffer != NULL) {
        place_buffer(w, buffer, end[i].node, given);
      }
    }
    Agnode_t *op = w->node[end[i].node];
    Agedge_t *e = given ? fs_dot_edge(w, buffer, op) : fs_dot_edge(w, op, buffer);
    if (e != NULL) {
      fs_dot_set(w, e, "class", "data buffer");
      put_version(w, end[i].version);
      fs_dot_set_line(w, e, "tooltip");
    }
  }
}

/* ---- barriers, drawn as diamonds between ops */

/* Places a barrier between its first producer and its first consumer. */
static void place_barrier(fs_writer *w, Agnode_t *to, const fs_pic_end *update,
                          const fs_pic_end *await) {
  if (w->layout == FS_LAYOUT_PLACED) {
    const int64_t *x = w->places.x, *y = w->places.y;
    int64_t beside = y[update->node] == y[await->node] ? FS_PLACE_HEIGHT : 0;
    set_place(w, to, (x[update->node] + x[await->node]) / 2,
              (y[update->node] + y[await->node]) / 2 - beside);
  }
}

/* Writes the node of a barrier: "b5", and below it "1:2", for physical barrier 1, use 2. */
static Agnode_t *write_barrier(fs_writer *w, uint32_t barrier) {
  const fs_pic_barrier *b = &w->p->barrier[barrier];
  Agnode_t *n = fs_dot_node(w, w->g, "barrier", barrier);
  if (n == NULL) {
    return NULL;
  }
  fs_text_printf(&w->line, "b%u\\n%u:%u", barrier, b->physical, b->use);
  if (b->slots != 1) {
    fs_text_printf(&w->line, "\\nslots %llu", (unsigned long long)b->slots);
  }
  fs_dot_set_line(w, n, "label");
  fs_text_printf(&w->line, "barrier %u: physical barrier %u, use %u, slots taken %llu", barrier,
                 b->physical, b->use, (unsigned long long)b->slots);
  fs_dot_set_line(w, n, "tooltip");
  fs_dot_set(w, n, "class", "barrier");
  fs_dot_set(w, n, "shape", "diamond");
  fs_dot_set(w, n, "fillcolor", PALE_PURPLE);
  fs_dot_set(w, n, "fontsize", "8");
  fs_dot_set(w, n, "height", "0.2");
  fs_dot_set(w, n, "margin", "0.01,0.01");
  return n;
}

/* Links the ends of one barrier, which start at `from`; returns where those of the next start. */
static size_t link_barrier(fs_writer *w, Agnode_t *barrier, const fs_pic_ends *ends, size_t from,
                           bool updates) {
  size_t i = from;
  for (; i < ends->n && ends->at[i].version == ends->at[from].version; i++) {
    Agnode_t *op = w->node[ends->at[i].node];
    Agedge_t *e = updates ? fs_dot_edge(w, op, barrier) : fs_dot_edge(w, barrier, op);
    if (e != NULL) {
      fs_dot_set(w, e, "class", updates ? "barrier update" : "barrier wait");
      fs_dot_set(w, e, "color", BLUE);
      fs_dot_set(w, e, "tooltip", updates ? "updates" : "waits for");
    }
  }
  return i;
}

/* Every barrier has a command that updates it and one that waits for it. */
static void write_barriers(fs_writer *w) {
  const fs_picture *p = w->p;
  size_t u = 0, a = 0;
  for (uint32_t b = 0; b < p->n_barriers && !w->failed; b++) {
    Agnode_t *n = write_barrier(w, b);
    if (n != NULL) {
      place_barrier(w, n, &p->updates.at[u], &p->awaits.at[a]);
      u = link_barrier(w, n, &p->updates, u, true);
      a = link_barrier(w, n, &p->awaits, a, false);
    }
  }
}

/* ---- queues that only run gangs, which are drawn with other queues */

static void write_see(fs_writer *w, uint32_t cluster) {
  enum { MIDDLE = 100 };
  Agnode_t *n = fs_dot_node(w, w->cluster[cluster], "see", cluster);
  if (n == NULL) {
    return;
  }
  fs_text_puts(&w->line, "gangs: see queue ");
  fs_dot_escape(&w->line, w->p->cluster[w->p->host[cluster]]);
  fs_dot_set_line(w, n, "label");
  fs_dot_set(w, n, "tooltip", "gangs are drawn with their first queue");
  fs_dot_set(w, n, "class", "see");
  fs_dot_set(w, n, "peripheries", "0");
  fs_dot_set(w, n, "shape", "plain");
  fs_dot_set(w, n, "style", "");
  if (w->layout == FS_LAYOUT_PLACED) {
    const fs_pic_box *b = &w->places.lane[cluster];
    set_place(w, n, b->left + MIDDLE, (b->low + b->high - FS_PLACE_LABEL) / 2);
  }
}

/* ---- legend */

static void write_legend(fs_writer *w) {
  Agnode_t *n = fs_dot_node(w, w->g, "legend", FS_NONE);
  fs_dot_put_legend(w->p, &w->line);
  fs_text_add(&w->line, "", 1);
  if (n == NULL || w->line.failed) {
    return;
  }
  char *label = agstrdup_html(w->g, w->line.at);
  w->line.n = 0;
  w->failed |= label == NULL;
  if (label != NULL) {
    fs_dot_set(w, n, "label", label);
    fs_dot_set(w, n, "shape", "plain");
    fs_dot_set(w, n, "style", "");
    fs_dot_set(w, n, "tooltip", "legend");
    place_legend(w, n);
  }
}

/* ---- all */

static void write_clusters(fs_writer *w) {
  for (uint32_t c = 0; c < w->p->n_clusters; c++) {
    char name[32];
    (void)snprintf(name, sizeof name, "cluster_%u", c);
    w->cluster[c] = fs_dot_cluster(w, name);
    if (w->cluster[c] != NULL) {
      fs_text_puts(&w->line, "queue ");
      fs_dot_escape(&w->line, w->p->cluster[c]);
      fs_dot_set_line(w, w->cluster[c], "label");
      fs_dot_set(w, w->cluster[c], "style", "filled");
      fs_dot_set(w, w->cluster[c], "color", LIGHT);
      fs_dot_set(w, w->cluster[c], "fillcolor", "#F2F2F2");
      place_cluster(w, w->cluster[c], c);
    }
  }
}

static fs_status prepare_writer(fs_writer *w, bool full_names) {
  fs_picture *p = w->p;
  const char **name;
  FS_TRY(fs_new_zero(&p->arena, &w->cluster, p->n_clusters));
  FS_TRY(fs_new_zero(&p->arena, &w->node, p->n_nodes));
  FS_TRY(fs_new_zero(&p->arena, &w->command, FS_DOT_COMMANDS));
  FS_TRY(fs_new(&p->arena, &name, p->n_items));
  FS_TRY(fs_new(&p->arena, &w->shown, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    w->shown[i] = name[i] = p->item[i].name;
  }
  if (!full_names) {
    FS_TRY(fs_dot_shorten(&p->arena, name, w->shown, p->n_items));
  }
  if (w->layout == FS_LAYOUT_PLACED) {
    FS_TRY(find_places(w));
    FS_TRY(fs_new_zero(&p->arena, &w->near, p->n_nodes));
  }
  return FSCHED_OK;
}

static void write_all(fs_writer *w, fs_text *out) {
  declare_all(w);
  fs_dot_put_title(w->p, &w->line);
  fs_dot_set_line(w, w->g, "label");
  write_clusters(w);
  for (uint32_t i = 0; i < w->p->n_nodes; i++) {
    write_node(w, i);
  }
  for (size_t e = 0; e < w->p->edge.n && !w->failed; e++) {
    write_edge(w, &w->p->edge.at[e]);
  }
  for (uint32_t c = 0; c < w->p->n_clusters; c++) {
    if (w->p->host[c] != FS_NONE && w->cluster[c] != NULL) {
      write_see(w, c);
    }
  }
  write_buffers(w, true);
  write_buffers(w, false);
  write_barriers(w);
  fs_dot_write_loops(w);
  write_legend(w);
  w->failed |= !w->line.failed && agwrite(w->g, out) != 0 && !out->failed;
}

static fs_status report(const fs_writer *w) {
  char *message = aglasterr();
  return fs_fail(w->p->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                 "cgraph could not make the picture: %s", message == NULL ? "-" : message);
}

/* Writes the picture; runs in the child process. */
static fs_status open_and_write(void *writer, fs_text *out) {
  fs_writer *w = writer;
  Agiodisc_t io = {.putstr = put_text, .flush = put_nothing};
  fs_dot_ids ids;
  Agdisc_t discipline = {.id = &ids.discipline, .io = &io};
  fs_dot_escape(&w->line, w->p->name);
  fs_text_add(&w->line, "", 1);
  uint32_t n = w->p->n_clusters + (uint32_t)fs_min(w->p->n_loops, FS_DOT_LOOPS) + 1;
  char **names;
  FS_TRY(w->line.failed ? FSCHED_SYSTEM : fs_new(&w->p->arena, &names, n));
  fs_dot_ids_init(&ids, names, n);
  agerrlevel_t level = agseterr(AGMAX); /* prints nothing, but remembers the last error */
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

fs_status fs_dot_write(fs_picture *p, fs_dot_layout layout, bool full_names, fs_text *out) {
  assert(p->node != NULL || p->n_nodes == 0);
  fs_writer w = {.p = p, .layout = layout};
  fs_text_init(&w.line, p->ctx);
  fs_status status = prepare_writer(&w, full_names);
  if (status == FSCHED_OK) {
    status = fs_apart_run(p->ctx, open_and_write, &w, out);
  }
  fs_text_drop(&w.line);
  return status;
}
