/* SPDX-License-Identifier: Apache-2.0 */
/* Texts about options for help, manual and completions, which share them: from options.def,
 * emit.def, warn.def, passes.def and formats.def. */
#ifndef FS_DESCRIBE_H
#define FS_DESCRIBE_H

#include "cli/common/args.h"

/* A word that an argument may be, if the words come from another table than options.def: the kinds
 * of --emit, the classes of -W, the passes of --dump-after. */
typedef struct fs_word {
  const char *name, *what;
} fs_word;
/* Finds the k-th word of the option's argument; false past the last.  Requires an option of the
 * table. */
bool fs_option_word(fs_option option, uint32_t k, fs_word *out);

/* Finds the k-th word of a command's operand KIND.  Requires a command of the table. */
bool fs_command_word(fs_cmd command, uint32_t k, fs_word *out);

/* Requires an option and a command of the tables. */
static inline bool fs_option_is_on(fs_option option, fs_cmd command) {
  assert(option < FS_OPTION_COUNT && command < FS_CMD_COUNT);
  return (fs_option_table[option].commands >> command & 1) != 0;
}
/* Writes "Schedule a graph and write its command stream." Requires a command of the table. */
void fs_describe_command(fs_text *t, fs_cmd command);

#endif
