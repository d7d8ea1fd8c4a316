/* SPDX-License-Identifier: Apache-2.0 */
/* Helper programs, which do a part of the work. */
#ifndef FS_CLI_HELPERS_H
#define FS_CLI_HELPERS_H

#include "cli/common/cli.h"

/* Adds the version that the helper of --refine prints, with its lines joined by ", ", or a note
 * that there is no helper. */
void fs_helpers_version(fs_text *t);

#endif
