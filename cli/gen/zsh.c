/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the completion for zsh: specifications for its function _arguments, one option per line.
 * In these, brackets enclose explanations and colons separate fields, so both are escaped in texts,
 * and each specification is in single quotes. */
#include "cli/gen/gen.h"

static const char head[] =
    "#compdef fsched\n"
    "# zsh completion for fsched(1); made from its table of options\n"
    "_fsched_pair() { # \"=\" or nothing, words: one of them and that, and after \"=\" a file\n"
    "  if compset -P '*='; then\n"
    "    _files\n"
    "  else\n"
    "    local -a words=(\"${@:2}\")\n"
    "    _describe -t words word words -S \"$1\"\n"
    "  fi\n"
    "}\n"
    "_fsched_first() { # suffixes: sets file to the first file on the line with one of them\n"
    "  for file in \"${words[@]}\"; do\n"
    "    file=${file#--*=}\n"
    "    [[ \" $1 \" == *\" ${file##*.} \"* && -f $file ]] && return 0\n"
    "  done\n"
    "  return 1\n"
    "}\n"
    "_fsched_memories() {\n"
    "  local file\n"
    "  compset -P '*=' && return 1\n"
    "  _fsched_first 'yaml yml json' && compadd -S = -- ${(f)\"$(awk '";
static const char ops[] =
    "' $file 2>/dev/null)\"}\n"
    "}\n"
    "_fsched_ops() {\n"
    "  local file\n"
    "  _fsched_first fsb && compadd -- ${(uf)\"$(fsched dis $file --format json 2>/dev/null | sed "
    "-n '";
static const char begin[] =
    "')\"}\n"
    "}\n"
    "_fsched() {\n"
    "  local curcontext=\"$curcontext\" state state_descr line\n"
    "  local -a commands\n"
    "  typeset -A opt_args\n"
    "  commands=(\n";

static const char middle[] =
    "  )\n"
    "  _arguments -C '(- *)'{-h,--help}'[Show a summary]' \\\n"
    "    '(- *)--version[Show versions]' '1: :->command' '*:: :->words' && return 0\n"
    "  case $state in\n"
    "    command) _describe -t commands command commands; return ;;\n"
    "    words) ;;\n"
    "    *) return 1 ;;\n"
    "  esac\n"
    "  curcontext=\"${curcontext%:*:*}:fsched-$words[1]:\"\n"
    "  case $words[1] in\n";

static const char tail[] =
    "    *) _message 'no such command' ;;\n"
    "  esac\n"
    "}\n"
    "_fsched \"$@\"\n";

/* Writes text for use within single quotes, with a backslash before each character of `escaped`. */
static void put_text(fs_text *t, const char *text, size_t n, const char *escaped) {
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\'') {
      fs_text_puts(t, "'\\''");
      continue;
    }
    if (text[i] == '\\' || strchr(escaped, text[i]) != NULL) {
      fs_text_puts(t, "\\");
    }
    fs_text_add(t, text + i, 1);
  }
}

static void put_brief(fs_text *t, fs_option option) {
  fs_text brief;
  fs_text_init(&brief, t->ctx);
  gen_brief(&brief, option);
  fs_text_puts(t, "[");
  put_text(t, brief.at, brief.n, "[]:");
  fs_text_puts(t, "]");
  fs_text_drop(&brief);
}

static void put_files(fs_text *t, const gen_value *v) {
  fs_text_puts(t, "_files");
  for (size_t i = 0; i < v->words.n; i++) {
    if (v->words.at[i] == ' ') {
      fs_text_puts(t, i == 0 ? " -g \"*.(" : "|");
    } else {
      fs_text_add(t, v->words.at + i, 1);
    }
  }
  fs_text_puts(t, v->words.n == 0 ? "" : ")(-.)\"");
}

/* Writes word\:"what it means" .... */
static void put_explained(fs_text *t, fs_option option) {
  fs_text name, what;
  fs_text_init(&name, t->ctx);
  fs_text_init(&what, t->ctx);
  for (uint32_t k = 0; gen_word(option, k, &name, &what); k++) {
    fs_text_puts(t, k == 0 ? "" : " ");
    fs_text_add(t, name.at, name.n);
    fs_text_puts(t, "\\:\"");
    for (size_t i = 0; i < what.n; i++) {
      if (what.at[i] == '"' || what.at[i] == '$' || what.at[i] == '`') {
        fs_text_puts(t, "\\");
      }
      put_text(t, what.at + i, 1, ":");
    }
    fs_text_puts(t, "\"");
  }
  fs_text_drop(&name);
  fs_text_drop(&what);
}

/* Writes ":message:action"; the option is FS_OPTION_COUNT for an operand. */
static void put_value(fs_text *t, const gen_value *v, fs_option option) {
  fs_text_puts(t, v->joined ? "::" : ":");
  size_t n = strlen(v->argument);
  if (v->joined) { /* of the form "[=NS]" */
    put_text(t, v->argument + 2, n - 3, ":");
  } else {
    put_text(t, v->argument, n, ":");
  }
  fs_text_puts(t, ":");
  size_t from = v->words.n == 0 ? 0 : 1;
  fs_word word;
  if (v->kind == GEN_MEMORY) {
    fs_text_puts(t, "_fsched_memories");
  } else if (v->kind == GEN_FILE) {
    put_files(t, v);
  } else if (v->kind == GEN_PAIR || v->kind == GEN_EITHER) {
    fs_text_puts(t, v->kind == GEN_PAIR ? " _fsched_pair = " : " _fsched_pair \"\" ");
    put_explained(t, option);
  } else if (option != FS_OPTION_COUNT && fs_option_word(option, 0, &word)) {
    fs_text_puts(t, "((");
    put_explained(t, option);
    fs_text_puts(t, "))");
  } else if (v->kind != GEN_FREE) {
    fs_text_puts(t, "(");
    put_text(t, v->words.at + from, v->words.n - from, ":");
    fs_text_puts(t, ")");
  } else {
    fs_text_puts(t, " ");
  }
}

/* Writes '(-o --output)'{-o+,--output=}'[...]:FILE:_files'. */
static void put_option(fs_text *t, fs_option option) {
  const fs_option_info *o = &fs_option_table[option];
  gen_value v = gen_option_value(t->ctx, option);
  bool both = o->short_name != NULL && o->long_name != NULL;
  bool repeats = gen_repeats(option);
  const char *after_short =
      v.kind == GEN_FLAG || o->short_name == NULL || o->short_name[1] != '\0' ? "" : "+";
  const char *after_long = v.kind == GEN_FLAG ? "" : v.joined ? "=-" : "=";
  fs_text_puts(t, " \\\n        ");
  if (both) {
    fs_text_printf(t, repeats ? "'*'" : "'(-%s --%s)'", o->short_name, o->long_name);
    fs_text_printf(t, "{-%s%s,--%s%s}'", o->short_name, after_short, o->long_name, after_long);
  } else if (o->long_name != NULL) {
    fs_text_printf(t, "'%s--%s%s", repeats ? "*" : "", o->long_name, after_long);
  } else {
    fs_text_printf(t, "'%s-%s%s", repeats ? "*" : "", o->short_name, after_short);
  }
  put_brief(t, option);
  if (v.kind != GEN_FLAG) {
    put_value(t, &v, option);
  }
  fs_text_puts(t, "'");
  fs_text_drop(&v.words);
}

/* Writes ":KIND:(words)' '2" if the command has a kind before its other operand. */
static void put_kinds(fs_text *t, fs_cmd command) {
  fs_text kinds;
  fs_text_init(&kinds, t->ctx);
  gen_kinds(&kinds, command);
  if (kinds.n > 0) {
    fs_text_puts(t, ":KIND:(");
    fs_text_add(t, kinds.at + 1, kinds.n - 1);
    fs_text_puts(t, ")' '2");
  }
  fs_text_drop(&kinds);
}

static void put_command(fs_text *t, fs_cmd command) {
  fs_text_printf(t, "    %s)\n      _arguments -S", fs_cmd_table[command].name);
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    if (fs_option_is_on((fs_option)o, command)) {
      put_option(t, (fs_option)o);
    }
  }
  gen_value operand = gen_operand_value(t->ctx, command);
  if (operand.kind != GEN_FLAG) {
    fs_text_puts(t, " \\\n        '1");
    put_kinds(t, command);
    put_value(t, &operand, FS_OPTION_COUNT);
    fs_text_puts(t, "'");
    fs_text_puts(t, gen_takes_ops(command) ? " \\\n        '*:OP:_fsched_ops'" : "");
  }
  fs_text_puts(t, "\n      ;;\n");
  fs_text_drop(&operand.words);
}

void gen_zsh(fs_text *t) {
  fs_text_puts(t, head);
  fs_text_puts(t, gen_awk_memories);
  fs_text_puts(t, ops);
  fs_text_puts(t, gen_sed_ops);
  fs_text_puts(t, begin);
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    const char *summary = fs_cmd_table[c].summary;
    fs_text_printf(t, "    '%s:", fs_cmd_table[c].name);
    put_text(t, summary, strlen(summary), ":");
    fs_text_puts(t, "'\n");
  }
  fs_text_puts(t, middle);
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    put_command(t, (fs_cmd)c);
  }
  fs_text_puts(t, tail);
}
