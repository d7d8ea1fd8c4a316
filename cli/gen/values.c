/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the values of an argument from its spelling: bars separate the words of a choice (N is a
 * number), FILE and GRAPH are files, A.fsb is a file with that suffix, A=FILE and A[=FILE] are a
 * word and then a file.  Other capitals are free text, unless fs_option_word has words for them. */
#include <ctype.h>

#include "fsched/fsched.h"

#include "cli/gen/gen.h"

/* The text of a file is one record.  A target of its own, named in a line, takes its place.  From
 * "memories" up to the next key of a target or graph, what stands behind "name" is a memory. */
const char gen_awk_memories[] =
    "BEGIN { RS = \"\\001\" }\n"
    "{\n"
    "  t = $0\n"
    "  if (match(t, /(^|\\n)[ ]*\"?target\"?[ ]*:[ ]*\"?[^{\"# \\n][^\"#,\\n]*/)) {\n"
    "    f = substr(t, RSTART, RLENGTH)\n"
    "    sub(/.*target\"?[ ]*:[ ]*\"?/, \"\", f)\n"
    "    sub(/[ ]+$/, \"\", f)\n"
    "    d = FILENAME\n"
    "    sub(/[^\\/]*$/, \"\", d)\n"
    "    f = f ~ /^\\// ? f : d f\n"
    "    if ((getline t < f) <= 0) exit\n"
    "  }\n"
    "  i = index(t, \"memories\")\n"
    "  s = i == 0 ? \"\" : substr(t, i + 8)\n"
    "  if (match(s, "
    "/[^a-z](queues|resources|buffers|ops|concurrency|barriers|frontier|sync|time_unit|launch|wait|"
    "hazards)\"?[ ]*:/)) s = substr(s, 1, RSTART)\n"
    "  while (match(s, /[^a-z_]name\"?[ ]*:[ ]*\"?[^\",} \\n]+/)) {\n"
    "    w = substr(s, RSTART, RLENGTH)\n"
    "    s = substr(s, RSTART + RLENGTH)\n"
    "    sub(/.*:[ ]*\"?/, \"\", w)\n"
    "    print w\n"
    "  }\n"
    "}";
const char gen_sed_ops[] = "s/^ *{\"kind\": \"run\", \"op\": \"\\([^\"\\]*\\)\".*/\\1/p";

static void add_word(fs_text *t, const char *word, size_t n) {
  fs_text_puts(t, " ");
  fs_text_add(t, word, n);
}

/* The next part of a list, which ends at one of `ends`; NULL: there is none. */
static const char *next_part(const char **at, const char *ends, size_t *n) {
  const char *part = *at + strspn(*at, ends);
  *n = strcspn(part, ends);
  *at = part + *n;
  return *n == 0 ? NULL : part;
}

/* Adds the suffixes of a file's spelling; false: it does not stand for a file. */
static bool add_suffixes(fs_text *t, const char *part, size_t n) {
  const char *dot = memchr(part, '.', n);
  if (dot != NULL) {
    add_word(t, dot + 1, n - (size_t)(dot + 1 - part));
  } else if (n == strlen("GRAPH") && memcmp(part, "GRAPH", n) == 0) {
    fs_text_puts(t, " yaml yml json");
  } else {
    return n == strlen("FILE") && memcmp(part, "FILE", n) == 0;
  }
  return true;
}

/* The kind of an argument in capitals, which stands for a value of the user. */
static gen_kind spelled_in_capitals(gen_value *v, const char *argument) {
  size_t n;
  gen_kind kind = GEN_FREE;
  for (const char *at = argument, *part; (part = next_part(&at, "| ", &n)) != NULL;) {
    if (add_suffixes(&v->words, part, n)) {
      kind = GEN_FILE;
    }
  }
  return kind;
}

static gen_kind spelled(gen_value *v, const char *argument) {
  if (isupper((unsigned char)argument[0]) && strncmp(argument, "N|", 2) != 0) {
    return spelled_in_capitals(v, argument);
  }
  size_t n;
  argument += 2 * (strncmp(argument, "N|", 2) == 0); /* numbers are not completed */
  for (const char *at = argument, *part; (part = next_part(&at, "|", &n)) != NULL;) {
    add_word(&v->words, part, n);
  }
  return GEN_WORDS;
}

/* Adds the text up to the end of its first sentence. */
static void add_sentence(fs_text *t, const char *text) {
  const char *end = strstr(text, ". ");
  size_t n = end == NULL ? strlen(text) : (size_t)(end - text);
  fs_text_add(t, text, n - (end == NULL && n > 0 && text[n - 1] == '.'));
}

bool gen_word(fs_option option, uint32_t k, fs_text *name, fs_text *what) {
  assert(option < FS_OPTION_COUNT);
  static const struct {
    const char *prefix, *meaning;
  } forms[] = {
      {"", ""}, {"no-", "Not: "}, {"error=", "As an error: "}, {"no-error=", "Not as an error: "}};
  uint32_t n = 0, form = 0, classes = option == FS_OPTION_WARN ? fsched_warning_count() : 0;
  fs_word word;
  while (fs_option_word(option, n, &word)) {
    n++;
  }
  for (; form < 4 && k >= (form < 2 ? n : classes); form++) {
    k -= form < 2 ? n : classes;
  }
  if (form > (classes > 0 ? 3 : 0) || !fs_option_word(option, k, &word)) {
    return false;
  }
  name->n = what->n = 0;
  fs_text_puts(name, forms[form].prefix);
  fs_text_puts(name, word.name);
  fs_text_puts(what, forms[form].meaning);
  add_sentence(what, word.what);
  return true;
}

gen_value gen_option_value(fsched_context *ctx, fs_option option) {
  assert(option < FS_OPTION_COUNT);
  const char *argument = fs_option_table[option].argument;
  gen_value v = {.kind = GEN_FLAG, .argument = argument};
  fs_text_init(&v.words, ctx);
  if (argument == NULL) {
    return v;
  }
  if (argument[0] == '[') { /* of the form "[=X]" */
    v.joined = true;
    v.kind = isupper((unsigned char)argument[2]) ? GEN_FREE : GEN_WORDS;
    if (v.kind == GEN_WORDS) {
      add_word(&v.words, argument + 2, strlen(argument) - 3);
    }
    return v;
  }
  const char *equals = strchr(argument, '=');
  gen_kind kind = equals == NULL                  ? GEN_WORDS
                  : strcmp(equals, "=FILE") == 0  ? GEN_PAIR
                  : strcmp(equals, "=FILE]") == 0 ? GEN_EITHER
                                                  : GEN_WORDS;
  fs_text name, what;
  fs_text_init(&name, ctx);
  fs_text_init(&what, ctx);
  for (uint32_t k = 0; gen_word(option, k, &name, &what); k++) {
    v.kind = kind;
    add_word(&v.words, name.at, name.n);
  }
  fs_text_drop(&name);
  fs_text_drop(&what);
  if (v.kind == GEN_FLAG) {
    v.kind = strcmp(argument, "NAME=CAPACITY") == 0 ? GEN_MEMORY : spelled(&v, argument);
  }
  return v;
}

gen_value gen_operand_value(fsched_context *ctx, fs_cmd command) {
  assert(command < FS_CMD_COUNT);
  const char *operands = fs_cmd_table[command].operands;
  gen_value v = {.argument = operands};
  fs_text_init(&v.words, ctx);
  if (*operands == '\0') {
    v.kind = GEN_FLAG;
    return v;
  }
  if (strcmp(operands, "[COMMAND]") != 0) {
    fs_word word;
    bool kind = fs_command_word(command, 0, &word); /* "KIND FILE": v is about the rest */
    v.argument = kind ? operands + strlen("KIND ") : operands;
    v.kind = spelled_in_capitals(&v, v.argument);
    return v;
  }
  v.kind = GEN_COMMAND;
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    add_word(&v.words, fs_cmd_table[c].name, strlen(fs_cmd_table[c].name));
  }
  return v;
}

bool gen_takes_ops(fs_cmd command) {
  assert(command < FS_CMD_COUNT);
  return strstr(fs_cmd_table[command].operands, " [OP]") != NULL;
}

void gen_kinds(fs_text *t, fs_cmd command) {
  assert(command < FS_CMD_COUNT);
  fs_word word;
  for (uint32_t k = 0; fs_command_word(command, k, &word); k++) {
    add_word(t, word.name, strlen(word.name));
  }
}

void gen_brief(fs_text *t, fs_option option) {
  assert(option < FS_OPTION_COUNT);
  const char *help = fs_option_table[option].help, *end = help;
  while (*end != '\0' && !(end[0] == '.' && (end[1] == ' ' || end[1] == '\0'))) {
    end++;
  }
  const char *list = memchr(help, ';', (size_t)(end - help));
  fs_text_add(t, help, (size_t)((list == NULL ? end : list) - help));
}

bool gen_repeats(fs_option option) {
  assert(option < FS_OPTION_COUNT);
  return strstr(fs_option_table[option].help, "may be repeated") != NULL;
}
