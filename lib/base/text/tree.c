/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are in one array that doubles.  Short texts come from pieces of the arena, without
 * alignment, and a small table, indexed by a hash and overwritten on collision, finds those that
 * came lately.  Repeated keys are found by comparing all pairs of a few keys, or with a table of
 * names. */
#include "base/text/tree.h"

#include "base/names.h"

/* The room for short texts is taken from the arena in pieces. */
enum { TEXT_PIECE = 4096 };

void fs_tree_init(fs_tree *t, fsched_context *ctx, fs_arena *arena) {
  assert(ctx != NULL && arena != NULL && arena->ctx == ctx);
  *t = (fs_tree){.ctx = ctx, .arena = arena};
  fs_arena_init(&t->nodes, ctx);
}

void fs_tree_free(fs_tree *t) {
  fs_arena_release(&t->nodes);
  fs_vec_free(t->ctx, &t->keys);
  fs_vec_free(t->ctx, &t->repeated);
}

/* The nodes stay where they are; the arena takes them over. */
fs_status fs_tree_hand_over(fs_tree *t, fs_doc *doc) {
  assert(t->n > 0 && t->depth == 0);
  doc->node = fs_arena_resize(&t->nodes, t->at, t->n * sizeof *doc->node);
  if (doc->node == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_arena_join(t->arena, &t->nodes);
  doc->n_nodes = (uint32_t)t->n;
  return FSCHED_OK;
}

/* Copies n bytes to two words, and zeros behind them. */
static void load_words(uint64_t word[2], const char *text, size_t n, size_t readable) {
  static const unsigned char masks[2 * FS_TREE_SHORT] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                         0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                         0xFF, 0xFF, 0xFF, 0xFF};
  if (readable < FS_TREE_SHORT) {
    word[0] = word[1] = 0;
    memcpy(word, text, n);
    return;
  }
  uint64_t mask[2];
  memcpy(mask, masks + FS_TREE_SHORT - n, FS_TREE_SHORT);
  memcpy(word, text, FS_TREE_SHORT);
  word[0] &= mask[0];
  word[1] &= mask[1];
}

/* Copies a short text into a piece. */
static char *copy_short(fs_tree *t, const uint64_t word[2], size_t n) {
  if (t->text_room <= FS_TREE_SHORT) {
    t->text = fs_arena_alloc(t->arena, TEXT_PIECE);
    t->text_room = t->text == NULL ? 0 : TEXT_PIECE;
  }
  if (t->text == NULL) {
    return NULL;
  }
  char *copy = t->text;
  memcpy(copy, word, FS_TREE_SHORT);
  copy[n] = '\0';
  t->text += n + 1;
  t->text_room -= n + 1;
  return copy;
}

const char *fs_tree_text(fs_tree *t, const char *text, size_t n, size_t readable) {
  assert(n <= readable);
  if (n > FS_TREE_SHORT) {
    return fs_arena_strndup(t->arena, text, n);
  }
  uint64_t word[2];
  load_words(word, text, n, readable);
  uint64_t hash = (word[0] * 0x9e3779b97f4a7c15u + word[1]) * 0xd1342543de82ef95u;
  fs_tree_recent *r = &t->recent[hash >> (64 - FS_TREE_RECENT_LOG2)];
  if (r->text == NULL || r->word[0] != word[0] || r->word[1] != word[1]) {
    *r = (fs_tree_recent){{word[0], word[1]}, copy_short(t, word, n)};
  }
  return r->text;
}

fs_status fs_tree_grow(fs_tree *t) {
  size_t cap = t->cap == 0 ? 64 : t->cap * 2;
  fs_node *at = fs_arena_resize(&t->nodes, t->at, cap * sizeof *at);
  if (at == NULL) {
    return FSCHED_SYSTEM;
  }
  t->at = at;
  t->cap = cap;
  return FSCHED_OK;
}

fs_status fs_tree_open(fs_tree *t, fs_node_kind kind, uint32_t line, uint32_t column) {
  assert(fs_tree_has_room(t) && t->depth < FS_NODE_DEPTH);
  fs_node n = {.child = FS_NONE,
               .line = line,
               .column = column,
               .next = FS_NONE,
               .length = 1,
               .kind = (unsigned)kind & 3};
  FS_TRY(fs_tree_add(t, n));
  t->stack[t->depth++] = (fs_tree_frame){(uint32_t)t->n - 1, FS_NONE};
  return FSCHED_OK;
}

static bool same_text(const fs_node *a, const fs_node *b) {
  return a->text == b->text || (a->text[0] == b->text[0] && strcmp(a->text, b->text) == 0);
}

static fs_status add_repeated(fs_tree *t, uint32_t first, uint32_t second) {
  FS_TRY(fs_vec_push(t->ctx, &t->repeated, first));
  return fs_vec_push(t->ctx, &t->repeated, second);
}

/* Finds repeated keys of a mapping with many. */
static fs_status check_many_keys(fs_tree *t) {
  fs_names names;
  fs_status status = FSCHED_OK;
  fs_names_init(&names, t->arena);
  for (size_t i = 0; i < t->keys.n && status == FSCHED_OK; i++) {
    uint32_t key = t->keys.at[i], first;
    status = fs_names_add_kept(&names, t->at[key].text, &first);
    if (status == FSCHED_OK && first != i) {
      status = add_repeated(t, t->keys.at[first], key);
    }
  }
  fs_names_free(&names);
  return status;
}

static fs_status check_keys(fs_tree *t, uint32_t mapping) {
  enum { FEW = 24 };
  t->keys.n = 0;
  for (uint32_t key = t->at[mapping].child; key != FS_NONE;) {
    FS_ASSERT_SLOW(key < t->n && t->at[key].next != FS_NONE);
    FS_TRY(fs_vec_push(t->ctx, &t->keys, key));
    key = t->at[t->at[key].next].next;
  }
  if (t->keys.n > FEW) {
    return check_many_keys(t);
  }
  for (size_t i = 1; i < t->keys.n; i++) {
    for (size_t j = 0; j < i; j++) {
      if (same_text(&t->at[t->keys.at[j]], &t->at[t->keys.at[i]])) {
        FS_TRY(add_repeated(t, t->keys.at[j], t->keys.at[i]));
        break;
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_tree_close(fs_tree *t) {
  assert(t->depth > 0);
  uint32_t node = t->stack[--t->depth].node;
  t->repeated.n = 0;
  return t->at[node].kind == FS_NODE_MAPPING ? check_keys(t, node) : FSCHED_OK;
}
