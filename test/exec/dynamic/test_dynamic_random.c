/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of tasks, views, groups, amounts, scratch, scopes and holds, in a random order of
 * completion, against the model: predecessors, states, who may run, and the bytes that each task
 * finds, which have to be those of the tasks one after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "exec/dynamic/model.h"
#include "kit/context.h"
#include "kit/gen.h"
#include "kit/turn.h"

enum { SMALL_HEAP = 5 << 10, LARGE_HEAP = 1 << 20, STEPS = 160, PROGRAMS = 25, SEEDS = 8 };

typedef struct program_counts {
  uint32_t submits, groups, refused, full, edges, starts, reads_checked, failed_runs, waits, runs,
      scratch, amounts;
} program_counts;

typedef struct program {
  fs_rng rng;
  fsched_context *ctx;
  fs_dynamic *e;
  model m;
  uint64_t heap_size, now;
  uint8_t *heap;                                            /* of all rings */
  uint8_t memory[MODEL_BUFFERS][MODEL_QUEUES][MODEL_BYTES]; /* of imported buffers */
  uint32_t busy[MODEL_QUEUES];                              /* task that runs, or FS_NONE */
  uint64_t concurrency;
  uint32_t rare_failures; /* one in so many returns fails; 0: none does */
  program_counts n;
} program;

static const uint32_t class_of[MODEL_QUEUES] = {0, 0, 0, 1, 1};
static const uint64_t capacity[MODEL_RESOURCES] = {3, 5};

static uint32_t below(program *p, uint32_t n) { return fs_rng_below(&p->rng, n); }
static bool one_in(program *p, uint32_t n) { return fs_rng_one_in(&p->rng, n); }

static uint8_t *memory_of(program *p, const run_model_task *t, const run_arg *a) {
  const run_buffer *b = &p->m.buffer[a->buffer];
  const run_version *v = &p->m.version[a->version];
  return b->owned ? p->heap + v->where.heap * p->heap_size + v->where.offset
                  : p->memory[a->buffer][b->device ? t->queue[a->member] : 0];
}

/* Execution */

static void check_reads(program *p, const run_model_task *t, uint32_t member) {
  for (uint32_t i = 0; i < t->n_args && p->m.sequential && !p->m.failed; i++) {
    const run_arg *a = &t->arg[i];
    const uint8_t *at = memory_of(p, t, a);
    for (uint32_t k = 0; a->member == member && k < MODEL_BYTES; k++) {
      if ((a->content >> k & 1) != 0) {
        if (at[k] != a->finds[k]) {
          ck_abort_msg("byte %u of arg %u of task %u", k, i, (uint32_t)(t - p->m.task));
        }
        p->n.reads_checked++;
      }
    }
  }
}

static void write_args(program *p, const run_model_task *t, uint32_t member) {
  for (uint32_t i = 0; i < t->n_args; i++) {
    const run_arg *a = &t->arg[i];
    for (uint32_t k = 0; a->member == member && a->writes && k < MODEL_BYTES; k++) {
      if ((a->bytes >> k & 1) != 0) {
        memory_of(p, t, a)[k] = a->leaves[k];
      }
    }
  }
}

/* Scratch is spoiled while its task runs, so that whatever shares its bytes shows. */
static void spoil_scratch(program *p, const run_model_task *t) {
  for (uint32_t i = 0; i < t->n_scratch; i++) {
    memset(p->heap + t->scratch_at[i].heap * p->heap_size + t->scratch_at[i].offset,
           (int)below(p, 256), t->scratch[i]);
    p->n.scratch++;
  }
}

/* Whether a task, or nothing (NULL), may run beside those that do. */
static bool has_room(const program *p, const run_model_task *more) {
  uint64_t n = more != NULL, sum[MODEL_RESOURCES] = {0};
  for (uint32_t r = 0; r < MODEL_RESOURCES && more != NULL; r++) {
    sum[r] = more->uses[r];
  }
  bool room = true;
  for (uint32_t i = 0; i < p->m.n_tasks; i++) {
    const run_model_task *t = &p->m.task[i];
    bool runs = model_state(&p->m, t) == FS_TASK_RUNNING;
    n += runs;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
      sum[r] += runs ? t->uses[r] : 0;
      room = room && sum[r] <= capacity[r];
    }
  }
  return room && (p->concurrency == 0 || n <= p->concurrency);
}

static bool can_use(const run_model_task *t, uint32_t member, uint32_t queue) {
  return t->n_queues > 0 ? t->queue[member] == queue : class_of[queue] == t->class_;
}

/* Starts the next task, if the engine has one. */
static bool start_next(program *p) {
  fs_dynamic_start s;
  if (!fs_dynamic_next(p->e, &s)) {
    return false;
  }
  run_model_task *t = &p->m.task[s.user];
  ck_assert_uint_eq(s.task, t->handle);
  ck_assert_uint_eq(s.n_members, t->n_members);
  ck_assert_int_eq(model_state(&p->m, t), FS_TASK_READY);
  for (uint32_t i = 0; i < s.n_members; i++) {
    uint32_t q = s.queue[i];
    ck_assert_uint_lt(q, MODEL_QUEUES);
    ck_assert_uint_eq(p->busy[q], FS_NONE);
    ck_assert(can_use(t, i, q));
    p->busy[q] = (uint32_t)s.user;
    t->runs_on[i] = q;
  }
  t->started = true;
  p->n.starts++;
  ck_assert(has_room(p, NULL));
  for (uint32_t i = 0; i < t->n_members; i++) {
    check_reads(p, t, i);
  }
  spoil_scratch(p, t);
  return true;
}

static uint32_t count_idle(const program *p, const run_model_task *t) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < MODEL_QUEUES; q++) {
    bool wanted = t->n_queues == 0 && class_of[q] == t->class_;
    for (uint32_t i = 0; i < t->n_queues; i++) {
      wanted = wanted || t->queue[i] == q;
    }
    n += wanted && p->busy[q] == FS_NONE;
  }
  return n;
}

static bool needs_more(const run_model_task *t) {
  return t->n_members > 1 || t->uses[0] > 0 || t->uses[1] > 0;
}

/* Once nothing more starts, what is ready lacks workers or amounts: all, or those that a task which
 * needs more keeps. */
static void check_nothing_more(const program *p) {
  bool group = false;
  for (uint32_t i = 0; i < p->m.n_tasks; i++) {
    group =
        group || (model_state(&p->m, &p->m.task[i]) == FS_TASK_READY && needs_more(&p->m.task[i]));
  }
  bool free_queue = true;
  for (uint32_t q = 0; q < MODEL_QUEUES; q++) {
    free_queue = free_queue && p->busy[q] == FS_NONE;
  }
  for (uint32_t i = 0; i < p->m.n_tasks; i++) {
    const run_model_task *t = &p->m.task[i];
    if (model_state(&p->m, t) == FS_TASK_READY) {
      if (free_queue || !(group || count_idle(p, t) < t->n_members || !has_room(p, t))) {
        ck_abort_msg("task %u could run%s", i, free_queue ? ", as all queues are idle" : "");
      }
    }
  }
}

static void check_tasks(program *p) {
  model_settle(&p->m);
  for (uint32_t i = 0; i < p->m.n_tasks; i++) {
    const run_model_task *t = &p->m.task[i];
    fs_dynamic_state is = fs_dynamic_task_get(p->e, t->handle).state,
                     wanted = model_state(&p->m, t);
    if (is != wanted) {
      ck_abort_msg("task %u: %d, not %d", i, (int)is, (int)wanted);
    }
  }
  ck_assert_uint_eq(fs_dynamic_accesses(p->e), model_accesses(&p->m));
}

/* Lets a member that runs return; false: none runs. */
static bool return_one(program *p) {
  uint32_t q = below(p, MODEL_QUEUES), n = 0;
  while (n < MODEL_QUEUES && p->busy[q] == FS_NONE) {
    q = (q + 1) % MODEL_QUEUES;
    n++;
  }
  if (n == MODEL_QUEUES) {
    return false;
  }
  run_model_task *t = &p->m.task[p->busy[q]];
  uint32_t member = 0;
  while (t->runs_on[member] != q) {
    member++;
  }
  check_reads(p, t, member);
  spoil_scratch(p, t);
  write_args(p, t, member);
  p->busy[q] = FS_NONE;
  t->runs_on[member] = FS_NONE;
  t->returned |= (uint32_t)1 << member;
  if (p->rare_failures > 0 && one_in(p, p->rare_failures)) {
    p->m.failed = t->fails = true;
    fs_dynamic_fail(p->e, t->handle, member, "broken");
  } else {
    fs_dynamic_complete(p->e, t->handle, member);
  }
  model_settle(&p->m);
  if (one_in(p, 8)) { /* the second time it is ignored */
    fs_dynamic_fail(p->e, t->handle, member, "again");
  }
  return true;
}

static uint64_t read_time(void *user) { return ((program *)user)->now; }

static bool wait_for_end(void *user, uint64_t until) {
  program *p = user;
  p->n.waits++;
  while (start_next(p)) {
  }
  if (!return_one(p)) {
    p->now = until;
  }
  return true;
}

/* Programs */

static fs_view draw_view(program *p, uint32_t size) {
  for (;;) {
    fs_view v = {.offset = below(p, size), .element = 1 + below(p, 4), .n_dims = below(p, 4)};
    for (uint32_t d = 0; d < v.n_dims; d++) {
      v.shape[d] = one_in(p, 20) ? 0 : 1 + below(p, 4);
      v.stride[d] = one_in(p, 12) ? 0 : v.element * (1 + below(p, 8));
    }
    if (fs_view_end(&v) <= size) {
      return v;
    }
  }
}

static void add_buffer(program *p) {
  if (p->m.n_buffers == MODEL_BUFFERS - 4) {
    return;
  }
  uint32_t id = p->m.n_buffers++;
  run_buffer *b = &p->m.buffer[id];
  *b = (run_buffer){.known = true, .size = 1 + below(p, MODEL_BYTES), .owned = one_in(p, 2)};
  memset(b->version, 0xff, sizeof b->version);
  if (b->owned) {
    ck_fs(p->ctx, fs_dynamic_declare(p->e, b->size, &b->handle));
    return;
  }
  b->device = one_in(p, 3);
  b->readable = !one_in(p, 12);
  b->writable = !one_in(p, 12);
  fs_dynamic_import d = {b->size, (uint64_t)id * MODEL_BYTES, b->readable, b->writable, b->device};
  ck_fs(p->ctx, fs_dynamic_import_buffer(p->e, &d, &b->handle));
  for (uint32_t q = 0; q < (b->device ? MODEL_QUEUES : 1); q++) {
    run_version *v = &p->m.version[p->m.n_versions];
    b->version[q] = p->m.n_versions++;
    *v = (run_version){.owner = FS_NONE, .written = UINT64_MAX};
    for (uint32_t k = 0; k < MODEL_BYTES; k++) {
      v->value[k] = p->memory[id][q][k] = (uint8_t)below(p, 256);
    }
  }
}

/* A buffer, most often one of the last. */
static uint32_t draw_buffer(program *p) {
  uint32_t n = p->m.n_buffers, near = n < 6 ? n : 6;
  return one_in(p, 6) ? below(p, n) : n - 1 - below(p, near);
}

static void draw_target(program *p, run_model_task *t) {
  t->n_members = one_in(p, 4) ? 2 + below(p, 2) : 1;
  t->class_ = t->n_members == 3 ? 0 : below(p, MODEL_CLASSES);
  if (one_in(p, 2)) {
    uint32_t first = below(p, MODEL_QUEUES);
    t->n_queues = t->n_members;
    for (uint32_t i = 0; i < t->n_members; i++) {
      t->queue[i] = (first + i * 2) % MODEL_QUEUES;
    }
  }
}

static void draw_needs(program *p, run_model_task *t) {
  for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
    t->uses[r] = one_in(p, 4) ? below(p, (uint32_t)capacity[r] + (one_in(p, 20) ? 3 : 1)) : 0;
  }
  t->n_scratch = one_in(p, 4) ? 1 + below(p, MODEL_SCRATCH) : 0;
  for (uint32_t i = 0; i < t->n_scratch; i++) {
    t->scratch[i] = below(p, 1500);
  }
}

static void draw_args(program *p, run_model_task *t) {
  static const fsched_tag tags[] = {FSCHED_IN,    FSCHED_IN,  FSCHED_OUT,          FSCHED_OUT,
                                    FSCHED_INOUT, FSCHED_OUT, FSCHED_OUT_EXISTING, FSCHED_NO_DEP};
  for (uint32_t i = 0; i < t->n_members; i++) {
    for (uint32_t k = below(p, t->n_members == 1 ? 4 : 3); k > 0 && p->m.n_buffers > 0; k--) {
      run_arg *a = &t->arg[t->n_args++];
      *a = (run_arg){.buffer = draw_buffer(p), .member = i, .tag = tags[below(p, 8)]};
      uint32_t size = p->m.buffer[a->buffer].size;
      a->has_view = one_in(p, 2);
      a->view = a->has_view ? draw_view(p, size)
                            : (fs_view){.element = 1, .n_dims = 1, .shape = {size}, .stride = {1}};
      a->bytes = model_bytes(&a->view);
    }
  }
}

static uint32_t draw_preds(program *p, fs_dynamic_predecessor *out) {
  uint32_t n = p->m.n_tasks > 0 && one_in(p, 3) ? 1 + below(p, 2) : 0;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = (fs_dynamic_predecessor){p->m.task[below(p, p->m.n_tasks)].handle, one_in(p, 2),
                                      one_in(p, 2)};
  }
  return n;
}

/* Submits what the model has as its next task. */
static fs_status submit_drawn(program *p, run_model_task *t, uint32_t n_preds,
                              const fs_dynamic_predecessor *preds, fs_dynamic_where *where) {
  fs_dynamic_arg arg[MODEL_ARGS];
  fs_dynamic_member member[MODEL_QUEUES];
  fs_dynamic_amount use[MODEL_RESOURCES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->n_members; i++) {
    member[i] = (fs_dynamic_member){0, arg + n};
    for (; n < t->n_args && t->arg[n].member == i; n++, member[i].n_args++) {
      const run_arg *a = &t->arg[n];
      arg[n] = (fs_dynamic_arg){a->tag, p->m.buffer[a->buffer].handle, a->has_view, a->view};
    }
  }
  fs_dynamic_submission s = {.n_members = t->n_members,
                             .member = member,
                             .n_queues = t->n_queues,
                             .queue = t->queue,
                             .class_ = t->class_,
                             .n_predecessors = n_preds,
                             .predecessor = preds,
                             .use = use,
                             .n_scratch = t->n_scratch,
                             .scratch = t->scratch,
                             .user = (uint64_t)(t - p->m.task)};
  for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
    if (t->uses[r] > 0) {
      use[s.n_uses++] = (fs_dynamic_amount){r, t->uses[r]};
    }
  }
  return fs_dynamic_submit(p->e, &s, &t->handle, where);
}

static void enter_scope(program *p, run_model_task *t) {
  t->scoped = p->m.n_scopes > 0;
  t->scope = t->scoped ? p->m.scope[p->m.n_scopes - 1] : 0;
}

static void check_where(program *p, run_model_task *t, const fs_dynamic_where *where) {
  for (uint32_t i = 0; i < t->n_args; i++) {
    const run_arg *a = &t->arg[i];
    if (!p->m.buffer[a->buffer].owned) {
      ck_assert_uint_eq(where[i].heap, FS_NONE);
    } else if (a->makes || a->renews) {
      uint32_t depth = p->m.n_scopes;
      ck_assert_uint_eq(where[i].heap, depth < 2 ? 0 : depth > 4 ? 3 : depth - 1);
      ck_assert_uint_le(where[i].offset + p->m.buffer[a->buffer].size, p->heap_size);
      p->m.version[a->version].where = where[i];
    } else {
      ck_assert_uint_eq(where[i].heap, p->m.version[a->version].where.heap);
      ck_assert_uint_eq(where[i].offset, p->m.version[a->version].where.offset);
    }
  }
  for (uint32_t i = 0; i < t->n_scratch; i++) {
    t->scratch_at[i] = where[t->n_args + i];
    ck_assert_uint_le(t->scratch_at[i].offset + t->scratch[i], p->heap_size);
  }
}

static void check_preds(program *p, const run_model_task *t) {
  fs_dynamic_task found[MODEL_PREDS];
  uint32_t n = fs_dynamic_predecessors(p->e, t->handle, found, MODEL_PREDS), waits = 0;
  ck_assert_uint_eq(n, t->n_preds);
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_uint_eq(found[i], p->m.task[t->pred[i]].handle);
    waits += t->waits[i];
  }
  ck_assert_uint_eq(fs_dynamic_task_get(p->e, t->handle).n_waits, waits);
  p->n.edges += n;
}

static void submit_one(program *p) {
  fs_dynamic_predecessor preds[4];
  fs_dynamic_where where[MODEL_ARGS + MODEL_SCRATCH];
  run_model_task *t = &p->m.task[p->m.n_tasks];
  *t = (run_model_task){0};
  draw_target(p, t);
  draw_args(p, t);
  draw_needs(p, t);
  uint32_t n_preds = draw_preds(p, preds);
  fs_status status = submit_drawn(p, t, n_preds, preds, where);
  if (p->m.failed) {
    ck_assert_int_eq(status, FSCHED_REPLAY);
    return;
  }
  if (status == FSCHED_INFEASIBLE) {
    ck_assert_uint_eq(p->heap_size, SMALL_HEAP);
    p->n.full++;
    return;
  }
  if (!model_accepts(&p->m) || t->uses[0] > capacity[0] ||
      t->uses[1] > capacity[1]) { /* perhaps only since it waited for memory */
    ck_assert_int_eq(status, FSCHED_BAD_INPUT);
    p->n.refused++;
    return;
  }
  ck_fs(p->ctx, status);
  enter_scope(p, t);
  model_submit(&p->m, n_preds, preds);
  check_where(p, t, where);
  check_preds(p, t);
  p->n.submits++;
  p->n.groups += t->n_members > 1;
  p->n.amounts += t->uses[0] > 0 || t->uses[1] > 0;
}

static void alloc_one(program *p) {
  if (p->m.n_buffers == MODEL_BUFFERS - 4 || p->m.n_tasks == MODEL_TASKS - 1) {
    return;
  }
  uint64_t size = 1 + below(p, MODEL_BYTES);
  run_buffer b = {.known = true, .owned = true, .size = (uint32_t)size};
  memset(b.version, 0xff, sizeof b.version);
  run_model_task *t = &p->m.task[p->m.n_tasks];
  *t = (run_model_task){.is_alloc = true, .ended = true, .n_members = 1};
  fs_status status = fs_dynamic_alloc(p->e, 1, &size, 1, &b.handle, &t->handle);
  if (p->m.failed || status == FSCHED_INFEASIBLE) {
    ck_assert(p->m.failed || p->heap_size == SMALL_HEAP);
    return;
  }
  ck_fs(p->ctx, status);
  enter_scope(p, t);
  b.version[0] = p->m.n_versions++;
  p->m.version[b.version[0]] = (run_version){.owner = p->m.n_tasks++};
  p->m.buffer[p->m.n_buffers++] = b;
  /* The first task with it tells where it is. */
  fs_dynamic_where where;
  fs_dynamic_arg a = {.tag = FSCHED_NO_DEP, .buffer = b.handle};
  run_model_task *use = &p->m.task[p->m.n_tasks];
  *use = (run_model_task){.n_members = 1, .n_args = 1};
  use->arg[0] = (run_arg){.buffer = p->m.n_buffers - 1, .tag = a.tag};
  status = submit_drawn(p, use, 0, NULL, &where);
  if (!p->m.failed) {
    ck_fs(p->ctx, status);
    ck_assert(model_accepts(&p->m));
    enter_scope(p, use);
    model_submit(&p->m, 0, NULL);
    p->m.version[b.version[0]].where = where;
  }
}

static void change_scope(program *p) {
  if (one_in(p, 2) && p->m.n_scopes < 8) {
    fs_status status = fs_dynamic_scope_begin(p->e);
    ck_assert_int_eq(status, p->m.failed ? FSCHED_REPLAY : FSCHED_OK);
    if (status == FSCHED_OK) {
      p->m.scope[p->m.n_scopes++] = p->m.next_scope++;
    }
  } else if (p->m.n_scopes > 0) {
    ck_fs(p->ctx, fs_dynamic_scope_end(p->e));
    p->m.n_scopes--;
  } else {
    ck_assert_int_eq(fs_dynamic_scope_end(p->e), p->m.failed ? FSCHED_REPLAY : FSCHED_USAGE);
  }
}

static void hold_or_release(program *p) {
  uint32_t i = below(p, p->m.n_tasks + 1);
  if (i < p->m.n_tasks && p->m.task[i].holds > 0) {
    ck_fs(p->ctx, fs_dynamic_release(p->e, p->m.task[i].handle));
    p->m.task[i].holds--;
    return;
  }
  if (i < p->m.n_tasks) {
    ck_assert_int_eq(fs_dynamic_release(p->e, p->m.task[i].handle),
                     p->m.failed ? FSCHED_REPLAY : FSCHED_USAGE);
  }
  if (p->m.n_buffers == 0 || p->m.failed) {
    return;
  }
  const run_buffer *b = &p->m.buffer[draw_buffer(p)];
  fs_dynamic_task task;
  fs_status status = fs_dynamic_hold(p->e, b->handle, &task);
  bool there = b->known && b->owned && b->version[0] != FS_NONE;
  uint32_t owner = there ? p->m.version[b->version[0]].owner : FS_NONE;
  there = there && !p->m.task[owner].consumed;
  ck_assert_int_eq(status, there ? FSCHED_OK : FSCHED_BAD_INPUT);
  if (there) {
    ck_assert_uint_eq(task, p->m.task[owner].handle);
    p->m.task[owner].holds++;
    p->m.task[owner].was_retained = true;
  }
}

static void forget_one(program *p) {
  run_buffer *b = &p->m.buffer[below(p, p->m.n_buffers)];
  ck_assert_int_eq(fs_dynamic_forget(p->e, b->handle), b->known ? FSCHED_OK : FSCHED_BAD_INPUT);
  b->known = false;
}

static void cancel_run(program *p) {
  fs_dynamic_cancel(p->e, "cancelled");
  p->m.failed = p->m.closed = true;
  p->m.n_scopes = 0;
  for (uint32_t i = 0; i < p->m.n_tasks; i++) {
    run_model_task *t = &p->m.task[i];
    t->holds = 0;
    if (!t->started && !t->ended) {
      t->ended = t->failed = true;
    }
  }
}

static void run_step(program *p) {
  uint32_t what = below(p, 100);
  if (what < 40) {
    submit_one(p);
  } else if (what < 46) {
    add_buffer(p);
  } else if (what < 50) {
    alloc_one(p);
  } else if (what < 60) {
    change_scope(p);
  } else if (what < 64) {
    hold_or_release(p);
  } else if (what == 64 && p->m.n_buffers > 0) {
    forget_one(p);
  } else if (what < 80) {
    if (!start_next(p)) {
      check_nothing_more(p);
    }
  } else {
    (void)return_one(p);
  }
}

/* Ends the run, and what is left must be nothing. */
static void finish_run(program *p) {
  if (!p->m.closed) {
    ck_fs(p->ctx, fs_dynamic_close(p->e));
    p->m.closed = true;
    p->m.n_scopes = 0;
    for (uint32_t i = 0; i < p->m.n_tasks; i++) {
      p->m.task[i].holds = 0;
    }
  }
  do {
    check_tasks(p);
    while (start_next(p)) {
    }
    check_nothing_more(p);
  } while (return_one(p));
  check_tasks(p);
  ck_assert(p->m.over);
  ck_assert_int_eq(fs_dynamic_run_state(p->e), p->m.failed ? FS_RUN_FAILED : FS_RUN_DONE);
  ck_assert_uint_eq(fs_dynamic_accesses(p->e), 0);
  ck_assert_uint_eq(fs_dynamic_active(p->e), 0);
  for (uint32_t b = 0; b < p->m.n_buffers && p->m.sequential && !p->m.failed; b++) {
    const run_buffer *x = &p->m.buffer[b];
    for (uint32_t q = 0; q < (x->device ? MODEL_QUEUES : 1) && !x->owned; q++) {
      ck_assert_mem_eq(p->memory[b][q], p->m.version[x->version[q]].value, x->size);
    }
  }
  p->n.failed_runs += p->m.failed;
}

/* What the next run finds: the buffers, and their bytes. */
static void begin_run(program *p) {
  model *m = &p->m;
  ck_fs(p->ctx, fs_dynamic_open(p->e));
  m->closed = m->over = m->failed = false;
  m->next_scope = 0;
}

static void run_program(program *p, bool sequential, uint64_t seed) {
  *p = (program){.rng = {seed}, .heap_size = seed % 2 == 0 ? SMALL_HEAP : LARGE_HEAP, .n = p->n};
  fsched_context_options o = {.size = sizeof o};
  ck_assert_int_eq(fsched_context_create(&o, &p->ctx), FSCHED_OK);
  p->heap = malloc(4 * p->heap_size);
  memset(p->heap, 0xa5, 4 * p->heap_size);
  memset(p->busy, 0xff, sizeof p->busy);
  p->m.sequential = sequential;
  p->concurrency = one_in(p, 2) ? 1 + below(p, 4) : 0;
  p->rare_failures = one_in(p, 3) ? 40 : 0;
  fs_dynamic_options d = {.n_queues = MODEL_QUEUES,
                          .class_of = class_of,
                          .heap_size = p->heap_size,
                          .n_resources = MODEL_RESOURCES,
                          .capacity = capacity,
                          .concurrency = p->concurrency,
                          .hazards = sequential ? FSCHED_HAZARDS_SEQUENTIAL : FSCHED_HAZARDS_RAW,
                          .user = p,
                          .now = read_time,
                          .wait = wait_for_end};
  ck_fs(p->ctx, fs_dynamic_create(p->ctx, &d, &p->e));
  for (uint32_t run = 0; run < 2; run++, p->n.runs++) {
    for (uint32_t step = 0; step < STEPS && !p->m.closed; step++) {
      run_step(p);
      check_tasks(p);
      if (one_in(p, STEPS * 8)) {
        cancel_run(p);
      }
    }
    finish_run(p);
    if (p->m.failed) {
      break;
    }
    begin_run(p);
  }
  fs_dynamic_destroy(p->e);
  fsched_context_destroy(p->ctx);
  free(p->heap);
}

static void run_programs(bool sequential, int part) {
  program *p = calloc(1, sizeof *p);
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    run_program(p, sequential, (fs_turn() * SEEDS + (uint64_t)part) * PROGRAMS + i);
  }
  const program_counts *n = &p->n;
  printf(
      "%u runs, %u failed; %u submits, %u groups, %u refused, %u full; %u edges, %u starts, "
      "%u waits, %u bytes read, %u with amounts, %u pieces of scratch\n",
      n->runs, n->failed_runs, n->submits, n->groups, n->refused, n->full, n->edges, n->starts,
      n->waits, n->reads_checked, n->amounts, n->scratch);
  fs_assert_seen(n->submits, PROGRAMS * 20);
  fs_assert_seen(n->groups, PROGRAMS);
  fs_assert_seen(n->refused, PROGRAMS);
  fs_assert_seen(n->edges, PROGRAMS * 20);
  fs_assert_seen(n->amounts, PROGRAMS * 5);
  fs_assert_seen(n->scratch, PROGRAMS * 5);
  fs_assert_seen(n->waits, 0);
  ck_assert(!sequential || n->reads_checked > PROGRAMS * 100);
  free(p);
}

START_TEST(sequential_programs)
{ run_programs(true, _i); }
END_TEST

START_TEST(raw_programs)
{ run_programs(false, _i); }
END_TEST

FS_SUITE(dynamic_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, SEEDS, sequential_programs, raw_programs);
}
