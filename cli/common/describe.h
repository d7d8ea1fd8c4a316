/* SPDX-License-Identifier: Apache-2.0 */
/* What help, manual and completions say about options: one text for all of them, out of
 * options.def, emit.def, warn.def, passes.def and formats.def. */
#ifndef FS_DESCRIBE_H
#define FS_DESCRIBE_H

#include "cli/common/args.h"

/* One of the words that an argument may be, where they come from another table than options.def:
 * the kinds of --emit, the classes of -W, the passes of --dump-after. */
typedef struct fs_word {
  const char *name, *what;
} fs_word;
/* The k-th word of the option's argument; false past the last.  Requires an option of the table. */
bool fs_option_word(fs_option option, uint32_t k, fs_word *out);

/* The same of the operand KIND of a command.  Requires a command of the table. */
bool fs_command_word(fs_cmd command, uint32_t k, fs_word *out);

/* Requires an option and a command of the tables. */
static inline bool fs_option_is_on(fs_option option, fs_cmd command) {
  assert(option < FS_OPTION_COUNT && command < FS_CMD_COUNT);
  return (fs_option_table[option].commands >> command & 1) != 0;
}
/* "Schedule a graph and write its command stream."  Requires a command of the table. */
void fs_describe_command(fs_text *t, fs_cmd command);

#endif
