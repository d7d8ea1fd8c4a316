/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver, or a real one, opened anew for each test, beside a fixture that has the context.
 * Include this behind all other headers, as its names are short. */
#ifndef FS_TEST_CUDA_CASE_H
#define FS_TEST_CUDA_CASE_H

#include "exec/cuda/cuda_fake.h"
#include "fsched/exec.h"
#include "kit/context.h"

extern cuda_fake fake;        /* not loaded where the tests meet a real device */
extern fsched_device *device; /* the device of exec_case.h, if there is one; freed with the test */

/* Checks at the end that everything was given back. */
void fs_test_cuda(TCase *t);
/* For tests that only the fake driver can run and that do not give everything back; checks that no
 * call was wrong. */
void fs_test_fake_cuda(TCase *t);

#endif
