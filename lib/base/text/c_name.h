/* SPDX-License-Identifier: Apache-2.0 */
/* Names in generated C. */
#ifndef FS_C_NAME_H
#define FS_C_NAME_H

#include "base/mem.h"

/* The suffix that makes a symbol of a name: net.c holds net_program. */
#define FS_C_SUFFIX "_program"

/* Is this a valid name for a global object in C and in C++?  Valid are ASCII letters, digits and
 * underscores, without an underscore first or two together (such names are reserved).  Keywords of
 * either language, main, and names that <stddef.h> or <stdint.h> may define, such as those that end
 * in _t or _MAX, are not valid. */
bool fs_c_name_valid(const char *name);
/* Makes `text` part of an identifier and appends `suffix`, which makes it valid: each run of
 * characters other than letters and digits becomes one underscore, or nothing at either end;
 * "graph_" comes before a digit that would be first, and "graph" stands for a text of which nothing
 * is left.  The result is in the arena; NULL when memory runs out.  O(length). */
char *fs_c_name_make(fs_arena *arena, const char *text, size_t length, const char *suffix);

#endif
