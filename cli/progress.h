/* SPDX-License-Identifier: Apache-2.0 */
/* --progress: how far long work has come, on standard error.  On a terminal one line, which is
 * drawn anew at most ten times a second and erased in the end; else a line of text for each tenth
 * of the work, or of JSON with --diagnostics json. */
#ifndef FS_CLI_PROGRESS_H
#define FS_CLI_PROGRESS_H

#include "cli.h"

/* Nothing without --progress, and with -q. */
fs_status fs_cli_progress_start(fs_cli *cli) FS_MUST_USE;
/* Before anything else is written where the line may stand. */
void fs_cli_progress_clear(fs_cli *cli);

#endif
