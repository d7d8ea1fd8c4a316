/* SPDX-License-Identifier: Apache-2.0 */
/* One sweep backwards through the order of all commands.  When a command is met, all that comes
 * after it has already handed on what it reaches: its row is complete.  It goes to the barriers
 * that the command consumes (their rows are the latest of their consumers' positions), then, with
 * the command itself added, to everything that is directly before the command (their rows are the
 * earliest of what they are handed), and is given up.  A slow command is met twice in this: what
 * comes after its end is what it is handed by those that wait for it alone; the next command of its
 * queue comes after its begin, and so after all that comes before the slow one.  That part is kept
 * in a second row, and joined before the slow command hands on what it reaches.
 *
 * Blocks are reference-counted.  Two rows are merged block by block: a block that equals the other
 * or is replaced by it entirely is shared, one without other references is changed in place. */
#include "barrier/reach.h"

#include "base/group.h"

enum {
#ifdef FS_STRESS
  SEGMENT = 3, /* commands of an axis */
#else
  SEGMENT = FS_NEVER - 1,
#endif
  LANE = 16, /* bytes that are merged at a time; the least block */
  NEVER_BLOCK = 0
};

typedef struct reach_sweep {
  fsched_context *ctx;
  const fs_cover_problem *p;
  fs_reach *r;
  uint32_t *row;        /* per command: a slot; FS_NONE: nothing is after it */
  uint32_t *begun;      /* per command: a slot for what is after its begin alone, or FS_NONE */
  FS_VEC(uint32_t) dir; /* per slot: n_dir blocks */
  FS_VEC(uint32_t) free_slot, free_block;
  uint32_t *consumed0, *consumed; /* CSR per command: barriers */
  uint8_t *seen;                  /* per barrier: one of its consumers was met */
} reach_sweep;

static uint8_t *bytes(fs_reach *r, uint32_t block) {
  return r->byte.at + ((size_t)block << r->shift);
}

static fs_status take_block(reach_sweep *s, uint32_t *block) {
  fs_reach *r = s->r;
  if (s->free_block.n > 0) {
    *block = s->free_block.at[--s->free_block.n];
  } else {
    *block = (uint32_t)r->ref.n;
    FS_TRY(fs_vec_reserve(s->ctx, &r->byte, (r->ref.n + 1) << r->shift));
    FS_TRY(fs_vec_push(s->ctx, &r->ref, 0));
  }
  r->ref.at[*block] = 1;
  return FSCHED_OK;
}

static fs_status drop_block(reach_sweep *s, uint32_t block) {
  assert(block == NEVER_BLOCK || s->r->ref.at[block] > 0);
  if (block != NEVER_BLOCK && --s->r->ref.at[block] == 0) {
    return fs_vec_push(s->ctx, &s->free_block, block);
  }
  return FSCHED_OK;
}

static uint32_t share_block(fs_reach *r, uint32_t block) {
  assert(block < r->ref.n);
  r->ref.at[block] += block != NEVER_BLOCK;
  return block;
}

static fs_status take_slot(reach_sweep *s, uint32_t *slot) {
  assert(s->r->n_dir > 0);
  uint32_t n = s->r->n_dir;
  if (s->free_slot.n > 0) {
    *slot = s->free_slot.at[--s->free_slot.n];
  } else {
    *slot = (uint32_t)(s->dir.n / n);
    FS_TRY(fs_vec_reserve(s->ctx, &s->dir, s->dir.n + n));
    s->dir.n += n;
  }
  memset(s->dir.at + (size_t)*slot * n, 0, n * sizeof *s->dir.at);
  return FSCHED_OK;
}

static fs_status drop_slot(reach_sweep *s, uint32_t slot) {
  assert(((size_t)slot + 1) * s->r->n_dir <= s->dir.n);
  for (uint32_t k = 0; k < s->r->n_dir; k++) {
    FS_TRY(drop_block(s, s->dir.at[(size_t)slot * s->r->n_dir + k]));
  }
  return fs_vec_push(s->ctx, &s->free_slot, slot);
}

/* Where the two blocks differ: bit 0: b is earlier somewhere; bit 1: a is. */
static unsigned compare(const uint8_t *a, const uint8_t *b, size_t n) {
  uint8_t b_less[LANE] = {0}, a_less[LANE] = {0};
  unsigned result = 0;
  for (size_t i = 0; i < n; i += LANE) {
    for (size_t k = 0; k < LANE; k++) {
      uint8_t least = a[i + k] < b[i + k] ? a[i + k] : b[i + k];
      b_less[k] |= least ^ a[i + k];
      a_less[k] |= least ^ b[i + k];
    }
  }
  for (size_t k = 0; k < LANE; k++) {
    result |= (b_less[k] != 0 ? 1u : 0u) | (a_less[k] != 0 ? 2u : 0u);
  }
  return result;
}

static void merge_bytes(uint8_t *to, const uint8_t *a, const uint8_t *b, size_t n, bool latest) {
  for (size_t i = 0; i < n; i += LANE) {
    for (size_t k = 0; k < LANE; k++) {
      uint8_t least = a[i + k] < b[i + k] ? a[i + k] : b[i + k];
      to[i + k] = latest ? a[i + k] ^ b[i + k] ^ least : least;
    }
  }
}

/* Makes *a the earlier, or the later, of both blocks at each position. */
static fs_status merge_block(reach_sweep *s, uint32_t *a, uint32_t b, bool latest) {
  assert(*a < s->r->ref.n && b < s->r->ref.n);
  fs_reach *r = s->r;
  if (*a == b) {
    return FSCHED_OK;
  }
  size_t width = (size_t)1 << r->shift;
  unsigned differ = compare(bytes(r, *a), bytes(r, b), width);
  if ((differ & (latest ? 2u : 1u)) == 0) { /* b changes nothing */
    return FSCHED_OK;
  }
  uint32_t to = *a;
  if ((differ & (latest ? 1u : 2u)) == 0) {
    *a = share_block(r, b);
    return drop_block(s, to);
  }
  if (to == NEVER_BLOCK || r->ref.at[to] > 1) {
    FS_TRY(take_block(s, &to));
  }
  merge_bytes(bytes(r, to), bytes(r, *a), bytes(r, b), width, latest);
  r->ref.at[*a] -= to != *a; /* others still have it; the count of NEVER_BLOCK has no meaning */
  *a = to;
  return FSCHED_OK;
}

static fs_status merge_row(reach_sweep *s, uint32_t *a, const uint32_t *b, bool latest) {
  for (uint32_t k = 0; k < s->r->n_dir; k++) {
    FS_TRY(merge_block(s, &a[k], b[k], latest));
  }
  return FSCHED_OK;
}

/* Adds the command itself to its row, which then is what the commands directly before it reach. */
static fs_status add_self(reach_sweep *s, uint32_t c) {
  fs_reach *r = s->r;
  if (s->row[c] == FS_NONE) {
    FS_TRY(take_slot(s, &s->row[c]));
  }
  uint32_t axis = r->command_axis[c];
  uint32_t *at = &s->dir.at[(size_t)s->row[c] * r->n_dir + (axis >> r->shift)];
  if (*at == NEVER_BLOCK || r->ref.at[*at] > 1) {
    uint32_t block;
    FS_TRY(take_block(s, &block));
    memcpy(bytes(r, block), bytes(r, *at), (size_t)1 << r->shift);
    r->ref.at[*at]--;
    *at = block;
  }
  bytes(r, *at)[axis & ((1u << r->shift) - 1)] = r->command_at[c];
  return FSCHED_OK;
}

/* Hands a slot's row on to another one, which is made if there is none. */
static fs_status hand_slot(reach_sweep *s, uint32_t from, uint32_t *to) {
  assert(from != FS_NONE);
  if (*to == FS_NONE) {
    FS_TRY(take_slot(s, to));
  }
  uint32_t n = s->r->n_dir;
  return merge_row(s, s->dir.at + (size_t)*to * n, s->dir.at + (size_t)from * n, false);
}

/* Joins what is after the begin of a slow command to what is after its end. */
static fs_status join_begun(reach_sweep *s, uint32_t c) {
  if (s->begun[c] == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(hand_slot(s, s->begun[c], &s->row[c]));
  return drop_slot(s, s->begun[c]);
}

static bool is_slow(const reach_sweep *s, uint32_t c) {
  return s->p->slow != NULL && s->p->slow[c];
}

static fs_status hand_to_barriers(reach_sweep *s, uint32_t c) {
  uint32_t n = s->r->n_dir;
  for (uint32_t i = s->consumed0[c]; i < s->consumed0[c + 1]; i++) {
    uint32_t barrier = s->consumed[i];
    uint32_t *to = s->r->dir + (size_t)barrier * n;
    for (uint32_t k = 0; k < n; k++) {
      uint32_t b = s->row[c] == FS_NONE ? NEVER_BLOCK : s->dir.at[(size_t)s->row[c] * n + k];
      if (s->seen[barrier]) {
        FS_TRY(merge_block(s, &to[k], b, true));
      } else {
        to[k] = share_block(s->r, b);
      }
    }
    s->seen[barrier] = 1;
  }
  return FSCHED_OK;
}

static fs_status visit(reach_sweep *s, uint32_t c, bool first_of_queue) {
  assert(c < s->p->n_commands && (first_of_queue || c > 0));
  FS_TRY(hand_to_barriers(s, c));
  FS_TRY(join_begun(s, c));
  FS_TRY(add_self(s, c));
  if (!first_of_queue) {
    FS_TRY(hand_slot(s, s->row[c], is_slow(s, c - 1) ? &s->begun[c - 1] : &s->row[c - 1]));
  }
  for (uint32_t i = s->p->pred0[c]; i < s->p->pred0[c + 1]; i++) {
    FS_TRY(hand_slot(s, s->row[c], &s->row[s->p->pred[i]]));
  }
  return drop_slot(s, s->row[c]);
}

/* Numbers the axes by their first commands in the order. */
static fs_status number_axes(fs_arena *arena, const fs_cover_problem *p, fs_reach *r,
                             uint8_t *first_of_queue) {
  FS_TRY(fs_new(arena, &r->command_axis, p->n_commands));
  FS_TRY(fs_new(arena, &r->command_at, p->n_commands));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c < p->queue_command0[q + 1]; c++) {
      r->command_at[c] = (uint8_t)((c - p->queue_command0[q]) % SEGMENT);
      first_of_queue[c] = c == p->queue_command0[q];
    }
  }
  for (uint32_t i = 0; i < p->n_commands; i++) {
    uint32_t c = p->order[i];
    r->command_axis[c] = r->command_at[c] == 0 ? r->n_axes++ : r->command_axis[c - 1];
  }
  return FSCHED_OK;
}

static fs_status run_sweep(reach_sweep *s, fs_arena *arena) {
  const fs_cover_problem *p = s->p;
  fs_reach *r = s->r;
  uint8_t *first_of_queue;
  uint32_t never;
  FS_TRY(fs_new(arena, &first_of_queue, p->n_commands));
  FS_TRY(number_axes(arena, p, r, first_of_queue));
  for (r->shift = 4; (uint64_t)1 << 2 * r->shift < r->n_axes; r->shift++) {
  }
  r->n_dir = (uint32_t)fs_ceil_div(r->n_axes, (uint64_t)1 << r->shift);
  FS_TRY(fs_new_zero(arena, &r->dir, (size_t)p->n_barriers * r->n_dir));
  FS_TRY(fs_new_none(arena, &s->row, p->n_commands));
  FS_TRY(fs_new_none(arena, &s->begun, p->n_commands));
  FS_TRY(fs_new_zero(arena, &s->seen, p->n_barriers));
  FS_TRY(fs_group_turn(arena, p->consumer0, p->consumer, p->n_barriers, p->n_commands,
                       &s->consumed0, &s->consumed));
  FS_TRY(take_block(s, &never));
  memset(bytes(r, never), FS_NEVER, (size_t)1 << r->shift);
  for (uint32_t i = p->n_commands; i-- > 0;) {
    uint32_t c = p->order[i];
    FS_TRY(visit(s, c, first_of_queue[c]));
  }
  return FSCHED_OK;
}

fs_status fs_reach_find(fsched_context *ctx, fs_arena *arena, const fs_cover_problem *p,
                        fs_reach *r) {
  assert(r->byte.at == NULL && r->command_axis == NULL);
  reach_sweep s = {.ctx = ctx, .p = p, .r = r};
  fs_status status = run_sweep(&s, arena);
  fs_vec_free(ctx, &s.dir);
  fs_vec_free(ctx, &s.free_slot);
  fs_vec_free(ctx, &s.free_block);
  return status;
}

void fs_reach_release(fsched_context *ctx, fs_reach *r) {
  fs_vec_free(ctx, &r->byte);
  fs_vec_free(ctx, &r->ref);
}
