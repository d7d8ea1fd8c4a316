/* SPDX-License-Identifier: Apache-2.0 */
/* The effort of a schedule file, which is wanted before its graph is read, without which the file
 * cannot be.  So its bytes are walked, from string to string, up to the key; files that fsched
 * writes have it in their first lines. */
#include "base/base.h"
#include "fsched/compile.h"

/* The end of the string that begins at a quote: behind its other quote, or that of the text. */
static size_t string_end(const char *text, size_t length, size_t at) {
  for (at++; at < length && text[at] != '"'; at++) {
    at += text[at] == '\\';
  }
  return at < length ? at + 1 : length;
}

static size_t skip_space(const char *text, size_t length, size_t at) {
  while (at < length && text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL) {
    at++;
  }
  return at;
}

/* Where the value begins of the key that ends at `at`; `length`: it is no key. */
static size_t value_of(const char *text, size_t length, size_t at) {
  at = skip_space(text, length, at);
  return at < length && text[at] == ':' ? skip_space(text, length, at + 1) : length;
}

static uint32_t read_effort(const char *text, size_t length, size_t at) {
  bool digit = at < length && text[at] >= '0' && text[at] <= '9';
  bool more = at + 1 < length && text[at + 1] >= '0' && text[at + 1] <= '9';
  return digit && !more ? FSCHED_EFFORT(text[at] - '0') : 0;
}

uint32_t fsched_schedule_effort(const char *text, size_t length) {
  static const char key[] = "\"effort\"";
  uint32_t depth = 0;
  for (size_t at = 0; at < length; at++) {
    char c = text[at];
    if (c == '"') {
      size_t end = string_end(text, length, at);
      bool same = end - at == sizeof key - 1 && memcmp(text + at, key, end - at) == 0;
      size_t value = depth == 1 && same ? value_of(text, length, end) : length;
      if (value < length) {
        return read_effort(text, length, value);
      }
      at = end - 1;
    } else {
      depth += c == '{' || c == '[';
      depth -= c == '}' || c == ']';
    }
  }
  return 0;
}
