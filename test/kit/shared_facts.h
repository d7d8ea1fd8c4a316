/* SPDX-License-Identifier: Apache-2.0 */
/* Files of known answers that stand beside the repository: $FSCHED_SHARED or ../shared. */
#ifndef FS_TEST_SHARED_FACTS_H
#define FS_TEST_SHARED_FACTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Opens the file; NULL, with a message, when it is not there. */
static inline FILE *fs_shared_facts(const char *name) {
  const char *shared = getenv("FSCHED_SHARED");
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/data/facts/%s", shared == NULL ? "../shared" : shared,
                 name);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    printf("skipped: no %s\n", path);
  }
  return file;
}

/* Reads the numbers in "3,7,12" and returns how many there are: none in a text that begins
 * otherwise. */
static inline uint32_t fs_shared_numbers(const char *text, uint32_t *out) {
  uint32_t n = 0;
  for (const char *p = text; *p >= '0' && *p <= '9'; p += *p == ',') {
    out[n++] = (uint32_t)strtoul(p, (char **)&p, 10);
  }
  return n;
}

#endif
