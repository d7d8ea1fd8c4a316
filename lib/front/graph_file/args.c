/* SPDX-License-Identifier: Apache-2.0 */
/* Args of the ops of a graph file. */
#include "base/text/size_text.h"
#include "front/graph_file/private.h"

/* The keys of an arg: its tag, then the others. */
enum { ARG_SIZE = FS_N_TAGS, ARG_MEMORY, ARG_AT, ARG_DISTANCE, ARG_KEYS };

/* Reads a size of either sign. */
static bool read_step(fs_reader *r, uint32_t node, int64_t *step) {
  const fs_node *n = fs_read_node(r, node);
  bool minus = n->kind == FS_NODE_SCALAR && n->text[0] == '-';
  uint64_t size;
  if (n->kind == FS_NODE_SCALAR && fs_size_parse(n->text + minus, FSCHED_MAX_SIZE, &size)) {
    *step = minus ? -(int64_t)size : (int64_t)size;
    return true;
  }
  fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, "bytes, also with a unit, as 64KiB or -64KiB",
               "a step must be a size of either sign");
  return false;
}

/* What an arg's arrays point to. */
typedef struct arg_room {
  int64_t step[FSCHED_MAX_LOOPS];
  uint64_t shape[FSCHED_MAX_DIMS], strides[FSCHED_MAX_DIMS];
} arg_room;

/* Reads a list of numbers, one for each dimension, of which there are FSCHED_MAX_DIMS at most. */
static bool read_dims(fs_reader *r, uint32_t node, const char *what, uint64_t *dim, uint32_t *n) {
  uint32_t item;
  bool ok = true;
  *n = 0;
  if (!fs_read_list(r, node, what, &item)) {
    return false;
  }
  for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
    if (*n == FSCHED_MAX_DIMS) {
      fs_read_fail(r, FS_DIAG_BAD_VIEW, item, NULL, "a view has at most %d dimensions",
                   FSCHED_MAX_DIMS);
      return false;
    }
    ok = fs_read_size(r, item, what, &dim[(*n)++]) && ok;
  }
  if (*n == 0) {
    fs_read_fail(r, FS_DIAG_BAD_VIEW, node, NULL, "%s has no number", what);
  }
  return ok && *n > 0;
}

/* Reads `shape`, `strides` and `element`, each of which may be missing. */
static bool read_view(fs_reader *r, const uint32_t *value, fsched_arg_desc *d, arg_room *room) {
  uint32_t n;
  if (value[0] == FS_NONE) {
    uint32_t other = value[1] != FS_NONE ? value[1] : value[2];
    fs_read_fail(r, FS_DIAG_MISSING_KEY, other, "give the 'shape', too", "only a view has '%s'",
                 value[1] != FS_NONE ? "strides" : "element");
    return false;
  }
  bool ok = read_dims(r, value[0], "'shape'", room->shape, &d->n_dims);
  d->shape = room->shape;
  if (value[1] != FS_NONE) {
    d->strides = room->strides;
    ok = read_dims(r, value[1], "'strides'", room->strides, &n) && ok;
    if (ok && n != d->n_dims) {
      fs_read_fail(r, FS_DIAG_BAD_VIEW, value[1], "'strides' has one number for each dimension",
                   "'shape' has %u, 'strides' %u", d->n_dims, n);
      return false;
    }
  }
  if (value[2] != FS_NONE) {
    ok = fs_read_size(r, value[2], "'element'", &d->element) && ok;
    if (ok && d->element == 0) {
      fs_read_fail(r, FS_DIAG_BAD_VIEW, value[2], NULL, "an element has at least one byte");
      return false;
    }
  }
  return ok;
}

/* Reads {offset, length, step: [...]}, or {offset, shape, strides, element, step}. */
static bool read_moving(fs_reader *r, uint32_t node, fsched_arg_desc *d, arg_room *room) {
  static const fs_key keys[] = {{"offset", false}, {"length", false},  {"step", false},
                                {"shape", false},  {"strides", false}, {"element", false}};
  uint32_t value[6];
  int64_t *step = room->step;
  if (!fs_read_keys(r, node, "'at'", keys, 6, value)) {
    return false;
  }
  bool view = value[3] != FS_NONE || value[4] != FS_NONE || value[5] != FS_NONE;
  if ((value[1] == FS_NONE) == !view) {
    fs_read_fail(
        r, FS_DIAG_MISSING_KEY, node, NULL,
        view ? "a view has a 'shape' and no 'length'" : "'at' needs a 'length' or a 'shape'");
    return false;
  }
  bool ok = value[0] == FS_NONE || fs_read_size(r, value[0], "the offset", &d->offset);
  ok = (view ? read_view(r, value + 3, d, room)
             : fs_read_size(r, value[1], "the length", &d->length)) &&
       ok;
  d->step = step;
  uint32_t item = value[2];
  if (item != FS_NONE && fs_read_node(r, item)->kind == FS_NODE_SCALAR) { /* of one loop */
    d->n_steps = 1;
    return read_step(r, item, step) && ok;
  }
  if (item != FS_NONE && !fs_read_list(r, value[2], "'step'", &item)) {
    return false;
  }
  if (value[2] != FS_NONE && item == FS_NONE) {
    fs_read_fail(r, FS_DIAG_BAD_LOOP, value[2], NULL, "'step' has no number");
    return false;
  }
  for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
    if (d->n_steps == FSCHED_MAX_LOOPS) {
      fs_read_fail(r, FS_DIAG_BAD_LOOP, item, NULL, "there are at most %d steps", FSCHED_MAX_LOOPS);
      return false;
    }
    ok = read_step(r, item, &step[d->n_steps++]) && ok;
  }
  return ok;
}

static bool read_at(fs_reader *r, uint32_t node, fsched_arg_desc *d, arg_room *room) {
  const fs_node *n = fs_read_node(r, node);
  if (n->kind == FS_NODE_MAPPING) {
    d->has_at = 1;
    return read_moving(r, node, d, room);
  }
  if (n->kind != FS_NODE_SEQUENCE || n->n_children != 2) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL,
                 "'at' must be [offset, length], {offset, length, step}, or "
                 "{offset, shape, strides, element, step}");
    return false;
  }
  d->has_at = 1;
  bool ok = fs_read_size(r, n->child, "the offset", &d->offset);
  return fs_read_size(r, fs_read_node(r, n->child)->next, "the length", &d->length) && ok;
}

#define TAG_KEY(id, word, ...) {word, false},
static const fs_key arg_keys[ARG_KEYS] = {
    FS_TAGS(TAG_KEY){"size", false}, {"memory", false}, {"at", false}, {"distance", false}};

/* Reads the tag, of which an arg has exactly one; false when the arg cannot be used. */
static bool read_tag(fs_reader *r, uint32_t node, const uint32_t *value, fsched_arg_desc *d) {
  unsigned tag = FS_N_TAGS;
  for (unsigned t = 0; t < FS_N_TAGS; t++) {
    if (value[t] != FS_NONE && tag != FS_N_TAGS) {
      fs_read_fail(r, FS_DIAG_WRONG_TYPE, value[t], NULL,
                   "an arg has one tag, this one has '%s' and '%s'", fs_words_tag[tag],
                   fs_words_tag[t]);
      return false;
    }
    tag = value[t] != FS_NONE ? t : tag;
  }
  if (tag == FS_N_TAGS) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL,
                 "an arg needs a tag: in, out, inout, out_existing, no_dep or value");
    return false;
  }
  d->tag = (fsched_tag)tag;
  if (fs_tag_names_buffer(tag)) {
    return fs_read_reference(r, value[tag], "buffer", FS_KIND_BUFFER, &d->buffer);
  }
  if (!fs_node_i64(r->doc, value[tag], &d->value)) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, value[tag], NULL,
                 "'value' must be a whole number of 64 bits");
    return false;
  }
  return true;
}

static fs_status read_arg(fs_reader *r, uint32_t op, uint32_t member, uint32_t node) {
  uint32_t value[ARG_KEYS];
  arg_room room;
  fsched_arg_desc d = {.size = sizeof d, .member = member};
  if (!fs_read_keys(r, node, "an arg", arg_keys, ARG_KEYS, value) ||
      !read_tag(r, node, value, &d)) {
    fs_builder_incomplete(r->b);
    return FSCHED_OK;
  }
  if (!fs_tag_names_buffer(d.tag)) {
    for (unsigned k = ARG_SIZE; k < ARG_KEYS; k++) {
      if (value[k] != FS_NONE) {
        fs_read_fail(r, FS_DIAG_WRONG_TYPE, value[k], NULL, "a value has no '%s'",
                     arg_keys[k].name);
      }
    }
    return fs_read_go_on(fsched_builder_arg(r->b, op, &d));
  }
  fs_read_locate(r, value[d.tag]);
  if (value[ARG_AT] != FS_NONE) {
    if (fs_tag_begins(d.tag)) {
      fs_read_fail(r, FS_DIAG_WRONG_TYPE, value[ARG_AT], "use 'out_existing' to write a part",
                   "'out' writes the whole buffer: it takes no 'at'");
    } else if (!read_at(r, value[ARG_AT], &d, &room)) {
      fs_builder_incomplete(r->b);
      return FSCHED_OK;
    } else {
      fs_read_locate(r, value[ARG_AT]);
    }
  }
  if (value[ARG_DISTANCE] != FS_NONE) {
    if (!fs_read_number(r, value[ARG_DISTANCE], "'distance'", 1, FSCHED_MAX_TIME, &d.distance)) {
      fs_builder_incomplete(r->b);
      return FSCHED_OK;
    }
    fs_read_locate(r, value[ARG_DISTANCE]);
  }
  return fs_read_go_on(fsched_builder_arg(r->b, op, &d));
}

/* Reads a list of args, which may be FS_NONE. */
static fs_status read_list(fs_reader *r, uint32_t op, uint32_t member, uint32_t args,
                           bool *has_out) {
  uint32_t item = FS_NONE;
  *has_out = false;
  if (args != FS_NONE && !fs_read_list(r, args, "'args'", &item)) {
    fs_builder_incomplete(r->b);
  }
  for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
    *has_out |= fs_node_get(r->doc, item, "out") != FS_NONE;
    FS_TRY(read_arg(r, op, member, item));
  }
  return FSCHED_OK;
}

fs_status fs_read_member_args(fs_reader *r, uint32_t op, uint32_t member, uint32_t args) {
  bool has_out;
  return read_list(r, op, member, args, &has_out);
}

fs_status fs_read_args(fs_reader *r, uint32_t op, uint32_t args, uint32_t size, uint32_t name) {
  bool has_out;
  FS_TRY(read_list(r, op, 0, args, &has_out));
  if (size == FS_NONE) {
    return FSCHED_OK;
  }
  if (has_out) {
    fs_read_fail(r, FS_DIAG_SIZE_CONFLICT, size, "give the size in the arg",
                 "an op with an 'out' has no 'size' of its own");
    return FSCHED_OK;
  }
  fsched_arg_desc d = {.size = sizeof d, .tag = FSCHED_OUT};
  const fs_node *n = fs_read_node(r, name);
  d.buffer = fs_names_find(fs_builder_names(r->b, FS_KIND_BUFFER), n->text, strlen(n->text));
  fs_read_locate(r, name);
  return fs_read_go_on(fsched_builder_arg(r->b, op, &d));
}
