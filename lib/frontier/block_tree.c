/* SPDX-License-Identifier: Apache-2.0 */
/* Insertion splits the subtree that the new node's priority lets it stand above; removal joins the
 * two subtrees of the node.  A subtree's free runs follow from those of its parts:
 *
 *     left [..##] node [###] right [#..#]      # free
 *              \_______________/               a run through the node
 */
#include "frontier/block_tree.h"

static fs_piece *at(const fs_pieces *t, uint32_t id) { return &t->piece.at[id]; }

static uint32_t priority(uint32_t id) {
  uint64_t z = (id + (uint64_t)1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
  return (uint32_t)(z >> 32);
}
static bool above(uint32_t a, uint32_t b) {
  uint32_t x = priority(a);
  uint32_t y = priority(b);
  return x != y ? x > y : a < b;
}

fs_status fs_pieces_reserve(fsched_context *ctx, fs_pieces *t, uint32_t n) {
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
  *at(t, id) = (fs_piece){.next = t->unused};
  t->unused = id;
  t->n--;
}

/* What a node knows of its subtree.  Piece 0, the empty subtree, has zeros. */
static void pull(fs_pieces *t, uint32_t id) {
  fs_piece *p = at(t, id);
  const fs_piece *l = at(t, p->left);
  const fs_piece *r = at(t, p->right);
  bool is_free = p->block == 0;
  uint64_t through = is_free ? l->suffix + p->bytes + r->prefix : 0;
  p->span = l->span + p->bytes + r->span;
  p->prefix = is_free && l->prefix == l->span ? through : l->prefix;
  p->suffix = is_free && r->suffix == r->span ? through : r->suffix;
  p->longest = fs_max(through, fs_max(l->longest, r->longest));
}

/* Of a subtree: what lies before `offset`, and the rest. */
static void split(fs_pieces *t, uint32_t tree, uint64_t offset, uint32_t *low, uint32_t *high) {
  if (tree == 0) {
    *low = *high = 0;
  } else if (at(t, tree)->offset < offset) {
    split(t, at(t, tree)->right, offset, &at(t, tree)->right, high);
    *low = tree;
    pull(t, tree);
  } else {
    split(t, at(t, tree)->left, offset, low, &at(t, tree)->left);
    *high = tree;
    pull(t, tree);
  }
}

/* All of `low` lies before all of `high`. */
static uint32_t join(fs_pieces *t, uint32_t low, uint32_t high) {
  if (low == 0 || high == 0) {
    return low | high;
  }
  if (above(low, high)) {
    at(t, low)->right = join(t, at(t, low)->right, high);
    pull(t, low);
    return low;
  }
  at(t, high)->left = join(t, low, at(t, high)->left);
  pull(t, high);
  return high;
}

static uint32_t insert(fs_pieces *t, uint32_t tree, uint32_t id) {
  fs_piece *p = at(t, id);
  if (tree == 0 || above(id, tree)) {
    split(t, tree, p->offset, &p->left, &p->right);
    pull(t, id);
    return id;
  }
  fs_piece *q = at(t, tree);
  uint32_t *side = p->offset < q->offset ? &q->left : &q->right;
  *side = insert(t, *side, id);
  pull(t, tree);
  return tree;
}

void fs_pieces_insert(fs_pieces *t, uint32_t id) {
  at(t, id)->left = at(t, id)->right = 0;
  t->root = insert(t, t->root, id);
}

static uint32_t take_out(fs_pieces *t, uint32_t tree, uint32_t id) {
  fs_piece *q = at(t, tree);
  if (tree == id) {
    return join(t, q->left, q->right);
  }
  uint32_t *side = at(t, id)->offset < q->offset ? &q->left : &q->right;
  *side = take_out(t, *side, id);
  pull(t, tree);
  return tree;
}

void fs_pieces_remove(fs_pieces *t, uint32_t id) { t->root = take_out(t, t->root, id); }

static void update(fs_pieces *t, uint32_t tree, uint32_t id) {
  const fs_piece *q = at(t, tree);
  if (tree != id) {
    update(t, at(t, id)->offset < q->offset ? q->left : q->right, id);
  }
  pull(t, tree);
}

void fs_pieces_update(fs_pieces *t, uint32_t id) { update(t, t->root, id); }

uint32_t fs_pieces_at(const fs_pieces *t, uint64_t offset) {
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

typedef struct run {
  uint64_t begin, bytes; /* 0 bytes: none */
} run;

/* `begin`: where the subtree begins; `after`: how much of what follows it is free. */
static run find_run(const fs_pieces *t, uint32_t tree, uint64_t begin, uint64_t after,
                    uint64_t bytes, uint64_t from) {
  const fs_piece *p = at(t, tree);
  if (tree == 0 || p->longest < bytes || begin + p->span <= from) {
    return (run){0, 0};
  }
  const fs_piece *l = at(t, p->left);
  const fs_piece *r = at(t, p->right);
  uint64_t behind = r->prefix == r->span ? r->prefix + after : r->prefix;
  bool is_free = p->block == 0;
  run found = find_run(t, p->left, begin, is_free ? p->bytes + behind : 0, bytes, from);
  if (found.bytes > 0) {
    return found;
  }
  run through = {p->offset - l->suffix, l->suffix + p->bytes + behind};
  if (is_free && through.begin >= from && through.bytes >= bytes) {
    return through;
  }
  return find_run(t, p->right, p->offset + p->bytes, after, bytes, from);
}

uint32_t fs_pieces_run(const fs_pieces *t, uint64_t bytes, uint64_t from, uint64_t *length) {
  run found = find_run(t, t->root, 0, 0, bytes, from);
  *length = found.bytes;
  return found.bytes == 0 ? 0 : fs_pieces_at(t, found.begin);
}
