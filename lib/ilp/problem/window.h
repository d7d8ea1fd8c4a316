/* SPDX-License-Identifier: Apache-2.0 */
/* Small problems that are windows of a large one: a known answer is given, some items are free to
 * move, what is before them stays, and what is behind moves as one. */
#ifndef FS_ILP_PROBLEM_WINDOW_H
#define FS_ILP_PROBLEM_WINDOW_H

#include "ilp/problem/problem.h"

typedef struct fs_frame_moment {
  fs_tick start;
  uint32_t lasts; /* has a length */
  uint32_t rank, item;
} fs_frame_moment;

/* A known answer, and what windows are found by. */
typedef struct fs_frame {
  fs_problem *p;
  fs_answer *answer; /* with choices and addresses; may be changed, then fs_frame_update */
  fs_arena arena;
  uint32_t *rank;          /* per item: in p->topo */
  uint32_t *order;         /* items by start, those without length first, then by rank */
  uint32_t *position;      /* per item: in order */
  fs_tick *end_before;     /* [k]: the latest end of order[0..k) */
  fs_tick *begin, *end;    /* per residency */
  uint32_t *by_begin;      /* residencies */
  fs_tick *res_end_before; /* [k]: the latest end of by_begin[0..k) */
  /* Ids within the window that is being made; FS_NONE outside of fs_window_make. */
  uint32_t *local_item, *local_residency;
  fs_frame_moment *scratch;
} fs_frame;

/* Refers to both.  Requires starts.  Requires (unchecked: O(n log n)) that the answer is right.
 * O(n log n). */
fs_status fs_frame_open(fs_frame *f, fs_problem *p, fs_answer *answer) FS_MUST_USE;
void fs_frame_close(fs_frame *f);
/* After starts of the answer have changed.  Requires a frame that is open.  O(n log n). */
void fs_frame_update(fs_frame *f);

/* A window.  Times are from `base` on. */
typedef struct fs_window {
  fs_problem p;
  fsched_graph graph; /* the whole one with other names of ops, and less room in memories */
  fs_answer known;    /* the known answer */
  fs_tick base;
  fs_tick max_shift;   /* of what is behind; 0: nothing to gain, or nothing is behind */
  fs_tick *rigid;      /* per item: known start of those that move as one; NULL: there are none */
  uint32_t *item;      /* per item: which one of the whole; FS_NONE: stands for the makespan */
  uint32_t first_free; /* the free items are those from here on, */
  uint32_t n_free;     /* so many */
  uint64_t n_starts;   /* sum of the lengths of the windows of starts, and of the shift */
  bool made;           /* else there is nothing to gain, or it is too large */
  uint32_t tied;       /* not made as the item at this position cannot move; FS_NONE */
} fs_window;

/* The items at positions [from, to) are free, and start between the first of them and the first one
 * behind.  No schedule is shorter than `bound`.  At most `most_items` items.  Requires from < to,
 * and items of the answer.
 * All that can bind is in it: orders, classes of queues, amounts, residencies with their addresses
 * (memories that are counted have less room by what is there all the time).
 * O(window + its neighbours + what runs or lives across its begin); after a very long item, or
 * residency, also what has begun since.  Release it also after an error. */
fs_status fs_window_make(fs_frame *f, uint32_t from, uint32_t to, fs_tick bound,
                         uint32_t most_items, fs_window *w) FS_MUST_USE;
void fs_window_release(fs_window *w);
/* Brings an answer of the window into the whole one, which may be longer then than was known only
 * if the answer is wrong.  fs_frame_update is still to be called.  Requires a window that was made,
 * and its answer.  O(n). */
void fs_window_take(fs_frame *f, const fs_window *w, uint32_t to, const fs_answer *found);

#endif
