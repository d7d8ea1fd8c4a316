/* SPDX-License-Identifier: Apache-2.0 */
#include "base/warnings.h"

#include <stdio.h>

#include "base/context_private.h"
#include "base/names.h"

static const char *const names[] = {
#define FS_WARN(id, name, group, what) name,
#include "base/warn.def"
#undef FS_WARN
};
static const char *const summaries[] = {
#define FS_WARN(id, name, group, what) what,
#include "base/warn.def"
#undef FS_WARN
};
static const uint8_t groups[] = {
#define FS_WARN(id, name, group, what) FSCHED_WARNINGS_##group,
#include "base/warn.def"
#undef FS_WARN
};
static const uint8_t class_of_code[FS_DIAG_COUNT] = {
/* class plus 1; 0: no class */
#define FS_WARN(id, name, group, what) [FS_DIAG_##id] = FS_WARN_##id + 1,
#include "base/warn.def"
#undef FS_WARN
};

uint32_t fsched_warning_count(void) { return FS_WARN_COUNT; }
const char *fsched_warning_name(uint32_t index) {
  return index < FS_WARN_COUNT ? names[index] : NULL;
}
const char *fsched_warning_summary(uint32_t index) {
  return index < FS_WARN_COUNT ? summaries[index] : NULL;
}
fsched_warning_group fsched_warning_group_of(uint32_t index) {
  return index < FS_WARN_COUNT ? (fsched_warning_group)groups[index] : FSCHED_WARNINGS_DEFAULT;
}

void fs_warn_init(fsched_context *ctx) {
  for (int i = 0; i < FS_WARN_COUNT; i++) {
    ctx->warning[i] = groups[i] == FSCHED_WARNINGS_DEFAULT ? FSCHED_WARNING_ON : FSCHED_WARNING_OFF;
  }
}

uint32_t fs_warn_of_name(const char *code) {
  for (uint32_t i = 0; i < FS_WARN_COUNT; i++) {
    if (strcmp(code, names[i]) == 0) {
      return i;
    }
  }
  return FS_NONE;
}

fsched_status fsched_warning_set(fsched_context *ctx, const char *name,
                                 fsched_warning_level level) {
  if (name == NULL) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL, "'name' is NULL");
  }
  uint32_t index = fs_warn_of_name(name);
  if ((unsigned)level > FSCHED_WARNING_AS_ERROR) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'level' is %d, no fsched_warning_level", (int)level);
  }
  if (index == FS_NONE) {
    const char *near = fs_nearest(name, names, FS_WARN_COUNT);
    char hint[80] = "";
    if (near != NULL) {
      (void)snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    }
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, near == NULL ? NULL : hint,
                   "there is no class of warnings '%.80s'", name);
  }
  ctx->warning[index] = (uint8_t)level;
  return FSCHED_OK;
}

fsched_warning_level fsched_warning_get(const fsched_context *ctx, uint32_t index) {
  return index < FS_WARN_COUNT ? (fsched_warning_level)ctx->warning[index] : FSCHED_WARNING_OFF;
}

bool fs_warn_on(const fsched_context *ctx, fs_warn class_id) {
  assert(class_id < FS_WARN_COUNT);
  return ctx->warning[class_id] != FSCHED_WARNING_OFF;
}

uint32_t fs_warn_errors(const fsched_context *ctx) { return ctx->warning_errors; }

fsched_warning_level fs_warn_level(const fsched_context *ctx, fs_diag_code code) {
  uint32_t class_id = class_of_code[code];
  assert(class_id != 0);
  return (fsched_warning_level)ctx->warning[class_id - 1];
}
