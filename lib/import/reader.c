/* SPDX-License-Identifier: Apache-2.0 */
/* Words and lines of a text.  Positions are offsets; the line and column of one are counted when a
 * fault is reported there, and only as long as the context still stores faults, so that a text full
 * of them does not cost the square of its length. */
#include <stdio.h>

#include "base/text/utf8.h"
#include "import/import.h"

static bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* Finds the first line that is not UTF-8 or holds a zero byte. */
static bool find_rubbish(const fs_import *in, fs_text_span *at) {
  if (in->length == 0 ||
      (fs_utf8_valid(in->text, in->length) && memchr(in->text, 0, in->length) == NULL)) {
    return false;
  }
  fs_text_span rest = {0, in->length};
  while (fs_import_line(in, &rest, at)) {
    size_t n = at->end - at->at;
    if (n > 0 &&
        (!fs_utf8_valid(in->text + at->at, n) || memchr(in->text + at->at, 0, n) != NULL)) {
      break;
    }
  }
  at->end = at->at + (at->end > at->at);
  return true;
}

fs_status fs_import_begin(fs_import *in) {
  assert(in->name != NULL && (in->text != NULL || in->length == 0));
  FS_TRY(fs_context_add_file(in->ctx, in->name, in->text, in->length, &in->file));
  fs_text_span at;
  if (find_rubbish(in, &at)) {
    fs_import_syntax(in, at, NULL, "this line is not text (UTF-8)");
    return in->status;
  }
  fs_text_span all = fs_import_all(in);
  if (fs_span_empty(fs_import_word(in, &all))) {
    fs_import_syntax(in, ((fs_text_span){0, 0}), NULL, "there is nothing in this file");
  }
  return in->status;
}

fs_text_span fs_import_all(const fs_import *in) {
  static const char mark[] = "\xEF\xBB\xBF"; /* the byte order mark, which some editors write */
  size_t n = sizeof mark - 1;
  bool marked = in->length >= n && memcmp(in->text, mark, n) == 0;
  return (fs_text_span){marked ? n : 0, in->length};
}

bool fs_import_line(const fs_import *in, fs_text_span *rest, fs_text_span *line) {
  assert(rest->at <= rest->end && rest->end <= in->length);
  if (fs_span_empty(*rest)) {
    return false;
  }
  const char *from = in->text + rest->at;
  const char *end = memchr(from, '\n', rest->end - rest->at);
  *line = (fs_text_span){rest->at, end == NULL ? rest->end : (size_t)(end - in->text)};
  rest->at = line->end + (end != NULL);
  if (line->end > line->at && in->text[line->end - 1] == '\r') {
    line->end--;
  }
  return true;
}

fs_text_span fs_import_word(const fs_import *in, fs_text_span *rest) {
  assert(rest->at <= rest->end && rest->end <= in->length);
  size_t from = rest->at;
  while (rest->at < rest->end && blank(in->text[rest->at])) {
    rest->at++;
  }
  if (rest->at == rest->end) {
    while (from > 0 && blank(in->text[from - 1])) {
      from--;
    }
    return (fs_text_span){from, from};
  }
  fs_text_span word = {rest->at, rest->at};
  while (word.end < rest->end && !blank(in->text[word.end])) {
    word.end++;
  }
  rest->at = word.end;
  return word;
}

fs_text_span fs_import_word_at(const fs_import *in, size_t at) {
  assert(at <= in->length);
  fs_text_span rest = {at, in->length};
  return fs_import_word(in, &rest);
}

bool fs_import_is(const fs_import *in, fs_text_span word, const char *text) {
  assert(word.at <= word.end && word.end <= in->length);
  size_t n = strlen(text);
  return word.end - word.at == n && memcmp(in->text + word.at, text, n) == 0;
}

/* Accepts digits alone; *value is UINT64_MAX when the number is larger than that. */
static bool read_digits(const fs_import *in, fs_text_span word, uint64_t *value) {
  *value = 0;
  for (size_t i = word.at; i < word.end; i++) {
    unsigned digit = (unsigned)(in->text[i] - '0');
    if (digit > 9) {
      return false;
    }
    *value = *value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *value * 10 + digit;
  }
  return !fs_span_empty(word);
}

bool fs_import_digits(const fs_import *in, fs_text_span word, uint64_t *value) {
  assert(word.at <= word.end && word.end <= in->length);
  return read_digits(in, word, value);
}

static const char *put_wanted(char *text, size_t size, fs_wanted w) {
  if (w.of == NULL) {
    (void)snprintf(text, size, "%s", w.what);
  } else {
    (void)snprintf(text, size, "%s of %s %llu", w.what, w.of, (unsigned long long)w.number);
  }
  return text;
}

/* Do only blanks follow up to the end of the text? */
static bool at_end(const fs_import *in, size_t at) {
  fs_text_span rest = {at, in->length};
  return fs_span_empty(fs_import_word(in, &rest));
}

bool fs_import_number(fs_import *in, fs_text_span word, fs_wanted wanted, uint64_t least,
                      uint64_t most, uint64_t *value) {
  assert(least <= most);
  char what[96];
  bool digits = read_digits(in, word, value);
  if (digits && *value >= least && *value <= most) {
    return true;
  }
  put_wanted(what, sizeof what, wanted);
  bool negative = word.end > word.at + 1 && in->text[word.at] == '-' &&
                  read_digits(in, (fs_text_span){word.at + 1, word.end}, value);
  if (fs_span_empty(word)) {
    fs_import_syntax(in, word, at_end(in, word.at) ? "the file ends here" : NULL,
                     "the %s is missing", what);
  } else if (digits || negative) {
    fs_import_value(in, word, NULL, "the %s is %.*s, outside %llu .. %llu", what,
                    fs_import_shown(in, word), fs_import_at(in, word), (unsigned long long)least,
                    (unsigned long long)most);
  } else {
    fs_import_syntax(in, word, NULL, "the %s must be a whole number, not '%.*s'", what,
                     fs_import_shown(in, word), fs_import_at(in, word));
  }
  return false;
}

bool fs_import_next(fs_import *in, fs_text_span *rest, fs_wanted wanted, uint64_t least,
                    uint64_t most, uint64_t *value) {
  assert(least <= most);
  return fs_import_number(in, fs_import_word(in, rest), wanted, least, most, value);
}

uint32_t fs_import_line_of(const fs_import *in, size_t at) {
  assert(at <= in->length);
  uint32_t line = 1;
  const char *p = in->text, *end = in->text + at;
  while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
    line++;
    p++;
  }
  return line;
}

static fs_pos position(const fs_import *in, fs_text_span s) {
  size_t begin = s.at;
  while (begin > 0 && in->text[begin - 1] != '\n') {
    begin--;
  }
  return (fs_pos){in->file, fs_import_line_of(in, s.at), (uint32_t)(s.at - begin) + 1,
                  (uint32_t)(s.end - s.at)};
}

/* Is there a line of two numbers, and then one of as many numbers as the second of them says, or of
 * a multiple? */
static bool has_rows(const fs_import *in, uint64_t multiple) {
  fs_text_span rest = fs_import_all(in), line;
  uint64_t number, columns = 0;
  uint32_t lines = 0;
  while (lines < 2 && fs_import_line(in, &rest, &line)) {
    fs_text_span word = fs_import_word(in, &line);
    uint64_t words = 0;
    if (fs_span_empty(word) || in->text[word.at] == '#') {
      continue;
    }
    for (; !fs_span_empty(word); word = fs_import_word(in, &line), words++) {
      if (!read_digits(in, word, &number)) {
        return false;
      }
      columns = lines == 0 ? number : columns;
    }
    if (words != (lines == 0 ? 2 : fs_min(columns, UINT32_MAX) * multiple)) {
      return false;
    }
    lines++;
  }
  return lines == 2;
}

static bool looks_like(const fs_import *in, fsched_format format) {
  static const char section[] = "PRECEDENCE RELATIONS";
  fs_text_span rest = fs_import_all(in), all = rest, line;
  fs_text_span word = fs_import_word(in, &rest);
  bool sections = memmem(in->text, in->length, section, sizeof section - 1) != NULL;
  bool strip = fs_import_is(in, word, "strip");
  switch (format) {
    case FSCHED_FORMAT_PATTERSON:
      return !sections && has_rows(in, 1);
    case FSCHED_FORMAT_PSPLIB:
      return sections && !strip;
    case FSCHED_FORMAT_STRIP:
      return strip;
    case FSCHED_FORMAT_MEMORY:
      return fs_import_line(in, &all, &line) &&
             memmem(in->text + line.at, line.end - line.at, ",size", 5) != NULL;
    case FSCHED_FORMAT_JOBSHOP:
      return has_rows(in, 2);
  }
  return false;
}

/* The index of the first format that the text looks like, or FS_NONE. */
static uint32_t guess(const fs_import *in) {
  for (uint32_t format = 0; format < fsched_format_count(); format++) {
    if (looks_like(in, (fsched_format)format)) {
      return format;
    }
  }
  return FS_NONE;
}

void fs_import_fault(fs_import *in, fs_status status, fs_diag_code code, fs_text_span at,
                     const char *hint, const char *format, ...) {
  assert(status == FSCHED_BAD_INPUT || status == FSCHED_INFEASIBLE);
  bool first = in->status != FSCHED_BAD_INPUT;
  in->status = first ? status : in->status;
  fs_pos pos = FS_NOWHERE;
  char other[96], message[512];
  if (fs_context_error_room(in->ctx) > 0) {
    pos = position(in, at);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    uint32_t looks = first && code == FS_DIAG_IMPORT_SYNTAX ? guess(in) : FS_NONE;
    if (looks != FS_NONE && looks != (uint32_t)in->format) {
      const char *name = fsched_format_name(looks);
      (void)snprintf(other, sizeof other, "this looks like the format %s: fsched import %s", name,
                     name);
      hint = other;
    }
  } else {
    message[0] = '\0'; /* the context counts the fault but does not store it */
  }
  fs_report(in->ctx, FSCHED_ERROR, code, pos, hint, "%s", message);
}

int fs_import_shown(const fs_import *in, fs_text_span s) {
  assert(s.at <= s.end && s.end <= in->length);
  size_t n = s.end - s.at;
  if (n > FS_SHOWN) {
    n = FS_SHOWN;
    while (n > 0 && ((unsigned char)in->text[s.at + n] & 0xC0) == 0x80) {
      n--; /* does not cut a character in two */
    }
  }
  return (int)n;
}
