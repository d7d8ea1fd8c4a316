/* SPDX-License-Identifier: Apache-2.0 */
/* Lets each allocation of a piece of work fail in turn. */
#ifndef FS_TEST_FAIL_EACH_H
#define FS_TEST_FAIL_EACH_H

#include <check.h>
#include <stdbool.h>

#include "fsched/fsched.h"
#include "kit/budget.h"

/* Does the work in a context of its own.  From where budget->left is set to `left`, so many
 * allocations succeed.  Releases all that it has made. */
typedef fsched_status (*fs_fail_work)(fsched_context *own, fs_budget *budget, long left);

/* Does the work with 0, `step`, 2 * step, ... allocations, until none fails: it says so exactly if
 * one has failed, and nothing stays behind. */
static inline void fs_fail_each(fs_fail_work work, long step) {
  for (long n = 0;; n += step) {
    fs_budget budget = {.left = 1000000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    fsched_status status = work(own, &budget, n);
    bool failed = budget.left < 0;
    ck_assert_int_eq(status, failed ? FSCHED_SYSTEM : FSCHED_OK);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
    if (!failed) {
      ck_assert_int_ge(n, 1);
      break;
    }
  }
}

#endif
