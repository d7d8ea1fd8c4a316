/* SPDX-License-Identifier: Apache-2.0 */
/* The order of ops after their predecessors, and what of a loop that order concerns.
 *
 * A loop that stays one is one op here, and its commands, one on each queue, begin and end on their
 * own.  The loop's body touches no buffer but as the args of the op say (loops/hull.c), and of a
 * queue none but those that the ops of its commands name, loops in loops included.  So the command
 * of a queue is an access of these buffers alone: it has to come after those who touch them before,
 * and before those who do so later, and needs no order with others.  But the last value of a ring
 * may be moved when the loop is over, by whichever of its queues is last: so all of its commands
 * touch such a buffer.  What has no buffer, such as scratch and units of a resource, all of them
 * have.
 *
 * Predecessors are found as if ops were accesses as a whole (stream/deps.c): an op that came before
 * one that writes all of its bytes of a version is found through that one alone.  A loop in such a
 * chain has at least one command that touches the buffer, and that comes after the former and
 * before the latter, as both edges are for the same buffer.  So an edge is looked at for each
 * buffer of which both ops access one version, and one of them writes it, on its own; if there is
 * none, or if an `after` asks for it, it is one of all commands.
 *
 * That holds where waits are for epochs, and these tell of their own commands alone: with barriers
 * and syncs, and where ops are slow, all commands of a loop count. */
#include <stdlib.h>

#include "base/context.h"
#include "base/radix.h"
#include "verify/stream/stream.h"

/* --- which commands of loops touch a buffer --- */

static fs_status list_touched(fs_vs *v, const fs_stream_loop *l, uint64_t *key, uint32_t *n) {
  const fs_stream *s = v->s;
  for (uint32_t k = l->queue0; k < l->queue0 + l->n_queues; k++) {
    const fs_stream_loop_queue *q = &s->loop_queues[k];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[c].op];
      for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
        bool named = s->loop_args[a].buffer != FS_NONE;
        uint64_t of = (uint64_t)s->loop_args[a].buffer << 32 | q->queue;
        if (named && key != NULL) {
          key[*n] = of;
        }
        *n += named;
      }
    }
  }
  return FSCHED_OK;
}

static bool is_moved(const fs_vs *v, const fs_stream_loop *l, uint32_t buffer) {
  for (uint32_t k = l->ring0; k < l->ring0 + l->n_rings; k++) {
    const fs_stream_ring *r = &v->s->rings[k];
    if (fs_ring_moves(l, r) && v->s->args[r->arg].buffer == buffer) {
      return true;
    }
  }
  return false;
}

/* The outermost loop that an op is, FS_NONE: it is none. */
static uint32_t loop_of(const fs_vs *v, uint32_t op) {
  uint32_t low = 0, high = v->n_parted;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->s->loops[middle].op < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < v->n_parted && v->s->loops[low].op == op ? low : FS_NONE;
}

fs_status fs_vs_edges_begin(fs_vs *v) {
  const fs_stream *s = v->s;
  uint32_t n_loops = 0, n = 0;
  while (n_loops < s->n_loops && s->loops[n_loops].within == FS_NONE) {
    FS_TRY(list_touched(v, &s->loops[n_loops++], NULL, &n));
  }
  if (n_loops == 0 || !fs_sync_has_waits(v->kind) || v->any_slow) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&v->arena, &v->touched0, (size_t)n_loops + 1));
  FS_TRY(fs_new(&v->arena, &v->touched, n));
  FS_TRY(fs_new(&v->arena, &v->some, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &v->noted_at, s->n_versions));
  FS_TRY(fs_new_zero(&v->arena, &v->noted_writes, s->n_versions));
  FS_TRY(fs_vdense_init(&v->arena, &v->some_known, s->n_queues));
  v->touched0[0] = n = 0;
  for (; v->n_parted < n_loops; v->n_parted++) {
    uint32_t first = n;
    FS_TRY(list_touched(v, &s->loops[v->n_parted], v->touched, &n));
    if (n > first) {
      qsort(v->touched + first, n - first, sizeof *v->touched, fs_compare_u64);
    }
    v->touched0[v->n_parted + 1] = n;
  }
  return FSCHED_OK;
}

/* The first entry of a loop that is not less than a key. */
static uint32_t lower(const fs_vs *v, uint32_t loop, uint64_t key) {
  uint32_t low = v->touched0[loop], high = v->touched0[loop + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->touched[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool fs_vs_parted(const fs_vs *v, uint32_t op) { return loop_of(v, op) != FS_NONE; }

/* Whether the command of an op touches a buffer.  Of a buffer that no command touches all do. */
static bool command_touches(const fs_vs *v, uint32_t command, uint32_t buffer) {
  uint32_t loop = loop_of(v, v->s->commands[command].target);
  if (loop == FS_NONE) {
    return true;
  }
  uint64_t key = (uint64_t)buffer << 32 | v->command_queue[command];
  uint32_t end = v->touched0[loop + 1], any = lower(v, loop, (uint64_t)buffer << 32);
  uint32_t at = lower(v, loop, key);
  return (at < end && v->touched[at] == key) || any == end || v->touched[any] >> 32 != buffer ||
         is_moved(v, &v->s->loops[loop], buffer);
}

/* Reduces what is known to some commands to what one more knows, too, when it starts. */
static void meet(fs_vs *v, uint32_t command, bool first) {
  uint32_t q = v->command_queue[command], n = 0;
  fs_vdense *some = &v->some_known;
  fs_vdense_clear(&v->now);
  fs_vdense_join(&v->now, v->base[q]);
  fs_vdense_raise(&v->now, q, v->s->commands[command].epoch);
  v->now_queue = FS_NONE;
  if (first) {
    fs_vdense_clear(some);
    for (uint32_t i = 0; i < v->now.n; i++) {
      fs_vdense_raise(some, v->now.touched[i], v->now.epoch[v->now.touched[i]]);
    }
    return;
  }
  for (uint32_t i = 0; i < some->n; i++) {
    uint32_t at = some->touched[i];
    some->epoch[at] = (uint32_t)fs_min(some->epoch[at], v->now.epoch[at]);
    if (some->epoch[at] > 0) {
      some->touched[n++] = at;
    }
  }
  some->n = n;
}

fs_vs_some fs_vs_at_buffer(fs_vs *v, const uint32_t *commands, uint32_t n, uint32_t buffer,
                           const fs_vdense *known) {
  assert(n > 0 && buffer < v->s->n_buffers);
  uint32_t n_some = 0;
  if (n == 1 || !fs_vs_parted(v, v->s->commands[commands[0]].target)) {
    return (fs_vs_some){commands, n, known};
  }
  for (uint32_t i = 0; i < n; i++) {
    if (command_touches(v, commands[i], buffer)) {
      v->some[n_some++] = commands[i];
    }
  }
  if (n_some == n) {
    return (fs_vs_some){commands, n, known};
  }
  for (uint32_t i = 0; i < n_some; i++) {
    meet(v, v->some[i], i == 0);
  }
  return (fs_vs_some){v->some, n_some, &v->some_known};
}

/* --- edges --- */

static bool is_after(const fs_vs *v, uint32_t op, uint32_t pred) {
  const fs_stream_op *o = &v->s->ops[op];
  for (uint32_t i = 0; i < o->n_afters; i++) {
    if (v->s->afters[o->after0 + i] == pred) {
      return true;
    }
  }
  return false;
}

/* Checks that the commands of a predecessor that touch a buffer, or FS_NONE all of them, are known
 * to be over. */
static bool is_ordered(fs_vs *v, uint32_t op, uint32_t pred, uint32_t buffer,
                       const fs_vdense *known) {
  for (uint32_t k = v->op_command0[pred]; k < v->op_command0[pred + 1]; k++) {
    uint32_t c = v->op_command[k];
    if ((buffer == FS_NONE || command_touches(v, c, buffer)) && !fs_vs_before(v, known, c)) {
      char name[FS_VNAME];
      FS_WRONG(v, FS_DIAG_VERIFY_EDGE, "op %s depends on op %s and is not ordered after %s",
               fs_vs_op_name(v, op), fs_vs_op_name(v, pred), fs_vs_command_name(v, c, name));
      return false;
    }
  }
  return true;
}

/* Notes what an op accesses of each version, until the next one is noted. */
static void note_accesses(fs_vs *v, uint32_t op) {
  const fs_stream_op *o = &v->s->ops[op];
  v->noted++;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &v->s->args[i];
    if (a->version != FS_NONE && fs_tag_accesses(a->tag)) {
      bool before = v->noted_at[a->version] == v->noted && v->noted_writes[a->version] != 0;
      v->noted_writes[a->version] = before || fs_tag_writes(a->tag);
      v->noted_at[a->version] = v->noted;
    }
  }
}

/* Whether an arg and what is noted are of one version, and one of them writes it. */
static bool meets_noted(const fs_vs *v, const fs_stream_arg *a) {
  return a->version != FS_NONE && fs_tag_accesses(a->tag) && v->noted_at[a->version] == v->noted &&
         (fs_tag_writes(a->tag) || v->noted_writes[a->version] != 0);
}

/* Checks an edge for each buffer that it is for; false: there is none. */
static bool check_buffers(fs_vs *v, const uint32_t *commands, uint32_t n, uint32_t pred,
                          const fs_vdense *known) {
  const fs_stream *s = v->s;
  uint32_t op = s->commands[commands[0]].target, last = FS_NONE;
  const fs_stream_op *o = &s->ops[op];
  bool ordered = true;
  note_accesses(v, pred);
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args && ordered; i++) {
    uint32_t buffer = s->args[i].buffer;
    if (buffer != last && meets_noted(v, &s->args[i])) {
      fs_vs_some some = fs_vs_at_buffer(v, commands, n, buffer, known);
      ordered = is_ordered(v, op, pred, buffer, some.known);
      last = buffer;
    }
  }
  return last != FS_NONE;
}

void fs_vs_edges(fs_vs *v, const uint32_t *commands, uint32_t n, const fs_vdense *known) {
  assert(n > 0 && fs_command_has_op(&v->s->commands[commands[0]]));
  uint32_t op = v->s->commands[commands[0]].target;
  bool parted = fs_vs_parted(v, op);
  for (uint32_t i = v->pred0[op]; i < v->pred0[op + 1]; i++) {
    uint32_t pred = v->pred.at[i];
    bool parts = v->n_parted > 0 && (parted || fs_vs_parted(v, pred)) && !is_after(v, op, pred);
    if (!parts || !check_buffers(v, commands, n, pred, known)) {
      (void)is_ordered(v, op, pred, FS_NONE, known);
    }
  }
}
