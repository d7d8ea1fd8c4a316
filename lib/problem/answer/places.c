/* SPDX-License-Identifier: Apache-2.0 */
/* Finds addresses for residencies whose times are known: the given ones, or those of one search per
 * contiguous memory, with the in-place pairs that the times allow.  Lifetimes are in moments, so
 * that the buffers that an op without length has at once do not overlap; where there are such ops,
 * given addresses are checked against these lifetimes. */
#include "problem/answer/private.h"
#include "placement/placement.h"

typedef struct answer_places {
  fs_assembly *y;
  uint32_t memory;
  uint32_t *index; /* per residency: its number in the search; FS_NONE: it is not in it */
  fs_placement q;
} answer_places;

static fs_status list_rectangles(answer_places *l) {
  const fs_problem *p = l->y->p;
  uint64_t *size;
  fs_tick *begin, *end;
  FS_TRY(fs_new_none(&l->y->scratch, &l->index, p->n_residencies));
  FS_TRY(fs_new(&l->y->scratch, &size, p->n_residencies));
  FS_TRY(fs_new(&l->y->scratch, &begin, p->n_residencies));
  FS_TRY(fs_new(&l->y->scratch, &end, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == l->memory && p->res_size[r] > 0) {
      uint32_t i = l->index[r] = l->q.n++;
      size[i] = p->res_size[r];
      begin[i] = l->y->from[r];
      end[i] = l->y->to[r];
    }
  }
  l->q.size = size;
  l->q.begin = begin;
  l->q.end = end;
  return FSCHED_OK;
}

/* Lists the in-place pairs whose output begins with the op and whose input ends with it. */
static fs_status list_pairs(answer_places *l) {
  const fs_problem *p = l->y->p;
  uint32_t *a, *b;
  fs_tick *from, *to;
  FS_TRY(fs_new(&l->y->scratch, &a, p->n_coincide));
  FS_TRY(fs_new(&l->y->scratch, &b, p->n_coincide));
  FS_TRY(fs_new(&l->y->scratch, &from, p->n_coincide));
  FS_TRY(fs_new(&l->y->scratch, &to, p->n_coincide));
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t in = p->coincide_in[k], out = p->coincide_out[k], op = p->coincide_op[k];
    fs_tick start = l->y->item_from[op], end = l->y->item_to[op];
    if (l->index[in] != FS_NONE && l->index[out] != FS_NONE && l->y->from[out] >= start &&
        l->y->to[in] <= end) {
      a[l->q.n_pairs] = l->index[in];
      b[l->q.n_pairs] = l->index[out];
      from[l->q.n_pairs] = start;
      to[l->q.n_pairs++] = end;
    }
  }
  l->q.pair_a = a;
  l->q.pair_b = b;
  l->q.pair_from = from;
  l->q.pair_to = to;
  return FSCHED_OK;
}

static fs_status take_given(answer_places *l) {
  const fs_assembly *y = l->y;
  uint64_t *given;
  if (y->a->address == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&l->y->scratch, &given, l->q.n));
  for (uint32_t r = 0; r < y->p->n_residencies; r++) {
    if (l->index[r] != FS_NONE) {
      given[l->index[r]] = y->a->address[r];
    }
  }
  l->q.given = given;
  return FSCHED_OK;
}

static fs_status place_memory(fs_assembly *y, uint32_t memory) {
  const fs_memory *m = &y->p->graph->target.memory[memory];
  answer_places l = {.y = y, .memory = memory};
  uint64_t *address, peak;
  fs_decision exists;
  bool least;
  FS_TRY(list_rectangles(&l));
  FS_TRY(list_pairs(&l));
  FS_TRY(fs_new(&y->scratch, &address, l.q.n));
  FS_TRY(take_given(&l));
  l.q.capacity = m->capacity & ~(m->align - 1);
  l.q.nodes = fs_limits_of(y->p->ctx)->place_nodes;
  FS_TRY(fs_placement_run(y->p->ctx, &l.q, false, address, &peak, &exists, &least));
  if (exists.is != FS_YES) {
    return fs_answer_refute(y, "no addresses were found in memory %s%s", m->name,
                            exists.is == FS_NO ? ": there are none" : "");
  }
  for (uint32_t r = 0; r < y->p->n_residencies; r++) {
    if (l.index[r] != FS_NONE) {
      y->address[r] = address[l.index[r]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_answer_places(fs_assembly *y) {
  assert(y->from != NULL || y->p->n_residencies == 0);
  const fs_target *t = &y->p->graph->target;
  FS_TRY(fs_new_zero(&y->scratch, &y->address, y->p->n_residencies));
  if (y->a->address != NULL && !y->instants) {
    for (uint32_t r = 0; r < y->p->n_residencies; r++) {
      const fs_memory *m = &t->memory[y->p->res_memory[r]];
      y->address[r] = fs_placement_has_addresses(m->placement) ? y->a->address[r] : 0;
    }
    return FSCHED_OK;
  }
  for (uint32_t m = 0; m < t->n_memories && y->why == NULL; m++) {
    if (fs_memory_bounded(&t->memory[m]) && fs_placement_has_addresses(t->memory[m].placement)) {
      FS_TRY(place_memory(y, m));
    }
  }
  return FSCHED_OK;
}
