/* SPDX-License-Identifier: Apache-2.0 */
/* Draws syncs at the times when the sequencer goes on: once all commands that the sync waits for
 * have ended, and no earlier than the sync before it.  A full sync is a line through all rows, a
 * counting sync a line through the row of its queue; they show why queues are idle before them.  A
 * schedule that was read from a file has no syncs to draw.  Of lines less than a pixel apart only
 * the first is drawn, and its tooltip says how many there are. */
#include "draw/svg/svg.h"
#include "model/sync.h"

typedef struct fs_svg_sync {
  uint32_t n;      /* number of full syncs before it */
  uint32_t merged; /* number of syncs that are drawn as this line */
  uint32_t queue;  /* of a counting sync; FS_NONE: full */
  fs_tick first, last;
} fs_svg_sync;

typedef struct fs_svg_walk {
  fs_svg *v;
  const fs_sync *y;
  const fs_svg_sync_rows *rows;
  fs_issue issue;
  uint32_t *issued;      /* per queue: commands issued so far */
  fs_svg_sync *open;     /* the line not drawn yet, per queue, and last for full syncs */
  uint32_t next;         /* place of the next command in the order of issue */
  fs_tick time, longest; /* when the sequencer goes on; the latest end of what it has issued */
} fs_svg_walk;

static fs_status begin(fs_svg_walk *w) {
  const fs_sync *y = w->y;
  uint32_t n_queues = w->v->s->n_queues;
  FS_TRY(fs_sync_issue(y, &w->v->arena, &w->issue));
  FS_TRY(fs_new_zero(&w->v->arena, &w->issued, n_queues));
  return fs_new_zero(&w->v->arena, &w->open, (size_t)n_queues + 1);
}

static void issue_up_to(fs_svg_walk *w, uint32_t at) {
  const fs_sync *y = w->y;
  for (; w->next < at; w->next++) {
    uint32_t c = w->issue.command[w->next];
    w->issued[w->issue.queue[c]]++;
    w->longest = fs_max(w->longest, w->v->s->end[y->command_item[c]]);
  }
}

/* The time until which the sequencer waits at a sync. */
static fs_tick until(const fs_svg_walk *w, const fs_stop *stop) {
  const fs_sync *y = w->y;
  if (stop->queue == FS_NONE) {
    return fs_max(w->time, w->longest);
  }
  uint32_t n = w->issued[stop->queue];
  if (n <= stop->keep) {
    return w->time;
  }
  uint32_t last = y->queue_command0[stop->queue] + n - stop->keep - 1;
  return fs_max(w->time, w->v->s->end[y->command_item[last]]);
}

/* Writes the tooltip: "full sync 3 of 8: 680 ns", "2 syncs of loads: 680–682 ns". */
static void put_title(const fs_svg_walk *w, const fs_svg_sync *sync) {
  fs_text *t = &w->v->above;
  if (sync->queue == FS_NONE) {
    fs_text_puts(t, sync->merged > 1 ? "full syncs " : "full sync ");
    fs_text_u64(t, sync->n + 1);
    fs_text_puts(t, sync->merged > 1 ? " to " : "");
    if (sync->merged > 1) {
      fs_text_u64(t, sync->n + sync->merged);
    }
    fs_text_puts(t, " of ");
    fs_text_u64(t, w->y->n_full);
  } else {
    if (sync->merged > 1) {
      fs_text_u64(t, sync->merged);
    }
    fs_text_puts(t, sync->merged > 1 ? " syncs of " : "sync of ");
    fs_svg_name(t, w->v->s->queue_name[sync->queue]);
  }
  fs_text_puts(t, ": ");
  fs_svg_interval(t, w->v, sync->first, sync->last);
}

static void draw_sync(const fs_svg_walk *w, const fs_svg_sync *sync) {
  const fs_svg_sync_rows *r = w->rows;
  bool full = sync->queue == FS_NONE;
  fs_svg *v = w->v;
  fs_text *t = &v->above;
  v->used[full ? FS_SVG_SYNC : FS_SVG_COUNT] = true;
  fs_text_puts(t, full ? "<path class=\"sf\" d=\"M" : "<path class=\"sc\" d=\"M");
  fs_svg_number(t, v->left + fs_svg_x(v, sync->first));
  fs_text_puts(t, " ");
  fs_svg_number(t, full ? r->top : r->top + r->y[sync->queue]);
  fs_text_puts(t, "v");
  fs_svg_number(t, full ? r->height : r->pitch);
  fs_text_puts(t, "\"><title>");
  put_title(w, sync);
  fs_text_puts(t, "</title></path>\n");
}

/* Adds a sync to the open line, or draws that and opens another.  Full syncs, and the counting
 * syncs of one queue, come in the order of their times. */
static void add_sync(fs_svg_walk *w, uint32_t queue, uint32_t n) {
  fs_svg_sync *open = &w->open[queue == FS_NONE ? w->v->s->n_queues : queue];
  bool near = fs_svg_x(w->v, w->time) - fs_svg_x(w->v, open->first) < FS_PX;
  if (open->merged > 0 && near) {
    open->merged++;
    open->last = w->time;
    return;
  }
  if (open->merged > 0) {
    draw_sync(w, open);
  }
  *open = (fs_svg_sync){n, 1, queue, w->time, w->time};
}

fs_status fs_svg_syncs(fs_svg *v, const fs_svg_sync_rows *rows) {
  const fs_sync *y = v->sync;
  if (y == NULL || !fs_sync_has_stops(y->kind) || y->n_stops == 0) {
    return FSCHED_OK;
  }
  fs_svg_walk w = {.v = v, .y = y, .rows = rows};
  uint32_t n_full = 0;
  FS_TRY(begin(&w));
  for (uint32_t i = 0; i < y->n_stops; i++) {
    const fs_stop *stop = &y->stop[i];
    issue_up_to(&w, stop->at);
    w.time = until(&w, stop);
    add_sync(&w, stop->queue, n_full);
    n_full += stop->queue == FS_NONE;
  }
  for (uint32_t q = 0; q <= v->s->n_queues; q++) {
    if (w.open[q].merged > 0) {
      draw_sync(&w, &w.open[q]);
    }
  }
  return FSCHED_OK;
}
