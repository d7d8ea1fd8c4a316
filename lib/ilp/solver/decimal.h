/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers as solvers print them, read exactly and in any locale: digits with a '.' and an
 * exponent, "inf", "nan". */
#ifndef FS_ILP_DECIMAL_H
#define FS_ILP_DECIMAL_H

#include "base/base.h"

typedef enum fs_decimal_kind {
  FS_DECIMAL_NONE, /* not a number */
  FS_DECIMAL_FINITE,
  FS_DECIMAL_HUGE, /* too large for FS_DECIMAL_MOST; infinite ones are, too */
  FS_DECIMAL_NAN
} fs_decimal_kind;

#define FS_DECIMAL_MOST ((int64_t)1 << 62)

typedef struct fs_decimal {
  fs_decimal_kind kind;
  bool negative;   /* has a '-' */
  bool whole;      /* no further than 1e-6 from an integer */
  int64_t nearest; /* integer; halves away from 0; when huge, the most there is */
  int64_t ceiling; /* least integer that is no less than 1e-6 below it; when huge as above */
} fs_decimal;

/* All of the n bytes.  Requires a text, unless it has no bytes.  O(n). */
fs_decimal fs_decimal_parse(const char *text, size_t n);

#endif
