/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched explain. */
#include "cli/common/cli.h"

static fs_status explain(fs_cli *cli, const fsched_program *program, char **text, size_t *length) {
  fsched_explain_options o = {
      .size = sizeof o,
      .format = fs_cli_json(cli) ? FSCHED_EXPLAIN_JSON : FSCHED_EXPLAIN_TEXT,
      .all = cli->verbose};
  return fsched_program_explain(cli->ctx, program, &o, cli->args.operand + 1,
                                cli->args.n_operands - 1, text, length);
}

fs_status fs_cli_explain(fs_cli *cli) { return fs_cli_write_of_program(cli, explain); }
