/* SPDX-License-Identifier: Apache-2.0 */
/* Times as drawn: one pass over the commands, in an order in which they could run, places each
 * command as early as its own time and the commands that it follows allow.  A slow command is drawn
 * until its queue goes on, as the commands of a queue must not overlap. */
#include "draw/trace/private.h"

/* Returns the number of arrows that arrive at a command, and writes their sources to `from` unless
 * it is NULL.  mark[c]: the latest command with an arrow from c. */
static uint32_t arrows_of(const fs_stream *s, const fs_stream_order *order, uint32_t command,
                          uint32_t *mark, uint32_t *from) {
  const fs_points *p = &order->points;
  uint32_t own = order->queue[command], n = 0;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    uint32_t source = fs_stream_source(s, order, &p->point[w], own);
    if (order->queue[source] == own || mark[source] == command) {
      continue;
    }
    mark[source] = command;
    if (from != NULL) {
      from[n] = source;
    }
    n++;
  }
  return n;
}

fs_status fs_trace_find_arrows(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                               fs_trace_arrows *out) {
  uint32_t *mark, *mark_again;
  FS_TRY(fs_new_none(arena, &mark, s->n_commands));
  FS_TRY(fs_new_none(arena, &mark_again, s->n_commands));
  FS_TRY(fs_new_zero(arena, &out->arrow0, (size_t)s->n_commands + 1));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    out->arrow0[c + 1] = out->arrow0[c] + arrows_of(s, order, c, mark, NULL);
  }
  FS_TRY(fs_new(arena, &out->from, out->arrow0[s->n_commands]));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    (void)arrows_of(s, order, c, mark_again, out->from + out->arrow0[c]);
  }
  return FSCHED_OK;
}

/* When the command is over or, if it is slow, the next one of its queue begins. */
static uint64_t drawn_end(const fs_tracer *r, const fs_trace_run *run, uint32_t c) {
  const fs_stream_command *k = &r->s->commands[c];
  bool last = k->epoch == r->s->queues[r->order.queue[c]].n_commands;
  bool overlap = fs_command_slow(r->s, k) && !last;
  return overlap ? fs_min(run->end[c], run->begin[c + 1]) : run->end[c];
}

fs_status fs_trace_draw(fs_arena *arena, const fs_tracer *r, const fs_trace_run *run,
                        uint64_t *begin, uint64_t *end) {
  const fs_stream *s = r->s;
  const fs_points *p = &r->order.points;
  uint64_t *busy_until; /* per queue, in ns */
  FS_TRY(fs_new_zero(arena, &busy_until, s->n_queues));
  memset(begin, 0, s->n_commands * sizeof *begin);
  memset(end, 0, s->n_commands * sizeof *end); /* in a deadlock, some sources come later */
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t c = r->order.order[i], q = r->order.queue[c];
    uint64_t at = fs_max(run->begin[c], busy_until[q]);
    for (uint32_t a = r->arrows.arrow0[c]; a < r->arrows.arrow0[c + 1]; a++) {
      at = fs_max(at, end[r->arrows.from[a]]);
    }
    for (uint32_t g = p->gate0[c]; g < p->gate0[c + 1]; g++) {
      at = fs_max(at, begin[p->gate[g]]);
    }
    begin[c] = at;
    end[c] = busy_until[q] = fs_max(drawn_end(r, run, c), at + 1);
  }
  return FSCHED_OK;
}
