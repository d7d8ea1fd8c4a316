/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as messages show them. */
#ifndef FS_SIZE_TEXT_H
#define FS_SIZE_TEXT_H

#include <stdint.h>

enum { FS_SIZE_TEXT = 40 };

/* "393216 (384 KiB)": bytes, and from 1 KiB on the largest unit, to one decimal where it is not
 * whole.  Returns `text`. */
const char *fs_size_text(char text[FS_SIZE_TEXT], uint64_t bytes);

#endif
