/* SPDX-License-Identifier: Apache-2.0 */
/* The caret stands under the right character whatever the line holds: tabs before it are repeated,
 * a character of several bytes is one column, and of a very long line only the part around the
 * token is shown. */
#include "diag_format.h"

static const char *const severity_name[] = {"error", "warning", "note"};

enum { SHOWN_BEFORE = 80, SHOWN_LINE = 160 };

#define COLOR_BOLD "\033[1m"
#define COLOR_CARET "\033[1;32m"
#define COLOR_OFF "\033[0m"

static const char *severity_color(fsched_severity s) {
  static const char *const color[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
  return color[s];
}

static void put_color(fs_text *out, bool color, const char *code) {
  if (color) {
    fs_text_puts(out, code);
  }
}

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Control characters would reach the terminal. */
static void put_clean(fs_text *out, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    fs_text_add(out, (c < 0x20 && c != '\t') || c == 0x7F ? "?" : s + i, 1);
  }
}

static void put_header(const fsched_diag *d, bool color, fs_text *out) {
  put_color(out, color, COLOR_BOLD);
  if (d->file != NULL) {
    put_clean(out, d->file, strlen(d->file));
    if (d->line > 0) {
      fs_text_printf(out, ":%u:%u", d->line, d->column);
    }
    fs_text_puts(out, ": ");
  } else {
    fs_text_puts(out, "fsched: ");
  }
  put_color(out, color, severity_color(d->severity));
  fs_text_printf(out, "%s: ", severity_name[d->severity]);
  put_color(out, color, COLOR_OFF);
  put_color(out, color, COLOR_BOLD);
  put_clean(out, d->message, strlen(d->message));
  put_color(out, color, COLOR_OFF);
  fs_text_printf(out, " [%s]\n", d->code);
}

/* A part of a line: bytes [begin, end). */
typedef struct span {
  size_t begin, end;
} span;

static span shown_part(const char *line, size_t length, size_t token) {
  span s = {0, length};
  if (length <= SHOWN_LINE) {
    return s;
  }
  s.begin = token > SHOWN_BEFORE ? token - SHOWN_BEFORE : 0;
  while (s.begin > 0 && continues(line[s.begin])) {
    s.begin--;
  }
  s.end = s.begin + SHOWN_LINE < length ? s.begin + SHOWN_LINE : length;
  while (s.end < length && continues(line[s.end])) {
    s.end++;
  }
  return s;
}

static void put_caret(const fsched_diag *d, bool color, span shown, size_t token, fs_text *out) {
  const char *line = d->source_line;
  for (size_t i = shown.begin; i < token; i++) {
    if (!continues(line[i])) {
      fs_text_add(out, line[i] == '\t' ? "\t" : " ", 1);
    }
  }
  put_color(out, color, COLOR_CARET);
  fs_text_puts(out, "^");
  size_t end = token + d->length < shown.end ? token + d->length : shown.end;
  for (size_t i = token + 1; i < end; i++) {
    if (!continues(line[i])) {
      fs_text_puts(out, "~");
    }
  }
  put_color(out, color, COLOR_OFF);
  fs_text_puts(out, "\n");
}

static void put_source(const fsched_diag *d, bool color, fs_text *out) {
  size_t length = strlen(d->source_line);
  size_t token = d->column == 0 ? 0 : d->column - 1;
  token = token < length ? token : length;
  span shown = shown_part(d->source_line, length, token);
  bool cut = shown.begin > 0;
  fs_text_printf(out, "%5u | %s", d->line, cut ? "..." : "");
  put_clean(out, d->source_line + shown.begin, shown.end - shown.begin);
  fs_text_printf(out, "%s\n      | %s", shown.end < length ? "..." : "", cut ? "   " : "");
  put_caret(d, color, shown, token, out);
}

void fs_diag_format(const fsched_diag *d, bool color, fs_text *out) {
  put_header(d, color, out);
  if (d->source_line != NULL) {
    put_source(d, color, out);
  }
  if (d->hint != NULL) {
    fs_text_puts(out, "  hint: ");
    put_clean(out, d->hint, strlen(d->hint));
    fs_text_puts(out, "\n");
  }
}

void fs_diag_format_json(const fsched_diag *d, fs_text *out) {
  fs_text_printf(out, "{\"severity\": \"%s\", \"code\": \"%s\", \"message\": ",
                 severity_name[d->severity], d->code);
  fs_text_json_string(out, d->message);
  if (d->file != NULL) {
    fs_text_puts(out, ", \"file\": ");
    fs_text_json_string(out, d->file);
  }
  if (d->line > 0) {
    fs_text_printf(out, ", \"line\": %u, \"column\": %u, \"length\": %u", d->line, d->column,
                   d->length);
  }
  if (d->hint != NULL) {
    fs_text_puts(out, ", \"hint\": ");
    fs_text_json_string(out, d->hint);
  }
  fs_text_puts(out, "}\n");
}
