/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers of the library, which go by vectors where the processor has them, against the same
 * source compiled without: the same answers, the same entries, and nothing written beyond what the
 * capacity or the room allows.  On other processors both are the same. */
#include <string.h>

#include "base/base.h"
#include "fsched/frontier.h"
#include "kit/gen.h"
#include "kit/suite.h"

/* The plain walks get other names here. */
#undef FS_PLAIN
#define FS_PLAIN
#define fsched_frontier_validate plain_validate
#define fsched_frontier_dominates plain_dominates
#define fsched_frontier_satisfied plain_satisfied
#define fsched_frontier_compare plain_compare
#define fsched_frontier_merge plain_merge
#define fsched_frontier_merge_dominated plain_merge_dominated
#define fsched_frontier_raise plain_raise
#define fsched_frontier_undominated plain_undominated
#include "frontier/frontier.c"
#undef fsched_frontier_validate
#undef fsched_frontier_dominates
#undef fsched_frontier_satisfied
#undef fsched_frontier_compare
#undef fsched_frontier_merge
#undef fsched_frontier_merge_dominated
#undef fsched_frontier_raise
#undef fsched_frontier_undominated

enum { MOST = 40, ROOM = 2 * MOST + 8 };

/* Entries with others around them that must stay as they are. */
typedef struct guarded {
  frontier_entry before[2], at[ROOM], after[2];
  fsched_frontier f;
} guarded;

static void empty(guarded *g, uint32_t capacity) {
  memset(g, 0x5a, sizeof *g);
  g->f = (fsched_frontier){.entry = g->at, .capacity = capacity};
}

static void push(guarded *g, fsched_axis axis, uint64_t epoch) {
  g->at[g->f.n++] = (frontier_entry){axis, epoch};
}

static void copy(guarded *to, const guarded *from) {
  *to = *from;
  to->f.entry = to->at;
}

/* Checks that entries are the same up to n, and that those from `limit` on and around are
 * unchanged. */
static void check_same(const guarded *a, const guarded *b, uint32_t limit, const char *what) {
  guarded fresh;
  empty(&fresh, 0);
  bool same = a->f.n == b->f.n && a->f.tainted == b->f.tainted &&
              memcmp(a->at, b->at, a->f.n * sizeof(frontier_entry)) == 0;
  bool kept = memcmp(a->before, fresh.before, sizeof a->before) == 0 &&
              memcmp(a->after, fresh.after, sizeof a->after) == 0 &&
              memcmp(a->at + limit, fresh.at + limit, (ROOM - limit) * sizeof(frontier_entry)) == 0;
  if (!same || !kept) {
    ck_abort_msg("%s: %u and %u entries, %s", what, a->f.n, b->f.n, same ? "beyond" : "others");
  }
}

static void check_undominated(const guarded *known, const guarded *wanted, uint32_t room) {
  guarded a, b;
  empty(&a, 0);
  empty(&b, 0);
  a.f.n = fsched_frontier_undominated(&known->f, &wanted->f, a.at, room);
  b.f.n = plain_undominated(&known->f, &wanted->f, b.at, room);
  uint32_t total = a.f.n;
  if (total != b.f.n) {
    ck_abort_msg("undominated: %u, not %u", total, b.f.n);
  }
  a.f.n = b.f.n = (uint32_t)fs_min(total, room);
  check_same(&a, &b, room, "undominated");
}

static void check_raise(const guarded *g, frontier_entry e) {
  guarded a, b;
  frontier_entry out_a = {0, 0};
  frontier_entry out_b = {0, 0};
  copy(&a, g);
  copy(&b, g);
  int left_a = fsched_frontier_raise(&a.f, e, &out_a);
  int left_b = plain_raise(&b.f, e, &out_b);
  if (left_a != left_b || memcmp(&out_a, &out_b, sizeof out_a) != 0) {
    ck_abort_msg("raise: %d and %d left", left_a, left_b);
  }
  check_same(&a, &b, (uint32_t)fs_max(g->f.capacity, g->f.n), "raise");
}

/* Checks every operation on two frontiers. */
static void check_pair(const guarded *x, const guarded *y) {
  guarded a, b;
  if (fsched_frontier_compare(&x->f, &y->f) != plain_compare(&x->f, &y->f) ||
      fsched_frontier_dominates(&x->f, &y->f) != plain_dominates(&x->f, &y->f) ||
      fsched_frontier_satisfied(&x->f, &y->f) != plain_satisfied(&x->f, &y->f)) {
    ck_abort_msg("other order of %u and %u entries", x->f.n, y->f.n);
  }
  copy(&a, x);
  copy(&b, x);
  if (fsched_frontier_merge_dominated(&a.f, &y->f) != plain_merge_dominated(&b.f, &y->f)) {
    ck_abort_msg("merge: other dominance");
  }
  check_same(&a, &b, x->f.capacity, "merge");
  check_undominated(x, y, y->f.n);
}

/* There are nine axes.  Five in a row, beginning at the first, third or fifth, are absent in one
 * frontier, or are in both with the same epochs or with either larger, in all combinations.  The
 * others are in both. */
START_TEST(plain_exhaustive)
{
  enum { AXES = 9, KINDS = 6, SPREAD = 5 };
  for (uint32_t shift = 0; shift < 3; shift++) {
    for (uint32_t number = 0; number < KINDS * KINDS * KINDS * KINDS * KINDS; number++) {
      guarded x, y;
      empty(&x, 2 * AXES);
      empty(&y, 2 * AXES);
      uint32_t rest = number;
      for (uint32_t i = 0; i < AXES; i++) {
        bool free = i >= 2 * shift && i < 2 * shift + SPREAD;
        uint32_t kind = free ? rest % KINDS : 3 + (i + shift) % 3;
        rest /= free ? KINDS : 1;
        if (kind != 0 && kind != 2) {
          push(&x, 10 + i, kind == 4 ? 1 : 2);
        }
        if (kind != 0 && kind != 1) {
          push(&y, 10 + i, kind == 5 ? 1 : 2);
        }
      }
      check_pair(&x, &y);
      x.f.capacity = x.f.n;
      check_pair(&x, &y);
    }
  }
}
END_TEST

static uint64_t wild(fs_rng *r) {
  return fs_rng_one_in(r, 3) ? UINT64_MAX - fs_rng_below(r, 3)
                             : (fs_rng_one_in(r, 2) ? 1 + fs_rng_below(r, 3) : fs_rng_next(r) | 1);
}

/* Draws axes from 0 up to the highest; those of the two are the same, different, or mixed. */
static void random_pair(fs_rng *r, guarded *x, guarded *y) {
  uint32_t n = fs_rng_one_in(r, 2) ? fs_rng_below(r, 12) : fs_rng_below(r, MOST);
  uint32_t most = fs_rng_one_in(r, 2) ? 8 : MOST;
  uint32_t mix = fs_rng_below(r, 4);
  uint32_t apart = fs_rng_one_in(r, 2) ? 2 : MOST;
  fsched_axis axis = fs_rng_one_in(r, 2) ? 0 : UINT64_MAX - 4 * (uint64_t)n;
  empty(x, 0);
  empty(y, 0);
  for (uint32_t i = 0; i < n; i++) {
    bool in_x = mix == 0 || mix == 3 ? true : fs_rng_one_in(r, 2);
    bool in_y = mix == 0 ? true : mix == 3 ? !fs_rng_one_in(r, 8) : fs_rng_one_in(r, 2);
    if (mix == 2 && !in_x) {
      in_y = true;
    }
    if (in_x && x->f.n < most) {
      push(x, axis, wild(r));
    }
    if (in_y && y->f.n < most) {
      bool equal = in_x && x->f.n > 0 && !fs_rng_one_in(r, apart);
      push(y, axis, equal ? x->at[x->f.n - 1].epoch : wild(r));
    }
    axis += axis < UINT64_MAX / 2 ? 1 + fs_rng_below(r, 3) : 4;
  }
  if (n > 0 && fs_rng_one_in(r, 4) && x->f.n > 0 && x->at[x->f.n - 1].axis < UINT64_MAX) {
    push(x, UINT64_MAX, wild(r));
  }
  for (uint32_t i = y->f.n; i < ROOM; i++) { /* these are noticed if they come to x */
    y->at[i].epoch = UINT64_MAX;
  }
}

START_TEST(plain_random)
{
  fs_rng r = {11};
  for (int round = 0; round < 30000; round++) {
    guarded x, y;
    random_pair(&r, &x, &y);
    uint32_t more = fs_rng_one_in(&r, 2) ? y.f.n : fs_rng_below(&r, y.f.n + 1);
    x.f.capacity = x.f.n + more;
    y.f.capacity = y.f.n;
    x.f.tainted = fs_rng_one_in(&r, 9);
    y.f.tainted = fs_rng_one_in(&r, 9);
    check_pair(&x, &y);
    check_undominated(&x, &y, fs_rng_below(&r, y.f.n + 3));
    bool hit = x.f.n > 0 && fs_rng_one_in(&r, 2);
    fsched_axis near = hit ? x.at[fs_rng_below(&r, x.f.n)].axis : fs_rng_below(&r, 2 * MOST);
    check_raise(&x, (frontier_entry){near + fs_rng_one_in(&r, 2), wild(&r)});
    if (x.f.capacity == x.f.n) {
      x.f.capacity++;
      check_raise(&x, (frontier_entry){near, wild(&r)});
    }
  }
}
END_TEST

FS_SUITE(frontier_plain, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 90);
  FS_TESTS(t, plain_exhaustive, plain_random);
}
