/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers as solvers print them, read exactly and in any locale: digits with a '.' and an
 * exponent, "inf", "nan". */
#ifndef FS_ILP_DECIMAL_H
#define FS_ILP_DECIMAL_H

#include "base/base.h"

typedef enum fs_decimal_kind {
  FS_DECIMAL_NONE, /* not a number */
  FS_DECIMAL_FINITE,
  FS_DECIMAL_HUGE, /* larger than FS_DECIMAL_MOST, or infinite */
  FS_DECIMAL_NAN
} fs_decimal_kind;

#define FS_DECIMAL_MOST ((int64_t)1 << 62)

typedef struct fs_decimal {
  fs_decimal_kind kind;
  bool negative;   /* has a '-' */
  bool whole;      /* at most 1e-6 away from an integer */
  int64_t nearest; /* nearest integer, halves away from 0; when huge, +-FS_DECIMAL_MOST */
  int64_t ceiling; /* the number less 1e-6, rounded up; when huge, as `nearest` */
} fs_decimal;

/* Reads all of the n bytes as one number.  Requires a text, unless it has no bytes.  O(n). */
fs_decimal fs_decimal_parse(const char *text, size_t n);

#endif
