/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: the tables of loops. */
#include "exec/sim/loops/loops.h"

#include "model/stream/slow_parts.h"

/* Finds the part of each command, and the gang: commands of one op and copy. */
static fs_status find_members(fs_instance *x, fs_sim_loops *l) {
  const fs_stream *s = x->stream;
  FS_SCRATCH(scratch, x->ctx);
  uint32_t *first;
  FS_TRY(fs_new_none(&scratch, &first, (size_t)s->n_loop_ops * FS_LOOP_COPIES));
  FS_TRY(fs_new_zero(&x->arena, &l->member, s->n_loop_commands));
  for (uint32_t q = 0; q < s->n_loop_queues; q++) {
    const fs_stream_loop_queue *queue = &s->loop_queues[q];
    for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      assert(k->copy < FS_LOOP_COPIES);
      uint32_t *leader = &first[(size_t)k->op * FS_LOOP_COPIES + k->copy];
      uint32_t inner = s->loop_ops[k->op].loop;
      bool alone = inner != FS_NONE && s->loops[inner].joined != 0; /* its members do not meet */
      *leader = *leader == FS_NONE || alone ? c : *leader;
      l->member[*leader].members++;
      l->member[c].leader = *leader;
      l->member[c].part = q;
      l->member[c].slow = fs_stream_loop_command_slow(s, queue->queue, c);
      l->n_places = k->n_places > l->n_places ? k->n_places : l->n_places;
    }
  }
  return FSCHED_OK;
}

static fs_status find_parts(fs_instance *x, fs_sim_loops *l) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new_zero(&x->arena, &l->part, s->n_loop_queues));
  FS_TRY(fs_new_zero(&x->arena, &l->run, s->n_loops));
  for (uint32_t i = 0; i < s->n_loops; i++) {
    for (uint32_t q = 0; q < s->loops[i].n_queues; q++) {
      l->part[s->loops[i].queue0 + q].loop = i;
    }
  }
  return FSCHED_OK;
}

static uint32_t part_of_stop(const fs_stream *s, const fs_stream_loop *loop, uint32_t queue) {
  uint32_t q = loop->queue0;
  while (s->loop_queues[q].queue != queue) {
    q++;
    assert(q < loop->queue0 + loop->n_queues);
  }
  return q;
}

static fs_status find_issue(fs_instance *x, fs_sim_loops *l) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new(&x->arena, &l->by_issue, s->n_loop_commands));
  FS_TRY(fs_new_none(&x->arena, &l->stop_part, s->n_loop_stops));
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_stream_loop *loop = &s->loops[i];
    uint32_t first = s->loop_queues[loop->queue0].command0;
    for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
      const fs_stream_loop_queue *queue = &s->loop_queues[q];
      for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
        l->by_issue[first + s->loop_commands[c].issue] = c;
      }
    }
    for (uint32_t k = loop->stop0; k < loop->stop0 + loop->n_stops; k++) {
      if (s->loop_stops[k].queue != FS_NONE) {
        l->stop_part[k] = part_of_stop(s, loop, s->loop_stops[k].queue);
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_sim_loops_make(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  assert(s->n_meta == 1);
  fs_sim_loops *l;
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&x->arena, &l, 1));
  x->loops = l;
  FS_TRY(fs_loops_make(&x->arena, s, &l->of));
  FS_TRY(find_parts(x, l));
  FS_TRY(find_members(x, l));
  FS_TRY(fs_guards_make(ctx, &x->arena, s, &l->guards));
  FS_TRY(fs_new_zero(&x->arena, &l->barrier, l->guards.n));
  FS_TRY(fs_sync_has_stops(s->meta->sync) ? find_issue(x, l) : FSCHED_OK);
  l->free = FS_NONE;
  FS_TRY(fs_vec_reserve(x->ctx, &l->flight, s->n_loop_queues));
  return x->config.empty ? FSCHED_OK
                         : fs_vec_reserve(x->ctx, &l->seen, (size_t)s->n_loop_queues * l->n_places);
}

void fs_sim_loops_free(fs_instance *x) {
  if (x->loops != NULL) {
    fs_vec_free(x->ctx, &x->loops->flight);
    fs_vec_free(x->ctx, &x->loops->seen);
  }
}
