/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, parsed by the table in options.def.
 *
 * Long options take `--name value` or `--name=value`, short ones `-o value` or `-ovalue`.  Flags of
 * one letter may be joined.  Options may follow operands; after `--` there are only operands, and
 * `-` is an operand.  If an option is given several times, the last one counts, unless the option
 * may be repeated. */
#ifndef FS_ARGS_H
#define FS_ARGS_H

#include "base/context.h"
#include "base/mem.h"

typedef enum fs_cmd {
#define FS_COMMAND(id, name, operands, least, most, summary) FS_CMD_##id,
#include "cli/common/options.def"
  FS_CMD_COUNT
} fs_cmd;

typedef enum fs_option {
#define FS_OPTION(id, commands, long_name, short_name, argument, help) FS_OPTION_##id,
#include "cli/common/options.def"
  FS_OPTION_COUNT
} fs_option;

typedef struct fs_cmd_info {
  const char *name, *operands;
  uint32_t least, most; /* least and largest number of operands */
  const char *summary;
} fs_cmd_info;

typedef struct fs_option_info {
  uint32_t commands; /* one bit per fs_cmd */
  const char *long_name, *short_name, *argument, *help;
} fs_option_info;

extern const fs_cmd_info fs_cmd_table[FS_CMD_COUNT];
extern const fs_option_info fs_option_table[FS_OPTION_COUNT];

typedef struct fs_given {
  fs_option option;
  const char *value; /* "" for a flag */
} fs_given;

typedef struct fs_args {
  fs_cmd command;
  uint32_t n_operands, n_given;
  const char **operand;
  fs_given *given;
} fs_args;

/* The command of that name; FS_CMD_COUNT if there is none (reported).  Requires a name. */
fs_cmd fs_args_command(fsched_context *ctx, fs_arena *arena, const char *name);
/* Parses the words after the command's name.  Requires a command of the table.  Errors:
 * FSCHED_USAGE, reported. */
fs_status fs_args_parse(fsched_context *ctx, fs_arena *arena, fs_cmd command, int argc,
                        char *const *argv, fs_args *out) FS_MUST_USE;
/* Finds only --color and --diagnostics, anywhere in a command line that could not be parsed, as
 * they also apply to the report of that fault.  Requires the command line. */
fs_status fs_args_forms(fs_arena *arena, int argc, char *const *argv, fs_args *out) FS_MUST_USE;
/* The last value of an option; NULL if it is not given.  Requires an option of the table. */
const char *fs_args_last(const fs_args *args, fs_option option);
static inline bool fs_args_has(const fs_args *args, fs_option option) {
  return fs_args_last(args, option) != NULL;
}
/* The last value of an option that is a choice, as its index; `otherwise` if it is not given.
 * Requires an option of the table. */
uint32_t fs_args_choice(const fs_args *args, fs_option option, uint32_t otherwise);
/* Lists all values of a repeatable option, in order.  Requires an option of the table. */
fs_status fs_args_all(fs_arena *arena, const fs_args *args, fs_option option,
                      const char *const **values, size_t *n) FS_MUST_USE;
/* The index of the choice in "a|b|c" (or "a") that is equal to `value`; FS_NONE if there is none.
 * Requires choices and a value. */
uint32_t fs_choice_index(const char *choices, const char *value);
/* Reads a number; false if it has other characters than decimal digits, or overflows.  Requires a
 * text. */
bool fs_parse_u64(const char *text, uint64_t *value);
/* Reads seconds above 0, with at most three decimals, as milliseconds; false if the text is none or
 * overflows.  Requires a text. */
bool fs_parse_milliseconds(const char *text, uint64_t *value);
/* Reads a length like 1us or 2.5ns in picoseconds; false if the text is none, or if it is 0, above
 * 2^40 ns, or no whole number of picoseconds.  Requires a text. */
bool fs_parse_length(const char *text, uint64_t *ps);
/* A hint "did you mean X?" for the nearest of a list separated by bars, in the arena; NULL if none
 * is near.  Requires choices and a word. */
const char *fs_nearest_hint(fs_arena *arena, const char *choices, const char *word);
/* Reports a bad command line. */
#define fs_usage(ctx, hint, ...) \
  fs_fail((ctx), FSCHED_USAGE, FS_DIAG_USAGE, FS_NOWHERE, (hint), __VA_ARGS__)

#endif
