/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of an order: a first run counts its copies and residencies, a second one fills it.
 * By amounts, addresses are looked for then. */
#include "base/limit.h"
#include "model/issue_order.h"
#include "placement/placement.h"
#include "search/orders/decoder.h"
#include "verify/schedule/verify.h"

enum { PLACE_NODES = 2000 };

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

void fs_decoder_note_handing(fs_decoder *d, uint32_t from, uint32_t to, fs_tick begin,
                             fs_tick end) {
  assert(from < d->run->n_residencies && to < d->run->n_residencies);
  if (d->s != NULL) {
    d->handed[d->n_handed++] = (fs_order_handing){from, to, begin, end};
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

/* ---- addresses */

/* The residencies of a memory, as rectangles. */
typedef struct order_places {
  const fs_decoder *d;
  fs_schedule *s;
  uint32_t n, n_pairs;
  uint32_t *residency, *index; /* index: per residency */
  uint64_t *size, *address;
  fs_tick *begin, *end, *pair_from, *pair_to;
  uint32_t *pair_a, *pair_b;
} order_places;

static fs_status make_places(order_places *x, fs_arena *arena) {
  uint32_t n = x->s->n_residencies, pairs = x->d->n_handed;
  FS_TRY(fs_new(arena, &x->residency, n));
  FS_TRY(fs_new_none(arena, &x->index, n));
  FS_TRY(fs_new(arena, &x->size, n));
  FS_TRY(fs_new(arena, &x->address, n));
  FS_TRY(fs_new(arena, &x->begin, n));
  FS_TRY(fs_new(arena, &x->end, n));
  FS_TRY(fs_new(arena, &x->pair_a, pairs));
  FS_TRY(fs_new(arena, &x->pair_b, pairs));
  FS_TRY(fs_new(arena, &x->pair_from, pairs));
  return fs_new(arena, &x->pair_to, pairs);
}

static void list_places(order_places *x, uint32_t memory) {
  const fs_schedule *s = x->s;
  x->n = x->n_pairs = 0;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_memory[r] == memory) {
      x->index[r] = x->n;
      x->residency[x->n] = r;
      x->size[x->n] = s->res_size[r];
      x->begin[x->n] = s->res_begin[r];
      x->end[x->n++] = s->res_end[r];
    }
  }
  for (uint32_t i = 0; i < x->d->n_handed; i++) {
    const fs_order_handing *h = &x->d->handed[i];
    if (s->res_memory[h->from] == memory) {
      x->pair_a[x->n_pairs] = x->index[h->from];
      x->pair_b[x->n_pairs] = x->index[h->to];
      x->pair_from[x->n_pairs] = h->begin;
      x->pair_to[x->n_pairs++] = h->end;
    }
  }
}

static fs_status find_addresses(order_places *x, uint32_t memory, bool *found) {
  const fs_memory *m = &x->d->g->target.memory[memory];
  list_places(x, memory);
  fs_placement p = {.n = x->n,
                    .size = x->size,
                    .begin = x->begin,
                    .end = x->end,
                    .n_pairs = x->n_pairs,
                    .pair_a = x->pair_a,
                    .pair_b = x->pair_b,
                    .pair_from = x->pair_from,
                    .pair_to = x->pair_to,
                    .capacity = m->capacity,
                    .nodes = PLACE_NODES};
  uint64_t peak;
  fs_decision exists;
  bool least;
  FS_TRY(fs_placement_run(x->s->ctx, &p, false, x->address, &peak, &exists, &least));
  *found = exists.is == FS_YES;
  for (uint32_t k = 0; k < x->n && *found; k++) {
    x->s->res_address[x->residency[k]] = x->address[k];
  }
  return FSCHED_OK;
}

static fs_status place_residencies(const fs_decoder *d, fs_schedule *s, bool *found) {
  FS_SCRATCH(arena, s->ctx);
  order_places x = {.d = d, .s = s};
  FS_TRY(make_places(&x, &arena));
  *found = true;
  for (uint32_t m = 0; m < d->g->target.n_memories && *found; m++) {
    if (d->room[m].segment != NULL && d->room[m].amounts) {
      FS_TRY(find_addresses(&x, m, found));
    }
  }
  return FSCHED_OK;
}

/* ---- schedules */

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

static fs_status fill_schedule(fs_decoder *d, const uint32_t *op_at, fs_schedule *s, bool *found) {
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
  FS_TRY(place_residencies(d, s, found));
  if (!*found) {
    return FSCHED_OK;
  }
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
  bool right = false, found = false;
  FS_TRY(fs_schedule_create(ctx, d->g, &s));
  fs_status status = fill_schedule(d, op_at, s, &found);
  if (status == FSCHED_OK && found) {
    status = fs_schedule_is_right(ctx, s, &right);
  }
  if (status != FSCHED_OK || !right) {
    fs_schedule_destroy(s);
    s = NULL;
  }
  *out = s;
  return status;
}
