/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/context/exec_case.h"

#include "exec/cuda/cuda_case.h"

cuda_fake fake;

static void fake_begin(void) { cuda_fake_load(&fake); }
static void fake_end(void) { ck_assert_str_eq(fake.fault(), ""); }

void fs_test_fake_cuda(TCase *t) { tcase_add_checked_fixture(t, fake_begin, fake_end); }

static void cuda_begin(void) {
  if (!cuda_is_real()) {
    cuda_fake_load(&fake);
  }
}

static void cuda_end(void) {
  fsched_device_release(device);
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

void fs_test_cuda(TCase *t) { tcase_add_checked_fixture(t, cuda_begin, cuda_end); }
