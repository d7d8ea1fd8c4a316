/* SPDX-License-Identifier: Apache-2.0 */
/* In integers, so that every machine and locale shows the same. */
#include "base/text/size_text.h"

#include <stdio.h>
#include <string.h>

/* Splits a size into digits and a unit; *shift is the power of two of the unit, 0 without one. */
static bool split_unit(const char *text, size_t *digits, unsigned *shift) {
  static const char *const unit[] = {"", "KiB", "MiB", "GiB", "TiB"};
  *digits = strspn(text, "0123456789");
  for (unsigned i = 0; i < sizeof unit / sizeof *unit; i++) {
    if (strcmp(text + *digits, unit[i]) == 0) {
      *shift = 10 * i;
      return *digits > 0;
    }
  }
  return false;
}

bool fs_size_has_unit(const char *text) {
  size_t digits;
  unsigned shift;
  return split_unit(text, &digits, &shift) && shift > 0;
}

bool fs_size_parse(const char *text, uint64_t most, uint64_t *bytes) {
  size_t digits;
  unsigned shift;
  uint64_t v = 0;
  if (!split_unit(text, &digits, &shift) || digits > 18 || (digits > 1 && text[0] == '0')) {
    return false;
  }
  for (size_t i = 0; i < digits; i++) {
    v = v * 10 + (uint64_t)(text[i] - '0');
  }
  *bytes = v << shift;
  return v <= most >> shift;
}

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
