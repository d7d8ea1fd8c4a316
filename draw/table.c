/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as a table with a line per op and copy, in the order of their starts: name, type,
 * time, queues, and the places that it writes.  A loop that stays one has those of its body below
 * it (draw/table_loops.c), and then there is a column that says how often they begin.  The columns
 * follow the listing of Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints,
 * figure 12. */
#include "draw/table.h"
#include "draw/stats.h"

static void put_residency(fs_text *t, const fs_schedule *s, uint32_t r) {
  const fs_memory *m = &s->graph->target.memory[s->res_memory[r]];
  fs_text_visible(t, m->name);
  if (!fs_placement_has_addresses(m->placement)) {
    fs_text_printf(t, "(%llu)", (unsigned long long)s->res_size[r]);
  } else {
    fs_text_printf(t, "[%llu,%llu)", (unsigned long long)s->res_address[r],
                   (unsigned long long)(s->res_address[r] + s->res_size[r]));
  }
}

static void put_place(fs_text *t, const fs_schedule *s, uint32_t residency, uint32_t memory,
                      bool first) {
  fs_text_puts(t, first ? "" : ", ");
  if (residency == FS_NONE) {
    fs_text_visible(t, s->graph->target.memory[memory].name);
  } else {
    put_residency(t, s, residency);
  }
}

/* Writes the place of each buffer that the op writes, or "-" if it writes none. */
static void put_outputs(fs_text *t, const fs_schedule *s, uint32_t op) {
  const fsched_graph *g = s->graph;
  bool first = true;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (fs_tag_writes(g->arg_tag[a])) {
      put_place(t, s, s->arg_residency[a], g->buffer_memory[g->arg_buffer[a]], first);
      first = false;
    }
  }
  fs_text_puts(t, first ? "-" : "");
}

static void put_copy(fs_text *t, const fs_schedule *s, uint32_t copy) {
  uint32_t memory = fs_version_memory(s->graph, s->copy_version[copy]);
  if (s->copy_kind[copy] == FS_SPILL_WRITE) {
    put_place(t, s, s->copy_store[copy], s->graph->target.memory[memory].backing, true);
  } else {
    put_place(t, s, s->copy_residency[copy], memory, true);
  }
}

static void put_name(fs_text *t, const fs_schedule *s, uint32_t item) {
  const fsched_graph *g = s->graph;
  if (!fs_item_is_copy(s, item)) {
    fs_text_visible(t, g->op_name[item]);
    return;
  }
  uint32_t version = s->copy_version[item - g->n_ops];
  fs_text_visible(t, g->buffer_name[g->version_buffer[version]]);
  if (fs_version_index(g, version) != 0) {
    fs_text_printf(t, ".%u", fs_version_index(g, version));
  }
}

static bool has_free(const fsched_graph *g) {
  bool slow = fs_graph_first_slow(g) != FS_NONE;
  for (uint32_t l = 0; l < g->n_rolled && !slow; l++) {
    for (uint32_t m = 0; m < g->rolled[l].n_ops && !slow; m++) {
      slow = g->rolled[l].body[m].latency > g->rolled[l].body[m].time;
    }
  }
  return slow;
}

/* The loop that stays one which an item is; FS_NONE: it is none. */
static uint32_t loop_of(const fs_schedule *s, uint32_t item) {
  return fs_item_is_copy(s, item) ? FS_NONE : fs_op_rolled(s->graph, item);
}

static fs_status put_row(fs_table *x, uint32_t item) {
  const fs_schedule *s = x->s;
  fs_columns *c = &x->columns;
  fs_text *t = &c->text;
  uint32_t loop = loop_of(s, item);
  put_name(t, s, item);
  fs_columns_cell(c, FS_LEFT);
  fs_text_puts(t, loop == FS_NONE ? fs_item_kind_name(s, item) : "loop");
  fs_columns_cell(c, FS_LEFT);
  fs_text_u64(t, s->start[item]);
  fs_columns_cell(c, FS_RIGHT);
  fs_text_u64(t, s->end[item]);
  fs_columns_cell(c, FS_RIGHT);
  if (x->free) {
    fs_text_u64(t, fs_item_free(s, item));
    fs_columns_cell(c, FS_RIGHT);
  }
  if (x->shown != NULL) {
    fs_text_puts(t, "-");
    fs_columns_cell(c, FS_RIGHT);
  }
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  for (uint32_t k = 0; k < n; k++) {
    fs_text_puts(t, k == 0 ? "" : "+");
    fs_text_visible(t, s->queue_name[queues[k]]);
  }
  fs_columns_cell(c, FS_LEFT);
  if (fs_item_is_copy(s, item)) {
    put_copy(t, s, item - s->graph->n_ops);
  } else {
    put_outputs(t, s, item);
  }
  fs_columns_cell(c, FS_LEFT);
  return loop == FS_NONE ? FSCHED_OK : fs_table_put_loop(x, loop, s->start[item]);
}

static fs_status put_rows(fs_table *x, fs_text *t) {
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < x->s->n_items && status == FSCHED_OK; i++) {
    status = put_row(x, x->s->order[i]);
  }
  x->columns.text.failed = x->columns.text.failed || status != FSCHED_OK;
  fs_status finished = fs_columns_finish(&x->columns, "", t);
  return status == FSCHED_OK ? finished : status;
}

fs_status fs_schedule_table_put(fs_text *t, const fs_schedule *s) {
  enum { START = 2, FREE = 4, EVERY, COLUMNS = 8 };
  static const char *const head[COLUMNS] = {"name", "type",  "start", "end",
                                            "free", "every", "queue", "writes"};
  const fsched_graph *g = s->graph;
  fs_table x = {.s = s, .free = has_free(g)};
  fs_shown_loop *shown = NULL;
  FS_SCRATCH(scratch, t->ctx);
  if (g->n_rolled > 0) {
    FS_TRY(fs_shown_of_graph(&scratch, g, &shown));
    x.shown = shown;
  }
  fs_columns_init(&x.columns, t->ctx, COLUMNS - !x.free - (shown == NULL));
  for (uint32_t i = 0; i < COLUMNS; i++) {
    if ((i != FREE || x.free) && (i != EVERY || shown != NULL)) {
      fs_text_puts(&x.columns.text, head[i]);
      fs_columns_cell(&x.columns, i >= START && i <= EVERY ? FS_RIGHT : FS_LEFT);
    }
  }
  return put_rows(&x, t);
}

fs_status fsched_schedule_table(fsched_context *ctx, const fsched_schedule *s, char **text,
                                size_t *length) {
  fs_text out;
  fs_text_init(&out, ctx);
  fs_status status = fs_schedule_table_put(&out, s->schedule);
  if (status != FSCHED_OK) {
    fs_text_drop(&out);
    return status;
  }
  return fs_text_take(&out, text, length);
}
