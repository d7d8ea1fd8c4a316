/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/svg/text.h"

#include "base/text/utf8.h"

void fs_svg_number(fs_text *t, fs_cent value) {
  if (value < 0) {
    fs_text_puts(t, "-");
    value = -value;
  }
  fs_text_u64(t, (uint64_t)(value / FS_PX));
  uint32_t rest = (uint32_t)(value % FS_PX);
  if (rest != 0) {
    char digits[3] = {'.', (char)('0' + rest / 10), (char)('0' + rest % 10)};
    fs_text_add(t, digits, rest % 10 == 0 ? 2 : 3);
  }
}

void fs_svg_attribute(fs_text *t, const char *name, fs_cent value) {
  fs_text_puts(t, " ");
  fs_text_puts(t, name);
  fs_text_puts(t, "=\"");
  fs_svg_number(t, value);
  fs_text_puts(t, "\"");
}

/* The number of bytes of the character at p, of which n are left; 0 if it is malformed. */
static size_t character(const char *p, size_t n) {
  unsigned char c = (unsigned char)*p;
  size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  return length <= n && fs_utf8_valid(p, length) ? length : 0;
}

/* The number of bytes to step over; malformed bytes count one by one. */
static size_t step_over(const char *p, size_t n) {
  size_t length = character(p, n);
  return length == 0 ? 1 : length;
}

static bool allowed(const char *p, size_t length) {
  unsigned char c = (unsigned char)*p;
  if (length == 1) {
    return c >= 0x20 && c != 0x7F;
  }
  bool c1 = c == 0xC2 && (unsigned char)p[1] < 0xA0;
  bool noncharacter = c == 0xEF && (unsigned char)p[1] == 0xBF && (unsigned char)p[2] >= 0xBE;
  return length != 0 && !c1 && !noncharacter;
}

/* Appends the first `n` bytes of a name as XML text or attribute, with markup escaped.  Characters
 * that XML does not allow (control characters, U+FFFE, U+FFFF, malformed UTF-8) become U+FFFD. */
static void put_escaped(fs_text *t, const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t length = character(s + i, n - i);
    if (!allowed(s + i, length)) {
      fs_text_puts(t, "\xEF\xBF\xBD");
    } else if (s[i] == '&') {
      fs_text_puts(t, "&amp;");
    } else if (s[i] == '<') {
      fs_text_puts(t, "&lt;");
    } else if (s[i] == '>') {
      fs_text_puts(t, "&gt;");
    } else if (s[i] == '"') {
      fs_text_puts(t, "&quot;");
    } else {
      fs_text_add(t, s + i, length);
    }
    i += length == 0 ? 1 : length;
  }
}

#define ELLIPSIS "\xE2\x80\xA6"

void fs_svg_fitted(fs_text *t, const char *s, fs_svg_part part) {
  put_escaped(t, s, part.head);
  fs_text_puts(t, s[part.head] == '\0' ? "" : ELLIPSIS);
  put_escaped(t, s + part.tail, strlen(s + part.tail));
}

void fs_svg_name(fs_text *t, const char *s) {
  size_t n = strlen(s), cut = 0;
  for (uint32_t i = 0; i < FS_SVG_NAME_MOST && cut < n; i++) {
    cut += step_over(s + cut, n - cut);
  }
  fs_svg_fitted(t, s, (fs_svg_part){cut, n});
}

/* Widths in hundredths of an em, for ASCII from the space on. */
static const uint8_t advance[95] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
};

/* The width in hundredths of an em.  Scripts with wide characters begin at U+1100, outside of
 * two-byte UTF-8. */
static uint32_t em(const char *p, size_t length) {
  unsigned char c = (unsigned char)*p;
  if (length == 1) {
    return c >= 0x20 && c < 0x7F ? advance[c - 0x20] : 100;
  }
  return length == 2 ? 80 : 105;
}

fs_cent fs_svg_width(const char *s, size_t n, uint32_t size) {
  uint64_t width = 0;
  for (size_t i = 0; i < n && width * size < INT32_MAX / 2;) {
    size_t length = character(s + i, n - i);
    width += length == 0 ? 100 : em(s + i, length);
    i += length == 0 ? 1 : length;
  }
  return (fs_cent)fs_min(width * size, INT32_MAX / 2);
}

static bool is_mark(char c) { return c != '\0' && strchr("._-/: ", c) != NULL; }

/* Drops combining marks next to the ellipsis. */
static fs_svg_part without_marks(const char *s, fs_svg_part p) {
  while (p.head > 1 && is_mark(s[p.head - 1])) {
    p.head--;
  }
  while (is_mark(s[p.tail])) {
    p.tail++;
  }
  return p;
}

/* The number of bytes to step back over from `at` > 0; malformed bytes count one by one. */
static size_t step_back(const char *s, size_t at) {
  size_t length = 1;
  while (length < 4 && length < at && ((unsigned char)s[at - length] & 0xC0) == 0x80) {
    length++;
  }
  return character(s + at - length, length) == length ? length : 1;
}

/* Takes one character from the front, then one from the back, as long as they fit. */
fs_svg_part fs_svg_cut(const char *s, uint32_t size, fs_cent room) {
  size_t n = strlen(s);
  fs_svg_part p = {0, n};
  if (fs_svg_width(s, n, size) <= room) {
    return (fs_svg_part){n, n};
  }
  room -= (fs_cent)(100 * size); /* for the ellipsis */
  for (uint32_t i = 0;; i++) {
    bool front = i % 2 == 0;
    size_t length = front ? step_over(s + p.head, n - p.head) : step_back(s, p.tail);
    room -= fs_svg_width(front ? s + p.head : s + p.tail - length, length, size);
    if (room < 0) {
      return without_marks(s, p);
    }
    p.head += front ? length : 0;
    p.tail -= front ? 0 : length;
  }
}

fs_svg_part fs_svg_fit(const char *s, uint32_t size, fs_cent room) {
  size_t n = strlen(s);
  fs_svg_part p = fs_svg_cut(s, size, room);
  size_t shown = p.head + (n - p.tail);
  return p.head == n || (shown >= 4 && shown >= n / 2) ? p : (fs_svg_part){0, n};
}

void fs_svg_bytes(fs_text *t, uint64_t value) {
  static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  uint32_t unit = 0;
  while (value >> (10 * unit) >= 1024) {
    unit++;
  }
  fs_text_u64(t, value >> (10 * unit));
  if (unit > 0) { /* ten bits of the fraction are enough for two decimals */
    uint64_t rest = (value >> (10 * (unit - 1)) & 1023) * 100 / 1024;
    char digits[3] = {'.', (char)('0' + rest / 10), (char)('0' + rest % 10)};
    fs_text_add(t, digits, rest == 0 ? 0 : rest % 10 == 0 ? 2 : 3);
  }
  fs_text_puts(t, units[unit]);
}

fs_cent fs_svg_scale(uint64_t value, uint64_t span, fs_cent length) {
  if (value >= span) {
    return span == 0 ? 0 : length;
  }
  while (span >> 41 != 0) { /* 2^41 * 2^20 does not overflow */
    span >>= 1;
    value >>= 1;
  }
  return (fs_cent)(value * (uint64_t)length / span);
}

uint64_t fs_svg_step(uint64_t span, uint32_t most) {
  uint64_t least = fs_ceil_div(span, most), power = 1;
  while (least > 10 * power && power <= UINT64_MAX / 100) {
    power *= 10;
  }
  return least <= power       ? power
         : least <= 2 * power ? 2 * power
         : least <= 5 * power ? 5 * power
                              : 10 * power;
}

uint64_t fs_svg_binary_step(uint64_t span, uint32_t most) {
  uint64_t least = fs_ceil_div(span, most), power = 1;
  while (power < least && power < (uint64_t)1 << 62) {
    power *= 2;
  }
  return power;
}
