/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FS_UTF8_H
#define FS_UTF8_H

#include "base/base.h"

/* Is the text UTF-8 as in RFC 3629: the shortest form, no surrogates, up to U+10FFFF? */
bool fs_utf8_valid(const char *text, size_t n);

#endif
