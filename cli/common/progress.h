/* SPDX-License-Identifier: Apache-2.0 */
/* --progress: how far long work has come, on standard error.  On a terminal one line, which is
 * drawn anew at most ten times a second and erased in the end; else a line of text for each tenth
 * of the work, or of JSON with --diagnostics json. */
#ifndef FS_CLI_PROGRESS_H
#define FS_CLI_PROGRESS_H

#include "cli/common/cli.h"
#include "fsched/compile.h"

/* Nothing without --progress, and with -q. */
fs_status fs_cli_progress_start(fs_cli *cli) FS_MUST_USE;
/* A refinement has come so far: "refine makespan 52, bound 49, gap 5.8 %, 1200 nodes, 3.4 s". */
void fs_cli_progress_refine(struct fs_cli_progress *p, const fsched_refine_state *state);
/* Before anything else is written where the line may stand. */
void fs_cli_progress_clear(fs_cli *cli);

#endif
