/* SPDX-License-Identifier: Apache-2.0 */
/* The treap's operations are the usual split and merge, recursive to the expected depth of
 * O(log n).  Nodes are ordered by (lo, node index), so that equal starts are distinct keys. */
#include "ranges.h"

void fs_ranges_init(fs_ranges *r, fsched_context *ctx) {
  *r = (fs_ranges){.ctx = ctx, .free = FS_NONE};
}

void fs_ranges_release(fs_ranges *r) { fs_vec_free(r->ctx, &r->node); }

static uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Frees a tree without recursion: rotates left children up until there are none. */
void fs_ranges_clear(fs_ranges *r, uint32_t *set) {
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
  fs_range_node n = {.lo = lo,
                     .hi = hi,
                     .max_hi = hi,
                     .op = op,
                     .left = FS_NONE,
                     .right = FS_NONE,
                     .priority = scramble(r->counter++)};
  if (r->free != FS_NONE) {
    *id = r->free;
    r->free = r->node.at[*id].left;
    r->node.at[*id] = n;
    return FSCHED_OK;
  }
  *id = (uint32_t)r->node.n;
  return fs_vec_push(r->ctx, &r->node, n);
}

static void update(fs_range_node *node, uint32_t at) {
  uint64_t max_hi = node[at].hi;
  if (node[at].left != FS_NONE) {
    max_hi = fs_max(max_hi, node[node[at].left].max_hi);
  }
  if (node[at].right != FS_NONE) {
    max_hi = fs_max(max_hi, node[node[at].right].max_hi);
  }
  node[at].max_hi = max_hi;
}

static bool before(const fs_range_node *node, uint32_t a, uint64_t lo, uint32_t id) {
  return node[a].lo != lo ? node[a].lo < lo : a < id;
}

/* Into keys below (lo, id) and the rest. */
static void split(fs_range_node *node, uint32_t at, uint64_t lo, uint32_t id, uint32_t *low,
                  uint32_t *high) {
  if (at == FS_NONE) {
    *low = *high = FS_NONE;
  } else if (before(node, at, lo, id)) {
    split(node, node[at].right, lo, id, &node[at].right, high);
    *low = at;
    update(node, at);
  } else {
    split(node, node[at].left, lo, id, low, &node[at].left);
    *high = at;
    update(node, at);
  }
}

/* Every key of `a` is below every key of `b`. */
static uint32_t merge(fs_range_node *node, uint32_t a, uint32_t b) {
  if (a == FS_NONE || b == FS_NONE) {
    return a == FS_NONE ? b : a;
  }
  if (node[a].priority > node[b].priority) {
    node[a].right = merge(node, node[a].right, b);
    update(node, a);
    return a;
  }
  node[b].left = merge(node, a, node[b].left);
  update(node, b);
  return b;
}

static uint32_t insert(fs_range_node *node, uint32_t at, uint32_t fresh) {
  if (at == FS_NONE) {
    return fresh;
  }
  if (node[fresh].priority > node[at].priority) {
    uint32_t low;
    uint32_t high;
    split(node, at, node[fresh].lo, fresh, &low, &high);
    node[fresh].left = low;
    node[fresh].right = high;
    update(node, fresh);
    return fresh;
  }
  if (before(node, fresh, node[at].lo, at)) {
    node[at].left = insert(node, node[at].left, fresh);
  } else {
    node[at].right = insert(node, node[at].right, fresh);
  }
  node[at].max_hi = fs_max(node[at].max_hi, node[fresh].hi);
  return at;
}

fs_status fs_ranges_add(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op) {
  assert(lo < hi);
  uint32_t fresh;
  FS_TRY(new_node(r, lo, hi, op, &fresh));
  *set = insert(r->node.at, *set, fresh);
  return FSCHED_OK;
}

typedef struct finder {
  const fs_ranges *r;
  uint64_t lo, hi;
  uint64_t reached; /* bytes below are counted */
  uint64_t covered;
  fs_ids *ops;
} finder;

static fs_status find(finder *f, uint32_t at) {
  if (at == FS_NONE || f->r->node.at[at].max_hi <= f->lo) {
    return FSCHED_OK;
  }
  const fs_range_node *n = &f->r->node.at[at];
  FS_TRY(find(f, n->left));
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
  return find(f, n->right);
}

fs_status fs_ranges_find(const fs_ranges *r, uint32_t set, uint64_t lo, uint64_t hi, fs_ids *ops,
                         uint64_t *covered) {
  finder f = {.r = r, .lo = lo, .hi = hi, .reached = lo, .ops = ops};
  FS_TRY(find(&f, set));
  *covered = f.covered;
  return FSCHED_OK;
}

/* Some node that overlaps [lo, hi), or FS_NONE.  When anything on the left reaches past lo, either
 * it overlaps there, or everything from there on begins at hi or later. */
static uint32_t find_any(const fs_range_node *node, uint32_t at, uint64_t lo, uint64_t hi) {
  while (at != FS_NONE) {
    if (node[at].lo < hi && node[at].hi > lo) {
      return at;
    }
    uint32_t left = node[at].left;
    at = left != FS_NONE && node[left].max_hi > lo ? left : node[at].right;
  }
  return FS_NONE;
}

static uint32_t remove_node(fs_range_node *node, uint32_t at, uint32_t gone) {
  if (at == gone) {
    return merge(node, node[at].left, node[at].right);
  }
  if (before(node, gone, node[at].lo, at)) {
    node[at].left = remove_node(node, node[at].left, gone);
  } else {
    node[at].right = remove_node(node, node[at].right, gone);
  }
  update(node, at);
  return at;
}

fs_status fs_ranges_cut(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi) {
  for (;;) {
    uint32_t at = find_any(r->node.at, *set, lo, hi);
    if (at == FS_NONE) {
      return FSCHED_OK;
    }
    fs_range_node old = r->node.at[at];
    *set = remove_node(r->node.at, *set, at);
    r->node.at[at].left = r->free;
    r->free = at;
    if (old.lo < lo) {
      FS_TRY(fs_ranges_add(r, set, old.lo, lo, old.op));
    }
    if (old.hi > hi) {
      FS_TRY(fs_ranges_add(r, set, hi, old.hi, old.op));
    }
  }
}

fs_status fs_ranges_replace(fs_ranges *r, uint32_t *set, uint64_t lo, uint64_t hi, uint32_t op) {
  uint32_t at = find_any(r->node.at, *set, lo, hi);
  if (at != FS_NONE && r->node.at[at].lo == lo && r->node.at[at].hi == hi) {
    r->node.at[at].op = op;
    return FSCHED_OK;
  }
  FS_TRY(fs_ranges_cut(r, set, lo, hi));
  return fs_ranges_add(r, set, lo, hi, op);
}
