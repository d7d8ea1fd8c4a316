/* SPDX-License-Identifier: Apache-2.0 */
/* The conformance suite on CUDA, by streams and by graphs: on the fake driver, or on a real one. */
#include "exec/conformance/conformance.h"
#include "exec/cuda/cuda_fake.h"

static cuda_fake fake;
static uint64_t seeds[] = {4, 5};

static void before(void *seed, fsched_device_options *device) {
  if (!cuda_is_real()) {
    cuda_fake_load(&fake);
    fake.reset(&(fake_cuda_controls){.seed = *(const uint64_t *)seed});
    device->driver = fake.path;
  }
}

static void after(void *seed) {
  (void)seed;
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

FS_SUITE(conformance_cuda, s) {
  static const fs_conformance cuda = {
      .device = {.kind = "cuda"}, .before = before, .after = after, .user = &seeds[0]};
  fs_conformance_add(s, &cuda);
}

FS_SUITE(conformance_cuda_graph, s) {
  static const fs_conformance graph = {.device = {.kind = "cuda-graph"},
                                       .before = before,
                                       .after = after,
                                       .user = &seeds[1],
                                       .begins_at_once = true};
  fs_conformance_add(s, &graph);
}
