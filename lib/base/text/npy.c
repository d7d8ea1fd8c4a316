/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over the header's text.  Anything but a dictionary of exactly the three keys is refused,
 * with the byte at which it goes wrong.  Of Python's literals, the parser knows strings without
 * escapes, True and False, decimal numbers (with the L of old files) and tuples. */
#include "base/text/npy.h"

#include <stdarg.h>
#include <stdio.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { VERSION_AT = sizeof magic, LENGTH_AT = VERSION_AT + 2, SHORT_PREFIX = LENGTH_AT + 2 };

typedef struct header_cursor {
  const char *begin, *at, *end;
  char *why;
} header_cursor;

bool fs_npy_is(const void *bytes, size_t n) {
  return n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

const char *fs_npy_header_size(const void *bytes, size_t n, uint64_t *size) {
  const unsigned char *b = bytes;
  if (!fs_npy_is(bytes, n)) {
    return "it does not begin as a .npy file does";
  }
  if (n < SHORT_PREFIX) {
    return "it ends within its header";
  }
  unsigned version = b[VERSION_AT];
  if (version < 1 || version > 3 || b[VERSION_AT + 1] != 0) {
    return "its format is not 1.0, 2.0 or 3.0";
  }
  if (version == 1) {
    *size = SHORT_PREFIX + (uint64_t)b[LENGTH_AT] + (uint64_t)b[LENGTH_AT + 1] * 256;
    return NULL;
  }
  if (n < FS_NPY_PREFIX) {
    return "it ends within its header";
  }
  uint64_t length = 0;
  for (int i = 3; i >= 0; i--) {
    length = length * 256 + b[LENGTH_AT + i];
  }
  *size = FS_NPY_PREFIX + length;
  return length > FS_NPY_MOST_HEADER ? "its header is longer than 65536 bytes" : NULL;
}

/* ---- the dictionary */

static bool refuse_array(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_array(char *why, const char *format, ...) {
  assert(why != NULL && format != NULL);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(why, FS_NPY_WHY, format, args);
  va_end(args);
  return false;
}

static bool expected(const header_cursor *c, const char *what) {
  return refuse_array(c->why, "its header has no %s at byte %llu", what,
                      (unsigned long long)(c->at - c->begin));
}

static void skip_blanks(header_cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) {
    c->at++;
  }
}

static bool take_char(header_cursor *c, char wanted) {
  skip_blanks(c);
  if (c->at == c->end || *c->at != wanted) {
    return false;
  }
  c->at++;
  return true;
}

static bool take_word(header_cursor *c, const char *word) {
  size_t n = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) {
    return false;
  }
  c->at += n;
  return true;
}

static bool take_string(header_cursor *c, const char **text, size_t *n) {
  skip_blanks(c);
  char quote = c->at < c->end ? *c->at : '\0';
  if (quote != '\'' && quote != '"') {
    return expected(c, "text");
  }
  *text = ++c->at;
  while (c->at < c->end && *c->at != quote && *c->at >= 0x20 && *c->at < 0x7F && *c->at != '\\') {
    c->at++;
  }
  *n = (size_t)(c->at - *text);
  if (c->at == c->end || *c->at != quote) {
    return expected(c, "end of a text");
  }
  c->at++;
  return true;
}

static bool take_number(header_cursor *c, uint64_t *out) {
  skip_blanks(c);
  const char *first = c->at;
  uint64_t value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    unsigned digit = (unsigned)(*c->at - '0');
    if (value > ((uint64_t)INT64_MAX - digit) / 10) {
      return refuse_array(c->why, "a dimension is above 2^63-1");
    }
    value = value * 10 + digit;
  }
  if (c->at == first) {
    return expected(c, "number");
  }
  c->at += c->at < c->end && *c->at == 'L';
  *out = value;
  return true;
}

/* Accepts (), (3,), (3, 4), (3, 4,); but (3) is a number. */
static bool take_shape(header_cursor *c, fs_npy_type *type) {
  if (!take_char(c, '(')) {
    return expected(c, "tuple");
  }
  bool comma = true;
  while (!take_char(c, ')')) {
    assert(type->n_dimensions <= FS_NPY_DIMENSIONS);
    if (!comma) {
      return expected(c, "comma");
    }
    if (type->n_dimensions == FS_NPY_DIMENSIONS) {
      return refuse_array(c->why, "it has more than %d dimensions", FS_NPY_DIMENSIONS);
    }
    if (!take_number(c, &type->shape[type->n_dimensions++])) {
      return false;
    }
    comma = take_char(c, ',');
  }
  return type->n_dimensions != 1 || comma || expected(c, "comma in its tuple of one");
}

/* Can an item of this kind have this size? */
static bool size_fits(char kind, uint64_t size) {
  switch (kind) {
    case 'b':
      return size == 1;
    case 'i':
    case 'u':
      return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
      return size == 2 || size == 4 || size == 8 || size == 12 || size == 16;
    case 'c':
      return size == 8 || size == 16 || size == 24 || size == 32;
    case 'm':
    case 'M':
      return size == 8;
    default:
      return true; /* bytes, opaque items, characters of four bytes */
  }
}

/* Only the unit of times may follow the size: M8[ns]. */
static bool ends_well(char kind, const char *rest, size_t n) {
  return n == 0 || ((kind == 'm' || kind == 'M') && n > 2 && rest[0] == '[' && rest[n - 1] == ']');
}

bool fs_npy_dtype(const char *dtype, size_t n, fs_npy_type *type, char *why) {
  assert(why != NULL);
  enum { MOST_SIZE = 1 << 24 };
  char order = n > 0 ? dtype[0] : '\0', kind = n > 1 ? dtype[1] : '\0';
  uint64_t size = 0;
  size_t i = 2;
  for (; i < n && dtype[i] >= '0' && dtype[i] <= '9' && size <= MOST_SIZE; i++) {
    size = size * 10 + (unsigned)(dtype[i] - '0');
  }
  if (kind == 'O') {
    return refuse_array(why, "its items are Python objects, which are not supported");
  }
  if (n >= FS_NPY_TYPE || n < 3 || strchr("<>|=", order) == NULL || i == 2 || size > MOST_SIZE ||
      dtype[2] == '0' || !ends_well(kind, dtype + i, n - i)) {
    return refuse_array(why, "'%.*s' is no dtype", (int)fs_min(n, 40), dtype);
  }
  if (strchr("biufcmMSUV", kind) == NULL || !size_fits(kind, size)) {
    return refuse_array(why, "items of dtype '%.*s' cannot be used", (int)n, dtype);
  }
  bool ordered = size > 1 && strchr("SV", kind) == NULL;
  if (ordered && order == '>') {
    return refuse_array(why, "its items are big-endian ('%.*s'), which is not supported", (int)n,
                        dtype);
  }
  if (ordered && order != '<') {
    return refuse_array(why, "dtype '%.*s' does not say which byte comes first", (int)n, dtype);
  }
  memcpy(type->dtype, dtype, n);
  type->dtype[n] = '\0';
  type->item_size = kind == 'U' ? 4 * size : size;
  return true;
}

static bool take_dtype(header_cursor *c, fs_npy_type *type) {
  const char *text;
  size_t n;
  skip_blanks(c);
  if (c->at < c->end && *c->at == '[') {
    return refuse_array(c->why, "its items are structures, which are not supported");
  }
  return take_string(c, &text, &n) && fs_npy_dtype(text, n, type, c->why);
}

static bool take_order(header_cursor *c) {
  if (take_word(c, "True")) {
    return refuse_array(c->why,
                        "its items are in Fortran order, which is not supported: save it in C "
                        "order (numpy.ascontiguousarray)");
  }
  return take_word(c, "False") || expected(c, "True or False");
}

static bool take_value(header_cursor *c, unsigned key, fs_npy_type *type) {
  return key == 0 ? take_dtype(c, type) : key == 1 ? take_order(c) : take_shape(c, type);
}

static bool take_entry(header_cursor *c, fs_npy_type *type, unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  const char *name;
  size_t n;
  if (!take_string(c, &name, &n)) {
    return false;
  }
  for (unsigned k = 0; k < 3; k++) {
    if (strlen(keys[k]) != n || memcmp(keys[k], name, n) != 0) {
      continue;
    }
    if ((*seen >> k & 1) != 0) {
      return refuse_array(c->why, "its header has '%s' twice", keys[k]);
    }
    *seen |= 1u << k;
    return take_char(c, ':') ? take_value(c, k, type) : expected(c, "colon");
  }
  return refuse_array(c->why, "its header has a key '%.*s'", (int)fs_min(n, 40), name);
}

static bool take_dictionary(header_cursor *c, fs_npy_type *type) {
  unsigned seen = 0;
  if (!take_char(c, '{')) {
    return expected(c, "dictionary");
  }
  for (bool comma = true; !take_char(c, '}'); comma = take_char(c, ',')) {
    if (!comma) {
      return expected(c, "comma");
    }
    if (!take_entry(c, type, &seen)) {
      return false;
    }
  }
  if (seen != 7) {
    return refuse_array(c->why, "its header has no '%s'",
                        (seen & 1) == 0   ? "descr"
                        : (seen & 2) == 0 ? "fortran_order"
                                          : "shape");
  }
  skip_blanks(c);
  return (c->at == c->end && c->end[-1] == '\n') || expected(c, "end, a line feed,");
}

bool fs_npy_bytes(const fs_npy_type *type, uint64_t *size) {
  assert(type->n_dimensions <= FS_NPY_DIMENSIONS);
  uint64_t total = type->item_size;
  for (uint32_t d = 0; d < type->n_dimensions; d++) {
    if (type->shape[d] == 0) {
      *size = 0;
      return true;
    }
  }
  for (uint32_t d = 0; d < type->n_dimensions; d++) {
    if (total > ((uint64_t)1 << 62) / type->shape[d]) {
      return false;
    }
    total *= type->shape[d];
  }
  *size = total;
  return true;
}

bool fs_npy_parse(const void *bytes, size_t n, fs_npy *out, char *why) {
  assert(why != NULL);
  *out = (fs_npy){0};
  const char *wrong = fs_npy_header_size(bytes, n, &out->header_size);
  if (wrong != NULL) {
    return refuse_array(why, "%s", wrong);
  }
  if (out->header_size > n) {
    return refuse_array(why, "it ends within its header");
  }
  const char *begin = bytes;
  size_t prefix = begin[VERSION_AT] == 1 ? SHORT_PREFIX : FS_NPY_PREFIX;
  header_cursor c = {begin, begin + prefix, begin + out->header_size, why};
  if (!take_dictionary(&c, &out->type)) {
    return false;
  }
  return fs_npy_bytes(&out->type, &out->size) || refuse_array(why, "it has more than 2^62 bytes");
}

/* ---- writing */

void fs_npy_shape_text(const fs_npy_type *type, char *text, size_t size) {
  assert(type->n_dimensions <= FS_NPY_DIMENSIONS && size > 0);
  size_t used = (size_t)snprintf(text, size, "(");
  for (uint32_t d = 0; d < type->n_dimensions && used < size; d++) {
    used += (size_t)snprintf(text + used, size - used, "%s%llu", d == 0 ? "" : ", ",
                             (unsigned long long)type->shape[d]);
  }
  if (used < size) {
    (void)snprintf(text + used, size - used, type->n_dimensions == 1 ? ",)" : ")");
  }
}

size_t fs_npy_header(const fs_npy_type *type, char out[FS_NPY_WRITTEN]) {
  assert(type->n_dimensions <= FS_NPY_DIMENSIONS);
  enum { ALIGN = 64, MOST_DIGITS = 20, AROUND = 80 };
  _Static_assert(
      FS_NPY_DIMENSIONS * (MOST_DIGITS + 2) + FS_NPY_TYPE + AROUND + ALIGN <= FS_NPY_WRITTEN,
      "any header fits");
  char shape[FS_NPY_WRITTEN];
  fs_npy_shape_text(type, shape, FS_NPY_DIMENSIONS * (MOST_DIGITS + 2) + 3);
  int n = snprintf(out + SHORT_PREFIX, FS_NPY_WRITTEN - SHORT_PREFIX,
                   "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type->dtype, shape);
  size_t used = SHORT_PREFIX + (size_t)n;
  size_t size = (size_t)fs_align_up(used + 1, ALIGN);
  memset(out + used, ' ', size - used);
  out[size - 1] = '\n';
  memcpy(out, magic, sizeof magic);
  out[VERSION_AT] = 1;
  out[VERSION_AT + 1] = 0;
  out[LENGTH_AT] = (char)((size - SHORT_PREFIX) & 0xFF);
  out[LENGTH_AT + 1] = (char)((size - SHORT_PREFIX) >> 8);
  return size;
}
