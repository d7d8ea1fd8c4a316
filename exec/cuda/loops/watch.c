/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of a module runs, in a loop on streams, from when the event before it is over until the
 * one behind it is.  At most one runs on each stream.
 *
 * The slot's thread notes it when it looks at the device; the watchdog's thread reads it.  What it
 * reads belongs together if `runs` is the same before and after: that is the number of a record,
 * and no record has the number of another one. */
#include "exec/cuda/loops/watch.h"

#include <stdio.h>

#include "base/clock.h"

fs_status fs_cuda_loops_watch_make(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  assert(r->n_records > 0);
  FS_TRY(fs_new_zero(&x->arena, &r->behind, r->n_streams));
  return fs_new_zero(&x->arena, &r->at, r->n_streams);
}

void fs_cuda_loops_watch_reset(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  r->over = 0;
  for (uint32_t i = 0; i < r->n_streams; i++) {
    atomic_store(&r->at[i].runs, 0);
  }
}

static void note_running(fs_cuda_loop_position *p, const fs_cuda_record *record, uint64_t runs) {
  if (atomic_load(&p->runs) == runs) {
    return;
  }
  atomic_store(&p->since_ns, fs_now_ns());
  atomic_store(&p->command, record->at[0].command);
  atomic_store(&p->loop_command, record->at[0].loop_command);
  atomic_store(&p->depth, record->n_around);
  for (uint32_t i = 0; i < record->n_around; i++) {
    atomic_store(&p->iteration[i], record->at[i].iteration);
  }
  atomic_store(&p->runs, runs);
}

/* Looks at a record whose kernel is not known to be over.  Success, or the failure of a query. */
static fs_cu_result look_at_record(fs_instance *x, uint64_t number) {
  const fs_cuda_api *api = &x->machine->device.cuda.api;
  fs_cuda_loops *r = &x->loops;
  uint32_t index = (uint32_t)(number % r->n_records);
  fs_cuda_record *record = &r->record[index];
  fs_cuda_loop_position *p = &r->at[record->lane];
  if (r->behind[record->lane]) {
    return FS_CU_SUCCESS;
  }
  fs_cu_result result = api->cuEventQuery(r->event[index]);
  if (result == FS_CU_SUCCESS) {
    record->foreign = false;
    atomic_store(&p->runs, 0);
    atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
    return FS_CU_SUCCESS;
  }
  r->behind[record->lane] = 1;
  result = result == FS_CU_NOT_READY ? api->cuEventQuery(r->begun[index]) : result;
  if (result == FS_CU_SUCCESS) {
    note_running(p, record, number + 1);
  }
  return result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
}

/* A record is in `event` only once that has been recorded, which a look cannot come before, unless
 * the invocation has failed. */
fs_cu_result fs_cuda_loops_look(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  fs_cu_result result = FS_CU_SUCCESS;
  uint64_t first = r->taken - fs_min(r->taken, r->n_records);
  memset(r->behind, 0, r->n_streams);
  r->over = fs_max(r->over, first);
  for (uint64_t i = r->over; i < r->taken && result == FS_CU_SUCCESS; i++) {
    const fs_cuda_record *record = &r->record[i % r->n_records];
    if (record->foreign && record->stream != NULL) {
      result = look_at_record(x, i);
    }
    r->over += i == r->over && !record->foreign;
  }
  return result;
}

void fs_cuda_loops_over(fs_instance *x, const fs_cuda_record *record) {
  if (record->foreign) {
    atomic_store(&x->loops.at[record->lane].runs, 0);
  }
}

bool fs_cuda_loops_hang(const fs_instance *x) {
  bool some = false;
  for (uint32_t i = 0; i < x->loops.n_streams && !some; i++) {
    some = atomic_load(&x->loops.at[i].runs) != 0;
  }
  return some;
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

bool fs_cuda_loops_running(const fs_instance *x, uint32_t i, fs_running *out, uint64_t *since_ns) {
  assert(i < x->loops.n_streams);
  const fs_cuda_loop_position *p = &x->loops.at[i];
  uint64_t runs = atomic_load(&p->runs);
  if (runs == 0) {
    return false;
  }
  uint32_t loop_command = atomic_load(&p->loop_command);
  *out = (fs_running){
      .command = command_on(x->s, atomic_load(&p->command), x->loops.queue_of[loop_command]),
      .loop_op = x->s->loop_commands[loop_command].op,
      .depth = atomic_load(&p->depth)};
  *since_ns = atomic_load(&p->since_ns);
  for (uint32_t k = 0; k < out->depth; k++) {
    out->iteration[k] = atomic_load(&p->iteration[k]);
  }
  return atomic_load(&p->runs) == runs;
}

/* Waits that are never over */

typedef struct cuda_stuck_name {
  char text[200]; /* what is longer is cut */
} cuda_stuck_name;

/* The name of an instance beside `like`. */
static cuda_stuck_name name_of(fs_instance *x, const fs_loop_instance *like, uint32_t command,
                               uint64_t iteration) {
  cuda_stuck_name name;
  fs_loop_instance at = *like;
  at.iteration = iteration;
  fs_loop_name(x->loops.name,
               fs_stream_string(x->s, x->s->loop_ops[x->s->loop_commands[command].op].name), &at);
  (void)snprintf(name.text, sizeof name.text, "%s", x->loops.name);
  return name;
}

bool fs_cuda_loop_stuck(fs_instance *x, fs_loop_walk *walk, const fs_loop_instance *like) {
  assert(walk->left > 0 && like->loop == walk->loop);
  const fs_stream *s = x->s;
  fs_loop_stuck stuck = fs_loop_walk_stuck(walk);
  char text[800], on[260] = "that op's other queues";
  const char *queue = fs_stream_string(s, s->queues[x->loops.queue_of[stuck.command]].name);
  if (stuck.on != FS_NONE) {
    cuda_stuck_name name = name_of(x, like, stuck.on, stuck.on_iteration);
    (void)snprintf(on, sizeof on, "'%s'", name.text);
  }
  (void)snprintf(text, sizeof text,
                 "queue '%.100s' can never go on in op '%.100s': its '%s' waits for %s", queue,
                 fs_stream_string(s, s->ops[s->commands[like->command].target].name),
                 name_of(x, like, stuck.command, stuck.iteration).text, on);
  if (!fs_cuda_poisoned(x) && x->work->failed != NULL) {
    x->work->failed(x->work->user, FSCHED_CAUSE_WRONG, text);
  }
  fs_cuda_poison(x, FSCHED_CAUSE_WRONG);
  return false;
}
