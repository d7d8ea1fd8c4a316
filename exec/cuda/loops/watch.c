/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of a module runs, in a loop, from when the event before it is over until the one behind
 * it is.  At most one runs on each queue.  On streams the events are those of records, and in a
 * graph each such instance has two of its own.
 *
 * The slot's thread notes it when it looks at the device; the watchdog's thread reads it.  What it
 * reads belongs together if `runs` is the same before and after: that is the number of an instance,
 * and no instance has the number of another one.  What a thread runs it has in hand
 * (cuda/threads.h). */
#include "exec/cuda/loops/watch.h"

#include <stdio.h>

#include "base/clock.h"

fs_status fs_cuda_loops_watch_make(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  assert(r->stream_of != NULL);
  FS_TRY(fs_new_zero(&x->arena, &r->behind, r->n_streams));
  FS_TRY(fs_new_zero(&x->arena, &r->at, r->n_streams));
  for (uint32_t i = 0; i < r->n_streams; i++) {
    r->at[i].first = r->at[i].last = FS_NONE;
  }
  return FSCHED_OK;
}

void fs_cuda_loops_watch_reset(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  r->over = 0;
  for (uint32_t i = 0; i < r->n_streams; i++) {
    r->at[i].now = r->at[i].first;
    atomic_store(&r->at[i].runs, 0);
  }
}

/* The command of a loop on one of its queues. */
static uint32_t command_on(const fs_stream *s, uint32_t command, uint32_t queue) {
  const fs_stream_queue *q = &s->queues[queue];
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    if (fs_command_has_op(&s->commands[c]) &&
        s->commands[c].target == s->commands[command].target) {
      return c;
    }
  }
  return command;
}

fs_running fs_cuda_loop_running(const fs_instance *x, const fs_loop_instance *at) {
  fs_running what = {.command = command_on(x->s, at->command, x->loops.queue_of[at->loop_command]),
                     .loop_op = at->op,
                     .queue = FS_NONE};
  for (; at != NULL; at = at->around) {
    assert(what.depth < FS_LOOP_NEST);
    what.iteration[what.depth++] = at->iteration;
  }
  return what;
}

/* `number`: from 1. */
static void note_running(fs_cuda_loop_position *p, uint64_t number, const fs_running *what) {
  atomic_store(&p->since_ns, fs_now_ns());
  atomic_store(&p->command, what->command);
  atomic_store(&p->loop_op, what->loop_op);
  atomic_store(&p->depth, what->depth);
  for (uint32_t i = 0; i < what->depth; i++) {
    atomic_store(&p->iteration[i], what->iteration[i]);
  }
  atomic_store(&p->runs, number);
}

static void note_over(fs_instance *x, fs_cuda_loop_position *p) {
  atomic_store(&p->runs, 0);
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
}

void fs_cuda_loops_over(fs_instance *x, const fs_cuda_record *record) {
  assert(!record->foreign || record->lane < x->loops.n_streams);
  if (record->foreign) {
    atomic_store(&x->loops.at[record->lane].runs, 0);
  }
}

/* Whether an event is over; a failure goes to *failed. */
static bool is_over(const fs_instance *x, fs_cu_event event, fs_cu_result *failed) {
  fs_cu_result result = x->machine->device.cuda.api.cuEventQuery(event);
  *failed = result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
  return result == FS_CU_SUCCESS;
}

/* The same of what is before a point. */
static bool is_behind(const fs_instance *x, const fs_cuda_point *point, fs_cu_result *failed) {
  fs_cu_result result = fs_cuda_point_query(x, point);
  *failed = result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
  return result == FS_CU_SUCCESS;
}

/* Looks at a record whose kernel is not known to be over.  Success, or the failure of a query. */
static fs_cu_result look_at_record(fs_instance *x, uint64_t number) {
  fs_cuda_loops *r = &x->loops;
  uint32_t index = (uint32_t)(number % r->n_records);
  fs_cuda_record *record = &r->record[index];
  fs_cuda_loop_position *p = &r->at[record->lane];
  fs_cu_result failed = FS_CU_SUCCESS;
  if (r->behind[record->lane]) {
    return FS_CU_SUCCESS;
  }
  if (is_behind(x, &record->point, &failed)) {
    record->foreign = false;
    note_over(x, p);
    return FS_CU_SUCCESS;
  }
  r->behind[record->lane] = 1;
  if (failed == FS_CU_SUCCESS && !record->host && atomic_load(&p->runs) != number + 1 &&
      is_over(x, r->begun[index], &failed)) {
    fs_running what = fs_cuda_loop_running(x, &record->at[0]);
    note_running(p, number + 1, &what);
  }
  return failed;
}

/* An event that has not been recorded, since the invocation has failed, is not looked at. */
static fs_cu_result look_at_records(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  fs_cu_result result = FS_CU_SUCCESS;
  uint64_t first = r->taken - fs_min(r->taken, r->n_records);
  memset(r->behind, 0, r->n_streams);
  r->over = fs_max(r->over, first);
  for (uint64_t i = r->over; i < r->taken && result == FS_CU_SUCCESS; i++) {
    const fs_cuda_record *record = &r->record[i % r->n_records];
    if (record->foreign && record->marked) {
      result = look_at_record(x, i);
    }
    r->over += i == r->over && !record->foreign;
  }
  return result;
}

/* Looks at the kernels of a queue in a graph that was launched. */
static fs_cu_result look_at_queue(fs_instance *x, fs_cuda_loop_position *p) {
  fs_cuda_loops *r = &x->loops;
  fs_cu_result failed = FS_CU_SUCCESS;
  while (p->now != FS_NONE && is_over(x, r->event[p->now], &failed)) {
    p->now = r->foreign[p->now].next;
    note_over(x, p);
  }
  if (p->now != FS_NONE && failed == FS_CU_SUCCESS && atomic_load(&p->runs) == 0 &&
      is_over(x, r->begun[p->now], &failed)) {
    note_running(p, (uint64_t)p->now + 1, &r->foreign[p->now].what);
  }
  return failed;
}

fs_cu_result fs_cuda_loops_look(fs_instance *x) {
  fs_cu_result result = FS_CU_SUCCESS;
  if (!x->graph) {
    return x->loops.n_streams == 0 ? FS_CU_SUCCESS : look_at_records(x);
  }
  for (uint32_t i = 0; i < x->loops.n_streams && x->n_issued > 0; i++) {
    result = result == FS_CU_SUCCESS ? look_at_queue(x, &x->loops.at[i]) : result;
  }
  return result;
}

bool fs_cuda_loops_hang(const fs_instance *x) {
  bool some = false;
  for (uint32_t i = 0; i < x->loops.n_streams && !some; i++) {
    some = atomic_load(&x->loops.at[i].runs) != 0;
  }
  return some;
}

bool fs_cuda_loops_running(const fs_instance *x, uint32_t i, fs_running *out, uint64_t *since_ns) {
  assert(i < x->loops.n_streams);
  const fs_cuda_loop_position *p = &x->loops.at[i];
  uint64_t runs = atomic_load(&p->runs);
  if (runs == 0) {
    return false;
  }
  *out = (fs_running){.command = atomic_load(&p->command),
                      .loop_op = atomic_load(&p->loop_op),
                      .queue = FS_NONE,
                      .depth = atomic_load(&p->depth)};
  *since_ns = atomic_load(&p->since_ns);
  for (uint32_t k = 0; k < out->depth; k++) {
    out->iteration[k] = atomic_load(&p->iteration[k]);
  }
  return atomic_load(&p->runs) == runs;
}

/* Waits that are never over */

/* The name of an instance beside `like`; what is longer is cut. */
static void name_instance(const fs_instance *x, const fs_loop_instance *like, uint32_t command,
                          uint64_t iteration, char text[200]) {
  fs_loop_instance at = *like;
  const fs_stream_loop_op *op = &x->s->loop_ops[x->s->loop_commands[command].op];
  at.iteration = iteration;
  fs_loop_name(x->loops.name, fs_stream_string(x->s, op->name), &at);
  (void)snprintf(text, 200, "%s", x->loops.name);
}

void fs_cuda_loop_stuck_text(const fs_instance *x, fs_loop_walk *walk, const fs_loop_instance *like,
                             char text[FS_CUDA_STUCK_TEXT]) {
  assert(walk->left > 0 && like->loop == walk->loop);
  const fs_stream *s = x->s;
  fs_loop_stuck stuck = fs_loop_walk_stuck(walk);
  char own[200], other[200] = "", mark[] = "'";
  name_instance(x, like, stuck.command, stuck.iteration, own);
  if (stuck.on != FS_NONE) {
    name_instance(x, like, stuck.on, stuck.on_iteration, other);
  }
  bool gang = stuck.on == FS_NONE;
  (void)snprintf(text, FS_CUDA_STUCK_TEXT,
                 "queue '%.100s' can never go on in op '%.100s': its '%s' waits for %s%s%s",
                 fs_stream_string(s, s->queues[x->loops.queue_of[stuck.command]].name),
                 fs_stream_string(s, s->ops[s->commands[like->command].target].name), own,
                 gang ? "" : mark, gang ? "that op's other queues" : other, gang ? "" : mark);
}
