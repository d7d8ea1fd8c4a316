/* SPDX-License-Identifier: Apache-2.0 */
/* A context and the fake driver, anew for each test.  To be included behind all others, as the
 * names are short. */
#ifndef FS_TEST_CUDA_CASE_H
#define FS_TEST_CUDA_CASE_H

#include "exec/cuda/cuda_fake.h"
#include "kit/context.h"

extern cuda_fake fake; /* not loaded where the tests meet a real device */

void cuda_begin(void);
void cuda_begin_fake(void); /* tests that the fake driver alone can pass */
void cuda_end(void);

#endif
