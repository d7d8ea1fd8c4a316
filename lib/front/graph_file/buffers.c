/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a graph file.
 *
 * Buffers may be declared by `buffers`, by any arg that gives a size or a memory or writes the
 * buffer anew, and by an op's own `size`; declarations of one buffer in several places are merged.
 * There are therefore two passes over the ops: this one only collects declarations, the second
 * (ops.c) hands everything to the builder. */
#include "front/graph_file/private.h"

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
      if (fs_text_same(k->text, fs_words_tag[t])) {
        tag = t;
        *buffer = k->next;
        is_tag = true;
      }
    }
    if (fs_text_same(k->text, "size")) {
      *size = k->next;
    } else if (fs_text_same(k->text, "memory")) {
      *memory = k->next;
    } else {
      *misspelt |= !is_tag && !fs_text_same(k->text, "at") && !fs_text_same(k->text, "distance");
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

static fs_status declare_args(declarations *d, uint32_t args, bool *has_out) {
  if (args != FS_NONE && fs_read_node(d->r, args)->kind == FS_NODE_SEQUENCE) {
    for (uint32_t arg = fs_read_node(d->r, args)->child; arg != FS_NONE;
         arg = fs_read_node(d->r, arg)->next) {
      FS_TRY(declare_arg(d, arg, has_out));
    }
  }
  return FSCHED_OK;
}

static fs_status declare_op(declarations *d, uint32_t node) {
  uint32_t members = fs_node_get(d->r->doc, node, "members");
  uint32_t size = fs_node_get(d->r->doc, node, "size");
  uint32_t name = fs_node_get(d->r->doc, node, "name");
  bool has_out = false;
  FS_TRY(declare_args(d, fs_node_get(d->r->doc, node, "args"), &has_out));
  if (members != FS_NONE && fs_read_node(d->r, members)->kind == FS_NODE_SEQUENCE) {
    for (uint32_t member = fs_read_node(d->r, members)->child; member != FS_NONE;
         member = fs_read_node(d->r, member)->next) {
      FS_TRY(declare_args(d, fs_node_get(d->r->doc, member, "args"), &has_out));
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

/* Collects the declarations of a list of ops and loops, and of those inside, up to `nest` deep. */
static fs_status declare_ops(declarations *d, uint32_t ops, int nest) {
  if (ops == FS_NONE || fs_read_node(d->r, ops)->kind != FS_NODE_SEQUENCE) {
    return FSCHED_OK;
  }
  for (uint32_t item = fs_read_node(d->r, ops)->child; item != FS_NONE;
       item = fs_read_node(d->r, item)->next) {
    if (!fs_read_is_loop(d->r, item)) {
      FS_TRY(declare_op(d, item));
    } else if (nest > 0) {
      FS_TRY(declare_ops(d, fs_node_get(d->r->doc, item, "ops"), nest - 1));
    }
  }
  return FSCHED_OK;
}

static fs_status declare_all(declarations *d, uint32_t buffers, uint32_t ops, uint32_t loops) {
  uint32_t item;
  if (buffers != FS_NONE && !fs_read_list(d->r, buffers, "'buffers'", &item)) {
    fs_builder_lose(d->r->b, FS_KIND_BUFFER);
  } else if (buffers != FS_NONE) {
    for (; item != FS_NONE; item = fs_read_node(d->r, item)->next) {
      FS_TRY(declare_listed(d, item));
    }
  }
  FS_TRY(declare_ops(d, ops, FSCHED_MAX_LOOPS));
  FS_TRY(declare_ops(d, loops, FSCHED_MAX_LOOPS));
  for (uint32_t id = 0; id < d->decl.n; id++) {
    FS_TRY(build_buffer(d, id));
  }
  return FSCHED_OK;
}

fs_status fs_read_buffers(fs_reader *r, uint32_t buffers, uint32_t ops, uint32_t loops) {
  declarations d = {.r = r};
  fs_names_init(&d.names, r->arena);
  fs_status status = declare_all(&d, buffers, ops, loops);
  fs_vec_free(r->ctx, &d.decl);
  fs_names_free(&d.names);
  return status;
}
