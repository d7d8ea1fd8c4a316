/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/jobs.h"

#include <inttypes.h>

#include "base/context.h"
#include "base/mem.h"
#include "model/kinds.h"

/* Where the parts of a job's block begin. */
typedef struct job_layout {
  uint32_t n_args; /* of all members, values included */
  bool has_views;
  size_t calls, args, views, scratch, params, name, end;
} job_layout;

static uint64_t params_of(const fs_workers_task *task) {
  return task->shape == NULL ? 0 : task->shape->n_params;
}

/* A view that is one range of bytes needs no description. */
static bool is_strided(const fs_dynamic_arg *a) {
  const fs_view *v = &a->view;
  return a->has_view && v->n_dims > 0 && !(v->n_dims == 1 && v->stride[0] == v->element);
}

/* How many of the members are called. */
static uint32_t count_calls(const fs_workers_task *task) {
  return task->once ? 1 : task->submission.n_members;
}

static job_layout lay_out(const fs_workers_task *task) {
  const fs_dynamic_submission *s = &task->submission;
  uint32_t n_calls = count_calls(task);
  job_layout l = {.n_args = task->n_values};
  for (uint32_t m = 0; m < s->n_members; m++) {
    const fs_dynamic_member *of = &s->member[m];
    l.n_args += of->n_args;
    for (uint32_t i = 0; i < of->n_args; i++) {
      l.has_views = l.has_views || is_strided(&of->arg[i]);
    }
  }
  l.calls = sizeof(fs_task_job);
  l.args = l.calls + (n_calls == 1 ? 0 : n_calls * sizeof(fsched_kernel_call));
  l.views = l.args + l.n_args * sizeof(fsched_kernel_arg);
  l.scratch = l.views + (l.has_views ? l.n_args * sizeof(fsched_kernel_view) : 0);
  l.params = l.scratch + s->n_scratch * sizeof(fsched_kernel_arg);
  l.name = l.params + params_of(task);
  l.end = l.name + strlen(task->name) + 1;
  return l;
}

/* How many values from v on a member has, or FS_NONE: some do not fit. */
static uint32_t count_values(const fs_workers_task *task, uint32_t member, uint32_t v) {
  uint32_t n = 0;
  for (; v + n < task->n_values && task->value[v + n].member == member; n++) {
    if (n > 0 && task->value[v + n].at <= task->value[v + n - 1].at) {
      return FS_NONE;
    }
  }
  bool fits = n == 0 || task->value[v + n - 1].at < task->submission.member[member].n_args + n;
  return fits ? n : FS_NONE;
}

static fs_status check_task(fsched_context *ctx, const fs_workers_task *task) {
  const fs_dynamic_submission *s = &task->submission;
  uint32_t v = 0;
  for (uint32_t m = 0; m < s->n_members && task->n_values > 0; m++) {
    uint32_t n = count_values(task, m, v);
    if (n == FS_NONE) {
      break;
    }
    v += n;
  }
  if (v != task->n_values) {
    return fs_fail(ctx, FSCHED_BAD_INPUT, FS_DIAG_DYNAMIC_ARG, FS_NOWHERE, NULL,
                   "task '%s': a number is out of place", task->name);
  }
  if (params_of(task) > FSCHED_MAX_PARAMS) {
    return fs_fail(ctx, FSCHED_BAD_INPUT, FS_DIAG_DYNAMIC_ARG, FS_NOWHERE, NULL,
                   "task '%s': %" PRIu64 " bytes of parameters, of at most %d", task->name,
                   params_of(task), FSCHED_MAX_PARAMS);
  }
  return FSCHED_OK;
}

/* The args of a member: tags and numbers, without places.  Returns the first value behind. */
static uint32_t list_args(const fs_workers_task *task, uint32_t member, uint32_t v,
                          fsched_kernel_arg *arg, uint32_t n) {
  const fs_dynamic_arg *a = task->submission.member[member].arg;
  for (uint32_t i = 0; i < n; i++) {
    bool is_value = v < task->n_values && task->value[v].member == member && task->value[v].at == i;
    arg[i] = (fsched_kernel_arg){.tag = FSCHED_VALUE};
    if (is_value) {
      arg[i].value = task->value[v++].value;
    } else {
      arg[i].tag = (a++)->tag;
    }
  }
  return v;
}

/* Where blocks of so many bytes are kept; FS_JOB_SIZES + 1 or more: nowhere. */
static size_t size_class(size_t bytes) { return (bytes + FS_JOB_STEP - 1) / FS_JOB_STEP; }

/* A block of so many bytes, or of a few more; *bytes is then its size. */
static unsigned char *take_block(fs_task_jobs *jobs, size_t *bytes) {
  size_t k = size_class(*bytes);
  if (k > FS_JOB_SIZES) {
    return fs_realloc(jobs->ctx, NULL, 0, *bytes);
  }
  fs_task_job *kept = jobs->unused[k];
  *bytes = k * FS_JOB_STEP;
  if (kept == NULL) {
    return fs_realloc(jobs->ctx, NULL, 0, *bytes);
  }
  jobs->unused[k] = kept->next;
  jobs->n_unused--;
  return (unsigned char *)kept;
}

void fs_task_jobs_release(fs_task_jobs *jobs) {
  for (size_t k = 0; k <= FS_JOB_SIZES; k++) {
    for (fs_task_job *job = jobs->unused[k], *next; job != NULL; job = next) {
      next = job->next;
      (void)fs_realloc(jobs->ctx, job, k * FS_JOB_STEP, 0);
    }
    jobs->unused[k] = NULL;
  }
  jobs->n_unused = 0;
}

/* What all calls share. */
static void fill_shape(fs_task_job *job, const fs_workers_task *task, const job_layout *l) {
  static const fsched_kernel_call plain = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  const fsched_kernel_call *shape = task->shape == NULL ? &plain : task->shape;
  unsigned char *block = (unsigned char *)job;
  fsched_kernel_call *c = job->call;
  c->size = sizeof *c;
  c->op = memcpy(block + l->name, task->name, l->end - l->name);
  c->scratch = job->scratch;
  c->n_scratch = task->submission.n_scratch;
  memcpy(c->grid, shape->grid, sizeof c->grid);
  memcpy(c->block, shape->block, sizeof c->block);
  c->shared_bytes = shape->shared_bytes;
  c->n_params = shape->n_params;
  c->params = c->n_params == 0 ? NULL : memcpy(block + l->params, shape->params, shape->n_params);
  c->member = 0;
  c->n_members = job->group ? job->n_members : 0;
}

/* Fills in the calls, with the tags and numbers of their args. */
static void fill_calls(fs_task_job *job, const fs_workers_task *task) {
  const fs_dynamic_submission *s = &task->submission;
  fsched_kernel_arg *arg = job->arg;
  fsched_kernel_view *view = job->view;
  for (uint32_t m = 0, v = 0; m < count_calls(task); m++) {
    uint32_t n = s->member[m].n_args + (task->n_values == 0 ? 0 : count_values(task, m, v));
    fsched_kernel_call *c = &job->call[m];
    if (m > 0) {
      *c = job->call[0];
      c->member = job->group ? m : 0;
    }
    c->args = arg;
    c->n_args = n;
    c->views = view;
    v = list_args(task, m, v, arg, n);
    arg += n;
    view = view == NULL ? NULL : view + n;
  }
}

fs_status fs_task_job_make(fs_task_jobs *jobs, const fs_workers_task *task, fs_task_job **out) {
  *out = NULL;
  FS_TRY(check_task(jobs->ctx, task));
  job_layout l = lay_out(task);
  size_t bytes = l.end;
  unsigned char *block = take_block(jobs, &bytes);
  if (block == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_task_job *job = (fs_task_job *)(void *)block;
  job->next = job->previous = NULL;
  job->bytes = bytes;
  job->kernel = task->kernel;
  job->n_members = task->submission.n_members;
  job->group = task->group;
  job->once = task->once;
  job->call = l.args == l.calls ? &job->only : (fsched_kernel_call *)(void *)(block + l.calls);
  job->arg = (fsched_kernel_arg *)(void *)(block + l.args);
  job->view = l.has_views ? (fsched_kernel_view *)(void *)(block + l.views) : NULL;
  job->scratch = (fsched_kernel_arg *)(void *)(block + l.scratch);
  fill_shape(job, task, &l);
  fill_calls(job, task);
  *out = job;
  return FSCHED_OK;
}

static void fill_view(fsched_kernel_view *out, const fs_dynamic_arg *a) {
  *out = (fsched_kernel_view){0};
  if (is_strided(a)) {
    *out = (fsched_kernel_view){.n_dims = a->view.n_dims, .element = a->view.element};
    for (uint32_t d = 0; d < a->view.n_dims; d++) {
      out->shape[d] = a->view.shape[d];
      out->strides[d] = a->view.stride[d];
    }
  }
}

/* Where an arg is; a range is told by its view, too. */
static void fill_place(fsched_kernel_arg *arg, const fs_dynamic_arg *a, unsigned char *const *heap,
                       const fs_dynamic_where *where) {
  unsigned char *base = where->heap == FS_NONE ? (unsigned char *)(uintptr_t)where->offset
                                               : heap[where->heap] + where->offset;
  arg->data = base;
  arg->length = where->size;
  if (a->has_view) {
    arg->data = base + a->view.offset;
    arg->length = fs_view_end(&a->view) - a->view.offset;
  }
}

void fs_task_job_fill(fs_task_job *job, const fs_workers_task *task, unsigned char *const *heap,
                      const fs_dynamic_where *where) {
  assert(job->n_members == task->submission.n_members);
  static const fs_dynamic_arg none;
  fsched_kernel_arg *arg = job->arg;
  fsched_kernel_view *view = job->view;
  for (uint32_t m = 0; m < count_calls(task); m++) {
    const fs_dynamic_arg *a = task->submission.member[m].arg;
    for (uint32_t i = 0; i < job->call[m].n_args; i++, arg++) {
      bool is_value = !fs_tag_names_buffer(arg->tag);
      if (view != NULL) {
        fill_view(view++, is_value ? &none : a);
      }
      if (!is_value) {
        fill_place(arg, a++, heap, where++);
      }
    }
  }
  for (uint32_t m = count_calls(task); m < job->n_members; m++) {
    where = where == NULL ? NULL : where + task->submission.member[m].n_args;
  }
  for (uint32_t i = 0; i < task->submission.n_scratch; i++, where++) {
    job->scratch[i] =
        (fsched_kernel_arg){.data = heap[where->heap] + where->offset, .length = where->size};
  }
}

void fs_task_job_drop(fs_task_jobs *jobs, fs_task_job *job) {
  size_t k = size_class(job->bytes);
  if (k > FS_JOB_SIZES || jobs->n_unused == FS_JOB_KEPT) {
    (void)fs_realloc(jobs->ctx, job, job->bytes, 0);
    return;
  }
  job->next = jobs->unused[k];
  jobs->unused[k] = job;
  jobs->n_unused++;
}
