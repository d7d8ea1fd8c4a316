/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of runs. */
#include "base/mem.h"
#include "draw/trace/tasks.h"
#include "exec/dynamic/calls/private.h"

static fs_status list_tasks(fsched_dynamic *d, fs_arena *arena, fs_trace_task_list *out) {
  const fs_task_times *spans = fs_workers_times(d->workers);
  fs_trace_task *task;
  const char **queue;
  uint32_t n = (uint32_t)fs_min(spans->begun.n, FS_NONE - 1);
  FS_TRY(fs_new(arena, &task, n));
  FS_TRY(fs_new(arena, &queue, d->n_queues));
  for (uint32_t q = 0; q < d->n_queues; q++) {
    queue[q] = fs_builder_names(fs_submit_target(d->s), FS_KIND_QUEUE)->text.at[q];
  }
  for (uint32_t i = 0; i < n; i++) {
    const fs_task_time *s = &spans->begun.at[i];
    task[i] =
        (fs_trace_task){spans->names.at + s->name, s->queue, s->member, s->group, s->begin, s->end};
  }
  *out = (fs_trace_task_list){fs_builder_name(fs_submit_target(d->s)), d->n_queues, n, queue, task};
  return FSCHED_OK;
}

fsched_status fsched_dynamic_trace(fsched_dynamic *d, char **json, size_t *length) {
  *json = NULL;
  *length = 0;
  FS_TRY(fs_call_check_run(d));
  if (!d->options.trace) {
    return fs_call_error(d, FSCHED_USAGE, CALL, "the options did not ask for traces");
  }
  switch (fs_workers_run_state(d->workers)) {
    case FS_RUN_OPEN:
    case FS_RUN_CLOSED:
    case FS_RUN_FAILING:
      return fs_call_error(d, FSCHED_USAGE, CALL, "the run of the trace is not over");
    case FS_RUN_DONE:
    case FS_RUN_FAILED:
      break;
  }
  fs_trace_task_list list;
  FS_SCRATCH(arena, d->ctx);
  FS_TRY(list_tasks(d, &arena, &list));
  return fs_trace_tasks(d->ctx, &list, json, length);
}
