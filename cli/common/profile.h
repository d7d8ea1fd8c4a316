/* SPDX-License-Identifier: Apache-2.0 */
/* --profile of the commands that read graphs. */
#ifndef FS_CLI_PROFILE_H
#define FS_CLI_PROFILE_H

#include "cli/common/cli.h"

/* No two of operand, --graph, --schedule and --profile may be standard input.  Errors:
 * FSCHED_USAGE, reported. */
fs_status fs_cli_check_profile(fs_cli *cli) FS_MUST_USE;
/* Takes the times of --profile over, if it is given, and remembers in cli->profile what came of it.
 */
fs_status fs_cli_apply_profile(fs_cli *cli, fsched_graph *graph) FS_MUST_USE;

#endif
