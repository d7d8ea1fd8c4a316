/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel look_around writes. */
#ifndef FS_TEST_SURROUNDINGS_H
#define FS_TEST_SURROUNDINGS_H

#include <stdint.h>

/* What a worker's process is like. */
typedef struct surroundings {
  int32_t pid, parent;
  uint32_t n_files;    /* open descriptors above standard error, but for those of the worker */
  uint32_t n_handlers; /* signals that are not as they are by default, the mask included */
  char omp[16], openblas[16]; /* environment */
} surroundings;

#endif
