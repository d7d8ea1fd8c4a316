/* SPDX-License-Identifier: Apache-2.0 */
/* An AVL tree: the subtrees of a node differ by at most one in height, which one or two rotations
 * per level restore on the way back from an insertion or removal.  A subtree's free runs follow
 * from those of its parts:
 *
 *     left [..##] node [###] right [#..#]      # free
 *              \_______________/               a run through the node
 */
#include "frontier/deaths_tree.h"

static fs_piece *at(const fs_pieces *t, uint32_t id) { return &t->piece.at[id]; }

fs_status fs_pieces_reserve(fsched_context *ctx, fs_pieces *t, uint32_t n) {
  assert(n < FS_NONE - t->n);
  if (t->piece.n == 0) {
    FS_TRY(fs_vec_push(ctx, &t->piece, (fs_piece){0}));
  }
  for (uint32_t id = t->unused; id != 0 && n > 0; id = at(t, id)->next) {
    n--;
  }
  for (; n > 0; n--) {
    uint32_t id = (uint32_t)t->piece.n;
    FS_TRY(fs_vec_push(ctx, &t->piece, ((fs_piece){.next = t->unused})));
    t->unused = id;
  }
  return FSCHED_OK;
}

uint32_t fs_piece_new(fs_pieces *t) {
  uint32_t id = t->unused;
  assert(id != 0);
  t->unused = at(t, id)->next;
  *at(t, id) = (fs_piece){0};
  t->n++;
  return id;
}

void fs_piece_drop(fs_pieces *t, uint32_t id) {
  assert(id != 0 && id < t->piece.n && t->n > 0);
  *at(t, id) = (fs_piece){.next = t->unused};
  t->unused = id;
  t->n--;
}

/* Recomputes what a node stores about its subtree.  Piece 0, the empty subtree, has zeros. */
static void pull(fs_pieces *t, uint32_t id) {
  assert(id != 0);
  fs_piece *p = at(t, id);
  const fs_piece *l = at(t, p->left);
  const fs_piece *r = at(t, p->right);
  bool is_free = p->block == 0;
  uint64_t through = is_free ? l->suffix + p->bytes + r->prefix : 0;
  p->span = l->span + p->bytes + r->span;
  p->prefix = is_free && l->prefix == l->span ? through : l->prefix;
  p->suffix = is_free && r->suffix == r->span ? through : r->suffix;
  p->longest = fs_max(through, fs_max(l->longest, r->longest));
  p->height = (uint8_t)(fs_max(l->height, r->height) + 1);
}

static uint32_t height(const fs_pieces *t, uint32_t id) { return at(t, id)->height; }

/* Rotates: a child takes the place of its parent. */
static uint32_t lift_left(fs_pieces *t, uint32_t tree) {
  uint32_t up = at(t, tree)->left;
  at(t, tree)->left = at(t, up)->right;
  at(t, up)->right = tree;
  pull(t, tree);
  pull(t, up);
  return up;
}
static uint32_t lift_right(fs_pieces *t, uint32_t tree) {
  uint32_t up = at(t, tree)->right;
  at(t, tree)->right = at(t, up)->left;
  at(t, up)->left = tree;
  pull(t, tree);
  pull(t, up);
  return up;
}

/* Balances a piece after the height of one subtree changed by one.  Returns the new top. */
static uint32_t balance(fs_pieces *t, uint32_t tree) {
  fs_piece *p = at(t, tree);
  uint32_t left = p->left, right = p->right;
  if (height(t, left) > height(t, right) + 1) {
    if (height(t, at(t, left)->left) < height(t, at(t, left)->right)) {
      p->left = lift_right(t, left);
    }
    return lift_left(t, tree);
  }
  if (height(t, right) > height(t, left) + 1) {
    if (height(t, at(t, right)->right) < height(t, at(t, right)->left)) {
      p->right = lift_left(t, right);
    }
    return lift_right(t, tree);
  }
  pull(t, tree);
  return tree;
}

static uint32_t insert(fs_pieces *t, uint32_t tree, uint32_t id) {
  assert(id != 0);
  if (tree == 0) {
    pull(t, id);
    return id;
  }
  fs_piece *q = at(t, tree);
  uint32_t *side = at(t, id)->offset < q->offset ? &q->left : &q->right;
  *side = insert(t, *side, id);
  return balance(t, tree);
}

void fs_pieces_insert(fs_pieces *t, uint32_t id) {
  assert(id != 0 && id < t->piece.n && at(t, id)->bytes > 0);
  at(t, id)->left = at(t, id)->right = 0;
  t->root = insert(t, t->root, id);
}

/* Removes the first piece of a subtree. */
static uint32_t take_first(fs_pieces *t, uint32_t tree, uint32_t *first) {
  fs_piece *p = at(t, tree);
  if (p->left == 0) {
    *first = tree;
    return p->right;
  }
  p->left = take_first(t, p->left, first);
  return balance(t, tree);
}

static uint32_t take_out(fs_pieces *t, uint32_t tree, uint32_t id) {
  fs_piece *q = at(t, tree);
  if (tree != id) {
    uint32_t *side = at(t, id)->offset < q->offset ? &q->left : &q->right;
    *side = take_out(t, *side, id);
    return balance(t, tree);
  }
  if (q->right == 0) {
    return q->left;
  }
  uint32_t first;
  uint32_t rest = take_first(t, q->right, &first);
  at(t, first)->left = q->left;
  at(t, first)->right = rest;
  return balance(t, first);
}

void fs_pieces_remove(fs_pieces *t, uint32_t id) {
  assert(id != 0 && t->root != 0);
  t->root = take_out(t, t->root, id);
}

static void update(fs_pieces *t, uint32_t tree, uint32_t id) {
  const fs_piece *q = at(t, tree);
  if (tree != id) {
    update(t, at(t, id)->offset < q->offset ? q->left : q->right, id);
  }
  pull(t, tree);
}

void fs_pieces_update(fs_pieces *t, uint32_t id) {
  assert(id != 0 && t->root != 0);
  update(t, t->root, id);
}

uint32_t fs_pieces_at(const fs_pieces *t, uint64_t offset) {
  assert(t->root != 0);
  uint32_t tree = t->root;
  for (;;) {
    const fs_piece *p = at(t, tree);
    assert(tree != 0);
    if (offset < p->offset) {
      tree = p->left;
    } else if (offset - p->offset >= p->bytes) {
      tree = p->right;
    } else {
      return tree;
    }
  }
}

typedef struct byte_run {
  uint64_t begin, bytes; /* 0 bytes: none */
} byte_run;

/* `begin`: where the subtree begins; `after`: the free bytes that follow it directly. */
static byte_run find_run(const fs_pieces *t, uint32_t tree, uint64_t begin, uint64_t after,
                         uint64_t bytes, uint64_t from) {
  const fs_piece *p = at(t, tree);
  if (tree == 0 || p->longest < bytes || begin + p->span <= from) {
    return (byte_run){0, 0};
  }
  const fs_piece *l = at(t, p->left);
  const fs_piece *r = at(t, p->right);
  uint64_t behind = r->prefix == r->span ? r->prefix + after : r->prefix;
  bool is_free = p->block == 0;
  byte_run found = find_run(t, p->left, begin, is_free ? p->bytes + behind : 0, bytes, from);
  if (found.bytes > 0) {
    return found;
  }
  byte_run through = {p->offset - l->suffix, l->suffix + p->bytes + behind};
  if (is_free && through.begin >= from && through.bytes >= bytes) {
    return through;
  }
  return find_run(t, p->right, p->offset + p->bytes, after, bytes, from);
}

uint32_t fs_pieces_run(const fs_pieces *t, uint64_t bytes, uint64_t from, uint64_t *length) {
  assert(bytes > 0);
  byte_run found = find_run(t, t->root, 0, 0, bytes, from);
  *length = found.bytes;
  assert(found.bytes == 0 || (found.bytes >= bytes && found.begin >= from));
  return found.bytes == 0 ? 0 : fs_pieces_at(t, found.begin);
}
