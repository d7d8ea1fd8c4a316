/* SPDX-License-Identifier: Apache-2.0 */
/* Lists are short (one writer, at most one reader a queue in streams without races), so copying
 * them when an interval is cut costs little. */
#include "verify/space.h"

void fs_vpool_init(fs_vpool *p, fsched_context *ctx, fs_arena *arena) {
  assert(ctx != NULL && arena != NULL);
  *p = (fs_vpool){.ctx = ctx, .arena = arena, .free_node = FS_NONE, .free_cell = FS_NONE};
}

void fs_vpool_free(fs_vpool *p) {
  fs_vec_free(p->ctx, &p->node);
  fs_vec_free(p->ctx, &p->cell);
}

/* Prepends to a list. */
static fs_status push_access(fs_vpool *p, uint32_t *head, uint32_t who, uint32_t version) {
  uint32_t n = p->free_node;
  if (n != FS_NONE) {
    p->free_node = p->node.at[n].next;
  } else {
    n = (uint32_t)p->node.n;
    FS_TRY(fs_vec_push(p->ctx, &p->node, (fs_vnode){0}));
  }
  p->node.at[n] = (fs_vnode){who, version, *head};
  *head = n;
  return FSCHED_OK;
}

void fs_vpool_drop(fs_vpool *p, uint32_t *head) {
  while (*head != FS_NONE) {
    uint32_t n = *head;
    *head = p->node.at[n].next;
    p->node.at[n].next = p->free_node;
    p->free_node = n;
  }
}

static fs_status new_cell(fs_vpool *p, uint32_t *out) {
  uint32_t c = p->free_cell;
  if (c != FS_NONE) {
    p->free_cell = p->cell.at[c].stamp;
  } else {
    c = (uint32_t)p->cell.n;
    FS_TRY(fs_vec_push(p->ctx, &p->cell, (fs_vcell){0}));
  }
  p->cell.at[c] = (fs_vcell){FS_NONE, FS_NONE, FS_NONE, FS_NONE, 0};
  *out = c;
  return FSCHED_OK;
}

static void free_cell(fs_vpool *p, uint32_t c) {
  assert(c < p->cell.n);
  fs_vpool_drop(p, &p->cell.at[c].writers);
  fs_vpool_drop(p, &p->cell.at[c].readers);
  p->cell.at[c].stamp = p->free_cell;
  p->free_cell = c;
}

/* Copies a list in its order. */
static fs_status copy_list(fs_vpool *p, uint32_t from, uint32_t *to) {
  uint32_t last = FS_NONE;
  *to = FS_NONE;
  for (uint32_t n = from; n != FS_NONE; n = p->node.at[n].next) {
    uint32_t made = FS_NONE;
    FS_TRY(push_access(p, &made, p->node.at[n].who, p->node.at[n].version));
    if (last == FS_NONE) {
      *to = made;
    } else {
      p->node.at[last].next = made;
    }
    last = made;
  }
  return FSCHED_OK;
}

/* Gives a new breakpoint a copy of the cell that it shares with the interval it cut. */
static fs_status own_cell(fs_vpool *p, fs_vmap_entry *e, bool fresh) {
  uint32_t old = e->value;
  if (!fresh || old == FS_NONE) {
    return FSCHED_OK;
  }
  uint32_t made, writers, readers;
  FS_TRY(new_cell(p, &made));
  FS_TRY(copy_list(p, p->cell.at[old].writers, &writers));
  FS_TRY(copy_list(p, p->cell.at[old].readers, &readers));
  p->cell.at[made] = p->cell.at[old];
  p->cell.at[made].writers = writers;
  p->cell.at[made].readers = readers;
  e->value = made;
  return FSCHED_OK;
}

static fs_status cut_one(fs_vpool *p, fs_vmap *map, uint64_t key, fs_vmap_cursor *at) {
  bool fresh;
  FS_TRY(fs_vmap_cut(p->arena, map, key, at, &fresh));
  return own_cell(p, fs_vmap_at(map, *at), fresh);
}

fs_status fs_vpool_cut(fs_vpool *p, fs_vmap *map, uint64_t lo, uint64_t hi, fs_vmap_cursor *at) {
  assert(lo < hi);
  FS_TRY(cut_one(p, map, lo, at));
  if (fs_vmap_end(map, *at) == hi) {
    return FSCHED_OK; /* the usual case: the same interval is used again */
  }
  fs_vmap_cursor end;
  FS_TRY(cut_one(p, map, hi, &end));
  *at = fs_vmap_find(map, lo); /* entries may have moved */
  return FSCHED_OK;
}

fs_status fs_vpool_cell(fs_vpool *p, fs_vmap *map, fs_vmap_cursor at, uint32_t *cell) {
  fs_vmap_entry *e = fs_vmap_at(map, at);
  if (e->value == FS_NONE) {
    FS_TRY(new_cell(p, &e->value));
  }
  *cell = e->value;
  return FSCHED_OK;
}

fs_status fs_vpool_assign(fs_vpool *p, fs_vmap *map, fs_vmap_cursor first, uint64_t hi,
                          uint32_t *cell) {
  assert(fs_vmap_at(map, first)->key < hi);
  fs_vmap_cursor at = first;
  uint64_t lo = fs_vmap_at(map, at)->key;
  do {
    fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= hi) {
      break;
    }
    if (e->value != FS_NONE) {
      free_cell(p, e->value);
      e->value = FS_NONE;
    }
  } while (fs_vmap_next(map, &at));
  if (fs_vmap_end(map, first) < hi) {
    fs_vmap_clear_inside(map, lo, hi); /* leaves the breakpoint at lo where it is */
  }
  return fs_vpool_cell(p, map, first, cell);
}

fs_status fs_vpool_push_reader(fs_vpool *p, uint32_t cell, uint32_t who, uint32_t version) {
  assert(cell < p->cell.n);
  uint32_t head = p->cell.at[cell].readers;
  FS_TRY(push_access(p, &head, who, version));
  p->cell.at[cell].readers = head;
  return FSCHED_OK;
}

fs_status fs_vpool_push_writer(fs_vpool *p, uint32_t cell, uint32_t who, uint32_t version) {
  assert(cell < p->cell.n);
  uint32_t head = p->cell.at[cell].writers;
  FS_TRY(push_access(p, &head, who, version));
  p->cell.at[cell].writers = head;
  return FSCHED_OK;
}
