/* SPDX-License-Identifier: Apache-2.0 */
/* One allocation holds the whole file; the section pointers point into it. */
#include "codegen/draft.h"

#include "base/context.h"
#include "base/crc32c.h"
#include "base/mem.h"

/* Records are written and compared as bytes, so they must have no hidden padding. */
_Static_assert(sizeof(fs_stream_meta) == 56, "");
_Static_assert(sizeof(fs_stream_axis) == 24, "");
_Static_assert(sizeof(fs_stream_queue) == 32, "");
_Static_assert(sizeof(fs_stream_memory) == 48, "");
_Static_assert(sizeof(fs_stream_resource) == 16, "");
_Static_assert(sizeof(fs_stream_buffer) == 56, "");
_Static_assert(sizeof(fs_stream_version) == 32, "");
_Static_assert(sizeof(fs_stream_op) == 64, "");
_Static_assert(sizeof(fs_stream_arg) == 40, "");
_Static_assert(sizeof(fs_stream_member) == 8, "");
_Static_assert(sizeof(fs_stream_use) == 16, "");
_Static_assert(sizeof(fs_stream_scratch) == 16, "");
_Static_assert(sizeof(fs_stream_kernel) == 48, "");
_Static_assert(sizeof(fs_stream_race) == 16, "");
_Static_assert(sizeof(fs_stream_command) == 88, "");
_Static_assert(sizeof(fs_stream_wait) == 8, "");
_Static_assert(sizeof(fs_stream_place) == 32, "");
_Static_assert(sizeof(fs_stream_barrier) == 16, "");
_Static_assert(sizeof(fs_stream_update) == 8, "");
_Static_assert(sizeof(fs_stream_stop) == 16, "");
_Static_assert(sizeof(fs_stream_param) == 24, "");
_Static_assert(sizeof(fs_stream_loop) == 88, "");
_Static_assert(sizeof(fs_stream_loop_queue) == 16, "");
_Static_assert(sizeof(fs_stream_loop_op) == 64, "");
_Static_assert(sizeof(fs_stream_loop_after) == 8, "");
_Static_assert(sizeof(fs_stream_loop_arg) == 56, "");
_Static_assert(sizeof(fs_stream_ring) == 32, "");
_Static_assert(sizeof(fs_stream_loop_command) == 48, "");
_Static_assert(sizeof(fs_stream_loop_wait) == 8, "");
_Static_assert(sizeof(fs_stream_loop_race) == 24, "");
_Static_assert(sizeof(fs_stream_guard) == 24, "");
_Static_assert(sizeof(fs_stream_guard_check) == 8, "");
_Static_assert(sizeof(fs_stream_header) == 720, "");

static fs_status check_count(fsched_context *ctx, const char *section, uint64_t count) {
  if (count > INT32_MAX) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_LIMIT, FS_NOWHERE, NULL,
                   "the program has %llu %s; the format holds at most %d",
                   (unsigned long long)count, section, INT32_MAX);
  }
  return FSCHED_OK;
}

fs_status fs_draft_alloc(fs_draft *d) {
  assert(d->bytes == NULL);
  if (!fs_host_little_endian()) {
    return fs_fail(d->ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_HOST, FS_NOWHERE, NULL,
                   "programs are little-endian and cannot be made on a big-endian machine");
  }
  uint64_t size = sizeof(fs_stream_header);
#define FS_DRAFT_SIZE_(id, type)               \
  FS_TRY(check_count(d->ctx, #id, d->n_##id)); \
  size = fs_section_end(size, d->n_##id * sizeof(type));
  FS_STREAM_SECTIONS(FS_DRAFT_SIZE_)
#undef FS_DRAFT_SIZE_
  if (size > SIZE_MAX / 2) {
    return fs_fail(d->ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_LIMIT, FS_NOWHERE, NULL,
                   "the program takes %llu bytes", (unsigned long long)size);
  }
  d->bytes = fs_realloc(d->ctx, NULL, 0, (size_t)size);
  if (d->bytes == NULL) {
    return FSCHED_SYSTEM;
  }
  d->size = (size_t)size;
  uint64_t at = sizeof(fs_stream_header);
#define FS_DRAFT_PLACE_(id, type)                                \
  {                                                              \
    uint64_t end = fs_section_end(at, d->n_##id * sizeof(type)); \
    d->id = (type *)(void *)(d->bytes + at);                     \
    if (end > at) {                                              \
      memset(d->bytes + end - 8, 0, 8); /* padding */            \
    }                                                            \
    at = end;                                                    \
  }
  FS_STREAM_SECTIONS(FS_DRAFT_PLACE_)
#undef FS_DRAFT_PLACE_
  assert(at == size);
  return FSCHED_OK;
}

uint32_t fs_draft_string(fs_draft *d, const char *text) {
  FS_ASSERT_SLOW(d->bytes != NULL || text == NULL);
  if (text == NULL) {
    return FS_NONE;
  }
  size_t n = strlen(text) + 1;
  uint32_t offset = d->string_end;
  assert(n <= d->n_strings - offset);
  memcpy(d->strings + offset, text, n);
  if (!fs_utf8_valid(text, n)) {
    d->bad_text = text;
  }
  d->string_end += (uint32_t)n;
  return offset;
}

static void write_header(fs_draft *d) {
  fs_stream_header *h = (fs_stream_header *)(void *)d->bytes;
  memset(h, 0, sizeof *h);
  memcpy(h->magic, FS_STREAM_MAGIC, sizeof h->magic);
  h->version = FS_STREAM_VERSION;
  h->header_size = sizeof *h;
  h->file_size = d->size;
  h->n_sections = sizeof h->section / sizeof h->section[0];
  uint32_t i = 0;
#define FS_DRAFT_HEADER_(id, type)                                              \
  h->section[i].offset = (uint64_t)((unsigned char *)(void *)d->id - d->bytes); \
  h->section[i++].count = d->n_##id;
  FS_STREAM_SECTIONS(FS_DRAFT_HEADER_)
#undef FS_DRAFT_HEADER_
  h->checksum = fs_crc32c(0, d->bytes, d->size);
}

fs_status fs_program_make(fsched_context *ctx, void *bytes, size_t size, bool mapped,
                          fsched_program **out) {
  assert(bytes != NULL && size > 0);
  fsched_program *p = fs_realloc(ctx, NULL, 0, sizeof *p);
  if (p == NULL) {
    return FSCHED_SYSTEM;
  }
  *p = (fsched_program){.ctx = ctx, .bytes = bytes, .size = size, .mapped = mapped};
  *out = p;
  return FSCHED_OK;
}

fs_status fs_draft_finish(fs_draft *d, fsched_program **out) {
  assert(d->bytes != NULL && d->string_end == d->n_strings);
  if (d->bad_text != NULL) {
    return fs_fail(d->ctx, FSCHED_BAD_INPUT, FS_DIAG_STREAM_STRING, FS_NOWHERE, NULL,
                   "the name '%s' is not UTF-8", d->bad_text);
  }
  FS_TRY(fs_program_make(d->ctx, d->bytes, d->size, false, out));
  write_header(d);
#define FS_DRAFT_VIEW_(id, type) \
  (*out)->view.id = d->id;       \
  (*out)->view.n_##id = (uint32_t)d->n_##id;
  FS_STREAM_SECTIONS(FS_DRAFT_VIEW_)
#undef FS_DRAFT_VIEW_
  d->bytes = NULL;
  d->size = 0;
  return FSCHED_OK;
}

void fs_draft_drop(fs_draft *d) {
  (void)fs_realloc(d->ctx, d->bytes, d->size, 0);
  d->bytes = NULL;
  d->size = 0;
}
