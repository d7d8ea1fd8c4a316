/* SPDX-License-Identifier: Apache-2.0 */
/* In integers, so that every machine and locale shows the same. */
#include "size_text.h"

#include <stdio.h>

const char *fs_size_text(char text[FS_SIZE_TEXT], uint64_t bytes) {
  static const char units[] = "KMGT";
  unsigned k = 0;
  while (k + 1 < sizeof units - 1 && bytes >> (10 * (k + 2)) != 0) {
    k++;
  }
  unsigned shift = 10 * (k + 1);
  uint64_t whole = bytes >> shift;
  uint64_t rest = bytes & (((uint64_t)1 << shift) - 1);
  uint64_t tenths = (rest * 10 + ((uint64_t)1 << (shift - 1))) >> shift; /* rest is below 2^40 */
  if (whole == 0) {
    (void)snprintf(text, FS_SIZE_TEXT, "%llu", (unsigned long long)bytes);
  } else if (rest == 0) {
    (void)snprintf(text, FS_SIZE_TEXT, "%llu (%llu %ciB)", (unsigned long long)bytes,
                   (unsigned long long)whole, units[k]);
  } else {
    (void)snprintf(text, FS_SIZE_TEXT, "%llu (%llu.%llu %ciB)", (unsigned long long)bytes,
                   (unsigned long long)(whole + tenths / 10), (unsigned long long)(tenths % 10),
                   units[k]);
  }
  return text;
}
