/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as messages show them, and as users write them. */
#ifndef FS_SIZE_TEXT_H
#define FS_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { FS_SIZE_TEXT = 64 };

/* Writes "393216 (384 KiB)": the bytes, and from 1 KiB on also the size in the largest unit, with
 * one decimal where it is not whole.  Returns `text`. */
const char *fs_size_text(char text[FS_SIZE_TEXT], uint64_t bytes);

/* Is the text digits followed by KiB, MiB, GiB or TiB, as in "64KiB"? */
bool fs_size_has_unit(const char *text);
/* Parses such a text, or digits alone, without leading zeros.  False: the text has another form, or
 * the size exceeds `most`. */
bool fs_size_parse(const char *text, uint64_t most, uint64_t *bytes);

#endif
