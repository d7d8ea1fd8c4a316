/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks with death frontiers.  The range is tiled by pieces, free or part of a block:
 *
 *     | a:5 | a:5 b:2 |  block 1   | fresh      | a:7 |
 *     `-- a free run -'            `-- a free run ----'
 *
 * A free run is never merged into one piece unless the deaths are the same, so a request waits only
 * for uses of its own bytes.  Taking considers only windows of a free run that begin with a piece;
 * these suffice, as sliding a window down to the begin of its first piece adds no piece to it.  The
 * pieces of a taken block are kept until its first access, so declining a block restores the former
 * state.
 *
 * A tainted death keeps no entries: they would be useless as a requirement. */
#include "fsched/block.h"

#include "base/context.h"
#include "frontier/deaths_tree.h"

enum { DEFAULT_CAPACITY = 16, DEFAULT_EFFORT = 256 };

struct fsched_blocks {
  fsched_context *ctx; /* its own, for memory */
  fs_pieces pieces;
  FS_VEC(fsched_frontier_entry) entry; /* `capacity` for each piece */
  fsched_frontier_entry *missing;      /* `capacity` entries, for the piece that is looked at */
  uint64_t bytes, align, free, stamp;
  uint32_t capacity, effort;
};

static fs_piece *piece(const fsched_blocks *b, uint32_t id) { return &b->pieces.piece.at[id]; }

/* Deaths */

static fsched_frontier death_of(const fsched_blocks *b, uint32_t id) {
  assert(id != 0 && id < b->pieces.piece.n);
  const fs_piece *p = piece(b, id);
  return (fsched_frontier){b->entry.at + (size_t)id * b->capacity, p->n, b->capacity, p->tainted};
}

static void set_death(fsched_blocks *b, uint32_t id, const fsched_frontier *f) {
  assert(f->tainted || f->n <= b->capacity);
  piece(b, id)->tainted = f->tainted != 0;
  piece(b, id)->n = f->tainted ? 0 : f->n;
}

static void merge_death(fsched_blocks *b, uint32_t id, const fsched_frontier *access) {
  fsched_frontier f = death_of(b, id);
  fsched_frontier_merge(&f, access);
  set_death(b, id, &f);
}

static void clear_death(fsched_blocks *b, uint32_t id) {
  piece(b, id)->tainted = false;
  piece(b, id)->n = 0;
}

/* Are both fresh, or given back at the same moment with the same death? */
static bool same_death(const fsched_blocks *b, uint32_t i, uint32_t k) {
  fsched_frontier x = death_of(b, i);
  fsched_frontier y = death_of(b, k);
  bool fresh = x.n == 0 && !x.tainted;
  bool same = x.n == y.n && x.tainted == y.tainted;
  same = same && (fresh || piece(b, i)->stamp == piece(b, k)->stamp);
  for (uint32_t e = 0; same && e < x.n; e++) {
    same = x.entry[e].axis == y.entry[e].axis && x.entry[e].epoch == y.entry[e].epoch;
  }
  return same;
}

/* Pieces */

static fs_status reserve(fsched_blocks *b, uint32_t n) {
  FS_TRY(fs_pieces_reserve(b->ctx, &b->pieces, n));
  return fs_vec_reserve(b->ctx, &b->entry, b->pieces.piece.n * b->capacity);
}

/* Shortens a piece to `bytes`; the rest becomes the piece after it, with the same death. */
static void cut(fsched_blocks *b, uint32_t id, uint64_t bytes) {
  assert(bytes > 0 && bytes < piece(b, id)->bytes);
  uint32_t rest = fs_piece_new(&b->pieces);
  fs_piece *p = piece(b, id);
  fs_piece *r = piece(b, rest);
  *r = (fs_piece){.offset = p->offset + bytes,
                  .bytes = p->bytes - bytes,
                  .stamp = p->stamp,
                  .previous = id,
                  .next = p->next,
                  .n = p->n,
                  .tainted = p->tainted};
  if (p->n > 0) {
    memcpy(death_of(b, rest).entry, death_of(b, id).entry, p->n * sizeof *b->entry.at);
  }
  piece(b, r->next)->previous = rest;
  p->next = rest;
  p->bytes = bytes;
  fs_pieces_update(&b->pieces, id);
  fs_pieces_insert(&b->pieces, rest);
}

/* The piece takes over the one after it; the caller sets the death. */
static void absorb_next(fsched_blocks *b, uint32_t id) {
  assert(piece(b, id)->next != 0);
  fs_piece *p = piece(b, id);
  uint32_t gone = p->next;
  fs_piece *g = piece(b, gone);
  fs_pieces_remove(&b->pieces, gone);
  p->bytes += g->bytes;
  p->stamp = fs_max(p->stamp, g->stamp);
  p->next = g->next;
  piece(b, g->next)->previous = id;
  fs_piece_drop(&b->pieces, gone);
  fs_pieces_update(&b->pieces, id);
}

/* Joins a piece and its next, if both are free and have the same death. */
static bool join_next(fsched_blocks *b, uint32_t id) {
  uint32_t next = piece(b, id)->next;
  if (id == 0 || next == 0 || piece(b, id)->block != 0 || piece(b, next)->block != 0 ||
      !same_death(b, id, next)) {
    return false;
  }
  absorb_next(b, id);
  return true;
}

/* Joins all pieces that can be joined, after changes of deaths. */
static void join_all(fsched_blocks *b) {
  for (uint32_t id = fs_pieces_at(&b->pieces, 0); id != 0;) {
    if (!join_next(b, id)) {
      id = piece(b, id)->next;
    }
  }
}

/* Making */

static void release(fsched_blocks *b) {
  fsched_context *ctx = b->ctx;
  (void)fs_realloc(ctx, b->missing, b->capacity * sizeof *b->missing, 0);
  fs_vec_free(ctx, &b->entry);
  fs_vec_free(ctx, &b->pieces.piece);
  (void)fs_realloc(ctx, b, sizeof *b, 0);
  fsched_context_destroy(ctx);
}

static fs_status make_blocks(fsched_blocks *b) {
  b->missing = fs_realloc(b->ctx, NULL, 0, b->capacity * sizeof *b->missing);
  if (b->missing == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(reserve(b, 1));
  uint32_t id = fs_piece_new(&b->pieces);
  piece(b, id)->bytes = b->bytes;
  fs_pieces_insert(&b->pieces, id);
  b->free = b->bytes;
  return FSCHED_OK;
}

static bool fill_options(const fsched_blocks_options *given, fsched_blocks_options *o) {
  *o = (fsched_blocks_options){0};
  if (given == NULL || given->size < FS_SIZE_UP_TO(fsched_blocks_options, effort)) {
    return false;
  }
  memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
  o->align = o->align == 0 ? 1 : o->align;
  o->capacity = o->capacity == 0 ? DEFAULT_CAPACITY : o->capacity;
  o->effort = o->effort == 0 ? DEFAULT_EFFORT : o->effort;
  return (o->align & (o->align - 1)) == 0 && o->bytes >= o->align;
}

fsched_status fsched_blocks_create(const fsched_blocks_options *options, fsched_blocks **out) {
  *out = NULL;
  fsched_blocks_options o;
  if (!fill_options(options, &o)) {
    return FSCHED_USAGE;
  }
  fsched_context_options c = {.size = sizeof c, .reallocate = o.reallocate, .user = o.user};
  fsched_context *ctx;
  FS_TRY(fsched_context_create(&c, &ctx));
  fsched_blocks *b = fs_realloc(ctx, NULL, 0, sizeof *b);
  if (b == NULL) {
    fsched_context_destroy(ctx);
    return FSCHED_SYSTEM;
  }
  *b = (fsched_blocks){.ctx = ctx,
                       .bytes = o.bytes & ~(o.align - 1),
                       .align = o.align,
                       .capacity = o.capacity,
                       .effort = o.effort};
  fs_status status = make_blocks(b);
  if (status != FSCHED_OK) {
    release(b);
    return status;
  }
  *out = b;
  return FSCHED_OK;
}

void fsched_blocks_destroy(fsched_blocks *b) {
  if (b != NULL) {
    release(b);
  }
}

/* Looking */

typedef struct request {
  uint64_t bytes;
  fsched_frontier user;
  fsched_frontier *waits; /* or NULL */
  uint32_t looked;        /* pieces */
} request;

typedef struct piece_window {
  uint32_t first;         /* 0: none */
  uint64_t offset, bytes; /* bytes of the whole run */
  uint32_t missing;
  bool fresh;
} piece_window;

/* Adds what the request lacks of one piece's death to its waits; false when it cannot have the
 * piece. */
static bool look_at_piece(const fsched_blocks *b, request *r, uint32_t id, piece_window *w) {
  assert(piece(b, id)->block == 0);
  fsched_frontier death = death_of(b, id);
  w->fresh = w->fresh && death.n == 0;
  if (death.tainted) {
    return false;
  }
  uint32_t n = fsched_frontier_undominated(&r->user, &death, b->missing, b->capacity);
  for (uint32_t i = 0; i < n; i++) {
    if (r->waits == NULL || fsched_frontier_raise(r->waits, b->missing[i], NULL) != 0) {
      return false;
    }
  }
  return true;
}

/* Can the request have its bytes from w->offset on, in piece w->first?  Sets `missing` and `fresh`.
 * Requires that they are all free. */
static bool look_at_window(const fsched_blocks *b, request *r, piece_window *w) {
  bool can = true;
  if (r->waits != NULL) {
    r->waits->n = 0;
    r->waits->tainted = 0;
  }
  w->fresh = true;
  uint64_t end = w->offset + r->bytes;
  for (uint32_t id = w->first; can && id != 0 && piece(b, id)->offset < end;
       id = piece(b, id)->next) {
    can = look_at_piece(b, r, id, w);
    r->looked++;
  }
  w->missing = r->waits == NULL ? 0 : r->waits->n;
  return can;
}

static bool better(fsched_blocks_fit fit, const piece_window *a, const piece_window *best) {
  if (best->first == 0) {
    return true;
  }
  if (fit == FSCHED_BLOCKS_FEWEST_WAITS && a->missing != best->missing) {
    return a->missing < best->missing;
  }
  return a->bytes < best->bytes;
}

/* Looks at the windows of one free run. */
static void look_at_run(const fsched_blocks *b, request *r, fsched_blocks_fit fit, piece_window w,
                        piece_window *best) {
  assert(w.first != 0);
  uint64_t end = w.offset + w.bytes;
  while (end - w.offset >= r->bytes) {
    if (look_at_window(b, r, &w) && better(fit, &w, best)) {
      *best = w;
    }
    w.first = piece(b, w.first)->next;
    if (fit == FSCHED_BLOCKS_TIGHTEST || r->looked >= b->effort || w.first == 0) {
      return;
    }
    w.offset = piece(b, w.first)->offset;
  }
}

/* *any: there was a run to look at. */
static piece_window find_piece_window(const fsched_blocks *b, request *r, fsched_blocks_fit fit,
                                      bool *any) {
  piece_window best = {0};
  uint64_t from = 0;
  *any = false;
  while (r->looked < b->effort || !*any) {
    piece_window w = {0};
    w.first = fs_pieces_run(&b->pieces, r->bytes, from, &w.bytes);
    if (w.first == 0) {
      break;
    }
    *any = true;
    r->looked++;
    w.offset = piece(b, w.first)->offset;
    from = w.offset + w.bytes;
    if (best.first == 0 || best.missing > 0 || w.bytes < best.bytes) {
      look_at_run(b, r, fit, w, &best);
    }
    if (best.first != 0 && best.bytes == r->bytes &&
        (best.missing == 0 || fit == FSCHED_BLOCKS_TIGHTEST)) {
      break;
    }
  }
  return best;
}

/* Taking */

/* Requires two pieces in reserve. */
static void claim(fsched_blocks *b, const piece_window *w, uint64_t bytes, fsched_block *block) {
  assert(piece(b, w->first)->block == 0);
  uint32_t first = w->first;
  if (piece(b, first)->offset < w->offset) {
    cut(b, first, w->offset - piece(b, first)->offset);
    first = piece(b, first)->next;
  }
  uint64_t end = w->offset + bytes;
  uint32_t id = first;
  for (uint32_t next = first; next != 0 && piece(b, next)->offset < end;
       next = piece(b, next)->next) {
    id = next;
    if (end - piece(b, id)->offset < piece(b, id)->bytes) {
      cut(b, id, end - piece(b, id)->offset);
    }
    piece(b, id)->block = first;
    fs_pieces_update(&b->pieces, id);
  }
  piece(b, first)->last = id;
  b->free -= bytes;
  *block = (fsched_block){w->offset, bytes, first};
}

static fsched_blocks_result take_window(fsched_blocks *b, request *r, piece_window *w,
                                        fsched_block *block) {
  bool can = look_at_window(b, r, w); /* once more: sets the waits */
  assert(can);
  (void)can;
  claim(b, w, r->bytes, block);
  return w->fresh          ? FSCHED_BLOCKS_FRESH
         : w->missing == 0 ? FSCHED_BLOCKS_DOMINATED
                           : FSCHED_BLOCKS_WAITS;
}

static request make_request(const fsched_blocks *b, uint64_t bytes, const fsched_frontier *user,
                            fsched_frontier *waits) {
  request r = {.bytes = (bytes + b->align - 1) & ~(b->align - 1), .waits = waits};
  if (user != NULL) {
    r.user = *user;
  }
  return r;
}

/* Empties what the request returns: nothing is taken. */
static void refuse_request(request *r, fsched_block *block) {
  *block = (fsched_block){0};
  if (r->waits != NULL) {
    r->waits->n = 0;
    r->waits->tainted = 0;
  }
}

fsched_status fsched_blocks_take(fsched_blocks *b, uint64_t bytes, const fsched_frontier *user,
                                 fsched_blocks_fit fit, fsched_block *block, fsched_frontier *waits,
                                 fsched_blocks_result *result) {
  if (bytes == 0) {
    return FSCHED_USAGE;
  }
  FS_TRY(reserve(b, 2));
  request r = make_request(b, bytes, user, waits);
  refuse_request(&r, block);
  *result = FSCHED_BLOCKS_FULL;
  if (bytes > b->bytes) {
    return FSCHED_OK;
  }
  bool any;
  piece_window w = find_piece_window(b, &r, fit, &any);
  if (w.first != 0) {
    *result = take_window(b, &r, &w, block);
  } else {
    refuse_request(&r, block);
    *result = any ? FSCHED_BLOCKS_BUSY : FSCHED_BLOCKS_FULL;
  }
  return FSCHED_OK;
}

static bool all_free(const fsched_blocks *b, const piece_window *w, uint64_t end) {
  bool yes = true;
  for (uint32_t id = w->first; yes && id != 0 && piece(b, id)->offset < end;
       id = piece(b, id)->next) {
    yes = piece(b, id)->block == 0;
  }
  return yes;
}

fsched_status fsched_blocks_take_at(fsched_blocks *b, uint64_t offset, uint64_t bytes,
                                    const fsched_frontier *user, fsched_block *block,
                                    fsched_frontier *waits, fsched_blocks_result *result) {
  if (bytes == 0 || (offset & (b->align - 1)) != 0 || offset >= b->bytes ||
      bytes > b->bytes - offset) {
    return FSCHED_USAGE;
  }
  FS_TRY(reserve(b, 2));
  request r = make_request(b, bytes, user, waits);
  piece_window w = {.first = fs_pieces_at(&b->pieces, offset), .offset = offset};
  if (!all_free(b, &w, offset + r.bytes)) {
    refuse_request(&r, block);
    *result = FSCHED_BLOCKS_FULL;
  } else if (!look_at_window(b, &r, &w)) {
    refuse_request(&r, block);
    *result = FSCHED_BLOCKS_BUSY;
  } else {
    *result = take_window(b, &r, &w, block);
  }
  return FSCHED_OK;
}

/* In use, and back */

static bool is_taken(const fsched_blocks *b, const fsched_block *block) {
  if (block->id == 0 || block->id >= b->pieces.piece.n) {
    return false;
  }
  const fs_piece *p = piece(b, block->id);
  if (p->block != block->id || p->offset != block->offset) {
    return false;
  }
  const fs_piece *last = piece(b, p->last);
  return last->offset + last->bytes - p->offset == block->bytes;
}

/* Replaces the pieces of a taken block by one without a death. */
static void begin_use(fsched_blocks *b, uint32_t id) {
  assert(piece(b, id)->block == id);
  if (piece(b, id)->touched) {
    return;
  }
  while (piece(b, id)->last != id) {
    if (piece(b, id)->next == piece(b, id)->last) {
      piece(b, id)->last = id;
    }
    absorb_next(b, id);
  }
  clear_death(b, id);
  piece(b, id)->touched = true;
}

/* Pieces of a block become free. */
static void set_free(fsched_blocks *b, const fsched_block *block) {
  assert(piece(b, block->id)->block == block->id);
  uint32_t end = piece(b, piece(b, block->id)->last)->next;
  for (uint32_t id = block->id; id != end; id = piece(b, id)->next) {
    piece(b, id)->block = 0;
    piece(b, id)->touched = false;
    fs_pieces_update(&b->pieces, id);
  }
  b->free += block->bytes;
  uint32_t before = piece(b, block->id)->previous;
  for (uint32_t id = before != 0 ? before : block->id; id != end && id != 0;) {
    bool joins_end = piece(b, id)->next == end;
    if (!join_next(b, id)) {
      id = piece(b, id)->next;
    } else if (joins_end) {
      break;
    }
  }
}

fsched_status fsched_blocks_touch(fsched_blocks *b, const fsched_block *block,
                                  const fsched_frontier *access) {
  if (!is_taken(b, block)) {
    return FSCHED_USAGE;
  }
  begin_use(b, block->id);
  merge_death(b, block->id, access);
  return FSCHED_OK;
}

fsched_status fsched_blocks_give(fsched_blocks *b, const fsched_block *block,
                                 const fsched_frontier *death) {
  if (!is_taken(b, block)) {
    return FSCHED_USAGE;
  }
  if (death != NULL) {
    begin_use(b, block->id);
    merge_death(b, block->id, death);
  }
  b->stamp++;
  if (piece(b, block->id)->touched) {
    piece(b, block->id)->stamp = b->stamp;
  }
  set_free(b, block);
  return FSCHED_OK;
}

fsched_status fsched_blocks_return(fsched_blocks *b, const fsched_block *block) {
  if (!is_taken(b, block) || piece(b, block->id)->touched) {
    return FSCHED_USAGE;
  }
  set_free(b, block);
  return FSCHED_OK;
}

fsched_status fsched_blocks_death(const fsched_blocks *b, const fsched_block *block,
                                  fsched_frontier *death) {
  if (!is_taken(b, block)) {
    return FSCHED_USAGE;
  }
  death->n = 0;
  death->tainted = 0;
  uint32_t last = piece(b, block->id)->last;
  for (uint32_t id = block->id;; id = piece(b, id)->next) {
    fsched_frontier f = death_of(b, id);
    fsched_frontier_merge(death, &f);
    if (id == last) {
      return FSCHED_OK;
    }
  }
}

/* What became complete */

void fsched_blocks_reached(fsched_blocks *b, const fsched_frontier *progress) {
  for (uint32_t id = fs_pieces_at(&b->pieces, 0); id != 0; id = piece(b, id)->next) {
    fsched_frontier f = death_of(b, id);
    if (f.n == 0) {
      continue;
    }
    uint32_t n = fsched_frontier_undominated(progress, &f, b->missing, b->capacity);
    memcpy(f.entry, b->missing, n * sizeof *f.entry);
    piece(b, id)->n = n;
  }
  join_all(b);
}

uint64_t fsched_blocks_stamp(const fsched_blocks *b) { return b->stamp; }

void fsched_blocks_idle(fsched_blocks *b, uint64_t stamp) {
  for (uint32_t id = fs_pieces_at(&b->pieces, 0); id != 0; id = piece(b, id)->next) {
    if (!piece(b, id)->touched && piece(b, id)->stamp <= stamp) {
      clear_death(b, id);
    }
  }
  join_all(b);
}

uint64_t fsched_blocks_free_bytes(const fsched_blocks *b) { return b->free; }
uint64_t fsched_blocks_longest(const fsched_blocks *b) { return piece(b, b->pieces.root)->longest; }
uint32_t fsched_blocks_pieces(const fsched_blocks *b) { return b->pieces.n; }
