/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/columns.h"

void fs_text_visible(fs_text *t, const char *s) {
  for (const char *run = s;; s++) {
    unsigned char c = (unsigned char)s[0], next = c == 0 ? 0 : (unsigned char)s[1];
    bool second_set = c == 0xC2 && next >= 0x80 && next < 0xA0; /* U+0080 to U+009F */
    if (c >= 0x20 && c != 0x7F && !second_set) {
      continue;
    }
    fs_text_add(t, run, (size_t)(s - run));
    if (c == '\0') {
      return;
    }
    if (second_set) {
      fs_text_printf(t, "\\u%04x", next);
      s++;
    } else {
      fs_text_printf(t, "\\x%02x", c);
    }
    run = s + 1;
  }
}

void fs_columns_init(fs_columns *c, fsched_context *ctx, uint32_t n) {
  assert(n > 0 && n <= FS_COLUMNS_MOST);
  *c = (fs_columns){.n = n};
  fs_text_init(&c->text, ctx);
}

void fs_columns_cell(fs_columns *c, fs_side side) {
  assert(c->n > 0);
  fsched_context *ctx = c->text.ctx;
  if (fs_vec_push(ctx, &c->end, c->text.n) != FSCHED_OK ||
      fs_vec_push(ctx, &c->side, (uint8_t)side) != FSCHED_OK) {
    c->text.failed = true;
  }
}

/* The number of UTF-8 characters: bytes that do not continue one. */
static size_t width(const char *s, size_t n) {
  size_t characters = 0;
  for (size_t i = 0; i < n; i++) {
    characters += ((unsigned char)s[i] & 0xC0) != 0x80;
  }
  return characters;
}

static void spaces(fs_text *t, size_t n) {
  static const char blank[] = "                                ";
  for (; n > sizeof blank - 1; n -= sizeof blank - 1) {
    fs_text_add(t, blank, sizeof blank - 1);
  }
  fs_text_add(t, blank, n);
}

/* The text has no block when all cells are empty. */
static const char *text_at(const fs_columns *c, size_t at) {
  return c->text.n == 0 ? "" : c->text.at + at;
}

static void write_row(const fs_columns *c, size_t first, const size_t *widths, fs_text *out) {
  size_t pending = 0; /* spaces that are written only if something follows */
  for (uint32_t k = 0; k < c->n; k++) {
    size_t begin = first + k == 0 ? 0 : c->end.at[first + k - 1];
    size_t n = c->end.at[first + k] - begin;
    size_t pad = widths[k] - width(text_at(c, begin), n);
    assert(widths[k] >= width(text_at(c, begin), n));
    bool right = c->side.at[first + k] == FS_RIGHT;
    if (n != 0) {
      spaces(out, pending + (right ? pad : 0));
      fs_text_add(out, text_at(c, begin), n);
      pending = 0;
    }
    pending += (n != 0 && right ? 0 : pad) + 2;
  }
  fs_text_add(out, "\n", 1);
}

fs_status fs_columns_finish(fs_columns *c, const char *indent, fs_text *out) {
  assert(c->n > 0 && out != &c->text);
  fsched_context *ctx = c->text.ctx;
  bool failed = c->text.failed;
  size_t widths[FS_COLUMNS_MOST] = {0};
  assert(failed || c->end.n % c->n == 0);
  for (size_t i = 0; !failed && i < c->end.n; i++) {
    size_t begin = i == 0 ? 0 : c->end.at[i - 1];
    size_t w = width(text_at(c, begin), c->end.at[i] - begin);
    widths[i % c->n] = w > widths[i % c->n] ? w : widths[i % c->n];
  }
  for (size_t i = 0; !failed && i < c->end.n; i += c->n) {
    fs_text_puts(out, indent);
    write_row(c, i, widths, out);
  }
  fs_text_drop(&c->text);
  fs_vec_free(ctx, &c->end);
  fs_vec_free(ctx, &c->side);
  out->failed = out->failed || failed;
  return out->failed ? FSCHED_SYSTEM : FSCHED_OK;
}
