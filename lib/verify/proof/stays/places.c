/* SPDX-License-Identifier: Apache-2.0 */
/* Are there no addresses for some residencies of a memory?  Those that surely meet in time may not
 * meet in their addresses, but for an output in the place of an input, while its op runs, if the
 * input ends with it.  Two stays of one version never meet.
 *
 * If there are addresses, there are such that each residency lies at 0 or on top of one that it
 * meets: push all down, one after the other, by their addresses.  So all orders by addresses are
 * tried, each residency on top of those of the order so far that it meets, and no lower than the
 * last one.  More than 2^20 residencies that are put somewhere prove nothing. */
#include "verify/proof/stays/stays.h"

#include "base/saturate.h"

enum { MOST_THINGS = 16, MOST_STEPS = 1 << 20 };

typedef struct address_search {
  uint32_t n;
  uint64_t capacity, size[MOST_THINGS], top[MOST_THINGS]; /* top: of those that are placed */
  uint64_t meets[MOST_THINGS];                            /* a bit for each */
  uint64_t placed;
  uint32_t steps;
} address_search;

/* Where the residency lies on top of those that are placed. */
static uint64_t least_address(const address_search *s, uint32_t i) {
  uint64_t at = 0;
  for (uint32_t k = 0; k < s->n; k++) {
    bool below = (s->placed >> k & 1) != 0 && (s->meets[i] >> k & 1) != 0;
    at = below ? fs_max(at, s->top[k]) : at;
  }
  return at;
}

/* Do all that are left fit from the address on? */
static bool may_fit(const address_search *s, uint64_t last) {
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t at = fs_max(last, least_address(s, i));
    if ((s->placed >> i & 1) == 0 && fs_add_most(at, s->size[i]) > s->capacity) {
      return false;
    }
  }
  return true;
}

/* Is there a way to place the others at `last` or higher, or was too much tried? */
static bool can_place(address_search *s, uint32_t left, uint64_t last) {
  if (left == 0) {
    return true;
  }
  if (!may_fit(s, last)) {
    return false;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint64_t at = least_address(s, i);
    if ((s->placed >> i & 1) != 0 || at < last) {
      continue;
    }
    if (++s->steps > MOST_STEPS) {
      return true;
    }
    s->placed |= UINT64_C(1) << i;
    s->top[i] = at + s->size[i];
    bool can = can_place(s, left - 1, at);
    s->placed &= ~(UINT64_C(1) << i);
    if (can) {
      return true;
    }
  }
  return false;
}

/* A residency, as it surely is there. */
typedef struct sure_place {
  uint32_t version, op; /* op: of scratch, or of which it is an output in the place of an input */
  int64_t begin, end;   /* of such an output: from the op's end on */
} sure_place;

static uint64_t scratch_of(const fsched_graph *g, uint32_t op, uint32_t memory) {
  uint64_t size = 0;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    size = g->scratch_memory[i] == memory ? g->scratch_size[i] : size;
  }
  return size;
}

/* Finds a thing of the memory; false: it is not known to be there. */
static bool find_place(const fs_vproof *p, uint32_t memory, uint32_t thing, sure_place *at,
                       uint64_t *size) {
  const fsched_graph *g = p->g;
  at->version = fs_vstays_version(p, thing);
  if (!fs_vstays_surely(p, thing, &at->begin, &at->end, &at->op)) {
    return false;
  }
  if (at->version == FS_NONE) {
    at->op = thing;
    *size = fs_vmemory_aligned(g, memory, scratch_of(g, thing, memory));
    return g->op_time[thing] > 0;
  }
  uint32_t buffer = g->version_buffer[at->version];
  *size = fs_vmemory_aligned(g, memory, g->buffer_size[buffer]);
  return g->buffer_memory[buffer] == memory;
}

static bool is_pair(const fsched_graph *g, uint32_t op, uint32_t in, uint32_t out) {
  bool any = false;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    any =
        any || (g->arg_version[g->inplace_in[i]] == in && g->arg_version[g->inplace_out[i]] == out);
  }
  return any;
}

/* The latest begin: of an output in the place of an input, that of its op, but for an input which
 * may end with the op. */
static int64_t begin_beside(const fs_vproof *p, const sure_place *x, const sure_place *other) {
  if (x->version == FS_NONE || x->op == FS_NONE) {
    return x->begin;
  }
  bool shares = other->version != FS_NONE && is_pair(p->g, x->op, other->version, x->version);
  bool ends = other->end <= p->ub[x->op] + (int64_t)p->time[x->op];
  return shares && ends ? x->begin : p->ub[x->op];
}

/* `x` and `other` are surely there at one time. */
static bool places_meet(const fs_vproof *p, const sure_place *x, const sure_place *other) {
  return fs_max(begin_beside(p, x, other), begin_beside(p, other, x)) < fs_min(x->end, other->end);
}

/* A stay that begins with an op is there while the op runs. */
static void lengthen(const fs_vproof *p, sure_place *x) {
  if (x->version != FS_NONE && x->op != FS_NONE) {
    x->end = fs_max(x->end, p->lb[x->op] + (int64_t)p->time[x->op]);
  }
}

fs_status fs_vstays_unplaced(fs_vproof *p, uint32_t memory, const uint32_t *thing, uint32_t n,
                             bool *violated) {
  const fs_memory *m = &p->g->target.memory[memory];
  sure_place *at;
  address_search *s;
  if (n > MOST_THINGS || !fs_placement_has_addresses(m->placement)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&p->scratch, &at, n));
  FS_TRY(fs_new_zero(&p->scratch, &s, 1));
  s->n = n;
  s->capacity = m->capacity & ~(m->align - 1);
  for (uint32_t i = 0; i < n; i++) {
    if (!find_place(p, memory, thing[i], &at[i], &s->size[i]) || s->size[i] == 0) {
      return FSCHED_OK;
    }
    lengthen(p, &at[i]);
    for (uint32_t k = 0; k < i; k++) {
      bool meets = places_meet(p, &at[i], &at[k]);
      bool twice = thing[i] == thing[k];
      if (twice) {
        return FSCHED_OK;
      }
      *violated =
          *violated || (meets && at[i].version != FS_NONE && at[i].version == at[k].version);
      s->meets[i] |= (uint64_t)meets << k;
      s->meets[k] |= (uint64_t)meets << i;
    }
  }
  *violated = *violated || !can_place(s, n, 0);
  return FSCHED_OK;
}
