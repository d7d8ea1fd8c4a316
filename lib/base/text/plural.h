/* SPDX-License-Identifier: Apache-2.0 */
/* Singular and plural forms: "1 op", "0 ops", "2 copies". */
#ifndef FS_PLURAL_H
#define FS_PLURAL_H

#include "base/mem.h"

static inline const char *fs_plural(uint64_t n, const char *one, const char *several) {
  return n == 1 ? one : several;
}
static inline const char *fs_plural_s(uint64_t n) { return fs_plural(n, "", "s"); }
static inline const char *fs_plural_ies(uint64_t n) { return fs_plural(n, "y", "ies"); }
/* Adds the number, a space, and the noun with its "s". */
static inline void fs_text_count(fs_text *t, uint64_t n, const char *noun) {
  fs_text_u64(t, n);
  fs_text_puts(t, " ");
  fs_text_puts(t, noun);
  fs_text_puts(t, fs_plural_s(n));
}

#endif
