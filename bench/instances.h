/* SPDX-License-Identifier: Apache-2.0 */
/* What benches on public instances have in common.  BENCH_NAME, which messages begin with, is
 * defined before this is included. */
#ifndef FS_BENCH_INSTANCES_H
#define FS_BENCH_INSTANCES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/files/file.h"
#include "fsched/fsched.h"

static inline void fail(const char *what) {
  fprintf(stderr, BENCH_NAME ": %s\n", what);
  exit(EXIT_FAILURE);
}

static inline void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

/* Seconds. */
static inline double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a variable of the environment says. */
static inline double setting(const char *name, double fallback) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? fallback : atof(text);
}

/* The text of a file of a folder of instances; NULL: there is none.  It is released with the
 * process, or by fs_realloc of its length and 1. */
static inline char *read_shared(fsched_context *ctx, const char *folder, const char *name,
                                size_t *length) {
  char path[800], *text = NULL;
  const char *root = getenv("FSCHED_SHARED");
  (void)snprintf(path, sizeof path, "%s/data/%s/%s", root == NULL ? "../shared" : root, folder,
                 name);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    return NULL;
  }
  (void)fclose(f);
  need(ctx, fs_file_read(ctx, path, &text, length));
  return text;
}

#endif
