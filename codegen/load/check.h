/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fs_stream_check.  check.c walks the file and its graph half; load/rules.c checks
 * the graph half against the rules that the builder has for graphs; load/commands.c walks the
 * commands; load/sync.c walks the records that order them on targets without timelines.  Every
 * check is one FS_NEED; the first one that fails is reported and ends the walk. */
#ifndef FS_CHECK_H
#define FS_CHECK_H

#include "base/context.h"
#include "base/mem.h"
#include "codegen/draft.h"
#include "model/stream/stream.h"

typedef struct fs_checker {
  fsched_context *ctx;
  fs_arena arena; /* scratch */
  const char *name;
  const unsigned char *bytes;
  size_t size;
  uint32_t string_at; /* where the next text must begin */
  fs_stream v;
} fs_checker;

/* Sums of two values up to this limit do not overflow. */
#define FS_STREAM_MOST ((uint64_t)1 << 62)

/* The position "in this file", which is registered at the first report.  Requires a name. */
fs_pos fs_checker_pos(const fs_checker *c);

#define FS_NEED(c, condition, code, ...)                                                         \
  do {                                                                                           \
    if (__builtin_expect(!(condition), 0)) {                                                     \
      return fs_fail((c)->ctx, FSCHED_BAD_INPUT, FS_DIAG_STREAM_##code, fs_checker_pos(c), NULL, \
                     __VA_ARGS__);                                                               \
    }                                                                                            \
  } while (0)

/* Requires a checked graph half. */
fs_status fs_check_rules(fs_checker *c) FS_MUST_USE;
/* Requires a checked graph half. */
fs_status fs_check_commands(fs_checker *c) FS_MUST_USE;
/* Requires checked commands. */
fs_status fs_check_sync(fs_checker *c) FS_MUST_USE;

#endif
