/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static size_t skip_blanks(const fs_import *in, size_t at, size_t end) {
  while (at < end && is_blank(in->text[at])) {
    at++;
  }
  return at;
}

/* Takes a field that begins with a quote; *at is left behind the closing quote.  Returns false when
 * no quote closes the field. */
static bool take_quoted(const fs_import *in, size_t *at, size_t end, fs_csv_field *field) {
  size_t i = *at + 1;
  *field = (fs_csv_field){.span = {i, i}};
  for (; i < end; i++) {
    if (in->text[i] == '"' && i + 1 < end && in->text[i + 1] == '"') {
      field->escaped = true;
      i++;
    } else if (in->text[i] == '"') {
      field->span.end = i;
      *at = i + 1;
      return true;
    }
  }
  return false;
}

static void take_plain(const fs_import *in, size_t *at, size_t end, fs_csv_field *field) {
  const char *comma = memchr(in->text + *at, ',', end - *at);
  size_t to = comma == NULL ? end : (size_t)(comma - in->text);
  *field = (fs_csv_field){.span = {*at, to}};
  while (field->span.end > field->span.at && is_blank(in->text[field->span.end - 1])) {
    field->span.end--;
  }
  *at = to;
}

/* Takes a field and the blanks behind it. */
static bool take_field(fs_import *in, size_t *at, size_t end, fs_csv_field *field) {
  size_t from = *at = skip_blanks(in, *at, end);
  if (from == end || in->text[from] != '"') {
    take_plain(in, at, end, field);
    return true;
  }
  if (!take_quoted(in, at, end, field)) {
    fs_import_syntax(in, ((fs_text_span){from, end}), NULL, "this quote is not closed on its line");
    return false;
  }
  *at = skip_blanks(in, *at, end);
  if (*at < end && in->text[*at] != ',') {
    fs_import_syntax(in, ((fs_text_span){*at, *at + 1}), NULL,
                     "a comma must follow what is in quotes");
    return false;
  }
  return true;
}

bool fs_csv_split(fs_import *in, fs_text_span line, fs_csv_row *row, fs_status *status) {
  size_t at = line.at;
  row->n = 0;
  for (;; at++) {
    fs_csv_field field;
    if (!take_field(in, &at, line.end, &field)) {
      return false;
    }
    *status = fs_vec_push(in->ctx, row, field);
    if (*status != FSCHED_OK || at == line.end) {
      return *status == FSCHED_OK;
    }
  }
}

const char *fs_csv_text(fs_import *in, const fs_csv_field *field, size_t *length) {
  const char *from = in->text + field->span.at;
  size_t n = field->span.end - field->span.at;
  char *text = fs_arena_strndup(&in->arena, from, n);
  *length = 0;
  for (size_t i = 0; text != NULL && i < n; i++) {
    text[(*length)++] = from[i];
    i += field->escaped && from[i] == '"';
  }
  if (text != NULL) {
    text[*length] = '\0';
  }
  return text;
}

void fs_csv_put(fs_text *t, const char *field) {
  size_t n = strlen(field);
  bool blanks = n > 0 && (is_blank(field[0]) || is_blank(field[n - 1]));
  if (!blanks && strpbrk(field, ",\"\r\n") == NULL) {
    fs_text_add(t, field, n);
    return;
  }
  fs_text_puts(t, "\"");
  for (; *field != '\0'; field++) {
    fs_text_add(t, "\"\"", *field == '"');
    fs_text_add(t, field, 1);
  }
  fs_text_puts(t, "\"");
}
