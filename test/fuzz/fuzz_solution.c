/* SPDX-License-Identifier: Apache-2.0 */
/* Files with solutions as solvers write them (compile --solution).  Values that are read are within
 * their bounds. */
#include "fuzz/fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fs_model m;
  int64_t value[FS_FUZZ_VARS] = {0};
  if (fs_fuzz_met(&f, fs_fuzz_model(&m, f.ctx), FS_FUZZ_MAY(FSCHED_OK), "model") &&
      fs_fuzz_met(&f, fs_solution_read(f.ctx, &m, "fuzz.sol", (const char *)data, size, value),
                  FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "solution")) {
    uint64_t broken = fs_model_broken(&m, value);
    fs_fuzz_must(broken == FS_NONE || broken < FS_MODEL_BOUND, "a value is out of its bounds");
  }
  fs_model_release(&m);
  fs_fuzz_end(&f);
  return 0;
}
