/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, each in a cluster of its own: what its queues do in step t, and what that
 * waits for.  An edge leads to it from the op that the loop is, if that has a node of its own. */
#include <stdio.h>

#include "base/text/plural.h"
#include "draw/dot/label.h"
#include "draw/dot/legend.h"
#include "draw/dot/writer.h"

/* Whether a loop is drawn; large ones, and those of pictures whose places are known, are not. */
static bool shows_loop(const fs_writer *w, uint32_t l) {
  return w->layout == FS_LAYOUT_FULL && l < FS_DOT_LOOPS &&
         w->p->loop[l].loop.n_commands <= FS_DOT_COMMANDS;
}

/* Writes "pv.b[t-1]"; with copies "pv.b[2t-1]". */
static void put_command(fs_writer *w, const fs_shown_loop *l, uint32_t c) {
  const fs_rolled_command *k = &l->loop.command[c];
  long long at = (long long)k->copy - (long long)k->shift * l->loop.copies;
  fs_dot_escape(&w->line, l->name[k->member]);
  fs_text_puts(&w->line, "[");
  if (l->loop.copies > 1) {
    fs_text_u64(&w->line, l->loop.copies);
  }
  fs_text_puts(&w->line, "t");
  if (at != 0) {
    fs_text_printf(&w->line, "%+lld", at);
  }
  fs_text_puts(&w->line, "]");
}

static void write_command(fs_writer *w, Agraph_t *g, uint32_t loop, uint32_t q, uint32_t c) {
  const fs_shown_loop *l = &w->p->loop[loop];
  char name[32];
  (void)snprintf(name, sizeof name, "loop%u_", loop);
  Agnode_t *n = w->command[c] = fs_dot_node(w, g, name, c);
  for (int i = 0; i < 2 && n != NULL; i++) {
    put_command(w, l, c);
    fs_text_puts(&w->line, "\\non ");
    fs_dot_escape(&w->line, w->p->queue_name[l->loop.queue[q]]);
    const char *parts = w->p->loop_parts[loop][l->loop.command[c].member];
    if (parts != NULL) {
      fs_text_puts(&w->line, "\\n");
      fs_dot_escape(&w->line, parts);
    }
    fs_dot_set_line(w, n, i == 0 ? "label" : "tooltip");
    fs_dot_set(w, n, "class", "op step");
  }
}

/* Writes the order of a queue, or a wait, of which iterations i and i - distance are the ends. */
static void write_step_edge(fs_writer *w, uint32_t from, uint32_t to, uint32_t distance,
                            bool waits) {
  Agedge_t *e = fs_dot_edge(w, w->command[from], w->command[to]);
  if (e == NULL) {
    return;
  }
  fs_dot_set(w, e, "color", waits ? BLUE : LIGHT);
  fs_dot_set(w, e, "class", waits ? "wait loop" : "queue loop");
  fs_dot_set(w, e, "tooltip", waits ? "waits for" : "next on its queue");
  if (distance > 0) {
    fs_text_printf(&w->line, "%u before", distance);
    fs_dot_set_line(w, e, "label");
    fs_dot_set(w, e, "constraint", "false");
  }
}

/* Finds the nodes of the ops that loops in no other are. */
static void find_ops(fs_writer *w) {
  const fs_picture *p = w->p;
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    const fs_pic_item *item = &p->item[p->node[i].first];
    for (uint32_t l = 0; l < p->n_loops && l < FS_DOT_LOOPS; l++) {
      bool alone = p->node[i].ops + p->node[i].copies == 1 && !fs_pic_copies(item->kind);
      if (alone && p->loop[l].op != FS_NONE && strcmp(item->name, p->loop[l].title) == 0) {
        w->loop[l] = w->node[i];
      }
    }
  }
}

/* Writes an edge from the op that the loop is to its cluster, at its first command. */
static void write_entry(fs_writer *w, uint32_t loop, const char *cluster) {
  Agedge_t *e = w->loop[loop] == NULL ? NULL : fs_dot_edge(w, w->loop[loop], w->command[0]);
  if (e != NULL) {
    fs_dot_set(w, e, "lhead", cluster);
    fs_dot_set(w, e, "style", "dashed");
    fs_dot_set(w, e, "color", GREY);
    fs_dot_set(w, e, "class", "body loop");
    fs_dot_set(w, e, "tooltip", "what it runs");
  }
}

static void write_loop(fs_writer *w, uint32_t loop) {
  const fs_shown_loop *l = &w->p->loop[loop];
  char name[32];
  (void)snprintf(name, sizeof name, "cluster_loop%u", loop);
  Agraph_t *g = fs_dot_cluster(w, name);
  if (g == NULL) {
    return;
  }
  fs_text_puts(&w->line, "loop ");
  fs_dot_escape(&w->line, l->title);
  fs_text_printf(&w->line, ", step t: %llu %s", (unsigned long long)l->trip,
                 fs_plural(l->trip, "iteration", "iterations"));
  fs_dot_set_line(w, g, "label");
  fs_dot_set(w, g, "style", "filled");
  fs_dot_set(w, g, "color", LIGHT);
  fs_dot_set(w, g, "fillcolor", "#FAF7EE");
  for (uint32_t q = 0; q < l->loop.n_queues; q++) {
    for (uint32_t c = l->loop.command0[q]; c < l->loop.command0[q + 1]; c++) {
      write_command(w, g, loop, q, c);
      uint32_t inner = l->inner[l->loop.command[c].member];
      if (inner != FS_NONE && inner < FS_DOT_LOOPS && w->loop[inner] == NULL) {
        w->loop[inner] = w->command[c];
      }
      if (c > l->loop.command0[q]) {
        write_step_edge(w, c - 1, c, 0, false);
      }
    }
  }
  for (uint32_t c = 0; c < l->loop.n_commands; c++) {
    const fs_rolled_command *k = &l->loop.command[c];
    for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
      write_step_edge(w, l->loop.wait[i].command, c, l->loop.wait[i].distance, true);
    }
  }
  write_entry(w, loop, name);
}

void fs_dot_write_loops(fs_writer *w) {
  find_ops(w);
  for (uint32_t l = 0; l < w->p->n_loops && !w->failed; l++) {
    if (shows_loop(w, l)) {
      write_loop(w, l);
    }
  }
}
