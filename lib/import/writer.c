/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/fields.h"
#include "base/text/utf8.h"
#include "import/import.h"

/* Does the name hold only characters without meaning in YAML: letters, digits, underscores and,
 * behind the first one, hyphens, dots and slashes? */
static bool is_plain(const char *name) {
  static const char inner[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
  return name[0] != '\0' && name[0] != '-' && name[0] != '.' && name[0] != '/' &&
         name[strspn(name, inner)] == '\0';
}

void fs_import_name(fs_text *t, const char *name) {
  if (is_plain(name)) {
    fs_text_puts(t, name);
  } else {
    fs_text_quoted(t, name);
  }
}

void fs_import_count(fs_text *t, uint64_t n, const char *what, const char *many) {
  fs_text_u64(t, n);
  fs_text_puts(t, " ");
  fs_text_puts(t, n == 1 ? what : many);
}

void fs_import_head(fs_import *in) {
  const char *name = in->options.graph_name;
  if (name == NULL) {
    const char *slash = strrchr(in->name, '/');
    const char *base = slash == NULL ? in->name : slash + 1;
    const char *dot = strrchr(base, '.');
    size_t n = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
    name = fs_arena_strndup(&in->arena, base, n);
  }
  if (name == NULL) {
    in->out.failed = true;
    return;
  }
  if (*name == '\0' || !fs_utf8_valid(name, strlen(name))) {
    name = fsched_format_name((uint32_t)in->format);
  }
  fs_text_puts(&in->out, "fsched: 1\nname: ");
  fs_import_name(&in->out, name);
  fs_text_puts(&in->out, "\n");
}
