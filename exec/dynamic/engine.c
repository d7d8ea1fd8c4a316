/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: their beginning and end, scopes, causes, and what the engine tells of its state. */
#include "exec/dynamic/engine.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/context.h"
#include "exec/dynamic/private.h"

/* Whether the tags are all, or program order holds. */
static bool tracks_reads(fsched_hazards hazards) {
  switch (hazards) {
    case FSCHED_HAZARDS_SEQUENTIAL:
      return true;
    case FSCHED_HAZARDS_RAW:
      break;
  }
  return false;
}

static fs_status make_queues(fs_dynamic *e) {
  uint32_t n = e->options.n_queues, n_words = (n + 63) / 64;
  e->queue = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->queue);
  if (e->queue != NULL) {
    memset(e->queue, 0, n * sizeof *e->queue);
  }
  e->class_size = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->class_size);
  e->started = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->started);
  e->idle = fs_realloc(e->ctx, NULL, 0, n_words * sizeof *e->idle);
  e->kept = fs_realloc(e->ctx, NULL, 0, n_words * sizeof *e->kept);
  e->list = fs_realloc(e->ctx, NULL, 0, (2 * (size_t)n + 1) * sizeof *e->list);
  e->n_queues = n;
  e->n_words = n_words;
  if (e->queue == NULL || e->class_size == NULL || e->started == NULL || e->idle == NULL ||
      e->kept == NULL || e->list == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(e->idle, 0, n_words * sizeof *e->idle);
  memset(e->kept, 0, n_words * sizeof *e->kept);
  memset(e->class_size, 0, n * sizeof *e->class_size);
  memset(e->list, 0xff, (2 * (size_t)n + 1) * sizeof *e->list);
  for (uint32_t q = 0; q < n; q++) {
    uint32_t class_ = e->options.class_of == NULL ? 0 : e->options.class_of[q];
    e->queue[q] = (fs_dynamic_queue){class_, FS_NONE, 0, FS_NONE, false, NULL};
    e->class_size[class_]++;
    e->idle[q / 64] |= (uint64_t)1 << q % 64;
  }
  e->options.class_of = NULL;
  return FSCHED_OK;
}

static fs_status make_resources(fs_dynamic *e) {
  uint32_t n = e->options.n_resources;
  if (n == 0) {
    return FSCHED_OK;
  }
  e->n_resources = n;
  e->capacity = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->capacity);
  e->free_amount = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->free_amount);
  e->kept_amount = fs_realloc(e->ctx, NULL, 0, n * sizeof *e->kept_amount);
  if (e->capacity == NULL || e->free_amount == NULL || e->kept_amount == NULL) {
    return FSCHED_SYSTEM;
  }
  memcpy(e->capacity, e->options.capacity, n * sizeof *e->capacity);
  memcpy(e->free_amount, e->options.capacity, n * sizeof *e->free_amount);
  e->options.capacity = NULL;
  return FSCHED_OK;
}

static fs_status init_heaps(fs_dynamic *e) {
  fs_heap_room same[FS_HEAP_RINGS];
  const fs_heap_room *room = e->options.heap == NULL ? same : e->options.heap;
  uint32_t n =
      e->options.heap == NULL || e->options.n_heaps == 0 ? FS_HEAP_RINGS : e->options.n_heaps;
  for (uint32_t i = 0; i < FS_HEAP_RINGS; i++) {
    same[i] = (fs_heap_room){e->options.heap_size, FS_HEAP_ALIGN, NULL};
  }
  e->options.heap = NULL;
  return fs_heap_rings_init(&e->heaps, e->ctx, n, room);
}

static fs_status check_create(fsched_context *ctx, const fs_dynamic_options *o) {
  bool right = o->n_queues > 0 && o->n_queues <= INT32_MAX / 2;
  for (uint32_t q = 0; right && o->class_of != NULL && q < o->n_queues; q++) {
    right = o->class_of[q] < o->n_queues;
  }
  return right ? FSCHED_OK
               : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_DYNAMIC_CALL, FS_NOWHERE, NULL,
                         "a dynamic run needs queues, and a class below their number for each");
}

fs_status fs_dynamic_create(fsched_context *ctx, const fs_dynamic_options *options,
                            fs_dynamic **out) {
  *out = NULL;
  FS_TRY(check_create(ctx, options));
  fs_dynamic *e = fs_realloc(ctx, NULL, 0, sizeof *e);
  if (e == NULL) {
    return FSCHED_SYSTEM;
  }
  *e = (fs_dynamic){.ctx = ctx,
                    .options = *options,
                    .tracks_reads = tracks_reads(options->hazards),
                    .unused_slot = FS_NONE,
                    .unused_edge = FS_NONE,
                    .unused_written = FS_NONE,
                    .unused_record = {FS_NONE, FS_NONE},
                    .imported = {FS_NONE, FS_NONE},
                    .work_first = FS_NONE,
                    .open = true};
  if (e->options.timeout == 0) {
    e->options.timeout = (uint64_t)10 * FS_NS_PER_S;
  }
  fs_accesses_init(&e->accesses, ctx);
  fs_ranges_init(&e->spans, ctx);
  fs_status status = init_heaps(e);
  status = status == FSCHED_OK ? make_queues(e) : status;
  status = status == FSCHED_OK ? make_resources(e) : status;
  if (status != FSCHED_OK) {
    fs_dynamic_destroy(e);
    return status;
  }
  *out = e;
  return FSCHED_OK;
}

void fs_dynamic_destroy(fs_dynamic *e) {
  if (e == NULL) {
    return;
  }
  for (size_t i = 0; i < e->slot.n; i++) {
    fs_dynamic_slot *s = &e->slot.at[i];
    (void)fs_realloc(e->ctx, s->queues, s->n_members * sizeof *s->queues, 0);
    (void)fs_realloc(e->ctx, s->amounts, s->n_amounts * sizeof *s->amounts, 0);
  }
  fs_heap_rings_release(&e->heaps);
  fs_accesses_release(&e->accesses);
  fs_vec_free(e->ctx, &e->slot);
  fs_vec_free(e->ctx, &e->edge);
  fs_vec_free(e->ctx, &e->record);
  fs_vec_free(e->ctx, &e->written);
  fs_vec_free(e->ctx, &e->near);
  fs_ranges_release(&e->spans);
  fs_vec_free(e->ctx, &e->use);
  fs_vec_free(e->ctx, &e->found);
  (void)fs_realloc(e->ctx, e->capacity, e->n_resources * sizeof *e->capacity, 0);
  (void)fs_realloc(e->ctx, e->free_amount, e->n_resources * sizeof *e->free_amount, 0);
  (void)fs_realloc(e->ctx, e->kept_amount, e->n_resources * sizeof *e->kept_amount, 0);
  for (uint32_t q = 0; q < e->n_queues && e->queue != NULL; q++) {
    (void)fs_realloc(e->ctx, e->queue[q].why, FS_DYNAMIC_CAUSE_BYTES, 0);
  }
  (void)fs_realloc(e->ctx, e->queue, e->n_queues * sizeof *e->queue, 0);
  (void)fs_realloc(e->ctx, e->class_size, e->n_queues * sizeof *e->class_size, 0);
  (void)fs_realloc(e->ctx, e->started, e->n_queues * sizeof *e->started, 0);
  (void)fs_realloc(e->ctx, e->idle, e->n_words * sizeof *e->idle, 0);
  (void)fs_realloc(e->ctx, e->kept, e->n_words * sizeof *e->kept, 0);
  (void)fs_realloc(e->ctx, e->list, (2 * (size_t)e->n_queues + 1) * sizeof *e->list, 0);
  (void)fs_realloc(e->ctx, e, sizeof *e, 0);
}

fs_status fs_run_unfailed(fs_dynamic *e) {
  return e->n_causes == 0 ? FSCHED_OK : fs_dynamic_error(e, FSCHED_REPLAY, RUN, "%s", e->cause[0]);
}

fs_status fs_run_refuses(fs_dynamic *e) {
  FS_TRY(fs_run_unfailed(e));
  if (!e->open) {
    return fs_dynamic_error(e, FSCHED_USAGE, CALL, "no run is open for tasks");
  }
  return FSCHED_OK;
}

fs_queue_text fs_queue_shown(const fs_dynamic *e, uint32_t queue) {
  fs_queue_text t;
  const char *const *name = e->options.queue_name;
  if (name != NULL) {
    (void)snprintf(t.text, sizeof t.text, "'%.64s'", name[queue]);
  } else {
    (void)snprintf(t.text, sizeof t.text, "%" PRIu32, queue);
  }
  return t;
}

uint32_t fs_run_note(fs_dynamic *e, const char *text) {
  if (e->n_causes == FS_DYNAMIC_CAUSES) {
    return 0;
  }
  (void)snprintf(e->cause[e->n_causes], FS_DYNAMIC_CAUSE_BYTES, "%s", text);
  return e->n_causes++;
}

void fs_run_settle(fs_dynamic *e) {
  if (e->open || e->over || e->n_unfinished > 0) {
    return;
  }
  e->over = true;
  /* What is left is memory that nobody has read. */
  for (uint32_t i = 0; i < e->slot.n && e->n_live > 0; i++) {
    if (fs_slot_ended(&e->slot.at[i])) {
      fs_slot_consume(e, i);
    }
  }
  assert(e->n_live == 0 && e->n_edges == 0 && e->accesses.n == 0);
  fs_status status = fs_heap_reset(&e->heaps);
  assert(status == FSCHED_OK);
  (void)status;
}

fs_status fs_dynamic_open(fs_dynamic *e) {
  if (!e->over) {
    return fs_dynamic_error(e, FSCHED_USAGE, CALL, "the last run is not over");
  }
  e->open = true;
  e->over = false;
  e->n_causes = 0;
  return FSCHED_OK;
}

/* The innermost scope lets its tasks go. */
static void end_scope(fs_dynamic *e) {
  uint32_t slot = e->scope[--e->n_scopes];
  while (slot != FS_NONE) {
    uint32_t next = e->slot.at[slot].next;
    e->slot.at[slot].in_scope = false;
    fs_slot_release(e, slot);
    slot = next;
  }
}

static void give_up_holds(fs_dynamic *e) {
  for (uint32_t i = 0; i < e->slot.n && e->n_holds > 0; i++) {
    for (; e->slot.at[i].holds > 0; e->slot.at[i].holds--) {
      e->n_holds--;
      fs_slot_release(e, i);
    }
  }
}

static void end_submission(fs_dynamic *e) {
  e->open = false;
  while (e->n_scopes > 0) {
    end_scope(e);
  }
  give_up_holds(e);
  fs_run_settle(e);
}

fs_status fs_dynamic_close(fs_dynamic *e) {
  if (!e->open) {
    return fs_dynamic_error(e, FSCHED_USAGE, CALL, "no run is open");
  }
  end_submission(e);
  return FSCHED_OK;
}

void fs_dynamic_cancel(fs_dynamic *e, const char *cause) {
  if (e->over) {
    return;
  }
  uint32_t id = fs_run_note(e, cause);
  for (uint32_t i = 0; i < e->slot.n; i++) {
    fs_dynamic_slot *s = &e->slot.at[i];
    switch (s->state) {
      case FS_TASK_READY:
        fs_ready_remove(e, i);
        /* fallthrough */
      case FS_TASK_PENDING:
        s->failing = true;
        s->cause = id;
        fs_slot_end(e, i);
        break;
      case FS_TASK_FREE:
      case FS_TASK_BUILDING:
      case FS_TASK_RUNNING:
      case FS_TASK_COMPLETED:
      case FS_TASK_FAILED:
      case FS_TASK_CONSUMED:
        break;
    }
  }
  end_submission(e);
}

fs_status fs_dynamic_accept(fs_dynamic *e) { return fs_run_accepts(e); }

bool fs_dynamic_is_open(const fs_dynamic *e) { return e->open; }

fs_dynamic_run fs_dynamic_run_state(const fs_dynamic *e) {
  if (e->n_causes > 0) {
    return e->over ? FS_RUN_FAILED : FS_RUN_FAILING;
  }
  return e->over ? FS_RUN_DONE : e->open ? FS_RUN_OPEN : FS_RUN_CLOSED;
}

const char *fs_dynamic_run_cause(const fs_dynamic *e) {
  return e->n_causes > 0 ? e->cause[0] : NULL;
}

fs_status fs_dynamic_scope_begin(fs_dynamic *e) {
  FS_TRY(fs_run_accepts(e));
  if (e->n_scopes == FS_DYNAMIC_SCOPES) {
    return fs_dynamic_error(e, FSCHED_INFEASIBLE, HEAP, "at most %d scopes may be open at once",
                            (int)FS_DYNAMIC_SCOPES);
  }
  e->scope[e->n_scopes++] = FS_NONE;
  return FSCHED_OK;
}

fs_status fs_dynamic_scope_end(fs_dynamic *e) {
  if (e->n_scopes == 0) {
    FS_TRY(fs_run_unfailed(e)); /* else whoever has cancelled it has ended the scopes */
    return fs_dynamic_error(e, FSCHED_USAGE, CALL, "no scope is open");
  }
  end_scope(e);
  return FSCHED_OK;
}

fs_dynamic_task_info fs_dynamic_task_get(const fs_dynamic *e, fs_dynamic_task task) {
  assert(fs_slot_was(e, task));
  uint32_t slot = fs_slot_of(e, task);
  if (slot == FS_NONE) {
    return (fs_dynamic_task_info){.state = FS_TASK_CONSUMED, .heap = FS_NONE};
  }
  const fs_dynamic_slot *s = &e->slot.at[slot];
  return (fs_dynamic_task_info){
      .state = s->state,
      .references = s->references,
      .releases = s->releases,
      .n_waits = s->n_waits,
      .heap = s->state == FS_TASK_CONSUMED ? FS_NONE : e->heaps.piece.at[s->piece].ring,
      .cause = s->cause == FS_NONE ? NULL : e->cause[s->cause]};
}

uint32_t fs_dynamic_predecessors(const fs_dynamic *e, fs_dynamic_task task, fs_dynamic_task *out,
                                 uint32_t room) {
  assert(fs_slot_was(e, task));
  uint32_t slot = fs_slot_of(e, task), n = 0;
  if (slot == FS_NONE) {
    return 0;
  }
  for (uint32_t i = e->slot.at[slot].in_first; i != FS_NONE; i = e->edge.at[i].next, n++) {
    if (n < room) {
      out[n] = e->edge.at[i].producer;
    }
  }
  return n;
}

uint32_t fs_dynamic_accesses(const fs_dynamic *e) { return e->accesses.n; }
uint64_t fs_dynamic_active(const fs_dynamic *e) { return e->heaps.n_active; }
