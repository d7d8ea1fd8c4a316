/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of nodes (node.h) while it is made: what its two readers, events.h and plain.h, share.
 *
 * Nodes are added in the order of the text, each as the next child of the collection that was
 * opened last and is still open.  Memory for the nodes grows in an arena of its own, which the
 * document's arena takes over at the end; texts are in the document's arena from the start. */
#ifndef FS_TREE_H
#define FS_TREE_H

#include "base/text/node.h"

/* Texts that came lately, so that the keys of many like mappings share one copy. */
enum { FS_TREE_RECENT_LOG2 = 10, FS_TREE_SHORT = 16 };

/* A text of up to FS_TREE_SHORT bytes; `word` holds them, then zeros. */
typedef struct fs_tree_recent {
  uint64_t word[FS_TREE_SHORT / 8];
  const char *text; /* NULL: the place is free */
} fs_tree_recent;

typedef struct fs_tree_frame {
  uint32_t node;
  uint32_t last; /* newest child or FS_NONE */
} fs_tree_frame;

typedef struct fs_tree {
  fsched_context *ctx;
  fs_arena *arena;
  fs_arena nodes; /* holds the nodes alone, which grow in it */
  fs_node *at;
  size_t n, cap;
  char *text; /* the rest of a piece for short texts */
  size_t text_room;
  fs_tree_frame stack[FS_NODE_DEPTH];
  uint32_t depth;
  fs_ids keys;     /* scratch of fs_tree_close */
  fs_ids repeated; /* its result */
  fs_tree_recent recent[1 << FS_TREE_RECENT_LOG2];
} fs_tree;

/* Requires an arena of the context for the document. */
void fs_tree_init(fs_tree *t, fsched_context *ctx, fs_arena *arena);
/* Frees the nodes, unless they were handed over. */
void fs_tree_free(fs_tree *t);
/* Gives the nodes to the document.  Requires a node, and that no collection is open. */
fs_status fs_tree_hand_over(fs_tree *t, fs_doc *doc) FS_MUST_USE;

/* The text as a part of the document: an earlier copy, or a new one.  NULL (reported) when out of
 * memory.  `readable` bytes can be read at `text`.  Requires n bytes or more that are readable. */
const char *fs_tree_text(fs_tree *t, const char *text, size_t n, size_t readable);

/* Is there room for one more id? */
static inline bool fs_tree_has_room(const fs_tree *t) { return t->n < FS_NONE - 1; }
/* Enlarges the array of nodes. */
fs_status fs_tree_grow(fs_tree *t) FS_MUST_USE;

/* Links a new node as the next child of the open collection.  Requires room for its id. */
static inline fs_status fs_tree_add(fs_tree *t, fs_node n) {
  FS_ASSERT_SLOW(fs_tree_has_room(t) && t->depth <= FS_NODE_DEPTH);
  if (t->n == t->cap) {
    FS_TRY(fs_tree_grow(t));
  }
  uint32_t id = (uint32_t)t->n++;
  t->at[id] = n;
  if (t->depth > 0) {
    fs_tree_frame *top = &t->stack[t->depth - 1];
    *(top->last == FS_NONE ? &t->at[top->node].child : &t->at[top->last].next) = id;
    top->last = id;
    t->at[top->node].n_children++;
  }
  return FSCHED_OK;
}

/* Adds a collection and opens it.  Requires room for its id, and fewer than FS_NODE_DEPTH open
 * collections. */
fs_status fs_tree_open(fs_tree *t, fs_node_kind kind, uint32_t line, uint32_t column) FS_MUST_USE;
/* Closes the collection that was opened last.  `repeated` then holds two ids for each key of a
 * mapping that repeats one: that of the first with this text, and its own.  Requires an open
 * collection, which as a mapping has a value for each key. */
fs_status fs_tree_close(fs_tree *t) FS_MUST_USE;

#endif
