/* SPDX-License-Identifier: Apache-2.0 */
/* The quick reader of plain YAML beside the one that reads all of it: what the first takes, the
 * second reads as the same nodes. */
#ifndef TWO_READERS_H
#define TWO_READERS_H

#include <string.h>

#include "base/text/events.h"
#include "base/text/plain.h"

typedef enum two_readers {
  TWO_READERS_LEFT,   /* the quick reader gave up */
  TWO_READERS_AGREE,  /* it took the text, and read it as the other one does */
  TWO_READERS_DIFFER, /* it took the text, and should not have, or read something else */
  TWO_READERS_FAILED  /* memory ran out */
} two_readers;

/* Equal in everything, but for where texts are kept? */
static inline bool two_readers_same_node(const fs_node *a, const fs_node *b) {
  if (a->line != b->line || a->column != b->column || a->next != b->next ||
      a->length != b->length || a->kind != b->kind || a->quoted != b->quoted) {
    return false;
  }
  return a->kind == FS_NODE_SCALAR ? strcmp(a->text, b->text) == 0
                                   : a->child == b->child && a->n_children == b->n_children;
}

static inline bool two_readers_same(const fs_doc *a, const fs_doc *b) {
  bool same = a->n_nodes == b->n_nodes;
  for (uint32_t i = 0; i < a->n_nodes && same; i++) {
    same = two_readers_same_node(&a->node[i], &b->node[i]);
  }
  return same;
}

/* Reads a text both ways.  The context may be left with diagnostics of the second reader. */
static inline two_readers two_readers_compare(fsched_context *ctx, const char *text,
                                              size_t length) {
  FS_SCRATCH(arena, ctx);
  fs_doc quick = {.overlay = FS_NONE, .overlay_file = FS_NONE}, all = quick;
  bool taken;
  if (fs_plain_parse(ctx, &arena, text, length, &quick, &taken) != FSCHED_OK) {
    return TWO_READERS_FAILED;
  }
  if (!taken) {
    return TWO_READERS_LEFT;
  }
  if (fs_context_add_file(ctx, "text", text, length, &all.file) != FSCHED_OK) {
    return TWO_READERS_FAILED;
  }
  fs_status status = fs_events_parse(ctx, &arena, text, length, &all);
  return status == FSCHED_SYSTEM                                 ? TWO_READERS_FAILED
         : status == FSCHED_OK && two_readers_same(&quick, &all) ? TWO_READERS_AGREE
                                                                 : TWO_READERS_DIFFER;
}

#endif
