/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common/profile.h"

fs_status fs_cli_check_profile(fs_cli *cli) {
  static const fs_option others[] = {FS_OPTION_GRAPH, FS_OPTION_SCHEDULE};
  const char *path = fs_args_last(&cli->args, FS_OPTION_PROFILE);
  if (path == NULL || !fs_cli_is_std(path)) {
    return FSCHED_OK;
  }
  bool taken = fs_cli_is_std(cli->args.operand[0]);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const char *other = fs_args_last(&cli->args, others[i]);
    taken = taken || (other != NULL && fs_cli_is_std(other));
  }
  return taken ? fs_usage(cli->ctx, NULL, "standard input can be read only once") : FSCHED_OK;
}

fs_status fs_cli_apply_profile(fs_cli *cli, fsched_graph *graph) {
  const char *path = fs_args_last(&cli->args, FS_OPTION_PROFILE);
  cli->profile = (fsched_profile_use){.size = sizeof cli->profile};
  if (path == NULL) {
    return FSCHED_OK;
  }
  fsched_profile *profile = NULL;
  FS_TRY(fs_cli_check_profile(cli));
  FS_TRY(fs_cli_check_profile_kind(cli, path));
  FS_TRY(fsched_profile_read(cli->ctx, path, &profile));
  uint64_t tick;
  fs_status status = fs_cli_tick(cli, &tick);
  if (status == FSCHED_OK && tick != 0) {
    status = fsched_profile_set_tick(cli->ctx, profile, tick);
  }
  status = status != FSCHED_OK
               ? status
               : fsched_graph_apply_profile(cli->ctx, graph, profile, &cli->profile);
  fsched_profile_destroy(profile);
  return status;
}
