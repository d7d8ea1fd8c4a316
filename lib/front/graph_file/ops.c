/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and ops of a graph file.
 *
 * Buffers may be declared by `buffers`, by any arg that gives a size or a memory or writes the
 * buffer anew, and by an op's own `size`; declarations of one buffer in several places are merged.
 * There are therefore two passes over the ops: the first only collects declarations, the second
 * hands everything to the builder.  `after` may name later ops and is handed over last. */
#include <stdio.h>

#include "front/graph_file/private.h"

/* The keys of an arg: its tag, then the others. */
enum { ARG_SIZE = FS_N_TAGS, ARG_MEMORY, ARG_AT, ARG_KEYS };

typedef struct decl {
  uint32_t name_node;
  uint32_t size_node, memory_node, io_node; /* FS_NONE: not given */
  uint64_t size;
  uint64_t most; /* the largest of the sizes given */
  bool bad;      /* its size has a fault, or may be what a misspelt key meant; reported */
} decl;

typedef struct declarations {
  fs_reader *r;
  fs_names names;
  FS_VEC(decl) decl;
} declarations;

static fs_status find_decl(declarations *d, uint32_t name_node, uint32_t *id, bool *added) {
  const fs_node *n = fs_read_node(d->r, name_node);
  FS_TRY(fs_names_intern(&d->names, n->text, strlen(n->text), id, added));
  if (!*added) {
    return FSCHED_OK;
  }
  decl fresh = {name_node, FS_NONE, FS_NONE, FS_NONE, 0, 0, false};
  return fs_vec_push(d->r->ctx, &d->decl, fresh);
}

static void say_size(declarations *d, uint32_t id, uint32_t node) {
  decl *x = &d->decl.at[id];
  uint64_t size = 0;
  if (!fs_read_size(d->r, node, "'size'", &size)) {
    x->bad = true;
  } else if (x->size_node == FS_NONE) {
    x->size_node = node;
    x->size = size;
  } else if (x->size != size) {
    fs_read_fail(d->r, FS_DIAG_SIZE_CONFLICT, node, NULL,
                 "buffer '%.80s' has size %llu here and %llu in line %u", d->names.text.at[id],
                 (unsigned long long)size, (unsigned long long)x->size,
                 fs_read_node(d->r, x->size_node)->line);
  }
  x->most = fs_max(x->most, size);
}

static void say_memory(declarations *d, uint32_t id, uint32_t node) {
  decl *x = &d->decl.at[id];
  const char *name;
  if (!fs_read_name(d->r, node, "'memory'", &name)) {
    return;
  }
  if (x->memory_node == FS_NONE) {
    x->memory_node = node;
  } else if (strcmp(fs_read_node(d->r, x->memory_node)->text, name) != 0) {
    fs_read_fail(d->r, FS_DIAG_SIZE_CONFLICT, node, NULL,
                 "buffer '%.80s' is in memory '%.40s' here and in '%.40s' in line %u",
                 d->names.text.at[id], name, fs_read_node(d->r, x->memory_node)->text,
                 fs_read_node(d->r, x->memory_node)->line);
  }
}

static fs_status declare_listed(declarations *d, uint32_t node) {
  static const fs_key keys[] = {{"name", false}, {"size", false}, {"memory", false}, {"io", false}};
  uint32_t value[4];
  const char *name;
  uint32_t errors = fsched_diag_errors(d->r->ctx);
  if (!fs_read_keys(d->r, node, "a buffer", keys, 4, value)) {
    fs_builder_lose(d->r->b, FS_KIND_BUFFER);
    return FSCHED_OK;
  }
  bool misspelt = fsched_diag_errors(d->r->ctx) != errors;
  if (value[0] == FS_NONE) {
    fs_read_fail(d->r, FS_DIAG_MISSING_KEY, node, NULL, "a buffer needs a 'name'");
  }
  if (value[0] == FS_NONE || !fs_read_name(d->r, value[0], "a buffer's name", &name)) {
    fs_builder_lose(d->r->b, FS_KIND_BUFFER);
    return FSCHED_OK;
  }
  uint32_t id;
  bool added;
  FS_TRY(find_decl(d, value[0], &id, &added));
  if (!added) {
    fs_read_fail(d->r, FS_DIAG_REPEATED_NAME, value[0], NULL, "there is already a buffer '%.80s'",
                 name);
    fs_builder_lose(d->r->b, FS_KIND_BUFFER); /* one of them may stand for another buffer */
    return FSCHED_OK;
  }
  if (value[1] != FS_NONE) {
    say_size(d, id, value[1]);
  } else {
    d->decl.at[id].bad = misspelt;
  }
  if (value[2] != FS_NONE) {
    say_memory(d, id, value[2]);
  }
  d->decl.at[id].io_node = value[3];
  return FSCHED_OK;
}

/* Finds the arg's tag and the values of its other keys.  Reports no faults, but sets `misspelt` for
 * a key that args do not have. */
static unsigned scan_arg(const fs_reader *r, uint32_t node, uint32_t *buffer, uint32_t *size,
                         uint32_t *memory, bool *misspelt) {
  unsigned tag = FS_N_TAGS;
  *buffer = *size = *memory = FS_NONE;
  *misspelt = false;
  if (fs_read_node(r, node)->kind != FS_NODE_MAPPING) {
    return tag;
  }
  for (uint32_t key = fs_read_node(r, node)->child; key != FS_NONE;) {
    const fs_node *k = fs_read_node(r, key);
    bool is_tag = false;
    for (unsigned t = 0; t < FS_N_TAGS; t++) {
      if (strcmp(k->text, fs_words_tag[t]) == 0) {
        tag = t;
        *buffer = k->next;
        is_tag = true;
      }
    }
    if (strcmp(k->text, "size") == 0) {
      *size = k->next;
    } else if (strcmp(k->text, "memory") == 0) {
      *memory = k->next;
    } else {
      *misspelt |= !is_tag && strcmp(k->text, "at") != 0;
    }
    key = fs_read_node(r, k->next)->next;
  }
  return tag;
}

static bool is_name(const fs_reader *r, uint32_t node) {
  const fs_node *n = fs_read_node(r, node);
  return n->kind == FS_NODE_SCALAR && n->text[0] != '\0';
}

static fs_status declare_arg(declarations *d, uint32_t node, bool *has_out) {
  uint32_t buffer;
  uint32_t size;
  uint32_t memory;
  bool misspelt;
  unsigned tag = scan_arg(d->r, node, &buffer, &size, &memory, &misspelt);
  *has_out |= fs_tag_begins(tag);
  if (!fs_tag_names_buffer(tag) || !is_name(d->r, buffer)) {
    return FSCHED_OK;
  }
  bool writes = fs_tag_writes_anew(tag);
  if (size == FS_NONE && memory == FS_NONE && !writes) {
    return FSCHED_OK;
  }
  uint32_t id;
  bool added;
  FS_TRY(find_decl(d, buffer, &id, &added));
  if (size != FS_NONE) {
    say_size(d, id, size);
  } else {
    d->decl.at[id].bad |= misspelt;
  }
  if (memory != FS_NONE) {
    say_memory(d, id, memory);
  }
  return FSCHED_OK;
}

static fs_status declare_op(declarations *d, uint32_t node) {
  uint32_t args = fs_node_get(d->r->doc, node, "args");
  uint32_t size = fs_node_get(d->r->doc, node, "size");
  uint32_t name = fs_node_get(d->r->doc, node, "name");
  bool has_out = false;
  if (args != FS_NONE && fs_read_node(d->r, args)->kind == FS_NODE_SEQUENCE) {
    for (uint32_t arg = fs_read_node(d->r, args)->child; arg != FS_NONE;
         arg = fs_read_node(d->r, arg)->next) {
      FS_TRY(declare_arg(d, arg, &has_out));
    }
  }
  if (size == FS_NONE || has_out || name == FS_NONE || !is_name(d->r, name)) {
    return FSCHED_OK;
  }
  uint32_t id;
  bool added;
  FS_TRY(find_decl(d, name, &id, &added));
  say_size(d, id, size);
  return FSCHED_OK;
}

static fs_status build_buffer(declarations *d, uint32_t id) {
  fs_reader *r = d->r;
  const decl *x = &d->decl.at[id];
  fsched_buffer_desc desc = {.size = sizeof desc, .name = d->names.text.at[id], .bytes = x->most};
  uint32_t memory = FS_NONE;
  bool sized = x->size_node != FS_NONE && !x->bad;
  if (!sized) {
    desc.bytes = FSCHED_MAX_SIZE; /* so that every range is inside */
    fs_builder_incomplete(r->b);
  }
  if (!sized && !x->bad && !fs_builder_lost(r->b, FS_KIND_BUFFER)) {
    fs_read_fail(r, FS_DIAG_SIZE_MISSING, x->name_node, "add a 'size', here or where it is written",
                 "nothing says how large buffer '%.80s' is", desc.name);
  }
  if (x->memory_node != FS_NONE) {
    (void)fs_read_reference(r, x->memory_node, "memory", FS_KIND_MEMORY, &memory);
  }
  uint32_t index;
  if (x->io_node != FS_NONE && fs_read_choice(r, x->io_node, "'io'", fs_words_io + FS_IO_SAID,
                                              FS_N_IOS - FS_IO_SAID, &index)) {
    desc.io = (fsched_io)(FS_IO_SAID + index);
  } else if (x->io_node != FS_NONE) {
    fs_builder_incomplete(r->b); /* the buffer may be one with given content */
  }
  fs_read_locate(r, x->name_node);
  return fs_read_go_on(fs_builder_add_buffer(r->b, &desc, memory, NULL));
}

static fs_status declare_all(declarations *d, uint32_t buffers, uint32_t ops) {
  uint32_t item;
  if (buffers != FS_NONE && !fs_read_list(d->r, buffers, "'buffers'", &item)) {
    fs_builder_lose(d->r->b, FS_KIND_BUFFER);
  } else if (buffers != FS_NONE) {
    for (; item != FS_NONE; item = fs_read_node(d->r, item)->next) {
      FS_TRY(declare_listed(d, item));
    }
  }
  if (ops != FS_NONE && fs_read_node(d->r, ops)->kind == FS_NODE_SEQUENCE) {
    for (item = fs_read_node(d->r, ops)->child; item != FS_NONE;
         item = fs_read_node(d->r, item)->next) {
      FS_TRY(declare_op(d, item));
    }
  }
  for (uint32_t id = 0; id < d->decl.n; id++) {
    FS_TRY(build_buffer(d, id));
  }
  return FSCHED_OK;
}

fs_status fs_read_buffers(fs_reader *r, uint32_t buffers, uint32_t ops) {
  declarations d = {.r = r};
  fs_names_init(&d.names, r->arena);
  fs_status status = declare_all(&d, buffers, ops);
  fs_vec_free(r->ctx, &d.decl);
  fs_names_free(&d.names);
  return status;
}

static bool read_at(fs_reader *r, uint32_t node, fsched_arg_desc *d) {
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_SEQUENCE || n->n_children != 2) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL, "'at' must be [offset, length]");
    return false;
  }
  d->has_at = 1;
  bool ok = fs_read_size(r, n->child, "the offset", &d->offset);
  return fs_read_size(r, fs_read_node(r, n->child)->next, "the length", &d->length) && ok;
}

#define TAG_KEY(id, word, ...) {word, false},
static const fs_key arg_keys[ARG_KEYS] = {
    FS_TAGS(TAG_KEY){"size", false}, {"memory", false}, {"at", false}};

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

static fs_status read_arg(fs_reader *r, uint32_t op, uint32_t node) {
  uint32_t value[ARG_KEYS];
  fsched_arg_desc d = {.size = sizeof d};
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
    } else if (!read_at(r, value[ARG_AT], &d)) {
      fs_builder_incomplete(r->b);
      return FSCHED_OK;
    } else {
      fs_read_locate(r, value[ARG_AT]);
    }
  }
  return fs_read_go_on(fsched_builder_arg(r->b, op, &d));
}

static fs_status read_args(fs_reader *r, uint32_t op, uint32_t args, uint32_t size, uint32_t name) {
  uint32_t item = FS_NONE;
  bool has_out = false;
  if (args != FS_NONE && !fs_read_list(r, args, "'args'", &item)) {
    fs_builder_incomplete(r->b);
  }
  for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
    has_out |= fs_node_get(r->doc, item, "out") != FS_NONE;
    FS_TRY(read_arg(r, op, item));
  }
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
  KERNEL_KEYS
};

static fs_status read_kernel(fs_reader *r, uint32_t op, uint32_t node) {
  static const fs_key keys[] = {{"builtin", false}, {"module", false}, {"function", false},
                                {"grid", false},    {"block", false},  {"shared", false}};
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

typedef struct pending_after {
  uint32_t op, node;
} pending_after;

typedef struct op_reader {
  fs_reader *r;
  FS_VEC(pending_after) after;
  FS_VEC(const char *) gang;
} op_reader;

enum {
  OP_NAME,
  OP_ON,
  OP_TIME,
  OP_AFTER,
  OP_START,
  OP_ARGS,
  OP_USES,
  OP_SCRATCH,
  OP_INPLACE,
  OP_KERNEL,
  OP_SIZE,
  OP_SLOTS,
  OP_LATENCY,
  OP_KEYS
};
static const fs_key op_keys[] = {
    {"name", false}, {"on", false},    {"time", false},    {"after", false},   {"start", false},
    {"args", false}, {"uses", false},  {"scratch", false}, {"inplace", false}, {"kernel", false},
    {"size", false}, {"slots", false}, {"latency", true}};

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

/* Reads a list of queues.  Repeated names are reported here, at their token, and left out. */
static fs_status read_gang(op_reader *o, uint32_t node, fsched_op_desc *d) {
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
  } else { /* any class will do: the error is reported already */
    const fs_names *classes = fs_builder_names(r->b, FS_KIND_CLASS);
    d->on = fs_names_count(classes) > 0 ? classes->text.at[0] : NULL;
  }
  return FSCHED_OK;
}

static fs_status read_op_head(op_reader *o, uint32_t node, uint32_t *value, uint32_t *op) {
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
  if (value[OP_START] != FS_NONE) {
    d.has_start = fs_read_number(r, value[OP_START], "'start'", 0, FSCHED_MAX_TIME, &d.start);
  }
  uint64_t slots;
  if (value[OP_SLOTS] != FS_NONE &&
      fs_read_number(r, value[OP_SLOTS], "'slots'", 1, INT32_MAX, &slots)) {
    d.slots = (uint32_t)slots;
  }
  if (value[OP_ON] != FS_NONE) {
    fs_builder_locate_part(r->b, FS_PART_ON, fs_node_pos(r->doc, value[OP_ON]));
    if (fs_read_node(r, value[OP_ON])->kind == FS_NODE_SEQUENCE) {
      FS_TRY(read_gang(o, value[OP_ON], &d));
    } else {
      (void)fs_read_name(r, value[OP_ON], "'on'", &d.on);
    }
  }
  return fs_read_go_on(fsched_builder_op(r->b, &d, op));
}

static fs_status read_op(op_reader *o, uint32_t node) {
  fs_reader *r = o->r;
  uint32_t value[OP_KEYS];
  uint32_t op;
  FS_TRY(read_op_head(o, node, value, &op));
  if (op == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(read_args(r, op, value[OP_ARGS], value[OP_SIZE], value[OP_NAME]));
  FS_TRY(read_amounts(r, op, value[OP_USES], false));
  FS_TRY(read_amounts(r, op, value[OP_SCRATCH], true));
  FS_TRY(read_inplace(r, op, value[OP_INPLACE]));
  if (value[OP_KERNEL] != FS_NONE) {
    FS_TRY(read_kernel(r, op, value[OP_KERNEL]));
  }
  if (value[OP_AFTER] != FS_NONE) {
    return fs_vec_push(r->ctx, &o->after, ((pending_after){op, value[OP_AFTER]}));
  }
  return FSCHED_OK;
}

static fs_status read_after(op_reader *o) {
  fs_reader *r = o->r;
  for (size_t i = 0; i < o->after.n; i++) {
    uint32_t item;
    if (!fs_read_list(r, o->after.at[i].node, "'after'", &item)) {
      continue;
    }
    for (; item != FS_NONE; item = fs_read_node(r, item)->next) {
      uint32_t before;
      if (fs_read_reference(r, item, "op", FS_KIND_OP, &before)) {
        fs_read_locate(r, item);
        FS_TRY(fs_read_go_on(fsched_builder_after(r->b, o->after.at[i].op, before)));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status read_all_ops(op_reader *o, uint32_t node) {
  uint32_t item;
  if (!fs_read_list(o->r, node, "'ops'", &item)) {
    fs_builder_lose(o->r->b, FS_KIND_OP);
  }
  for (; item != FS_NONE; item = fs_read_node(o->r, item)->next) {
    FS_TRY(read_op(o, item));
  }
  return read_after(o);
}

fs_status fs_read_ops(fs_reader *r, uint32_t node) {
  op_reader o = {.r = r};
  fs_status status = read_all_ops(&o, node);
  fs_vec_free(r->ctx, &o.after);
  fs_vec_free(r->ctx, &o.gang);
  return status;
}
