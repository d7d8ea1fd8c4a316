/* SPDX-License-Identifier: Apache-2.0 */
/* fsched explain */
#include "cli.h"
#include "file.h"
#include "fsched/compile.h"

static fs_status explain(fs_cli *cli, const fsched_program *program, const char *output) {
  fsched_explain_options o = {
      .size = sizeof o,
      .format = fs_cli_json(cli) ? FSCHED_EXPLAIN_JSON : FSCHED_EXPLAIN_TEXT,
      .all = cli->verbose};
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fsched_program_explain(cli->ctx, program, &o, cli->args.operand + 1,
                                cli->args.n_operands - 1, &text, &length));
  fs_status status = fs_file_write(cli->ctx, output, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}

fs_status fs_cli_explain(fs_cli *cli) {
  fsched_program *program = NULL;
  const char *input = cli->args.operand[0];
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  output = output == NULL ? "-" : output;
  FS_TRY(fs_cli_check_input(cli, input, &output, 1));
  FS_TRY(fs_cli_open_program(cli, input, &program));
  fs_status status = explain(cli, program, output);
  fsched_program_destroy(program);
  return status;
}
