/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of an order: a first run counts its copies and residencies, a second one fills it.
 */
#include "model/issue_order.h"
#include "search/orders/decoder.h"
#include "verify/schedule/verify.h"

void fs_decoder_note_copy(fs_decoder *d, uint32_t version, fs_copy_kind kind, uint32_t queue,
                          fs_tick start, fs_tick end) {
  assert(start <= end);
  uint32_t copy = d->run->n_copies++, item = d->g->n_ops + copy;
  fs_schedule *s = d->s;
  if (s != NULL) {
    s->copy_kind[copy] = (uint8_t)kind;
    s->copy_version[copy] = version;
    s->copy_residency[copy] = d->state[version].residency;
    s->copy_store[copy] = FS_NONE;
    s->start[item] = start;
    s->end[item] = end;
    s->queue[item] = queue;
    d->listed[d->n_listed++] = item;
  }
}

void fs_decoder_note_begin(fs_decoder *d, uint32_t version, uint32_t op, uint32_t memory,
                           uint32_t segment, fs_tick begin, uint32_t *residency) {
  assert(version != FS_NONE || op != FS_NONE);
  uint32_t r = *residency = d->run->n_residencies++;
  fs_schedule *s = d->s;
  if (s != NULL) {
    s->res_version[r] = version;
    s->res_op[r] = version == FS_NONE ? op : FS_NONE;
    s->res_memory[r] = memory;
    s->res_address[r] = d->room[memory].segment[segment].address;
    s->res_size[r] = d->room[memory].segment[segment].size;
    s->res_begin[r] = begin;
  }
}

void fs_decoder_note_end(fs_decoder *d, uint32_t residency, fs_tick end) {
  assert(residency < d->run->n_residencies);
  if (d->s != NULL) {
    d->s->res_end[residency] = end;
  }
}

void fs_decoder_note_args(fs_decoder *d, uint32_t op) {
  const fsched_graph *g = d->g;
  for (uint32_t a = g->op_arg0[op]; d->s != NULL && a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a]) && d->version[v].memory != FS_NONE) {
      d->s->arg_residency[a] = d->state[v].residency;
    }
  }
}

void fs_decoder_note_op(fs_decoder *d, uint32_t op, uint32_t queue) {
  assert(op < d->g->n_ops);
  if (d->s != NULL) {
    d->s->queue[op] = queue;
    d->listed[d->n_listed++] = op;
  }
}

static fs_status make_arrays(const fs_decoder *d, fs_schedule *s) {
  const fsched_graph *g = d->g;
  FS_TRY(fs_schedule_make_items(s, d->run->n_copies));
  FS_TRY(fs_schedule_make_residencies(s, d->run->n_residencies));
  s->n_queues = g->target.n_queues;
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    s->queue_name[q] = g->target.queue[q].name;
  }
  return FSCHED_OK;
}

static fs_status fill_schedule(fs_decoder *d, const uint32_t *op_at, fs_schedule *s) {
  const fsched_graph *g = d->g;
  FS_SCRATCH(arena, s->ctx);
  FS_TRY(make_arrays(d, s));
  FS_TRY(fs_new(&arena, &d->listed, s->n_items));
  d->s = s;
  (void)fs_decoder_run(d, op_at);
  d->s = NULL;
  assert(d->run->n_copies == s->n_copies && d->run->n_residencies == s->n_residencies);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    s->start[op] = d->op_start[op];
    s->end[op] = d->op_end[op];
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    if (fs_memory_bounded(&g->target.memory[g->scratch_memory[i]])) {
      s->scratch_residency[i] = d->scratch_residency[i];
    }
  }
  s->makespan = d->run->makespan;
  s->status = FS_SCHEDULE_FEASIBLE;
  FS_TRY(fs_schedule_order(s, d->listed));
  return fs_schedule_order_residencies(s);
}

fs_status fs_decoder_schedule(fs_decoder *d, fsched_context *ctx, const uint32_t *op_at,
                              fs_schedule **out) {
  assert(d->s == NULL);
  *out = NULL;
  if (!fs_decoder_run(d, op_at)) {
    return FSCHED_OK;
  }
  fs_schedule *s;
  bool right = false;
  FS_TRY(fs_schedule_create(ctx, d->g, &s));
  fs_status status = fill_schedule(d, op_at, s);
  if (status == FSCHED_OK) {
    status = fs_schedule_is_right(ctx, s, &right);
  }
  if (status != FSCHED_OK || !right) {
    fs_schedule_destroy(s);
    s = NULL;
  }
  *out = s;
  return status;
}
