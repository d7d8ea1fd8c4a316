/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must succeed, with what was reported where one has not. */
#ifndef FS_TEST_STATUS_H
#define FS_TEST_STATUS_H

#include <check.h>

#include "fsched/fsched.h"

/* The message that was reported first. */
static inline const char *fs_first_message(const fsched_context *ctx) {
  return fsched_diag_count(ctx) == 0 ? "(none)" : fsched_diag_get(ctx, 0)->message;
}

/* The message that was reported last, for failing tests to print. */
static inline const char *fs_test_diags(const fsched_context *ctx) {
  uint32_t n = fsched_diag_count(ctx);
  return n == 0 ? "nothing reported" : fsched_diag_get(ctx, n - 1)->message;
}

#define ck_fs(ctx, expr)                                                                         \
  do {                                                                                           \
    fsched_status ck_status_ = (expr);                                                           \
    ck_assert_msg(ck_status_ == FSCHED_OK, "%s: %d: %s", #expr, ck_status_, fs_test_diags(ctx)); \
  } while (0)

#endif
