/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/picture.h"

#include <stdlib.h>

#include "base/text/utf8.h"

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || (c >= '0' && c <= '9');
}

/* Skips an entity; p is at its "&". */
static const char *skip_entity(const char *p) {
  static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  for (size_t i = 0; i < 4; i++) {
    if (strncmp(p, known[i], strlen(known[i])) == 0) {
      return p + strlen(known[i]);
    }
  }
  ck_abort_msg("unknown entity: %.20s", p);
  return p;
}

/* Reads "12.5" as hundredths. */
static long hundredths(const char *p) {
  long whole = 0, part = 0, unit = 10;
  for (; *p >= '0' && *p <= '9'; p++) {
    whole = 10 * whole + (*p - '0');
  }
  for (p += *p == '.'; *p >= '0' && *p <= '9'; p++, unit /= 10) {
    part += unit * (*p - '0');
  }
  quick_assert_msg(*p == '"', "not a number of pixels: %.20s", p);
  return 100 * whole + part;
}

static void take_attribute(shape *s, const char *name, size_t n, const char *value, size_t length) {
  static const char *const lengths[] = {"x", "y", "width", "height"};
  long *const members[] = {&s->x, &s->y, &s->width, &s->height};
  for (size_t i = 0; i < 4; i++) {
    if (n == strlen(lengths[i]) && strncmp(name, lengths[i], n) == 0 &&
        memchr(value, '%', length) == NULL) {
      *members[i] = hundredths(value);
    }
  }
  if (n == 5 && strncmp(name, "class", 5) == 0) {
    quick_assert(length < sizeof s->classes);
    memcpy(s->classes, value, length);
    s->classes[length] = '\0';
  }
}

/* Reads attributes from the first character after "<name"; returns what follows the tag. */
static const char *read_attributes(const char *p, shape *s, bool *empty) {
  while (*p == ' ') {
    const char *name = ++p;
    while (is_name(*p)) {
      p++;
    }
    quick_assert_msg(p > name && p[0] == '=' && p[1] == '"', "not an attribute: %.20s", name);
    const char *value = p + 2;
    for (p = value; *p != '"';) {
      quick_assert_msg(*p != '<' && *p != '\0', "an attribute does not end: %.20s", name);
      p = *p == '&' ? skip_entity(p) : p + 1;
    }
    take_attribute(s, name, (size_t)(value - 2 - name), value, (size_t)(p - value));
    p++;
  }
  *empty = *p == '/';
  p += *empty;
  quick_assert_msg(*p == '>', "a tag does not end: %.20s", p);
  return p + 1;
}

static void check_characters(const picture *v) {
  quick_assert(fs_utf8_valid(v->text, v->n));
  for (size_t i = 0; i < v->n; i++) {
    quick_assert_msg((unsigned char)v->text[i] >= 0x20 || v->text[i] == '\n', "control character");
  }
}

/* Reads everything, with a stack of names for the open elements. */
void read_picture(picture *v) {
  static const char prolog[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const char *open[16], *p = v->text + strlen(prolog);
  size_t length[16], depth = 0, cap = 0;
  check_characters(v);
  ck_assert_int_eq(strncmp(v->text, prolog, strlen(prolog)), 0);
  while (*p != '\0') {
    if (*p == '&') {
      p = skip_entity(p);
    } else if (*p != '<') {
      quick_assert_msg(*p != '>' && (depth > 0 || *p == '\n'), "text outside: %.20s", p);
      p++;
    } else if (p[1] == '/') {
      quick_assert(depth > 0);
      depth--;
      quick_assert_msg(
          strncmp(p + 2, open[depth], length[depth]) == 0 && p[2 + length[depth]] == '>',
          "the end of another element: %.20s", p);
      p += 3 + length[depth];
    } else {
      const char *name = p + 1, *end = name;
      while (is_name(*end)) {
        end++;
      }
      shape s = {{0}, 0, 0, 0, 0, {0}};
      bool empty;
      quick_assert(depth > 0 || p == v->text + strlen(prolog)); /* there is one root */
      p = read_attributes(end, &s, &empty);
      if (end - name == 3 && strncmp(name, "svg", 3) == 0) {
        v->width = s.width;
        v->height = s.height;
      }
      if (end - name == 4 && strncmp(name, "rect", 4) == 0) {
        if (v->n_rects == cap) {
          cap = 2 * cap + 64;
          v->rect = realloc(v->rect, cap * sizeof *v->rect);
        }
        v->rect[v->n_rects++] = s;
      }
      if (!empty) {
        quick_assert(depth < 16);
        open[depth] = name;
        length[depth++] = (size_t)(end - name);
        if (depth >= 2 && strncmp(open[depth - 2], "rect", 4) == 0) {
          size_t n = strcspn(p, "<");
          quick_assert(n < sizeof s.title);
          memcpy(v->rect[v->n_rects - 1].title, p, n);
          v->rect[v->n_rects - 1].title[n] = '\0';
        }
      }
    }
  }
  ck_assert_uint_eq(depth, 0);
}
