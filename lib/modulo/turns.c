/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/turns.h"

/* Whether ops take one track each, whichever it is, and there is more than one. */
static bool is_alike(const fs_modulo_body *b, uint32_t g) {
  uint32_t tracks = b->track0[g + 1] - b->track0[g];
  uint64_t all = tracks >= FS_MODULO_TRACKS ? UINT64_MAX : (UINT64_C(1) << tracks) - 1;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    const fs_modulo_claim *c = &b->claim[b->member[k]];
    bool again = k > b->member0[g] && b->claim[b->member[k - 1]].op == c->op;
    if (c->domain != all || again) {
      return false;
    }
  }
  return tracks > 1;
}

/* Do rings say in which order ops are on a queue? */
static bool has_given_orders(const fs_modulo_problem *p) {
  for (uint32_t r = 0; r < p->n_rings; r++) {
    if (p->ring[r].ahead > 0 || p->ring[r].every > 1) {
      return true;
    }
  }
  return false;
}

void fs_modulo_take_turns(fs_modulo_body *b, uint32_t copies, bool *any) {
  assert(b->copies == 1);
  bool given = has_given_orders(b->p);
  *any = false;
  for (uint32_t g = 0; g < b->n_groups && !given; g++) {
    uint32_t tracks = b->track0[g + 1] - b->track0[g];
    if (tracks == 0 || copies % tracks != 0 || !is_alike(b, g)) {
      continue;
    }
    *any = true;
    b->turn[g] = tracks;
    memset(b->sure + b->track0[g], 0, tracks * sizeof *b->sure);
    for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
      b->claim[b->member[k]].domain = 1;
      b->sure[b->track0[g]] += b->claim[b->member[k]].hold;
    }
  }
  b->distances *= copies; /* those of orders on tracks */
}

void fs_modulo_unroll_turns(const fs_modulo_body *turned, const fs_modulo_choice *c,
                            const fs_modulo_body *b, fs_modulo_choice *out) {
  assert(turned->copies == 1 && b->n == turned->n * b->copies);
  assert(turned->n_open == b->n_open);
  out->period = (fs_modulo_ratio){c->period.num * b->copies, c->period.den};
  for (uint32_t op = 0; op < b->n; op++) {
    uint32_t copy = op / turned->n, i = op % turned->n, first = turned->claim0[i];
    assert(b->claim0[op + 1] - b->claim0[op] == turned->claim0[i + 1] - first);
    out->start[op] = c->start[i] + copy * c->period.num;
    out->part[op] = c->part[i];
    for (uint32_t k = first; k < turned->claim0[i + 1]; k++) {
      uint32_t turn = turned->turn[turned->claim[k].group];
      out->track[b->claim0[op] + k - first] = turn > 1 ? copy % turn : c->track[k];
    }
  }
  for (uint32_t r = 0; r < b->n_open; r++) {
    out->depth[r] = c->depth[r];
  }
}
