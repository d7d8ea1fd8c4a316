/* SPDX-License-Identifier: Apache-2.0 */
/* The label of a whole picture, and words that labels of nodes share with it. */
#ifndef FS_DOT_TITLE_H
#define FS_DOT_TITLE_H

#include "draw/dot/picture.h"

/* As an escString. */
void fs_dot_put_title(const fs_picture *p, fs_text *t);
/* " us"; nothing if there is no unit. */
void fs_dot_put_unit(const fs_picture *p, fs_text *t);
/* "12 ops, 1 copy" */
void fs_dot_put_counts(fs_text *t, uint32_t ops, uint32_t copies);

#endif
