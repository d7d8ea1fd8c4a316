/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, for people.  In step t a command runs iteration (t - shift) * copies +
 * copy of its op, which is written as an index that is linear in t: load[t], load[2t+1], add[t-1].
 * So the text of a queue reads like the body of a loop over t. */
#include "codegen/dis/text.h"
#include "model/kinds.h"

/* Writes NAME[at]: iteration copies * t + constant. */
static void put_instance(fs_listing *l, uint32_t name, uint32_t copies, int64_t constant) {
  fs_list_name(l, name);
  fs_list_put(l, "[");
  if (copies != 1) {
    fs_list_u64(l, "", copies);
  }
  fs_list_put(l, "t");
  if (constant != 0) {
    fs_text_printf(l->t, "%+lld", (long long)constant);
  }
  fs_list_put(l, "]");
}

static int64_t constant_of(const fs_stream_loop *loop, const fs_stream_loop_command *m) {
  return (int64_t)m->copy - (int64_t)m->shift * loop->copies;
}

static void put_loop_waits(fs_listing *l, const fs_stream_loop *loop,
                           const fs_stream_loop_command *m) {
  for (uint32_t i = 0; i < m->n_waits; i++) {
    const fs_stream_loop_wait *w = &l->s->loop_waits[m->wait0 + i];
    uint32_t op = l->s->loop_commands[w->command].op;
    fs_list_put(l, i == 0 ? "" : " ");
    put_instance(l, l->s->loop_ops[op].name, loop->copies,
                 constant_of(loop, m) - (int64_t)w->distance);
  }
  fs_list_put(l, m->n_waits == 0 ? "-" : "");
}

/* Writes the place of iteration 0, and how those of others follow from it. */
static void put_loop_place(fs_listing *l, const fs_stream_place *p) {
  fs_list_place(l, p);
  if (p->arg == FS_NONE) {
    return;
  }
  const fs_stream_loop_arg *a = &l->s->loop_args[p->arg];
  if (a->step != 0) {
    fs_text_printf(l->t, "%+lldi", (long long)a->step);
  }
  if (a->ring != FS_NONE) {
    fs_list_u64(l, " slot 0 of ", l->s->rings[a->ring].depth);
  }
  if (a->back != 0) {
    fs_list_u64(l, " back ", a->back);
  }
}

static void put_row(fs_listing *l, fs_columns *c, const fs_stream_loop *loop,
                    const fs_stream_loop_command *m) {
  fs_list_empty(c, l->any_slow ? 4 : 3);
  fs_list_put(l, "  ");
  put_instance(l, l->s->loop_ops[m->op].name, loop->copies, constant_of(loop, m));
  fs_columns_cell(c, FS_LEFT);
  put_loop_waits(l, loop, m);
  fs_columns_cell(c, FS_LEFT);
  fs_list_put(l, m->signal ? "loop" : "-");
  fs_columns_cell(c, FS_LEFT);
  fs_list_empty(c, 1); /* no frontier */
  for (uint32_t i = 0; i < m->n_places; i++) {
    fs_list_put(l, i == 0 ? "" : ", ");
    put_loop_place(l, &l->s->loop_places[m->place0 + i]);
  }
  fs_columns_cell(c, FS_LEFT);
}

/* The loop that the op is, or NULL.  O(log loops). */
static const fs_stream_loop *loop_of(const fs_stream *s, uint32_t op) {
  uint32_t low = 0, high = s->n_loops;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->loops[middle].op < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < s->n_loops && s->loops[low].op == op ? &s->loops[low] : NULL;
}

void fs_list_loop(fs_listing *l, fs_columns *c, uint32_t queue, uint32_t op) {
  assert(queue < l->s->n_queues);
  const fs_stream_loop *loop = loop_of(l->s, op);
  for (uint32_t i = 0; loop != NULL && i < loop->n_queues; i++) {
    const fs_stream_loop_queue *q = &l->s->loop_queues[loop->queue0 + i];
    for (uint32_t k = 0; q->queue == queue && k < q->n_commands; k++) {
      put_row(l, c, loop, &l->s->loop_commands[q->command0 + k]);
    }
  }
}

static void put_ring(fs_listing *l, const fs_stream_ring *r) {
  const fs_stream *s = l->s;
  fs_list_put(l, "  ring ");
  fs_list_name(l, s->buffers[s->args[r->arg].buffer].name);
  fs_list_u64(l, ": ", r->size);
  fs_list_u64(l, " bytes in slots of ", r->slot);
  fs_list_u64(l, ", depth ", r->depth);
  fs_list_put(l, ", from ");
  fs_list_name(l, s->loop_ops[r->writer].name);
  fs_list_put(l, r->entry ? ", with a value on entry\n" : "\n");
}

void fs_list_loops(fs_listing *l) {
  const fs_stream *s = l->s;
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_stream_loop *loop = &s->loops[i];
    fs_list_put(l, "\nloop ");
    fs_list_name(l, s->ops[loop->op].name);
    fs_list_u64(l, ": iterations ", loop->trip);
    fs_list_u64(l, ", copies ", loop->copies);
    fs_list_u64(l, ", ops ", loop->n_ops);
    fs_list_put(l, "\n");
    for (uint32_t k = 0; k < loop->n_rings; k++) {
      put_ring(l, &s->rings[loop->ring0 + k]);
    }
  }
}
