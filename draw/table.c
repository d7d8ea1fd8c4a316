/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as a table with a line per op and copy, in the order of their starts: name, type,
 * time, queues, and the places that it writes.  The columns follow the listing of Kundeti, An ILP
 * for Generating Optimal Schedules with Resource Constraints, figure 12. */
#include "base/text/columns.h"
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

/* Whether some op ends after its queues go on, so that there is a column for that. */
static bool has_free(const fs_schedule *s) { return fs_graph_first_slow(s->graph) != FS_NONE; }

static void put_row(fs_columns *c, const fs_schedule *s, uint32_t item, bool free) {
  fs_text *t = &c->text;
  put_name(t, s, item);
  fs_columns_cell(c, FS_LEFT);
  fs_text_puts(t, fs_item_kind_name(s, item));
  fs_columns_cell(c, FS_LEFT);
  fs_text_u64(t, s->start[item]);
  fs_columns_cell(c, FS_RIGHT);
  fs_text_u64(t, s->end[item]);
  fs_columns_cell(c, FS_RIGHT);
  if (free) {
    fs_text_u64(t, fs_item_free(s, item));
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
}

fs_status fs_schedule_table_put(fs_text *t, const fs_schedule *s) {
  enum { START = 2, FREE = 4, COLUMNS = 7 };
  static const char *const head[COLUMNS] = {"name", "type",  "start", "end",
                                            "free", "queue", "writes"};
  bool free = has_free(s);
  fs_columns c;
  fs_columns_init(&c, t->ctx, free ? COLUMNS : COLUMNS - 1);
  for (uint32_t i = 0; i < COLUMNS; i++) {
    if (i != FREE || free) {
      fs_text_puts(&c.text, head[i]);
      fs_columns_cell(&c, i >= START && i <= FREE ? FS_RIGHT : FS_LEFT);
    }
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    put_row(&c, s, s->order[i], free);
  }
  return fs_columns_finish(&c, "", t);
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
