/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a proof.  The text is registered, and the line and column are counted, only when a fault
 * is reported, so that large proofs are not copied. */
#include "verify/proof/text.h"

#include <stdio.h>

enum { FAULT_LENGTH = 256 };

fs_status fs_vtext_fault(fs_vtext *t, size_t place, fs_status status, fs_diag_code code,
                         const char *format, ...) {
  assert(place <= t->all);
  char message[FAULT_LENGTH];
  fs_pos pos = {.line = 1, .column = 1};
  for (size_t i = 0; i < place; i++) {
    bool line = t->at[i] == '\n';
    pos.line += line;
    pos.column = line ? 1 : pos.column + 1;
  }
  while (place < t->all && strchr(" \n", t->at[place]) == NULL) {
    pos.length++;
    place++;
  }
  pos.length += pos.length == 0;
  FS_TRY(fs_context_add_file(t->ctx, t->name, t->at, t->all, &pos.file));
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return fs_fail(t->ctx, status, code, pos, NULL, "%s", message);
}

fs_status fs_vtext_number(fs_vtext *t, const char *what, uint64_t *value) {
  size_t begin = t->pos, i = begin;
  uint64_t sum = 0;
  for (unsigned digit; i < t->length && (digit = (unsigned)(t->at[i] - '0')) <= 9; i++) {
    if (sum > (FS_VTEXT_MOST - digit) / 10) {
      return fs_vtext_wrong(t, begin, "%s is above %llu", what, (unsigned long long)FS_VTEXT_MOST);
    }
    sum = sum * 10 + digit;
  }
  if (i == begin) {
    return fs_vtext_syntax(t, begin, "here should be %s", what);
  }
  t->pos = i;
  *value = sum;
  return FSCHED_OK;
}

bool fs_vtext_word(fs_vtext *t, const char *words) {
  size_t n = strlen(words);
  bool is = n <= t->length - t->pos && memcmp(t->at + t->pos, words, n) == 0;
  t->pos += is ? n : 0;
  return is;
}

fs_status fs_vtext_line_end(fs_vtext *t) {
  if (!fs_vtext_takes(t, '\n')) {
    return fs_vtext_syntax(t, t->pos, "the line should end here");
  }
  return FSCHED_OK;
}
