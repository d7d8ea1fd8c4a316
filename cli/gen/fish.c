/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the completion for fish: a `complete` command for each option of each command. */
#include "cli/gen/gen.h"

static const char head[] =
    "# fish completion for fsched(1); made from its table of options\n"
    "function __fsched_is -d 'The command is one of these; without any: there is none yet'\n"
    "    set -l words (commandline -opc)\n"
    "    if test (count $argv) -eq 0\n"
    "        test (count $words) -eq 1\n"
    "    else\n"
    "        test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "    end\n"
    "end\n"
    "function __fsched_files -d 'Files with one of these suffixes, and directories; else any'\n"
    "    set -l token (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
    "    set -l all (__fish_complete_path $token | string replace -r '\\t.*' '')\n"
    "    set -l some (string match -r '.*\\.(?:'(string join '|' $argv)')$|.*/$' -- $all)\n"
    "    if set -q some[1]\n"
    "        printf '%s\\n' $some\n"
    "    else if set -q all[1]\n"
    "        printf '%s\\n' $all\n"
    "    end\n"
    "end\n"
    "function __fsched_pair -d 'A word of $argv[2..], what is $argv[1], and after = a file'\n"
    "    set -l token (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
    "    if string match -q -- '*=*' $token\n"
    "        set -l word (string replace -r '=.*' '=' -- $token)\n"
    "        for file in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $token))\n"
    "            echo $word$file\n"
    "        end\n"
    "    else\n"
    "        printf '%s\\n' $argv[2..] | string replace -r '^([^\\t]*)' '${1}'$argv[1]\n"
    "    end\n"
    "end\n"
    "function __fsched_first -d 'The first file on the line with one of these suffixes'\n"
    "    for word in (commandline -opc)\n"
    "        set -l file (string replace -r '^--[^=]*=' '' -- $word)\n"
    "        if string match -qr '\\.(?:'(string join '|' $argv)')$' -- $file; and test -f $file\n"
    "            echo $file\n"
    "            return\n"
    "        end\n"
    "    end\n"
    "    return 1\n"
    "end\n"
    "function __fsched_memories -d 'Memories of the graph on the line, and ='\n"
    "    set -l file (__fsched_first yaml yml json); or return\n"
    "    awk '";
static const char ops[] =
    "' $file 2>/dev/null | string replace -r '$' '='\n"
    "end\n"
    "function __fsched_ops -d 'Ops of the stream on the line'\n"
    "    set -l file (__fsched_first fsb); or return\n"
    "    fsched dis $file --format json 2>/dev/null | sed -n '";
static const char begin[] =
    "' | sort -u\n"
    "end\n"
    "complete -c fsched -f\n"
    "complete -c fsched -n __fsched_is -s h -l help -d 'Show a summary'\n"
    "complete -c fsched -n __fsched_is -l version -d 'Show versions'\n";

/* Writes a text in single quotes, with backslashes and quotes escaped. */
static void put_quoted(fs_text *t, const char *text, size_t n) {
  fs_text_puts(t, "'");
  for (size_t i = 0; i < n; i++) {
    fs_text_puts(t, text[i] == '\'' || text[i] == '\\' ? "\\" : "");
    fs_text_add(t, text + i, 1);
  }
  fs_text_puts(t, "'");
}

static void put_words(fs_text *t, const gen_value *v, const char *function) {
  fs_text_printf(t, " -a '%s", function);
  fs_text_add(t, v->words.at + (*function == '\0'), v->words.n - (*function == '\0'));
  fs_text_puts(t, *function == '\0' ? "'" : ")'");
}

/* Writes word\t"what it means" ..., for use within single quotes. */
static void put_explained(fs_text *t, fs_option option) {
  fs_text name, what;
  fs_text_init(&name, t->ctx);
  fs_text_init(&what, t->ctx);
  for (uint32_t k = 0; gen_word(option, k, &name, &what); k++) {
    fs_text_puts(t, k == 0 ? "" : " ");
    fs_text_add(t, name.at, name.n);
    fs_text_puts(t, "\\t\"");
    for (size_t i = 0; i < what.n; i++) { /* a quoted text within a quoted text */
      char c = what.at[i];
      fs_text_puts(t, c == '\'' ? "\\" : c == '"' || c == '$' ? "\\\\" : "");
      fs_text_add(t, &c, 1);
    }
    fs_text_puts(t, "\"");
  }
  fs_text_drop(&name);
  fs_text_drop(&what);
}

static void put_value(fs_text *t, const gen_value *v, fs_option option) {
  fs_word word;
  if (fs_option_word(option, 0, &word)) {
    fs_text_puts(t, v->kind == GEN_WORDS  ? " -x -a '"
                    : v->kind == GEN_PAIR ? " -x -a '(__fsched_pair = "
                                          : " -x -a '(__fsched_pair \\'\\' ");
    put_explained(t, option);
    fs_text_puts(t, v->kind == GEN_WORDS ? "'" : ")'");
    return;
  }
  switch (v->kind) {
    case GEN_FLAG:
      break;
    case GEN_FREE:
      fs_text_puts(t, v->joined ? "" : " -x");
      break;
    case GEN_FILE:
      fs_text_puts(t, v->words.n == 0 ? " -r -F" : " -x");
      if (v->words.n > 0) {
        put_words(t, v, "(__fsched_files");
      }
      break;
    case GEN_MEMORY:
      fs_text_puts(t, " -x -a '(__fsched_memories)'");
      break;
    case GEN_PAIR: /* fs_option_word has the words of these */
    case GEN_EITHER:
      break;
    case GEN_WORDS:
    case GEN_COMMAND:
      fs_text_puts(t, v->joined ? "" : " -x");
      put_words(t, v, "");
      break;
  }
}

static void put_option(fs_text *t, fs_cmd command, fs_option option) {
  const fs_option_info *o = &fs_option_table[option];
  fs_text_printf(t, "complete -c fsched -n '__fsched_is %s'", fs_cmd_table[command].name);
  if (o->short_name != NULL) { /* fish calls one of several letters "old" */
    fs_text_printf(t, " -%c %s", o->short_name[1] == '\0' ? 's' : 'o', o->short_name);
  }
  if (o->long_name != NULL) {
    fs_text_printf(t, " -l %s", o->long_name);
  }
  gen_value v = gen_option_value(t->ctx, option);
  put_value(t, &v, option);
  fs_text_drop(&v.words);
  fs_text brief;
  fs_text_init(&brief, t->ctx);
  gen_brief(&brief, option);
  fs_text_puts(t, " -d ");
  put_quoted(t, brief.at, brief.n);
  fs_text_puts(t, "\n");
  fs_text_drop(&brief);
}

static void put_operand(fs_text *t, fs_cmd command) {
  gen_value v = gen_operand_value(t->ctx, command);
  if (v.kind == GEN_FLAG) {
    return; /* the command has no operands */
  }
  fs_text kinds;
  fs_text_init(&kinds, t->ctx);
  gen_kinds(&kinds, command);
  fs_text_add(&kinds, "", 1);
  const char *name = fs_cmd_table[command].name, *list = kinds.failed ? "" : kinds.at;
  const char *seen = "; and __fish_seen_subcommand_from";
  if (*list != '\0') {
    fs_text_printf(t, "complete -c fsched -n '__fsched_is %s; and not%s%s' -k -a '%s'\n", name,
                   seen + strlen("; and"), list, list + 1);
  }
  if (gen_takes_ops(command)) {
    fs_text_printf(
        t,
        "complete -c fsched -n '__fsched_is %s; and __fsched_first fsb >/dev/null' -k -a "
        "'(__fsched_ops)'\n",
        name);
  }
  fs_text_printf(t, "complete -c fsched -n '__fsched_is %s%s%s%s' -k", name,
                 *list == '\0' ? "" : seen, list,
                 gen_takes_ops(command) ? "; and not __fsched_first fsb >/dev/null" : "");
  fs_text_drop(&kinds);
  if (v.kind == GEN_FILE && v.words.n == 0) {
    fs_text_puts(t, " -F");
  } else {
    put_words(t, &v, v.kind == GEN_FILE ? "(__fsched_files" : "");
  }
  fs_text_puts(t, "\n");
  fs_text_drop(&v.words);
}

void gen_fish(fs_text *t) {
  fs_text_puts(t, head);
  fs_text_puts(t, gen_awk_memories);
  fs_text_puts(t, ops);
  fs_text_puts(t, gen_sed_ops);
  fs_text_puts(t, begin);
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    const char *summary = fs_cmd_table[c].summary;
    fs_text_printf(t, "complete -c fsched -n __fsched_is -a %s -d ", fs_cmd_table[c].name);
    put_quoted(t, summary, strlen(summary));
    fs_text_puts(t, "\n");
  }
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    put_operand(t, (fs_cmd)c);
    for (int o = 0; o < FS_OPTION_COUNT; o++) {
      if (fs_option_is_on((fs_option)o, (fs_cmd)c)) {
        put_option(t, (fs_cmd)c, (fs_option)o);
      }
    }
  }
}
