/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds that need no search.
 *
 * A set of jobs whose heads (earliest starts) are at least h and whose tails (the least time after
 * them) are at least t needs h + ceil(work / capacity) + t ticks on anything of bounded capacity:
 * the queues of a domain, a resource, the concurrency limit, a memory.  The bound is the maximum
 * over such pairs (Carlier 1982, for one machine; divided by the capacity for several): for each
 * head, one pass over the jobs by descending tail.  Heads are sampled where jobs times heads would
 * exceed a limit (limit.h), and sets of too many jobs are treated as one window.  Sums saturate and
 * so remain lower bounds.
 *
 * Jobs are the ops and the unavoidable copies: the first read of given content that is used (its
 * tail: the longest tail of its users), and the write-back of kept content (its head: its writers).
 * A gang counts once for each of its queues.  One that takes any of them counts for as many as it
 * must take of a domain, however it chooses.  What gangs leave idle is found by dual feasible
 * functions (Lueker 1983): of items of s of Q queues each, in progress at one time, the numbers
 * ceil((k + 1) s / Q) - 1 add up to k at most, as each is below (k + 1) s / Q.  So gangs of more
 * than half of the queues (k = 1) run one after the other.
 *
 * Ops that every other op precedes or follows cut the graph in series; the bounds of the parts add
 * up (for graphs of up to so many ops times domains).  Copies may cross such a cut and are left out
 * of the parts. */
#include <stdlib.h>

#include "base/group.h"
#include "base/radix.h"
#include "model/bounds/bounds.h"
#include "model/bounds/private.h"
#include "model/overwritten.h"

bool fs_bounds_read_needed(const fsched_graph *g, uint32_t v) {
  FS_ASSERT_SLOW(v < g->n_versions);
  return fs_version_load_needed(g, v) && !fs_version_load_races(g, v);
}

/* A kept version that is given and never written is already in the store. */
bool fs_bounds_write_needed(const fsched_graph *g, uint32_t v) {
  FS_ASSERT_SLOW(v < g->n_versions);
  if (!fs_version_spills(g, v) || !fs_version_kept(g, v)) {
    return false;
  }
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    if (fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      return true;
    }
  }
  return false;
}

fs_tick fs_bounds_read_time(const fsched_graph *g, uint32_t v) {
  FS_ASSERT_SLOW(v < g->n_versions);
  return fs_spill_read_time(fs_version_home(g, v), fs_version_size(g, v));
}

fs_tick fs_bounds_write_time(const fsched_graph *g, uint32_t v) {
  FS_ASSERT_SLOW(v < g->n_versions);
  return fs_spill_write_time(fs_version_home(g, v), fs_version_size(g, v));
}

static fs_tick own_head(const fs_bounds *b, uint32_t op) {
  const fsched_graph *g = b->g;
  fs_tick head = 0;
  if (b->copies && g->op_start != NULL && g->op_start[op] != FS_TICK_NONE) {
    head = g->op_start[op];
  }
  for (uint32_t a = g->op_arg0[op]; b->copies && a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a]) && fs_bounds_read_needed(g, v)) {
      head = fs_max(head, fs_bounds_read_time(g, v));
    }
  }
  return head;
}

static fs_tick own_tail(const fs_bounds *b, uint32_t op) {
  const fsched_graph *g = b->g;
  fs_tick tail = 0;
  for (uint32_t a = g->op_arg0[op]; b->copies && a < g->op_arg0[op + 1]; a++) {
    uint32_t v = g->arg_version[a];
    if (v != FS_NONE && fs_tag_writes(g->arg_tag[a]) && fs_bounds_write_needed(g, v)) {
      tail = fs_max(tail, fs_bounds_write_time(g, v));
    }
  }
  return tail;
}

/* Longest paths before and after each op of the part; returns the longest path through it. */
static fs_tick heads_and_tails(fs_bounds *b) {
  assert(b->first <= b->last && b->last <= b->g->n_ops);
  const fsched_graph *g = b->g;
  fs_tick longest = 0;
  for (uint32_t i = b->first; i < b->last; i++) {
    uint32_t op = g->topo[i];
    b->head[op] = own_head(b, op);
    for (uint32_t p = g->pred0[op]; p < g->pred0[op + 1]; p++) {
      uint32_t pred = g->pred[p];
      if (fs_bounds_inside(b, pred)) {
        b->head[op] = fs_max(b->head[op], b->head[pred] + fs_op_latency(g, pred));
      }
    }
  }
  for (uint32_t i = b->last; i-- > b->first;) {
    uint32_t op = g->topo[i];
    b->tail[op] = own_tail(b, op);
    for (uint32_t s = g->succ0[op]; s < g->succ0[op + 1]; s++) {
      uint32_t succ = g->succ[s];
      if (fs_bounds_inside(b, succ)) {
        b->tail[op] = fs_max(b->tail[op], b->tail[succ] + fs_op_latency(g, succ));
      }
    }
    longest = fs_max(longest, b->head[op] + fs_op_latency(g, op) + b->tail[op]);
  }
  return longest;
}

/* Entries that compare equal are equal in every member. */
static int by_tail(const void *a, const void *b) {
  const fs_bounds_job *x = a, *y = b;
  return x->tail != y->tail   ? (x->tail < y->tail ? 1 : -1)
         : x->head != y->head ? (x->head < y->head ? 1 : -1)
                              : (x->work > y->work) - (x->work < y->work);
}

/* What the jobs whose heads are at least this one add up to, and the longest of their tails. */
typedef struct head_sum {
  fs_tick head, work, tail;
} head_sum;

/* The best window of a head over the jobs by descending tail, if it is above `best`, else that.  It
 * ends where the rest cannot be above it, whatever lies in it. */
static fs_tick window(const fs_bounds *b, const head_sum *s, uint64_t capacity, fs_tick best) {
  FS_ASSERT_SLOW(capacity > 0);
  fs_tick work = 0, h = s->head, all = fs_ceil_div(s->work, capacity);
  if (fs_add_most(h + s->tail, all) <= best) {
    return best;
  }
  for (size_t i = 0; i < b->jobs.n; i++) {
    const fs_bounds_job *j = &b->jobs.at[i];
    if (fs_add_most(h + j->tail, all) <= best) {
      break;
    }
    if (j->head >= h) {
      work = fs_add_most(work, j->work);
      fs_tick least = capacity == 1 ? work : fs_ceil_div(work, capacity);
      best = fs_max(best, fs_add_most(h + j->tail, least));
    }
  }
  return best;
}

/* Sorts the jobs by descending tail.  Of those with one tail only the last counts, for which all of
 * them have been added up, so their order does not matter. */
static fs_status sort_by_tail(fs_bounds *b) {
  size_t n = b->jobs.n;
  const fs_bounds_job *job = b->jobs.at;
  fs_bounds_job *sorted;
  uint64_t *key;
  FS_TRY(fs_new(b->arena, &key, 2 * n));
  FS_TRY(fs_new(b->arena, &sorted, n));
  for (size_t i = 0; i < n; i++) {
    if (job[i].tail > UINT32_MAX) { /* tail and index have no room in one key */
      qsort(b->jobs.at, n, sizeof *job, by_tail);
      return FSCHED_OK;
    }
    key[i] = (UINT32_MAX - job[i].tail) << 32 | i;
  }
  fs_radix_sort_block(key, n);
  for (size_t i = 0; i < n; i++) {
    sorted[i] = job[(uint32_t)key[i]];
  }
  memcpy(b->jobs.at, sorted, n * sizeof *sorted);
  return FSCHED_OK;
}

/* Adds up the jobs for each of their heads, ascending, of which there are *n. */
static fs_status sum_heads(fs_bounds *b, head_sum **out, size_t *n) {
  uint64_t *head;
  head_sum *sum;
  FS_TRY(fs_new(b->arena, &head, 2 * b->jobs.n));
  FS_TRY(fs_new(b->arena, &sum, b->jobs.n));
  for (size_t i = 0; i < b->jobs.n; i++) {
    head[i] = b->jobs.at[i].head;
  }
  fs_radix_sort_block(head, b->jobs.n);
  *n = 0;
  for (size_t i = 0; i < b->jobs.n; i++) {
    if (i == 0 || head[i] != head[i - 1]) {
      sum[(*n)++] = (head_sum){.head = head[i]};
    }
  }
  for (size_t i = 0; i < b->jobs.n; i++) {
    const fs_bounds_job *j = &b->jobs.at[i];
    size_t low = 0;
    for (size_t high = *n; high - low > 1;) {
      size_t middle = low + (high - low) / 2;
      *(sum[middle].head <= j->head ? &low : &high) = middle;
    }
    sum[low].work = fs_add_most(sum[low].work, j->work);
    sum[low].tail = fs_max(sum[low].tail, j->tail);
  }
  for (size_t i = *n; i-- > 1;) {
    sum[i - 1].work = fs_add_most(sum[i - 1].work, sum[i].work);
    sum[i - 1].tail = fs_max(sum[i - 1].tail, sum[i].tail);
  }
  *out = sum;
  return FSCHED_OK;
}

static fs_tick whole(const fs_bounds *b, uint64_t capacity) {
  FS_ASSERT_SLOW(b->jobs.n > 0 && capacity > 0);
  fs_tick head = UINT64_MAX, tail = UINT64_MAX, work = 0;
  for (size_t i = 0; i < b->jobs.n; i++) {
    head = fs_min(head, b->jobs.at[i].head);
    tail = fs_min(tail, b->jobs.at[i].tail);
    work = fs_add_most(work, b->jobs.at[i].work);
  }
  return fs_add_most(head + tail, fs_ceil_div(work, capacity));
}

/* Finds the best window over the collected jobs. */
fs_status fs_bounds_windows(fs_bounds *b, uint64_t capacity, fs_tick *out) {
  size_t n = b->jobs.n;
  const fs_limits *limits = fs_limits_of(b->ctx);
  if (n == 0 || capacity == 0 || n > limits->bound_jobs) {
    *out = n == 0 || capacity == 0 ? *out : fs_max(*out, whole(b, capacity));
    b->jobs.n = 0;
    return FSCHED_OK;
  }
  fs_arena_mark mark = fs_arena_set_mark(b->arena);
  head_sum *sum;
  size_t distinct;
  FS_TRY(sum_heads(b, &sum, &distinct));
  FS_TRY(sort_by_tail(b));
  size_t step = distinct * n / limits->bound_steps + 1;
  for (size_t i = 0; i < distinct; i += step) {
    *out = window(b, &sum[i], capacity, *out);
  }
  fs_arena_reset(b->arena, mark);
  b->jobs.n = 0;
  return FSCHED_OK;
}

fs_status fs_bounds_add_job(fs_bounds *b, fs_tick head, fs_tick tail, fs_tick work) {
  fs_bounds_job j = {head, tail, work};
  return work == 0 ? FSCHED_OK : fs_vec_push(b->ctx, &b->jobs, j);
}

/* Adds the work of an op, after which so much time passes in it. */
static fs_status add_op(fs_bounds *b, uint32_t op, fs_tick late, fs_tick work) {
  return b->runs == NULL ? fs_bounds_add_job(b, b->head[op], late + b->tail[op], work)
                         : fs_bounds_add_job(b, 0, 0, fs_multiply_most(work, b->runs[op]));
}

static bool has_queue(const fs_target *t, uint32_t d, uint32_t queue) {
  uint32_t low = t->domain_queue0[d], high = t->domain_queue0[d + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->domain_queue[middle] == queue) {
      return true;
    }
    low = t->domain_queue[middle] < queue ? middle + 1 : low;
    high = t->domain_queue[middle] < queue ? high : middle;
  }
  return false;
}

/* Is domain `a` within domain `d`?  Both are ascending. */
static bool subset(const fs_target *t, uint32_t a, uint32_t d) {
  assert(a < t->n_domains && d < t->n_domains);
  for (uint32_t i = t->domain_queue0[a]; i < t->domain_queue0[a + 1]; i++) {
    if (!has_queue(t, d, t->domain_queue[i])) {
      return false;
    }
  }
  return true;
}

/* Adds the reads and write-backs that run on the queues of domain `d`. */
static fs_status add_copies(fs_bounds *b, uint32_t d) {
  assert(d < b->g->target.n_domains);
  const fsched_graph *g = b->g;
  for (uint32_t k = b->copy0[d]; b->copies && k < b->copy0[d + 1]; k++) {
    uint32_t v = b->copy[k];
    fs_tick head = 0, tail = 0;
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
      uint32_t op = g->access_op[i];
      tail = fs_max(tail, fs_op_latency(g, op) + b->tail[op]);
      if (fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
        head = fs_max(head, b->head[op] + fs_op_latency(g, op));
      }
    }
    FS_TRY(
        fs_bounds_add_job(b, 0, tail, fs_bounds_read_needed(g, v) ? fs_bounds_read_time(g, v) : 0));
    FS_TRY(fs_bounds_add_job(b, head, 0,
                             fs_bounds_write_needed(g, v) ? fs_bounds_write_time(g, v) : 0));
  }
  return FSCHED_OK;
}

/* How long an op keeps each of its queues, at least. */
static fs_tick least_kept(const fsched_graph *g, uint32_t op) {
  uint32_t gang = g->op_gang[op];
  const fs_rolled_part *part = gang == FS_NONE ? NULL : fs_op_parts(g, op);
  fs_tick least = g->op_time[op];
  for (uint32_t k = 0; part != NULL && k < g->gang_members[gang]; k++) {
    least = fs_min(least, part[k].end - part[k].begin);
  }
  return least;
}

static fs_status add_ops(fs_bounds *b, uint32_t slot, uint64_t share) {
  assert(slot < b->g->target.n_domains + b->g->n_gangs);
  for (uint32_t i = b->slot0[slot]; share > 0 && i < b->slot0[slot + 1]; i++) {
    uint32_t op = b->slot_op[i];
    fs_tick late =
        fs_op_latency(b->g, op) - b->g->op_time[op]; /* the queue is free before the end */
    FS_TRY(add_op(b, op, late, least_kept(b->g, op) * share));
  }
  return FSCHED_OK;
}

/* Adds the domains within `d` that begin with this queue; `queue` is the number of queues for those
 * without any. */
static fs_status add_domains(fs_bounds *b, uint32_t d, uint32_t queue) {
  for (uint32_t i = b->first0[queue]; i < b->first0[queue + 1]; i++) {
    uint32_t e = b->first_domain[i];
    bool any = b->slot0[e] < b->slot0[e + 1] || b->copy0[e] < b->copy0[e + 1];
    if (any && subset(&b->g->target, e, d)) {
      FS_TRY(add_ops(b, e, 1));
      FS_TRY(add_copies(b, e));
    }
  }
  return FSCHED_OK;
}

/* The queues of the domain that an op of the gang takes at least; `shared` of the gang's are in
 * it. */
static uint64_t least_share(const fsched_graph *g, uint32_t gang, uint64_t shared) {
  uint64_t others = g->gang_queue0[gang + 1] - g->gang_queue0[gang] - shared;
  uint64_t members = g->gang_members[gang];
  return members > others ? members - others : 0;
}

/* What an item of `share` of the domain's queues counts, with `parts` as k; 0 parts: each queue. */
static uint64_t share_in_parts(uint64_t share, uint64_t queues, uint32_t parts) {
  bool none = share == 0 || parts == 0;
  return none ? share : fs_ceil_div((parts + UINT64_C(1)) * share, queues) - 1;
}

/* Adds each gang once, for its members that are in the domain.  *most is the largest share of one
 * op. */
static fs_status add_gangs(fs_bounds *b, uint32_t d, uint32_t parts, uint64_t *most) {
  const fs_target *t = &b->g->target;
  uint64_t queues = t->domain_queue0[d + 1] - t->domain_queue0[d];
  for (int add = 0; add < 2; add++) {
    for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
      uint32_t queue = t->domain_queue[i];
      for (uint32_t k = b->gang0[queue]; k < b->gang0[queue + 1]; k++) {
        uint32_t gang = b->gang[k];
        if (add) {
          uint64_t share = least_share(b->g, gang, b->share[gang]);
          FS_TRY(add_ops(b, t->n_domains + gang, share_in_parts(share, queues, parts)));
          *most = fs_max(*most, share);
        }
        b->share[gang] = add ? 0 : b->share[gang] + 1;
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_bounds_add_domain(fs_bounds *b, uint32_t d, uint64_t *queues, uint64_t *most) {
  assert(d < b->g->target.n_domains && b->jobs.n == 0);
  const fs_target *t = &b->g->target;
  *queues = t->implicit_queues ? t->concurrency : t->domain_queue0[d + 1] - t->domain_queue0[d];
  if (*queues == 0) {
    return FSCHED_OK;
  }
  FS_TRY(add_domains(b, d, t->n_queues));
  for (uint32_t i = t->domain_queue0[d]; i < t->domain_queue0[d + 1]; i++) {
    FS_TRY(add_domains(b, d, t->domain_queue[i]));
  }
  return add_gangs(b, d, 0, most);
}

static fs_status domain_bound(fs_bounds *b, uint32_t d, fs_tick *out) {
  enum { MOST_PARTS = 4 };
  uint64_t most = 0, queues;
  FS_TRY(fs_bounds_add_domain(b, d, &queues, &most));
  FS_TRY(fs_bounds_windows(b, queues, out));
  for (uint32_t parts = 1; most > 1 && parts <= MOST_PARTS && parts + 1 < queues; parts++) {
    FS_TRY(add_gangs(b, d, parts, &most));
    FS_TRY(fs_bounds_windows(b, parts, out));
  }
  return FSCHED_OK;
}

static fs_status fill_domains(fs_bounds *b) {
  const fs_target *t = &b->g->target;
  uint32_t *first;
  FS_TRY(fs_new(b->arena, &first, t->n_domains));
  for (uint32_t d = 0; d < t->n_domains; d++) {
    bool none = t->domain_queue0[d] == t->domain_queue0[d + 1];
    first[d] = none ? t->n_queues : t->domain_queue[t->domain_queue0[d]];
  }
  return fs_group(b->arena, first, t->n_domains, t->n_queues + 1, &b->first0, &b->first_domain);
}

static fs_status fill_gangs(fs_bounds *b) {
  const fsched_graph *g = b->g;
  FS_TRY(fs_new_zero(b->arena, &b->share, g->n_gangs));
  return fs_group_turn(b->arena, g->gang_queue0, g->gang_queue, g->n_gangs, g->target.n_queues,
                       &b->gang0, &b->gang);
}

/* Sorts the part's ops into slots; the caller's mark releases the arrays. */
static fs_status fill_slots(fs_bounds *b) {
  assert(b->first <= b->last);
  const fsched_graph *g = b->g;
  uint32_t n_domains = g->target.n_domains, n = b->last - b->first, *slot;
  FS_TRY(fs_new(b->arena, &slot, n));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t op = g->topo[b->first + i];
    slot[i] = g->op_gang[op] == FS_NONE ? g->op_domain[op] : n_domains + g->op_gang[op];
  }
  FS_TRY(fs_group(b->arena, slot, n, n_domains + g->n_gangs, &b->slot0, &b->slot_op));
  for (uint32_t i = 0; i < n; i++) {
    b->slot_op[i] = g->topo[b->first + b->slot_op[i]];
  }
  return FSCHED_OK;
}

static fs_status fill_copies(fs_bounds *b) {
  const fsched_graph *g = b->g;
  uint32_t *domain;
  FS_TRY(fs_new_none(b->arena, &domain, g->n_versions));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (fs_bounds_read_needed(g, v) || fs_bounds_write_needed(g, v)) {
      domain[v] = fs_version_home(g, v)->spill_domain;
    }
  }
  return fs_group(b->arena, domain, g->n_versions, g->target.n_domains, &b->copy0, &b->copy);
}

/* Lists the uses of resources in topological order of their ops. */
static fs_status fill_uses(fs_bounds *b) {
  const fsched_graph *g = b->g;
  uint32_t n = 0, *resource;
  FS_TRY(fs_new(b->arena, &b->use_of, g->op_use0[g->n_ops]));
  FS_TRY(fs_new(b->arena, &resource, g->op_use0[g->n_ops]));
  FS_TRY(fs_new_zero(b->arena, &b->part_of, g->target.n_resources));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t u = g->op_use0[op]; u < g->op_use0[op + 1]; u++) {
      resource[n] = g->use_resource[u];
      b->use_of[n++] = (fs_bounds_use){op, g->use_amount[u]};
    }
  }
  assert(n == g->op_use0[g->n_ops]);
  return fs_group(b->arena, resource, n, g->target.n_resources, &b->use0, &b->use);
}

/* The first use of a resource by an op of the part or after it. */
static uint32_t first_use(const fs_bounds *b, uint32_t r) {
  uint32_t low = b->use0[r], high = b->use0[r + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (b->position[b->use_of[b->use[middle]].op] < b->first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The bound by energy (ticks times amounts); amounts are scaled down together where products could
 * overflow. */
static fs_status resource_bound(fs_bounds *b, uint32_t r, fs_tick *out) {
  assert(r < b->g->target.n_resources && b->jobs.n == 0);
  const fsched_graph *g = b->g;
  uint64_t capacity = g->target.resource_capacity[r];
  uint32_t shift = 0;
  while (capacity >> shift > (uint64_t)1 << 16) {
    shift++;
  }
  for (uint32_t k = first_use(b, r); k < b->use0[r + 1]; k++) {
    const fs_bounds_use *u = &b->use_of[b->use[k]];
    uint32_t op = u->op;
    if (b->position[op] >= b->last) {
      break;
    }
    /* rounding amounts down keeps it a bound */
    FS_TRY(add_op(b, op, 0, fs_op_latency(g, op) * (u->amount >> shift)));
  }
  return fs_bounds_windows(b, (capacity >> shift) + (shift > 0), out);
}

/* Adds the bound of each resource that the part uses. */
static fs_status resource_bounds(fs_bounds *b, fs_tick *out) {
  const fsched_graph *g = b->g;
  for (uint32_t i = b->first; i < b->last; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t u = g->op_use0[op]; u < g->op_use0[op + 1]; u++) {
      uint32_t r = g->use_resource[u];
      if (b->part_of[r] != b->n_parts) {
        b->part_of[r] = b->n_parts;
        FS_TRY(resource_bound(b, r, out));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status concurrency_bound(fs_bounds *b, fs_tick *out) {
  for (uint32_t i = b->first; i < b->last && b->g->target.concurrency > 0; i++) {
    uint32_t op = b->g->topo[i];
    FS_TRY(add_op(b, op, 0, fs_op_latency(b->g, op)));
  }
  return fs_bounds_windows(b, b->g->target.concurrency, out);
}

static fs_status part_bounds(fs_bounds *b, fs_lower_bounds *out) {
  assert(b->first <= b->last && b->last <= b->g->n_ops);
  fs_arena_mark mark = fs_arena_set_mark(b->arena);
  b->n_parts++;
  FS_TRY(fill_slots(b));
  out->critical_path = heads_and_tails(b);
  for (uint32_t d = 0; d < b->g->target.n_domains; d++) {
    FS_TRY(domain_bound(b, d, &out->queue_work));
  }
  FS_TRY(resource_bounds(b, &out->resource_work));
  FS_TRY(concurrency_bound(b, &out->resource_work));
  FS_TRY(fs_bounds_memories(b, &out->memory_work));
  if (b->copies) {
    FS_TRY(fs_bounds_trades(b, &out->memory_work));
    FS_TRY(fs_bounds_behind(b, &out->memory_work));
  }
  fs_arena_reset(b->arena, mark);
  return FSCHED_OK;
}

static fs_tick largest(const fs_lower_bounds *l) {
  fs_tick work =
      fs_max(fs_max(l->queue_work, l->resource_work), fs_max(l->copy_work, l->memory_work));
  return fs_max(fs_max(l->critical_path, l->series), work);
}

/* Adds the bound of the part [first, last). */
static fs_status add_part(fs_bounds *b, uint32_t last, fs_tick *sum) {
  assert(b->first <= last && last <= b->g->n_ops);
  fs_lower_bounds part = {0};
  b->last = last;
  if (b->first < b->last) {
    FS_TRY(part_bounds(b, &part));
  }
  *sum += largest(&part);
  return FSCHED_OK;
}

/* Sums the parts between ops that all other ops precede or follow.  No edge passes over such an op
 * in topological order, counting also edges from a source before all ops and to a sink after
 * them. */
static fs_status series_bound(fs_bounds *b, fs_tick *out) {
  const fsched_graph *g = b->g;
  uint32_t last_root = 0, reach = 0;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    last_root = g->pred0[g->topo[i] + 1] == g->pred0[g->topo[i]] ? i : last_root;
  }
  b->copies = false;
  b->first = 0;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    if (reach <= i && last_root <= i) {
      FS_TRY(add_part(b, i, out));
      *out += fs_op_latency(g, op);
      b->first = i + 1;
    }
    for (uint32_t s = g->succ0[op]; s < g->succ0[op + 1]; s++) {
      reach = (uint32_t)fs_max(reach, b->position[g->succ[s]]);
    }
    reach = g->succ0[op] == g->succ0[op + 1] ? g->n_ops : reach;
  }
  return add_part(b, g->n_ops, out);
}

/* The bound by unavoidable copies alone. */
static fs_status copy_bound(fs_bounds *b, fs_tick *out) {
  const fs_target *t = &b->g->target;
  for (uint32_t d = 0; d < t->n_domains; d++) {
    uint64_t queues =
        t->implicit_queues ? t->concurrency : t->domain_queue0[d + 1] - t->domain_queue0[d];
    fs_tick sum = 0;
    FS_TRY(add_copies(b, d));
    for (size_t i = 0; i < b->jobs.n; i++) {
      sum = fs_add_most(sum, b->jobs.at[i].work);
    }
    b->jobs.n = 0;
    *out = queues == 0 ? *out : fs_max(*out, fs_ceil_div(sum, queues));
  }
  return FSCHED_OK;
}

/* Lists what there is; then the part is all of it. */
static fs_status start(fs_bounds *b) {
  const fsched_graph *g = b->g;
  FS_TRY(fs_new(b->arena, &b->position, g->n_ops));
  FS_TRY(fs_new_zero(b->arena, &b->head, g->n_ops));
  FS_TRY(fs_new_zero(b->arena, &b->tail, g->n_ops));
  FS_TRY(fill_copies(b));
  FS_TRY(fill_domains(b));
  FS_TRY(fill_gangs(b));
  FS_TRY(fill_uses(b));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    b->position[g->topo[i]] = i;
  }
  b->last = g->n_ops;
  return FSCHED_OK;
}

static fs_status all_bounds(fs_bounds *b, fs_lower_bounds *out) {
  const fsched_graph *g = b->g;
  FS_TRY(start(b));
  b->copies = true;
  (void)heads_and_tails(b);
  FS_TRY(fs_bounds_find_memories(b));
  FS_TRY(part_bounds(b, out));
  FS_TRY(copy_bound(b, &out->copy_work));
  if ((uint64_t)g->n_ops * (g->target.n_domains + 1) <= fs_limits_of(b->ctx)->bound_parts) {
    FS_TRY(series_bound(b, &out->series));
  }
  out->all = largest(out);
  assert(out->all >= out->critical_path && out->all >= out->series);
  return FSCHED_OK;
}

fs_status fs_graph_lower_bounds(fsched_context *ctx, const fsched_graph *g, fs_lower_bounds *out) {
  FS_SCRATCH(arena, ctx);
  *out = (fs_lower_bounds){0};
  fs_bounds b = {.ctx = ctx, .g = g, .arena = &arena};
  fs_status status = all_bounds(&b, out);
  fs_vec_free(ctx, &b.jobs);
  return status;
}

static fs_status work_bounds(fs_bounds *b, fs_lower_bounds *out) {
  FS_TRY(start(b));
  FS_TRY(fill_slots(b));
  for (uint32_t d = 0; d < b->g->target.n_domains; d++) {
    FS_TRY(domain_bound(b, d, &out->queue_work));
  }
  b->n_parts = 1;
  FS_TRY(resource_bounds(b, &out->resource_work));
  FS_TRY(concurrency_bound(b, &out->resource_work));
  out->all = largest(out);
  return FSCHED_OK;
}

fs_status fs_graph_work_bounds(fsched_context *ctx, const fsched_graph *g, const uint64_t *runs,
                               fs_lower_bounds *out) {
  FS_SCRATCH(arena, ctx);
  *out = (fs_lower_bounds){0};
  fs_bounds b = {.ctx = ctx, .g = g, .arena = &arena, .runs = runs};
  fs_status status = work_bounds(&b, out);
  fs_vec_free(ctx, &b.jobs);
  return status;
}

/* Without the bounds of the unrolled graph, loops may take no time. */
fs_status fs_graph_unrolled_bounds(fsched_context *ctx, const fsched_graph *g,
                                   fs_lower_bounds *out) {
  if (g->n_rolled == 0 || g->unrolled != NULL) {
    *out = g->n_rolled > 0 ? *g->unrolled : (fs_lower_bounds){0};
    return g->n_rolled > 0 ? FSCHED_OK : fs_graph_lower_bounds(ctx, g, out);
  }
  FS_SCRATCH(arena, ctx);
  uint64_t *runs;
  FS_TRY(fs_new(&arena, &runs, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    runs[op] = fs_op_rolled(g, op) == FS_NONE;
  }
  return fs_graph_work_bounds(ctx, g, runs, out);
}
