/* SPDX-License-Identifier: Apache-2.0 */
/* A chain is a path B1 < B2 < ... in which every barrier has at most one next barrier, and is the
 * next of at most one.  The least number of chains is the number of barriers less the largest
 * matching of a "left" B1 to a "right" B2, B1 < B2.
 *
 * reach.h tells whether B1 < B2: the first producer of B2 on each queue must be at or after the
 * position from which all commands there are after all consumers of B1.
 *
 * Lefts are matched one by one (Kuhn), in descending order of their last consumers.  A left takes
 * the first free right that is after it.  If there is none, a search for an augmenting path to a
 * free right always goes on from the left that ends first.  Most rights that begin far beyond a
 * left's end are after it, so free ones do not stay free for long, and paths are short in time: the
 * search is confined to rights that begin within a window, which grows when nothing is found.  A
 * search that fails without a window has visited rights that no later path needs: they are dead,
 * and so all failures together cost no more than one search.
 *
 * Mostly one of the next rights is after a left, and then a union-find over the free rights by
 * their begins finds it.  Else rights are looked at by axis (a segment of a queue, reach.h): on
 * each, all rights from the position on that the left's row has there.  Most axes have no such
 * right: for each the position is known up to which rights are free, alive, or in the window and
 * not visited, and the row is compared with these, many axes at a time.  So a left that no right is
 * after costs no more than its row.
 *
 * Each left without a match ends a chain: their number is a lower bound of the result at any time,
 * and so is, from the beginning, the number of barriers that are live at once in the order. */
#include "barrier/cover.h"

#include "barrier/reach.h"
#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"

enum {
  FIRST_WINDOW = 64,
  WINDOW_FACTOR = 4,
  LOOKS = 32, /* free rights that are tested one after the other before the search goes by axis */
  MOST_STEPS = 1 << 24,
  LANE = 16 /* axes that are tested at a time; blocks of a row have a multiple of it */
};

/* A right: the fields that tests read most, side by side. */
typedef struct right {
  uint32_t id, begin, axis;
  uint8_t at;
  bool others; /* it has further producers */
} right;

typedef struct chain_cover {
  fsched_context *ctx;
  const fs_cover_problem *p;
  fs_reach reach;
  uint32_t n;
  uint32_t *begin, *end; /* positions in the order: first producer, last consumer */
  uint32_t *begin_command;
  uint32_t *other0, *other; /* CSR: first producers on further queues */
  uint32_t *by_end;         /* barriers by `end` */
  right *by_begin;
  uint8_t *row;    /* per axis: the row of the left that is being tested */
  uint32_t *rank0; /* per position: number of rights that begin at or before it */
  uint32_t *next, *prev;
  uint32_t n_chains;
  uint64_t steps;    /* of searches, so far */
  bool left_out;     /* a left that no free right is after was not searched from */
  uint32_t *by_axis; /* ranks in by_begin: by axis, then ascending */
  uint32_t *axis0;   /* per axis: its first in by_axis; one more entry */
  uint32_t *place;   /* per rank: its index in by_axis */
  /* Per axis and position, one after the last command's included: the index in by_axis of the first
   * right that begins there or later on the axis. */
  uint32_t *first0, *first;
  /* Per axis, at most its rights before these positions are free; alive; alive, in the window, and
   * not visited by the search.  All have the length of a row. */
  uint8_t *free_top, *live_top, *window_top;
  uint32_t *free_last;   /* per axis: one more than the index in by_axis of the last free right */
  uint32_t *window_last; /* per axis: one more than that of the last right in the window */
  uint32_t window;       /* rights of ranks below it are in the window */
  uint32_t *next_free;   /* union-find over by_begin, then over by_axis, n + 1 entries each */
  uint32_t *listed, n_listed; /* axes that may have rights after a left */
  uint32_t *visited,
      n_searches;           /* per rank: the latest search that visited it; FS_NONE: it is dead */
  FS_VEC(uint32_t) trail;   /* ranks that the search has visited */
  FS_VEC(uint32_t) lowered; /* axes whose window_top is lower than their last rights in it */
  uint32_t *via;            /* per right: the left from which it was visited */
  fs_heap queue; /* lefts to visit, by their ends: the first ones have the most rights after them */
} chain_cover;

static bool others_after(const chain_cover *c, uint32_t id) {
  for (uint32_t i = c->other0[id]; i < c->other0[id + 1]; i++) {
    uint32_t u = c->other[i];
    if (c->reach.command_at[u] < c->row[c->reach.command_axis[u]]) {
      return false;
    }
  }
  return true;
}

/* Is the right after the left whose row `row` is? */
static bool is_after(const chain_cover *c, const right *r) {
  return r->at >= c->row[r->axis] && (!r->others || others_after(c, r->id));
}

/* The right of index i in by_axis. */
static const right *right_on(const chain_cover *c, uint32_t i) {
  return &c->by_begin[c->by_axis[i]];
}

/* --- preparation --- */

/* Finds where each barrier begins and ends in the order, and its first producer on each queue. */
static void find_ends(chain_cover *c, const uint32_t *position, const uint32_t *queue_of,
                      uint32_t *mark, uint32_t *first) {
  const fs_cover_problem *p = c->p;
  uint32_t n_other = 0;
  for (uint32_t b = 0; b < c->n; b++) {
    assert(p->producer0[b] < p->producer0[b + 1] && p->consumer0[b] < p->consumer0[b + 1]);
    c->begin[b] = FS_NONE;
    for (uint32_t i = p->producer0[b]; i < p->producer0[b + 1]; i++) {
      uint32_t u = p->producer[i];
      if (mark[queue_of[u]] != b || u < first[queue_of[u]]) {
        mark[queue_of[u]] = b;
        first[queue_of[u]] = u;
      }
      if (position[u] < c->begin[b]) {
        c->begin[b] = position[u];
        c->begin_command[b] = u;
      }
    }
    c->other0[b] = n_other;
    for (uint32_t i = p->producer0[b]; i < p->producer0[b + 1]; i++) {
      uint32_t q = queue_of[p->producer[i]];
      if (first[q] == p->producer[i] && first[q] != c->begin_command[b] && mark[q] == b) {
        c->other[n_other++] = first[q];
        mark[q] = FS_NONE; /* a command that is given twice counts once */
      }
    }
    c->end[b] = 0;
    for (uint32_t i = p->consumer0[b]; i < p->consumer0[b + 1]; i++) {
      c->end[b] = (uint32_t)fs_max(c->end[b], position[p->consumer[i]]);
    }
    assert(c->begin[b] < c->end[b]);
  }
  c->other0[c->n] = n_other;
}

static fs_status know(chain_cover *c, fs_arena *scratch) {
  const fs_cover_problem *p = c->p;
  uint32_t *position, *queue_of, *mark, *first;
  FS_TRY(fs_new(scratch, &position, p->n_commands));
  FS_TRY(fs_new(scratch, &queue_of, p->n_commands));
  FS_TRY(fs_new_none(scratch, &mark, p->n_queues));
  FS_TRY(fs_new(scratch, &first, p->n_queues));
  FS_TRY(fs_new(scratch, &c->begin, c->n));
  FS_TRY(fs_new(scratch, &c->end, c->n));
  FS_TRY(fs_new(scratch, &c->begin_command, c->n));
  FS_TRY(fs_new(scratch, &c->other0, (size_t)c->n + 1));
  FS_TRY(fs_new(scratch, &c->other, p->producer0[c->n]));
  for (uint32_t i = 0; i < p->n_commands; i++) {
    position[p->order[i]] = i;
  }
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t u = p->queue_command0[q]; u < p->queue_command0[q + 1]; u++) {
      queue_of[u] = q;
    }
  }
  find_ends(c, position, queue_of, mark, first);
  return FSCHED_OK;
}

/* The most barriers that are live at once in the order, from their first producers to their last
 * consumers.  No two of them are comparable: B1 < B2 holds in the order of all commands, too. */
static fs_status live_at_once(const chain_cover *c, fs_arena *scratch, uint32_t *most) {
  uint32_t *delta, live = 0;
  FS_TRY(fs_new_zero(scratch, &delta, c->p->n_commands));
  for (uint32_t b = 0; b < c->n; b++) {
    delta[c->begin[b]]++;
    delta[c->end[b]]--; /* wraps; the sums do not */
  }
  *most = 0;
  for (uint32_t i = 0; i < c->p->n_commands; i++) {
    live += delta[i];
    *most = (uint32_t)fs_max(*most, live);
  }
  assert(live == 0 && *most <= c->n);
  return FSCHED_OK;
}

/* ids[i]: the id of the i-th least key; ties by id. */
static fs_status sort_ids(fs_arena *scratch, uint64_t *key, const uint32_t *of, uint32_t n,
                          uint32_t **ids) {
  FS_TRY(fs_new(scratch, ids, n));
  for (uint32_t b = 0; b < n; b++) {
    key[b] = (uint64_t)of[b] << 32 | b;
  }
  fs_radix_sort(key, key + n, n);
  for (uint32_t i = 0; i < n; i++) {
    (*ids)[i] = (uint32_t)key[i];
  }
  return FSCHED_OK;
}

static fs_status sort_by_axis(chain_cover *c, fs_arena *scratch) {
  uint32_t *axis;
  FS_TRY(fs_new(scratch, &axis, c->n));
  FS_TRY(fs_new(scratch, &c->place, c->n));
  for (uint32_t i = 0; i < c->n; i++) {
    axis[i] = c->by_begin[i].axis;
  }
  FS_TRY(fs_group(scratch, axis, c->n, c->reach.n_axes, &c->axis0, &c->by_axis));
  for (uint32_t i = 0; i < c->n; i++) {
    c->place[c->by_axis[i]] = i;
  }
  return FSCHED_OK;
}

static fs_status sort(chain_cover *c, fs_arena *scratch) {
  uint64_t *key;
  uint32_t *ids;
  FS_TRY(fs_new(scratch, &key, 2 * (size_t)c->n));
  FS_TRY(sort_ids(scratch, key, c->end, c->n, &c->by_end));
  FS_TRY(sort_ids(scratch, key, c->begin, c->n, &ids));
  FS_TRY(fs_new(scratch, &c->by_begin, c->n));
  for (uint32_t i = 0; i < c->n; i++) {
    uint32_t id = ids[i], u = c->begin_command[id];
    c->by_begin[i] = (right){id, c->begin[id], c->reach.command_axis[u], c->reach.command_at[u],
                             c->other0[id] < c->other0[id + 1]};
  }
  FS_TRY(fs_new(scratch, &c->row, (size_t)c->reach.n_dir << c->reach.shift));
  FS_TRY(fs_new(scratch, &c->rank0, c->p->n_commands));
  for (uint32_t position = 0, rank = 0; position < c->p->n_commands; position++) {
    while (rank < c->n && c->by_begin[rank].begin <= position) {
      rank++;
    }
    c->rank0[position] = rank;
  }
  return sort_by_axis(c, scratch);
}

/* --- matching --- */

static void match(chain_cover *c, uint32_t left, uint32_t id) {
  c->next[left] = id;
  c->prev[id] = left;
}

static uint32_t find_free(uint32_t *next, uint32_t i) {
  while (next[i] != i) {
    next[i] = next[next[i]];
    i = next[i];
  }
  return i;
}

/* One more than the position of the axis's right before index `end` in by_axis; 0: there is none.
 */
static uint8_t top_of(const chain_cover *c, uint32_t axis, uint32_t end) {
  assert(end >= c->axis0[axis] && end <= c->axis0[axis + 1]);
  return end == c->axis0[axis] ? 0 : (uint8_t)(right_on(c, end - 1)->at + 1);
}

static void take_right(chain_cover *c, uint32_t i) {
  assert(i < c->n);
  const uint32_t *next_free_on = c->next_free + c->n + 1;
  uint32_t axis = c->by_begin[i].axis, last = c->free_last[axis];
  c->next_free[i] = i + 1;
  c->next_free[c->n + 1 + c->place[i]] = c->n + 1 + c->place[i] + 1;
  while (last > c->axis0[axis] && next_free_on[last - 1] != c->n + 1 + last - 1) {
    last--;
  }
  if (last != c->free_last[axis]) {
    c->free_last[axis] = last;
    c->free_top[axis] = top_of(c, axis, last);
  }
}

static uint32_t find_free_on(const chain_cover *c, uint32_t i) {
  return find_free(c->next_free, c->n + 1 + i) - (c->n + 1);
}

/* Is a position in one of LANE places of a row below the top there? */
static bool any_below(const uint8_t *row, const uint8_t *top) {
  uint8_t above[LANE];
  uint64_t half[2];
  for (size_t k = 0; k < LANE; k++) {
    uint8_t most = top[k] > row[k] ? top[k] : row[k];
    above[k] = most ^ row[k];
  }
  memcpy(half, above, sizeof half);
  return (half[0] | half[1]) != 0;
}

/* The first axis from `axis` on where the position in `row` is below the top, or n_axes. */
static uint32_t next_axis(const chain_cover *c, const uint8_t *top, uint32_t axis) {
  for (; axis < c->reach.n_axes; axis++) {
    while (axis % LANE == 0 && axis < c->reach.n_axes && !any_below(c->row + axis, top + axis)) {
      axis += LANE;
    }
    if (axis < c->reach.n_axes && c->row[axis] < top[axis]) {
      return axis;
    }
  }
  return c->reach.n_axes;
}

/* The first index in by_axis, on this axis, at or after the position. */
static uint32_t first_on(const chain_cover *c, uint32_t axis, uint8_t position) {
  FS_ASSERT_SLOW(axis < c->reach.n_axes && c->first0[axis] + position < c->first0[axis + 1]);
  return c->first[c->first0[axis] + position];
}

/* Lists the axes where the position in `row` is below the top. */
static void list_axes(chain_cover *c, const uint8_t *top) {
  c->n_listed = 0;
  for (uint32_t x = next_axis(c, top, 0); x < c->reach.n_axes; x = next_axis(c, top, x + 1)) {
    c->listed[c->n_listed++] = x;
  }
}

/* The rank of the axis's first right that is free and after the left, or `best` if that is less. */
static uint32_t first_free_on(const chain_cover *c, uint32_t axis, uint32_t best) {
  for (uint32_t i = find_free_on(c, first_on(c, axis, c->row[axis]));
       i < c->axis0[axis + 1] && c->by_axis[i] < best; i = find_free_on(c, i + 1)) {
    if (is_after(c, right_on(c, i))) {
      return c->by_axis[i];
    }
  }
  return best;
}

/* The rank of the first right that is free, after the left, and on a listed axis, or n. */
static uint32_t first_free(const chain_cover *c) {
  uint32_t best = c->n;
  for (uint32_t k = 0; k < c->n_listed; k++) {
    uint32_t x = c->listed[k];
    best = c->row[x] < c->free_top[x] ? first_free_on(c, x, best) : best;
  }
  return best;
}

/* Matches the left with its first free right.  *many: the rights were searched by axis. */
static bool match_directly(chain_cover *c, uint32_t left, bool *many) {
  uint32_t i = find_free(c->next_free, c->rank0[c->end[left]]), looked = 0;
  fs_reach_row(&c->reach, left, c->row);
  while (i < c->n && looked < LOOKS && !is_after(c, &c->by_begin[i])) {
    i = find_free(c->next_free, i + 1);
    looked++;
  }
  *many = i < c->n && looked == LOOKS;
  if (*many) {
    list_axes(c, c->free_top);
    i = first_free(c);
  }
  if (i == c->n) {
    return false;
  }
  match(c, left, c->by_begin[i].id);
  take_right(c, i);
  return true;
}

/* Is a live right after the left that `row` is of? */
static bool any_live(chain_cover *c) {
  list_axes(c, c->live_top);
  for (uint32_t k = 0; k < c->n_listed; k++) {
    uint32_t x = c->listed[k], end = first_on(c, x, c->live_top[x]);
    for (uint32_t i = first_on(c, x, c->row[x]); i < end; i++) {
      if (c->visited[c->by_axis[i]] != FS_NONE && is_after(c, right_on(c, i))) {
        return true;
      }
    }
  }
  return false;
}

/* Changes the matching along the path that led to the free right of rank i. */
static void change_path(chain_cover *c, uint32_t i) {
  assert(i < c->n);
  take_right(c, i);
  for (uint32_t id = c->by_begin[i].id; id != FS_NONE;) {
    uint32_t left = c->via[id];
    uint32_t was = c->next[left];
    match(c, left, id);
    id = was;
  }
}

/* Visits the right of rank i: the search will go on from the left that it is matched to. */
static fs_status visit(chain_cover *c, uint32_t left, uint32_t i) {
  assert(i < c->n && c->prev[c->by_begin[i].id] != FS_NONE);
  uint32_t id = c->by_begin[i].id;
  c->via[id] = left;
  c->visited[i] = c->n_searches;
  FS_TRY(fs_vec_push(c->ctx, &c->trail, i));
  return fs_heap_push(c->ctx, &c->queue, c->end[c->prev[id]], c->prev[id]);
}

/* --- the window --- */

static void set_window_top(chain_cover *c, uint32_t axis) {
  uint8_t top = top_of(c, axis, c->window_last[axis]);
  c->window_top[axis] = top < c->live_top[axis] ? top : c->live_top[axis];
}

/* The window becomes the rights that begin up to position `last`. */
static void set_window(chain_cover *c, uint32_t last) {
  uint32_t end = c->rank0[last];
  assert(c->lowered.n == 0);
  c->steps += c->window < end ? end - c->window : c->window - end;
  for (; c->window < end; c->window++) {
    uint32_t axis = c->by_begin[c->window].axis;
    c->window_last[axis]++;
    c->window_top[axis] =
        (uint8_t)fs_min(c->live_top[axis], (uint64_t)c->by_begin[c->window].at + 1);
  }
  for (; c->window > end; c->window--) {
    uint32_t axis = c->by_begin[c->window - 1].axis;
    c->window_last[axis]--;
    set_window_top(c, axis);
  }
}

/* After a search: what it has visited is dead, or alive again. */
static void end_search(chain_cover *c, bool dead) {
  for (; c->lowered.n > 0; c->lowered.n--) {
    uint32_t axis = c->lowered.at[c->lowered.n - 1];
    if (dead) {
      c->live_top[axis] = c->window_top[axis];
    }
    set_window_top(c, axis);
  }
  for (size_t i = 0; i < c->trail.n && dead; i++) {
    c->visited[c->trail.at[i]] = FS_NONE;
  }
  c->steps += c->trail.n;
  c->trail.n = 0;
}

/* Visits, on an axis, the rights in the window that are after the left whose row `row` is. */
static fs_status visit_on(chain_cover *c, uint32_t left, uint32_t axis) {
  uint32_t end = first_on(c, axis, c->window_top[axis]);
  uint8_t top = c->row[axis];
  for (uint32_t i = first_on(c, axis, top); i < end; i++) {
    uint32_t rank = c->by_axis[i];
    if (c->visited[rank] == c->n_searches || c->visited[rank] == FS_NONE) {
      continue;
    }
    if (is_after(c, &c->by_begin[rank])) {
      FS_TRY(visit(c, left, rank));
    } else {
      top = (uint8_t)(c->by_begin[rank].at + 1);
    }
  }
  if (top < c->window_top[axis]) {
    c->window_top[axis] = top;
    return fs_vec_push(c->ctx, &c->lowered, axis);
  }
  return FSCHED_OK;
}

/* Goes on from a left: visits its rights in the window, or finds a free one there. */
static fs_status search_from(chain_cover *c, uint32_t left, bool *found) {
  c->steps += c->reach.n_axes / LANE + 1;
  fs_reach_row(&c->reach, left, c->row);
  list_axes(c, c->window_top);
  uint32_t i = first_free(c);
  *found = i < c->window;
  if (*found) {
    c->via[c->by_begin[i].id] = left;
    change_path(c, i);
    return FSCHED_OK;
  }
  for (uint32_t k = 0; k < c->n_listed; k++) {
    FS_TRY(visit_on(c, left, c->listed[k]));
  }
  return FSCHED_OK;
}

/* Searches a path from `root` over rights that begin up to position `last`. */
static fs_status search_path(chain_cover *c, uint32_t root, uint32_t last, bool *found) {
  *found = false;
  c->n_searches++;
  set_window(c, last);
  c->queue.n = 0;
  FS_TRY(fs_heap_push(c->ctx, &c->queue, c->end[root], root));
  while (c->queue.n > 0 && !*found) {
    FS_TRY(search_from(c, fs_heap_pop(&c->queue).id, found));
  }
  return FSCHED_OK;
}

static fs_status match_left(chain_cover *c, uint32_t left) {
  assert(left < c->n && c->next[left] == FS_NONE);
  uint64_t end = c->end[left], last = c->p->n_commands - 1;
  bool many, found = match_directly(c, left, &many), any = !found;
  if (any && many) {
    any = any_live(c);
  }
  if (any && c->steps >= (c->p->most_steps > 0 ? c->p->most_steps : MOST_STEPS)) {
    c->left_out = true;
    any = false;
  }
  for (uint64_t window = FIRST_WINDOW; any && !found; window *= WINDOW_FACTOR) {
    FS_TRY(search_path(c, left, (uint32_t)fs_min(end + window, last), &found));
    any = end + window < last; /* else all visited rights are dead, or one was found */
    end_search(c, !found && !any);
  }
  c->n_chains += !found;
  return FSCHED_OK;
}

/* Finds the first rights of each axis by their positions. */
static fs_status make_firsts(chain_cover *c, fs_arena *scratch) {
  const fs_reach *r = &c->reach;
  FS_TRY(fs_new_zero(scratch, &c->first0, (size_t)r->n_axes + 1));
  FS_TRY(fs_new(scratch, &c->first, (size_t)c->p->n_commands + r->n_axes));
  for (uint32_t u = 0; u < c->p->n_commands; u++) {
    c->first0[r->command_axis[u] + 1]++;
  }
  for (uint32_t x = 0; x < r->n_axes; x++) {
    c->first0[x + 1] += c->first0[x] + 1;
    uint32_t i = c->axis0[x];
    for (uint32_t at = 0; at < c->first0[x + 1] - c->first0[x]; at++) {
      while (i < c->axis0[x + 1] && right_on(c, i)->at < at) {
        i++;
      }
      c->first[c->first0[x] + at] = i;
    }
  }
  return FSCHED_OK;
}

static fs_status make_tops(chain_cover *c, fs_arena *scratch) {
  size_t n_row = (size_t)c->reach.n_dir << c->reach.shift;
  FS_TRY(fs_new_zero(scratch, &c->free_top, n_row));
  FS_TRY(fs_new_zero(scratch, &c->live_top, n_row));
  FS_TRY(fs_new_zero(scratch, &c->window_top, n_row));
  FS_TRY(fs_new(scratch, &c->listed, c->reach.n_axes));
  FS_TRY(fs_new(scratch, &c->free_last, c->reach.n_axes));
  FS_TRY(fs_new(scratch, &c->window_last, c->reach.n_axes));
  for (uint32_t x = 0; x < c->reach.n_axes; x++) {
    c->free_last[x] = c->axis0[x + 1];
    c->window_last[x] = c->axis0[x];
    c->free_top[x] = c->live_top[x] = top_of(c, x, c->axis0[x + 1]);
  }
  return FSCHED_OK;
}

/* --- result --- */

static void number_chains(const chain_cover *c, uint32_t *chain, uint32_t *index) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < c->n; b++) {
    if (c->prev[b] == FS_NONE) {
      uint32_t i = 0;
      for (uint32_t at = b; at != FS_NONE; at = c->next[at]) {
        chain[at] = n;
        index[at] = i++;
      }
      n++;
    }
  }
  assert(n == c->n_chains);
}

static fs_status find_cover(chain_cover *c, fs_arena *scratch, uint32_t enough, bool *proven) {
  uint32_t live;
  *proven = true;
  FS_TRY(know(c, scratch));
  FS_TRY(live_at_once(c, scratch, &live));
  assert(live <= c->n);
  if (live > enough) {
    c->n_chains = live;
    return FSCHED_OK;
  }
  FS_TRY(fs_reach_find(c->ctx, scratch, c->p, &c->reach));
  FS_TRY(sort(c, scratch));
  FS_TRY(fs_new_none(scratch, &c->next, c->n));
  FS_TRY(fs_new_none(scratch, &c->prev, c->n));
  FS_TRY(fs_new(scratch, &c->via, c->n));
  FS_TRY(fs_new(scratch, &c->next_free, 2 * ((size_t)c->n + 1)));
  FS_TRY(fs_new_zero(scratch, &c->visited, c->n));
  for (uint32_t i = 0; i < 2 * (c->n + 1); i++) {
    c->next_free[i] = i;
  }
  FS_TRY(make_firsts(c, scratch));
  FS_TRY(make_tops(c, scratch));
  for (uint32_t i = c->n; i-- > 0 && c->n_chains <= enough;) {
    FS_TRY(match_left(c, c->by_end[i]));
  }
  *proven = !c->left_out || c->n_chains == live;
  return FSCHED_OK;
}

fs_status fs_barrier_cover(fsched_context *ctx, fs_arena *arena, const fs_cover_problem *p,
                           uint32_t enough, uint32_t *n_chains, bool *proven, uint32_t **chain,
                           uint32_t **index) {
  assert(p->n_barriers == 0 ||
         (p->producer0[p->n_barriers] > 0 && p->consumer0[p->n_barriers] > 0));
  chain_cover c = {.ctx = ctx, .p = p, .n = p->n_barriers};
  FS_TRY(fs_new(arena, chain, c.n));
  FS_TRY(fs_new(arena, index, c.n));
  FS_SCRATCH(scratch, ctx);
  fs_status status = find_cover(&c, &scratch, enough, proven);
  if (status == FSCHED_OK && c.n_chains <= enough) {
    number_chains(&c, *chain, *index);
  }
  *n_chains = c.n_chains;
  fs_vec_free(ctx, &c.trail);
  fs_vec_free(ctx, &c.lowered);
  fs_vec_free(ctx, &c.queue);
  fs_reach_release(ctx, &c.reach);
  return status;
}
