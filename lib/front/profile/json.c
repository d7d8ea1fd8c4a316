/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as JSON, a line per op or copy. */
#include "base/text/fields.h"
#include "front/profile/profile.h"

static void put_key(fs_text *t, const char *prefix, uint64_t value) {
  fs_text_puts(t, prefix);
  fs_text_u64(t, value);
}

static void put_text(fs_text *t, const char *prefix, const char *value) {
  if (value != NULL) {
    fs_text_puts(t, prefix);
    fs_text_quoted(t, value);
  }
}

static void put_times(fs_text *t, const fsched_duration *d) {
  put_key(t, "\"min_ns\": ", d->min_ns);
  put_key(t, ", \"median_ns\": ", d->median_ns);
  put_key(t, ", \"max_ns\": ", d->max_ns);
  fs_text_puts(t, "}");
}

static void put_item(fs_text *t, const fsched_profile *p, const fs_profile_item *item) {
  put_text(t, "{\"name\": ", item->name);
  put_text(t, ", \"kind\": ", fs_profile_kind_name[item->kind]);
  if (item->kind != FS_PROFILE_OP) {
    put_text(t, ", \"buffer\": ", item->name);
    put_key(t, ", \"version\": ", item->version);
  }
  for (uint32_t k = 0; k < item->n_queues; k++) {
    put_text(t, k == 0 ? ", \"queues\": [" : ", ", p->queue[p->item_queue[item->queue0 + k]]);
  }
  fs_text_puts(t, item->n_queues == 0 ? "" : "]");
  if (item->planned != FS_TICK_NONE) {
    put_key(t, ", \"planned\": ", item->planned);
  }
  put_key(t, ", \"count\": ", item->took.count);
  fs_text_puts(t, ", ");
  put_times(t, &item->took);
}

static void put_head(fs_text *t, const fsched_profile *p) {
  fs_text_puts(t, "{\n \"fsched_profile\": 1");
  put_text(t, ",\n \"graph\": ", p->graph);
  put_text(t, ",\n \"time_unit\": ", p->time_unit);
  if (p->tick_ps != 0) {
    bool whole = p->tick_ps % 1000 == 0;
    put_key(t, whole ? ",\n \"tick_ns\": " : ",\n \"tick_ps\": ",
            whole ? p->tick_ps / 1000 : p->tick_ps);
  }
  put_text(t, ",\n \"on\": ", p->on);
  fs_text_puts(t, p->simulated ? ",\n \"simulated\": true" : "");
  if (p->makespan.count != 0) {
    put_key(t, ",\n \"invocations\": ", p->makespan.count);
  }
  if (p->planned != FS_TICK_NONE) {
    put_key(t, ",\n \"planned_makespan\": ", p->planned);
  }
  if (p->expected_ns != FS_TICK_NONE) {
    put_key(t, ",\n \"expected_makespan_ns\": ", p->expected_ns);
  }
  if (p->makespan.count != 0) {
    fs_text_puts(t, ",\n \"measured_makespan\": {");
    put_times(t, &p->makespan);
  }
}

fsched_status fsched_profile_json(fsched_context *ctx, const fsched_profile *p, char **text,
                                  size_t *length) {
  fs_text t;
  fs_text_init(&t, ctx);
  put_head(&t, p);
  fs_text_puts(&t, ",\n \"ops\": [");
  for (uint32_t i = 0; i < p->n_items; i++) {
    fs_text_puts(&t, i == 0 ? "\n  " : ",\n  ");
    put_item(&t, p, &p->item[i]);
  }
  fs_text_puts(&t, p->n_items == 0 ? "]\n}\n" : "\n ]\n}\n");
  return fs_text_take(&t, text, length);
}
