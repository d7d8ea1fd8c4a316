/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the machine has the barriers of loops: as many, with slots for all commands that update
 * one in an iteration; and no physical barrier is that of two guards of a loop, or of those in
 * loops in it, or of a guard and of commands outside of loops.
 *
 * Loops that stand one after another may have the same ones: all commands of the one are complete
 * before any of the other starts.  The walk (stream/walk.c) tells that, of each loop and those that
 * had its barriers last; these were behind all that had them before.  For that the physical
 * barriers of guards are cut into stretches at all of the guards' ends.
 *
 * So whatever else runs, a loop has its barriers alone, and sets them anew when it begins; where
 * its runs are joined, when the loop around it does. */
#include <stdlib.h>

#include "base/context.h"
#include "base/radix.h"
#include "verify/stream/loops/parts.h"

/* Physical barriers [low, high), of a guard's loop or, with a loop of FS_NONE, of commands outside;
 * nest: the op of the stream which the outermost loop around is. */
typedef struct barrier_range {
  uint32_t low, high, loop, nest;
} barrier_range;

static const char *name_of(const fs_vs *v, uint32_t loop) {
  const fs_stream_loop *l = &v->s->loops[loop];
  return l->within == FS_NONE ? fs_vs_op_name(v, l->op)
                              : fs_vs_string(v, v->s->loop_ops[l->op].name);
}

static uint32_t nest_of(const fs_stream *s, uint32_t loop) {
  while (s->loops[loop].within != FS_NONE) {
    loop = s->loops[loop].within;
  }
  return s->loops[loop].op;
}

static int by_low(const void *a, const void *b) {
  const barrier_range *x = a, *y = b;
  return x->low != y->low     ? (x->low < y->low ? -1 : 1)
         : x->high != y->high ? (x->high < y->high ? -1 : 1)
                              : (x->loop > y->loop) - (x->loop < y->loop);
}

static int by_nest(const void *a, const void *b) {
  const barrier_range *x = a, *y = b;
  return x->nest != y->nest ? (x->nest < y->nest ? -1 : 1) : by_low(a, b);
}

static void sort_ranges(barrier_range *at, uint32_t n, int (*order)(const void *a, const void *b)) {
  if (n > 1) {
    qsort(at, n, sizeof *at, order);
  }
}

/* Each guard of a loop is a range of its own; then come those of commands outside. */
static fs_status list_ranges(const fs_vs *v, fs_arena *arena, barrier_range **out, uint32_t *n) {
  const fs_stream *s = v->s;
  *n = 0;
  FS_TRY(fs_new(arena, out, (size_t)s->n_guards + s->n_barriers));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    uint32_t nest = nest_of(s, l);
    for (uint32_t i = s->loops[l].guard0; i < s->loops[l].guard0 + s->loops[l].n_guards; i++) {
      const fs_stream_guard *g = &s->guards[i];
      (*out)[(*n)++] = (barrier_range){g->physical, g->physical + g->depth, l, nest};
    }
  }
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    uint32_t physical = s->barriers[b].physical;
    (*out)[(*n)++] = (barrier_range){physical, physical + 1, FS_NONE, FS_NONE};
  }
  return FSCHED_OK;
}

static void report_shared(fs_vs *v, const barrier_range *x, const barrier_range *y) {
  bool outside = x->loop == FS_NONE || y->loop == FS_NONE;
  FS_WRONG(v, FS_DIAG_VERIFY_BARRIER, "physical barrier %u of loop %.80s is that of %s%.80s, too",
           x->low, name_of(v, x->loop != FS_NONE ? x->loop : y->loop),
           outside ? "other commands" : "loop ", outside ? "" : name_of(v, y->loop));
}

/* No two guards of a nest have a barrier in common, and each is one that the machine has.  Requires
 * ranges of guards, by nest. */
static void check_nests(fs_vs *v, const barrier_range *at, uint32_t n) {
  uint32_t count = v->s->meta->barrier_count, widest = 0; /* widest: the one that ends last */
  for (uint32_t i = 0; i < n; i++) {
    const barrier_range *x = &at[i], *y = &at[widest];
    assert(x->loop != FS_NONE);
    if (count != FS_NONE && x->high > count) {
      FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
               "loop %.80s has physical barrier %u, but these are numbered 0 to %u",
               name_of(v, x->loop), x->high - 1, count - 1);
    }
    if (i > 0 && x->nest == y->nest && x->low < y->high) {
      report_shared(v, x, y);
    }
    widest = x->nest != y->nest || x->high > y->high ? i : widest;
  }
}

/* No guard has a barrier that commands outside have.  Requires ranges by their begin. */
static void check_outside(fs_vs *v, const barrier_range *at, uint32_t n) {
  const barrier_range *guard = NULL, *outside = NULL; /* of each kind, the one that ends last */
  for (uint32_t i = 0; i < n; i++) {
    const barrier_range *x = &at[i], *other = x->loop == FS_NONE ? guard : outside;
    if (other != NULL && x->low < other->high) {
      report_shared(v, x, other);
    }
    const barrier_range **last = x->loop == FS_NONE ? &outside : &guard;
    *last = *last == NULL || x->high > (*last)->high ? x : *last;
  }
}

/* ---- stretches */

/* The stretch that begins with a physical barrier. */
static uint32_t stretch_of(const fs_vs *v, uint32_t physical) {
  uint32_t low = 0, high = v->n_stretches;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(v->stretch_first[middle] <= physical ? &low : &high) = middle;
  }
  assert(v->stretch_first[low] == physical);
  return low;
}

/* Cuts the barriers of guards into stretches; the last one begins at the end of all.  Requires
 * ranges of guards, by nest. */
static fs_status make_stretches(fs_vs *v, fs_arena *arena, const barrier_range *at, uint32_t n) {
  uint64_t *end;
  FS_TRY(fs_new(arena, &end, 4 * (size_t)n));
  for (uint32_t i = 0; i < n; i++) {
    end[2 * i] = at[i].low;
    end[2 * i + 1] = at[i].high;
  }
  fs_radix_sort_block(end, 2 * (size_t)n);
  FS_TRY(fs_new(&v->arena, &v->stretch_first, 2 * (size_t)n));
  for (uint32_t i = 0; i < 2 * n; i++) {
    if (i == 0 || end[i] != end[i - 1]) {
      v->stretch_first[v->n_stretches++] = (uint32_t)end[i];
    }
  }
  FS_TRY(fs_new_none(&v->arena, &v->stretch_op, v->n_stretches));
  FS_TRY(fs_new(&v->arena, &v->nest_guard, n));
  for (uint32_t i = 0; i < n; i++) {
    v->nest_guard[v->n_nest_guards++] =
        (fs_vguard){at[i].nest, stretch_of(v, at[i].low), stretch_of(v, at[i].high)};
  }
  return FSCHED_OK;
}

/* Whether all commands of a loop are complete. */
static bool is_over(const fs_vs *v, uint32_t op, const fs_vdense *known, uint32_t *command) {
  bool over = true;
  for (uint32_t k = v->op_command0[op]; k < v->op_command0[op + 1] && over; k++) {
    *command = v->op_command[k];
    over = fs_vs_before(v, known, *command);
  }
  return over;
}

static uint32_t first_guard(const fs_vs *v, uint32_t op) {
  uint32_t low = 0, high = v->n_nest_guards;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    *(v->nest_guard[middle].op < op ? &low : &high) =
        v->nest_guard[middle].op < op ? middle + 1 : middle;
  }
  return low;
}

void fs_vs_guards_begin(fs_vs *v, uint32_t op, const fs_vdense *known) {
  assert(op < v->s->n_ops);
  uint32_t checked = FS_NONE, command;
  char name[FS_VNAME];
  for (uint32_t i = first_guard(v, op); i < v->n_nest_guards && v->nest_guard[i].op == op; i++) {
    for (uint32_t k = v->nest_guard[i].low; k < v->nest_guard[i].high; k++) {
      uint32_t other = v->stretch_op[k];
      v->stretch_op[k] = op;
      if (other != FS_NONE && other != op && other != checked &&
          !is_over(v, other, known, &command)) {
        FS_WRONG(
            v, FS_DIAG_VERIFY_BARRIER,
            "physical barrier %u of loop %.80s is that of loop %.80s, too, and nothing orders it "
            "after %s",
            v->stretch_first[k], fs_vs_op_name(v, op), fs_vs_op_name(v, other),
            fs_vs_command_name(v, command, name));
      }
      checked = other == FS_NONE ? checked : other;
    }
  }
}

/* ---- slots */

/* The slots of a guard that the commands of one iteration of an op take. */
static uint64_t slots_of(const fs_vs *v, const fs_stream_loop *l, const fs_stream_guard *g,
                         uint32_t op) {
  const fs_stream *s = v->s;
  uint64_t n = 0;
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    const fs_stream_loop_queue *of = &s->loop_queues[q];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      n += s->loop_commands[c].op == op && s->loop_commands[c].copy == 0 &&
           (g->queue == FS_NONE || g->queue == of->queue);
    }
  }
  return n * s->loop_ops[op].slots;
}

static void check_slots(fs_vs *v, uint32_t loop) {
  const fs_stream *s = v->s;
  const fs_stream_loop *l = &s->loops[loop];
  for (uint32_t i = l->guard0; i < l->guard0 + l->n_guards; i++) {
    const fs_stream_guard *g = &s->guards[i];
    uint64_t slots = 0;
    for (uint32_t k = g->producer0; k < g->producer0 + g->n_producers; k++) {
      slots += slots_of(v, l, g, s->producers[k]);
    }
    if (s->meta->barrier_slots != FS_NONE && slots > s->meta->barrier_slots) {
      FS_WRONG(
          v, FS_DIAG_VERIFY_SLOTS,
          "loop %.80s: the producers of the barriers from %u on take %llu slots, and a barrier "
          "has %u",
          name_of(v, loop), g->physical, (unsigned long long)slots, s->meta->barrier_slots);
    }
  }
}

fs_status fs_vs_guards(fs_vs *v) {
  assert(v->op_command0 != NULL);
  FS_SCRATCH(scratch, v->ctx);
  barrier_range *at;
  uint32_t n;
  if (v->s->n_guards == 0) {
    return FSCHED_OK;
  }
  FS_TRY(list_ranges(v, &scratch, &at, &n));
  sort_ranges(at, v->s->n_guards, by_nest);
  check_nests(v, at, v->s->n_guards);
  FS_TRY(make_stretches(v, &scratch, at, v->s->n_guards));
  sort_ranges(at, n, by_low);
  check_outside(v, at, n);
  for (uint32_t l = 0; l < v->s->n_loops; l++) {
    check_slots(v, l);
  }
  return FSCHED_OK;
}
