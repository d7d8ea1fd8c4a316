/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common/describe.h"

bool fs_option_word(fs_option option, uint32_t k, fs_word *out) {
  assert(option < FS_OPTION_COUNT);
  static const fs_word kinds[] = {
#define FS_EMIT(name, before, named, what) {#name, what},
#include "cli/common/emit.def"
#undef FS_EMIT
  };
  static const fs_word warnings[] = {
#define FS_WARN(id, name, group, what) {name, what},
#include "base/warn.def"
#undef FS_WARN
      {"all", "The classes with -Wall."},
      {"extra", "The classes with -Wextra."},
      {"error", "Warnings are errors: nothing is written, and the exit status is 1."},
  };
  static const fs_word passes[] = {
#define FS_PASS(id, name, summary) {name, summary},
#include "compile/passes.def"
#undef FS_PASS
      {"all", "Each of them that runs."},
  };
#define WORDS(id, words) [FS_OPTION_##id] = { words, sizeof words / sizeof words[0] }
  static const struct {
    const fs_word *word;
    size_t n;
  } words[FS_OPTION_COUNT] = {WORDS(EMIT, kinds), WORDS(WARN, warnings), WORDS(DUMP_AFTER, passes)};
#undef WORDS
  if (k >= words[option].n) {
    return false;
  }
  *out = words[option].word[k];
  return true;
}

bool fs_command_word(fs_cmd command, uint32_t k, fs_word *out) {
  assert(command < FS_CMD_COUNT);
  static const fs_word formats[] = {
#define FS_FORMAT(id, name, reader, writer, capacity, what) {name, what},
#include "import/formats.def"
#undef FS_FORMAT
  };
  bool has_kind = command == FS_CMD_IMPORT || command == FS_CMD_EXPORT;
  if (!has_kind || k >= sizeof formats / sizeof formats[0]) {
    return false;
  }
  *out = formats[k];
  return true;
}

void fs_describe_command(fs_text *t, fs_cmd command) {
  assert(command < FS_CMD_COUNT);
  const char *summary = fs_cmd_table[command].summary;
  char first[2] = {(char)(summary[0] - 'a' + 'A'), '\0'};
  fs_text_printf(t, "%s%s.", first, summary + 1);
}
