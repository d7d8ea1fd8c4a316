/* SPDX-License-Identifier: Apache-2.0 */
/* Profile JSON.  Keys, types and ranges are checked here; whether a graph has the named ops and
 * copies is found out when a graph takes the times over.  Only the format's version and "ops" are
 * required, with a name and a median for each op, so that other tools can write a profile
 * easily. */
#include "base/files/file.h"
#include "base/text/fields.h"
#include "base/text/ticks.h"
#include "front/profile/profile.h"

typedef struct profile_reader {
  fs_fields f;
  fsched_profile *p;
  fs_arena *arena; /* scratch */
  fs_names ops, queues;
  uint32_t *op_line; /* per name in ops */
  uint32_t room;     /* entries of item_queue in use */
} profile_reader;

static fs_status bad_value(const profile_reader *r, uint32_t node, const char *what) {
  return fs_fields_fail(&r->f, FS_DIAG_PROFILE_VALUE, node, "%s", what);
}

static fs_status read_most(const profile_reader *r, uint32_t node, uint64_t most, const char *what,
                           uint64_t *out) {
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u64(&r->f, node, out));
  return *out > most ? bad_value(r, node, what) : FSCHED_OK;
}

static fs_status read_ns(const profile_reader *r, uint32_t node, uint64_t *out) {
  return read_most(r, node, FS_PROFILE_MOST_NS, "the time is above 2^53 ns", out);
}

static fs_status read_ticks(const profile_reader *r, uint32_t node, fs_tick *out) {
  return read_most(r, node, (uint64_t)1 << 62, "the time is above 2^62", out);
}

static fs_status copy_text(const profile_reader *r, uint32_t node, const char **out) {
  const char *text = NULL;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_text(&r->f, node, &text));
  *out = fs_arena_strndup(&r->p->arena, text, strlen(text));
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Reads a duration; a least or greatest time that is not given equals the median. */
static fs_status read_duration(const profile_reader *r, uint32_t least, uint32_t median,
                               uint32_t greatest, fsched_duration *d) {
  FS_TRY(read_ns(r, median, &d->median_ns));
  d->min_ns = d->max_ns = d->median_ns;
  FS_TRY(read_ns(r, least, &d->min_ns));
  FS_TRY(read_ns(r, greatest, &d->max_ns));
  if (d->min_ns > d->median_ns || d->median_ns > d->max_ns) {
    return bad_value(r, median, "the median is not between the least and the greatest time");
  }
  return FSCHED_OK;
}

/* ---- ops and copies */

enum {
  ITEM_NAME,
  ITEM_KIND,
  ITEM_BUFFER,
  ITEM_VERSION,
  ITEM_QUEUES,
  ITEM_PLANNED,
  ITEM_COUNT,
  ITEM_MIN,
  ITEM_MEDIAN,
  ITEM_MAX,
  ITEM_N
};
static const fs_field item_fields[ITEM_N] = {
    {"name", false},     {"kind", false},    {"buffer", false}, {"version", false},
    {"queues", false},   {"planned", false}, {"count", false},  {"min_ns", false},
    {"median_ns", true}, {"max_ns", false}};

static fs_status read_op(profile_reader *r, uint32_t node, const uint32_t *value,
                         fs_profile_item *item) {
  if (value[ITEM_NAME] == FS_NONE) {
    return fs_fields_fail(&r->f, FS_DIAG_PROFILE_KEY, node, "key 'name' is missing");
  }
  if (value[ITEM_BUFFER] != FS_NONE || value[ITEM_VERSION] != FS_NONE) {
    return fs_fields_fail(&r->f, FS_DIAG_PROFILE_KEY, node, "an op has no buffer and no version");
  }
  FS_TRY(copy_text(r, value[ITEM_NAME], &item->name));
  uint32_t id;
  bool added;
  FS_TRY(fs_names_intern(&r->ops, item->name, strlen(item->name), &id, &added));
  if (!added) {
    return fs_fields_fail(&r->f, FS_DIAG_PROFILE_VALUE, value[ITEM_NAME],
                          "op '%s' is here twice, also on line %u", item->name, r->op_line[id]);
  }
  r->op_line[id] = r->f.doc->node[node].line;
  return FSCHED_OK;
}

static fs_status read_copy(profile_reader *r, uint32_t node, const uint32_t *value,
                           fs_profile_item *item) {
  if (value[ITEM_BUFFER] == FS_NONE || value[ITEM_VERSION] == FS_NONE) {
    return fs_fields_fail(&r->f, FS_DIAG_PROFILE_KEY, node, "a copy has a buffer and a version");
  }
  const char *name = NULL; /* a copy's name is checked, but not used */
  if (value[ITEM_NAME] != FS_NONE) {
    FS_TRY(fs_fields_text(&r->f, value[ITEM_NAME], &name));
  }
  FS_TRY(copy_text(r, value[ITEM_BUFFER], &item->name));
  return fs_fields_u32(&r->f, value[ITEM_VERSION], &item->version);
}

static fs_status read_queues(profile_reader *r, uint32_t list, fs_profile_item *item) {
  fsched_profile *p = r->p;
  uint32_t node = FS_NONE;
  item->queue0 = r->room;
  if (list == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_sequence(&r->f, list, &node, &item->n_queues));
  for (; node != FS_NONE; node = fs_fields_next(&r->f, node)) {
    const char *text = NULL;
    FS_TRY(fs_fields_text(&r->f, node, &text));
    FS_TRY(fs_names_intern(&r->queues, text, strlen(text), &p->item_queue[r->room++], NULL));
  }
  return FSCHED_OK;
}

static fs_status read_item(profile_reader *r, uint32_t node, fs_profile_item *item) {
  uint32_t value[ITEM_N], kind = FS_PROFILE_OP;
  FS_TRY(fs_fields_mapping(&r->f, node, item_fields, ITEM_N, value));
  if (value[ITEM_KIND] != FS_NONE) {
    FS_TRY(fs_fields_word(&r->f, value[ITEM_KIND], fs_profile_kind_name, 3, &kind));
  }
  *item = (fs_profile_item){
      .kind = (uint8_t)kind, .planned = FS_TICK_NONE, .at = fs_node_pos(r->f.doc, node)};
  FS_TRY(kind == FS_PROFILE_OP ? read_op(r, node, value, item) : read_copy(r, node, value, item));
  FS_TRY(read_queues(r, value[ITEM_QUEUES], item));
  FS_TRY(read_ticks(r, value[ITEM_PLANNED], &item->planned));
  FS_TRY(read_duration(r, value[ITEM_MIN], value[ITEM_MEDIAN], value[ITEM_MAX], &item->took));
  item->took.count = 1;
  if (value[ITEM_COUNT] != FS_NONE) {
    FS_TRY(fs_fields_u64(&r->f, value[ITEM_COUNT], &item->took.count));
  }
  return item->took.count == 0 ? bad_value(r, value[ITEM_COUNT], "what is here was measured")
                               : FSCHED_OK;
}

static fs_status read_items(profile_reader *r, uint32_t list) {
  fsched_profile *p = r->p;
  uint32_t node, n;
  FS_TRY(fs_fields_sequence(&r->f, list, &node, &n));
  FS_TRY(fs_new(&p->arena, &p->item, n));
  FS_TRY(fs_new(r->arena, &r->op_line, n));
  FS_TRY(fs_new(&p->arena, &p->item_queue, r->f.doc->n_nodes));
  for (; node != FS_NONE; node = fs_fields_next(&r->f, node)) {
    FS_TRY(read_item(r, node, &p->item[p->n_items]));
    p->n_items++;
  }
  return FSCHED_OK;
}

/* ---- the whole */

enum {
  TOP_PROFILE,
  TOP_GRAPH,
  TOP_TIME_UNIT,
  TOP_TICK,
  TOP_TICK_PS,
  TOP_ON,
  TOP_SIMULATED,
  TOP_INVOCATIONS,
  TOP_PLANNED,
  TOP_EXPECTED,
  TOP_MEASURED,
  TOP_OPS,
  TOP_N
};
static const fs_field top_fields[TOP_N] = {
    {"fsched_profile", true},     {"graph", false},
    {"time_unit", false},         {"tick_ns", false},
    {"tick_ps", false},           {"on", false},
    {"simulated", false},         {"invocations", false},
    {"planned_makespan", false},  {"expected_makespan_ns", false},
    {"measured_makespan", false}, {"ops", true}};

static fs_status read_makespan(profile_reader *r, const uint32_t *top) {
  enum { MIN, MEDIAN, MAX, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"min_ns", false}, {"median_ns", true}, {"max_ns", false}};
  fsched_profile *p = r->p;
  FS_TRY(read_ticks(r, top[TOP_PLANNED], &p->planned));
  FS_TRY(read_most(r, top[TOP_EXPECTED], UINT64_MAX, "", &p->expected_ns));
  uint64_t count = 1;
  if (top[TOP_INVOCATIONS] != FS_NONE) {
    FS_TRY(fs_fields_u64(&r->f, top[TOP_INVOCATIONS], &count));
  }
  if (top[TOP_MEASURED] != FS_NONE) {
    uint32_t value[FIELDS];
    FS_TRY(fs_fields_mapping(&r->f, top[TOP_MEASURED], fields, FIELDS, value));
    FS_TRY(read_duration(r, value[MIN], value[MEDIAN], value[MAX], &p->makespan));
    p->makespan.count = count;
  }
  return FSCHED_OK;
}

static fs_status read_tick(profile_reader *r, const uint32_t *value) {
  uint64_t ns = 0, ps = 0;
  FS_TRY(read_most(r, value[TOP_TICK], FSCHED_MAX_TIME, "a tick is at most 2^40 ns", &ns));
  FS_TRY(read_most(r, value[TOP_TICK_PS], FS_TICK_MOST_PS, "a tick is at most 2^40 ns", &ps));
  if (value[TOP_TICK] != FS_NONE && ns == 0) {
    return bad_value(r, value[TOP_TICK], "a tick is at least 1 ns");
  }
  if (value[TOP_TICK_PS] != FS_NONE && ps == 0) {
    return bad_value(r, value[TOP_TICK_PS], "a tick is at least 1 ps");
  }
  if (ns != 0 && ps != 0) {
    return bad_value(r, value[TOP_TICK_PS], "a tick has one length: 'tick_ns' or 'tick_ps'");
  }
  r->p->tick_ps = ps != 0 ? ps : ns * 1000;
  return FSCHED_OK;
}

static fs_status read_head(profile_reader *r, const uint32_t *value) {
  fsched_profile *p = r->p;
  uint64_t version;
  FS_TRY(fs_fields_u64(&r->f, value[TOP_PROFILE], &version));
  if (version != 1) {
    return fs_fields_fail(&r->f, FS_DIAG_PROFILE_VALUE, value[TOP_PROFILE],
                          "the profile has format version %llu; this fsched reads version 1",
                          (unsigned long long)version);
  }
  FS_TRY(copy_text(r, value[TOP_GRAPH], &p->graph));
  if (value[TOP_GRAPH] != FS_NONE) {
    p->graph_at = fs_node_pos(r->f.doc, value[TOP_GRAPH]);
  }
  FS_TRY(copy_text(r, value[TOP_TIME_UNIT], &p->time_unit));
  FS_TRY(copy_text(r, value[TOP_ON], &p->on));
  FS_TRY(read_tick(r, value));
  if (value[TOP_SIMULATED] != FS_NONE) {
    static const char *const words[] = {"false", "true"};
    uint32_t index = 0;
    FS_TRY(fs_fields_word(&r->f, value[TOP_SIMULATED], words, 2, &index));
    p->simulated = index == 1;
  }
  return read_makespan(r, value);
}

static fs_status name_queues(profile_reader *r) {
  fsched_profile *p = r->p;
  p->n_queues = fs_names_count(&r->queues);
  FS_TRY(fs_new(&p->arena, &p->queue, p->n_queues));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    const char *name = r->queues.text.at[q];
    p->queue[q] = fs_arena_strndup(&p->arena, name, strlen(name));
    if (p->queue[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status parse(profile_reader *r, const char *name, const char *text, size_t length) {
  fs_doc doc;
  uint32_t value[TOP_N];
  r->f.doc = &doc;
  FS_TRY(fs_doc_parse(r->f.ctx, r->arena, name, text, length, &doc));
  FS_TRY(fs_fields_mapping(&r->f, 0, top_fields, TOP_N, value));
  FS_TRY(read_head(r, value));
  FS_TRY(read_items(r, value[TOP_OPS]));
  return name_queues(r);
}

fsched_status fsched_profile_parse(fsched_context *ctx, const char *name, const char *text,
                                   size_t length, fsched_profile **out) {
  FS_SCRATCH(arena, ctx);
  profile_reader r = {.f = {.ctx = ctx,
                            .key = FS_DIAG_PROFILE_KEY,
                            .type = FS_DIAG_PROFILE_TYPE,
                            .reference = FS_DIAG_PROFILE_VALUE},
                      .arena = &arena};
  *out = NULL;
  FS_TRY(fs_profile_create(ctx, &r.p));
  fs_names_init(&r.ops, &arena);
  fs_names_init(&r.queues, &arena);
  fs_status status = parse(&r, name, text, length);
  fs_names_free(&r.ops);
  fs_names_free(&r.queues);
  if (status != FSCHED_OK) {
    fsched_profile_destroy(r.p);
    return status;
  }
  *out = r.p;
  return FSCHED_OK;
}

fsched_status fsched_profile_read(fsched_context *ctx, const char *path, fsched_profile **out) {
  char *text = NULL;
  size_t length = 0;
  *out = NULL;
  FS_TRY(fs_file_read(ctx, path, &text, &length));
  bool input = strcmp(path, "-") == 0;
  fs_status status = fsched_profile_parse(ctx, input ? "<stdin>" : path, text, length, out);
  (void)fs_realloc(ctx, text, length + 1, 0);
  FS_TRY(status);
  fsched_profile *p = *out;
  p->file = input ? NULL : fs_arena_strndup(&p->arena, path, strlen(path));
  if (!input && p->file == NULL) {
    fsched_profile_destroy(p);
    *out = NULL;
    return FSCHED_SYSTEM;
  }
  return FSCHED_OK;
}
