/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: what a submitter has checked becomes a submission to the workers.  A version that begins
 * and is to last is held from its first moment, as its task may end at once. */
#include "exec/dynamic/calls/private.h"
#include "model/kinds.h"

/* A task that is being handed on. */
typedef struct task_handing {
  fsched_dynamic *d;
  const fs_submitted *t;
  uint32_t n_buffers; /* before it */
  uint32_t n_holds;
  bool begins; /* some of its args begin versions */
} task_handing;

/* Whether an arg begins a version in memory of a heap. */
static bool begins_version(const fsched_dynamic *d, const fs_submit_access *a, uint32_t buffer) {
  return fs_tag_begins((unsigned)a->tag) && d->buffer.at[buffer].owned;
}

/* Declares the buffer of an arg that allocates one. */
static fs_status declare(fsched_dynamic *d, uint64_t bytes) {
  fs_call_buffer x = {.held = FS_DYNAMIC_NO_TASK, .owned = true};
  if (bytes == 0) {
    return fs_call_add_alloc(d, 0);
  }
  FS_TRY(fs_vec_reserve(d->ctx, &d->buffer, d->buffer.n + 1));
  FS_TRY(fs_workers_declare(d->workers, bytes, &x.buffer));
  return fs_vec_push(d->ctx, &d->buffer, x);
}

static fs_status add_arg(task_handing *h, const fs_submit_access *a) {
  fsched_dynamic *d = h->d;
  uint32_t buffer = a->buffer;
  if (a->alloc != FS_NONE) {
    buffer = (uint32_t)d->buffer.n;
    FS_TRY(declare(d, h->t->alloc[a->alloc].bytes));
  }
  FS_TRY(fs_vec_ensure(d->ctx, &d->arg, d->arg.n + 1));
  fs_dynamic_arg *arg = &d->arg.at[d->arg.n++]; /* it is large, and filled where it stays */
  arg->tag = a->tag;
  arg->buffer = d->buffer.at[buffer].buffer;
  arg->has_view = a->tile != FS_NONE || a->has_at;
  if (a->tile != FS_NONE) {
    arg->view = h->t->tile[a->tile];
  } else if (a->has_at) {
    arg->view = (fs_view){.offset = a->offset, .element = a->length};
  }
  if (begins_version(d, a, buffer)) {
    h->begins = true;
    h->n_holds += fs_submit_will_last(d->s, a->alloc == FS_NONE ? buffer : FS_NONE);
  }
  return FSCHED_OK;
}

/* Adds the args of a member, which are the accesses from `first` up to `end`. */
static fs_status add_member(task_handing *h, uint32_t member, const fs_submit_access *first,
                            const fs_submit_access *end) {
  fsched_dynamic *d = h->d;
  size_t n_before = d->arg.n;
  for (const fs_submit_access *a = first; a < end; a++) {
    if (fs_tag_names_buffer((unsigned)a->tag)) {
      FS_TRY(add_arg(h, a));
    } else {
      fs_task_value value = {member, (uint32_t)(a - first), a->value};
      FS_TRY(fs_vec_push(d->ctx, &d->value, value));
    }
  }
  fs_dynamic_member m = {(uint32_t)(d->arg.n - n_before), NULL};
  return fs_vec_push(d->ctx, &d->member, m);
}

static fs_status add_members(task_handing *h) {
  fsched_dynamic *d = h->d;
  d->arg.n = d->member.n = d->value.n = 0;
  const fs_submit_access *a = h->t->access; /* NULL where there is none */
  const fs_submit_access *end = h->t->n_accesses == 0 ? a : a + h->t->n_accesses, *next = end;
  for (uint32_t m = 0; m < h->t->n_members; m++, a = next) {
    if (h->t->n_members > 1) {
      for (next = a; next < end && next->member == m; next++) {
      }
    }
    FS_TRY(add_member(h, m, a, next));
  }
  const fs_dynamic_arg *arg = d->arg.at;
  while (d->member.n < h->t->n_gang) { /* their queues are taken, and the first one runs */
    FS_TRY(fs_vec_push(d->ctx, &d->member, ((fs_dynamic_member){0, NULL})));
  }
  for (size_t m = 0; m < d->member.n; m++) {
    d->member.at[m].arg = arg;
    arg = arg == NULL ? NULL : arg + d->member.at[m].n_args;
  }
  return FSCHED_OK;
}

static fs_status add_predecessors(task_handing *h) {
  fsched_dynamic *d = h->d;
  d->predecessor.n = 0;
  for (uint32_t i = 0; i < h->t->n_predecessors; i++) {
    const fsched_submit_predecessor *p = &h->t->predecessor[i];
    fs_dynamic_predecessor before = {d->task.at[p->task], p->wait != 0, p->retain != 0};
    FS_TRY(fs_vec_push(d->ctx, &d->predecessor, before));
  }
  return FSCHED_OK;
}

/* The number of a class, as the workers have it. */
static uint32_t find_class(const fsched_dynamic *d, const char *name) {
  const fsched_builder *b = fs_submit_target(d->s);
  uint32_t class_ = fs_names_find(fs_builder_names(b, FS_KIND_CLASS), name, strlen(name));
  for (uint32_t q = 0; q < d->n_queues; q++) {
    if (fs_builder_class_of(b, q) == class_) {
      return d->class_of[q];
    }
  }
  return 0;
}

/* The queues that a task names, or its class. */
static void place_task(const task_handing *h, fs_dynamic_submission *s) {
  const fsched_dynamic *d = h->d;
  const fs_submitted *t = h->t;
  fs_call_callable *c = &d->callable.at[t->callable];
  if (t->group && t->n_gang == 0) {
    s->n_queues = t->n_members;
    s->queue = t->member_queue;
  } else if (t->queue != FS_NONE) {
    s->n_queues = 1;
    s->queue = &t->queue;
  } else if (t->on_own) {
    s->class_ = find_class(d, t->on);
  } else {
    c->class_ = c->class_ == FS_NONE ? find_class(d, t->on) : c->class_;
    s->class_ = c->class_;
  }
}

/* Whether all workers that may run a task have its kernel. */
static fs_status check_kernel(const task_handing *h, const fs_dynamic_submission *s) {
  fsched_dynamic *d = h->d;
  if (!d->callable.at[h->t->callable].here || !fs_workers_spawned(d->workers)) {
    return FSCHED_OK;
  }
  for (uint32_t q = 0; q < d->n_queues; q++) {
    bool meant = s->n_queues == 0 && d->class_of[q] == s->class_;
    for (uint32_t i = 0; i < s->n_queues; i++) {
      meant = meant || s->queue[i] == q;
    }
    if (meant && !d->host[q]) {
      return fs_call_error(d, FSCHED_BAD_INPUT, ARG,
                           "task '%.80s': its kernel is a function of the application, and the "
                           "worker of queue '%.80s' was spawned",
                           h->t->name,
                           fs_builder_names(fs_submit_target(d->s), FS_KIND_QUEUE)->text.at[q]);
    }
  }
  return FSCHED_OK;
}

static fs_status hand_on(task_handing *h, fs_dynamic_task *out) {
  fsched_dynamic *d = h->d;
  const fs_submitted *t = h->t;
  const fs_call_callable *c = &d->callable.at[t->callable];
  FS_TRY(fs_vec_ensure(d->ctx, &d->task, d->task.n + 1));
  FS_TRY(add_members(h));
  FS_TRY(add_predecessors(h));
  fsched_kernel_call own;
  const fsched_kernel_call *shape = &c->shape;
  if (t->n_params > 0) {
    own = c->shape;
    own.params = t->params;
    own.n_params = t->n_params;
    shape = &own;
  }
  fs_workers_task task = {
      .name = t->name,
      .kernel = t->callable,
      .n_values = (uint32_t)d->value.n,
      .value = d->value.at,
      .group = t->group,
      .once = !t->group,
      .shape = shape,
      .submission = {.n_members = (uint32_t)d->member.n,
                     .member = d->member.at,
                     .n_predecessors = (uint32_t)d->predecessor.n,
                     .predecessor = d->predecessor.at,
                     .n_uses = c->n_uses,
                     .use = c->n_uses == 0 ? NULL : &d->use.at[c->use0],
                     .n_scratch = c->n_scratch,
                     .scratch = c->n_scratch == 0 ? NULL : &d->scratch.at[c->scratch0],
                     .manual = t->manual,
                     .checked = true,
                     .n_holds = h->n_holds}};
  place_task(h, &task.submission);
  FS_TRY(check_kernel(h, &task.submission));
  return fs_workers_submit(d->workers, &task, out);
}

/* Forgets the buffers that the task has declared. */
static void undo_buffers(const task_handing *h) {
  fsched_dynamic *d = h->d;
  while (d->buffer.n > h->n_buffers) {
    fs_status status = fs_workers_forget(d->workers, d->buffer.at[--d->buffer.n].buffer);
    assert(status == FSCHED_OK);
    (void)status;
  }
}

/* Notes what is held from now on, and gives up the versions before. */
static void move_holds(const task_handing *h, fs_dynamic_task task) {
  fsched_dynamic *d = h->d;
  uint32_t fresh = h->n_buffers;
  for (uint32_t i = 0; i < h->t->n_accesses && h->begins; i++) {
    const fs_submit_access *a = &h->t->access[i];
    bool allocates = a->alloc != FS_NONE;
    uint32_t buffer = allocates ? fresh++ : a->buffer;
    if (!fs_tag_names_buffer((unsigned)a->tag) || !begins_version(d, a, buffer)) {
      continue;
    }
    fs_call_buffer *x = &d->buffer.at[buffer];
    if (x->held != FS_DYNAMIC_NO_TASK) { /* unless a failure has given it up */
      fs_status status = fs_workers_release(d->workers, x->held);
      (void)status;
    }
    bool lasts = fs_submit_will_last(d->s, allocates ? FS_NONE : buffer);
    x->held = lasts ? task : FS_DYNAMIC_NO_TASK;
  }
}

fs_status fs_call_add_task(void *user, const fs_submitted *task) {
  fsched_dynamic *d = user;
  task_handing h = {.d = d, .t = task, .n_buffers = (uint32_t)d->buffer.n};
  fs_dynamic_task made;
  fs_status status = hand_on(&h, &made);
  if (status != FSCHED_OK) {
    undo_buffers(&h);
    return status;
  }
  move_holds(&h, made);
  return fs_vec_push(d->ctx, &d->task, made);
}

fsched_status fsched_dynamic_task(fsched_dynamic *d, const fsched_submit_task_desc *desc,
                                  uint32_t *task) {
  FS_TRY(fs_call_accept(d));
  return fsched_submit_task(d->s, desc, task);
}

fsched_status fsched_dynamic_group(fsched_dynamic *d, const fsched_submit_group_desc *desc,
                                   uint32_t *task) {
  FS_TRY(fs_call_accept(d));
  return fsched_submit_group(d->s, desc, task);
}
