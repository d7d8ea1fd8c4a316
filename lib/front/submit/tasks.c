/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks.  A submit has three steps:
 *
 *   name     its own, or its callable's and a number
 *   check    each arg against its buffer: rights, range, scope, and whether what it reads was
 *            written; then the args against each other, and the predecessors
 *   record   what it allocates, the op, its args; and what it writes is noted
 *
 * Nothing is recorded before all is checked, so a task's reads are of what was there before it, and
 * a fault leaves no trace. */
#include <stdio.h>

#include "base/text/plural.h"
#include "front/submit/private.h"

static fs_status name_task(fs_submit_call *c) {
  c->name = c->d->name;
  if (c->name == NULL) {
    c->name = c->callable->label;
    if (!c->s->hash_named) { /* only a task with a name of its own can have taken this one */
      return FSCHED_OK;
    }
  }
  return fs_submit_check_name(c->s, "a task", c->name, fs_builder_names(c->s->b, FS_KIND_OP));
}

/* Finds the queue of the member in hand, behind those before it. */
static fs_status find_member(fs_submit_call *c) {
  char who[100];
  uint32_t before = c->member == 0 ? FS_NONE : c->queue;
  const char *queue = c->d->queues[c->member];
  (void)snprintf(who, sizeof who, "task '%.80s'", c->name);
  FS_TRY(fs_submit_find_queue(c->s, who, queue, &c->queue));
  if (c->queue != FS_NONE && (before == FS_NONE || before < c->queue)) {
    return fs_vec_push(c->s->ctx, &c->s->member_queue, c->queue);
  }
  return fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_MEMBERS, FS_NOWHERE,
                 "each member has a queue, in the order in which these were added",
                 c->queue == FS_NONE ? "task '%.80s', member %u: '%.80s' is no queue"
                                     : "task '%.80s', member %u: queue '%.80s' is out of order",
                 c->name, c->member, queue);
}

/* Whether a task takes any queues of its callable's class. */
static bool has_gang(const fs_submit_call *c) {
  return c->callable->op.gang_class != NULL && c->on == NULL && c->d->queues == NULL;
}

/* Whether there is a queue for each member. */
static fs_status check_places(fs_submit_call *c) {
  const fsched_submit_group_desc *d = c->d;
  uint32_t n_gang = c->callable->op.gang_count;
  if (d->n_members == 0 || d->members == NULL || (c->group && d->queues == NULL && !has_gang(c))) {
    return fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_MEMBERS, FS_NOWHERE, NULL,
                   "task '%.80s': a group needs members and their queues", c->name);
  }
  return !c->group || d->queues != NULL || d->n_members == n_gang
             ? FSCHED_OK
             : fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_MEMBERS, FS_NOWHERE,
                       "each queue of a gang has one member",
                       "task '%.80s' has %u %s, and the gang of its callable %u", c->name,
                       d->n_members, fs_plural(d->n_members, "member", "members"), n_gang);
}

static fs_status check_args(fs_submit_call *c) {
  const fsched_submit_group_desc *d = c->d;
  c->s->access.n = c->s->alloc.n = c->s->tile.n = c->s->member_queue.n = 0;
  c->arg = 0;
  FS_TRY(check_places(c));
  for (c->member = 0; c->member < d->n_members; c->member++) {
    FS_TRY(c->group && d->queues != NULL ? find_member(c) : FSCHED_OK);
    FS_TRY(fs_submit_check_list(c, &d->members[c->member]));
  }
  return FSCHED_OK;
}

static fs_status check_predecessors(fs_submit_call *c) {
  uint32_t n_tasks = c->s->n_tasks;
  for (uint32_t i = 0; i < c->d->n_predecessors; i++) {
    const fsched_submit_predecessor *p = &c->d->predecessors[i];
    if (p->task >= n_tasks) {
      return fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                     "task '%.80s', predecessor %u: there is no task %u before it", c->name, i,
                     p->task);
    }
    if (!p->wait && !p->retain) {
      return fs_fail(c->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                     "set 'wait', 'retain' or both",
                     "task '%.80s', predecessor %u is neither waited for nor retained", c->name, i);
    }
  }
  return FSCHED_OK;
}

static fs_status find_callable(fs_submit_call *c) {
  fsched_submitter *s = c->s;
  if (c->d->callable >= s->callable.n) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no callable %u", c->d->callable);
  }
  c->callable = &s->callable.at[c->d->callable];
  c->queue = c->callable->queue;
  return FSCHED_OK;
}

static fs_status check_queue(fs_submit_call *c) {
  char who[100];
  if (c->on == NULL) {
    return FSCHED_OK;
  }
  (void)snprintf(who, sizeof who, "task '%.80s'", c->name);
  return fs_submit_find_queue(c->s, who, c->on, &c->queue);
}

/* Allocates the buffers of args that have none. */
static fs_status record_allocs(fsched_submitter *s) {
  for (size_t i = 0; i < s->access.n && s->alloc.n > 0; i++) {
    fs_submit_access *a = &s->access.at[i];
    if (a->alloc != FS_NONE) {
      const fs_submit_alloc *x = &s->alloc.at[a->alloc];
      fs_submit_buffer fresh = fs_submit_own_buffer(s, x->bytes);
      FS_TRY(fs_submit_add_buffer(s, fresh, x->name, x->memory, FSCHED_IO_NONE, &a->buffer));
      a->length = x->bytes;
    }
  }
  return FSCHED_OK;
}

static fs_status note_write(fsched_submitter *s, const fs_submit_access *a) {
  if (s->buffer.at[a->buffer].all_written) {
    return FSCHED_OK;
  }
  fs_view_runs runs = fs_submit_pieces(s, a);
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    FS_TRY(fs_submit_write(s, a->buffer, at.low, at.high));
  }
  return FSCHED_OK;
}

static void note_begun(fsched_submitter *s, const fs_submit_access *a) {
  if (fs_tag_begins((unsigned)a->tag)) {
    s->buffer.at[a->buffer].content_scope = s->current;
  }
}

static fs_status record_args(fsched_submitter *s, uint32_t op) {
  for (size_t i = 0; i < s->access.n; i++) {
    const fs_submit_access *a = &s->access.at[i];
    fsched_arg_desc d = {.size = sizeof d,
                         .tag = a->tag,
                         .buffer = a->buffer,
                         .has_at = a->has_at,
                         .offset = a->offset,
                         .length = a->length,
                         .value = a->value,
                         .member = a->member};
    if (a->tile != FS_NONE) {
      const fs_view *tile = &s->tile.at[a->tile];
      d.n_dims = tile->n_dims;
      d.shape = tile->shape;
      d.strides = tile->stride;
      d.element = tile->element;
    }
    FS_TRY(fsched_builder_arg(s->b, op, &d));
    note_begun(s, a);
    FS_TRY(fs_tag_writes((unsigned)a->tag) ? note_write(s, a) : FSCHED_OK);
  }
  return FSCHED_OK;
}

/* What the op takes and waits for beside its args. */
static fs_status record_rest(const fs_submit_call *c, uint32_t op) {
  fsched_submitter *s = c->s;
  const fs_submit_callable *k = c->callable;
  for (uint32_t i = 0; i < k->n_uses; i++) {
    const fsched_submit_amount *use = &s->amount.at[k->use0 + i];
    FS_TRY(fsched_builder_use(s->b, op, use->id, use->amount));
  }
  for (uint32_t i = 0; i < k->n_scratch; i++) {
    const fsched_submit_amount *scratch = &s->amount.at[k->scratch0 + i];
    FS_TRY(fsched_builder_scratch(s->b, op, scratch->id, scratch->amount));
  }
  for (uint32_t i = 0; i < c->d->n_predecessors; i++) {
    if (c->d->predecessors[i].wait) {
      FS_TRY(fsched_builder_after(s->b, op, c->d->predecessors[i].task));
    }
  }
  uint32_t kernel = k->kernel;
  if (c->d->n_params > 0) {
    FS_TRY(fs_builder_vary_kernel(s->b, kernel, c->d->params, c->d->n_params, &kernel));
  }
  if (kernel != FS_NONE) {
    fs_builder_set_kernel(s->b, op, kernel);
  }
  return FSCHED_OK;
}

/* The builder's own checks; their fault is forgotten, as nothing was added. */
static fs_status check_params(const fs_submit_call *c) {
  if (c->d->n_params == 0) {
    return FSCHED_OK;
  }
  fs_builder_faults mark = fs_builder_mark_faults(c->s->b);
  fs_status status = fs_builder_check_params(c->s->b, c->d->params, c->d->n_params);
  fs_builder_rewind_faults(c->s->b, mark);
  return status;
}

static fs_status record_task(const fs_submit_call *c, uint32_t *op) {
  fsched_op_desc d = c->callable->op;
  d.name = c->name;
  d.on = has_gang(c) ? NULL : c->on == NULL ? d.on : c->on;
  d.gang_class = has_gang(c) ? d.gang_class : NULL;
  d.gang_count = has_gang(c) ? d.gang_count : 0;
  if (c->group) {
    d.gang = c->d->queues;
    d.n_gang = c->d->queues == NULL ? 0 : c->d->n_members;
    d.members = c->d->n_members;
  }
  FS_TRY(record_allocs(c->s));
  FS_TRY(fsched_builder_op(c->s->b, &d, op));
  FS_TRY(record_args(c->s, *op));
  return record_rest(c, *op);
}

/* Notes what a task leaves that the sink has executed. */
static fs_status note_task(const fs_submit_call *c) {
  fsched_submitter *s = c->s;
  FS_TRY(record_allocs(s));
  for (size_t i = 0; i < s->access.n; i++) {
    const fs_submit_access *a = &s->access.at[i];
    note_begun(s, a);
    FS_TRY(fs_tag_writes((unsigned)a->tag) ? note_write(s, a) : FSCHED_OK);
  }
  return FSCHED_OK;
}

static fs_status execute_task(const fs_submit_call *c) {
  const fsched_submitter *s = c->s;
  fs_submitted t = {.name = c->name,
                    .callable = c->d->callable,
                    .group = c->group,
                    .n_gang = has_gang(c) ? c->callable->op.gang_count : 0,
                    .manual = s->current != FS_NONE && s->scope.at[s->current].manual,
                    .on = c->on == NULL ? c->callable->op.on : c->on,
                    .on_own = c->on != NULL,
                    .queue = c->queue,
                    .n_members = c->d->n_members,
                    .member_queue = s->member_queue.at,
                    .n_accesses = (uint32_t)s->access.n,
                    .access = s->access.at,
                    .alloc = s->alloc.at,
                    .tile = s->tile.at,
                    .n_predecessors = c->d->n_predecessors,
                    .predecessor = c->d->predecessors,
                    .params = c->d->params,
                    .n_params = c->d->n_params};
  return s->sink->submit(s->sink->user, &t);
}

static fs_status check_task(fs_submit_call *c) {
  FS_TRY(find_callable(c));
  FS_TRY(name_task(c));
  FS_TRY(check_queue(c));
  FS_TRY(check_params(c));
  FS_TRY(check_args(c));
  return check_predecessors(c);
}

/* Tells the caller what was made. */
static void store_ids(const fsched_submitter *s, uint32_t op, uint32_t *task) {
  for (size_t i = 0; i < s->access.n && s->alloc.n > 0; i++) {
    uint32_t alloc = s->access.at[i].alloc;
    if (alloc != FS_NONE && s->alloc.at[alloc].allocated != NULL) {
      *s->alloc.at[alloc].allocated = s->access.at[i].buffer;
    }
  }
  if (task != NULL) {
    *task = op;
  }
}

static fs_status submit(fs_submit_call *c, uint32_t *task) {
  fsched_submitter *s = c->s;
  uint32_t op = s->n_tasks;
  FS_TRY(check_task(c));
  FS_TRY(s->sink == NULL ? FSCHED_OK : execute_task(c));
  FS_TRY(fs_submit_recorded(s, s->sink == NULL ? record_task(c, &op) : note_task(c)));
  assert(op == s->n_tasks);
  s->n_tasks++;
  fs_submit_next_label(c->callable);
  s->hash_named |= c->d->name != NULL && strchr(c->d->name, '#') != NULL;
  store_ids(s, op, task);
  return FSCHED_OK;
}

/* Looks at a submit as a whole, and ends the call. */
static fs_status submit_one(fs_submit_call *c, uint32_t *task) {
  fsched_submitter *s = c->s;
  s->calls++;
  fs_arena_mark mark = fs_arena_set_mark(&s->arena);
  fs_status status = submit(c, task);
  if (s->alloc.n > 0 || status != FSCHED_OK) { /* there may be names of what is allocated */
    fs_arena_reset(&s->arena, mark);
  }
  return fs_submit_ended(s, status);
}

/* A task is looked at as a group of one member. */
static fs_status submit_task(fsched_submitter *s, const fsched_submit_task_desc *d,
                             uint32_t *task) {
  const fsched_submit_member args = {.args = d->args, .n_args = d->n_args};
  const fsched_submit_group_desc one = {
      .callable = d->callable,
      .members = &args,
      .n_members = 1,
      .name = d->name,
      .predecessors = d->predecessors,
      .n_predecessors = d->predecessors == NULL ? 0 : d->n_predecessors,
      .params = d->params,
      .n_params = d->n_params};
  fs_submit_call c = {.s = s, .d = &one, .on = d->on};
  return submit_one(&c, task);
}

fsched_status fsched_submit_task(fsched_submitter *s, const fsched_submit_task_desc *desc,
                                 uint32_t *task) {
  FS_TRY(fs_submit_check_open(s));
  if (desc->size >= sizeof *desc) {
    return submit_task(s, desc, task);
  }
  FS_SUBMIT_TAKE(fsched_submit_task_desc, n_args, d, desc);
  return submit_task(s, &d, task);
}

fsched_status fsched_submit_group(fsched_submitter *s, const fsched_submit_group_desc *desc,
                                  uint32_t *task) {
  FS_TRY(fs_submit_check_open(s));
  FS_SUBMIT_TAKE(fsched_submit_group_desc, n_members, d, desc);
  d.n_predecessors = d.predecessors == NULL ? 0 : d.n_predecessors;
  fs_submit_call c = {.s = s, .d = &d, .group = true};
  return submit_one(&c, task);
}
