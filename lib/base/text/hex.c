/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/hex.h"

static const char digits[] = "0123456789abcdef";

static unsigned value_of(char c) {
  return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

bool fs_hex_valid(const char *text, size_t most, bool any_case) {
  size_t n = strspn(text, any_case ? "0123456789abcdefABCDEF" : digits);
  return text[n] == '\0' && n % 2 == 0 && n / 2 <= most;
}

size_t fs_hex_bytes(const char *text) {
  assert(fs_hex_valid(text, SIZE_MAX, true));
  return strlen(text) / 2;
}

void fs_hex_decode(const char *text, uint8_t *bytes) {
  assert(fs_hex_valid(text, SIZE_MAX, true));
  for (; *text != '\0'; text += 2) {
    *bytes++ = (uint8_t)(value_of(text[0]) << 4 | value_of(text[1]));
  }
}

void fs_hex_encode(const uint8_t *bytes, size_t n, char *text) {
  for (size_t i = 0; i < n; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}
