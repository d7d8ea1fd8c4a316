/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the completion for bash 4.  A case per command gives its options, its operands, and the
 * values of each option; the rest is one function.  The shell splits words at "=", so these are
 * first put together again, and the part that readline considers complete is cut off at the end. */
#include "cli/gen/gen.h"

static const char head[] =
    "# bash completion for fsched(1); made from its table of options\n"
    "_fsched_files() { # suffixes: files that have one, and directories; else any file\n"
    "  local suffix\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  for suffix in $1; do\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X \"!*.$suffix\" -- \"$value\")\n"
    "  done\n"
    "  [[ -z $1 ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$value\")\n"
    "  ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- \"$value\")\n"
    "}\n"
    "_fsched_first() { # suffixes, words: sets file to the first file with one of them\n"
    "  for file in \"${@:2}\"; do\n"
    "    file=${file#--*=}\n"
    "    [[ \" $1 \" != *\" ${file##*.} \"* || ! -f $file ]] || return 0\n"
    "  done\n"
    "  return 1\n"
    "}\n"
    "_fsched_memories() { # words: memories of the graph among them\n"
    "  local file\n"
    "  _fsched_first 'yaml yml json' \"$@\" && awk '";
static const char ops[] =
    "' \"$file\" 2>/dev/null\n"
    "}\n"
    "_fsched_ops() { # words: ops of the stream among them\n"
    "  local file\n"
    "  _fsched_first fsb \"$@\" && fsched dis \"$file\" --format json 2>/dev/null | sed -n '";
static const char begin[] =
    "'\n"
    "}\n"
    "_fsched() {\n"
    "  local words=() n=-1 i\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == = ]]; then\n"
    "      words[n]+=${COMP_WORDS[i]}\n"
    "    else\n"
    "      words[++n]=${COMP_WORDS[i]}\n"
    "    fi\n"
    "  done\n"
    "  local word=${words[n]} option='' value=${words[n]} options='' operand='' kind='' list=''\n"
    "  local joined=0 before\n"
    "  COMPREPLY=()\n";

static const char middle[] =
    "  if [[ $word == --*=* ]]; then\n"
    "    option=${word%%=*} value=${word#*=} joined=1\n"
    "  elif ((n > 2)) && [[ ${words[n - 1]} == -?* ]]; then\n"
    "    option=${words[n - 1]}\n"
    "  fi\n"
    "  case ${words[1]} in\n";

static const char tail[] =
    "    *) return ;;\n"
    "  esac\n"
    "  for ((i = 2; i < n; i++)); do # what follows \"--\" is no option\n"
    "    [[ ${words[i]} != -- ]] || { kind='' options='' value=$word; }\n"
    "  done\n"
    "  case $kind in\n"
    "    free) ;;\n"
    "    words)\n"
    "      mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$value\")\n"
    "      COMPREPLY=(\"${COMPREPLY[@]#\"${value%\"${value#*=}\"}\"}\")\n"
    "      value=${value#*=}\n"
    "      ;;\n"
    "    file) _fsched_files \"$list\" ;;\n"
    "    memory)\n"
    "      compopt -o nospace 2>/dev/null\n"
    "      [[ $value == *=* ]] || mapfile -t COMPREPLY < <(compgen -S = -W "
    "\"$(_fsched_memories \"${words[@]:2:n-2}\")\" -- \"$value\")\n"
    "      ;;\n"
    "    pair | either)\n"
    "      if [[ $value == *=* ]]; then\n"
    "        value=${value#*=}\n"
    "        _fsched_files ''\n"
    "      else\n"
    "        [[ $kind == either ]] || compopt -o nospace 2>/dev/null\n"
    "        [[ $kind == either ]] && before='' || before='='\n"
    "        mapfile -t COMPREPLY < <(compgen -S \"$before\" -W \"$list\" -- \"$value\")\n"
    "      fi\n"
    "      ;;\n"
    "    *)\n"
    "      if [[ $word == -* && -n $options ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "      else\n"
    "        case $operand in\n"
    "          words*) mapfile -t COMPREPLY < <(compgen -W \"${operand#* }\" -- \"$word\") ;;\n"
    "          ops*)\n"
    "            list=$(_fsched_ops \"${words[@]:2:n-2}\")\n"
    "            if [[ -n $list ]]; then\n"
    "              mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")\n"
    "            else\n"
    "              _fsched_files \"${operand#* }\"\n"
    "            fi\n"
    "            ;;\n"
    "          *) _fsched_files \"${operand#* }\" ;;\n"
    "        esac\n"
    "      fi\n"
    "      ;;\n"
    "  esac\n"
    "  # What stands before the value in its word; up to \"=\", where that breaks words, it is "
    "done.\n"
    "  before=${word%\"$value\"}\n"
    "  [[ $COMP_WORDBREAKS != *=* ]] || before=${before##*=}\n"
    "  if [[ -n $before ]]; then\n"
    "    for i in \"${!COMPREPLY[@]}\"; do\n"
    "      COMPREPLY[i]=$before${COMPREPLY[i]}\n"
    "    done\n"
    "  fi\n"
    "}\n"
    "complete -F _fsched fsched\n";

static void put_names(fs_text *t, fs_option option, const char *between) {
  const fs_option_info *o = &fs_option_table[option];
  if (o->short_name != NULL) {
    fs_text_printf(t, "-%s", o->short_name);
  }
  if (o->long_name != NULL) {
    fs_text_printf(t, "%s--%s", o->short_name == NULL ? "" : between, o->long_name);
  }
}

static void put_list(fs_text *t, const gen_value *v) {
  fs_text_add(t, v->words.n == 0 ? "" : v->words.at + 1, v->words.n == 0 ? 0 : v->words.n - 1);
}

static void put_value(fs_text *t, fs_option option) {
  static const char *const kinds[] = {
      [GEN_FREE] = "free",     [GEN_WORDS] = "words",   [GEN_FILE] = "file",    [GEN_PAIR] = "pair",
      [GEN_EITHER] = "either", [GEN_COMMAND] = "words", [GEN_MEMORY] = "memory"};
  gen_value v = gen_option_value(t->ctx, option);
  if (v.kind != GEN_FLAG) {
    fs_text_puts(t, "        ");
    put_names(t, option, " | ");
    fs_text_printf(t, ") %skind=%s list='", v.joined ? "((!joined)) || " : "", kinds[v.kind]);
    put_list(t, &v);
    fs_text_puts(t, "' ;;\n");
  }
  fs_text_drop(&v.words);
}

/* Writes the options of one letter whose value may be joined to it. */
static void put_letters(fs_text *t, fs_cmd command) {
  bool any = false, words = fs_option_is_on(FS_OPTION_WARN, command);
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    const char *letter = fs_option_table[o].short_name;
    if (fs_option_is_on((fs_option)o, command) && fs_option_table[o].argument != NULL &&
        letter != NULL && letter[1] == '\0') {
      fs_text_puts(t, any ? "" : "      [[ $word != -[");
      fs_text_puts(t, letter);
      any = true;
    }
  }
  fs_text_puts(t, any ? "]?*" : "");
  fs_text_puts(t, any && words ? " && $word != -W" : ""); /* the values of -W are worth a list */
  fs_text_puts(t, any ? " ]] || { option=${word:0:2} value=${word:2}; }\n" : "");
}

/* Completes the words of an operand KIND, until one of them is on the command line. */
static void put_kinds(fs_text *t, fs_cmd command) {
  fs_text kinds;
  fs_text_init(&kinds, t->ctx);
  gen_kinds(&kinds, command);
  if (kinds.n > 0) {
    fs_text_puts(t, "      kind='words");
    fs_text_add(t, kinds.at, kinds.n);
    fs_text_puts(t,
                 "'\n      for i in ${kind#* }; do\n"
                 "        [[ \" ${words[*]:2:n-2} \" != *\" $i \"* ]] || kind=$operand\n"
                 "      done\n      operand=$kind kind=''\n");
  }
  fs_text_drop(&kinds);
}

static void put_command(fs_text *t, fs_cmd command) {
  gen_value operand = gen_operand_value(t->ctx, command);
  fs_text_printf(t, "    %s)\n      operand='%s ", fs_cmd_table[command].name,
                 operand.kind == GEN_COMMAND || operand.kind == GEN_FLAG ? "words"
                 : gen_takes_ops(command)                                ? "ops"
                                                                         : "file");
  put_list(t, &operand);
  fs_text_drop(&operand.words);
  fs_text_puts(t, "'\n");
  put_kinds(t, command);
  fs_text_puts(t, "      options='");
  bool first = true;
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    if (fs_option_is_on((fs_option)o, command)) {
      fs_text_puts(t, first ? "" : " ");
      put_names(t, (fs_option)o, " ");
      first = false;
    }
  }
  fs_text_puts(t, "'\n");
  put_letters(t, command);
  fs_text_puts(t, "      case $option in\n");
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    if (fs_option_is_on((fs_option)o, command)) {
      put_value(t, (fs_option)o);
    }
  }
  fs_text_puts(t, "        *) ;;\n      esac\n      ;;\n");
}

void gen_bash(fs_text *t) {
  fs_text_puts(t, head);
  fs_text_puts(t, gen_awk_memories);
  fs_text_puts(t, ops);
  fs_text_puts(t, gen_sed_ops);
  fs_text_puts(t, begin);
  fs_text_puts(t, "  if ((n == 1)); then\n    mapfile -t COMPREPLY < <(compgen -W '");
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    fs_text_printf(t, "%s ", fs_cmd_table[c].name);
  }
  fs_text_puts(t, "--help --version' -- \"$word\")\n    return\n  fi\n");
  fs_text_puts(t, middle);
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    put_command(t, (fs_cmd)c);
  }
  fs_text_puts(t, tail);
}
