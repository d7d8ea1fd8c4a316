/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/jobs.h"

#include <inttypes.h>

#include "base/context.h"
#include "base/mem.h"
#include "model/kinds.h"

/* Where the parts of a job's block begin. */
typedef struct job_layout {
  uint32_t n_args; /* of all members, values included */
  size_t members, args, views, scratch, params, name, end;
} job_layout;

static uint64_t params_of(const fs_workers_task *task) {
  return task->shape == NULL ? 0 : task->shape->n_params;
}

/* A view that is one range of bytes needs no description. */
static bool is_strided(const fs_dynamic_arg *a) {
  const fs_view *v = &a->view;
  return a->has_view && v->n_dims > 0 && !(v->n_dims == 1 && v->stride[0] == v->element);
}

static bool has_views(const fs_dynamic_submission *s) {
  for (uint32_t m = 0; m < s->n_members; m++) {
    for (uint32_t i = 0; i < s->member[m].n_args; i++) {
      if (is_strided(&s->member[m].arg[i])) {
        return true;
      }
    }
  }
  return false;
}

static job_layout lay_out(const fs_workers_task *task) {
  const fs_dynamic_submission *s = &task->submission;
  job_layout l = {.n_args = task->n_values};
  for (uint32_t m = 0; m < s->n_members; m++) {
    l.n_args += s->member[m].n_args;
  }
  l.members = sizeof(fs_task_job);
  l.args = l.members + (s->n_members == 1 ? 0 : s->n_members * sizeof(fs_job_member));
  l.views = l.args + l.n_args * sizeof(fsched_kernel_arg);
  l.scratch = l.views + (has_views(s) ? l.n_args * sizeof(fsched_kernel_view) : 0);
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
  for (uint32_t m = 0; m < s->n_members; m++) {
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

/* Lists the members and their args. */
static void list_members(fs_task_job *job, const fs_workers_task *task, fsched_kernel_arg *arg,
                         fsched_kernel_view *view) {
  const fs_dynamic_submission *s = &task->submission;
  for (uint32_t m = 0, v = 0; m < s->n_members; m++) {
    uint32_t n = s->member[m].n_args + count_values(task, m, v);
    job->member[m] = (fs_job_member){arg, view, n};
    v = list_args(task, m, v, arg, n);
    arg += n;
    view = view == NULL ? NULL : view + n;
  }
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

/* Copies what all members share. */
static void fill_shape(fs_task_job *job, const fs_workers_task *task, unsigned char *params) {
  static const fsched_kernel_call plain = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  const fsched_kernel_call *shape = task->shape == NULL ? &plain : task->shape;
  memcpy(job->grid, shape->grid, sizeof job->grid);
  memcpy(job->block, shape->block, sizeof job->block);
  job->shared_bytes = shape->shared_bytes;
  job->n_params = (uint32_t)shape->n_params;
  job->params = job->n_params == 0 ? NULL : memcpy(params, shape->params, shape->n_params);
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
  job->n_scratch = task->submission.n_scratch;
  job->group = task->group;
  job->once = task->once;
  job->member = job->n_members == 1 ? &job->only : (fs_job_member *)(void *)(block + l.members);
  job->scratch = (fsched_kernel_arg *)(void *)(block + l.scratch);
  job->name = (char *)block + l.name;
  memcpy(block + l.name, task->name, l.end - l.name);
  fill_shape(job, task, block + l.params);
  fsched_kernel_arg *arg = (fsched_kernel_arg *)(void *)(block + l.args);
  fsched_kernel_view *view = (fsched_kernel_view *)(void *)(block + l.views);
  list_members(job, task, arg, l.views == l.scratch ? NULL : view);
  *out = job;
  return FSCHED_OK;
}

void fs_task_job_call(const fs_task_job *job, uint32_t member, fsched_kernel_call *out) {
  assert(member < job->n_members);
  const fs_job_member *m = &job->member[member];
  *out = (fsched_kernel_call){.size = sizeof *out,
                              .op = job->name,
                              .args = m->arg,
                              .scratch = job->scratch,
                              .n_args = m->n_args,
                              .n_scratch = job->n_scratch,
                              .shared_bytes = job->shared_bytes,
                              .params = job->params,
                              .n_params = job->n_params,
                              .views = m->view,
                              .member = job->group ? member : 0,
                              .n_members = job->group ? job->n_members : 0};
  memcpy(out->grid, job->grid, sizeof out->grid);
  memcpy(out->block, job->block, sizeof out->block);
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

void fs_task_job_fill(fs_task_job *job, const fs_dynamic *e, const fs_workers_task *task,
                      unsigned char *const *heap, const fs_dynamic_where *where) {
  assert(job->n_members == task->submission.n_members);
  static const fs_dynamic_arg none;
  fsched_kernel_arg *arg = job->member[0].arg;
  fsched_kernel_view *view = job->member[0].view;
  for (uint32_t m = 0; m < job->n_members; m++) {
    const fs_dynamic_arg *a = task->submission.member[m].arg;
    for (uint32_t i = 0; i < job->member[m].n_args; i++, arg++) {
      bool is_value = !fs_tag_names_buffer(arg->tag);
      if (view != NULL) {
        fill_view(view++, is_value ? &none : a);
      }
      if (is_value) {
        continue;
      }
      fs_dynamic_extent x = fs_dynamic_arg_extent(e, a++);
      unsigned char *base = where->heap == FS_NONE ? (unsigned char *)(uintptr_t)x.address
                                                   : heap[where->heap] + where->offset;
      arg->data = base + x.offset;
      arg->length = x.length;
      where++;
    }
  }
  for (uint32_t i = 0; i < task->submission.n_scratch; i++, where++) {
    job->scratch[i] = (fsched_kernel_arg){.data = heap[where->heap] + where->offset,
                                          .length = task->submission.scratch[i]};
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
