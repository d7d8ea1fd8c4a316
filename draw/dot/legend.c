/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the legend, a table with a row for every kind of node and edge that occurs. */
#include "draw/dot/legend.h"

/* Indexed by fs_pic_why. */
const fs_edge_style fs_edge_styles[FS_PIC_WHYS] = {
    {"data", "data", BLACK, "", 0},
    {"order", "order, no data", GREY, "dotted", 6},
    {"reuse", "control: reuse", VERMILION, "", 0},
    {"resource", "control: resource", PURPLE, "", 0},
    {"concurrency", "control: concurrency", GREEN, "", 0},
    {"barrier", "control: barrier", ORANGE, "", 0},
    {"wait", "wait", BLUE, "dashed", 3},
    {"queue", "next on its queue", LIGHT, "", 0},
    {"gate", "gate: starts no earlier, its physical barrier is in use", ORANGE, "dashed", 3},
};

/* Indexed by fs_pic_kind. */
const fs_node_style fs_node_styles[FS_PIC_KINDS] = {
    {"op", "op", "box", "#FFFFFF", "1"},
    {"gang", "gang (one op, several queues)", "box", YELLOW, "2"},
    {"load", "load (what is given, from the store)", "cylinder", PALE_SKY, "1"},
    {"store", "store (what is kept, to the store)", "cylinder", PALE_ORANGE, "1"},
    {"spill_write", "spill write (to the store)", "cylinder", ORANGE, "1"},
    {"spill_read", "spill read (from the store)", "cylinder", SKY, "1"},
};

static void put_swatch(fs_text *t, const char *color, int width, int height) {
  fs_text_printf(t, "<TD FIXEDSIZE=\"TRUE\" WIDTH=\"%d\" HEIGHT=\"%d\"", width, height);
  if (*color != '\0') {
    fs_text_printf(t, " BGCOLOR=\"%s\"", color);
  }
  fs_text_puts(t, "></TD>");
}

#define SMALL_TABLE "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\">"

/* Draws a line as a table of its own: one cell, or one for each dash, with gaps as long. */
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
  const fs_node_style *s = &fs_node_styles[kind];
  fs_text_printf(t,
                 "<TR><TD><TABLE BORDER=\"%s\" CELLBORDER=\"1\" CELLSPACING=\"%d\" "
                 "CELLPADDING=\"0\"><TR>",
                 kind == FS_PIC_GANG ? "1" : "0", kind == FS_PIC_GANG ? 2 : 0);
  put_swatch(t, s->fill, 28, 10);
  fs_text_puts(t, "</TR></TABLE>");
  legend_row(t, s->legend, false);
}

static void legend_edge(fs_text *t, fs_pic_why why, bool waited) {
  const fs_edge_style *s = &fs_edge_styles[why];
  fs_text_puts(t, "<TR><TD>" SMALL_TABLE);
  put_line(t, s->color, s->dashes);
  if (waited) {
    put_line(t, BLUE, 0);
  }
  fs_text_puts(t, "</TABLE>");
  legend_row(t, s->legend, waited);
}

void fs_dot_put_legend(const fs_picture *p, fs_text *t) {
  bool node[FS_PIC_KINDS] = {false}, edge[FS_PIC_WHYS] = {false}, waited[FS_PIC_WHYS] = {false};
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    node[p->node[i].kind] = true;
  }
  for (size_t e = 0; e < p->edge.n; e++) {
    uint16_t why = p->edge.at[e].why;
    (fs_why_double(why) ? waited : edge)[fs_why_main(why)] = true;
  }
  fs_text_puts(t, "<TABLE BORDER=\"1\" COLOR=\"" LIGHT
                  "\" CELLBORDER=\"0\" CELLSPACING=\"1\" "
                  "CELLPADDING=\"1\">");
  for (int k = 0; k < FS_PIC_KINDS; k++) {
    if (node[k]) {
      legend_node(t, (fs_pic_kind)k);
    }
  }
  if (p->given.n + p->kept.n > 0) {
    fs_text_puts(t, "<TR><TD>" SMALL_TABLE "<TR>");
    put_swatch(t, PALE_GREEN, 28, 10);
    fs_text_puts(t, "</TR></TABLE>");
    legend_row(t, "buffer, given or kept", false);
  }
  if (p->n_barriers > 0) {
    fs_text_puts(t, "<TR><TD>" SMALL_TABLE "<TR>");
    put_swatch(t, PALE_PURPLE, 28, 10);
    fs_text_puts(t, "</TR></TABLE>");
    legend_row(t, "barrier: number, physical:use, slots if more than 1", false);
    fs_text_puts(t, "<TR><TD>" SMALL_TABLE);
    put_line(t, BLUE, 0);
    fs_text_puts(t, "</TABLE>");
    legend_row(t, "updates, or waits for, a barrier", false);
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
