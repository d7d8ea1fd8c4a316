/* SPDX-License-Identifier: Apache-2.0 */
/* Whole claims, the longest first, are put on tracks up to a target.  If that fails, the least load
 * that was refused, or the least target at which what is left would fit, is the next target: none
 * between can do (iterative deepening). */
#include <stdlib.h>

#include "base/radix.h"
#include "modulo/bounds.h"
#include "modulo/cliques.h"
#include "modulo/strip/strip.h"

/* Of more claims only the longest counts: each is a level of the recursion. */
enum { MOST_CLAIMS = 256, STRIP_STEPS = 1 << 17 };

typedef struct role_packer {
  const fs_modulo_body *b;
  uint32_t group, n;
  uint32_t *claim; /* those with the fewest tracks first, of those the longest */
  uint32_t *at;    /* per claim of the list: its track, as a bit */
  int64_t *rest;   /* per claim of the list: hold of it and those behind it */
  int64_t *load;   /* per bit */
  int64_t target, next;
  uint64_t steps;
} role_packer;

static void ask_for(role_packer *r, int64_t target) {
  r->next = target < r->next ? target : r->next;
}

/* Is a track taken by another claim of this op, or like an earlier one of equal load? */
static bool is_useless(const role_packer *r, uint32_t k, uint32_t bit) {
  const fs_modulo_body *b = r->b;
  uint32_t first = b->track0[r->group];
  for (uint32_t i = k; i > 0 && b->claim[r->claim[i - 1]].op == b->claim[r->claim[k]].op; i--) {
    if (r->at[i - 1] == bit) {
      return true;
    }
  }
  bool several = k > 0 && b->claim[r->claim[k - 1]].op == b->claim[r->claim[k]].op;
  for (uint32_t t = b->alike[first + bit] - first; t < bit && !several; t++) {
    if (b->alike[first + t] == b->alike[first + bit] && r->load[t] == r->load[bit]) {
      return true;
    }
  }
  return false;
}

static bool pack_from(role_packer *r, uint32_t k) {
  const fs_modulo_body *b = r->b;
  if (k == r->n) {
    return true;
  }
  int64_t tracks = b->track0[r->group + 1] - b->track0[r->group], room = 0;
  for (int64_t t = 0; t < tracks; t++) {
    room += r->target - r->load[t];
  }
  if (r->rest[k] > room) {
    ask_for(r, r->target + fs_ceiling_div(r->rest[k] - room, tracks));
    return false;
  }
  const fs_modulo_claim *c = &b->claim[r->claim[k]];
  for (uint64_t left = c->domain; left != 0 && r->steps > 0; left &= left - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(left);
    if (r->load[bit] + c->hold > r->target) {
      ask_for(r, r->load[bit] + c->hold);
      continue;
    }
    if (is_useless(r, k, bit)) {
      continue;
    }
    r->steps--;
    r->at[k] = bit;
    r->load[bit] += c->hold;
    bool fits = pack_from(r, k + 1);
    r->load[bit] -= c->hold;
    if (fits) {
      return true;
    }
  }
  return false;
}

/* Sorts the claims of a group; those of one op stay together. */
static fs_status list_claims(fs_arena *scratch, role_packer *r) {
  const fs_modulo_body *b = r->b;
  uint64_t *key;
  uint32_t first = b->member0[r->group];
  r->n = b->member0[r->group + 1] - first;
  FS_TRY(fs_new(scratch, &key, 2 * (size_t)r->n));
  FS_TRY(fs_new(scratch, &r->claim, r->n));
  FS_TRY(fs_new(scratch, &r->at, r->n));
  FS_TRY(fs_new(scratch, &r->rest, (size_t)r->n + 1));
  FS_TRY(fs_new_zero(scratch, &r->load, FS_MODULO_TRACKS));
  uint64_t longest = 0;
  for (uint32_t k = 0; k < r->n; k++) {
    longest = fs_max(longest, (uint64_t)b->claim[b->member[first + k]].hold);
  }
  uint32_t down = 0;
  for (; longest >> down >= (UINT64_C(1) << 30); down++) {
  }
  for (uint32_t k = 0; k < r->n; k++) {
    const fs_modulo_claim *c = &b->claim[b->member[first + k]];
    uint64_t few = (uint64_t)__builtin_popcountll(c->domain) - 1;
    uint64_t less = (longest >> down) - ((uint64_t)c->hold >> down);
    key[k] = few << 58 | less << 26 | k;
  }
  fs_radix_sort_block(key, r->n);
  for (uint32_t k = 0; k < r->n; k++) {
    r->claim[k] = b->member[first + (key[k] & 0x3ffffff)];
  }
  r->rest[r->n] = 0;
  for (uint32_t k = r->n; k-- > 0;) {
    r->rest[k] = r->rest[k + 1] + b->claim[r->claim[k]].hold;
  }
  return FSCHED_OK;
}

/* Raises the target until all fits, or steps run out. */
static fs_status pack_group(fs_arena *scratch, role_packer *r) {
  const fs_modulo_body *b = r->b;
  FS_TRY(list_claims(scratch, r));
  r->target = 0;
  for (uint32_t k = 0; k < r->n; k++) {
    int64_t hold = b->claim[r->claim[k]].hold;
    r->target = hold > r->target ? hold : r->target;
  }
  while (r->n <= MOST_CLAIMS) {
    r->next = INT64_MAX;
    if (pack_from(r, 0) || r->steps == 0 || r->next == INT64_MAX) {
      return FSCHED_OK;
    }
    r->target = r->next;
  }
  return FSCHED_OK;
}

/* --- strips --- */

/* The least period in which the lanes of a group hold all that wants them; 0 where that is not
 * known.
 *
 * An op that takes all lanes cuts the period: nothing else runs beside it, so what is left can be
 * put together, and has to fit into a strip of these lanes that is shorter by all such ops. */
static fs_status pack_strip(fsched_context *ctx, const fs_modulo_body *b, uint32_t g,
                            int64_t *period) {
  fs_strip_op op[FS_STRIP_OPS];
  uint32_t n = 0, lanes = b->track0[g + 1] - b->track0[g];
  int64_t all = 0, length;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1];) {
    const fs_modulo_claim *c = &b->claim[b->member[k]];
    fs_strip_op o = {0, c->hold};
    for (; k < b->member0[g + 1] && b->claim[b->member[k]].op == c->op; k++) {
      o.need++;
    }
    bool fits = n < FS_STRIP_OPS && o.hold <= FS_STRIP_LONGEST;
    if (o.need < lanes && !fits) {
      return FSCHED_OK;
    }
    if (o.need < lanes) {
      op[n++] = o;
    } else {
      all += o.hold;
    }
  }
  if (lanes < 2 || lanes > FS_STRIP_LANES || all == 0 || n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_strip_least(ctx, lanes, op, n, STRIP_STEPS, &length));
  *period = all + length;
  return FSCHED_OK;
}

fs_status fs_modulo_roles(fsched_context *ctx, const fs_modulo_body *b, uint64_t steps,
                          fs_modulo_ratio *out, fs_modulo_limit *by, uint32_t *index) {
  FS_SCRATCH(scratch, ctx);
  int64_t most = 0;
  *by = FS_MODULO_BY_ROLES;
  *index = 0;
  for (uint32_t g = 0; g < b->n_groups; g++) {
    role_packer r = {.b = b, .group = g, .steps = steps};
    bool queues = g < b->n_queue_groups;
    int64_t strip = 0;
    FS_TRY(pack_group(&scratch, &r));
    FS_TRY(queues ? FSCHED_OK : pack_strip(ctx, b, g, &strip));
    r.target = strip > r.target ? strip : r.target;
    if (r.target > most) {
      most = r.target;
      *by = queues ? FS_MODULO_BY_ROLES : FS_MODULO_BY_RESOURCE;
      *index = queues ? b->name[b->track0[g]] : g - b->n_queue_groups;
    }
  }
  int64_t worth;
  fs_modulo_limit shared;
  uint32_t at;
  FS_TRY(fs_modulo_clique_bound(ctx, b, false, &worth, &shared, &at));
  if (worth > most) {
    most = worth;
    *by = shared;
    *index = at;
  }
  *out = fs_modulo_ratio_of(most, b->copies);
  return FSCHED_OK;
}
