/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/cuda/cuda_case.h"

cuda_fake fake;

void cuda_begin_fake(void) {
  cuda_fake_load(&fake);
  fs_test_begin();
}

void cuda_begin(void) {
  if (!cuda_is_real()) {
    cuda_fake_load(&fake);
  }
  fs_test_begin();
}

void cuda_end(void) {
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
  fs_test_end();
}
