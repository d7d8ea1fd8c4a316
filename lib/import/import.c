/* SPDX-License-Identifier: Apache-2.0 */
/* The formats, and one import. */
#include "import/import.h"

static const char *const names[] = {
#define FS_FORMAT(id, name, summary) name,
#include "import/formats.def"
#undef FS_FORMAT
};
static const char *const summaries[] = {
#define FS_FORMAT(id, name, summary) summary,
#include "import/formats.def"
#undef FS_FORMAT
};
enum format_index {
#define FS_FORMAT(id, name, summary) FS_FORMAT_##id,
#include "import/formats.def"
#undef FS_FORMAT
  FS_FORMATS
};
#define FS_FORMAT(id, name, summary)                             \
  _Static_assert((int)FSCHED_FORMAT_##id == (int)FS_FORMAT_##id, \
                 "formats.def has the order of the header");
#include "import/formats.def"
#undef FS_FORMAT

uint32_t fsched_format_count(void) { return FS_FORMATS; }
const char *fsched_format_name(uint32_t index) { return index < FS_FORMATS ? names[index] : NULL; }
const char *fsched_format_summary(uint32_t index) {
  return index < FS_FORMATS ? summaries[index] : NULL;
}

static fs_status read_instance(fs_import *in) {
  static fs_status (*const readers[])(fs_import *) = {
      [FSCHED_FORMAT_PATTERSON] = fs_import_patterson,
      [FSCHED_FORMAT_PSPLIB] = fs_import_psplib,
      [FSCHED_FORMAT_STRIP] = fs_import_strip,
      [FSCHED_FORMAT_MEMORY] = fs_import_memory};
  FS_TRY(fs_import_begin(in));
  FS_TRY(readers[in->format](in));
  return in->status;
}

static fs_status check(fs_import *in, const fsched_import_options *options) {
  if ((uint32_t)in->format >= FS_FORMATS) {
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
  FS_TRY(check(&in, options));
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
