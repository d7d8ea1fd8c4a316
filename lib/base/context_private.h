/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a context, for context.c, warnings.c, progress.c, keyed.c and mem.c only. */
#ifndef FS_CONTEXT_PRIVATE_H
#define FS_CONTEXT_PRIVATE_H

#include "base/context.h"
#include "base/keyed.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/progress.h"
#include "base/warnings.h"

typedef struct fs_source {
  const char *name;
  const char *text;
  size_t length;
  char *owned; /* the text's memory, of length + 1 bytes; NULL: the arena has it */
  bool hidden; /* diagnostics show no part of its text */
} fs_source;

struct fsched_context {
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
  uint32_t max_errors;
  uint32_t errors;    /* errors found, stored or not */
  bool out_of_memory; /* reported once; its diagnostic needs no memory */
  fsched_diag memory_diag;
  fs_arena arena;      /* sources, subjects and hidden words */
  fs_arena texts;      /* texts of the stored diagnostics */
  const char *subject; /* or NULL; in the arena */
  FS_VEC(fsched_diag) diags;
  FS_VEC(fs_source) sources;
  uint8_t warning[FS_WARN_COUNT]; /* fsched_warning_level per class */
  uint32_t warning_errors;        /* warnings that were reported as errors */
  fs_progress progress;
  fs_hash_key key; /* for the hashes of name tables */
  bool muted;      /* reports and progress are dropped */
  bool hasty;      /* files are not flushed to the disk */
  const fs_limits *limits;
  uint64_t trial_steps;
  bool hides_files; /* files registered from now on are hidden */
  fs_names hidden;  /* words that no diagnostic shows */
  size_t longest_hidden;
};

void *fs_default_reallocate(void *user, void *block, size_t old_size, size_t new_size);
void fs_warn_init(fsched_context *ctx);
/* Reports without allocating. */
void fs_report_out_of_memory(fsched_context *ctx, size_t wanted);

#endif
