/* SPDX-License-Identifier: Apache-2.0 */
/* A head, args and scratch, views, parameters, and the name with its end. */
#include "exec/dynamic/process/message.h"

#include "base/mem.h"
#include "base/saturate.h"
#include "base/view.h"
#include "model/kinds.h"

typedef struct message_head {
  uint64_t shared_bytes;
  uint32_t bytes; /* of all */
  uint32_t kernel, member, queue;
  uint32_t n_args, n_scratch, n_views, n_params, name_bytes;
  uint32_t n_members; /* that the call tells of */
  uint32_t grid[3], block[3];
} message_head;

typedef struct message_arg {
  uint64_t offset; /* in the mapping; NOWHERE: no memory */
  uint64_t length;
  int64_t value;
  uint32_t tag, unused;
} message_arg;

#define NOWHERE UINT64_MAX
enum { MOST_ARGS = FS_MAILBOX_MESSAGE / sizeof(message_arg) };

/* Where the parts begin, and all end. */
typedef struct message_parts {
  uint64_t args, views, params, name, end;
} message_parts;

static message_parts parts_of(const message_head *h) {
  message_parts p = {.args = sizeof *h};
  p.views = p.args + ((uint64_t)h->n_args + h->n_scratch) * sizeof(message_arg);
  p.params = p.views + (uint64_t)h->n_views * sizeof(fsched_kernel_view);
  p.name = p.params + h->n_params;
  p.end = p.name + h->name_bytes;
  return p;
}

static message_head head_of(const fsched_kernel_call *call) {
  message_head h = {.shared_bytes = call->shared_bytes,
                    .n_args = call->n_args,
                    .n_scratch = call->n_scratch,
                    .n_views = call->views == NULL ? 0 : call->n_args,
                    .n_params = (uint32_t)call->n_params,
                    .n_members = call->n_members,
                    .name_bytes = (uint32_t)fs_min(strlen(call->op) + 1, UINT32_MAX)};
  memcpy(h.grid, call->grid, sizeof h.grid);
  memcpy(h.block, call->block, sizeof h.block);
  return h;
}

uint64_t fs_message_bytes(const fsched_kernel_call *call) {
  message_head h = head_of(call);
  return call->n_params > FSCHED_MAX_PARAMS ? UINT64_MAX : parts_of(&h).end;
}

static void put_args(const fs_shared_mapping *m, const fsched_kernel_arg *arg, uint32_t n,
                     unsigned char *to) {
  for (uint32_t i = 0; i < n; i++) {
    const unsigned char *data = arg[i].data;
    message_arg a = {.offset = data == NULL ? NOWHERE : (uint64_t)(data - m->base),
                     .length = arg[i].length,
                     .value = arg[i].value,
                     .tag = arg[i].tag};
    assert(data == NULL || (a.offset >= m->at.heap && a.offset <= m->at.bytes));
    memcpy(to + i * sizeof a, &a, sizeof a);
  }
}

static void put_bytes(unsigned char *to, const void *from, size_t n) {
  if (n > 0) {
    memcpy(to, from, n);
  }
}

uint32_t fs_message_put(const fs_shared_mapping *m, const fs_started_member *member,
                        unsigned char *to) {
  const fsched_kernel_call *call = member->call;
  assert(fs_message_bytes(call) <= FS_MAILBOX_MESSAGE);
  message_head h = head_of(call);
  message_parts p = parts_of(&h);
  h.bytes = (uint32_t)p.end;
  h.kernel = member->kernel;
  h.member = member->member;
  h.queue = member->queue;
  memcpy(to, &h, sizeof h);
  put_args(m, call->args, h.n_args, to + p.args);
  put_args(m, call->scratch, h.n_scratch, to + p.args + h.n_args * sizeof(message_arg));
  put_bytes(to + p.views, call->views, h.n_views * sizeof(fsched_kernel_view));
  put_bytes(to + p.params, call->params, h.n_params);
  put_bytes(to + p.name, call->op, h.name_bytes);
  return h.bytes;
}

/* ---- reading */

fs_status fs_message_room_make(fsched_context *ctx, fs_message_room *out) {
  *out = (fs_message_room){.copy = fs_realloc(ctx, NULL, 0, FS_MAILBOX_MESSAGE)};
  out->arg = fs_realloc(ctx, NULL, 0, MOST_ARGS * sizeof *out->arg);
  if (out->copy == NULL || out->arg == NULL) {
    fs_message_room_release(ctx, out);
    return FSCHED_SYSTEM;
  }
  return FSCHED_OK;
}

void fs_message_room_release(fsched_context *ctx, fs_message_room *r) {
  (void)fs_realloc(ctx, r->copy, FS_MAILBOX_MESSAGE, 0);
  (void)fs_realloc(ctx, r->arg, MOST_ARGS * sizeof *r->arg, 0);
  *r = (fs_message_room){0};
}

static const char *get_arg(const fs_shared_mapping *m, const message_arg *a,
                           fsched_kernel_arg *out) {
  *out = (fsched_kernel_arg){.length = a->length, .value = a->value, .tag = a->tag};
  if (!fs_tag_known(a->tag)) {
    return "an arg has no tag";
  }
  if (a->offset == NOWHERE) {
    return NULL;
  }
  if (a->offset < m->at.heap || a->offset > m->at.bytes || a->length > m->at.bytes - a->offset) {
    return "an arg lies outside of the memory";
  }
  out->data = m->base + a->offset;
  return NULL;
}

static const char *check_view(const fsched_kernel_view *v, const fsched_kernel_arg *a) {
  if (v->n_dims == 0) {
    return NULL;
  }
  fs_view shape = {.element = v->element, .n_dims = v->n_dims};
  if (v->n_dims <= FS_VIEW_DIMS) {
    memcpy(shape.shape, v->shape, sizeof shape.shape);
    memcpy(shape.stride, v->strides, sizeof shape.stride);
  }
  return a->data != NULL && fs_view_valid(&shape) && fs_view_end(&shape) <= a->length
             ? NULL
             : "a view does not fit its arg";
}

static const char *check_head(const fs_shared_mapping *m, const message_head *h, uint32_t bytes) {
  message_parts p = parts_of(h);
  if (h->bytes != bytes || p.end != bytes || h->name_bytes == 0 ||
      (h->n_views != 0 && h->n_views != h->n_args) || h->n_params > FSCHED_MAX_PARAMS ||
      (h->n_members != 0 && h->member >= h->n_members)) {
    return "its parts do not fit its size";
  }
  return h->kernel < m->at.n_kernels ? NULL : "there is no such kernel";
}

/* Places the parts of the copy in the call. */
static const char *read_parts(const fs_shared_mapping *m, const message_head *h,
                              fs_message_room *r) {
  message_parts p = parts_of(h);
  const char *wrong = NULL;
  for (uint32_t i = 0; i < h->n_args + h->n_scratch && wrong == NULL; i++) {
    message_arg a;
    memcpy(&a, r->copy + p.args + i * sizeof a, sizeof a);
    wrong = get_arg(m, &a, &r->arg[i]);
  }
  const fsched_kernel_view *view = (const fsched_kernel_view *)(const void *)(r->copy + p.views);
  for (uint32_t i = 0; i < h->n_views && wrong == NULL; i++) {
    wrong = check_view(&view[i], &r->arg[i]);
  }
  const char *name = (const char *)r->copy + p.name;
  if (wrong == NULL && memchr(name, '\0', h->name_bytes) != name + h->name_bytes - 1) {
    wrong = "its name has no end";
  }
  r->call = (fsched_kernel_call){.size = sizeof r->call,
                                 .op = name,
                                 .args = r->arg,
                                 .scratch = r->arg + h->n_args,
                                 .n_args = h->n_args,
                                 .n_scratch = h->n_scratch,
                                 .shared_bytes = h->shared_bytes,
                                 .params = h->n_params == 0 ? NULL : r->copy + p.params,
                                 .n_params = h->n_params,
                                 .views = h->n_views == 0 ? NULL : view,
                                 .member = h->n_members == 0 ? 0 : h->member,
                                 .n_members = h->n_members};
  memcpy(r->call.grid, h->grid, sizeof h->grid);
  memcpy(r->call.block, h->block, sizeof h->block);
  return wrong;
}

const char *fs_message_get(const fs_shared_mapping *m, const unsigned char *from, uint32_t bytes,
                           fs_message_room *r, fs_started_member *out) {
  message_head h;
  if (bytes < sizeof h || bytes > FS_MAILBOX_MESSAGE) {
    return "it has a wrong size";
  }
  memcpy(r->copy, from, bytes);
  memcpy(&h, r->copy, sizeof h);
  const char *wrong = check_head(m, &h, bytes);
  wrong = wrong == NULL ? read_parts(m, &h, r) : wrong;
  *out = (fs_started_member){&r->call, h.kernel, h.member, h.queue};
  return wrong;
}
