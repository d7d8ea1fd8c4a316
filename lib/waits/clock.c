/* SPDX-License-Identifier: Apache-2.0 */
/* A node is [references, largest epoch below, word 0 .. width-1]: epochs in a leaf, nodes
 * elsewhere. A node with one reference is changed in place, another is copied first; a copy shares
 * the children.  The sole holder of a node is the sole holder of its children only if they too have
 * one reference, so copying from the top down keeps every other clock as it was.
 *
 * The most frequent case, up to 64 queues, is a single leaf: a merge is a loop over 64 words. */
#include "waits/clock.h"

enum { REFS, LARGEST, WORD, BLOCK_SHIFT = 8, BLOCK_NODES = 1 << BLOCK_SHIFT };
enum {
  LANE = 4, /* words that are merged at a time; the least width of a node */
  FEW = 16  /* words that are compared before it is asked whether more have to be */
};

static uint32_t stride(const fs_clocks *c) { return WORD + c->width; }
static size_t block_bytes(const fs_clocks *c) {
  return (size_t)BLOCK_NODES * stride(c) * sizeof(uint32_t);
}

static uint32_t *node_at(const fs_clocks *c, uint32_t node) {
  return c->block.at[node >> BLOCK_SHIFT] + (size_t)(node & (BLOCK_NODES - 1)) * stride(c);
}

fs_status fs_clocks_init(fsched_context *ctx, fs_clocks *c, uint32_t n_axes) {
  assert(n_axes < FS_NONE);
  *c = (fs_clocks){.ctx = ctx, .width = 4, .shift = 2, .levels = 1, .n_nodes = 1};
  while (c->width < 64 && c->width < n_axes) {
    c->width *= 2;
    c->shift++;
  }
  while ((uint64_t)1 << (c->shift * c->levels) < n_axes) {
    c->levels++;
  }
  assert(c->width == (uint32_t)1 << c->shift);
  return FSCHED_OK;
}

void fs_clocks_release(fs_clocks *c) {
  for (size_t i = 0; i < c->block.n; i++) {
    (void)fs_realloc(c->ctx, c->block.at[i], block_bytes(c), 0);
  }
  fs_vec_free(c->ctx, &c->block);
}

uint32_t fs_clocks_next_free(const fs_clocks *c, uint32_t node) {
  assert(node != 0 && node < c->n_nodes);
  return node_at(c, node)[WORD];
}

/* Makes a node with one reference; its words are not set. */
static fs_status new_node(fs_clocks *c, uint32_t *out) {
  if (c->free_node != 0) {
    *out = c->free_node;
    c->free_node = fs_clocks_next_free(c, *out);
  } else {
    if (c->n_nodes >> BLOCK_SHIFT >= c->block.n) {
      FS_TRY(fs_vec_reserve(c->ctx, &c->block, c->block.n + 1));
      uint32_t *block = fs_realloc(c->ctx, NULL, 0, block_bytes(c));
      if (block == NULL) {
        return FSCHED_SYSTEM;
      }
      c->block.at[c->block.n++] = block;
    }
    *out = c->n_nodes++;
  }
  node_at(c, *out)[REFS] = 1;
  return FSCHED_OK;
}

fs_clock fs_clock_share(fs_clocks *c, fs_clock clock) {
  FS_ASSERT_SLOW(clock == 0 || (clock < c->n_nodes && node_at(c, clock)[REFS] > 0));
  if (clock != 0) {
    node_at(c, clock)[REFS]++;
  }
  return clock;
}

static void drop_node(fs_clocks *c, uint32_t node, uint32_t level) {
  FS_ASSERT_SLOW(level > 0 || node == 0);
  if (node == 0) {
    return;
  }
  uint32_t *n = node_at(c, node);
  assert(n[REFS] > 0);
  if (--n[REFS] > 0) {
    return;
  }
  for (uint32_t i = 0; level > 1 && i < c->width; i++) {
    drop_node(c, n[WORD + i], level - 1);
  }
  n[WORD] = c->free_node;
  c->free_node = node;
}

void fs_clock_drop(fs_clocks *c, fs_clock clock) {
  FS_ASSERT_SLOW(clock < c->n_nodes);
  drop_node(c, clock, c->levels);
}

/* Makes *node one that only the caller refers to, and that exists. */
static fs_status own(fs_clocks *c, uint32_t *node, uint32_t level) {
  if (*node != 0 && node_at(c, *node)[REFS] == 1) {
    return FSCHED_OK;
  }
  uint32_t fresh;
  FS_TRY(new_node(c, &fresh));
  uint32_t *to = node_at(c, fresh);
  if (*node == 0) {
    memset(to + LARGEST, 0, (1 + c->width) * sizeof *to);
    *node = fresh;
    return FSCHED_OK;
  }
  uint32_t *from = node_at(c, *node);
  memcpy(to + LARGEST, from + LARGEST, (1 + c->width) * sizeof *to);
  for (uint32_t i = 0; level > 1 && i < c->width; i++) {
    (void)fs_clock_share(c, to[WORD + i]);
  }
  from[REFS]--;
  *node = fresh;
  return FSCHED_OK;
}

uint32_t fs_clock_get(const fs_clocks *c, fs_clock clock, uint32_t axis) {
  FS_ASSERT_SLOW(clock < c->n_nodes);
  uint32_t node = clock;
  for (uint32_t level = c->levels; node != 0 && level > 0; level--) {
    node = node_at(c, node)[WORD + ((axis >> (c->shift * (level - 1))) & (c->width - 1))];
  }
  return node;
}

static fs_status raise(fs_clocks *c, uint32_t *node, uint32_t level, uint32_t axis,
                       uint32_t epoch) {
  FS_TRY(own(c, node, level));
  uint32_t *n = node_at(c, *node);
  n[LARGEST] = n[LARGEST] < epoch ? epoch : n[LARGEST];
  uint32_t *word = &n[WORD + ((axis >> (c->shift * (level - 1))) & (c->width - 1))];
  if (level > 1) {
    return raise(c, word, level - 1, axis, epoch);
  }
  *word = *word < epoch ? epoch : *word;
  return FSCHED_OK;
}

fs_status fs_clock_raise(fs_clocks *c, fs_clock *clock, uint32_t axis, uint32_t epoch) {
  FS_ASSERT_SLOW(epoch > 0 && *clock < c->n_nodes);
  return raise(c, clock, c->levels, axis, epoch);
}

/* Does `a` know all that `b` knows? */
static bool covers(const fs_clocks *c, uint32_t a, uint32_t b, uint32_t level) {
  if (a == b || b == 0) {
    return true;
  }
  if (a == 0 || node_at(c, a)[LARGEST] < node_at(c, b)[LARGEST]) {
    return false;
  }
  const uint32_t *x = node_at(c, a) + WORD;
  const uint32_t *y = node_at(c, b) + WORD;
  for (uint32_t i = 0; i < c->width; i++) {
    if (level > 1 ? !covers(c, x[i], y[i], level - 1) : x[i] < y[i]) {
      return false;
    }
  }
  return true;
}

/* Where n words differ: bit 0: one of x is less; bit 1: one of y is. */
static unsigned compare_few(const uint32_t *x, const uint32_t *y, size_t n) {
  uint32_t x_less[LANE] = {0}, y_less[LANE] = {0};
  for (size_t i = 0; i < n; i += LANE) {
    for (size_t k = 0; k < LANE; k++) {
      uint32_t most = x[i + k] > y[i + k] ? x[i + k] : y[i + k];
      x_less[k] |= most ^ x[i + k];
      y_less[k] |= most ^ y[i + k];
    }
  }
  uint32_t x_any = x_less[0] | x_less[1] | x_less[2] | x_less[3];
  uint32_t y_any = y_less[0] | y_less[1] | y_less[2] | y_less[3];
  return (x_any != 0 ? 1u : 0u) | (y_any != 0 ? 2u : 0u);
}

/* The same, where most often both are found among the first words. */
static unsigned compare_words(const uint32_t *x, const uint32_t *y, size_t n) {
  FS_ASSERT_SLOW(n < FEW || n % FEW == 0);
  unsigned differ = 0;
  for (size_t i = 0; i < n && differ != 3; i += FEW) {
    differ |= compare_few(x + i, y + i, n < FEW ? n : FEW);
  }
  return differ;
}

/* `to` may be x. */
static void take_most(uint32_t *to, const uint32_t *x, const uint32_t *y, size_t n) {
  for (size_t i = 0; i < n; i += LANE) {
    uint32_t most[LANE];
    for (size_t k = 0; k < LANE; k++) {
      most[k] = x[i + k] > y[i + k] ? x[i + k] : y[i + k];
    }
    memcpy(to + i, most, sizeof most);
  }
}

static fs_status merge_leaf(fs_clocks *c, uint32_t *node, uint32_t other) {
  FS_ASSERT_SLOW(*node != 0 && other != 0);
  unsigned differ = compare_words(node_at(c, *node) + WORD, node_at(c, other) + WORD, c->width);
  if ((differ & 1u) == 0) {
    return FSCHED_OK;
  }
  if ((differ & 2u) == 0) {
    drop_node(c, *node, 1);
    *node = fs_clock_share(c, other);
    return FSCHED_OK;
  }
  uint32_t to = *node;
  if (node_at(c, to)[REFS] > 1) {
    FS_TRY(new_node(c, &to));
    node_at(c, *node)[REFS]--;
  }
  const uint32_t *x = node_at(c, *node), *y = node_at(c, other);
  uint32_t *most = node_at(c, to);
  most[LARGEST] = x[LARGEST] < y[LARGEST] ? y[LARGEST] : x[LARGEST];
  take_most(most + WORD, x + WORD, y + WORD, c->width);
  *node = to;
  return FSCHED_OK;
}

/* Merges `other` into *node, which the caller alone holds, or which is shared with all below it. */
static fs_status merge(fs_clocks *c, uint32_t *node, uint32_t other, uint32_t level) {
  FS_ASSERT_SLOW(level > 0 && other != 0);
  if (*node == 0) {
    *node = fs_clock_share(c, other);
    return FSCHED_OK;
  }
  if (level == 1) {
    return merge_leaf(c, node, other);
  }
  if (covers(c, *node, other, level)) {
    return FSCHED_OK;
  }
  FS_TRY(own(c, node, level));
  uint32_t *x = node_at(c, *node);
  const uint32_t *y = node_at(c, other);
  x[LARGEST] = x[LARGEST] < y[LARGEST] ? y[LARGEST] : x[LARGEST];
  for (uint32_t i = WORD; i < WORD + c->width; i++) {
    if (x[i] != y[i] && y[i] != 0) {
      FS_TRY(merge(c, &x[i], y[i], level - 1));
    }
  }
  return FSCHED_OK;
}

fs_status fs_clock_merge(fs_clocks *c, fs_clock *clock, fs_clock other) {
  FS_ASSERT_SLOW(*clock < c->n_nodes && other < c->n_nodes);
  return other == 0 ? FSCHED_OK : merge(c, clock, other, c->levels);
}

typedef struct clock_walk {
  const fs_clocks *c;
  const uint32_t *floor;
  fs_clock_fn fn;
  void *user;
  bool left_out;
} clock_walk;

/* Calls fn for the entries of LANE words, the first of which is that of `axis`. */
static fs_status each_word(clock_walk *w, const uint32_t *word, uint32_t axis) {
  for (uint32_t k = 0; k < LANE; k++) {
    if (word[k] != 0 && word[k] >= *w->floor) {
      FS_TRY(w->fn(w->user, (fs_clock_entry){axis + k, word[k]}));
    } else {
      w->left_out = w->left_out || word[k] != 0;
    }
  }
  return FSCHED_OK;
}

static fs_status each_of_leaf(clock_walk *w, const uint32_t *word, uint32_t axis) {
  for (uint32_t i = 0; i < w->c->width; i += LANE) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < LANE; k++) {
      most = word[i + k] > most ? word[i + k] : most;
    }
    if (most >= *w->floor && most > 0) {
      FS_TRY(each_word(w, word + i, axis + i));
    } else {
      w->left_out = w->left_out || most > 0;
    }
  }
  return FSCHED_OK;
}

static fs_status each(clock_walk *w, uint32_t node, uint32_t level, uint32_t axis) {
  const uint32_t *n = node_at(w->c, node);
  if (n[LARGEST] < *w->floor) {
    w->left_out = true;
    return FSCHED_OK;
  }
  if (level == 1) {
    return each_of_leaf(w, n + WORD, axis << w->c->shift);
  }
  for (uint32_t i = 0; i < w->c->width; i++) {
    if (n[WORD + i] != 0) {
      FS_TRY(each(w, n[WORD + i], level - 1, axis << w->c->shift | i));
    }
  }
  return FSCHED_OK;
}

fs_status fs_clock_each(const fs_clocks *c, fs_clock clock, const uint32_t *floor, fs_clock_fn fn,
                        void *user, bool *left_out) {
  assert(floor != NULL && fn != NULL && clock < c->n_nodes);
  clock_walk w = {c, floor, fn, user, false};
  fs_status status = clock == 0 ? FSCHED_OK : each(&w, clock, c->levels, 0);
  *left_out = w.left_out;
  return status;
}
