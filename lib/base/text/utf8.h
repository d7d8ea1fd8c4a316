/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FS_UTF8_H
#define FS_UTF8_H

#include "base/base.h"

/* Is the text UTF-8 as in RFC 3629: the shortest form, no surrogates, up to U+10FFFF? */
bool fs_utf8_valid(const char *text, size_t n);
/* Drops the bytes that are no part of a character, as at the end of a text that was cut.  Requires
 * a text, not NULL. */
void fs_utf8_repair(char *text);

#endif
