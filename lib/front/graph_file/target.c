/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a graph file.  A bad value is replaced by a harmless one, so that references to its
 * queue or memory do not look wrong too. */
#include <stdio.h>

#include "front/graph_file/private.h"

void fs_read_lose_target(fs_reader *r) {
  fs_builder_lose(r->b, FS_KIND_QUEUE);
  fs_builder_lose(r->b, FS_KIND_CLASS);
  fs_builder_lose(r->b, FS_KIND_MEMORY);
  fs_builder_lose(r->b, FS_KIND_RESOURCE);
  fs_builder_lose(r->b, FS_KIND_SYNC);
}

static fs_status read_queue(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"name", false},    {"class", false},    {"device", false},
                                {"machine", false}, {"counting", false}, {"host", false}};
  uint32_t value[6];
  fsched_queue_desc d = {.size = sizeof d};
  uint32_t errors = fsched_diag_errors(r->ctx);
  if (!fs_read_keys(r, node, "a queue", keys, 6, value)) {
    return FSCHED_OK;
  }
  if (fsched_diag_errors(r->ctx) != errors && value[1] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_CLASS); /* the misspelt key may be 'class' */
  }
  if (value[0] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "a queue needs a 'name'");
    return FSCHED_OK;
  }
  if (!fs_read_name(r, value[0], "a queue's name", &d.name)) {
    return FSCHED_OK;
  }
  if (value[1] != FS_NONE && !fs_read_name(r, value[1], "a queue's class", &d.queue_class)) {
    fs_builder_lose(r->b, FS_KIND_CLASS);
  }
  uint64_t number;
  if (value[2] != FS_NONE &&
      fs_read_number(r, value[2], "'device'", 0, FSCHED_MAX_DEVICE, &number)) {
    d.device = (uint32_t)number;
  }
  if (value[3] != FS_NONE &&
      fs_read_number(r, value[3], "'machine'", 0, FSCHED_MAX_MACHINE, &number)) {
    d.machine = (uint32_t)number;
  }
  fs_read_locate(r, value[0]);
  if (value[4] != FS_NONE && fs_read_flag(r, value[4], "'counting'", &d.counting)) {
    fs_builder_locate_part(r->b, FS_PART_COUNTING, fs_node_pos(r->doc, value[4]));
  }
  if (value[5] != FS_NONE) {
    (void)fs_read_flag(r, value[5], "'host'", &d.host);
  }
  return fs_read_go_on(fsched_builder_queue(r->b, &d, NULL));
}

static void read_copy(fs_reader *r, uint32_t node, uint64_t *fixed, uint64_t *rate, uint64_t *per) {
  static const fs_key keys[] = {{"fixed", false}, {"rate", false}, {"per", false}};
  uint32_t value[3];
  if (node == FS_NONE || !fs_read_keys(r, node, "the time of a copy", keys, 3, value)) {
    return;
  }
  if (value[0] != FS_NONE) {
    (void)fs_read_number(r, value[0], "'fixed'", 0, FSCHED_MAX_TIME, fixed);
  }
  if (value[1] != FS_NONE) {
    (void)fs_read_number(r, value[1], "'rate'", 0, FSCHED_MAX_TIME, rate);
  }
  if (value[2] != FS_NONE) {
    (void)fs_read_number(r, value[2], "'per'", 1, FSCHED_MAX_PER, per);
  }
}

/* *by_default tells that the graph does not say where copies run. */
static void read_spill(fs_reader *r, uint32_t node, fsched_memory_desc *d, bool *by_default) {
  static const fs_key keys[] = {{"on", false}, {"write", false}, {"read", false}};
  uint32_t value[3];
  if (!fs_read_keys(r, node, "'spill'", keys, 3, value)) {
    return;
  }
  d->spill_on = "compute";
  *by_default = value[0] == FS_NONE;
  fs_builder_locate_part(r->b, FS_PART_SPILL, fs_node_pos(r->doc, node));
  if (value[0] != FS_NONE && fs_read_name(r, value[0], "'spill.on'", &d->spill_on)) {
    fs_builder_locate_part(r->b, FS_PART_SPILL, fs_node_pos(r->doc, value[0]));
  }
  read_copy(r, value[1], &d->write_fixed, &d->write_rate, &d->write_per);
  read_copy(r, value[2], &d->read_fixed, &d->read_rate, &d->read_per);
}

static void read_align(fs_reader *r, uint32_t node, uint64_t *align) {
  uint64_t value;
  if (!fs_read_size(r, node, "'align'", &value)) {
    return;
  }
  if (value == 0 || (value & (value - 1)) != 0) {
    fs_read_fail(r, FS_DIAG_OUT_OF_RANGE, node, NULL, "'align' is %.40s, not a power of two",
                 fs_read_node(r, node)->text);
    return;
  }
  *align = value;
}

enum {
  MEM_NAME,
  MEM_CAPACITY,
  MEM_ALIGN,
  MEM_PLACEMENT,
  MEM_BACKING,
  MEM_SPILL,
  MEM_HOST,
  MEM_KEYS
};

static fs_status read_memory(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"name", false},      {"capacity", false}, {"align", false},
                                {"placement", false}, {"backing", false},  {"spill", false},
                                {"host", false}};
  uint32_t value[MEM_KEYS];
  if (!fs_read_keys(r, node, "a memory", keys, MEM_KEYS, value)) {
    return FSCHED_OK;
  }
  if (value[MEM_NAME] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "a memory needs a 'name'");
    return FSCHED_OK;
  }
  fsched_memory_desc d = {.size = sizeof d, .capacity = FSCHED_UNBOUNDED};
  if (!fs_read_name(r, value[MEM_NAME], "a memory's name", &d.name)) {
    return FSCHED_OK;
  }
  fs_read_locate(r, value[MEM_NAME]);
  if (value[MEM_CAPACITY] != FS_NONE &&
      !fs_read_size(r, value[MEM_CAPACITY], "'capacity'", &d.capacity)) {
    d.capacity = FSCHED_MAX_SIZE; /* stays a bounded memory */
  }
  if (value[MEM_ALIGN] != FS_NONE) {
    read_align(r, value[MEM_ALIGN], &d.align);
  }
  uint32_t index = 0;
  if (value[MEM_PLACEMENT] != FS_NONE &&
      fs_read_choice(r, value[MEM_PLACEMENT], "'placement'", fs_words_placement, FS_N_PLACEMENTS,
                     &index)) {
    d.placement = (fsched_placement)index;
    fs_builder_locate_part(r->b, FS_PART_PLACEMENT, fs_node_pos(r->doc, value[MEM_PLACEMENT]));
  }
  if (value[MEM_BACKING] != FS_NONE &&
      fs_read_name(r, value[MEM_BACKING], "'backing'", &d.backing)) {
    fs_builder_locate_part(r->b, FS_PART_BACKING, fs_node_pos(r->doc, value[MEM_BACKING]));
  }
  bool spill_default = false;
  if (value[MEM_SPILL] != FS_NONE) {
    read_spill(r, value[MEM_SPILL], &d, &spill_default);
  }
  if (value[MEM_HOST] != FS_NONE) {
    (void)fs_read_flag(r, value[MEM_HOST], "'host'", &d.host);
  }
  return fs_read_go_on(fs_builder_add_memory(r->b, &d, spill_default, NULL));
}

static fs_status read_resource(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"name", false}, {"capacity", false}};
  uint32_t value[2];
  const char *name;
  if (!fs_read_keys(r, node, "a resource", keys, 2, value)) {
    return FSCHED_OK;
  }
  if (value[0] == FS_NONE || value[1] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "a resource needs a '%s'",
                 value[0] == FS_NONE ? "name" : "capacity");
  }
  if (value[0] == FS_NONE || !fs_read_name(r, value[0], "a resource's name", &name)) {
    return FSCHED_OK;
  }
  uint64_t capacity = FSCHED_MAX_TIME; /* after a bad capacity any amount fits */
  if (value[1] != FS_NONE) {
    (void)fs_read_number(r, value[1], "'capacity'", 0, FSCHED_MAX_TIME, &capacity);
  }
  fs_read_locate(r, value[0]);
  return fs_read_go_on(fsched_builder_resource(r->b, name, capacity, NULL));
}

/* Whether the last entry added a new name, and not one that was there before. */
static bool has_new_name(const fs_reader *r, fs_builder_kind kind, uint32_t known) {
  const fs_names *names = fs_builder_names(r->b, kind);
  if (fs_names_count(names) == known) {
    return false;
  }
  const char *name = names->text.at[known];
  return fs_names_find(names, name, strlen(name)) == known;
}

/* Reads each entry of a list.  An error in a list may have lost an entry, or the name by which
 * others refer to it. */
static fs_status read_each(fs_reader *r, uint32_t node, const char *what, fs_builder_kind kind,
                           fs_status (*read)(fs_reader *, uint32_t)) {
  uint32_t item;
  uint32_t errors = fsched_diag_errors(r->ctx);
  if (node != FS_NONE && fs_read_list(r, node, what, &item)) {
    for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
      uint32_t known = fs_names_count(fs_builder_names(r->b, kind));
      uint32_t before = fsched_diag_errors(r->ctx);
      FS_TRY(read(r, item));
      if (has_new_name(r, kind, known)) {
        errors += fsched_diag_errors(r->ctx) - before; /* the entry and its name are there */
      }
    }
  }
  if (fsched_diag_errors(r->ctx) != errors) {
    fs_builder_lose(r->b, kind);
  }
  return FSCHED_OK;
}

static bool is_word(const fs_reader *r, uint32_t node, const char *word) {
  const fs_node *n = fs_read_node(r, node);
  return n->kind == FS_NODE_SCALAR && strcmp(n->text, word) == 0;
}

static void read_count(fs_reader *r, uint32_t node, uint64_t *count) {
  const fs_node *n = fs_read_node(r, node);
  if (is_word(r, node, "auto")) {
    *count = FSCHED_BARRIERS_AUTO;
  } else if (n->kind == FS_NODE_SCALAR && n->text[strspn(n->text, "-0123456789")] != '\0') {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, "decimal digits, or auto in small letters",
                 "'count' must be a whole number or auto, not '%.60s'", n->text);
  } else {
    (void)fs_read_number(r, node, "'count'", 1, INT32_MAX, count);
  }
}

/* Whether 'barriers' is a number, or auto, alone, which is meant as the count; reports it. */
static bool is_bare_count(fs_reader *r, uint32_t node) {
  const fs_node *n = fs_read_node(r, node);
  uint64_t number;
  if (!fs_node_u64(r->doc, node, &number) && !is_word(r, node, "auto")) {
    return false;
  }
  char hint[80];
  (void)snprintf(hint, sizeof hint, "write {count: %.40s}", n->text);
  fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, hint, "'barriers' must be a mapping, not text");
  return true;
}

static fs_status read_barriers(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"count", false}, {"slots", false}};
  uint32_t value[2];
  uint64_t count = 0;
  uint64_t slots = 0;
  if (node == FS_NONE || is_bare_count(r, node) ||
      !fs_read_keys(r, node, "'barriers'", keys, 2, value)) {
    return FSCHED_OK;
  }
  if (value[0] != FS_NONE) {
    read_count(r, value[0], &count);
  }
  if (value[1] != FS_NONE) {
    (void)fs_read_number(r, value[1], "'slots'", 1, INT32_MAX, &slots);
  }
  fs_read_locate(r, value[0] != FS_NONE ? value[0] : value[1] != FS_NONE ? value[1] : node);
  return fsched_builder_barriers(r->b, count, slots);
}

static fs_status read_frontier(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"capacity", false}};
  uint32_t value[1];
  uint64_t capacity;
  if (node == FS_NONE || !fs_read_keys(r, node, "'frontier'", keys, 1, value) ||
      value[0] == FS_NONE ||
      !fs_read_number(r, value[0], "the frontier's 'capacity'", 1, INT32_MAX, &capacity)) {
    return FSCHED_OK;
  }
  return fsched_builder_frontier(r->b, capacity);
}

static fs_status read_sync(fs_reader *r, uint32_t node) {
  uint32_t index;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  if (!fs_read_choice(r, node, "'sync'", fs_words_sync, FS_N_SYNC_KINDS, &index)) {
    fs_builder_lose(r->b, FS_KIND_SYNC);
    return FSCHED_OK;
  }
  fs_read_locate(r, node);
  return fsched_builder_sync(r->b, (fsched_sync)index);
}

/* Reads 'launch': ticks for all classes, or a mapping from classes to ticks. */
static fs_status read_launch(fs_reader *r, uint32_t node) {
  uint64_t ticks;
  const fs_node *n = node == FS_NONE ? NULL : fs_read_node(r, node);
  if (n == NULL) {
    return FSCHED_OK;
  }
  if (n->kind != FS_NODE_MAPPING) {
    return fs_read_number(r, node, "'launch'", 0, FSCHED_MAX_TIME, &ticks)
               ? fsched_builder_launch(r->b, NULL, ticks)
               : FSCHED_OK;
  }
  for (uint32_t key = n->child, value; key != FS_NONE; key = fs_read_node(r, value)->next) {
    value = fs_read_node(r, key)->next;
    if (fs_read_number(r, value, "a launch", 0, FSCHED_MAX_TIME, &ticks)) {
      fs_read_locate(r, key);
      FS_TRY(fs_read_go_on(fsched_builder_launch(r->b, fs_read_node(r, key)->text, ticks)));
    }
  }
  return FSCHED_OK;
}

/* The cost of a sync says nothing where the kind of sync has none: a target may be used with
 * several kinds. */
static fs_status read_sync_cost(fs_reader *r, uint32_t node) {
  uint64_t cost;
  if (node == FS_NONE || !fs_read_number(r, node, "'sync_cost'", 0, FSCHED_MAX_TIME, &cost)) {
    return FSCHED_OK;
  }
  return fsched_builder_sync_cost(r->b, cost);
}

enum {
  TARGET_UNIT,
  TARGET_QUEUES,
  TARGET_MEMORIES,
  TARGET_RESOURCES,
  TARGET_CONCURRENCY,
  TARGET_BARRIERS,
  TARGET_FRONTIER,
  TARGET_SYNC,
  TARGET_SYNC_COST,
  TARGET_FSCHED,
  TARGET_LAUNCH,
  TARGET_WAIT,
  TARGET_KEYS
};

/* Notes what misspelt keys may have lost: a misspelt key may be the one that is missing. */
static void lose_absent(fs_reader *r, const uint32_t *value) {
  if (value[TARGET_QUEUES] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_QUEUE);
  }
  if (value[TARGET_MEMORIES] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_MEMORY);
  }
  if (value[TARGET_RESOURCES] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_RESOURCE);
  }
  if (value[TARGET_SYNC] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_SYNC);
  }
}

fs_status fs_read_target(fs_reader *r, uint32_t node) {
  static const fs_key keys[] = {{"time_unit", false}, {"queues", false},      {"memories", false},
                                {"resources", false}, {"concurrency", false}, {"barriers", false},
                                {"frontier", false},  {"sync", false},        {"sync_cost", false},
                                {"fsched", false},    {"launch", false},      {"wait", false}};
  uint32_t value[TARGET_KEYS];
  uint32_t errors = fsched_diag_errors(r->ctx);
  if (!fs_read_keys(r, node, "the target", keys, TARGET_KEYS, value)) {
    fs_read_lose_target(r);
    return FSCHED_OK;
  }
  if (fsched_diag_errors(r->ctx) != errors) {
    lose_absent(r, value);
  }
  const char *unit;
  uint64_t number;
  if (value[TARGET_FSCHED] != FS_NONE && fs_node_u64(r->doc, value[TARGET_FSCHED], &number) &&
      number != 1) {
    fs_read_fail(r, FS_DIAG_FORMAT_VERSION, value[TARGET_FSCHED], NULL,
                 "the target is of version %llu of the format, this reads version 1",
                 (unsigned long long)number);
  }
  if (value[TARGET_UNIT] != FS_NONE && fs_read_name(r, value[TARGET_UNIT], "'time_unit'", &unit)) {
    FS_TRY(fsched_builder_time_unit(r->b, unit));
  }
  FS_TRY(read_each(r, value[TARGET_QUEUES], "'queues'", FS_KIND_QUEUE, read_queue));
  FS_TRY(read_each(r, value[TARGET_MEMORIES], "'memories'", FS_KIND_MEMORY, read_memory));
  FS_TRY(read_each(r, value[TARGET_RESOURCES], "'resources'", FS_KIND_RESOURCE, read_resource));
  if (value[TARGET_CONCURRENCY] != FS_NONE &&
      fs_read_number(r, value[TARGET_CONCURRENCY], "'concurrency'", 1, INT32_MAX, &number)) {
    FS_TRY(fsched_builder_concurrency(r->b, number));
  }
  FS_TRY(read_launch(r, value[TARGET_LAUNCH]));
  if (value[TARGET_WAIT] != FS_NONE &&
      fs_read_number(r, value[TARGET_WAIT], "'wait'", 0, FSCHED_MAX_TIME, &number)) {
    FS_TRY(fsched_builder_wait(r->b, number));
  }
  FS_TRY(read_barriers(r, value[TARGET_BARRIERS]));
  FS_TRY(read_frontier(r, value[TARGET_FRONTIER]));
  FS_TRY(read_sync_cost(r, value[TARGET_SYNC_COST]));
  return read_sync(r, value[TARGET_SYNC]);
}
