/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the barriers of all guards, ascending by physical barrier, so that one that several
 * guards have is one here, too. */
#include "exec/host/guards.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/group.h"
#include "base/saturate.h"
#include "model/stream/order.h"

typedef struct guard_range {
  uint32_t physical, guard;
} guard_range;

/* No two entries are equal, as each guard occurs once. */
static int by_physical(const void *a, const void *b) {
  const guard_range *x = a, *y = b;
  return x->physical != y->physical ? (x->physical > y->physical) - (x->physical < y->physical)
                                    : (x->guard > y->guard) - (x->guard < y->guard);
}

/* The most iterations that the barriers of a loop count from when they are set: those of a run, or
 * of all that are joined. */
static uint64_t iterations_counted(const fs_stream *s, const fs_stream_loop *l) {
  return l->joined != 0 ? fs_multiply_most(l->most, s->loops[l->within].most) : l->most;
}

/* Iterations beyond the most that there are need no barrier. */
static void find_used(const fs_stream *s, fs_guards *out) {
  for (uint32_t l = 0; l < s->n_loops; l++) {
    for (uint32_t g = s->loops[l].guard0; g < s->loops[l].guard0 + s->loops[l].n_guards; g++) {
      out->used[g] = (uint32_t)fs_min(s->guards[g].depth, iterations_counted(s, &s->loops[l]));
    }
  }
}

static fs_status number_barriers(fs_arena *arena, const fs_stream *s, fs_guards *out) {
  guard_range *sorted;
  fs_arena_mark mark = fs_arena_set_mark(arena);
  FS_TRY(fs_new(arena, &sorted, s->n_guards));
  for (uint32_t g = 0; g < s->n_guards; g++) {
    sorted[g] = (guard_range){s->guards[g].physical, g};
  }
  qsort(sorted, s->n_guards, sizeof *sorted, by_physical);
  uint32_t end = 0; /* of the physical barriers that have a number */
  for (uint32_t i = 0; i < s->n_guards; i++) {
    uint32_t g = sorted[i].guard, low = sorted[i].physical, high = low + out->used[g];
    out->n += high > end ? high - (uint32_t)fs_max(end, low) : 0;
    end = (uint32_t)fs_max(end, high);
    out->first[g] = out->n - (end - low);
  }
  fs_arena_reset(arena, mark);
  return FSCHED_OK;
}

/* Finds the queue of each command of the bodies. */
static fs_status find_command_queues(fs_arena *arena, const fs_stream *s, uint32_t **out) {
  FS_TRY(fs_new(arena, out, s->n_loop_commands));
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      (*out)[c] = q->queue;
    }
  }
  return FSCHED_OK;
}

/* Lists the guards of each op of the bodies. */
static fs_status list_guards(fs_arena *arena, const fs_stream *s, uint32_t **first,
                             uint32_t **guard) {
  FS_TRY(fs_new_zero(arena, first, (size_t)s->n_loop_ops + 2));
  FS_TRY(fs_new(arena, guard, s->n_producers));
  for (uint32_t i = 0; i < s->n_producers; i++) {
    (*first)[s->producers[i] + 2]++;
  }
  fs_group_sum(*first, s->n_loop_ops);
  for (uint32_t g = 0; g < s->n_guards; g++) {
    for (uint32_t i = s->guards[g].producer0; i < s->guards[g].producer0 + s->guards[g].n_producers;
         i++) {
      (*guard)[(*first)[s->producers[i] + 1]++] = g;
    }
  }
  return FSCHED_OK;
}

static fs_status list_updates(fs_arena *arena, const fs_stream *s, fs_guards *out) {
  FS_SCRATCH(scratch, arena->ctx);
  uint32_t *first, *guard, *queue, n = 0;
  FS_TRY(list_guards(&scratch, s, &first, &guard));
  FS_TRY(find_command_queues(&scratch, s, &queue));
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    n += first[s->loop_commands[c].op + 1] - first[s->loop_commands[c].op];
  }
  FS_TRY(fs_new(arena, &out->update, n));
  for (uint32_t c = n = 0; c < s->n_loop_commands; c++) {
    uint32_t op = s->loop_commands[c].op;
    out->update0[c] = n;
    for (uint32_t i = first[op]; i < first[op + 1]; i++) {
      if (fs_guard_has_queue(&s->guards[guard[i]], queue[c])) {
        out->arrivals[guard[i]] += s->loop_commands[c].copy == 0;
        out->update[n++] = guard[i];
      }
    }
  }
  out->update0[s->n_loop_commands] = n;
  return FSCHED_OK;
}

fs_status fs_guards_make(fsched_context *ctx, fs_arena *arena, const fs_stream *s, fs_guards *out) {
  assert(s->n_meta == 1);
  *out = (fs_guards){0};
  FS_TRY(fs_new_zero(arena, &out->update0, (size_t)s->n_loop_commands + 1));
  if (s->n_guards == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(arena, &out->first, s->n_guards));
  FS_TRY(fs_new_zero(arena, &out->used, s->n_guards));
  FS_TRY(fs_new_zero(arena, &out->arrivals, s->n_guards));
  find_used(s, out);
  FS_TRY(number_barriers(arena, s, out));
  if (out->n > FS_GUARDS_MOST) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_LIMIT, FS_NOWHERE,
                   "rings of less depth take fewer barriers",
                   "the loops have %u barriers, of which programs that are run hold at most %u",
                   out->n, FS_GUARDS_MOST);
  }
  return list_updates(arena, s, out);
}
