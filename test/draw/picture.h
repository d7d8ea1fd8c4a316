/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a picture with a small XML reader, which insists on well-formedness. */
#ifndef FS_TEST_PICTURE_H
#define FS_TEST_PICTURE_H

#include <check.h>

#include "base/base.h"

/* For checks that run millions of times: ck_assert reports each success to the runner, which keeps
 * all reports and whose leak check looks through them after each test. */
#define quick_assert_msg(condition, ...) \
  do {                                   \
    if (!(condition)) {                  \
      ck_abort_msg(__VA_ARGS__);         \
    }                                    \
  } while (0)
#define quick_assert(condition) quick_assert_msg(condition, "%s", #condition)

/* A rectangle of a picture; lengths are in hundredths of a pixel. */
typedef struct shape {
  char classes[24];
  long x, y, width, height;
  char title[1000]; /* "" if it has none */
} shape;

typedef struct picture {
  char *text;
  size_t n;
  shape *rect;
  size_t n_rects;
  long width, height;
} picture;

/* Finds the rectangles of v->text, in an array for free().  Fails the test unless the text is
 * well-formed: one root, elements and attributes that end, known entities, UTF-8 without control
 * characters. */
void read_picture(picture *v);

#endif
