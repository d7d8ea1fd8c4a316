/* SPDX-License-Identifier: Apache-2.0 */
/* The lower bound comes first, which most bodies attain.  Otherwise periods above it are asked for,
 * at growing distances, until a plan is found; at the sum of all latencies there is one, or none at
 * all.  Then the gap is halved while it is wide, and at last the question is for anything less than
 * the best: if there is nothing, the best is proven. */
#include "modulo/least.h"

#include "modulo/settle.h"

enum {
  NEAR = 64,  /* the first step up is a 64th of the lower bound */
  WIDE = 32,  /* a gap of a 32nd is wide */
  SHARE = 16, /* part of the steps that a question may take, but the last one */
};

typedef struct least_finder {
  fsched_context *ctx;
  fs_arena scratch;
  fs_modulo_least *least;
  fs_modulo_choice *best, next;
  fs_modulo_ratio low; /* periods up to here are refuted, or given up */
  bool refuted;        /* no period up to `low` has a plan, `low` included */
  bool given_up;       /* a question below the best was not decided */
  bool has_best;
} least_finder;

static fs_status ask_period(least_finder *f, fs_modulo_ratio period, uint64_t steps,
                            fs_decision *found) {
  const fs_modulo_least *least = f->least;
  fs_modulo_question q = {period, -1, least->memory, FS_UNBOUNDED, steps};
  FS_TRY(fs_modulo_fixed(f->ctx, least->body, &q, &f->next, found, &f->least->taken));
  bool possible = true;
  if (found->is == FS_YES) {
    FS_TRY(fs_modulo_tighten(f->ctx, least->body, &f->next, &possible));
  }
  if (!possible) {
    *found = fs_not_decided();
  }
  if (found->is == FS_YES) {
    fs_modulo_choice_copy(least->body, f->best, &f->next);
    f->has_best = true;
  } else if (!f->has_best || fs_modulo_less(f->low, period)) {
    f->low = period;
    f->refuted = found->is == FS_NO;
    f->given_up |= found->is != FS_NO;
  }
  return FSCHED_OK;
}

static uint64_t steps_left(const least_finder *f) {
  return f->least->steps - fs_min(f->least->steps, f->least->taken);
}
static uint64_t share_of_steps(const least_finder *f) {
  return fs_min(f->least->steps / SHARE, steps_left(f));
}

/* A period above `low` by so many parts of it, whole if that is no great matter. */
static fs_modulo_ratio period_above(const least_finder *f, int64_t parts) {
  fs_modulo_ratio low = f->least->lower;
  int64_t total = f->least->body->total;
  int64_t den = low.num / low.den >= 2 * NEAR ? 1 : NEAR;
  int64_t more = fs_ceiling_div(low.num * den, low.den);
  int64_t num = more + fs_ceiling_div(more * parts, NEAR);
  return num / den >= total ? (fs_modulo_ratio){total, 1} : fs_modulo_ratio_of(num, den);
}

static fs_modulo_ratio period_below(const least_finder *f, fs_modulo_ratio best);

/* Finds a first plan.  What is at `upper` or above is not asked for, but at last whether there is
 * anything below. */
static fs_status climb_up(least_finder *f, fs_decision *found) {
  fs_modulo_ratio upper = f->least->upper;
  for (int64_t parts = 1;; parts *= 2) {
    fs_modulo_ratio period = period_above(f, parts);
    bool last = period.num == f->least->body->total && period.den == 1;
    if (upper.den != 0 && !fs_modulo_less(period, upper)) {
      period = period_below(f, upper);
      if (f->refuted && !f->given_up && !fs_modulo_less(f->low, period)) {
        *found = fs_decided_by(false);
        return FSCHED_OK;
      }
      return ask_period(f, period, steps_left(f), found);
    }
    FS_TRY(ask_period(f, period, last ? steps_left(f) : share_of_steps(f), found));
    if (found->is == FS_YES || last || steps_left(f) == 0) {
      return FSCHED_OK;
    }
  }
}

/* The largest period below the best that a plan can have, or somewhat more. */
static fs_modulo_ratio period_below(const least_finder *f, fs_modulo_ratio best) {
  fs_modulo_ratio lower = f->least->lower;
  int64_t total = f->least->body->total;
  int64_t whole = lower.num / lower.den;
  int64_t most = total / (whole > 0 ? whole : 1) + 1;
  if (lower.num <= INT64_MAX / 2 / most && total <= INT64_MAX / 2 / lower.den) {
    most = total * lower.den / lower.num;
  }
  return fs_modulo_ratio_of(best.num * most - 1, best.den * most);
}

/* A fraction between two of small denominator. */
static fs_modulo_ratio middle_of(fs_modulo_ratio a, fs_modulo_ratio b) {
  for (int64_t den = 1;; den *= 2) {
    int64_t low = fs_floor_div(a.num * den, a.den), high = fs_ceiling_div(b.num * den, b.den);
    if (high - low >= 4) {
      return fs_modulo_ratio_of(low + (high - low) / 2, den);
    }
  }
}

static bool gap_is_wide(const least_finder *f) {
  fs_modulo_ratio best = f->best->period, low = f->low;
  int64_t low_part = low.num + fs_ceiling_div(low.num, WIDE);
  return fs_modulo_less((fs_modulo_ratio){low_part, low.den}, best);
}

/* Asks for less until there is nothing, or steps run out. */
static fs_status climb_down(least_finder *f) {
  for (;;) {
    fs_modulo_ratio below = period_below(f, f->best->period);
    fs_decision found;
    if (f->refuted && !f->given_up && !fs_modulo_less(f->low, below)) {
      f->least->proven = true;
      return FSCHED_OK;
    }
    if (gap_is_wide(f)) {
      FS_TRY(ask_period(f, middle_of(f->low, f->best->period), share_of_steps(f), &found));
      continue;
    }
    FS_TRY(ask_period(f, below, steps_left(f), &found));
    if (found.is != FS_YES) {
      f->least->proven = found.is == FS_NO;
      return FSCHED_OK;
    }
  }
}

static fs_status find_least(least_finder *f) {
  fs_modulo_least *least = f->least;
  fs_decision found;
  f->low = least->lower;
  FS_TRY(fs_modulo_choice_new(&f->scratch, least->body, &f->next));
  FS_TRY(ask_period(f, least->lower, fs_max(least->steps / 4, 1), &found));
  if (found.is == FS_YES) {
    least->proven = true;
    least->found = found;
    return FSCHED_OK;
  }
  FS_TRY(climb_up(f, &found));
  least->found = found;
  return found.is == FS_YES ? climb_down(f) : FSCHED_OK;
}

fs_status fs_modulo_least_period(fsched_context *ctx, fs_modulo_least *least,
                                 fs_modulo_choice *best) {
  assert(least->lower.num > 0);
  assert(best->start != NULL);
  least_finder f = {.ctx = ctx, .least = least, .best = best};
  least->proven = false;
  least->taken = 0;
  fs_arena_init(&f.scratch, ctx);
  fs_status status = find_least(&f);
  fs_arena_release(&f.scratch);
  return status;
}
