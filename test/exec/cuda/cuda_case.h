/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver, or a real one, anew for each test; beside a fixture that has the context.  To be
 * included behind all others, as the names are short. */
#ifndef FS_TEST_CUDA_CASE_H
#define FS_TEST_CUDA_CASE_H

#include "exec/cuda/cuda_fake.h"
#include "fsched/exec.h"
#include "kit/context.h"

extern cuda_fake fake;        /* not loaded where the tests meet a real device */
extern fsched_device *device; /* of exec_case.h; goes with the test, if there is one */

/* All is given back in the end. */
void fs_test_cuda(TCase *t);
/* For what the fake driver alone can do, and what is not given back: no call was wrong. */
void fs_test_fake_cuda(TCase *t);

#endif
