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

/* A submit that is being looked at: a group, or a task, which has one list of args. */
typedef struct submit_check {
  fsched_submitter *s;
  const fsched_submit_group_desc *d;
  bool group;
  const char *on; /* of a task; NULL: the callable's */
  fs_submit_callable *callable;
  const char *name; /* in s->name */
  uint32_t queue;   /* FS_NONE: any of a class; of a group, that of the member in hand */
  uint32_t member;  /* the one in hand */
  uint32_t arg;     /* the one in hand, of all members */
} submit_check;

/* Reports a fault of the arg in hand. */
#define arg_fault(c, code, hint, format, ...)                              \
  fs_fail((c)->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_##code, FS_NOWHERE, hint, \
          "task '%.80s', arg %u: " format, (c)->name, (c)->arg, __VA_ARGS__)

static const char *buffer_name(const fsched_submitter *s, uint32_t buffer) {
  return fs_submit_buffer_names(s)->text.at[buffer];
}

/* Writes "callable#number" into s->name. */
static fs_status number_task(submit_check *c) {
  fsched_submitter *s = c->s;
  char digit[12];
  uint32_t n = 0, number = c->callable->n_tasks;
  size_t length = c->callable->name_length;
  do {
    digit[n++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  FS_TRY(fs_vec_reserve(s->ctx, &s->name, length + n + 2));
  memcpy(s->name.at, c->callable->op.name, length);
  s->name.at[length++] = '#';
  while (n > 0) {
    s->name.at[length++] = digit[--n];
  }
  s->name.at[length] = '\0';
  c->name = s->name.at;
  return FSCHED_OK;
}

static fs_status name_task(submit_check *c) {
  c->name = c->d->name;
  if (c->name == NULL) {
    FS_TRY(number_task(c));
    if (!c->s->hash_named) { /* only a task with a name of its own can have taken this one */
      return FSCHED_OK;
    }
  }
  return fs_submit_check_name(c->s, "a task", c->name, fs_builder_names(c->s->b, FS_KIND_OP));
}

/* What an access touches, as runs of bytes; of tiles with very many rows all between its first and
 * its last byte. */
static fs_view_runs pieces_of(const fsched_submitter *s, const fs_submit_access *a) {
  return a->tile == FS_NONE ? fs_view_range(a->offset, fs_max(a->length, 1))
                            : fs_view_pieces_of(&s->tile.at[a->tile]);
}

static fs_status check_inside(submit_check *c, const fs_submit_access *a, uint64_t size) {
  if (a->offset <= size && a->length <= size - a->offset) {
    return FSCHED_OK;
  }
  return arg_fault(c, AT_OUTSIDE, NULL, "%llu bytes from %llu on leave '%.80s' of %llu bytes",
                   (unsigned long long)a->length, (unsigned long long)a->offset,
                   buffer_name(c->s, a->buffer), (unsigned long long)size);
}

static fs_status check_tile(submit_check *c, const fsched_submit_view *v, uint64_t size,
                            fs_submit_access *a) {
  fsched_submitter *s = c->s;
  fs_view tile;
  fsched_arg_desc d = {.tag = a->tag,
                       .n_dims = v->n_dims,
                       .shape = v->shape,
                       .strides = v->strides,
                       .element = v->element};
  const char *fault = fs_builder_view_fault(&d, &tile);
  if (fault != NULL) {
    return arg_fault(c, BAD_VIEW, NULL, "the view of '%.80s' %s", buffer_name(s, a->buffer), fault);
  }
  a->length = fs_view_end(&tile);
  FS_TRY(check_inside(c, a, size));
  tile.offset = a->offset;
  a->tile = (uint32_t)s->tile.n;
  return fs_vec_push(s->ctx, &s->tile, tile);
}

static fs_status check_view(submit_check *c, const fsched_submit_view *given, uint64_t size,
                            fs_submit_access *a) {
  fsched_submitter *s = c->s;
  if (given == NULL) {
    a->length = size;
    return FSCHED_OK;
  }
  FS_SUBMIT_TAKE(fsched_submit_view, length, v, given);
  a->has_at = true;
  a->offset = v.offset;
  if (v.n_dims > 0) {
    return check_tile(c, &v, size, a);
  }
  if (v.length == 0) {
    return arg_fault(c, AT_OUTSIDE, NULL, "a view of no bytes of '%.80s'",
                     buffer_name(s, a->buffer));
  }
  a->length = v.length;
  return check_inside(c, a, size);
}

/* Whether the buffer is there, and what is in it if the arg needs that. */
static fs_status check_life(submit_check *c, const fs_submit_access *a) {
  const fsched_submitter *s = c->s;
  const fs_submit_buffer *x = &s->buffer.at[a->buffer];
  if (fs_submit_gone(s, a->buffer)) {
    return arg_fault(c, BUFFER_GONE, "hold it before the scope ends",
                     "buffer '%.80s' has gone with scope '%.80s'", buffer_name(s, a->buffer),
                     s->scope.at[x->scope].name);
  }
  if (fs_submit_content_gone(s, a->buffer) && !fs_tag_begins(a->tag)) {
    return arg_fault(c, BUFFER_GONE, "hold it before the scope ends",
                     "the content of buffer '%.80s' has gone with scope '%.80s'",
                     buffer_name(s, a->buffer), s->scope.at[x->content_scope].name);
  }
  return FSCHED_OK;
}

static fs_status check_rights(submit_check *c, const fs_submit_access *a) {
  const fs_submit_buffer *x = &c->s->buffer.at[a->buffer];
  unsigned tag = (unsigned)a->tag;
  bool both = fs_tag_is_address(tag);
  const char *name = buffer_name(c->s, a->buffer);
  if ((fs_tag_reads(tag) || both) && (x->access & FSCHED_ACCESS_READ) == 0) {
    return arg_fault(c, NOT_GRANTED, NULL, "the import of '%.80s' does not allow to read it", name);
  }
  if ((fs_tag_writes(tag) || both) && (x->access & FSCHED_ACCESS_WRITE) == 0) {
    return arg_fault(c, NOT_GRANTED, NULL, "the import of '%.80s' does not allow to write it",
                     name);
  }
  if (fs_tag_writes(tag) && x->fixed) {
    return arg_fault(c, CONSTANT_WRITTEN, NULL, "the constant '%.80s' is written", name);
  }
  if (x->queue != FS_NONE && x->queue != c->queue) {
    return arg_fault(c, NOT_GRANTED, "import it for that queue, too",
                     "'%.80s' was imported for tasks on queue '%.80s' alone", name,
                     fs_builder_names(c->s->b, FS_KIND_QUEUE)->text.at[x->queue]);
  }
  if (both && x->bounded) {
    return arg_fault(c, NO_DEP_BOUNDED, "put the buffer into an unbounded memory, or use 'in'",
                     "no_dep of '%.80s', whose life in a bounded memory it cannot hold", name);
  }
  return FSCHED_OK;
}

/* How many bytes an access has, and how many of them are written. */
static fs_status count_bytes(fsched_submitter *s, const fs_submit_access *a, uint64_t *bytes,
                             uint64_t *written) {
  fs_view_runs runs = pieces_of(s, a);
  *bytes = *written = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    uint64_t some;
    FS_TRY(fs_submit_written(s, a->buffer, at.low, at.high, &some));
    *bytes += at.high - at.low;
    *written += some;
  }
  return FSCHED_OK;
}

/* Whether an access has more rows than are looked at one by one. */
static bool is_coarse(const fsched_submitter *s, const fs_submit_access *a) {
  if (a->tile == FS_NONE) {
    return false;
  }
  fs_view_runs runs = fs_view_runs_of(&s->tile.at[a->tile]);
  return !fs_view_fine(&runs);
}

/* Finds whether what is read was written; an inout of bytes of which none was is a write. */
static fs_status check_content(submit_check *c, fs_submit_access *a) {
  fsched_submitter *s = c->s;
  uint64_t bytes, written;
  if (!fs_tag_reads((unsigned)a->tag) || s->buffer.at[a->buffer].all_written) {
    return FSCHED_OK;
  }
  FS_TRY(count_bytes(s, a, &bytes, &written));
  if (written == bytes || (written > 0 && is_coarse(s, a))) {
    return FSCHED_OK;
  }
  bool may_be_fresh = fs_tag_writes((unsigned)a->tag) && !s->buffer.at[a->buffer].imported;
  if (written == 0 && may_be_fresh) {
    a->tag = FSCHED_OUT_EXISTING;
    return FSCHED_OK;
  }
  return arg_fault(c, NOT_PRODUCED,
                   written == 0 ? "write it in a task before, or give the import content"
                                : "a view reads a part",
                   "reads %s '%.80s', which nothing before it has written",
                   written == 0 ? "buffer" : "all of a range of buffer", buffer_name(s, a->buffer));
}

/* Whether two accesses of a buffer share bytes; if that takes too long to find out, they do. */
static bool meet(const fsched_submitter *s, const fs_submit_access *a, const fs_submit_access *b) {
  if (a->offset >= fs_submit_end(b->offset, b->length) ||
      b->offset >= fs_submit_end(a->offset, a->length)) {
    return false;
  }
  if (a->tile == FS_NONE && b->tile == FS_NONE) {
    return true;
  }
  fs_view_runs x = a->tile == FS_NONE ? pieces_of(s, a) : fs_view_runs_of(&s->tile.at[a->tile]);
  fs_view_runs y = b->tile == FS_NONE ? pieces_of(s, b) : fs_view_runs_of(&s->tile.at[b->tile]);
  switch (fs_view_overlap(&x, &y, NULL)) {
    case FS_OVERLAP_NONE:
      return false;
    case FS_OVERLAP_PARTIAL:
    case FS_OVERLAP_COVERED:
      return true;
  }
  return true;
}

/* Whether two args are of different members and access one version: an `out` begins another one. */
static bool one_version_apart(const submit_check *c, const fs_submit_access *a,
                              const fs_submit_access *b) {
  return c->group && a->member != b->member && !fs_tag_begins((unsigned)a->tag) &&
         !fs_tag_begins((unsigned)b->tag);
}

/* Whether an earlier arg of another member conflicts with the one in hand; with raw hazards it
 * may. */
static fs_status check_members(submit_check *c, fs_submit_access *a) {
  fsched_submitter *s = c->s;
  fs_submit_buffer *x = &s->buffer.at[a->buffer];
  if (!c->group || fs_builder_data_only(s->b) || !fs_tag_accesses((unsigned)a->tag)) {
    return FSCHED_OK;
  }
  a->before = x->group == s->calls ? x->last_access : FS_NONE;
  for (uint32_t i = a->before; i != FS_NONE; i = s->access.at[i].before) {
    const fs_submit_access *other = &s->access.at[i];
    bool write = fs_tag_writes((unsigned)a->tag) || fs_tag_writes((unsigned)other->tag);
    if (write && one_version_apart(c, other, a) && meet(s, other, a)) {
      return arg_fault(c, MEMBER_CONFLICT, "members run at the same time",
                       "it shares bytes of '%.80s' with arg %u of another member, and one writes",
                       buffer_name(s, a->buffer), i);
    }
  }
  x->group = s->calls;
  x->last_access = c->arg;
  return FSCHED_OK;
}

/* Whether an earlier arg of the task writes some of the same bytes. */
static fs_status check_writes(submit_check *c, const fs_submit_access *a) {
  fsched_submitter *s = c->s;
  fs_submit_buffer *x = &s->buffer.at[a->buffer];
  if (!fs_tag_writes((unsigned)a->tag)) {
    return FSCHED_OK;
  }
  if (x->call != s->calls) {
    x->call = s->calls;
    x->first_arg = c->arg;
    return FSCHED_OK;
  }
  for (uint32_t i = x->first_arg; i < c->arg; i++) {
    const fs_submit_access *other = &s->access.at[i];
    if (other->buffer == a->buffer && fs_tag_writes((unsigned)other->tag) &&
        !one_version_apart(c, other, a) && meet(s, other, a)) {
      return arg_fault(c, WRITTEN_TWICE, NULL, "it writes bytes of '%.80s' that arg %u writes, too",
                       buffer_name(s, a->buffer), i);
    }
  }
  return FSCHED_OK;
}

/* Names the buffer that the arg in hand allocates; the copy lasts as long as the call. */
static fs_status name_alloc(submit_check *c, const char *given, const char **name) {
  fsched_submitter *s = c->s;
  fs_text text;
  fs_text_init(&text, s->ctx);
  if (given == NULL) {
    fs_text_printf(&text, "%s.%u", c->name, c->arg);
  } else {
    fs_text_puts(&text, given);
  }
  *name = text.failed ? NULL : fs_arena_strndup(&s->arena, text.at == NULL ? "" : text.at, text.n);
  fs_text_drop(&text);
  return *name == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Whether no other buffer has the name. */
static fs_status check_alloc_name(submit_check *c, const char *name) {
  fsched_submitter *s = c->s;
  FS_TRY(fs_submit_check_name(s, "a buffer", name, fs_submit_buffer_names(s)));
  for (uint32_t i = 0; i < c->arg; i++) {
    const char *other = s->access.at[i].alloc_name;
    if (other != NULL && strcmp(other, name) == 0) {
      return arg_fault(c, REPEATED_NAME, NULL, "arg %u allocates a buffer '%.80s', too", i, name);
    }
  }
  return FSCHED_OK;
}

static fs_status check_alloc(submit_check *c, const fsched_submit_arg *arg, fs_submit_access *a) {
  fsched_submitter *s = c->s;
  char who[120];
  if (!fs_tag_begins((unsigned)a->tag) || arg->view != NULL) {
    return arg_fault(c, BAD_ARGUMENT, NULL, "%s allocates a buffer",
                     "only an 'out' without a view");
  }
  FS_SUBMIT_TAKE(fsched_submit_alloc_desc, shape, d, arg->alloc);
  (void)snprintf(who, sizeof who, "task '%.80s', arg %u", c->name, c->arg);
  FS_TRY(fs_submit_shape(s, who, &d, &a->alloc_bytes));
  FS_TRY(fs_submit_find_memory(s, who, d.memory, &a->alloc_memory));
  FS_TRY(name_alloc(c, d.name, &a->alloc_name));
  a->buffer = FS_NONE;
  a->allocated = arg->allocated;
  return check_alloc_name(c, a->alloc_name);
}

static fs_status check_access(submit_check *c, const fsched_submit_arg *arg, fs_submit_access *a) {
  const fsched_submitter *s = c->s;
  if (arg->buffer >= s->buffer.n) {
    return arg_fault(c, BAD_ARGUMENT, NULL, "there is no buffer %u", arg->buffer);
  }
  const fs_submit_buffer *x = &s->buffer.at[arg->buffer];
  a->buffer = arg->buffer;
  FS_TRY(check_view(c, arg->view, x->bytes, a));
  FS_TRY(check_rights(c, a));
  if (fs_tag_begins((unsigned)a->tag) && (a->has_at || x->imported)) {
    a->tag = FSCHED_OUT_EXISTING;
  }
  FS_TRY(check_life(c, a));
  FS_TRY(check_content(c, a));
  FS_TRY(check_members(c, a));
  return check_writes(c, a);
}

/* Checks the arg in hand, and adds what it is to s->access. */
static fs_status check_arg(submit_check *c, const fsched_submit_arg *given) {
  fsched_submitter *s = c->s;
  fsched_submit_arg whole = {0};
  const fsched_submit_arg *arg = given;
  if (given->size < sizeof whole) { /* of a caller with an older header */
    FS_TRY(fs_submit_check_size(s, "fsched_submit_arg", given->size,
                                FS_SIZE_UP_TO(fsched_submit_arg, allocated)));
    memcpy(&whole, given, given->size);
    arg = &whole;
  }
  if ((unsigned)arg->tag >= FS_N_TAGS) {
    return arg_fault(c, BAD_ARGUMENT, NULL, "'tag' is %d, outside 0 .. %d", (int)arg->tag,
                     FS_N_TAGS - 1);
  }
  FS_TRY(fs_vec_reserve(s->ctx, &s->access, s->access.n + 1));
  fs_submit_access *a = &s->access.at[s->access.n]; /* it is large, and filled where it stays */
  *a = (fs_submit_access){.tag = arg->tag,
                          .buffer = FS_NONE,
                          .tile = FS_NONE,
                          .value = arg->value,
                          .member = c->member,
                          .before = FS_NONE,
                          .alloc_memory = FS_NONE};
  if (arg->alloc != NULL) {
    FS_TRY(check_alloc(c, arg, a));
  } else if (fs_tag_names_buffer((unsigned)arg->tag)) {
    FS_TRY(check_access(c, arg, a));
  }
  s->access.n++;
  return FSCHED_OK;
}

/* Checks the args of the member in hand. */
static fs_status check_list(submit_check *c, const fsched_submit_member *m) {
  uint32_t n_args = m->args == NULL ? 0 : m->n_args;
  size_t stride = n_args == 0 ? 0 : m->args[0].size;
  for (uint32_t i = 0; i < n_args; i++, c->arg++) {
    const void *arg = (const char *)m->args + i * stride;
    const fsched_submit_arg *given = arg;
    if (given->size != stride) {
      return arg_fault(c, BAD_ARGUMENT, NULL, "'size' is %zu, and %zu in the first", given->size,
                       stride);
    }
    FS_TRY(check_arg(c, given));
  }
  return FSCHED_OK;
}

/* Finds the queue of the member in hand, behind those before it. */
static fs_status find_member(submit_check *c) {
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
static bool has_gang(const submit_check *c) {
  return c->callable->op.gang_class != NULL && c->on == NULL && c->d->queues == NULL;
}

/* Whether there is a queue for each member. */
static fs_status check_places(submit_check *c) {
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

static fs_status check_args(submit_check *c) {
  const fsched_submit_group_desc *d = c->d;
  c->s->access.n = c->s->tile.n = c->s->member_queue.n = 0;
  c->arg = 0;
  FS_TRY(check_places(c));
  for (c->member = 0; c->member < d->n_members; c->member++) {
    FS_TRY(c->group && d->queues != NULL ? find_member(c) : FSCHED_OK);
    FS_TRY(check_list(c, &d->members[c->member]));
  }
  return FSCHED_OK;
}

static fs_status check_predecessors(submit_check *c) {
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

static fs_status find_callable(submit_check *c) {
  fsched_submitter *s = c->s;
  if (c->d->callable >= s->callable.n) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no callable %u", c->d->callable);
  }
  c->callable = &s->callable.at[c->d->callable];
  c->queue = c->callable->queue;
  return FSCHED_OK;
}

static fs_status check_queue(submit_check *c) {
  char who[100];
  if (c->on == NULL) {
    return FSCHED_OK;
  }
  (void)snprintf(who, sizeof who, "task '%.80s'", c->name);
  return fs_submit_find_queue(c->s, who, c->on, &c->queue);
}

/* Allocates the buffers of args that have none. */
static fs_status record_allocs(fsched_submitter *s) {
  for (size_t i = 0; i < s->access.n; i++) {
    fs_submit_access *a = &s->access.at[i];
    if (a->alloc_name != NULL) {
      fs_submit_buffer x = fs_submit_own_buffer(s, a->alloc_bytes);
      FS_TRY(
          fs_submit_add_buffer(s, x, a->alloc_name, a->alloc_memory, FSCHED_IO_NONE, &a->buffer));
      a->length = a->alloc_bytes;
    }
  }
  return FSCHED_OK;
}

static fs_status note_write(fsched_submitter *s, const fs_submit_access *a) {
  fs_view_runs runs = pieces_of(s, a);
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
static fs_status record_rest(const submit_check *c, uint32_t op) {
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
static fs_status check_params(const submit_check *c) {
  fs_builder_faults mark = fs_builder_mark_faults(c->s->b);
  fs_status status = fs_builder_check_params(c->s->b, c->d->params, c->d->n_params);
  fs_builder_rewind_faults(c->s->b, mark);
  return status;
}

static fs_status record_task(const submit_check *c, uint32_t *op) {
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
static fs_status note_task(const submit_check *c) {
  fsched_submitter *s = c->s;
  FS_TRY(record_allocs(s));
  for (size_t i = 0; i < s->access.n; i++) {
    const fs_submit_access *a = &s->access.at[i];
    note_begun(s, a);
    FS_TRY(fs_tag_writes((unsigned)a->tag) ? note_write(s, a) : FSCHED_OK);
  }
  return FSCHED_OK;
}

static fs_status execute_task(const submit_check *c) {
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
                    .tile = s->tile.at,
                    .n_predecessors = c->d->n_predecessors,
                    .predecessor = c->d->predecessors,
                    .params = c->d->params,
                    .n_params = c->d->n_params};
  return s->sink->submit(s->sink->user, &t);
}

static fs_status check_task(submit_check *c) {
  FS_TRY(find_callable(c));
  FS_TRY(name_task(c));
  FS_TRY(check_queue(c));
  FS_TRY(check_params(c));
  FS_TRY(check_args(c));
  return check_predecessors(c);
}

/* Tells the caller what was made. */
static void store_ids(const fsched_submitter *s, uint32_t op, uint32_t *task) {
  for (size_t i = 0; i < s->access.n; i++) {
    if (s->access.at[i].allocated != NULL) {
      *s->access.at[i].allocated = s->access.at[i].buffer;
    }
  }
  if (task != NULL) {
    *task = op;
  }
}

static fs_status submit(submit_check *c, uint32_t *task) {
  fsched_submitter *s = c->s;
  uint32_t op = s->n_tasks;
  FS_TRY(check_task(c));
  FS_TRY(s->sink == NULL ? FSCHED_OK : execute_task(c));
  FS_TRY(fs_submit_recorded(s, s->sink == NULL ? record_task(c, &op) : note_task(c)));
  assert(op == s->n_tasks);
  s->n_tasks++;
  c->callable->n_tasks++;
  s->hash_named |= c->d->name != NULL && strchr(c->d->name, '#') != NULL;
  store_ids(s, op, task);
  return FSCHED_OK;
}

/* Looks at a submit as a whole, and ends the call. */
static fs_status submit_one(submit_check *c, uint32_t *task) {
  fsched_submitter *s = c->s;
  s->calls++;
  fs_arena_mark mark = fs_arena_set_mark(&s->arena);
  fs_status status = submit(c, task);
  fs_arena_reset(&s->arena, mark);
  return fs_submit_ended(s, status);
}

fsched_status fsched_submit_task(fsched_submitter *s, const fsched_submit_task_desc *desc,
                                 uint32_t *task) {
  FS_TRY(fs_submit_check_open(s));
  FS_SUBMIT_TAKE(fsched_submit_task_desc, n_args, d, desc);
  const fsched_submit_member args = {.args = d.args, .n_args = d.n_args};
  const fsched_submit_group_desc one = {
      .callable = d.callable,
      .members = &args,
      .n_members = 1,
      .name = d.name,
      .predecessors = d.predecessors,
      .n_predecessors = d.predecessors == NULL ? 0 : d.n_predecessors,
      .params = d.params,
      .n_params = d.n_params};
  submit_check c = {.s = s, .d = &one, .on = d.on};
  return submit_one(&c, task);
}

fsched_status fsched_submit_group(fsched_submitter *s, const fsched_submit_group_desc *desc,
                                  uint32_t *task) {
  FS_TRY(fs_submit_check_open(s));
  FS_SUBMIT_TAKE(fsched_submit_group_desc, n_members, d, desc);
  d.n_predecessors = d.predecessors == NULL ? 0 : d.n_predecessors;
  submit_check c = {.s = s, .d = &d, .group = true};
  return submit_one(&c, task);
}
