/* SPDX-License-Identifier: Apache-2.0 */
/* The args of a submit, each against its buffer (rights, range, scope, and whether what it reads
 * was written), and then against those before it.  Most are of buffers of which nothing special has
 * to be asked; what may be asked is noted with the buffer. */
#include <stdio.h>

#include "front/submit/private.h"

/* Reports a fault of the arg in hand. */
#define arg_fault(c, code, hint, format, ...)                              \
  fs_fail((c)->s->ctx, FSCHED_BAD_INPUT, FS_DIAG_##code, FS_NOWHERE, hint, \
          "task '%.80s', arg %u: " format, (c)->name, (c)->arg, __VA_ARGS__)

static const char *buffer_name(const fsched_submitter *s, uint32_t buffer) {
  return fs_submit_buffer_names(s)->text.at[buffer];
}

fs_view_runs fs_submit_pieces(const fsched_submitter *s, const fs_submit_access *a) {
  return a->tile == FS_NONE ? fs_view_range(a->offset, fs_max(a->length, 1))
                            : fs_view_pieces_of(&s->tile.at[a->tile]);
}

static fs_status check_inside(fs_submit_call *c, const fs_submit_access *a, uint64_t size) {
  if (a->offset <= size && a->length <= size - a->offset) {
    return FSCHED_OK;
  }
  return arg_fault(c, AT_OUTSIDE, NULL, "%llu bytes from %llu on leave '%.80s' of %llu bytes",
                   (unsigned long long)a->length, (unsigned long long)a->offset,
                   buffer_name(c->s, a->buffer), (unsigned long long)size);
}

static fs_status check_tile(fs_submit_call *c, const fsched_submit_view *v, uint64_t size,
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

static fs_status check_view(fs_submit_call *c, const fsched_submit_view *given, uint64_t size,
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
static fs_status check_life(fs_submit_call *c, const fs_submit_access *a) {
  const fsched_submitter *s = c->s;
  const fs_submit_buffer *x = &s->buffer.at[a->buffer];
  if (x->scope == FS_NONE && x->content_scope == FS_NONE) {
    return FSCHED_OK;
  }
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

static fs_status check_rights(fs_submit_call *c, const fs_submit_access *a) {
  const fs_submit_buffer *x = &c->s->buffer.at[a->buffer];
  unsigned tag = (unsigned)a->tag;
  if ((x->tags >> tag & 1) != 0) {
    return FSCHED_OK;
  }
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
  fs_view_runs runs = fs_submit_pieces(s, a);
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
static fs_status check_content(fs_submit_call *c, fs_submit_access *a) {
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
  fs_view_runs x =
      a->tile == FS_NONE ? fs_submit_pieces(s, a) : fs_view_runs_of(&s->tile.at[a->tile]);
  fs_view_runs y =
      b->tile == FS_NONE ? fs_submit_pieces(s, b) : fs_view_runs_of(&s->tile.at[b->tile]);
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
static bool one_version_apart(const fs_submit_call *c, const fs_submit_access *a,
                              const fs_submit_access *b) {
  return c->group && a->member != b->member && !fs_tag_begins((unsigned)a->tag) &&
         !fs_tag_begins((unsigned)b->tag);
}

/* Whether an earlier arg of another member conflicts with the one in hand; with raw hazards it
 * may. */
static fs_status check_members(fs_submit_call *c, fs_submit_access *a) {
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
static fs_status check_writes(fs_submit_call *c, const fs_submit_access *a) {
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
static fs_status name_alloc(fs_submit_call *c, const char *given, const char **name) {
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
static fs_status check_alloc_name(fs_submit_call *c, const char *name) {
  fsched_submitter *s = c->s;
  FS_TRY(fs_submit_check_name(s, "a buffer", name, fs_submit_buffer_names(s)));
  for (uint32_t i = 0; i < c->arg; i++) {
    uint32_t other = s->access.at[i].alloc;
    if (other != FS_NONE && strcmp(s->alloc.at[other].name, name) == 0) {
      return arg_fault(c, REPEATED_NAME, NULL, "arg %u allocates a buffer '%.80s', too", i, name);
    }
  }
  return FSCHED_OK;
}

static fs_status check_alloc(fs_submit_call *c, const fsched_submit_arg *arg, fs_submit_access *a) {
  fsched_submitter *s = c->s;
  char who[120];
  if (!fs_tag_begins((unsigned)a->tag) || arg->view != NULL) {
    return arg_fault(c, BAD_ARGUMENT, NULL, "%s allocates a buffer",
                     "only an 'out' without a view");
  }
  FS_SUBMIT_TAKE(fsched_submit_alloc_desc, shape, d, arg->alloc);
  (void)snprintf(who, sizeof who, "task '%.80s', arg %u", c->name, c->arg);
  fs_submit_alloc x = {.allocated = arg->allocated};
  FS_TRY(fs_submit_shape(s, who, &d, &x.bytes));
  FS_TRY(fs_submit_find_memory(s, who, d.memory, &x.memory));
  FS_TRY(name_alloc(c, d.name, &x.name));
  FS_TRY(check_alloc_name(c, x.name));
  a->alloc = (uint32_t)s->alloc.n;
  return fs_vec_push(s->ctx, &s->alloc, x);
}

static fs_status check_access(fs_submit_call *c, const fsched_submit_arg *arg,
                              fs_submit_access *a) {
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

/* Checks an arg, and adds what it is to s->access. */
static fs_status check_whole(fs_submit_call *c, const fsched_submit_arg *arg) {
  fsched_submitter *s = c->s;
  if ((unsigned)arg->tag >= FS_N_TAGS) {
    return arg_fault(c, BAD_ARGUMENT, NULL, "'tag' is %d, outside 0 .. %d", (int)arg->tag,
                     FS_N_TAGS - 1);
  }
  FS_TRY(fs_vec_ensure(s->ctx, &s->access, s->access.n + 1));
  fs_submit_access *a = &s->access.at[s->access.n];
  a->tag = arg->tag;
  a->buffer = a->tile = a->before = a->alloc = FS_NONE;
  a->has_at = false;
  a->offset = a->length = 0;
  a->member = c->member;
  a->value = arg->value;
  if (arg->alloc != NULL) {
    FS_TRY(check_alloc(c, arg, a));
  } else if (fs_tag_names_buffer((unsigned)arg->tag)) {
    FS_TRY(check_access(c, arg, a));
  }
  s->access.n++;
  return FSCHED_OK;
}

/* The same for the arg of a caller with an older header. */
static fs_status check_older(fs_submit_call *c, const fsched_submit_arg *given) {
  fsched_submit_arg whole = {0};
  FS_TRY(fs_submit_check_size(c->s, "fsched_submit_arg", given->size,
                              FS_SIZE_UP_TO(fsched_submit_arg, allocated)));
  memcpy(&whole, given, given->size);
  return check_whole(c, &whole);
}

fs_status fs_submit_check_list(fs_submit_call *c, const fsched_submit_member *m) {
  uint32_t n_args = m->args == NULL ? 0 : m->n_args;
  size_t stride = n_args == 0 ? 0 : m->args[0].size;
  for (uint32_t i = 0; i < n_args; i++, c->arg++) {
    const void *arg = (const char *)m->args + i * stride;
    const fsched_submit_arg *given = arg;
    if (given->size != stride) {
      return arg_fault(c, BAD_ARGUMENT, NULL, "'size' is %zu, and %zu in the first", given->size,
                       stride);
    }
    FS_TRY(stride < sizeof *given ? check_older(c, given) : check_whole(c, given));
  }
  return FSCHED_OK;
}
