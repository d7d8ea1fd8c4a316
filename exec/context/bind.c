/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an invocation from a descriptor: names are looked up, sizes checked, arrays copied.
 *
 * An invocation is one block: the struct, then its arrays.  It is not shared before it is complete,
 * so no lock is needed. */
#include "exec/context/core.h"

#include "exec/context/known.h"
#include "exec/host/instances.h"
#include "fsched/graph.h"

typedef struct binder {
  fsched_context *ctx;
  fsched_entry *entry;
  const fsched_invocation *d;
  fs_invocation *v;
  uint32_t n_known; /* frontiers that have got room */
} binder;

static uint32_t find_name(const fs_name *names, uint32_t n, const char *name) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (strcmp(names[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && strcmp(names[low].name, name) == 0 ? names[low].id : FS_NONE;
}

static fs_status refuse_buffer(const binder *b, const char *what, const char *name,
                               const char *why) {
  return fs_fail(b->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL, "%s '%s'%s", what, name,
                 why);
}

static bool is_given(const fs_stream *s, uint32_t buffer) {
  return fs_io_is_input(s->buffers[buffer].io);
}

static fs_status check_binding(const binder *b, const fsched_binding *binding, uint32_t *out) {
  const fs_stream *s = b->entry->stream;
  const char *name = binding->buffer == NULL ? "" : binding->buffer;
  uint32_t buffer = find_name(b->entry->buffer, s->n_buffers, name);
  if (buffer == FS_NONE) {
    return refuse_buffer(b, "the program has no buffer", name, "");
  }
  bool output = fs_io_is_output(s->buffers[buffer].io);
  if (!output && !is_given(s, buffer)) {
    return refuse_buffer(b, "buffer", name, " is neither input, constant nor output");
  }
  if (binding->bytes != s->buffers[buffer].io_size) {
    return fs_fail(b->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "buffer '%s' has %llu bytes, what is bound to it has %llu", name,
                   (unsigned long long)s->buffers[buffer].io_size,
                   (unsigned long long)binding->bytes);
  }
  if (binding->data == NULL && binding->bytes > 0) {
    return refuse_buffer(b, "no data are bound to buffer", name, "");
  }
  if (output ? binding->wait != NULL || binding->release != NULL : binding->signal != NULL) {
    return refuse_buffer(b, "buffer", name,
                         output ? " is an output, which neither waits nor is released"
                                : " is no output, and only those signal");
  }
  *out = buffer;
  return FSCHED_OK;
}

/* The item of a buffer.  A buffer that no command touches has none here, as no command waits for
 * it. */
static uint32_t find_item(const fsched_entry *e, uint32_t buffer) {
  bool given = is_given(e->stream, buffer);
  uint32_t item = given ? e->given_item[buffer] : e->kept_item[buffer];
  bool touched =
      item != FS_NONE && !e->exec->options.empty && (!given || e->io.given[item].touches > 0);
  return touched ? item : FS_NONE;
}

static bool bound_before(const fs_invocation *v, uint32_t index, uint32_t buffer, uint32_t item) {
  const uint32_t *bound = is_given(v->entry->stream, buffer) ? v->given_bound : v->kept_bound;
  if (item != FS_NONE) {
    return bound[item] != FS_NONE;
  }
  for (uint32_t i = 0; i < index; i++) {
    if (v->bound[i].buffer == buffer) {
      return true;
    }
  }
  return false;
}

static void connect(fs_invocation *v, const fs_bound *to, uint32_t index, bool waits) {
  if (to->item == FS_NONE) {
    return;
  }
  if (is_given(v->entry->stream, to->buffer)) {
    v->given_bound[to->item] = index;
    v->given[to->item] = to->data;
    v->late[to->item] = waits;
  } else {
    v->kept_bound[to->item] = index;
    v->kept[to->item] = to->data;
  }
}

/* Room for one more frontier. */
static fsched_frontier next_room(binder *b) {
  const fsched_exec *x = b->entry->exec;
  return fs_known_room(x, b->v->entries + (size_t)b->n_known++ * x->options.frontier_capacity);
}

static fs_status bind(binder *b, uint32_t index) {
  const fsched_binding *binding = &b->d->bindings[index];
  fs_invocation *v = b->v;
  fs_bound *to = &v->bound[index];
  uint32_t buffer = FS_NONE;
  FS_TRY(check_binding(b, binding, &buffer));
  uint32_t item = find_item(b->entry, buffer);
  if (bound_before(v, index, buffer, item)) {
    return refuse_buffer(b, "buffer", binding->buffer, " is bound twice");
  }
  to->invocation = v;
  to->buffer = buffer;
  to->item = item;
  to->data = binding->data;
  to->release = binding->release;
  to->release_user = binding->release_user;
  to->signal = binding->signal;
  if (to->signal != NULL) {
    fsched_fence_retain(to->signal);
    to->known = next_room(b);
  }
  connect(v, to, index, binding->wait != NULL);
  if (binding->wait != NULL && (item != FS_NONE || binding->release != NULL)) {
    uint32_t learns = item == FS_NONE ? 0 : b->entry->exec->options.frontier_capacity;
    FS_TRY(fs_fence_wait_init_learning(b->ctx, b->entry->exec->allocator, &to->wait, binding->wait,
                                       learns));
    to->late = to->waits = true;
  }
  return FSCHED_OK;
}

static void bind_states(const binder *b) {
  const fs_io *io = &b->entry->io;
  for (uint32_t i = 0; i < io->n_given; i++) {
    if (io->given[i].state != FS_NONE) {
      b->v->given[i] = b->entry->state[io->given[i].state];
    }
  }
  for (uint32_t i = 0; i < io->n_kept; i++) {
    if (io->kept[i].state != FS_NONE) {
      b->v->kept[i] = b->entry->state[io->kept[i].state];
    }
  }
}

static fs_status set_value(const binder *b, const fsched_parameter *p) {
  const fs_stream *s = b->entry->stream;
  const char *name = p->op == NULL ? "" : p->op;
  uint32_t op = find_name(b->entry->op, s->n_ops, name);
  if (op == FS_NONE) {
    return refuse_buffer(b, "the program has no op", name, "");
  }
  const fs_stream_op *o = &s->ops[op];
  if (p->arg >= o->n_args || fs_tag_names_buffer(s->args[o->arg0 + p->arg].tag)) {
    return fs_fail(b->ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "arg %u of op '%s' is no value", p->arg, name);
  }
  b->v->values[o->arg0 + p->arg] = p->value;
  return FSCHED_OK;
}

static fs_status set_values(const binder *b) {
  const fs_stream *s = b->entry->stream;
  for (uint32_t i = 0; i < s->n_args && b->v->values != NULL; i++) {
    b->v->values[i] = s->args[i].value;
  }
  for (uint32_t i = 0; i < b->d->n_parameters; i++) {
    FS_TRY(set_value(b, &b->d->parameters[i]));
  }
  return FSCHED_OK;
}

/* Counts the invocation's frontiers: its own, and one for each binding with a signal. */
static size_t count_known(const binder *b) {
  size_t n = 1;
  for (uint32_t i = 0; i < b->d->n_bindings; i++) {
    n += b->d->bindings[i].signal != NULL;
  }
  return n;
}

/* Lays the arrays out behind the struct and returns the size in bytes; with `at` NULL only counts.
 * *cleared: the bytes before the entries of frontiers, which come last. */
static size_t lay_out(const binder *b, unsigned char *at, fs_invocation *v, size_t *cleared) {
  const fs_io *io = &b->entry->io;
  const fs_stream *s = b->entry->stream;
  size_t n = 0;
#define ARRAY(member, count)                           \
  do {                                                 \
    if (at != NULL) {                                  \
      v->member = (void *)(at + n);                    \
    }                                                  \
    n += fs_align_up((count) * sizeof *v->member, 16); \
  } while (0)
  n += fs_align_up(sizeof *v, 16);
  ARRAY(bound, (size_t)b->d->n_bindings);
  ARRAY(given, (size_t)io->n_given);
  ARRAY(kept, (size_t)io->n_kept);
  ARRAY(given_bound, (size_t)io->n_given);
  ARRAY(kept_bound, (size_t)io->n_kept);
  ARRAY(late, (size_t)io->n_given);
  if (b->d->n_parameters > 0) {
    ARRAY(values, (size_t)s->n_args);
  }
  if (b->d->n_trips > 0) {
    ARRAY(trips, (size_t)s->n_loops);
  }
  *cleared = n;
  ARRAY(entries, count_known(b) * b->entry->exec->options.frontier_capacity);
#undef ARRAY
  return n;
}

static fs_status allocate_bindings(binder *b) {
  fs_invocation sizes = {0};
  size_t cleared, size = lay_out(b, NULL, &sizes, &cleared);
  fs_invocation *v = fs_allocator_new(b->entry->exec->allocator, size);
  if (v == NULL) {
    return fs_no_memory(b->ctx, size);
  }
  memset(v, 0, cleared);
  (void)lay_out(b, (unsigned char *)v, v, &cleared);
  memset(v->given_bound, 0xFF, b->entry->io.n_given * sizeof *v->given_bound);
  memset(v->kept_bound, 0xFF, b->entry->io.n_kept * sizeof *v->kept_bound);
  v->size_bytes = size;
  v->entry = b->entry;
  v->n_bound = b->d->n_bindings;
  v->slot = FS_NONE;
  b->v = v;
  v->known = next_room(b);
  return FSCHED_OK;
}

static void free_parts(fs_invocation *v) {
  for (uint32_t i = 0; i < v->n_bound; i++) {
    fs_fence_wait_free(&v->bound[i].wait);
    fsched_fence_release(v->bound[i].signal);
  }
  fs_fence_wait_free(&v->wait);
  fsched_fence_release(v->signal);
  fs_allocator_free(v->entry->exec->allocator, v, v->size_bytes);
}

void fs_invocation_unmake(fs_invocation *v) { free_parts(v); }

void fs_invocation_drop(fs_invocation *v) {
  assert(v != NULL);
  fsched_exec *x = v->entry->exec;
  pthread_mutex_lock(&x->lock);
  bool last = --v->references == 0;
  if (last) {
    *(v->previous == NULL ? &x->all : &v->previous->next) = v->next;
    if (v->next != NULL) {
      v->next->previous = v->previous;
    }
  }
  pthread_mutex_unlock(&x->lock);
  if (last) {
    free_parts(v);
    pthread_mutex_lock(&x->lock);
    x->n_live--;
    pthread_cond_broadcast(&x->quiet);
    pthread_mutex_unlock(&x->lock);
  }
}

static fs_status fill_bindings(binder *b, const fs_measure *measure) {
  fs_invocation *v = b->v;
  for (uint32_t i = 0; i < b->d->n_bindings; i++) {
    FS_TRY(bind(b, i));
  }
  bind_states(b);
  FS_TRY(set_values(b));
  if (b->d->n_trips > 0) {
    FS_TRY(fs_loops_trips(b->ctx, b->entry->stream, b->d->trips, b->d->n_trips, v->trips));
  }
  const fsched_exec *x = b->entry->exec;
  FS_TRY(fs_fence_wait_init_learning(b->ctx, x->allocator, &v->wait, b->d->wait,
                                     x->options.frontier_capacity));
  v->signal = b->d->signal;
  fsched_fence_retain(v->signal);
  v->callback = b->d->callback;
  v->user = b->d->user;
  if (measure != NULL) {
    v->measure = *measure;
  }
  return FSCHED_OK;
}

fs_status fs_invocation_make(fsched_context *ctx, fsched_entry *entry,
                             const fsched_invocation *descriptor, const fs_measure *measure,
                             fs_invocation **out) {
  assert(entry->exec != NULL);
  fsched_invocation d = {.size = sizeof d};
  if (descriptor != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_invocation", descriptor->size,
                            FS_SIZE_UP_TO(fsched_invocation, user)));
    memcpy(&d, descriptor, fs_min(descriptor->size, sizeof d));
  }
  const char *lacks = d.n_bindings > 0 && d.bindings == NULL       ? "bindings"
                      : d.n_parameters > 0 && d.parameters == NULL ? "parameters"
                      : d.n_trips > 0 && d.trips == NULL           ? "trips"
                                                                   : NULL;
  if (lacks != NULL) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "the invocation has %s, but no array of them", lacks);
  }
  binder b = {.ctx = ctx, .entry = entry, .d = &d};
  FS_TRY(allocate_bindings(&b));
  fs_status status = fill_bindings(&b, measure);
  if (status != FSCHED_OK) {
    free_parts(b.v);
    return status;
  }
  *out = b.v;
  return FSCHED_OK;
}
