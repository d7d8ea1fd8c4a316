/* SPDX-License-Identifier: Apache-2.0 */
/* Reads schedule JSON back into a schedule.  Names, counts and types are checked here; whether the
 * schedule is right is for the verifier to find out.  Only the format's version and "ops" are
 * required; without residencies no buffer may be in a bounded memory.  Control edges and statistics
 * are checked for form and dropped, since they are derived again from the schedule. */
#include "front/schedule_file/parse.h"

#include "base/heap.h"
#include "model/handle.h"
#include "model/issue_order.h"

/* The kinds of items: an op, or one of the kinds of copies. */
static const char *const kind_words[] = {"op", FS_COPY_KINDS(FS_SPILL_WORD_)};

/* The latest time, such that sums of times do not overflow; see also FSCHED_MAX_TIME. */
static const uint64_t latest = (uint64_t)1 << 62;

static fs_status read_time(fs_sparse *p, uint32_t node, fs_tick *out) {
  FS_TRY(fs_fields_u64(&p->f, node, out));
  if (*out > latest) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node, "the time is above 2^62");
  }
  return FSCHED_OK;
}

static fs_status read_interval(fs_sparse *p, uint32_t begin, uint32_t end, fs_tick *begin_out,
                               fs_tick *end_out) {
  FS_TRY(read_time(p, begin, begin_out));
  FS_TRY(read_time(p, end, end_out));
  if (*end_out < *begin_out) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, end, "it ends before it begins");
  }
  return FSCHED_OK;
}

static fs_status read_version(fs_sparse *p, uint32_t buffer_node, uint32_t version_node,
                              uint32_t *version) {
  const fsched_graph *g = p->g;
  uint32_t buffer, index;
  FS_TRY(fs_fields_name(&p->f, buffer_node, &p->buffers, "buffer", &buffer));
  FS_TRY(fs_fields_u32(&p->f, version_node, &index));
  uint32_t n = g->buffer_version0[buffer + 1] - g->buffer_version0[buffer];
  if (index >= n) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_REFERENCE, version_node,
                          "buffer '%s' has no version %u, but %u versions", g->buffer_name[buffer],
                          index, n);
  }
  *version = g->buffer_version0[buffer] + index;
  return FSCHED_OK;
}

/* ---- items */

enum {
  ITEM_NAME,
  ITEM_KIND,
  ITEM_BUFFER,
  ITEM_VERSION,
  ITEM_QUEUES,
  ITEM_START,
  ITEM_END,
  ITEM_FREE,
  ITEM_LOOP,
  ITEM_N
};
static const fs_field item_fields[ITEM_N] = {
    {"name", false}, {"kind", false}, {"buffer", false}, {"version", false}, {"queues", true},
    {"start", true}, {"end", true},   {"free", false},   {"loop", false}};

static fs_status queue_id(fs_sparse *p, uint32_t node, uint32_t *id) {
  if (!p->g->target.implicit_queues) {
    return fs_fields_name(&p->f, node, &p->queues, "queue", id);
  }
  const char *text = NULL; /* any name is accepted here */
  FS_TRY(fs_fields_text(&p->f, node, &text));
  return fs_names_intern(&p->queues, text, strlen(text), id, NULL);
}

/* Reads the members of the gang of an op, which come in any order, each once.  The item's queue is
 * the first one in the order of the graph, whichever is listed first. */
static fs_status read_gang(fs_sparse *p, uint32_t list, uint32_t op) {
  const fsched_graph *g = p->g;
  uint32_t gang = g->op_gang[op], members = g->gang_members[gang], *member = NULL;
  uint32_t first = g->gang_queue0[gang], n = g->gang_queue0[gang + 1] - first;
  uint32_t node, given, found = 0;
  FS_TRY(fs_fields_sequence(&p->f, list, &node, &given));
  fs_arena_mark mark = fs_arena_set_mark(&p->arena);
  uint8_t *seen;
  FS_TRY(fs_new_zero(&p->arena, &seen, n));
  for (; node != FS_NONE; node = fs_fields_next(&p->f, node)) {
    uint32_t id;
    FS_TRY(queue_id(p, node, &id));
    for (uint32_t k = 0; k < n; k++) {
      if (g->gang_queue[first + k] == id && !seen[k]) {
        seen[k] = 1;
        found++;
      }
    }
  }
  bool right = given == members && found == members;
  if (right) {
    member = p->member + p->member0[op];
  }
  for (uint32_t k = 0, at = 0; k < n && right; k++) {
    if (seen[k]) {
      member[at++] = g->gang_queue[first + k];
    }
  }
  fs_arena_reset(&p->arena, mark);
  if (!right) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, list,
                          members == n ? "the gang runs on its %u queues, each once"
                                       : "the gang runs on %u queues of its class, each once",
                          members);
  }
  p->s->queue[op] = member[0];
  return FSCHED_OK;
}

static fs_status read_queues(fs_sparse *p, uint32_t list, uint32_t item) {
  uint32_t gang = item < p->g->n_ops ? p->g->op_gang[item] : FS_NONE;
  if (gang != FS_NONE) {
    return read_gang(p, list, item);
  }
  uint32_t node, n;
  FS_TRY(fs_fields_sequence(&p->f, list, &node, &n));
  if (n != 1) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, list, "expected one queue, found %u", n);
  }
  return queue_id(p, node, &p->s->queue[item]);
}

static fs_status read_op(fs_sparse *p, uint32_t node, const uint32_t *value, uint32_t *item) {
  if (value[ITEM_NAME] == FS_NONE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_KEY, node, "key 'name' is missing");
  }
  if (value[ITEM_BUFFER] != FS_NONE || value[ITEM_VERSION] != FS_NONE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_KEY, node, "an op has no buffer and no version");
  }
  FS_TRY(fs_fields_name(&p->f, value[ITEM_NAME], &p->ops, "op", item));
  if (p->item_node[*item] != FS_NONE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_OP, node,
                          "op '%s' is here twice, also on line %u", p->g->op_name[*item],
                          p->f.doc->node[p->item_node[*item]].line);
  }
  return FSCHED_OK;
}

static fs_status read_copy(fs_sparse *p, uint32_t node, const uint32_t *value, uint32_t copy) {
  if (value[ITEM_BUFFER] == FS_NONE || value[ITEM_VERSION] == FS_NONE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_KEY, node, "a copy has a buffer and a version");
  }
  uint32_t version = FS_NONE;
  FS_TRY(read_version(p, value[ITEM_BUFFER], value[ITEM_VERSION], &version));
  const fs_memory *m = fs_version_home(p->g, version);
  if (!fs_memory_bounded(m) || !fs_memory_spills(m)) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, value[ITEM_BUFFER],
                          "buffer '%s' lives in memory '%s', which does not spill",
                          p->g->buffer_name[p->g->version_buffer[version]], m->name);
  }
  p->s->copy_version[copy] = version;
  return FSCHED_OK;
}

/* When the queues go on follows from the graph; what the file says is compared.  It may be left
 * out. */
static fs_status read_free(fs_sparse *p, uint32_t node, uint32_t item) {
  fs_tick free, right = fs_item_free(p->s, item);
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(read_time(p, node, &free));
  return free == right ? FSCHED_OK
                       : fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node,
                                        "its queues are free at %llu", (unsigned long long)right);
}

/* The loop that an item is; FS_NONE: none. */
static uint32_t rolled_of(const fsched_graph *g, uint32_t item) {
  uint32_t l = 0;
  while (l < g->n_rolled && (g->rolled[l].within != FS_NONE || g->rolled[l].op != item)) {
    l++;
  }
  return l < g->n_rolled ? l : FS_NONE;
}

static fs_status read_item(fs_sparse *p, uint32_t node, uint32_t index, uint32_t *n_copies) {
  uint32_t value[ITEM_N], kind = 0, item;
  FS_TRY(fs_fields_mapping(&p->f, node, item_fields, ITEM_N, value));
  if (value[ITEM_KIND] != FS_NONE) {
    FS_TRY(fs_fields_word(&p->f, value[ITEM_KIND], FS_WORDS(kind_words), &kind));
  }
  if (kind == 0) {
    FS_TRY(read_op(p, node, value, &item));
  } else {
    item = p->g->n_ops + *n_copies;
    p->s->copy_kind[*n_copies] = (uint8_t)(kind - 1);
    FS_TRY(read_copy(p, node, value, (*n_copies)++));
  }
  p->listed[index] = item;
  p->listed_index[item] = index;
  p->item_node[item] = node;
  FS_TRY(read_queues(p, value[ITEM_QUEUES], item));
  if (value[ITEM_LOOP] != FS_NONE) {
    FS_TRY(fs_schedule_compare_loop(p, value[ITEM_LOOP], rolled_of(p->g, item)));
  }
  FS_TRY(
      read_interval(p, value[ITEM_START], value[ITEM_END], &p->s->start[item], &p->s->end[item]));
  return read_free(p, value[ITEM_FREE], item);
}

/* Counts the items that are not ops, from their kinds alone. */
static fs_status count_copies(fs_sparse *p, uint32_t node, uint32_t *n) {
  *n = 0;
  for (; node != FS_NONE; node = fs_fields_next(&p->f, node)) {
    uint32_t pair, kind = 0;
    FS_TRY(fs_fields_pairs(&p->f, node, &pair, NULL));
    uint32_t value = fs_node_get(p->f.doc, node, "kind");
    if (value != FS_NONE) {
      FS_TRY(fs_fields_word(&p->f, value, FS_WORDS(kind_words), &kind));
    }
    *n += kind != 0;
  }
  return FSCHED_OK;
}

static fs_status allocate_items(fs_sparse *p, uint32_t n_copies) {
  fs_schedule *s = p->s;
  FS_TRY(fs_schedule_make_items(s, n_copies));
  FS_TRY(fs_graph_members(p->g, &p->arena, &p->member0));
  FS_TRY(fs_new(&p->arena, &p->member, p->member0[p->g->n_ops]));
  FS_TRY(fs_new(&p->arena, &p->listed, s->n_items));
  FS_TRY(fs_new(&p->arena, &p->listed_index, s->n_items));
  return fs_new_none(&p->arena, &p->item_node, s->n_items);
}

static fs_status missing_op(fs_sparse *p, uint32_t list) {
  uint32_t missing = 0, first = FS_NONE;
  for (uint32_t op = p->g->n_ops; op-- > 0;) {
    if (p->item_node[op] == FS_NONE) {
      missing++;
      first = op;
    }
  }
  return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_OP, list,
                        "op '%s' is not in the schedule (%u of %u ops are missing)",
                        p->g->op_name[first], missing, p->g->n_ops);
}

static fs_status read_items(fs_sparse *p, uint32_t list) {
  uint32_t node, n, n_copies, copies = 0;
  FS_TRY(fs_fields_sequence(&p->f, list, &node, &n));
  FS_TRY(count_copies(p, node, &n_copies));
  FS_TRY(allocate_items(p, n_copies));
  for (uint32_t i = 0; node != FS_NONE; node = fs_fields_next(&p->f, node), i++) {
    if (i == p->s->n_items) { /* too many ops for the graph: one is repeated or unknown */
      uint32_t value[ITEM_N], item;
      FS_TRY(fs_fields_mapping(&p->f, node, item_fields, ITEM_N, value));
      return read_op(p, node, value, &item);
    }
    FS_TRY(read_item(p, node, i, &copies));
  }
  if (n < p->s->n_items) {
    return missing_op(p, list);
  }
  return p->g->gangs_open ? fs_schedule_set_gangs(p->s, p->member0, p->member) : FSCHED_OK;
}

/* ---- residencies */

enum {
  RES_BUFFER,
  RES_VERSION,
  RES_SCRATCH,
  RES_MEMORY,
  RES_ADDRESS,
  RES_SIZE,
  RES_SLOTS,
  RES_BEGIN,
  RES_END,
  RES_N
};
static const fs_field res_fields[RES_N] = {
    {"buffer", false}, {"version", false}, {"scratch", false}, {"memory", true}, {"address", false},
    {"size", true},    {"slots", false},   {"begin", true},    {"end", true}};

static fs_status res_owner(fs_sparse *p, uint32_t node, const uint32_t *value, uint32_t r) {
  fs_schedule *s = p->s;
  s->res_version[r] = s->res_op[r] = FS_NONE;
  bool scratch = value[RES_SCRATCH] != FS_NONE;
  if (scratch == (value[RES_BUFFER] != FS_NONE) || scratch == (value[RES_VERSION] != FS_NONE)) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_KEY, node,
                          "a residency has a buffer and its version, or scratch");
  }
  return scratch ? fs_fields_name(&p->f, value[RES_SCRATCH], &p->ops, "op", &s->res_op[r])
                 : read_version(p, value[RES_BUFFER], value[RES_VERSION], &s->res_version[r]);
}

/* Reads a residency's memory: a bounded one, which is the version's own or its store; for scratch
 * any bounded one. */
static fs_status res_memory(fs_sparse *p, uint32_t node, uint32_t r) {
  const fs_target *t = &p->g->target;
  uint32_t memory = FS_NONE, v = p->s->res_version[r];
  FS_TRY(fs_fields_name(&p->f, node, &p->memories, "memory", &memory));
  p->s->res_memory[r] = memory;
  if (!fs_memory_bounded(&t->memory[memory])) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node,
                          "memory '%s' is not bounded and has no residencies",
                          t->memory[memory].name);
  }
  if (v != FS_NONE) {
    uint32_t own = fs_version_memory(p->g, v);
    if (memory != own && !(fs_memory_spills(&t->memory[own]) && memory == t->memory[own].backing)) {
      return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node, "buffer '%s' lives in memory '%s'",
                            p->g->buffer_name[p->g->version_buffer[v]], t->memory[own].name);
    }
  }
  return FSCHED_OK;
}

static fs_status res_place(fs_sparse *p, uint32_t node, const uint32_t *value, uint32_t r) {
  fs_schedule *s = p->s;
  const fs_memory *m = &p->g->target.memory[s->res_memory[r]];
  bool counted = !fs_placement_has_addresses(m->placement);
  s->res_address[r] = 0;
  if (counted == (value[RES_ADDRESS] != FS_NONE)) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_KEY, node,
                          counted ? "memory '%s' is counted and has no addresses"
                                  : "a residency in memory '%s' has an address",
                          m->name);
  }
  if (!counted) {
    FS_TRY(fs_fields_u64(&p->f, value[RES_ADDRESS], &s->res_address[r]));
  }
  FS_TRY(fs_fields_u64(&p->f, value[RES_SIZE], &s->res_size[r]));
  if (s->res_size[r] > FSCHED_MAX_SIZE || s->res_address[r] > FSCHED_MAX_SIZE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node, "an address or size is above 2^48");
  }
  return FSCHED_OK;
}

/* The slots follow from the graph; what the file says is compared.  They may be left out. */
static fs_status res_slots(fs_sparse *p, uint32_t node, uint32_t r) {
  uint64_t slots = 0;
  uint32_t version = p->s->res_version[r];
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u64(&p->f, node, &slots));
  uint64_t right = version == FS_NONE ? 0 : fs_version_slots(p->g, version);
  return slots == right ? FSCHED_OK
                        : fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node, "it has %llu slots",
                                         (unsigned long long)right);
}

static fs_status read_residency(fs_sparse *p, uint32_t node, uint32_t r) {
  uint32_t value[RES_N];
  FS_TRY(fs_fields_mapping(&p->f, node, res_fields, RES_N, value));
  FS_TRY(res_owner(p, node, value, r));
  FS_TRY(res_memory(p, value[RES_MEMORY], r));
  FS_TRY(res_place(p, node, value, r));
  FS_TRY(res_slots(p, value[RES_SLOTS], r));
  return read_interval(p, value[RES_BEGIN], value[RES_END], &p->s->res_begin[r], &p->s->res_end[r]);
}

static fs_status heap_residencies(fs_sparse *p, uint32_t node, uint32_t n, fs_heap *by_begin,
                                  uint32_t *nodes) {
  for (uint32_t i = 0; i < n; i++, node = fs_fields_next(&p->f, node)) {
    uint64_t begin = 0;
    uint32_t pair;
    nodes[i] = node;
    FS_TRY(fs_fields_pairs(&p->f, node, &pair, NULL));
    uint32_t value = fs_node_get(p->f.doc, node, "begin");
    if (value != FS_NONE && !fs_node_u64(p->f.doc, value, &begin)) {
      begin = 0; /* the fault is reported when the residency is read */
    }
    FS_TRY(fs_heap_push(p->f.ctx, by_begin, begin, i));
  }
  return FSCHED_OK;
}

/* The nodes of the residencies, sorted by begin; those with equal begins stay as listed. */
static fs_status sort_residencies(fs_sparse *p, uint32_t node, uint32_t n, uint32_t *sorted) {
  fs_heap by_begin = {0};
  uint32_t *nodes;
  FS_TRY(fs_new(&p->arena, &nodes, n));
  fs_status status = heap_residencies(p, node, n, &by_begin, nodes);
  for (uint32_t i = 0; status == FSCHED_OK && i < n; i++) {
    sorted[i] = nodes[fs_heap_pop(&by_begin).id];
  }
  fs_vec_free(p->f.ctx, &by_begin);
  return status;
}

static fs_status read_residencies(fs_sparse *p, uint32_t list) {
  fs_schedule *s = p->s;
  uint32_t node = FS_NONE, n = 0;
  if (list != FS_NONE) {
    FS_TRY(fs_fields_sequence(&p->f, list, &node, &n));
  }
  FS_TRY(fs_schedule_make_residencies(s, n));
  uint32_t *sorted;
  FS_TRY(fs_new(&p->arena, &sorted, n));
  FS_TRY(sort_residencies(p, node, n, sorted));
  for (uint32_t r = 0; r < n; r++) {
    FS_TRY(read_residency(p, sorted[r], r));
  }
  return FSCHED_OK;
}

/* ---- the rest */

static fs_status check_edges(fs_sparse *p, uint32_t list) {
  enum { FROM, TO, WHY, FIELDS };
  static const fs_field fields[FIELDS] = {{"from", true}, {"to", true}, {"why", true}};
  uint32_t node = FS_NONE;
  if (list != FS_NONE) {
    FS_TRY(fs_fields_sequence(&p->f, list, &node, NULL));
  }
  for (; node != FS_NONE; node = fs_fields_next(&p->f, node)) {
    uint32_t value[FIELDS], why;
    FS_TRY(fs_fields_mapping(&p->f, node, fields, FIELDS, value));
    for (uint32_t i = FROM; i <= TO; i++) {
      uint32_t index = 0;
      FS_TRY(fs_fields_u32(&p->f, value[i], &index));
      if (index >= p->s->n_items) {
        return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_REFERENCE, value[i],
                              "the schedule has no op %u, but %u ops", index, p->s->n_items);
      }
    }
    FS_TRY(fs_fields_word(&p->f, value[WHY], FS_WORDS(fs_words_why), &why));
  }
  return FSCHED_OK;
}

enum {
  TOP_SCHEDULE,
  TOP_GRAPH,
  TOP_TIME_UNIT,
  TOP_STATUS,
  TOP_MAKESPAN,
  TOP_LOWER_BOUND,
  TOP_EFFORT,
  TOP_OPS,
  TOP_RESIDENCIES,
  TOP_CONTROL_EDGES,
  TOP_STATS,
  TOP_N
};
static const fs_field top_fields[TOP_N] = {
    {"fsched_schedule", true}, {"graph", false},         {"time_unit", false}, {"status", false},
    {"makespan", false},       {"lower_bound", false},   {"effort", false},    {"ops", true},
    {"residencies", false},    {"control_edges", false}, {"stats", false}};

/* The graph was read before; its plans show whether the effort was the same. */
static fs_status check_effort(const fs_sparse *p, uint32_t node) {
  uint64_t effort = 0;
  FS_TRY(node == FS_NONE ? FSCHED_OK : fs_fields_u64(&p->f, node, &effort));
  return effort <= FSCHED_EFFORT_MOST
             ? FSCHED_OK
             : fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, node, "the effort is above %d",
                              FSCHED_EFFORT_MOST);
}

static fs_status read_head(fs_sparse *p, const uint32_t *value) {
  uint64_t version;
  const char *graph = NULL;
  FS_TRY(fs_fields_u64(&p->f, value[TOP_SCHEDULE], &version));
  if (version != 1) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_VALUE, value[TOP_SCHEDULE],
                          "the schedule has format version %llu; this fsched reads version 1",
                          (unsigned long long)version);
  }
  if (value[TOP_GRAPH] != FS_NONE) {
    FS_TRY(fs_fields_text(&p->f, value[TOP_GRAPH], &graph));
    if (strcmp(graph, p->g->name) != 0) {
      return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_REFERENCE, value[TOP_GRAPH],
                            "the schedule is for graph '%s', not for '%s'", graph, p->g->name);
    }
  }
  uint32_t status = FS_SCHEDULE_FEASIBLE;
  if (value[TOP_STATUS] != FS_NONE) {
    FS_TRY(fs_fields_word(&p->f, value[TOP_STATUS], FS_WORDS(fs_words_schedule_status), &status));
  }
  p->s->status = (fs_schedule_status)status;
  FS_TRY(check_effort(p, value[TOP_EFFORT]));
  return value[TOP_LOWER_BOUND] == FS_NONE
             ? FSCHED_OK
             : read_time(p, value[TOP_LOWER_BOUND], &p->s->lower_bound);
}

static fs_status read_makespan(fs_sparse *p, uint32_t node) {
  if (node != FS_NONE) {
    return read_time(p, node, &p->s->makespan);
  }
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    p->s->makespan = fs_max(p->s->makespan, p->s->end[i]);
  }
  return FSCHED_OK;
}

static fs_status name_queues(fs_sparse *p) {
  fs_schedule *s = p->s;
  s->n_queues = fs_names_count(&p->queues);
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const char *name = p->queues.text.at[q];
    s->queue_name[q] = fs_arena_strndup(&s->arena, name, strlen(name));
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status add_names(fs_names *table, const char *const *name, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id;
    bool repeated;
    FS_TRY(fs_names_add(table, name[i], strlen(name[i]), &id, &repeated));
  }
  return FSCHED_OK;
}

static fs_status know_names(fs_sparse *p) {
  const fs_target *t = &p->g->target;
  FS_TRY(add_names(&p->ops, p->g->op_name, p->g->n_ops));
  FS_TRY(add_names(&p->buffers, p->g->buffer_name, p->g->n_buffers));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    FS_TRY(add_names(&p->memories, &t->memory[m].name, 1));
  }
  for (uint32_t q = 0; !t->implicit_queues && q < t->n_queues; q++) {
    FS_TRY(add_names(&p->queues, &t->queue[q].name, 1));
  }
  return FSCHED_OK;
}

static fs_status parse(fs_sparse *p, const char *name, const char *text, size_t length) {
  fs_doc doc;
  uint32_t value[TOP_N];
  p->f.doc = &doc;
  FS_TRY(fs_doc_parse(p->f.ctx, &p->arena, name, text, length, &doc));
  FS_TRY(know_names(p));
  FS_TRY(fs_fields_mapping(&p->f, 0, top_fields, TOP_N, value));
  FS_TRY(read_head(p, value));
  FS_TRY(read_items(p, value[TOP_OPS]));
  FS_TRY(name_queues(p));
  FS_TRY(read_makespan(p, value[TOP_MAKESPAN]));
  FS_TRY(read_residencies(p, value[TOP_RESIDENCIES]));
  FS_TRY(check_edges(p, value[TOP_CONTROL_EDGES]));
  FS_TRY(fs_schedule_link(p));
  FS_TRY(fs_schedule_order(p->s, p->listed));
  return fs_schedule_order_residencies(p->s);
}

fs_status fsched_schedule_parse(fsched_context *ctx, const fsched_graph *graph, const char *name,
                                const char *text, size_t length, fsched_schedule **out) {
  fs_sparse p = {.f = {.ctx = ctx,
                       .key = FS_DIAG_SCHEDULE_KEY,
                       .type = FS_DIAG_SCHEDULE_TYPE,
                       .reference = FS_DIAG_SCHEDULE_REFERENCE},
                 .g = graph};
  *out = NULL;
  FS_TRY(fs_schedule_create(ctx, graph, &p.s));
  fs_arena_init(&p.arena, ctx);
  fs_names *names[] = {&p.ops, &p.buffers, &p.memories, &p.queues};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fs_names_init(names[i], &p.arena);
  }
  fs_status status = parse(&p, name, text, length);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fs_names_free(names[i]);
  }
  fs_arena_release(&p.arena);
  if (status == FSCHED_OK) {
    status = fs_handle_create(p.s, NULL, out);
  }
  if (status != FSCHED_OK) {
    fs_schedule_destroy(p.s);
  }
  return status;
}
