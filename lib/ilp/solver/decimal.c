/* SPDX-License-Identifier: Apache-2.0 */
/* The digits without leading zeros are taken as 0.d1 d2 d3 ... * 10^point.  The first `point` of
 * them are the integer part, and the next six are the millionths.  Of the further digits it matters
 * only whether all are 0. */
#include "ilp/solver/decimal.h"

enum { POINT_MOST = 1 << 20, DIGITS_MOST = 19, MILLION = 1000000 };

typedef struct scan {
  const char *at, *end;
} scan;

static bool is_digit(const scan *s) { return s->at < s->end && *s->at >= '0' && *s->at <= '9'; }

static bool take_letter(scan *s, char lower, char upper) {
  bool there = s->at < s->end && (*s->at == lower || *s->at == upper);
  s->at += there;
  return there;
}

static bool take_word(scan *s, const char *lower, const char *upper) {
  scan t = *s;
  while (*lower != '\0' && take_letter(&t, *lower, *upper)) {
    lower++;
    upper++;
  }
  if (*lower != '\0') {
    return false;
  }
  *s = t;
  return true;
}

typedef struct digits {
  uint64_t whole; /* integer part, as far as it has at most DIGITS_MOST digits */
  uint32_t millionths;
  bool rest; /* some digit beyond the millionths is not 0 */
  bool huge;
} digits;

/* Reads the digits, and at most one '.', from `first` to `last`; the first digit is not 0. */
static digits read_digits(const char *first, const char *last, int64_t point) {
  digits d = {0};
  int64_t place = point; /* digits left before the '.' */
  d.huge = point > DIGITS_MOST;
  uint32_t unit = MILLION / 10;
  for (int64_t zeros = point; zeros < 0 && unit > 0; zeros++) {
    unit /= 10;
  }
  for (const char *c = first; c < last; c++) {
    uint32_t digit = (uint32_t)(*c - '0');
    if (*c == '.') {
      continue;
    }
    if (place > 0) {
      d.whole = d.huge ? 0 : d.whole * 10 + digit;
      place--;
    } else {
      d.millionths += digit * unit;
      d.rest |= unit == 0 && digit != 0;
      unit /= 10;
    }
  }
  for (; place > 0 && !d.huge; place--) {
    d.whole *= 10;
  }
  d.huge |= d.whole > (uint64_t)FS_DECIMAL_MOST;
  return d;
}

/* Reads the exponent, limited to values beyond which it makes no difference. */
static bool take_exponent(scan *s, int64_t *exponent) {
  *exponent = 0;
  if (!take_letter(s, 'e', 'E')) {
    return true;
  }
  bool negative = take_letter(s, '-', '-');
  if (!negative) {
    (void)take_letter(s, '+', '+');
  }
  bool any = is_digit(s);
  for (; is_digit(s); s->at++) {
    *exponent = *exponent < POINT_MOST ? *exponent * 10 + (*s->at - '0') : *exponent;
  }
  *exponent = negative ? -*exponent : *exponent;
  return any;
}

static void set_huge(fs_decimal *n) {
  n->kind = FS_DECIMAL_HUGE;
  n->nearest = n->ceiling = n->negative ? -FS_DECIMAL_MOST : FS_DECIMAL_MOST;
}

static void set_finite(fs_decimal *n, const digits *d) {
  bool near_low = d->millionths == 0 || (d->millionths == 1 && !d->rest);
  bool near_high = d->millionths == MILLION - 1;
  bool up = d->millionths >= MILLION / 2; /* rounds away from 0 */
  int64_t low = (int64_t)d->whole;
  n->kind = FS_DECIMAL_FINITE;
  n->whole = near_low || near_high;
  n->nearest = n->negative ? -(low + up) : low + up;
  n->ceiling = n->negative ? -(near_high ? low + 1 : low) : near_low ? low : low + 1;
}

/* Reads digits, a '.', digits and an exponent; there must be at least one digit. */
static bool take_number(scan *s, fs_decimal *n) {
  const char *first = NULL, *last = s->at; /* `first`: the first digit that is not 0 */
  int64_t point = 0, exponent;
  bool any = false, dot = false;
  for (; is_digit(s) || (!dot && s->at < s->end && *s->at == '.'); s->at++) {
    bool is_dot = *s->at == '.';
    dot |= is_dot;
    any |= !is_dot;
    if (first == NULL && !is_dot && *s->at != '0') {
      first = s->at;
    }
    point += is_dot ? 0 : !dot && first != NULL ? 1 : dot && first == NULL ? -1 : 0;
    last = s->at + 1;
  }
  if (!any || !take_exponent(s, &exponent)) {
    return false;
  }
  digits zero = {0};
  digits d = first == NULL ? zero : read_digits(first, last, point + exponent);
  if (d.huge) {
    set_huge(n);
  } else {
    set_finite(n, &d);
  }
  return true;
}

fs_decimal fs_decimal_parse(const char *text, size_t n) {
  assert(text != NULL || n == 0);
  scan s = {text, text + n};
  fs_decimal out = {.kind = FS_DECIMAL_NONE};
  out.negative = take_letter(&s, '-', '-');
  if (!out.negative) {
    (void)take_letter(&s, '+', '+');
  }
  bool number = false;
  if (take_word(&s, "nan", "NAN")) {
    out.kind = FS_DECIMAL_NAN;
    number = true;
  } else if (take_word(&s, "inf", "INF")) {
    (void)take_word(&s, "inity", "INITY");
    set_huge(&out);
    number = true;
  } else {
    number = take_number(&s, &out);
  }
  if (!number || s.at != s.end) {
    out = (fs_decimal){.kind = FS_DECIMAL_NONE};
  }
  return out;
}
