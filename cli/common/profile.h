/* SPDX-License-Identifier: Apache-2.0 */
/* --profile of commands that read graphs. */
#ifndef FS_CLI_PROFILE_H
#define FS_CLI_PROFILE_H

#include "cli/common/cli.h"

/* Checks that at most one of operand, --graph, --schedule and --profile is standard input.  Errors:
 * FSCHED_USAGE, reported. */
fs_status fs_cli_check_profile(fs_cli *cli) FS_MUST_USE;
/* Applies the times of --profile, if given, and stores in cli->profile what was used of it. */
fs_status fs_cli_apply_profile(fs_cli *cli, fsched_graph *graph) FS_MUST_USE;

#endif
