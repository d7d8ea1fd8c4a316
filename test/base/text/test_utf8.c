/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: what is no part of a character is dropped, and all else stays. */
#include <string.h>

#include "base/text/utf8.h"

#include "kit/context.h"

START_TEST(cut_texts_are_repaired)
{
  static const struct {
    const char *text, *want;
  } rows[] = {{"", ""},
              {"plain", "plain"},
              {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
              {"a\xC3", "a"},
              {"a\xE2\x82", "a"},
              {"'\xF0\x9F\x98' and 'b'", "'' and 'b'"},
              {"\x82\xAC!", "!"},
              {"\xC0\xAF\xED\xA0\x80\xF5", ""}}; /* too long, a surrogate, too high */
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[64];
    strcpy(text, rows[i].text);
    fs_utf8_repair(text);
    ck_assert_str_eq(text, rows[i].want);
    ck_assert(fs_utf8_valid(text, strlen(text)));
  }
}
END_TEST

/* However a text is cut, the whole characters before the cut are what stays. */
START_TEST(every_cut)
{
  static const char text[] = "x\xC3\xA4y\xE2\x82\xACz\xF0\x9F\x98\x80w";
  static const size_t whole[] = {0, 1, 1, 3, 4, 4, 4, 7, 8, 8, 8, 8, 12, 13};
  for (size_t n = 0; n < sizeof text; n++) {
    char part[sizeof text];
    memcpy(part, text, n);
    part[n] = '\0';
    fs_utf8_repair(part);
    ck_assert_uint_eq(strlen(part), whole[n]);
    ck_assert_int_eq(strncmp(part, text, whole[n]), 0);
  }
}
END_TEST

FS_SUITE(utf8, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, cut_texts_are_repaired, every_cut);
}
