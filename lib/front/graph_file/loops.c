/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a graph file, and what ops are `after`.  A loop stands among the ops, or behind them in
 * `loops`, and holds ops and loops itself. */
#include <stdio.h>

#include "front/graph_file/private.h"

bool fs_read_is_loop(const fs_reader *r, uint32_t node) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  return fs_read_node(r, node)->kind == FS_NODE_MAPPING &&
         fs_node_get(r->doc, node, "loop") != FS_NONE;
}

/* Reads a number of trips, or the parameter that gives it. */
static bool read_trip(fs_reader *r, uint32_t node, fsched_loop_desc *d) {
  static const fs_key keys[] = {{"param", false}, {"min", false}, {"max", false}};
  uint32_t value[3];
  if (fs_read_node(r, node)->kind != FS_NODE_MAPPING) {
    return fs_read_number(r, node, "'trip'", 0, FSCHED_MAX_TIME, &d->trip);
  }
  if (!fs_read_keys(r, node, "'trip'", keys, 3, value)) {
    return false;
  }
  for (int i = 0; i < 3; i += 2) {
    if (value[i] == FS_NONE) {
      fs_read_fail(r, FS_DIAG_MISSING_KEY, node, "write {param: NAME, min: 0, max: N}",
                   "'trip' needs '%s'", keys[i].name);
      return false;
    }
  }
  bool ok = fs_read_name(r, value[0], "'param'", &d->param);
  ok = (value[1] == FS_NONE || fs_read_number(r, value[1], "'min'", 0, FSCHED_MAX_TIME, &d->min)) &&
       ok;
  return fs_read_number(r, value[2], "'max'", 0, FSCHED_MAX_TIME, &d->max) && ok;
}

/* Whether a value is the word "auto", or is not there. */
static bool is_auto(const fs_reader *r, uint32_t node) {
  return node == FS_NONE || (fs_read_node(r, node)->kind == FS_NODE_SCALAR &&
                             strcmp(fs_read_node(r, node)->text, "auto") == 0);
}

static fs_status read_ring(fs_reader *r, uint32_t loop, uint32_t name, uint32_t node) {
  static const fs_key keys[] = {{"depth", false}, {"prefetch", false}, {"every", false}};
  uint32_t value[3];
  fsched_ring_desc d = {.size = sizeof d};
  bool ok = fs_read_reference(r, name, "buffer", FS_KIND_BUFFER, &d.buffer);
  if (!fs_read_keys(r, node, "the slots of a buffer", keys, 3, value) || !ok) {
    return FSCHED_OK;
  }
  if (!is_auto(r, value[0])) {
    ok = fs_read_number(r, value[0], "'depth'", 1, FSCHED_MAX_TIME, &d.depth);
  }
  if (!is_auto(r, value[1])) {
    d.has_prefetch = 1;
    if (!fs_node_i64(r->doc, value[1], &d.prefetch)) {
      fs_read_fail(r, FS_DIAG_WRONG_TYPE, value[1], NULL,
                   "'prefetch' must be a whole number, or auto");
      ok = false;
    }
  }
  if (value[2] != FS_NONE) {
    ok = fs_read_number(r, value[2], "'every'", 1, FSCHED_MAX_TIME, &d.every) && ok;
  }
  fs_read_locate(r, name);
  return ok ? fs_read_go_on(fsched_builder_ring(r->b, loop, &d)) : FSCHED_OK;
}

/* Reads the mapping from buffers to their slots. */
static fs_status read_rings(fs_reader *r, uint32_t loop, uint32_t node) {
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  if (fs_read_node(r, node)->kind != FS_NODE_MAPPING) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, "write {NAME: {depth: 2}}",
                 "'buffers' of a loop must be a mapping from buffers to their slots");
    return FSCHED_OK;
  }
  for (uint32_t key = fs_read_node(r, node)->child; key != FS_NONE;) {
    uint32_t value = fs_read_node(r, key)->next;
    FS_TRY(read_ring(r, loop, key, value));
    key = fs_read_node(r, value)->next;
  }
  return FSCHED_OK;
}

enum { LOOP_NAME, LOOP_TRIP, LOOP_OPS, LOOP_BUFFERS, LOOP_KEYS };

fs_status fs_read_loop(fs_op_reader *o, uint32_t node) {
  FS_ASSERT_SLOW(fs_read_is_loop(o->r, node));
  static const fs_key keys[] = {
      {"loop", false}, {"trip", false}, {"ops", false}, {"buffers", false}};
  fs_reader *r = o->r;
  uint32_t value[LOOP_KEYS];
  fsched_loop_desc d = {.size = sizeof d};
  bool ok = fs_read_keys(r, node, "a loop", keys, LOOP_KEYS, value);
  for (int i = LOOP_TRIP; ok && i <= LOOP_OPS; i++) {
    if (value[i] == FS_NONE) {
      fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "a loop needs '%s'", keys[i].name);
      ok = false;
    }
  }
  ok = ok && fs_read_name(r, value[LOOP_NAME], "a loop's name", &d.name);
  ok = ok && read_trip(r, value[LOOP_TRIP], &d);
  uint32_t loop = FS_NONE;
  if (ok) {
    fs_read_locate(r, value[LOOP_NAME]);
    FS_TRY(fs_read_go_on(fsched_builder_begin_loop(r->b, &d, &loop)));
  }
  if (loop == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_LOOP);
    fs_builder_lose(r->b, FS_KIND_OP);
    return FSCHED_OK;
  }
  FS_TRY(fs_read_items(o, value[LOOP_OPS], "'ops'"));
  FS_TRY(fs_read_go_on(fsched_builder_end_loop(r->b)));
  return read_rings(r, loop, value[LOOP_BUFFERS]);
}

/* Hands over one entry of `after`: the name of an op or a loop, or {op: NAME, distance: N}. */
static fs_status read_one_after(fs_reader *r, uint32_t op, uint32_t item) {
  static const fs_key keys[] = {{"op", false}, {"loop", false}, {"distance", false}};
  uint32_t value[3] = {item, FS_NONE, FS_NONE};
  uint64_t distance = 0;
  const fs_node *n = fs_read_node(r, item);
  if (n->kind == FS_NODE_MAPPING) {
    if (!fs_read_keys(r, item, "an entry of 'after'", keys, 3, value)) {
      return FSCHED_OK;
    }
    if ((value[0] == FS_NONE) == (value[1] == FS_NONE)) {
      fs_read_fail(r, FS_DIAG_MISSING_KEY, item, NULL,
                   "an entry of 'after' has either an 'op' or a 'loop'");
      return FSCHED_OK;
    }
    if (value[2] != FS_NONE &&
        !fs_read_number(r, value[2], "'distance'", 0, FSCHED_MAX_TIME, &distance)) {
      return FSCHED_OK;
    }
  } else if (n->kind == FS_NODE_SCALAR) {
    const fs_names *ops = fs_builder_names(r->b, FS_KIND_OP);
    const fs_names *loops = fs_builder_names(r->b, FS_KIND_LOOP);
    if (fs_names_find(ops, n->text, strlen(n->text)) == FS_NONE &&
        fs_names_find(loops, n->text, strlen(n->text)) != FS_NONE) {
      value[1] = item;
      value[0] = FS_NONE;
    }
  }
  bool loop = value[0] == FS_NONE;
  uint32_t before;
  if (!fs_read_reference(r, value[loop], loop ? "loop" : "op", loop ? FS_KIND_LOOP : FS_KIND_OP,
                         &before)) {
    return FSCHED_OK;
  }
  fs_read_locate(r, item);
  return fs_read_go_on(loop ? fsched_builder_after_loop(r->b, op, before, distance)
                            : fsched_builder_after_at(r->b, op, before, distance));
}

fs_status fs_read_after(fs_op_reader *o) {
  for (size_t i = 0; i < o->after.n; i++) {
    uint32_t item;
    if (!fs_read_list(o->r, o->after.at[i].node, "'after'", &item)) {
      continue;
    }
    for (; item != FS_NONE; item = fs_read_node(o->r, item)->next) {
      FS_TRY(read_one_after(o->r, o->after.at[i].op, item));
    }
  }
  return FSCHED_OK;
}
