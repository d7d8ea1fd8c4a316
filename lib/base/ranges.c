/* SPDX-License-Identifier: Apache-2.0 */
/* An AVL tree: the subtrees of a node differ by at most one in height, which one or two rotations
 * per level restore on the way back from an insertion or removal. */
#include "base/ranges.h"

void fs_ranges_init(fs_ranges *r, fsched_context *ctx) {
  assert(ctx != NULL);
  *r = (fs_ranges){.ctx = ctx, .free = FS_NONE};
}

void fs_ranges_release(fs_ranges *r) { fs_vec_free(r->ctx, &r->node); }

/* Frees a tree without recursion: rotates left children up until there are none. */
void fs_ranges_clear(fs_ranges *r, uint32_t *set) {
  assert(*set == FS_NONE || *set < r->node.n);
  fs_range_node *node = r->node.at;
  for (uint32_t at = *set; at != FS_NONE;) {
    uint32_t left = node[at].left;
    if (left != FS_NONE) {
      node[at].left = node[left].right;
      node[left].right = at;
      at = left;
      continue;
    }
    uint32_t right = node[at].right;
    node[at].left = r->free;
    r->free = at;
    at = right;
  }
  *set = FS_NONE;
}

static fs_status new_node(fs_ranges *r, uint64_t lo, uint64_t hi, uint32_t op, uint32_t *id) {
  FS_ASSERT_SLOW(lo < hi);
  fs_range_node n = {
      .lo = lo, .hi = hi, .max_hi = hi, .op = op, .left = FS_NONE, .right = FS_NONE, .height = 1};
  if (r->free != FS_NONE) {
    *id = r->free;
    r->free = r->node.at[*id].left;
    r->node.at[*id] = n;
    return FSCHED_OK;
  }
  *id = (uint32_t)r->node.n;
  return fs_vec_push(r->ctx, &r->node, n);
}

static uint32_t height(const fs_range_node *node, uint32_t at) {
  return at == FS_NONE ? 0 : node[at].height;
}

static void update(fs_range_node *node, uint32_t at) {
  uint32_t left = node[at].left, right = node[at].right;
  uint64_t max_hi = node[at].hi;
  if (left != FS_NONE) {
    max_hi = fs_max(max_hi, node[left].max_hi);
  }
  if (right != FS_NONE) {
    max_hi = fs_max(max_hi, node[right].max_hi);
  }
  node[at].max_hi = max_hi;
  node[at].height = (uint32_t)fs_max(height(node, left), height(node, right)) + 1;
}

static bool before(const fs_range_node *node, uint32_t a, uint32_t b) {
  const fs_range_node *x = &node[a], *y = &node[b];
  if (x->lo != y->lo) {
    return x->lo < y->lo;
  }
  return x->op != y->op ? x->op < y->op : x->hi < y->hi;
}

/* Rotates: a child takes the place of its parent. */
static uint32_t lift_left(fs_range_node *node, uint32_t at) {
  uint32_t up = node[at].left;
  node[at].left = node[up].right;
  node[up].right = at;
  update(node, at);
  update(node, up);
  return up;
}
static uint32_t lift_right(fs_range_node *node, uint32_t at) {
  uint32_t up = node[at].right;
  node[at].right = node[up].left;
  node[up].left = at;
  update(node, at);
  update(node, up);
  return up;
}

/* Balances a node after the height of one subtree changed by one.  Returns the new top. */
static uint32_t balance(fs_range_node *node, uint32_t at) {
  uint32_t left = node[at].left, right = node[at].right;
  FS_ASSERT_SLOW(at != FS_NONE && at != left && at != right);
  if (height(node, left) > height(node, right) + 1) {
    if (height(node, node[left].left) < height(node, node[left].right)) {
      node[at].left = lift_right(node, left);
    }
    return lift_left(node, at);
  }
  if (height(node, right) > height(node, left) + 1) {
    if (height(node, node[right].right) < height(node, node[right].left)) {
      node[at].right = lift_left(node, right);
    }
    return lift_right(node, at);
  }
  update(node, at);
  return at;
}

static void free_node(fs_ranges *r, uint32_t at) {
  r->node.at[at].left = r->free;
  r->free = at;
}

/* Inserts a node unless the tree already has an equal one. */
static uint32_t insert(fs_ranges *r, uint32_t at, uint32_t fresh) {
  FS_ASSERT_SLOW(fresh < r->node.n);
  fs_range_node *node = r->node.at;
  if (at == FS_NONE) {
    return fresh;
  }
  if (before(node, fresh, at)) {
    node[at].left = insert(r, node[at].left, fresh);
  } else if (before(node, at, fresh)) {
    node[at].right = insert(r, node[at].right, fresh);
  } else {
    free_node(r, fresh);
    return at;
  }
  return balance(node, at);
}

fs_status fs_ranges_add(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op) {
  assert(lo < hi);
  uint32_t fresh;
  FS_TRY(new_node(r, lo, hi, op, &fresh));
  *set = insert(r, *set, fresh);
  return FSCHED_OK;
}

typedef struct range_finder {
  const fs_ranges *r;
  uint64_t lo, hi;
  uint64_t reached; /* bytes below this offset are counted */
  uint64_t covered;
  fs_ids *ops;
} range_finder;

static fs_status find_overlaps(range_finder *f, uint32_t at) {
  if (at == FS_NONE || f->r->node.at[at].max_hi <= f->lo) {
    return FSCHED_OK;
  }
  const fs_range_node *n = &f->r->node.at[at];
  FS_TRY(find_overlaps(f, n->left));
  if (n->lo >= f->hi) {
    return FSCHED_OK;
  }
  if (n->hi > f->lo) {
    FS_TRY(fs_vec_push(f->r->ctx, f->ops, n->op));
    uint64_t from = fs_max(n->lo, f->reached);
    uint64_t to = fs_min(n->hi, f->hi);
    if (to > from) {
      f->covered += to - from;
      f->reached = to;
    }
  }
  return find_overlaps(f, n->right);
}

fs_status fs_ranges_find(const fs_ranges *r, uint32_t set, uint64_t lo, uint64_t hi, fs_ids *ops,
                         uint64_t *covered) {
  assert(lo < hi);
  range_finder f = {.r = r, .lo = lo, .hi = hi, .reached = lo, .ops = ops};
  FS_TRY(find_overlaps(&f, set));
  *covered = f.covered;
  assert(f.covered <= hi - lo);
  return FSCHED_OK;
}

/* The first node that overlaps [lo, hi), or FS_NONE.  When anything on the left reaches past lo,
 * either it overlaps there, or everything from there on begins at hi or later. */
static uint32_t find_first(const fs_range_node *node, uint32_t at, uint64_t lo, uint64_t hi) {
  while (at != FS_NONE) {
    uint32_t left = node[at].left;
    if (left != FS_NONE && node[left].max_hi > lo) {
      at = left;
    } else if (node[at].lo < hi && node[at].hi > lo) {
      return at;
    } else {
      at = node[at].right;
    }
  }
  return FS_NONE;
}

/* Removes the first node of a subtree. */
static uint32_t take_first(fs_range_node *node, uint32_t at, uint32_t *first) {
  if (node[at].left == FS_NONE) {
    *first = at;
    return node[at].right;
  }
  node[at].left = take_first(node, node[at].left, first);
  return balance(node, at);
}

static uint32_t remove_node(fs_range_node *node, uint32_t at, uint32_t gone) {
  if (at != gone) {
    uint32_t *side = before(node, gone, at) ? &node[at].left : &node[at].right;
    *side = remove_node(node, *side, gone);
    return balance(node, at);
  }
  if (node[at].right == FS_NONE) {
    return node[at].left;
  }
  uint32_t first;
  uint32_t rest = take_first(node, node[at].right, &first);
  node[first].left = node[at].left;
  node[first].right = rest;
  return balance(node, first);
}

/* Where the tree has a range for an op, or FS_NONE. */
static uint32_t find_range(const fs_range_node *node, uint32_t at, const fs_range_node *key) {
  while (at != FS_NONE) {
    const fs_range_node *n = &node[at];
    bool less = key->lo != n->lo   ? key->lo < n->lo
                : key->op != n->op ? key->op < n->op
                                   : key->hi < n->hi;
    if (!less && key->lo == n->lo && key->op == n->op && key->hi == n->hi) {
      return at;
    }
    at = less ? n->left : n->right;
  }
  return FS_NONE;
}

void fs_ranges_remove(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op) {
  uint32_t at = find_range(r->node.at, *set, &(fs_range_node){.lo = lo, .hi = hi, .op = op});
  assert(at != FS_NONE);
  *set = remove_node(r->node.at, *set, at);
  free_node(r, at);
}

fs_status fs_ranges_cut(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi) {
  assert(lo < hi);
  for (;;) {
    uint32_t at = find_first(r->node.at, *set, lo, hi);
    if (at == FS_NONE) {
      return FSCHED_OK;
    }
    fs_range_node old = r->node.at[at];
    *set = remove_node(r->node.at, *set, at);
    free_node(r, at);
    if (old.lo < lo) {
      FS_TRY(fs_ranges_add(r, set, old.lo, lo, old.op));
    }
    if (old.hi > hi) {
      FS_TRY(fs_ranges_add(r, set, hi, old.hi, old.op));
    }
  }
}

fs_status fs_ranges_replace(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op) {
  assert(lo < hi);
  uint32_t at = find_first(r->node.at, *set, lo, hi);
  if (at != FS_NONE && r->node.at[at].lo == lo && r->node.at[at].hi == hi) {
    r->node.at[at].op = op;
    return FSCHED_OK;
  }
  FS_TRY(fs_ranges_cut(r, set, lo, hi));
  return fs_ranges_add(r, set, lo, hi, op);
}
