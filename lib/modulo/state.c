/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/state.h"

#include "base/group.h"

static bool may_meet(const fs_modulo_claim *c, const fs_modulo_claim *d) {
  return c->group == d->group && (c->domain & d->domain) != 0;
}

/* The first claim of an op in its group. */
static bool is_first(const fs_modulo_body *b, uint32_t claim) {
  return claim == 0 || b->claim[claim - 1].op != b->claim[claim].op ||
         b->claim[claim - 1].group != b->claim[claim].group;
}

/* The tracks that an op takes of a group, of which this is its first claim. */
static uint32_t tracks_taken(const fs_modulo_body *b, uint32_t claim) {
  uint32_t n = 1;
  while (claim + n < b->claim0[b->claim[claim].op + 1] &&
         b->claim[claim + n].group == b->claim[claim].group) {
    n++;
  }
  return n;
}

/* Two ops that take more tracks than there are have one in common; one pair says so for all. */
static bool must_meet(const fs_modulo_body *b, uint32_t c, uint32_t d) {
  uint32_t g = b->claim[c].group;
  return b->claim[c].op != b->claim[d].op && is_first(b, c) && is_first(b, d) &&
         tracks_taken(b, c) + tracks_taken(b, d) > b->track0[g + 1] - b->track0[g];
}

/* Lists the pairs of claims that may be on one track, twice: counted, then written. */
static uint32_t list_pairs(const fs_modulo_body *b, fs_modulo_pair *pair) {
  uint32_t n = 0;
  for (uint32_t g = 0; g < b->n_groups; g++) {
    for (uint32_t i = b->member0[g]; i < b->member0[g + 1]; i++) {
      for (uint32_t j = b->member0[g]; j < i; j++) { /* claims ascend, and so do their ops */
        uint32_t c = b->member[j], d = b->member[i];
        bool shared = must_meet(b, c, d);
        if (!shared && !may_meet(&b->claim[c], &b->claim[d])) {
          continue;
        }
        if (pair != NULL) {
          pair[n] =
              (fs_modulo_pair){c, d, b->claim[c].op, b->claim[d].op, FS_NONE, shared, false, 0, 0};
        }
        n++;
      }
    }
  }
  return n;
}

static fs_status make_pairs(fs_modulo_state *s) {
  const fs_modulo_body *b = s->b;
  s->n_pairs = list_pairs(b, NULL);
  FS_TRY(fs_new(&s->arena, &s->pair, s->n_pairs));
  FS_TRY(fs_new_none(&s->arena, &s->first_pair, (size_t)s->n * s->n));
  FS_TRY(fs_new_zero(&s->arena, &s->of0, (size_t)b->n_claims + 2));
  FS_TRY(fs_new(&s->arena, &s->of, 2 * (size_t)s->n_pairs));
  (void)list_pairs(b, s->pair);
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    fs_modulo_pair *x = &s->pair[k];
    x->next = s->first_pair[x->a * s->n + x->b];
    s->first_pair[x->a * s->n + x->b] = k;
    s->of0[x->claim_a + 2]++;
    s->of0[x->claim_b + 2]++;
  }
  fs_group_sum(s->of0, b->n_claims);
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    s->of[s->of0[s->pair[k].claim_a + 1]++] = k;
    s->of[s->of0[s->pair[k].claim_b + 1]++] = k;
  }
  return FSCHED_OK;
}

/* What a ring says of the order of two ops on a queue: start(reader) is between start(writer) + m *
 * period and a period later. */
static void give_order(fs_modulo_state *s, uint32_t writer, uint32_t reader, int64_t m) {
  uint32_t a = writer < reader ? writer : reader, b = writer < reader ? reader : writer;
  int64_t k = a == writer ? -m : m + 1;
  for (uint32_t x = s->first_pair[a * s->n + b]; x != FS_NONE; x = s->pair[x].next) {
    fs_modulo_pair *pair = &s->pair[x];
    if (s->b->claim[pair->claim_a].group < s->b->n_queue_groups) {
      pair->low = !pair->given || k > pair->low ? k : pair->low;
      pair->high = !pair->given || k < pair->high ? k : pair->high;
      pair->given = true;
    }
  }
}

/* The copies of an op are in the order of iterations. */
static void give_turns(fs_modulo_state *s, uint32_t op) {
  uint32_t n = s->b->p->n, u = s->b->copies;
  for (uint32_t b = 1; b < u; b++) {
    for (uint32_t a = 0; a < b; a++) {
      give_order(s, a * n + op, b * n + op, 0);
    }
  }
}

static void give_orders(fs_modulo_state *s) {
  const fs_modulo_problem *p = s->b->p;
  uint32_t u = s->b->copies;
  for (uint32_t r = 0; r < p->n_rings; r++) {
    const fs_modulo_ring *ring = &p->ring[r];
    for (uint32_t k = p->reader0[r]; ring->every > 1 && k <= p->reader0[r + 1]; k++) {
      give_turns(s, k == p->reader0[r + 1] ? ring->writer : p->reader[k].op);
    }
    for (uint32_t k = p->reader0[r]; ring->ahead > 0 && k < p->reader0[r + 1]; k++) {
      const fs_modulo_reader *x = &p->reader[k];
      for (uint32_t c = 0; c < u * u && x->back == 0 && x->op != ring->writer; c++) {
        int64_t m = fs_modulo_ahead(ring, c / u, c % u, u);
        give_order(s, c / u * p->n + ring->writer, c % u * p->n + x->op, m);
      }
    }
  }
}

static fs_status make_cells(fs_modulo_state *s) {
  const fs_modulo_body *b = s->b;
  uint32_t paths = s->n * s->n;
  s->domain0 = paths;
  s->load0 = s->domain0 + b->n_claims;
  s->pair0 = s->load0 + b->n_tracks;
  s->low0 = s->pair0 + s->n_pairs;
  s->high0 = s->low0 + b->n_open;
  FS_TRY(fs_new_zero(&s->arena, &s->cell, (size_t)s->high0 + b->n_open));
  for (uint32_t i = 0; i < paths; i++) {
    s->cell[i] = i % (s->n + 1) == 0 ? 0 : FS_MODULO_FAR;
  }
  for (uint32_t c = 0; c < b->n_claims; c++) {
    s->cell[s->domain0 + c] = (int64_t)b->claim[c].domain;
  }
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    s->cell[s->pair0 + k] = FS_MODULO_OPEN;
  }
  for (uint32_t r = 0; r < b->n_open; r++) {
    s->cell[s->low0 + r] = fs_modulo_least_depth(b->p, b->open[r]);
    s->cell[s->high0 + r] = INT64_MAX;
  }
  return FSCHED_OK;
}

/* What rings of given depth leave of the memories. */
static fs_status find_room(fs_modulo_state *s) {
  const fs_modulo_problem *p = s->b->p;
  FS_TRY(fs_new(&s->arena, &s->room, p->n_memories));
  for (uint32_t m = 0; m < p->n_memories; m++) {
    s->room[m] = p->capacity[m];
  }
  for (uint32_t r = 0; r < p->n_rings; r++) {
    uint32_t m = p->ring[r].memory;
    if (m == FS_NONE || s->room[m] == FS_UNBOUNDED || p->ring[r].depth == 0) {
      continue;
    }
    if (p->ring[r].size > s->room[m] / p->ring[r].depth) {
      s->overfull = true;
      return FSCHED_OK;
    }
    s->room[m] -= p->ring[r].size * p->ring[r].depth;
  }
  return FSCHED_OK;
}

static fs_status make_lists(fs_modulo_state *s) {
  size_t counts = (size_t)s->n_pairs + s->b->n_claims + s->b->n_open;
  FS_TRY(fs_new_zero(&s->arena, &s->weight, counts));
  FS_TRY(fs_new(&s->arena, &s->waiting, s->n_pairs));
  FS_TRY(fs_new_zero(&s->arena, &s->is_waiting, s->n_pairs));
  FS_TRY(fs_new(&s->arena, &s->row, s->n));
  FS_TRY(fs_new(&s->arena, &s->column, s->n));
  FS_TRY(fs_new_zero(&s->arena, &s->part, s->n));
  s->rings_wait = true;
  return FSCHED_OK;
}

fs_status fs_modulo_state_make(fsched_context *ctx, const fs_modulo_body *b,
                               const fs_modulo_question *q, fs_modulo_state *s) {
  *s = (fs_modulo_state){.ctx = ctx, .b = b, .q = q, .n = b->n};
  s->period = q->period.num;
  s->scale = q->period.den;
  fs_arena_init(&s->arena, ctx);
  fs_status status = make_pairs(s);
  if (status == FSCHED_OK) {
    give_orders(s);
    status = make_cells(s);
  }
  status = status == FSCHED_OK ? find_room(s) : status;
  status = status == FSCHED_OK ? make_lists(s) : status;
  if (status != FSCHED_OK) {
    fs_modulo_state_drop(s);
  }
  return status;
}

void fs_modulo_state_drop(fs_modulo_state *s) {
  fs_vec_free(s->ctx, &s->trail);
  fs_arena_release(&s->arena);
}
