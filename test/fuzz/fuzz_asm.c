/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON form of programs: a program that is assembled is shown, verified and replayed. */
#include "fuzz/kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_program *program = NULL;
  fsched_status status =
      fsched_program_assemble(f.ctx, "fuzz.json", (const char *)data, size, &program);
  if (fs_fuzz_met(&f, status, FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "asm")) {
    (void)fs_fuzz_program(&f, program);
  }
  fsched_program_destroy(program);
  fs_fuzz_end(&f);
  return 0;
}
