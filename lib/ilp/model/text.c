/* SPDX-License-Identifier: Apache-2.0 */
/* Builds that check everything check names, as readers of LP take "e5" for a number and words like
 * "free" for keywords.  Notes have names from users' files, which may be any text: control
 * characters are written as \xNN, and long lines are folded. */
#include "ilp/model/text.h"

#include "base/names.h"

enum { NAME_MOST = 100 };

static bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void fs_model_text_name(const fs_model *m, fs_text *out) {
  size_t n = strlen(m->name);
  for (size_t i = 0; i < n && i < NAME_MOST; i++) {
    fs_text_add(out, name_char(m->name[i]) ? &m->name[i] : "_", 1);
  }
  if (n == 0) {
    fs_text_puts(out, "model");
  }
}

void fs_model_text_i64(fs_text *out, int64_t value) {
  if (value < 0) {
    fs_text_add(out, "-", 1);
  }
  fs_text_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void note(const char *text, const char *mark, fs_text *out) {
  static const char hex[] = "0123456789abcdef";
  size_t room = 0;
  bool begun = false;
  for (; *text != '\0' || !begun; text += *text != '\0') {
    unsigned char c = (unsigned char)*text;
    bool inside = c >= 0x80 && c < 0xC0; /* within a character, which stays whole */
    if (room == 0 || (room < 8 && !inside)) {
      fs_text_puts(out, begun ? "\n" : "");
      fs_text_puts(out, mark);
      room = FS_MODEL_LINE - strlen(mark) - 4;
      begun = true;
      if (c != '\0') {
        fs_text_add(out, " ", 1);
      }
    }
    char escape[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
    if (c != '\0' && (c < ' ' || c == 0x7F)) {
      fs_text_add(out, escape, sizeof escape);
      room -= sizeof escape;
    } else if (c != '\0') {
      fs_text_add(out, text, 1);
      room--;
    }
  }
  fs_text_add(out, "\n", 1);
}

void fs_model_text_notes(const fs_model *m, const char *mark, fs_text *out) {
  note(m->name, mark, out);
  fs_text_printf(out, "%s %zu variables, %zu rows, %zu terms; minimise\n", mark, m->var.n, m->row.n,
                 m->term.n);
  for (size_t i = 0; i < m->note.n; i++) {
    note(m->note.at[i], mark, out);
  }
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Can readers take the word for nothing but a name?  One with '_' or a digit is no keyword, and
 * neither is a single letter other than "e". */
static bool name_ok(const char *name) {
  size_t n = strlen(name);
  bool plain = n == 1;
  for (size_t i = 0; i < n; i++) {
    if (!name_char(name[i])) {
      return false;
    }
    plain |= name[i] == '_' || is_digit(name[i]);
  }
  bool number =
      is_digit(name[0]) || ((name[0] == 'e' || name[0] == 'E') && (n == 1 || is_digit(name[1])));
  return n > 0 && n <= NAME_MOST && plain && !number;
}

bool fs_model_text_names_ok(const fs_model *m) {
  FS_SCRATCH(arena, m->ctx);
  fs_names vars, rows;
  fs_names_init(&vars, &arena);
  fs_names_init(&rows, &arena);
  bool ok = true, added = true;
  uint32_t id;
  fs_status status = FSCHED_OK;
  for (size_t i = 0; ok && status == FSCHED_OK && i < m->var.n + m->row.n; i++) {
    bool var = i < m->var.n;
    const char *name = var ? m->var.at[i].name : m->row.at[i - m->var.n].name;
    status = fs_names_intern(var ? &vars : &rows, name, strlen(name), &id, &added);
    ok = status != FSCHED_OK || (added && name_ok(name));
  }
  fs_names_free(&rows);
  fs_names_free(&vars);
  return ok;
}
