/* SPDX-License-Identifier: Apache-2.0 */
/* Time reports: a line for each time and its share, and the total. */
#ifndef FS_CLI_TIMES_H
#define FS_CLI_TIMES_H

#include "base/mem.h"

enum { FS_TIMES_MOST = 40 };

typedef struct fs_times {
  uint32_t n;
  struct {
    const char *name, *what; /* what: a remark, or NULL */
    uint64_t ns;
  } row[FS_TIMES_MOST];
} fs_times;

/* Requires room for another row. */
void fs_times_add(fs_times *times, const char *name, const char *what, uint64_t ns);
/* Writes milliseconds with three decimals, and the share of the total in percent with one, using
 * only integer arithmetic; or nanoseconds, as one object of JSON on a line. */
void fs_times_put(const fs_times *times, bool json, fs_text *t);

#endif
