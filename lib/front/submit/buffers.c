/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of a submitter: imports and allocations, and which of their bytes are written.
 *
 * Imports with an address are kept as ranges of addresses, one set for the host and one for each
 * queue, so that an overlap is found when the second one is imported.  What is written of a buffer
 * only grows: a version that a task begins is written as a whole. */
#include <stdio.h>

#include "front/submit/private.h"

fs_status fs_submit_written(fsched_submitter *s, uint32_t buffer, uint64_t lo, uint64_t hi,
                            uint64_t *bytes) {
  FS_ASSERT_SLOW(buffer < s->buffer.n && lo < hi);
  const fs_submit_buffer *x = &s->buffer.at[buffer];
  *bytes = x->all_written ? hi - lo : 0;
  if (x->written == FS_NONE) {
    return FSCHED_OK;
  }
  s->found.n = 0;
  return fs_ranges_find(&s->ranges, x->written, lo, hi, &s->found, bytes);
}

static void all_written(fsched_submitter *s, fs_submit_buffer *x) {
  fs_ranges_clear(&s->ranges, &x->written);
  x->all_written = true;
}

fs_status fs_submit_write(fsched_submitter *s, uint32_t buffer, uint64_t lo, uint64_t hi) {
  FS_ASSERT_SLOW(buffer < s->buffer.n && lo < hi);
  fs_submit_buffer *x = &s->buffer.at[buffer];
  uint64_t size = fs_max(x->bytes, 1);
  if (x->all_written) {
    return FSCHED_OK;
  }
  if (hi - lo == size) {
    all_written(s, x);
    return FSCHED_OK;
  }
  uint64_t before;
  FS_TRY(fs_submit_written(s, buffer, lo, hi, &before));
  if (before == hi - lo) {
    return FSCHED_OK;
  }
  x->n_written += hi - lo - before;
  assert(x->n_written <= size);
  if (x->n_written == size) {
    all_written(s, x);
    return FSCHED_OK;
  }
  return fs_ranges_replace(&s->ranges, &x->written, lo, hi, 0);
}

/* The tags of args that check_rights has nothing against (args.c), whatever the task's queue. */
static uint8_t allowed_tags(const fs_submit_buffer *x) {
  unsigned allowed = 0;
  for (unsigned tag = 0; tag < FS_N_TAGS && x->queue == FS_NONE; tag++) {
    bool both = fs_tag_is_address(tag), writes = fs_tag_writes(tag);
    unsigned needs = (fs_tag_reads(tag) || both ? FSCHED_ACCESS_READ : 0) |
                     (writes || both ? FSCHED_ACCESS_WRITE : 0);
    bool right = (needs & ~x->access) == 0 && !(writes && x->fixed) && !(both && x->bounded);
    allowed |= (unsigned)right << tag;
  }
  return (uint8_t)allowed;
}

fs_status fs_submit_add_buffer(fsched_submitter *s, fs_submit_buffer buffer, const char *name,
                               uint32_t memory, fsched_io io, uint32_t *id) {
  assert(name != NULL);
  uint32_t home = memory == FS_NONE ? fs_builder_default_memory(s->b) : memory;
  fsched_buffer_desc d = {.size = sizeof d, .name = name, .bytes = buffer.bytes, .io = io};
  FS_TRY(fs_vec_reserve(s->ctx, &s->buffer, s->buffer.n + 1));
  bool repeated;
  FS_TRY(s->sink == NULL ? fs_builder_add_buffer(s->b, &d, memory, id)
                         : fs_names_add(&s->buffer_names, name, strlen(name), id, &repeated));
  assert(*id == s->buffer.n);
  buffer.bounded = home != FS_NONE && fs_builder_memory_bounded(s->b, home);
  buffer.written = FS_NONE;
  buffer.tags = allowed_tags(&buffer);
  return fs_vec_push(s->ctx, &s->buffer, buffer);
}

/* What is imported at an address of the host, or of a queue's device. */
static uint32_t *imports_of(fsched_submitter *s, uint32_t queue) {
  uint32_t n_queues = fs_names_count(fs_builder_names(s->b, FS_KIND_QUEUE));
  return &s->import_set[queue == FS_NONE ? n_queues : queue];
}

static fs_status check_apart(fsched_submitter *s, const fsched_submit_import_desc *d,
                             uint32_t queue) {
  uint64_t at = (uint64_t)(uintptr_t)d->address, common;
  if (d->address == NULL || d->bytes == 0) {
    return FSCHED_OK;
  }
  if (d->bytes > UINT64_MAX - at) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                   "import '%.80s' ends behind the last address", d->name);
  }
  s->found.n = 0;
  FS_TRY(fs_ranges_find(&s->ranges, *imports_of(s, queue), at, at + d->bytes, &s->found, &common));
  if (s->found.n == 0) {
    return FSCHED_OK;
  }
  const char *other = fs_submit_buffer_names(s)->text.at[s->found.at[0]];
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_IMPORTS_OVERLAP, FS_NOWHERE,
                 "import the memory once, and use views of it",
                 "imports '%.80s' and '%.80s' have %llu bytes in common", d->name, other,
                 (unsigned long long)common);
}

static fs_status check_rights(fsched_submitter *s, const fsched_submit_import_desc *d) {
  if (d->access > (FSCHED_ACCESS_READ | FSCHED_ACCESS_WRITE)) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "import '%.80s': 'access' is %u, a sum of FSCHED_ACCESS_... is needed", d->name,
                   d->access);
  }
  if ((unsigned)d->io >= FS_N_IOS) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "import '%.80s': 'io' is %d, outside 0 .. %d", d->name, (int)d->io,
                   FS_N_IOS - 1);
  }
  unsigned needs = (fs_io_given((unsigned)d->io) ? FSCHED_ACCESS_READ : 0) |
                   (fs_io_kept((unsigned)d->io) ? FSCHED_ACCESS_WRITE : 0);
  if (d->access != 0 && (needs & ~d->access) != 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_NOT_GRANTED, FS_NOWHERE, NULL,
                   "import '%.80s' is %s, and may not be %s", d->name, fs_words_io[d->io],
                   (needs & ~d->access) == FSCHED_ACCESS_READ ? "read" : "written");
  }
  return FSCHED_OK;
}

static fs_status find_device(fsched_submitter *s, const fsched_submit_import_desc *d,
                             uint32_t *queue) {
  *queue = FS_NONE;
  if (d->queue == NULL) {
    return FSCHED_OK;
  }
  const fs_names *names = fs_builder_names(s->b, FS_KIND_QUEUE);
  *queue = fs_names_find(names, d->queue, strlen(d->queue));
  if (*queue != FS_NONE) {
    return FSCHED_OK;
  }
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_UNKNOWN_NAME, FS_NOWHERE, NULL,
                 "import '%.80s': there is no queue '%.80s'", d->name, d->queue);
}

static fs_status check_bytes(fsched_submitter *s, const char *who, uint64_t bytes) {
  if (bytes <= FSCHED_MAX_SIZE) {
    return FSCHED_OK;
  }
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                 "%.160s has more than 2^48 bytes", who);
}

static fs_status record_import(fsched_submitter *s, const fsched_submit_import_desc *d,
                               uint32_t memory, uint32_t queue, uint32_t *id) {
  unsigned io = (unsigned)d->io;
  fs_submit_buffer x = {.bytes = d->bytes,
                        .queue = queue,
                        .scope = FS_NONE,
                        .content_scope = FS_NONE,
                        .access = (uint8_t)d->access,
                        .imported = true,
                        .fixed = fs_io_fixed(io),
                        .all_written = fs_io_given(io)};
  FS_TRY(fs_submit_add_buffer(s, x, d->name, memory, d->io, id));
  uint64_t at = (uint64_t)(uintptr_t)d->address;
  if (d->address == NULL || d->bytes == 0) {
    return FSCHED_OK;
  }
  return fs_ranges_add(&s->ranges, imports_of(s, queue), at, at + d->bytes, *id);
}

static fs_status import_buffer(fsched_submitter *s, const fsched_submit_import_desc *desc,
                               uint32_t *buffer) {
  FS_SUBMIT_TAKE(fsched_submit_import_desc, bytes, d, desc);
  uint32_t memory, queue, id;
  char who[100];
  FS_TRY(fs_submit_check_name(s, "an import", d.name, fs_submit_buffer_names(s)));
  (void)snprintf(who, sizeof who, "import '%.80s'", d.name);
  FS_TRY(check_bytes(s, who, d.bytes));
  FS_TRY(fs_submit_find_memory(s, who, d.memory, &memory));
  FS_TRY(check_rights(s, &d));
  FS_TRY(find_device(s, &d, &queue));
  FS_TRY(check_apart(s, &d, queue));
  d.access = d.access == 0 ? FSCHED_ACCESS_READ | FSCHED_ACCESS_WRITE : d.access;
  FS_TRY(s->sink == NULL ? FSCHED_OK : s->sink->import(s->sink->user, &d, d.access));
  FS_TRY(fs_submit_recorded(s, record_import(s, &d, memory, queue, &id)));
  if (buffer != NULL) {
    *buffer = id;
  }
  return FSCHED_OK;
}

fsched_status fsched_submit_import(fsched_submitter *s, const fsched_submit_import_desc *desc,
                                   uint32_t *buffer) {
  FS_TRY(fs_submit_check_open(s));
  return fs_submit_ended(s, import_buffer(s, desc, buffer));
}

fs_status fs_submit_shape(fsched_submitter *s, const char *who, const fsched_submit_alloc_desc *d,
                          uint64_t *bytes) {
  assert(who != NULL);
  *bytes = d->element;
  if (d->n_dims == 0 || d->n_dims > FSCHED_SUBMIT_DIMS || d->shape == NULL) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "%.160s: a shape has 1 to %d dimensions, not %u", who, FSCHED_SUBMIT_DIMS,
                   d->shape == NULL ? 0 : d->n_dims);
  }
  if (d->element == 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "%.160s: an element has no bytes", who);
  }
  bool none = false;
  for (uint32_t i = 0; i < d->n_dims; i++) {
    none |= d->shape[i] == 0;
  }
  for (uint32_t i = 0; i < d->n_dims && !none; i++) {
    *bytes = d->shape[i] > FSCHED_MAX_SIZE / *bytes ? FSCHED_MAX_SIZE + 1 : *bytes * d->shape[i];
    FS_TRY(check_bytes(s, who, *bytes));
  }
  *bytes = none ? 0 : *bytes;
  return FSCHED_OK;
}

fs_submit_buffer fs_submit_own_buffer(const fsched_submitter *s, uint64_t bytes) {
  return (fs_submit_buffer){.bytes = bytes,
                            .queue = FS_NONE,
                            .scope = s->current,
                            .content_scope = s->current,
                            .access = FSCHED_ACCESS_READ | FSCHED_ACCESS_WRITE};
}

static fs_status alloc_buffer(fsched_submitter *s, const fsched_submit_alloc_desc *desc,
                              uint32_t *buffer) {
  FS_SUBMIT_TAKE(fsched_submit_alloc_desc, shape, d, desc);
  uint32_t memory, id;
  char number[24], who[100];
  (void)snprintf(number, sizeof number, "alloc#%u", s->n_unnamed);
  const char *name = d.name == NULL ? number : d.name;
  FS_TRY(fs_submit_check_name(s, "a buffer", name, fs_submit_buffer_names(s)));
  (void)snprintf(who, sizeof who, "buffer '%.80s'", name);
  uint64_t bytes;
  FS_TRY(fs_submit_shape(s, who, &d, &bytes));
  FS_TRY(fs_submit_find_memory(s, who, d.memory, &memory));
  fs_submit_buffer x = fs_submit_own_buffer(s, bytes);
  FS_TRY(s->sink == NULL ? FSCHED_OK : s->sink->alloc(s->sink->user, bytes));
  FS_TRY(fs_submit_recorded(s, fs_submit_add_buffer(s, x, name, memory, FSCHED_IO_NONE, &id)));
  s->n_unnamed += d.name == NULL;
  if (buffer != NULL) {
    *buffer = id;
  }
  return FSCHED_OK;
}

fsched_status fsched_submit_alloc(fsched_submitter *s, const fsched_submit_alloc_desc *desc,
                                  uint32_t *buffer) {
  FS_TRY(fs_submit_check_open(s));
  return fs_submit_ended(s, alloc_buffer(s, desc, buffer));
}
