/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as messages show them, and as users write them. */
#ifndef FS_SIZE_TEXT_H
#define FS_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { FS_SIZE_TEXT = 64 };

/* "393216 (384 KiB)": bytes, and from 1 KiB on the largest unit, to one decimal where it is not
 * whole.  Returns `text`. */
const char *fs_size_text(char text[FS_SIZE_TEXT], uint64_t bytes);

/* Digits and KiB, MiB, GiB or TiB, as "64KiB"? */
bool fs_size_has_unit(const char *text);
/* The same, or digits alone; without zeros in front.  False: it is not, or more than `most`. */
bool fs_size_parse(const char *text, uint64_t most, uint64_t *bytes);

#endif
