/* SPDX-License-Identifier: Apache-2.0 */
/* Makes pages of the manual.  A source in man/ is a whole page; comments of the form .\" @MARKER
 * WORD...@ are replaced by text from the tables:
 *
 *   OPTIONS command     its options, a .TP for each
 *   SYNOPSIS command    its synopsis
 *   COMMON              the options of every command that works on files
 *   COMMANDS            the commands, with their pages
 *   STATUS n...         these exit statuses
 *   API name.h          the declarations of include/fsched/name.h (from the top of the sources)
 *
 * In the line .TH, @DATE@ and @VERSION@ are replaced.  In the help of an option, other options and
 * pages are bold, and the words of its argument have the font that they have in its tag; each
 * sentence begins a line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/gen/gen.h"

enum { FILL = 79 };

/* ---- text of man(7) */

static void put_escaped(fs_text *t, const char *s, size_t n, const char *hyphen) {
  for (size_t i = 0; i < n; i++) {
    const char *as = s[i] == '\\'   ? "\\e"
                     : s[i] == '\'' ? "\\(aq"
                     : s[i] == '"'  ? "\\(dq"
                     : s[i] == '^'  ? "\\(ha"
                     : s[i] == '~'  ? "\\(ti"
                     : s[i] == '-'  ? hyphen
                                    : NULL;
    if (as != NULL) {
      fs_text_puts(t, as);
    } else {
      fs_text_add(t, s + i, 1);
    }
  }
}

void gen_escaped(fs_text *t, const char *s, size_t n) { put_escaped(t, s, n, "\\-"); }

static void put_font(fs_text *t, char font, const char *s, size_t n) {
  fs_text_puts(t, font == 'B' ? "\\fB" : "\\fI");
  put_escaped(t, s, n, "\\-");
  fs_text_puts(t, "\\fP");
}

/* Writes the spelling of an argument: names in capitals, which stand for values of the user, are in
 * italics; other words, which are literal, in bold; signs are unchanged. */
static void put_argument(fs_text *t, const char *argument) {
  for (const char *p = argument; *p != '\0';) {
    size_t n = strcspn(p, "|=[] ");
    if (n == 0) {
      fs_text_puts(t, *p == '|' ? "\\||\\|" : (char[]){*p, '\0'});
      p++;
      continue;
    }
    put_font(t, isupper((unsigned char)*p) ? 'I' : 'B', p, n);
    p += n;
  }
}

/* The font of a word that is a part of the argument's spelling, as in put_argument; else 0. */
static char font_of(const char *argument, const char *word, size_t n) {
  for (const char *p = argument; p != NULL && *p != '\0';) {
    size_t m = strcspn(p, "|=[] ");
    if (m > 0 && m == n && memcmp(p, word, n) == 0) {
      return isupper((unsigned char)*p) ? 'I' : 'B';
    }
    p += m + (p[m] != '\0');
  }
  return 0;
}

/* The length of the name in a reference such as name(5); 0: the word is none. */
static size_t page_name(const char *word, size_t n) {
  const char *bracket = memchr(word, '(', n);
  return bracket != NULL && bracket > word && (size_t)(bracket - word) + 3 <= n &&
                 isdigit((unsigned char)bracket[1]) && bracket[2] == ')'
             ? (size_t)(bracket - word)
             : 0;
}

/* Writes a word of an option's help, with the punctuation around it. */
static void put_word(fs_text *t, const char *argument, const char *word, size_t n) {
  size_t open = word[0] == '(' || word[0] == '"', close = n;
  size_t name = page_name(word + open, n - open);
  while (close > open && strchr(".,;:)\"", word[close - 1]) != NULL) {
    close--;
  }
  put_escaped(t, word, open, "-");
  fs_text_puts(t, memchr(word, '_', n) == NULL ? "" : "\\%"); /* identifiers are not hyphenated */
  if (name > 0) {
    put_font(t, 'B', word + open, name);
    close = open + name;
  } else if (word[open] == '-' && close > open + 1) {
    put_font(t, 'B', word + open, close - open);
  } else {
    char font = font_of(argument, word + open, close - open);
    if (font != 0) {
      put_font(t, font, word + open, close - open);
    } else {
      put_escaped(t, word + open, close - open, "-");
    }
  }
  put_escaped(t, word + close, n - close, "-");
}

static bool ends_sentence(const char *word, size_t n, const char *next) {
  n -= n > 1 && word[n - 1] == ')';
  return word[n - 1] == '.' && (isupper((unsigned char)next[0]) || next[0] == '-');
}

void gen_prose(fs_text *t, const char *argument, const char *text) {
  size_t column = 0;
  while (*text != '\0') {
    size_t n = strcspn(text, " ");
    const char *next = text + n + (text[n] == ' ');
    if (column > 0 && column + 1 + n > FILL) {
      fs_text_puts(t, "\n");
      column = 0;
    }
    fs_text_puts(t, column > 0 ? " " : text[0] == '.' || text[0] == '\'' ? "\\&" : "");
    put_word(t, argument, text, n);
    column += n + (column > 0);
    if (*next == '\0' || ends_sentence(text, n, next)) {
      fs_text_puts(t, "\n");
      column = 0;
    }
    text = next;
  }
}

/* ---- markers */

static fs_cmd command_named(const char *name) {
  int c = 0;
  while (c < FS_CMD_COUNT && strcmp(name, fs_cmd_table[c].name) != 0) {
    c++;
  }
  return (fs_cmd)c;
}

static void put_words(fs_text *t, fs_option option) {
  fs_word word;
  for (uint32_t k = 0; fs_option_word(option, k, &word); k++) {
    fs_text_puts(t, k == 0 ? ".RS\n.TP 12\n" : ".TP\n");
    put_font(t, 'B', word.name, strlen(word.name));
    fs_text_puts(t, "\n");
    gen_prose(t, NULL, word.what);
  }
  fs_text_puts(t, fs_option_word(option, 0, &word) ? ".RE\n" : "");
}

static void put_option(fs_text *t, fs_option option) {
  const fs_option_info *o = &fs_option_table[option];
  fs_text_puts(t, ".TP\n");
  for (int form = 0; form < 2; form++) {
    const char *name = form == 0 ? o->short_name : o->long_name;
    if (name != NULL) {
      fs_text_puts(t, form == 1 && o->short_name != NULL ? ", \\fB" : "\\fB");
      fs_text_puts(t, form == 0 ? "\\-" : "\\-\\-");
      put_escaped(t, name, strlen(name), "\\-");
      fs_text_puts(t, "\\fP");
    }
  }
  if (o->argument != NULL) {
    fs_text_puts(t, o->argument[0] == '[' ? "" : " ");
    put_argument(t, o->argument);
  }
  fs_text_puts(t, "\n");
  gen_prose(t, o->argument, o->help);
  put_words(t, option);
}

static bool put_options(fs_text *t, const char *name) {
  fs_cmd command = command_named(name);
  for (int o = 0; command != FS_CMD_COUNT && o < FS_OPTION_COUNT; o++) {
    if (fs_option_is_on((fs_option)o, command)) {
      put_option(t, (fs_option)o);
    }
  }
  return command != FS_CMD_COUNT;
}

static bool put_synopsis(fs_text *t, const char *name) {
  fs_cmd command = command_named(name);
  if (command == FS_CMD_COUNT) {
    return false;
  }
  fs_text_printf(t, ".B fsched %s\n[\\fIOPTION\\fP...] ", name);
  put_argument(t, fs_cmd_table[command].operands);
  fs_text_puts(t, "\n");
  return true;
}

static void put_common(fs_text *t) {
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    bool all = true;
    for (int c = 0; c < FS_CMD_COUNT; c++) {
      all = all && (c == FS_CMD_HELP || fs_option_is_on((fs_option)o, (fs_cmd)c));
    }
    if (all) {
      put_option(t, (fs_option)o);
    }
  }
}

static void put_commands(fs_text *t) {
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    fs_text_printf(t, ".TP\n.BR fsched\\-%s (1)\n", fs_cmd_table[c].name);
    fs_describe_command(t, (fs_cmd)c);
    fs_text_puts(t, "\n");
  }
}

static bool put_status(fs_text *t, char *words) {
  static const char *const meaning[] = {
      "Done.",
      "The input is bad: a graph, a target, a schedule, a damaged command stream, or another\nfile "
      "that is read.",
      "The command line is bad.",
      "There is no schedule, or none was found: the buffers of one operation do not\nfit its "
      "memory, it uses more of a resource than there is, or a memory without a\nbacking store is "
      "too small; or there are too few barriers or slots of them, or the\npublished barrier method "
      "would deadlock.",
      "Verification failed: the file is well-formed but wrong.",
      "The machine failed: a file, memory, or a device.",
      "A replay failed: a kernel, a wait that is stuck, or a result that is not right."};
  for (char *w = words; *w != '\0'; w += *w == ' ') {
    unsigned long n = strtoul(w, &w, 10);
    if (n >= sizeof meaning / sizeof meaning[0] || (*w != '\0' && *w != ' ')) {
      return false;
    }
    fs_text_printf(t, ".TP\n.B %lu\n%s\n", n, meaning[n]);
  }
  return true;
}

static bool put_api(fs_text *t, const char *name) {
  char path[128];
  (void)snprintf(path, sizeof path, "include/fsched/%s", name);
  char *header = gen_read_file(path);
  bool good = header != NULL && gen_api(t, header);
  free(header);
  return good;
}

static bool put_marker(fs_text *t, char *marker) {
  size_t n = strcspn(marker, " ");
  char *rest = marker + n + (marker[n] == ' ');
  marker[n] = '\0';
  if (strcmp(marker, "OPTIONS") == 0) {
    return put_options(t, rest);
  }
  if (strcmp(marker, "SYNOPSIS") == 0) {
    return put_synopsis(t, rest);
  }
  if (strcmp(marker, "STATUS") == 0) {
    return put_status(t, rest);
  }
  if (strcmp(marker, "API") == 0) {
    return put_api(t, rest);
  }
  bool common = strcmp(marker, "COMMON") == 0;
  if (common) {
    put_common(t);
  } else if (strcmp(marker, "COMMANDS") == 0) {
    put_commands(t);
  } else {
    return false;
  }
  return true;
}

/* ---- lines */

static void put_title(fs_text *t, const char *line, size_t n, const char *date) {
  static const char on[] = "@DATE@", version[] = "@VERSION@";
  for (size_t i = 0; i < n;) {
    if (strncmp(line + i, on, sizeof on - 1) == 0) {
      fs_text_puts(t, date);
      i += sizeof on - 1;
    } else if (strncmp(line + i, version, sizeof version - 1) == 0) {
      fs_text_puts(t, fsched_version());
      i += sizeof version - 1;
    } else {
      fs_text_add(t, line + i++, 1);
    }
  }
  fs_text_puts(t, "\n");
}

bool gen_page(fs_text *t, const char *name, const char *source, const char *date) {
  static const char mark[] = ".\\\" @";
  uint32_t number = 1;
  for (const char *line = source; *line != '\0'; number++) {
    size_t n = strcspn(line, "\n"), from = sizeof mark - 1;
    char marker[128];
    if (n > from + 1 && n - from < sizeof marker && strncmp(line, mark, from) == 0 &&
        line[n - 1] == '@') {
      (void)snprintf(marker, sizeof marker, "%.*s", (int)(n - from - 1), line + from);
      if (!put_marker(t, marker)) {
        fprintf(stderr, "%s:%u: no such marker: %.*s\n", name, number, (int)n, line);
        return false;
      }
    } else if (strncmp(line, ".TH ", 4) == 0) {
      put_title(t, line, n, date);
    } else {
      fs_text_add(t, line, n);
      fs_text_puts(t, "\n");
    }
    line += n + (line[n] == '\n');
  }
  return true;
}
