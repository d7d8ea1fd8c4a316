/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the machine has the barriers of loops: as many, with slots for all commands that update
 * one in an iteration; and no physical barrier is that of two guards, or of a guard and of commands
 * outside of loops.  So whatever else runs, a loop has its barriers alone, and sets them anew when
 * it begins. */
#include <stdlib.h>

#include "base/context.h"
#include "verify/stream/loops/parts.h"

/* Physical barriers [low, high) of a guard's loop; FS_NONE: of commands outside. */
typedef struct barrier_range {
  uint32_t low, high, loop;
} barrier_range;

static const char *name_of(const fs_vs *v, uint32_t loop) {
  const fs_stream_loop *l = &v->s->loops[loop];
  return l->within == FS_NONE ? fs_vs_op_name(v, l->op)
                              : fs_vs_string(v, v->s->loop_ops[l->op].name);
}

static int by_low(const void *a, const void *b) {
  const barrier_range *x = a, *y = b;
  return x->low != y->low     ? (x->low < y->low ? -1 : 1)
         : x->high != y->high ? (x->high < y->high ? -1 : 1)
                              : (x->loop > y->loop) - (x->loop < y->loop);
}

/* Each guard of a loop is a range of its own. */
static fs_status list_ranges(const fs_vs *v, fs_arena *arena, barrier_range **out, uint32_t *n) {
  const fs_stream *s = v->s;
  *n = 0;
  FS_TRY(fs_new(arena, out, (size_t)s->n_guards + s->n_barriers));
  for (uint32_t l = 0; l < s->n_loops; l++) {
    for (uint32_t i = s->loops[l].guard0; i < s->loops[l].guard0 + s->loops[l].n_guards; i++) {
      const fs_stream_guard *g = &s->guards[i];
      (*out)[(*n)++] = (barrier_range){g->physical, g->physical + g->depth, l};
    }
  }
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    uint32_t physical = s->barriers[b].physical;
    (*out)[(*n)++] = (barrier_range){physical, physical + 1, FS_NONE};
  }
  if (*n > 1) {
    qsort(*out, *n, sizeof **out, by_low);
  }
  return FSCHED_OK;
}

static void check_ranges(fs_vs *v, const barrier_range *at, uint32_t n) {
  uint32_t count = v->s->meta->barrier_count,
           widest = 0; /* of those so far the one that ends last */
  for (uint32_t i = 0; i < n; i++) {
    const barrier_range *x = &at[i], *y = &at[widest];
    if (x->loop != FS_NONE && count != FS_NONE && x->high > count) {
      FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
               "loop %.80s has physical barrier %u, but these are numbered 0 to %u",
               name_of(v, x->loop), x->high - 1, count - 1);
    }
    if (i > 0 && x->low < y->high && (x->loop != FS_NONE || y->loop != FS_NONE)) {
      FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
               "physical barrier %u of loop %.80s is that of %s%.80s, too", x->low,
               name_of(v, x->loop != FS_NONE ? x->loop : y->loop),
               x->loop == FS_NONE || y->loop == FS_NONE ? "other commands" : "loop ",
               x->loop == FS_NONE || y->loop == FS_NONE ? "" : name_of(v, y->loop));
    }
    widest = x->high > y->high ? i : widest;
  }
}

/* The slots that the commands of one iteration of an op take. */
static uint64_t slots_of(const fs_vs *v, const fs_stream_loop *l, uint32_t op) {
  const fs_stream *s = v->s;
  uint64_t n = 0;
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    const fs_stream_loop_queue *of = &s->loop_queues[q];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      n += s->loop_commands[c].op == op && s->loop_commands[c].copy == 0;
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
      slots += slots_of(v, l, s->producers[k]);
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
  check_ranges(v, at, n);
  for (uint32_t l = 0; l < v->s->n_loops; l++) {
    check_slots(v, l);
  }
  return FSCHED_OK;
}
