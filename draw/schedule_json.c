/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as JSON, with each record on a line of its own. */
#include "base/text/fields.h"
#include "draw/loops.h"
#include "draw/stats.h"
#include "model/sync.h"

static void put_key(fs_text *t, const char *prefix, uint64_t value) {
  fs_text_puts(t, prefix);
  fs_text_u64(t, value);
}

static void put_text(fs_text *t, const char *prefix, const char *value) {
  fs_text_puts(t, prefix);
  fs_text_quoted(t, value);
}

static void put_line(fs_text *t, uint32_t index) {
  fs_text_puts(t, index == 0 ? "\n  {" : ",\n  {");
}

static void put_end(fs_text *t, uint32_t n) { fs_text_puts(t, n == 0 ? "]" : "\n ]"); }

const char *fs_item_kind_name(const fs_schedule *s, uint32_t item) {
  assert(item < s->n_items);
  if (!fs_item_is_copy(s, item)) {
    return "op";
  }
  return fs_words_spill[s->copy_kind[item - s->graph->n_ops]];
}

static void put_version(fs_text *t, const char *prefix, const fsched_graph *g, uint32_t version) {
  put_text(t, prefix, g->buffer_name[g->version_buffer[version]]);
  put_key(t, ", \"version\": ", fs_version_index(g, version));
}

static void put_item(fs_text *t, const fs_schedule *s, uint32_t item) {
  const fsched_graph *g = s->graph;
  bool copy = fs_item_is_copy(s, item);
  uint32_t version = copy ? s->copy_version[item - g->n_ops] : FS_NONE;
  put_text(t, "\"name\": ", copy ? g->buffer_name[g->version_buffer[version]] : g->op_name[item]);
  put_text(t, ", \"kind\": ", fs_item_kind_name(s, item));
  if (copy) {
    put_version(t, ", \"buffer\": ", g, version);
  }
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  fs_text_puts(t, ", \"queues\": [");
  for (uint32_t k = 0; k < n; k++) {
    put_text(t, k == 0 ? "" : ", ", s->queue_name[queues[k]]);
  }
  put_key(t, "], \"start\": ", s->start[item]);
  put_key(t, ", \"end\": ", s->end[item]);
  if (fs_item_slow(s, item)) {
    put_key(t, ", \"free\": ", fs_item_free(s, item));
  }
  uint32_t loop = copy ? FS_NONE : fs_op_rolled(g, item);
  if (loop != FS_NONE) {
    fs_text_puts(t, ", \"loop\": ");
    fs_loops_put_body(t, s, loop);
  }
  fs_text_puts(t, "}");
}

static void put_residency(fs_text *t, const fs_schedule *s, uint32_t r) {
  const fs_memory *m = &s->graph->target.memory[s->res_memory[r]];
  if (s->res_version[r] == FS_NONE) {
    put_text(t, "\"scratch\": ", s->graph->op_name[s->res_op[r]]);
  } else {
    put_version(t, "\"buffer\": ", s->graph, s->res_version[r]);
  }
  put_text(t, ", \"memory\": ", m->name);
  if (fs_placement_has_addresses(m->placement)) {
    put_key(t, ", \"address\": ", s->res_address[r]);
  }
  put_key(t, ", \"size\": ", s->res_size[r]);
  uint64_t slots = s->res_version[r] == FS_NONE ? 0 : fs_version_slots(s->graph, s->res_version[r]);
  if (slots > 0) {
    put_key(t, ", \"slots\": ", slots);
  }
  put_key(t, ", \"begin\": ", s->res_begin[r]);
  put_key(t, ", \"end\": ", s->res_end[r]);
  fs_text_puts(t, "}");
}

/* Writes the control edges; they refer to items by their index in the list "ops". */
static fs_status put_edges(fs_text *t, const fs_schedule *s, const fs_sync *sync) {
  uint32_t n = sync == NULL ? 0 : sync->n_control;
  uint32_t *position;
  FS_SCRATCH(arena, t->ctx);
  FS_TRY(fs_new(&arena, &position, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    position[s->order[i]] = i;
  }
  fs_text_puts(t, ",\n \"control_edges\": [");
  for (uint32_t e = 0; e < n; e++) {
    put_line(t, e);
    put_key(t, "\"from\": ", position[sync->control_from[e]]);
    put_key(t, ", \"to\": ", position[sync->control_to[e]]);
    put_text(t, ", \"why\": ", fs_words_why[sync->control_why[e]]);
    fs_text_puts(t, "}");
  }
  put_end(t, n);
  return FSCHED_OK;
}

static void put_head(fs_text *t, const fs_schedule *s) {
  put_text(t, "{\n \"fsched_schedule\": 1,\n \"graph\": ", s->graph->name);
  if (s->graph->target.time_unit != NULL) {
    put_text(t, ",\n \"time_unit\": ", s->graph->target.time_unit);
  }
  put_text(t, ",\n \"status\": ", fs_words_schedule_status[s->status]);
  put_key(t, ",\n \"makespan\": ", s->makespan);
  put_key(t, ",\n \"lower_bound\": ", s->lower_bound);
  if (s->graph->n_rolled > 0 || s->graph->n_loops > 0) {
    uint32_t effort = s->graph->effort;
    put_key(t, ",\n \"effort\": ", effort == 0 ? FSCHED_EFFORT_USUAL : effort - 1);
  }
}

static fs_status put_schedule(fs_text *t, const fsched_schedule *handle) {
  const fs_schedule *s = handle->schedule;
  put_head(t, s);
  fs_text_puts(t, ",\n \"ops\": [");
  for (uint32_t i = 0; i < s->n_items; i++) {
    put_line(t, i);
    put_item(t, s, s->order[i]);
  }
  put_end(t, s->n_items);
  fs_text_puts(t, ",\n \"residencies\": [");
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    put_line(t, r);
    put_residency(t, s, r);
  }
  put_end(t, s->n_residencies);
  FS_TRY(put_edges(t, s, handle->sync));
  fs_text_puts(t, ",\n \"stats\": ");
  FS_TRY(fs_stats_put(t, handle, " "));
  fs_text_puts(t, "\n}\n");
  return FSCHED_OK;
}

fs_status fsched_schedule_json(fsched_context *ctx, const fsched_schedule *s, char **text,
                               size_t *length) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_status status = put_schedule(&t, s);
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  return fs_text_take(&t, text, length);
}
