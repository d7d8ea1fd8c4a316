/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of queues by load, one for each domain and refilled in each phase; a queue's load may have
 * grown since it was put there, as domains share queues: then it goes back with its new load. */
#include "block/levels.h"

#include "base/group.h"
#include "base/heap.h"
#include "base/radix.h"
#include "block/sorts.h"

enum { CELLS = 1 << 23 };

typedef struct level_filler {
  fsched_context *ctx;
  const fs_block_problem *p;
  fs_block_answer *a;
  fs_heap *heap;       /* per domain */
  uint32_t *heap_of;   /* per domain: the phase that its heap was filled for, plus 1 */
  uint32_t *load_of;   /* per queue: the phase that its load is for, plus 1 */
  fs_tick *queue_load; /* per queue */
  uint64_t *key;       /* of the items of a phase; twice as long, for sorting */
} level_filler;

static fs_tick load_of(const level_filler *f, uint32_t queue, uint32_t phase) {
  return f->load_of[queue] == phase + 1 ? f->queue_load[queue] : 0;
}

static void add_load(level_filler *f, uint32_t item, uint32_t phase) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(f->p, item, &f->a->queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    f->queue_load[queues[i]] = load_of(f, queues[i], phase) + f->p->time[item];
    f->load_of[queues[i]] = phase + 1;
  }
}

static fs_status fill_heap(level_filler *f, uint32_t domain, uint32_t phase) {
  const fs_block_problem *p = f->p;
  f->heap[domain].n = 0;
  f->heap_of[domain] = phase + 1;
  for (uint32_t i = p->domain0[domain]; i < p->domain0[domain + 1]; i++) {
    FS_TRY(
        fs_heap_push(f->ctx, &f->heap[domain], load_of(f, p->eligible[i], phase), p->eligible[i]));
  }
  return FSCHED_OK;
}

static fs_status choose_queue(level_filler *f, uint32_t item, uint32_t phase) {
  uint32_t domain = f->p->domain[item];
  if (f->heap_of[domain] != phase + 1) {
    FS_TRY(fill_heap(f, domain, phase));
  }
  fs_heap_entry e = fs_heap_pop(&f->heap[domain]);
  while (e.key != load_of(f, e.id, phase)) {
    FS_TRY(fs_heap_push(f->ctx, &f->heap[domain], load_of(f, e.id, phase), e.id));
    e = fs_heap_pop(&f->heap[domain]);
  }
  f->a->queue[item] = e.id;
  add_load(f, item, phase);
  return fs_heap_push(f->ctx, &f->heap[domain], load_of(f, e.id, phase), e.id);
}

/* Items whose queues are given come first. */
static fs_status fill_phase(level_filler *f, const uint32_t *item, uint32_t n, uint32_t phase) {
  for (uint32_t i = 0; i < n; i++) {
    fs_tick time = fs_min(f->p->time[item[i]], UINT32_MAX - 1);
    uint64_t rank = f->p->domain[item[i]] == FS_NONE ? 0 : UINT32_MAX - time;
    f->key[i] = rank << 32 | i;
  }
  fs_radix_sort(f->key, f->key + n, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t next = item[(uint32_t)f->key[i]];
    if (f->p->domain[next] == FS_NONE) {
      add_load(f, next, phase);
    } else {
      FS_TRY(choose_queue(f, next, phase));
    }
  }
  return FSCHED_OK;
}

static fs_status fill_phases(level_filler *f, fs_arena *scratch, uint32_t n_phases) {
  const fs_block_problem *p = f->p;
  uint32_t *row0;
  uint32_t *id;
  FS_TRY(fs_new_zero(scratch, &f->heap, p->n_domains));
  FS_TRY(fs_new_zero(scratch, &f->heap_of, p->n_domains));
  FS_TRY(fs_new_zero(scratch, &f->load_of, p->n_queues));
  FS_TRY(fs_new(scratch, &f->queue_load, p->n_queues));
  FS_TRY(fs_new(scratch, &f->key, 2 * (size_t)p->n));
  FS_TRY(fs_group(scratch, f->a->phase, p->n, n_phases, &row0, &id));
  fs_status status = FSCHED_OK;
  for (uint32_t phase = 0; phase < n_phases && status == FSCHED_OK; phase++) {
    status = fill_phase(f, &id[row0[phase]], row0[phase + 1] - row0[phase], phase);
  }
  for (uint32_t d = 0; d < p->n_domains; d++) {
    fs_vec_free(f->ctx, &f->heap[d]);
  }
  return status;
}

static bool is_chosen(fs_block_level_rule rule) {
  switch (rule) {
    case FS_LEVELS_EARLY_CHOSEN:
    case FS_LEVELS_LATE_CHOSEN:
      return true;
    case FS_LEVELS_EARLY:
    case FS_LEVELS_LATE:
    case FS_LEVEL_RULES:
      break;
  }
  return false;
}

static bool is_late(fs_block_level_rule rule) {
  switch (rule) {
    case FS_LEVELS_LATE:
    case FS_LEVELS_LATE_CHOSEN:
      return true;
    case FS_LEVELS_EARLY:
    case FS_LEVELS_EARLY_CHOSEN:
    case FS_LEVEL_RULES:
      break;
  }
  return false;
}

fs_status fs_block_level(fsched_context *ctx, const fs_block_problem *p, fs_block_level_rule rule,
                         fs_block_answer *a) {
  assert(rule < FS_LEVEL_RULES && a->queue != NULL);
  FS_SCRATCH(scratch, ctx);
  uint32_t n_phases;
  FS_TRY(fs_block_count_steps(ctx, p, is_late(rule), a->phase, &n_phases));
  if (p->n > 0) {
    memcpy(a->queue, p->s->queue, p->n * sizeof *a->queue);
  }
  if (is_chosen(rule) && p->open && (uint64_t)n_phases * p->domain0[p->n_domains] <= CELLS) {
    level_filler f = {.ctx = ctx, .p = p, .a = a};
    FS_TRY(fill_phases(&f, &scratch, n_phases));
  }
  return fs_block_answer_fill(ctx, p, a);
}
