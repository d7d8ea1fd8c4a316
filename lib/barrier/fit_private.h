/* SPDX-License-Identifier: Apache-2.0 */
/* State of the list simulation in fit.c, and the choices of fit_choose.c. */
#ifndef FS_BARRIER_FIT_PRIVATE_H
#define FS_BARRIER_FIT_PRIVATE_H

#include "barrier/fit.h"
#include "base/heap.h"

/* A barrier while it is built.  A link of one of its producers is open until its command starts. */
typedef struct fs_bar {
  uint32_t id, before;
  uint32_t merged;              /* the barrier that took all of it over, or itself */
  uint32_t heir;                /* where its open links are, itself at first */
  uint64_t left;                /* slots */
  uint32_t open;                /* links */
  uint32_t heap;                /* the open links by key, and some that have been closed */
  uint32_t last;                /* the producer that started last */
  uint32_t last_seq, first_seq; /* seq of `last`; of the first command that waited, or FS_NONE */
  uint32_t live;                /* its index in fs_fit.live; FS_NONE: it has given up its id */
  uint32_t mark;
  fs_tick first_start;            /* of the first command that waited, or FS_TICK_NONE */
  fs_tick end;                    /* latest end of its producers */
  fs_tick till;                   /* largest key of a link */
  uint32_t sleeper, last_sleeper; /* a list of items that sleep until it is over */
  bool waking;                    /* it is in fs_fit.wakes */
  bool pure; /* its producers are of one group, and no links came from other barriers */
} fs_bar;

typedef struct fs_link_node { /* of a leftist heap */
  uint32_t left, right, rank, item;
} fs_link_node;

typedef enum fs_fit_what { FS_FIT_NOTHING, FS_FIT_JOIN, FS_FIT_MERGE, FS_FIT_ABSORB } fs_fit_what;

typedef struct fs_fit_choice {
  fs_fit_what what;
  uint32_t a, b; /* join a; a takes b over; the last producer of a absorbs b */
  fs_tick cost, saved;
} fs_fit_choice;

typedef struct fs_fit {
  fsched_context *ctx;
  const fs_order *o;
  const fs_links *l;
  const fs_barrier_problem *p;
  fs_fit_policy policy;
  fs_tick *key;                  /* per item: a later start is late; see fs_fit_policy.slack */
  fs_tick *priority;             /* per item: the least goes first */
  fs_tick *start, *end;          /* per item */
  fs_tick *least_key, *most_key; /* per item: of the keys of commands that wait for it */
  uint32_t *seq;                 /* per item: FS_NONE until it starts */
  uint32_t *sequence, n_started;
  uint32_t *heads, *wanting;    /* per item: members at the heads of queues; links not yet over */
  uint32_t *bar0, *bars;        /* per item: its barriers */
  uint32_t *awaited0, *awaited; /* per item: the barriers it waits for, or those that have taken
                                   them over; listed when it is looked at first */
  bool *listed;                 /* per item */
  uint32_t *current;            /* per group: the last barrier of its own, or FS_NONE */
  fs_link_node *node;           /* per link and barrier of its item */
  uint32_t *node0;              /* per item: the first of its links */
  FS_VEC(fs_bar) bar;
  FS_VEC(uint64_t) waits; /* command << 32 | barrier */
  FS_VEC(uint32_t) live;
  FS_VEC(uint32_t) blocked;
  uint32_t *free_id, free_first, n_free; /* ring of ids */
  uint32_t *id_last;                     /* per id: the barrier that had it last */
  uint32_t *next_sleeper;                /* per item: the next one on the list of its barrier */
  fs_heap wakes;  /* barriers with sleepers; their ends may have moved since */
  fs_heap events; /* of items (fit.c): one may start, is over, lets its queues go on */
  fs_heap ready;
  fs_tick now;
  fs_tick drift;      /* the most by which an item has started after its `key` */
  bool changed;       /* the state has changed in a way that may help a blocked item */
  bool pair_valid;    /* `pair` still fits the current state */
  fs_fit_choice pair; /* the best choice that makes one barrier of two */
  uint32_t stamp;
  uint64_t n_extra;
} fs_fit;

/* The best way for item u to start without another free barrier.  Requires an item that has not
 * started. */
fs_fit_choice fs_fit_choose(fs_fit *f, uint32_t u);
/* The best barrier for u to absorb when u starts now: its producers are over.  FS_FIT_ABSORB with
 * `b`, or FS_FIT_NOTHING.  Requires an item that has not started. */
fs_fit_choice fs_fit_choose_absorbed(fs_fit *f, uint32_t u);
/* The time that waiting for a free barrier is expected to cost item u.  Requires an item that has
 * not started. */
fs_tick fs_fit_wait_cost(const fs_fit *f, uint32_t u);
/* Merges or absorbs: one physical barrier is free afterwards.  Requires a choice that merges or
 * absorbs. */
fs_status fs_fit_apply(fs_fit *f, fs_fit_choice c) FS_MUST_USE;

/* The barrier that has the open links of b now.  Requires a barrier. */
uint32_t fs_fit_heir(fs_fit *f, uint32_t b);
uint32_t fs_fit_meld(fs_fit *f, uint32_t a, uint32_t b);
/* Takes its physical barrier away from b.  Requires a barrier that is live. */
void fs_fit_free(fs_fit *f, uint32_t b);

#endif
