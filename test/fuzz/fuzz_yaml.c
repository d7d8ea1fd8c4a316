/* SPDX-License-Identifier: Apache-2.0 */
/* Texts: what the quick reader of plain YAML takes, the reader of all YAML reads as the same nodes.
 */
#include "fuzz/kit.h"
#include "kit/two_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  two_readers found = two_readers_compare(f.ctx, (const char *)data, size);
  fs_fuzz_must(found != TWO_READERS_DIFFER, "two readers of a text do not agree");
  fs_fuzz_must(found != TWO_READERS_FAILED || f.short_of_memory, "a reader failed");
  fs_fuzz_must(found != TWO_READERS_LEFT || fsched_diag_count(f.ctx) == 0,
               "a reader that gives up says something");
  fs_fuzz_end(&f);
  return 0;
}
