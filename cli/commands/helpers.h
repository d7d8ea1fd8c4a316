/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that do a part of the work. */
#ifndef FS_CLI_HELPERS_H
#define FS_CLI_HELPERS_H

#include "cli/common/cli.h"

/* Adds what the helper of --refine says of its version, its lines joined by ", "; or that it is not
 * there. */
void fs_helpers_version(fs_text *t);

#endif
