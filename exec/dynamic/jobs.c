/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/jobs.h"

#include <inttypes.h>

#include "base/context.h"
#include "base/mem.h"
#include "model/kinds.h"

/* Where the parts of a job's block begin. */
typedef struct job_layout {
  uint32_t n_args; /* of all members, values included */
  uint32_t n_places;
  size_t calls, args, views, scratch, places, params, name, end;
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
    l.n_places += s->member[m].n_args;
  }
  l.n_args += l.n_places;
  l.calls = sizeof(fs_task_job);
  l.args = l.calls + s->n_members * sizeof(fsched_kernel_call);
  l.views = l.args + l.n_args * sizeof(fsched_kernel_arg);
  l.scratch = l.views + (has_views(s) ? l.n_args * sizeof(fsched_kernel_view) : 0);
  l.places = l.scratch + s->n_scratch * sizeof(fsched_kernel_arg);
  l.params = l.places + ((size_t)l.n_places + s->n_scratch) * sizeof(fs_dynamic_where);
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

/* Makes the calls of the members; `like` has the name and the shape. */
static void make_calls(fs_task_job *job, const fs_workers_task *task, fsched_kernel_call like,
                       fsched_kernel_arg *arg, fsched_kernel_view *view) {
  const fs_dynamic_submission *s = &task->submission;
  for (uint32_t m = 0, v = 0; m < s->n_members; m++) {
    uint32_t n = s->member[m].n_args + count_values(task, m, v);
    fsched_kernel_call *call = &job->call[m];
    *call = like;
    call->args = arg;
    call->n_args = n;
    call->views = view;
    call->member = task->group ? m : 0;
    call->n_members = task->group ? s->n_members : 0;
    v = list_args(task, m, v, arg, n);
    arg += n;
    view = view == NULL ? NULL : view + n;
  }
}

fs_status fs_task_job_make(fsched_context *ctx, const fs_workers_task *task, fs_task_job **out) {
  static const fsched_kernel_call plain = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  *out = NULL;
  FS_TRY(check_task(ctx, task));
  job_layout l = lay_out(task);
  unsigned char *block = fs_realloc(ctx, NULL, 0, l.end);
  if (block == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_task_job *job = (fs_task_job *)(void *)block;
  *job = (fs_task_job){
      .bytes = l.end, .kernel = task->kernel, .n_members = task->submission.n_members};
  job->call = (fsched_kernel_call *)(void *)(block + l.calls);
  job->where = (fs_dynamic_where *)(void *)(block + l.places);
  fsched_kernel_call like = task->shape == NULL ? plain : *task->shape;
  like.size = sizeof like;
  like.op = (char *)block + l.name;
  job->scratch = (fsched_kernel_arg *)(void *)(block + l.scratch);
  like.scratch = job->scratch;
  like.n_scratch = task->submission.n_scratch;
  like.params = like.n_params == 0 ? NULL : memcpy(block + l.params, like.params, like.n_params);
  memcpy(block + l.name, task->name, l.end - l.name);
  fsched_kernel_arg *arg = (fsched_kernel_arg *)(void *)(block + l.args);
  fsched_kernel_view *view = (fsched_kernel_view *)(void *)(block + l.views);
  make_calls(job, task, like, arg, l.views == l.scratch ? NULL : view);
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

void fs_task_job_fill(fs_task_job *job, const fs_dynamic *e, const fs_workers_task *task,
                      unsigned char *const *heap) {
  assert(job->n_members == task->submission.n_members);
  static const fs_dynamic_arg none;
  fsched_kernel_arg *arg = (fsched_kernel_arg *)(void *)(job->call + job->n_members);
  fsched_kernel_view *view = (fsched_kernel_view *)(uintptr_t)job->call[0].views;
  const fs_dynamic_where *where = job->where;
  for (uint32_t m = 0; m < job->n_members; m++) {
    const fs_dynamic_arg *a = task->submission.member[m].arg;
    for (uint32_t i = 0; i < job->call[m].n_args; i++, arg++) {
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

void fs_task_job_drop(fsched_context *ctx, fs_task_job *job) {
  (void)fs_realloc(ctx, job, job->bytes, 0);
}
