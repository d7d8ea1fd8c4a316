/* SPDX-License-Identifier: Apache-2.0 */
/* Who is over before whom: distances along chains of links, of which loop.h tells.
 *
 * Links are collected in matrices over ops, one for each use of them: all as they are, to find
 * circles; raised, for ascending chains; those that always hold, for descending ones.  Then
 * shortest paths (Floyd and Warshall) close those of starts, and a first link, which tells that an
 * op is over, is put before them. */
#include "verify/loop/parts.h"

typedef struct before_finder {
  const fs_loop_links *links;
  uint32_t n;
  int64_t copies;
  /* [from * n + to]: the least lags of links, FS_LOOP_FAR for none */
  int64_t *circle;     /* "starts before", as they are */
  int64_t *started;    /* "starts before", raised */
  int64_t *over;       /* "is over before", raised */
  int64_t *fixed;      /* "is over before", as they are, but without waits at a distance */
  int64_t *back;       /* "starts before", the same of those that do not go forth */
  int64_t *descending; /* "is over before", by descending chains */
  uint64_t steps;
} before_finder;

static void lower(int64_t *cell, int64_t value) { *cell = value < *cell ? value : *cell; }

/* The op that it is one with where circles are looked for. */
static uint32_t one_of(const before_finder *f, uint32_t op) {
  uint32_t u = (uint32_t)f->copies;
  return f->links->one == NULL ? op : f->links->one[op / u] * u + op % u;
}

static void add_link(void *user, const fs_loop_link *link) {
  before_finder *f = user;
  size_t cell = (size_t)link->from * f->n + link->to;
  int64_t raised = fs_loop_raise(link->lag, link->since, f->copies);
  lower(&f->circle[(size_t)one_of(f, link->from) * f->n + one_of(f, link->to)], link->own);
  lower(&f->started[cell], raised);
  if (link->over) {
    lower(&f->over[cell], raised);
  }
  if (link->since == 0 && link->over) {
    lower(&f->fixed[cell], link->lag);
  }
  if (link->since == 0 && link->lag <= 0) {
    lower(&f->back[cell], link->lag);
  }
}

/* Lowers row `out` to what a distance and row `next` add up to. */
static void lower_row(before_finder *f, int64_t *out, int64_t distance, const int64_t *next) {
  for (uint32_t j = 0; j < f->n; j++) {
    if (next[j] != FS_LOOP_FAR) {
      lower(&out[j], distance + next[j]);
    }
  }
  f->steps += f->n;
}

/* Shortest paths.  Returns an op on a circle of no distance, with which it ends early, so that no
 * sum is of more than two paths without circles; else FS_NONE. */
static uint32_t close_paths(before_finder *f, int64_t *m) {
  size_t n = f->n;
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < n; i++) {
      if (m[i * n + k] != FS_LOOP_FAR) {
        lower_row(f, &m[i * n], m[i * n + k], &m[k * n]);
      }
    }
    for (size_t i = 0; i < n; i++) {
      if (m[i * n + i] <= 0) {
        return (uint32_t)i;
      }
    }
  }
  return FS_NONE;
}

/* Lowers `out` to chains: a link of `first` that is at most `most`, then a path or nothing. */
static void lower_chains(before_finder *f, const int64_t *first, int64_t most, const int64_t *path,
                         int64_t *out) {
  size_t n = f->n;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) {
      int64_t link = first[i * n + k];
      if (link <= most) {
        lower(&out[i * n + k], link);
        lower_row(f, &out[i * n], link, &path[k * n]);
      }
    }
  }
}

/* Joins descending chains, which give distances up to 1 - copies, with what gives those above. */
static void join_descending(const before_finder *f, int64_t *least) {
  for (size_t cell = 0; cell < (size_t)f->n * f->n; cell++) {
    int64_t sum = f->descending[cell];
    lower(&least[cell], f->fixed[cell]);
    if (sum != FS_LOOP_FAR && least[cell] <= fs_loop_raise(sum, 2 - f->copies, f->copies)) {
      lower(&least[cell], sum);
    }
  }
}

static fs_status new_matrix(const before_finder *f, fs_arena *arena, int64_t **out) {
  size_t cells = (size_t)f->n * f->n;
  FS_TRY(fs_new(arena, out, cells));
  for (size_t cell = 0; cell < cells; cell++) {
    (*out)[cell] = FS_LOOP_FAR;
  }
  return FSCHED_OK;
}

static fs_status begin_links(before_finder *f, fs_arena *arena) {
  FS_TRY(new_matrix(f, arena, &f->circle));
  FS_TRY(new_matrix(f, arena, &f->started));
  FS_TRY(new_matrix(f, arena, &f->over));
  FS_TRY(new_matrix(f, arena, &f->fixed));
  FS_TRY(new_matrix(f, arena, &f->back));
  FS_TRY(new_matrix(f, arena, &f->descending));
  fs_loop_links_walk(f->links, add_link, f);
  return FSCHED_OK;
}

/* Without a circle of no distance of all links there is none of some of them, raised or not. */
static void find_least(before_finder *f, int64_t *least) {
  uint32_t forth = close_paths(f, f->started), back = close_paths(f, f->back);
  assert(forth == FS_NONE && back == FS_NONE);
  (void)forth;
  (void)back;
  lower_chains(f, f->over, FS_LOOP_FAR - 1, f->started, least);
  lower_chains(f, f->fixed, 0, f->back, f->descending);
  join_descending(f, least);
}

fs_status fs_loop_before_find(fsched_context *ctx, fs_arena *arena, const fs_loop_links *links,
                              fs_loop_before *out) {
  FS_SCRATCH(scratch, ctx);
  before_finder f = {.links = links, .n = links->n_ops, .copies = links->r->copies};
  *out = (fs_loop_before){.n = f.n};
  FS_TRY(begin_links(&f, &scratch));
  FS_TRY(new_matrix(&f, arena, &out->least));
  out->stuck = close_paths(&f, f.circle);
  if (out->stuck == FS_NONE) {
    find_least(&f, out->least);
  }
  out->steps = f.steps;
  return FSCHED_OK;
}
