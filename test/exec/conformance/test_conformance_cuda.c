/* SPDX-License-Identifier: Apache-2.0 */
/* The conformance suite on CUDA by streams: on the fake driver, or on a real one. */
#include "exec/conformance/conformance.h"
#include "exec/cuda/cuda_fake.h"

static cuda_fake fake;

static void before(void *user, fsched_device_options *device) {
  (void)user;
  if (!cuda_is_real()) {
    cuda_fake_load(&fake);
    fake.reset(&(fake_cuda_controls){.seed = 4});
    device->driver = fake.path;
  }
}

static void after(void *user) {
  (void)user;
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

Suite *fs_suite_conformance_cuda(void) {
  static const fs_conformance cuda = {.device = {.kind = "cuda"}, .before = before, .after = after};
  Suite *s = suite_create("conformance_cuda");
  fs_conformance_add(s, &cuda);
  return s;
}
