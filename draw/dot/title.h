/* SPDX-License-Identifier: Apache-2.0 */
/* The label of a whole picture, and texts that it shares with labels of nodes. */
#ifndef FS_DOT_TITLE_H
#define FS_DOT_TITLE_H

#include "draw/dot/picture.h"

/* Writes the label, as an escString. */
void fs_dot_put_title(const fs_picture *p, fs_text *t);
/* Writes " us", or nothing if there is no unit. */
void fs_dot_put_unit(const fs_picture *p, fs_text *t);
/* Writes "12 ops, 1 copy". */
void fs_dot_put_counts(fs_text *t, uint32_t ops, uint32_t copies);

#endif
