/* SPDX-License-Identifier: Apache-2.0 */
/* The commands fsched dis and fsched asm. */
#include "base/files/file.h"
#include "cli/common/cli.h"
#include "fsched/compile.h"

static fs_status disassemble(fs_cli *cli, const fsched_program *program, char **text,
                             size_t *length) {
  return (fs_cli_json(cli) ? fsched_program_json : fsched_program_text)(cli->ctx, program, text,
                                                                        length);
}

fs_status fs_cli_dis(fs_cli *cli) { return fs_cli_write_of_program(cli, disassemble); }

static fs_status assemble(fs_cli *cli, const char *name, const char *text, size_t length,
                          fsched_program **out) {
  fs_kind kind = fs_cli_kind(text, length);
  if (kind != FS_KIND_PROGRAM_JSON && kind != FS_KIND_OTHER) {
    return fs_cli_wrong_kind(cli, name, "the JSON form of a program", kind);
  }
  return fsched_program_assemble(cli->ctx, name, text, length, out);
}

fs_status fs_cli_asm(fs_cli *cli) {
  const char *input = cli->args.operand[0];
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  if (output == NULL) {
    output = fs_cli_is_std(input) ? "-" : fs_cli_with_suffix(cli, input, ".json", ".fsb");
  }
  if (output == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fs_cli_check_terminal(cli, output));
  FS_TRY(fs_cli_check_input(cli, input, &output, 1));
  FS_TRY(fs_cli_check_results(cli, &output, 1));
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_file_read(cli->ctx, input, &text, &length));
  fsched_program *program = NULL;
  fs_status status = assemble(cli, fs_cli_shown(input), text, length, &program);
  (void)fs_realloc(cli->ctx, text, length + 1, 0);
  FS_TRY(status);
  size_t size;
  const void *bytes = fsched_program_bytes(program, &size);
  status = fs_file_write(cli->ctx, output, bytes, size);
  fsched_program_destroy(program);
  return status;
}
