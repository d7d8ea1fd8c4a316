/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are read by the quick reader of plain YAML, or, if that gives up, from the start by the one
 * that knows all YAML and all errors.  Both make the same nodes of what both read. */
#include "base/text/node.h"

#include "base/text/events.h"
#include "base/text/plain.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF";
enum { MARK_BYTES = sizeof byte_order_mark - 1 };

static bool has_mark(const char *text, size_t length) {
  return length >= MARK_BYTES && memcmp(text, byte_order_mark, MARK_BYTES) == 0;
}

/* Parses a text that is registered as out->file. */
static fs_status parse_registered(fsched_context *ctx, fs_arena *arena, const char *text,
                                  size_t length, fs_doc *out) {
  bool taken;
  FS_TRY(fs_plain_parse(ctx, arena, text, length, out, &taken));
  return taken ? FSCHED_OK : fs_events_parse(ctx, arena, text, length, out);
}

fs_status fs_doc_parse(fsched_context *ctx, fs_arena *arena, const char *name, const char *text,
                       size_t length, fs_doc *out) {
  assert(name != NULL && (text != NULL || length == 0));
  *out = (fs_doc){.overlay = FS_NONE, .overlay_file = FS_NONE};
  if (has_mark(text, length)) {
    text += MARK_BYTES;
    length -= MARK_BYTES;
  }
  FS_TRY(fs_context_add_file(ctx, name, text, length, &out->file));
  return parse_registered(ctx, arena, text, length, out);
}

fs_status fs_doc_parse_owned(fsched_context *ctx, fs_arena *arena, const char *name, char *text,
                             size_t length, fs_doc *out) {
  assert(name != NULL && text != NULL);
  *out = (fs_doc){.overlay = FS_NONE, .overlay_file = FS_NONE};
  if (has_mark(text, length)) { /* what is shown has no mark */
    fs_status status = fs_doc_parse(ctx, arena, name, text, length, out);
    (void)fs_realloc(ctx, text, length + 1, 0);
    return status;
  }
  FS_TRY(fs_context_take_file(ctx, name, text, length, &out->file));
  return parse_registered(ctx, arena, text, length, out);
}

fs_pos fs_node_pos(const fs_doc *doc, uint32_t node) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  uint32_t file = node >= doc->overlay ? doc->overlay_file : doc->file;
  return (fs_pos){file, n->line, n->column, n->length == 0 ? 1 : n->length};
}

uint32_t fs_node_get(const fs_doc *doc, uint32_t mapping, const char *key) {
  FS_ASSERT_SLOW(mapping < doc->n_nodes);
  if (doc->node[mapping].kind != FS_NODE_MAPPING) {
    return FS_NONE;
  }
  for (uint32_t k = doc->node[mapping].child; k != FS_NONE;) {
    uint32_t value = doc->node[k].next;
    if (fs_text_same(doc->node[k].text, key)) {
      return value;
    }
    k = doc->node[value].next;
  }
  return FS_NONE;
}

static bool parse_u64(const char *s, uint64_t *value) {
  if (s[0] == '\0' || (s[0] == '0' && s[1] != '\0')) {
    return false;
  }
  uint64_t v = 0;
  for (; *s != '\0'; s++) {
    if (*s < '0' || *s > '9') {
      return false;
    }
    unsigned digit = (unsigned)(*s - '0');
    if (v > (UINT64_MAX - digit) / 10) {
      return false;
    }
    v = v * 10 + digit;
  }
  *value = v;
  return true;
}

bool fs_node_u64(const fs_doc *doc, uint32_t node, uint64_t *value) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  return n->kind == FS_NODE_SCALAR && !n->quoted && parse_u64(n->text, value);
}

bool fs_node_i64(const fs_doc *doc, uint32_t node, int64_t *value) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  if (n->kind != FS_NODE_SCALAR || n->quoted) {
    return false;
  }
  bool negative = n->text[0] == '-';
  uint64_t magnitude;
  if (!parse_u64(n->text + negative, &magnitude) ||
      magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
    return false;
  }
  *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

/* Adds a node after all others, in the overlay's file. */
static fs_status push_overlay(fs_arena *arena, fs_doc *doc, fs_node n, fs_pos pos, uint32_t *id) {
  assert(doc->overlay == FS_NONE || doc->overlay_file == pos.file);
  fs_node *node;
  FS_TRY(fs_new(arena, &node, (size_t)doc->n_nodes + 1));
  memcpy(node, doc->node, doc->n_nodes * sizeof *node);
  if (doc->overlay == FS_NONE) {
    doc->overlay = doc->n_nodes;
    doc->overlay_file = pos.file;
  }
  n.line = pos.line;
  n.column = pos.column;
  n.length = fs_min(pos.length, FS_NODE_UNDERLINED) & FS_NODE_UNDERLINED;
  n.next = FS_NONE;
  node[doc->n_nodes] = n;
  *id = doc->n_nodes++;
  doc->node = node;
  return FSCHED_OK;
}

/* Puts `value` where the mapping has `key`, or key and value at its end. */
static fs_status link_pair(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                           uint32_t value, fs_pos pos) {
  assert(doc->node[mapping].kind == FS_NODE_MAPPING);
  assert(value < doc->n_nodes);
  uint32_t last = FS_NONE;
  for (uint32_t k = doc->node[mapping].child; k != FS_NONE;) {
    uint32_t old = doc->node[k].next;
    if (fs_text_same(doc->node[k].text, key)) {
      doc->node[value].next = doc->node[old].next;
      doc->node[k].next = value;
      return FSCHED_OK;
    }
    last = old;
    k = doc->node[old].next;
  }
  uint32_t name;
  fs_node n = {.text = key, .kind = FS_NODE_SCALAR};
  FS_TRY(push_overlay(arena, doc, n, pos, &name));
  doc->node[name].next = value;
  *(last == FS_NONE ? &doc->node[mapping].child : &doc->node[last].next) = name;
  doc->node[mapping].n_children += 2;
  return FSCHED_OK;
}

fs_status fs_doc_set(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                     const char *text, fs_pos pos) {
  assert(mapping < doc->n_nodes && doc->node[mapping].kind == FS_NODE_MAPPING);
  uint32_t value;
  fs_node n = {.text = text, .kind = FS_NODE_SCALAR};
  FS_TRY(push_overlay(arena, doc, n, pos, &value));
  return link_pair(arena, doc, mapping, key, value, pos);
}

fs_status fs_doc_set_mapping(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                             fs_pos pos, uint32_t *value) {
  assert(mapping < doc->n_nodes && doc->node[mapping].kind == FS_NODE_MAPPING);
  *value = fs_node_get(doc, mapping, key);
  if (*value != FS_NONE && doc->node[*value].kind == FS_NODE_MAPPING) {
    return FSCHED_OK;
  }
  FS_TRY(
      push_overlay(arena, doc, (fs_node){.child = FS_NONE, .kind = FS_NODE_MAPPING}, pos, value));
  return link_pair(arena, doc, mapping, key, *value, pos);
}
