/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/utf8.h"

#include <string.h>

/* Length of the UTF-8 sequence at p (n bytes left), 0 if malformed (RFC 3629: shortest form, no
 * surrogates, up to U+10FFFF). */
static size_t utf8_sequence(const unsigned char *p, size_t n) {
  size_t length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
  if (length == 0 || length > n || p[0] > 0xF4) {
    return 0;
  }
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xC0) != 0x80) {
      return 0;
    }
  }
  bool too_long = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
  bool too_high = (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF4 && p[1] > 0x8F);
  return too_long || too_high ? 0 : length;
}

bool fs_utf8_valid(const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  for (size_t i = 0; i < n;) {
    size_t length = p[i] < 0x80 ? 1 : utf8_sequence(p + i, n - i);
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

void fs_utf8_repair(char *text) {
  assert(text != NULL);
  unsigned char *p = (unsigned char *)text;
  size_t n = strlen(text), kept = 0;
  for (size_t i = 0; i < n;) {
    size_t length = utf8_sequence(p + i, n - i);
    memmove(p + kept, p + i, length);
    kept += length;
    i += length == 0 ? 1 : length;
  }
  text[kept] = '\0';
}
