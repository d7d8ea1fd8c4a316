/* SPDX-License-Identifier: Apache-2.0 */
/* Residencies that share bytes on purpose (in-place pairs) are a block, which moves as a whole.
 *
 *     blocks     the times, positions and last users of each block,
 *     one walk   over the items in the order of issue: each block that an item begins gets a place,
 *                among the bytes that are free then, and its item comes after their last users.
 *
 * In a walk a block's place is free if who had it is over, in time and in the order of issue, when
 * the block begins.  The waits that a place costs are its last users that are not known to be over.
 * A memory in which a block finds no place (its free bytes lie in pieces) keeps its addresses, and
 * the walk begins anew. */
#include "spread/spread.h"

#include "base/group.h"
#include "base/limit.h"
#include "base/saturate.h"
#include "spread/clocks.h"
#include "spread/room.h"

enum { FEW_PIECES = 64 };

/* Words of the clocks. */
#define MOST_WORDS ((uint64_t)1 << 24)

typedef struct spread_block {
  uint64_t size, was, address;
  fs_tick begin, until;    /* until: its last user's epoch is reached */
  uint32_t first, last;    /* positions of its first and last users */
  uint32_t memory;         /* FS_NONE: its address stays, and nobody takes its place */
  uint32_t user0, n_users; /* into `user`: items, the last one of each queue */
  uint32_t n_all;          /* n_users before a walk */
  bool shared;             /* others use it that do not come after its first user */
  bool shared_known;
  bool settled; /* of the users only those are left that others do not tell of */
} spread_block;

typedef struct spread_walk {
  fsched_context *ctx;
  fs_arena *arena;
  const fs_schedule *s;
  const fs_accesses *acc;
  fs_spread_clocks clocks;
  fs_spread_clocks *plain; /* by queue order and edges alone; NULL: not needed yet */
  uint32_t *leader;        /* per residency: the first one of its block */
  spread_block *block;     /* per residency: of leaders */
  FS_VEC(uint32_t) user;
  uint32_t *all_users;  /* `user` before a walk */
  uint32_t *next;       /* per residency: the next one of its block, or FS_NONE */
  bool *open;           /* per memory: its residencies may have other addresses */
  bool *moves;          /* per memory: its blocks may get them in this walk */
  fs_spread_room *room; /* per memory */
  uint32_t failed;      /* a memory without a place for a block, or FS_NONE */
  uint64_t steps, most_steps;
  /* Of a room, for the present block: */
  FS_VEC(uint64_t) cost, fresh; /* of the pieces before each piece */
} spread_walk;

/* --- blocks --- */

static uint32_t leader_of(spread_walk *w, uint32_t r) {
  while (w->leader[r] != r) {
    r = w->leader[r] = w->leader[w->leader[r]];
  }
  return r;
}

static void join_pairs(spread_walk *w) {
  const fsched_graph *g = w->s->graph;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      uint32_t out = w->s->arg_residency[g->inplace_out[i]];
      uint32_t in = out == FS_NONE ? FS_NONE : fs_inplace_taken(w->s, op, out);
      if (in != FS_NONE) {
        uint32_t a = leader_of(w, in), b = leader_of(w, out);
        w->leader[fs_max(a, b)] = (uint32_t)fs_min(a, b);
      }
    }
  }
}

/* Finds the memories whose residencies may have other addresses. */
static fs_status find_open(const fs_schedule *s, fs_arena *arena, bool **open) {
  const fs_target *t = &s->graph->target;
  FS_TRY(fs_new(arena, open, t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    const fs_memory *memory = &t->memory[m];
    (*open)[m] = fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement) &&
                 !fs_placement_is_stack(memory->placement);
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (t->memory[m].backing != FS_NONE) {
      (*open)[t->memory[m].backing] = false;
    }
  }
  return FSCHED_OK;
}

static bool has_state(const spread_walk *w, uint32_t r) {
  const fsched_graph *g = w->s->graph;
  uint32_t v = w->s->res_version[r];
  return v != FS_NONE && fs_io_carried(g->buffer_io[g->version_buffer[v]]);
}

static void add_residency(spread_walk *w, uint32_t r, const fs_tick *reached) {
  const fs_schedule *s = w->s;
  spread_block *b = &w->block[leader_of(w, r)];
  uint32_t from = w->acc->res0[r], to = w->acc->res0[r + 1];
  bool stays = from == to || has_state(w, r) || !w->moves[s->res_memory[r]];
  if (b->size == 0) {
    *b = (spread_block){.size = s->res_size[r],
                        .was = s->res_address[r],
                        .begin = FS_TICK_NONE,
                        .first = FS_NONE,
                        .memory = s->res_memory[r]};
  }
  b->memory = stays ? FS_NONE : b->memory;
  b->begin = fs_min(b->begin, s->res_begin[r]);
  b->until = fs_max(b->until, fs_residency_stays(s, r) ? FS_TICK_NONE : s->res_end[r]);
  for (uint32_t i = from; i < to; i++) {
    uint32_t item = w->acc->item[i], position = w->acc->position[item];
    b->first = (uint32_t)fs_min(b->first, position);
    b->last = (uint32_t)fs_max(b->last, position);
    b->until = fs_max(b->until, reached == NULL ? 0 : reached[item]);
  }
  b->first = fs_residency_given(s, r) ? 0 : b->first;
}

/* The last user of a block on each queue. */
static fs_status add_user(spread_walk *w, spread_block *b, uint32_t item) {
  uint32_t i = b->user0;
  if (b->n_users == 0) {
    b->user0 = i = (uint32_t)w->user.n;
  }
  while (i < b->user0 + b->n_users && w->s->queue[w->user.at[i]] != w->s->queue[item]) {
    i++;
  }
  if (i == b->user0 + b->n_users) {
    b->n_users++;
    return fs_vec_push(w->ctx, &w->user, item);
  }
  if (w->acc->position[w->user.at[i]] < w->acc->position[item]) {
    w->user.at[i] = item;
  }
  return FSCHED_OK;
}

/* Lists the residencies of each block, and the users. */
static fs_status add_users(spread_walk *w) {
  uint32_t n = w->s->n_residencies, *list;
  FS_TRY(fs_new_none(w->arena, &list, n)); /* per leader: the residencies of its block */
  FS_TRY(fs_new(w->arena, &w->next, n));
  for (uint32_t r = n; r-- > 0;) {
    uint32_t leader = leader_of(w, r);
    w->next[r] = list[leader];
    list[leader] = r;
  }
  for (uint32_t l = 0; l < n; l++) {
    for (uint32_t r = list[l]; r != FS_NONE; r = w->next[r]) {
      for (uint32_t i = w->acc->res0[r]; i < w->acc->res0[r + 1]; i++) {
        FS_TRY(add_user(w, &w->block[l], w->acc->item[i]));
      }
    }
    w->block[l].n_all = w->block[l].n_users;
  }
  FS_TRY(fs_new(w->arena, &w->all_users, w->user.n));
  if (w->user.n > 0) {
    memcpy(w->all_users, w->user.at, w->user.n * sizeof *w->all_users);
  }
  return FSCHED_OK;
}

static fs_status make_blocks(spread_walk *w) {
  const fs_schedule *s = w->s;
  const fs_target *t = &s->graph->target;
  fs_tick *reached = NULL;
  FS_TRY(fs_new(w->arena, &w->moves, t->n_memories));
  FS_TRY(fs_new(w->arena, &w->leader, s->n_residencies));
  FS_TRY(fs_new_zero(w->arena, &w->block, s->n_residencies));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    w->moves[m] = w->open[m];
  }
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    w->leader[r] = r;
  }
  if (s->graph->op_latency != NULL && !fs_graph_ends_alone(s->graph)) {
    FS_TRY(fs_schedule_reached(s, w->arena, &reached));
  }
  join_pairs(w);
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    add_residency(w, r, reached);
  }
  return add_users(w);
}

/* --- waits --- */

/* Whether an item comes after another one by queue order and edges alone. */
static fs_status comes_after(spread_walk *w, uint32_t item, uint32_t first, bool *after) {
  const fs_schedule *s = w->s;
  *after =
      item == first ||
      (fs_item_plain(s, item) && fs_item_plain(s, first) && s->queue[item] == s->queue[first]) ||
      fs_direct_edge(s, w->acc, first, item);
  if (*after) {
    return FSCHED_OK;
  }
  if (w->plain == NULL) {
    FS_TRY(fs_new(w->arena, &w->plain, 1));
    FS_TRY(fs_spread_clocks_make(w->arena, s, w->acc, w->plain));
    fs_spread_clocks_reset(w->plain);
    for (uint32_t i = 0; i < s->n_items; i++) {
      fs_spread_clocks_begin(w->plain, s->order[i]);
      fs_spread_clocks_end(w->plain, s->order[i]);
    }
  }
  *after = fs_spread_clocks_tell(w->plain, item, first);
  return FSCHED_OK;
}

/* Finds, once, whether several users of a block may come first: what has its place before, all
 * these wait for.  Requires a block with users. */
static fs_status find_shared(spread_walk *w, uint32_t leader) {
  spread_block *b = &w->block[leader];
  if (b->shared_known) {
    return FSCHED_OK;
  }
  uint32_t first = w->s->order[b->first];
  b->shared_known = true;
  for (uint32_t r = leader; r != FS_NONE && !b->shared; r = w->next[r]) {
    for (uint32_t i = w->acc->res0[r]; i < w->acc->res0[r + 1] && !b->shared; i++) {
      bool after;
      FS_TRY(comes_after(w, w->acc->item[i], first, &after));
      b->shared = !after;
    }
  }
  return FSCHED_OK;
}

/* Leaves of the users of a block those that no other one of them tells of. */
static void settle_users(spread_walk *w, spread_block *b) {
  uint32_t n = 0, *user = &w->user.at[b->user0];
  for (uint32_t i = 0; i < b->n_users; i++) {
    bool told = false;
    for (uint32_t k = 0; k < b->n_users && !told; k++) {
      told = k != i && w->acc->position[user[k]] > w->acc->position[user[i]] &&
             fs_spread_clocks_tell(&w->clocks, user[k], user[i]);
    }
    if (!told) { /* later users are told of by none that is dropped */
      uint32_t keep = user[i];
      user[i] = user[n];
      user[n++] = keep;
    }
  }
  b->n_users = n;
  b->settled = true;
}

/* How many users of a block the present item, which begins another one, would have to wait for. */
static uint64_t cost_of(spread_walk *w, uint32_t owner, const spread_block *by) {
  uint64_t n = 0;
  if (owner == FS_NONE) {
    return 0;
  }
  spread_block *b = &w->block[owner];
  if (!b->settled) {
    settle_users(w, b);
  }
  for (uint32_t i = b->user0; i < b->user0 + b->n_users; i++) {
    n += by->shared || !fs_spread_clocks_know(&w->clocks, w->user.at[i]);
  }
  w->steps += b->n_users;
  return n;
}

/* Whether a block's place is still, or for ever, its own when another one begins. */
static bool is_held(const spread_walk *w, uint32_t owner, const spread_block *by) {
  if (owner == FS_NONE) {
    return false;
  }
  const spread_block *b = &w->block[owner];
  return b->until > by->begin || b->last >= by->first || b->memory == FS_NONE;
}

/* --- places --- */

typedef struct spread_choice {
  uint64_t cost, fresh, run, address;
  bool found;
} spread_choice;

static bool is_better(const spread_choice *a, const spread_choice *b) {
  return !b->found              ? true
         : a->cost != b->cost   ? a->cost < b->cost
         : a->fresh != b->fresh ? a->fresh < b->fresh
         : a->run != b->run     ? a->run < b->run
                                : a->address < b->address;
}

/* Sums up what the pieces [from, to) cost, which are free, and their fresh bytes. */
static void sum_pieces(spread_walk *w, const fs_spread_room *room, const spread_block *b,
                       size_t from, size_t to) {
  w->cost.at[from] = w->fresh.at[from] = 0;
  for (size_t i = from; i < to; i++) {
    const fs_spread_piece *p = &room->piece.at[i];
    w->cost.at[i + 1] = w->cost.at[i] + cost_of(w, p->owner, b);
    w->fresh.at[i + 1] = w->fresh.at[i] + (p->owner == FS_NONE ? p->high - p->low : 0);
  }
}

/* The piece of an address, which is that of `from` or a later one. */
static size_t piece_from(const fs_spread_room *room, size_t from, uint64_t address) {
  while (room->piece.at[from].high <= address) {
    from++;
  }
  return from;
}

/* Compares the place [address, address + size) in the pieces [from, to), whose bytes are free, with
 * the best so far. */
static void try_place(const spread_walk *w, const fs_spread_room *room, size_t from, size_t to,
                      uint64_t address, uint64_t size, uint64_t run, spread_choice *best) {
  const fs_spread_piece *left = &room->piece.at[from], *right = &room->piece.at[to - 1];
  uint64_t cost = w->cost.at[to] - w->cost.at[from];
  if (best->found && cost > best->cost) {
    return;
  }
  spread_choice c = {.cost = cost,
                     .fresh = w->fresh.at[to] - w->fresh.at[from],
                     .run = run,
                     .address = address,
                     .found = true};
  c.fresh -= left->owner == FS_NONE ? address - left->low : 0;
  c.fresh -= right->owner == FS_NONE ? right->high - (address + size) : 0;
  if (is_better(&c, best)) {
    *best = c;
  }
}

/* Tries places at the ends of the pieces [from, to), which are free, lie side by side and have
 * room: `last` has the last byte of places that begin where pieces do, `first` the first one of
 * those that end so. */
static void try_run(spread_walk *w, const fs_spread_room *room, size_t from, size_t to,
                    uint64_t size, spread_choice *best) {
  uint64_t low = room->piece.at[from].low, high = room->piece.at[to - 1].high;
  size_t first = from, last = from;
  for (size_t i = from; i < to; i++) {
    const fs_spread_piece *p = &room->piece.at[i];
    if (high - p->low >= size) {
      last = piece_from(room, last, p->low + size - 1);
      try_place(w, room, i, last + 1, p->low, size, high - low, best);
    }
    if (p->high - low >= size) {
      first = piece_from(room, first, p->high - size);
      try_place(w, room, first, i + 1, p->high - size, size, high - low, best);
    }
  }
  w->steps += 8 * (to - from);
}

/* The best place among the pieces [begin, end).  Where one costs nothing, only shorter runs have a
 * better one. */
static fs_status find_among(spread_walk *w, const spread_block *b, size_t begin, size_t end,
                            spread_choice *best) {
  const fs_spread_room *room = &w->room[b->memory];
  const fs_spread_piece *piece = room->piece.at;
  best->found = false;
  FS_TRY(fs_vec_ensure(w->ctx, &w->cost, end + 1));
  FS_TRY(fs_vec_ensure(w->ctx, &w->fresh, end + 1));
  for (size_t from = begin, to; from < end; from = to + 1) {
    for (to = from; to < end && !is_held(w, piece[to].owner, b);) {
      to++;
    }
    uint64_t run = to > from ? piece[to - 1].high - piece[from].low : 0;
    bool free_of_cost = best->found && best->cost == 0 && best->fresh == 0;
    if (to > from && run >= b->size && (!free_of_cost || run < best->run)) {
      sum_pieces(w, room, b, from, to);
      try_run(w, room, from, to, b->size, best);
    }
  }
  w->steps += end - begin;
  return FSCHED_OK;
}

/* Of many pieces those around the last place are looked at; all, if there is none among them. */
static fs_status find_place(spread_walk *w, const spread_block *b, spread_choice *best) {
  const fs_spread_room *room = &w->room[b->memory];
  size_t n = room->piece.n, middle = n <= FEW_PIECES ? 0 : fs_spread_room_find(room, room->last);
  size_t begin = middle - fs_min(middle, FEW_PIECES / 2), end = fs_min(n, begin + FEW_PIECES);
  FS_TRY(find_among(w, b, begin, end, best));
  return best->found || end - begin == n ? FSCHED_OK : find_among(w, b, 0, n, best);
}

/* The block takes its place: the present item comes after all who used it. */
static fs_status take_place(spread_walk *w, uint32_t leader, uint32_t memory) {
  spread_block *b = &w->block[leader];
  fs_spread_room *room = &w->room[memory];
  uint32_t before = FS_NONE;
  for (size_t i = fs_spread_room_find(room, b->address);
       i < room->piece.n && room->piece.at[i].low < b->address + b->size; i++) {
    uint32_t owner = room->piece.at[i].owner;
    if (owner == FS_NONE || owner == before) {
      continue;
    }
    before = owner;
    FS_TRY(find_shared(w, leader));
    spread_block *o = &w->block[owner];
    if (!o->settled) {
      settle_users(w, o);
    }
    for (uint32_t k = o->user0; k < o->user0 + o->n_users; k++) {
      if (b->shared || !fs_spread_clocks_know(&w->clocks, w->user.at[k])) {
        fs_spread_clocks_add(&w->clocks, w->user.at[k]);
      }
    }
  }
  w->steps += room->piece.n / 16 + 1;
  return fs_spread_room_take(room, b->address, b->address + b->size, leader);
}

static fs_status place_block(spread_walk *w, uint32_t leader) {
  spread_block *b = &w->block[leader];
  uint32_t memory = w->s->res_memory[leader];
  b->address = b->was;
  if (b->memory != FS_NONE && w->moves[memory]) {
    spread_choice best;
    FS_TRY(b->first == 0 ? FSCHED_OK : find_shared(w, leader)); /* else nobody was there before */
    FS_TRY(find_place(w, b, &best));
    if (!best.found) {
      w->failed = memory;
      return FSCHED_OK;
    }
    b->address = w->room[memory].last = best.address;
  }
  return take_place(w, leader, memory);
}

/* --- walks --- */

/* Blocks whose place stays are taken before all others. */
static fs_status place_fixed(spread_walk *w) {
  for (uint32_t r = 0; r < w->s->n_residencies; r++) {
    const spread_block *b = &w->block[r];
    uint32_t memory = w->s->res_memory[r];
    if (w->leader[r] == r && b->memory == FS_NONE && b->size > 0 && w->room[memory].ctx != NULL) {
      FS_TRY(fs_spread_room_take(&w->room[memory], b->was, b->was + b->size, r));
    }
  }
  return FSCHED_OK;
}

static fs_status walk_items(spread_walk *w) {
  uint32_t next = 0, n = w->s->n_residencies;
  fs_spread_clocks_reset(&w->clocks);
  FS_TRY(place_fixed(w));
  for (uint32_t i = 0; i < w->s->n_items && w->failed == FS_NONE; i++) {
    uint32_t item = w->s->order[i];
    fs_spread_clocks_begin(&w->clocks, item);
    for (; next < n && w->failed == FS_NONE; next++) {
      const spread_block *b = &w->block[next];
      bool own = w->leader[next] == next && b->memory != FS_NONE && b->size > 0;
      if (own && b->first > i) {
        break;
      }
      FS_TRY(own ? place_block(w, next) : FSCHED_OK);
    }
    fs_spread_clocks_end(&w->clocks, item);
    if (w->steps > w->most_steps) {
      break;
    }
  }
  return FSCHED_OK;
}

static fs_status begin_rooms(spread_walk *w) {
  const fs_target *t = &w->s->graph->target;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (w->open[m]) {
      if (w->room[m].ctx != NULL) {
        fs_spread_room_release(&w->room[m]);
      }
      FS_TRY(fs_spread_room_init(&w->room[m], w->ctx, t->memory[m].capacity));
    }
  }
  return FSCHED_OK;
}

/* The users of blocks are those of the schedule again. */
static void begin_users(spread_walk *w) {
  if (w->user.n > 0) {
    memcpy(w->user.at, w->all_users, w->user.n * sizeof *w->all_users);
  }
  for (uint32_t r = 0; r < w->s->n_residencies; r++) {
    w->block[r].n_users = w->block[r].n_all;
    w->block[r].settled = false;
  }
}

/* What the clocks of a walk cost, as its pieces are counted. */
static uint64_t clock_steps(const fs_schedule *s) {
  return fs_multiply_most((uint64_t)s->n_items + s->graph->n_edges, s->n_queues);
}

static fs_status walk_once(spread_walk *w) {
  w->failed = FS_NONE;
  w->steps = fs_add_most(w->steps, clock_steps(w->s));
  FS_TRY(begin_rooms(w));
  begin_users(w);
  return walk_items(w);
}

static void list_addresses(spread_walk *w, uint64_t *address) {
  for (uint32_t r = 0; r < w->s->n_residencies; r++) {
    const spread_block *b = &w->block[leader_of(w, r)];
    bool moves = b->memory != FS_NONE && b->size > 0 && w->moves[w->s->res_memory[r]];
    address[r] = moves ? b->address : w->s->res_address[r];
  }
}

/* Walks, with one memory less whenever one is too full, as long as some memory is left. */
static fs_status spread_blocks(spread_walk *w, uint64_t *address, bool *found) {
  const fs_schedule *s = w->s;
  uint32_t left = 0;
  for (uint32_t m = 0; m < s->graph->target.n_memories; m++) {
    left += w->moves[m];
  }
  for (w->failed = 0; left > 0 && w->failed != FS_NONE && w->steps <= w->most_steps;) {
    FS_TRY(walk_once(w));
    if (w->failed != FS_NONE) {
      w->moves[w->failed] = false;
      left--;
    }
  }
  if (left > 0 && w->steps <= w->most_steps) {
    list_addresses(w, address);
    *found = memcmp(address, s->res_address, s->n_residencies * sizeof *address) != 0;
  }
  return FSCHED_OK;
}

fs_status fs_spread_may(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind, bool *may) {
  FS_SCRATCH(scratch, ctx);
  bool *open;
  *may = false;
  if (fs_sync_has_stops(kind) || s->n_queues <= 1 ||
      clock_steps(s) > fs_limits_of(ctx)->spread_steps || fs_spread_clocks_words(s) > MOST_WORDS) {
    return FSCHED_OK;
  }
  FS_TRY(find_open(s, &scratch, &open));
  for (uint32_t r = 0; r < s->n_residencies && !*may; r++) {
    *may = open[s->res_memory[r]];
  }
  return FSCHED_OK;
}

static fs_status run_spread(spread_walk *w, uint64_t *address, bool *found) {
  const fs_schedule *s = w->s;
  FS_TRY(find_open(s, w->arena, &w->open));
  FS_TRY(fs_spread_clocks_make(w->arena, s, w->acc, &w->clocks));
  FS_TRY(fs_new_zero(w->arena, &w->room, s->graph->target.n_memories));
  FS_TRY(make_blocks(w));
  fs_status status = spread_blocks(w, address, found);
  for (uint32_t m = 0; m < s->graph->target.n_memories; m++) {
    if (w->room[m].ctx != NULL) {
      fs_spread_room_release(&w->room[m]);
    }
  }
  return status;
}

fs_status fs_spread_run(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                        uint64_t *address, bool *found) {
  assert(s->n_items == s->graph->n_ops + s->n_copies && acc->res0 != NULL);
  FS_SCRATCH(arena, ctx);
  spread_walk w = {.ctx = ctx,
                   .arena = &arena,
                   .s = s,
                   .acc = acc,
                   .most_steps = fs_limits_of(ctx)->spread_steps};
  *found = false;
  fs_status status = run_spread(&w, address, found);
  fs_vec_free(ctx, &w.user);
  fs_vec_free(ctx, &w.cost);
  fs_vec_free(ctx, &w.fresh);
  return status;
}
