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
/* The k-th word of the option's argument; false past the last. */
bool fs_option_word(fs_option option, uint32_t k, fs_word *out);

/* The same of the operand KIND of a command. */
bool fs_command_word(fs_cmd command, uint32_t k, fs_word *out);

static inline bool fs_option_is_on(fs_option option, fs_cmd command) {
  return (fs_option_table[option].commands >> command & 1) != 0;
}
/* "Schedule a graph and write its command stream." */
void fs_describe_command(fs_text *t, fs_cmd command);

#endif
