/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the numbers and names of a picture.
 *
 * Lengths are integers, in hundredths of a pixel (fs_cent), so the output depends neither on the
 * locale nor on rounding.  Widths of texts are estimates that are rather too large: the advance
 * widths of DejaVu Sans, the widest of the usual sans-serif fonts, rounded up. */
#ifndef FS_SVG_TEXT_H
#define FS_SVG_TEXT_H

#include "base/mem.h"

typedef int32_t fs_cent; /* hundredths of a pixel */
enum { FS_PX = 100 };

/* Writes "12", "12.5", "12.25". */
void fs_svg_number(fs_text *t, fs_cent value);
/* Writes ` name="12.5"`. */
void fs_svg_attribute(fs_text *t, const char *name, fs_cent value);

/* Writes the whole name, or its first FS_SVG_NAME_MOST characters and an ellipsis. */
enum { FS_SVG_NAME_MOST = 120 };
void fs_svg_name(fs_text *t, const char *s);

/* The width of the first n bytes in a font of `size` pixels. */
fs_cent fs_svg_width(const char *s, size_t n, uint32_t size);
/* The visible part of a name: its first `head` bytes, an ellipsis, and its bytes from `tail` on.
 * If all of it is visible, both are its length; if nothing is, `head` is 0. */
typedef struct fs_svg_part {
  size_t head, tail;
} fs_svg_part;
/* As much of both ends of s (whole characters) as fits into `room`: both, since numbers tend to
 * stand at the end. */
fs_svg_part fs_svg_cut(const char *s, uint32_t size, fs_cent room);
/* The same, but nothing if the part that fits would hardly identify the name. */
fs_svg_part fs_svg_fit(const char *s, uint32_t size, fs_cent room);
/* Writes the part of s, escaped. */
void fs_svg_fitted(fs_text *t, const char *s, fs_svg_part part);

/* Writes "0 B", "10 B", "1.5 KiB", "2 MiB": up to two decimals, rounded down. */
void fs_svg_bytes(fs_text *t, uint64_t value);

/* length * value / span, with values above span taken as span: grows with value, is 0 at 0 and
 * `length` at span.  Does not overflow for any value and span, and length below 2^20. */
fs_cent fs_svg_scale(uint64_t value, uint64_t span, fs_cent length);
/* The least of 1, 2, 5, 10, 20, 50, ... that is at least span / most, for most > 0. */
uint64_t fs_svg_step(uint64_t span, uint32_t most);
/* The same with powers of two. */
uint64_t fs_svg_binary_step(uint64_t span, uint32_t most);

#endif
