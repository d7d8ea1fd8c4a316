/* SPDX-License-Identifier: Apache-2.0 */
/* The bound by what is read behind a moment, or written before one.
 *
 *            moment                                      moment
 *     no user   |  users of given content       writers of   |  no writer
 *     of it     |                               kept content |  of it
 *   ------------+---------------------------   --------------+-----------
 *     it lies in the memory, or it is read     it is written, or it lies in
 *     behind the moment                        the memory at the moment
 *
 * Given content of which no op can start before a moment either lies in the memory at that moment,
 * as its first op finds what a read has put there, or has a read that begins behind it.  All that
 * lies there fits in the memory, so the ticks of reads that begin before are at most those of a
 * fractional knapsack (Dantzig 1957) whose room is the capacity; the other reads, and what else
 * cannot start before the moment, take their time on the queues that copy.  That is a window as for
 * the other bounds, whose work is less by what the knapsack holds: O(n log n) for a head, all tails
 * together.  In the same way, from the end: kept content whose writers must have ended some ticks
 * before the end.
 *
 * A head is more than a path where many ops must have run on few queues: the ops before an op, of
 * which all start at some tick at least, take their ticks on the queues of their domain, and the op
 * comes behind them.  Sets are those whose paths are longest; O(ops + edges) for an op, so that in
 * large graphs every so many is looked at, and the others follow from it.  Of many memories those
 * are looked at for which there are steps (limits.bound_path_steps), and numbers whose products
 * would overflow give no bound. */
#include <stdlib.h>

#include "base/heap.h"
#include "base/radix.h"
#include "model/bounds/private.h"

/* Edges of one direction: to what must have run before, seen from the start or from the end. */
typedef struct behind_side {
  const uint32_t *pred0, *pred;
  const fs_tick *path, *back; /* per op: the longest path to it, and from it to the other end */
  fs_tick *least;             /* per op: at least so many ticks are before it */
  bool from_end;
} behind_side;

/* What takes time on the queues that copy, with what it holds in the memory while it waits. */
typedef struct behind_job {
  fs_tick near, far; /* least ticks on the side of the moment, and on the other */
  fs_tick work;
  uint64_t size;  /* 0: it lies behind the moment in any case */
  uint32_t worth; /* rank of work for a byte, the least first */
} behind_job;

typedef struct bounds_behind {
  fs_bounds *b;
  uint64_t capacity, queues;
  behind_job *job; /* those with most on the far side first */
  uint32_t n;
  uint64_t *left; /* per job: what the knapsack holds of it */
  fs_tick *ticks; /* and the ticks of this part */
  fs_heap kept;
} bounds_behind;

/* ---- heads by work */

typedef struct ahead {
  const fs_bounds *b;
  behind_side *side;
  uint32_t *order; /* ops, longest paths first */
  uint32_t *mark, *stack, stamp;
  fs_tick *start, *work; /* per domain */
} ahead;

static int by_more(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] < y[0] ? 1 : -1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static fs_status order_by_path(ahead *a, fs_arena *arena) {
  uint32_t n = a->b->g->n_ops;
  uint64_t(*key)[2];
  FS_TRY(fs_new(arena, &key, n));
  for (uint32_t op = 0; op < n; op++) {
    key[op][0] = a->side->path[op];
    key[op][1] = op;
  }
  qsort(key, n, sizeof *key, by_more);
  for (uint32_t i = 0; i < n; i++) {
    a->order[i] = (uint32_t)key[i][1];
  }
  return FSCHED_OK;
}

/* Marks all that must have run before an op. */
static void mark_before(ahead *a, uint32_t op) {
  const behind_side *s = a->side;
  uint32_t n = 0;
  a->stamp++;
  a->stack[n++] = op;
  while (n > 0) {
    uint32_t at = a->stack[--n];
    for (uint32_t p = s->pred0[at]; p < s->pred0[at + 1]; p++) {
      uint32_t pred = s->pred[p];
      if (a->mark[pred] != a->stamp) {
        a->mark[pred] = a->stamp;
        a->stack[n++] = pred;
      }
    }
  }
}

/* The ticks that what is marked takes, whatever the order. */
static fs_tick ticks_before(ahead *a) {
  const fsched_graph *g = a->b->g;
  const fs_target *t = &g->target;
  fs_tick most = 0;
  for (uint32_t d = 0; d < t->n_domains; d++) {
    a->start[d] = FS_TICK_NONE;
    a->work[d] = 0;
  }
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = a->order[i], d = g->op_domain[op];
    if (a->mark[op] != a->stamp || g->op_gang[op] != FS_NONE) {
      continue;
    }
    uint64_t queues =
        t->implicit_queues ? t->concurrency : t->domain_queue0[d + 1] - t->domain_queue0[d];
    if (queues == 0) {
      continue;
    }
    a->start[d] = fs_min(a->start[d], a->side->least[op]);
    a->work[d] = fs_add_most(a->work[d], g->op_time[op]);
    most = fs_max(most, fs_add_most(a->start[d], fs_ceil_div(a->work[d], queues)));
  }
  return most;
}

static fs_status find_least(fs_bounds *b, behind_side *s) {
  const fsched_graph *g = b->g;
  uint32_t n = g->n_ops;
  ahead a = {.b = b, .side = s};
  FS_TRY(fs_new(b->arena, &a.order, n));
  FS_TRY(fs_new(b->arena, &a.stack, (size_t)n + 1));
  FS_TRY(fs_new_zero(b->arena, &a.mark, n));
  FS_TRY(fs_new(b->arena, &a.start, g->target.n_domains));
  FS_TRY(fs_new(b->arena, &a.work, g->target.n_domains));
  FS_TRY(fs_new(b->arena, &s->least, n));
  FS_TRY(order_by_path(&a, b->arena));
  uint64_t one = (uint64_t)n + s->pred0[n] + g->target.n_domains;
  uint64_t every = n * one / fs_limits_of(b->ctx)->bound_path_steps + 1;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t op = g->topo[s->from_end ? n - 1 - i : i];
    s->least[op] = s->path[op];
    for (uint32_t p = s->pred0[op]; p < s->pred0[op + 1]; p++) {
      uint32_t pred = s->pred[p];
      s->least[op] = fs_max(s->least[op], fs_add_most(s->least[pred], fs_op_latency(g, pred)));
    }
    if (i % every == every - 1) {
      mark_before(&a, op);
      s->least[op] = fs_max(s->least[op], ticks_before(&a));
    }
  }
  return FSCHED_OK;
}

/* ---- jobs */

/* The job of a version that is read before its ops, or, seen from the end, written behind them. */
static behind_job job_of(const fs_bounds *b, uint32_t v, const behind_side *s) {
  const fsched_graph *g = b->g;
  bool written = s->from_end;
  uint64_t align = fs_version_home(g, v)->align;
  behind_job j = {.near = FS_TICK_NONE, .size = fs_align_up(fs_version_size(g, v), align)};
  j.work = written ? fs_bounds_write_time(g, v) : fs_bounds_read_time(g, v);
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    uint32_t op = g->access_op[i];
    if (!written || fs_tag_writes(g->arg_tag[g->access_arg[i]])) {
      j.near = fs_min(j.near, s->least[op]);
      j.far = fs_max(j.far, fs_add_most(s->back[op], fs_op_latency(g, op)));
    }
  }
  return j;
}

static bool has_job(const fsched_graph *g, uint32_t v, bool written) {
  return written ? fs_bounds_write_needed(g, v) : fs_bounds_read_needed(g, v);
}

/* Can more of this memory be read, or written, than it holds?  Otherwise the knapsack holds all. */
static bool more_than_fits(const fs_bounds *b, uint32_t memory, bool written) {
  const fsched_graph *g = b->g;
  const fs_memory *m = &g->target.memory[memory];
  uint64_t sum = 0;
  if (!fs_memory_bounded(m) || !fs_memory_spills(m)) {
    return false;
  }
  for (uint32_t i = b->version0[memory]; i < b->version0[memory + 1]; i++) {
    uint64_t size = fs_align_up(fs_version_size(g, b->version[i]), m->align);
    sum = has_job(g, b->version[i], written) ? fs_add_most(sum, size) : sum;
  }
  return sum > m->capacity;
}

static int by_far(const void *a, const void *b) {
  const behind_job *x = a, *y = b;
  return x->far != y->far     ? (x->far < y->far ? 1 : -1)
         : x->near != y->near ? (x->near < y->near ? 1 : -1)
         : x->size != y->size ? (x->size < y->size ? 1 : -1)
                              : (x->work < y->work) - (x->work > y->work);
}

/* Products do not overflow. */
static int by_least_worth(const void *a, const void *b) {
  const behind_job *x = *(behind_job *const *)a, *y = *(behind_job *const *)b;
  uint64_t p = x->work * y->size, q = y->work * x->size;
  return p != q ? (p < q ? -1 : 1) : (x > y) - (x < y);
}

/* Ranks the jobs by what they are worth; *fit: numbers are small enough for it. */
static fs_status rank_jobs(bounds_behind *k, bool *fit) {
  uint64_t most_work = 1, most_size = 1;
  behind_job **by;
  FS_TRY(fs_new(k->b->arena, &by, k->n));
  for (uint32_t i = 0; i < k->n; i++) {
    by[i] = &k->job[i];
    most_work = fs_max(most_work, k->job[i].work);
    most_size = fs_max(most_size, k->job[i].size);
  }
  *fit = fs_multiply_most(most_work, most_size) < UINT64_C(1) << 62;
  if (*fit) {
    qsort(by, k->n, sizeof *by, by_least_worth);
    for (uint32_t i = 0; i < k->n; i++) {
      by[i]->worth = i;
    }
  }
  return FSCHED_OK;
}

/* Lists what takes time on the queues that copy for the memory. */
static fs_status list_jobs(bounds_behind *k, uint32_t memory, const behind_side *s) {
  fs_bounds *b = k->b;
  const fsched_graph *g = b->g;
  uint64_t most = 0;
  FS_TRY(fs_bounds_add_domain(b, g->target.memory[memory].spill_domain, &k->queues, &most));
  uint32_t first = b->version0[memory], last = b->version0[memory + 1];
  FS_TRY(fs_new(b->arena, &k->job, b->jobs.n + (last - first)));
  for (size_t i = 0; i < b->jobs.n; i++) {
    fs_bounds_job j = b->jobs.at[i];
    behind_job job = {.near = j.head, .far = j.tail, .work = j.work};
    if (s->from_end) {
      job.near = j.tail;
      job.far = j.head;
    }
    k->job[k->n++] = job;
  }
  b->jobs.n = 0;
  for (uint32_t i = first; i < last; i++) {
    if (has_job(g, b->version[i], s->from_end)) {
      k->job[k->n++] = job_of(b, b->version[i], s);
    }
  }
  qsort(k->job, k->n, sizeof *k->job, by_far);
  return FSCHED_OK;
}

/* ---- moments */

/* Makes room for what is more than the memory holds: what is worth least leaves, in part; returns
 * the ticks that this takes off the knapsack. */
static fs_tick leave(bounds_behind *k, uint64_t more) {
  fs_tick gone = 0;
  while (more > 0) {
    uint32_t i = k->kept.at[0].id;
    if (k->left[i] <= more) {
      (void)fs_heap_pop(&k->kept);
      more -= k->left[i];
      gone += k->ticks[i];
      continue;
    }
    k->left[i] -= more;
    more = 0;
    fs_tick rest = fs_ceil_div(k->job[i].work * k->left[i], k->job[i].size);
    gone += k->ticks[i] - rest;
    k->ticks[i] = rest;
  }
  return gone;
}

/* Raises *out by the windows that begin at a moment. */
static fs_status look_behind(bounds_behind *k, fs_tick moment, fs_tick *out) {
  fs_tick work = 0, saved = 0;
  uint64_t used = 0;
  k->kept.n = 0;
  for (uint32_t i = 0; i < k->n; i++) {
    const behind_job *j = &k->job[i];
    if (j->near < moment) {
      continue;
    }
    work = fs_add_most(work, j->work);
    if (j->size > 0) {
      FS_TRY(fs_heap_push(k->b->ctx, &k->kept, j->worth, i));
      k->left[i] = j->size;
      k->ticks[i] = j->work;
      saved = fs_add_most(saved, j->work);
      used += j->size;
      saved -= used > k->capacity ? leave(k, used - k->capacity) : 0;
      used = fs_min(used, k->capacity);
    }
    fs_tick least = fs_ceil_div(work - fs_min(work, saved), k->queues);
    *out = fs_max(*out, fs_add_most(fs_add_most(moment, j->far), least));
  }
  return FSCHED_OK;
}

/* Looks at some moments, so that these times jobs are within a limit; *steps are those that are
 * left of all memories. */
static fs_status look_at_moments(bounds_behind *k, uint64_t *steps, fs_tick *out) {
  fs_tick *moment;
  uint32_t n = 0;
  FS_TRY(fs_new(k->b->arena, &moment, k->n));
  for (uint32_t i = 0; i < k->n; i++) {
    if (k->job[i].size > 0 && k->job[i].near > 0) {
      moment[n++] = k->job[i].near;
    }
  }
  qsort(moment, n, sizeof *moment, fs_compare_u64);
  uint32_t distinct = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || moment[i] != moment[i - 1]) {
      moment[distinct++] = moment[i];
    }
  }
  uint64_t step = (uint64_t)distinct * k->n / fs_limits_of(k->b->ctx)->bound_steps + 1;
  for (uint64_t i = 0; i<distinct && * steps> 0; i += step) {
    *steps -= fs_min(*steps, k->n);
    FS_TRY(look_behind(k, moment[i], out));
  }
  return FSCHED_OK;
}

static fs_status look_at_memory(fs_bounds *b, uint32_t memory, const behind_side *s,
                                uint64_t *steps, fs_tick *out) {
  bounds_behind k = {.b = b, .capacity = b->g->target.memory[memory].capacity};
  bool fit;
  FS_TRY(list_jobs(&k, memory, s));
  FS_TRY(rank_jobs(&k, &fit));
  *steps -= fs_min(*steps, k.n);
  if (!fit || k.queues == 0 || k.n > fs_limits_of(b->ctx)->bound_jobs) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(b->arena, &k.left, k.n));
  FS_TRY(fs_new(b->arena, &k.ticks, k.n));
  fs_status status = look_at_moments(&k, steps, out);
  fs_vec_free(b->ctx, &k.kept);
  return status;
}

static fs_status look_from(fs_bounds *b, bool from_end, uint64_t *steps, fs_tick *out) {
  const fsched_graph *g = b->g;
  behind_side s = {.pred0 = from_end ? g->succ0 : g->pred0,
                   .pred = from_end ? g->succ : g->pred,
                   .path = from_end ? b->tail : b->head,
                   .back = from_end ? b->head : b->tail,
                   .from_end = from_end};
  for (uint32_t m = 0; m<g->target.n_memories && * steps> 0; m++) {
    if (!more_than_fits(b, m, from_end)) {
      continue;
    }
    if (s.least == NULL) { /* the same for all memories */
      FS_TRY(find_least(b, &s));
    }
    fs_arena_mark mark = fs_arena_set_mark(b->arena);
    FS_TRY(look_at_memory(b, m, &s, steps, out));
    fs_arena_reset(b->arena, mark);
  }
  return FSCHED_OK;
}

fs_status fs_bounds_behind(fs_bounds *b, fs_tick *out) {
  assert(b->jobs.n == 0 && b->copies && b->memory != NULL);
  uint64_t steps = fs_limits_of(b->ctx)->bound_path_steps;
  fs_arena_mark mark = fs_arena_set_mark(b->arena);
  FS_TRY(look_from(b, false, &steps, out));
  FS_TRY(look_from(b, true, &steps, out));
  fs_arena_reset(b->arena, mark);
  return FSCHED_OK;
}
