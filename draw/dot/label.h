/* SPDX-License-Identifier: Apache-2.0 */
/* Writes names and labels as DOT strings that Graphviz shows unchanged. */
#ifndef FS_DOT_LABEL_H
#define FS_DOT_LABEL_H

#include "draw/dot/picture.h"

/* Adds a text as an escString: control characters made visible, backslashes and ampersands escaped.
 * Quotes are left to the writer of the string.  O(length). */
void fs_dot_escape(fs_text *t, const char *s);

/* Shortens names of more than 24 characters in the middle, between characters of UTF-8.  Names that
 * would then look alike keep more characters, and in the end all of them.  `name` and `out` hold n
 * texts; a short name stays the same pointer.  Requires n texts in `name`, and room for them in
 * `out`.  Expected O(length).  Errors: FSCHED_SYSTEM. */
fs_status fs_dot_shorten(fs_arena *arena, const char *const *name, const char **out,
                         uint32_t n) FS_MUST_USE;

#endif
