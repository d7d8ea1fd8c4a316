/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to get by with fewer barriers.  In each, every new order goes from an item that has started
 * to one that has not, or that started later, so all go forward in the order of starts:
 *
 *   join    a new producer takes slots in a barrier for which no command has waited yet
 *   merge   two live barriers become one, when their slots fit and the producers of each started
 *           before every command that has waited for the other
 *   absorb  the last producer y of barrier A waits for barrier B too, all of whose producers
 *           started before y, and the commands that still wait for B wait for A instead: since y
 *           waits, A implies B.  If y started before B was complete, its start moves
 *
 * The cost of a choice is how much it makes an item late, beyond the largest delay so far.  Of
 * choices of equal cost the one that shortens the lives of barriers most is the best. */
#include "barrier/fit_private.h"

enum { LOOK_AT = 16 };

uint32_t fs_fit_heir(fs_fit *f, uint32_t b) {
  assert(b < f->bar.n);
  fs_bar *bar = f->bar.at;
  while (bar[b].heir != b) {
    bar[b].heir = bar[bar[b].heir].heir;
    b = bar[b].heir;
  }
  return b;
}

static bool node_less(const fs_fit *f, uint32_t a, uint32_t b) {
  fs_tick ka = f->key[f->node[a].item];
  fs_tick kb = f->key[f->node[b].item];
  return ka != kb ? ka < kb : a < b;
}

/* Recursion goes down the right spines, which are of logarithmic length. */
uint32_t fs_fit_meld(fs_fit *f, uint32_t a, uint32_t b) {
  if (a == FS_NONE || b == FS_NONE) {
    return a == FS_NONE ? b : a;
  }
  if (node_less(f, b, a)) {
    uint32_t t = a;
    a = b;
    b = t;
  }
  fs_link_node *n = &f->node[a];
  n->right = fs_fit_meld(f, n->right, b);
  uint32_t left_rank = n->left == FS_NONE ? 0 : f->node[n->left].rank;
  uint32_t right_rank = f->node[n->right].rank;
  if (left_rank < right_rank) {
    uint32_t t = n->left;
    n->left = n->right;
    n->right = t;
  }
  n->rank = 1 + (uint32_t)fs_min(left_rank, right_rank);
  return a;
}

/* The least key of an item that still waits for b. */
static fs_tick open_key(fs_fit *f, fs_bar *b) {
  while (b->heap != FS_NONE && f->seq[f->node[b->heap].item] != FS_NONE) {
    b->heap = fs_fit_meld(f, f->node[b->heap].left, f->node[b->heap].right);
  }
  return b->heap == FS_NONE ? FS_TICK_NONE : f->key[f->node[b->heap].item];
}

static fs_tick lateness(const fs_fit *f, fs_tick when, fs_tick key) {
  assert(f->now <= FS_TICK_NONE - f->drift);
  return key >= FS_TICK_NONE - f->drift || when <= key + f->drift ? 0 : when - key - f->drift;
}

void fs_fit_free(fs_fit *f, uint32_t b) {
  assert(f->bar.at[b].live != FS_NONE && f->live.at[f->bar.at[b].live] == b);
  assert(f->n_free < f->p->bound);
  fs_bar *bar = &f->bar.at[b];
  uint32_t moved = f->live.at[--f->live.n];
  f->live.at[bar->live] = moved;
  f->bar.at[moved].live = bar->live;
  bar->live = FS_NONE;
  f->free_id[(f->free_first + f->n_free++) % f->p->bound] = bar->id;
  f->changed = true;
  f->pair_valid = false;
}

static bool better(const fs_fit_choice *a, const fs_fit_choice *b) {
  if (a->what == FS_FIT_NOTHING || b->what == FS_FIT_NOTHING) {
    return b->what == FS_FIT_NOTHING && a->what != FS_FIT_NOTHING;
  }
  return a->cost != b->cost ? a->cost < b->cost : a->saved > b->saved;
}

static fs_fit_choice merge_choice(fs_fit *f, uint32_t a, uint32_t b) {
  assert(a != b);
  fs_fit_choice c = {.what = FS_FIT_NOTHING};
  fs_bar *x = &f->bar.at[a];
  fs_bar *y = &f->bar.at[b];
  if (f->p->n_slots - x->left > y->left ||
      (x->first_seq != FS_NONE && y->last_seq >= x->first_seq) ||
      (y->first_seq != FS_NONE && x->last_seq >= y->first_seq) || x->end > y->first_start ||
      y->end > x->first_start) {
    return c;
  }
  c = (fs_fit_choice){.what = FS_FIT_MERGE, .a = a, .b = b, .saved = fs_min(x->till, y->till)};
  c.cost = fs_max(lateness(f, x->end, open_key(f, y)), lateness(f, y->end, open_key(f, x)));
  return c;
}

static fs_fit_choice absorb_choice(fs_fit *f, uint32_t a, uint32_t b) {
  fs_bar *x = &f->bar.at[a];
  fs_bar *y = &f->bar.at[b];
  if (y->last_seq >= x->last_seq) {
    return (fs_fit_choice){.what = FS_FIT_NOTHING};
  }
  fs_fit_choice c = {.what = FS_FIT_ABSORB, .a = a, .b = b, .saved = fs_min(x->till, y->till)};
  fs_tick end = x->end;
  fs_tick start = f->start[x->last];
  if (y->end > start) {
    end = fs_max(end, y->end + f->p->time[x->last]);
    c.cost = fs_max(lateness(f, y->end, f->key[x->last]), lateness(f, end, open_key(f, x)));
  }
  c.cost = fs_max(c.cost, lateness(f, end, open_key(f, y)));
  return c;
}

/* The live barriers that are tried in pairs: all, or those with the longest lives. */
static uint32_t pair_candidates(const fs_fit *f, uint32_t *of) {
  uint32_t n = 0;
  for (size_t i = 0; i < f->live.n; i++) {
    uint32_t b = f->live.at[i];
    fs_tick till = f->bar.at[b].till;
    if (n == LOOK_AT && till <= f->bar.at[of[n - 1]].till) {
      continue;
    }
    n += n < LOOK_AT;
    uint32_t k = n - 1;
    for (; k > 0 && f->bar.at[of[k - 1]].till < till; k--) {
      of[k] = of[k - 1];
    }
    of[k] = b;
  }
  return n;
}

static void find_pair_of(fs_fit *f, const uint32_t *of, size_t n) {
  f->pair = (fs_fit_choice){.what = FS_FIT_NOTHING};
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) {
      if (i == k) {
        continue;
      }
      fs_fit_choice c = absorb_choice(f, of[i], of[k]);
      f->pair = better(&c, &f->pair) ? c : f->pair;
      if (of[i] < of[k]) {
        c = merge_choice(f, of[i], of[k]);
        f->pair = better(&c, &f->pair) ? c : f->pair;
      }
    }
  }
}

static void find_pair(fs_fit *f) {
  uint32_t of[LOOK_AT] = {0};
  find_pair_of(f, of, pair_candidates(f, of));
  if (f->pair.what == FS_FIT_NOTHING && f->live.n > LOOK_AT) {
    find_pair_of(f, f->live.at, f->live.n);
  }
  f->pair_valid = true;
}

fs_fit_choice fs_fit_choose_absorbed(fs_fit *f, uint32_t u) {
  assert(f->seq[u] == FS_NONE);
  fs_fit_choice best = {.what = FS_FIT_NOTHING};
  for (size_t i = 0; i < f->live.n; i++) {
    fs_bar *x = &f->bar.at[f->live.at[i]];
    if (x->end > f->now) {
      continue;
    }
    fs_fit_choice c = {.what = FS_FIT_ABSORB, .b = f->live.at[i], .saved = x->till};
    c.cost = lateness(f, f->now + f->p->time[u], open_key(f, x));
    best = better(&c, &best) ? c : best;
  }
  return best;
}

/* Marks the barriers that u waits for, which are listed. */
static void mark_waits(fs_fit *f, uint32_t u) {
  assert(f->listed[u]);
  f->stamp++;
  for (uint32_t i = f->awaited0[u]; i < f->awaited0[u + 1]; i++) {
    f->bar.at[fs_fit_heir(f, f->awaited[i])].mark = f->stamp;
  }
}

static fs_fit_choice find_join(fs_fit *f, uint32_t u) {
  assert(f->l->need[u] > 0);
  fs_fit_choice best = {.what = FS_FIT_NOTHING};
  uint64_t rest = fs_links_rest(f->o, f->l, u);
  if (f->n_free + 1 < f->l->need[u]) {
    return best;
  }
  mark_waits(f, u);
  for (size_t i = 0; i < f->live.n; i++) {
    uint32_t a = f->live.at[i];
    fs_bar *x = &f->bar.at[a];
    if (x->left < rest || x->first_seq != FS_NONE || x->mark == f->stamp) {
      continue;
    }
    fs_fit_choice c = {.what = FS_FIT_JOIN, .a = a, .saved = fs_min(x->till, f->most_key[u])};
    c.cost = fs_max(lateness(f, f->now + f->p->time[u], open_key(f, x)),
                    lateness(f, x->end, f->least_key[u]));
    best = better(&c, &best) ? c : best;
  }
  return best;
}

fs_fit_choice fs_fit_choose(fs_fit *f, uint32_t u) {
  assert(f->seq[u] == FS_NONE);
  fs_fit_choice join = find_join(f, u);
  if (!f->pair_valid) {
    find_pair(f);
  }
  return better(&f->pair, &join) ? f->pair : join;
}

fs_tick fs_fit_wait_cost(const fs_fit *f, uint32_t u) {
  assert(f->seq[u] == FS_NONE);
  fs_tick least = FS_TICK_NONE;
  for (size_t i = 0; i < f->live.n; i++) {
    least = fs_min(least, f->bar.at[f->live.at[i]].till);
  }
  return lateness(f, fs_max(f->now, least + f->drift), f->key[u]);
}

static fs_status absorb(fs_fit *f, uint32_t a, uint32_t b) {
  assert(a != b && f->bar.at[a].live != FS_NONE && f->bar.at[b].live != FS_NONE);
  const fs_barrier_problem *p = f->p;
  fs_bar *x = &f->bar.at[a];
  fs_bar *y = &f->bar.at[b];
  uint32_t u = x->last;
  for (uint32_t k = p->item_command0[u]; k < p->item_command0[u + 1]; k++) {
    FS_TRY(fs_vec_push(f->ctx, &f->waits, (uint64_t)p->item_command[k] << 32 | b));
  }
  if (y->end > f->start[u]) {
    f->start[u] = y->end;
    f->end[u] = y->end + p->time[u];
    x->end = fs_max(x->end, f->end[u]);
  }
  return FSCHED_OK;
}

static void merge(fs_fit *f, uint32_t a, uint32_t b) {
  assert(a != b && f->bar.at[a].live != FS_NONE && f->bar.at[b].live != FS_NONE);
  assert(f->bar.at[a].left >= f->p->n_slots - f->bar.at[b].left);
  fs_bar *x = &f->bar.at[a];
  fs_bar *y = &f->bar.at[b];
  x->left -= f->p->n_slots - y->left;
  x->end = fs_max(x->end, y->end);
  x->first_seq = (uint32_t)fs_min(x->first_seq, y->first_seq);
  x->first_start = fs_min(x->first_start, y->first_start);
  if (y->last_seq > x->last_seq) {
    x->last_seq = y->last_seq;
    x->last = y->last;
  }
  y->merged = a;
  f->id_last[y->id] = y->before; /* as if b had never been */
}

fs_status fs_fit_apply(fs_fit *f, fs_fit_choice c) {
  assert(c.what == FS_FIT_MERGE || c.what == FS_FIT_ABSORB);
  assert(c.what == FS_FIT_ABSORB || c.a < c.b); /* a, the older one, has its id since before b */
  if (c.what == FS_FIT_MERGE) {
    merge(f, c.a, c.b);
  } else {
    FS_TRY(absorb(f, c.a, c.b));
  }
  fs_bar *x = &f->bar.at[c.a];
  fs_bar *y = &f->bar.at[c.b];
  x->heap = fs_fit_meld(f, x->heap, y->heap);
  x->open += y->open;
  x->till = fs_max(x->till, y->till);
  x->pure = false;
  f->n_extra += y->open + 1;
  y->heap = FS_NONE;
  y->open = 0;
  y->heir = c.a;
  fs_fit_free(f, c.b);
  return FSCHED_OK;
}
