/* SPDX-License-Identifier: Apache-2.0 */
/* Small problems that are windows of a large one: a known answer is given, some items are free to
 * move, the items before them stay, and the items behind them move as one. */
#ifndef FS_PROBLEM_WINDOW_H
#define FS_PROBLEM_WINDOW_H

#include "problem/problem.h"

typedef struct fs_frame_moment {
  fs_tick start;
  uint32_t lasts; /* number of items that have a length */
  uint32_t rank, item;
} fs_frame_moment;

/* A known answer, and the indexes by which windows are found. */
typedef struct fs_frame {
  fs_problem *p;
  fs_answer *answer; /* with choices and addresses; after a change call fs_frame_update */
  fs_arena arena;
  uint32_t *rank;          /* per item: its index in p->topo */
  uint32_t *order;         /* items by start, those without length first, then by rank */
  uint32_t *position;      /* per item: its index in order */
  fs_tick *end_before;     /* [k]: the latest end of order[0..k) */
  fs_tick *begin, *end;    /* per residency */
  uint32_t *by_begin;      /* residencies */
  fs_tick *res_end_before; /* [k]: the latest end of by_begin[0..k) */
  /* Ids within the window that is being made; FS_NONE outside of fs_window_make. */
  uint32_t *local_item, *local_residency;
  fs_frame_moment *scratch;
} fs_frame;

/* The frame refers to the problem and the answer.  Requires starts.  Requires (unchecked: O(n log
 * n)) that the answer is right.
 * O(n log n). */
fs_status fs_frame_open(fs_frame *f, fs_problem *p, fs_answer *answer) FS_MUST_USE;
void fs_frame_close(fs_frame *f);
/* To be called after starts of the answer have changed.  Requires a frame that is open.  O(n log
 * n). */
void fs_frame_update(fs_frame *f);

/* A window.  Its times count from `base`. */
typedef struct fs_window {
  fs_problem p;
  fsched_graph graph; /* the whole graph with other names of ops, and less room in memories */
  fs_answer known;    /* the known answer */
  fs_tick base;
  fs_tick max_shift;   /* of the items behind; 0: nothing to gain, or no items are behind */
  fs_tick *rigid;      /* per item that moves with the others: known start; NULL: none does */
  uint32_t *item;      /* per item: its id in the whole; FS_NONE: it stands for the makespan */
  uint32_t first_free; /* the first free item */
  uint32_t n_free;     /* number of free items, which follow each other */
  uint64_t n_starts;   /* sum of the lengths of the windows of starts, and of the shift */
  bool made;           /* false: there is nothing to gain, or the window is too large */
  uint32_t tied; /* position of the item that cannot move and prevents the window; or FS_NONE */
} fs_window;

/* Makes the window in which the items at positions [from, to) are free to start between the known
 * starts of the first of them and of the first item behind.  No schedule is shorter than `bound`.
 * A window has at most `most_items` items.  Requires from < to, and items of the answer.
 * The window has every constraint that can bind: orders, classes of queues, amounts, residencies
 * with their addresses (counted memories have less room, by the residencies that are there all the
 * time).
 * O(window + its neighbours + what runs or lives across its begin); after a very long item or
 * residency, also the items that have begun since.  Release the window also after an error. */
fs_status fs_window_make(fs_frame *f, uint32_t from, uint32_t to, fs_tick bound,
                         uint32_t most_items, fs_window *w) FS_MUST_USE;
void fs_window_release(fs_window *w);
/* Brings an answer of the window into the frame's answer, which becomes longer only if the window's
 * answer is wrong.  fs_frame_update has to be called afterwards.  Requires a window that was made,
 * and its answer.  O(n). */
void fs_window_take(fs_frame *f, const fs_window *w, uint32_t to, const fs_answer *found);

#endif
