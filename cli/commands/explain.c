/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched explain. */
#include "cli/common/cli.h"

static fs_status explain_by(fs_cli *cli, const fsched_program *program, const fsched_graph *graph,
                            char **text, size_t *length) {
  fsched_explain_options o = {
      .size = sizeof o,
      .format = fs_cli_json(cli) ? FSCHED_EXPLAIN_JSON : FSCHED_EXPLAIN_TEXT,
      .all = cli->verbose,
      .graph = graph};
  return fsched_program_explain(cli->ctx, program, &o, cli->args.operand + 1,
                                cli->args.n_operands - 1, text, length);
}

static fs_status explain(fs_cli *cli, const fsched_program *program, char **text, size_t *length) {
  const char *path = fs_args_last(&cli->args, FS_OPTION_EXPLAIN_GRAPH);
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  fsched_graph *graph = NULL;
  if (path != NULL) {
    FS_TRY(fs_cli_read_graph(cli, path, &graph));
  }
  fs_status status =
      graph == NULL || output == NULL ? FSCHED_OK : fs_cli_check_graph_files(cli, graph, output);
  if (status == FSCHED_OK) {
    status = explain_by(cli, program, graph, text, length);
  }
  fsched_graph_destroy(graph);
  return status;
}

fs_status fs_cli_explain(fs_cli *cli) {
  FS_TRY(fs_cli_check_graph_option(cli, cli->args.operand[0],
                                   fs_args_last(&cli->args, FS_OPTION_EXPLAIN_GRAPH)));
  return fs_cli_write_of_program(cli, explain);
}
