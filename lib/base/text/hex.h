/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a text of hexadecimal digits, two each, without anything between them. */
#ifndef FS_HEX_H
#define FS_HEX_H

#include "base/base.h"

/* Whether the text is of whole bytes, `most` at most, in digits 0 to 9 and a to f; with `any_case`
 * A to F will do, too. */
bool fs_hex_valid(const char *text, size_t most, bool any_case);
/* The number of bytes.  Requires a valid text. */
size_t fs_hex_bytes(const char *text);
/* Writes the bytes.  Requires a valid text, and room for all of its bytes. */
void fs_hex_decode(const char *text, uint8_t *bytes);
/* Writes 2 * n digits in lower case, and the zero byte behind them. */
void fs_hex_encode(const uint8_t *bytes, size_t n, char *text);

#endif
