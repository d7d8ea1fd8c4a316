/* SPDX-License-Identifier: Apache-2.0 */
/* YAML or JSON text as a tree of nodes with positions, made by one of two readers (plain.h,
 * events.h).
 *
 * The parser checks that there is one document, that it is well-formed, that no mapping repeats a
 * key, that nesting is at most FS_NODE_DEPTH deep, and that there are no anchors, aliases or tags.
 * Scalars stay text (no YAML 1.1 booleans).  Complexity: O(text), and expected O(k) for a
 * mapping with k keys. */
#ifndef FS_NODE_H
#define FS_NODE_H

#include "base/context.h"
#include "base/mem.h"

enum { FS_NODE_DEPTH = 64 };

typedef enum fs_node_kind { FS_NODE_SCALAR, FS_NODE_SEQUENCE, FS_NODE_MAPPING } fs_node_kind;

/* 24 bytes, as large graphs have twenty nodes for each op.  Readers look at `kind` before they look
 * at `text`, `child` or `n_children`. */
typedef struct fs_node {
  union {
    const char *text; /* scalar: NUL-terminated; texts with a NUL inside are rejected */
    struct {
      uint32_t child; /* first child or FS_NONE; a mapping's children are key, value, key, ... */
      uint32_t n_children; /* each pair of a mapping counts as two */
    };
  };
  uint32_t line, column; /* from 1, column in bytes */
  uint32_t next;         /* next sibling or FS_NONE */
  uint32_t length : 29;  /* bytes to underline on that line, at most FS_NODE_UNDERLINED */
  uint32_t kind : 2;     /* fs_node_kind */
  uint32_t quoted : 1;   /* scalar in quotes or a block */
} fs_node;

enum { FS_NODE_UNDERLINED = (1 << 29) - 1 };

typedef struct fs_doc {
  uint32_t file; /* id of the file in the context, for positions */
  uint32_t n_nodes;
  fs_node *node; /* node 0 is the root; children come after their parent */
  /* Nodes from index `overlay` on were added later and belong to overlay_file (fs_doc_set);
   * FS_NONE: there are none. */
  uint32_t overlay, overlay_file;
} fs_doc;

/* Registers the text as a file of the context and parses it.  Requires a name, and a text unless
 * `length` is 0.  Errors are reported.  After faults that do not end the parsing (FSCHED_BAD_INPUT)
 * the tree is complete all the same, so that a reader can look for more faults; after other
 * failures n_nodes is 0. */
fs_status fs_doc_parse(fsched_context *ctx, fs_arena *arena, const char *name, const char *text,
                       size_t length, fs_doc *out) FS_MUST_USE;
/* The same with a text that the context owns from now on, whatever the result; it comes from
 * fs_realloc and has length + 1 bytes.  Requires a name and a text. */
fs_status fs_doc_parse_owned(fsched_context *ctx, fs_arena *arena, const char *name, char *text,
                             size_t length, fs_doc *out) FS_MUST_USE;
/* Requires a node of the tree. */
fs_pos fs_node_pos(const fs_doc *doc, uint32_t node);
/* Whether two texts are the same; most that are not differ in the first byte. */
static inline bool fs_text_same(const char *a, const char *b) {
  return a[0] == b[0] && strcmp(a, b) == 0;
}
/* The value of a mapping's key, or FS_NONE.  Requires a node of the tree. */
uint32_t fs_node_get(const fs_doc *doc, uint32_t mapping, const char *key);
/* Reads a decimal unsigned integer without a sign or leading zeros; false if the text is not one,
 * is in quotes or overflows.  Requires a node of the tree. */
bool fs_node_u64(const fs_doc *doc, uint32_t node, uint64_t *value);
/* The same for an integer that may begin with '-'.  Requires a node of the tree. */
bool fs_node_i64(const fs_doc *doc, uint32_t node, int64_t *value);
/* Sets a mapping's key to a scalar that stands at `pos`; replaces the value that is there or adds
 * the pair.  Requires a mapping, and positions in one file for all values that are set.  O(nodes).
 * `key` and `text` are not copied. */
fs_status fs_doc_set(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                     const char *text, fs_pos pos) FS_MUST_USE;
/* Gives the key an empty mapping as its value unless it has a mapping; *value is that mapping.
 * Requires a mapping, and places in one file for all that are set. */
fs_status fs_doc_set_mapping(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                             fs_pos pos, uint32_t *value) FS_MUST_USE;

#endif
