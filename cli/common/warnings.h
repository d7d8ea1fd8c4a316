/* SPDX-License-Identifier: Apache-2.0 */
/* The options -W and -w, like those of compilers. */
#ifndef FS_CLI_WARNINGS_H
#define FS_CLI_WARNINGS_H

#include "cli/common/cli.h"

/* Sets the context's classes.  Errors: FSCHED_USAGE, reported, for an unknown class. */
fs_status fs_cli_warnings(fs_cli *cli) FS_MUST_USE;

#endif
