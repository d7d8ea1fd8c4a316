/* SPDX-License-Identifier: Apache-2.0 */
/* Names in generated C. */
#ifndef FS_C_NAME_H
#define FS_C_NAME_H

#include "base/mem.h"

/* What is put after a name to make a symbol: net.c holds net_program. */
#define FS_C_SUFFIX "_program"

/* May a global object be called so in C and in C++?  Letters, digits and underscores of ASCII, no
 * underscore first and no two together (those are reserved), no keyword of either language, not
 * main, and nothing that <stddef.h> or <stdint.h> may define, such as what ends in _t or _MAX. */
bool fs_c_name_valid(const char *name);
/* `text` made part of an identifier, and `suffix`, which makes it valid: what is no letter or digit
 * becomes an underscore, several become one, and a digit does not come first.  In the arena; NULL:
 * no memory.  O(length). */
char *fs_c_name_make(fs_arena *arena, const char *text, size_t length, const char *suffix);

#endif
