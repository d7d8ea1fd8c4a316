/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line by the table of options.  A word that begins with "-" is looked up as a
 * whole long name, then as a whole short name of several letters (-MD), then letter by letter.
 * Values are checked as far as the table describes them: "N" is a number, "a|b" a choice, "N|a"
 * either, and the value of "K=V" must contain "=". */
#include "cli/common/args.h"

#include <stdio.h>

#include "base/names.h"
#include "base/text/ticks.h"
#include "exec/host/backends.h"
#include "model/kinds.h"

#define FS_ON(command) (1u << FS_CMD_##command)
#define FS_ON_ALL ((1u << FS_CMD_COUNT) - 1)
#define FS_ON_WORK (FS_ON_ALL & ~FS_ON(HELP))

const fs_cmd_info fs_cmd_table[FS_CMD_COUNT] = {
#define FS_COMMAND(id, name, operands, least, most, summary) {name, operands, least, most, summary},
#include "cli/common/options.def"
};

const fs_option_info fs_option_table[FS_OPTION_COUNT] = {
#define FS_OPTION(id, commands, long_name, short_name, argument, help) \
  {commands, long_name, short_name, argument, help},
#include "cli/common/options.def"
};

bool fs_parse_u64(const char *text, uint64_t *value) {
  assert(text != NULL);
  uint64_t v = 0;
  if (*text == '\0') {
    return false;
  }
  for (; *text != '\0'; text++) {
    unsigned digit = (unsigned)(*text - '0');
    if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
      return false;
    }
    v = v * 10 + digit;
  }
  *value = v;
  return true;
}

bool fs_parse_milliseconds(const char *text, uint64_t *value) {
  assert(text != NULL);
  enum { WHOLE_DIGITS = 12 };
  uint64_t v = 0;
  int digits = 0, decimals = -1;
  for (; *text != '\0'; text++) {
    if (*text == '.' && decimals < 0) {
      decimals = 0;
      continue;
    }
    unsigned digit = (unsigned)(*text - '0');
    if (digit > 9 || ++digits > WHOLE_DIGITS || decimals == 3) {
      return false;
    }
    decimals += decimals >= 0;
    v = v * 10 + digit;
  }
  for (int d = decimals < 0 ? 0 : decimals; d < 3; d++) {
    v *= 10;
  }
  *value = v;
  return digits > 0 && v > 0;
}

bool fs_parse_length(const char *text, uint64_t *ps) {
  assert(text != NULL);
  static const struct {
    char unit[4];
    uint64_t ps;
  } units[] = {{"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};
  uint64_t value = 0, per = 1; /* the digits, and how many of them a unit has */
  bool any = false, point = false;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point && any); text++) {
    if (*text == '.') {
      point = true;
    } else if (value > FS_TICK_MOST_PS || per > FS_TICK_MOST_PS) {
      return false;
    } else {
      value = value * 10 + (uint64_t)(*text - '0');
      per *= point ? 10 : 1;
      any = true;
    }
  }
  for (; per > 1 && value % 10 == 0; per /= 10) {
    value /= 10;
  }
  for (size_t i = 0; any && i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(text, units[i].unit) == 0) {
      *ps = fs_multiply_most(value, units[i].ps / per);
      return units[i].ps % per == 0 && *ps > 0 && *ps <= FS_TICK_MOST_PS;
    }
  }
  return false;
}

/* The k-th choice of a list separated by bars; NULL after the last. */
static const char *choice_at(const char *choices, uint32_t k, size_t *length) {
  const char *p = choices;
  for (; k > 0; k--) {
    p = strchr(p, '|');
    if (p == NULL) {
      return NULL;
    }
    p++;
  }
  *length = strcspn(p, "|");
  return p;
}

uint32_t fs_choice_index(const char *choices, const char *value) {
  assert(choices != NULL && value != NULL);
  size_t length;
  const char *choice;
  for (uint32_t k = 0; (choice = choice_at(choices, k, &length)) != NULL; k++) {
    if (strlen(value) == length && memcmp(choice, value, length) == 0) {
      return k;
    }
  }
  return FS_NONE;
}

enum { CHOICES = 64 }; /* more than any list of choices has */

const char *fs_nearest_hint(fs_arena *arena, const char *choices, const char *word) {
  assert(choices != NULL && word != NULL);
  const char *candidate[CHOICES], *choice;
  size_t length, n = 0;
  for (; n < CHOICES && (choice = choice_at(choices, (uint32_t)n, &length)) != NULL; n++) {
    candidate[n] = fs_arena_strndup(arena, choice, length);
    if (candidate[n] == NULL) {
      return NULL;
    }
  }
  const char *nearest = fs_nearest(word, candidate, n);
  if (nearest == NULL) {
    return NULL;
  }
  static const char around[] = "did you mean ''?";
  size_t size = sizeof around + strlen(nearest);
  char *hint = fs_arena_alloc(arena, size);
  if (hint != NULL) {
    (void)snprintf(hint, size, "did you mean '%s'?", nearest);
  }
  return hint;
}

/* The hint of fs_nearest_hint for a list of choices, which is freed. */
static const char *take_hint(fs_arena *arena, fs_text *choices, const char *word) {
  char *text = NULL;
  size_t n = 0;
  if (fs_text_take(choices, &text, &n) != FSCHED_OK) {
    return NULL;
  }
  const char *hint = fs_nearest_hint(arena, text, word);
  (void)fs_realloc(arena->ctx, text, n + 1, 0);
  return hint;
}

fs_cmd fs_args_command(fsched_context *ctx, fs_arena *arena, const char *name) {
  assert(name != NULL);
  fs_text names;
  fs_text_init(&names, ctx);
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    if (strcmp(name, fs_cmd_table[c].name) == 0) {
      fs_text_drop(&names);
      return (fs_cmd)c;
    }
    fs_text_printf(&names, "%s%s", c == 0 ? "" : "|", fs_cmd_table[c].name);
  }
  const char *hint = take_hint(arena, &names, name);
  (void)fs_usage(ctx, hint, "there is no command '%s'", name);
  return FS_CMD_COUNT;
}

/* The state of the parser. */
typedef struct args_walk {
  fsched_context *ctx;
  fs_arena *arena;
  char *const *next, *const *end; /* words not parsed yet */
  fs_args *args;
} args_walk;

static fs_option find_option(fs_cmd command, const char *name, size_t length, bool is_long) {
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    const fs_option_info *info = &fs_option_table[o];
    const char *own = is_long ? info->long_name : info->short_name;
    if ((info->commands >> command & 1) != 0 && own != NULL && strlen(own) == length &&
        memcmp(own, name, length) == 0) {
      return (fs_option)o;
    }
  }
  return FS_OPTION_COUNT;
}

/* A hint such as "--graph is an option of verify"; NULL if no command has the option. */
static const char *other_command(fs_arena *arena, const char *word, size_t length) {
  bool is_long = length > 2 && word[1] == '-';
  size_t dashes = is_long ? 2 : 1;
  fs_cmd of = FS_CMD_COUNT;
  for (int c = FS_CMD_COUNT; c-- > 0 && length > 2;) {
    if (find_option((fs_cmd)c, word + dashes, length - dashes, is_long) != FS_OPTION_COUNT) {
      of = (fs_cmd)c;
    }
  }
  if (of == FS_CMD_COUNT) {
    return NULL;
  }
  size_t size = length + sizeof " is an option of " + strlen(fs_cmd_table[of].name);
  char *hint = fs_arena_alloc(arena, size);
  if (hint != NULL) {
    (void)snprintf(hint, size, "%.*s is an option of %s", (int)length, word, fs_cmd_table[of].name);
  }
  return hint;
}

/* Options that have another name now: the old name does something else elsewhere, so a hint as for
 * a misspelling would mislead. */
static const struct {
  fs_cmd command;
  const char *name, *now;
} renamed[] = {{FS_CMD_RUN, "--profile", "--save-profile"}};

static const char *name_now(const args_walk *w, const char *word, size_t length) {
  for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
    if (renamed[i].command == w->args->command && strlen(renamed[i].name) == length &&
        memcmp(renamed[i].name, word, length) == 0) {
      return renamed[i].now;
    }
  }
  return NULL;
}

static fs_status unknown_option(const args_walk *w, const char *word, size_t length) {
  const char *now = name_now(w, word, length);
  if (now != NULL) {
    return fs_usage(w->ctx, NULL, "%.*s of %s is called %s", (int)length, word,
                    fs_cmd_table[w->args->command].name, now);
  }
  fs_text names;
  fs_text_init(&names, w->ctx);
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    const fs_option_info *info = &fs_option_table[o];
    bool letter = info->long_name == NULL && info->short_name[1] == '\0'; /* a single letter is near
                                                                           * any other */
    if ((info->commands >> w->args->command & 1) != 0 && !letter) {
      fs_text_printf(&names, "%s-%s%s", names.n == 0 ? "" : "|", info->long_name ? "-" : "",
                     info->long_name ? info->long_name : info->short_name);
    }
  }
  const char *own = fs_arena_strndup(w->arena, word, length);
  const char *elsewhere = other_command(w->arena, word, length);
  const char *hint = take_hint(w->arena, &names, own == NULL ? "" : own);
  hint = elsewhere == NULL ? hint : elsewhere;
  return fs_usage(w->ctx, hint, "%s has no option %.*s", fs_cmd_table[w->args->command].name,
                  (int)length, word);
}

static fs_status check_value(const args_walk *w, fs_option option, const char *shown,
                             const char *value) {
  const char *argument = fs_option_table[option].argument;
  uint64_t number;
  bool digits = *value != '\0' && value[strspn(value, "0123456789")] == '\0';
  if (strcmp(argument, "N") == 0 && !fs_parse_u64(value, &number)) {
    return fs_usage(w->ctx, NULL, "%s wants a decimal number%s, not '%s'", shown,
                    digits ? " below 2^64" : "", value);
  }
  bool or_number = strncmp(argument, "N|", 2) == 0;
  if (or_number && !digits && /* numbers out of the option's range are reported later */
      fs_choice_index(argument + 2, value) == FS_NONE) {
    return fs_usage(w->ctx, fs_nearest_hint(w->arena, argument + 2, value),
                    "%s wants a decimal number or %s, not '%s'", shown, argument + 2, value);
  }
  if (!or_number && strchr(argument, '|') != NULL && fs_choice_index(argument, value) == FS_NONE) {
    const char *hint = fs_nearest_hint(w->arena, argument, value);
    return fs_usage(w->ctx, hint, "%s is one of %s, not '%s'", shown, argument, value);
  }
  const char *equals = strchr(argument, '=');
  bool wanted = equals != NULL && equals > argument && equals[-1] != '[';
  if (wanted && strchr(value, '=') == NULL) {
    return fs_usage(w->ctx, NULL, "%s wants %s, not '%s'", shown, argument, value);
  }
  if (*value == '\0') {
    return fs_usage(w->ctx, NULL, "%s wants %s, not nothing", shown, argument);
  }
  return FSCHED_OK;
}

/* Takes one option; `joined` is the value given in the same word, or NULL. */
static fs_status take_option(args_walk *w, fs_option option, const char *shown,
                             const char *joined) {
  const char *argument = fs_option_table[option].argument;
  const char *value = joined;
  if (argument == NULL) {
    if (joined != NULL) {
      return fs_usage(w->ctx, NULL, "%s takes no value", shown);
    }
  } else if (joined == NULL && argument[0] != '[') {
    if (w->next == w->end) {
      return fs_usage(w->ctx, NULL, "%s wants %s", shown, argument);
    }
    value = *w->next++;
  }
  if (argument != NULL && value != NULL) {
    FS_TRY(check_value(w, option, shown, value));
  }
  w->args->given[w->args->n_given++] = (fs_given){option, value == NULL ? "" : value};
  return FSCHED_OK;
}

static fs_status take_long(args_walk *w, const char *word) {
  size_t length = strcspn(word, "=");
  fs_option option = find_option(w->args->command, word + 2, length - 2, true);
  if (option == FS_OPTION_COUNT) {
    return unknown_option(w, word, length);
  }
  const char *shown = fs_arena_strndup(w->arena, word, length);
  if (shown == NULL) {
    return FSCHED_SYSTEM;
  }
  return take_option(w, option, shown, word[length] == '=' ? word + length + 1 : NULL);
}

static fs_status take_short(args_walk *w, const char *word) {
  fs_option whole = find_option(w->args->command, word + 1, strlen(word + 1), false);
  if (whole != FS_OPTION_COUNT) {
    return take_option(w, whole, word, NULL);
  }
  for (const char *p = word + 1; *p != '\0'; p++) {
    fs_option option = find_option(w->args->command, p, 1, false);
    if (option == FS_OPTION_COUNT) {
      char letter[] = {'-', *p, '\0'};
      return p == word + 1 ? unknown_option(w, word, strlen(word)) : unknown_option(w, letter, 2);
    }
    char shown[] = {'-', *p, '\0'};
    bool rest = fs_option_table[option].argument != NULL && p[1] != '\0';
    FS_TRY(take_option(w, option, shown, rest ? p + 1 : NULL));
    if (rest) {
      break;
    }
  }
  return FSCHED_OK;
}

/* A hint for a number that was taken for an operand, although it follows an option whose value must
 * be joined to it. */
static const char *joined_hint(const args_walk *w) {
  uint64_t number;
  for (uint32_t i = 0; i < w->args->n_given; i++) {
    const fs_option_info *option = &fs_option_table[w->args->given[i].option];
    bool optional = option->argument != NULL && option->argument[0] == '[';
    for (uint32_t k = 0; optional && k < w->args->n_operands; k++) {
      const char *operand = w->args->operand[k];
      if (w->args->given[i].value[0] == '\0' && fs_parse_u64(operand, &number)) {
        size_t size = sizeof "write --=" + strlen(option->long_name) + strlen(operand);
        char *hint = fs_arena_alloc(w->arena, size);
        if (hint != NULL) {
          (void)snprintf(hint, size, "write --%s=%s", option->long_name, operand);
        }
        return hint;
      }
    }
  }
  return NULL;
}

static fs_status check_operands(const args_walk *w) {
  const fs_cmd_info *info = &fs_cmd_table[w->args->command];
  if (w->args->n_operands < info->least) {
    return fs_usage(w->ctx, NULL, "%s wants %s", info->name, info->operands);
  }
  if (w->args->n_operands > info->most) {
    const char *hint = w->args->command == FS_CMD_VERIFY && info->most == 1
                           ? "the graph is given with --graph GRAPH"
                           : joined_hint(w);
    static const char *const takes[] = {"no operand", "one operand", "two operands"};
    return fs_usage(w->ctx, hint, "%s takes %s; '%s' is one too many", info->name,
                    takes[info->most], w->args->operand[info->most]);
  }
  return FSCHED_OK;
}

fs_status fs_args_parse(fsched_context *ctx, fs_arena *arena, fs_cmd command, int argc,
                        char *const *argv, fs_args *out) {
  assert(command < FS_CMD_COUNT && argc >= 0);
  *out = (fs_args){.command = command};
  size_t letters = 1;
  for (int i = 0; i < argc; i++) {
    letters += strlen(argv[i]) + 1;
  }
  FS_TRY(fs_new(arena, &out->operand, (size_t)argc + 1));
  FS_TRY(fs_new(arena, &out->given, letters)); /* joined letters are one option each */
  args_walk w = {.ctx = ctx, .arena = arena, .next = argv, .end = argv + argc, .args = out};
  bool options = true;
  while (w.next < w.end) {
    const char *word = *w.next++;
    if (!options || word[0] != '-' || word[1] == '\0') {
      out->operand[out->n_operands++] = word;
    } else if (strcmp(word, "--") == 0) {
      options = false;
    } else if (word[1] == '-') {
      FS_TRY(take_long(&w, word));
    } else {
      FS_TRY(take_short(&w, word));
    }
  }
  bool no_work = fs_args_has(out, FS_OPTION_HELP) || fs_args_has(out, FS_OPTION_PRINT_PASSES);
  return no_work ? FSCHED_OK : check_operands(&w);
}

/* The value that a word, or the next word if it has none, gives the option; NULL: not a choice. */
static const char *form_value(const fs_option_info *option, const char *word, const char *next) {
  size_t n = strlen(option->long_name);
  if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, option->long_name, n) != 0) {
    return NULL;
  }
  const char *value = word[n + 2] == '=' ? word + n + 3 : word[n + 2] == '\0' ? next : NULL;
  return value != NULL && fs_choice_index(option->argument, value) != FS_NONE ? value : NULL;
}

fs_status fs_args_forms(fs_arena *arena, int argc, char *const *argv, fs_args *out) {
  assert(argc >= 0 && (argv != NULL || argc == 0));
  static const fs_option forms[] = {FS_OPTION_COLOR, FS_OPTION_DIAGNOSTICS};
  *out = (fs_args){.command = FS_CMD_COUNT};
  FS_TRY(fs_new(arena, &out->given, (size_t)argc + 1));
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
      const char *next = i + 1 < argc ? argv[i + 1] : NULL;
      const char *value = form_value(&fs_option_table[forms[k]], argv[i], next);
      if (value != NULL) {
        out->given[out->n_given++] = (fs_given){forms[k], value};
      }
    }
  }
  return FSCHED_OK;
}

const char *fs_args_last(const fs_args *args, fs_option option) {
  assert(option < FS_OPTION_COUNT);
  for (uint32_t i = args->n_given; i-- > 0;) {
    if (args->given[i].option == option) {
      return args->given[i].value;
    }
  }
  return NULL;
}

uint32_t fs_args_choice(const fs_args *args, fs_option option, uint32_t otherwise) {
  assert(option < FS_OPTION_COUNT);
  const char *value = fs_args_last(args, option);
  return value == NULL ? otherwise : fs_choice_index(fs_option_table[option].argument, value);
}

fs_status fs_args_all(fs_arena *arena, const fs_args *args, fs_option option,
                      const char *const **values, size_t *n) {
  assert(option < FS_OPTION_COUNT);
  const char **list;
  FS_TRY(fs_new(arena, &list, (size_t)args->n_given + 1));
  *n = 0;
  for (uint32_t i = 0; i < args->n_given; i++) {
    if (args->given[i].option == option) {
      list[(*n)++] = args->given[i].value;
    }
  }
  *values = list;
  return FSCHED_OK;
}
