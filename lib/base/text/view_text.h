/* SPDX-License-Identifier: Apache-2.0 */
/* Strided views for readers: "16x8 of 4 by 64x4". */
#ifndef FS_VIEW_TEXT_H
#define FS_VIEW_TEXT_H

#include "base/mem.h"

/* Writes the points in each dimension, the bytes at each unless that is one, and the bytes from one
 * point to the next.  Requires n sizes and n strides. */
void fs_text_view(fs_text *t, const uint64_t *shape, const uint64_t *stride, uint32_t n,
                  uint64_t element);

#endif
