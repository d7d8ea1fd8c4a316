/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of a graph file, once its buffers are known (buffers.c).  `after` may name later ops and is
 * handed over last. */
#include <stdio.h>

#include "base/text/hex.h"
#include "front/graph_file/private.h"

/* Reports amounts that are no mapping; a name alone, or a list of one, gets the form to write. */
static void no_amounts(fs_reader *r, uint32_t node, bool scratch) {
  const fs_node *n = fs_read_node(r, node);
  const fs_node *one =
      n->kind == FS_NODE_SEQUENCE && n->n_children == 1 ? fs_read_node(r, n->child) : n;
  char hint[100];
  if (one->kind == FS_NODE_SCALAR && one->text[strspn(one->text, "0123456789")] == '\0') {
    (void)snprintf(hint, sizeof hint, "write {%s: %.60s}", scratch ? "MEMORY" : "RESOURCE",
                   one->text);
  } else {
    (void)snprintf(hint, sizeof hint, "write {%.60s: %s}",
                   one->kind == FS_NODE_SCALAR ? one->text : "", scratch ? "BYTES" : "AMOUNT");
  }
  bool named = one->kind == FS_NODE_SCALAR && one->text[0] != '\0';
  fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, named ? hint : NULL,
               "'%s' must be a mapping from %s to amounts", scratch ? "scratch" : "uses",
               scratch ? "memories" : "resources");
}

/* Hands every pair of a mapping from names to amounts to the builder. */
static fs_status read_amounts(fs_reader *r, uint32_t op, uint32_t node, bool scratch) {
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_MAPPING) {
    no_amounts(r, node, scratch);
    return FSCHED_OK;
  }
  for (uint32_t key = n->child; key != FS_NONE;) {
    uint32_t value = fs_read_node(r, key)->next;
    uint32_t id;
    uint64_t amount;
    bool ok = fs_read_reference(r, key, scratch ? "memory" : "resource",
                                scratch ? FS_KIND_MEMORY : FS_KIND_RESOURCE, &id);
    char what[120];
    (void)snprintf(what, sizeof what, "%s of '%.80s'", scratch ? "the scratch" : "the amount",
                   fs_read_node(r, key)->text);
    ok &= scratch ? fs_read_size(r, value, what, &amount)
                  : fs_read_number(r, value, what, 0, FSCHED_MAX_TIME, &amount);
    if (ok) {
      fs_read_locate(r, key);
      FS_TRY(fs_read_go_on(scratch ? fsched_builder_scratch(r->b, op, id, amount)
                                   : fsched_builder_use(r->b, op, id, amount)));
    }
    key = fs_read_node(r, value)->next;
  }
  return FSCHED_OK;
}

static fs_status read_inplace(fs_reader *r, uint32_t op, uint32_t node) {
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_MAPPING) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL,
                 "'inplace' must be a mapping from outputs to inputs");
    return FSCHED_OK;
  }
  for (uint32_t key = n->child; key != FS_NONE;) {
    uint32_t value = fs_read_node(r, key)->next;
    uint32_t out;
    uint32_t in;
    bool ok = fs_read_reference(r, key, "buffer", FS_KIND_BUFFER, &out);
    ok &= fs_read_reference(r, value, "buffer", FS_KIND_BUFFER, &in);
    if (ok) {
      fs_read_locate(r, key);
      FS_TRY(fs_read_go_on(fsched_builder_inplace(r->b, op, out, in)));
    }
    key = fs_read_node(r, value)->next;
  }
  return FSCHED_OK;
}

/* Reads [x, y, z]; a list of fewer numbers leaves the rest at 1. */
static void read_extent(fs_reader *r, uint32_t node, const char *what, uint32_t *extent) {
  uint32_t item;
  if (node == FS_NONE || !fs_read_list(r, node, what, &item)) {
    return;
  }
  for (int i = 0; item != FS_NONE; i++, item = fs_read_node(r, item)->next) {
    uint64_t value;
    if (i == 3) {
      fs_read_fail(r, FS_DIAG_WRONG_TYPE, item, NULL, "%s has at most three numbers", what);
      return;
    }
    if (fs_read_number(r, item, what, 1, INT32_MAX, &value)) {
      extent[i] = (uint32_t)value;
    }
  }
}

enum {
  KERNEL_BUILTIN,
  KERNEL_MODULE,
  KERNEL_FUNCTION,
  KERNEL_GRID,
  KERNEL_BLOCK,
  KERNEL_SHARED,
  KERNEL_PARAMS,
  KERNEL_KEYS
};

/* Reads a block of parameters, for which there is room. */
static bool read_params(fs_reader *r, uint32_t node, uint8_t *bytes, fsched_kernel_desc *d) {
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_SCALAR || !fs_hex_valid(n->text, FSCHED_MAX_PARAMS, true)) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, "two hexadecimal digits for each byte, as 0a000000",
                 "'params' must be up to %d bytes in hexadecimal digits", FSCHED_MAX_PARAMS);
    return false;
  }
  fs_hex_decode(n->text, bytes);
  d->params = bytes;
  d->n_params = fs_hex_bytes(n->text);
  return true;
}

static fs_status read_kernel(fs_reader *r, uint32_t op, uint32_t node) {
  static const fs_key keys[] = {{"builtin", false}, {"module", false}, {"function", false},
                                {"grid", false},    {"block", false},  {"shared", false},
                                {"params", false}};
  uint32_t value[KERNEL_KEYS];
  const fs_node *n = node == FS_NONE ? NULL : fs_read_node(r, node);
  if (n != NULL && n->kind == FS_NODE_SCALAR && n->text[0] != '\0') {
    char hint[100];
    (void)snprintf(hint, sizeof hint, "write {builtin: %.40s}, or {module: FILE, function: NAME}",
                   n->text);
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, hint, "a kernel must be a mapping, not '%.60s'",
                 n->text);
    return FSCHED_OK;
  }
  if (node == FS_NONE || !fs_read_keys(r, node, "a kernel", keys, KERNEL_KEYS, value)) {
    return FSCHED_OK;
  }
  fsched_kernel_desc d = {.size = sizeof d};
  const char **text[] = {&d.builtin, &d.module, &d.function};
  bool named = false;
  for (int i = 0; i < 3; i++) {
    if (value[i] != FS_NONE) {
      named |= !fs_read_name(r, value[i], "a part of a kernel", text[i]);
    }
  }
  read_extent(r, value[KERNEL_GRID], "'grid'", d.grid);
  read_extent(r, value[KERNEL_BLOCK], "'block'", d.block);
  if (value[KERNEL_SHARED] != FS_NONE) {
    (void)fs_read_size(r, value[KERNEL_SHARED], "'shared'", &d.shared_bytes);
  }
  uint8_t params[FSCHED_MAX_PARAMS];
  if (value[KERNEL_PARAMS] != FS_NONE && !read_params(r, value[KERNEL_PARAMS], params, &d)) {
    return FSCHED_OK;
  }
  if (named) { /* a bad name was reported */
    return FSCHED_OK;
  }
  bool module = value[KERNEL_MODULE] != FS_NONE && value[KERNEL_FUNCTION] != FS_NONE;
  bool part = value[KERNEL_MODULE] != FS_NONE || value[KERNEL_FUNCTION] != FS_NONE;
  if ((value[KERNEL_BUILTIN] != FS_NONE) == part || (part && !module)) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL,
                 "a kernel has either a 'builtin', or a 'module' and a 'function'");
    return FSCHED_OK;
  }
  fs_read_locate(r, value[KERNEL_BUILTIN] != FS_NONE ? value[KERNEL_BUILTIN] : node);
  return fs_read_go_on(fsched_builder_kernel(r->b, op, &d));
}

enum {
  OP_NAME,
  OP_ON,
  OP_TIME,
  OP_LATENCY,
  OP_AFTER,
  OP_START,
  OP_ARGS,
  OP_MEMBERS,
  OP_USES,
  OP_SCRATCH,
  OP_INPLACE,
  OP_KERNEL,
  OP_SIZE,
  OP_SLOTS,
  OP_KEYS
};
static const fs_key op_keys[] = {{"name", false},    {"on", false},      {"time", false},
                                 {"latency", false}, {"after", false},   {"start", false},
                                 {"args", false},    {"members", false}, {"uses", false},
                                 {"scratch", false}, {"inplace", false}, {"kernel", false},
                                 {"size", false},    {"slots", false}};

/* Reports a gang's member that is not a queue; for a class, the hint lists its queues. */
static void no_member(fs_reader *r, uint32_t item, const char *name) {
  enum { SHOWN = 8 };
  char list[160] = "";
  size_t n = 0, used = 0;
  uint32_t class_id = fs_names_find(fs_builder_names(r->b, FS_KIND_CLASS), name, strlen(name));
  const fs_names *queues = fs_builder_names(r->b, FS_KIND_QUEUE);
  for (uint32_t q = 0; class_id != FS_NONE && q < fs_names_count(queues); q++) {
    if (fs_builder_class_of(r->b, q) == class_id && n++ < SHOWN && used < sizeof list) {
      used += (size_t)snprintf(list + used, sizeof list - used, "%s %.40s", n == 1 ? "" : ",",
                               queues->text.at[q]);
    }
  }
  if (class_id == FS_NONE) {
    fs_read_unknown(r, item, "queue", FS_KIND_QUEUE, name);
    return;
  }
  char hint[240];
  (void)snprintf(hint, sizeof hint, "that is a class; its queues are%s%s", list,
                 n > SHOWN ? ", ..." : "");
  fs_read_fail(r, FS_DIAG_UNKNOWN_NAME, item, hint, "there is no queue '%.80s'", name);
}

/* Where a gang has a fault that is reported: any class will do. */
static void run_anywhere(fs_reader *r, fsched_op_desc *d) {
  const fs_names *classes = fs_builder_names(r->b, FS_KIND_CLASS);
  d->on = fs_names_count(classes) > 0 ? classes->text.at[0] : NULL;
}

/* Reads a list of queues.  Repeated names are reported here, at their token, and left out. */
static fs_status read_gang(fs_op_reader *o, uint32_t node, fsched_op_desc *d) {
  enum { LOOKED_AT = 256 };
  fs_reader *r = o->r;
  o->gang.n = 0;
  for (uint32_t item = fs_read_node(r, node)->child; item != FS_NONE;
       item = fs_read_node(r, item)->next) {
    const char *name;
    if (!fs_read_name(r, item, "a gang's member", &name)) {
      continue;
    }
    bool repeated = false;
    for (size_t i = 0; i < o->gang.n && i < LOOKED_AT; i++) { /* the builder finds the rest */
      repeated |= strcmp(o->gang.at[i], name) == 0;
    }
    if (repeated) {
      fs_read_fail(r, FS_DIAG_REPEATED_QUEUE, item, NULL, "the gang names queue '%.80s' twice",
                   name);
      continue;
    }
    const fs_names *queues = fs_builder_names(r->b, FS_KIND_QUEUE);
    if (fs_names_count(queues) > 0 && fs_names_find(queues, name, strlen(name)) == FS_NONE) {
      no_member(r, item, name);
      continue;
    }
    FS_TRY(fs_vec_push(r->ctx, &o->gang, name));
  }
  if (fs_read_node(r, node)->child == FS_NONE) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL, "a gang needs at least one queue");
  }
  if (o->gang.n > 0) {
    d->gang = o->gang.at;
    d->n_gang = (uint32_t)o->gang.n;
  } else {
    run_anywhere(r, d);
  }
  return FSCHED_OK;
}

static uint32_t queues_of_class(fs_reader *r, const char *name) {
  uint32_t class_id = fs_names_find(fs_builder_names(r->b, FS_KIND_CLASS), name, strlen(name));
  uint32_t n = 0;
  for (uint32_t q = 0; q < fs_names_count(fs_builder_names(r->b, FS_KIND_QUEUE)); q++) {
    n += class_id != FS_NONE && fs_builder_class_of(r->b, q) == class_id;
  }
  return n;
}

/* Reads {class: C, count: N}: any N queues of the class. */
static void read_class_gang(fs_reader *r, uint32_t node, fsched_op_desc *d) {
  static const fs_key keys[] = {{"class", false}, {"count", false}};
  uint32_t value[2];
  uint64_t count;
  const char *name;
  run_anywhere(r, d);
  if (!fs_read_keys(r, node, "a gang", keys, 2, value)) {
    return;
  }
  if (value[0] == FS_NONE || value[1] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "a gang needs a 'class' and a 'count'");
    return;
  }
  if (!fs_read_name(r, value[0], "'class'", &name) ||
      !fs_read_number(r, value[1], "'count'", 1, UINT32_MAX - 1, &count)) {
    return;
  }
  uint32_t n = queues_of_class(r, name);
  bool given = fs_names_count(fs_builder_names(r->b, FS_KIND_QUEUE)) > 0;
  if (given && n == 0) {
    fs_read_unknown(r, value[0], "class", FS_KIND_CLASS, name);
  } else if (given && count > n && !fs_builder_lost(r->b, FS_KIND_QUEUE)) {
    fs_read_fail(r, FS_DIAG_OUT_OF_RANGE, value[1], NULL,
                 "'count' is %llu, and class '%.80s' has %u queue%s", (unsigned long long)count,
                 name, n, n == 1 ? "" : "s");
  } else {
    d->gang_class = name;
    d->gang_count = (uint32_t)count;
  }
}

/* A latency is at least the op's time, which has been read. */
static void read_latency(fs_reader *r, uint32_t node, fsched_op_desc *d) {
  uint64_t latency;
  if (!fs_read_number(r, node, "'latency'", 0, FSCHED_MAX_TIME, &latency)) {
    return;
  }
  if (latency < d->time) {
    fs_read_fail(r, FS_DIAG_OUT_OF_RANGE, node,
                 "'time' says how long the op keeps its queue, 'latency' when its result is there",
                 "'latency' is %llu, less than the op's 'time' of %llu",
                 (unsigned long long)latency, (unsigned long long)d->time);
    return;
  }
  d->latency = latency;
}

/* Counts the members that have args of their own; 0 if that was reported to be impossible.  They
 * need a gang without faults. */
static uint32_t count_members(fs_reader *r, const uint32_t *value, const fsched_op_desc *d,
                              bool gang) {
  uint32_t node = value[OP_MEMBERS], item;
  if (!fs_read_list(r, node, "'members'", &item)) {
    return 0;
  }
  if (value[OP_ARGS] != FS_NONE || value[OP_SIZE] != FS_NONE) {
    fs_read_fail(r, FS_DIAG_BAD_MEMBERS, node, "each member has 'args' of its own",
                 "an op with 'members' has no '%s'", value[OP_ARGS] != FS_NONE ? "args" : "size");
    return 0;
  }
  if (item == FS_NONE) {
    fs_read_fail(r, FS_DIAG_BAD_MEMBERS, node, NULL, "'members' has no member");
    return 0;
  }
  if (value[OP_ON] == FS_NONE || (gang && d->gang == NULL && d->gang_class == NULL)) {
    if (value[OP_ON] == FS_NONE) {
      fs_read_fail(r, FS_DIAG_BAD_MEMBERS, node, "give it 'on: [queue, ...]'",
                   "only a gang has 'members'");
    }
    return 0;
  }
  fs_builder_locate_part(r->b, FS_PART_MEMBERS, fs_node_pos(r->doc, node));
  return fs_read_node(r, node)->n_children;
}

static fs_status read_op_head(fs_op_reader *o, uint32_t node, uint32_t *value, uint32_t *op) {
  fs_reader *r = o->r;
  fsched_op_desc d = {.size = sizeof d, .has_time = 1, .time = 1};
  *op = FS_NONE;
  uint32_t errors = fsched_diag_errors(r->ctx);
  if (!fs_read_keys(r, node, "an op", op_keys, OP_KEYS, value)) {
    fs_builder_lose(r->b, FS_KIND_OP);
    return FSCHED_OK;
  }
  if (fsched_diag_errors(r->ctx) != errors) { /* the misspelt key may be 'args' or 'size' */
    fs_builder_lose(r->b, FS_KIND_BUFFER);
  }
  if (value[OP_NAME] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, node, NULL, "an op needs a 'name'");
  }
  if (value[OP_NAME] == FS_NONE || !fs_read_name(r, value[OP_NAME], "an op's name", &d.name)) {
    fs_builder_lose(r->b, FS_KIND_OP);
    return FSCHED_OK;
  }
  fs_read_locate(r, value[OP_NAME]);
  if (value[OP_TIME] != FS_NONE) {
    (void)fs_read_number(r, value[OP_TIME], "'time'", 0, FSCHED_MAX_TIME, &d.time);
  }
  if (value[OP_LATENCY] != FS_NONE) {
    read_latency(r, value[OP_LATENCY], &d);
  }
  if (value[OP_START] != FS_NONE) {
    d.has_start = fs_read_number(r, value[OP_START], "'start'", 0, FSCHED_MAX_TIME, &d.start);
  }
  uint64_t slots;
  if (value[OP_SLOTS] != FS_NONE &&
      fs_read_number(r, value[OP_SLOTS], "'slots'", 1, INT32_MAX, &slots)) {
    d.slots = (uint32_t)slots;
  }
  bool gang = false;
  errors = fsched_diag_errors(r->ctx);
  if (value[OP_ON] != FS_NONE) {
    gang = fs_read_node(r, value[OP_ON])->kind != FS_NODE_SCALAR;
    fs_builder_locate_part(r->b, FS_PART_ON, fs_node_pos(r->doc, value[OP_ON]));
    if (fs_read_node(r, value[OP_ON])->kind == FS_NODE_SEQUENCE) {
      FS_TRY(read_gang(o, value[OP_ON], &d));
    } else if (fs_read_node(r, value[OP_ON])->kind == FS_NODE_MAPPING) {
      read_class_gang(r, value[OP_ON], &d);
    } else {
      (void)fs_read_name(r, value[OP_ON], "'on'", &d.on);
    }
  }
  if (value[OP_MEMBERS] != FS_NONE) {
    bool faults = gang && fsched_diag_errors(r->ctx) != errors;
    d.members = faults ? 0 : count_members(r, value, &d, gang);
    if (d.members == 0) { /* what they write is not known */
      value[OP_MEMBERS] = FS_NONE;
      fs_builder_incomplete(r->b);
    }
  }
  return fs_read_go_on(fsched_builder_op(r->b, &d, op));
}

/* Reads the args of each member: a list of {args: [...]}. */
static fs_status read_members(fs_reader *r, uint32_t op, uint32_t node) {
  static const fs_key keys[] = {{"args", false}};
  uint32_t member = 0;
  for (uint32_t item = fs_read_node(r, node)->child; item != FS_NONE;
       item = fs_read_node(r, item)->next, member++) {
    uint32_t args;
    if (!fs_read_keys(r, item, "a member", keys, 1, &args)) {
      fs_builder_incomplete(r->b);
    } else {
      FS_TRY(fs_read_member_args(r, op, member, args));
    }
  }
  return FSCHED_OK;
}

static fs_status read_op(fs_op_reader *o, uint32_t node) {
  fs_reader *r = o->r;
  uint32_t value[OP_KEYS];
  uint32_t op;
  FS_TRY(read_op_head(o, node, value, &op));
  if (op == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(value[OP_MEMBERS] != FS_NONE
             ? read_members(r, op, value[OP_MEMBERS])
             : fs_read_args(r, op, value[OP_ARGS], value[OP_SIZE], value[OP_NAME]));
  FS_TRY(read_amounts(r, op, value[OP_USES], false));
  FS_TRY(read_amounts(r, op, value[OP_SCRATCH], true));
  FS_TRY(read_inplace(r, op, value[OP_INPLACE]));
  if (value[OP_KERNEL] != FS_NONE) {
    FS_TRY(read_kernel(r, op, value[OP_KERNEL]));
  }
  if (value[OP_AFTER] != FS_NONE) {
    return fs_vec_push(r->ctx, &o->after, ((fs_pending_after){op, value[OP_AFTER]}));
  }
  return FSCHED_OK;
}

fs_status fs_read_items(fs_op_reader *o, uint32_t node, const char *what) {
  fs_reader *r = o->r;
  uint32_t item;
  if (!fs_read_list(r, node, what, &item)) {
    fs_builder_lose(r->b, FS_KIND_OP);
  }
  for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
    FS_TRY(fs_read_is_loop(r, item) ? fs_read_loop(o, item) : read_op(o, item));
  }
  return FSCHED_OK;
}

static fs_status read_all_ops(fs_op_reader *o, uint32_t ops, uint32_t loops) {
  if (ops != FS_NONE) {
    FS_TRY(fs_read_items(o, ops, "'ops'"));
  }
  if (loops != FS_NONE) {
    FS_TRY(fs_read_items(o, loops, "'loops'"));
  }
  return fs_read_after(o);
}

fs_status fs_read_ops(fs_reader *r, uint32_t ops, uint32_t loops) {
  fs_op_reader o = {.r = r};
  fs_status status = read_all_ops(&o, ops, loops);
  fs_vec_free(r->ctx, &o.after);
  fs_vec_free(r->ctx, &o.gang);
  return status;
}
