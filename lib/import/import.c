/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the formats, and the course of one import. */
#include "import/import.h"

static const struct {
  const char *name, *summary;
  fs_status (*read)(fs_import *);
} formats[] = {
#define FS_FORMAT(id, name, reader, writer, capacity, summary) \
  [FSCHED_FORMAT_##id] = {name, summary, fs_import_##reader},
#include "import/formats.def"
#undef FS_FORMAT
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* The switch does not compile while a format has no row. */
static bool is_format(fsched_format format) {
  switch (format) {
#define FS_FORMAT(id, ...) case FSCHED_FORMAT_##id:
#include "import/formats.def"
#undef FS_FORMAT
    return true;
  }
  return false;
}

uint32_t fsched_format_count(void) { return FORMATS; }
const char *fsched_format_name(uint32_t index) {
  return index < FORMATS ? formats[index].name : NULL;
}
const char *fsched_format_summary(uint32_t index) {
  return index < FORMATS ? formats[index].summary : NULL;
}

static fs_status read_instance(fs_import *in) {
  FS_TRY(fs_import_begin(in));
  FS_TRY(formats[in->format].read(in));
  return in->status;
}

static fs_status check_options(fs_import *in, const fsched_import_options *options) {
  if (!is_format(in->format)) {
    return fs_fail(in->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no format %u", (unsigned)in->format);
  }
  if (options != NULL) {
    FS_TRY(fs_check_options(in->ctx, "fsched_import_options", options->size,
                            FS_SIZE_UP_TO(fsched_import_options, capacity)));
    memcpy(&in->options, options, fs_min(options->size, sizeof in->options));
  }
  if (in->options.capacity > FSCHED_MAX_SIZE) {
    return fs_fail(in->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'capacity' is above 2^48");
  }
  return FSCHED_OK;
}

fsched_status fsched_import(fsched_context *ctx, fsched_format format, const char *name,
                            const char *text, size_t length, const fsched_import_options *options,
                            char **yaml, size_t *yaml_length) {
  fs_import in = {.ctx = ctx, .format = format, .name = name, .text = text, .length = length};
  FS_TRY(check_options(&in, options));
  fs_arena_init(&in.arena, ctx);
  fs_text_init(&in.out, ctx);
  uint32_t first = fsched_diag_count(ctx);
  fs_status status = read_instance(&in);
  fs_arena_release(&in.arena);
  fs_context_sort(ctx, first);
  if (status == FSCHED_OK) {
    return fs_text_take(&in.out, yaml, yaml_length);
  }
  fs_text_drop(&in.out);
  return status;
}
