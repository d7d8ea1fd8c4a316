/* SPDX-License-Identifier: Apache-2.0 */
/* The caret stands under the right character whatever the line holds: tabs before it are repeated,
 * a character of several bytes is one column, a control character counts as wide as its form \x1b
 * or \u009b, and of a very long line only the part around the token is shown. */
#include "base/text/diag_format.h"

#include "base/text/columns.h"
#include "base/warnings.h"

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

/* Columns that the character beginning at s[0] takes when fs_text_visible shows it; 0 for a byte
 * that continues one.  s[1] can be read, as lines end with a zero byte. */
static size_t shown_width(const char *s) {
  unsigned char c = (unsigned char)s[0];
  if (c < 0x20 || c == 0x7F) {
    return sizeof "\\x1b" - 1;
  }
  if (c == 0xC2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xA0) {
    return sizeof "\\u009b" - 1;
  }
  return continues(s[0]) ? 0 : 1;
}

/* Adds a part of a line in a form that is safe for a terminal; tabs stay. */
static void put_line(fs_text *out, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\t' || shown_width(s + i) <= 1) {
      fs_text_add(out, s + i, 1);
    } else {
      char one[3] = {s[i], '\0', '\0'};
      if (s[i] == '\xC2') {
        one[1] = s[++i];
      }
      fs_text_visible(out, one);
    }
  }
}

static void put_header(const fsched_diag *d, bool color, fs_text *out) {
  put_color(out, color, COLOR_BOLD);
  if (d->file != NULL) {
    fs_text_visible(out, d->file);
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
  fs_text_visible(out, d->message);
  put_color(out, color, COLOR_OFF);
  bool class = d->severity != FSCHED_NOTE && fs_warn_of_name(d->code) != FS_NONE;
  fs_text_printf(out, " [%s%s]\n",
                 !class                          ? ""
                 : d->severity == FSCHED_WARNING ? "-W"
                                                 : "-Werror=",
                 d->code);
}

/* A part of a line: bytes [begin, end). */
typedef struct line_span {
  size_t begin, end;
} line_span;

static line_span shown_part(const char *line, size_t length, size_t token) {
  line_span s = {0, length};
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

static void put_times(fs_text *out, const char *s, size_t n) {
  for (; n > 0; n--) {
    fs_text_puts(out, s);
  }
}

static void put_caret(const fsched_diag *d, bool color, line_span shown, size_t token,
                      fs_text *out) {
  const char *line = d->source_line;
  for (size_t i = shown.begin; i < token; i++) {
    if (line[i] == '\t') {
      fs_text_puts(out, "\t");
    } else {
      put_times(out, " ", shown_width(line + i));
    }
  }
  put_color(out, color, COLOR_CARET);
  fs_text_puts(out, "^");
  size_t end = token + d->length < shown.end ? token + d->length : shown.end;
  size_t first = token < end && line[token] != '\t' ? shown_width(line + token) : 1;
  put_times(out, "~", first > 0 ? first - 1 : 0);
  for (size_t i = token + 1; i < end; i++) {
    put_times(out, "~", line[i] == '\t' ? 1 : shown_width(line + i));
  }
  put_color(out, color, COLOR_OFF);
  fs_text_puts(out, "\n");
}

static void put_source(const fsched_diag *d, bool color, fs_text *out) {
  size_t length = strlen(d->source_line);
  size_t token = d->column == 0 ? 0 : d->column - 1;
  token = token < length ? token : length;
  line_span shown = shown_part(d->source_line, length, token);
  bool cut = shown.begin > 0;
  fs_text_printf(out, "%5u | %s", d->line, cut ? "..." : "");
  put_line(out, d->source_line + shown.begin, shown.end - shown.begin);
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
    fs_text_visible(out, d->hint);
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
