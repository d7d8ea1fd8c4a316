/* SPDX-License-Identifier: Apache-2.0 */
/* What is refuted without a decision. */
#include <stdlib.h>

#include "base/saturate.h"
#include "search/learning/log.h"

/* At tables of a few thousand items or less all is looked at. */
enum { LOOKS = 1 << 26, ROOT_WORK = 1 << 24 };

typedef struct root_task {
  fs_side_value begin, end, energy;
} root_task;

static int by_end(const void *a, const void *b) {
  const root_task *x = a, *y = b;
  return (x->end > y->end) - (x->end < y->end);
}

/* Saturates: the products may be long. */
static fs_side_value area(fs_side_value a, fs_side_value b) {
  return (fs_side_value)fs_min(fs_multiply_most((uint64_t)a, (uint64_t)b), INT64_MAX);
}

/* Lists the tasks of the table, by the latest end; returns their number. */
static uint32_t list_tasks(const fs_learner *s, const fs_learner_table *table, root_task *task) {
  uint32_t n = 0;
  for (uint32_t k = table->task0; k < table->task1; k++) {
    const fs_learner_task *a = &s->task[k];
    fs_side_value takes = fs_learner_takes(s, table, a->item);
    task[n++] =
        (root_task){fs_earliest(s, a->item), fs_latest(s, a->item) + takes, area(a->amount, takes)};
  }
  qsort(task, n, sizeof *task, by_end);
  return n;
}

/* Is there too much between `begin` and the end of some task? */
static bool is_overfull(fs_learner *s, const fs_learner_table *table, const root_task *task,
                        uint32_t n, fs_side_value begin) {
  fs_side_value sum = 0;
  for (uint32_t k = 0; k < n; k++) {
    if (task[k].begin >= begin) {
      sum = (fs_side_value)fs_min(fs_add_most((uint64_t)sum, (uint64_t)task[k].energy), INT64_MAX);
      if (sum > area(table->capacity, task[k].end - begin)) {
        fs_log_energy(s, table, begin, task[k].end);
        return true;
      }
    }
  }
  return false;
}

/* Looks at as many begins of a table as LOOKS allow. */
static bool any_overfull(fs_learner *s, root_task *task) {
  for (uint32_t t = 0; t < s->n_tables && s->status == FSCHED_OK; t++) {
    uint32_t n = list_tasks(s, &s->table[t], task);
    uint32_t step = 1 + (uint32_t)((uint64_t)n * n / LOOKS);
    for (uint32_t k = 0; k < n; k += step) {
      if (is_overfull(s, &s->table[t], task, n, task[k].begin)) {
        return true;
      }
    }
  }
  return false;
}

/* Energy is looked at twice, as it often needs no more than edges; then the proof is short. */
bool fs_learner_refutes(fs_learner *s, fs_tick makespan) {
  FS_SCRATCH(arena, s->ctx);
  root_task *task;
  s->edges_first = true;
  s->most_work = s->work + ROOT_WORK;
  bool refuted = !fs_learner_limit(s, makespan);
  fs_learner_note(s, fs_new(&arena, &task, s->n_tasks));
  refuted = refuted || any_overfull(s, task);
  s->edges_first = false;
  if (!refuted && (s->waiting.n > 0 || s->n_moved > 0)) {
    refuted = !fs_learner_limit(s, makespan) || any_overfull(s, task);
  }
  s->most_work = 0;
  return refuted;
}
