/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the reference of a public header for its page, from its declarations and comments.  A
 * comment belongs to the declarations below it, up to the next comment or an empty line.  So a
 * header is a list of groups, each of which becomes a paragraph and a block of code.  The code is
 * complete except for attributes, and broken to the width of a page:
 *
 *   functions          after commas
 *   structures, enums  one member per line, with its comment behind it or, if that is too long,
 *                      before it */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/gen/gen.h"

enum { WIDTH = 68, STEP = 2 };

typedef struct text_span {
  const char *at;
  size_t n;
} text_span;

static bool starts(const char *p, const char *word) { return strncmp(p, word, strlen(word)) == 0; }

/* Adds the words of the comment at p; returns the end of the comment. */
static const char *take_comment(fs_text *t, const char *p) {
  const char *end = strstr(p, "*/");
  end = end == NULL ? p + strlen(p) : end;
  bool gap = false, new_line = false;
  for (p += 2 + (p[2] == '*'); p < end; p++) {
    const char *word = p;
    if (isspace((unsigned char)*p)) {
      gap = t->n > 0;
      new_line = new_line || *p == '\n';
      continue;
    }
    bool frame = new_line && *p == '*'; /* the asterisk that begins a further line */
    new_line = false;
    if (frame) {
      continue;
    }
    while (p + 1 < end && !isspace((unsigned char)p[1])) {
      p++;
    }
    fs_text_puts(t, gap ? " " : "");
    fs_text_add(t, word, (size_t)(p + 1 - word));
    gap = true;
  }
  return *end == '\0' ? end : end + 2;
}

/* Adds the code at p up to one of `ends` outside of brackets, or up to a comment, with single
 * blanks and without attributes; returns its end. */
static const char *take_code(fs_text *t, const char *p, const char *ends) {
  int depth = 0;
  size_t from = t->n;
  while (*p != '\0' && (depth > 0 || strchr(ends, *p) == NULL) && !starts(p, "/*")) {
    if (starts(p, "FSCHED_API") || starts(p, "FSCHED_MUST_USE")) {
      p += strcspn(p, " \n");
    } else if (isspace((unsigned char)*p)) {
      bool wanted = t->n > from && t->at[t->n - 1] != ' ' && t->at[t->n - 1] != '(';
      fs_text_puts(t, wanted ? " " : "");
      p++;
    } else {
      depth += *p == '(' || *p == '[' ? 1 : *p == ')' || *p == ']' ? -1 : 0;
      fs_text_add(t, p++, 1);
    }
  }
  t->n -= t->n > from && t->at[t->n - 1] == ' ';
  return p;
}

/* ---- a group's code, in lines */

static void put_code(fs_text *t, text_span s) { gen_escaped(t, s.at, s.n); }

/* The length of code that fits on a line: up to a comma or, if that is too long, a bracket. */
static size_t line_length(const char *code, size_t room) {
  size_t n = 0, next;
  while (code[n] != '\0') {
    next = n + strcspn(code + n, ",");
    next += code[next] == ',';
    if (next > room) {
      break;
    }
    n = next;
  }
  return n > 0 ? n : strcspn(code, "(") + 1;
}

/* The name of a declared function: the word before the first bracket. */
static text_span name_of(const char *code) {
  const char *bracket = strchr(code, '('), *name = bracket;
  while (name != NULL && name > code && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
    name--;
  }
  return (text_span){name, (size_t)(bracket - name)};
}

/* Writes a declaration in lines of limited width, further ones indented, a function's name bold. */
static void put_broken(fs_text *t, const char *code, int indent) {
  text_span name = name_of(code);
  for (size_t first = 0; *code != '\0'; first = 4) {
    size_t n = line_length(code, WIDTH - (size_t)indent - first);
    fs_text_printf(t, "%*s", indent + (int)first, "");
    if (name.n > 0 && name.at >= code && name.at + name.n <= code + n) {
      put_code(t, (text_span){code, (size_t)(name.at - code)});
      fs_text_puts(t, "\\fB");
      put_code(t, name);
      fs_text_puts(t, "\\fP");
      put_code(t, (text_span){name.at + name.n, n - (size_t)(name.at + name.n - code)});
    } else {
      put_code(t, (text_span){code, n});
    }
    fs_text_puts(t, "\n");
    code += n + (code[n] == ' ');
  }
}

/* Writes a comment in lines of its own, indented like a member. */
static void put_remark(fs_text *t, const char *words, size_t n) {
  size_t column = STEP + 2;
  fs_text_puts(t, "  /*");
  for (const char *end = words + n; words < end;) {
    const char *blank = memchr(words, ' ', (size_t)(end - words));
    size_t length = (size_t)((blank == NULL ? end : blank) - words);
    if (column + 1 + length + 3 > WIDTH) {
      fs_text_puts(t, "\n    ");
      column = STEP + 2;
    }
    fs_text_puts(t, " ");
    gen_escaped(t, words, length);
    column += 1 + length;
    words += length + (blank != NULL);
  }
  fs_text_puts(t, " */\n");
}

/* Writes a member with its comment. */
static void put_member(fs_text *t, fs_text *code, const fs_text *remark) {
  enum { AROUND = sizeof " /*  */" - 1 };
  bool behind = remark->n > 0 && STEP + code->n + AROUND + remark->n <= WIDTH;
  if (remark->n > 0 && !behind) {
    put_remark(t, remark->at, remark->n);
  }
  if (!behind) {
    fs_text_add(code, "", 1);
    put_broken(t, code->failed ? "" : code->at, STEP);
    return;
  }
  fs_text_puts(t, "  ");
  put_code(t, (text_span){code->at, code->n});
  fs_text_puts(t, " /* ");
  gen_escaped(t, remark->at, remark->n);
  fs_text_puts(t, " */\n");
}

static const char *skip_blanks(const char *p, bool lines) {
  while (*p == ' ' || (lines && *p == '\n')) {
    p++;
  }
  return p;
}

/* Writes one member, which ends at one of `ends`, with its comment, which stands before it, behind
 * it in its line, or before its end; returns the end. */
static const char *take_member(fs_text *t, const char *p, const char *ends) {
  fs_text code, remark;
  fs_text_init(&code, t->ctx);
  fs_text_init(&remark, t->ctx);
  while (starts(p = skip_blanks(p, true), "/*")) {
    p = take_comment(&remark, p);
  }
  p = take_code(&code, p, ends);
  if (*p == ';' || *p == ',') {
    fs_text_add(&code, p++, 1);
  }
  p = skip_blanks(p, false);
  if (starts(p, "/*")) {
    p = take_comment(&remark, p);
  }
  if (code.n > 0) {
    put_member(t, &code, &remark);
  }
  fs_text_drop(&code);
  fs_text_drop(&remark);
  return skip_blanks(p, true);
}

static const char *take_declaration(fs_text *t, const char *p) {
  fs_text code;
  fs_text_init(&code, t->ctx);
  p = take_code(&code, p, ";{");
  if (*p == '{') {
    bool is_enum = (code.n >= 12 && starts(code.at, "typedef enum")) ||
                   (code.n >= 4 && starts(code.at, "enum"));
    const char *ends = is_enum ? ",}" : ";}";
    put_code(t, (text_span){code.at, code.n});
    fs_text_puts(t, " {\n");
    for (p = skip_blanks(p + 1, true); *p != '\0' && *p != '}';) {
      p = take_member(t, p, ends);
    }
    code.n = 0;
    p = take_code(&code, p, ";");
  }
  p += *p == ';';
  fs_text_add(&code, ";", 2); /* 2 bytes: with the end of the string */
  if (!code.failed) {
    put_broken(t, code.at, 0);
  }
  fs_text_drop(&code);
  return p;
}

/* ---- groups */

typedef struct api_group {
  fs_text code, prose;
  bool later; /* not the first under its heading */
} api_group;

static void put_group(fs_text *t, api_group *g) {
  if (g->code.n > 0) {
    fs_text_puts(t, g->later ? ".PP\n" : "");
    g->later = true;
    fs_text_add(&g->prose, "", 1);
    if (g->prose.n > 1) {
      gen_prose(t, NULL, g->prose.at);
      fs_text_puts(t, ".PP\n");
    }
    fs_text_puts(t, ".RS 4\n.EX\n");
    fs_text_add(t, g->code.at, g->code.n);
    fs_text_puts(t, ".EE\n.RE\n");
  }
  g->code.n = g->prose.n = 0;
}

static const char *skip_line(const char *p) {
  p += strcspn(p, "\n");
  return p + (*p == '\n');
}

/* Skips from one #if to the line after its #endif. */
static const char *skip_condition(const char *p) {
  int depth = 0;
  do {
    depth += starts(p, "#if") ? 1 : starts(p, "#endif") ? -1 : 0;
    p = skip_line(p);
  } while (depth > 0 && *p != '\0');
  return p;
}

static const char *take_piece(fs_text *t, api_group *g, const char *p) {
  if (starts(p, "#if")) {
    return skip_condition(p);
  }
  if (starts(p, "#define")) {
    put_code(&g->code, (text_span){p, strcspn(p, "\n")});
    fs_text_puts(&g->code, "\n");
    return skip_line(p);
  }
  if (starts(p, "\n\n")) {
    put_group(t, g);
    return p + 1;
  }
  if (starts(p, "/*")) {
    if (g->code.n > 0) {
      put_group(t, g);
    }
    fs_text_puts(&g->prose, g->prose.n > 0 ? " " : "");
    return take_comment(&g->prose, p);
  }
  return isspace((unsigned char)*p) ? p + 1 : take_declaration(&g->code, p);
}

bool gen_api(fs_text *t, const char *header) {
  static const char begin[] = "extern \"C\" {\n#endif\n";
  const char *p = strstr(header, begin);
  if (p == NULL) {
    return false;
  }
  api_group g = {.later = false};
  fs_text_init(&g.code, t->ctx);
  fs_text_init(&g.prose, t->ctx);
  for (p += sizeof begin - 1; *p != '\0' && !starts(p, "#endif");) {
    p = take_piece(t, &g, p);
  }
  put_group(t, &g);
  bool good = !g.code.failed && !g.prose.failed;
  fs_text_drop(&g.code);
  fs_text_drop(&g.prose);
  return good;
}
