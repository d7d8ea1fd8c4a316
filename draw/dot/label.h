/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in DOT: names and labels as strings that Graphviz shows as they are. */
#ifndef FS_DOT_LABEL_H
#define FS_DOT_LABEL_H

#include "draw/dot/picture.h"

/* Adds a text as an escString: control characters visible, backslashes and ampersands escaped.
 * Quotes are the writer's business.  O(length). */
void fs_dot_escape(fs_text *t, const char *s);

/* Shortens names that are longer than 24 characters in the middle, at characters of UTF-8.  Names
 * that would then look alike keep more of their ends, in the end all.  `name` and `out` hold n
 * texts; what is short stays the same pointer.  Requires n texts in `name`, and room for them in
 * `out`.  Expected O(length).  Errors: FSCHED_SYSTEM. */
fs_status fs_dot_shorten(fs_arena *arena, const char *const *name, const char **out,
                         uint32_t n) FS_MUST_USE;

#endif
